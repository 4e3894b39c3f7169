//! Imports the knowledge graph of server-memory: JSONL of entities and relations. Each entity becomes a memory. Pure.

use super::{ImportFile, Incoming, names::slug};
use crate::{
    base::{error::Problem, text::one_line},
    memory,
};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum GraphLine {
    #[serde(rename_all = "camelCase")]
    Entity {
        name: String,
        #[serde(default)]
        entity_type: String,
        #[serde(default)]
        observations: Vec<String>,
    },
    #[serde(rename_all = "camelCase")]
    Relation { from: String, to: String, relation_type: String },
}

/// Reads a graph, or returns `None` if the first line is not an entity or relation.
pub(super) fn read(text: &str) -> Option<ImportFile> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    serde_json::from_str::<GraphLine>(first).ok()?;
    let mut entities: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    let mut relations: Vec<(String, String, String)> = Vec::new();
    let mut problems = Vec::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(GraphLine::Entity { name, entity_type, observations }) => {
                let entity = entities.entry(name).or_default();
                entity.0 = entity_type;
                entity.1.extend(observations);
            }
            Ok(GraphLine::Relation { from, to, relation_type }) => relations.push((from, relation_type, to)),
            Err(_) => problems.push(Problem::at(n as u64 + 1, "the line is neither an entity nor a relation and was skipped")),
        }
    }
    for (from, _, _) in &relations {
        entities.entry(from.clone()).or_default();
    }
    let known = |name: &str| entities.contains_key(name);
    let memories = entities.iter().map(|(name, (kind, observations))| memory(name, kind, observations, &relations, &known)).collect();
    Some(ImportFile { from: "server-memory's graph", memories, problems })
}

/// Converts one entity. A related entity is linked if it is `known`, else only named.
fn memory(
    name: &str,
    kind: &str,
    observations: &[String],
    relations: &[(String, String, String)],
    known: &dyn Fn(&str) -> bool,
) -> Incoming {
    let mut body: String = observations.iter().map(|observation| format!("- {}\n", observation.trim().replace('\n', "\n  "))).collect();
    let own: Vec<_> = relations.iter().filter(|(from, _, _)| from == name).collect();
    if !own.is_empty() {
        let gap = if body.is_empty() { "" } else { "\n" };
        body.push_str(&format!("{gap}## Relations\n\n"));
        for (_, relation, to) in own {
            let other = if known(to) { format!("[{}]({}.md)", one_line(to), slug(to)) } else { one_line(to) };
            body.push_str(&format!("- {} {other}\n", one_line(relation)));
        }
    }
    let about = if kind.is_empty() { one_line(name) } else { format!("{} ({})", one_line(name), one_line(kind)) };
    let description = observations.first().map_or(about, |first| one_line(first));
    let fields =
        [("name", one_line(name)), ("description", description), ("type", "reference".to_owned()), ("source", "server-memory".to_owned())];
    let fields: Vec<(&str, &str)> = fields.iter().map(|(key, value)| (*key, value.as_str())).collect();
    Incoming { name: path(name), text: memory::compose(&fields, &body) }
}

fn path(name: &str) -> String {
    format!("graph/{}", slug(name))
}
