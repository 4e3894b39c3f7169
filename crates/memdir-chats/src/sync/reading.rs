//! One session being read: from what its host tells to what is kept of it, in one step.

use super::{Run, Settings, name_of};
use crate::{
    About, ChatSource, Cursor, Event, Flow, Host, SessionFile, Taken, TitleRank,
    draft::Draft,
    forget::Rule,
    json::one_line,
    keep::{Before, Keep, Kept, Progress},
};
use jiff::Timestamp;
use memdir_core::base::{
    error::{Error, Result},
    limits,
    time::Clock,
};
use std::borrow::Cow;

/// One session being read.
pub(super) struct Reading<'a> {
    keep: &'a Keep,
    settings: &'a Settings,
    clock: &'a dyn Clock,
    until: Option<Timestamp>,
    rules: Vec<Rule>,
    session: &'a SessionFile,
    name: String,
    pub(super) kept: Kept,
    before: Before,
    draft: Draft<'a>,
    /// What is taken back reaches behind what this reading knows.
    must_start_over: bool,
    /// The person took something back.
    rewound: bool,
    pub(super) off: bool,
    /// The directory for which it was decided whether the session may be taken in.
    decided_for: Option<Option<String>>,
    /// What was forgotten of it.
    rules_here: Vec<Rule>,
    pub(super) added: u64,
    pub(super) written: bool,
}

impl<'a> Reading<'a> {
    pub(super) fn begin(run: &Run<'a>, session: &'a SessionFile) -> Result<Reading<'a>> {
        let old = run.keep.get(session.host, &session.key)?;
        // Without a cursor nobody knows how far the kept text goes, so it is told anew.
        let before = if old.as_ref().is_some_and(|kept| kept.progress.cursor.at > 0) { Before::Goes } else { Before::StartsOver };
        let kept = old.filter(|_| before == Before::Goes).unwrap_or_else(|| empty(session));
        let mut reading = Reading {
            keep: run.keep,
            settings: run.settings,
            clock: run.clock,
            until: run.bounds.until,
            rules: run.rules.clone(),
            session,
            name: name_of(session),
            kept,
            before,
            draft: Draft::new(run.keep.dir(), run.mask),
            must_start_over: false,
            rewound: false,
            off: false,
            decided_for: None,
            rules_here: Vec::new(),
            added: 0,
            written: false,
        };
        reading.known();
        Ok(reading)
    }

    /// Takes over what the source knew before reading.
    fn known(&mut self) {
        let (session, kept) = (self.session, &mut self.kept);
        kept.resume_id = session.resume_id.clone().or(kept.resume_id.take());
        kept.source = session.path.display().to_string();
        if kept.project.is_none() {
            kept.project = session.project_dir.as_deref().map(|dir| dir.display().to_string());
        }
        if let Some((rank, title)) = &session.title {
            self.title(*rank, title);
        }
    }

    pub(super) fn run(&mut self, source: &dyn ChatSource) -> Result<Taken> {
        let from = self.kept.progress.cursor.clone();
        let taken = source.turns(self.session, &from, &mut |event| self.event(event))?;
        if !std::mem::take(&mut self.must_start_over) {
            return Ok(taken);
        }
        self.start_over();
        source.turns(self.session, &Cursor::default(), &mut |event| self.event(event))
    }

    fn start_over(&mut self) {
        self.draft.clear();
        self.before = Before::StartsOver;
        self.kept = empty(self.session);
        self.known();
    }

    fn event(&mut self, event: Event<'_>) -> Result<Flow> {
        let path = &self.session.path;
        let io = |source| Error::io("keep", path, source);
        match event {
            Event::Restart => self.start_over(),
            Event::About(about) => self.about(about),
            Event::Compacted(at) => self.draft.compacted(at).map_err(io)?,
            Event::Replace(message) => self.draft.replace(message),
            Event::Rewind(rewind) => {
                self.rewound = true;
                self.must_start_over |= !self.draft.rewind(rewind) && self.before == Before::Goes;
            }
            Event::Turn(turn) => {
                self.decide();
                if !self.off && !self.rules_here.iter().any(|rule| rule.covers(turn.at, turn.line, self.session.stamp.modified())) {
                    self.draft.turn(&turn).map_err(io)?;
                }
            }
        }
        let is_over = self.until.is_some_and(|until| self.clock.now() >= until);
        Ok(if self.off || self.must_start_over || is_over { Flow::Stop } else { Flow::Continue })
    }

    /// Finds out whether the session may be taken in, and what of it was forgotten, once its directory is known.
    fn decide(&mut self) {
        if self.decided_for.as_ref() == Some(&self.kept.project) {
            return;
        }
        let held = self.kept.held();
        self.off = !self.settings.allows(held);
        self.rules_here = self.rules.iter().filter(|rule| rule.fits(&self.name, held)).cloned().collect();
        self.decided_for = Some(self.kept.project.clone());
    }

    fn about(&mut self, about: About<'_>) {
        if let Some((rank, title)) = &about.title {
            self.title(*rank, title);
        }
        let kept = &mut self.kept;
        let full = |text: Cow<'_, str>| Some(text.into_owned()).filter(|text| !text.trim().is_empty());
        if let Some(id) = about.id.and_then(full) {
            kept.session = id;
        }
        // A session belongs to the directory it began in: that is where its host looks for it.
        kept.project = kept.project.take().or(about.project_dir.and_then(full));
        kept.branch = about.branch.and_then(full).or(kept.branch.take());
        kept.continues = kept.continues.take().or(about.continues.and_then(full));
        kept.started = earlier(kept.started, about.started);
    }

    fn title(&mut self, rank: TitleRank, title: &str) {
        // A summary before the first turn is about another conversation.
        let is_foreign = rank == TitleRank::Summary && self.session.title.is_none() && self.draft.is_empty() && self.kept.turns == 0;
        if rank >= self.kept.progress.title && !is_foreign {
            let title = one_line(&(self.draft.mask())(title), limits::CHAT_TITLE_CHARS);
            if !title.is_empty() {
                (self.kept.title, self.kept.progress.title) = (title, rank);
            }
        }
    }

    /// Whether the host changes and takes back what its store has, so that what is told last is all there is. The others
    /// only ever add: what was said there and is no longer told stays.
    fn is_rewritten(&self) -> bool {
        match self.session.host {
            Host::Gemini | Host::Opencode => true,
            Host::Folder => self.session.path.extension().is_none_or(|extension| extension != "jsonl"),
            _ => false,
        }
    }

    /// Writes what was read, if there is anything to write.
    pub(super) fn end(&mut self, taken: &Taken) -> Result<()> {
        let path = self.keep.path(self.kept.host, &self.kept.key);
        let nothing_new = self.before == Before::Goes && self.kept.progress.cursor == taken.cursor;
        // A transcript that lost all its turns (a full disk, a deletion half way) takes nothing from what is kept.
        let nothing_left = self.before == Before::StartsOver && self.draft.is_empty();
        // Nor does one that could be told again only in part: a longer reading will tell it.
        let told_in_part = self.before == Before::StartsOver && taken.stopped && path.exists();
        if self.off || nothing_new || nothing_left || told_in_part {
            return Ok(());
        }
        if self.kept.progress.title < TitleRank::FirstWords
            && let Some(words) = self.draft.first_words().map_err(|source| Error::io("read", &path, source))?
        {
            self.title(TitleRank::FirstWords, &words);
        }
        let (first, last) = self.draft.times();
        self.kept.started = earlier(self.kept.started, first);
        self.kept.updated = self.kept.updated.max(last).or(Some(self.session.stamp.modified()));
        let turns = self.kept.turns;
        self.kept.progress.cursor = taken.cursor.clone();
        if self.before == Before::StartsOver && !self.rewound && !self.is_rewritten() {
            self.keep.set_aside(self.session.host, &self.session.key, &mut self.draft)?;
        }
        self.keep.write(&mut self.kept, self.before, &mut self.draft)?;
        self.added = self.kept.turns - turns;
        self.written = true;
        Ok(())
    }
}

fn earlier(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    a.into_iter().chain(b).min()
}

/// A session of which nothing is kept yet.
fn empty(session: &SessionFile) -> Kept {
    Kept {
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
        progress: Progress::default(),
    }
}
