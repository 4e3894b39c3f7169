//! Two tenants never see each other: not through the store, and not by SQL with the application's role.

use crate::support::{TestDatabase, path, put, put_for, query, text};
use memdir_core::{ChangeFilter, IdempotencyKey, Phrase, Store, Version, View};
use memdir_postgres::{APP_ROLE, NamespaceMount, PostgresStore};

const TABLES: [&str; 8] = ["tenants", "namespaces", "documents", "versions", "changes", "change_files", "claims", "proposals"];

/// Both tenants have the same namespaces and names; only the texts differ.
fn two_tenants() -> Option<(TestDatabase, PostgresStore, PostgresStore)> {
    let test = TestDatabase::new()?;
    test.database().create_tenant("globex").unwrap();
    let ours = test.store("projects/shop");
    let theirs = PostgresStore::open(test.database(), "globex", &[NamespaceMount::new("", "projects/shop")]).unwrap();
    put(&ours, "a.md", "acme text").unwrap();
    put(&theirs, "a.md", "globex text").unwrap();
    put(&theirs, "theirs.md", "globex only").unwrap();
    let key = IdempotencyKey { caller: "bob".into(), key: "k".into(), request: [0; 32] };
    put_for(&theirs, Some(key), "theirs.md", "globex twice").unwrap();
    Some((test, ours, theirs))
}

#[test]
fn no_operation_of_a_store_reaches_another_tenant() {
    let Some((_test, ours, theirs)) = two_tenants() else { return };
    assert_eq!((text(&ours, "a").as_deref(), text(&theirs, "a").as_deref()), (Some("acme text"), Some("globex text")));
    assert_eq!(text(&ours, "theirs"), None);
    assert_eq!(ours.list("").unwrap().entries.len(), 1);
    assert_eq!(ours.stamps(&[path("theirs.md")]).unwrap(), [None]);
    assert_eq!(ours.changes(&ChangeFilter::default()).unwrap().len(), 1);
    let their_change = theirs.changes(&ChangeFilter::default()).unwrap().remove(0);
    assert!(ours.changes(&ChangeFilter { id: Some(their_change.id.0), ..ChangeFilter::default() }).unwrap().is_empty());
    for text in ["globex text", "globex only"] {
        assert_eq!(ours.text_at(&path("a.md"), Version::from_content(text.as_bytes())).unwrap(), None);
        assert_eq!(ours.text_at(&path("theirs.md"), Version::from_content(text.as_bytes())).unwrap(), None);
    }
    assert_eq!(ours.last_recorded(&path("theirs.md")).unwrap(), None);
    assert_eq!(ours.journal_size().unwrap().changes, 1);
    let phrase = Phrase::parse("globex").unwrap();
    assert_eq!((ours.count_in_history(&phrase).unwrap(), ours.forget_in_history(&phrase).unwrap()), (0, 0));
    assert_eq!(theirs.count_in_history(&phrase).unwrap(), 3);
    // The same key of the other tenant is free.
    let key = IdempotencyKey { caller: "bob".into(), key: "k".into(), request: [9; 32] };
    assert_eq!(put_for(&ours, Some(key), "b.md", "b").unwrap().files.len(), 1);
}

/// As the application's role: rows of the tenant that is set, none without one, and no partition at all.
#[test]
fn direct_sql_sees_the_tenant_that_is_set_and_no_partition() {
    let Some((test, _ours, _theirs)) = two_tenants() else { return };
    let as_app = |sql: &str| query(&test.url, &format!("set role {APP_ROLE}; {sql}"));
    for table in TABLES {
        let count = |set: &str| {
            as_app(&format!("begin; {set}; select count(*), count(*) filter (where tenant <> 'acme') from memdir.{table}")).unwrap()
        };
        assert_eq!(count("select 1"), [["0", "0"]], "{table} without a tenant");
        assert_eq!(count("select set_config('memdir.tenant', '', true)"), [["0", "0"]], "{table} with an empty tenant");
        let own = count("select set_config('memdir.tenant', 'acme', true)");
        assert!(own[0][1] == "0" && (own[0][0] != "0" || ["claims", "proposals"].contains(&table)), "{table}: {own:?}");
        // A setting that was local to an earlier transaction is empty, not kept.
        let after =
            as_app(&format!("begin; select set_config('memdir.tenant', 'acme', true); commit; select count(*) from memdir.{table}"));
        assert_eq!(after.unwrap(), [["0"]], "{table} after the transaction");
    }
    let partitions = query(
        &test.url,
        "select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'memdir' and c.relkind = 'r' order by 1",
    )
    .unwrap();
    assert_eq!(partitions.len(), 40);
    for partition in partitions.iter().map(|row| &row[0]) {
        for sql in ["select count(*) from", "delete from", "truncate"] {
            let set = "select set_config('memdir.tenant', 'acme', false)";
            let error = as_app(&format!("{set}; {sql} memdir.{partition}")).unwrap_err();
            assert_eq!(error.code().unwrap().code(), "42501", "{sql} {partition}");
        }
    }
}

/// Rows of another tenant cannot be written, moved or removed either, nor the policies be switched off.
#[test]
fn direct_sql_cannot_write_for_another_tenant() {
    let Some((test, ours, theirs)) = two_tenants() else { return };
    let as_acme = |sql: &str| {
        query(&test.url, &format!("set role {APP_ROLE}; begin; select set_config('memdir.tenant', 'acme', true); {sql}; commit"))
    };
    for sql in [
        "insert into memdir.namespaces values ('globex', 'x', 0, 0)",
        "insert into memdir.tenants values ('initech')",
        "update memdir.documents set tenant = 'globex'",
        "alter table memdir.documents disable row level security",
        "drop policy own_tenant on memdir.documents",
        "create table memdir.mine (x int)",
        "set local row_security = off; select count(*) from memdir.documents",
    ] {
        let error = as_acme(sql).unwrap_err();
        assert_eq!(error.code().unwrap().code(), "42501", "{sql}");
    }
    as_acme("delete from memdir.documents where tenant = 'globex'; update memdir.documents set modified_ns = 1 where tenant = 'globex'")
        .unwrap();
    assert_eq!(text(&theirs, "theirs").as_deref(), Some("globex twice"));
    assert_eq!(text(&ours, "a").as_deref(), Some("acme text"));
    // The role of the application cannot log in, owns nothing and has no special rights.
    let role = format!("select rolcanlogin, rolsuper, rolbypassrls, rolcreaterole from pg_roles where rolname = '{APP_ROLE}'");
    assert_eq!(query(&test.url, &role).unwrap(), [["f"; 4]]);
}

/// Connections of a store use the application's role, and the tenant comes first in every key and index.
#[test]
fn every_index_begins_with_the_tenant() {
    let Some(test) = TestDatabase::new() else { return };
    let sql = "select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
        join pg_namespace n on n.oid = t.relnamespace
        join pg_attribute a on a.attrelid = t.oid and a.attnum = i.indkey[0]
        where n.nspname = 'memdir' and t.relname <> 'migrations' and a.attname <> 'tenant'";
    assert_eq!(query(&test.url, sql).unwrap(), Vec::<Vec<String>>::new());
    let protected = "select count(*), bool_and(relrowsecurity and relforcerowsecurity) from pg_class c
        join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'memdir' and relkind in ('r', 'p') and relname <> 'migrations'";
    assert_eq!(query(&test.url, protected).unwrap(), [["55", "t"]]);
}
