//! Finds statements on one subject with different values: a number, a path, a name or the polarity. The older memory keeps its line and
//! gets a note beside it; nothing is removed.

use super::{
    DreamAction, DreamChange, DreamOperation, DreamReason,
    claims::Claim,
    material::{Material, MaterialFile, are_about_different_things},
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A statement in more memories than this is a template, whose subject is somewhere else.
const TEMPLATE: usize = 4;
/// Memories whose dates differ by less than this many seconds have no order.
const SAME_TIME: i64 = 3_600;

/// Returns the proposed updates of the older memories.
pub(super) fn find(material: &Material) -> Vec<DreamOperation> {
    let files = &material.files;
    let mut holders: HashMap<u64, Vec<(usize, Claim)>> = HashMap::new();
    for (at, file) in files.iter().enumerate() {
        file.features.claims.iter().for_each(|claim| holders.entry(claim.key).or_default().push((at, *claim)));
    }
    let mut pairs: BTreeMap<(usize, usize), Sentences> = BTreeMap::new();
    for holders in holders.into_values() {
        let distinct: BTreeSet<usize> = holders.iter().map(|(file, _)| *file).collect();
        if !(2..=TEMPLATE).contains(&distinct.len()) {
            continue;
        }
        for (n, (a, first)) in holders.iter().enumerate() {
            for (b, second) in &holders[n + 1..] {
                if a != b && first.value != second.value && is_one_subject(&files[*a], &files[*b], first.is_weak) {
                    let (old, new) = order((*a, first.sentence), (*b, second.sentence), files);
                    pairs.entry((old.0, new.0)).or_insert((old.1, new.1, first.is_guess));
                }
            }
        }
    }
    // One operation per older memory: the newest of the memories that contradict it.
    let mut newest: BTreeMap<usize, (usize, Sentences)> = BTreeMap::new();
    for ((old, new), sentences) in pairs {
        let entry = newest.entry(old).or_insert((new, sentences));
        if files[new].at > files[entry.0].at {
            *entry = (new, sentences);
        }
    }
    newest.into_iter().filter_map(|(old, (new, sentences))| operation(&files[old], &files[new], sentences)).collect()
}

fn is_one_subject(a: &MaterialFile, b: &MaterialFile, is_weak: bool) -> bool {
    let same_title = a.features.title == b.features.title;
    a.prefix == b.prefix && (same_title || (!is_weak && !are_about_different_things(&a.features, &b.features)))
}

type StatementPlace = (usize, u32);
/// The sentences of two memories, the older one first, and whether both may be true.
type Sentences = (u32, u32, bool);

/// The two statements, the older one first.
fn order(a: StatementPlace, b: StatementPlace, files: &[MaterialFile]) -> (StatementPlace, StatementPlace) {
    if (files[a.0].at, a.0) <= (files[b.0].at, b.0) { (a, b) } else { (b, a) }
}

fn operation(old: &MaterialFile, new: &MaterialFile, (at, by, is_guess): Sentences) -> Option<DreamOperation> {
    let (was, now) = (old.sentences(), new.sentences());
    let (was, now) = (was.get(at as usize)?, now.get(by as usize)?);
    let is_dated = (new.at.as_second() - old.at.as_second()).abs() >= SAME_TIME;
    let statement = now.source.trim_end_matches('.');
    let note = if is_dated {
        format!(" (Superseded on {} by [[{}]]: {statement}.)", new.day(), new.name())
    } else {
        format!(" (Contradicted at about the same time by [[{}]]: {statement}.)", new.name())
    };
    let body = old.memory.body();
    let mut lines: Vec<String> = body.split_inclusive('\n').map(str::to_owned).collect();
    let line = lines.get_mut(was.line)?;
    let end = line.trim_end().len();
    line.insert_str(end, &note);
    let text = old.memory.with_body(&lines.concat());
    let (relation, confidence) = if is_dated { ("is newer", 75) } else { ("is about as old", 45) };
    let confidence = if is_guess { confidence - 15 } else { confidence };
    Some(DreamOperation {
        action: DreamAction::Update,
        reason: DreamReason::Contradiction,
        why: format!("{} says {:?}; {} {relation} and says {:?}", old.name(), was.source, new.name(), now.source),
        confidence,
        sources: vec![(new.path.clone(), new.version)],
        changes: vec![DreamChange::Write { path: old.path.clone(), version: old.version, text }],
        diff: String::new(),
    })
}
