//! The memory section of a system prompt. Equal input gives equal bytes, because hosts cache prompts by them.
//! Holds no words for models itself; those are in `texts/prompts`.

mod parts;
mod space;
mod texts;

pub use parts::{Open, Part};
pub use space::{Load, Made, ModeName, Request, log_is_open, log_prefix, main_prefix, of};

use crate::base::{limits, shell::quote_posix};
use texts::fill;

/// Everything a prompt depends on. Nothing in it may change between two conversations unless the memory did: no dates, no ids.
#[derive(Debug, Clone)]
pub struct PromptInput<'a> {
    /// Whether memory is on. Where it is off there is no prompt, and whoever knows the switch says which it was.
    pub enabled: bool,
    /// Whose memory, and how it is written.
    pub mode: Mode<'a>,
    /// The section's heading.
    pub title: &'a str,
    /// The memory, private where there is a team's too.
    pub memory: Place<'a>,
    /// What the memory's names begin with; empty for the unprefixed one.
    pub prefix: &'a str,
    /// The memories a log is kept beside, whose entrypoints stand below it; with the log's own.
    pub beside: &'a [Part<'a>],
    /// Whether the model is on another machine: it has tools, and no directory is named to it.
    pub remote: bool,
    /// The entrypoint's file name.
    pub file: &'a str,
    /// What becomes of the entrypoint.
    pub entrypoint: Entrypoint,
    /// The names of memdir's tools, where the model has them.
    pub tools: Option<Tools<'a>>,
    /// What the model searches with.
    pub search: Search<'a>,
    /// The directory of the host's own transcripts, where grep would find them.
    pub transcripts: Option<&'a str>,
    /// What a person wants said besides. Blank ones are passed over.
    pub guidelines: &'a [&'a str],
}

impl<'a> PromptInput<'a> {
    /// The prompt of a mode over a directory, with everything else as usual.
    pub fn new(mode: Mode<'a>, memory: Place<'a>) -> Self {
        PromptInput {
            enabled: true,
            mode,
            title: "Memory",
            memory,
            prefix: "",
            beside: &[],
            remote: false,
            file: "MEMORY.md",
            entrypoint: Entrypoint::Shown,
            tools: None,
            search: Search::Memdir,
            transcripts: None,
            guidelines: &[],
        }
    }
}

/// A directory of memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// Its path as the model should write it.
    pub dir: &'a str,
    /// Its entrypoint as loaded: cut to its caps, with the warning. Nothing if there is none or it cannot be read.
    pub entrypoint: Option<&'a str>,
}

/// Whose memory it is, and how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode<'a> {
    /// One person's.
    Individual,
    /// One person's and, in this place, the team's.
    Team(Place<'a>),
    /// One person's, written as a log.
    Log,
    /// An agent's own.
    Agent {
        /// Its name.
        name: &'a str,
        /// How far its memory reaches.
        scope: AgentScope,
    },
    /// Whatever a space is made of where that is not one person's project: a caller's, or one without the project's memory.
    Space(&'a [Part<'a>]),
}

impl<'a> Mode<'a> {
    /// The mode when nobody named one: the log if it is set, else the team's if there is one.
    pub fn choose(log: bool, team: Option<Place<'a>>) -> Self {
        match team {
            _ if log => Mode::Log,
            Some(team) => Mode::Team(team),
            None => Mode::Individual,
        }
    }

    /// The mode's name, as on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Mode::Individual => "individual",
            Mode::Team(_) => "team",
            Mode::Log => "log",
            Mode::Agent { .. } => "agent",
            Mode::Space(_) => "space",
        }
    }
}

/// How far an agent's memory reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentScope {
    /// Into all projects of a person.
    User,
    /// This project, for everybody who works on it.
    Project,
    /// This project on this machine.
    Local,
}

/// What becomes of the entrypoint in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entrypoint {
    /// Its text stands at the end.
    Shown,
    /// The host loads it itself.
    LeftOut,
    /// Nobody keeps one: saving is one step.
    Unused,
}

/// The names under which the model has memdir's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tools<'a> {
    /// Saves a memory.
    pub write: &'a str,
    /// Searches memories and conversations.
    pub search: &'a str,
    /// Appends to the log, where that tool is served.
    pub log: Option<&'a str>,
}

/// What the model searches with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search<'a> {
    /// memdir: its tool if the model has it, else its command.
    Memdir,
    /// The host's own search tool of this name.
    Grep(&'a str),
    /// A shell.
    Shell,
}

/// The memory section; nothing where memory is off.
pub fn build(input: &PromptInput<'_>) -> Option<String> {
    if !input.enabled {
        return None;
    }
    let mut sections = vec![format!("# {}", input.title.trim()), intro(input)];
    if input.mode != Mode::Log {
        sections.push(types(input).trim_end().to_owned());
    }
    let above_all = if is_shared(input) { ", above all in team memory" } else { "" };
    sections.push(fill(texts::NEVER, &[("above_all", above_all)]));
    sections.extend(save(input));
    sections.push(texts::LOOK.trim_end().to_owned());
    let correct = if input.mode == Mode::Log { "log the correction" } else { "correct the memory" };
    sections.push(fill(texts::TRUST, &[("correct", correct)]));
    sections.push(texts::TASKS.trim_end().to_owned());
    sections.extend(input.guidelines.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).map(str::to_owned));
    sections.push(past(input));
    sections.extend(entrypoints(input));
    Some(sections.join("\n\n") + "\n")
}

fn types(input: &PromptInput<'_>) -> &'static str {
    match (is_nobodys(input), is_shared(input)) {
        (true, _) => texts::TYPES_SHARED,
        (false, true) => texts::TYPES_TEAM,
        (false, false) => texts::TYPES,
    }
}

/// Whether nothing that is written is one person's.
fn is_nobodys(input: &PromptInput<'_>) -> bool {
    matches!(input.mode, Mode::Space(parts) if parts::is_nobodys(parts, input.remote))
}

/// Whether others read some of what is written.
fn is_shared(input: &PromptInput<'_>) -> bool {
    match input.mode {
        Mode::Team(_) => true,
        Mode::Space(parts) => parts.iter().any(|part| parts::is_shared(part.prefix, input.remote)),
        _ => false,
    }
}

fn intro(input: &PromptInput<'_>) -> String {
    let dir = ("dir", input.memory.dir);
    match input.mode {
        Mode::Individual => fill(texts::INTRO, &[dir]),
        Mode::Team(team) => fill(texts::INTRO_TEAM, &[dir, ("team_dir", team.dir)]),
        Mode::Log => log_intro(input),
        Mode::Space(parts) => {
            let reach = if input.remote { texts::REACH_TOOLS } else { texts::REACH_DIRS };
            fill(texts::INTRO_SPACE, &[("reach", reach.trim_end()), ("scopes", &parts::scopes(parts, input.remote))])
        }
        Mode::Agent { name, scope } => {
            let scope = match scope {
                AgentScope::User => "It follows you into every project, so keep what holds everywhere.",
                AgentScope::Project => {
                    "It belongs to this project and is shared with everybody who works on it, so keep what holds for all of them."
                }
                AgentScope::Local => "It belongs to this project on this machine and is not shared, so keep what holds here.",
            };
            fill(texts::INTRO_AGENT, &[dir, ("agent", name), ("scope", scope)])
        }
    }
}

fn log_intro(input: &PromptInput<'_>) -> String {
    let dir = input.memory.dir.trim_end_matches('/');
    let (reach, log) = match input.remote {
        true => (texts::REACH_TOOLS.trim_end().to_owned(), in_names(input.prefix)),
        false => (fill(texts::REACH_DIR, &[("dir", dirs(input).first().copied().unwrap_or(dir))]), in_names(dir)),
    };
    let sample = crate::operations::log::SAMPLE;
    let how = match (input.tools, input.search) {
        (Some(Tools { log: Some(log), .. }), _) => format!("Call `{log}` with one short entry; it finds the file and adds the time."),
        (Some(tools), _) => {
            let name = in_names(input.prefix);
            format!(
                "Call `{}` with the name `{name}`, mode \"append\" and one short bullet that begins with the time: `{sample}`.",
                tools.write
            )
        }
        (None, Search::Memdir) => {
            format!("Use `memdir log \"…\"`, which does all this, or write short bullets that begin with the time: `{sample}`.")
        }
        (None, _) => format!("Write short bullets that begin with the time: `{sample}`."),
    };
    let nobodys = parts::is_shared(input.prefix, input.remote);
    let person = if nobodys { "" } else { "- who the person is: role, goals, what they know\n" };
    let intro = fill(texts::INTRO_LOG, &[("reach", &reach), ("log", &log), ("log_how", &how), ("person", person)]);
    if nobodys { format!("{intro}\n{}", texts::SCOPE_NOBODY.trim_end()) } else { intro }
}

/// The log of a day under a prefix.
fn in_names(prefix: &str) -> String {
    if prefix.is_empty() { crate::operations::log::PATTERN.to_owned() } else { format!("{prefix}/{}", crate::operations::log::PATTERN) }
}

fn save(input: &PromptInput<'_>) -> Option<String> {
    let indexed = input.entrypoint != Entrypoint::Unused;
    if input.mode == Mode::Log {
        return indexed.then(|| fill(texts::DISTILLED, &[("file", input.file)]));
    }
    let lines = limits::ENTRYPOINT_LINES.to_string();
    let example = fill(texts::EXAMPLE, &[("user", if is_nobodys(input) { "" } else { "user | " })]);
    let both = [("example", example.as_str()), ("care", texts::CARE.trim_end()), ("file", input.file), ("lines", &lines)];
    let is_team = matches!(input.mode, Mode::Team(_) | Mode::Space([_, _, ..]));
    Some(match input.tools {
        Some(tools) => {
            let place = match input.mode {
                Mode::Team(_) => ", beginning with `team/` for team memory",
                Mode::Space(_) => ", beginning as its scope says",
                _ => "",
            };
            let index = if indexed { fill(texts::TOOL_INDEX, &both) + "\n\n" } else { String::new() };
            fill(texts::SAVE_TOOL, &[&both[..], &[("write", tools.write), ("where", place), ("index", &index)]].concat())
        }
        None if !indexed => {
            fill(texts::SAVE_FILE, &[&both[..], &[("where", if is_team { " in the directory of its scope" } else { "" })]].concat())
        }
        None if is_team => fill(texts::SAVE_TEAM, &both),
        None => fill(texts::SAVE, &both),
    })
}

/// Where memories are.
fn dirs<'a>(input: &PromptInput<'a>) -> Vec<&'a str> {
    let main = input.beside.iter().find(|part| part.prefix == input.prefix);
    match input.mode {
        Mode::Space(parts) => parts.iter().flat_map(Part::paths).collect(),
        Mode::Team(team) if !is_inside(team.dir, input.memory.dir) => vec![input.memory.dir, team.dir],
        _ => main.map_or_else(|| vec![input.memory.dir], Part::paths),
    }
}

fn past(input: &PromptInput<'_>) -> String {
    let dirs = dirs(input);
    let grep = |tool: &str, dir: &str, files: &str| format!("{tool} with pattern=\"narrow term\" path=\"{dir}\" glob=\"{files}\"");
    let shell = |dir: &str, files: &str| format!("grep -rn \"narrow term\" {} --include=\"{files}\"", quote_posix(dir));
    let each = |one: &dyn Fn(&str) -> String| dirs.iter().map(|dir| one(dir)).collect::<Vec<_>>().join("\n");
    let (memories, transcripts) = match (input.search, input.tools) {
        // Nobody's conversations are on a server.
        (Search::Memdir, Some(tools)) if input.remote => (format!("{} with query=\"narrow term\"", tools.search), None),
        (Search::Memdir, Some(tools)) => (
            format!("{} with query=\"narrow term\"", tools.search),
            Some(format!("{} with query=\"narrow term\" source=\"chat\"", tools.search)),
        ),
        (Search::Memdir, None) => ("memdir search \"narrow term\"".into(), Some("memdir search --source chat \"narrow term\"".into())),
        (Search::Grep(tool), _) => (each(&|dir| grep(tool, dir, "*.md")), input.transcripts.map(|dir| grep(tool, dir, "*.jsonl"))),
        (Search::Shell, _) => (each(&|dir| shell(dir, "*.md")), input.transcripts.map(|dir| shell(dir, "*.jsonl"))),
    };
    match transcripts {
        Some(transcripts) => fill(texts::PAST, &[("memories", &memories), ("transcripts", &transcripts)]),
        None => fill(texts::PAST_MEMORIES, &[("memories", &memories)]),
    }
}

/// A recursive search of the outer directory covers one inside it.
fn is_inside(dir: &str, outer: &str) -> bool {
    std::path::Path::new(dir).starts_with(outer)
}

fn entrypoints(input: &PromptInput<'_>) -> Vec<String> {
    if input.entrypoint != Entrypoint::Shown {
        return Vec::new();
    }
    let section = |heading: String, place: Place<'_>| {
        let text = place.entrypoint.map(str::trim).filter(|text| !text.is_empty());
        format!("## {heading}\n\n{}", text.map_or_else(|| fill(texts::EMPTY, &[("file", input.file)]), str::to_owned))
    };
    let each = |parts: &[Part<'_>]| {
        let kept = parts.iter().filter(|part| part.kept);
        kept.map(|part| section(format!("{}, {}", input.file, part.label()), part.place)).collect()
    };
    match input.mode {
        Mode::Team(team) => vec![section(format!("{}, private", input.file), input.memory), section(format!("{}, team", input.file), team)],
        Mode::Space(parts) => each(parts),
        Mode::Log if input.beside.len() > 1 => each(input.beside),
        _ => vec![section(input.file.to_owned(), input.memory)],
    }
}
