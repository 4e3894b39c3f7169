//! `memdir config`: the settings in force, and where each comes from.

use crate::{
    config::Settings,
    output::{Answer, Page},
    scope::Scope,
};
use memdir_core::store::{Access, files::Mount};
use serde::Serialize;
use std::{io, path::PathBuf};

#[derive(Serialize)]
struct InForce {
    settings: Vec<Setting>,
    mounts: Vec<Mounted>,
}

#[derive(Serialize)]
struct Setting {
    name: &'static str,
    value: String,
    from: String,
}

#[derive(Serialize)]
struct Mounted {
    name: String,
    path: PathBuf,
    access: Access,
    source: memdir_core::store::Source,
    entrypoint: memdir_core::store::Entrypoint,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    only: Vec<String>,
    journal: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<PathBuf>,
}

pub(crate) fn run(settings: &Settings, scope: &Scope) -> Answer {
    let (mounts, notes) = (scope.plain_mounts(), [scope.off_note(), scope.notes.clone()].concat());
    let file = if settings.config.found { "read" } else { "not there" };
    let mut shown = vec![
        Setting { name: "home", value: settings.home.value.display().to_string(), from: settings.home.origin.into() },
        Setting { name: "actor", value: settings.actor.value.clone(), from: settings.actor.origin.into() },
        Setting { name: "config", value: settings.file.display().to_string(), from: file.into() },
    ];
    if let Some(dir) = &settings.dir {
        shown.insert(1, Setting { name: "dir", value: dir.value.display().to_string(), from: dir.origin.into() });
    }
    Answer::new(InForce { settings: shown, mounts: mounts.into_iter().map(mounted).collect() }, show).with_notes(notes)
}

fn mounted(mount: Mount) -> Mounted {
    Mounted {
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

fn show(in_force: &InForce, page: &mut Page<'_>) -> io::Result<()> {
    let mut rows = vec![["setting", "value", "from"].map(str::to_owned).to_vec()];
    rows.extend(in_force.settings.iter().map(|one| vec![one.name.to_owned(), one.value.clone(), one.from.clone()]));
    page.table(&rows)?;
    page.line("")?;
    let mut rows = vec![["mount", "access", "directory"].map(str::to_owned).to_vec()];
    rows.extend(in_force.mounts.iter().map(|mount| {
        let access = if mount.access == Access::ReadOnly { "read-only" } else { "read-write" };
        let only = if mount.only.is_empty() { String::new() } else { format!(" (only {})", mount.only.join(", ")) };
        let name = if mount.name.is_empty() { "(none)".to_owned() } else { format!("{}/", mount.name) };
        vec![name, access.into(), format!("{}{only}", mount.path.display())]
    }));
    page.table(&rows)
}
