//! Starts a program as a host would, with a time limit.

use crate::program_error::{self, StreamTail};
use memdir_core::internal::base::time::Stopwatch;
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// The shortest time that any host waits for a server.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A server that answered.
#[derive(Debug)]
pub(super) struct ServerInfo {
    pub(super) version: String,
    pub(super) tools: usize,
    /// The tools that a host may defer, although a model needs them at once.
    pub(super) deferred: Vec<String>,
    pub(super) millis: u128,
}

/// A hook that has ended.
#[derive(Debug)]
pub(super) struct HookRun {
    /// The exit status; `None` if a signal ended it.
    pub(super) exit: Option<i32>,
    pub(super) stdout: String,
    /// Whether `stdout` is only the end of what it printed.
    pub(super) is_cut: bool,
    /// The last lines of its standard error.
    pub(super) stderr: String,
    pub(super) millis: u128,
}

/// Starts a server, initializes it and lists its tools.
pub(super) fn handshake(dir: &Path, program: &str, args: &[String]) -> Result<ServerInfo, String> {
    let watch = Stopwatch::start();
    let mut child = start(dir, program, args)?;
    let stderr = child.stderr.take().map(StreamTail::read);
    let server = initialize(&mut child, &watch);
    // A server that cannot be killed ends because its input is closed.
    let _ = child.kill();
    let _ = child.wait();
    server.map_err(|error| match excerpt_of(stderr) {
        reason if reason.is_empty() => error,
        reason => format!("{error}: {reason}"),
    })
}

/// The last lines of a stream of a program that has ended.
fn excerpt_of(stream: Option<StreamTail>) -> String {
    stream.map(|stream| program_error::excerpt(&stream.into_text().0)).unwrap_or_default()
}

fn initialize(child: &mut Child, watch: &Stopwatch) -> Result<ServerInfo, String> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("has no open standard input or output".into());
    };
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok()).try_for_each(|value| sender.send(value))
    });
    let mut send = |message: Value| {
        writeln!(input, "{message}").and_then(|()| input.flush()).map_err(|e| format!("cannot write to the server's standard input: {e}"))
    };
    let wait_for = |id: u64| loop {
        let left = TIMEOUT.checked_sub(watch.elapsed()).unwrap_or_default();
        match receiver.recv_timeout(left) {
            Ok(value) if value["id"] == id => return Ok(value),
            Ok(_) => {}
            Err(mpsc::RecvTimeoutError::Timeout) => return Err(format!("no response within {} s", TIMEOUT.as_secs())),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err("exited without a response".to_owned()),
        }
    };
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "memdir doctor", "version": "1" } });
    send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))?;
    let greeting = wait_for(1)?;
    send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    send(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }))?;
    let tools = wait_for(2)?;
    let tools = tools["result"]["tools"].as_array().ok_or_else(|| {
        let why = tools["error"]["message"].as_str().unwrap_or("the response has no list of tools");
        format!("cannot list the server's tools: {}", program_error::excerpt(why))
    })?;
    let is_loaded = |tool: &&Value| tool["_meta"]["anthropic/alwaysLoad"] == true;
    let is_needed = |tool: &&Value| ["memory_search", "memory_write"].iter().any(|name| tool["name"] == *name);
    let deferred = tools.iter().filter(is_needed).filter(|tool| !is_loaded(tool)).filter_map(|tool| tool["name"].as_str());
    let (deferred, tools) = (deferred.map(str::to_owned).collect(), tools.len());
    let version = greeting["result"]["serverInfo"]["version"].as_str().unwrap_or("(unknown version)").to_owned();
    Ok(ServerInfo { version, tools, deferred, millis: watch.elapsed().as_millis() })
}

/// Runs a hook: a program with arguments, or a line in the shell of the host.
pub(super) fn run_hook(dir: &Path, line: &str, args: Option<&[String]>, input: &str) -> Result<HookRun, String> {
    let watch = Stopwatch::start();
    let (program, args): (&str, Vec<String>) = match args {
        Some(args) => (line, args.to_vec()),
        None if cfg!(windows) => ("powershell.exe", ["-NoProfile", "-Command", line].map(str::to_owned).to_vec()),
        None => ("sh", ["-c", line].map(str::to_owned).to_vec()),
    };
    let mut child = start(dir, program, &args)?;
    let stdout = child.stdout.take().map(StreamTail::read);
    let stderr = child.stderr.take().map(StreamTail::read);
    if let Some(mut stdin) = child.stdin.take() {
        // A hook that does not read its input may have closed it.
        let _ = stdin.write_all(input.as_bytes());
    }
    let exit = wait(&mut child, &watch)?;
    let millis = watch.elapsed().as_millis();
    let (stdout, is_cut) = stdout.map(StreamTail::into_text).unwrap_or_default();
    Ok(HookRun { exit, stdout, is_cut, stderr: excerpt_of(stderr), millis })
}

fn wait(child: &mut Child, watch: &Stopwatch) -> Result<Option<i32>, String> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.code()),
            Ok(None) if watch.elapsed() < TIMEOUT => thread::sleep(Duration::from_millis(1)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("still running after {} s", TIMEOUT.as_secs()));
            }
            Err(e) => return Err(format!("cannot wait for the process: {e}")),
        }
    }
}

fn start(dir: &Path, program: &str, args: &[String]) -> Result<Child, String> {
    #[expect(clippy::disallowed_methods, reason = "the user asked the doctor to start what the host starts")]
    let mut command = Command::new(program);
    let dir = if dir.is_dir() { dir } else { Path::new(".") };
    command.args(args).current_dir(dir).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|e| format!("{program} cannot be started: {e}"))
}
