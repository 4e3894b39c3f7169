//! The memory section of a system prompt. Equal input gives equal bytes, because hosts cache prompts by their bytes. The words are
//! in `texts/prompts`; this module only selects and fills them.
//!
//! A prompt describes the parts of a space: the mounts that the model may write. One person's project, a project with a team, an
//! agent's memory and a log differ only in their parts and in the [`Wording`] that follows from them.

mod parts;
mod space;
mod texts;

pub use parts::{OpenPath, SpacePart};
pub use space::{BuiltPrompt, ModeName, PromptLoad, PromptRequest, log_is_open, log_prefix, main_prefix, prompt};

use crate::{
    base::{frame, limits, shell::quote_posix},
    store::space::AgentScope,
};
use texts::fill;

/// Everything a prompt depends on. Nothing in it may change between two conversations unless the memory did: no dates, no ids.
#[derive(Debug, Clone)]
pub struct PromptInput<'a> {
    /// The heading of the section.
    pub title: &'a str,
    /// The parts of the space, at least one.
    pub parts: &'a [SpacePart<'a>],
    /// The prefix of the part whose log is written, if memories are first written as a log.
    pub log: Option<&'a str>,
    /// The agent whose memory the first part is, if the prompt is for that agent.
    pub agent: Option<PromptAgent<'a>>,
    /// Whether the model is on another machine: it has tools, and the prompt names no directory.
    pub remote: bool,
    /// The file name of the entrypoint.
    pub file: &'a str,
    /// How the prompt treats the entrypoint.
    pub entrypoint: PromptEntrypoint,
    /// The names of memdir's tools, if the model has them.
    pub tools: Option<ToolNames<'a>>,
    /// The tool for searching.
    pub search: PromptSearch<'a>,
    /// The directory of the host's own transcripts, for a search with grep.
    pub transcripts: Option<&'a str>,
    /// Additional paragraphs from the user's settings. Blank ones are skipped.
    pub guidelines: &'a [&'a str],
}

impl<'a> PromptInput<'a> {
    /// The prompt for these parts, with the default for everything else.
    pub fn new(parts: &'a [SpacePart<'a>]) -> Self {
        PromptInput {
            title: "Memory",
            parts,
            log: None,
            agent: None,
            remote: false,
            file: "MEMORY.md",
            entrypoint: PromptEntrypoint::Shown,
            tools: None,
            search: PromptSearch::Memdir,
            transcripts: None,
            guidelines: &[],
        }
    }

    /// The part that a prompt about a single directory describes: the one with the log, else the first.
    fn main_part(&self) -> Option<&'a SpacePart<'a>> {
        self.parts.iter().find(|part| self.log == Some(part.prefix)).or(self.parts.first())
    }

    /// Whether other people read some of the memories that the model writes. A log has a single scope, which its intro names.
    fn is_shared(&self) -> bool {
        self.log.is_none() && self.parts.iter().any(|part| parts::is_shared(part.prefix, self.remote))
    }

    /// Whether no part belongs to a single person.
    fn has_no_private_part(&self) -> bool {
        parts::is_all_shared(self.parts, self.remote)
    }

    /// The wording that follows from the parts.
    fn wording(&self) -> &'static Wording {
        let prefixes: Vec<&str> = self.parts.iter().map(|part| part.prefix).collect();
        let whole_directories = !self.remote && self.parts.iter().all(|part| part.open.is_empty());
        match (self.log, self.agent, prefixes.as_slice()) {
            (Some(_), ..) => &LOG,
            (None, Some(_), _) => &AGENT,
            (None, None, [""]) if whole_directories => &PROJECT,
            (None, None, ["", "team"]) if whole_directories => &PROJECT_AND_TEAM,
            _ => &SCOPES,
        }
    }
}

/// An agent that has a memory of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptAgent<'a> {
    /// Its name.
    pub name: &'a str,
    /// The reach of its memory.
    pub scope: AgentScope,
}

/// The sentence about the reach of an agent's memory.
fn scope_sentence(scope: AgentScope) -> &'static str {
    match scope {
        AgentScope::User => "It follows you into every project, so keep what holds everywhere.",
        AgentScope::Project => {
            "It belongs to this project and is shared with everybody who works on it, so keep what holds for all of them."
        }
        AgentScope::Local => "It belongs to this project on this machine and is not shared, so keep what holds here.",
    }
}

/// How a prompt treats the entrypoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptEntrypoint {
    /// Its text is at the end of the prompt.
    Shown,
    /// The host loads it itself.
    LeftOut,
    /// There is none: saving a memory is one step.
    Unused,
}

/// The names under which the model has memdir's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolNames<'a> {
    /// Saves a memory.
    pub write: &'a str,
    /// Searches memories and conversations.
    pub search: &'a str,
    /// Appends to the log, if that tool is served.
    pub log: Option<&'a str>,
}

/// The tool that the model searches with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptSearch<'a> {
    /// memdir: its tool if the model has it, else its command.
    Memdir,
    /// The host's own search tool with this name.
    Grep(&'a str),
    /// `grep` in a shell.
    Shell,
}

/// The words of a prompt that depend on its parts.
struct Wording {
    /// The name in counts and on the command line.
    name: &'static str,
    /// The introduction.
    intro: &'static str,
    /// How the name of a new memory selects its part.
    name_rule: &'static str,
    /// The labels over the entrypoints; empty for the labels of the parts themselves.
    labels: &'static [&'static str],
}

const PROJECT: Wording = Wording { name: "individual", intro: texts::INTRO, name_rule: "", labels: &[] };
const PROJECT_AND_TEAM: Wording =
    Wording { name: "team", intro: texts::INTRO_TEAM, name_rule: ", beginning with `team/` for team memory", labels: &["private", "team"] };
const AGENT: Wording = Wording { name: "agent", intro: texts::INTRO_AGENT, name_rule: "", labels: &[] };
const LOG: Wording = Wording { name: "log", intro: texts::INTRO_LOG, name_rule: "", labels: &[] };
const SCOPES: Wording = Wording { name: "space", intro: texts::INTRO_SPACE, name_rule: ", beginning as its scope says", labels: &[] };

/// Builds the memory section.
pub fn build(input: &PromptInput<'_>) -> String {
    let is_log = input.log.is_some();
    let mut sections = vec![format!("# {}", input.title.trim()), intro(input)];
    if !is_log {
        sections.push(types(input).trim_end().to_owned());
    }
    let above_all = if input.is_shared() { ", above all in team memory" } else { "" };
    sections.push(fill(texts::NEVER, &[("above_all", above_all)]));
    sections.extend(save(input));
    sections.push(texts::LOOK.trim_end().to_owned());
    sections.push(fill(texts::TRUST, &[("correct", if is_log { "log the correction" } else { "correct the memory" })]));
    sections.push(texts::TASKS.trim_end().to_owned());
    sections.extend(input.guidelines.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).map(str::to_owned));
    sections.push(past(input));
    sections.extend(entrypoints(input));
    sections.join("\n\n") + "\n"
}

fn types(input: &PromptInput<'_>) -> &'static str {
    match (input.has_no_private_part(), input.is_shared()) {
        (true, _) => texts::TYPES_SHARED,
        (false, true) => texts::TYPES_TEAM,
        (false, false) => texts::TYPES,
    }
}

fn intro(input: &PromptInput<'_>) -> String {
    let dir = input.main_part().map_or("", |part| part.dir);
    let team_dir = input.parts.iter().find(|part| part.prefix == "team").map_or("", |part| part.dir);
    let (agent, scope) = input.agent.map_or(("", ""), |agent| (agent.name, scope_sentence(agent.scope)));
    let reach = match (input.remote, input.log) {
        (true, _) => texts::REACH_TOOLS.trim_end().to_owned(),
        (false, None) => texts::REACH_DIRS.trim_end().to_owned(),
        (false, Some(_)) => fill(texts::REACH_DIR, &[("dir", dirs(input).first().copied().unwrap_or(dir))]),
    };
    let log = LogWording::new(input, dir);
    let values = [
        ("dir", dir),
        ("team_dir", team_dir),
        ("agent", agent),
        ("scope", scope),
        ("reach", &reach),
        ("scopes", &parts::scopes(input.parts, input.remote)),
        ("log", &log.file),
        ("log_how", &log.how),
        ("person", log.person),
        ("nothing_private", &log.nothing_private),
    ];
    fill(input.wording().intro, &values)
}

/// The words that only the introduction of a log needs.
struct LogWording {
    /// The log of a day, without a date.
    file: String,
    /// How to append an entry.
    how: String,
    /// What to log about the person; empty if other people read the log.
    person: &'static str,
    /// The rule for a log that other people read, else empty.
    nothing_private: String,
}

impl LogWording {
    fn new(input: &PromptInput<'_>, dir: &str) -> Self {
        let prefix = input.log.unwrap_or_default();
        let sample = crate::operations::log::SAMPLE;
        let how = match (input.tools, input.search) {
            (Some(ToolNames { log: Some(log), .. }), _) => {
                format!("Call `{log}` with one short entry; it finds the file and adds the time.")
            }
            (Some(tools), _) => format!(
                "Call `{}` with the name `{}`, mode \"append\" and one short bullet that begins with the time: `{sample}`.",
                tools.write,
                log_under(prefix)
            ),
            (None, PromptSearch::Memdir) => {
                format!("Use `memdir log \"…\"`, which does all this, or write short bullets that begin with the time: `{sample}`.")
            }
            (None, _) => format!("Write short bullets that begin with the time: `{sample}`."),
        };
        let is_shared = parts::is_shared(prefix, input.remote);
        LogWording {
            file: log_under(if input.remote { prefix } else { dir.trim_end_matches('/') }),
            how,
            person: if is_shared { "" } else { "- who the person is: role, goals, what they know\n" },
            nothing_private: if is_shared { format!("\n{}", texts::NOTHING_PRIVATE.trim_end()) } else { String::new() },
        }
    }
}

/// The log of a day under a prefix or directory.
fn log_under(prefix: &str) -> String {
    let pattern = crate::operations::log::PATTERN;
    if prefix.is_empty() { pattern.to_owned() } else { format!("{prefix}/{pattern}") }
}

fn save(input: &PromptInput<'_>) -> Option<String> {
    let indexed = input.entrypoint != PromptEntrypoint::Unused;
    if input.log.is_some() {
        return indexed.then(|| fill(texts::DISTILLED, &[("file", input.file)]));
    }
    let lines = limits::ENTRYPOINT_LINES.to_string();
    let example = fill(texts::EXAMPLE, &[("user", if input.has_no_private_part() { "" } else { "user | " })]);
    let both = [("example", example.as_str()), ("care", texts::CARE.trim_end()), ("file", input.file), ("lines", &lines)];
    let has_scopes = input.parts.len() > 1;
    Some(match input.tools {
        Some(tools) => {
            let index = if indexed { fill(texts::TOOL_INDEX, &both) + "\n\n" } else { String::new() };
            let values = [("write", tools.write), ("where", input.wording().name_rule), ("index", &index)];
            fill(texts::SAVE_TOOL, &[&both[..], &values].concat())
        }
        None if !indexed => {
            let place = if has_scopes { " in the directory of its scope" } else { "" };
            fill(texts::SAVE_FILE, &[&both[..], &[("where", place)]].concat())
        }
        None if has_scopes => fill(texts::SAVE_TEAM, &both),
        None => fill(texts::SAVE, &both),
    })
}

/// The directories and files to search: those of the log's part, else of all parts. A recursive search of one directory covers
/// those inside it.
fn dirs<'a>(input: &PromptInput<'a>) -> Vec<&'a str> {
    let searched = match input.log {
        Some(_) => input.main_part().map_or_else(Vec::new, SpacePart::paths),
        None => input.parts.iter().flat_map(SpacePart::paths).collect(),
    };
    let mut dirs: Vec<&str> = Vec::new();
    for dir in searched {
        if !dirs.iter().any(|outer| std::path::Path::new(dir).starts_with(outer)) {
            dirs.push(dir);
        }
    }
    dirs
}

fn past(input: &PromptInput<'_>) -> String {
    let dirs = dirs(input);
    let grep = |tool: &str, dir: &str, files: &str| format!("{tool} with pattern=\"narrow term\" path=\"{dir}\" glob=\"{files}\"");
    let shell = |dir: &str, files: &str| format!("grep -rn \"narrow term\" {} --include=\"{files}\"", quote_posix(dir));
    let each = |one: &dyn Fn(&str) -> String| dirs.iter().map(|dir| one(dir)).collect::<Vec<_>>().join("\n");
    let (memories, transcripts) = match (input.search, input.tools) {
        // A server has no conversations.
        (PromptSearch::Memdir, Some(tools)) if input.remote => (format!("{} with query=\"narrow term\"", tools.search), None),
        (PromptSearch::Memdir, Some(tools)) => (
            format!("{} with query=\"narrow term\"", tools.search),
            Some(format!("{} with query=\"narrow term\" source=\"chat\"", tools.search)),
        ),
        (PromptSearch::Memdir, None) => {
            ("memdir search \"narrow term\"".into(), Some("memdir search --source chat \"narrow term\"".into()))
        }
        (PromptSearch::Grep(tool), _) => (each(&|dir| grep(tool, dir, "*.md")), input.transcripts.map(|dir| grep(tool, dir, "*.jsonl"))),
        (PromptSearch::Shell, _) => (each(&|dir| shell(dir, "*.md")), input.transcripts.map(|dir| shell(dir, "*.jsonl"))),
    };
    match transcripts {
        Some(transcripts) => fill(texts::PAST, &[("memories", &memories), ("transcripts", &transcripts)]),
        None => fill(texts::PAST_MEMORIES, &[("memories", &memories)]),
    }
}

/// One section per part that keeps an entrypoint. A single directory needs no label.
fn entrypoints(input: &PromptInput<'_>) -> Vec<String> {
    if input.entrypoint != PromptEntrypoint::Shown {
        return Vec::new();
    }
    let wording = input.wording();
    let labelled = input.parts.len() > 1 || wording.name == SCOPES.name;
    let section = |(n, part): (usize, &SpacePart<'_>)| {
        let heading = match (labelled, wording.labels.get(n)) {
            (false, _) => input.file.to_owned(),
            (true, Some(label)) => format!("{}, {label}", input.file),
            (true, None) => format!("{}, {}", input.file, part.label()),
        };
        let text = part.entrypoint.map(str::trim).filter(|text| !text.is_empty());
        let text = match text {
            None => fill(texts::EMPTY, &[("file", input.file)]),
            Some(text) if part.is_foreign || parts::is_shared(part.prefix, input.remote) => {
                let source = if part.prefix.is_empty() { input.file.to_owned() } else { format!("{}/{}", part.prefix, input.file) };
                frame::shared(&source, texts::SHARED.trim_end(), text)
            }
            Some(text) => text.to_owned(),
        };
        let warning = part.warning.map_or_else(String::new, |warning| format!("\n\n{warning}"));
        format!("## {heading}\n\n{text}{warning}")
    };
    input.parts.iter().enumerate().filter(|(_, part)| part.kept).map(section).collect()
}
