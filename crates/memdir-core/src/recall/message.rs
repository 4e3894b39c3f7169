//! What a whole message is about. A message is not a question: each of its sentences asks with its rarest known words, and the
//! best answer of all of them counts.

use crate::search::{Search, Searcher, find::Found, fuse::Ranked};
use crate::{
    base::{day::NamedTime, error::Result, path::MemoryPath},
    recall::{self, Question, Word},
    search::{
        index::{Ask, View},
        query::Query,
        ranking,
    },
    store::{Source, Store, mounts},
};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// How much a word that no memory knows counts against a sentence, beside one that some memory knows. At 1 a sentence with two
/// names nobody stored would drown; at 0 one known word in a sentence about something else would be a perfect match.
const UNKNOWN: f32 = 0.5;
/// How much an everyday word counts against a sentence that is about something. Little, so that a question may be polite, but
/// many of them around one chance word are small talk.
const EVERYDAY: f32 = 0.1;
/// Candidates of one sentence that are looked at.
const PER_SENTENCE: usize = 60;
/// The least cosine, where there is one: words that are the same by chance mean something else.
const LEAST_COSINE: f32 = 0.2;

/// What a memory must reach to be brought unasked, and what it is made of: the share of the sentence's words, nearness in
/// meaning, and how far the memory stands out from the next one in both. Whatever a message is about, some memory fits it best;
/// one that fits much better than all others fits for a reason. Chosen on a hundred planted questions and three hundred prompts
/// about nothing, in small and large files, alone and among the memories of real projects.
struct Bar {
    /// With vectors, and without.
    needed: [f32; 2],
    /// More for a sentence of which one word alone is known.
    lone: f32,
    /// More for a sentence of everyday words alone: it must be met nearly whole.
    everyday: f32,
    /// More for each time a file is e times as long as [`Bar::short`]: a long one has something about everything.
    long: f32,
    /// Units of a file that is not long.
    short: f32,
    /// What nearness in meaning weighs.
    nearness: f32,
    /// What standing out in meaning weighs, and how much of it counts.
    nearer: (f32, f32),
    /// The same for words.
    fuller: (f32, f32),
}

const BAR: Bar =
    Bar { needed: [0.72, 0.45], lone: 0.5, everyday: 0.75, long: 0.18, short: 2.0, nearness: 0.8, nearer: (1.25, 0.3), fuller: (0.4, 0.5) };

/// A memory that a message is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Met {
    /// The memory.
    pub path: MemoryPath,
    /// How far the best match of any sentence is above what it must reach.
    pub strength: f32,
    /// The first line of what matched best.
    pub first: u32,
    /// The last line of what matched best.
    pub last: u32,
}

/// The memories a message is about, best first, each once. Past conversations are not among them.
pub fn about(searcher: &Searcher, store: &dyn Store, message: &str) -> Result<Vec<Met>> {
    Matcher { searcher }.about(store, message)
}

struct Matcher<'a> {
    searcher: &'a Searcher,
}

impl Matcher<'_> {
    fn about(&self, store: &dyn Store, message: &str) -> Result<Vec<Met>> {
        let views = self.searcher.views(store)?;
        let units: u64 = views.iter().map(|view| view.totals().units).sum();
        let df = self.frequencies(&views, message)?;
        let mut known = |stem: &str| df.get(stem).copied().unwrap_or(0);
        let questions = recall::questions(message, units, &mut |sentence| self.plain_words(sentence), &mut known);
        let search = Search { source: Some(Source::Memory), ..Search::new("") };
        let mut best: HashMap<(usize, String), Met> = HashMap::new();
        for question in &questions {
            let found = self.searcher.find_query(&views, &search, self.query_of(question), &[])?;
            let mass = ranking::mass(found.counts(Source::Memory)) + self.beside(question, units, &df);
            self.meet(&views, question, &found, mass, &mut best)?;
        }
        let mut all: Vec<Met> = best.into_values().collect();
        all.sort_by(|a, b| b.strength.total_cmp(&a.strength).then_with(|| a.path.cmp(&b.path)));
        Ok(all)
    }

    fn meet(
        &self,
        views: &[Arc<dyn View>],
        question: &Question<'_>,
        found: &Found,
        mass: f32,
        best: &mut HashMap<(usize, String), Met>,
    ) -> Result<()> {
        // The entrypoint is in every conversation already.
        let entrypoints: Vec<&str> = views.iter().map(|view| mounts::choose_entrypoint(|name| view.known(name).is_some())).collect();
        let ranked: Vec<&Ranked> =
            found.ranked.iter().filter(|one| one.candidate.path != entrypoints[one.mount]).take(PER_SENTENCE).collect();
        let words = |one: &Ranked| ranking::words(&one.candidate.parts, one.candidate.assistant) / mass;
        let cosine = |one: &Ranked| one.candidate.cosine.unwrap_or(0.0);
        let (fullest, nearest) = (Best::of(&ranked, words), Best::of(&ranked, cosine));
        let lone = if question.terms.iter().filter(|term| !recall::is_small_number(term)).count() == 1 { BAR.lone } else { 0.0 };
        let everyday = if question.everyday { BAR.everyday } else { 0.0 };
        for one in &ranked {
            let candidate = &one.candidate;
            if candidate.cosine.is_some_and(|cosine| cosine < LEAST_COSINE) {
                continue;
            }
            let length = views[one.mount].known(&candidate.path).map_or(1, |known| known.units) as f32 / BAR.short;
            let needed = BAR.needed[usize::from(candidate.cosine.is_none())] + lone + everyday + BAR.long * length.max(1.0).ln();
            let nearer = if candidate.cosine.is_some() { BAR.nearer.0 * nearest.ahead(one, cosine, BAR.nearer.1) } else { 0.0 };
            let fuller = BAR.fuller.0 * fullest.ahead(one, words, BAR.fuller.1);
            let strength = words(one) + BAR.nearness * cosine(one) + nearer + fuller - needed;
            let key = (one.mount, candidate.path.clone());
            if strength < 0.0 || best.get(&key).is_some_and(|met| met.strength >= strength) {
                continue;
            }
            let path = MemoryPath::parse(&candidate.path)?.prefixed(self.searcher.prefix(one.mount));
            best.insert(key, Met { path, strength, first: candidate.first, last: candidate.last });
        }
        Ok(())
    }

    /// What the words of a sentence that are not asked for weigh against it: those that no memory knows, and everyday ones.
    fn beside(&self, question: &Question<'_>, units: u64, df: &HashMap<String, u64>) -> f32 {
        let mut seen = HashSet::new();
        let told = |word: &Word| !word.stop && !recall::is_small_number(&word.stem);
        let words = self.plain_words(question.sentence).into_iter().filter(|word| told(word) && seen.insert(word.stem.clone()));
        let weight = |word: Word| {
            let holding = df.get(&word.stem).copied().unwrap_or(0);
            match (word.everyday == question.everyday, holding) {
                (true, 0) => UNKNOWN * ranking::perfect(ranking::idf(units, 0)),
                (true, _) => 0.0,
                (false, _) => EVERYDAY * ranking::perfect(ranking::idf(units, holding)),
            }
        };
        words.map(weight).sum()
    }

    fn plain_words(&self, text: &str) -> Vec<Word> {
        self.searcher
            .with_analyser(|analyser| analyser.words(text))
            .into_iter()
            .map(|word| Word {
                everyday: recall::is_everyday(&word.stem),
                stop: word.stop || recall::is_filler(&word.stem),
                stem: word.stem,
            })
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
        let whole = self.searcher.with_analyser(|analyser| Query::parse(question.sentence, analyser));
        let place = |stem: &String| question.terms.iter().position(|term| term == stem);
        let pairs = whole.pairs.iter().filter_map(|(a, b)| Some((place(&whole.terms[*a])?, place(&whole.terms[*b])?))).collect();
        let text = question.sentence.to_owned();
        Query { terms: question.terms.clone(), codes: whole.codes, pairs, time: whole.time, text, ..Query::default() }
    }
}

/// The best of one signal in any file, and the best in any other file.
struct Best<'a> {
    file: Option<(usize, &'a str)>,
    first: f32,
    second: f32,
}

impl<'a> Best<'a> {
    fn of(ranked: &[&'a Ranked], signal: impl Fn(&Ranked) -> f32) -> Self {
        let mut best = Best { file: None, first: 0.0, second: 0.0 };
        for one in ranked {
            let (file, value) = (Some((one.mount, one.candidate.path.as_str())), signal(one));
            if value > best.first {
                if file != best.file {
                    best.second = best.first;
                }
                (best.file, best.first) = (file, value);
            } else if file != best.file {
                best.second = best.second.max(value);
            }
        }
        best
    }

    /// How far a unit is ahead of all other files, or behind the best of them, up to `most`.
    fn ahead(&self, one: &Ranked, signal: impl Fn(&Ranked) -> f32, most: f32) -> f32 {
        let own = self.file == Some((one.mount, one.candidate.path.as_str()));
        (signal(one) - if own { self.second } else { self.first }).clamp(-most, most)
    }
}
