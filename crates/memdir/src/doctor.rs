//! Whether an installation works: what stands in the host's files is started and called as the host would do it. Starts the
//! programs that stand there, and nothing else; changes nothing.

mod run;

use crate::{
    hook::DOCTOR,
    hosts::{
        Event, Format, Hook, Host, Machine, Part, Wish,
        command::is_memdir,
        is_our_hook, jsonc,
        wish::{self},
    },
};
use run::{Ran, handshake, run_hook};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// What.
    pub(crate) what: String,
    /// Whether it is as it should be.
    pub(crate) ok: bool,
    /// What was seen.
    pub(crate) seen: String,
    /// What to do, where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fix: Option<String>,
}

impl Finding {
    fn good(what: impl Into<String>, seen: impl Into<String>) -> Finding {
        Finding { what: what.into(), ok: true, seen: seen.into(), fix: None }
    }

    fn bad(what: impl Into<String>, seen: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { what: what.into(), ok: false, seen: seen.into(), fix: Some(fix.into()) }
    }
}

/// One installation, as it was made.
#[derive(Debug)]
pub(crate) struct Installation<'a> {
    pub(crate) host: &'a Host,
    pub(crate) machine: &'a Machine,
    /// What should stand where.
    pub(crate) parts: &'a [Part],
    /// Programs that are memdir, whatever they are called.
    pub(crate) known: &'a [String],
    /// Whether memory is on, so that it can be called.
    pub(crate) is_on: bool,
}

/// Looks at one installation from its files to its hooks' answers.
pub(crate) fn examine(installation: &Installation<'_>) -> Vec<Finding> {
    installation.parts.iter().flat_map(|part| examine_part(installation, part)).collect()
}

fn examine_part(installation: &Installation<'_>, part: &Part) -> Vec<Finding> {
    let Installation { host, machine, known, .. } = installation;
    let file = part.file.display().to_string();
    let again = format!("memdir doctor {} --fix puts it there", host.name);
    let text = match std::fs::read_to_string(&part.file) {
        Ok(text) => text,
        Err(e) => return vec![Finding::bad(file, format!("cannot be read: {e}"), again)],
    };
    let mut findings = Vec::new();
    for wish in &part.wishes {
        let what = format!("{file}: {}", named(wish));
        match wish::stands(part.format, &text, wish, known) {
            Err(refused) => return vec![Finding::bad(file, refused.why, "mend the file by hand, then run this again")],
            Ok(false) => findings.push(Finding::bad(what.clone(), missing(part.format, &text, wish), again.clone())),
            Ok(true) => {}
        }
        match wish {
            _ if !installation.is_on => {}
            Wish::Whole { .. } => findings.extend(called_by_plugin(host, machine, &text, &what)),
            _ => findings.extend(call(installation, part.format, &text, wish, &what)),
        }
    }
    findings
}

fn named(wish: &Wish) -> String {
    match wish {
        Wish::Entry { path, .. } | Wish::Default { path, .. } | Wish::Setting { path, .. } => path.join("."),
        Wish::Hook { path, .. } => path.join("."),
        Wish::Whole { .. } => "the plugin".to_owned(),
    }
}

/// What stands there instead.
fn missing(format: Format, text: &str, wish: &Wish) -> String {
    let (Wish::Entry { path, .. } | Wish::Setting { path, .. }) = wish else {
        return "is not there, or not as this memdir writes it".into();
    };
    match wish::get(format, text, path) {
        Ok(Some(there)) => match there["command"].as_str().filter(|program| is_memdir(program)) {
            Some(program) => format!("starts another memdir: {program}"),
            None => "is not as this memdir writes it".into(),
        },
        _ => "is not there".into(),
    }
}

/// Does what the host would do with what stands there.
fn call(installation: &Installation<'_>, format: Format, text: &str, wish: &Wish, what: &str) -> Option<Finding> {
    let Installation { host, machine, known, .. } = installation;
    match wish {
        Wish::Entry { path, .. } => {
            let there = wish::get(format, text, path).ok()??;
            let (program, args) = command_of(&there)?;
            Some(started(&machine.project, &program, &args, what))
        }
        Wish::Hook { path, host: whose, event, .. } => {
            let there = jsonc::held(text, path, &|value| is_our_hook(value, whose, *event, known)).ok()??;
            Some(called(host, machine, *event, &there, what))
        }
        Wish::Default { .. } | Wish::Setting { .. } | Wish::Whole { .. } => None,
    }
}

/// Runs every hook as the plugin does: with the program and the arguments that stand in it.
fn called_by_plugin(host: &Host, machine: &Machine, text: &str, what: &str) -> Vec<Finding> {
    let constant = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("const {name} = ")));
        line.and_then(|value| serde_json::from_str::<Value>(value.trim_end_matches(';')).ok())
    };
    let program = constant("program").and_then(|program| program.as_str().map(str::to_owned));
    let Some(program) = program else { return vec![Finding::bad(what, "names no program", "memdir install writes it anew")] };
    let before: Vec<String> = constant("before").and_then(|before| serde_json::from_value(before).ok()).unwrap_or_default();
    let run = |hook: &Hook| {
        let own = ["hook", host.name, hook.event.name()].map(str::to_owned);
        let args: Vec<String> = before.iter().cloned().chain(own).collect();
        let ran = run_hook(&machine.project, &program, Some(&args), &sample(hook.event, &machine.project));
        judge(host, hook.event, ran, &format!("{what}: {}", hook.name))
    };
    host.hooks.iter().map(run).collect()
}

/// The program and arguments of a server's entry.
fn command_of(entry: &Value) -> Option<(String, Vec<String>)> {
    let words =
        |values: &Value| -> Vec<String> { values.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect() };
    match &entry["command"] {
        Value::String(program) => Some((program.clone(), words(&entry["args"]))),
        list @ Value::Array(_) => {
            let mut all = words(list);
            (!all.is_empty()).then(|| (all.remove(0), all))
        }
        _ => None,
    }
}

fn started(dir: &Path, program: &str, args: &[String], what: &str) -> Finding {
    match handshake(dir, program, args) {
        Ok(met) => {
            let own = env!("CARGO_PKG_VERSION");
            let other = if met.version == own { String::new() } else { format!("; this is {own}") };
            Finding::good(what, format!("memdir {} answers with {} tools in {} ms{other}", met.version, met.tools, met.millis))
        }
        Err(why) => Finding::bad(what, why, "see that the program is there and runs: memdir install puts this one in"),
    }
}

/// What a hook's entry runs: words, or a line for a shell.
fn called(host: &Host, machine: &Machine, event: Event, entry: &Value, what: &str) -> Finding {
    let line = ["command", "bash", "powershell"].iter().find_map(|key| entry[*key].as_str());
    let Some(line) = line else { return Finding::bad(what, "names no command", "memdir install writes it anew") };
    let args: Option<Vec<String>> = entry["args"].as_array().map(|args| args.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    let ran = run_hook(&machine.project, line, args.as_deref(), &sample(event, &machine.project));
    judge(host, event, ran, what)
}

fn judge(host: &Host, event: Event, ran: Result<Ran, String>, what: &str) -> Finding {
    let again = || format!("run it by hand: echo '{{}}' | memdir hook {} {} --explain", host.name, event.name());
    match ran {
        Err(why) => Finding::bad(what, why, "memdir install writes it anew"),
        Ok(ran) if ran.exit != Some(0) => Finding::bad(what, format!("ended with {:?}: {}", ran.exit, ran.stderr.trim()), again()),
        Ok(ran) if !ran.stderr.trim().is_empty() => Finding::bad(what, format!("said on standard error: {}", ran.stderr.trim()), again()),
        Ok(ran) if ran.stdout.trim().is_empty() => Finding::good(what, format!("silent, in {} ms", ran.millis)),
        Ok(ran) => match serde_json::from_str::<Value>(&ran.stdout) {
            Ok(Value::Object(_)) if ran.stdout.chars().count() <= 10_000 => {
                Finding::good(what, format!("{} characters in {} ms", ran.stdout.chars().count(), ran.millis))
            }
            Ok(Value::Object(_)) => {
                Finding::bad(what, format!("{} characters, of which hosts take 10,000", ran.stdout.chars().count()), again())
            }
            _ => Finding::bad(what, "answers something that is not a JSON object", again()),
        },
    }
}

/// What a host would send, in every spelling.
fn sample(event: Event, dir: &Path) -> String {
    let mut input =
        json!({ "session_id": DOCTOR, "cwd": dir, "hook_event_name": event.name(), "source": "startup", "transcript_path": null });
    match event {
        Event::Prompt => input["prompt"] = json!("What do we know about this project?"),
        Event::BeforeTool => {
            input["tool_name"] = json!("Bash");
            input["tool_input"] = json!({ "command": "true" });
        }
        // The doctor's conversation is never reminded of anything.
        Event::Stop => input["stop_hook_active"] = json!(true),
        Event::SessionStart | Event::SessionEnd | Event::BeforeCompaction => {}
    }
    input.to_string()
}

/// What is said where memory is off, and what turned it off.
pub(crate) fn off(switch: &str) -> Finding {
    let fix = "turn it on there; until then the tools refuse, the hooks are silent, and neither is called here";
    Finding::bad("memory", format!("is off: {switch}"), fix)
}

/// Directories that must be there and writable for anything to work.
pub(crate) fn grounds(home: &Path, mounts: &[(String, PathBuf)]) -> Vec<Finding> {
    let mut findings = vec![ground("home", home)];
    findings.extend(mounts.iter().map(|(name, root)| ground(&format!("mount {name}"), root)));
    findings
}

fn ground(what: &str, dir: &Path) -> Finding {
    let shown = dir.display();
    match dir.metadata() {
        Ok(meta) if !meta.is_dir() => Finding::bad(what, format!("{shown} is not a directory"), "move it away"),
        Ok(meta) if meta.permissions().readonly() => Finding::bad(what, format!("{shown} cannot be written"), "give yourself permission"),
        Ok(_) => Finding::good(what, shown.to_string()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Finding::good(what, format!("{shown}, made when it is needed")),
        Err(e) => Finding::bad(what, format!("{shown}: {e}"), "check the path and its permissions"),
    }
}
