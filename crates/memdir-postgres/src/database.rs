//! The connections to a PostgreSQL server, behind synchronous calls. A caller's thread drives the connections while it waits for its own
//! work; if several wait, one of them drives for all. Reads and changes have connections of their own, so that a plan which reads the
//! store itself cannot wait for other plans.

use crate::{
    failure::{DatabaseFailure, POOL_SECS},
    hints::ChangeHints,
    leader::LeaderFinder,
    migrations::{self, APP_ROLE},
    sql,
    tls::DatabaseTls,
};
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime as PoolRuntime, Timeouts};
use futures_util::FutureExt as _;
use memdir_core::{
    Error, Result,
    internal::{base::time::Deadline, store::stop::Stop},
};
use std::{
    error::Error as _,
    fmt::Display,
    path::PathBuf,
    pin::{Pin, pin},
    sync::Arc,
    thread,
    time::Duration,
};
use tokio::{runtime, sync::oneshot};
use tokio_postgres::{
    Client, Config,
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
    /// Time limit of a statement, after which the server cancels it.
    pub statement_timeout: Duration,
    /// After this time the server ends a transaction whose replica does nothing, for example because it is frozen.
    pub idle_timeout: Duration,
    /// How long work is retried after a connection was lost or the server was restarted.
    pub retry_for: Duration,
    /// A PEM file of certificate authorities, if the server's certificate is not signed by a public one.
    pub root_certificates: Option<PathBuf>,
}

impl DatabaseSettings {
    /// Creates the default settings for a URL.
    pub fn new(url: &str) -> Self {
        DatabaseSettings {
            url: url.to_owned(),
            connections: 16,
            statement_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(10),
            retry_for: Duration::from_secs(30),
            root_certificates: None,
        }
    }

    fn config(&self) -> Result<Config> {
        // The text of the error does not repeat the URL, which may contain a password.
        let invalid = |error: tokio_postgres::Error| {
            let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
            Error::bad_input("database URL", format!("{error}{source}"))
        };
        // Certificates are always verified, so that these modes mean the same.
        let url = self.url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require");
        let mut config: Config = url.parse().map_err(invalid)?;
        if config.get_ssl_mode() != SslMode::Require {
            // Encryption that anyone on the way can turn off protects nothing.
            config.ssl_mode(SslMode::Disable);
        }
        // A standby answers reads with what it has, which may be old.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        config.connect_timeout(Duration::from_secs(5));
        config.keepalives_idle(Duration::from_secs(10)).keepalives_interval(Duration::from_secs(5)).keepalives_retries(3);
        config.tcp_user_timeout(Duration::from_secs(20));
        Ok(config)
    }

    fn tls(&self) -> Result<DatabaseTls> {
        DatabaseTls::new(self.root_certificates.as_deref())
    }

    /// The configuration of a store's connections. The limits are options of the connection, so that none exists without them.
    ///
    /// Every statement finds its rows by a key that begins with the tenant, so one plan fits all parameters. Planning is expensive here,
    /// because of the partitions.
    fn store_config(&self) -> Result<Config> {
        let mut config = self.config()?;
        let own = config.get_options().map(|options| format!("{options} ")).unwrap_or_default();
        let (statement, idle) = (self.statement_timeout.as_millis(), self.idle_timeout.as_millis());
        config.options(format!(
            "{own}-c role={APP_ROLE} -c statement_timeout={statement} -c lock_timeout={statement} \
             -c idle_in_transaction_session_timeout={idle} -c jit=off -c plan_cache_mode=force_generic_plan -c enable_seqscan=off"
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
    /// Drives the connections for reads and changes.
    waiting: CallerDriven,
    hints: ChangeHints,
    tls: DatabaseTls,
    leader: LeaderFinder,
    reads: Pool,
    changes: Pool,
    /// For the requests of asynchronous callers, whose own runtime drives these connections: another thread between them and the server
    /// cost as much as the server itself.
    lookups: Pool,
}

/// A runtime that runs only while a thread waits for work on it. A thread of its own between the caller and the server would cost as much
/// as the server itself.
#[derive(Debug)]
struct CallerDriven(Option<runtime::Runtime>);

impl CallerDriven {
    fn new() -> Result<CallerDriven> {
        Ok(CallerDriven(Some(new_runtime()?)))
    }

    /// Waits for work on the caller's thread, and sends what the work left to be sent, such as a rollback. The work is not generic,
    /// because each copy of the runtime's loop would be some kilobytes of the binary.
    fn block_on(&self, work: Pin<&mut dyn Future<Output = ()>>) {
        if let Some(runtime) = &self.0 {
            runtime.block_on(async {
                work.await;
                tokio::task::yield_now().await;
            });
        }
    }
}

impl Drop for CallerDriven {
    fn drop(&mut self) {
        // The last handle may be dropped on a thread of an asynchronous runtime, which must not wait.
        self.0.take().into_iter().for_each(runtime::Runtime::shutdown_background);
    }
}

fn new_runtime() -> Result<runtime::Runtime> {
    runtime::Builder::new_current_thread().enable_all().build().map_err(unavailable)
}

fn unavailable(error: impl Display) -> Error {
    Error::unavailable("the database", error.to_string())
}

/// The thread that drives what no caller waits for: hints, and requests to cancel. It ends when this is dropped.
#[derive(Debug)]
struct Driver {
    handle: runtime::Handle,
    _ends: oneshot::Sender<()>,
}

impl Driver {
    fn start() -> Result<Driver> {
        let runtime = new_runtime()?;
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
        let (config, tls) = (settings.store_config()?, settings.tls()?);
        let leader = LeaderFinder::new(&config, tls.clone());
        let pool = |size: usize| {
            let manager = Manager::from_connect(config.clone(), leader.clone(), ManagerConfig { recycling_method: RecyclingMethod::Fast });
            let waits = Some(Duration::from_secs(POOL_SECS));
            let timeouts = Timeouts { wait: waits, create: waits, recycle: waits };
            let pool = Pool::builder(manager).max_size(size.max(1)).timeouts(timeouts).runtime(PoolRuntime::Tokio1).build();
            pool.map_err(unavailable)
        };
        let reads = pool(settings.connections)?;
        // Its connection is driven by the driver, so that it cannot be one of those that callers drive.
        let hints = ChangeHints::start(&driver.handle, pool(1)?, (config.clone(), tls.clone()));
        let (changes, lookups) = (pool(settings.connections)?, pool(settings.connections / 4)?);
        let (settings, waiting) = (settings.clone(), CallerDriven::new()?);
        let shared = Shared { reads, changes, lookups, driver, waiting, hints, tls, leader, settings };
        let database = Database { shared: Arc::new(shared) };
        database.retry(&Stop::default(), || database.block_on(database.check_schema()))?;
        Ok(database)
    }

    /// Creates or upgrades the schema, with a role that may create schemas and roles. Returns the number of applied migrations.
    pub fn migrate(settings: &DatabaseSettings) -> Result<usize> {
        let driver = Driver::start()?;
        let config = settings.config()?;
        let migrated = driver.handle.block_on(async { migrations::migrate(&connect_once(&config, settings.tls()?).await?).await });
        migrated.map_err(|failure| failure.error)
    }

    /// Creates a tenant, if it does not exist.
    pub fn create_tenant(&self, tenant: &str) -> Result<()> {
        if tenant.is_empty() || tenant.len() > 200 || tenant.chars().any(char::is_control) {
            return Err(Error::bad_input("tenant", format!("{tenant:?} must be 1 to 200 bytes long, without control characters")));
        }
        self.administer(tenant, async |client| {
            client.execute(sql::ADD_TENANT, &[&tenant]).await?;
            Ok(())
        })
    }

    /// Returns whether a tenant exists.
    pub fn has_tenant(&self, tenant: &str) -> Result<bool> {
        self.has_row(tenant, sql::HAS_TENANT)
    }

    /// Returns whether a tenant has memories.
    pub fn has_memories(&self, tenant: &str) -> Result<bool> {
        self.has_row(tenant, sql::HAS_MEMORIES)
    }

    /// Lists the namespaces of a tenant that were ever written. A tenant that does not exist has none.
    pub fn namespaces(&self, tenant: &str) -> Result<Vec<String>> {
        self.read(&Stop::default(), tenant, async |client| {
            client.query(sql::NAMESPACES, &[&tenant]).await?.iter().map(|row| Ok(row.try_get(0)?)).collect()
        })
    }

    fn has_row(&self, tenant: &str, sql: &str) -> Result<bool> {
        self.read(&Stop::default(), tenant, async |client| Ok(client.query_opt(sql, &[&tenant]).await?.is_some()))
    }

    /// Removes a tenant with everything that belongs to it, its memories included. Returns whether it existed.
    pub fn remove_tenant(&self, tenant: &str) -> Result<bool> {
        self.administer(tenant, async |client| {
            // First, so that changes which are being made end before their rows are removed, and later ones find no person.
            for sql in sql::LOCK_TENANT {
                client.query(*sql, &[&tenant]).await?;
            }
            let mut removed = 0;
            for sql in sql::REMOVE_TENANT {
                removed = client.execute(*sql, &[&tenant]).await?;
            }
            Ok(removed == 1)
        })
    }

    /// Lists all tenants, with the role that owns the schema.
    pub fn tenants(settings: &DatabaseSettings) -> Result<Vec<String>> {
        let driver = Driver::start()?;
        let config = settings.config()?;
        let listed: Result<Vec<String>, DatabaseFailure> = driver.handle.block_on(async {
            let client = connect_once(&config, settings.tls()?).await?;
            migrations::check(&client).await?;
            let rows = client.query("select tenant from memdir.tenants order by tenant", &[]).await?;
            rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
        });
        listed.map_err(|failure| failure.error)
    }

    /// Fails if the database cannot be reached, or its schema does not fit this release. Tries once.
    pub fn check(&self) -> Result<()> {
        self.block_within(READY_LIMIT, self.check_schema()).map_err(|failure| failure.error)
    }

    /// Runs a change of a tenant's administration in one transaction.
    pub(crate) fn administer<T>(&self, tenant: &str, work: impl AsyncFn(&Object) -> Result<T, DatabaseFailure>) -> Result<T> {
        self.administer_or_undo(tenant, true, work)
    }

    /// Like [`Database::administer`]; rolls back unless `commits`, to report what would be done.
    pub(crate) fn administer_or_undo<T>(
        &self,
        tenant: &str,
        commits: bool,
        work: impl AsyncFn(&Object) -> Result<T, DatabaseFailure>,
    ) -> Result<T> {
        self.retry(&Stop::default(), || {
            self.block_on(async {
                let session = self.change_session(tenant, &[]).await?;
                let client = session.client()?;
                let value = work(client).await?;
                client.batch_execute(if commits { "commit" } else { "rollback" }).await?;
                session.finish();
                Ok(value)
            })
        })
    }

    /// Awaits work on connections of [`Database::lookup_session`], on any runtime. A server that does not answer counts as a lost connection.
    /// Calls `work` again after temporary failures, as long as changes are retried: for callers, a failover is a pause and not an error.
    pub(crate) async fn look_up<T, F: Future<Output = Result<T, DatabaseFailure>>>(&self, work: impl Fn() -> F) -> Result<T> {
        let mut pauses = Pauses::new(self.shared.settings.retry_for);
        loop {
            let done = tokio::select! {
                biased;
                done = work() => done,
                () = tokio::time::sleep(READY_LIMIT) => Err(no_answer(READY_LIMIT)),
                never = self.shared.leader.watch() => match never {},
            };
            let failure = match done {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            let pause = pauses.next();
            if !failure.is_temporary() || pause.is_zero() {
                return Err(failure.error);
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Waits for a future of this crate on the caller's thread, which must not be one of an asynchronous runtime.
    pub fn wait_for<T>(&self, future: impl Future<Output = T>) -> T {
        self.shared.driver.handle.block_on(future)
    }

    /// Returns a connection for reads, which are rolled back when it is dropped.
    pub(crate) async fn read_session(&self) -> Result<Transaction, DatabaseFailure> {
        Ok(Transaction::new(self, self.shared.reads.get().await?))
    }

    /// Returns a connection for asynchronous callers. What they do is rolled back when it is dropped.
    pub(crate) async fn lookup_session(&self) -> Result<Transaction, DatabaseFailure> {
        Ok(Transaction::new(self, self.shared.lookups.get().await?))
    }

    async fn check_schema(&self) -> Result<(), DatabaseFailure> {
        migrations::check(&*self.shared.reads.get().await?).await
    }

    /// Waits for a piece of work on the caller's thread. A server that does not answer counts as a lost connection.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = Result<T, DatabaseFailure>>) -> Result<T, DatabaseFailure> {
        self.block_within(self.answer_limit(), work)
    }

    /// Like [`Database::block_on`], with a limit of its own.
    pub(crate) fn block_within<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = Result<T, DatabaseFailure>>,
    ) -> Result<T, DatabaseFailure> {
        let mut done = None;
        self.drive(limit, pin!(async { done = Some(work.await) }));
        done.unwrap_or_else(|| Err(no_answer(limit)))
    }

    /// Waits until work is done, but not longer than a limit.
    fn drive(&self, limit: Duration, work: Pin<&mut dyn Future<Output = ()>>) {
        let work = pin!(async {
            tokio::select! {
                biased;
                () = work => {}
                () = tokio::time::sleep(limit) => {}
                never = self.shared.leader.watch() => match never {},
            }
        });
        self.shared.waiting.block_on(work);
    }

    /// The time after which the server itself would have ended a statement, and a little more.
    pub(crate) fn answer_limit(&self) -> Duration {
        self.shared.settings.statement_timeout + Duration::from_secs(15)
    }

    /// Calls `work` again after temporary failures, with growing pauses.
    pub(crate) fn retry<T>(&self, stop: &Stop, mut work: impl FnMut() -> Result<T, DatabaseFailure>) -> Result<T> {
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
    pub(crate) fn read<T>(&self, stop: &Stop, tenant: &str, work: impl AsyncFn(&Object) -> Result<T, DatabaseFailure>) -> Result<T> {
        self.retry(stop, || {
            self.block_on(async {
                let session = self.read_session().await?;
                let client = session.client()?;
                // The transaction ends by a rollback, which is not waited for.
                let begin = begin_read(tenant);
                let (begun, value) = send_before(client.batch_execute(&begin), work(client)).await;
                begun?;
                value
            })
        })
    }

    /// Begins a transaction on a connection for changes, with parameters of the server that hold until its end.
    pub(crate) async fn change_session(&self, tenant: &str, parameters: &[(&str, String)]) -> Result<Transaction, DatabaseFailure> {
        let session = Transaction::new(self, self.shared.changes.get().await?);
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
    pub(crate) fn cancel(&self, session: &Transaction) {
        if let Ok(client) = session.client() {
            let (token, tls) = (client.cancel_token(), self.shared.tls.clone());
            self.shared.driver.handle.spawn(async move { token.cancel_query(tls).await });
        }
    }

    pub(crate) fn hints(&self) -> &ChangeHints {
        &self.shared.hints
    }

    pub(crate) fn retry_for(&self) -> Duration {
        self.shared.settings.retry_for
    }
}

fn no_answer(limit: Duration) -> DatabaseFailure {
    DatabaseFailure::disconnected(&format!("no result within {} seconds", limit.as_secs()))
}

/// Connects with the role of the URL, without the limits of a store.
async fn connect_once(config: &Config, tls: DatabaseTls) -> Result<Client, DatabaseFailure> {
    Ok(LeaderFinder::new(config, tls).connect().await?.0)
}

/// Returns the statements that begin a transaction of a tenant that reads one snapshot. They are one message, because the server answers
/// each message by itself, and each answer wakes a thread. A message of several statements has no parameters, so the name is
/// in hexadecimal digits: no name can be anything but a name.
pub(crate) fn begin_read(tenant: &str) -> String {
    let digits: String = tenant.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "begin isolation level repeatable read read only;
        select set_config('memdir.tenant', convert_from(decode('{digits}', 'hex'), 'UTF8'), true)"
    )
}

/// Sends a request, and then others without waiting for the answer to the first.
///
/// Both are polled until both are done: a connection delivers the answers in order, so that an answer which no one takes, such as a long
/// error, would hold back those after it.
pub(crate) async fn send_before<A, T>(first: impl Future<Output = A>, then: impl Future<Output = T>) -> (A, T) {
    tokio::join!(biased; first, then)
}

/// How long a check of a token or of the database may take.
const READY_LIMIT: Duration = Duration::from_secs(5);

/// A connection in a transaction. If the transaction was not finished, dropping this rolls it back.
#[derive(Debug)]
pub(crate) struct Transaction {
    database: Database,
    /// `None` only while it is dropped.
    client: Option<Object>,
    is_open: bool,
}

impl Transaction {
    fn new(database: &Database, client: Object) -> Self {
        Transaction { database: database.clone(), client: Some(client), is_open: true }
    }

    pub(crate) fn client(&self) -> Result<&Object, DatabaseFailure> {
        self.client.as_ref().ok_or_else(|| DatabaseFailure::disconnected("the connection was closed"))
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

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        if let Some(client) = &self.client {
            // The request is sent by the first poll, and its answer is not waited for: the next user's requests come after it.
            let _ = client.batch_execute("rollback").now_or_never();
        }
        // Outside of a runtime no one drives the connection, and the server would keep the locks.
        if runtime::Handle::try_current().is_err() {
            self.database.shared.waiting.block_on(pin!(async {}));
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

    /// Returns the next pause; none if the time is over.
    fn next(&mut self) -> Duration {
        let pause = self.next.min(self.deadline.left());
        self.next = (self.next * 2).min(Duration::from_secs(1));
        pause
    }

    /// Waits, and returns whether there is time for another attempt.
    pub(crate) fn wait(&mut self, database: &Database, stop: &Stop) -> bool {
        let pause = self.next();
        if pause.is_zero() || stop.is_stopped() {
            return false;
        }
        // Meanwhile the connections notice that the server has closed them.
        database.shared.waiting.block_on(pin!(async { tokio::time::sleep(pause).await }));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::{Context, Poll, Waker};
    use tokio::sync::mpsc;

    /// The connection stops at an answer that does not fit into the channel of its request.
    #[test]
    fn a_long_first_answer_does_not_hold_back_the_next_one() {
        let (sender, mut receiver) = mpsc::channel(1);
        let first = async {
            let mut parts = 0;
            while receiver.recv().await.is_some() {
                parts += 1;
            }
            parts
        };
        let then = async move {
            for part in 0..5 {
                sender.send(part).await.unwrap();
            }
        };
        let mut both = pin!(send_before(first, then));
        let done = (0..20).find_map(|_| match both.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready((parts, ())) => Some(parts),
            Poll::Pending => None,
        });
        assert_eq!(done, Some(5));
    }
}
