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
    output::{Answer, Look, Page},
    scope::Scope,
    wire::keep,
};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use memdir_core::{
    Error,
    chats::{
        Host, Resume,
        keep::{Kept, KeptFile},
    },
    text::ellipsis,
    time::{Clock as _, SystemClock},
    vault::real_path,
};
use serde::Serialize;
use std::{
    io,
    path::{Path, PathBuf},
};

/// What is said while chats are off.
pub(super) const HOW_TO_TURN_ON: &str = "chats are off; `memdir chats on` takes in your past conversations with agents";

pub(crate) fn run(args: &Chats, settings: &Settings, scope: &Scope, look: Look) -> Result<Answer, Failure> {
    // Where memory is off nothing is read; what was kept can still be forgotten, and the switch of chats be set.
    if !matches!(&args.what, Some(ChatsWhat::On(_) | ChatsWhat::Off(_) | ChatsWhat::Forget(_))) {
        scope.must_be_on()?;
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
    let mut chats: Vec<KeptFile> = listed.chats.into_iter().filter(|file| filter.fits(&file.kept)).collect();
    let left_out = if args.most == 0 { 0 } else { chats.len().saturating_sub(args.most) };
    chats.truncate(chats.len() - left_out);
    let one = |file: KeptFile| One { resume: file.kept.resume().as_ref().map(Resume::to_string), file };
    let on = settings.config.chats.settings.on;
    let list = List { on, chats: chats.into_iter().map(one).collect(), left_out, zone: SystemClock.zone() };
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
        rows.extend(list.chats.iter().map(|one| row(&one.file.kept, &list.zone)));
        page.table(&rows)?;
    }
    if list.left_out > 0 {
        page.note(format!("{} more; --most 0 shows all", list.left_out));
    }
    Ok(())
}

fn row(kept: &Kept, zone: &TimeZone) -> Vec<String> {
    let when = kept.updated.map_or_else(|| "-".to_owned(), |at| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string());
    let project = kept.project.as_deref().map_or("-", |dir| Path::new(dir).file_name().and_then(|name| name.to_str()).unwrap_or(dir));
    let id: String = kept.session.chars().take(8).collect();
    vec![when, kept.host.to_string(), id, kept.turns.to_string(), project.to_owned(), ellipsis(&kept.title, 60).into_owned()]
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
            project: typed.project_dir.as_deref().map(|dir| directory(dir, settings)).transpose()?,
            since: typed.since.as_deref().map(|date| time("since", date)).transpose()?,
            before: typed.before.as_deref().map(|date| time("before", date)).transpose()?,
        })
    }

    fn fits(&self, kept: &Kept) -> bool {
        let updated = kept.updated.or(kept.started).unwrap_or_default();
        self.host.is_none_or(|host| host == kept.host)
            && self.project.as_deref().is_none_or(|dir| kept.project.as_deref().is_some_and(|project| Path::new(project).starts_with(dir)))
            && self.since.is_none_or(|since| updated >= since)
            && self.before.is_none_or(|before| updated < before)
    }
}

pub(super) fn host(name: &str) -> Result<Host, Failure> {
    let names = || Host::ALL.map(Host::name).join(", ");
    Host::named(name).ok_or_else(|| Error::bad_input("host", format!("{name:?} is none of {}", names())).into())
}

/// A directory a person named, as hosts write it.
fn directory(dir: &str, settings: &Settings) -> Result<PathBuf, Failure> {
    Ok(real_path(&config::path_from("--project-dir", Path::new(dir), &settings.cwd)?))
}

/// A date, as midnight here, or a whole time.
fn time(what: &'static str, text: &str) -> Result<Timestamp, Failure> {
    let midnight = |date: Date| date.to_zoned(SystemClock.zone()).ok().map(|day| day.timestamp());
    let time = text.parse().ok().or_else(|| text.parse::<Date>().ok().and_then(midnight));
    time.ok_or_else(|| Error::bad_input(what, format!("{text:?} is no date; write 2026-01-15 or 2026-01-15T10:00:00Z")).into())
}
