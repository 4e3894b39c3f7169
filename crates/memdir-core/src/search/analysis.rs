//! Text analysis: splits text into the words that the index keeps, in one pass, the same for files and queries. Does no I/O.
//!
//! A word is a run of letters and digits, lower-cased, without accents, stemmed (English; Russian and Arabic by their script).
//! Scripts without spaces become bigrams. Every emoji is a word. Besides words there are *codes*: identifiers and paths as written,
//! the parts of `camelCase`, single characters of unspaced scripts.

pub(crate) mod pasted;
pub mod rarity;
mod split;
mod stop;

use crate::base::steps;
use frostem::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;
pub use stop::{STOP_WORDS, is_stop};

/// Longer words are cut: they are not searched for, and a line of base64 must not fill the index.
const WORD_BYTES: usize = 96;
/// Runs up to this length are cached with their words; longer ones seldom repeat.
const CACHED_BYTES: usize = 32;
/// The maximum number of cached runs. Only data that is not prose exceeds it; then the cache is cleared.
const CACHED_RUNS: usize = 200_000;

/// A name in code has a part that is at least as long.
const WORD_LETTERS: usize = 4;

/// Whether a name in code is searched for by its parts: no memory has it, and memories have at least two of them. `OrdersDb` is
/// "orders db" in a memory that explains it.
pub(crate) fn asks_by_parts(stem: &str, parts: &[String], is_known: impl Fn(&str) -> bool) -> bool {
    parts.len() > 1 && !is_known(stem) && parts.iter().filter(|part| is_known(part)).count() > 1
}

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The stem, which is indexed and looked up.
    pub stem: String,
    /// Whether it is a stop word, which a query with other words ignores.
    pub stop: bool,
}

/// Returns the runs of letters and digits of a text, as written. The words of each are those of [`Analyser::split_words`].
pub fn runs(text: &str) -> impl Iterator<Item = &str> {
    split::pieces(text).filter_map(|piece| match piece {
        split::TextPiece::Run(run) => Some(run),
        split::TextPiece::Code(_) => None,
    })
}

/// Receives the words and codes of a text, in order.
pub trait TokenSink {
    /// A word.
    fn word(&mut self, word: &Word);
    /// A code: an identifier or path as written in lower case, or a part of one.
    fn code(&mut self, code: &str);
}

/// Splits text into words. It caches words, so keep one per thread.
pub struct Analyser {
    english: Stemmer,
    russian: Stemmer,
    arabic: Stemmer,
    cache: FxHashMap<Box<str>, usize>,
    runs: Vec<AnalysedRun>,
}

/// The words and codes of a run of letters and digits.
#[derive(Debug, Default)]
struct AnalysedRun {
    words: Vec<Word>,
    codes: Vec<String>,
}

impl Default for Analyser {
    fn default() -> Self {
        Analyser {
            english: Stemmer::new(Algorithm::English),
            russian: Stemmer::new(Algorithm::Russian),
            arabic: Stemmer::new(Algorithm::Arabic),
            cache: FxHashMap::default(),
            runs: Vec::new(),
        }
    }
}

impl Analyser {
    /// Passes every word and code of `text` to `sink`.
    pub fn feed(&mut self, text: &str, sink: &mut impl TokenSink) {
        for piece in split::pieces(text) {
            match piece {
                split::TextPiece::Run(run) => self.run(run, sink),
                split::TextPiece::Code(code) => code_forms(code, sink),
            }
        }
    }

    /// Returns the words of a text, in order.
    pub fn split_words(&mut self, text: &str) -> Vec<Word> {
        let mut found = CollectedTokens::default();
        self.feed(text, &mut found);
        found.words
    }

    /// Returns the words of a text, each with its parts if it is the `camelCase` name of something.
    pub fn words_with_parts(&mut self, text: &str) -> Vec<(Word, Vec<String>)> {
        let mut all = Vec::new();
        for piece in split::pieces(text) {
            let split::TextPiece::Run(run) = piece else { continue };
            let mut found = CollectedTokens::default();
            self.run(run, &mut found);
            let parts = self.name_parts(run);
            all.extend(found.words.into_iter().map(|word| (word, parts.clone())));
        }
        all
    }

    /// The stems of the parts of a name in code. `dLNs` and `miR7a` are not such names: a part has one letter, or none is a word.
    fn name_parts(&self, run: &str) -> Vec<String> {
        if !run.is_ascii() {
            return Vec::new();
        }
        let parts: Vec<&str> = split::camel_parts(run).collect();
        let is_name =
            parts.iter().map(|part| part.len()).sum::<usize>() == run.len() && parts.iter().any(|part| part.len() >= WORD_LETTERS);
        if is_name { parts.iter().map(|part| self.stem(&part.to_ascii_lowercase())).collect() } else { Vec::new() }
    }

    /// Returns the words and the codes of a text.
    pub fn words_and_codes(&mut self, text: &str) -> (Vec<Word>, Vec<String>) {
        let mut found = CollectedTokens::default();
        self.feed(text, &mut found);
        (found.words, found.codes)
    }

    fn run(&mut self, run: &str, sink: &mut impl TokenSink) {
        steps::count(run.len());
        if run.len() > CACHED_BYTES {
            let found = self.analyse(run);
            emit(&found, sink);
            return;
        }
        let key = match self.cache.get(run) {
            Some(&key) => key,
            None => self.remember(run),
        };
        emit(&self.runs[key], sink);
    }

    fn remember(&mut self, run: &str) -> usize {
        if self.runs.len() >= CACHED_RUNS {
            self.cache.clear();
            self.runs.clear();
        }
        let found = self.analyse(run);
        self.runs.push(found);
        self.cache.insert(run.into(), self.runs.len() - 1);
        self.runs.len() - 1
    }

    fn analyse(&self, run: &str) -> AnalysedRun {
        let mut found = AnalysedRun::default();
        if run.is_ascii() {
            found.words.push(self.word(&run.to_ascii_lowercase()));
            found.codes.extend(split::camel_parts(run).map(|part| self.stem(&part.to_ascii_lowercase())));
            return found;
        }
        for part in split::by_script(&split::fold(run)) {
            match part {
                split::ScriptPart::Word(word) => found.words.push(self.word(&word)),
                split::ScriptPart::Pair(pair) => found.words.push(Word { stem: pair, stop: false }),
                split::ScriptPart::Single(single) => found.codes.push(single),
            }
        }
        found
    }

    fn word(&self, lower: &str) -> Word {
        let lower = cut(lower);
        Word { stop: is_stop(lower), stem: self.stem(lower) }
    }

    fn stem(&self, lower: &str) -> String {
        let stemmer = match lower.chars().next() {
            Some('a'..='z') => &self.english,
            Some('\u{400}'..='\u{4ff}') => &self.russian,
            Some('\u{600}'..='\u{6ff}') => &self.arabic,
            _ => return lower.to_owned(),
        };
        stemmer.stem(lower).into_owned()
    }
}

fn emit(found: &AnalysedRun, sink: &mut impl TokenSink) {
    found.words.iter().for_each(|word| sink.word(word));
    found.codes.iter().for_each(|code| sink.code(code));
}

/// Emits an identifier as written, and the last part of a path; of `file:line` the file as well.
fn code_forms(code: &str, sink: &mut impl TokenSink) {
    let lower = code.to_lowercase();
    if lower.contains(char::is_whitespace) {
        return;
    }
    let file = lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':');
    let file = if lower[file.len()..].starts_with(':') && split::is_code(file) { file } else { &lower };
    let name = file.rsplit_once('/').map(|(_, name)| name).filter(|name| split::is_code(name));
    sink.code(cut(&lower));
    if file.len() < lower.len() {
        sink.code(cut(file));
    }
    if let Some(name) = name {
        sink.code(cut(name));
    }
}

fn cut(text: &str) -> &str {
    &text[..crate::base::text::floor_char_boundary(text, WORD_BYTES.min(text.len()))]
}

#[derive(Default)]
struct CollectedTokens {
    words: Vec<Word>,
    codes: Vec<String>,
}

impl TokenSink for CollectedTokens {
    fn word(&mut self, word: &Word) {
        self.words.push(word.clone());
    }

    fn code(&mut self, code: &str) {
        self.codes.push(code.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stems(text: &str) -> String {
        let words = Analyser::default().split_words(text);
        words.iter().map(|w| if w.stop { format!("({})", w.stem) } else { w.stem.clone() }).collect::<Vec<_>>().join(" ")
    }

    fn codes(text: &str) -> String {
        Analyser::default().words_and_codes(text).1.join(" ")
    }

    #[test]
    fn english_is_stemmed_and_stop_words_are_marked() {
        assert_eq!(stems("The deployments weren't running, never!"), "(the) deploy weren (t) run never");
        assert_eq!(stems("Where IS it?"), "(where) (is) (it)");
    }

    #[test]
    fn identifiers_are_split_as_well_as_kept() {
        assert_eq!(stems("getUserName HTTP_2 src/db/pool.rs --dry-run E0425"), "getusernam http 2 src db pool rs dri run e0425");
        assert_eq!(codes("getUserName HTTP_2 src/db/pool.rs --dry-run E0425"), "get user name http_2 src/db/pool.rs pool.rs --dry-run");
        assert_eq!(codes("std::mem::take HTTPServer C++ (see foo.bar)."), "std::mem::take http server c++ foo.bar");
        assert_eq!(codes("A well-known thing. It ends here: yes... and 'so' on - ok"), "");
    }

    #[test]
    fn pasted_logs_and_traces_have_words() {
        let log = r#"{"log":"Connection refused\n\tat com.acme.OrdersDb.connect(OrdersDb.java:42)\n","path":"C:\\new"}"#;
        assert_eq!(stems(log), "log connect refus tat (at) com acm ordersdb connect ordersdb java 42 path c new");
        assert_eq!(codes("at src/cart/pricing.rs:142:17 in a"), "src/cart/pricing.rs:142:17 src/cart/pricing.rs pricing.rs");
        assert_eq!(stems(r"run scripts\test.bat in C:\new"), "run script test bat (in) c new", "a path is not an escape");
        let parts = Analyser::default().words_with_parts("getUserName failed in src/my_file.rs");
        let parts: Vec<(&str, String)> = parts.iter().map(|(word, parts)| (word.stem.as_str(), parts.join("+"))).collect();
        let none = String::new;
        let expected = [
            ("getusernam", "get+user+name".to_owned()),
            ("fail", none()),
            ("in", none()),
            ("src", none()),
            ("my", none()),
            ("file", none()),
            ("rs", none()),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn every_script_has_words() {
        assert_eq!(stems("部署流程"), "部署 署流 流程");
        assert_eq!(stems("東京タワー"), "東京 京タ タワ ワー");
        assert_eq!(stems("데이터베이스 백업"), "데이 이터 터베 베이 이스 백업");
        assert_eq!(stems("Развёртывание серверов"), stems("развертывания сервера"));
        assert_eq!(stems("الكِتَاب"), stems("الكتاب"));
        assert_eq!(stems("ship 🚀🎉 it 👩‍💻"), "ship 🚀 🎉 (it) 👩 💻");
        assert_eq!(stems("Café ÅNGSTRÖM naïve’s"), "cafe angstrom naiv (s)");
        assert_eq!(stems("ﬁne ＡＢＣ"), "fine abc");
        assert_eq!(codes("喝茶"), "喝 茶");
        assert_eq!(stems("茶"), "茶");
    }

    proptest! {
        #[test]
        fn any_text_is_analysed_and_twice_the_same(text in "(.|\n)*") {
            let mut analyser = Analyser::default();
            let first = analyser.words_and_codes(&text);
            prop_assert_eq!(&first, &analyser.words_and_codes(&text));
            for stem in first.0.iter().map(|w| &w.stem).chain(&first.1) {
                prop_assert!(!stem.is_empty() && !stem.contains(char::is_whitespace), "{:?}", stem);
            }
        }
    }
}
