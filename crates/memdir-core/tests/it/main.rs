//! Integration tests of the library, one file per verb or word.

mod memory;
mod text;
