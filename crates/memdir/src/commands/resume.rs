//! `memdir resume`: finds a past conversation by its content, and the command that resumes it.

use super::chats::{CHATS_ARE_OFF, host};
use crate::{
    args::ResumeArgs,
    config::Settings,
    exit::{Exit, Failure},
    output::{CommandOutput, Printer},
    scope::Scope,
    spaces,
};
use memdir_core::{ChatPlace, Hit, NoChats, ResumeCommand, Search, internal::base::shell::quote_posix};
use serde::Serialize;
use std::{io, process::Command};

/// The maximum number of conversations that are printed.
const MAX_CHATS: usize = 5;

#[derive(Serialize)]
struct Matches {
    on: bool,
    /// Whether there is an archive, which the first import creates.
    #[serde(skip)]
    imported: bool,
    /// Whether `--host` leaves out the conversations of other hosts.
    #[serde(skip)]
    of_host: bool,
    /// The matching conversations, best first, each once.
    chats: Vec<ChatMatch>,
    /// Matching conversations whose host cannot resume them.
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

pub(crate) fn run(args: &ResumeArgs, settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    scope.must_be_on()?;
    let host = args.host.as_deref().map(host).transpose()?;
    let Some((memdir, _)) = spaces::open_chats(settings)? else {
        let on = settings.config.chats.settings.on;
        let none = Matches { on, imported: false, of_host: host.is_some(), chats: Vec::new(), without_command: Vec::new() };
        return Ok(CommandOutput::new(none, show).exit(Exit::Negative));
    };
    let chats_note = memdir.catch_up_chats(None);
    let mut answer = memdir.search(&Search { max_results: 50, all_projects: true, ..Search::new(args.words.join(" ")) })?;
    answer.notes.extend(chats_note);
    let (mut chats, mut without_command): (Vec<ChatMatch>, Vec<ChatMatch>) = (Vec::new(), Vec::new());
    for Hit { score, lines, text, chat, .. } in answer.hits {
        let Some(place) = chat.filter(|place| host.is_none_or(|host| host.name == place.host)) else { continue };
        let matches = if place.resume.is_some() { &mut chats } else { &mut without_command };
        if matches.len() < MAX_CHATS && !matches.iter().any(|known| known.place.session == place.session) {
            matches.push(ChatMatch { score, lines, text, place });
        }
    }
    if args.run
        && let Some(resume) = chats.first().and_then(|best| best.place.command.as_ref())
    {
        return start(resume);
    }
    let exit = if chats.is_empty() { Exit::Negative } else { Exit::Success };
    let matches = Matches { on: true, imported: true, of_host: host.is_some(), chats, without_command };
    Ok(CommandOutput::new(matches, show).with_notes(answer.notes).exit(exit))
}

/// Runs the host in the conversation's directory, and returns its exit status.
#[expect(clippy::disallowed_methods, reason = "the user asked for it with --run")]
fn start(resume: &ResumeCommand) -> Result<CommandOutput, Failure> {
    let (program, args) = resume.argv.split_first().map_or(("", &[][..]), |(program, args)| (program.as_str(), args));
    let mut command = Command::new(program);
    command.args(args);
    if let Some(dir) = &resume.dir {
        if !dir.is_dir() {
            return Err(Failure::Settings {
                message: format!("the conversation's directory {} does not exist", dir.display()),
                hint: format!("create the directory, or try this command in another directory: {}", resume.argv.join(" ")),
            });
        }
        command.current_dir(dir);
    }
    let failed = |source| Failure::File { doing: "start", path: program.into(), source };
    let status = command.status().map_err(failed)?;
    let exit = if status.success() { Exit::Success } else { Exit::Negative };
    Ok(CommandOutput::new((), |(), _| Ok(())).exit(exit))
}

fn show(matches: &Matches, printer: &mut Printer<'_>) -> io::Result<()> {
    if let Some((best, others)) = matches.chats.split_first() {
        let resume = best.place.resume.as_deref().unwrap_or_default();
        printer.line(printer.strong(resume))?;
        printer.note(describe(best));
        for other in others {
            printer.note(format!("or {}: {}", describe(other), other.place.resume.as_deref().unwrap_or_default()));
        }
    } else if !matches.on {
        printer.note(CHATS_ARE_OFF);
    } else if !matches.imported {
        printer.note(NoChats::NothingImported.reason());
    } else if matches.without_command.is_empty() {
        let wider = if matches.of_host { ", or omit --host" } else { "" };
        printer.note(format!("no matching conversations; try other words{wider}"));
    }
    for chat in &matches.without_command {
        let show = format!("memdir chats show {}", quote_posix(&format!("{}/{}", chat.place.host, chat.place.session)));
        printer.note(format!("{}: cannot be resumed; show it with: {show}", describe(chat)));
    }
    Ok(())
}

fn describe(chat: &ChatMatch) -> String {
    let place = &chat.place;
    let when = place.at.map_or(String::new(), |at| format!(", {}", at.strftime("%Y-%m-%d")));
    format!("{} {:?}{when} (score {:.2})", place.host, place.title, chat.score)
}
