//! Prints the table of hosts, planned changes, and what was done for each host.

use super::{HostOutcome, HostStatus, Preview, found::Finding};
use crate::{
    hosts::InstallScope,
    install::{ConfigChange, FileOutcome},
    output::Printer,
};
use std::{
    io,
    path::{Path, PathBuf},
};

pub(super) fn show_table(statuses: &[HostStatus], page: &mut Printer<'_>) -> io::Result<()> {
    let mut rows = vec![["host", "program", "found", "memdir"].map(str::to_owned).to_vec()];
    rows.extend(statuses.iter().map(|status| {
        let found = status.found.as_ref().map_or_else(|| "-".to_owned(), |path| path.display().to_string());
        vec![status.host.to_owned(), status.title.to_owned(), found, status.installed()]
    }));
    page.table(&rows)
}

pub(super) fn show_statuses(statuses: &Vec<HostStatus>, page: &mut Printer<'_>) -> io::Result<()> {
    show_statuses_for("", statuses, page)
}

/// The same with the commands for an installation in this project.
pub(super) fn show_project_statuses(statuses: &Vec<HostStatus>, page: &mut Printer<'_>) -> io::Result<()> {
    show_statuses_for(" --scope project", statuses, page)
}

fn show_statuses_for(scope: &str, statuses: &[HostStatus], page: &mut Printer<'_>) -> io::Result<()> {
    show_table(statuses, page)?;
    page.line("")?;
    match statuses.iter().find(|status| status.found.is_some() && status.installed.is_empty() && status.plugin.is_none()) {
        Some(status) => {
            page.line(format!("next: memdir install {}{scope} (or memdir install{scope} --yes for all hosts found)", status.host))
        }
        None => page.line(format!("next: memdir install HOST{scope}, or memdir doctor")),
    }
}

pub(in crate::commands) fn show_previews(previews: &Vec<Preview>, page: &mut Printer<'_>) -> io::Result<()> {
    if previews.is_empty() {
        return page.line("no changes");
    }
    for preview in previews {
        for line in preview.diff.lines() {
            let line = match line.as_bytes().first() {
                Some(b'+') => page.green(line),
                Some(b'-') => page.red(line),
                _ => line.to_owned(),
            };
            page.line(line)?;
        }
    }
    Ok(())
}

pub(in crate::commands) fn show_outcomes(outcomes: &Vec<HostOutcome>, page: &mut Printer<'_>) -> io::Result<()> {
    if outcomes.is_empty() {
        return page.line("nothing to do");
    }
    for outcome in outcomes {
        let scope = match outcome.scope {
            InstallScope::User => "user",
            InstallScope::Project => "project",
        };
        let title = format!("{} ({scope})", page.strong(&outcome.title));
        if let Some(error) = &outcome.error {
            let failed = page.red("failed");
            page.line(format!("{title}: {failed}: {error}"))?;
            continue;
        }
        let is_unchanged = outcome.files.iter().all(|file| file.change == ConfigChange::Unchanged);
        page.line(format!("{title}: {}", if is_unchanged { "unchanged" } else { "done" }))?;
        for file in &outcome.files {
            page.line(format!("  {}", describe(file, page)))?;
        }
        if let Some(next_step) = outcome.next_step.as_ref().filter(|_| !is_unchanged) {
            page.line(format!("  {next_step}"))?;
        }
    }
    let found: Vec<&Finding> = outcomes.iter().flat_map(|outcome| &outcome.found).collect();
    if !found.is_empty() {
        page.line("found on this machine:")?;
    }
    for finding in found {
        page.line(format!("  {}: {}", finding.what, page.strong(&finding.command)))?;
    }
    Ok(())
}

fn describe(file: &FileOutcome, page: &Printer<'_>) -> String {
    let change = match file.change {
        ConfigChange::Created => "created",
        ConfigChange::Changed => "changed",
        ConfigChange::Unchanged => "unchanged",
        ConfigChange::Removed => "removed",
    };
    let name = |backup: &PathBuf| format!(", backup: {}", Path::new(backup.file_name().unwrap_or_default()).display());
    let backup = file.backup.as_ref().map_or_else(String::new, name);
    format!("{} {}", file.path.display(), page.dim(&format!("{change}{backup}")))
}
