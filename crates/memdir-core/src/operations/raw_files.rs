//! Files exactly as asked, for callers that think in files: no name is completed, no frontmatter touched, no reference
//! rewritten. Folders are what their files make them. Everything is journalled and can be undone like any other change.

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
    },
    entrypoint::upkeep,
    operations::{context::Context, write},
    store::{Change, FileEdit, Role, Store, Stored, Verb, View},
};

/// The file of exactly this name.
pub(crate) fn get(view: &dyn View, path: &MemoryPath) -> Result<Option<Stored>> {
    Ok(view.get(path)?.filter(|stored| stored.path == *path))
}

/// Whether there are files under this name.
pub(crate) fn is_folder(view: &dyn View, path: &MemoryPath) -> Result<bool> {
    Ok(!view.list(path.as_str())?.entries.is_empty())
}

/// Makes a file what `plan` makes of it. The plan may be asked again if somebody else was quicker, and may refuse.
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
        // What is only suspected has no place in another system's answers.
        write::judge(context, old, &bytes)?;
        let mut edits = vec![FileEdit { path: path.clone(), bytes: Some(bytes.clone()), role: Role::Memory }];
        edits.extend(upkeep::line_for(view, &context.books, path, &bytes)?.edits);
        Ok(edits)
    })
}

/// Removes a file, or every file under a folder, in one change.
pub(crate) fn remove(store: &dyn Store, context: &Context, path: &MemoryPath) -> Result<Change> {
    store.change(&context.intent(Verb::Delete), std::slice::from_ref(path), &mut |view| {
        let files = files(view, path)?;
        let mut edits: Vec<FileEdit> = files.iter().map(|file| gone(&file.path)).collect();
        edits.extend(upkeep::lines_for(view, &context.books, &edits)?.edits);
        Ok(edits)
    })
}

/// Gives a file, or every file under a folder, another name, in one change. Never overwrites.
pub(crate) fn relocate(store: &dyn Store, context: &Context, from: &MemoryPath, to: &MemoryPath) -> Result<Change> {
    store.change(&context.intent(Verb::Rename), &[from.clone(), to.clone()], &mut |view| {
        let files = files(view, from)?;
        if get(view, to)?.is_some() || is_folder(view, to)? {
            return Err(Error::Exists { path: to.clone() });
        }
        if to.is_under(from.as_str()) {
            return Err(Error::bad_path(to.as_str(), format!("it lies inside {from}, which would move into itself")));
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
        edits.extend(upkeep::lines_for(view, &context.books, &edits)?.edits);
        Ok(edits)
    })
}

fn gone(path: &MemoryPath) -> FileEdit {
    FileEdit { path: path.clone(), bytes: None, role: Role::Memory }
}

/// The file of this name, or those under it.
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
