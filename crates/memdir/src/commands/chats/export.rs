//! `memdir chats export`: conversations as Markdown, or as data.

use super::Filter;
use crate::{
    args::ChatsExport,
    config::Settings,
    exit::Failure,
    output::{Answer, Page},
    wire::keep,
};
use memdir_chats::keep::{Keep, Kept, Section};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Exported {
    chats: Vec<Chat>,
}

#[derive(Serialize)]
struct Chat {
    #[serde(flatten)]
    kept: Kept,
    sections: Vec<Section>,
    #[serde(skip)]
    markdown: String,
}

pub(crate) fn run(args: &ChatsExport, settings: &Settings) -> Result<Answer, Failure> {
    let filter = Filter::of(&args.filter, settings)?;
    let mut notes = super::sync::fresh(settings)?;
    notes.extend(super::off_note(settings));
    let keep = keep(settings);
    let wanted: Vec<Kept> = if args.sessions.is_empty() {
        keep.list()?.chats.into_iter().map(|file| file.kept).filter(|kept| filter.fits(kept)).collect()
    } else {
        args.sessions.iter().map(|session| keep.find(session)).collect::<Result<_, _>>()?
    };
    let chats = wanted.iter().filter_map(|kept| chat(&keep, kept).transpose()).collect::<Result<_, _>>()?;
    Ok(Answer::new(Exported { chats }, show).with_notes(notes))
}

fn chat(keep: &Keep, kept: &Kept) -> Result<Option<Chat>, Failure> {
    let Some((kept, sections)) = keep.read(kept.host, &kept.key)? else { return Ok(None) };
    let text = keep.text(kept.host, &kept.key)?.unwrap_or_default();
    // How far it was read, and in how many files it is kept, is of no use elsewhere.
    let (head, body) = text.split_once("\n---\n").unwrap_or(("", &text));
    let head: Vec<&str> = head.lines().filter(|line| !line.starts_with("cursor: ") && !line.starts_with("parts: ")).collect();
    let markdown = format!("{}\n---\n{body}", head.join("\n"));
    Ok(Some(Chat { kept, sections, markdown }))
}

fn show(exported: &Exported, page: &mut Page<'_>) -> io::Result<()> {
    for (i, chat) in exported.chats.iter().enumerate() {
        if i > 0 {
            page.line("")?;
        }
        page.content(&chat.markdown)?;
    }
    Ok(())
}
