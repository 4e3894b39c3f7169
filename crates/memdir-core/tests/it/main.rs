//! Integration tests of the library, one file per verb or word.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make files and processes by hand, and fail by panicking")]

mod boundaries;
mod check;
mod desk;
mod dialects;
mod edit;
mod embed;
mod entrypoint;
mod import;
mod links;
mod log;
mod memory;
mod modules;
mod path;
mod project;
mod prompt;
mod recall;
mod search;
mod secrets;
mod space;
mod store;
mod text;
mod tools;
mod vault;
mod verbs;
mod verify;
mod when;
