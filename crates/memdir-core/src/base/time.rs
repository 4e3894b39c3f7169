//! The clock, which is passed in. Only this file reads the system time.

use jiff::{Timestamp, tz::TimeZone};

/// A clock. Contract: within one process it never goes back by more than the system clock does.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
    /// Returns the time zone for dates (log files, ages).
    fn zone(&self) -> TimeZone;
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

/// Formats an age as `today`, `yesterday` or `N days ago`, in whole days of 24 hours; the future counts as today.
pub fn age(now: Timestamp, then: Timestamp) -> String {
    age_words(age_days(now, then))
}

/// Formats an age in whole days.
pub fn age_words(days: i64) -> String {
    match days {
        ..=0 => "today".into(),
        1 => "yesterday".into(),
        days => format!("{days} days ago"),
    }
}

/// Returns the whole days between the two times, at least 0.
pub fn age_days(now: Timestamp, then: Timestamp) -> i64 {
    (now.as_second() - then.as_second()).max(0) / 86_400
}

#[cfg(test)]
mod tests {
    use super::{age, age_days};

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
}
