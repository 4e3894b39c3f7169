//! What operators of a server use: readiness, metrics, the log of requests, and a shutdown that finishes what was begun.

use crate::{
    home::Home,
    mcp_callers::token,
    rest::Api,
    web::{HttpClient, Web},
};
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
};

/// Returns the value of a metric with these labels.
fn metric(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn metrics_count_requests_and_name_no_memory() {
    let home = Home::new();
    let (ada, _) = token(&home, &["ada", "shop"]);
    let web = Web::start(&home, &[]);
    let mut api = Api::with_token(&web, &ada);
    api.ask("PUT", "/v1/memories/zanzibar", Some(&json!({ "content": "x" })));
    for _ in 0..3 {
        api.ask("GET", "/v1/memories/zanzibar", None);
    }
    api.ask("GET", "/v1/memories/tanganyika", None);
    assert_eq!(web.connect().request("GET", "/metrics", &[], b"").status, 401);
    let metrics = api.send("GET", "/metrics", &[], None);
    assert_eq!((metrics.status, metrics.header("content-type")), (200, Some("text/plain; version=0.0.4; charset=utf-8")));
    let value = |name: &str| metric(&metrics.body, name);
    for (name, expected) in [
        ("memdir_http_requests_total{route=\"get_memory\",status=\"200\"}", 3.0),
        ("memdir_http_requests_total{route=\"get_memory\",status=\"404\"}", 1.0),
        ("memdir_http_requests_total{route=\"put_memory\",status=\"201\"}", 1.0),
        ("memdir_http_requests_total{route=\"metrics\",status=\"401\"}", 1.0),
        ("memdir_http_request_duration_seconds_bucket{route=\"get_memory\",le=\"+Inf\"}", 4.0),
        ("memdir_calls_in_flight", 0.0),
        ("memdir_open_spaces", 1.0),
        ("memdir_draining", 0.0),
    ] {
        assert_eq!(value(name), Some(expected), "{name}\n{}", metrics.body);
    }
    assert!(value("process_resident_memory_bytes").unwrap() > 1e6);
    for private in ["zanzibar", "tanganyika", "ada", "shop", "mdt_"] {
        assert!(!metrics.body.contains(private), "{private}\n{}", metrics.body);
    }
    let mut all: Vec<&str> =
        metrics.body.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(' ').next().unwrap()).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), metrics.body.lines().filter(|line| !line.starts_with('#')).count(), "no series twice");
}

#[test]
fn requests_have_ids_and_are_logged_without_names_texts_and_tokens() {
    let home = Home::new();
    let mut command = home.command(&["mcp", "--http", "127.0.0.1:0", "--log-requests"]);
    let secret = "0123456789abcdef0123456789abcdef";
    let mut child = command.env("MEMDIR_TOKEN", secret).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let address = lines.next().unwrap();
    let address = address.strip_prefix("memdir: serving http://").unwrap().strip_suffix("/mcp").unwrap().parse().unwrap();
    let bearer = format!("Bearer {secret}");
    let mut client = HttpClient::connect(address);
    let mut send = |method: &str, path: &str, id: &str, body: &[u8]| {
        let headers = [("Authorization", bearer.as_str()), ("X-Request-Id", id), ("Content-Type", "application/json")];
        client.request(method, path, &headers, body)
    };
    let put = send("PUT", "/v1/memories/zanzibar", "abc-1.2_X", br#"{"content":"tanganyika"}"#);
    assert_eq!((put.status, put.header("x-request-id")), (201, Some("abc-1.2_X")));
    let long = "x".repeat(129);
    let generated: Vec<String> = ["", "has space", "quote\"", "ü", &long]
        .iter()
        .map(|id| send("GET", "/v1/memories/zanzibar?token=x", id, b"").header("x-request-id").unwrap().to_owned())
        .collect();
    assert!(generated.iter().all(|id| id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit())), "{generated:?}");
    send("GET", "/zanzibar/%0d%0a", "last", b"");
    let mut logged: Vec<Value> = Vec::new();
    while logged.last().is_none_or(|line| line["request_id"] != "last") {
        let line = lines.next().unwrap();
        for private in ["zanzibar", "tanganyika", secret, "token"] {
            assert!(!line.contains(private), "{line}");
        }
        logged.push(serde_json::from_str(&line).unwrap());
    }
    let line = |n: usize| {
        let mut line = logged[n].clone();
        assert!(line["time"].as_str().unwrap().ends_with('Z') && line["duration_ms"].as_f64().unwrap() >= 0.0, "{line}");
        line["time"] = Value::Null;
        line["duration_ms"] = Value::Null;
        line
    };
    let log_line = |id: &str, method: &str, route: &str, status: u16| json!({ "time": null, "request_id": id, "method": method, "route": route, "status": status, "duration_ms": null });
    assert_eq!(line(0), log_line("abc-1.2_X", "PUT", "put_memory", 201));
    for (n, id) in generated.iter().enumerate() {
        assert_eq!(line(n + 1), log_line(id, "GET", "get_memory", 400));
    }
    assert_eq!(line(6), log_line("last", "GET", "other", 404));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_server_is_ready_until_its_settings_are_invalid() {
    let home = Home::new();
    let (ada, _) = token(&home, &["ada", "shop"]);
    let web = Web::start(&home, &[]);
    let ask = |path: &str| {
        let reply = web.connect().request("GET", path, &[], b"");
        (reply.status, reply.body)
    };
    assert_eq!((ask("/healthz"), ask("/readyz")), ((200, "ok".into()), (200, "ready".into())));
    home.configure("tokens = 7\n");
    let mut api = Api::with_token(&web, &ada);
    assert_eq!(api.send("GET", "/v1/memories", &[], None).status, 503);
    // The answer is kept for a second.
    let not_ready = loop {
        let reply = ask("/readyz");
        if reply.0 != 200 {
            break reply;
        }
    };
    assert!(not_ready.0 == 503 && not_ready.1.starts_with("not ready: this server's settings are invalid"), "{not_ready:?}");
    assert_eq!(ask("/healthz").0, 200);
}

/// A request whose body is still being sent when the signal comes is answered; a new one on an open connection is refused.
#[test]
fn a_shutdown_finishes_requests_and_refuses_new_ones() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let (mut begun, mut idle) = (web.connect(), web.connect());
    assert_eq!(idle.request("GET", "/v1/memories", &[], b"").status, 200);
    let body = br#"{"content":"in time"}"#;
    begun.head("PUT", "/v1/memories/a", &[("Content-Type", "application/json"), ("Expect", "100-continue")], Some(body.len()));
    // The server asks for the body once the request is on its way to the route.
    assert_eq!(begun.reply_head().status, 100);
    let pid = rustix::process::Pid::from_raw(web.pid() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    // The signal takes its time. Then a request is answered for the last time on its connection, or refused.
    let last = std::iter::repeat_with(|| idle.request("GET", "/v1/memories", &[], b""))
        .find(|reply| reply.status != 200 || reply.header("connection") == Some("close"))
        .unwrap();
    let refused = (503, Some("close"), Some("1"));
    let shown = (last.status, last.header("connection"), last.header("retry-after"));
    assert!(shown == refused || shown == (200, Some("close"), None), "{last:?}");
    begun.stream.write_all(body).unwrap();
    assert_eq!(begun.reply().status, 201);
    assert_eq!(home.text("a.md"), "in time");
    assert!(web.end().success());
}
