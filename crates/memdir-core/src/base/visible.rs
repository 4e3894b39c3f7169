//! Makes text safe for a terminal or a page: control characters are shown instead of interpreted. Memories, names and titles come from
//! cloned repositories, imports and other programs. A terminal interprets escape sequences from any source, and both reorder text at
//! bidirectional control characters. Pure.

use std::{borrow::Cow, fmt::Write as _};

/// Shows every character that would control the terminal or hide or reorder text: `^[` for a C0 control character as `cat -v` does,
/// `<U+202E>` for others. Line feeds, tabs and CR LF stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    replace(text, |c, out| {
        let _ = match c {
            '\0'..='\u{1f}' | '\u{7f}' => write!(out, "^{}", char::from(c as u8 ^ 0x40)),
            _ => write!(out, "<U+{:04X}>", u32::from(c)),
        };
    })
}

/// Shows the same characters in a cell of a table, and line feeds and tabs too.
pub fn visible_cell(text: &str) -> String {
    visible(text).replace("\r\n", "^M^J").replace('\n', "^J").replace('\t', "^I")
}

/// Escapes the same characters in JSON text, where they can only occur inside of strings. The value stays the same.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    replace(json, |c, out| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

/// Decodes a text and shows the bytes that are not valid UTF-8 in hexadecimal, as in `<0xE9>`.
pub fn visible_bytes(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(out, "<0x{byte:02X}>");
        }
    }
    Cow::Owned(out)
}

fn replace(text: &str, show: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let is_kept = |at: usize, c: char| matches!(c, '\n' | '\t') || text[at..].starts_with("\r\n");
    let is_shown = |(at, c): &(usize, char)| is_hidden(*c) && !is_kept(*at, *c);
    let Some((first, _)) = text.char_indices().find(is_shown) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for (at, c) in text[first..].char_indices().map(|(at, c)| (first + at, c)) {
        if is_shown(&(at, c)) { show(c, &mut out) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Whether a character controls the terminal, or hides or reorders text. Joiners, direction marks and variation selectors are needed to
/// write many languages and emoji, and stay.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Zero-width space, word joiner and invisible operators, byte order mark, Mongolian vowel separator.
            '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{180e}'
            // Line and paragraph separators.
            | '\u{2028}' | '\u{2029}'
            // Bidirectional embeddings, overrides and isolates, and deprecated format characters.
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            // Interlinear annotations and tags, which spell text that is not displayed.
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_are_shown_and_text_stays() {
        for (text, shown) in [
            ("a\u{1b}]52;c;eA==\u{7}b", "a^[]52;c;eA==^Gb"),
            ("\u{9b}2J\u{9d}0;x\u{9c}\u{7f}\0", "<U+009B>2J<U+009D>0;x<U+009C>^?^@"),
            ("one\r\ntwo\tthree\n", "one\r\ntwo\tthree\n"),
            ("hidden\rshown\u{8}", "hidden^Mshown^H"),
            ("a\u{202e}b\u{2066}c\u{200b}d\u{2028}e", "a<U+202E>b<U+2066>c<U+200B>d<U+2028>e"),
            ("\u{e0041}\u{feff}", "<U+E0041><U+FEFF>"),
            (
                "Ünïcödé 日本 نمی\u{200c}خواهم 👩\u{200d}💻 ❤\u{fe0f} שלום\u{200f}",
                "Ünïcödé 日本 نمی\u{200c}خواهم 👩\u{200d}💻 ❤\u{fe0f} שלום\u{200f}",
            ),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(visible_bytes(b"caf\xe9 \xe2\x82 ok\n"), "caf<0xE9> <0xE2><0x82> ok\n");
        assert_eq!(visible_cell("a\nb\tc\r\nd"), "a^Jb^Ic^M^Jd");
        assert_eq!(visible_json("{\"a\": \"\u{9b}\u{202e}\u{e0041}é\"}"), r#"{"a": "\u009b\u202e\udb40\udc41é"}"#);
    }

    proptest! {
        #[test]
        fn showing_is_idempotent_and_json_keeps_its_value(text in "\\PC*|[\u{0}-\u{a0}\u{2000}-\u{2070}\u{fff0}-\u{ffff}]{0,40}") {
            let shown = visible(&text).into_owned();
            prop_assert!(shown.replace("\r\n", "\n").chars().all(|c| !is_hidden(c) || c == '\n' || c == '\t'));
            prop_assert_eq!(visible(&shown), &*shown);
            let json = serde_json::to_string_pretty(&serde_json::json!({ "text": text })).unwrap();
            let value: serde_json::Value = serde_json::from_str(&visible_json(&json)).unwrap();
            prop_assert_eq!(value["text"].as_str(), Some(&*text));
        }
    }
}
