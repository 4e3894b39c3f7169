//! `memdir delete`.

use crate::{home::Home, terminal::answered};
use insta::assert_snapshot;

#[test]
fn the_memory_and_its_line_are_deleted_and_restored() {
    let home = Home::new();
    home.ok(&["write", "notes/a", "A."]);
    home.ok(&["write", "b", "B."]);
    let before = home.text("MEMORY.md");
    assert_snapshot!(home.run(&["delete", "notes/a"]), @"deleted notes/a (undo: memdir undo [ID])");
    assert_eq!(home.files(), ["MEMORY.md", "b.md"]);
    assert!(!home.memory("notes").exists(), "an empty directory was left");
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [b](b.md) — B.
    <!-- /memdir -->
    ");
    home.ok(&["undo"]);
    assert_eq!((home.text("notes/a.md"), home.text("MEMORY.md")), ("A.\n".into(), before));
}

#[test]
fn a_missing_or_changed_memory_is_an_error() {
    let home = Home::new();
    home.ok(&["write", "a", "A."]);
    assert_snapshot!(home.run(&["delete", "b"]), @r#"
    -- stderr
    error: memory "b" not found
    hint: list the memories with: memdir list
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["delete", "a", "--if-version", "0123456789abcdef0123456789abcdef"]), @r#"
    -- stderr
    error: memory "a" has changed: expected version 0123456789abcdef0123456789abcdef, found c69ab1ce71d208dded18cc5d18bdfcc9
    hint: read the current version with: memdir read a
    -- exit 1
    "#);
    // A name that looks like options, in a command that can be copied.
    home.ok(&["write", "--", "-x/deploy", "A."]);
    let shown = home.run(&["delete", "--if-version", "0123456789abcdef0123456789abcdef", "--", "-x/deploy"]);
    assert!(shown.contains("\nhint: read the current version with: memdir read -- -x/deploy\n"), "{shown}");
    assert_eq!(home.ok(&["read", "--", "-x/deploy"]), "A.\n");
    assert_snapshot!(home.run(&["delete", "a", "--json"]), @r#"
    {
      "name": "a",
      "path": "a.md",
      "version": "c69ab1ce71d208dded18cc5d18bdfcc9",
      "change": "[ID]"
    }
    "#);
}

#[test]
fn several_memories_are_deleted_in_one_change() {
    let home = Home::new();
    for name in ["a", "b", "notes/c", "notes/deep/d", "keep"] {
        home.ok(&["write", name, name]);
    }
    let before = home.text("MEMORY.md");
    assert_snapshot!(home.run(&["rm", "a", "b.md", "a.md"]), @"
    deleted 2 memories (undo: memdir undo [ID])
      a
      b
    ");
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [keep](keep.md) — keep
    - [notes/c](notes/c.md) — notes/c
    - [notes/deep/d](notes/deep/d.md) — notes/deep/d
    <!-- /memdir -->
    ");
    home.ok(&["undo"]);
    assert_eq!(home.text("MEMORY.md"), before);
    assert_snapshot!(home.run(&["delete", "notes/", "a", "--yes"]), @"
    deleted 3 memories (undo: memdir undo [ID])
      notes/c
      notes/deep/d
      a
    ");
    assert_eq!(home.files(), ["MEMORY.md", "b.md", "keep.md"]);
    assert_snapshot!(home.run(&["history", "--limit", "1"]), @"
    change    when      actor  what
    [ID]      just now  ada    deleted a and 2 more
    ");
    home.ok(&["undo"]);
    assert_eq!((home.files().len(), home.text("MEMORY.md")), (6, before));
    assert_snapshot!(home.run(&["delete", "a", "b", "--json"]), @r#"
    {
      "deleted": [
        {
          "name": "a",
          "path": "a.md",
          "version": "81c4b7f7e0549f1514e9cae97cf40cf1"
        },
        {
          "name": "b",
          "path": "b.md",
          "version": "9d902f9864f3043dca97e40698eee07a"
        }
      ],
      "change": "[ID]"
    }
    "#);
}

#[test]
fn nothing_is_deleted_if_one_of_several_cannot_be() {
    let home = Home::new();
    for name in ["a", "b", "notes/c"] {
        home.ok(&["write", name, name]);
    }
    assert_snapshot!(home.run(&["delete", "a", "notes/cc"]), @r#"
    -- stderr
    error: memory "notes/cc" not found
    hint: did you mean "notes/c"?
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["delete", "a", "note/", "--yes"]), @r#"
    -- stderr
    error: topic "note/" not found
    hint: did you mean "notes/"?
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["delete", "notes"]), @r#"
    -- stderr
    error: memory "notes" not found
    hint: to delete a topic, end its name with `/`
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["delete", "/", "--yes"]), @r#"
    -- stderr
    error: invalid memory name "/": the topic before `/` is empty; use a topic such as notes/
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["delete", "a", "b", "--if-version", "c69ab1ce71d2"]), @"
    -- stderr
    error: --if-version requires exactly one memory
    hint: delete the memories one by one, or omit --if-version
    -- exit 2
    ");
    assert_snapshot!(home.run(&["delete", "a", "notes/"]), @"
    -- stderr
    error: deleting 1 memory in notes/ needs confirmation, but standard input is not a terminal
    hint: add --yes; nothing was deleted
    -- exit 2
    ");
    assert_eq!(home.files(), ["MEMORY.md", "a.md", "b.md", "notes/c.md"]);
}

#[test]
fn deleting_a_topic_asks_on_a_terminal() {
    let home = Home::new();
    for name in ["a", "notes/b", "notes/c"] {
        home.ok(&["write", name, name]);
    }
    let (printed, code) = answered(&mut home.command(&["delete", "notes/"]), "n\n");
    assert_eq!((printed.contains("Delete 2 memories in notes/? [y/N]"), code), (true, 1), "{printed}");
    assert!(printed.contains("error: cancelled; nothing was deleted"), "{printed}");
    assert_eq!(home.files().len(), 4);
    let (printed, code) = answered(&mut home.command(&["delete", "notes/"]), "y\n");
    assert_eq!((home.files(), code), (vec!["MEMORY.md".into(), "a.md".into()], 0), "{printed}");
}
