//! The frontmatter field `cues`: other wordings, tasks, commands and errors with which a memory will be needed.

use super::scalar;
use crate::base::error::{Error, Result};
use serde::Deserialize;
use serde_json::Value;

/// Cues of one memory that count: enough for other wordings, the task, the command and the error, and few enough to stay specific.
const CUES: usize = 8;
/// Bytes of all cues of one memory. Measured with 130 on average; more would make every memory fit every message.
const CUE_BYTES: usize = 300;

#[derive(Deserialize)]
struct Field {
    cues: Value,
}

/// Parses the value of the field as it is written in the file: one phrase or a list of them. Anything else is ignored.
pub(super) fn parse(value: &str) -> Vec<String> {
    let Ok(Field { cues }) = serde_saphyr::from_str::<Field>(&format!("cues: {value}")) else { return Vec::new() };
    let cues = match cues {
        Value::Array(items) => items.iter().filter_map(phrase).collect(),
        one => phrase(&one).into_iter().collect::<Vec<_>>(),
    };
    let mut left = Some(CUE_BYTES);
    let fits = |cue: &String| {
        left = left.and_then(|left| left.checked_sub(cue.len()));
        left.is_some()
    };
    cues.into_iter().filter(|cue| !cue.trim().is_empty()).take(CUES).take_while(fits).collect()
}

/// The text of a scalar. An error code is a cue too: `404`.
fn phrase(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Checks cues that are to be written. Returns them trimmed, without blank and repeated ones.
fn validate(cues: &[String]) -> Result<Vec<String>> {
    let mut kept: Vec<String> = Vec::new();
    for cue in cues.iter().map(|cue| cue.trim()).filter(|cue| !cue.is_empty()) {
        if cue.contains(char::is_control) {
            return Err(Error::bad_input("cues", "each cue must be a single line without control characters"));
        }
        if !kept.iter().any(|other| other == cue) {
            kept.push(cue.to_owned());
        }
    }
    if kept.len() > CUES {
        return Err(Error::bad_input("cues", format!("too many ({}); the limit is {}", kept.len(), CUES)));
    }
    let bytes: usize = kept.iter().map(String::len).sum();
    if bytes > CUE_BYTES {
        return Err(Error::bad_input("cues", format!("{bytes} bytes in total; the limit is {}", CUE_BYTES)));
    }
    Ok(kept)
}

/// Checks cues and formats them as the value of the field, a list on one line. Returns `None` if there are none.
pub(crate) fn to_yaml(cues: &[String]) -> Result<Option<String>> {
    let cues = validate(cues)?;
    let quoted: Vec<String> = cues.iter().map(|cue| scalar::quoted(cue)).collect();
    Ok((!quoted.is_empty()).then(|| format!("[{}]", quoted.join(", "))))
}
