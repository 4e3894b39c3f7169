//! Pre-tokenization: splits text into words as the model's vocabulary has them, in lower case, without accents, with punctuation
//! and CJK characters as words of their own. Pure; independent of the vocabulary.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Calls `each` with every normalised word of a text. `buffer` is scratch space.
///
/// White space and ASCII punctuation always end a word, so only the runs between them need a closer look, and most of those are
/// plain ASCII.
pub(crate) fn for_each_word(text: &str, buffer: &mut String, each: &mut dyn FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        let (end, plain) = run_end(bytes, start);
        if plain && end > start {
            buffer.clear();
            buffer.push_str(&text[start..end]);
            buffer.make_ascii_lowercase();
            each(buffer);
        } else if end > start {
            non_ascii_words(&text[start..end], buffer, each);
        }
        if end < bytes.len() && bytes[end].is_ascii_punctuation() {
            each(&text[end..=end]);
        }
        start = end + 1;
    }
}

/// The end of the run that begins at `start`, and whether it consists of ASCII letters and digits only.
fn run_end(bytes: &[u8], start: usize) -> (usize, bool) {
    let mut plain = true;
    let mut end = start;
    while end < bytes.len() {
        match KINDS[usize::from(bytes[end])] {
            ByteKind::End => break,
            ByteKind::Other => plain = false,
            ByteKind::Plain => {}
        }
        end += 1;
    }
    (end, plain)
}

#[derive(Clone, Copy)]
enum ByteKind {
    Plain,
    /// Ends a run, and is one byte long: white space and ASCII punctuation.
    End,
    /// Needs a closer look: other scripts, and control characters, which are removed.
    Other,
}

static KINDS: [ByteKind; 256] = {
    let mut kinds = [ByteKind::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        if b.is_ascii_alphanumeric() {
            kinds[byte] = ByteKind::Plain;
        } else if b.is_ascii_punctuation() || matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
            kinds[byte] = ByteKind::End;
        }
        byte += 1;
    }
    kinds
};

/// Calls `each` with the words of a run that is not plain ASCII.
fn non_ascii_words(run: &str, buffer: &mut String, each: &mut dyn FnMut(&str)) {
    buffer.clear();
    let visible = run.chars().filter(|c| !is_removed(*c)).flat_map(isolated);
    let letters = visible.nfd().filter(|c| c.general_category() != GeneralCategory::NonspacingMark);
    buffer.extend(letters.flat_map(char::to_lowercase));
    for word in buffer.split(char::is_whitespace) {
        let mut rest = word;
        while let Some((at, mark)) = rest.char_indices().find(|(_, c)| is_punctuation(*c)) {
            if at > 0 {
                each(&rest[..at]);
            }
            each(&rest[at..at + mark.len_utf8()]);
            rest = &rest[at + mark.len_utf8()..];
        }
        if !rest.is_empty() {
            each(rest);
        }
    }
}

/// Whether a character is removed, which joins what is around it: control, format and private-use characters. The four control
/// characters that are white space have ended the run before.
fn is_removed(c: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    c == '\u{fffd}' || matches!(c.general_category(), Control | Format | PrivateUse)
}

/// Surrounds a CJK character with blanks.
fn isolated(c: char) -> impl Iterator<Item = char> {
    let blank = is_cjk(c).then_some(' ');
    blank.into_iter().chain([c]).chain(blank)
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// Whether a character is an ideograph to the source model's tokenizer; kana and Hangul are letters.
fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}' | '\u{2b740}'..='\u{2b81f}' | '\u{2b920}'..='\u{2ceaf}' | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str) -> Vec<String> {
        let (mut all, mut buffer) = (Vec::new(), String::new());
        for_each_word(text, &mut buffer, &mut |w| all.push(w.to_owned()));
        all
    }

    #[test]
    fn words_are_split_and_normalised() {
        assert_eq!(split("Hello, World_2!"), ["hello", ",", "world", "_", "2", "!"]);
        assert_eq!(split("Zürich—naïve…"), ["zurich", "—", "naive", "…"]);
        assert_eq!(split("東京tower カナ"), ["東", "京", "tower", "カナ"]);
        assert_eq!(split("a\u{a0}b\u{3000}c\u{2028}d"), ["a", "b", "c", "d"]);
        assert_eq!(split("a\u{0}b\u{200d}c\u{c}d \u{feff} \u{ad}"), ["abcd"]);
        assert_eq!(split("€5 x→y"), ["€5", "x→y"]);
        assert_eq!(split("ΑΣ İ Ǆ"), ["ασ", "i", "ǆ"]);
        assert_eq!(split(" \t\r\n"), [] as [&str; 0]);
    }

    proptest! {
        #[test]
        fn cutting_at_white_space_and_ascii_punctuation_changes_nothing(parts in prop::collection::vec("\\PC{0,8}[ -/:-@\\[-`{-~\n]", 0..8)) {
            let together = split(&parts.concat());
            let apart: Vec<String> = parts.iter().flat_map(|p| split(p)).collect();
            prop_assert_eq!(together, apart);
        }
    }
}
