//! `memdir restore`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn an_earlier_version_is_restored_even_of_a_deleted_memory() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    let first = home.json(&["read", "a"])["version"].as_str().unwrap().to_owned();
    home.ok(&["write", "a", "two", "--replace"]);
    assert_snapshot!(home.run(&["restore", "a", &first[..8]]), @"restored a (4 bytes, version e0e63aa4c8e1, change [ID])");
    assert_eq!(home.text("a.md"), "one\n");
    home.ok(&["delete", "a"]);
    assert_snapshot!(home.run(&["restore", "a", &first[..8]]), @"restored a (4 bytes, version e0e63aa4c8e1, change [ID])");
    assert_eq!(home.text("a.md"), "one\n");
    assert!(home.text("MEMORY.md").contains("(a.md)"));
    assert_snapshot!(home.run(&["restore", "a", "ffff"]), @"
    -- stderr
    error: version ffff of a not found
    hint: list changes and versions with: memdir history
    -- exit 1
    ");
}
