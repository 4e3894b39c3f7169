//! Makes relative dates absolute. The day on which a line was written comes from the journal, else from the dated heading above it, the
//! frontmatter or the name of the memory, else from its file, unless that was copied together with others.

use super::{
    DreamAction, DreamChange, DreamOperation, DreamReason,
    material::{Material, MaterialFile},
};
use crate::{
    base::{
        day::{Day, MONTHS, WEEKDAYS},
        path::MemoryPath,
        version::Version,
    },
    memory::lines,
    operations::check::{RelativeDate, relative_dates},
    store::{ChangeFilter, Store, Verb},
};
use jiff::{
    ToSpan as _,
    civil::{Date, Weekday},
    tz::TimeZone,
};
use std::collections::{HashMap, HashSet};

/// Changes of the history in which a dream looks for the day on which a line was written.
const DREAM_CHANGES: usize = 50_000;

/// The most dates of one memory; the rest follows with the next plan.
const MOST_DATES: usize = 50;
/// The versions of one memory in which the first one with a line is looked for.
const MOST_VERSIONS: usize = 50;

/// Returns the proposed updates.
pub(super) fn find(store: &dyn Store, material: &Material, zone: &TimeZone) -> Vec<DreamOperation> {
    let copied = copied_times(material);
    let dated: Vec<(&MaterialFile, Vec<RelativeDate>)> =
        material.files.iter().map(|file| (file, dates_of(file))).filter(|(_, dates)| !dates.is_empty()).collect();
    let recorded = recorded(store, dated.iter().map(|(file, _)| &file.path).collect());
    let updates = dated.iter().filter_map(|(file, dates)| {
        let versions = recorded.get(&file.path).map_or_else(Vec::new, |recorded| versions(store, file, recorded));
        absolute(file, dates, &versions, zone, &copied)
    });
    updates.collect()
}

/// The relative dates in the body of a memory.
fn dates_of(file: &MaterialFile) -> Vec<RelativeDate> {
    let first = file.memory.body_first_line();
    relative_dates(file.memory.text()).into_iter().filter(|date| date.line >= first).take(MOST_DATES).collect()
}

/// The seconds in which several files were written: the time of a copy, a checkout or a restored backup, not of the texts.
fn copied_times(material: &Material) -> HashSet<i64> {
    let mut seen = HashSet::new();
    material.files.iter().map(second_of).filter(|second| !seen.insert(*second)).collect()
}

fn second_of(file: &MaterialFile) -> i64 {
    file.file_ns.div_euclid(1_000_000_000)
}

fn absolute(
    file: &MaterialFile,
    dates: &[RelativeDate],
    versions: &[WrittenText],
    zone: &TimeZone,
    copied: &HashSet<i64>,
) -> Option<DreamOperation> {
    let text = file.memory.text();
    let originals: Vec<&str> = text.split_inclusive('\n').collect();
    let mut lines: Vec<String> = originals.iter().map(|line| (*line).to_owned()).collect();
    let sections = section_days(text);
    let (mut made, mut is_certain) = (Vec::new(), true);
    for date in dates {
        let number = usize::try_from(date.line).ok()?.checked_sub(1)?;
        // The line as it was written: an earlier date on it may be absolute already.
        let original = originals.get(number)?;
        let known = written_on(versions, original).map(|at| at.to_zoned(zone.clone()).date());
        let known = known.or_else(|| sections.get(number).copied().flatten()).or_else(|| own_day(file, zone));
        // "Today" often means "nowadays"; without a date above it or in the name it is left alone.
        let is_today = date.words.eq_ignore_ascii_case("today");
        let is_dated = || sections.get(number).copied().flatten().or_else(|| named_day(file.name())).is_some();
        let is_unknown = (known.is_none() && copied.contains(&second_of(file))) || (is_today && !is_dated());
        if is_unknown || is_duration(&date.words, original) || is_timeless(&date.words, original) {
            continue;
        }
        let written = known.unwrap_or_else(|| file.at.to_zoned(zone.clone()).date());
        is_certain &= known.is_some();
        let line = lines.get_mut(number)?;
        let Some(at) = line.find(&date.words) else { continue };
        let end = at + date.words.len();
        let Some(absolute) = resolve(&date.words, written).filter(|_| !line[end..].starts_with(['\'', '’'])) else { continue };
        let absolute = fitted(&absolute, &line[..at], &date.words);
        made.push(format!("{:?} is {absolute:?}", date.words));
        line.replace_range(at..end, &absolute);
    }
    if made.is_empty() {
        return None;
    }
    Some(DreamOperation {
        action: DreamAction::Update,
        reason: DreamReason::RelativeDate,
        why: format!("{}: {}", file.name(), made.join(", ")),
        // The time of a file is often that of a copy or a checkout.
        confidence: if is_certain { 85 } else { 40 },
        sources: Vec::new(),
        changes: vec![DreamChange::Write { path: file.path.clone(), version: file.version, text: lines.concat() }],
        diff: String::new(),
    })
}

/// The day of the frontmatter, or the one in the memory's name.
fn own_day(file: &MaterialFile, zone: &TimeZone) -> Option<Date> {
    file.memory.own_date().map(|at| at.to_zoned(zone.clone()).date()).or_else(|| named_day(file.name()))
}

/// The first whole day in a text.
fn named_day(text: &str) -> Option<Date> {
    let day = Day::find(text).filter(|day| day.day > 0)?;
    Date::new(i16::try_from(day.year).ok()?, i8::try_from(day.month).ok()?, i8::try_from(day.day).ok()?).ok()
}

/// For each line, the day in the nearest heading above it, or in a line in bold that is used as a heading.
fn section_days(text: &str) -> Vec<Option<Date>> {
    // The headings above the line, outermost first.
    let mut above: Vec<(u8, Option<Date>)> = Vec::new();
    let (mut bold, mut out) = (None, Vec::new());
    for line in text.lines() {
        out.push(bold.or_else(|| above.iter().rev().find_map(|(_, day)| *day)));
        if let Some(heading) = lines::heading(line) {
            above.retain(|(level, _)| *level < heading.level);
            above.push((heading.level, named_day(heading.text)));
            bold = None;
        } else if let Some(rest) = line.trim_start().strip_prefix("**") {
            bold = named_day(rest.split("**").next().unwrap_or_default()).or(bold);
        }
    }
    out
}

/// Whether `in two weeks` is how long something took: nothing on the line is about the future.
fn is_duration(words: &str, line: &str) -> bool {
    let starts_with_in = words.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("in"));
    starts_with_in && !line.split(|c: char| !c.is_alphanumeric()).any(|word| AHEAD.contains(&word.to_lowercase().as_str()))
}

/// Whether the sentence of a date is about every day, or is an instruction: then the words are not about the day of writing.
fn is_timeless(words: &str, line: &str) -> bool {
    let Some(at) = line.find(words) else { return false };
    let start = line[..at].rfind(". ").map_or(0, |dot| dot + 2);
    let end = line[at..].find(". ").map_or(line.len(), |dot| at + dot);
    let in_words =
        |text: &str| text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect::<Vec<_>>();
    let (sentence, before) = (in_words(&line[start..end]), in_words(&line[start..at]));
    sentence.iter().any(|word| TIMELESS.contains(&word.as_str()))
        || before.last().is_some_and(|word| ["for", "than", "like"].contains(&word.as_str()))
        || sentence.first().is_some_and(|word| IMPERATIVES.contains(&word.as_str()))
        || line[at + words.len()..].starts_with(" by ")
}

/// Words of sentences that hold on every day.
const TIMELESS: [&str; 14] =
    ["every", "always", "never", "each", "whenever", "usually", "daily", "weekly", "if", "when", "unless", "any", "none", "nobody"];
/// First words of instructions.
const IMPERATIVES: [&str; 14] =
    ["run", "ask", "use", "check", "delete", "keep", "remind", "show", "report", "tell", "list", "print", "say", "write"];

/// Words of lines that look ahead at one event.
const AHEAD: [&str; 19] = [
    "will", "shall", "due", "deadline", "expires", "ends", "starts", "begins", "launches", "ships", "releases", "planned", "again",
    "renews", "opens", "closes", "moves", "retires", "leaves",
];

/// A text that a memory had, with the time at which it was written.
type WrittenText = (jiff::Timestamp, String);
/// A change of a memory: its time, what it was, and the version that it made.
type RecordedChange = (jiff::Timestamp, Verb, Option<Version>);

/// The changes of some memories, newest first. The history is read once: a change may have thousands of files, so that asking for each of
/// them takes quadratic time.
fn recorded<'a>(store: &dyn Store, wanted: HashSet<&'a MemoryPath>) -> HashMap<&'a MemoryPath, Vec<RecordedChange>> {
    let mut out: HashMap<&MemoryPath, Vec<RecordedChange>> = HashMap::new();
    if wanted.is_empty() {
        return out;
    }
    // Without a history, the dates of the files themselves count.
    for change in store.changes(&ChangeFilter { most: DREAM_CHANGES, ..ChangeFilter::default() }).unwrap_or_default() {
        for file in &change.files {
            if let Some(path) = wanted.get(&file.path) {
                out.entry(path).or_default().push((change.at, change.verb, file.after));
            }
        }
    }
    out
}

/// The texts that a memory had, oldest first, with the times at which they were written by a memdir process. The frontmatter's own
/// dates are better than the time of an import.
fn versions(store: &dyn Store, file: &MaterialFile, recorded: &[RecordedChange]) -> Vec<WrittenText> {
    let mut out = Vec::new();
    for (at, verb, after) in recorded.iter().take(MOST_VERSIONS).rev() {
        if matches!(verb, Verb::Import | Verb::Found | Verb::Rename) && out.is_empty() {
            return Vec::new();
        }
        let text = match after {
            Some(version) if *version == file.version => Some(file.memory.text().to_owned()),
            Some(version) => store.text_at(&file.path, *version).ok().flatten().map(|text| String::from_utf8_lossy(&text).into_owned()),
            None => None,
        };
        out.extend(text.map(|text| (*at, text)));
    }
    out
}

/// When a line was first written.
fn written_on(versions: &[WrittenText], line: &str) -> Option<jiff::Timestamp> {
    versions.iter().find(|(_, text)| text.contains(line.trim_end())).map(|(at, _)| *at)
}

/// The date as it fits the words before it: no second preposition, and a capital where one was.
fn fitted(absolute: &str, before: &str, words: &str) -> String {
    let last = before.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    let has_preposition = ["on", "in", "since", "by", "until", "till", "from", "before", "after", "of"].contains(&last.as_str());
    let bare = absolute.strip_prefix("on ").or_else(|| absolute.strip_prefix("in ")).filter(|_| has_preposition).unwrap_or(absolute);
    let mut chars = bare.chars();
    match chars.next() {
        Some(first) if words.starts_with(char::is_uppercase) => format!("{}{}", first.to_uppercase(), chars.as_str()),
        _ => bare.to_owned(),
    }
}

/// Resolves the words of a relative date that were written on a day; `None` if they name no certain day, week, month or year.
fn resolve(words: &str, day: Date) -> Option<String> {
    let lower = words.to_lowercase();
    let parts: Vec<&str> = lower.split_whitespace().collect();
    let on = |date: Date| Some(format!("on {date}"));
    match parts.as_slice() {
        ["yesterday"] | ["last", "night"] => on(day.yesterday().ok()?),
        ["tomorrow"] => on(day.tomorrow().ok()?),
        ["today" | "tonight"] | ["this", "morning" | "afternoon" | "evening"] => on(day),
        ["last" | "past" | "previous", unit] => relative_unit(unit, -1, day),
        ["this", unit] => relative_unit(unit, 0, day),
        ["next" | "coming", unit] => relative_unit(unit, 1, day),
        ["since", name] => Some(format!("since {}", day.nth_weekday(-1, weekday(name)?).ok()?)),
        [word @ ("by" | "until" | "till"), name] => Some(format!("{word} {}", day.yesterday().ok()?.nth_weekday(1, weekday(name)?).ok()?)),
        ["in", amount, unit] => shifted(number(amount)?, unit, day),
        [amount, unit, "ago"] => shifted(-number(amount)?, unit, day),
        _ => None,
    }
}

fn relative_unit(unit: &str, step: i64, day: Date) -> Option<String> {
    let moved = |span: jiff::Span| day.checked_add(span).ok();
    match unit {
        "week" => {
            let date = moved(step.weeks())?;
            let monday = date.tomorrow().ok()?.nth_weekday(-1, Weekday::Monday).ok()?;
            Some(format!("in the week of {monday}"))
        }
        "month" => Some(moved(step.months())?.strftime("in %Y-%m").to_string()),
        "year" => Some(moved(step.years())?.strftime("in %Y").to_string()),
        "quarter" => {
            let date = moved((3 * step).months())?;
            Some(format!("in {}-Q{}", date.year(), (date.month() - 1) / 3 + 1))
        }
        name => match (weekday(name), month(name)) {
            (Some(weekday), _) if step < 0 => Some(format!("on {}", day.nth_weekday(-1, weekday).ok()?)),
            (Some(weekday), _) if step == 0 => Some(format!("on {}", day.yesterday().ok()?.nth_weekday(1, weekday).ok()?)),
            (Some(weekday), _) => Some(format!("on {}", day.nth_weekday(1, weekday).ok()?)),
            (None, Some(month)) => {
                let year = match step {
                    -1 if month >= day.month() => day.year() - 1,
                    1 if month <= day.month() => day.year() + 1,
                    _ => day.year(),
                };
                Some(format!("in {year}-{month:02}"))
            }
            _ => None,
        },
    }
}

fn shifted(amount: i64, unit: &str, day: Date) -> Option<String> {
    match unit.trim_end_matches('s') {
        "day" => Some(format!("on {}", day.checked_add(amount.days()).ok()?)),
        "week" => Some(format!("around {}", day.checked_add(amount.weeks()).ok()?)),
        "month" => Some(day.checked_add(amount.months()).ok()?.strftime("in %Y-%m").to_string()),
        "year" => Some(day.checked_add(amount.years()).ok()?.strftime("in %Y").to_string()),
        _ => None,
    }
}

fn number(text: &str) -> Option<i64> {
    const WORDS: [&str; 11] = ["a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let in_words = || WORDS.iter().position(|word| *word == text).map(|at| (at as i64).max(1));
    text.parse().ok().filter(|number| (0..=1_000).contains(number)).or_else(in_words)
}

fn weekday(name: &str) -> Option<Weekday> {
    let at = WEEKDAYS.iter().position(|day| *day == name)?;
    Weekday::from_monday_zero_offset(at as i8).ok()
}

fn month(name: &str) -> Option<i8> {
    MONTHS.iter().position(|month| *month == name).map(|at| at as i8 + 1)
}

#[cfg(test)]
mod tests {
    use super::{fitted, is_duration, is_timeless, resolve, section_days};
    use jiff::civil::date;

    #[test]
    fn relative_dates_are_resolved_from_the_day_of_writing() {
        // A Thursday.
        let day = date(2026, 3, 5);
        for (words, absolute) in [
            ("yesterday", "on 2026-03-04"),
            ("Tomorrow", "on 2026-03-06"),
            ("last week", "in the week of 2026-02-23"),
            ("this week", "in the week of 2026-03-02"),
            ("next Tuesday", "on 2026-03-10"),
            ("last Friday", "on 2026-02-27"),
            ("by Friday", "by 2026-03-06"),
            ("by Thursday", "by 2026-03-05"),
            ("since Monday", "since 2026-03-02"),
            ("3 days ago", "on 2026-03-02"),
            ("two weeks ago", "around 2026-02-19"),
            ("in two months", "in 2026-05"),
            ("last month", "in 2026-02"),
            ("next quarter", "in 2026-Q2"),
            ("last March", "in 2025-03"),
            ("next year", "in 2027"),
        ] {
            assert_eq!(resolve(words, day).as_deref(), Some(absolute), "{words}");
        }
        for words in ["this sprint", "last summer", "several days ago"] {
            assert_eq!(resolve(words, day), None, "{words}");
        }
    }

    #[test]
    fn a_date_fits_the_words_around_it() {
        assert_eq!(fitted("on 2026-03-04", "frozen since ", "yesterday"), "2026-03-04");
        assert_eq!(fitted("on 2026-03-04", "", "Yesterday"), "On 2026-03-04");
    }

    #[test]
    fn a_dated_heading_dates_the_lines_below_it() {
        let text =
            "# Log of 2026-03-01\n\na\n\n## Call on 2026-03-05\n\n### Open\n\nb\n\n## Later\n\nc\n\n**UPDATE 2026-03-25 — active:**\n\nd\n";
        let days = section_days(text);
        let day_of = |line: &str| days[text.lines().position(|other| other == line).unwrap()].map(|day| day.to_string());
        let found = ["a", "b", "c", "d"].map(|line| day_of(line).unwrap_or_default());
        assert_eq!(found, ["2026-03-01", "2026-03-05", "2026-03-01", "2026-03-25"]);
        assert_eq!(section_days("a\nb\n"), [None, None]);
    }

    #[test]
    fn how_long_something_took_is_not_a_date() {
        assert!(is_duration("in 14 days", "1 published post in 14 days"));
        assert!(!is_duration("in 14 days", "The certificate expires in 14 days"));
        assert!(!is_duration("yesterday", "It broke yesterday"));
        assert!(is_duration("in 14 days", "Tokens expire in 14 days."));
    }

    #[test]
    fn what_holds_on_every_day_is_not_a_date() {
        for (words, line) in [
            ("two weeks ago", "The job runs every day and deletes rows older than two weeks ago."),
            ("yesterday", "Run the report for yesterday."),
            ("yesterday", "Ask what they did yesterday."),
            ("Yesterday", "A song: Yesterday by the Beatles."),
            ("tomorrow", "None of them pay tomorrow."),
        ] {
            assert!(is_timeless(words, line), "{line}");
        }
        assert!(!is_timeless("yesterday", "It is always red. The freeze began yesterday."));
    }
}
