//! Cancellation of a call. Every [`crate::store::Store`] handle has a [`Stop`] and checks it before each read, so that a call
//! ends at its next step; a change that has not been applied yet is not made.

use crate::base::{
    error::{Error, Result},
    limits,
    time::Deadline,
};
use std::{
    sync::{
        Arc, Mutex, MutexGuard, TryLockError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// A cancellation flag that is set once, from any thread, and the deadline for everything the call waits for.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    deadline: Option<Deadline>,
}

impl Stop {
    /// Creates a flag for calls that wait for locks until this deadline, all of them together. Without it, each change waits for
    /// its locks for at most [`limits::LOCK_WAIT_SECS`].
    pub fn with_deadline(deadline: Deadline) -> Self {
        Stop { deadline: Some(deadline), ..Stop::default() }
    }

    /// Sets the flag.
    pub fn stop(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set.
    pub fn is_stopped(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Returns the deadline for all locks of a change that begins now.
    pub fn lock_deadline(&self) -> Deadline {
        self.deadline.unwrap_or_else(|| Deadline::after(Duration::from_secs(limits::LOCK_WAIT_SECS)))
    }

    /// Fails if the flag is set.
    pub fn check(&self) -> Result<()> {
        if self.is_stopped() {
            return Err(Error::unavailable("this call", "it was cancelled or timed out"));
        }
        Ok(())
    }
}

/// Locks for a call that can be cancelled: the holder may be waiting for another process, or for a database.
pub(crate) fn lock_or_stop<'a, T>(mutex: &'a Mutex<T>, check_stopped: impl Fn() -> Result<()>) -> Result<MutexGuard<'a, T>> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                check_stopped()?;
                std::thread::sleep(LOOK_EVERY);
            }
        }
    }
}

/// The interval at which a call that waits for another one checks whether it was cancelled.
const LOOK_EVERY: Duration = Duration::from_millis(1);
