//! Edits of hosts' settings files: what an installation writes, and the text of a file with and without it. Pure.

use super::{
    HookEvent, HookSpec, SERVER,
    command::{is_our_hook, is_our_server},
    jsonc,
    remote_entry::{TOKEN_KEYS, masked, remote_url},
    text_edit::{EditError, EditedConfigText, dotted},
    toml,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// The edits of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostConfigFile {
    pub(crate) path: PathBuf,
    pub(crate) format: ConfigFormat,
    pub(crate) edits: Vec<ConfigEdit>,
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ConfigFormat {
    /// JSON, with or without comments.
    Json,
    /// TOML.
    Toml,
    /// A file that memdir writes as a whole.
    Whole,
}

/// One edit of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ConfigEdit {
    /// Registers the server. Keys that the user added to the entry are kept.
    Entry { path: Vec<String>, value: Value },
    /// Adds the hook `host event` to a list.
    Hook { path: Vec<String>, value: Value, host: String, event: HookEvent },
    /// Adds a value that the hooks need unless there is one; it is removed with the last hook.
    Default { path: Vec<String>, value: Value },
    /// Sets a value. What the user had there is restored when it is removed.
    Setting { path: Vec<String>, value: Value },
    /// Reverts an earlier [`ConfigEdit::Setting`]: its value becomes what the user had, unless the user has changed it since.
    Restore { path: Vec<String>, value: Value, previous: Option<Value> },
    /// Writes the whole file, which begins with [`MARK`].
    Whole { text: String },
}

/// The beginning of a file that memdir writes as a whole.
pub(crate) const MARK: &str = "// Written by memdir install;";

/// The edit that registers the server under a key.
pub(super) fn server_entry(key: &str, value: Value) -> ConfigEdit {
    ConfigEdit::Entry { path: vec![key.to_owned(), SERVER.to_owned()], value }
}

/// A file with nothing but the server.
pub(super) fn server_file(path: PathBuf, format: ConfigFormat, key: &str, value: Value) -> HostConfigFile {
    HostConfigFile { path, format, edits: vec![server_entry(key, value)] }
}

/// A text with an edit applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AppliedEdit {
    pub(crate) text: String,
    /// The paths of containers and defaults that were created.
    pub(crate) created: Vec<Vec<String>>,
    /// What the user had there before: the replaced keys of an entry, a hook, or a setting.
    pub(crate) previous: Option<Value>,
}

impl ConfigEdit {
    /// The edit that adds a hook, in the place most hosts share.
    pub(super) fn hook(host: &str, hook: &HookSpec, value: Value) -> ConfigEdit {
        ConfigEdit::Hook { path: vec!["hooks".into(), hook.name.into()], value, host: host.into(), event: hook.event }
    }

    /// Whether this is a hook, or there for the hooks.
    pub(crate) fn is_hook(&self) -> bool {
        matches!(self, ConfigEdit::Hook { .. } | ConfigEdit::Default { .. } | ConfigEdit::Whole { .. })
    }

    /// Returns the edit without a token, for receipts.
    pub(crate) fn without_token(&self) -> ConfigEdit {
        match self {
            ConfigEdit::Entry { path, value } if remote_url(value).is_some() => {
                ConfigEdit::Entry { path: path.clone(), value: masked(value) }
            }
            edit => edit.clone(),
        }
    }

    /// Whether this is a setting of the host, or takes one back.
    pub(crate) fn is_setting(&self) -> bool {
        matches!(self, ConfigEdit::Setting { .. } | ConfigEdit::Restore { .. })
    }

    /// Identifies the place of the edit in its file: two edits with one key exclude each other. Receipts are keyed by it.
    pub(crate) fn key(&self) -> String {
        match self {
            ConfigEdit::Hook { path, event, .. } => format!("hook {} {}", dotted(path), event.name()),
            ConfigEdit::Entry { path, .. } => format!("entry {}", dotted(path)),
            ConfigEdit::Default { path, .. } => format!("default {}", dotted(path)),
            ConfigEdit::Setting { path, .. } | ConfigEdit::Restore { path, .. } => format!("setting {}", dotted(path)),
            ConfigEdit::Whole { .. } => "whole".to_owned(),
        }
    }

    /// The paths of the containers around the edit, outermost first.
    pub(crate) fn containers(&self) -> Vec<Vec<String>> {
        let (path, depth) = match self {
            ConfigEdit::Hook { path, .. } => (path, path.len()),
            ConfigEdit::Entry { path, .. } => (path, path.len().saturating_sub(1)),
            _ => return Vec::new(),
        };
        (1..=depth).map(|end| path[..end].to_vec()).collect()
    }

    /// Applies the edit to a text. `programs` are further paths of memdir, whatever their names.
    pub(crate) fn apply(&self, format: ConfigFormat, text: &str, programs: &[String]) -> Result<AppliedEdit, EditError> {
        let mut previous = None;
        let edited = match self {
            ConfigEdit::Entry { path, value } => {
                previous = get(format, text, path)?.map(|existing| replaced_keys(&existing, value));
                set_entry(format, text, path, value, programs)?
            }
            ConfigEdit::Hook { path, value, host, event } => {
                let ours = |existing: &Value| is_our_hook(existing, host, *event, programs);
                previous = jsonc::find_element(text, path, &ours)?;
                jsonc::put_element(text, path, value, &ours)?
            }
            ConfigEdit::Default { path, value } => match get(format, text, path)? {
                Some(_) => EditedConfigText::unchanged(text),
                None => EditedConfigText { created: vec![path.clone()], ..set(format, text, path, value)? },
            },
            ConfigEdit::Setting { path, value } => {
                previous = get(format, text, path)?;
                set(format, text, path, value)?
            }
            ConfigEdit::Restore { path, value, previous: users } => match (get(format, text, path)?, users) {
                (Some(current), Some(users)) if current == *value => set(format, text, path, users)?,
                (Some(current), None) if current == *value => EditedConfigText { text: remove(format, text, path)?, created: Vec::new() },
                _ => EditedConfigText::unchanged(text),
            },
            ConfigEdit::Whole { text: wanted } => {
                if !text.is_empty() && !text.starts_with(MARK) {
                    return Err(EditError::new("the file exists and was not written by memdir").with_hint("move the file elsewhere"));
                }
                EditedConfigText { text: wanted.clone(), created: Vec::new() }
            }
        };
        Ok(AppliedEdit { text: edited.text, created: edited.created, previous })
    }

    /// Whether applying the edit would not change the text.
    pub(crate) fn is_applied(&self, format: ConfigFormat, text: &str, programs: &[String]) -> Result<bool, EditError> {
        match self {
            ConfigEdit::Whole { text: wanted } => Ok(text == wanted),
            edit => edit.apply(format, text, programs).map(|applied| applied.text == text),
        }
    }

    /// Removes the edit from a text, and returns whether something of memdir's was there. A value that the user put in its place is
    /// kept; the `previous` value is restored.
    pub(crate) fn remove(
        &self,
        format: ConfigFormat,
        text: &str,
        previous: Option<&Value>,
        programs: &[String],
    ) -> Result<(String, bool), EditError> {
        let current = |path: &[String]| get(format, text, path);
        Ok(match self {
            ConfigEdit::Entry { path, value } => match current(path)? {
                Some(entry) if entry == *value || is_ours(&entry, value, programs) => match previous {
                    Some(previous) => (restore_keys(format, text, path, &entry, value, previous)?, true),
                    None => (remove(format, text, path)?, true),
                },
                _ => (text.to_owned(), false),
            },
            ConfigEdit::Hook { path, value, host, event } => {
                let ours = |existing: &Value| existing == value || is_our_hook(existing, host, *event, programs);
                let exists = jsonc::find_element(text, path, &ours)?.is_some();
                match previous.filter(|_| exists) {
                    Some(previous) => (jsonc::put_element(text, path, previous, &ours)?.text, true),
                    None => (jsonc::remove_elements(text, path, &ours)?, exists),
                }
            }
            ConfigEdit::Default { path, value } => {
                let used = current(&["hooks".into()])?.is_some_and(|hooks| has_hooks(&hooks));
                let removable = !used && current(path)?.as_ref() == Some(value);
                if removable { (remove(format, text, path)?, true) } else { (text.to_owned(), false) }
            }
            ConfigEdit::Setting { path, value } if current(path)?.as_ref() == Some(value) => match previous {
                Some(previous) => (set(format, text, path, previous)?.text, true),
                None => (remove(format, text, path)?, true),
            },
            ConfigEdit::Setting { .. } | ConfigEdit::Restore { .. } => (text.to_owned(), false),
            ConfigEdit::Whole { .. } if text.starts_with(MARK) => (String::new(), true),
            ConfigEdit::Whole { .. } => (text.to_owned(), false),
        })
    }
}

/// Whether any hooks are left.
fn has_hooks(hooks: &Value) -> bool {
    match hooks {
        Value::Object(events) => events.values().any(has_hooks),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    }
}

/// Removes a container that was created for an edit if it is empty.
pub(crate) fn remove_empty(format: ConfigFormat, text: &str, path: &[String]) -> Result<String, EditError> {
    match format {
        ConfigFormat::Json => jsonc::remove_empty(text, path),
        ConfigFormat::Toml => toml::remove_empty(text, path),
        ConfigFormat::Whole => Ok(text.to_owned()),
    }
}

/// Whether the file has no content left.
pub(crate) fn is_empty(format: ConfigFormat, text: &str) -> bool {
    match format {
        ConfigFormat::Json => jsonc::is_empty_file(text),
        ConfigFormat::Toml => toml::is_empty_file(text),
        ConfigFormat::Whole => text.is_empty(),
    }
}

/// Returns the value at a path; an empty path is the root.
pub(crate) fn get(format: ConfigFormat, text: &str, path: &[String]) -> Result<Option<Value>, EditError> {
    match format {
        ConfigFormat::Json => jsonc::get(text, path),
        ConfigFormat::Toml => toml::get(text, path),
        ConfigFormat::Whole => Ok(None),
    }
}

fn set(format: ConfigFormat, text: &str, path: &[String], value: &Value) -> Result<EditedConfigText, EditError> {
    match format {
        ConfigFormat::Json => jsonc::set(text, path, value),
        ConfigFormat::Toml => toml::set(text, path, value),
        ConfigFormat::Whole => Err(EditError::new("the file has no entries")),
    }
}

fn remove(format: ConfigFormat, text: &str, path: &[String]) -> Result<String, EditError> {
    match format {
        ConfigFormat::Json => jsonc::remove(text, path),
        ConfigFormat::Toml => toml::remove(text, path),
        ConfigFormat::Whole => Ok(String::new()),
    }
}

/// Whether an existing entry is memdir's, which `value` would replace: it starts memdir, or both are servers over HTTP under the name
/// of the team server.
fn is_ours(existing: &Value, value: &Value, programs: &[String]) -> bool {
    is_our_server(existing, programs) || (remote_url(existing).is_some() && remote_url(value).is_some())
}

/// The values of an existing entry under the keys that `value` sets.
fn replaced_keys(existing: &Value, value: &Value) -> Value {
    let is_set = |key: &&String| value.get(key.as_str()).is_some();
    existing.as_object().into_iter().flatten().filter(|(key, _)| is_set(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Sets memdir's keys of an entry and keeps the others.
fn set_entry(format: ConfigFormat, text: &str, path: &[String], value: &Value, programs: &[String]) -> Result<EditedConfigText, EditError> {
    let (Some(existing), Some(wanted)) = (get(format, text, path)?, value.as_object()) else { return set(format, text, path, value) };
    if !is_ours(&existing, value, programs) {
        let other = if remote_url(value).is_some() { "has no URL" } else { "does not start memdir" };
        let error = EditError::new(format!("`{}` exists but {other}", dotted(path)));
        return Err(error.with_hint("rename or remove this entry"));
    }
    let mut merged = existing.clone();
    for (key, value) in wanted {
        merged[key] = value.clone();
    }
    // An earlier token must not stay beside another way to sign in.
    let outdated: Vec<&str> = match (remote_url(value), merged.as_object_mut()) {
        (Some(_), Some(keys)) => TOKEN_KEYS.into_iter().filter(|key| !wanted.contains_key(*key) && keys.remove(*key).is_some()).collect(),
        _ => Vec::new(),
    };
    if merged == existing {
        return Ok(EditedConfigText::unchanged(text));
    }
    let mut edited = text.to_owned();
    for key in outdated {
        edited = remove(format, &edited, &child(path, key))?;
    }
    for (key, value) in wanted {
        edited = set(format, &edited, &child(path, key), value)?.text;
    }
    Ok(EditedConfigText { text: edited, created: Vec::new() })
}

/// Restores the keys of an entry that an installation replaced; keys the user has added since are kept.
fn restore_keys(
    format: ConfigFormat,
    text: &str,
    path: &[String],
    entry: &Value,
    value: &Value,
    previous: &Value,
) -> Result<String, EditError> {
    let mut edited = text.to_owned();
    for key in value.as_object().into_iter().flatten().map(|(key, _)| key) {
        edited = match previous.get(key) {
            Some(previous) => set(format, &edited, &child(path, key), previous)?.text,
            None if entry.get(key).is_some() => remove(format, &edited, &child(path, key))?,
            None => edited,
        };
    }
    Ok(edited)
}

fn child(path: &[String], key: &str) -> Vec<String> {
    path.iter().cloned().chain([key.to_owned()]).collect()
}
