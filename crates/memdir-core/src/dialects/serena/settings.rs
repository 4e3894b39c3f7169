//! Serena's own settings for memories: its folder, and the patterns of the global and the project's file, merged.

use super::DialectPlaces;
use crate::{
    base::error::{Error, Result},
    store::mount::real_path,
};
use serde::Deserialize;
use std::path::{Path, PathBuf};

pub(super) struct SerenaSettings {
    /// Serena's folder in the project.
    pub(super) folder: PathBuf,
    pub(super) read_only: Vec<String>,
    pub(super) ignored: Vec<String>,
}

/// The keys that concern memories; all others are ignored.
#[derive(Default, Deserialize)]
struct File {
    #[serde(default)]
    read_only_memory_patterns: Option<Vec<String>>,
    #[serde(default)]
    ignored_memory_patterns: Option<Vec<String>>,
    #[serde(default)]
    project_serena_folder_location: Option<String>,
}

pub(super) fn load(places: &DialectPlaces<'_>, home: &Path) -> Result<SerenaSettings> {
    let global = file(places, &home.join("serena_config.yml"))?;
    let folder = project_folder(places, global.project_serena_folder_location.as_deref());
    let project = file(places, &folder.join("project.yml"))?;
    let merged =
        |pick: fn(&File) -> &Option<Vec<String>>| [&global, &project].into_iter().filter_map(|file| pick(file).clone()).flatten().collect();
    Ok(SerenaSettings {
        read_only: merged(|file| &file.read_only_memory_patterns),
        ignored: merged(|file| &file.ignored_memory_patterns),
        folder,
    })
}

/// Returns Serena's folder for the current directory: that of the nearest directory above that is a Serena project, or the
/// repository that has one; else that of the repository or the directory itself. Above the repository, only directories in the user's
/// home are looked at, since others may belong to anyone.
fn project_folder(places: &DialectPlaces<'_>, template: Option<&str>) -> PathBuf {
    let folder_of = |dir: &Path| template.map_or_else(|| dir.join(".serena"), |template| located(template, dir));
    let (cwd, home, project) = (real_path(places.cwd), real_path(places.home), real_path(places.project));
    let is_searched = |dir: &&Path| dir.starts_with(&project) || dir.starts_with(&home);
    let is_repository = project.join(".git").exists();
    let is_project = |dir: &&Path| {
        let folder = folder_of(dir);
        (places.read)(&folder.join("project.yml")).is_some() || (is_repository && **dir == project && folder.is_dir())
    };
    match cwd.ancestors().take_while(is_searched).find(is_project) {
        Some(dir) if dir != project => folder_of(dir),
        _ => folder_of(places.project),
    }
}

/// A settings file that cannot be parsed is an error, because its read-only patterns would not be enforced.
fn file(places: &DialectPlaces<'_>, path: &Path) -> Result<File> {
    let Some(text) = (places.read)(path).filter(|text| !text.trim().is_empty()) else { return Ok(File::default()) };
    serde_saphyr::from_str(&text).map_err(|error| Error::bad_input(path.display().to_string(), error.to_string()))
}

fn located(template: &str, project: &Path) -> PathBuf {
    let name = project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let filled = template.replace("$projectFolderName", &name).replace("$projectDir", &project.to_string_lossy());
    project.join(filled)
}
