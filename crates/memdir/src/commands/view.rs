//! `memdir view`: exports memories as one self-contained HTML file.

use super::{OpenSpace, counted, export};
use crate::{
    args::View as Typed,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::internal::base::text;
use memdir_server::export_view;
use serde::Serialize;
use std::{io, path::PathBuf};

/// The prefixes that are exported without being named: the project's memory and the team's, which others see anyway.
const SHARED: [&str; 2] = ["", "team"];

#[derive(Serialize)]
struct Viewed {
    file: PathBuf,
    memories: usize,
    bytes: u64,
    left_out: Vec<String>,
}

pub(crate) fn run(args: &Typed, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let memdir = space.memdir;
    let named: Vec<&str> = args.include.iter().map(|prefix| prefix.trim_matches('/')).collect();
    let prefixes: Vec<&str> = memdir.store().mounts().iter().map(|mount| mount.prefix.as_str()).collect();
    if let Some(unknown) = named.iter().find(|prefix| !prefixes.contains(prefix)) {
        return Err(Failure::Usage {
            message: format!("no mount has the prefix {unknown:?}"),
            hint: format!(
                "the prefixes are: {}",
                prefixes.iter().filter(|prefix| !prefix.is_empty()).copied().collect::<Vec<_>>().join(", ")
            ),
        });
    }
    let title = space
        .origin
        .filter(|(settings, _)| settings.dir.is_none())
        .map_or("Memory".to_owned(), |(_, scope)| format!("Memory of {}", scope.id));
    let exported = export_view(memdir, &title, &|prefix| SHARED.contains(&prefix) || named.contains(&prefix))?;
    export::write(&args.out, &exported.html, args.force)?;
    let notes = exported
        .left_out
        .iter()
        .filter(|prefix| *prefix != "chats")
        .map(|prefix| format!("left out {prefix}/, which is private; add it with: --include {prefix}"));
    let notes = notes.collect();
    let viewed =
        Viewed { file: args.out.clone(), memories: exported.memories, bytes: exported.html.len() as u64, left_out: exported.left_out };
    Ok(CommandOutput::new(viewed, show).with_notes(notes))
}

fn show(viewed: &Viewed, printer: &mut Printer<'_>) -> io::Result<()> {
    let (memories, size) = (counted(viewed.memories as u64, "memory", "memories"), text::human_bytes(viewed.bytes));
    printer.line(format!("exported {memories} to {} ({size})", viewed.file.display()))
}
