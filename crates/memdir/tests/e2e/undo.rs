//! `memdir undo` and `memdir redo`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn the_last_change_is_taken_back_and_made_again() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    home.ok(&["write", "a", "two", "--replace"]);
    assert_snapshot!(home.run(&["undo"]), @"");
    assert_eq!(home.text("a.md"), "one\n");
    assert_snapshot!(home.run(&["redo"]), @"");
    assert_eq!(home.text("a.md"), "two\n");
    assert_snapshot!(home.run(&["undo", "--json"]), @"");
}

#[test]
fn nobody_takes_back_what_another_did_without_naming_it() {
    let home = Home::new();
    home.ok(&["write", "a", "ada's", "--actor", "ada"]);
    home.ok(&["write", "b", "bob's", "--actor", "bob"]);
    assert_snapshot!(home.run(&["undo"]), @"");
    let bobs = home.last_change();
    assert_snapshot!(home.run(&["undo", &bobs]), @"");
    assert_eq!(home.files(), ["MEMORY.md", "a.md"]);
    assert_snapshot!(home.run(&["undo", &bobs]), @"");
    assert_snapshot!(home.run(&["redo", &bobs]), @"");
    assert_eq!(home.files(), ["MEMORY.md", "a.md", "b.md"]);
}

#[test]
fn a_memory_that_changed_since_is_refused_with_the_difference() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    home.ok(&["write", "a", "two", "--replace"]);
    let change = home.last_change();
    home.put("a.md", "three, by an editor\n");
    assert_snapshot!(home.run(&["undo", &change]), @"");
    assert_eq!(home.text("a.md"), "three, by an editor\n");
}

#[test]
fn there_must_be_something_to_take_back() {
    let home = Home::new();
    assert_snapshot!(home.run(&["undo"]), @"");
    assert_snapshot!(home.run(&["redo"]), @"");
    home.ok(&["write", "a", "x"]);
    assert_snapshot!(home.run(&["undo", "zzzzzzzz"]), @"");
}
