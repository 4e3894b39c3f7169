//! `memdir chats on` and `off`: what a person decides, written into their settings.

use super::{directory, host};
use crate::{
    args::ChatsSwitch,
    config::{
        Settings,
        edit::{change, member, table},
    },
    exit::Failure,
    output::{Answer, Page},
    wire,
};
use memdir_chats::{Host, place::forms};
use serde::Serialize;
use std::{io, path::PathBuf};

#[derive(Serialize)]
struct Switched {
    on: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<Host>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<PathBuf>,
    file: PathBuf,
    /// Whether chats as a whole are on.
    chats: bool,
}

pub(crate) fn run(args: &ChatsSwitch, settings: &Settings, on: bool) -> Result<Answer, Failure> {
    let host = args.host.as_deref().map(host).transpose()?;
    let project = args.project.as_deref().map(|dir| directory(dir, settings)).transpose()?;
    if host.is_some() && project.is_some() {
        return Err(Failure::Usage {
            message: "--host and --project are two switches".into(),
            hint: "Set one after the other: each turns off, or on, all conversations it names.".into(),
        });
    }
    change(&settings.file, |document| {
        let chats = table(document, "chats");
        if let Some(host) = host {
            member(chats, "hosts_off", host.name(), !on);
        }
        if let Some(project) = &project {
            // With links in it, the directory has two paths, and a link may lead elsewhere tomorrow.
            for form in forms(project) {
                member(chats, "projects_off", &form.display().to_string(), !on);
            }
        }
        if host.is_none() && project.is_none() {
            chats.insert("on", toml_edit::value(on));
        }
    })?;
    if on {
        wire::keep(settings).make()?;
    }
    let whole = host.is_none() && project.is_none();
    let chats = if whole { on } else { settings.config.chats.settings.on };
    Ok(Answer::new(Switched { on, host, project, file: settings.file.clone(), chats }, show))
}

fn show(switched: &Switched, page: &mut Page<'_>) -> io::Result<()> {
    let what = match (&switched.host, &switched.project) {
        (None, None) => "Chats".to_owned(),
        (Some(host), _) => format!("Chats of {host}"),
        (None, Some(project)) => format!("Chats in {}", project.display()),
    };
    page.line(format!("{what} are {}.", if switched.on { "on" } else { "off" }))?;
    match (switched.on, switched.chats) {
        (true, true) => page.note("`memdir chats sync` takes them in now; a search does so by itself"),
        (true, false) => page.note(super::HOW_TO_TURN_ON),
        (false, _) => page.note("what was kept stays; `memdir chats forget` removes it"),
    }
    Ok(())
}
