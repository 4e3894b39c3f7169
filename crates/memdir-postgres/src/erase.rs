//! Erasing a person: their own namespaces with all texts, versions and history, their tokens and roles. In namespaces that they shared, the
//! changes stay, under another actor name. All of it is one transaction.

use crate::{change::lock_namespaces, database::Database, failure::DatabaseFailure, sql};
use deadpool_postgres::Object;
use memdir_core::{
    ChangeId, Error, Result,
    internal::{base::shell::quote_posix, store::space},
};
use serde::Serialize;

/// What was erased, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErasureReceipt {
    /// The tenant.
    pub tenant: String,
    /// The pseudonym: the name that the history has instead of the person's.
    pub erased_as: String,
    /// The number of namespaces that were only the person's: their own and those of their agents.
    pub namespaces: u64,
    /// The number of files in them.
    pub memories: u64,
    /// The number of versions in them.
    pub versions: u64,
    /// The number of changes in them.
    pub changes: u64,
    /// The number of tokens.
    pub tokens: u64,
    /// The number of groups that the person was in.
    pub groups: u64,
    /// The number of idempotency keys.
    pub claims: u64,
    /// The number of changes in shared namespaces that have another actor now.
    pub shared_changes: u64,
    /// The number of changes in shared namespaces that have another reviewer now.
    pub accepted_changes: u64,
    /// The number of proposals that were not accepted.
    pub proposals: u64,
    /// The number of rows of the audit log that have another name now.
    pub audit_entries: u64,
    /// Whether it was done. Otherwise these are the numbers of what would be erased.
    pub is_done: bool,
}

impl Database {
    /// Erases a person, or counts what would be erased.
    pub fn erase_person(&self, tenant: &str, person: &str, is_done: bool) -> Result<ErasureReceipt> {
        let own = format!("people/{}", space::person(person)?);
        let id = ChangeId::generate()?;
        let erased_as = format!("erased-{id}");
        self.administer_or_undo(tenant, is_done, async |client| {
            // First, so that changes which are being made end before the history is renamed, and later ones find no person.
            client.query(sql::LOCK_PERSON_ALONE, &[&tenant, &person]).await?;
            if client.query_opt(sql::LOCK_PERSON, &[&tenant, &person]).await?.is_none() {
                let list = format!("memdir admin person list --tenant {}", quote_posix(tenant));
                let why = format!("it does not exist in tenant {tenant:?}; list the people with: {list}");
                return Err(Error::bad_input(format!("person {person:?}"), why).into());
            }
            erase(client, (tenant, person), &own, &erased_as, is_done).await
        })
    }
}

async fn erase(
    client: &Object,
    (tenant, person): (&str, &str),
    own: &str,
    erased_as: &str,
    is_done: bool,
) -> Result<ErasureReceipt, DatabaseFailure> {
    let rows = client.query(sql::NAMESPACES_BELOW, &[&tenant, &own]).await?;
    let namespaces = rows.iter().map(|row| Ok(row.try_get(0)?)).collect::<Result<_, DatabaseFailure>>()?;
    lock_namespaces(client, tenant, &namespaces).await?;
    let names: Vec<&str> = namespaces.iter().map(String::as_str).collect();
    let mut removed = Vec::new();
    for sql in sql::ERASE_NAMESPACES {
        removed.push(client.execute(*sql, &[&tenant, &names]).await?);
    }
    let [changes, versions, memories, ..] = removed[1..] else {
        return Err(DatabaseFailure::disconnected("internal error: the number of erased rows is unknown"));
    };
    // A change of several namespaces names them all.
    for (n, namespace) in names.iter().enumerate() {
        client.execute(sql::RENAME_IN_CHANGES, &[&tenant, namespace, &format!("{erased_as}/{n}")]).await?;
    }
    let shared_changes = client.execute(sql::RENAME_ACTOR_EVERYWHERE, &[&tenant, &person, &erased_as]).await?;
    let accepted_changes = client.execute(sql::RENAME_REVIEWER, &[&tenant, &person, &erased_as]).await?;
    let proposals = client.execute(sql::ERASE_PROPOSALS, &[&tenant, &person]).await?;
    client.execute(sql::RENAME_IN_PROPOSALS, &[&tenant, &person, &erased_as]).await?;
    let claims = client.execute(sql::ERASE_CLAIMS, &[&tenant, &person]).await?;
    let tokens = client.execute(sql::ERASE_TOKENS, &[&tenant, &person]).await?;
    let groups = client.execute(sql::ERASE_MEMBER, &[&tenant, &person]).await?;
    client.execute(sql::REMOVE_PERSON, &[&tenant, &person]).await?;
    client.execute(sql::AUDIT_ERASURE, &[&tenant, &erased_as]).await?;
    // Last, because the removals above are in the log too.
    let audit_entries = client.execute(sql::RENAME_IN_AUDIT, &[&tenant, &person, &erased_as]).await?;
    Ok(ErasureReceipt {
        tenant: tenant.to_owned(),
        erased_as: erased_as.to_owned(),
        namespaces: names.len() as u64,
        memories,
        versions,
        changes,
        tokens,
        groups,
        claims,
        shared_changes,
        accepted_changes,
        proposals,
        audit_entries,
        is_done,
    })
}
