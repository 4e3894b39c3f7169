//! The directory from which a host imports the memories of other programs: instructions for the host, and one directory of files for
//! each project.

use crate::hosts::{Machine, MemoryImport};
use memdir_core::internal::base::disk::{self, Replace};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The file with the instructions, which also marks the directory as memdir's.
const INSTRUCTIONS: &str = "instructions.md";

/// Writes the memories of a project, given by path and text, and removes files that are no longer memories. Returns the number of
/// changed files.
pub(crate) fn write(import: &MemoryImport, machine: &Machine, project: &str, memories: &[(String, String)]) -> io::Result<usize> {
    let dir = (import.dir)(machine);
    let resources = dir.join("resources").join(project);
    fs::create_dir_all(&resources)?;
    let mut files = vec![(dir.join(INSTRUCTIONS), import.instructions.to_owned())];
    let cwd = serde_json::json!({ "cwd": machine.project });
    files.push((resources.join("scope.json"), format!("{cwd}\n")));
    files.extend(memories.iter().map(|(path, text)| (resources.join(path), text.clone())));
    let mut changed = 0;
    for (path, text) in &files {
        if fs::read_to_string(path).ok().as_ref() != Some(text) {
            replace(path, text)?;
            changed += 1;
        }
    }
    Ok(changed + remove_others(&resources, &files)?)
}

/// Whether the directory exists and is memdir's.
pub(crate) fn is_ours(import: &MemoryImport, machine: &Machine) -> bool {
    fs::read_to_string((import.dir)(machine).join(INSTRUCTIONS)).is_ok_and(|text| text == import.instructions)
}

/// Removes the directory if it is memdir's, and the directories above it that are empty then.
pub(crate) fn remove(import: &MemoryImport, machine: &Machine) -> io::Result<bool> {
    if !is_ours(import, machine) {
        return Ok(false);
    }
    let (dir, root) = ((import.dir)(machine), (import.root)(machine));
    fs::remove_dir_all(&dir)?;
    // A directory that is not empty cannot be removed, and stays.
    dir.ancestors().skip(1).take_while(|above| above.starts_with(&root)).for_each(|above| drop(fs::remove_dir(above)));
    Ok(true)
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let dir = path.parent().unwrap_or(path);
    fs::create_dir_all(dir)?;
    disk::replace(path, Replace::DERIVED, |file| io::Write::write_all(file, text.as_bytes()))
}

fn remove_others(dir: &Path, kept: &[(PathBuf, String)]) -> io::Result<usize> {
    let mut removed = 0;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            removed += remove_others(&path, kept)?;
            // A directory that is not empty stays.
            let _ = fs::remove_dir(&path);
        } else if !kept.iter().any(|(keep, _)| *keep == path) {
            fs::remove_file(&path)?;
            removed += 1;
        }
    }
    Ok(removed)
}
