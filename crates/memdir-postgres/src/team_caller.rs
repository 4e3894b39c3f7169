//! The caller behind a token: who it is, what it may do, and which namespaces its space has.

use crate::{
    database::{Database, begin_read, send_before},
    failure::DatabaseFailure,
    people::{self, MemberRole, PersonAccess},
    space::NamespaceMount,
    sql,
    team_token::tenant_of_token,
};
use deadpool_postgres::Object;
use memdir_core::{
    Access, Actor, Mount, Result,
    internal::store::{
        mounts::agent_folder,
        space::{TokenIdentity, part, person, token_hash},
    },
};
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};
use tokio_postgres::{Row, types::ToSql};

/// An identified caller with its access at one revision of its tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamCaller {
    /// The tenant.
    pub tenant: String,
    /// The revision of the tenant's people, groups, projects and tokens.
    pub revision: i64,
    /// The public id of the token, or what else distinguishes the connections of a person.
    pub connection: String,
    /// The person.
    pub person: String,
    /// The agent, if the token belongs to one.
    pub agent: Option<String>,
    /// The groups and projects of the person.
    pub access: PersonAccess,
}

impl TeamCaller {
    /// Returns the caller with this key, or `None` if the key is unknown or was revoked. May be awaited on any runtime. `known` is an
    /// earlier result, whose access is used if nothing in the tenant has changed since: then one round trip is enough.
    pub async fn find(database: &Database, key: &CallerKey, known: Option<Arc<TeamCaller>>) -> Result<Option<TeamCaller>> {
        database.look_up(|| find(database, key, known.as_deref())).await
    }

    /// Returns the actor of its changes. `memory_undo` undoes the last change of this actor, whichever replica made it.
    pub fn actor(&self) -> Actor {
        Actor { name: self.person.clone(), session: Some(self.connection.clone()) }
    }

    /// Returns the mounts of its space: `user/`, the memory of the agent, the selected project without a prefix, and `team/`, the memory
    /// of the group that the project belongs to. Without a project, `team/` is that of the only group.
    pub fn mounts(&self, project: Option<&str>) -> Result<Vec<NamespaceMount>> {
        let projects = self.access.projects.keys().cloned().collect();
        let identity = TokenIdentity { person: self.person.clone(), agent: self.agent.clone(), projects };
        let own = format!("people/{}", person(&self.person)?);
        let mut mounts = vec![NamespaceMount::of_team(&own)];
        if let Some(agent) = &self.agent {
            let name = part("agent", &agent_folder(agent))?;
            mounts.push(NamespaceMount::of_team(&format!("{own}/agents/{name}")));
        }
        let project = identity.project(project)?;
        let only_group = || self.access.groups.keys().next().filter(|_| self.access.groups.len() == 1);
        let group = project.and_then(|project| self.access.projects.get(project)).or_else(only_group);
        if let Some(project) = project {
            mounts.push(self.with_role(NamespaceMount::of_team(&format!("projects/{}", part("project", project)?)), group));
        }
        if let Some(group) = group {
            mounts.push(self.with_role(NamespaceMount::of_team(&format!("groups/{}", part("group", group)?)), Some(group)));
        }
        mounts.iter_mut().for_each(|mount| mount.person = Some(self.person.clone()));
        Ok(mounts)
    }

    /// Makes a mount read-only unless the role in its group allows to write. Reviewers change a namespace under review at once.
    fn with_role(&self, mount: NamespaceMount, group: Option<&String>) -> NamespaceMount {
        let role = group.and_then(|group| self.access.groups.get(group));
        let access = if role.is_some_and(|role| *role >= MemberRole::Writer) { Access::ReadWrite } else { Access::ReadOnly };
        // An agent always proposes and never accepts, even with a token of a reviewer.
        let reviews = self.agent.is_none() && role.is_some_and(|role| *role >= MemberRole::Reviewer);
        NamespaceMount { mount: Mount { access, ..mount.mount }, reviews, group: group.cloned(), ..mount }
    }
}

/// By what a caller is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CallerKey {
    /// A token.
    Token {
        /// The tenant that the token names.
        tenant: String,
        /// The hash of the token.
        hash: String,
    },
    /// A person who was identified in another way, such as by an identity provider.
    Person {
        /// The tenant.
        tenant: String,
        /// The person.
        person: String,
        /// Distinguishes the connections of the person: each undoes its own changes.
        connection: String,
    },
}

impl CallerKey {
    /// Returns the key of a token, or `None` if the text is not a token of a tenant.
    pub fn from_token(token: &str) -> Option<CallerKey> {
        Some(CallerKey::Token { tenant: tenant_of_token(token)?, hash: token_hash(token) })
    }

    /// The tenant.
    pub fn tenant(&self) -> &str {
        match self {
            CallerKey::Token { tenant, .. } | CallerKey::Person { tenant, .. } => tenant,
        }
    }

    /// The hash of the token, or the name of the person.
    fn name(&self) -> &str {
        match self {
            CallerKey::Token { hash, .. } => hash,
            CallerKey::Person { person, .. } => person,
        }
    }
}

/// A caller that was looked up before, at one revision of its tenant.
#[derive(Debug)]
pub struct KnownCaller {
    key: CallerKey,
    revision: AtomicI64,
}

impl KnownCaller {
    /// Creates the record of a caller that was found by this key.
    pub fn new(key: CallerKey, found: &TeamCaller) -> Self {
        KnownCaller { key, revision: AtomicI64::new(found.revision) }
    }

    /// Records that the caller has the same permissions at this revision.
    pub fn set_revision(&self, revision: i64) {
        self.revision.store(revision, Ordering::Relaxed);
    }

    /// Returns whether the caller still exists and nothing about the people of its tenant has changed.
    pub(crate) async fn is_unchanged(&self, client: &Object) -> Result<bool, DatabaseFailure> {
        match find_row(client, &self.key).await? {
            Some(row) => Ok(row.try_get::<_, i64>("revision")? == self.revision.load(Ordering::Relaxed)),
            None => Ok(false),
        }
    }
}

async fn find(database: &Database, key: &CallerKey, known: Option<&TeamCaller>) -> Result<Option<TeamCaller>, DatabaseFailure> {
    let (tenant, name) = (key.tenant(), key.name());
    // PostgreSQL does not take this character, and no name has it.
    if [tenant, name].iter().any(|name| name.contains('\0')) {
        return Ok(None);
    }
    let session = database.lookup_session().await?;
    let client = session.client()?;
    let begin = begin_read(tenant);
    let (begun, row) = send_before(client.batch_execute(&begin), find_row(client, key)).await;
    begun?;
    let Some(row) = row? else { return Ok(None) };
    let revision: i64 = row.try_get("revision")?;
    let (connection, person, agent) = match key {
        CallerKey::Token { .. } => (row.try_get("token")?, row.try_get("person")?, row.try_get("agent")?),
        CallerKey::Person { person, connection, .. } => (connection.clone(), person.clone(), None),
    };
    let access = match known.filter(|known| known.revision == revision && known.person == person && known.tenant == tenant) {
        Some(known) => known.access.clone(),
        None => people::access(client, tenant, &person).await?,
    };
    Ok(Some(TeamCaller { tenant: tenant.to_owned(), revision, connection, person, agent, access }))
}

/// Returns the row of a caller, in the transaction of its tenant.
async fn find_row(client: &Object, key: &CallerKey) -> Result<Option<Row>, DatabaseFailure> {
    let sql = match key {
        CallerKey::Token { .. } => sql::CALLER_BY_HASH,
        CallerKey::Person { .. } => sql::CALLER_BY_NAME,
    };
    let statement = client.prepare_cached(sql).await?;
    let both: [&(dyn ToSql + Sync); 2] = [&key.tenant(), &key.name()];
    Ok(client.query_opt(&statement, &both).await?)
}
