//! One call of a hook, in the space of the directory the conversation is held in. Errors are collected and answered with nothing.

use super::{
    DOCTOR_SESSION,
    input::HookInput,
    left_off::{RunningConversation, left_off_text},
    output::HookText,
    session::HookSession,
    start::{self, HostLoads, SessionText, host_loads},
    sync::sync_transcripts,
};
use crate::{
    config::{self, Settings},
    dreams,
    exit::Failure,
    hosts::{HookEvent, Host},
    loads,
    off_switch::OffSwitch,
    rules::Conversation,
    scope::Scope,
    spaces,
};
use memdir_core::{
    Memdir, Recall,
    internal::{base::time::Deadline, store::stop::Stop},
};
use std::cell::RefCell;

/// A hook that was called.
pub(crate) struct HookCall<'a> {
    pub(super) host: &'static Host,
    pub(super) input: &'a HookInput,
    pub(super) settings: &'a Settings,
    pub(super) scope: Scope,
    pub(super) memdir: Memdir,
    pub(super) session: HookSession,
    pub(super) conversation: Conversation,
    /// The end of all waiting: for locks, and for conversations that are copied.
    pub(super) deadline: Deadline,
    errors: RefCell<Vec<String>>,
}

impl<'a> HookCall<'a> {
    /// Opens the space; fails if memory is off. The hook waits for nothing after the deadline.
    pub(crate) fn open(
        host: &'static Host,
        settings: &'a Settings,
        input: &'a HookInput,
        deadline: Deadline,
    ) -> Result<HookCall<'a>, Failure> {
        let scope = Scope::resolve(settings)?;
        // The host's switch for its own memory is also memdir's where both are the same memory. Without the variable nothing is read.
        let variable = host.memory_switch.as_ref().and_then(|switch| switch.variable);
        if variable.is_some_and(config::is_host_variable_set)
            && let HostLoads::Mount { suspended_by: Some(switch), .. } = host_loads(host, &scope)
        {
            return Err(Failure::Off { switch: OffSwitch::Variable(switch) });
        }
        let memdir = spaces::open(settings, &scope)?.memdir.with_stop(&Stop::with_deadline(deadline));
        let session = HookSession::new(&settings.cache, host.name, input.session.as_deref());
        let recorded = input.session.as_deref().filter(|session| *session != DOCTOR_SESSION);
        let conversation = Conversation::new(&settings.home.value, host.name, recorded, input.agent.as_deref());
        Ok(HookCall { host, input, settings, scope, memdir, session, conversation, deadline, errors: RefCell::default() })
    }

    /// Handles the event and returns the text for the model. `None` if there is none, or after an error.
    pub(crate) fn handle(&self, event: HookEvent) -> Option<HookText> {
        match event {
            HookEvent::SessionStart => self.start().map(HookText::from),
            HookEvent::Prompt => {
                let prompt = self.input.prompt.as_deref().filter(|prompt| !prompt.trim().is_empty())?;
                self.session.record_message();
                self.recall(prompt).map(HookText::from)
            }
            HookEvent::BeforeTool | HookEvent::AfterTool => self.check_rules(event),
            HookEvent::Stop => {
                self.count_answer();
                self.sync();
                self.find_candidates(true);
                // An agent that a hook keeps from stopping has already been asked.
                if self.input.stop_hook_active { None } else { self.ask_about_candidates().map(HookText::from) }
            }
            HookEvent::SessionEnd => {
                self.sync();
                self.find_candidates(true);
                self.close_ledger();
                self.dream();
                None
            }
            HookEvent::BeforeCompaction => {
                self.sync();
                self.find_candidates(false);
                if self.input.will_compact {
                    // Not every host starts the session again afterwards.
                    self.session.restart();
                    self.forget_rules();
                    self.log_compaction();
                }
                None
            }
        }
    }

    /// The messages of all errors.
    pub(crate) fn into_errors(self) -> Vec<String> {
        self.errors.into_inner()
    }

    /// The memory section and the entrypoint, for the start of a conversation.
    fn start(&self) -> Option<String> {
        self.session.restart();
        if self.input.lost_context {
            self.forget_rules();
        }
        let left_off = self.left_off();
        let text = start::session_text(self.host, self.settings, &self.scope, &self.memdir, left_off.as_deref()).map_err(Failure::from);
        let SessionText { text, load } = self.check(text)?;
        if let Some(load) = &load {
            loads::count(&self.settings.home.value, &loads::space(self.memdir.store()), load);
        }
        self.count_session(&text, load.is_none());
        Some(text)
    }

    /// How the previous conversation in this project ended, at most once in each conversation, and not in one that began earlier.
    fn left_off(&self) -> Option<String> {
        if self.input.is_continued || self.input.agent.is_some() {
            return None;
        }
        let running = RunningConversation { session: self.input.session.as_deref(), transcript: self.input.transcript.as_deref() };
        let text = left_off_text(self.settings, &self.scope, running, self.memdir.context().clock.now())?;
        // A host without session ids may repeat it.
        (self.input.session.is_none() || self.session.record_left_off()).then_some(text)
    }

    /// The memories relevant to a message.
    fn recall(&self, prompt: &str) -> Option<String> {
        self.recall_new(Recall { message: Some(prompt), ..Recall::default() })
    }

    /// Recalls the memories that this conversation has not seen yet.
    fn recall_new(&self, request: Recall<'_>) -> Option<String> {
        let (shown, cache) = (self.session.shown(), self.scope.tripwires_file(&self.settings.cache));
        let request = Recall { shown: &shown, project: Some(&self.scope.project), cache: Some(&cache), ..request };
        let recalled = self.check(self.memdir.recall(&request).map_err(Failure::from))?;
        self.session.add_shown(recalled.shown.iter().map(|shown| shown.name.as_str()));
        self.count_injected(&recalled);
        Some(recalled.text)
    }

    /// Copies the new turns of the host's conversations, this one first.
    fn sync(&self) {
        if let Some(reader) = self.host.transcripts {
            self.check(sync_transcripts(self.settings, reader.name, self.input.transcript.as_deref(), self.deadline));
        }
    }

    /// Counts the session, and starts a detached `memdir dream` if automatic plans are on and one is due.
    fn dream(&self) {
        if self.input.session.as_deref() != Some(DOCTOR_SESSION) {
            let now = self.memdir.context().clock.now();
            self.check(dreams::session_ended(self.settings, self.memdir.store(), now).map_err(Failure::from));
        }
    }

    /// Logs that the host is about to compact this conversation, if logs are on.
    fn log_compaction(&self) {
        let is_doctor = self.input.session.as_deref() == Some(DOCTOR_SESSION);
        if is_doctor || !self.settings.config.log || !self.session.record_compaction(self.memdir.context().clock.now()) {
            return;
        }
        let kept = self.input.session.as_deref().and_then(|id| {
            let reader = self.host.transcripts.filter(|_| self.settings.config.chats.settings.on)?;
            crate::mounts::chat_archive(self.settings).get(reader, id).ok().flatten()
        });
        let mut entry = format!("{} compacted the conversation", self.host.name);
        if let Some(id) = &self.input.session {
            entry.push_str(&format!(" {id}"));
        }
        if let Some(kept) = kept {
            entry.push_str(&format!(" {:?}; archived: memdir chats show {}", kept.title, kept.name()));
        }
        self.check(self.memdir.log("", &entry).map_err(Failure::from));
    }

    /// Returns the value, or records the error.
    pub(super) fn check<T>(&self, result: Result<T, Failure>) -> Option<T> {
        result.map_err(|failure| self.errors.borrow_mut().push(failure.text().message)).ok()
    }
}
