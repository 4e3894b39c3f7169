//! One change: a transaction on one connection, from the lock of its namespaces to the commit. The plan reads on the same connection.

use crate::{
    claim::{self, ClaimedBy},
    database::{Database, Pauses, Transaction, send_before},
    failure::{DatabaseFailure, FailureKind},
    history,
    proposals::{self, Acceptance},
    reads,
    space::{CallerSpace, FileWrite, NamespaceFile},
    sql,
};
use deadpool_postgres::Object;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    Access, Change, ChangeId, Error, FileChange, FileEdit, IdempotencyKey, Intent, MemoryPath, MountInfo, Proposal, Result, Stamp, Stored,
    Version, View,
    internal::{
        base::time::Deadline,
        store::{Plan, Walk, mounts, stop::Stop},
    },
};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use tokio_postgres::types::ToSql;

/// The interval at which a wait for a lock checks whether the caller was cancelled.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// What every attempt of a change needs.
pub(crate) struct ChangeJob<'a> {
    pub(crate) database: &'a Database,
    pub(crate) space: &'a CallerSpace,
    pub(crate) stop: &'a Stop,
    pub(crate) key: Option<&'a IdempotencyKey>,
    pub(crate) intent: &'a Intent,
    pub(crate) namespaces: BTreeSet<String>,
    /// The proposal that the change accepts.
    pub(crate) accepts: Option<Acceptance<'a>>,
    pub(crate) deadline: Deadline,
}

/// The locked namespaces of a change.
#[derive(Default)]
pub(crate) struct LockedNamespaces {
    /// Each with its sequence and its place in the order before the change.
    namespaces: BTreeMap<String, (i64, i64)>,
    /// Those of them that are under review.
    reviewed: BTreeSet<String>,
    /// The server's clock when they were locked, in microseconds.
    clock_us: i64,
}

/// How an attempt ended.
enum Attempt {
    Committed(Change),
    /// There was nothing to change, or an earlier attempt made the change.
    Unchanged(Change),
    /// The change was stored as a proposal, now or by an earlier attempt.
    Proposed {
        proposal: Box<Proposal>,
        is_new: bool,
        /// Whether an earlier request with the same key proposed it.
        is_repeated: bool,
    },
    /// The connection was lost during the commit: the server may have committed this change.
    Unknown(Change, DatabaseFailure),
}

impl ChangeJob<'_> {
    /// Makes the change. After a temporary failure everything is retried, including the plan. If the outcome of a commit is unknown,
    /// the next attempt looks for the change's id under the same locks: no transaction of this change can still be running then.
    pub(crate) fn run(&self, plan: &mut Plan<'_>) -> Result<Change> {
        let mut pauses = Pauses::new(self.database.retry_for());
        let mut unknown: Option<Change> = None;
        // A proposal has the id of its change already.
        let mut id = self.accepts.as_ref().map_or_else(ChangeId::generate, |accepted| Ok(accepted.proposal.id.clone()))?;
        loop {
            let failure = match self.attempt(&id, unknown.as_ref(), plan) {
                Ok(Attempt::Committed(change)) => {
                    self.database.hints().announce(&self.space.tenant, self.namespaces.iter());
                    return Ok(change);
                }
                Ok(Attempt::Unchanged(change)) => return Ok(change),
                Ok(Attempt::Proposed { proposal, is_repeated, .. }) => {
                    self.database.hints().announce(&self.space.tenant, self.namespaces.iter());
                    return Err(proposals::proposed_error(&proposal, is_repeated));
                }
                Ok(Attempt::Unknown(change, failure)) => {
                    unknown = Some(change);
                    failure
                }
                Err(failure) => failure,
            };
            let may_retry = match failure.kind {
                // Another change of the namespace has this id.
                FailureKind::Duplicate if unknown.is_none() && self.accepts.is_none() => {
                    id = ChangeId::generate()?;
                    true
                }
                _ => failure.is_temporary(),
            };
            if !may_retry || !pauses.wait(self.database, self.stop) {
                return Err(self.error(failure, unknown));
            }
        }
    }

    fn error(&self, failure: DatabaseFailure, unknown: Option<Change>) -> Error {
        if let Some(change) = unknown {
            return Error::Uncertain {
                change: change.id.to_string(),
                why: format!("the connection was lost during the commit ({})", failure.error),
            };
        }
        if failure.kind == FailureKind::NoTenant && self.space.person.is_some() {
            return Error::Removed { what: "the tenant".into() };
        }
        if failure.kind == FailureKind::Locked {
            let root = self.namespaces.first().map(|namespace| crate::space::root(&self.space.tenant, namespace));
            return Error::Busy { path: root.unwrap_or_default(), waited_secs: self.deadline.limit().as_secs(), holder: None };
        }
        failure.error
    }

    fn attempt(&self, id: &ChangeId, unknown: Option<&Change>, plan: &mut Plan<'_>) -> Result<Attempt, DatabaseFailure> {
        self.stop.check()?;
        let left = self.deadline.left().max(Duration::from_millis(1));
        // A wait for a lock counts as the time of its statement.
        let limit = left + self.database.answer_limit();
        let parameters = [
            ("lock_timeout", left.as_millis().to_string()),
            ("statement_timeout", limit.as_millis().to_string()),
            // The database refuses changes of releases that do not know reviews.
            ("memdir.knows_review", "on".to_owned()),
        ];
        let session = self.database.block_on(self.database.change_session(&self.space.tenant, &parameters))?;
        let attempted = self.attempt_in(&session, limit, id, unknown, plan);
        match &attempted {
            Ok(Attempt::Committed(_) | Attempt::Proposed { is_new: true, .. }) => session.finish(),
            Ok(Attempt::Unknown(..)) => session.discard(),
            Err(failure) if failure.ended_connection() || self.stop.is_stopped() => {
                // The server may still wait for a lock.
                self.database.cancel(&session);
                session.discard();
            }
            // Dropping the session rolls back.
            Ok(Attempt::Unchanged(_) | Attempt::Proposed { .. }) | Err(_) => {}
        }
        attempted
    }

    fn attempt_in(
        &self,
        session: &Transaction,
        limit: Duration,
        id: &ChangeId,
        unknown: Option<&Change>,
        plan: &mut Plan<'_>,
    ) -> Result<Attempt, DatabaseFailure> {
        let client = session.client()?;
        let (claimed, locked) = self.lock(client, id, limit)?;
        if let Some(earlier) = claimed.as_ref().or_else(|| unknown.map(|change| &change.id)) {
            let mut recorded = self.database.block_on(history::load(client, self.space, std::slice::from_ref(&earlier.0)))?;
            if let Some(change) = recorded.pop() {
                return Ok(Attempt::Unchanged(change));
            }
            if let Some(proposal) = self.database.block_on(proposals::find(client, self.space, earlier))? {
                // An attempt of this request whose commit was not answered may have claimed the key.
                let is_repeated = claimed.is_some() && unknown.is_none_or(|change| change.id != *earlier);
                return Ok(Attempt::Proposed { proposal: Box::new(proposal), is_new: false, is_repeated });
            }
            if claimed.is_some() {
                // The claimed change had nothing to change.
                return Ok(Attempt::Unchanged(self.new_change(earlier.clone(), Vec::new())));
            }
        }
        if let Some(accepted) = &self.accepts {
            // Before the plan, which would take the change of an earlier acceptance for a conflict.
            self.database.block_on(proposals::record_acceptance(client, self.space, accepted, self.intent.at))?;
        }
        let view = PlanView { job: self, client, reviewed: &locked.reviewed, failed: RefCell::new(None) };
        let planned = plan(&view);
        // A plan may continue after a failed read, with incomplete data.
        if let Some(failure) = view.failed.into_inner() {
            return Err(failure);
        }
        let edits = planned?;
        self.stop.check()?;
        let writes = self.check(client, edits, &locked)?;
        let change = self.new_change(id.clone(), writes.iter().map(file_change).collect());
        if writes.is_empty() && self.key.is_none() {
            return Ok(Attempt::Unchanged(change));
        }
        let namespace = match &self.accepts {
            Some(_) => None,
            None => {
                let former = proposals::former_reviews(client, self.space, &writes, &locked.reviewed);
                proposals::reviewed_namespace(self.space, &writes, &locked.reviewed, &self.database.block_on(former)?)?
            }
        };
        let done = match namespace {
            Some(namespace) => self.database.block_on(proposals::propose(client, &self.space.tenant, namespace, &change, &writes)),
            None => self.database.block_on(write(client, self, &change, &writes, &locked)),
        };
        match done {
            Ok(()) if namespace.is_some() => {
                Ok(Attempt::Proposed { proposal: Box::new(proposals::to_open(&change)), is_new: true, is_repeated: false })
            }
            Ok(()) => Ok(Attempt::Committed(change)),
            Err(failure) if failure.ended_connection() => Ok(Attempt::Unknown(change, failure)),
            Err(failure) => Err(failure),
        }
    }

    /// Claims the idempotency key, then locks the namespaces. Returns the change that claimed the key earlier.
    fn lock(&self, client: &Object, id: &ChangeId, limit: Duration) -> Result<(Option<ChangeId>, LockedNamespaces), DatabaseFailure> {
        let work = async {
            let claimed = match self.key {
                Some(key) => claim::claim(client, &self.space.tenant, key, &ClaimedBy::Change(id.clone())).await?,
                None => None,
            };
            let claimed = match claimed {
                Some(ClaimedBy::Withdrawal(id)) => return Err(Error::Repeated { change: id.to_string() }.into()),
                Some(ClaimedBy::Change(id)) => Some(id),
                None => None,
            };
            if claimed.is_some() {
                return Ok((claimed, LockedNamespaces::default()));
            }
            self.hold_people(client).await?;
            Ok((None, lock_namespaces(client, &self.space.tenant, &self.namespaces).await?))
        };
        let stopped = async {
            while !self.stop.is_stopped() {
                tokio::time::sleep(STOP_CHECK).await;
            }
        };
        self.database.block_within(limit, async {
            tokio::select! {
                locked = work => locked,
                () = stopped => Err(self.stop.check().err().map_or_else(|| DatabaseFailure::disconnected("stopped"), DatabaseFailure::from)),
            }
        })
    }

    /// Keeps the person, and the author of an accepted proposal, from being erased before the change is made: otherwise their name would
    /// come back into the history. Fails if the person was erased already; the proposals of an erased author are gone too.
    async fn hold_people(&self, client: &Object) -> Result<(), DatabaseFailure> {
        let Some(person) = self.space.person.as_deref() else { return Ok(()) };
        let author = self.accepts.as_ref().map(|accepted| accepted.proposal.author.name.as_str());
        let people: Vec<&str> = std::iter::once(person).chain(author).collect();
        let statement = client.prepare_cached(sql::HOLD_PEOPLE).await?;
        let held = client.query(&statement, &[&self.space.tenant, &people]).await?;
        let mut names = held.iter().map(|row| row.try_get::<_, &str>(0));
        if !names.any(|name| name.is_ok_and(|name| name == person)) {
            return Err(Error::Removed { what: "the token's owner".into() }.into());
        }
        Ok(())
    }

    fn new_change(&self, id: ChangeId, mut files: Vec<FileChange>) -> Change {
        files.shared_sort_by(|a, b| a.path.cmp(&b.path));
        Change {
            id,
            at: self.intent.at,
            actor: self.intent.actor.clone(),
            verb: self.intent.verb,
            undoes: self.intent.undoes.clone(),
            reviewer: self.accepts.as_ref().map(|accepted| accepted.reviewer.name.clone()),
            files,
            elsewhere: Vec::new(),
            incomplete: false,
            after_damage: false,
        }
    }

    /// Refuses edits that the mounts do not allow; drops edits that change nothing.
    fn check(&self, client: &Object, edits: Vec<FileEdit>, locked: &LockedNamespaces) -> Result<Vec<FileWrite>, DatabaseFailure> {
        let mut spots = Vec::new();
        for edit in &edits {
            let spot = self.space.spot(&edit.path)?;
            self.space.check_writable(&spot, &|| self.exists(client, &spot))?;
            if !locked.namespaces.contains_key(self.space.namespace(&spot)) {
                let why = "internal error: the namespace of this memory is not locked for this change";
                return Err(Error::unavailable(edit.path.to_string(), why).into());
            }
            mounts::check_size(&self.space.infos[spot.mount], edit)?;
            spots.push(spot);
        }
        let wanted = spots.iter().map(|spot| (self.space.namespace(spot), spot.rel.as_str()));
        let found = self.database.block_on(reads::get_exact(client, self.space, wanted))?;
        let mut writes = Vec::new();
        for (edit, spot) in edits.into_iter().zip(spots) {
            let before = found.get(&(self.space.namespace(&spot).to_owned(), spot.rel.clone()));
            if before.map(|document| &document.bytes) != edit.bytes.as_ref() {
                writes.push(FileWrite { before: before.map(|document| document.version), spot, edit });
            }
        }
        self.database.block_on(check_places(client, self.space, &writes))?;
        Ok(writes)
    }

    fn exists(&self, client: &Object, spot: &NamespaceFile) -> Result<bool> {
        let wanted = std::iter::once((self.space.namespace(spot), spot.rel.as_str()));
        let found = self.database.block_on(reads::get_exact(client, self.space, wanted)).map_err(|failure| failure.error)?;
        Ok(!found.is_empty())
    }
}

/// Locks namespaces in their order, and creates those that do not exist.
pub(crate) async fn lock_namespaces(
    client: &Object,
    tenant: &str,
    namespaces: &BTreeSet<String>,
) -> Result<LockedNamespaces, DatabaseFailure> {
    let names: Vec<&str> = namespaces.iter().map(String::as_str).collect();
    let (statement, clock) = (client.prepare_cached(sql::LOCK).await?, client.prepare_cached(sql::CLOCK).await?);
    let parameters: [&(dyn ToSql + Sync); 2] = [&tenant, &names];
    // The server reads its clock when it has the locks.
    let (rows, clock) = send_before(client.query(&statement, &parameters), client.query_one(&clock, &[])).await;
    let mut rows = rows?;
    if rows.len() < names.len() {
        client.execute(sql::ADD_NAMESPACES, &[&tenant, &names]).await?;
        rows = client.query(&statement, &parameters).await?;
    }
    let mut locked = LockedNamespaces { clock_us: clock?.try_get(0)?, ..LockedNamespaces::default() };
    for row in &rows {
        let namespace: String = row.try_get(0)?;
        if row.try_get(3)? {
            locked.reviewed.insert(namespace.clone());
        }
        locked.namespaces.insert(namespace, (row.try_get(1)?, row.try_get(2)?));
    }
    Ok(locked)
}

/// Refuses a file at the place of a folder, and a file in a folder at the place of a file: no directory could hold both.
async fn check_places(client: &Object, space: &CallerSpace, writes: &[FileWrite]) -> Result<(), DatabaseFailure> {
    let (mut namespaces, mut paths, mut folders) = (Vec::new(), Vec::new(), Vec::new());
    let mut wanted = |namespace: &str, path: &str, is_folder: bool| {
        namespaces.push(namespace.to_owned());
        paths.push(path.to_owned());
        folders.push(is_folder);
    };
    for write in writes.iter().filter(|write| write.edit.bytes.is_some() && write.before.is_none()) {
        let (namespace, rel) = (space.namespace(&write.spot), write.spot.rel.as_str());
        wanted(namespace, rel, true);
        rel.match_indices('/').for_each(|(slash, _)| wanted(namespace, &rel[..slash], false));
    }
    if paths.is_empty() {
        return Ok(());
    }
    let statement = client.prepare_cached(sql::TAKEN).await?;
    let taken = client.query(&statement, &[&space.tenant, &namespaces, &paths, &folders]).await?;
    let taken = taken.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<Vec<(String, bool)>, DatabaseFailure>>()?;
    // A folder that this change itself creates.
    let new_folder = || {
        let is_folder =
            |n: usize| (0..paths.len()).any(|other| !folders[other] && (&namespaces[other], &paths[other]) == (&namespaces[n], &paths[n]));
        (0..paths.len()).find(|n| folders[*n] && is_folder(*n)).map(|n| (paths[n].clone(), true))
    };
    match taken.into_iter().next().or_else(new_folder) {
        Some((path, true)) => Err(Error::explained_path(path, "it is a directory; use another name").into()),
        Some((path, false)) => Err(Error::below_file(path).into()),
        None => Ok(()),
    }
}

/// Writes a change and commits, in one round trip. A lost connection means that the outcome is unknown.
async fn write(
    client: &Object,
    job: &ChangeJob<'_>,
    change: &Change,
    writes: &[FileWrite],
    locked: &LockedNamespaces,
) -> Result<(), DatabaseFailure> {
    let tenant = &job.space.tenant;
    let touched: BTreeSet<&str> = writes.iter().map(|write| job.space.namespace(&write.spot)).collect();
    let namespaces: Vec<&str> = touched.into_iter().collect();
    let next = |namespace: &str| locked.namespaces.get(namespace).map_or(1, |(sequence, _)| sequence + 1);
    let sequences: Vec<i64> = namespaces.iter().map(|namespace| next(namespace)).collect();
    // After everything that is older in any of the namespaces, whatever the clock says.
    let newest = namespaces.iter().filter_map(|namespace| locked.namespaces.get(*namespace)).map(|(_, recorded)| *recorded).max();
    let recorded = locked.clock_us.max(newest.unwrap_or(0) + 1);
    let (at_ms, at_ns) = (change.at.as_millisecond(), i64::try_from(change.at.as_nanosecond()).unwrap_or(i64::MAX));

    let files: Vec<ChangedFile<'_>> = writes
        .iter()
        .map(|write| ChangedFile::new(job.space, write, next(job.space.namespace(&write.spot))))
        .collect::<Result<_, DatabaseFailure>>()?;
    let all = Columns::new(files.iter());
    let put = Columns::new(files.iter().filter(|file| file.bytes.is_some()));
    let gone = Columns::new(files.iter().filter(|file| file.bytes.is_none()));
    // PostgreSQL stores every character but this one.
    let without_nul = |text: &str| text.replace('\0', "\u{fffd}");
    let (actor, session) = (without_nul(&change.actor.name), change.actor.session.as_deref().map(without_nul));
    let undoes = change.undoes.as_ref().map(|id| &id.0);
    let verb = history::to_name(&change.verb)?;
    let reviewer = change.reviewer.as_deref().map(without_nul);
    let mut statements: Vec<(&str, Vec<&(dyn ToSql + Sync)>)> = Vec::new();
    if !writes.is_empty() {
        statements.push((
            sql::ADD_CHANGES,
            vec![tenant, &namespaces, &sequences, &change.id.0, &recorded, &at_ms, &actor, &session, &verb, &undoes, &reviewer],
        ));
        statements.push((sql::ADD_FILES, vec![tenant, &all.namespaces, &all.sequences, &all.paths, &all.roles, &all.before, &all.after]));
        statements.push((sql::ADVANCE, vec![tenant, &namespaces, &sequences, &recorded]));
    }
    if !gone.paths.is_empty() {
        statements.push((sql::REMOVE_DOCUMENTS, vec![tenant, &gone.namespaces, &gone.paths]));
    }
    if !put.paths.is_empty() {
        statements.push((sql::PUT_VERSIONS, vec![tenant, &put.namespaces, &put.paths, &put.after, &put.bytes]));
        let columns: Vec<&(dyn ToSql + Sync)> = vec![tenant, &put.namespaces, &put.paths, &put.after, &put.bytes, &at_ns, &put.sequences];
        statements.push((sql::PUT_DOCUMENTS, columns));
    }
    let mut prepared = Vec::new();
    for (text, parameters) in &statements {
        prepared.push((client.prepare_cached(text).await?, parameters));
    }
    // Everything is prepared, so that the requests are sent in this order and the commit comes last. If one of them fails, the server
    // takes the commit as a rollback.
    let writing = prepared.iter().map(|(statement, parameters)| client.execute(statement, parameters));
    let (written, committed) = send_before(futures_util::future::join_all(writing), client.batch_execute("commit")).await;
    for written in written {
        written?;
    }
    Ok(committed?)
}

/// The columns of one changed file.
struct ChangedFile<'a> {
    namespace: &'a str,
    path: &'a str,
    sequence: i64,
    role: String,
    before: Option<[u8; 16]>,
    after: Option<[u8; 16]>,
    bytes: Option<&'a [u8]>,
}

impl<'a> ChangedFile<'a> {
    fn new(space: &'a CallerSpace, write: &'a FileWrite, sequence: i64) -> Result<Self, DatabaseFailure> {
        let bytes = write.edit.bytes.as_deref();
        Ok(ChangedFile {
            namespace: space.namespace(&write.spot),
            path: &write.spot.rel,
            sequence,
            role: history::to_name(&write.edit.role)?,
            before: write.before.map(Version::to_bytes),
            after: bytes.map(|bytes| Version::from_content(bytes).to_bytes()),
            bytes,
        })
    }
}

/// The same as arrays, one for each column.
#[derive(Default)]
struct Columns<'a> {
    namespaces: Vec<&'a str>,
    paths: Vec<&'a str>,
    sequences: Vec<i64>,
    roles: Vec<&'a str>,
    before: Vec<Option<&'a [u8]>>,
    after: Vec<Option<&'a [u8]>>,
    bytes: Vec<Option<&'a [u8]>>,
}

impl<'a> Columns<'a> {
    fn new(files: impl Iterator<Item = &'a ChangedFile<'a>>) -> Self {
        let mut columns = Columns::default();
        for file in files {
            columns.namespaces.push(file.namespace);
            columns.paths.push(file.path);
            columns.sequences.push(file.sequence);
            columns.roles.push(&file.role);
            columns.before.push(file.before.as_ref().map(<[u8; 16]>::as_slice));
            columns.after.push(file.after.as_ref().map(<[u8; 16]>::as_slice));
            columns.bytes.push(file.bytes);
        }
        columns
    }
}

fn file_change(write: &FileWrite) -> FileChange {
    FileChange {
        path: write.edit.path.clone(),
        role: write.edit.role,
        before: write.before,
        after: write.edit.bytes.as_deref().map(Version::from_content),
    }
}

/// What a plan reads: on the connection of the change, under its locks.
struct PlanView<'a> {
    job: &'a ChangeJob<'a>,
    client: &'a Object,
    /// The locked namespaces that are under review.
    reviewed: &'a BTreeSet<String>,
    /// The first read that failed.
    failed: RefCell<Option<DatabaseFailure>>,
}

impl PlanView<'_> {
    fn read<T>(&self, work: impl Future<Output = Result<T, DatabaseFailure>>) -> Result<T> {
        self.job.stop.check()?;
        self.job.database.block_on(work).map_err(|failure| {
            let error = Error::unavailable("the database", failure.error.to_string());
            if !failure.is_temporary() {
                return failure.error;
            }
            self.failed.borrow_mut().get_or_insert(failure);
            error
        })
    }
}

impl View for PlanView<'_> {
    fn mounts(&self) -> &[MountInfo] {
        &self.job.space.infos
    }

    fn get(&self, path: &MemoryPath) -> Result<Option<Stored>> {
        Ok(self.get_many(std::slice::from_ref(path))?.pop().flatten())
    }

    fn get_many(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stored>>> {
        self.read(reads::get_many(self.client, self.job.space, paths))
    }

    fn list(&self, under: &str) -> Result<Walk> {
        self.read(reads::list(self.client, self.job.space, under))
    }

    fn stamps(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stamp>>> {
        self.read(reads::stamps(self.client, self.job.space, paths))
    }

    fn last_recorded(&self, path: &MemoryPath) -> Result<Option<(Version, u64)>> {
        self.read(history::last_recorded(self.client, self.job.space, path))
    }

    fn check_writable(&self, path: &MemoryPath) -> Result<()> {
        let spot = self.job.space.spot(path)?;
        self.job.space.check_writable(&spot, &|| self.job.exists(self.client, &spot))
    }

    fn can_change_together(&self, one: &MemoryPath, other: &MemoryPath) -> Result<bool> {
        let space = self.job.space;
        let (one, other) = (space.spot(one)?, space.spot(other)?);
        let waits = |spot: &NamespaceFile| !space.mounts[spot.mount].reviews && self.reviewed.contains(space.namespace(spot));
        Ok(space.namespace(&one) == space.namespace(&other) || !(waits(&one) || waits(&other)))
    }

    fn check_stopped(&self) -> Result<()> {
        self.job.stop.check()
    }
}

/// Refuses a change of a read-only mount before anything is locked.
pub(crate) fn touched_namespaces(space: &CallerSpace, touches: &[MemoryPath]) -> Result<BTreeSet<String>> {
    let mut namespaces = BTreeSet::new();
    for path in touches {
        let spot = space.spot(path)?;
        if space.infos[spot.mount].access == Access::ReadOnly {
            space.check_writable(&spot, &|| Ok(false))?;
        }
        namespaces.insert(space.namespace(&spot).to_owned());
    }
    Ok(namespaces)
}
