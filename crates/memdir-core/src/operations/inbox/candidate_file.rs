//! The format of a candidate's file: a memory with additional fields for the evidence, one line each. Pure.

use super::{
    InboxEntry, REJECTED,
    candidate::{Candidate, CandidateKind},
};
use crate::{
    base::{
        path::{MemoryPath, strip_md},
        text,
    },
    memory::{self, CANDIDATE_FIELDS, Memory, compose_yaml, yaml_text},
    recall::when,
    secrets,
    store::{
        Stored,
        mounts::{LOGS_FOLDER, TESTS_FILE},
    },
};
use jiff::Timestamp;
use serde_json::json;

/// Bytes of the person's words that a file keeps. A longer message is a pasted text.
const WORDS_BYTES: usize = 2_000;
/// Bytes of the person's words in the `source` of an accepted memory.
const SOURCE_WORDS_BYTES: usize = 300;
/// Bytes of a proposed text: a note and not a document.
const TEXT_BYTES: usize = 8_000;
/// Bytes of a proposed description.
const DESCRIPTION_BYTES: usize = 300;
/// Cited turns and conversations that a file keeps, of each the first.
const CITATIONS: usize = 8;
/// Bytes of one of them, and of a key.
const CITATION_BYTES: usize = 200;

/// The file of a candidate, with every secret redacted and every part bounded.
pub(super) fn to_bytes(candidate: &Candidate, now: Timestamp) -> Vec<u8> {
    let list = |items: &[String]| {
        let items: Vec<String> = items.iter().take(CITATIONS).map(|item| bounded_line(item, CITATION_BYTES)).collect();
        json!(items).to_string()
    };
    // A rule that cannot be written is omitted: the text is worth more than its condition.
    let when = candidate.when.as_ref().and_then(|map| when::to_yaml(map).ok().flatten());
    let mut fields = vec![
        ("description", yaml_text(&bounded_line(&candidate.description, DESCRIPTION_BYTES))),
        ("type", candidate.memory_type.as_str().to_owned()),
    ];
    fields.extend(when.map(|when| ("when", when)));
    fields.push(("candidate", candidate.kind.as_str().to_owned()));
    if candidate.kind.changes_memory() {
        fields.push(("changes", yaml_text(&bounded_line(&candidate.name, CITATION_BYTES))));
    }
    fields.push(("words", yaml_text(&bounded(candidate.words.trim(), WORDS_BYTES))));
    fields.push(("turns", list(&candidate.turns)));
    fields.push(("conversations", list(&candidate.sessions)));
    fields.extend(candidate.at.map(|at| ("happened", at.to_string())));
    fields.push(("proposed", now.to_string()));
    fields.push(("weight", format!("{:.3}", clamped(candidate.weight))));
    fields.push(("key", yaml_text(&bounded_line(&candidate.key, CITATION_BYTES))));
    if !candidate.other_keys.is_empty() {
        fields.push(("other_keys", list(&candidate.other_keys)));
    }
    let body = bounded(candidate.text.trim(), TEXT_BYTES);
    compose_yaml(fields.into_iter(), &format!("{body}\n")).into_bytes()
}

/// The file of an open candidate with the evidence of a later proposal, or `None` if that adds nothing. What the person changed in
/// the file stays.
pub(super) fn with_evidence(decoded: &str, entry: &InboxEntry, candidate: &Candidate) -> Option<String> {
    let (turns, sessions) = (joined(&entry.turns, &candidate.turns), joined(&entry.sessions, &candidate.sessions));
    if (&turns, &sessions) == (&entry.turns, &entry.sessions) {
        return None;
    }
    let set = |memory: Memory, key: &str, yaml: &str| Memory::parse(&memory.with_yaml(key, Some(yaml))).0;
    let (memory, _) = Memory::parse(decoded);
    let memory = set(memory, "turns", &json!(turns).to_string());
    let memory = set(memory, "conversations", &json!(sessions).to_string());
    let memory = match candidate.at.max(entry.at) {
        Some(at) => set(memory, "happened", &at.to_string()),
        None => memory,
    };
    let weight = clamped(candidate.weight).max(entry.weight);
    Some(set(memory, "weight", &format!("{weight:.3}")).text().to_owned())
}

/// The first citation and the newest others, as many as a file keeps.
fn joined(old: &[String], new: &[String]) -> Vec<String> {
    let mut all = old.to_vec();
    for item in new.iter().map(|item| bounded_line(item, CITATION_BYTES)) {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    if all.len() > CITATIONS {
        all.drain(1..=all.len() - CITATIONS);
    }
    all
}

/// The first field of the evidence that a new text of a candidate changes.
pub(super) fn changed_evidence(old: &[u8], new: &[u8]) -> Option<&'static str> {
    let (old, new) = (text::decode(old).0, text::decode(new).0);
    let (old, new) = (Memory::parse(&old).0, Memory::parse(&new).0);
    CANDIDATE_FIELDS.into_iter().find(|key| old.raw(key) != new.raw(key))
}

/// The text of a candidate as a memory: its evidence is in `source`, and the fields of the inbox are gone.
pub(super) fn to_memory(decoded: &str, entry: &InboxEntry) -> String {
    let (memory, _) = Memory::parse(decoded);
    if memory.frontmatter_lines() == 0 || memory.field("candidate").is_none() {
        return decoded.to_owned();
    }
    let set = |memory: Memory, key: &str, value: Option<&str>| Memory::parse(&memory.with_field(key, value)).0;
    let memory = set(memory, "source", Some(&source(entry)));
    CANDIDATE_FIELDS.into_iter().fold(memory, |memory, key| set(memory, key, None)).text().to_owned()
}

/// The evidence on one line: why it was proposed, where, when, and the words of the person.
pub(super) fn source(entry: &InboxEntry) -> String {
    let mut source = entry.kind.map_or("candidate", CandidateKind::as_str).to_owned();
    if let Some(conversation) = entry.sessions.first() {
        source.push_str(&format!(" in {conversation}"));
        let more = entry.sessions.len() - 1;
        if more > 0 {
            source.push_str(&format!(" and {more} more"));
        }
    }
    if let Some(at) = entry.at {
        source.push_str(&format!(", {}", at.strftime("%Y-%m-%d")));
    }
    if !entry.words.is_empty() {
        source.push_str(&format!(": \"{}\"", bounded_line(&entry.words, SOURCE_WORDS_BYTES)));
    }
    if !entry.turns.is_empty() {
        source.push_str(&format!(" ({})", entry.turns.join(", ")));
    }
    source
}

impl InboxEntry {
    /// Reads the file of a candidate. A field that cannot be read counts as missing.
    pub(super) fn parse(prefix: &str, stored: &Stored) -> InboxEntry {
        let (decoded, _) = text::decode(&stored.bytes);
        let (memory, _) = Memory::parse(&decoded);
        let field = |key: &str| memory.field(key).unwrap_or_default().to_owned();
        let list = |key: &str| -> Vec<String> { memory.raw(key).and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default() };
        let relative = stored.path.as_str().strip_prefix(prefix).unwrap_or(stored.path.as_str()).trim_start_matches('/');
        let below = relative.strip_prefix(REJECTED).and_then(|rest| rest.strip_prefix('/'));
        let proposes = match memory.field("changes") {
            Some(changed) => changed.to_owned(),
            None => strip_md(below.unwrap_or(relative)).to_owned(),
        };
        InboxEntry {
            name: stored.path.name().to_owned(),
            proposes,
            kind: CandidateKind::ALL.into_iter().find(|kind| memory.field("candidate") == Some(kind.as_str())),
            memory_type: memory.kind(),
            description: memory.hook(),
            when: memory.when().map(str::to_owned),
            text: memory.body().to_owned(),
            words: field("words"),
            turns: list("turns"),
            sessions: list("conversations"),
            at: memory.field("happened").and_then(memory::read_time),
            proposed: memory.field("proposed").and_then(memory::read_time).unwrap_or_else(|| stored.stamp.modified()),
            weight: clamped(field("weight").parse().unwrap_or_default()),
            key: field("key"),
            other_keys: list("other_keys"),
            rejected: below.is_some(),
        }
    }
}

/// The path of a candidate in the inbox, without its prefix. A name that is not valid there becomes one made of kind and key.
pub(super) fn relative_path(candidate: &Candidate) -> Option<MemoryPath> {
    let name = secrets::redact(&candidate.name);
    let usable = |name: &str| {
        let path = MemoryPath::parse(name.trim_end_matches(".md")).ok()?;
        let is_reserved = matches!(path.parts().next(), Some(REJECTED | LOGS_FOLDER)) || path.parts().any(|part| part.starts_with('.'));
        (!is_reserved && path.with_md().as_str() != TESTS_FILE).then_some(path)
    };
    let key: String = candidate.key.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    let made = || format!("notes/{}-{key}", candidate.kind.as_str());
    usable(&name).or_else(|| usable(&made())).map(|path| path.with_md())
}

/// A weight within its range.
pub(super) fn clamped(weight: f32) -> f32 {
    if weight.is_finite() { weight.clamp(0.0, 1.0) } else { 0.0 }
}

fn bounded(text: &str, bytes: usize) -> String {
    let redacted = secrets::redact(text);
    let cut = text::truncate_bytes(&redacted, bytes);
    if cut.len() < redacted.len() { format!("{} …", cut.trim_end()) } else { cut.to_owned() }
}

fn bounded_line(text: &str, bytes: usize) -> String {
    bounded(&text::one_line(text), bytes)
}
