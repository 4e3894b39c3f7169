//! The settings of a repository. They are untrusted input: they may name and restrict mounts. Mounts that lead out of the
//! repository, replace a memory of the user or conflict with another mount are ignored with a note.

use super::Scope;
use crate::{
    config::{RepositorySettings, Settings},
    mounts,
};
use memdir_core::{
    Access, EntrypointMode, Links, Mount, Project, Source,
    internal::store::{mount::real_path, space::Places},
};
use std::path::{Path, PathBuf};

/// First path components that a repository cannot use.
const RESERVED: &[&str] = &["user", "global", "team", "agent", "logs", mounts::CHATS];

/// The settings file of a repository.
pub(super) fn file(project: &Project) -> PathBuf {
    Places::team(&project.checkout).join("config.toml")
}

/// Reads the settings of a repository, without mounts that lead out of it.
pub(super) fn settings(home: &Path, project: &Project, notes: &mut Vec<String>) -> RepositorySettings {
    if !mounts::is_team(home, &Places::team(&project.checkout)) {
        return RepositorySettings::default();
    }
    let file = file(project);
    let mut read = RepositorySettings::load(&file, notes);
    let top = real_path(&project.checkout);
    read.mounts.retain_mut(|(name, path)| {
        let real = real_path(&project.checkout.join(&*path));
        let inside = path.is_relative() && real.starts_with(&top) && real != top && !real.starts_with(top.join(".git"));
        if !inside {
            let why = format!(
                "{} must be a relative path that resolves to a directory below the repository's root and outside of .git",
                path.display()
            );
            notes.push(format!("{}: ignored mount {name:?}: {why}", file.display()));
        }
        *path = real;
        inside
    });
    read
}

impl Scope {
    /// Adds the mounts of the repository that do not conflict with others.
    pub(super) fn repository_mounts(&mut self, settings: &Settings, repository: &RepositorySettings) {
        let file = file(&self.project);
        for (name, root) in &repository.mounts {
            if let Some(why) = self.conflict(name, root) {
                self.notes.push(format!("{}: ignored mount {name:?}: {why}", file.display()));
                continue;
            }
            let mount = Mount {
                access: Access::ReadOnly,
                source: Source::Custom,
                entrypoint: EntrypointMode::Off,
                links: Links { fixed: true, ..Links::default() },
                ..settings.places().mount(name, root)
            };
            self.add(mount, "[[mounts]] in the repository's .memdir/config.toml");
        }
    }

    /// Why a mount of the repository conflicts with the other mounts, or `None` if it does not.
    fn conflict(&self, name: &str, root: &Path) -> Option<String> {
        let first = name.split('/').next().unwrap_or(name);
        if RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(first)) {
            return Some(format!("a repository cannot use the prefix {first}/"));
        }
        let under = |a: &str, b: &str| a == b || a.strip_prefix(b).is_some_and(|rest| rest.starts_with('/'));
        let named = self.mounts.iter().map(|scoped| scoped.mount.prefix.as_str()).filter(|prefix| !prefix.is_empty());
        if let Some(other) = { named }.find(|prefix| under(name, prefix) || under(prefix, name)) {
            return Some(format!("it overlaps the mount {other:?}"));
        }
        let own = self.mounts.iter().find(|scoped| scoped.mount.prefix.is_empty()).map(|scoped| &scoped.mount.root);
        if own.is_some_and(|own| own.join(first).exists() || own.join(format!("{first}.md")).exists()) {
            return Some(format!("it would hide your memories under {first:?}"));
        }
        let overlaps = |scoped: &&super::ScopedMount| {
            let other = real_path(&scoped.mount.root);
            scoped.mount.only.is_empty() && (other.starts_with(root) || root.starts_with(&other))
        };
        let other = self.mounts.iter().find(overlaps)?;
        let prefix = if other.mount.prefix.is_empty() { "the project's memory".into() } else { format!("{}/", other.mount.prefix) };
        Some(format!("its files are also in {prefix}"))
    }
}
