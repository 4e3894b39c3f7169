//! `memdir doctor`: whether what was installed works, from the host's file to the hook's answer, and what to do if not.

use super::install::machine;
use crate::{
    args::Doctor as Typed,
    config::Settings,
    doctor::{self, Finding, Installation},
    exit::{Exit, Failure},
    hosts::{self, Host, Machine, Scope},
    install::{self, Order, Receipts},
    output::{Answer, Page},
    scope,
};
use memdir_core::base::time::{Clock as _, SystemClock};
use serde::Serialize;
use std::{io, path::Path};

#[derive(Serialize)]
struct Report {
    ok: bool,
    version: &'static str,
    grounds: Vec<Finding>,
    hosts: Vec<Examined>,
}

#[derive(Serialize)]
struct Examined {
    host: &'static str,
    title: &'static str,
    scope: Scope,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<std::path::PathBuf>,
    /// What `--fix` did.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<String>,
    findings: Vec<Finding>,
}

pub(crate) fn run(args: &Typed, settings: &Settings, scope: &scope::Scope) -> Result<Answer, Failure> {
    let here = machine(settings)?;
    let receipts = Receipts::load(&settings.home.value)?;
    let mounts: Vec<_> = scope.mounts.iter().map(|placed| (placed.mount.prefix.clone(), placed.mount.root.clone())).collect();
    let mut grounds = doctor::grounds(&settings.home.value, &mounts);
    grounds.extend(scope.off.as_deref().map(doctor::off));
    let chosen = chosen(args, &here, &receipts);
    let practice = Practice { fix: args.fix, home: &settings.home.value, receipts: &receipts, is_on: scope.off.is_none() };
    let examined: Vec<Examined> = chosen.iter().map(|(host, scope, machine)| practice.examine(host, *scope, machine)).collect();
    let ok = grounds.iter().chain(examined.iter().flat_map(|one| &one.findings)).all(|finding| finding.ok);
    let report = Report { ok, version: env!("CARGO_PKG_VERSION"), grounds, hosts: examined };
    Ok(Answer::new(report, show).exit(if ok { Exit::Done } else { Exit::NotSo }))
}

/// The installations there are, or those of the hosts that were named.
fn chosen(args: &Typed, here: &Machine, receipts: &Receipts) -> Vec<(&'static Host, Scope, Machine)> {
    let known = receipts.installed.iter().filter_map(|receipt| {
        let project = receipt.key.project.clone().unwrap_or_else(|| here.project.clone());
        Some((hosts::named(&receipt.key.host)?, receipt.key.scope, Machine { project, ..here.clone() }))
    });
    let mut chosen: Vec<_> =
        known.filter(|(host, ..)| args.hosts.is_empty() || args.hosts.iter().any(|named| named.name == host.name)).collect();
    let without = args.hosts.iter().filter(|named| !chosen.iter().any(|(host, ..)| host.name == named.name)).copied().collect::<Vec<_>>();
    chosen.extend(without.into_iter().map(|host| (host, Scope::User, here.clone())));
    chosen
}

/// What holds for every installation that is looked at.
struct Practice<'a> {
    fix: bool,
    home: &'a Path,
    receipts: &'a Receipts,
    /// Whether memory is on here: what is off does not answer.
    is_on: bool,
}

impl Practice<'_> {
    fn examine(&self, host: &'static Host, scope: Scope, machine: &Machine) -> Examined {
        let order = Order { host, scope, machine, home: self.home, now: SystemClock.now() };
        let (machine, parts) = install::expected(self.receipts, &order);
        let known = self.receipts.known(&machine);
        let installation = Installation { host, machine: &machine, parts: &parts, known: &known, is_on: self.is_on };
        let mut findings = doctor::examine(&installation);
        let mut fixed = None;
        if self.fix && findings.iter().any(|finding| !finding.ok) {
            fixed = Some(match install::put(&Order { machine: &machine, ..order }, &parts) {
                Ok(_) => "installed anew".to_owned(),
                Err(trouble) => format!("cannot be fixed: {}: {}", trouble.path.display(), trouble.why),
            });
            findings = doctor::examine(&installation);
        }
        let project = (scope == Scope::Project).then(|| machine.project.clone());
        Examined { host: host.name, title: host.title, scope, project, fixed, findings }
    }
}

fn show(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    page.line(format!("memdir {}", report.version))?;
    for finding in &report.grounds {
        say(finding, page)?;
    }
    for one in &report.hosts {
        let title = page.strong(one.title);
        let place = one.project.as_ref().map_or_else(String::new, |project| format!(" in {}", project.display()));
        page.line(format!("{title}{place}"))?;
        if let Some(fixed) = &one.fixed {
            page.line(format!("  {fixed}"))?;
        }
        for finding in &one.findings {
            say(finding, page)?;
        }
    }
    if report.hosts.is_empty() {
        page.line("Nothing is installed. Next: memdir install")?;
    } else if report.hosts.iter().flat_map(|one| &one.findings).any(|finding| !finding.ok) {
        page.line("Next: memdir doctor --fix")?;
    }
    Ok(())
}

fn say(finding: &Finding, page: &mut Page<'_>) -> io::Result<()> {
    let sign = if finding.ok { page.green("ok ") } else { page.red("bad") };
    page.line(format!("  {sign} {}: {}", finding.what, finding.seen))?;
    match &finding.fix {
        Some(fix) => page.line(format!("      {fix}")),
        None => Ok(()),
    }
}
