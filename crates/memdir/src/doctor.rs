//! Checks whether an installation works: starts the server and runs the hooks from the host's files as the host would. Starts only the
//! programs named there, and changes nothing, except that it sets damaged records of a journal aside if the user asks for it.

mod directories;
mod run;
mod team;

pub(crate) use directories::{check_directories, check_files, check_journals};
pub(crate) use team::{check_team_server, remote_entry};

use crate::{
    exit::io_hint,
    hook::DOCTOR_SESSION,
    hosts::{
        ConfigEdit, ConfigFormat, HookEvent, HookSpec, Host, HostConfigFile, InstallScope, Machine,
        command::{Shell, is_memdir, is_our_hook, is_our_server},
        config_edit, jsonc,
    },
    off_switch::OffSwitch,
};
use memdir_chats::EmptyHost;
use memdir_core::internal::base::{shell::quote_posix, text::counted};
use run::{HookRun, handshake, run_hook};
use serde::Serialize;
use serde_json::{Value, json};
use std::{io, path::Path};

/// The number of characters that hosts accept from a hook.
const MAX_HOOK_CHARS: usize = 10_000;

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FindingLevel {
    /// It works.
    Ok,
    /// It works, and the user may want to act: something is not installed, not decided or not trusted yet.
    Note,
    /// It does not work.
    Bad,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct DoctorFinding {
    /// What was checked.
    pub(crate) what: String,
    /// Whether it works.
    pub(crate) ok: bool,
    pub(crate) level: FindingLevel,
    /// The state it is in.
    pub(crate) seen: String,
    /// What to do, unless all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fix: Option<String>,
    /// Whether `--fix` repairs it.
    #[serde(skip)]
    pub(crate) can_fix: bool,
}

impl DoctorFinding {
    pub(crate) fn ok(what: impl Into<String>, seen: impl Into<String>) -> DoctorFinding {
        DoctorFinding { what: what.into(), ok: true, level: FindingLevel::Ok, seen: seen.into(), fix: None, can_fix: false }
    }

    /// A finding that is not an error, with what the user may do.
    pub(crate) fn note(what: impl Into<String>, seen: impl Into<String>, fix: impl Into<String>) -> DoctorFinding {
        DoctorFinding { fix: Some(fix.into()), level: FindingLevel::Note, ..DoctorFinding::ok(what, seen) }
    }

    pub(crate) fn bad(what: impl Into<String>, seen: impl Into<String>, fix: impl Into<String>) -> DoctorFinding {
        DoctorFinding { ok: false, level: FindingLevel::Bad, ..DoctorFinding::note(what, seen, fix) }
    }

    /// An error in a file of a host, which is written again by `memdir doctor --fix`.
    fn fixable(host: &Host, what: impl Into<String>, seen: impl Into<String>) -> DoctorFinding {
        let fix = format!("run: memdir doctor {} --fix", host.name);
        DoctorFinding { can_fix: true, ..DoctorFinding::bad(what, seen, fix) }
    }
}

/// Reports hosts whose conversations were read without finding a message in them.
pub(crate) fn check_chats(empty_hosts: &[EmptyHost]) -> Vec<DoctorFinding> {
    let one = |empty: &EmptyHost| DoctorFinding::bad(format!("chats of {}", empty.host), empty.describe(), empty.hint());
    empty_hosts.iter().map(one).collect()
}

/// An installation to check.
#[derive(Debug)]
pub(crate) struct Installation<'a> {
    pub(crate) host: &'a Host,
    pub(crate) scope: InstallScope,
    pub(crate) machine: &'a Machine,
    /// The files it should have.
    pub(crate) files: &'a [HostConfigFile],
    /// Further paths of memdir, whatever their names.
    pub(crate) programs: &'a [String],
    /// Whether memory is on, so that server and hooks can be run.
    pub(crate) is_on: bool,
}

impl Installation<'_> {
    /// The command that installs it again with this program: in the same scope, for the same memory, and with or without hooks.
    fn install_command(&self) -> String {
        let scope: &[&str] = if self.scope == InstallScope::Project { &["--scope", "project"] } else { &[] };
        let no_hooks = (!self.machine.with_hooks && !self.host.hooks.is_empty()).then_some("--no-hooks");
        let own = ["install", self.host.name].into_iter().chain(scope.iter().copied()).chain(no_hooks).map(str::to_owned);
        let args: Vec<String> = self.machine.global_args.iter().cloned().chain(own).collect();
        in_project(self.project(), &Shell::Posix.line("memdir", &args))
    }

    /// The project that it is for, if it is not for all.
    fn project(&self) -> Option<&Path> {
        (self.scope == InstallScope::Project).then_some(&*self.machine.project)
    }
}

/// A command that is run in the directory of a project, if there is one: the doctor checks the installations of all projects, and
/// elsewhere the command would be about another one.
fn in_project(project: Option<&Path>, command: &str) -> String {
    project.map_or_else(|| command.to_owned(), |dir| format!("cd {} && {command}", quote_posix(&dir.to_string_lossy())))
}

/// Whether anything of memdir is in the files of a host, for a host without a receipt: tools, or hooks.
pub(crate) fn is_present(file: &HostConfigFile, programs: &[String], hooks: bool) -> bool {
    let Ok(text) = std::fs::read_to_string(&file.path) else { return false };
    file.edits.iter().any(|edit| match edit {
        ConfigEdit::Entry { path, .. } if !hooks => {
            config_edit::get(file.format, &text, path).is_ok_and(|entry| entry.is_some_and(|entry| is_our_server(&entry, programs)))
        }
        ConfigEdit::Whole { .. } if hooks => text.starts_with(config_edit::MARK),
        ConfigEdit::Hook { .. } if hooks => count_hooks(edit, &text, programs) > 0,
        _ => false,
    })
}

/// The number of elements in a list of hooks that are the hook of this edit.
fn count_hooks(edit: &ConfigEdit, text: &str, programs: &[String]) -> usize {
    let ConfigEdit::Hook { path, host, event, .. } = edit else { return 0 };
    let list = jsonc::get(text, path).ok().flatten().unwrap_or_default();
    list.as_array().into_iter().flatten().filter(|value| is_our_hook(value, host, *event, programs)).count()
}

/// Checks that a session starts with one memory section: the hook for it must be in one place. `files` are those of all scopes.
pub(crate) fn check_sections(host: &Host, files: &[HostConfigFile], programs: &[String]) -> Option<DoctorFinding> {
    let mut places: Vec<String> = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file.path) else { continue };
        let starts = file.edits.iter().filter(|edit| matches!(edit, ConfigEdit::Hook { event: HookEvent::SessionStart, .. }));
        let hooks: usize = starts.map(|edit| count_hooks(edit, &text, programs)).sum();
        let plugins = usize::from(file.format == ConfigFormat::Whole && text.starts_with(config_edit::MARK));
        places.extend(std::iter::repeat_n(file.path.display().to_string(), hooks + plugins));
    }
    (places.len() > 1).then(|| {
        let times = places.len();
        places.dedup();
        let fix = match places.len() {
            1 => "remove all but one of memdir's session-start hooks from the file".to_owned(),
            _ => format!("remove all but one of these hooks, for example with: memdir uninstall {} --scope project", host.name),
        };
        DoctorFinding::bad("memory section", format!("added {times} times to each session, by hooks in {}", places.join(" and ")), fix)
    })
}

/// Checks an installation, from its files to the output of its hooks.
pub(crate) fn check(installation: &Installation<'_>) -> Vec<DoctorFinding> {
    installation.files.iter().flat_map(|file| check_file(installation, file)).collect()
}

fn check_file(installation: &Installation<'_>, file: &HostConfigFile) -> Vec<DoctorFinding> {
    let Installation { host, programs, .. } = installation;
    let path = file.path.display().to_string();
    let text = match std::fs::read_to_string(&file.path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return vec![DoctorFinding::fixable(host, path, "missing")],
        Err(e) => return vec![DoctorFinding::bad(path, format!("cannot be read: {e}"), io_hint(&e))],
    };
    let mut findings = Vec::new();
    for edit in &file.edits {
        let what = format!("{path}: {}", label(edit));
        match edit.is_applied(file.format, &text, programs) {
            Err(error) => return vec![DoctorFinding::bad(path, error.message, format!("{}, then run: memdir doctor", error.hint))],
            Ok(false) => {
                findings.push(DoctorFinding::fixable(host, what.clone(), difference(file.format, &text, edit, programs)));
            }
            Ok(true) if edit.is_setting() => findings.push(DoctorFinding::ok(what.clone(), "set by memdir")),
            Ok(true) => {}
        }
        match edit {
            _ if !installation.is_on => {}
            ConfigEdit::Whole { .. } => findings.extend(run_plugin_hooks(installation, &text, &what)),
            _ => findings.extend(run_edit(installation, file.format, &text, edit, &what)),
        }
    }
    findings
}

fn label(edit: &ConfigEdit) -> String {
    match edit {
        ConfigEdit::Entry { path, .. }
        | ConfigEdit::Default { path, .. }
        | ConfigEdit::Setting { path, .. }
        | ConfigEdit::Restore { path, .. }
        | ConfigEdit::Hook { path, .. } => path.join("."),
        ConfigEdit::Whole { .. } => "the plugin".to_owned(),
    }
}

/// How the file differs from the edit.
fn difference(format: ConfigFormat, text: &str, edit: &ConfigEdit, programs: &[String]) -> String {
    let different = || "differs from what this version of memdir installs".to_owned();
    match edit {
        ConfigEdit::Entry { path, value: wanted } => match config_edit::get(format, text, path) {
            Ok(Some(value)) => match value["command"].as_str().filter(|program| is_memdir(program) && wanted["command"] != **program) {
                Some(program) => format!("starts another memdir executable: {program}"),
                None => different(),
            },
            _ => "missing".into(),
        },
        ConfigEdit::Setting { path, value } => match config_edit::get(format, text, path) {
            Ok(Some(current)) => format!("now {current}, but memdir set it to {value}"),
            _ => "missing".into(),
        },
        ConfigEdit::Hook { path, value, host, event } => {
            let ours = |value: &Value| is_our_hook(value, host, *event, programs);
            match jsonc::find_element(text, path, &ours) {
                Ok(Some(hook)) if has_args(&hook) && !has_args(value) => {
                    "uses `args`, which Claude Code before 2.1.139 ignores, so memdir runs without a command".into()
                }
                _ => "missing, or different from what this version of memdir installs".into(),
            }
        }
        ConfigEdit::Default { .. } | ConfigEdit::Restore { .. } | ConfigEdit::Whole { .. } => {
            "missing, or different from what this version of memdir installs".into()
        }
    }
}

/// Whether a group of hooks passes arguments apart from the command.
fn has_args(group: &Value) -> bool {
    group["hooks"].as_array().into_iter().flatten().chain([group]).any(|hook| hook["args"].is_array())
}

/// Runs what the host would run.
fn run_edit(installation: &Installation<'_>, format: ConfigFormat, text: &str, edit: &ConfigEdit, what: &str) -> Option<DoctorFinding> {
    let programs = installation.programs;
    match edit {
        ConfigEdit::Entry { path, .. } => {
            let entry = config_edit::get(format, text, path).ok()??;
            let (program, args) = server_command(&entry)?;
            Some(check_server(installation, &program, &args, what))
        }
        ConfigEdit::Hook { path, host: owner, event, .. } => {
            let entry = jsonc::find_element(text, path, &|value| is_our_hook(value, owner, *event, programs)).ok()??;
            Some(check_hook(installation, *event, &entry, what))
        }
        ConfigEdit::Default { .. } | ConfigEdit::Setting { .. } | ConfigEdit::Restore { .. } | ConfigEdit::Whole { .. } => None,
    }
}

/// Runs every hook as the plugin does, with the program and the arguments in it.
fn run_plugin_hooks(installation: &Installation<'_>, text: &str, what: &str) -> Vec<DoctorFinding> {
    let Installation { host, machine, .. } = installation;
    let Some((program, global_args)) = host.plugin_command.and_then(|read| read(text)) else {
        return vec![DoctorFinding::fixable(host, what, "does not name a program")];
    };
    let run = |hook: &HookSpec| {
        let own = ["hook", host.name, hook.event.name()].map(str::to_owned);
        let args: Vec<String> = global_args.iter().cloned().chain(own).collect();
        let run = run_hook(&machine.project, &program, Some(&args), &sample_input(hook.event, &machine.project));
        hook_finding(installation, &global_args, hook.event, run, &format!("{what}: {}", hook.name))
    };
    host.hooks.iter().map(run).collect()
}

/// The program and the arguments of a server's entry.
fn server_command(entry: &Value) -> Option<(String, Vec<String>)> {
    let strings =
        |values: &Value| -> Vec<String> { values.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect() };
    match &entry["command"] {
        Value::String(program) => Some((program.clone(), strings(&entry["args"]))),
        list @ Value::Array(_) => {
            let mut all = strings(list);
            (!all.is_empty()).then(|| (all.remove(0), all))
        }
        _ => None,
    }
}

fn check_server(installation: &Installation<'_>, program: &str, args: &[String], what: &str) -> DoctorFinding {
    let host = installation.host;
    match handshake(&installation.machine.project, program, args) {
        Ok(server) if host.defers_tools && !server.deferred.is_empty() => {
            let names = if server.deferred.len() == 1 { "its name" } else { "their names" };
            let deferred = server.deferred.join(" and ");
            let seen = format!("memdir {} lets {} defer {deferred}, so the model sees only {names}", server.version, host.title);
            DoctorFinding::note(what, seen, format!("update {program}"))
        }
        Ok(server) => {
            let own = env!("CARGO_PKG_VERSION");
            let tools = counted(server.tools as u64, "tool", "tools");
            let other = if server.version == own { String::new() } else { format!("; you are running memdir {own}") };
            DoctorFinding::ok(what, format!("memdir {} serves {tools} (response time {} ms){other}", server.version, server.millis))
        }
        Err(error) => DoctorFinding::bad(what, error, format!("check that the program runs, or run: {}", installation.install_command())),
    }
}

/// Runs the command of a hook's entry: a program with arguments, or a line for a shell.
fn check_hook(installation: &Installation<'_>, event: HookEvent, entry: &Value, what: &str) -> DoctorFinding {
    let Installation { host, machine, .. } = installation;
    let Some(line) = host.hook_command_keys.iter().find_map(|key| entry[*key].as_str()) else {
        return DoctorFinding::fixable(host, what, "does not name a command");
    };
    let args: Option<Vec<String>> = entry["args"].as_array().map(|args| args.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    let run = run_hook(&machine.project, line, args.as_deref(), &sample_input(event, &machine.project));
    hook_finding(installation, &machine.global_args, event, run, what)
}

/// The finding about a hook that was run. `global_args` are the arguments before the command that select the memory.
fn hook_finding(
    installation: &Installation<'_>,
    global_args: &[String],
    event: HookEvent,
    run: Result<HookRun, String>,
    what: &str,
) -> DoctorFinding {
    let explain = || {
        let own = ["hook", installation.host.name, event.name(), "--explain"].map(str::to_owned);
        let args: Vec<String> = global_args.iter().cloned().chain(own).collect();
        let command = format!("echo '{{}}' | {}", Shell::Posix.line("memdir", &args));
        format!("run: {}", in_project(installation.project(), &command))
    };
    let run = match run {
        Ok(run) => run,
        Err(error) => return DoctorFinding::bad(what, error, format!("run: {}", installation.install_command())),
    };
    let (chars, stderr) = (run.stdout.chars().count(), run.stderr);
    if run.exit != Some(0) {
        let status = run.exit.map_or_else(|| "terminated by a signal".to_owned(), |code| format!("exited with status {code}"));
        let seen = if stderr.is_empty() { status } else { format!("{status}: {stderr}") };
        return DoctorFinding::bad(what, seen, explain());
    }
    if !stderr.is_empty() {
        return DoctorFinding::bad(what, format!("printed to standard error: {stderr}"), explain());
    }
    if run.is_cut || chars > MAX_HOOK_CHARS {
        return DoctorFinding::bad(what, format!("output has more than the {MAX_HOOK_CHARS} characters that hosts accept"), explain());
    }
    if run.stdout.trim().is_empty() {
        return DoctorFinding::ok(what, format!("no output ({} ms)", run.millis));
    }
    match serde_json::from_str::<Value>(&run.stdout) {
        Ok(Value::Object(_)) => DoctorFinding::ok(what, format!("{chars} characters ({} ms)", run.millis)),
        _ => DoctorFinding::bad(what, "output is not a JSON object", explain()),
    }
}

/// The input of a hook, with the field names that hosts share.
fn sample_input(event: HookEvent, dir: &Path) -> String {
    let mut input = json!({
        "session_id": DOCTOR_SESSION, "cwd": dir, "hook_event_name": event.name(), "source": "startup", "transcript_path": null,
    });
    match event {
        HookEvent::Prompt => input["prompt"] = json!("What do we know about this project?"),
        HookEvent::BeforeTool | HookEvent::AfterTool => {
            input["tool_name"] = json!("Bash");
            input["tool_input"] = json!({ "command": "true" });
        }
        // So that the doctor does not get a reminder.
        HookEvent::Stop => input["stop_hook_active"] = json!(true),
        HookEvent::SessionStart | HookEvent::SessionEnd | HookEvent::BeforeCompaction => {}
    }
    input.to_string()
}

/// The finding that memory is off, by which switch.
pub(crate) fn memory_is_off(switch: &OffSwitch) -> DoctorFinding {
    let fix = format!("{}; until then, tools fail, hooks print nothing, and `memdir doctor` does not check them", switch.hint());
    DoctorFinding::bad("memory", format!("off: {switch}"), fix)
}
