//! `memdir resume`: the past conversation in which something was said, and the command that takes it up again.

use super::chats::{HOW_TO_TURN_ON, host};
use crate::{
    args::Resume as Typed,
    config::Settings,
    exit::{Exit, Failure},
    output::{Answer, Page},
    scope::Scope,
    wire,
};
use memdir_core::search::chats::{ChatPlace, ResumeCommand};
use memdir_core::search::{Hit, Search};
use serde::Serialize;
use std::{io, process::Command};

/// Conversations that are offered.
const MOST: usize = 5;

#[derive(Serialize)]
struct Found {
    on: bool,
    /// Best first, each conversation once.
    chats: Vec<One>,
    /// The same of those whose host has no command that takes them up again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without_command: Vec<One>,
}

#[derive(Serialize)]
struct One {
    score: f32,
    lines: String,
    text: String,
    #[serde(flatten)]
    place: ChatPlace,
}

pub(crate) fn run(args: &Typed, settings: &Settings, scope: &Scope) -> Result<Answer, Failure> {
    scope.must_be_on()?;
    let host = args.host.as_deref().map(host).transpose()?;
    let Some((memdir, _)) = wire::open_chats(settings)? else {
        return Ok(Answer::new(Found { on: false, chats: Vec::new(), without_command: Vec::new() }, show).exit(Exit::NotSo));
    };
    let chats_note = memdir.catch_up_chats(None);
    let mut answer = memdir.search(&Search { max_results: 50, ..Search::new(args.words.join(" ")) })?;
    answer.notes.extend(chats_note);
    let (mut chats, mut without_command): (Vec<One>, Vec<One>) = (Vec::new(), Vec::new());
    for Hit { score, lines, text, chat, .. } in answer.hits {
        let Some(place) = chat.filter(|place| host.is_none_or(|host| host.name() == place.host)) else { continue };
        let those = if place.resume.is_some() { &mut chats } else { &mut without_command };
        if those.len() < MOST && !those.iter().any(|one| one.place.session == place.session) {
            those.push(One { score, lines, text, place });
        }
    }
    if args.run
        && let Some(resume) = chats.first().and_then(|best| best.place.command.as_ref())
    {
        return start(resume);
    }
    let exit = if chats.is_empty() { Exit::NotSo } else { Exit::Done };
    Ok(Answer::new(Found { on: true, chats, without_command }, show).with_notes(answer.notes).exit(exit))
}

/// Starts the host in the conversation's directory, and ends as it ends.
#[expect(clippy::disallowed_methods, reason = "the person asked for it with --run")]
fn start(resume: &ResumeCommand) -> Result<Answer, Failure> {
    let (program, args) = resume.argv.split_first().map_or(("", &[][..]), |(program, args)| (program.as_str(), args));
    let mut command = Command::new(program);
    command.args(args);
    if let Some(dir) = &resume.dir {
        if !dir.is_dir() {
            return Err(Failure::Settings {
                message: format!("the conversation was held in {}, which is not there", dir.display()),
                hint: format!("Its host looks for it there. From another directory: {}", resume.argv.join(" ")),
            });
        }
        command.current_dir(dir);
    }
    let failed = |source| Failure::File { doing: "start", path: program.into(), source };
    let status = command.status().map_err(failed)?;
    let exit = if status.success() { Exit::Done } else { Exit::NotSo };
    Ok(Answer::new((), |(), _| Ok(())).exit(exit))
}

fn show(found: &Found, page: &mut Page<'_>) -> io::Result<()> {
    if let Some((best, others)) = found.chats.split_first() {
        let resume = best.place.resume.as_deref().unwrap_or_default();
        page.line(page.strong(resume))?;
        page.note(about(best));
        for other in others {
            page.note(format!("or {}: {}", about(other), other.place.resume.as_deref().unwrap_or_default()));
        }
    } else if !found.on {
        page.note(HOW_TO_TURN_ON);
    } else if found.without_command.is_empty() {
        page.note("no conversation says this");
    }
    for one in &found.without_command {
        let show = format!("memdir chats show {}/{}", one.place.host, one.place.session);
        page.note(format!("{}: {} has no command that takes it up again; {show} shows it", about(one), one.place.host));
    }
    Ok(())
}

fn about(one: &One) -> String {
    let place = &one.place;
    let when = place.at.map_or(String::new(), |at| format!(", {}", at.strftime("%Y-%m-%d")));
    format!("{} {:?}{when} (score {:.2})", place.host, place.title, one.score)
}
