//! `memdir cues`, the options of `memdir write` for cues and tripwires, and cues that are learned from use.

use crate::{home::Home, talk::Talk};
use insta::assert_snapshot;
use serde_json::json;
use std::fs;

#[test]
fn write_sets_cues_tripwires_and_pinned() {
    let home = Home::new();
    home.ok(&[
        "write", "rules/push", "Run the tests.", "--cue", "ship it", "--cue", "git: push", "--when-command", "git push*", "--pinned",
    ]);
    assert_snapshot!(home.text("rules/push.md"), @r#"
    ---
    cues: ["ship it", "git: push"]
    when: {command: ["git push*"]}
    pinned: true
    ---

    Run the tests.
    "#);
    let set = ["write", "rules/push", "--cue", "release", "--when-path", "deploy/**", "--strength", "ask"];
    assert_snapshot!(home.run(&set), @"updated rules/push (98 bytes, version ae69f08d46a4, change [ID])");
    home.ok(&["edit", "rules/push", "tests", "checks"]);
    home.ok(&["rename", "rules/push", "rules/ship"]);
    home.ok(&["write", "rules/ship", "Run all checks.", "--replace"]);
    assert_snapshot!(home.text("rules/ship.md"), @r#"
    ---
    cues: ["release"]
    when: {path: ["deploy/**"], strength: ask}
    pinned: true
    ---

    Run all checks.
    "#);
    home.ok(&["write", "rules/ship", "--cue", ""]);
    assert!(!home.text("rules/ship.md").contains("cues"));
    assert_snapshot!(home.run(&["write", "a", "x", "--strength", "ask"]), @"
    -- stderr
    error: the following required arguments were not provided:
      <--when-command <GLOB>|--when-path <GLOB>>

    Usage: memdir write --strength <STRENGTH> <--when-command <GLOB>|--when-path <GLOB>> <NAME> <TEXT>

    For more information, try '--help'.
    -- exit 2
    ");
    assert_snapshot!(home.run(&["write", "a", "x", "--when-command", "ls", "--strength", "stop"]), @r#"
    -- stderr
    error: invalid when: unknown strength "stop"; expected tell, hold, ask or deny
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["write", "a", "--cue", "x"]), @r#"
    -- stderr
    error: memory "a" not found
    hint: list the memories with: memdir list
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["write", "a", "x", "--cue", &"long ".repeat(70)]), @"
    -- stderr
    error: invalid cues: 349 bytes in total; the limit is 300
    -- exit 2
    ");
    assert!(!home.memory("a.md").exists());
}

#[test]
fn export_import_and_dialects_keep_cues_byte_for_byte() {
    let home = Home::new();
    let text = "---\nname: Deploys\ncues:\n    - 'ship it'   # said by all\n    - \"kubectl rollout\"\nwhen: {command: git push*}\n---\n\nOn Tuesdays.\n";
    home.put("notes/deploy.md", text);
    for (format, name) in [("markdown", "all.md"), ("json", "all.json")] {
        let file = home.path(name);
        home.ok(&["export", "--format", format, "--out", file.to_str().unwrap()]);
        let other = Home::new();
        other.ok(&["import", file.to_str().unwrap()]);
        let imported: Vec<String> = other.files().into_iter().filter(|name| name.ends_with("deploy.md")).collect();
        assert_eq!(imported.len(), 1, "{format}: {imported:?}");
        assert_eq!(other.text(&imported[0]), text, "{format}");
    }

    let mut talk = Talk::begin(&home, &["--dialect", "serena"], "2025-06-18");
    let edit = json!({ "memory_name": "notes/deploy", "needle": "Tuesdays", "repl": "Mondays", "mode": "literal" });
    talk.call_text("edit_memory", edit);
    talk.end();
    assert_eq!(home.text("notes/deploy.md"), text.replace("Tuesdays", "Mondays"));
}

#[test]
fn memories_without_cues_are_listed_counted_and_set_in_one_change() {
    let home = Home::new();
    home.ok(&["write", "notes/deploy", "On Tuesdays.", "--description", "When we deploy", "--type", "project"]);
    home.ok(&["write", "notes/tea", "Green tea at four.", "--type", "user"]);
    home.ok(&["write", "done", "Has cues.", "--cue", "x", "--type", "user"]);
    assert_snapshot!(home.run(&["cues"]), @"
    notes/deploy: When we deploy
    notes/tea: Green tea at four.
    -- stderr
    note: 2 memories have no cues; set them with: memdir cues --from FILE
    ");
    assert_snapshot!(home.run(&["cues", "notes/t"]), @"no memory lacks cues");
    assert_eq!(
        home.json(&["cues", "notes"]),
        json!({ "memories": [
            { "name": "notes/deploy", "description": "When we deploy" },
            { "name": "notes/tea", "description": "Green tea at four." },
        ] })
    );
    assert_snapshot!(home.run(&["check", "--strict"]), @"
    4 files: 0 errors, 0 suggestions
    -- stderr
    note: 2 memories have no cues; see which with: memdir cues
    ");
    assert_eq!(home.json(&["check"])["without_cues"], 2);

    let batch =
        "{\"name\": \"notes/deploy\", \"cues\": [\"ship on a friday\"]}\n\n{\"name\": \"notes/tea.md\", \"cues\": [\"hot drink\"]}\n";
    let before = (home.text("notes/deploy.md"), home.text("notes/tea.md"));
    assert_snapshot!(home.run_with(&["cues", "--from", "-"], batch.replace("tea", "coffee").replace("deploy", "depoly")), @r#"
    -- stderr
    error: invalid cues: 2 memories not found: "notes/depoly", "notes/coffee"
    -- exit 2
    "#);
    assert_snapshot!(home.run_with(&["cues", "--from", "-"], "{\"name\": \"notes/deploy\"}\n"), @r#"
    -- stderr
    error: invalid standard input: line 1: missing field `cues`; expected {"name": "notes/deploy", "cues": ["ship on a Friday"]}
    -- exit 2
    "#);
    assert_snapshot!(home.run_with(&["cues", "--from", "-"], "\n"), @"
    -- stderr
    error: standard input contains no memories
    -- exit 2
    ");
    assert_eq!((home.text("notes/deploy.md"), home.text("notes/tea.md")), before);
    assert_snapshot!(home.run_with(&["cues", "--from", "-"], batch), @"set cues for 2 memories (change [ID])");
    assert_snapshot!(home.run(&["cues"]), @"no memory lacks cues");
    assert_snapshot!(home.run(&["search", "can I ship this friday"]), @"
    notes/deploy.md:7-7  0.58  today
      On Tuesdays.
    ");
    assert_snapshot!(home.run(&["undo"]), @"undid [ID]: edit notes/deploy and notes/tea, by ada, just now (redo: memdir redo [ID])");
    assert_eq!((home.text("notes/deploy.md"), home.text("notes/tea.md")), before, "one undo takes all back");
    fs::write(home.path("cues.json"), "[{\"name\": \"done\", \"cues\": []}]").unwrap();
    home.ok(&["cues", "--from", home.path("cues.json").to_str().unwrap()]);
    assert_eq!(home.text("done.md"), "---\ntype: user\n---\n\nHas cues.\n");
}

#[test]
fn a_prompt_lists_memories_without_cues_in_pieces() {
    let home = Home::new();
    for n in 0..120 {
        home.put(&format!("notes/n{n:03}.md"), format!("The note number {n} is about a subject with a description of some length.\n"));
    }
    let mut talk = Talk::begin(&home, &[], "2025-06-18");
    let prompt = talk.ask("prompts/get", json!({ "name": "add-cues", "arguments": {} }));
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(
        text.contains("- notes/n000: The note number 0 is about")
            && text.contains(" more; this prompt lists them once these memories have cues"),
        "{text}"
    );
    assert!(text.len() < 8_000 && text.contains("memdir cues --from FILE") && text.contains("memory_write"), "{text}");
    talk.call_text("memory_write", json!({ "path": "notes/n000", "cues": ["zero"] }));
    let prompt = talk.ask("prompts/get", json!({ "name": "add-cues", "arguments": { "topic": "notes" } })).to_string();
    assert!(!prompt.contains("notes/n000") && prompt.contains("notes/n001"), "{prompt}");
    talk.end();
}

#[test]
fn a_search_that_found_nothing_proposes_a_cue_for_the_memory_that_is_read_next() {
    let home = Home::new();
    home.ok(&["write", "notes/deploy", "Production changes on Tuesdays.", "--cue", "kubectl"]);
    home.ok(&["write", "notes/tea", "Green tea at four."]);
    let mut talk = Talk::begin(&home, &[], "2025-06-18");
    let found = talk.call("memory_search", json!({ "query": "zebra crossing wobble" }));
    assert_eq!(found["structuredContent"]["results"], json!([]), "{found}");
    talk.call_text("memory_read", json!({}));
    talk.call_text("memory_read", json!({ "paths": ["notes/deploy"] }));
    talk.call("memory_search", json!({ "query": "quokka haircut" }));
    talk.call_text("memory_get", json!({ "path": "notes/tea.md" }));
    let prompt = talk.ask("prompts/get", json!({ "name": "add-cues", "arguments": {} })).to_string();
    assert!(prompt.contains("zebra crossing wobble"), "{prompt}");
    assert_eq!(home.text("notes/deploy.md"), "---\ncues: [\"kubectl\"]\n---\n\nProduction changes on Tuesdays.\n");

    assert_snapshot!(home.run(&["cues", "--proposed"]), @"
    notes/deploy: zebra crossing wobble
    notes/tea: quokka haircut
    -- stderr
    note: accept or reject with: memdir cues --accept|--reject NAME (NAME can be `all`)
    ");
    assert_snapshot!(home.run(&["cues", "--accept", "notes/nothing"]), @r#"
    -- stderr
    error: no proposed cues for "notes/nothing"
    hint: list the proposed cues with: memdir cues --proposed
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["cues", "--accept", "notes/deploy"]), @"set cues for 1 memory (change [ID])");
    assert_eq!(
        home.text("notes/deploy.md"),
        "---\ncues: [\"kubectl\", \"zebra crossing wobble\"]\n---\n\nProduction changes on Tuesdays.\n"
    );
    assert_snapshot!(home.run(&["cues", "--reject", "all"]), @"rejected 1 proposed cue");
    assert_snapshot!(home.run(&["cues", "--proposed"]), @"no proposed cues");
    assert_eq!(home.text("notes/tea.md"), "Green tea at four.\n");
    let found = talk.call("memory_search", json!({ "query": "zebra crossing wobble" }));
    assert_eq!(found["structuredContent"]["results"][0]["path"], "notes/deploy.md", "{found}");
    let mut other = Talk::begin(&home, &[], "2025-06-18");
    talk.call("memory_search", json!({ "query": "numbat parade" }));
    other.call_text("memory_read", json!({ "paths": ["notes/tea"] }));
    assert_eq!(home.json(&["cues", "--proposed"]), json!({ "proposals": [] }), "another connection");
    talk.end();
    other.end();
}
