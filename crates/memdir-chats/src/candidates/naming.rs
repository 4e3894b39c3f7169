//! Names, descriptions, keys and tripwires of candidates. Pure.

use super::{
    rules::is_rule,
    sentence::Sentence,
    typed::{is_cjk, split_words},
};
use crate::{evidence::CallEvidence, json::one_line};
use memdir_core::{Kind, internal::operations::import::slug};
use serde_json::{Map, Value};

/// Characters of a description: one line of a list.
const DESCRIPTION_CHARS: usize = 120;
/// Words of a name, and characters of one in a script without spaces.
const NAME_WORDS: usize = 6;
const NAME_CHARS: usize = 14;
/// The maximum number of patterns of a proposed rule.
const MAX_PATTERNS: usize = 4;

/// Words without meaning in a name.
const STOP: &[&str] = &[
    "the", "a", "an", "that", "this", "it", "is", "are", "to", "of", "in", "on", "and", "or", "please", "we", "you", "i", "be", "for",
    "with", "here", "der", "die", "das", "ein", "eine", "ist", "und", "el", "la", "los", "las", "un", "una", "que", "de", "le", "les",
    "des", "est", "il", "lo", "en",
];

/// Returns a name in a folder: the first words with a meaning, in any script.
pub(super) fn name(folder: &str, text: &str, key: &str) -> String {
    let kept: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .filter(|word| !word.is_empty() && !STOP.contains(&word.to_lowercase().as_str()))
        .take(NAME_WORDS)
        .collect();
    let joined = kept.join(" ").replace(['\'', '’'], "");
    let short: String = if joined.chars().any(is_cjk) { joined.chars().take(NAME_CHARS).collect() } else { joined };
    let slug = if short.is_empty() { format!("note-{}", &key[..key.len().min(8)]) } else { slug(&short) };
    format!("{folder}/{slug}")
}

/// Returns a description: the text on one line, with a capital letter.
pub(super) fn description(text: &str) -> String {
    let line = one_line(text.trim().trim_start_matches(|c: char| !c.is_alphanumeric()), DESCRIPTION_CHARS);
    let mut chars = line.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Returns the key of evidence: its words, whatever their case and punctuation, and the action.
pub(super) fn key(kind: &str, text: &str, action: &str) -> String {
    let evidence = format!("{kind}\n{}\n{action}", split_words(text).join(" "));
    blake3::hash(evidence.as_bytes()).to_hex()[..24].to_owned()
}

/// Returns the type for a request to remember: about the person, about ways of working, or about the project.
pub(super) fn kind_of(text: &str) -> Kind {
    const PERSON: &[&str] = &[
        "i", "i'm", "my", "me", "ich", "mein", "meine", "mir", "yo", "mi", "je", "mon", "ma", "io", "mio", "eu", "meu", "ik", "mijn", "я",
        "мой", "мне",
    ];
    let all = split_words(text);
    if all.iter().take(3).any(|word| PERSON.contains(&word.as_str())) {
        Kind::User
    } else if is_rule(&Sentence::new(text)) {
        Kind::Feedback
    } else {
        Kind::Project
    }
}

/// Returns the folder for a type.
pub(super) fn folder(kind: Kind) -> &'static str {
    match kind {
        Kind::User => "user",
        Kind::Feedback => "feedback",
        Kind::Project | Kind::Reference => "notes",
    }
}

/// Returns `when:` with one key.
pub(super) fn when(key: &str, mut patterns: Vec<String>) -> Option<Map<String, Value>> {
    patterns.truncate(MAX_PATTERNS);
    let value = match patterns.len() {
        0 => return None,
        1 => Value::from(patterns.into_iter().next()),
        _ => Value::from(patterns),
    };
    Some(Map::from_iter([(key.to_owned(), value)]))
}

/// Returns the words that a command like this begins with: the program, its subcommand and its first options, without operands.
pub(super) fn command_pattern(command: &str) -> Option<String> {
    let main = crate::evidence::main_command(command)?;
    let mut kept: Vec<&str> = Vec::new();
    for word in main.split(' ').take(4) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
        let is_operand = !word.chars().all(is_plain) || word.contains('.') || word.chars().any(|c| c.is_ascii_digit());
        let follows_option = kept.last().is_some_and(|last| last.starts_with('-'));
        if !kept.is_empty() && (is_operand || (follows_option && !word.starts_with('-'))) {
            break;
        }
        kept.push(word);
    }
    // A program alone and its operand: `npm install left-pad` is about `npm install`.
    if kept.len() == 3 && kept.iter().all(|word| !word.starts_with('-')) {
        kept.pop();
    }
    (!kept.is_empty()).then(|| kept.join(" "))
}

/// Returns a path relative to the project's directory, if it is in it.
pub(super) fn relative<'p>(path: &'p str, project: Option<&str>) -> &'p str {
    let inside = project.and_then(|dir| path.strip_prefix(dir.trim_end_matches('/'))).and_then(|rest| rest.strip_prefix('/'));
    inside.unwrap_or(path).trim_start_matches("./")
}

/// Returns the tripwires for an action: its command, or its target paths. A path is widened to its folder if the person named that.
pub(super) fn action_when(calls: &[&CallEvidence], project: Option<&str>, reason: &str) -> Option<Map<String, Value>> {
    let commands: Vec<String> = unique(calls.iter().filter_map(|call| command_pattern(call.command.as_deref()?)));
    if !commands.is_empty() {
        return when("command", commands);
    }
    let named = split_words(reason);
    let widened = |path: &str| {
        let path = relative(path, project);
        let folders: Vec<&str> = path.split('/').collect();
        let at = folders[..folders.len() - 1].iter().rposition(|folder| {
            let folder = folder.to_lowercase();
            named.iter().any(|word| {
                word.len() > 3 && (folder == *word || folder.trim_end_matches('s') == *word || folder == word.trim_end_matches('s'))
            })
        });
        at.map_or_else(|| path.to_owned(), |at| format!("{}/**", folders[..=at].join("/")))
    };
    when("path", unique(calls.iter().flat_map(|call| &call.paths).map(|path| widened(path))))
}

/// Returns a short description of an action.
pub(super) fn action(call: &CallEvidence, project: Option<&str>) -> String {
    match (&call.command, call.paths.first()) {
        (Some(command), _) => format!("`{}`", one_line(command, 120).replace('`', "'")),
        (None, Some(path)) => format!("{} of `{}`", call.tool, relative(path, project)),
        (None, None) => format!("`{}`", call.tool),
    }
}

/// Returns each item once.
pub(super) fn unique(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    for item in items {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    kept
}
