//! The prompt of a space: selects the parts to describe, reads their entrypoints, and counts what loading the prompt costs.

use super::{AgentScope, OpenPath, PromptAgent, PromptEntrypoint, PromptInput, PromptSearch, SpacePart, ToolNames, build, parts::USER};
use crate::{
    base::{
        error::{Error, ReadOnlyCause, Result},
        path::MemoryPath,
        text,
    },
    entrypoint,
    operations::{context::Context, read},
    secrets,
    store::{
        Access, EntrypointMode as Kept, MountInfo, Source, Store,
        mounts::{self, ENTRYPOINT_FILE},
    },
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The prompt to build.
#[derive(Debug, Clone)]
pub struct PromptRequest<'a> {
    /// The mode. The default is the log if `log` is set, else the team's if there is one, else the individual.
    pub mode: Option<ModeName>,
    /// Whether memories are first written as a log.
    pub log: bool,
    /// The agent whose memory is mounted as `agent/NAME`, for the agent's mode.
    pub agent: Option<(&'a str, AgentScope)>,
    /// Whether the model is on another machine: it has only tools, and shares the project with other callers.
    pub remote: bool,
    /// Whether the folder `team/` of the unprefixed mount is the team's memory, as in a space that is a single directory.
    pub team_folder: bool,
    /// The heading.
    pub title: &'a str,
    /// How the prompt treats the entrypoint.
    pub entrypoint: PromptEntrypoint,
    /// The names of memdir's tools, if the model has them.
    pub tools: Option<ToolNames<'a>>,
    /// The tool that the model searches with.
    pub search: PromptSearch<'a>,
    /// The directory of the host's transcripts.
    pub transcripts: Option<&'a str>,
    /// Additional paragraphs from the user's settings.
    pub guidelines: &'a [&'a str],
    /// The maximum length of the prompt, in UTF-16 code units of its JSON; entrypoints are cut to fit it.
    pub max_units: Option<usize>,
}

impl Default for PromptRequest<'_> {
    fn default() -> Self {
        PromptRequest {
            mode: None,
            log: false,
            agent: None,
            remote: false,
            team_folder: false,
            title: "Memory",
            entrypoint: PromptEntrypoint::Shown,
            tools: None,
            search: PromptSearch::Memdir,
            transcripts: None,
            guidelines: &[],
            max_units: None,
        }
    }
}

/// A mode, which selects the parts that a prompt describes.
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

/// A prompt, and the cost of loading it.
#[derive(Debug, Clone, Serialize)]
pub struct BuiltPrompt {
    /// The memory section.
    pub text: String,
    /// The cost of loading it.
    pub load: PromptLoad,
}

/// The cost of loading a prompt. Only numbers: they never leave the machine, and nothing of the memories is in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptLoad {
    /// The time of the load.
    pub at: jiff::Timestamp,
    /// The name of the mode.
    pub mode: String,
    /// Bytes of the prompt.
    pub bytes: u64,
    /// Lines of the prompt.
    pub lines: u64,
    /// Whether an entrypoint had too many lines and was cut.
    pub cut_by_lines: bool,
    /// Whether an entrypoint had too many bytes and was cut.
    pub cut_by_bytes: bool,
    /// Number of files in the mounts it describes.
    pub files: u64,
    /// Number of their folders.
    pub folders: u64,
}

/// Builds the prompt of a space.
pub fn prompt(store: &dyn Store, context: &Context, request: &PromptRequest<'_>) -> Result<BuiltPrompt> {
    let selected = DescribedParts::new(store, context, request)?;
    let parts: Vec<SpacePart<'_>> = selected.parts.iter().map(Loaded::part).collect();
    // Without any entrypoint, the prompt must not ask for a line in one.
    let entrypoint = if parts.iter().any(|part| part.kept) { request.entrypoint } else { PromptEntrypoint::Unused };
    let input = PromptInput {
        title: request.title,
        parts: &parts,
        log: selected.is_log.then_some(selected.main().prefix.as_str()),
        agent: selected.agent,
        remote: request.remote,
        file: &selected.main().file,
        entrypoint,
        tools: request.tools,
        search: request.search,
        transcripts: request.transcripts,
        guidelines: request.guidelines,
        max_units: request.max_units,
    };
    let text = build(&input);
    let load = count(store, context, input.mode(), &text, &selected.parts, entrypoint)?;
    Ok(BuiltPrompt { text, load })
}

/// The parts of a space that a prompt describes.
struct DescribedParts<'a> {
    /// At least one part.
    parts: Vec<Loaded>,
    /// The index of the part for names without a prefix, or of the one with the log.
    main: usize,
    is_log: bool,
    agent: Option<PromptAgent<'a>>,
}

/// Why there is no prompt for a team: only parts of the space are selected.
const TEAM_NOT_SELECTED: &str = "the selected part of the memory does not include a team memory; add team to --only, or omit --only";

impl<'a> DescribedParts<'a> {
    fn new(store: &dyn Store, context: &Context, request: &PromptRequest<'a>) -> Result<Self> {
        let team = team(store, context, request);
        let mode = match request.mode {
            Some(mode) => mode,
            // A model that may not write the log must not be asked to.
            None if request.log && log_is_open(store, context) => ModeName::Log,
            None if team.is_some() => ModeName::Team,
            None => ModeName::Individual,
        };
        let agent = request.agent.filter(|_| mode == ModeName::Agent).map(|(name, scope)| PromptAgent { name, scope });
        let prefix = match (mode, agent) {
            (ModeName::Agent, Some(agent)) => format!("agent/{}", mounts::agent_folder(agent.name)),
            (ModeName::Agent, None) => return Err(Error::bad_input("mode", "the agent mode requires an agent; use --agent NAME")),
            (ModeName::Log, _) => log_prefix(store, context).to_owned(),
            _ => main_prefix(store).to_owned(),
        };
        if mode == ModeName::Team && team.is_none() && mount(store, "team").is_none() {
            let is_narrowed = mount(store, "").is_none() || parts(store).any(|mount| !mount.part.is_empty());
            let none = || Error::NoTeam { message: "this space has no team memory".into(), command: "memdir init --team".into() };
            return Err(if is_narrowed { Error::bad_input("mode", TEAM_NOT_SELECTED) } else { none() });
        }
        if mode == ModeName::Log && !log_is_open(store, context) {
            return Err(Error::bad_input("mode", "the log of this space is read-only"));
        }
        let is_log = mode == ModeName::Log;
        // A space that is not simply a whole project directory is described part by part.
        let by_parts = matches!(mode, ModeName::Individual | ModeName::Team)
            && (request.remote || mount(store, "").is_none() || parts(store).any(|mount| !mount.part.is_empty()));
        let mut mounts: Vec<&MountInfo> =
            if by_parts || (is_log && request.remote) { parts(store).collect() } else { mount(store, &prefix).into_iter().collect() };
        // The person's memory is a part of every prompt, and the first.
        if let Some(person) = parts(store).find(|mount| mount.prefix == USER) {
            mounts.retain(|mount| mount.prefix != USER);
            mounts.insert(0, person);
        }
        let mut parts = Vec::new();
        for mount in mounts {
            parts.push(Loaded { open: open(store, mount, request.remote)?, ..Loaded::from_mount(store, context, mount) });
        }
        if parts.is_empty() {
            return Err(Error::bad_input("mode", "every mount of this space is read-only, so there is nothing to describe"));
        }
        let main = parts.iter().position(|part| part.prefix == prefix).unwrap_or(0);
        let with_team = (mode == ModeName::Team && !by_parts) || (is_log && !request.remote && prefix != "team");
        parts.extend(team.filter(|_| with_team));
        Ok(DescribedParts { parts, main, is_log, agent })
    }

    fn main(&self) -> &Loaded {
        &self.parts[self.main]
    }
}

/// The prefix of the mount for names without a prefix: the project's if there is one, else the user's, else the first writable one.
pub fn main_prefix(store: &dyn Store) -> &str {
    let named = ["", "user"].into_iter().find_map(|prefix| mount(store, prefix));
    named.or_else(|| parts(store).next()).map_or("", |mount| mount.prefix.as_str())
}

/// The prefix of the mount that holds the log.
pub fn log_prefix<'a>(store: &'a dyn Store, context: &'a Context) -> &'a str {
    context.log.as_deref().filter(|prefix| mount(store, prefix).is_some()).unwrap_or_else(|| main_prefix(store))
}

/// Whether the log of this space is writable.
pub fn log_is_open(store: &dyn Store, context: &Context) -> bool {
    let name = crate::operations::log::path(context.clock.now(), &context.clock.zone());
    MemoryPath::parse(&name).is_ok_and(|path| store.check_writable(&path.prefixed(log_prefix(store, context))).is_ok())
}

/// The existing folders and memories that a mount is narrowed to. A remote caller, to whom the prompt names no directory, may also
/// create one.
fn open(store: &dyn Store, mount: &MountInfo, remote: bool) -> Result<Vec<OpenPath>> {
    let mut all = Vec::new();
    for part in &mount.part {
        let name = MemoryPath::parse(part)?.prefixed(&mount.prefix);
        let dir = mount.root.join(part);
        // A symbolic link may lead out of the mount.
        let is_folder = dir.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let memory = store.get(&name)?;
        if !is_folder && memory.is_none() && !remote {
            return Err(no_such_part(store, &name));
        }
        if is_folder || memory.is_none() {
            all.push(OpenPath { name: format!("{}/", name.name()), path: dir.display().to_string() });
        }
        if let Some(memory) = memory {
            let file = memory.path.strip_prefix(&mount.prefix).unwrap_or(memory.path);
            all.push(OpenPath { name: name.name().to_owned(), path: mount.root.join(file.as_str()).display().to_string() });
        }
    }
    Ok(all)
}

/// The error for a name that the space was narrowed to and that does not exist.
fn no_such_part(store: &dyn Store, name: &MemoryPath) -> Error {
    let inside = MemoryPath::parse(&format!("{}/x", name.name())).map(|inside| store.check_writable(&inside));
    match inside {
        Ok(Err(Error::ReadOnly { why, cause: ReadOnlyCause::NoTeam { command }, .. })) => Error::NoTeam { message: why, command },
        Ok(Err(Error::ReadOnly { why, .. })) => Error::bad_input("prefix", format!("{}: {why}", name.name())),
        _ => Error::bad_input("prefix", format!("{:?} is neither a memory nor a folder", name.name())),
    }
}

/// The writable mounts of memories, which are those that a prompt describes.
fn parts(store: &dyn Store) -> impl Iterator<Item = &MountInfo> {
    store.mounts().iter().filter(|mount| !mount.apart && mount.access == Access::ReadWrite && mount.source == Source::Memory)
}

/// A part with the texts it borrows.
struct Loaded {
    prefix: String,
    dir: String,
    file: String,
    text: Option<String>,
    warning: Option<String>,
    kept: bool,
    cut_by_lines: bool,
    cut_by_bytes: bool,
    open: Vec<OpenPath>,
    is_foreign: bool,
}

impl Loaded {
    /// Reads the entrypoint of a mount. A prompt is built even if the entrypoint is missing or unreadable.
    fn from_mount(store: &dyn Store, context: &Context, mount: &MountInfo) -> Loaded {
        let reading = read::injected_entrypoint(store, context, &mount.prefix).ok();
        let file = reading.as_ref().and_then(|reading| reading.path.as_ref()).map_or(ENTRYPOINT_FILE, |path| path.file_name()).to_owned();
        Loaded {
            prefix: mount.prefix.clone(),
            dir: mount.root.display().to_string(),
            file,
            kept: mount.entrypoint == Kept::Kept || reading.as_ref().is_some_and(|reading| reading.path.is_some()),
            cut_by_lines: reading.as_ref().is_some_and(|reading| reading.cut_by_lines),
            cut_by_bytes: reading.as_ref().is_some_and(|reading| reading.cut_by_bytes),
            warning: reading.as_ref().and_then(|reading| reading.warning.clone()),
            text: reading.map(|reading| reading.content),
            open: Vec::new(),
            is_foreign: mount.is_foreign,
        }
    }

    fn part(&self) -> SpacePart<'_> {
        SpacePart {
            prefix: &self.prefix,
            dir: &self.dir,
            entrypoint: self.text.as_deref(),
            warning: self.warning.as_deref(),
            kept: self.kept,
            open: &self.open,
            is_foreign: self.is_foreign,
        }
    }
}

fn mount<'a>(store: &'a dyn Store, prefix: &str) -> Option<&'a MountInfo> {
    store.mounts().iter().find(|mount| mount.prefix == prefix)
}

/// The team's memory, or `None` if the space has none or lacks the project's own.
fn team(store: &dyn Store, context: &Context, request: &PromptRequest<'_>) -> Option<Loaded> {
    let own = mount(store, "")?;
    if let Some(team) = mount(store, "team") {
        return Some(Loaded::from_mount(store, context, team));
    }
    let dir = own.root.join("team");
    // A symbolic link may lead out of the mount.
    if !request.team_folder || !dir.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return None;
    }
    let stored = MemoryPath::parse(&format!("team/{}", ENTRYPOINT_FILE)).ok().and_then(|path| store.get(&path).ok()).flatten();
    let decoded = stored.map(|stored| text::decode(&stored.bytes).0.into_owned()).unwrap_or_default();
    let injected = secrets::injected(&decoded);
    let loaded = entrypoint::load(&injected);
    Some(Loaded {
        prefix: "team".into(),
        dir: dir.display().to_string(),
        file: ENTRYPOINT_FILE.into(),
        kept: true,
        cut_by_lines: loaded.cut_by_lines,
        cut_by_bytes: loaded.cut_by_bytes,
        text: Some(loaded.content.to_owned()),
        warning: loaded.warning,
        open: Vec::new(),
        is_foreign: true,
    })
}

fn count(store: &dyn Store, context: &Context, mode: &str, text: &str, loaded: &[Loaded], shown: PromptEntrypoint) -> Result<PromptLoad> {
    let mut files = BTreeSet::new();
    for one in loaded {
        let own = |path: &MemoryPath| !one.prefix.is_empty() || mounts::mount_of(store, path).is_some_and(|mount| mount.prefix.is_empty());
        files.extend(store.list(&one.prefix)?.entries.into_iter().map(|entry| entry.path).filter(own));
    }
    let folders: BTreeSet<&str> = files.iter().filter_map(MemoryPath::parent).collect();
    let cut = |by: fn(&Loaded) -> bool| shown == PromptEntrypoint::Shown && loaded.iter().any(by);
    Ok(PromptLoad {
        at: context.clock.now(),
        mode: mode.to_owned(),
        bytes: text.len() as u64,
        lines: text::lines(text),
        cut_by_lines: cut(|one| one.cut_by_lines),
        cut_by_bytes: cut(|one| one.cut_by_bytes),
        files: files.len() as u64,
        folders: folders.len() as u64,
    })
}
