//! Finds relative dates: "yesterday", "next week", "by Friday".

use crate::{
    base::{
        day::{MONTHS, WEEKDAYS, starts_with_date},
        steps,
    },
    memory::lines::FenceScanner,
};
use std::borrow::Cow;

/// A relative date in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelativeDate {
    /// The line it is on, 1-based.
    pub line: u64,
    /// The date as written.
    pub words: String,
}

/// Returns every relative date outside code and quotes, on lines without an absolute date.
pub fn relative_dates(text: &str) -> Vec<RelativeDate> {
    let mut out = Vec::new();
    let mut fences = FenceScanner::default();
    for (line, content) in (1..).zip(text.lines()) {
        steps::count(content.len());
        if !fences.is_code(content) && !has_date(content) {
            let words: Vec<DateWord<'_>> = split_words(content).collect();
            out.extend(find(content, &words).into_iter().map(|words| RelativeDate { line, words }));
        }
    }
    out
}

/// A word with its offset, and whether it is quoted or code.
struct DateWord<'a> {
    at: usize,
    text: &'a str,
    lower: Cow<'a, str>,
    quoted: bool,
}

fn split_words(line: &str) -> impl Iterator<Item = DateWord<'_>> {
    let mut code = false;
    let mut quoted = false;
    line.split_inclusive(|c: char| !c.is_alphanumeric() && c != '\'')
        .scan(0, move |at, piece| {
            let text = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
            let word = DateWord { at: *at, text, lower: lower_case(text), quoted: code || quoted };
            for c in piece[text.len()..].chars() {
                code ^= c == '`';
                quoted = match c {
                    '"' => !quoted,
                    '“' | '„' => true,
                    '”' => false,
                    _ => quoted,
                };
            }
            *at += piece.len();
            Some(word)
        })
        .filter(|word| !word.text.is_empty())
}

/// Most words are in lower case already: a copy of every word of every memory would take longer than the search.
fn lower_case(text: &str) -> Cow<'_, str> {
    let is_lower = text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_lower { text.into() } else { text.to_lowercase().into() }
}

fn find(line: &str, words: &[DateWord<'_>]) -> Vec<String> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let length = if words[at].quoted { 0 } else { length(&words[at..]) };
        if length > 0 {
            let last = &words[at + length - 1];
            out.push(line[words[at].at..last.at + last.text.len()].to_owned());
        }
        at += length.max(1);
    }
    out
}

/// The number of words that form a relative date at the beginning of `words`.
fn length(words: &[DateWord<'_>]) -> usize {
    let word = |n: usize| words.get(n).map_or("", |word| &*word.lower);
    let is_amount = |text: &str| text.parse::<u32>().is_ok() || AMOUNTS.contains(&text);
    match word(0) {
        "yesterday" | "tomorrow" | "tonight" => 1,
        // "Today" also begins sentences that are true on any day, such as "Today's users" or "today the default".
        "today" if !matches!(word(1), "s" | "the") => 1,
        "last" | "next" | "this" | "past" | "previous" | "coming"
            if UNITS.contains(&word(1)) || is_day(word(1)) || words.get(1).is_some_and(is_month) =>
        {
            2
        }
        "by" | "until" | "since" | "till" if is_day(word(1)) => 2,
        "in" if is_amount(word(1)) && SPANS.contains(&word(2)) && word(3) != "of" => 3,
        "a" if word(1) == "few" && SPANS.contains(&word(2)) && word(3) == "ago" => 4,
        "couple" if word(1) == "of" && SPANS.contains(&word(2)) && word(3) == "ago" => 4,
        first if is_amount(first) && SPANS.contains(&word(1)) && word(2) == "ago" => 3,
        _ => 0,
    }
}

const UNITS: &[&str] = &[
    "week", "weekend", "month", "quarter", "year", "sprint", "morning", "afternoon", "evening", "night", "spring", "summer", "autumn",
    "winter",
];
const SPANS: &[&str] = &["day", "days", "week", "weeks", "month", "months", "quarter", "quarters", "year", "years"];
const AMOUNTS: &[&str] = &["a", "an", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "several"];

fn is_day(word: &str) -> bool {
    WEEKDAYS.contains(&word)
}

/// Whether a word is a month. "This may" and "the next march" are about something else.
fn is_month(word: &DateWord<'_>) -> bool {
    let is_ambiguous = matches!(&*word.lower, "may" | "march" | "august");
    MONTHS.contains(&&*word.lower) && (!is_ambiguous || word.text.starts_with(char::is_uppercase))
}

/// Whether a line contains a date such as 2026-03-05, which makes a relative one clear.
fn has_date(line: &str) -> bool {
    line.as_bytes().windows(10).any(starts_with_date)
}

#[cfg(test)]
mod tests {
    use super::relative_dates;

    fn relative_dates_in(text: &str) -> Vec<(u64, String)> {
        relative_dates(text).into_iter().map(|date| (date.line, date.words)).collect()
    }

    #[test]
    fn relative_dates_are_found_with_their_words() {
        let text = "We shipped yesterday, again Next Tuesday.\nDue by Friday; frozen since Monday.\n\
                    In two weeks the freeze ends, decided 3 days ago (a few weeks ago?).\nThis sprint and last March, this May.";
        let expected = [
            (1, "yesterday"),
            (1, "Next Tuesday"),
            (2, "by Friday"),
            (2, "since Monday"),
            (3, "In two weeks"),
            (3, "3 days ago"),
            (3, "a few weeks ago"),
            (4, "This sprint"),
            (4, "last March"),
            (4, "this May"),
        ];
        assert_eq!(relative_dates_in(text), expected.map(|(line, words)| (line, words.to_owned())));
    }

    #[test]
    fn what_holds_on_every_day_is_left_alone() {
        let quiet = [
            "Deploys happen on Fridays, never on Monday.",
            "The next step and the last time; this memory; next.js; the last line.",
            "Shipped yesterday (2026-03-04).",
            "Write \"Thursday next week\" as a date; `yesterday()` and 'by' stay.",
            "```\nyesterday\n```",
            "Kept for 30 days, within two weeks, 5 minutes ago, in a day of work.",
            "“last week” is what they say",
            "This may fail, and this march takes days.",
        ];
        for text in quiet {
            assert_eq!(relative_dates_in(text), [], "{text}");
        }
    }
}
