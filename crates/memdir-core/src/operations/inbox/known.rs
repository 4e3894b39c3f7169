//! Memories that already say what a candidate proposes. They are named instead of proposed again, with the reason why they were not
//! recalled.

use super::{
    candidate::{Candidate, CandidateKind},
    decided::directory,
};
use crate::{
    base::{
        disk::{self, FileLock, LockWait, Replace},
        error::Result,
        path::MemoryPath,
        text,
    },
    memory::Memory,
    operations::{context::Context, read},
    recall::{RecallTable, message},
    search::analysis::Analyser,
    secrets,
    store::{Source, Store},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::{
    collections::HashSet,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The best memories that are compared with a candidate.
const COMPARED: usize = 5;
/// Bytes of the person's words that are compared.
const COMPARED_BYTES: usize = 2_000;
/// The share of a candidate's words that a memory must contain to say the same. Below it, something is new: in the sentence "deploy
/// with make ship, never by hand" a memory that only says "deploy with make ship" has 3 of 5.
const CONTAINED: f32 = 0.8;
/// The share of a candidate's pairs of neighbouring words that it must contain too: "use pnpm, not npm" has the words of "use npm, not
/// pnpm" and says the opposite.
const CONTAINED_PAIRS: f32 = 0.5;
/// A candidate with fewer words is compared with nothing: two words are in every second memory.
const MIN_WORDS: usize = 3;
/// The number of memories that are remembered; beyond it the oldest are dropped.
const MAX_KNOWN: usize = 20;
/// Bytes of the person's words that are kept with each.
const WORDS_BYTES: usize = 300;

/// A memory that already contains what a conversation would propose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownMemory {
    /// The memory.
    pub memory: String,
    /// What recall does with it if the person writes the same again.
    pub why: String,
    /// Why the candidate would have been proposed.
    pub kind: CandidateKind,
    /// What the person typed.
    pub words: String,
    /// When the evidence happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The hash of the evidence.
    pub key: String,
}

/// Splits candidates into those that are new and those that a memory of the space already contains. Records the latter.
pub(super) fn split_known<'a>(
    store: &dyn Store,
    context: &Context,
    candidates: Vec<&'a Candidate>,
    cache: Option<&Path>,
) -> Result<(Vec<&'a Candidate>, Vec<KnownMemory>)> {
    let (mut new, mut known) = (Vec::new(), Vec::new());
    let table = context.recall_table(store, cache)?;
    for candidate in candidates {
        match find(store, &table, candidate)? {
            Some(memory) => known.push(memory),
            None => new.push(candidate),
        }
    }
    if let Some(file) = file(store).filter(|_| !known.is_empty()) {
        // Nothing is lost without it: the candidate is compared again.
        let _ = record(&file, &known);
    }
    Ok((new, known))
}

/// The recorded memories, newest first. Lines that cannot be read are skipped.
pub(super) fn list(store: &dyn Store) -> Vec<KnownMemory> {
    let mut all = file(store).map(|file| read_all(&file)).unwrap_or_default();
    all.reverse();
    all.retain(|known| MemoryPath::parse(&known.memory).is_ok_and(|path| matches!(store.get(&path), Ok(Some(_)))));
    all
}

/// Finds the memory that already contains what a candidate proposes.
pub(crate) fn find(store: &dyn Store, table: &RecallTable, candidate: &Candidate) -> Result<Option<KnownMemory>> {
    // Those two are about a memory that exists.
    if candidate.kind.changes_memory() {
        return Ok(None);
    }
    let proposed = if candidate.words.trim().is_empty() { &candidate.description } else { &candidate.words };
    let proposed = text::truncate_bytes(proposed, COMPARED_BYTES);
    let mut analyser = Analyser::default();
    let mut stems =
        |text: &str| -> Vec<String> { analyser.split_words(text).into_iter().filter(|word| !word.stop).map(|word| word.stem).collect() };
    let wanted = Statement::new(proposed, stems(proposed));
    if wanted.words.len() < MIN_WORDS {
        return Ok(None);
    }
    for explained in message::explain(table, proposed, None).into_iter().take(COMPARED) {
        let path = MemoryPath::parse(&explained.name)?;
        let Some(stored) = read::if_readable(store.get(&path))? else { continue };
        let decoded = text::decode(&stored.bytes).0;
        let (memory, _) = Memory::parse(&decoded);
        let has = Statement::new(memory.body(), stems(&format!("{} {}", memory.hook(), memory.body())));
        if has.contains(&wanted) {
            return Ok(Some(KnownMemory {
                memory: explained.name.clone(),
                why: explained.verdict_text(),
                kind: candidate.kind,
                words: text::truncate_bytes(&secrets::redact(proposed.trim()), WORDS_BYTES).to_owned(),
                at: candidate.at,
                key: candidate.key.clone(),
            }));
        }
    }
    Ok(None)
}

/// The words of a text, and what a single one of them changes.
struct Statement {
    words: HashSet<String>,
    pairs: HashSet<(String, String)>,
    negations: HashSet<String>,
}

impl Statement {
    fn new(text: &str, stems: Vec<String>) -> Statement {
        let all = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').map(|word| word.to_lowercase().replace('’', "'"));
        let parts = NEGATED_PARTS.iter().filter(|part| text.contains(*part)).map(|part| (*part).to_owned());
        let negations = all.filter(|word| is_negation(word)).chain(parts).collect();
        let pairs = stems.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        Statement { pairs, words: stems.into_iter().collect(), negations }
    }

    /// Whether it contains another statement: most of its words in the same order, all of its numbers, and the same
    /// negations. A longer text may have others.
    fn contains(&self, other: &Statement) -> bool {
        let contained = other.words.intersection(&self.words).count();
        let pairs = other.pairs.intersection(&self.pairs).count();
        let has_numbers =
            other.words.iter().filter(|word| word.contains(|c: char| c.is_ascii_digit())).all(|word| self.words.contains(word));
        contained as f32 >= CONTAINED * other.words.len() as f32
            && pairs as f32 >= CONTAINED_PAIRS * other.pairs.len() as f32
            && has_numbers
            && other.negations.is_subset(&self.negations)
            && (self.negations.is_subset(&other.negations) || self.words.len() > 2 * other.words.len())
    }
}

/// Words that turn a sentence into its opposite.
const NEGATIONS: &[&str] = &[
    "not", "never", "no", "without", "cannot", "nicht", "nie", "niemals", "kein", "keine", "keinen", "ohne", "nunca", "jamás", "sin",
    "pas", "jamais", "sans", "non", "mai", "senza", "não", "sem", "niet", "nooit", "geen", "zonder", "nigdy", "bez", "не", "никогда",
    "без", "ні", "ніколи", "inte", "aldrig", "utan", "asla",
];
/// The same in scripts without spaces.
const NEGATED_PARTS: &[&str] = &["不", "别", "勿", "ない", "ません", "禁止", "마세요", "않"];

fn is_negation(word: &str) -> bool {
    word.ends_with("n't") || NEGATIONS.contains(&word)
}

fn file(store: &dyn Store) -> Option<PathBuf> {
    let mount = store.mounts().iter().find(|mount| mount.source == Source::Inbox)?;
    Some(directory(&mount.root).join("known.jsonl"))
}

fn read_all(file: &Path) -> Vec<KnownMemory> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn record(file: &Path, known: &[KnownMemory]) -> io::Result<()> {
    let before = read_all(file);
    let is_new = |one: &&KnownMemory| before.iter().all(|other| other.key != one.key);
    if !known.iter().any(|one| is_new(&one)) {
        return Ok(());
    }
    disk::create_private_dir(file.parent().unwrap_or(Path::new(".")))?;
    let _lock = FileLock::for_update(file, LockWait::BEST_EFFORT)?;
    let mut all = read_all(file);
    all.retain(|other| known.iter().all(|one| one.key != other.key));
    all.extend_from_slice(known);
    let excess = all.len().saturating_sub(MAX_KNOWN);
    let lines: Result<Vec<String>, _> = all[excess..].iter().map(serde_json::to_string).collect();
    let text: String = lines?.into_iter().map(|line| line + "\n").collect();
    disk::replace(file, Replace::DERIVED, |file| file.write_all(text.as_bytes()))
}
