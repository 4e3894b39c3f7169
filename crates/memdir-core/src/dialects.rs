//! Dialects: the tools of other systems with their names, parameters, outputs and error texts, on the directory they used, in
//! place. One file with one table each. Knows no protocol and reads no environment.

mod agent_memory;
mod anthropic;
mod koding;
mod openclaw;
mod profclaw;
mod serena;

use crate::{
    base::{error::Result, path::MemoryPath},
    store::{files::Mount, mounts},
    tools::{Tool, ToolContext},
};
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
    /// Returns the journal directory for a directory of memories.
    pub journal: &'a dyn Fn(&Path) -> PathBuf,
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

/// All dialects, in the order they are listed.
pub const DIALECTS: &[Dialect] =
    &[koding::DIALECT, agent_memory::DIALECT, serena::DIALECT, profclaw::DIALECT, openclaw::DIALECT, anthropic::DIALECT];

/// Returns the dialect with this name.
pub fn find(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name == name)
}

impl DialectPlaces<'_> {
    /// Returns a mount for a directory of files: memdir keeps no entrypoint in it.
    fn file_mount(&self, prefix: &str, root: &Path) -> Mount {
        let mount = Mount::new(prefix, root, (self.journal)(root));
        Mount { entrypoint: crate::store::EntrypointMode::Off, ..mount }
    }
}

/// The note after a text that was cut, for a tool that cannot continue: the rest is for the host's own file tool.
fn rest_is_in(caller: &ToolContext, path: &MemoryPath, line: u64, left: u64) -> String {
    let file = mounts::absolute_path(caller.memdir.store(), path).unwrap_or_default();
    format!("[{left} more characters: read {} from line {line} on with a file tool]", file.display())
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
