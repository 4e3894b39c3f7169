//! Proposed changes: lists them, shows what they would change, and accepts, rejects or withdraws them. Accepting makes
//! exactly the proposed change, unless one of its memories was changed since: then it fails, and the proposal stays open.

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        text,
        version::Version,
    },
    entrypoint::upkeep,
    operations::{close_proposal::close, context::Context, diff, undo},
    store::{Change, ChangeId, FileEdit, Proposal, ProposalFilter, ProposalState, ProposalStore, ProposedFile, Role, Store, View},
};
use serde::Serialize;

/// A proposal with what it would change.
#[derive(Debug, Clone, Serialize)]
pub struct ProposalReading {
    /// The proposal.
    pub proposal: Proposal,
    /// What it would do, in a few words.
    pub what: String,
    /// One diff for each memory.
    pub diffs: Vec<ProposedDiff>,
}

/// What a proposal would change in one memory.
#[derive(Debug, Clone, Serialize)]
pub struct ProposedDiff {
    /// The memory.
    pub path: MemoryPath,
    /// The unified diff; empty if there are no lines to show. Then `note` gives the reason.
    pub diff: String,
    /// What the lines of the diff do not show: a text that is no longer stored, an empty memory, bytes that are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether all of the change is shown. Otherwise a reviewer cannot know what they would accept.
    pub is_complete: bool,
    /// Whether the memory was changed since: then an open proposal cannot be accepted.
    pub is_outdated: bool,
}

/// Returns the proposals in a state, newest first.
pub(crate) fn proposals(store: &dyn Store, context: &Context, state: Option<ProposalState>, most: usize) -> Result<Vec<Proposal>> {
    match store.proposals() {
        Some(proposals) => proposals.proposals(&context.actor, &ProposalFilter { state, most, ..ProposalFilter::default() }),
        None => Ok(Vec::new()),
    }
}

/// Returns a proposal with its diffs.
pub(crate) fn proposal(store: &dyn Store, context: &Context, id: &str) -> Result<ProposalReading> {
    let (_, proposal) = find(store, context, id)?;
    let has_memories = proposal.files.iter().any(|file| file.role == Role::Memory);
    let mut diffs = Vec::new();
    for file in proposal.files.iter().filter(|file| file.role == Role::Memory || !has_memories) {
        let stored = |version: Option<Version>| match version.map(|version| store.text_at(&file.path, version)).transpose() {
            // The text was forgotten.
            Err(Error::NoChange { .. }) => Ok(None),
            found => Ok::<_, Error>(found?.unwrap_or_else(|| Some(Vec::new()))),
        };
        let after = match &file.bytes {
            Some(bytes) => Some(bytes.clone()),
            None => stored(file.after)?,
        };
        let is_outdated = proposal.state == ProposalState::Open && version_at(store, &file.path)? != file.before;
        let (diff, note, is_complete) = match (stored(file.before)?, after) {
            (Some(before), Some(after)) => (diff::unified(&file.path, &before, &after), text_note(file, &before, &after), true),
            _ => (String::new(), Some("the text is no longer stored".to_owned()), false),
        };
        diffs.push(ProposedDiff { path: file.path.clone(), diff, note, is_complete, is_outdated });
    }
    Ok(ProposalReading { what: undo::describe_infinitive(&proposal.to_change()), diffs, proposal })
}

/// Says what the lines of a diff do not show.
fn text_note(file: &ProposedFile, before: &[u8], after: &[u8]) -> Option<String> {
    let invalid = |bytes: &[u8]| bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum::<usize>();
    match (file.before, file.after) {
        (None, Some(_)) if after.is_empty() => return Some("the memory is empty".into()),
        (Some(_), None) if before.is_empty() => return Some("the memory is empty".into()),
        _ => {}
    }
    let counts: Vec<String> = [("the old text", invalid(before)), ("the new text", invalid(after))]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(which, count)| format!("{} in {which}", text::counted(count as u64, "byte", "bytes")))
        .collect();
    (!counts.is_empty()).then(|| format!("invalid UTF-8 ({}) is shown as hexadecimal bytes, such as <0xE9>", counts.join(", ")))
}

/// Accepts a proposal: makes its change.
pub(crate) fn accept(store: &dyn Store, context: &Context, id: &str) -> Result<Change> {
    let (proposals, proposal) = find(store, context, id)?;
    check_open(&proposal)?;
    // Without its text, the memory would be deleted.
    if let Some(file) = proposal.files.iter().find(|file| file.after.is_some() && file.bytes.is_none()) {
        let why = format!("the proposed text of {:?} is no longer stored; reject the proposal", file.path.name());
        return Err(Error::Review { why, names_step: true });
    }
    let edit = |file: &ProposedFile| FileEdit { path: file.path.clone(), bytes: file.bytes.clone(), role: file.role };
    proposals.accept(&proposal, &context.actor, context.clock.now(), &mut |view| {
        let (memories, kept): (Vec<_>, Vec<_>) = proposal.files.iter().partition(|file| file.role == Role::Memory);
        for file in &memories {
            if version_at(view, &file.path)? != file.before {
                return Err(Error::OutdatedProposal { path: file.path.clone() });
            }
        }
        let mut edits: Vec<FileEdit> = memories.iter().map(|file| edit(file)).collect();
        let is_untouched = kept.iter().map(|file| Ok(version_at(view, &file.path)? == file.before)).collect::<Result<Vec<bool>>>()?;
        match is_untouched.iter().position(|same| !same) {
            None => edits.extend(kept.iter().map(|file| edit(file))),
            // Nothing but lines was proposed.
            Some(at) if edits.is_empty() => return Err(Error::OutdatedProposal { path: kept[at].path.clone() }),
            // Other lines were added since and are kept; only the lines of these memories change.
            Some(_) => edits.extend(upkeep::set_lines(view, &context.entrypoint_cache, &edits)?.edits),
        }
        Ok(edits)
    })
}

/// Rejects a proposal.
pub(crate) fn reject(store: &dyn Store, context: &Context, id: &str, reason: Option<&str>) -> Result<Proposal> {
    let (proposals, proposal) = find(store, context, id)?;
    check_open(&proposal)?;
    if !proposal.can_decide {
        return Err(Error::NotReviewer);
    }
    close(proposals, context, &proposal, ProposalState::Rejected, reason)
}

/// Withdraws a proposal of the caller.
pub(crate) fn withdraw(store: &dyn Store, context: &Context, id: &str) -> Result<Proposal> {
    let (proposals, proposal) = find(store, context, id)?;
    check_open(&proposal)?;
    if !proposal.can_withdraw {
        let why = format!("proposal {id} was made by {}; only its author can withdraw it", proposal.author.name);
        return Err(Error::Review { why, names_step: true });
    }
    close(proposals, context, &proposal, ProposalState::Withdrawn, None)
}

fn find<'a>(store: &'a dyn Store, context: &Context, id: &str) -> Result<(&'a dyn ProposalStore, Proposal)> {
    let not_found = || Error::NoProposal { id: id.to_owned() };
    let proposals = store.proposals().ok_or_else(not_found)?;
    let filter = ProposalFilter { id: Some(ChangeId(id.to_ascii_lowercase())), with_texts: true, ..ProposalFilter::default() };
    let proposal = proposals.proposals(&context.actor, &filter)?.pop().ok_or_else(not_found)?;
    Ok((proposals, proposal))
}

/// Fails if a proposal was decided.
fn check_open(proposal: &Proposal) -> Result<()> {
    match &proposal.decision {
        None => Ok(()),
        Some(decision) => {
            let why = format!("proposal {} was already {} by {}", proposal.id, proposal.state.name(), decision.by);
            Err(Error::Review { why, names_step: false })
        }
    }
}

fn version_at<V: View + ?Sized>(view: &V, path: &MemoryPath) -> Result<Option<Version>> {
    Ok(view.get(path)?.filter(|stored| stored.path == *path).map(|stored| stored.version))
}
