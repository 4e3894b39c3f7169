//! Dialects: the tools of other systems with their names, parameters, outputs and error texts, on the directory they used, in
//! place. One file with one table each. Knows no protocol and reads no environment.

mod agent_memory;
mod anthropic;
mod koding;
mod openclaw;
mod profclaw;
mod serena;

use crate::{
    base::{
        error::{EditProblem, Error, NameProblem, ReadOnlyCause, Result},
        limits,
        path::MemoryPath,
    },
    store::{
        EntrypointMode,
        mount::{Links, Mount},
        mounts,
        rules::may_match,
    },
    tools::{Tool, ToolContext, ToolResult},
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Another system whose tools memdir serves.
pub struct Dialect {
    /// The name on the command line.
    pub name: &'static str,
    /// The system it replaces.
    pub stands_for: &'static str,
    /// Its directories, and the variables and files that select them.
    pub needs: &'static str,
    /// Returns its tools.
    pub tools: fn() -> &'static [Tool],
    /// Finds its directories.
    pub space: fn(&DialectPlaces<'_>) -> Result<DialectSpace>,
}

/// What a dialect may use to find its directories. Passed in, because the library reads no environment.
pub struct DialectPlaces<'a> {
    /// The directory to use instead of the system's own.
    pub dir: Option<&'a Path>,
    /// The user's home directory.
    pub home: &'a Path,
    /// The current directory.
    pub cwd: &'a Path,
    /// The root of the project that contains it.
    pub project: &'a Path,
    /// Returns the value of an environment variable that holds a path, expanded and absolute.
    pub path_var: &'a dyn Fn(&str) -> Result<Option<PathBuf>>,
    /// Returns the text of a settings file, or `None` if it does not exist.
    pub read: &'a dyn Fn(&Path) -> Option<String>,
    /// Returns the mount of a directory of memories, with what the user's settings say about it: its journal, lock, links and
    /// patterns.
    pub mount: &'a dyn Fn(&Path) -> Mount,
    /// Additional read-only directories from the user's settings.
    pub extra: Vec<Mount>,
}

/// The directories of a dialect.
pub struct DialectSpace {
    /// The mounts.
    pub mounts: Vec<Mount>,
    /// The directory as the user named it, for tools that print paths.
    pub root: PathBuf,
}

impl DialectSpace {
    /// Fails unless files can exist under each of these names, which `given` contains: an option or a header. The files of some systems
    /// are in a few places of a directory.
    pub fn check_names(&self, given: &str, names: &[MemoryPath]) -> Result<()> {
        let is_outside = |name: &&MemoryPath| match mounts::locate(&self.mounts, name.as_str()) {
            Some((mount, rel)) => !may_match(&mount.only, rel),
            // A name above mounts selects all of them.
            None => !self.mounts.iter().any(|mount| MemoryPath::parse(&mount.prefix).is_ok_and(|prefix| prefix.is_under(name.as_str()))),
        };
        match names.iter().find(is_outside) {
            Some(name) => Err(Error::bad_input(given, format!("no memories can exist under {:?}", name.as_str()))),
            None => Ok(()),
        }
    }
}

/// All dialects, in the order they are listed.
pub const DIALECTS: &[Dialect] =
    &[koding::DIALECT, agent_memory::DIALECT, serena::DIALECT, profclaw::DIALECT, openclaw::DIALECT, anthropic::DIALECT];

/// Returns the dialect with this name.
pub fn find(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name == name)
}

impl DialectPlaces<'_> {
    /// Returns a mount for a directory of files: memdir keeps no entrypoint in it, and links that stay inside are followed.
    fn file_mount(&self, prefix: &str, root: &Path) -> Mount {
        let mount = (self.mount)(root);
        Mount {
            prefix: prefix.to_owned(),
            entrypoint: EntrypointMode::Off,
            links: Links { inside: true, ..mount.links },
            file_bytes: limits::DIALECT_FILE_BYTES,
            ..mount
        }
    }
}

/// The note after a text that was cut, for a tool that cannot continue: the rest is for the host's own file tool.
fn rest_is_in(caller: &ToolContext, path: &MemoryPath, line: u64, left: u64) -> String {
    let file = mounts::absolute_path(caller.memdir.store(), path).unwrap_or_default();
    format!("[{left} more characters: use a file tool to read {} from line {line} on]", file.display())
}

/// How a dialect words the advice of an error, so that a model can follow it with the dialect's tools.
struct Advice {
    /// What names look like.
    name: &'static str,
    /// How to find the names that exist.
    list: &'static str,
    /// How to make an edit fit.
    edit: &'static str,
    /// What to do with a text that is too large.
    split: &'static str,
}

impl Advice {
    /// Turns an error into a result with the dialect's advice.
    fn apply(&self, result: Result<ToolResult>) -> Result<ToolResult> {
        result.or_else(|error| {
            if matches!(error, Error::Proposed { .. }) {
                return Err(error);
            }
            let (message, hint) = (self.message(&error), self.hint(&error));
            let structured = json!({ "error": { "code": error.code(), "message": message, "hint": hint } });
            Ok(ToolResult { structured: Some(structured), text: format!("{message}. {hint}"), is_error: true })
        })
    }

    fn message(&self, error: &Error) -> String {
        match error {
            // The reason ends with advice about the names of memdir's own tools, unless a setting is the cause.
            Error::BadPath { path, why, problem } if *problem != NameProblem::Link => {
                format!("invalid memory name {path:?}: {}", why.split("; ").next().unwrap_or(why))
            }
            // Names of this dialect have their extension.
            Error::ReadOnly { path, why, .. } if self.name.contains(".md") => format!("cannot write {path:?}: {why}"),
            other => other.to_string(),
        }
    }

    fn hint(&self, error: &Error) -> String {
        match error {
            Error::NotFound { .. } => self.list.into(),
            Error::BadPath { problem, .. } if *problem != NameProblem::Link => self.name.into(),
            Error::BadEdit { problem: EditProblem::Expression, .. } => error.hint(),
            Error::BadEdit { .. } => self.edit.into(),
            // A file that another program made.
            Error::TooLarge { limit, .. } if *limit == limits::READ_FILE_BYTES => {
                "Read part of the file with a file tool, or ask the user to split it.".into()
            }
            Error::TooLarge { .. } => self.split.into(),
            Error::ReadOnly { cause: ReadOnlyCause::Caller | ReadOnlyCause::NoTeam { .. }, .. } => error.hint(),
            Error::ReadOnly { .. } => "Use another name, or ask the user to make this one writable.".into(),
            other => other.hint(),
        }
    }
}

/// Resolves `.`, `..` and repeated slashes of a path below a root, as the file functions of other systems do. Returns `None` if any
/// prefix of the path leaves the root. The result is empty for the root itself, and is validated like any other name.
fn normalize(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Cuts a text to a dialect's limit. If something was cut, appends the result of `more`, which gets the line to continue at and the
/// number of characters left.
fn cut_with_note(text: &str, max_chars: usize, more: impl FnOnce(u64, u64) -> String) -> String {
    let part = crate::base::text::truncate_chars(text, 1, max_chars);
    if part.left_chars == 0 {
        return text.to_owned();
    }
    let next = part.split.or(part.next_line).unwrap_or(1);
    format!("{}\n\n{}", part.text.trim_end_matches('\n'), more(next, part.left_chars))
}
