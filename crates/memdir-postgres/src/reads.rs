//! Reads documents, on the connection of a change or on one for reads.

use crate::{
    failure::DatabaseFailure,
    space::{CallerSpace, NamespaceFile},
    sql,
};
use deadpool_postgres::Object;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    Error, MemoryPath, Stamp, Stored, Version,
    internal::{
        base::limits,
        store::{Entry, Walk, mounts},
    },
};
use std::collections::{BTreeMap, HashMap};
use tokio_postgres::Row;

/// Reads memories by name, all in one round trip.
pub(crate) async fn get_many(client: &Object, space: &CallerSpace, paths: &[MemoryPath]) -> Result<Vec<Option<Stored>>, DatabaseFailure> {
    let spots = paths.iter().map(|path| space.spot(path)).collect::<memdir_core::Result<Vec<NamespaceFile>>>()?;
    let spellings = spots.iter().map(|spot| space.spellings(spot)).collect::<Vec<_>>();
    let wanted = spots.iter().zip(&spellings).flat_map(|(spot, names)| names.iter().map(|name| (space.namespace(spot), name.as_str())));
    let mut found = get_exact(client, space, wanted).await?;
    let mut all = Vec::with_capacity(paths.len());
    for (spot, names) in spots.iter().zip(&spellings) {
        let mut stored = None;
        for name in names {
            if let Some(document) = found.get_mut(&(space.namespace(spot).to_owned(), name.clone())) {
                let path = space.named(spot.mount, name)?;
                stored = Some(Stored { path, bytes: document.bytes.clone(), version: document.version, stamp: document.stamp });
                break;
            }
        }
        all.push(stored);
    }
    Ok(all)
}

/// A document as the database has it.
pub(crate) struct Document {
    pub(crate) bytes: Vec<u8>,
    pub(crate) version: Version,
    pub(crate) stamp: Stamp,
}

/// Reads documents by namespace and exact path.
pub(crate) async fn get_exact<'a>(
    client: &Object,
    space: &CallerSpace,
    wanted: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<HashMap<(String, String), Document>, DatabaseFailure> {
    let (namespaces, paths): (Vec<&str>, Vec<&str>) = wanted.unzip();
    let statement = client.prepare_cached(sql::GET).await?;
    let rows = client.query(&statement, &[&space.tenant, &namespaces, &paths]).await?;
    let document = |row: Row| {
        let document = Document { bytes: row.try_get("bytes")?, version: version(row.try_get("version")?)?, stamp: stamp(&row)? };
        Ok(((row.try_get("namespace")?, row.try_get("path")?), document))
    };
    rows.into_iter().map(document).collect()
}

/// Returns the stamps of files by their exact names.
pub(crate) async fn stamps(client: &Object, space: &CallerSpace, paths: &[MemoryPath]) -> Result<Vec<Option<Stamp>>, DatabaseFailure> {
    let spots = paths.iter().map(|path| space.spot(path)).collect::<memdir_core::Result<Vec<NamespaceFile>>>()?;
    let namespaces: Vec<&str> = spots.iter().map(|spot| space.namespace(spot)).collect();
    let names: Vec<&str> = spots.iter().map(|spot| spot.rel.as_str()).collect();
    let statement = client.prepare_cached(sql::STAMPS).await?;
    let mut found: HashMap<(String, String), Stamp> = HashMap::new();
    for row in client.query(&statement, &[&space.tenant, &namespaces, &names]).await? {
        found.insert((row.try_get("namespace")?, row.try_get("path")?), stamp(&row)?);
    }
    let stamp = |(namespace, name): (&&str, &&str)| found.get(&((*namespace).to_owned(), (*name).to_owned())).copied();
    Ok(namespaces.iter().zip(&names).map(stamp).collect())
}

/// Lists the files under a prefix.
pub(crate) async fn list(client: &Object, space: &CallerSpace, under: &str) -> Result<Walk, DatabaseFailure> {
    let mut all = Walk::default();
    // No name has this character, and PostgreSQL does not take it.
    if under.contains('\0') {
        return Ok(all);
    }
    for (at, info) in space.infos.iter().enumerate() {
        let Some(rel) = mounts::below_prefix(under, &info.prefix) else { continue };
        if info.apart && !under.starts_with(&info.prefix) {
            continue;
        }
        let mut walk = list_mount(client, space, at, rel).await?;
        walk.report_collisions();
        all.entries.append(&mut walk.entries);
        all.folders.append(&mut walk.folders);
        all.problems.append(&mut walk.problems);
        all.left_out += walk.left_out;
    }
    all.entries.shared_sort_by(|a, b| a.path.cmp(&b.path));
    all.entries.dedup_by(|a, b| a.path == b.path);
    all.folders.shared_sort_by(|a, b| a.path.cmp(&b.path));
    Ok(all)
}

pub(crate) async fn list_mount(client: &Object, space: &CallerSpace, at: usize, under: &str) -> Result<Walk, DatabaseFailure> {
    let mount = &space.mounts[at];
    // One more than is shown is read, which shows whether there are more. Hidden files count, so that a limit is never exceeded by reading them.
    let limit = i64::try_from(limits::WALK_FILES).unwrap_or(i64::MAX).saturating_add(1);
    let rows = if under.is_empty() {
        let statement = client.prepare_cached(sql::LIST).await?;
        client.query(&statement, &[&space.tenant, &mount.namespace, &limit]).await?
    } else {
        let statement = client.prepare_cached(sql::LIST_UNDER).await?;
        // `0` follows `/` in ASCII.
        let (from, to) = (format!("{under}/"), format!("{under}0"));
        client.query(&statement, &[&space.tenant, &mount.namespace, &limit, &from, &to]).await?
    };
    let mut walk = Walk::default();
    let mut folders: BTreeMap<String, Stamp> = BTreeMap::new();
    for row in &rows {
        let rel: &str = row.try_get("path")?;
        let stamp = stamp(row)?;
        for (slash, _) in rel.match_indices('/').filter(|(slash, _)| *slash >= under.len()) {
            let folder = folders.entry(rel[..slash].to_owned()).or_insert(Stamp { size: 0, ..stamp });
            if stamp.ctime_ns > folder.ctime_ns {
                *folder = Stamp { size: 0, ..stamp };
            }
        }
        if mount.rules.hides(rel) {
            continue;
        }
        if walk.entries.len() >= limits::WALK_FILES {
            walk.left_out += 1;
            continue;
        }
        walk.entries.push(Entry { path: space.named(at, rel)?, stamp });
    }
    for (rel, stamp) in folders.into_iter().filter(|(rel, _)| mount.rules.enters(rel) && !mount.rules.hides_folder(rel)) {
        walk.folders.push(Entry { path: space.named(at, &rel)?, stamp });
    }
    Ok(walk)
}

/// Converts a version column.
pub(crate) fn version(bytes: &[u8]) -> Result<Version, DatabaseFailure> {
    let bytes: [u8; 16] = bytes.try_into().map_err(|_| corrupt("a version is not 16 bytes long"))?;
    Ok(Version::from_bytes(bytes))
}

pub(crate) fn corrupt(why: &str) -> DatabaseFailure {
    Error::Corrupt { names_step: false, what: "the database".into(), why: why.into() }.into()
}

pub(crate) fn unusable(why: String) -> DatabaseFailure {
    Error::unavailable("the database", why).into()
}

/// The stamp of a document. The sequence of its last change is used as the inode: it differs after every change.
pub(crate) fn stamp(row: &Row) -> Result<Stamp, DatabaseFailure> {
    let (size, sequence): (i64, i64) = (row.try_get("size")?, row.try_get("sequence")?);
    Ok(Stamp {
        size: size.unsigned_abs(),
        mtime_ns: row.try_get("modified_ns")?,
        ctime_ns: row.try_get("changed_ns")?,
        inode: sequence.unsigned_abs(),
    })
}
