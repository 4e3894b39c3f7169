//! Archived conversations in searches: found with their place, and never ranked above memories that answer.

use jiff::{Timestamp, tz::TimeZone};
use memdir_chats::{ChatArchive, ChatSettings, Retention, Roots, SyncMemo, Syncer, open_sources};
use memdir_core::{
    Access, Actor, Clock, EntrypointMode, FileStore, Index, List, Memdir, Mount, MountInfo, Read, Search, Searcher, Source, SystemClock,
};
use memdir_index::TantivyIndex;
use std::{borrow::Cow, fmt::Write as _, fs, path::Path, sync::Arc};
use tempfile::TempDir;

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        "2026-02-01T00:00:00Z".parse().unwrap()
    }
    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }
}

fn space(dir: &Path) -> Memdir {
    let journal = |name: &str| dir.join("journal").join(name);
    let chats = Mount {
        access: Access::ReadOnly,
        source: Source::Chat,
        entrypoint: EntrypointMode::Off,
        apart: true,
        only: vec!["*/*.md".into()],
        ..Mount::new("chats", dir.join("chats"), journal("chats"))
    };
    fs::create_dir_all(dir.join("chats")).unwrap();
    let vault = FileStore::open(&[Mount::new("", dir.join("memory"), journal("memory")), chats]).unwrap();
    let memdir = Memdir::new(Arc::new(vault), Actor { name: "ada".into(), session: None });
    let index =
        |info: &MountInfo| -> Arc<dyn Index> { Arc::new(TantivyIndex::for_mount(&dir.join("cache"), &info.root, &info.rules, None)) };
    let searcher = Searcher::new(memdir.store(), None, Arc::new(SystemClock), index).with_chat_locator(memdir_chats::chat_place);
    memdir.with_searcher(searcher)
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn user(uuid: u32, text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"cwd\":\"/home/ada/app\",\"uuid\":\"u{uuid}\",\"timestamp\":\"2026-01-15T10:00:{uuid:02}Z\",\"message\":{{\"content\":\"{text}\"}}}}\n"
    )
}

#[test]
fn a_turn_is_found_in_a_live_conversation_with_its_place() {
    let dir = TempDir::new().unwrap();
    let transcript = dir.path().join(".claude/projects/-x/s1.jsonl");
    put(&transcript, &(user(1, "Why is the login slow?") + &user(2, "The hashing runs twice per request") + &user(3, "Thanks, fixed")));
    let settings = ChatSettings { on: true, retention: Retention { days: 0, bytes: 0 }, ..ChatSettings::default() };
    let syncer = Syncer {
        sources: open_sources(&Roots::under(dir.path())),
        archive: ChatArchive::new(dir.path().join("chats")),
        settings,
        redact: Box::new(|text| Cow::Borrowed(text)),
        clock: Arc::new(Still),
        project: None,
        memo: SyncMemo::default(),
    };
    let memdir = space(dir.path()).with_chats(Arc::new(syncer));
    let about_hashing = Search { source: Some(Source::Chat), ..Search::new("what about hashing twice") };
    assert_eq!(memdir.search(&about_hashing).unwrap().hits.len(), 0, "a search reads no transcripts");
    assert_eq!((memdir.catch_up_chats(Some(Source::Memory)), memdir.search(&about_hashing).unwrap().hits.len()), (None, 0));
    assert_eq!(memdir.catch_up_chats(Some(Source::Chat)), None);
    let hits = memdir.search(&about_hashing).unwrap().hits;
    // The turn itself is best; those beside it are about the same.
    assert_eq!(hits.iter().map(|hit| hit.lines.as_str()).collect::<Vec<_>>(), ["19-21", "13-17", "23-25"]);
    let (hit, place) = (&hits[0], hits[0].chat.as_ref().unwrap());
    assert_eq!(hit.path.as_str(), "chats/claude-code/s1.md");
    assert_eq!(
        (place.host.as_str(), place.title.as_str(), place.project.as_deref()),
        ("claude-code", "Why is the login slow?", Some("/home/ada/app"))
    );
    assert_eq!((place.before.as_deref(), place.after.as_deref()), (Some("Why is the login slow?"), Some("Thanks, fixed")));
    assert_eq!(place.resume.as_deref(), Some("cd /home/ada/app && claude --resume s1"));
    assert_eq!(place.at.unwrap().to_string(), "2026-01-15T10:00:02Z");

    // The lines of the hit, read, are its text.
    let lines = Some(hit.lines.parse().unwrap());
    let reading = memdir.read(&Read { lines, ..Read::all(hit.path.clone()) }).unwrap();
    assert_eq!(reading.content, hit.text);

    // A new turn is found after it was read.
    put(&transcript, &(fs::read_to_string(&transcript).unwrap() + &user(4, "And now the kangaroo sorting")));
    assert_eq!(memdir.catch_up_chats(None), None);
    let hits = memdir.search(&Search::new("kangaroo sorting")).unwrap().hits;
    assert_eq!((hits[0].source, hits[0].text.lines().last()), (Source::Chat, Some("And now the kangaroo sorting")));
    assert_eq!(memdir.search(&Search { source: Some(Source::Memory), ..Search::new("kangaroo sorting") }).unwrap().hits.len(), 0);

    // They are not memories.
    assert_eq!(memdir.list(&List::default()).unwrap().memories, []);
    assert_eq!(memdir.list(&List { topic: "chats".into(), ..List::default() }).unwrap().memories.len(), 1);
}

#[test]
fn while_chats_are_off_the_answer_names_the_command_that_turns_them_on() {
    let dir = TempDir::new().unwrap();
    let vault = FileStore::open(&[Mount::new("", dir.path().join("memory"), dir.path().join("journal"))]).unwrap();
    let memdir = Memdir::new(Arc::new(vault), Actor { name: "ada".into(), session: None });
    let index = |info: &MountInfo| -> Arc<dyn Index> {
        Arc::new(TantivyIndex::for_mount(&dir.path().join("cache"), &info.root, &info.rules, None))
    };
    let searcher = Searcher::new(memdir.store(), None, Arc::new(SystemClock), index).with_chat_locator(memdir_chats::chat_place);
    let answer = memdir.with_searcher(searcher).search(&Search { source: Some(Source::Chat), ..Search::new("login") }).unwrap();
    assert_eq!((answer.hits.len(), answer.notes), (0, vec!["chats are off until the user runs: memdir chats on".to_owned()]));
}

/// Twenty thousand turns that use the words of every question, and five hundred memories of which ten answer one.
#[test]
fn memories_that_answer_are_among_the_first_however_many_chats_there_are() {
    let dir = TempDir::new().unwrap();
    const TOPICS: [&str; 10] = ["deploy", "backup", "login", "billing", "cache", "search", "export", "webhook", "migration", "sandbox"];
    for file in 0..1_000 {
        let mut text = format!("---\nhost: claude-code\nsession: s{file}\ntitle: talk {file}\nturns: 100\n---\n\n# talk {file}\n");
        for turn in 0..100 {
            let (topic, speaker) = (TOPICS[(file + turn) % 10], if turn % 2 == 0 { "User" } else { "Assistant" });
            let _ = write!(
                text,
                "\n## {speaker} (2026-01-15 10:00:00Z)\n\nThe {topic} window: when is the {topic} allowed, and who decides the {topic} window number {turn}?\n"
            );
        }
        put(&dir.path().join(format!("chats/claude-code/s{file}.md")), &text);
    }
    for n in 0..490 {
        put(
            &dir.path().join(format!("memory/notes/n{n}.md")),
            &format!("# Note {n}\n\nSomething about part {n} of the house and its garden.\n"),
        );
    }
    for topic in TOPICS {
        put(
            &dir.path().join(format!("memory/rules/{topic}.md")),
            &format!("# {topic} window\n\nThe {topic} is allowed on Tuesdays; Ada decides the {topic} window.\n"),
        );
    }
    let memdir = space(dir.path());
    for topic in TOPICS {
        let hits = memdir.search(&Search::new(format!("when is the {topic} allowed and who decides its window"))).unwrap().hits;
        let place = hits.iter().position(|hit| hit.path.as_str() == format!("rules/{topic}.md"));
        assert!(
            place.is_some_and(|place| place < 3),
            "{topic}: {:?}",
            hits.iter().map(|hit| (hit.path.as_str(), hit.score)).collect::<Vec<_>>()
        );
        assert!(hits.iter().any(|hit| hit.source == Source::Chat), "chats are found as well");
        // The limit decides where the list ends, not which hits are first.
        let ten: Vec<_> = hits.iter().map(|hit| (hit.path.clone(), hit.lines.clone())).collect();
        for k in [1, 2, 3, 5] {
            let fewer = memdir
                .search(&Search { max_results: k, ..Search::new(format!("when is the {topic} allowed and who decides its window")) })
                .unwrap()
                .hits;
            assert_eq!(fewer.iter().map(|hit| (hit.path.clone(), hit.lines.clone())).collect::<Vec<_>>(), ten[..k.min(ten.len())]);
        }
    }
}
