//! Lenient JSON values: a field of an unexpected type counts as absent, so that one malformed field does not invalidate
//! the whole record. They decode from buffered lines (borrowing) and from streams.

use crate::facts::{self, ArgStrings, CallFacts, FactsBuilder};
use jiff::Timestamp;
use memdir_core::internal::base::{limits, text::floor_char_boundary};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use std::{borrow::Cow, fmt, marker::PhantomData};

/// Converts any JSON value. A type of value that is not overridden becomes the default.
pub(super) trait FromJson<'de>: Default {
    fn text(_text: Cow<'de, str>) -> Self {
        Self::default()
    }
    fn number(_number: f64) -> Self {
        Self::default()
    }
    fn flag(_flag: bool) -> Self {
        Self::default()
    }
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
    fn object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// Deserializes a [`FromJson`] from a value of any type.
pub(super) fn any<'de, T: FromJson<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(AnyVisitor(PhantomData))
}

struct AnyVisitor<T>(PhantomData<T>);

impl<'de, T: FromJson<'de>> Visitor<'de> for AnyVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::text(Cow::Owned(text.to_owned())))
    }
    fn visit_string<E>(self, text: String) -> Result<T, E> {
        Ok(T::text(Cow::Owned(text)))
    }
    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::number(number as f64))
    }
    fn visit_i64<E>(self, number: i64) -> Result<T, E> {
        Ok(T::number(number as f64))
    }
    fn visit_f64<E>(self, number: f64) -> Result<T, E> {
        Ok(T::number(number))
    }
    fn visit_bool<E>(self, flag: bool) -> Result<T, E> {
        Ok(T::flag(flag))
    }
    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::list(list)
    }
    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::object(object)
    }
}

/// Implements `Deserialize` by `FromJson`.
macro_rules! loose {
    ($name:ident<$life:lifetime>) => {
        impl<'de: $life, $life> Deserialize<'de> for $name<$life> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::json::any(deserializer)
            }
        }
    };
    ($name:ident) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::json::any(deserializer)
            }
        }
    };
}
pub(super) use loose;

/// A string; `None` for any other value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Str<'a>(pub(super) Option<Cow<'a, str>>);

impl<'de: 'a, 'a> FromJson<'de> for Str<'a> {
    fn text(text: Cow<'de, str>) -> Self {
        Str(Some(text))
    }
}
loose!(Str<'a>);

impl<'a> Str<'a> {
    /// Returns the string, or an empty one.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns the string, or `None` if it is absent or empty.
    pub(super) fn non_empty(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

/// A boolean; `false` for any other value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flag(pub(super) bool);

impl FromJson<'_> for Flag {
    fn flag(flag: bool) -> Self {
        Flag(flag)
    }
}
loose!(Flag);

/// A non-negative integer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count(pub(super) Option<u64>);

impl FromJson<'_> for Count {
    fn number(number: f64) -> Self {
        Count((0.0..9e15).contains(&number).then_some(number as u64))
    }
}
loose!(Count);

/// A time: RFC 3339, or seconds or milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Time(pub(super) Option<Timestamp>);

impl FromJson<'_> for Time {
    fn text(text: Cow<'_, str>) -> Self {
        Time(text.trim().parse().ok())
    }
    fn number(number: f64) -> Self {
        // Seconds stay below this until the year 5138; milliseconds passed it in 1973.
        let millis = if number.abs() < 1e11 { number * 1000.0 } else { number };
        Time(Timestamp::from_millisecond(millis as i64).ok())
    }
}
loose!(Time);

/// An object of a known type; `None` for any other value.
#[derive(Debug, Clone)]
pub(super) struct Obj<T>(pub(super) Option<T>);

impl<T> Default for Obj<T> {
    fn default() -> Self {
        Obj(None)
    }
}

impl<'de, T: Deserialize<'de>> FromJson<'de> for Obj<T> {
    fn object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(|value| Obj(Some(value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Obj<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        any(deserializer)
    }
}

/// The objects of a list; empty for any other value.
#[derive(Debug, Clone)]
pub(super) struct ObjectList<T>(pub(super) Vec<T>);

impl<T> Default for ObjectList<T> {
    fn default() -> Self {
        ObjectList(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> FromJson<'de> for ObjectList<T> {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<Obj<T>>()? {
            items.extend(item.0);
        }
        Ok(ObjectList(items))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ObjectList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        any(deserializer)
    }
}

/// The arguments of a tool call on one line: `file_path=src/main.rs limit=20`. They are still long enough here for a secret
/// in them to be recognized; they are truncated when they are archived. The second field has the arguments that are evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CallArguments(pub(super) String, pub(super) CallFacts);

impl<'de> FromJson<'de> for CallArguments {
    fn text(text: Cow<'de, str>) -> Self {
        // Some hosts write the arguments as JSON in a string.
        if text.trim_start().starts_with('{')
            && let Ok(args) = from_text::<CallArguments>(&text)
        {
            return args;
        }
        CallArguments(long_line(&text), facts::from_text(&text))
    }
    fn list<A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        ArgValue::list(list).map(|value| {
            let mut facts = FactsBuilder::default();
            facts.add("command", &value.1);
            CallArguments(value.0, facts.finish())
        })
    }
    fn object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let (mut out, mut facts) = (String::new(), FactsBuilder::default());
        while let Some(key) = object.next_key::<Str<'de>>()? {
            if out.len() > limits::CHAT_TOOL_RAW_CHARS && !facts::is_known(key.as_str()) {
                object.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = object.next_value::<ArgValue>()?;
            facts.add(key.as_str(), &value.1);
            if value.0.is_empty() || out.len() > limits::CHAT_TOOL_RAW_CHARS {
                continue;
            }
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(key.as_str());
            out.push('=');
            out.push_str(&value.0);
        }
        Ok(CallArguments(long_line(&out), facts.finish()))
    }
}
loose!(CallArguments);

/// The value of one argument on one line, and its strings as they are.
#[derive(Default)]
struct ArgValue(String, ArgStrings);

impl<'de> FromJson<'de> for ArgValue {
    fn text(text: Cow<'de, str>) -> Self {
        ArgValue(long_line(&text), ArgStrings::new(&text))
    }
    fn number(number: f64) -> Self {
        ArgValue(number.to_string(), ArgStrings::default())
    }
    fn flag(flag: bool) -> Self {
        ArgValue(flag.to_string(), ArgStrings::default())
    }
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let (mut out, mut strings) = (String::new(), ArgStrings::default());
        while let Some(item) = list.next_element::<ArgValue>()? {
            strings.append(item.1);
            if !item.0.is_empty() && out.len() < limits::CHAT_TOOL_RAW_CHARS {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(&item.0);
            }
        }
        Ok(ArgValue(long_line(&out), strings))
    }
    fn object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(ArgValue("{…}".into(), ArgStrings::default()))
    }
}
loose!(ArgValue);

/// Repairs JSON that decoders reject: replaces lone surrogates with U+FFFD and keeps the last value of a duplicate key. Returns
/// `None` if it is still invalid.
pub(super) fn repair(bytes: &[u8]) -> Option<Vec<u8>> {
    let bytes = replace_lone_surrogates(bytes);
    let value: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    serde_json::to_vec(&value).ok()
}

/// Replaces every escaped lone surrogate with U+FFFD.
fn replace_lone_surrogates(bytes: &[u8]) -> Vec<u8> {
    let unit = |at: usize| -> Option<u16> {
        let digits = bytes.get(at..at + 6).filter(|escape| escape.starts_with(b"\\u"))?;
        u16::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
    };
    let is_low = |at: usize| unit(at).is_some_and(|unit| (0xdc00..0xe000).contains(&unit));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let skip = match unit(at) {
            Some(0xd800..0xdc00) if is_low(at + 6) => 12,
            Some(0xd800..0xe000) => {
                out.extend_from_slice(b"\\ufffd");
                at += 6;
                continue;
            }
            _ if bytes[at] == b'\\' => 2,
            _ => 1,
        };
        let end = (at + skip).min(bytes.len());
        out.extend_from_slice(&bytes[at..end]);
        at = end;
    }
    out
}

/// Decodes a short text into an owned value. From bytes like every record: a second kind of input would double the code of the decoders.
fn from_text<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_slice(text.as_bytes())
}

/// Formats a text on one line, truncated far beyond the limit of what is archived. The last, truncated word is dropped: a part of a
/// secret is not recognized as one.
fn long_line(text: &str) -> String {
    let line = one_line(text, limits::CHAT_TOOL_RAW_CHARS);
    let Some(cut) = line.strip_suffix('…').filter(|_| line.chars().count() > limits::CHAT_TOOL_RAW_CHARS) else { return line };
    let end = cut.rfind(' ').unwrap_or(0).max(cut.len().saturating_sub(1024));
    format!("{}…", &cut[..floor_char_boundary(cut, end)])
}

/// Formats a text on one line of at most `max_chars` characters: runs of white space and control characters become one space, and a
/// word that does not fit is truncated with an ellipsis.
pub(super) fn one_line(text: &str, max_chars: usize) -> String {
    let mut out = String::new();
    let mut left = max_chars;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            if left == 0 {
                break;
            }
            out.push(' ');
            left -= 1;
        }
        for c in word.chars() {
            if left == 0 {
                out.push('…');
                return out;
            }
            out.push(c);
            left -= 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(json: &str) -> String {
        serde_json::from_str::<CallArguments>(json).unwrap().0
    }

    #[test]
    fn arguments_are_formatted_on_one_line() {
        assert_eq!(
            args(r#"{"file_path":"src/auth.ts","limit":20,"deep":{"a":[1]},"all":true,"none":null}"#),
            "file_path=src/auth.ts limit=20 deep={…} all=true"
        );
        assert_eq!(args(r#""{\"command\":[\"bash\",\"-lc\",\"cargo  test\"]}""#), "command=bash -lc cargo test");
        assert_eq!(args(r#""*** Begin Patch\n*** Update File: a.rs""#), "*** Begin Patch *** Update File: a.rs");
        assert_eq!(args("null"), "");
        let long = args(&format!(r#"{{"text":"{}","more":"{} end"}}"#, "x".repeat(9000), "y".repeat(9000)));
        assert!(long.chars().count() <= limits::CHAT_TOOL_RAW_CHARS + 1 && long.ends_with('…'), "{long}");
    }

    #[test]
    fn json_that_decoders_reject_is_repaired() {
        let repair = |text: &str| repair(text.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(
            repair(r#"{"a":"x\ud83d y\ude00","b":"\ud83d\ude00 \\ud83d"}"#).unwrap(),
            "{\"a\":\"x\u{fffd} y\u{fffd}\",\"b\":\"😀 \\\\ud83d\"}"
        );
        assert_eq!(repair(r#"{"a":1,"a":2}"#).unwrap(), r#"{"a":2}"#);
        assert_eq!(repair(r#"{"a":"\ud8"#), None);
    }

    #[test]
    fn a_field_of_the_wrong_type_counts_as_absent() {
        #[derive(Deserialize)]
        struct Record<'a> {
            #[serde(borrow, default)]
            name: Str<'a>,
            #[serde(default)]
            at: Time,
            #[serde(default)]
            flag: Flag,
        }
        let record: Record<'_> = serde_json::from_str(r#"{"name":{"a":[1,{}]},"at":["x"],"flag":"yes"}"#).unwrap();
        assert_eq!((record.name, record.at, record.flag), (Str(None), Time(None), Flag(false)));
        let record: Record<'_> = serde_json::from_str(r#"{"name":"n","at":1705315801000,"flag":true}"#).unwrap();
        assert_eq!(record.at.0.unwrap().to_string(), "2024-01-15T10:50:01Z");
        assert_eq!((record.name.as_str(), record.flag), ("n", Flag(true)));
    }

    fn facts_of(json: &str) -> CallFacts {
        serde_json::from_str::<CallArguments>(json).unwrap().1
    }

    #[test]
    fn arguments_of_every_host_are_recognized() {
        assert_eq!(facts_of(r#"{"command":"cd a &&\ncargo test","timeout":5}"#).command.as_deref(), Some("cd a &&\ncargo test"));
        assert_eq!(facts_of(r#""{\"command\":[\"bash\",\"-lc\",\"cargo test\"]}""#).command.as_deref(), Some("cargo test"));
        assert_eq!(facts_of(r#"{"command":["git","status"]}"#).command.as_deref(), Some("git status"));
        let there = facts_of(r#"{"file_path":"a.rs","old_string":"one","new_string":" two\n"}"#);
        let back = facts_of(r#"{"path":"a.rs","old_str":"two","new_str":"one"}"#);
        assert_eq!((there.paths.as_slice(), back.paths.as_slice()), (&["a.rs".to_owned()][..], &["a.rs".to_owned()][..]));
        let (there, back) = (there.edit.unwrap(), back.edit.unwrap());
        assert_eq!((there.before, there.after), (back.after, back.before));
        let patch = facts_of(r#""*** Begin Patch\n*** Update File: a.rs\n@@\n-one\n+two\n*** End Patch""#);
        assert_eq!((patch.paths, patch.edit), (vec!["a.rs".to_owned()], Some(there)));
        assert_eq!(facts_of(r#"{"dir_path":"src"}"#).paths, ["src"]);
        let long = format!(r#"{{"noise":"{} end","file_path":"a.rs"}}"#, "x ".repeat(5000));
        assert_eq!(facts_of(&long).paths, ["a.rs"]);
        assert_eq!(facts_of("null"), CallFacts::default());
    }
}
