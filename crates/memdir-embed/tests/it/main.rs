//! Integration tests of the embedders, one file per kind.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "tests make files by hand, and say what they skip")]

mod endpoint;
mod meaning;
mod recall;
mod server;
mod static_model;
