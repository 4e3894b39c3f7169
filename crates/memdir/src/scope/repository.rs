//! What a repository says of its own memory. It comes from strangers: it may name and limit, and what would lead out of the
//! repository, stand in for the person's memories or clash with a mount is left out, and said.

use super::Scope;
use crate::{
    config::{RepositorySettings, Settings},
    wire,
};
use memdir_core::{
    project::Project,
    store::{
        Access, Entrypoint, Source,
        files::{Links, Mount, real_path},
        space::Places,
    },
};
use std::path::{Path, PathBuf};

/// First parts of names that are never a repository's to give.
const RESERVED: &[&str] = &["user", "global", "team", "agent", "logs", wire::CHATS];

/// The settings a repository brings.
pub(super) fn file(project: &Project) -> PathBuf {
    Places::team(&project.checkout).join("config.toml")
}

/// Reads them, without mounts that lead out of the repository.
pub(super) fn settings(home: &Path, project: &Project, notes: &mut Vec<String>) -> RepositorySettings {
    if !wire::is_team(home, &Places::team(&project.checkout)) {
        return RepositorySettings::default();
    }
    let file = file(project);
    let mut read = RepositorySettings::load(&file, notes);
    let top = real_path(&project.checkout);
    read.mounts.retain_mut(|(name, path)| {
        let real = real_path(&project.checkout.join(&*path));
        let inside = path.is_relative() && real.starts_with(&top) && real != top && !real.starts_with(top.join(".git"));
        if !inside {
            notes.push(format!(
                "{}: the mount {name} leads to {}, outside the repository, and is left out",
                file.display(),
                path.display()
            ));
        }
        *path = real;
        inside
    });
    read
}

impl Scope {
    /// Adds the repository's directories that take no name and no file from anybody.
    pub(super) fn repository_mounts(&mut self, settings: &Settings, repository: &RepositorySettings) {
        let file = file(&self.project);
        for (name, root) in &repository.mounts {
            if let Some(why) = self.clash(name, root) {
                self.notes.push(format!("{}: the mount {name} is left out: {why}", file.display()));
                continue;
            }
            let mount = Mount {
                access: Access::ReadOnly,
                source: Source::Custom,
                entrypoint: Entrypoint::Off,
                links: Links { fixed: true, ..Links::default() },
                ..settings.places().mount(name, root)
            };
            self.add(mount, "the repository's .memdir/config.toml, read-only");
        }
    }

    /// What a mount of the repository's would hide or double.
    fn clash(&self, name: &str, root: &Path) -> Option<String> {
        let first = name.split('/').next().unwrap_or(name);
        if RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(first)) {
            return Some(format!("names under {first}/ are not a repository's to give"));
        }
        let under = |a: &str, b: &str| a == b || a.strip_prefix(b).is_some_and(|rest| rest.starts_with('/'));
        let named = self.mounts.iter().map(|placed| placed.mount.prefix.as_str()).filter(|prefix| !prefix.is_empty());
        if let Some(taken) = { named }.find(|prefix| under(name, prefix) || under(prefix, name)) {
            return Some(format!("there is a mount {taken} already"));
        }
        let own = self.mounts.iter().find(|placed| placed.mount.prefix.is_empty()).map(|placed| &placed.mount.root);
        if own.is_some_and(|own| own.join(first).exists() || own.join(format!("{first}.md")).exists()) {
            return Some(format!("you have memories named {first}, which it would hide"));
        }
        let overlaps = |placed: &&super::Placed| {
            let other = real_path(&placed.mount.root);
            placed.mount.only.is_empty() && (other.starts_with(root) || root.starts_with(&other))
        };
        let other = self.mounts.iter().find(overlaps)?;
        let prefix = if other.mount.prefix.is_empty() { "the project's memory".into() } else { format!("{}/", other.mount.prefix) };
        Some(format!("its files are those of {prefix}"))
    }
}
