//! The switches that turn memory off: which one it is, and how to turn memory on again. Reads no settings.

use std::fmt;

/// A switch that disables memory. Displayed as its setting, and where that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OffSwitch {
    /// An environment variable with its value: `MEMDIR_DISABLE=1`, or the switch of a host whose memory this is.
    Variable(String),
    /// The user's settings, in this file.
    Settings { file: String },
    /// The user's settings for one project.
    Project { id: String, file: String },
    /// The settings of the repository.
    Repository { file: String },
}

impl OffSwitch {
    /// How to turn memory on. Agents get it as the result of a tool, so it names no command.
    pub(crate) fn hint(&self) -> String {
        let hint = match self {
            OffSwitch::Variable(set) => return format!("unset {} to turn memory on", set.split('=').next().unwrap_or(set)),
            OffSwitch::Settings { .. } => "to turn memory on, set `enabled = true` in that file",
            OffSwitch::Project { .. } => "to turn memory on in that project, set `enabled = true` in its [[projects]] table",
            OffSwitch::Repository { .. } => {
                "to turn memory on for everyone in this repository, remove that setting; for yourself only, set MEMDIR_DISABLE=0"
            }
        };
        hint.to_owned()
    }

    /// The same switch with another name for the user's settings file.
    pub(crate) fn with_file(self, file: &str) -> OffSwitch {
        match self {
            OffSwitch::Settings { .. } => OffSwitch::Settings { file: file.to_owned() },
            OffSwitch::Project { id, .. } => OffSwitch::Project { id, file: file.to_owned() },
            other => other,
        }
    }
}

impl fmt::Display for OffSwitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OffSwitch::Variable(set) => f.write_str(set),
            OffSwitch::Settings { file } | OffSwitch::Repository { file } => write!(f, "enabled = false in {file}"),
            OffSwitch::Project { id, file } => write!(f, "enabled = false for project {id} in {file}"),
        }
    }
}
