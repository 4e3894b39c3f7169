//! The words of a fact that is to be forgotten, and where they occur: in any case and Unicode form, across line breaks. Pure.

use super::error::{Error, Result};
use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// The replacement for forgotten words. YAML reads it as plain text.
pub const FORGOTTEN: &str = "(forgotten)";

/// The maximum length of the words, in bytes. A regular expression of them stays small.
const MAX_BYTES: usize = 2_000;
/// The minimum number of letters and digits: fewer are in nearly every text. Scripts without spaces write a word in two characters.
const MIN_LETTERS: usize = 3;
const MIN_UNSPACED: usize = 2;

/// Characters without a width, which may be between any two letters.
const INVISIBLE: &str = r"[\u{ad}\u{200b}-\u{200f}\u{2060}\u{feff}]*";

/// Words to forget.
#[derive(Debug, Clone)]
pub struct Phrase {
    pattern: Regex,
}

impl Phrase {
    /// Parses words. They match in upper and lower case, composed and decomposed, in full width, and with any white space between them.
    pub fn parse(words: &str) -> Result<Phrase> {
        let letters = words.chars().filter(|c| c.is_alphanumeric()).count();
        let min = if words.chars().any(is_unspaced) { MIN_UNSPACED } else { MIN_LETTERS };
        if letters < min {
            return Err(Error::bad_input("words", format!("at least {min} letters or digits are needed; fewer are in nearly every text")));
        }
        if words.len() > MAX_BYTES {
            return Err(Error::bad_input("words", format!("{} bytes; the limit is {MAX_BYTES}", words.len())));
        }
        let mut pattern = String::new();
        for (n, word) in words.split_whitespace().enumerate() {
            if n > 0 {
                // A line of a quotation or a comment begins with its mark.
                pattern.push_str(r"(?:\s|\n[>#*/\-]+)+");
            }
            let parts: Vec<String> = letters_of(word).iter().map(|letter| letter_pattern(letter)).collect();
            pattern.push_str(&parts.join(INVISIBLE));
        }
        let built = RegexBuilder::new(&pattern).case_insensitive(true).size_limit(64 << 20).build();
        built.map(|pattern| Phrase { pattern }).map_err(|error| Error::bad_input("words", error.to_string()))
    }

    /// The ranges of a text that have the words, in order.
    pub fn ranges(&self, text: &[u8]) -> Vec<Range<usize>> {
        self.pattern.find_iter(text).map(|found| found.range()).collect()
    }

    /// Whether a text has the words.
    pub fn is_in(&self, text: impl AsRef<[u8]>) -> bool {
        self.pattern.is_match(text.as_ref())
    }

    /// Returns the bytes with [`FORGOTTEN`] in place of the words, or `None` if they do not occur.
    pub fn redact_bytes(&self, text: &[u8]) -> Option<Vec<u8>> {
        self.is_in(text).then(|| self.pattern.replace_all(text, FORGOTTEN.as_bytes()).into_owned())
    }

    /// Like [`Phrase::redact_bytes`], for a text.
    pub fn redact(&self, text: &str) -> Option<String> {
        self.redact_bytes(text.as_bytes()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Whether a character is of a script that is written without spaces.
fn is_unspaced(c: char) -> bool {
    matches!(c as u32, 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af | 0x0e00..=0x0eff | 0x20000..=0x3ffff)
}

/// The letters of a word, each with its combining marks.
fn letters_of(word: &str) -> Vec<String> {
    let mut letters: Vec<String> = Vec::new();
    for c in word.chars().filter(|c| !matches!(*c as u32, 0xad | 0x200b..=0x200f | 0x2060 | 0xfeff)) {
        match letters.last_mut() {
            Some(letter) if is_combining_mark(c) => letter.push(c),
            _ => letters.push(c.to_string()),
        }
    }
    letters
}

/// A pattern of all forms of a letter.
fn letter_pattern(letter: &str) -> String {
    let mut forms: Vec<String> =
        vec![letter.to_owned(), letter.nfc().collect(), letter.nfd().collect(), letter.nfkc().collect(), letter.nfkd().collect()];
    let plain: String = letter.nfkc().collect();
    if let (Some(c @ '!'..='~'), None) = (plain.chars().next(), plain.chars().nth(1)) {
        forms.extend(char::from_u32(c as u32 + 0xfee0).map(String::from));
    }
    forms.sort();
    forms.dedup();
    // The longest first: a composed letter must not match the beginning of a decomposed one.
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    let forms: Vec<String> = forms.iter().map(|form| regex::escape(form)).collect();
    if forms.len() == 1 { forms.concat() } else { format!("(?:{})", forms.join("|")) }
}

#[cfg(test)]
mod tests {
    use super::Phrase;

    #[test]
    fn words_match_in_every_case_form_and_line_break() {
        let phrase = Phrase::parse("Café  Müller 7").unwrap();
        for text in ["x CAFÉ MÜLLER 7.", "cafe\u{301}\nmu\u{308}ller\t7", "> Café\n> Müller 7", "ＣAFÉ Müller ７", "Ca\u{200b}fé Müller 7"]
        {
            assert!(phrase.is_in(text), "{text:?}");
        }
        for text in ["cafe muller 7", "Café, Müller 7", "CaféMüller 7"] {
            assert!(!phrase.is_in(text), "{text:?}");
        }
        assert_eq!(phrase.redact("a café müller 7 b CAFÉ\nMÜLLER 7").unwrap(), "a (forgotten) b (forgotten)");
        assert_eq!(phrase.redact("nothing"), None);
        assert_eq!(Phrase::parse("a.b(c").unwrap().ranges(b"xa.b(c a.bxc"), vec![1..6; 1]);
        assert!(Phrase::parse("日本").is_ok() && Phrase::parse("ab").is_err() && Phrase::parse("  ...  ").is_err());
        assert_eq!(Phrase::parse("key").unwrap().redact_bytes(b"\xff KEY \xfe").unwrap(), b"\xff (forgotten) \xfe");
    }
}
