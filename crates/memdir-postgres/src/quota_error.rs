//! How the database reports a change that exceeds a quota (`migrations/003.sql`: `count_usage`, `migrations/004.sql`: `count_proposal`).

use memdir_core::Error;
use tokio_postgres::error::DbError;

/// The SQLSTATE with which both functions refuse a change. Every release splits the message, `memories:1000` or `bytes:1000`, at its
/// first colon: a migration that changes its form changes it for replicas of the previous release, too.
const QUOTA_STATE: &str = "MDQ01";

/// The error of a change that exceeds a quota; `None` for any other error of the database.
pub(crate) fn exceeded_quota(error: &DbError) -> Option<Error> {
    if error.code().code() != QUOTA_STATE {
        return None;
    }
    let (what, limit) = error.message().split_once(':').unwrap_or(("", error.message()));
    Some(Error::QuotaExceeded { limit: format!("{limit} {what}") })
}
