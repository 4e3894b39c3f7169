//! What Serena's own settings say about memories: its folder, and the patterns of both levels, merged.

use super::Places;
use crate::base::error::{Error, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};

pub(super) struct Settings {
    /// The project's folder of Serena.
    pub(super) folder: PathBuf,
    pub(super) read_only: Vec<String>,
    pub(super) ignored: Vec<String>,
}

/// The keys that matter here; every other one is Serena's business.
#[derive(Default, Deserialize)]
struct File {
    #[serde(default)]
    read_only_memory_patterns: Option<Vec<String>>,
    #[serde(default)]
    ignored_memory_patterns: Option<Vec<String>>,
    #[serde(default)]
    project_serena_folder_location: Option<String>,
}

pub(super) fn load(places: &Places<'_>, home: &Path) -> Result<Settings> {
    let global = file(places, &home.join("serena_config.yml"))?;
    let folder = match &global.project_serena_folder_location {
        Some(template) => located(template, places.project),
        None => places.project.join(".serena"),
    };
    let project = file(places, &folder.join("project.yml"))?;
    let merged =
        |pick: fn(&File) -> &Option<Vec<String>>| [&global, &project].into_iter().filter_map(|file| pick(file).clone()).flatten().collect();
    Ok(Settings {
        read_only: merged(|file| &file.read_only_memory_patterns),
        ignored: merged(|file| &file.ignored_memory_patterns),
        folder,
    })
}

/// A settings file that cannot be read protects nothing, so nothing is served on its word.
fn file(places: &Places<'_>, path: &Path) -> Result<File> {
    let Some(text) = (places.read)(path).filter(|text| !text.trim().is_empty()) else { return Ok(File::default()) };
    serde_saphyr::from_str(&text).map_err(|error| Error::bad_input(path.display().to_string(), error.to_string()))
}

fn located(template: &str, project: &Path) -> PathBuf {
    let name = project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let filled = template.replace("$projectFolderName", &name).replace("$projectDir", &project.to_string_lossy());
    project.join(filled)
}
