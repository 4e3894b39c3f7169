//! Directories, files and journals that cannot be read: no command takes them for empty.

use crate::home::{Home, set_mode};
use insta::assert_snapshot;
use std::{fs, os::unix::fs::symlink, path::PathBuf};

/// A memory with the words in a readable memory and in a folder.
fn planted() -> Home {
    let home = Home::new();
    home.put("a.md", "Maple Street 12 is green.\nTea at four.\n");
    home.put("notes/b.md", "Parcels to Maple Street 12.\n");
    home
}

/// The directory of the only journal.
fn journal(home: &Home) -> PathBuf {
    fs::read_dir(home.path("home/journal")).unwrap().next().unwrap().unwrap().path()
}

/// The end of what `memdir forget` prints, without the time and the number of files.
fn end_of(printed: &str) -> String {
    let printed = regex::Regex::new(r"forgotten/[0-9TZ-]+\.json").unwrap().replace(printed, "forgotten/[TIME].json");
    let lines: Vec<&str> = printed.lines().skip_while(|line| !line.starts_with("forgot: ") && !line.starts_with("--")).collect();
    lines.join("\n")
}

#[test]
fn forget_does_not_verify_what_it_cannot_read() {
    let mut all = String::new();
    for (blocked, open) in [("notes", 0o700), ("notes/b.md", 0o600)] {
        let home = planted();
        set_mode(&home.memory(blocked), 0);
        let forgot = home.run_unprivileged(&["forget", "--yes", "Maple Street 12"]);
        all.push_str(&format!("{}\n{}", end_of(&forgot), home.run_unprivileged(&["forget", "--yes", "Elm Street 3"])));
        set_mode(&home.memory(blocked), open);
        assert_eq!(home.text("notes/b.md"), "Parcels to Maple Street 12.\n");
    }
    assert_snapshot!(all, @"
    forgot: 2 memory files redacted, 1 history entry removed
    not verified: not everything could be read (see below)
    receipt: [HOME]/home/forgotten/[TIME].json
    -- stderr
    note: not reached: [HOME]/memory/notes: cannot be read: Permission denied (os error 13)
    note: not reached: memdir's other memories, conversations and usage counts, because MEMDIR_DIR is set
    note: not reached: the hosts' own transcripts, memories and caches
    note: not reached: other machines, backups, exports and your shell history
    -- exit 1
    -- stderr
    error: the words were not found, but not everything was read: [HOME]/memory/notes: cannot be read: Permission denied (os error 13)
    hint: correct the permissions, then try again
    -- exit 1
    forgot: 2 memory files redacted, 1 history entry removed
    not verified: not everything could be read (see below)
    receipt: [HOME]/home/forgotten/[TIME].json
    -- stderr
    note: not reached: [HOME]/memory/notes/b.md: cannot be read: Permission denied (os error 13)
    note: not reached: memdir's other memories, conversations and usage counts, because MEMDIR_DIR is set
    note: not reached: the hosts' own transcripts, memories and caches
    note: not reached: other machines, backups, exports and your shell history
    -- exit 1
    -- stderr
    error: the words were not found, but not everything was read: [HOME]/memory/notes/b.md: cannot be read: Permission denied (os error 13)
    hint: correct the permissions, then try again
    -- exit 1
    ");
}

#[test]
fn forget_prints_what_it_did_although_the_receipt_cannot_be_written() {
    let home = planted();
    home.ok(&["list"]);
    fs::create_dir_all(home.path("home")).unwrap();
    fs::write(home.path("home/forgotten"), "").unwrap();
    assert_snapshot!(end_of(&home.run(&["forget", "--yes", "Maple Street 12"])), @"
    forgot: 3 memory files redacted, 2 history entries removed
    verified: the words are gone (read 5 files again, ran 2 searches)
    -- stderr
    note: no receipt: cannot write [HOME]/home/forgotten/[TIME].json: Not a directory (os error 20); check the path and its permissions
    note: not reached: memdir's other memories, conversations and usage counts, because MEMDIR_DIR is set
    note: not reached: the hosts' own transcripts, memories and caches
    note: not reached: other machines, backups, exports and your shell history
    -- exit 3
    ");
}

#[test]
fn a_copy_that_lacks_memories_does_not_succeed() {
    let home = planted();
    set_mode(&home.memory("notes"), 0);
    let size = regex::Regex::new(r"\([0-9.]+ (KB|bytes)\)").unwrap();
    let copies = |name: &str| {
        let copy = |command| home.run_unprivileged(&[command, "--out", &format!("../{command}-{name}")]);
        size.replace_all(&["export", "view"].map(copy).join(""), "([SIZE])").into_owned()
    };
    let without_notes = copies("without-notes");
    set_mode(&home.memory("notes"), 0o700);
    assert_snapshot!(without_notes, @r#"
    exported 1 memory to ../export-without-notes ([SIZE])
    -- stderr
    note: "notes" cannot be opened: cannot open "[HOME]/memory/notes": Permission denied (os error 13)
    -- exit 3
    exported 1 memory to ../view-without-notes ([SIZE])
    -- stderr
    note: "notes" cannot be opened: cannot open "[HOME]/memory/notes": Permission denied (os error 13)
    -- exit 3
    "#);
    set_mode(&home.memory("a.md"), 0);
    assert_snapshot!(copies("without-a"), @r#"
    exported 1 memory to ../export-without-a ([SIZE])
    -- stderr
    note: skipped a: cannot read "[HOME]/memory/a.md": Permission denied (os error 13)
    -- exit 3
    exported 1 memory to ../view-without-a ([SIZE])
    -- stderr
    note: skipped a: cannot read "[HOME]/memory/a.md": Permission denied (os error 13)
    -- exit 3
    "#);
}

#[test]
fn every_command_notes_a_directory_that_cannot_be_read() {
    let home = planted();
    set_mode(&home.memory("notes"), 0);
    for args in [&["list"][..], &["status"], &["stats"], &["search", "tea"], &["search", "parcels"], &["index"], &["cues"]] {
        let printed = home.run_unprivileged(args);
        assert!(printed.contains("note: \"notes\" cannot be opened: "), "{args:?}: {printed}");
    }
    set_mode(&home.memory("notes"), 0o700);
}

#[test]
fn the_doctor_reports_what_cannot_be_read_and_how_to_change_it() {
    let home = planted();
    home.ok(&["write", "c", "x"]);
    let journal = journal(&home);
    let blocked = [
        (home.memory("notes"), 0o700),
        (home.memory("a.md"), 0o600),
        (home.memory(""), 0o700),
        (journal.clone(), 0o700),
        (journal.join("changes.log"), 0o600),
    ];
    let mut all = String::new();
    for (path, open) in blocked {
        set_mode(&path, 0);
        let printed = home.run_unprivileged(&["doctor"]);
        set_mode(&path, open);
        all.extend(
            printed
                .lines()
                .filter(|line| !line.starts_with("memdir ") && !line.contains("not installed") && !line.contains(" ok "))
                .map(|line| format!("{line}\n")),
        );
    }
    assert_snapshot!(all, @r#"
      bad mount (root): [HOME]/memory/notes cannot be read: Permission denied (os error 13)
          change its permissions with: chmod -R u+rwX [HOME]/memory/notes
    -- exit 1
      bad mount (root): [HOME]/memory/a.md cannot be read: Permission denied (os error 13)
          change its permissions with: chmod -R u+rwX [HOME]/memory/a.md
    -- exit 1
      bad mount (root): [HOME]/memory cannot be read: Permission denied (os error 13)
          change its permissions with: chmod -R u+rwX [HOME]/memory
    -- exit 1
      bad journal of (root): cannot open the journal "[HOME]/home/journal/memory-[HASH]/changes.log": Permission denied (os error 13)
          change its permissions with: chmod -R u+rwX [HOME]/home/journal/memory-[HASH]
    -- exit 1
      bad journal of (root): cannot open the journal "[HOME]/home/journal/memory-[HASH]/changes.log": Permission denied (os error 13)
          change its permissions with: chmod -R u+rwX [HOME]/home/journal/memory-[HASH]
    -- exit 1
    "#);
}

#[test]
fn the_doctor_reports_an_entrypoint_that_is_not_a_file() {
    let home = Home::new();
    home.put("a.md", "x\n");
    fs::write(home.path("outside.md"), "- x\n").unwrap();
    let entrypoint = home.memory("MEMORY.md");
    let mut all = String::new();
    fs::create_dir(&entrypoint).unwrap();
    all.push_str(&home.run(&["doctor"]));
    fs::remove_dir(&entrypoint).unwrap();
    for target in ["outside.md", "nowhere.md"] {
        symlink(home.path(target), &entrypoint).unwrap();
        all.push_str(&home.run(&["doctor"]));
        fs::remove_file(&entrypoint).unwrap();
    }
    let all: Vec<&str> = all.lines().skip_while(|line| line.starts_with("memdir ")).filter(|line| !line.contains(" ok ")).collect();
    assert_snapshot!(all.join("\n"), @r#"
      bad mount (root): [HOME]/memory/MEMORY.md is a directory, not a file
          move it out of the directory of the memory; the next change creates the entrypoint again
    not installed in any host; next: memdir install
    -- exit 1
    memdir 0.1.0
      bad mount (root): MEMORY.md is a symbolic link that points outside the directory; to allow it, add `link_roots = ["[HOME]"]` to the `[[mounts]]` entry with `path = "[HOME]/memory"` in memdir's config.toml
          move it out of the directory of the memory; the next change creates the entrypoint again
    not installed in any host; next: memdir install
    -- exit 1
    memdir 0.1.0
      bad mount (root): MEMORY.md is a symbolic link that points outside the directory; to allow it, add `link_roots = ["[HOME]"]` to the `[[mounts]]` entry with `path = "[HOME]/memory"` in memdir's config.toml
          move it out of the directory of the memory; the next change creates the entrypoint again
    not installed in any host; next: memdir install
    -- exit 1
    "#);
}

#[test]
fn the_hint_for_a_damaged_journal_names_the_options_of_the_command() {
    let home = Home::new();
    let (own, dir) = (home.path("own").display().to_string(), home.path("memory").display().to_string());
    let with_options = |args: &[&str]| home.run_bare(&[&["--home", &own, "--dir", &dir], args].concat());
    home.put("a.md", "x\n");
    with_options(&["write", "b", "y"]);
    let log = fs::read_dir(home.path("own/journal")).unwrap().next().unwrap().unwrap().path().join("changes.log");
    fs::write(&log, "garbage").unwrap();
    assert_snapshot!(with_options(&["history"]), @"
    -- stderr
    error: [HOME]/own/journal/memory-[HASH]/changes.log is damaged: its beginning cannot be read; set it aside with: memdir --home [HOME]/own --dir [HOME]/memory doctor --fix
    hint: nothing was changed
    -- exit 3
    ");
}

#[test]
fn a_home_that_is_a_file_is_an_error_of_every_command() {
    let home = Home::new();
    fs::write(home.path("home"), "").unwrap();
    for args in [
        &["list"][..],
        &["read", "a"],
        &["write", "a", "x"],
        &["history"],
        &["config"],
        &["export"],
        &["recall", "x"],
        &["stats"],
        &["projects"],
        &["token", "list"],
        &["inbox"],
        &["index"],
        &["prompt"],
        &["install", "codex", "--dry-run"],
        &["doctor"],
    ] {
        let printed = home.run_bare(args);
        let expected = "-- stderr\nerror: memdir's home [HOME]/home is not a directory\nhint: set MEMDIR_HOME to a directory\n-- exit 3\n";
        assert_eq!(printed, expected, "{args:?}");
    }
    let hook = crate::home::feed(&mut home.bare(&["hook", "claude-code", "session-start"]), b"{\"session_id\": \"s\"}");
    assert!(hook.status.success() && hook.stdout.is_empty(), "{hook:?}");
}

#[test]
fn reading_does_not_create_the_directory_of_a_mistyped_variable() {
    let home = Home::new();
    fs::create_dir_all(home.path("home")).unwrap();
    let reading = [
        &["status"][..],
        &["list"],
        &["read", "a"],
        &["search", "x"],
        &["history"],
        &["check"],
        &["doctor"],
        &["export"],
        &["stats"],
        &["entrypoint"],
        &["index"],
        &["undo"],
        &["dream"],
        &["cues"],
    ];
    for args in reading {
        home.run(args);
        assert!(!home.path("memory").exists(), "{args:?}");
        home.bare(args).env("MEMDIR_PROJECT", "pp").output().unwrap();
        assert!(!home.path("home/projects/pp").exists(), "{args:?}");
    }
    assert_eq!(home.run(&["list"]), "");
    home.ok(&["write", "a", "x"]);
    assert_eq!(home.ok(&["list"]), "a\n");
}
