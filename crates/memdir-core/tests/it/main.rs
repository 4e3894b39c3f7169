//! Integration tests of the library, one file per verb or word.

mod edit;
mod entrypoint;
mod markdown;
mod memory;
mod text;
