//! Reads what verification needs from a Git repository: the tracked files, and whether a commit exists. Does not run git.

use std::{
    fs::{self, File},
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
};

/// Maximum size of an index that is read: about a million files.
const INDEX_BYTES: u64 = 256 << 20;

/// Returns the tracked files, or `None` if there is no index or its version 4 compresses names.
pub(super) fn tracked(git_dir: &Path) -> Option<Vec<String>> {
    let mut bytes = Vec::new();
    File::open(git_dir.join("index")).ok()?.take(INDEX_BYTES).read_to_end(&mut bytes).ok()?;
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let version = number(4)?;
    if bytes.get(..4)? != b"DIRC" || !(2..=3).contains(&version) {
        return None;
    }
    let mut files = Vec::new();
    let mut at = 12;
    for _ in 0..number(8)? {
        let flags = u16::from_be_bytes(bytes.get(at + 60..at + 62)?.try_into().ok()?);
        let name = at + if flags & 0x4000 != 0 { 64 } else { 62 };
        let length = bytes.get(name..)?.iter().position(|byte| *byte == 0)?;
        files.push(String::from_utf8_lossy(&bytes[name..name + length]).into_owned());
        // Entries are padded with one to eight zeros to a multiple of eight.
        at += (name - at + length + 8) & !7;
    }
    Some(files)
}

/// Whether an object id starts with these hex digits. `None` if the repository is shallow or borrows objects.
pub(super) fn has_object(common: &Path, id: &str) -> Option<bool> {
    if common.join("shallow").exists() || common.join("objects/info/alternates").exists() {
        return None;
    }
    let folder = common.join("objects").join(&id[..2]);
    let loose = fs::read_dir(folder).into_iter().flatten().flatten().any(|file| file.file_name().to_string_lossy().starts_with(&id[2..]));
    if loose {
        return Some(true);
    }
    let packs = fs::read_dir(common.join("objects/pack")).into_iter().flatten().flatten().map(|file| file.path());
    let mut all_read = true;
    for pack in packs.filter(|path| path.extension().is_some_and(|ending| ending == "idx")) {
        match pack_has(&pack, id) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => all_read = false,
        }
    }
    all_read.then_some(false)
}

/// Maximum size of a reflog that is read.
const RECORD_BYTES: u64 = 16 << 20;

/// Whether a reflog contains a commit whose id starts with these hex digits.
pub(super) fn was_recorded(common: &Path, id: &str) -> bool {
    let mut folders = vec![common.join("logs/refs")];
    let mut files = vec![common.join("logs/HEAD")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.iter().any(|file| names_commit(file, id))
}

/// Every line of a reflog begins with the old and the new commit.
fn names_commit(record: &Path, id: &str) -> bool {
    let mut text = Vec::new();
    let Ok(file) = File::open(record) else { return false };
    if file.take(RECORD_BYTES).read_to_end(&mut text).is_err() {
        return false;
    }
    let text = String::from_utf8_lossy(&text);
    text.lines().any(|line| line.split(' ').take(2).any(|commit| commit.starts_with(id)))
}

/// Looks up an id in the index of a pack: a fan-out table by first byte, then all ids in order.
fn pack_has(path: &Path, id: &str) -> Option<bool> {
    const HEAD: u64 = 8;
    const COUNTS: u64 = 256 * 4;
    let mut file = File::open(path).ok()?;
    let mut head = [0; 8];
    file.read_exact(&mut head).ok()?;
    if head != [0xff, b't', b'O', b'c', 0, 0, 0, 2] {
        return None;
    }
    let mut counts = vec![0; COUNTS as usize];
    file.read_exact(&mut counts).ok()?;
    let count = |byte: usize| Some(u64::from(u32::from_be_bytes(counts.get(byte * 4..byte * 4 + 4)?.try_into().ok()?)));
    let first = usize::from(u8::from_str_radix(&id[..2], 16).ok()?);
    let (from, to) = (if first == 0 { 0 } else { count(first - 1)? }, count(first)?);
    file.seek(SeekFrom::Start(HEAD + COUNTS + from * 20)).ok()?;
    let mut ids = vec![0; usize::try_from(to.checked_sub(from)? * 20).ok()?];
    file.read_exact(&mut ids).ok()?;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Some(ids.chunks(20).any(|bytes| hex(bytes).starts_with(id)))
}
