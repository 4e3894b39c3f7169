//! Memories that other programs keep: where they are, and how each is mounted in place, in its own conventions. Looks at
//! directories, and changes none.

use crate::hosts::{Machine, Scope, Wish, claude_code, codex, gemini, jsonc};
use memdir_core::store::{
    Access, View as _,
    files::{Mount, Vault},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A directory of somebody else's memories.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Found {
    /// The mount it would be.
    pub(crate) name: &'static str,
    /// Whose memories.
    pub(crate) title: &'static str,
    pub(crate) path: PathBuf,
    /// Markdown files in it.
    pub(crate) memories: usize,
    /// Whether it belongs to the project one stands in, and to no other.
    pub(crate) of_project: bool,
    /// What is peculiar about it, as keys of a mount.
    #[serde(skip)]
    pub(crate) keys: Map<String, Value>,
}

impl Found {
    /// The `[[mounts]]` table that mounts it by that name.
    pub(crate) fn mount(&self, name: &str, machine: &Machine, project: &str, read_write: bool) -> Value {
        let mut mount = Map::new();
        mount.insert("name".into(), name.into());
        mount.insert("path".into(), tilde(&self.path, &machine.home).into());
        mount.insert("access".into(), if read_write { "read-write" } else { "read-only" }.into());
        if self.of_project {
            mount.insert("project".into(), project.into());
        }
        mount.extend(self.keys.clone());
        mount.into()
    }
}

/// Everything that is there, for this person and this project.
pub(crate) fn find(machine: &Machine) -> Vec<Found> {
    let candidates = [
        claude(machine),
        codex_memories(machine),
        gemini_memory(machine),
        serena(machine),
        openclaw(machine),
        person("koding", "koding", machine.home.join(".koding/memory"), json!({ "entrypoint": false })),
        person("agent-memory", "mcp-agent-memory", machine.home.join(".agent-memory/memory"), json!({ "entrypoint": false })),
    ];
    let there = candidates.into_iter().flatten().filter(|found| found.path.is_dir());
    there.map(|found| Found { memories: served(&found, machine), ..found }).filter(|found| found.memories > 0).collect()
}

fn person(name: &'static str, title: &'static str, path: PathBuf, keys: Value) -> Option<Found> {
    let keys = keys.as_object().cloned().unwrap_or_default();
    Some(Found { name, title, path, memories: 0, of_project: false, keys })
}

fn project(name: &'static str, title: &'static str, path: PathBuf, keys: Value) -> Option<Found> {
    Some(Found { of_project: true, ..person(name, title, path, keys)? })
}

/// Its entrypoint and frontmatter are memdir's own conventions. All worktrees of a repository share the main checkout's.
fn claude(machine: &Machine) -> Option<Found> {
    let title = "Claude Code's auto memory of this project";
    if let Some(dir) = claude_directory(machine, Scope::Project) {
        return project("claude", title, dir, json!({}));
    }
    if let Some(dir) = claude_directory(machine, Scope::User) {
        return person("claude", "Claude Code's auto memory", dir, json!({}));
    }
    let of = |checkout: &PathBuf| Some(claude_code::settings_dir(machine).join("projects").join(claude_slug(checkout)?).join("memory"));
    let dirs: Vec<PathBuf> = [&machine.main, &machine.project].into_iter().filter_map(of).collect();
    let dir = dirs.iter().find(|dir| dir.is_dir()).or(dirs.first())?.clone();
    project("claude", title, dir, json!({}))
}

/// The directory a person has chosen for it.
fn claude_directory(machine: &Machine, scope: Scope) -> Option<PathBuf> {
    let part = claude_code::auto_memory(machine, scope, "");
    let text = fs::read_to_string(&part.file).ok()?;
    let Wish::Setting { path, .. } = part.wishes.first()? else { return None };
    let chosen = jsonc::get(&text, path).ok()??;
    let chosen = chosen.as_str().filter(|chosen| !chosen.is_empty())?;
    Some(chosen.strip_prefix("~/").map_or_else(|| PathBuf::from(chosen), |rest| machine.home.join(rest)))
}

/// Where Claude Code keeps memories of its own, with how many: of this project, or of all of them.
pub(crate) fn claude_memories(machine: &Machine, scope: Scope) -> Vec<(PathBuf, usize)> {
    let mut dirs: Vec<PathBuf> = match scope {
        Scope::Project => claude(machine).map(|found| found.path).into_iter().collect(),
        Scope::User => {
            let projects = fs::read_dir(claude_code::settings_dir(machine).join("projects")).into_iter().flatten().flatten();
            projects.map(|project| project.path().join("memory")).filter(|dir| dir.is_dir()).collect()
        }
    };
    dirs.sort();
    let counted = dirs.into_iter().map(|dir| (count(&dir, 4), dir));
    counted.filter(|(memories, _)| *memories > 0).map(|(memories, dir)| (dir, memories)).collect()
}

/// Every character that is no ASCII letter or digit is a hyphen; a name of more than 200 has a hash we do not know.
fn claude_slug(project: &Path) -> Option<String> {
    let slug: String = project.to_str()?.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    (slug.len() <= 200).then_some(slug)
}

/// Codex writes these itself and keeps a git baseline; its handbook is no entrypoint of ours.
fn codex_memories(machine: &Machine) -> Option<Found> {
    person(
        "codex",
        "Codex's memories",
        codex::home(machine).join("memories"),
        json!({ "entrypoint": false, "ignored": ["raw_memories", "extensions/.*"] }),
    )
}

fn gemini_memory(machine: &Machine) -> Option<Found> {
    let dir = gemini::user_dir(machine);
    let text = fs::read_to_string(dir.join("projects.json")).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    let id = value["projects"][machine.project.to_str()?].as_str()?;
    let plain = !id.is_empty() && id.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    plain
        .then(|| dir.join("tmp").join(id).join("memory"))
        .and_then(|path| project("gemini", "Gemini CLI's private memory of this project", path, json!({ "entrypoint": false })))
}

fn serena(machine: &Machine) -> Option<Found> {
    project("serena", "Serena's memories of this project", machine.project.join(".serena/memories"), json!({ "entrypoint": false }))
}

/// Of its workspace only what it calls memory: the rest are instructions, and its dreams are machine state.
fn openclaw(machine: &Machine) -> Option<Found> {
    let only = json!(["MEMORY.md", "USER.md", "memory/**/*.md"]);
    let keys = json!({ "entrypoint": false, "only": only, "ignored": ["memory/\\.dreams/.*"] });
    person("openclaw", "OpenClaw's workspace", machine.home.join(".openclaw/workspace"), keys)
}

fn tilde(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    }
}

/// How many memories the mount would have: what it ignores does not count.
fn served(found: &Found, machine: &Machine) -> usize {
    let list = |key: &str| serde_json::from_value::<Vec<String>>(found.keys.get(key).cloned().unwrap_or_default()).unwrap_or_default();
    let journal = machine.home.join(".memdir/journal/none");
    let mount =
        Mount { access: Access::ReadOnly, ignored: list("ignored"), only: list("only"), ..Mount::new("", found.path.clone(), journal) };
    let walk = Vault::open(&[mount]).and_then(|vault| vault.list(""));
    walk.map(|walk| walk.entries.iter().filter(|entry| entry.path.is_md()).count()).unwrap_or_default()
}

fn count(dir: &Path, deep: usize) -> usize {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() && deep > 0 => count(&entry.path(), deep - 1),
            Ok(kind) if kind.is_file() => usize::from(entry.path().extension().is_some_and(|ending| ending == "md")),
            _ => 0,
        })
        .sum()
}

/// Codex reads the folder of an extension when it consolidates its memories: instructions, and files beside them.
pub(crate) mod for_codex {
    use super::{Machine, Path, PathBuf, codex, fs};
    use memdir_core::base::disk::{self, Replace};
    use std::io;

    /// What tells Codex how to read the files, and us that the folder is ours.
    const INSTRUCTIONS: &str = include_str!("adopt/codex.md");

    /// The folder.
    pub(crate) fn dir(machine: &Machine) -> PathBuf {
        codex::home(machine).join("memories/extensions/memdir")
    }

    /// Writes the memories of a project there, and removes what is no longer one. Returns how many files changed.
    pub(crate) fn write(machine: &Machine, project: &str, memories: &[(String, String)]) -> io::Result<usize> {
        let dir = dir(machine);
        let resources = dir.join("resources").join(project);
        fs::create_dir_all(&resources)?;
        let mut wanted = vec![(dir.join("instructions.md"), INSTRUCTIONS.to_owned())];
        let cwd = serde_json::json!({ "cwd": machine.project });
        wanted.push((resources.join("scope.json"), format!("{cwd}\n")));
        wanted.extend(memories.iter().map(|(path, text)| (resources.join(path), text.clone())));
        let mut changed = 0;
        for (path, text) in &wanted {
            if fs::read_to_string(path).ok().as_ref() != Some(text) {
                put(path, text)?;
                changed += 1;
            }
        }
        Ok(changed + remove_others(&resources, &wanted)?)
    }

    /// Whether the folder is there and ours.
    pub(crate) fn is_there(machine: &Machine) -> bool {
        fs::read_to_string(dir(machine).join("instructions.md")).is_ok_and(|text| text == INSTRUCTIONS)
    }

    /// Removes the folder, if it is ours, and those around it that are empty then.
    pub(crate) fn remove(machine: &Machine) -> io::Result<bool> {
        let ours = is_there(machine);
        if ours {
            let dir = dir(machine);
            fs::remove_dir_all(&dir)?;
            // One that is not empty stays.
            let around = dir.ancestors().skip(1).take_while(|around| around.starts_with(codex::home(machine)));
            around.for_each(|around| drop(fs::remove_dir(around)));
        }
        Ok(ours)
    }

    fn put(path: &Path, text: &str) -> io::Result<()> {
        let dir = path.parent().unwrap_or(path);
        fs::create_dir_all(dir)?;
        disk::replace(path, Replace::DERIVED, |file| io::Write::write_all(file, text.as_bytes()))
    }

    fn remove_others(dir: &Path, wanted: &[(PathBuf, String)]) -> io::Result<usize> {
        let mut removed = 0;
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.is_dir() && !path.is_symlink() {
                removed += remove_others(&path, wanted)?;
                // A folder that is not empty stays.
                let _ = fs::remove_dir(&path);
            } else if !wanted.iter().any(|(keep, _)| *keep == path) {
                fs::remove_file(&path)?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}

#[cfg(test)]
mod tests;
