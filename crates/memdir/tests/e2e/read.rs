//! `memdir read`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn without_a_name_it_shows_the_entrypoint() {
    let home = Home::new();
    assert_snapshot!(home.run(&["read"]), @"
    -- stderr
    note: no memories yet; create one with: memdir write NAME TEXT
    ");
    home.ok(&["write", "a", "About a."]);
    assert_snapshot!(home.run(&["read"]), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [a](a.md) — About a.
    <!-- /memdir -->
    ");
    assert_snapshot!(home.run(&["read", "--json"]), @r##"
    {
      "path": "MEMORY.md",
      "content": "# Memory\n\n<!-- memdir: one line per memory, sorted; write outside these two marks -->\n- [a](a.md) — About a.\n<!-- /memdir -->",
      "line_count": 5,
      "byte_count": 127,
      "cut_by_lines": false,
      "cut_by_bytes": false
    }
    "##);
    home.put("by-hand.md", "Nobody printed the entrypoint.\n");
    assert_snapshot!(home.run(&["read"]), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [a](a.md) — About a.
    <!-- /memdir -->
    -- stderr
    note: not listed in MEMORY.md: by-hand; add it with: memdir entrypoint --repair
    ");
    assert_snapshot!(home.run(&["read", "by-hand"]), @"
    Nobody printed the entrypoint.
    -- stderr
    note: by-hand: not listed in the entrypoint
    ");
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
    assert_snapshot!(home.run(&["read", "a", "--lines", "9-"]), @"
    -- stderr
    error: invalid lines: a has 4 lines; 9- is past its end
    -- exit 2
    ");
    assert_snapshot!(home.run(&["read", "a", "--lines", "0"]), @r#"
    -- stderr
    error: invalid lines: "0" includes line 0, but line numbers start at 1; use a line number or a range, such as 42, 42-56 or 42-
    -- exit 2
    "#);
}

#[test]
fn several_memories_are_shown_and_the_missing_ones_named() {
    let home = Home::new();
    home.ok(&["write", "a", "A."]);
    home.ok(&["write", "b", "B."]);
    assert_snapshot!(home.run(&["read", "a", "b"]), @"
    ==> a <==
    A.

    ==> b <==
    B.
    ");
    assert_snapshot!(home.run(&["read", "a", "c", "../x"]), @r#"
    ==> a <==
    A.
    -- stderr
    note: memory "c" not found; list the memories with: memdir list
    note: invalid memory name "../x": it contains the component ".."; use a name without it
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["read", "a", "c", "--json"]), @r#"
    {
      "memories": [
        {
          "name": "a",
          "path": "a.md",
          "content": "A.\n",
          "lines": "1-1",
          "total_lines": 1,
          "bytes": 3,
          "version": "c69ab1ce71d208dded18cc5d18bdfcc9",
          "age": "today"
        }
      ],
      "errors": [
        {
          "name": "c",
          "code": "not_found",
          "message": "memory \"c\" not found",
          "hint": "list the memories with: memdir list"
        }
      ]
    }
    -- exit 1
    "#);
}

#[test]
fn a_long_memory_is_cut_with_a_note_how_to_continue() {
    let home = Home::new();
    home.put("a.md", "0123456789\n".repeat(10));
    assert_snapshot!(home.run(&["read", "a", "--max-chars", "35"]), @"
    0123456789
    0123456789
    0123456789
    -- stderr
    note: lines 1-3 of 10; continue with: memdir read a --lines 4-
    note: a: not listed in the entrypoint
    ");
    home.put("long.md", "0123456789\n".repeat(20_000));
    let shown = home.command(&["read", "long"]).output().unwrap();
    assert!(shown.stdout.len() <= 100_000);
    assert_snapshot!(home.with_placeholders(&String::from_utf8_lossy(&shown.stderr)), @"
    note: lines 1-9090 of 20000; continue with: memdir read long --lines 9091-
    note: long: not listed in the entrypoint
    ");
}

#[test]
fn a_missing_name_suggests_near_ones() {
    let home = Home::new();
    home.ok(&["write", "notes/deployment", "x"]);
    assert_snapshot!(home.run(&["read", "notes/deploymnet"]), @r#"
    -- stderr
    error: memory "notes/deploymnet" not found
    hint: did you mean "notes/deployment"?
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["read", "Deployment"]), @r#"
    -- stderr
    error: memory "Deployment" not found
    hint: did you mean "notes/deployment"?
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["read", "zzz", "--json"]), @r#"
    {
      "error": {
        "code": "not_found",
        "message": "memory \"zzz\" not found",
        "hint": "list the memories with: memdir list"
      }
    }
    -- exit 1
    "#);
}

#[test]
fn problems_of_a_file_are_notes() {
    let home = Home::new();
    home.put("a.md", "---\ntype: wish\ncreated: soon\n---\n\ntext\n");
    home.ok(&["entrypoint", "--repair"]);
    assert_snapshot!(home.run(&["read", "a"]), @r#"
    ---
    type: wish
    created: soon
    ---

    text
    -- stderr
    note: a, line 2: the type "wish" is not one of user, feedback, project, reference
    note: a, line 3: `created` is not a date or time such as 2026-03-01 or 2026-03-01T09:30:00Z
    "#);
}

#[test]
fn a_cut_line_is_reported() {
    let home = Home::new();
    home.put("l.md", format!("{}axolotl\nb\n", "w ".repeat(60_000)));
    let read = home.json(&["get", "l", "--lines", "1"]);
    assert_eq!(read["problems"][0]["what"], "the line is truncated to 100000 of 120007 characters");
}

#[test]
fn what_a_listing_prints_is_accepted_back() {
    let home = Home::new();
    for name in ["note.MD", "foo.md.md", "trail .md", "plain.md", "x", "x.md"] {
        home.put(name, "text\n");
    }
    let listed = home.json(&["list"]);
    for memory in listed["memories"].as_array().unwrap() {
        let (name, path) = (memory["name"].as_str().unwrap(), memory["path"].as_str().unwrap());
        if !name.contains("trail") {
            assert_eq!(home.json(&["get", name])["path"], path, "{name}");
        }
    }
}

#[test]
fn lines_override_the_range_of_a_path() {
    let home = Home::new();
    home.put("a.md", "one\ntwo\nthree\n");
    assert_eq!(home.run(&["get", "a:1-2"]), "one\ntwo\n");
    assert_eq!(home.run(&["get", "a:1-2", "--lines", "3-3"]), home.run(&["get", "a", "--lines", "3-3"]));
    assert_eq!(home.ok(&["get", "a:1-2", "--lines", "3-3"]), "three\n");
}

#[test]
fn selected_memories_without_an_entrypoint_are_not_called_missing() {
    let home = Home::new();
    home.ok(&["write", "notes/a", "x"]);
    assert_snapshot!(home.run(&["--only", "notes", "read"]), @"
    -- stderr
    note: the selected memories have no entrypoint (MEMORY.md); list them with `memdir list` and the same options
    ");
    assert_eq!(home.ok(&["--only", "notes", "list"]), "notes/a\n");
    assert_snapshot!(home.run(&["--only", "other", "read"]), @"
    -- stderr
    note: no memories yet; create one with: memdir write NAME TEXT
    ");
}
