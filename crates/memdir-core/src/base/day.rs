//! Parses calendar days as people write them in notes, and months or years alone. Never reads the clock.

use std::num::NonZeroU32;

/// The English names of the months, in lower case.
pub const MONTHS: [&str; 12] =
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];
/// The English names of the days of a week, from Monday, in lower case.
pub const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Whether bytes begin in the form of a date such as `2026-03-05`, whatever its numbers are.
pub fn starts_with_date(bytes: &[u8]) -> bool {
    let has_form = |(at, byte): (usize, &u8)| if at == 4 || at == 7 { *byte == b'-' } else { byte.is_ascii_digit() };
    bytes.get(..10).is_some_and(|date| date.iter().enumerate().all(has_form))
}

/// A year with an optional month and day. Ordered by time; a missing part comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Day {
    /// 1900 to 2099.
    pub year: u16,
    /// 1 to 12; 0 when unknown.
    pub month: u8,
    /// 1 to 31; 0 when unknown.
    pub day: u8,
}

impl Day {
    /// Creates a day; `None` if its parts are out of range.
    pub fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let fits = (1900..=2099).contains(&year) && month <= 12 && day <= 31 && (day == 0 || month != 0);
        fits.then_some(Day { year: year as u16, month: month as u8, day: day as u8 })
    }

    /// Finds the first day in `text`: `2023-05-25`, `2022/05/15`, `20230525`, `25 May, 2023`, `May 25th 2023`, `May 2023`.
    pub fn find(text: &str) -> Option<Self> {
        let words = split_words(text);
        (0..words.len()).find_map(|at| numeric(&words[at..]).or_else(|| written(&words[at..])))
    }

    /// Packs the day into one number that sorts by time.
    pub fn pack(self) -> NonZeroU32 {
        let packed = u32::from(self.year) << 9 | u32::from(self.month) << 5 | u32::from(self.day);
        NonZeroU32::new(packed).unwrap_or(NonZeroU32::MIN)
    }

    /// Reverses [`Day::pack`]; `None` for an invalid number.
    pub fn unpack(packed: u32) -> Option<Self> {
        Day::new(packed >> 9, packed >> 5 & 15, packed & 31)
    }
}

/// The month and year in a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NamedTime {
    /// 1 to 12.
    pub month: Option<u8>,
    /// As in [`Day::year`].
    pub year: Option<u16>,
}

impl NamedTime {
    /// Finds the first month and the first year in a text. `may` and `march` are months only if they are capitalized or beside a
    /// number or `in`: they are verbs more often.
    pub fn find(text: &str) -> Self {
        let words = split_words(text);
        let mut named = NamedTime::default();
        for (at, word) in words.iter().enumerate() {
            if named.year.is_none() && word.after != Some(':') {
                named.year = year(word.text);
            }
            let before = at.checked_sub(1).map(|i| words[i].text);
            let after = words.get(at + 1).map(|w| w.text);
            if named.month.is_none() && month(word.text).is_some() && is_month_here(word.text, before, after) {
                named.month = month(word.text);
            }
        }
        named
    }

    /// Whether there is a month or a year.
    pub fn is_some(self) -> bool {
        self.month.is_some() || self.year.is_some()
    }

    /// Scores the date of a unit: 1 if every given part matches, 2 if both month and year are given and match.
    pub fn matches(self, day: Option<Day>) -> f32 {
        let Some(day) = day.filter(|_| self.is_some()) else { return 0.0 };
        let month = self.month.map(|m| m == day.month);
        let year = self.year.map(|y| y == day.year);
        match (month, year) {
            (Some(true), Some(true)) => 2.0,
            (Some(true), None) | (None, Some(true)) => 1.0,
            _ => 0.0,
        }
    }
}

/// A run of letters and digits, with the character after it.
struct DayWord<'a> {
    text: &'a str,
    after: Option<char>,
}

fn split_words(text: &str) -> Vec<DayWord<'_>> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (c.is_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                push_split(&text[from..at], Some(c), &mut words);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        push_split(&text[from..], None, &mut words);
    }
    words
}

/// Adds a word, split where a time follows a day (`25T13`).
fn push_split<'a>(text: &'a str, after: Option<char>, words: &mut Vec<DayWord<'a>>) {
    match text.split_once('T') {
        Some((day, time)) if !day.is_empty() && day.bytes().chain(time.bytes()).all(|b| b.is_ascii_digit()) => {
            words.push(DayWord { text: day, after: Some('T') });
        }
        _ => words.push(DayWord { text, after }),
    }
}

/// `2023-05-25`, `2023/5`, `2023.05.25`, `2023_05_25`, `20230525`.
fn numeric(words: &[DayWord<'_>]) -> Option<Day> {
    let first = words.first()?;
    if first.text.len() == 8 && first.text.bytes().all(|b| b.is_ascii_digit()) {
        let part = |range: std::ops::Range<usize>| first.text[range].parse::<u32>().ok();
        return Day::new(part(0..4)?, part(4..6).filter(|m| *m > 0)?, part(6..8).filter(|d| *d > 0)?);
    }
    let year = year(first.text)?;
    let joined = |word: &DayWord<'_>| matches!(word.after, Some('-' | '/' | '.' | '_'));
    let month = words.get(1).filter(|_| joined(first)).and_then(|w| part(w.text, 12))?;
    let day = words.get(2).filter(|_| words.get(1).is_some_and(joined)).and_then(|w| part(w.text, 31));
    Day::new(year.into(), month, day.unwrap_or(0))
}

/// `25 May, 2023`, `25th of May 2023`, `May 25, 2023`, `May 2023`.
fn written(words: &[DayWord<'_>]) -> Option<Day> {
    let number = |at: usize| words.get(at).and_then(|w| part(w.text.trim_end_matches(|c: char| c.is_ascii_alphabetic()), 31));
    let month_at = |at: usize| words.get(at).and_then(|w| month(w.text)).map(u32::from);
    let year_at = |at: usize| words.get(at).and_then(|w| year(w.text)).map(u32::from);
    if let Some(month) = month_at(0) {
        return match (number(1), year_at(1), year_at(2)) {
            (_, Some(year), _) => Day::new(year, month, 0),
            (Some(day), None, Some(year)) => Day::new(year, month, day),
            _ => None,
        };
    }
    let day = number(0)?;
    let at = if words.get(1).is_some_and(|w| w.text == "of") { 2 } else { 1 };
    Day::new(year_at(at + 1)?, month_at(at)?, day)
}

/// A number of one or two digits, from 1 to `most`.
fn part(text: &str, most: u32) -> Option<u32> {
    let short = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|n| short && (1..=most).contains(n))
}

fn year(text: &str) -> Option<u16> {
    let plain = text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|y| plain && (1900..=2099).contains(y))
}

/// Returns the number of an English month name, complete or by its first three letters (or `sept`).
fn month(text: &str) -> Option<u8> {
    if !(3..=9).contains(&text.len()) || !text.is_ascii() {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let at = MONTHS.iter().position(|m| *m == lower || m[..3] == lower || (lower == "sept" && m.starts_with("sept")))?;
    Some(at as u8 + 1)
}

/// Whether a word that can be a month is one, judged by the words beside it.
fn is_month_here(word: &str, before: Option<&str>, after: Option<&str>) -> bool {
    let is_number = |w: &str| w.bytes().next().is_some_and(|b| b.is_ascii_digit());
    let beside = before.is_some_and(|w| {
        is_number(w) || matches!(w.to_ascii_lowercase().as_str(), "in" | "of" | "since" | "until" | "last" | "early" | "late")
    }) || after.is_some_and(is_number);
    match word.to_ascii_lowercase().as_str() {
        "may" | "mar" | "march" | "dec" | "jan" | "sep" | "jun" => {
            beside || (before.is_some() && word.starts_with(|c: char| c.is_ascii_uppercase()))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn find_day(text: &str) -> Option<(u16, u8, u8)> {
        Day::find(text).map(|d| (d.year, d.month, d.day))
    }

    #[test]
    fn days_are_found_as_people_write_them() {
        for (text, day) in [
            ("2023-05-25T13:14", (2023, 5, 25)),
            ("2022/05/15 (Sun) 16:58", (2022, 5, 15)),
            ("Conversation of A and B, 1:14 pm on 25 May, 2023", (2023, 5, 25)),
            ("notes_2024_03_09", (2024, 3, 9)),
            ("20240309-standup", (2024, 3, 9)),
            ("the 3rd of June 1999", (1999, 6, 3)),
            ("May 25th, 2023", (2023, 5, 25)),
            ("Sept 2021", (2021, 9, 0)),
            ("2024-07", (2024, 7, 0)),
        ] {
            assert_eq!(find_day(text), Some(day), "{text}");
        }
        for text in ["", "version 2.5.1", "room 2023", "99999999", "20241340", "25 people", "May 25"] {
            assert_eq!(find_day(text), None, "{text}");
        }
    }

    #[test]
    fn questions_name_months_and_years() {
        let named = |text| (NamedTime::find(text).month, NamedTime::find(text).year);
        assert_eq!(named("What did she do in May 2023?"), (Some(5), Some(2023)));
        assert_eq!(named("which bike did I buy in february"), (Some(2), None));
        assert_eq!(named("may I march on?"), (None, None));
        assert_eq!(named("How many people were there in 1999"), (None, Some(1999)));
        assert_eq!(named("what came in march"), (Some(3), None));
    }

    #[test]
    fn a_date_answers_the_parts_that_were_named() {
        let day = Day::new(2023, 5, 25);
        let named = |month, year| NamedTime { month, year }.matches(day);
        assert_eq!(named(Some(5), Some(2023)), 2.0);
        assert_eq!(named(Some(5), None), 1.0);
        assert_eq!(named(Some(5), Some(2022)), 0.0);
        assert_eq!(named(None, None), 0.0);
        assert_eq!(NamedTime { month: Some(5), year: None }.matches(None), 0.0);
    }

    proptest! {
        #[test]
        fn any_text_is_searched_for_days(text in ".*") {
            let _ = NamedTime::find(&text);
            if let Some(day) = Day::find(&text) {
                prop_assert_eq!(Day::unpack(day.pack().get()), Some(day));
            }
        }
    }
}
