//! Whether a conversation took place in a directory. A directory has several paths if symbolic links lead to it, so paths are compared
//! both as written and resolved; a host that does not record the directory recognizes it by the path of the transcript. Reads no file.

use crate::source::Reader;
use std::path::{Component, Path, PathBuf};

/// What is known about the directory of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionProject<'a> {
    /// The host.
    pub host: &'static Reader,
    /// The directory that its records name.
    pub dir: Option<&'a Path>,
    /// The transcript, whose folder may be named after the directory.
    pub transcript: &'a Path,
}

impl SessionProject<'_> {
    /// Whether the conversation took place in this directory or below.
    pub fn is_in(&self, dir: &Path) -> bool {
        let dirs = path_forms(dir);
        match (self.dir, self.host.is_transcript_of) {
            (Some(project), _) => path_forms(project).iter().any(|project| dirs.iter().any(|dir| project.starts_with(dir))),
            (None, Some(is_transcript_of)) => dirs.iter().any(|dir| is_transcript_of(self.transcript, dir)),
            (None, None) => false,
        }
    }
}

/// Returns the folder of a path that is directly below the last folder with the name `parent`.
pub(crate) fn folder_below<'p>(path: &'p Path, parent: &str) -> Option<&'p str> {
    let names: Vec<&str> = path.parent()?.components().filter_map(folder_name).collect();
    let at = names.iter().rposition(|name| *name == parent)?;
    names.get(at + 1).copied()
}

fn folder_name(part: Component<'_>) -> Option<&str> {
    match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    }
}

/// Returns the path as written, and resolved if that differs. A path that does not exist is resolved as far as it does.
pub fn path_forms(path: &Path) -> Vec<PathBuf> {
    let resolved = path.ancestors().find_map(|above| {
        let real = above.canonicalize().ok()?;
        let rest = path.strip_prefix(above).ok()?;
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    let other = resolved.filter(|resolved| resolved != path);
    std::iter::once(path.to_owned()).chain(other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::codex;
    use std::fs;

    #[test]
    fn a_directory_is_recognized_by_its_path_and_by_links_to_it() {
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
            let session = SessionProject { host: &codex::READER, dir: Some(project), transcript: Path::new("/x") };
            assert_eq!(session.is_in(dir), expected, "{} in {}", project.display(), dir.display());
        }
        let unknown = SessionProject { host: &codex::READER, dir: None, transcript: &real };
        assert!(!unknown.is_in(&real));
    }

    #[test]
    fn the_last_folder_below_a_parent_counts() {
        assert_eq!(folder_below(Path::new("/tmp/a/.gemini/tmp/abc/chats/s.json"), "tmp"), Some("abc"));
        assert_eq!(folder_below(Path::new("/a/tmp"), "tmp"), None);
    }
}
