//! `memdir dream --with HOST`: asks the host's own program, without its tools and its hooks, for operations. It keeps no session file, except
//! for Gemini CLI, which has no option for that. What it answers is only ever a list of operations that passes the same rules as every plan.

use super::{keep_plan, left_out_note, refuse_recursion};
use crate::{
    args::{DreamArgs, DreamHost},
    commands::OpenSpace,
    config::{DreamSetting, Settings, path_variable, user_home_dir},
    exit::Failure,
    output::{CommandOutput, Printer},
    program_error,
};
use memdir_core::{
    Dream, DreamPlan, DreamShelf, LeftOut,
    internal::{
        base::{
            disk::{self, Replace},
            limits, shell,
            text::ellipsis,
            time::Stopwatch,
        },
        operations::dream::combined,
        secrets::redact,
    },
};
use serde::Serialize;
use serde_json::Value;
use std::{
    io::{self, Read as _, Write as _},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// Marks the processes that this command starts: in them, memdir's hooks do nothing and no model is started.
const GUARD: &str = "MEMDIR_DREAM";

/// What `--with` would do, before it is done.
#[derive(Serialize)]
struct Announced {
    command: String,
    pieces: usize,
    tokens: usize,
    seconds: u64,
    max_cost_usd: f64,
    #[serde(skip)]
    host: DreamHost,
    #[serde(skip)]
    left_out: usize,
}

pub(super) fn run(
    host: DreamHost,
    space: &OpenSpace<'_>,
    shelf: &DreamShelf,
    request: &Dream<'_>,
    args: &DreamArgs,
    settings: &Settings,
) -> Result<CommandOutput, Failure> {
    refuse_recursion()?;
    let setting = &settings.config.dream;
    let prompt = space.memdir.dream_prompt(request)?;
    let argv = command_line(host, setting, prompt.pieces.len(), &settings.cwd);
    let variable = if host == DreamHost::Gemini { format!("{}={} ", GEMINI_TRUST.0, GEMINI_TRUST.1) } else { String::new() };
    let shown = variable
        + &argv.iter().map(|arg| if arg.is_empty() { "''".to_owned() } else { shell::quote_posix(arg) }).collect::<Vec<_>>().join(" ");
    let tokens: usize = prompt.pieces.iter().map(|piece| piece.tokens).sum();
    let (seconds, max_cost_usd) = (setting.model_seconds, setting.model_cost);
    let announced =
        Announced { command: shown, pieces: prompt.pieces.len(), tokens, seconds, max_cost_usd, host, left_out: prompt.left_out };
    if !args.yes || prompt.pieces.is_empty() {
        return Ok(CommandOutput::new(announced, show_announced));
    }
    let (mut notes, mut runs, mut sent): (Vec<String>, usize, usize) = (Vec::new(), 0, 0);
    let (mut plans, mut left_out): (Vec<DreamPlan>, Vec<LeftOut>) = (Vec::new(), Vec::new());
    let mut last_failure = String::new();
    let (watch, limit) = (Stopwatch::start(), Duration::from_secs(setting.model_seconds));
    for (number, piece) in (1..).zip(&prompt.pieces) {
        // The time is for all pieces together, and so is the cost.
        let left = limit.checked_sub(watch.elapsed()).unwrap_or_default();
        if left.is_zero() && number > 1 {
            notes.push(format!("skipped piece {number}: the time limit of {} s for all pieces was reached", limit.as_secs()));
            continue;
        }
        (runs, sent) = (runs + 1, sent + piece.tokens);
        let answer = ask(host, &argv, &piece.text, left).and_then(|output| answer_text(host, &output));
        let planned = answer.and_then(|text| space.memdir.plan_from_answer(&text, piece).map_err(|error| error.command_message()));
        match planned {
            Ok((plan, stale)) => {
                left_out.extend(stale);
                plans.push(plan);
            }
            // The operations of the other pieces are still useful.
            Err(why) => {
                notes.push(format!("skipped piece {number}: {why}"));
                last_failure = why;
            }
        }
    }
    // Two pieces may have proposed the same.
    let (plan, overlapping) = combined(plans);
    left_out.extend(overlapping);
    let Some(plan) = plan else {
        return Err(Failure::Negative {
            code: "unavailable",
            message: last_failure,
            hint: "nothing was changed; try again, or print the prompt for another model with: memdir dream --prompt".into(),
        });
    };
    notes.extend(left_out_note(prompt.left_out));
    notes.insert(0, format!("ran this command {} with about {sent} tokens in total: {}", times(runs), announced.command));
    Ok(keep_plan(shelf, space, plan, left_out, args)?.with_notes(notes))
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn show_announced(announced: &Announced, printer: &mut Printer<'_>) -> io::Result<()> {
    if announced.pieces == 0 {
        return printer.line("nothing was sent: there is nothing to tidy");
    }
    printer.line(format!("would run this command {} with about {} tokens in total:", times(announced.pieces), announced.tokens))?;
    printer.line(format!("  {}", announced.command))?;
    printer.line(match announced.host {
        DreamHost::Claude => {
            format!("time limit: {} s in total; cost limit: {:.2} USD in total", announced.seconds, announced.max_cost_usd)
        }
        DreamHost::Codex => format!("time limit: {} s in total; no cost limit (Codex CLI has no option to set one)", announced.seconds),
        DreamHost::Gemini => format!("time limit: {} s in total; no cost limit (Gemini CLI has no option to set one)", announced.seconds),
    })?;
    left_out_note(announced.left_out).iter().for_each(|note| printer.note(note));
    printer.note("this sends the text of your memories to the program's model; to run the command, add --yes");
    Ok(())
}

/// Settings of Codex for a run without hooks and tools. Unknown ones are ignored.
const CODEX_OFF: [&str; 9] = [
    "features.hooks=false", "features.shell_tool=false", "features.unified_exec=false", "features.apps=false", "features.plugins=false",
    "features.multi_agent=false", "features.goals=false", "tools.view_image=false", "web_search=\"disabled\"",
];

/// Makes Gemini CLI read the settings of the directory of the run. With `--skip-trust` alone it reads only those of the person, and starts
/// their hooks and servers.
const GEMINI_TRUST: (&str, &str) = ("GEMINI_CLI_TRUST_WORKSPACE", "true");

/// Settings of Gemini CLI for a run without hooks and tools, in the directory of the run. A list without a known tool allows
/// none; an empty list allows all. System settings would not count: their directory may be writable for others.
const GEMINI_OFF: &str = "{\"hooksConfig\":{\"enabled\":false},\"tools\":{\"core\":[\"none\"]},\"mcp\":{\"allowed\":[\"none\"]}}\n";

/// The setting that turns off the person's MCP servers in Codex. An empty table would leave them as they are, and a path is split at every
/// full stop, also in quotes, so it is one table with the names of all of them.
fn codex_servers_off(cwd: &Path) -> Option<String> {
    let home = path_variable("CODEX_HOME", cwd).ok().flatten().or_else(|| Some(user_home_dir()?.join(".codex")))?;
    let settings = std::fs::read_to_string(home.join("config.toml")).ok()?.parse::<toml::Table>().ok()?;
    let servers = settings.get("mcp_servers")?.as_table()?;
    // A string of JSON is one of TOML.
    let off: Vec<String> = servers.keys().map(|name| format!("{}={{enabled=false}}", Value::from(name.as_str()))).collect();
    (!off.is_empty()).then(|| format!("mcp_servers={{{}}}", off.join(",")))
}

/// The command line of a host: headless, without tools and hooks. The material goes to standard input.
fn command_line(host: DreamHost, setting: &DreamSetting, pieces: usize, cwd: &Path) -> Vec<String> {
    let servers_off = if matches!(host, DreamHost::Codex) { codex_servers_off(cwd) } else { None };
    let cost = format!("{:.2}", setting.model_cost / pieces.max(1) as f64);
    let args: Vec<&str> = match host {
        DreamHost::Claude => vec![
            "claude", "-p", "--output-format", "json", "--tools", "", "--strict-mcp-config", "--settings", "{\"disableAllHooks\":true}",
            "--no-session-persistence", "--max-turns", "1", "--max-budget-usd", &cost,
        ],
        DreamHost::Codex => {
            let mut args = vec!["codex", "exec", "--ephemeral", "--skip-git-repo-check", "--sandbox", "read-only"];
            // The person's own model and provider stay; their hooks and every tool that can be turned off do not.
            args.extend(CODEX_OFF.into_iter().chain(servers_off.as_deref()).flat_map(|setting| ["-c", setting]));
            args.push("-");
            args
        }
        DreamHost::Gemini => vec![
            "gemini", "--output-format", "json", "--approval-mode", "default", "--skip-trust", "--extensions", "none", "-p",
            "Answer as instructed above.",
        ],
    };
    args.into_iter().map(str::to_owned).collect()
}

/// Runs the program in an empty directory, where it finds no project and no instructions.
fn ask(host: DreamHost, argv: &[String], prompt: &str, limit: Duration) -> Result<Vec<u8>, String> {
    let dir = tempfile::tempdir().map_err(|error| format!("cannot create a temporary directory: {error}"))?;
    let program = &argv[0];
    #[expect(clippy::disallowed_methods, reason = "the user asked for it with --with and --yes")]
    let mut command = Command::new(program);
    command.args(&argv[1..]).current_dir(dir.path()).env(GUARD, "1").process_group(0);
    if host == DreamHost::Gemini {
        command.env(GEMINI_TRUST.0, GEMINI_TRUST.1);
        let file = dir.path().join(".gemini/settings.json");
        disk::create_private_dir(&dir.path().join(".gemini"))
            .and_then(|()| disk::replace(&file, Replace::DERIVED, |file| file.write_all(GEMINI_OFF.as_bytes())))
            .map_err(|error| format!("cannot write temporary settings for Gemini CLI: {error}"))?;
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{program} cannot be started: it is not installed or not in PATH"),
        _ => format!("{program} cannot be started: {error}"),
    })?;
    let output = exchange(&mut child, prompt, limit);
    end(&mut child);
    let (status, stdout, stderr) = output.map_err(|why| format!("{program} {why}"))?;
    match status {
        Some(0) => Ok(stdout),
        _ => {
            let ended = status.map_or("was killed by a signal".to_owned(), |code| format!("exited with status {code}"));
            Err(format!("{program} {ended}: {}", failure_reason(&stdout, &stderr)))
        }
    }
}

/// What a program that failed reported: the error in its JSON, or else its last lines. Claude Code prints JSON on standard output even if
/// it fails; Gemini CLI prints it on standard error, after lines of text.
fn failure_reason(stdout: &[u8], stderr: &[u8]) -> String {
    let streams = [stderr, stdout].map(String::from_utf8_lossy);
    let last_lines = |text: &str| Some(program_error::excerpt(text)).filter(|lines| !lines.is_empty());
    let reason = streams.iter().find_map(|text| reported_error(&first_json(text)?));
    let reason = reason.or_else(|| streams.iter().find_map(|text| last_lines(text)));
    reason.unwrap_or_else(|| "no message".to_owned())
}

/// The JSON object that begins at the first line with a `{`. What follows it is ignored.
fn first_json(text: &str) -> Option<Value> {
    let start = if text.starts_with('{') { 0 } else { text.find("\n{")? + 1 };
    serde_json::Deserializer::from_str(&text[start..]).into_iter().next()?.ok()
}

/// The error in the JSON that a program printed, if it is one. Without secrets: a provider may quote the key that it refuses.
fn reported_error(value: &Value) -> Option<String> {
    let text = |value: &Value| value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    let message = match (value["is_error"] == true, &value["error"]) {
        (true, _) => text(&value["result"]).or_else(|| text(&value["subtype"])).unwrap_or_else(|| "unknown".to_owned()),
        (false, error) => text(&error["message"])?,
    };
    Some(ellipsis(&redact(&message), 200).into_owned())
}

type Output = (Option<i32>, Vec<u8>, Vec<u8>);

fn exchange(child: &mut Child, prompt: &str, limit: Duration) -> Result<Output, String> {
    let watch = Stopwatch::start();
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
        return Err("has no open standard input or output".into());
    };
    let prompt = prompt.to_owned();
    // A program that does not read its input must not block us; the thread ends with its streams.
    thread::spawn(move || drop(stdin.write_all(prompt.as_bytes())));
    let (sender, receiver) = mpsc::channel();
    let errors = sender.clone();
    thread::spawn(move || sender.send((true, read_bounded(stdout))));
    thread::spawn(move || errors.send((false, read_bounded(stderr))));
    let (mut out, mut err) = (None, None);
    while out.is_none() || err.is_none() {
        let left = limit.checked_sub(watch.elapsed()).unwrap_or_default();
        match receiver.recv_timeout(left) {
            Ok((true, text)) => out = Some(text),
            Ok((false, text)) => err = Some(text),
            Err(_) => return Err(format!("did not answer within {:.0} s and was stopped", limit.as_secs_f64().ceil())),
        }
    }
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok((status.code(), out.unwrap_or_default(), err.unwrap_or_default())),
            Ok(None) if watch.elapsed() < limit => thread::sleep(Duration::from_millis(2)),
            Ok(None) => return Err(format!("did not answer within {:.0} s and was stopped", limit.as_secs_f64().ceil())),
            Err(error) => return Err(format!("did not report an exit status: {error}")),
        }
    }
}

/// Reads a stream up to the size of a plan. A program that writes more ends at the closed stream.
fn read_bounded(stream: impl io::Read) -> Vec<u8> {
    let mut text = Vec::new();
    let mut stream = stream.take(limits::DREAM_PLAN_BYTES as u64);
    let _ = stream.read_to_end(&mut text);
    text
}

/// Ends the program and everything it started: its hooks may run on.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
}

/// The model's text in the output of a program.
fn answer_text(host: DreamHost, output: &[u8]) -> Result<String, String> {
    let text = String::from_utf8(output.to_vec()).map_err(|_| "the model's answer is not valid UTF-8".to_owned())?;
    let key = match host {
        DreamHost::Claude => "result",
        DreamHost::Gemini => "response",
        DreamHost::Codex => return Ok(text),
    };
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => match (reported_error(&value), value[key].as_str()) {
            (Some(error), _) => Err(format!("the program reported an error: {error}")),
            (None, Some(answer)) => Ok(answer.to_owned()),
            (None, None) => Ok(text),
        },
        // A version without JSON output prints the answer itself.
        Err(_) => Ok(text),
    }
}
