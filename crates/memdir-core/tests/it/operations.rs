//! Operations through [`Memdir`].

use memdir_core::{
    Actor, ChangeFilter, Delete, Error, FileStore, List, Memdir, MemoryPath, Mount, Read, UndoTarget, Verb, Write, WriteMode,
    testing::FixedClock,
};
use std::{fs, sync::Arc};
use tempfile::TempDir;

pub(crate) struct Home {
    pub(crate) dir: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Home { dir: TempDir::new().unwrap() }
    }

    /// A process's view of the one directory, as `ada`.
    pub(crate) fn open(&self) -> Memdir {
        self.open_as("ada")
    }

    pub(crate) fn open_as(&self, name: &str) -> Memdir {
        let mount = Mount::new("", self.dir.path().join("memory"), self.dir.path().join("journal"));
        let clock = FixedClock("2026-03-01T12:00:00Z".parse().unwrap());
        Memdir::with_clock(Arc::new(FileStore::open(&[mount]).unwrap()), Actor { name: name.into(), session: None }, Arc::new(clock))
    }

    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join("memory").join(name)).unwrap_or_else(|e| format!("({e})"))
    }
}

pub(crate) fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

fn save(memdir: &Memdir, name: &str, text: &str) {
    memdir.write(&Write::create(path(name), text)).unwrap();
}

fn names(memdir: &Memdir) -> Vec<String> {
    memdir.list(&List::default()).unwrap().memories.into_iter().map(|memory| memory.name).collect()
}

#[test]
fn saving_writes_the_file_and_its_line_and_undo_removes_both() {
    let home = Home::new();
    let memdir = home.open();
    let mut write = Write::create(path("notes/deploy"), "Push the tag, then wait.\n");
    write.description = Some("How releases go out".into());
    let saved = memdir.write(&write).unwrap();
    assert_eq!(saved.path.as_str(), "notes/deploy.md");
    assert_eq!(home.file("notes/deploy.md"), "---\ndescription: How releases go out\n---\n\nPush the tag, then wait.\n");
    let entrypoint = home.file("MEMORY.md");
    assert!(entrypoint.contains("- [notes/deploy](notes/deploy.md) — How releases go out\n"), "{entrypoint}");
    assert_eq!(names(&memdir), ["notes/deploy"]);
    let undone = memdir.undo(&UndoTarget::Last).unwrap();
    assert_eq!(undone.undone.verb, Verb::Write);
    assert_eq!(names(&memdir), Vec::<String>::new());
    assert!(!home.dir.path().join("memory/MEMORY.md").exists());
    memdir.redo(&UndoTarget::Last).unwrap();
    assert_eq!((names(&memdir), home.file("MEMORY.md")), (vec!["notes/deploy".to_owned()], entrypoint));
}

#[test]
fn undo_keeps_the_lines_others_added_since() {
    let home = Home::new();
    let memdir = home.open();
    save(&memdir, "a", "A.\n");
    save(&memdir, "b", "B.\n");
    let first = memdir.history(&ChangeFilter { path: Some(path("a")), ..Default::default() }).unwrap().remove(0);
    memdir.undo(&UndoTarget::Id(first.id.0)).unwrap();
    assert_eq!(names(&memdir), ["b"]);
    let entrypoint = home.file("MEMORY.md");
    assert!(entrypoint.contains("(b.md)") && !entrypoint.contains("(a.md)"), "{entrypoint}");
}

#[test]
fn undo_refuses_to_lose_a_later_change_and_shows_it() {
    let home = Home::new();
    let memdir = home.open();
    save(&memdir, "a", "one\n");
    let first = memdir.history(&ChangeFilter::default()).unwrap().remove(0);
    memdir.write(&Write::create(path("a"), "two\n").mode(WriteMode::Append)).unwrap();
    match memdir.undo(&UndoTarget::Id(first.id.0)) {
        Err(Error::Conflict { diff, .. }) => assert_eq!(diff, "--- a/a.md\n+++ b/a.md\n@@ -1 +1,2 @@\n one\n+two\n"),
        other => panic!("{other:?}"),
    }
    assert_eq!(home.file("a.md"), "one\ntwo\n");
}

#[test]
fn undo_never_reverts_another_actors_change() {
    let home = Home::new();
    save(&home.open_as("ada"), "ada", "x\n");
    save(&home.open_as("bob"), "bob", "y\n");
    let error = home.open_as("ada").undo(&UndoTarget::Last).unwrap_err().to_string();
    assert!(error.contains("by bob") && error.contains("to undo your newest change"), "{error}");
    home.open_as("ada").undo(&UndoTarget::Mine).unwrap();
    assert_eq!(names(&home.open()), ["bob"]);
}

#[test]
fn undo_goes_further_back_each_time_and_redo_comes_forward() {
    let home = Home::new();
    let memdir = home.open();
    for text in ["one\n", "two\n", "three\n"] {
        memdir.write(&Write::create(path("a"), text).mode(WriteMode::Append)).unwrap();
    }
    let mut seen = Vec::new();
    for step in [UndoTarget::Last, UndoTarget::Last] {
        memdir.undo(&step).unwrap();
        seen.push(home.file("a.md"));
    }
    memdir.redo(&UndoTarget::Last).unwrap();
    seen.push(home.file("a.md"));
    memdir.undo(&UndoTarget::Last).unwrap();
    seen.push(home.file("a.md"));
    assert_eq!(seen, ["one\ntwo\n", "one\n", "one\ntwo\n", "one\n"]);
}

#[test]
fn rename_rewrites_every_reference_and_skips_what_is_read_only() {
    let home = Home::new();
    let memdir = home.open();
    save(&memdir, "deploy", "See [notes](notes.md).\n");
    save(&memdir, "notes", "[[deploy]], [d](deploy.md#how), `mem:deploy` and deployment.\n");
    save(&memdir, "fixed", "[d](deploy.md)\n");
    let mut mount = Mount::new("", home.dir.path().join("memory"), home.dir.path().join("journal"));
    mount.read_only = vec!["fixed".into()];
    let careful = Memdir::new(Arc::new(FileStore::open(&[mount]).unwrap()), Actor { name: "ada".into(), session: None });
    let renamed = careful.rename(&path("deploy"), &path("ops/release")).unwrap();
    assert_eq!((renamed.rewritten, renamed.skipped), (vec!["notes".to_owned()], vec!["fixed".to_owned()]));
    assert_eq!(home.file("notes.md"), "[[ops/release]], [d](ops/release.md#how), `mem:ops/release` and deployment.\n");
    assert_eq!(home.file("ops/release.md"), "See [notes](../notes.md).\n");
    let entrypoint = home.file("MEMORY.md");
    assert!(entrypoint.contains("(ops/release.md)") && !entrypoint.contains("(deploy.md)"), "{entrypoint}");
    careful.undo(&UndoTarget::Last).unwrap();
    assert_eq!(home.file("deploy.md"), "See [notes](notes.md).\n");
    assert!(!home.dir.path().join("memory/ops").exists());
    assert!(matches!(careful.rename(&path("fixed"), &path("moved")), Err(Error::ReadOnly { .. })));
}

#[test]
fn a_write_can_require_the_version_that_was_read() {
    let home = Home::new();
    let memdir = home.open();
    save(&memdir, "a", "one\n");
    let seen = memdir.read(&Read::all(path("a"))).unwrap().version;
    memdir.write(&Write::create(path("a"), "two\n").mode(WriteMode::Replace)).unwrap();
    let mut stale = Write::create(path("a"), "three\n").mode(WriteMode::Replace);
    stale.expect = Some(seen);
    assert!(matches!(memdir.write(&stale), Err(Error::Changed { .. })));
    assert!(matches!(memdir.write(&Write::create(path("a"), "x")), Err(Error::Exists { .. })));
    assert!(matches!(memdir.delete(&Delete { path: path("a"), expect: Some(seen) }), Err(Error::Changed { .. })));
    assert_eq!(home.file("a.md"), "two\n");
}

#[test]
fn replacing_the_body_keeps_the_frontmatter() {
    let home = Home::new();
    let memdir = home.open();
    save(&memdir, "a", "---\r\nname: A # note\r\nodd:   [1,2]\r\n---\r\nold\r\n");
    memdir.write(&Write::create(path("a"), "new\r\n").mode(WriteMode::Replace)).unwrap();
    assert_eq!(home.file("a.md"), "---\r\nname: A # note\r\nodd:   [1,2]\r\n---\r\nnew\r\n");
}

#[test]
fn a_missing_name_suggests_near_ones_and_restore_brings_back_the_deleted() {
    let home = Home::new();
    let memdir = home.open();
    save(&memdir, "deployment", "x\n");
    match memdir.read(&Read::all(path("deploymnt"))) {
        Err(Error::NotFound { near, .. }) => assert_eq!(near, ["deployment"]),
        other => panic!("{other:?}"),
    }
    let deleted = memdir.delete(&Delete { path: path("deployment"), expect: None }).unwrap();
    assert_eq!(names(&memdir), Vec::<String>::new());
    memdir.restore(&path("deployment"), &deleted.version.short()).unwrap();
    assert_eq!((names(&memdir), home.file("deployment.md")), (vec!["deployment".to_owned()], "x\n".to_owned()));
}

#[test]
fn changes_of_an_editor_can_be_undone() {
    let home = Home::new();
    let memdir = home.open();
    save(&memdir, "a", "by memdir\n");
    fs::write(home.dir.path().join("memory/a.md"), "by an editor\n").unwrap();
    let found = memdir.history(&ChangeFilter { path: Some(path("a")), ..Default::default() }).unwrap().remove(0);
    assert_eq!(found.verb, Verb::Found);
    memdir.undo(&UndoTarget::Id(found.id.0)).unwrap();
    assert_eq!(home.file("a.md"), "by memdir\n");
}

#[test]
fn a_memory_an_editor_made_is_named_until_repair_gives_it_a_line() {
    let home = Home::new();
    let memdir = home.open();
    save(&memdir, "a", "A\n");
    fs::write(home.dir.path().join("memory/b.md"), "B from an editor\n").unwrap();
    fs::remove_file(home.dir.path().join("memory/a.md")).unwrap();
    assert_eq!(memdir.entrypoint("").unwrap().unlisted, [path("b.md")]);
    assert_eq!(memdir.read(&Read::all(path("b"))).unwrap().problems.len(), 1);
    let repaired = memdir.repair(true).unwrap().remove(0);
    assert_eq!((repaired.missing, repaired.dead, repaired.removed), (vec![path("b.md")], Vec::new(), vec!["a.md".to_owned()]));
    assert!(home.file("MEMORY.md").contains("- [b](b.md) — B from an editor\n"));
    assert_eq!(memdir.entrypoint("").unwrap().unlisted, []);
}

#[test]
fn bytes_that_are_not_utf8_are_kept_and_never_rewritten_by_accident() {
    let home = Home::new();
    let memdir = home.open();
    let odd = b"caf\xe9\n".to_vec();
    memdir.write(&Write::create(path("odd"), odd.clone())).unwrap();
    let reading = memdir.read(&Read::all(path("odd"))).unwrap();
    assert_eq!((reading.content.as_str(), reading.problems.len()), ("caf\u{fffd}\n", 1));
    let edit = memdir_core::Edit {
        path: path("odd"),
        needle: memdir_core::Needle::Literal("caf".into()),
        with: "x".into(),
        all: false,
        expect: None,
        final_newline: true,
    };
    assert!(matches!(memdir.edit(&edit), Err(Error::BadEdit { .. })));
    memdir.write(&Write::create(path("odd"), "more").mode(WriteMode::Append)).unwrap();
    assert_eq!(fs::read(home.dir.path().join("memory/odd.md")).unwrap(), b"caf\xe9\nmore\n");
}

#[test]
fn several_memories_are_renamed_and_deleted_over_mounts_in_one_change() {
    let dir = TempDir::new().unwrap();
    let mount = |prefix: &str| Mount::new(prefix, dir.path().join(format!("m-{prefix}")), dir.path().join(format!("j-{prefix}")));
    let store = FileStore::open(&[mount(""), mount("user")]).unwrap();
    let memdir = Memdir::new(Arc::new(store), Actor { name: "ada".into(), session: None });
    save(&memdir, "a", "See [[user/taste]], mem:global/taste and [c](c.md).\n");
    save(&memdir, "user/taste", "Tabs. See [[a]].\n");
    save(&memdir, "c", "See [a](a.md), [[user/taste]] and [[a]].\n");
    let text = |name: &str| memdir.read(&Read::all(path(name))).unwrap().content;
    let before = ["a", "user/taste", "c"].map(text);

    let renamed = memdir.rename_all(&[(path("a"), path("user/a")), (path("global/taste"), path("new/taste"))]).unwrap();
    let moved: Vec<(&str, &str)> = renamed.renamed.iter().map(|one| (one.from.name(), one.to.name())).collect();
    assert_eq!(moved, [("a", "user/a"), ("user/taste", "new/taste")]);
    assert_eq!(renamed.rewritten, ["c"]);
    assert_eq!(names(&memdir), ["c", "new/taste", "user/a"]);
    assert_eq!(text("user/a"), "See [[new/taste]], mem:new/taste and [c](../c.md).\n");
    assert_eq!(text("new/taste"), "Tabs. See [[user/a]].\n");
    assert_eq!(text("c"), "See [a](user/a.md), [[new/taste]] and [[user/a]].\n");
    let entrypoints = [text("MEMORY"), text("user/MEMORY")];
    assert!(entrypoints[0].contains("](new/taste.md)") && !entrypoints[0].contains("](a.md)"), "{}", entrypoints[0]);
    assert!(entrypoints[1].contains("](a.md)") && !entrypoints[1].contains("](taste.md)"), "{}", entrypoints[1]);

    let deletes = [("c", None), ("user/a", None)].map(|(name, expect)| Delete { path: path(name), expect });
    let deleted = memdir.delete_all(&deletes).unwrap();
    assert!(deleted.iter().all(|one| one.change == deleted[0].change));
    assert_eq!(names(&memdir), ["new/taste"]);
    assert_eq!(memdir.history(&ChangeFilter::default()).unwrap().len(), 5);
    memdir.undo(&UndoTarget::Last).unwrap();
    memdir.undo(&UndoTarget::Last).unwrap();
    assert_eq!(["a", "user/taste", "c"].map(text), before);
    assert_eq!(names(&memdir), ["a", "c", "user/taste"]);

    // A name that becomes free in the same change is still in use.
    let swap = memdir.rename_all(&[(path("a"), path("c")), (path("c"), path("a"))]);
    assert!(matches!(swap, Err(Error::Exists { .. })), "{swap:?}");
    let missing = [("a", None), ("none", None)].map(|(name, expect)| Delete { path: path(name), expect });
    assert!(matches!(memdir.delete_all(&missing), Err(Error::NotFound { .. })));
    assert_eq!(["a", "user/taste", "c"].map(text), before);
}
