//! `memdir doctor`: checks installations from the host's files to the output of the hooks, and reports what to do.

use super::{
    install::{
        machine,
        own_memory::{self, SettlementContext},
    },
    mount_label,
};
use crate::{
    args::DoctorArgs,
    config::{self, Settings},
    doctor::{self, DoctorFinding, FindingLevel, Installation},
    exit::{Exit, Failure},
    hosts::{self, HOSTS, Host, HostConfigFile, InstallScope, InstalledPlugin, Machine},
    install::{self, ConfigChange, InstallKey, InstallRequest, Receipt, Receipts},
    moved,
    output::{CommandOutput, Printer},
    scope, spaces,
};
use memdir_core::{Clock as _, Rule, Strength, SystemClock, internal::base::shell::quote_posix};
use serde::Serialize;
use std::{io, path::PathBuf};

#[derive(Serialize)]
pub(super) struct DoctorReport {
    ok: bool,
    version: &'static str,
    #[serde(rename = "grounds")]
    pub(super) directories: Vec<DoctorFinding>,
    pub(super) hosts: Vec<HostReport>,
}

#[derive(Serialize)]
pub(super) struct HostReport {
    host: &'static str,
    pub(super) title: &'static str,
    scope: InstallScope,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<PathBuf>,
    /// The result of `--fix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<String>,
    pub(super) findings: Vec<DoctorFinding>,
    /// Whether suggesting `--fix` makes sense: it was not tried, and it applies to this installation.
    #[serde(skip)]
    suggest_fix: bool,
}

pub(crate) fn run(args: &DoctorArgs, settings: &Settings, scope: &scope::Scope) -> Result<CommandOutput, Failure> {
    let report = report(args, settings, scope)?;
    let exit = if report.ok { Exit::Success } else { Exit::Negative };
    Ok(CommandOutput::new(report, show).exit(exit))
}

/// Checks the directories and the installations.
pub(super) fn report(args: &DoctorArgs, settings: &Settings, scope: &scope::Scope) -> Result<DoctorReport, Failure> {
    let machine = machine(settings)?;
    let receipts = Receipts::load(&settings.home.value)?;
    let label = |prefix: &str| mount_label(prefix, settings.dir.is_some());
    let mounts: Vec<_> =
        scope.shown_mounts().map(|scoped| (label(&scoped.mount.prefix), scoped.mount.root.clone(), scoped.mount.access)).collect();
    let mut directories = doctor::check_directories(&settings.home.value, &mounts);
    let advice = (!args.fix).then(|| format!("run: memdir {}doctor --fix", settings.typed_options()));
    directories.extend(doctor::check_files(&scope.mounts_only(), &label));
    directories.extend(doctor::check_journals(&scope.mounts_only(), &label, advice.as_deref()));
    if settings.config.chats.settings.on && scope.off.is_none() {
        directories.extend(doctor::check_chats(&spaces::syncer(settings).empty_hosts()));
    }
    directories.extend(scope.off.as_ref().map(doctor::memory_is_off));
    directories.extend(rules_finding(settings, scope));
    directories.extend(moved::moved_from(settings, scope).map(|moved| {
        let memories = super::counted(moved.memories as u64, "memory is", "memories are");
        let seen = format!("moved here from {}; {memories} not used", moved.root.display());
        DoctorFinding::note("project", seen, format!("reconnect with: memdir projects adopt {}", moved.id))
    }));
    let run = DoctorRun { fix: args.fix, settings, space: scope, receipts: &receipts };
    let selected = select(args, &machine, &receipts);
    let mut hosts: Vec<HostReport> = selected.iter().map(|(host, scope, machine)| run.run(host, *scope, machine)).collect();
    run.add_host_findings(&selected, &machine, &mut hosts);
    hosts.extend(run.team_servers(args));
    let ok = directories.iter().chain(hosts.iter().flat_map(|host| &host.findings)).all(|finding| finding.ok);
    Ok(DoctorReport { ok, version: env!("CARGO_PKG_VERSION"), directories, hosts })
}

/// The rules that stop actions; nothing if there are none, or if the space cannot be opened, which other checks report.
fn rules_finding(settings: &Settings, scope: &scope::Scope) -> Option<DoctorFinding> {
    let opened = spaces::open_lazy(settings, scope).ok()?;
    let rules = opened.memdir.rules(Some(&scope.tripwires_file(&settings.cache))).ok()?;
    let stops = |rule: &&Rule| rule.when.tripwires.iter().any(|wire| rule.when.strength_of(wire) > Strength::Tell);
    let (by_default, chosen): (Vec<&Rule>, Vec<&Rule>) = rules.iter().filter(stops).partition(|rule| rule.when.strength.is_none());
    let names = |rules: &[&Rule]| rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>().join(", ");
    let mut seen = Vec::new();
    if !by_default.is_empty() {
        let stop = super::counted(by_default.len() as u64, "rule stops", "rules stop");
        let what = "the first matching command of each conversation by default (set `strength: tell` in a rule to only show it)";
        seen.push(format!("{stop} {what}: {}", names(&by_default)));
    }
    if !chosen.is_empty() {
        let have = super::counted(chosen.len() as u64, "rule has", "rules have");
        seen.push(format!("{have} an explicit strength: {}", names(&chosen)));
    }
    let seen = format!("{}; list all rules with: memdir rules", seen.join("; "));
    (!by_default.is_empty() || !chosen.is_empty()).then(|| DoctorFinding::ok("rules", seen))
}

/// The recorded installations, or those of the named hosts.
fn select(args: &DoctorArgs, machine: &Machine, receipts: &Receipts) -> Vec<(&'static Host, InstallScope, Machine)> {
    let recorded = receipts.installed.iter().filter(|receipt| !receipt.key.team).filter_map(|receipt| {
        let project = receipt.key.project.clone().unwrap_or_else(|| machine.project.clone());
        Some((hosts::by_name(&receipt.key.host)?, receipt.key.scope, Machine { project, ..machine.clone() }))
    });
    let mut selected: Vec<_> =
        recorded.filter(|(host, ..)| args.hosts.is_empty() || args.hosts.iter().any(|named| named.name == host.name)).collect();
    let unrecorded: Vec<_> = args.hosts.iter().filter(|named| !selected.iter().any(|(host, ..)| host.name == named.name)).collect();
    selected.extend(unrecorded.into_iter().map(|host| (*host, InstallScope::User, machine.clone())));
    let is_selected = |host: &Host| selected.iter().any(|(selected, ..)| selected.name == host.name);
    let plugins = HOSTS.iter().filter(|host| args.hosts.is_empty() && !is_selected(host) && plugin_of(host, machine).is_some());
    let plugins: Vec<_> = plugins.map(|host| (*host, InstallScope::User, machine.clone())).collect();
    selected.extend(plugins);
    selected
}

fn plugin_of(host: &Host, machine: &Machine) -> Option<InstalledPlugin> {
    host.plugin.and_then(|find| find(machine))
}

/// What all checks of a run share.
struct DoctorRun<'a> {
    fix: bool,
    settings: &'a Settings,
    space: &'a scope::Scope,
    receipts: &'a Receipts,
}

impl DoctorRun<'_> {
    fn run(&self, host: &'static Host, scope: InstallScope, machine: &Machine) -> HostReport {
        let scoped = machine.in_scope(scope);
        let request = InstallRequest {
            host,
            scope,
            team: false,
            machine: &scoped,
            home: &self.settings.home.value,
            now: SystemClock.now(),
            choice: None,
        };
        let project = (scope == InstallScope::Project).then(|| machine.project.clone());
        let report = |fixed, findings| HostReport {
            host: host.name,
            title: host.title,
            scope,
            project: project.clone(),
            fixed,
            findings,
            suggest_fix: !self.fix,
        };
        if let Some(gone) = project.as_ref().filter(|project| !project.is_dir()) {
            // An uninstall elsewhere would remove the installation for all projects instead.
            let dir = quote_posix(&gone.to_string_lossy());
            let fix = format!(
                "remove memdir's record of this installation with: mkdir -p {dir} && cd {dir} && memdir uninstall {} --scope project",
                host.name
            );
            return report(None, vec![DoctorFinding::note("project", format!("{} no longer exists", gone.display()), fix)]);
        }
        let (machine, mut files) = install::expected(self.receipts, &request);
        let programs = self.receipts.programs(&machine);
        let receipt = self.receipts.get(&request.key());
        if receipt.is_none() {
            // Without a receipt, what is there shows what was installed.
            let has = |hooks| files.iter().any(|file| doctor::is_present(file, &programs, hooks));
            let (has_server, has_hooks) = (has(false), has(true));
            let is_expected = |edit: &hosts::ConfigEdit| if edit.is_hook() { has_hooks } else { has_server };
            files.iter_mut().for_each(|file| file.edits.retain(is_expected));
            files.retain(|file| !file.edits.is_empty());
        }
        let plugin = plugin_of(host, &machine);
        if files.is_empty() && plugin.is_none() && receipt.is_none() {
            let next = format!("install with: memdir install {}", host.name);
            return report(None, vec![DoctorFinding::note("memdir", "not installed", next)]);
        }
        let is_on = self.space.off.is_none();
        let installation = Installation { host, scope, machine: &machine, files: &files, programs: &programs, is_on };
        let check = || {
            let mut findings: Vec<DoctorFinding> = plugin.iter().map(|plugin| check_plugin(host, plugin, &files)).collect();
            findings.extend(doctor::check(&installation));
            findings
        };
        let mut findings = check();
        let mut fixed = None;
        if self.fix && findings.iter().any(|finding| !finding.ok) {
            fixed = match install::apply(&InstallRequest { machine: &machine, ..request }, &files) {
                Ok(written) if written.iter().all(|file| file.change == ConfigChange::Unchanged) => None,
                Ok(_) => Some("reinstalled".to_owned()),
                Err(error) => Some(format!("cannot be fixed: {error}")),
            };
            findings = check();
        }
        let untrusted = host.untrusted_hooks.filter(|_| !files.is_empty()).map(|list| list(&machine, scope, &programs));
        if let Some(untrusted) = untrusted.filter(|hooks| !hooks.is_empty()) {
            let seen = format!("not trusted yet, so {} does not run them: {}", host.title, untrusted.join(", "));
            let place = if scope == InstallScope::Project { format!(" in {}", machine.project.display()) } else { String::new() };
            let advice = format!("start `codex`{place}, open `/hooks` and trust these hooks (press `t` to trust all that await review)");
            findings.push(DoctorFinding::note("hooks", seen, advice));
        }
        report(fixed, findings)
    }

    /// Checks the connections to team servers.
    fn team_servers(&self, args: &DoctorArgs) -> Vec<HostReport> {
        let is_named = |host: &Host| args.hosts.is_empty() || args.hosts.iter().any(|named| named.name == host.name);
        let report = |receipt: &Receipt| {
            let host = hosts::by_name(&receipt.key.host).filter(|host| is_named(host))?;
            let files = receipt.files.iter().map(|record| HostConfigFile {
                path: record.path.clone(),
                format: record.format,
                edits: record.edits.clone(),
            });
            let project = receipt.key.project.as_deref();
            let findings = files.map(|file| doctor::check_team_server(host, (&file, project), &config::host_variable)).collect();
            Some(HostReport {
                host: host.name,
                title: host.title,
                scope: receipt.key.scope,
                project: receipt.key.project.clone(),
                fixed: None,
                findings,
                suggest_fix: false,
            })
        };
        self.receipts.installed.iter().filter(|receipt| receipt.key.team).filter_map(report).collect()
    }

    /// Adds what concerns a host as a whole to its first report: whether sessions get one memory section, and its own memory.
    fn add_host_findings(&self, selected: &[(&'static Host, InstallScope, Machine)], here: &Machine, reports: &mut [HostReport]) {
        let mut done: Vec<&str> = Vec::new();
        for ((host, scope, machine), report) in selected.iter().zip(reports) {
            let is_here = *scope == InstallScope::User || machine.project == here.project;
            let is_missing = report.findings.iter().all(|finding| finding.seen == "not installed");
            if !is_here || (is_missing && !report.findings.is_empty()) || done.contains(&host.name) {
                continue;
            }
            done.push(host.name);
            let both = [InstallScope::User, InstallScope::Project].into_iter();
            let files: Vec<HostConfigFile> = both.filter_map(|scope| (host.config)(here, scope)).flatten().collect();
            report.findings.extend(doctor::check_sections(host, &files, &self.receipts.programs(here)));
            report.findings.extend(self.own_memory(host, *scope, here));
        }
    }

    /// The command that installs in a host again, for the same memory and with what is installed.
    fn install_command(&self, host: &'static Host, scope: InstallScope, machine: &Machine) -> String {
        let project = (scope == InstallScope::Project).then(|| machine.project.clone());
        let receipt = self.receipts.get(&InstallKey { host: host.name.to_owned(), scope, project, team: false });
        let has_hook = |receipt: &Receipt| receipt.files.iter().flat_map(|record| &record.edits).any(hosts::ConfigEdit::is_hook);
        // A choice about its own memory alone installed nothing.
        let has_hooks = receipt.is_none_or(|receipt| receipt.has_only_settings() || has_hook(receipt));
        let options = match receipt.filter(|receipt| receipt.global_args != machine.global_args) {
            Some(other) => own_memory::with_blanks(&other.global_args),
            None => own_memory::selecting_options(self.settings, machine),
        };
        own_memory::install_command(host, scope, has_hooks, &options)
    }

    /// The state of the memory that the host keeps on its own.
    fn own_memory(&self, host: &'static Host, scope: InstallScope, machine: &Machine) -> Vec<DoctorFinding> {
        let advice = host.memory_advice.map(|advice| DoctorFinding::ok("built-in memory", advice));
        let Some(switch) = &host.memory_switch else { return advice.into_iter().collect() };
        let state = (switch.state)(machine);
        let shared = state.dir.as_ref().filter(|dir| state.off_by.is_none() && self.space.mount_at(dir).is_some());
        let is_kept = own_memory::is_kept_on_purpose(host, self.receipts, machine);
        let seen = match (&state.off_by, &state.suspended_by, shared) {
            (Some(switch), ..) if switch == hosts::OFF_BY_DEFAULT => Ok("off by default".to_owned()),
            (Some(switch), ..) => Ok(format!("off: {switch}")),
            (None, Some(variable), Some(dir)) => {
                Ok(format!("shares {} with memdir; both are off in this session: {variable}", dir.display()))
            }
            (None, None, Some(dir)) => Ok(format!("shares {} with memdir", dir.display())),
            (None, Some(variable), None) => Ok(format!("off in this session: {variable}")),
            (None, None, None) if is_kept => {
                Ok("on alongside memdir (--auto-memory both); the agent is asked to save to memdir".to_owned())
            }
            (None, None, None) => Err("on alongside memdir, so the agent gets instructions from two memories".to_owned()),
        };
        let what = format!("built-in {}", switch.name);
        let decide = || format!("choose with: {}", own_memory::decide(switch, &self.install_command(host, scope, machine)));
        let mut findings = vec![match seen {
            Ok(seen) => DoctorFinding::ok(what, seen),
            Err(seen) => DoctorFinding::note(what, seen, decide()),
        }];
        let is_unread = switch.covers_files && (state.off_by.is_some() || shared.is_some());
        let place = SettlementContext { settings: self.settings, space: self.space, machine };
        let missing = own_memory::missing_memories(host, &place).filter(|_| is_unread || !switch.covers_files);
        findings.extend(missing.map(|(count, memory)| {
            let memories = super::counted(count as u64, "memory", "memories");
            let dir = memory.path.display().to_string();
            if is_unread {
                let seen = format!("{memories} in {dir}, neither in memdir nor read by {}", host.title);
                return DoctorFinding::note(memory.title, seen, format!("import the directory with: memdir import {}", quote_posix(&dir)));
            }
            let seen = format!("{memories} in {dir}; {} has no setting that turns this memory off", host.title);
            DoctorFinding::note(memory.title, seen, format!("also use it in memdir with: memdir adopt {}", memory.name))
        }));
        findings
    }
}

/// A plugin has tools and hooks of its own, so an installation beside it doubles them.
fn check_plugin(host: &Host, plugin: &InstalledPlugin, files: &[HostConfigFile]) -> DoctorFinding {
    let (what, file) = (plugin.title, plugin.file.display());
    if files.iter().flat_map(|file| &file.edits).all(hosts::ConfigEdit::is_setting) {
        return DoctorFinding::ok(what, format!("enabled in {file}"));
    }
    let fix = format!("remove one of the two with: memdir uninstall {}, or {}", host.name, plugin.remove);
    let has_hooks = files.iter().flat_map(|file| &file.edits).any(hosts::ConfigEdit::is_hook);
    let doubled = if has_hooks { "tools and hooks are" } else { "its tools are" };
    DoctorFinding::bad(what, format!("enabled in {file} in addition to `memdir install`, so {doubled} duplicated"), fix)
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
    } else if report.hosts.iter().filter(|host| host.suggest_fix).flat_map(|host| &host.findings).any(|finding| finding.can_fix) {
        page.line("next: memdir doctor --fix")?;
    }
    Ok(())
}

fn show_finding(finding: &DoctorFinding, page: &mut Printer<'_>) -> io::Result<()> {
    let status = match finding.level {
        FindingLevel::Ok => page.green("ok "),
        FindingLevel::Note => page.strong("note"),
        FindingLevel::Bad => page.red("bad"),
    };
    page.line(format!("  {status} {}: {}", finding.what, finding.seen))?;
    match &finding.fix {
        Some(fix) => page.line(format!("      {fix}")),
        None => Ok(()),
    }
}
