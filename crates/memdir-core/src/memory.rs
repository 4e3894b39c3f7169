//! One memory: optional frontmatter and a body. Parsing never fails and keeps every byte; changes patch the text in place.

pub(crate) mod chunk;
pub(crate) mod cues;
pub mod edit;
mod frontmatter;
pub mod lines;
pub mod links;
mod pattern;
pub mod phrase;
mod scalar;
pub mod succession;
mod summary;
pub(crate) mod validity;

use crate::base::sort::SharedSort as _;
use crate::base::{error::Problem, text::lines, time::parse_time};
pub(crate) use frontmatter::CANDIDATE_FIELDS;
use frontmatter::{Frontmatter, FrontmatterField};
use jiff::{Timestamp, tz::TimeZone};
use scalar::Value;
use serde::{Deserialize, Serialize};
use std::{fmt, ops::Range, str::FromStr};
use validity::Validity;

/// A memory's text with the positions of its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    text: String,
    head: Option<Frontmatter>,
    body: usize,
}

/// The type of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The person: role, goals, knowledge.
    User,
    /// Ways of working: corrections and confirmed choices.
    Feedback,
    /// Ongoing work, deadlines, decisions.
    Project,
    /// Pointers to systems outside.
    Reference,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::User, Kind::Feedback, Kind::Project, Kind::Reference];

    /// Their words in the frontmatter.
    pub const NAMES: [&'static str; 4] = [Kind::ALL[0].as_str(), Kind::ALL[1].as_str(), Kind::ALL[2].as_str(), Kind::ALL[3].as_str()];

    /// The word in the frontmatter.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::User => "user",
            Kind::Feedback => "feedback",
            Kind::Project => "project",
            Kind::Reference => "reference",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = crate::base::error::Error;

    fn from_str(text: &str) -> crate::base::error::Result<Kind> {
        let kind = Kind::ALL.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(text.trim()));
        kind.ok_or_else(|| crate::base::error::Error::bad_input("type", format!("{text:?} is not one of {}", Kind::NAMES.join(", "))))
    }
}

impl Memory {
    /// Parses a memory. Problems are returned beside it, and what is wrong stays in its text.
    pub fn parse(text: &str) -> (Memory, Vec<Problem>) {
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let (head, mut problems) = frontmatter::parse(text, start);
        let body = head.as_ref().map_or(start, |head| body_start(text, head.end));
        let memory = Memory { text: text.to_owned(), head, body };
        memory.check(&mut problems);
        (memory, problems)
    }

    /// The whole text, unchanged.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text after the frontmatter and the empty lines that follow it.
    pub fn body(&self) -> &str {
        &self.text[self.body..]
    }

    /// The line on which the body begins, 1-based.
    pub fn body_first_line(&self) -> u64 {
        lines(&self.text[..self.body]) + 1 - u64::from(self.head.is_none() && self.body > 0)
    }

    /// The number of lines of the frontmatter, with both `---`; 0 if there is none.
    pub fn frontmatter_lines(&self) -> u64 {
        self.head.as_ref().map_or(0, |head| lines(&self.text[..head.end]))
    }

    /// The `name` field.
    pub fn name(&self) -> Option<&str> {
        self.field("name")
    }

    /// The `description` field.
    pub fn description(&self) -> Option<&str> {
        self.field("description")
    }

    /// The `type` field, if it is a known type.
    pub fn kind(&self) -> Option<Kind> {
        self.field("type").and_then(|text| text.parse().ok())
    }

    /// When the memory was created, according to its frontmatter.
    pub fn created(&self) -> Option<Timestamp> {
        self.time(&["created", "created_at"])
    }

    /// When it was last changed, according to its frontmatter.
    pub fn modified(&self) -> Option<Timestamp> {
        self.time(&["modified", "updated", "modified_at", "updated_at"])
    }

    /// When it was last verified, according to its frontmatter.
    pub fn last_verified(&self) -> Option<Timestamp> {
        let single = self.time(&["last_verified", "verified_at"]);
        if self.find("verified").is_none() {
            return single;
        }
        let days = self.validity().verified.into_iter().filter_map(|one| one.at);
        let newest = days.max().and_then(|day| day.to_zoned(TimeZone::UTC).ok()).map(|day| day.timestamp());
        single.max(newest)
    }

    /// The fields that say how far the memory can be trusted.
    pub fn validity(&self) -> Validity {
        self.read_validity().0
    }

    /// What is wrong in the fields of [`Memory::validity`]. Not part of [`Memory::parse`], which every search and hook calls.
    pub fn validity_problems(&self) -> Vec<Problem> {
        let (_, problems) = self.read_validity();
        problems.into_iter().map(|(at, what)| Problem::at(crate::base::text::line_at(&self.text, at), what)).collect()
    }

    fn read_validity(&self) -> (Validity, Vec<(usize, String)>) {
        // Nearly every memory has none of the fields.
        if !Validity::KEYS.iter().any(|key| self.find(key).is_some()) {
            return (Validity::default(), Vec::new());
        }
        validity::parse(|key| self.find(key).map(|field| (&self.text[field.value.clone()], field.lines.start)))
    }

    /// When the memory was last known to be true: when it was verified, changed or created according to its frontmatter, else
    /// when its file was modified.
    pub fn last_confirmed(&self, file_modified: Timestamp) -> Timestamp {
        self.own_date().unwrap_or(file_modified)
    }

    /// The date in the frontmatter: when the memory was verified, changed or created.
    pub fn own_date(&self) -> Option<Timestamp> {
        self.last_verified().or(self.modified()).or(self.created())
    }

    /// Its origin, the `source` field.
    pub fn source(&self) -> Option<&str> {
        self.field("source")
    }

    /// The source of the `when` field, which contains its tripwires.
    pub fn when(&self) -> Option<&str> {
        self.raw("when")
    }

    /// Whether every message recalls it: the field `pinned` is `true`, `yes`, `on` or `1`.
    pub fn is_pinned(&self) -> bool {
        self.field("pinned").is_some_and(|text| matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1"))
    }

    /// The `cues` field: other words in which the memory will be needed. At most `CUES` phrases and `CUE_BYTES`
    /// bytes count (`memory/cues.rs`).
    pub fn cues(&self) -> Vec<String> {
        let Some(field) = self.find("cues") else { return Vec::new() };
        cues::parse(&self.text[field.value.clone()])
    }

    /// The unquoted text of a field. `a.b` names `b` in the mapping `a`; a plain name is looked up at the top level and then under
    /// `metadata`. `None` if the field is missing, empty, a list or a mapping.
    pub fn field(&self, key: &str) -> Option<&str> {
        match &self.find(key)?.parsed {
            Value::Text(text) | Value::Broken(text) => Some(text).filter(|text| !text.is_empty()).map(String::as_str),
            Value::Empty | Value::Nested | Value::TooDeep => None,
        }
    }

    /// The source of a field's value, as written in the file.
    pub fn raw(&self, key: &str) -> Option<&str> {
        self.find(key).map(|field| self.text[field.value.clone()].trim()).filter(|raw| !raw.is_empty())
    }

    /// The keys of the frontmatter, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.head.iter().flat_map(|head| head.fields.iter().map(|field| field.key.as_str()))
    }

    /// Returns the text with one field set, or removed if `value` is `None`. Every other byte stays. A missing field is added as the
    /// last one; a memory without frontmatter gets one.
    pub fn with_field(&self, key: &str, value: Option<&str>) -> String {
        match value {
            Some(value) if self.has_value(key, value) => self.text.clone(),
            Some(value) => self.with_yaml(key, Some(&scalar::format(value))),
            None => self.with_yaml(key, None),
        }
    }

    /// Like [`Memory::with_field`], for a value that is given as YAML on one line. An equal text that is written otherwise stays.
    pub(crate) fn with_yaml(&self, key: &str, yaml: Option<&str>) -> String {
        match (self.find(key), yaml) {
            (Some(field), Some(yaml)) => {
                let gap = if self.text[..field.value.start].ends_with(':') { " " } else { "" };
                let behind = if self.text[field.value.end..].starts_with('#') { " " } else { "" };
                splice(&self.text, field.value.clone(), &format!("{gap}{yaml}{behind}"))
            }
            (None, Some(yaml)) => self.with_new_lines(&format!("{}: {yaml}{}", scalar::format(key), self.line_end())),
            (_, None) => self.without_field(key),
        }
    }

    /// Returns the text with a field of another memory, byte for byte as it is written there. Unchanged if this one has the key, even
    /// without a value, or the other one does not have it.
    pub(crate) fn with_field_of(&self, other: &Memory, key: &str) -> String {
        match other.find(key) {
            Some(field) if self.find(key).is_none() => {
                let lines = &other.text[field.lines.clone()];
                // A field under `metadata` is indented.
                let indent = blanks(lines);
                let unindented = lines.split_inclusive('\n').map(|line| line.strip_prefix(indent).unwrap_or(line));
                self.with_new_lines(&unindented.collect::<String>())
            }
            _ => self.text.clone(),
        }
    }

    /// Returns the text with another body; the frontmatter stays byte for byte.
    pub fn with_body(&self, body: &str) -> String {
        let head = &self.text[..self.body];
        let line_end = if self.head.is_some() && !head.ends_with('\n') { self.line_end() } else { "" };
        format!("{head}{line_end}{body}")
    }

    /// The title in an entrypoint line: its `name`, else the name of its file.
    pub fn title<'a>(&'a self, path_name: &'a str) -> &'a str {
        self.name().unwrap_or(path_name)
    }

    /// The hook in an entrypoint line, as one line without Markdown: its description, else the first line of the body that has text.
    pub fn hook(&self) -> String {
        match self.description() {
            Some(description) => summary::plain_line(description),
            None => summary::first_line(self.body(), self.name().unwrap_or_default()),
        }
    }

    fn find(&self, key: &str) -> Option<&FrontmatterField> {
        let fields = &self.head.as_ref()?.fields;
        let within = |outer: &str, key: &str| {
            fields.iter().find(|field| field.key == outer).and_then(|field| field.children.iter().find(|field| field.key == key))
        };
        fields
            .iter()
            .find(|field| field.key == key)
            .or_else(|| key.split_once('.').and_then(|(outer, key)| within(outer, key)))
            .or_else(|| within("metadata", key))
    }

    fn has_value(&self, key: &str, value: &str) -> bool {
        self.find(key).is_some_and(|field| matches!(&field.parsed, Value::Text(text) if text == value))
    }

    fn without_field(&self, key: &str) -> String {
        let mut left = self.clone();
        // A key that is listed twice, or also under `metadata`, would otherwise become visible again. All are removed at once, so
        // that a thousand duplicates do not cost a thousand parses.
        while left.find(key).is_some() {
            left = Memory::parse(&left.without_lines_of(key)).0;
        }
        left.text
    }

    /// Returns the text without the lines of all fields that [`Memory::find`] may return for a key.
    fn without_lines_of(&self, key: &str) -> String {
        let fields = self.head.as_ref().map_or(&[][..], |head| &head.fields);
        let within = |outer: &str, key: &str| {
            let holder = fields.iter().find(|field| field.key == outer);
            let children = holder.into_iter().flat_map(|field| &field.children).filter(|field| field.key == key);
            children.map(|field| field.lines.clone()).collect::<Vec<_>>()
        };
        let mut gone: Vec<Range<usize>> = fields.iter().filter(|field| field.key == key).map(|field| field.lines.clone()).collect();
        gone.extend(key.split_once('.').into_iter().flat_map(|(outer, key)| within(outer, key)));
        gone.extend(within("metadata", key));
        gone.shared_sort_by_key(|lines| lines.start);
        let mut left = String::with_capacity(self.text.len());
        let mut done = 0;
        for lines in gone {
            left.push_str(&self.text[done..lines.start.max(done)]);
            done = done.max(lines.end);
        }
        left + &self.text[done..]
    }

    /// Returns the text with the lines of a new field at the end of the frontmatter.
    fn with_new_lines(&self, lines: &str) -> String {
        let end = self.line_end();
        match &self.head {
            Some(head) => {
                let indent = head.fields.first().map_or("", |field| blanks(&self.text[field.lines.clone()]));
                let indented: String = lines.split_inclusive('\n').map(|line| format!("{indent}{line}")).collect();
                splice(&self.text, head.inner.end..head.inner.end, &indented)
            }
            None => splice(&self.text, self.body..self.body, &format!("---{end}{lines}---{end}{end}")),
        }
    }

    /// The line ending of the memory, which is that of its first line.
    fn line_end(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    fn time(&self, keys: &[&str]) -> Option<Timestamp> {
        keys.iter().find_map(|key| self.field(key)).and_then(read_time)
    }

    fn check(&self, problems: &mut Vec<Problem>) {
        if let Some(field) = self.find("type")
            && let Value::Text(text) | Value::Broken(text) = &field.parsed
            && text.parse::<Kind>().is_err()
        {
            let what = format!("the type {text:?} is not one of {}", Kind::NAMES.join(", "));
            problems.push(Problem::at(crate::base::text::line_at(&self.text, field.lines.start), what));
        }
        for key in ["created", "modified", "updated", "last_verified"] {
            if let Some(text) = self.field(key)
                && read_time(text).is_none()
                && let Some(field) = self.find(key)
            {
                let what = format!("`{key}` is not a date or time such as 2026-03-01 or 2026-03-01T09:30:00Z");
                problems.push(Problem::at(crate::base::text::line_at(&self.text, field.lines.start), what));
            }
        }
        problems.shared_sort_by_key(|problem| problem.line);
    }
}

/// Composes the text of a new memory: frontmatter if there are fields, an empty line, the body.
pub fn compose(fields: &[(&str, &str)], body: &str) -> String {
    compose_yaml(fields.iter().map(|(key, value)| (*key, scalar::format(value))), body)
}

/// A text as the value of a frontmatter field, in YAML on one line.
pub(crate) fn yaml_text(text: &str) -> String {
    scalar::format(text)
}

/// Like [`compose`], for values that are given as YAML on one line.
pub(crate) fn compose_yaml<'a>(fields: impl Iterator<Item = (&'a str, String)>, body: &str) -> String {
    let lines: String = fields.map(|(key, yaml)| format!("{}: {yaml}\n", scalar::format(key))).collect();
    if lines.is_empty() {
        return body.to_owned();
    }
    let gap = if body.is_empty() { "" } else { "\n" };
    format!("---\n{lines}---\n{gap}{body}")
}

/// Parses a date or time as people and programs write it. A date means its midnight; a time without zone is in UTC.
pub fn read_time(text: &str) -> Option<Timestamp> {
    parse_time(text, &TimeZone::UTC)
}

fn splice(text: &str, at: Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &text[..at.start], &text[at.end..])
}

fn blanks(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches([' ', '\t']).len()]
}

fn body_start(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(end) = ["\n", "\r\n"].into_iter().find(|end| text[at..].starts_with(end)) {
        at += end.len();
    }
    at
}
