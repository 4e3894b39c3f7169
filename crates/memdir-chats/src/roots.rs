//! Where hosts keep their conversations, by their own rules. The caller reads the environment; this computes paths.

use super::{
    ChatSource, claude_code::ClaudeCode, codex::Codex, cursor::Cursor, gemini::Gemini, generic::Folder, openclaw::Openclaw,
    opencode::Opencode,
};
use std::path::{Path, PathBuf};

/// What the places depend on: the home directory, and the environment variables hosts let people set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// The home directory.
    pub home: PathBuf,
    /// `CLAUDE_CONFIG_DIR`.
    pub claude_config_dir: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex_home: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`: stands for the home directory.
    pub gemini_cli_home: Option<PathBuf>,
    /// `XDG_DATA_HOME`.
    pub xdg_data_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config_home: Option<PathBuf>,
    /// `OPENCODE_DB`: a database, absolute or in opencode's data directory.
    pub opencode_db: Option<PathBuf>,
    /// `OPENCLAW_STATE_DIR`.
    pub openclaw_state_dir: Option<PathBuf>,
    /// Folders of conversations of any origin, which the person has named.
    pub folders: Vec<PathBuf>,
}

impl Roots {
    /// Everything by the defaults, under a home directory.
    pub fn under(home: impl Into<PathBuf>) -> Self {
        Roots { home: home.into(), ..Roots::default() }
    }

    /// A source for every host; those that are not installed find nothing.
    pub fn sources(&self) -> Vec<Box<dyn ChatSource>> {
        let mut sources: Vec<Box<dyn ChatSource>> = vec![
            Box::new(ClaudeCode::new(self.claude_dirs())),
            Box::new(Codex::new(self.codex_dir())),
            Box::new(Gemini::new(self.gemini_dir())),
            Box::new(Opencode::new(self.opencode_dir(), self.opencode_db.clone())),
            Box::new(Openclaw::new(self.openclaw_dir())),
            Box::new(Cursor::new(self.home.join(".cursor"))),
        ];
        if !self.folders.is_empty() {
            sources.push(Box::new(Folder::new(self.folders.clone())));
        }
        sources
    }

    /// Claude Code's directories: the one it was told, or the two it has used by default.
    pub fn claude_dirs(&self) -> Vec<PathBuf> {
        match &self.claude_config_dir {
            Some(dir) => vec![dir.clone()],
            None => vec![self.home.join(".claude"), self.xdg(&self.xdg_config_home, ".config").join("claude")],
        }
    }

    /// Codex's directory.
    pub fn codex_dir(&self) -> PathBuf {
        self.codex_home.clone().unwrap_or_else(|| self.home.join(".codex"))
    }

    /// Gemini CLI's directory.
    pub fn gemini_dir(&self) -> PathBuf {
        self.gemini_cli_home.as_deref().unwrap_or(&self.home).join(".gemini")
    }

    /// opencode's data directory.
    pub fn opencode_dir(&self) -> PathBuf {
        self.xdg(&self.xdg_data_home, ".local/share").join("opencode")
    }

    /// OpenClaw's directory.
    pub fn openclaw_dir(&self) -> PathBuf {
        self.openclaw_state_dir.clone().unwrap_or_else(|| self.home.join(".openclaw"))
    }

    fn xdg(&self, set: &Option<PathBuf>, default: &str) -> PathBuf {
        // The base directory rules say that a relative path is to be ignored.
        set.as_deref().filter(|dir| dir.is_absolute()).map_or_else(|| self.home.join(default), Path::to_owned)
    }
}
