//! The reader of claude-mem's database: both generations of tables, rows without text, projects, progress, and files that are not one.

use crate::support::Files;
use memdir_chats::{count_claude_mem, read_claude_mem};
use rusqlite::Connection;
use std::fs;

fn database(files: &Files, schema: &str) -> std::path::PathBuf {
    let path = files.root().join("claude-mem.db");
    Connection::open(&path).unwrap().execute_batch(schema).unwrap();
    path
}

const CURRENT: &str = "
    CREATE TABLE observations (id INTEGER PRIMARY KEY, project TEXT, merged_into_project TEXT, type TEXT, title TEXT, narrative TEXT, created_at_epoch INTEGER);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, project TEXT, request TEXT, learned TEXT, created_at_epoch INTEGER);
    CREATE TABLE directives (id INTEGER PRIMARY KEY, project TEXT, content TEXT, status TEXT);
    INSERT INTO observations VALUES
      (1, 'shop', NULL, 'decision', 'Use Postgres', 'It has one schema.', 1768471200000),
      (2, 'shop-worktree', 'shop', 'bugfix', 'Pool size', 'Set it to 20.', 1768471200),
      (3, 'other', NULL, 'decision', 'Elsewhere', 'Not here.', NULL),
      (4, 'shop', NULL, 'decision', NULL, NULL, NULL);
    INSERT INTO session_summaries VALUES (1, 'shop', 'Move to Postgres', 'Migrations lock the table.', 1768471200000);
    INSERT INTO directives VALUES (1, NULL, 'Answer in German.', 'active'), (2, NULL, 'Old.', 'retired');";

#[test]
fn rows_become_memories_of_their_project() {
    let files = Files::new(&[]);
    let path = database(&files, CURRENT);
    assert_eq!(count_claude_mem(&path).unwrap(), (6, 1));
    let mut progress = Vec::new();
    let content = read_claude_mem(&path, &["shop".to_owned()], &mut |done, total| progress.push((done, total))).unwrap();
    let titles: Vec<&str> = content.memories.iter().map(|memory| memory.name.as_str()).collect();
    assert_eq!(content.memories.len(), 4, "{titles:?}");
    assert_eq!(content.projects.iter().map(|(name, count)| (name.as_str(), *count)).collect::<Vec<_>>(), [("", 1), ("shop", 3)]);
    assert_eq!(content.other_projects, 1);
    assert_eq!(
        content.problems.iter().map(|problem| problem.what.as_str()).collect::<Vec<_>>(),
        ["observation 4 has no text and was skipped"]
    );
    assert_eq!((progress.len(), progress.last()), (7, Some(&(7, 7))));
    // Seconds and milliseconds are the same day.
    assert!(content.memories.iter().filter(|memory| memory.text.contains("2026-01-15")).count() >= 2, "{:?}", content.memories);
    let all = read_claude_mem(files.root(), &[], &mut |_, _| {}).unwrap();
    assert_eq!((all.memories.len(), all.other_projects), (5, 0), "a directory is enough");
}

#[test]
fn the_first_tables_are_read_and_nothing_is_written() {
    let files = Files::new(&[]);
    let path = database(
        &files,
        "CREATE TABLE memories (id INTEGER, project TEXT, title TEXT, text BLOB); CREATE TABLE overviews (id INTEGER, project TEXT, content TEXT);
         INSERT INTO memories VALUES (1, 'shop', 'Prices', x'50726963657320ff696e2063656e7473'); INSERT INTO overviews VALUES (1, 'shop', 'All of it.');",
    );
    let before = fs::read(&path).unwrap();
    let content = read_claude_mem(&path, &[], &mut |_, _| {}).unwrap();
    assert_eq!(content.memories.len(), 2);
    assert!(content.memories[0].text.contains("Prices \u{fffd}in cents"), "{:?}", content.memories[0]);
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(files.root()).unwrap().count(), 1, "nothing is created beside it");
}

#[test]
fn what_is_not_its_database_is_refused() {
    let files = Files::new(&[("text.db", "not a database"), ("empty.db", "")]);
    Connection::open(files.root().join("other.db")).unwrap().execute_batch("CREATE TABLE notes (id INTEGER)").unwrap();
    for (name, expected) in [
        ("text.db", "text.db"),
        ("empty.db", "claude-mem"),
        ("other.db", "it has none of claude-mem's tables"),
        ("missing.db", "missing.db"),
    ] {
        let error = read_claude_mem(&files.root().join(name), &[], &mut |_, _| {}).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
        assert!(count_claude_mem(&files.root().join(name)).is_err(), "{name}");
    }
}
