//! Makes memories of claude-mem's rows. What is known (decisions, discoveries, directives) becomes a memory with an entrypoint line.
//! What was done (changes, fixes, session summaries) becomes a log, which is searched and has no line. Secrets are redacted, because
//! no person reviewed these texts. Pure.

use super::{ClaudeMemRow, RowKind};
use jiff::tz::TimeZone;
use memdir_core::{
    Incoming,
    internal::{
        base::{
            limits::IMPORT_DESCRIPTION_CHARS,
            text::{ellipsis, one_line},
        },
        memory::compose,
        operations::import::{log_name, slug},
        secrets::{redact, redact_strict},
    },
};
use std::borrow::Cow;

/// The types of observations that record what was done.
const ACTIVITIES: &[&str] = &["bugfix", "feature", "refactor", "change"];
/// The maximum number of characters of a title.
const TITLE_CHARS: usize = 80;

/// Converts a row, or returns `None` if it has no text.
pub(super) fn memory(row: &ClaudeMemRow) -> Option<Incoming> {
    let made = match row.kind {
        RowKind::Observation => observation(row),
        RowKind::Summary => summary(row),
        RowKind::Directive => directive(row),
    };
    let Made { topic, kind, title, description, body } = made?;
    let (title, description) = (short(&title, TITLE_CHARS), short(&description, IMPORT_DESCRIPTION_CHARS));
    let created = row.at().map(|at| at.to_string());
    let mut fields = vec![("name", title.as_str()), ("description", description.as_str()), ("type", kind), ("source", "claude-mem")];
    fields.extend(created.as_deref().map(|created| ("created", created)));
    let text = compose(&fields, &format!("{}\n", redact_strict(body.trim())));
    // The frontmatter can hide a secret that only the whole text shows.
    let text = redact(&text).into_owned();
    let project = if row.project().is_empty() { "all-projects".to_owned() } else { slug(row.project()) };
    let name = match topic {
        Topic::Known(topic) => format!("claude-mem/{project}/{}/{}", slug(&topic), slug(&title)),
        Topic::Done => log_name(&format!("claude-mem/{project}"), row.at(), &slug(&title)),
    };
    Some(Incoming { name, text })
}

/// What a row becomes.
struct Made {
    topic: Topic,
    /// The type of the memory.
    kind: &'static str,
    title: String,
    description: String,
    body: String,
}

/// Where it is filed.
enum Topic {
    /// With the memories, under this topic.
    Known(String),
    /// With the logs.
    Done,
}

fn observation(row: &ClaudeMemRow) -> Option<Made> {
    let facts = list(row.text("facts"));
    let story = if row.text("narrative").is_empty() { row.text("text") } else { row.text("narrative") };
    let mut body = Body::default();
    body.paragraph(row.text("subtitle"));
    body.paragraph(story);
    body.items(&facts);
    if body.is_empty() {
        body.paragraph(row.text("title"));
    }
    let title = [row.text("title"), row.text("subtitle"), story, facts.first().map_or("", String::as_str)];
    let title = title.into_iter().find(|text| !text.is_empty())?.to_owned();
    let files = [("Files read", "files_read"), ("Files modified", "files_modified"), ("Files", "files_touched")];
    for (label, column) in files {
        body.names(label, &list(row.text(column)));
    }
    for column in ["concepts", "keywords"] {
        body.names("Concepts", &list(row.text(column)));
    }
    let kind = row.text("type");
    let description = [row.text("subtitle"), title.as_str()].into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned();
    let is_activity = ACTIVITIES.contains(&kind);
    Some(Made {
        topic: if is_activity { Topic::Done } else { Topic::Known(if kind.is_empty() { "observation" } else { kind }.to_owned()) },
        kind: if kind == "discovery" { "reference" } else { "project" },
        title,
        description,
        body: body.0,
    })
}

fn summary(row: &ClaudeMemRow) -> Option<Made> {
    let sections = [
        ("Request", "request"),
        ("Investigated", "investigated"),
        ("Learned", "learned"),
        ("Completed", "completed"),
        ("Next steps", "next_steps"),
        ("Notes", "notes"),
        ("Summary", "content"),
    ];
    let mut body = Body::default();
    for (heading, column) in sections {
        if !row.text(column).is_empty() {
            body.paragraph(&format!("## {heading}"));
            body.paragraph(row.text(column));
        }
    }
    if body.is_empty() {
        return None;
    }
    for (label, column) in [("Files read", "files_read"), ("Files edited", "files_edited")] {
        body.names(label, &list(row.text(column)));
    }
    let title = ["request", "completed", "learned", "content"].into_iter().map(|column| row.text(column)).find(|text| !text.is_empty());
    let title = title.unwrap_or("Session").to_owned();
    let day = row.at().map_or_else(String::new, |at| at.to_zoned(TimeZone::UTC).strftime(" on %Y-%m-%d").to_string());
    let description = format!("claude-mem's summary of a session{day}");
    Some(Made { topic: Topic::Done, kind: "reference", title, description, body: body.0 })
}

fn directive(row: &ClaudeMemRow) -> Option<Made> {
    let text = Some(row.text("content")).filter(|text| !text.is_empty())?;
    let (title, description) = (text.to_owned(), text.to_owned());
    Some(Made { topic: Topic::Known("directive".into()), kind: "feedback", title, description, body: text.to_owned() })
}

/// The text of a memory, by paragraphs.
#[derive(Default)]
struct Body(String);

impl Body {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn paragraph(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            let gap = if self.0.is_empty() { "" } else { "\n\n" };
            self.0.push_str(&format!("{gap}{text}"));
        }
    }

    fn items(&mut self, items: &[String]) {
        let lines: Vec<String> = items.iter().map(|item| format!("- {}", item.replace('\n', "\n  "))).collect();
        self.paragraph(&lines.join("\n"));
    }

    /// Appends names in one line, as code.
    fn names(&mut self, label: &str, names: &[String]) {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| format!("`{}`", name.replace(['`', '\n'], " "))).collect();
            self.paragraph(&format!("{label}: {}", names.join(", ")));
        }
    }
}

/// The items of a column: a JSON array, or lines of text in older versions.
fn list(text: &str) -> Vec<String> {
    let items = match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Array(items)) => items
            .into_iter()
            .map(|item| match item {
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            })
            .collect(),
        Ok(serde_json::Value::String(text)) => vec![text],
        Ok(serde_json::Value::Null) => Vec::new(),
        _ => text.lines().map(str::to_owned).collect::<Vec<_>>(),
    };
    items.into_iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

/// The text on one line, without secrets, cut to a number of characters.
fn short(text: &str, max_chars: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = one_line(line);
    let redacted: Cow<'_, str> = redact_strict(&line);
    ellipsis(&redacted, max_chars).into_owned()
}
