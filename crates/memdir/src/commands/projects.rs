//! `memdir projects`: lists projects; adopts, merges and renames their memories. Never links projects on its own.

use super::counted;
use crate::{
    args::{ProjectsArgs, ProjectsWhat},
    config::Settings,
    exit::Failure,
    mounts,
    output::{CommandOutput, Printer},
    project_records::{self, ProjectRecord, RecordsLock},
    scope::Scope,
};
use memdir_core::{
    Actor, FileStore, List, Memdir, MemoryPath,
    internal::base::{disk::LockWait, shell::quote_option},
};
use serde::Serialize;
use std::{io, path::PathBuf, sync::Arc};

#[derive(Serialize)]
struct ProjectList {
    projects: Vec<ProjectRow>,
}

#[derive(Serialize)]
struct ProjectRow {
    id: String,
    state: &'static str,
    memories: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remotes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uses: Option<String>,
}

#[derive(Serialize)]
struct Adopted {
    project: String,
    memory: String,
    /// The number of candidates that moved to the inbox of that memory.
    candidates: usize,
}

#[derive(Serialize)]
struct Moved {
    from: String,
    into: String,
    moved: Vec<String>,
    /// Memories whose name was in use, with their new name.
    renamed: Vec<(String, String)>,
    /// The number of candidates that moved to the other inbox.
    candidates: usize,
}

pub(crate) fn run(args: &ProjectsArgs, settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    if args.what.is_some() {
        scope.must_be_on()?;
    }
    match &args.what {
        None => Ok(list(settings, scope).with_notes(scope.off_note())),
        Some(ProjectsWhat::Adopt { id }) => adopt(settings, scope, id.as_deref()),
        Some(ProjectsWhat::Merge { from, into }) => {
            check_exists(settings, into)?;
            merge(settings, from, into)
        }
        Some(ProjectsWhat::Rename { from, to }) => rename(settings, from, to),
    }
}

fn list(settings: &Settings, scope: &Scope) -> CommandOutput {
    let home = &settings.home.value;
    let one = |id: String| {
        let record = project_records::read(home, &id);
        let state = match &record {
            _ if id == scope.id => "here",
            Some(record) if record.root.is_dir() => "there",
            Some(_) => "orphan",
            None => "unknown",
        };
        let record = record.unwrap_or_default();
        let root = Some(record.root).filter(|root| !root.as_os_str().is_empty());
        ProjectRow {
            state,
            memories: project_records::count_memories(&settings.places().project(&id)),
            root,
            remotes: record.remotes,
            uses: record.memory,
            id,
        }
    };
    CommandOutput::new(ProjectList { projects: project_records::ids(home).into_iter().map(one).collect() }, show_list)
}

fn show_list(list: &ProjectList, printer: &mut Printer<'_>) -> io::Result<()> {
    if list.projects.is_empty() {
        return printer.line("no projects yet");
    }
    let mut rows = vec![["project", "state", "memories", "directory"].map(str::to_owned).to_vec()];
    rows.extend(list.projects.iter().map(|one| {
        let root = one.root.as_ref().map_or_else(|| "?".to_owned(), |root| root.display().to_string());
        let uses = one.uses.as_ref().map_or_else(String::new, |uses| format!(" (uses {uses})"));
        let state = if one.state == "there" { "elsewhere" } else { one.state };
        vec![one.id.clone(), state.to_owned(), one.memories.to_string(), format!("{root}{uses}")]
    }));
    printer.table(&rows)?;
    if list.projects.iter().any(|one| one.state == "orphan" && one.memories > 0) {
        printer
            .note("an orphan project's directory no longer exists; use its memory in the current project with: memdir projects adopt ID");
    }
    Ok(())
}

fn check_exists(settings: &Settings, id: &str) -> Result<(), Failure> {
    check_known(settings, id, || "list the projects with: memdir projects".to_owned())
}

/// Returns an error if `--project` was given and the project is neither this one nor has a memory, a record or a mount. `MEMDIR_PROJECT`
/// may name a new project, because it is not typed with every command.
pub(super) fn check_typed(settings: &Settings, scope: &Scope) -> Result<(), Failure> {
    let Some(project) = settings.project.as_ref().filter(|project| project.origin == "--project") else { return Ok(()) };
    let id = project.value.as_str();
    if id == scope.project.id || settings.config.mounts.iter().any(|mount| mount.project.as_deref() == Some(id)) {
        return Ok(());
    }
    check_known(settings, id, || {
        format!("create it with: memdir {} init, or list the projects with: memdir projects", quote_option("--project", id))
    })
}

fn check_known(settings: &Settings, id: &str, otherwise: impl Fn() -> String) -> Result<(), Failure> {
    let ids = project_records::ids(&settings.home.value);
    if ids.iter().any(|other| other == id) {
        return Ok(());
    }
    let near = memdir_core::internal::base::text::near(id, ids.iter().map(String::as_str), 3);
    let near: Vec<String> = near.iter().map(|near| format!("{near:?}")).collect();
    let hint = if near.is_empty() { otherwise() } else { format!("did you mean {}?", near.join(" or ")) };
    Err(Failure::Usage { message: format!("project {id:?} not found"), hint })
}

fn adopt(settings: &Settings, scope: &Scope, id: Option<&str>) -> Result<CommandOutput, Failure> {
    let (home, own) = (&settings.home.value, &scope.project.id);
    let records = lock_records(settings)?;
    if let Some(id) = id {
        check_exists(settings, id)?;
        if let Some(other) = project_records::read(home, id).and_then(|record| record.memory) {
            return Err(Failure::Usage {
                message: format!("project {id:?} uses the memory of project {other:?}"),
                hint: format!("use that memory with: memdir projects adopt {other}"),
            });
        }
    }
    let memory = id.filter(|id| id != own).map(str::to_owned);
    let record = ProjectRecord { memory: memory.clone(), ..ProjectRecord::from_project(&scope.project) };
    records.write(own, &record).map_err(|source| Failure::File { doing: "write", path: settings.places().projects(), source })?;
    // The inbox of an adopted memory is used with it, so what waits in the own one would not be seen again.
    let candidates = memory.as_deref().map_or(Ok(0), |memory| move_inbox(settings, own, memory))?;
    Ok(CommandOutput::new(
        Adopted { project: own.clone(), memory: memory.unwrap_or_else(|| own.clone()), candidates },
        |adopted, printer| {
            let (project, memory) = (printer.strong(&adopted.project), printer.strong(&adopted.memory));
            if adopted.project == adopted.memory {
                printer.line(format!("{project} is set to use its own memory"))
            } else {
                printer.line(format!("{project} is set to use the memory of {memory}"))?;
                show_candidates(adopted.candidates, "memdir inbox", printer)
            }
        },
    ))
}

fn lock_records(settings: &Settings) -> Result<RecordsLock<'_>, Failure> {
    let home = &settings.home.value;
    RecordsLock::acquire(home, LockWait::COMMAND).map_err(|source| Failure::File {
        doing: "lock",
        path: settings.places().projects(),
        source,
    })
}

/// Moves the candidates of one project to the inbox of another one; returns their number.
fn move_inbox(settings: &Settings, from: &str, into: &str) -> Result<usize, Failure> {
    let mounts = [mounts::inbox_mount(settings, from, "from"), mounts::inbox_mount(settings, into, "into")];
    if !mounts[0].root.is_dir() {
        return Ok(0);
    }
    let memdir = Memdir::new(Arc::new(FileStore::open(&mounts)?), Actor { name: settings.actor.value.clone(), session: None });
    Ok(memdir.move_inbox("from", "into")?)
}

fn show_candidates(count: usize, review: &str, printer: &mut Printer<'_>) -> io::Result<()> {
    match count {
        0 => Ok(()),
        count => printer.line(format!("moved {}; review with: {review}", counted(count as u64, "candidate", "candidates"))),
    }
}

/// Moves all memories in one change, which is in the history of both projects and can be undone.
fn merge(settings: &Settings, from: &str, into: &str) -> Result<CommandOutput, Failure> {
    check_exists(settings, from)?;
    if from == into {
        return Err(Failure::Usage { message: format!("cannot merge project {from:?} into itself"), hint: "use two different ids".into() });
    }
    let places = settings.places();
    let mounts = [places.mount("from", places.project(from)), places.mount("into", places.project(into))];
    let vault = FileStore::open(&mounts)?;
    let memdir = Memdir::new(Arc::new(vault), Actor { name: settings.actor.value.clone(), session: None });
    let mut moved = Moved { from: from.into(), into: into.into(), moved: Vec::new(), renamed: Vec::new(), candidates: 0 };
    let mut names: Vec<(MemoryPath, MemoryPath)> = Vec::new();
    for memory in memdir.list(&List { topic: "from".into(), ..List::default() })?.memories {
        let Some(name) = memory.path.strip_prefix("from") else { continue };
        let wanted = name.prefixed("into");
        let in_use = memdir.store().get(&wanted)?.is_some() || names.iter().any(|(_, to)| *to == wanted);
        let to = if in_use { MemoryPath::parse(&format!("{from}/{name}"))?.prefixed("into") } else { wanted };
        let shown = |path: &MemoryPath| path.strip_prefix("into").unwrap_or_else(|| path.clone()).name().to_owned();
        if in_use {
            moved.renamed.push((name.name().to_owned(), shown(&to)));
        } else {
            moved.moved.push(shown(&to));
        }
        names.push((memory.path, to));
    }
    if !names.is_empty() {
        memdir.rename_all(&names)?;
    }
    moved.candidates = move_inbox(settings, from, into)?;
    Ok(CommandOutput::new(moved, |moved, printer| {
        for (name, now) in &moved.renamed {
            printer.line(format!("renamed {name} to {now}, because the name was in use"))?;
        }
        let memories = counted((moved.moved.len() + moved.renamed.len()) as u64, "memory", "memories");
        let memories = printer.strong(&memories);
        printer.line(format!("moved {memories} from {} to {}", moved.from, moved.into))?;
        show_candidates(moved.candidates, &format!("memdir {} inbox", quote_option("--project", &moved.into)), printer)
    }))
}

/// Changes the id of a project's memory. The new id must have no memories.
fn rename(settings: &Settings, from: &str, to: &str) -> Result<CommandOutput, Failure> {
    let records = lock_records(settings)?;
    check_exists(settings, from)?;
    crate::config::check_id("project", to)?;
    if from == to {
        return Err(Failure::Usage { message: format!("the old and new project ids are both {from:?}"), hint: "use another id".into() });
    }
    if project_records::count_memories(&settings.places().project(to)) > 0 {
        return Err(Failure::Usage {
            message: format!("project {to:?} already has memories"),
            hint: format!("merge the projects with: memdir projects merge {from} {to}"),
        });
    }
    let home = &settings.home.value;
    let output = merge(settings, from, to)?;
    let failed = |source| Failure::File { doing: "write", path: settings.places().projects(), source };
    if project_records::read(home, to).is_none()
        && let Some(record) = project_records::read(home, from)
    {
        records.write(to, &ProjectRecord { memory: None, ..record }).map_err(failed)?;
    }
    let mut notes = Vec::new();
    for id in project_records::ids(home) {
        let Some(mut record) = project_records::read(home, &id) else { continue };
        // Projects that use the memory keep it: those that adopted it, and its own directory if it still exists.
        let own = id == from && record.memory.is_none() && record.root.is_dir();
        if own || record.memory.as_deref() == Some(from) {
            notes.push(format!("{} is set to use the memory of {to}", record.root.display()));
            record.memory = Some(to.to_owned());
            records.write(&id, &record).map_err(failed)?;
        } else if id == from {
            records.delete(from).map_err(failed)?;
        }
    }
    Ok(output.with_notes(notes))
}
