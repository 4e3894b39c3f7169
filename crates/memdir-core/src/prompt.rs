//! The memory section of a system prompt. Equal input gives equal bytes, because hosts cache prompts by their bytes. The words are
//! in `texts/prompts`; this module only selects and fills them.
//!
//! A prompt describes the parts of a space: the mounts that the model may write. One person's project, a project with a team, an
//! agent's memory and a log differ only in their parts and in the [`Wording`] that follows from them.

mod beside;
mod entrypoints;
mod instructions;
mod left_off;
mod parts;
mod space;
mod texts;

pub use beside::section_without_mount;
pub use instructions::{InstructionsRequest, instructions};
pub use left_off::{LEFT_OFF_BYTES, LeftOff, LeftOffCommand, left_off};
pub use parts::{OpenPath, SpacePart};
pub use space::{BuiltPrompt, ModeName, PromptLoad, PromptRequest, log_is_open, log_prefix, main_prefix, prompt};

use crate::{
    base::{limits, shell::quote_posix},
    store::{mounts::ENTRYPOINT_FILE, space::AgentScope},
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
    /// The maximum length of the prompt, in UTF-16 code units of its JSON; entrypoints are cut to fit it.
    pub max_units: Option<usize>,
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
            file: ENTRYPOINT_FILE,
            entrypoint: PromptEntrypoint::Shown,
            tools: None,
            search: PromptSearch::Memdir,
            transcripts: None,
            guidelines: &[],
            max_units: None,
        }
    }

    /// The part that a prompt about a single directory describes: the one with the log, else the first that is not the person's.
    fn main_part(&self) -> Option<&'a SpacePart<'a>> {
        let others = || self.parts.iter().find(|part| part.prefix != parts::USER);
        self.parts.iter().find(|part| self.log == Some(part.prefix)).or_else(others).or(self.parts.first())
    }

    /// Whether the person's memory is a part besides others.
    fn has_person(&self) -> bool {
        self.parts.len() > 1 && self.parts.iter().any(|part| part.prefix == parts::USER)
    }

    /// Whether the prompt names directories: the model writes files, because it has no tools.
    fn names_dirs(&self) -> bool {
        !self.remote && self.tools.is_none()
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
    fn wording(&self) -> Wording {
        let prefixes: Vec<&str> = self.parts.iter().map(|part| part.prefix).collect();
        match (self.log, self.agent, prefixes.as_slice()) {
            (Some(_), ..) => Wording::Log,
            (None, Some(_), _) => Wording::Agent,
            (None, None, [""]) if self.is_whole() => Wording::Project,
            _ => Wording::Scopes,
        }
    }

    /// The name of the mode in counts and on the command line. The person's memory does not change it.
    fn mode(&self) -> &'static str {
        let prefixes: Vec<&str> = self.parts.iter().map(|part| part.prefix).filter(|prefix| *prefix != parts::USER).collect();
        match (self.log, self.agent, prefixes.as_slice()) {
            (Some(_), ..) => "log",
            (None, Some(_), _) => "agent",
            (None, None, [""]) if self.is_whole() => "individual",
            (None, None, ["", "team"]) if self.is_whole() => "team",
            _ => "space",
        }
    }

    /// Whether the parts are whole directories of this machine.
    fn is_whole(&self) -> bool {
        !self.remote && self.parts.iter().all(|part| part.open.is_empty())
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wording {
    /// One directory: the project's.
    Project,
    /// The memory of an agent.
    Agent,
    /// A log of each day.
    Log,
    /// Several scopes, or a part of a directory.
    Scopes,
}

/// Builds the memory section.
pub fn build(input: &PromptInput<'_>) -> String {
    let is_log = input.log.is_some();
    let mut sections = vec![format!("# {}", input.title.trim()), intro(input)];
    if !is_log {
        sections.push(types(input));
    }
    let above_all = if input.is_shared() { ", above all in team memory" } else { "" };
    sections.push(fill(texts::NEVER, &[("above_all", above_all)]));
    sections.extend(save(input));
    sections.push(texts::LOOK.trim_end().to_owned());
    sections.push(fill(texts::TRUST, &[("correct", if is_log { "log the correction" } else { "correct the memory" })]));
    sections.push(texts::TASKS.trim_end().to_owned());
    sections.extend(input.guidelines.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).map(str::to_owned));
    sections.push(past(input));
    let before = sections.join("\n\n");
    match entrypoints::render(input, &before) {
        Some(entrypoints) => format!("{before}\n\n{entrypoints}\n"),
        None => before + "\n",
    }
}

/// The types, each with the scope it belongs to.
fn types(input: &PromptInput<'_>) -> String {
    let nothing_private = input.has_no_private_part();
    let shared = input.is_shared() && !nothing_private;
    let person = input.has_person();
    let user = match (person, shared) {
        (true, true) => " (always named `user/…`)",
        (true, false) => " (named `user/…`)",
        (false, true) => " (always private)",
        (false, false) => "",
    };
    const RULE: &str = "rule that binds everybody here, never";
    let feedback = match (nothing_private, person, shared) {
        (true, ..) => format!(" (only a {RULE} personal taste)"),
        (_, true, true) => format!(" (named `user/…` if it holds in every project; team only for a {RULE} for personal taste)"),
        (_, true, false) => " (named `user/…` if it holds in every project)".to_owned(),
        (_, false, true) => format!(" (private; team only for a {RULE} for personal taste)"),
        (_, false, false) => String::new(),
    };
    let user_type = if nothing_private { String::new() } else { fill(texts::TYPE_USER, &[("user", user)]) + "\n" };
    let values = [
        ("count", if nothing_private { "three" } else { "four" }),
        ("user_type", &user_type),
        ("feedback", &feedback),
        ("override", if shared { texts::OVERRIDE.trim_end() } else { "" }),
        ("project", if shared { " (rather team)" } else { "" }),
        ("reference", if shared { " (usually team)" } else { "" }),
    ];
    fill(texts::TYPES, &values)
}

fn intro(input: &PromptInput<'_>) -> String {
    let dir = input.main_part().map_or("", |part| part.dir);
    let (agent, scope) = input.agent.map_or(("", ""), |agent| (agent.name, scope_sentence(agent.scope)));
    let has_one_dir = input.wording() != Wording::Scopes;
    // A log may be open only in a part of its directory.
    let reach_dir = if input.log.is_some() { dirs(input).first().copied().unwrap_or(dir) } else { dir };
    let reach = match (input.remote, input.tools) {
        (true, _) => texts::REACH_TOOLS.trim_end().to_owned(),
        (false, Some(_)) => texts::REACH_OWN_TOOLS.trim_end().to_owned(),
        (false, None) if has_one_dir => fill(texts::REACH_DIR, &[("dir", reach_dir)]),
        (false, None) => texts::REACH_DIRS.trim_end().to_owned(),
    };
    let scopes = match parts::scopes(input) {
        scopes if input.agent.is_some() && input.has_person() => format!("\n\n## Scope\n{scopes}"),
        _ if input.agent.is_some() => String::new(),
        scopes => scopes,
    };
    let log = LogWording::new(input, dir);
    let values = [
        ("agent", agent),
        ("scope", scope),
        ("reach", &reach),
        ("scopes", &scopes),
        ("log", &log.file),
        ("log_how", &log.how),
        ("person", log.person),
        ("after", &log.after),
    ];
    let text = match input.wording() {
        Wording::Project => texts::INTRO,
        Wording::Agent => texts::INTRO_AGENT,
        Wording::Log => texts::INTRO_LOG,
        Wording::Scopes => texts::INTRO_SPACE,
    };
    fill(text, &values)
}

/// How the name of a new memory selects its part.
fn name_rule(input: &PromptInput<'_>) -> String {
    match input.main_part() {
        Some(part) if input.agent.is_some() => format!(", beginning with `{}/`", part.prefix),
        _ if input.wording() == Wording::Scopes => ", beginning as its scope says".to_owned(),
        _ => String::new(),
    }
}

/// The words that only the introduction of a log needs.
struct LogWording {
    /// The log of a day, without a date.
    file: String,
    /// How to append an entry.
    how: String,
    /// What to log about the person; empty if other people read the log, or if the person has a memory of their own.
    person: &'static str,
    /// What follows the list of what to log: the rule for a log that other people read, and where the person's memories go.
    after: String,
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
        let person = input.parts.iter().find(|part| part.prefix == parts::USER && prefix != parts::USER);
        let mut after = if is_shared { format!("\n{}", texts::NOTHING_PRIVATE.trim_end()) } else { String::new() };
        if let Some(part) = person {
            let save = match input.tools {
                Some(tools) => format!("call `{}` with a name `user/…`.", tools.write),
                None => format!("save it as a memory of its own in `{}`.", part.dir),
            };
            after.push_str(&format!("\n{}", fill(texts::LOG_PERSON, &[("save_person", &save)])));
        }
        LogWording {
            file: log_under(if input.names_dirs() { dir.trim_end_matches('/') } else { prefix }),
            how,
            person: if is_shared || person.is_some() { "" } else { "- who the person is: role, goals, what they know\n" },
            after,
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
            let index = if indexed { fill(texts::TOOL_INDEX, &both) } else { String::new() };
            let values = [("write", tools.write), ("where", &name_rule(input)), ("index", &index)];
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
        (PromptSearch::Memdir, Some(tools)) => {
            // A server has no conversations.
            let transcripts = if input.remote { "" } else { " Transcripts are large and slow: search them last, with source=\"chat\"." };
            return fill(texts::PAST_TOOL, &[("search", tools.search), ("transcripts", transcripts)]);
        }
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
