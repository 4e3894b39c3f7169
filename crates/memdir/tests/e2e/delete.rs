//! `memdir delete`.

use crate::home::Home;
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
    assert_snapshot!(home.run(&["delete", "a", "--json"]), @r#"
    {
      "name": "a",
      "path": "a.md",
      "version": "c69ab1ce71d208dded18cc5d18bdfcc9",
      "change": "[ID]"
    }
    "#);
}
