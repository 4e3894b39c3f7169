//! `memdir dream --with HOST`: asks the host's own program, without its tools, its hooks and its session files, for operations. What it
//! answers is only ever a list of operations that passes the same rules as every plan.

use super::{made, refuse_recursion};
use crate::{
    args::{Dream as Typed, DreamHost},
    commands::OpenSpace,
    config::DreamSetting,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{
    Dream, DreamPlan, DreamShelf, LeftOut,
    internal::base::{limits, shell, time::Stopwatch},
};
use serde::Serialize;
use serde_json::Value;
use std::{
    io::{self, Read as _, Write as _},
    os::unix::process::CommandExt as _,
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
}

pub(super) fn run(
    host: DreamHost,
    space: &OpenSpace<'_>,
    shelf: &DreamShelf,
    request: &Dream<'_>,
    args: &Typed,
    setting: &DreamSetting,
) -> Result<CommandOutput, Failure> {
    refuse_recursion()?;
    let prompt = space.memdir.dream_prompt(request)?;
    let argv = command_line(host, setting);
    let shown = argv.iter().map(|arg| if arg.is_empty() { "''".to_owned() } else { shell::quote_posix(arg) }).collect::<Vec<_>>().join(" ");
    let tokens: usize = prompt.pieces.iter().map(|piece| piece.tokens).sum();
    let announced =
        Announced { command: shown, pieces: prompt.pieces.len(), tokens, seconds: setting.model_seconds, max_cost_usd: setting.model_cost };
    if !args.yes || prompt.pieces.is_empty() {
        return Ok(CommandOutput::new(announced, show_announced));
    }
    let mut notes = vec![format!("ran {} times: {}; about {} tokens", announced.pieces, announced.command, announced.tokens)];
    let (mut operations, mut left_out): (Vec<_>, Vec<LeftOut>) = (Vec::new(), Vec::new());
    let mut whole: Option<DreamPlan> = None;
    for (number, piece) in (1..).zip(&prompt.pieces) {
        let answer = ask(&argv, &piece.text, Duration::from_secs(setting.model_seconds)).and_then(|output| answer_text(host, &output));
        let planned = answer.and_then(|text| space.memdir.plan_from_operations(&text).map_err(|error| error.to_string()));
        match planned {
            Ok((plan, stale)) => {
                operations.extend(plan.operations.clone());
                left_out.extend(stale);
                whole.get_or_insert(plan);
            }
            // The operations of the other pieces are still useful.
            Err(why) => notes.push(format!("piece {number}: {why}; nothing of it is used")),
        }
    }
    let Some(plan) = whole else {
        return Err(Failure::Negative {
            code: "unavailable",
            message: notes.pop().unwrap_or_default(),
            hint: "nothing was changed; try again, or use: memdir dream --prompt".into(),
        });
    };
    Ok(made(shelf, DreamPlan { operations, ..plan }, left_out, args)?.with_notes(notes))
}

fn show_announced(announced: &Announced, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.line(format!("would run {} times, with about {} tokens in all:", announced.pieces, announced.tokens))?;
    printer.line(format!("  {}", announced.command))?;
    printer
        .line(format!("limits: {} s for each run, {:.2} USD where the program supports it", announced.seconds, announced.max_cost_usd))?;
    printer.note("the texts of your memories are sent to the model of that program; run it with --yes");
    Ok(())
}

/// The command line of a host: headless, without tools, hooks and session files. The material goes to standard input.
fn command_line(host: DreamHost, setting: &DreamSetting) -> Vec<String> {
    let cost = format!("{:.2}", setting.model_cost);
    let args: Vec<&str> = match host {
        DreamHost::Claude => vec![
            "claude",
            "-p",
            "--output-format",
            "json",
            "--tools",
            "",
            "--strict-mcp-config",
            "--settings",
            "{\"disableAllHooks\":true}",
            "--no-session-persistence",
            "--max-turns",
            "1",
            "--max-budget-usd",
            &cost,
        ],
        DreamHost::Codex => {
            vec!["codex", "exec", "--ephemeral", "--skip-git-repo-check", "--ignore-user-config", "--sandbox", "read-only", "-"]
        }
        DreamHost::Gemini => vec![
            "gemini",
            "--output-format",
            "json",
            "--approval-mode",
            "default",
            "--extensions",
            "none",
            "-p",
            "Answer as instructed above.",
        ],
    };
    args.into_iter().map(str::to_owned).collect()
}

/// Runs the program in an empty directory, where it finds no project and no instructions.
fn ask(argv: &[String], prompt: &str, limit: Duration) -> Result<Vec<u8>, String> {
    let dir = tempfile::tempdir().map_err(|error| format!("cannot create a directory: {error}"))?;
    let program = &argv[0];
    #[expect(clippy::disallowed_methods, reason = "the user asked for it with --with and --yes")]
    let mut command = Command::new(program);
    command.args(&argv[1..]).current_dir(dir.path()).env(GUARD, "1").process_group(0);
    // Gemini CLI has no option for hooks; system settings override those of the user.
    let settings = dir.path().join("settings.json");
    memdir_core::internal::base::disk::replace(&settings, memdir_core::internal::base::disk::Replace::DERIVED, |file| {
        file.write_all(b"{\"hooksConfig\":{\"enabled\":false},\"tools\":{\"core\":[]},\"mcp\":{\"allowed\":[]}}\n")
    })
    .map_err(|error| format!("cannot write its settings: {error}"))?;
    command.env("GEMINI_CLI_SYSTEM_SETTINGS_PATH", &settings);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{program} cannot be started: {error}"))?;
    let output = talk(&mut child, prompt, limit);
    end(&mut child);
    let (status, stdout, stderr) = output.map_err(|why| format!("{program} {why}"))?;
    match status {
        Some(0) => Ok(stdout),
        _ => {
            let stderr = String::from_utf8_lossy(&stderr).into_owned();
            let said = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
            let status = status.map_or("a signal".to_owned(), |code| format!("status {code}"));
            Err(format!("{program} ended with {status}: {}", memdir_core::internal::base::text::ellipsis(said, 200)))
        }
    }
}

type Output = (Option<i32>, Vec<u8>, Vec<u8>);

fn talk(child: &mut Child, prompt: &str, limit: Duration) -> Result<Output, String> {
    let watch = Stopwatch::start();
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
        return Err("has no standard streams".into());
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
            Err(_) => return Err(format!("gave no answer within {} s and was ended", limit.as_secs())),
        }
    }
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok((status.code(), out.unwrap_or_default(), err.unwrap_or_default())),
            Ok(None) if watch.elapsed() < limit => thread::sleep(Duration::from_millis(2)),
            Ok(None) => return Err(format!("gave no answer within {} s and was ended", limit.as_secs())),
            Err(error) => return Err(format!("cannot be waited for: {error}")),
        }
    }
}

/// Reads a stream up to the size of a plan. What exceeds it is read and dropped, so that the program can end.
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
    let text = String::from_utf8(output.to_vec()).map_err(|_| "the answer is not valid UTF-8".to_owned())?;
    let key = match host {
        DreamHost::Claude => "result",
        DreamHost::Gemini => "response",
        DreamHost::Codex => return Ok(text),
    };
    match serde_json::from_str::<Value>(&text) {
        Ok(value) if value["is_error"] == true => Err(format!(
            "the program reports an error: {}",
            memdir_core::internal::base::text::ellipsis(value[key].as_str().unwrap_or("unknown"), 200)
        )),
        Ok(value) => match value[key].as_str() {
            Some(answer) => Ok(answer.to_owned()),
            None => Ok(text),
        },
        // A version without JSON output prints the answer itself.
        Err(_) => Ok(text),
    }
}
