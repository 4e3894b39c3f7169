//! What `memdir install` and `memdir adopt` do about the memory that a host keeps on its own: turn it off, make it use memdir's
//! directory, or keep it. Memories that the host no longer reads are imported first, as one change.

use crate::{
    adopt, ask,
    commands::counted,
    config::Settings,
    exit::Failure,
    hosts::{Host, HostConfigFile, HostMemory, InstallScope, Machine, MemoryChoice, MemorySwitch},
    install::{self, FileOutcome, InstallError, InstallKey, InstallRequest, Receipts},
    project_records,
    scope::{Scope, switched_off},
    spaces,
};
use memdir_core::{
    Clock as _, Import, ImportOutcome, Incoming, Memdir, Project, SystemClock,
    internal::{base::shell::quote_posix, project},
};
use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The memory and the machine for which a host's own memory is settled.
#[derive(Clone, Copy)]
pub(in crate::commands) struct SettlementContext<'a> {
    pub(in crate::commands) settings: &'a Settings,
    pub(in crate::commands) space: &'a Scope,
    pub(in crate::commands) machine: &'a Machine,
}

impl<'a> SettlementContext<'a> {
    fn request(&self, host: &'a Host, scope: InstallScope, choice: Option<MemoryChoice>) -> InstallRequest<'a> {
        InstallRequest { host, scope, team: false, machine: self.machine, home: &self.settings.home.value, now: SystemClock.now(), choice }
    }

    /// The memory that the host keeps in a directory of its own, if it has one with memories in it.
    fn memory(&self, host: &Host) -> Option<HostMemory> {
        let memory = host.memory?(self.machine)?;
        let is_separate = memory.path.is_dir() && self.space.mount_at(&memory.path).is_none();
        is_separate.then_some(memory)
    }
}

/// How a host's own memory is settled.
pub(in crate::commands) struct OwnMemorySettlement {
    pub(in crate::commands) host: &'static Host,
    switch: &'static MemorySwitch,
    pub(in crate::commands) choice: MemoryChoice,
    /// The scope of the settings that are changed.
    pub(in crate::commands) scope: InstallScope,
    pub(in crate::commands) files: Vec<HostConfigFile>,
    /// The directory that is shared.
    dir: Option<PathBuf>,
}

impl OwnMemorySettlement {
    /// Plans a choice about a host's own memory; `None` if the host has no setting for it. Sharing changes the settings of `scope`.
    pub(in crate::commands) fn new(
        host: &'static Host,
        choice: MemoryChoice,
        scope: InstallScope,
        context: &SettlementContext<'_>,
    ) -> Result<Option<OwnMemorySettlement>, Failure> {
        let Some(switch) = &host.memory_switch else { return Ok(None) };
        let off_by = (switch.state)(context.machine).off_by;
        let is_off_by_default = off_by.as_deref() == Some(crate::hosts::OFF_BY_DEFAULT);
        let turned_on = off_by.is_some().then(|| (switch.set)(context.machine, scope, true));
        let (files, dir) = match choice {
            // What is off by default stays as it is.
            MemoryChoice::Replace | MemoryChoice::Both if is_off_by_default => (Vec::new(), None),
            MemoryChoice::Replace => (vec![(switch.set)(context.machine, scope, false)], None),
            MemoryChoice::Both => (turned_on.into_iter().collect(), None),
            MemoryChoice::Share => {
                let redirect = switch.redirect.ok_or_else(|| cannot_share(host, switch))?;
                let dir = shared_dir(scope, context)?;
                let redirected = redirect(context.machine, scope, &dir.display().to_string());
                (std::iter::once(redirected).chain(turned_on).collect(), Some(dir))
            }
        };
        Ok(Some(OwnMemorySettlement { host, switch, choice, scope, files, dir }))
    }

    /// Whether the host stops reading its own memories.
    fn stops_reading(&self) -> bool {
        self.choice != MemoryChoice::Both && self.switch.covers_files && !self.files.is_empty()
    }

    /// The host's memories that are imported: those it no longer reads, and that are not memdir's own.
    fn import(&self, context: &SettlementContext<'_>) -> Option<(HostMemory, Import)> {
        let memory = context.memory(self.host).filter(|_| self.stops_reading())?;
        let import = import_of(&memory, self.dir.is_some() && self.scope == InstallScope::User, context);
        (!import.memories.is_empty()).then_some((memory, import))
    }

    /// What an import would do, for a preview.
    pub(in crate::commands) fn preview_import(&self, context: &SettlementContext<'_>) -> Option<String> {
        let (memory, import) = self.import(context)?;
        let memories = counted(import.memories.len() as u64, "memory", "memories");
        Some(format!("would import {memories} from {}\n", memory.path.display()))
    }

    /// Imports the memories that the host is about to stop reading, as one change in each project, then does what follows: `then` gets
    /// whether anything was imported. Returns its outcome and the notes about the import, which a failure contains as well. Nothing is
    /// changed in the host's files before the import has succeeded.
    pub(in crate::commands) fn import_then<T>(
        &self,
        context: &SettlementContext<'_>,
        then: impl FnOnce(bool) -> Result<T, Failure>,
    ) -> Result<(T, Vec<String>), Failure> {
        let mut imported = Vec::new();
        let unread = match self.import_memories(context, &mut imported) {
            Ok(unread) => unread,
            Err(cause) => return Err(Failure::after_import(cause, imported)),
        };
        match then(!imported.is_empty()) {
            Ok(outcome) => Ok((outcome, [imported, unread].concat())),
            Err(cause) => Err(Failure::after_import(cause, imported)),
        }
    }

    /// Adds the notes about what was imported, and returns those about what was not.
    fn import_memories(&self, context: &SettlementContext<'_>, imported: &mut Vec<String>) -> Result<Vec<String>, Failure> {
        let import = self.import(context);
        if import.is_some() || self.dir.is_some() {
            // Opening the space creates the directory that is shared.
            let memdir = spaces::open(context.settings, context.space)?.memdir;
            if let Some(dir) = self.dir.as_ref().filter(|dir| !dir.is_dir()) {
                std::fs::create_dir_all(dir).map_err(|source| Failure::File { doing: "create", path: dir.clone(), source })?;
            }
            if let Some((memory, import)) = import {
                imported.extend(import_into(&memdir, &memory.path, &import, "")?);
            }
        }
        let mut unread = Vec::new();
        for (dir, memories) in self.other_dirs(context) {
            match self.project_of(&dir, context) {
                Some(project) => imported.extend(import_elsewhere(&dir, &project, context)?),
                None => unread.push(self.unread_note(&dir, memories)),
            }
        }
        Ok(unread)
    }

    /// The directories of memories of other projects that the host stops reading, with the number of their files.
    fn other_dirs(&self, context: &SettlementContext<'_>) -> Vec<(PathBuf, usize)> {
        if !self.stops_reading() {
            return Vec::new();
        }
        let own = self.host.memory.and_then(|memory| memory(context.machine)).map(|memory| memory.path);
        let dirs = (self.switch.dirs)(context.machine, self.scope).into_iter();
        let others = dirs.filter(|dir| Some(dir) != own.as_ref() && context.space.mount_at(dir).is_none());
        others.map(|dir| (adopt::count_files(&dir), dir)).filter(|(files, _)| *files > 0).map(|(files, dir)| (dir, files)).collect()
    }

    /// The project into which a directory is imported. A memory that was selected for all projects, and one that is off, take none.
    fn project_of(&self, dir: &Path, context: &SettlementContext<'_>) -> Option<Project> {
        let settings = context.settings;
        if self.choice != MemoryChoice::Replace || settings.dir.is_some() || settings.project.is_some() || !settings.only.is_empty() {
            return None;
        }
        let root = (self.switch.project_of)(context.machine, dir)?;
        let project = project::find(&root, settings.config.worktrees).ok()?;
        switched_off(settings, [project.id.as_str()]).is_none().then_some(project)
    }

    /// The note about memories that the host no longer reads and that are not imported.
    fn unread_note(&self, dir: &Path, memories: usize) -> String {
        let is_shared = self.dir.is_some() && self.scope == InstallScope::User;
        let (there, under) = if is_shared { ("", " --under user") } else { (" in the project that should have the memories", "") };
        let (memories, dir) = (counted(memories as u64, "memory", "memories"), dir.display().to_string());
        let title = self.host.title;
        format!(
            "{title} no longer reads {memories} in {dir}; to import the directory, run{there}: memdir import {}{under}",
            quote_posix(&dir)
        )
    }

    /// Applies the settings, apart from an installation of tools and hooks.
    pub(in crate::commands) fn apply(&self, context: &SettlementContext<'_>) -> Result<Vec<FileOutcome>, InstallError> {
        install::apply(&context.request(self.host, self.scope, Some(self.choice)), &self.files)
    }

    /// Reverts the settings of this project if they were made by a choice for this project alone: a choice for all projects
    /// replaces it.
    pub(in crate::commands) fn supersede(&self, context: &SettlementContext<'_>) -> Result<Vec<FileOutcome>, InstallError> {
        let request = context.request(self.host, InstallScope::Project, None);
        let receipts = Receipts::load(request.home)?;
        let is_superseded = self.scope == InstallScope::User
            && self.choice != MemoryChoice::Share
            && receipts.get(&request.key()).is_some_and(|receipt| receipt.has_only_settings());
        if is_superseded { install::revert(&request) } else { Ok(Vec::new()) }
    }
}

/// The import of a host's memory. A memory in another format than memdir's gets a folder of its own.
fn import_of(memory: &HostMemory, for_user: bool, context: &SettlementContext<'_>) -> Import {
    let under = match (for_user || !memory.of_project, memory.mount_options.is_empty()) {
        (true, true) => "user".to_owned(),
        (false, true) => String::new(),
        (true, false) => format!("user/{}", memory.name),
        (false, false) => memory.name.to_owned(),
    };
    let memories: Vec<Incoming> = adopt::read(memory, context.machine);
    Import { memories, under, ..Import::default() }
}

/// The memories in a directory of the host's own that memdir does not have: their number, and the directory.
pub(in crate::commands) fn missing_memories(host: &Host, context: &SettlementContext<'_>) -> Option<(usize, HostMemory)> {
    let memory = context.memory(host)?;
    let memdir = spaces::open_lazy(context.settings, context.space).ok()?.memdir;
    let preview = memdir.preview_import(&import_of(&memory, false, context)).ok()?;
    let is_missing = |outcome: &ImportOutcome| !matches!(outcome, ImportOutcome::Duplicate { .. });
    let missing = preview.memories.iter().filter(|one| is_missing(&one.outcome)).count();
    (missing > 0).then_some((missing, memory))
}

/// Imports memories as one change and returns notes. `place` is where to undo it, if not here.
fn import_into(memdir: &Memdir, from: &Path, import: &Import, place: &str) -> Result<Vec<String>, Failure> {
    let imported = memdir.import(import)?;
    let from = from.display();
    let skipped = imported.memories.iter().filter_map(|one| match &one.outcome {
        ImportOutcome::Skipped { why } => Some(format!("not imported: {from}/{}: {why}", one.from)),
        _ => None,
    });
    let is_new = |outcome: &ImportOutcome| matches!(outcome, ImportOutcome::Added { .. } | ImportOutcome::Replaced { .. });
    let count = imported.memories.iter().filter(|one| is_new(&one.outcome)).count();
    let summary = imported
        .change
        .as_ref()
        .map(|change| format!("imported {} from {from} (undo{place}: memdir undo {change})", counted(count as u64, "memory", "memories")));
    Ok(summary.into_iter().chain(skipped).chain(imported.notes).collect())
}

/// Imports a directory into the memory of another project.
fn import_elsewhere(dir: &Path, project: &Project, context: &SettlementContext<'_>) -> Result<Vec<String>, Failure> {
    let (settings, places) = (context.settings, context.settings.places());
    project_records::note(&settings.home.value, project);
    let id = project_records::read(&settings.home.value, &project.id).and_then(|record| record.memory).unwrap_or(project.id.clone());
    let memdir = spaces::open_mounts(settings, &[places.mount("", places.project(&id))], &settings.actor.value)?;
    let memory = HostMemory::for_project("", "", dir.to_owned(), serde_json::Value::Null);
    import_into(&memdir, dir, &import_of(&memory, false, context), &format!(" in {}", project.root.display()))
}

fn cannot_share(host: &Host, switch: &MemorySwitch) -> Failure {
    Failure::Usage {
        message: format!("{} cannot use memdir's directory for its {}", host.title, switch.name),
        hint: "use `--auto-memory replace` or `--auto-memory both`; no file was changed".into(),
    }
}

/// memdir's directory of the user, or of this project.
fn shared_dir(scope: InstallScope, context: &SettlementContext<'_>) -> Result<PathBuf, Failure> {
    let prefix = if scope == InstallScope::User { "user" } else { "" };
    let mount = context.space.mounts.iter().find(|scoped| scoped.mount.prefix == prefix);
    let none = || Failure::Usage {
        message: "the selected memory has no directory that a host can share".into(),
        hint: "omit --only; no file was changed".into(),
    };
    match mount {
        Some(scoped) => Ok(scoped.mount.root.clone()),
        None if scope == InstallScope::User => Ok(context.settings.places().user()),
        None => Err(none()),
    }
}

/// Whether the host's own memory is on beside memdir's although nothing was decided about it.
pub(in crate::commands) fn is_undecided(host: &Host, receipts: &Receipts, machine: &Machine, space: &Scope) -> bool {
    let Some(switch) = &host.memory_switch else { return false };
    let state = (switch.state)(machine);
    let is_shared = state.dir.is_some_and(|dir| space.mount_at(&dir).is_some());
    state.off_by.is_none() && !is_shared && !is_kept_on_purpose(host, receipts, machine)
}

/// Whether the user decided to keep the host's own memory beside memdir's.
pub(in crate::commands) fn is_kept_on_purpose(host: &Host, receipts: &Receipts, machine: &Machine) -> bool {
    let key = |scope, project| InstallKey { host: host.name.to_owned(), scope, project, team: false };
    let keys = [key(InstallScope::Project, Some(machine.project.clone())), key(InstallScope::User, None)];
    keys.iter().filter_map(|key| receipts.get(key)).any(|receipt| receipt.memory == Some(MemoryChoice::Both))
}

/// The note that nothing was decided. `command` is the one that installs, with its options.
pub(in crate::commands) fn undecided_note(host: &Host, command: &str) -> Option<String> {
    let switch = host.memory_switch.as_ref()?;
    let (is, it) = if switch.name.ends_with('s') { ("are", "them") } else { ("is", "it") };
    Some(format!("{}'s built-in {} {is} still on; choose what to do with {it}: {}", host.title, switch.name, decide(switch, command)))
}

/// The command that decides: the one that installs, with the choices.
pub(in crate::commands) fn decide(switch: &MemorySwitch, command: &str) -> String {
    let choices = if switch.redirect.is_some() { "replace|share|both" } else { "replace|both" };
    format!("{command} --auto-memory {choices}")
}

/// The options that select the memory, to repeat them in a command; empty if the command line has none.
pub(in crate::commands) fn selecting_options(settings: &Settings, machine: &Machine) -> String {
    let is_typed = !settings.typed_options().is_empty() || !settings.only.is_empty();
    if is_typed { with_blanks(&machine.global_args) } else { String::new() }
}

/// The arguments before a command, each followed by a blank.
pub(in crate::commands) fn with_blanks(global_args: &[String]) -> String {
    global_args.iter().map(|arg| format!("{} ", quote_posix(arg))).collect()
}

/// The command that installs in a host again, and keeps what is installed: its scope, and whether it has hooks. `options` select the
/// memory, each followed by a blank.
pub(in crate::commands) fn install_command(host: &Host, scope: InstallScope, has_hooks: bool, options: &str) -> String {
    let scope = if scope == InstallScope::Project { " --scope project" } else { "" };
    let hooks = if has_hooks || host.hooks.is_empty() { "" } else { " --no-hooks" };
    format!("memdir {options}install {}{scope}{hooks}", host.name)
}

/// Asks what to do about a host's own memory. `None` if the input is at its end.
pub(in crate::commands) fn ask(host: &Host, switch: &MemorySwitch, scope: InstallScope) -> Result<Option<MemoryChoice>, Failure> {
    let failed = |source: io::Error| Failure::Output { source };
    let can_share = switch.redirect.is_some();
    let recommended = if can_share && scope == InstallScope::Project { MemoryChoice::Share } else { MemoryChoice::Replace };
    let mark = |choice| if choice == recommended { " (recommended)" } else { "" };
    let mut lines = format!("{} has a built-in memory ({}):\n", host.title, switch.name);
    lines.push_str(&format!("  replace  turn it off; memdir is the only memory{}\n", mark(MemoryChoice::Replace)));
    if can_share {
        lines.push_str(&format!("  share    make it use memdir's directory, in this project{}\n", mark(MemoryChoice::Share)));
    }
    lines.push_str("  both     keep it; the agent is asked to save to memdir\n");
    let default = if recommended == MemoryChoice::Share { "share" } else { "replace" };
    write!(anstream::stderr(), "{lines}[Enter: {default}] ").map_err(failed)?;
    let line = ask::read_answer().map_err(failed)?;
    match line.trim().to_ascii_lowercase().as_str() {
        "" if line.ends_with('\n') => Ok(Some(recommended)),
        "" => Ok(None),
        "r" | "replace" => Ok(Some(MemoryChoice::Replace)),
        "s" | "share" if can_share => Ok(Some(MemoryChoice::Share)),
        "b" | "both" => Ok(Some(MemoryChoice::Both)),
        other => Err(Failure::Usage {
            message: format!("unknown answer {other:?}"),
            hint: format!(
                "run the command again and answer {}; no file was changed",
                if can_share { "`replace`, `share` or `both`" } else { "`replace` or `both`" }
            ),
        }),
    }
}
