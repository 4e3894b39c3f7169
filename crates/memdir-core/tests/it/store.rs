//! The contract of a store: one story that every implementation passes.

use crate::file_store::{intent, path};
use memdir_core::{
    Actor, Change, ChangeFilter, Check, CheckRule, Error, Expect, FileEdit, FileStore, Index, List, Memdir, Mount, MountInfo, Recall,
    Result, Role, Search, Searcher, Store, Verb, Version,
    internal::store::{
        change_with,
        mounts::{self, FileKind},
        stop::Stop,
    },
    testing::{FixedClock, RamIndex, RamStore},
};
use memdir_index::TantivyIndex;
use std::{fs, path::Path, sync::Arc};
use tempfile::TempDir;

#[test]
fn the_store_in_memory_keeps_the_contract() {
    contract(&RamStore::default());
}

#[test]
fn the_store_over_directories_keeps_the_contract() {
    let home = TempDir::new().unwrap();
    contract(&FileStore::open(&[Mount::new("", home.path().join("memory"), home.path().join("journal"))]).unwrap());
}

fn edit(name: &str, bytes: Option<&[u8]>) -> FileEdit {
    FileEdit { path: path(name), bytes: bytes.map(<[u8]>::to_vec), role: Role::Memory }
}

fn make(store: &dyn Store, verb: Verb, edits: &[FileEdit]) -> Result<Change> {
    let touches: Vec<_> = edits.iter().map(|edit| edit.path.clone()).collect();
    store.change(&intent(verb), &touches, &mut |_| Ok(edits.to_vec()))
}

fn listing(store: &dyn Store, under: &str) -> Vec<String> {
    store.list(under).unwrap().entries.into_iter().map(|entry| entry.path.to_string()).collect()
}

fn contract(store: &dyn Store) {
    // Nothing is there, and looking makes nothing.
    assert_eq!(store.get(&path("a")).unwrap(), None);
    assert_eq!((listing(store, ""), store.changes(&ChangeFilter::default()).unwrap().len()), (vec![], 0));

    // Any bytes come back unaltered, under the name with or without `.md`.
    let odd = b"\xff\x00\r\nlast line without an end";
    let first = make(store, Verb::Write, &[edit("a.md", Some(odd)), edit("deep/b.md", Some(b""))]).unwrap();
    let stored = store.get(&path("a")).unwrap().unwrap();
    assert_eq!((stored.path.as_str(), stored.bytes.as_slice(), stored.version), ("a.md", odd.as_slice(), Version::from_content(odd)));
    assert_eq!(store.get(&path("deep/b.md")).unwrap().unwrap().bytes, b"");
    assert_eq!(listing(store, ""), ["a.md", "deep/b.md"]);
    assert_eq!((listing(store, "deep"), listing(store, "dee")), (vec!["deep/b.md".to_owned()], vec![]));
    assert_eq!(
        first.files.iter().map(|file| (file.path.as_str(), file.before, file.after.is_some())).collect::<Vec<_>>(),
        [("a.md", None, true), ("deep/b.md", None, true)]
    );

    // A stamp changes with its file, and tells a missing one.
    let stamps = store.stamps(&[path("a.md"), path("a"), path("deep/b.md")]).unwrap();
    assert_eq!((stamps[0], stamps[1], stamps[2].map(|stamp| stamp.size)), (Some(stored.stamp), None, Some(0)));

    // What changes nothing is no change.
    assert_eq!(make(store, Verb::Write, &[edit("a.md", Some(odd))]).unwrap().files, []);
    assert_eq!(store.changes(&ChangeFilter::default()).unwrap().len(), 1);

    // A plan sees the state, and one that fails leaves it.
    let refused = store.change(&intent(Verb::Write), &[path("a.md")], &mut |view| {
        Expect::Absent.check(&path("a.md"), view.get(&path("a.md"))?.map(|stored| stored.version))?;
        Ok(vec![edit("a.md", Some(b"overwritten"))])
    });
    assert!(matches!(refused, Err(Error::Exists { .. })));
    let huge = vec![b'x'; memdir_core::internal::base::limits::MEMORY_BYTES + 1];
    assert!(matches!(make(store, Verb::Write, &[edit("a.md", Some(b"new")), edit("huge.md", Some(&huge))]), Err(Error::TooLarge { .. })));
    assert_eq!(store.get(&path("a")).unwrap().unwrap().bytes, odd);

    // Every version stays readable, newest change first, also of what was removed.
    make(store, Verb::Append, &[edit("a.md", Some(b"two"))]).unwrap();
    let gone = make(store, Verb::Delete, &[edit("a.md", None)]).unwrap();
    assert_eq!(store.get(&path("a")).unwrap(), None);
    for text in [odd.as_slice(), b"two"] {
        assert_eq!(store.text_at(&path("a.md"), Version::from_content(text)).unwrap().as_deref(), Some(text));
    }
    assert_eq!(store.text_at(&path("a.md"), Version::from_content(b"never")).unwrap(), None);
    let of_a = store.changes(&ChangeFilter { path: Some(path("a.md")), ..ChangeFilter::default() }).unwrap();
    assert_eq!(of_a.iter().map(|change| change.verb).collect::<Vec<_>>(), [Verb::Delete, Verb::Append, Verb::Write]);
    let by_id = store.changes(&ChangeFilter { id: Some(gone.id.0.clone()), ..ChangeFilter::default() }).unwrap();
    assert_eq!(by_id, [gone]);
    assert_eq!(store.changes(&ChangeFilter { most: 2, ..ChangeFilter::default() }).unwrap().len(), 2);
    assert_eq!(store.journal_size().unwrap().changes, 3);

    // A handle that is stopped reads nothing and changes nothing, also in the middle of a plan; the store itself goes on.
    let stop = Stop::default();
    let stoppable = store.with_stop(&stop);
    assert_eq!(listing(&*stoppable, ""), ["deep/b.md"]);
    let stopped = stoppable.change(&intent(Verb::Write), &[path("c.md")], &mut |view| {
        stop.stop();
        assert!(matches!(view.get(&path("deep/b.md")), Err(Error::Unavailable { .. })));
        Ok(vec![edit("c.md", Some(b"late"))])
    });
    assert!(matches!(stopped, Err(Error::Unavailable { .. })));
    assert!(stoppable.get(&path("deep/b")).is_err() && stoppable.list("").is_err() && stoppable.stamps(&[path("deep/b.md")]).is_err());
    assert!(
        stoppable.changes(&ChangeFilter::default()).is_err() && stoppable.text_at(&path("a.md"), Version::from_content(b"two")).is_err()
    );
    assert_eq!((listing(store, ""), store.journal_size().unwrap().changes), (vec!["deep/b.md".to_owned()], 3));
}

/// The value of the last call of a plan counts, however often a store calls it.
#[test]
fn a_plan_returns_a_value_with_its_edits() {
    let store = RamStore::default();
    let mut calls = 0;
    let (change, value) = change_with(&store, &intent(Verb::Write), &[path("a.md")], |view| {
        calls += 1;
        assert_eq!(view.get(&path("a.md"))?, None, "every call sees the state before the change");
        Ok((vec![edit("a.md", Some(b"text"))], calls))
    })
    .unwrap();
    assert_eq!((change.files.len(), value), (1, calls));
    let refused = change_with(&store, &intent(Verb::Write), &[path("b.md")], |_| -> Result<(Vec<FileEdit>, ())> {
        Err(Error::Exists { path: path("b.md") })
    });
    assert!(matches!(refused, Err(Error::Exists { .. })));
    assert_eq!(listing(&store, ""), ["a.md"]);
}

/// A space with a file of every kind, with a search index.
struct Kinds {
    _home: TempDir,
    memdir: Memdir,
}

const TOPICS: [(&str, &str); 6] = [
    ("MEMORY.md", "# Memory\n\nThe zebra stands in the entrypoint.\n"),
    ("index.md", "The giraffe handbook lists every giraffe keeper.\n"),
    ("notes/deploy.md", "The elephant release is on Tuesdays.\n"),
    ("notes/memory.tests.md", "How we test the penguin memory subsystem.\n"),
    ("memory.tests.md", "- Where is the walrus? → nothing\n"),
    ("logs/2026/03/2026-03-01.md", "The flamingo meeting was long.\n"),
];

impl Kinds {
    fn new(index: impl Fn(&Path, &MountInfo) -> Arc<dyn Index>) -> Kinds {
        let home = TempDir::new().unwrap();
        let root = home.path().join("memory");
        for (name, text) in TOPICS {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let store = FileStore::open(&[Mount::new("", &root, home.path().join("journal"))]).unwrap();
        let clock = Arc::new(FixedClock("2026-03-01T12:00:00Z".parse().unwrap()));
        let searcher = Searcher::new(&store, None, clock.clone(), |info| index(home.path(), info));
        let actor = Actor { name: "ada".into(), session: None };
        Kinds { memdir: Memdir::with_clock(Arc::new(store), actor, clock).with_searcher(searcher), _home: home }
    }

    fn found(&self, word: &str) -> Vec<String> {
        let mut paths: Vec<String> =
            self.memdir.search(&Search::new(word)).unwrap().hits.into_iter().map(|hit| hit.path.to_string()).collect();
        paths.dedup();
        paths
    }
}

/// `notes/memory.tests.md` had an entrypoint line but was neither listed nor found; `index.md` beside `MEMORY.md` was found but
/// neither checked nor recalled.
#[test]
fn every_operation_has_the_same_idea_of_a_memory() {
    let tantivy = |home: &Path, info: &MountInfo| -> Arc<dyn Index> {
        Arc::new(TantivyIndex::for_mount(&home.join("cache"), &info.root, &info.rules, None))
    };
    for kinds in [Kinds::new(tantivy), Kinds::new(|_, _| Arc::new(RamIndex::default()))] {
        let memdir = &kinds.memdir;
        let memories = ["index", "logs/2026/03/2026-03-01", "notes/deploy", "notes/memory.tests"];
        let listed: Vec<String> = memdir.list(&List::default()).unwrap().memories.into_iter().map(|memory| memory.name).collect();
        assert_eq!(listed, memories);
        assert_eq!(memdir.stats().unwrap().files, memories.len());

        let unlisted: Vec<String> = memdir.repair(false).unwrap()[0].missing.iter().map(ToString::to_string).collect();
        assert_eq!(unlisted, ["index.md", "notes/deploy.md", "notes/memory.tests.md"], "every memory but a log needs a line");

        let checked = memdir.check(&Check::default()).unwrap();
        let typeless: Vec<&str> =
            checked.findings.iter().filter(|found| found.rule == CheckRule::Type).map(|found| found.path.as_str()).collect();
        assert_eq!(typeless, ["index.md", "notes/deploy.md", "notes/memory.tests.md"]);

        for (word, path) in [
            ("zebra", vec!["MEMORY.md"]),
            ("giraffe", vec!["index.md"]),
            ("elephant", vec!["notes/deploy.md"]),
            ("penguin", vec!["notes/memory.tests.md"]),
            ("walrus", vec![]),
            ("flamingo", vec!["logs/2026/03/2026-03-01.md"]),
        ] {
            assert_eq!(kinds.found(word), path, "{word}");
        }
        let recalled = memdir.recall(&Recall { message: Some("Who is in the giraffe handbook?"), ..Recall::default() }).unwrap();
        let recalled: Vec<&str> = recalled.shown.iter().map(|shown| shown.name.as_str()).collect();
        assert_eq!(recalled, ["index"]);

        // Saving each of them again keeps all of that.
        memdir.repair(true).unwrap();
        let lines = memdir.entrypoint("").unwrap().content;
        for name in ["index.md", "notes/deploy.md", "notes/memory.tests.md"] {
            assert!(lines.contains(&format!("]({name})")), "{name} in {lines}");
        }
        assert!(!lines.contains("](memory.tests.md)") && !lines.contains("logs/"), "{lines}");
    }
}

/// An `index.md` without a `MEMORY.md` is the entrypoint.
#[test]
fn the_only_index_is_the_entrypoint() {
    let home = TempDir::new().unwrap();
    let root = home.path().join("memory");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("index.md"), "# Index\n").unwrap();
    let store = FileStore::open(&[Mount::new("", &root, home.path().join("journal"))]).unwrap();
    assert_eq!(mounts::file_kind(&store, &path("index.md")), FileKind::Entrypoint);
    fs::write(root.join("MEMORY.md"), "# Memory\n").unwrap();
    assert_eq!(mounts::file_kind(&store, &path("index.md")), FileKind::Memory);
    for (name, kind) in [
        ("MEMORY.md", FileKind::Entrypoint),
        ("notes/MEMORY.md", FileKind::Memory),
        ("MEMORY.page-001.md", FileKind::Page),
        ("notes/MEMORY.page-001.md", FileKind::Memory),
        ("memory.tests.md", FileKind::Tests),
        ("notes/memory.tests.md", FileKind::Memory),
        ("logs/2026/03/2026-03-01.md", FileKind::Log),
        ("notes/logs/a.md", FileKind::Memory),
        ("logs.md", FileKind::Memory),
    ] {
        assert_eq!(mounts::file_kind(&store, &path(name)), kind, "{name}");
    }
}

/// The longest prefix owns a name; a name that equals a prefix is not below it.
#[test]
fn a_name_belongs_to_the_mount_with_the_longest_prefix() {
    let home = TempDir::new().unwrap();
    let mount = |prefix: &str| Mount::new(prefix, home.path().join(prefix.replace('/', "-") + "x"), home.path().join("journal"));
    let all = [mount(""), mount("team"), mount("agent/reviewer")];
    let owner = |name| mounts::locate(&all, name).map(|(mount, rel)| (mount.prefix.as_str(), rel));
    assert_eq!(owner("notes/a.md"), Some(("", "notes/a.md")));
    assert_eq!(owner("team/a.md"), Some(("team", "a.md")));
    assert_eq!(owner("teams/a.md"), Some(("", "teams/a.md")));
    assert_eq!(owner("team"), Some(("", "team")));
    assert_eq!(owner("agent/reviewer/deep/a.md"), Some(("agent/reviewer", "deep/a.md")));
    assert_eq!(mounts::locate(&all[1..], "notes/a.md").map(|(mount, _)| &mount.prefix), None);
}
