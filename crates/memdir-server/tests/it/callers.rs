//! Callers with spaces of their own: opening one does not delay other requests, and a caller whose permissions change loses it.

use memdir_core::{Actor, Memdir, Store, internal::tools, testing::RamStore};
use memdir_server::{CallerDirectory, CallerId, HttpCaller, HttpOptions, ToolCatalog, ToolFilter, ToolGroup, serve_http};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::{Duration, Instant},
};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const SESSIONLESS: &str = "2026-07-28";

/// Callers whose tokens are `caller-N`. Opening the space of caller 1 waits for the test.
#[derive(Debug)]
struct StubDirectory {
    /// Added to the number of a caller to get its id; the test changes it.
    generation: AtomicU64,
    begun: Mutex<Sender<()>>,
    gate: Mutex<Option<Receiver<()>>>,
    /// The message with which the next space is refused.
    refusal: Mutex<Option<String>>,
    stores: Mutex<Vec<Weak<RamStore>>>,
}

impl CallerDirectory for StubDirectory {
    fn requires_token(&self) -> bool {
        true
    }

    fn identify(&self, token: &str) -> Option<CallerId> {
        let number: u64 = token.strip_prefix("caller-")?.parse().ok()?;
        Some(CallerId(number + self.generation.load(Ordering::SeqCst)))
    }

    fn is_current(&self, id: CallerId) -> bool {
        id.0 >= self.generation.load(Ordering::SeqCst)
    }

    fn revision(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    fn open(&self, caller: &HttpCaller) -> Result<ToolCatalog, String> {
        if let Some(why) = self.refusal.lock().unwrap().take() {
            return Err(why);
        }
        if caller.id == Some(CallerId(1)) {
            self.begun.lock().unwrap().send(()).unwrap();
            if let Some(gate) = self.gate.lock().unwrap().take() {
                gate.recv().unwrap();
            }
        }
        let (catalog, store) = catalog();
        self.stores.lock().unwrap().push(store);
        Ok(catalog)
    }
}

/// A catalog of memdir's own tools on an empty store.
fn catalog() -> (ToolCatalog, Weak<RamStore>) {
    let store = Arc::new(RamStore::default());
    let weak = Arc::downgrade(&store);
    let memdir = Memdir::new(store as Arc<dyn Store>, Actor { name: "test".into(), session: None });
    let group = ToolGroup {
        proposals: None,
        name: "native",
        tools: tools::native(),
        memdir,
        space: None,
        root: "/".into(),
        instructions: None,
        resources: true,
        section: None,
    };
    (ToolCatalog::new(vec![group], &ToolFilter::default()).unwrap(), weak)
}

/// A running server.
struct TestServer {
    address: SocketAddr,
    directory: Arc<StubDirectory>,
    /// Receives a message when the space of caller 1 begins to open.
    begun: Mutex<Receiver<()>>,
    /// Lets that space open.
    release: Sender<()>,
}

impl TestServer {
    fn start() -> TestServer {
        let ((begun, has_begun), (release, gate)) = (mpsc::channel(), mpsc::channel());
        let directory = Arc::new(StubDirectory {
            generation: AtomicU64::new(0),
            begun: Mutex::new(begun),
            gate: Mutex::new(Some(gate)),
            refusal: Mutex::new(None),
            stores: Mutex::default(),
        });
        let options = HttpOptions { callers: Some(directory.clone()), ..HttpOptions::new("127.0.0.1:0".parse().unwrap()) };
        let (ready, is_ready) = mpsc::channel();
        thread::spawn(move || serve_http(catalog().0, options, move |address| ready.send(address).unwrap()));
        TestServer { address: is_ready.recv_timeout(PATIENCE).unwrap(), directory, begun: Mutex::new(has_begun), release }
    }

    /// Sends a request on a connection of its own, and returns the whole response.
    fn exchange(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
        let mut stream = self.send(method, path, &[headers, &[("Connection", "close")]].concat(), body);
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n", self.address, body.len());
        headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        stream
    }

    /// Lists the tools of a caller without a session, and returns the whole response.
    fn list_tools(&self, token: &str) -> String {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Mcp-Method", "tools/list"),
            ("Mcp-Protocol-Version", SESSIONLESS),
        ];
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{meta}}}}}"#);
        self.exchange("POST", "/mcp", &headers, &body)
    }

    /// Starts a session of a caller and returns the open event stream.
    fn event_stream(&self, token: &str) -> BufReader<TcpStream> {
        let bearer = format!("Bearer {token}");
        let json = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        let params = r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}"#;
        let initialize = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#);
        let response = self.exchange("POST", "/mcp", &[&json[..], &[("Authorization", bearer.as_str())]].concat(), &initialize);
        let session = response.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap_or_else(|| panic!("{response}"));
        let client = [("Authorization", bearer.as_str()), ("Mcp-Session-Id", session)];
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let response = self.exchange("POST", "/mcp", &[client, json].concat(), initialized);
        assert!(response.starts_with("HTTP/1.1 202"), "{response}");
        let stream = self.send("GET", "/mcp", &[&client[..], &[("Accept", "text/event-stream")]].concat(), "");
        let mut reader = BufReader::new(stream);
        let mut status = String::new();
        reader.read_line(&mut status).unwrap();
        assert!(status.starts_with("HTTP/1.1 200"), "{status}");
        reader
    }
}

#[test]
fn a_space_that_opens_slowly_delays_no_other_request() {
    let server = TestServer::start();
    thread::scope(|scope| {
        let slow = scope.spawn(|| server.list_tools("caller-1"));
        server.begun.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        assert!(server.exchange("GET", "/healthz", &[], "").ends_with("ok"));
        assert!(server.list_tools("caller-2").contains("memory_read"), "another caller's space opens meanwhile");
        server.release.send(()).unwrap();
        assert!(slow.join().unwrap().contains("memory_read"));
    });
}

#[test]
fn concurrent_requests_of_one_caller_open_its_space_once() {
    let server = TestServer::start();
    thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(|| server.list_tools("caller-1"))).collect();
        server.begun.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        assert!(server.exchange("GET", "/healthz", &[], "").ends_with("ok"));
        server.release.send(()).unwrap();
        for response in all {
            assert!(response.join().unwrap().contains("memory_read"));
        }
    });
    assert_eq!(server.directory.stores.lock().unwrap().len(), 1);
}

#[test]
fn a_caller_whose_permissions_change_loses_its_space_and_its_event_stream() {
    let server = TestServer::start();
    let mut stream = server.event_stream("caller-2");
    let store = server.directory.stores.lock().unwrap()[0].clone();
    assert!(store.upgrade().is_some());
    server.directory.generation.store(100, Ordering::SeqCst);
    assert!(server.list_tools("caller-3").contains("memory_read"));
    let mut rest = String::new();
    while !rest.ends_with("0\r\n\r\n") && stream.read_line(&mut rest).unwrap() > 0 {}
    let begun = Instant::now();
    while store.upgrade().is_some() {
        assert!(begun.elapsed() < PATIENCE, "the space is still open");
        thread::yield_now();
    }
    assert!(server.list_tools("caller-2").contains("memory_read"), "the caller opens a new one");
}

#[test]
fn a_space_that_cannot_be_opened_is_tried_again() {
    let server = TestServer::start();
    *server.directory.refusal.lock().unwrap() = Some("memory is off".into());
    let refused = server.list_tools("caller-2");
    assert!(refused.starts_with("HTTP/1.1 403") && refused.ends_with("memory is off"), "{refused}");
    assert!(server.list_tools("caller-2").contains("memory_read"));
}
