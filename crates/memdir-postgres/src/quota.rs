//! Quotas of a tenant, and what it uses of them. The database counts, and refuses a change that would exceed a quota: of memories in
//! `count_usage` (`migrations/003.sql`), of proposals in `count_proposal` (`migrations/004.sql`); `quota_error.rs` decodes their error.
//! A change that only removes or shrinks is never refused.

use crate::{database::Database, failure::DatabaseFailure, sql};
use memdir_core::{Error, Result, internal::store::stop::Stop};
use serde::Serialize;

/// The quotas of a tenant. `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TenantQuota {
    /// The maximum number of files, entrypoints included.
    pub max_memories: Option<u64>,
    /// The maximum size of all files in bytes, without earlier versions.
    pub max_bytes: Option<u64>,
}

/// What a tenant uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TenantUsage {
    /// The number of files.
    pub memories: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

impl Database {
    /// Returns the quotas of a tenant and what it uses.
    pub fn quota(&self, tenant: &str) -> Result<(TenantQuota, TenantUsage)> {
        self.read(&Stop::default(), tenant, async |client| {
            let row = client.query_one(sql::QUOTA, &[&tenant]).await?;
            let count = |column: usize| Ok::<_, DatabaseFailure>(row.try_get::<_, Option<i64>>(column)?.map(i64::unsigned_abs));
            let quota = TenantQuota { max_memories: count(0)?, max_bytes: count(1)? };
            Ok((quota, TenantUsage { memories: count(2)?.unwrap_or(0), bytes: count(3)?.unwrap_or(0) }))
        })
    }

    /// Sets the quotas of a tenant. A tenant over its quota keeps what it has, but cannot grow.
    pub fn set_quota(&self, tenant: &str, quota: &TenantQuota) -> Result<()> {
        let limit = |quota: Option<u64>| {
            let too_large = || Error::bad_input("quota", format!("it is too large: the maximum is {}", i64::MAX));
            quota.map(|quota| i64::try_from(quota).map_err(|_| too_large())).transpose()
        };
        let (memories, bytes) = (limit(quota.max_memories)?, limit(quota.max_bytes)?);
        self.administer(tenant, async |client| {
            client.execute(sql::SET_QUOTA, &[&tenant, &memories, &bytes]).await?;
            Ok(())
        })
    }
}
