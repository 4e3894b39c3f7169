//! Who may do what in a tenant: people, groups with roles, projects and tokens. Every change of them counts up the tenant's revision in the
//! same transaction, by which replicas notice it.

use crate::{database::Database, failure::DatabaseFailure, sql, team_token};
use deadpool_postgres::Object;
use memdir_core::{
    Error, Result,
    internal::store::{mounts, space, stop::Stop},
};
use serde::Serialize;
use std::{collections::BTreeMap, fmt, str::FromStr};

/// The role of a person in a group, and thereby in the group's projects. Each role includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MemberRole {
    /// Reads.
    Reader,
    /// Reads and writes.
    Writer,
    /// Also accepts and rejects proposed changes.
    Reviewer,
    /// Also manages the group.
    Admin,
}

impl MemberRole {
    const ALL: [MemberRole; 4] = [MemberRole::Reader, MemberRole::Writer, MemberRole::Reviewer, MemberRole::Admin];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            MemberRole::Reader => "reader",
            MemberRole::Writer => "writer",
            MemberRole::Reviewer => "reviewer",
            MemberRole::Admin => "admin",
        }
    }
}

impl fmt::Display for MemberRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for MemberRole {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let known = || Error::bad_input("role", format!("{text:?} is not one of reader, writer, reviewer, admin"));
        MemberRole::ALL.into_iter().find(|role| role.name() == text).ok_or_else(known)
    }
}

/// A group with its members and projects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupRow {
    /// Its name.
    pub group: String,
    /// The roles of its members, by person.
    pub members: BTreeMap<String, MemberRole>,
    /// Its projects.
    pub projects: Vec<String>,
}

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TokenRow {
    /// The public id.
    pub id: String,
    /// The person.
    pub person: String,
    /// The agent, if the token belongs to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// A project and the group it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectRow {
    /// Its id.
    pub project: String,
    /// Its group.
    pub group: String,
}

/// The access of a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonAccess {
    /// The role in each group.
    pub groups: BTreeMap<String, MemberRole>,
    /// The group of each project of those groups.
    pub projects: BTreeMap<String, String>,
}

impl Database {
    /// Adds a person. Returns whether it is new.
    pub fn add_person(&self, tenant: &str, person: &str) -> Result<bool> {
        space::person(person)?;
        self.administer(tenant, async |client| Ok(client.execute(sql::ADD_PERSON, &[&tenant, &person]).await? == 1))
    }

    /// Removes a person with their tokens and memberships. Their memories stay. Returns whether the person existed.
    pub fn remove_person(&self, tenant: &str, person: &str) -> Result<bool> {
        self.administer(tenant, async |client| {
            client.query(sql::LOCK_PERSON_ALONE, &[&tenant, &person]).await?;
            Ok(client.execute(sql::REMOVE_PERSON, &[&tenant, &person]).await? == 1)
        })
    }

    /// Lists the people of a tenant with their access.
    pub fn people(&self, tenant: &str) -> Result<BTreeMap<String, PersonAccess>> {
        self.read(&Stop::default(), tenant, async |client| {
            let mut people = BTreeMap::new();
            for row in client.query(sql::PEOPLE, &[&tenant]).await? {
                let person: String = row.try_get(0)?;
                let access = access(client, tenant, &person).await?;
                people.insert(person, access);
            }
            Ok(people)
        })
    }

    /// Adds a group. Returns whether it is new.
    pub fn add_group(&self, tenant: &str, group: &str) -> Result<bool> {
        space::part("group", group)?;
        self.administer(tenant, async |client| Ok(client.execute(sql::ADD_GROUP, &[&tenant, &group]).await? == 1))
    }

    /// Removes a group, which must have no projects. Its memories stay. Returns whether it existed.
    pub fn remove_group(&self, tenant: &str, group: &str) -> Result<bool> {
        self.administer(tenant, async |client| Ok(client.execute(sql::REMOVE_GROUP, &[&tenant, &group]).await? == 1))
    }

    /// Gives a person a role in a group.
    pub fn set_member(&self, tenant: &str, group: &str, person: &str, role: MemberRole) -> Result<()> {
        self.administer(tenant, async |client| {
            exists(client, sql::HAS_GROUP, tenant, ("group", group)).await?;
            exists(client, sql::HAS_PERSON, tenant, ("person", person)).await?;
            client.execute(sql::SET_MEMBER, &[&tenant, &group, &person, &role.name()]).await?;
            Ok(())
        })
    }

    /// Removes a person from a group. Returns whether the person was a member.
    pub fn remove_member(&self, tenant: &str, group: &str, person: &str) -> Result<bool> {
        self.administer(tenant, async |client| Ok(client.execute(sql::REMOVE_MEMBER, &[&tenant, &group, &person]).await? == 1))
    }

    /// Lists the groups of a tenant.
    pub fn groups(&self, tenant: &str) -> Result<Vec<GroupRow>> {
        self.read(&Stop::default(), tenant, async |client| {
            let mut groups: BTreeMap<String, GroupRow> = BTreeMap::new();
            for row in client.query(sql::GROUPS, &[&tenant]).await? {
                let name: String = row.try_get(0)?;
                groups.insert(name.clone(), GroupRow { group: name, members: BTreeMap::new(), projects: Vec::new() });
            }
            for row in client.query(sql::MEMBERS, &[&tenant]).await? {
                let (group, person, role): (&str, String, &str) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
                if let Some(group) = groups.get_mut(group) {
                    group.members.insert(person, role.parse::<MemberRole>()?);
                }
            }
            for row in client.query(sql::PROJECTS, &[&tenant]).await? {
                let (project, group): (String, &str) = (row.try_get(0)?, row.try_get(1)?);
                groups.get_mut(group).into_iter().for_each(|group| group.projects.push(project.clone()));
            }
            Ok(groups.into_values().collect())
        })
    }

    /// Adds a project to a group, or moves it there. Returns whether it is new.
    pub fn add_project(&self, tenant: &str, project: &str, group: &str) -> Result<bool> {
        space::part("project", project)?;
        self.administer(tenant, async |client| {
            exists(client, sql::HAS_GROUP, tenant, ("group", group)).await?;
            Ok(client.query_one(sql::ADD_PROJECT, &[&tenant, &project, &group]).await?.try_get(0)?)
        })
    }

    /// Removes a project. Its memories stay, and are there again if the project is added again. Returns whether it existed.
    pub fn remove_project(&self, tenant: &str, project: &str) -> Result<bool> {
        self.administer(tenant, async |client| Ok(client.execute(sql::REMOVE_PROJECT, &[&tenant, &project]).await? == 1))
    }

    /// Lists the projects of a tenant.
    pub fn projects(&self, tenant: &str) -> Result<Vec<ProjectRow>> {
        self.read(&Stop::default(), tenant, async |client| {
            let rows = client.query(sql::PROJECTS, &[&tenant]).await?;
            rows.iter().map(|row| Ok(ProjectRow { project: row.try_get(0)?, group: row.try_get(1)? })).collect()
        })
    }

    /// Adds a token of a person. Returns it with its secret, which is stored nowhere.
    pub fn add_token(&self, tenant: &str, person: &str, agent: Option<&str>) -> Result<(TokenRow, String)> {
        if let Some(agent) = agent {
            space::part("agent", &mounts::agent_folder(agent))?;
        }
        let secret = team_token::generate(tenant)?;
        let hash = space::token_hash(&secret);
        let row = TokenRow { id: hash[..ID_LEN].to_owned(), person: person.to_owned(), agent: agent.map(str::to_owned) };
        self.administer(tenant, async |client| {
            exists(client, sql::HAS_PERSON, tenant, ("person", person)).await?;
            client.execute(sql::ADD_TOKEN, &[&tenant, &row.id, &hash, &row.person, &row.agent]).await?;
            Ok(())
        })?;
        Ok((row, secret))
    }

    /// Revokes the token with this id, on all replicas at once. Returns it, or `None` if it does not exist.
    pub fn remove_token(&self, tenant: &str, id: &str) -> Result<Option<TokenRow>> {
        self.administer(tenant, async |client| {
            let row = client.query_opt(sql::REMOVE_TOKEN, &[&tenant, &id]).await?;
            row.map(|row| to_token(&row)).transpose()
        })
    }

    /// Lists the tokens of a tenant.
    pub fn tokens(&self, tenant: &str) -> Result<Vec<TokenRow>> {
        self.read(&Stop::default(), tenant, async |client| client.query(sql::TOKENS, &[&tenant]).await?.iter().map(to_token).collect())
    }
}

/// Number of digits of a token's id.
const ID_LEN: usize = 12;

fn to_token(row: &tokio_postgres::Row) -> Result<TokenRow, DatabaseFailure> {
    Ok(TokenRow { id: row.try_get(0)?, person: row.try_get(1)?, agent: row.try_get(2)? })
}

/// Returns the access of a person.
pub(crate) async fn access(client: &Object, tenant: &str, person: &str) -> Result<PersonAccess, DatabaseFailure> {
    let (groups, projects) = (client.prepare_cached(sql::GROUPS_OF_PERSON).await?, client.prepare_cached(sql::PROJECTS_OF_PERSON).await?);
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 2] = [&tenant, &person];
    let (groups, projects) = tokio::join!(biased; client.query(&groups, &parameters), client.query(&projects, &parameters));
    let mut access = PersonAccess::default();
    for row in groups? {
        access.groups.insert(row.try_get(0)?, row.try_get::<_, &str>(1)?.parse::<MemberRole>()?);
    }
    for row in projects? {
        access.projects.insert(row.try_get(0)?, row.try_get(1)?);
    }
    Ok(access)
}

/// Fails if something that is named does not exist.
async fn exists(client: &Object, sql: &str, tenant: &str, (what, name): (&str, &str)) -> Result<(), DatabaseFailure> {
    match client.query_opt(sql, &[&tenant, &name]).await? {
        Some(_) => Ok(()),
        None => Err(Error::bad_input(format!("{what} {name:?}"), format!("it does not exist; add the {what} first")).into()),
    }
}
