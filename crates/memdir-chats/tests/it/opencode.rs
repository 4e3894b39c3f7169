//! opencode's database and its older files, and that reading another program's database leaves nothing behind.

use crate::support::{Files, OPENCODE_HOST, events, problems};
use memdir_chats::{
    ChatArchive, ChatSettings, ChatSource, Retention, Roots, SessionFile, SyncLimits, SyncMemo, Syncer, TranscriptCursor, open_sources,
};
use memdir_core::SystemClock;
use rusqlite::Connection;
use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

const DATABASE: &str = ".local/share/opencode/opencode.db";

const SCHEMA: &str = r#"
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL, revert TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, data TEXT NOT NULL);
CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, type TEXT NOT NULL, seq INTEGER NOT NULL, data TEXT NOT NULL);
INSERT INTO session VALUES
  ('ses_1', NULL, '/home/ada/app', 'Login', NULL, 1768471200000, 1768471260000),
  ('ses_2', 'ses_1', '/home/ada/app', 'never: a sub-agent', NULL, 1768471200000, 1768471260000),
  ('ses_3', NULL, '/home/ada/web', 'New session - 2026-01-15T10:00:00Z', '{"messageID":"msg_33"}', 1768471200000, 1768471260000);
INSERT INTO message VALUES
  ('msg_11', 'ses_1', 1768471200000, '{"role":"user","time":{"created":1768471200000}}'),
  ('msg_12', 'ses_1', 1768471205000, '{"role":"assistant"}'),
  ('msg_13', 'ses_1', 1768471206000, '{"role":"assistant","summary":true}');
INSERT INTO part VALUES
  ('prt_1', 'msg_11', 'ses_1', '{"type":"text","text":"Fix the login"}'),
  ('prt_2', 'msg_11', 'ses_1', '{"type":"text","text":"never: a file","synthetic":true}'),
  ('prt_3', 'msg_11', 'ses_1', '{"type":"file","url":"data:never"}'),
  ('prt_4', 'msg_12', 'ses_1', '{"type":"step-start"}'),
  ('prt_5', 'msg_12', 'ses_1', '{"type":"reasoning","text":"never"}'),
  ('prt_6', 'msg_12', 'ses_1', '{"type":"text","text":"Looking."}'),
  ('prt_7', 'msg_12', 'ses_1', '{"type":"tool","tool":"read","state":{"status":"completed","input":{"filePath":"a.rs"},"output":"never"}}'),
  ('prt_8', 'msg_13', 'ses_1', '{"type":"text","text":"never: a summary"}'),
  ('prt_9', 'msg_13', 'ses_1', '{broken');
INSERT INTO session_message VALUES
  ('msg_1x', 'ses_1', 'user', 1, '{"text":"never: the same in the other table"}'),
  ('msg_31', 'ses_3', 'user', 1, '{"text":"hello","time":{"created":1768471200000}}'),
  ('msg_32', 'ses_3', 'assistant', 2, '{"content":[{"type":"reasoning","text":"never"},{"type":"text","text":"hi"},{"type":"tool","name":"bash","state":{"input":{"command":"ls"}}}],"time":{"created":1768471201000}}'),
  ('msg_325', 'ses_3', 'synthetic', 3, '{"text":"never"}'),
  ('msg_33', 'ses_3', 'user', 4, '{"text":"never: outcome back"}');
"#;

const PRINTED_TURNS: [&str; 2] = [
    "info started=10:00:00\n1 user 10:00:00 [msg_11] \"Fix the login\"\n6 assistant 10:00:05 [msg_12] \"Looking.\"\n7 tool 10:00:05 [msg_12] \"read filePath=a.rs\"\n",
    "info started=10:00:00\nrewind 0\n1 user 10:00:00 [msg_31] \"hello\"\n2 assistant 10:00:01 [msg_32] \"hi\"\n2 tool 10:00:01 [msg_32] \"bash command=ls\"\n",
];

fn owner(files: &Files, mode: &str) -> Connection {
    files.put(".local/share/opencode/log/x", b"");
    let owner = Connection::open(files.root().join(DATABASE)).unwrap();
    owner.execute_batch(&format!("PRAGMA journal_mode = {mode}; {SCHEMA}")).unwrap();
    owner
}

fn listed(files: &Files) -> (Box<dyn ChatSource>, Vec<SessionFile>) {
    let source = open_sources(&Roots::under(files.root())).into_iter().find(|source| source.reader() == OPENCODE_HOST).unwrap();
    let found = source.sessions();
    assert_eq!(found.problems, []);
    (source, found.sessions)
}

/// The files of a directory with their bytes.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().flatten().filter(|entry| entry.path().is_file());
    files.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

fn check(files: &Files) {
    let (source, sessions) = listed(files);
    let found: Vec<_> = sessions.iter().map(|s| (s.key.as_str(), s.title.as_ref().map(|(_, title)| title.as_str()))).collect();
    assert_eq!(found, [("ses_1", Some("Login")), ("ses_3", None)]);
    for (session, expected) in sessions.iter().zip(PRINTED_TURNS) {
        assert_eq!(events(source.as_ref(), session, &TranscriptCursor::default()).0, expected);
    }
    let (_, outcome) = events(source.as_ref(), &sessions[0], &TranscriptCursor::default());
    assert_eq!(problems(&outcome), ["9: this part or its message is not valid JSON"]);
    assert!(events(source.as_ref(), &sessions[0], &outcome.cursor).0.starts_with("restart\n"));
}

#[test]
fn a_running_opencode_is_read_in_place_and_not_touched() {
    let files = Files::new(&[]);
    let owner = owner(&files, "WAL");
    let dir = files.root().join(".local/share/opencode");
    let before = contents(&dir);
    assert_eq!(before.keys().collect::<Vec<_>>(), ["opencode.db", "opencode.db-shm", "opencode.db-wal"]);
    check(&files);
    let after = contents(&dir);
    // The -shm file is where SQLite records its readers.
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert_eq!((&after["opencode.db"], &after["opencode.db-wal"]), (&before["opencode.db"], &before["opencode.db-wal"]));
    // The owner continues to write, and what it writes is read.
    owner.execute("INSERT INTO part VALUES ('prt_65', 'msg_12', 'ses_1', '{\"type\":\"text\",\"text\":\"Still looking.\"}')", []).unwrap();
    let (source, sessions) = listed(&files);
    assert!(events(source.as_ref(), &sessions[0], &TranscriptCursor::default()).0.contains("Still looking."));
}

#[test]
fn a_database_at_rest_is_read_without_leaving_a_file() {
    for mode in ["WAL", "DELETE"] {
        let files = Files::new(&[]);
        drop(owner(&files, mode));
        let dir = files.root().join(".local/share/opencode");
        let before = contents(&dir);
        assert_eq!(before.keys().collect::<Vec<_>>(), ["opencode.db"]);
        check(&files);
        assert_eq!(contents(&dir), before, "in mode {mode}");
    }
}

#[test]
fn a_log_that_a_crash_left_behind_is_read_from_a_copy() {
    let files = Files::new(&[]);
    let owner = owner(&files, "WAL");
    let crashed = Files::new(&[]);
    for (name, bytes) in contents(&files.root().join(".local/share/opencode")) {
        if !name.ends_with("-shm") {
            crashed.put(&format!(".local/share/opencode/{name}"), &bytes);
        }
    }
    drop(owner);
    let dir = crashed.root().join(".local/share/opencode");
    let before = contents(&dir);
    assert!(!before["opencode.db-wal"].is_empty());
    check(&crashed);
    assert_eq!(contents(&dir), before);
}

#[cfg(unix)]
#[test]
fn a_read_only_directory_is_no_obstacle() {
    use std::os::unix::fs::PermissionsExt;
    let files = Files::new(&[]);
    drop(owner(&files, "WAL"));
    let dir = files.root().join(".local/share/opencode");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o500)).unwrap();
    check(&files);
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn the_stamp_of_the_store_changes_with_it_and_only_then() {
    let files = Files::new(&[]);
    let owner = owner(&files, "WAL");
    let stamp = || listed(&files).0.stamp();
    let before = stamp();
    assert!(before.is_some());
    assert_eq!(stamp(), before);
    owner.execute("UPDATE session SET title = 'x'", []).unwrap();
    assert_ne!(stamp(), before);
}

#[test]
fn an_answer_that_comes_after_its_message_is_archived() {
    let files = Files::new(&[]);
    let owner = owner(&files, "WAL");
    let archive = ChatArchive::new(files.root().join("archive"));
    let sync = || {
        let syncer = Syncer {
            sources: open_sources(&Roots::under(files.root())),
            archive: archive.clone(),
            settings: ChatSettings { on: true, retention: Retention { days: 0, bytes: 0 }, ..ChatSettings::default() },
            redact: Box::new(|text| text.into()),
            clock: Arc::new(SystemClock),
            project: None,
            memo: SyncMemo::default(),
        };
        syncer.sync(SyncLimits::default(), &mut |_| {}).unwrap()
    };
    owner.execute("INSERT INTO message VALUES ('msg_14', 'ses_1', 1768471207000, '{\"role\":\"assistant\"}')", []).unwrap();
    sync();
    let last = || archive.read(OPENCODE_HOST, "ses_1").unwrap().unwrap().1.pop().unwrap().text;
    assert_eq!(last(), "Looking.\n\n- `read filePath=a.rs`");
    owner
        .execute("INSERT INTO part VALUES ('prt_99', 'msg_14', 'ses_1', '{\"type\":\"text\",\"text\":\"It was \\ud83d late\"}')", [])
        .unwrap();
    sync();
    assert_eq!(last(), "It was \u{fffd} late");
    // A part that grows or changes is archived once, in its last form.
    let count = archive.list().unwrap().chats.len();
    for text in ["It was late; then", "Never mind."] {
        let data = format!("{{\"type\":\"text\",\"text\":\"{text}\"}}");
        owner.execute("UPDATE part SET data = ?1 WHERE id = 'prt_99'", [data]).unwrap();
        owner.execute("INSERT INTO message VALUES (?1, 'ses_1', 1768471209000, '{}')", [format!("msg_2{}", text.len())]).unwrap();
        sync();
        assert_eq!(last(), text);
    }
    assert_eq!(archive.list().unwrap().chats.len(), count);
    owner.execute("UPDATE part SET data = '{\"type\":\"text\",\"text\":\"It was \\ud83d late\"}' WHERE id = 'prt_99'", []).unwrap();
    // A database that was locked is read again although it did not change.
    drop(owner);
    fs::remove_dir_all(archive.dir()).unwrap();
    let owner = Connection::open(files.root().join(DATABASE)).unwrap();
    owner.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE").unwrap();
    let outcome = sync();
    assert!(outcome.problems[0].1.what.contains("locked"), "{outcome:?}");
    owner.execute_batch("ROLLBACK").unwrap();
    assert_eq!((sync().problems.len(), last()), (1, "It was \u{fffd} late".to_owned()), "one broken part");
    drop(owner);
}

#[test]
fn the_older_files_have_the_same_turns() {
    let storage = |rest: &str| format!(".local/share/opencode/storage/{rest}");
    let files = Files::new(&[
        (
            &storage("session/proj/ses_1.json"),
            r#"{"id":"ses_1","directory":"/home/ada/app","title":"Login","time":{"created":1768471200000,"updated":1768471260000}}"#,
        ),
        (&storage("session/proj/ses_2.json"), r#"{"id":"ses_2","parentID":"ses_1","directory":"/home/ada/app","title":"never"}"#),
        (&storage("message/ses_1/msg_11.json"), r#"{"id":"msg_11","role":"user","time":{"created":1768471200000}}"#),
        (&storage("message/ses_1/msg_12.json"), r#"{"id":"msg_12","role":"assistant","time":{"created":1768471205000}}"#),
        (&storage("part/msg_11/prt_1.json"), r#"{"type":"text","text":"Fix the login"}"#),
        (&storage("part/msg_12/prt_2.json"), r#"{"type":"text","text":"Looking."}"#),
        (&storage("part/msg_12/prt_3.json"), r#"{"type":"tool","tool":"read","state":{"input":{"filePath":"a.rs"}}}"#),
    ]);
    let (source, sessions) = listed(&files);
    let found: Vec<_> = sessions.iter().map(|s| (s.key.as_str(), s.project_dir.as_ref().unwrap().to_str().unwrap())).collect();
    assert_eq!(found, [("ses_1", "/home/ada/app")]);
    assert_eq!(
        events(source.as_ref(), &sessions[0], &TranscriptCursor::default()).0,
        "info started=10:00:00\n1 user 10:00:00 [msg_11] \"Fix the login\"\n2 assistant 10:00:05 [msg_12] \"Looking.\"\n3 tool 10:00:05 [msg_12] \"read filePath=a.rs\"\n"
    );
    let before = sessions[0].stamp;
    files.put(&storage("part/msg_12/prt_4.json"), br#"{"type":"text","text":"Late."}"#);
    assert_ne!(listed(&files).1[0].stamp, before, "a late part changes the stamp");
    // After the migration they are read from the database.
    drop(owner(&files, "WAL"));
    let (_, sessions) = listed(&files);
    assert!(sessions.iter().all(|session| session.path.ends_with("opencode.db")), "{sessions:?}");
}
