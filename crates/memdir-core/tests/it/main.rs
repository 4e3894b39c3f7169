//! Integration tests of the library, one file per verb or word.

mod path;
mod text;
mod vault;
