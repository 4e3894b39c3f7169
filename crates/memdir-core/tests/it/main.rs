//! Integration tests of the library, one file per verb or word.

mod markdown;
mod memory;
mod path;
mod text;
mod vault;
mod verbs;
