//! `memdir chats on` and `off`: turn conversations on and off in the settings.

use super::{directory, host};
use crate::{
    args::ChatsSwitch,
    config::{
        Settings,
        edit::{change, member, table},
    },
    exit::Failure,
    mounts,
    output::{CommandOutput, Printer},
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
    /// Whether conversations are on as a whole.
    chats: bool,
}

pub(crate) fn run(args: &ChatsSwitch, settings: &Settings, on: bool) -> Result<CommandOutput, Failure> {
    let host = args.host.as_deref().map(host).transpose()?;
    let project = args.project.as_deref().map(|dir| directory(dir, settings)).transpose()?;
    if host.is_some() && project.is_some() {
        return Err(Failure::Usage { message: "--host cannot be used with --project".into(), hint: "run the command twice".into() });
    }
    change(&settings.file, |document| {
        let chats = table(document, "chats");
        if let Some(host) = host {
            member(chats, "hosts_off", host.name(), !on);
        }
        if let Some(project) = &project {
            // A path with symbolic links has two forms, and a link may change later.
            for form in forms(project) {
                member(chats, "projects_off", &form.display().to_string(), !on);
            }
        }
        if host.is_none() && project.is_none() {
            chats.insert("on", toml_edit::value(on));
        }
    })?;
    if on {
        mounts::chat_archive(settings).make()?;
    }
    let whole = host.is_none() && project.is_none();
    let chats = if whole { on } else { settings.config.chats.settings.on };
    Ok(CommandOutput::new(Switched { on, host, project, file: settings.file.clone(), chats }, show))
}

fn show(switched: &Switched, printer: &mut Printer<'_>) -> io::Result<()> {
    let what = match (&switched.host, &switched.project) {
        (None, None) => String::new(),
        (Some(host), _) => format!(" of {host}"),
        (None, Some(project)) => format!(" in {}", project.display()),
    };
    printer.line(format!("turned {} conversations{what}", if switched.on { "on" } else { "off" }))?;
    match (switched.on, switched.chats) {
        (true, true) => printer.note("import them now with: memdir chats sync; searches import them too"),
        (true, false) => printer.note(super::OFF),
        (false, _) => printer.note("imported conversations are kept; delete them with: memdir chats forget"),
    }
    Ok(())
}
