//! The prompt of a space: reads the entrypoints, chooses the mode, and tells what a load of it costs.

use super::{AgentScope, Entrypoint, Mode, Place, PromptInput, Search, Tools, build};
use crate::{
    entrypoint,
    error::{Error, Result},
    memdir::Context,
    path::MemoryPath,
    read,
    store::{MountInfo, Store},
    text,
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
        None if request.log => ModeName::Log,
        None if team.is_some() => ModeName::Team,
        None => ModeName::Individual,
    };
    let prefix = match (mode, request.agent) {
        (ModeName::Agent, Some((name, _))) => format!("agent/{}", name.replace(':', "-")),
        (ModeName::Agent, None) => return Err(Error::bad_input("mode", "the agent's mode needs an agent")),
        _ => String::new(),
    };
    let mount = mount(store, &prefix).ok_or_else(|| Error::bad_input("mode", format!("there is no mount for {prefix:?}")))?;
    let main = Loaded::of_mount(store, context, mount);
    let team = team.filter(|_| mode == ModeName::Team);
    let mode = match (mode, &team, request.agent) {
        (ModeName::Team, Some(team), _) => Mode::Team(team.place()),
        (ModeName::Team, None, _) => return Err(Error::bad_input("mode", "there is no team memory here; memdir init --team makes one")),
        (ModeName::Log, ..) => Mode::Log,
        (ModeName::Agent, _, Some((name, scope))) => Mode::Agent { name, scope },
        _ => Mode::Individual,
    };
    let input = PromptInput {
        enabled: true,
        mode,
        title: request.title,
        memory: main.place(),
        file: &main.file,
        entrypoint: request.entrypoint,
        tools: request.tools,
        search: request.search,
        transcripts: request.transcripts,
        guidelines: request.guidelines,
    };
    let text = build(&input).unwrap_or_default();
    let loaded: Vec<&Loaded> = std::iter::once(&main).chain(&team).collect();
    let load = count(store, context, mode.name(), &text, &loaded, request.entrypoint)?;
    Ok(Made { text, load })
}

/// One memory a prompt speaks of.
struct Loaded {
    prefix: String,
    dir: String,
    file: String,
    text: Option<String>,
    cut_by_lines: bool,
    cut_by_bytes: bool,
}

impl Loaded {
    /// An entrypoint that is absent, blank or unreadable is no reason to leave the instructions out.
    fn of_mount(store: &dyn Store, context: &Context, mount: &MountInfo) -> Loaded {
        let reading = read::entrypoint(store, context, &mount.prefix).ok();
        let file = reading.as_ref().and_then(|reading| reading.path.as_ref()).map_or(entrypoint::MAIN, |path| path.file_name()).to_owned();
        Loaded {
            prefix: mount.prefix.clone(),
            dir: mount.root.display().to_string(),
            file,
            cut_by_lines: reading.as_ref().is_some_and(|reading| reading.cut_by_lines),
            cut_by_bytes: reading.as_ref().is_some_and(|reading| reading.cut_by_bytes),
            text: reading.map(|reading| match reading.warning {
                Some(warning) => format!("{}\n\n{warning}", reading.content),
                None => reading.content,
            }),
        }
    }

    fn place(&self) -> Place<'_> {
        Place { dir: &self.dir, entrypoint: self.text.as_deref() }
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
    let stored = MemoryPath::parse(&format!("team/{}", entrypoint::MAIN)).ok().and_then(|path| store.get(&path).ok()).flatten();
    let decoded = stored.map(|stored| text::decode(&stored.bytes).0.into_owned()).unwrap_or_default();
    let loaded = entrypoint::load(&decoded);
    Some(Loaded {
        prefix: "team".into(),
        dir: dir.display().to_string(),
        file: entrypoint::MAIN.into(),
        cut_by_lines: loaded.cut_by_lines,
        cut_by_bytes: loaded.cut_by_bytes,
        text: Some(loaded.with_warning()),
    })
}

fn count(store: &dyn Store, context: &Context, mode: &str, made: &str, loaded: &[&Loaded], shown: Entrypoint) -> Result<Load> {
    let mut files = BTreeSet::new();
    for one in loaded {
        let own = |path: &MemoryPath| {
            !one.prefix.is_empty() || !store.mounts().iter().any(|mount| !mount.prefix.is_empty() && path.is_under(&mount.prefix))
        };
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
