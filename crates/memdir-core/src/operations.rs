//! One file per operation, with one shape: a function named after the operation takes the store, the context and a request named
//! like the operation (`Write`), and returns an outcome named with the participle (`Saved`, `Renamed`). An operation with one or two
//! plain arguments takes them without a request type. `raw_files` is what dialects use instead: files without memdir's rules for
//! names. Nothing here prints or reads the environment.

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
