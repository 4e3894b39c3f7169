//! Callers over HTTP with tokens of their own: each has their own memory, and shares that of their projects.

use crate::{
    home::Home,
    talk::{SESSIONLESS, meta},
    web::{Reply, Web},
};
use serde_json::{Value, json};

/// A token, and the id by which it is revoked.
fn token(home: &Home, args: &[&str]) -> (String, String) {
    let made = home.json(&[&["token", "add"], args].concat());
    (made["token"].as_str().unwrap().to_owned(), made["id"].as_str().unwrap().to_owned())
}

/// One call with this token and these headers.
fn ask(web: &Web, token: &str, headers: &[(&str, &str)], name: &str, arguments: Value) -> Reply {
    let bearer = format!("Bearer {token}");
    let mut all = vec![("Authorization", bearer.as_str()), ("Mcp-Method", "tools/call"), ("Mcp-Protocol-Version", SESSIONLESS)];
    all.push(("Mcp-Name", name));
    all.extend_from_slice(headers);
    let params = json!({ "name": name, "arguments": arguments, "_meta": meta() });
    web.connect().post(&all, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
}

fn said(web: &Web, token: &str, headers: &[(&str, &str)], name: &str, arguments: Value) -> String {
    let reply = ask(web, token, headers, name, arguments);
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.message()["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

/// The names a caller can see.
fn names(web: &Web, token: &str, headers: &[(&str, &str)]) -> Vec<String> {
    let told = said(web, token, headers, "memory_read", json!({}));
    let known = ["deploy", "notes/a", "team/rule", "user/ada", "user/bob", "other"];
    known.into_iter().filter(|name| told.contains(name)).map(str::to_owned).collect()
}

fn write(web: &Web, token: &str, headers: &[(&str, &str)], path: &str) {
    let told =
        said(web, token, headers, "memory_write", json!({ "path": path, "content": format!("{path} for everybody who may see it") }));
    assert!(told.starts_with("Saved"), "{told}");
}

#[test]
fn callers_share_their_projects_and_nothing_else() {
    let home = Home::new();
    let (ada, _) = token(&home, &["ada", "shop"]);
    let (bob, _) = token(&home, &["bob", "shop", "bank"]);
    let web = Web::start(&home, &[]);
    let shop = [("Memdir-Project", "shop")];
    for path in ["deploy", "notes/a", "team/rule", "user/ada"] {
        write(&web, &ada, &[], path);
    }
    write(&web, &bob, &shop, "user/bob");
    write(&web, &bob, &[("Memdir-Project", "bank")], "other");
    assert_eq!(names(&web, &ada, &[]), ["deploy", "notes/a", "team/rule", "user/ada"]);
    assert_eq!(names(&web, &bob, &shop), ["deploy", "notes/a", "team/rule", "user/bob"]);
    assert_eq!(names(&web, &bob, &[("Memdir-Project", "bank")]), ["user/bob", "other"]);
    assert_eq!(names(&web, &bob, &[]), ["user/bob"], "of several projects none is named");
    let found = said(&web, &bob, &shop, "memory_search", json!({ "query": "everybody who may see it" }));
    assert!(found.contains("notes/a") && !found.contains("ada"), "{found}");
    let stolen = said(&web, &bob, &shop, "memory_read", json!({ "path": "user/ada" }));
    assert!(!stolen.contains("for everybody"), "{stolen}");
    let foreign = ask(&web, &ada, &[("Memdir-Project", "bank")], "memory_read", json!({}));
    assert_eq!(foreign.status, 403, "{foreign:?}");
    let up = ask(&web, &ada, &[("Memdir-Project", "../people/bob")], "memory_read", json!({}));
    assert_eq!(up.status, 403, "{up:?}");
}

#[test]
fn a_session_is_narrowed_by_its_header_and_never_widened() {
    let home = Home::new();
    let (ada, _) = token(&home, &["ada", "shop"]);
    let web = Web::start(&home, &[]);
    for path in ["deploy", "notes/a", "team/rule", "user/ada"] {
        write(&web, &ada, &[], path);
    }
    let narrow = [("Memdir-Only", "notes, team")];
    assert_eq!(names(&web, &ada, &narrow), ["notes/a", "team/rule"]);
    let refused = said(&web, &ada, &narrow, "memory_read", json!({ "path": "deploy" }));
    assert!(!refused.contains("for everybody"), "{refused}");
    assert_eq!(names(&web, &ada, &[("Memdir-Only", "agent/none")]), [""; 0]);
    let up = ask(&web, &ada, &[("Memdir-Only", "../people")], "memory_read", json!({}));
    assert_eq!(up.status, 403, "{up:?}");
}

#[test]
fn a_token_that_is_taken_back_is_refused_at_once() {
    let home = Home::new();
    let (ada, _) = token(&home, &["ada", "shop"]);
    let (bob, id) = token(&home, &["bob", "shop"]);
    let web = Web::start(&home, &[]);
    let status = |token: &str| ask(&web, token, &[], "memory_read", json!({})).status;
    assert_eq!((status(&ada), status(&bob)), (200, 200));
    assert_eq!(status(&format!("{ada}0")), 401);
    assert_eq!(web.connect().post(&[], &json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).status, 401);
    let mut open = web.connect();
    let bearer = format!("Bearer {bob}");
    open.hello("2025-06-18", &[("Authorization", &bearer)]);
    home.ok(&["token", "revoke", &id]);
    assert_eq!((status(&ada), status(&bob)), (200, 401));
    let later = open.post(&[("Authorization", &bearer)], &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    assert_eq!(later.status, 401, "{later:?}");
    let (eve, _) = token(&home, &["eve", "shop"]);
    assert_eq!(status(&eve), 200, "a new one is known at once");
}
