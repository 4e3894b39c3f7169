//! What every other module builds on: errors, paths, versions, times, limits, texts, files. Knows nothing about memories.

pub mod day;
pub mod disk;
pub(crate) mod error;
pub mod frame;
pub mod glob;
pub mod limits;
pub mod line_diff;
pub(crate) mod observe;
pub mod path;
pub mod raw;
pub mod shell;
pub mod sort;
pub mod stamp;
pub mod steps;
pub mod text;
pub mod time;
pub(crate) mod version;
pub mod visible;
