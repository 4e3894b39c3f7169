//! The clock, which is passed in; shows times and ages; parses dates and periods. Only this file reads the system time.

use crate::base::error::{Error, Result};
use jiff::{Timestamp, civil, tz::TimeZone};

/// A clock. Contract: within one process it never goes back by more than the system clock does.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
    /// Returns the time zone for dates (log files, ages).
    fn zone(&self) -> TimeZone;
    /// Returns the date in the time zone. Asked for only where a date decides: finding the zone of the system reads directories, which takes a
    /// twentieth of a search.
    fn today(&self) -> civil::Date {
        self.now().to_zoned(self.zone()).date()
    }
}

/// The system's clock and zone.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the only place that reads the system time")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn zone(&self) -> TimeZone {
        TimeZone::system()
    }
}

/// A stopwatch for reports (`bench`, `--explain`), never for decisions.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// Starts the stopwatch.
    #[expect(clippy::disallowed_methods, reason = "the only place that reads the system time")]
    pub fn start() -> Self {
        Stopwatch(std::time::Instant::now())
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> std::time::Duration {
        self.0.elapsed()
    }
}

/// The moment at which waiting ends. Shared by everything that one call waits for.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    started: std::time::Instant,
    limit: std::time::Duration,
}

impl Deadline {
    /// Creates a deadline that is this long from now.
    #[expect(clippy::disallowed_methods, reason = "the only place that reads the system time")]
    pub fn after(limit: std::time::Duration) -> Self {
        Deadline { started: std::time::Instant::now(), limit }
    }

    /// Returns the time that is left, zero after the deadline.
    pub fn left(&self) -> std::time::Duration {
        self.limit.saturating_sub(self.started.elapsed())
    }

    /// Returns the time between the creation and the deadline.
    pub fn limit(&self) -> std::time::Duration {
        self.limit
    }
}

/// Formats an age as `today`, `yesterday` or `N days ago`, in whole days of 24 hours; the future counts as today.
pub fn age(now: Timestamp, then: Timestamp) -> String {
    format_age_days(age_days(now, then))
}

/// Formats an age in whole days.
pub fn format_age_days(days: i64) -> String {
    match days {
        ..=0 => "today".into(),
        1 => "yesterday".into(),
        days => format!("{days} days ago"),
    }
}

/// Formats how long ago a time was: minutes and hours on the last day, then days.
pub fn relative(now: Timestamp, then: Timestamp) -> String {
    match (now.as_second() - then.as_second()) / 60 {
        ..=0 => "just now".into(),
        1 => "1 minute ago".into(),
        minutes @ ..60 => format!("{minutes} minutes ago"),
        60..120 => "1 hour ago".into(),
        minutes @ ..1_440 => format!("{} hours ago", minutes / 60),
        _ => age(now, then),
    }
}

/// Returns the whole days between the two times, at least 0.
pub fn age_days(now: Timestamp, then: Timestamp) -> i64 {
    (now.as_second() - then.as_second()).max(0) / 86_400
}

/// Parses a date or a time: RFC 3339, `2026-01-31 09:30`, `2026-01-31` or `2026/01/31`. Without a UTC offset it is a time in
/// `zone`; a date is its midnight.
pub(crate) fn parse_time(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    let dashed = text.replacen('/', "-", 2);
    let local =
        dashed.parse::<civil::DateTime>().or_else(|_| dashed.parse::<civil::Date>().map(|date| date.to_datetime(civil::Time::midnight())));
    local.ok()?.to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp())
}

/// Parses the value of `since` or `before`, for every command, tool, route and page: a date or a time (`2026-01-31`, `2026/01/31`,
/// `2026-01-31 09:30`, RFC 3339), or a period that ends today (`90d`, `12w`). Days begin at midnight in the zone of `clock`, because that
/// is the date that the user sees; on a server it is the zone of the server. Only a time with a UTC offset does not depend on the zone.
pub fn parse_since(parameter: &str, text: &str, clock: &dyn Clock) -> Result<Timestamp> {
    let expected = || Error::bad_input(parameter, format!("{text:?} is neither a date such as 2026-01-31 nor a period such as 90d"));
    start_of_period(text.trim(), clock).or_else(|| parse_time(text, &clock.zone())).ok_or_else(expected)
}

/// Returns the midnight at which a period such as `90d` or `12w` begins, so that two calls on one day get the same time. A period that
/// is longer than the calendar begins with it.
fn start_of_period(text: &str, clock: &dyn Clock) -> Option<Timestamp> {
    let days = |suffix: char, factor: i64| {
        let number = text.strip_suffix(suffix).filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))?;
        Some(i64::from(number.parse::<u32>().ok()?) * factor)
    };
    let days = days('d', 1).or_else(|| days('w', 7))?;
    let today = clock.today();
    let first = today.saturating_sub(jiff::SignedDuration::from_hours(days * 24));
    Some(first.to_zoned(clock.zone()).map_or(Timestamp::MIN, |midnight| midnight.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::{Clock, age, age_days, parse_since, relative};
    use jiff::{Timestamp, tz::TimeZone};

    /// A fixed time in a zone this many hours east of UTC.
    struct ClockEast(i8);

    impl Clock for ClockEast {
        fn now(&self) -> Timestamp {
            "2026-03-10T23:00:00Z".parse().unwrap()
        }

        fn zone(&self) -> TimeZone {
            TimeZone::fixed(jiff::tz::offset(self.0))
        }
    }

    #[test]
    fn since_is_a_date_a_time_or_a_period_in_the_zone_of_the_clock() {
        for (text, east, time) in [
            ("2026-01-31", 0, "2026-01-31T00:00:00Z"),
            (" 2026/01/31 ", 0, "2026-01-31T00:00:00Z"),
            ("2026-01-31", 2, "2026-01-30T22:00:00Z"),
            ("2026-01-31", -5, "2026-01-31T05:00:00Z"),
            ("2026-01-31 09:30", 2, "2026-01-31T07:30:00Z"),
            ("2026-01-31T09:30:00Z", 2, "2026-01-31T09:30:00Z"),
            ("2026-01-31T09:30:00+01:00", 2, "2026-01-31T08:30:00Z"),
            ("0d", 0, "2026-03-10T00:00:00Z"),
            (" 9d ", 0, "2026-03-01T00:00:00Z"),
            ("9d", 2, "2026-03-01T22:00:00Z"),
            ("1w", -5, "2026-03-03T05:00:00Z"),
        ] {
            assert_eq!(parse_since("since", text, &ClockEast(east)).unwrap().to_string(), time, "{text} {east}");
        }
        for text in ["4294967295d", "4294967295w"] {
            assert!(parse_since("since", text, &ClockEast(2)).unwrap().as_second() < -300_000_000_000, "{text}");
        }
        for text in ["", "d", "w", "-1d", "+1d", "1.5d", "90", "4294967296d", "yesterday", "2026-02-30", "31/01/2026"] {
            let error = parse_since("since", text, &ClockEast(0)).unwrap_err();
            assert_eq!(error.to_string(), format!("since: {text:?} is neither a date such as 2026-01-31 nor a period such as 90d"));
        }
    }

    #[test]
    fn ages_are_whole_days_and_the_future_is_today() {
        let now = "2026-03-10T12:00:00Z".parse().unwrap();
        for (then, days, words) in [
            ("2026-03-10T12:00:00Z", 0, "today"),
            ("2026-03-09T12:00:01Z", 0, "today"),
            ("2026-03-09T12:00:00Z", 1, "yesterday"),
            ("2026-03-08T12:00:00Z", 2, "2 days ago"),
            ("2025-03-10T12:00:00Z", 365, "365 days ago"),
            ("2026-03-11T00:00:00Z", 0, "today"),
            ("2099-01-01T00:00:00Z", 0, "today"),
        ] {
            let then = then.parse().unwrap();
            assert_eq!((age_days(now, then), age(now, then).as_str()), (days, words), "{then}");
        }
    }

    #[test]
    fn relative_times_are_minutes_then_hours_then_days() {
        let now = "2026-03-10T12:00:00Z".parse().unwrap();
        for (then, words) in [
            ("2099-01-01T00:00:00Z", "just now"),
            ("2026-03-10T11:59:01Z", "just now"),
            ("2026-03-10T11:59:00Z", "1 minute ago"),
            ("2026-03-10T11:00:01Z", "59 minutes ago"),
            ("2026-03-10T11:00:00Z", "1 hour ago"),
            ("2026-03-10T10:00:01Z", "1 hour ago"),
            ("2026-03-10T10:00:00Z", "2 hours ago"),
            ("2026-03-09T12:00:01Z", "23 hours ago"),
            ("2026-03-09T12:00:00Z", "yesterday"),
            ("2026-03-01T12:00:00Z", "9 days ago"),
        ] {
            assert_eq!(relative(now, then.parse().unwrap()), words, "{then}");
        }
    }
}
