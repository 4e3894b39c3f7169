//! Adds candidates to the inbox, and evidence to those that are there, in one change. The change is recorded like every other one, but
//! bare `undo` and the history of the space do not show it: memdir made it, not a person or an agent.

use super::{
    InboxEntry, REJECTED,
    candidate::Candidate,
    candidate_file,
    decided::{decided_keys, directory},
    entries,
    known::{self, KnownMemory},
    mount,
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        disk,
        error::{Error, Result},
        limits,
        path::MemoryPath,
        text,
    },
    operations::context::Context,
    store::{FileEdit, MountInfo, Store, Verb, View, change_with, mounts},
};
use jiff::Timestamp;
use serde::Serialize;
use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

/// What became of proposed candidates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Proposed {
    /// The names of the candidates that were added.
    pub added: Vec<String>,
    /// The number of candidates that are in the inbox already.
    pub open: usize,
    /// The names of open candidates that got more evidence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updated: Vec<String>,
    /// The number of candidates that were accepted or rejected before.
    pub decided: usize,
    /// The names of weaker candidates that left the full inbox.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Memories that already contain what would have been proposed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownMemory>,
}

/// Adds candidates that are neither in the inbox nor decided about. If more than [`limits::INBOX_CANDIDATES`] are open, the weakest
/// leave, of equally weak ones the oldest.
pub(crate) fn propose(store: &dyn Store, context: &Context, candidates: &[Candidate], cache: Option<&Path>) -> Result<Proposed> {
    let MountInfo { prefix, root, .. } = mount(store)?.clone();
    // Nearly always all of them are known: no lock, no directory, no change.
    let all: Vec<&Candidate> = candidates.iter().collect();
    let (_, first) = plan(store, context, &all, &prefix, &root)?;
    if first.added.is_empty() && first.updated.is_empty() {
        return Ok(first);
    }
    let mut seen = decided_keys(&root);
    let open: HashSet<String> = entries(store, &prefix)?.into_iter().map(|entry| entry.key).collect();
    seen.extend(known::list(store).into_iter().map(|known| known.key));
    let (open, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|candidate| candidate.keys().any(|key| open.contains(key)));
    let fresh = others.into_iter().filter(|candidate| !candidate.keys().any(|key| seen.contains(key))).collect();
    let (mut new, known) = known::split_known(store, context, fresh, cache)?;
    if new.is_empty() && first.updated.is_empty() {
        return Ok(Proposed { added: Vec::new(), removed: Vec::new(), known, ..first });
    }
    new.extend(open);
    // The keys of decisions are kept there.
    let created = disk::create_private_dir(directory(&root));
    created.map_err(|source| Error::Io { doing: "create", path: directory(&root).to_owned(), source })?;
    let touches = [mounts::entrypoint_path(&prefix)?];
    let (_, proposed) = change_with(store, &context.intent(Verb::Propose), &touches, |view| plan(view, context, &new, &prefix, &root))?;
    Ok(Proposed { open: first.open, decided: first.decided, known, ..proposed })
}

/// An open candidate, or one that is proposed.
struct Ranked<'a> {
    name: String,
    weight: f32,
    newest: Timestamp,
    /// `Some` for a proposed one.
    new: Option<(&'a Candidate, MemoryPath)>,
}

fn plan(view: &dyn View, context: &Context, candidates: &[&Candidate], prefix: &str, root: &Path) -> Result<(Vec<FileEdit>, Proposed)> {
    let now = context.clock.now();
    let existing = entries(view, prefix)?;
    let decided = decided_keys(root);
    let mut keys: HashSet<String> = existing.iter().map(|entry| entry.key.clone()).collect();
    let open_entries: HashMap<&str, &InboxEntry> =
        existing.iter().filter(|entry| !entry.rejected).map(|entry| (entry.key.as_str(), entry)).collect();
    let mut edits = Vec::new();
    let rejected_keys: HashSet<&str> = existing.iter().filter(|entry| entry.rejected).map(|entry| entry.key.as_str()).collect();
    let mut names: HashSet<String> = existing.iter().map(|entry| entry.name.clone()).collect();
    // The same sentence can be evidence of two kinds: asked for, and asked for again.
    let mut known_words: HashSet<String> = existing.iter().filter_map(|entry| normal_words(&entry.words)).collect();
    let mut proposed = Proposed::default();
    let mut ranked: Vec<Ranked<'_>> = Vec::new();
    for candidate in candidates.iter().copied() {
        if candidate.keys().any(|key| decided.contains(key) || rejected_keys.contains(key)) {
            proposed.decided += 1;
            continue;
        }
        if candidate.keys().any(|key| keys.contains(key)) {
            proposed.open += 1;
            if let Some(entry) = candidate.keys().find_map(|key| open_entries.get(key))
                && let Some(edit) = added_evidence(view, entry, candidate)?
            {
                edits.push(edit);
                proposed.updated.push(entry.name.clone());
            }
            continue;
        }
        keys.insert(candidate.key.clone());
        if normal_words(&candidate.words).is_some_and(|words| !known_words.insert(words)) {
            proposed.open += 1;
            continue;
        }
        let Some(path) = free_path(candidate, prefix, &mut names) else { continue };
        ranked.push(Ranked {
            name: path.name().to_owned(),
            weight: candidate_file::clamped(candidate.weight),
            newest: candidate.at.unwrap_or(now),
            new: Some((candidate, path)),
        });
    }
    let (rejected, open): (Vec<_>, Vec<_>) = existing.into_iter().partition(|entry| entry.rejected);
    ranked.extend(open.into_iter().map(|entry| Ranked { weight: entry.weight, newest: entry.newest(), name: entry.name, new: None }));
    ranked.shared_sort_by(|a, b| b.weight.total_cmp(&a.weight).then(b.newest.cmp(&a.newest)).then(a.name.cmp(&b.name)));
    for (at, one) in ranked.into_iter().enumerate() {
        let stays = at < limits::INBOX_CANDIDATES;
        match one.new {
            Some((candidate, path)) if stays => {
                proposed.added.push(one.name);
                edits.push(FileEdit::save(path, candidate_file::to_bytes(candidate, now)));
            }
            None if !stays => {
                proposed.updated.retain(|name| *name != one.name);
                edits.retain(|edit: &FileEdit| edit.path.name() != one.name);
                edits.push(removal(&one.name)?);
                proposed.removed.push(one.name);
            }
            _ => {}
        }
    }
    if !proposed.added.is_empty() {
        edits.extend(excess_rejected(rejected)?);
    }
    Ok((edits, proposed))
}

/// The edit that adds the evidence of a candidate to an open one, if there is more of it.
fn added_evidence(view: &dyn View, entry: &InboxEntry, candidate: &Candidate) -> Result<Option<FileEdit>> {
    let path = MemoryPath::parse(&entry.name)?.with_md();
    let Some(stored) = view.get(&path)? else { return Ok(None) };
    let text = candidate_file::with_evidence(&text::decode(&stored.bytes).0, entry, candidate);
    Ok(text.map(|text| FileEdit::save(stored.path, text.into_bytes())))
}

/// What a person typed, whatever its case and punctuation; `None` for a candidate without words.
fn normal_words(words: &str) -> Option<String> {
    let letters: Vec<String> = text::lower_case_words(words).collect();
    (!letters.is_empty()).then(|| letters.join(" "))
}

/// The removal of the oldest rejected candidates beyond the limit. Their keys stay.
fn excess_rejected(mut rejected: Vec<InboxEntry>) -> Result<Vec<FileEdit>> {
    rejected.shared_sort_by_key(|entry| std::cmp::Reverse(entry.proposed));
    rejected.iter().skip(limits::INBOX_CANDIDATES).map(|entry| removal(&entry.name)).collect()
}

fn removal(name: &str) -> Result<FileEdit> {
    Ok(FileEdit::remove(MemoryPath::parse(name)?.with_md()))
}

/// A path whose name is free, among the open candidates and the rejected ones: a candidate is rejected by a move to the same name
/// there.
fn free_path(candidate: &Candidate, prefix: &str, names: &mut HashSet<String>) -> Option<MemoryPath> {
    let relative = candidate_file::relative_path(candidate)?;
    let name = relative.name().to_owned();
    let numbered = (2..1_000).map(|n| format!("{name}-{n}"));
    let free = std::iter::once(name.clone())
        .chain(numbered)
        .find(|name| !names.contains(&format!("{prefix}/{name}")) && !names.contains(&format!("{prefix}/{REJECTED}/{name}")))?;
    names.insert(format!("{prefix}/{free}"));
    Some(MemoryPath::parse(&free).ok()?.with_md().prefixed(prefix))
}
