//! Integration tests of the library, one file per verb or word.

mod edit;
mod entrypoint;
mod markdown;
mod memory;
mod path;
mod store;
mod text;
mod vault;
mod verbs;
