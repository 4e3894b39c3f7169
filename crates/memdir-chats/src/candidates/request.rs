//! Whether a sentence asks to remember something, and what. The request is at the beginning, addressed to the agent, and what follows
//! is a statement or a rule: "Remember password checkbox is broken" names a thing, and "remember to commit" is a task. Pure.

use super::{
    lexicon::{Language, PhraseKind},
    rules::{is_rule, sentence_request},
    sentence::{Sentence, begins_with_quote, strip_any},
    typed::{is_question, says_something},
};

/// Returns what a sentence asks to remember, as it was typed; empty if it points to another sentence; `None` if it asks for nothing.
pub(super) fn requested<'t>(sentence: &Sentence<'t>) -> Option<&'t str> {
    let (text, language) = (sentence.text, sentence.language);
    if begins_with_quote(sentence.rest) || sentence_request(sentence).is_some() {
        return None;
    }
    let polite = sentence.strip(PhraseKind::Polite);
    // "Can you remember that …?" is a request, any other question is not.
    if is_question(text) && polite.is_none() {
        return None;
    }
    let behind = polite.map(|rest| Sentence::in_language(rest, language));
    let request = behind.as_ref().unwrap_or(sentence);
    if let Some(tail) = request.strip(PhraseKind::FromNowOn) {
        let rule = Sentence::in_language(tail, language);
        let is_stated = (rule.begins_as_rule() || rule.begins(PhraseKind::Habits)) && is_rule(&rule);
        // A task for every time is a rule: "from now on, write commit messages in German".
        let is_lasting_task = rule.begins(PhraseKind::Tasks) && says_something(tail) && !rule.has(PhraseKind::Passing);
        return ((is_stated || is_lasting_task) && !rule.has(PhraseKind::Trouble)).then(|| trimmed(tail));
    }
    match request.strip(PhraseKind::Requests) {
        Some(tail) => content(tail, language, polite.is_some()),
        None => {
            let end = text.trim_end_matches(|c: char| !c.is_alphanumeric());
            let before = language.endings.iter().filter_map(|ending| end.strip_suffix(ending)).min_by_key(|rest| rest.len())?;
            // "これを覚えておいて" points to another sentence.
            if language.pointers.contains(&before.trim()) {
                return Some("");
            }
            let read = Sentence::in_language(before, language);
            (says_something(before) && !read.has(PhraseKind::Trouble) && !read.has(PhraseKind::Passing)).then(|| trimmed(before))
        }
    }
}

/// Returns what follows a request, if it can be remembered.
fn content<'t>(tail: &'t str, language: &'static Language, is_polite: bool) -> Option<&'t str> {
    let is_colon = |text: &str| text.starts_with([':', '：', '—', '–']) || text.starts_with("- ");
    let mut pointed = if language.is_unspaced { tail.trim_start() } else { tail.trim_start_matches([' ', ',']) };
    while let Some(behind) = strip_any(pointed, language.pointers, language).filter(|_| !is_colon(pointed)) {
        pointed = behind.trim_start_matches([' ', ',']);
    }
    if is_colon(pointed) || (language.is_unspaced && pointed.starts_with(['，', ',', '、', ' '])) {
        return Some(trimmed(pointed)).filter(|content| says_something(content));
    }
    if !pointed.contains(char::is_alphanumeric) {
        return (!is_polite).then_some("");
    }
    // After "that" follows a statement: "remember, please, that …".
    let soft: Vec<&str> = language.pointers.iter().filter(|word| !language.that.contains(word)).copied().collect();
    let mut behind = tail.trim_start_matches([' ', ',']);
    while let Some(next) = strip_any(behind, &soft, language) {
        behind = next.trim_start_matches([' ', ',']);
    }
    if let Some(statement) = strip_any(behind, language.that, language) {
        let statement = trimmed(statement);
        let read = Sentence::in_language(statement, language);
        let is_stated = says_something(statement) && !read.has(PhraseKind::Passing) && !(language.is_english && is_thing(statement));
        return is_stated.then_some(statement);
    }
    // Without it, only a rule or a habit is not the name of a thing.
    let direct = trimmed(tail);
    let read = Sentence::in_language(direct, language);
    let to = strip_any(direct, &["to"], language).filter(|_| language.is_english).map(str::trim_start);
    if let Some(to) = to {
        let task = Sentence::in_language(to, language);
        return (task.has(PhraseKind::Lasting) && !task.has(PhraseKind::Passing)).then_some(to);
    }
    let is_stated = read.begins(PhraseKind::Habits) || read.begins_as_rule() || is_statement(direct, &read);
    (is_stated && says_something(direct) && !read.has(PhraseKind::Passing) && !read.has(PhraseKind::Trouble)).then_some(direct)
}

/// Whether "that" points to a thing instead of introducing a statement: "that function we wrote", "that bug from last week".
fn is_thing(statement: &str) -> bool {
    const SUBJECTS: &[&str] = &["we", "i", "you", "he", "she", "they", "from", "with"];
    const VERBS: &[&str] =
        &["is", "are", "was", "has", "have", "must", "may", "can", "should", "will", "never", "always", "only", "needs", "uses"];
    const ARTICLES: &[&str] = &[
        "the", "a", "an", "we", "i", "you", "it", "they", "our", "my", "your", "all", "every", "each", "this", "these", "only", "never",
        "always", "when", "if", "for", "in", "on", "no", "not", "there", "one", "some", "any", "both", "he", "she",
    ];
    let mut words = statement.split_whitespace();
    let Some(first) = words.next() else { return false };
    let is_plural = first.ends_with('s') && !first.ends_with("ss");
    // A name, an option or a file has no "that" before it.
    let is_name = first.contains(|c: char| !c.is_lowercase() && c != ',');
    if ARTICLES.contains(&first.to_lowercase().as_str()) || is_plural || is_name {
        return false;
    }
    for word in words.take(5) {
        if VERBS.contains(&word) {
            return false;
        }
        if SUBJECTS.contains(&word) || word.ends_with(',') {
            return true;
        }
    }
    true
}

/// Whether what follows a request directly is a statement: "the port is 5433", 测试端口是5433.
fn is_statement(text: &str, read: &Sentence<'_>) -> bool {
    const VERBS: &[&str] = &[
        "is", "are", "must", "has", "have", "uses", "runs", "lives", "listens", "needs", "belongs", "works", "requires", "expects", "goes",
        "comes", "takes", "only",
    ];
    if read.language.is_unspaced {
        return ["是", "用"].iter().any(|verb| text.contains(verb)) || (read.has(PhraseKind::Norms) && !text.contains('の'));
    }
    let mut words = text.split_whitespace();
    let has_article = words.next().is_some_and(|first| matches!(first, "the" | "all" | "our"));
    let is_name = words.clone().next().is_some_and(|noun| noun.starts_with(char::is_uppercase));
    has_article && !is_name && words.skip(1).take(3).any(|word| VERBS.contains(&word))
}

fn trimmed(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || ":,-–—：，、!.".contains(c)).trim_end().trim_end_matches('?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_recognized_at_the_beginning_of_a_sentence() {
        for (sentence, expected) in [
            ("Remember: the port is 5433", Some("the port is 5433")),
            ("Please remember that we never deploy on Fridays.", Some("we never deploy on Fridays.")),
            ("Hey Claude, remember that we use pnpm.", Some("we use pnpm.")),
            ("Can you remember that the port is 5433?", Some("the port is 5433")),
            ("Remember to always run make fmt", Some("always run make fmt")),
            ("Remember: use DATABASE_URL for src/App.tsx", Some("use DATABASE_URL for src/App.tsx")),
            ("Merk dir bitte, dass der Port 5433 ist", Some("der Port 5433 ist")),
            ("From now on, write commit messages in German.", Some("write commit messages in German.")),
            ("For future reference, the iOS build only works on Xcode 16.", Some("the iOS build only works on Xcode 16.")),
            ("For future reference: use pnpm, not npm", Some("use pnpm, not npm")),
            ("For future reference I put the log below", None),
            ("これを覚えておいて。", Some("")),
            ("이걸 기억해 줘", Some("")),
            ("From now on write the tests after lunch, not now, we are late today", None),
            ("Ab jetzt immer pnpm benutzen, nie npm", Some("immer pnpm benutzen, nie npm")),
            ("覚えておいて：ポートは5433", Some("ポートは5433")),
            ("ポートは5433であることを覚えておいてください", Some("ポートは5433であることを")),
            ("请记住，端口是5433", Some("端口是5433")),
            ("가격은 원 단위로 저장한다는 것을 기억해 줘", Some("가격은 원 단위로 저장한다는 것을")),
            ("تذكّر أننا نستخدم pnpm هنا", Some("نستخدم pnpm هنا")),
            ("Remember that.", Some("")),
            ("remember_token is null", None),
            ("Remember me does nothing", None),
            ("Remember when we changed it", None),
            ("do you remember the port?", None),
            ("Remember the port?", None),
            ("I can't remember the port", None),
            ("I remember that the port was 5432", None),
            ("Remembering filters is what the ticket asks for", None),
            ("Remember password checkbox does not stay checked", None),
            ("Remember that function we wrote yesterday, open it.", None),
            ("Remember to close the ticket", None),
            ("From now on the page shows a 404", None),
            ("Remember nothing of this", None),
            ("ポートを覚えていますか？", None),
            ("记住密码的功能坏了", None),
            ("\"Remember, I ordered two\" wrote the customer", None),
        ] {
            assert_eq!(requested(&Sentence::new(sentence)), expected, "{sentence}");
        }
    }
}
