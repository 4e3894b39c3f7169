//! `memdir uninstall`: exactly what was put into a host's files goes out again.

use super::install::{Outcome, Preview, machine, show_outcomes, show_previews};
use crate::{
    adopt::for_codex,
    args::Uninstall as Typed,
    config::Settings,
    exit::{Exit, Failure},
    hosts::{self, Host, Machine, Scope, codex},
    install::{self, Did, Installed, Order, Receipts, Touched},
    output::Answer,
};
use memdir_core::base::time::{Clock as _, SystemClock};

pub(crate) fn run(args: &Typed, settings: &Settings) -> Result<Answer, Failure> {
    let here = machine(settings)?;
    let receipts = Receipts::load(&settings.home.value)?;
    let chosen = chosen(args, &here, &receipts);
    let now = SystemClock.now();
    let home = &settings.home.value;
    if args.dry_run {
        let mut previews = Vec::new();
        for (host, scope, machine) in &chosen {
            let order = Order { host, scope: *scope, machine, home, now };
            let removals = install::plan_removal(&receipts, &order)?;
            previews.extend(removals.into_iter().filter(|removal| removal.before != removal.after).map(|removal| Preview {
                host: host.name,
                diff: install::diff(&removal.path, removal.before.as_deref(), removal.after.as_deref()),
                path: removal.path,
            }));
            let folder = for_codex::dir(machine);
            previews.extend(feeds_codex(host, *scope, machine).then(|| Preview {
                host: host.name,
                diff: format!("The folder {} would be removed\n", folder.display()),
                path: folder,
            }));
        }
        return Ok(Answer::new(previews, show_previews));
    }
    let mut outcomes = Vec::new();
    for (host, scope, machine) in &chosen {
        let order = Order { host, scope: *scope, machine, home, now };
        let fed = feeds_codex(host, *scope, machine);
        let (mut files, error) = match install::take(&order) {
            Ok(files) => (files, None),
            Err(trouble) => (Vec::new(), Some(format!("{}: {}. {}", trouble.path.display(), trouble.why, trouble.hint))),
        };
        if fed && error.is_none() {
            let path = for_codex::dir(machine);
            for_codex::remove(machine).map_err(|source| Failure::File { doing: "remove", path: path.clone(), source })?;
            files.push(Touched { path, did: Did::Removed, backup: None });
        }
        outcomes.push(Outcome { host: host.name, title: host.title, scope: *scope, files, error, then: None });
    }
    let failed = outcomes.iter().any(|outcome| outcome.error.is_some());
    Ok(Answer::new(outcomes, show_outcomes).exit(if failed { Exit::Person } else { Exit::Done }))
}

/// Whether memories were written where Codex's own memory takes them in, which goes too.
fn feeds_codex(host: &Host, scope: Scope, machine: &Machine) -> bool {
    host.name == codex::HOST.name && scope == Scope::User && for_codex::is_there(machine)
}

/// Which installations are meant. A host without any receipt is looked through all the same: the receipts may be lost. Where
/// there is one for another scope, what stands in this one is somebody else's, unless this one is asked for.
fn chosen(args: &Typed, here: &Machine, receipts: &Receipts) -> Vec<(&'static Host, Scope, Machine)> {
    let wanted = |scope: Scope| args.scope.is_none_or(|only| only == scope);
    if args.all {
        let known = receipts.installed.iter().filter(|receipt| wanted(receipt.key.scope));
        return known
            .filter_map(|receipt| {
                let project = receipt.key.project.clone().unwrap_or_else(|| here.project.clone());
                Some((hosts::named(&receipt.key.host)?, receipt.key.scope, Machine { project, ..here.clone() }))
            })
            .collect();
    }
    let scopes = |host: &&'static Host| {
        let host = *host;
        let known = |scope: Scope| {
            let project = (scope == Scope::Project).then(|| here.project.clone());
            receipts.get(&Installed { host: host.name.to_owned(), scope, project }).is_some()
        };
        let lost = !receipts.installed.iter().any(|receipt| receipt.key.host == host.name);
        let meant = move |scope: Scope| known(scope) || lost || args.scope == Some(scope);
        let fits = move |scope: &Scope| (host.parts)(here, *scope).is_some() && wanted(*scope) && meant(*scope);
        [Scope::User, Scope::Project].into_iter().filter(fits).map(move |scope| (host, scope, here.clone())).collect::<Vec<_>>()
    };
    args.hosts.iter().flat_map(scopes).collect()
}
