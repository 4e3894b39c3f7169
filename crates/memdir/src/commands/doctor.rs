//! `memdir doctor`: checks installations from the host's files to the output of the hooks, and reports what to do.

use super::{install::machine, mount_label};
use crate::{
    args::Doctor as DoctorArgs,
    config::Settings,
    doctor::{self, DoctorFinding, Installation},
    exit::{Exit, Failure},
    hosts::{self, Host, InstallScope, Machine},
    install::{self, InstallRequest, Receipts},
    output::{CommandOutput, Printer},
    scope,
};
use memdir_core::{Clock as _, SystemClock};
use serde::Serialize;
use std::{
    io,
    path::{Path, PathBuf},
};

#[derive(Serialize)]
struct DoctorReport {
    ok: bool,
    version: &'static str,
    #[serde(rename = "grounds")]
    directories: Vec<DoctorFinding>,
    hosts: Vec<HostReport>,
}

#[derive(Serialize)]
struct HostReport {
    host: &'static str,
    title: &'static str,
    scope: InstallScope,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<PathBuf>,
    /// The result of `--fix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<String>,
    findings: Vec<DoctorFinding>,
}

pub(crate) fn run(args: &DoctorArgs, settings: &Settings, scope: &scope::Scope) -> Result<CommandOutput, Failure> {
    let machine = machine(settings)?;
    let receipts = Receipts::load(&settings.home.value)?;
    let label = |prefix: &str| mount_label(prefix, settings.dir.is_some());
    let mounts: Vec<_> = scope.mounts.iter().map(|placed| (label(&placed.mount.prefix), placed.mount.root.clone())).collect();
    let mut directories = doctor::check_directories(&settings.home.value, &mounts);
    directories.extend(doctor::check_journals(&scope.mounts_only(), &label, args.fix));
    directories.extend(scope.off.as_deref().map(doctor::memory_is_off));
    let checkup = Checkup { fix: args.fix, home: &settings.home.value, receipts: &receipts, is_on: scope.off.is_none() };
    let selected = select(args, &machine, &receipts);
    let hosts: Vec<HostReport> = selected.iter().map(|(host, scope, machine)| checkup.run(host, *scope, machine)).collect();
    let ok = directories.iter().chain(hosts.iter().flat_map(|host| &host.findings)).all(|finding| finding.ok);
    let report = DoctorReport { ok, version: env!("CARGO_PKG_VERSION"), directories, hosts };
    Ok(CommandOutput::new(report, show).exit(if ok { Exit::Success } else { Exit::Negative }))
}

/// The recorded installations, or those of the named hosts.
fn select(args: &DoctorArgs, machine: &Machine, receipts: &Receipts) -> Vec<(&'static Host, InstallScope, Machine)> {
    let recorded = receipts.installed.iter().filter_map(|receipt| {
        let project = receipt.key.project.clone().unwrap_or_else(|| machine.project.clone());
        Some((hosts::by_name(&receipt.key.host)?, receipt.key.scope, Machine { project, ..machine.clone() }))
    });
    let mut selected: Vec<_> =
        recorded.filter(|(host, ..)| args.hosts.is_empty() || args.hosts.iter().any(|named| named.name == host.name)).collect();
    let unrecorded: Vec<_> = args.hosts.iter().filter(|named| !selected.iter().any(|(host, ..)| host.name == named.name)).collect();
    selected.extend(unrecorded.into_iter().map(|host| (*host, InstallScope::User, machine.clone())));
    selected
}

/// What all checks of a run share.
struct Checkup<'a> {
    fix: bool,
    home: &'a Path,
    receipts: &'a Receipts,
    /// Whether memory is on, so that server and hooks can be run.
    is_on: bool,
}

impl Checkup<'_> {
    fn run(&self, host: &'static Host, scope: InstallScope, machine: &Machine) -> HostReport {
        let request = InstallRequest { host, scope, machine, home: self.home, now: SystemClock.now() };
        let (machine, files) = install::expected(self.receipts, &request);
        let programs = self.receipts.programs(&machine);
        let installation = Installation { host, machine: &machine, files: &files, programs: &programs, is_on: self.is_on };
        let mut findings = doctor::check(&installation);
        let mut fixed = None;
        if self.fix && findings.iter().any(|finding| !finding.ok) {
            fixed = Some(match install::apply(&InstallRequest { machine: &machine, ..request }, &files) {
                Ok(_) => "reinstalled".to_owned(),
                Err(error) => format!("cannot be fixed: {error}"),
            });
            findings = doctor::check(&installation);
        }
        let project = (scope == InstallScope::Project).then(|| machine.project.clone());
        HostReport { host: host.name, title: host.title, scope, project, fixed, findings }
    }
}

fn show(report: &DoctorReport, page: &mut Printer<'_>) -> io::Result<()> {
    page.line(format!("memdir {}", report.version))?;
    for finding in &report.directories {
        show_finding(finding, page)?;
    }
    for host in &report.hosts {
        let title = page.strong(host.title);
        let place = host.project.as_ref().map_or_else(String::new, |project| format!(" in {}", project.display()));
        page.line(format!("{title}{place}"))?;
        if let Some(fixed) = &host.fixed {
            page.line(format!("  {fixed}"))?;
        }
        for finding in &host.findings {
            show_finding(finding, page)?;
        }
    }
    if report.hosts.is_empty() {
        page.line("not installed in any host; next: memdir install")?;
    } else if report.hosts.iter().flat_map(|host| &host.findings).any(|finding| !finding.ok) {
        page.line("next: memdir doctor --fix")?;
    }
    Ok(())
}

fn show_finding(finding: &DoctorFinding, page: &mut Printer<'_>) -> io::Result<()> {
    let status = if finding.ok { page.green("ok ") } else { page.red("bad") };
    page.line(format!("  {status} {}: {}", finding.what, finding.seen))?;
    match &finding.fix {
        Some(fix) => page.line(format!("      {fix}")),
        None => Ok(()),
    }
}
