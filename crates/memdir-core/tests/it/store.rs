//! The contract of a store, and which files are memories.

use crate::file_store::{intent, path};
use memdir_core::{
    Actor, Check, CheckRule, Error, FileEdit, FileStore, Index, List, Memdir, Mount, MountInfo, Recall, Result, Role, Search, Searcher,
    Store, Verb,
    internal::store::{
        change_with,
        mounts::{self, FileKind},
    },
    testing::{FixedClock, RamIndex, RamStore, check_change_feed, check_store_contract},
};
use memdir_index::TantivyIndex;
use std::{fs, path::Path, sync::Arc};
use tempfile::TempDir;

#[test]
fn the_store_in_memory_keeps_the_contract() {
    check_store_contract(&RamStore::default()).unwrap();
}

#[test]
fn the_store_over_directories_keeps_the_contract() {
    let home = TempDir::new().unwrap();
    let store = FileStore::open(&[Mount::new("", home.path().join("memory"), home.path().join("journal"))]).unwrap();
    check_store_contract(&store).unwrap();
}

#[test]
fn every_change_is_read_once_while_others_are_made() {
    let home = TempDir::new().unwrap();
    let mount = |prefix: &str, name: &str| Mount::new(prefix, home.path().join(name), home.path().join(format!("journal-{name}")));
    check_change_feed(&FileStore::open(&[mount("", "project"), mount("user", "user")]).unwrap()).unwrap();
}

fn edit(name: &str, bytes: Option<&[u8]>) -> FileEdit {
    FileEdit { path: path(name), bytes: bytes.map(<[u8]>::to_vec), role: Role::Memory }
}

fn listing(store: &dyn Store, under: &str) -> Vec<String> {
    store.list(under).unwrap().entries.into_iter().map(|entry| entry.path.to_string()).collect()
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

    fn hit_names(&self, word: &str) -> Vec<String> {
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
            assert_eq!(kinds.hit_names(word), path, "{word}");
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
