//! How a run ends: every failure, its words, and its exit code, in one place.

use memdir_core::base::{
    error::{Acts, Error},
    path::InvalidName,
};
use std::{io, path::PathBuf, process::ExitCode};

/// The end of `memdir --help`.
pub(crate) const HELP: &str = "\
Exit codes:
  0  done
  1  not so: no such memory, version or change; it exists, it has changed; a check failed
  2  bad usage or input: a name that can never be one, a file that is not there
  3  a person has to act: permissions, a full disk, a read-only mount, settings, damage
  4  busy: the same command may succeed later

Example:
  memdir write notes/deploy 'Deploy on Tuesdays, never on Fridays.'
  memdir read notes/deploy
  memdir demo";

/// An exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// The memories are not what the command needs.
    NotSo = 1,
    /// The command is wrong.
    Usage = 2,
    /// A person has to act.
    Person = 3,
    /// Busy.
    Busy = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line could not be read, or asked for help.
    Typed { error: clap::Error },
    /// A hook was called with words that cannot be read. A host would take any other end than success for a refusal of
    /// what it is about to do.
    Hook { error: clap::Error, explain: bool },
    /// The library refused.
    Core { error: Error },
    /// What was typed does not fit together.
    Usage { message: String, hint: String },
    /// Memory is off.
    Off { switch: String },
    /// The settings cannot be used.
    Settings { message: String, hint: String },
    /// A file that was named on the command line could not be read or written.
    File { doing: &'static str, path: PathBuf, source: io::Error },
    /// The answer could not be printed.
    Output { source: io::Error },
}

/// The words of a failure.
pub(crate) struct Words {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Failure {
    /// The exit code. Every kind of failure is decided here and nowhere else.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Failure::Typed { error, .. } if error.use_stderr() => Exit::Usage,
            Failure::Typed { .. } | Failure::Hook { .. } => Exit::Done,
            Failure::Usage { .. } => Exit::Usage,
            Failure::Core { error, .. } => exit_of(error),
            // Whoever closed the pipe has seen enough; what was asked is done.
            Failure::Output { source } if source.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Failure::File { source, .. } if source.kind() == io::ErrorKind::NotFound => Exit::Usage,
            Failure::Off { .. } | Failure::Settings { .. } | Failure::File { .. } | Failure::Output { .. } => Exit::Person,
        }
    }

    /// What is told.
    pub(crate) fn words(&self) -> Words {
        let (code, message, hint) = match self {
            Failure::Typed { error, .. } | Failure::Hook { error, .. } => ("usage", typed(error), "See memdir --help.".to_owned()),
            Failure::Core { error, .. } => (error.code(), error.to_string(), error.command_hint()),
            Failure::Usage { message, hint, .. } => ("usage", message.clone(), hint.clone()),
            Failure::Off { switch } => {
                ("off", format!("memory is off: {switch}"), "Change that switch; memdir where explains what is in force.".into())
            }
            Failure::Settings { message, hint, .. } => ("settings", message.clone(), hint.clone()),
            Failure::File { doing, path, source, .. } => {
                ("io", format!("cannot {doing} {}: {source}", path.display()), "Check the path and its permissions.".to_owned())
            }
            Failure::Output { source } => ("io", format!("cannot print the answer: {source}"), String::new()),
        };
        Words { code, message, hint }
    }
}

fn exit_of(error: &Error) -> Exit {
    let looked = matches!(
        error,
        Error::NotFound { .. }
            | Error::NoChat { .. }
            | Error::Changed { .. }
            | Error::Conflict { .. }
            | Error::NoChange { .. }
            | Error::Exists { .. }
            | Error::BadEdit { .. }
    );
    match error.acts() {
        Acts::Caller if looked => Exit::NotSo,
        Acts::Caller => Exit::Usage,
        Acts::Person => Exit::Person,
        Acts::Time => Exit::Busy,
    }
}

/// The first paragraph of what clap says: the rest is usage for people.
fn typed(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.trim_start_matches("error: ").trim().to_owned()
}

impl From<InvalidName> for Failure {
    fn from(error: InvalidName) -> Failure {
        Failure::Core { error: error.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Core { error }
    }
}
