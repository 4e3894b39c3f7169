//! What a whole message is about. A message is not a question: each of its sentences asks with its rarest known words, and the
//! best answer of all of them counts.

use super::{Search, Searcher, find::Found};
use crate::{
    day::NamedTime,
    error::Result,
    index::{Ask, View},
    path::MemoryPath,
    query::Query,
    rank,
    recall::{self, Question, Word},
    store::{Source, Store},
};
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, PoisonError},
};

/// How much a word that no memory knows counts against a sentence, beside one that some memory knows. At 1 a sentence with two
/// names nobody stored would drown; at 0 one known word in a sentence about something else would be a perfect match.
const UNKNOWN: f32 = 0.75;
/// How much an everyday word counts against a sentence that is about something. Little, so that a question may be polite, but
/// many of them around one chance word are small talk.
const EVERYDAY: f32 = 0.2;
/// The share of a sentence that must be met in a memory that is brought unasked, and how near in meaning it must be then: less
/// of the one needs more of the other. Far more than for a search, since a message has many sentences, each of which may meet
/// something by chance, and nobody asked. Measured with planted questions and small talk, among planted notes alone and among
/// fifty real files: below 0.4 chance brings something, above 0.5 questions in other words stay without an answer.
const SHARE: f32 = 0.45;
const NEARNESS: f32 = 0.6;
/// The same for a sentence of everyday words alone: it must be met nearly whole.
const EVERYDAY_SHARE: f32 = 1.0;
/// The least cosine, where there is one: words that are the same by chance mean something else.
const LEAST_COSINE: f32 = 0.2;
/// Candidates of one sentence that are looked at.
const PER_SENTENCE: usize = 20;

/// A memory that a message is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Met {
    /// The memory.
    pub path: MemoryPath,
    /// Strength of the best match of any sentence, 0 to 1.
    pub score: f32,
    /// The first line of what matched best.
    pub first: u32,
    /// The last line of what matched best.
    pub last: u32,
}

impl Searcher {
    /// The memories a message is about, best first, each once. Past conversations are not among them.
    pub fn about(&self, store: &dyn Store, message: &str) -> Result<Vec<Met>> {
        let views = self.views(store)?;
        let units: u64 = views.iter().map(|view| view.totals().units).sum();
        let df = self.frequencies(&views, message)?;
        let mut known = |stem: &str| df.get(stem).copied().unwrap_or(0);
        let questions = recall::questions(message, units, &mut |sentence| self.plain_words(sentence), &mut known);
        let search = Search { source: Some(Source::Memory), ..Search::new("") };
        let mut best: HashMap<(usize, String), Met> = HashMap::new();
        for question in &questions {
            let found = self.find_query(&views, &search, self.query_of(question), &[])?;
            let mass = rank::mass(found.counts(Source::Memory)) + self.beside(question, units, &df);
            let share = if question.everyday { EVERYDAY_SHARE } else { SHARE };
            self.meet(&found, mass, share, &mut best)?;
        }
        let mut all: Vec<Met> = best.into_values().collect();
        all.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
        Ok(all)
    }

    fn meet(&self, found: &Found, mass: f32, share: f32, best: &mut HashMap<(usize, String), Met>) -> Result<()> {
        let needed = share + NEARNESS * found.scale.cosine;
        for ranked in found.ranked.iter().take(PER_SENTENCE) {
            let candidate = &ranked.candidate;
            let sum = rank::sum(&candidate.parts, candidate.assistant, mass, candidate.cosine, found.scale);
            let far = candidate.cosine.is_some_and(|cosine| cosine < LEAST_COSINE);
            let score = rank::score(&candidate.parts, candidate.assistant, mass, candidate.cosine, found.scale);
            let key = (ranked.mount, candidate.path.clone());
            if sum < needed || far || best.get(&key).is_some_and(|met| met.score >= score) {
                continue;
            }
            let path = MemoryPath::parse(&candidate.path)?.prefixed(&self.mounts[ranked.mount].prefix);
            best.insert(key, Met { path, score, first: candidate.first, last: candidate.last });
        }
        Ok(())
    }

    /// What the words of a sentence that are not asked for weigh against it: those that no memory knows, and everyday ones.
    fn beside(&self, question: &Question<'_>, units: u64, df: &HashMap<String, u64>) -> f32 {
        let mut seen = HashSet::new();
        let words = self.plain_words(question.sentence).into_iter().filter(|word| !word.stop && seen.insert(word.stem.clone()));
        let weight = |word: Word| {
            let holding = df.get(&word.stem).copied().unwrap_or(0);
            match (word.everyday == question.everyday, holding) {
                (true, 0) => UNKNOWN * rank::perfect(rank::idf(units, 0)),
                (true, _) => 0.0,
                (false, _) => EVERYDAY * rank::perfect(rank::idf(units, holding)),
            }
        };
        words.map(weight).sum()
    }

    fn plain_words(&self, text: &str) -> Vec<Word> {
        let mut analyser = self.analyser.lock().unwrap_or_else(PoisonError::into_inner);
        analyser
            .words(text)
            .into_iter()
            .map(|word| Word { everyday: recall::is_everyday(&word.stem), stem: word.stem, stop: word.stop })
            .collect()
    }

    /// In how many units each word of the message occurs: one look-up for all of them.
    fn frequencies(&self, views: &[Arc<dyn View>], message: &str) -> Result<HashMap<String, u64>> {
        let mut terms: Vec<String> = self.plain_words(message).into_iter().filter(|word| !word.stop).map(|word| word.stem).collect();
        terms.sort_unstable();
        terms.dedup();
        let ask = Ask {
            terms: &terms,
            codes: &[],
            pairs: &[],
            without: &[],
            must: &[],
            time: NamedTime::default(),
            vector: None,
            files: None,
            since: None,
        };
        let mut counted: HashMap<String, u64> = HashMap::new();
        for view in views.iter().filter(|view| view.totals().units > 0) {
            for (term, count) in terms.iter().zip(&view.ask(&ask)?.counts().terms) {
                *counted.entry(term.clone()).or_default() += count.body.max(count.title).max(count.code);
            }
        }
        Ok(counted)
    }

    fn query_of(&self, question: &Question<'_>) -> Query {
        let mut analyser = self.analyser.lock().unwrap_or_else(PoisonError::into_inner);
        let whole = Query::parse(question.sentence, &mut analyser);
        let place = |stem: &String| question.terms.iter().position(|term| term == stem);
        let pairs = whole.pairs.iter().filter_map(|(a, b)| Some((place(&whole.terms[*a])?, place(&whole.terms[*b])?))).collect();
        let text = question.sentence.to_owned();
        Query { terms: question.terms.clone(), codes: whole.codes, pairs, time: whole.time, text, ..Query::default() }
    }
}
