//! Integration tests of the library, one file per verb or word.
#![expect(clippy::unwrap_used, reason = "a test fails by unwrapping")]

mod markdown;
mod memory;
mod path;
mod project;
mod prompt;
mod recall;
mod secrets;
mod text;
mod vault;
mod verbs;
mod when;
