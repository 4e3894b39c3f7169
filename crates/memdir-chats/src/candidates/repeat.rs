//! *repeat*: a sentence typed by the person that is a near duplicate of one typed in another conversation. Duplicates are found by
//! their words (MinHash, then a comparison of words and pairs of words), and by their vectors if there is an embedder. Linear: a
//! sentence is compared with a bounded number of others.

use super::{
    naming,
    read_chat::ReadChat,
    rules::{is_continuation, is_rule},
    sentence::Sentence,
    short_words,
    typed::{is_cjk, split_words},
    wording::Wording,
};
use jiff::Timestamp;
use memdir_core::internal::base::sort::SharedSort as _;
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
/// The cosine of vectors of near duplicates with other words.
const MIN_COSINE: f32 = 0.9;

/// A sentence that was typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SentenceSeen {
    pub(super) session: String,
    pub(super) text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cite: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    /// The group of near duplicates that it belongs to: the digest of its first sentence.
    group: u64,
}

/// All sentences so far, with what finds duplicates among them.
#[derive(Default)]
pub(super) struct Sentences {
    all: Vec<SentenceSeen>,
    wordings: Vec<Wording>,
    buckets: HashMap<(usize, u64), Vec<usize>>,
    by_word: HashMap<String, Vec<usize>>,
    groups: HashMap<u64, Vec<usize>>,
    /// Conversations of which nothing is to be remembered.
    forgotten: HashSet<String>,
}

impl Sentences {
    /// Restores the sentences of earlier runs.
    pub(super) fn new(mut all: Vec<SentenceSeen>) -> Self {
        all.drain(..all.len().saturating_sub(MAX_SENTENCES));
        let mut sentences = Sentences::default();
        for seen in all {
            let wording = Wording::new(&Sentence::new(&seen.text));
            sentences.push(seen, wording);
        }
        sentences
    }

    /// Adds the sentences of the turns after `after`. Returns the groups that have a new sentence of another conversation.
    pub(super) fn add(&mut self, read: &ReadChat<'_>, after: u64, embedder: Option<&dyn Embedder>) -> BTreeSet<u64> {
        let mut changed = BTreeSet::new();
        let chat = read.chat;
        for (_, message) in read.turns_after(after).filter(|(_, message)| message.text.len() <= MESSAGE_BYTES) {
            for sentence in message.sentences.iter().filter(|sentence| may_be_rule(sentence)) {
                let (text, wording) = (sentence.text, Wording::new(sentence));
                let group =
                    self.duplicate_of(&wording, text, embedder).unwrap_or_else(|| crate::facts::digest(&split_words(text).join(" ")));
                if self.members(group).any(|seen| seen.session != chat.session) {
                    changed.insert(group);
                }
                // A turn may be looked at again: it was not complete, or the conversation was rewound.
                if !self.members(group).any(|seen| seen.session == chat.session && seen.text == text) {
                    let (session, text, cite) = (chat.session.clone(), text.to_owned(), message.turn.cite.clone());
                    self.push(SentenceSeen { session, text, cite, at: message.turn.at, group }, wording);
                }
            }
        }
        changed
    }

    /// Forgets the sentences of a conversation.
    pub(super) fn forget(&mut self, session: &str) {
        self.forgotten.insert(session.to_owned());
    }

    /// Returns the sentences for a later run.
    pub(super) fn into_seen(self) -> Vec<SentenceSeen> {
        let Sentences { mut all, forgotten, .. } = self;
        all.retain(|seen| !forgotten.contains(&seen.session));
        all
    }

    fn members(&self, group: u64) -> impl Iterator<Item = &SentenceSeen> {
        self.numbers(group).map(move |number| &self.all[number])
    }

    fn numbers(&self, group: u64) -> impl Iterator<Item = usize> {
        let numbers = self.groups.get(&group).into_iter().flatten().copied();
        numbers.filter(move |&number| !self.forgotten.contains(&self.all[number].session))
    }

    /// Returns the candidate for a group: the newest wording, unless a later sentence contradicts it.
    pub(super) fn candidate(&self, group: u64) -> Option<Candidate> {
        let mut numbers: Vec<usize> = self.numbers(group).collect();
        numbers.shared_sort_by_key(|&number| self.all[number].at);
        let newest = *numbers.last()?;
        let id = group;
        let group: Vec<&SentenceSeen> = numbers.iter().map(|&number| &self.all[number]).collect();
        let mut sessions: Vec<String> = Vec::new();
        for seen in &group {
            if !sessions.contains(&seen.session) {
                sessions.push(seen.session.clone());
            }
        }
        let last = group.last()?;
        if sessions.len() < 2 || self.is_revoked(newest) {
            return None;
        }
        let key = group_key(id);
        let text = short_words(&last.text);
        Some(Candidate {
            kind: CandidateKind::Repeat,
            name: naming::name("feedback", Sentence::new(&text).rest, &key),
            memory_type: Kind::Feedback,
            description: naming::description(&text),
            text: format!("{text}\n\nThe user said this in {} conversations.\n", sessions.len()),
            when: None,
            words: text,
            turns: group.iter().rev().take(5).filter_map(|seen| seen.cite.clone()).collect(),
            at: last.at,
            weight: (0.5 + 0.1 * sessions.len() as f32).min(0.95),
            other_keys: other_keys(&group, &key),
            sessions,
            key,
        })
    }

    /// Whether a later sentence says the opposite in almost the same words.
    fn is_revoked(&self, number: usize) -> bool {
        let wording = &self.wordings[number];
        self.near(wording).into_iter().any(|other| {
            let is_later = self.all[other].at > self.all[number].at && !self.forgotten.contains(&self.all[other].session);
            is_later && wording.is_alike(&self.wordings[other]) && !wording.may_equal(&self.wordings[other])
        })
    }

    fn push(&mut self, seen: SentenceSeen, wording: Wording) {
        let number = self.all.len();
        for (band, hash) in bands(&wording).into_iter().enumerate() {
            let bucket = self.buckets.entry((band, hash)).or_default();
            if bucket.len() < BUCKET {
                bucket.push(number);
            }
        }
        for word in &wording.words {
            let places = self.by_word.entry(word.clone()).or_default();
            // A word of many sentences finds nothing.
            if places.len() <= BUCKET {
                places.push(number);
            }
        }
        self.groups.entry(seen.group).or_default().push(number);
        self.all.push(seen);
        self.wordings.push(wording);
    }

    /// Returns sentences that may be near duplicates.
    fn near(&self, wording: &Wording) -> BTreeSet<usize> {
        let near: BTreeSet<usize> =
            bands(wording).into_iter().enumerate().filter_map(|band| self.buckets.get(&band)).flatten().copied().collect();
        steps::count(near.len() * wording.words.len());
        near
    }

    /// Returns the group of a near duplicate.
    fn duplicate_of(&self, wording: &Wording, text: &str, embedder: Option<&dyn Embedder>) -> Option<u64> {
        let is_near = |other: &usize| wording.is_alike(&self.wordings[*other]) && wording.may_equal(&self.wordings[*other]);
        if let Some(found) = self.near(wording).into_iter().find(is_near) {
            return Some(self.all[found].group);
        }
        self.duplicate_by_vector(wording, text, embedder.filter(|embedder| embedder.is_instant() && embedder.understands(text))?)
    }

    /// Compares vectors with those of sentences that share a rare word.
    fn duplicate_by_vector(&self, wording: &Wording, text: &str, embedder: &dyn Embedder) -> Option<u64> {
        let rare = wording.words.iter().filter_map(|word| self.by_word.get(word)).filter(|places| places.len() < BUCKET);
        let others: Vec<usize> = rare.flatten().copied().collect::<BTreeSet<_>>().into_iter().take(BUCKET).collect();
        let others: Vec<usize> = others.into_iter().filter(|&other| wording.may_equal(&self.wordings[other])).collect();
        let mut texts = vec![text];
        texts.extend(others.iter().map(|&other| self.all[other].text.as_str()));
        if texts.len() < 2 {
            return None;
        }
        let vectors = embedder.embed(EmbedRole::Passage, &texts).ok()?;
        let own = vectors.first()?;
        let best =
            vectors[1..].iter().zip(&others).map(|(vector, &other)| (own.cosine(vector), other)).max_by(|a, b| a.0.total_cmp(&b.0))?;
        (best.0 >= MIN_COSINE).then(|| self.all[best.1].group)
    }
}

/// Returns the key of a group. It stays the same when conversations are added, even older ones, and when the first is deleted.
fn group_key(group: u64) -> String {
    naming::key("repeat", "", &group.to_string())
}

/// Returns the keys that the group would have with another first sentence: which one is read first depends on what is archived. Also
/// those of earlier versions, which were made of the words.
fn other_keys(group: &[&SentenceSeen], key: &str) -> Vec<String> {
    let wordings: BTreeSet<String> = group.iter().map(|seen| split_words(&seen.text).join(" ")).collect();
    let keys = wordings.iter().flat_map(|text| [group_key(crate::facts::digest(text)), naming::key("repeat", text, "")]);
    keys.filter(|other| other != key).collect()
}

/// Returns the hash of each band of the MinHash signature.
fn bands(wording: &Wording) -> Vec<u64> {
    let hashes: Vec<u64> = wording.words.iter().map(|word| crate::facts::digest(word)).collect();
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

/// Whether a sentence may be a rule: long enough to be recognized again, and not about this moment only.
fn may_be_rule(sentence: &Sentence<'_>) -> bool {
    let text = sentence.text;
    let min_letters = if text.chars().any(is_cjk) { 10 } else { 16 };
    let is_long = text.chars().filter(|c| c.is_alphanumeric()).count() >= min_letters;
    is_long && is_rule(sentence) && !is_continuation(sentence, std::slice::from_ref(sentence)) && has_words(text)
}

/// Whether a text has enough different words to be recognized again.
fn has_words(text: &str) -> bool {
    split_words(text).into_iter().collect::<HashSet<String>>().len() >= 4
}
