//! Idempotency keys. A key is claimed by the first statement of its change, in the same transaction: a second request with the key waits
//! there, and then finds the change that was made, or makes it because the first one failed.

use crate::{failure::Failure, sql};
use deadpool_postgres::Object;
use memdir_core::{ChangeId, IdempotencyKey};

/// Claims a key for a change. Returns the change that claimed it earlier with the same request.
pub(crate) async fn claim(client: &Object, tenant: &str, key: &IdempotencyKey, id: &ChangeId) -> Result<Option<ChangeId>, Failure> {
    let request = key.request.as_slice();
    let (insert, find) = (client.prepare_cached(sql::CLAIM).await?, client.prepare_cached(sql::CLAIMED).await?);
    if client.execute(&insert, &[&tenant, &key.caller, &key.key, &request, &id.0]).await? == 1 {
        return Ok(None);
    }
    let row = client.query_one(&find, &[&tenant, &key.caller, &key.key]).await?;
    if row.try_get::<_, &[u8]>(0)? != request {
        return Err(IdempotencyKey::reused().into());
    }
    Ok(Some(ChangeId(row.try_get(1)?)))
}
