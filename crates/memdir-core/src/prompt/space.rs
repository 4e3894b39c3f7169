//! The prompt of a space: reads the entrypoints, chooses the mode, and tells what a load of it costs.

use super::{AgentScope, Entrypoint, Mode, Open, Part, Place, PromptInput, Search, Tools, build};
use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        text,
    },
    entrypoint,
    operations::{context::Context, read},
    store::{
        Access, Entrypoint as Kept, MountInfo, Source, Store,
        mounts::{self, ENTRYPOINT_FILE},
    },
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Which prompt is wanted.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The mode; without one the log if `log` is set, else the team's if there is one, else the individual.
    pub mode: Option<ModeName>,
    /// Whether memories are first written as a log.
    pub log: bool,
    /// The agent whose memory is mounted as `agent/NAME`, for its mode.
    pub agent: Option<(&'a str, AgentScope)>,
    /// Whether the model is on another machine, where it has tools and nothing else, and shares the project with other callers.
    pub remote: bool,
    /// Whether the folder `team/` of the unprefixed mount is the team's: in a directory that is the whole memory.
    pub team_folder: bool,
    /// The heading.
    pub title: &'a str,
    /// What becomes of the entrypoint.
    pub entrypoint: Entrypoint,
    /// The names of memdir's tools, where the model has them.
    pub tools: Option<Tools<'a>>,
    /// What the model searches with.
    pub search: Search<'a>,
    /// The directory of the host's transcripts.
    pub transcripts: Option<&'a str>,
    /// What a person wants said besides.
    pub guidelines: &'a [&'a str],
}

impl Default for Request<'_> {
    fn default() -> Self {
        Request {
            mode: None,
            log: false,
            agent: None,
            remote: false,
            team_folder: false,
            title: "Memory",
            entrypoint: Entrypoint::Shown,
            tools: None,
            search: Search::Memdir,
            transcripts: None,
            guidelines: &[],
        }
    }
}

/// A mode by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModeName {
    /// One person's memory.
    Individual,
    /// Private and team memory together.
    Team,
    /// A log of each day.
    Log,
    /// An agent's own memory.
    Agent,
}

/// A prompt, and what loading it costs.
#[derive(Debug, Clone, Serialize)]
pub struct Made {
    /// The memory section.
    pub text: String,
    /// What is counted.
    pub load: Load,
}

/// What is counted of a load. Numbers only: it never leaves the machine, and holds nothing of the memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// When.
    pub at: jiff::Timestamp,
    /// In which mode.
    pub mode: String,
    /// Bytes of the prompt.
    pub bytes: u64,
    /// Lines of the prompt.
    pub lines: u64,
    /// An entrypoint was cut by its lines.
    pub cut_by_lines: bool,
    /// An entrypoint was cut by its bytes.
    pub cut_by_bytes: bool,
    /// Files of the mounts it speaks of.
    pub files: u64,
    /// Their folders.
    pub folders: u64,
}

/// Makes the prompt of a space.
pub fn of(store: &dyn Store, context: &Context, request: &Request<'_>) -> Result<Made> {
    let team = team(store, context, request);
    let mode = match request.mode {
        Some(mode) => mode,
        // Where the log's own file is not open, nobody is told to write it.
        None if request.log && log_is_open(store, context) => ModeName::Log,
        None if team.is_some() => ModeName::Team,
        None => ModeName::Individual,
    };
    let prefix = match (mode, request.agent) {
        (ModeName::Agent, Some((name, _))) => format!("agent/{}", name.replace(':', "-")),
        (ModeName::Agent, None) => return Err(Error::bad_input("mode", "the agent's mode needs an agent")),
        (ModeName::Log, _) => log_prefix(store, context).to_owned(),
        _ => main_prefix(store).to_owned(),
    };
    if mode == ModeName::Team && team.is_none() && mount(store, "team").is_none() {
        return Err(Error::bad_input("mode", "there is no team memory here; memdir init --team makes one"));
    }
    if mode == ModeName::Log && !log_is_open(store, context) {
        return Err(Error::bad_input("mode", "the log of this space is not open for writing"));
    }
    let narrowed = || parts(store).any(|mount| !mount.part.is_empty());
    let by_parts = matches!(mode, ModeName::Individual | ModeName::Team) && (request.remote || mount(store, "").is_none() || narrowed());
    let mounts: Vec<&MountInfo> = if by_parts || (mode == ModeName::Log && request.remote) {
        parts(store).collect()
    } else {
        mount(store, &prefix).into_iter().collect()
    };
    let mut loaded = Vec::new();
    for mount in mounts {
        loaded.push(Loaded { open: open(store, mount, request.remote)?, ..Loaded::of_mount(store, context, mount) });
    }
    let team = team.filter(|_| mode == ModeName::Team && !by_parts || mode == ModeName::Log && !request.remote && prefix != "team");
    let Some(main) = loaded.iter().find(|one| one.prefix == prefix).or(loaded.first()) else {
        return Err(Error::bad_input("mode", "nothing can be written in this space, so there is nothing to tell of it"));
    };
    let parts: Vec<Part<'_>> = loaded.iter().chain(&team).map(Loaded::part).collect();
    let mode = match (mode, &team, request.agent) {
        _ if by_parts => Mode::Space(&parts),
        (ModeName::Team, Some(team), _) => Mode::Team(team.place()),
        (ModeName::Log, ..) => Mode::Log,
        (ModeName::Agent, _, Some((name, scope))) => Mode::Agent { name, scope },
        _ => Mode::Individual,
    };
    let loaded: Vec<&Loaded> = loaded.iter().chain(&team).collect();
    // Where nothing keeps an entrypoint, nobody is told to add a line to it.
    let entrypoint = if loaded.iter().any(|one| one.kept) { request.entrypoint } else { Entrypoint::Unused };
    let input = PromptInput {
        enabled: true,
        mode,
        title: request.title,
        memory: main.place(),
        prefix: &main.prefix,
        beside: if mode == Mode::Log { &parts } else { &[] },
        remote: request.remote,
        file: &main.file,
        entrypoint,
        tools: request.tools,
        search: request.search,
        transcripts: request.transcripts,
        guidelines: request.guidelines,
    };
    let text = build(&input).unwrap_or_default();
    let load = count(store, context, mode.name(), &text, &loaded, entrypoint)?;
    Ok(Made { text, load })
}

/// What the names of the memory begin with that is meant where none is named: the project's if there is one, else the person's,
/// else the first that can be written.
pub fn main_prefix(store: &dyn Store) -> &str {
    let named = ["", "user"].into_iter().find_map(|prefix| mount(store, prefix));
    named.or_else(|| parts(store).next()).map_or("", |mount| mount.prefix.as_str())
}

/// Where the log of this space is.
pub fn log_prefix<'a>(store: &'a dyn Store, context: &'a Context) -> &'a str {
    context.log.as_deref().filter(|prefix| mount(store, prefix).is_some()).unwrap_or_else(|| main_prefix(store))
}

/// Whether the log of this space can be written.
pub fn log_is_open(store: &dyn Store, context: &Context) -> bool {
    let name = crate::operations::log::path(context.clock.now(), &context.clock.zone());
    MemoryPath::parse(&name).is_ok_and(|path| store.check_writable(&path.prefixed(log_prefix(store, context))).is_ok())
}

/// What is open of a mount that is narrowed: folders and memories that are there. A caller elsewhere, to whom no directory is
/// named, may begin one.
fn open(store: &dyn Store, mount: &MountInfo, remote: bool) -> Result<Vec<Open>> {
    let mut all = Vec::new();
    for part in &mount.part {
        let name = MemoryPath::parse(part)?.prefixed(&mount.prefix);
        let dir = mount.root.join(part);
        // A link would lead elsewhere.
        let is_folder = dir.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let memory = store.get(&name)?;
        if !is_folder && memory.is_none() && !remote {
            return Err(nothing_there(store, &name));
        }
        if is_folder || memory.is_none() {
            all.push(Open { name: format!("{}/", name.name()), path: dir.display().to_string() });
        }
        if let Some(memory) = memory {
            let file = memory.path.strip_prefix(&mount.prefix).unwrap_or(memory.path);
            all.push(Open { name: name.name().to_owned(), path: mount.root.join(file.as_str()).display().to_string() });
        }
    }
    Ok(all)
}

/// Why there is nothing to tell of a name the space was narrowed to.
fn nothing_there(store: &dyn Store, name: &MemoryPath) -> Error {
    let inside = MemoryPath::parse(&format!("{}/x", name.name())).map(|inside| store.check_writable(&inside));
    match inside {
        Ok(Err(Error::ReadOnly { why, .. })) => Error::bad_input("only", format!("{}: {why}", name.name())),
        _ => Error::bad_input(
            "only",
            format!("there is no memory and no folder named {} yet, so there is nothing to tell of it", name.name()),
        ),
    }
}

/// The memories of a space that can be written, which are those a model is told of.
fn parts(store: &dyn Store) -> impl Iterator<Item = &MountInfo> {
    store.mounts().iter().filter(|mount| !mount.apart && mount.access == Access::ReadWrite && mount.source == Source::Memory)
}

/// One memory a prompt speaks of.
struct Loaded {
    prefix: String,
    dir: String,
    file: String,
    text: Option<String>,
    kept: bool,
    cut_by_lines: bool,
    cut_by_bytes: bool,
    open: Vec<Open>,
}

impl Loaded {
    /// An entrypoint that is absent, blank or unreadable is no reason to leave the instructions out.
    fn of_mount(store: &dyn Store, context: &Context, mount: &MountInfo) -> Loaded {
        let reading = read::entrypoint(store, context, &mount.prefix).ok();
        let file = reading.as_ref().and_then(|reading| reading.path.as_ref()).map_or(ENTRYPOINT_FILE, |path| path.file_name()).to_owned();
        Loaded {
            prefix: mount.prefix.clone(),
            dir: mount.root.display().to_string(),
            file,
            kept: mount.entrypoint == Kept::Kept || reading.as_ref().is_some_and(|reading| reading.path.is_some()),
            cut_by_lines: reading.as_ref().is_some_and(|reading| reading.cut_by_lines),
            cut_by_bytes: reading.as_ref().is_some_and(|reading| reading.cut_by_bytes),
            text: reading.map(|reading| match reading.warning {
                Some(warning) => format!("{}\n\n{warning}", reading.content),
                None => reading.content,
            }),
            open: Vec::new(),
        }
    }

    fn place(&self) -> Place<'_> {
        Place { dir: &self.dir, entrypoint: self.text.as_deref() }
    }

    fn part(&self) -> Part<'_> {
        Part { prefix: &self.prefix, place: self.place(), kept: self.kept, open: &self.open }
    }
}

fn mount<'a>(store: &'a dyn Store, prefix: &str) -> Option<&'a MountInfo> {
    store.mounts().iter().find(|mount| mount.prefix == prefix)
}

/// The team's memory. There is none without the project's own.
fn team(store: &dyn Store, context: &Context, request: &Request<'_>) -> Option<Loaded> {
    let own = mount(store, "")?;
    if let Some(team) = mount(store, "team") {
        return Some(Loaded::of_mount(store, context, team));
    }
    let dir = own.root.join("team");
    // A link would lead elsewhere.
    if !request.team_folder || !dir.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return None;
    }
    let stored = MemoryPath::parse(&format!("team/{}", ENTRYPOINT_FILE)).ok().and_then(|path| store.get(&path).ok()).flatten();
    let decoded = stored.map(|stored| text::decode(&stored.bytes).0.into_owned()).unwrap_or_default();
    let loaded = entrypoint::load(&decoded);
    Some(Loaded {
        prefix: "team".into(),
        dir: dir.display().to_string(),
        file: ENTRYPOINT_FILE.into(),
        kept: true,
        cut_by_lines: loaded.cut_by_lines,
        cut_by_bytes: loaded.cut_by_bytes,
        text: Some(loaded.with_warning()),
        open: Vec::new(),
    })
}

fn count(store: &dyn Store, context: &Context, mode: &str, made: &str, loaded: &[&Loaded], shown: Entrypoint) -> Result<Load> {
    let mut files = BTreeSet::new();
    for one in loaded {
        let own = |path: &MemoryPath| !one.prefix.is_empty() || mounts::mount_of(store, path).is_some_and(|mount| mount.prefix.is_empty());
        files.extend(store.list(&one.prefix)?.entries.into_iter().map(|entry| entry.path).filter(own));
    }
    let folders: BTreeSet<&str> = files.iter().filter_map(MemoryPath::parent).collect();
    let cut = |by: fn(&Loaded) -> bool| shown == Entrypoint::Shown && loaded.iter().any(|one| by(one));
    Ok(Load {
        at: context.clock.now(),
        mode: mode.to_owned(),
        bytes: made.len() as u64,
        lines: text::lines(made),
        cut_by_lines: cut(|one| one.cut_by_lines),
        cut_by_bytes: cut(|one| one.cut_by_bytes),
        files: files.len() as u64,
        folders: folders.len() as u64,
    })
}
