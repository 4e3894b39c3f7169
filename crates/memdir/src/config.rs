//! The settings: flags, the environment and `config.toml`. The only reader of the environment. Builds nothing.

mod expand;
mod file;
mod keys;

use crate::{args::Global, exit::Failure};
pub(crate) use file::{MountSetting, Settled};
#[cfg(test)]
pub(crate) use keys::KEYS;
use memdir_core::vault::real_path;
use std::path::{Path, PathBuf};

/// Everything a person has set, with every path expanded.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Where memdir keeps what is not in a project: `MEMDIR_HOME`.
    pub(crate) home: From<PathBuf>,
    /// The one directory that is the whole memory, if there is one.
    pub(crate) dir: Option<From<PathBuf>>,
    /// Who makes changes.
    pub(crate) actor: From<String>,
    /// The settings file.
    pub(crate) file: PathBuf,
    /// What it says; nothing if there is none.
    pub(crate) config: Settled,
    /// The current directory.
    pub(crate) cwd: PathBuf,
    /// Where derived files are kept; they may be deleted at any time.
    pub(crate) cache: PathBuf,
}

/// A setting and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct From<T> {
    pub(crate) value: T,
    pub(crate) origin: &'static str,
}

impl Settings {
    /// Reads the settings in force.
    pub(crate) fn load(global: &Global) -> Result<Settings, Failure> {
        let cwd = std::env::current_dir().map_err(|source| Failure::File { doing: "find", path: PathBuf::from("."), source })?;
        let home = home(&cwd)?;
        let dir = match &global.dir {
            Some(dir) => Some(From { value: real_path(&path_from("--dir", dir, &cwd)?), origin: "--dir" }),
            None => match env("MEMDIR_DIR") {
                Some(dir) => Some(From { value: real_path(&path_from("MEMDIR_DIR", Path::new(&dir), &cwd)?), origin: "MEMDIR_DIR" }),
                None => None,
            },
        };
        let file = home.value.join("config.toml");
        let config = file::load(&file, &|text| expand::expand(text, &variable, user_home().as_deref(), &home.value))?;
        Ok(Settings { actor: actor(global), cache: cache(&home.value), home, dir, file, config, cwd })
    }
}

fn home(cwd: &Path) -> Result<From<PathBuf>, Failure> {
    if let Some(home) = env("MEMDIR_HOME") {
        return Ok(From { value: path_from("MEMDIR_HOME", Path::new(&home), cwd)?, origin: "MEMDIR_HOME" });
    }
    match user_home() {
        Some(home) => Ok(From { value: home.join(".memdir"), origin: "default" }),
        None => Err(Failure::Settings {
            message: "there is no home directory to keep memories in".into(),
            hint: "Set MEMDIR_HOME to a directory.".into(),
        }),
    }
}

fn actor(global: &Global) -> From<String> {
    if let Some(name) = &global.actor {
        return From { value: name.clone(), origin: "--actor" };
    }
    let named = |key| variable(key).map(|value| From { value, origin: key });
    named("USER").or_else(|| named("LOGNAME")).unwrap_or(From { value: "cli".into(), origin: "default" })
}

/// The system's directory for what can be made again.
fn cache(home: &Path) -> PathBuf {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let set = env("XDG_CACHE_HOME").map(PathBuf::from).and_then(absolute);
    let usual = || user_home().map(|home| if cfg!(target_os = "macos") { home.join("Library/Caches") } else { home.join(".cache") });
    set.or_else(usual).map_or_else(|| home.join("cache"), |cache| cache.join("memdir"))
}

/// The value of a variable that holds a path, expanded and absolute; for the variables of systems memdir stands in for.
pub(crate) fn path_variable(key: &str, cwd: &Path) -> Result<Option<PathBuf>, String> {
    variable(key).map(|text| expand::expand(&text, &variable, user_home().as_deref(), cwd)).transpose()
}

/// The person's home directory.
pub(crate) fn person_home() -> Option<PathBuf> {
    user_home()
}

/// The token callers must show, if the environment has one.
pub(crate) fn token_variable() -> Option<String> {
    variable("MEMDIR_TOKEN")
}

/// A path a person gave on the command line or in the environment.
fn path_from(what: &'static str, path: &Path, cwd: &Path) -> Result<PathBuf, Failure> {
    // Bytes that are not UTF-8 hold nothing to expand.
    let Some(text) = path.to_str() else { return Ok(cwd.join(path)) };
    expand::expand(text, &variable, user_home().as_deref(), cwd).map_err(|why| Failure::Settings {
        message: format!("{what}: {why}"),
        hint: format!("Give {what} a path; ~ and ${{VAR}} are expanded."),
    })
}

fn user_home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

fn variable(key: &str) -> Option<String> {
    env(key).and_then(|value| value.into_string().ok())
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn env(key: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(key).filter(|value| !value.is_empty())
}
