//! `memdir chats on` and `memdir chats off`: write the choice into the user's settings.

use super::{directory, host};
use crate::{
    args::ChatsSwitchArgs,
    config::{
        Settings,
        edit::{change, member, table},
        path_from,
    },
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_chats::{Reader, path_forms};
use memdir_core::internal::base::shell;
use serde::Serialize;
use std::{
    io,
    path::{Path, PathBuf},
};
use toml_edit::{Item, TableLike, Value};

#[derive(Serialize)]
struct Switched {
    on: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'static Reader>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<PathBuf>,
    file: PathBuf,
    /// Whether chats are on at all.
    chats: bool,
}

pub(crate) fn run(args: &ChatsSwitchArgs, settings: &Settings, on: bool) -> Result<CommandOutput, Failure> {
    let host = args.host.as_deref().map(host).transpose()?;
    let project = args.project.as_deref().map(|dir| directory(dir, settings)).transpose()?;
    if host.is_some() && project.is_some() {
        return Err(Failure::Usage {
            message: "--host and --project cannot be combined".into(),
            hint: "pass only one of them: --host applies to all projects, and --project to all hosts".into(),
        });
    }
    change(&settings.file, |document| {
        let chats = table(document, "chats");
        if let Some(host) = host {
            member(chats, "hosts_off", host.name, !on);
        }
        if let Some(project) = &project {
            if on {
                turn_on(chats, project, settings)?;
            } else {
                // A symbolic link in the path may point elsewhere later, so the resolved path is written as well.
                for form in path_forms(project) {
                    member(chats, "projects_off", &form.display().to_string(), true);
                }
            }
        }
        if host.is_none() && project.is_none() {
            chats.insert("on", toml_edit::value(on));
        }
        Ok(())
    })?;
    if on {
        crate::mounts::chat_archive(settings).create()?;
    }
    let whole = host.is_none() && project.is_none();
    let chats = if whole { on } else { settings.config.chats.settings.on };
    Ok(CommandOutput::new(Switched { on, host, project, file: settings.file.clone(), chats }, show))
}

/// Removes a directory from the list of those that are off, however it is written there. Fails if a directory above it is on the list.
fn turn_on(chats: &mut dyn TableLike, project: &Path, settings: &Settings) -> Result<(), Failure> {
    let forms = path_forms(project);
    let off_forms = |value: &Value| -> Vec<PathBuf> {
        let text = Path::new(value.as_str().unwrap_or_default());
        path_from("chats.projects_off", text, &settings.home.value).map(|off| path_forms(&off)).unwrap_or_default()
    };
    let Some(list) = chats.get_mut("projects_off").and_then(Item::as_array_mut) else { return Ok(()) };
    list.retain(|value| !off_forms(value).iter().any(|off| forms.contains(off)));
    let is_above = |off: &PathBuf| forms.iter().any(|form| form.starts_with(off));
    if let Some(above) = list.iter().flat_map(off_forms).find(is_above) {
        let above = above.display().to_string();
        return Err(Failure::Usage {
            message: format!("chats in {} cannot be turned on: chats are off for all of {above}", project.display()),
            hint: format!("turn chats on for that whole directory with: memdir chats on --project {}", shell::quote_posix(&above)),
        });
    }
    if list.is_empty() {
        chats.remove("projects_off");
    }
    Ok(())
}

fn show(switched: &Switched, printer: &mut Printer<'_>) -> io::Result<()> {
    let what = match (&switched.host, &switched.project) {
        (None, None) => "chats".to_owned(),
        (Some(host), _) => format!("{host} chats"),
        (None, Some(project)) => format!("chats in {}", project.display()),
    };
    printer.line(format!("{what} are {}", if switched.on { "on" } else { "off" }))?;
    match (switched.on, switched.chats) {
        (true, true) => printer.note("every search imports new conversations; import them now with: memdir chats sync"),
        (true, false) => {
            printer.note(format!("{what} are not imported yet, because `chats.on` is false; set it to true with: memdir chats on"));
        }
        (false, _) => printer.note("archived conversations are kept; to remove them, see: memdir chats forget --help"),
    }
    Ok(())
}
