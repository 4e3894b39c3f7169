//! `.memdir/config.toml`: the settings of a repository. They are untrusted input: they may name and restrict, but never fail, run or
//! expand anything. Invalid keys are ignored one by one, so that the valid restrictions still apply.

use memdir_core::{MemoryPath, internal::store::rules::check_pattern};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use toml::de::{DeTable, DeValue};

/// The settings that a repository can make.
#[derive(Debug, Default)]
pub(crate) struct RepositorySettings {
    /// Whether this project has a memory.
    pub(crate) enabled: Option<bool>,
    /// Patterns of team memories that are read-only.
    pub(crate) read_only: Vec<String>,
    /// Patterns of team memories that are hidden.
    pub(crate) ignored: Vec<String>,
    /// Directories of the repository to mount, by name.
    pub(crate) mounts: Vec<(String, PathBuf)>,
}

/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 64 << 10;
/// Maximum number of invalid lines; with more, the whole file is ignored.
const MAX_BAD_LINES: usize = 32;

impl RepositorySettings {
    /// Reads the file if it exists; invalid parts are ignored with a note.
    pub(crate) fn load(path: &Path, notes: &mut Vec<String>) -> RepositorySettings {
        let text = match read(path) {
            Ok(text) => text,
            Err(why) => {
                notes.push(format!("ignored {}: {why}", path.display()));
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
        Ok(meta) if !meta.is_file() => return Err("not a regular file".into()),
        Ok(meta) if meta.len() > MAX_BYTES => return Err(format!("larger than {MAX_BYTES} bytes")),
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
                problems.push(format!(
                    "ignored `{}`: expected {}",
                    key.get_ref(),
                    if key.get_ref() == "enabled" { "true or false" } else { "a list" }
                ));
            }
            (other, _) => {
                problems.push(format!("ignored `{other}`: a repository can only set `enabled`, `read_only`, `ignored` and `mounts`"));
            }
        }
    }
    (out, problems)
}

/// Blanks the lines that are not valid TOML, so that the others still apply.
fn without_bad_lines(text: &str, problems: &mut Vec<String>) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    for _ in 0..MAX_BAD_LINES {
        let whole = lines.join("\n");
        let Err(error) = DeTable::parse(&whole) else { return whole };
        let at = error.span().map_or(0, |span| span.start.min(whole.len()));
        let line = whole.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
        // An error after the last line, or on a blanked line, belongs to an earlier line.
        let last = line.min(lines.len().saturating_sub(1));
        let Some(bad) = lines.iter_mut().take(last + 1).rev().find(|line| !line.is_empty()) else { break };
        *bad = "";
        problems.push(format!("ignored line {}: {}", line + 1, error.message()));
    }
    problems.push("ignored the whole file: too many invalid lines".into());
    String::new()
}

fn patterns<'a>(key: &str, list: impl Iterator<Item = &'a DeValue<'a>>, problems: &mut Vec<String>) -> Vec<String> {
    let mut out = Vec::new();
    for one in list {
        match one {
            DeValue::String(pattern) if check_pattern(pattern).is_ok() => out.push(pattern.to_string()),
            DeValue::String(pattern) => problems.push(format!("ignored {pattern:?} in `{key}`: invalid regular expression")),
            _ => problems.push(format!("ignored an entry of `{key}`: expected a string")),
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
        return Err("ignored an entry of `mounts`: `name` and `path` are required, both as strings".into());
    };
    // Expansion would give a repository access to paths outside of it.
    if path.starts_with('~') || path.contains("${") {
        return Err(format!("ignored mount {name:?}: ~ and ${{VAR}} are not allowed in a repository's settings"));
    }
    // Only the user can set the other keys of a mount: access, links and journals.
    match MemoryPath::parse(name) {
        Ok(name) if !path.contains('\0') => Ok((name.to_string(), path.into())),
        Ok(_) => Err(format!("ignored mount {name:?}: its path contains a NUL character")),
        Err(error) => Err(format!("ignored mount {name:?}: invalid name: {}", error.why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_parts_are_ignored_and_the_restrictions_apply() {
        let (read, problems) = parse(
            "enabled = false\nrun = \"rm\"\nread_only = [\"fixed\", \"(\", \"(?x) a # \", 3]\nignored = \"x\"\n\
             [[mounts]]\nname = \"docs\"\npath = \"docs\"\naccess = \"read-write\"\n[[mounts]]\nname = \"../up\"\npath = \"docs\"\n[[mounts]]\nname = \"a\"\n",
        );
        assert_eq!((read.enabled, read.read_only, read.ignored), (Some(false), vec!["fixed".to_owned()], vec![]));
        assert_eq!(read.mounts, [("docs".to_owned(), PathBuf::from("docs"))]);
        assert_eq!(
            problems,
            [
                "ignored `ignored`: expected a list",
                "ignored mount \"../up\": invalid name: it contains the component \"..\"; use a name without it",
                "ignored an entry of `mounts`: `name` and `path` are required, both as strings",
                "ignored \"(\" in `read_only`: invalid regular expression",
                "ignored \"(?x) a # \" in `read_only`: invalid regular expression",
                "ignored an entry of `read_only`: expected a string",
                "ignored `run`: a repository can only set `enabled`, `read_only`, `ignored` and `mounts`",
            ]
        );
    }

    #[test]
    fn an_invalid_line_does_not_enable_memory() {
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
        assert_eq!((read.enabled, problems.len()), (None, MAX_BAD_LINES + 1));
    }
}
