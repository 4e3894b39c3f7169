//! `memdir mcp --http`: access control, invalid requests, and that one client cannot harm another.

use crate::{
    home::Home,
    talk::HANDSHAKES,
    web::{HttpClient, Web},
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

/// Connects and checks that the server answers.
fn healthy_client(web: &Web) -> HttpClient {
    let mut client = web.connect();
    assert_ne!(client.call("memory_read", json!({}))["isError"], true);
    client
}

#[test]
fn every_revision_is_spoken_with_and_without_sessions() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    for revision in HANDSHAKES {
        let mut client = web.connect();
        client.hello(revision, &[]);
        assert!(client.session.is_some());
        let list = client.post(&[], &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
        assert_eq!(list.message()["result"]["tools"].as_array().unwrap().len(), 9);
        let call = json!({ "name": "memory_write", "arguments": { "path": revision, "content": "x" } });
        let call = client.post(&[], &json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call }));
        assert!(call.message()["result"]["content"][0]["text"].as_str().unwrap().starts_with("Saved"), "{call:?}");
    }
    let mut client = web.connect();
    let list = client.ask("tools/list", json!({}));
    assert_eq!(list.header("mcp-session-id"), None);
    assert_eq!(list.message()["result"]["tools"].as_array().unwrap().len(), 9);
    assert!(list.message()["result"]["ttlMs"].is_number(), "{list:?}");
    assert_eq!(home.files().len(), 5);
}

#[test]
fn undo_applies_to_the_changes_of_the_same_session() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let (mut ada, mut bob) = (web.connect(), web.connect());
    ada.hello("2025-06-18", &[]);
    bob.hello("2025-06-18", &[]);
    let call = |client: &mut HttpClient, name: &str, arguments: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
        client.post(&[], &message).message()["result"].clone()
    };
    call(&mut ada, "memory_write", json!({ "path": "a", "content": "x" }));
    call(&mut bob, "memory_write", json!({ "path": "b", "content": "x" }));
    call(&mut ada, "memory_undo", json!({}));
    assert_eq!(home.files(), ["MEMORY.md", "b.md"]);
    assert_eq!(call(&mut ada, "memory_undo", json!({}))["isError"], true);
    // Without a session, the connection identifies the conversation; a change id works from any connection.
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
    let other_address = format!("http://127.0.0.2:{port}");
    for origin in ["https://app.example.org", own.as_str(), other_address.as_str()] {
        assert_ne!(status(&[("Origin", origin)]), 403, "{origin}");
    }
    let rebound = format!("evil.example:{port}");
    for host in ["evil.example", rebound.as_str(), "127.0.0.1.evil.example", "localhost.evil"] {
        assert_eq!(status(&[("Host", host)]), 403, "{host}");
    }
    let local = format!("localhost:{port}");
    for host in ["localhost", local.as_str(), "memory.example.org", "MEMORY.example.org:443", "[::1]", "127.0.0.2"] {
        assert_ne!(status(&[("Host", host)]), 403, "{host}");
    }
    let mut client = web.connect();
    client.stream.write_all(b"POST /mcp HTTP/1.0\r\nContent-Length: 0\r\n\r\n").unwrap();
    assert_eq!(client.reply().status, 400);
    let preflight = web.connect().request("OPTIONS", "/mcp", &[("Origin", "https://app.example.org")], b"");
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some("https://app.example.org")));
}

#[test]
fn a_token_is_required_and_compared() {
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
        let mut client = web.connect();
        client.hello("2025-06-18", &[("Authorization", &format!("Bearer {TOKEN}"))]);
        assert_eq!(web.connect().request("GET", "/healthz", &[], b"").body, "ok");
        let command = std::fs::read(format!("/proc/{}/cmdline", web.pid())).unwrap();
        assert!(!String::from_utf8_lossy(&command).contains(TOKEN));
    }
}

#[test]
fn guessing_tokens_is_rate_limited() {
    let home = Home::new();
    let web = Web::start_with(&home, &[], &[("MEMDIR_TOKEN", TOKEN)]);
    let refused = (0..200).map(|_| web.connect().post(&[("Authorization", "Bearer wrong")], &ping()).status).collect::<Vec<_>>();
    assert!(refused[..10].iter().all(|status| *status == 401));
    assert!(refused.contains(&429), "{refused:?}");
    // A request without a token guesses nothing.
    let web = Web::start_with(&home, &[], &[("MEMDIR_TOKEN", TOKEN)]);
    assert!((0..200).all(|_| web.connect().post(&[], &ping()).status == 401));
    // The sign-in of the pages is limited in the same way.
    let web = Web::start_with(&home, &["--page"], &[("MEMDIR_TOKEN", TOKEN)]);
    let origin = format!("http://{}", web.address);
    let form = [("Origin", origin.as_str()), ("Content-Type", "application/x-www-form-urlencoded")];
    let sign_in = |_| web.connect().request("POST", "/ui/login", &form, b"token=wrong&project=").status;
    let refused = (0..200).map(sign_in).collect::<Vec<_>>();
    assert!(refused[..10].iter().all(|status| *status == 401), "{refused:?}");
    assert!(refused.contains(&429) && refused.iter().all(|status| [401, 429].contains(status)), "{refused:?}");
}

#[test]
fn invalid_requests_get_clear_errors() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut client = healthy_client(&web);
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for body in ["{", "nonsense", "", deep.as_str(), "\u{0}"] {
        let reply = client.request("POST", "/mcp", &[JSON, ACCEPT], body.as_bytes());
        assert_eq!((reply.status, &reply.message()["error"]["code"]), (400, &json!(-32700)), "{reply:?}");
    }
    for body in ["42", "{}", r#"{"jsonrpc":"2.0","id":1}"#, "[]"] {
        let reply = client.request("POST", "/mcp", &[JSON, ACCEPT], body.as_bytes());
        assert_eq!((reply.status, &reply.message()["error"]["code"]), (400, &json!(-32600)), "{reply:?}");
    }
    for (params, why) in [
        (json!({}), "\"protocolVersion\" is missing; it must be a string"),
        (json!([]), "params must be an object"),
        (json!({ "protocolVersion": 5, "capabilities": {}, "clientInfo": {} }), "\"protocolVersion\" must be a string"),
        (
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t" } }),
            "\"clientInfo.version\" is missing; it must be a string",
        ),
    ] {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize", "params": params });
        let reply = web.connect().request("POST", "/mcp", &[JSON, ACCEPT], message.to_string().as_bytes());
        let expected =
            json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32602, "message": format!("invalid params for initialize: {why}") } });
        assert_eq!((reply.status, reply.message()), (400, expected), "{message}");
    }
    assert_eq!(client.request("POST", "/mcp", &[("Content-Type", "text/plain"), ACCEPT], b"{}").status, 415);
    assert_eq!(web.connect().request("POST", "/mcp", &[ACCEPT], b"{}").status, 415);
    assert_eq!(web.connect().request("POST", "/mcp", &[JSON, ("Accept", "text/html")], ping().to_string().as_bytes()).status, 406);
    assert_eq!(client.request("PUT", "/mcp", &[], b"").status, 405);
    assert_eq!(client.request("GET", "/", &[], b"").status, 404);
    assert_eq!(client.request("GET", "/mcp/../healthz", &[], b"").status, 404);
    let unknown = client.ask("memory/teleport", json!({}));
    assert_eq!((unknown.status, &unknown.message()["error"]["code"]), (404, &json!(-32601)), "{unknown:?}");
    let no_session = client.post(&[("Mcp-Session-Id", "unknown")], &ping());
    assert_eq!(no_session.status, 404, "{no_session:?}");
    let long = "x".repeat(100_000);
    assert_eq!(web.connect().request("GET", "/healthz", &[("X-Long", &long)], b"").status, 431);
    healthy_client(&web);
}

#[test]
fn bodies_of_64_megabytes_are_rejected_without_being_buffered() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    healthy_client(&web);
    let before = resident(&web);
    let piece = vec![b' '; 1 << 20];
    for announced in [true, false] {
        let mut client = web.connect();
        if announced {
            client.head("POST", "/mcp", &[JSON, ACCEPT], Some(64 << 20));
            (0..64).for_each(|_| client.stream.write_all(&piece).unwrap());
        } else {
            client.head("POST", "/mcp", &[JSON, ACCEPT, ("Transfer-Encoding", "chunked")], None);
            for _ in 0..64 {
                write!(client.stream, "{:x}\r\n", piece.len()).unwrap();
                client.stream.write_all(&piece).unwrap();
                client.stream.write_all(b"\r\n").unwrap();
            }
            client.stream.write_all(b"0\r\n\r\n").unwrap();
        }
        let reply = client.reply();
        assert_eq!(reply.status, 413, "{reply:?}");
    }
    let grown = resident(&web).saturating_sub(before);
    assert!(grown < 40_000, "grew by {grown} kB");
    healthy_client(&web);
}

fn resident(web: &Web) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", web.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap().to_owned();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn slow_and_half_open_connections_do_not_affect_others() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut open = Vec::new();
    for n in 0..100 {
        let mut client = web.connect();
        match n % 4 {
            0 => {}
            1 => client.stream.write_all(b"POST /mcp HT").unwrap(),
            2 => client.head("POST", "/mcp", &[JSON, ACCEPT], Some(1_000)),
            _ => {
                client.head("POST", "/mcp", &[JSON, ACCEPT], Some(1_000));
                client.stream.write_all(b"{").unwrap();
                client.stream.shutdown(std::net::Shutdown::Write).unwrap();
            }
        }
        open.push(client);
    }
    let begun = Instant::now();
    (0..20).for_each(|_| drop(healthy_client(&web)));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    drop(open);
    healthy_client(&web);
}

#[test]
fn fifty_clients_lose_nothing() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    thread::scope(|scope| {
        for client in 0..50 {
            let web = &web;
            scope.spawn(move || {
                let mut connection = web.connect();
                for n in 0..200 {
                    let result = match n % 4 {
                        0 => connection
                            .call("memory_write", json!({ "path": format!("c{client}/n{n}"), "content": format!("{client} {n}") })),
                        1 => connection.call("memory_read", json!({ "paths": [format!("c{client}/n{}", n - 1)] })),
                        2 => connection.call("memory_get", json!({ "path": format!("c{client}/n{}", n - 2) })),
                        _ => {
                            connection.call("memory_write", json!({ "path": "log", "content": format!("{client} {n}"), "mode": "append" }))
                        }
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
            assert_eq!(home.text(&format!("c{client}/n{n}.md")), format!("{client} {n}\n"));
            assert!(log.lines().any(|line| line == format!("{client} {}", n + 3)));
        }
    }
}

#[test]
fn a_stop_lets_running_calls_finish() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    // An open event stream does not delay the shutdown.
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
fn a_port_in_use_is_reported() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let address = web.address.to_string();
    let output = home.run(&["mcp", "--http", &address]).replace(&address, "[ADDRESS]");
    assert!(output.contains("cannot listen on [ADDRESS]: Address already in use"), "{output}");
}

#[test]
fn malformed_params_of_a_known_method_are_explained() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut client = web.connect();
    client.hello("2025-06-18", &[]);
    let mut talk = crate::talk::Talk::begin(&home, &[], "2025-06-18");
    let mut explained = String::new();
    for (method, params) in [
        ("tools/call", json!({})),
        ("tools/call", json!({ "name": 5 })),
        ("tools/call", json!({ "name": "memory_read", "arguments": [1] })),
        ("tools/call", json!(null)),
        ("tools/call", json!([1, 2])),
        ("prompts/get", json!({})),
        ("prompts/get", json!({ "name": "recall", "arguments": "topic" })),
        ("resources/read", json!({})),
        ("resources/read", json!({ "uri": 5 })),
        ("resources/subscribe", json!({ "uri": ["a"] })),
        ("completion/complete", json!({})),
        ("completion/complete", json!({ "ref": { "type": "ref/prompt", "name": "recall" } })),
        ("completion/complete", json!({ "ref": { "type": "ref/other" }, "argument": { "name": "topic", "value": "x" } })),
        ("tools/list", json!("first")),
        ("memory/teleport", json!({})),
    ] {
        let answer = client.post(&[], &json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })).message();
        let error = &answer["error"];
        explained += &format!("{method} {params}: {} {}\n", error["code"], error["message"].as_str().unwrap_or_else(|| panic!("{answer}")));
        talk.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }));
        assert_eq!(talk.answer(7)["error"], *error, "over standard input and output");
    }
    insta::assert_snapshot!(explained, @r#"
    tools/call {}: -32602 invalid params for tools/call: "name" is missing; it must be a string
    tools/call {"name":5}: -32602 invalid params for tools/call: "name" must be a string
    tools/call {"name":"memory_read","arguments":[1]}: -32602 invalid params for tools/call: "arguments" must be an object
    tools/call null: -32602 invalid params for tools/call: "name" is missing; it must be a string
    tools/call [1,2]: -32602 invalid params for tools/call: params must be an object
    prompts/get {}: -32602 invalid params for prompts/get: "name" is missing; it must be a string
    prompts/get {"name":"recall","arguments":"topic"}: -32602 invalid params for prompts/get: "arguments" must be an object
    resources/read {}: -32602 invalid params for resources/read: "uri" is missing; it must be a string
    resources/read {"uri":5}: -32602 invalid params for resources/read: "uri" must be a string
    resources/subscribe {"uri":["a"]}: -32602 invalid params for resources/subscribe: "uri" must be a string
    completion/complete {}: -32602 invalid params for completion/complete: "ref" is missing; it must be an object
    completion/complete {"ref":{"type":"ref/prompt","name":"recall"}}: -32602 invalid params for completion/complete: "argument" is missing; it must be an object
    completion/complete {"ref":{"type":"ref/other"},"argument":{"name":"topic","value":"x"}}: -32602 invalid params for completion/complete: a parameter has a type or value that the protocol does not allow
    tools/list "first": -32602 invalid params for tools/list: params must be an object
    memory/teleport {}: -32601 unknown method "memory/teleport"
    "#);
    // Without a session, the headers are compared with the parameters first; without them, the parameters are explained.
    let without = client.ask("completion/complete", json!({ "ref": 1 }));
    let (code, message) = (&without.message()["error"]["code"], &without.message()["error"]["message"]);
    assert_eq!((code, message), (&json!(-32602), &json!("invalid params for completion/complete: \"ref\" must be an object")));
}

#[test]
fn event_streams_of_sessions_begin_with_an_id_and_the_time_to_reconnect() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    for revision in HANDSHAKES {
        let mut client = web.connect();
        client.hello(revision, &[]);
        let session = client.session.clone().unwrap();
        let list = client.post(&[], &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
        assert!(list.body.starts_with("data: \nid: 0/0\nretry: 3000\n\n"), "{list:?}");
        client.head("GET", "/mcp", &[("Accept", "text/event-stream"), ("Mcp-Session-Id", &session)], None);
        assert_eq!(client.reply_head().status, 200);
        assert_eq!(client.chunk(), "data: \nid: 0\nretry: 3000\n\n", "{revision}");
    }
}
