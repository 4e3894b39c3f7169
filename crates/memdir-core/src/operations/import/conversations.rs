//! Imports data exports of ChatGPT and Claude: `conversations.json` and Claude's `memories.json`. A conversation becomes a log, which
//! is searched and has no entrypoint line. Pure.

use super::{
    ImportFile, Incoming,
    names::{log_name, slug},
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{error::Problem, limits, text},
    memory, secrets,
};
use jiff::{Timestamp, tz::TimeZone};
use serde_json::Value;
use std::borrow::Cow;

/// Reads an export, or returns `None` if it is not one.
pub(super) fn read(text: &str) -> Option<ImportFile> {
    let value: Value = serde_json::from_str(text).ok()?;
    let list = value.as_array()?;
    let first = list.first()?;
    if first["mapping"].is_object() {
        return Some(conversations("a ChatGPT data export", list, chatgpt));
    }
    if first["chat_messages"].is_array() {
        return Some(conversations("a Claude data export", list, claude));
    }
    if first["conversations_memory"].is_string() || first["project_memories"].is_object() {
        return Some(ImportFile {
            from: "a Claude data export",
            memories: list.iter().flat_map(claude_memories).collect(),
            problems: Vec::new(),
        });
    }
    None
}

struct Conversation<'a> {
    host: &'static str,
    title: &'a str,
    at: Option<Timestamp>,
    turns: Vec<(&'static str, String)>,
}

fn conversations(from: &'static str, list: &[Value], parse: fn(&Value) -> Conversation<'_>) -> ImportFile {
    let mut memories = Vec::new();
    let mut problems = Vec::new();
    for (n, one) in list.iter().enumerate() {
        let conversation = parse(one);
        if conversation.turns.is_empty() {
            let title = if conversation.title.is_empty() { String::new() } else { format!(" ({:?})", conversation.title) };
            problems.push(Problem { line: None, what: format!("conversation {}{title} has no text and was skipped", n + 1) });
        } else {
            let parts = parts(conversation);
            let count = parts.len();
            memories.extend(parts.into_iter().enumerate().map(|(n, part)| {
                let mut log = log(&part, n + 1, count);
                // A conversation with a secret is imported without the secret, like chats.
                if let Cow::Owned(masked) = secrets::redact(&log.text) {
                    log.text = masked;
                }
                log
            }));
        }
    }
    ImportFile { from, memories, problems }
}

/// Splits a conversation into parts that fit into a memory, with room for headings and redactions.
fn parts(conversation: Conversation<'_>) -> Vec<Conversation<'_>> {
    let most = limits::MEMORY_BYTES / 4 * 3;
    let Conversation { host, title, at, turns } = conversation;
    let mut parts: Vec<Vec<(&'static str, String)>> = vec![Vec::new()];
    let mut bytes = 0;
    for (who, text) in turns {
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(text::floor_char_boundary(rest, most.min(rest.len())));
            if bytes + piece.len() > most {
                parts.push(Vec::new());
                bytes = 0;
            }
            bytes += piece.len() + 32;
            parts.last_mut().into_iter().for_each(|part| part.push((who, piece.to_owned())));
            rest = after;
        }
    }
    parts.into_iter().map(|turns| Conversation { host, title, at, turns }).collect()
}

/// Converts one part of a conversation into a memory.
fn log(conversation: &Conversation<'_>, part: usize, of: usize) -> Incoming {
    let title = text::one_line(conversation.title);
    let title = secrets::redact(&title).into_owned();
    let title = if title.is_empty() { "Untitled" } else { &title };
    let (slug, number) = (slug(title), if part > 1 { format!("-part-{part}") } else { String::new() });
    let title = &if of > 1 { format!("{title} (part {part} of {of})") } else { title.to_owned() };
    let when = conversation.at.map_or_else(String::new, |at| at.to_zoned(TimeZone::UTC).strftime(" on %Y-%m-%d").to_string());
    let description = format!("A conversation with {}{when}", if conversation.host == "chatgpt" { "ChatGPT" } else { "Claude" });
    let created = conversation.at.map(|at| at.to_string());
    let mut fields = vec![("name", title.as_str()), ("description", &description), ("type", "reference"), ("source", conversation.host)];
    fields.extend(created.as_deref().map(|created| ("created", created)));
    let body: String = conversation.turns.iter().map(|(who, text)| format!("## {who}\n\n{}\n\n", text.trim())).collect();
    let text = memory::compose(&fields, &format!("{}\n", body.trim_end()));
    Incoming { name: log_name(conversation.host, conversation.at, &format!("{slug}{number}")), text }
}

/// Reads the branch of the current node, because the export has a tree of edited messages.
fn chatgpt(value: &Value) -> Conversation<'_> {
    let mut turns = Vec::new();
    let mut node = value["current_node"].as_str();
    let mut steps = 0;
    while let Some(id) = node.filter(|_| steps < 100_000) {
        let here = &value["mapping"][id];
        turns.extend(chatgpt_turn(&here["message"]));
        node = here["parent"].as_str();
        steps += 1;
    }
    turns.reverse();
    if turns.is_empty() {
        let mut all: Vec<&Value> =
            value["mapping"].as_object().into_iter().flat_map(|map| map.values()).map(|node| &node["message"]).collect();
        all.shared_sort_by(|a, b| a["create_time"].as_f64().unwrap_or_default().total_cmp(&b["create_time"].as_f64().unwrap_or_default()));
        turns = all.into_iter().filter_map(chatgpt_turn).collect();
    }
    #[expect(clippy::cast_possible_truncation, reason = "seconds since 1970; the fraction does not matter")]
    let at = value["create_time"].as_f64().and_then(|seconds| Timestamp::from_second(seconds as i64).ok());
    Conversation { host: "chatgpt", title: value["title"].as_str().unwrap_or_default(), at, turns }
}

fn chatgpt_turn(message: &Value) -> Option<(&'static str, String)> {
    let who = speaker(message["author"]["role"].as_str()?)?;
    let parts = message["content"]["parts"].as_array()?;
    let text: Vec<&str> =
        parts.iter().filter_map(|part| part.as_str().or_else(|| part["text"].as_str())).filter(|text| !text.trim().is_empty()).collect();
    (!text.is_empty()).then(|| (who, text.join("\n\n")))
}

fn claude(value: &Value) -> Conversation<'_> {
    let turns = value["chat_messages"].as_array().into_iter().flatten().filter_map(|message| {
        let who = speaker(message["sender"].as_str()?)?;
        let blocks = message["content"].as_array().into_iter().flatten().filter(|block| block["type"] == "text");
        let blocks: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
        let text = if blocks.is_empty() { message["text"].as_str().unwrap_or_default().to_owned() } else { blocks.join("\n\n") };
        (!text.trim().is_empty()).then_some((who, text))
    });
    let at = value["created_at"].as_str().and_then(memory::read_time);
    Conversation { host: "claude", title: value["name"].as_str().unwrap_or_default(), at, turns: turns.collect() }
}

fn speaker(role: &str) -> Option<&'static str> {
    match role {
        "user" | "human" => Some("User"),
        "assistant" => Some("Assistant"),
        _ => None,
    }
}

fn claude_memories(value: &Value) -> Vec<Incoming> {
    let compose = |title: &str, text: &str| {
        let fields =
            [("name", title), ("description", "Claude's memory at the time of the data export"), ("type", "user"), ("source", "claude")];
        memory::compose(&fields, &format!("{}\n", text.trim()))
    };
    let own = value["conversations_memory"]
        .as_str()
        .map(|text| Incoming { name: "claude/memory".into(), text: compose("Claude's memory", text) });
    let projects = value["project_memories"].as_object().into_iter().flatten().filter_map(|(id, text)| {
        Some(Incoming {
            name: format!("claude/projects/{}", slug(id)),
            text: compose(&format!("Claude's memory of project {id}"), text.as_str()?),
        })
    });
    own.into_iter().chain(projects).filter(|incoming| !incoming.text.trim().is_empty()).collect()
}
