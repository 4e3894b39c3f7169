//! `memdir uninstall`: removes exactly what was installed into a host's files.

use super::install::{HostOutcome, Preview, machine, show_outcomes, show_previews};
use crate::{
    adopt::import_dir,
    args::Uninstall as UninstallArgs,
    config::Settings,
    exit::{Exit, Failure},
    hosts::{self, Host, InstallScope, Machine, MemoryImport},
    install::{self, ConfigChange, FileOutcome, InstallKey, InstallRequest, Receipt, Receipts},
    output::CommandOutput,
};
use memdir_core::{Clock as _, SystemClock};

pub(crate) fn run(args: &UninstallArgs, settings: &Settings) -> Result<CommandOutput, Failure> {
    let machine = machine(settings)?;
    let receipts = Receipts::load(&settings.home.value)?;
    let selected = select(args, &machine, &receipts);
    let (now, home) = (SystemClock.now(), &settings.home.value);
    let request = |host, scope, machine| InstallRequest { host, scope, machine, home, now, choice: None };
    if args.dry_run {
        let mut previews = Vec::new();
        for (host, scope, machine) in &selected {
            previews.extend(preview(&receipts, &request(host, *scope, machine))?);
        }
        return Ok(CommandOutput::new(previews, show_previews));
    }
    let mut outcomes = Vec::new();
    for (host, scope, machine) in &selected {
        outcomes.push(uninstall(&request(host, *scope, machine))?);
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
    let import = request.host.memory_import.as_ref().filter(|_| request.scope == InstallScope::User)?;
    import_dir::is_ours(import, request.machine).then_some(import)
}

/// The installations to remove. A host without any receipt is searched all the same, because receipts may be lost. If there is a receipt
/// for another scope only, what is in this scope is not memdir's, unless the scope was given.
fn select(args: &UninstallArgs, machine: &Machine, receipts: &Receipts) -> Vec<(&'static Host, InstallScope, Machine)> {
    let is_in_scope = |scope: InstallScope| args.scope.is_none_or(|only| only == scope);
    if args.all {
        let recorded = receipts.installed.iter().filter(|receipt| is_in_scope(receipt.key.scope));
        return recorded
            .filter_map(|receipt| {
                let project = receipt.key.project.clone().unwrap_or_else(|| machine.project.clone());
                Some((hosts::by_name(&receipt.key.host)?, receipt.key.scope, Machine { project, ..machine.clone() }))
            })
            .collect();
    }
    let scopes = |host: &&'static Host| {
        let host = *host;
        let is_recorded = |scope: InstallScope| {
            let project = (scope == InstallScope::Project).then(|| machine.project.clone());
            receipts.get(&InstallKey { host: host.name.to_owned(), scope, project }).is_some()
        };
        let is_unknown = !receipts.installed.iter().any(|receipt| receipt.key.host == host.name);
        let is_selected = move |scope: InstallScope| is_recorded(scope) || is_unknown || args.scope == Some(scope);
        let fits = move |scope: &InstallScope| (host.config)(machine, *scope).is_some() && is_in_scope(*scope) && is_selected(*scope);
        let both = [InstallScope::User, InstallScope::Project].into_iter();
        both.filter(fits).map(move |scope| (host, scope, machine.clone())).collect::<Vec<_>>()
    };
    // A choice about the host's own memory in another project depends on the tools and hooks for all projects.
    let elsewhere = |host: &&'static Host| {
        let host = *host;
        let is_elsewhere = move |receipt: &&Receipt| {
            receipt.key.host == host.name
                && receipt.has_only_settings()
                && receipt.key.project.as_ref().is_some_and(|dir| *dir != machine.project)
        };
        let found = receipts.installed.iter().filter(is_elsewhere).filter(|_| args.scope.is_none());
        found.filter_map(move |receipt| {
            let project = receipt.key.project.clone()?;
            Some((host, InstallScope::Project, Machine { project, ..machine.clone() }))
        })
    };
    args.hosts.iter().flat_map(scopes).chain(args.hosts.iter().flat_map(elsewhere)).collect()
}
