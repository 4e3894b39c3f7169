//! `memdir install`: writes the tools and hooks into hosts' files, each host completely or not at all, and settles what becomes of the
//! memory that a host keeps on its own.

mod found;
mod offers;
pub(super) mod own_memory;
mod server;
mod show;

pub(super) use offers::Actions;
pub(super) use show::{show_outcomes, show_previews};

use crate::{
    args::InstallArgs,
    ask,
    config::{self, Settings},
    exit::{Exit, Failure},
    hosts::{self, HOSTS, Host, HostConfigFile, InstallScope, Machine, MemoryChoice, command::Shell},
    install::{self, FileOutcome, InstallError, InstallRequest, Receipts},
    output::{CommandOutput, OutputOptions, Printer},
    scope::Scope,
};
use memdir_core::{Clock as _, SystemClock};
use own_memory::{OwnMemorySettlement, SettlementContext};
use serde::Serialize;
use show::{show_project_statuses, show_statuses, show_table};
use std::{
    io::{self, Write as _},
    path::PathBuf,
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
    /// What a memory could begin with, in the outcome of the first host.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) found: Vec<found::Finding>,
}

impl HostOutcome {
    /// The outcome of an installation or its removal.
    pub(super) fn new(host: &Host, scope: InstallScope, result: Result<Vec<FileOutcome>, Failure>) -> HostOutcome {
        let describe = |failure: Failure| {
            let words = failure.text();
            format!("{}; {}", words.message, words.hint)
        };
        let (files, error) = result.map_or_else(|failure| (Vec::new(), Some(describe(failure))), |files| (files, None));
        HostOutcome { host: host.name.to_owned(), title: host.title.to_owned(), scope, files, error, next_step: None, found: Vec::new() }
    }
}

impl HostStatus {
    /// How memdir is installed in the host; empty if it is not.
    pub(super) fn installed(&self) -> String {
        let plugin = self.plugin_title.map(|title| format!("installed as {}", with_article(title)));
        let scopes = self.installed.iter().map(|scope| match scope {
            InstallScope::User => "installed".to_owned(),
            InstallScope::Project => "installed in this project".to_owned(),
        });
        scopes.chain(plugin).collect::<Vec<_>>().join(", ")
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
pub(super) struct HostStatus {
    pub(super) host: &'static str,
    pub(super) title: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) found: Option<PathBuf>,
    installed: Vec<InstallScope>,
    /// The file that shows memdir as a plugin or extension of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin: Option<PathBuf>,
    /// The host's word for it: plugin or extension.
    #[serde(skip)]
    plugin_title: Option<&'static str>,
}

pub(crate) fn run(
    args: &InstallArgs,
    actions: &Actions<'_>,
    settings: &Settings,
    space: &Scope,
    options: OutputOptions,
) -> Result<CommandOutput, Failure> {
    if let Some(url) = &args.server {
        return server::run(args, url, settings, options);
    }
    let machine = machine(settings)?.in_scope(args.scope);
    let hosts = match select(args, settings, &machine, options)? {
        Selection::Hosts(hosts) => hosts,
        Selection::ShowTable(statuses) => {
            let is_project = args.scope == InstallScope::Project;
            return Ok(CommandOutput::new(statuses, if is_project { show_project_statuses } else { show_statuses }));
        }
    };
    let context = SettlementContext { settings, space, machine: &machine };
    let mut notes: Vec<String> = Vec::new();
    let settlements = settle(args, &context, &hosts, options, &mut notes)?;
    let settlement = |host: &Host| settlements.iter().find(|settlement| settlement.host.name == host.name);
    if args.dry_run {
        let previews = hosts.iter().map(|host| preview(args, &context, host, settlement(host))).collect::<Result<Vec<_>, _>>()?;
        let turns_chats_on = args.chats && !settings.config.chats.settings.on;
        let note = turns_chats_on.then(|| format!("`--chats` would set `on = true` in the [chats] table of {}", settings.file.display()));
        return Ok(CommandOutput::new(previews.into_iter().flatten().collect(), show_previews).with_notes(note.into_iter().collect()));
    }
    let mut results: Vec<_> = hosts.iter().map(|host| (*host, install(args, &context, host, settlement(host), &mut notes))).collect();
    if let [(_, result @ Err(_))] = results.as_mut_slice() {
        let failure = std::mem::replace(result, Ok(Vec::new())).err().map(|failure| failure.text());
        let (message, hint) = failure.map(|words| (words.message, words.hint)).unwrap_or_default();
        return Err(Failure::Settings { message, hint });
    }
    let mut outcomes: Vec<HostOutcome> = results
        .into_iter()
        .map(|(host, result)| {
            let next_step = result.is_ok().then(|| host.next_step(!args.no_hooks).to_owned());
            HostOutcome { next_step, ..HostOutcome::new(host, args.scope, result) }
        })
        .collect();
    let failures = outcomes.iter().filter(|outcome| outcome.error.is_some()).count();
    if failures < outcomes.len() {
        notes = selected_memory(&machine).into_iter().chain(notes).collect();
        let offered = offer_transcripts(args, settings, options)?;
        let settled: Vec<&str> = settlements.iter().map(|settlement| settlement.host.name).collect();
        let found = found::find(&context, &hosts, offered.on, &settled);
        // The command is part of what was found.
        let is_found = found.all.iter().any(|finding| finding.kind == found::FindingKind::Conversations);
        notes.extend(offered.note.filter(|_| offered.on || !is_found));
        notes.extend(found.is_incomplete.then(|| found::INCOMPLETE.to_owned()));
        let (left, done) = if !args.yes && options.can_ask() { offers::offer(found.all, actions)? } else { (found.all, Vec::new()) };
        notes.extend(done);
        outcomes.first_mut().into_iter().for_each(|outcome| outcome.found.extend(left.iter().cloned()));
    }
    Ok(CommandOutput::new(outcomes, show_outcomes).with_notes(notes).exit(if failures > 0 { Exit::ActionRequired } else { Exit::Success }))
}

/// The note that tools and hooks use another memory than the default.
fn selected_memory(machine: &Machine) -> Option<String> {
    let line = Shell::Posix.line("memdir", &machine.global_args);
    let options = line.trim_start_matches("memdir ");
    (!machine.global_args.is_empty()).then(|| format!("tools and hooks use the memory selected by these options: {options}"))
}

/// The machine an installation is made on.
pub(super) fn machine(settings: &Settings) -> Result<Machine, Failure> {
    let project = memdir_core::internal::project::find(&settings.cwd, settings.config.worktrees)?;
    config::machine(settings, project)
}

/// The files of a host in the given scope.
fn config_files(args: &InstallArgs, machine: &Machine, host: &Host) -> Result<Vec<HostConfigFile>, Failure> {
    let machine = Machine { with_hooks: !args.no_hooks, ..machine.clone() };
    let files = (host.config)(&machine, args.scope).ok_or_else(|| Failure::Usage {
        message: format!("{} does not have project settings", host.title),
        hint: "omit --scope project".into(),
    })?;
    if !args.no_hooks {
        return Ok(files);
    }
    let without_hooks =
        |file: HostConfigFile| HostConfigFile { edits: file.edits.into_iter().filter(|edit| !edit.is_hook()).collect(), ..file };
    Ok(files.into_iter().map(without_hooks).filter(|file| !file.edits.is_empty()).collect())
}

/// Decides about the hosts' own memories: by the option, or by asking. Without either nothing about them is changed, and a note
/// says so. Fails before anything is changed if a named host does not have the choice.
fn settle(
    args: &InstallArgs,
    context: &SettlementContext<'_>,
    hosts: &[&'static Host],
    options: OutputOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<OwnMemorySettlement>, Failure> {
    let receipts = Receipts::load(&context.settings.home.value)?;
    let mut settlements = Vec::new();
    for host in hosts {
        let is_undecided = own_memory::is_undecided(host, &receipts, context.machine, context.space);
        let choice = match (&host.memory_switch, args.auto_memory) {
            (None, Some(_)) if !args.hosts.is_empty() => {
                let hint = host.memory_advice.map_or("omit --auto-memory".to_owned(), |advice| format!("its built-in memory is {advice}"));
                let message = format!("{} has no memory setting that memdir can change", host.title);
                return Err(Failure::Usage { message, hint: format!("{hint}; no file was changed") });
            }
            (None, _) => None,
            // A choice for all hosts is made for those that have it.
            (Some(switch), Some(MemoryChoice::Share)) if args.hosts.is_empty() && switch.redirect.is_none() => None,
            (Some(_), Some(choice)) => Some(choice),
            (Some(switch), None) if is_undecided && !args.yes && !args.dry_run && options.can_ask() => {
                own_memory::ask(host, switch, args.scope)?
            }
            (Some(_), None) => None,
        };
        match choice {
            // A directory can be set only for one project.
            Some(MemoryChoice::Share) => {
                settlements.extend(OwnMemorySettlement::new(host, MemoryChoice::Share, InstallScope::Project, context)?);
            }
            Some(choice) => settlements.extend(OwnMemorySettlement::new(host, choice, args.scope, context)?),
            None if is_undecided && !args.dry_run => {
                let options = own_memory::selecting_options(context.settings, context.machine);
                let command = own_memory::install_command(host, args.scope, !args.no_hooks, &options);
                notes.extend(own_memory::undecided_note(host, &command));
            }
            None => {}
        }
    }
    Ok(settlements)
}

/// The files of an installation and what is decided in its own scope. A plugin already has tools and hooks.
fn edits(
    args: &InstallArgs,
    context: &SettlementContext<'_>,
    host: &Host,
    settlement: Option<&OwnMemorySettlement>,
) -> Result<Vec<HostConfigFile>, Failure> {
    let plugin = host.plugin.and_then(|find| find(context.machine));
    let mut files = match (plugin, settlement) {
        (None, _) => config_files(args, context.machine, host)?,
        (Some(_), Some(_)) => Vec::new(),
        (Some(plugin), None) => {
            let message = format!("{} already has memdir as {}: {}", host.title, with_article(plugin.title), plugin.file.display());
            let hint = format!("no file was changed; remove it first with: {}", plugin.remove);
            return Err(Failure::Settings { message, hint });
        }
    };
    files.extend(settlement.filter(|settlement| settlement.scope == args.scope).into_iter().flat_map(|own| own.files.iter().cloned()));
    Ok(files)
}

fn with_article(title: &str) -> String {
    let article = if title.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {title}")
}

fn preview(
    args: &InstallArgs,
    context: &SettlementContext<'_>,
    host: &'static Host,
    settlement: Option<&OwnMemorySettlement>,
) -> Result<Vec<Preview>, Failure> {
    let receipts = Receipts::load(&context.settings.home.value)?;
    let mut files = install::with_restored(&receipts, &request(args, context, host, settlement), &edits(args, context, host, settlement)?);
    files.extend(settlement.filter(|own| own.scope != args.scope).into_iter().flat_map(|own| own.files.iter().cloned()));
    let edits = install::plan(&files, &receipts.programs(context.machine))?;
    let changed = edits.into_iter().filter(install::PlannedEdit::is_change);
    let mut previews: Vec<Preview> = changed
        .map(|edit| Preview {
            host: host.name.to_owned(),
            diff: install::diff(&edit.config.path, edit.before.as_deref(), Some(&edit.after)),
            path: edit.config.path,
        })
        .collect();
    let import = settlement.and_then(|settlement| settlement.preview_import(context));
    previews.extend(import.map(|diff| Preview { host: host.name.to_owned(), path: PathBuf::new(), diff }));
    Ok(previews)
}

fn request<'a>(
    args: &InstallArgs,
    context: &SettlementContext<'a>,
    host: &'static Host,
    settlement: Option<&OwnMemorySettlement>,
) -> InstallRequest<'a> {
    let choice = settlement.filter(|settlement| settlement.scope == args.scope).map(|settlement| settlement.choice);
    InstallRequest {
        host,
        scope: args.scope,
        team: false,
        machine: context.machine,
        home: &context.settings.home.value,
        now: SystemClock.now(),
        choice,
    }
}

/// Installs in one host. What the host no longer reads is imported first, so that a failure loses nothing.
fn install(
    args: &InstallArgs,
    context: &SettlementContext<'_>,
    host: &'static Host,
    settlement: Option<&OwnMemorySettlement>,
    notes: &mut Vec<String>,
) -> Result<Vec<FileOutcome>, Failure> {
    let files = edits(args, context, host, settlement)?;
    let request = request(args, context, host, settlement);
    let Some(settlement) = settlement else { return Ok(install::apply(&request, &files)?) };
    let (outcomes, imported) = settlement.import_then(context, |has_imported| {
        let installed = install::apply(&request, &files);
        let mut outcomes = installed.map_err(|error| if has_imported { error.after_import() } else { error })?;
        let settled = if settlement.scope == args.scope { settlement.supersede(context) } else { settlement.apply(context) };
        outcomes.extend(settled.map_err(InstallError::after_install)?);
        Ok(outcomes)
    })?;
    notes.extend(imported);
    Ok(outcomes)
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
    let statuses = statuses(settings, machine)?;
    let has_plugin = |host: &Host| host.plugin.and_then(|find| find(machine)).is_some();
    let is_candidate =
        |host: &&'static Host| host.detect(machine).is_some() && (host.config)(machine, args.scope).is_some() && !has_plugin(host);
    let candidates: Vec<&'static Host> = HOSTS.iter().copied().filter(is_candidate).collect();
    if args.yes || (args.all && args.dry_run) {
        return Ok(Selection::Hosts(candidates));
    }
    if candidates.is_empty() || !(options.can_ask() || args.all) {
        return Ok(Selection::ShowTable(statuses));
    }
    if !options.can_ask() {
        let names: Vec<&str> = candidates.iter().map(|host| host.name).collect();
        return Err(Failure::Usage {
            message: format!("installing in {} needs confirmation, but {}", names.join(", "), options.why_not_asked()),
            hint: "add --yes to install, or --dry-run to show the changes; no file was changed".into(),
        });
    }
    let answer = ask(&statuses, &candidates).map_err(|source| Failure::Output { source })?;
    parse_answer(&answer, &candidates).map(Selection::Hosts)
}

/// The table of hosts.
pub(super) fn statuses(settings: &Settings, machine: &Machine) -> Result<Vec<HostStatus>, Failure> {
    let receipts = Receipts::load(&settings.home.value)?;
    Ok(HOSTS.iter().map(|host| status(host, machine, &receipts)).collect())
}

fn status(host: &Host, machine: &Machine, receipts: &Receipts) -> HostStatus {
    let installed = receipts.installed.iter().filter(|receipt| receipt.key.host == host.name && !receipt.key.team);
    let here = installed.filter(|receipt| receipt.key.project.as_deref().is_none_or(|project| project == machine.project));
    let plugin = host.plugin.and_then(|find| find(machine));
    HostStatus {
        host: host.name,
        title: host.title,
        found: host.detect(machine),
        installed: here.filter(|receipt| !receipt.has_only_settings()).map(|receipt| receipt.key.scope).collect(),
        plugin_title: plugin.as_ref().map(|plugin| plugin.title),
        plugin: plugin.map(|plugin| plugin.file),
    }
}

/// Shows the table and asks, on standard error, because the result goes to standard output.
fn ask(statuses: &[HostStatus], candidates: &[&'static Host]) -> io::Result<String> {
    let mut err = anstream::stderr().lock();
    let mut page = Printer::new(&mut err, OutputOptions::for_stdout(false));
    show_table(statuses, &mut page)?;
    let names = candidates.iter().map(|host| host.name).collect::<Vec<_>>().join(", ");
    write!(err, "\nInstall in {names}? [Enter: all, names: only those, n: none] ")?;
    drop(err);
    ask::read_answer()
}

/// The hosts that an answer selects. An unknown name is an error, so that nothing is installed by mistake.
fn parse_answer(line: &str, candidates: &[&'static Host]) -> Result<Vec<&'static Host>, Failure> {
    let line = line.to_ascii_lowercase();
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

/// Whether past conversations are on after the installation, and a note about it.
struct OfferedChats {
    on: bool,
    note: Option<String>,
}

/// Turns the search of past conversations on if the user asks for it.
fn offer_transcripts(args: &InstallArgs, settings: &Settings, options: OutputOptions) -> Result<OfferedChats, Failure> {
    if settings.config.chats.settings.on {
        return Ok(OfferedChats { on: true, note: None });
    }
    let is_wanted = args.chats || (!args.yes && options.can_ask() && ask_for_transcripts().map_err(|source| Failure::Output { source })?);
    if !is_wanted {
        let note = "memdir can also search past conversations with agents; turn this on with: memdir chats on";
        return Ok(OfferedChats { on: false, note: Some(note.to_owned()) });
    }
    config::edit::change(&settings.file, |document| {
        config::edit::table(document, "chats").insert("on", toml_edit::value(true));
        Ok(())
    })?;
    crate::mounts::chat_archive(settings).create()?;
    let note = "memdir now keeps and searches past conversations; turn this off with: memdir chats off";
    Ok(OfferedChats { on: true, note: Some(note.to_owned()) })
}

fn ask_for_transcripts() -> io::Result<bool> {
    ask::confirm("Archive past conversations with agents, so that memdir can search them?")
}
