//! Operations on files by their exact path, for dialects of systems that know files and not memories: names are not completed,
//! frontmatter and references are not touched. A folder exists if files are under it. Every change is in the journal and can be undone.

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
    },
    entrypoint::upkeep,
    operations::{context::Context, write},
    store::{Change, FileEdit, Role, Store, Stored, Verb, View},
};

/// Returns the file with exactly this path.
pub(crate) fn get(view: &dyn View, path: &MemoryPath) -> Result<Option<Stored>> {
    Ok(view.get(path)?.filter(|stored| stored.path == *path))
}

/// Whether there are files under this path.
pub(crate) fn is_folder(view: &dyn View, path: &MemoryPath) -> Result<bool> {
    Ok(!view.list(path.as_str())?.entries.is_empty())
}

/// Writes the bytes that `plan` returns for the current bytes of a file. The plan may fail, and is called again if another process
/// changed the file first.
pub(crate) fn rewrite(
    store: &dyn Store,
    context: &Context,
    verb: Verb,
    path: &MemoryPath,
    plan: &mut dyn FnMut(&dyn View, Option<&[u8]>) -> Result<Vec<u8>>,
) -> Result<Change> {
    store.change(&context.intent(verb), std::slice::from_ref(path), &mut |view| {
        let there = get(view, path)?;
        let old = there.as_ref().map(|stored| stored.bytes.as_slice());
        let bytes = plan(view, old)?;
        // Warnings about likely secrets are dropped: the other system's answers have no place for them.
        write::check_secrets(context, old, &bytes)?;
        let mut edits = vec![FileEdit { path: path.clone(), bytes: Some(bytes.clone()), role: Role::Memory }];
        edits.extend(upkeep::set_line(view, &context.entrypoint_cache, path, &bytes)?.edits);
        Ok(edits)
    })
}

/// Deletes a file, or every file under a folder, in one change.
pub(crate) fn remove(store: &dyn Store, context: &Context, path: &MemoryPath) -> Result<Change> {
    store.change(&context.intent(Verb::Delete), std::slice::from_ref(path), &mut |view| {
        let files = files(view, path)?;
        let mut edits: Vec<FileEdit> = files.iter().map(|file| gone(&file.path)).collect();
        edits.extend(upkeep::set_lines(view, &context.entrypoint_cache, &edits)?.edits);
        Ok(edits)
    })
}

/// Renames a file, or every file under a folder, in one change. Never overwrites.
pub(crate) fn relocate(store: &dyn Store, context: &Context, from: &MemoryPath, to: &MemoryPath) -> Result<Change> {
    store.change(&context.intent(Verb::Rename), &[from.clone(), to.clone()], &mut |view| {
        let files = files(view, from)?;
        if get(view, to)?.is_some() || is_folder(view, to)? {
            return Err(Error::Exists { path: to.clone() });
        }
        if to.is_under(from.as_str()) {
            return Err(Error::bad_path(to.as_str(), format!("it is inside {from}, which cannot be moved into itself")));
        }
        let mut edits = Vec::with_capacity(files.len() * 2);
        for file in files {
            let target = match file.path.strip_prefix(from.as_str()) {
                Some(rest) => rest.prefixed(to.as_str()),
                None => to.clone(),
            };
            edits.push(FileEdit { path: target, bytes: Some(file.bytes), role: Role::Memory });
            edits.push(gone(&file.path));
        }
        edits.extend(upkeep::set_lines(view, &context.entrypoint_cache, &edits)?.edits);
        Ok(edits)
    })
}

fn gone(path: &MemoryPath) -> FileEdit {
    FileEdit { path: path.clone(), bytes: None, role: Role::Memory }
}

/// Returns the file with this path, or all files under it.
fn files(view: &dyn View, path: &MemoryPath) -> Result<Vec<Stored>> {
    if let Some(file) = get(view, path)? {
        return Ok(vec![file]);
    }
    let mut files = Vec::new();
    for entry in view.list(path.as_str())?.entries {
        files.extend(get(view, &entry.path)?);
    }
    if files.is_empty() { Err(Error::NotFound { path: path.to_string(), near: Vec::new() }) } else { Ok(files) }
}
