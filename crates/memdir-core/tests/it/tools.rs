//! The native tools: their texts, what they are served as, and the limits of their answers.

mod optional;
mod served;

use crate::support::{self, nothing};
use memdir_core::{
    Access, Actor, FileStore, List, Memdir, Mount,
    internal::{
        dialects::DIALECTS,
        tools::{Tool, native as native_tools},
    },
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

#[test]
fn the_overview_of_an_empty_memory_names_the_first_step() {
    let desk = support::native();
    let result = desk.call("memory_read", nothing());
    assert_eq!(result.text, "No memories yet; save the first with memory_write.");
    assert_eq!(result.structured.unwrap(), json!({ "entrypoints": [], "total": 0, "names": [] }));
    // A caller with read access only has no tool that saves a memory.
    let mut desk = support::native();
    let mount = Mount { access: Access::ReadOnly, ..Mount::new("", &desk.root, desk.top.path().join("journal")) };
    let store = FileStore::open(&[mount]).unwrap();
    desk.caller.memdir = Memdir::new(Arc::new(store), Actor { name: "ada".into(), session: None });
    assert_eq!(desk.text("memory_read", nothing()), "No memories yet.");
}

#[test]
fn a_saved_memory_is_in_the_overview_and_read_by_name() {
    let desk = support::native();
    let arguments = json!({ "path": "notes/deploy", "content": "On Tuesdays.\n", "type": "project", "description": "when we deploy" });
    let saved = desk.call("memory_write", arguments);
    let change = saved.structured.as_ref().unwrap()["change"].as_str().unwrap().to_owned();
    assert_eq!(saved.text, format!("Saved notes/deploy (change {change})."));
    let overview = desk.text("memory_read", nothing());
    assert_eq!(overview, "[MEMORY.md]\n- notes/deploy — when we deploy\n\n1 memory");
    let read = desk.text("memory_read", json!({ "paths": ["notes/deploy"] }));
    assert_eq!(read, "[notes/deploy.md (today, project)]\n---\ndescription: when we deploy\ntype: project\n---\n\nOn Tuesdays.");
}

#[test]
fn names_topics_and_aliases_are_read() {
    let desk = support::native();
    for (path, content) in [("notes/a", "Alpha"), ("notes/b", "Beta"), ("top", "Top")] {
        desk.text("memory_write", json!({ "path": path, "content": content }));
    }
    let all = "[notes/a.md (today)]\nAlpha\n\n[notes/b.md (today)]\nBeta";
    assert_eq!(desk.text("memory_read", json!({ "paths": ["notes"] })), all);
    assert_eq!(desk.text("memory_read", json!({ "topics": ["notes/"] })), all);
    assert_eq!(desk.text("memory_read", json!({ "paths": ["notes/a", "notes/b.md", "notes/a.md"] })), all);
    for alias in ["paths", "path", "file_path", "name", "memory_name"] {
        assert_eq!(desk.text("memory_read", json!({ alias: "top" })), "[top.md (today)]\nTop", "{alias}");
    }
    assert_eq!(desk.text("memory_read", json!({ "paths": "[\"top\"]" })), "[top.md (today)]\nTop");
    assert_eq!(
        desk.text("memory_read", json!({ "paths": ["top", "tops"] })),
        "[top.md (today)]\nTop\n\n(no memory named \"tops\"; similar: top)"
    );
    assert_eq!(desk.error("memory_read", json!({ "paths": ["tops"] })), "memory \"tops\" not found. Did you mean \"top\"?");
}

#[test]
fn an_unknown_argument_is_refused() {
    let desk = support::native();
    let result = desk.call("memory_write", json!({ "path": "a", "content": "x", "overwrite": true }));
    assert_eq!(result.text, "overwrite: not a parameter of memory_write. Correct the argument and call again.");
    assert_eq!(result.structured.unwrap()["error"]["code"], "bad_input");
    assert_eq!(desk.file("a.md"), None);
}

#[test]
fn errors_have_a_hint_with_the_next_action() {
    let desk = support::native();
    desk.text("memory_write", json!({ "path": "a", "content": "x" }));
    let again = desk.call("memory_write", json!({ "path": "a", "content": "y" }));
    assert!(again.is_error);
    assert_eq!(
        again.structured.unwrap()["error"],
        json!({
            "code": "exists", "message": "memory \"a\" already exists", "hint": "Use another name, replace the existing memory, or append to it."
        })
    );
    assert!(desk.error("memory_write", json!({ "path": "b", "content": "y", "mode": "replace" })).contains("not found"));
    assert!(desk.error("memory_write", json!({ "path": "../b", "content": "y" })).contains("invalid memory name"));
    assert!(desk.error("memory_write", json!({ "path": "b", "content": 5, "mode": 3 })).contains("mode"));
    assert!(desk.error("memory_write", json!({ "path": "b" })).contains("content: required by memory_write"));
    assert!(desk.error("memory_write", json!({ "path": "b", "content": ["x"] })).contains("must be a string"));
}

#[test]
fn a_version_that_is_no_longer_there_stops_a_write() {
    let desk = support::native();
    desk.text("memory_write", json!({ "path": "a", "content": "one" }));
    let version = desk.json("memory_read", json!({ "paths": ["a"] }))["memories"][0]["version"].clone();
    desk.text("memory_write", json!({ "path": "a", "content": "two", "mode": "append" }));
    let late = json!({ "path": "a", "content": "three", "mode": "replace", "expectedVersion": version });
    assert!(desk.error("memory_write", late).contains("has changed"));
    assert_eq!(desk.file("a.md").unwrap(), "one\ntwo\n");
}

#[test]
fn edits_renames_and_deletes_are_undone_one_by_one() {
    let desk = support::native();
    desk.text("memory_write", json!({ "path": "a", "content": "one two" }));
    desk.text("memory_write", json!({ "path": "b", "content": "see [a](a.md)" }));
    let first_sentence = |name: &str, arguments: Value| desk.text(name, arguments).split(" (change").next().unwrap().to_owned();
    assert_eq!(first_sentence("memory_edit", json!({ "path": "a", "old": "two", "new": "2" })), "Edited a in 1 place");
    assert_eq!(first_sentence("memory_move", json!({ "from": "a", "to": "c/a" })), "Renamed a to c/a. Updated references in b");
    assert_eq!(desk.file("b.md").unwrap(), "see [a](c/a.md)\n");
    assert_eq!(first_sentence("memory_delete", json!({ "path": "c/a" })), "Deleted c/a");
    assert_eq!(desk.text("memory_undo", nothing()), "Undid: deleted c/a.");
    assert!(desk.text("memory_undo", nothing()).starts_with("Undid: renamed"));
    assert_eq!((desk.file("a.md").unwrap(), desk.file("b.md").unwrap()), ("one 2\n".to_owned(), "see [a](a.md)\n".to_owned()));
    assert_eq!(desk.text("memory_undo", nothing()), "Undid: edited a.");
    assert_eq!(desk.file("a.md").unwrap(), "one two\n");
}

#[test]
fn undo_never_reverts_the_change_of_another_session() {
    let desk = support::native();
    let mine = desk.json("memory_write", json!({ "path": "mine", "content": "x" }))["change"].clone();
    let other = desk.other("tester", "two");
    let theirs = desk.call_as(&other, "memory_write", json!({ "path": "theirs", "content": "x" })).structured.unwrap()["change"].clone();
    desk.text("memory_undo", nothing());
    assert_eq!((desk.file("mine.md"), desk.file("theirs.md").as_deref()), (None, Some("x\n")));
    assert!(desk.error("memory_undo", nothing()).contains("you have no changes to undo"));
    // Without a session, only the id of the change identifies its owner.
    let sessionless = memdir_core::internal::tools::ToolContext { session: false, ..desk.other("tester", "three") };
    assert!(desk.call_as(&sessionless, "memory_undo", nothing()).text.contains("no session"));
    let outsider = desk.other("outsider", "four");
    assert!(desk.call_as(&outsider, "memory_undo", json!({ "change": theirs })).is_error);
    assert!(desk.call_as(&sessionless, "memory_undo", json!({ "change": theirs.as_str().unwrap()[..5] })).is_error);
    assert!(!desk.call_as(&sessionless, "memory_undo", json!({ "change": theirs })).is_error);
    assert_eq!(desk.file("theirs.md"), None);
    assert!(mine.is_string());
}

#[test]
fn answers_are_truncated_with_a_note_how_to_continue() {
    let desk = support::native();
    let line = "All work and no play makes a dull memory.\n";
    for n in 0..6 {
        desk.put(&format!("long/{n}.md"), &line.repeat(100));
    }
    let result = desk.call("memory_read", json!({ "paths": ["long"] }));
    let shown: Value = result.structured.unwrap();
    assert_eq!(shown["memories"].as_array().unwrap().len(), 2);
    assert_eq!(shown["memories"][1]["nextLine"], 91);
    assert_eq!(shown["notShown"], json!(["long/2", "long/3", "long/4", "long/5"]));
    assert!(result.text.contains("[more: lines \"91-\"]") && result.text.contains("read separately: long/2, long/3"));
    assert!(result.text.chars().count() < 8_500, "{}", result.text.len());
    let got = desk.json("memory_get", json!({ "path": "long/0", "lines": "91-" }));
    assert_eq!(got["content"].as_str().unwrap(), line.repeat(10));
}

#[test]
fn the_overview_of_very_many_memories_is_short() {
    let desk = support::native();
    for n in 0..500 {
        desk.put(&format!("topic{}/memory-with-a-long-name-{n}.md", n % 20), "x");
    }
    let result = desk.call("memory_read", nothing());
    assert!(result.text.chars().count() < 8_000);
    assert!(result.text.starts_with("500 memories. Topics: topic0 (25), topic1 (25),"), "{}", result.text);
    assert_eq!(result.structured.unwrap()["topics"]["topic7"], 25);
}

#[test]
fn the_lines_of_a_hit_are_its_text() {
    let desk = support::native();
    let text: String = (1..=300).map(|n| format!("Entry {n}: the heron{} flies over pond{}.\n", n % 13, n % 7)).collect();
    desk.put("birds.md", &text);
    for query in ["heron5", "pond3 heron2", "where does heron11 fly"] {
        let found = desk.json("memory_search", json!({ "query": query, "maxResults": 20, "minScore": 0.0 }));
        let results = found["results"].as_array().unwrap();
        assert!(!results.is_empty());
        for hit in results {
            assert_eq!(desk.json("memory_get", json!({ "path": hit["path"], "lines": hit["lines"] }))["content"], hit["text"]);
        }
    }
}

#[test]
fn a_search_has_the_documented_fields() {
    let desk = support::native();
    desk.text("memory_write", json!({ "path": "people/ada", "content": "Ada approves every deploy.\n", "type": "user" }));
    let result = desk.call("memory_search", json!({ "query": "who approves a deploy?" }));
    let found = result.structured.unwrap();
    let hit = found["results"][0].clone();
    assert_eq!(
        found,
        json!({
            "query": "who approves a deploy?", "results": [hit], "totalFound": 1, "method": "fts", "stats": { "totalFiles": 1, "totalChunks": 1 }
        })
    );
    assert_eq!((&hit["path"], &hit["source"], &hit["age"]), (&json!("people/ada.md"), &json!("memory"), &json!("today")));
    assert!(result.text.starts_with(&format!("[people/ada.md lines {} (today, score ", hit["lines"].as_str().unwrap())), "{}", result.text);
    assert_eq!(desk.text("memory_search", json!({ "query": "zzyzx" })), "No relevant memories found (1 file searched).");
    assert_eq!(desk.json("memory_search", json!({ "query": "approves deploy", "type": "project" }))["totalFound"], 0);
    assert_eq!(desk.json("memory_search", json!({ "query": "approves deploy", "max_results": "3", "min_score": 0.2 }))["totalFound"], 1);
    assert!(desk.error("memory_search", json!({ "query": "x", "since": "yesterday" })).contains("2026-01-31"));
}

#[test]
fn statistics_have_files_chunks_and_sources() {
    let desk = support::native();
    desk.text("memory_write", json!({ "path": "a", "content": "x" }));
    let stats = desk.json("memory_stats", nothing());
    assert_eq!(
        (&stats["files"], &stats["sources"], &stats["lastIndexed"]),
        (&json!(1), &json!(["memory"]), &json!("2026-09-01T12:00:00Z"))
    );
    assert!(stats["chunks"].as_u64().unwrap() >= 1);
    assert_eq!(stats["off"], json!(["chat"]));
    assert!(desk.text("memory_stats", nothing()).ends_with("\nchat: chats are off until the user runs: memdir chats on"));
}

/// A clock that a test moves.
struct MovedClock(std::sync::atomic::AtomicI64);

impl memdir_core::Clock for MovedClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(self.0.load(std::sync::atomic::Ordering::SeqCst)).unwrap()
    }

    fn zone(&self) -> jiff::tz::TimeZone {
        jiff::tz::TimeZone::UTC
    }
}

#[test]
fn statistics_have_the_time_of_the_index_and_the_number_of_vectors() {
    use memdir_core::{Embedder, FileStore, Mount, Searcher, internal::search::embed::testing::RamEmbedder};
    use std::sync::{Arc, atomic::Ordering};
    let top = tempfile::tempdir().unwrap();
    let clock = Arc::new(MovedClock(1_800_000_000.into()));
    let embedder = Arc::new(RamEmbedder::new().slow());
    let root = top.path().join("project");
    support::put(&root.join("memory/a.md"), "alpha\n\nbeta\n");
    let mounts = [Mount::new("", &root, top.path().join("journal"))];
    let store = Arc::new(FileStore::open(&mounts).unwrap());
    let identity = Some((embedder.id().clone(), embedder.dim()));
    let searcher = Searcher::new(&*store, Some(embedder.clone()), clock.clone(), |info| {
        Arc::new(memdir_index::TantivyIndex::for_mount(&top.path().join("cache"), &info.root, &info.rules, identity.clone()))
    });
    let actor = Actor { name: "tester".into(), session: None };
    let memdir = Memdir::with_clock(store, actor, clock.clone()).with_searcher(searcher);
    let caller = memdir_core::internal::tools::ToolContext { memdir, session: false, root: root.clone() };
    let profclaw = (DIALECTS.iter().find(|dialect| dialect.name == "profclaw").unwrap().tools)();
    let stats = |tools: &[Tool], keys: [&str; 2]| {
        let tool = tools.iter().find(|tool| tool.name == "memory_stats").unwrap();
        let answer = tool.call(&caller, &Map::new()).structured.unwrap();
        keys.map(|key| answer[key].clone())
    };
    let sync = || stats(profclaw, ["lastSyncAt", "cachedEmbeddings"]);
    assert_eq!(sync(), [json!("2027-01-15T08:00:00Z"), json!(0)], "nothing is embedded yet");
    clock.0.fetch_add(3_600, Ordering::SeqCst);
    assert_eq!(sync(), [json!("2027-01-15T08:00:00Z"), json!(0)], "nothing has changed");
    assert_eq!(stats(native_tools(), ["lastIndexed", "files"]), [json!("2027-01-15T08:00:00Z"), json!(1)]);
    support::put(&root.join("memory/b.md"), "gamma\n");
    assert_eq!(sync(), [json!("2027-01-15T09:00:00Z"), json!(0)]);
    clock.0.fetch_add(3_600, Ordering::SeqCst);
    std::fs::remove_file(root.join("memory/b.md")).unwrap();
    let searcher = caller.memdir.searcher().unwrap();
    searcher.index(caller.memdir.store(), false, &|_| {}).unwrap();
    assert_eq!(sync()[1], json!(2), "two units, each with its vector");
    let [written, _] = sync();
    clock.0.fetch_add(3_600, Ordering::SeqCst);
    assert_eq!(sync()[0], written, "the index on disk has not changed");
}

#[test]
fn an_entrypoint_counts_only_with_text_that_memdir_did_not_write() {
    let desk = support::native();
    let counted = || {
        let stats = desk.json("memory_stats", nothing());
        (stats["files"].as_u64().unwrap(), stats["chunks"].as_u64().unwrap())
    };
    desk.text("memory_write", json!({ "path": "a", "content": "Tea at four.\n" }));
    desk.text("memory_write", json!({ "path": "b", "content": "Coffee at nine.\n" }));
    assert_eq!(counted(), (2, 2));
    // The marks and the heading that memdir writes around its lines are not a memory.
    for query in ["memdir", "one line per memory, sorted", "memory"] {
        let found = desk.json("memory_search", json!({ "query": query, "minScore": 0.0 }));
        assert_eq!(found["totalFound"], 0, "{query}: {found}");
    }
    let entrypoint = desk.file("MEMORY.md").unwrap();
    desk.put("MEMORY.md", &format!("{entrypoint}\nThe team meets on Mondays.\n"));
    assert_eq!(counted(), (3, 3));
    let found = desk.json("memory_search", json!({ "query": "when does the team meet?" }));
    assert_eq!((&found["results"][0]["path"], &found["results"][0]["lines"]), (&json!("MEMORY.md"), &json!("8-8")), "{found}");
    assert_eq!(found["results"][0]["text"], "The team meets on Mondays.\n");
}

#[test]
fn a_call_that_was_ended_changes_nothing() {
    let desk = support::native();
    desk.text("memory_write", json!({ "path": "a", "content": "x" }));
    let stopped = desk.stopped();
    for (name, arguments) in [
        ("memory_write", json!({ "path": "b", "content": "x" })),
        ("memory_edit", json!({ "path": "a", "old": "x", "new": "y" })),
        ("memory_move", json!({ "from": "a", "to": "c" })),
        ("memory_delete", json!({ "path": "a" })),
        ("memory_search", json!({ "query": "x" })),
        ("memory_read", json!({ "paths": ["a"] })),
    ] {
        let result = desk.call_as(&stopped, name, arguments);
        assert!(result.is_error && result.text.contains("cancelled"), "{name}: {}", result.text);
    }
    assert_eq!(desk.tree(&desk.root), ["MEMORY.md", "a.md"]);
    assert_eq!(desk.file("a.md").unwrap(), "x\n");
}

#[test]
fn since_accepts_the_dates_that_the_command_accepts() {
    let desk = support::native();
    desk.text("memory_write", json!({ "path": "deploy", "content": "Deploys happen on Tuesdays.\n" }));
    for since in ["2026/01/31", "2026-01-31", "2026-01-31 09:30", "2026-01-31T09:30:00Z", "9000d", "900w"] {
        let found = desk.json("memory_search", json!({ "query": "when do we deploy?", "since": since }));
        assert_eq!(found["totalFound"], 1, "{since}");
    }
    let refused = desk.error("memory_search", json!({ "query": "deploy", "since": "yesterday" }));
    assert!(refused.contains("since: \"yesterday\" is neither a date such as 2026-01-31 nor a period such as 90d"), "{refused}");
}

#[test]
fn every_served_range_is_enforced() {
    let native = support::native();
    let mut desks: Vec<(support::Desk, &[Tool])> = vec![(native, native_tools())];
    desks.extend(DIALECTS.iter().map(|dialect| (support::dialect(dialect.name, &[], &[]), (dialect.tools)())));
    let mut checked = 0;
    for (desk, tools) in &desks {
        for tool in *tools {
            let schema = tool.input_schema();
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let arguments: Map<String, Value> = required.iter().map(|name| (name.as_str().unwrap().to_owned(), json!("x"))).collect();
            for (name, property) in schema["properties"].as_object().unwrap() {
                let outside = [property["minimum"].as_i64().map(|min| min - 1), property["maximum"].as_i64().map(|max| max + 1)];
                for value in outside.into_iter().flatten() {
                    let mut arguments = arguments.clone();
                    arguments.insert(name.clone(), json!(value));
                    let result = desk.call(tool.name, Value::Object(arguments));
                    let is_clamped = matches!(name.as_str(), "maxResults" | "minScore");
                    let reported =
                        if is_clamped { format!("{name} {value} is not in") } else { format!("{name}: {value} is not in the range") };
                    assert!(result.is_error != is_clamped && result.text.contains(&reported), "{}: {}", tool.name, result.text);
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 12);
}

#[test]
fn secrets_are_redacted_in_lists_and_never_in_reads() {
    let desk = support::native();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    // Written by another program: memdir would refuse it.
    let memory = format!("---\ndescription: token {token}\n---\n\nThe token is {token}\n");
    let entrypoint = format!("- [Deploy](deploy.md) — token {token}\n");
    desk.put("deploy.md", &memory);
    desk.put("MEMORY.md", &entrypoint);
    let overview = desk.call("memory_read", nothing());
    let structured = overview.structured.unwrap().to_string();
    for text in [&overview.text, &structured] {
        assert!(text.contains("token [secret: github-token]") && !text.contains(&token), "{text}");
    }
    let listing = desk.caller.memdir.list(&List { details: true, ..List::default() }).unwrap();
    assert_eq!(listing.memories[0].description.as_deref(), Some("token [secret: github-token]"));
    let found = desk.text("memory_search", json!({ "query": "what is the deploy token?", "minScore": 0.0 }));
    assert!(!found.contains(&token), "{found}");
    for (name, arguments) in [("memory_read", json!({ "paths": ["deploy"] })), ("memory_get", json!({ "path": "deploy" }))] {
        let read = desk.json(name, arguments);
        let content = if name == "memory_read" { &read["memories"][0]["content"] } else { &read["content"] };
        assert_eq!(content.as_str(), Some(memory.as_str()), "{name}");
    }
    assert_eq!(desk.json("memory_get", json!({ "path": "MEMORY.md" }))["content"].as_str(), Some(entrypoint.as_str()));
}
