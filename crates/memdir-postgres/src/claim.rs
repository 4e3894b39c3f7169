//! Idempotency keys. A key is claimed by the first statement of its change, in the same transaction: a second request with the key waits
//! there, and then finds the change that was made, or makes it because the first one failed.

use crate::{database::send_before, failure::DatabaseFailure, sql};
use deadpool_postgres::Object;
use memdir_core::{ChangeId, IdempotencyKey};
use tokio_postgres::types::ToSql;

/// Hours for which an idempotency key is kept at least, on a team server. A client that retries gives up long before.
const IDEMPOTENCY_KEY_HOURS: i32 = 24;

/// The number of old keys that a claim removes: more than the one it adds, so that they become fewer.
const PURGED: i64 = 10;

/// What a request with a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClaimedBy {
    /// It made or proposed this change, or had nothing to change.
    Change(ChangeId),
    /// It withdrew this proposal.
    Withdrawal(ChangeId),
}

impl ClaimedBy {
    const WITHDRAWN: &str = "withdrawn:";

    fn to_text(&self) -> String {
        match self {
            ClaimedBy::Change(id) => id.0.clone(),
            ClaimedBy::Withdrawal(id) => format!("{}{id}", Self::WITHDRAWN),
        }
    }

    fn from_text(text: &str) -> Self {
        match text.strip_prefix(Self::WITHDRAWN) {
            Some(id) => ClaimedBy::Withdrawal(ChangeId(id.to_owned())),
            None => ClaimedBy::Change(ChangeId(text.to_owned())),
        }
    }
}

/// Claims a key. Returns what claimed it earlier, with the same request. Some keys that are older than a day are removed.
pub(crate) async fn claim(
    client: &Object,
    tenant: &str,
    key: &IdempotencyKey,
    by: &ClaimedBy,
) -> Result<Option<ClaimedBy>, DatabaseFailure> {
    let (insert, purge) = (client.prepare_cached(sql::CLAIM).await?, client.prepare_cached(sql::PURGE_CLAIMS).await?);
    let (request, by) = (key.request.as_slice(), by.to_text());
    let parameters: [&(dyn ToSql + Sync); 5] = [&tenant, &key.caller, &key.key, &request, &by];
    let oldest: [&(dyn ToSql + Sync); 3] = [&tenant, &IDEMPOTENCY_KEY_HOURS, &PURGED];
    // Sent together: the purge costs no round trip.
    let (claimed, purged) = send_before(client.execute(&insert, &parameters), client.execute(&purge, &oldest)).await;
    let is_claimed = claimed? == 1;
    purged?;
    if is_claimed { Ok(None) } else { find(client, tenant, key).await }
}

/// Returns what claimed a key, or `None`. Fails if another request did.
pub(crate) async fn find(client: &Object, tenant: &str, key: &IdempotencyKey) -> Result<Option<ClaimedBy>, DatabaseFailure> {
    let statement = client.prepare_cached(sql::CLAIMED).await?;
    let Some(row) = client.query_opt(&statement, &[&tenant, &key.caller, &key.key]).await? else { return Ok(None) };
    if row.try_get::<_, &[u8]>(0)? != key.request.as_slice() {
        return Err(IdempotencyKey::reused().into());
    }
    Ok(Some(ClaimedBy::from_text(row.try_get(1)?)))
}
