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
    let (new, known) = ("Remember: the lighthouse keeper is called Ines.", "Remember that the harbour ferry leaves at noon.");
    converse(&home, "c3", &[("says", new), answer, ("says", known), answer]);
    ok(&home, &["chats", "sync"]);
    home
}

#[test]
fn past_conversations_are_run_against_todays_memory() {
    let home = machine();
    let since = ["replay", "--since", "2026-08-01"];
    assert_snapshot!(home.run_bare(&since), @"
    3 conversations, 6 messages, 1 tool call
    memories: recalled 3 times for 3 messages, 219 tokens (average over all messages: 36)
    rules: fired on 1 tool call (hold 1), 73 tokens
    2 candidates (remember 2): 1 already saved, 0 covered by a rule
    memory       recalled  fired
    notes/ferry  3         0
    push         0         1
    1 memory was not used in any of these conversations
    ");
    assert_snapshot!(home.run_bare(&[&since, ["--explain"].as_slice()].concat()), @"
    chats/claude-code/b2.md:15-17  Is the harbour ferry late?
      notes/ferry recalled
    chats/claude-code/c3.md:23-25  Remember that the harbour ferry leaves at noon.
      notes/ferry recalled
    chats/claude-code/a1.md:15-17  When does the harbour ferry leave?
      notes/ferry recalled
    claude-code/a1  Bash: git push
      push holds
    3 conversations, 6 messages, 1 tool call
    memories: recalled 3 times for 3 messages, 219 tokens (average over all messages: 36)
    rules: fired on 1 tool call (hold 1), 73 tokens
    2 candidates (remember 2): 1 already saved, 0 covered by a rule
    memory       recalled  fired
    notes/ferry  3         0
    push         0         1
    1 memory was not used in any of these conversations
    ");
    let json: Value = serde_json::from_str(&ok(&home, &[&since, ["--json"].as_slice()].concat())).unwrap();
    assert_eq!((json["messages"].as_u64(), json["unused_memories"].as_u64()), (Some(6), Some(1)), "{json:#}");
    // The same input gives the same bytes, and nothing is counted.
    assert_eq!(ok(&home, &since), ok(&home, &since));
    assert!(!home.path("home/uses").exists());
    // A memory that is gone is not recalled any more.
    ok(&home, &["delete", "notes/ferry"]);
    let after: Value = serde_json::from_str(&ok(&home, &[&since, ["--json"].as_slice()].concat())).unwrap();
    assert_eq!((json["recalled"].as_u64(), after["recalled"].as_u64()), (Some(3), Some(0)));
}

/// As in the hooks, a rule holds an action once in a conversation, and then it only shows its text.
#[test]
fn a_rule_holds_once_in_each_conversation() {
    let home = machine();
    let twice = [("says", "Push it."), ("runs", "git push"), ("runs", "git push"), ("answers", "Done.")];
    for session in ["d4", "e5"] {
        converse(&home, session, &twice);
    }
    ok(&home, &["chats", "sync"]);
    let printed: Value = serde_json::from_str(&ok(&home, &["replay", "--since", "2026-08-01", "--json"])).unwrap();
    assert_eq!(printed["fired"], json!({ "hold": 3, "tell": 2 }), "{printed}");
    // The same day gives the same result, to the byte.
    assert_eq!(ok(&home, &["replay", "--since", "900d", "--json"]), ok(&home, &["replay", "--since", "900d", "--json"]));
}

#[test]
fn a_period_without_conversations_is_reported_as_empty() {
    let home = machine();
    assert_snapshot!(home.run_bare(&["replay", "--since", "2027-01-01"]), @"
    0 conversations, 0 messages, 0 tool calls
    memories: recalled 0 times for 0 messages, 0 tokens (average over all messages: 0)
    rules: fired on 0 tool calls, 0 tokens
    -- stderr
    note: no archived conversations of this project in this period; add --all-projects, or import new ones with: memdir chats sync
    ");
    assert_snapshot!(home.run_bare(&["replay", "--since", "soon"]), @r#"
    -- stderr
    error: invalid --since: "soon" is neither a date such as 2026-01-31 nor a period such as 90d
    -- exit 2
    "#);
    let off = Home::new();
    assert_snapshot!(off.run_bare(&["replay"]), @"
    0 conversations, 0 messages, 0 tool calls
    memories: recalled 0 times for 0 messages, 0 tokens (average over all messages: 0)
    rules: fired on 0 tool calls, 0 tokens
    -- stderr
    note: no archived conversations of this project in this period, and chats are off; add --all-projects, or turn chats on with: memdir chats on
    ");
}

/// The benchmark is deterministic, and measures recall.
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
    // In the words of the fact it is easy; with one word in common a benchmark has something to measure.
    let (direct, reworded) = (recall("needed") - recall("reworded"), recall("reworded"));
    assert!(direct > 2 && reworded > 2, "{report:#}");
    assert!((recall("found") - recall("reworded_found")) * 10 >= direct * 8, "{report:#}");
    assert!(recall("disturbed") * 10 <= recall("quiet"), "{report:#}");
    assert_eq!(report["rules"], json!({ "needed": 6, "found": 6, "fired": 6 }));
}
