//! `memdir install`: writes the tools and hooks into hosts' files, each host completely or not at all.

use crate::{
    args::Install as InstallArgs,
    config::{self, Settings},
    exit::{Exit, Failure},
    hosts::{self, ConfigFile, HOSTS, Host, InstallScope, Machine, command::Shell},
    install::{self, ConfigChange, FileOutcome, InstallRequest, Receipts},
    output::{CommandOutput, OutputOptions, Printer},
};
use memdir_core::{Clock as _, SystemClock};
use serde::Serialize;
use std::{
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

/// What was done for one host.
#[derive(Debug, Serialize)]
pub(super) struct HostOutcome {
    pub(super) host: String,
    pub(super) title: String,
    pub(super) scope: InstallScope,
    pub(super) files: Vec<FileOutcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    /// What the user does next.
    #[serde(rename = "then", skip_serializing_if = "Option::is_none")]
    pub(super) next_step: Option<String>,
}

impl HostOutcome {
    /// The outcome of an installation or its removal.
    pub(super) fn new(host: &Host, scope: InstallScope, result: Result<Vec<FileOutcome>, Failure>) -> HostOutcome {
        let describe = |failure: Failure| {
            let words = failure.text();
            format!("{}; {}", words.message, words.hint)
        };
        let (files, error) = result.map_or_else(|failure| (Vec::new(), Some(describe(failure))), |files| (files, None));
        HostOutcome { host: host.name.to_owned(), title: host.title.to_owned(), scope, files, error, next_step: None }
    }
}

/// The planned change of one file.
#[derive(Debug, Serialize)]
pub(super) struct Preview {
    pub(super) host: String,
    pub(super) path: PathBuf,
    pub(super) diff: String,
}

/// One row of the table of hosts.
#[derive(Debug, Serialize)]
struct HostStatus {
    host: &'static str,
    title: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<PathBuf>,
    installed: Vec<InstallScope>,
}

pub(crate) fn run(args: &InstallArgs, settings: &Settings, options: OutputOptions) -> Result<CommandOutput, Failure> {
    let machine = machine(settings)?;
    let hosts = match select(args, settings, &machine, options)? {
        Selection::Hosts(hosts) => hosts,
        Selection::ShowTable(statuses) => return Ok(CommandOutput::new(statuses, show_statuses)),
    };
    if args.dry_run {
        let previews = hosts.iter().map(|host| preview(args, settings, &machine, host)).collect::<Result<Vec<_>, _>>()?;
        return Ok(CommandOutput::new(previews.into_iter().flatten().collect(), show_previews));
    }
    let mut results: Vec<_> = hosts.iter().map(|host| (*host, install(args, settings, &machine, host))).collect();
    if let [(_, result @ Err(_))] = results.as_mut_slice() {
        let failure = std::mem::replace(result, Ok(Vec::new())).err().map(|failure| failure.text());
        let (message, hint) = failure.map(|words| (words.message, words.hint)).unwrap_or_default();
        return Err(Failure::Settings { message, hint });
    }
    let outcomes: Vec<HostOutcome> = results
        .into_iter()
        .map(|(host, result)| {
            let next_step = result.is_ok().then(|| host.next_step.to_owned());
            HostOutcome { next_step, ..HostOutcome::new(host, args.scope, result) }
        })
        .collect();
    let failures = outcomes.iter().filter(|outcome| outcome.error.is_some()).count();
    let chats = if failures == outcomes.len() { None } else { offer_transcripts(args, settings, options)? };
    let notes = selected_memory(&machine).into_iter().chain(chats).collect();
    Ok(CommandOutput::new(outcomes, show_outcomes).with_notes(notes).exit(if failures > 0 { Exit::ActionRequired } else { Exit::Success }))
}

/// The note that tools and hooks use another memory than the default.
fn selected_memory(machine: &Machine) -> Option<String> {
    let line = Shell::Posix.line("memdir", &machine.global_args);
    (!machine.global_args.is_empty()).then(|| format!("tools and hooks use the memory selected by these options: {line}"))
}

/// The machine an installation is made on.
pub(super) fn machine(settings: &Settings) -> Result<Machine, Failure> {
    let project = memdir_core::internal::project::find(&settings.cwd, settings.config.worktrees)?;
    config::machine(settings, project)
}

/// The files of a host in the given scope.
fn config_files(args: &InstallArgs, machine: &Machine, host: &Host) -> Result<Vec<ConfigFile>, Failure> {
    let files = (host.config)(machine, args.scope).ok_or_else(|| Failure::Usage {
        message: format!("{} does not have project settings", host.title),
        hint: "omit --scope project".into(),
    })?;
    if !args.no_hooks {
        return Ok(files);
    }
    let without_hooks = |file: ConfigFile| ConfigFile { edits: file.edits.into_iter().filter(|edit| !edit.is_hook()).collect(), ..file };
    Ok(files.into_iter().map(without_hooks).filter(|file| !file.edits.is_empty()).collect())
}

fn preview(args: &InstallArgs, settings: &Settings, machine: &Machine, host: &Host) -> Result<Vec<Preview>, Failure> {
    let receipts = Receipts::load(&settings.home.value)?;
    let edits = install::plan(&config_files(args, machine, host)?, &receipts.programs(machine))?;
    let changed = edits.into_iter().filter(install::PlannedEdit::is_change);
    Ok(changed
        .map(|edit| Preview {
            host: host.name.to_owned(),
            diff: install::diff(&edit.config.path, edit.before.as_deref(), Some(&edit.after)),
            path: edit.config.path,
        })
        .collect())
}

fn install(args: &InstallArgs, settings: &Settings, machine: &Machine, host: &Host) -> Result<Vec<FileOutcome>, Failure> {
    let request = InstallRequest { host, scope: args.scope, machine, home: &settings.home.value, now: SystemClock.now() };
    Ok(install::apply(&request, &config_files(args, machine, host)?)?)
}

enum Selection {
    Hosts(Vec<&'static Host>),
    ShowTable(Vec<HostStatus>),
}

/// The hosts to install into: those that were named, else those on this machine, after asking the user.
fn select(args: &InstallArgs, settings: &Settings, machine: &Machine, options: OutputOptions) -> Result<Selection, Failure> {
    if !args.hosts.is_empty() {
        return Ok(Selection::Hosts(args.hosts.clone()));
    }
    let receipts = Receipts::load(&settings.home.value)?;
    let statuses = || HOSTS.iter().map(|host| status(host, machine, &receipts)).collect::<Vec<_>>();
    let is_candidate = |host: &&'static Host| host.detect(machine).is_some() && (host.config)(machine, args.scope).is_some();
    let candidates: Vec<&'static Host> = HOSTS.iter().copied().filter(is_candidate).collect();
    if args.yes || (args.all && args.dry_run) {
        return Ok(Selection::Hosts(candidates));
    }
    if candidates.is_empty() || !(can_ask(options) || args.all) {
        return Ok(Selection::ShowTable(statuses()));
    }
    if !can_ask(options) {
        let names: Vec<&str> = candidates.iter().map(|host| host.name).collect();
        return Err(Failure::Usage {
            message: format!("--all needs confirmation, but standard input is not a terminal; --all would install in {}", names.join(", ")),
            hint: "add --yes, or --dry-run to show the changes; no file was changed".into(),
        });
    }
    let answer = ask(&statuses(), &candidates).map_err(|source| Failure::Output { source })?;
    parse_answer(&answer, &candidates).map(Selection::Hosts)
}

/// Whether there is a terminal on which to ask the user.
fn can_ask(options: OutputOptions) -> bool {
    options.terminal && !options.json && io::stdin().is_terminal()
}

fn status(host: &Host, machine: &Machine, receipts: &Receipts) -> HostStatus {
    let installed = receipts.installed.iter().filter(|receipt| receipt.key.host == host.name);
    let here = installed.filter(|receipt| receipt.key.project.as_deref().is_none_or(|project| project == machine.project));
    HostStatus {
        host: host.name,
        title: host.title,
        found: host.detect(machine),
        installed: here.map(|receipt| receipt.key.scope).collect(),
    }
}

/// Shows the table and asks, on standard error, because the result goes to standard output.
fn ask(statuses: &[HostStatus], candidates: &[&'static Host]) -> io::Result<String> {
    let mut err = anstream::stderr().lock();
    let mut page = Printer::new(&mut err, OutputOptions::for_stdout(false));
    show_table(statuses, &mut page)?;
    let names = candidates.iter().map(|host| host.name).collect::<Vec<_>>().join(" ");
    write!(err, "\nInstall in {names}? [Enter: all, names: only those, n: none] ")?;
    drop(err);
    read_answer()
}

/// Reads one line; it does not end with a line ending if the input is at its end.
fn read_answer() -> io::Result<String> {
    io::stderr().flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}

/// The hosts that an answer selects. An unknown name is an error, so that nothing is installed by mistake.
fn parse_answer(line: &str, candidates: &[&'static Host]) -> Result<Vec<&'static Host>, Failure> {
    let words: Vec<&str> = line.split([' ', ',']).map(str::trim).filter(|word| !word.is_empty()).collect();
    let host = |word: &&str| {
        hosts::by_name(word).ok_or_else(|| Failure::Usage {
            message: format!("unknown host {word:?}"),
            hint: format!("available hosts: {}; no file was changed", hosts::names()),
        })
    };
    match words.as_slice() {
        [] if line.ends_with('\n') => Ok(candidates.to_vec()),
        ["y" | "yes" | "all"] => Ok(candidates.to_vec()),
        [] | ["n" | "no" | "none"] => Ok(Vec::new()),
        words => words.iter().map(host).collect(),
    }
}

/// Turns the search of past conversations on if the user asks for it; returns a note.
fn offer_transcripts(args: &InstallArgs, settings: &Settings, options: OutputOptions) -> Result<Option<String>, Failure> {
    if settings.config.chats.settings.on {
        return Ok(None);
    }
    let is_wanted = args.chats || (!args.yes && can_ask(options) && ask_for_transcripts().map_err(|source| Failure::Output { source })?);
    if !is_wanted {
        return Ok(Some("past conversations with agents can be searched too; turn this on with: memdir chats on".to_owned()));
    }
    config::edit::change(&settings.file, |document| {
        config::edit::table(document, "chats").insert("on", toml_edit::value(true));
        Ok(())
    })?;
    crate::mounts::chat_archive(settings).create()?;
    Ok(Some("past conversations are now kept and searched; turn this off with: memdir chats off".to_owned()))
}

fn ask_for_transcripts() -> io::Result<bool> {
    write!(anstream::stderr(), "Keep past conversations with agents on this machine, and search them? [y/N] ")?;
    Ok(matches!(read_answer()?.trim(), "y" | "yes"))
}

fn show_table(statuses: &[HostStatus], page: &mut Printer<'_>) -> io::Result<()> {
    let mut rows = vec![["host", "program", "found", "memdir"].map(str::to_owned).to_vec()];
    rows.extend(statuses.iter().map(|status| {
        let found = status.found.as_ref().map_or_else(|| "-".to_owned(), |path| path.display().to_string());
        let scopes = status.installed.iter().map(|scope| match scope {
            InstallScope::User => "installed",
            InstallScope::Project => "installed in this project",
        });
        vec![status.host.to_owned(), status.title.to_owned(), found, scopes.collect::<Vec<_>>().join(", ")]
    }));
    page.table(&rows)
}

fn show_statuses(statuses: &Vec<HostStatus>, page: &mut Printer<'_>) -> io::Result<()> {
    show_table(statuses, page)?;
    page.line("")?;
    match statuses.iter().find(|status| status.found.is_some() && status.installed.is_empty()) {
        Some(status) => page.line(format!("next: memdir install {} (or memdir install --yes for all hosts found)", status.host)),
        None => page.line("next: memdir install HOST, or memdir doctor"),
    }
}

pub(super) fn show_previews(previews: &Vec<Preview>, page: &mut Printer<'_>) -> io::Result<()> {
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

pub(super) fn show_outcomes(outcomes: &Vec<HostOutcome>, page: &mut Printer<'_>) -> io::Result<()> {
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
