//! Parses git's configuration as far as a project's id needs it: one file, no includes. Never fails.

use std::{fs::File, io::Read as _, path::Path};

/// Keys as `section.key` or `section.name.key`, in lower case except for the name, with their values in order.
#[derive(Debug, Default)]
pub(super) struct GitConfig(Vec<(String, String)>);

impl GitConfig {
    /// Reads the configuration of a repository; empty if it cannot be read.
    pub(super) fn read(git_dir: &Path) -> Self {
        const CONFIG_BYTES: u64 = 1 << 20;
        let mut bytes = Vec::new();
        let read = File::open(git_dir.join("config")).and_then(|file| file.take(CONFIG_BYTES).read_to_end(&mut bytes));
        if read.is_err() { GitConfig::default() } else { GitConfig::parse(&String::from_utf8_lossy(&bytes)) }
    }

    /// Parses a configuration and ignores invalid lines.
    pub(super) fn parse(text: &str) -> Self {
        let mut found = Vec::new();
        let mut section = String::new();
        let joined = text.replace("\\\r\n", "").replace("\\\n", "");
        for line in joined.lines().map(str::trim) {
            match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                Some((head, _)) => section = name(head),
                None if line.starts_with(['#', ';']) => {}
                None => {
                    let (key, value) = line.split_once('=').map_or((line, "true".to_owned()), |(key, raw)| (key, value(raw)));
                    found.push((format!("{section}.{}", key.trim().to_ascii_lowercase()), value));
                }
            }
        }
        GitConfig(found)
    }

    /// The last value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find(|(found, _)| found == key).map(|(_, value)| value.as_str())
    }

    /// Returns the values of all keys with this prefix and suffix.
    pub(super) fn all<'a>(&'a self, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key.starts_with(begin) && key.ends_with(end)).map(|(_, value)| value.as_str())
    }

    /// Whether the repository is bare.
    pub(super) fn is_bare(&self) -> bool {
        self.get("core.bare").is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1"))
    }
}

/// `remote "origin"` becomes `remote.origin`.
fn name(head: &str) -> String {
    match head.split_once('"') {
        Some((section, name)) => {
            format!("{}.{}", section.trim().to_ascii_lowercase(), name.trim_end().trim_end_matches('"').replace('\\', ""))
        }
        None => head.trim().to_ascii_lowercase(),
    }
}

/// A value without its quotes, escapes and comment.
fn value(raw: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    let mut chars = raw.trim().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            '#' | ';' if !quoted => break,
            _ => out.push(c),
        }
    }
    if quoted { out } else { out.trim_end().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::GitConfig;

    #[test]
    fn understands_what_git_writes() {
        let text = "[core]\n\tbare = false ; no\n\tworktree = \"../a b\" # here\n[Remote \"Origin\"]\n\tURL = git@host:x.git\n\
                    [remote \"up\\\"stream\"]\n\turl = https://host/\\\ny.git\n[junk\n=\n[core]\n\tbare\n";
        let config = GitConfig::parse(text);
        assert_eq!(config.get("core.worktree"), Some("../a b"));
        assert_eq!(config.get("remote.Origin.url"), Some("git@host:x.git"));
        assert_eq!(config.all("remote.", ".url").collect::<Vec<_>>(), ["git@host:x.git", "https://host/y.git"]);
        assert!(config.is_bare(), "the last word counts, and a key alone means true");
    }
}
