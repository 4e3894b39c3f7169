//! Proposals: changes that wait for review. A proposal has the id of its change, so that an idempotency key, a lost commit and the author's
//! answer all lead to the same change once it is accepted.

use crate::{
    database::Database,
    failure::DatabaseFailure,
    history::{from_name, to_name},
    people::MemberRole,
    reads::{corrupt, version},
    space::{CallerSpace, FileWrite, OpenMount},
    sql,
};
use deadpool_postgres::Object;
use jiff::Timestamp;
use memdir_core::{
    Access, Actor, Change, ChangeId, Error, FileChange, Proposal, ProposalDecision, ProposalFilter, ProposalState, ProposedFile,
    ReadOnlyCause, Result, Role, Version,
    internal::{operations::undo::describe_infinitive, store::stop::Stop},
};
use std::collections::{BTreeMap, BTreeSet};
use tokio_postgres::{Row, types::ToSql};

/// Open proposals of one author in a namespace: more than a reviewer reads in a day.
const OPEN_PROPOSALS_PER_AUTHOR: usize = 100;
/// Open proposals of a namespace.
const OPEN_PROPOSALS: usize = 500;
/// Days for which a decided proposal is kept. What was accepted stays in the history.
const DECIDED_PROPOSAL_DAYS: i64 = 30;

/// An acceptance that a change is made for.
pub(crate) struct Acceptance<'a> {
    pub(crate) proposal: &'a Proposal,
    pub(crate) reviewer: &'a Actor,
}

impl Database {
    /// Marks a project or a group as under review, or ends its review. Open proposals stay. Returns whether it was different before.
    pub fn set_review(&self, tenant: &str, namespace: &str, is_on: bool) -> Result<bool> {
        self.administer(tenant, async |client| {
            client.execute(sql::ADD_NAMESPACES, &[&tenant, &vec![namespace]]).await?;
            Ok(client.execute(sql::SET_REVIEW, &[&tenant, &namespace, &is_on]).await? == 1)
        })
    }

    /// Lists the namespaces under review.
    pub fn reviewed_namespaces(&self, tenant: &str) -> Result<BTreeSet<String>> {
        self.read(&Stop::default(), tenant, async |client| {
            client.query(sql::REVIEWED, &[&tenant]).await?.iter().map(|row| Ok(row.try_get(0)?)).collect()
        })
    }
}

/// Returns the error that says that a change is proposed, and what became of it.
pub(crate) fn proposed_error(proposal: &Proposal, is_repeated: bool) -> Error {
    let state = match &proposal.decision {
        None => "is waiting for review".to_owned(),
        Some(ProposalDecision { by, reason, .. }) => {
            let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            format!("was {} by {by}{reason}", proposal.state.name())
        }
    };
    Error::Proposed {
        id: proposal.id.to_string(),
        what: describe_infinitive(&proposal.to_change()),
        state,
        is_open: proposal.decision.is_none(),
        is_repeated,
    }
}

/// Returns the namespace for which a change is stored as a proposal, or `None` if it is made at once. A proposal has one namespace: a
/// reviewer must see and apply all of it.
pub(crate) fn reviewed_namespace<'a>(
    space: &'a CallerSpace,
    writes: &[FileWrite],
    reviewed: &BTreeSet<String>,
    former: &BTreeSet<usize>,
) -> Result<Option<&'a str>> {
    let waits = |write: &&FileWrite| {
        let mount = write.spot.mount;
        (!space.mounts[mount].reviews || former.contains(&mount)) && reviewed.contains(space.namespace(&write.spot))
    };
    let Some(first) = writes.iter().find(waits) else { return Ok(None) };
    let namespace = space.namespace(&first.spot);
    match writes.iter().find(|write| space.namespace(&write.spot) != namespace) {
        None => Ok(Some(namespace)),
        Some(other) => {
            let (first, other) = (first.edit.path.name(), other.edit.path.name());
            let why = format!(
                "a change to {first:?} must be reviewed and cannot also change {other:?}, which is not in the same project or group; make two separate changes"
            );
            Err(Error::Review { why, names_step: true })
        }
    }
}

/// Returns the mounts under review in which the caller was a reviewer when the request began and is none any more, now that the change has
/// its locks. Fails if it may not even propose.
pub(crate) async fn former_reviews(
    client: &Object,
    space: &CallerSpace,
    writes: &[FileWrite],
    reviewed: &BTreeSet<String>,
) -> Result<BTreeSet<usize>, DatabaseFailure> {
    let is_exempt = |write: &&FileWrite| space.mounts[write.spot.mount].reviews && reviewed.contains(space.namespace(&write.spot));
    let exempt: BTreeMap<usize, &FileWrite> = writes.iter().filter(is_exempt).map(|write| (write.spot.mount, write)).collect();
    let mut former = BTreeSet::new();
    for (mount, write) in exempt {
        match current_role(client, space, mount).await? {
            Some(role) if role >= MemberRole::Reviewer => {}
            Some(role) if role >= MemberRole::Writer => drop(former.insert(mount)),
            _ => {
                let (path, why) = (write.edit.path.to_string(), "your role no longer allows changes".into());
                return Err(Error::ReadOnly { path, why, cause: ReadOnlyCause::Caller }.into());
            }
        }
    }
    Ok(former)
}

/// Returns the role of the caller in the group of a mount, as it is now: it may have changed while the change waited for a lock.
async fn current_role(client: &Object, space: &CallerSpace, mount: usize) -> Result<Option<MemberRole>, DatabaseFailure> {
    let OpenMount { group, reviews, .. } = &space.mounts[mount];
    let (Some(person), Some(group)) = (&space.person, group) else {
        return Ok(Some(if *reviews { MemberRole::Reviewer } else { MemberRole::Writer }));
    };
    let statement = client.prepare_cached(sql::MEMBER_ROLE).await?;
    let row = client.query_opt(&statement, &[&space.tenant, group, person]).await?;
    row.map(|row| Ok(row.try_get::<_, &str>(0)?.parse()?)).transpose()
}

/// Fails if the caller is not a reviewer of a mount any more.
pub(crate) async fn check_reviewer(client: &Object, space: &CallerSpace, mount: usize) -> Result<(), DatabaseFailure> {
    let role = current_role(client, space, mount).await?;
    if role.is_some_and(|role| role >= MemberRole::Reviewer) { Ok(()) } else { Err(Error::NotReviewer.into()) }
}

/// Returns a change that was just proposed.
pub(crate) fn to_open(change: &Change) -> Proposal {
    let file =
        |file: &FileChange| ProposedFile { path: file.path.clone(), role: file.role, before: file.before, after: file.after, bytes: None };
    Proposal {
        id: change.id.clone(),
        at: change.at,
        author: change.actor.clone(),
        verb: change.verb,
        undoes: change.undoes.clone(),
        files: change.files.iter().map(file).collect(),
        state: ProposalState::Open,
        decision: None,
        can_decide: false,
        can_withdraw: true,
    }
}

/// Stores a change as a proposal and commits. A lost connection means that the outcome is unknown.
pub(crate) async fn propose(
    client: &Object,
    tenant: &str,
    namespace: &str,
    change: &Change,
    writes: &[FileWrite],
) -> Result<(), DatabaseFailure> {
    let now = change.at.as_millisecond();
    let oldest = now - DECIDED_PROPOSAL_DAYS * 24 * 60 * 60 * 1_000;
    client.execute(sql::DROP_DECIDED, &[&tenant, &namespace, &oldest]).await?;
    let row = client.query_one(sql::COUNT_OPEN, &[&tenant, &namespace, &change.actor.name]).await?;
    let (all, own): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    for (count, limit, whose) in
        [(own, OPEN_PROPOSALS_PER_AUTHOR, "by you in this project or group"), (all, OPEN_PROPOSALS, "in this project or group")]
    {
        if usize::try_from(count).unwrap_or(0) >= limit {
            let why = format!("too many open proposals {whose}: the maximum is {limit}; withdraw some, or ask a reviewer to review them");
            return Err(Error::Review { why, names_step: true }.into());
        }
    }
    let paths: Vec<&str> = writes.iter().map(|write| write.spot.rel.as_str()).collect();
    let roles = writes.iter().map(|write| to_name(&write.edit.role)).collect::<Result<Vec<_>, DatabaseFailure>>()?;
    let before: Vec<Option<Vec<u8>>> = writes.iter().map(|write| write.before.map(|version| version.to_bytes().to_vec())).collect();
    let bytes: Vec<Option<&[u8]>> = writes.iter().map(|write| write.edit.bytes.as_deref()).collect();
    let after: Vec<Option<Vec<u8>>> =
        bytes.iter().map(|bytes| bytes.map(|bytes| Version::from_content(bytes).to_bytes().to_vec())).collect();
    let size = bytes.iter().flatten().map(|bytes| bytes.len() as i64).sum::<i64>();
    let without_nul = |text: &str| text.replace('\0', "\u{fffd}");
    let (actor, session) = (without_nul(&change.actor.name), change.actor.session.as_deref().map(without_nul));
    let (verb, undoes) = (to_name(&change.verb)?, change.undoes.as_ref().map(|id| &id.0));
    let statement = client.prepare_cached(sql::PROPOSE).await?;
    let parameters: [&(dyn ToSql + Sync); 14] =
        [&tenant, &namespace, &change.id.0, &now, &actor, &session, &verb, &undoes, &paths, &roles, &before, &after, &bytes, &size];
    client.execute(&statement, &parameters).await?;
    client.batch_execute("commit").await.map_err(DatabaseFailure::from)
}

/// Finds the proposal with this id in a space, by any author.
pub(crate) async fn find(client: &Object, space: &CallerSpace, id: &ChangeId) -> Result<Option<Proposal>, DatabaseFailure> {
    let statement = client.prepare_cached(sql::PROPOSAL).await?;
    let rows = client.query(&statement, &[&space.tenant, &space.namespaces(), &id.0, &false]).await?;
    rows.first().map_or(Ok(None), |row| to_proposal(space, row, None))
}

/// Records an acceptance in the transaction of its change. Fails if the proposal is not open any more.
pub(crate) async fn record_acceptance(
    client: &Object,
    space: &CallerSpace,
    accepted: &Acceptance<'_>,
    at: Timestamp,
) -> Result<(), DatabaseFailure> {
    let Proposal { id, files, .. } = accepted.proposal;
    let Some(file) = files.first() else { return Err(Error::NoProposal { id: id.to_string() }.into()) };
    let spot = space.spot(&file.path)?;
    let decision = ProposalDecision { at, by: accepted.reviewer.name.clone(), reason: None };
    if !space.mounts[spot.mount].reviews {
        return Err(Error::NotReviewer.into());
    }
    close(client, &space.tenant, space.namespace(&spot), id, ProposalState::Accepted, &decision).await?;
    check_reviewer(client, space, spot.mount).await
}

/// Ends an open proposal. Its texts are dropped, unless it was rejected: its author may want to propose them again.
pub(crate) async fn close(
    client: &Object,
    tenant: &str,
    namespace: &str,
    id: &ChangeId,
    state: ProposalState,
    decision: &ProposalDecision,
) -> Result<(), DatabaseFailure> {
    let (at, keeps) = (decision.at.as_millisecond(), state == ProposalState::Rejected);
    let parameters: [&(dyn ToSql + Sync); 8] = [&tenant, &namespace, &id.0, &state.name(), &at, &decision.by, &decision.reason, &keeps];
    if client.execute(sql::CLOSE_PROPOSAL, &parameters).await? == 1 {
        return Ok(());
    }
    let Some(row) = client.query_opt(sql::PROPOSAL_STATE, &[&tenant, &namespace, &id.0]).await? else {
        return Err(Error::NoProposal { id: id.to_string() }.into());
    };
    let (found, by, found_at): (&str, &str, Option<i64>) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    // An attempt whose commit was not answered made this decision.
    if (found, by, found_at) == (state.name(), &decision.by, Some(at)) {
        return Ok(());
    }
    Err(Error::Review { why: format!("proposal {id} was already {found} by {by}"), names_step: false }.into())
}

/// Returns a proposal as a caller of this space sees it, or `None` if one of its files is not visible. Without a caller, it is shown to its
/// author.
fn to_proposal(space: &CallerSpace, row: &Row, caller: Option<&Actor>) -> Result<Option<Proposal>, DatabaseFailure> {
    let namespace: &str = row.try_get("namespace")?;
    let Some(at) = space.mounts.iter().position(|mount| mount.namespace == namespace) else { return Ok(None) };
    let (paths, roles): (Vec<String>, Vec<String>) = (row.try_get("paths")?, row.try_get("roles")?);
    let (before, after): (Vec<Option<Vec<u8>>>, Vec<Option<Vec<u8>>>) = (row.try_get("before")?, row.try_get("after")?);
    let mut bytes: Vec<Option<Vec<u8>>> = row.try_get::<_, Option<_>>("bytes")?.unwrap_or_default();
    bytes.resize(paths.len(), None);
    let optional = |bytes: Option<Vec<u8>>| bytes.as_deref().map(version).transpose();
    let mut files = Vec::with_capacity(paths.len());
    for ((((path, role), before), after), bytes) in paths.into_iter().zip(roles).zip(before).zip(after).zip(bytes) {
        let role: Role = from_name(&role)?;
        if role == Role::Memory && space.mounts[at].rules.hides(&path) {
            return Ok(None);
        }
        let path = space.named(at, &path)?;
        files.push(ProposedFile { path, role, before: optional(before)?, after: optional(after)?, bytes });
    }
    let time = |ms: i64| Timestamp::from_millisecond(ms).map_err(|error| corrupt(&error.to_string()));
    let author = Actor { name: row.try_get("actor")?, session: row.try_get("session")? };
    let state = ProposalState::from_name(row.try_get("state")?).ok_or_else(|| corrupt("a proposal has an unknown state"))?;
    let is_author = caller.is_none_or(|caller| caller.name == author.name);
    let can_write = space.infos[at].access == Access::ReadWrite;
    let is_reviewer = space.mounts[at].reviews && can_write;
    if !is_author && !is_reviewer {
        return Ok(None);
    }
    let decision = match row.try_get::<_, Option<i64>>("decided_ms")? {
        Some(at) => Some(ProposalDecision {
            at: time(at)?,
            by: row.try_get::<_, Option<String>>("decided_by")?.unwrap_or_default(),
            reason: row.try_get("reason")?,
        }),
        None => None,
    };
    let is_open = state == ProposalState::Open;
    Ok(Some(Proposal {
        id: ChangeId(row.try_get("proposal")?),
        at: time(row.try_get("at_ms")?)?,
        author,
        verb: from_name(row.try_get("verb")?)?,
        undoes: row.try_get::<_, Option<String>>("undoes")?.map(ChangeId),
        files,
        state,
        decision,
        can_decide: is_open && is_reviewer && caller.is_some(),
        // Also by an author who may no longer write: a withdrawal changes no memory.
        can_withdraw: is_open && is_author,
    }))
}

/// The largest number of proposals that one request reads.
const MAX_PROPOSALS: usize = 10_000;

/// Returns the proposals that a caller may see, newest first.
pub(crate) async fn list(
    client: &Object,
    space: &CallerSpace,
    caller: &Actor,
    filter: &ProposalFilter,
) -> Result<Vec<Proposal>, DatabaseFailure> {
    let namespaces = space.namespaces();
    let rows = match &filter.id {
        Some(id) => {
            let statement = client.prepare_cached(sql::PROPOSAL).await?;
            client.query(&statement, &[&space.tenant, &namespaces, &id.0, &filter.with_texts]).await?
        }
        None => {
            let statement = client.prepare_cached(sql::PROPOSALS).await?;
            let (state, most) = (filter.state.map(ProposalState::name), i64::try_from(MAX_PROPOSALS).unwrap_or(i64::MAX));
            client.query(&statement, &[&space.tenant, &namespaces, &state, &most]).await?
        }
    };
    let shown = rows.iter().map(|row| to_proposal(space, row, Some(caller))).filter_map(Result::transpose);
    shown.take(if filter.most == 0 { MAX_PROPOSALS } else { filter.most }).collect()
}

/// Whether a namespace of the space is under review, or has an open proposal that the caller may see.
pub(crate) async fn has_reviews(client: &Object, space: &CallerSpace, caller: &Actor) -> Result<bool, DatabaseFailure> {
    let statement = client.prepare_cached(sql::HAS_REVIEWS).await?;
    let [decided, others] = namespaces_by_role(space);
    Ok(client.query_one(&statement, &[&space.tenant, &decided, &others, &caller.name]).await?.try_get(0)?)
}

/// Returns a value that changes with the open proposals that the caller may see.
pub(crate) async fn mark(client: &Object, space: &CallerSpace, caller: &Actor) -> Result<String, DatabaseFailure> {
    let statement = client.prepare_cached(sql::PROPOSALS_MARK).await?;
    let [decided, others] = namespaces_by_role(space);
    let row = client.query_one(&statement, &[&space.tenant, &decided, &others, &caller.name]).await?;
    let (count, newest, hash): (i64, i64, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    Ok(format!("{count}-{newest}-{hash:x}"))
}

/// Returns the namespaces in which the caller is a reviewer, and the other ones.
fn namespaces_by_role(space: &CallerSpace) -> [Vec<String>; 2] {
    let mounts_with = |is_reviewer: bool| {
        let mounts = space.mounts.iter().filter(move |mount| mount.reviews == is_reviewer);
        mounts.map(|mount| mount.namespace.clone()).collect()
    };
    [mounts_with(true), mounts_with(false)]
}
