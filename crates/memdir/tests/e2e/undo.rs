//! `memdir undo` and `memdir redo`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn the_last_change_is_undone_and_redone() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    home.ok(&["write", "a", "two", "--replace"]);
    assert_snapshot!(home.run(&["undo"]), @"undid [ID]: write a (redo: memdir redo [ID])");
    assert_eq!(home.text("a.md"), "one\n");
    assert_snapshot!(home.run(&["redo"]), @"redid [ID]: write a (change [ID])");
    assert_eq!(home.text("a.md"), "two\n");
    assert_snapshot!(home.run(&["undo", "--json"]), @r#"
    {
      "undone": {
        "id": "[ID]",
        "at": "[TIME]",
        "actor": {
          "name": "ada"
        },
        "verb": "redo",
        "undoes": "[ID]",
        "files": [
          {
            "path": "MEMORY.md",
            "role": "entrypoint",
            "before": "b13fcf2d097afd40acbe1931c6c3fe19",
            "after": "df66cd3b9fa0901008cd887002a3db3e"
          },
          {
            "path": "a.md",
            "role": "memory",
            "before": "e0e63aa4c8e1ed796cb104d8a074e553",
            "after": "ef40086ad8a395c7a05b5f70cf2575ad"
          }
        ]
      },
      "change": {
        "id": "[ID]",
        "at": "[TIME]",
        "actor": {
          "name": "ada"
        },
        "verb": "undo",
        "undoes": "[ID]",
        "files": [
          {
            "path": "MEMORY.md",
            "role": "entrypoint",
            "before": "df66cd3b9fa0901008cd887002a3db3e",
            "after": "b13fcf2d097afd40acbe1931c6c3fe19"
          },
          {
            "path": "a.md",
            "role": "memory",
            "before": "ef40086ad8a395c7a05b5f70cf2575ad",
            "after": "e0e63aa4c8e1ed796cb104d8a074e553"
          }
        ]
      }
    }
    "#);
}

#[test]
fn changes_of_others_are_only_undone_by_id() {
    let home = Home::new();
    home.ok(&["write", "a", "ada's", "--actor", "ada"]);
    home.ok(&["write", "b", "bob's", "--actor", "bob"]);
    assert_snapshot!(home.run(&["undo"]), @"
    -- stderr
    error: the newest change is by bob: [ID] (wrote b); use its id to undo it; your newest change is [ID] (wrote a)
    hint: list changes and versions with: memdir history
    -- exit 1
    ");
    let bobs = home.last_change();
    assert_snapshot!(home.run(&["undo", &bobs]), @"undid [ID]: write b, by bob (redo: memdir redo [ID])");
    assert_eq!(home.files(), ["MEMORY.md", "a.md"]);
    assert_snapshot!(home.run(&["undo", &bobs]), @"
    -- stderr
    error: change [ID] is already undone; redo it with: memdir redo [ID]
    hint: list changes and versions with: memdir history
    -- exit 1
    ");
    assert_snapshot!(home.run(&["redo", &bobs]), @"redid [ID]: write b, by bob (change [ID])");
    assert_eq!(home.files(), ["MEMORY.md", "a.md", "b.md"]);
}

#[test]
fn a_later_change_is_a_conflict_with_its_diff() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    home.ok(&["write", "a", "two", "--replace"]);
    let change = home.last_change();
    home.put("a.md", "three, by an editor\n");
    assert_snapshot!(home.run(&["undo", &change]), @r#"
    -- stderr
    error: memory "a" has newer changes, which this would overwrite:
    --- a/a.md
    +++ b/a.md
    @@ -1 +1 @@
    -two
    +three, by an editor

    hint: list the newer changes with: memdir history a
    -- exit 1
    "#);
    assert_eq!(home.text("a.md"), "three, by an editor\n");
}

#[test]
fn nothing_to_undo_is_an_error() {
    let home = Home::new();
    assert_snapshot!(home.run(&["undo"]), @"
    -- stderr
    error: you have no change to undo
    hint: list changes and versions with: memdir history
    -- exit 1
    ");
    assert_snapshot!(home.run(&["redo"]), @"
    -- stderr
    error: you have no change to redo
    hint: list changes and versions with: memdir history
    -- exit 1
    ");
    home.ok(&["write", "a", "x"]);
    assert_snapshot!(home.run(&["undo", "zzzzzzzz"]), @"
    -- stderr
    error: change [ID] not found
    hint: list changes and versions with: memdir history
    -- exit 1
    ");
}

#[test]
fn a_file_without_md_beside_one_with_md_is_restored() {
    let home = Home::new();
    home.put("x", "1\n");
    home.put("x.md", "2\n");
    home.ok(&["write", "x", "--append", "three"]);
    let before = home.text("x");
    home.ok(&["delete", "x"]);
    home.ok(&["undo"]);
    assert_eq!((home.text("x"), home.text("x.md")), (before.clone(), "2\n".into()));
    home.ok(&["rename", "x", "y.txt"]);
    home.ok(&["undo"]);
    assert_eq!((home.text("x"), home.text("x.md")), (before, "2\n".into()));
}
