//! `memdir chats show`: prints an archived conversation, or some of its lines.

use crate::{
    args::ChatsShowArgs,
    config::Settings,
    exit::Failure,
    mounts::chat_archive,
    output::{CommandOutput, Printer},
};
use memdir_chats::ArchivedChat;
use memdir_core::ResumeCommand;
use memdir_core::{Error, LineRange};
use serde::Serialize;
use std::{io, path::PathBuf};

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    chat: ArchivedChat,
    path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    resume: Option<String>,
    text: String,
}

pub(crate) fn run(args: &ChatsShowArgs, settings: &Settings) -> Result<CommandOutput, Failure> {
    let lines = args.lines.as_deref().map(str::parse::<LineRange>).transpose()?;
    let mut notes = super::sync::catch_up(settings)?;
    notes.extend(super::off_note(settings));
    let archive = chat_archive(settings);
    let (chat, part) = archive.find_part(&args.session)?;
    let path = archive.part_path(chat.host, &chat.key, part.unwrap_or_default());
    let text = match part {
        Some(_) => std::fs::read_to_string(&path).map_err(|source| Failure::File { doing: "read", path: path.clone(), source })?,
        None => archive.text(chat.host, &chat.key)?.unwrap_or_default(),
    };
    let text = match lines {
        Some(lines) => {
            let count = text.lines().count() as u64;
            if lines.first > count {
                let whole = if part.is_some() { "part" } else { "conversation" };
                let why =
                    format!("line {} is past the end of the {whole}, which has {}", lines.first, super::counted(count, "line", "lines"));
                return Err(Error::bad_input("lines", why).into());
            }
            lines.slice(&text).to_owned()
        }
        None => body(&text).to_owned(),
    };
    let resume = chat.resume().as_ref().map(ResumeCommand::to_string);
    Ok(CommandOutput::new(Shown { chat, path, resume, text }, show).with_notes(notes))
}

/// Returns the text after the frontmatter.
pub(in crate::commands) fn body(text: &str) -> &str {
    text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(text, |(_, body)| body.trim_start_matches('\n'))
}

fn show(shown: &Shown, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.content(&shown.text)?;
    if let Some(resume) = &shown.resume {
        printer.note(format!("resume with: {resume}"));
    }
    Ok(())
}
