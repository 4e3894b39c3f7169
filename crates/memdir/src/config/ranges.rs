//! The ranges of the numbers in `config.toml`. A number out of range is an error of the file, at its line.

use serde::{Deserialize, Deserializer, de::Error};
use std::ops::RangeInclusive;

/// The largest number of hours, days, minutes, seconds, sessions or dollars: a century in days, and small enough to convert to any unit.
const MAX_COUNT: i64 = 100_000;

/// A number of hours, days, minutes or sessions.
pub(super) fn count<'de, D: Deserializer<'de>, T: TryFrom<i64>>(deserializer: D) -> Result<T, D::Error> {
    whole(deserializer, 0..=MAX_COUNT)
}

/// Like [`count`], for a key without a default of its own.
pub(super) fn optional_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    count(deserializer).map(Some)
}

/// A time limit in seconds, which is not zero.
pub(super) fn time_limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    whole(deserializer, 1..=MAX_COUNT)
}

/// A number of dimensions that an embedder accepts.
pub(super) fn dimensions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    whole(deserializer, 1..=memdir_embed::MAX_DIMENSIONS as i64)
}

/// A price in dollars.
pub(super) fn price<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let price = f64::deserialize(deserializer)?;
    let max = MAX_COUNT as f64;
    if (0.0..=max).contains(&price) { Ok(price) } else { Err(D::Error::custom(out_of_range(price, 0, MAX_COUNT))) }
}

fn whole<'de, D: Deserializer<'de>, T: TryFrom<i64>>(deserializer: D, range: RangeInclusive<i64>) -> Result<T, D::Error> {
    let number = i64::deserialize(deserializer)?;
    let fitting = T::try_from(number).ok().filter(|_| range.contains(&number));
    fitting.ok_or_else(|| D::Error::custom(out_of_range(number, *range.start(), *range.end())))
}

fn out_of_range(number: impl std::fmt::Display, min: i64, max: i64) -> String {
    format!("{number} is not in the range {min} to {max}")
}
