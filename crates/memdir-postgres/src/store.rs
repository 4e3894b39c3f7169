//! The [`Store`] of a tenant's namespaces.

use crate::{
    change::{self, ChangeJob},
    claim::{self, ClaimedBy},
    database::{Database, send_before},
    failure::DatabaseFailure,
    forget, history,
    proposals::{self, Acceptance},
    reads, sequence, since,
    space::{CallerSpace, NamespaceMount},
    sql,
    team_caller::KnownCaller,
};
use deadpool_postgres::Object;
use jiff::Timestamp;
use memdir_core::{
    Actor, Change, ChangeCursor, ChangeFilter, ChangeId, ChangePage, ChangeSequence, Error, IdempotencyKey, Intent, MemoryPath,
    MountChanges, MountInfo, Phrase, Proposal, ProposalDecision, ProposalFilter, ProposalState, ProposalStore, Result, SequencePosition,
    Stamp, Store, Stored, Version, View,
    internal::store::{Entry, JournalSize, Plan, Walk, confirmation::Confirmation, stop::Stop},
};
use std::sync::Arc;

/// The store of a space of namespaces. A handle: its clones for cancellable calls share everything but the [`Stop`].
#[derive(Debug, Clone)]
pub struct PostgresStore {
    database: Database,
    space: Arc<CallerSpace>,
    /// The same space, if none of its mounts were narrowed: a proposal is accepted as a whole, with lines outside of the part.
    whole: Arc<CallerSpace>,
    stop: Stop,
    /// The caller whose space this is.
    caller: Option<Arc<KnownCaller>>,
    /// Set if the caller must be checked by the first read.
    confirmation: Option<Confirmation>,
}

impl PostgresStore {
    /// Opens a space of a tenant. Makes no request; a namespace is created by its first change.
    pub fn open(database: &Database, tenant: &str, mounts: &[NamespaceMount]) -> Result<Self> {
        let space = Arc::new(CallerSpace::new(tenant, mounts)?);
        let whole = if mounts.iter().any(|mount| mount.whole.is_some()) {
            Arc::new(CallerSpace::new(tenant, &mounts.iter().map(NamespaceMount::to_whole).collect::<Vec<_>>())?)
        } else {
            space.clone()
        };
        Ok(PostgresStore { database: database.clone(), space, whole, stop: Stop::default(), caller: None, confirmation: None })
    }

    /// Names the caller whose space this is, so that a read can check its permissions.
    pub fn for_caller(self, caller: Arc<KnownCaller>) -> Self {
        PostgresStore { caller: Some(caller), ..self }
    }

    /// Makes a change, which may be the acceptance of a proposal.
    fn make(&self, intent: &Intent, touches: &[MemoryPath], accepts: Option<Acceptance<'_>>, plan: &mut Plan<'_>) -> Result<Change> {
        self.stop.check()?;
        let space = if accepts.is_some() { &self.whole } else { &self.space };
        let namespaces = change::touched_namespaces(space, touches)?;
        let job = ChangeJob {
            database: &self.database,
            space,
            stop: &self.stop,
            key: intent.key.as_ref(),
            intent,
            namespaces,
            accepts,
            deadline: self.stop.lock_deadline(),
        };
        job.run(plan)
    }

    fn read<T>(&self, work: impl AsyncFn(&Object) -> Result<T, DatabaseFailure>) -> Result<T> {
        self.database.read(&self.stop, &self.space.tenant, async |client| {
            let (confirmed, value) = send_before(self.confirm_caller(client), work(client)).await;
            confirmed?;
            value
        })
    }

    /// Checks the caller, if that was left to this read.
    async fn confirm_caller(&self, client: &Object) -> Result<(), DatabaseFailure> {
        let unconfirmed = self.confirmation.as_ref().filter(|confirmation| confirmation.get() != Some(true));
        let (Some(caller), Some(confirmation)) = (&self.caller, unconfirmed) else { return Ok(()) };
        let is_unchanged = caller.is_unchanged(client).await?;
        confirmation.set(is_unchanged);
        if !is_unchanged {
            let why = "the caller's permissions have changed; try again";
            return Err(Error::explained_unavailable("cannot complete the request", why).into());
        }
        Ok(())
    }
}

impl View for PostgresStore {
    fn mounts(&self) -> &[MountInfo] {
        &self.space.infos
    }

    fn get(&self, path: &MemoryPath) -> Result<Option<Stored>> {
        Ok(self.get_many(std::slice::from_ref(path))?.pop().flatten())
    }

    fn get_many(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stored>>> {
        self.read(async |client| reads::get_many(client, &self.space, paths).await)
    }

    fn list(&self, under: &str) -> Result<Walk> {
        self.read(async |client| reads::list(client, &self.space, under).await)
    }

    fn stamps(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stamp>>> {
        self.read(async |client| reads::stamps(client, &self.space, paths).await)
    }

    fn last_recorded(&self, path: &MemoryPath) -> Result<Option<(Version, u64)>> {
        self.read(async |client| history::last_recorded(client, &self.space, path).await)
    }

    fn check_writable(&self, path: &MemoryPath) -> Result<()> {
        let spot = self.space.spot(path)?;
        self.space.check_writable(&spot, &|| Ok(self.get(path)?.is_some()))
    }

    fn check_stopped(&self) -> Result<()> {
        self.stop.check()
    }
}

impl Store for PostgresStore {
    fn change(&self, intent: &Intent, touches: &[MemoryPath], plan: &mut Plan<'_>) -> Result<Change> {
        self.make(intent, touches, None, plan)
    }

    fn changes(&self, filter: &ChangeFilter) -> Result<Vec<Change>> {
        self.read(async |client| history::changes(client, &self.space, filter).await)
    }

    fn changes_since(&self, after: Option<&ChangeCursor>, most: usize) -> Result<ChangePage> {
        self.read(async |client| since::changes_since(client, &self.space, after, most).await)
    }

    fn newest_cursor(&self) -> Result<ChangeCursor> {
        self.read(async |client| since::newest_cursor(client, &self.space).await)
    }

    fn text_at(&self, path: &MemoryPath, version: Version) -> Result<Option<Vec<u8>>> {
        self.read(async |client| history::text_at(client, &self.space, path, version).await)
    }

    fn count_in_history(&self, phrase: &Phrase) -> Result<usize> {
        self.read(async |client| forget::count(client, &self.space, phrase).await)
    }

    fn forget_in_history(&self, phrase: &Phrase) -> Result<usize> {
        self.stop.check()?;
        forget::forget(&self.database, &self.space, &self.stop, phrase)
    }

    /// Every change goes through the database: there is nothing to notice.
    fn notice(&self, _path: &MemoryPath) {}

    fn marks(&self) -> Vec<Option<Stamp>> {
        let none = || self.space.mounts.iter().map(|_| None).collect();
        self.read(async |client| history::marks(client, &self.space).await).unwrap_or_else(|_| none())
    }

    fn journal_size(&self) -> Result<JournalSize> {
        self.read(async |client| history::size(client, &self.space).await)
    }

    fn set_modified(&self, files: &[(MemoryPath, Version, Timestamp)]) -> Result<()> {
        let (mut namespaces, mut paths, mut versions, mut times) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (path, version, time) in files {
            let spot = self.space.spot(path)?;
            self.space.check_writable(&spot, &|| Ok(true))?;
            namespaces.push(self.space.namespace(&spot).to_owned());
            paths.push(spot.rel);
            versions.push(version.to_bytes().to_vec());
            times.push(i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX));
        }
        self.database.retry(&self.stop, || {
            self.database.block_on(async {
                let session = self.database.change_session(&self.space.tenant, &[]).await?;
                let client = session.client()?;
                client.execute(sql::SET_MODIFIED, &[&self.space.tenant, &namespaces, &paths, &versions, &times]).await?;
                client.batch_execute("commit").await?;
                session.finish();
                Ok(())
            })
        })
    }

    fn with_stop(&self, stop: &Stop) -> Arc<dyn Store> {
        Arc::new(PostgresStore { stop: stop.clone(), ..self.clone() })
    }

    fn confirming(&self, confirmation: &Confirmation) -> Option<Arc<dyn Store>> {
        self.caller.as_ref()?;
        Some(Arc::new(PostgresStore { confirmation: Some(confirmation.clone()), ..self.clone() }))
    }

    fn sequence(&self) -> Option<&dyn ChangeSequence> {
        Some(self)
    }

    fn proposals(&self) -> Option<&dyn ProposalStore> {
        Some(self)
    }
}

impl ChangeSequence for PostgresStore {
    fn changed_since(&self, known: &[(&str, Option<SequencePosition>)]) -> Result<Vec<MountChanges>> {
        self.read(async |client| sequence::changed_since(client, &self.space, known).await)
    }

    fn list_mount(&self, prefix: &str) -> Result<(SequencePosition, Vec<Entry>)> {
        self.read(async |client| sequence::list_mount(client, &self.space, prefix).await)
    }

    fn on_change(&self, wake: Arc<dyn Fn() + Send + Sync>) -> Option<Box<dyn Send>> {
        let namespaces = self.space.mounts.iter().map(|mount| &mount.namespace);
        Some(Box::new(self.database.hints().listen(&self.space.tenant, namespaces, wake)))
    }
}

impl ProposalStore for PostgresStore {
    fn proposals(&self, caller: &Actor, filter: &ProposalFilter) -> Result<Vec<Proposal>> {
        if filter.id.as_ref().is_some_and(|id| id.0.contains('\0')) {
            return Ok(Vec::new());
        }
        self.read(async |client| proposals::list(client, &self.space, caller, filter).await)
    }

    fn accept(&self, proposal: &Proposal, reviewer: &Actor, at: Timestamp, plan: &mut Plan<'_>) -> Result<Change> {
        let Proposal { author, verb, undoes, files, .. } = proposal;
        let intent = Intent { verb: *verb, actor: author.clone(), at, undoes: undoes.clone(), key: None };
        let touches: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
        self.make(&intent, &touches, Some(Acceptance { proposal, reviewer }), plan)
    }

    fn close(
        &self,
        proposal: &Proposal,
        state: ProposalState,
        decision: &ProposalDecision,
        key: Option<&IdempotencyKey>,
    ) -> Result<Option<ChangeId>> {
        let not_found = || Error::NoProposal { id: proposal.id.to_string() };
        let spot = self.space.spot(&proposal.files.first().ok_or_else(not_found)?.path)?;
        let (tenant, namespace) = (&self.space.tenant, self.space.namespace(&spot));
        let closed = self.database.administer(tenant, async |client| {
            if let Some(key) = key {
                match claim::claim(client, tenant, key, &ClaimedBy::Withdrawal(proposal.id.clone())).await? {
                    None => {}
                    Some(ClaimedBy::Withdrawal(id)) => return Ok(Some(id)),
                    Some(ClaimedBy::Change(id)) => return Err(Error::Repeated { change: id.to_string() }.into()),
                }
            }
            proposals::close(client, tenant, namespace, &proposal.id, state, decision).await?;
            if state == ProposalState::Rejected {
                proposals::check_reviewer(client, &self.space, spot.mount).await?;
            }
            Ok(None)
        })?;
        self.database.hints().announce(tenant, std::iter::once(&self.space.mounts[spot.mount].namespace));
        Ok(closed)
    }

    fn withdrawn_for_key(&self, key: &IdempotencyKey) -> Result<Option<ChangeId>> {
        match self.read(async |client| claim::find(client, &self.space.tenant, key).await)? {
            Some(ClaimedBy::Withdrawal(id)) => Ok(Some(id)),
            _ => Ok(None),
        }
    }

    fn mark(&self, caller: &Actor) -> Result<String> {
        self.read(async |client| proposals::mark(client, &self.space, caller).await)
    }

    fn has_reviews(&self, caller: &Actor) -> Result<bool> {
        self.read(async |client| proposals::has_reviews(client, &self.space, caller).await)
    }
}
