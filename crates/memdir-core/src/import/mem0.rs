//! Exports of mem0 and OpenMemory: JSON with a list of single facts. Each becomes a memory. Pure.

use super::{Incoming, Taken, names::slug};
use crate::{error::Problem, memory, text};
use serde_json::Value;

/// Keys under which the list is found, and under which a fact is.
const LISTS: &[&str] = &["results", "memories", "items", "data"];
const FACTS: &[&str] = &["memory", "text", "content", "data"];

/// Reads an export; nothing if it is none.
pub(super) fn read(text: &str) -> Option<Taken> {
    let value: Value = serde_json::from_str(text).ok()?;
    let list = value.as_array().or_else(|| LISTS.iter().find_map(|key| value[*key].as_array()))?;
    let mut memories = Vec::new();
    let mut problems = Vec::new();
    for (n, item) in list.iter().enumerate() {
        match fact(item) {
            Some(fact) => memories.push(memory(item, fact)),
            None => problems.push(Problem { line: None, what: format!("item {} holds no text", n + 1) }),
        }
    }
    // A list without a single fact is something else.
    (!memories.is_empty()).then_some(Taken { from: "a mem0 or OpenMemory export", memories, problems })
}

fn fact(item: &Value) -> Option<&str> {
    // Conversations and bundles have such keys too, but never beside these.
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
    let created = item["created_at"].as_str().and_then(memory::read_time).map(|at| at.to_string());
    let mut fields = vec![("name", title.as_str()), ("description", title.as_str()), ("type", "user"), ("source", "mem0")];
    fields.extend(created.as_deref().map(|created| ("created", created)));
    Incoming { name: format!("mem0/{topic}/{}", slug(&title)), text: memory::compose(&fields, &format!("{fact}\n")) }
}
