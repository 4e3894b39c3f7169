//! Distils finished days of the daily logs: entries that state something lasting become lines of the memory they are about, or of one
//! memory per month. The logs themselves stay as they are.

use super::{
    DreamAction, DreamChange, DreamOperation, DreamReason,
    material::{Material, common},
    words::{self, ComparedWord, TokenClass},
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{path::MemoryPath, text},
    memory::compose,
    secrets,
};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The folder of the memories that collect facts of a month.
const FOLDER: &str = "distilled";
/// The most days with lasting entries of one plan; the rest of the days follows with the next one.
const MOST_DAYS: usize = 62;
/// Share of an entry's words that a memory contains if it says the same.
const KNOWN: f64 = 0.85;

/// What the logs hold.
#[derive(Debug, Default)]
pub(super) struct Distilled {
    pub(super) operations: Vec<DreamOperation>,
    /// The last day that was read.
    pub(super) through: Option<Date>,
}

/// An entry that states something lasting.
struct LogFact {
    day: Date,
    text: String,
    words: Vec<u64>,
    log: usize,
}

/// Returns the proposed memories and lines for the days after `through` and before today.
pub(super) fn find(material: &Material, through: Option<Date>, today: Date) -> Distilled {
    let is_new = |day: Date| day < today && through.is_none_or(|through| day > through);
    let mut days: Vec<(Date, usize)> =
        material.logs.iter().enumerate().filter_map(|(at, log)| Some((log.log_day()?, at))).filter(|(day, _)| is_new(*day)).collect();
    days.sort_unstable();
    let (mut facts, mut filled, mut last): (Vec<LogFact>, usize, Option<Date>) = (Vec::new(), 0, None);
    for (day, at) in &days {
        // Several mounts may have a log of one day.
        if filled >= MOST_DAYS && last != Some(*day) {
            break;
        }
        let entries = entries(material.logs[*at].memory.body());
        let before = facts.len();
        facts.extend(entries.into_iter().filter(|entry| is_lasting(entry)).map(|text| LogFact {
            day: *day,
            words: words_of(&text),
            text,
            log: *at,
        }));
        filled += usize::from(facts.len() > before);
        last = Some(*day);
    }
    let postings = postings(material, &facts);
    let mut by_target: BTreeMap<(String, Option<usize>), Vec<&LogFact>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| !is_known(material, &postings, fact)) {
        let log = &material.logs[fact.log];
        let (path, file) = target(material, &postings, fact, &log.prefix);
        by_target.entry((path, file)).or_default().push(fact);
    }
    let operations = by_target.into_iter().filter_map(|((path, file), facts)| operation(material, &path, file, &facts)).collect();
    Distilled { operations, through: last }
}

/// The entries of a log: list items with their continuation lines, without the time of day.
fn entries(body: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in body.lines() {
        match line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
            Some(entry) => out.push(without_time(entry.trim()).to_owned()),
            None if line.starts_with(' ') && !line.trim().is_empty() => {
                if let Some(last) = out.last_mut() {
                    last.push_str(&format!(" {}", line.trim()));
                }
            }
            None => {}
        }
    }
    out
}

fn without_time(entry: &str) -> &str {
    let is_time = |word: &str| word.len() == 5 && word.as_bytes()[2] == b':' && word.bytes().filter(u8::is_ascii_digit).count() == 4;
    match entry.split_once(' ') {
        Some((time, rest)) if time.is_ascii() && is_time(time) => rest.trim(),
        _ => entry,
    }
}

/// Words of entries that state something lasting.
const LASTING: [&str; 30] = [
    "decided", "decision", "agreed", "prefer", "prefers", "preference", "always", "never", "must", "because", "root", "cause", "fixed",
    "learned", "turns", "remember", "deadline", "owner", "owns", "default", "requires", "needs", "rule", "convention", "moved", "renamed",
    "replaced", "instead", "lives", "note",
];
/// First words of entries about the work of the day.
const ROUTINE: [&str; 18] = [
    "started", "starting", "ran", "run", "running", "continued", "continue", "looked", "read", "reading", "worked", "working", "wip",
    "todo", "tried", "checked", "opened", "reviewed",
];

fn is_lasting(entry: &str) -> bool {
    let lower = entry.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let first = words.first().copied().unwrap_or_default();
    let has_mark = words.iter().any(|word| LASTING.contains(word));
    words.len() >= 5
        && (has_mark || states_a_value(entry))
        && !ROUTINE.contains(&first)
        && !lower.contains("compacted the conversation")
        && secrets::scan(entry).is_empty()
}

/// Whether an entry says what something is, with a number, a path or a name of code: `The rate limit is 300 per minute`.
fn states_a_value(entry: &str) -> bool {
    let tokens = words::tokens(entry);
    let is_vague = tokens.first().is_some_and(|token| matches!(token.text.as_str(), "it" | "this" | "that" | "there" | "i" | "we"));
    let copula = tokens.iter().position(|token| token.class == TokenClass::Copula && matches!(token.text.as_str(), "is" | "are"));
    !is_vague && copula.is_some_and(|at| at > 0 && tokens[at..].iter().any(|token| token.class == TokenClass::Fact))
}

fn words_of(text: &str) -> Vec<u64> {
    let mut words: Vec<u64> = words::tokens(text)
        .iter()
        .filter(|token| ComparedWord::is_content(token))
        .map(|token| words::hash_of([token.text.as_str()]))
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The memories that contain each word of the entries.
fn postings(material: &Material, facts: &[LogFact]) -> HashMap<u64, Vec<usize>> {
    let mut out: HashMap<u64, Vec<usize>> = facts.iter().flat_map(|fact| &fact.words).map(|word| (*word, Vec::new())).collect();
    if out.is_empty() {
        return out;
    }
    for (at, file) in material.files.iter().enumerate() {
        for word in &file.features.words {
            if let Some(files) = out.get_mut(word) {
                files.push(at);
            }
        }
    }
    out
}

/// The memories that contain the rarest words of an entry.
fn candidates(postings: &HashMap<u64, Vec<usize>>, fact: &LogFact) -> BTreeSet<usize> {
    let mut lists: Vec<&Vec<usize>> = fact.words.iter().filter_map(|word| postings.get(word)).filter(|list| !list.is_empty()).collect();
    lists.shared_sort_by_key(|list| list.len());
    lists.into_iter().take(3).flat_map(|list| list.iter().copied().take(200)).collect()
}

fn is_known(material: &Material, postings: &HashMap<u64, Vec<usize>>, fact: &LogFact) -> bool {
    let says_it = |at: usize| common(&fact.words, &material.files[at].features.words) as f64 >= KNOWN * fact.words.len() as f64;
    candidates(postings, fact).into_iter().any(says_it)
}

/// The memory whose whole title is in the entry, else the memory of the month.
fn target(material: &Material, postings: &HashMap<u64, Vec<usize>>, fact: &LogFact, prefix: &str) -> (String, Option<usize>) {
    let titled = candidates(postings, fact).into_iter().filter(|at| {
        let file = &material.files[*at];
        file.prefix == prefix
            && file.features.title.len() >= 2
            && file.features.title.iter().all(|word| fact.words.binary_search(word).is_ok())
    });
    if let Some(at) = titled.max_by_key(|at| material.files[*at].features.title.len()) {
        return (material.files[at].path.to_string(), Some(at));
    }
    let name = format!("{FOLDER}/{}.md", fact.day.strftime("%Y-%m"));
    let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
    let existing = material.files.iter().position(|file| file.path.as_str() == path);
    (path, existing)
}

fn operation(material: &Material, path: &str, file: Option<usize>, facts: &[&LogFact]) -> Option<DreamOperation> {
    let lines: String = facts.iter().map(|fact| format!("- {}: {}\n", fact.day, fact.text)).collect();
    let logs: BTreeSet<usize> = facts.iter().map(|fact| fact.log).collect();
    let sources: Vec<_> = logs.iter().map(|at| (material.logs[*at].path.clone(), material.logs[*at].version)).collect();
    let count = facts.len();
    let (action, change, name) = match file.map(|at| &material.files[at]) {
        Some(file) => {
            let text = format!("{}\n{lines}", file.memory.text().trim_end());
            (DreamAction::Update, DreamChange::Write { path: file.path.clone(), version: file.version, text }, file.name().to_owned())
        }
        None => {
            let path = MemoryPath::parse(path).ok()?;
            let month = facts.first()?.day.strftime("%Y-%m").to_string();
            let description = text::ellipsis(&facts.iter().map(|fact| fact.text.as_str()).collect::<Vec<_>>().join("; "), 90).into_owned();
            let body =
                compose(&[("name", &format!("Facts from the {month} logs")), ("description", &description), ("type", "project")], &lines);
            let name = path.name().to_owned();
            (DreamAction::Create, DreamChange::New { path, text: body }, name)
        }
    };
    Some(DreamOperation {
        action,
        reason: DreamReason::Log,
        why: match count {
            1 => format!("1 lasting entry in the daily logs is in none of the compared memories; it is copied to {name}"),
            _ => format!("{count} lasting entries in the daily logs are in none of the compared memories; they are copied to {name}"),
        },
        confidence: 65,
        sources,
        changes: vec![change],
        diff: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::{entries, is_lasting};

    #[test]
    fn entries_lose_their_times_and_keep_their_lines() {
        assert_eq!(entries("- 14:05 one\n  more\n\n- two\ntext\n"), ["one more", "two"]);
    }

    #[test]
    fn routine_is_not_lasting() {
        assert!(is_lasting("decided: the exporter writes to bucket eu-7"));
        assert!(!is_lasting("ran the tests because of the failure"));
        assert!(!is_lasting("fixed it"));
        assert!(is_lasting("The API rate limit is 300 requests per minute"));
        assert!(!is_lasting("it is 300 requests per minute now"));
    }
}
