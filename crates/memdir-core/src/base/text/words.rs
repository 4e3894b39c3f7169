//! The words of a text. Pure.

/// Returns the runs of letters and digits of a text in lower case.
pub fn lower_case_words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns a text on one line, with one blank between words.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Splits a line into sentences, each with the mark that ends it: one of these `marks` before a blank, or a full-width one. Names with dots
/// in them stay whole. A sentence has a letter or a digit.
pub fn sentences<'t>(line: &'t str, marks: &'static str) -> impl Iterator<Item = &'t str> {
    let mut rest = line;
    let sentences = std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().find_map(|(at, c)| sentence_end(rest, at, c, marks)).unwrap_or(rest.len());
        let (sentence, left) = rest.split_at(end);
        rest = left;
        Some(sentence.trim())
    });
    sentences.filter(|sentence| sentence.contains(char::is_alphanumeric))
}

/// The end of the sentence if the character at `at` ends it.
fn sentence_end(text: &str, at: usize, c: char, marks: &str) -> Option<usize> {
    let end = at + c.len_utf8();
    match c {
        '。' | '！' | '？' => Some(end),
        c if c.is_ascii_punctuation() && marks.contains(c) => {
            (text[end..].is_empty() || text[end..].starts_with(char::is_whitespace)).then_some(end)
        }
        _ => None,
    }
}

/// Whether a character belongs to a script without spaces between words. The search index splits words by it: a change of this set
/// needs a new version of the index. Hangul is treated alike, because its particles are attached without a space.
pub fn is_unspaced(c: char) -> bool {
    matches!(
        c,
        '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1100}'..='\u{11ff}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3041}'..='\u{30fa}'
            | '\u{30fc}'..='\u{318f}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{a960}'..='\u{a97f}'
            | '\u{ac00}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{323af}'
    )
}
