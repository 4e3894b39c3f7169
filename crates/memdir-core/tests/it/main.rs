//! Integration tests of the library, one file per verb or word.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make files and processes by hand, and fail by panicking")]

mod arrows;
mod boundaries;
mod desk;
mod dialects;
mod chats_corpus;
mod chats_hosts;
mod chats_keep;
mod chats_opencode;
mod chats_support;
mod check;
mod edit;
mod embed;
mod entrypoint;
mod index;
mod log;
mod markdown;
mod memory;
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
mod vectors;
mod verbs;
mod verify;
mod when;
