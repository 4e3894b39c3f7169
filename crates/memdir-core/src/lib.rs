//! Memory for AI agents: plain Markdown files in directories, safe for any number of processes.

pub mod analyse;
pub mod day;
pub mod embed;
pub mod error;
pub mod index;
pub mod limits;
pub mod memory;
pub mod path;
pub mod query;
pub mod rank;
pub mod raw;
pub mod scan;
pub mod store;
pub mod tantivy_index;
pub mod text;
pub mod time;
pub mod vectors;
pub mod version;

pub use error::{Error, Problem, Result};
pub use memory::Memory;
pub use path::MemoryPath;
pub use version::Version;
