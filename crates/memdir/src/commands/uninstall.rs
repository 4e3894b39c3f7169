//! `memdir uninstall`: removes exactly what was installed into a host's files.

use super::install::{HostOutcome, Preview, machine, show_outcomes, show_previews};
use crate::{
    adopt::import_dir,
    args::UninstallArgs,
    config::Settings,
    doctor,
    exit::{Exit, Failure},
    hosts::{self, Host, InstallScope, Machine, MemoryImport, RemoteServer, RemoteToken, remote::remote_file},
    install::{self, ConfigChange, FileOutcome, InstallKey, InstallRequest, Receipt, Receipts},
    output::CommandOutput,
};
use jiff::Timestamp;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{Clock as _, SystemClock};
use std::path::Path;

pub(crate) fn run(args: &UninstallArgs, settings: &Settings) -> Result<CommandOutput, Failure> {
    let machine = machine(settings)?;
    let receipts = Receipts::load(&settings.home.value)?;
    let selected = select(args, &machine, &receipts);
    let (now, home) = (SystemClock.now(), &settings.home.value);
    if args.dry_run {
        let mut previews = Vec::new();
        for selected in &selected {
            previews.extend(preview(&receipts, &selected.request(home, now))?);
        }
        return Ok(CommandOutput::new(previews, show_previews));
    }
    let mut outcomes = Vec::new();
    for selected in &selected {
        outcomes.push(uninstall(&selected.request(home, now))?);
    }
    let has_failed = outcomes.iter().any(|outcome| outcome.error.is_some());
    Ok(CommandOutput::new(outcomes, show_outcomes).exit(if has_failed { Exit::ActionRequired } else { Exit::Success }))
}

fn preview(receipts: &Receipts, request: &InstallRequest<'_>) -> Result<Vec<Preview>, Failure> {
    let host = request.host.name;
    let removals = install::plan_removal(receipts, request)?.into_iter().filter(|removal| removal.before != removal.after);
    let files = removals.map(|removal| Preview {
        host: host.to_owned(),
        diff: install::diff(&removal.path, removal.before.as_deref(), removal.after.as_deref()),
        path: removal.path,
    });
    let directory = import_to_remove(request).map(|import| {
        let path = (import.dir)(request.machine);
        Preview { host: host.to_owned(), diff: format!("would remove the directory {}\n", path.display()), path }
    });
    Ok(files.chain(directory).collect())
}

fn uninstall(request: &InstallRequest<'_>) -> Result<HostOutcome, Failure> {
    let import = import_to_remove(request);
    let mut outcome = HostOutcome::new(request.host, request.scope, install::revert(request).map_err(Failure::from));
    if let Some(import) = import.filter(|_| outcome.error.is_none()) {
        let path = (import.dir)(request.machine);
        let _lock = install::lock(request.home)?;
        import_dir::remove(import, request.machine).map_err(|source| Failure::File { doing: "remove", path: path.clone(), source })?;
        outcome.files.push(FileOutcome { path, change: ConfigChange::Removed, backup: None });
    }
    Ok(outcome)
}

/// The directory of imported memories, if `memdir adopt` has written it.
fn import_to_remove<'a>(request: &InstallRequest<'a>) -> Option<&'a MemoryImport> {
    let import = request.host.memory_import.as_ref().filter(|_| request.scope == InstallScope::User && !request.team)?;
    import_dir::is_ours(import, request.machine).then_some(import)
}

/// An installation to remove.
struct SelectedInstallation {
    host: &'static Host,
    scope: InstallScope,
    /// Whether it is the connection to a team server.
    team: bool,
    machine: Machine,
}

impl SelectedInstallation {
    fn request<'a>(&'a self, home: &'a Path, now: Timestamp) -> InstallRequest<'a> {
        InstallRequest { host: self.host, scope: self.scope, team: self.team, machine: &self.machine, home, now, choice: None }
    }
}

/// The installations to remove. In one place the newest is first, so that files become what they were before each. A host without any receipt is
/// searched all the same, because receipts may be lost. If there is a receipt for another scope only, what is in this scope is not
/// memdir's, unless the scope was given.
fn select(args: &UninstallArgs, machine: &Machine, receipts: &Receipts) -> Vec<SelectedInstallation> {
    let is_wanted = |key: &InstallKey| args.scope.is_none_or(|only| only == key.scope) && (!args.server || key.team);
    let recorded = |receipt: &Receipt| {
        let project = receipt.key.project.clone().unwrap_or_else(|| machine.project.clone());
        let host = hosts::by_name(&receipt.key.host)?;
        Some((
            receipt.at,
            SelectedInstallation {
                host,
                scope: receipt.key.scope,
                team: receipt.key.team,
                machine: Machine { project, ..machine.clone() },
            },
        ))
    };
    let is_named = |receipt: &&Receipt| args.all || args.hosts.iter().any(|host| host.name == receipt.key.host);
    let is_here = |receipt: &&Receipt| {
        // A choice about the host's own memory in another project depends on the tools and hooks for all projects.
        let depends = receipt.has_only_settings() && args.scope.is_none();
        args.all || depends || receipt.key.project.as_ref().is_none_or(|project| *project == machine.project)
    };
    let known = receipts.installed.iter().filter(|receipt| is_wanted(&receipt.key)).filter(is_named).filter(is_here);
    let mut known: Vec<_> = known.filter_map(recorded).collect();
    let position = |host: &Host| args.hosts.iter().position(|named| named.name == host.name);
    known.shared_sort_by_key(|(at, one)| {
        let is_elsewhere = one.scope == InstallScope::Project && one.machine.project != machine.project;
        (position(one.host), is_elsewhere, one.host.name, one.scope, one.machine.project.clone(), std::cmp::Reverse(*at))
    });
    let mut selected: Vec<SelectedInstallation> = known.into_iter().map(|(_, selected)| selected).collect();
    for host in &args.hosts {
        for (scope, team) in
            [(InstallScope::User, false), (InstallScope::Project, false), (InstallScope::User, true), (InstallScope::Project, true)]
        {
            let project = (scope == InstallScope::Project).then(|| machine.project.clone());
            let key = InstallKey { host: host.name.to_owned(), scope, project, team };
            let is_unknown = !receipts.installed.iter().any(|receipt| receipt.key.host == host.name && receipt.key.team == team);
            let is_possible = (host.config)(machine, scope).is_some() && (!team || has_team_server(host, machine, scope));
            let is_selected = is_unknown || args.scope == Some(scope);
            if is_selected && is_possible && is_wanted(&key) && receipts.get(&key).is_none() {
                selected.push(SelectedInstallation { host, scope, team, machine: machine.clone() });
            }
        }
    }
    selected
}

/// Whether a team server is in the files of a host without a receipt.
fn has_team_server(host: &Host, machine: &Machine, scope: InstallScope) -> bool {
    let any = RemoteServer { url: String::new(), token: RemoteToken::SignIn, project: None };
    let Ok(file) = remote_file(host, machine, scope, &any) else { return false };
    doctor::remote_entry(&file).is_some()
}
