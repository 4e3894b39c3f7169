//! The arguments of one call, parsed by the declarations in `params.rs`. Accepts the names and types that models guess, and rejects
//! arguments that the tool does not declare.

use super::params::Param;
use crate::base::{
    error::{Error, Result},
    path::MemoryPath,
};
use serde_json::{Map, Value};

/// The arguments of one call of a tool.
pub(crate) struct Args<'a> {
    tool: &'static str,
    params: &'static [Param],
    given: &'a Map<String, Value>,
}

/// Names that models give to the parameter with a memory's name.
pub(crate) const PATH_ALIASES: &[&str] = &["file_path", "name", "memory_name", "memory", "file"];

impl<'a> Args<'a> {
    pub(super) fn new(tool: &'static str, params: &'static [Param], given: &'a Map<String, Value>) -> Self {
        Args { tool, params, given }
    }

    /// Returns the first name of the parameter that was given, and its value. `null` counts as not given.
    pub(crate) fn value(&self, param: &Param) -> Option<(&'static str, &'a Value)> {
        debug_assert!(self.params.iter().any(|declared| declared.name == param.name), "{} does not declare {}", self.tool, param.name);
        let mut names = std::iter::once(&param.name).chain(param.aliases);
        names.find_map(|name| self.given.get(*name).filter(|value| !value.is_null()).map(|value| (*name, value)))
    }

    /// Whether the parameter was given under its own name.
    pub(crate) fn has(&self, param: &Param) -> bool {
        self.given.get(param.name).is_some_and(|value| !value.is_null())
    }

    /// A text. A number is accepted as its digits.
    pub(crate) fn text(&self, param: &Param) -> Result<Option<String>> {
        match self.value(param) {
            None => Ok(param.text_default().map(ToOwned::to_owned)),
            Some((_, Value::String(text))) => Ok(Some(text.clone())),
            Some((_, Value::Number(number))) => Ok(Some(number.to_string())),
            Some((name, value)) => Err(wrong_type(name, "a string", value)),
        }
    }

    /// A text that must be given.
    pub(crate) fn required_text(&self, param: &Param) -> Result<String> {
        self.text(param)?.ok_or_else(|| Error::bad_input(param.name, format!("required by {}", self.tool)))
    }

    /// A memory's name that must be given.
    pub(crate) fn path(&self, param: &Param) -> Result<MemoryPath> {
        Ok(MemoryPath::parse(&self.required_text(param)?)?)
    }

    /// One of the declared values.
    pub(crate) fn choice(&self, param: &Param) -> Result<Option<&'static str>> {
        self.choice_or_synonym(param, &[])
    }

    /// One of the declared values, or a synonym of one.
    pub(crate) fn choice_or_synonym(&self, param: &Param, synonyms: &[(&str, &str)]) -> Result<Option<&'static str>> {
        let Some(given) = self.text(param)? else { return Ok(None) };
        let meaning = synonyms.iter().find(|(synonym, _)| *synonym == given).map_or(given.as_str(), |(_, value)| value);
        let value = param.values().iter().find(|value| **value == meaning);
        let not_one_of = || Error::bad_input(param.name, format!("{given:?} is not one of {}", param.values().join(", ")));
        value.copied().map(Some).ok_or_else(not_one_of)
    }

    /// Texts: a list, or one text.
    pub(crate) fn texts(&self, param: &Param) -> Result<Vec<String>> {
        match self.value(param) {
            None => Ok(Vec::new()),
            Some((_, Value::String(text))) => Ok(list_from_text(text)),
            Some((name, Value::Array(items))) => {
                let text = |item: &Value| item.as_str().map(ToOwned::to_owned).ok_or_else(|| wrong_type(name, "a list of strings", item));
                items.iter().map(text).collect()
            }
            Some((name, value)) => Err(wrong_type(name, "a list of strings", value)),
        }
    }

    /// An integer within the declared range. Its digits as text are accepted.
    pub(crate) fn integer(&self, param: &Param) -> Result<Option<i64>> {
        let Some((name, value)) = self.value(param) else { return Ok(param.integer_default()) };
        let number = match value {
            Value::Number(number) => number.as_i64().or_else(|| number.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let range = param.integers();
        match number {
            Some(number) if range.contains(&number) => Ok(Some(number)),
            Some(number) => Err(Error::bad_input(name, format!("{number} is not in the range {} to {}", range.start(), range.end()))),
            None => Err(wrong_type(name, "a whole number", value)),
        }
    }

    /// A number within the declared range. Its digits as text are accepted.
    pub(crate) fn number(&self, param: &Param) -> Result<Option<f32>> {
        let Some((name, value)) = self.value(param) else { return Ok(param.number_default()) };
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let range = param.numbers();
        match number {
            Some(number) if (f64::from(*range.start())..=f64::from(*range.end())).contains(&number) => Ok(Some(number as f32)),
            Some(number) => Err(Error::bad_input(name, format!("{number} is not in the range {} to {}", range.start(), range.end()))),
            None => Err(wrong_type(name, "a number", value)),
        }
    }

    /// A boolean; `false` if it is not given.
    pub(crate) fn flag(&self, param: &Param) -> Result<bool> {
        match self.value(param) {
            None => Ok(false),
            Some((_, Value::Bool(flag))) => Ok(*flag),
            Some((_, Value::String(text))) if text == "true" => Ok(true),
            Some((_, Value::String(text))) if text == "false" => Ok(false),
            Some((name, value)) => Err(wrong_type(name, "a boolean", value)),
        }
    }

    /// Fails if an argument was given that the tool does not declare: it would be ignored without the caller noticing.
    pub(crate) fn reject_unknown(&self) -> Result<()> {
        match self.given.keys().find(|key| !self.params.iter().any(|param| param.accepts(key))) {
            None => Ok(()),
            Some(key) => Err(Error::bad_input(key, format!("not a parameter of {}", self.tool))),
        }
    }
}

/// Reads a list that some models write as the text of a JSON list.
fn list_from_text(text: &str) -> Vec<String> {
    let list = text.trim_start().starts_with('[').then(|| serde_json::from_str::<Vec<String>>(text).ok()).flatten();
    list.unwrap_or_else(|| vec![text.to_owned()])
}

fn wrong_type(name: &str, expected: &str, value: &Value) -> Error {
    let actual = match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Error::bad_input(name, format!("it must be {expected}, not {actual}"))
}
