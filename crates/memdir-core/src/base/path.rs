//! The validated name of a memory. Validation rejects and never repairs; a valid name cannot escape the directory it is
//! resolved in.

use crate::base::limits;
use percent_encoding::percent_decode_str;
use std::fmt;
use unicode_normalization::UnicodeNormalization as _;

/// The longest part of a name, in bytes: what ext4, APFS and NTFS allow.
const NAME_PART_BYTES: usize = 255;
/// The longest whole name, in bytes, so that a mount's root plus the name stays below PATH_MAX.
const NAME_BYTES: usize = 1024;

/// A relative, `/`-separated name in NFC whose parts are ordinary file names. It may have an extension or omit `.md`, and may begin
/// with a mount's prefix (`team/deploy`).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryPath(String);

/// The error for a text that is not a valid memory name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid memory name {name:?}: {why}")]
pub struct InvalidName {
    /// The rejected text.
    pub name: String,
    /// The reason, with what would be accepted.
    pub why: String,
}

impl MemoryPath {
    /// Validates a name. The error gives the reason and what would be accepted.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        match reject(text) {
            Some(why) => Err(InvalidName { name: text.to_owned(), why }),
            // ASCII is always in NFC, and most names are ASCII: a walk parses thousands of them.
            None if text.is_ascii() => Ok(MemoryPath(text.to_owned())),
            None => Ok(MemoryPath(text.nfc().collect())),
        }
    }

    /// Like [`MemoryPath::parse`], without a copy of a name in ASCII.
    pub(crate) fn from_text(text: String) -> Result<Self, InvalidName> {
        match reject(&text) {
            Some(why) => Err(InvalidName { name: text, why }),
            None if text.is_ascii() => Ok(MemoryPath(text)),
            None => Ok(MemoryPath(text.nfc().collect())),
        }
    }

    /// Like [`MemoryPath::prefixed`], without a copy if there is no prefix.
    pub(crate) fn into_prefixed(self, prefix: &str) -> MemoryPath {
        if prefix.is_empty() { self } else { self.prefixed(prefix) }
    }

    /// The whole name as given, in NFC.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name without a final `.md`, unless it would name another file without it.
    pub fn name(&self) -> &str {
        memory_name(&self.0)
    }

    /// The last part.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// All but the last part, if there is more than one.
    pub fn parent(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(parent, _)| parent)
    }

    /// The parts, from the outermost.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// Whether the name ends in `.md` (any case).
    pub fn is_md(&self) -> bool {
        strip_md(&self.0).len() != self.0.len()
    }

    /// The name with `.md` at its end.
    pub fn with_md(&self) -> MemoryPath {
        if self.is_md() { self.clone() } else { MemoryPath(format!("{}.md", self.0)) }
    }

    /// Whether this name is `prefix` or lies under it, part by part: `team/x` lies under `team`, `teams/x` does not.
    pub fn is_under(&self, prefix: &str) -> bool {
        under(&self.0, prefix).is_some()
    }

    /// The part of this name below `prefix`, or `None` if it does not lie under it.
    pub fn strip_prefix(&self, prefix: &str) -> Option<MemoryPath> {
        under(&self.0, prefix).filter(|rest| !rest.is_empty()).map(|rest| MemoryPath(rest.to_owned()))
    }

    /// This name below a prefix that is itself a valid name; an empty prefix changes nothing.
    pub fn prefixed(&self, prefix: &str) -> MemoryPath {
        if prefix.is_empty() { self.clone() } else { MemoryPath(format!("{prefix}/{}", self.0)) }
    }
}

/// The name of a memory as messages print it: without a final `.md`, unless it would name another file without it.
pub fn memory_name(text: &str) -> &str {
    let short = strip_md(text);
    let is_same = text.ends_with(".md") && strip_md(short).len() == short.len() && !short.ends_with(['.', ' ']);
    if is_same { short } else { text }
}

/// Removes one final `.md`, in any case, unless nothing else would be left of the last part.
pub fn strip_md(text: &str) -> &str {
    match text.len().checked_sub(3).and_then(|at| text.split_at_checked(at)) {
        Some((stem, end)) if end.eq_ignore_ascii_case(".md") && !stem.is_empty() && !stem.ends_with('/') => stem,
        _ => text,
    }
}

fn under<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    if prefix.is_empty() {
        return Some(path);
    }
    let rest = path.strip_prefix(prefix)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Returns why `text` is not a valid name, or `None` if it is valid.
fn reject(text: &str) -> Option<String> {
    if is_plain(text) { None } else { reject_unusual(text) }
}

/// Whether a name is certainly valid: letters of ASCII, digits, `_`, `-`, and dots inside of components. Nearly all names are, and a walk
/// checks thousands: the rules for all other names take half of the time of a list.
fn is_plain(text: &str) -> bool {
    let (mut parts, mut previous) = (1, b'/');
    for byte in text.bytes() {
        let is_allowed = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => true,
            b'.' => previous != b'/',
            b'/' => previous != b'/' && previous != b'.',
            _ => false,
        };
        if !is_allowed {
            return false;
        }
        parts += usize::from(byte == b'/');
        previous = byte;
    }
    let is_short = parts <= limits::NAME_PARTS && text.len() <= NAME_PART_BYTES;
    is_short && previous != b'/' && previous != b'.' && text.split('/').all(|part| windows_device(part).is_none())
}

fn reject_unusual(text: &str) -> Option<String> {
    let reason = |why: &str| Some(why.to_owned());
    if text.is_empty() {
        return reason("it is empty; use a name such as notes/deploy");
    }
    if text.len() > NAME_BYTES {
        return Some(format!("it is {} bytes long; the limit is {}", text.len(), NAME_BYTES));
    }
    if let Some(why) = reject_form(text) {
        return Some(why);
    }
    if text.is_ascii() {
        return reject_encoded(text);
    }
    // Look-alikes (full-width dots and slashes) must not become separators in another program.
    let folded: String = text.nfkc().collect();
    if folded.matches('/').count() != text.matches('/').count() {
        return reason("it contains a character that Unicode normalization (NFKC) turns into a slash; use `/` between components");
    }
    if let Some(why) = reject_form(&folded) {
        return Some(format!("after Unicode normalization (NFKC), {why}"));
    }
    reject_encoded(text)
}

/// Whether a character controls how a text is shown.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn reject_form(text: &str) -> Option<String> {
    let reason = |why: &str| Some(why.to_owned());
    if text.bytes().any(|byte| byte.is_ascii_control()) || (!text.is_ascii() && text.chars().any(is_invisible)) {
        return reason("it contains a control or formatting character (such as NUL, a line break or a text direction mark); remove it");
    }
    if text.contains('\\') {
        return reason("it contains a backslash; use `/` between components");
    }
    if text.starts_with('/') {
        return reason("it is an absolute path; use a name relative to the memory directory");
    }
    let mut chars = text.chars();
    if let (Some(letter), Some(':')) = (chars.next(), chars.next())
        && letter.is_ascii_alphabetic()
    {
        return reason("it begins with a drive letter; use a name relative to the memory directory");
    }
    let parts = text.split('/').count();
    if parts > limits::NAME_PARTS {
        return Some(format!("it has {parts} components; the limit is {}", limits::NAME_PARTS));
    }
    if text.split('/').next() == Some("~") {
        return reason("it begins with `~`; use a name relative to the memory directory");
    }
    text.split('/').find_map(reject_part)
}

fn reject_part(part: &str) -> Option<String> {
    if part.is_empty() {
        return Some("it has an empty component; use one `/` between components and none at the end".into());
    }
    if part.trim().is_empty() {
        return Some("it has a blank component; use a name such as notes/deploy".into());
    }
    if part == "." || part == ".." {
        return Some(format!("it contains the component {part:?}; use a name without it"));
    }
    if part.len() > NAME_PART_BYTES {
        return Some(format!("a component is {} bytes long; the limit is {}", part.len(), NAME_PART_BYTES));
    }
    let unstorable = match part {
        _ if part.starts_with(' ') => Some("begins with a space"),
        _ if part.ends_with(' ') => Some("ends with a space"),
        _ if part.ends_with('.') => Some("ends with a dot"),
        _ => None,
    };
    if let Some(what) = unstorable {
        return Some(format!("the component {part:?} {what}, which some systems cannot store"));
    }
    if part.eq_ignore_ascii_case(".git") {
        return Some("the name `.git` is reserved for git".into());
    }
    if is_temp_name(part) {
        return Some("names of the form `.memdir-*.tmp` are reserved for temporary files".into());
    }
    windows_device(part).map(|device| format!("{device} is a device name on Windows; use another name"))
}

/// Whether a file of this name is a temporary file of memdir.
pub fn is_temp_name(part: &str) -> bool {
    part.starts_with(".memdir-") && part.ends_with(".tmp")
}

/// Returns the device that the part would open on Windows, with any extension.
fn windows_device(part: &str) -> Option<String> {
    // The first letters of the devices; a walk checks thousands of names.
    if !part.starts_with(['C', 'c', 'P', 'p', 'A', 'a', 'N', 'n', 'L', 'l']) {
        return None;
    }
    let stem = part.split('.').next().unwrap_or(part).trim_end();
    if stem.len() > "CONOUT$".len() {
        return None;
    }
    let stem = stem.to_uppercase();
    let numbered = ["COM", "LPT"].iter().any(|port| {
        stem.strip_prefix(port).is_some_and(|n| matches!(n, "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "0" | "¹" | "²" | "³"))
    });
    let named = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$");
    (numbered || named).then_some(stem)
}

/// Rejects a name that would be dangerous after one or several rounds of percent-decoding by another program.
fn reject_encoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let mut seen = text.to_owned();
    for _ in 0..4 {
        let decoded = percent_decode_str(&seen).decode_utf8_lossy().into_owned();
        if decoded == seen {
            return None;
        }
        let is_dangerous = decoded.matches('/').count() != seen.matches('/').count()
            || decoded.contains(['\\', '\0'])
            || decoded.split('/').any(|part| part == ".." || part == ".");
        if is_dangerous {
            return Some("it contains a percent-encoded dot, slash, backslash or NUL; write the name without percent-encoding".into());
        }
        seen = decoded;
    }
    Some("it is percent-encoded several times; write the name without percent-encoding".into())
}

impl fmt::Display for MemoryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for MemoryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryPath({:?})", self.0)
    }
}

impl std::str::FromStr for MemoryPath {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        MemoryPath::parse(text)
    }
}

impl serde::Serialize for MemoryPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for MemoryPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        MemoryPath::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_plain_name_breaks_no_rule(text in "[a-c./_CONcon1-]{0,12}|((con|nul|lpt1|git|x)?[./]){0,5}md|([a-z]/){0,70}a{0,300}") {
            prop_assert!(!is_plain(&text) || reject_unusual(&text).is_none(), "{text:?}: {:?}", reject_unusual(&text));
        }
    }

    #[test]
    fn common_names_are_plain() {
        for name in ["a", "notes/deploy.md", "t3/m3.md", "user/editor-settings_2", "logs/2026/11/2026-11-19.md", "README.md"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["", "con", "notes/NUL.md", ".git", "a..", "a/./b", "a//b", "a/", "ä", "50%2e", "a b"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
