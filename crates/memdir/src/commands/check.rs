//! `memdir check`: checks all memories of the space for errors and likely mistakes.

use super::{OpenSpace, check_diff, counted};
use crate::{
    args::CheckArgs,
    exit::{Exit, Failure},
    output::{CommandOutput, Printer},
};
use memdir_core::{Check, CheckFinding, CheckSeverity, Checked};
use std::io;

pub(crate) fn run(args: &CheckArgs, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    if let Some(range) = &args.diff {
        return check_diff::run(args, range, space);
    }
    let project = space.origin.map(|(_, scope)| &scope.project);
    let checked = space.memdir.check(&Check { project, fix: args.fix })?;
    let failed = checked.is_wrong() || (args.strict && !checked.findings.is_empty());
    Ok(CommandOutput::new(checked, show).exit(if failed { Exit::Negative } else { Exit::Success }))
}

fn show(checked: &Checked, printer: &mut Printer<'_>) -> io::Result<()> {
    for finding in &checked.findings {
        let line = line(finding, printer);
        printer.line(line)?;
    }
    for path in &checked.fixed {
        printer.line(format!("{path}: added to the entrypoint"))?;
    }
    for path in &checked.removed {
        printer.line(format!("{path}: removed from the entrypoint, because the file does not exist"))?;
    }
    for change in &checked.changes {
        printer.note(format!("undo the repair with: memdir undo {change}"));
    }
    if checked.without_cues > 0 {
        let memories = counted(checked.without_cues as u64, "memory has", "memories have");
        printer.note(format!("{memories} no cues; see which with: memdir cues"));
    }
    let count = |severity| checked.findings.iter().filter(|finding| finding.severity == severity).count() as u64;
    let files = counted(checked.files as u64, "file", "files");
    let errors = counted(count(CheckSeverity::Wrong), "error", "errors");
    let advice = counted(count(CheckSeverity::Advice), "suggestion", "suggestions");
    printer.line(format!("{files}: {errors}, {advice}"))
}

fn line(finding: &CheckFinding, printer: &Printer<'_>) -> String {
    let place = match finding.line {
        Some(line) => format!("{}:{line}", finding.path),
        None => finding.path.clone(),
    };
    let rule = serde_json::to_value(finding.rule).ok().and_then(|rule| rule.as_str().map(str::to_owned)).unwrap_or_default();
    let rule = if finding.severity == CheckSeverity::Wrong { printer.red(&rule) } else { printer.dim(&rule) };
    let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
    format!("{place}{rule}: {}", finding.what)
}
