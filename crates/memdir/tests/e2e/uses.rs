//! The ledger through hooks, the server and the shell: what is counted, whether rules are followed, and `memdir stats --use`.

use crate::{
    home::{Home, feed, files_below},
    talk::{HANDSHAKES, Talk},
};
use insta::assert_snapshot;
use regex::Regex;
use serde_json::{Value, json};
use std::thread;

const PUSH: &str = "---\ntype: feedback\ndescription: No pushes on Fridays\nwhen:\n  command: git push*\n---\nNever push on Fridays.\n";

fn with_rule(text: &str) -> Home {
    let home = Home::new();
    write(&home, "push", text);
    home
}

fn write(home: &Home, name: &str, text: &str) {
    let output = home.bare(&["write", name, text]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn hook(home: &Home, event: &str, session: &str, mut input: Value) -> String {
    input["session_id"] = json!(session);
    input["cwd"] = json!(home.path("work"));
    let output = feed(&mut home.bare(&["hook", "claude-code", event]), input.to_string().as_bytes());
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{input}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands of an agent in one conversation, one after the other.
fn tried(home: &Home, session: &str, commands: &[&str]) {
    for line in commands {
        hook(home, "before-tool", session, json!({ "tool_name": "Bash", "tool_input": { "command": line } }));
    }
}

/// The counts of the first tripwire: fired, followed, violated.
fn counts(home: &Home) -> [u64; 3] {
    let output = home.bare(&["rules", "--json"]).output().unwrap();
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    ["fired", "followed", "violated"].map(|key| printed["rules"][0]["conditions"][0][key].as_u64().unwrap())
}

fn used(home: &Home, name: &str) -> Value {
    let output = home.bare(&["stats", "--use", "--json"]).output().unwrap();
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    printed["memories"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone()
}

#[test]
fn the_next_tool_call_decides_whether_a_rule_is_followed() {
    for (commands, expected) in [
        (["git push"].as_slice(), [1, 0, 0]),
        (&["git push", "git status"], [1, 1, 0]),
        (&["git push", "git push"], [1, 0, 1]),
        // Once more is another violation, but no other warning.
        (&["git push", "git push", "git push"], [1, 0, 2]),
        // With another call between, the agent thought about it. Then the rule is shown again.
        (&["git push", "cargo test", "git push"], [2, 1, 0]),
        (&["git push", "cargo test", "git push", "ls"], [2, 2, 0]),
        (&["git push", "git push", "ls"], [1, 0, 1]),
        (&["git push", "git push --tags"], [2, 1, 0]),
        (&["ls", "git status"], [0, 0, 0]),
    ] {
        let home = with_rule(PUSH);
        tried(&home, "s", commands);
        assert_eq!(counts(&home), expected, "{commands:?}");
    }
}

/// Calls of one answer were decided before the model read the rule: the second does not show whether it is followed.
#[test]
fn a_parallel_call_neither_follows_nor_violates_a_rule() {
    let line = |message: &str, call: &str| json!({ "type": "assistant", "message": { "id": message, "content": [{ "type": "tool_use", "id": call }] } });
    // Commands of an agent, each with the message that it is part of.
    for (calls, expected) in [
        ([("m1", "git push"), ("m1", "ls")].as_slice(), [1, 0, 0]),
        (&[("m1", "git push"), ("m1", "ls"), ("m2", "ls")], [1, 1, 0]),
        (&[("m1", "git push"), ("m1", "ls"), ("m2", "git push")], [1, 0, 1]),
        (&[("m1", "git push"), ("m1", "git push --tags"), ("m2", "ls")], [2, 2, 0]),
        (&[("m1", "git push"), ("m2", "ls")], [1, 1, 0]),
        (&[("m1", "git push"), ("m2", "git push")], [1, 0, 1]),
    ] {
        let home = with_rule(PUSH);
        let transcript = home.path("s.jsonl");
        for (number, (message, command)) in calls.iter().enumerate() {
            let call = format!("toolu_{number}");
            let mut text = std::fs::read_to_string(&transcript).unwrap_or_default();
            text += &format!("{}\n", line(message, &call));
            std::fs::write(&transcript, text).unwrap();
            let input =
                json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": call, "transcript_path": transcript });
            hook(&home, "before-tool", "s", input);
        }
        assert_eq!(counts(&home), expected, "{calls:?}");
    }
}

/// Hooks in the user scope and in the project scope report one call twice.
#[test]
fn a_call_that_two_hooks_report_is_counted_once() {
    let home = with_rule(PUSH);
    for _ in 0..2 {
        let input = json!({ "tool_name": "Bash", "tool_input": { "command": "git push" }, "tool_use_id": "toolu_1", "transcript_path": home.path("none") });
        hook(&home, "before-tool", "s", input);
    }
    assert_eq!(counts(&home), [1, 0, 0]);
}

#[test]
fn a_turn_that_ends_after_a_hold_follows_the_rule() {
    let home = with_rule(PUSH);
    tried(&home, "s", &["git push"]);
    hook(&home, "stop", "s", json!({ "last_assistant_message": "I did not push: it is Friday." }));
    assert_eq!(counts(&home), [1, 1, 0]);
    // The person asked for it, so the next call is not a violation.
    tried(&home, "s", &["git push"]);
    assert_eq!(counts(&home), [2, 1, 0]);
    // Another conversation, and a subagent in it, decide for themselves.
    tried(&home, "t", &["git push"]);
    let push = json!({ "tool_name": "Bash", "tool_input": { "command": "git push" }, "agent_id": "a" });
    hook(&home, "before-tool", "t", push);
    assert_eq!(counts(&home), [4, 1, 0]);
}

#[test]
fn two_edits_of_one_file_are_two_actions_and_the_same_edit_again_is_one() {
    let home = with_rule("---\nwhen:\n  path: api/**\n---\nUpdate the docs with the API.\n");
    let edit = |text: &str| {
        let input = json!({ "file_path": home.path("work/api/users.rs"), "new_string": text });
        hook(&home, "before-tool", "s", json!({ "tool_name": "Edit", "tool_input": input }));
    };
    edit("one");
    edit("two");
    assert_eq!(counts(&home), [2, 1, 0]);
    edit("two");
    assert_eq!(counts(&home), [2, 1, 1]);
}

#[test]
fn uses_are_counted_by_hooks_the_server_and_agents_in_a_shell() {
    let home = Home::new();
    for (name, text) in [
        ("notes/ferry", "---\ndescription: When the harbour ferry leaves\n---\nThe harbour ferry leaves at noon.\n"),
        ("dusty", "---\ndescription: A line for nothing\n---\nOld.\n"),
        ("push", PUSH),
    ] {
        write(&home, name, text);
    }
    for n in 0..10 {
        assert!(hook(&home, "session-start", &format!("s{n}"), json!({ "source": "startup" })).contains("dusty"));
    }
    assert!(hook(&home, "prompt", "s1", json!({ "prompt": "When does the harbour ferry leave?" })).contains("at noon"));
    hook(&home, "stop", "s1", json!({ "last_assistant_message": "At noon, as notes/ferry says. I push later." }));
    tried(&home, "s1", &["git push", "git push"]);
    let mut talk = Talk::over(home.bare(&["mcp"]));
    talk.hello(HANDSHAKES[3]);
    talk.call_text("memory_search", json!({ "query": "harbour ferry" }));
    talk.call_text("memory_read", json!({ "paths": ["notes/ferry"] }));
    talk.end();
    // A person reads; an agent reads in a shell.
    home.bare(&["read", "notes/ferry"]).output().unwrap();
    home.bare(&["read", "notes/ferry"]).env("CLAUDECODE", "1").output().unwrap();
    // The doctor's session is not a conversation.
    hook(&home, "prompt", "memdir-doctor", json!({ "prompt": "When does the harbour ferry leave?" }));
    let printed = Regex::new(r"since \d{4}-\d\d-\d\d").unwrap().replace(&home.run_bare(&["stats", "--use"]), "since [DATE]").into_owned();
    assert_snapshot!(printed, @"
    memory       listed  recalled  found  read  cited  fired  followed  violated  line tokens  last used
    notes/ferry  10      1         1      2     1      -      -         -         17           today
    push         10      -         -      -     -      1      -         1         11           today
    dusty        10      -         -      -     -      -      -         -         11           never (dead weight)
    dead weight: 1 memory was listed 10 times or more and never used, at a cost of 11 tokens in every conversation
    counted since [DATE]
    ");
    assert_snapshot!(home.run_bare(&["rules"]), @"push  hold  command git push*  fired 1, followed 0, violated 1");
    let ferry = used(&home, "notes/ferry");
    assert_eq!((ferry["read"].as_u64(), ferry["is_dead_weight"].as_bool()), (Some(2), Some(false)), "{ferry}");
    // Only names, counts and times are kept, for the owner alone.
    let files: Vec<String> = files_below(&home.path("home/uses"));
    let text: String = files.iter().map(|name| std::fs::read_to_string(home.path("home/uses").join(name)).unwrap()).collect();
    assert!(text.contains("notes/ferry") && !text.contains("noon") && !text.contains("harbour"), "{text}");
    // A renamed memory keeps its counts.
    home.bare(&["rename", "notes/ferry", "notes/boat"]).output().unwrap();
    assert_eq!(used(&home, "notes/boat")["read"], ferry["read"]);
}

#[test]
fn twenty_hooks_at_once_lose_no_count() {
    let home = with_rule(PUSH);
    write(&home, "notes/ferry", "---\ndescription: When the harbour ferry leaves\n---\nThe harbour ferry leaves at noon.\n");
    thread::scope(|scope| {
        for n in 0..20 {
            let home = &home;
            scope.spawn(move || {
                let session = format!("s{n}");
                assert!(hook(home, "prompt", &session, json!({ "prompt": "When does the harbour ferry leave?" })).contains("noon"));
                tried(home, &session, &["git push", if n % 2 == 0 { "git push" } else { "git pull" }]);
            });
        }
    });
    assert_eq!(used(&home, "notes/ferry")["injected"], 20);
    assert_eq!(counts(&home), [20, 10, 10]);
}

/// A rule that is violated twice is proposed with a higher strength, which only the person accepts.
#[test]
fn a_rule_that_is_violated_twice_is_proposed_with_a_higher_strength() {
    let home = with_rule(PUSH);
    tried(&home, "s", &["git push", "git push"]);
    hook(&home, "session-end", "s", json!({ "reason": "exit" }));
    let proposed = || -> Value {
        let output = home.bare(&["inbox", "--json"]).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["open"].clone()
    };
    assert_eq!(proposed(), json!([]), "once is chance");
    tried(&home, "t", &["git push", "git push"]);
    hook(&home, "session-end", "t", json!({ "reason": "exit" }));
    let open = proposed();
    assert_eq!(
        (open[0]["kind"].as_str(), open[0]["proposes"].as_str(), open.as_array().map(Vec::len)),
        (Some("violated"), Some("push"), Some(1))
    );
    hook(&home, "session-end", "t", json!({ "reason": "exit" }));
    assert_eq!(proposed(), open, "it is proposed once");
    let name = open[0]["name"].as_str().unwrap();
    let output = home.bare(&["inbox", "accept", name]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(home.bare(&["read", "push"]).output().unwrap().stdout).unwrap();
    assert!(text.contains("strength: ask") && text.contains("Never push on Fridays."), "{text}");
    assert_eq!(counts(&home), [0, 0, 0], "the stronger rule starts at zero");
    hook(&home, "session-end", "t", json!({ "reason": "exit" }));
    assert_eq!(proposed(), json!([]));
}

/// A host without a hook at the end of a session proposes nothing, so the list does.
#[test]
fn the_list_of_candidates_has_what_the_ledger_says_about_rules() {
    let home = with_rule(PUSH);
    for session in ["s", "t"] {
        tried(&home, session, &["git push", "git push"]);
    }
    let listed = home.run_bare(&["inbox"]);
    assert!(listed.contains("a rule was violated at least twice") && listed.contains("push"), "{listed}");
    assert!(home.run_bare(&["inbox", "reject", "--all"]).contains("rejected"));
    assert!(home.run_bare(&["inbox"]).contains("no candidates to review"), "it was rejected");
}

#[test]
fn nothing_is_counted_once_the_person_turned_it_off() {
    let home = with_rule(PUSH);
    home.configure("count_use = false\n");
    hook(&home, "session-start", "s", json!({ "source": "startup" }));
    tried(&home, "s", &["git push", "git push"]);
    assert_snapshot!(home.run_bare(&["stats", "--use"]), @"
    memory  listed  recalled  found  read  cited  fired  followed  violated  line tokens  last used
    push    -       -         -      -     -      -      -         -         11           never
    -- stderr
    note: uses are not counted (count_use = false); turn counting on with: memdir config set count_use true
    ");
    assert!(!home.path("home/uses").exists());
}
