//! Memory for AI agents: plain Markdown files in directories, safe for any number of processes.

pub mod chats;
pub mod error;
pub mod limits;
pub mod path;
pub mod store;
pub mod time;
pub mod version;

pub use error::{Error, Problem, Result};
pub use path::MemoryPath;
pub use version::Version;
