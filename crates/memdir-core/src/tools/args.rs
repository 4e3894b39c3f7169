//! The arguments of one call, read by name. Accepts the names and types models guess, refuses what it does not know.

use crate::base::{
    error::{Error, Result},
    path::MemoryPath,
};
use serde_json::{Map, Value};
use std::cell::RefCell;

/// Arguments, and which of them were asked for.
pub(crate) struct Args<'a> {
    tool: &'static str,
    given: &'a Map<String, Value>,
    known: RefCell<Vec<&'static str>>,
}

/// What models call a memory's name.
pub(crate) const PATH: &[&str] = &["path", "file_path", "name", "memory_name", "memory", "file"];

impl<'a> Args<'a> {
    pub(crate) fn new(tool: &'static str, given: &'a Map<String, Value>) -> Self {
        Args { tool, given, known: RefCell::default() }
    }

    /// The first of these names that was given, and its value. `null` counts as not given.
    pub(crate) fn any(&self, names: &[&'static str]) -> Option<(&'static str, &'a Value)> {
        self.known.borrow_mut().extend(names);
        names.iter().find_map(|name| self.given.get(*name).filter(|value| !value.is_null()).map(|value| (*name, value)))
    }

    /// A text; a number is taken as its digits.
    pub(crate) fn text(&self, names: &[&'static str]) -> Result<Option<String>> {
        match self.any(names) {
            None => Ok(None),
            Some((_, Value::String(text))) => Ok(Some(text.clone())),
            Some((_, Value::Number(number))) => Ok(Some(number.to_string())),
            Some((name, value)) => Err(wrong(name, "a text", value)),
        }
    }

    /// A text that must be there.
    pub(crate) fn needed(&self, names: &[&'static str]) -> Result<String> {
        self.text(names)?.ok_or_else(|| Error::bad_input(names[0], format!("{} needs it", self.tool)))
    }

    /// A memory's name that must be there.
    pub(crate) fn path(&self, names: &[&'static str]) -> Result<MemoryPath> {
        Ok(MemoryPath::parse(&self.needed(names)?)?)
    }

    /// Texts: a list, or one alone.
    pub(crate) fn texts(&self, names: &[&'static str]) -> Result<Vec<String>> {
        match self.any(names) {
            None => Ok(Vec::new()),
            Some((_, Value::String(text))) => Ok(listed(text)),
            Some((name, Value::Array(items))) => {
                items.iter().map(|item| item.as_str().map(ToOwned::to_owned).ok_or_else(|| wrong(name, "a list of texts", item))).collect()
            }
            Some((name, value)) => Err(wrong(name, "a list of texts", value)),
        }
    }

    /// A whole number within a range; its digits as text are taken too.
    pub(crate) fn whole(&self, names: &[&'static str], range: std::ops::RangeInclusive<i64>) -> Result<Option<i64>> {
        let Some((name, value)) = self.any(names) else { return Ok(None) };
        let number = match value {
            Value::Number(number) => number.as_i64().or_else(|| number.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number {
            Some(number) if range.contains(&number) => Ok(Some(number)),
            Some(number) => Err(Error::bad_input(name, format!("{number} is not from {} to {}", range.start(), range.end()))),
            None => Err(wrong(name, "a whole number", value)),
        }
    }

    /// A number within a range.
    pub(crate) fn number(&self, names: &[&'static str], range: std::ops::RangeInclusive<f64>) -> Result<Option<f64>> {
        let Some((name, value)) = self.any(names) else { return Ok(None) };
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number {
            Some(number) if range.contains(&number) => Ok(Some(number)),
            Some(number) => Err(Error::bad_input(name, format!("{number} is not from {} to {}", range.start(), range.end()))),
            None => Err(wrong(name, "a number", value)),
        }
    }

    /// Yes or no; no if it is not given.
    pub(crate) fn flag(&self, names: &[&'static str]) -> Result<bool> {
        match self.any(names) {
            None => Ok(false),
            Some((_, Value::Bool(flag))) => Ok(*flag),
            Some((_, Value::String(text))) if text == "true" => Ok(true),
            Some((_, Value::String(text))) if text == "false" => Ok(false),
            Some((name, value)) => Err(wrong(name, "true or false", value)),
        }
    }

    /// Refuses an argument nobody asked for: it would be ignored, and the caller would believe it was not.
    pub(crate) fn finish(&self) -> Result<()> {
        let known = self.known.borrow();
        match self.given.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(Error::bad_input(key, format!("{} has no such parameter", self.tool))),
        }
    }
}

/// A list some models write as the text of a JSON list.
fn listed(text: &str) -> Vec<String> {
    let list = text.trim_start().starts_with('[').then(|| serde_json::from_str::<Vec<String>>(text).ok()).flatten();
    list.unwrap_or_else(|| vec![text.to_owned()])
}

fn wrong(name: &str, wanted: &str, value: &Value) -> Error {
    let got = match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Error::bad_input(name, format!("it must be {wanted}, not {got}"))
}
