//! Word boundaries of scripts and identifiers, independent of stemming.

use crate::base::{steps, text::is_unspaced};
use unicode_normalization::UnicodeNormalization as _;

/// A piece of a text between white space.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TextPiece<'a> {
    /// Letters, digits and everything else that is neither white space nor ASCII punctuation.
    Run(&'a str),
    /// Several runs joined as an identifier or path; follows its runs.
    Code(&'a str),
}

/// A part of a run in one script.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ScriptPart {
    Word(String),
    Pair(String),
    Single(String),
}

/// Returns the pieces of a text, in order.
pub(super) fn pieces(text: &str) -> Pieces<'_> {
    Pieces { text, at: 0, token: 0, joined: false, code: None, quoted: false, rest: None }
}

pub(super) struct Pieces<'a> {
    text: &'a str,
    at: usize,
    /// The start of the current token: runs and joining marks without white space between them.
    token: usize,
    /// Whether the token has a joining mark.
    joined: bool,
    code: Option<&'a str>,
    /// Whether a quotation mark came before on this line: then `\n` may be an escape.
    quoted: bool,
    /// The run after the letter of an escape.
    rest: Option<&'a str>,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = TextPiece<'a>;

    fn next(&mut self) -> Option<TextPiece<'a>> {
        let bytes = self.text.as_bytes();
        loop {
            if let Some(code) = self.code.take() {
                return Some(TextPiece::Code(code));
            }
            if let Some(rest) = self.rest.take() {
                return Some(TextPiece::Run(rest));
            }
            let Some(&byte) = bytes.get(self.at) else {
                self.end_token();
                if let Some(code) = self.code.take() {
                    return Some(TextPiece::Code(code));
                }
                return None;
            };
            steps::count(1);
            match CLASS[byte as usize] {
                ByteClass::Run => {
                    let start = self.at;
                    while bytes.get(self.at).is_some_and(|b| CLASS[*b as usize] == ByteClass::Run) {
                        self.at += 1;
                    }
                    let run = &self.text[start..self.at];
                    // In `"refused\n\tat"` the letter is an escape, in `"src\test"` it is not: the run counts with and without it.
                    if self.quoted && is_escaped(bytes, start) {
                        if run.len() == 1 {
                            continue;
                        }
                        self.rest = Some(&run[1..]);
                    }
                    return Some(TextPiece::Run(run));
                }
                ByteClass::Join => {
                    self.joined = true;
                    self.at += 1;
                }
                ByteClass::Apart => {
                    self.end_token();
                    self.quoted = (self.quoted && byte != b'\n') || byte == b'"';
                    self.at += 1;
                    self.token = self.at;
                }
            }
        }
    }
}

impl Pieces<'_> {
    fn end_token(&mut self) {
        if self.joined {
            // Punctuation of the sentence does not belong to the identifier at its end.
            let token = self.text[self.token..self.at]
                .trim_end_matches(['.', ':', '-', '/', '@', '~', '_'])
                .trim_start_matches(['.', ':', '/', '@', '+', '#', '_']);
            self.code = is_code(token).then_some(token);
        }
        self.joined = false;
        self.token = self.at;
    }
}

/// Whether the letter at `at` makes an escape with the backslash before it.
fn is_escaped(bytes: &[u8], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).map(|at| bytes[at]) == Some(b'\\');
    matches!(bytes[at], b'n' | b't' | b'r') && before(1) && !before(2)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Run,
    /// Punctuation of identifiers, paths and flags.
    Join,
    /// White space and all other punctuation.
    Apart,
}

const CLASS: [ByteClass; 256] = {
    let mut table = [ByteClass::Run; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        table[byte] = match b {
            b'_' | b'/' | b'.' | b'-' | b':' | b'@' | b'#' | b'+' | b'~' => ByteClass::Join,
            _ if b.is_ascii_alphanumeric() => ByteClass::Run,
            _ => ByteClass::Apart,
        };
        byte += 1;
    }
    table
};

/// Whether a token is an identifier, path or flag rather than hyphenated words or a number.
pub(super) fn is_code(token: &str) -> bool {
    let bytes = token.as_bytes();
    let alnum = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b >= 128);
    let inside = |at: usize| at > 0 && alnum(at - 1) && alnum(at + 1);
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    steps::count(bytes.len());
    let joined = (0..bytes.len()).any(|at| match bytes[at] {
        b'_' | b'.' | b'/' | b'@' => inside(at),
        b':' => bytes.get(at + 1) == Some(&b':') && at > 0 && alnum(at - 1) && alnum(at + 2),
        b'-' => inside(at) && has_digit,
        _ => false,
    });
    let flag = token.strip_prefix("--").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    let language =
        token.len() <= 4 && bytes.first().is_some_and(u8::is_ascii_alphabetic) && (token.ends_with("++") || token.ends_with('#'));
    joined || flag || language
}

/// The parts of `camelCase` and `HTTPServer`; none for a word with only one part.
pub(super) fn camel_parts(run: &str) -> impl Iterator<Item = &str> {
    let bytes = run.as_bytes();
    let breaks = |at: &usize| {
        let (before, here, after) = (bytes[at - 1], bytes[*at], bytes.get(at + 1));
        here.is_ascii_uppercase()
            && (before.is_ascii_lowercase() || (before.is_ascii_uppercase() && after.is_some_and(u8::is_ascii_lowercase)))
    };
    let mut ends: Vec<usize> = (1..bytes.len()).filter(breaks).collect();
    if !ends.is_empty() {
        ends.push(bytes.len());
    }
    let mut start = 0;
    ends.into_iter().filter_map(move |end| {
        let part = &run[start..end];
        start = end;
        (part.len() > 1).then_some(part)
    })
}

/// Folds a run: compatibility decomposition, lower case, no accents.
pub(super) fn fold(run: &str) -> String {
    run.nfkd().filter(|c| !is_accent(*c)).nfc().flat_map(char::to_lowercase).filter(|c| !is_accent(*c)).collect()
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    /// Spaces between words.
    Spaced,
    /// No spaces: pairs of characters.
    Unspaced,
    Emoji,
    None,
}

fn script(c: char) -> Script {
    match c {
        c if is_unspaced(c) => Script::Unspaced,
        // Skin tones mean nothing alone.
        '\u{1f3fb}'..='\u{1f3ff}' => Script::None,
        '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}'
        | '\u{2600}'..='\u{27bf}'
        | '\u{2b00}'..='\u{2bff}'
        | '\u{1f000}'..='\u{1faff}' => Script::Emoji,
        _ if c.is_alphanumeric() || is_mark(c) => Script::Spaced,
        _ => Script::None,
    }
}

/// Whether a character is a vowel sign of an Indic script.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{dff}')
}

/// Splits a folded run into words, pairs and emoji.
pub(super) fn by_script(folded: &str) -> Vec<ScriptPart> {
    let chars: Vec<char> = folded.chars().collect();
    let mut parts = Vec::new();
    for group in chars.chunk_by(|a, b| script(*a) == script(*b)) {
        match script(group[0]) {
            Script::None => {}
            Script::Spaced => parts.push(ScriptPart::Word(group.iter().collect())),
            Script::Emoji => parts.extend(group.iter().map(|c| ScriptPart::Word(c.to_string()))),
            Script::Unspaced if group.len() == 1 => parts.push(ScriptPart::Word(group[0].to_string())),
            Script::Unspaced => {
                parts.extend(group.windows(2).map(|pair| ScriptPart::Pair(pair.iter().collect())));
                parts.extend(group.iter().map(|c| ScriptPart::Single(c.to_string())));
            }
        }
    }
    parts
}
