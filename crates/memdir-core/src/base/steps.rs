//! Counts the steps of parsers, for the test that each takes linear time. Compiled to nothing without the feature `testing`.

#[cfg(feature = "testing")]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts `n` steps of this thread: bytes, lines or items that a loop looks at, or that a call it makes may look at.
#[inline(always)]
pub fn count(n: usize) {
    #[cfg(feature = "testing")]
    STEPS.set(STEPS.get() + n as u64);
    #[cfg(not(feature = "testing"))]
    let _ = n;
}

/// Returns the steps of this thread since the last call.
#[cfg(feature = "testing")]
pub fn take_count() -> u64 {
    STEPS.take()
}
