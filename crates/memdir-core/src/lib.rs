//! Memory for AI agents: plain Markdown files in directories, safe for any number of processes.

pub mod error;
pub mod limits;
pub mod log;
pub mod memory;
pub mod path;
pub mod project;
pub mod prompt;
pub mod secrets;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
pub mod time;
pub mod vault;
pub mod version;

pub use error::{Error, Problem, Result};
pub use memory::Memory;
pub use path::MemoryPath;
pub use version::Version;
