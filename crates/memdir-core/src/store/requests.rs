//! What clients of a store keep between requests: a place in the history, and keys that make a repeated request harmless.

use crate::base::error::{Error, Result};
use std::{collections::BTreeMap, fmt};

/// A place in the history of a store, opaque to clients. It has one position for each directory or namespace, because each of them has an
/// order of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeCursor(BTreeMap<String, String>);

impl ChangeCursor {
    /// Parses a cursor that [`ChangeCursor`] printed.
    pub fn parse(text: &str) -> Result<Self> {
        let invalid = || Error::bad_input("cursor", "it is not valid on this server; omit it to start at the beginning");
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase());
        if text == Self::START {
            return Ok(ChangeCursor::default());
        }
        let mut positions = BTreeMap::new();
        for part in text.split('-') {
            let (place, position) = part.split_once('.').filter(|(a, b)| is_word(a) && is_word(b)).ok_or_else(invalid)?;
            if positions.insert(place.to_owned(), position.to_owned()).is_some() {
                return Err(invalid());
            }
        }
        Ok(ChangeCursor(positions))
    }

    /// The text of the cursor before the first change.
    const START: &'static str = "0";

    /// Returns the position in the directory or namespace with this name; `None` is its beginning.
    pub fn position(&self, place: &[u8]) -> Option<&str> {
        self.0.get(&place_name(place)).map(String::as_str)
    }

    /// Sets the position in the directory or namespace with this name: letters and digits in lower case.
    pub fn set_position(&mut self, place: &[u8], position: impl Into<String>) {
        self.0.insert(place_name(place), position.into());
    }

    /// The error for a cursor that is too old: the history no longer has its position.
    pub fn expired() -> Error {
        Error::bad_input("cursor", "it is too old, or belongs to other memories; list the memories again and start with a new cursor")
    }
}

/// A hash: the names of directories are private.
fn place_name(place: &[u8]) -> String {
    blake3::hash(place).to_hex()[..16].to_owned()
}

impl fmt::Display for ChangeCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(Self::START);
        }
        for (n, (place, position)) in self.0.iter().enumerate() {
            write!(f, "{}{place}.{position}", if n > 0 { "-" } else { "" })?;
        }
        Ok(())
    }
}

/// A key that a caller gave to a request, so that it is carried out once however often it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The caller. Keys of different callers are independent.
    pub caller: String,
    /// The key.
    pub key: String,
    /// A hash of the request: the same key with another request is refused.
    pub request: [u8; 32],
}

impl IdempotencyKey {
    /// The error for a key that was used for another request.
    pub fn reused() -> Error {
        Error::bad_input("idempotency key", "it was already used for another request; use a new key for each request")
    }

    /// The hash of the caller and the key.
    pub(crate) fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(self.caller.len() as u64).to_le_bytes()).update(self.caller.as_bytes()).update(self.key.as_bytes());
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// The beginning of the hash of the request, as it is recorded.
    pub(crate) fn request_hash(&self) -> String {
        blake3::Hash::from_bytes(self.request).to_hex()[..32].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_printed() {
        let mut cursor = ChangeCursor::default();
        assert_eq!(cursor.to_string(), "0");
        assert_eq!(ChangeCursor::parse("0").unwrap(), cursor);
        cursor.set_position(b"/a", "8z38z4zp");
        cursor.set_position(b"/b", "17");
        assert_eq!(ChangeCursor::parse(&cursor.to_string()).unwrap(), cursor);
        assert_eq!((cursor.position(b"/a"), cursor.position(b"/c")), (Some("8z38z4zp"), None));
        for wrong in ["", "1", "a.b-a.c", "a.", "a.b-", "A.b", "a.b.c", "a b", "ä.1"] {
            assert!(ChangeCursor::parse(wrong).is_err(), "{wrong}");
        }
    }
}
