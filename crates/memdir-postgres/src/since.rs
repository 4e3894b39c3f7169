//! Reads the history forwards, from a cursor: the sequence number of the last change that was seen in each namespace.

use crate::{failure::DatabaseFailure, history, space::CallerSpace, sql};
use deadpool_postgres::Object;
use memdir_core::{ChangeCursor, ChangePage};
use std::collections::{BTreeMap, HashMap};

/// The parts of changes, in the order of the history: a change of several namespaces has the same place in all of them.
type ChangePositions = BTreeMap<(i64, String), Vec<(String, i64)>>;

/// Returns the changes after a cursor, oldest first. One statement reads the places, so that a change is seen in all of its namespaces
/// or in none.
pub(crate) async fn changes_since(
    client: &Object,
    space: &CallerSpace,
    after: Option<&ChangeCursor>,
    most: usize,
) -> Result<ChangePage, DatabaseFailure> {
    let most = most.max(1);
    let mut next = after.cloned().unwrap_or_default();
    loop {
        let places = places_since(client, space, &next, most).await?;
        let is_end = places.len() < most;
        let (mut ids, mut cursors) = (Vec::new(), HashMap::new());
        for ((_, id), parts) in places.into_iter().take(most) {
            parts.into_iter().for_each(|(namespace, sequence)| next.set_position(&place(space, &namespace), sequence.to_string()));
            cursors.insert(id.clone(), next.clone());
            ids.push(id);
        }
        let mut changes = Vec::with_capacity(ids.len());
        for change in history::load(client, space, &ids).await?.into_iter().rev() {
            // A change whose memories are hidden here only moves the cursor.
            if let Some(cursor) = cursors.remove(&change.id.0).filter(|_| !change.files.is_empty()) {
                changes.push((change, cursor));
            }
        }
        if is_end || !changes.is_empty() {
            return Ok(ChangePage { changes, next });
        }
    }
}

async fn places_since(client: &Object, space: &CallerSpace, after: &ChangeCursor, most: usize) -> Result<ChangePositions, DatabaseFailure> {
    let namespaces = space.namespaces();
    let mut sequences: Vec<i64> = Vec::new();
    for namespace in &namespaces {
        sequences.push(match after.position(&place(space, namespace)) {
            None => 0,
            Some(position) => position.parse().map_err(|_| ChangeCursor::expired())?,
        });
    }
    let limit = i64::try_from(most).unwrap_or(i64::MAX);
    let statement = client.prepare_cached(sql::SINCE).await?;
    let mut places = ChangePositions::new();
    for row in client.query(&statement, &[&space.tenant, &namespaces, &sequences, &limit]).await? {
        let (id, recorded): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
        places.entry((recorded, id)).or_default().push((row.try_get(2)?, row.try_get(3)?));
    }
    Ok(places)
}

/// Returns the cursor after the newest change.
pub(crate) async fn newest_cursor(client: &Object, space: &CallerSpace) -> Result<ChangeCursor, DatabaseFailure> {
    let statement = client.prepare_cached(sql::SEQUENCES).await?;
    let mut cursor = ChangeCursor::default();
    for row in client.query(&statement, &[&space.tenant, &space.namespaces()]).await? {
        let (namespace, sequence): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
        if sequence > 0 {
            cursor.set_position(&place(space, &namespace), sequence.to_string());
        }
    }
    Ok(cursor)
}

/// The name by which a cursor knows a namespace.
fn place(space: &CallerSpace, namespace: &str) -> Vec<u8> {
    format!("{}\0{namespace}", space.tenant).into_bytes()
}
