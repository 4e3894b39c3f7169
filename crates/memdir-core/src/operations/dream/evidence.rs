//! Finds memories that rest on something that does not exist any more, and memories whose date of expiry has passed. They are marked as
//! deprecated, which ranks them last; their text stays.

use super::{
    DreamAction, DreamChange, DreamOperation, DreamReason,
    material::{Material, MaterialFile},
};
use crate::{
    memory::{
        Memory,
        validity::{MemoryStatus, Outdated, SourceRef},
    },
    operations::verify::{self, ProjectLookup},
};
use jiff::civil::Date;

/// Returns the proposed updates.
pub(super) fn find(material: &Material, look: Option<&ProjectLookup<'_>>, today: Date) -> Vec<DreamOperation> {
    material.files.iter().filter_map(|file| stale(file, today).or_else(|| missing_evidence(file, look?, today))).collect()
}

fn stale(file: &MaterialFile, today: Date) -> Option<DreamOperation> {
    let last = file.validity.stale_after.filter(|_| file.validity.outdated(|| today) == Some(Outdated::Stale))?;
    let text = file.memory.with_field("status", Some(MemoryStatus::Deprecated.as_str()));
    Some(update(file, DreamReason::Stale, format!("{} was valid until {last}", file.name()), 85, text))
}

fn missing_evidence(file: &MaterialFile, look: &ProjectLookup<'_>, today: Date) -> Option<DreamOperation> {
    // A user's memories are not about this project, and what is outdated already is marked.
    if !matches!(file.prefix.as_str(), "" | "team") || file.validity.outdated(|| today).is_some() {
        return None;
    }
    let body = file.memory.body_first_line();
    let mentions: Vec<verify::Mention> = verify::mentions(file.memory.text()).into_iter().filter(|named| named.line >= body).collect();
    let (mut missing, mut present) = (Vec::new(), 0);
    for named in &mentions {
        match look.is_there(named) {
            Some(false) => missing.push(named.text.as_str()),
            Some(true) => present += 1,
            None => {}
        }
    }
    for source in &file.validity.sources {
        let SourceRef::File { path, .. } = source else { continue };
        match look.path(path) {
            Some(false) => missing.push(path.as_str()),
            Some(true) => present += 1,
            None => {}
        }
    }
    missing.sort_unstable();
    missing.dedup();
    // The memory may already mention it, in a note of an earlier plan or in the user's words.
    let is_noted = |body: &str| body.contains("> Checked on ") || body.contains("no longer exist");
    if missing.is_empty() || is_noted(file.memory.body()) {
        return None;
    }
    let names = missing.iter().take(5).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let verb = if missing.len() == 1 { "does not exist" } else { "do not exist" };
    let text = format!("{}\n\n> Checked on {today}: {names} {verb}.\n", file.memory.text().trim_end());
    let (text, confidence) = match present {
        0 => (Memory::parse(&text).0.with_field("status", Some(MemoryStatus::Deprecated.as_str())), 75),
        _ => (text, 60),
    };
    Some(update(file, DreamReason::EvidenceGone, format!("{} mentions {names}, which {verb}", file.name()), confidence, text))
}

fn update(file: &MaterialFile, reason: DreamReason, why: String, confidence: u8, text: String) -> DreamOperation {
    DreamOperation {
        action: DreamAction::Update,
        reason,
        why,
        confidence,
        sources: Vec::new(),
        changes: vec![DreamChange::Write { path: file.path.clone(), version: file.version, text }],
        diff: String::new(),
    }
}
