//! `memdir read`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn without_a_name_it_shows_the_entrypoint() {
    let home = Home::new();
    assert_snapshot!(home.run(&["read"]), @"");
    home.ok(&["write", "a", "About a."]);
    assert_snapshot!(home.run(&["read"]), @"");
    assert_snapshot!(home.run(&["read", "--json"]), @"");
    home.put("by-hand.md", "Nobody told the entrypoint.\n");
    assert_snapshot!(home.run(&["read"]), @"");
    assert_snapshot!(home.run(&["read", "by-hand"]), @"");
}

#[test]
fn a_memory_is_printed_byte_for_byte() {
    let home = Home::new();
    let text = "---\nname: x\n---\n\nno line end, \u{1b}[31mescapes\u{1b}[0m and café";
    home.put("a.md", text);
    assert_eq!(home.ok(&["read", "a"]), text);
    assert_eq!(home.ok(&["read", "a.md"]), text);
}

#[test]
fn lines_are_shown_by_range() {
    let home = Home::new();
    home.put("a.md", "one\ntwo\nthree\nfour\n");
    assert_eq!(home.ok(&["read", "a", "--lines", "2-3"]), "two\nthree\n");
    assert_eq!(home.ok(&["read", "a", "--lines", "4-"]), "four\n");
    assert_eq!(home.ok(&["read", "a", "--lines", "1"]), "one\n");
    assert_snapshot!(home.run(&["read", "a", "--lines", "9-"]), @"");
    assert_snapshot!(home.run(&["read", "a", "--lines", "0"]), @"");
}

#[test]
fn several_memories_are_shown_and_the_missing_ones_named() {
    let home = Home::new();
    home.ok(&["write", "a", "A."]);
    home.ok(&["write", "b", "B."]);
    assert_snapshot!(home.run(&["read", "a", "b"]), @"");
    assert_snapshot!(home.run(&["read", "a", "c", "../x"]), @"");
    assert_snapshot!(home.run(&["read", "a", "c", "--json"]), @"");
}

#[test]
fn a_long_memory_says_how_to_continue() {
    let home = Home::new();
    home.put("a.md", "0123456789\n".repeat(10));
    assert_snapshot!(home.run(&["read", "a", "--max-chars", "35"]), @"");
    home.put("long.md", "0123456789\n".repeat(20_000));
    let shown = home.command(&["read", "long"]).output().unwrap();
    assert!(shown.stdout.len() <= 100_000);
    assert_snapshot!(home.plain(&String::from_utf8_lossy(&shown.stderr)), @"");
}

#[test]
fn a_missing_name_suggests_near_ones() {
    let home = Home::new();
    home.ok(&["write", "notes/deployment", "x"]);
    assert_snapshot!(home.run(&["read", "notes/deploymnet"]), @"");
    assert_snapshot!(home.run(&["read", "Deployment"]), @"");
    assert_snapshot!(home.run(&["read", "zzz", "--json"]), @"");
}

#[test]
fn problems_of_a_file_are_told_beside_it() {
    let home = Home::new();
    home.put("a.md", "---\ntype: wish\ncreated: soon\n---\n\ntext\n");
    home.ok(&["entrypoint", "--repair"]);
    assert_snapshot!(home.run(&["read", "a"]), @"");
}
