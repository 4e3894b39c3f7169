//! Whether a sentence is a rule, the reason of a denial, or a wish that nothing is kept. A rule must be understood without its context,
//! so a sentence about this moment, about what a person sees, or about what others say is not a rule. Pure.

use super::{
    lexicon::Language,
    sentence::{Sentence, begins_with_quote, strip_any},
    typed::{is_question, says_something, sentences},
};

/// Sentences of a message in which a reason is looked for: what follows is the next task.
const REASON_SENTENCES: usize = 4;
/// Words of a wish that names nothing and so is for the whole conversation: "remember nothing, please".
const BARE_WISH_WORDS: usize = 4;

/// Whether a sentence says how things are done every time.
pub(super) fn is_rule(sentence: &Sentence<'_>) -> bool {
    let language = sentence.language;
    if is_question(sentence.text)
        || begins_with_quote(sentence.rest)
        || sentence.begins(language.maybe)
        || sentence.has(language.passing)
        || sentence.has(language.saying)
    {
        return false;
    }
    if sentence.begins_as_rule() {
        return true;
    }
    let is_habit = sentence.begins(language.habits);
    if sentence.has(language.trouble) || (sentence.begins(language.context) && !is_habit) {
        return false;
    }
    if sentence.begins(language.praise) || sentence.opens_with(language.praise) {
        return sentence.has_rule_clause();
    }
    let has_contrast = sentence.has(language.contrasts);
    if sentence.begins(language.tasks) {
        return has_contrast || sentence.has(language.lasting);
    }
    is_habit || has_contrast || sentence.has(language.norms) || sentence.has_rule_clause() || is_generic(sentence)
}

/// Whether a sentence speaks of all things of a kind: "Prices are stored in cents". Only English says it without an article.
fn is_generic(sentence: &Sentence<'_>) -> bool {
    const VERBS: &[&str] = &["are", "go", "live", "belong", "come", "stay", "use"];
    let mut words = sentence.words();
    let is_plural = words.next().is_some_and(|first| first.len() > 4 && first.ends_with('s') && !first.ends_with("ss"));
    is_plural && sentence.language.is_english && words.take(4).any(|word| VERBS.contains(&word))
}

/// Whether a message says why an action was denied: a rule, an alternative, or a state that forbids it. Not another topic, not
/// something for later, not a task, and not a word that lets the work go on.
pub(super) fn is_reason(message: &str) -> bool {
    let all = sentences(message);
    if !says_something(message) || all.last().is_none_or(|last| is_question(last)) || is_go_ahead(message) {
        return false;
    }
    let read: Vec<Sentence<'_>> = all.into_iter().take(REASON_SENTENCES).map(Sentence::new).collect();
    !read.iter().any(|sentence| sentence.has(sentence.language.retractions) && !sentence.begins_as_rule()) && read.iter().any(says_why)
}

fn says_why(sentence: &Sentence<'_>) -> bool {
    let language = sentence.language;
    if is_question(sentence.text)
        || sentence.has(language.passing)
        || sentence.has(language.saying)
        || sentence.begins(language.maybe)
        || sentence.begins(language.praise)
        || sentence.opens_with(language.later)
    {
        return false;
    }
    if sentence.begins_as_rule() {
        return true;
    }
    if sentence.clause_begins(language.later) {
        return false;
    }
    let is_habit = sentence.begins(language.habits);
    let is_protected = sentence.has(language.protected);
    if sentence.has_rule_clause() || is_habit {
        return true;
    }
    if sentence.has(language.trouble) || (sentence.begins(language.context) && !is_protected) {
        return false;
    }
    let has_contrast = sentence.has(language.contrasts);
    if sentence.begins(language.tasks) && !is_protected {
        return has_contrast || sentence.has(language.lasting);
    }
    is_protected || has_contrast || sentence.has(language.norms)
}

/// Whether a message only lets the work go on, or thanks.
pub(super) fn is_go_ahead(message: &str) -> bool {
    let whole = Sentence::new(message);
    let language = whole.language;
    let begins = strip_any(message.trim(), language.go_ahead, language).is_some();
    begins && (whole.words().count() <= 6 || !sentences(message).into_iter().map(Sentence::new).any(|sentence| says_why(&sentence)))
}

/// What a person wants not to be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PrivacyWish {
    /// What the message says.
    Message,
    /// Everything in the conversation.
    Conversation,
}

/// Returns the wish of a message that something is not remembered.
pub(super) fn privacy_wish(message: &str) -> Option<PrivacyWish> {
    sentences(message).into_iter().filter_map(|sentence| wish_of(&Sentence::new(sentence))).max()
}

fn wish_of(sentence: &Sentence<'_>) -> Option<PrivacyWish> {
    let language: &Language = sentence.language;
    let is_wish = sentence.begins(language.unremember)
        || (language.is_unspaced && sentence.has(language.unremember))
        || strip_any(sentence.rest, language.polite, language)
            .is_some_and(|rest| strip_any(rest.trim_start(), language.unremember, language).is_some());
    let is_saving = sentence.has(language.unsave);
    if (is_wish || is_saving) && sentence.has(language.conversation) {
        return Some(PrivacyWish::Conversation);
    }
    let is_bare = sentence.words().count() <= BARE_WISH_WORDS && !language.is_unspaced;
    is_wish.then_some(if is_bare { PrivacyWish::Conversation } else { PrivacyWish::Message })
}
