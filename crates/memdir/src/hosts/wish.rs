//! What should stand in a settings file, and the file's text once it does, or once it no longer does. Pure.

use super::{
    Event,
    edit::{Edited, Refused},
    is_our_hook, is_our_server, jsonc, toml,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// What goes into one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) file: PathBuf,
    pub(crate) format: Format,
    pub(crate) wishes: Vec<Wish>,
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    /// JSON, with or without comments.
    Json,
    /// TOML.
    Toml,
    /// A file that is ours alone.
    Whole,
}

/// One thing that should stand in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Wish {
    /// The server's entry. Keys beside ours that a person added stay.
    Entry { path: Vec<String>, value: Value },
    /// An element of a list: the hook `host event`.
    Hook { path: Vec<String>, value: Value, host: String, event: Event },
    /// A value the hooks need, unless there is one already; it goes with the last of them.
    Default { path: Vec<String>, value: Value },
    /// A value that must be this one; another that a person set is not overruled.
    Setting { path: Vec<String>, value: Value },
    /// The whole file, which begins with [`MARK`].
    Whole { text: String },
}

impl Wish {
    /// Whether it is a hook, or there for the hooks.
    pub(crate) fn is_hook(&self) -> bool {
        matches!(self, Wish::Hook { .. } | Wish::Default { .. } | Wish::Whole { .. })
    }
}

/// The beginning of a file that is ours alone.
pub(crate) const MARK: &str = "// Written by memdir install;";

/// What a wish did to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Granted {
    pub(crate) text: String,
    /// Containers and defaults that were made.
    pub(crate) made: Vec<Vec<String>>,
    /// What of memdir's stood there before: a person's own entry, as far as it is overruled, or hook.
    pub(crate) was: Option<Value>,
}

/// The file with the wish granted. `programs` are memdir, whatever they are called.
pub(crate) fn grant(format: Format, text: &str, wish: &Wish, programs: &[String]) -> Result<Granted, Refused> {
    let mut was = None;
    let edited = match wish {
        Wish::Entry { path, value } => {
            was = get(format, text, path)?.map(|there| overruled(&there, value));
            entry(format, text, path, value, programs)?
        }
        Wish::Hook { path, value, host, event } => {
            let ours = |there: &Value| is_our_hook(there, host, *event, programs);
            was = jsonc::held(text, path, &ours)?;
            jsonc::put(text, path, value, &ours)?
        }
        Wish::Default { path, value } => match get(format, text, path)? {
            Some(_) => Edited::same(text),
            None => Edited { made: vec![path.clone()], ..set(format, text, path, value)? },
        },
        Wish::Setting { path, value } => match get(format, text, path)? {
            Some(other) if other != *value => {
                return Err(Refused::new(format!("{} is set to {other} in it; remove that first", path.join("."))));
            }
            there => {
                was = there;
                set(format, text, path, value)?
            }
        },
        Wish::Whole { text: wanted } => {
            if !text.is_empty() && !text.starts_with(MARK) {
                return Err(Refused::new("somebody else's file stands there"));
            }
            Edited { text: wanted.clone(), made: Vec::new() }
        }
    };
    Ok(Granted { text: edited.text, made: edited.made, was })
}

/// The file without what the wish put there, and whether something of ours was found. What a person put in its place
/// stays; what `was` there before the wish was granted is there again.
pub(crate) fn withdraw(
    format: Format,
    text: &str,
    wish: &Wish,
    was: Option<&Value>,
    programs: &[String],
) -> Result<(String, bool), Refused> {
    let there = |path: &[String]| get(format, text, path);
    Ok(match wish {
        Wish::Entry { path, value } => match (there(path)?, was) {
            (Some(found), was) if found == *value || is_our_server(&found, programs) => match was {
                Some(was) => (put_back(format, text, path, &found, value, was)?, true),
                None => (remove(format, text, path)?, true),
            },
            _ => (text.to_owned(), false),
        },
        Wish::Hook { path, value, host, event } => {
            let ours = |found: &Value| found == value || is_our_hook(found, host, *event, programs);
            let found = jsonc::held(text, path, &ours)?.is_some();
            match was.filter(|_| found) {
                Some(was) => (jsonc::put(text, path, was, &ours)?.text, true),
                None => (jsonc::take(text, path, &ours)?, found),
            }
        }
        Wish::Default { path, value } => {
            let used = there(&["hooks".into()])?.is_some_and(|hooks| is_used(&hooks));
            if !used && there(path)?.as_ref() == Some(value) { (remove(format, text, path)?, true) } else { (text.to_owned(), false) }
        }
        Wish::Setting { path, value } if was.is_none() && there(path)?.as_ref() == Some(value) => (remove(format, text, path)?, true),
        Wish::Setting { .. } => (text.to_owned(), false),
        Wish::Whole { .. } if text.starts_with(MARK) => (String::new(), true),
        Wish::Whole { .. } => (text.to_owned(), false),
    })
}

/// Where a wish stands: two of one place cannot stand beside each other.
pub(crate) fn place(wish: &Wish) -> String {
    match wish {
        Wish::Hook { path, event, .. } => format!("hook {} {}", path.join("."), event.name()),
        Wish::Entry { path, .. } => format!("entry {}", path.join(".")),
        Wish::Default { path, .. } => format!("default {}", path.join(".")),
        Wish::Setting { path, .. } => format!("setting {}", path.join(".")),
        Wish::Whole { .. } => "whole".to_owned(),
    }
}

/// The containers a wish stands in, outermost first.
pub(crate) fn containers(wish: &Wish) -> Vec<Vec<String>> {
    let deep = match wish {
        Wish::Hook { path, .. } => path.len(),
        Wish::Entry { path, .. } => path.len().saturating_sub(1),
        _ => 0,
    };
    let (Wish::Hook { path, .. } | Wish::Entry { path, .. }) = wish else { return Vec::new() };
    (1..=deep).map(|end| path[..end].to_vec()).collect()
}

/// Whether somebody's hooks are left.
fn is_used(hooks: &Value) -> bool {
    match hooks {
        Value::Object(events) => events.values().any(is_used),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    }
}

/// The file without a container that was made for a wish, if nobody else used it.
pub(crate) fn remove_empty(format: Format, text: &str, path: &[String]) -> Result<String, Refused> {
    match format {
        Format::Json => jsonc::remove_empty(text, path),
        Format::Toml => toml::remove_empty(text, path),
        Format::Whole => Ok(text.to_owned()),
    }
}

/// Whether nothing is left in the file.
pub(crate) fn is_bare(format: Format, text: &str) -> bool {
    match format {
        Format::Json => jsonc::is_bare(text),
        Format::Toml => toml::is_bare(text),
        Format::Whole => text.is_empty(),
    }
}

/// Whether the wish stands in the file as it is wanted; the error says what stands there instead.
pub(crate) fn stands(format: Format, text: &str, wish: &Wish, programs: &[String]) -> Result<bool, Refused> {
    match wish {
        Wish::Whole { text: wanted } => Ok(text == wanted),
        wish => grant(format, text, wish, programs).map(|granted| granted.text == text),
    }
}

/// The value at a path; the root for an empty one.
pub(crate) fn get(format: Format, text: &str, path: &[String]) -> Result<Option<Value>, Refused> {
    match format {
        Format::Json => jsonc::get(text, path),
        Format::Toml => toml::get(text, path),
        Format::Whole => Ok(None),
    }
}

fn set(format: Format, text: &str, path: &[String], value: &Value) -> Result<Edited, Refused> {
    match format {
        Format::Json => jsonc::set(text, path, value),
        Format::Toml => toml::set(text, path, value),
        Format::Whole => Err(Refused::new("a file of our own has no entries")),
    }
}

fn remove(format: Format, text: &str, path: &[String]) -> Result<String, Refused> {
    match format {
        Format::Json => jsonc::remove(text, path),
        Format::Toml => toml::remove(text, path),
        Format::Whole => Ok(String::new()),
    }
}

/// What an entry says under the keys that are set in it.
fn overruled(there: &Value, value: &Value) -> Value {
    let own = |key: &&String| value.get(key.as_str()).is_some();
    there.as_object().into_iter().flatten().filter(|(key, _)| own(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Gives an entry back what was overruled in it; what a person added since stays.
fn put_back(format: Format, text: &str, path: &[String], found: &Value, value: &Value, was: &Value) -> Result<String, Refused> {
    let mut whole = found.clone();
    let mut edited = text.to_owned();
    for key in value.as_object().into_iter().flatten().map(|(key, _)| key) {
        let path: Vec<String> = path.iter().cloned().chain([key.clone()]).collect();
        match was.get(key) {
            _ if format == Format::Toml => {}
            Some(was) => edited = set(format, &edited, &path, was)?.text,
            None => edited = remove(format, &edited, &path)?,
        }
        match (was.get(key), whole.as_object_mut()) {
            (Some(was), Some(whole)) => drop(whole.insert(key.clone(), was.clone())),
            (None, Some(whole)) => drop(whole.shift_remove(key)),
            (_, None) => {}
        }
    }
    if format == Format::Toml { Ok(set(format, text, path, &whole)?.text) } else { Ok(edited) }
}

/// Sets our keys of an entry and leaves the others.
fn entry(format: Format, text: &str, path: &[String], value: &Value, programs: &[String]) -> Result<Edited, Refused> {
    let (Some(there), Some(wanted)) = (get(format, text, path)?, value.as_object()) else { return set(format, text, path, value) };
    if !is_our_server(&there, programs) {
        return Err(Refused::new(format!("{} stands in it and does not start memdir; rename or remove that entry first", path.join("."))));
    }
    let mut merged = there.clone();
    for (key, value) in wanted {
        merged[key] = value.clone();
    }
    if merged == there {
        return Ok(Edited::same(text));
    }
    if format == Format::Toml {
        return set(format, text, path, &merged);
    }
    let mut edited = text.to_owned();
    for (key, value) in wanted {
        let path: Vec<String> = path.iter().cloned().chain([key.clone()]).collect();
        edited = set(format, &edited, &path, value)?.text;
    }
    Ok(Edited { text: edited, made: Vec::new() })
}
