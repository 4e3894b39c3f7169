//! Idempotency keys: a request that is sent several times is carried out once.

use crate::support::{TENANT, TestDatabase, append_for, check_sequences, put, put_for, query, text};
use memdir_core::{IdempotencyKey, Store};

fn key(name: &str, request: u8) -> Option<IdempotencyKey> {
    Some(IdempotencyKey { caller: "ada".into(), key: name.into(), request: [request; 32] })
}

#[test]
fn a_key_makes_a_change_once() {
    let Some(test) = TestDatabase::new() else { return };
    let store = test.store("projects/shop");
    let first = append_for(&store, key("k", 1), "a.md", "once").unwrap();
    let second = append_for(&store, key("k", 1), "a.md", "once").unwrap();
    assert_eq!(first, second);
    assert_eq!(text(&store, "a").as_deref(), Some("once\n"));
    let other = append_for(&store, key("k", 2), "a.md", "twice").unwrap_err();
    assert_eq!(other.to_string(), "idempotency key: it was already used for another request; use a new key for each request");
    // A key is released if its change fails, and kept if there was nothing to change.
    assert!(put_for(&store, key("failed", 1), ".hidden/x.md", "x").is_err());
    assert_eq!(put_for(&store, key("failed", 1), "x.md", "x").unwrap().files.len(), 1);
    assert!(put_for(&store, key("same", 1), "x.md", "x").unwrap().files.is_empty());
    put(&store, "x.md", "changed").unwrap();
    assert!(put_for(&store, key("same", 1), "x.md", "x").unwrap().files.is_empty());
    assert_eq!(text(&store, "x").as_deref(), Some("changed"));
    check_sequences(&test.url);
}

/// Checking the key first and storing it last gave false conflicts in every concurrent retry.
#[test]
fn sixty_concurrent_retries_make_one_change() {
    let Some(test) = TestDatabase::new() else { return };
    let store = test.store("projects/shop");
    let ids: Vec<String> = std::thread::scope(|scope| {
        let retry = || append_for(&store, key("k", 1), "a.md", "once").unwrap().id.0;
        let threads: Vec<_> = (0..60).map(|_| scope.spawn(retry)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(text(&store, "a").as_deref(), Some("once\n"));
    assert_eq!(store.journal_size().unwrap().changes, 1);
    check_sequences(&test.url);
}

/// Keys were kept forever.
#[test]
fn keys_older_than_a_day_are_removed_a_few_with_each_new_one() {
    let Some(test) = TestDatabase::new() else { return };
    let store = test.store("projects/shop");
    let add = |name: &str, hours: u32, count: u32| {
        let sql = format!(
            "insert into memdir.claims (tenant, caller, key, request, change_id, claimed_at)
             select '{TENANT}', 'ada', '{name}' || n, '', '', now() - interval '{hours} hours' from generate_series(1, {count}) n"
        );
        query(&test.url, &sql).unwrap();
    };
    add("old", 25, 25);
    add("young", 23, 5);
    let left = |name: &str| query(&test.url, &format!("select count(*) from memdir.claims where key like '{name}%'")).unwrap().concat();
    for (n, expected) in ["15", "5", "0"].iter().enumerate() {
        put_for(&store, key(&format!("new{n}"), 1), "a.md", &format!("{n}")).unwrap();
        assert_eq!(left("old"), [*expected]);
    }
    assert_eq!((left("young").concat(), left("new").concat()), ("5".into(), "3".into()));
    // A change without a key removes none.
    add("old", 25, 1);
    put(&store, "a.md", "without a key").unwrap();
    assert_eq!(left("old"), ["1"]);
    check_sequences(&test.url);
}
