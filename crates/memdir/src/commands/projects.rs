//! `memdir projects`: the projects that have a memory, and ways to bring orphans home. Nothing is linked by itself.

use crate::{
    args::{Projects as Typed, ProjectsWhat},
    config::Settings,
    exit::Failure,
    known::{self, Known},
    output::{Answer, Page},
    scope::Scope,
};
use memdir_core::{
    base::path::MemoryPath,
    memdir::Memdir,
    operations::list::List,
    store::{Actor, files::Vault},
};
use serde::Serialize;
use std::{io, path::PathBuf, sync::Arc};

#[derive(Serialize)]
struct Listed {
    projects: Vec<One>,
}

#[derive(Serialize)]
struct One {
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
}

#[derive(Serialize)]
struct Moved {
    from: String,
    into: String,
    moved: Vec<String>,
    /// Memories whose name was taken, and the name they have now.
    renamed: Vec<(String, String)>,
}

pub(crate) fn run(args: &Typed, settings: &Settings, scope: &Scope) -> Result<Answer, Failure> {
    if args.what.is_some() {
        scope.must_be_on()?;
    }
    match &args.what {
        None => Ok(list(settings, scope).with_notes(scope.off_note())),
        Some(ProjectsWhat::Adopt { id }) => adopt(settings, scope, id.as_deref()),
        Some(ProjectsWhat::Merge { from, into }) => {
            exists(settings, into)?;
            merge(settings, from, into)
        }
        Some(ProjectsWhat::Rename { from, to }) => rename(settings, from, to),
    }
}

fn list(settings: &Settings, scope: &Scope) -> Answer {
    let home = &settings.home.value;
    let one = |id: String| {
        let known = known::read(home, &id);
        let state = match &known {
            _ if id == scope.id => "here",
            Some(known) if known.root.is_dir() => "there",
            Some(_) => "orphan",
            None => "unknown",
        };
        let known = known.unwrap_or_default();
        let root = Some(known.root).filter(|root| !root.as_os_str().is_empty());
        One { state, memories: count(&settings.places().project(&id)), root, remotes: known.remotes, uses: known.memory, id }
    };
    Answer::new(Listed { projects: known::ids(home).into_iter().map(one).collect() }, show_list)
}

/// Memories of a project, without opening it.
fn count(dir: &std::path::Path) -> usize {
    let mut dirs = vec![dir.to_owned()];
    let mut found = 0;
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let kind = entry.file_type();
            if kind.as_ref().is_ok_and(std::fs::FileType::is_dir) {
                dirs.push(entry.path());
            } else if kind.is_ok_and(|kind| kind.is_file()) && entry.file_name() != memdir_core::store::mounts::ENTRYPOINT_FILE {
                found += 1;
            }
        }
    }
    found
}

fn show_list(listed: &Listed, page: &mut Page<'_>) -> io::Result<()> {
    if listed.projects.is_empty() {
        return page.line("No project has a memory yet");
    }
    let mut rows = vec![["project", "state", "memories", "directory"].map(str::to_owned).to_vec()];
    rows.extend(listed.projects.iter().map(|one| {
        let root = one.root.as_ref().map_or_else(|| "?".to_owned(), |root| root.display().to_string());
        let uses = one.uses.as_ref().map_or_else(String::new, |uses| format!(" (uses {uses})"));
        vec![one.id.clone(), one.state.to_owned(), one.memories.to_string(), format!("{root}{uses}")]
    }));
    page.table(&rows)?;
    if listed.projects.iter().any(|one| one.state == "orphan" && one.memories > 0) {
        page.note("an orphan's directory is gone: memdir projects adopt ID uses its memory here, merge moves it");
    }
    Ok(())
}

fn exists(settings: &Settings, id: &str) -> Result<(), Failure> {
    let ids = known::ids(&settings.home.value);
    if ids.iter().any(|known| known == id) {
        return Ok(());
    }
    let near = memdir_core::base::text::near(id, ids.iter().map(String::as_str), 3);
    let hint = if near.is_empty() { "memdir projects lists them.".to_owned() } else { format!("Did you mean {}?", near.join(", ")) };
    Err(Failure::Usage { message: format!("there is no project {id:?}"), hint })
}

fn adopt(settings: &Settings, scope: &Scope, id: Option<&str>) -> Result<Answer, Failure> {
    let (home, own) = (&settings.home.value, &scope.project.id);
    if let Some(id) = id {
        exists(settings, id)?;
        if let Some(further) = known::read(home, id).and_then(|known| known.memory) {
            return Err(Failure::Usage {
                message: format!("{id} itself uses the memory of {further}"),
                hint: format!("memdir projects adopt {further}"),
            });
        }
    }
    let memory = id.filter(|id| id != own).map(str::to_owned);
    let known = Known { memory: memory.clone(), ..Known::of(&scope.project) };
    known::write(home, own, &known).map_err(|source| Failure::File { doing: "write", path: home.join("projects"), source })?;
    Ok(Answer::new(Adopted { project: own.clone(), memory: memory.unwrap_or_else(|| own.clone()) }, |adopted, page| {
        let (project, memory) = (page.strong(&adopted.project), page.strong(&adopted.memory));
        if adopted.project == adopted.memory {
            page.line(format!("{project} uses its own memory"))
        } else {
            page.line(format!("{project} uses the memory of {memory}"))
        }
    }))
}

/// Moves every memory by the library's own rename, so that each move is in the history and can be taken back.
fn merge(settings: &Settings, from: &str, into: &str) -> Result<Answer, Failure> {
    exists(settings, from)?;
    if from == into {
        return Err(Failure::Usage { message: "both are the same project".into(), hint: "Name two.".into() });
    }
    let places = settings.places();
    let mounts = [places.mount("from", places.project(from)), places.mount("into", places.project(into))];
    let vault = Vault::open(&mounts)?;
    let memdir = Memdir::new(Arc::new(vault), Actor { name: settings.actor.value.clone(), session: None });
    let mut moved = Moved { from: from.into(), into: into.into(), moved: Vec::new(), renamed: Vec::new() };
    for memory in memdir.list(&List { topic: "from".into(), ..List::default() })?.memories {
        let Some(name) = memory.path.strip_prefix("from") else { continue };
        let wanted = name.prefixed("into");
        let taken = memdir.store().get(&wanted)?.is_some();
        let to = if taken { MemoryPath::parse(&format!("{from}/{name}"))?.prefixed("into") } else { wanted };
        memdir.rename(&memory.path, &to)?;
        let shown = |path: &MemoryPath| path.strip_prefix("into").unwrap_or_else(|| path.clone()).name().to_owned();
        if taken { moved.renamed.push((name.name().to_owned(), shown(&to))) } else { moved.moved.push(shown(&to)) }
    }
    Ok(Answer::new(moved, |moved, page| {
        for (name, now) in &moved.renamed {
            page.line(format!("{name} was there already; the moved one is {now}"))?;
        }
        let count = page.strong(&format!("{}", moved.moved.len() + moved.renamed.len()));
        page.line(format!("Moved {count} memories from {} into {}", moved.from, moved.into))
    }))
}

/// A project's memory under another id, which must be free or without memories.
fn rename(settings: &Settings, from: &str, to: &str) -> Result<Answer, Failure> {
    exists(settings, from)?;
    crate::config::one_part("project", to)?;
    if count(&settings.places().project(to)) > 0 {
        return Err(Failure::Usage {
            message: format!("{to} has memories of its own"),
            hint: format!("memdir projects merge {from} {to}"),
        });
    }
    let home = &settings.home.value;
    let answer = merge(settings, from, to)?;
    let failed = |source| Failure::File { doing: "write", path: home.join("projects"), source };
    if known::read(home, to).is_none()
        && let Some(known) = known::read(home, from)
    {
        known::write(home, to, &Known { memory: None, ..known }).map_err(failed)?;
    }
    let mut notes = Vec::new();
    for id in known::ids(home) {
        let Some(mut known) = known::read(home, &id) else { continue };
        // Whoever uses the memory goes on using it: others that adopted it, and its own directory where that is still there.
        let own = id == from && known.memory.is_none() && known.root.is_dir();
        if own || known.memory.as_deref() == Some(from) {
            notes.push(format!("{} uses the memory of {to} now", known.root.display()));
            known.memory = Some(to.to_owned());
            known::write(home, &id, &known).map_err(failed)?;
        } else if id == from {
            known::forget(home, from).map_err(failed)?;
        }
    }
    Ok(answer.with_notes(notes))
}
