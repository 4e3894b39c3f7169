//! `memdir stats`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn mounts_and_the_journal_are_counted() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    home.ok(&["write", "b/c", "two"]);
    let told = home.run(&["stats"]);
    let (table, journal) = told.trim_end().rsplit_once('\n').unwrap();
    assert_snapshot!(table, @"");
    assert!(journal.starts_with("2 memories, 8 bytes; journal: 2 changes, "), "{journal}");
    let stats = home.json(&["stats"]);
    assert_eq!((stats["files"].as_u64(), stats["journal"]["changes"].as_u64()), (Some(2), Some(2)));
}
