//! `memdir path`.

use crate::home::Home;
use insta::assert_snapshot;
use std::fs;

#[test]
fn the_file_of_a_memory_is_printed() {
    let home = Home::new();
    home.ok(&["write", "notes/deploy", "x"]);
    assert_snapshot!(home.run(&["path", "notes/deploy"]), @"[HOME]/memory/notes/deploy.md");
    assert_snapshot!(home.run(&["path", "notes/deploy.md", "--json"]), @r#"
    {
      "name": "notes/deploy",
      "path": "notes/deploy.md",
      "file": "[HOME]/memory/notes/deploy.md"
    }
    "#);
    assert_snapshot!(home.run(&["path", "MEMORY"]), @"[HOME]/memory/MEMORY.md");
    assert_snapshot!(home.run(&["path", "notes/depoly"]), @r#"
    -- stderr
    error: memory "notes/depoly" not found
    hint: did you mean "notes/deploy"?
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["path", "notes"]), @r#"
    -- stderr
    error: memory "notes" not found
    hint: did you mean "notes/deploy"?
    -- exit 1
    "#);
    home.bare(&["write", "user/b", "x"]).output().unwrap();
    assert_snapshot!(home.run_bare(&["path", "user/b"]), @"[HOME]/home/user/b.md");
}

#[test]
fn the_file_is_spelled_as_on_disk() {
    let home = Home::new();
    // Decomposed, as other systems write it.
    home.put("cafe\u{301}/re\u{301}sume\u{301}.md", "x\n");
    let printed = home.ok(&["path", "caf\u{e9}/r\u{e9}sum\u{e9}"]);
    assert_eq!(fs::read_to_string(printed.trim_end()).unwrap(), "x\n");
}
