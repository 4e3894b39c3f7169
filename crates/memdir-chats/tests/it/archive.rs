//! The archive: the format of an archived conversation, and that a sync archives everything once, in whatever steps a transcript grows.

use crate::support::{CLAUDE_CODE, CODEX_HOST, Files, GEMINI_HOST};
use jiff::{Timestamp, tz::TimeZone};
use memdir_chats::{
    ChatArchive, ChatSettings, ForgetRule, Reader, Retention, Roots, SyncLimits, SyncMemo, SyncOutcome, Syncer, chat_place, open_sources,
};
use memdir_core::Clock;
use proptest::prelude::*;
use std::{
    borrow::Cow,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

/// A clock that does not advance, or advances by a second per reading.
struct TestClock {
    now: AtomicI64,
    step: i64,
}

impl TestClock {
    fn at(time: &str) -> Arc<Self> {
        Arc::new(TestClock { now: AtomicI64::new(time.parse::<Timestamp>().unwrap().as_second()), step: 0 })
    }

    fn ticking(time: &str) -> Arc<Self> {
        Arc::new(TestClock { now: AtomicI64::new(time.parse::<Timestamp>().unwrap().as_second()), step: 1 })
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.now.fetch_add(self.step, Ordering::Relaxed)).unwrap()
    }
    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }
}

fn redact(text: &str) -> Cow<'_, str> {
    Cow::Owned(text.replace("sk-12345", "[masked]"))
}

fn on() -> ChatSettings {
    ChatSettings { on: true, retention: Retention { days: 0, bytes: 0 }, ..ChatSettings::default() }
}

/// A home directory with transcripts and an archive.
struct Home {
    files: Files,
    archive: ChatArchive,
}

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let files = Files::new(files);
        let archive = ChatArchive::new(files.root().join("archive"));
        Home { files, archive }
    }

    fn sync(&self, settings: &ChatSettings) -> SyncOutcome {
        self.sync_until(settings, &TestClock::at("2026-02-01T00:00:00Z"), SyncLimits::default())
    }

    fn sync_until(&self, settings: &ChatSettings, clock: &Arc<TestClock>, limits: SyncLimits) -> SyncOutcome {
        let syncer = Syncer {
            sources: open_sources(&Roots::under(self.files.root())),
            archive: self.archive.clone(),
            settings: settings.clone(),
            redact: Box::new(redact),
            clock: clock.clone(),
            project: None,
            memo: SyncMemo::default(),
        };
        syncer.sync(limits, &mut |_| {}).unwrap()
    }

    fn archived(&self, host: &Reader, key: &str) -> String {
        fs::read_to_string(self.archive.path(host, key)).unwrap_or_default()
    }

    /// An archived file without the part that differs between homes.
    fn body(&self, host: &Reader, key: &str) -> String {
        let root = self.files.root().display().to_string();
        self.archived(host, key).replace(&root, "~")
    }

    /// All archived files of a session as one text, without what differs between homes or with the number of files.
    fn text(&self, host: &Reader, key: &str) -> String {
        let root = self.files.root().display().to_string();
        let text = self.archive.text(host, key).unwrap().unwrap_or_default().replace(&root, "~");
        text.split_inclusive('\n').filter(|line| !line.starts_with("parts: ")).collect()
    }
}

fn user(uuid: &str, second: u32, text: &str) -> String {
    let content = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"type":"user","cwd":"/home/ada/app","gitBranch":"main","uuid":"{uuid}","timestamp":"2026-01-15T10:00:{second:02}Z","message":{{"role":"user","content":{content}}}}}"#
    ) + "\n"
}

fn assistant(uuid: &str, second: u32, message: &str, content: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{uuid}","timestamp":"2026-01-15T10:00:{second:02}Z","message":{{"id":"{message}","role":"assistant","content":{content}}}}}"#
    ) + "\n"
}

const S1: &str = ".claude/projects/-home-ada-app/s1.jsonl";

fn conversation() -> String {
    [
        user("u1", 1, "Why is `login` slow?\n\nmy key is sk-12345\n## User\nnot a heading"),
        assistant("a1", 2, "m1", r#"[{"type":"text","text":"Let me look."}]"#),
        assistant("a2", 3, "m1", r#"[{"type":"tool_use","name":"Read","input":{"path":"a.rs","key":"sk-12345"}}]"#),
        assistant("a3", 4, "m2", r#"[{"type":"tool_use","name":"Grep","input":{"pattern":"x"}}]"#),
        assistant("a4", 5, "m3", r#"[{"type":"text","text":"It sleeps:\n```rust\nsleep(1);"}]"#),
        r#"{"type":"system","subtype":"compact_boundary","uuid":"c1","timestamp":"2026-01-15T10:00:06Z"}"#.to_owned() + "\n",
        user("u2", 7, "Thanks"),
        r#"{"type":"ai-title","aiTitle":"Slow login, sk-12345"}"#.to_owned() + "\n",
    ]
    .concat()
}

#[test]
fn an_archived_conversation_is_readable_and_contains_no_secret() {
    let home = Home::new(&[(S1, &conversation())]);
    let outcome = home.sync(&on());
    assert_eq!((outcome.sessions, outcome.read, outcome.turns, outcome.left), (1, 1, 4, 0));
    assert_eq!(outcome.written, [home.archive.path(CLAUDE_CODE, "s1")]);
    let text = home.body(CLAUDE_CODE, "s1");
    let (cursor, without): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("cursor: "));
    assert_eq!(cursor.len(), 1);
    assert_eq!(
        without.join("\n"),
        r#"---
host: claude-code
session: s1
title: "Slow login, [masked]"
project: /home/ada/app
branch: main
started: 2026-01-15T10:00:01Z
updated: 2026-01-15T10:00:07Z
source: ~/.claude/projects/-home-ada-app/s1.jsonl
turns: 4
---

# Slow login, [masked]

## User (2026-01-15 10:00:01Z)

Why is `login` slow?

my key is [masked]
\## User
not a heading

## Assistant (2026-01-15 10:00:02Z)

Let me look.

- `Read path=a.rs key=[masked]`
- `Grep pattern=x`

## Assistant (2026-01-15 10:00:05Z)

It sleeps:
```rust
sleep(1);
```

<!-- the conversation was compacted here -->

## User (2026-01-15 10:00:07Z)

Thanks"#
    );
    let (chat, sections) = home.archive.read(CLAUDE_CODE, "s1").unwrap().unwrap();
    assert_eq!(chat.resume().unwrap().to_string(), "cd /home/ada/app && claude --resume s1");
    let lines: Vec<&str> = text.lines().collect();
    for section in &sections {
        let cited = lines[section.lines.0 as usize - 1..section.lines.1 as usize].join("\n");
        assert!(cited.starts_with("## ") && cited.ends_with(section.text.lines().last().unwrap()), "{cited}");
    }
    let times: Vec<_> = sections.iter().map(|section| section.at.unwrap().strftime("%S").to_string()).collect();
    assert_eq!(times, ["01", "02", "05", "07"]);
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_archive() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new(&[(S1, &conversation())]);
    home.sync(&on());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.archive.path(CLAUDE_CODE, "s1")), 0o600);
    assert_eq!((mode(home.archive.dir()), mode(&home.archive.dir().join("claude-code"))), (0o700, 0o700));
    assert_eq!((mode(&home.archive.dir().join(".state.json")), mode(&home.archive.dir().join(".lock"))), (0o600, 0o600));
}

#[test]
fn nothing_is_archived_until_it_is_turned_on() {
    let home = Home::new(&[(S1, &conversation())]);
    assert_eq!(home.sync(&ChatSettings::default()), SyncOutcome { off: true, ..SyncOutcome::default() });
    assert!(!home.archive.dir().exists());
    assert_eq!(home.sync(&ChatSettings { hosts_off: vec![CLAUDE_CODE], ..on() }).sessions, 0);
    let off = ChatSettings { projects_off: vec![PathBuf::from("/home/ada")], ..on() };
    let outcome = home.sync(&off);
    assert_eq!((outcome.read, outcome.turns, outcome.written.len()), (1, 0, 0));
    assert_eq!(home.sync(&off).read, 0, "the session is known to be off");
    assert_eq!(home.sync(&on()).turns, 4, "turned on again");
}

#[test]
fn an_unchanged_session_is_not_read_again_and_a_lost_state_changes_nothing() {
    let home = Home::new(&[(S1, &conversation())]);
    home.sync(&on());
    let before = home.archived(CLAUDE_CODE, "s1");
    assert_eq!(home.sync(&on()).read, 0);
    fs::remove_file(home.archive.dir().join(".state.json")).unwrap();
    let outcome = home.sync(&on());
    assert_eq!((outcome.read, outcome.turns, outcome.written.len()), (1, 0, 0));
    assert_eq!(home.archived(CLAUDE_CODE, "s1"), before);
}

#[test]
fn conversations_that_the_host_deletes_stay_archived() {
    let home = Home::new(&[(S1, &conversation())]);
    home.sync(&on());
    let before = home.archived(CLAUDE_CODE, "s1");
    home.files.put(S1, b"");
    home.sync(&on());
    assert_eq!(home.archived(CLAUDE_CODE, "s1"), before, "an emptied file removes nothing");
    fs::remove_file(home.files.root().join(S1)).unwrap();
    home.sync(&on());
    assert_eq!(home.archived(CLAUDE_CODE, "s1"), before);
}

#[test]
fn a_replaced_transcript_is_archived_anew() {
    let home = Home::new(&[(S1, &conversation())]);
    home.sync(&on());
    home.files.put(S1, (user("z1", 9, "Something else") + &user("z2", 10, &"x".repeat(4000))).as_bytes());
    home.sync(&on());
    let (chat, sections) = home.archive.read(CLAUDE_CODE, "s1").unwrap().unwrap();
    assert_eq!((chat.title.as_str(), chat.turns, sections[0].text.as_str()), ("Something else", 2, "Something else"));
    // The earlier text is still archived under another name, and is forgotten with the conversation.
    let (was, before) = home.archive.read(CLAUDE_CODE, "s1.was1").unwrap().unwrap();
    assert_eq!((was.session.as_str(), was.turns, before.last().unwrap().text.as_str()), ("s1", 4, "Thanks"));
    assert_eq!(home.archive.find("s1").unwrap().key, "s1");
    home.files.put(S1, (user("z1", 9, "Something else") + &user("z2", 10, &"x".repeat(4000)) + &user("z3", 11, "More")).as_bytes());
    home.sync(&on());
    assert!(!home.archive.path(CLAUDE_CODE, "s1.was2").exists(), "nothing was lost this time");
    home.archive
        .forget(&ForgetRule { session: Some("claude-code/s1".into()), ..ForgetRule::default() }, "2026-02-01T00:00:00Z".parse().unwrap())
        .unwrap();
    assert_eq!(home.archive.count(), 0);
}

#[test]
fn a_transcript_that_shrank_removes_nothing() {
    let home = Home::new(&[(S1, &conversation())]);
    home.sync(&on());
    let first = conversation().lines().next().unwrap().to_owned() + "\n";
    home.files.put(S1, first.as_bytes());
    home.sync(&on());
    assert_eq!(home.archive.read(CLAUDE_CODE, "s1.was1").unwrap().unwrap().1.len(), 4);
    assert_eq!(home.archive.read(CLAUDE_CODE, "s1").unwrap().unwrap().1.len(), 1);
    home.files.put(S1, conversation().as_bytes());
    home.sync(&on());
    assert_eq!((home.archive.read(CLAUDE_CODE, "s1").unwrap().unwrap().1.len(), home.archive.count()), (4, 2));
}

#[test]
fn a_record_that_is_repeated_later_is_archived_once() {
    let home = Home::new(&[(S1, &conversation())]);
    home.sync(&on());
    let grown = conversation() + &user("u1", 1, "Why is `login` slow?") + &user("u3", 9, "Next");
    home.files.put(S1, grown.as_bytes());
    home.sync(&on());
    let (_, sections) = home.archive.read(CLAUDE_CODE, "s1").unwrap().unwrap();
    assert_eq!(
        sections.iter().map(|section| section.text.lines().next().unwrap()).collect::<Vec<_>>(),
        ["Why is `login` slow?", "Let me look.", "It sleeps:", "Thanks", "Next"]
    );
}

#[test]
fn a_rewind_removes_turns_that_were_archived_before() {
    let path = ".codex/sessions/2026/01/15/rollout-2026-01-15T10-00-00-r.jsonl";
    let message = |role: &str, text: &str| {
        format!(
            "{{\"timestamp\":\"2026-01-15T10:00:00Z\",\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"input_text\",\"text\":\"{text}\"}}]}}}}\n"
        )
    };
    let first = message("user", "one") + &message("assistant", "1") + &message("user", "two") + &message("assistant", "2");
    let home = Home::new(&[(path, &first)]);
    home.sync(&on());
    let back = "{\"type\":\"event_msg\",\"payload\":{\"type\":\"thread_rolled_back\",\"num_turns\":1}}\n";
    home.files.put(path, (first + back + &message("user", "three")).as_bytes());
    home.sync(&on());
    let (chat, sections) = home.archive.read(CODEX_HOST, "r").unwrap().unwrap();
    let texts: Vec<_> = sections.iter().map(|section| section.text.as_str()).collect();
    assert_eq!((texts, chat.turns), (vec!["one", "1", "three"], 3));
}

#[test]
fn a_rewritten_gemini_message_keeps_its_position() {
    let path = ".gemini/tmp/app/chats/session-a.jsonl";
    let lines = r#"{"sessionId":"full","projectHash":"h","startTime":"2026-01-15T10:00:00Z"}
{"id":"1","timestamp":"2026-01-15T10:00:01Z","type":"user","content":"one"}
{"id":"2","timestamp":"2026-01-15T10:00:02Z","type":"gemini","content":"draft"}
{"id":"3","timestamp":"2026-01-15T10:00:03Z","type":"user","content":"two"}
{"id":"2","timestamp":"2026-01-15T10:00:02Z","type":"gemini","content":"final","toolCalls":[{"name":"ls","args":{}}]}
{"id":"4","timestamp":"2026-01-15T10:00:04Z","type":"user","content":"three"}
{"$rewindTo":"4"}
{"id":"5","timestamp":"2026-01-15T10:00:05Z","type":"user","content":"four"}
"#;
    let home = Home::new(&[(path, lines)]);
    home.sync(&on());
    let (chat, sections) = home.archive.read(GEMINI_HOST, "session-a").unwrap().unwrap();
    let texts: Vec<_> = sections.iter().map(|section| section.text.as_str()).collect();
    assert_eq!(texts, ["one", "final\n\n- `ls`", "two", "four"]);
    assert_eq!(chat.resume().unwrap().to_string(), "gemini --resume full");
}

#[test]
fn a_sync_that_runs_out_of_time_continues_the_next_time() {
    let many: String = (0..50).map(|i| user(&format!("u{i}"), i, &format!("question {i}"))).collect();
    let home = Home::new(&[(S1, &many), (".claude/projects/-x/s2.jsonl", &many)]);
    let clock = TestClock::ticking("2026-02-01T00:00:00Z");
    let start: Timestamp = "2026-02-01T00:00:00Z".parse().unwrap();
    let mut rounds = 0;
    loop {
        let until = Timestamp::from_second(clock.now().as_second() + 20).unwrap();
        let outcome = home.sync_until(&on(), &clock, SyncLimits { until: Some(until), never_wait: false });
        rounds += 1;
        if outcome.left == 0 {
            break;
        }
        assert!(rounds < 100, "since {start} no end");
    }
    assert!(rounds > 3, "{rounds}");
    let whole = Home::new(&[(S1, &many), (".claude/projects/-x/s2.jsonl", &many)]);
    whole.sync(&on());
    for key in ["s1", "s2"] {
        assert_eq!(home.body(CLAUDE_CODE, key), whole.body(CLAUDE_CODE, key));
    }
}

#[test]
fn what_is_forgotten_stays_forgotten() {
    let second = user("w1", 30, "about widgets");
    let home = Home::new(&[(S1, &conversation()), (".claude/projects/-x/s2.jsonl", &second.replace("/home/ada/app", "/home/ada/web"))]);
    home.sync(&on());
    let now: Timestamp = "2026-02-01T00:00:00Z".parse().unwrap();

    // A rule with a time leaves the later turns.
    let before = ForgetRule { before: Some("2026-01-15T10:00:05Z".parse().unwrap()), ..ForgetRule::default() };
    let outcome = home.archive.forget(&before, now).unwrap();
    assert_eq!((outcome.removed.len(), outcome.shortened.len(), outcome.turns), (0, 1, 2));
    let texts = |key: &str| -> Vec<String> {
        let read = home.archive.read(CLAUDE_CODE, key).unwrap();
        read.map_or_else(Vec::new, |(_, sections)| {
            sections.into_iter().map(|section| section.text.lines().next().unwrap().to_owned()).collect()
        })
    };
    assert_eq!(texts("s1"), ["It sleeps:", "Thanks"]);
    assert!(!home.archived(CLAUDE_CODE, "s1").contains("Why is"));

    // Even when the whole transcript is read again.
    fs::remove_file(home.archive.dir().join(".state.json")).unwrap();
    fs::remove_file(home.archive.path(CLAUDE_CODE, "s1")).unwrap();
    home.sync(&on());
    assert_eq!(texts("s1"), ["It sleeps:", "Thanks"]);

    // A project, then one session.
    let outcome = home.archive.forget(&ForgetRule { project: Some("/home/ada/web".into()), ..ForgetRule::default() }, now).unwrap();
    assert_eq!(outcome.removed, [home.archive.path(CLAUDE_CODE, "s2")]);
    let found = home.archive.find("s1").unwrap();
    home.archive.forget(&ForgetRule { session: Some(found.name()), ..ForgetRule::default() }, now).unwrap();
    fs::remove_file(home.archive.dir().join(".state.json")).unwrap();
    home.files.put(S1, (conversation() + &user("u9", 50, "more")).as_bytes());
    home.sync(&on());
    assert_eq!((texts("s1"), texts("s2")), (vec![], vec![]));
    assert!(home.archive.forget(&ForgetRule::default(), now).is_err(), "an empty rule is an error");
}

#[test]
fn conversations_over_the_limits_are_removed_and_do_not_come_back() {
    let text = |day: u32| user("u1", 1, &"word ".repeat(200)).replace("2026-01-15", &format!("2026-01-{day:02}"));
    let names: Vec<String> = (10..20).map(|day| format!(".claude/projects/-x/s{day}.jsonl")).collect();
    let files: Vec<(&str, String)> = names.iter().zip(10..).map(|(name, day)| (name.as_str(), text(day))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let home = Home::new(&files);
    let left = |home: &Home| -> Vec<String> { home.archive.list().unwrap().chats.into_iter().map(|file| file.chat.key).collect() };
    let by_age = ChatSettings { retention: Retention { days: 15, bytes: 0 }, ..on() };
    home.sync(&by_age);
    assert_eq!(left(&home), ["s19", "s18", "s17"]);
    let by_size = ChatSettings { retention: Retention { days: 0, bytes: 3600 }, ..on() };
    let outcome = home.sync(&by_size);
    assert_eq!((left(&home), outcome.removed.len()), (vec!["s19".to_owned(), "s18".to_owned()], 8));
    let outcome = home.sync(&by_size);
    assert_eq!((outcome.read, left(&home).len()), (0, 2));
    home.sync(&ChatSettings { retention: Retention { days: 0, bytes: 10 }, ..on() });
    assert_eq!(left(&home), ["s19"], "the newest stays, whatever its size");
    home.sync(&on());
    assert_eq!(left(&home).len(), 10, "what the host still has comes back when the limits allow it");
}

#[test]
fn one_process_at_a_time_writes() {
    let home = Home::new(&[(S1, &conversation())]);
    home.sync(&on());
    let lock = fs::File::open(home.archive.dir().join(".lock")).unwrap();
    lock.lock().unwrap();
    let clock = TestClock::at("2026-02-01T00:00:00Z");
    let outcome = home.sync_until(&on(), &clock, SyncLimits { until: None, never_wait: true });
    assert!(outcome.busy);
}

#[test]
fn the_time_limit_holds_in_records_without_turns() {
    let noise = format!("{{\"type\":\"progress\",\"data\":\"{}\"}}\n", "x".repeat(1000)).repeat(8_000);
    let text = user("u1", 1, "First") + &noise + &user("u2", 2, "Last");
    let home = Home::new(&[(S1, &text)]);
    // Each reading of the clock takes a second; the limit comes long before the last turn, among the progress records.
    let clock = TestClock::ticking("2026-02-01T00:00:00Z");
    let until = Some("2026-02-01T00:00:08Z".parse().unwrap());
    let outcome = home.sync_until(&on(), &clock, SyncLimits { until, never_wait: true });
    assert_eq!((outcome.turns, outcome.left), (1, 1), "{outcome:?}");
    let archived = home.text(CLAUDE_CODE, "s1");
    assert!(archived.contains("\nFirst\n") && !archived.contains("\nLast\n"), "{archived}");
    home.sync(&on());
    let whole = Home::new(&[(S1, &text)]);
    whole.sync(&on());
    assert_eq!(home.text(CLAUDE_CODE, "s1"), whole.text(CLAUDE_CODE, "s1"));
}

#[test]
fn a_sync_that_stops_between_records_of_the_same_time_continues() {
    // Four records share each second, and the clock stops the sync after every few of them.
    let lines: Vec<String> = (0..60).map(|n| user(&format!("u{n}"), n / 4, &format!("word{n}"))).collect();
    let home = Home::new(&[(S1, &lines.concat())]);
    let clock = TestClock::ticking("2026-02-01T00:00:00Z");
    let mut rounds = 0;
    while {
        let until = Timestamp::from_second(clock.now().as_second() + 20).unwrap();
        home.sync_until(&on(), &clock, SyncLimits { until: Some(until), never_wait: false }).left > 0
    } {
        rounds += 1;
        assert!(rounds < 60, "it starts over each time");
    }
    // A copy of the last record adds nothing.
    let grown = lines.concat() + &lines[59];
    home.files.put(S1, grown.as_bytes());
    home.sync(&on());
    let whole = Home::new(&[(S1, &grown)]);
    whole.sync(&on());
    assert!(rounds >= 2, "{rounds}");
    assert_eq!(home.body(CLAUDE_CODE, "s1"), whole.body(CLAUDE_CODE, "s1"));
}

#[test]
fn an_incomplete_second_reading_removes_nothing() {
    let lines: Vec<String> = (0..60).map(|n| user(&format!("u{n}"), n % 60, &format!("word{n}"))).collect();
    let home = Home::new(&[(S1, &lines.concat())]);
    home.sync(&on());
    let before = home.body(CLAUDE_CODE, "s1");
    // A repeated old record, so that everything is read again, without the time for it.
    home.files.put(S1, (lines.concat() + &lines[0] + &user("new", 59, "the news")).as_bytes());
    let clock = TestClock::ticking("2026-02-01T00:00:00Z");
    let until = Some("2026-02-01T00:00:20Z".parse().unwrap());
    let outcome = home.sync_until(&on(), &clock, SyncLimits { until, never_wait: false });
    assert_eq!((outcome.left, names(&home)), (1, vec!["s1.md".to_owned()]));
    assert_eq!(home.body(CLAUDE_CODE, "s1"), before);
    home.sync(&on());
    assert_eq!(names(&home), ["s1.md"]);
    assert_eq!(home.archive.get(CLAUDE_CODE, "s1").unwrap().unwrap().turns, 61);
}

/// The names of all archived files of Claude Code.
fn names(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.archive.dir().join("claude-code")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_long_conversation_is_one_conversation_in_several_files() {
    let mut home = Home::new(&[]);
    home.archive = home.archive.clone().with_part_bytes(120);
    let lines: Vec<String> = (0..6).map(|n| user(&format!("u{n}"), n, &format!("{n} {}", "word ".repeat(12)))).collect();
    for n in 1..=6 {
        home.files.put(S1, lines[..n].concat().as_bytes());
        home.sync(&on());
    }
    assert_eq!(names(&home), ["s1.md", "s1~1.md", "s1~2.md", "s1~3.md", "s1~4.md", "s1~5.md"]);
    let listed = home.archive.list().unwrap();
    let all: u64 = names(&home).iter().map(|name| fs::metadata(home.archive.dir().join("claude-code").join(name)).unwrap().len()).sum();
    assert_eq!((listed.chats.len(), listed.chats[0].chat.turns, listed.chats[0].bytes, listed.problems.len()), (1, 6, all, 0));
    let (_, sections) = home.archive.read(CLAUDE_CODE, "s1").unwrap().unwrap();
    let parts: Vec<(u64, &str)> = sections.iter().map(|section| (section.part, &section.text[..1])).collect();
    assert_eq!(parts, [(1, "0"), (2, "1"), (3, "2"), (4, "3"), (5, "4"), (0, "5")]);
    let part = fs::read_to_string(home.archive.part_path(CLAUDE_CODE, "s1", 2)).unwrap();
    let place = chat_place(&part, sections[1].lines.1).unwrap();
    assert_eq!((place.session.as_str(), place.resume.as_deref()), ("s1", Some("cd /home/ada/app && claude --resume s1")));

    let before = ForgetRule { before: Some("2026-01-15T10:00:04Z".parse().unwrap()), ..ForgetRule::default() };
    let outcome = home.archive.forget(&before, "2026-02-01T00:00:00Z".parse().unwrap()).unwrap();
    assert_eq!((outcome.turns, outcome.shortened.len(), outcome.removed.len()), (4, 1, 0));
    assert_eq!(names(&home), ["s1.md", "s1~1.md"]);
    home.sync(&on());
    let (chat, sections) = home.archive.read(CLAUDE_CODE, "s1").unwrap().unwrap();
    assert_eq!((chat.turns, sections.iter().map(|section| &section.text[..1]).collect::<Vec<_>>()), (2, vec!["4", "5"]));
    home.archive
        .forget(&ForgetRule { session: Some(chat.name()), ..ForgetRule::default() }, "2026-02-01T00:00:00Z".parse().unwrap())
        .unwrap();
    assert_eq!(names(&home), [""; 0]);
}

#[test]
fn a_replaced_conversation_leaves_no_part_behind() {
    let mut home = Home::new(&[(S1, &(0..5).map(|n| user(&format!("u{n}"), n, &"old ".repeat(30))).collect::<String>())]);
    home.archive = home.archive.clone().with_part_bytes(100);
    home.sync(&on());
    assert_eq!(names(&home).len(), 5);
    home.files.put(S1, user("n0", 50, "Anew").as_bytes());
    home.sync(&on());
    let (was, is): (Vec<String>, Vec<String>) = names(&home).into_iter().partition(|name| name.contains(".was"));
    assert_eq!((is, was.len()), (vec!["s1.md".to_owned()], 5));
    assert!(home.text(CLAUDE_CODE, "s1").ends_with("\n\nAnew\n"));
}

#[derive(Debug, Clone)]
enum Piece {
    User(String),
    Assistant(String, bool),
    Tool,
    Progress,
    Compacted,
    Title(String),
    Broken,
    Again(usize),
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let text = "[a-z \\n#`é漢\"\\\\]{1,40}".prop_filter("not blank", |text| !text.trim().is_empty());
    let piece = prop_oneof![
        4 => text.clone().prop_map(Piece::User),
        4 => (text.clone(), any::<bool>()).prop_map(|(text, same)| Piece::Assistant(text, same)),
        2 => Just(Piece::Tool),
        2 => Just(Piece::Progress),
        1 => Just(Piece::Compacted),
        1 => text.prop_map(Piece::Title),
        1 => Just(Piece::Broken),
        1 => (0_usize..20).prop_map(Piece::Again),
    ];
    prop::collection::vec(piece, 1..25)
}

fn transcript(pieces: &[Piece]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (i, piece) in pieces.iter().enumerate() {
        let (second, uuid) = (i as u32, format!("id-{i}"));
        lines.push(match piece {
            Piece::User(text) => user(&uuid, second, text),
            Piece::Assistant(text, same) => {
                let message = format!("m{}", if *same { 0 } else { i });
                assistant(&uuid, second, &message, &serde_json::to_string(&serde_json::json!([{"type": "text", "text": text}])).unwrap())
            }
            Piece::Tool => assistant(&uuid, second, &format!("m{i}"), r#"[{"type":"tool_use","name":"Read","input":{"path":"a"}}]"#),
            Piece::Progress => format!("{{\"type\":\"progress\",\"uuid\":\"{uuid}\",\"data\":{{\"type\":\"user\",\"text\":\"{}\"}}}}\n", "x".repeat(300)),
            Piece::Compacted => {
                format!("{{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"{uuid}\",\"timestamp\":\"2026-01-15T10:00:{second:02}Z\"}}\n")
            }
            Piece::Title(text) => format!("{{\"type\":\"ai-title\",\"aiTitle\":{}}}\n", serde_json::to_string(text).unwrap()),
            Piece::Broken => "{broken\n".into(),
            Piece::Again(earlier) => lines.get(*earlier).cloned().unwrap_or_else(|| "\n".into()),
        });
    }
    lines.concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A transcript that is read at any points of its growth, including torn lines and characters, is archived as if it had
    /// been read once.
    #[test]
    fn growing_in_any_steps_gives_the_same_text_as_all_at_once(pieces in pieces(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let text = transcript(&pieces);
        let whole = Home::new(&[(S1, &text)]);
        whole.sync(&on());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len())).collect();
        cuts.sort_unstable();
        cuts.push(text.len());
        for part_bytes in [None, Some(100), Some(400)] {
            let mut grown = Home::new(&[]);
            grown.archive = part_bytes.map_or(grown.archive.clone(), |bytes| grown.archive.clone().with_part_bytes(bytes));
            for cut in &cuts {
                grown.files.put(S1, &text.as_bytes()[..*cut]);
                // A crash may lose the state.
                if cut % 3 == 0 {
                    let _ = fs::remove_file(grown.archive.dir().join(".state.json"));
                }
                grown.sync(&on());
            }
            let (grown_text, whole_text) = (grown.text(CLAUDE_CODE, "s1"), whole.text(CLAUDE_CODE, "s1"));
            prop_assert_eq!(grown_text, whole_text);
        }
    }
}
