//! `.memdir/config.toml`: what a repository says of its own memory. It comes from strangers, so it may name and limit, and
//! nothing in it fails, runs or expands. What cannot be understood is left out key by key, so that a limit beside it holds.

use memdir_core::{base::path::MemoryPath, store::files::check_pattern};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use toml::de::{DeTable, DeValue};

/// What a repository may say.
#[derive(Debug, Default)]
pub(crate) struct RepositorySettings {
    /// Whether this project has a memory.
    pub(crate) enabled: Option<bool>,
    /// Team memories that may not be changed.
    pub(crate) read_only: Vec<String>,
    /// Team memories that do not exist for anybody.
    pub(crate) ignored: Vec<String>,
    /// Directories of the repository that can be read, by name.
    pub(crate) mounts: Vec<(String, PathBuf)>,
}

/// The largest file that is read.
const MOST: u64 = 64 << 10;
/// How many lines may be no TOML before the file is none.
const MOST_BAD_LINES: usize = 32;

impl RepositorySettings {
    /// Reads the file if there is one; what is wrong with it is noted and left out.
    pub(crate) fn load(path: &Path, notes: &mut Vec<String>) -> RepositorySettings {
        let text = match read(path) {
            Ok(text) => text,
            Err(why) => {
                notes.push(format!("{} is left out: {why}", path.display()));
                return RepositorySettings::default();
            }
        };
        let (settings, problems) = parse(&text);
        notes.extend(problems.into_iter().map(|problem| format!("{}: {problem}", path.display())));
        settings
    }
}

fn read(path: &Path) -> Result<String, String> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error.to_string()),
        Ok(meta) if !meta.is_file() || meta.len() > MOST => return Err("it is no small file".into()),
        Ok(_) => {}
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

fn parse(text: &str) -> (RepositorySettings, Vec<String>) {
    let mut problems = Vec::new();
    let text = without_bad_lines(text, &mut problems);
    let mut out = RepositorySettings::default();
    let Ok(table) = DeTable::parse(&text) else { return (out, problems) };
    for (key, value) in table.get_ref() {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("enabled", DeValue::Boolean(enabled)) => out.enabled = Some(*enabled),
            ("read_only", DeValue::Array(list)) => {
                out.read_only = patterns("read_only", list.iter().map(|one| one.get_ref()), &mut problems);
            }
            ("ignored", DeValue::Array(list)) => out.ignored = patterns("ignored", list.iter().map(|one| one.get_ref()), &mut problems),
            ("mounts", DeValue::Array(list)) => {
                out.mounts = list.iter().filter_map(|one| mount(one.get_ref()).map_err(|why| problems.push(why)).ok()).collect();
            }
            ("enabled" | "read_only" | "ignored" | "mounts", _) => {
                problems.push(format!("{} is left out: it has another form", key.get_ref()));
            }
            (other, _) => problems.push(format!("{other} is left out: a repository can set enabled, read_only, ignored and mounts")),
        }
    }
    (out, problems)
}

/// The text with each line blanked that keeps it from being TOML, so that what the others say holds.
fn without_bad_lines(text: &str, problems: &mut Vec<String>) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    for _ in 0..MOST_BAD_LINES {
        let whole = lines.join("\n");
        let Err(error) = DeTable::parse(&whole) else { return whole };
        let at = error.span().map_or(0, |span| span.start.min(whole.len()));
        let line = whole.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
        // An error behind the last line, or on one that is blank already, is that of an earlier one.
        let last = line.min(lines.len().saturating_sub(1));
        let Some(bad) = lines.iter_mut().take(last + 1).rev().find(|line| !line.is_empty()) else { break };
        *bad = "";
        problems.push(format!("line {} is left out: {}", line + 1, error.message()));
    }
    problems.push("the rest is left out: too much of it cannot be read".into());
    String::new()
}

fn patterns<'a>(key: &str, list: impl Iterator<Item = &'a DeValue<'a>>, problems: &mut Vec<String>) -> Vec<String> {
    let mut out = Vec::new();
    for one in list {
        match one {
            DeValue::String(pattern) if check_pattern(pattern).is_ok() => out.push(pattern.to_string()),
            DeValue::String(pattern) => problems.push(format!("{pattern:?} in {key} is left out: it is no regular expression")),
            _ => problems.push(format!("one of {key} is left out: it is no text")),
        }
    }
    out
}

fn mount(value: &DeValue<'_>) -> Result<(String, PathBuf), String> {
    let text = |key: &str| match value {
        DeValue::Table(table) => table.get(key).and_then(|value| value.get_ref().as_str()),
        _ => None,
    };
    let (Some(name), Some(path)) = (text("name"), text("path")) else {
        return Err("one of mounts is left out: it needs a name and a path".into());
    };
    // What is expanded elsewhere would be read as a promise here.
    if path.starts_with('~') || path.contains("${") {
        return Err(format!("the mount {name:?} is left out: ~ and ${{VAR}} lead out of a repository, and are not expanded for one"));
    }
    // The rest of a mount's keys are a person's to set: access, links and journals are not for a repository.
    match MemoryPath::parse(name) {
        Ok(name) if !path.contains('\0') => Ok((name.to_string(), path.into())),
        _ => Err(format!("the mount {name:?} is left out: that cannot be a mount's name or path")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_left_out_and_the_limits_beside_it_hold() {
        let (read, problems) = parse(
            "enabled = false\nrun = \"rm\"\nread_only = [\"fixed\", \"(\", \"(?x) a # \", 3]\nignored = \"x\"\n\
             [[mounts]]\nname = \"docs\"\npath = \"docs\"\naccess = \"read-write\"\n[[mounts]]\nname = \"../up\"\npath = \"docs\"\n[[mounts]]\nname = \"a\"\n",
        );
        assert_eq!((read.enabled, read.read_only, read.ignored), (Some(false), vec!["fixed".to_owned()], vec![]));
        assert_eq!(read.mounts, [("docs".to_owned(), PathBuf::from("docs"))]);
        assert_eq!(
            problems,
            [
                "ignored is left out: it has another form",
                "the mount \"../up\" is left out: that cannot be a mount's name or path",
                "one of mounts is left out: it needs a name and a path",
                "\"(\" in read_only is left out: it is no regular expression",
                "\"(?x) a # \" in read_only is left out: it is no regular expression",
                "one of read_only is left out: it is no text",
                "run is left out: a repository can set enabled, read_only, ignored and mounts",
            ]
        );
    }

    #[test]
    fn a_line_that_is_no_toml_does_not_turn_memory_on() {
        for text in [
            "enabled = false\nthis is nothing\nread_only = [\"fixed\"]\n",
            "this is nothing\nenabled = false\nread_only = [\"fixed\"]\n",
            "enabled = true\nread_only = [\"fixed\"]\nenabled = false\n",
            "read_only = [\"fixed\"]\nenabled = false\nignored = [\"open",
        ] {
            let (read, problems) = parse(text);
            assert_eq!(read.read_only, ["fixed"], "{text}");
            assert!(read.enabled == Some(false) || text.contains("true"), "{text}");
            assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        }
        let (read, problems) = parse(&"?\n".repeat(100));
        assert_eq!((read.enabled, problems.len()), (None, MOST_BAD_LINES + 1));
    }
}
