//! The settings: flags, the environment and `config.toml`. The only reader of the environment. Builds nothing.

pub(crate) mod edit;
mod expand;
mod file;
mod keys;
mod machine;
mod repository;

use crate::{args::Global, exit::Failure};
pub(crate) use file::{ChatsSetting, EmbedderSetting, MountSetting, SearchSetting, Settled, TokenSetting};
#[cfg(test)]
pub(crate) use keys::KEYS;
pub(crate) use machine::machine;
use memdir_core::{
    base::path::MemoryPath,
    prompt::AgentScope,
    store::{files::real_path, space::Places},
};
pub(crate) use repository::RepositorySettings;
use std::path::{Path, PathBuf};

/// Everything a person has set, with every path expanded.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Where memdir keeps what is not in a project: `MEMDIR_HOME`.
    pub(crate) home: From<PathBuf>,
    /// The one directory that is the whole memory, if there is one.
    pub(crate) dir: Option<From<PathBuf>>,
    /// The project that was named, if one was.
    pub(crate) project: Option<From<String>>,
    /// The agent whose own memory is open too.
    pub(crate) agent: Option<From<String>>,
    /// How far that agent's memory reaches.
    pub(crate) agent_scope: AgentScope,
    /// Nothing but what lies under these.
    pub(crate) only: Vec<MemoryPath>,
    /// What the environment says about whether memory is off, and in which word.
    pub(crate) disable: Option<(bool, String)>,
    /// What every prompt says besides, from the settings and the environment.
    pub(crate) guidelines: Vec<String>,
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
        let home = home(global, &cwd)?;
        let dir = whole_memory(global, &cwd)?;
        let file = home.value.join("config.toml");
        let config = file::load(&file, &|text| expand::expand(text, &variable, user_home().as_deref(), &home.value))?;
        for mount in config.mounts.iter().filter(|mount| mount.only.is_empty()) {
            no_home(&format!("{}: the mount {:?}", file.display(), mount.name), &mount.path)?;
        }
        let named = |typed: &Option<String>, flag, key| match typed {
            Some(value) => Some(From { value: value.clone(), origin: flag }),
            None => variable(key).map(|value| From { value, origin: key }),
        };
        let project = named(&global.project, "--project", "MEMDIR_PROJECT");
        if let Some(project) = &project {
            one_part("project", &project.value)?;
        }
        Ok(Settings {
            actor: actor(global),
            cache: cache(&home.value),
            home,
            dir,
            project,
            agent: named(&global.agent, "--agent", "MEMDIR_AGENT"),
            agent_scope: global.agent_scope.into(),
            only: global.only.iter().map(|prefix| MemoryPath::parse(prefix)).collect::<Result<_, _>>()?,
            disable: disable()?,
            guidelines: guidelines(config.guidelines.as_deref()),
            file,
            config,
            cwd,
        })
    }

    /// Refuses a text of the settings file that could not be read back.
    pub(crate) fn would_read(&self, text: &str) -> Result<(), Failure> {
        file::read(&self.file, text, &|text| expand::expand(text, &variable, user_home().as_deref(), &self.home.value)).map(drop)
    }

    /// Where memdir keeps everything.
    pub(crate) fn places(&self) -> Places {
        Places::new(&self.home.value)
    }
}

impl std::convert::From<crate::args::AgentScope> for AgentScope {
    fn from(typed: crate::args::AgentScope) -> AgentScope {
        match typed {
            crate::args::AgentScope::User => AgentScope::User,
            crate::args::AgentScope::Project => AgentScope::Project,
            crate::args::AgentScope::Local => AgentScope::Local,
        }
    }
}

/// The directory that is the whole memory, if one is named.
fn whole_memory(global: &Global, cwd: &Path) -> Result<Option<From<PathBuf>>, Failure> {
    let named = match &global.dir {
        Some(dir) => Some(("--dir", dir.clone())),
        None => env("MEMDIR_DIR").map(|dir| ("MEMDIR_DIR", PathBuf::from(dir))),
    };
    let Some((origin, dir)) = named else { return Ok(None) };
    let value = real_path(&path_from(origin, &dir, cwd)?);
    no_home(origin, &value)?;
    Ok(Some(From { value, origin }))
}

fn no_home(what: &str, dir: &Path) -> Result<(), Failure> {
    let hint = "Name a directory of its own, such as ~/notes.".to_owned();
    match covers_home(dir) {
        Some(why) => Err(Failure::Settings { message: format!("{what}: {why}"), hint }),
        None => Ok(()),
    }
}

/// Why a directory a person named may not be a memory, if it may not.
pub(crate) fn covers_home(dir: &Path) -> Option<String> {
    expand::covers_home(dir, user_home().as_deref())
}

/// A project's id is one directory's name.
pub(crate) fn one_part(what: &str, name: &str) -> Result<(), Failure> {
    if MemoryPath::parse(name).is_ok_and(|path| path.parts().count() == 1) && !name.starts_with('.') {
        return Ok(());
    }
    Err(Failure::Usage {
        message: format!("{name:?} cannot be a {what}'s id"),
        hint: "memdir projects lists the ids there are; a new one has letters, digits, - and _.".into(),
    })
}

fn disable() -> Result<Option<(bool, String)>, Failure> {
    let Some(value) = variable("MEMDIR_DISABLE") else { return Ok(None) };
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(Some((true, value))),
        "0" | "false" | "no" | "off" => Ok(Some((false, value))),
        _ => Err(Failure::Settings { message: format!("MEMDIR_DISABLE is {value:?}"), hint: "Set it to 1 or 0.".into() }),
    }
}

fn guidelines(configured: Option<&str>) -> Vec<String> {
    let from_environment = ["MEMDIR_EXTRA_GUIDELINES", "CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES"].into_iter().filter_map(variable);
    let all = configured.map(str::to_owned).into_iter().chain(from_environment);
    all.filter(|text| !text.trim().is_empty()).collect()
}

/// Where hosts keep their conversations, by the variables people set for them.
pub(crate) fn chat_roots(folders: &[PathBuf]) -> memdir_chats::Roots {
    let path = |key| env(key).map(PathBuf::from);
    memdir_chats::Roots {
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

fn home(global: &Global, cwd: &Path) -> Result<From<PathBuf>, Failure> {
    if let Some(home) = &global.home {
        return named_home("--home", home, cwd);
    }
    if let Some(home) = env("MEMDIR_HOME") {
        return named_home("MEMDIR_HOME", Path::new(&home), cwd);
    }
    match user_home() {
        Some(home) => Ok(From { value: home.join(".memdir"), origin: "default" }),
        None => Err(Failure::Settings {
            message: "there is no home directory to keep memories in".into(),
            hint: "Set MEMDIR_HOME to a directory.".into(),
        }),
    }
}

/// A home that somebody named: a directory of its own, since memdir makes what it needs in it.
fn named_home(origin: &'static str, home: &Path, cwd: &Path) -> Result<From<PathBuf>, Failure> {
    let value = path_from(origin, home, cwd)?;
    let hint = "Name a directory of its own, such as ~/.memdir.".to_owned();
    match expand::not_apart(&value, user_home().as_deref()) {
        Some(why) => Err(Failure::Settings { message: format!("{origin}: {why}, so memdir keeps nothing in it"), hint }),
        None => Ok(From { value, origin }),
    }
}

fn actor(global: &Global) -> From<String> {
    // A name stands in a line of the history.
    let plain = |name: &String| name.chars().filter(|c| !c.is_control()).collect::<String>();
    if let Some(name) = global.actor.as_ref().map(plain).filter(|name| !name.trim().is_empty()) {
        return From { value: name, origin: "--actor" };
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
