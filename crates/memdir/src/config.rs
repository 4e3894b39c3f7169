//! The settings: options, the environment and `config.toml`. The only module that reads the environment. Opens nothing.

pub(crate) mod edit;
mod expand;
mod file;
mod inbox;
mod keys;
mod machine;
mod oauth;
mod ranges;
mod repository;

use crate::{
    args::GlobalArgs,
    exit::{Failure, near_sibling},
};
pub(crate) use file::{ChatsSetting, ConfigFile, DreamSetting, EmbedderSetting, MountSetting, SearchSetting, TokenSetting};
pub(crate) use keys::{ConfigKey, FILES, KEYS, LIST_OF_TABLES, TABLE, VARIABLES, Variable, WHOLE_NUMBER};
pub(crate) use machine::{is_host_variable_set, machine, machine_of_hosts};
use memdir_core::{
    Allow, MemoryPath,
    internal::{
        base::shell,
        store::{
            mount::real_path,
            space::{AgentScope, Places},
        },
    },
};
pub(crate) use oauth::{OAuthGroup, OAuthSetting};
pub(crate) use repository::RepositorySettings;
use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

/// All settings of the user, with paths expanded.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The directory of everything outside of projects: `MEMDIR_HOME`.
    pub(crate) home: WithOrigin<PathBuf>,
    /// The directory that is the whole memory, if one is set.
    pub(crate) dir: Option<WithOrigin<PathBuf>>,
    /// The project, if one is set.
    pub(crate) project: Option<WithOrigin<String>>,
    /// The agent whose memory is mounted too.
    pub(crate) agent: Option<WithOrigin<String>>,
    /// The scope of the agent's memory.
    pub(crate) agent_scope: AgentScope,
    /// The prefixes of `--only`; empty for no restriction.
    pub(crate) only: Vec<MemoryPath>,
    /// Whether `MEMDIR_DISABLE` disables memory, and its value.
    pub(crate) disable: Option<(bool, String)>,
    /// Additional text for every prompt, from the settings and the environment.
    pub(crate) guidelines: Vec<String>,
    /// The name recorded with changes.
    pub(crate) actor: WithOrigin<String>,
    /// The settings file.
    pub(crate) file: PathBuf,
    /// The contents of the settings file; defaults if there is none.
    pub(crate) config: ConfigFile,
    /// The current directory.
    pub(crate) cwd: PathBuf,
    /// The directory of derived files, which may be deleted at any time.
    pub(crate) cache: PathBuf,
}

/// A value and the origin of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WithOrigin<T> {
    pub(crate) value: T,
    pub(crate) origin: &'static str,
}

impl Settings {
    /// Reads the settings.
    pub(crate) fn load(global: &GlobalArgs) -> Result<Settings, Failure> {
        let cwd = std::env::current_dir().map_err(|source| Failure::File { doing: "find", path: PathBuf::from("."), source })?;
        let home = home(global, &cwd)?;
        let dir = whole_memory(global, &cwd)?;
        let file = home.value.join("config.toml");
        let config = file::load(&file, &|text| expand::expand(text, &variable, user_home().as_deref(), &home.value))?;
        check_mounts(&file, &config)?;
        let option_or_variable = |option: &Option<String>, flag, key| match option {
            Some(value) => Ok(Some(WithOrigin { value: value.clone(), origin: flag })),
            None => selecting_variable(key).map(|value| value.map(|value| WithOrigin { value, origin: key })),
        };
        let project = option_or_variable(&global.project, "--project", "MEMDIR_PROJECT")?;
        if let Some(project) = &project {
            check_id("project", &project.value)?;
        }
        Ok(Settings {
            actor: actor(global),
            cache: cache(&home.value),
            home,
            dir,
            project,
            agent: option_or_variable(&global.agent, "--agent", "MEMDIR_AGENT")?,
            agent_scope: global.agent_scope.into(),
            only: global
                .only
                .iter()
                .map(|prefix| MemoryPath::parse(prefix.strip_suffix('/').unwrap_or(prefix)))
                .collect::<Result<_, _>>()?,
            disable: disable()?,
            guidelines: guidelines(config.guidelines.as_deref()),
            file,
            config,
            cwd,
        })
    }

    /// Returns an error if a text for the settings file is invalid.
    pub(crate) fn would_read(&self, text: &str) -> Result<(), Failure> {
        SettingsFile { home: self.home.value.clone(), path: self.file.clone() }.check(text)
    }

    /// Returns an error if `--dir` was given and is not a directory. A directory in the environment is created by the first write, because
    /// it is not typed with every command.
    pub(crate) fn check_dir(&self) -> Result<(), Failure> {
        let Some(dir) = self.dir.as_ref().filter(|dir| dir.origin == "--dir" && !dir.value.is_dir()) else { return Ok(()) };
        let shown = dir.value.display().to_string();
        if dir.value.exists() {
            return Err(Failure::Usage { message: format!("{shown:?} is not a directory"), hint: "pass a directory to --dir".into() });
        }
        let hint = match near_sibling(&dir.value).filter(|near| near.is_dir()) {
            Some(near) => format!("did you mean {:?}?", near.display().to_string()),
            None => format!("create it with: memdir {} init", shell::quote_option("--dir", &shown)),
        };
        Err(Failure::Usage { message: format!("directory {shown:?} not found"), hint })
    }

    /// The options of the command line that select the memory, each followed by a blank, to repeat them in a command.
    pub(crate) fn typed_options(&self) -> String {
        let path = |option: &WithOrigin<PathBuf>| WithOrigin { value: option.value.display().to_string(), origin: option.origin };
        let options = [Some(path(&self.home)), self.dir.as_ref().map(path), self.project.clone(), self.agent.clone()];
        let typed = options.into_iter().flatten().filter(|option| option.origin.starts_with("--"));
        typed.map(|option| shell::quote_option(option.origin, &option.value) + " ").collect()
    }

    /// The directories below memdir's home.
    pub(crate) fn places(&self) -> Places {
        Places::new(&self.home.value)
    }
}

/// The settings file, which may be missing or invalid.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    /// memdir's home.
    pub(crate) home: PathBuf,
    /// The file.
    pub(crate) path: PathBuf,
}

impl SettingsFile {
    /// Locates the file without reading it.
    pub(crate) fn locate(global: &GlobalArgs) -> Result<SettingsFile, Failure> {
        let cwd = std::env::current_dir().map_err(|source| Failure::File { doing: "find", path: PathBuf::from("."), source })?;
        let home = home(global, &cwd)?.value;
        Ok(SettingsFile { path: home.join("config.toml"), home })
    }

    /// Returns an error if a text for the file is invalid.
    pub(crate) fn check(&self, text: &str) -> Result<(), Failure> {
        let config = file::parse(&self.path, text, &|text| expand::expand(text, &variable, user_home().as_deref(), &self.home))?;
        check_mounts(&self.path, &config)?;
        secret_exceptions(&self.path, &config).map(drop)
    }
}

/// The exceptions to secret detection.
pub(crate) fn secret_exceptions(file: &Path, config: &ConfigFile) -> Result<Allow, Failure> {
    Allow::new(&config.secrets.allow_rules, &config.secrets.allow).map_err(|why| Failure::Settings {
        message: format!("{}: secrets: {why}", file.display()),
        hint: "correct the [secrets] table with: memdir config edit".into(),
    })
}

fn check_mounts(file: &Path, config: &ConfigFile) -> Result<(), Failure> {
    let mut mounts = config.mounts.iter().filter(|mount| mount.only.is_empty());
    mounts.try_for_each(|mount| check_apart_from_home(&format!("{}: mount {:?}", file.display(), mount.name), &mount.path))
}

impl From<crate::args::AgentScopeArg> for AgentScope {
    fn from(scope: crate::args::AgentScopeArg) -> AgentScope {
        match scope {
            crate::args::AgentScopeArg::User => AgentScope::User,
            crate::args::AgentScopeArg::Project => AgentScope::Project,
            crate::args::AgentScopeArg::Local => AgentScope::Local,
        }
    }
}

/// The directory that is the whole memory, if one is set.
fn whole_memory(global: &GlobalArgs, cwd: &Path) -> Result<Option<WithOrigin<PathBuf>>, Failure> {
    let dir = match &global.dir {
        Some(dir) => Some(("--dir", dir.clone())),
        None => env("MEMDIR_DIR").map(|dir| ("MEMDIR_DIR", PathBuf::from(dir))),
    };
    let Some((origin, dir)) = dir else { return Ok(None) };
    let value = real_path(&path_from(origin, &dir, cwd)?);
    check_apart_from_home(origin, &value)?;
    Ok(Some(WithOrigin { value, origin }))
}

fn check_apart_from_home(what: &str, dir: &Path) -> Result<(), Failure> {
    let hint = "use a separate directory such as ~/notes".to_owned();
    match covers_home(dir) {
        Some(why) => Err(Failure::Settings { message: format!("{what}: {why}"), hint }),
        None => Ok(()),
    }
}

/// Why a directory cannot be a memory, or `None` if it can.
pub(crate) fn covers_home(dir: &Path) -> Option<String> {
    expand::covers_home(dir, user_home().as_deref())
}

/// Checks an id, which must be a valid name of one directory.
pub(crate) fn check_id(what: &str, name: &str) -> Result<(), Failure> {
    if MemoryPath::parse(name).is_ok_and(|path| path.parts().count() == 1) && !name.starts_with('.') {
        return Ok(());
    }
    let list = if what == "project" { "; list existing ids with: memdir projects" } else { "" };
    let hint = format!("use a name without slashes that does not begin with a dot{list}");
    Err(Failure::Usage { message: format!("invalid {what} id {name:?}"), hint })
}

fn disable() -> Result<Option<(bool, String)>, Failure> {
    let Some(value) = selecting_variable("MEMDIR_DISABLE")? else { return Ok(None) };
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(Some((true, value))),
        "0" | "false" | "no" | "off" => Ok(Some((false, value))),
        _ => Err(Failure::Settings {
            message: format!("invalid value {value:?} for MEMDIR_DISABLE"),
            hint: "set MEMDIR_DISABLE to 1 to disable memory, or to 0 to enable it".into(),
        }),
    }
}

fn guidelines(configured: Option<&str>) -> Vec<String> {
    let from_environment = ["MEMDIR_EXTRA_GUIDELINES", "CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES"].into_iter().filter_map(variable);
    let all = configured.map(str::to_owned).into_iter().chain(from_environment);
    all.filter(|text| !text.trim().is_empty()).collect()
}

/// The directories of the hosts' conversations, from the variables of the hosts.
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
        copilot_home: path("COPILOT_HOME"),
        openclaw_state_dir: path("OPENCLAW_STATE_DIR"),
        folders: folders.to_vec(),
    }
}

/// memdir's home. It may be missing, but a file in its place is an error: to every command that only reads, it would look like an empty
/// memory.
fn home(global: &GlobalArgs, cwd: &Path) -> Result<WithOrigin<PathBuf>, Failure> {
    let home = chosen_home(global, cwd)?;
    let is_in_the_way = match home.value.metadata() {
        Ok(meta) => !meta.is_dir(),
        Err(error) => error.kind() == io::ErrorKind::NotADirectory,
    };
    if !is_in_the_way {
        return Ok(home);
    }
    let hint = match home.origin {
        "--home" => "pass a directory to --home",
        "MEMDIR_HOME" => "set MEMDIR_HOME to a directory",
        _ => "move or delete the file",
    };
    Err(Failure::Settings { message: format!("memdir's home {} is not a directory", home.value.display()), hint: hint.into() })
}

fn chosen_home(global: &GlobalArgs, cwd: &Path) -> Result<WithOrigin<PathBuf>, Failure> {
    if let Some(home) = &global.home {
        return explicit_home("--home", home, cwd);
    }
    if let Some(home) = env("MEMDIR_HOME") {
        return explicit_home("MEMDIR_HOME", Path::new(&home), cwd);
    }
    match user_home() {
        Some(home) => Ok(WithOrigin { value: home.join(".memdir"), origin: "default" }),
        None => Err(Failure::Settings {
            message: "home directory not found".into(),
            hint: "set HOME, or set MEMDIR_HOME to a directory".into(),
        }),
    }
}

/// A home that was set explicitly. It must be separate from the user's home, since memdir creates files in it.
fn explicit_home(origin: &'static str, home: &Path, cwd: &Path) -> Result<WithOrigin<PathBuf>, Failure> {
    let value = path_from(origin, home, cwd)?;
    let hint = "use a separate directory such as ~/.memdir".to_owned();
    match expand::not_separate(&value, user_home().as_deref()) {
        Some(why) => Err(Failure::Settings { message: format!("{origin}: {why}"), hint }),
        None => Ok(WithOrigin { value, origin }),
    }
}

fn actor(global: &GlobalArgs) -> WithOrigin<String> {
    // The name is printed on a line of the history.
    let printable = |name: &String| name.chars().filter(|c| !c.is_control()).collect::<String>();
    if let Some(name) = global.actor.as_ref().map(printable).filter(|name| !name.trim().is_empty()) {
        return WithOrigin { value: name, origin: "--actor" };
    }
    let named = |key| variable(key).map(|value| WithOrigin { value, origin: key });
    named("USER").or_else(|| named("LOGNAME")).unwrap_or(WithOrigin { value: "cli".into(), origin: "default" })
}

/// The cache directory of the system.
fn cache(home: &Path) -> PathBuf {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let set = env("XDG_CACHE_HOME").map(PathBuf::from).and_then(absolute);
    let default = || user_home().map(|home| if cfg!(target_os = "macos") { home.join("Library/Caches") } else { home.join(".cache") });
    set.or_else(default).map_or_else(|| home.join("cache"), |cache| cache.join("memdir"))
}

/// The path in an environment variable, expanded and absolute; for the variables of emulated systems.
pub(crate) fn path_variable(key: &str, cwd: &Path) -> Result<Option<PathBuf>, String> {
    variable(key).map(|text| expand::expand(&text, &variable, user_home().as_deref(), cwd)).transpose()
}

/// The user's home directory.
pub(crate) fn user_home_dir() -> Option<PathBuf> {
    user_home()
}

/// The user's editor as a shell command: `VISUAL`, else `EDITOR`.
pub(crate) fn editor_variable() -> Option<String> {
    ["VISUAL", "EDITOR"].into_iter().filter_map(variable).find(|editor| !editor.trim().is_empty())
}

/// Whether a program that `memdir dream --with` started runs this process.
pub(crate) fn is_in_dream() -> bool {
    env("MEMDIR_DREAM").is_some()
}

/// The bearer token in the environment, if there is one.
pub(crate) fn token_variable() -> Result<Option<String>, Failure> {
    selecting_variable("MEMDIR_TOKEN")
}

/// The URL of the database of a team server in the environment, if there is one.
pub(crate) fn database_variable() -> Result<Option<String>, Failure> {
    selecting_variable("DATABASE_URL")
}

/// The file of certificate authorities in the environment, if there is one.
pub(crate) fn certificates_variable() -> Option<String> {
    variable("SSL_CERT_FILE")
}

/// The token of a team server in the environment, if there is one.
pub(crate) fn team_token_variable() -> Result<Option<String>, Failure> {
    selecting_variable("MEMDIR_TEAM_TOKEN")
}

/// A variable that a host sets for the programs that it starts.
pub(crate) fn host_variable(key: &str) -> Option<String> {
    variable(key)
}

/// The variable by which a host marks the commands of its agent, if it is set.
pub(crate) fn agent_variable() -> Option<&'static str> {
    crate::hosts::agent_variables().find(|key| env(key).is_some())
}

/// Expands a path of the command line or the environment.
pub(crate) fn path_from(what: &'static str, path: &Path, cwd: &Path) -> Result<PathBuf, Failure> {
    // A path that is not UTF-8 is not expanded.
    let Some(text) = path.to_str() else { return Ok(cwd.join(path)) };
    expand::expand(text, &variable, user_home().as_deref(), cwd).map_err(|why| Failure::Settings {
        message: format!("{what}: {why}"),
        hint: format!("use another path for {what}; a leading ~/ and ${{VAR}} are expanded"),
    })
}

fn user_home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// A variable that selects a memory, a server or access to one. Without a value that is not UTF-8, another one would be used.
fn selecting_variable(key: &'static str) -> Result<Option<String>, Failure> {
    env(key).map(OsString::into_string).transpose().map_err(|_| Failure::Settings {
        message: format!("the value of {key} is not valid UTF-8"),
        hint: format!("set {key} to a value in UTF-8, or unset it"),
    })
}

fn variable(key: &str) -> Option<String> {
    env(key).and_then(|value| value.into_string().ok())
}

#[expect(clippy::disallowed_methods, reason = "the only function that reads the environment")]
fn env(key: &str) -> Option<OsString> {
    std::env::var_os(key).filter(|value| !value.is_empty())
}
