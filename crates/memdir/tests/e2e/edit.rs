//! `memdir edit`, by replacing text and in an editor.

use crate::home::{Home, files_below, mode};
use insta::assert_snapshot;
use std::{fs, os::unix::fs::PermissionsExt as _, process::Stdio};

#[test]
fn one_occurrence_is_replaced() {
    let home = Home::new();
    home.ok(&["write", "a", "Deploy on Tuesdays."]);
    assert_snapshot!(home.run(&["edit", "a", "Tuesdays", "Wednesdays"]), @"edited a (1 replacement, 22 bytes, version 33bf1c1ea45d, change [ID])");
    assert_eq!(home.text("a.md"), "Deploy on Wednesdays.\n");
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [a](a.md) — Deploy on Wednesdays.
    <!-- /memdir -->
    ");
}

#[test]
fn no_match_and_several_matches_are_errors_with_counts() {
    let home = Home::new();
    home.ok(&["write", "a", "- one\n- one\n"]);
    assert_snapshot!(home.run(&["edit", "a", "two", "2"]), @"
    -- stderr
    error: the text to replace does not occur in the memory
    hint: print the memory with: memdir read NAME
    -- exit 1
    ");
    assert_snapshot!(home.run(&["edit", "a", "- one", "- two"]), @"
    -- stderr
    error: the text to replace occurs 2 times, on lines 1, 2; add surrounding text so that it occurs once
    hint: to replace all occurrences, add --all
    -- exit 1
    ");
    assert_snapshot!(home.run(&["edit", "a", "- one", "- two", "--all"]), @"edited a (2 replacements, 12 bytes, version 3470982a463d, change [ID])");
    assert_eq!(home.text("a.md"), "- two\n- two\n");
    assert_snapshot!(home.run(&["edit", "b", "x", "y"]), @r#"
    -- stderr
    error: memory "b" not found
    hint: list the memories with: memdir list
    -- exit 1
    "#);
}

#[test]
fn regular_expressions_with_groups() {
    let home = Home::new();
    home.ok(&["write", "a", "v1.0 and v2.0 but not w3.0"]);
    assert_snapshot!(home.run(&["edit", "a", "--regex", r"(?<=v)(\d)\.0", "$!1.1", "--all"]), @"edited a (2 replacements, 27 bytes, version 3ae2572ffe01, change [ID])");
    assert_eq!(home.text("a.md"), "v1.1 and v2.1 but not w3.0\n");
    assert_snapshot!(home.run(&["edit", "a", "--regex", "(", "x"]), @"
    -- stderr
    error: invalid regular expression: Parsing error at position 1: Opening parenthesis without closing parenthesis
    -- exit 2
    ");
    // The text of the memory does not help to correct these.
    assert_snapshot!(home.run(&["edit", "a", "--regex", "w(3)", "$!2"]), @"
    -- stderr
    error: the replacement refers to group $!2, but the regular expression has only 1 group
    -- exit 1
    ");
}

#[test]
fn texts_of_several_lines_come_from_files_or_standard_input() {
    let home = Home::new();
    home.ok(&["write", "a", "one\ntwo\nthree\n"]);
    fs::write(home.path("work/old"), "one\ntwo\n").unwrap();
    home.run_with(&["edit", "a", "--old-file", "old", "--new-file", "-"], "1\n2\n");
    assert_eq!(home.text("a.md"), "1\n2\nthree\n");
    assert_snapshot!(home.run(&["edit", "a", "1"]), @"
    -- stderr
    error: the following required arguments were not provided:
      <NEW|--new-file <FILE>>

    Usage: memdir edit <NEW|--new-file <FILE>> <NAME> <OLD>

    For more information, try '--help'.
    -- exit 2
    ");
}

#[test]
fn if_version_must_match() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    home.ok(&["edit", "a", "one", "two"]);
    assert_snapshot!(home.run(&["edit", "a", "two", "three", "--if-version", "0123456789abcdef0123456789abcdef"]), @r#"
    -- stderr
    error: memory "a" has changed: expected version 0123456789abcdef0123456789abcdef, found ef40086ad8a395c7a05b5f70cf2575ad
    hint: read the current version with: memdir read a
    -- exit 1
    "#);
}

/// Writes an editor: a shell script whose first argument is the file.
fn editor(home: &Home, script: &str) -> String {
    let path = home.path("editor.sh");
    fs::write(&path, format!("#!/bin/sh\nset -e\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// Runs it with an editor and returns its transcript.
fn edited(home: &Home, editor: &str, args: &[&str]) -> String {
    home.transcript(args, home.command(args).env("EDITOR", editor).env("PATH", "/usr/bin:/bin").output().unwrap())
}

/// The texts that could not be saved.
fn drafts(home: &Home) -> Vec<String> {
    files_below(&home.path("home/edits"))
}

#[test]
fn the_editor_edits_the_whole_memory() {
    let home = Home::new();
    home.ok(&["write", "notes/a", "Deploy on Tuesdays.", "--description", "When"]);
    let script = editor(
        &home,
        r#"case "$1" in *.md) ;; *) exit 9 ;; esac
        sed -i s/Tuesdays/Mondays/ "$1"; echo "$(stat -c %a "$1") $#" > "$HOME/seen""#,
    );
    assert_snapshot!(edited(&home, &script, &["edit", "notes/a"]), @"edited notes/a (46 bytes, version 01c1a8ac16b9, change [ID])");
    assert_snapshot!(home.text("notes/a.md"), @"
    ---
    description: When
    ---

    Deploy on Mondays.
    ");
    assert_eq!(fs::read_to_string(home.path("seen")).unwrap(), "600 1\n");
    assert_eq!((drafts(&home), mode(&home.path("home/edits"))), (Vec::<String>::new(), 0o700));
    // The frontmatter is a part of the text: it can be removed.
    let script = editor(&home, r#"echo 'Never on Fridays.' > "$1""#);
    assert_snapshot!(edited(&home, &script, &["edit", "notes/a", "--json"]), @r#"
    {
      "name": "notes/a",
      "path": "notes/a.md",
      "version": "42860c735e8006fc48dc25bac9b34a54",
      "change": "[ID]",
      "created": false,
      "bytes": 18
    }
    "#);
    assert_eq!(home.text("notes/a.md"), "Never on Fridays.\n");
    home.ok(&["undo"]);
    assert!(home.text("notes/a.md").contains("Mondays"));
}

#[test]
fn the_editor_has_arguments_and_visual_comes_first() {
    let home = Home::new();
    home.ok(&["write", "a b", "one"]);
    let script = editor(&home, r#"test "$1" = --wait && test "$2" = 'two words' && echo two >> "$3""#);
    let args = ["edit", "a b"];
    let mut command = home.command(&args);
    command.env("VISUAL", format!("{script} --wait 'two words'")).env("EDITOR", "false").env("PATH", "/usr/bin:/bin");
    assert_snapshot!(home.transcript(&args, command.output().unwrap()), @"edited a b (8 bytes, version 04d2649eb725, change [ID])");
    assert_eq!(home.text("a b.md"), "one\ntwo\n");
}

#[test]
fn without_a_new_text_nothing_is_saved() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    let change = home.last_change();
    assert_snapshot!(edited(&home, "true", &["edit", "a"]), @"unchanged: a");
    assert_snapshot!(edited(&home, "false", &["edit", "a"]), @r#"
    -- stderr
    error: editor "false" failed (exit status: 1); nothing was saved
    hint: to save the text, exit the editor without an error
    -- exit 1
    "#);
    assert_snapshot!(edited(&home, "truncate -s 0", &["edit", "a"]), @"
    -- stderr
    error: the text is empty; nothing was saved
    hint: to delete the memory instead, run: memdir delete a
    -- exit 1
    ");
    assert_snapshot!(edited(&home, "no-such-editor", &["edit", "a"]).replace("sh: 1: ", "sh: "), @r#"
    -- stderr
    sh: no-such-editor: not found
    error: editor "no-such-editor" not found
    hint: set VISUAL or EDITOR to an installed editor; nothing was saved
    -- exit 3
    "#);
    assert_snapshot!(home.run(&["edit", "a"]), @"
    -- stderr
    error: no editor is set
    hint: set VISUAL or EDITOR, for example: export EDITOR=nano
    -- exit 3
    ");
    assert_snapshot!(edited(&home, " ", &["edit", "a"]), @"
    -- stderr
    error: no editor is set
    hint: set VISUAL or EDITOR, for example: export EDITOR=nano
    -- exit 3
    ");
    assert_snapshot!(edited(&home, "true", &["edit", "b"]), @r#"
    -- stderr
    error: memory "b" not found
    hint: list the memories with: memdir list
    -- exit 1
    "#);
    assert_snapshot!(edited(&home, "true", &["edit", "a", "--all"]), @"
    -- stderr
    error: the following required arguments were not provided:
      <NEW|--new-file <FILE>>

    Usage: memdir edit --all <NEW|--new-file <FILE>> <NAME> [OLD]

    For more information, try '--help'.
    -- exit 2
    ");
    assert_snapshot!(edited(&home, "true", &["edit", "a", "--new-file", "x"]), @"
    -- stderr
    error: the following required arguments were not provided:
      <OLD|--old-file <FILE>>

    Usage: memdir edit --new-file <FILE> <OLD|--old-file <FILE>> <NAME> [NEW]

    For more information, try '--help'.
    -- exit 2
    ");
    assert_eq!((home.text("a.md"), home.last_change(), drafts(&home)), ("one\n".into(), change, vec![]));
    // A text that was written before the editor failed is kept.
    let script = editor(&home, r#"echo two >> "$1"; exit 3"#);
    assert_snapshot!(edited(&home, &script, &["edit", "a"]), @r#"
    -- stderr
    error: editor "[HOME]/editor.sh" failed (exit status: 3); nothing was saved
    hint: your text is in [HOME]/home/edits/a.md; continue with: memdir edit a --draft [HOME]/home/edits/a.md
    -- exit 1
    "#);
    assert_eq!(fs::read_to_string(home.path("home/edits/a.md")).unwrap(), "one\ntwo\n");
}

#[test]
fn a_text_that_cannot_be_saved_is_kept_and_continued() {
    let home = Home::new();
    home.ok(&["write", "notes/a", "one"]);
    let script = editor(&home, r#"echo mine >> "$1"; echo theirs >> "$MEMDIR_DIR/notes/a.md""#);
    assert_snapshot!(edited(&home, &script, &["edit", "notes/a"]), @r#"
    -- stderr
    error: memory "notes/a" has changed: expected version e0e63aa4c8e1ed796cb104d8a074e553, found 15548b614ae223099e488095eb989e01
    hint: your text is in [HOME]/home/edits/notes-a.md; continue with: memdir edit notes/a --draft [HOME]/home/edits/notes-a.md (see what changed with: memdir diff notes/a e0e63aa4c8e1)
    -- exit 1
    "#);
    assert_eq!((home.text("notes/a.md"), drafts(&home)), ("one\ntheirs\n".into(), vec!["notes-a.md".to_owned()]));
    let draft = home.path("home/edits/notes-a.md").display().to_string();
    assert_eq!(fs::read_to_string(&draft).unwrap(), "one\nmine\n");
    // Another draft of the same memory does not replace it.
    assert!(edited(&home, &script, &["edit", "notes/a"]).contains("home/edits/notes-a-2.md"));
    let merge = editor(&home, r#"printf 'one\ntheirs\nmine\n' > "$1""#);
    assert_snapshot!(edited(&home, &merge, &["edit", "notes/a", "--draft", &draft]), @"edited notes/a (16 bytes, version f2402f2550aa, change [ID])");
    assert_eq!((home.text("notes/a.md"), drafts(&home)), ("one\ntheirs\nmine\n".into(), vec!["notes-a-2.md".to_owned()]));

    let secret = editor(&home, &format!(r#"echo "token: ghp_{}" >> "$1""#, "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"));
    assert_snapshot!(edited(&home, &secret, &["edit", "notes/a"]), @"
    -- stderr
    error: line 4 contains what looks like a secret (github-token)
    hint: your text is in [HOME]/home/edits/notes-a.md; continue with: memdir edit notes/a --draft [HOME]/home/edits/notes-a.md
    -- exit 2
    ");
    let large = editor(&home, r#"head -c 5000000 /dev/zero | tr '\0' x > "$1""#);
    assert_snapshot!(edited(&home, &large, &["edit", "notes/a"]), @"
    -- stderr
    error: notes/a is 5000000 bytes; the limit is 4194304
    hint: your text is in [HOME]/home/edits/notes-a-3.md; continue with: memdir edit notes/a --draft [HOME]/home/edits/notes-a-3.md
    -- exit 2
    ");
    assert_eq!(home.text("notes/a.md"), "one\ntheirs\nmine\n");
    // A draft of the user stays where it is.
    fs::write(home.path("work/own.md"), "own\n").unwrap();
    assert_snapshot!(edited(&home, "true", &["edit", "notes/a", "--draft", "own.md"]), @"edited notes/a (4 bytes, version 8557f0184d47, change [ID])");
    assert_eq!(fs::read_to_string(home.path("work/own.md")).unwrap(), "own\n");
}

/// Every text of twenty editors that save at the same time is in a version of the memory, or in a file that its message names.
#[test]
fn twenty_editors_lose_no_text() {
    let home = Home::new();
    home.ok(&["write", "a", "start"]);
    let script = editor(&home, r#"echo "line $LINE" >> "$1""#);
    let start = |n: u32| {
        let mut command = home.command(&["edit", "a"]);
        command.env("EDITOR", &script).env("LINE", n.to_string()).env("PATH", "/usr/bin:/bin");
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..20).map(start).collect();
    let (mut saved, mut kept) = (0, 0);
    for (n, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            saved += 1;
            continue;
        }
        kept += 1;
        assert_eq!(output.status.code(), Some(1), "{printed}");
        let file = printed.split("your text is in ").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
        assert!(fs::read_to_string(file).unwrap().contains(&format!("line {n}\n")), "{printed}");
    }
    assert!(saved >= 1, "one editor is the first");
    assert_eq!((saved + kept, drafts(&home).len()), (20, kept));
    // A save on top of another one contains its line, so every saved line is in the memory.
    assert_eq!(home.text("a.md").lines().count(), 1 + saved);
}
