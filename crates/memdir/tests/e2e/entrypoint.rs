//! `memdir entrypoint`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn missing_lines_are_added_and_dead_ones_told() {
    let home = Home::new();
    home.ok(&["write", "a", "A."]);
    assert_snapshot!(home.run(&["entrypoint"]), @"MEMORY.md: every memory has its line");
    home.put("by-hand.md", "# By hand\n\nNobody told the entrypoint.\n");
    let text = home.text("MEMORY.md");
    home.put("MEMORY.md", text.replace("# Memory\n", "# Memory\n\nMy own words.\n- [Gone](gone.md) was here\n"));
    assert_snapshot!(home.run(&["entrypoint"]), @"
    MEMORY.md: no line for by-hand.md
    MEMORY.md (line 4): leads to gone.md, which is not there
    -- stderr
    note: memdir entrypoint --repair adds the missing lines
    -- exit 1
    ");
    assert_snapshot!(home.run(&["entrypoint", "--repair"]), @"
    MEMORY.md: added a line for by-hand.md
    MEMORY.md (line 4): leads to gone.md, which is not there
    memdir undo [ID] takes the added lines back
    -- exit 1
    ");
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    My own words.
    - [Gone](gone.md) was here

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [a](a.md) — A.
    - [by-hand](by-hand.md) — By hand
    <!-- /memdir -->
    ");
    assert_snapshot!(home.run(&["entrypoint", "--json"]), @r#"
    {
      "entrypoints": [
        {
          "prefix": "",
          "missing": [],
          "dead": [
            {
              "path": "gone.md",
              "place": {
                "hand": 4
              }
            }
          ],
          "long": []
        }
      ]
    }
    -- exit 1
    "#);
}

#[test]
fn a_fallback_entrypoint_is_kept_where_there_is_one() {
    let home = Home::new();
    home.put("index.md", "# Index\n");
    home.ok(&["write", "a", "A."]);
    assert_eq!(home.files(), ["a.md", "index.md"]);
    assert_snapshot!(home.run(&["read"]), @"
    # Index

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [a](a.md) — A.
    <!-- /memdir -->
    ");
}

#[test]
fn a_mount_without_one_gets_nothing_but_memories() {
    let home = Home::new();
    home.configure("[[mounts]]\nname = \"plain\"\npath = \"../plain\"\nentrypoint = false\n");
    home.run_bare(&["write", "plain/deep/a", "A."]);
    assert_eq!(crate::home::files_below(&home.path("plain")), ["deep/a.md"]);
}
