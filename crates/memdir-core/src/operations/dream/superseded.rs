//! Finds memories that another one replaces: by `supersedes`, `superseded_by` or `status: deprecated` in the frontmatter, or because a
//! newer memory says that something was replaced.

use super::{
    DreamAction, DreamChange, DreamOperation, DreamReason,
    material::{Material, MaterialFile, to_archive},
    words::{self, TokenClass},
};
use crate::{
    base::path::MemoryPath,
    memory::{
        succession::{SuccessionFields, Successions},
        validity::MemoryStatus,
    },
};
use jiff::Timestamp;
use std::collections::HashMap;

/// Days after which a deprecated memory that nothing replaces is archived.
const DEPRECATED_DAYS: i64 = 90;

/// Returns the proposed archives and updates.
pub(super) fn find(material: &Material, now: Timestamp) -> Vec<DreamOperation> {
    let mut out = declared(material, now);
    out.extend(replaced_terms(material));
    out
}

/// What the frontmatter declares.
fn declared(material: &Material, now: Timestamp) -> Vec<DreamOperation> {
    let successions = successions(material);
    let by_path: HashMap<&MemoryPath, &MaterialFile> = material.files.iter().map(|file| (&file.path, file)).collect();
    let mut out = Vec::new();
    for file in &material.files {
        if let Some(new) = successions.successor(&file.path).and_then(|path| by_path.get(path)) {
            out.push(archive(file, format!("is superseded by {}", new.name()), 95, Some(new)));
        } else if file.validity.status == Some(MemoryStatus::Deprecated) && crate::base::time::age_days(now, file.at) >= DEPRECATED_DAYS {
            out.push(archive(file, format!("is deprecated and has not changed since {}", file.day()), 70, None));
        }
    }
    out
}

/// Notes about memories that replace each other, of which none is outdated.
pub(super) fn circles(material: &Material) -> Option<String> {
    let successions = successions(material);
    let names: Vec<&str> =
        material.files.iter().filter(|file| successions.is_circular(&file.path)).map(MaterialFile::name).take(5).collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("circular `supersedes` or `superseded_by` fields: {names}; these memories are not archived until you correct the fields")
    })
}

/// Which memory replaces which, by their names in one mount.
fn successions(material: &Material) -> Successions {
    let fields = material.files.iter().filter(|file| !file.validity.supersedes.is_empty() || !file.validity.superseded_by.is_empty());
    let fields: Vec<SuccessionFields> = fields
        .map(|file| SuccessionFields {
            path: file.path.clone(),
            supersedes: file.validity.supersedes.clone(),
            superseded_by: file.validity.superseded_by.clone(),
        })
        .collect();
    if fields.is_empty() {
        return Successions::default();
    }
    let prefix_of: HashMap<&MemoryPath, &str> = material.files.iter().map(|file| (&file.path, file.prefix.as_str())).collect();
    Successions::among(&fields, material.files.iter().map(|file| &file.path), &|path| prefix_of.get(path).copied())
}

fn archive(file: &MaterialFile, why: String, confidence: u8, source: Option<&MaterialFile>) -> DreamOperation {
    DreamOperation {
        action: DreamAction::Archive,
        reason: DreamReason::Superseded,
        why: format!("{} {why}", file.name()),
        confidence,
        sources: source.map(|file| (file.path.clone(), file.version)).into_iter().collect(),
        changes: vec![to_archive(file)],
        diff: String::new(),
    }
}

/// Verbs that say that one thing took the place of another: `moved from X to Y`, `replaced X with Y`.
const REPLACING: [(&str, &str, &str); 6] = [
    ("mov", "from", "to"),
    ("migrat", "from", "to"),
    ("switch", "from", "to"),
    ("replac", "", "with"),
    ("replac", "", "by"),
    ("chang", "from", "to"),
];

/// Older memories that name what a newer one says was replaced.
fn replaced_terms(material: &Material) -> Vec<DreamOperation> {
    let mut replaced: HashMap<(&str, String), (&MaterialFile, String, String)> = HashMap::new();
    for file in &material.files {
        for (_, source) in words::sources(file.memory.body()).filter(|(_, source)| may_replace(source)) {
            if let Some((old, new)) = replacement(source) {
                replaced.entry((file.prefix.as_str(), old)).or_insert((file, new, source.to_owned()));
            }
        }
    }
    if replaced.is_empty() {
        return Vec::new();
    }
    material.files.iter().filter_map(|file| outdated(file, &replaced)).collect()
}

/// Whether a sentence has one of the verbs, so that it is worth splitting into words.
fn may_replace(source: &str) -> bool {
    let begins =
        |word: &str, verb: &str| word.as_bytes().get(..verb.len()).is_some_and(|start| start.eq_ignore_ascii_case(verb.as_bytes()));
    let mut words = source.split_whitespace().map(|word| word.trim_start_matches(|c: char| !c.is_alphanumeric()));
    words.any(|word| REPLACING.iter().any(|(verb, ..)| begins(word, verb)))
}

/// The name of what was replaced, and of what replaced it, in lower case.
fn replacement(sentence: &str) -> Option<(String, String)> {
    let tokens = words::tokens(sentence);
    let at = |n: usize| tokens.get(n).map_or("", |token| token.text.as_str());
    for (n, token) in tokens.iter().enumerate() {
        for (verb, from, to) in REPLACING {
            let shift = usize::from(!from.is_empty());
            if token.text.starts_with(verb) && (from.is_empty() || at(n + 1) == from) && at(n + 2 + shift) == to {
                let (old, new) = (tokens.get(n + 1 + shift)?, tokens.get(n + 3 + shift)?);
                let is_term = |class| matches!(class, TokenClass::Name);
                return (is_term(old.class) && is_term(new.class)).then(|| (old.text.clone(), new.text.clone()));
            }
        }
    }
    None
}

fn outdated(file: &MaterialFile, replaced: &HashMap<(&str, String), (&MaterialFile, String, String)>) -> Option<DreamOperation> {
    for sentence in file.sentences() {
        for token in sentence.tokens.iter().filter(|token| token.class == TokenClass::Name) {
            let Some((newer, new, statement)) = replaced.get(&(file.prefix.as_str(), token.text.clone())) else { continue };
            let mentions_new = sentence.tokens.iter().any(|other| other.text == *new);
            let is_past =
                sentence.tokens.iter().any(|other| matches!(other.text.as_str(), "was" | "were" | "had" | "old" | "former" | "previously"));
            // The sentence must state how things are now, and share a further word with the replacement.
            let shared = sentence
                .tokens
                .iter()
                .filter(|other| other.class == TokenClass::Word && words::tokens(statement).iter().any(|word| word.text == other.text))
                .count();
            if newer.path == file.path || newer.at <= file.at || mentions_new || is_past || shared == 0 {
                continue;
            }
            let mut lines: Vec<String> = file.memory.body().split_inclusive('\n').map(str::to_owned).collect();
            let line = lines.get_mut(sentence.line)?;
            let end = line.trim_end().len();
            line.insert_str(
                end,
                &format!(" (Superseded on {} by [[{}]]: {}.)", newer.day(), newer.name(), statement.trim_end_matches('.')),
            );
            return Some(DreamOperation {
                action: DreamAction::Update,
                reason: DreamReason::Superseded,
                why: format!("{} says {:?}; {} is newer and says {statement:?}", file.name(), sentence.source, newer.name()),
                confidence: 55,
                sources: vec![(newer.path.clone(), newer.version)],
                changes: vec![DreamChange::Write {
                    path: file.path.clone(),
                    version: file.version,
                    text: file.memory.with_body(&lines.concat()),
                }],
                diff: String::new(),
            });
        }
    }
    None
}
