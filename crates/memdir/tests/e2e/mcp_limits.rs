//! Limits of callers over HTTP: whatever one caller does, and whatever arrives without a token, the others are answered.

use crate::{
    home::Home,
    mcp_callers::{ask, call_text, names, token, write},
    talk::{SESSIONLESS, meta},
    web::{HttpClient, Reply, Web},
};
use serde_json::{Value, json};
use std::{
    fs::File,
    io::Write as _,
    path::Path,
    time::{Duration, Instant},
};

const OWNER: &str = "0123456789abcdef0123456789abcdef";
const JSON: [(&str, &str); 2] = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];

/// Sends a call of a tool without waiting for the answer.
fn send(web: &Web, token: &str, name: &str, arguments: Value) -> HttpClient {
    let bearer = format!("Bearer {token}");
    let params = json!({ "name": name, "arguments": arguments, "_meta": meta() });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let own = [("Authorization", bearer.as_str()), ("Mcp-Method", "tools/call"), ("Mcp-Protocol-Version", SESSIONLESS), ("Mcp-Name", name)];
    let mut client = web.connect();
    client.head("POST", "/mcp", &[&JSON[..], &own].concat(), Some(body.len()));
    client.stream.write_all(body.as_bytes()).unwrap();
    client
}

/// Returns the text of a result, and whether it is an error.
fn result(reply: &Reply) -> (bool, String) {
    assert_eq!(reply.status, 200, "{reply:?}");
    let result = &reply.message()["result"];
    (result["isError"] == true, result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply:?}")).to_owned())
}

/// Counts the threads of a server by their name.
fn threads(web: &Web, name: &str) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", web.pid())).unwrap();
    tasks.flatten().filter(|task| std::fs::read_to_string(task.path().join("comm")).is_ok_and(|comm| comm.trim_end() == name)).count()
}

/// Counts the handles that a server has of a directory: a call that waits for the lock of the directory has one.
fn open_directories(web: &Web, dir: &Path) -> usize {
    let real = dir.canonicalize().unwrap();
    let handles = std::fs::read_dir(format!("/proc/{}/fd", web.pid())).unwrap();
    handles.flatten().filter(|handle| std::fs::read_link(handle.path()).is_ok_and(|target| target == real)).count()
}

/// Waits for something that is about to happen.
fn wait_until(what: &str, happened: impl Fn() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} did not happen");
        std::thread::yield_now();
    }
}

/// Starts a session and returns its client.
fn session(web: &Web, token: &str, headers: &[(&str, &str)]) -> HttpClient {
    let bearer = format!("Bearer {token}");
    let mut client = web.connect();
    client.hello("2025-06-18", &[&[("Authorization", bearer.as_str())], headers].concat());
    client
}

/// The status of a request in a session, over a new connection.
fn status_in_session(web: &Web, token: &str, headers: &[(&str, &str)], session: &str) -> u16 {
    let bearer = format!("Bearer {token}");
    let all = [&[("Authorization", bearer.as_str()), ("Mcp-Session-Id", session)], headers].concat();
    web.connect().post(&all, &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" })).status
}

/// Opens the event stream of a session.
fn listen(client: &mut HttpClient, token: &str) {
    let (bearer, session) = (format!("Bearer {token}"), client.session.clone().unwrap());
    client.head("GET", "/mcp", &[("Accept", "text/event-stream"), ("Mcp-Session-Id", &session), ("Authorization", bearer.as_str())], None);
    assert_eq!(client.reply_head().status, 200);
}

#[test]
fn writes_that_wait_for_a_lock_delay_neither_reads_nor_other_callers() {
    let home = Home::new();
    let (ada, _) = token(&home, &["ada", "shop"]);
    let (bob, _) = token(&home, &["bob", "shop"]);
    let (eve, _) = token(&home, &["eve", "bank"]);
    let web = Web::start(&home, &[]);
    write(&web, &ada, &[], "deploy");
    let held = File::open(home.path("home/projects/shop")).unwrap();
    held.try_lock().unwrap();
    let mut waiting: Vec<HttpClient> =
        (0..80).map(|n| send(&web, &ada, "memory_write", json!({ "path": format!("w{n}"), "content": "x" }))).collect();
    let waiting_calls = || open_directories(&web, &home.path("home/projects/shop"));
    wait_until("waiting for the lock", || waiting_calls() >= 4);
    // The same caller, another one of the same project, and one of another project.
    for token in [&ada, &bob] {
        assert_eq!(names(&web, token, &[]), ["deploy"]);
        assert!(call_text(&web, token, &[], "memory_search", json!({ "query": "everybody who may see it" })).contains("deploy"));
        assert!(call_text(&web, token, &[], "memory_get", json!({ "path": "deploy" })).contains("for everybody"));
    }
    write(&web, &eve, &[], "other");
    write(&web, &bob, &[], "user/bob");
    assert_eq!(names(&web, &bob, &[]), ["deploy", "user/bob"]);
    assert_eq!((waiting_calls(), threads(&web, "memdir-lock")), (4, 1), "the other writes of this caller have not begun");
    drop(held);
    let results: Vec<(bool, String)> = waiting.iter_mut().map(|client| result(&client.reply())).collect();
    let refused = results.iter().filter(|(is_error, _)| *is_error).map(|(_, text)| text.as_str()).collect::<Vec<_>>();
    // Four run, 64 wait.
    assert_eq!(refused, ["too many calls are waiting; try again after some of them have finished"; 12]);
    let saved = results.iter().filter(|(is_error, text)| !is_error && text.starts_with("Saved w")).count();
    assert_eq!(saved, 68);
}

/// Every call whose client was gone used to leave a thread that waited for the lock.
#[test]
fn clients_that_are_gone_leave_nothing_that_waits_for_a_lock() {
    let home = Home::new();
    let (ada, _) = token(&home, &["ada", "shop"]);
    let (bob, _) = token(&home, &["bob", "shop"]);
    let web = Web::start(&home, &[]);
    write(&web, &ada, &[], "deploy");
    let held = File::open(home.path("home/projects/shop")).unwrap();
    held.try_lock().unwrap();
    let waiting_calls = || open_directories(&web, &home.path("home/projects/shop"));
    for round in 0..5 {
        let gone: Vec<HttpClient> =
            (0..4).map(|n| send(&web, &ada, "memory_write", json!({ "path": format!("w{round}-{n}"), "content": "x" }))).collect();
        wait_until("waiting for the lock", || waiting_calls() >= 4);
        drop(gone);
        // One call may be in the kernel's queue, which cannot be left.
        wait_until("the end of the cancelled calls", || waiting_calls() <= 1);
        assert!(threads(&web, "memdir-lock") <= 1);
    }
    drop(held);
    write(&web, &bob, &[], "other");
    assert_eq!(names(&web, &bob, &[]), ["deploy", "other"]);
    wait_until("the end of the waiting thread", || threads(&web, "memdir-lock") == 0);
}

#[test]
fn many_narrowed_sessions_of_one_caller_lock_out_no_other() {
    let home = Home::new();
    let (ada, _) = token(&home, &["ada", "shop"]);
    let (bob, _) = token(&home, &["bob", "shop"]);
    let web = Web::start(&home, &[]);
    let sessions: Vec<(String, String)> = (0..300)
        .map(|n| {
            let only = format!("n{n}");
            let session = session(&web, &ada, &[("Memdir-Only", &only)]).session.unwrap();
            (only, session)
        })
        .collect();
    write(&web, &bob, &[], "deploy");
    assert_eq!(names(&web, &ada, &[]), ["deploy"]);
    let status = |n: usize| status_in_session(&web, &ada, &[("Memdir-Only", &sessions[n].0)], &sessions[n].1);
    assert_eq!((status(299), status(298)), (200, 200), "the newest sessions go on");
    assert_eq!(status(0), 404, "the oldest have ended, and their clients begin new ones");
}

#[test]
fn a_client_that_connects_again_and_again_ends_its_oldest_sessions() {
    let home = Home::new();
    home.put("token", OWNER);
    let (ada, _) = token(&home, &["ada", "shop"]);
    let (bob, _) = token(&home, &["bob", "shop"]);
    let web = Web::start(&home, &["--token-file", home.memory("token").to_str().unwrap()]);
    for (token, other) in [(ada.as_str(), &bob), (OWNER, &bob)] {
        let mut listening = session(&web, token, &[]);
        listen(&mut listening, token);
        let others = session(&web, other, &[]).session.unwrap();
        let sessions: Vec<String> = (0..1_010).map(|_| session(&web, token, &[]).session.unwrap()).collect();
        assert_eq!(status_in_session(&web, token, &[], &sessions[1_009]), 200);
        assert_eq!(status_in_session(&web, token, &[], &sessions[0]), 404, "the oldest has ended");
        assert_eq!(status_in_session(&web, token, &[], listening.session.as_ref().unwrap()), 200, "one with an event stream is in use");
        assert_eq!(status_in_session(&web, other, &[], &others), 200, "another caller's");
    }
}

#[test]
fn half_sent_requests_without_a_token_delay_no_caller() {
    let home = Home::new();
    let (ada, _) = token(&home, &["ada", "shop"]);
    let web = Web::start(&home, &[]);
    let mut kept = session(&web, &ada, &[]);
    let half: Vec<HttpClient> = (0..520)
        .map(|_| {
            let mut client = web.connect();
            // The server may have closed the connection already.
            let _ = client.stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: local");
            client
        })
        .collect();
    write(&web, &ada, &[], "deploy");
    assert_eq!(names(&web, &ada, &[]), ["deploy"]);
    let bearer = format!("Bearer {ada}");
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    assert_eq!(kept.post(&[("Authorization", &bearer)], &list).status, 200, "a connection with a token is kept");
    drop(half);
}

#[test]
fn large_bodies_of_one_caller_are_read_a_few_at_a_time() {
    let home = Home::new();
    let (ada, _) = token(&home, &["ada", "shop"]);
    let (bob, _) = token(&home, &["bob", "shop"]);
    let web = Web::start(&home, &[]);
    write(&web, &bob, &[], "deploy");
    let bearer = format!("Bearer {ada}");
    let body = vec![b'x'; 8 << 20];
    std::thread::scope(|scope| {
        let replies: Vec<_> = (0..30)
            .map(|_| scope.spawn(|| web.connect().request("POST", "/mcp", &[&JSON[..], &[("Authorization", &bearer)]].concat(), &body)))
            .collect();
        (0..10).for_each(|_| assert_eq!(names(&web, &bob, &[]), ["deploy"]));
        for reply in replies {
            let reply = reply.join().unwrap();
            assert_eq!((reply.status, &reply.message()["error"]["code"]), (400, &json!(-32700)), "{reply:?}");
        }
    });
    let status = std::fs::read_to_string(format!("/proc/{}/status", web.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim().trim_end_matches(" kB").parse::<u64>().unwrap();
    assert!(peak < 160_000, "{peak} kB were in use at once");
}

#[test]
fn a_revoked_caller_gets_no_more_events() {
    let home = Home::new();
    let (ada, id) = token(&home, &["ada", "shop"]);
    let web = Web::start(&home, &[]);
    let bearer = format!("Bearer {ada}");
    let mut listener = session(&web, &ada, &[]);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/list" });
    assert_eq!(listener.post(&[("Authorization", &bearer)], &list).status, 200);
    listen(&mut listener, &ada);
    home.ok(&["token", "revoke", &id]);
    let mut save = home.bare(&["write", "secret", "made after the token was revoked"]);
    let saved = save.env("MEMDIR_PROJECT", "shop").output().unwrap();
    assert!(saved.status.success(), "{saved:?}");
    // Returns only when the stream has ended. No other request makes the server look at its settings.
    let heard = String::from_utf8(listener.chunks()).unwrap();
    assert!(!heard.contains("notifications/"), "{heard}");
}

#[test]
fn no_token_is_accepted_while_the_settings_are_invalid() {
    let home = Home::new();
    home.put("token", OWNER);
    let (ada, _) = token(&home, &["ada", "shop"]);
    let web = Web::start(&home, &["--token-file", home.memory("token").to_str().unwrap()]);
    write(&web, &ada, &[], "deploy");
    let mut going_on = session(&web, &ada, &[]);
    let valid = std::fs::read_to_string(home.path("home/config.toml")).unwrap();
    // The operator removes the token and makes a mistake elsewhere.
    home.configure("[[token]\n");
    let why = "this server's settings are invalid, so tokens cannot be checked; ask its operator to correct them";
    let refused = ask(&web, &ada, &[], "memory_read", json!({}));
    assert_eq!((refused.status, refused.body.as_str(), refused.header("retry-after")), (503, why, Some("1")));
    let bearer = format!("Bearer {ada}");
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    assert_eq!(going_on.post(&[("Authorization", &bearer)], &list).status, 503, "in an open session too");
    assert_eq!(ask(&web, "mdt_unknown", &[], "memory_read", json!({})).status, 503);
    assert_eq!(ask(&web, OWNER, &[], "memory_read", json!({})).status, 200, "the token of --token-file is not in the settings");
    home.configure(&valid);
    assert_eq!(names(&web, &ada, &[]), ["deploy"]);
    assert_eq!(going_on.post(&[("Authorization", &bearer)], &list).status, 200, "the session goes on");
    home.configure("");
    assert_eq!(ask(&web, &ada, &[], "memory_read", json!({})).status, 401);
}

#[test]
fn a_server_that_never_had_tokens_keeps_serving_while_the_settings_are_invalid() {
    let home = Home::new();
    let web = Web::start_bare(&home, &["--project", "shop"]);
    write(&web, "", &[], "deploy");
    home.configure("[[token]\n");
    assert_eq!(names(&web, "", &[]), ["deploy"]);
}

#[test]
fn subscriptions_are_bounded() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut client = web.connect();
    client.hello("2025-06-18", &[]);
    let mut subscribe = |n: usize| {
        let params = json!({ "uri": format!("memory:///n{n}") });
        client.post(&[], &json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": params })).message()
    };
    (0..256).for_each(|n| assert_eq!(subscribe(n)["result"], json!({}), "{n}"));
    let why = "too many subscriptions: the maximum is 256 per session; unsubscribe from one first";
    assert_eq!(subscribe(256)["error"], json!({ "code": -32602, "message": why }));
    assert_eq!(subscribe(0)["result"], json!({}), "again");
    let uris: Vec<String> = (0..5_000).map(|n| format!("memory:///n{n}")).collect();
    let refused = web.connect().ask("subscriptions/listen", json!({ "notifications": { "resourceSubscriptions": uris } }));
    let why = "a subscription request can be at most 65536 bytes; subscribe to fewer resources";
    assert_eq!((refused.status, refused.body.as_str()), (413, why));
}
