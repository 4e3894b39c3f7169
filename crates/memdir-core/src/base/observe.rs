//! Observation points: what tests count. Without the feature `testing` they compile to nothing.

use std::path::Path;

/// A directory was synced.
#[cfg(not(any(test, feature = "testing")))]
#[inline(always)]
pub(crate) fn synced(_dir: &Path) {}

/// A directory is read.
#[cfg(not(any(test, feature = "testing")))]
#[inline(always)]
pub(crate) fn directory_read() {}

/// The content of a memory is read.
#[cfg(not(any(test, feature = "testing")))]
#[inline(always)]
pub(crate) fn file_read() {}

#[cfg(any(test, feature = "testing"))]
pub(crate) use testing::*;

#[cfg(any(test, feature = "testing"))]
mod testing {
    use super::Path;
    use std::{
        cell::{Cell, RefCell},
        path::PathBuf,
    };

    thread_local! {
        static SYNCED: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
        static DIRECTORIES_READ: Cell<u64> = const { Cell::new(0) };
        static FILES_READ: Cell<u64> = const { Cell::new(0) };
    }

    pub(crate) fn synced(dir: &Path) {
        SYNCED.with(|all| all.borrow_mut().push(dir.to_owned()));
    }

    pub(crate) fn directory_read() {
        DIRECTORIES_READ.with(|count| count.set(count.get() + 1));
    }

    pub(crate) fn file_read() {
        FILES_READ.with(|count| count.set(count.get() + 1));
    }

    /// Returns how many files this thread reads during a call.
    pub(crate) fn files_read_by<T>(call: impl FnOnce() -> T) -> (T, u64) {
        FILES_READ.with(|count| count.set(0));
        let value = call();
        (value, FILES_READ.with(Cell::get))
    }

    /// Returns the directories that this thread syncs during a call, in order.
    pub(crate) fn synced_by<T>(call: impl FnOnce() -> T) -> (T, Vec<PathBuf>) {
        SYNCED.with(|all| all.borrow_mut().clear());
        let value = call();
        (value, SYNCED.with(|all| all.borrow_mut().drain(..).collect()))
    }

    /// Returns how often this thread reads a directory during a call.
    pub(crate) fn directories_read_by<T>(call: impl FnOnce() -> T) -> (T, u64) {
        DIRECTORIES_READ.with(|count| count.set(0));
        let value = call();
        (value, DIRECTORIES_READ.with(Cell::get))
    }
}
