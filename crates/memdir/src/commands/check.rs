//! `memdir check`: what is wrong or doubtful in all memories of the space.

use crate::{
    args::Check as Typed,
    exit::{Exit, Failure},
    output::{Answer, Page},
    scope::Scope,
};
use memdir_core::{
    memdir::Memdir,
    operations::check::{Check, Checked, Finding, Severity},
};
use std::io;

pub(crate) fn run(args: &Typed, memdir: &Memdir, scope: &Scope) -> Result<Answer, Failure> {
    let checked = memdir.check(&Check { project: Some(&scope.project), fix: args.fix })?;
    let bad = checked.is_wrong() || (args.strict && !checked.findings.is_empty());
    Ok(Answer::new(checked, show).exit(if bad { Exit::NotSo } else { Exit::Done }))
}

fn show(checked: &Checked, page: &mut Page<'_>) -> io::Result<()> {
    for finding in &checked.findings {
        let line = line(finding, page);
        page.line(line)?;
    }
    for path in &checked.fixed {
        page.line(format!("{path}: got its line in the entrypoint"))?;
    }
    for change in &checked.changes {
        page.note(format!("memdir undo {change} takes the added lines back"));
    }
    let count = |severity| checked.findings.iter().filter(|finding| finding.severity == severity).count();
    let files = if checked.files == 1 { "1 file".to_owned() } else { format!("{} files", checked.files) };
    page.line(format!("{files}: {} wrong, {} to consider", count(Severity::Wrong), count(Severity::Advice)))
}

fn line(finding: &Finding, page: &Page<'_>) -> String {
    let place = match finding.line {
        Some(line) => format!("{}:{line}", finding.path),
        None => finding.path.clone(),
    };
    let rule = serde_json::to_value(finding.rule).ok().and_then(|rule| rule.as_str().map(str::to_owned)).unwrap_or_default();
    let rule = if finding.severity == Severity::Wrong { page.red(&rule) } else { page.dim(&rule) };
    let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
    format!("{place}{rule}: {}", finding.what)
}
