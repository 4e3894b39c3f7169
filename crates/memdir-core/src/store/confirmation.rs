//! The confirmation that a caller may still read. A store that knows its caller can give it in the transaction of a read, which saves a
//! request of its own.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A flag that a [`crate::store::Store`] sets once it has found, in the transaction of a read, that its caller has the same permissions as
/// when the store was opened. Without the flag, nothing that the store returned may be shown.
#[derive(Debug, Clone, Default)]
pub struct Confirmation(Arc<AtomicBool>);

impl Confirmation {
    /// Sets the flag.
    pub fn confirm(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether the flag is set.
    pub fn is_confirmed(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
