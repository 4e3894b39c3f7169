//! Memory for AI agents: plain Markdown files in directories, safe for any number of processes.

pub mod entrypoint;
pub mod error;
pub mod limits;
pub mod memory;
pub mod path;
pub mod store;
pub mod text;
pub mod time;
pub mod version;

pub use error::{Error, Problem, Result};
pub use memory::Memory;
pub use path::MemoryPath;
pub use version::Version;
