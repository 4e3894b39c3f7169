//! Splits a message into sentences.

/// Splits a message into sentences at sentence marks, line ends and list items. Names with dots in them stay whole.
pub fn sentences(message: &str) -> impl Iterator<Item = &str> {
    message.lines().flat_map(parts).map(str::trim).filter(|part| part.contains(char::is_alphanumeric))
}

fn parts(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().find_map(|(at, c)| sentence_end(rest, at, c)).unwrap_or(rest.len());
        let part = &rest[..end];
        rest = &rest[end..];
        Some(part)
    })
}

/// The end of the sentence if the character at `at` ends it.
fn sentence_end(text: &str, at: usize, c: char) -> Option<usize> {
    let end = at + c.len_utf8();
    match c {
        '。' | '！' | '？' => Some(end),
        '.' | '!' | '?' | ';' => (text[end..].is_empty() || text[end..].starts_with(char::is_whitespace)).then_some(end),
        _ => None,
    }
}
