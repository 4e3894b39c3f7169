//! The journal: damage stays in the records it hits, changes of several mounts are one change, and older formats are readable.

use crate::file_store::{intent, path};
use jiff::Timestamp;
use memdir_core::{
    Actor, Change, ChangeFilter, FileEdit, FileStore, Intent, Memdir, Mount, Role, Store, UndoTarget, Verb, Version, View, Write,
    internal::store::space::narrow,
};
use std::{fs, path::Path, sync::Arc};
use tempfile::TempDir;

fn mount(dir: &Path, prefix: &str, name: &str) -> Mount {
    Mount::new(prefix, dir.join(name), dir.join(format!("journal-{name}")))
}

fn store(dir: &Path) -> FileStore {
    FileStore::open(&[mount(dir, "", "memory")]).unwrap()
}

fn put(store: &FileStore, name: &str, text: Option<&str>) -> Change {
    let edit = FileEdit { path: path(name), bytes: text.map(Into::into), role: Role::Memory };
    store.change(&intent(Verb::Write), &[path(name)], &mut |_| Ok(vec![edit.clone()])).unwrap()
}

fn changes(store: &FileStore) -> Vec<Change> {
    store.changes(&ChangeFilter::default()).unwrap()
}

fn text_at(store: &FileStore, name: &str, text: &str) -> bool {
    matches!(store.text_at(&path(name), Version::from_content(text.as_bytes())), Ok(Some(bytes)) if bytes == text.as_bytes())
}

/// Flips a bit of the journal, at every fifth byte in turn. At most the change of one record is lost, and that is reported; newer
/// and older ones stay, with their texts, before and after the repair.
#[test]
fn a_flipped_bit_costs_at_most_one_record() {
    let top = TempDir::new().unwrap();
    let made = store(top.path());
    let line = |n: usize| format!("line {n} of a memory that is edited again and again\n");
    let texts: Vec<String> = (1..7).map(|n| (0..n).map(line).collect()).collect();
    for text in &texts {
        put(&made, "a.md", Some(text));
        put(&made, "b.md", Some(&text.replace("memory", "second memory")));
    }
    put(&made, "b.md", None);
    let all: Vec<String> = changes(&made).into_iter().map(|change| change.id.0).collect();
    let log = top.path().join("journal-memory/changes.log");
    let whole = fs::read(&log).unwrap();
    let check = |store: &FileStore, what: &str| {
        let shown: Vec<String> = changes(store).into_iter().map(|change| change.id.0).filter(|id| all.contains(id)).collect();
        let lost = all.len() - shown.len();
        assert!(lost <= 1, "{what}: {lost} changes are gone");
        assert!(all.iter().filter(|id| shown.contains(id)).eq(shown.iter()), "{what}: the order changed");
        let missing = texts.iter().filter(|text| !text_at(store, "a", text)).count();
        assert!(missing <= 1, "{what}: {missing} versions are gone");
        assert!(text_at(store, "b", &texts[5].replace("memory", "second memory")), "{what}: the deleted text");
        lost
    };
    for at in (0..whole.len()).step_by(5) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&log, &damaged).unwrap();
        let _ = fs::remove_file(top.path().join("journal-memory/heads"));
        let opened = store(top.path());
        let lost = check(&opened, &format!("byte {at}"));
        assert!(opened.journal_size().is_ok(), "byte {at}");
        if lost > 0 {
            assert_eq!(opened.damaged_records(), 1, "byte {at}: the damage is reported");
        }
        // A write goes on in the same journal, and a repair loses nothing more.
        put(&opened, "c.md", Some("new"));
        check(&opened, &format!("byte {at}, after a write"));
        let repaired = store(top.path());
        for damage in repaired.check_journals() {
            assert_eq!(repaired.repair_journal(&damage.prefix).unwrap(), 1, "byte {at}");
        }
        assert_eq!(store(top.path()).check_journals(), [], "byte {at}, after the repair");
        // A damaged state follows from the other records; anything else that is gone is kept beside the journal.
        let lost = check(&store(top.path()), &format!("byte {at}, after the repair"));
        assert!(lost == 0 || top.path().join("journal-memory/damaged-1.log").is_file(), "byte {at}: the damaged bytes are kept");
        assert!(text_at(&store(top.path()), "c", "new"));
        put(&store(top.path()), "c.md", None);
        for name in ["damaged-1.log", "damaged-2.log"] {
            let _ = fs::remove_file(top.path().join("journal-memory").join(name));
        }
    }
}

/// The head and the first records are overwritten: the records after them stay usable, with the text of a deleted memory.
#[test]
fn a_journal_without_its_beginning_keeps_the_rest() {
    let top = TempDir::new().unwrap();
    let made = store(top.path());
    for n in 0..20 {
        put(&made, &format!("n{n}.md"), Some(&format!("text {n}\n")));
    }
    put(&made, "n19.md", None);
    let all: Vec<String> = changes(&made).into_iter().map(|change| change.id.0).collect();
    let log = top.path().join("journal-memory/changes.log");
    let mut damaged = fs::read(&log).unwrap();
    damaged[..512].fill(0);
    fs::write(&log, &damaged).unwrap();
    let _ = fs::remove_file(top.path().join("journal-memory/heads"));
    let check = |store: &FileStore, what: &str| {
        let shown: Vec<String> = changes(store).into_iter().map(|change| change.id.0).filter(|id| all.contains(id)).collect();
        assert!(shown.len() > 15 && shown == all[..shown.len()], "{what}: {} of {} changes", shown.len(), all.len());
        assert!(text_at(store, "n19", "text 19\n"), "{what}: the deleted text");
    };
    check(&store(top.path()), "before a write");
    put(&store(top.path()), "new.md", Some("new"));
    check(&store(top.path()), "after a write");
    let repaired = store(top.path());
    for damage in repaired.check_journals() {
        assert!(repaired.repair_journal(&damage.prefix).unwrap() > 0);
    }
    check(&store(top.path()), "after the repair");
}

/// The state of a record used to be a byte outside the checksum: changing it hid the change, or showed one that never was.
#[test]
fn a_changed_state_is_noticed() {
    let top = TempDir::new().unwrap();
    let made = store(top.path());
    put(&made, "a.md", Some("one"));
    put(&made, "a.md", Some("two"));
    let log = top.path().join("journal-memory/changes.log");
    let whole = fs::read(&log).unwrap();
    for at in 33..37 {
        for flip in 1..=255 {
            let mut damaged = whole.clone();
            damaged[at] ^= flip;
            fs::write(&log, &damaged).unwrap();
            let opened = store(top.path());
            assert_eq!((changes(&opened).len(), opened.damaged_records()), (1, 1), "byte {at} ^ {flip}");
            assert!(text_at(&opened, "a", "one"), "the text itself is not damaged");
        }
    }
}

#[test]
fn undo_after_damage_reverts_no_other_change() {
    let top = TempDir::new().unwrap();
    let open = || Memdir::new(Arc::new(store(top.path())), Actor { name: "ada".into(), session: None });
    for name in ["first", "second"] {
        open().write(&Write::create(path(name), name)).unwrap();
    }
    let log = top.path().join("journal-memory/changes.log");
    let mut damaged = fs::read(&log).unwrap();
    let last = damaged.len() - 20;
    damaged[last] ^= 1;
    fs::write(&log, &damaged).unwrap();
    let error = open().undo(&UndoTarget::Last).unwrap_err().to_string();
    assert!(error.contains("is damaged, so ") && error.contains("(wrote first) may not be the newest change"), "{error}");
    assert_eq!(fs::read_to_string(top.path().join("memory/first.md")).unwrap(), "first\n");
    // With an unreadable journal nothing is undone.
    fs::remove_dir_all(top.path().join("journal-memory")).unwrap();
    fs::write(top.path().join("journal-memory"), "a file").unwrap();
    let both = FileStore::open(&[mount(top.path(), "", "memory"), mount(top.path(), "user", "user")]).unwrap();
    let both = Memdir::new(Arc::new(both), Actor { name: "ada".into(), session: None });
    both.write(&Write::create(path("user/kept"), "kept")).unwrap();
    let error = both.undo(&UndoTarget::Last).unwrap_err().to_string();
    assert!(error.starts_with("cannot open the journal"), "{error}");
    assert!(top.path().join("user/kept.md").is_file());
}

/// A journal that the version before this format wrote: five changes of two memories.
#[test]
fn a_journal_of_the_first_format_stays_readable() {
    let top = TempDir::new().unwrap();
    fs::create_dir_all(top.path().join("memory/notes")).unwrap();
    fs::create_dir_all(top.path().join("journal-memory")).unwrap();
    fs::write(top.path().join("memory/notes/deploy.md"), "Deploy on Thursdays.\nNever on Mondays.\n").unwrap();
    let old = include_bytes!("../golden/journal1.log");
    let log = top.path().join("journal-memory/changes.log");
    fs::write(&log, old).unwrap();
    let versions = ["Deploy on Fridays.\n", "Deploy on Fridays.\nNever on Mondays.\n", "Deploy on Thursdays.\nNever on Mondays.\n"];
    let check = |what: &str, more: usize| {
        let opened = store(top.path());
        assert_eq!((changes(&opened).len(), opened.damaged_records()), (5 + more, 0), "{what}");
        for text in versions {
            assert!(text_at(&opened, "notes/deploy", text), "{what}: {text}");
        }
        assert!(text_at(&opened, "gone", "will be deleted\n"), "{what}");
    };
    check("as it is", 0);
    put(&store(top.path()), "notes/deploy.md", Some("Deploy on Thursdays.\nNever on Sundays.\n"));
    assert_eq!(fs::read(&log).unwrap()[..old.len()], old[..], "old records stay as they are");
    check("after a change", 1);
    // The repair writes every record in the new format.
    let mut damaged = fs::read(&log).unwrap();
    let last = damaged.len() - 20;
    damaged[last] ^= 1;
    fs::write(&log, &damaged).unwrap();
    put(&store(top.path()), "other.md", Some("other"));
    let opened = store(top.path());
    for damage in opened.check_journals() {
        opened.repair_journal(&damage.prefix).unwrap();
    }
    check("after a repair", 1);
}

fn both(dir: &Path) -> FileStore {
    FileStore::open(&[mount(dir, "", "project"), mount(dir, "user", "user")]).unwrap()
}

fn put_at(store: &FileStore, second: i64, edits: &[(&str, Option<&str>)]) -> Change {
    let at = Timestamp::from_second(1_700_000_000 + second).unwrap();
    let touches: Vec<_> = edits.iter().map(|(name, _)| path(name)).collect();
    let edits: Vec<FileEdit> =
        edits.iter().map(|(name, text)| FileEdit { path: path(name), bytes: text.map(Into::into), role: Role::Memory }).collect();
    store.change(&Intent { at, ..intent(Verb::Rename) }, &touches, &mut |_| Ok(edits.clone())).unwrap()
}

fn shown(store: &FileStore, most: usize) -> Vec<String> {
    let all = store.changes(&ChangeFilter { most, ..ChangeFilter::default() }).unwrap();
    all.iter().map(|change| change.files.iter().map(|file| file.path.name()).collect::<Vec<_>>().join("+")).collect()
}

/// The parts of a change belong together however far apart their records and times are.
#[test]
fn parts_are_joined_whatever_their_times() {
    let top = TempDir::new().unwrap();
    let opened = both(top.path());
    put_at(&opened, 0, &[("a.md", Some("a"))]);
    put_at(&opened, 1, &[("a.md", None), ("user/a.md", Some("a"))]);
    // Many newer records in one mount, and a clock that jumps back and forth.
    for n in 0..40 {
        put_at(&opened, if n % 2 == 0 { -1_000_000 } else { 500_000 } + n, &[(&format!("user/busy-{n}.md"), Some("x"))]);
    }
    put_at(&opened, -5, &[("last.md", Some("x"))]);
    fs::write(top.path().join("project/last.md"), "edited").unwrap();
    fs::File::options().write(true).open(top.path().join("project/last.md")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(opened.changes(&ChangeFilter { path: Some(path("last")), ..ChangeFilter::default() }).unwrap().len(), 2);
    let all = shown(&opened, 0);
    assert_eq!(all.len(), 44);
    assert_eq!(all.iter().filter(|files| files.contains('+')).count(), 1);
    let place = |name: &str| all.iter().position(|files| files == name).unwrap();
    assert!(place("user/busy-0") < place("a+user/a") && place("last") < place("a+user/a") && place("a+user/a") < place("a"), "{all:?}");
    for most in 1..44 {
        assert!(shown(&opened, most).iter().all(|files| files != "user/a"), "{most}: a part is shown alone");
    }
    let of_a = opened.changes(&ChangeFilter { path: Some(path("user/a")), ..ChangeFilter::default() }).unwrap();
    assert_eq!(of_a.iter().map(|change| change.files.len()).collect::<Vec<_>>(), [2]);
}

/// A space that sees only a part of a change never reverts that part.
#[test]
fn a_part_of_a_change_is_never_undone() {
    let top = TempDir::new().unwrap();
    let actor = || Actor { name: "ada".into(), session: None };
    let whole = Memdir::new(Arc::new(both(top.path())), actor());
    whole.write(&Write::create(path("notes/a"), "the only copy")).unwrap();
    let renamed = whole.rename(&path("notes/a"), &path("user/a")).unwrap();
    let alone = Memdir::new(Arc::new(FileStore::open(&[mount(top.path(), "", "project")]).unwrap()), actor());
    for target in [UndoTarget::Last, UndoTarget::Mine, UndoTarget::Id(renamed.change.0.clone())] {
        let error = alone.undo(&target).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "change {0} also changed memories that are not accessible here; undo it by its id where all of them are accessible",
                renamed.change
            )
        );
    }
    // The same in a space that is narrowed to a folder.
    whole.undo(&UndoTarget::Last).unwrap();
    let renamed = whole.rename(&path("notes/a"), &path("private/a")).unwrap();
    let narrowed = narrow(&[mount(top.path(), "", "project")], &[path("notes")]).unwrap();
    let narrowed = Memdir::new(Arc::new(FileStore::open(&narrowed).unwrap()), actor());
    let error = narrowed.undo(&UndoTarget::Id(renamed.change.0.clone())).unwrap_err().to_string();
    assert!(error.contains("also changed memories that are not accessible here") && !error.contains("private"), "{error}");
    assert_eq!(whole.store().get(&path("private/a")).unwrap().unwrap().bytes, b"the only copy\n");
    whole.undo(&UndoTarget::Last).unwrap();
    assert_eq!(whole.store().get(&path("notes/a")).unwrap().unwrap().bytes, b"the only copy\n");
}

/// Compaction drops old changes of one mount; what remains of a change is shown, but not undone.
#[test]
fn a_change_whose_record_was_dropped_is_not_undone_in_part() {
    let top = TempDir::new().unwrap();
    let mut small = mount(top.path(), "", "project");
    small.journal_bytes = 4_000;
    let opened = FileStore::open(&[small, mount(top.path(), "user", "user")]).unwrap();
    put_at(&opened, 0, &[("a.md", Some("a")), ("b.md", Some("b"))]);
    let moved = put_at(&opened, 1, &[("a.md", None), ("b.md", Some("b after a")), ("user/a.md", Some("a"))]);
    for n in 0..200 {
        put_at(&opened, 86_400 * n, &[("b.md", Some(&format!("{n} {}", "text ".repeat(30))))]);
    }
    let store = Arc::new(opened);
    let memdir = Memdir::new(store.clone(), Actor { name: "ada".into(), session: None });
    let error = memdir.undo(&UndoTarget::Id(moved.id.0.clone())).unwrap_err().to_string();
    assert!(error.contains("no longer in the journal"), "{error}");
    assert_eq!(store.get(&path("user/a")).unwrap().unwrap().bytes, b"a");
    assert!(text_at(&store, "a", "a"), "the text of a deleted memory is kept");
}
