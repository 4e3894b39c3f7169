//! Forgetting conversations at the user's request. They stay forgotten although the host still has them: the rule is stored in the
//! archive, and applied to everything that is read later.

use super::{ArchivedChat, ArchivedFile, ChatArchive, ChatSection, Lasting, SUPERSEDED, put};
use crate::{
    draft::first_words,
    evidence::CallEvidence,
    lock,
    project::{SessionProject, path_forms},
    transcript::TitleRank,
};
use jiff::Timestamp;
use memdir_core::{Error, Result, Speaker};
use serde::{Deserialize, Serialize};
use std::{fs, io, path::PathBuf};

/// What is forgotten: the turns that match all given conditions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForgetRule {
    /// One session: `host/key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Sessions in this directory or below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<PathBuf>,
    /// Turns before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Timestamp>,
    /// Turns without a time up to this line of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
}

impl ForgetRule {
    /// Whether the rule covers a turn of a session that it [applies to](Self::applies_to). A turn without a time is at most as recent as
    /// the last modification of its transcript.
    pub(crate) fn covers(&self, at: Option<Timestamp>, line: u64, modified: Timestamp) -> bool {
        match self.lines {
            Some(lines) => at.is_none() && line <= lines,
            None => self.before.is_none_or(|before| at.unwrap_or(modified) < before),
        }
    }

    /// Whether the rule may cover turns of a session.
    pub(crate) fn applies_to(&self, name: &str, project: SessionProject<'_>) -> bool {
        let is_named = |session: &str| name.strip_prefix(session).is_some_and(|rest| rest.is_empty() || rest.starts_with(SUPERSEDED));
        self.session.as_deref().is_none_or(is_named) && self.project.as_deref().is_none_or(|dir| project.is_in(dir))
    }

    /// Returns the rule for every form of its directory's path: a symbolic link may point elsewhere when the rule is applied again.
    fn path_forms(&self) -> Vec<ForgetRule> {
        match &self.project {
            None => vec![self.clone()],
            Some(dir) => path_forms(dir).into_iter().map(|dir| ForgetRule { project: Some(dir), ..self.clone() }).collect(),
        }
    }
}

/// The outcome of forgetting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ForgetOutcome {
    /// Files that were removed.
    pub removed: Vec<PathBuf>,
    /// Files that lost some of their turns.
    pub shortened: Vec<PathBuf>,
    /// The number of turns removed from those.
    pub turns: u64,
}

impl ChatArchive {
    /// Forgets what a rule covers, now and whenever the host's transcripts contain it again. `now` bounds a rule without a time: later
    /// turns in a forgotten project are archived again, unless the project is turned off.
    pub fn forget(&self, rule: &ForgetRule, now: Timestamp) -> Result<ForgetOutcome> {
        if *rule == ForgetRule::default() {
            return Err(Error::bad_input("rule", "it is empty; specify a session, a project or a date"));
        }
        let _lock = lock::acquire(self.dir())?;
        let mut rule = rule.clone();
        if rule.session.is_none() {
            rule.before.get_or_insert(now);
        }
        // The rule is written first: after a crash in between, the next call removes the files; nothing forgotten comes back.
        let mut rules = self.rules()?;
        let known = rules.len();
        for form in rule.path_forms().into_iter().chain(self.rules_for_undated(&rule)?) {
            if !rules.contains(&form) {
                rules.push(form);
            }
        }
        if rules.len() > known {
            self.write_rules(&rules)?;
        }
        self.remove_leftovers();
        let mut outcome = ForgetOutcome::default();
        for ArchivedFile { chat, path, .. } in self.list()?.chats {
            if rule.applies_to(&chat.name(), chat.session_project()) {
                self.forget_in(&chat, path, &rule, &mut outcome)?;
            }
        }
        Ok(outcome)
    }

    /// Returns the rules that a rule with a time implies for transcripts without times: they cover the lines read so far, because the
    /// modification time will be later when the transcript is read again.
    fn rules_for_undated(&self, rule: &ForgetRule) -> Result<Vec<ForgetRule>> {
        let mut rules = Vec::new();
        for ArchivedFile { chat, .. } in self.list()?.chats {
            if rule.before.is_none() || !rule.applies_to(&chat.name(), chat.session_project()) {
                continue;
            }
            let Some((chat, sections)) = self.read(chat.host, &chat.key)? else { continue };
            let latest = chat.updated.or(chat.started).unwrap_or_default();
            if sections.iter().any(|section| section.at.is_none() && rule.covers(None, 0, latest)) {
                rules.push(ForgetRule { session: Some(chat.name()), lines: Some(chat.progress.cursor.lines), ..ForgetRule::default() });
            }
        }
        Ok(rules)
    }

    fn forget_in(&self, chat: &ArchivedChat, path: PathBuf, rule: &ForgetRule, outcome: &mut ForgetOutcome) -> Result<()> {
        let Some((mut chat, sections)) = self.read(chat.host, &chat.key)? else { return Ok(()) };
        let latest = chat.updated.or(chat.started).unwrap_or_default();
        let left: Vec<ChatSection> = sections.iter().filter(|section| !rule.covers(section.at, 0, latest)).cloned().collect();
        if left.is_empty() {
            self.remove(chat.host, &chat.key)?;
            outcome.removed.push(path);
        } else if left.len() < sections.len() {
            outcome.turns += (sections.len() - left.len()) as u64;
            chat.turns = left.len() as u64;
            chat.started = left.iter().find_map(|section| section.at).or(chat.started);
            if chat.progress.title == TitleRank::FirstWords {
                retitle(&mut chat, &left);
            }
            let is_left = |at: Option<Timestamp>| !rule.covers(at, 0, latest);
            let calls = left_calls(self.evidence(&chat)?, &sections, &is_left);
            self.write_sections(&chat, &left, &calls)?;
            outcome.shortened.push(path);
        }
        Ok(())
    }

    /// Reads the rules of everything forgotten so far.
    pub(crate) fn rules(&self) -> Result<Vec<ForgetRule>> {
        let path = self.rules_path();
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| Error::Corrupt { what: path.display().to_string(), why: format!("it is not a list of rules: {error}") }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(Error::io("read", path, source)),
        }
    }

    fn write_rules(&self, rules: &[ForgetRule]) -> Result<()> {
        let text = serde_json::to_vec_pretty(rules).unwrap_or_default();
        put(&self.rules_path(), Lasting::Yes, &mut |out| out.write_all(&text))
    }

    fn rules_path(&self) -> PathBuf {
        self.dir().join("forgotten.json")
    }
}

/// Returns the calls that are left, with the numbers that the person's messages have without the forgotten ones.
fn left_calls(calls: Vec<CallEvidence>, sections: &[ChatSection], is_left: &dyn Fn(Option<Timestamp>) -> bool) -> Vec<CallEvidence> {
    let messages = sections.iter().filter(|section| section.speaker == Speaker::User);
    let mut numbers = vec![0];
    for section in messages {
        let last = numbers.last().copied().unwrap_or(0);
        numbers.push(last + u64::from(is_left(section.at)));
    }
    let renumbered = |call: CallEvidence| {
        let turn = usize::try_from(call.turn).ok().and_then(|turn| numbers.get(turn)).copied().unwrap_or(call.turn);
        CallEvidence { turn, ..call }
    };
    calls.into_iter().filter(|call| is_left(call.at)).map(renumbered).collect()
}

/// Replaces a title that was taken from forgotten words by the first words that are left.
fn retitle(chat: &mut ArchivedChat, left: &[ChatSection]) {
    let words = left.iter().filter(|section| section.speaker == Speaker::User).find_map(|section| first_words(&section.text));
    (chat.title, chat.progress.title) = match words {
        Some(words) => (words, TitleRank::FirstWords),
        None => (chat.session.clone(), TitleRank::None),
    };
}
