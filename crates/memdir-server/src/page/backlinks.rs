//! Which memories refer to which. Files are read once and again when their stamp changes.

use memdir_core::{
    Memdir, MemoryPath, Result, Stamp,
    internal::{
        base::{path::strip_md, text},
        memory::links::{self, Reference, ReferenceKind},
        store::mounts,
    },
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

/// The references of all memories, by the memory that holds them.
#[derive(Default)]
pub(super) struct Backlinks(Mutex<BTreeMap<MemoryPath, HeldReferences>>);

struct HeldReferences {
    stamp: Stamp,
    /// The names that the memory may refer to.
    names: BTreeSet<String>,
}

impl Backlinks {
    /// Lists the memories that refer to `path`, in the order of their names.
    pub(super) fn to(&self, memdir: &Memdir, path: &MemoryPath) -> Result<Vec<MemoryPath>> {
        let walk = memdir.store().list("")?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_memory = |path: &MemoryPath| mounts::file_kind(memdir.store(), path).is_listed();
        let entries: Vec<_> = walk.entries.into_iter().filter(|entry| is_memory(&entry.path)).collect();
        let listed: BTreeSet<&MemoryPath> = entries.iter().map(|entry| &entry.path).collect();
        known.retain(|path, _| listed.contains(path));
        for entry in &entries {
            if known.get(&entry.path).is_some_and(|held| held.stamp == entry.stamp) {
                continue;
            }
            memdir.store().check_stopped()?;
            // A file that cannot be read refers to nothing.
            let Ok(Some(stored)) = memdir.store().get(&entry.path) else { continue };
            let names = referred_names(&text::decode(&stored.bytes).0, &entry.path);
            known.insert(entry.path.clone(), HeldReferences { stamp: entry.stamp, names });
        }
        let refers = |(holder, held): &(&MemoryPath, &HeldReferences)| *holder != path && held.names.contains(path.name());
        Ok(known.iter().filter(refers).map(|(holder, _)| holder.clone()).collect())
    }
}

/// Lists the memories that a text refers to and that exist, each once, in the order of the text.
pub(super) fn linked(memdir: &Memdir, text: &str, holder: &MemoryPath) -> Vec<MemoryPath> {
    let mut out: Vec<MemoryPath> = Vec::new();
    for reference in links::references(text, holder) {
        if let Some(path) = find(memdir, &reference, holder)
            && path != *holder
            && !out.contains(&path)
        {
            out.push(path);
        }
    }
    out
}

/// Returns the memory that a link of rendered Markdown in `holder` leads to, if there is one.
pub(super) fn destination(memdir: &Memdir, written: &str, is_wiki: bool, holder: &MemoryPath) -> Option<MemoryPath> {
    let (target, kind) = match written.strip_prefix("mem:") {
        _ if is_wiki => (written.to_owned(), ReferenceKind::Wiki),
        Some(name) => (name.to_owned(), ReferenceKind::Mem),
        None => (links::resolve(written.split('#').next().unwrap_or_default(), holder.parent())?, ReferenceKind::Link),
    };
    find(memdir, &Reference { line: 0, target, kind }, holder)
}

/// Returns the memory that a reference in `holder` leads to, if there is one.
fn find(memdir: &Memdir, reference: &Reference, holder: &MemoryPath) -> Option<MemoryPath> {
    let names = candidate_names(reference, holder);
    let paths = names.iter().filter_map(|name| MemoryPath::parse(name.trim_end_matches('/')).ok()).map(|path| memdir.name(&path));
    paths.into_iter().find_map(|path| memdir.store().get(&path).ok().flatten().map(|stored| stored.path))
}

fn candidate_names(reference: &Reference, holder: &MemoryPath) -> Vec<String> {
    match reference.kind {
        ReferenceKind::Wiki => links::wiki_names(&reference.target, holder).collect(),
        _ => vec![reference.target.clone()],
    }
}

fn referred_names(text: &str, holder: &MemoryPath) -> BTreeSet<String> {
    let references = links::references(text, holder);
    references.iter().flat_map(|reference| candidate_names(reference, holder)).map(|name| strip_md(&name).to_owned()).collect()
}
