//! Memory for AI agents: plain Markdown files in directories, safe for any number of processes.

pub mod base;
pub mod dialects;
pub mod entrypoint;
pub mod memdir;
pub mod memory;
pub mod operations;
pub mod project;
pub mod prompt;
pub mod recall;
pub mod search;
pub mod secrets;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tools;

pub use base::{
    error::{Error, Problem, Result},
    path::MemoryPath,
    version::Version,
};
pub use memdir::Memdir;
pub use memory::Memory;
pub use operations::context::Context;
pub use store::{
    Actor,
    files::{FileStore, Mount},
};
