//! Parses a query string into a declared type. Unknown and repeated parameters are errors.

use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeSeed, Error as _, IntoDeserializer, MapAccess, Visitor,
        value::{Error, MapAccessDeserializer, StringDeserializer},
    },
    forward_to_deserialize_any,
};
use std::vec;

/// Parses a query string.
pub(super) fn parse_query<'de, T: Deserialize<'de>>(query: &str) -> Result<T, String> {
    let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let parameters = QueryParameters { rest: pairs.into_iter(), current: Default::default() };
    T::deserialize(MapAccessDeserializer::new(parameters)).map_err(|error: Error| format!("invalid query string: {error}"))
}

/// The parameters, one after another. The error of a value names its parameter.
struct QueryParameters {
    rest: vec::IntoIter<(String, String)>,
    current: (String, String),
}

impl<'de> MapAccess<'de> for QueryParameters {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some(current) = self.rest.next() else { return Ok(None) };
        self.current = current;
        let name: StringDeserializer<Error> = self.current.0.clone().into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, value) = std::mem::take(&mut self.current);
        seed.deserialize(QueryValue(value)).map_err(|error| Error::custom(format!("{name}: {error}")))
    }
}

/// The value of a parameter. Integers are digits, with or without a minus sign.
struct QueryValue(String);

impl<'de> Deserializer<'de> for QueryValue {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.0)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let digits = self.0.strip_prefix('-').unwrap_or(&self.0);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(Error::custom(format!("{:?} is not an integer", self.0)));
        }
        // What is too long for the type is out of every range.
        visitor.visit_i64(self.0.parse().unwrap_or(i64::MAX))
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
