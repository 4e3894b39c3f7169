//! `memdir entrypoint`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn missing_lines_are_added_and_dead_ones_told() {
    let home = Home::new();
    home.ok(&["write", "a", "A."]);
    assert_snapshot!(home.run(&["entrypoint"]), @"");
    home.put("by-hand.md", "# By hand\n\nNobody told the entrypoint.\n");
    let text = home.text("MEMORY.md");
    home.put("MEMORY.md", text.replace("# Memory\n", "# Memory\n\nMy own words.\n- [Gone](gone.md) was here\n"));
    assert_snapshot!(home.run(&["entrypoint"]), @"");
    assert_snapshot!(home.run(&["entrypoint", "--repair"]), @"");
    assert_snapshot!(home.text("MEMORY.md"), @"");
    assert_snapshot!(home.run(&["entrypoint", "--json"]), @"");
}

#[test]
fn a_fallback_entrypoint_is_kept_where_there_is_one() {
    let home = Home::new();
    home.put("index.md", "# Index\n");
    home.ok(&["write", "a", "A."]);
    assert_eq!(home.files(), ["a.md", "index.md"]);
    assert_snapshot!(home.run(&["read"]), @"");
}

#[test]
fn a_mount_without_one_gets_nothing_but_memories() {
    let home = Home::new();
    home.configure("[[mounts]]\nname = \"plain\"\npath = \"../plain\"\nentrypoint = false\n");
    home.run_bare(&["write", "plain/deep/a", "A."]);
    assert_eq!(crate::home::files_below(&home.path("plain")), ["deep/a.md"]);
}
