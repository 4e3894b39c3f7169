//! `memdir check --diff`: which memories a range of commits makes doubtful, as text, as JSON, or as Markdown for a pull request.

use super::{OpenSpace, counted};
use crate::{
    args::{CheckArgs, CheckFormat},
    exit::{Exit, Failure},
    git::Git,
    output::{CommandOutput, Printer},
};
use memdir_core::{CheckDiff, DiffChecked, Problem, internal::operations::check_diff::parse_diff};
use std::io;

/// The maximum number of rows in a comment on a pull request.
const MAX_ROWS: usize = 50;

pub(crate) fn run(args: &CheckArgs, range: &str, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let (settings, scope) = space.origin.ok_or_else(|| no_repository(None))?;
    let git = Git::open(&scope.project).ok_or_else(|| no_repository(scope.project.problems.first()))?;
    let request = CheckDiff { files: parse_diff(&git.diff(range)?), checkout: Some(git.checkout()) };
    let checked = space.memdir.check_diff(&request, Some(&scope.tripwires_file(&settings.cache)))?;
    let failed = args.strict && !checked.doubtful.is_empty();
    let show = match args.format {
        CheckFormat::Text => show_text,
        CheckFormat::Markdown => show_markdown,
    };
    Ok(CommandOutput::new(checked, show).exit(if failed { Exit::Negative } else { Exit::Success }))
}

/// The failure without a repository, with the reason why the one that is there is not trusted.
fn no_repository(problem: Option<&Problem>) -> Failure {
    let reason = problem.map_or_else(String::new, |problem| format!(", but {}", problem.what));
    Failure::Usage {
        message: format!("--diff requires the project's git repository{reason}"),
        hint: "run the command in a clone of the repository: cd CLONE && memdir check --diff BASE..HEAD".to_owned(),
    }
}

fn show_text(checked: &DiffChecked, printer: &mut Printer<'_>) -> io::Result<()> {
    for memory in &checked.doubtful {
        printer.line(printer.strong(&memory.name))?;
        for reason in &memory.reasons {
            printer.line(format!("  {}", reason.describe(&str::to_owned)))?;
        }
    }
    for rule in &checked.rules {
        let name = printer.strong(&rule.name);
        printer.line(format!("{name}  {} rule for {}: {}", rule.strength.name(), rule.files.join(", "), rule.about))?;
    }
    for name in &checked.updated {
        printer.note(format!("{name} mentions changed files and is updated in the same commits"));
    }
    printer.line(summary(checked))
}

fn summary(checked: &DiffChecked) -> String {
    let files = counted(checked.files as u64, "changed file", "changed files");
    let doubtful = counted(checked.doubtful.len() as u64, "memory may be outdated", "memories may be outdated");
    let rules = counted(checked.rules.len() as u64, "rule applies", "rules apply");
    format!("{files}: {doubtful}, {rules}")
}

fn show_markdown(checked: &DiffChecked, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.line(format!("### memdir: {}", summary(checked)))?;
    if !checked.doubtful.is_empty() {
        printer.line("\n| memory | why |\n|---|---|")?;
        for memory in checked.doubtful.iter().take(MAX_ROWS) {
            let reasons: Vec<String> = memory.reasons.iter().take(5).map(|reason| reason.describe(&code)).collect();
            let more = memory.reasons.len().saturating_sub(5);
            let more = if more > 0 { format!("<br>and {more} more") } else { String::new() };
            printer.line(format!("| {} | {}{more} |", code(&memory.name), reasons.join("<br>")))?;
        }
        omitted(checked.doubtful.len(), printer)?;
    }
    if !checked.rules.is_empty() {
        printer.line("\n| rule | strength | files |\n|---|---|---|")?;
        for rule in checked.rules.iter().take(MAX_ROWS) {
            let files: Vec<String> = rule.files.iter().take(5).map(|file| code(file)).collect();
            let more = rule.files.len().saturating_sub(5);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            printer.line(format!("| {} | {} | {}{more} |", code(&rule.name), rule.strength.name(), files.join(", ")))?;
        }
        omitted(checked.rules.len(), printer)?;
    }
    if !checked.doubtful.is_empty() {
        printer.line("\nCheck each memory: run `memdir verify NAME` if it is still correct, or update it in this change.")?;
    }
    Ok(())
}

fn omitted(count: usize, printer: &mut Printer<'_>) -> io::Result<()> {
    match count.saturating_sub(MAX_ROWS) {
        0 => Ok(()),
        more => printer.line(format!("\n{more} more not listed; list all with: memdir check --diff BASE..HEAD")),
    }
}

/// A name as a code span in a table. The author of the change chose the names of files: none of them may end the span or the row.
fn code(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c == '`' || c.is_control() { '\u{fffd}' } else { c }).collect();
    format!("`{}`", plain.replace('|', "\\|"))
}
