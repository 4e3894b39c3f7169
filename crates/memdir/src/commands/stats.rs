//! `memdir stats`: statistics of the mounts, the search index and the journal.

use super::{OpenSpace, counted, list, mount_label};
use crate::{
    config::Settings,
    exit::Failure,
    hook::{RunningConversation, left_off_text, session_text},
    hosts::{HOSTS, Host},
    loads::{self, Loads},
    output::{CommandOutput, Printer},
    prompt_section,
    scope::Scope,
    spaces,
};
use jiff::Timestamp;
use memdir_core::{
    Access, List, MountStats, PromptLoad, Source, Stats,
    internal::{
        base::{limits, text::human_bytes, time},
        prompt::log_is_open,
        search::IndexState,
        tools,
    },
};
use serde::Serialize;
use std::{borrow::Cow, io};

#[derive(Serialize)]
struct StatsOutput {
    #[serde(flatten)]
    stats: Stats,
    search: Vec<IndexState>,
    embedder: Option<String>,
    now: Timestamp,
    #[serde(skip)]
    why_no_chats: Option<String>,
    /// Whether `--dir` selects the memory.
    #[serde(skip)]
    in_dir: bool,
}

pub(super) fn run(space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let memdir = space.memdir;
    let searcher = memdir.searcher()?;
    let walk = memdir.store().list("")?;
    let notes = list::notes(&walk.problems, walk.left_out);
    let output = CommandOutput::new(
        StatsOutput {
            stats: memdir.stats()?,
            search: searcher.state(memdir.store())?,
            embedder: searcher.embedder().map(|embedder| embedder.id().to_string()),
            now: memdir.context().clock.now(),
            why_no_chats: memdir.why_no_chats().map(Cow::into_owned),
            in_dir: space.origin.is_none_or(|(settings, _)| settings.dir.is_some()),
        },
        show,
    );
    Ok(output.with_notes(notes))
}

/// How often the prompt of this space was loaded, and its size.
pub(crate) fn loads(settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    let opened = spaces::open_lazy(settings, scope)?;
    let loads = loads::read(&settings.home.value, &loads::space(opened.memdir.store()));
    Ok(CommandOutput::new(loads, show_loads).with_notes(opened.notes))
}

/// The tokens that a session costs before the first message.
#[derive(Serialize)]
struct CostOutput {
    /// Number of memories in this space.
    memories: usize,
    hosts: Vec<HostCost>,
}

/// The cost of a session in one host, part by part.
#[derive(Serialize)]
struct HostCost {
    host: &'static str,
    /// The memory section at the session's start; `None` in a host without hooks.
    session_text: Option<TextCost>,
    /// The server's instructions.
    instructions: TextCost,
    /// The tokens of both together.
    tokens: usize,
    /// The list of tools.
    tools: TextCost,
}

/// The length of a text.
#[derive(Clone, Copy, Serialize)]
struct TextCost {
    bytes: usize,
    /// A token is about four bytes of English.
    tokens: usize,
}

impl TextCost {
    fn new(bytes: usize) -> Self {
        TextCost { bytes, tokens: bytes.div_ceil(4) }
    }
}

/// What a session costs in each host, as `memdir install` sets it up.
pub(crate) fn cost(settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    let opened = spaces::open_lazy(settings, scope)?;
    let memdir = &opened.memdir;
    let log = settings.config.log && log_is_open(memdir.store(), memdir.context());
    let native = if log { tools::native_with_log() } else { tools::native() };
    let list = serde_json::json!({ "tools": native.iter().map(tools::Tool::json).collect::<Vec<_>>() });
    let tools = TextCost::new(list.to_string().len());
    let left_off = left_off_text(settings, scope, RunningConversation::default(), memdir.context().clock.now());
    let host_cost = |host: &&Host| {
        let has_section = host.has_session_text();
        let text = if has_section { Some(session_text(host, settings, scope, memdir, left_off.as_deref())?.text) } else { None };
        let session_text = text.map(|text| TextCost::new(text.len()));
        let instructions = TextCost::new(prompt_section::instructions(settings, memdir.store(), has_section).len());
        let both = TextCost::new(session_text.map_or(0, |text| text.bytes) + instructions.bytes);
        Ok(HostCost { host: host.name, session_text, instructions, tokens: both.tokens, tools })
    };
    let memories = memdir.list(&List::default())?.memories.len();
    let hosts = HOSTS.iter().map(host_cost).collect::<Result<_, Failure>>()?;
    Ok(CommandOutput::new(CostOutput { memories, hosts }, show_cost).with_notes(opened.notes))
}

fn show_cost(cost: &CostOutput, printer: &mut Printer<'_>) -> io::Result<()> {
    let mut rows = vec![["host", "session text", "instructions", "subtotal", "tools"].map(str::to_owned).to_vec()];
    rows.extend(cost.hosts.iter().map(|host| {
        let session_text = host.session_text.map_or_else(|| "-".to_owned(), |text| text.tokens.to_string());
        vec![
            host.host.to_owned(),
            session_text,
            host.instructions.tokens.to_string(),
            host.tokens.to_string(),
            host.tools.tokens.to_string(),
        ]
    }));
    printer.table(&rows)?;
    printer.line(format!(
        "tokens (bytes / 4) that memdir adds before the first message, with {}",
        counted(cost.memories as u64, "memory", "memories")
    ))
}

fn show_loads(loads: &Loads, printer: &mut Printer<'_>) -> io::Result<()> {
    if loads.modes.is_empty() {
        return printer
            .line("no loads recorded yet; hooks set up by `memdir install` load the memory section at the start of each session");
    }
    let mut rows =
        vec![["mode", "loads", "mean size", "largest", "cut by lines", "cut by bytes", "files", "folders"].map(str::to_owned).to_vec()];
    rows.extend(loads.modes.iter().map(|(mode, counted)| {
        let last = |number: fn(&PromptLoad) -> u64| counted.last.as_ref().map_or_else(String::new, |load| number(load).to_string());
        let mean = human_bytes(counted.bytes / counted.loads.max(1));
        let cut = [counted.cut_by_lines, counted.cut_by_bytes].map(|cut| cut.to_string());
        let [by_lines, by_bytes] = cut;
        vec![
            mode.clone(),
            counted.loads.to_string(),
            mean,
            human_bytes(counted.largest),
            by_lines,
            by_bytes,
            last(|load| load.files),
            last(|load| load.folders),
        ]
    }));
    printer.table(&rows)
}

fn show(output: &StatsOutput, printer: &mut Printer<'_>) -> io::Result<()> {
    let stats = &output.stats;
    let mut rows = vec![["mount", "memories", "size", "entrypoint", "access", "source", "directory"].map(str::to_owned).to_vec()];
    rows.extend(stats.mounts.iter().map(|mount| row(mount, output.in_dir)));
    printer.table(&rows)?;
    for state in &output.search {
        printer.line(index_line(state, output))?;
    }
    if let Some(why) = &output.why_no_chats {
        printer.line(format!("chat: {why}"))?;
    }
    printer.line(format!(
        "{}, {}; journal: {}, {}",
        counted(stats.files as u64, "memory", "memories"),
        human_bytes(stats.bytes),
        counted(stats.journal.changes, "change", "changes"),
        human_bytes(stats.journal.bytes)
    ))
}

/// The state of a mount's index.
fn index_line(state: &IndexState, output: &StatsOutput) -> String {
    let mount = if state.prefix.is_empty() { String::new() } else { format!(" of {}/", state.prefix) };
    let Some(last) = state.last_indexed else {
        return format!("search index{mount}: not created yet; small directories are searched without one");
    };
    let behind = match state.changed + state.gone {
        0 => "up to date".to_owned(),
        files => format!("{} to update at the next search", counted(files as u64, "file", "files")),
    };
    let unembedded =
        if state.unembedded > 0 { format!(", {} without vectors", counted(state.unembedded, "file", "files")) } else { String::new() };
    format!(
        "search index{mount}: {}, {}, {}, {behind}{unembedded}; last indexed {}; embedding model: {}",
        counted(state.files, "file", "files"),
        counted(state.units, "chunk", "chunks"),
        human_bytes(state.size.bytes),
        time::age(output.now, last),
        output.embedder.as_deref().unwrap_or("none")
    )
}

fn row(mount: &MountStats, in_dir: bool) -> Vec<String> {
    let entrypoint = if mount.entrypoint_lines == 0 {
        "-".to_owned()
    } else {
        let lines = format!("{}/{} lines", mount.entrypoint_lines, limits::ENTRYPOINT_LINES);
        format!("{lines}, {}/{}", human_bytes(mount.entrypoint_bytes), human_bytes(limits::ENTRYPOINT_BYTES as u64))
    };
    let access = match mount.access {
        Access::ReadWrite => "read-write",
        Access::ReadOnly => "read-only",
    };
    let source = match mount.source {
        Source::Memory => "memory",
        Source::Custom => "custom",
        Source::Chat => "chat",
        Source::Inbox => "inbox",
    };
    let prefix = mount_label(&mount.prefix, in_dir);
    vec![
        prefix,
        mount.files.to_string(),
        human_bytes(mount.bytes),
        entrypoint,
        access.into(),
        source.into(),
        mount.root.display().to_string(),
    ]
}
