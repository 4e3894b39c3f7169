//! Integration tests of the library, one file per verb or word.

mod embed;
mod markdown;
mod memory;
mod text;
mod vectors;
