//! Fault injection: points at which tests make an I/O call fail. Without the feature `testing` they compile to nothing.

/// A point at which a test can inject an error.
#[cfg(not(feature = "testing"))]
#[inline(always)]
pub(crate) fn point() -> std::io::Result<()> {
    Ok(())
}

#[cfg(feature = "testing")]
pub(crate) use testing::point;

#[cfg(feature = "testing")]
pub(crate) mod testing {
    use std::cell::Cell;

    thread_local! {
        static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
    }

    /// Lets `n` more I/O calls of this thread succeed and fails the following ones; with `None` all succeed.
    pub(crate) fn fail_after(n: Option<u64>) {
        LEFT.with(|left| left.set(n));
    }

    pub(crate) fn point() -> std::io::Result<()> {
        LEFT.with(|left| match left.get() {
            Some(0) => Err(std::io::ErrorKind::StorageFull.into()),
            Some(n) => {
                left.set(Some(n - 1));
                Ok(())
            }
            None => Ok(()),
        })
    }
}
