//! Operations on files by their exact path, for dialects of systems that know files and not memories: names are not completed,
//! frontmatter and references are not touched. Folders exist on their own. Every change of a file is in the journal and can be undone.

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
    },
    entrypoint::upkeep,
    operations::{context::Context, inbox, write},
    store::{Change, FileEdit, Store, Stored, Verb, View},
};

/// Returns the file with exactly this path.
pub(crate) fn get(view: &dyn View, path: &MemoryPath) -> Result<Option<Stored>> {
    Ok(view.get(path)?.filter(|stored| stored.path == *path))
}

/// Whether this path is a folder: there are files under it, or it is an empty directory.
pub(crate) fn is_folder(view: &dyn View, path: &MemoryPath) -> Result<bool> {
    let walk = view.list(path.as_str())?;
    Ok(!walk.entries.is_empty() || walk.folders.iter().any(|folder| folder.path == *path))
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
        inbox::check_evidence(view, path, old, &bytes)?;
        write::check_secrets(context, old, &bytes)?;
        Ok(upkeep::save_with_line(view, &context.entrypoint_cache, path, &bytes)?.edits)
    })
}

/// Deletes a file, or a folder with everything under it, in one change.
pub(crate) fn remove(store: &dyn Store, context: &Context, path: &MemoryPath) -> Result<Change> {
    let mut is_folder = false;
    let change = store.change(&context.intent(Verb::Delete), std::slice::from_ref(path), &mut |view| {
        let tree = tree(view, path)?;
        is_folder = tree.folders.is_some();
        let mut edits: Vec<FileEdit> = tree.files.iter().map(|file| FileEdit::remove(file.path.clone())).collect();
        edits.extend(upkeep::set_lines(view, &context.entrypoint_cache, &edits)?.edits);
        Ok(edits)
    })?;
    if is_folder {
        settle_folders(&change, store.change_folders(&[], std::slice::from_ref(path)))?;
    }
    Ok(change)
}

/// Renames a file, or a folder with everything under it, in one change. Never overwrites.
pub(crate) fn relocate(store: &dyn Store, context: &Context, from: &MemoryPath, to: &MemoryPath) -> Result<Change> {
    let target = |path: &MemoryPath| path.strip_prefix(from.as_str()).map_or_else(|| to.clone(), |rest| rest.prefixed(to.as_str()));
    let mut folders = None;
    let change = store.change(&context.intent(Verb::Rename), &[from.clone(), to.clone()], &mut |view| {
        if get(view, to)?.is_some() || is_folder(view, to)? {
            return Err(Error::Exists { path: to.clone() });
        }
        let tree = tree(view, from)?;
        if to.is_under(from.as_str()) {
            return Err(Error::bad_path(to.as_str(), "a folder cannot be moved into itself"));
        }
        let mut edits = Vec::with_capacity(tree.files.len() * 2);
        for file in tree.files {
            edits.push(FileEdit::save(target(&file.path), file.bytes));
            edits.push(FileEdit::remove(file.path));
        }
        edits.extend(upkeep::set_lines(view, &context.entrypoint_cache, &edits)?.edits);
        folders = tree.folders;
        Ok(edits)
    })?;
    if let Some(folders) = folders {
        settle_folders(&change, store.change_folders(&folders.iter().map(target).collect::<Vec<_>>(), std::slice::from_ref(from)))?;
    }
    Ok(change)
}

/// Returns the error of a change of folders, unless the files were changed: then the change is made, and only empty folders are not.
fn settle_folders(change: &Change, folders: Result<()>) -> Result<()> {
    if change.files.is_empty() { folders } else { Ok(()) }
}

/// A file, or a folder with everything under it.
struct Tree {
    files: Vec<Stored>,
    /// The folder and the folders under it; `None` for a file.
    folders: Option<Vec<MemoryPath>>,
}

/// Returns the file with this path, or the folder.
fn tree(view: &dyn View, path: &MemoryPath) -> Result<Tree> {
    if let Some(file) = get(view, path)? {
        return Ok(Tree { files: vec![file], folders: None });
    }
    let walk = view.list(path.as_str())?;
    let folders: Vec<MemoryPath> =
        walk.folders.into_iter().map(|folder| folder.path).filter(|folder| folder.is_under(path.as_str())).collect();
    let mut files = Vec::new();
    for entry in walk.entries {
        files.extend(get(view, &entry.path)?);
    }
    if files.is_empty() && folders.is_empty() {
        return Err(Error::NotFound { path: path.to_string(), near: Vec::new() });
    }
    Ok(Tree { files, folders: Some(folders) })
}
