//! `memdir resume`: finds a past conversation and prints the command that resumes it.

use super::chats::{OFF, host};
use crate::{
    args::Resume as Typed,
    config::Settings,
    exit::{Exit, Failure},
    output::{CommandOutput, Printer},
    scope::Scope,
    spaces,
};
use memdir_core::search::{
    Hit, Search,
    chats::{ChatPlace, ResumeCommand},
};
use serde::Serialize;
use std::{io, process::Command};

/// Maximum number of conversations that are printed.
const MAX_CHATS: usize = 5;

#[derive(Serialize)]
struct Matches {
    on: bool,
    /// The best match first, each conversation once.
    chats: Vec<ChatMatch>,
    /// Conversations of hosts that cannot resume one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without_command: Vec<ChatMatch>,
}

#[derive(Serialize)]
struct ChatMatch {
    score: f32,
    lines: String,
    text: String,
    #[serde(flatten)]
    place: ChatPlace,
}

pub(crate) fn run(args: &Typed, settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    scope.must_be_on()?;
    let host = args.host.as_deref().map(host).transpose()?;
    let Some((memdir, _)) = spaces::open_chats(settings)? else {
        return Ok(CommandOutput::new(Matches { on: false, chats: Vec::new(), without_command: Vec::new() }, show).exit(Exit::NotSo));
    };
    let chats_note = memdir.catch_up_chats(None);
    let mut answer = memdir.search(&Search { max_results: 50, ..Search::new(args.words.join(" ")) })?;
    answer.notes.extend(chats_note);
    let (mut chats, mut without_command): (Vec<ChatMatch>, Vec<ChatMatch>) = (Vec::new(), Vec::new());
    for Hit { score, lines, text, chat, .. } in answer.hits {
        let Some(place) = chat.filter(|place| host.is_none_or(|host| host.name() == place.host)) else { continue };
        let list = if place.resume.is_some() { &mut chats } else { &mut without_command };
        if list.len() < MAX_CHATS && !list.iter().any(|one| one.place.session == place.session) {
            list.push(ChatMatch { score, lines, text, place });
        }
    }
    if args.run
        && let Some(resume) = chats.first().and_then(|best| best.place.command.as_ref())
    {
        return start(resume);
    }
    let exit = if chats.is_empty() { Exit::NotSo } else { Exit::Done };
    Ok(CommandOutput::new(Matches { on: true, chats, without_command }, show).with_notes(answer.notes).exit(exit))
}

/// Runs the host in the directory of the conversation, and exits with 1 if the host fails.
#[expect(clippy::disallowed_methods, reason = "the user asked for it with --run")]
fn start(resume: &ResumeCommand) -> Result<CommandOutput, Failure> {
    let (program, args) = resume.argv.split_first().map_or(("", &[][..]), |(program, args)| (program.as_str(), args));
    let mut command = Command::new(program);
    command.args(args);
    if let Some(dir) = &resume.dir {
        if !dir.is_dir() {
            return Err(Failure::Settings {
                message: format!("the directory of the conversation, {}, does not exist", dir.display()),
                hint: format!("to try it in this directory, run: {}", resume.argv.join(" ")),
            });
        }
        command.current_dir(dir);
    }
    let failed = |source| Failure::File { doing: "start", path: program.into(), source };
    let status = command.status().map_err(failed)?;
    let exit = if status.success() { Exit::Done } else { Exit::NotSo };
    Ok(CommandOutput::new((), |(), _| Ok(())).exit(exit))
}

fn show(matches: &Matches, printer: &mut Printer<'_>) -> io::Result<()> {
    if let Some((best, others)) = matches.chats.split_first() {
        let resume = best.place.resume.as_deref().unwrap_or_default();
        printer.line(printer.strong(resume))?;
        printer.note(about(best));
        for other in others {
            printer.note(format!("or {}: {}", about(other), other.place.resume.as_deref().unwrap_or_default()));
        }
    } else if !matches.on {
        printer.note(OFF);
    } else if matches.without_command.is_empty() {
        printer.note("no matching conversation");
    }
    for one in &matches.without_command {
        let show = format!("memdir chats show {}/{}", one.place.host, one.place.session);
        printer.note(format!("{}: {} cannot resume a conversation; print it with: {show}", about(one), one.place.host));
    }
    Ok(())
}

fn about(one: &ChatMatch) -> String {
    let place = &one.place;
    let when = place.at.map_or(String::new(), |at| format!(", {}", at.strftime("%Y-%m-%d")));
    format!("{} {:?}{when} (score {:.2})", place.host, place.title, one.score)
}
