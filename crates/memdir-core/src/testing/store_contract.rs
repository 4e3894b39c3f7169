//! The contract of a store: one story that every implementation passes.

use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
        version::Version,
    },
    store::{Actor, Change, ChangeCursor, ChangeFilter, Expect, FileEdit, IdempotencyKey, Intent, Role, Store, Verb, stop::Stop},
};
use jiff::Timestamp;

fn path(text: &str) -> Result<MemoryPath> {
    Ok(MemoryPath::parse(text)?)
}

fn intent(verb: Verb) -> Intent {
    Intent { verb, actor: Actor { name: "ada".into(), session: None }, at: Timestamp::UNIX_EPOCH, undoes: None, key: None }
}

fn edit(name: &str, bytes: Option<&[u8]>) -> Result<FileEdit> {
    Ok(FileEdit { path: path(name)?, bytes: bytes.map(<[u8]>::to_vec), role: Role::Memory })
}

fn make(store: &dyn Store, verb: Verb, edits: &[FileEdit]) -> Result<Change> {
    let touches: Vec<_> = edits.iter().map(|edit| edit.path.clone()).collect();
    store.change(&intent(verb), &touches, &mut |_| Ok(edits.to_vec()))
}

fn listing(store: &dyn Store, under: &str) -> Result<Vec<String>> {
    Ok(store.list(under)?.entries.into_iter().map(|entry| entry.path.to_string()).collect())
}

fn bytes(store: &dyn Store, name: &str) -> Result<Option<Vec<u8>>> {
    Ok(store.get(&path(name)?)?.map(|stored| stored.bytes))
}

/// Fails, or panics, if a store with one empty mount without a prefix does not keep the contract of [`Store`].
pub fn check_store_contract(store: &dyn Store) -> Result<()> {
    // An empty store has no files, and reads do not create any.
    assert_eq!(store.get(&path("a")?)?, None);
    assert_eq!((listing(store, "")?, store.changes(&ChangeFilter::default())?.len()), (vec![], 0));

    // Any bytes come back unaltered, under the name with or without `.md`.
    let odd = b"\xff\x00\r\nlast line without an end";
    let first = make(store, Verb::Write, &[edit("a.md", Some(odd))?, edit("deep/b.md", Some(b""))?])?;
    let Some(stored) = store.get(&path("a")?)? else { panic!("a.md was just written") };
    assert_eq!((stored.path.as_str(), stored.bytes.as_slice(), stored.version), ("a.md", odd.as_slice(), Version::from_content(odd)));
    assert_eq!(bytes(store, "deep/b.md")?.as_deref(), Some(b"".as_slice()));
    let several = store.get_many(&[path("deep/b")?, path("none")?, path("a.md")?])?;
    assert_eq!(
        several.iter().map(|stored| stored.as_ref().map(|stored| stored.path.as_str())).collect::<Vec<_>>(),
        [Some("deep/b.md"), None, Some("a.md")]
    );
    assert_eq!(listing(store, "")?, ["a.md", "deep/b.md"]);
    assert_eq!((listing(store, "deep")?, listing(store, "dee")?), (vec!["deep/b.md".to_owned()], vec![]));
    assert_eq!(
        first.files.iter().map(|file| (file.path.as_str(), file.before, file.after.is_some())).collect::<Vec<_>>(),
        [("a.md", None, true), ("deep/b.md", None, true)]
    );

    // A stamp changes with its file, and a missing file has a stamp of its own.
    let stamps = store.stamps(&[path("a.md")?, path("a")?, path("deep/b.md")?])?;
    assert_eq!((stamps[0], stamps[1], stamps[2].map(|stamp| stamp.size)), (Some(stored.stamp), None, Some(0)));

    // An edit that changes nothing is not recorded as a change.
    assert_eq!(make(store, Verb::Write, &[edit("a.md", Some(odd))?])?.files, []);
    assert_eq!(store.changes(&ChangeFilter::default())?.len(), 1);

    // A plan sees the state, and one that fails leaves it.
    let refused = store.change(&intent(Verb::Write), &[path("a.md")?], &mut |view| {
        Expect::Absent.check(&path("a.md")?, view.get(&path("a.md")?)?.map(|stored| stored.version))?;
        Ok(vec![edit("a.md", Some(b"overwritten"))?])
    });
    assert!(matches!(refused, Err(Error::Exists { .. })));
    let huge = vec![b'x'; limits::MEMORY_BYTES + 1];
    assert!(matches!(make(store, Verb::Write, &[edit("a.md", Some(b"new"))?, edit("huge.md", Some(&huge))?]), Err(Error::TooLarge { .. })));
    assert_eq!(bytes(store, "a")?.as_deref(), Some(odd.as_slice()));

    // Every version stays readable, newest change first, including those of removed files.
    make(store, Verb::Append, &[edit("a.md", Some(b"two"))?])?;
    let gone = make(store, Verb::Delete, &[edit("a.md", None)?])?;
    assert_eq!(store.get(&path("a")?)?, None);
    for text in [odd.as_slice(), b"two"] {
        assert_eq!(store.text_at(&path("a.md")?, Version::from_content(text))?.as_deref(), Some(text));
    }
    assert_eq!(store.text_at(&path("a.md")?, Version::from_content(b"never"))?, None);
    let of_a = store.changes(&ChangeFilter { path: Some(path("a.md")?), ..ChangeFilter::default() })?;
    assert_eq!(of_a.iter().map(|change| change.verb).collect::<Vec<_>>(), [Verb::Delete, Verb::Append, Verb::Write]);
    let by_id = store.changes(&ChangeFilter { id: Some(gone.id.0.clone()), ..ChangeFilter::default() })?;
    assert_eq!(by_id, [gone]);
    assert_eq!(store.changes(&ChangeFilter { most: 2, ..ChangeFilter::default() })?.len(), 2);
    assert_eq!(store.journal_size()?.changes, 3);

    // A handle that is stopped reads nothing and changes nothing, even in the middle of a plan; the store itself goes on.
    let stop = Stop::default();
    let stoppable = store.with_stop(&stop);
    assert_eq!(listing(&*stoppable, "")?, ["deep/b.md"]);
    let stopped = stoppable.change(&intent(Verb::Write), &[path("c.md")?], &mut |view| {
        stop.stop();
        assert!(matches!(view.get(&path("deep/b.md")?), Err(Error::Unavailable { .. })));
        Ok(vec![edit("c.md", Some(b"late"))?])
    });
    assert!(matches!(stopped, Err(Error::Unavailable { .. })));
    assert!(stoppable.get(&path("deep/b")?).is_err() && stoppable.list("").is_err() && stoppable.stamps(&[path("deep/b.md")?]).is_err());
    assert!(
        stoppable.changes(&ChangeFilter::default()).is_err() && stoppable.text_at(&path("a.md")?, Version::from_content(b"two")).is_err()
    );
    assert_eq!((listing(store, "")?, store.journal_size()?.changes), (vec!["deep/b.md".to_owned()], 3));
    check_cursors(store)?;
    check_keys(store)
}

/// The changes after a cursor are those of the history, oldest first, each once.
fn check_cursors(store: &dyn Store) -> Result<()> {
    let all: Vec<Change> = store.changes(&ChangeFilter::default())?.into_iter().rev().collect();
    let since = |cursor: Option<&ChangeCursor>| -> Result<Vec<Change>> {
        Ok(store.changes_since(cursor, 100)?.changes.into_iter().map(|(change, _)| change).collect())
    };
    assert_eq!(since(None)?, all);
    for (n, (_, cursor)) in store.changes_since(None, 100)?.changes.iter().enumerate() {
        assert_eq!(since(Some(cursor))?, all[n + 1..], "every change has the place after it");
    }
    let (mut cursor, mut paged) = (None, Vec::new());
    loop {
        let page = store.changes_since(cursor.as_ref(), 1)?;
        // A cursor is the same after a conversion to text and back.
        cursor = Some(ChangeCursor::parse(&page.next.to_string())?);
        assert!(page.changes.len() <= 1);
        if page.changes.is_empty() {
            break;
        }
        paged.extend(page.changes.into_iter().map(|(change, _)| change));
    }
    assert_eq!(paged, all);
    let now = store.newest_cursor()?;
    assert_eq!((since(Some(&now))?, cursor), (vec![], Some(now.clone())));
    let new = make(store, Verb::Write, &[edit("fed.md", Some(b"new"))?])?;
    assert_eq!(since(Some(&now))?, [new]);
    let mut unknown = ChangeCursor::default();
    unknown.set_position(b"another store", "1");
    assert_eq!(since(Some(&unknown))?.len(), all.len() + 1, "places that are not here do not count");
    Ok(())
}

/// A change with a key is made once.
fn check_keys(store: &dyn Store) -> Result<()> {
    let keyed = |caller: &str, request: u8, bytes: &[u8]| -> Result<Change> {
        let key = Some(IdempotencyKey { caller: caller.into(), key: "k".into(), request: [request; 32] });
        store.change(&Intent { key, ..intent(Verb::Append) }, &[path("keyed.md")?], &mut |view| {
            let mut all = view.get(&path("keyed.md")?)?.map(|stored| stored.bytes).unwrap_or_default();
            all.extend_from_slice(bytes);
            Ok(vec![edit("keyed.md", Some(&all))?])
        })
    };
    let first = keyed("ada", 1, b"once ")?;
    assert_eq!(keyed("ada", 1, b"once ")?, first);
    assert!(matches!(keyed("ada", 2, b"other "), Err(Error::BadInput { .. })));
    assert_ne!(keyed("bob", 1, b"of another ")?, first);
    assert_eq!(bytes(store, "keyed")?.as_deref(), Some(b"once of another ".as_slice()));
    // A change that fails releases its key.
    let huge = vec![b'x'; limits::MEMORY_BYTES + 1];
    assert!(keyed("eve", 1, &huge).is_err());
    assert_eq!(keyed("eve", 1, b"later")?.files.len(), 1);
    Ok(())
}
