//! Whether a conversation was held in a directory. Links make one directory two paths, so what was written down is
//! compared as it is and as it resolves; where a host wrote only a mark of the path, the marks are compared. Reads no file.

use super::Host;
use sha2::{Digest as _, Sha256};
use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// What tells where a conversation was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held<'a> {
    /// Whose conversation it is.
    pub host: Host,
    /// The directory its records name.
    pub project: Option<&'a Path>,
    /// The host's file, whose folder may be named after the directory.
    pub source: &'a Path,
}

impl Held<'_> {
    /// Whether that was in this directory or below.
    pub fn is_in(&self, dir: &Path) -> bool {
        let dirs = forms(dir);
        match (self.project, self.host) {
            (Some(project), _) => forms(project).iter().any(|project| dirs.iter().any(|dir| project.starts_with(dir))),
            // Older versions name the folder after the hash of the path, which tells nothing of what is below.
            (None, Host::Gemini) => self.folder_after("tmp").is_some_and(|name| dirs.iter().any(|dir| sha256(dir) == name)),
            (None, Host::Cursor) => self.folder_after("projects").is_some_and(|name| dirs.iter().any(|dir| has_slug(dir, name))),
            (None, _) => false,
        }
    }

    /// The last folder of the transcript's path that stands directly in one of this name.
    fn folder_after(&self, parent: &str) -> Option<&str> {
        let names: Vec<&str> = self.source.parent()?.components().filter_map(name_of).collect();
        let at = names.iter().rposition(|name| *name == parent)?;
        names.get(at + 1).copied()
    }
}

fn name_of(part: Component<'_>) -> Option<&str> {
    match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    }
}

/// A path as it is written, and as it is without links if that is another one.
pub fn forms(path: &Path) -> Vec<PathBuf> {
    let resolved = path.ancestors().find_map(|above| {
        let real = above.canonicalize().ok()?;
        let rest = path.strip_prefix(above).ok()?;
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    let other = resolved.filter(|resolved| resolved != path);
    std::iter::once(path.to_owned()).chain(other).collect()
}

fn sha256(path: &Path) -> String {
    Sha256::digest(path.as_os_str().as_encoded_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a folder's name is the slug of this directory, or of one below that is there: `/home/ada/my.app` is written
/// `home-ada-my-app`, so that only the directories there are tell where one name ends and the next begins.
fn has_slug(dir: &Path, name: &str) -> bool {
    let (wanted, own) = (slug(name), slug(&dir.to_string_lossy()));
    match wanted.strip_prefix(&own) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('-').is_some_and(|rest| leads_to_a_directory(dir, rest)),
        None => false,
    }
}

fn leads_to_a_directory(dir: &Path, rest: &str) -> bool {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().is_dir()).any(|entry| {
        let own = slug(&entry.file_name().to_string_lossy());
        match rest.strip_prefix(&own).filter(|_| !own.is_empty()) {
            Some("") => true,
            Some(rest) => rest.strip_prefix('-').is_some_and(|rest| leads_to_a_directory(&entry.path(), rest)),
            None => false,
        }
    })
}

/// Letters and digits, everything between them as one hyphen.
fn slug(text: &str) -> String {
    let parts: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    parts.join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_known_by_its_path_its_links_and_its_marks() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("work/my.app/inner")).unwrap();
        fs::create_dir_all(root.join("work/my.app-two")).unwrap();
        std::os::unix::fs::symlink(root.join("work"), root.join("link")).unwrap();
        let (real, linked) = (root.join("work/my.app"), root.join("link/my.app"));
        for (project, dir, expected) in [
            (&real, &linked, true),
            (&linked, &real, true),
            (&linked, &linked, true),
            (&root.join("link/my.app/gone"), &real, true),
            (&root.join("work/my.app-two"), &real, false),
        ] {
            let held = Held { host: Host::Codex, project: Some(project), source: Path::new("/x") };
            assert_eq!(held.is_in(dir), expected, "{} in {}", project.display(), dir.display());
        }
        let gemini = PathBuf::from("/g/tmp").join(sha256(&real)).join("chats/session-1.json");
        let gemini = Held { host: Host::Gemini, project: None, source: &gemini };
        assert!(gemini.is_in(&real) && gemini.is_in(&linked) && !gemini.is_in(&root));
        let slug = |dir: &str| slug(&root.join(dir).to_string_lossy());
        for (dir, expected) in [("work/my.app", true), ("work/my.app/inner", true), ("work/my.app-two", false), ("work/my.app/gone", false)]
        {
            let source = PathBuf::from("/h/.cursor/projects").join(slug(dir)).join("agent-transcripts/a.jsonl");
            let held = Held { host: Host::Cursor, project: None, source: &source };
            assert_eq!((held.is_in(&real), held.is_in(&linked)), (expected, expected), "{dir}");
        }
    }
}
