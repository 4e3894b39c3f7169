//! Imports exports of mem0 and OpenMemory: JSON with a list of facts. Each fact becomes a memory. Pure.

use super::{ImportFile, Incoming, names::slug};
use crate::{
    base::{error::Problem, text},
    memory,
};
use jiff::Timestamp;
use serde_json::Value;

/// Keys of the list, and of the text of a fact.
const LISTS: &[&str] = &["results", "memories", "items", "data"];
const FACTS: &[&str] = &["memory", "text", "content", "data"];

/// Reads an export, as one JSON value or one per line, or returns `None` if it is not one.
pub(super) fn read(text: &str) -> Option<ImportFile> {
    let (list, mut problems) = items(text)?;
    let mut memories = Vec::new();
    let (deleted, kept): (Vec<_>, Vec<_>) = list.iter().enumerate().partition(|(_, item)| is_deleted(item));
    for (n, item) in kept {
        match fact(item) {
            Some(fact) => memories.push(memory(item, fact)),
            None => problems.push(Problem { line: None, what: format!("item {} has no text and was skipped", n + 1) }),
        }
    }
    let facts = memories.len() + deleted.iter().filter(|(_, item)| fact(item).is_some()).count();
    if !deleted.is_empty() {
        problems.push(Problem::whole(format!("skipped {}", text::counted(deleted.len() as u64, "deleted item", "deleted items"))));
    }
    // A list without a single fact is a different format.
    (facts > 0).then_some(ImportFile { from: "a mem0 or OpenMemory export", memories, problems })
}

fn items(text: &str) -> Option<(Vec<Value>, Vec<Problem>)> {
    if let Ok(value) = serde_json::from_str::<Value>(text)
        && let Some(list) = value.as_array().or_else(|| LISTS.iter().find_map(|key| value[*key].as_array()))
    {
        return Some((list.clone(), Vec::new()));
    }
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let first: Value = serde_json::from_str(lines.next()?.1).ok()?;
    fact(&first).filter(|_| first.is_object())?;
    let mut items = vec![first];
    let mut problems = Vec::new();
    for (n, line) in lines {
        match serde_json::from_str(line) {
            Ok(item) => items.push(item),
            Err(_) => problems.push(Problem::at(n as u64 + 1, "invalid JSON; the line was skipped")),
        }
    }
    Some((items, problems))
}

/// OpenMemory exports deleted items with their text.
fn is_deleted(item: &Value) -> bool {
    item["state"] == "deleted" || item["deleted"] == true || item["is_deleted"] == true || item["deleted_at"].is_string()
}

/// Parses a time: a text, or seconds or milliseconds since 1970.
fn time(value: &Value) -> Option<Timestamp> {
    let text = value.as_str().and_then(memory::read_time);
    text.or_else(|| {
        let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
        let seconds = if number.abs() >= 1e11 { number / 1000.0 } else { number };
        #[expect(clippy::cast_possible_truncation, reason = "seconds since 1970; the fraction does not matter")]
        Timestamp::from_second(seconds as i64).ok()
    })
}

fn fact(item: &Value) -> Option<&str> {
    // Conversations and bundles have the keys of a fact too, but always with one of these.
    if ["mapping", "chat_messages", "path", "role"].iter().any(|key| !item[*key].is_null()) {
        return None;
    }
    let text = item.as_str().or_else(|| FACTS.iter().find_map(|key| item[*key].as_str()))?;
    Some(text.trim()).filter(|text| !text.is_empty())
}

fn memory(item: &Value, fact: &str) -> Incoming {
    let categories: Vec<&str> = item["categories"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let topic = categories.first().map_or_else(|| "facts".to_owned(), |category| slug(category));
    let title = text::ellipsis(fact.lines().next().unwrap_or_default(), 80).into_owned();
    let created = time(&item["created_at"]).map(|at| at.to_string());
    let mut fields = vec![("name", title.as_str()), ("description", title.as_str()), ("type", "user"), ("source", "mem0")];
    fields.extend(created.as_deref().map(|created| ("created", created)));
    Incoming { name: format!("mem0/{topic}/{}", slug(&title)), text: memory::compose(&fields, &format!("{fact}\n")) }
}
