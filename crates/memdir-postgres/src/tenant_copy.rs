//! A tenant as lines of JSON, to move it to another database: people, tokens (as hashes), memories, versions and history. The audit log stays.
//! An import is one transaction. The last line of a file has the number of rows, so that a truncated file is not imported.

use crate::{database::Database, failure::DatabaseFailure, sql};
use deadpool_postgres::Object;
use memdir_core::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// The tables in the order of references.
const TABLES: [&str; 12] = [
    "people", "groups", "members", "projects", "tokens", "namespaces", "versions", "documents", "changes", "change_files", "proposals",
    "claims",
];
/// The number of rows that are read or written together, and their size in bytes.
const BATCH_ROWS: usize = 200;
const BATCH_BYTES: usize = 4 << 20;
/// How long a copy may take.
const COPY_LIMIT: Duration = Duration::from_secs(6 * 60 * 60);
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CopyLine {
    /// The first line.
    MemdirTenant {
        format: u32,
        tenant: String,
    },
    Row {
        table: String,
        row: Value,
    },
    /// The last line.
    End {
        rows: u64,
    },
}

impl Database {
    /// Writes everything of a tenant as of one moment, line by line. Returns the number of rows.
    pub fn export_tenant(&self, tenant: &str, mut write: impl FnMut(&str) -> Result<()>) -> Result<u64> {
        let exported = self.block_within(COPY_LIMIT, async {
            let session = self.read_session().await?;
            let client = session.client()?;
            client.batch_execute("begin isolation level repeatable read read only").await?;
            client.execute(sql::SET_TENANT, &[&tenant]).await?;
            let mut line = |line: &CopyLine| write(&serde_json::to_string(line).map_err(|error| invalid(&error.to_string()))?);
            line(&CopyLine::MemdirTenant { format: FORMAT, tenant: tenant.to_owned() })?;
            let mut count = 0;
            for table in TABLES {
                let own = "tenant = current_setting('memdir.tenant', true)";
                client
                    .execute(
                        &format!("declare copied no scroll cursor for select to_jsonb(t)::text from memdir.{table} t where {own}"),
                        &[],
                    )
                    .await?;
                loop {
                    let rows = client.query(&format!("fetch {BATCH_ROWS} from copied"), &[]).await?;
                    for row in &rows {
                        let row: Value = serde_json::from_str(row.try_get(0)?).map_err(|error| invalid(&error.to_string()))?;
                        line(&CopyLine::Row { table: table.to_owned(), row })?;
                        count += 1;
                    }
                    if rows.is_empty() {
                        break;
                    }
                }
                client.batch_execute("close copied").await?;
            }
            line(&CopyLine::End { rows: count })?;
            Ok(count)
        });
        exported.map_err(|failure| failure.error)
    }

    /// Creates a tenant from the lines of an export. Fails if the tenant exists. Returns the number of rows.
    pub fn import_tenant(&self, tenant: &str, mut lines: impl FnMut() -> Result<Option<String>>) -> Result<u64> {
        if self.has_tenant(tenant)? {
            return Err(Error::bad_input(
                format!("tenant {tenant:?}"),
                "it already exists; import under another name, or remove the existing tenant first",
            ));
        }
        let imported = self.block_within(COPY_LIMIT, async {
            let session = self.change_session(tenant, &[("memdir.knows_review", "on".to_owned())]).await?;
            let client = session.client()?;
            client.execute(sql::ADD_TENANT, &[&tenant]).await?;
            let count = copy_rows(client, &mut lines).await?;
            client.batch_execute("commit").await?;
            session.finish();
            Ok(count)
        });
        imported.map_err(|failure| failure.error)
    }
}

async fn copy_rows(client: &Object, lines: &mut impl FnMut() -> Result<Option<String>>) -> Result<u64, DatabaseFailure> {
    let first = lines()?.unwrap_or_default();
    match serde_json::from_str(&first) {
        Ok(CopyLine::MemdirTenant { format: FORMAT, .. }) => {}
        Ok(CopyLine::MemdirTenant { format, .. }) => {
            return Err(invalid(&format!("it has the unknown format {format}; upgrade memdir")).into());
        }
        _ => return Err(invalid("the first line is not a tenant export header; use a file written by `memdir admin export`").into()),
    }
    let (mut batch, mut count) = (RowBatch::default(), 0);
    loop {
        let Some(line) = lines()? else { return Err(invalid("it is truncated: the last line is missing; export the tenant again").into()) };
        match serde_json::from_str(&line).map_err(|error| invalid_line(count + 2, &error))? {
            CopyLine::Row { table, row } => {
                let Some(table) = TABLES.into_iter().find(|known| *known == table) else {
                    return Err(invalid(&format!("it has rows for the unknown table {table:?}; upgrade memdir")).into());
                };
                if batch.table != table || batch.rows.len() > BATCH_BYTES {
                    batch.insert(client).await?;
                }
                batch.add(table, &row);
                count += 1;
            }
            CopyLine::End { rows } if rows == count => {
                batch.insert(client).await?;
                return Ok(count);
            }
            CopyLine::End { rows } => {
                return Err(invalid(&format!("it has the wrong number of rows: {count} instead of {rows}; export the tenant again")).into());
            }
            CopyLine::MemdirTenant { .. } => {
                return Err(invalid("it contains more than one export; split it into one file per export").into());
            }
        }
    }
}

/// Rows of one table, as a JSON array that is not closed.
#[derive(Default)]
struct RowBatch {
    table: &'static str,
    rows: String,
}

impl RowBatch {
    fn add(&mut self, table: &'static str, row: &Value) {
        self.table = table;
        self.rows.push(if self.rows.is_empty() { '[' } else { ',' });
        self.rows.push_str(&row.to_string());
    }

    async fn insert(&mut self, client: &Object) -> Result<(), DatabaseFailure> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.rows) + "]";
        let table = self.table;
        // The tenant is that of the transaction, whatever the file says.
        let sql = format!(
            "insert into memdir.{table} select r.* from jsonb_array_elements($1::text::jsonb) e,
               lateral jsonb_populate_record(null::memdir.{table}, e || jsonb_build_object('tenant', current_setting('memdir.tenant', true))) r"
        );
        client.execute(&sql, &[&rows]).await?;
        Ok(())
    }
}

/// The error of a line. Its number replaces that of the parser, which sees only this line.
fn invalid_line(number: u64, error: &serde_json::Error) -> Error {
    let why = error.to_string();
    let why = why.split(" at line ").next().unwrap_or(&why);
    invalid(&format!("line {number}, column {}: {why}", error.column()))
}

fn invalid(why: &str) -> Error {
    Error::bad_input("tenant export", why)
}
