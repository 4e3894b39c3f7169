//! Moves the candidates of one inbox to another one, when the memory of a project moves to another id. Decisions move along, so that
//! what was accepted or rejected under one id is not proposed again under the other.

use super::{
    InboxEntry, REJECTED,
    decided::{add_decided, decided_keys, directory},
    entries,
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        disk,
        error::{Error, Result},
        limits,
        path::MemoryPath,
    },
    operations::context::Context,
    store::{FileEdit, MountInfo, Source, Store, Verb, View, change_with, mounts},
};
use std::{cmp::Reverse, collections::HashSet};

/// Moves all candidates from the inbox with one prefix to the one with the other; returns the number of open candidates that moved. One
/// that the other inbox has, or that was decided about there, is removed. Of more than [`limits::INBOX_CANDIDATES`], the strongest stay.
pub(crate) fn transfer(store: &dyn Store, context: &Context, from: &str, into: &str) -> Result<usize> {
    let (source, target) = (inbox_at(store, from)?, inbox_at(store, into)?);
    let decided = decided_keys(&source.root);
    if decided.is_empty() && entries(store, from)?.is_empty() {
        return Ok(0);
    }
    let created = disk::create_private_dir(directory(&target.root));
    created.map_err(|source| Error::Io { doing: "create", path: directory(&target.root).to_owned(), source })?;
    // First: after a crash, the files are moved the next time, and no decision is lost.
    add_decided(&target.root, decided)?;
    let target_root = target.root.clone();
    let touches = [mounts::entrypoint_path(from)?, mounts::entrypoint_path(into)?];
    let (_, moved) = change_with(store, &context.intent(Verb::Propose), &touches, |view| {
        let decided = decided_keys(&target_root);
        plan(view, from, into, &decided)
    })?;
    Ok(moved)
}

fn plan(view: &dyn View, from: &str, into: &str, decided: &HashSet<String>) -> Result<(Vec<FileEdit>, usize)> {
    let there = entries(view, into)?;
    let mut names: HashSet<String> = there.iter().map(|entry| entry.name.clone()).collect();
    let keys: HashSet<&str> = there.iter().map(|entry| entry.key.as_str()).filter(|key| !key.is_empty()).collect();
    let mut room = limits::INBOX_CANDIDATES.saturating_sub(there.iter().filter(|entry| !entry.rejected).count());
    let mut all = entries(view, from)?;
    all.shared_sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| Reverse(a.newest()).cmp(&Reverse(b.newest()))));
    let (mut edits, mut moved) = (Vec::new(), 0);
    for entry in all {
        let Some(stored) = view.get(&MemoryPath::parse(&entry.name)?.with_md())? else { continue };
        let is_wanted = entry.rejected || (!keys.contains(entry.key.as_str()) && !decided.contains(&entry.key) && room > 0);
        if let Some(path) = free_path(&entry, from, into, &mut names).filter(|_| is_wanted) {
            edits.push(FileEdit::save(path, stored.bytes));
            if !entry.rejected {
                moved += 1;
                room -= 1;
            }
        }
        edits.push(FileEdit::remove(stored.path));
    }
    Ok((edits, moved))
}

/// The path of a candidate in the other inbox, with a number if its name is in use there.
fn free_path(entry: &InboxEntry, from: &str, into: &str, names: &mut HashSet<String>) -> Option<MemoryPath> {
    let relative = entry.name.strip_prefix(from)?.trim_start_matches('/');
    let (folder, name) = match relative.strip_prefix(REJECTED).and_then(|rest| rest.strip_prefix('/')) {
        Some(name) => (format!("{into}/{REJECTED}"), name),
        None => (into.to_owned(), relative),
    };
    let numbered = (2..1_000).map(|number| format!("{folder}/{name}-{number}"));
    let free = std::iter::once(format!("{folder}/{name}")).chain(numbered).find(|name| !names.contains(name))?;
    names.insert(free.clone());
    Some(MemoryPath::parse(&free).ok()?.with_md())
}

fn inbox_at<'s>(store: &'s dyn Store, prefix: &str) -> Result<&'s MountInfo> {
    let is_wanted = |mount: &&MountInfo| mount.source == Source::Inbox && mount.prefix == prefix;
    let none = || Error::unavailable(format!("inbox {prefix:?}"), "it is not part of this space");
    store.mounts().iter().find(is_wanted).ok_or_else(none)
}
