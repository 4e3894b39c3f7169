//! `memdir config`: every setting with its value and its origin; sets, removes and edits the keys of `config.toml`.

use super::mount_label;
use crate::{
    args::{ConfigWhat, GlobalArgs},
    config::{self, ConfigKey, KEYS, Settings, SettingsFile, edit},
    editor::EditorFile,
    exit::Failure,
    output::{CommandOutput, Printer},
    scope::Scope,
};
use memdir_core::{
    Access, Mount,
    internal::base::{shell, text},
};
use serde::Serialize;
use std::{
    io,
    num::IntErrorKind,
    path::{Path, PathBuf},
};
use toml_edit::{Array, DocumentMut, Item, Value};

#[derive(Serialize)]
struct ConfigOutput {
    settings: Vec<ConfigRow>,
    mounts: Vec<MountRow>,
    /// Whether `--dir` selects the memory.
    #[serde(skip)]
    in_dir: bool,
}

#[derive(Serialize)]
pub(super) struct ConfigRow {
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) from: String,
}

#[derive(Serialize)]
struct MountRow {
    name: String,
    path: PathBuf,
    access: Access,
    source: memdir_core::Source,
    entrypoint: memdir_core::EntrypointMode,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    only: Vec<String>,
    journal: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<PathBuf>,
}

/// The outcome of a change of the settings file.
#[derive(Serialize)]
struct ConfigChange {
    file: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The new value as TOML; `None` if the key was removed or the whole file was edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    changed: bool,
}

pub(crate) fn run(settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    let notes = [scope.off_note(), scope.notes.clone()].concat();
    let rows = setting_rows(settings, scope)?;
    let mounts = scope.shown_mounts().map(|scoped| mount_row(scoped.mount.clone())).collect();
    Ok(CommandOutput::new(ConfigOutput { settings: rows, mounts, in_dir: settings.dir.is_some() }, show).with_notes(notes))
}

/// Every setting with its value and its origin.
pub(super) fn setting_rows(settings: &Settings, scope: &Scope) -> Result<Vec<ConfigRow>, Failure> {
    let mut rows = option_rows(settings, scope);
    rows.extend(key_rows(settings)?);
    Ok(rows)
}

/// The settings that are options or variables.
fn option_rows(settings: &Settings, scope: &Scope) -> Vec<ConfigRow> {
    let row = |name, value: String, from: &str| ConfigRow { name, value, from: from.into() };
    let optional = |name, setting: Option<(String, &str)>| {
        let (value, from) = setting.unwrap_or_else(|| ("none".into(), "default"));
        row(name, value, from)
    };
    let file = if settings.config.found { "read" } else { "not found" };
    let project = match (&settings.project, &settings.dir) {
        (Some(project), _) => Some((project.value.clone(), project.origin)),
        (None, Some(_)) => None,
        (None, None) => Some((scope.id.clone(), "current directory")),
    };
    let only: Vec<String> = settings.only.iter().map(ToString::to_string).collect();
    vec![
        row("home", settings.home.value.display().to_string(), settings.home.origin),
        optional("dir", settings.dir.as_ref().map(|dir| (dir.value.display().to_string(), dir.origin))),
        optional("project", project),
        optional("agent", settings.agent.as_ref().map(|agent| (agent.value.clone(), agent.origin))),
        optional("only", (!only.is_empty()).then(|| (only.join(","), "--only"))),
        row("actor", settings.actor.value.clone(), settings.actor.origin),
        row("config", settings.file.display().to_string(), file),
    ]
}

/// The keys of the settings file. A variable that overrides a key is its origin.
fn key_rows(settings: &Settings) -> Result<Vec<ConfigRow>, Failure> {
    let document = parse(&settings.file, &edit::text(&settings.file)?)?;
    let row = |key: &ConfigKey| {
        let (value, from) = match value_in(&document, key.name) {
            Some(value) => (value, settings.file.display().to_string()),
            None => (default_of(key), "default".to_owned()),
        };
        let (value, from) = match (key.name, &settings.disable) {
            ("enabled", Some((disabled, _))) => ((!disabled).to_string(), "MEMDIR_DISABLE".to_owned()),
            ("guidelines", _) => guidelines(settings, value, from),
            _ => (value, from),
        };
        ConfigRow { name: key.name, value, from }
    };
    Ok(KEYS.iter().filter(|key| key.kind != config::TABLE && !key.is_in_list()).map(row).collect())
}

/// The guidelines of the file and of the environment, which are appended.
fn guidelines(settings: &Settings, value: String, from: String) -> (String, String) {
    let own = settings.config.guidelines.iter().filter(|text| !text.trim().is_empty()).count();
    if settings.guidelines.len() == own {
        return (value, from);
    }
    let from = if own > 0 { format!("{from} and environment variables") } else { "environment variables".into() };
    (settings.guidelines.join(" "), from)
}

/// The value of a key in the file, as a user would type it.
fn value_in(document: &DocumentMut, key: &str) -> Option<String> {
    let item = match key.split_once('.') {
        Some((table, key)) => document.get(table)?.as_table_like()?.get(key)?,
        None => document.get(key)?,
    };
    let entries = |count: usize| super::counted(count as u64, "entry", "entries");
    let is_list = KEYS.iter().any(|known| known.name == key && known.kind == config::LIST_OF_TABLES);
    Some(match item {
        Item::ArrayOfTables(tables) => entries(tables.len()),
        Item::Value(Value::Array(array)) if is_list => entries(array.len()),
        Item::Value(Value::String(text)) => text.value().clone(),
        item => item.to_string().trim().to_owned(),
    })
}

fn default_of(key: &ConfigKey) -> String {
    if key.default.starts_with("required") { "none".into() } else { key.default.replace('`', "") }
}

fn mount_row(mount: Mount) -> MountRow {
    MountRow {
        name: mount.prefix,
        path: mount.root,
        access: mount.access,
        source: mount.source,
        entrypoint: mount.entrypoint,
        only: mount.only,
        journal: mount.journal,
        lock: mount.lock,
    }
}

fn show(output: &ConfigOutput, printer: &mut Printer<'_>) -> io::Result<()> {
    let mut rows = vec![["setting", "value", "from"].map(str::to_owned).to_vec()];
    rows.extend(output.settings.iter().map(|one| vec![one.name.to_owned(), one.value.clone(), one.from.clone()]));
    printer.table(&rows)?;
    printer.line("")?;
    let mut rows = vec![["mount", "access", "directory"].map(str::to_owned).to_vec()];
    rows.extend(output.mounts.iter().map(|mount| {
        let access = if mount.access == Access::ReadOnly { "read-only" } else { "read-write" };
        let only = if mount.only.is_empty() { String::new() } else { format!(" (only {})", mount.only.join(", ")) };
        vec![mount_label(&mount.name, output.in_dir), access.into(), format!("{}{only}", mount.path.display())]
    }));
    printer.table(&rows)
}

/// Changes the settings file. It may be invalid before, so that it can be edited.
pub(crate) fn change(what: &ConfigWhat, global: &GlobalArgs) -> Result<CommandOutput, Failure> {
    let file = SettingsFile::locate(global)?;
    let change = match what {
        ConfigWhat::Set { key, values } => set(&file, key, values)?,
        ConfigWhat::Unset { key } => {
            let known = setting(key)?;
            let changed = edit::change(&file.path, |document| unset(&file, document, known))?;
            ConfigChange { file: file.path, key: Some(known.name.to_owned()), value: None, changed }
        }
        ConfigWhat::Edit { draft } => in_editor(&file, draft.as_deref(), global)?,
    };
    Ok(CommandOutput::new(change, show_change))
}

fn set(file: &SettingsFile, key: &str, values: &[String]) -> Result<ConfigChange, Failure> {
    let known = setting(key)?;
    let value = typed_value(known, values)?;
    let shown = value.to_string();
    let changed = edit::change(&file.path, |document| {
        let before = document.to_string();
        file.check(&before)?;
        edit::set(document, known.name, value);
        let after = document.to_string();
        file.check(&after).map_err(|failure| match invalid(known, &reason(file, &failure)) {
            Failure::Usage { message, .. } if is_about_others(document, known, values) => {
                Failure::Usage { message, hint: "to set it together with other settings, run: memdir config edit".into() }
            }
            other => other,
        })?;
        Ok(before != after)
    })?;
    Ok(ConfigChange { file: file.path.clone(), key: Some(known.name.to_owned()), value: Some(shown), changed })
}

/// Removes a key, and returns whether it existed. An invalid file may stay invalid, because this repairs it step by step; a valid file
/// must stay valid.
fn unset(file: &SettingsFile, document: &mut DocumentMut, known: &ConfigKey) -> Result<bool, Failure> {
    let is_valid = file.check(&document.to_string()).is_ok();
    let existed = edit::unset(document, known.name);
    match file.check(&document.to_string()) {
        Err(failure) if is_valid => Err(Failure::Usage {
            message: format!("cannot remove {}: {}", known.name, reason(file, &failure)),
            hint: "other settings require it; to remove them together, run: memdir config edit".into(),
        }),
        _ => Ok(existed),
    }
}

/// The key with this name, if it is one setting.
fn setting(key: &str) -> Result<&'static ConfigKey, Failure> {
    let Some(known) = KEYS.iter().find(|known| known.name == key) else {
        let settings = KEYS.iter().filter(|known| known.kind != config::TABLE && !known.is_in_list());
        let hint = match text::near(key, settings.map(|known| known.name), 1).first() {
            Some(near) => format!("did you mean {near:?}?"),
            None => "list the settings with: memdir config".to_owned(),
        };
        return Err(Failure::Usage { message: format!("unknown setting {key:?}"), hint });
    };
    if known.kind == config::TABLE {
        let first = KEYS.iter().find(|other| other.name.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')));
        return Err(Failure::Usage {
            message: format!("{key:?} is a group of settings"),
            hint: first.map_or_else(String::new, |first| format!("use the name of one setting, such as {}", first.name)),
        });
    }
    if known.kind == config::LIST_OF_TABLES || known.is_in_list() {
        let is_token = key == "tokens" || key.starts_with("tokens.");
        let hint = if is_token { "manage tokens with: memdir token" } else { "edit the settings file with: memdir config edit" };
        return Err(Failure::Usage {
            message: format!("{key:?} cannot be changed with `memdir config set` or `unset`"),
            hint: hint.into(),
        });
    }
    Ok(known)
}

/// The value of a key as TOML, from the words of the command line.
fn typed_value(key: &ConfigKey, values: &[String]) -> Result<Value, Failure> {
    if key.kind.starts_with("list") {
        return Ok(Value::Array(values.iter().map(String::as_str).collect::<Array>()));
    }
    let [value] = values else { return Err(invalid(key, "expected one value")) };
    match key.kind {
        "boolean" => value.parse::<bool>().map(Value::from).map_err(|_| invalid(key, &format!("{value:?}"))),
        "number" => number(value).ok_or_else(|| invalid(key, &format!("{value:?}"))),
        config::WHOLE_NUMBER => value.parse::<i64>().map(Value::from).map_err(|error| match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => invalid(key, &format!("{value} is out of range")),
            _ => invalid(key, &format!("{value:?}")),
        }),
        _ => Ok(Value::from(value.as_str())),
    }
}

/// A number, as it is written if it is whole.
fn number(text: &str) -> Option<Value> {
    let whole = text.parse::<i64>().ok().map(Value::from);
    whole.or_else(|| text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from))
}

/// Whether an error is about the other settings that a key requires: the type of the key permits its value, or its table lacks one
/// without a default.
fn is_about_others(document: &DocumentMut, key: &ConfigKey, values: &[String]) -> bool {
    let table = |key: &ConfigKey| key.name.split_once('.').map(|(table, _)| table);
    let is_missing = |other: &ConfigKey| {
        table(other) == table(key) && other.default == "required" && !other.is_in_list() && value_in(document, other.name).is_none()
    };
    key.kind == "string" || matches!(values, [value] if key.kind.contains(&format!("`{value}`"))) || KEYS.iter().any(is_missing)
}

fn invalid(key: &ConfigKey, why: &str) -> Failure {
    let kind = if key.kind == "boolean" { "true or false".to_owned() } else { key.kind.replace('`', "") };
    Failure::Usage { message: format!("invalid value for {}: {why}", key.name), hint: format!("{} takes: {kind}", key.name) }
}

/// The reason of a failure without the place in the file, which does not exist yet.
fn reason(file: &SettingsFile, failure: &Failure) -> String {
    let message = failure.text().message;
    let rest = message.strip_prefix(&*file.path.to_string_lossy()).and_then(|rest| rest.split_once(": "));
    rest.map_or(message.clone(), |(_, why)| why.to_owned())
}

fn in_editor(file: &SettingsFile, draft: Option<&Path>, global: &GlobalArgs) -> Result<ConfigChange, Failure> {
    let before = edit::text(&file.path)?;
    let draft = match draft {
        Some(path) => EditorFile::resume(&file.home, path)?,
        None => EditorFile::create(&file.home, "config.toml", before.as_bytes())?,
    };
    let home = global.home.as_ref().map_or(String::new(), |home| format!("--home {} ", shell::quote_posix(&home.to_string_lossy())));
    let resume = |path: &Path| format!("memdir {home}config edit --draft {}", shell::quote_posix(&path.to_string_lossy()));
    let changed = draft.edit(before.as_bytes(), resume, |bytes| {
        let after = super::to_text(&file.path, bytes)?;
        if after == before {
            return Ok(false);
        }
        file.check(&after)?;
        edit::replace_text(&file.path, &before, &after).map(|()| true)
    })?;
    Ok(ConfigChange { file: file.path.clone(), key: None, value: None, changed })
}

fn parse(file: &Path, text: &str) -> Result<DocumentMut, Failure> {
    text.parse().map_err(|error: toml_edit::TomlError| Failure::Settings {
        message: format!("{}: {}", file.display(), error.message()),
        hint: "fix the file with: memdir config edit".into(),
    })
}

fn show_change(change: &ConfigChange, printer: &mut Printer<'_>) -> io::Result<()> {
    let file = change.file.display();
    match (&change.key, &change.value) {
        (Some(key), _) if !change.changed => printer.line(format!("unchanged: {key}")),
        (Some(key), Some(value)) => {
            let key = printer.strong(key);
            printer.line(format!("set {key} = {value} in {file}"))
        }
        (Some(key), None) => {
            let key = printer.strong(key);
            printer.line(format!("removed {key} from {file}"))
        }
        (None, _) if change.changed => printer.line(format!("saved {file}")),
        (None, _) => printer.line(format!("unchanged: {file}")),
    }
}
