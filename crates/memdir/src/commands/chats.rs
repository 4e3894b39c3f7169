//! `memdir chats`: past conversations with agents, listed; and what can be done with them.

mod export;
mod forget;
mod show;
mod switch;
mod sync;

use crate::{
    args::{ChatFilter, Chats, ChatsWhat},
    config::{self, Settings},
    exit::Failure,
    known,
    output::{Answer, Look, Page},
    scope::Scope,
    wire::keep,
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

/// What is said while chats are off.
pub(super) const HOW_TO_TURN_ON: &str = "chats are off; `memdir chats on` takes in your past conversations with agents";

pub(crate) fn run(args: &Chats, typed_project: Option<&str>, settings: &Settings, scope: &Scope, look: Look) -> Result<Answer, Failure> {
    // Where memory is off nothing is read; what was kept can still be forgotten, and the switch of chats be set.
    if !matches!(&args.what, Some(ChatsWhat::On(_) | ChatsWhat::Off(_) | ChatsWhat::Forget(_))) {
        scope.must_be_on()?;
    }
    if let (Some(project), Some(ChatsWhat::Show(_) | ChatsWhat::Sync(_))) = (typed_project, &args.what) {
        return Err(Failure::Usage {
            message: format!("--project {project} means nothing here"),
            hint: "memdir chats, chats export, chats forget, chats on and chats off take it.".into(),
        });
    }
    match &args.what {
        None => list(args, settings),
        Some(ChatsWhat::Show(args)) => show::run(args, settings),
        Some(ChatsWhat::Sync(args)) => sync::run(args, settings, look),
        Some(ChatsWhat::On(args)) => switch::run(args, settings, true),
        Some(ChatsWhat::Off(args)) => switch::run(args, settings, false),
        Some(ChatsWhat::Forget(args)) => forget::run(args, settings),
        Some(ChatsWhat::Export(args)) => export::run(args, settings),
    }
}

#[derive(Serialize)]
struct List {
    on: bool,
    chats: Vec<One>,
    left_out: usize,
    /// What is enough of each one's id to name it.
    #[serde(skip)]
    short: Vec<String>,
    #[serde(skip)]
    zone: TimeZone,
}

#[derive(Serialize)]
struct One {
    #[serde(flatten)]
    file: KeptFile,
    #[serde(skip_serializing_if = "Option::is_none")]
    resume: Option<String>,
}

fn list(args: &Chats, settings: &Settings) -> Result<Answer, Failure> {
    let filter = Filter::of(&args.filter, settings)?;
    let mut notes = sync::fresh(settings)?;
    let listed = keep(settings).list()?;
    notes.extend(listed.problems.into_iter().map(|problem| problem.what));
    let mut ids: Vec<(String, String)> = listed.chats.iter().flat_map(|KeptFile { kept, .. }| both_ids(kept)).collect();
    ids.sort();
    let mut chats: Vec<KeptFile> = listed.chats.into_iter().filter(|file| filter.fits(&file.kept)).collect();
    let left_out = if args.most == 0 { 0 } else { chats.len().saturating_sub(args.most) };
    chats.truncate(chats.len() - left_out);
    let one = |file: KeptFile| One { resume: file.kept.resume().as_ref().map(ToString::to_string), file };
    let on = settings.config.chats.settings.on;
    let short = chats.iter().map(|file| short_id(&file.kept, &ids)).collect();
    let list = List { on, chats: chats.into_iter().map(one).collect(), left_out, short, zone: SystemClock.zone() };
    Ok(Answer::new(list, show_list).with_notes(notes))
}

fn show_list(list: &List, page: &mut Page<'_>) -> io::Result<()> {
    if !list.on {
        page.note(HOW_TO_TURN_ON);
    } else if list.chats.is_empty() {
        page.note("no conversation fits");
    }
    if !list.chats.is_empty() {
        let mut rows = vec![["when", "host", "id", "turns", "project", "title"].map(str::to_owned).to_vec()];
        rows.extend(list.chats.iter().zip(&list.short).map(|(one, short)| row(&one.file.kept, short, &list.zone)));
        page.table(&rows)?;
    }
    if list.left_out > 0 {
        page.note(format!("{} more; --most 0 shows all", list.left_out));
    }
    Ok(())
}

/// The names a conversation is found by, each with which it is.
fn both_ids(kept: &Kept) -> [(String, String); 2] {
    [(kept.session.clone(), kept.name()), (kept.key.clone(), kept.name())]
}

/// The shortest beginning of an id that only this conversation has, of at least eight characters. `ids` are all there are.
fn short_id(kept: &Kept, ids: &[(String, String)]) -> String {
    let name = kept.name();
    let is_only = |begin: &str| {
        let from = ids.partition_point(|(id, _)| id.as_str() < begin);
        ids[from..].iter().take_while(|(id, _)| id.starts_with(begin)).all(|(_, of)| *of == name)
    };
    let beginnings = |id: &str| {
        let ends: Vec<usize> = id.char_indices().map(|(at, c)| at + c.len_utf8()).skip(7).collect();
        if ends.is_empty() { vec![id.to_owned()] } else { ends.iter().map(|&end| id[..end].to_owned()).collect() }
    };
    let short = [&kept.session, &kept.key].into_iter().flat_map(|id| beginnings(id)).find(|begin| is_only(begin));
    short.unwrap_or_else(|| if kept.key == kept.session { name.clone() } else { kept.key.clone() })
}

fn row(kept: &Kept, id: &str, zone: &TimeZone) -> Vec<String> {
    let when = kept.updated.map_or_else(|| "-".to_owned(), |at| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string());
    let project = kept.project.as_deref().map_or("-", |dir| Path::new(dir).file_name().and_then(|name| name.to_str()).unwrap_or(dir));
    vec![when, kept.host.to_string(), id.to_owned(), kept.turns.to_string(), project.to_owned(), ellipsis(&kept.title, 60).into_owned()]
}

/// Which conversations are wanted.
struct Filter {
    host: Option<Host>,
    project: Option<PathBuf>,
    since: Option<Timestamp>,
    before: Option<Timestamp>,
}

impl Filter {
    fn of(typed: &ChatFilter, settings: &Settings) -> Result<Filter, Failure> {
        Ok(Filter {
            host: typed.host.as_deref().map(host).transpose()?,
            project: typed.project.as_deref().map(|dir| directory(dir, settings)).transpose()?,
            since: typed.since.as_deref().map(|date| time("since", date)).transpose()?,
            before: typed.before.as_deref().map(|date| time("before", date)).transpose()?,
        })
    }

    fn fits(&self, kept: &Kept) -> bool {
        let updated = kept.updated.or(kept.started).unwrap_or_default();
        self.host.is_none_or(|host| host == kept.host)
            && self.project.as_deref().is_none_or(|dir| kept.held().is_in(dir))
            && self.since.is_none_or(|since| updated >= since)
            && self.before.is_none_or(|before| updated < before)
    }
}

/// What is said of what was kept while chats are off: it is there, and it is not up to date.
fn off_note(settings: &Settings) -> Option<String> {
    (!settings.config.chats.settings.on).then(|| "chats are off, so nothing new is taken in; `memdir chats on` turns them on".to_owned())
}

/// So many of something.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

pub(super) fn host(name: &str) -> Result<Host, Failure> {
    let names = || Host::ALL.map(Host::name).join(", ");
    Host::named(name).ok_or_else(|| Error::bad_input("host", format!("{name:?} is none of {}", names())).into())
}

/// A directory a person named, by its path or by the id of its project.
fn directory(text: &str, settings: &Settings) -> Result<PathBuf, Failure> {
    let path = normal(&config::path_from("--project", Path::new(text), &settings.cwd)?);
    let is_path = text.contains('/') || text.starts_with(['.', '~', '$']);
    let root = known::read(&settings.home.value, text).map(|known| known.root).filter(|root| !is_path && !root.as_os_str().is_empty());
    match root {
        Some(root) if path.is_dir() && real_path(&root) != real_path(&path) => Err(Failure::Usage {
            message: format!("--project: {text:?} is the project in {} and a directory here", root.display()),
            hint: format!("Write ./{text} for the directory, or {} for the project.", root.display()),
        }),
        Some(root) => Ok(root),
        None if is_path || path.is_dir() => Ok(path),
        None => Err(Failure::Usage {
            message: format!("--project: {text:?} is neither a directory here nor the id of a project"),
            hint: "Write the directory's path, or an id that memdir projects lists.".into(),
        }),
    }
}

/// A path without `.` and `..`, links left as they are: hosts write the path a person went by.
fn normal(path: &Path) -> PathBuf {
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
