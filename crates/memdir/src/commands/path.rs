//! `memdir path`: the file of a memory, for other programs.

use super::name;
use crate::{args::PathArgs, exit::Failure, output::CommandOutput};
use memdir_core::{
    Memdir, MemoryPath,
    internal::{operations::read, store::mounts},
};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct MemoryFile {
    name: String,
    path: MemoryPath,
    file: PathBuf,
}

pub(crate) fn run(args: &PathArgs, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let store = memdir.store();
    let typed = memdir.name(&name(&args.name)?);
    let path = store.get(&typed)?.ok_or_else(|| read::not_found(store, &typed))?.path;
    let (mount, rest) = mounts::locate(store.mounts(), path.as_str()).ok_or_else(|| read::not_found(store, &typed))?;
    let file = MemoryFile { name: path.name().to_owned(), file: on_disk(&mount.root, rest), path };
    Ok(CommandOutput::new(file, |file, printer| printer.line(file.file.to_string_lossy())))
}

/// The path of a file as its directories spell it: names are compared in NFC, but a file may have another form on disk.
fn on_disk(root: &Path, rest: &str) -> PathBuf {
    rest.split('/').fold(root.to_owned(), |dir, part| {
        let file = dir.join(part);
        if file.symlink_metadata().is_ok() {
            return file;
        }
        let is_part =
            |name: &std::ffi::OsString| name.to_str().is_some_and(|name| MemoryPath::parse(name).is_ok_and(|name| name.as_str() == part));
        let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten().map(|entry| entry.file_name());
        entries.into_iter().find(is_part).map_or(file, |name| dir.join(name))
    })
}
