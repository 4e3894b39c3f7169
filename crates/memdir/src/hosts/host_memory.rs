//! The memory that an agent program keeps on its own: where it is, what turns it off or moves it, and how it imports others.
//! Declarations only.

use super::{HostConfigFile, InstallScope, Machine};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A directory in which another program keeps memories.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct HostMemory {
    /// The name of its mount.
    pub(crate) name: &'static str,
    /// A description for people.
    pub(crate) title: &'static str,
    pub(crate) path: PathBuf,
    /// The number of memories in it.
    pub(crate) memories: usize,
    /// Whether it belongs to the current project and to no other.
    pub(crate) of_project: bool,
    /// Settings of its mount that differ from the defaults.
    #[serde(skip)]
    pub(crate) mount_options: Map<String, Value>,
}

impl HostMemory {
    /// A memory of the user, in all projects. `mount_options` is a JSON object.
    pub(crate) fn for_user(name: &'static str, title: &'static str, path: PathBuf, mount_options: Value) -> HostMemory {
        let mount_options = mount_options.as_object().cloned().unwrap_or_default();
        HostMemory { name, title, path, memories: 0, of_project: false, mount_options }
    }

    /// A memory of the current project. `mount_options` is a JSON object.
    pub(crate) fn for_project(name: &'static str, title: &'static str, path: PathBuf, mount_options: Value) -> HostMemory {
        HostMemory { of_project: true, ..HostMemory::for_user(name, title, path, mount_options) }
    }
}

/// What is done about the memory that a host keeps on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MemoryChoice {
    /// Turn it off, so that memdir is the only memory
    Replace,
    /// Make it use memdir's directory for this project
    Share,
    /// Keep it on together with memdir; the agent saves to memdir
    Both,
}

/// The settings by which a host's own memory is turned on and off, or moved.
#[derive(Debug)]
pub(crate) struct MemorySwitch {
    /// The host's name for its memory.
    pub(crate) name: &'static str,
    /// Its state by the host's settings and the environment.
    pub(crate) state: fn(&Machine) -> OwnMemory,
    /// The edit that turns it on or off.
    pub(crate) set: fn(&Machine, InstallScope, on: bool) -> HostConfigFile,
    /// The edit that moves it to a directory, if the host can do that.
    pub(crate) redirect: Option<fn(&Machine, InstallScope, dir: &str) -> HostConfigFile>,
    /// Whether the host no longer reads [`super::Host::memory`] while its memory is off or moved.
    pub(crate) covers_files: bool,
    /// The directories of all its memories that the host no longer reads then.
    pub(crate) dirs: fn(&Machine, InstallScope) -> Vec<PathBuf>,
    /// The project that one of these directories belongs to, if the host's files name it.
    pub(crate) project_of: fn(&Machine, dir: &Path) -> Option<PathBuf>,
    /// The environment variable that turns it off for one session.
    pub(crate) variable: Option<&'static str>,
}

/// What [`OwnMemory::off_by`] names if no setting does.
pub(crate) const OFF_BY_DEFAULT: &str = "the default";

/// The state of a host's own memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OwnMemory {
    /// The setting that turns it off, or the default that does.
    pub(crate) off_by: Option<String>,
    /// The environment variable, with its value, that turns it off for this session.
    pub(crate) suspended_by: Option<String>,
    /// The directory that the host's settings choose for it.
    pub(crate) dir: Option<PathBuf>,
}

impl OwnMemory {
    /// The state of a memory that a setting turns on, which is off by default. `value` returns the value in a scope, with its file.
    pub(crate) fn off_by_default(setting: &str, value: &dyn Fn(InstallScope) -> Option<(bool, PathBuf)>) -> OwnMemory {
        let off_by = match [InstallScope::Project, InstallScope::User].into_iter().find_map(value) {
            Some((true, _)) => None,
            Some((false, file)) => Some(format!("{setting} = false in {}", file.display())),
            None => Some(OFF_BY_DEFAULT.to_owned()),
        };
        OwnMemory { off_by, ..OwnMemory::default() }
    }

    /// Whether the host loads it in this session.
    pub(crate) fn is_on(&self) -> bool {
        self.off_by.is_none() && self.suspended_by.is_none()
    }
}

/// The directory from which a host imports the memories of other programs.
#[derive(Debug)]
pub(crate) struct MemoryImport {
    /// The directory, which belongs to memdir alone.
    pub(crate) dir: fn(&Machine) -> PathBuf,
    /// The directory of all the host's files.
    pub(crate) root: fn(&Machine) -> PathBuf,
    /// The file that describes the others for the host; it also marks the directory as memdir's.
    pub(crate) instructions: &'static str,
    /// When the host reads the files.
    pub(crate) note: &'static str,
}
