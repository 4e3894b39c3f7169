//! Reads a plan back. Strict: a line that is not understood is an error with its number, because a misread plan would change memories.

use super::{
    DreamAction, DreamChange, DreamOperation, DreamPlan, DreamReason,
    format::{FORMAT, HEADING},
};
use crate::base::{
    error::{Error, Result},
    limits,
    path::MemoryPath,
    version::Version,
};
use std::{collections::HashMap, iter::Peekable, str::FromStr};

/// Parses the text of a plan.
pub fn parse(text: &str) -> Result<DreamPlan> {
    check_size("the plan", text)?;
    // An editor of Windows ends every line of the plan with CRLF, including those of the texts.
    let is_crlf = text.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n"));
    let text = if is_crlf { text.replace("\r\n", "\n") } else { text.to_owned() };
    PlanParser { lines: (1..).zip(text.split('\n')).collect::<Vec<_>>().into_iter().peekable() }.plan()
}

/// Fails if a plan or a list of operations is too large.
pub(super) fn check_size(what: &str, text: &str) -> Result<()> {
    let (size, limit) = (text.len() as u64, limits::DREAM_PLAN_BYTES as u64);
    if size > limit { Err(Error::TooLarge { what: what.to_owned(), size, limit }) } else { Ok(()) }
}

struct PlanParser<'a> {
    lines: Peekable<std::vec::IntoIter<(usize, &'a str)>>,
}

/// The lines of an operation before its changes have their texts.
struct RawChange<'a> {
    line: usize,
    word: &'a str,
    value: &'a str,
}

fn wrong(line: usize, why: impl std::fmt::Display) -> Error {
    Error::bad_input("plan", format!("line {line}: {why}"))
}

impl<'a> PlanParser<'a> {
    fn plan(mut self) -> Result<DreamPlan> {
        match self.filled() {
            Some((_, line)) if line.trim_end() == HEADING => {}
            Some((number, _)) => return Err(wrong(number, format!("a plan must begin with {HEADING:?}"))),
            None => return Err(Error::bad_input("plan", "it is empty")),
        }
        let mut plan = DreamPlan::empty();
        let mut has_format = false;
        while let Some((number, line)) = self.filled() {
            if let Some(title) = line.strip_prefix("## ") {
                if !has_format {
                    return Err(wrong(number, format!("the line \"- format: {FORMAT}\" is missing before the first operation")));
                }
                let operation = self.operation(number, title)?;
                plan.operations.push(operation);
            } else if let Some((key, value)) = field(line) {
                match key {
                    "format" if value == FORMAT => has_format = true,
                    "format" => return Err(wrong(number, format!("format {value:?} is not supported; expected {FORMAT}"))),
                    "made" => plan.made = value_of(number, key, value)?,
                    "memories" => plan.memories = value_of(number, key, value)?,
                    "bytes" => plan.bytes = value_of(number, key, value)?,
                    "logs through" => plan.logs_through = Some(value_of(number, key, value)?),
                    _ => return Err(wrong(number, format!("unknown field {key:?}"))),
                }
            } else if !line.starts_with('>') {
                return Err(wrong(number, format!("expected an operation such as \"## 1. archive NAME\", found {:?}", short(line))));
            }
        }
        if !has_format {
            return Err(Error::bad_input("plan", format!("the line \"- format: {FORMAT}\" is missing")));
        }
        Ok(plan)
    }

    /// The next line that is not blank.
    fn filled(&mut self) -> Option<(usize, &'a str)> {
        self.lines.find(|(_, line)| !line.trim().is_empty())
    }

    fn operation(&mut self, number: usize, title: &str) -> Result<DreamOperation> {
        let words = title.split_once(". ").filter(|(count, _)| count.parse::<u32>().is_ok()).map_or(title, |(_, words)| words);
        let word = words.split(' ').next().unwrap_or_default();
        let action = DreamAction::ALL.into_iter().find(|action| action.as_str() == word);
        let action = action.ok_or_else(|| wrong(number, format!("{word:?} is not one of create, update, merge, move, archive")))?;
        let mut out = DreamOperation {
            action,
            reason: DreamReason::Proposed,
            why: String::new(),
            confidence: 50,
            sources: Vec::new(),
            changes: Vec::new(),
            diff: String::new(),
        };
        let (mut raw, mut texts): (Vec<RawChange<'a>>, HashMap<&str, (usize, String)>) = (Vec::new(), HashMap::new());
        while let Some((line_number, line)) = self.lines.next_if(|(_, line)| !line.starts_with("## ")) {
            if line.trim().is_empty() {
                continue;
            }
            if let Some(why) = line.strip_prefix("Why: ") {
                out.why = why.trim().to_owned();
            } else if let Some(path) = line.strip_prefix("### text of ") {
                let text = self.block(line_number)?;
                if texts.insert(path.trim(), (line_number, text)).is_some() {
                    return Err(wrong(line_number, format!("duplicate block \"### text of {}\"", path.trim())));
                }
            } else if line.trim_end() == "### diff" {
                self.block(line_number)?;
            } else if let Some((key, value)) = field(line) {
                match key {
                    "reason" => {
                        let known = DreamReason::ALL.into_iter().find(|reason| reason.as_str() == value);
                        out.reason = known.ok_or_else(|| wrong(line_number, format!("unknown reason {value:?}")))?;
                    }
                    "confidence" => {
                        let percent: u8 = value_of(line_number, key, value.trim_end_matches('%').trim_end())?;
                        out.confidence = percent.min(100);
                    }
                    "source" => out.sources.push(versioned(line_number, value)?),
                    "write" | "new" | "move" | "relink" | "list" | "page" => raw.push(RawChange { line: line_number, word: key, value }),
                    _ => return Err(wrong(line_number, format!("unknown field {key:?}"))),
                }
            } else {
                return Err(wrong(
                    line_number,
                    format!("expected a field such as \"- reason: …\" or a heading such as \"### text of NAME\", found {:?}", short(line)),
                ));
            }
        }
        for change in raw {
            out.changes.push(change.finish(&mut texts)?);
        }
        if let Some((path, (line, _))) = texts.into_iter().min_by_key(|(_, (line, _))| *line) {
            return Err(wrong(
                line,
                format!("the operation has a block \"### text of {path}\" but no matching \"- write:\" or \"- new:\" line"),
            ));
        }
        if out.changes.is_empty() {
            return Err(wrong(number, "the operation changes nothing; to skip it, delete its section"));
        }
        Ok(out)
    }

    /// The text of the code block that follows, with its last line ending.
    fn block(&mut self, after: usize) -> Result<String> {
        let (number, open) = self.filled().ok_or_else(|| wrong(after, "expected a code block after this line"))?;
        let ticks = open.bytes().take_while(|byte| *byte == b'`').count();
        if ticks < 3 {
            return Err(wrong(number, format!("expected a code block, found {:?}", short(open))));
        }
        let fence = "`".repeat(ticks);
        let mut text = String::new();
        loop {
            match self.lines.next() {
                Some((_, line)) if line.trim_end() == fence => return Ok(text),
                Some((_, line)) => {
                    text.push_str(line);
                    text.push('\n');
                }
                None => return Err(wrong(number, format!("the code block is not closed; expected the line {fence:?}"))),
            }
        }
    }
}

impl RawChange<'_> {
    fn finish(self, texts: &mut HashMap<&str, (usize, String)>) -> Result<DreamChange> {
        let RawChange { line, word, value } = self;
        let mut text_of = |path: &MemoryPath| {
            texts
                .remove(path.as_str())
                .map(|(_, text)| text)
                .ok_or_else(|| wrong(line, format!("the block \"### text of {path}\" is missing")))
        };
        Ok(match word {
            "new" => {
                let path = path_of(line, value)?;
                DreamChange::New { text: text_of(&path)?, path }
            }
            "move" => {
                // A name may have " to " in it, so the version before it decides.
                let splits = value.match_indices(" to ").map(|(at, mark)| (&value[..at], &value[at + mark.len()..]));
                let is_versioned = |(from, _): &(&str, &str)| from.rsplit_once('@').is_some_and(|(_, version)| version.len() == 32);
                let (from, to) = splits
                    .clone()
                    .find(is_versioned)
                    .or_else(|| splits.clone().next())
                    .ok_or_else(|| wrong(line, "expected \"NAME@VERSION to NAME\""))?;
                let (path, version) = versioned(line, from)?;
                DreamChange::Move { path, version, to: path_of(line, to)? }
            }
            _ => {
                let (path, version) = versioned(line, value)?;
                match word {
                    "write" => DreamChange::Write { text: text_of(&path)?, path, version },
                    "relink" => DreamChange::Relink { path, version },
                    "page" => DreamChange::Page { path, version },
                    _ => DreamChange::List { path, version },
                }
            }
        })
    }
}

/// A field: `- key: value`.
fn field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.strip_prefix("- ")?.split_once(": ")?;
    Some((key.trim(), value.trim()))
}

fn value_of<T: FromStr>(line: usize, key: &str, value: &str) -> Result<T> {
    value.parse().map_err(|_| wrong(line, format!("invalid {key}: {:?}", short(value))))
}

fn versioned(line: usize, value: &str) -> Result<(MemoryPath, Version)> {
    let (path, version) = value.rsplit_once('@').ok_or_else(|| wrong(line, format!("expected NAME@VERSION, found {:?}", short(value))))?;
    let version = version.parse().map_err(|error| wrong(line, format!("{error}, found {:?}", short(version))))?;
    Ok((path_of(line, path)?, version))
}

fn path_of(line: usize, text: &str) -> Result<MemoryPath> {
    MemoryPath::parse(text.trim()).map_err(|error| wrong(line, format!("invalid memory name {:?}: {}", short(&error.name), error.why)))
}

fn short(text: &str) -> std::borrow::Cow<'_, str> {
    crate::base::text::ellipsis(text.trim(), 60)
}
