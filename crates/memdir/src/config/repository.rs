//! `.memdir/config.toml`: what a repository says of its own memory. It comes from strangers, so it may name and limit, and
//! nothing in it fails, runs or expands.

use serde::Deserialize;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What a repository may say.
#[derive(Debug, Default)]
pub(crate) struct RepositorySettings {
    /// Whether this project has a memory.
    pub(crate) enabled: Option<bool>,
    /// Team memories that may not be changed.
    pub(crate) read_only: Vec<String>,
    /// Team memories that do not exist for anybody.
    pub(crate) ignored: Vec<String>,
    /// Directories of the repository that can be read, by name.
    pub(crate) mounts: Vec<(String, PathBuf)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    enabled: Option<bool>,
    #[serde(default)]
    read_only: Vec<String>,
    #[serde(default)]
    ignored: Vec<String>,
    #[serde(default)]
    mounts: Vec<RawMount>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMount {
    name: String,
    path: PathBuf,
}

/// The largest file that is read.
const MOST: u64 = 64 << 10;

impl RepositorySettings {
    /// Reads the file if there is one; what is wrong with it is noted, and then it says nothing.
    pub(crate) fn load(path: &Path, notes: &mut Vec<String>) -> RepositorySettings {
        match read(path) {
            Ok(settings) => settings,
            Err(why) => {
                notes.push(format!("{} is left out: {why}", path.display()));
                RepositorySettings::default()
            }
        }
    }
}

fn read(path: &Path) -> Result<RepositorySettings, String> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(RepositorySettings::default()),
        Err(error) => return Err(error.to_string()),
        Ok(meta) if !meta.is_file() || meta.len() > MOST => return Err("it is no small file".into()),
        Ok(_) => {}
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let raw: Raw = toml::from_str(&text).map_err(|error| error.message().to_owned())?;
    for pattern in raw.read_only.iter().chain(&raw.ignored) {
        regex::Regex::new(pattern).map_err(|_| format!("{pattern:?} is no regular expression"))?;
    }
    if let Some(bad) = raw.mounts.iter().find(|mount| memdir_core::MemoryPath::parse(&mount.name).is_err()) {
        return Err(format!("{:?} cannot be a mount's name", bad.name));
    }
    let mounts = raw.mounts.into_iter().map(|mount| (mount.name, mount.path)).collect();
    Ok(RepositorySettings { enabled: raw.enabled, read_only: raw.read_only, ignored: raw.ignored, mounts })
}
