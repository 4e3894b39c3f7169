//! Splits a message into sentences.

use crate::base::text;

/// Splits a message into sentences at sentence marks, line ends and list items. Names with dots in them stay whole.
pub fn sentences(message: &str) -> impl Iterator<Item = &str> {
    message.lines().flat_map(|line| text::sentences(line, ".!?;"))
}
