//! A PostgreSQL database of its own, and replicas of `memdir serve` on it.

use crate::{
    home::Home,
    talk::{SESSIONLESS, meta},
    web::Web,
};
use memdir_postgres::{Database, DatabaseSettings, MemberRole, NamespaceMount, PostgresStore};
use serde_json::{Value, json};
use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    thread::JoinHandle,
    time::Duration,
};
use tokio::sync::oneshot;
use tokio_postgres::{NoTls, SimpleQueryMessage};

/// The tenant of most tests.
pub(crate) const TENANT: &str = "acme";

/// Runs `scripts/test-postgres-setup`.
pub(crate) fn setup(args: &[&str]) -> std::process::Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/test-postgres-setup");
    Command::new(script).args(args).output().unwrap()
}

/// The connection string of the shared server; `None` without a server, which is a failure in CI.
fn shared_server() -> Option<&'static str> {
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

/// A database with the schema, the tenant `acme`, its group `backend` and its project `shop`. Dropping it drops the database.
pub(crate) struct TeamDatabase {
    server: String,
    name: String,
    pub(crate) url: String,
    database: Option<Database>,
}

impl TeamDatabase {
    /// A database on the shared server; `None` without a server.
    pub(crate) fn new() -> Option<TeamDatabase> {
        let empty = TeamDatabase::empty()?;
        Some(empty.prepared())
    }

    /// A database without a schema.
    pub(crate) fn empty() -> Option<TeamDatabase> {
        shared_server().map(TeamDatabase::on)
    }

    /// A database without a schema on a server.
    pub(crate) fn on(server: &str) -> TeamDatabase {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("e2e_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        query(server, &format!("create database {name}"));
        let url = server.replace("dbname=postgres", &format!("dbname={name}"));
        TeamDatabase { server: server.to_owned(), name, url, database: None }
    }

    pub(crate) fn prepared(mut self) -> TeamDatabase {
        let settings = DatabaseSettings::new(&self.url);
        Database::migrate(&settings).unwrap();
        let database = Database::connect(&settings).unwrap();
        database.create_tenant(TENANT).unwrap();
        database.add_group(TENANT, "backend").unwrap();
        database.add_project(TENANT, "shop", "backend").unwrap();
        self.database = Some(database);
        self
    }

    pub(crate) fn database(&self) -> &Database {
        self.database.as_ref().unwrap()
    }

    /// Adds a person with a role in the group, and returns a token.
    pub(crate) fn token(&self, person: &str, role: MemberRole) -> String {
        self.database().add_person(TENANT, person).unwrap();
        self.database().set_member(TENANT, "backend", person, role).unwrap();
        self.database().add_token(TENANT, person, None).unwrap().1
    }

    /// Starts a replica, whose derived files are in this home.
    pub(crate) fn replica(&self, home: &Home, args: &[&str]) -> Web {
        let mut command = home.bare(&[&["serve", "--http", "127.0.0.1:0"], args].concat());
        command.env("DATABASE_URL", &self.url);
        Web::spawn(command)
    }

    /// A store of a namespace, beside the replicas.
    pub(crate) fn store(&self, namespace: &str) -> PostgresStore {
        PostgresStore::open(self.database(), TENANT, &[NamespaceMount::new("", namespace)]).unwrap()
    }

    /// Fails unless the sequence of every namespace has no gaps and the history agrees with the documents.
    pub(crate) fn check_sequences(&self) {
        let gaps = "select n.namespace, n.sequence, count(c.sequence), max(c.sequence), count(distinct c.change_id)
            from memdir.namespaces n left join memdir.changes c using (tenant, namespace)
            group by n.tenant, n.namespace, n.sequence
            having n.sequence <> count(c.sequence) or n.sequence <> coalesce(max(c.sequence), 0)
              or n.sequence <> count(distinct c.change_id)";
        assert_eq!(query(&self.url, gaps), Vec::<Vec<String>>::new(), "gaps in a sequence");
        let stale = "select d.namespace, d.path from memdir.documents d
            join lateral (select after from memdir.change_files f where f.tenant = d.tenant and f.namespace = d.namespace
              and f.path = d.path order by sequence desc limit 1) f on true
            where f.after is distinct from d.version";
        assert_eq!(query(&self.url, stale), Vec::<Vec<String>>::new(), "documents that differ from the history");
    }
}

impl Drop for TeamDatabase {
    fn drop(&mut self) {
        self.database = None;
        let _ = try_query(&self.server, &format!("drop database {} with (force)", self.name));
    }
}

/// Runs statements directly, and returns the rows of the last result.
pub(crate) fn query(url: &str, sql: &str) -> Vec<Vec<String>> {
    try_query(url, sql).unwrap()
}

pub(crate) fn try_query(url: &str, sql: &str) -> Result<Vec<Vec<String>>, tokio_postgres::Error> {
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

/// A session in a transaction that holds locks until this is dropped.
pub(crate) struct HeldLock {
    release: Option<oneshot::Sender<()>>,
    session: Option<JoinHandle<()>>,
}

impl HeldLock {
    pub(crate) fn acquire(url: &str, sql: &str) -> HeldLock {
        HeldLock::hold(url, sql, "rollback")
    }

    /// Runs statements in a transaction that is committed when the lock is dropped.
    pub(crate) fn acquire_and_commit(url: &str, sql: &str) -> HeldLock {
        HeldLock::hold(url, sql, "commit")
    }

    fn hold(url: &str, sql: &str, end: &'static str) -> HeldLock {
        let (url, sql) = (url.to_owned(), format!("begin; {sql}"));
        let (release, released) = oneshot::channel::<()>();
        let (locked, is_locked) = mpsc::channel();
        let session = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
                tokio::spawn(connection);
                client.batch_execute(&sql).await.unwrap();
                locked.send(()).unwrap();
                let _ = released.await;
                client.batch_execute(end).await.unwrap();
            });
        });
        is_locked.recv().unwrap();
        HeldLock { release: Some(release), session: Some(session) }
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        self.release = None;
        let _ = self.session.take().map(JoinHandle::join);
    }
}

/// Waits until a connection of a replica waits for a lock.
pub(crate) fn wait_for_waiting(url: &str) {
    // Other tests use the same server.
    let sql = "select pid from pg_stat_activity
        where datname = current_database() and application_name = 'memdir' and wait_event_type = 'Lock'";
    while query(url, sql).is_empty() {
        std::thread::yield_now();
    }
}

/// Waits until a change of a replica holds the lock of its namespace and waits for another one.
pub(crate) fn wait_for_waiting_change(url: &str) {
    let sql = "select a.pid from pg_stat_activity a join pg_locks l on l.pid = a.pid
        where a.datname = current_database() and a.application_name = 'memdir' and a.wait_event_type = 'Lock'
          and l.relation = 'memdir.namespaces'::regclass and l.mode = 'RowShareLock' and l.granted";
    while query(url, sql).is_empty() {
        std::thread::yield_now();
    }
}

/// Calls a tool once. Returns the result, or `None` if the server did not answer with one.
pub(crate) fn try_call(address: SocketAddr, token: &str, name: &str, arguments: &Value) -> Option<Value> {
    let params = json!({ "name": name, "arguments": arguments, "_meta": meta() });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\nMcp-Protocol-Version: {SESSIONLESS}\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(90))).ok()?;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    if !head.starts_with("HTTP/1.1 200") {
        return None;
    }
    let body = &body[body.find('{')?..=body.rfind('}')?];
    Some(serde_json::from_str::<Value>(body).ok()?["result"].clone()).filter(|result| result.is_object())
}

/// Calls a tool, which must succeed, and returns its text.
pub(crate) fn call(web: &Web, token: &str, name: &str, arguments: Value) -> String {
    let result = try_call(web.address, token, name, &arguments).unwrap_or_else(|| panic!("{name} {arguments}"));
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    assert_ne!(result["isError"], true, "{name} {arguments}: {text}");
    text
}

/// Calls a tool, which must fail, and returns its text.
pub(crate) fn refused(web: &Web, token: &str, name: &str, arguments: Value) -> String {
    let result = try_call(web.address, token, name, &arguments).unwrap_or_else(|| panic!("{name} {arguments}"));
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(result["isError"], true, "{name} {arguments}: {text}");
    text
}
