//! What rules did in one conversation: which ones held an action, and for which actions each was shown. One small file per
//! conversation and subagent, to which lines are only appended, under its lock. If it cannot be written, no rule holds an action: an
//! action that is held again and again would never run.

use jiff::Timestamp;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::internal::base::{
    disk::{self, FileLock},
    time::Deadline,
};
use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

/// Seconds after which a rule holds again in the same conversation.
const HOLD_AGAIN_SECS: i64 = 30 * 60;
/// The number of actions in a conversation that rules of other people hold at most, unless the person accepted them.
const MAX_FOREIGN_HOLDS: usize = 3;
/// The size in bytes up to which lines are appended; beyond it rules are only shown.
const MAX_BYTES: u64 = 64 << 10;
/// The size in bytes up to which it is recorded what was shown, so that there is always room for what was held.
const MAX_SHOWN_BYTES: u64 = 32 << 10;
/// Seconds after which the state of a conversation is removed.
const KEEP_SECS: i64 = 3 * 24 * 60 * 60;
/// The number of conversations that are kept; of more, those that no longer keep a rule from holding are removed.
const MAX_CONVERSATIONS: usize = 1_000;

const HELD: &str = "held";
const FOREIGN: &str = "foreign";
const SHOWN: &str = "shown";
const COMPACTED: &str = "compacted";
const FIRED: &str = "fired";
const VIOLATED: &str = "violated";
const SETTLED: &str = "settled";
const CALL: &str = "call";
/// The characters of an id of a tool call; a longer one is not recorded.
const MAX_CALL_ID: usize = 100;

/// The state of one conversation, or of one subagent in it.
#[derive(Debug)]
pub(crate) struct Conversation {
    file: Option<PathBuf>,
}

/// A tripwire that fired. The next tool call decides whether it is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FiredTripwire {
    /// The name of the memory.
    pub(crate) name: String,
    /// The id of the tripwire in the ledger.
    pub(crate) tripwire: String,
    /// The hash of the action that it fired for.
    action: String,
    /// Whether the same action was the next tool call.
    pub(crate) is_violated: bool,
}

/// The state while it is locked.
#[derive(Debug)]
pub(crate) struct OpenConversation {
    lock: FileLock,
    bytes: u64,
    now: i64,
    held: HashMap<String, i64>,
    shown: HashSet<String>,
    foreign: usize,
    /// The tripwires that fired for the last action.
    fired: Vec<FiredTripwire>,
    /// The id of the tool call for which tripwires fired last.
    fired_call: Option<String>,
    /// Whether a foreign rule holds the action at hand.
    holds_foreign: bool,
    added: String,
}

impl Conversation {
    /// The state of the conversation with this id at a host. Without an id nothing is recorded.
    pub(crate) fn new(home: &Path, host: &str, session: Option<&str>, agent: Option<&str>) -> Conversation {
        // The hash of any id is a valid name, even if the id has slashes or a size of a megabyte.
        let name = |session: &str| {
            let mut hasher = blake3::Hasher::new();
            for part in [host, session, agent.unwrap_or_default()] {
                hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
            }
            hasher.finalize().to_hex()[..24].to_owned()
        };
        let session = session.filter(|session| !session.trim().is_empty());
        Conversation { file: session.map(|session| home.join("rules/conversations").join(name(session))) }
    }

    /// Locks and reads the state. `None` without an id, if another process has the lock until the deadline, or if the state cannot be
    /// written.
    pub(crate) fn open(&self, now: Timestamp, deadline: Deadline) -> Option<OpenConversation> {
        let file = self.file.as_ref()?;
        if !file.exists() {
            let dir = file.parent()?;
            disk::create_private_dir(dir).ok()?;
            remove_old(dir, now);
        }
        let lock = FileLock::acquire_file_until(disk::open_lock_file(file, 0o600).ok()?, deadline, &|| false).ok()??;
        let mut text = String::new();
        lock.file().take(2 * MAX_BYTES).read_to_string(&mut text).ok()?;
        let bytes = text.len() as u64;
        let mut open = OpenConversation {
            lock,
            bytes,
            now: now.as_second(),
            held: HashMap::new(),
            shown: HashSet::new(),
            foreign: 0,
            fired: Vec::new(),
            fired_call: None,
            holds_foreign: false,
            added: String::new(),
        };
        text.lines().for_each(|line| open.read(line));
        (bytes < MAX_BYTES).then_some(open)
    }

    /// Whether anything was recorded of this conversation.
    pub(crate) fn exists(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file.exists())
    }

    /// Records that the conversation lost its context, so that its rules hold again.
    pub(crate) fn record_compaction(&self, now: Timestamp, deadline: Deadline) {
        // Without a state there is nothing to forget.
        if self.exists()
            && let Some(mut open) = self.open(now, deadline)
        {
            open.add(COMPACTED);
            open.commit();
        }
    }
}

impl OpenConversation {
    /// Reads one line. A line that a killed process left incomplete is skipped.
    fn read(&mut self, line: &str) {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            [HELD, at, rule] => {
                if let Ok(at) = at.parse() {
                    self.held.insert((*rule).to_owned(), at);
                }
            }
            [FOREIGN] => self.foreign += 1,
            [SHOWN, rule] => drop(self.shown.insert((*rule).to_owned())),
            [COMPACTED] => {
                self.held.clear();
                self.shown.clear();
                self.fired.clear();
            }
            [kind @ (FIRED | VIOLATED), action, tripwire, name @ ..] => self.fired.push(FiredTripwire {
                name: name.join(" "),
                tripwire: (*tripwire).to_owned(),
                action: (*action).to_owned(),
                is_violated: *kind == VIOLATED,
            }),
            [SETTLED] => self.fired.clear(),
            [CALL, id] => self.fired_call = Some((*id).to_owned()),
            _ => {}
        }
    }

    /// Whether a rule has not held an action lately.
    pub(crate) fn may_hold(&self, rule: &str) -> bool {
        self.held.get(rule).is_none_or(|at| holds_again(*at, self.now))
    }

    /// Records that a rule holds the action at hand; returns `false` if it may not.
    pub(crate) fn hold(&mut self, rule: &str, is_foreign: bool) -> bool {
        if !self.may_hold(rule) || (is_foreign && !self.holds_foreign && self.foreign >= MAX_FOREIGN_HOLDS) {
            return false;
        }
        if is_foreign && !self.holds_foreign {
            self.holds_foreign = true;
            self.add(FOREIGN);
        }
        self.add(&format!("{HELD} {} {rule}", self.now));
        true
    }

    /// Records that a rule is shown for an action; returns whether it was shown for the same action before.
    pub(crate) fn record_shown(&mut self, rule: &str, action: &str) -> bool {
        let key = blake3::hash(format!("{rule}\0{action}").as_bytes()).to_hex()[..16].to_owned();
        let is_repeated = self.shown.contains(&key);
        if !is_repeated && self.bytes < MAX_SHOWN_BYTES {
            self.add(&format!("{SHOWN} {key}"));
        }
        is_repeated
    }

    /// Records that a tripwire fires for an action; returns `false` if it did for the same action just before, which is one violation
    /// and not another warning.
    pub(crate) fn fire(&mut self, name: &str, tripwire: &str, action: &str) -> bool {
        let fired = FiredTripwire { name: name.to_owned(), tripwire: tripwire.to_owned(), action: action_hash(action), is_violated: false };
        if self.fired.iter().any(|other| *other == FiredTripwire { is_violated: true, ..fired.clone() }) {
            return false;
        }
        if self.bytes < MAX_SHOWN_BYTES {
            self.add(&format!("{FIRED} {} {tripwire} {name}", fired.action));
            self.fired.push(fired);
        }
        true
    }

    /// Records the id of the tool call for which tripwires fire.
    pub(crate) fn record_call(&mut self, id: &str) {
        if id.len() <= MAX_CALL_ID && !id.contains(char::is_whitespace) && self.bytes < MAX_SHOWN_BYTES {
            self.add(&format!("{CALL} {id}"));
            self.fired_call = Some(id.to_owned());
        }
    }

    /// The id of the tool call for which tripwires fired that are not decided about yet.
    pub(crate) fn fired_call(&self) -> Option<&str> {
        self.fired_call.as_deref().filter(|_| !self.fired.is_empty())
    }

    /// Whether a tripwire of a memory fired that is not decided about yet.
    pub(crate) fn has_fired(&self, name: &str) -> bool {
        self.fired.iter().any(|fired| fired.name == name)
    }

    /// Decides about the tripwires that fired before this tool call: the same action again violates them. `None` is the end of the
    /// agent's turn, which violates nothing. Returns those that are decided now.
    pub(crate) fn settle(&mut self, action: Option<&str>) -> Vec<FiredTripwire> {
        if self.fired.is_empty() {
            return Vec::new();
        }
        self.add(SETTLED);
        let action = action.map(action_hash);
        let mut settled = Vec::new();
        for fired in std::mem::take(&mut self.fired) {
            if Some(&fired.action) == action.as_ref() {
                let violated = FiredTripwire { is_violated: true, ..fired };
                self.add(&format!("{VIOLATED} {} {} {}", violated.action, violated.tripwire, violated.name));
                self.fired.push(violated.clone());
                settled.push(violated);
            } else if !fired.is_violated {
                settled.push(fired);
            }
        }
        settled
    }

    /// Writes what was recorded; returns whether it is written.
    pub(crate) fn commit(self) -> bool {
        let mut file: &File = self.lock.file();
        self.added.is_empty() || file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(self.added.as_bytes())).is_ok()
    }

    fn add(&mut self, line: &str) {
        // The first line break ends a line that a killed process left incomplete.
        self.added.push_str(&format!("\n{line}\n"));
    }
}

/// Whether a rule that held an action at one time, in seconds, holds another one in the same conversation now.
pub(crate) fn holds_again(held_at: i64, now: i64) -> bool {
    // A time in the future, after the clock was set back, counts as lately: an action must not be held twice.
    now.saturating_sub(held_at) >= HOLD_AGAIN_SECS
}

/// What makes two actions the same, in 16 characters.
fn action_hash(action: &str) -> String {
    blake3::hash(action.as_bytes()).to_hex()[..16].to_owned()
}

/// Removes the states of old conversations.
fn remove_old(dir: &Path, now: Timestamp) {
    let age = |entry: &fs::DirEntry| -> io::Result<i64> {
        let modified = Timestamp::try_from(entry.metadata()?.modified()?).map_err(io::Error::other)?;
        Ok(now.as_second() - modified.as_second())
    };
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<(i64, PathBuf)> = entries.filter_map(|entry| Some((age(&entry).ok()?, entry.path()))).collect();
    files.shared_sort();
    for (at, (age, file)) in files.iter().enumerate() {
        if *age > KEEP_SECS || (at >= MAX_CONVERSATIONS && *age > HOLD_AGAIN_SECS) {
            // If this fails, the next conversation removes it.
            let _ = fs::remove_file(file);
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files by hand")]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn soon() -> Deadline {
        Deadline::after(Duration::from_secs(5))
    }

    fn holds(conversation: &Conversation, second: i64, rule: &str, is_foreign: bool) -> bool {
        let mut open = conversation.open(at(second), soon()).unwrap();
        let holds = open.hold(rule, is_foreign);
        assert!(open.commit());
        holds
    }

    #[test]
    fn a_rule_holds_once_until_thirty_minutes_or_a_compaction() {
        let dir = tempfile::tempdir().unwrap();
        let conversation = Conversation::new(dir.path(), "codex", Some("a/../b"), None);
        assert!(holds(&conversation, 0, "r", false));
        assert!(!holds(&conversation, 1, "r", false));
        assert!(holds(&conversation, 1, "s", false), "another rule");
        assert!(!holds(&conversation, HOLD_AGAIN_SECS - 1, "r", false));
        assert!(holds(&conversation, HOLD_AGAIN_SECS, "r", false));
        assert!(!holds(&conversation, -500, "r", false), "the clock was set back");
        conversation.record_compaction(at(HOLD_AGAIN_SECS + 1), soon());
        assert!(holds(&conversation, HOLD_AGAIN_SECS + 2, "r", false));
        assert!(!holds(&conversation, HOLD_AGAIN_SECS + 3, "r", false));
    }

    #[test]
    fn conversations_hosts_and_subagents_are_apart() {
        let dir = tempfile::tempdir().unwrap();
        let conversation_of = |host, session, agent| Conversation::new(dir.path(), host, Some(session), agent);
        for conversation in [
            conversation_of("codex", "s", None),
            conversation_of("gemini", "s", None),
            conversation_of("codex", "t", None),
            conversation_of("codex", "s", Some("a")),
            conversation_of("codex", "s", Some("b")),
            conversation_of("codex", "sa", None),
            conversation_of("codex", "../../x", None),
            conversation_of("codex", &"x".repeat(1 << 20), None),
            conversation_of("codex", "\0", None),
        ] {
            assert!(holds(&conversation, 0, "r", false), "{conversation:?}");
            assert!(!holds(&conversation, 0, "r", false), "{conversation:?}");
            assert_eq!(conversation.file.unwrap().parent(), Some(dir.path().join("rules/conversations").as_path()));
        }
        for session in [None, Some(""), Some(" \n")] {
            assert!(Conversation::new(dir.path(), "codex", session, None).open(at(0), soon()).is_none());
        }
    }

    #[test]
    fn rules_of_others_hold_three_actions_even_after_a_compaction() {
        let dir = tempfile::tempdir().unwrap();
        let conversation = Conversation::new(dir.path(), "codex", Some("s"), None);
        let mut open = conversation.open(at(0), soon()).unwrap();
        assert!(["a", "b", "c", "d"].iter().all(|rule| open.hold(rule, true)), "one action");
        assert!(open.commit());
        assert!(holds(&conversation, 1, "e", true));
        conversation.record_compaction(at(2), soon());
        assert!(holds(&conversation, 3, "a", true));
        assert!(!holds(&conversation, 4, "b", true), "the fourth action");
        assert!(holds(&conversation, 4, "b", false), "the person accepted it");
    }

    #[test]
    fn a_rule_is_repeated_for_the_same_action_only() {
        let dir = tempfile::tempdir().unwrap();
        let conversation = Conversation::new(dir.path(), "codex", Some("s"), None);
        let shown = |rule: &str, action: &str| {
            let mut open = conversation.open(at(0), soon()).unwrap();
            let shown = open.record_shown(rule, action);
            assert!(open.commit());
            shown
        };
        assert_eq!([shown("r", "push"), shown("r", "push"), shown("r", "pull"), shown("s", "push")], [false, true, false, false]);
        conversation.record_compaction(at(0), soon());
        assert!(!shown("r", "push"));
    }

    #[test]
    fn the_next_action_violates_or_follows_what_fired() {
        let dir = tempfile::tempdir().unwrap();
        let conversation = Conversation::new(dir.path(), "codex", Some("s"), None);
        let step = |fires: &[&str], action: Option<&str>| {
            let mut open = conversation.open(at(0), soon()).unwrap();
            let settled = open.settle(action);
            let fired: Vec<bool> = fires.iter().map(|name| open.fire(name, "0123abcd", action.unwrap_or_default())).collect();
            assert!(open.commit());
            (settled.into_iter().map(|one| (one.name, one.is_violated)).collect::<Vec<_>>(), fired)
        };
        let one = |name: &str, is_violated: bool| (name.to_owned(), is_violated);
        assert_eq!(step(&["a rule", "b"], Some("push")), (vec![], vec![true, true]));
        assert_eq!(step(&["a rule"], Some("push")), (vec![one("a rule", true), one("b", true)], vec![false]));
        assert_eq!(step(&["a rule"], Some("push")), (vec![one("a rule", true), one("b", true)], vec![false]));
        assert_eq!(step(&[], Some("test")), (vec![], vec![]), "what was violated is not followed as well");
        assert_eq!(step(&["a rule"], Some("push")), (vec![], vec![true]));
        assert_eq!(step(&[], None), (vec![one("a rule", false)], vec![]), "the turn is over");
        assert_eq!(step(&["a rule"], Some("push")), (vec![], vec![true]));
        conversation.record_compaction(at(0), soon());
        assert_eq!(step(&[], Some("push")), (vec![], vec![]), "the context is lost");
    }

    #[test]
    fn a_state_that_cannot_be_written_or_is_full_holds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let conversation = Conversation::new(dir.path(), "codex", Some("s"), None);
        assert!(holds(&conversation, 0, "r", false));
        let file = conversation.file.clone().unwrap();
        fs::write(&file, format!("held 18000000\u{fffd}00 r\nheld\n{}", "x".repeat(MAX_BYTES as usize))).unwrap();
        assert!(conversation.open(at(0), soon()).is_none(), "it is full");
        fs::write(&file, [0xff, 0xfe]).unwrap();
        assert!(conversation.open(at(0), soon()).is_none(), "it is not text");
        fs::remove_dir_all(dir.path().join("rules")).unwrap();
        fs::write(dir.path().join("rules"), "in the way").unwrap();
        assert!(conversation.open(at(0), soon()).is_none());
        conversation.record_compaction(at(0), soon());
    }

    #[test]
    fn a_line_of_a_killed_process_is_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let conversation = Conversation::new(dir.path(), "codex", Some("s"), None);
        assert!(holds(&conversation, 0, "r", false));
        let file = conversation.file.clone().unwrap();
        fs::write(&file, format!("{}held 180000", fs::read_to_string(&file).unwrap())).unwrap();
        assert!(!holds(&conversation, 1, "r", false));
        assert!(holds(&conversation, 1, "s", false));
        assert!(!holds(&conversation, 2, "s", false));
    }

    #[test]
    fn old_conversations_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        assert!(holds(&Conversation::new(dir.path(), "codex", Some("old"), None), 0, "r", false));
        let states = dir.path().join("rules/conversations");
        let old = states.read_dir().unwrap().next().unwrap().unwrap().path();
        File::options().write(true).open(&old).unwrap().set_modified(at(0).into()).unwrap();
        assert!(holds(&Conversation::new(dir.path(), "codex", Some("b"), None), KEEP_SECS - 1, "r", false));
        assert!(old.exists());
        assert!(holds(&Conversation::new(dir.path(), "codex", Some("c"), None), KEEP_SECS + 1, "r", false));
        assert!(!old.exists());
    }
}
