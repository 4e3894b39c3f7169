//! The REST API of `memdir mcp --http`: every route with whole outputs, conditional requests, pages, changes, idempotent retries.

use crate::{
    home::Home,
    web::{HttpClient, Reply, Web},
};
use insta::assert_snapshot;
use regex::{Captures, Regex};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt::Write as _, thread};

/// A client of the API, and what was said so far.
pub(crate) struct Api {
    client: HttpClient,
    token: Option<String>,
    log: String,
    ids: BTreeMap<String, usize>,
}

impl Api {
    pub(crate) fn new(web: &Web) -> Api {
        Api { client: web.connect(), token: None, log: String::new(), ids: BTreeMap::new() }
    }

    pub(crate) fn with_token(web: &Web, token: &str) -> Api {
        Api { token: Some(format!("Bearer {token}")), ..Api::new(web) }
    }

    /// Sends a request and returns the response.
    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Reply {
        let body = body.map(ToString::to_string).unwrap_or_default();
        let token = self.token.clone();
        let mut all: Vec<(&str, &str)> = headers.to_vec();
        all.extend(token.as_deref().map(|token| ("Authorization", token)));
        if !body.is_empty() && !headers.iter().any(|(name, _)| *name == "Content-Type") {
            all.push(("Content-Type", "application/json"));
        }
        self.client.request(method, path, &all, body.as_bytes())
    }

    /// Sends a request and returns the status with the body.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let reply = self.send(method, path, &[], body);
        (reply.status, serde_json::from_str(&reply.body).unwrap_or_else(|_| panic!("{reply:?}")))
    }

    /// Sends a request and notes it with its response.
    pub(crate) fn step(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<Value>) -> Value {
        let reply = self.send(method, path, headers, body.as_ref());
        let value: Value = serde_json::from_str(&reply.body).unwrap_or(Value::Null);
        let _ = write!(self.log, "{method} {path}");
        headers.iter().for_each(|(name, value)| drop(write!(self.log, " {name}: {value}")));
        body.iter().for_each(|body| drop(write!(self.log, " {body}")));
        let _ = write!(self.log, "\n  {}", reply.status);
        for name in ["etag", "allow", "idempotency-replayed"] {
            reply.header(name).iter().for_each(|value| drop(write!(self.log, " {name}: {value}")));
        }
        let expected = if reply.status < 400 { "application/json" } else { "application/problem+json" };
        assert!(reply.body.is_empty() || reply.header("content-type") == Some(expected), "{reply:?}");
        let _ = writeln!(self.log, " {}", reply.body);
        value
    }

    /// Returns what was said, with names for what differs from run to run.
    pub(crate) fn transcript(&mut self) -> String {
        let log = Regex::new(r"\d{4}-\d\d-\d\dT[0-9:.]+Z").unwrap().replace_all(&self.log, "[TIME]").into_owned();
        let log =
            Regex::new(r#"[0-9a-f]{16}\.[a-z0-9]{8}(-[0-9a-f]{16}\.[a-z0-9]{8})*"#).unwrap().replace_all(&log, "[CURSOR]").into_owned();
        let ids = Regex::new(r#"("(?:change_id|id|undoes|undone_change_id)":"|change )([a-z0-9]{8})\b"#).unwrap();
        let ids = ids.replace_all(&log, |found: &Captures<'_>| {
            let next = self.ids.len() + 1;
            format!("{}[{}]", &found[1], self.ids.entry(found[2].to_owned()).or_insert(next))
        });
        ids.into_owned()
    }
}

#[test]
fn every_route_answers() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut api = Api::new(&web);
    let text = "---\ndescription: when to deploy\ncreated: 2026-01-31\n---\nNever deploy on Fridays.\n";
    api.step("PUT", "/v1/memories/notes/deploy", &[], Some(json!({ "content": text })));
    api.step("GET", "/v1/memories/notes/deploy", &[], None);
    api.step("POST", "/v1/append", &[], Some(json!({ "path": "notes/deploy", "content": "Unless it burns." })));
    api.step("POST", "/v1/append", &[], Some(json!({ "path": "notes/new", "content": "See [[notes/deploy]]." })));
    api.step("POST", "/v1/move", &[], Some(json!({ "from": "notes/deploy", "to": "howto/deploy" })));
    api.step("GET", "/v1/memories", &[], None);
    api.step("POST", "/v1/search", &[], Some(json!({ "query": "deploy on Fridays", "max_results": 1 })));
    api.step("POST", "/v1/recall", &[], Some(json!({ "message": "shall we deploy on fridays?" })));
    let deleted = api.step("DELETE", "/v1/memories/howto/deploy", &[], None);
    api.step("GET", "/v1/memories/howto/deploy", &[], None);
    api.step("GET", "/v1/memory_versions?path=howto/deploy", &[], None);
    let version = deleted["memory_version_id"].as_str().unwrap();
    api.step("GET", &format!("/v1/memory_versions/{version}?path=howto/deploy"), &[], None);
    api.step("POST", "/v1/undo", &[], Some(json!({})));
    api.step("POST", "/v1/undo", &[], Some(json!({ "change_id": deleted["change_id"] })));
    api.step("GET", "/v1/changes?limit=2", &[], None);
    assert_snapshot!(api.transcript(), @"");

    let prompt = api.ask("GET", "/v1/prompt", None);
    assert_eq!(prompt.0, 200);
    assert!(prompt.1["text"].as_str().unwrap().contains("howto/deploy"), "{prompt:?}");
    assert_eq!(home.files(), ["MEMORY.md", "howto/deploy.md", "notes/new.md"]);
    let undone = home.json(&["history"]);
    assert!(undone.to_string().contains("\"undo\""), "{undone}");
}

#[test]
fn a_change_may_depend_on_the_version() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut api = Api::new(&web);
    let put = |content: &str| Some(json!({ "content": content }));
    let first = api.step("PUT", "/v1/memories/a", &[("If-None-Match", "*")], put("one"));
    let etag = format!("{:?}", first["memory_version_id"].as_str().unwrap());
    api.step("PUT", "/v1/memories/a", &[("If-None-Match", "*")], put("two"));
    api.step("PUT", "/v1/memories/a", &[("If-None-Match", "*")], put("one"));
    api.step("GET", "/v1/memories/a", &[("If-None-Match", &etag)], None);
    api.step("PUT", "/v1/memories/a", &[("If-Match", &etag)], put("two"));
    api.step("PUT", "/v1/memories/a", &[("If-Match", &etag)], put("three"));
    api.step("PUT", "/v1/memories/a", &[("If-Match", &etag)], put("two"));
    api.step("PUT", "/v1/memories/a", &[("If-Match", "\"x\", \"y\"")], put("three"));
    api.step("PUT", "/v1/memories/b", &[("If-Match", "*")], put("three"));
    api.step("PUT", "/v1/memories/a", &[("If-Match", "version")], put("three"));
    let hash = |content_sha256: &str| json!({ "type": "content_sha256", "content_sha256": content_sha256 });
    let with = |content: &str, precondition: Value| Some(json!({ "content": content, "precondition": precondition }));
    let one = first["content_sha256"].as_str().unwrap();
    api.step("PUT", "/v1/memories/a", &[], with("three", hash(one)));
    api.step("PUT", "/v1/memories/a", &[], with("two", hash(one)));
    let two = api.ask("GET", "/v1/memories/a", None).1["content_sha256"].as_str().unwrap().to_owned();
    api.step("PUT", "/v1/memories/a", &[], with("three", hash(&two)));
    api.step("POST", "/v1/append", &[("If-Match", &etag)], Some(json!({ "path": "a", "content": "four" })));
    api.step("DELETE", &format!("/v1/memories/a?expected_content_sha256={two}"), &[], None);
    api.step("DELETE", "/v1/memories/a", &[("If-Match", &etag)], None);
    api.step("DELETE", "/v1/memories/a", &[("If-Match", "*")], None);
    assert_snapshot!(api.transcript(), @"");
}

#[test]
fn lists_have_pages_and_folders() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    for name in ["a", "b/one", "b/two", "b/deep/three", "c"] {
        home.put(&format!("{name}.md"), format!("about {name}\n"));
    }
    let mut api = Api::new(&web);
    let mut paths = |query: &str| {
        let (status, body) = api.ask("GET", &format!("/v1/memories{query}"), None);
        assert_eq!(status, 200, "{body}");
        let paths = body["data"].as_array().unwrap().iter().map(|entry| {
            assert_eq!(entry["type"] == "memory_prefix", entry["content_sha256"].is_null());
            format!("{}{}", entry["path"].as_str().unwrap(), if entry["content"].is_string() { "+" } else { "" })
        });
        (paths.collect::<Vec<_>>().join(" "), body["next_page"].as_str().unwrap_or("").to_owned())
    };
    assert_eq!(paths("").0, "a.md b/deep/three.md b/one.md b/two.md c.md");
    assert_eq!(paths("?depth=1").0, "a.md b/ c.md");
    assert_eq!(paths("?depth=1&path_prefix=b/").0, "b/deep/ b/one.md b/two.md");
    assert_eq!(paths("?path_prefix=b/&view=full").0, "b/deep/three.md+ b/one.md+ b/two.md+");
    assert_eq!(paths("?path_prefix=none/").0, "");
    let mut all = Vec::new();
    let mut page = String::new();
    loop {
        let query = if page.is_empty() { "?limit=2&depth=0".to_owned() } else { format!("?limit=2&depth=0&page={page}") };
        let (paths, next) = paths(&query);
        all.push(paths);
        // A page that is no longer there begins where it would be.
        if page.is_empty() {
            std::fs::remove_file(home.memory("b/deep/three.md")).unwrap();
        }
        page = next;
        if page.is_empty() {
            break;
        }
    }
    assert_eq!(all, ["a.md b/deep/three.md", "b/one.md b/two.md", "c.md"]);
    for (query, status) in [
        ("?limit=0", 400),
        ("?limit=101", 400),
        ("?limit=x", 400),
        ("?depth=2", 400),
        ("?view=all", 400),
        ("?prefix=b/", 400),
        ("?limit=1&limit=2", 400),
        ("?limit=%2B5", 400),
        ("?path_prefix=b", 422),
        ("?path_prefix=../", 422),
        ("?page=%21", 422),
    ] {
        let (found, problem) = api.ask("GET", &format!("/v1/memories{query}"), None);
        assert_eq!((found, &problem["status"]), (status, &json!(status)), "{query}: {problem}");
    }
}

/// Pages of changes and the stream together are the history, each change once, whichever process made it.
#[test]
fn changes_are_read_from_a_cursor_and_streamed() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut api = Api::new(&web);
    assert_eq!(api.ask("GET", "/v1/changes", None).1, json!({ "data": [], "cursor": "0" }));
    api.ask("PUT", "/v1/memories/a", Some(&json!({ "content": "one" })));
    home.ok(&["write", "b", "two"]);
    let (_, page) = api.ask("GET", "/v1/changes?limit=1", None);
    let cursor = page["cursor"].as_str().unwrap().to_owned();
    let (_, rest) = api.ask("GET", &format!("/v1/changes?after={cursor}"), None);
    let path = |page: &Value| page["data"][0]["memories"][0]["path"].as_str().unwrap().to_owned();
    assert_eq!((path(&page), path(&rest), rest["data"].as_array().unwrap().len()), ("a.md".into(), "b.md".into(), 1));

    let mut stream = web.connect();
    stream.head("GET", "/v1/changes/stream", &[("Last-Event-ID", &cursor)], None);
    assert_eq!(stream.reply_head().header("content-type"), Some("text/event-stream"));
    let mut event = || loop {
        let chunk = stream.chunk();
        if let Some(data) = chunk.lines().find_map(|line| line.strip_prefix("data: ")) {
            let id = chunk.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
            return (id, serde_json::from_str::<Value>(data).unwrap());
        }
    };
    let (id, missed) = event();
    assert_eq!((&missed, id.as_str()), (&rest["data"][0], rest["cursor"].as_str().unwrap()));
    home.ok(&["delete", "b"]);
    let (id, deleted) = event();
    assert_eq!((&deleted["verb"], &deleted["memories"][0]["operation"]), (&json!("delete"), &json!("deleted")));
    assert_eq!(api.ask("GET", &format!("/v1/changes?after={id}"), None).1, json!({ "data": [], "cursor": id }));

    for (wrong, status) in [("nonsense", 422), ("0123456789abcdef.zzzzzzzz", 200)] {
        assert_eq!(api.ask("GET", &format!("/v1/changes?after={wrong}"), None).0, status, "{wrong}");
    }
    let place = cursor.split('.').next().unwrap();
    let (status, expired) = api.ask("GET", &format!("/v1/changes/stream?after={place}.zzzzzzzz"), None);
    assert_eq!(
        (status, expired["detail"].as_str().unwrap()),
        (422, "cursor: it is too old, or from another memory; list the memories again and start with a new cursor")
    );
    assert!(web.end().success(), "an open stream does not keep the server from ending");
}

#[test]
fn a_repeated_request_is_carried_out_once() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut api = Api::new(&web);
    for _ in 0..2 {
        api.step("PUT", "/v1/memories/a", &[("Idempotency-Key", "1"), ("If-None-Match", "*")], Some(json!({ "content": "See b.\n" })));
    }
    for _ in 0..2 {
        api.step("POST", "/v1/append", &[("Idempotency-Key", "2")], Some(json!({ "path": "a", "content": "[[b]]" })));
    }
    api.ask("PUT", "/v1/memories/b", Some(&json!({ "content": "b" })));
    for _ in 0..2 {
        api.step("POST", "/v1/move", &[("Idempotency-Key", "3")], Some(json!({ "from": "b", "to": "c" })));
    }
    for _ in 0..2 {
        api.step("DELETE", "/v1/memories/c", &[("Idempotency-Key", "4")], None);
    }
    for _ in 0..2 {
        api.step("POST", "/v1/undo", &[("Idempotency-Key", "5")], Some(json!({})));
    }
    api.step("POST", "/v1/append", &[("Idempotency-Key", "2")], Some(json!({ "path": "a", "content": "other" })));
    api.step("DELETE", "/v1/memories/none", &[("Idempotency-Key", "6")], None);
    api.step("PUT", "/v1/memories/none", &[("Idempotency-Key", "6")], Some(json!({ "content": "x" })));
    api.step("DELETE", "/v1/memories/none", &[("Idempotency-Key", "")], None);
    assert_snapshot!(api.transcript(), @"");
    // Another process reads the keys from the journal.
    drop(web);
    let web = Web::start(&home, &[]);
    let again = Api::new(&web).send("POST", "/v1/append", &[("Idempotency-Key", "2")], Some(&json!({ "path": "a", "content": "[[b]]" })));
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, Some("true")), "{again:?}");
    assert_eq!(home.text("a.md"), "See b.\n[[c]]\n");
}

/// Twenty clients send the same request at once: one change, the same answer for all.
#[test]
fn concurrent_retries_make_one_change_and_no_conflict() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    home.ok(&["write", "moved", "x"]);
    let requests = [
        ("POST", "/v1/append", json!({ "path": "a", "content": "once" })),
        ("POST", "/v1/move", json!({ "from": "moved", "to": "there" })),
        ("DELETE", "/v1/memories/there", Value::Null),
        ("POST", "/v1/undo", json!({})),
    ];
    for (n, (method, path, body)) in requests.iter().enumerate() {
        let send = || {
            let body = Some(body).filter(|body| !body.is_null());
            let reply = Api::new(&web).send(method, path, &[("Idempotency-Key", &n.to_string())], body);
            assert!(reply.status < 300, "{method} {path}: {reply:?}");
            let reply: Value = serde_json::from_str(&reply.body).unwrap();
            reply["change_id"].as_str().or(reply["change"]["id"].as_str()).unwrap().to_owned()
        };
        let ids: Vec<String> = thread::scope(|scope| {
            let threads: Vec<_> = (0..20).map(|_| scope.spawn(send)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{path}: {ids:?}");
    }
    assert_eq!((home.text("a.md"), home.files()), ("once\n".into(), vec!["MEMORY.md".into(), "a.md".into(), "there.md".into()]));
    let (_, changes) = Api::new(&web).ask("GET", "/v1/changes", None);
    assert_eq!(changes["data"].as_array().unwrap().len(), 5);
}

/// Twenty writers replace what they read: exactly one wins each round, and the others are told.
#[test]
fn of_twenty_writers_with_the_same_version_one_wins() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut api = Api::new(&web);
    api.ask("PUT", "/v1/memories/a", Some(&json!({ "content": "round 0" })));
    for round in 1..=5 {
        let etag = api.send("GET", "/v1/memories/a", &[], None).header("etag").unwrap().to_owned();
        let statuses: Vec<u16> = thread::scope(|scope| {
            let write = |n: usize| {
                let (web, etag) = (&web, &etag);
                let body = json!({ "content": format!("round {round} by {n}") });
                move || Api::new(web).send("PUT", "/v1/memories/a", &[("If-Match", etag)], Some(&body)).status
            };
            let threads: Vec<_> = (0..20).map(|n| scope.spawn(write(n))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let count = |status: u16| statuses.iter().filter(|found| **found == status).count();
        assert_eq!((count(200), count(412)), (1, 19), "{statuses:?}");
    }
    let (_, versions) = api.ask("GET", "/v1/memory_versions?path=a", None);
    assert_eq!(versions["data"].as_array().unwrap().len(), 6);
}
