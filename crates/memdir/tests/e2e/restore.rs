//! `memdir restore`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn an_earlier_version_comes_back_also_of_a_deleted_memory() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    let first = home.json(&["read", "a"])["version"].as_str().unwrap().to_owned();
    home.ok(&["write", "a", "two", "--replace"]);
    assert_snapshot!(home.run(&["restore", "a", &first[..8]]), @"Restored a · 4 bytes, version e0e63aa4c8e1, change [ID]");
    assert_eq!(home.text("a.md"), "one\n");
    home.ok(&["delete", "a"]);
    assert_snapshot!(home.run(&["restore", "a", &first[..8]]), @"Restored a · 4 bytes, version e0e63aa4c8e1, change [ID]");
    assert_eq!(home.text("a.md"), "one\n");
    assert!(home.text("MEMORY.md").contains("(a.md)"));
    assert_snapshot!(home.run(&["restore", "a", "ffff"]), @"
    -- stderr
    error: version: a.md has no version ffff; memdir history a.md lists them
    hint: Call again with a value in that form.
    -- exit 2
    ");
}
