//! The vocabulary of every other module: errors, paths, versions, times, limits, texts. Knows nothing of memories.

pub mod day;
pub mod error;
pub mod glob;
pub mod limits;
pub mod path;
pub mod raw;
pub mod shell;
pub mod stamp;
pub mod text;
pub mod time;
pub mod version;
