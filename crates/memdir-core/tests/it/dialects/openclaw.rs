use crate::support::{self, Desk};
use serde_json::json;

fn desk(files: &[(&str, &str)]) -> Desk {
    let files: Vec<(String, &str)> = files.iter().map(|(name, text)| (format!("home/.openclaw/workspace/{name}"), *text)).collect();
    support::dialect("openclaw", &[], &files.iter().map(|(name, text)| (name.as_str(), *text)).collect::<Vec<_>>())
}

#[test]
fn a_search_has_its_shape() {
    let desk = desk(&[("memory/2026-08-01.md", "# Friday\n\nThe router password moved to the vault.\n"), ("USER.md", "Ada\n")]);
    let found = desk.json("memory_search", json!({ "query": "router password vault" }));
    let hit = &found["results"][0];
    assert_eq!(found, json!({ "results": [hit], "provider": "none", "model": null, "fallback": null, "citations": "auto", "mode": "fts" }));
    let snippet = hit["snippet"].as_str().unwrap();
    assert!(snippet.contains("The router password moved to the vault."));
    let (first, last) = (hit["startLine"].as_u64().unwrap(), hit["endLine"].as_u64().unwrap());
    let got = desk.json("memory_get", json!({ "path": hit["path"], "from": first, "lines": last - first + 1 }));
    assert_eq!(got["text"], hit["snippet"]);
    for (key, value) in [("path", json!("memory/2026-08-01.md")), ("source", json!("memory")), ("corpus", json!("memory"))] {
        assert_eq!(hit[key], value);
    }
    assert!(hit["citation"].as_str().unwrap().starts_with("memory/2026-08-01.md#L"));
    assert!(hit["score"].as_f64().unwrap() >= 0.35 && hit["textScore"].is_number());
}

#[test]
fn snippets_are_short_and_have_correct_line_numbers() {
    let long = format!("start zebra\n{}", "word ".repeat(30) + "zebra\n").repeat(12);
    let desk = desk(&[("memory/long.md", &long)]);
    let found = desk.json("memory_search", json!({ "query": "zebra" }));
    for hit in found["results"].as_array().unwrap() {
        assert!(hit["snippet"].as_str().unwrap().chars().count() <= 700);
        let (first, last) = (hit["startLine"].as_u64().unwrap(), hit["endLine"].as_u64().unwrap());
        let got = desk.json("memory_get", json!({ "path": hit["path"], "from": first, "lines": last - first + 1 }));
        assert_eq!(got["text"], hit["snippet"]);
    }
}

#[test]
fn reading_continues_where_it_was_cut() {
    let text: String = (1..=300).map(|n| format!("line {n}\n")).collect();
    let desk = desk(&[("MEMORY.md", &text)]);
    let got = desk.json("memory_get", json!({ "path": "MEMORY.md" }));
    assert_eq!((&got["from"], &got["lines"], &got["truncated"], &got["nextFrom"]), (&json!(1), &json!(120), &json!(true), &json!(121)));
    assert!(got["text"].as_str().unwrap().ends_with("line 120\n[lines 1-120 of 300; continue with from=121]"));
    let rest = desk.json("memory_get", json!({ "path": "MEMORY.md", "from": 299, "lines": 10 }));
    assert_eq!(rest, json!({ "path": "MEMORY.md", "text": "line 299\nline 300\n", "from": 299, "lines": 2 }));
}

#[test]
fn a_missing_file_is_not_an_error() {
    let desk = desk(&[]);
    for path in ["memory/none.md", "package.json", "DREAMS.md"] {
        assert_eq!(desk.json("memory_get", json!({ "path": path })), json!({ "status": "not_found", "text": "", "path": path }));
    }
}

#[test]
fn only_memory_files_are_memories() {
    let desk = desk(&[
        ("MEMORY.md", "walrus one"),
        ("memory.md", "walrus two"),
        ("USER.md", "walrus three"),
        ("memory/a/b.md", "walrus four"),
        ("DREAMS.md", "walrus"),
        ("memory/.dreams/x.md", "walrus"),
        ("notes.md", "walrus"),
        ("sub/MEMORY.md", "walrus"),
    ]);
    let found = desk.json("memory_search", json!({ "query": "walrus", "maxResults": 50, "minScore": 0 }));
    let mut paths: Vec<&str> = found["results"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["MEMORY.md", "USER.md", "memory.md", "memory/a/b.md"]);
}

#[test]
fn an_unknown_corpus_fails_closed() {
    let desk = desk(&[("MEMORY.md", "walrus")]);
    for tool in ["memory_search", "memory_get"] {
        let arguments = json!({ "query": "walrus", "path": "MEMORY.md", "corpus": "everything" });
        assert!(desk.error(tool, arguments).contains("corpus"));
    }
    assert!(desk.error("memory_get", json!({ "path": "MEMORY.md", "corpus": "sessions" })).contains("corpus"));
    assert_eq!(desk.json("memory_search", json!({ "query": "walrus", "corpus": "wiki" }))["results"], json!([]));
    assert_eq!(desk.json("memory_search", json!({ "query": "walrus", "corpus": "sessions" }))["results"], json!([]));
    assert_eq!(desk.json("memory_search", json!({ "query": "walrus", "corpus": "memory" }))["results"].as_array().unwrap().len(), 1);
}

#[test]
fn a_failing_search_is_reported_as_unavailable() {
    let desk = desk(&[("MEMORY.md", "walrus")]);
    let result = desk.call_as(&desk.stopped(), "memory_search", json!({ "query": "walrus" }));
    let found = result.structured.unwrap();
    assert!(!result.is_error);
    assert_eq!((&found["results"], &found["disabled"], &found["unavailable"]), (&json!([]), &json!(true), &json!(true)));
    assert!(["error", "warning", "action"].iter().all(|key| found[*key].as_str().is_some_and(|text| !text.is_empty())));
}
