//! `memdir rename`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn references_are_updated() {
    let home = Home::new();
    home.ok(&["write", "notes/deploy", "Tuesdays."]);
    home.ok(&["write", "ada", "See [how](notes/deploy.md), [[notes/deploy]] and `mem:notes/deploy`."]);
    assert_snapshot!(home.run(&["rename", "notes/deploy", "howto/release"]), @"
    renamed notes/deploy to howto/release (change [ID])
    updated references in ada
    ");
    assert_snapshot!(home.text("ada.md"), @"See [how](howto/release.md), [[howto/release]] and `mem:howto/release`.");
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [ada](ada.md) — See how, howto/release and mem:howto/release.
    - [howto/release](howto/release.md) — Tuesdays.
    <!-- /memdir -->
    ");
    assert_eq!(home.files(), ["MEMORY.md", "ada.md", "howto/release.md"]);
}

#[test]
fn a_missing_memory_or_a_name_in_use_is_an_error() {
    let home = Home::new();
    home.ok(&["write", "a", "A."]);
    home.ok(&["write", "b", "B."]);
    assert_snapshot!(home.run(&["rename", "c", "d"]), @r#"
    -- stderr
    error: memory "c" not found
    hint: list the memories with: memdir list
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["rename", "a", "b"]), @r#"
    -- stderr
    error: memory "b" already exists
    hint: use another name
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["rename", "a", "MEMORY"]), @r#"
    -- stderr
    error: invalid memory name "MEMORY.md": it is the entrypoint or one of its pages, which cannot be renamed; use another name
    hint: use a relative name such as notes/deploy
    -- exit 2
    "#);
    assert_eq!((home.text("a.md"), home.text("b.md")), ("A.\n".into(), "B.\n".into()));
}

#[test]
fn the_entrypoint_line_of_an_updated_memory_has_the_new_name() {
    let home = Home::new();
    home.ok(&["write", "a", "see mem:b"]);
    home.ok(&["write", "b", "bee"]);
    home.ok(&["write", "printed", "--description", "what [[b]] is", "Of bees."]);
    home.ok(&["write", "later", "The first line stays.\n\nSee mem:b."]);
    home.ok(&["rename", "b", "c"]);
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [a](a.md) — see mem:c
    - [c](c.md) — bee
    - [later](later.md) — The first line stays.
    - [printed](printed.md) — what c is
    <!-- /memdir -->
    ");
    home.ok(&["undo"]);
    assert!(home.text("MEMORY.md").contains("- [a](a.md) — see mem:b\n"), "{}", home.text("MEMORY.md"));
    home.ok(&["redo"]);
    let checked = home.run(&["check"]);
    assert!(!checked.contains("mem:b"), "{checked}");
}

#[test]
fn a_memory_cannot_get_a_secret_as_name_but_can_lose_one() {
    let home = Home::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    home.ok(&["write", "a", "A."]);
    assert_snapshot!(home.run(&["rename", "a", &secret]), @"
    -- stderr
    error: name looks like a secret (github-token)
    -- exit 2
    ");
    assert_eq!(home.files(), ["MEMORY.md", "a.md"]);
    home.put(&format!("{secret}.md"), "Old.\n");
    home.ok(&["rename", &secret, &format!("old/{secret}")]);
    home.ok(&["rename", &format!("old/{secret}"), "old/key"]);
    assert_eq!(home.files(), ["MEMORY.md", "a.md", "old/key.md"]);
}
