//! Cuts the strings of JSON while it is read, so that a record of any length is read into bounded memory. Everything else passes
//! unchanged, valid or not.

use memchr::memchr2;
use memdir_core::internal::base::{limits, text::human_bytes};
use std::io::{self, Read};

/// The bytes that are read at once.
const BUFFER: usize = 64 << 10;

/// A reader that cuts strings after [`limits::CHAT_LINE_BYTES`], and fails after [`limits::CHAT_RECORD_BYTES`] in total.
pub(crate) struct ShortStrings<R> {
    reader: R,
    buf: Vec<u8>,
    start: usize,
    end: usize,
    place: StringState,
    /// The bytes of the current string that were passed on.
    kept: usize,
    /// The bytes of the whole record that were passed on.
    passed: u64,
    is_cut: bool,
}

/// Where the next byte is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StringState {
    Outside,
    Inside,
    /// After a backslash.
    Escape,
    /// In an escaped code unit: the number of digits that follow, and the value so far.
    Unit(u8, u16),
    /// After an escaped high surrogate, which must not lose its other half.
    HighSurrogate,
    /// In the part of a string that is skipped.
    Skipped,
    /// After a backslash in the part that is skipped.
    SkippedEscape,
}

impl<R: Read> ShortStrings<R> {
    /// Creates a reader of one record.
    pub(crate) fn new(reader: R) -> Self {
        ShortStrings { reader, buf: vec![0; BUFFER], start: 0, end: 0, place: StringState::Outside, kept: 0, passed: 0, is_cut: false }
    }

    /// Reads the record.
    pub(crate) fn read_record(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Whether a string was cut.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whether the record is larger than may be decoded.
    pub(crate) fn is_too_large(&self) -> bool {
        self.passed > limits::CHAT_RECORD_BYTES
    }

    /// Whether the next byte is passed on.
    fn passes(&mut self, byte: u8) -> bool {
        let is_full = self.kept >= limits::CHAT_LINE_BYTES;
        // A character is cut neither in its UTF-8 bytes nor in its escape.
        let begins_character = byte & 0xc0 != 0x80;
        self.kept += 1;
        self.place = match (self.place, byte) {
            (StringState::Outside, b'"') => {
                self.kept = 0;
                StringState::Inside
            }
            (StringState::Outside, _) => StringState::Outside,
            (StringState::Inside | StringState::HighSurrogate | StringState::Skipped, b'"') => StringState::Outside,
            (StringState::Inside, b'\\') if is_full => StringState::SkippedEscape,
            (StringState::Inside, _) if is_full && begins_character => StringState::Skipped,
            (StringState::Inside | StringState::HighSurrogate, b'\\') => StringState::Escape,
            (StringState::Inside | StringState::HighSurrogate, _) => StringState::Inside,
            (StringState::Escape, b'u') => StringState::Unit(4, 0),
            (StringState::Escape, _) => StringState::Inside,
            (StringState::Unit(digits, value), digit) => {
                let value = value << 4 | (digit as char).to_digit(16).unwrap_or(0) as u16;
                match digits {
                    1 if (0xd800..0xdc00).contains(&value) => StringState::HighSurrogate,
                    1 => StringState::Inside,
                    _ => StringState::Unit(digits - 1, value),
                }
            }
            (StringState::Skipped, b'\\') => StringState::SkippedEscape,
            (StringState::Skipped | StringState::SkippedEscape, _) => StringState::Skipped,
        };
        let passes = !matches!(self.place, StringState::Skipped | StringState::SkippedEscape);
        self.is_cut |= !passes;
        passes
    }
}

impl<R: Read> Read for ShortStrings<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        while count == 0 && !out.is_empty() {
            if self.start == self.end {
                (self.start, self.end) = (0, self.reader.read(&mut self.buf)?);
                if self.end == 0 {
                    return Ok(0);
                }
            }
            while self.start < self.end && count < out.len() {
                if self.place == StringState::Skipped {
                    // Nearly all of a long line: searched, not examined byte by byte.
                    self.start += memchr2(b'"', b'\\', &self.buf[self.start..self.end]).unwrap_or(self.end - self.start);
                    if self.start == self.end {
                        break;
                    }
                }
                let byte = self.buf[self.start];
                self.start += 1;
                if self.passes(byte) {
                    out[count] = byte;
                    count += 1;
                }
            }
        }
        self.passed += count as u64;
        if self.is_too_large() {
            return Err(io::Error::other(format!("it is larger than {}", human_bytes(limits::CHAT_RECORD_BYTES))));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> (String, bool) {
        let mut short = ShortStrings::new(text.as_bytes());
        let mut out = String::new();
        short.read_to_string(&mut out).unwrap();
        (out, short.is_cut())
    }

    #[test]
    fn short_records_pass_unchanged() {
        for text in ["", "{}", r#"{"a":"b\"c\\","d":"é\ud83d\ude00"}"#, "not \"json", "{\"a\":\"\\"] {
            assert_eq!(cut(text), (text.to_owned(), false));
        }
    }

    #[test]
    fn a_long_string_is_cut_between_characters() {
        for character in ["x", "é", "\\n", "\\\"", "\\u00e9", "\\ud83d\\ude00"] {
            let long = character.repeat((limits::CHAT_LINE_BYTES + 1000) / character.len());
            let text = format!(r#"{{"a":"{long}","b":"end"}}"#);
            let (short, is_cut) = cut(&text);
            assert!(is_cut && short.len() < limits::CHAT_LINE_BYTES + 64, "{character}: {} bytes", short.len());
            let value: serde_json::Value = serde_json::from_str(&short).unwrap();
            assert_eq!(value["b"], "end", "{character}");
            let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert!(whole["a"].as_str().unwrap().starts_with(value["a"].as_str().unwrap()), "{character}");
        }
    }
}
