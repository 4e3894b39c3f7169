//! The store on a real PostgreSQL server, which `scripts/test-postgres-setup` starts. Without one the tests do nothing; in CI they fail.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make files and processes by hand, and fail by panicking")]

mod claims;
mod contract;
mod failures;
mod isolation;
mod model;
mod people;
mod review;
mod search;
mod support;
mod tenant_data;
mod tls;
mod torture;
