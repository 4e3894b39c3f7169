//! Databases on the server that `scripts/test-postgres-setup` starts.

use jiff::Timestamp;
use memdir_core::{Actor, Change, FileEdit, IdempotencyKey, Intent, MemoryPath, Result, Role, Store, Verb};
use memdir_postgres::{Database, DatabaseSettings, NamespaceMount, PostgresStore};
use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};
use tokio_postgres::{NoTls, SimpleQueryMessage};

/// The tenant of most tests.
pub(crate) const TENANT: &str = "acme";

/// Runs `scripts/test-postgres-setup`.
pub(crate) fn setup(args: &[&str]) -> std::process::Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/test-postgres-setup");
    Command::new(script).args(args).output().unwrap()
}

/// The connection string of the shared server; `None` without a server, which is a failure in CI.
pub(crate) fn server() -> Option<&'static str> {
    static URL: OnceLock<Option<String>> = OnceLock::new();
    let find = || {
        let output = setup(&[]);
        let why = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            let dir = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
            return Some(std::fs::read_to_string(dir.join("url")).unwrap().trim().to_owned());
        }
        assert!(std::env::var_os("CI").is_none(), "no PostgreSQL server: {why}");
        let _ = writeln!(std::io::stderr(), "skipped, there is no PostgreSQL server: {why}");
        None
    };
    URL.get_or_init(find).as_deref()
}

/// A database of its own, with the schema and a tenant. Dropping it drops the database.
pub(crate) struct TestDatabase {
    server: String,
    name: String,
    pub(crate) url: String,
    pub(crate) database: Option<Database>,
}

impl TestDatabase {
    /// A database on the shared server.
    pub(crate) fn new() -> Option<TestDatabase> {
        server().map(TestDatabase::on)
    }

    /// A database on a server.
    pub(crate) fn on(server: &str) -> TestDatabase {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        query(server, &format!("create database {name}")).unwrap();
        let url = server.replace("dbname=postgres", &format!("dbname={name}"));
        let settings = DatabaseSettings::new(&url);
        assert!(Database::migrate(&settings).unwrap() > 0);
        let database = Database::connect(&settings).unwrap();
        database.create_tenant(TENANT).unwrap();
        TestDatabase { server: server.to_owned(), name, url, database: Some(database) }
    }

    pub(crate) fn database(&self) -> &Database {
        self.database.as_ref().unwrap()
    }

    /// A store with one unprefixed mount.
    pub(crate) fn store(&self, namespace: &str) -> PostgresStore {
        open(self.database(), namespace)
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        self.database = None;
        let _ = query(&self.server, &format!("drop database {} with (force)", self.name));
    }
}

pub(crate) fn open(database: &Database, namespace: &str) -> PostgresStore {
    PostgresStore::open(database, TENANT, &[NamespaceMount::new("", namespace)]).unwrap()
}

/// Runs statements directly, and returns the rows of the last result.
pub(crate) fn query(url: &str, sql: &str) -> Result<Vec<Vec<String>>, tokio_postgres::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let driver = tokio::spawn(connection);
        let messages = client.simple_query(sql).await?;
        drop(client);
        let _ = driver.await;
        let mut rows = Vec::new();
        for message in messages {
            match message {
                SimpleQueryMessage::RowDescription(_) => rows.clear(),
                SimpleQueryMessage::Row(row) => rows.push((0..row.len()).map(|n| row.get(n).unwrap_or("null").to_owned()).collect()),
                _ => {}
            }
        }
        Ok(rows)
    })
}

pub(crate) fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

pub(crate) fn intent(verb: Verb) -> Intent {
    Intent {
        verb,
        actor: Actor { name: "ada".into(), session: None },
        at: Timestamp::from_second(1_700_000_000).unwrap(),
        undoes: None,
        key: None,
    }
}

/// Writes one file.
pub(crate) fn put(store: &dyn Store, name: &str, text: &str) -> Result<Change> {
    put_for(store, None, name, text)
}

/// Writes one file, once for a key.
pub(crate) fn put_for(store: &dyn Store, key: Option<IdempotencyKey>, name: &str, text: &str) -> Result<Change> {
    let edit = FileEdit { path: path(name), bytes: Some(text.into()), role: Role::Memory };
    store.change(&Intent { key, ..intent(Verb::Write) }, &[path(name)], &mut |_| Ok(vec![edit.clone()]))
}

pub(crate) fn text(store: &dyn Store, name: &str) -> Option<String> {
    store.get(&path(name)).unwrap().map(|stored| String::from_utf8(stored.bytes).unwrap())
}

/// Appends a line to a file, which is a read-modify-write under the lock.
pub(crate) fn append(store: &dyn Store, name: &str, line: &str) -> Result<Change> {
    append_for(store, None, name, line)
}

/// Appends a line to a file, once for a key.
pub(crate) fn append_for(store: &dyn Store, key: Option<IdempotencyKey>, name: &str, line: &str) -> Result<Change> {
    store.change(&Intent { key, ..intent(Verb::Append) }, &[path(name)], &mut |view| {
        let mut bytes = view.get(&path(name))?.map(|stored| stored.bytes).unwrap_or_default();
        bytes.extend_from_slice(format!("{line}\n").as_bytes());
        Ok(vec![FileEdit { path: path(name), bytes: Some(bytes), role: Role::Memory }])
    })
}

/// Fails unless the sequence of every namespace has no gaps, the history agrees with the documents, and no change is there twice.
pub(crate) fn check_sequences(url: &str) {
    let gaps = "select n.namespace, n.sequence, count(c.sequence), max(c.sequence), count(distinct c.change_id)
        from memdir.namespaces n left join memdir.changes c using (tenant, namespace)
        group by n.tenant, n.namespace, n.sequence
        having n.sequence <> count(c.sequence) or n.sequence <> coalesce(max(c.sequence), 0) or count(*) <> count(distinct c.change_id)
          and n.sequence > 0";
    assert_eq!(query(url, gaps).unwrap(), Vec::<Vec<String>>::new(), "gaps in a sequence");
    let stale = "select d.namespace, d.path from memdir.documents d
        join lateral (select after from memdir.change_files f where f.tenant = d.tenant and f.namespace = d.namespace
          and f.path = d.path order by sequence desc limit 1) f on true
        where f.after is distinct from d.version";
    assert_eq!(query(url, stale).unwrap(), Vec::<Vec<String>>::new(), "documents that differ from the history");
}
