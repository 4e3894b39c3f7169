//! `memdir diff`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn the_last_change_or_any_two_versions() {
    let home = Home::new();
    home.ok(&["write", "a", "one\ntwo\nthree\n"]);
    let first = home.json(&["read", "a"])["version"].as_str().unwrap().to_owned();
    home.ok(&["edit", "a", "two", "2"]);
    let second = home.json(&["read", "a"])["version"].as_str().unwrap().to_owned();
    home.ok(&["edit", "a", "three", "3"]);
    assert_snapshot!(home.run(&["diff", "a"]), @"
    --- a/a.md
    +++ b/a.md
    @@ -1,3 +1,3 @@
     one
     2
    -three
    +3
    ");
    assert_snapshot!(home.run(&["diff", "a", &first[..8]]), @"
    --- a/a.md
    +++ b/a.md
    @@ -1,3 +1,3 @@
     one
    -two
    -three
    +2
    +3
    ");
    assert_snapshot!(home.run(&["diff", "a", &first[..8], &second[..8]]), @"
    --- a/a.md
    +++ b/a.md
    @@ -1,3 +1,3 @@
     one
    -two
    +2
     three
    ");
    assert_snapshot!(home.run(&["diff", "a", &first, &first]), @"
    -- stderr
    note: no differences
    ");
    assert_snapshot!(home.run(&["diff", "a", "--json"]), @r#"
    {
      "path": "a.md",
      "from": "ba13ea9b04ef16c1a4a5b305069b68b3",
      "to": "cecf406fb1c2eb49f550202b35f6bf1b",
      "diff": "--- a/a.md\n+++ b/a.md\n@@ -1,3 +1,3 @@\n one\n 2\n-three\n+3\n"
    }
    "#);
    assert_snapshot!(home.run(&["diff", "a", "ffffffff"]), @r#"
    -- stderr
    error: version "ffffffff" of memory "a" not found
    hint: list all changes with `memdir history`, or the versions of a memory with `memdir history NAME`
    -- exit 1
    "#);
    assert_snapshot!(home.run(&["diff", "b"]), @r#"
    -- stderr
    error: memory "b" not found
    hint: list the memories with: memdir list
    -- exit 1
    "#);
}
