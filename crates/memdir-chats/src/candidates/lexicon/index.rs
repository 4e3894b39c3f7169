//! Finds the phrases of a language in one pass over a sentence: by their first word, or by their first character in a language without
//! spaces. A sentence is compared with hundreds of phrases, of which almost none occurs.

use super::{super::typed::push_folded, LanguageWords};
use rustc_hash::FxHashMap;

/// A list of phrases of a language; the field of [`LanguageWords`] with the same name says what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::candidates) enum PhraseKind {
    Openers,
    Greetings,
    Polite,
    Requests,
    FromNowOn,
    Unremember,
    Unsave,
    Conversation,
    Habits,
    Imperatives,
    Norms,
    Lasting,
    Contrasts,
    Protected,
    Trouble,
    Passing,
    Context,
    Saying,
    Retractions,
    Later,
    Tasks,
    Maybe,
    Praise,
    GoAhead,
    Undo,
}

/// A set of kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::candidates) struct KindSet(u32);

impl KindSet {
    pub(in crate::candidates) const ALL: KindSet = KindSet(u32::MAX);

    pub(in crate::candidates) fn insert(&mut self, kind: PhraseKind) {
        self.0 |= 1 << kind as u32;
    }

    pub(in crate::candidates) fn extend(&mut self, other: KindSet) {
        self.0 |= other.0;
    }

    pub(in crate::candidates) fn contains(self, kind: PhraseKind) -> bool {
        self.0 >> kind as u32 & 1 == 1
    }
}

/// The phrases of a language by their beginnings.
pub(super) struct PhraseIndex {
    by_start: FxHashMap<&'static str, Vec<(PhraseKind, &'static str)>>,
    by_first_word: FxHashMap<String, KindSet>,
}

impl PhraseIndex {
    pub(super) fn new(language: &'static LanguageWords) -> Self {
        let mut index = PhraseIndex { by_start: FxHashMap::default(), by_first_word: FxHashMap::default() };
        for (kind, phrases) in lists(language) {
            for phrase in phrases {
                index.by_start.entry(start(phrase, language.is_unspaced)).or_default().push((kind, *phrase));
                index.by_first_word.entry(first_word(phrase)).or_default().insert(kind);
            }
        }
        index
    }

    /// Calls `found` with each phrase that a text in one form begins with, in the order of its list. A phrase ends with its word,
    /// unless words are not separated.
    pub(super) fn each_at(&self, text: &str, is_unspaced: bool, mut found: impl FnMut(PhraseKind, &'static str)) {
        for (kind, phrase) in self.by_start.get(start(text, is_unspaced)).into_iter().flatten() {
            let after = text.strip_prefix(phrase);
            if after.is_some_and(|rest| is_unspaced || rest.is_empty() || rest.starts_with(' ')) {
                found(*kind, phrase);
            }
        }
    }

    /// Returns the kinds with a phrase that has the same first word as a text that was typed.
    pub(super) fn kinds_of_first_word(&self, text: &str) -> KindSet {
        self.by_first_word.get(&first_word(text.trim_start())).copied().unwrap_or_default()
    }
}

/// All lists, in the order of [`PhraseKind`].
pub(super) fn lists(language: &LanguageWords) -> [(PhraseKind, &'static [&'static str]); 25] {
    [
        (PhraseKind::Openers, language.openers),
        (PhraseKind::Greetings, language.greetings),
        (PhraseKind::Polite, language.polite),
        (PhraseKind::Requests, language.requests),
        (PhraseKind::FromNowOn, language.from_now_on),
        (PhraseKind::Unremember, language.unremember),
        (PhraseKind::Unsave, language.unsave),
        (PhraseKind::Conversation, language.conversation),
        (PhraseKind::Habits, language.habits),
        (PhraseKind::Imperatives, language.imperatives),
        (PhraseKind::Norms, language.norms),
        (PhraseKind::Lasting, language.lasting),
        (PhraseKind::Contrasts, language.contrasts),
        (PhraseKind::Protected, language.protected),
        (PhraseKind::Trouble, language.trouble),
        (PhraseKind::Passing, language.passing),
        (PhraseKind::Context, language.context),
        (PhraseKind::Saying, language.saying),
        (PhraseKind::Retractions, language.retractions),
        (PhraseKind::Later, language.later),
        (PhraseKind::Tasks, language.tasks),
        (PhraseKind::Maybe, language.maybe),
        (PhraseKind::Praise, language.praise),
        (PhraseKind::GoAhead, language.go_ahead),
        (PhraseKind::Undo, language.undo),
    ]
}

/// Returns the first word, or the first character.
fn start(text: &str, is_unspaced: bool) -> &str {
    let end = if is_unspaced { text.chars().next().map(char::len_utf8) } else { text.find(' ') };
    &text[..end.unwrap_or(text.len())]
}

/// Returns the letters and digits that a text begins with, in one form.
fn first_word(text: &str) -> String {
    let mut word = String::new();
    for c in text.chars() {
        if c.is_ascii() {
            if !c.is_ascii_alphanumeric() {
                break;
            }
            word.push(c.to_ascii_lowercase());
            continue;
        }
        let before = word.len();
        push_folded(c, &mut word);
        if word[before..].contains(|c: char| !c.is_alphanumeric()) {
            word.truncate(before);
            break;
        }
    }
    word
}
