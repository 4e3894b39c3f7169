//! `memdir write`.

use crate::home::{Home, feed, mode};
use insta::assert_snapshot;
use std::fs;

#[test]
fn a_memory_and_its_entrypoint_line_are_written_together() {
    let home = Home::new();
    let printed = home.run(&["write", "notes/deploy", "Deploy on Tuesdays.", "--type", "project", "--description", "When we deploy"]);
    assert_snapshot!(printed, @"created notes/deploy (71 bytes, version fcf14ff35946, change [ID])");
    assert_snapshot!(home.text("notes/deploy.md"), @"
    ---
    description: When we deploy
    type: project
    ---

    Deploy on Tuesdays.
    ");
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [notes/deploy](notes/deploy.md) — When we deploy
    <!-- /memdir -->
    ");
    assert_eq!(home.files(), ["MEMORY.md", "notes/deploy.md"]);
}

#[test]
fn new_files_are_private() {
    let home = Home::new();
    home.ok(&["write", "notes/deploy", "x"]);
    assert_eq!((mode(&home.path("memory")), mode(&home.memory("notes"))), (0o700, 0o700));
    assert_eq!((mode(&home.memory("notes/deploy.md")), mode(&home.memory("MEMORY.md"))), (0o600, 0o600));
    let journal = fs::read_dir(home.path("home/journal")).unwrap().next().unwrap().unwrap().path();
    assert_eq!((mode(&home.path("home/journal")), mode(&journal), mode(&journal.join("changes.log"))), (0o700, 0o700, 0o600));
}

#[test]
fn an_existing_memory_is_an_error_replaced_or_appended_to() {
    let home = Home::new();
    home.ok(&["write", "a", "one", "--title", "First"]);
    assert_snapshot!(home.run(&["write", "a", "two"]), @r#"
    -- stderr
    error: memory "a" already exists
    hint: use another name, or add --replace or --append
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["write", "a", "two", "--replace"]), @"replaced a (25 bytes, version 5acff301d206, change [ID])");
    assert_snapshot!(home.run(&["write", "a", "three", "--append"]), @"appended to a (31 bytes, version 79345b71b748, change [ID])");
    assert_snapshot!(home.text("a.md"), @"
    ---
    name: First
    ---

    two
    three
    ");
    assert_snapshot!(home.run(&["write", "a", "two\nthree\n", "--replace"]), @"unchanged: a");
}

#[test]
fn the_text_comes_from_an_argument_a_file_or_standard_input() {
    let home = Home::new();
    fs::create_dir_all(home.path("work")).unwrap();
    fs::write(home.path("work/text.md"), "from a file, without a line end").unwrap();
    home.ok(&["write", "a", "- begins with a dash"]);
    home.ok(&["write", "b", "--file", "text.md"]);
    home.run_with(&["write", "c"], "from a pipe");
    home.run_with(&["write", "d", "--file", "-"], "from -");
    let texts = ["a.md", "b.md", "c.md", "d.md"].map(|name| home.text(name));
    assert_eq!(texts, ["- begins with a dash\n", "from a file, without a line end\n", "from a pipe\n", "from -\n"]);
    assert_snapshot!(home.run(&["write", "e"]), @r#"
    -- stderr
    error: missing text for "e"
    hint: pass the text as an argument, with --file FILE or on standard input
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["write", "e", "--file", "none.md"]), @"
    -- stderr
    error: cannot read none.md: No such file or directory (os error 2)
    hint: check the path and its permissions
    -- exit 2
    ");
}

#[test]
fn if_version_guards_against_overwriting() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    let seen = home.json(&["read", "a"])["version"].as_str().unwrap().to_owned();
    home.ok(&["write", "a", "somebody else", "--replace"]);
    assert_snapshot!(home.run(&["write", "a", "mine", "--replace", "--if-version", &seen]), @r#"
    -- stderr
    error: memory "a" has changed: expected version e0e63aa4c8e1ed796cb104d8a074e553, found dccb8694e9759a90570f9564fc43c3d7
    hint: read the current version with: memdir read a
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["write", "a", "mine", "--replace", "--if-version", &seen[..8]]), @r#"
    -- stderr
    error: memory "a" has changed: expected version e0e63aa4c8e1ed796cb104d8a074e553, found dccb8694e9759a90570f9564fc43c3d7
    hint: read the current version with: memdir read a
    -- exit 1
    "#);
    let now = home.json(&["read", "a"])["version"].as_str().unwrap().to_owned();
    assert_snapshot!(home.run(&["write", "a", "mine", "--replace", "--if-version", &now[..8]]), @"replaced a (5 bytes, version 5db5d4a150bd, change [ID])");
    assert_snapshot!(home.run(&["write", "a", "mine", "--replace", "--if-version", "zzzz"]), @r#"
    -- stderr
    error: version "zzzz" of memory "a" not found
    hint: list all changes with `memdir history`, or the versions of a memory with `memdir history NAME`
    -- exit 1
    "#);
}

#[test]
fn json_has_the_version_and_the_change() {
    let home = Home::new();
    assert_snapshot!(home.run(&["write", "a", "one", "--json"]), @r#"
    {
      "name": "a",
      "path": "a.md",
      "version": "e0e63aa4c8e1ed796cb104d8a074e553",
      "change": "[ID]",
      "created": true,
      "bytes": 4
    }
    "#);
}

#[test]
fn bytes_that_are_not_utf8_are_kept() {
    let home = Home::new();
    home.run_with(&["write", "latin"], b"caf\xe9\r\nline two\r\n");
    assert_eq!(fs::read(home.memory("latin.md")).unwrap(), b"caf\xe9\r\nline two\r\n");
    assert_snapshot!(home.run(&["read", "latin"]), @"
    caf�
    line two
    -- stderr
    note: latin, line 1: byte 4 of the file is not valid UTF-8; invalid bytes are kept and shown as �
    ");
    assert_snapshot!(home.run(&["edit", "latin", "two", "three"]), @"
    -- stderr
    error: latin is not valid UTF-8 (line 1) and cannot be edited
    hint: use `memdir write` with --append or --replace instead
    -- exit 1
    ");
    home.ok(&["write", "latin", "more", "--append"]);
    assert_eq!(fs::read(home.memory("latin.md")).unwrap(), b"caf\xe9\r\nline two\r\nmore\r\n");
    home.ok(&["undo"]);
    assert_eq!(fs::read(home.memory("latin.md")).unwrap(), b"caf\xe9\r\nline two\r\n");
}

#[test]
fn crlf_and_unknown_frontmatter_are_kept() {
    let home = Home::new();
    home.put("a.md", "---\r\nname: A\r\ncustom: [1, 2]  # mine\r\n---\r\n\r\nold\r\n");
    home.ok(&["write", "a", "--replace", "--type", "user", "--", "new\r\n"]);
    assert_eq!(home.text("a.md"), "---\r\nname: A\r\ncustom: [1, 2]  # mine\r\ntype: user\r\n---\r\n\r\nnew\r\n");
}

#[test]
fn a_text_over_the_limit_is_an_error() {
    let home = Home::new();
    let long = "x".repeat((4 << 20) + 1);
    assert_snapshot!(home.run_with(&["write", "a"], long), @"
    -- stderr
    error: a is 4194306 bytes; the limit is 4194304
    hint: split the text into several memories
    -- exit 2
    ");
    assert_eq!(home.files(), Vec::<String>::new());
}

#[test]
fn files_of_memdir_are_readable_only_by_their_owner() {
    let home = Home::new();
    assert!(home.run_bare(&["write", "x", "hi"]).starts_with("created x"));
    home.run_bare(&["prompt"]);
    home.run_bare(&["recall", "say hi"]);
    home.run_bare(&["recall", "--action", "--command", "git push"]);
    home.run_bare(&["install", "claude-code", "--scope", "user"]);
    let prompt = r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"say hi to x"}"#;
    feed(&mut home.bare(&["hook", "claude-code"]), prompt.as_bytes());
    let cache = home.path(if cfg!(target_os = "macos") { "Library/Caches/memdir" } else { ".cache/memdir" });
    let made = [home.path("home"), cache];
    assert!(made[0].join("loads.jsonl").is_file() && made[1].join("wires").is_dir() && made[0].join("installed.lock").is_file());
    let mut open = made.to_vec();
    while let Some(path) = open.pop() {
        let private = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), private, "{}", path.display());
        open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
    }
}
