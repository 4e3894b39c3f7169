//! Changes by other programs, as the store records them: what is read, what is recorded, and what is left alone.

use crate::file_store::{intent, path};
use jiff::Timestamp;
use memdir_core::{Change, ChangeFilter, FileEdit, FileStore, Mount, Role, Store, Verb, testing::files_read_by};
use std::{fs, time::Duration};
use tempfile::TempDir;

/// A time at which no file of the test is fresh, so that stamps are trusted.
fn later() -> Timestamp {
    Timestamp::try_from(std::time::SystemTime::now() + Duration::from_secs(60)).unwrap()
}

fn put(store: &dyn Store, names: &[String]) {
    let touches: Vec<_> = names.iter().map(|name| path(name)).collect();
    let edit = |path: &memdir_core::MemoryPath| FileEdit { path: path.clone(), bytes: Some(path.as_str().into()), role: Role::Memory };
    store.change(&intent(Verb::Write), &touches, &mut |_| Ok(touches.iter().map(edit).collect())).unwrap();
}

fn recorded_files(store: &dyn Store) -> Vec<(String, bool)> {
    let changes = store.changes(&ChangeFilter::default()).unwrap();
    let files = |change: &Change| change.files.iter().map(|file| (file.path.to_string(), file.after.is_some())).collect::<Vec<_>>();
    changes.iter().filter(|change| change.verb == Verb::Found).flat_map(files).collect()
}

/// Unchanged files are not read again, however many there are; a changed one is read and nothing else.
#[test]
fn only_files_with_a_new_stamp_are_read() {
    let home = TempDir::new().unwrap();
    let top = home.path().canonicalize().unwrap();
    let open = || FileStore::open(&[Mount::new("", top.join("memory"), top.join("journal"))]).unwrap();
    let names: Vec<String> = (0..500).map(|n| format!("topic{}/m{n}.md", n % 7)).collect();
    put(&open(), &names);
    let look = |store: &FileStore| files_read_by(|| store.record_outside_changes(later(), false).unwrap()).1;
    assert_eq!(look(&open()), 500, "each file once");
    assert_eq!(look(&open()), 0);
    fs::write(top.join("memory/topic3/m3.md"), "by an editor").unwrap();
    fs::remove_file(top.join("memory/topic4/m4.md")).unwrap();
    // Without the lock, and again under it.
    assert_eq!(look(&open()), 2);
    assert_eq!(look(&open()), 0);
    assert_eq!(recorded_files(&open()), [("topic4/m4.md".to_owned(), false), ("topic3/m3.md".to_owned(), true)]);
    put(&open(), &["topic1/new.md".to_owned()]);
    assert_eq!(look(&open()), 1, "what memdir wrote since");
    // The table is derived: without it every file is read once, and nothing is recorded.
    fs::remove_file(top.join("journal/seen")).unwrap();
    assert_eq!(look(&open()), 500);
    assert_eq!((look(&open()), recorded_files(&open()).len()), (0, 2));
}

/// A process that may see only a part of a mount neither records the rest nor marks it as looked at.
#[test]
fn a_narrowed_space_leaves_the_rest_to_others() {
    let home = TempDir::new().unwrap();
    let top = home.path().canonicalize().unwrap();
    let whole = Mount::new("", top.join("memory"), top.join("journal"));
    let part = Mount { part: vec!["open".into()], ..whole.clone() };
    let (whole, part) = (FileStore::open(&[whole]).unwrap(), FileStore::open(&[part]).unwrap());
    put(&whole, &["open/a.md".into(), "closed/b.md".into()]);
    for name in ["open/a.md", "closed/b.md"] {
        fs::write(top.join("memory").join(name), "by an editor").unwrap();
    }
    part.record_outside_changes(later(), true).unwrap();
    assert_eq!(recorded_files(&whole), [("open/a.md".to_owned(), true)]);
    whole.record_outside_changes(later(), true).unwrap();
    assert_eq!(recorded_files(&whole), [("closed/b.md".to_owned(), true), ("open/a.md".to_owned(), true)]);
}

/// A file that is renamed and back, and one whose new name was in use before.
#[test]
fn renames_are_one_change() {
    let home = TempDir::new().unwrap();
    let top = home.path().canonicalize().unwrap();
    let store = FileStore::open(&[Mount::new("", top.join("memory"), top.join("journal"))]).unwrap();
    put(&store, &["a.md".into()]);
    for (from, to) in [("a.md", "b.md"), ("b.md", "a.md"), ("a.md", "ä.md")] {
        fs::rename(top.join("memory").join(from), top.join("memory").join(to)).unwrap();
        store.record_outside_changes(later(), true).unwrap();
        let newest = store.changes(&ChangeFilter { most: 1, ..ChangeFilter::default() }).unwrap().remove(0);
        let files: Vec<(&str, bool)> = newest.files.iter().map(|file| (file.path.as_str(), file.after.is_some())).collect();
        let mut expected = vec![(from, false), (to, true)];
        expected.sort();
        assert_eq!((newest.verb, files), (Verb::Found, expected));
    }
    assert_eq!(store.changes(&ChangeFilter::default()).unwrap().len(), 4);
}

/// While another process holds the lock, a reader records nothing and does not wait.
#[test]
fn a_reader_does_not_wait_for_a_writer() {
    let home = TempDir::new().unwrap();
    let top = home.path().canonicalize().unwrap();
    let store = FileStore::open(&[Mount::new("", top.join("memory"), top.join("journal"))]).unwrap();
    put(&store, &["a.md".into(), "b.md".into()]);
    fs::write(top.join("memory/a.md"), "by an editor").unwrap();
    store
        .change(&intent(Verb::Write), &[path("b.md")], &mut |_| {
            store.record_outside_changes(later(), false)?;
            Ok(Vec::new())
        })
        .unwrap();
    assert_eq!(recorded_files(&store), []);
    store.record_outside_changes(later(), false).unwrap();
    assert_eq!(recorded_files(&store), [("a.md".to_owned(), true)]);
}
