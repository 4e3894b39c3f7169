//! A memory's name, validated once. Refuses, never repairs; cannot escape the directory it is resolved in.

use crate::base::{
    error::{Error, Result},
    limits,
};
use percent_encoding::percent_decode_str;
use std::fmt;
use unicode_normalization::UnicodeNormalization as _;

/// A relative, `/`-separated name in NFC, every part of which is an ordinary file name.
/// May carry an extension or leave `.md` off; may begin with a mount's prefix (`team/deploy`).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryPath(String);

impl MemoryPath {
    /// Validates a name that came from outside. The error says why and what would be accepted.
    pub fn parse(text: &str) -> Result<Self> {
        match reject(text) {
            Some(why) => Err(Error::bad_path(text, why)),
            // Plain ASCII is in NFC, and most names are plain: a walk makes thousands of them.
            None if text.is_ascii() => Ok(MemoryPath(text.to_owned())),
            None => Ok(MemoryPath(text.nfc().collect())),
        }
    }

    /// The whole name as given, in NFC.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name without a final `.md`, where it means the same file without it.
    pub fn name(&self) -> &str {
        let short = strip_md(&self.0);
        let plain = self.0.ends_with(".md") && strip_md(short).len() == short.len() && !short.ends_with(['.', ' ']);
        if plain { short } else { &self.0 }
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

    /// Whether this name lies under `prefix`, part by part (`team` holds `team/x`, not `teams/x`); a name lies under itself.
    pub fn is_under(&self, prefix: &str) -> bool {
        under(&self.0, prefix).is_some()
    }

    /// What follows `prefix`, if this name lies under it and is longer.
    pub fn strip_prefix(&self, prefix: &str) -> Option<MemoryPath> {
        under(&self.0, prefix).filter(|rest| !rest.is_empty()).map(|rest| MemoryPath(rest.to_owned()))
    }

    /// This name under a prefix that is itself a valid name; an empty prefix changes nothing.
    pub fn prefixed(&self, prefix: &str) -> MemoryPath {
        if prefix.is_empty() { self.clone() } else { MemoryPath(format!("{prefix}/{}", self.0)) }
    }
}

/// What a name means among mounts: `global/…` is another word for `user/…`, where no mount has that name itself, and an agent's
/// `:` is the `-` of its mount. Nothing where it means what it says.
pub fn meant(path: &MemoryPath, has_mount: impl Fn(&str) -> bool) -> Option<MemoryPath> {
    if let Some((name, rest)) = under(path.as_str(), "agent").map(|own| own.split_once('/').unwrap_or((own, "")))
        && name.contains(':')
    {
        let own = MemoryPath(format!("agent/{}", name.replace(':', "-")));
        let mounted = has_mount(own.as_str());
        let whole = if rest.is_empty() { own } else { MemoryPath(format!("{own}/{rest}")) };
        return mounted.then_some(whole);
    }
    if !path.is_under("global") || has_mount("global") || !has_mount("user") {
        return None;
    }
    Some(path.strip_prefix("global").map_or_else(|| MemoryPath("user".into()), |rest| rest.prefixed("user")))
}

/// `text` without one final `.md`, in any case, if something is left.
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

/// Why `text` cannot be a name; nothing if it can.
fn reject(text: &str) -> Option<String> {
    let say = |why: &str| Some(why.to_owned());
    if text.is_empty() {
        return say("it is empty; give a name such as notes/deploy");
    }
    if text.len() > limits::NAME_BYTES {
        return Some(format!("it has {} bytes; a whole name has at most {}", text.len(), limits::NAME_BYTES));
    }
    if let Some(why) = reject_form(text) {
        return Some(why);
    }
    if text.is_ascii() {
        return reject_encoded(text);
    }
    // Look-alikes (full-width dots and slashes) must not become separators for somebody else.
    let folded: String = text.nfkc().collect();
    if folded.matches('/').count() != text.matches('/').count() {
        return say("it holds a look-alike of a slash; write a plain / between parts");
    }
    if let Some(why) = reject_form(&folded) {
        return Some(format!("read with look-alike characters made plain, {why}"));
    }
    reject_encoded(text)
}

fn reject_form(text: &str) -> Option<String> {
    let say = |why: &str| Some(why.to_owned());
    if text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')) {
        return say("it holds a control character (such as NUL, a line end or a direction mark); leave it out");
    }
    if text.contains('\\') {
        return say("it holds a backslash; write / between parts");
    }
    if text.starts_with('/') {
        return say("it is an absolute path; give a name relative to the memory directory");
    }
    let mut chars = text.chars();
    if let (Some(letter), Some(':')) = (chars.next(), chars.next())
        && letter.is_ascii_alphabetic()
    {
        return say("it begins with a drive letter; give a name relative to the memory directory");
    }
    let parts: Vec<&str> = text.split('/').collect();
    if parts.len() > limits::NAME_PARTS {
        return Some(format!("it has {} parts; at most {} are allowed", parts.len(), limits::NAME_PARTS));
    }
    if parts.first() == Some(&"~") {
        return say("it begins with ~; give a name relative to the memory directory");
    }
    parts.iter().find_map(|part| reject_part(part))
}

fn reject_part(part: &str) -> Option<String> {
    if part.trim().is_empty() {
        return Some("it has an empty part; write one / between parts and none at the end".into());
    }
    if part == "." || part == ".." {
        return Some(format!("it has the part {part:?}; names never step up or stay, name the memory directly"));
    }
    if part.len() > limits::NAME_PART_BYTES {
        return Some(format!("a part has {} bytes; at most {} are allowed", part.len(), limits::NAME_PART_BYTES));
    }
    if part.ends_with(['.', ' ']) || part.starts_with(' ') {
        return Some(format!("the part {part:?} begins or ends with a space, or ends with a dot, which not every system can store"));
    }
    if part.eq_ignore_ascii_case(".git") {
        return Some("the directory .git belongs to git".into());
    }
    if is_temp_name(part) {
        return Some("names of the form .memdir-*.tmp are memdir's own for the moment of a write".into());
    }
    device(part).map(|device| format!("{device} is a device name on Windows; choose another"))
}

/// Whether a file of this name is one of our temporary files.
pub fn is_temp_name(part: &str) -> bool {
    part.starts_with(".memdir-") && part.ends_with(".tmp")
}

/// The Windows device a part would open there, with any extension.
fn device(part: &str) -> Option<String> {
    let stem = part.split('.').next().unwrap_or(part).trim_end();
    // The longest of them; most names are longer, and a walk asks about thousands.
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

/// Refuses a name that becomes dangerous when somebody decodes its percent signs, once or several times.
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
        let danger = decoded.matches('/').count() != seen.matches('/').count()
            || decoded.contains(['\\', '\0'])
            || decoded.split('/').any(|part| part == ".." || part == ".");
        if danger {
            return Some("it holds a percent-encoded dot, slash, backslash or NUL; write the name plainly".into());
        }
        seen = decoded;
    }
    Some("it is percent-encoded several times over; write the name plainly".into())
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
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
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
