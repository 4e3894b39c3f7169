//! The version of a memory: the hash of its content, never a time or a counter.

use std::{fmt, str::FromStr};

/// The content hash (blake3, first 16 bytes) of a memory. Equal bytes, equal version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version([u8; 16]);

impl Version {
    /// Computes the version of a content.
    pub fn from_content(bytes: &[u8]) -> Self {
        let mut short = [0; 16];
        short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
        Version(short)
    }

    /// Creates a version from its sixteen bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Version(bytes)
    }

    /// Returns the sixteen bytes.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// Returns the first twelve digits, for display and input.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }

    /// Whether this version begins with `text`, which has at least four hex digits.
    pub fn starts_with(&self, text: &str) -> bool {
        text.len() >= 4 && self.to_string().starts_with(&text.to_ascii_lowercase())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({self})")
    }
}

/// The text is not 32 hex digits.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a 32-digit hexadecimal version")]
pub struct InvalidVersion;

impl FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        if text.len() != 32 || !text.is_ascii() {
            return Err(InvalidVersion);
        }
        let mut bytes = [0; 16];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).map_err(|_| InvalidVersion)?;
        }
        Ok(Version(bytes))
    }
}

impl serde::Serialize for Version {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Version {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
