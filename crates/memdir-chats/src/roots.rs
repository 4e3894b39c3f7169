//! Where hosts store their conversations, by the hosts' own rules. The caller reads the environment; this module computes paths.

use std::path::{Path, PathBuf};

/// The home directory and the environment variables that decide where hosts store their conversations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// The home directory.
    pub home: PathBuf,
    /// `CLAUDE_CONFIG_DIR`.
    pub claude_config_dir: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex_home: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`: replaces the home directory.
    pub gemini_cli_home: Option<PathBuf>,
    /// `XDG_DATA_HOME`.
    pub xdg_data_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config_home: Option<PathBuf>,
    /// `OPENCODE_DB`: a database, absolute or relative to opencode's data directory.
    pub opencode_db: Option<PathBuf>,
    /// `COPILOT_HOME`.
    pub copilot_home: Option<PathBuf>,
    /// `OPENCLAW_STATE_DIR`.
    pub openclaw_state_dir: Option<PathBuf>,
    /// Folders of conversations of any origin, from the settings.
    pub folders: Vec<PathBuf>,
}

impl Roots {
    /// Creates the default locations under a home directory.
    pub fn under(home: impl Into<PathBuf>) -> Self {
        Roots { home: home.into(), ..Roots::default() }
    }

    /// Returns Claude Code's directories: the configured one, or the two default ones.
    pub(crate) fn claude_dirs(&self) -> Vec<PathBuf> {
        match &self.claude_config_dir {
            Some(dir) => vec![dir.clone()],
            None => vec![self.home.join(".claude"), self.xdg(&self.xdg_config_home, ".config").join("claude")],
        }
    }

    /// Returns Codex's directory.
    pub(crate) fn codex_dir(&self) -> PathBuf {
        self.codex_home.clone().unwrap_or_else(|| self.home.join(".codex"))
    }

    /// Returns Copilot CLI's directory.
    pub(crate) fn copilot_dir(&self) -> PathBuf {
        self.copilot_home.clone().unwrap_or_else(|| self.home.join(".copilot"))
    }

    /// Returns Cursor's directory.
    pub(crate) fn cursor_dir(&self) -> PathBuf {
        self.home.join(".cursor")
    }

    /// Returns Gemini CLI's directory.
    pub(crate) fn gemini_dir(&self) -> PathBuf {
        self.gemini_cli_home.as_deref().unwrap_or(&self.home).join(".gemini")
    }

    /// Returns opencode's data directory.
    pub(crate) fn opencode_dir(&self) -> PathBuf {
        self.xdg(&self.xdg_data_home, ".local/share").join("opencode")
    }

    /// Returns OpenClaw's directory.
    pub(crate) fn openclaw_dir(&self) -> PathBuf {
        self.openclaw_state_dir.clone().unwrap_or_else(|| self.home.join(".openclaw"))
    }

    fn xdg(&self, set: &Option<PathBuf>, default: &str) -> PathBuf {
        // The XDG base directory specification requires relative paths to be ignored.
        set.as_deref().filter(|dir| dir.is_absolute()).map_or_else(|| self.home.join(default), Path::to_owned)
    }
}
