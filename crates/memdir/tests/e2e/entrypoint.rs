//! `memdir entrypoint`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn the_line_of_a_memory_that_cannot_be_read_is_not_dead() {
    let home = Home::new();
    home.ok(&["write", "a", "A."]);
    // Larger than what memdir reads.
    std::fs::File::options().write(true).open(home.path("memory/a.md")).unwrap().set_len(100_000_000).unwrap();
    assert!(!home.run(&["entrypoint"]).contains("does not exist"));
    assert!(!home.run(&["check"]).contains("does not exist"));
}

#[test]
fn missing_lines_are_added_and_dead_links_reported() {
    let home = Home::new();
    home.ok(&["write", "a", "A."]);
    assert_snapshot!(home.run(&["entrypoint"]), @"MEMORY.md: all memories are listed");
    home.put("by-hand.md", "# By hand\n\nNobody printed the entrypoint.\n");
    let text = home.text("MEMORY.md");
    home.put("MEMORY.md", text.replace("# Memory\n", "# Memory\n\nMy own words.\n- [Gone](gone.md) was here\n"));
    assert_snapshot!(home.run(&["entrypoint"]), @"
    MEMORY.md: not listed: by-hand.md
    MEMORY.md (line 4): links to gone.md, which does not exist
    -- stderr
    note: add the missing lines with: memdir entrypoint --repair
    -- exit 1
    ");
    assert_snapshot!(home.run(&["entrypoint", "--repair"]), @"
    MEMORY.md: added by-hand.md
    MEMORY.md (line 4): links to gone.md, which does not exist
    undo the repair with: memdir undo [ID]
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
fn an_existing_fallback_entrypoint_is_used() {
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
    // Messages name the file that is used.
    home.put("index.md", "# Index\n");
    assert!(home.ok(&["entrypoint", "--repair"]).starts_with("index.md: added a.md\n"));
}

#[test]
fn no_repair_is_suggested_for_a_read_only_mount() {
    let home = Home::new();
    home.configure("[[mounts]]\nname = \"\"\npath = \"../memory\"\naccess = \"read-only\"\n");
    std::fs::create_dir_all(home.path("memory")).unwrap();
    assert_snapshot!(home.run(&["read"]), @"
    -- stderr
    note: no memories yet
    ");
    home.put("a.md", "x\n");
    assert_snapshot!(home.run(&["read"]), @"
    -- stderr
    note: not listed in MEMORY.md: a
    ");
    let checked = home.run(&["entrypoint"]);
    assert_snapshot!(checked, @"
    MEMORY.md: not listed: a.md
    -- stderr
    note: MEMORY.md is in a read-only mount, so --repair does not change it
    -- exit 1
    ");
    assert_eq!(home.run(&["entrypoint", "--repair"]), checked);
}

#[test]
fn a_mount_without_an_entrypoint_gets_only_memories() {
    let home = Home::new();
    home.configure("[[mounts]]\nname = \"plain\"\npath = \"../plain\"\nentrypoint = false\n");
    home.run_bare(&["write", "plain/deep/a", "A."]);
    assert_eq!(crate::home::files_below(&home.path("plain")), ["deep/a.md"]);
}
