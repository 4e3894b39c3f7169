//! What `memdir install` finds on a machine that is already in use, and that it changes nothing.

use crate::{
    home::{Home, files_below},
    terminal::answered,
};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path};

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A machine on which Claude Code, claude-mem and basic-memory were used for a while.
fn machine() -> Home {
    let home = Home::new();
    let work = home.path("work").display().to_string();
    let slug = work.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let token = crate::chats::token();
    put(&home.path(&format!(".claude/projects/{slug}/memory/MEMORY.md")), "- [Deploy](deploy.md) — when\n");
    put(&home.path(&format!(".claude/projects/{slug}/memory/deploy.md")), &format!("See [rules](gone.md). The token is {token}.\n"));
    for id in ["1af7", "2bf7"] {
        let line = json!({ "type": "user", "cwd": work, "uuid": id, "timestamp": "2026-01-15T10:00:00Z", "message": { "role": "user", "content": "Hi" } });
        put(&home.path(&format!(".claude/projects/{slug}/{id}.jsonl")), &format!("{line}\n"));
    }
    put(&home.path("basic-memory/a.md"), "A.\n");
    fs::create_dir_all(home.path(".claude-mem")).unwrap();
    let owner = Connection::open(home.path(".claude-mem/claude-mem.db")).unwrap();
    owner
        .execute_batch("CREATE TABLE observations (id INTEGER, title TEXT); INSERT INTO observations VALUES (1, 'a'), (2, 'b'); CREATE TABLE session_summaries (id INTEGER)")
        .unwrap();
    home
}

fn files(home: &Home) -> BTreeMap<String, Vec<u8>> {
    let names = files_below(&home.path("")).into_iter().filter(|name| !name.starts_with("home/") && !name.starts_with(".cache/"));
    names.map(|name| (name.clone(), fs::read(home.path(&name)).unwrap())).collect()
}

#[test]
fn install_prints_what_it_found_with_a_command_for_each() {
    let home = machine();
    home.bare(&["write", "style", "See [[nowhere]]."]).output().unwrap();
    let shown = home.run_bare(&["install", "claude-code"]);
    let found = shown.split_once("found on this machine:\n").map_or(shown.as_str(), |(_, found)| found);
    let found = regex::Regex::new(r"projects/[-A-Za-z0-9]+/memory").unwrap().replace_all(found, "projects/[SLUG]/memory");
    insta::assert_snapshot!(found, @"
      2 conversations of Claude Code: memdir chats on
      2 memories (Claude Code's auto memory for this project): memdir adopt claude
      2 observations and 0 session summaries in claude-mem: memdir import claude-mem [HOME]/.claude-mem/claude-mem.db
      1 note in basic-memory: memdir import basic-memory [HOME]/basic-memory
      1 dead reference in memories: memdir --home [HOME]/home check
      1 dead reference in memories (Claude Code's auto memory for this project): memdir --dir [HOME]/.claude/projects/[SLUG]/memory check
      1 secret in memories (Claude Code's auto memory for this project): memdir --dir [HOME]/.claude/projects/[SLUG]/memory check
    -- stderr
    note: tools and hooks use the memory selected by these options: --home [HOME]/home
    note: Claude Code's built-in auto memory is still on; choose what to do with it: memdir install claude-code --auto-memory replace|share|both
    ");
    // Nothing was changed by looking: a second installation changes no file and finds the same.
    let before = files(&home);
    let output = home.bare(&["install", "claude-code", "--json"]).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(files(&home), before);
    let kinds: Vec<(&str, u64)> = value[0]["found"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| (found["kind"].as_str().unwrap(), found["count"].as_u64().unwrap()))
        .collect();
    insta::assert_snapshot!(format!("{kinds:?}"), @r#"[("conversations", 2), ("memories", 2), ("memories", 2), ("memories", 1), ("dead-references", 1), ("dead-references", 1), ("secrets", 1)]"#);
    for found in value[0]["found"].as_array().unwrap() {
        let command = found["command"].as_str().unwrap();
        assert!(command.starts_with("memdir "), "{command}");
    }
    assert!(home.run_bare(&["chats"]).contains("chats are off"), "it only offers");
}

#[test]
fn what_was_done_is_not_offered_again() {
    let home = machine();
    let database = home.path(".claude-mem/claude-mem.db").display().to_string();
    home.bare(&["import", "claude-mem", &database]).output().unwrap();
    home.bare(&["adopt", "claude"]).output().unwrap();
    home.bare(&["chats", "on"]).output().unwrap();
    let shown = home.run_bare(&["install", "claude-code"]);
    assert!(shown.contains("2 conversations of Claude Code: memdir chats sync"), "{shown}");
    home.bare(&["chats", "sync"]).output().unwrap();
    let shown = home.run_bare(&["install", "claude-code"]);
    assert!(!shown.contains("conversation") && !shown.contains("claude-mem") && !shown.contains("memdir adopt"), "{shown}");
}

/// A conversation in which the person asked for something to be remembered.
fn ask_to_remember(home: &Home) {
    let work = home.path("work");
    let slug = work.display().to_string().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let record = |kind: &str, content: Value| json!({ "type": kind, "cwd": work, "uuid": kind, "timestamp": "2026-01-15T10:00:00Z", "message": { "role": kind, "content": content } });
    let typed = record("user", json!("Remember that invoices are numbered per country."));
    let answer = record("assistant", json!([{ "type": "text", "text": "All right." }]));
    put(&home.path(&format!(".claude/projects/{slug}/3cf7.jsonl")), &format!("{typed}\n{answer}\n"));
}

#[test]
fn candidates_are_counted_before_and_after_conversations_are_archived() {
    let home = Home::new();
    ask_to_remember(&home);
    let shown = home.run_bare(&["install", "claude-code"]);
    assert!(shown.contains("1 memory candidate in Claude Code conversations: memdir chats on"), "{shown}");
    assert!(!home.path("home/inbox").exists() && !home.path("home/chats").exists(), "nothing is kept by counting");
    home.bare(&["chats", "on"]).output().unwrap();
    home.bare(&["chats", "sync"]).output().unwrap();
    let shown = home.run_bare(&["install", "claude-code"]);
    assert!(shown.contains("1 candidate in this project's inbox: memdir inbox") && !shown.contains("memory candidate"), "{shown}");
    let other = Home::new();
    ask_to_remember(&other);
    other.configure("[inbox]\non = false\n");
    let shown = other.run_bare(&["install", "claude-code"]);
    assert!(!shown.contains("candidate"), "{shown}");
}

#[test]
fn on_a_terminal_what_was_found_is_offered() {
    let home = machine();
    ask_to_remember(&home);
    let install = |typed: &str| {
        let mut command = home.bare(&["install", "claude-code", "--auto-memory", "both"]);
        answered(command.env("TERM", "xterm").env("NO_COLOR", "1"), typed)
    };
    // Its own memory stays, conversations are turned on, nothing is indexed.
    let (shown, code) = install("y\nn\nn\nn\n");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("Archive and index 3 conversations of Claude Code? [y/N]"), "{shown}");
    assert!(!shown.contains("read-only, without copying?"), "the question about its own memory has decided that: {shown}");
    assert!(shown.contains("3 conversations of Claude Code: memdir chats sync"), "what is declined stays in the list: {shown}");
    let (shown, code) = install("Y\nYes\nY\ny\n");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("synced 4 turns in 3 conversations; the archive has 3 conversations; 1 new candidate in the inbox"), "{shown}");
    assert!(home.run_bare(&["inbox"]).contains("invoices are numbered per country"));
}

#[test]
fn on_an_empty_machine_nothing_is_found() {
    let home = Home::new();
    let shown = home.run_bare(&["install", "claude-code"]);
    assert!(!shown.contains("found on this machine"), "{shown}");
    let output = home.bare(&["install", "codex", "--json"]).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value[0].get("found"), None, "{value}");
}
