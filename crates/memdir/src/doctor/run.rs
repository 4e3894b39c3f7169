//! Starts a program as a host would, with an end to waiting.

use memdir_core::base::time::Stopwatch;
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// The shortest time any host waits for a server.
const WAIT: Duration = Duration::from_secs(5);

/// A server that answered.
#[derive(Debug)]
pub(super) struct Met {
    pub(super) version: String,
    pub(super) tools: usize,
    pub(super) millis: u128,
}

/// A hook that ended.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) exit: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) millis: u128,
}

/// Starts a server, greets it, and asks for its tools.
pub(super) fn handshake(dir: &Path, program: &str, args: &[String]) -> Result<Met, String> {
    let watch = Stopwatch::start();
    let mut child = start(dir, program, args)?;
    let met = greet(&mut child, &watch);
    // It has served its purpose; where it cannot be ended it ends by its closed input.
    let _ = child.kill();
    let _ = child.wait();
    met
}

fn greet(child: &mut Child, watch: &Stopwatch) -> Result<Met, String> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else { return Err("has no input or output".into()) };
    let (say, hear) = mpsc::channel();
    thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok()).try_for_each(|value| say.send(value))
    });
    let mut ask = |message: Value| writeln!(input, "{message}").and_then(|()| input.flush()).map_err(|e| format!("does not listen: {e}"));
    let wait_for = |id: u64| loop {
        let left = WAIT.checked_sub(watch.elapsed()).unwrap_or_default();
        match hear.recv_timeout(left) {
            Ok(value) if value["id"] == id => return Ok(value),
            Ok(_) => {}
            Err(mpsc::RecvTimeoutError::Timeout) => return Err(format!("gave no answer within {} s", WAIT.as_secs())),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err("ended without an answer".to_owned()),
        }
    };
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "memdir doctor", "version": "1" } });
    ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))?;
    let greeting = wait_for(1)?;
    ask(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    ask(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }))?;
    let tools = wait_for(2)?;
    let tools = tools["result"]["tools"].as_array().ok_or_else(|| format!("offers no tools: {}", tools["error"]["message"]))?.len();
    let version = greeting["result"]["serverInfo"]["version"].as_str().unwrap_or("of no version").to_owned();
    Ok(Met { version, tools, millis: watch.elapsed().as_millis() })
}

/// Runs a hook: its words as they are, or a line in the shell the host uses.
pub(super) fn run_hook(dir: &Path, line: &str, args: Option<&[String]>, input: &str) -> Result<Ran, String> {
    let watch = Stopwatch::start();
    let (program, args): (&str, Vec<String>) = match args {
        Some(args) => (line, args.to_vec()),
        None if cfg!(windows) => ("powershell.exe", ["-NoProfile", "-Command", line].map(str::to_owned).to_vec()),
        None => ("sh", ["-c", line].map(str::to_owned).to_vec()),
    };
    let mut child = start(dir, program, &args)?;
    let gather = |stream: Option<Box<dyn std::io::Read + Send>>| {
        thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stream.map(|mut stream| stream.read_to_end(&mut text));
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let out = gather(child.stdout.take().map(|stream| Box::new(stream) as _));
    let err = gather(child.stderr.take().map(|stream| Box::new(stream) as _));
    if let Some(mut stdin) = child.stdin.take() {
        // A hook that does not want to hear may have closed it.
        let _ = stdin.write_all(input.as_bytes());
    }
    let exit = wait(&mut child, &watch)?;
    let said = |text: thread::JoinHandle<String>| text.join().unwrap_or_default();
    Ok(Ran { exit, stdout: said(out), stderr: said(err), millis: watch.elapsed().as_millis() })
}

fn wait(child: &mut Child, watch: &Stopwatch) -> Result<Option<i32>, String> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.code()),
            Ok(None) if watch.elapsed() < WAIT => thread::sleep(Duration::from_millis(1)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("did not end within {} s", WAIT.as_secs()));
            }
            Err(e) => return Err(format!("cannot be waited for: {e}")),
        }
    }
}

fn start(dir: &Path, program: &str, args: &[String]) -> Result<Child, String> {
    #[expect(clippy::disallowed_methods, reason = "a person asked the doctor to start what the host starts")]
    let mut command = Command::new(program);
    let dir = if dir.is_dir() { dir } else { Path::new(".") };
    command.args(args).current_dir(dir).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|e| format!("{program} cannot be started: {e}"))
}
