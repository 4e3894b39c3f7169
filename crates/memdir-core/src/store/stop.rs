//! Cancellation of a call. Every [`crate::store::Store`] handle has a [`Stop`] and checks it before each read, so that a call
//! ends at its next step; a change that has not been applied yet is not made.

use crate::base::error::{Error, Result};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A cancellation flag that is set once, from any thread.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Sets the flag.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Fails if the flag is set.
    pub fn check(&self) -> Result<()> {
        if self.is_stopped() {
            return Err(Error::Unavailable { what: "this call".into(), why: "cancelled or over its time limit".into() });
        }
        Ok(())
    }
}
