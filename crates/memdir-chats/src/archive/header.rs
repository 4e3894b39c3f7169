//! The header of an archived file: its frontmatter, and the title below it. Reading never fails: an invalid header is `None`.

use super::{ArchivedChat, ReadProgress};
use crate::hosts::reader;
use serde::Deserialize;
use std::io::{self, Read};

/// The maximum size of a header.
const MAX_BYTES: u64 = 64 << 10;

/// Formats a header, up to and including the line of the title.
pub(super) fn format_header(chat: &ArchivedChat) -> String {
    let mut out = String::from("---\n");
    let mut line = |key: &str, value: &str| {
        out.push_str(key);
        out.push_str(": ");
        out.push_str(&scalar(value));
        out.push('\n');
    };
    line("host", chat.host.name);
    line("session", &chat.session);
    if chat.key != chat.session {
        line("key", &chat.key);
    }
    line("title", &chat.title);
    let optional = [
        ("project", chat.project.clone()),
        ("branch", chat.branch.clone()),
        ("started", chat.started.map(|time| time.to_string())),
        ("updated", chat.updated.map(|time| time.to_string())),
        ("resume", chat.resume_id.clone()),
        ("continues", chat.continues.clone()),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            line(key, &value);
        }
    }
    line("source", &chat.source);
    out.push_str(&format!("turns: {}\n", chat.turns));
    if chat.parts > 0 {
        out.push_str(&format!("parts: {}\n", chat.parts));
    }
    // This JSON contains no apostrophe, only numbers, hex digits and times.
    out.push_str(&format!("cursor: '{}'\n", serde_json::to_string(&chat.progress).unwrap_or_default()));
    out.push_str(&format!("---\n\n# {}\n", chat.title));
    out
}

/// Formats a YAML string: plain if that is unambiguous, otherwise quoted.
fn scalar(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let is_word = value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') && value.chars().all(is_plain);
    let is_time_or_id =
        value.starts_with(|c: char| c.is_ascii_digit()) && value.contains('-') && value.chars().all(|c| is_plain(c) || c == ':');
    let is_reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].iter().any(|word| value.eq_ignore_ascii_case(word));
    if (is_word || is_time_or_id) && !is_reserved {
        return value.to_owned();
    }
    // JSON escapes fewer characters than YAML requires: with one of these as it is, the header could not be read again.
    let is_refused = |c: char| c.is_control() || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}') || (c as u32 & 0xfffe) == 0xfffe;
    let mut out = String::new();
    for c in serde_json::to_string(value).unwrap_or_default().chars() {
        if is_refused(c) { out.push_str(&format!("\\U{:08X}", c as u32)) } else { out.push(c) }
    }
    out
}

/// Reads the header of a file. Also returns the offset of the text after the title.
pub(super) fn read(file: &mut impl Read) -> io::Result<Option<(ArchivedChat, u64)>> {
    let mut bytes = Vec::with_capacity(4096);
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(parse(&String::from_utf8_lossy(&bytes)))
}

/// Parses the header of a text. Also returns the offset of the text after the title.
pub(super) fn parse(text: &str) -> Option<(ArchivedChat, u64)> {
    #[derive(Deserialize)]
    struct ArchiveHeader {
        host: String,
        session: String,
        key: Option<String>,
        title: Option<String>,
        project: Option<String>,
        branch: Option<String>,
        started: Option<String>,
        updated: Option<String>,
        resume: Option<String>,
        continues: Option<String>,
        turns: Option<u64>,
        parts: Option<u64>,
        source: Option<String>,
        cursor: Option<String>,
    }
    let rest = text.strip_prefix("---\n")?;
    let end = rest.find("\n---\n")?;
    let options = serde_saphyr::options! { with_snippet: false };
    let header: ArchiveHeader = serde_saphyr::from_str_with_options(&rest[..=end], options).ok()?;
    let chat = ArchivedChat {
        host: reader(&header.host)?,
        key: header.key.unwrap_or_else(|| header.session.clone()),
        session: header.session,
        resume_id: header.resume,
        title: header.title.unwrap_or_default(),
        project: header.project,
        branch: header.branch,
        started: header.started.and_then(|time| time.parse().ok()),
        updated: header.updated.and_then(|time| time.parse().ok()),
        turns: header.turns.unwrap_or_default(),
        parts: header.parts.unwrap_or_default(),
        continues: header.continues,
        source: header.source.unwrap_or_default(),
        progress: header.cursor.and_then(|cursor| serde_json::from_str::<ReadProgress>(&cursor).ok()).unwrap_or_default(),
    };
    let after = 4 + end + 5;
    let title_end = text[after..].strip_prefix("\n# ").and_then(|title| title.find('\n')).map_or(after, |line| after + 3 + line + 1);
    Some((chat, title_end as u64))
}
