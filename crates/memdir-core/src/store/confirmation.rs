//! The confirmation that a caller may still read. A store that knows its caller can give it in the transaction of a read, which saves a
//! request of its own.

use std::sync::{Arc, OnceLock};

/// The result of the check that a [`crate::store::Store`] makes in the transaction of its first read: whether its caller has the same
/// permissions as when the store was opened. Unless they are confirmed, nothing that the store returned may be shown.
#[derive(Debug, Clone, Default)]
pub struct Confirmation(Arc<OnceLock<bool>>);

impl Confirmation {
    /// Records the result of the check. The first one counts.
    pub fn set(&self, is_confirmed: bool) {
        let _ = self.0.set(is_confirmed);
    }

    /// Returns the result of the check, or `None` if no read has made it.
    pub fn get(&self) -> Option<bool> {
        self.0.get().copied()
    }
}
