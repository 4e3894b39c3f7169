//! Changes of the settings while a server runs, and sessions that narrow the owner's space.

use crate::{
    home::Home,
    mcp_callers::{ask, call_text, names, token, write},
    scope::repository,
    talk::{SESSIONLESS, Talk},
    web::{Reply, Web},
};
use serde_json::{Value, json};

const OWNER: &str = "0123456789abcdef0123456789abcdef";

/// Calls a tool without a token.
fn bare(web: &Web, headers: &[(&str, &str)], name: &str, arguments: Value) -> Reply {
    let all = [&[("Mcp-Method", "tools/call"), ("Mcp-Protocol-Version", SESSIONLESS), ("Mcp-Name", name)], headers].concat();
    let params = json!({ "name": name, "arguments": arguments, "_meta": crate::talk::meta() });
    web.connect().post(&all, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
}

fn text(reply: &Reply) -> String {
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.message()["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn the_first_token_makes_a_running_server_require_one() {
    let starts: [fn(&Home) -> Web; 2] = [|home| Web::start(home, &[]), |home| Web::start_bare(home, &["--project", "shop"])];
    for start in starts {
        let home = Home::new();
        let web = start(&home);
        let mut open = web.connect();
        open.hello("2025-06-18", &[]);
        assert_eq!(bare(&web, &[], "memory_write", json!({ "path": "own", "content": "the operator's" })).status, 200);
        let (ada, id) = token(&home, &["ada", "bank"]);
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        assert_eq!(open.post(&[], &list).status, 401, "the open session has no token");
        let refused = bare(&web, &[], "memory_read", json!({}));
        assert_eq!((refused.status, refused.body.as_str()), (401, "missing or unknown bearer token"));
        write(&web, &ada, &[], "deploy");
        assert_eq!(names(&web, &ada, &[]), ["deploy"]);
        assert!(!call_text(&web, &ada, &[], "memory_read", json!({})).contains("own"));
        home.ok(&["token", "revoke", &id]);
        assert_eq!(ask(&web, &ada, &[], "memory_read", json!({})).status, 401);
        assert_eq!(bare(&web, &[], "memory_read", json!({})).status, 401, "revoking the last token does not open the server");
    }
}

#[test]
fn the_owners_token_works_after_callers_are_added() {
    let home = Home::new();
    home.put("token", OWNER);
    let web = Web::start(&home, &["--token-file", home.memory("token").to_str().unwrap()]);
    write(&web, OWNER, &[], "deploy");
    let (ada, _) = token(&home, &["ada", "shop"]);
    write(&web, &ada, &[], "user/ada");
    assert_eq!((names(&web, OWNER, &[]), names(&web, &ada, &[])), (vec!["deploy".to_owned()], vec!["user/ada".to_owned()]));
    assert_eq!(bare(&web, &[], "memory_read", json!({})).status, 401);
}

#[test]
fn a_served_dialect_is_not_open_to_callers_added_later() {
    let home = Home::new();
    home.put("token", OWNER);
    let open = Web::start(&home, &["--dialect", "serena"]);
    let owned = Web::start(&home, &["--dialect", "serena", "--token-file", home.memory("token").to_str().unwrap()]);
    assert_eq!(bare(&open, &[], "list_memories", json!({})).status, 200);
    let (ada, _) = token(&home, &["ada", "shop"]);
    assert_eq!(bare(&open, &[], "list_memories", json!({})).status, 401);
    for web in [&open, &owned] {
        let result = ask(web, &ada, &[], "list_memories", json!({}));
        let why = "dialect \"serena\" cannot be served with tokens: it has one memory for all callers";
        assert_eq!((result.status, result.body.as_str()), (403, why));
    }
    assert_eq!(ask(&owned, OWNER, &[], "list_memories", json!({})).status, 200);
    assert_eq!(ask(&owned, OWNER, &[("Memdir-Only", "notes")], "list_memories", json!({})).status, 200);
}

#[test]
fn a_switch_applies_to_a_running_server() {
    let home = Home::new();
    home.put("a.md", "tabs\n");
    let web = Web::start(&home, &[]);
    let mut talk = Talk::begin(&home, &[], "2025-06-18");
    let mut serena = Talk::begin(&home, &["--dialect", "serena"], "2025-06-18");
    let read = json!({ "path": "a" });
    assert!(text(&bare(&web, &[], "memory_read", read.clone())).contains("tabs"));
    home.configure("enabled = false\n");
    let off = format!(
        "memory is off: enabled = false in {}; to turn memory on, set `enabled = true` in that file",
        home.path("home/config.toml").display()
    );
    let off = off.as_str();
    let refused = bare(&web, &[], "memory_read", read.clone());
    assert_eq!((refused.message()["result"]["isError"].as_bool(), text(&refused).as_str()), (Some(true), off));
    for (name, arguments) in [("memory_read", read.clone()), ("memory_write", json!({ "path": "b", "content": "x" }))] {
        let result = talk.call(name, arguments);
        assert_eq!((result["isError"].as_bool(), result["content"][0]["text"].as_str()), (Some(true), Some(off)), "{name}");
    }
    let result = serena.call("read_memory", json!({ "memory_name": "a" }));
    assert_eq!((result["isError"].as_bool(), result["content"][0]["text"].as_str()), (Some(true), Some(off)));
    for (method, params) in [("prompts/get", json!({ "name": "memory" })), ("resources/read", json!({ "uri": "memory:///a" }))] {
        assert_eq!(talk.ask(method, params)["error"]["message"], off, "{method}");
    }
    assert_eq!(home.text("b.md"), "(entity not found)");
    home.configure("enabled = true\n");
    assert!(talk.call_text("memory_read", read.clone()).contains("tabs"));
    assert!(text(&bare(&web, &[], "memory_read", read)).contains("tabs"));
}

#[test]
fn the_switches_of_a_project_and_a_repository_apply_to_a_running_server() {
    let home = Home::new();
    repository(&home, "shop");
    let at = home.path("shop");
    std::fs::create_dir_all(at.join(".memdir")).unwrap();
    let mut command = home.bare(&["mcp", "--project", "tides"]);
    let mut talk = Talk::over({
        command.current_dir(&at);
        command
    });
    talk.hello("2025-06-18");
    let switch = |talk: &mut Talk| {
        let result = talk.call("memory_read", json!({}));
        home.with_placeholders(result["content"][0]["text"].as_str().filter(|_| result["isError"] == true).unwrap_or("on"))
    };
    assert_eq!(switch(&mut talk), "on");
    home.configure("[[projects]]\nid = \"tides\"\nenabled = false\n");
    assert!(switch(&mut talk).starts_with("memory is off: enabled = false for project tides in [HOME]/home/config.toml;"));
    home.configure("");
    assert_eq!(switch(&mut talk), "on");
    std::fs::write(at.join(".memdir/config.toml"), "enabled = false\n").unwrap();
    assert!(switch(&mut talk).starts_with("memory is off: enabled = false in [HOME]/shop/.memdir/config.toml;"));
    std::fs::remove_file(at.join(".memdir/config.toml")).unwrap();
    assert_eq!(switch(&mut talk), "on");
}

#[test]
fn the_owner_can_narrow_a_session_by_headers() {
    let home = Home::new();
    home.put("token", OWNER);
    let file = home.memory("token");
    let open = Web::start_bare(&home, &["--project", "shop"]);
    let owned = Web::start_bare(&home, &["--project", "shop", "--token-file", file.to_str().unwrap()]);
    for path in ["deploy", "notes/a", "user/ada"] {
        write(&owned, OWNER, &[], path);
    }
    for (web, shown) in [(&open, ""), (&owned, OWNER)] {
        assert_eq!(names(web, shown, &[]), ["deploy", "notes/a", "user/ada"]);
        assert_eq!(names(web, shown, &[("Memdir-Only", "notes")]), ["notes/a"]);
        assert_eq!(names(web, shown, &[("Memdir-Only", "notes, user")]), ["notes/a", "user/ada"]);
        let hidden = call_text(web, shown, &[("Memdir-Only", "notes")], "memory_read", json!({ "path": "deploy" }));
        assert!(!hidden.contains("for everybody"), "{hidden}");
        assert_eq!(names(web, shown, &[("Memdir-Project", "shop")]), ["deploy", "notes/a", "user/ada"]);
        let status_and_body = |headers: &[(&str, &str)]| {
            let reply = ask(web, shown, headers, "memory_read", json!({}));
            (reply.status, reply.body)
        };
        let other = (403, "this server does not serve project \"bank\"; it serves \"shop\"".to_owned());
        assert_eq!(status_and_body(&[("Memdir-Project", "bank")]), other);
        assert_eq!(status_and_body(&[("Memdir-Only", " ")]).0, 400);
        assert_eq!(status_and_body(&[("Memdir-Only", "../x")]).0, 403);
        let mut session = web.connect();
        let bearer = format!("Bearer {shown}");
        session.hello("2025-06-18", &[("Authorization", &bearer), ("Memdir-Only", "notes")]);
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        assert_eq!(session.post(&[("Authorization", &bearer)], &list).status, 404, "a narrowed session is not valid for the whole space");
    }
    let part = Web::start_bare(&home, &["--project", "shop", "--only", "notes"]);
    assert_eq!(names(&part, "", &[("Memdir-Only", "notes, user")]), ["notes/a"], "no wider than the server");
    assert_eq!(ask(&part, "", &[("Memdir-Only", "user")], "memory_read", json!({})).status, 403);
    let dir = Web::start(&home, &[]);
    let refused = ask(&dir, "", &[("Memdir-Project", "shop")], "memory_read", json!({}));
    assert_eq!(
        (refused.status, refused.body.as_str()),
        (403, "this server serves a directory, not a project; omit the Memdir-Project header")
    );
    home.configure("enabled = false\n");
    assert!(call_text(&open, "", &[("Memdir-Only", "notes")], "memory_read", json!({})).starts_with("memory is off: "));
}
