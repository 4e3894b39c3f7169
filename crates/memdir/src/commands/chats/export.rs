//! `memdir chats export`: prints conversations as Markdown or JSON.

use super::Filter;
use crate::{
    args::ChatsExport,
    config::Settings,
    exit::Failure,
    mounts::chat_archive,
    output::{CommandOutput, Printer},
};
use memdir_chats::keep::{Keep, Kept, Section};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Exported {
    chats: Vec<ExportedChat>,
}

#[derive(Serialize)]
struct ExportedChat {
    #[serde(flatten)]
    kept: Kept,
    sections: Vec<Section>,
    #[serde(skip)]
    markdown: String,
}

pub(crate) fn run(args: &ChatsExport, settings: &Settings) -> Result<CommandOutput, Failure> {
    let filter = Filter::parse(&args.filter, settings)?;
    let mut notes = super::sync::fresh(settings)?;
    notes.extend(super::off_note(settings));
    let keep = chat_archive(settings);
    let selected: Vec<Kept> = if args.sessions.is_empty() {
        keep.list()?.chats.into_iter().map(|file| file.kept).filter(|kept| filter.matches(kept)).collect()
    } else {
        args.sessions.iter().map(|session| keep.find(session)).collect::<Result<_, _>>()?
    };
    let chats = selected.iter().filter_map(|kept| chat(&keep, kept).transpose()).collect::<Result<_, _>>()?;
    Ok(CommandOutput::new(Exported { chats }, show).with_notes(notes))
}

fn chat(keep: &Keep, kept: &Kept) -> Result<Option<ExportedChat>, Failure> {
    let Some((kept, sections)) = keep.read(kept.host, &kept.key)? else { return Ok(None) };
    let text = keep.text(kept.host, &kept.key)?.unwrap_or_default();
    // The import position and the number of files are internal.
    let (head, body) = text.split_once("\n---\n").unwrap_or(("", &text));
    let head: Vec<&str> = head.lines().filter(|line| !line.starts_with("cursor: ") && !line.starts_with("parts: ")).collect();
    let markdown = format!("{}\n---\n{body}", head.join("\n"));
    Ok(Some(ExportedChat { kept, sections, markdown }))
}

fn show(exported: &Exported, printer: &mut Printer<'_>) -> io::Result<()> {
    for (i, chat) in exported.chats.iter().enumerate() {
        if i > 0 {
            printer.line("")?;
        }
        printer.content(&chat.markdown)?;
    }
    Ok(())
}
