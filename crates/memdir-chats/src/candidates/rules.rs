//! Whether a sentence is a rule, the reason of a denial, or a wish that nothing is kept. A rule must be understood without its context,
//! so a sentence about this moment, about what a person sees, or about what others say is not a rule. Pure.

use super::{
    lexicon::PhraseKind,
    sentence::{Sentence, begins_with_quote, strip_any},
    typed::{is_question, says_something},
};

/// Sentences of a message in which a reason is looked for: what follows is the next task.
const REASON_SENTENCES: usize = 4;
/// Words of a message that only asks to continue the work.
const GO_AHEAD_WORDS: usize = 6;
/// Words of a request that names nothing and so applies to the whole conversation: "remember nothing, please".
const BARE_REQUEST_WORDS: usize = 4;

/// Whether a sentence says how things are done every time.
pub(super) fn is_rule(sentence: &Sentence<'_>) -> bool {
    if is_question(sentence.text)
        || begins_with_quote(sentence.rest)
        || sentence.begins(PhraseKind::Maybe)
        || sentence.has(PhraseKind::Passing)
        || sentence.has(PhraseKind::Saying)
    {
        return false;
    }
    if sentence.begins_as_rule() {
        return true;
    }
    let is_habit = sentence.begins(PhraseKind::Habits);
    if sentence.has(PhraseKind::Trouble) || (sentence.begins(PhraseKind::Context) && !is_habit) {
        return false;
    }
    if sentence.begins(PhraseKind::Praise) || sentence.opens_with(PhraseKind::Praise) {
        return sentence.has_rule_clause();
    }
    let has_contrast = sentence.has(PhraseKind::Contrasts);
    if sentence.begins(PhraseKind::Tasks) {
        return has_contrast || sentence.has(PhraseKind::Lasting);
    }
    is_habit || has_contrast || sentence.has(PhraseKind::Norms) || sentence.has_rule_clause() || is_generic(sentence)
}

/// Whether a sentence speaks of all things of a kind: "Prices are stored in cents". Only English says it without an article.
fn is_generic(sentence: &Sentence<'_>) -> bool {
    const VERBS: &[&str] = &["are", "go", "live", "belong", "come", "stay", "use"];
    let mut words = sentence.iter_words();
    let is_plural = words.next().is_some_and(|first| first.len() > 4 && first.ends_with('s') && !first.ends_with("ss"));
    is_plural && sentence.language.is_english && words.take(4).any(|word| VERBS.contains(&word))
}

/// Whether a message says why an action was denied: a rule, an alternative, or a state that forbids it. Not another topic, not
/// something for later, not a task, and not a word that lets the work go on.
pub(super) fn is_reason(message: &str, all: &[Sentence<'_>]) -> bool {
    if !says_something(message) || all.last().is_none_or(|last| is_question(last.text)) || is_go_ahead(message, all) {
        return false;
    }
    let read = &all[..all.len().min(REASON_SENTENCES)];
    !read.iter().any(|sentence| sentence.has(PhraseKind::Retractions) && !sentence.begins_as_rule()) && read.iter().any(says_why)
}

fn says_why(sentence: &Sentence<'_>) -> bool {
    if is_question(sentence.text)
        || sentence.has(PhraseKind::Passing)
        || sentence.has(PhraseKind::Saying)
        || sentence.begins(PhraseKind::Maybe)
        || sentence.begins(PhraseKind::Praise)
        || sentence.opens_with(PhraseKind::Later)
    {
        return false;
    }
    if sentence.begins_as_rule() {
        return true;
    }
    if sentence.clause_begins(PhraseKind::Later) {
        return false;
    }
    let is_habit = sentence.begins(PhraseKind::Habits);
    let is_protected = sentence.has(PhraseKind::Protected);
    if sentence.has_rule_clause() || is_habit {
        return true;
    }
    if sentence.has(PhraseKind::Trouble) || (sentence.begins(PhraseKind::Context) && !is_protected) {
        return false;
    }
    let has_contrast = sentence.has(PhraseKind::Contrasts);
    if sentence.begins(PhraseKind::Tasks) && !is_protected {
        return has_contrast || sentence.has(PhraseKind::Lasting);
    }
    is_protected || has_contrast || sentence.has(PhraseKind::Norms)
}

/// Whether a message only asks to continue the work, or thanks.
pub(super) fn is_go_ahead(message: &str, all: &[Sentence<'_>]) -> bool {
    is_continuation(&Sentence::new(message), all)
}

/// Whether a text, of which `all` are the sentences, only asks to continue the work.
pub(super) fn is_continuation(whole: &Sentence<'_>, all: &[Sentence<'_>]) -> bool {
    let begins = whole.language.may_begin(whole.text).contains(PhraseKind::GoAhead)
        && strip_any(whole.text.trim(), whole.language.go_ahead, whole.language).is_some();
    begins && (whole.iter_words().count() <= GO_AHEAD_WORDS || !all.iter().any(says_why))
}

/// What a person wants not to be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PrivacyRequest {
    /// What the message says.
    Message,
    /// Everything in the conversation.
    Conversation,
}

/// Returns the wish of a message that something is not remembered.
pub(super) fn privacy_request(message: &[Sentence<'_>]) -> Option<PrivacyRequest> {
    message.iter().filter_map(sentence_request).max()
}

/// Returns the wish of a sentence.
pub(super) fn sentence_request(sentence: &Sentence<'_>) -> Option<PrivacyRequest> {
    let language = sentence.language;
    let is_request = sentence.begins(PhraseKind::Unremember)
        || (language.is_unspaced && sentence.has(PhraseKind::Unremember))
        || sentence.strip(PhraseKind::Polite).is_some_and(|rest| strip_any(rest.trim_start(), language.unremember, language).is_some());
    if (is_request || sentence.has(PhraseKind::Unsave)) && sentence.has(PhraseKind::Conversation) {
        return Some(PrivacyRequest::Conversation);
    }
    let is_bare = sentence.iter_words().count() <= BARE_REQUEST_WORDS && !language.is_unspaced;
    is_request.then_some(if is_bare { PrivacyRequest::Conversation } else { PrivacyRequest::Message })
}
