//! `memdir chats export`: prints conversations as Markdown or JSON.

use super::Filter;
use crate::{
    args::ChatsExportArgs,
    config::Settings,
    exit::Failure,
    mounts::chat_archive,
    output::{CommandOutput, Printer},
};
use memdir_chats::{ArchivedChat, ChatArchive, ChatSection};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Exported {
    chats: Vec<ExportedChat>,
}

#[derive(Serialize)]
struct ExportedChat {
    #[serde(flatten)]
    chat: ArchivedChat,
    sections: Vec<ChatSection>,
    #[serde(skip)]
    markdown: String,
}

pub(crate) fn run(args: &ChatsExportArgs, settings: &Settings) -> Result<CommandOutput, Failure> {
    let filter = Filter::parse(&args.filter, settings)?;
    let mut notes = super::sync::catch_up(settings)?;
    notes.extend(super::off_note(settings));
    let archive = chat_archive(settings);
    let wanted: Vec<ArchivedChat> = if args.sessions.is_empty() {
        archive.list()?.chats.into_iter().map(|file| file.chat).filter(|chat| filter.matches(chat)).collect()
    } else {
        args.sessions.iter().map(|session| archive.find(session)).collect::<Result<_, _>>()?
    };
    let chats = wanted.iter().filter_map(|chat| export(&archive, chat).transpose()).collect::<Result<_, _>>()?;
    Ok(CommandOutput::new(Exported { chats }, show).with_notes(notes))
}

fn export(archive: &ChatArchive, chat: &ArchivedChat) -> Result<Option<ExportedChat>, Failure> {
    let Some((chat, sections)) = archive.read(chat.host, &chat.key)? else { return Ok(None) };
    let text = archive.text(chat.host, &chat.key)?.unwrap_or_default();
    // The read position and the number of files are meaningless outside of the archive.
    let (head, body) = text.split_once("\n---\n").unwrap_or(("", &text));
    let head: Vec<&str> = head.lines().filter(|line| !line.starts_with("cursor: ") && !line.starts_with("parts: ")).collect();
    let markdown = format!("{}\n---\n{body}", head.join("\n"));
    Ok(Some(ExportedChat { chat, sections, markdown }))
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
