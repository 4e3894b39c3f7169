//! Optional parameters of every tool of every system: `""` and `null` are the same as nothing, and numbers out of range are clamped.

use crate::support::{self, Desk};
use memdir_core::{
    Error, Search,
    internal::{
        dialects::DIALECTS,
        tools::{Tool, native_with_log},
    },
};
use serde_json::{Value, json};
use std::fs;

/// A call with nothing but what it needs: the system, the tool, the arguments.
fn calls() -> Vec<(&'static str, &'static str, Value)> {
    let memory = |command: &str, more: Value| {
        let mut arguments = json!({ "command": command });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("anthropic", "memory", arguments)
    };
    vec![
        ("native", "memory_read", json!({})),
        ("native", "memory_search", json!({ "query": "deploy" })),
        ("native", "memory_get", json!({ "path": "note" })),
        ("native", "memory_write", json!({ "path": "new", "content": "new" })),
        ("native", "memory_edit", json!({ "path": "note", "old": "Tuesdays", "new": "" })),
        ("native", "memory_move", json!({ "from": "note", "to": "other" })),
        ("native", "memory_delete", json!({ "path": "note" })),
        ("native", "memory_undo", json!({})),
        ("native", "memory_stats", json!({})),
        ("native", "memory_log", json!({ "entry": "shipped" })),
        ("koding", "MemoryRead", json!({})),
        ("koding", "MemoryWrite", json!({ "file_path": "new.md", "content": "" })),
        ("agent-memory", "memory_read", json!({})),
        ("agent-memory", "memory_append_session", json!({ "content": "shipped" })),
        ("agent-memory", "memory_search", json!({ "query": "deploy" })),
        ("agent-memory", "memory_daemon_status", json!({})),
        ("serena", "list_memories", json!({})),
        ("serena", "read_memory", json!({ "memory_name": "note" })),
        ("serena", "write_memory", json!({ "memory_name": "new", "content": "" })),
        ("serena", "edit_memory", json!({ "memory_name": "note", "needle": "Tuesdays", "repl": "", "mode": "literal" })),
        ("serena", "delete_memory", json!({ "memory_name": "note" })),
        ("serena", "rename_memory", json!({ "old_name": "note", "new_name": "other" })),
        ("serena", "onboarding", json!({})),
        ("profclaw", "memory_search", json!({ "query": "deploy" })),
        ("profclaw", "memory_get", json!({ "path": "memory/note.md" })),
        ("profclaw", "memory_stats", json!({})),
        ("openclaw", "memory_search", json!({ "query": "deploy" })),
        ("openclaw", "memory_get", json!({ "path": "memory/note.md" })),
        memory("view", json!({ "path": "/memories/note.md" })),
        memory("create", json!({ "path": "/memories/new.md", "file_text": "" })),
        memory("str_replace", json!({ "path": "/memories/note.md", "old_str": "Tuesdays", "new_str": "" })),
        memory("insert", json!({ "path": "/memories/note.md", "insert_line": 1, "insert_text": "" })),
        memory("delete", json!({ "path": "/memories/note.md" })),
        memory("rename", json!({ "old_path": "/memories/note.md", "new_path": "/memories/other.md" })),
    ]
}

/// Parameters that a tool accepts and does not serve.
const UNSERVED: &[(&str, &str, &[&str])] =
    &[("native", "memory_write", &["title"]), ("profclaw", "memory_search", &["type", "since"]), ("profclaw", "memory_get", &["count"])];

fn tools(system: &str) -> &'static [Tool] {
    DIALECTS.iter().find(|dialect| dialect.name == system).map_or_else(native_with_log, |dialect| (dialect.tools)())
}

/// A space of a system with one memory.
fn desk(system: &str) -> Desk {
    let file = match system {
        "native" => {
            let desk = support::native_with_log();
            desk.text("memory_write", json!({ "path": "note", "content": "We deploy on Tuesdays.\n" }));
            return desk;
        }
        "koding" => "home/.koding/memory/note.md",
        "agent-memory" => "home/.agent-memory/memory/note.md",
        "serena" => "project/.serena/memories/note.md",
        "profclaw" => "project/memory/note.md",
        "openclaw" => "home/.openclaw/workspace/memory/note.md",
        _ => "project/memory/memories/note.md",
    };
    support::dialect(system, &[], &[(file, "We deploy on Tuesdays.\n")])
}

/// The answer of a call in a space of its own, and all memories afterwards; without what differs between two equal calls.
fn outcome(system: &str, tool: &str, arguments: Value) -> String {
    let desk = desk(system);
    let result = desk.call(tool, arguments);
    let structured = result.structured.unwrap_or_default();
    let mut out = format!("error: {}\n{}\n{structured}\n", result.is_error, result.text);
    for name in desk.tree(desk.top.path()).iter().filter(|name| name.ends_with(".md")) {
        out += &format!("{name}: {:?}\n", fs::read_to_string(desk.top.path().join(name)).unwrap());
    }
    for id in ["change", "undone"].iter().filter_map(|key| structured[*key].as_str()) {
        out = out.replace(id, "ID");
    }
    out.replace(desk.top.path().to_str().unwrap(), "TOP")
}

#[test]
fn an_empty_optional_parameter_counts_as_absent_in_every_tool() {
    let calls = calls();
    for system in DIALECTS.iter().map(|dialect| dialect.name).chain(["native"]) {
        for tool in tools(system) {
            assert!(calls.iter().any(|(of, name, _)| *of == system && *name == tool.name), "{system} {} is not tried", tool.name);
        }
    }
    let mut tried = 0;
    for (system, name, arguments) in calls {
        let expected = outcome(system, name, arguments.clone());
        let schema = tools(system).iter().find(|tool| tool.name == name).unwrap().input_schema();
        let served = schema["properties"].as_object().unwrap().keys().map(String::as_str);
        let unserved = UNSERVED.iter().filter(|(of, tool, _)| *of == system && *tool == name).flat_map(|(_, _, params)| *params).copied();
        for param in served.chain(unserved).filter(|param| arguments.get(*param).is_none()) {
            for empty in [json!(""), json!(null)] {
                let mut given = arguments.clone();
                given[param] = empty.clone();
                assert_eq!(outcome(system, name, given), expected, "{system} {name} {param}: {empty}");
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn koding_lists_with_an_empty_path() {
    let desk = support::dialect("koding", &[], &[("home/.koding/memory/index.md", "# Index\n")]);
    let listed = desk.text("MemoryRead", json!({ "file_path": "" }));
    let root = desk.root.display();
    assert_eq!(
        listed,
        format!(
            "Here are the contents of the root memory file, `{root}/index.md`:\n'''\n# Index\n\n'''\n\nFiles in the memory directory:\n- {root}/index.md"
        )
    );
}

#[test]
fn blank_names_in_a_list_are_ignored() {
    let desk = desk("native");
    assert_eq!(desk.text("memory_read", json!({ "paths": [""] })), desk.text("memory_read", json!({})));
    assert_eq!(desk.text("memory_read", json!({ "paths": "", "file_path": "note" })), "[note.md (today)]\nWe deploy on Tuesdays.");
}

#[test]
fn numbers_out_of_range_are_clamped_and_the_answer_says_so() {
    for (system, most) in [("native", 20), ("profclaw", 20), ("openclaw", 100)] {
        let desk = desk(system);
        let search = |more: Value| {
            let mut arguments = json!({ "query": "deploy" });
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            desk.json("memory_search", arguments)
        };
        let within = search(json!({ "maxResults": most, "minScore": 0 }));
        assert_eq!(within.get("notes"), None, "{system}");
        for (given, notes) in [
            (
                json!({ "maxResults": most + 1, "minScore": 0 }),
                vec![format!("maxResults {} is not in the range 1 to {most}; using {most}", most + 1)],
            ),
            (
                json!({ "maxResults": 1e30, "minScore": 0 }),
                vec![format!("maxResults {} is not in the range 1 to {most}; using {most}", i64::MAX)],
            ),
            (json!({ "maxResults": "500", "minScore": 0 }), vec![format!("maxResults 500 is not in the range 1 to {most}; using {most}")]),
            (
                json!({ "maxResults": 0, "minScore": -0.5 }),
                vec![
                    format!("maxResults 0 is not in the range 1 to {most}; using 1"),
                    "minScore -0.5 is not in the range 0 to 1; using 0".into(),
                ],
            ),
        ] {
            let mut answer = search(given.clone());
            assert_eq!(answer["notes"], json!(notes), "{system} {given}");
            answer.as_object_mut().unwrap().remove("notes");
            assert_eq!(answer, within, "{system} {given}");
        }
        let nothing = search(json!({ "min_score": 35 }));
        assert_eq!(
            (&nothing["results"], &nothing["notes"]),
            (&json!([]), &json!(["min_score 35 is not in the range 0 to 1; using 1"])),
            "{system}"
        );
        assert!(desk.error("memory_search", json!({ "query": "deploy", "maxResults": "many" })).contains("a whole number"), "{system}");
        assert!(desk.error("memory_search", json!({ "query": "deploy", "minScore": "nan" })).contains("a number"), "{system}");
    }
    let text = desk("native").text("memory_search", json!({ "query": "deploy", "maxResults": 100, "minScore": 0 }));
    assert!(text.ends_with("We deploy on Tuesdays.\n\n\n(maxResults 100 is not in the range 1 to 20; using 20)"), "{text}");
}

#[test]
fn the_library_clamps_too() -> Result<(), Error> {
    let desk = desk("native");
    let answer = |max_results, min_score| desk.caller.memdir.search(&Search { max_results, min_score, ..Search::new("deploy") });
    let within = answer(100, 0.0)?;
    assert_eq!((within.hits.len(), within.notes), (1, Vec::<String>::new()));
    let outside = answer(0, -1.0)?;
    assert_eq!(outside.hits.len(), 1);
    assert_eq!(outside.notes, ["max_results 0 is not in the range 1 to 100; using 1", "min_score -1 is not in the range 0 to 1; using 0"]);
    assert_eq!(answer(usize::MAX, f32::NAN)?.notes, [format!("max_results {} is not in the range 1 to 100; using 100", usize::MAX)]);
    Ok(())
}
