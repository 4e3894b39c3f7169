//! Integration tests of the library, one file per verb or word.

mod project;
mod secrets;
