//! Integration tests of the library, one file per verb or word.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make files and processes by hand, and fail by panicking")]

mod boundaries;
mod check;
mod crash;
mod cues;
mod dialects;
mod disk;
mod dream;
mod edit;
mod embed;
mod entrypoint;
mod faults;
mod file_store;
mod import;
mod journal;
mod linear;
mod links;
mod log;
mod memory;
mod modules;
mod operations;
mod outside;
mod path;
mod project;
mod prompt;
mod recall;
mod search;
mod secrets;
mod space;
mod store;
mod support;
mod text;
mod tools;
mod verify;
mod when;
