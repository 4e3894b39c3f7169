//! The frontmatter fields that say how far a memory can be trusted: `stale_after`, `status`, `supersedes`, `superseded_by`, `sources` and
//! `verified`. Pure. Parsing never fails: what is invalid is reported by `check` and otherwise ignored.

use super::{frontmatter, read_time, scalar};
use crate::base::{limits, steps};
use jiff::{civil::Date, tz::TimeZone};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::{fmt, ops::Range};

/// The fields about the validity of a memory. All of them are optional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Validity {
    /// The last day on which the memory is taken for true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale_after: Option<Date>,
    /// Its status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<MemoryStatus>,
    /// The names of the memories that it replaces, as written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<String>,
    /// The names of the memories that replace it, as a person wrote them. Usually they are derived from `supersedes` of the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded_by: Vec<String>,
    /// What it rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceRef>,
    /// Who has verified it, and when.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verified: Vec<Verification>,
}

/// The status of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryStatus {
    /// Not finished or not confirmed.
    Draft,
    /// Confirmed.
    Stable,
    /// No longer valid; kept for its history.
    Deprecated,
}

impl MemoryStatus {
    /// All of them.
    pub const ALL: [MemoryStatus; 3] = [MemoryStatus::Draft, MemoryStatus::Stable, MemoryStatus::Deprecated];

    /// The value in the frontmatter.
    pub fn as_str(self) -> &'static str {
        match self {
            MemoryStatus::Draft => "draft",
            MemoryStatus::Stable => "stable",
            MemoryStatus::Deprecated => "deprecated",
        }
    }

    /// Parses a value of the frontmatter, in any case.
    pub fn parse(text: &str) -> Option<MemoryStatus> {
        MemoryStatus::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(text.trim()))
    }
}

/// Why a memory ranks behind others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outdated {
    /// The day in `stale_after` has passed.
    Stale,
    /// Its `status` is `deprecated`.
    Deprecated,
    /// Another memory replaces it.
    Superseded,
}

impl Outdated {
    /// The word that marks the memory.
    pub fn as_str(self) -> &'static str {
        match self {
            Outdated::Stale => "stale",
            Outdated::Deprecated => "deprecated",
            Outdated::Superseded => "superseded",
        }
    }
}

impl fmt::Display for Outdated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One source of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceRef {
    /// A file of the project: `src/db.rs@3f2a91c:10-24`.
    File {
        /// Its path from the root of the project.
        path: String,
        /// The hash of its content, or the beginning of it.
        blob: Option<String>,
        /// Its lines, 1-based and inclusive.
        lines: Option<(u64, u64)>,
    },
    /// A turn of a kept conversation: `chats/claude-code/1f2e.md:12-14`.
    Chat(String),
    /// An address.
    Url(String),
    /// Something else, as written.
    Other(String),
}

impl SourceRef {
    /// Parses a source. What has none of the known forms is [`SourceRef::Other`].
    pub fn parse(text: &str) -> SourceRef {
        let text = text.trim();
        if text.contains("://") {
            return SourceRef::Url(text.to_owned());
        }
        if text.starts_with("chats/") {
            return SourceRef::Chat(text.to_owned());
        }
        let (path, lines) = match text.rsplit_once(':').and_then(|(head, lines)| Some((head, line_range(lines)?))) {
            Some((head, lines)) => (head, Some(lines)),
            None => (text, None),
        };
        if let Some((path, blob)) = path.rsplit_once('@')
            && !path.is_empty()
            && is_blob(blob)
        {
            return SourceRef::File { path: path.to_owned(), blob: Some(blob.to_ascii_lowercase()), lines };
        }
        let is_path = !path.is_empty() && !path.contains(['@', ':']) && !path.contains(char::is_whitespace) && path.contains(['/', '.']);
        match is_path {
            true => SourceRef::File { path: path.to_owned(), blob: None, lines },
            false => SourceRef::Other(text.to_owned()),
        }
    }
}

impl fmt::Display for SourceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceRef::File { path, blob, lines } => {
                f.write_str(path)?;
                if let Some(blob) = blob {
                    write!(f, "@{blob}")?;
                }
                match lines {
                    Some((first, last)) if first == last => write!(f, ":{first}"),
                    Some((first, last)) => write!(f, ":{first}-{last}"),
                    None => Ok(()),
                }
            }
            SourceRef::Chat(text) | SourceRef::Url(text) | SourceRef::Other(text) => f.write_str(text),
        }
    }
}

impl Serialize for SourceRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One verification of a memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Who verified it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Date>,
}

impl Validity {
    /// The fields of a memory, in the order of the documentation.
    pub const KEYS: [&'static str; 6] = ["stale_after", "status", "supersedes", "superseded_by", "sources", "verified"];

    /// Whether the memory ranks behind others today, and why. What other memories say about it is not considered, see
    /// [`Successions`](super::succession::Successions).
    pub fn outdated(&self, today: impl FnOnce() -> Date) -> Option<Outdated> {
        if !self.superseded_by.is_empty() {
            return Some(Outdated::Superseded);
        }
        outdated_by_status(self.status == Some(MemoryStatus::Deprecated), self.stale_after, today)
    }

    /// What an entrypoint line says about the memory beside its description, for readers of the line alone.
    pub fn mark(&self) -> Option<String> {
        if let Some(successor) = self.superseded_by.first() {
            return Some(superseded_mark(successor));
        }
        match (self.status, self.stale_after) {
            (Some(MemoryStatus::Deprecated), _) => Some("(deprecated)".to_owned()),
            (_, Some(last)) => Some(format!("(valid until {last})")),
            (_, None) => None,
        }
    }

    /// The sources that are files of the project with the content they had.
    pub fn anchors(&self) -> impl Iterator<Item = (&str, &str, Option<(u64, u64)>)> {
        self.sources.iter().filter_map(|source| match source {
            SourceRef::File { path, blob: Some(blob), lines } => Some((path.as_str(), blob.as_str(), *lines)),
            _ => None,
        })
    }
}

/// Whether a memory ranks behind others today because of its status or its last day. The day is asked for only if it matters.
pub(crate) fn outdated_by_status(is_deprecated: bool, stale_after: Option<Date>, today: impl FnOnce() -> Date) -> Option<Outdated> {
    if is_deprecated {
        return Some(Outdated::Deprecated);
    }
    stale_after.filter(|last| today() > *last).map(|_| Outdated::Stale)
}

/// Marks a memory that this one replaces.
pub(crate) fn superseded_mark(successor: &str) -> String {
    format!("(superseded by {successor})")
}

/// Parses the fields. `field` returns the source of a field's value with its position. What is invalid is returned with the position of
/// its field.
pub(super) fn parse<'t>(field: impl Fn(&str) -> Option<(&'t str, usize)>) -> (Validity, Vec<(usize, String)>) {
    let mut problems = Vec::new();
    let mut out = Validity::default();
    let items = |key: &str| field(key).map(|(raw, at)| (items(raw), at)).filter(|(items, _)| !items.is_empty());
    if let Some((values, at)) = items("stale_after") {
        out.stale_after = values.first().and_then(scalar_text).and_then(|text| read_date(&text));
        if out.stale_after.is_none() {
            problems.push((at, "`stale_after` is not a date such as 2026-03-01".to_owned()));
        }
    }
    if let Some((values, at)) = items("status") {
        let text = values.first().and_then(scalar_text).unwrap_or_default();
        out.status = MemoryStatus::parse(&text);
        if out.status.is_none() {
            problems.push((at, format!("the status {text:?} is not one of draft, stable, deprecated")));
        }
    }
    for (key, names) in [("supersedes", &mut out.supersedes), ("superseded_by", &mut out.superseded_by)] {
        let Some((values, at)) = items(key) else { continue };
        problems.extend(excess(key, &values, at));
        names.extend(values.iter().take(limits::VALIDITY_ITEMS).filter_map(name_text));
        if names.len() < values.len().min(limits::VALIDITY_ITEMS) {
            problems.push((at, format!("`{key}` is not a list of memory names")));
        }
    }
    if let Some((values, at)) = items("sources") {
        problems.extend(excess("sources", &values, at));
        out.sources.extend(values.iter().take(limits::VALIDITY_ITEMS).filter_map(scalar_text).map(|text| SourceRef::parse(&text)));
        if out.sources.len() < values.len().min(limits::VALIDITY_ITEMS) {
            problems.push((at, "`sources` is not a list of strings".to_owned()));
        }
        let unknown = out.sources.iter().filter(|source| matches!(source, SourceRef::Other(_)));
        problems.extend(unknown.map(|source| {
            let what = format!(
                "invalid source {:?}: expected a file such as src/db.rs:10-20, a chat turn such as chats/x.md:3-5, or a URL",
                source.to_string()
            );
            (at, what)
        }));
    }
    if let Some((values, at)) = items("verified") {
        problems.extend(excess("verified", &values, at));
        out.verified.extend(values.iter().take(limits::VALIDITY_ITEMS).filter_map(verification));
        if out.verified.len() < values.len().min(limits::VALIDITY_ITEMS) {
            problems.push((at, "`verified` must be a list of entries with `by` and `at` (a date such as 2026-03-01)".to_owned()));
        }
    }
    (out, problems)
}

/// A name of a memory in the frontmatter, with the position of its token.
pub(super) struct NameSpan {
    /// The token, with its quotes.
    pub(super) range: Range<usize>,
    /// The name.
    pub(super) name: String,
}

/// Returns the names in `supersedes` and `superseded_by` of a text, in order. Nearly every text has neither, which costs one search.
pub(super) fn name_spans(text: &str) -> Vec<NameSpan> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    if !text[start..].starts_with("---") || !text.contains("supersede") {
        return Vec::new();
    }
    steps::count(text.len());
    let (Some(head), _) = frontmatter::parse(text, start) else { return Vec::new() };
    let nested = head.fields.iter().find(|field| field.key == "metadata").map_or(&[][..], |field| &field.children);
    let field = |key| head.fields.iter().chain(nested).find(|field| field.key == key);
    let mut spans = Vec::new();
    for field in ["supersedes", "superseded_by"].into_iter().filter_map(field) {
        let raw = &text[field.value.clone()];
        let mut at = 0;
        for name in items(raw).iter().take(limits::VALIDITY_ITEMS).filter_map(name_text) {
            steps::count(raw.len() - at);
            if let Some(token) = find_token(raw, at, &name) {
                at = token.end;
                spans.push(NameSpan { range: field.value.start + token.start..field.value.start + token.end, name });
            }
        }
    }
    spans
}

/// Formats another name in place of a token, in quotes if YAML needs them in a list.
pub(super) fn name_token(name: &str) -> String {
    if name.contains(['[', ']', '{', '}', ',']) { scalar::quoted(name) } else { scalar::format(name) }
}

/// The token of a name in the source of a value, from `from` on. A name that is written with escapes is not found.
fn find_token(raw: &str, from: usize, name: &str) -> Option<Range<usize>> {
    let is_delimiter = |c: char| c.is_whitespace() || matches!(c, '[' | ']' | ',' | '-' | '"' | '\'');
    let ends = |c: Option<char>| c.is_none_or(|c| is_delimiter(c) && c != '-');
    let mut found = raw[from..].match_indices(name).map(|(at, _)| from + at..from + at + name.len());
    let token =
        found.find(|token| raw[..token.start].chars().next_back().is_none_or(is_delimiter) && ends(raw[token.end..].chars().next()))?;
    let quotes = (raw[..token.start].chars().next_back(), raw[token.end..].chars().next());
    match quotes {
        (Some(open @ ('"' | '\'')), Some(close)) if open == close => Some(token.start - 1..token.end + 1),
        _ => Some(token),
    }
}

#[derive(Deserialize)]
struct ListField {
    k: Value,
}

/// The items of a list, or one scalar or mapping as a list of one. Empty if the value is empty or not valid YAML.
fn items(raw: &str) -> Vec<Value> {
    if raw.trim().is_empty() {
        return Vec::new();
    }
    steps::count(raw.len());
    let options = serde_saphyr::options! { with_snippet: false };
    match serde_saphyr::from_str_with_options::<ListField>(&format!("k: {raw}\n"), options) {
        Ok(ListField { k: Value::Array(items) }) => items,
        Ok(ListField { k: Value::Null }) => Vec::new(),
        Ok(ListField { k: one }) => vec![one],
        Err(_) => vec![Value::String(raw.trim().to_owned())],
    }
}

fn excess(key: &str, values: &[Value], at: usize) -> Option<(usize, String)> {
    let limit = limits::VALIDITY_ITEMS;
    (values.len() > limit).then(|| (at, format!("`{key}` has {} entries; only the first {limit} are used", values.len())))
}

fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A name of a memory, which may be written as a wikilink or a `mem:` reference.
fn name_text(value: &Value) -> Option<String> {
    let text = scalar_text(value)?;
    let name = text.strip_prefix("[[").and_then(|text| text.strip_suffix("]]")).or(text.strip_prefix("mem:")).unwrap_or(&text);
    Some(name.trim().to_owned()).filter(|name| !name.is_empty() && !name.contains('\n'))
}

fn verification(value: &Value) -> Option<Verification> {
    let parsed = match value {
        Value::Object(map) => {
            let at = map.get("at").and_then(scalar_text);
            let date = at.as_deref().and_then(read_date);
            if at.is_some() && date.is_none() {
                return None;
            }
            Verification { by: map.get("by").and_then(scalar_text), at: date }
        }
        other => match scalar_text(other)? {
            text if read_date(&text).is_some() => Verification { by: None, at: read_date(&text) },
            text => Verification { by: Some(text), at: None },
        },
    };
    (parsed.by.is_some() || parsed.at.is_some()).then_some(parsed)
}

fn read_date(text: &str) -> Option<Date> {
    read_time(text).map(|time| time.to_zoned(TimeZone::UTC).date())
}

/// `12` or `12-14`.
fn line_range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim_start_matches('L').parse::<u64>().ok().filter(|line| *line > 0);
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some((first, last))
}

fn is_blob(text: &str) -> bool {
    (4..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
