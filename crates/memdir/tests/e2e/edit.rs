//! `memdir edit`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn one_place_is_replaced() {
    let home = Home::new();
    home.ok(&["write", "a", "Deploy on Tuesdays."]);
    assert_snapshot!(home.run(&["edit", "a", "Tuesdays", "Wednesdays"]), @"");
    assert_eq!(home.text("a.md"), "Deploy on Wednesdays.\n");
    assert_snapshot!(home.text("MEMORY.md"), @"");
}

#[test]
fn no_match_and_several_are_refused_with_counts() {
    let home = Home::new();
    home.ok(&["write", "a", "- one\n- one\n"]);
    assert_snapshot!(home.run(&["edit", "a", "two", "2"]), @"");
    assert_snapshot!(home.run(&["edit", "a", "- one", "- two"]), @"");
    assert_snapshot!(home.run(&["edit", "a", "- one", "- two", "--all"]), @"");
    assert_eq!(home.text("a.md"), "- two\n- two\n");
    assert_snapshot!(home.run(&["edit", "b", "x", "y"]), @"");
}

#[test]
fn regular_expressions_with_groups() {
    let home = Home::new();
    home.ok(&["write", "a", "v1.0 and v2.0 but not w3.0"]);
    assert_snapshot!(home.run(&["edit", "a", "--regex", r"(?<=v)(\d)\.0", "$!1.1", "--all"]), @"");
    assert_eq!(home.text("a.md"), "v1.1 and v2.1 but not w3.0\n");
    assert_snapshot!(home.run(&["edit", "a", "--regex", "(", "x"]), @"");
}

#[test]
fn texts_of_several_lines_come_from_files_or_standard_input() {
    let home = Home::new();
    home.ok(&["write", "a", "one\ntwo\nthree\n"]);
    std::fs::write(home.path("work/old"), "one\ntwo\n").unwrap();
    home.run_with(&["edit", "a", "--old-file", "old", "--new-file", "-"], "1\n2\n");
    assert_eq!(home.text("a.md"), "1\n2\nthree\n");
    assert_snapshot!(home.run(&["edit", "a", "1"]), @"");
}

#[test]
fn a_stated_version_must_be_there() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    home.ok(&["edit", "a", "one", "two"]);
    assert_snapshot!(home.run(&["edit", "a", "two", "three", "--if-version", "0123456789abcdef0123456789abcdef"]), @"");
}
