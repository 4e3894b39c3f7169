//! Integration tests of the library, one file per verb or word.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make files and processes by hand, and fail by panicking")]

mod arrows;
mod boundaries;
mod desk;
mod dialects;
mod edit;
mod embed;
mod entrypoint;
mod index;
mod markdown;
mod memory;
mod path;
mod store;
mod text;
mod tools;
mod vault;
mod vectors;
mod verbs;
