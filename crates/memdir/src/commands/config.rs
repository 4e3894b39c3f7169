//! `memdir config`: the settings in effect, and where each comes from.

use super::mount_label;
use crate::{
    config::Settings,
    output::{CommandOutput, Printer},
    scope::Scope,
};
use memdir_core::{Access, Mount};
use serde::Serialize;
use std::{io, path::PathBuf};

#[derive(Serialize)]
struct ConfigOutput {
    settings: Vec<SettingRow>,
    mounts: Vec<MountRow>,
    /// Whether `--dir` selects the memory.
    #[serde(skip)]
    in_dir: bool,
}

#[derive(Serialize)]
struct SettingRow {
    name: &'static str,
    value: String,
    from: String,
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

pub(crate) fn run(settings: &Settings, scope: &Scope) -> CommandOutput {
    let (mounts, notes) = (scope.mounts_only(), [scope.off_note(), scope.notes.clone()].concat());
    let file = if settings.config.found { "read" } else { "not found" };
    let mut shown = vec![
        SettingRow { name: "home", value: settings.home.value.display().to_string(), from: settings.home.origin.into() },
        SettingRow { name: "actor", value: settings.actor.value.clone(), from: settings.actor.origin.into() },
        SettingRow { name: "config", value: settings.file.display().to_string(), from: file.into() },
    ];
    if let Some(dir) = &settings.dir {
        shown.insert(1, SettingRow { name: "dir", value: dir.value.display().to_string(), from: dir.origin.into() });
    }
    let mounts = mounts.into_iter().map(mount_row).collect();
    CommandOutput::new(ConfigOutput { settings: shown, mounts, in_dir: settings.dir.is_some() }, show).with_notes(notes)
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
