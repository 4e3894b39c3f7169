//! One call of a hook, in the space of the directory the conversation is held in. Errors are collected and answered with nothing.

use super::{
    DOCTOR_SESSION,
    input::{HookInput, ToolAction},
    session::SessionState,
    sync::sync_transcripts,
};
use crate::{
    config::Settings,
    exit::Failure,
    hosts::{HookEvent, Host},
    prompt_section,
    scope::Scope,
    spaces,
};
use memdir_core::{
    Memdir, Recall,
    internal::{base::time::Deadline, recall::when, store::stop::Stop},
};
use std::{cell::RefCell, path::Path};

/// The reminder to save what was learned.
const REMINDER: &str = include_str!("remind.md");

/// A hook that was called.
pub(crate) struct HookCall<'a> {
    host: &'static Host,
    input: &'a HookInput,
    settings: &'a Settings,
    scope: Scope,
    memdir: Memdir,
    session: SessionState,
    /// The end of all waiting: for locks, and for conversations that are copied.
    deadline: Deadline,
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
        let memdir = spaces::open(settings, &scope)?.memdir.with_stop(&Stop::with_deadline(deadline));
        let session = SessionState::new(&settings.cache, host.name, input.session.as_deref());
        Ok(HookCall { host, input, settings, scope, memdir, session, deadline, errors: RefCell::default() })
    }

    /// Handles the event and returns the text for the model. `None` if there is none, or after an error.
    pub(crate) fn handle(&self, event: HookEvent) -> Option<String> {
        match event {
            HookEvent::SessionStart => self.start(),
            HookEvent::Prompt => {
                let prompt = self.input.prompt.as_deref().filter(|prompt| !prompt.trim().is_empty())?;
                self.recall(prompt)
            }
            HookEvent::BeforeTool => self.check_tripwires(self.input.action.as_ref()?),
            HookEvent::Stop => {
                self.sync();
                // An agent that a hook keeps from stopping has already been reminded.
                if self.input.stop_hook_active { None } else { self.remind() }
            }
            HookEvent::SessionEnd => {
                self.sync();
                None
            }
            HookEvent::BeforeCompaction => {
                self.sync();
                self.log_compaction();
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
        self.check(prompt_section::section(self.settings, false)(&self.memdir).map_err(Failure::from))
    }

    /// The memories relevant to a message.
    fn recall(&self, prompt: &str) -> Option<String> {
        let memdir = self.check(spaces::with_search_offline(self.memdir.clone(), self.settings))?;
        self.recall_new(&memdir, Recall { message: Some(prompt), ..Recall::default() })
    }

    /// The tripwires of an action.
    fn check_tripwires(&self, action: &ToolAction) -> Option<String> {
        let paths: Vec<String> = action.paths.iter().map(|path| self.scope.in_project(&self.settings.cwd, Path::new(path))).collect();
        let action = when::Action {
            tool: Some(&action.tool),
            command: action.command.as_deref(),
            paths: paths.iter().map(String::as_str).collect(),
            text: Some(action.text.as_str()).filter(|text| !text.is_empty()),
        };
        self.recall_new(&self.memdir, Recall { action: Some(action), ..Recall::default() })
    }

    /// Recalls the memories that this conversation has not seen yet.
    fn recall_new(&self, memdir: &Memdir, request: Recall<'_>) -> Option<String> {
        let (shown, cache) = (self.session.shown(), self.scope.tripwires_file(&self.settings.cache));
        let request = Recall { shown: &shown, project: Some(&self.scope.project), cache: Some(&cache), ..request };
        let recalled = self.check(memdir.recall(&request).map_err(Failure::from))?;
        self.session.add_shown(recalled.shown.iter().map(|shown| shown.name.as_str()));
        Some(recalled.text)
    }

    /// Copies the new turns of the host's conversations, this one first.
    fn sync(&self) {
        if let Some(reader) = self.host.transcripts {
            self.check(sync_transcripts(self.settings, reader.name, self.input.transcript.as_deref(), self.deadline));
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
            entry.push_str(&format!(" {:?}; full text: memdir chats show {}", kept.title, kept.name()));
        }
        self.check(self.memdir.log("", &entry).map_err(Failure::from));
    }

    /// The reminder to save what was learned, at most once in each conversation, if the settings turn it on.
    fn remind(&self) -> Option<String> {
        (self.settings.config.remind && self.session.record_reminder()).then(|| REMINDER.to_owned())
    }

    /// Returns the value, or records the error.
    fn check<T>(&self, result: Result<T, Failure>) -> Option<T> {
        result.map_err(|failure| self.errors.borrow_mut().push(failure.text().message)).ok()
    }
}
