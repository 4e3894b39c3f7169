//! Integration tests of the server, over HTTP.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests ask the clock for deadlines, and fail by panicking")]

mod callers;
mod page;
