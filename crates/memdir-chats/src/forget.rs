//! Chats that are to go: what a person wants forgotten, and what is too old or too much. What was forgotten stays
//! forgotten although the host still has it: the rule is kept beside the chats.

use super::{
    Host, Speaker, TitleRank,
    draft::first_words,
    keep::{Keep, Kept, KeptFile, Lasting, Section, WAS, put},
    lock,
    place::{Held, forms},
};
use jiff::{Timestamp, ToSpan};
use memdir_core::base::{
    disk::LockWait,
    error::{Error, Result},
    limits,
};
use serde::{Deserialize, Serialize};
use std::{fs, io, path::PathBuf};

/// What is to be forgotten: everything that fits all of what is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rule {
    /// One session: `host/key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Sessions held in this directory or below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<PathBuf>,
    /// What was said before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Timestamp>,
    /// What was said without a time up to this line of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
}

impl Rule {
    /// Whether something said then falls under it, in a session that fits. What has no time was said when the transcript
    /// was last written, at the latest.
    pub(super) fn covers(&self, at: Option<Timestamp>, line: u64, modified: Timestamp) -> bool {
        match self.lines {
            Some(lines) => at.is_none() && line <= lines,
            None => self.before.is_none_or(|before| at.unwrap_or(modified) < before),
        }
    }

    /// Whether a session may hold something that falls under it.
    pub(super) fn fits(&self, name: &str, held: Held<'_>) -> bool {
        let is_meant = |session: &str| name.strip_prefix(session).is_some_and(|rest| rest.is_empty() || rest.starts_with(WAS));
        self.session.as_deref().is_none_or(is_meant) && self.project.as_deref().is_none_or(|dir| held.is_in(dir))
    }
}

impl Rule {
    /// The same for every path its directory has now: a link may lead elsewhere when the host offers it again.
    fn forms(&self) -> Vec<Rule> {
        match &self.project {
            None => vec![self.clone()],
            Some(dir) => forms(dir).into_iter().map(|dir| Rule { project: Some(dir), ..self.clone() }).collect(),
        }
    }
}

/// What a removal did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Gone {
    /// Files that are gone.
    pub removed: Vec<PathBuf>,
    /// Files that lost some of their turns.
    pub shortened: Vec<PathBuf>,
    /// Turns that are gone from those.
    pub turns: u64,
}

impl Keep {
    /// The session a person means: its id, a beginning of it, or `host/id`.
    pub fn find(&self, wanted: &str) -> Result<Kept> {
        let (host, id) = match wanted.split_once('/') {
            Some((host, id)) if Host::named(host).is_some() => (Host::named(host), id),
            _ => (None, wanted),
        };
        let of_host = self.list()?.chats.into_iter().map(|file| file.kept).filter(|kept| host.is_none_or(|host| host == kept.host));
        // The surest first: the very name, the very id, a beginning. What a conversation was before is meant only by its name.
        let mut found: [Vec<Kept>; 3] = Default::default();
        for kept in of_host {
            let begins = |name: &str| id.len() >= 4 && name.starts_with(id);
            let is_hidden = kept.key.contains(WAS) && !id.contains(WAS);
            if kept.key == id {
                found[0].push(kept);
            } else if kept.session == id && !is_hidden {
                found[1].push(kept);
            } else if !is_hidden && (begins(&kept.key) || begins(&kept.session)) {
                found[2].push(kept);
            }
        }
        let mut found = found.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(Error::NoChat { id: wanted.to_owned() }),
            many => Err(Error::bad_input("session", format!("{many} kept chats begin with {wanted:?}; give more of the id, or host/id"))),
        }
    }

    /// Forgets what a rule covers, now and whenever the host offers it again. `now` bounds rules without a time: what
    /// is said in a forgotten project later is taken in again, unless that project is turned off.
    pub fn forget(&self, rule: &Rule, now: Timestamp) -> Result<Gone> {
        if *rule == Rule::default() {
            return Err(Error::bad_input("forget", "say what: a session, a project or a date"));
        }
        let _lock = lock::acquire(self.dir(), LockWait::Forever)?;
        let mut rule = rule.clone();
        if rule.session.is_none() {
            rule.before.get_or_insert(now);
        }
        // The rule comes first: a crash in between leaves files that the next call removes, never an amnesia that ends.
        let mut rules = self.rules()?;
        let known = rules.len();
        for form in rule.forms().into_iter().chain(self.undated(&rule)?) {
            if !rules.contains(&form) {
                rules.push(form);
            }
        }
        if rules.len() > known {
            self.write_rules(&rules)?;
        }
        self.remove_leftovers();
        let mut gone = Gone::default();
        for KeptFile { kept, path, .. } in self.list()?.chats {
            if rule.fits(&kept.name(), kept.held()) {
                self.forget_in(&kept, path, &rule, &mut gone)?;
            }
        }
        Ok(gone)
    }

    /// What a rule with a time means in transcripts without times: what was read so far. They will have been written later
    /// when they are read again.
    fn undated(&self, rule: &Rule) -> Result<Vec<Rule>> {
        let mut rules = Vec::new();
        for KeptFile { kept, .. } in self.list()?.chats {
            if rule.before.is_none() || !rule.fits(&kept.name(), kept.held()) {
                continue;
            }
            let Some((kept, sections)) = self.read(kept.host, &kept.key)? else { continue };
            let latest = kept.updated.or(kept.started).unwrap_or_default();
            if sections.iter().any(|section| section.at.is_none() && rule.covers(None, 0, latest)) {
                rules.push(Rule { session: Some(kept.name()), lines: Some(kept.progress.cursor.lines), ..Rule::default() });
            }
        }
        Ok(rules)
    }

    fn forget_in(&self, kept: &Kept, path: PathBuf, rule: &Rule, gone: &mut Gone) -> Result<()> {
        let Some((mut kept, sections)) = self.read(kept.host, &kept.key)? else { return Ok(()) };
        // Whether the conversation is meant at all is known here; which turns, the time decides.
        let fallback = kept.updated.or(kept.started).unwrap_or_default();
        let stays = |section: &Section| !rule.covers(section.at, 0, fallback);
        let left: Vec<Section> = sections.iter().filter(|section| stays(section)).cloned().collect();
        if left.is_empty() {
            self.remove(kept.host, &kept.key)?;
            gone.removed.push(path);
        } else if left.len() < sections.len() {
            gone.turns += (sections.len() - left.len()) as u64;
            kept.turns = left.len() as u64;
            kept.started = left.iter().find_map(|section| section.at).or(kept.started);
            if kept.progress.title == TitleRank::FirstWords {
                retitle(&mut kept, &left);
            }
            self.write_sections(&kept, &left)?;
            gone.shortened.push(path);
        }
        Ok(())
    }

    /// What was forgotten so far.
    pub fn rules(&self) -> Result<Vec<Rule>> {
        let path = self.rules_path();
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| Error::Corrupt { what: path.display().to_string(), why: format!("it is not a list of rules ({error})") }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(Error::io("read", path, source)),
        }
    }

    fn write_rules(&self, rules: &[Rule]) -> Result<()> {
        let text = serde_json::to_vec_pretty(rules).unwrap_or_default();
        put(&self.rules_path(), Lasting::Yes, &mut |out| out.write_all(&text))
    }

    fn rules_path(&self) -> PathBuf {
        self.dir().join("forgotten.json")
    }
}

/// Gives a session the first words that are left for a title, instead of those that went.
fn retitle(kept: &mut Kept, left: &[Section]) {
    let words = left.iter().filter(|section| section.speaker == Speaker::User).find_map(|section| first_words(&section.text));
    (kept.title, kept.progress.title) = match words {
        Some(words) => (words, TitleRank::FirstWords),
        None => (kept.session.clone(), TitleRank::None),
    };
}

/// How long and how much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// Days since a chat's last turn; 0 for ever.
    pub days: i64,
    /// Bytes of all chats together; 0 for any.
    pub bytes: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { days: limits::CHAT_KEEP_DAYS, bytes: limits::CHAT_KEEP_BYTES }
    }
}

impl Retention {
    /// The time before which a chat is too old.
    pub(super) fn oldest(&self, now: Timestamp) -> Option<Timestamp> {
        let hours = self.days.checked_mul(24).filter(|&hours| hours > 0)?;
        now.checked_sub(hours.hours()).ok()
    }

    /// Removes what is too old, then the oldest until the rest is not too much. The caller holds the lock.
    pub(super) fn apply(&self, keep: &Keep, now: Timestamp) -> Result<Vec<Kept>> {
        let oldest = self.oldest(now);
        let (mut bytes, mut is_much, mut removed) = (0_u64, false, Vec::new());
        for KeptFile { kept, bytes: size, .. } in keep.list()?.chats {
            let is_old = oldest.is_some_and(|oldest| kept.updated.is_some_and(|updated| updated < oldest));
            // The newest stays, however long it is.
            is_much |= self.bytes > 0 && bytes > 0 && bytes + size > self.bytes;
            if is_old || is_much {
                keep.remove(kept.host, &kept.key)?;
                removed.push(kept);
            } else {
                bytes += size;
            }
        }
        Ok(removed)
    }
}
