//! Tripwires: the frontmatter field `when`, which says on what action a memory has to be shown. Pure.
//!
//! ```yaml
//! when:
//!   command: ["git push*", npm publish]
//!   path: migrations/**
//!   words: [deploy, "roll back"]
//!   tools: [Bash]
//! ```
//! Any one command, path or word trips it. `tools` beside them narrows them to those tools; alone, it trips by itself.

mod command;

use crate::{
    base::{error::Problem, glob::Glob, text},
    memory::Memory,
    search::analysis,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a wire is stretched over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// Commands: a glob over a whole command, or the words it begins with.
    Command,
    /// Paths: a glob; one without `/` fits the file's name in every folder.
    Path,
    /// Words of what is said or done, whole and in any case; a final `*` stands for any ending.
    Words,
    /// Names of tools: a glob, in any case.
    Tools,
}

/// One wire, as its memory has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wire {
    /// Over what.
    pub over: Over,
    /// The pattern, as written.
    pub pattern: String,
    /// The line of the memory it stands on.
    pub line: u64,
}

/// All wires of a memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct When(pub Vec<Wire>);

/// What somebody is about to do.
#[derive(Debug, Clone, Default)]
pub struct Action<'a> {
    /// The tool that will be called.
    pub tool: Option<&'a str>,
    /// The command that will be run.
    pub command: Option<&'a str>,
    /// The files that will be touched, from the project's root where they lie in it, with `/`.
    pub paths: Vec<&'a str>,
    /// What is said about it.
    pub text: Option<&'a str>,
}

/// Reads a memory's wires. What cannot be understood is reported and passed over.
pub fn of(memory: &Memory) -> (When, Vec<Problem>) {
    let Some(raw) = memory.when() else { return (When::default(), Vec::new()) };
    let first = text::line_at(memory.text(), raw.as_ptr() as usize - memory.text().as_ptr() as usize);
    parse(raw, first)
}

/// Reads the value of a `when` field that begins on line `first`.
pub fn parse(raw: &str, first: u64) -> (When, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut wires = Vec::new();
    let mut place = Place { raw, at: 0, first };
    let mut add = |over, value: &Value, place: &mut Place<'_>| {
        wires.extend(patterns(value).into_iter().map(|pattern| Wire { over, line: place.line_of(&pattern), pattern }));
    };
    match serde_saphyr::from_str::<Value>(&dedent(raw)) {
        Ok(Value::Object(map)) => {
            for (key, value) in &map {
                let line = place.line_of(key);
                match over(key) {
                    Some(over) => add(over, value, &mut place),
                    None => problems.push(Problem::at(line, format!("when: {key} is none of command, path, words, tools"))),
                }
            }
        }
        Ok(value) => add(Over::Words, &value, &mut place),
        Err(_) => problems.push(Problem::at(first, "when: this is not YAML that can be read")),
    }
    (When(wires), problems)
}

impl When {
    /// The first wire the action touches.
    pub fn trips(&self, action: &Action<'_>) -> Option<&Wire> {
        let (tools, others): (Vec<&Wire>, Vec<&Wire>) = self.0.iter().partition(|wire| wire.over == Over::Tools);
        let tool = tools.iter().find(|wire| wire.trips(action));
        if others.is_empty() || (!tools.is_empty() && tool.is_none()) {
            return tool.copied();
        }
        others.into_iter().find(|wire| wire.trips(action))
    }

    /// Wires that can never be touched, and why. A path that no file fits today may be made tomorrow, and that is when it counts.
    pub fn dead(&self) -> Vec<Problem> {
        let say =
            |wire: &Wire| wire.never().map(|why| Problem::at(wire.line, format!("the tripwire {:?} can never fire: {why}", wire.pattern)));
        self.0.iter().filter_map(say).collect()
    }
}

impl Wire {
    /// Whether this wire alone is touched.
    pub fn trips(&self, action: &Action<'_>) -> bool {
        match self.over {
            Over::Command => action.command.is_some_and(|line| command::fits(&self.pattern, line)),
            Over::Path => action.paths.iter().any(|path| self.fits_path(path)),
            Over::Words => {
                let said = [action.command, action.text].into_iter().flatten().chain(action.paths.iter().copied());
                words(&self.pattern).is_some_and(|wanted| said.into_iter().any(|text| says(text, &wanted)))
            }
            Over::Tools => action
                .tool
                .is_some_and(|tool| Glob::text(&self.pattern.to_lowercase()).is_ok_and(|glob| glob.matches(&tool.to_lowercase()))),
        }
    }

    /// Whether a path fits this pattern.
    pub fn fits_path(&self, path: &str) -> bool {
        let pattern = self.pattern.trim_start_matches("./");
        let pattern = if pattern.ends_with('/') { format!("{pattern}**") } else { pattern.to_owned() };
        let pattern = if pattern.starts_with('/') { pattern } else { format!("**/{pattern}") };
        Glob::path(&pattern).is_ok_and(|glob| glob.matches(path.trim_start_matches("./")))
    }

    /// Why it was touched, in words.
    pub fn why(&self) -> String {
        let what = match self.over {
            Over::Command => "the command fits",
            Over::Path => "a path fits",
            Over::Words => "it is about",
            Over::Tools => "the tool fits",
        };
        format!("{what} {:?}", self.pattern)
    }

    fn never(&self) -> Option<String> {
        let bad_glob = |glob: Result<Glob, String>| glob.err();
        match self.over {
            _ if self.pattern.trim().is_empty() => Some("it is empty".into()),
            Over::Words => words(&self.pattern).is_none().then(|| "it holds no word".into()),
            Over::Command if self.pattern.contains('\n') => Some("a command is one line".into()),
            Over::Command => bad_glob(Glob::text(&self.pattern)),
            Over::Tools => {
                bad_glob(Glob::text(&self.pattern)).or_else(|| self.pattern.contains(' ').then(|| "a tool's name has no space".into()))
            }
            Over::Path if self.pattern.split('/').any(|part| part == "..") => Some("a path with .. is outside the project".into()),
            Over::Path => bad_glob(Glob::path(&self.pattern)),
        }
    }
}

fn over(key: &str) -> Option<Over> {
    match key.to_ascii_lowercase().as_str() {
        "command" | "commands" => Some(Over::Command),
        "path" | "paths" | "file" | "files" => Some(Over::Path),
        "word" | "words" => Some(Over::Words),
        "tool" | "tools" => Some(Over::Tools),
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

/// The value of a field begins behind its key, so that all lines but the first are still indented.
fn dedent(raw: &str) -> String {
    let indent = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let least = raw.lines().skip(1).filter(|line| !line.trim().is_empty()).map(|line| indent(&line)).min().unwrap_or(0);
    let mut lines = raw.lines();
    let first = lines.next().unwrap_or_default();
    lines.fold(first.to_owned(), |all, line| format!("{all}\n{}", line.get(least..).unwrap_or_default()))
}

/// Where in the value one has read to. Keys and patterns come in the order of the text, so each is looked for behind the last.
struct Place<'a> {
    raw: &'a str,
    at: usize,
    first: u64,
}

impl Place<'_> {
    fn line_of(&mut self, text: &str) -> u64 {
        let head = text.lines().next().unwrap_or_default();
        if let Some(found) = self.raw[self.at..].find(head) {
            self.at += found;
        }
        let line = self.first + self.raw[..self.at].matches('\n').count() as u64;
        self.at += if self.raw[self.at..].starts_with(head) { head.len() } else { 0 };
        line
    }
}

/// The words of a pattern, lower case; nothing if there is none.
fn words(pattern: &str) -> Option<Vec<String>> {
    let kept = |c: char| c.is_alphanumeric() || c == '*';
    let words: Vec<String> =
        pattern.to_lowercase().split(|c: char| !kept(c)).filter(|word| word.contains(char::is_alphanumeric)).map(str::to_owned).collect();
    (!words.is_empty()).then_some(words)
}

fn says(text: &str, wanted: &[String]) -> bool {
    let lower = text.to_lowercase();
    let said: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let same = |word: &str, wanted: &String| match wanted.strip_suffix('*') {
        // Where words are not parted by spaces, a run of letters may hold the word anywhere.
        _ if wanted.contains(analysis::is_unspaced) => word.contains(wanted.trim_end_matches('*')),
        Some(beginning) => word.starts_with(beginning),
        None => word == wanted,
    };
    said.windows(wanted.len()).any(|run| run.iter().zip(wanted).all(|(word, wanted)| same(word, wanted)))
}
