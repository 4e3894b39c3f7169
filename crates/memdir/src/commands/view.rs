//! `memdir view`: exports memories as one self-contained HTML file.

use super::{OpenSpace, counted, export};
use crate::{
    args::ViewArgs,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    /// The file itself, if it goes to standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
    memories: usize,
    bytes: u64,
    left_out: Vec<String>,
}

pub(crate) fn run(args: &ViewArgs, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let memdir = space.memdir;
    let named: Vec<&str> = args.include.iter().map(|prefix| prefix.trim_matches('/')).collect();
    let prefixes: Vec<&str> = memdir.store().mounts().iter().map(|mount| mount.prefix.as_str()).collect();
    if let Some(unknown) = named.iter().find(|prefix| !prefixes.contains(prefix)) {
        let others: Vec<&str> = prefixes.iter().filter(|prefix| !prefix.is_empty()).copied().collect();
        let hint = if others.is_empty() {
            "omit --include: there are no other memories to include".into()
        } else {
            format!("pass one or more of: {}", others.join(", "))
        };
        return Err(Failure::Usage { message: format!("cannot include {unknown:?}: not found"), hint });
    }
    let title = space
        .origin
        .filter(|(settings, _)| settings.dir.is_none())
        .map_or("Memory".to_owned(), |(_, scope)| format!("Memory of {}", scope.id));
    let exported = export_view(memdir, &title, &|prefix| SHARED.contains(&prefix) || named.contains(&prefix))?;
    let bytes = exported.html.len() as u64;
    let (file, html) = if export::is_stdout(&args.out) {
        (None, Some(exported.html))
    } else {
        export::write(&args.out, &exported.html, args.force)?;
        (Some(args.out.clone()), None)
    };
    let notes = exported
        .left_out
        .iter()
        .filter(|prefix| *prefix != "chats")
        .map(|prefix| format!("omitted {prefix}/, which may be private; include it with: --include {prefix}"));
    let notes = exported.problems.iter().cloned().chain(notes).collect();
    let viewed = Viewed { file, html, memories: exported.memories, bytes, left_out: exported.left_out };
    Ok(CommandOutput::new(viewed, show).with_notes(notes).exit(export::exit_of_copy(exported.is_complete)))
}

fn show(viewed: &Viewed, printer: &mut Printer<'_>) -> io::Result<()> {
    let Some(file) = &viewed.file else { return printer.content(viewed.html.as_deref().unwrap_or_default()) };
    let (memories, size) = (counted(viewed.memories as u64, "memory", "memories"), text::human_bytes(viewed.bytes));
    printer.line(format!("exported {memories} to {} ({size})", file.display()))
}
