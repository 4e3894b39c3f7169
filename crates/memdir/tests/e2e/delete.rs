//! `memdir delete`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn the_memory_and_its_line_go_and_come_back() {
    let home = Home::new();
    home.ok(&["write", "notes/a", "A."]);
    home.ok(&["write", "b", "B."]);
    let before = home.text("MEMORY.md");
    assert_snapshot!(home.run(&["delete", "notes/a"]), @"");
    assert_eq!(home.files(), ["MEMORY.md", "b.md"]);
    assert!(!home.memory("notes").exists(), "an empty directory was left");
    assert_snapshot!(home.text("MEMORY.md"), @"");
    home.ok(&["undo"]);
    assert_eq!((home.text("notes/a.md"), home.text("MEMORY.md")), ("A.\n".into(), before));
}

#[test]
fn a_missing_or_changed_memory_is_refused() {
    let home = Home::new();
    home.ok(&["write", "a", "A."]);
    assert_snapshot!(home.run(&["delete", "b"]), @"");
    assert_snapshot!(home.run(&["delete", "a", "--if-version", "0123456789abcdef0123456789abcdef"]), @"");
    assert_snapshot!(home.run(&["delete", "a", "--json"]), @"");
}
