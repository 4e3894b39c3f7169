//! The caller behind a token: who it is, what it may do, and which namespaces its space has.

use crate::{
    database::{Database, begin_read, send_before},
    failure::Failure,
    people::{self, MemberRole, PersonAccess},
    space::NamespaceMount,
    sql,
    team_token::tenant_of_token,
};
use memdir_core::{
    Access, Actor, Mount, Result,
    internal::store::space::{TokenIdentity, part, person, token_hash},
};
use std::sync::Arc;
use tokio_postgres::types::ToSql;

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
        database.look_up(find(database, key, known.as_deref())).await
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
            let name = part("agent", &agent.replace(':', "-"))?;
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
        // An agent always proposes, also with a token of a reviewer.
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
}

async fn find(database: &Database, key: &CallerKey, known: Option<&TeamCaller>) -> Result<Option<TeamCaller>, Failure> {
    // An idle connection may have been closed long ago, as by a restart of the server.
    match find_once(database, key, known).await {
        Err(failure) if failure.is_temporary() => find_once(database, key, known).await,
        done => done,
    }
}

async fn find_once(database: &Database, key: &CallerKey, known: Option<&TeamCaller>) -> Result<Option<TeamCaller>, Failure> {
    let tenant = key.tenant();
    let (sql, name) = match key {
        CallerKey::Token { hash, .. } => (sql::CALLER_BY_HASH, hash),
        CallerKey::Person { person, .. } => (sql::CALLER_BY_NAME, person),
    };
    // PostgreSQL does not take this character, and no name has it.
    if [tenant, name].iter().any(|name| name.contains('\0')) {
        return Ok(None);
    }
    let session = database.lookup_session().await?;
    let client = session.client()?;
    let statement = client.prepare_cached(sql).await?;
    let (begin, both): (String, [&(dyn ToSql + Sync); 2]) = (begin_read(tenant), [&tenant, name]);
    let (begun, row) = send_before(client.batch_execute(&begin), client.query_opt(&statement, &both)).await;
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
