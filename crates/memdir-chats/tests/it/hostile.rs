//! Transcripts that others prepared: lines of any length and texts of any shape take bounded memory and linear time.

use crate::support::{CLAUDE_CODE, CODEX_HOST, Files, OPENCODE_HOST, events, session};
use memdir_chats::{Roots, TranscriptCursor, candidates::find_in_running};
use memdir_core::internal::base::steps;
use std::{io::Write as _, process::Command};

/// The bytes of the long line.
const LINE: usize = 512 << 20;
/// The memory that the child process may use, in KB: less than the line.
const MEMORY_KB: usize = 300 << 10;
const CHILD: &str = "MEMDIR_TEST_TRANSCRIPT";

/// The text is compressed, so that the file has a few KB. The memory is that of a child process, limited by the system.
#[test]
#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, reason = "the child process reports to its parent")]
fn a_line_of_half_a_gigabyte_is_read_in_bounded_memory() {
    if let Ok(path) = std::env::var(CHILD) {
        let source = (CODEX_HOST.open)(&Roots::under(std::path::Path::new("/nonexistent"))).unwrap();
        let (text, outcome) = events(source.as_ref(), &session(CODEX_HOST, path.as_ref()), &TranscriptCursor::default());
        for line in text.lines() {
            let end = line.char_indices().nth(60).map_or(line.len(), |(at, _)| at);
            println!("event {} ({} bytes)", &line[..end], line.len());
        }
        outcome.problems.iter().for_each(|problem| println!("problem {:?} {}", problem.line, problem.what));
        return;
    }
    let message = |text: &str| {
        format!(
            "{{\"timestamp\":\"2026-01-15T11:00:03Z\",\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":\"{text}\"}}]}}}}\n"
        )
    };
    let files = Files::new(&[]);
    let mut packed = zstd::Encoder::new(Vec::new(), 1).unwrap();
    packed.write_all(message("before").as_bytes()).unwrap();
    let long = message("LONG");
    let (head, tail) = long.split_once("LONG").unwrap();
    packed.write_all(head.as_bytes()).unwrap();
    let piece = vec![b'x'; 1 << 20];
    (0..LINE / piece.len()).for_each(|_| packed.write_all(&piece).unwrap());
    packed.write_all(tail.as_bytes()).unwrap();
    // Many small texts, which no limit of a single one bounds.
    let (head, tail) = long.split_once("{\"type\":\"input_text\",\"text\":\"LONG\"}").unwrap();
    packed.write_all(head.as_bytes()).unwrap();
    let piece = format!("{{\"type\":\"input_text\",\"text\":\"{}\"}},", "y".repeat(1 << 20));
    (0..66).for_each(|_| packed.write_all(piece.as_bytes()).unwrap());
    packed.write_all(format!("{}{tail}", piece.trim_end_matches(',')).as_bytes()).unwrap();
    packed.write_all(message("after").as_bytes()).unwrap();
    let path = files.put("rollout.jsonl.zst", &packed.finish().unwrap());
    let child = Command::new("sh")
        .args(["-c", "ulimit -v \"$0\" && exec \"$@\"", &MEMORY_KB.to_string()])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "hostile::a_line_of_half_a_gigabyte_is_read_in_bounded_memory", "--nocapture"])
        .env(CHILD, &path)
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&child.stdout);
    let lines: Vec<&str> = out
        .lines()
        .filter(|line| (line.starts_with("event ") && !line.starts_with("event info ")) || line.starts_with("problem "))
        .collect();
    assert_eq!(
        lines,
        [
            "event 1 user 11:00:03 [-] \"before\" (28 bytes)",
            "event 2 user 11:00:03 [-] \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx (8388630 bytes)",
            "event 4 user 11:00:03 [-] \"after\" (27 bytes)",
            "problem Some(2) a string in this line is larger than 8 MB and was truncated",
            "problem Some(3) this line is larger than 64 MB and was skipped",
        ],
        "{}\n{out}\n{}",
        child.status,
        String::from_utf8_lossy(&child.stderr)
    );
}

/// The row is in a sparse database as large as a hostile one, and read by a child process whose memory is limited by the system.
#[test]
#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, reason = "the child process reports to its parent")]
fn a_row_larger_than_the_memory_is_skipped_and_reported() {
    const ROW_MB: usize = 320;
    if let Ok(home) = std::env::var(CHILD) {
        let source = (OPENCODE_HOST.open)(&Roots::under(home)).unwrap();
        for session in source.sessions().sessions {
            let (text, outcome) = events(source.as_ref(), &session, &TranscriptCursor::default());
            text.lines().for_each(|line| println!("event {line}"));
            outcome.problems.iter().for_each(|problem| println!("problem {:?} {}", problem.line, problem.what));
        }
        return;
    }
    let files = Files::new(&[(".local/share/opencode/log/x", "")]);
    let owner = rusqlite::Connection::open(files.root().join(".local/share/opencode/opencode.db")).unwrap();
    owner
        .execute_batch(&format!(
            "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER, time_updated INTEGER);
             CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
             CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
             INSERT INTO session VALUES ('ses_1', NULL, '/a', 'T', 1768471200000, 1768471260000);
             INSERT INTO message VALUES ('m1', 'ses_1', 1768471200000, '{{\"role\":\"user\"}}');
             INSERT INTO part VALUES ('p1', 'm1', 'ses_1', '{{\"type\":\"text\",\"text\":\"before\"}}');
             INSERT INTO part VALUES ('p2', 'm1', 'ses_1', zeroblob({}));
             INSERT INTO part VALUES ('p3', 'm1', 'ses_1', '{{\"type\":\"text\",\"text\":\"after\"}}');",
            ROW_MB << 20
        ))
        .unwrap();
    drop(owner);
    let child = Command::new("sh")
        .args(["-c", "ulimit -v \"$0\" && exec \"$@\"", &MEMORY_KB.to_string()])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "hostile::a_row_larger_than_the_memory_is_skipped_and_reported", "--nocapture"])
        .env(CHILD, files.root())
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&child.stdout);
    let lines: Vec<&str> = out.lines().filter(|line| line.starts_with("event ") || line.starts_with("problem ")).collect();
    assert_eq!(
        lines,
        [
            "event info started=10:00:00",
            "event 1 user 10:00:00 [m1] \"before\"",
            "event 3 user 10:00:00 [m1] \"after\"",
            "problem Some(2) this part is larger than 64 MB and was skipped",
        ],
        "{}\n{out}\n{}",
        child.status,
        String::from_utf8_lossy(&child.stderr)
    );
}

#[test]
fn what_was_typed_is_found_in_linear_time() {
    let shapes: &[(&str, fn(usize) -> String)] = &[
        ("tags without an end", |n| "<system-reminder>".repeat(n / 17)),
        ("tags without an angle", |n| "<system-reminder ".repeat(n / 17)),
        ("tags without an angle before one", |n| "<system-reminder ".repeat(n / 17) + ">"),
        ("tags of many names", |n| (0..n / 16).map(|i| format!("<a{i:08}-hook>")).collect()),
        ("tags with an end", |n| "<bash-input>x</bash-input>".repeat(n / 26)),
        ("one tag with many ends", |n| "<system-reminder>".to_owned() + &"</system-reminder>".repeat(n / 18)),
    ];
    for (name, shape) in shapes {
        let steps_of = |bytes: usize| {
            let line = serde_json::json!({"type": "user", "uuid": "u", "timestamp": "2026-01-15T10:00:00Z", "message": {"role": "user", "content": format!("a{}", shape(bytes))}});
            let files = Files::new(&[("s.jsonl", &format!("{line}\n"))]);
            let source = (CLAUDE_CODE.open)(&Roots::under(files.root())).unwrap();
            steps::take_count();
            let (text, _) = events(source.as_ref(), &session(CLAUDE_CODE, &files.root().join("s.jsonl")), &TranscriptCursor::default());
            assert!(text.contains("user 10:00:00"), "{text}");
            steps::take_count()
        };
        let (once, twice) = (steps_of(100_000), steps_of(200_000));
        assert!(once > 10_000 && twice * 10 <= once * 23, "{name}: {once} steps for 100,000 bytes, {twice} for 200,000");
    }
}

#[test]
fn candidates_are_found_in_linear_time() {
    let shapes: &[(&str, &str)] = &[
        ("requests", "Remember. "),
        ("requests in one language after the other", "bitte please y et por favor merke dir dass dies "),
        ("openings", "please and also ok so "),
        ("sentences", "Never use a b c d. "),
        ("ends of sentences", ". ! ? "),
        ("characters without spaces", "请记住不要"),
        ("fences", "```\n"),
        ("quotes", "> remember\n"),
        ("symbols", "a_b=c;{}\n"),
    ];
    let redact: &dyn for<'t> Fn(&'t str) -> std::borrow::Cow<'t, str> = &|text| std::borrow::Cow::Borrowed(text);
    for (name, piece) in shapes {
        let steps_of = |bytes: usize| {
            let mut text = String::new();
            for number in 0..bytes / 4000 {
                let message = format!("{number} {}", piece.repeat(4000 / piece.len()));
                let content = serde_json::json!({"role": "user", "content": message});
                let line = serde_json::json!({"type": "user", "uuid": format!("u{number}"), "timestamp": "2026-01-15T10:00:00Z", "message": content});
                text.push_str(&format!("{line}\n"));
            }
            let files = Files::new(&[("s.jsonl", &text)]);
            steps::take_count();
            find_in_running(CLAUDE_CODE, &files.root().join("s.jsonl"), redact, None, &memdir_core::SystemClock).unwrap();
            steps::take_count()
        };
        let (once, twice) = (steps_of(100_000), steps_of(200_000));
        assert!(once > 10_000 && twice * 10 <= once * 23, "{name}: {once} steps for 100,000 bytes, {twice} for 200,000");
    }
}
