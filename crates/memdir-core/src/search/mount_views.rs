//! The index views of all mounts of a space, in step with the files. A long-lived process keeps its views for as long as file
//! system events prove that no file has changed; every doubt lists the files again.

use super::{
    embed::Embedder,
    index::IndexView,
    indexing::Indexer,
    mount_index::MountIndex,
    watch::{TreeChanges, TreeWatch},
};
use crate::{
    base::{
        error::{Problem, Result},
        stamp::Stamp,
        time::Clock,
    },
    store::{ChangeSequence, Entry, Source, Store, Walk, mounts},
};
use std::{
    borrow::Cow,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// Changed files that are checked one by one rather than by listing all files.
const RENEWED_FILES: usize = 32;

/// One mount of the space that is searched.
pub(crate) struct SearchMount {
    /// The prefix of its names.
    pub(crate) prefix: String,
    /// Its directory.
    pub(crate) root: PathBuf,
    /// Its source class.
    pub(crate) source: Source,
    /// Whether its archived memories are searched only on request.
    pub(crate) keeps_archive: bool,
    /// Its index.
    pub(crate) index: Arc<MountIndex>,
}

impl mounts::Prefixed for SearchMount {
    fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// The dependencies of indexing besides the mount.
#[derive(Clone, Copy)]
pub(crate) struct IndexContext<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) embedder: Option<&'a dyn Embedder>,
    pub(crate) clock: &'a dyn Clock,
}

impl<'a> IndexContext<'a> {
    /// The indexer of one mount.
    pub(crate) fn indexer(self, mount: &'a SearchMount) -> Indexer<'a> {
        Indexer { store: self.store, embedder: self.embedder, clock: self.clock, prefix: &mount.prefix }
    }
}

/// The mounts of a space and their views.
pub(crate) struct MountViews {
    mounts: Vec<SearchMount>,
    /// Whether these are the mounts of candidates, which are searched apart from all others.
    is_inbox: bool,
    /// `Some` in a long-lived process.
    watched: Option<Mutex<WatchedViews>>,
    /// Why files could not be listed the last time.
    problems: Mutex<Vec<Problem>>,
}

/// The views of the last search, with what proves that they are still current.
#[derive(Default)]
struct WatchedViews {
    watches: Vec<TreeWatch>,
    marks: Vec<Option<Stamp>>,
    views: Vec<Arc<dyn IndexView>>,
    /// The files the views show.
    entries: Vec<Entry>,
}

/// The current views of all mounts, in their order.
pub(crate) struct CurrentViews {
    pub(crate) views: Vec<Arc<dyn IndexView>>,
    /// Whether a watched file changed since the last call.
    pub(crate) changed: bool,
}

impl MountViews {
    pub(crate) fn new(mounts: Vec<SearchMount>) -> Self {
        let is_inbox = mounts.first().is_some_and(|mount| mount.source == Source::Inbox);
        MountViews { mounts, is_inbox, watched: None, problems: Mutex::default() }
    }

    /// Keeps views between calls, guarded by file system events.
    pub(crate) fn watch(&mut self) {
        self.watched = Some(Mutex::default());
    }

    pub(crate) fn mounts(&self) -> &[SearchMount] {
        &self.mounts
    }

    /// Returns views with everything that is in the store now.
    pub(crate) fn current(&self, context: IndexContext<'_>) -> Result<CurrentViews> {
        if let Some(sequence) = context.store.sequence() {
            return self.caught_up(context, sequence);
        }
        let Some(watched) = &self.watched else {
            return Ok(CurrentViews { views: self.refresh(context, &self.all_entries(context.store)?)?, changed: false });
        };
        let mut watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
        let marks = context.store.marks();
        // Every queue is read, so that none keeps old events.
        let changes: Vec<TreeChanges> = watched.watches.iter_mut().map(TreeWatch::poll).collect();
        let certain = changes.len() == self.mounts.len() && !changes.contains(&TreeChanges::Unknown);
        if certain && marks == watched.marks && changes.iter().all(|changes| *changes == TreeChanges::None) {
            return Ok(CurrentViews { views: watched.views.clone(), changed: false });
        }
        // The watches are restored at the end: they have reported these changes, and if the call is cancelled meanwhile, only the
        // lack of watches makes the next call list everything.
        let mut watches = std::mem::take(&mut watched.watches);
        let known = if certain { self.renewed(context.store, std::mem::take(&mut watched.entries), &changes) } else { None };
        // Watches first, then the files: a change in between is seen by both.
        if !certain {
            watches = self.mounts.iter().map_while(|mount| TreeWatch::new(&mount.root)).collect();
        }
        let entries = known.map_or_else(|| self.all_entries(context.store), Ok)?;
        watched.views = self.refresh(context, &entries)?;
        watched.entries = entries;
        watched.marks = marks;
        watched.watches = watches;
        Ok(CurrentViews { views: watched.views.clone(), changed: true })
    }

    /// Returns views that are caught up by the sequence of the store's changes. Nothing is listed if nothing has changed.
    fn caught_up(&self, context: IndexContext<'_>, sequence: &dyn ChangeSequence) -> Result<CurrentViews> {
        let position = |mount: &SearchMount| mount.index.position(&context.indexer(mount));
        let positions = self.mounts.iter().map(position).collect::<Result<Vec<_>>>()?;
        let known: Vec<_> = self.mounts.iter().map(|mount| mount.prefix.as_str()).zip(positions).collect();
        let changes = sequence.changed_since(&known)?;
        let mut current = CurrentViews { views: Vec::with_capacity(self.mounts.len()), changed: false };
        for ((mount, (_, known)), changes) in self.mounts.iter().zip(known).zip(changes) {
            current.changed |= known != Some(changes.position);
            current.views.push(mount.index.caught_up(&context.indexer(mount), sequence, known, changes)?);
        }
        Ok(current)
    }

    /// Discards every index and every view of it.
    pub(crate) fn forget(&self) -> Result<()> {
        if let Some(watched) = &self.watched {
            *watched.lock().unwrap_or_else(PoisonError::into_inner) = WatchedViews::default();
        }
        self.mounts.iter().try_for_each(|mount| mount.index.forget())
    }

    /// The entries of one mount: those whose longest matching prefix is the mount's.
    pub(crate) fn entries_of<'e>(&self, mount: &SearchMount, entries: &'e [Entry]) -> Cow<'e, [Entry]> {
        if self.mounts.len() == 1 {
            return Cow::Borrowed(entries);
        }
        let belongs =
            |entry: &&Entry| mounts::locate(&self.mounts, entry.path.as_str()).is_some_and(|(owner, _)| owner.prefix == mount.prefix);
        entries.iter().filter(belongs).cloned().collect()
    }

    /// Updates the entries for the files that changed, or returns `None` if all files must be listed again.
    fn renewed(&self, store: &dyn Store, mut entries: Vec<Entry>, changes: &[TreeChanges]) -> Option<Vec<Entry>> {
        let mut changed = 0;
        for (mount, changes) in self.mounts.iter().zip(changes) {
            let TreeChanges::Files(names) = changes else { continue };
            for name in names {
                let whole = if mount.prefix.is_empty() { name.clone() } else { format!("{}/{name}", mount.prefix) };
                let at = entries.iter().position(|entry| entry.path.as_str() == whole);
                changed += 1;
                match at {
                    _ if changed > RENEWED_FILES => return None,
                    Some(at) => match store.get(&entries[at].path) {
                        Ok(Some(stored)) if stored.path == entries[at].path => entries[at].stamp = stored.stamp,
                        Ok(None) => drop(entries.remove(at)),
                        _ => return None,
                    },
                    // A file that was created and removed in between does not matter.
                    None if mount.root.join(name).symlink_metadata().is_ok() => return None,
                    None => {}
                }
            }
        }
        Some(entries).filter(|entries| !entries.is_empty())
    }

    /// Why files could not be listed the last time they all were.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Every file that is searched here.
    fn all_entries(&self, store: &dyn Store) -> Result<Vec<Entry>> {
        let Walk { entries, problems, .. } = if self.is_inbox { list_inboxes(store) } else { list_searched(store) }?;
        *self.problems.lock().unwrap_or_else(PoisonError::into_inner) = problems;
        Ok(entries)
    }

    /// Brings the views in step with the entries.
    fn refresh(&self, context: IndexContext<'_>, entries: &[Entry]) -> Result<Vec<Arc<dyn IndexView>>> {
        let view = |mount: &SearchMount| mount.index.view(&context.indexer(mount), &self.entries_of(mount, entries), &|_| {});
        self.mounts.iter().map(view).collect()
    }
}

/// Lists every candidate.
fn list_inboxes(store: &dyn Store) -> Result<Walk> {
    let mut all = Walk::default();
    for mount in store.mounts().iter().filter(|mount| mount.source == Source::Inbox) {
        add(&mut all, store.list(&mount.prefix)?);
    }
    Ok(all)
}

/// Lists every file of the space that is searched, including those of mounts that are listed only on request, without candidates.
pub(crate) fn list_searched(store: &dyn Store) -> Result<Walk> {
    let mut all = store.list("")?;
    for mount in store.mounts().iter().filter(|mount| mount.apart && mount.source != Source::Inbox) {
        add(&mut all, store.list(&mount.prefix)?);
    }
    // The questions of a tests file would find themselves.
    all.entries.retain(|entry| mounts::file_kind(store, &entry.path).is_searched());
    Ok(all)
}

fn add(all: &mut Walk, more: Walk) {
    all.entries.extend(more.entries);
    all.problems.extend(more.problems);
}
