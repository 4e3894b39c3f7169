//! What the hosts' files depend on, as it is on this machine.

use super::{Settings, user_home, variable};
use crate::{
    exit::Failure,
    hosts::{self, Machine, Os},
};
use memdir_core::{project::Project, store::space::AgentScope};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// What the hosts' files depend on, with this program by the path a person would run it by.
pub(crate) fn machine(settings: &Settings, project: Project) -> Result<Machine, Failure> {
    let home = user_home().ok_or_else(|| Failure::Settings {
        message: "there is no home directory to find the hosts' settings in".into(),
        hint: "Set HOME.".into(),
    })?;
    let variables: BTreeMap<&'static str, String> =
        hosts::variables().filter_map(|name| variable(name).map(|value| (name, value))).collect();
    let exe = std::env::current_exe().map_err(|source| Failure::File { doing: "find", path: "memdir itself".into(), source })?;
    let exe = on_path(&exe, variables.get("PATH")).unwrap_or(exe);
    let exe = utf8("this program", &exe)?;
    let main_checkout = project.git.as_deref().filter(|git| git.file_name().is_some_and(|name| name == ".git")).and_then(Path::parent);
    let main_checkout = main_checkout.unwrap_or(&project.root).to_owned();
    let global_args = before(settings, &home)?;
    Ok(Machine { os: Os::current(), global_args, home, project: project.checkout, main_checkout, exe, variables })
}

/// The arguments that choose the memory which is in force here, for a host that knows nothing of our flags and variables.
fn before(settings: &Settings, home: &Path) -> Result<Vec<String>, Failure> {
    let mut before = Vec::new();
    let mut add = |flag: &str, value: String| before.extend([flag.to_owned(), value]);
    if settings.home.value != home.join(".memdir") {
        add("--home", utf8(settings.home.origin, &settings.home.value)?);
    }
    match (&settings.dir, &settings.project) {
        (Some(dir), _) => add("--dir", utf8(dir.origin, &dir.value)?),
        (None, Some(project)) => add("--project", project.value.clone()),
        (None, None) => {}
    }
    if let Some(agent) = &settings.agent {
        add("--agent", agent.value.clone());
        match settings.agent_scope {
            AgentScope::User => {}
            AgentScope::Project => add("--agent-scope", "project".to_owned()),
            AgentScope::Local => add("--agent-scope", "local".to_owned()),
        }
    }
    settings.only.iter().for_each(|only| add("--only", only.to_string()));
    Ok(before)
}

/// A path that can stand in a settings file.
fn utf8(what: &str, path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| Failure::Settings {
        message: format!("the path of {what}, {}, is not UTF-8, and no host's settings can hold it", path.display()),
        hint: "Choose another path, or link to this one.".into(),
    })
}

/// The link in `PATH` that leads to this program: package managers move what it points to with every version.
fn on_path(exe: &Path, path: Option<&String>) -> Option<PathBuf> {
    let real = exe.canonicalize().ok()?;
    let named = std::env::split_paths(path?).filter(|dir| dir.is_absolute()).map(|dir| dir.join(exe.file_name().unwrap_or_default()));
    named.into_iter().find(|path| path.canonicalize().is_ok_and(|other| other == real))
}
