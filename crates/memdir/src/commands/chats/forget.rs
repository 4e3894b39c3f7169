//! `memdir chats forget`: removes what was kept, and never takes it in again.

use super::{directory, keep, time};
use crate::{
    args::ChatsForget,
    config::Settings,
    exit::Failure,
    output::{Answer, Page},
};
use memdir_core::{
    chats::forget::{Gone, Rule},
    time::{Clock as _, SystemClock},
};
use std::io;

pub(crate) fn run(args: &ChatsForget, settings: &Settings) -> Result<Answer, Failure> {
    let keep = keep(settings);
    let session = args.session.as_deref().map(|session| keep.find(session)).transpose()?;
    let rule = Rule {
        session: session.map(|kept| kept.name()),
        project: args.project_dir.as_deref().map(|dir| directory(dir, settings)).transpose()?,
        before: args.before.as_deref().map(|date| time("before", date)).transpose()?,
    };
    Ok(Answer::new(keep.forget(&rule, SystemClock.now())?, show))
}

fn show(gone: &Gone, page: &mut Page<'_>) -> io::Result<()> {
    let shortened =
        if gone.shortened.is_empty() { String::new() } else { format!(", and {} turns of {} others", gone.turns, gone.shortened.len()) };
    page.note("the hosts' own files were not touched");
    page.line(format!("Forgot {} conversations{shortened}.", gone.removed.len()))
}
