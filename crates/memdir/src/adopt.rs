//! The memories of other programs: where they are, and how each is mounted in place. Also writes memories into the directory from which
//! a host imports them.

pub(crate) mod import_dir;

use crate::hosts::{HOSTS, HostMemory, Machine};
use memdir_core::{
    Access, FileStore, Incoming, MemoryPath, Mount, View as _,
    internal::store::mounts::{ENTRYPOINT_FILE, choose_entrypoint, is_page_name},
};
use serde_json::{Map, Value, json};
use std::{fs, path::Path};

/// Programs with a memory of their own that memdir is not installed into.
const OTHER_PROGRAMS: &[fn(&Machine) -> HostMemory] = &[
    |machine| {
        let dir = machine.project.join(".serena/memories");
        HostMemory::for_project("serena", "Serena's memories for this project", dir, json!({ "entrypoint": false }))
    },
    // Only what OpenClaw calls memory: other files in its workspace are instructions, and its dreams are machine state.
    |machine| {
        let only = json!(["MEMORY.md", "USER.md", "memory/**/*.md"]);
        let options = json!({ "entrypoint": false, "only": only, "ignored": ["memory/\\.dreams/.*"] });
        HostMemory::for_user("openclaw", "OpenClaw's workspace", machine.home.join(".openclaw/workspace"), options)
    },
    |machine| HostMemory::for_user("koding", "koding", machine.home.join(".koding/memory"), json!({ "entrypoint": false })),
    |machine| {
        let dir = machine.home.join(".agent-memory/memory");
        HostMemory::for_user("agent-memory", "mcp-agent-memory", dir, json!({ "entrypoint": false }))
    },
];

/// Finds the memories of other programs, for the user and the current project. Directories without a memory are skipped.
pub(crate) fn find(machine: &Machine) -> Vec<HostMemory> {
    let hosts = HOSTS.iter().filter_map(|host| host.memory?(machine));
    let existing = hosts.chain(other_programs(machine)).filter(|memory| memory.path.is_dir());
    let counted = existing.map(|memory| HostMemory { memories: count_mounted(&memory, machine), ..memory });
    counted.filter(|memory| memory.memories > 0).collect()
}

/// The memories of programs that memdir is not installed into, whether they exist or not.
pub(crate) fn other_programs(machine: &Machine) -> impl Iterator<Item = HostMemory> {
    OTHER_PROGRAMS.iter().map(|memory| memory(machine))
}

/// The `[[mounts]]` table that mounts a memory under a name.
pub(crate) fn mount_settings(memory: &HostMemory, name: &str, machine: &Machine, project: &str, read_write: bool) -> Value {
    let mut mount = Map::new();
    mount.insert("name".into(), name.into());
    mount.insert("path".into(), with_tilde(&memory.path, &machine.home).into());
    mount.insert("access".into(), if read_write { "read-write" } else { "read-only" }.into());
    if memory.of_project {
        mount.insert("project".into(), project.into());
    }
    mount.extend(memory.mount_options.clone());
    mount.into()
}

fn with_tilde(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    }
}

/// The number of memories in the mount, without those it ignores.
pub(crate) fn count_mounted(memory: &HostMemory, machine: &Machine) -> usize {
    let walk = open(memory, machine).and_then(|store| store.list(""));
    walk.map(|walk| walk.entries.iter().filter(|entry| entry.path.is_md()).count()).unwrap_or_default()
}

/// Reads the memories of another program for an import, without the entrypoint, which the import rewrites. What is not UTF-8 is
/// skipped.
pub(crate) fn read(memory: &HostMemory, machine: &Machine) -> Vec<Incoming> {
    let Ok(store) = open(memory, machine) else { return Vec::new() };
    // Of the formats that are not memdir's, MEMORY.md is a memory like any other.
    let entrypoint = memory.mount_options.is_empty().then(|| choose_entrypoint(|name| memory.path.join(name).is_file()));
    let is_entrypoint = |name: &str| entrypoint.is_some_and(|entrypoint| name == entrypoint || is_page_name(name));
    let paths = store.list("").map(|walk| walk.entries).unwrap_or_default().into_iter().map(|entry| entry.path);
    let memories = paths.filter(|path| path.is_md() && !is_entrypoint(path.as_str()));
    let text = |path: MemoryPath| {
        let stored = store.get(&path).ok()??;
        // A name that memdir keeps for its own entrypoint.
        let name = if path.as_str() == ENTRYPOINT_FILE { "handbook.md" } else { path.as_str() };
        Some(Incoming { name: name.to_owned(), text: String::from_utf8(stored.bytes).ok()? })
    };
    memories.filter_map(text).collect()
}

/// Opens the memory of another program for reading.
pub(crate) fn open(memory: &HostMemory, machine: &Machine) -> memdir_core::Result<FileStore> {
    let list =
        |key: &str| serde_json::from_value::<Vec<String>>(memory.mount_options.get(key).cloned().unwrap_or_default()).unwrap_or_default();
    let journal = machine.home.join(".memdir/journal/none");
    let mount =
        Mount { access: Access::ReadOnly, ignored: list("ignored"), only: list("only"), ..Mount::new("", memory.path.clone(), journal) };
    FileStore::open(&[mount])
}

/// The number of Markdown files in a directory, at most four levels deep.
pub(crate) fn count_files(dir: &Path) -> usize {
    count_below(dir, 4)
}

fn count_below(dir: &Path, depth: usize) -> usize {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => count_below(&entry.path(), depth - 1),
            Ok(kind) if kind.is_file() => usize::from(entry.path().extension().is_some_and(|extension| extension == "md")),
            _ => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests;
