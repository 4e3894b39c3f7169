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

/// A point before a call that creates, renames or removes a file of a mount, at which a test can act as another program, inject an error or
/// end the process.
#[cfg(not(feature = "testing"))]
#[inline(always)]
pub(crate) fn file_point(_call: FileCall) -> rustix::io::Result<()> {
    Ok(())
}

/// A call that creates, renames or removes a file of a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "testing"), expect(unreachable_pub, reason = "only tests outside of the crate use it"))]
pub enum FileCall {
    /// A rename, or an exchange of two files.
    Rename,
    /// A removal of a temporary file.
    Remove,
    /// The creation of a temporary file.
    Create,
}

#[cfg(feature = "testing")]
pub(crate) use testing::{file_point, kill_point, point};

#[cfg(feature = "testing")]
pub(crate) mod testing {
    use super::FileCall;
    use rustix::io::Errno;
    use std::cell::{Cell, RefCell};

    /// What a test does before a call. An error makes the call fail.
    pub(crate) type FileHook = Box<dyn FnMut(FileCall) -> std::io::Result<()>>;

    thread_local! {
        static FILE_HOOK: RefCell<Option<FileHook>> = const { RefCell::new(None) };
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

    /// Calls `hook` before every such call of this thread; with `None` no longer.
    pub(crate) fn on_file_call(hook: Option<FileHook>) {
        FILE_HOOK.with(|old| *old.borrow_mut() = hook);
    }

    pub(crate) fn file_point(call: FileCall) -> rustix::io::Result<()> {
        kill_point();
        FILE_HOOK.with(|hook| match &mut *hook.borrow_mut() {
            Some(hook) => hook(call).map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::IO)),
            None => Ok(()),
        })
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
