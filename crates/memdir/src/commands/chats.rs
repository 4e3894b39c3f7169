//! `memdir chats`: lists past conversations with agents, and dispatches its subcommands.

mod export;
mod forget;
pub(super) mod show;
mod switch;
pub(super) mod sync;

use super::counted;
use crate::{
    args::{ChatFilterArgs, ChatsArgs, ChatsWhat},
    config::{self, Settings},
    exit::Failure,
    mounts::chat_archive,
    output::{CommandOutput, OutputOptions, Printer},
    project_records,
    scope::Scope,
};
use jiff::{Timestamp, tz::TimeZone};
use memdir_chats::{ArchivedChat, ArchivedFile, READERS, Reader};
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    Clock as _, Error, SystemClock,
    internal::{
        base::{text::ellipsis, time::parse_since},
        store::mount::real_path,
    },
};
use serde::Serialize;
use std::{
    io,
    path::{Component, Path, PathBuf},
};

/// The note while chats are off.
pub(super) const CHATS_ARE_OFF: &str = "chats are off; turn them on with: memdir chats on";

pub(crate) fn run(
    args: &ChatsArgs,
    typed_project: Option<&str>,
    settings: &Settings,
    scope: &Scope,
    look: OutputOptions,
) -> Result<CommandOutput, Failure> {
    // While memory is off nothing is read; archived conversations can still be forgotten, and chats turned on and off.
    if !matches!(&args.what, Some(ChatsWhat::On(_) | ChatsWhat::Off(_) | ChatsWhat::Forget(_))) {
        scope.must_be_on()?;
    }
    if let (Some(_), Some(ChatsWhat::Show(_) | ChatsWhat::Sync(_))) = (typed_project, &args.what) {
        return Err(Failure::Usage {
            message: "--project cannot be used with `chats show` or `chats sync`".into(),
            hint: "omit --project; `chats`, `chats export`, `chats forget`, `chats on` and `chats off` accept it".into(),
        });
    }
    match &args.what {
        None => list(args, settings),
        Some(ChatsWhat::Show(args)) => show::run(args, settings),
        Some(ChatsWhat::Sync(args)) => sync::run(args, settings, scope, look),
        Some(ChatsWhat::On(args)) => switch::run(args, settings, true),
        Some(ChatsWhat::Off(args)) => switch::run(args, settings, false),
        Some(ChatsWhat::Forget(args)) => forget::run(args, settings),
        Some(ChatsWhat::Export(args)) => export::run(args, settings),
    }
}

#[derive(Serialize)]
struct ChatList {
    on: bool,
    chats: Vec<ListedChat>,
    left_out: usize,
    /// The shortest unique prefix of each conversation's id.
    #[serde(skip)]
    short: Vec<String>,
    #[serde(skip)]
    zone: TimeZone,
}

#[derive(Serialize)]
struct ListedChat {
    #[serde(flatten)]
    file: ArchivedFile,
    #[serde(skip_serializing_if = "Option::is_none")]
    resume: Option<String>,
}

fn list(args: &ChatsArgs, settings: &Settings) -> Result<CommandOutput, Failure> {
    let filter = Filter::parse(&args.filter, settings)?;
    let mut notes = sync::catch_up(settings)?;
    let listed = chat_archive(settings).list()?;
    notes.extend(listed.problems.into_iter().map(|problem| problem.what));
    let mut ids: Vec<(String, String)> = listed.chats.iter().flat_map(|file| both_ids(&file.chat)).collect();
    ids.shared_sort();
    let mut chats: Vec<ArchivedFile> = listed.chats.into_iter().filter(|file| filter.matches(&file.chat)).collect();
    let left_out = if args.limit == 0 { 0 } else { chats.len().saturating_sub(args.limit) };
    chats.truncate(chats.len() - left_out);
    let one = |file: ArchivedFile| ListedChat { resume: file.chat.resume().as_ref().map(ToString::to_string), file };
    let on = settings.config.chats.settings.on;
    let short = chats.iter().map(|file| short_id(&file.chat, &ids)).collect();
    let list = ChatList { on, chats: chats.into_iter().map(one).collect(), left_out, short, zone: SystemClock.zone() };
    Ok(CommandOutput::new(list, show_list).with_notes(notes))
}

fn show_list(list: &ChatList, printer: &mut Printer<'_>) -> io::Result<()> {
    if !list.on {
        printer.note(CHATS_ARE_OFF);
    } else if list.chats.is_empty() {
        printer.note("no conversations found");
    }
    if !list.chats.is_empty() {
        let mut rows = vec![["when", "host", "id", "turns", "project", "title"].map(str::to_owned).to_vec()];
        rows.extend(list.chats.iter().zip(&list.short).map(|(one, short)| row(&one.file.chat, short, &list.zone)));
        printer.table(&rows)?;
    }
    if list.left_out > 0 {
        printer.note(format!("{}; show all with --limit 0", counted(list.left_out as u64, "more conversation", "more conversations")));
    }
    Ok(())
}

/// The ids a conversation is found by, each with its name.
fn both_ids(chat: &ArchivedChat) -> [(String, String); 2] {
    [(chat.session.clone(), chat.name()), (chat.key.clone(), chat.name())]
}

/// Returns the shortest prefix of an id that no other conversation has, of at least eight characters. `ids` are the sorted ids of all
/// conversations.
fn short_id(chat: &ArchivedChat, ids: &[(String, String)]) -> String {
    let name = chat.name();
    let is_unique = |prefix: &str| {
        let from = ids.partition_point(|(id, _)| id.as_str() < prefix);
        ids[from..].iter().take_while(|(id, _)| id.starts_with(prefix)).all(|(_, owner)| *owner == name)
    };
    let prefixes = |id: &str| {
        let ends: Vec<usize> = id.char_indices().map(|(at, c)| at + c.len_utf8()).skip(7).collect();
        if ends.is_empty() { vec![id.to_owned()] } else { ends.iter().map(|&end| id[..end].to_owned()).collect() }
    };
    let short = [&chat.session, &chat.key].into_iter().flat_map(|id| prefixes(id)).find(|prefix| is_unique(prefix));
    short.unwrap_or_else(|| if chat.key == chat.session { name.clone() } else { chat.key.clone() })
}

fn row(chat: &ArchivedChat, id: &str, zone: &TimeZone) -> Vec<String> {
    let when = chat.updated.map_or_else(|| "-".to_owned(), |at| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string());
    let project = chat.project.as_deref().map_or("-", |dir| Path::new(dir).file_name().and_then(|name| name.to_str()).unwrap_or(dir));
    vec![when, chat.host.to_string(), id.to_owned(), chat.turns.to_string(), project.to_owned(), ellipsis(&chat.title, 60).into_owned()]
}

/// Selects conversations by the options of a command.
struct Filter {
    host: Option<&'static Reader>,
    project: Option<PathBuf>,
    since: Option<Timestamp>,
    before: Option<Timestamp>,
}

impl Filter {
    fn parse(args: &ChatFilterArgs, settings: &Settings) -> Result<Filter, Failure> {
        Ok(Filter {
            host: args.host.as_deref().map(host).transpose()?,
            project: args.project.as_deref().map(|dir| directory(dir, settings)).transpose()?,
            since: args.since.as_deref().map(|since| parse_since("--since", since, &SystemClock)).transpose()?,
            before: args.before.as_deref().map(|before| parse_since("--before", before, &SystemClock)).transpose()?,
        })
    }

    fn matches(&self, chat: &ArchivedChat) -> bool {
        let updated = chat.updated.or(chat.started).unwrap_or_default();
        self.host.is_none_or(|host| host == chat.host)
            && self.project.as_deref().is_none_or(|dir| chat.session_project().is_in(dir))
            && self.since.is_none_or(|since| updated >= since)
            && self.before.is_none_or(|before| updated < before)
    }
}

/// Returns the note about archived conversations while chats are off.
pub(super) fn off_note(settings: &Settings) -> Option<String> {
    let note = "chats are off, so the archive may be out of date; turn them on with: memdir chats on";
    (!settings.config.chats.settings.on).then(|| note.to_owned())
}

/// Parses the name of a host.
pub(super) fn host(name: &str) -> Result<&'static Reader, Failure> {
    let names = || READERS.iter().map(|host| host.name).collect::<Vec<_>>().join(", ");
    memdir_chats::reader(name).ok_or_else(|| Error::bad_input("host", format!("{name:?} is not one of {}", names())).into())
}

/// Resolves `--project`: the path of a directory, or the id of a project.
fn directory(text: &str, settings: &Settings) -> Result<PathBuf, Failure> {
    let path = normalize(&config::path_from("--project", Path::new(text), &settings.cwd)?);
    let is_path = text.contains('/') || text.starts_with(['.', '~', '$']);
    let root =
        project_records::read(&settings.home.value, text).map(|known| known.root).filter(|root| !is_path && !root.as_os_str().is_empty());
    match root {
        Some(root) if path.is_dir() && real_path(&root) != real_path(&path) => Err(Failure::Usage {
            message: format!("--project {text:?} is ambiguous: it names a directory and the project in {}", root.display()),
            hint: format!("use ./{text} for the directory, or {} for the project", root.display()),
        }),
        Some(root) => Ok(root),
        None if is_path || path.is_dir() => Ok(path),
        None => Err(Failure::Usage {
            message: format!("--project {text:?} is neither a directory nor a project id"),
            hint: "pass a directory, or list the project ids with: memdir projects".into(),
        }),
    }
}

/// Removes `.` and `..` from a path without resolving symbolic links: hosts record the path as the user typed it.
fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}
