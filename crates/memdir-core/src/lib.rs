//! Memory for AI agents: plain Markdown files in directories, safe for any number of processes.

pub mod check;
pub mod delete;
pub mod diff;
pub mod edit;
pub mod embed;
pub mod entrypoint;
pub mod error;
pub mod glob;
pub mod history;
mod keep;
pub mod limits;
pub mod list;
pub mod log;
pub mod memdir;
pub mod memory;
pub mod path;
pub mod project;
pub mod prompt;
pub mod raw;
pub mod read;
pub mod recall;
pub mod rename;
pub mod repair;
pub mod restore;
pub mod scan;
pub mod secrets;
pub mod stats;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
pub mod time;
pub mod undo;
pub mod vault;
pub mod vectors;
pub mod verify;
pub mod version;
pub mod when;
pub mod write;

pub use error::{Error, Problem, Result};
pub use memdir::{Context, Memdir};
pub use memory::Memory;
pub use path::MemoryPath;
pub use store::Actor;
pub use vault::{Mount, Vault};
pub use version::Version;
