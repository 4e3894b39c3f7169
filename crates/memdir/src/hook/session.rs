//! What is remembered of one conversation between two hooks: which memories it has seen, and whether it was reminded.
//! Derived: losing it shows a memory twice, and nothing else.

use jiff::Timestamp;
use memdir_core::base::disk;
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

/// Conversations that are remembered; the oldest are forgotten beyond that.
const MOST: usize = 200;
const REMINDED: &str = "# reminded";
const COMPACTS: &str = "# compacts ";
/// Seconds within which a host that calls twice means the same compaction: it may have hooks for the person and for the
/// project.
const SAME_COMPACTION: i64 = 60;

/// One conversation.
#[derive(Debug)]
pub(crate) struct Session {
    file: Option<PathBuf>,
}

impl Session {
    /// The conversation of that name at a host; one without a name is never remembered.
    pub(crate) fn of(cache: &Path, host: &str, id: Option<&str>) -> Session {
        let name = |id: &str| blake3::hash(format!("{host}\0{id}").as_bytes()).to_hex()[..24].to_owned();
        Session { file: id.map(|id| cache.join("sessions").join(name(id))) }
    }

    /// The names of the memories it has seen.
    pub(crate) fn shown(&self) -> Vec<String> {
        self.lines().into_iter().filter(|line| !line.starts_with('#')).collect()
    }

    /// Notes that it has seen these.
    pub(crate) fn show<'a>(&self, names: impl Iterator<Item = &'a str>) {
        // A name that could be a note of ours is no name of a memory.
        self.add(&names.filter(|name| !name.starts_with('#')).map(|name| format!("{name}\n")).collect::<String>());
    }

    /// Whether it is to be reminded now: once, and never again.
    pub(crate) fn remind(&self) -> bool {
        if self.file.is_none() || self.lines().iter().any(|line| line == REMINDED) {
            return false;
        }
        self.add(&format!("{REMINDED}\n"));
        self.lines().iter().any(|line| line == REMINDED)
    }

    /// Whether a compaction that is told now is one that was not told yet.
    pub(crate) fn compacts(&self, now: Timestamp) -> bool {
        if self.file.is_none() {
            return true;
        }
        let mine = format!("{COMPACTS}{now} {}", std::process::id());
        self.add(&format!("{mine}\n"));
        let lines = self.lines();
        let is_now = |line: &&String| {
            let at = line.strip_prefix(COMPACTS).and_then(|rest| rest.split(' ').next()).and_then(|at| at.parse::<Timestamp>().ok());
            at.is_some_and(|at| (now.as_second() - at.as_second()).abs() < SAME_COMPACTION)
        };
        // Of those that are told at once, the one that was written down first counts.
        lines.iter().find(is_now).is_none_or(|line| *line == mine)
    }

    /// Forgets what it has seen: it begins, or has lost it. That it was reminded stays, and when it was compacted.
    pub(crate) fn begin(&self) {
        let notes: String = self.lines().iter().filter(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
        if let Some(file) = self.file.as_ref().filter(|file| file.exists()) {
            // What cannot be removed is left: a memory is then not shown again.
            let _ = fs::remove_file(file);
        }
        self.add(&notes);
    }

    fn lines(&self) -> Vec<String> {
        let text = self.file.as_ref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn add(&self, text: &str) {
        let Some(file) = self.file.as_ref().filter(|_| !text.is_empty()) else { return };
        let dir = file.parent().unwrap_or(file);
        if !file.exists() {
            let _ = disk::create_private_dir(dir);
            forget_oldest(dir);
        }
        let opened = disk::append_private_file(file);
        // One write, so that hooks that run at once do not mix their lines.
        let _ = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    }
}

fn forget_oldest(dir: &Path) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    if files.len() < MOST {
        return;
    }
    files.sort();
    files.iter().take(files.len() - MOST / 2).for_each(|(_, file)| drop(fs::remove_file(file)));
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files by hand")]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_knows_what_it_has_seen_until_it_begins_again() {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::of(dir.path(), "codex", Some("a/../b"));
        assert_eq!(session.shown(), [""; 0]);
        session.show(["notes/deploy", "user/ada"].into_iter());
        session.show(["notes/é"].into_iter());
        assert_eq!(session.shown(), ["notes/deploy", "user/ada", "notes/é"]);
        assert_eq!(Session::of(dir.path(), "gemini", Some("a/../b")).shown(), [""; 0]);
        session.begin();
        assert_eq!(session.shown(), [""; 0]);
    }

    #[test]
    fn it_is_reminded_once() {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::of(dir.path(), "codex", Some("s"));
        assert!(session.remind());
        assert!(!session.remind());
        session.begin();
        assert!(!session.remind());
        assert!(!Session::of(dir.path(), "codex", None).remind());
        fs::remove_dir_all(dir.path().join("sessions")).unwrap();
        fs::write(dir.path().join("sessions"), "in the way").unwrap();
        assert!(!session.remind(), "what cannot be noted would be said again and again");
    }

    #[test]
    fn a_compaction_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::of(dir.path(), "codex", Some("s"));
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        assert!(session.compacts(at("2026-01-15T10:00:00Z")));
        session.begin();
        assert!(!session.compacts(at("2026-01-15T10:00:30Z")), "the same, told by another hook");
        assert!(session.compacts(at("2026-01-15T11:00:00Z")));
        assert!(Session::of(dir.path(), "codex", None).compacts(at("2026-01-15T11:00:00Z")));
        assert_eq!(session.shown(), [""; 0]);
    }

    #[test]
    fn old_conversations_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..MOST + 5 {
            Session::of(dir.path(), "codex", Some(&n.to_string())).show(["a"].into_iter());
        }
        assert!(fs::read_dir(dir.path().join("sessions")).unwrap().count() <= MOST);
    }
}
