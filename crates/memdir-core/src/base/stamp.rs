//! The metadata of a file: its stamp, and the source class of its mount.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The class of a mount in searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Curated memories.
    Memory,
    /// Other directories a person mounted.
    Custom,
    /// Past conversations.
    Chat,
    /// Candidates that wait for a decision. Searched only by this name, never recalled.
    Inbox,
}

/// The metadata that changes when a file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// Last change of the content, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of content or inode, nanoseconds since 1970.
    pub ctime_ns: i64,
    /// The inode.
    pub inode: u64,
}

impl Stamp {
    /// The time of the last change of the file in milliseconds since 1970. Unlike the time of its content, no program can set it.
    pub fn changed_ms(&self) -> i64 {
        self.ctime_ns / 1_000_000
    }

    /// The time of the last change of the content.
    pub fn modified(&self) -> Timestamp {
        Timestamp::from_nanosecond(i128::from(self.mtime_ns)).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}
