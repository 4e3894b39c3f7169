//! Tests of the crate through its public API.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests create files directly, and fail by panicking")]

mod archive;
mod candidates;
mod claude_mem;
mod corpus;
mod evidence;
mod evidence_crash;
mod generated;
mod hostile;
mod hosts;
mod opencode;
mod search;
mod support;
