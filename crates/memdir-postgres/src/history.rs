//! Reads the history: changes, earlier versions, sizes.

use crate::{
    failure::DatabaseFailure,
    reads::{corrupt, get_many, unusable, version},
    space::{self, CallerSpace, NamespaceFile},
    sql,
};
use deadpool_postgres::Object;
use jiff::Timestamp;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    Actor, Change, ChangeFilter, ChangeId, Error, FileChange, MemoryPath, Role, Stamp, Version, internal::store::JournalSize,
};
use serde::{Serialize, de::DeserializeOwned};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tokio_postgres::Row;

/// A change as its rows have it.
struct Recorded {
    recorded_us: i64,
    change: Change,
    /// All namespaces of the change, including those outside the space.
    namespaces: Vec<String>,
    files: Vec<RecordedFile>,
}

struct RecordedFile {
    namespace: String,
    path: String,
    role: Role,
    before: Option<Version>,
    after: Option<Version>,
}

/// Returns the changes that match a filter, newest first.
pub(crate) async fn changes(client: &Object, space: &CallerSpace, filter: &ChangeFilter) -> Result<Vec<Change>, DatabaseFailure> {
    let is_hiding = space.mounts.iter().any(|mount| !mount.shows_all);
    // Some of the newest changes may be hidden; then more are read.
    let mut limit = (filter.most > 0 && filter.id.is_none()).then_some(filter.most);
    loop {
        let ids = find(client, space, filter, limit).await?;
        let is_all = limit.is_none_or(|limit| ids.len() < limit);
        let mut all = load(client, space, &ids).await?;
        all.retain(|change| !change.files.is_empty() && filter.id.as_ref().is_none_or(|id| change.id.0.starts_with(id.as_str())));
        if is_all || !is_hiding || all.len() >= filter.most {
            if filter.most > 0 {
                all.truncate(filter.most);
            }
            return Ok(all);
        }
        limit = limit.map(|limit| limit.saturating_mul(4));
    }
}

/// Returns the ids of changes, in any order.
async fn find(client: &Object, space: &CallerSpace, filter: &ChangeFilter, limit: Option<usize>) -> Result<Vec<String>, DatabaseFailure> {
    let limit = limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let namespaces = space.namespaces();
    let rows = if let Some(path) = &filter.path {
        let Some(spot) = recorded_spot(client, space, path).await? else { return Ok(Vec::new()) };
        let statement = client.prepare_cached(sql::OF_FILE).await?;
        client.query(&statement, &[&space.tenant, &space.namespace(&spot), &spot.rel, &limit]).await?
    } else if let Some(id) = &filter.id {
        if id.contains('\0') {
            return Ok(Vec::new());
        }
        let statement = client.prepare_cached(sql::BY_ID).await?;
        // Ids are letters and digits, which come before `~`.
        client.query(&statement, &[&space.tenant, &namespaces, id, &format!("{id}~")]).await?
    } else {
        let statement = client.prepare_cached(sql::NEWEST).await?;
        client.query(&statement, &[&space.tenant, &namespaces, &limit]).await?
    };
    let mut newest = rows
        .iter()
        .map(|row| Ok((std::cmp::Reverse(row.try_get::<_, i64>("recorded_us")?), row.try_get("change_id")?)))
        .collect::<Result<BTreeSet<_>, DatabaseFailure>>()?
        .into_iter()
        .map(|(_, id)| id);
    // What is beyond the limit in one namespace may be incomplete in the others.
    Ok(match limit {
        Some(limit) => newest.by_ref().take(usize::try_from(limit).unwrap_or(usize::MAX)).collect(),
        None => newest.collect(),
    })
}

/// Loads changes by their ids, newest first.
pub(crate) async fn load(client: &Object, space: &CallerSpace, ids: &[String]) -> Result<Vec<Change>, DatabaseFailure> {
    let namespaces = space.namespaces();
    let (changes, files) = (client.prepare_cached(sql::CHANGES).await?, client.prepare_cached(sql::CHANGED_FILES).await?);
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&space.tenant, &namespaces, &ids];
    let (changes, files) = tokio::join!(biased; client.query(&changes, &parameters), client.query(&files, &parameters));
    let mut recorded: HashMap<String, Recorded> = HashMap::new();
    for row in changes? {
        recorded.insert(row.try_get("change_id")?, to_recorded(&row)?);
    }
    for row in files? {
        let id: &str = row.try_get("change_id")?;
        if let Some(recorded) = recorded.get_mut(id) {
            recorded.files.push(to_file(&row)?);
        }
    }
    let mut all: Vec<Recorded> = recorded.into_values().collect();
    all.shared_sort_by_key(|recorded| std::cmp::Reverse(recorded.recorded_us));
    all.into_iter().map(|recorded| Ok(show(space, recorded)?)).collect()
}

fn to_recorded(row: &Row) -> Result<Recorded, DatabaseFailure> {
    let at: i64 = row.try_get("at_ms")?;
    let change = Change {
        id: ChangeId(row.try_get("change_id")?),
        at: Timestamp::from_millisecond(at).map_err(|error| corrupt(&error.to_string()))?,
        actor: Actor { name: row.try_get("actor")?, session: row.try_get("session")? },
        verb: from_name(row.try_get("verb")?)?,
        undoes: row.try_get::<_, Option<String>>("undoes")?.map(ChangeId),
        reviewer: row.try_get("reviewer")?,
        files: Vec::new(),
        elsewhere: Vec::new(),
        incomplete: false,
        after_damage: false,
    };
    Ok(Recorded { recorded_us: row.try_get("recorded_us")?, change, namespaces: row.try_get("namespaces")?, files: Vec::new() })
}

fn to_file(row: &Row) -> Result<RecordedFile, DatabaseFailure> {
    let optional = |bytes: Option<&[u8]>| bytes.map(version).transpose();
    Ok(RecordedFile {
        namespace: row.try_get("namespace")?,
        path: row.try_get("path")?,
        role: from_name(row.try_get("role")?)?,
        before: optional(row.try_get("before")?)?,
        after: optional(row.try_get("after")?)?,
    })
}

/// Returns the change as this space sees it.
fn show(space: &CallerSpace, recorded: Recorded) -> memdir_core::Result<Change> {
    let Recorded { mut change, namespaces, files, .. } = recorded;
    for file in files {
        let mut is_shown = false;
        for (at, mount) in space.mounts.iter().enumerate() {
            if mount.namespace == file.namespace && !mount.rules.hides(&file.path) {
                is_shown = true;
                let path = space.named(at, &file.path)?;
                change.files.push(FileChange { path, role: file.role, before: file.before, after: file.after });
            }
        }
        change.incomplete |= !is_shown && file.role == Role::Memory;
    }
    change.files.shared_sort_by(|a, b| a.path.cmp(&b.path));
    let outside = namespaces.iter().filter(|namespace| space.mounts.iter().all(|mount| mount.namespace != **namespace));
    change.elsewhere = outside.map(|namespace| space::root(&space.tenant, namespace)).collect();
    Ok(change)
}

/// Returns the file a name resolves to: an existing one, else the one in the history. `None` if it is hidden.
async fn recorded_spot(client: &Object, space: &CallerSpace, path: &MemoryPath) -> Result<Option<NamespaceFile>, DatabaseFailure> {
    let spot = space.spot(path)?;
    if let Some(stored) = get_many(client, space, std::slice::from_ref(path)).await?.into_iter().flatten().next() {
        return Ok(Some(space.spot(&stored.path)?));
    }
    let names = space.spellings(&spot);
    let statement = client.prepare_cached(sql::RECORDED).await?;
    let rows = client.query(&statement, &[&space.tenant, &space.namespace(&spot), &names]).await?;
    let recorded = rows.iter().map(|row| Ok(row.try_get(0)?)).collect::<Result<Vec<String>, DatabaseFailure>>()?;
    Ok(names.into_iter().find(|name| recorded.contains(name)).map(|rel| NamespaceFile { rel, ..spot }))
}

/// Returns the bytes a file had at a version.
pub(crate) async fn text_at(
    client: &Object,
    space: &CallerSpace,
    path: &MemoryPath,
    wanted: Version,
) -> Result<Option<Vec<u8>>, DatabaseFailure> {
    let spot = space.spot(path)?;
    let names = space.spellings(&spot);
    let statement = client.prepare_cached(sql::TEXT_AT).await?;
    let rows = client.query(&statement, &[&space.tenant, &space.namespace(&spot), &names, &wanted.to_bytes().as_slice()]).await?;
    let mut found: BTreeMap<String, Option<Vec<u8>>> = BTreeMap::new();
    for row in rows {
        found.insert(row.try_get("path")?, row.try_get("bytes")?);
    }
    if let Some((name, bytes)) = names.iter().find_map(|name| Some((name, found.remove(name)?))) {
        return bytes.map(Some).ok_or_else(|| Error::forgotten_version(wanted, name).into());
    }
    let now = get_many(client, space, std::slice::from_ref(path)).await?;
    Ok(now.into_iter().flatten().find(|stored| stored.version == wanted).map(|stored| stored.bytes))
}

/// Returns the version and size of the last text of the file of exactly this name.
pub(crate) async fn last_recorded(
    client: &Object,
    space: &CallerSpace,
    path: &MemoryPath,
) -> Result<Option<(Version, u64)>, DatabaseFailure> {
    let spot = space.spot(path)?;
    if space.mounts[spot.mount].rules.hides(&spot.rel) {
        return Ok(None);
    }
    let statement = client.prepare_cached(sql::LAST_RECORDED).await?;
    let row = client.query_opt(&statement, &[&space.tenant, &space.namespace(&spot), &spot.rel]).await?;
    row.map(|row| Ok((version(row.try_get(0)?)?, row.try_get::<_, i64>(1)?.unsigned_abs()))).transpose()
}

/// Returns the stamps of the mounts, which differ after every change.
pub(crate) async fn marks(client: &Object, space: &CallerSpace) -> Result<Vec<Option<Stamp>>, DatabaseFailure> {
    let statement = client.prepare_cached(sql::SEQUENCES).await?;
    let mut found: HashMap<String, Stamp> = HashMap::new();
    for row in client.query(&statement, &[&space.tenant, &space.namespaces()]).await? {
        let (sequence, recorded): (i64, i64) = (row.try_get(1)?, row.try_get(2)?);
        let time = recorded.saturating_mul(1_000);
        found.insert(row.try_get(0)?, Stamp { size: 0, mtime_ns: time, ctime_ns: time, inode: sequence.unsigned_abs() });
    }
    Ok(space.mounts.iter().map(|mount| found.get(&mount.namespace).copied()).collect())
}

/// Returns the size of the history, as far as it is visible.
pub(crate) async fn size(client: &Object, space: &CallerSpace) -> Result<JournalSize, DatabaseFailure> {
    if space.mounts.iter().any(|mount| !mount.shows_all) {
        // The size in bytes would reveal something about what is hidden.
        let visible = changes(client, space, &ChangeFilter::default()).await?;
        return Ok(JournalSize { changes: visible.len() as u64, ..JournalSize::default() });
    }
    let namespaces = space.namespaces();
    let count: i64 = client.query_one(sql::COUNT_CHANGES, &[&space.tenant, &namespaces]).await?.try_get(0)?;
    let bytes: i64 = client.query_one(sql::HISTORY_BYTES, &[&space.tenant, &namespaces]).await?.try_get(0)?;
    Ok(JournalSize { changes: count.unsigned_abs(), bytes: bytes.unsigned_abs(), damaged: 0 })
}

/// Returns the name by which a verb or a role is stored: the one of its serialization.
pub(crate) fn to_name<T: Serialize>(value: &T) -> Result<String, DatabaseFailure> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => Ok(name),
        _ => Err(unusable("internal error: a value cannot be stored as text".into())),
    }
}

pub(crate) fn from_name<T: DeserializeOwned>(name: &str) -> Result<T, DatabaseFailure> {
    serde_json::from_value(serde_json::Value::String(name.to_owned()))
        .map_err(|_| unusable(format!("it contains the unknown value {name:?}; if a newer release wrote it, upgrade memdir")))
}
