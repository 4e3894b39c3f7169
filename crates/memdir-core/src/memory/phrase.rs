//! The words of a fact that is to be forgotten, and where they occur: in any case and Unicode form, across line breaks and the marks of
//! lines, and in names with hyphens. Pure.

use super::frontmatter;
use crate::base::{
    error::{Error, Result},
    sort::SharedSort as _,
    text::is_unspaced,
};
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

/// What may be between two words to forget, such as the marks of lines: the joints of a name; white space, also as an escape of JSON; or a
/// line break with the marks at the end of a line and at the beginning of the next one, as in quotations, comments, diffs, tables and
/// lists.
const BETWEEN: &str = r#"(?:[-_.]+|(?:\s|\\[nrt])+|(?:\s|\\[rt]|[|*/\\])*(?:\n|\\n)(?:\s|\\[nrt]|[-+>#*/|;%!]|[0-9]{1,6}[.):])*)"#;
/// What is between two words in the name of a file, where punctuation is left out.
const BETWEEN_IN_NAMES: &str = "[-_.]+";

/// Further fields that memdir itself writes, in conversations and in mappings. With those of memories and candidates they are the format
/// and not a text, so that words which are equal to one do not make every file unreadable.
const OTHER_FIELDS: [&str; 13] =
    ["branch", "continues", "cursor", "expires", "host", "parts", "project", "resume", "session", "started", "strength", "title", "why"];

/// Words to forget.
#[derive(Debug, Clone)]
pub struct Phrase {
    pattern: Regex,
}

impl Phrase {
    /// Parses words. They match in upper and lower case, composed and decomposed, in full width, with any white space between them, across
    /// lines with marks, and as a name.
    pub fn parse(words: &str) -> Result<Phrase> {
        let letters = words.chars().filter(|c| c.is_alphanumeric()).count();
        let min = if words.chars().any(is_unspaced) { MIN_UNSPACED } else { MIN_LETTERS };
        if letters < min {
            return Err(Error::bad_input(
                "words",
                format!("at least {min} letters or digits are required; fewer would match almost everything"),
            ));
        }
        if words.len() > MAX_BYTES {
            return Err(Error::bad_input("words", format!("they are {} bytes long; the limit is {MAX_BYTES}", words.len())));
        }
        let in_texts = joined(words.split_whitespace(), BETWEEN);
        let in_names =
            joined(words.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c)).filter(|part| !part.is_empty()), BETWEEN_IN_NAMES);
        let pattern = format!("{in_texts}|{in_names}");
        let built = RegexBuilder::new(&pattern).case_insensitive(true).size_limit(64 << 20).build();
        let pattern = built.map_err(|error| Error::bad_input("words", error.to_string()))?;
        if pattern.is_match(FORGOTTEN.as_bytes()) {
            return Err(Error::bad_input(
                "words",
                format!("they are part of {FORGOTTEN}, the placeholder for forgotten words; use other words"),
            ));
        }
        Ok(Phrase { pattern })
    }

    /// The ranges of a text that have the words, in order. Names of fields in the frontmatter that memdir writes do not count.
    pub fn ranges(&self, text: &[u8]) -> Vec<Range<usize>> {
        let found = self.pattern.find_iter(text).map(|found| found.range());
        match frontmatter_end(text) {
            None => found.collect(),
            Some(end) => found.filter(|range| range.start >= end || !is_in_field_name(text, range)).collect(),
        }
    }

    /// Whether a text has the words.
    pub fn is_in(&self, text: impl AsRef<[u8]>) -> bool {
        let text = text.as_ref();
        self.pattern.is_match(text) && (frontmatter_end(text).is_none() || !self.ranges(text).is_empty())
    }

    /// Returns the bytes with [`FORGOTTEN`] in place of the words, or `None` if they do not occur.
    pub fn redact_bytes(&self, text: &[u8]) -> Option<Vec<u8>> {
        let ranges = self.ranges(text);
        let mut out = Vec::with_capacity(text.len());
        let mut done = 0;
        for range in &ranges {
            out.extend_from_slice(&text[done..range.start]);
            out.extend_from_slice(FORGOTTEN.as_bytes());
            done = range.end;
        }
        out.extend_from_slice(&text[done..]);
        (!ranges.is_empty()).then_some(out)
    }

    /// Like [`Phrase::redact_bytes`], for a text.
    pub fn redact(&self, text: &str) -> Option<String> {
        self.redact_bytes(text.as_bytes()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// A pattern of words with another one between them.
fn joined<'a>(words: impl Iterator<Item = &'a str>, between: &str) -> String {
    let words = words.map(|word| letters_of(word).iter().map(|letter| letter_pattern(letter)).collect::<Vec<_>>().join(INVISIBLE));
    words.collect::<Vec<_>>().join(between)
}

/// The offset after the frontmatter of a text, if it has one. Not [`frontmatter::parse`]: histories and conversations are looked through
/// too, as bytes of any kind.
fn frontmatter_end(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"---").filter(|rest| rest.starts_with(b"\n") || rest.starts_with(b"\r\n"))?;
    rest.windows(4).position(|window| window == b"\n---").map(|at| at + 7)
}

/// Whether a range of the frontmatter is inside the name of a field that memdir writes.
fn is_in_field_name(text: &[u8], range: &Range<usize>) -> bool {
    let start = text[..range.start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let Some(length) = text[start..].iter().position(|byte| matches!(byte, b':' | b'\n')) else { return false };
    let is_field = text.get(start + length) == Some(&b':') && is_field_name(text[start..start + length].trim_ascii());
    is_field && range.end <= start + length
}

/// Whether a name is that of a field that memdir writes.
fn is_field_name(name: &[u8]) -> bool {
    let fields = frontmatter::KNOWN.iter().chain(&frontmatter::CANDIDATE_FIELDS).chain(&OTHER_FIELDS);
    { fields }.any(|field| field.as_bytes() == name)
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
    forms.shared_sort();
    forms.dedup();
    // The longest first: a composed letter must not match the beginning of a decomposed one.
    forms.shared_sort_by_key(|form| std::cmp::Reverse(form.len()));
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
        let marked = [
            "+x Café\n+Müller 7", "    // Café\n    // Müller 7", "| Café |\n| Müller 7", "1. Café\r\n2. Müller 7", "+> Café\n+> Müller 7",
        ];
        let others = [
            "    # Café\n    #\n    # Müller 7", "- Café\n  - Müller 7", "notes/café-müller_7.md", "{\"a\":\"Café\\n+ Müller 7\"}",
            "café.müller.7",
        ];
        for text in marked.into_iter().chain(others) {
            assert!(phrase.is_in(text), "{text:?}");
        }
        for text in ["cafe muller 7", "Café, Müller 7", "CaféMüller 7", "café. Müller 7", "Café - Müller 7"] {
            assert!(!phrase.is_in(text), "{text:?}");
        }
        assert_eq!(phrase.redact("a café müller 7 b CAFÉ\nMÜLLER 7").unwrap(), "a (forgotten) b (forgotten)");
        assert_eq!(phrase.redact("nothing"), None);
        assert_eq!(Phrase::parse("a.b(c").unwrap().ranges(b"xa.b(c a.bxc"), vec![1..6; 1]);
        assert!(Phrase::parse("日本").is_ok() && Phrase::parse("ab").is_err() && Phrase::parse("  ...  ").is_err());
        assert_eq!(Phrase::parse("key").unwrap().redact_bytes(b"\xff KEY \xfe").unwrap(), b"\xff (forgotten) \xfe");
        assert!(Phrase::parse("Forgotten").is_err(), "what takes the place of words cannot be forgotten");
        // A name has no punctuation.
        assert!(Phrase::parse("Maple Street 12, Ulm").unwrap().is_in("inbox/notes/anna-maple-street-12-ulm.md"));
    }

    #[test]
    fn names_of_fields_are_not_words() {
        let text = "---\ndescription: a\nsession: my session\nmine: session\n---\n\nsession: x\n";
        let redacted = Phrase::parse("session").unwrap().redact(text).unwrap();
        assert_eq!(redacted, "---\ndescription: a\nsession: my (forgotten)\nmine: (forgotten)\n---\n\n(forgotten): x\n");
        assert!(!Phrase::parse("description").unwrap().is_in(text));
        let candidate = "---\nother_keys: [\"other keys\"]\n---\n";
        assert_eq!(Phrase::parse("other keys").unwrap().redact(candidate).unwrap(), "---\nother_keys: [\"(forgotten)\"]\n---\n");
        assert!(Phrase::parse("mine").unwrap().is_in(text), "a field of the person is a text");
    }
}
