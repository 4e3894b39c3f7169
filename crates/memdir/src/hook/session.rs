//! The state of one conversation between two hooks: which memories it has seen, how many messages the person typed, and whether it has
//! seen how the previous one ended. Derived: without it a memory is shown twice, and nothing else.

use jiff::Timestamp;
use memdir_core::internal::base::disk::{self, FileLock, LockWait};
use memdir_core::internal::base::sort::SharedSort as _;
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

/// The number of conversations that are kept; beyond it the oldest are removed.
const MAX_SESSIONS: usize = 200;
const LEFT_OFF: &str = "# left off";
const MESSAGE: &str = "# message";
/// The number of messages that are counted.
const MAX_MESSAGES: usize = 8;
const COMPACTS: &str = "# compacts ";
/// Seconds within which two calls report the same compaction: a host may have hooks in the user scope and in the project scope.
const SAME_COMPACTION: i64 = 60;

/// The state of one conversation.
#[derive(Debug)]
pub(crate) struct HookSession {
    file: Option<PathBuf>,
}

impl HookSession {
    /// The state of the conversation with this id at a host. Without an id nothing is recorded.
    pub(crate) fn new(cache: &Path, host: &str, id: Option<&str>) -> HookSession {
        let name = |id: &str| blake3::hash(format!("{host}\0{id}").as_bytes()).to_hex()[..24].to_owned();
        HookSession { file: id.map(|id| cache.join("sessions").join(name(id))) }
    }

    /// The names of the memories it has seen.
    pub(crate) fn shown(&self) -> Vec<String> {
        self.lines().into_iter().filter(|line| !line.starts_with('#')).collect()
    }

    /// Records memories that it has seen.
    pub(crate) fn add_shown<'a>(&self, names: impl Iterator<Item = &'a str>) {
        let _lock = self.lock();
        // A memory's name never begins with `#`, which marks our own lines.
        self.append(&names.filter(|name| !name.starts_with('#')).map(|name| format!("{name}\n")).collect::<String>());
    }

    /// Records that the conversation has seen how the previous one ended; returns `false` if that is already recorded, or if that cannot be
    /// recorded and would be repeated.
    pub(crate) fn record_left_off(&self) -> bool {
        self.record_once(LEFT_OFF)
    }

    fn record_once(&self, mark: &str) -> bool {
        let Some(_lock) = self.lock() else { return false };
        if self.lines().iter().any(|line| line == mark) {
            return false;
        }
        self.append(&format!("{mark}\n"));
        self.lines().iter().any(|line| line == mark)
    }

    /// Records a message of the person. Beyond [`MAX_MESSAGES`] nothing depends on the number.
    pub(crate) fn record_message(&self) {
        let _lock = self.lock();
        if self.messages() < MAX_MESSAGES {
            self.append(&format!("{MESSAGE}\n"));
        }
    }

    /// The number of messages of the person, at most [`MAX_MESSAGES`].
    pub(crate) fn messages(&self) -> usize {
        self.lines().iter().filter(|line| *line == MESSAGE).count()
    }

    /// Records a compaction; returns `false` if another call has reported the same one.
    pub(crate) fn record_compaction(&self, now: Timestamp) -> bool {
        let Some(_lock) = self.lock() else { return true };
        let mine = format!("{COMPACTS}{now} {}", std::process::id());
        self.append(&format!("{mine}\n"));
        let lines = self.lines();
        let is_now = |line: &&String| {
            let at = line.strip_prefix(COMPACTS).and_then(|rest| rest.split(' ').next()).and_then(|at| at.parse::<Timestamp>().ok());
            at.is_some_and(|at| (now.as_second() - at.as_second()).abs() < SAME_COMPACTION)
        };
        // Of simultaneous calls, the first in the file counts.
        lines.iter().find(is_now).is_none_or(|line| *line == mine)
    }

    /// Forgets the memories it has seen, because the conversation begins or was compacted. Messages and compactions are kept.
    pub(crate) fn restart(&self) {
        let _lock = self.lock();
        let notes: String = self.lines().iter().filter(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
        if let Some(file) = self.file.as_ref().filter(|file| file.exists()) {
            // If this fails, memories are not shown again.
            let _ = fs::remove_file(file);
        }
        self.append(&notes);
    }

    /// Locks the state of all conversations. `None` without an id, or if the lock cannot be acquired in time.
    fn lock(&self) -> Option<FileLock> {
        FileLock::for_update(self.file.as_ref()?.parent()?, LockWait::BEST_EFFORT).ok()
    }

    fn lines(&self) -> Vec<String> {
        let text = self.file.as_ref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn append(&self, text: &str) {
        let Some(file) = self.file.as_ref().filter(|_| !text.is_empty()) else { return };
        let dir = file.parent().unwrap_or(file);
        if !file.exists() {
            let _ = disk::create_private_dir(dir);
            remove_oldest(dir);
        }
        let opened = disk::append_private_file(file);
        // One write, so that lines of simultaneous hooks are not mixed.
        let _ = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    }
}

fn remove_oldest(dir: &Path) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    if files.len() < MAX_SESSIONS {
        return;
    }
    files.shared_sort();
    files.iter().take(files.len() - MAX_SESSIONS / 2).for_each(|(_, file)| drop(fs::remove_file(file)));
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files by hand")]
mod tests {
    use super::*;

    #[test]
    fn shown_memories_are_kept_until_the_conversation_restarts() {
        let dir = tempfile::tempdir().unwrap();
        let session = HookSession::new(dir.path(), "codex", Some("a/../b"));
        assert_eq!(session.shown(), [""; 0]);
        session.add_shown(["notes/deploy", "user/ada"].into_iter());
        session.add_shown(["notes/é"].into_iter());
        assert_eq!(session.shown(), ["notes/deploy", "user/ada", "notes/é"]);
        assert_eq!(HookSession::new(dir.path(), "gemini", Some("a/../b")).shown(), [""; 0]);
        session.restart();
        assert_eq!(session.shown(), [""; 0]);
    }

    #[test]
    fn the_end_of_the_previous_conversation_is_shown_once() {
        let dir = tempfile::tempdir().unwrap();
        let session = HookSession::new(dir.path(), "codex", Some("s"));
        assert!(session.record_left_off());
        assert!(!session.record_left_off());
        session.restart();
        assert!(!session.record_left_off());
        assert!(!HookSession::new(dir.path(), "codex", None).record_left_off());
        fs::remove_dir_all(dir.path().join("sessions")).unwrap();
        fs::write(dir.path().join("sessions"), "in the way").unwrap();
        assert!(!session.record_left_off(), "a text that cannot be recorded would be repeated");
    }

    #[test]
    fn a_compaction_is_recorded_once() {
        let dir = tempfile::tempdir().unwrap();
        let session = HookSession::new(dir.path(), "codex", Some("s"));
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        assert!(session.record_compaction(at("2026-01-15T10:00:00Z")));
        session.restart();
        assert!(!session.record_compaction(at("2026-01-15T10:00:30Z")), "the same one, reported by another hook");
        assert!(session.record_compaction(at("2026-01-15T11:00:00Z")));
        assert!(HookSession::new(dir.path(), "codex", None).record_compaction(at("2026-01-15T11:00:00Z")));
        assert_eq!(session.shown(), [""; 0]);
    }

    #[test]
    fn old_conversations_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..MAX_SESSIONS + 5 {
            HookSession::new(dir.path(), "codex", Some(&n.to_string())).add_shown(["a"].into_iter());
        }
        assert!(fs::read_dir(dir.path().join("sessions")).unwrap().count() <= MAX_SESSIONS);
    }
}
