//! Forgetting in files that are not memories: lists of lines, JSON, texts. The words may be written with escapes in JSON. A file that
//! memdir does not know is treated as a text.

use crate::exit::Failure;
use memdir_core::{
    Phrase,
    internal::base::disk::{self, FileLock, LockWait, Replace},
};
use serde_json::Value;
use std::{fs, io::Write as _, path::Path};

/// Whether a file has the words, in its name or in its content.
pub(super) fn has(path: &Path, phrase: &Phrase) -> bool {
    name_has(path, phrase) || fs::read(path).is_ok_and(|bytes| bytes_have(&bytes, phrase))
}

/// Why a file is never changed, if it is not.
pub(super) fn stays(path: &Path) -> Option<&'static str> {
    let name = path.file_name().unwrap_or_default();
    let is_database = || {
        let mut head = [0; 16];
        fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut head)).is_ok() && &head == b"SQLite format 3\0"
    };
    if name == "config.toml" {
        return Some("the settings are yours; edit them with: memdir config edit");
    }
    is_database().then_some("it is a database")
}

/// Removes the words from a file: lines of a list, strings of JSON, words of a text. A file whose name has them is removed.
pub(super) fn forget(path: &Path, phrase: &Phrase) -> Result<(), Failure> {
    let failed = |source| Failure::File { doing: "change", path: path.to_owned(), source };
    if name_has(path, phrase) {
        return fs::remove_file(path).map_err(failed);
    }
    let _lock = FileLock::for_update(path, LockWait::COMMAND).map_err(failed)?;
    let bytes = fs::read(path).map_err(failed)?;
    let redacted = match path.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl") => without_lines(&bytes, phrase),
        _ => match serde_json::from_slice::<Value>(&bytes) {
            Ok(mut value) => {
                redact_json(&mut value, phrase);
                serde_json::to_vec_pretty(&value).unwrap_or_default()
            }
            Err(_) => phrase.redact_bytes(&bytes).unwrap_or(bytes),
        },
    };
    disk::replace(path, Replace::DURABLE, |file| file.write_all(&redacted)).map_err(failed)
}

fn name_has(path: &Path, phrase: &Phrase) -> bool {
    path.file_name().is_some_and(|name| phrase.is_in(name.as_encoded_bytes()))
}

fn bytes_have(bytes: &[u8], phrase: &Phrase) -> bool {
    if phrase.is_in(bytes) {
        return true;
    }
    // Only JSON with escapes is parsed.
    let escaped =
        bytes.contains(&b'\\') && bytes.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|byte| b"{[\"".contains(byte));
    escaped
        && bytes
            .split(|byte| *byte == b'\n')
            .chain([bytes])
            .any(|part| serde_json::from_slice(part).is_ok_and(|value| json_has(&value, phrase)))
}

fn json_has(value: &Value, phrase: &Phrase) -> bool {
    match value {
        Value::String(text) => phrase.is_in(text),
        Value::Array(items) => items.iter().any(|item| json_has(item, phrase)),
        Value::Object(map) => map.iter().any(|(key, value)| phrase.is_in(key) || json_has(value, phrase)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn redact_json(value: &mut Value, phrase: &Phrase) {
    match value {
        Value::String(text) => {
            if let Some(redacted) = phrase.redact(text) {
                *text = redacted;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact_json(item, phrase)),
        Value::Object(map) => {
            let old = std::mem::take(map);
            for (key, mut value) in old {
                redact_json(&mut value, phrase);
                map.insert(phrase.redact(&key).unwrap_or(key), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The lines that do not have the words.
fn without_lines(bytes: &[u8], phrase: &Phrase) -> Vec<u8> {
    bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| !bytes_have(line, phrase)).collect::<Vec<_>>().concat()
}
