//! Looks over a whole space for what is wrong or doubtful, for people and for CI. Changes nothing unless asked to add
//! entrypoint lines that are missing, which can lose nothing.

mod alike;
mod dates;
mod files;

pub use alike::pairs;
pub use dates::{Relative, relative};

use crate::{
    base::{
        error::{Error, Problem, Result},
        limits,
        path::MemoryPath,
        text,
    },
    entrypoint::Place,
    operations::{context::Context, read, repair},
    project::Project,
    store::{ChangeId, Store, Stored, mounts},
};
use files::{Space, between_files, file_findings};
use serde::Serialize;

/// What to check.
#[derive(Debug, Clone, Copy, Default)]
pub struct Check<'a> {
    /// The project the memories speak of, if one is known: its instruction files and its own files are looked at.
    pub project: Option<&'a Project>,
    /// Whether to add entrypoint lines that are missing.
    pub fix: bool,
}

/// What is looked for. The name is what people see, and what a setting names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// An entrypoint line leads to no memory.
    DeadLine,
    /// A link or wikilink leads to no file.
    DeadLink,
    /// A `mem:` name is no memory's.
    DeadReference,
    /// A memory has no entrypoint line.
    Unlisted,
    /// A secret is in a memory.
    Secret,
    /// The frontmatter cannot be read as meant.
    Frontmatter,
    /// Two names differ by case only.
    CaseCollision,
    /// A tripwire can never fire.
    Tripwire,
    /// A file could not be read or listed.
    Unreadable,
    /// An entrypoint is at or near a cap.
    Cap,
    /// An entrypoint line has become content.
    LongLine,
    /// A memory has no type.
    Type,
    /// A date that means nothing tomorrow.
    RelativeDate,
    /// Two memories are nearly the same.
    NearDuplicate,
    /// A memory repeats the project's instructions.
    RepeatsInstructions,
    /// A memory names what is gone.
    Gone,
}

impl Rule {
    /// Whether a memory is wrong by this, or only could be better.
    pub fn severity(self) -> Severity {
        match self {
            Rule::DeadLine
            | Rule::DeadLink
            | Rule::DeadReference
            | Rule::Unlisted
            | Rule::Secret
            | Rule::Frontmatter
            | Rule::CaseCollision
            | Rule::Tripwire
            | Rule::Unreadable => Severity::Wrong,
            Rule::Cap | Rule::LongLine | Rule::Type | Rule::RelativeDate | Rule::NearDuplicate | Rule::RepeatsInstructions | Rule::Gone => {
                Severity::Advice
            }
        }
    }
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something does not work.
    Wrong,
    /// Something could be better.
    Advice,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The file.
    pub path: String,
    /// The line, 1-based, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// By which rule.
    pub rule: Rule,
    /// How bad.
    pub severity: Severity,
    /// What is found, and what to do.
    pub what: String,
}

/// The outcome of a check.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// How many files were looked at.
    pub files: usize,
    /// What was found, by file and line.
    pub findings: Vec<Finding>,
    /// Memories that got their entrypoint line.
    pub fixed: Vec<MemoryPath>,
    /// The changes that were made, for undo.
    pub changes: Vec<ChangeId>,
}

impl Checked {
    /// Whether anything is wrong, advice aside.
    pub fn is_wrong(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Wrong)
    }
}

/// The files that instruct agents in a project. What they say need not be remembered.
pub const INSTRUCTION_FILES: &[&str] = &[
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "GEMINI.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
    "CONVENTIONS.md",
    "CONTRIBUTING.md",
];

/// Checks the whole space.
pub fn check(store: &dyn Store, context: &Context, request: &Check<'_>) -> Result<Checked> {
    let mut out = Checked { files: 0, findings: Vec::new(), fixed: Vec::new(), changes: Vec::new() };
    for repaired in repair::repair(store, context, request.fix)? {
        entrypoint_findings(store, context, &repaired, &mut out)?;
    }
    let walk = store.list("")?;
    let rule = |problem: &Problem| if problem.what.contains("differ only by case") { Rule::CaseCollision } else { Rule::Unreadable };
    out.findings.extend(walk.problems.iter().map(|problem| finding("", problem.line, rule(problem), problem.what.clone())));
    let mut files = Vec::new();
    for entry in &walk.entries {
        match store.get(&entry.path) {
            Ok(stored) => files.extend(stored),
            Err(error @ (Error::Io { .. } | Error::TooLarge { .. })) => {
                out.findings.push(finding(entry.path.as_str(), None, Rule::Unreadable, error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    out.files = files.len();
    let texts: Vec<(&Stored, String)> = files.iter().map(|stored| (stored, text::decode(&stored.bytes).0.into_owned())).collect();
    let space = Space::new(store, &texts, request.project);
    for (stored, text) in &texts {
        file_findings(&space, stored, text, &mut out.findings);
    }
    between_files(&space, &texts, &mut out.findings);
    out.findings.sort();
    out.findings.dedup();
    Ok(out)
}

fn finding(path: &str, line: Option<u64>, rule: Rule, what: impl Into<String>) -> Finding {
    Finding { path: path.to_owned(), line, rule, severity: rule.severity(), what: what.into() }
}

fn entrypoint_findings(store: &dyn Store, context: &Context, repaired: &repair::Repaired, out: &mut Checked) -> Result<()> {
    let main = mounts::entrypoint_path(&repaired.prefix)?;
    let mut add = |line, rule, what: String| out.findings.push(finding(main.as_str(), line, rule, what));
    if let Some(why) = &repaired.unreadable {
        add(None, Rule::Unreadable, why.clone());
        return Ok(());
    }
    for dead in &repaired.dead {
        let line = if let Place::Hand(line) = dead.place { Some(line) } else { None };
        add(line, Rule::DeadLine, format!("a line leads to {}, which is not there", dead.path));
    }
    for long in &repaired.long {
        add(Some(long.line), Rule::LongLine, format!("{} characters: keep a pointer here and the content in the memory", long.chars));
    }
    let loaded = read::entrypoint(store, context, &repaired.prefix)?;
    for (what, size, cap) in
        [("lines", loaded.line_count, limits::ENTRYPOINT_LINES as u64), ("bytes", loaded.byte_count, limits::ENTRYPOINT_BYTES as u64)]
    {
        if size * 100 >= cap * limits::ENTRYPOINT_WARN_PERCENT as u64 {
            add(None, Rule::Cap, format!("{size} of the {cap} {what} that are loaded"));
        }
    }
    match &repaired.change {
        Some(change) => {
            out.fixed.extend(repaired.missing.iter().cloned());
            out.changes.push(change.clone());
        }
        None => out.findings.extend(repaired.missing.iter().map(|path| {
            finding(
                path.as_str(),
                None,
                Rule::Unlisted,
                "the entrypoint has no line for it, so nobody is led to it; memdir check --fix adds it",
            )
        })),
    }
    Ok(())
}
