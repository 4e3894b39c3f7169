//! Which index directory of the cache belongs to which namespace of a database, so that the indexes of removed namespaces can be removed: they
//! contain the texts. A record is a small file beside the indexes, named like the directory. Never touches an index without a record.

use crate::exit::Failure;
use memdir_core::internal::base::disk::{self, Replace};
use memdir_postgres::Database;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

const RECORDS: &str = "namespaces";
const INDEXES: &str = "index";

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct IndexedNamespace {
    tenant: String,
    namespace: String,
}

/// Records the namespace of an index directory, unless that is done.
pub(crate) fn record(cache: &Path, index: &Path, tenant: &str, namespace: &str) -> io::Result<()> {
    let Some(name) = index.file_name() else { return Ok(()) };
    let dir = cache.join(RECORDS);
    let file = dir.join(name);
    if file.exists() {
        return Ok(());
    }
    disk::create_private_dir(&dir)?;
    let record = IndexedNamespace { tenant: tenant.to_owned(), namespace: namespace.to_owned() };
    disk::replace(&file, Replace::DURABLE, |file| serde_json::to_writer(file, &record).map_err(Into::into))
}

/// Removes the indexes of a namespace. They are built again when they are needed.
pub(crate) fn remove(cache: &Path, tenant: &str, namespace: &str) -> Result<(), Failure> {
    let is_requested = |record: &IndexedNamespace| record.tenant == tenant && record.namespace == namespace;
    records(cache)?.iter().filter(|(_, record)| is_requested(record)).try_for_each(|(name, _)| remove_index(cache, name))
}

/// Removes the indexes of namespaces that the database does not have any more. Returns their number.
pub(crate) fn remove_outdated(cache: &Path, database: &Database) -> Result<usize, Failure> {
    let mut tenants: BTreeMap<String, Vec<(OsString, String)>> = BTreeMap::new();
    for (name, record) in records(cache)? {
        tenants.entry(record.tenant).or_default().push((name, record.namespace));
    }
    let mut removed = 0;
    for (tenant, indexes) in tenants {
        // Row-level security shows one tenant at a time; one that was removed has no namespaces.
        let known: BTreeSet<String> = database.namespaces(&tenant)?.into_iter().collect();
        for (name, _) in indexes.iter().filter(|(_, namespace)| !known.contains(namespace)) {
            // A namespace without a change has no index either.
            removed += usize::from(index_dir(cache, name).exists());
            remove_index(cache, name)?;
        }
    }
    Ok(removed)
}

fn records(cache: &Path) -> Result<Vec<(OsString, IndexedNamespace)>, Failure> {
    let dir = cache.join(RECORDS);
    let failed = |source| Failure::File { doing: "read", path: dir.clone(), source };
    let entries = match fs::read_dir(&dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut records = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        // A file that is not a record, such as a temporary one, names no index.
        let record = fs::read(entry.path()).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        records.extend(record.map(|record| (entry.file_name(), record)));
    }
    Ok(records)
}

fn index_dir(cache: &Path, name: &OsString) -> PathBuf {
    cache.join(INDEXES).join(name)
}

/// Removes an index, then its record: after a crash in between, the record is removed the next time.
fn remove_index(cache: &Path, name: &OsString) -> Result<(), Failure> {
    let gone = |path: PathBuf, removed: io::Result<()>| match removed {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Failure::File { doing: "remove", path, source }),
        _ => Ok(()),
    };
    let (dir, record) = (index_dir(cache, name), cache.join(RECORDS).join(name));
    let removed = fs::remove_dir_all(&dir);
    gone(dir, removed)?;
    let removed = fs::remove_file(&record);
    gone(record, removed)
}
