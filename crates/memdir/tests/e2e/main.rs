//! The real binary, from the outside: whole outputs, exit codes, and the files it leaves.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make files and processes by hand, and fail by panicking")]

mod adopt;
mod bench;
mod chats;
mod config;
mod delete;
mod demo;
mod diff;
mod edit;
mod entrypoint;
mod errors;
mod help;
mod history;
mod home;
mod hook;
mod import;
mod init;
mod install;
mod list;
mod prevents;
mod read;
mod rename;
mod restore;
mod stats;
mod status;
mod terminal;
mod undo;
mod write;
