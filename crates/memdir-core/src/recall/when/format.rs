//! The value of a `when` field that a tool or a command sets, checked and written as YAML on one line.

use super::parse;
use crate::base::error::{Error, Result};
use serde_json::{Map, Value};

/// Formats the value of the field, or returns `None` if there are no tripwires. Fails if a key is unknown, or a pattern can never
/// match: a rule that does nothing would be believed to protect.
pub(crate) fn to_yaml(map: &Map<String, Value>) -> Result<Option<String>> {
    let map: Map<String, Value> =
        map.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), value.clone())).collect();
    // JSON is YAML on one line.
    let (when, problems) = parse(&Value::Object(map).to_string(), 1);
    if let Some(problem) = problems.into_iter().chain(when.unreachable()).next() {
        return Err(Error::bad_input("when", problem.what.trim_start_matches("when: ")));
    }
    match (when.tripwires.is_empty(), when.strength) {
        (true, None) => Ok(None),
        (true, Some(_)) => Err(Error::bad_input("when", "`strength` requires a command, path, words or tools")),
        (false, _) => Ok(Some(when.to_yaml())),
    }
}
