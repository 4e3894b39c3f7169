//! What changed since a position: the one request that keeps the indexes of all replicas in step. Every change has the next number of its
//! namespace, so that nothing is listed while nothing changes.

use crate::{
    failure::DatabaseFailure,
    reads::{self, stamp},
    space::CallerSpace,
    sql,
};
use deadpool_postgres::Object;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    MemoryPath, MountChanges, SequencePosition, Stamp,
    internal::store::{Entry, mounts},
};
use std::collections::{HashMap, HashSet};

/// Beyond this number of changed files, a listing costs less.
const MAX_CHANGED: i64 = 2_000;

/// A mount and the position up to which its files are known.
struct KnownMount<'a> {
    at: usize,
    namespace: &'a str,
    position: Option<SequencePosition>,
}

/// Returns what changed in mounts since positions, in the same order.
pub(crate) async fn changed_since(
    client: &Object,
    space: &CallerSpace,
    known: &[(&str, Option<SequencePosition>)],
) -> Result<Vec<MountChanges>, DatabaseFailure> {
    let known = known
        .iter()
        .map(|(prefix, position)| {
            let at = mounts::with_prefix(&space.infos, prefix)?;
            Ok(KnownMount { at, namespace: &space.mounts[at].namespace, position: *position })
        })
        .collect::<Result<Vec<_>, DatabaseFailure>>()?;
    let now = positions(client, space, known.iter().map(|mount| mount.namespace)).await?;
    let now = |mount: &KnownMount<'_>| now.get(mount.namespace).copied().unwrap_or_default();
    let moved: Vec<&KnownMount<'_>> = known.iter().filter(|mount| mount.position.is_some_and(|position| position != now(mount))).collect();
    let mut changed = changed_files(client, space, &moved).await?;
    let changes = |mount: &KnownMount<'_>| {
        let files = match mount.position {
            Some(position) if position == now(mount) => Some(Vec::new()),
            Some(_) => changed.remove(&mount.at),
            None => None,
        };
        MountChanges { position: now(mount), files }
    };
    Ok(known.iter().map(changes).collect())
}

/// Lists the files of a mount, and returns the position of the listing.
pub(crate) async fn list_mount(
    client: &Object,
    space: &CallerSpace,
    prefix: &str,
) -> Result<(SequencePosition, Vec<Entry>), DatabaseFailure> {
    let at = mounts::with_prefix(&space.infos, prefix)?;
    let namespace = space.mounts[at].namespace.as_str();
    let position = positions(client, space, std::iter::once(namespace)).await?.get(namespace).copied().unwrap_or_default();
    let mut entries = reads::list_mount(client, space, at, "").await?.entries;
    entries.shared_sort_by(|a, b| a.path.cmp(&b.path));
    Ok((position, entries))
}

async fn positions<'a>(
    client: &Object,
    space: &CallerSpace,
    namespaces: impl Iterator<Item = &'a str>,
) -> Result<HashMap<String, SequencePosition>, DatabaseFailure> {
    let namespaces: Vec<&str> = namespaces.collect();
    let statement = client.prepare_cached(sql::SEQUENCES).await?;
    let mut found = HashMap::new();
    for row in client.query(&statement, &[&space.tenant, &namespaces]).await? {
        let (sequence, recorded_us): (i64, i64) = (row.try_get(1)?, row.try_get(2)?);
        found.insert(row.try_get(0)?, SequencePosition { sequence: sequence.unsigned_abs(), recorded_us });
    }
    Ok(found)
}

type ChangedFiles = Vec<(MemoryPath, Option<Stamp>)>;

/// Returns the changed files of mounts whose position is known, by the place of the mount. A mount that must be listed is left out.
async fn changed_files(
    client: &Object,
    space: &CallerSpace,
    moved: &[&KnownMount<'_>],
) -> Result<HashMap<usize, ChangedFiles>, DatabaseFailure> {
    if moved.is_empty() {
        return Ok(HashMap::new());
    }
    let number = |mount: &&KnownMount<'_>| mount.position.map_or(0, |position| position.sequence.cast_signed());
    let namespaces: Vec<&str> = moved.iter().map(|mount| mount.namespace).collect();
    let sequences: Vec<i64> = moved.iter().map(number).collect();
    let times: Vec<i64> = moved.iter().map(|mount| mount.position.map_or(0, |position| position.recorded_us)).collect();
    let statement = client.prepare_cached(sql::KNOWN_POSITIONS).await?;
    let rows = client.query(&statement, &[&space.tenant, &namespaces, &sequences, &times]).await?;
    let known = rows.iter().map(|row| Ok(row.try_get(0)?)).collect::<Result<HashSet<String>, DatabaseFailure>>()?;
    let moved: Vec<&&KnownMount<'_>> = moved.iter().filter(|mount| known.contains(mount.namespace)).collect();
    let (namespaces, sequences): (Vec<&str>, Vec<i64>) = moved.iter().map(|mount| (mount.namespace, number(mount))).unzip();
    let statement = client.prepare_cached(sql::CHANGED_SINCE).await?;
    let rows = client.query(&statement, &[&space.tenant, &namespaces, &sequences, &(MAX_CHANGED + 1)]).await?;
    if rows.len() as i64 > MAX_CHANGED {
        return Ok(HashMap::new());
    }
    let mut changed: HashMap<usize, ChangedFiles> = moved.iter().map(|mount| (mount.at, Vec::new())).collect();
    for row in &rows {
        let (namespace, path): (&str, &str) = (row.try_get("namespace")?, row.try_get("path")?);
        let stamp = row.try_get::<_, Option<i64>>("sequence")?.map(|_| stamp(row)).transpose()?;
        for mount in moved.iter().filter(|mount| mount.namespace == namespace && !space.mounts[mount.at].rules.hides(path)) {
            changed.entry(mount.at).or_default().push((space.named(mount.at, path)?, stamp));
        }
    }
    Ok(changed)
}
