//! `memdir rename`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn every_reference_follows() {
    let home = Home::new();
    home.ok(&["write", "notes/deploy", "Tuesdays."]);
    home.ok(&["write", "ada", "See [how](notes/deploy.md), [[notes/deploy]] and `mem:notes/deploy`."]);
    assert_snapshot!(home.run(&["rename", "notes/deploy", "howto/release"]), @"
    Renamed notes/deploy to howto/release · change [ID]
    References rewritten in ada
    ");
    assert_snapshot!(home.text("ada.md"), @"See [how](howto/release.md), [[howto/release]] and `mem:howto/release`.");
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [ada](ada.md) — See how, notes/deploy and mem:notes/deploy.
    - [howto/release](howto/release.md) — Tuesdays.
    <!-- /memdir -->
    ");
    assert_eq!(home.files(), ["MEMORY.md", "ada.md", "howto/release.md"]);
}

#[test]
fn a_missing_memory_or_a_taken_name_is_refused() {
    let home = Home::new();
    home.ok(&["write", "a", "A."]);
    home.ok(&["write", "b", "B."]);
    assert_snapshot!(home.run(&["rename", "c", "d"]), @r#"
    -- stderr
    error: there is no memory named "c"
    hint: List the names that exist, then read one of them.
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["rename", "a", "b"]), @"
    -- stderr
    error: b.md exists already
    hint: Choose another name, or replace or append to it on purpose.
    -- exit 1
    ");
    assert_snapshot!(home.run(&["rename", "a", "MEMORY"]), @r#"
    -- stderr
    error: "MEMORY.md" cannot be a memory's name: it is the entrypoint or one of its pages, which keep their names; choose another
    hint: Use a relative name such as notes/deploy.
    -- exit 2
    "#);
    assert_eq!((home.text("a.md"), home.text("b.md")), ("A.\n".into(), "B.\n".into()));
}
