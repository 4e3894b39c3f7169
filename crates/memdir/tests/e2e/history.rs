//! `memdir history`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn changes_are_told_newest_first() {
    let home = Home::new();
    assert_snapshot!(home.run(&["history"]), @"");
    home.ok(&["write", "a", "one"]);
    home.ok(&["write", "a", "two", "--append"]);
    home.ok(&["write", "b", "other"]);
    home.ok(&["rename", "b", "c"]);
    home.ok(&["delete", "c"]);
    assert_snapshot!(home.run(&["history"]), @"");
    assert_snapshot!(home.run(&["history", "--most", "1", "--json"]), @"");
}

#[test]
fn what_other_programs_did_counts_too() {
    let home = Home::new();
    home.ok(&["write", "a", "by memdir"]);
    home.put("a.md", "by an editor\n");
    assert_snapshot!(home.run(&["history", "a"]), @"");
    let found = home.json(&["history", "a"])["changes"][0]["id"].as_str().unwrap().to_owned();
    home.ok(&["undo", &found]);
    assert_eq!(home.text("a.md"), "by memdir\n");
}

#[test]
fn a_memory_that_never_was_has_no_history() {
    let home = Home::new();
    home.ok(&["write", "abc", "x"]);
    assert_snapshot!(home.run(&["history", "abd"]), @"");
}
