//! The arguments of one call, parsed by the declarations in `params.rs`. Accepts the names and types that models guess, and rejects
//! arguments that the tool does not declare.

use super::params::Param;
use crate::base::{
    error::{Error, Result},
    limits,
    path::MemoryPath,
};
use serde_json::{Map, Value, json};
use std::{cell::RefCell, fmt::Display, ops::RangeInclusive};

/// The arguments of one call of a tool.
pub(crate) struct ToolArguments<'a> {
    tool: &'static str,
    params: &'static [Param],
    given: &'a Map<String, Value>,
    /// What the answer says about arguments that were not used as given.
    notes: RefCell<Vec<String>>,
}

/// Names that models give to the parameter with a memory's name.
pub(crate) const PATH_ALIASES: &[&str] = &["file_path", "name", "memory_name", "memory", "file"];

impl<'a> ToolArguments<'a> {
    pub(super) fn new(tool: &'static str, params: &'static [Param], given: &'a Map<String, Value>) -> Self {
        ToolArguments { tool, params, given, notes: RefCell::default() }
    }

    /// Returns the first name of the parameter that was given, and its value. `null`, and `""` for an optional parameter, count as
    /// not given.
    pub(crate) fn value(&self, param: &Param) -> Option<(&'static str, &'a Value)> {
        debug_assert!(self.params.iter().any(|declared| declared.name == param.name), "{} does not declare {}", self.tool, param.name);
        let mut names = std::iter::once(&param.name).chain(param.aliases);
        names.find_map(|name| self.given.get(*name).filter(|value| !param.is_absent(value)).map(|value| (*name, value)))
    }

    /// Whether the parameter was given under its own name.
    pub(crate) fn has(&self, param: &Param) -> bool {
        self.given.get(param.name).is_some_and(|value| !param.is_absent(value))
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
                let not_text =
                    |item: &Value| Error::bad_input(name, format!("it must be a list of strings, but it contains {}", type_name(item)));
                let text = |item: &Value| item.as_str().map(ToOwned::to_owned).ok_or_else(|| not_text(item));
                items.iter().filter(|item| !param.is_absent(item)).map(text).collect()
            }
            Some((name, value)) => Err(wrong_type(name, "a list of strings", value)),
        }
    }

    /// An object, or the text of one in JSON, which some models send.
    pub(crate) fn object(&self, param: &Param) -> Result<Option<Map<String, Value>>> {
        match self.value(param) {
            None => Ok(None),
            Some((_, Value::Object(map))) => Ok(Some(map.clone())),
            Some((name, value @ Value::String(text))) => {
                serde_json::from_str(text).map(Some).map_err(|_| wrong_type(name, "an object", value))
            }
            Some((name, value)) => Err(wrong_type(name, "an object", value)),
        }
    }

    /// An integer within the declared range, or moved into it. Its digits as text are accepted.
    pub(crate) fn integer(&self, param: &Param) -> Result<Option<i64>> {
        let Some((name, value)) = self.value(param) else { return Ok(param.integer_default()) };
        let number = match value {
            Value::Number(number) => number.as_i64().or_else(|| number.as_f64().and_then(whole)),
            Value::String(text) => text.trim().parse().ok().or_else(|| text.trim().parse().ok().and_then(whole)),
            _ => None,
        };
        let number = number.ok_or_else(|| wrong_type(name, "a whole number", value))?;
        self.in_range(param, name, number, &param.integers()).map(Some)
    }

    /// A number within the declared range, or moved into it. Its digits as text are accepted.
    pub(crate) fn number(&self, param: &Param) -> Result<Option<f32>> {
        let Some((name, value)) = self.value(param) else { return Ok(param.number_default()) };
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        };
        let number = number.ok_or_else(|| wrong_type(name, "a number", value))?;
        let range = param.numbers();
        let range = f64::from(*range.start())..=f64::from(*range.end());
        self.in_range(param, name, number, &range).map(|number| Some(number as f32))
    }

    /// Checks a number against the range of its parameter, or moves it into the range if the parameter is clamped.
    fn in_range<T: PartialOrd + Display + Copy>(&self, param: &Param, name: &str, number: T, range: &RangeInclusive<T>) -> Result<T> {
        if !param.is_clamped() && !range.contains(&number) {
            return Err(Error::bad_input(name, format!("{number} is not in the range {} to {}", range.start(), range.end())));
        }
        let (number, note) = limits::clamp(name, number, range);
        self.notes.borrow_mut().extend(note);
        Ok(number)
    }

    /// Returns what the answer says about arguments that were not used as given.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.borrow().clone()
    }

    /// Adds these notes to a structured answer.
    pub(crate) fn add_notes(&self, answer: &mut Value) {
        let notes = self.notes.borrow();
        if !notes.is_empty() {
            answer["notes"] = json!(*notes);
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

/// A whole number that is written with a fraction or an exponent; one that is too large is the largest.
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0).then_some(number as i64)
}

/// Reads a list that some models write as the text of a JSON list.
fn list_from_text(text: &str) -> Vec<String> {
    let list = text.trim_start().starts_with('[').then(|| serde_json::from_str::<Vec<String>>(text).ok()).flatten();
    list.unwrap_or_else(|| vec![text.to_owned()])
}

fn wrong_type(name: &str, expected: &str, value: &Value) -> Error {
    Error::bad_input(name, format!("it must be {expected}, not {}", type_name(value)))
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
