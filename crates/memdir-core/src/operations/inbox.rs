//! The inbox: proposed memories (candidates) with their evidence, as files of a mount that is listed, searched and recalled only on
//! request. Lists and adds candidates. Never changes a memory: see `decide.rs`, and `rename.rs` and `delete.rs` for the tools.

pub(crate) mod candidate;
mod candidate_file;
mod decided;
mod known;
mod propose;
mod transfer;

use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{Error, ReadOnlyCause, Result},
        limits,
        path::{MemoryPath, strip_md},
        text,
    },
    memory::Kind,
    operations::read,
    store::{MountInfo, Source, Store, Stored, View, mounts},
};
use candidate::CandidateKind;
pub(crate) use decided::record_decisions;
use jiff::Timestamp;
pub use known::KnownMemory;
pub(crate) use known::find as find_known;
pub use propose::Proposed;
pub(crate) use propose::propose;
use serde::Serialize;
use std::collections::HashSet;
pub(crate) use transfer::transfer;

/// The folder of the inbox that holds rejected candidates.
pub const REJECTED: &str = "rejected";

/// The inbox of a space.
#[derive(Debug, Clone, Serialize)]
pub struct Inbox {
    /// The prefix of its names, `inbox` unless a folder of the project has that name.
    pub prefix: String,
    /// The candidates that wait for a decision, strongest evidence first.
    pub open: Vec<InboxEntry>,
    /// The number of rejected candidates whose files are kept.
    pub rejected: usize,
    /// Memories that already contain what a conversation would propose, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownMemory>,
}

/// A candidate in the inbox.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InboxEntry {
    /// Its name: `inbox/feedback/no-force-push`.
    pub name: String,
    /// The name of the memory that it proposes, or of the memory that it proposes to change.
    pub proposes: String,
    /// Why it is proposed; `None` for a file that memdir did not write.
    pub kind: Option<CandidateKind>,
    /// The proposed type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<Kind>,
    /// The proposed description.
    pub description: String,
    /// The proposed tripwires, as YAML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The proposed text, without frontmatter.
    pub text: String,
    /// What the person typed.
    pub words: String,
    /// The cited turns.
    pub turns: Vec<String>,
    /// The conversations that it comes from.
    pub sessions: Vec<String>,
    /// When the newest evidence happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// When it was proposed.
    pub proposed: Timestamp,
    /// How strong the evidence is, from 0 to 1.
    pub weight: f32,
    /// The hash of the evidence.
    pub key: String,
    /// Other keys of the same evidence, of which the file keeps the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_keys: Vec<String>,
    /// Whether it was rejected.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rejected: bool,
}

/// Returns the inbox. Fails if the space has none.
pub(crate) fn inbox(store: &dyn Store) -> Result<Inbox> {
    let prefix = prefix(store)?.to_owned();
    let (mut open, rejected): (Vec<_>, Vec<_>) = entries(store, &prefix)?.into_iter().partition(|entry| !entry.rejected);
    open.shared_sort_by(|a, b| b.weight.total_cmp(&a.weight).then(b.newest().cmp(&a.newest())).then(a.name.cmp(&b.name)));
    let mut known = known::list(store);
    // The same words can be evidence of two kinds.
    let mut named = HashSet::new();
    known.retain(|one| named.insert((one.memory.clone(), one.words.clone())));
    Ok(Inbox { known, prefix, open, rejected: rejected.len() })
}

/// Lists the rejected candidates whose files are kept.
pub(crate) fn rejected_candidates(store: &dyn Store) -> Result<Vec<InboxEntry>> {
    let all = entries(store, prefix(store)?)?;
    Ok(all.into_iter().filter(|entry| entry.rejected).collect())
}

/// Returns a candidate by its name, with or without the prefix of the inbox.
pub(crate) fn find_entry(store: &dyn Store, name: &MemoryPath) -> Result<(MemoryPath, InboxEntry)> {
    let prefix = prefix(store)?;
    let path = if name.is_under(prefix) { name.clone() } else { name.prefixed(prefix) };
    let stored = store.get(&path)?.ok_or_else(|| not_found(store, prefix, &path))?;
    let entry = InboxEntry::parse(prefix, &stored);
    Ok((stored.path, entry))
}

/// The error for a candidate that does not exist, with similar names of open ones.
fn not_found(store: &dyn Store, prefix: &str, path: &MemoryPath) -> Error {
    let open = entries(store, prefix).unwrap_or_default().into_iter().filter(|entry| !entry.rejected);
    let names: Vec<String> = open.map(|entry| entry.name).collect();
    let near = text::near(path.name(), names.iter().map(String::as_str), limits::NEAR_NAMES);
    Error::NoCandidate { name: path.to_string(), near }
}

/// Whether a name belongs to the inbox of the space.
pub(crate) fn is_in_inbox(view: &dyn View, path: &MemoryPath) -> bool {
    mounts::mount_of(view, path).is_some_and(|mount| mount.source == Source::Inbox)
}

/// Fails if a memory would be created in the inbox: it would never be recalled.
pub(crate) fn refuse_new_file(view: &dyn View, path: &MemoryPath) -> Result<()> {
    if !is_in_inbox(view, path) {
        return Ok(());
    }
    let why = "the inbox contains only candidates, which are never recalled; save the memory under another name";
    Err(Error::ReadOnly { path: path.to_string(), why: why.into(), cause: ReadOnlyCause::Explained })
}

/// Fails if a change of a candidate's text would change its evidence: what the person typed, where, and what is decided about.
pub(crate) fn check_evidence(view: &dyn View, path: &MemoryPath, old: Option<&[u8]>, new: &[u8]) -> Result<()> {
    let Some(old) = old.filter(|_| is_in_inbox(view, path)) else { return Ok(()) };
    match candidate_file::changed_evidence(old, new) {
        Some(field) => {
            let why = format!(
                "`{field}:` is part of the candidate's evidence; only the text, the description and `when:` of a candidate can be changed"
            );
            Err(Error::ReadOnly { path: path.to_string(), why, cause: ReadOnlyCause::Explained })
        }
        None => Ok(()),
    }
}

/// Returns the bytes that a file has after a move. A candidate that becomes a memory has its evidence in `source` and no fields of
/// the inbox. Fails for a memory that would become a candidate, and for a candidate that proposes to change a memory.
pub(crate) fn moved_bytes(view: &dyn View, stored: &Stored, to: &MemoryPath) -> Result<Vec<u8>> {
    match (is_in_inbox(view, &stored.path), is_in_inbox(view, to)) {
        (false, true) => refuse_new_file(view, to).map(|()| stored.bytes.clone()),
        (true, false) => accepted_bytes(stored),
        _ => Ok(stored.bytes.clone()),
    }
}

/// The text of a candidate as a memory.
pub(crate) fn memory_text(stored: &Stored, entry: &InboxEntry) -> String {
    candidate_file::to_memory(&text::decode(&stored.bytes).0, entry)
}

/// A free path among the rejected candidates.
pub(crate) fn rejected_path(view: &dyn View, path: &MemoryPath) -> Result<MemoryPath> {
    let prefix = prefix(view)?;
    let Some(relative) = path.strip_prefix(prefix) else { return Err(Error::bad_path(path.as_str(), "it is not in the inbox")) };
    let name = format!("{prefix}/{REJECTED}/{}", strip_md(relative.as_str()));
    for number in 1..1_000 {
        let name = if number == 1 { name.clone() } else { format!("{name}-{number}") };
        let path = MemoryPath::parse(&name)?.with_md();
        if view.get(&path)?.is_none() {
            return Ok(path);
        }
    }
    Err(Error::Exists { path: MemoryPath::parse(&name)? })
}

fn accepted_bytes(stored: &Stored) -> Result<Vec<u8>> {
    let entry = InboxEntry::parse("", stored);
    if entry.changes_memory() {
        let name = stored.path.name();
        let why = format!("it proposes a change to {:?}; only the user can accept it, with: memdir inbox accept {name}", entry.proposes);
        return Err(Error::bad_input(format!("candidate {name:?}"), why));
    }
    Ok(memory_text(stored, &entry).into_bytes())
}

impl InboxEntry {
    /// Whether it proposes to change or remove an existing memory, rather than a new one.
    pub fn changes_memory(&self) -> bool {
        self.kind.is_some_and(CandidateKind::changes_memory)
    }

    /// When something was last known about it.
    fn newest(&self) -> Timestamp {
        self.at.unwrap_or(self.proposed)
    }
}

/// The mount of the inbox.
fn mount(view: &dyn View) -> Result<&MountInfo> {
    let none = || Error::unavailable("the inbox is not available", "`--dir`, `--only` or `inbox.on = false` excludes it");
    view.mounts().iter().find(|mount| mount.source == Source::Inbox).ok_or_else(none)
}

fn prefix(view: &dyn View) -> Result<&str> {
    mount(view).map(|mount| mount.prefix.as_str())
}

/// All candidates, rejected ones included, in the order of their names.
fn entries(view: &dyn View, prefix: &str) -> Result<Vec<InboxEntry>> {
    let mut all = Vec::new();
    for entry in view.list(prefix)?.entries.into_iter().filter(|entry| entry.path.is_md()) {
        if let Some(stored) = read::if_readable(view.get(&entry.path))? {
            all.push(InboxEntry::parse(prefix, &stored));
        }
    }
    Ok(all)
}
