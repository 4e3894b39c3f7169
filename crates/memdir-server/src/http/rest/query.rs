//! Parses a query string into a declared type. Unknown and repeated parameters are errors.

use serde::{
    Deserialize, Deserializer,
    de::{
        Error as _, IntoDeserializer, Visitor,
        value::{Error, MapDeserializer},
    },
    forward_to_deserialize_any,
};

/// Parses a query string.
pub(super) fn parse_query<'de, T: Deserialize<'de>>(query: &str) -> Result<T, String> {
    let pairs = form_urlencoded::parse(query.as_bytes()).into_owned().map(|(name, value)| (name, QueryValue(value)));
    T::deserialize(MapDeserializer::new(pairs)).map_err(|error: Error| format!("invalid query string: {error}"))
}

/// The value of a parameter. Numbers are digits.
struct QueryValue(String);

impl<'de> IntoDeserializer<'de> for QueryValue {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for QueryValue {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.0)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        // `parse` alone would accept a sign.
        let is_number = !self.0.is_empty() && self.0.bytes().all(|b| b.is_ascii_digit());
        let number = self.0.parse().ok().filter(|_| is_number);
        visitor.visit_u32(number.ok_or_else(|| Error::custom(format!("{:?} is not a number", self.0)))?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(self, _: &'static str, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}
