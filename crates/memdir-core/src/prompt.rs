//! The memory section of a system prompt. Equal input gives equal bytes, because hosts cache prompts by them.
//! Holds no words for models itself; those are in `texts/prompts`.

mod space;
mod texts;

pub use space::{Load, Made, ModeName, Request, of};

use crate::limits;
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
    /// Appends to the log.
    pub log: &'a str,
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
        sections.push(if team(input).is_some() { texts::TYPES_TEAM } else { texts::TYPES }.trim_end().to_owned());
    }
    let above_all = if team(input).is_some() { ", above all in team memory" } else { "" };
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

fn team<'a>(input: &PromptInput<'a>) -> Option<Place<'a>> {
    match input.mode {
        Mode::Team(place) => Some(place),
        _ => None,
    }
}

fn intro(input: &PromptInput<'_>) -> String {
    let dir = ("dir", input.memory.dir);
    match input.mode {
        Mode::Individual => fill(texts::INTRO, &[dir]),
        Mode::Team(team) => fill(texts::INTRO_TEAM, &[dir, ("team_dir", team.dir)]),
        Mode::Log => {
            let log = format!("{}/{}", input.memory.dir.trim_end_matches('/'), crate::log::PATTERN);
            let how = match (input.tools, input.search) {
                (Some(tools), _) => format!("Call `{}` with one short entry; it finds the file and adds the time.", tools.log),
                (None, Search::Memdir) => {
                    format!(
                        "Use `memdir log \"…\"`, which does all this, or write short bullets that begin with the time: `{}`.",
                        crate::log::SAMPLE
                    )
                }
                (None, _) => format!("Write short bullets that begin with the time: `{}`.", crate::log::SAMPLE),
            };
            fill(texts::INTRO_LOG, &[dir, ("log", &log), ("log_how", &how)])
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

fn save(input: &PromptInput<'_>) -> Option<String> {
    let indexed = input.entrypoint != Entrypoint::Unused;
    if input.mode == Mode::Log {
        return indexed.then(|| fill(texts::DISTILLED, &[("file", input.file)]));
    }
    let lines = limits::ENTRYPOINT_LINES.to_string();
    let both = [("example", texts::EXAMPLE.trim_end()), ("care", texts::CARE.trim_end()), ("file", input.file), ("lines", &lines)];
    let is_team = team(input).is_some();
    Some(match input.tools {
        Some(tools) => {
            let place = if is_team { ", beginning with `team/` for team memory" } else { "" };
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

fn past(input: &PromptInput<'_>) -> String {
    let dirs = [Some(input.memory.dir), team(input).map(|place| place.dir).filter(|dir| !is_inside(dir, input.memory.dir))];
    let dirs: Vec<&str> = dirs.into_iter().flatten().collect();
    let grep = |tool: &str, dir: &str, files: &str| format!("{tool} with pattern=\"narrow term\" path=\"{dir}\" glob=\"{files}\"");
    let shell = |dir: &str, files: &str| format!("grep -rn \"narrow term\" {} --include=\"{files}\"", quoted(dir));
    let each = |one: &dyn Fn(&str) -> String| dirs.iter().map(|dir| one(dir)).collect::<Vec<_>>().join("\n");
    let (memories, transcripts) = match (input.search, input.tools) {
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

/// A path as one word of a shell.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,".contains(c);
    if !path.is_empty() && path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

fn entrypoints(input: &PromptInput<'_>) -> Vec<String> {
    if input.entrypoint != Entrypoint::Shown {
        return Vec::new();
    }
    let section = |heading: String, place: Place<'_>| {
        let text = place.entrypoint.map(str::trim).filter(|text| !text.is_empty());
        format!("## {heading}\n\n{}", text.map_or_else(|| fill(texts::EMPTY, &[("file", input.file)]), str::to_owned))
    };
    match team(input) {
        Some(place) => vec![section(format!("{}, private", input.file), input.memory), section(format!("{}, team", input.file), place)],
        None => vec![section(input.file.to_owned(), input.memory)],
    }
}
