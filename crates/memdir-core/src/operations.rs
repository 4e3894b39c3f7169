//! One file per operation, with one shape: a function named after the operation takes the store, the context and a request named
//! like the operation (`Write`), and returns an outcome named with the participle (`Saved`, `Renamed`). An operation with one or two
//! plain arguments takes them without a request type. `raw_files` is what dialects use instead: files without memdir's rules for
//! names. Nothing here prints or reads the environment.

pub mod check;
pub mod check_diff;
pub(crate) mod close_proposal;
pub(crate) mod context;
pub mod cues;
pub(crate) mod decide;
pub(crate) mod delete;
pub mod diff;
pub mod dream;
pub(crate) mod dream_summary;
pub(crate) mod edit;
pub(crate) mod forget;
pub mod history;
pub mod import;
pub mod inbox;
pub mod ledger;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod memory_tests;
pub(crate) mod raw_files;
pub mod read;
pub(crate) mod recall;
pub(crate) mod rename;
pub(crate) mod repair;
pub(crate) mod restore;
pub(crate) mod review;
pub(crate) mod rules;
pub(crate) mod stats;
pub mod undo;
pub mod verify;
pub(crate) mod write;
