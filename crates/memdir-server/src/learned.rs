//! Learns cues from use: if a search finds nothing and one of the next calls of the same session reads a memory by name, the words
//! of the search are about that memory. Only remembers and pairs; what is learned is proposed, never applied.

use memdir_core::internal::tools::ToolResult;
use serde_json::Value;
use std::collections::VecDeque;

/// The number of calls after a search in which a read answers it.
const CALLS: usize = 5;
/// The maximum number of memories of a read. One that reads many at once looks around.
const MAX_READ: usize = 3;

/// The searches of one session that found nothing, with the number of calls since.
#[derive(Debug, Default)]
pub(crate) struct FailedSearches(VecDeque<(String, usize)>);

impl FailedSearches {
    /// Records the result of a call. Returns pairs of a memory that was read and the query of a search that did not find it.
    pub(crate) fn observe(&mut self, tool: &str, result: &ToolResult) -> Vec<(String, String)> {
        self.0.iter_mut().for_each(|(_, calls)| *calls += 1);
        self.0.retain(|(_, calls)| *calls <= CALLS);
        let Some(value) = result.structured.as_ref().filter(|_| !result.is_error) else { return Vec::new() };
        if tool == "memory_search" {
            let is_empty = value["results"].as_array().is_some_and(Vec::is_empty);
            self.0.extend(value["query"].as_str().filter(|_| is_empty).map(|query| (query.to_owned(), 0)));
            return Vec::new();
        }
        let names = read_names(tool, value);
        if names.is_empty() {
            return Vec::new();
        }
        let queries: Vec<String> = self.0.drain(..).map(|(query, _)| query).collect();
        names.iter().flat_map(|name| queries.iter().map(|query| (name.clone(), query.clone()))).collect()
    }
}

/// The memories that a call read by name.
fn read_names(tool: &str, value: &Value) -> Vec<String> {
    let name = |memory: &Value| memory["name"].as_str().map(str::to_owned);
    let names: Vec<String> = match tool {
        "memory_read" => value["memories"].as_array().into_iter().flatten().filter_map(name).collect(),
        "memory_get" => name(value).into_iter().collect(),
        _ => Vec::new(),
    };
    if names.len() <= MAX_READ { names } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn search(query: &str, results: Value) -> ToolResult {
        ToolResult::new(json!({ "query": query, "results": results }), "")
    }

    fn read(names: &[&str]) -> ToolResult {
        let memories: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
        ToolResult::new(json!({ "memories": memories }), "")
    }

    #[test]
    fn a_read_within_five_calls_answers_a_search_that_found_nothing() {
        let mut failed = FailedSearches::default();
        let pair = |name: &str, query: &str| (name.to_owned(), query.to_owned());
        failed.observe("memory_search", &search("ship on friday", json!([])));
        failed.observe("memory_search", &search("deploy", json!([{ "path": "other.md" }])));
        assert_eq!(failed.observe("memory_read", &read(&["notes/deploy"])), [pair("notes/deploy", "ship on friday")]);
        assert_eq!(failed.observe("memory_read", &read(&["notes/deploy"])), [], "once");

        failed.observe("memory_search", &search("far", json!([])));
        for _ in 0..5 {
            failed.observe("memory_stats", &ToolResult::text("x"));
        }
        assert_eq!(failed.observe("memory_read", &read(&["a"])), [], "the sixth call");

        failed.observe("memory_search", &search("near", json!([])));
        for _ in 0..4 {
            failed.observe("memory_stats", &ToolResult::text("x"));
        }
        assert_eq!(failed.observe("memory_get", &ToolResult::new(json!({ "name": "a" }), "")), [pair("a", "near")], "the fifth call");
    }

    #[test]
    fn listings_and_failed_calls_propose_no_cue() {
        let mut failed = FailedSearches::default();
        failed.observe("memory_search", &search("q", json!([])));
        assert_eq!(failed.observe("memory_read", &read(&["a", "b", "c", "d"])), []);
        assert_eq!(failed.observe("memory_read", &ToolResult::new(json!({ "names": ["a"], "total": 1 }), "")), []);
        assert_eq!(failed.observe("memory_get", &ToolResult { is_error: true, ..read(&["a"]) }), []);
    }
}
