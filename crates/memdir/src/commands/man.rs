//! `memdir man`: manual pages, generated from the same definitions as the help.

use crate::{
    args::{Man as Typed, help},
    exit::Failure,
    output::{CommandOutput, Printer},
};
use serde::Serialize;
use std::{
    io,
    path::{Path, PathBuf},
};

#[derive(Serialize)]
struct Pages {
    #[serde(skip_serializing_if = "Option::is_none")]
    dir: Option<PathBuf>,
    pages: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

pub(crate) fn run(args: &Typed) -> Result<CommandOutput, Failure> {
    let command = help::command();
    let pages = match &args.dir {
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(command).render(&mut text).map_err(|source| Failure::Output { source })?;
            Pages { dir: None, pages: Vec::new(), text: Some(String::from_utf8_lossy(&text).into_owned()) }
        }
        Some(dir) => {
            let fail = |source| Failure::File { doing: "write manual pages to", path: dir.clone(), source };
            std::fs::create_dir_all(dir).map_err(fail)?;
            clap_mangen::generate_to(command, dir).map_err(fail)?;
            Pages { dir: Some(dir.clone()), pages: page_names(dir).map_err(fail)?, text: None }
        }
    };
    Ok(CommandOutput::new(pages, show))
}

fn page_names(dir: &Path) -> io::Result<Vec<String>> {
    let entries = std::fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
    let mut names: Vec<String> = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.starts_with("memdir") && name.ends_with(".1"));
    names.sort();
    Ok(names)
}

fn show(pages: &Pages, printer: &mut Printer<'_>) -> io::Result<()> {
    match (&pages.text, &pages.dir) {
        (Some(text), _) => printer.content(text),
        (None, dir) => printer.line(format!("wrote {} manual pages to {}", pages.pages.len(), dir.clone().unwrap_or_default().display())),
    }
}
