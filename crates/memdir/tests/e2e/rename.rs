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
    error: invalid memory name "MEMORY.md": it is the entrypoint or one of its pages, which cannot be renamed or replaced; use another name
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
    error: name looks like a secret (github-token); use another name
    -- exit 2
    ");
    assert_eq!(home.files(), ["MEMORY.md", "a.md"]);
    home.put(&format!("{secret}.md"), "Old.\n");
    home.ok(&["rename", &secret, &format!("old/{secret}")]);
    home.ok(&["rename", &format!("old/{secret}"), "old/key"]);
    assert_eq!(home.files(), ["MEMORY.md", "a.md", "old/key.md"]);
}

#[test]
fn a_topic_is_renamed_in_one_change_with_all_references() {
    let home = Home::new();
    home.ok(&["write", "notes/a", "See [b](b.md), [[notes/b]], [[b]], mem:notes/a and [c](../c.md)."]);
    home.ok(&["write", "notes/b", "See [c](../c.md#x) and [a](./a.md)."]);
    home.ok(&["write", "c", "See [a](notes/a.md), [[notes/b]] and `mem:notes/a`."]);
    let before = (home.text("notes/a.md"), home.text("notes/b.md"), home.text("c.md"), home.text("MEMORY.md"));
    assert_snapshot!(home.run(&["mv", "notes/", "records/2026/"]), @"
    renamed 2 memories (undo: memdir undo [ID])
      notes/a to records/2026/a
      notes/b to records/2026/b
    updated references in c
    ");
    assert_snapshot!(home.text("records/2026/a.md"), @"See [b](b.md), [[records/2026/b]], [[records/2026/b]], mem:records/2026/a and [c](../../c.md).");
    assert_snapshot!(home.text("records/2026/b.md"), @"See [c](../../c.md#x) and [a](a.md).");
    assert_snapshot!(home.text("c.md"), @"See [a](records/2026/a.md), [[records/2026/b]] and `mem:records/2026/a`.");
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [c](c.md) — See a, records/2026/b and mem:records/2026/a.
    - [records/2026/a](records/2026/a.md) — See b, records/2026/b, records/2026/b, mem:records/2026/a and c.
    - [records/2026/b](records/2026/b.md) — See c and a.
    <!-- /memdir -->
    ");
    assert!(!home.memory("notes").exists(), "an empty directory was left");
    assert_snapshot!(home.run(&["history", "--limit", "1"]), @"
    change    when      actor  what
    [ID]      just now  ada    renamed notes/a and 1 more
    ");
    assert_snapshot!(home.run(&["undo"]), @"undid [ID]: rename notes/a and 1 more, by ada, just now (redo: memdir redo [ID])");
    assert_eq!((home.text("notes/a.md"), home.text("notes/b.md"), home.text("c.md"), home.text("MEMORY.md")), before);
    home.ok(&["redo"]);
    assert_eq!(home.files(), ["MEMORY.md", "c.md", "records/2026/a.md", "records/2026/b.md"]);
}

#[test]
fn several_memories_are_moved_to_a_topic() {
    let home = Home::new();
    for (name, text) in [("a", "See [[b]]."), ("b", "See [c](notes/c.md)."), ("notes/c", "See [a](../a.md).")] {
        home.ok(&["write", name, text]);
    }
    assert_snapshot!(home.run(&["rename", "a", "b", "notes/c", "records/"]), @"
    renamed 3 memories (undo: memdir undo [ID])
      a to records/a
      b to records/b
      notes/c to records/c
    ");
    assert_eq!(home.files(), ["MEMORY.md", "records/a.md", "records/b.md", "records/c.md"]);
    assert_eq!(
        (home.text("records/a.md"), home.text("records/b.md"), home.text("records/c.md")),
        ("See [[records/b]].\n".into(), "See [c](c.md).\n".into(), "See [a](a.md).\n".into())
    );
    assert_snapshot!(home.run(&["rename", "records/a", "new/", "--json"]), @r#"
    {
      "renamed": [
        {
          "from": "records/a.md",
          "to": "new/a.md",
          "version": "3f96dc768c754784a4f7064fd9d5c3b7"
        }
      ],
      "change": "[ID]",
      "rewritten": [
        "records/c"
      ]
    }
    "#);
    let checked = home.run(&["check"]);
    assert!(!checked.contains("broken"), "{checked}");
}

#[test]
fn nothing_is_renamed_if_one_of_several_cannot_be() {
    let home = Home::new();
    for name in ["a", "notes/a", "notes/b", "other/b"] {
        home.ok(&["write", name, name]);
    }
    let before = home.files();
    assert_snapshot!(home.run(&["rename", "a", "notes/b", "other/"]), @r#"
    -- stderr
    error: memory "other/b" already exists
    hint: use another name
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["rename", "a", "notes/a", "new/"]), @r#"
    -- stderr
    error: invalid names: two memories would be named "new/a"
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["rename", "a", "a.md", "new/"]), @r#"
    -- stderr
    error: invalid names: "a" is listed twice
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["rename", "a", "none", "new/"]), @r#"
    -- stderr
    error: memory "none" not found
    hint: list the memories with: memdir list
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["rename", "a", "notes/b", "new"]), @r#"
    -- stderr
    error: the new name must be a topic, but "new" does not end with `/`
    hint: use the name new/; nothing was renamed
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["rename", "a", "notes/", "new/"]), @r#"
    -- stderr
    error: topic "notes/" cannot be renamed together with other names
    hint: rename topics one by one; nothing was renamed
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["rename", "notes", "new"]), @r#"
    -- stderr
    error: memory "notes" not found
    hint: to rename a topic, end both names with `/`
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["rename", "notes/", "notes/"]), @r#"
    -- stderr
    error: new name is the same as the current name, "notes/a"
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["rename", "notse/", "new/"]), @r#"
    -- stderr
    error: topic "notse/" not found
    hint: did you mean "notes/"?
    -- exit 1
    "#);
    assert_eq!(home.files(), before);
    assert_eq!(home.json(&["history"])["changes"].as_array().unwrap().len(), 4);
}
