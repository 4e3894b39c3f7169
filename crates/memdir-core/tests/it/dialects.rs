//! Each dialect: its documented examples with whole outputs, without the defects of the system it replaces.

mod agent_memory;
mod anthropic;
mod koding;
mod openclaw;
mod profclaw;
mod serena;

use crate::support;
use memdir_core::internal::dialects::DIALECTS;
use serde_json::json;

#[test]
fn every_schema_stands_alone_and_every_parameter_is_described() {
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
        let end = format!("\n[line 1 is too long to show; the rest of it is in {}]\n[more: lines \"2-\"]", file.display());
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
