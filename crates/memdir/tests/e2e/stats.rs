//! `memdir stats`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn mounts_and_the_journal_are_counted() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    home.ok(&["write", "b/c", "two"]);
    let printed = home.run(&["stats"]);
    let (table, journal) = printed.trim_end().rsplit_once('\n').unwrap();
    assert_snapshot!(table, @"
    mount   memories  size     entrypoint                      access      source  directory
    (root)  2         8 bytes  6/200 lines, 146 bytes/24.4 KB  read-write  memory  [HOME]/memory
    search index: not created yet; small directories are searched without one
    chat: chats are off until the user runs: memdir chats on
    ");
    assert!(journal.starts_with("2 memories, 8 bytes; journal: 2 changes, "), "{journal}");
    let stats = home.json(&["stats"]);
    assert_eq!((stats["files"].as_u64(), stats["journal"]["changes"].as_u64()), (Some(2), Some(2)));
    home.ok(&["index"]);
    let index = home.json(&["stats"])["search"][0].clone();
    assert_eq!((index["files"].as_u64(), index["changed"].as_u64(), index["gone"].as_u64()), (Some(2), Some(0), Some(0)));
    home.put("new.md", "new");
    assert_eq!(home.json(&["stats"])["search"][0]["changed"], 1);
}

#[test]
fn chats_are_listed_as_off_until_they_are_on() {
    let home = Home::new();
    let printed = || {
        let output = home.bare(&["stats", "--json"]).output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["off"].clone()
    };
    assert_eq!(printed(), serde_json::json!(["chat"]));
    home.ok(&["chats", "on"]);
    assert_eq!(printed(), serde_json::json!([]));
    assert!(!home.run_bare(&["stats"]).contains("chat: "));
    let elsewhere = |origin: &str| format!("past conversations were not searched, because {origin} selects a memory without them\n");
    assert!(home.run(&["stats"]).contains("chat: MEMDIR_DIR selects a memory without past conversations\n"));
    assert!(home.run(&["search", "--source", "chat", "x"]).contains(&format!("note: {}", elsewhere("MEMDIR_DIR"))));
    assert!(home.run_bare(&["--only", "user", "search", "--source", "chat", "x"]).contains(&format!("note: {}", elsewhere("--only"))));
}
