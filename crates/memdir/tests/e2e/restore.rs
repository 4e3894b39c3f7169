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
    assert_snapshot!(home.run(&["restore", "a", "ffff"]), @r#"
    -- stderr
    error: version "ffff" of memory "a" not found
    hint: list all changes with `memdir history`, or the versions of a memory with `memdir history NAME`
    -- exit 1
    "#);
}
