//! The contract of a store, and what the rules of mounts mean here.

use crate::support::{TENANT, TestDatabase, check_sequences, intent, path, put, text};
use memdir_core::{
    Access, ChangeFilter, ClosedFolder, Error, FileEdit, Phrase, ReadOnlyCause, Role, Store, Verb, Version, View,
    internal::{base::time::Deadline, store::stop::Stop},
    testing::{check_change_feed, check_store_contract},
};
use memdir_postgres::{Database, DatabaseSettings, NamespaceMount, PostgresStore};
use std::time::Duration;

#[test]
fn the_store_on_postgres_keeps_the_contract() {
    let Some(test) = TestDatabase::new() else { return };
    check_store_contract(&test.store("projects/shop")).unwrap();
    check_sequences(&test.url);
}

#[test]
fn every_change_is_read_once_while_others_are_made() {
    let Some(test) = TestDatabase::new() else { return };
    let mounts = [NamespaceMount::new("", "projects/shop"), NamespaceMount::new("user", "people/ada/user")];
    check_change_feed(&PostgresStore::open(test.database(), TENANT, &mounts).unwrap()).unwrap();
    check_sequences(&test.url);
}

/// Both mounts have the change, under one id; a caller who sees one of them knows that there is more.
#[test]
fn a_change_of_two_namespaces_is_one_change() {
    let Some(test) = TestDatabase::new() else { return };
    let mounts = [NamespaceMount::new("", "projects/shop"), NamespaceMount::new("user", "people/ada/user")];
    let both = PostgresStore::open(test.database(), TENANT, &mounts).unwrap();
    put(&both, "a.md", "one").unwrap();
    let edits = [("a.md", None), ("user/a.md", Some("one"))].map(|(name, bytes)| FileEdit {
        path: path(name),
        bytes: bytes.map(|text: &str| text.into()),
        role: Role::Memory,
    });
    let moved = both.change(&intent(Verb::Rename), &[path("a.md"), path("user/a.md")], &mut |_| Ok(edits.to_vec())).unwrap();
    put(&both, "b.md", "two").unwrap();

    let history = both.changes(&ChangeFilter::default()).unwrap();
    assert_eq!(history.iter().map(|change| change.verb).collect::<Vec<_>>(), [Verb::Write, Verb::Rename, Verb::Write]);
    assert_eq!(history[1], moved);
    assert_eq!(both.changes(&ChangeFilter { most: 2, ..ChangeFilter::default() }).unwrap(), history[..2]);
    assert_eq!(both.changes(&ChangeFilter { path: Some(path("a")), ..ChangeFilter::default() }).unwrap().len(), 2);

    let own = PostgresStore::open(test.database(), TENANT, &mounts[1..]).unwrap();
    let part = own.changes(&ChangeFilter::default()).unwrap().remove(0);
    assert_eq!((part.id.clone(), part.files.len()), (moved.id, 1));
    assert_eq!(part.elsewhere, [std::path::PathBuf::from("postgres:acme/projects/shop")]);
    check_sequences(&test.url);
}

/// The rules of a mount are those of a directory: read-only, narrowed, closed, ignored.
#[test]
fn a_mount_has_the_rules_of_a_directory() {
    let Some(test) = TestDatabase::new() else { return };
    let whole = test.store("projects/shop");
    for name in ["notes/a.md", "notes/b.md", "other/c.md", "agent/d.md", "MEMORY.md"] {
        put(&whole, name, name).unwrap();
    }
    let with = |change: &dyn Fn(&mut memdir_core::Mount)| {
        let mut mount = NamespaceMount::new("", "projects/shop");
        change(&mut mount.mount);
        PostgresStore::open(test.database(), TENANT, &[mount]).unwrap()
    };
    let refused = |store: &PostgresStore, name: &str| matches!(put(store, name, "new"), Err(Error::ReadOnly { .. }));

    let read_only = with(&|mount| mount.access = Access::ReadOnly);
    assert!(refused(&read_only, "notes/a.md") && text(&read_only, "notes/a").is_some());

    let narrow = with(&|mount| mount.part = vec!["notes".into()]);
    let listed: Vec<String> = narrow.list("").unwrap().entries.iter().map(|entry| entry.path.to_string()).collect();
    assert_eq!(listed, ["notes/a.md", "notes/b.md"]);
    assert!(refused(&narrow, "other/c.md") && text(&narrow, "other/c").is_none());
    assert_eq!(narrow.text_at(&path("other/c"), Version::from_content(b"other/c.md")).unwrap(), None);
    assert_eq!(narrow.changes(&ChangeFilter { most: 1, ..ChangeFilter::default() }).unwrap()[0].files[0].path.as_str(), "notes/b.md");
    assert_eq!(narrow.journal_size().unwrap().changes, 2);

    let closed = with(&|mount| mount.closed = vec![ClosedFolder::new("agent", "only for agents", ReadOnlyCause::Name)]);
    assert!(refused(&closed, "agent/new.md") && put(&closed, "agent/d.md", "changed").is_ok());

    let ignoring = with(&|mount| mount.ignored = vec!["other/.*".into()]);
    assert!(refused(&ignoring, "other/c.md") && ignoring.list("other").unwrap().entries.is_empty());
    assert!(matches!(put(&whole, ".hidden/x.md", "x"), Err(Error::BadPath { .. })));
    for (name, taken) in [("notes/a.md/x.md", "a file"), ("notes", "a folder")] {
        assert!(matches!(put(&whole, name, "x"), Err(Error::BadPath { .. })), "{name} is at the place of {taken}");
    }
}

#[test]
fn forgotten_words_leave_the_history() {
    let Some(test) = TestDatabase::new() else { return };
    let store = test.store("projects/shop");
    put(&store, "a.md", "The code is Zanzibar.").unwrap();
    put(&store, "a.md", "The code is secret.").unwrap();
    put(&store, "zanzibar.md", "x").unwrap();
    let phrase = Phrase::parse("zanzibar").unwrap();
    assert_eq!(store.count_in_history(&phrase).unwrap(), 2);
    assert_eq!(store.forget_in_history(&phrase).unwrap(), 2);
    assert_eq!(store.count_in_history(&phrase).unwrap(), 0);
    let old = store.text_at(&path("a.md"), Version::from_content(b"The code is Zanzibar.")).unwrap_err();
    assert!(old.to_string().contains("was forgotten"), "{old}");
    assert_eq!(store.changes(&ChangeFilter::default()).unwrap().len(), 3);
    // A text that is saved again is known again.
    put(&store, "a.md", "The code is Zanzibar.").unwrap();
    assert!(store.text_at(&path("a.md"), Version::from_content(b"The code is Zanzibar.")).unwrap().is_some());
}

/// A lock that is held is waited for until the caller's deadline, and a cancelled caller does not wait.
#[test]
fn a_lock_is_waited_for_until_the_deadline() {
    let Some(test) = TestDatabase::new() else { return };
    let store = test.store("projects/shop");
    put(&store, "a.md", "one").unwrap();
    store
        .change(&intent(Verb::Write), &[path("a.md")], &mut |_| {
            let hurried = store.with_stop(&Stop::with_deadline(Deadline::after(Duration::from_millis(200))));
            assert!(matches!(put(&*hurried, "a.md", "two"), Err(Error::Busy { .. })));
            let stop = Stop::default();
            let cancelled = store.with_stop(&stop);
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| put(&*cancelled, "a.md", "three"));
                stop.stop();
                assert!(matches!(waiting.join().unwrap(), Err(Error::Unavailable { .. })));
            });
            // Reads wait for nothing.
            assert_eq!(text(&store, "a").as_deref(), Some("one"));
            Ok(vec![FileEdit { path: path("a.md"), bytes: Some(b"four".to_vec()), role: Role::Memory }])
        })
        .unwrap();
    assert_eq!(text(&store, "a").as_deref(), Some("four"));
    check_sequences(&test.url);
}

/// Replicas of two releases share a schema; one that is too old or too new is refused with the reason.
#[test]
fn the_version_of_the_schema_is_checked() {
    let Some(test) = TestDatabase::new() else { return };
    let settings = DatabaseSettings::new(&test.url);
    assert_eq!(Database::migrate(&settings).unwrap(), 0, "all migrations are applied");
    let connect = || Database::connect(&settings).map(drop).map_err(|error| error.to_string());
    crate::support::query(&test.url, "insert into memdir.migrations values (99, 1)").unwrap();
    assert_eq!(connect(), Ok(()), "an additive migration of a newer release");
    crate::support::query(&test.url, "update memdir.migrations set works_since = 99 where version = 99").unwrap();
    let why = "the database: the schema has version 99, which is too new for this release; upgrade memdir";
    assert_eq!(connect(), Err(why.into()));
    crate::support::query(&test.url, "delete from memdir.migrations").unwrap();
    let why = "the database: the schema has version 0, but this release needs version 5; upgrade the schema with: memdir admin migrate";
    assert_eq!(connect(), Err(why.into()));
    crate::support::query(&test.url, "drop schema memdir cascade").unwrap();
    assert_eq!(connect(), Err("the database: the memdir schema is missing; create it with: memdir admin migrate".into()));
}

/// Every connection has the limits and the role, whatever the URL says.
#[test]
fn every_connection_has_limits() {
    let Some(test) = TestDatabase::new() else { return };
    let store = test.store("projects/shop");
    put(&store, "a.md", "one").unwrap();
    let limits = "select distinct count(*) over (), bool_and(usename = 'postgres') over () from pg_stat_activity
        where application_name = 'memdir' and datname = current_database()";
    assert_eq!(crate::support::query(&test.url, limits).unwrap().len(), 1);
    let unknown = PostgresStore::open(test.database(), "nobody", &[NamespaceMount::new("", "x")]).unwrap();
    let error = put(&unknown, "a.md", "one").unwrap_err();
    assert_eq!(error.to_string(), "the database: the tenant does not exist; create it with: memdir admin tenant add NAME");
    assert!(unknown.list("").unwrap().entries.is_empty());
}
