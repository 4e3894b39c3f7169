//! `memdir chats`: lists past conversations with agents; its subcommands import, print, export and delete them.

mod export;
mod forget;
mod show;
mod switch;
mod sync;

use crate::{
    args::{ChatFilter, Chats, ChatsWhat},
    config::{self, Settings},
    exit::Failure,
    mounts::chat_archive,
    output::{CommandOutput, OutputOptions, Printer},
    project_records,
    scope::Scope,
};
use jiff::{Timestamp, tz::TimeZone};
use memdir_chats::{
    Host,
    keep::{Kept, KeptFile},
};
use memdir_core::{
    base::{
        error::Error,
        text::ellipsis,
        time::{Clock as _, SystemClock, parse_since},
    },
    store::files::real_path,
};
use serde::Serialize;
use std::{
    io,
    path::{Component, Path, PathBuf},
};

/// The note that is printed while conversations are off.
pub(super) const OFF: &str = "conversations are off; turn them on with: memdir chats on";

pub(crate) fn run(
    args: &Chats,
    typed_project: Option<&str>,
    settings: &Settings,
    scope: &Scope,
    options: OutputOptions,
) -> Result<CommandOutput, Failure> {
    // While memory is disabled nothing is read, but conversations can be deleted, and turned on and off.
    if !matches!(&args.what, Some(ChatsWhat::On(_) | ChatsWhat::Off(_) | ChatsWhat::Forget(_))) {
        scope.must_be_on()?;
    }
    if let (Some(project), Some(ChatsWhat::Show(_) | ChatsWhat::Sync(_))) = (typed_project, &args.what) {
        return Err(Failure::Usage {
            message: format!("--project {project} has no effect on this command"),
            hint: "use it with `memdir chats`, or with its subcommands export, forget, on and off".into(),
        });
    }
    match &args.what {
        None => list(args, settings),
        Some(ChatsWhat::Show(args)) => show::run(args, settings),
        Some(ChatsWhat::Sync(args)) => sync::run(args, settings, options),
        Some(ChatsWhat::On(args)) => switch::run(args, settings, true),
        Some(ChatsWhat::Off(args)) => switch::run(args, settings, false),
        Some(ChatsWhat::Forget(args)) => forget::run(args, settings),
        Some(ChatsWhat::Export(args)) => export::run(args, settings),
    }
}

#[derive(Serialize)]
struct ChatList {
    on: bool,
    chats: Vec<ChatRow>,
    left_out: usize,
    /// The shortest unambiguous prefix of each id.
    #[serde(skip)]
    short: Vec<String>,
    #[serde(skip)]
    zone: TimeZone,
}

#[derive(Serialize)]
struct ChatRow {
    #[serde(flatten)]
    file: KeptFile,
    #[serde(skip_serializing_if = "Option::is_none")]
    resume: Option<String>,
}

fn list(args: &Chats, settings: &Settings) -> Result<CommandOutput, Failure> {
    let filter = Filter::parse(&args.filter, settings)?;
    let mut notes = sync::fresh(settings)?;
    let listed = chat_archive(settings).list()?;
    notes.extend(listed.problems.into_iter().map(|problem| problem.what));
    let mut ids: Vec<(String, String)> = listed.chats.iter().flat_map(|KeptFile { kept, .. }| both_ids(kept)).collect();
    ids.sort();
    let mut chats: Vec<KeptFile> = listed.chats.into_iter().filter(|file| filter.matches(&file.kept)).collect();
    let left_out = if args.limit == 0 { 0 } else { chats.len().saturating_sub(args.limit) };
    chats.truncate(chats.len() - left_out);
    let one = |file: KeptFile| ChatRow { resume: file.kept.resume().as_ref().map(ToString::to_string), file };
    let on = settings.config.chats.settings.on;
    let short = chats.iter().map(|file| short_id(&file.kept, &ids)).collect();
    let list = ChatList { on, chats: chats.into_iter().map(one).collect(), left_out, short, zone: SystemClock.zone() };
    Ok(CommandOutput::new(list, show_list).with_notes(notes))
}

fn show_list(list: &ChatList, printer: &mut Printer<'_>) -> io::Result<()> {
    if !list.on {
        printer.note(OFF);
    } else if list.chats.is_empty() {
        printer.note("no matching conversations");
    }
    if !list.chats.is_empty() {
        let mut rows = vec![["when", "host", "id", "turns", "project", "title"].map(str::to_owned).to_vec()];
        rows.extend(list.chats.iter().zip(&list.short).map(|(one, short)| row(&one.file.kept, short, &list.zone)));
        printer.table(&rows)?;
    }
    if list.left_out > 0 {
        printer.note(format!("{} more; use --limit 0 to see all", list.left_out));
    }
    Ok(())
}

/// The ids of a conversation, each with its name.
fn both_ids(kept: &Kept) -> [(String, String); 2] {
    [(kept.session.clone(), kept.name()), (kept.key.clone(), kept.name())]
}

/// The shortest prefix of an id, of at least eight characters, that no other conversation has. `ids` are the ids of all
/// conversations, sorted.
fn short_id(kept: &Kept, ids: &[(String, String)]) -> String {
    let name = kept.name();
    let is_unique = |prefix: &str| {
        let from = ids.partition_point(|(id, _)| id.as_str() < prefix);
        ids[from..].iter().take_while(|(id, _)| id.starts_with(prefix)).all(|(_, owner)| *owner == name)
    };
    let prefixes = |id: &str| {
        let ends: Vec<usize> = id.char_indices().map(|(at, c)| at + c.len_utf8()).skip(7).collect();
        if ends.is_empty() { vec![id.to_owned()] } else { ends.iter().map(|&end| id[..end].to_owned()).collect() }
    };
    let short = [&kept.session, &kept.key].into_iter().flat_map(|id| prefixes(id)).find(|prefix| is_unique(prefix));
    short.unwrap_or_else(|| if kept.key == kept.session { name.clone() } else { kept.key.clone() })
}

fn row(kept: &Kept, id: &str, zone: &TimeZone) -> Vec<String> {
    let when = kept.updated.map_or_else(|| "-".to_owned(), |at| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string());
    let project = kept.project.as_deref().map_or("-", |dir| Path::new(dir).file_name().and_then(|name| name.to_str()).unwrap_or(dir));
    vec![when, kept.host.to_string(), id.to_owned(), kept.turns.to_string(), project.to_owned(), ellipsis(&kept.title, 60).into_owned()]
}

/// A filter of conversations.
struct Filter {
    host: Option<Host>,
    project: Option<PathBuf>,
    since: Option<Timestamp>,
    before: Option<Timestamp>,
}

impl Filter {
    fn parse(typed: &ChatFilter, settings: &Settings) -> Result<Filter, Failure> {
        Ok(Filter {
            host: typed.host.as_deref().map(host).transpose()?,
            project: typed.project.as_deref().map(|dir| directory(dir, settings)).transpose()?,
            since: typed.since.as_deref().map(|date| time("since", date)).transpose()?,
            before: typed.before.as_deref().map(|date| time("before", date)).transpose()?,
        })
    }

    fn matches(&self, kept: &Kept) -> bool {
        let updated = kept.updated.or(kept.started).unwrap_or_default();
        self.host.is_none_or(|host| host == kept.host)
            && self.project.as_deref().is_none_or(|dir| kept.held().is_in(dir))
            && self.since.is_none_or(|since| updated >= since)
            && self.before.is_none_or(|before| updated < before)
    }
}

/// The note for imported conversations while conversations are off: they are not updated.
fn off_note(settings: &Settings) -> Option<String> {
    (!settings.config.chats.settings.on).then(|| "conversations are off and not updated; turn them on with: memdir chats on".to_owned())
}

pub(super) fn host(name: &str) -> Result<Host, Failure> {
    let names = || Host::ALL.map(Host::name).join(", ");
    Host::named(name).ok_or_else(|| Error::bad_input("host", format!("{name:?} is not one of {}", names())).into())
}

/// Resolves `--project`: the path of a directory, or the id of a project.
fn directory(text: &str, settings: &Settings) -> Result<PathBuf, Failure> {
    let path = normalized(&config::path_from("--project", Path::new(text), &settings.cwd)?);
    let is_path = text.contains('/') || text.starts_with(['.', '~', '$']);
    let root =
        project_records::read(&settings.home.value, text).map(|record| record.root).filter(|root| !is_path && !root.as_os_str().is_empty());
    match root {
        Some(root) if path.is_dir() && real_path(&root) != real_path(&path) => Err(Failure::Usage {
            message: format!("--project {text:?} is ambiguous: the project in {}, and a directory", root.display()),
            hint: format!("use ./{text} for the directory, or {} for the project", root.display()),
        }),
        Some(root) => Ok(root),
        None if is_path || path.is_dir() => Ok(path),
        None => Err(Failure::Usage {
            message: format!("--project {text:?} is neither a directory nor the id of a project"),
            hint: "run `memdir projects` to see all ids".into(),
        }),
    }
}

/// Removes `.` and `..` without resolving symbolic links: hosts record the path as the user entered it.
fn normalized(path: &Path) -> PathBuf {
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

/// Parses a date, which is its midnight in the local time zone, or a time.
fn time(parameter: &'static str, text: &str) -> Result<Timestamp, Failure> {
    Ok(parse_since(parameter, text, &SystemClock.zone())?)
}
