//! How a run ends: every failure, its message and hint, and its exit status, in one place.

use crate::off_switch::OffSwitch;
use memdir_core::{
    Error, InvalidName, Remedy,
    internal::base::{io_action, text},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// The exit statuses, for `memdir --help` and docs/reference/cli.md.
pub(crate) const STATUSES: &str = "  0  success
  1  not found, conflict, or a check failed
  2  invalid usage or input
  3  action required: permissions, disk space, a read-only mount, configuration, or damaged data
  4  busy: the same command may succeed later";

/// An exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Success = 0,
    /// Not found, conflict, or a check failed.
    Negative = 1,
    /// Invalid usage or input.
    Usage = 2,
    /// A person has to act: permissions, disk space, configuration.
    ActionRequired = 3,
    /// Another process holds the lock; a retry may succeed.
    Busy = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line could not be parsed, or asked for help or the version.
    CommandLine { error: clap::Error },
    /// The command line of a hook could not be parsed. It still exits with 0, since a host takes any other status as a refusal
    /// of the action it is about to run.
    Hook { error: clap::Error, explain: bool },
    /// The library returned an error.
    Core {
        error: Error,
        /// Replaces the hint of the error if that does not fit the command.
        hint: Option<&'static str>,
    },
    /// The arguments are valid one by one but not together.
    Usage { message: String, hint: String },
    /// The answer is negative: not found, or the user cancelled the command.
    Negative { code: &'static str, message: String, hint: String },
    /// A text that the user wrote in an editor could not be saved; it is kept in a file.
    Unsaved { cause: Box<Failure>, kept: PathBuf, resume: String },
    /// A host's memories were imported, and what was to follow failed. The notes say what was imported, and how to undo it.
    AfterImport { cause: Box<Failure>, imported: Vec<String> },
    /// A command failed whose options select another memory than the default one; each is followed by a blank.
    InMemory { cause: Box<Failure>, options: String },
    /// Memory is disabled.
    Off { switch: OffSwitch },
    /// The configuration is invalid.
    Settings { message: String, hint: String },
    /// A file outside of the memories could not be read or written.
    File { doing: &'static str, path: PathBuf, source: io::Error },
    /// The output could not be printed.
    Output { source: io::Error },
}

/// What is printed for a failure.
pub(crate) struct FailureText {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Failure {
    /// The failure of what was to follow an import; the same one if nothing was imported.
    pub(crate) fn after_import(cause: Failure, imported: Vec<String>) -> Failure {
        if imported.is_empty() { cause } else { Failure::AfterImport { cause: Box::new(cause), imported } }
    }

    /// The failure of a command with these options; the same one if it has none.
    pub(crate) fn in_memory(self, options: String) -> Failure {
        if options.is_empty() { self } else { Failure::InMemory { cause: Box::new(self), options } }
    }

    /// The exit status. Every kind of failure is mapped here and nowhere else.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Failure::CommandLine { error, .. } if error.use_stderr() => Exit::Usage,
            Failure::CommandLine { .. } | Failure::Hook { .. } => Exit::Success,
            Failure::Usage { .. } => Exit::Usage,
            Failure::Negative { .. } => Exit::Negative,
            Failure::Unsaved { cause, .. } | Failure::AfterImport { cause, .. } | Failure::InMemory { cause, .. } => cause.exit(),
            Failure::Core { error, .. } => exit_for(error),
            // The reader closed the pipe early, as `head` does; the command itself has succeeded.
            Failure::Output { source } if source.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
            Failure::File { source, .. } if source.kind() == io::ErrorKind::NotFound => Exit::Usage,
            Failure::File { source, .. } if source.kind() == io::ErrorKind::WouldBlock => Exit::Busy,
            Failure::Off { .. } | Failure::Settings { .. } | Failure::File { .. } | Failure::Output { .. } => Exit::ActionRequired,
        }
    }

    /// The error code, message and hint.
    pub(crate) fn text(&self) -> FailureText {
        let (code, message, hint) = match self {
            Failure::CommandLine { error, .. } | Failure::Hook { error, .. } => {
                ("usage", first_paragraph(error), "see the usage with: memdir help COMMAND".to_owned())
            }
            Failure::Core { error, hint } => {
                (error.code(), error.command_message(), hint.map_or_else(|| error.command_hint(), str::to_owned))
            }
            Failure::Usage { message, hint, .. } => ("usage", message.clone(), hint.clone()),
            Failure::Negative { code, message, hint } => (*code, message.clone(), hint.clone()),
            Failure::Unsaved { cause, kept, resume } => {
                let FailureText { code, message, .. } = cause.text();
                (code, message, format!("your text is in {}; continue with: {resume}", kept.display()))
            }
            Failure::AfterImport { cause, imported } => {
                let FailureText { code, message, hint } = cause.text();
                let parts = std::iter::once(hint.as_str()).chain(imported.iter().map(String::as_str)).filter(|part| !part.is_empty());
                (code, message, parts.collect::<Vec<_>>().join("; "))
            }
            Failure::InMemory { cause, options } => {
                let FailureText { code, message, hint } = cause.text();
                // Without the options, the doctor would check another memory. `with:` introduces a command, and no name that the text quotes.
                let selected = |text: String| text.replace("with: memdir doctor", &format!("with: memdir {options}doctor"));
                (code, selected(message), selected(hint))
            }
            Failure::Off { switch } => ("off", format!("memory is off: {switch}"), switch.hint()),
            Failure::Settings { message, hint, .. } => ("settings", message.clone(), hint.clone()),
            Failure::File { doing, path, source } if source.kind() == io::ErrorKind::WouldBlock => {
                let is_lock = *doing == "lock";
                let hint = if is_lock { "try again; if the file stays locked, look for a suspended memdir process" } else { "try again" };
                ("busy", format!("cannot {doing} {}: {source}", path.display()), hint.to_owned())
            }
            Failure::File { doing: "start", path, source } if source.kind() == io::ErrorKind::NotFound => {
                let program = path.display();
                ("io", format!("cannot start {program}: {source}"), format!("install {program}, or add its directory to PATH"))
            }
            Failure::File { doing, path, source, .. } => {
                let near = if source.kind() == io::ErrorKind::NotFound { near_sibling(path) } else { None };
                let hint =
                    near.map_or_else(|| io_hint(source).to_owned(), |near| format!("did you mean {:?}?", near.display().to_string()));
                ("io", format!("cannot {doing} {}: {source}", path.display()), hint)
            }
            Failure::Output { source } => ("io", format!("cannot write to standard output: {source}"), String::new()),
        };
        FailureText { code, message, hint }
    }
}

/// The next action after an I/O error of a file outside of the memories, by its cause.
pub(crate) fn io_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::InvalidData => "check that the file is valid UTF-8",
        _ => io_action(error).unwrap_or("check the path and its permissions"),
    }
}

/// The file or directory beside a path whose name is most similar to it.
pub(crate) fn near_sibling(path: &Path) -> Option<PathBuf> {
    let dir = path.parent()?;
    let listed = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let names = fs::read_dir(listed).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    text::near(path.file_name()?.to_str()?, names.iter().map(String::as_str), 1).pop().map(|name| dir.join(name))
}

fn exit_for(error: &Error) -> Exit {
    let is_negative = matches!(error.code(), "not_found" | "changed" | "no_change" | "exists" | "bad_edit");
    match error.remedy() {
        Remedy::ChangeCall if is_negative => Exit::Negative,
        Remedy::ChangeCall => Exit::Usage,
        Remedy::FixSetup => Exit::ActionRequired,
        Remedy::Retry => Exit::Busy,
    }
}

/// The first paragraph of clap's message; the rest is usage.
fn first_paragraph(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.trim_start_matches("error: ").trim().to_owned()
}

impl From<InvalidName> for Failure {
    fn from(error: InvalidName) -> Failure {
        Failure::Core { error: error.into(), hint: None }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Core { error, hint: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memdir_core::MemoryPath;

    #[test]
    fn errors_with_one_code_have_one_exit_status() {
        let missing = [
            Error::NotFound { path: "a".into(), near: Vec::new() },
            Error::NoCandidate { name: "a".into(), near: Vec::new() },
            Error::NoChat { id: "a".into() },
            Error::NoProposal { id: "a".into() },
        ];
        assert_eq!(missing.map(|error| (error.code(), exit_for(&error))), [("not_found", Exit::Negative); 4]);
        let path = MemoryPath::parse("a").unwrap();
        let changed = [Error::Conflict { path: path.clone(), diff: String::new() }, Error::OutdatedProposal { path }];
        assert_eq!(changed.map(|error| (error.code(), exit_for(&error))), [("changed", Exit::Negative); 2]);
    }
}
