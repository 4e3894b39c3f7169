//! Appends entries to the log of a day.

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
    },
    operations::{
        context::Context,
        write::{self, Saved, Write, WriteMode},
    },
    store::Store,
};
use jiff::{Timestamp, tz::TimeZone};

/// The path of a day's log in prompts, without a date, so that the prompt does not change at midnight.
pub(crate) const PATTERN: &str = "logs/YYYY/MM/YYYY-MM-DD.md";
/// The sample entry in prompts.
pub(crate) const SAMPLE: &str = "- 14:05 what happened";

/// Appends an entry to today's log in the mount with this prefix.
pub(crate) fn log(store: &dyn Store, context: &Context, prefix: &str, text: &str) -> Result<Saved> {
    let (now, zone) = (context.clock.now(), context.clock.zone());
    if !store.mounts().iter().any(|mount| mount.prefix == prefix) {
        let known: Vec<&str> = store.mounts().iter().map(|mount| mount.prefix.as_str()).filter(|known| !known.is_empty()).collect();
        let next = if known.is_empty() { "omit the prefix".to_owned() } else { format!("available: {}", known.join(", ")) };
        let why = format!("no mount has the prefix {prefix:?}; {next}");
        return Err(Error::bad_input("prefix", why));
    }
    let entry = bullet(text, now, &zone).ok_or_else(|| Error::bad_input("entry", "it is empty"))?;
    let path = MemoryPath::parse(&path(now, &zone))?.prefixed(prefix);
    write::write(store, context, &Write::create(path, entry).mode(WriteMode::Append))
}

/// The path of the log for a time and zone: `logs/2026/03/2026-03-05.md`.
pub(crate) fn path(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("logs/%Y/%m/%Y-%m-%d.md").to_string()
}

/// Formats an entry: a bullet that begins with the time of day, with further lines indented. Returns `None` for a blank text.
/// `dream/logs.rs` (`without_time`) reads this form.
fn bullet(text: &str, at: Timestamp, zone: &TimeZone) -> Option<String> {
    let mut lines = text.trim().lines().map(str::trim_end);
    let first = lines.next().filter(|line| !line.is_empty())?;
    let first = first.strip_prefix("- ").unwrap_or(first);
    let mut out = format!("{} {first}\n", at.to_zoned(zone.clone()).strftime("- %H:%M"));
    for line in lines {
        let indent = if line.is_empty() { "" } else { "  " };
        out.push_str(&format!("{indent}{line}\n"));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{TimeZone, Timestamp, bullet, path};

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn the_day_is_the_one_of_the_zone() {
        let (utc, berlin, auckland) = (TimeZone::UTC, TimeZone::get("Europe/Berlin").unwrap(), TimeZone::get("Pacific/Auckland").unwrap());
        let late = at("2026-03-31T22:30:00Z");
        assert_eq!(path(late, &utc), "logs/2026/03/2026-03-31.md");
        assert_eq!(path(late, &berlin), "logs/2026/04/2026-04-01.md");
        assert_eq!(path(at("2025-12-31T11:00:00Z"), &auckland), "logs/2026/01/2026-01-01.md");
        assert_eq!(path(at("2026-03-31T21:59:59Z"), &berlin), "logs/2026/03/2026-03-31.md");
    }

    #[test]
    fn an_entry_is_one_bullet_with_the_local_time() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let noon = at("2026-07-01T10:05:59Z");
        assert_eq!(bullet("deploys on Friday", noon, &berlin).as_deref(), Some("- 12:05 deploys on Friday\n"));
        assert_eq!(bullet(" - two\r\nlines \n\n- inside\n", noon, &berlin).as_deref(), Some("- 12:05 two\n  lines\n\n  - inside\n"));
        assert_eq!(bullet(" \n ", noon, &berlin), None);
        assert_eq!(
            bullet("spring", at("2026-03-29T01:00:00Z"), &berlin).as_deref(),
            Some("- 03:00 spring\n"),
            "the skipped hour is skipped"
        );
    }
}
