//! The contract of a store: one story that every implementation passes.

use crate::vault::{intent, path};
use memdir_core::{
    base::{error::Error, version::Version},
    store::{
        ChangeFilter, Expect, FileEdit, Role, Store, Verb,
        files::{Mount, Vault},
    },
    testing::RamStore,
};
use tempfile::TempDir;

#[test]
fn the_store_in_memory_keeps_the_contract() {
    contract(&RamStore::default());
}

#[test]
fn the_store_over_directories_keeps_the_contract() {
    let home = TempDir::new().unwrap();
    contract(&Vault::open(&[Mount::new("", home.path().join("memory"), home.path().join("journal"))]).unwrap());
}

fn edit(name: &str, bytes: Option<&[u8]>) -> FileEdit {
    FileEdit { path: path(name), bytes: bytes.map(<[u8]>::to_vec), role: Role::Memory }
}

fn make(store: &dyn Store, verb: Verb, edits: &[FileEdit]) -> memdir_core::base::error::Result<memdir_core::store::Change> {
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
    assert_eq!((stored.path.as_str(), stored.bytes.as_slice(), stored.version), ("a.md", odd.as_slice(), Version::of(odd)));
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
    let huge = vec![b'x'; memdir_core::base::limits::MEMORY_BYTES + 1];
    assert!(matches!(make(store, Verb::Write, &[edit("a.md", Some(b"new")), edit("huge.md", Some(&huge))]), Err(Error::TooLarge { .. })));
    assert_eq!(store.get(&path("a")).unwrap().unwrap().bytes, odd);

    // Every version stays readable, newest change first, also of what was removed.
    make(store, Verb::Append, &[edit("a.md", Some(b"two"))]).unwrap();
    let gone = make(store, Verb::Delete, &[edit("a.md", None)]).unwrap();
    assert_eq!(store.get(&path("a")).unwrap(), None);
    for text in [odd.as_slice(), b"two"] {
        assert_eq!(store.text_at(&path("a.md"), Version::of(text)).unwrap().as_deref(), Some(text));
    }
    assert_eq!(store.text_at(&path("a.md"), Version::of(b"never")).unwrap(), None);
    let of_a = store.changes(&ChangeFilter { path: Some(path("a.md")), ..ChangeFilter::default() }).unwrap();
    assert_eq!(of_a.iter().map(|change| change.verb).collect::<Vec<_>>(), [Verb::Delete, Verb::Append, Verb::Write]);
    let by_id = store.changes(&ChangeFilter { id: Some(gone.id.0.clone()), ..ChangeFilter::default() }).unwrap();
    assert_eq!(by_id, [gone]);
    assert_eq!(store.changes(&ChangeFilter { most: 2, ..ChangeFilter::default() }).unwrap().len(), 2);
    assert_eq!(store.journal_size().unwrap().changes, 3);
}
