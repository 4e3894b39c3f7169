//! Tests of the binary: whole outputs, exit statuses, and the files it leaves.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make files and processes by hand, and fail by panicking")]

mod adopt;
mod auto;
mod bench;
mod chats;
mod chats_lasting;
mod config;
mod delete;
mod demo;
mod diff;
mod disk;
mod documentation;
mod edit;
mod entrypoint;
mod errors;
mod help;
mod history;
mod home;
mod hook;
mod hostile;
mod import;
mod init;
mod install;
mod isolation;
mod list;
mod mcp;
mod mcp_callers;
mod mcp_clients;
mod mcp_http;
mod mcp_live;
mod prevents;
mod read;
mod rename;
mod restore;
mod scope;
mod search;
mod stats;
mod status;
mod talk;
mod terminal;
mod undo;
mod web;
mod write;
