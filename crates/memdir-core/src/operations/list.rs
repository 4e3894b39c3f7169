//! Lists memories by topic, type, age and size. Secrets in descriptions are redacted.

use crate::{
    base::{
        error::{Error, Problem, Result},
        path::{self, MemoryPath},
        text, time,
    },
    memory::{
        Kind, Memory,
        succession::{SuccessionFields, Successions},
        validity::{Outdated, Validity},
    },
    operations::{context::Context, read::memory_time},
    secrets,
    store::{
        Entry, Store,
        mounts::{self, FileKind},
    },
};
use serde::Serialize;

/// The memories to list.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// Only memories under this topic, matched by whole path components.
    pub topic: String,
    /// Only memories of this type.
    pub kind: Option<Kind>,
    /// Only memories that are at most this many days old.
    pub newer_than_days: Option<i64>,
    /// Only memories that are at least this many days old.
    pub older_than_days: Option<i64>,
    /// Only memories with at least this many bytes.
    pub min_bytes: Option<u64>,
    /// Reads each file for its type, description and dates. Without it, only directories are read.
    pub details: bool,
}

/// A listing.
#[derive(Debug, Clone, Serialize)]
pub struct Listing {
    /// The memories, sorted by name.
    pub memories: Vec<ListedMemory>,
    /// Refused names, links that lead out of the mount, names that collide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// The directories, by their names in the space, whose memories are missing because they could not be read.
    #[serde(skip)]
    pub unlisted: Vec<String>,
    /// Number of files omitted because there were too many.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// One memory of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedMemory {
    /// Its name, as every operation accepts it.
    pub name: String,
    /// Its path, with folder and extension.
    pub path: MemoryPath,
    /// Its size.
    pub bytes: u64,
    /// The age since it was last verified or changed.
    pub age: String,
    /// The age in days.
    pub age_days: i64,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Its description, with secrets redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Why it ranks behind other memories. Only with details.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outdated: Option<Outdated>,
    /// The memory that replaces it. Only with details.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

/// Lists memories. Entrypoints, their pages and tests files are not memories.
pub(crate) fn list(store: &dyn Store, context: &Context, query: &List) -> Result<Listing> {
    let topic = match query.topic.trim_end_matches('/') {
        "" => String::new(),
        topic => MemoryPath::parse(topic)?.as_str().to_owned(),
    };
    let walk = store.list(&topic)?;
    // Archived memories are listed only if the topic names their folder.
    let names_archive = MemoryPath::parse(&topic).is_ok_and(|topic| mounts::file_kind(store, &topic) == FileKind::Archived);
    let is_memory = |entry: &&Entry| match mounts::file_kind(store, &entry.path) {
        FileKind::Archived => names_archive,
        kind => kind.is_listed(),
    };
    let entries: Vec<&Entry> = walk.entries.iter().filter(is_memory).collect();
    let mut memories = Vec::with_capacity(entries.len());
    let mut fields = Vec::new();
    for (n, entry) in entries.iter().enumerate() {
        let listed = describe(store, context, query, entry, shown_name(&entries, n), &mut fields)?;
        memories.extend(listed.filter(|listed| wanted(query, listed)));
    }
    mark_superseded(store, &entries, &fields, &mut memories);
    memories.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Listing { memories, problems: walk.problems, unlisted: walk.unlisted, left_out: walk.left_out })
}

/// Marks the memories that others of the same mount and listing replace.
fn mark_superseded(store: &dyn Store, entries: &[&Entry], fields: &[SuccessionFields], memories: &mut [ListedMemory]) {
    if fields.is_empty() {
        return;
    }
    let mount_of = |path: &MemoryPath| mounts::mount_of(store, path).map(|mount| mount.prefix.as_str());
    let successions = Successions::among(fields, entries.iter().map(|entry| &entry.path), &mount_of);
    for memory in memories {
        if let Some(successor) = successions.successor(&memory.path) {
            memory.outdated = Some(Outdated::Superseded);
            memory.superseded_by = Some(successor.name().to_owned());
        }
    }
}

fn describe(
    store: &dyn Store,
    context: &Context,
    query: &List,
    entry: &Entry,
    name: String,
    fields: &mut Vec<SuccessionFields>,
) -> Result<Option<ListedMemory>> {
    let mut time = entry.stamp.modified();
    let now = context.clock.now();
    let (mut kind, mut description, mut outdated) = (None, None, None);
    if query.details || query.kind.is_some() {
        let stored = match store.get(&entry.path) {
            Ok(Some(stored)) => stored,
            // The file vanished or became unreadable since the walk; the other memories are still listed.
            Ok(None) | Err(Error::Io { .. } | Error::TooLarge { .. }) => return Ok(None),
            Err(e) => return Err(e),
        };
        let (decoded, _) = text::decode(&stored.bytes);
        let (memory, _) = Memory::parse(&decoded);
        time = memory_time(&memory, &stored);
        kind = memory.kind();
        description = memory.description().map(|text| secrets::redact(text).into_owned());
        let Validity { supersedes, superseded_by, .. } = {
            let validity = memory.validity();
            outdated = validity.outdated(|| context.clock.today());
            validity
        };
        if !supersedes.is_empty() || !superseded_by.is_empty() {
            fields.push(SuccessionFields { path: entry.path.clone(), supersedes, superseded_by });
        }
    }
    let (age, age_days) = (time::age(now, time), time::age_days(now, time));
    Ok(Some(ListedMemory {
        name,
        path: entry.path.clone(),
        bytes: entry.stamp.size,
        age,
        age_days,
        kind,
        description,
        outdated,
        superseded_by: None,
    }))
}

fn wanted(query: &List, listed: &ListedMemory) -> bool {
    query.kind.is_none_or(|kind| listed.kind == Some(kind))
        && query.newer_than_days.is_none_or(|days| listed.age_days <= days)
        && query.older_than_days.is_none_or(|days| listed.age_days >= days)
        && query.min_bytes.is_none_or(|bytes| listed.bytes >= bytes)
}

/// Returns the name without `.md`, unless the short name means another file: one without the extension in the same folder or, for
/// `x.md.md`, the file `x.md`.
fn shown_name(sorted: &[&Entry], n: usize) -> String {
    let full = sorted[n].path.as_str();
    let short = path::strip_md(full);
    let doubled = path::strip_md(short).len() < short.len();
    let shadowed = short.len() < full.len()
        && sorted[..n].iter().rev().take_while(|entry| entry.path.as_str().starts_with(short)).any(|entry| entry.path.as_str() == short);
    // A printed name must be accepted back, and only a lower-case `.md` is added on lookup.
    let plain = full.ends_with(".md") && MemoryPath::parse(short).is_ok();
    if shadowed || doubled || !plain { full.to_owned() } else { short.to_owned() }
}
