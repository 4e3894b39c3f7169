//! Invalid and hostile requests to the REST API: each has a clear answer, changes nothing, and harms no other client.

use crate::{
    home::Home,
    rest::Api,
    web::{Reply, Web},
};
use serde_json::{Value, json};
use std::io::Write as _;

const JSON: (&str, &str) = ("Content-Type", "application/json");

fn problem(reply: &Reply) -> Value {
    assert_eq!(reply.header("content-type"), Some("application/problem+json"), "{reply:?}");
    let problem: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(problem["status"], reply.status, "{reply:?}");
    assert!(!problem["type"].as_str().unwrap().is_empty() && !problem["title"].as_str().unwrap().is_empty(), "{problem}");
    problem
}

/// Requests with these bodies are refused with this status, and nothing is changed.
#[test]
fn invalid_bodies_are_refused_with_a_reason() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let put = |headers: &[(&str, &str)], body: &[u8]| web.connect().request("PUT", "/v1/memories/a", headers, body);
    let cases: &[(&[u8], u16, &str)] = &[
        (b"", 400, "invalid body: EOF while parsing a value at line 1 column 0"),
        (b"{", 400, "invalid body: EOF while parsing an object at line 1 column 1"),
        (b"[]", 400, "invalid body: invalid length 0, expected struct PutMemoryBody with 3 elements at line 1 column 2"),
        (b"null", 400, "invalid body: invalid type: null, expected struct PutMemoryBody at line 1 column 4"),
        (br#"{"content":1}"#, 400, "invalid body: invalid type: integer `1`, expected a string at line 1 column 12"),
        (
            br#"{"text":"x"}"#,
            400,
            "invalid body: unknown field `text`, expected one of `content`, `content_encoding`, `precondition` at line 1 column 7",
        ),
        (br#"{"content":"x","content":"y"}"#, 400, "invalid body: duplicate field `content` at line 1 column 24"),
        (b"{\"content\":\"\xff\"}", 400, "invalid body: invalid unicode code point at line 1 column 13"),
        (br#"{"content":"\ud800"}"#, 400, "invalid body: unexpected end of hex escape at line 1 column 19"),
        (br#"{"content":"%","content_encoding":"base64"}"#, 422, "content: it is not valid Base64: Invalid symbol 37, offset 0."),
        (
            br#"{"content":"x","precondition":{"type":"content_sha256","content_sha256":"AB"}}"#,
            400,
            "invalid body: a SHA-256 hash must be 64 lowercase hexadecimal digits at line 1 column 78",
        ),
    ];
    for (body, status, detail) in cases {
        let reply = put(&[JSON], body);
        let problem = problem(&reply);
        assert_eq!((reply.status, problem["detail"].as_str().unwrap()), (*status, *detail), "{}", String::from_utf8_lossy(body));
    }
    let deep = format!(r#"{{"content":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(put(&[JSON], deep.as_bytes()).status, 400);
    for media in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""] {
        let reply = put(&[("Content-Type", media)], br#"{"content":"x"}"#);
        assert_eq!((reply.status, problem(&reply)["detail"].as_str().unwrap()), (415, "Content-Type must be application/json"), "{media}");
    }
    assert_eq!(put(&[], br#"{"content":"x"}"#).status, 415);
    let huge = format!(r#"{{"content":"{}"}}"#, "x".repeat(17 << 20));
    let reply = put(&[JSON], huge.as_bytes());
    assert_eq!((reply.status, problem(&reply)["type"].as_str().unwrap()), (413, "request_too_large"));
    let large = format!(r#"{{"content":"{}"}}"#, "x".repeat(15 << 20));
    let reply = put(&[JSON], large.as_bytes());
    assert_eq!((reply.status, problem(&reply)["type"].as_str().unwrap()), (413, "request_too_large"), "larger than a memory");
    let mut half = web.connect();
    half.head("PUT", "/v1/memories/a", &[JSON], Some(100));
    half.stream.write_all(br#"{"content":"#).unwrap();
    drop(half);
    assert_eq!(put(&[JSON, ("If-Match", "\u{fc}")], br#"{"content":"x"}"#).status, 400);
    assert_eq!(put(&[JSON, ("Idempotency-Key", &"k".repeat(256))], br#"{"content":"x"}"#).status, 400);
    assert_eq!(put(&[JSON, ("Idempotency-Key", "a"), ("Idempotency-Key", "b")], br#"{"content":"x"}"#).status, 400);
    assert_eq!(home.files(), [""; 0]);
}

#[test]
fn names_are_decoded_once_and_never_leave_the_memory() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    home.put("../outside.md", "secret");
    let mut api = Api::new(&web);
    let body = json!({ "content": "x" });
    for name in [
        "../outside", "%2e%2e/outside", "..%2foutside", "a/../../outside", "a//b", "/etc/passwd", "%2Fetc%2Fpasswd", "a%00b", "a/", ".",
        "a/.git/x", "a%0Ab", "con%3A%5Cx%5C..%5C..", "~/x%2f",
    ] {
        for (method, body) in [("GET", None), ("PUT", Some(&body)), ("DELETE", None)] {
            let reply = api.send(method, &format!("/v1/memories/{name}"), &[], body);
            assert!(matches!(reply.status, 404 | 422) || (method == "PUT" && reply.status == 201), "{method} {name}: {reply:?}");
            assert!(!reply.body.contains("secret") && !reply.body.contains(home.path("").to_str().unwrap()), "{reply:?}");
        }
        let reply = api.send("GET", &format!("/v1/memory_versions?path={name}"), &[], None);
        assert!(!reply.body.contains("outside.md") && reply.status != 500, "{name}: {reply:?}");
    }
    for name in ["../outside", "a/../../outside", "a//b", "/etc/passwd", "a\0b", "a/", "", ".", "a/.git/x", "a\nb"] {
        for (path, body) in [
            ("/v1/append", json!({ "path": name, "content": "x" })),
            ("/v1/move", json!({ "from": name, "to": "stolen" })),
            ("/v1/move", json!({ "from": "known", "to": name })),
        ] {
            home.put("known.md", "x");
            let reply = api.send("POST", path, &[], Some(&body));
            assert!(matches!(reply.status, 404 | 422), "{path} {body}: {reply:?}");
        }
    }
    assert_eq!(api.send("GET", "/v1/memories/%ff", &[], None).status, 400);
    assert_eq!(std::fs::read_to_string(home.memory("../outside.md")).unwrap(), "secret");

    // CJK, emoji, spaces, percent signs and composed letters are names like others, encoded or not.
    for (sent, stored) in [
        ("%E8%AE%B0%E5%BF%86/%E9%83%A8%E7%BD%B2", "记忆/部署.md"),
        ("emoji%20%F0%9F%9A%80", "emoji 🚀.md"),
        ("100%25", "100%.md"),
        ("cafe%CC%81", "café.md"),
        ("q%3Fx%23y", "q?x#y.md"),
        ("deep%2Ffolder%2Fname", "deep/folder/name.md"),
    ] {
        let (status, memory) = api.ask("PUT", &format!("/v1/memories/{sent}"), Some(&json!({ "content": stored })));
        assert_eq!((status, memory["path"].as_str()), (201, Some(stored)), "{sent}: {memory}");
        let (status, memory) = api.ask("GET", &format!("/v1/memories/{sent}"), None);
        assert_eq!((status, memory["content"].as_str()), (200, Some(stored)), "{sent}: {memory}");
    }
}

/// Any bytes come back unaltered.
#[test]
fn contents_are_kept_byte_for_byte() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut api = Api::new(&web);
    for content in ["", "\r\n", "one\r\ntwo\r\n", "no end", "\u{0}\u{1}", "\u{feff}mark", "---\nbroken: [\n---\nx", "日本語\u{2028}"] {
        let (status, saved) = api.ask("PUT", "/v1/memories/a", Some(&json!({ "content": content })));
        assert!(matches!(status, 200 | 201), "{content:?}: {saved}");
        let (_, memory) = api.ask("GET", "/v1/memories/a", None);
        assert_eq!((&memory["content"], &memory["content_sha256"]), (&json!(content), &saved["content_sha256"]), "{content:?}");
        assert_eq!(home.text("a.md"), content);
    }
    home.put("binary.md", b"\xff\xfe\x00");
    let (_, memory) = api.ask("GET", "/v1/memories/binary", None);
    assert_eq!((&memory["content"], &memory["content_encoding"]), (&json!("//4A"), &json!("base64")));
    let copy = json!({ "content": memory["content"], "content_encoding": memory["content_encoding"] });
    let (_, copied) = api.ask("PUT", "/v1/memories/copy", Some(&copy));
    assert_eq!(copied["content_sha256"], memory["content_sha256"]);
}

#[test]
fn unknown_routes_and_methods_are_named() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut api = Api::new(&web);
    for path in ["/v1", "/v1/", "/v1/nothing", "/v1/memories/", "/v1/search/x", "/v1/openapi.json/x"] {
        let reply = api.send("GET", path, &[], None);
        assert_eq!((reply.status, problem(&reply)["type"].as_str().unwrap()), (404, "not_found_error"), "{path}");
    }
    for (method, path, allowed) in [
        ("POST", "/v1/memories", "GET"),
        ("PATCH", "/v1/memories/a", "GET, PUT, DELETE"),
        ("GET", "/v1/search", "POST"),
        ("DELETE", "/v1/changes", "GET"),
        ("PUT", "/v1/openapi.json", "GET"),
        ("TRACE", "/v1/memories/a", "GET, PUT, DELETE"),
    ] {
        let reply = api.send(method, path, &[], None);
        assert_eq!((reply.status, reply.header("allow")), (405, Some(allowed)), "{method} {path}");
        problem(&reply);
    }
    let described = api.ask("GET", "/v1/openapi.json", None).1;
    assert_eq!(described["openapi"], "3.1.0");
    assert_eq!(problem(&web.connect().request("GET", "/v1", &[("Host", "elsewhere.example")], b""))["status"], 403);
}

/// A head above the limits was answered by the parser, without a reason.
#[test]
fn a_head_that_is_too_large_is_a_problem() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let long = "x".repeat(100_000);
    let many: Vec<(String, String)> = (0..100).map(|n| (format!("X-Field-{n}"), "x".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    for headers in [&[("X-Long", long.as_str())][..], &many] {
        let reply = web.connect().request("GET", "/v1/memories", headers, b"");
        assert_eq!((reply.status, problem(&reply)["type"].as_str().unwrap()), (431, "invalid_request_error"));
        assert!(reply.body.contains("header fields too large: the maximum is 65536 bytes and 64 fields"), "{reply:?}");
    }
}

/// A secret is refused by the name of its rule, in every route that writes, and redacted where text is found.
#[test]
fn secrets_are_refused_and_redacted() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let mut api = Api::new(&web);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let text = format!("The deploy token is {secret} for all.\n");
    for (method, path, body) in [
        ("PUT", "/v1/memories/a", json!({ "content": text })),
        ("POST", "/v1/append", json!({ "path": "a", "content": text })),
        ("PUT", &*format!("/v1/memories/{secret}"), json!({ "content": "x" })),
    ] {
        let reply = api.send(method, path, &[], Some(&body));
        assert_eq!(reply.status, 422, "{reply:?}");
        assert!(!reply.body.contains(&secret), "{reply:?}");
    }
    let refused = api.send("PUT", "/v1/memories/a", &[], Some(&json!({ "content": text })));
    assert_eq!(problem(&refused)["type"], "secret_error");
    home.put("known.md", &text);
    let (_, found) = api.ask("POST", "/v1/search", Some(&json!({ "query": "deploy token" })));
    assert_eq!((found["data"][0]["path"].as_str(), found["data"][0]["masked"].as_bool()), (Some("known.md"), Some(true)), "{found}");
    assert!(!found.to_string().contains(&secret), "{found}");
    let (_, recalled) = api.ask("POST", "/v1/recall", Some(&json!({ "message": "what is the deploy token?" })));
    assert!(!recalled.to_string().contains(&secret), "{recalled}");
    assert_eq!(home.files(), ["known.md"]);
}
