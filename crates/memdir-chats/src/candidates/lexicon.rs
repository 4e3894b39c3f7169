//! What the detectors know about languages, as data: one [`Language`] each. A sentence is read with the words of its own language only,
//! because one word means different things: `i` is "and" in Polish, `die` an article in German. A phrase is written in lower case; a
//! comma in it matches every mark between clauses.

mod asian;
mod english;
mod germanic;
mod others;
mod romance;
mod slavic;

use super::typed::is_cjk;

/// The words of a language that the detectors look for. Empty lists are languages of which only requests are known.
pub(super) struct Language {
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
    /// What stands between a request and a colon, or points to another sentence: "this", "for later".
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
    /// Negations that forbid at the beginning of a clause, with the endings of the verb behind them; none for any: ("no", ["s"]).
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
    /// What takes a denial back: "by accident", "run it".
    pub(super) retractions: &'static [&'static str],
    /// Beginnings that put off, or change the subject: "later", "first", "by the way".
    pub(super) later: &'static [&'static str],
    /// Verbs that begin a task: "run", "fix".
    pub(super) tasks: &'static [&'static str],
    /// Beginnings of sentences that only think of something: "maybe".
    pub(super) maybe: &'static [&'static str],
    /// Beginnings that praise or thank.
    pub(super) praise: &'static [&'static str],
    /// Beginnings of messages that let the work go on: "continue".
    pub(super) go_ahead: &'static [&'static str],
    /// Words with which people ask for an edit to be undone.
    pub(super) undo: &'static [&'static str],
    /// Words that do not count when sentences are compared.
    pub(super) light: &'static [&'static str],
}

/// A language without words.
const EMPTY: Language = Language {
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
const SPACED: &[&Language] = &[
    &english::ENGLISH,
    &germanic::GERMAN,
    &romance::SPANISH,
    &romance::FRENCH,
    &romance::ITALIAN,
    &romance::PORTUGUESE,
    &germanic::DUTCH,
    &slavic::POLISH,
    &slavic::RUSSIAN,
    &slavic::UKRAINIAN,
    &others::TURKISH,
    &germanic::SWEDISH,
    &germanic::DANISH,
    &others::ARABIC,
    &others::HINDI,
    &slavic::CZECH,
    &others::VIETNAMESE,
    &others::INDONESIAN,
    &others::FINNISH,
    &others::GREEK,
];

/// Returns the language of a sentence, given in lower case: by its script, or by its frequent words. English if none is known.
pub(super) fn language(sentence: &str) -> &'static Language {
    let (mut kana, mut han, mut hangul, mut letters) = (0, 0, 0, 0);
    for c in sentence.chars().filter(|c| c.is_alphabetic()) {
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
            () if hangul >= kana + han => &asian::KOREAN,
            () if kana > 0 => &asian::JAPANESE,
            () => &asian::CHINESE,
        };
    }
    let mut counts = [0; SPACED.len()];
    for word in sentence.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '-') && !is_mark(c)).filter(|word| !word.is_empty()) {
        for (count, language) in counts.iter_mut().zip(SPACED) {
            *count += usize::from(language.common.contains(&word));
        }
    }
    let best = counts.iter().copied().max().unwrap_or_default();
    counts.iter().position(|&count| count == best).map_or(SPACED[0], |at| SPACED[at])
}

/// Whether a character is a combining mark of Devanagari, which is part of a word.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{97f}')
}
