//! Integration tests of the server, over HTTP.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod callers;
