//! Each dialect: its documented examples with whole outputs, without the defects of the system it replaces.

mod agent_memory;
mod anthropic;
mod koding;
mod openclaw;
mod profclaw;
mod serena;

use crate::support;
use memdir_core::{Mount, internal::dialects::DIALECTS};
use serde_json::{Value, json};
use std::{fmt::Write as _, fs, os::unix::fs::symlink};

#[test]
fn every_schema_is_self_contained_and_every_parameter_is_described() {
    for dialect in DIALECTS {
        for tool in (dialect.tools)() {
            let json = tool.json();
            assert!(!json.to_string().contains("$ref"), "{}", tool.name);
            assert!(tool.description.len() < 1_000 && !tool.description.trim().is_empty(), "{}", tool.name);
            assert_eq!(json["annotations"]["openWorldHint"], false, "{}", tool.name);
        }
    }
}

/// A line that is longer than any answer, and short ones below it.
#[test]
fn the_rest_of_a_text_that_was_cut_can_be_reached_in_every_dialect() {
    let text = format!("{}\n{}", "0123456789".repeat(20_000), "short\n".repeat(40_000));
    let reads = [
        ("koding", "MemoryRead", "home/.koding/memory/note.md", json!({ "file_path": "note.md" })),
        ("agent-memory", "memory_read", "home/.agent-memory/memory/note.md", json!({ "topics": ["note"] })),
        ("serena", "read_memory", "project/.serena/memories/note.md", json!({ "memory_name": "note" })),
        ("profclaw", "memory_get", "project/memory/note.md", json!({ "path": "memory/note.md" })),
        ("openclaw", "memory_get", "home/.openclaw/workspace/memory/note.md", json!({ "path": "memory/note.md" })),
        ("anthropic", "memory", "project/memory/memories/note.md", json!({ "command": "view", "path": "/memories/note.md" })),
    ];
    assert_eq!(reads.len(), DIALECTS.len());
    for (dialect, tool, file, arguments) in reads {
        let desk = support::dialect(dialect, &[], &[(file, &text)]);
        let read = desk.text(tool, arguments);
        let path = desk.top.path().join(file).display().to_string();
        let real = desk.top.path().canonicalize().unwrap().join(file).display().to_string();
        if dialect == "serena" {
            let whole = "max_answer_chars=440001]";
            assert!(read.ends_with(whole), "{}", &read[read.len() - 200..]);
            assert_eq!(desk.text(tool, json!({ "memory_name": "note", "max_answer_chars": 440_001 })), text);
        } else {
            assert!(read.contains(&path) || read.contains(&real), "{dialect}: {}", &read[read.len() - 300..]);
        }
    }
    let desk = support::native();
    desk.put("note.md", &text);
    for (tool, arguments) in [("memory_read", json!({ "paths": ["note"] })), ("memory_get", json!({ "path": "note.md" }))] {
        let read = desk.call(tool, arguments).text;
        let file = desk.root.canonicalize().unwrap().join("note.md");
        let end = format!("\n[line 1 is too long to show in full; the rest of it is in {}]\n[more: lines \"2-\"]", file.display());
        assert!(read.ends_with(&end), "{tool}: {}", &read[read.len() - 300..]);
    }
}

#[test]
fn a_read_is_byte_for_byte_in_every_dialect() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let text = format!("The token is {token}\n");
    let reads = [
        ("koding", "MemoryRead", "home/.koding/memory/note.md", json!({ "file_path": "note.md" })),
        ("agent-memory", "memory_read", "home/.agent-memory/memory/note.md", json!({ "topics": ["note"] })),
        ("serena", "read_memory", "project/.serena/memories/note.md", json!({ "memory_name": "note" })),
        ("profclaw", "memory_get", "project/memory/note.md", json!({ "path": "memory/note.md" })),
        ("openclaw", "memory_get", "home/.openclaw/workspace/memory/note.md", json!({ "path": "memory/note.md" })),
        ("anthropic", "memory", "project/memory/memories/note.md", json!({ "command": "view", "path": "/memories/note.md" })),
    ];
    assert_eq!(reads.len(), DIALECTS.len());
    for (dialect, tool, file, arguments) in reads {
        let read = support::dialect(dialect, &[], &[(file, &text)]).text(tool, arguments);
        assert!(read.contains(&format!("The token is {token}")), "{dialect}: {read}");
    }
}

/// Where the memories of a dialect are, and calls that fail: with an invalid name, a missing memory, a taken name, an edit that does
/// not fit, invalid arguments, too much text, a read-only memory, a secret, and a link that leads out.
fn failing_calls() -> Vec<(&'static str, &'static str, Vec<(&'static str, Value)>)> {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let memory = |command: &str, path: &str| json!({ "command": command, "path": path });
    let edit = |name: &str, needle: &str, mode: &str| json!({ "memory_name": name, "needle": needle, "repl": "z", "mode": mode });
    vec![
        (
            "koding",
            "home/.koding/memory/",
            vec![
                ("MemoryRead", json!({ "file_path": "../x.md" })),
                ("MemoryRead", json!({ "file_path": "none.md" })),
                ("MemoryRead", json!({ "file_path": "link/x.md" })),
                ("MemoryRead", json!({ "file_path": "huge.md" })),
                ("MemoryRead", json!({ "file_path": ["a"] })),
                ("MemoryRead", json!({ "path": "a" })),
                ("MemoryWrite", json!({ "content": "x" })),
                ("MemoryWrite", json!({ "file_path": "fixed.md", "content": "x" })),
                ("MemoryWrite", json!({ "file_path": "new.md", "content": secret })),
            ],
        ),
        (
            "agent-memory",
            "home/.agent-memory/memory/",
            vec![
                ("memory_read", json!({ "topics": ["none", "../x", "link/x"] })),
                ("memory_read", json!({ "topics": ["huge"] })),
                ("memory_read", json!({ "topics": 5 })),
                ("memory_read", json!({ "topic_names": [] })),
                ("memory_append_session", json!({ "content": " " })),
                ("memory_append_session", json!({})),
                ("memory_append_session", json!({ "content": secret })),
                ("memory_search", json!({ "query": " " })),
            ],
        ),
        (
            "serena",
            "project/.serena/memories/",
            vec![
                ("read_memory", json!({ "memory_name": "../x" })),
                ("read_memory", json!({ "memory_name": "/memories/x" })),
                ("read_memory", json!({ "memory_name": "" })),
                ("read_memory", json!({ "memory_name": ".md" })),
                ("read_memory", json!({ "memory_name": "global" })),
                ("read_memory", json!({ "memory_name": "none" })),
                ("read_memory", json!({ "memory_name": "huge" })),
                ("read_memory", json!({ "memory_name": "link/x" })),
                ("read_memory", json!({ "memory_name": "a", "max_answer_chars": "many" })),
                ("list_memories", json!({ "topic": "../.." })),
                ("write_memory", json!({ "memory_name": "fixed", "content": "x" })),
                ("write_memory", json!({ "memory_name": "new", "content": secret })),
                ("write_memory", json!({ "memory_name": "new" })),
                ("edit_memory", edit("none", "x", "literal")),
                ("edit_memory", edit("a", "none", "literal")),
                ("edit_memory", edit("a", "x", "literal")),
                ("edit_memory", edit("a", "(", "regex")),
                ("edit_memory", edit("a", "x", "glob")),
                ("edit_memory", edit("raw", "x", "literal")),
                ("delete_memory", json!({ "memory_name": "fixed" })),
                ("rename_memory", json!({ "old_name": "none", "new_name": "b" })),
                ("rename_memory", json!({ "old_name": "a", "new_name": "raw" })),
                ("rename_memory", json!({ "old_name": "a", "new_name": "fixed/a" })),
            ],
        ),
        (
            "profclaw",
            "project/memory/",
            vec![
                ("memory_search", json!({ "query": " " })),
                ("memory_search", json!({ "query": "x", "source": "web" })),
                ("memory_search", json!({ "query": "x", "since": "soon" })),
                ("memory_get", json!({ "path": "../x.md" })),
                ("memory_get", json!({ "path": "/memory/x.md" })),
                ("memory_get", json!({ "path": "" })),
                ("memory_get", json!({ "path": "memory/none.md" })),
                ("memory_get", json!({ "path": "memory/huge.md" })),
                ("memory_get", json!({ "path": "memory/link/x.md" })),
                ("memory_get", json!({ "path": "memory/a.md", "lines": "x" })),
                ("memory_get", json!({})),
                ("memory_stats", json!({ "x": 1 })),
            ],
        ),
        (
            "openclaw",
            "home/.openclaw/workspace/memory/",
            vec![
                ("memory_search", json!({ "query": " " })),
                ("memory_search", json!({ "query": "x", "corpus": "web" })),
                ("memory_get", json!({ "path": "../x.md" })),
                ("memory_get", json!({ "path": "~/x.md" })),
                ("memory_get", json!({ "path": "memory/none.md" })),
                ("memory_get", json!({ "path": "memory/huge.md" })),
                ("memory_get", json!({ "path": "memory/link/x.md" })),
                ("memory_get", json!({ "path": "memory/a.md", "from": 0 })),
            ],
        ),
        (
            "anthropic",
            "project/memory/memories/",
            vec![
                ("memory", memory("view", "notes/a.md")),
                ("memory", memory("view", "/memories/../x.md")),
                ("memory", memory("view", "/memories/C:/x.md")),
                ("memory", memory("view", "/memories/~/x.md")),
                ("memory", memory("view", "/memories/a./x.md")),
                ("memory", memory("view", "/memories/none.md")),
                ("memory", memory("view", "/memories/huge.md")),
                ("memory", memory("view", "/memories/link/x.md")),
                ("memory", memory("create", "/memories/a.md")),
                ("memory", memory("create", "/memories/a.md/b.md")),
                ("memory", memory("create", "/memories/fixed/new.md")),
                ("memory", json!({ "command": "create", "path": "/memories/new.md", "file_text": secret })),
                ("memory", json!({ "command": "str_replace", "path": "/memories/a.md", "old_str": "x", "new_str": "y" })),
                ("memory", json!({ "command": "str_replace", "path": "/memories/a.md", "old_str": "none", "new_str": "y" })),
                ("memory", json!({ "command": "str_replace", "path": "/memories/raw.md", "old_str": "x", "new_str": "y" })),
                ("memory", json!({ "command": "str_replace", "path": "/memories/fixed.md", "old_str": "x", "new_str": "y" })),
                ("memory", json!({ "command": "str_replace", "path": "/memories/a.md" })),
                ("memory", json!({ "command": "insert", "path": "/memories/a.md", "insert_line": 9, "insert_text": "y" })),
                ("memory", json!({ "command": "insert", "path": "/memories/a.md", "insert_line": "first", "insert_text": "y" })),
                ("memory", memory("delete", "/memories")),
                ("memory", memory("delete", "/memories/none.md")),
                ("memory", memory("delete", "/memories/fixed.md")),
                ("memory", json!({ "command": "rename", "old_path": "/memories/none.md", "new_path": "/memories/b.md" })),
                ("memory", json!({ "command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/raw.md" })),
                ("memory", json!({ "command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/fixed.md" })),
                ("memory", json!({ "command": "move" })),
                ("memory", json!({})),
            ],
        ),
    ]
}

/// The advice in an error can be followed with the tools of the dialect that prints it.
#[test]
fn every_kind_of_error_has_words_that_fit_its_dialect() {
    let calls = failing_calls();
    assert_eq!(calls.len(), DIALECTS.len());
    let mut out = String::new();
    for (dialect, folder, calls) in calls {
        let file = |name: &str| format!("{folder}{name}");
        let files = [(file("a.md"), "x x\n"), (file("fixed.md"), "x")];
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        let desk = support::dialect_with(dialect, &[], &files, &|mount| Mount { read_only: vec!["fixed.*".into()], ..mount });
        let folder = desk.top.path().join(folder);
        support::put(&desk.top.path().join("outside/x.md"), "x");
        symlink(desk.top.path().join("outside"), folder.join("link")).unwrap();
        fs::write(folder.join("raw.md"), b"x\xff").unwrap();
        fs::File::create(folder.join("huge.md")).unwrap().set_len(65 << 20).unwrap();
        for (tool, arguments) in calls {
            let result = desk.call(tool, arguments.clone());
            let top = desk.top.path().canonicalize().unwrap();
            let text = result.text.replace(&top.display().to_string(), "[TOP]").replace("ghp_a1B2c3D4e5F6g7H8i9J0", "[KEY]");
            let arguments = arguments.to_string().replace("ghp_a1B2c3D4e5F6g7H8i9J0", "[KEY]");
            let _ = writeln!(out, "{dialect} {tool} {arguments}\n  {}{text}", if result.is_error { "" } else { "(no error) " });
        }
    }
    insta::assert_snapshot!(out);
}
