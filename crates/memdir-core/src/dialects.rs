//! The tools of other systems, exactly: their names, parameters, outputs and error texts over our verbs, on the
//! directory they used, in place. One table each. Knows no protocol, reads no environment.

mod agent_memory;
mod anthropic;
mod koding;
mod openclaw;
mod profclaw;
mod serena;

use crate::{base::error::Result, store::files::Mount, tools::Tool};
use std::path::{Path, PathBuf};

/// A system that is stood in for.
pub struct Dialect {
    /// What it is chosen by.
    pub name: &'static str,
    /// The system.
    pub stands_for: &'static str,
    /// Where its memories are, and what it reads to find them.
    pub needs: &'static str,
    /// Its tools.
    pub tools: fn() -> &'static [Tool],
    /// Its directories.
    pub space: fn(&Places<'_>) -> Result<Space>,
}

/// What is known about the machine and the person, for finding a directory.
pub struct Places<'a> {
    /// The one directory that was asked for instead of the system's own.
    pub dir: Option<&'a Path>,
    /// The person's home directory.
    pub home: &'a Path,
    /// The current directory.
    pub cwd: &'a Path,
    /// The top of the project around it.
    pub project: &'a Path,
    /// The value of an environment variable that holds a path, expanded and absolute.
    pub path_var: &'a dyn Fn(&str) -> Result<Option<PathBuf>>,
    /// The text of a settings file, if it is there.
    pub read: &'a dyn Fn(&Path) -> Option<String>,
    /// The directory of the journal of a directory of memories.
    pub journal: &'a dyn Fn(&Path) -> PathBuf,
    /// Further directories a person has configured, to be read.
    pub extra: Vec<Mount>,
}

/// The directories of a dialect.
pub struct Space {
    /// What is mounted.
    pub mounts: Vec<Mount>,
    /// The directory as a person named it, for tools that print paths.
    pub root: PathBuf,
}

/// All of them, in the order they are listed.
pub const DIALECTS: &[Dialect] =
    &[koding::DIALECT, agent_memory::DIALECT, serena::DIALECT, profclaw::DIALECT, openclaw::DIALECT, anthropic::DIALECT];

/// The dialect of that name.
pub fn find(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name == name)
}

impl Places<'_> {
    /// A mount that never gets an entrypoint and shows hidden directories: a directory of files, no more.
    fn plain(&self, prefix: &str, root: &Path) -> Mount {
        let mount = Mount::new(prefix, root, (self.journal)(root));
        Mount { entrypoint: crate::store::Entrypoint::Off, ..mount }
    }
}

/// A text cut to a dialect's limit, and `more` said with the line to go on at if something is left.
fn whole(text: &str, max_chars: usize, more: impl FnOnce(u64, u64) -> String) -> String {
    let part = crate::base::text::truncate_chars(text, 1, max_chars);
    if part.left_chars == 0 {
        return text.to_owned();
    }
    let next = part.next_line.or(part.split).unwrap_or(1);
    format!("{}\n\n{}", part.text.trim_end_matches('\n'), more(next, part.left_chars))
}
