use crate::support::{self, Desk, nothing};
use memdir_core::{NoChats, internal::tools::Level};
use serde_json::{Value, json};

fn desk(files: &[(&str, &str)]) -> Desk {
    let files: Vec<(String, &str)> = files.iter().map(|(name, text)| (format!("project/{name}"), *text)).collect();
    support::dialect("profclaw", &[], &files.iter().map(|(name, text)| (name.as_str(), *text)).collect::<Vec<_>>())
}

const ARCHITECTURE: &str = "# Architecture\n\nThe gateway talks to the ledger over gRPC.\nRetries are idempotent.\n";

#[test]
fn a_search_has_the_documented_shape() {
    let desk = desk(&[("memory/architecture.md", ARCHITECTURE), ("MEMORY.md", "Likes tea.\n"), ("src/main.md", "gateway ledger gRPC")]);
    let result = desk.call("memory_search", json!({ "query": "gateway ledger grpc" }));
    let found = result.structured.unwrap();
    let score = found["results"][0]["score"].as_f64().unwrap();
    assert!(score >= 0.35 && (score * 100.0).fract().abs() < 1e-6, "{score}");
    let wanted = json!({
        "query": "gateway ledger grpc",
        "results": [{ "path": "memory/architecture.md", "lines": found["results"][0]["lines"], "text": found["results"][0]["text"], "score": score, "source": "memory" }],
        "totalFound": 1, "method": "fts", "stats": { "totalFiles": 2, "totalChunks": 2 },
        "note": "past chats were not searched: chats are off until the user runs: memdir chats on",
    });
    assert_eq!(desk.json("memory_search", json!({ "query": "gateway ledger grpc", "source": "memory" }))["note"], Value::Null);
    assert_eq!(found, wanted);
    assert_eq!(serde_json::from_str::<Value>(&result.text).unwrap(), wanted);
}

/// Any other reason for the absence of chats already states that they were not searched.
#[test]
fn the_note_that_chats_were_not_searched_appears_once() {
    let mut desk = desk(&[("memory/architecture.md", ARCHITECTURE)]);
    let why = "past conversations were not searched: this memory does not include them";
    desk.caller.memdir = desk.caller.memdir.clone().without_chats(NoChats::NotIncluded);
    assert_eq!(desk.json("memory_search", json!({ "query": "gateway ledger grpc" }))["note"], why);
}

/// 3-a: the lines of a result, given back, are its text byte for byte.
#[test]
fn the_lines_of_a_result_are_its_text() {
    let long: String = (1..=200).map(|n| format!("Line {n} speaks of topic{} and of topic{}.\n", n % 17, n % 23)).collect();
    let desk = desk(&[("memory/long.md", &long), ("memory/windows.md", "first\r\nsecond topic5\r\n\r\nthird\r\n")]);
    for query in ["topic5", "topic11 topic3", "topic16"] {
        let found = desk.json("memory_search", json!({ "query": query, "maxResults": 20, "minScore": 0 }));
        let results = found["results"].as_array().unwrap();
        assert!(!results.is_empty());
        for hit in results {
            let got = desk.json("memory_get", json!({ "path": hit["path"], "lines": hit["lines"] }));
            assert_eq!(got["content"], hit["text"]);
            let lines = format!("{}-{}", got["fromLine"], got["toLine"]);
            assert_eq!(lines, hit["lines"].as_str().unwrap());
        }
    }
}

/// 3-b and 3-c: without an embedder a better match scores higher, above the default cut; nonsense finds nothing.
#[test]
fn words_alone_find_what_they_should() {
    let desk = desk(&[
        ("memory/a.md", "The quarterly budget is approved by Ada in March.\n"),
        ("memory/b.md", "A budget was mentioned.\n\nSomething else entirely about gardening and roses.\n"),
        ("memory/c.md", "Gardening.\n"),
    ]);
    let found = desk.json("memory_search", json!({ "query": "who approves the quarterly budget" }));
    assert_eq!(found["results"][0]["path"], "memory/a.md");
    assert_eq!(found["method"], "fts");
    let none = desk.json("memory_search", json!({ "query": "zzyzx qwfpgj" }));
    assert_eq!((&none["results"], &none["totalFound"]), (&json!([]), &json!(0)));
}

/// 3-g: fewer results are the first of more; the total counts all of them.
#[test]
fn fewer_results_are_the_first_of_more() {
    let files: Vec<(String, String)> =
        (0..12).map(|n| (format!("memory/f{n}.md"), format!("Invoice {n} for the printer.\n{}", "More text.\n".repeat(n)))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let desk = desk(&files);
    let paths = |most: u64| {
        let found = desk.json("memory_search", json!({ "query": "printer invoice", "maxResults": most }));
        let paths: Vec<Value> = found["results"].as_array().unwrap().iter().map(|hit| hit["path"].clone()).collect();
        (paths, found["totalFound"].clone())
    };
    let (all, total) = paths(20);
    assert_eq!(total, json!(all.len()));
    for most in 1..12 {
        let (some, of) = paths(most);
        assert_eq!((some.as_slice(), of), (&all[..most as usize], total.clone()));
    }
}

/// 3-d: any text is a query, and filters hold before the cut.
#[test]
fn any_text_is_a_query() {
    let desk = desk(&[("memory/a.md", "plain text\n")]);
    for query in ["\"", "a AND (", "-", "*", "NEAR/3", "🦀", "日本語", "'; DROP TABLE", &"word ".repeat(2_000), "\\", ":", "[x]"] {
        let found = desk.call("memory_search", json!({ "query": query }));
        assert!(!found.is_error, "{query:?}: {}", found.text);
    }
    assert!(desk.error("memory_search", json!({ "query": " " })).contains("empty"));
    let chats = desk.json("memory_search", json!({ "query": "plain text", "source": "chat" }));
    assert_eq!(chats["results"], json!([]));
    assert_eq!(chats["action"], "memdir chats on");
    assert!(desk.error("memory_search", json!({ "query": "x", "source": "other" })).contains("source"));
}

/// 3-j: a file written a moment ago is found, and one that is gone is not.
#[test]
fn the_index_is_never_behind_the_files() {
    let desk = desk(&[("memory/a.md", "alpha\n")]);
    let find = |query: &str| desk.json("memory_search", json!({ "query": query }))["results"].as_array().unwrap().len();
    assert_eq!((find("alpha"), find("omega")), (1, 0));
    desk.put("memory/b.md", "omega\n");
    assert_eq!(find("omega"), 1);
    std::fs::remove_file(desk.root.join("memory/b.md")).unwrap();
    assert_eq!(find("omega"), 0);
}

#[test]
fn get_accepts_line_ranges_and_line_numbers() {
    let desk = desk(&[("memory/n.md", &(1..=40).map(|n| format!("{n}\n")).collect::<String>())]);
    let get = |arguments: Value| {
        let got = desk.json("memory_get", arguments);
        (
            got["fromLine"].as_u64().unwrap(),
            got["toLine"].as_u64().unwrap(),
            got["content"].as_str().unwrap().lines().next().unwrap().to_owned(),
        )
    };
    assert_eq!(get(json!({ "path": "memory/n.md" })), (1, 40, "1".into()));
    assert_eq!(get(json!({ "path": "memory/n.md", "lines": "12-14" })), (12, 14, "12".into()));
    assert_eq!(get(json!({ "path": "memory/n.md", "from": 5, "lines": 3 })), (5, 7, "5".into()));
    assert_eq!(get(json!({ "path": "memory/n.md", "from": 5 })), (5, 24, "5".into()));
    assert_eq!(get(json!({ "path": "memory/n.md", "lines": 3 })), (1, 3, "1".into()));
    assert_eq!(
        desk.json("memory_get", json!({ "path": "memory/none.md" })),
        json!({ "path": "memory/none.md", "content": "", "fromLine": 0, "toLine": 0, "found": false })
    );
    assert!(desk.error("memory_get", json!({ "path": "../home" })).contains("invalid memory name"));
}

#[test]
fn statistics_count_the_existing_files() {
    let desk = desk(&[("memory/a.md", "0123456789abcdef\n"), ("MEMORY.md", "tea\n"), ("README.md", "not a memory")]);
    assert_eq!(
        desk.json("memory_stats", nothing()),
        json!({
            "totalFiles": 2, "totalChunks": 2, "totalTokensEstimate": 5, "lastSyncAt": "2026-09-01T12:00:00Z",
            "cachedEmbeddings": 0, "embeddingModel": null, "sources": ["memory"], "off": ["chat"],
        })
    );
}

#[test]
fn every_tool_is_safe_and_the_workspace_stays_as_it_was() {
    let desk = desk(&[("memory/a.md", "alpha\n")]);
    assert!((memdir_core::internal::dialects::find("profclaw").unwrap().tools)().iter().all(|tool| tool.level == Level::Safe));
    desk.json("memory_search", json!({ "query": "alpha" }));
    assert_eq!(desk.tree(&desk.root), ["memory/", "memory/a.md"]);
}

#[test]
fn every_parameter_has_one_json_type() {
    for dialect in memdir_core::internal::dialects::DIALECTS {
        for tool in (dialect.tools)() {
            for (name, schema) in tool.input_schema()["properties"].as_object().unwrap() {
                assert!(schema["type"].is_string(), "{} {} {name}: {schema}", dialect.name, tool.name);
            }
        }
    }
}
