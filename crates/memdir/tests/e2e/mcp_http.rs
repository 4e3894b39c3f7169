//! `memdir mcp --http`: who may call, what is refused, and that nobody hurts anybody else.

use crate::{
    home::Home,
    talk::HANDSHAKES,
    web::{Line, Web},
};
use serde_json::{Value, json};
use std::{
    io::{Read as _, Write as _},
    thread,
    time::{Duration, Instant},
};

const JSON: (&str, &str) = ("Content-Type", "application/json");
const ACCEPT: (&str, &str) = ("Accept", "application/json, text/event-stream");
const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn ping() -> Value {
    json!({ "jsonrpc": "2.0", "id": 5, "method": "ping" })
}

/// A line on which everything works.
fn well(web: &Web) -> Line {
    let mut line = web.connect();
    assert_ne!(line.call("memory_read", json!({}))["isError"], true);
    line
}

#[test]
fn every_revision_is_spoken_with_and_without_sessions() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    for revision in HANDSHAKES {
        let mut line = web.connect();
        line.hello(revision, &[]);
        assert!(line.session.is_some());
        let list = line.post(&[], &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
        assert_eq!(list.message()["result"]["tools"].as_array().unwrap().len(), 9);
        let call = json!({ "name": "memory_write", "arguments": { "path": revision, "content": "x" } });
        let call = line.post(&[], &json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call }));
        assert!(call.message()["result"]["content"][0]["text"].as_str().unwrap().starts_with("Saved"), "{call:?}");
    }
    let mut line = web.connect();
    let list = line.ask("tools/list", json!({}));
    assert_eq!(list.header("mcp-session-id"), None);
    assert_eq!(list.message()["result"]["tools"].as_array().unwrap().len(), 9);
    assert!(list.message()["result"]["ttlMs"].is_number(), "{list:?}");
    assert_eq!(home.files().len(), 5);
}

#[test]
fn undo_takes_back_what_the_same_session_did() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let (mut ada, mut bob) = (web.connect(), web.connect());
    ada.hello("2025-06-18", &[]);
    bob.hello("2025-06-18", &[]);
    let call = |line: &mut Line, name: &str, arguments: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
        line.post(&[], &message).message()["result"].clone()
    };
    call(&mut ada, "memory_write", json!({ "path": "a", "content": "x" }));
    call(&mut bob, "memory_write", json!({ "path": "b", "content": "x" }));
    call(&mut ada, "memory_undo", json!({}));
    assert_eq!(home.files(), ["MEMORY.md", "b.md"]);
    assert_eq!(call(&mut ada, "memory_undo", json!({}))["isError"], true);
    // Without a session, a connection stands for a conversation, and an id does where there is a proxy between.
    let (mut one, mut two) = (web.connect(), web.connect());
    let change = one.call("memory_write", json!({ "path": "c", "content": "x" }))["structuredContent"]["change"].clone();
    assert_eq!(two.call("memory_undo", json!({}))["isError"], true);
    assert_eq!(two.call("memory_undo", json!({ "change": change }))["isError"], false);
    one.call("memory_write", json!({ "path": "d", "content": "x" }));
    assert_eq!(one.call("memory_undo", json!({}))["isError"], false);
    assert_eq!(home.files(), ["MEMORY.md", "b.md"]);
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let home = Home::new();
    let web = Web::start(&home, &["--origin", "https://app.example.org", "--host", "memory.example.org"]);
    let port = web.address.port();
    let status = |headers: &[(&str, &str)]| web.connect().post(headers, &ping()).status;
    let own = format!("http://127.0.0.1:{port}");
    let other_port = format!("http://localhost:{}", port.wrapping_add(1));
    for origin in
        ["https://evil.example", "http://127.0.0.1.evil.example", "null", "https://app.example.org.evil", other_port.as_str(), "garbage"]
    {
        assert_eq!(status(&[("Origin", origin)]), 403, "{origin}");
    }
    for origin in ["https://app.example.org", own.as_str()] {
        assert_ne!(status(&[("Origin", origin)]), 403, "{origin}");
    }
    let rebound = format!("evil.example:{port}");
    for host in ["evil.example", rebound.as_str(), "127.0.0.1.evil.example", "localhost.evil"] {
        assert_eq!(status(&[("Host", host)]), 403, "{host}");
    }
    let local = format!("localhost:{port}");
    for host in ["localhost", local.as_str(), "memory.example.org", "MEMORY.example.org:443", "[::1]"] {
        assert_ne!(status(&[("Host", host)]), 403, "{host}");
    }
    let mut line = web.connect();
    line.stream.write_all(b"POST /mcp HTTP/1.0\r\nContent-Length: 0\r\n\r\n").unwrap();
    assert_eq!(line.reply().status, 400);
    let preflight = web.connect().request("OPTIONS", "/mcp", &[("Origin", "https://app.example.org")], b"");
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some("https://app.example.org")));
}

#[test]
fn a_token_is_asked_for_and_compared() {
    let home = Home::new();
    home.put("token", format!("{TOKEN}\n"));
    let file = home.memory("token");
    for web in [Web::start(&home, &["--token-file", file.to_str().unwrap()]), Web::start_with(&home, &[], &[("MEMDIR_TOKEN", TOKEN)])] {
        let status = |headers: &[(&str, &str)]| web.connect().post(headers, &ping());
        assert_eq!(status(&[]).status, 401);
        assert_eq!(status(&[]).header("www-authenticate"), Some("Bearer"));
        for wrong in
            [format!("Bearer {TOKEN}x"), "Bearer ".into(), format!("Basic {TOKEN}"), format!("Bearer {}", &TOKEN[..31]), TOKEN.into()]
        {
            assert_eq!(status(&[("Authorization", &wrong)]).status, 401, "{wrong}");
        }
        let mut line = web.connect();
        line.hello("2025-06-18", &[("Authorization", &format!("Bearer {TOKEN}"))]);
        assert_eq!(web.connect().request("GET", "/healthz", &[], b"").body, "ok");
        let command = std::fs::read(format!("/proc/{}/cmdline", web.pid())).unwrap();
        assert!(!String::from_utf8_lossy(&command).contains(TOKEN));
    }
}

#[test]
fn guessing_tokens_is_slowed_down() {
    let home = Home::new();
    let web = Web::start_with(&home, &[], &[("MEMDIR_TOKEN", TOKEN)]);
    let refused = (0..200).map(|_| web.connect().post(&[("Authorization", "Bearer wrong")], &ping()).status).collect::<Vec<_>>();
    assert!(refused[..10].iter().all(|status| *status == 401));
    assert!(refused.contains(&429), "{refused:?}");
}

#[test]
fn requests_that_make_no_sense_get_clear_errors() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut line = well(&web);
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for body in ["{", "nonsense", "", deep.as_str(), "\u{0}"] {
        let reply = line.request("POST", "/mcp", &[JSON, ACCEPT], body.as_bytes());
        assert_eq!((reply.status, &reply.message()["error"]["code"]), (400, &json!(-32700)), "{reply:?}");
    }
    for body in ["42", "{}", r#"{"jsonrpc":"2.0","id":1}"#, "[]"] {
        let reply = line.request("POST", "/mcp", &[JSON, ACCEPT], body.as_bytes());
        assert_eq!((reply.status, &reply.message()["error"]["code"]), (400, &json!(-32600)), "{reply:?}");
    }
    assert_eq!(line.request("POST", "/mcp", &[("Content-Type", "text/plain"), ACCEPT], b"{}").status, 415);
    assert_eq!(web.connect().request("POST", "/mcp", &[ACCEPT], b"{}").status, 415);
    assert_eq!(web.connect().request("POST", "/mcp", &[JSON, ("Accept", "text/html")], ping().to_string().as_bytes()).status, 406);
    assert_eq!(line.request("PUT", "/mcp", &[], b"").status, 405);
    assert_eq!(line.request("GET", "/", &[], b"").status, 404);
    assert_eq!(line.request("GET", "/mcp/../healthz", &[], b"").status, 404);
    let unknown = line.ask("memory/teleport", json!({}));
    assert_eq!((unknown.status, &unknown.message()["error"]["code"]), (404, &json!(-32601)), "{unknown:?}");
    let no_session = line.post(&[("Mcp-Session-Id", "nobody")], &ping());
    assert_eq!(no_session.status, 404, "{no_session:?}");
    let long = "x".repeat(100_000);
    assert_eq!(web.connect().request("GET", "/healthz", &[("X-Long", &long)], b"").status, 431);
    well(&web);
}

#[test]
fn bodies_of_64_megabytes_are_refused_without_being_kept() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    well(&web);
    let before = resident(&web);
    let piece = vec![b' '; 1 << 20];
    for announced in [true, false] {
        let mut line = web.connect();
        if announced {
            line.head("POST", "/mcp", &[JSON, ACCEPT], Some(64 << 20));
            (0..64).for_each(|_| line.stream.write_all(&piece).unwrap());
        } else {
            line.head("POST", "/mcp", &[JSON, ACCEPT, ("Transfer-Encoding", "chunked")], None);
            for _ in 0..64 {
                write!(line.stream, "{:x}\r\n", piece.len()).unwrap();
                line.stream.write_all(&piece).unwrap();
                line.stream.write_all(b"\r\n").unwrap();
            }
            line.stream.write_all(b"0\r\n\r\n").unwrap();
        }
        let reply = line.reply();
        assert_eq!(reply.status, 413, "{reply:?}");
    }
    let grown = resident(&web).saturating_sub(before);
    assert!(grown < 40_000, "grew by {grown} kB");
    well(&web);
}

fn resident(web: &Web) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", web.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap().to_owned();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn slow_and_half_open_connections_hurt_nobody() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut open = Vec::new();
    for n in 0..100 {
        let mut line = web.connect();
        match n % 4 {
            0 => {}
            1 => line.stream.write_all(b"POST /mcp HT").unwrap(),
            2 => line.head("POST", "/mcp", &[JSON, ACCEPT], Some(1_000)),
            _ => {
                line.head("POST", "/mcp", &[JSON, ACCEPT], Some(1_000));
                line.stream.write_all(b"{").unwrap();
                line.stream.shutdown(std::net::Shutdown::Write).unwrap();
            }
        }
        open.push(line);
    }
    let begun = Instant::now();
    (0..20).for_each(|_| drop(well(&web)));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    drop(open);
    well(&web);
}

#[test]
fn fifty_clients_lose_nothing() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    thread::scope(|scope| {
        for client in 0..50 {
            let web = &web;
            scope.spawn(move || {
                let mut line = web.connect();
                for n in 0..200 {
                    let result = match n % 4 {
                        0 => line.call("memory_write", json!({ "path": format!("c{client}/n{n}"), "content": format!("{client} {n}") })),
                        1 => line.call("memory_read", json!({ "paths": [format!("c{client}/n{}", n - 1)] })),
                        2 => line.call("memory_get", json!({ "path": format!("c{client}/n{}", n - 2) })),
                        _ => line.call("memory_write", json!({ "path": "log", "content": format!("{client} {n}"), "mode": "append" })),
                    };
                    assert_eq!(result["isError"], false, "{client} {n}: {result}");
                }
            });
        }
    });
    let log = home.text("log.md");
    assert_eq!(log.lines().count(), 50 * 50);
    for client in 0..50 {
        for n in (0..200).step_by(4) {
            assert_eq!(home.text(&format!("c{client}/n{n}.md")), format!("{client} {n}"));
            assert!(log.lines().any(|line| line == format!("{client} {}", n + 3)));
        }
    }
}

#[test]
fn a_stop_lets_running_calls_finish() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    // A stream that stays open for news does not keep the server.
    let mut listener = web.connect();
    listener.hello("2025-06-18", &[]);
    let session = listener.session.clone().unwrap();
    listener.head("GET", "/mcp", &[("Accept", "text/event-stream"), ("Mcp-Session-Id", &session)], None);
    let mut head = [0; 12];
    listener.stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    let begun = Instant::now();
    assert!(web.end().success());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn a_port_that_is_taken_is_said() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let address = web.address.to_string();
    let told = home.run(&["mcp", "--http", &address]).replace(&address, "[ADDRESS]");
    assert!(told.contains("cannot listen on [ADDRESS]: Address already in use"), "{told}");
}
