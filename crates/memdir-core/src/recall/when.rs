//! Tripwires: the frontmatter field `when`, which names the actions on which a memory must be shown. Pure.
//!
//! ```yaml
//! when:
//!   command: ["git push*", npm publish]
//!   path: migrations/**
//!   words: [deploy, "roll back"]
//!   tools: [Bash]
//!   strength: hold
//! ```
//! Any one command, path or word trips it. `tools` beside them restricts them to those tools; alone, it trips by itself. `strength`
//! says what happens to the action then.

mod command;
mod format;

use crate::{
    base::{error::Problem, glob::Glob, limits, steps, text},
    memory::Memory,
};
pub use command::commands;
pub(crate) use format::to_yaml;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Tripwires of one memory. Each is matched before every action; the rest is reported.
const TRIPWIRES: usize = 256;

/// What a tripwire watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TripwireKind {
    /// Commands: a glob over a whole command, or the words that the command begins with.
    Command,
    /// Paths: a glob; one without `/` matches the file name in every folder.
    Path,
    /// Words of a message or an action, whole and case-insensitive; a final `*` matches any ending.
    Words,
    /// Names of tools: a case-insensitive glob.
    Tools,
}

/// One tripwire of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tripwire {
    /// What it watches.
    pub over: TripwireKind,
    /// The pattern, as written.
    pub pattern: String,
    /// Its line in the memory.
    pub line: u64,
}

/// What a tripwire does to an action that touches it, from weakest to strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// The action runs; the model reads the memory with its result.
    Tell,
    /// The first such action of a conversation is stopped with the memory as the reason; later ones are like [`Strength::Tell`].
    Hold,
    /// The host asks the person, once the person has accepted the text; until then like [`Strength::Hold`].
    Ask,
    /// The action is refused, once the person has accepted the text; until then like [`Strength::Hold`].
    Deny,
}

impl Strength {
    /// All of them, from weakest to strongest.
    pub const ALL: [Strength; 4] = [Strength::Tell, Strength::Hold, Strength::Ask, Strength::Deny];

    /// The value in the frontmatter.
    pub fn name(self) -> &'static str {
        match self {
            Strength::Tell => "tell",
            Strength::Hold => "hold",
            Strength::Ask => "ask",
            Strength::Deny => "deny",
        }
    }

    /// Parses a value of the frontmatter, in any case.
    pub fn parse(text: &str) -> Option<Strength> {
        Strength::ALL.into_iter().find(|strength| strength.name().eq_ignore_ascii_case(text.trim()))
    }
}

/// The field `when` of a memory: its tripwires, and how strong they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct When {
    /// The tripwires, in the order of the text.
    pub tripwires: Vec<Tripwire>,
    /// The strength of all of them. Without one, the default is [`Strength::Hold`] for commands and [`Strength::Tell`] for everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
}

/// What an agent is about to do.
#[derive(Debug, Clone, Default)]
pub struct Action<'a> {
    /// The tool that will be called.
    pub tool: Option<&'a str>,
    /// The command that will be run.
    pub command: Option<&'a str>,
    /// The files that will be touched, with `/`, relative to the project's root if they are in it.
    pub paths: Vec<&'a str>,
    /// The message about it.
    pub text: Option<&'a str>,
}

/// Parses the tripwires of a memory. What is invalid is reported and skipped.
pub fn parse_field(memory: &Memory) -> (When, Vec<Problem>) {
    let Some(raw) = memory.when() else { return (When::default(), Vec::new()) };
    let first = text::line_at(memory.text(), raw.as_ptr() as usize - memory.text().as_ptr() as usize);
    parse(raw, first)
}

/// Parses the value of a `when` field that begins on line `first`.
pub fn parse(raw: &str, first: u64) -> (When, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut wires = Vec::new();
    let mut strength = None;
    let mut place = ValueCursor { raw, at: 0, line: first };
    let mut add = |over, value: &Value, place: &mut ValueCursor<'_>| {
        wires.extend(patterns(value).into_iter().map(|pattern| Tripwire { over, line: place.line_of(&pattern), pattern }));
    };
    // A snippet would be a second line, and a part of the memory.
    let options = serde_saphyr::options! { with_snippet: false };
    match serde_saphyr::from_str_with_options::<Value>(&dedent(raw), options) {
        Ok(Value::Object(map)) => {
            for (key, value) in &map {
                let line = place.line_of(key);
                match kind(key) {
                    Some(over) => add(over, value, &mut place),
                    None if key.eq_ignore_ascii_case("strength") => {
                        strength = value.as_str().and_then(Strength::parse);
                        if strength.is_none() {
                            let what = format!("when: unknown strength {value}; expected tell, hold, ask or deny");
                            problems.push(Problem::at(place.line_of(value.as_str().unwrap_or_default()), what));
                        }
                    }
                    None => {
                        let what = format!("when: unknown key {key:?}; expected command, path, words, tools or strength");
                        problems.push(Problem::at(line, what));
                    }
                }
            }
        }
        Ok(value) => add(TripwireKind::Words, &value, &mut place),
        Err(error) => problems.push(Problem::at(first, format!("when: invalid YAML: {}", reason(&error)))),
    }
    if wires.len() > TRIPWIRES {
        let what = format!("when: too many tripwires ({}): the maximum is {}; remove some", wires.len(), TRIPWIRES);
        problems.push(Problem::at(wires[TRIPWIRES].line, what));
        wires.truncate(TRIPWIRES);
    }
    (When { tripwires: wires, strength }, problems)
}

/// The reason of the parser without its place, which counts from the beginning of the value and not of the file.
fn reason(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let place = error.location().map(|at| format!(" at line {}, column {}", at.line(), at.column()));
    place.and_then(|place| text.strip_suffix(&place)).map_or_else(|| text.clone(), str::to_owned)
}

impl When {
    /// The first tripwire that an action touches.
    pub fn trips(&self, action: &Action<'_>) -> Option<&Tripwire> {
        let (tools, others): (Vec<&Tripwire>, Vec<&Tripwire>) = self.tripwires.iter().partition(|wire| wire.over == TripwireKind::Tools);
        let tool = tools.iter().find(|wire| wire.trips(action));
        if others.is_empty() || (!tools.is_empty() && tool.is_none()) {
            return tool.copied();
        }
        others.into_iter().find(|wire| wire.trips(action))
    }

    /// The tripwires that can never be touched, with the reason. A path that matches no file today is not among them, because the
    /// file may be created tomorrow.
    pub fn unreachable(&self) -> Vec<Problem> {
        let problem = |wire: &Tripwire| {
            wire.unreachable_reason().map(|why| Problem::at(wire.line, format!("the tripwire {:?} can never fire: {why}", wire.pattern)))
        };
        self.tripwires.iter().filter_map(problem).collect()
    }

    /// What one of these tripwires does to an action: the strength of the field, or the default of its kind.
    pub fn strength_of(&self, wire: &Tripwire) -> Strength {
        self.strength.unwrap_or(match wire.over {
            TripwireKind::Command => Strength::Hold,
            TripwireKind::Path | TripwireKind::Words | TripwireKind::Tools => Strength::Tell,
        })
    }

    /// The value of the field as one line of YAML, such that [`parse`] returns the same tripwires:
    /// `{command: ["git push*"], strength: hold}`.
    pub fn to_yaml(&self) -> String {
        let kinds = [TripwireKind::Command, TripwireKind::Path, TripwireKind::Words, TripwireKind::Tools];
        let list = |over: TripwireKind| {
            let patterns: Vec<&str> = self.tripwires.iter().filter(|wire| wire.over == over).map(|wire| wire.pattern.as_str()).collect();
            // A list of JSON strings is valid YAML, whatever is in the strings.
            (!patterns.is_empty()).then(|| format!("{}: {}", over.name(), Value::from(patterns)))
        };
        let strength = self.strength.map(|strength| format!("strength: {}", strength.name()));
        format!("{{{}}}", kinds.into_iter().filter_map(list).chain(strength).collect::<Vec<_>>().join(", "))
    }
}

impl TripwireKind {
    /// The key in the frontmatter.
    pub fn name(self) -> &'static str {
        match self {
            TripwireKind::Command => "command",
            TripwireKind::Path => "path",
            TripwireKind::Words => "words",
            TripwireKind::Tools => "tools",
        }
    }
}

impl Tripwire {
    /// Whether an action touches this tripwire.
    pub fn trips(&self, action: &Action<'_>) -> bool {
        match self.over {
            TripwireKind::Command => action.command.is_some_and(|line| command::matches(&self.pattern, line)),
            TripwireKind::Path => action.paths.iter().any(|path| self.matches_path(path)),
            TripwireKind::Words => {
                let texts = [action.command, action.text].into_iter().flatten().chain(action.paths.iter().copied());
                pattern_words(&self.pattern).is_some_and(|wanted| texts.into_iter().any(|text| has_words(text, &wanted)))
            }
            TripwireKind::Tools => action
                .tool
                .is_some_and(|tool| Glob::text(&self.pattern.to_lowercase()).is_ok_and(|glob| glob.matches(&tool.to_lowercase()))),
        }
    }

    /// Whether a path matches this pattern.
    pub fn matches_path(&self, path: &str) -> bool {
        let pattern = self.pattern.trim_start_matches("./");
        let pattern = if pattern.ends_with('/') { format!("{pattern}**") } else { pattern.to_owned() };
        let pattern = if pattern.starts_with('/') { pattern } else { format!("**/{pattern}") };
        Glob::path(&pattern).is_ok_and(|glob| glob.matches(path.trim_start_matches("./")))
    }

    /// Why it was touched, as a clause.
    pub fn reason(&self) -> String {
        let what = match self.over {
            TripwireKind::Command => "the command matches",
            TripwireKind::Path => "a path matches",
            TripwireKind::Words => "the action mentions",
            TripwireKind::Tools => "the tool matches",
        };
        format!("{what} {:?}", self.pattern)
    }

    /// Why it can never be touched.
    fn unreachable_reason(&self) -> Option<String> {
        let bad_glob = |glob: Result<Glob, String>| glob.err();
        match self.over {
            _ if self.pattern.trim().is_empty() => Some("it is empty".into()),
            TripwireKind::Words => pattern_words(&self.pattern).is_none().then(|| "it has no words".into()),
            TripwireKind::Command if self.pattern.contains('\n') => Some("a command must be a single line".into()),
            TripwireKind::Command => bad_glob(Glob::text(&self.pattern)),
            TripwireKind::Tools => bad_glob(Glob::text(&self.pattern))
                .or_else(|| self.pattern.contains(' ').then(|| "a tool name cannot contain a space".into())),
            TripwireKind::Path if self.pattern.split('/').any(|part| part == "..") => {
                Some("paths are matched without `..`; write the path without it".into())
            }
            TripwireKind::Path => bad_glob(Glob::path(&self.pattern)),
        }
    }
}

fn kind(key: &str) -> Option<TripwireKind> {
    match key.to_ascii_lowercase().as_str() {
        "command" | "commands" => Some(TripwireKind::Command),
        "path" | "paths" | "file" | "files" => Some(TripwireKind::Path),
        "word" | "words" => Some(TripwireKind::Words),
        "tool" | "tools" => Some(TripwireKind::Tools),
        _ => None,
    }
}

fn patterns(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(patterns).collect(),
        Value::Null | Value::Object(_) => Vec::new(),
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
    }
}

/// Removes the indentation of all lines but the first, which begins after the key of the field.
fn dedent(raw: &str) -> String {
    let indent = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let least = raw.lines().skip(1).filter(|line| !line.trim().is_empty()).map(|line| indent(&line)).min().unwrap_or(0);
    let mut lines = raw.lines();
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        steps::count(line.len());
        out.push('\n');
        out.push_str(line.get(least..).unwrap_or_default());
    }
    out
}

/// The position up to which a value was read, and its line. Keys and patterns are in the order of the text, so each is searched
/// after the last.
struct ValueCursor<'a> {
    raw: &'a str,
    at: usize,
    line: u64,
}

/// The distance after the last pattern within which the next one is searched. One that is written with escapes is not in the text, and must not cost
/// a search of all of it.
const NEXT_PATTERN_BYTES: usize = 2 * limits::GLOB_BYTES;

impl ValueCursor<'_> {
    fn line_of(&mut self, text: &str) -> u64 {
        let head = text::truncate_bytes(text.lines().next().unwrap_or_default(), limits::GLOB_BYTES);
        let window = text::truncate_bytes(&self.raw[self.at..], NEXT_PATTERN_BYTES);
        steps::count(window.len().min(self.raw.len()));
        let Some(found) = window.find(head) else { return self.line };
        let line = self.line + window[..found].matches('\n').count() as u64;
        self.at += found + head.len();
        self.line = line;
        line
    }
}

/// The words of a pattern in lower case, or `None` if there are none.
fn pattern_words(pattern: &str) -> Option<Vec<String>> {
    let kept = |c: char| c.is_alphanumeric() || c == '*';
    let words: Vec<String> =
        pattern.to_lowercase().split(|c: char| !kept(c)).filter(|word| word.contains(char::is_alphanumeric)).map(str::to_owned).collect();
    (!words.is_empty()).then_some(words)
}

/// Whether a text has the wanted words one after the other.
fn has_words(text: &str, wanted: &[String]) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    steps::count(text.len() + words.len() * wanted.len().min(words.len()));
    let same = |word: &str, wanted: &String| match wanted.strip_suffix('*') {
        // In scripts without spaces between words, a run of letters may contain the word anywhere.
        _ if wanted.contains(text::is_unspaced) => word.contains(wanted.trim_end_matches('*')),
        Some(beginning) => word.starts_with(beginning),
        None => word == wanted,
    };
    words.windows(wanted.len()).any(|run| run.iter().zip(wanted).all(|(word, wanted)| same(word, wanted)))
}
