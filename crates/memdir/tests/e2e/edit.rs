//! `memdir edit`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn one_occurrence_is_replaced() {
    let home = Home::new();
    home.ok(&["write", "a", "Deploy on Tuesdays."]);
    assert_snapshot!(home.run(&["edit", "a", "Tuesdays", "Wednesdays"]), @"edited a (1 replacement, 22 bytes, version 33bf1c1ea45d, change [ID])");
    assert_eq!(home.text("a.md"), "Deploy on Wednesdays.\n");
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [a](a.md) — Deploy on Wednesdays.
    <!-- /memdir -->
    ");
}

#[test]
fn no_match_and_several_matches_are_errors_with_counts() {
    let home = Home::new();
    home.ok(&["write", "a", "- one\n- one\n"]);
    assert_snapshot!(home.run(&["edit", "a", "two", "2"]), @"
    -- stderr
    error: the text to replace does not occur in the memory
    hint: print the memory with: memdir read NAME; to replace all occurrences, add --all
    -- exit 1
    ");
    assert_snapshot!(home.run(&["edit", "a", "- one", "- two"]), @"
    -- stderr
    error: the text to replace occurs 2 times, on lines 1, 2; make it longer until it occurs once
    hint: print the memory with: memdir read NAME; to replace all occurrences, add --all
    -- exit 1
    ");
    assert_snapshot!(home.run(&["edit", "a", "- one", "- two", "--all"]), @"edited a (2 replacements, 12 bytes, version 3470982a463d, change [ID])");
    assert_eq!(home.text("a.md"), "- two\n- two\n");
    assert_snapshot!(home.run(&["edit", "b", "x", "y"]), @r#"
    -- stderr
    error: memory "b" not found
    hint: list the memories with: memdir list
    -- exit 1
    "#);
}

#[test]
fn regular_expressions_with_groups() {
    let home = Home::new();
    home.ok(&["write", "a", "v1.0 and v2.0 but not w3.0"]);
    assert_snapshot!(home.run(&["edit", "a", "--regex", r"(?<=v)(\d)\.0", "$!1.1", "--all"]), @"edited a (2 replacements, 27 bytes, version 3ae2572ffe01, change [ID])");
    assert_eq!(home.text("a.md"), "v1.1 and v2.1 but not w3.0\n");
    assert_snapshot!(home.run(&["edit", "a", "--regex", "(", "x"]), @"
    -- stderr
    error: invalid regular expression: Parsing error at position 1: Opening parenthesis without closing parenthesis
    -- exit 2
    ");
}

#[test]
fn texts_of_several_lines_come_from_files_or_standard_input() {
    let home = Home::new();
    home.ok(&["write", "a", "one\ntwo\nthree\n"]);
    std::fs::write(home.path("work/old"), "one\ntwo\n").unwrap();
    home.run_with(&["edit", "a", "--old-file", "old", "--new-file", "-"], "1\n2\n");
    assert_eq!(home.text("a.md"), "1\n2\nthree\n");
    assert_snapshot!(home.run(&["edit", "a", "1"]), @"
    -- stderr
    error: the following required arguments were not provided:
      <NEW>

    Usage: memdir edit <NAME> <OLD> <NEW>

    For more information, try '--help'.
    -- exit 2
    ");
}

#[test]
fn if_version_must_match() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    home.ok(&["edit", "a", "one", "two"]);
    assert_snapshot!(home.run(&["edit", "a", "two", "three", "--if-version", "0123456789abcdef0123456789abcdef"]), @r#"
    -- stderr
    error: memory "a" has changed: expected version 0123456789abcdef0123456789abcdef, found ef40086ad8a395c7a05b5f70cf2575ad
    hint: read the current version with: memdir read a
    -- exit 1
    "#);
}
