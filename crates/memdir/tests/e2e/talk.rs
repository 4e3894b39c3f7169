//! A client of `memdir mcp` for tests: lines of JSON on standard input and output.

use crate::home::Home;
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    time::{Duration, Instant},
};

/// The protocol revisions that start with a handshake.
pub(crate) const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const SESSIONLESS: &str = "2026-07-28";

/// The maximum time to wait for a message. Hosts give up sooner; a machine under load does not need as long.
const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) struct Talk {
    child: Child,
    /// Notified when the client starts to wait for a message, and when it arrived.
    patience: Sender<()>,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    last: u64,
    /// Messages that were not the awaited response.
    pub(crate) news: Vec<Value>,
    meta: Option<Value>,
}

impl Talk {
    /// Starts the server on the home's directory without sending anything.
    pub(crate) fn silent(home: &Home, args: &[&str]) -> Talk {
        Talk::over(home.command(&[&["mcp"], args].concat()))
    }

    /// Starts the server by this command without sending anything.
    pub(crate) fn over(mut command: Command) -> Talk {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let patience = patience(&child);
        Talk { child, patience, to, from, last: 0, news: Vec::new(), meta: None }
    }

    /// Starts the server and initializes it as clients of that revision do.
    pub(crate) fn begin(home: &Home, args: &[&str], revision: &str) -> Talk {
        let mut talk = Talk::silent(home, args);
        talk.hello(revision);
        talk
    }

    pub(crate) fn hello(&mut self, revision: &str) {
        if revision == SESSIONLESS {
            self.meta = Some(meta());
            return;
        }
        let hello = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "talk", "version": "1" } });
        let answer = self.ask("initialize", hello);
        assert_eq!(answer["result"]["protocolVersion"], revision, "{answer}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_raw(&message.to_string());
    }

    pub(crate) fn send_raw(&mut self, line: &str) {
        let to = self.to.as_mut().unwrap();
        to.write_all(line.as_bytes()).unwrap();
        to.write_all(b"\n").unwrap();
        to.flush().unwrap();
    }

    /// Returns the next message. A server that sends none in time is killed, and the test fails.
    pub(crate) fn hear(&mut self) -> Value {
        let mut line = String::new();
        let begun = Instant::now();
        let _ = self.patience.send(());
        let heard = self.from.read_line(&mut line).unwrap();
        assert!(begun.elapsed() < PATIENCE, "the server sent nothing for {PATIENCE:?}");
        let _ = self.patience.send(());
        assert!(heard > 0, "the server has exited: {}", self.complaints());
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn post(&mut self, method: &str, mut params: Value) -> u64 {
        self.last += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        self.last
    }

    /// Sends a request and returns its response.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.answer(id)
    }

    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear();
            if message["id"] == id {
                return message;
            }
            self.news.push(message);
        }
    }

    /// Calls a tool and returns its result.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": name, "arguments": arguments }));
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool that succeeds and returns its text.
    pub(crate) fn call_text(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments);
        assert_ne!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    pub(crate) fn tools(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({}));
        answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Closes standard input and waits for the server to exit.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        self.to = None;
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "the server does not exit");
            std::thread::yield_now();
        };
        (status, self.complaints())
    }

    /// Returns standard error; call it only after the server has exited.
    fn complaints(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut text).unwrap();
        }
        text
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Closes the reading end, as a client that died does.
    pub(crate) fn deafen(&mut self) {
        let (read, _) = std::io::pipe().unwrap();
        let _ = std::mem::replace(&mut self.from, BufReader::new(ChildStdout::from(std::os::fd::OwnedFd::from(read))));
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // A failing test must leave no server behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Kills a server that does not send a message in time, so that no test waits forever.
fn patience(child: &Child) -> Sender<()> {
    let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    let (notify, notified) = mpsc::channel();
    std::thread::spawn(move || {
        while notified.recv().is_ok() {
            if notified.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    });
    notify
}

/// The metadata of requests without a session.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": SESSIONLESS,
        "io.modelcontextprotocol/clientInfo": { "name": "talk", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}
