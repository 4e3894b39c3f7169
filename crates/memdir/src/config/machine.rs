//! The properties of this machine that the configuration of hosts depends on.

use super::{Settings, user_home, variable};
use crate::{
    exit::Failure,
    hosts::{self, Machine, Os},
};
use memdir_core::{Project, internal::store::space::AgentScope};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Describes this machine, with the path of this program as a user would run it.
pub(crate) fn machine(settings: &Settings, project: Project) -> Result<Machine, Failure> {
    let machine = machine_of_hosts(&project)?;
    let exe = std::env::current_exe().map_err(|source| Failure::File { doing: "find", path: "the memdir executable".into(), source })?;
    let exe = on_path(&exe, machine.variables.get("PATH")).unwrap_or(exe);
    Ok(Machine { exe: utf8("memdir executable", &exe)?, global_args: global_args(settings, &machine.home)?, ..machine })
}

/// Describes where hosts keep their files, without this program: enough to read them.
pub(crate) fn machine_of_hosts(project: &Project) -> Result<Machine, Failure> {
    let home = user_home().ok_or_else(|| Failure::Settings { message: "home directory not found".into(), hint: "set HOME".into() })?;
    let variables: BTreeMap<&'static str, String> =
        hosts::variables().filter_map(|name| variable(name).map(|value| (name, value))).collect();
    let main_checkout = project.git.as_deref().filter(|git| git.file_name().is_some_and(|name| name == ".git")).and_then(Path::parent);
    let main_checkout = main_checkout.unwrap_or(&project.root).to_owned();
    let (exe, global_args, project) = (String::new(), Vec::new(), project.checkout.clone());
    Ok(Machine { os: Os::current(), global_args, home, project, main_checkout, exe, with_hooks: true, variables })
}

/// Whether a variable of a host is set.
pub(crate) fn is_host_variable_set(name: &str) -> bool {
    variable(name).is_some()
}

/// The arguments that select the current memory, for hosts, which run memdir without the user's options and variables.
fn global_args(settings: &Settings, home: &Path) -> Result<Vec<String>, Failure> {
    let mut args = Vec::new();
    let mut add = |flag: &str, value: String| args.extend([flag.to_owned(), value]);
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
    Ok(args)
}

/// A path as UTF-8, for the configuration files of hosts.
fn utf8(what: &str, path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| Failure::Settings {
        message: format!("{what}: path {} is not valid UTF-8", path.display()),
        hint: "use a path that is valid UTF-8".into(),
    })
}

/// The symbolic link in `PATH` to this program. Package managers move its target with every version.
fn on_path(exe: &Path, path: Option<&String>) -> Option<PathBuf> {
    let real = exe.canonicalize().ok()?;
    let named = std::env::split_paths(path?).filter(|dir| dir.is_absolute()).map(|dir| dir.join(exe.file_name().unwrap_or_default()));
    named.into_iter().find(|path| path.canonicalize().is_ok_and(|other| other == real))
}
