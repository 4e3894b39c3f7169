//! The memory that an agent program keeps on its own, and the two ways to share one with it. Declarations only.

use super::{ConfigFile, InstallScope, Machine};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::PathBuf;

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

/// The setting by which a host uses memdir's directory as its own memory.
#[derive(Debug)]
pub(crate) struct MemoryRedirect {
    /// The edit that sets the directory.
    pub(crate) setting: fn(&Machine, InstallScope, dir: &str) -> ConfigFile,
    /// The directories that the host no longer reads afterwards.
    pub(crate) replaced_dirs: fn(&Machine, InstallScope) -> Vec<PathBuf>,
}

/// The directory from which a host imports the memories of other programs.
#[derive(Debug)]
pub(crate) struct MemoryImport {
    /// The directory, which belongs to memdir alone.
    pub(crate) dir: fn(&Machine) -> PathBuf,
    /// The directory of all the host's files.
    pub(crate) root: fn(&Machine) -> PathBuf,
    /// The file that tells the host how to read the others; it also marks the directory as memdir's.
    pub(crate) instructions: &'static str,
    /// When the host reads the files.
    pub(crate) note: &'static str,
}
