//! Types of parameters that check themselves: the schema that is served and the check at parsing are one declaration.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, Visitor},
};
use std::{borrow::Cow, fmt};

/// An integer from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounded<const MIN: u32, const MAX: u32>(pub(crate) u32);

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Bounded<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = deserializer.deserialize_u32(WholeNumber)?;
        let bounded = u32::try_from(number).ok().filter(|number| (MIN..=MAX).contains(number));
        bounded.map(Bounded).ok_or_else(|| D::Error::custom(format!("{number} is not in the range {MIN} to {MAX}")))
    }
}

/// The maximum number of items of a list.
pub(super) type ListLimit = Bounded<1, 1000>;

/// Returns the maximum number of items of a list: 100 if the caller gives none.
pub(super) fn list_limit(limit: Option<ListLimit>) -> usize {
    limit.map_or(100, |limit| limit.0) as usize
}

/// An integer. JSON Schema counts 1.0 as one.
struct WholeNumber;

impl Visitor<'_> for WholeNumber {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer")
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<i64, E> {
        Ok(number)
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<i64, E> {
        Ok(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<i64, E> {
        // A cast saturates, and what is far out of range stays so.
        if number.fract() == 0.0 { Ok(number as i64) } else { Err(E::custom(format!("{number} is not an integer"))) }
    }
}

impl<const MIN: u32, const MAX: u32> JsonSchema for Bounded<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Integer{MIN}To{MAX}").into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// A number from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fraction(pub(crate) f32);

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f32::deserialize(deserializer)?;
        if (0.0..=1.0).contains(&number) {
            Ok(Fraction(number))
        } else {
            Err(D::Error::custom(format!("{number} is not in the range 0 to 1")))
        }
    }
}

impl JsonSchema for Fraction {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Fraction".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}

/// A text that is not empty.
#[derive(Debug, Clone)]
pub(crate) struct NonEmptyText(pub(crate) String);

impl<'de> Deserialize<'de> for NonEmptyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() { Err(D::Error::custom("the text must not be empty")) } else { Ok(NonEmptyText(text)) }
    }
}

impl JsonSchema for NonEmptyText {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "NonEmptyText".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1 })
    }
}

/// A SHA-256 hash in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sha256Hex(pub(crate) String);

impl<'de> Deserialize<'de> for Sha256Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_hash = text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if is_hash { Ok(Sha256Hex(text)) } else { Err(D::Error::custom("a SHA-256 hash must be 64 lowercase hexadecimal digits")) }
    }
}

impl JsonSchema for Sha256Hex {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Sha256Hex".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })
    }
}
