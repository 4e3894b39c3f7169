//! Finds duplicates and near duplicates for `memdir dream`: memories that say the same. Identical texts are found by their hash; others by
//! minhash over pairs of words, or by the cosine of their vectors. Two texts with different facts on both sides are never merged, however
//! alike they are.

use super::{
    DreamAction, DreamChange, DreamOperation, DreamReason,
    material::{Features, Material, MaterialFile, are_about_different_things, binding_fields, common},
    words,
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{error::Result, text::lower_case_words, version::Version},
    search::embed::{EmbedRole, Embedder},
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Minimum share of common words of two texts that say the same.
const MIN_COMMON: f64 = 0.6;
/// Minimum share of the shorter text's words that a longer one with more facts contains.
const MIN_CONTAINED: f64 = 0.8;
/// Minimum share of common words of two such texts.
const MIN_COMMON_CONTAINED: f64 = 0.4;
/// Fewer content words are a heading or a template, not a statement.
const MIN_WORDS: usize = 5;
/// Bands and rows of the minhash: texts with half of their pairs in common meet in a band with 94 %.
const BANDS: usize = 21;
const ROWS: usize = 3;
/// A band with more texts than this is a template; then only texts with the same facts are compared.
const TEMPLATE: usize = 8;
/// Minimum cosine of two texts with the same facts.
const MIN_COSINE: f32 = 0.92;
/// The number of memories up to which vectors are compared pair by pair.
const MAX_VECTORS: usize = 12_000;
/// The most memories of one merge, unless their texts are identical.
const MAX_GROUP: usize = 8;

/// Returns the proposed merges.
pub(super) fn find(
    material: &Material,
    embedder: Option<&dyn Embedder>,
    weight: &dyn Fn(&MaterialFile) -> u64,
) -> Result<Vec<DreamOperation>> {
    let files = &material.files;
    let mut pairs: BTreeMap<(usize, usize), DreamReason> = BTreeMap::new();
    for (a, b) in exact(files) {
        pairs.insert((a, b), DreamReason::ExactDuplicate);
    }
    let mut candidates = banded(files);
    if let Some(embedder) = embedder.filter(|embedder| embedder.is_instant() && files.len() <= MAX_VECTORS) {
        candidates.extend(close(files, embedder)?);
    }
    for (a, b) in candidates {
        if are_same_statement(&files[a], &files[b]) {
            pairs.entry((a, b)).or_insert(DreamReason::NearDuplicate);
        }
    }
    Ok(groups(files.len(), &pairs).into_iter().filter_map(|(group, reason)| merge(files, &group, reason, weight)).collect())
}

/// Pairs with the same text. Identical files are found whatever their length and their names; files that differ in frontmatter or white
/// space, unless they are about different things.
fn exact(files: &[MaterialFile]) -> Vec<(usize, usize)> {
    let mut identical: HashMap<(&str, Version), usize> = HashMap::new();
    let mut known: HashMap<(&str, u64), usize> = HashMap::new();
    let mut out = Vec::new();
    for (at, file) in files.iter().enumerate().filter(|(_, file)| !super::empty::is_empty(file)) {
        if let Some(first) = identical.get(&(file.prefix.as_str(), file.version)) {
            out.push((*first, at));
            continue;
        }
        identical.insert((&file.prefix, file.version), at);
        match known.get(&(file.prefix.as_str(), file.features.whole)) {
            // A short text under two titles may be about two things.
            Some(&first) if file.features.count >= MIN_WORDS || file.features.title == files[first].features.title => {
                if !are_about_different_things(&files[first].features, &file.features) {
                    out.push((first, at));
                }
            }
            Some(_) => {}
            None => drop(known.insert((&file.prefix, file.features.whole), at)),
        }
    }
    out
}

/// Pairs that share a band of their minhash.
fn banded(files: &[MaterialFile]) -> BTreeSet<(usize, usize)> {
    let mut buckets: HashMap<(usize, u64), Vec<usize>> = HashMap::new();
    for (at, file) in files.iter().enumerate().filter(|(_, file)| file.features.count >= MIN_WORDS) {
        let mount = words::hash_of([file.prefix.as_str()]);
        for (band, hash) in bands(&file.features.pairs).into_iter().enumerate() {
            buckets.entry((band, hash ^ mount)).or_default().push(at);
        }
    }
    let mut out = BTreeSet::new();
    for bucket in buckets.into_values().filter(|bucket| bucket.len() > 1) {
        if bucket.len() <= TEMPLATE {
            add_pairs(&bucket, &mut out);
            continue;
        }
        let mut same: HashMap<&[u64], Vec<usize>> = HashMap::new();
        for at in bucket {
            same.entry(&files[at].features.facts).or_default().push(at);
        }
        same.into_iter()
            .filter(|(facts, group)| !facts.is_empty() && group.len() <= TEMPLATE)
            .for_each(|(_, group)| add_pairs(&group, &mut out));
    }
    out
}

fn add_pairs(group: &[usize], out: &mut BTreeSet<(usize, usize)>) {
    for (n, a) in group.iter().enumerate() {
        out.extend(group[n + 1..].iter().map(|b| (*a.min(b), *a.max(b))));
    }
}

fn bands(pairs: &[u64]) -> Vec<u64> {
    let mut least = [u64::MAX; BANDS * ROWS];
    for pair in pairs {
        let mut hash = *pair;
        for slot in &mut least {
            hash = words::mix(hash.wrapping_add(0x9e37_79b9_7f4a_7c15));
            *slot = (*slot).min(hash);
        }
    }
    least.chunks_exact(ROWS).map(|rows| rows.iter().fold(0, |sum, row| words::mix(sum ^ row))).collect()
}

/// Pairs with the same facts whose vectors are close.
fn close(files: &[MaterialFile], embedder: &dyn Embedder) -> Result<Vec<(usize, usize)>> {
    // Only texts with the same facts can be merged, so only those are embedded.
    let mut same: HashMap<(&str, &[u64]), Vec<usize>> = HashMap::new();
    for (at, file) in files.iter().enumerate().filter(|(_, file)| !file.features.facts.is_empty() && file.features.count >= MIN_WORDS) {
        same.entry((&file.prefix, &file.features.facts)).or_default().push(at);
    }
    let mut out = Vec::new();
    for group in same.into_values().filter(|group| (2..=64).contains(&group.len())) {
        let texts: Vec<&str> = group.iter().map(|at| files[*at].memory.body()).collect();
        let vectors = embedder.embed(EmbedRole::Passage, &texts)?;
        for (n, a) in vectors.iter().enumerate() {
            let near = vectors.iter().enumerate().skip(n + 1).filter(|(_, b)| a.cosine(b) >= MIN_COSINE);
            out.extend(near.map(|(m, _)| (group[n].min(group[m]), group[n].max(group[m]))));
        }
    }
    Ok(out)
}

fn are_same_statement(a: &MaterialFile, b: &MaterialFile) -> bool {
    let (x, y) = (&a.features, &b.features);
    if a.prefix != b.prefix || x.negations != y.negations || are_about_different_things(x, y) || are_contrasted(x, y) {
        return false;
    }
    // "Ada owns the importer" and "Grace owns the importer": what begins a sentence may be a name.
    let begins_otherwise = |a: &Features, b: &Features| a.first_words.iter().any(|word| b.words.binary_search(word).is_err());
    if begins_otherwise(x, y) && begins_otherwise(y, x) {
        return false;
    }
    let shared_facts = common(&x.facts, &y.facts);
    let one_sided = shared_facts == x.facts.len() || shared_facts == y.facts.len();
    let shared = common(&x.words, &y.words) as f64;
    let all = (x.words.len() + y.words.len()) as f64 - shared;
    let smaller = x.words.len().min(y.words.len()) as f64;
    let same_facts = x.facts.len() == y.facts.len();
    one_sided && ((same_facts && shared / all >= MIN_COMMON) || (shared / smaller >= MIN_CONTAINED && shared / all >= MIN_COMMON_CONTAINED))
}

/// Words that name alternatives: memories that differ in them are about two things.
const ALTERNATIVES: [&[&str]; 9] = [
    &["stag", "production", "prod", "dev", "development", "test", "local", "canary"],
    &["linux", "macos", "window", "android", "io"],
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
    &["january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december"],
    &["frontend", "backend", "client", "server"],
    &["read", "write"],
    &["primary", "replica", "secondary"],
    &["daily", "weekly", "monthly", "yearly"],
    &["old", "new"],
];

fn are_contrasted(a: &Features, b: &Features) -> bool {
    let has = |features: &Features, word: &str| features.words.binary_search(&words::hash_of([word])).is_ok();
    ALTERNATIVES.iter().any(|set| {
        let only = |one: &Features, other: &Features| set.iter().any(|word| has(one, word) && !has(other, word));
        only(a, b) && only(b, a)
    })
}

/// Connected groups of pairs, each with its weakest reason.
fn groups(count: usize, pairs: &BTreeMap<(usize, usize), DreamReason>) -> Vec<(Vec<usize>, DreamReason)> {
    let mut root: Vec<usize> = (0..count).collect();
    fn find(root: &mut [usize], mut at: usize) -> usize {
        while root[at] != at {
            root[at] = root[root[at]];
            at = root[at];
        }
        at
    }
    for (a, b) in pairs.keys() {
        let (a, b) = (find(&mut root, *a), find(&mut root, *b));
        root[a.max(b)] = a.min(b);
    }
    let mut out: BTreeMap<usize, (BTreeSet<usize>, DreamReason)> = BTreeMap::new();
    for ((a, b), reason) in pairs {
        let entry = out.entry(find(&mut root, *a)).or_insert_with(|| (BTreeSet::new(), DreamReason::ExactDuplicate));
        entry.0.extend([*a, *b]);
        if *reason == DreamReason::NearDuplicate {
            entry.1 = DreamReason::NearDuplicate;
        }
    }
    let is_mergeable =
        |(group, reason): &(BTreeSet<usize>, DreamReason)| group.len() <= MAX_GROUP || *reason == DreamReason::ExactDuplicate;
    out.into_values().filter(is_mergeable).map(|(group, reason)| (group.into_iter().collect(), reason)).collect()
}

/// The merge of a group: the best memory keeps its name and gets the lines that only the others have, under their dates.
/// A memory with fields that the kept one lacks stays: a tripwire or a source must not vanish with a copy.
fn merge(files: &[MaterialFile], group: &[usize], reason: DreamReason, weight: &dyn Fn(&MaterialFile) -> u64) -> Option<DreamOperation> {
    let mut members: Vec<&MaterialFile> = group.iter().map(|at| &files[*at]).collect();
    // A memory that is used, linked or longer keeps its name; then the one with the shorter name, which is rarely a copy.
    members.shared_sort_by_key(|file| {
        let (uses, fields, words) = (weight(file), binding_fields(&file.memory).len(), file.features.count);
        (std::cmp::Reverse((fields, uses, words)), file.path.as_str().len(), file.path.clone())
    });
    let kept = *members.first()?;
    let own = binding_fields(&kept.memory);
    let others: Vec<&MaterialFile> =
        members[1..].iter().copied().filter(|other| binding_fields(&other.memory).iter().all(|field| own.contains(field))).collect();
    if others.is_empty() {
        return None;
    }
    let mut body = kept.memory.body().trim_end().to_owned();
    let mut known = normalised_lines(&body);
    let mut differing = Vec::new();
    for other in &others {
        let new: Vec<&str> = other.memory.body().lines().filter(|line| normalised(line).is_some_and(|line| known.insert(line))).collect();
        if new.is_empty() {
            continue;
        }
        body.push_str(&format!("\n\nAs of {} (from {}):\n\n{}", other.day(), other.name(), new.join("\n")));
        differing.extend(new.iter().take(3).map(|line| format!("{:?}", line.trim())));
    }
    let text = if differing.is_empty() { kept.memory.text().to_owned() } else { format!("{}\n", kept.memory.with_body(&body)) };
    let names: Vec<&str> = others.iter().map(|file| file.name()).collect();
    let (names, is_one) = match names.as_slice() {
        [first @ .., last] if !first.is_empty() => (format!("{} and {last}", first.join(", ")), false),
        names => (names.concat(), true),
    };
    let verb = |one: &str, many: &str| if is_one { one.to_owned() } else { many.to_owned() };
    // Only the name may show which of two things a text is about.
    let is_named_apart = others.iter().any(|other| are_about_different_things(&kept.features, &other.features));
    let (what, confidence) = match reason {
        DreamReason::ExactDuplicate if is_named_apart => {
            (verb("has a different name but the same text as", "have different names but the same text as"), 60)
        }
        DreamReason::ExactDuplicate => (verb("has the same text as", "have the same text as"), 99),
        _ if differing.is_empty() => (verb("adds nothing to", "add nothing to"), 95),
        _ => (verb("is nearly the same as", "are nearly the same as"), 85),
    };
    let only = if differing.is_empty() { String::new() } else { format!("; additional lines: {}", differing.join(", ")) };
    let mut changes = vec![DreamChange::Write { path: kept.path.clone(), version: kept.version, text }];
    changes.extend(others.iter().map(|file| super::material::to_archive(file)));
    Some(DreamOperation {
        action: DreamAction::Merge,
        reason,
        why: format!("{names} {what} {}{only}", kept.name()),
        confidence,
        sources: Vec::new(),
        changes,
        diff: String::new(),
    })
}

fn normalised_lines(body: &str) -> HashSet<String> {
    body.lines().filter_map(normalised).collect()
}

/// The words of a line, to compare it; `None` if it has none.
fn normalised(line: &str) -> Option<String> {
    let words: Vec<String> = lower_case_words(line).collect();
    (!words.is_empty()).then(|| words.join(" "))
}
