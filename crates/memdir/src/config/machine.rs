//! What the hosts' files depend on, as it is on this machine.

use super::{Settings, user_home, variable};
use crate::{
    exit::Failure,
    hosts::{Machine, Os, VARIABLES},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// What the hosts' files depend on, with this program by the path a person would run it by.
pub(crate) fn machine(settings: &Settings, project: PathBuf) -> Result<Machine, Failure> {
    let home = user_home().ok_or_else(|| Failure::Settings {
        message: "there is no home directory to find the hosts' settings in".into(),
        hint: "Set HOME.".into(),
    })?;
    let found = |name: &&'static str| variable(name).map(|value| (*name, value));
    let variables: BTreeMap<&'static str, String> = VARIABLES.iter().filter_map(found).collect();
    let exe = std::env::current_exe().map_err(|source| Failure::File { doing: "find", path: "memdir itself".into(), source })?;
    let exe = on_path(&exe, variables.get("PATH")).unwrap_or(exe);
    let before =
        settings.dir.iter().filter(|dir| dir.origin == "--dir").flat_map(|dir| ["--dir".to_owned(), dir.value.display().to_string()]);
    Ok(Machine { os: Os::here(), home, project, exe: exe.display().to_string(), before: before.collect(), variables })
}

/// The link in `PATH` that leads to this program: package managers move what it points to with every version.
fn on_path(exe: &Path, path: Option<&String>) -> Option<PathBuf> {
    let real = exe.canonicalize().ok()?;
    let named = std::env::split_paths(path?).filter(|dir| dir.is_absolute()).map(|dir| dir.join(exe.file_name().unwrap_or_default()));
    named.into_iter().find(|path| path.canonicalize().is_ok_and(|other| other == real))
}
