//! The memories that a whole message is about. A message is not a query: each of its sentences asks with its rarest known words,
//! and the best match of any sentence counts.

use crate::{
    base::{error::Result, path::MemoryPath},
    recall::{self, Question, QuestionWord},
    search::{
        Search, Searcher,
        analysis::{Word, asks_by_parts, pasted},
        find::{self, RankedCandidates},
        fuse::Ranked,
        index::IndexView,
        query::Query,
        ranking,
    },
    store::{Source, Store, mounts},
};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// How much a word that is in no memory counts against a sentence, relative to a known word. At 1 a sentence with two unknown names
/// would match nothing; at 0 one known word in a sentence about something else would be a perfect match.
const UNKNOWN: f32 = 0.5;
/// How much an everyday word counts against a sentence with a topic. Little, so that a question may be polite; but many of them
/// around one rare word are small talk.
const EVERYDAY: f32 = 0.1;
/// The number of candidates per sentence.
const PER_SENTENCE: usize = 60;
/// The minimum cosine, if there is one: equal words with a lower cosine are a coincidence.
const MIN_COSINE: f32 = 0.2;

/// The score that a memory must reach to be recalled, and the weights of its parts: the share of the sentence's words, the cosine,
/// and the lead over the next memory in both. Some memory always fits a message best; one that fits much better than all others
/// fits for a reason. Tuned on a hundred planted questions and three hundred prompts about nothing, in small and large files, alone
/// and among the memories of real projects.
struct RecallThreshold {
    /// The base, with vectors and without.
    needed: [f32; 2],
    /// Added for a sentence with only one known word.
    lone: f32,
    /// Added for a sentence of everyday words only: it must match nearly completely.
    everyday: f32,
    /// Added for each factor of e by which a file is longer than `short`: a long file has something about everything.
    long: f32,
    /// The units of a file that is not long.
    short: f32,
    /// The weight of the cosine.
    nearness: f32,
    /// The weight of the lead in the cosine, and the maximum lead that counts.
    nearer: (f32, f32),
    /// The same for words.
    fuller: (f32, f32),
}

const THRESHOLD: RecallThreshold = RecallThreshold {
    needed: [0.72, 0.45],
    lone: 0.5,
    everyday: 0.75,
    long: 0.18,
    short: 2.0,
    nearness: 0.8,
    nearer: (1.25, 0.3),
    fuller: (0.4, 0.5),
};

/// A memory that matches a message.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageMatch {
    /// The memory.
    pub path: MemoryPath,
    /// How far the best match of any sentence is above the threshold.
    pub strength: f32,
    /// The first line of the best match.
    pub first: u32,
    /// The last line of the best match.
    pub last: u32,
}

/// Returns the memories that a message is about, best first, each once. Conversations are not searched.
pub fn matching_memories(searcher: &Searcher, store: &dyn Store, message: &str) -> Result<Vec<MessageMatch>> {
    let (found, _) = searcher.with_views(store, |views| Matcher { searcher }.matches(views, message))?;
    Ok(found)
}

struct Matcher<'a> {
    searcher: &'a Searcher,
}

impl Matcher<'_> {
    fn matches(&self, views: &[Arc<dyn IndexView>], message: &str) -> Result<Vec<MessageMatch>> {
        let units: u64 = views.iter().map(|view| view.totals().units).sum();
        // Of a pasted log line each string asks on its own, and names in code ask by their parts. In a request such as "rename
        // BoatView" a name means one thing.
        let is_pasted = pasted::pasted_lines(message).is_some();
        let unfolded = pasted::unfold(message);
        let message = unfolded.as_deref().unwrap_or(message);
        let df = self.frequencies(views, message, is_pasted)?;
        let mut known = |stem: &str| df.get(stem).copied().unwrap_or(0);
        let questions = recall::questions(message, units, &mut |sentence| self.question_words(sentence, &df), &mut known);
        let search = Search { source: Some(Source::Memory), ..Search::new("") };
        let mut best: HashMap<(usize, String), MessageMatch> = HashMap::new();
        for question in &questions {
            let found = self.searcher.find_query(views, &search, self.sentence_query(question), &[])?;
            let mass = ranking::mass(found.counts(Source::Memory)) + self.penalty(question, units, &df);
            self.keep_best(views, question, &found, mass, &mut best)?;
        }
        let mut all: Vec<MessageMatch> = best.into_values().collect();
        all.sort_by(|a, b| b.strength.total_cmp(&a.strength).then_with(|| a.path.cmp(&b.path)));
        Ok(all)
    }

    /// Adds the candidates of one sentence that reach the threshold to `best`.
    fn keep_best(
        &self,
        views: &[Arc<dyn IndexView>],
        question: &Question<'_>,
        found: &RankedCandidates,
        mass: f32,
        best: &mut HashMap<(usize, String), MessageMatch>,
    ) -> Result<()> {
        // The entrypoint is in every conversation already.
        let entrypoints: Vec<&str> = views.iter().map(|view| mounts::choose_entrypoint(|name| view.known(name).is_some())).collect();
        let ranked: Vec<&Ranked> =
            found.ranked.iter().filter(|one| one.candidate.path != entrypoints[one.mount]).take(PER_SENTENCE).collect();
        let words = |one: &Ranked| ranking::lexical_score(&one.candidate.parts, one.candidate.assistant) / mass;
        let cosine = |one: &Ranked| one.candidate.cosine.unwrap_or(0.0);
        let (fullest, nearest) = (Lead::new(&ranked, words), Lead::new(&ranked, cosine));
        let lone = if question.terms.iter().filter(|term| !recall::is_small_number(term)).count() == 1 { THRESHOLD.lone } else { 0.0 };
        let everyday = if question.everyday { THRESHOLD.everyday } else { 0.0 };
        for one in &ranked {
            let candidate = &one.candidate;
            if candidate.cosine.is_some_and(|cosine| cosine < MIN_COSINE) {
                continue;
            }
            let length = views[one.mount].known(&candidate.path).map_or(1, |known| known.units) as f32 / THRESHOLD.short;
            let needed =
                THRESHOLD.needed[usize::from(candidate.cosine.is_none())] + lone + everyday + THRESHOLD.long * length.max(1.0).ln();
            let nearer =
                if candidate.cosine.is_some() { THRESHOLD.nearer.0 * nearest.lead_of(one, cosine, THRESHOLD.nearer.1) } else { 0.0 };
            let fuller = THRESHOLD.fuller.0 * fullest.lead_of(one, words, THRESHOLD.fuller.1);
            let strength = words(one) + THRESHOLD.nearness * cosine(one) + nearer + fuller - needed;
            let key = (one.mount, candidate.path.clone());
            if strength < 0.0 || best.get(&key).is_some_and(|known| known.strength >= strength) {
                continue;
            }
            let path = MemoryPath::parse(&candidate.path)?.prefixed(self.searcher.prefix(one.mount));
            best.insert(key, MessageMatch { path, strength, first: candidate.first, last: candidate.last });
        }
        Ok(())
    }

    /// The weight against a sentence of the words it does not ask with: unknown words and everyday words.
    fn penalty(&self, question: &Question<'_>, units: u64, df: &HashMap<String, u64>) -> f32 {
        let mut seen = HashSet::new();
        let counts = |word: &QuestionWord| !word.stop && !recall::is_small_number(&word.stem);
        let words = self.question_words(question.sentence, df).into_iter().filter(|word| counts(word) && seen.insert(word.stem.clone()));
        let weight = |word: QuestionWord| {
            let holding = df.get(&word.stem).copied().unwrap_or(0);
            match (word.everyday == question.everyday, holding) {
                (true, 0) => UNKNOWN * ranking::perfect(ranking::idf(units, 0)),
                (true, _) => 0.0,
                (false, _) => EVERYDAY * ranking::perfect(ranking::idf(units, holding)),
            }
        };
        words.map(weight).sum()
    }

    /// The words of a text. An identifier that no memory has is its parts, if a memory has one of those.
    fn question_words(&self, text: &str, df: &HashMap<String, u64>) -> Vec<QuestionWord> {
        let is_known = |stem: &str| df.get(stem).is_some_and(|n| *n > 0);
        let question_word =
            |stem: String, stop: bool| QuestionWord { everyday: recall::is_everyday(&stem), stop: stop || recall::is_filler(&stem), stem };
        let words = self.searcher.with_analyser(|analyser| analyser.words_with_parts(text)).into_iter();
        let split = |(word, parts): (Word, Vec<String>)| match asks_by_parts(&word.stem, &parts, is_known) {
            true => parts.into_iter().map(|part| question_word(part, false)).collect(),
            false => vec![question_word(word.stem, word.stop)],
        };
        words.flat_map(split).collect()
    }

    /// Counts the units in which each word of the message occurs, and if asked for, each part of one.
    fn frequencies(&self, views: &[Arc<dyn IndexView>], message: &str, parts: bool) -> Result<HashMap<String, u64>> {
        let words = self.searcher.with_analyser(|analyser| analyser.words_with_parts(message)).into_iter();
        let asked = words.filter(|(word, _)| !word.stop && !recall::is_filler(&word.stem));
        let stems = asked.flat_map(|(word, of_name)| of_name.into_iter().filter(|_| parts).chain([word.stem]));
        find::frequencies(views, stems.collect())
    }

    /// The query of one sentence.
    fn sentence_query(&self, question: &Question<'_>) -> Query {
        let whole = self.searcher.with_analyser(|analyser| Query::parse(question.sentence, analyser));
        let place = |stem: &String| question.terms.iter().position(|term| term == stem);
        let pairs = whole.pairs.iter().filter_map(|(a, b)| Some((place(&whole.terms[*a])?, place(&whole.terms[*b])?))).collect();
        let text = question.sentence.to_owned();
        Query { terms: question.terms.clone(), codes: whole.codes, pairs, time: whole.time, text, ..Query::default() }
    }
}

/// The best value of one signal, and the best value in any other file.
struct Lead<'a> {
    file: Option<(usize, &'a str)>,
    first: f32,
    second: f32,
}

impl<'a> Lead<'a> {
    fn new(ranked: &[&'a Ranked], signal: impl Fn(&Ranked) -> f32) -> Self {
        let mut best = Lead { file: None, first: 0.0, second: 0.0 };
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

    /// How far a unit is ahead of all other files, or behind the best of them, at most `most`.
    fn lead_of(&self, one: &Ranked, signal: impl Fn(&Ranked) -> f32, most: f32) -> f32 {
        let own = self.file == Some((one.mount, one.candidate.path.as_str()));
        (signal(one) - if own { self.second } else { self.first }).clamp(-most, most)
    }
}
