//! Which memories are outdated, and which are replaced by their successors, as the files are now.

use super::{
    fuse::OutdatedStatus,
    index::{IndexView, KnownFile},
    mount_views::SearchMount,
};
use crate::{
    base::{error::Result, path::MemoryPath, text, time::Clock, version::Version},
    memory::{
        Memory,
        succession::{SuccessionFields, Successions},
        validity::Outdated,
    },
    store::{
        self, Source, Store,
        mounts::{self, FileKind},
    },
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// The fields of files that name other memories, by path, with the version they were read from.
#[derive(Default)]
pub(super) struct SuccessionCache(Mutex<HashMap<MemoryPath, (Version, SuccessionFields)>>);

impl SuccessionCache {
    /// Returns the successions of all mounts. Reads only files that name other memories and have changed since the last call.
    pub(super) fn successions(&self, store: &dyn Store, mounts: &[SearchMount], views: &[Arc<dyn IndexView>]) -> Result<Successions> {
        let mut wanted = Vec::new();
        let curated = || mounts.iter().zip(views).filter(|(mount, _)| mount.source != Source::Chat);
        for (mount, view) in curated() {
            let mut names = view.naming_others();
            names.sort_unstable();
            for name in names {
                let Ok(path) = MemoryPath::parse(&name).map(|path| path.prefixed(&mount.prefix)) else { continue };
                let Some(known) = view.known(&name) else { continue };
                // What is archived replaces nothing: it is only searched on request.
                if mounts::file_kind(store, &path) == FileKind::Archived {
                    continue;
                }
                wanted.push((path, known.version));
            }
        }
        let fields = self.fields(store, wanted)?;
        let find = |holder: &MemoryPath, name: &str| {
            let (mount, view) = curated().find(|(mount, view)| in_mount(mount, holder).is_some_and(|name| view.known(name).is_some()))?;
            let name = MemoryPath::parse(name).ok()?;
            let inside = in_mount(mount, &name)?;
            let there = [format!("{inside}.md"), inside.to_owned()].into_iter().find(|name| view.known(name).is_some())?;
            let path = MemoryPath::parse(&there).ok()?.prefixed(&mount.prefix);
            (mounts::file_kind(store, &path) != FileKind::Archived).then_some(path)
        };
        Ok(Successions::new(&fields, find))
    }

    /// Returns the fields of files. Those that were read at these versions before are not read again.
    fn fields(&self, store: &dyn Store, wanted: Vec<(MemoryPath, Version)>) -> Result<Vec<SuccessionFields>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_read = |(path, version): &&(MemoryPath, Version)| known.get(path).is_some_and(|(of, _)| of == version);
        let stale: Vec<MemoryPath> = wanted.iter().filter(|one| !is_read(one)).map(|(path, _)| path.clone()).collect();
        for paths in stale.chunks(store::read_ahead(store)) {
            let stored = match paths {
                [one] => vec![store::if_readable(store.get(one))?],
                many => store.get_many(many)?,
            };
            for (path, stored) in paths.iter().zip(stored) {
                let Some(stored) = stored else {
                    known.remove(path);
                    continue;
                };
                let validity = Memory::parse(&text::decode(&stored.bytes).0).0.validity();
                let fields =
                    SuccessionFields { path: path.clone(), supersedes: validity.supersedes, superseded_by: validity.superseded_by };
                known.insert(path.clone(), (stored.version, fields));
            }
        }
        Ok(wanted.iter().filter_map(|(path, _)| known.get(path).map(|(_, fields)| fields.clone())).collect())
    }
}

/// Whether memories are outdated today, and by what they are replaced.
pub(super) struct OutdatedStatuses<'a> {
    pub(super) mounts: &'a [SearchMount],
    pub(super) views: &'a [Arc<dyn IndexView>],
    pub(super) successions: &'a Successions,
    pub(super) clock: &'a dyn Clock,
    /// Whether a memory may be replaced by another one, which need not have the words of the query.
    pub(super) may_replace: bool,
    /// Whether a file of a mount may be a hit.
    pub(super) is_allowed: &'a dyn Fn(usize, &str, &KnownFile) -> bool,
}

impl OutdatedStatuses<'_> {
    /// Returns the status of a file of a mount.
    pub(super) fn status(&self, mount: usize, name: &str) -> OutdatedStatus {
        if self.mounts[mount].source == Source::Chat {
            return OutdatedStatus::default();
        }
        match self.successor(mount, name) {
            Some((successor, known)) if self.may_replace && (self.is_allowed)(mount, &successor, &known) => {
                OutdatedStatus { outdated: known.validity.outdated(|| self.clock.today()), successor: Some(successor) }
            }
            Some(_) => OutdatedStatus { outdated: Some(Outdated::Superseded), successor: None },
            None => OutdatedStatus {
                outdated: self.views[mount].known(name).and_then(|known| known.validity.outdated(|| self.clock.today())),
                successor: None,
            },
        }
    }

    fn successor(&self, mount: usize, name: &str) -> Option<(String, KnownFile)> {
        if self.successions.is_empty() {
            return None;
        }
        let path = MemoryPath::parse(name).ok()?.prefixed(&self.mounts[mount].prefix);
        let successor = in_mount(&self.mounts[mount], self.successions.successor(&path)?)?.to_owned();
        let known = self.views[mount].known(&successor)?;
        Some((successor, known))
    }
}

/// The name of a path in a mount, if it begins with the mount's prefix.
fn in_mount<'p>(mount: &SearchMount, path: &'p MemoryPath) -> Option<&'p str> {
    match mount.prefix.as_str() {
        "" => Some(path.as_str()),
        prefix => path.as_str().strip_prefix(prefix)?.strip_prefix('/'),
    }
}
