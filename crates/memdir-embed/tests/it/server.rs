//! A small HTTP server on loopback that plays the part of an embedding server, good or bad.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    thread,
};

/// A request as the server received it: the first line, the headers it checks, the body.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: serde_json::Value,
}

/// What the server does with a request.
pub(crate) enum Reply {
    /// Answers with a status and a body.
    Status(u16, String),
    /// Answers exactly these bytes and closes.
    Raw(Vec<u8>),
    /// Sends only these bytes, if any, and keeps the connection open until the server is dropped.
    Hang(Vec<u8>),
}

/// A running server. Dropping it closes connections that hang.
pub(crate) struct Server {
    pub(crate) url: String,
    _release: mpsc::Sender<()>,
}

impl Server {
    /// Serves connections one after the other with what `reply` returns.
    pub(crate) fn start(mut reply: impl FnMut(Request) -> Reply + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (release, hold) = mpsc::channel();
        // The thread ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                if serve(stream, &mut reply, &hold).is_none() {
                    return;
                }
            }
        });
        Server { url, _release: release }
    }
}

/// Returns `None` if the server was dropped.
fn serve(mut stream: TcpStream, reply: &mut impl FnMut(Request) -> Reply, hold: &mpsc::Receiver<()>) -> Option<()> {
    let Some(request) = read(&stream) else { return Some(()) };
    match reply(request) {
        Reply::Status(status, body) => {
            let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
            let _ = stream.write_all(format!("{head}location: /elsewhere\r\n\r\n{body}").as_bytes());
            Some(())
        }
        Reply::Raw(bytes) => {
            let _ = stream.write_all(&bytes);
            Some(())
        }
        Reply::Hang(bytes) => {
            let _ = stream.write_all(&bytes);
            hold.recv().ok()
        }
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { line: line.trim_end().to_owned(), authorization, body: serde_json::from_slice(&body).ok()? })
}
