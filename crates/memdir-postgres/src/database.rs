//! The connections to a PostgreSQL server, behind synchronous calls. One thread drives all of them; a caller's thread waits for its own
//! work. Reads and changes have connections of their own, so that a plan which reads the store itself cannot wait for other plans.

use crate::{
    failure::Failure,
    migrations::{self, APP_ROLE},
    sql,
};
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime as PoolRuntime, Timeouts};
use futures_util::FutureExt as _;
use memdir_core::{
    Error, Result,
    internal::{base::time::Deadline, store::stop::Stop},
};
use std::{error::Error as _, sync::Arc, thread, time::Duration};
use tokio::{runtime, sync::oneshot};
use tokio_postgres::{
    Config, NoTls,
    config::{SslMode, TargetSessionAttrs},
    types::ToSql,
};

/// How a database is used.
#[derive(Debug, Clone)]
pub struct DatabaseSettings {
    /// The URL or the connection string, as `psql` takes it.
    pub url: String,
    /// The maximum number of connections for changes; reads have as many of their own.
    pub connections: usize,
    /// After this time the server ends a statement.
    pub statement_timeout: Duration,
    /// After this time the server ends a transaction whose replica does nothing, for example because it is frozen.
    pub idle_timeout: Duration,
    /// For how long work is tried again after a connection was lost or the server was restarted.
    pub retry_for: Duration,
}

impl DatabaseSettings {
    /// Creates the default settings for a URL.
    pub fn new(url: &str) -> Self {
        DatabaseSettings {
            url: url.to_owned(),
            connections: 16,
            statement_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(20),
            retry_for: Duration::from_secs(30),
        }
    }

    fn config(&self) -> Result<Config> {
        // The text of the error does not repeat the URL, which may contain a password.
        let invalid = |error: tokio_postgres::Error| {
            let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
            Error::bad_input("database URL", format!("{error}{source}"))
        };
        let mut config: Config = self.url.parse().map_err(invalid)?;
        if config.get_ssl_mode() == SslMode::Require {
            let why = "TLS is not supported yet; connect over a Unix socket or a private network with sslmode=prefer";
            return Err(Error::bad_input("database URL", why));
        }
        config.connect_timeout(Duration::from_secs(5));
        config.keepalives_idle(Duration::from_secs(10)).keepalives_interval(Duration::from_secs(5)).keepalives_retries(3);
        config.tcp_user_timeout(Duration::from_secs(20));
        Ok(config)
    }

    /// The configuration of a store's connections. The limits are options of the connection, so that none exists without them.
    fn store_config(&self) -> Result<Config> {
        let mut config = self.config()?;
        // A standby answers reads with what it has, which may be old.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        let own = config.get_options().map(|options| format!("{options} ")).unwrap_or_default();
        let (statement, idle) = (self.statement_timeout.as_millis(), self.idle_timeout.as_millis());
        config.options(format!(
            "{own}-c role={APP_ROLE} -c statement_timeout={statement} -c lock_timeout={statement} \
             -c idle_in_transaction_session_timeout={idle} -c jit=off"
        ));
        config.application_name("memdir");
        Ok(config)
    }
}

/// A database of memdir. A handle: clones share the connections.
///
/// Its calls wait, and must not be made on a thread of an asynchronous runtime: use a worker thread.
#[derive(Debug, Clone)]
pub struct Database {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: DatabaseSettings,
    driver: Driver,
    reads: Pool,
    changes: Pool,
}

/// The thread that drives the connections. It ends when this is dropped.
#[derive(Debug)]
struct Driver {
    handle: runtime::Handle,
    _ends: oneshot::Sender<()>,
}

impl Driver {
    fn start() -> Result<Driver> {
        let unavailable = |error: std::io::Error| Error::Unavailable { what: "the database".into(), why: error.to_string() };
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(unavailable)?;
        let handle = runtime.handle().clone();
        let (ends, ended) = oneshot::channel::<()>();
        let drive = move || drop(runtime.block_on(ended));
        thread::Builder::new().name("memdir-postgres".into()).spawn(drive).map_err(unavailable)?;
        Ok(Driver { handle, _ends: ends })
    }
}

impl Database {
    /// Connects, and checks the version of the schema.
    pub fn connect(settings: &DatabaseSettings) -> Result<Database> {
        let driver = Driver::start()?;
        let config = settings.store_config()?;
        let pool = || {
            let manager = Manager::from_config(config.clone(), NoTls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
            let waits = Some(Duration::from_secs(10));
            let timeouts = Timeouts { wait: waits, create: waits, recycle: waits };
            let pool = Pool::builder(manager).max_size(settings.connections.max(1)).timeouts(timeouts).runtime(PoolRuntime::Tokio1).build();
            pool.map_err(|error| Error::Unavailable { what: "the database".into(), why: error.to_string() })
        };
        let shared = Shared { reads: pool()?, changes: pool()?, driver, settings: settings.clone() };
        let database = Database { shared: Arc::new(shared) };
        database.retry(&Stop::default(), || database.block_on(database.check_schema()))?;
        Ok(database)
    }

    /// Creates or upgrades the schema, with a role that may create schemas and roles. Returns the number of applied migrations.
    pub fn migrate(settings: &DatabaseSettings) -> Result<usize> {
        let driver = Driver::start()?;
        let config = settings.config()?;
        let migrated = driver.handle.block_on(async {
            let (client, connection) = config.connect(NoTls).await?;
            tokio::spawn(connection);
            migrations::migrate(&client).await
        });
        migrated.map_err(|failure| failure.error)
    }

    /// Creates a tenant, if it does not exist.
    pub fn create_tenant(&self, tenant: &str) -> Result<()> {
        if tenant.is_empty() || tenant.len() > 200 || tenant.chars().any(char::is_control) {
            return Err(Error::bad_input("tenant", format!("{tenant:?} is not a name of 1 to 200 bytes without control characters")));
        }
        self.retry(&Stop::default(), || {
            self.block_on(async {
                let session = self.change_session(tenant, &[]).await?;
                let client = session.client()?;
                client.execute("insert into memdir.tenants (tenant) values ($1) on conflict do nothing", &[&tenant]).await?;
                client.batch_execute("commit").await?;
                session.finish();
                Ok(())
            })
        })
    }

    async fn check_schema(&self) -> Result<(), Failure> {
        migrations::check(&*self.shared.reads.get().await?).await
    }

    /// Waits for a piece of work on the caller's thread. A server that does not answer counts as a lost connection.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        self.block_within(self.answer_limit(), work)
    }

    /// Like [`Database::block_on`], with a limit of its own.
    pub(crate) fn block_within<T>(&self, limit: Duration, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        self.shared.driver.handle.block_on(async {
            tokio::time::timeout(limit, work).await.unwrap_or_else(|_| Err(Failure::disconnected("it did not answer in time")))
        })
    }

    /// The time after which the server itself would have ended a statement, and a little more.
    pub(crate) fn answer_limit(&self) -> Duration {
        self.shared.settings.statement_timeout + Duration::from_secs(15)
    }

    /// Calls `work` again after temporary failures, with growing pauses.
    pub(crate) fn retry<T>(&self, stop: &Stop, mut work: impl FnMut() -> Result<T, Failure>) -> Result<T> {
        let mut pauses = Pauses::new(self.shared.settings.retry_for);
        loop {
            stop.check()?;
            match work() {
                Ok(value) => return Ok(value),
                Err(failure) if failure.is_temporary() && pauses.wait(self, stop) => {}
                Err(failure) => return Err(failure.error),
            }
        }
    }

    /// Runs reads in one transaction with one snapshot. Takes one round trip if `work` takes one.
    pub(crate) fn read<T>(&self, stop: &Stop, tenant: &str, work: impl AsyncFn(&Object) -> Result<T, Failure>) -> Result<T> {
        self.retry(stop, || {
            self.block_on(async {
                let session = Session::new(self.shared.reads.get().await?);
                let client = session.client()?;
                let set = client.prepare_cached(sql::SET_TENANT).await?;
                let own: [&(dyn ToSql + Sync); 1] = [&tenant];
                // Sent in this order without waiting in between. The transaction ends by a rollback, which is not waited for.
                let (begun, set, value) = tokio::join!(
                    biased;
                    client.batch_execute("begin isolation level repeatable read read only"),
                    client.execute(&set, &own),
                    work(client)
                );
                begun?;
                set?;
                value
            })
        })
    }

    /// Begins a transaction on a connection for changes, with parameters of the server that hold until its end.
    pub(crate) async fn change_session(&self, tenant: &str, parameters: &[(&str, String)]) -> Result<Session, Failure> {
        let session = Session::new(self.shared.changes.get().await?);
        let client = session.client()?;
        let set = client.prepare_cached(sql::SET_TENANT).await?;
        let set_parameter = &client.prepare_cached(sql::SET_PARAMETER).await?;
        let parameters = parameters.iter().map(|(name, value)| async move { client.execute(set_parameter, &[name, value]).await });
        let own: [&(dyn ToSql + Sync); 1] = [&tenant];
        let (begun, set, parameters) = tokio::join!(
                    biased;
            client.batch_execute("begin isolation level read committed read write"),
            client.execute(&set, &own),
            futures_util::future::join_all(parameters)
        );
        begun?;
        set?;
        for parameter in parameters {
            parameter?;
        }
        Ok(session)
    }

    /// Asks the server to cancel what a connection waits for, without waiting for the answer.
    pub(crate) fn cancel(&self, session: &Session) {
        if let Ok(client) = session.client() {
            let token = client.cancel_token();
            self.shared.driver.handle.spawn(async move { token.cancel_query(NoTls).await });
        }
    }

    pub(crate) fn retry_for(&self) -> Duration {
        self.shared.settings.retry_for
    }
}

/// A connection in a transaction. If the transaction was not finished, dropping this rolls it back.
#[derive(Debug)]
pub(crate) struct Session {
    /// `None` only while it is dropped.
    client: Option<Object>,
    is_open: bool,
}

impl Session {
    fn new(client: Object) -> Self {
        Session { client: Some(client), is_open: true }
    }

    pub(crate) fn client(&self) -> Result<&Object, Failure> {
        self.client.as_ref().ok_or_else(|| Failure::disconnected("the connection was closed"))
    }

    /// Says that the transaction has ended.
    pub(crate) fn finish(mut self) {
        self.is_open = false;
    }

    /// Closes the connection instead of giving it back. The server rolls back.
    pub(crate) fn discard(mut self) {
        drop(self.client.take().map(Object::take));
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(client) = self.client.as_ref().filter(|_| self.is_open) {
            // The request is sent by the first poll, and its answer is not waited for: the next user's requests come after it.
            let _ = client.batch_execute("rollback").now_or_never();
        }
    }
}

/// Growing pauses between attempts, until a deadline.
pub(crate) struct Pauses {
    deadline: Deadline,
    next: Duration,
}

impl Pauses {
    pub(crate) fn new(limit: Duration) -> Self {
        Pauses { deadline: Deadline::after(limit), next: Duration::from_millis(10) }
    }

    /// Waits, and returns whether there is time for another attempt.
    pub(crate) fn wait(&mut self, database: &Database, stop: &Stop) -> bool {
        let pause = self.next.min(self.deadline.left());
        self.next = (self.next * 2).min(Duration::from_secs(1));
        if pause.is_zero() || stop.is_stopped() {
            return false;
        }
        database.shared.driver.handle.block_on(async { tokio::time::sleep(pause).await });
        true
    }
}
