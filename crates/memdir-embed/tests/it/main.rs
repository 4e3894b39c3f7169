//! Integration tests of the embedders, one file per kind.

mod endpoint;
mod meaning;
mod server;
mod static_model;
