//! What the detectors know about languages, as data: one [`LanguageWords`] each. A sentence is read with the words of its own language only,
//! because one word means different things: `i` is "and" in Polish, `die` an article in German. A phrase is written in lower case; a
//! comma in it matches every mark between clauses.

mod asian;
mod english;
mod germanic;
mod index;
mod others;
mod romance;
mod slavic;

use super::typed::{is_cjk, push_folded};
use index::PhraseIndex;
pub(super) use index::{KindSet, PhraseKind};
use rustc_hash::FxHashMap;
use std::{
    ops::Deref,
    sync::{LazyLock, OnceLock},
};

/// The words of a language that the detectors look for. Empty lists are languages of which only requests are known.
pub(super) struct LanguageWords {
    /// Frequent words, by which the language is recognized.
    pub(super) common: &'static [&'static str],
    /// Words are not separated by spaces, or carry endings: phrases are found inside of words.
    pub(super) is_unspaced: bool,
    /// A thing of a kind has no article ("prices are"), and "that" also points to one thing.
    pub(super) is_english: bool,
    /// What introduces a sentence without changing it: "please", "also".
    pub(super) openers: &'static [&'static str],
    /// Greetings, after which a name may follow: "hey".
    pub(super) greetings: &'static [&'static str],
    /// What makes a request polite: "can you", "i want you to".
    pub(super) polite: &'static [&'static str],
    /// Requests to remember: "remember".
    pub(super) requests: &'static [&'static str],
    /// The same at the end of a sentence: "…を覚えておいて".
    pub(super) endings: &'static [&'static str],
    /// Rules that begin with a time: "from now on".
    pub(super) from_now_on: &'static [&'static str],
    /// What connects a request with a statement: "that".
    pub(super) that: &'static [&'static str],
    /// What comes between a request and a colon, or points to another sentence: "this", "for later".
    pub(super) pointers: &'static [&'static str],
    /// Wishes that a message is not remembered: "don't remember".
    pub(super) unremember: &'static [&'static str],
    /// Wishes that count together with a word for the conversation: "don't save", "save nothing".
    pub(super) unsave: &'static [&'static str],
    /// Words for the conversation.
    pub(super) conversation: &'static [&'static str],
    /// Beginnings of statements about habits of the team: "we use", "we never".
    pub(super) habits: &'static [&'static str],
    /// Beginnings of rules: "always", "don't", "use".
    pub(super) imperatives: &'static [&'static str],
    /// Negations that forbid at the beginning of a clause, with the endings of the verb after them; none for any: ("no", ["s"]).
    pub(super) forbids: &'static [(&'static str, &'static [&'static str])],
    /// Words that make a rule of a sentence: "must", "always", "only".
    pub(super) norms: &'static [&'static str],
    /// Words for every time: "always", "every".
    pub(super) lasting: &'static [&'static str],
    /// What names an alternative: "instead of", ", not".
    pub(super) contrasts: &'static [&'static str],
    pub(super) negations: &'static [&'static str],
    /// States that forbid an action: "generated", "belongs to".
    pub(super) protected: &'static [&'static str],
    /// Words of reports about errors and of what a person sees: "fails", "blank", "when i".
    pub(super) trouble: &'static [&'static str],
    /// What holds for this moment, or is over: "yet", "for now", "yesterday", "this task".
    pub(super) passing: &'static [&'static str],
    /// Subjects that are only understood in their context: "it", "that's", "i".
    pub(super) context: &'static [&'static str],
    /// What others say: "says", "according to".
    pub(super) saying: &'static [&'static str],
    /// What retracts a denial: "by accident", "run it".
    pub(super) retractions: &'static [&'static str],
    /// Beginnings that put off, or change the subject: "later", "first", "by the way".
    pub(super) later: &'static [&'static str],
    /// Verbs that begin a task: "run", "fix".
    pub(super) tasks: &'static [&'static str],
    /// Beginnings of sentences that only think of something: "maybe".
    pub(super) maybe: &'static [&'static str],
    /// Beginnings that praise or thank.
    pub(super) praise: &'static [&'static str],
    /// Beginnings of messages that only ask to continue the work: "continue".
    pub(super) go_ahead: &'static [&'static str],
    /// Words with which people ask for an edit to be undone.
    pub(super) undo: &'static [&'static str],
    /// Words that do not count when sentences are compared.
    pub(super) light: &'static [&'static str],
}

/// A language, with what finds its phrases.
pub(super) struct Language {
    words: &'static LanguageWords,
    /// Made when the language is first met.
    index: OnceLock<PhraseIndex>,
}

impl Deref for Language {
    type Target = LanguageWords;

    fn deref(&self) -> &LanguageWords {
        self.words
    }
}

impl Language {
    const fn new(words: &'static LanguageWords) -> Self {
        Language { words, index: OnceLock::new() }
    }

    /// Returns the phrases of a kind.
    pub(super) fn phrases(&self, kind: PhraseKind) -> &'static [&'static str] {
        index::lists(self)[kind as usize].1
    }

    /// Returns the kinds of phrases with which a text, as it was typed, may begin: others are ruled out. Most texts begin with none.
    pub(super) fn may_begin(&self, text: &str) -> KindSet {
        if self.is_unspaced { KindSet::ALL } else { self.index().kinds_of_first_word(text) }
    }

    /// Calls `found` with each phrase that begins where `rest`, the end of a form, does.
    pub(super) fn each_phrase_at(&self, rest: &str, found: impl FnMut(PhraseKind, &'static str)) {
        self.index().each_at(rest, self.is_unspaced, found);
    }

    fn index(&self) -> &PhraseIndex {
        self.index.get_or_init(|| PhraseIndex::new(self.words))
    }
}

/// A language without words.
const EMPTY: LanguageWords = LanguageWords {
    common: &[],
    is_unspaced: false,
    is_english: false,
    openers: &[],
    greetings: &[],
    polite: &[],
    requests: &[],
    endings: &[],
    from_now_on: &[],
    that: &[],
    pointers: &[],
    unremember: &[],
    unsave: &[],
    conversation: &[],
    habits: &[],
    imperatives: &[],
    forbids: &[],
    norms: &[],
    lasting: &[],
    contrasts: &[],
    negations: &[],
    protected: &[],
    trouble: &[],
    passing: &[],
    context: &[],
    saying: &[],
    retractions: &[],
    later: &[],
    tasks: &[],
    maybe: &[],
    praise: &[],
    go_ahead: &[],
    undo: &[],
    light: &[],
};

/// The languages with spaces, the most frequent first.
static SPACED: [Language; 20] = [
    Language::new(&english::ENGLISH),
    Language::new(&germanic::GERMAN),
    Language::new(&romance::SPANISH),
    Language::new(&romance::FRENCH),
    Language::new(&romance::ITALIAN),
    Language::new(&romance::PORTUGUESE),
    Language::new(&germanic::DUTCH),
    Language::new(&slavic::POLISH),
    Language::new(&slavic::RUSSIAN),
    Language::new(&slavic::UKRAINIAN),
    Language::new(&others::TURKISH),
    Language::new(&germanic::SWEDISH),
    Language::new(&germanic::DANISH),
    Language::new(&others::ARABIC),
    Language::new(&others::HINDI),
    Language::new(&slavic::CZECH),
    Language::new(&others::VIETNAMESE),
    Language::new(&others::INDONESIAN),
    Language::new(&others::FINNISH),
    Language::new(&others::GREEK),
];

/// The languages without spaces: Korean, Japanese, Chinese.
static UNSPACED: [Language; 3] = [Language::new(&asian::KOREAN), Language::new(&asian::JAPANESE), Language::new(&asian::CHINESE)];

/// The frequent words of all languages with spaces, each with a bit for every language that has it.
static COMMON: LazyLock<FxHashMap<&str, u32>> = LazyLock::new(|| {
    let mut common = FxHashMap::default();
    for (number, language) in SPACED.iter().enumerate() {
        for word in language.common {
            *common.entry(*word).or_default() |= 1 << number;
        }
    }
    common
});

/// Returns the language of a sentence: by its script, or by its frequent words. English if none is known.
pub(super) fn language(sentence: &str) -> &'static Language {
    let (mut kana, mut han, mut hangul, mut letters) = (0, 0, 0, 0);
    for c in sentence.chars().filter(|c| !sentence.is_ascii() && c.is_alphabetic()) {
        match c {
            '\u{3040}'..='\u{30ff}' => kana += 1,
            '\u{ac00}'..='\u{d7a3}' => hangul += 1,
            c if is_cjk(c) => han += 1,
            _ => letters += 1,
        }
    }
    // A few characters in a sentence of another script are a name; four letters make about one character's worth of text.
    if (kana + han + hangul) * 4 >= letters && kana + han + hangul > 0 {
        return match () {
            () if hangul >= kana + han => &UNSPACED[0],
            () if kana > 0 => &UNSPACED[1],
            () => &UNSPACED[2],
        };
    }
    let mut counts = [0; SPACED.len()];
    let mut count = |word: &str| {
        let mut languages = COMMON.get(word).copied().unwrap_or_default();
        while languages != 0 {
            counts[languages.trailing_zeros() as usize] += 1;
            languages &= languages - 1;
        }
    };
    if sentence.is_ascii() {
        each_ascii_word(sentence, count);
    } else {
        let mut folded = String::with_capacity(sentence.len());
        sentence.chars().for_each(|c| push_folded(c, &mut folded));
        folded.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '-') && !is_mark(c)).for_each(&mut count);
    }
    let best = counts.iter().copied().max().unwrap_or_default();
    &SPACED[counts.iter().position(|&count| count == best).unwrap_or_default()]
}

/// Calls `found` with each word of an ASCII text, in lower case. A word of more than 16 letters is not a frequent one and is left out.
/// Most sentences are ASCII, and finding their language was a quarter of reading them.
fn each_ascii_word(text: &str, mut found: impl FnMut(&str)) {
    let mut word = [0; 16];
    let mut len = 0;
    // A blank at the end, so that the last word ends too.
    for byte in text.bytes().chain([b' ']) {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'\'' | b'-') {
            if let Some(place) = word.get_mut(len) {
                *place = byte.to_ascii_lowercase();
            }
            len += 1;
            continue;
        }
        if let Some(word) = word.get(..len).filter(|word| !word.is_empty()).and_then(|word| std::str::from_utf8(word).ok()) {
            found(word);
        }
        len = 0;
    }
}

/// Whether a character is a combining mark of Devanagari, which is part of a word.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{97f}')
}
