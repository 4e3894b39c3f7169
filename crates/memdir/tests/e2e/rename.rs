//! `memdir rename`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn every_reference_follows() {
    let home = Home::new();
    home.ok(&["write", "notes/deploy", "Tuesdays."]);
    home.ok(&["write", "ada", "See [how](notes/deploy.md), [[notes/deploy]] and `mem:notes/deploy`."]);
    assert_snapshot!(home.run(&["rename", "notes/deploy", "howto/release"]), @"");
    assert_snapshot!(home.text("ada.md"), @"");
    assert_snapshot!(home.text("MEMORY.md"), @"");
    assert_eq!(home.files(), ["MEMORY.md", "ada.md", "howto/release.md"]);
}

#[test]
fn a_missing_memory_or_a_taken_name_is_refused() {
    let home = Home::new();
    home.ok(&["write", "a", "A."]);
    home.ok(&["write", "b", "B."]);
    assert_snapshot!(home.run(&["rename", "c", "d"]), @"");
    assert_snapshot!(home.run(&["rename", "a", "b"]), @"");
    assert_snapshot!(home.run(&["rename", "a", "MEMORY"]), @"");
    assert_eq!((home.text("a.md"), home.text("b.md")), ("A.\n".into(), "B.\n".into()));
}
