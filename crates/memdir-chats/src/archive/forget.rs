//! Forgetting conversations at the user's request. They stay forgotten although the host still has them: the rule is stored in the
//! archive, and applied to everything that is read later.

use super::{ArchivedChat, ArchivedFile, CANDIDATES_DIR, ChatArchive, ChatSection, SUPERSEDED, put};
use crate::{
    draft::first_words,
    evidence::CallEvidence,
    lock,
    project::{SessionProject, path_forms},
    transcript::TitleRank,
};
use jiff::Timestamp;
use memdir_core::{Error, Result, Speaker, internal::base::disk::Durability};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What the hash of a name begins with, in place of a name that is forgotten itself.
const HASHED: &str = "blake3:";

fn hashed(name: &str) -> String {
    format!("{HASHED}{}", blake3::hash(name.as_bytes()).to_hex())
}

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
    /// The one turn of this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

impl ForgetRule {
    /// Whether the rule covers a turn of a session that it [applies to](Self::applies_to). A turn without a time is at most as recent as
    /// the last modification of its transcript.
    pub(crate) fn covers(&self, at: Option<Timestamp>, line: u64, modified: Timestamp) -> bool {
        if let Some(turn) = self.at {
            return at == Some(turn);
        }
        match self.lines {
            Some(lines) => at.is_none() && line <= lines,
            None => self.before.is_none_or(|before| at.unwrap_or(modified) < before),
        }
    }

    /// Whether the rule may cover turns of a session.
    pub(crate) fn applies_to(&self, name: &str, project: SessionProject<'_>) -> bool {
        let is_named = |session: &str| match session.strip_prefix(HASHED) {
            Some(_) => [name, name.split(SUPERSEDED).next().unwrap_or(name)].iter().any(|name| hashed(name) == session),
            None => name.strip_prefix(session).is_some_and(|rest| rest.is_empty() || rest.starts_with(SUPERSEDED)),
        };
        let is_inside = |dir: &Path| match dir.to_str().filter(|dir| dir.starts_with(HASHED)) {
            Some(hash) => {
                let forms = project.dir.map(path_forms).unwrap_or_default();
                forms.iter().flat_map(|form| form.ancestors()).any(|above| hashed(&above.to_string_lossy()) == hash)
            }
            None => project.is_in(dir),
        };
        self.session.as_deref().is_none_or(is_named) && self.project.as_deref().is_none_or(is_inside)
    }

    /// Whether the rule says what it covers. Without a session or a project, a damaged rule would cover every conversation.
    fn is_bounded(&self) -> bool {
        self.session.is_some() || self.project.is_some() || (self.before.is_some() && self.lines.is_none() && self.at.is_none())
    }

    /// Returns the rule with the hashes of names of which `is_wanted` is true: a rule must not have the words that it keeps away.
    fn without_words(self, is_wanted: &dyn Fn(&str) -> bool) -> ForgetRule {
        let hide = |name: String| if is_wanted(&name) { hashed(&name) } else { name };
        let project = self.project.map(|dir| dir.to_str().map(|text| hide(text.to_owned()).into()).unwrap_or(dir));
        ForgetRule { session: self.session.map(hide), project, ..self }
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
            return Err(Error::bad_input("rule", "it is empty; specify a conversation, a project or a date"));
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
        self.remove_candidates()?;
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

    /// Finds the conversations with a turn, a tool call or another part of which `is_wanted` is true, each with its turns.
    pub fn matching(&self, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<(ArchivedFile, Vec<ChatSection>)>> {
        let mut found = Vec::new();
        for file in self.list()?.chats {
            let Some((chat, sections)) = self.read(file.chat.host, &file.chat.key)? else { continue };
            let turns: Vec<ChatSection> = sections.into_iter().filter(|section| is_wanted(&section.text)).collect();
            let has_call = || -> Result<bool> { Ok(self.evidence(&chat)?.iter().any(|call| call_has(call, is_wanted))) };
            if !turns.is_empty() || header_has(&file.chat, is_wanted) || has_call()? {
                found.push((file, turns));
            }
        }
        Ok(found)
    }

    /// Forgets the turns and tool calls of which `is_wanted` is true, now and whenever the host's transcripts contain them again. A
    /// conversation of which another part has it, such as its directory, is forgotten as a whole.
    pub fn forget_matching(&self, is_wanted: &dyn Fn(&str) -> bool) -> Result<ForgetOutcome> {
        let mut outcome = ForgetOutcome::default();
        let found = self.matching(is_wanted)?;
        // What the search for candidates knows may have the words although no conversation has them any more.
        let _lock = lock::acquire(self.dir())?;
        self.remove_candidates()?;
        // The rules are written first, as in `forget`.
        let known = self.rules()?;
        let mut rules = known.clone();
        for (file, turns) in &found {
            let session = file.chat.name();
            let rule = |at| ForgetRule { session: Some(session.clone()), at, ..ForgetRule::default() };
            let new: Vec<ForgetRule> = match header_has(&file.chat, is_wanted) {
                true => vec![rule(None)],
                false => {
                    let calls = self.evidence(&file.chat)?.into_iter().filter(|call| call_has(call, is_wanted)).map(|call| call.at);
                    let times: Vec<Option<Timestamp>> = turns.iter().map(|turn| turn.at).chain(calls).collect();
                    // A turn without a time is identified only by its line: all such turns that were read so far stay away.
                    let undated = times.contains(&None).then(|| ForgetRule { lines: Some(file.chat.progress.cursor.lines), ..rule(None) });
                    times.into_iter().filter(Option::is_some).map(rule).chain(undated).collect()
                }
            };
            new.into_iter().for_each(|rule| {
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
            });
        }
        let rules: Vec<ForgetRule> = rules.into_iter().map(|rule| rule.without_words(is_wanted)).collect();
        if rules != known {
            self.write_rules(&rules)?;
        }
        self.remove_leftovers();
        for (file, _) in found {
            let whole = header_has(&file.chat, is_wanted);
            let is_turn = |section: &ChatSection| whole || is_wanted(&section.text);
            let is_call = |call: &CallEvidence| whole || call_has(call, is_wanted);
            self.forget_parts(&file.chat, file.path, &is_turn, &is_call, &mut outcome)?;
        }
        Ok(outcome)
    }

    fn forget_in(&self, chat: &ArchivedChat, path: PathBuf, rule: &ForgetRule, outcome: &mut ForgetOutcome) -> Result<()> {
        let latest = chat.updated.or(chat.started).unwrap_or_default();
        let is_covered = |at| rule.covers(at, 0, latest);
        self.forget_parts(chat, path, &|section| is_covered(section.at), &|call| is_covered(call.at), outcome)
    }

    /// Removes turns and tool calls of a conversation, and the conversation if no turn is left.
    fn forget_parts(
        &self,
        chat: &ArchivedChat,
        path: PathBuf,
        is_turn_forgotten: &dyn Fn(&ChatSection) -> bool,
        is_call_forgotten: &dyn Fn(&CallEvidence) -> bool,
        outcome: &mut ForgetOutcome,
    ) -> Result<()> {
        let Some((mut chat, sections)) = self.read(chat.host, &chat.key)? else { return Ok(()) };
        let left: Vec<ChatSection> = sections.iter().filter(|section| !is_turn_forgotten(section)).cloned().collect();
        if left.is_empty() {
            self.remove(chat.host, &chat.key)?;
            outcome.removed.push(path);
            return Ok(());
        }
        let calls = self.evidence(&chat)?;
        let left_calls = left_calls(&calls, &sections, is_turn_forgotten, is_call_forgotten);
        if left.len() < sections.len() || left_calls.len() < calls.len() {
            outcome.turns += (sections.len() - left.len()) as u64;
            chat.turns = left.len() as u64;
            chat.started = left.iter().find_map(|section| section.at).or(chat.started);
            if chat.progress.title == TitleRank::FirstWords {
                retitle(&mut chat, &left);
            }
            self.write_sections(&chat, &left, &left_calls)?;
            outcome.shortened.push(path);
        }
        Ok(())
    }

    /// Removes what the search for candidates knows: it is found again from what is left.
    fn remove_candidates(&self) -> Result<()> {
        let dir = self.dir().join(CANDIDATES_DIR);
        match fs::remove_dir_all(&dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", dir, error)),
            _ => Ok(()),
        }
    }

    /// Reads the rules of everything forgotten so far.
    pub(crate) fn rules(&self) -> Result<Vec<ForgetRule>> {
        let path = self.rules_path();
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice::<Vec<ForgetRule>>(&bytes)
                .map(|rules| rules.into_iter().filter(ForgetRule::is_bounded).collect())
                .map_err(|error| Error::Corrupt { names_step: false, what: path.display().to_string(), why: error.to_string() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(Error::io("read", path, source)),
        }
    }

    fn write_rules(&self, rules: &[ForgetRule]) -> Result<()> {
        let text = serde_json::to_vec_pretty(rules).unwrap_or_default();
        put(&self.rules_path(), Durability::Content, &mut |out| out.write_all(&text))
    }

    fn rules_path(&self) -> PathBuf {
        self.dir().join("forgotten.json")
    }
}

/// The path of a transcript without the folders that every transcript of a host is in: `sessions` is not a word of a person.
pub fn own_folders(source: &str) -> String {
    const OF_HOSTS: [&str; 8] = ["sessions", "projects", "tmp", "chats", "agents", "history", "conversations", "transcripts"];
    source.split('/').filter(|part| !OF_HOSTS.contains(part)).collect::<Vec<_>>().join("/")
}

/// Whether a part of a conversation besides its turns has it: its title, directory, branch or name. A title that follows from the turns
/// is rebuilt with them.
fn header_has(chat: &ArchivedChat, is_wanted: &dyn Fn(&str) -> bool) -> bool {
    let title = Some(&chat.title).filter(|_| chat.progress.title != TitleRank::FirstWords);
    if is_wanted(&own_folders(&chat.source)) {
        return true;
    }
    let others = [Some(&chat.session), Some(&chat.key), chat.project.as_ref(), chat.branch.as_ref(), chat.resume_id.as_ref(), title];
    others.into_iter().flatten().any(|text| is_wanted(text))
}

/// Whether a text of a tool call has it.
fn call_has(call: &CallEvidence, is_wanted: &dyn Fn(&str) -> bool) -> bool {
    let CallEvidence { tool, program, command, paths, error, reason, .. } = call;
    let optional = [program, command, error, reason].into_iter().flatten();
    optional.chain(paths).chain([tool]).any(|text| is_wanted(text))
}

/// Returns the calls that are left, with the numbers that the person's messages have without the forgotten ones.
fn left_calls(
    calls: &[CallEvidence],
    sections: &[ChatSection],
    is_turn_forgotten: &dyn Fn(&ChatSection) -> bool,
    is_call_forgotten: &dyn Fn(&CallEvidence) -> bool,
) -> Vec<CallEvidence> {
    let mut numbers = vec![0];
    for section in sections.iter().filter(|section| section.speaker == Speaker::User) {
        let last = numbers.last().copied().unwrap_or(0);
        numbers.push(last + u64::from(!is_turn_forgotten(section)));
    }
    let renumbered = |call: &CallEvidence| {
        let turn = usize::try_from(call.turn).ok().and_then(|turn| numbers.get(turn)).copied().unwrap_or(call.turn);
        CallEvidence { turn, ..call.clone() }
    };
    calls.iter().filter(|call| !is_call_forgotten(call)).map(renumbered).collect()
}

/// Replaces a title that was taken from forgotten words by the first words that are left.
fn retitle(chat: &mut ArchivedChat, left: &[ChatSection]) {
    let words = left.iter().filter(|section| section.speaker == Speaker::User).find_map(|section| first_words(&section.text));
    (chat.title, chat.progress.title) = match words {
        Some(words) => (words, TitleRank::FirstWords),
        None => (chat.session.clone(), TitleRank::None),
    };
}
