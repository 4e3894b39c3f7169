//! Fault injection: points at which tests make an I/O call fail or end the process. Without the feature `testing` they compile to
//! nothing.

/// Whether faults can be injected.
pub(crate) const ENABLED: bool = cfg!(feature = "testing");

/// A point at which a test can inject an error or end the process.
#[cfg(not(feature = "testing"))]
#[inline(always)]
pub(crate) fn point() -> std::io::Result<()> {
    Ok(())
}

/// A point at which a test can end the process, before a call that needs no disk space or whose errors are ignored.
#[cfg(not(feature = "testing"))]
#[inline(always)]
pub(crate) fn kill_point() {}

#[cfg(feature = "testing")]
pub(crate) use testing::{kill_point, point};

#[cfg(feature = "testing")]
pub(crate) mod testing {
    use std::cell::Cell;

    thread_local! {
        static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
        static KILL: Cell<Option<u64>> = const { Cell::new(None) };
    }

    /// Lets `n` more I/O calls of this thread succeed and fails the following ones; with `None` all succeed.
    pub(crate) fn fail_after(n: Option<u64>) {
        LEFT.with(|left| left.set(n));
    }

    /// Lets this thread pass `n` more points and ends the process at the next one, as `kill -9` does.
    pub(crate) fn kill_after(n: Option<u64>) {
        KILL.with(|left| left.set(n));
    }

    pub(crate) fn kill_point() {
        KILL.with(|left| match left.get() {
            Some(0) => {
                let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
                std::process::abort();
            }
            Some(n) => left.set(Some(n - 1)),
            None => {}
        });
    }

    pub(crate) fn point() -> std::io::Result<()> {
        kill_point();
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
