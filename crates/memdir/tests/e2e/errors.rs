//! Every kind of failure: its message, its exit status, and that nothing changed.

use crate::home::{Home, is_root};
use insta::assert_snapshot;
use std::{fs, os::unix::fs::PermissionsExt as _};

#[test]
fn a_file_size_limit_is_an_error_and_changes_nothing() {
    let home = Home::new();
    home.ok(&["write", "a", "small"]);
    let before = (home.files(), home.text("a.md"), home.text("MEMORY.md"));
    let script = format!("ulimit -f 64; head -c 200000 /dev/zero | tr '\\0' x | {} write big", env!("CARGO_BIN_EXE_memdir"));
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", &script]).env("MEMDIR_DIR", home.path("memory")).env("MEMDIR_HOME", home.path("home"));
    let output = shell.output().unwrap();
    let printed = home.transcript(&["ulimit"], output);
    assert!(printed.contains("File too large") && printed.contains("-- exit 3"), "{printed}");
    assert_eq!((home.files(), home.text("a.md"), home.text("MEMORY.md")), before);
    home.ok(&["write", "b", "and on it goes"]);
    assert_eq!(home.ok(&["list"]), "a\nb\n");
}

#[test]
fn the_hint_for_a_file_outside_of_the_memories_names_the_cause_as_for_a_memory() {
    let home = Home::new();
    let script = format!("ulimit -f 0; {} man pages", env!("CARGO_BIN_EXE_memdir"));
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", &script]).current_dir(home.path("")).env("MEMDIR_DIR", home.path("memory")).env("MEMDIR_HOME", home.path("home"));
    let output = shell.output().unwrap();
    assert_snapshot!(home.transcript(&["ulimit"], output), @"
    -- stderr
    error: cannot write manual pages to pages: File too large (os error 27)
    hint: raise the file size limit (ulimit -f), then try again
    -- exit 3
    ");
}

#[test]
fn a_directory_that_cannot_be_created_reads_as_empty_and_fails_the_first_write() {
    let home = Home::new();
    fs::write(home.path("memory"), "a file is in the way").unwrap();
    assert_snapshot!(home.run(&["list"]), @r#"
    -- stderr
    note: cannot open "[HOME]/memory": Not a directory (os error 20)
    "#);
    assert_snapshot!(home.run(&["write", "a", "x"]), @r#"
    -- stderr
    error: [HOME]/memory: cannot create "[HOME]/memory": Not a directory (os error 20)
    hint: nothing was changed; check the setup with: memdir doctor
    -- exit 3
    "#);
    assert_eq!(fs::read_to_string(home.path("memory")).unwrap(), "a file is in the way");
}

#[test]
fn a_journal_that_cannot_be_written_fails_changes_with_a_hint() {
    let home = Home::new();
    fs::create_dir(home.path("home")).unwrap();
    fs::write(home.path("home/journal"), "a file is in the way").unwrap();
    home.put("a.md", "readable\n");
    assert_eq!(home.ok(&["read", "a"]), "readable\n");
    assert_snapshot!(home.run(&["write", "b", "x"]), @r#"
    -- stderr
    error: cannot write the journal in "[HOME]/home/journal/memory-[HASH]": Not a directory (os error 20); to move the journal, set `journal = "PATH"` for this mount
    hint: nothing was changed
    -- exit 3
    "#);
    assert_eq!(home.files(), ["a.md"]);
}

#[test]
fn a_read_only_directory_fails_with_the_cause() {
    let home = Home::new();
    home.put("a.md", "x\n");
    home.configure("[[mounts]]\nname = \"\"\npath = \"../memory\"\naccess = \"read-only\"\n");
    assert_snapshot!(home.run(&["write", "b", "x"]), @r#"
    -- stderr
    error: cannot write "b": its mount "[HOME]/memory" is read-only
    hint: use a name in a writable mount; list the mounts with: memdir where
    -- exit 3
    "#);
    assert_eq!(home.files(), ["a.md"]);
    home.configure("");
    fs::set_permissions(home.path("memory"), fs::Permissions::from_mode(0o500)).unwrap();
    let printed = home.run(&["write", "b", "x"]);
    fs::set_permissions(home.path("memory"), fs::Permissions::from_mode(0o700)).unwrap();
    // Permissions do not apply to root.
    let is_rejected = printed.contains("Permission denied") && printed.contains("-- exit 3") && home.files() == ["a.md"];
    assert!(is_rejected || is_root(), "{printed}");
}

#[test]
fn a_journal_that_cannot_be_read_is_moved_aside() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    let log = fs::read_dir(home.path("home/journal")).unwrap().next().unwrap().unwrap().path().join("changes.log");
    fs::write(&log, "garbage").unwrap();
    assert_eq!(home.ok(&["read", "a"]), "one\n");
    home.ok(&["write", "a", "two", "--replace"]);
    assert_eq!(home.text("a.md"), "two\n");
    assert!(log.with_file_name("damaged-1.log").is_file());
}

#[test]
fn output_that_cannot_be_printed_is_an_error_but_the_change_is_made() {
    let home = Home::new();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = home.command(&["write", "a", "x"]).stdout(full).output().unwrap();
    assert_snapshot!(home.transcript(&["write"], output), @"
    -- stderr
    error: cannot write to standard output: No space left on device (os error 28)
    -- exit 3
    ");
    assert_eq!(home.text("a.md"), "x\n");
}

#[test]
fn one_file_that_is_too_large_does_not_affect_others() {
    let home = Home::new();
    home.ok(&["write", "s", "x"]);
    fs::File::create(home.path("memory/huge.md")).unwrap().set_len(80 << 20).unwrap();
    for args in [vec!["entrypoint", "--repair"], vec!["recall", "x"], vec!["search", "x"]] {
        let output = home.command(&args).output().unwrap();
        assert!(output.status.code() <= Some(1), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // The others are exported, but the copy is not complete.
    assert_eq!(home.command(&["export"]).output().unwrap().status.code(), Some(3));
    assert!(home.run(&["check"]).contains("huge.md"));
}

#[test]
fn the_reason_names_what_the_user_typed() {
    let home = Home::new();
    let refused = |args: &[&str], message: &str| {
        let printed = home.run(args);
        assert!(printed.contains(&format!("error: {message}\n")), "{printed}");
    };
    refused(&["write", "a", "x", "--title", "one\ntwo"], "title must be a single line without NUL characters");
    refused(&["--only", "zz", "write", "q", "x"], "cannot write \"q\": access is restricted to other names");
    let neither = "\"soon\" is neither a date such as 2026-01-31 nor a period such as 90d";
    for command in [&["search", "x", "--since"][..], &["chats", "--since"], &["chats", "export", "--since"], &["replay", "--since"]] {
        refused(&[command, &["soon"]].concat(), &format!("invalid --since: {neither}"));
    }
    for command in [&["chats", "--before"][..], &["chats", "export", "--before"], &["chats", "forget", "--before"]] {
        refused(&[command, &["soon"]].concat(), &format!("invalid --before: {neither}"));
    }
}
