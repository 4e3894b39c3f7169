//! A store in memory, stricter than the file store: it fails immediately on anything the contract forbids.

use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
        version::Version,
    },
    store::{
        Access, Change, ChangeCursor, ChangeFilter, ChangeId, ChangePage, Entry, EntrypointMode, FileChange, FileEdit, IdempotencyKey,
        Intent, JournalSize, MountInfo, Plan, Source, Stamp, Store, Stored, View, Walk, stop::Stop,
    },
};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A store with one unprefixed mount that exists only in memory.
#[derive(Debug)]
pub struct RamStore {
    mounts: Vec<MountInfo>,
    state: Arc<Mutex<RamState>>,
    stop: Stop,
}

#[derive(Debug, Default, Clone)]
struct RamState {
    files: BTreeMap<MemoryPath, (Vec<u8>, i64)>,
    changes: Vec<Change>,
    texts: BTreeMap<(MemoryPath, Version), Vec<u8>>,
    ticks: i64,
    keys: Vec<(IdempotencyKey, Change)>,
}

impl Default for RamStore {
    fn default() -> Self {
        let mount = MountInfo {
            prefix: String::new(),
            root: PathBuf::from("ram"),
            access: Access::ReadWrite,
            source: Source::Memory,
            entrypoint: EntrypointMode::Kept,
            rules: String::new(),
            apart: false,
            part: Vec::new(),
            is_foreign: false,
            file_bytes: limits::MEMORY_BYTES,
        };
        RamStore { mounts: vec![mount], state: Arc::default(), stop: Stop::default() }
    }
}

impl RamStore {
    fn state(&self) -> MutexGuard<'_, RamState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RamState {
    fn stored(&self, path: &MemoryPath) -> Option<Stored> {
        let found = [path.clone(), path.with_md()].into_iter().find(|path| self.files.contains_key(path))?;
        let (bytes, tick) = &self.files[&found];
        Some(Stored { version: Version::from_content(bytes), bytes: bytes.clone(), stamp: stamp(bytes, *tick), path: found })
    }

    fn made_for(&self, key: &IdempotencyKey) -> Result<Option<Change>> {
        match self.keys.iter().find(|(used, _)| (&used.caller, &used.key) == (&key.caller, &key.key)) {
            Some((used, _)) if used.request != key.request => Err(IdempotencyKey::reused()),
            made => Ok(made.map(|(_, change)| change.clone())),
        }
    }

    fn walk(&self, under: &str) -> Walk {
        let entries = self.files.iter().filter(|(path, _)| path.is_under(under) && path.as_str() != under);
        Walk {
            entries: entries.map(|(path, (bytes, tick))| Entry { path: path.clone(), stamp: stamp(bytes, *tick) }).collect(),
            ..Walk::default()
        }
    }
}

/// The name of the only directory in a cursor.
const PLACE: &[u8] = b"ram";

fn place(position: usize) -> ChangeCursor {
    let mut cursor = ChangeCursor::default();
    cursor.set_position(PLACE, position.to_string());
    cursor
}

fn stamp(bytes: &[u8], tick: i64) -> Stamp {
    Stamp { size: bytes.len() as u64, mtime_ns: tick, ctime_ns: tick, inode: tick.unsigned_abs() }
}

/// The view of a plan.
struct RamSnapshot<'a>(&'a RamStore, &'a RamState);

impl View for RamSnapshot<'_> {
    fn mounts(&self) -> &[MountInfo] {
        &self.0.mounts
    }
    fn get(&self, path: &MemoryPath) -> Result<Option<Stored>> {
        self.0.stop.check()?;
        Ok(self.1.stored(path))
    }
    fn list(&self, under: &str) -> Result<Walk> {
        self.0.stop.check()?;
        Ok(self.1.walk(under))
    }
    fn stamps(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stamp>>> {
        self.0.stop.check()?;
        Ok(paths.iter().map(|path| self.1.files.get(path).map(|(bytes, tick)| stamp(bytes, *tick))).collect())
    }
    fn check_writable(&self, _path: &MemoryPath) -> Result<()> {
        Ok(())
    }
    fn check_stopped(&self) -> Result<()> {
        self.0.stop.check()
    }
}

impl View for RamStore {
    fn mounts(&self) -> &[MountInfo] {
        &self.mounts
    }
    fn get(&self, path: &MemoryPath) -> Result<Option<Stored>> {
        RamSnapshot(self, &self.state()).get(path)
    }
    fn list(&self, under: &str) -> Result<Walk> {
        RamSnapshot(self, &self.state()).list(under)
    }
    fn stamps(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stamp>>> {
        RamSnapshot(self, &self.state()).stamps(paths)
    }
    fn check_writable(&self, _path: &MemoryPath) -> Result<()> {
        Ok(())
    }
    fn check_stopped(&self) -> Result<()> {
        self.stop.check()
    }
}

impl Store for RamStore {
    fn change(&self, intent: &Intent, touches: &[MemoryPath], plan: &mut Plan<'_>) -> Result<Change> {
        assert!(!touches.is_empty(), "a change names what it touches");
        self.stop.check()?;
        if let Some(key) = &intent.key
            && let Some(made) = self.state().made_for(key)?
        {
            return Ok(made);
        }
        // The plan works on a copy: reading the store itself from within a plan must not hang.
        let before = self.state().clone();
        // A store may call a plan again, and only the last call counts.
        plan(&RamSnapshot(self, &before))?;
        let edits = plan(&RamSnapshot(self, &before))?;
        self.stop.check()?;
        let mut state = self.state();
        // Changes of other threads may have been made meanwhile.
        if let Some(made) = intent.key.as_ref().map(|key| state.made_for(key)).transpose()?.flatten() {
            return Ok(made);
        }
        let id = ChangeId(format!("ram{:05}", state.changes.len()));
        let mut change = Change {
            id,
            at: intent.at,
            actor: intent.actor.clone(),
            verb: intent.verb,
            undoes: intent.undoes.clone(),
            reviewer: None,
            files: Vec::new(),
            elsewhere: Vec::new(),
            incomplete: false,
            after_damage: false,
        };
        for FileEdit { path, bytes, role } in edits {
            let old = state.files.get(&path).map(|(bytes, _)| bytes.clone());
            if old == bytes {
                continue;
            }
            if let Some(size) = bytes.as_ref().map(Vec::len).filter(|size| *size > limits::MEMORY_BYTES) {
                *state = before;
                return Err(Error::TooLarge { what: path.to_string(), size: size as u64, limit: limits::MEMORY_BYTES as u64 });
            }
            change.files.push(FileChange {
                path: path.clone(),
                role,
                before: old.as_deref().map(Version::from_content),
                after: bytes.as_deref().map(Version::from_content),
            });
            state.ticks += 1;
            let tick = state.ticks;
            match bytes {
                Some(bytes) => {
                    state.texts.insert((path.clone(), Version::from_content(&bytes)), bytes.clone());
                    state.files.insert(path, (bytes, tick));
                }
                None => drop(state.files.remove(&path)),
            }
        }
        change.files.sort_by(|a, b| a.path.cmp(&b.path));
        if !change.files.is_empty() {
            state.changes.push(change.clone());
        }
        state.keys.extend(intent.key.clone().map(|key| (key, change.clone())));
        Ok(change)
    }

    fn changes(&self, filter: &ChangeFilter) -> Result<Vec<Change>> {
        self.stop.check()?;
        let state = self.state();
        let path = filter
            .path
            .as_ref()
            .map(|path| state.stored(path).map_or_else(|| path.name().to_owned(), |stored| stored.path.name().to_owned()));
        let fits = |change: &&Change| {
            path.as_ref().is_none_or(|name| change.files.iter().any(|file| file.path.name() == name))
                && filter.id.as_ref().is_none_or(|id| change.id.0.starts_with(id.as_str()))
        };
        let most = if filter.most == 0 { usize::MAX } else { filter.most };
        Ok(state.changes.iter().rev().filter(fits).take(most).cloned().collect())
    }

    fn changes_since(&self, after: Option<&ChangeCursor>, most: usize) -> Result<ChangePage> {
        self.stop.check()?;
        let state = self.state();
        let start = match after.and_then(|after| after.position(PLACE)) {
            None => 0,
            Some(position) => position.parse().ok().filter(|at| *at <= state.changes.len()).ok_or_else(ChangeCursor::expired)?,
        };
        let after = state.changes[start..].iter().take(most.max(1)).enumerate();
        let changes: Vec<_> = after.map(|(n, change)| (change.clone(), place(start + n + 1))).collect();
        Ok(ChangePage { next: place(start + changes.len()), changes })
    }

    fn newest_cursor(&self) -> Result<ChangeCursor> {
        self.stop.check()?;
        Ok(place(self.state().changes.len()))
    }

    fn text_at(&self, path: &MemoryPath, version: Version) -> Result<Option<Vec<u8>>> {
        self.stop.check()?;
        let state = self.state();
        let texts = &state.texts;
        Ok(texts.get(&(path.clone(), version)).or_else(|| texts.get(&(path.with_md(), version))).cloned())
    }

    fn notice(&self, _path: &MemoryPath) {}

    fn marks(&self) -> Vec<Option<Stamp>> {
        vec![Some(stamp(&[], self.state().ticks))]
    }

    fn journal_size(&self) -> Result<JournalSize> {
        Ok(JournalSize { changes: self.state().changes.len() as u64, ..JournalSize::default() })
    }

    fn with_stop(&self, stop: &Stop) -> Arc<dyn Store> {
        Arc::new(RamStore { mounts: self.mounts.clone(), state: self.state.clone(), stop: stop.clone() })
    }
}
