//! Integration tests of the embedders, one file per kind.

#![expect(clippy::disallowed_methods, reason = "tests make files by hand")]

mod common_words;
mod endpoint;
mod meaning;
mod recall;
mod server;
mod static_model;
