//! `memdir history`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn changes_are_listed_newest_first() {
    let home = Home::new();
    assert_snapshot!(home.run(&["history"]), @"
    -- stderr
    note: no changes yet
    ");
    home.ok(&["write", "a", "one"]);
    home.ok(&["write", "a", "two", "--append"]);
    home.ok(&["write", "b", "other"]);
    home.ok(&["rename", "b", "c"]);
    home.ok(&["delete", "c"]);
    assert_snapshot!(home.run(&["history"]), @"
    change    when      actor  what
    [ID]      just now  ada    deleted c
    [ID]      just now  ada    renamed b to c
    [ID]      just now  ada    wrote b
    [ID]      just now  ada    appended to a
    [ID]      just now  ada    wrote a
    ");
    assert_snapshot!(home.run(&["history", "--limit", "1", "--json"]), @r#"
    {
      "changes": [
        {
          "id": "[ID]",
          "at": "[TIME]",
          "actor": {
            "name": "ada"
          },
          "verb": "delete",
          "files": [
            {
              "path": "MEMORY.md",
              "role": "entrypoint",
              "before": "f1802abd1060afeb24f0a0cc43be3c3a",
              "after": "b13fcf2d097afd40acbe1931c6c3fe19"
            },
            {
              "path": "c.md",
              "role": "memory",
              "before": "c0d6c8281a3879ca493d73b4b2372662",
              "after": null
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn changes_of_other_programs_are_recorded() {
    let home = Home::new();
    home.ok(&["write", "a", "by memdir"]);
    home.put("a.md", "by an editor\n");
    assert_snapshot!(home.run(&["history", "a"]), @"
    change    when      actor            what                      version
    [ID]      just now  another program  a changed outside memdir  34b306b0c0d3
    [ID]      just now  ada              wrote a                   f8cccfb6450a
    ");
    let found = home.json(&["history", "a"])["changes"][0]["id"].as_str().unwrap().to_owned();
    home.ok(&["undo", &found]);
    assert_eq!(home.text("a.md"), "by memdir\n");
}

#[test]
fn a_memory_that_never_existed_has_no_history() {
    let home = Home::new();
    home.ok(&["write", "abc", "x"]);
    assert_snapshot!(home.run(&["history", "abd"]), @r#"
    -- stderr
    error: memory "abd" not found
    hint: did you mean "abc"?
    -- exit 1
    "#);
}
