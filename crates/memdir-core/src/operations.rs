//! One file per operation: a request, an outcome, and a function over a store.

pub mod check;
pub mod context;
pub mod delete;
pub mod diff;
pub mod edit;
pub mod history;
pub mod import;
pub mod list;
pub mod log;
pub mod memory_tests;
pub(crate) mod raw_files;
pub mod read;
pub mod recall;
pub mod rename;
pub mod repair;
pub mod restore;
pub mod stats;
pub mod undo;
pub mod verify;
pub mod write;
