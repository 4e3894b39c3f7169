//! Checks all memories for errors and likely mistakes, for users and CI. Changes nothing, except that `fix` adds missing entrypoint
//! lines and removes those of files that no longer exist.

mod alike;
mod dates;
mod files;

use crate::base::sort::SharedSort as _;
pub use dates::{RelativeDate, relative_dates};

use crate::{
    base::{
        error::{Error, Problem, Result},
        limits,
        path::MemoryPath,
        text,
    },
    entrypoint::LinePlace,
    memory::Memory,
    operations::{context::Context, cues, read, repair},
    project::Project,
    store::{Access, ChangeId, Store, Stored, mounts},
};
use files::{CheckedSpace, between_files, file_findings};
use serde::Serialize;

/// What to check.
#[derive(Debug, Clone, Copy, Default)]
pub struct Check<'a> {
    /// The project that the memories are about, if known. Its instruction files and its sources are compared with them.
    pub project: Option<&'a Project>,
    /// Adds missing entrypoint lines, and removes memdir's own lines of missing files.
    pub fix: bool,
}

/// A rule of the check. Its name in kebab case is shown to users and used in settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckRule {
    /// The memory of an entrypoint line does not exist.
    DeadLine,
    /// The target of a link or wikilink does not exist.
    DeadLink,
    /// The target of a `mem:` reference does not exist.
    DeadReference,
    /// A memory has no entrypoint line.
    Unlisted,
    /// A memory contains a secret.
    Secret,
    /// The frontmatter is invalid.
    Frontmatter,
    /// A merge left conflict markers.
    ConflictMarker,
    /// Two names differ only in case.
    CaseCollision,
    /// A tripwire can never fire.
    Tripwire,
    /// A file could not be read or listed.
    Unreadable,
    /// An entrypoint is near or over a limit.
    Cap,
    /// An entrypoint line is too long for a pointer.
    LongLine,
    /// A memory has no type.
    Type,
    /// A date is relative to the day it was written.
    RelativeDate,
    /// The bodies of two memories are nearly identical.
    NearDuplicate,
    /// A memory repeats an instruction file of the project.
    RepeatsInstructions,
    /// A memory mentions something that no longer exists.
    Gone,
}

impl CheckRule {
    /// Whether the rule reports errors or advice.
    pub fn severity(self) -> CheckSeverity {
        match self {
            CheckRule::DeadLine
            | CheckRule::DeadLink
            | CheckRule::DeadReference
            | CheckRule::Unlisted
            | CheckRule::Secret
            | CheckRule::Frontmatter
            | CheckRule::ConflictMarker
            | CheckRule::CaseCollision
            | CheckRule::Tripwire
            | CheckRule::Unreadable => CheckSeverity::Wrong,
            CheckRule::Cap
            | CheckRule::LongLine
            | CheckRule::Type
            | CheckRule::RelativeDate
            | CheckRule::NearDuplicate
            | CheckRule::RepeatsInstructions
            | CheckRule::Gone => CheckSeverity::Advice,
        }
    }
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckSeverity {
    /// An error.
    Wrong,
    /// Advice.
    Advice,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CheckFinding {
    /// The file.
    pub path: String,
    /// The line, 1-based, if the finding has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The rule.
    pub rule: CheckRule,
    /// The severity of the rule.
    pub severity: CheckSeverity,
    /// The message: what is wrong, and what to do.
    pub what: String,
}

/// The result of a check.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// Number of files checked.
    pub files: usize,
    /// The findings, sorted by file and line.
    pub findings: Vec<CheckFinding>,
    /// Number of memories without cues. Not a finding: a memory may do without.
    pub without_cues: usize,
    /// Memories whose entrypoint line was added.
    pub fixed: Vec<MemoryPath>,
    /// Files that no longer exist and whose entrypoint line was removed, or follows the file to its new name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<MemoryPath>,
    /// The changes that added and removed lines, for undo.
    pub changes: Vec<ChangeId>,
}

impl Checked {
    /// Whether there is an error, as opposed to advice.
    pub fn is_wrong(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == CheckSeverity::Wrong)
    }
}

/// Instruction files for agents in a project. Memories should not repeat them.
const INSTRUCTION_FILES: &[&str] = &[
    "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md",
    "CONVENTIONS.md", "CONTRIBUTING.md",
];

/// Checks the whole space.
pub fn check(store: &dyn Store, context: &Context, request: &Check<'_>) -> Result<Checked> {
    let mut out = Checked { files: 0, findings: Vec::new(), without_cues: 0, fixed: Vec::new(), removed: Vec::new(), changes: Vec::new() };
    for repaired in repair::repair(store, context, request.fix)? {
        entrypoint_findings(store, context, &repaired, &mut out)?;
    }
    let walk = store.list("")?;
    let rule =
        |problem: &Problem| if problem.what.contains("differ only in case") { CheckRule::CaseCollision } else { CheckRule::Unreadable };
    out.findings.extend(walk.problems.iter().map(|problem| finding("", problem.line, rule(problem), problem.what.clone())));
    let mut files = Vec::new();
    for entry in &walk.entries {
        match store.get(&entry.path) {
            Ok(stored) => files.extend(stored),
            Err(error @ (Error::Io { .. } | Error::TooLarge { .. })) => {
                out.findings.push(finding(entry.path.as_str(), None, CheckRule::Unreadable, error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    out.files = files.len();
    let texts: Vec<(&Stored, String)> = files.iter().map(|stored| (stored, text::decode(&stored.bytes).0.into_owned())).collect();
    let space = CheckedSpace::new(store, &texts, request.project);
    for (stored, text) in &texts {
        file_findings(&space, stored, text, &mut out.findings);
        out.without_cues += usize::from(cues::lacks_cues(store, &stored.path, &Memory::parse(text).0));
    }
    between_files(&space, &texts, &mut out.findings);
    out.findings.shared_sort();
    out.findings.dedup();
    Ok(out)
}

fn finding(path: &str, line: Option<u64>, rule: CheckRule, what: impl Into<String>) -> CheckFinding {
    CheckFinding { path: path.to_owned(), line, rule, severity: rule.severity(), what: what.into() }
}

fn entrypoint_findings(store: &dyn Store, context: &Context, repaired: &repair::Repaired, out: &mut Checked) -> Result<()> {
    let main = mounts::entrypoint_path(&repaired.prefix)?;
    let mut add = |line, rule, what: String| out.findings.push(finding(main.as_str(), line, rule, what));
    if let Some(why) = &repaired.unreadable {
        add(None, CheckRule::Unreadable, why.clone());
        return Ok(());
    }
    // The entrypoint of a read-only mount is never repaired.
    let is_writable = store.mounts().iter().any(|mount| mount.prefix == repaired.prefix && mount.access == Access::ReadWrite);
    for dead in &repaired.dead {
        let (line, next) = match dead.place {
            LinePlace::Hand(line) => (Some(line), ""),
            LinePlace::Section | LinePlace::Page(_) if is_writable => (None, "; remove the line with: memdir check --fix"),
            LinePlace::Section | LinePlace::Page(_) => (None, ""),
        };
        add(line, CheckRule::DeadLine, format!("links to {}, which does not exist{next}", dead.path));
    }
    for long in &repaired.long {
        add(Some(long.line), CheckRule::LongLine, long.to_string());
    }
    let loaded = read::entrypoint(store, context, &repaired.prefix)?;
    for (what, size, cap) in
        [("lines", loaded.line_count, limits::ENTRYPOINT_LINES as u64), ("bytes", loaded.byte_count, limits::ENTRYPOINT_BYTES as u64)]
    {
        if size * 100 >= cap * limits::ENTRYPOINT_WARN_PERCENT as u64 {
            add(None, CheckRule::Cap, format!("{size} {what} (limit {cap}); text over the limit is not loaded"));
        }
    }
    match &repaired.change {
        Some(change) => {
            out.fixed.extend(repaired.missing.iter().cloned());
            let removed = repaired.removed.iter().filter_map(|rel| Some(MemoryPath::parse(rel).ok()?.prefixed(&repaired.prefix)));
            out.removed.extend(removed);
            out.changes.push(change.clone());
        }
        None => {
            let next = if is_writable { "; add it with: memdir check --fix" } else { "" };
            let unlisted = format!("not listed in the entrypoint{next}");
            out.findings.extend(repaired.missing.iter().map(|path| finding(path.as_str(), None, CheckRule::Unlisted, unlisted.as_str())));
        }
    }
    Ok(())
}
