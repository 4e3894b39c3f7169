//! Tests of the crate through its public names.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make files and processes by hand, and fail by panicking")]

mod corpus;
mod hosts;
mod keep;
mod opencode;
mod search;
mod support;
