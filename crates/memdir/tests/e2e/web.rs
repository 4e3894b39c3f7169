//! `memdir mcp --http`, and a client that sends exactly the given bytes.

use crate::{home::Home, talk::meta};
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
    time::Duration,
};

/// A running server and its address.
pub(crate) struct Web {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Web {
    pub(crate) fn start(home: &Home, args: &[&str]) -> Web {
        Web::start_with(home, args, &[])
    }

    pub(crate) fn start_with(home: &Home, args: &[&str], vars: &[(&str, &str)]) -> Web {
        let mut command = home.command(&[&["mcp", "--http", "127.0.0.1:0"], args].concat());
        vars.iter().for_each(|(key, value)| {
            command.env(key, value);
        });
        Web::spawn(command)
    }

    /// Starts the server without `--dir`.
    pub(crate) fn start_bare(home: &Home, args: &[&str]) -> Web {
        Web::spawn(home.bare(&[&["mcp", "--http", "127.0.0.1:0"], args].concat()))
    }

    /// Starts a server whose standard error is a file.
    pub(crate) fn spawn_with_log(mut command: Command, log: std::fs::File) -> Web {
        use std::os::unix::fs::FileExt as _;
        let mut child = command.stderr(log.try_clone().unwrap()).spawn().unwrap();
        loop {
            let mut text = [0; 200];
            let read = log.read_at(&mut text, 0).unwrap();
            if let Some((line, _)) = std::str::from_utf8(&text[..read]).unwrap().split_once('\n') {
                return Web { address: Web::parse(line), child };
            }
            assert!(child.try_wait().unwrap().is_none(), "the server has ended");
            std::thread::yield_now();
        }
    }

    /// Starts a server by this command.
    pub(crate) fn spawn(mut command: Command) -> Web {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        Web { address: Web::parse(&line), child }
    }

    /// The address that a server reported.
    fn parse(line: &str) -> SocketAddr {
        let address =
            line.trim().strip_prefix("memdir: serving http://").and_then(|rest| rest.trim_end_matches(" and /ui").strip_suffix("/mcp"));
        address.unwrap_or_else(|| panic!("{line}")).parse().unwrap()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self) -> HttpClient {
        HttpClient::connect(self.address)
    }

    /// Sends SIGTERM and waits for the server to exit.
    pub(crate) fn end(mut self) -> std::process::ExitStatus {
        let pid = rustix::process::Pid::from_raw(self.child.id() as i32).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client with one connection.
pub(crate) struct HttpClient {
    pub(crate) stream: TcpStream,
    reader: BufReader<TcpStream>,
    pub(crate) host: String,
    pub(crate) session: Option<String>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the JSON-RPC message of the body, which is JSON or a stream with one event.
    pub(crate) fn message(&self) -> Value {
        let text =
            self.body.lines().filter_map(|line| line.strip_prefix("data: ")).find(|data| data.starts_with('{')).unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

impl HttpClient {
    pub(crate) fn connect(address: SocketAddr) -> HttpClient {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // Head and body are two writes, between which Nagle's algorithm would wait.
        stream.set_nodelay(true).unwrap();
        HttpClient { reader: BufReader::new(stream.try_clone().unwrap()), stream, host: address.to_string(), session: None }
    }

    /// Sends a request with these headers, valid or not.
    pub(crate) fn request(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        self.head(method, path, headers, Some(body.len()));
        self.stream.write_all(body).unwrap();
        self.reply()
    }

    pub(crate) fn head(&mut self, method: &str, path: &str, headers: &[(&str, &str)], length: Option<usize>) {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(key, _)| *key == "Host") {
            head += &format!("Host: {}\r\n", self.host);
        }
        for (key, value) in headers {
            head += &format!("{key}: {value}\r\n");
        }
        if let Some(length) = length {
            head += &format!("Content-Length: {length}\r\n");
        }
        self.stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    }

    /// Reads the head of a response; its body is empty.
    pub(crate) fn reply_head(&mut self) -> Reply {
        let mut status = String::new();
        self.reader.read_line(&mut status).unwrap();
        let status = status.split(' ').nth(1).unwrap_or_else(|| panic!("no response: {status:?}")).parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).unwrap();
            match line.trim_end().split_once(": ") {
                None => break,
                Some((key, value)) => headers.push((key.to_ascii_lowercase(), value.to_owned())),
            }
        }
        Reply { status, headers, body: String::new() }
    }

    /// Reads a whole response.
    pub(crate) fn reply(&mut self) -> Reply {
        let mut reply = self.reply_head();
        let body = match reply.header("content-length").map(|length| length.parse::<usize>().unwrap()) {
            Some(length) => {
                let mut body = vec![0; length];
                self.reader.read_exact(&mut body).unwrap();
                body
            }
            None if reply.header("transfer-encoding") == Some("chunked") => self.chunks(),
            None => Vec::new(),
        };
        reply.body = String::from_utf8_lossy(&body).into_owned();
        reply
    }

    /// Reads a chunked body to its end.
    pub(crate) fn chunks(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let chunk = self.chunk_bytes();
            if chunk.is_empty() {
                return all;
            }
            all.extend(chunk);
        }
    }

    /// Reads the next chunk of a body.
    pub(crate) fn chunk(&mut self) -> String {
        String::from_utf8(self.chunk_bytes()).unwrap()
    }

    fn chunk_bytes(&mut self) -> Vec<u8> {
        let mut size = String::new();
        self.reader.read_line(&mut size).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.reader.read_exact(&mut chunk).unwrap();
        chunk.truncate(size);
        chunk
    }

    /// Sends a message and returns the response.
    pub(crate) fn post(&mut self, headers: &[(&str, &str)], message: &Value) -> Reply {
        let session = self.session.clone();
        let mut all = vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        all.extend(session.as_deref().map(|session| ("Mcp-Session-Id", session)));
        all.extend_from_slice(headers);
        self.request("POST", "/mcp", &all, message.to_string().as_bytes())
    }

    /// Starts a session with this revision of the protocol.
    pub(crate) fn hello(&mut self, revision: &str, headers: &[(&str, &str)]) {
        let hello = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "web", "version": "1" } });
        let reply = self.post(headers, &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }));
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(reply.message()["result"]["protocolVersion"], revision);
        self.session = reply.header("mcp-session-id").map(ToOwned::to_owned);
        let done = self.post(headers, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assert_eq!(done.status, 202, "{done:?}");
    }

    /// Calls a tool without a session and returns its result.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Value {
        let reply = self.ask("tools/call", json!({ "name": name, "arguments": arguments }));
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.message()["result"].clone()
    }

    /// Sends a request without a session.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> Reply {
        params["_meta"] = meta();
        let name = params["name"].as_str().map(ToOwned::to_owned);
        let mut headers = vec![("Mcp-Method", method), ("Mcp-Protocol-Version", crate::talk::SESSIONLESS)];
        headers.extend(name.as_deref().map(|name| ("Mcp-Name", name)));
        self.post(&headers, &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
    }
}

/// Answers one request with a body of this media type, and returns the URL.
pub(crate) fn answer_once(status: &'static str, media_type: &'static str, body: String) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = BufReader::new(stream.try_clone().unwrap());
        let (mut line, mut length) = (String::new(), 0);
        while request.read_line(&mut line).unwrap() > 2 {
            length = line.to_lowercase().strip_prefix("content-length:").map_or(length, |length| length.trim().parse().unwrap());
            line.clear();
        }
        request.read_exact(&mut vec![0; length]).unwrap();
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\nConnection: close", body.len());
        write!(stream, "{head}\r\n\r\n{body}").unwrap();
    });
    url
}
