//! Proposes shorter descriptions where the entrypoint is over its budget, those with the least value per token first. What a person wrote
//! in the entrypoint is never changed.

use super::{
    DreamAction, DreamChange, DreamOperation, DreamReason,
    material::{Material, MaterialFile},
};
use crate::{
    base::{error::Result, limits, text},
    memory::Memory,
    store::{View, mounts},
};

/// Characters of a description that stay.
const SHORT: usize = 80;
/// A description that is not much longer is not worth a change.
const LONG: usize = 110;
/// The most proposals for one entrypoint.
const MOST: usize = 40;

/// Returns the proposed updates, and notes about what only a person can shorten.
pub(super) fn find(
    view: &dyn View,
    material: &Material,
    weight: &dyn Fn(&MaterialFile) -> u64,
) -> Result<(Vec<DreamOperation>, Vec<String>)> {
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let mut prefixes: Vec<&str> = material.files.iter().map(|file| file.prefix.as_str()).collect();
    prefixes.sort_unstable();
    prefixes.dedup();
    for prefix in prefixes {
        let Some(main) = mounts::entrypoint_file(view, prefix)? else { continue };
        let content = String::from_utf8_lossy(&main.bytes);
        let has_pages = content.contains(".page-");
        let (lines, bytes) = (text::lines(&content) as usize, content.len());
        let limit = limits::ENTRYPOINT_WARN_PERCENT;
        let is_over = has_pages || lines * 100 > limits::ENTRYPOINT_LINES * limit || bytes * 100 > limits::ENTRYPOINT_BYTES * limit;
        if !is_over {
            continue;
        }
        let mut long: Vec<(&MaterialFile, &str)> = material
            .files
            .iter()
            .filter(|file| file.prefix == prefix)
            .filter_map(|file| Some((file, file.memory.description().filter(|text| text.chars().count() > LONG)?)))
            .collect();
        // Value per token: how often the memory was used, by the size of its line.
        long.sort_by_key(|(file, description)| (weight(file) * 10_000 / description.len() as u64, file.path.clone()));
        out.extend(long.iter().take(MOST).filter_map(|(file, description)| shortened(file, description)));
        let by_hand = content.lines().filter(|line| line.chars().count() > limits::ENTRYPOINT_LONG_LINE_CHARS).count();
        if by_hand > 0 {
            notes.push(format!("{} has {by_hand} lines that are longer than a pointer should be; shorten them by hand", main.path));
        }
    }
    Ok((out, notes))
}

fn shortened(file: &MaterialFile, description: &str) -> Option<DreamOperation> {
    let short = first_clause(description)?;
    let text = file.memory.with_field("description", Some(&short));
    let (memory, _) = Memory::parse(&text);
    // Nothing is lost: what the body does not say yet moves there.
    let text = match memory.body().contains(description) {
        true => text,
        false => memory.with_body(&format!("{description}\n\n{}", memory.body())),
    };
    Some(DreamOperation {
        action: DreamAction::Update,
        reason: DreamReason::Entrypoint,
        why: format!("the entrypoint is over its budget, and the line of {} has {} characters", file.name(), description.chars().count()),
        confidence: 60,
        sources: Vec::new(),
        changes: vec![DreamChange::Write { path: file.path.clone(), version: file.version, text }],
        diff: String::new(),
    })
}

/// The beginning of a description, up to the end of a clause or else of a word.
fn first_clause(description: &str) -> Option<String> {
    let end = description.char_indices().nth(SHORT).map_or(description.len(), |(at, _)| at);
    let head = &description[..end];
    let clause =
        [". ", "; ", " (", ": ", ", ", " — ", " - "].iter().filter_map(|mark| head.rfind(mark)).filter(|at| *at >= SHORT / 3).max();
    let cut = clause.or_else(|| head.rfind(' '))?;
    Some(head[..cut].trim_end_matches([',', ';', ':']).to_owned()).filter(|short| !short.is_empty())
}
