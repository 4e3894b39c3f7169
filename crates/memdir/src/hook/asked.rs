//! Which conversations were asked about candidates. Kept in memdir's home and not in the cache, because a second question would keep an
//! agent from stopping: deleting the cache must not cause one.

use memdir_core::internal::{
    base::disk::{self, FileLock, LockWait, Replace},
    store::space::Places,
};
use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

/// The number of conversations that are remembered; beyond it the older half is dropped. Several years of ten a day.
const MAX_CONVERSATIONS: usize = 20_000;

/// Records that a conversation is asked; returns `false` if it was asked before, or if that cannot be recorded.
pub(super) fn record(home: &Path, conversation: &str) -> bool {
    try_record(home, conversation).unwrap_or(false)
}

fn try_record(home: &Path, conversation: &str) -> io::Result<bool> {
    let dir = Places::new(home).inboxes();
    let file = dir.join("asked");
    disk::create_private_dir(&dir)?;
    let mark = blake3::hash(conversation.as_bytes()).to_hex()[..24].to_owned();
    let _lock = FileLock::for_update(&file, LockWait::BEST_EFFORT)?;
    let text = match fs::read_to_string(&file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        text => text.unwrap_or_default(),
    };
    let marks: Vec<&str> = text.lines().collect();
    if marks.contains(&mark.as_str()) {
        return Ok(false);
    }
    let kept = if marks.len() < MAX_CONVERSATIONS { &marks[..] } else { &marks[MAX_CONVERSATIONS / 2..] };
    let lines: String = kept.iter().chain([&mark.as_str()]).map(|mark| format!("{mark}\n")).collect();
    disk::replace(&file, Replace::DURABLE, |file| file.write_all(lines.as_bytes()))?;
    Ok(true)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files by hand")]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_asked_once_however_many_there_are() {
        let dir = tempfile::tempdir().unwrap();
        assert!(record(dir.path(), "codex/s") && !record(dir.path(), "codex/s") && record(dir.path(), "gemini/s"));
        let many: String = (0..MAX_CONVERSATIONS).map(|number| format!("{number:024}\n")).collect();
        fs::write(dir.path().join("inbox/asked"), many).unwrap();
        assert!(record(dir.path(), "codex/t") && !record(dir.path(), "codex/t"));
        assert_eq!(fs::read_to_string(dir.path().join("inbox/asked")).unwrap().lines().count(), MAX_CONVERSATIONS / 2 + 1);
        fs::remove_file(dir.path().join("inbox/asked")).unwrap();
        fs::create_dir(dir.path().join("inbox/asked")).unwrap();
        assert!(!record(dir.path(), "codex/u"), "a question that cannot be recorded would be repeated");
    }
}
