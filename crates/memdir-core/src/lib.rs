//! Memory for AI agents: plain Markdown files in directories, safe for any number of processes.

pub mod analyse;
pub mod day;
pub mod delete;
pub mod diff;
pub mod edit;
pub mod embed;
pub mod entrypoint;
pub mod error;
pub mod history;
pub mod index;
pub mod indexer;
mod keep;
pub mod limits;
pub mod list;
pub mod memdir;
pub mod memory;
pub mod path;
pub mod query;
pub mod rank;
pub mod raw;
pub mod read;
pub mod rename;
pub mod repair;
pub mod restore;
pub mod scan;
pub mod search;
pub mod stats;
pub mod store;
pub mod tantivy_index;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
pub mod time;
pub mod undo;
pub mod vault;
pub mod vectors;
pub mod version;
pub mod write;

pub use error::{Error, Problem, Result};
pub use memdir::{Context, Memdir};
pub use memory::Memory;
pub use path::MemoryPath;
pub use store::Actor;
pub use vault::{Mount, Vault};
pub use version::Version;
