//! Tests of the crate through its public names.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make files and processes by hand, and fail by panicking")]

mod index;
mod vectors;
