//! The ledger: counts how often each memory is listed, injected, searched, read and cited, and whether rules are followed. It holds
//! names, counts and times, never text, and stays in memdir's home. One file per mount, to which lines are appended under a lock; a
//! compaction replaces them with their sums, in one step. Nothing that ranks or recalls reads it.

mod candidates;
mod counts;
mod mentions;

pub use candidates::{RULE_MIN_SESSIONS, UNUSED_DAYS, rule_candidates};
pub use counts::{CountedSince, TripwireCounts, UseCounts, UseKind};
pub use mentions::{cited_names, listed_lines};

use crate::{
    base::{
        disk::{self, Durability, FileLock, FileMode, LockWait, Replace, TempName},
        path::MemoryPath,
    },
    recall::when::{Strength, Tripwire},
    store::{Change, FileChange, MountInfo, Role, Source, Store, View, mount::journal_name, mounts},
};
use counts::MountUseCounts;
use jiff::Timestamp;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

/// Size in bytes above which a ledger file is replaced with its sums at the end of a session: some hundred uses.
const LEDGER_COMPACT_BYTES: u64 = 32 << 10;
/// Size in bytes above which any process that counts does it: a host without a hook at the end of a session never compacts otherwise.
const LEDGER_MAX_BYTES: u64 = 1 << 20;

/// Seconds after which a memory that does not exist loses its counts at a compaction, so that an undone delete keeps them.
const MISSING_SECS: i64 = 24 * 60 * 60;

/// One use of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryUse<'a> {
    /// The name in the space, with or without its extension.
    pub name: &'a str,
    /// How it was used.
    pub kind: UseKind,
}

/// The counts of a space, by the names of its memories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpaceUses {
    /// How long each mount has been counted, by its prefix.
    pub counted: BTreeMap<String, CountedSince>,
    memories: BTreeMap<String, UseCounts>,
    tripwires: BTreeMap<(String, String), TripwireCounts>,
}

impl SpaceUses {
    /// The counts of a memory, which are zero for one that was never used.
    pub fn memory(&self, name: &str) -> UseCounts {
        self.memories.get(name).copied().unwrap_or_default()
    }

    /// The counts of a tripwire of a memory as it is now.
    pub fn tripwire(&self, name: &str, wire: &Tripwire, strength: Strength) -> TripwireCounts {
        self.tripwires.get(&(name.to_owned(), tripwire_id(wire, strength))).copied().unwrap_or_default()
    }

    /// When any tripwire of a memory last fired, including one that it no longer has.
    pub fn last_fired(&self, name: &str) -> Option<Timestamp> {
        self.tripwires.iter().filter(|((other, _), _)| other == name).filter_map(|(_, row)| row.last_fired).max()
    }

    /// All memories with counts, including those that no longer exist, in the order of their names.
    pub fn memories(&self) -> impl Iterator<Item = (&str, &UseCounts)> {
        self.memories.iter().map(|(name, row)| (name.as_str(), row))
    }
}

/// Identifies a tripwire in the ledger: a hash of what it watches and of its strength. With another strength it is another tripwire,
/// because what agents did before says nothing about it.
pub fn tripwire_id(wire: &Tripwire, strength: Strength) -> String {
    let text = format!("{}\0{}\0{}", wire.over.name(), strength.name(), wire.pattern);
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}

/// The ledger files of all mounts, in one directory.
#[derive(Debug, Clone)]
pub struct UseLedger {
    dir: PathBuf,
}

impl UseLedger {
    /// The ledger in a directory. Nothing is counted while the directory above it does not exist.
    pub fn new(dir: impl Into<PathBuf>) -> UseLedger {
        UseLedger { dir: dir.into() }
    }

    /// Counts uses of memories. Names that belong to no mount of memories are ignored.
    pub fn record(&self, view: &dyn View, uses: &[MemoryUse<'_>], now: Timestamp, wait: LockWait) -> io::Result<()> {
        self.append_all(view.mounts(), uses, "", now, wait)
    }

    /// Counts the start of a conversation, with the memories whose lines it loads.
    pub fn record_session(&self, view: &dyn View, listed: &[String], now: Timestamp, wait: LockWait) -> io::Result<()> {
        let uses: Vec<MemoryUse<'_>> = listed.iter().map(|name| MemoryUse { name, kind: UseKind::Listed }).collect();
        self.append_all(view.mounts(), &uses, &counts::session_line(now), now, wait)
    }

    /// Moves the counts of renamed memories to their new names.
    pub fn record_renames(&self, view: &dyn View, renames: &[(MemoryPath, MemoryPath)], now: Timestamp, wait: LockWait) -> io::Result<()> {
        for (from, to) in renames {
            let (Some((old, from)), Some((new, to))) = (place(view.mounts(), from.name()), place(view.mounts(), to.name())) else {
                continue;
            };
            if old.root == new.root {
                self.append(&self.file(old), &counts::rename_line(from, to), now, wait)?;
                continue;
            }
            // Another file: the counts are copied first, so that a killed process loses none. The old name is dropped with the memory.
            let lines = self.read_mount(old).lines_of(from, to);
            self.append(&self.file(new), &lines, now, wait)?;
        }
        Ok(())
    }

    /// Moves the counts of memories that a change renamed: a rename that was undone or redone.
    pub fn record_change(&self, view: &dyn View, change: &Change, now: Timestamp, wait: LockWait) -> io::Result<()> {
        self.record_renames(view, &renamed_by(change), now, wait)
    }

    /// Reads the counts of a space. Takes no lock.
    pub fn read(&self, view: &dyn View) -> SpaceUses {
        let mut uses = SpaceUses::default();
        for mount in view.mounts().iter().filter(|mount| is_counted(mount)) {
            let counts = self.read_mount(mount);
            let full = |name: &str| if mount.prefix.is_empty() { name.to_owned() } else { format!("{}/{name}", mount.prefix) };
            uses.counted.insert(mount.prefix.clone(), counts.counted);
            uses.memories.extend(counts.memories.iter().map(|(name, row)| (full(name), *row)));
            uses.tripwires.extend(counts.tripwires.iter().map(|((name, wire), row)| ((full(name), wire.clone()), *row)));
        }
        uses
    }

    /// Replaces the lines of every large file of this space with their sums, and drops memories that no longer exist.
    pub fn compact(&self, store: &dyn Store, now: Timestamp, wait: LockWait) -> io::Result<()> {
        for mount in store.mounts().iter().filter(|mount| is_counted(mount)) {
            let path = self.file(mount);
            if !fs::metadata(&path).is_ok_and(|meta| meta.len() > LEDGER_COMPACT_BYTES) {
                continue;
            }
            let _lock = FileLock::for_update(&path, wait)?;
            let names = existing_names(store, mount);
            let exists = |name: &str| names.as_ref().is_none_or(|names| names.contains(name));
            rewrite(&path, now, |counts| counts.drop_missing(&exists, now, MISSING_SECS))?;
        }
        Ok(())
    }

    fn append_all(&self, mounts: &[MountInfo], uses: &[MemoryUse<'_>], every: &str, now: Timestamp, wait: LockWait) -> io::Result<()> {
        let mut lines: BTreeMap<&Path, (&MountInfo, String)> = BTreeMap::new();
        if !every.is_empty() {
            let all = mounts.iter().filter(|mount| is_counted(mount));
            lines.extend(all.map(|mount| (mount.root.as_path(), (mount, every.to_owned()))));
        }
        for one in uses {
            let Some((mount, name)) = place(mounts, one.name) else { continue };
            let (_, text) = lines.entry(&mount.root).or_insert_with(|| (mount, String::new()));
            text.push_str(&counts::use_line(now, &one.kind, name));
        }
        lines.into_values().try_for_each(|(mount, text)| self.append(&self.file(mount), &text, now, wait))
    }

    fn append(&self, path: &Path, lines: &str, now: Timestamp, wait: LockWait) -> io::Result<()> {
        // A command that only reads must not create memdir's home.
        if lines.is_empty() || !self.dir.parent().is_some_and(Path::is_dir) {
            return Ok(());
        }
        let _lock = FileLock::for_update(path, wait)?;
        let mut file = disk::open_lock_file(path, 0o600)?;
        if file.metadata()?.len() > LEDGER_MAX_BYTES {
            rewrite(path, now, |_| {})?;
            file = disk::open_lock_file(path, 0o600)?;
        }
        let end = complete_end(&mut file)?;
        let header = if end == 0 { counts::header(now, 0) } else { String::new() };
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        let written = file.write_all(format!("{header}{lines}").as_bytes());
        if written.is_err() {
            // A full disk leaves a part of a line. If this fails too, the next writer removes it.
            let _ = file.set_len(end);
        }
        written
    }

    fn read_mount(&self, mount: &MountInfo) -> MountUseCounts {
        read_file(&self.file(mount))
    }

    fn file(&self, mount: &MountInfo) -> PathBuf {
        self.dir.join(format!("{}.log", journal_name(&mount.root)))
    }
}

/// Whether the memories of a mount are counted: not those of other documents and of conversations.
fn is_counted(mount: &MountInfo) -> bool {
    mount.source == Source::Memory && !mount.apart
}

/// The mount of a name, and the name in it without its extension.
fn place<'m, 'n>(mounts: &'m [MountInfo], name: &'n str) -> Option<(&'m MountInfo, &'n str)> {
    let (mount, rest) = mounts::locate(mounts, name).filter(|(mount, _)| is_counted(mount))?;
    let rest = crate::base::path::memory_name(rest);
    (!rest.contains(char::is_control)).then_some((mount, rest))
}

/// The names of a mount's memories, or `None` if they cannot all be listed.
fn existing_names(store: &dyn Store, mount: &MountInfo) -> Option<BTreeSet<String>> {
    let walk = store.list(&mount.prefix).ok().filter(|walk| walk.unlisted.is_empty() && walk.left_out == 0)?;
    if !mount.root.is_dir() || !mount.part.is_empty() {
        return None;
    }
    let name = |path: &MemoryPath| mounts::locate(store.mounts(), path.name()).map(|(_, rest)| rest.to_owned());
    Some(walk.entries.iter().filter_map(|entry| name(&entry.path)).collect())
}

/// The renames of a change: each memory it removed, with the one it created of the same text, or with the only one.
fn renamed_by(change: &Change) -> Vec<(MemoryPath, MemoryPath)> {
    let memories = || change.files.iter().filter(|file| file.role == Role::Memory);
    let removed: Vec<&FileChange> = memories().filter(|file| file.after.is_none()).collect();
    let created: Vec<&FileChange> = memories().filter(|file| file.before.is_none()).collect();
    if let ([from], [to]) = (removed.as_slice(), created.as_slice()) {
        return vec![(from.path.clone(), to.path.clone())];
    }
    let pair = |from: &&FileChange| {
        let to = created.iter().find(|to| to.after == from.before)?;
        Some((from.path.clone(), to.path.clone()))
    };
    removed.iter().filter_map(pair).collect()
}

fn read_file(path: &Path) -> MountUseCounts {
    let mut bytes = Vec::new();
    // A file that is not there, or cannot be read, has no counts.
    if let Ok(file) = File::open(path) {
        let _ = file.take(4 * LEDGER_MAX_BYTES).read_to_end(&mut bytes);
    }
    MountUseCounts::parse(&String::from_utf8_lossy(&bytes))
}

/// Replaces a file with its sums. The caller holds the lock.
fn rewrite(path: &Path, now: Timestamp, change: impl FnOnce(&mut MountUseCounts)) -> io::Result<()> {
    let mut counts = read_file(path);
    change(&mut counts);
    counts.bound();
    let text = counts.format(now);
    let how = Replace { durability: Durability::Content, mode: FileMode::Private, temp: TempName::Reused };
    disk::replace(path, how, |file| file.write_all(text.as_bytes()))
}

/// Returns the end of the last complete line: after it is an incomplete line of a killed process.
fn complete_end(file: &mut File) -> io::Result<u64> {
    let len = file.metadata()?.len();
    let mut end = len;
    let mut block = [0; 4096];
    while end > 0 {
        // The first look is at one byte, because a line is nearly always complete.
        let size = if end == len { 1 } else { end.min(block.len() as u64) };
        file.seek(SeekFrom::Start(end - size))?;
        let bytes = &mut block[..size as usize];
        file.read_exact(bytes)?;
        if let Some(at) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(end - size + at as u64 + 1);
        }
        end -= size;
    }
    Ok(0)
}
