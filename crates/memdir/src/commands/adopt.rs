//! `memdir adopt`: mounts the memories of other programs in place, or shares one memory with a host.

use super::{
    counted,
    install::{
        HostOutcome, machine,
        own_memory::{OwnMemorySettlement, SettlementContext},
        show_outcomes,
    },
};
use crate::{
    adopt::{self, import_dir},
    args::{AdoptArgs, GlobalArgs},
    config::{self, Settings},
    exit::Failure,
    hosts::{self, HOSTS, Host, HostMemory, MemoryChoice},
    install,
    output::{CommandOutput, Printer},
    scope::Scope,
    spaces,
};
use memdir_core::{
    Access, List, MemoryPath, Mount,
    internal::store::{mount::real_path, mounts::mount_of},
};
use serde::Serialize;
use std::{
    io,
    path::{Path, PathBuf},
};

#[derive(Serialize)]
struct Adoption {
    found: Vec<AdoptCandidate>,
    /// Whether the settings were changed.
    adopted: bool,
    /// The settings file.
    file: PathBuf,
    /// Whether the lines to add are for read-write mounts.
    #[serde(skip)]
    read_write: bool,
}

#[derive(Serialize)]
struct AdoptCandidate {
    #[serde(flatten)]
    memory: HostMemory,
    /// Whether the settings already mount it.
    mounted: bool,
    /// Whether its mount changes from read-only to read-write.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    opened: bool,
    /// Its table in the settings.
    toml: String,
}

pub(crate) fn run(args: &AdoptArgs, global: &GlobalArgs, settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    if args.as_auto_memory {
        return as_auto_memory(args, settings, scope);
    }
    if args.to_codex {
        return to_codex(args, settings, scope);
    }
    if args.undo {
        return undo(args, settings, scope);
    }
    let adopted = !args.names.is_empty() && !args.dry_run;
    let found = if adopted {
        mount_memories(args, global, settings)?
    } else {
        candidates(args, settings, scope, std::fs::read_to_string(&settings.file).unwrap_or_default())?.0
    };
    Ok(CommandOutput::new(Adoption { found, adopted, file: settings.file.clone(), read_write: args.read_write }, show))
}

/// Mounts one memory in place, read-only.
pub(super) fn mount(name: &str, global: &GlobalArgs, settings: &Settings) -> Result<(), Failure> {
    let args = AdoptArgs {
        names: vec![name.to_owned()],
        read_write: false,
        undo: false,
        as_auto_memory: false,
        to_codex: false,
        scope: hosts::InstallScope::User,
        dry_run: false,
    };
    mount_memories(&args, global, settings).map(drop)
}

fn mount_memories(args: &AdoptArgs, global: &GlobalArgs, settings: &Settings) -> Result<Vec<AdoptCandidate>, Failure> {
    config::edit::change(&settings.file, |document| {
        // Another process may have adopted the same memory since the settings were loaded.
        let settings = Settings::load(global)?;
        let scope = Scope::resolve(&settings)?;
        let (found, text) = candidates(args, &settings, &scope, document.to_string())?;
        settings.would_read(&text)?;
        *document = text.parse().map_err(|error: toml_edit::TomlError| invalid(&settings, error.message()))?;
        Ok(found)
    })
}

/// What `adopt --undo` removed.
#[derive(Serialize)]
struct Unmounted {
    removed: Vec<String>,
    dry_run: bool,
    file: PathBuf,
}

/// Removes the mounts of adopted memories from the settings. A memory is named as `memdir adopt` lists it, or by its mount.
fn undo(args: &AdoptArgs, settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    let memories = adopt::find(&machine(settings)?);
    let mounts = || scope.mounts.iter().map(|scoped| &scoped.mount);
    let mut removed: Vec<String> = Vec::new();
    for name in &args.names {
        let memory = memories.iter().find(|memory| memory.name == *name);
        let mounted = memory.and_then(|memory| mounts().find(|mount| is_same(&mount.root, &memory.path)));
        let mount = mounted.or_else(|| mounts().find(|mount| mount.prefix == *name));
        let configured = mount.filter(|mount| settings.config.mounts.iter().any(|setting| setting.name == mount.prefix));
        removed.push(configured.map(|mount| mount.prefix.clone()).ok_or_else(|| Failure::Usage {
            message: format!("memory {name:?} has not been adopted"),
            hint: "list the mounts with: memdir config".to_owned(),
        })?);
    }
    if !args.dry_run {
        config::edit::change(&settings.file, |document| {
            let is_removed = |mount: &toml_edit::Table| {
                let value = |key: &str| mount.get(key).and_then(|value| value.as_str());
                let is_here = value("project").is_none_or(|project| project == scope.id);
                is_here && value("name").is_some_and(|name| removed.iter().any(|removed| removed == name))
            };
            let mut is_empty = false;
            if let Some(mounts) = document.get_mut("mounts").and_then(|mounts| mounts.as_array_of_tables_mut()) {
                mounts.retain(|mount| !is_removed(mount));
                is_empty = mounts.is_empty();
            }
            if is_empty {
                document.remove("mounts");
            }
            settings.would_read(&document.to_string())
        })?;
    }
    Ok(CommandOutput::new(Unmounted { removed, dry_run: args.dry_run, file: settings.file.clone() }, |outcome, page| {
        let verb = if outcome.dry_run { "would remove" } else { "removed" };
        for name in &outcome.removed {
            page.line(format!("{verb} the mount {name}/ from {}; its files are kept", outcome.file.display()))?;
        }
        Ok(())
    }))
}

/// The memories that were asked for, and the text of the settings with their mounts.
fn candidates(args: &AdoptArgs, settings: &Settings, scope: &Scope, mut text: String) -> Result<(Vec<AdoptCandidate>, String), Failure> {
    let machine = machine(settings)?;
    let memories = adopt::find(&machine);
    if let Some(unknown) = args.names.iter().find(|name| !memories.iter().any(|memory| memory.name == **name)) {
        let hint = "list the memories of other programs with: memdir adopt".to_owned();
        return Err(Failure::Usage { message: format!("memory {unknown:?} not found"), hint });
    }
    let is_wanted = |memory: &HostMemory| args.names.is_empty() || args.names.iter().any(|name| name == memory.name);
    let mut found = Vec::new();
    let mut new_names = Vec::new();
    for memory in memories.into_iter().filter(is_wanted) {
        let existing = scope.mounts.iter().find(|scoped| is_same(&scoped.mount.root, &memory.path)).map(|scoped| &scoped.mount);
        let mounted = existing.is_some();
        let name = free_name(&memory, settings, scope, &new_names);
        let mount = adopt::mount_settings(&memory, &name, &machine, &scope.id, args.read_write);
        new_names.extend((!mounted).then_some(name));
        let toml = hosts::toml::push("", "mounts", &mount).unwrap_or_default();
        if !mounted && !args.names.is_empty() {
            text = hosts::toml::push(&text, "mounts", &mount).map_err(|error| invalid(settings, &error.message))?;
        }
        let is_opened = |mount: &&Mount| args.read_write && !args.names.is_empty() && mount.access == Access::ReadOnly;
        let changed = existing.filter(is_opened).and_then(|mount| with_write_access(&text, &mount.prefix));
        let opened = changed.is_some();
        text = changed.unwrap_or(text);
        found.push(AdoptCandidate { memory, mounted, opened, toml });
    }
    Ok((found, text))
}

fn invalid(settings: &Settings, message: &str) -> Failure {
    let message = format!("{}: {message}", settings.file.display());
    Failure::Settings { message, hint: "fix the file, then run the command again".into() }
}

/// A name that is not taken by another mount wherever this one is active: with two mounts of one name no command would work.
fn free_name(memory: &HostMemory, settings: &Settings, scope: &Scope, new_names: &[String]) -> String {
    let is_beside = |project: &Option<String>| !memory.of_project || project.as_ref().is_none_or(|project| *project == scope.id);
    let configured = settings.config.mounts.iter().filter(|mount| is_beside(&mount.project)).map(|mount| &mount.name);
    let mounted = scope.mounts.iter().map(|scoped| &scoped.mount.prefix);
    let taken: Vec<&String> = configured.chain(mounted).chain(new_names).collect();
    let mut names = std::iter::once(memory.name.to_owned()).chain((2..).map(|n| format!("{}-{n}", memory.name)));
    names.find(|name| !taken.contains(&name)).unwrap_or_default()
}

/// The settings with the mount of this name changed to read-write; `None` if they do not have it.
fn with_write_access(text: &str, name: &str) -> Option<String> {
    let mut document: toml_edit::DocumentMut = text.parse().ok()?;
    let mounts = document.get_mut("mounts")?.as_array_of_tables_mut()?;
    let mount = mounts.iter_mut().find(|mount| mount.get("name").and_then(|value| value.as_str()) == Some(name))?;
    mount["access"] = toml_edit::value("read-write");
    Some(document.to_string())
}

fn is_same(a: &Path, b: &Path) -> bool {
    real_path(a) == real_path(b)
}

/// The only host with a capability that a flag refers to.
fn host_with<T>(capability: impl Fn(&'static Host) -> Option<T>, flag: &str) -> Result<(&'static Host, T), Failure> {
    HOSTS
        .iter()
        .find_map(|host| Some((*host, capability(host)?)))
        .ok_or_else(|| Failure::Usage { message: format!("{flag} is not supported by any host"), hint: format!("omit {flag}") })
}

/// Makes memdir's directory, of the user or of this project, the host's own memory.
fn as_auto_memory(args: &AdoptArgs, settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    let can_move = |host: &'static Host| host.memory_switch.as_ref()?.redirect;
    let (host, _) = host_with(can_move, "--as-auto-memory")?;
    let machine = machine(settings)?;
    let context = SettlementContext { settings, space: scope, machine: &machine };
    let Some(settlement) = OwnMemorySettlement::new(host, MemoryChoice::Share, args.scope, &context)? else {
        return Ok(CommandOutput::new(String::new(), |diff, page| page.content(diff)));
    };
    if args.dry_run {
        let edits = install::plan(&settlement.files, &[])?;
        let diffs = edits.iter().map(|edit| install::diff(&edit.config.path, edit.before.as_deref(), Some(&edit.after)));
        let diffs: String = diffs.chain(settlement.preview_import(&context)).collect();
        return Ok(CommandOutput::new(diffs, |diff, page| page.content(diff)));
    }
    let (files, notes) = settlement.import_then(&context, |has_imported| {
        let applied = settlement.apply(&context);
        Ok(applied.map_err(|error| if has_imported { error.after_import() } else { error })?)
    })?;
    let Host { name, title, .. } = host;
    let next_step = format!(
        "Starting with its next session, {title} keeps its memory in memdir's directory; undo with: memdir uninstall {name} (also removes memdir's tools and hooks)"
    );
    let outcome = HostOutcome { next_step: Some(next_step), ..HostOutcome::new(host, args.scope, Ok(files)) };
    Ok(CommandOutput::new(vec![outcome], show_outcomes).with_notes(notes))
}

#[derive(Serialize)]
struct ImportDirOutcome {
    dir: PathBuf,
    memories: usize,
    changed: usize,
    #[serde(skip)]
    note: &'static str,
}

/// Writes the memories of this project and of the user where the host imports them.
fn to_codex(args: &AdoptArgs, settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    let (_, import) = host_with(|host| host.memory_import.as_ref(), "--to-codex")?;
    let machine = machine(settings)?;
    let dir = (import.dir)(&machine);
    if args.dry_run {
        return Ok(CommandOutput::new(ImportDirOutcome { dir, memories: 0, changed: 0, note: import.note }, |imported, page| {
            page.line(format!("would write the memories to {}", imported.dir.display()))
        }));
    }
    // One process writes the directory at a time: what it read must not be older than what another one wrote.
    let _lock = install::lock(&settings.home.value)?;
    let memdir = spaces::open(settings, scope)?.memdir;
    // Memories that the host wrote itself, and that are only mounted here, are not new to it.
    let root = real_path(&(import.root)(&machine));
    let is_theirs = |path: &MemoryPath| mount_of(memdir.store(), path).is_some_and(|mount| mount.root.starts_with(&root));
    let mut memories = Vec::new();
    for listed in memdir.list(&List::default())?.memories.into_iter().filter(|listed| !is_theirs(&listed.path)) {
        if let Some(Ok(text)) = memdir.store().get(&listed.path)?.map(|stored| String::from_utf8(stored.bytes)) {
            memories.push((listed.path.to_string(), memdir_core::internal::secrets::redact(&text).into_owned()));
        }
    }
    let fail = |source| Failure::File { doing: "write to", path: dir.clone(), source };
    let changed = import_dir::write(import, &machine, &scope.id, &memories).map_err(fail)?;
    Ok(CommandOutput::new(ImportDirOutcome { dir, memories: memories.len(), changed, note: import.note }, |imported, page| {
        let (memories, files) =
            (counted(imported.memories as u64, "memory", "memories"), counted(imported.changed as u64, "file", "files"));
        page.line(format!("wrote {memories} to {} ({files} changed)", imported.dir.display()))?;
        page.line(imported.note)
    }))
}

fn show(adoption: &Adoption, page: &mut Printer<'_>) -> io::Result<()> {
    if adoption.found.is_empty() {
        return page.line("no memories from other programs found for this user or project");
    }
    for candidate in &adoption.found {
        let title = page.strong(candidate.memory.title);
        let state = match (candidate.mounted, adoption.adopted) {
            (true, true) if candidate.opened => "now read-write",
            (true, false) if candidate.opened => "mounted read-only; would become read-write",
            (true, _) => "already mounted",
            (false, true) => "mounted",
            (false, false) => "not mounted",
        };
        let files = counted(candidate.memory.memories as u64, "file", "files");
        page.line(format!("{title}: {files} in {}, {state}", candidate.memory.path.display()))?;
        if !candidate.mounted {
            for line in candidate.toml.lines() {
                page.line(format!("  {line}"))?;
            }
        }
    }
    if adoption.adopted {
        let names: Vec<&str> = adoption.found.iter().filter(|one| !one.mounted).map(|candidate| candidate.memory.name).collect();
        if !names.is_empty() {
            page.line(format!("undo with: memdir adopt {} --undo", names.join(" ")))?;
        }
    } else {
        let new = adoption.found.iter().filter(|candidate| !candidate.mounted);
        let names: Vec<&str> = new.map(|candidate| candidate.memory.name).collect();
        if !names.is_empty() {
            let option = if adoption.read_write { " --read-write" } else { "" };
            page.line(format!("next: memdir adopt {}{option} (adds the lines above to {})", names.join(" "), adoption.file.display()))?;
        }
    }
    Ok(())
}
