//! The search index of a mount on disk, and the implementation of [`Index`](memdir_core::Index) for it: an inverted
//! index on Tantivy for lexical search, and int8 vectors for semantic search.
//!
//! [`TantivyIndex`] is all that other crates need. The index is derived: every file of it can be deleted, and any damage costs a
//! rebuild.

mod candidates;
mod directory;
mod errors;
mod files;
mod hash;
mod lookup;
#[doc(hidden)] // public for the benchmarks
pub mod scan;
mod schema;
mod segment;
mod snapshot;
mod state;
mod table;
mod tantivy_index;
#[doc(hidden)] // public for the benchmarks and tests
pub mod vectors;
mod view;

pub use tantivy_index::TantivyIndex;
