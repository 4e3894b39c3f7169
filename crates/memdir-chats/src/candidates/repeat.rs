//! *repeat*: a sentence typed by the person that is a near duplicate of one typed in another conversation. Duplicates are found by
//! their words (MinHash, then a comparison of words and pairs of words), and by their vectors if there is an embedder. Linear: a
//! sentence is compared with a bounded number of others.

use super::{
    SeenChat, naming, short_words,
    typed::{has_rule_word, is_cjk, is_go_ahead, is_question, sentences, without_fillers, words},
};
use jiff::Timestamp;
use memdir_core::{
    Candidate, CandidateKind, Embedder, Kind,
    internal::{base::steps, search::embed::EmbedRole},
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Bytes of a message whose sentences count: longer ones are pasted, or templates.
const MESSAGE_BYTES: usize = 1500;
/// The number of sentences that are remembered; the oldest are dropped first.
const MAX_SENTENCES: usize = 20_000;
/// Hashes of a signature, and how many of them make a band. Two sentences that share 60 of 100 words share a band in 97 of 100 cases.
const BANDS: usize = 8;
const ROWS: usize = 2;
/// Sentences of a bucket that are compared with.
const BUCKET: usize = 32;
/// The share of words, and of words and pairs together, that near duplicates have in common.
const MIN_WORDS: f64 = 0.6;
const MIN_TOGETHER: f64 = 0.5;
/// The cosine of vectors of near duplicates with other words.
const MIN_COSINE: f32 = 0.9;
/// The conversations in which a sentence without a word of a rule is boilerplate.
const MAX_CONVERSATIONS: usize = 12;

/// Verbs that begin a task: what was asked for once is not a rule, however often it is asked for.
const TASKS: &[&str] = &[
    "run",
    "rerun",
    "fix",
    "add",
    "commit",
    "push",
    "write",
    "implement",
    "review",
    "check",
    "explain",
    "show",
    "look",
    "read",
    "update",
    "refactor",
    "create",
    "make",
    "try",
    "let's",
    "lets",
    "can",
    "could",
    "would",
    "will",
    "what",
    "why",
    "how",
    "where",
    "when",
    "who",
    "which",
    "is",
    "are",
    "do",
    "does",
    "did",
    "remove",
    "delete",
    "rename",
    "move",
    "test",
    "build",
    "deploy",
    "release",
    "continue",
    "find",
    "search",
    "list",
    "open",
    "close",
    "merge",
    "rebase",
    "finish",
    "start",
    "install",
    "upgrade",
    "debug",
    "investigate",
    "analyze",
    "analyse",
    "summarize",
    "describe",
    "tell",
    "give",
    "help",
    "change",
    "split",
    "verify",
    "carry",
    "now",
    "then",
    "next",
    "tidy",
    "clean",
    "ship",
    "undo",
    "revert",
    "put",
    "i'd",
    "i",
    "we",
    "there",
    "führe",
    "mach",
    "zeig",
    "schreib",
    "erkläre",
    "prüfe",
    "teste",
    "baue",
    "ändere",
    "füge",
    "behebe",
    "korrigiere",
    "weiter",
    "kannst",
    "erstelle",
    "ejecuta",
    "arregla",
    "añade",
    "muestra",
    "escribe",
    "explica",
    "revisa",
    "haz",
    "crea",
    "puedes",
    "corrige",
    "lance",
    "corrige",
    "ajoute",
    "montre",
    "écris",
    "explique",
    "vérifie",
    "fais",
    "crée",
    "peux",
    "relance",
    "запусти",
    "исправь",
    "добавь",
    "покажи",
    "напиши",
    "объясни",
    "проверь",
    "сделай",
    "создай",
    "можешь",
    "esegui",
    "correggi",
    "aggiungi",
    "mostra",
    "scrivi",
    "execute",
    "corrija",
    "adicione",
    "mostre",
    "escreva",
    "voer",
    "herstel",
    "toon",
    "schrijf",
    "uruchom",
    "napraw",
    "dodaj",
    "pokaż",
    "napisz",
    "çalıştır",
    "düzelt",
    "ekle",
    "göster",
    "yaz",
    "kör",
    "fixa",
    "visa",
    "skriv",
    "lägg",
];

/// Words that do not count in a comparison.
const STOP: &[&str] = &[
    "the", "a", "an", "please", "and", "so", "to", "of", "in", "we", "wir", "der", "die", "das", "la", "el", "los", "las", "le", "les",
    "мы", "is", "are", "immer",
];

/// Negations: a sentence with one is never a duplicate of one without.
const NEGATIONS: &[&str] = &[
    "not",
    "never",
    "no",
    "don't",
    "nicht",
    "nie",
    "kein",
    "keine",
    "nunca",
    "pas",
    "jamais",
    "не",
    "никогда",
    "non",
    "não",
    "niet",
    "inte",
    "aldrig",
];

/// A sentence that was typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SentenceSeen {
    pub(super) session: String,
    pub(super) text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cite: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    /// The first sentence of which it is a near duplicate, by its number; its own number if there is none.
    first: usize,
}

/// All sentences so far, with what finds duplicates among them.
#[derive(Default)]
pub(super) struct Sentences {
    pub(super) all: Vec<SentenceSeen>,
    bags: Vec<Bag>,
    buckets: HashMap<(usize, u64), Vec<usize>>,
    by_word: HashMap<String, Vec<usize>>,
}

/// The words of a sentence.
struct Bag {
    words: BTreeSet<String>,
    pairs: BTreeSet<(String, String)>,
    numbers: BTreeSet<String>,
    is_negated: bool,
}

impl Sentences {
    /// Restores the sentences of earlier runs, without those of conversations that are gone.
    pub(super) fn new(all: Vec<SentenceSeen>) -> Self {
        let mut sentences = Sentences::default();
        for seen in all.into_iter().rev().take(MAX_SENTENCES).collect::<Vec<_>>().into_iter().rev() {
            let bag = Bag::new(&seen.text);
            let first = sentences.duplicate_of(&bag, &seen.text, None).unwrap_or(sentences.all.len());
            sentences.push(SentenceSeen { first, ..seen }, bag);
        }
        sentences
    }

    /// Adds the sentences of the turns behind `after`. Returns the numbers of the first sentences of which there are new duplicates.
    pub(super) fn add(&mut self, chat: &SeenChat, after: u64, embedder: Option<&dyn Embedder>) -> BTreeSet<usize> {
        let mut changed = BTreeSet::new();
        for turn in chat.turns.iter().filter(|turn| turn.number > after && turn.text.len() <= MESSAGE_BYTES) {
            for text in sentences(&turn.text).into_iter().filter(|text| may_be_rule(text)) {
                let bag = Bag::new(text);
                let first = self.duplicate_of(&bag, text, embedder).unwrap_or(self.all.len());
                let is_other = self
                    .all
                    .get(first)
                    .is_some_and(|_| self.all.iter().skip(first).any(|seen| seen.first == first && seen.session != chat.session));
                if is_other {
                    changed.insert(first);
                }
                let seen =
                    SentenceSeen { session: chat.session.clone(), text: text.to_owned(), cite: turn.cite.clone(), at: turn.at, first };
                self.push(seen, bag);
            }
        }
        changed
    }

    /// Returns the candidate for a sentence and its duplicates, unless they are boilerplate.
    pub(super) fn candidate(&self, first: usize) -> Option<Candidate> {
        let group: Vec<&SentenceSeen> = self.all.iter().skip(first).filter(|seen| seen.first == first).collect();
        let mut sessions: Vec<String> = Vec::new();
        for seen in &group {
            if !sessions.contains(&seen.session) {
                sessions.push(seen.session.clone());
            }
        }
        let (original, last) = (group.first()?, group.last()?);
        if sessions.len() < 2 || (sessions.len() > MAX_CONVERSATIONS && !has_rule_word(&original.text)) {
            return None;
        }
        let key = naming::key("repeat", &original.text, "");
        let text = short_words(&last.text);
        Some(Candidate {
            kind: CandidateKind::Repeat,
            name: naming::name("feedback", &without_fillers(&text), &key),
            memory_type: Kind::Feedback,
            description: naming::description(&text),
            text: format!("{text}\n\nThe person said this in {} conversations.\n", sessions.len()),
            when: None,
            words: text,
            turns: group.iter().rev().take(5).filter_map(|seen| seen.cite.clone()).collect(),
            at: last.at,
            weight: (0.5 + 0.1 * sessions.len() as f32).min(0.95),
            sessions,
            key,
        })
    }

    fn push(&mut self, seen: SentenceSeen, bag: Bag) {
        let number = self.all.len();
        for (band, hash) in bands(&bag).into_iter().enumerate() {
            let bucket = self.buckets.entry((band, hash)).or_default();
            if bucket.len() < BUCKET {
                bucket.push(number);
            }
        }
        for word in &bag.words {
            let places = self.by_word.entry(word.clone()).or_default();
            // A word of many sentences finds nothing.
            if places.len() <= BUCKET {
                places.push(number);
            }
        }
        self.all.push(seen);
        self.bags.push(bag);
    }

    /// Returns the first sentence of which this one is a near duplicate.
    fn duplicate_of(&self, bag: &Bag, text: &str, embedder: Option<&dyn Embedder>) -> Option<usize> {
        let near: BTreeSet<usize> =
            bands(bag).into_iter().enumerate().filter_map(|band| self.buckets.get(&band)).flatten().copied().collect();
        steps::count(near.len() * bag.words.len());
        if let Some(found) = near.iter().find(|&&other| bag.is_near(&self.bags[other])) {
            return Some(self.all[*found].first);
        }
        self.duplicate_by_vector(bag, text, embedder.filter(|embedder| embedder.is_instant() && embedder.understands(text))?)
    }

    /// Compares vectors with those of sentences that share a rare word.
    fn duplicate_by_vector(&self, bag: &Bag, text: &str, embedder: &dyn Embedder) -> Option<usize> {
        let rare = bag.words.iter().filter_map(|word| self.by_word.get(word)).filter(|places| places.len() < BUCKET);
        let others: Vec<usize> = rare.flatten().copied().collect::<BTreeSet<_>>().into_iter().take(BUCKET).collect();
        let others: Vec<usize> = others.into_iter().filter(|&other| bag.may_equal(&self.bags[other])).collect();
        let mut texts = vec![text];
        texts.extend(others.iter().map(|&other| self.all[other].text.as_str()));
        if texts.len() < 2 {
            return None;
        }
        let vectors = embedder.embed(EmbedRole::Passage, &texts).ok()?;
        let own = vectors.first()?;
        let best =
            vectors[1..].iter().zip(&others).map(|(vector, &other)| (own.cosine(vector), other)).max_by(|a, b| a.0.total_cmp(&b.0))?;
        (best.0 >= MIN_COSINE).then(|| self.all[best.1].first)
    }
}

impl Bag {
    fn new(text: &str) -> Bag {
        let all = words(&without_fillers(text).replace("do not", "don't"));
        let kept: Vec<String> = all.into_iter().filter(|word| !STOP.contains(&word.as_str())).take(60).collect();
        steps::count(text.len());
        Bag {
            pairs: kept.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect(),
            numbers: kept.iter().filter(|word| word.chars().any(|c| c.is_ascii_digit())).cloned().collect(),
            is_negated: kept.iter().any(|word| NEGATIONS.contains(&word.as_str())),
            words: kept.into_iter().collect(),
        }
    }

    /// Whether two sentences agree in what a single word changes.
    fn may_equal(&self, other: &Bag) -> bool {
        self.numbers == other.numbers && self.is_negated == other.is_negated
    }

    fn is_near(&self, other: &Bag) -> bool {
        let words = jaccard(&self.words, &other.words);
        self.may_equal(other) && words >= MIN_WORDS && (words + jaccard(&self.pairs, &other.pairs)) / 2.0 >= MIN_TOGETHER
    }
}

fn jaccard<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

/// Returns the hash of each band of the MinHash signature.
fn bands(bag: &Bag) -> Vec<u64> {
    let hashes: Vec<u64> = bag.words.iter().map(|word| crate::facts::digest(word)).collect();
    let smallest = |seed: u64| hashes.iter().map(|hash| mix(hash ^ mix(seed))).min().unwrap_or(seed);
    let signature: Vec<u64> = (1..=(BANDS * ROWS) as u64).map(smallest).collect();
    signature.chunks(ROWS).map(|rows| rows.iter().fold(0, |hash, row| mix(hash ^ row))).collect()
}

/// Mixes the bits of a number (the finalizer of SplitMix64).
fn mix(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Whether a sentence may be a rule or a fact: long enough, no question, no task, no thanks.
fn may_be_rule(text: &str) -> bool {
    let all = words(text);
    let distinct: HashSet<&String> = all.iter().collect();
    let is_long =
        distinct.len() >= 4 && text.chars().filter(|c| c.is_alphanumeric()).count() >= if text.chars().any(is_cjk) { 10 } else { 16 };
    if !is_long || is_question(text) || is_go_ahead(text) {
        return false;
    }
    let has_rule = has_rule_word(text);
    let plain = without_fillers(text);
    let first = plain.split(|c: char| !c.is_alphanumeric() && c != '\'').next().unwrap_or_default();
    // Scripts without spaces have no first word, so a rule must say that it is one.
    if text.chars().any(is_cjk) { has_rule } else { has_rule || !TASKS.contains(&first) }
}
