//! Writes a plan as one Markdown file that a person can read and edit.

use super::{DreamChange, DreamOperation, DreamPlan};
use crate::{base::text::one_line, secrets};
use std::fmt::Write as _;

/// The first line of every plan.
pub(super) const HEADING: &str = "# Dream plan";
/// The number of the format.
pub(super) const FORMAT: &str = "1";

const INTRODUCTION: &str = "\
> Nothing is changed until you apply this plan. To skip an operation, delete its section, up to the next `##` heading.
> To change the text of a memory, edit its `### text of` block. Changes to a `### diff` block are ignored.
> Apply the plan with: memdir dream --apply FILE. One `memdir undo` reverts all of it.
";

/// Renders a plan. `parse` reads it back.
pub fn render(plan: &DreamPlan) -> String {
    let mut out =
        format!("{HEADING}\n\n- format: {FORMAT}\n- made: {}\n- memories: {}\n- bytes: {}\n", plan.made, plan.memories, plan.bytes);
    if let Some(day) = plan.logs_through {
        let _ = writeln!(out, "- logs through: {day}");
    }
    let _ = write!(out, "\n{INTRODUCTION}");
    for (number, operation) in (1..).zip(&plan.operations) {
        render_operation(&mut out, number, operation);
    }
    out
}

fn render_operation(out: &mut String, number: usize, operation: &DreamOperation) {
    let why = one_line(&operation.why);
    let _ = write!(out, "\n## {number}. {}\n\nWhy: {}\n\n", operation.title(), secrets::redact(&why));
    let _ = writeln!(out, "- reason: {}\n- confidence: {} %", operation.reason.as_str(), operation.confidence);
    for (path, version) in &operation.sources {
        let _ = writeln!(out, "- source: {path}@{version}");
    }
    for change in &operation.changes {
        let _ = match change {
            DreamChange::Write { path, version, .. } => writeln!(out, "- write: {path}@{version}"),
            DreamChange::New { path, .. } => writeln!(out, "- new: {path}"),
            DreamChange::Move { path, version, to } => writeln!(out, "- move: {path}@{version} to {to}"),
            DreamChange::Relink { path, version } => writeln!(out, "- relink: {path}@{version}"),
            DreamChange::List { path, version } => writeln!(out, "- list: {path}@{version}"),
            DreamChange::Page { path, version } => writeln!(out, "- page: {path}@{version}"),
        };
    }
    for change in &operation.changes {
        if let DreamChange::Write { path, text, .. } | DreamChange::New { path, text } = change {
            let _ = writeln!(out, "\n### text of {path}\n");
            block(out, "markdown", text);
        }
    }
    if !operation.diff.is_empty() {
        let _ = writeln!(out, "\n### diff\n");
        block(out, "diff", &operation.diff);
    }
}

/// A code block whose fence is longer than every run of backticks in the text.
fn block(out: &mut String, info: &str, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(3) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let _ = writeln!(out, "{fence}{info}\n{text}{end}{fence}");
}
