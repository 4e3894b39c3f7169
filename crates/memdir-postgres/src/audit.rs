//! The audit log of a tenant: who changed people, groups, projects, tokens and quotas. Triggers write it in the transaction of the change
//! (`migrations/003.sql`), so that nothing is changed without a row. It never has a memory's text or a token.

use crate::{database::Database, reads::corrupt, sql};
use jiff::Timestamp;
use memdir_core::{Result, internal::store::stop::Stop};
use serde::Serialize;
use serde_json::Value;

/// One row of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    /// Its number, which grows.
    pub entry: i64,
    /// When.
    pub at: Timestamp,
    /// The role that was logged in at the database.
    pub actor: String,
    /// What was done, such as `people.insert`.
    pub action: String,
    /// The names and roles that it concerns.
    pub details: Value,
    /// How it ended.
    pub result: String,
}

impl Database {
    /// Returns the newest rows of a tenant's audit log, newest first.
    pub fn audit(&self, tenant: &str, most: usize) -> Result<Vec<AuditEntry>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read(&Stop::default(), tenant, async |client| {
            let rows = client.query(sql::AUDIT, &[&tenant, &most]).await?;
            let entry = |row: &tokio_postgres::Row| {
                Ok(AuditEntry {
                    entry: row.try_get(0)?,
                    at: Timestamp::from_microsecond(row.try_get(1)?).map_err(|error| corrupt(&error.to_string()))?,
                    actor: row.try_get(2)?,
                    action: row.try_get(3)?,
                    details: serde_json::from_str(row.try_get(4)?).map_err(|error| corrupt(&error.to_string()))?,
                    result: row.try_get(5)?,
                })
            };
            rows.iter().map(entry).collect()
        })
    }
}
