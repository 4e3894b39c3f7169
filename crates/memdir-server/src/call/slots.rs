//! The limits on concurrent calls: of one caller, and of all callers together. Calls that may change something have slots of their
//! own, because they can wait long for the lock of a mount; reads never wait for a lock, and always find a free slot.

use super::CallFailure;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Whether a call may change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    Read,
    Write,
}

/// The limits on calls of one caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallerLimits {
    /// Running calls.
    pub(crate) running: usize,
    /// Running calls that may change something; fewer than `running`.
    pub(crate) writes: usize,
    /// Waiting reads, and as many other calls; further ones fail.
    pub(crate) waiting: usize,
}

/// The limits on calls of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallLimits {
    /// Of the owner: without tokens, of all clients together.
    pub(crate) owner: CallerLimits,
    /// Of a caller with a token.
    pub(crate) caller: CallerLimits,
    /// Running reads of all callers.
    pub(crate) reads: usize,
    /// Running calls of all callers that may change something.
    pub(crate) writes: usize,
}

impl CallLimits {
    /// Returns the number of threads that all running calls need.
    pub(crate) fn threads(&self) -> usize {
        self.reads + self.writes
    }
}

/// The slots of one caller.
pub(crate) struct CallSlots {
    limits: CallLimits,
    max_waiting: usize,
    running: Arc<Semaphore>,
    writes: Arc<Semaphore>,
    waiting_reads: AtomicUsize,
    waiting_writes: AtomicUsize,
    all_reads: Arc<Semaphore>,
    all_writes: Arc<Semaphore>,
}

/// The slot of a running call, free again when it is dropped.
pub(crate) struct CallSlot {
    _permits: [Option<OwnedSemaphorePermit>; 3],
}

impl CallSlots {
    /// Creates the slots of a server, and returns those of its owner.
    pub(crate) fn new(limits: CallLimits) -> Arc<Self> {
        Self::with(limits, limits.owner, [limits.reads, limits.writes].map(semaphore))
    }

    /// Returns the slots of a caller with a token.
    pub(crate) fn for_caller(&self) -> Arc<Self> {
        Self::with(self.limits, self.limits.caller, [self.all_reads.clone(), self.all_writes.clone()])
    }

    fn with(limits: CallLimits, own: CallerLimits, [all_reads, all_writes]: [Arc<Semaphore>; 2]) -> Arc<Self> {
        let [running, writes] = [own.running, own.writes].map(semaphore);
        let (waiting_reads, waiting_writes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(CallSlots { limits, max_waiting: own.waiting, running, writes, waiting_reads, waiting_writes, all_reads, all_writes })
    }

    /// Waits for a free slot. Fails if too many calls of this caller wait already.
    pub(super) async fn acquire(&self, kind: CallKind) -> Result<CallSlot, CallFailure> {
        let counter = match kind {
            CallKind::Read => &self.waiting_reads,
            CallKind::Write => &self.waiting_writes,
        };
        let _waiting = WaitingCall::begin(counter, self.max_waiting)?;
        // The caller's own slots first: a caller over its limits does not wait in the queue of all. Writes first, so that waiting
        // writes do not occupy the slots of reads.
        let (writes, all) = match kind {
            CallKind::Read => (None, &self.all_reads),
            CallKind::Write => (Some(permit(&self.writes).await?), &self.all_writes),
        };
        let running = permit(&self.running).await?;
        Ok(CallSlot { _permits: [writes, Some(running), Some(permit(all).await?)] })
    }
}

fn semaphore(permits: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(permits))
}

async fn permit(semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, CallFailure> {
    // The semaphores are never closed.
    semaphore.clone().acquire_owned().await.map_err(|_| CallFailure::Cancelled)
}

/// A call that waits for a slot.
struct WaitingCall<'a>(&'a AtomicUsize);

impl<'a> WaitingCall<'a> {
    fn begin(counter: &'a AtomicUsize, max: usize) -> Result<Self, CallFailure> {
        let waiting = WaitingCall(counter);
        if counter.fetch_add(1, Ordering::Relaxed) >= max {
            return Err(CallFailure::TooMany);
        }
        Ok(waiting)
    }
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        future::Future,
        pin::pin,
        task::{Context, Poll, Waker},
    };

    const ONE: CallerLimits = CallerLimits { running: 3, writes: 2, waiting: 2 };
    const LIMITS: CallLimits = CallLimits { owner: ONE, caller: ONE, reads: 4, writes: 3 };

    /// Polls once: a slot that is not free yet is `None`.
    fn try_acquire(slots: &CallSlots, kind: CallKind) -> Option<CallSlot> {
        match pin!(slots.acquire(kind)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(slot) => slot.ok(),
            Poll::Pending => None,
        }
    }

    #[test]
    fn writes_leave_slots_for_reads() {
        let slots = CallSlots::new(LIMITS);
        let writes: Vec<CallSlot> = std::iter::from_fn(|| try_acquire(&slots, CallKind::Write)).collect();
        assert_eq!(writes.len(), 2);
        let read = try_acquire(&slots, CallKind::Read);
        assert!(read.is_some() && try_acquire(&slots, CallKind::Read).is_none());
        drop(writes);
        assert!(try_acquire(&slots, CallKind::Write).is_some());
    }

    #[test]
    fn one_caller_leaves_slots_for_others() {
        let one = CallSlots::new(LIMITS);
        let two = one.for_caller();
        let all: Vec<CallSlot> = std::iter::from_fn(|| try_acquire(&one, CallKind::Read)).collect();
        assert_eq!(all.len(), 3);
        assert!(try_acquire(&two, CallKind::Read).is_some());
    }

    #[test]
    fn a_caller_with_too_many_waiting_calls_is_refused() {
        let slots = CallSlots::new(LIMITS);
        let _running: Vec<CallSlot> = std::iter::from_fn(|| try_acquire(&slots, CallKind::Read)).collect();
        let mut context = Context::from_waker(Waker::noop());
        let mut waiting: Vec<_> = (0..2).map(|_| Box::pin(slots.acquire(CallKind::Read))).collect();
        assert!(waiting.iter_mut().all(|call| call.as_mut().poll(&mut context).is_pending()));
        let mut refused = pin!(slots.acquire(CallKind::Read));
        assert!(matches!(refused.as_mut().poll(&mut context), Poll::Ready(Err(CallFailure::TooMany))));
        waiting.pop();
        let mut waits = pin!(slots.acquire(CallKind::Read));
        assert!(waits.as_mut().poll(&mut context).is_pending(), "a call that gives up makes room");
    }
}
