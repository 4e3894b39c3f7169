//! Reads one session: from the events of its transcript to its archived text.

use super::{Run, Syncer};
use crate::{
    archive::{ArchiveWriteMode, ArchivedChat, ReadProgress, forget::ForgetRule},
    draft::TurnDraft,
    json::one_line,
    source::{ChatSource, SessionFile},
    transcript::{ChatEvent, Flow, ReadOutcome, SessionInfo, TitleRank, TranscriptCursor, Turn},
};
use jiff::Timestamp;
use memdir_core::{Error, Result, Speaker, internal::base::limits};
use std::borrow::Cow;

/// A session that is being read.
pub(super) struct SessionReading<'a> {
    syncer: &'a Syncer,
    until: Option<Timestamp>,
    rules: Vec<ForgetRule>,
    session: &'a SessionFile,
    name: String,
    pub(super) chat: ArchivedChat,
    mode: ArchiveWriteMode,
    draft: TurnDraft<'a>,
    /// Whether a rewind reaches further back than the turns read so far.
    must_start_over: bool,
    /// Whether the user rewound the session.
    rewound: bool,
    /// Whether the session's project is turned off.
    pub(super) off: bool,
    /// The directory for which `off` and `session_rules` were decided.
    decided_for: Option<Option<String>>,
    /// The rules that apply to this session.
    session_rules: Vec<ForgetRule>,
    pub(super) added: u64,
    pub(super) written: bool,
    /// Whether the transcript has turns.
    pub(super) has_turns: bool,
}

impl<'a> SessionReading<'a> {
    pub(super) fn begin(run: &Run<'a>, session: &'a SessionFile) -> Result<SessionReading<'a>> {
        let syncer = run.syncer;
        let old = syncer.archive.get(session.host, &session.key)?;
        // Without a cursor it is unknown how much of the transcript is archived, so it is read again; so are the tool calls of a
        // conversation that was archived without them.
        let is_known = |chat: &ArchivedChat| chat.progress.cursor.at > 0 && (chat.progress.calls.is_some() || !run.may_upgrade(session));
        let mode = if old.as_ref().is_some_and(is_known) { ArchiveWriteMode::Append } else { ArchiveWriteMode::Replace };
        let chat = old.filter(|_| mode == ArchiveWriteMode::Append).unwrap_or_else(|| empty(session));
        let mut reading = SessionReading {
            syncer,
            until: run.limits.until,
            rules: run.rules.clone(),
            session,
            name: session.name(),
            chat,
            mode,
            draft: TurnDraft::new(syncer.archive.dir(), &*syncer.redact),
            must_start_over: false,
            rewound: false,
            off: false,
            decided_for: None,
            session_rules: Vec::new(),
            added: 0,
            written: false,
            has_turns: false,
        };
        reading.apply_listing();
        Ok(reading)
    }

    /// Applies what the source knew before reading.
    fn apply_listing(&mut self) {
        let (session, chat) = (self.session, &mut self.chat);
        chat.resume_id = session.resume_id.clone().or(chat.resume_id.take());
        chat.source = session.path.display().to_string();
        if chat.project.is_none() {
            chat.project = session.project_dir.as_deref().map(|dir| dir.display().to_string());
        }
        if let Some((rank, title)) = &session.title {
            self.set_title(*rank, title);
        }
    }

    /// Reads the transcript into the draft.
    pub(super) fn run(&mut self, source: &dyn ChatSource) -> Result<ReadOutcome> {
        let from = self.chat.progress.cursor.clone();
        let outcome = source.turns(self.session, &from, &mut |event| self.event(event))?;
        if !std::mem::take(&mut self.must_start_over) {
            return Ok(outcome);
        }
        self.start_over();
        source.turns(self.session, &TranscriptCursor::default(), &mut |event| self.event(event))
    }

    fn start_over(&mut self) {
        self.draft.clear();
        self.mode = ArchiveWriteMode::Replace;
        self.chat = empty(self.session);
        self.apply_listing();
    }

    fn event(&mut self, event: ChatEvent<'_>) -> Result<Flow> {
        let path = &self.session.path;
        let io = |source| Error::io("archive", path, source);
        match event {
            ChatEvent::Restart => self.start_over(),
            ChatEvent::Info(info) => self.apply_info(info),
            ChatEvent::Compacted(at) => self.draft.push_compacted(at).map_err(io)?,
            ChatEvent::Replace(message) => self.draft.replace(message),
            ChatEvent::Call(call) => {
                self.decide();
                if !self.off && !self.is_forgotten(call.at, call.line) {
                    self.draft.push_call(&call).map_err(io)?;
                }
            }
            ChatEvent::CallEnd(end) => self.draft.end_call(&end),
            ChatEvent::Interrupted => self.draft.interrupt_calls(),
            ChatEvent::Rewind(rewind) => {
                self.rewound = true;
                self.must_start_over |= !self.draft.rewind(rewind) && self.mode == ArchiveWriteMode::Append;
            }
            ChatEvent::Turn(turn) => {
                self.has_turns = true;
                self.chat.progress.calls_memory = is_memory_call(&turn);
                self.decide();
                if !self.off && !self.chat.progress.calls_memory && !self.is_forgotten(turn.at, turn.line) {
                    self.draft.push_turn(&turn).map_err(io)?;
                }
            }
        }
        let is_over = self.until.is_some_and(|until| self.syncer.clock.now() >= until);
        Ok(if self.off || self.must_start_over || is_over { Flow::Stop } else { Flow::Continue })
    }

    /// Whether a rule covers what happened at this time, on this line.
    fn is_forgotten(&self, at: Option<Timestamp>, line: u64) -> bool {
        let modified = self.session.stamp.modified();
        self.session_rules.iter().any(|rule| rule.covers(at, line, modified))
    }

    /// Decides whether the session may be archived and which rules apply to it, for the directory known so far.
    fn decide(&mut self) {
        if self.decided_for.as_ref() == Some(&self.chat.project) {
            return;
        }
        let project = self.chat.session_project();
        self.off = !self.syncer.settings.allows(project);
        self.session_rules = self.rules.iter().filter(|rule| rule.applies_to(&self.name, project)).cloned().collect();
        self.decided_for = Some(self.chat.project.clone());
    }

    fn apply_info(&mut self, info: SessionInfo<'_>) {
        if let Some((rank, title)) = &info.title {
            self.set_title(*rank, title);
        }
        let chat = &mut self.chat;
        let non_empty = |text: Cow<'_, str>| Some(text.into_owned()).filter(|text| !text.trim().is_empty());
        if let Some(id) = info.id.and_then(non_empty) {
            chat.session = id;
        }
        // A session belongs to the directory it started in: its host looks for it there.
        chat.project = chat.project.take().or(info.project_dir.and_then(non_empty));
        chat.branch = info.branch.and_then(non_empty).or(chat.branch.take());
        chat.continues = chat.continues.take().or(info.continues.and_then(non_empty));
        chat.started = earlier(chat.started, info.started);
        chat.progress.scripted |= info.is_scripted;
    }

    fn set_title(&mut self, rank: TitleRank, title: &str) {
        // A summary before the first turn describes another conversation.
        let is_foreign = rank == TitleRank::Summary && self.session.title.is_none() && self.draft.is_empty() && self.chat.turns == 0;
        if rank >= self.chat.progress.title && !is_foreign {
            let title = one_line(&self.draft.redact(title), limits::CHAT_TITLE_CHARS);
            if !title.is_empty() {
                (self.chat.title, self.chat.progress.title) = (title, rank);
            }
        }
    }

    /// Writes the draft to the archive, if there is anything to write.
    pub(super) fn finish(&mut self, outcome: &ReadOutcome) -> Result<()> {
        let archive = &self.syncer.archive;
        let path = archive.path(self.chat.host, &self.chat.key);
        let nothing_new = self.mode == ArchiveWriteMode::Append && self.chat.progress.cursor == outcome.cursor;
        // A transcript that lost all its turns (a full disk, an interrupted deletion) removes nothing from the archive.
        let nothing_left = self.mode == ArchiveWriteMode::Replace && self.draft.is_empty();
        // Neither does one that was read only in part: a later sync reads the rest.
        let incomplete = self.mode == ArchiveWriteMode::Replace && outcome.stopped && path.exists();
        if self.off || nothing_new || nothing_left || incomplete {
            return Ok(());
        }
        if self.chat.progress.title < TitleRank::FirstWords
            && let Some(words) = self.draft.first_words().map_err(|source| Error::io("read", &path, source))?
        {
            self.set_title(TitleRank::FirstWords, &words);
        }
        let (first, last) = self.draft.times();
        self.chat.started = earlier(self.chat.started, first);
        self.chat.updated = self.chat.updated.max(last).or(Some(self.session.stamp.modified()));
        let turns = self.chat.turns;
        self.chat.progress.cursor = outcome.cursor.clone();
        let rewrites = self.session.host.rewrites;
        if self.mode == ArchiveWriteMode::Replace && !self.rewound && !rewrites(&self.session.path) {
            archive.preserve(self.session.host, &self.session.key, &mut self.draft)?;
        }
        archive.write(&mut self.chat, self.mode, &mut self.draft)?;
        self.added = self.chat.turns - turns;
        self.written = true;
        Ok(())
    }
}

/// Whether a turn calls one of memdir's own tools, under the name that a host gives it (`mcp__memdir__memory_search`). Such a call repeats
/// a question, and would be found by it.
fn is_memory_call(turn: &Turn<'_>) -> bool {
    let name = turn.text.split([' ', '\n']).next().unwrap_or_default();
    let is_start = |at: usize| !name[..at].ends_with(|c: char| c.is_alphanumeric());
    turn.speaker == Speaker::Tool && name.match_indices("memory_").any(|(at, _)| is_start(at))
}

fn earlier(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    a.into_iter().chain(b).min()
}

/// Returns the header of a session that is not archived yet.
fn empty(session: &SessionFile) -> ArchivedChat {
    ArchivedChat {
        host: session.host,
        key: session.key.clone(),
        session: session.id.clone(),
        resume_id: None,
        title: session.id.clone(),
        project: None,
        branch: None,
        started: None,
        updated: None,
        turns: 0,
        parts: 0,
        continues: None,
        source: String::new(),
        progress: ReadProgress::default(),
    }
}
