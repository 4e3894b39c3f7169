//! Forgetting: texts of the history that have certain words are removed, and so are proposals with them; names and actors are replaced.
//! The changes stay. Each
//! namespace is done in one transaction under its lock.

use crate::{change::lock_namespaces, database::Database, failure::DatabaseFailure, space::CallerSpace, sql};
use deadpool_postgres::Object;
use memdir_core::{Access, ChangeId, Phrase, Result, internal::store::stop::Stop};
use std::collections::BTreeSet;

/// What has the words in the history of one namespace.
#[derive(Default)]
struct WordMatches {
    texts: Vec<(String, Vec<u8>)>,
    names: Vec<(String, i64)>,
    actors: Vec<(String, i64)>,
    reviewers: Vec<(String, i64)>,
    proposals: Vec<String>,
}

impl WordMatches {
    fn count(&self) -> usize {
        let rows: i64 = self.names.iter().chain(&self.actors).chain(&self.reviewers).map(|(_, rows)| rows).sum();
        self.texts.len() + self.proposals.len() + usize::try_from(rows).unwrap_or(usize::MAX)
    }
}

/// Returns the number of versions and names in the history that have the words.
pub(crate) async fn count(client: &Object, space: &CallerSpace, phrase: &Phrase) -> Result<usize, DatabaseFailure> {
    let mut count = 0;
    for namespace in writable_namespaces(space) {
        count += find(client, &space.tenant, &namespace, phrase).await?.count();
    }
    Ok(count)
}

/// Removes them, and returns their number.
pub(crate) fn forget(database: &Database, space: &CallerSpace, stop: &Stop, phrase: &Phrase) -> Result<usize> {
    let mut count = 0;
    for namespace in writable_namespaces(space) {
        count += database.retry(stop, || {
            database.block_on(async {
                let session = database.change_session(&space.tenant, &[]).await?;
                let client = session.client()?;
                let locked = BTreeSet::from([namespace.clone()]);
                lock_namespaces(client, &space.tenant, &locked).await?;
                let count = forget_in(client, &space.tenant, &namespace, phrase).await?;
                client.batch_execute("commit").await?;
                session.finish();
                Ok(count)
            })
        })?;
    }
    Ok(count)
}

fn writable_namespaces(space: &CallerSpace) -> BTreeSet<String> {
    let writable = space.mounts.iter().zip(&space.infos).filter(|(_, info)| info.access == Access::ReadWrite);
    writable.map(|(mount, _)| mount.namespace.clone()).collect()
}

async fn find(client: &Object, tenant: &str, namespace: &str, phrase: &Phrase) -> Result<WordMatches, DatabaseFailure> {
    let mut found = WordMatches::default();
    let page = client.prepare_cached(sql::PAGE_OF_TEXTS).await?;
    let mut after: (String, Vec<u8>) = Default::default();
    loop {
        let rows = client.query(&page, &[&tenant, &namespace, &after.0, &after.1]).await?;
        for row in &rows {
            after = (row.try_get(0)?, row.try_get(1)?);
            if row.try_get::<_, Option<&[u8]>>(2)?.is_some_and(|bytes| phrase.is_in(bytes)) {
                found.texts.push(after.clone());
            }
        }
        if rows.is_empty() {
            break;
        }
    }
    let mut after = String::new();
    loop {
        let rows = client.query(sql::PAGE_OF_PROPOSALS, &[&tenant, &namespace, &after]).await?;
        for row in &rows {
            after = row.try_get(0)?;
            let bytes: Option<Vec<Option<&[u8]>>> = row.try_get(2)?;
            let mut texts = bytes.iter().flatten().flatten();
            if phrase.is_in(row.try_get::<_, &str>(1)?) || texts.any(|bytes| phrase.is_in(bytes)) {
                found.proposals.push(after.clone());
            }
        }
        if rows.is_empty() {
            break;
        }
    }
    let places = [(sql::RECORDED_NAMES, &mut found.names), (sql::ACTORS, &mut found.actors), (sql::REVIEWERS, &mut found.reviewers)];
    for (sql, with) in places {
        for row in client.query(sql, &[&tenant, &namespace]).await? {
            let name: String = row.try_get(0)?;
            if phrase.is_in(&name) {
                with.push((name, row.try_get(1)?));
            }
        }
    }
    Ok(found)
}

async fn forget_in(client: &Object, tenant: &str, namespace: &str, phrase: &Phrase) -> Result<usize, DatabaseFailure> {
    let found = find(client, tenant, namespace, phrase).await?;
    for (path, version) in &found.texts {
        client.execute(sql::FORGET_TEXT, &[&tenant, &namespace, path, version]).await?;
    }
    for (name, _) in &found.names {
        let other = format!("forgotten/{}.md", ChangeId::generate()?);
        client.execute(sql::RENAME_TEXTS, &[&tenant, &namespace, name, &other]).await?;
        client.execute(sql::RENAME_FILES, &[&tenant, &namespace, name, &other]).await?;
    }
    if !found.names.is_empty() {
        client.execute(sql::NAMES_FORGOTTEN, &[&tenant, &namespace]).await?;
    }
    for (sql, actors) in [(sql::RENAME_ACTOR, &found.actors), (sql::RENAME_REVIEWER_IN, &found.reviewers)] {
        for (actor, _) in actors {
            let redacted = phrase.redact(actor).unwrap_or_default();
            client.execute(sql, &[&tenant, &namespace, actor, &redacted]).await?;
        }
    }
    for proposal in &found.proposals {
        client.execute(sql::FORGET_PROPOSAL, &[&tenant, &namespace, proposal]).await?;
    }
    Ok(found.count())
}
