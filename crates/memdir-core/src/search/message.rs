//! What a whole message is about. A message is not a question: each of its sentences asks with its rarest known words, and the
//! best answer of all of them counts.

use super::{Search, Searcher};
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
    collections::HashMap,
    sync::{Arc, PoisonError},
};

/// A memory that a message is about.
#[derive(Debug, Clone)]
pub struct Met {
    /// The memory.
    pub path: MemoryPath,
    /// Strength of the best match of any sentence, 0 to 1.
    pub score: f32,
    /// The first line of what matched best.
    pub first: u32,
    /// The last line of what matched best.
    pub last: u32,
    /// debug
    pub debug: String,
}

impl Searcher {
    /// The memories a message is about, best first, each once.
    pub fn about(&self, store: &dyn Store, message: &str, unknown: f32, min: f32) -> Result<Vec<Met>> {
        let views = self.views(store)?;
        let units: u64 = views.iter().map(|view| view.totals().units).sum();
        let df = self.frequencies(&views, message)?;
        let questions =
            recall::questions(message, units, &mut |sentence| self.words(sentence), &mut |stem| df.get(stem).copied().unwrap_or(0));
        let search = Search { source: Some(Source::Memory), min_score: 0.0, ..Search::new("") };
        let mut best: HashMap<(usize, String), Met> = HashMap::new();
        for question in &questions {
            let query = self.question(question);
            let found = self.find_query(&views, &search, query, &[])?;
            let mass = rank::mass(found.counts(Source::Memory));
            let all: Vec<Word> = self.words(question.sentence).into_iter().filter(|word| !word.stop).collect();
            let mut missing: Vec<&str> =
                all.iter().map(|word| word.stem.as_str()).filter(|stem| df.get(*stem).is_none_or(|n| *n == 0)).collect();
            missing.sort();
            missing.dedup();
            let more = unknown * missing.len() as f32 * 2.2 * rank::idf(units, 0);
            for ranked in found.ranked.iter().take(20) {
                let candidate = &ranked.candidate;
                let score = rank::score(&candidate.parts, candidate.assistant, mass + more, candidate.cosine, found.scale);
                if score < min {
                    continue;
                }
                let path = MemoryPath::parse(&candidate.path)?.prefixed(&self.mounts[ranked.mount].prefix);
                let key = (ranked.mount, candidate.path.clone());
                if best.get(&key).is_none_or(|met| met.score < score) {
                    best.insert(
                        key,
                        Met {
                            path,
                            score,
                            first: candidate.first,
                            last: candidate.last,
                            debug: format!(
                                "{:?} cos {:?} body {:.2} mass {:.2} missing {:?} s={}",
                                question.terms, candidate.cosine, candidate.parts.body, mass, missing, question.sentence
                            ),
                        },
                    );
                }
            }
        }
        let mut all: Vec<Met> = best.into_values().collect();
        all.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
        Ok(all)
    }

    fn words(&self, text: &str) -> Vec<Word> {
        let mut analyser = self.analyser.lock().unwrap_or_else(PoisonError::into_inner);
        analyser.words(text).into_iter().map(|word| Word { stem: word.stem, stop: word.stop }).collect()
    }

    /// In how many units each word of the message occurs: one look-up for all of them.
    fn frequencies(&self, views: &[Arc<dyn View>], message: &str) -> Result<HashMap<String, u64>> {
        let mut terms: Vec<String> = self.words(message).into_iter().filter(|word| !word.stop).map(|word| word.stem).collect();
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

    fn question(&self, question: &Question<'_>) -> Query {
        let mut analyser = self.analyser.lock().unwrap_or_else(PoisonError::into_inner);
        let whole = Query::parse(question.sentence, &mut analyser);
        let place = |stem: &String| question.terms.iter().position(|term| term == stem);
        let pairs = whole.pairs.iter().filter_map(|(a, b)| Some((place(&whole.terms[*a])?, place(&whole.terms[*b])?))).collect();
        Query {
            terms: question.terms.clone(),
            codes: whole.codes,
            pairs,
            time: whole.time,
            text: question.sentence.to_owned(),
            ..Query::default()
        }
    }
}
