//! Idempotency keys: a request that is sent several times is carried out once.

use crate::support::{TestDatabase, append_for, check_sequences, put, put_for, text};
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
