//! `memdir replay` and `memdir bench replay`: past conversations against today's memory.

use crate::home::Home;
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;

/// A transcript of Claude Code: messages of the person, and commands of the agent.
fn converse(home: &Home, session: &str, steps: &[(&str, &str)]) {
    let dir = home.path(".claude/projects/-work");
    fs::create_dir_all(&dir).unwrap();
    let mut lines = String::new();
    for (at, (kind, text)) in steps.iter().enumerate() {
        let id = format!("toolu_{session}_{at}");
        let records = match *kind {
            "says" => vec![("user", json!(text))],
            "answers" => vec![("assistant", json!([{ "type": "text", "text": text }]))],
            _ => vec![
                ("assistant", json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": text } }])),
                ("user", json!([{ "type": "tool_result", "tool_use_id": id, "content": "ok" }])),
            ],
        };
        for (part, (role, content)) in records.into_iter().enumerate() {
            let time = format!("2026-09-01T10:{at:02}:{part:02}.000Z");
            let record = json!({ "type": role, "uuid": format!("{session}-{at}-{part}"), "sessionId": session, "cwd": home.path("work"),
                "timestamp": time, "message": { "role": role, "id": format!("m{at}{part}"), "content": content } });
            lines.push_str(&format!("{record}\n"));
        }
    }
    fs::write(dir.join(format!("{session}.jsonl")), lines).unwrap();
}

fn ok(home: &Home, args: &[&str]) -> String {
    let output = home.bare(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn machine() -> Home {
    let home = Home::new();
    ok(&home, &["chats", "on"]);
    ok(&home, &["config", "set", "chats.keep_days", "0"]);
    ok(&home, &["write", "notes/ferry", "---\ndescription: When the harbour ferry leaves\n---\nThe harbour ferry leaves at noon.\n"]);
    ok(&home, &["write", "push", "---\ndescription: No pushes on Fridays\nwhen:\n  command: git push*\n---\nNever push on Fridays.\n"]);
    ok(&home, &["write", "dusty", "Nothing that anybody asks for.\n"]);
    let answer = ("answers", "At noon.");
    converse(&home, "a1", &[("says", "When does the harbour ferry leave?"), answer, ("runs", "git push"), ("says", "thanks"), answer]);
    converse(&home, "b2", &[("says", "Is the harbour ferry late?"), answer, ("says", "And when does the harbour ferry leave?"), answer]);
    ok(&home, &["chats", "sync"]);
    home
}

#[test]
fn past_conversations_are_run_against_todays_memory() {
    let home = machine();
    let since = ["replay", "--since", "2026-08-01"];
    assert_snapshot!(home.run_bare(&since), @"");
    assert_snapshot!(home.run_bare(&[&since, ["--explain"].as_slice()].concat()), @"");
    let json: Value = serde_json::from_str(&ok(&home, &[&since, ["--json"].as_slice()].concat())).unwrap();
    assert_eq!((json["messages"].as_u64(), json["unused_memories"].as_u64()), (Some(4), Some(1)), "{json:#}");
    // The same input gives the same bytes, and nothing is counted.
    assert_eq!(ok(&home, &since), ok(&home, &since));
    assert!(!home.path("home/uses").exists());
    // A memory that is gone is not recalled any more.
    ok(&home, &["delete", "notes/ferry"]);
    let after: Value = serde_json::from_str(&ok(&home, &[&since, ["--json"].as_slice()].concat())).unwrap();
    assert_eq!((json["recalled"].as_u64(), after["recalled"].as_u64()), (Some(2), Some(0)));
}

#[test]
fn a_period_without_conversations_is_said_to_be_empty() {
    let home = machine();
    assert_snapshot!(home.run_bare(&["replay", "--since", "2027-01-01"]), @"
    0 conversations, 0 messages, 0 tool calls
    recall: 0 messages with 0 memories recalled, 0 tokens (0 per message)
    rules: fired at 0 tool calls, 0 tokens
    3 memories not needed by any of these conversations
    -- stderr
    note: no archived conversations of this project; import them with: memdir chats sync
    ");
    assert_snapshot!(home.run_bare(&["replay", "--since", "soon"]), @r#"
    -- stderr
    error: invalid since: "soon" is neither a period such as 90d nor a date such as 2026-01-31
    -- exit 2
    "#);
    let off = Home::new();
    assert_snapshot!(off.run_bare(&["replay"]), @"
    0 conversations, 0 messages, 0 tool calls
    recall: 0 messages with 0 memories recalled, 0 tokens (0 per message)
    rules: fired at 0 tool calls, 0 tokens
    0 memories not needed by any of these conversations
    -- stderr
    note: chats are off, so there is nothing to replay; turn them on with: memdir chats on
    ");
}

/// The benchmark is deterministic, and recall is what it is for.
#[test]
fn planted_facts_are_found_in_generated_conversations() {
    let home = Home::new();
    let run = |seed: &str| ok(&home, &["bench", "replay", "--facts", "30", "--files", "30", "--seed", seed, "--json"]);
    let first = run("7");
    assert_eq!(first, run("7"), "the same seed");
    assert_ne!(first, run("8"), "another seed");
    let report: Value = serde_json::from_str(&first).unwrap();
    let recall = |key: &str| report["recall"][key].as_u64().unwrap();
    assert_eq!(recall("needed"), 15);
    assert!(recall("found") * 10 >= recall("needed") * 8, "{report:#}");
    assert!(recall("disturbed") * 10 <= recall("quiet"), "{report:#}");
}
