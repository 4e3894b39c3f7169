//! Test doubles and fault injection, with the feature `testing`.

mod dream;
mod feed_contract;
mod ram_index;
mod ram_store;
mod store_contract;

use crate::base::time::Clock;
pub use crate::store::files::fault::FileCall;
pub use dream::{DreamCorpus, DreamScore, PlantedFault, PlantedKind};
pub use feed_contract::check_change_feed;
use jiff::{Timestamp, tz::TimeZone};
pub use ram_index::RamIndex;
pub use ram_store::RamStore;
pub use store_contract::check_store_contract;

/// Lets `n` more writes of this thread succeed, then fails all with a full disk; `None` ends the simulation.
pub fn disk_full_after(n: Option<u64>) {
    crate::store::files::fault::testing::fail_after(n);
}

/// Returns the directories that this thread syncs during a call, in order.
pub fn directories_synced_by<T>(call: impl FnOnce() -> T) -> (T, Vec<std::path::PathBuf>) {
    crate::base::observe::synced_by(call)
}

/// Returns how many memories this thread reads from the disk during a call.
pub fn files_read_by<T>(call: impl FnOnce() -> T) -> (T, u64) {
    crate::base::observe::files_read_by(call)
}

/// Returns how often this thread reads a directory during a call.
pub fn directories_read_by<T>(call: impl FnOnce() -> T) -> (T, u64) {
    crate::base::observe::directories_read_by(call)
}

/// Lets this thread pass `n` more writes, syncs, renames and removals, then ends the process as `kill -9` does; `None` turns it off.
pub fn kill_after(n: Option<u64>) {
    crate::store::files::fault::testing::kill_after(n);
}

/// Calls `hook` before this thread creates, renames or removes a file in a mount; `None` turns it off. The hook can act as
/// another program, call [`kill_after`], or return an error with which the call fails.
pub fn on_file_call(hook: Option<Box<dyn FnMut(FileCall) -> std::io::Result<()>>>) {
    crate::store::files::fault::testing::on_file_call(hook);
}

/// A clock with a fixed time, in UTC.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }

    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }
}
