//! The settings: flags, the environment and `config.toml`. The only reader of the environment. Builds nothing.

pub(crate) mod edit;
mod expand;
mod file;
mod keys;

use crate::{args::Global, exit::Failure};
pub(crate) use file::{MountSetting, Settled};
#[cfg(test)]
pub(crate) use keys::KEYS;
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
            Some(dir) => Some(From { value: path_from("--dir", dir, &cwd)?, origin: "--dir" }),
            None => match env("MEMDIR_DIR") {
                Some(dir) => Some(From { value: path_from("MEMDIR_DIR", Path::new(&dir), &cwd)?, origin: "MEMDIR_DIR" }),
                None => None,
            },
        };
        let file = home.value.join("config.toml");
        let config = file::load(&file, &|text| expand::expand(text, &variable, user_home().as_deref(), &home.value))?;
        Ok(Settings { actor: actor(global), home, dir, file, config, cwd })
    }
}

/// Where hosts keep their conversations, by the variables people set for them.
pub(crate) fn chat_roots(folders: &[PathBuf]) -> memdir_core::chats::Roots {
    let path = |key| env(key).map(PathBuf::from);
    memdir_core::chats::Roots {
        home: user_home().unwrap_or_default(),
        claude_config_dir: path("CLAUDE_CONFIG_DIR"),
        codex_home: path("CODEX_HOME"),
        gemini_cli_home: path("GEMINI_CLI_HOME"),
        xdg_data_home: path("XDG_DATA_HOME"),
        xdg_config_home: path("XDG_CONFIG_HOME"),
        opencode_db: path("OPENCODE_DB"),
        openclaw_state_dir: path("OPENCLAW_STATE_DIR"),
        folders: folders.to_vec(),
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

/// A path a person gave on the command line or in the environment.
pub(crate) fn path_from(what: &'static str, path: &Path, cwd: &Path) -> Result<PathBuf, Failure> {
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
