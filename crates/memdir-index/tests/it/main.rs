//! Tests of the crate through its public API.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests create files directly, and fail by panicking")]

mod index;
mod vectors;
