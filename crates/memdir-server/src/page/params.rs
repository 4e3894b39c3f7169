//! The fields of a query string or a form.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters of a path segment or a query value that are percent-encoded.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// Decoded fields, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Params(Vec<(String, String)>);

impl Params {
    /// Parses `application/x-www-form-urlencoded`. Parsing never fails.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        Params(form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// The first value of a field; empty if it is missing.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// All values of a field, in their order.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A number from 1 on, such as that of a page.
    pub(super) fn number(&self, name: &str) -> usize {
        self.get(name).parse().unwrap_or(1).clamp(1, 1_000_000)
    }
}

/// Percent-encodes a name for the path or the query of a URL. Slashes stay.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}
