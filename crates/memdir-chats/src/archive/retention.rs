//! How long conversations stay archived, and how much space they may use.

use super::{ArchivedChat, ArchivedFile, ChatArchive};
use jiff::{Timestamp, ToSpan};
use memdir_core::Result;
use serde::Serialize;

/// Days for which a chat is stored by default.
const CHAT_KEEP_DAYS: i64 = 365;
/// Bytes of stored chats beyond which the oldest are dropped, by default.
const CHAT_KEEP_BYTES: u64 = 1 << 30;

/// The limits of the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Retention {
    /// The number of days since a conversation's last turn; 0 for unlimited.
    pub days: i64,
    /// The total size of all conversations in bytes; 0 for unlimited.
    pub bytes: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { days: CHAT_KEEP_DAYS, bytes: CHAT_KEEP_BYTES }
    }
}

impl Retention {
    /// Returns the time before which a conversation is too old, or `None` if there is no limit.
    pub(crate) fn oldest(&self, now: Timestamp) -> Option<Timestamp> {
        let hours = self.days.checked_mul(24).filter(|&hours| hours > 0)?;
        now.checked_sub(hours.hours()).ok()
    }

    /// Removes conversations that are too old, then the oldest until the rest fits. The caller holds the lock.
    pub(crate) fn apply(&self, archive: &ChatArchive, now: Timestamp) -> Result<Vec<ArchivedChat>> {
        let oldest = self.oldest(now);
        let (mut bytes, mut is_full, mut removed) = (0_u64, false, Vec::new());
        for ArchivedFile { chat, bytes: size, .. } in archive.list()?.chats {
            let is_old = oldest.is_some_and(|oldest| chat.updated.is_some_and(|updated| updated < oldest));
            // The newest conversation stays, whatever its size.
            is_full |= self.bytes > 0 && bytes > 0 && bytes + size > self.bytes;
            if is_old || is_full {
                archive.remove(chat.host, &chat.key)?;
                removed.push(chat);
            } else {
                bytes += size;
            }
        }
        Ok(removed)
    }
}
