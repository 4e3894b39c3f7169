//! `memdir mcp` on standard input and output.

use crate::{
    home::Home,
    talk::{HANDSHAKES, SESSIONLESS, Talk},
};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::{
    fs,
    time::{Duration, Instant},
};

fn revisions() -> impl Iterator<Item = &'static str> {
    HANDSHAKES.into_iter().chain([SESSIONLESS])
}

#[test]
fn every_revision_of_the_protocol_is_supported() {
    for revision in revisions() {
        let home = Home::new();
        let mut talk = Talk::begin(&home, &[], revision);
        assert_eq!(talk.tools().len(), 9, "{revision}");
        assert!(talk.call_text("memory_write", json!({ "path": "a", "content": "x" })).starts_with("Saved a"), "{revision}");
        assert_eq!(talk.call_text("memory_read", json!({ "paths": ["a"] })), "[a.md (today)]\nx", "{revision}");
        assert!(talk.call_text("memory_undo", json!({})).starts_with("Undid: wrote a"), "{revision}");
        let (status, complaints) = talk.end();
        assert!(status.success() && complaints.is_empty(), "{revision}: {status} {complaints}");
    }
}

#[test]
fn the_server_is_discovered_without_a_handshake() {
    let home = Home::new();
    let mut talk = Talk::begin(&home, &[], SESSIONLESS);
    let found = talk.ask("server/discover", json!({}));
    let versions: Vec<&str> = found["result"]["supportedVersions"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert_eq!(versions, revisions().collect::<Vec<_>>());
    assert!(found["result"]["instructions"].as_str().unwrap().contains("memory_search"));
    let capabilities = &found["result"]["capabilities"];
    assert_eq!(
        capabilities,
        &json!({
            "completions": {}, "prompts": {}, "resources": { "subscribe": true, "listChanged": true }, "tools": {}
        })
    );
}

#[test]
fn a_filtered_tool_is_neither_listed_nor_callable() {
    let home = Home::new();
    let mut talk = Talk::begin(&home, &["--read-only", "--without", "memory_stats"], "2025-06-18");
    assert_eq!(talk.tools(), ["memory_read", "memory_search", "memory_get"]);
    for name in ["memory_write", "memory_stats", "nonsense"] {
        let answer = talk.ask("tools/call", json!({ "name": name, "arguments": { "path": "a", "content": "x" } }));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("available: memory_read, memory_search, memory_get"));
    }
    assert!(!home.memory("a.md").exists());
    let mut one = Talk::begin(&home, &["--tools", "memory_write"], "2025-06-18");
    assert_eq!(one.tools(), ["memory_write"]);
}

#[test]
fn invalid_options_are_rejected_at_start() {
    let home = Home::new();
    assert_snapshot!(home.run(&["mcp", "--dialect", "agent-memory,profclaw"]), @r#"
    -- stderr
    error: agent-memory and profclaw both have a tool named "memory_search"; serve them separately, or omit both tools with --without memory_search
    hint: see the options with: memdir mcp --help
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["mcp", "--dialect", "native,serena,openclaw"]), @r#"
    -- stderr
    error: native and openclaw both have a tool named "memory_search"; serve them separately, or omit both tools with --without memory_search
    hint: see the options with: memdir mcp --help
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["mcp", "--dialect", "emacs"]), @r#"
    -- stderr
    error: unknown dialect "emacs"; available: native, koding, agent-memory, serena, profclaw, openclaw, anthropic
    hint: list the dialects with: memdir dialects
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["mcp", "--tools", "memory_reed"]), @r#"
    -- stderr
    error: unknown tool "memory_reed"; available: memory_read, memory_search, memory_get, memory_write, memory_edit, memory_move, memory_delete, memory_undo, memory_stats
    hint: see the options with: memdir mcp --help
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["mcp", "--read-only", "--tools", "memory_write"]), @"
    -- stderr
    error: no tools left to serve; check --tools, --without and --read-only
    hint: see the options with: memdir mcp --help
    -- exit 2
    ");
    assert_snapshot!(home.run(&["mcp", "--http", "0.0.0.0:0"]), @"
    -- stderr
    error: 0.0.0.0:0 is reachable from other machines and requires a token; to serve only this machine, listen on 127.0.0.1
    hint: for yourself, pass --token-file FILE or set MEMDIR_TOKEN; for several people, create tokens with: memdir token add PERSON
    -- exit 3
    ");
    assert_snapshot!(home.run(&["mcp", "--http", "0.0.0.0:0", "--dialect", "serena"]), @"
    -- stderr
    error: 0.0.0.0:0 is reachable from other machines and requires a token; to serve only this machine, listen on 127.0.0.1
    hint: pass --token-file FILE, or set MEMDIR_TOKEN
    -- exit 3
    ");
    home.put("token", "short\n");
    let file = home.memory("token");
    let printed = home.run(&["mcp", "--http", "127.0.0.1:0", "--token-file", file.to_str().unwrap()]);
    assert_snapshot!(printed, @"
    -- stderr
    error: [HOME]/memory/token: a token must be at least 16 printable ASCII characters, without spaces
    hint: create a token with: openssl rand -hex 32
    -- exit 3
    ");
}

#[test]
fn several_dialects_are_served_together() {
    let home = Home::new();
    let mut talk = Talk::begin(&home, &["--dialect", "koding,serena"], "2025-06-18");
    assert_eq!(
        talk.tools(),
        [
            "MemoryRead", "MemoryWrite", "list_memories", "read_memory", "write_memory", "edit_memory", "delete_memory", "rename_memory",
            "onboarding"
        ]
    );
    talk.call_text("MemoryWrite", json!({ "file_path": "a.md", "content": "x" }));
    assert_eq!(talk.call_text("read_memory", json!({ "memory_name": "a" })), "x");
}

#[test]
fn dialects_are_listed() {
    let home = Home::new();
    assert_snapshot!(home.run(&["dialects"]), @"
    koding: anon-kode's MemoryRead and MemoryWrite tools
      tools: MemoryRead, MemoryWrite
      directory: ~/.koding/memory, or memory/ in CLAUDE_CONFIG_DIR

    agent-memory: mcp-agent-memory (mcp-server-memory)
      tools: memory_read, memory_append_session, memory_search, memory_daemon_status
      directory: MEMORY_DIRECTORY or ~/.agent-memory/memory, and SESSION_DIRECTORY or ~/.agent-memory/sessions

    serena: Serena's memory tools
      tools: list_memories, read_memory, write_memory, edit_memory, delete_memory, rename_memory, onboarding
      directory: .serena/memories in the repository or in the nearest parent directory with .serena/project.yml, and memories/global in SERENA_HOME or ~/.serena; read-only and ignored patterns from serena_config.yml and project.yml

    profclaw: profClaw's memory tools
      tools: memory_search, memory_get, memory_stats
      directory: MEMORY.md and memory/ in the current directory, and the directories in memory.extraPaths

    openclaw: OpenClaw's memory_search and memory_get
      tools: memory_search, memory_get
      directory: MEMORY.md, USER.md and memory/ in ~/.openclaw/workspace, and the directories in memory.extraPaths

    anthropic: Anthropic's memory tool (memory_20250818) with its local file system backend
      tools: memory
      directory: memory/memories in the current directory
    ");
}

#[test]
fn the_instructions_are_served_and_a_dialect_has_tools_only() {
    let home = Home::new();
    let mut talk = Talk::silent(&home, &["--dialect", "agent-memory"]);
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let answer = talk.ask("initialize", hello);
    assert_eq!(answer["result"]["capabilities"], json!({ "tools": {} }));
    assert_eq!(answer["result"]["instructions"], Value::Null);
}

#[test]
fn messages_before_initialize_do_not_end_the_session() {
    let home = Home::new();
    for revision in ["2025-06-18", SESSIONLESS] {
        let mut talk = Talk::silent(&home, &[]);
        let send_early = |talk: &mut Talk| {
            talk.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
            talk.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }));
            talk.send(&json!({ "jsonrpc": "2.0", "id": 7, "result": {} }));
        };
        send_early(&mut talk);
        assert_eq!(talk.ask("ping", json!({}))["result"], json!({}));
        send_early(&mut talk);
        let message = |answer: Value| answer["error"]["message"].clone();
        assert_eq!(
            message(talk.ask("initialize", json!({ "protocolVersion": "2025-06-18" }))),
            "invalid params for initialize: \"capabilities\" is missing; it must be an object"
        );
        send_early(&mut talk);
        talk.hello(revision);
        assert!(talk.ask("tools/list", json!({}))["result"]["tools"].is_array());
        send_early(&mut talk);
        assert!(talk.ask("tools/list", json!({}))["result"]["tools"].is_array());
        let (status, complaints) = talk.end();
        assert!(status.success() && complaints.is_empty(), "{status} {complaints}");
    }
}

#[test]
fn the_server_exits_when_its_client_disconnects() {
    let home = Home::new();
    // Before the handshake, after it, and with a response that is never read.
    for stage in 0..3 {
        let mut talk = Talk::silent(&home, &[]);
        if stage > 0 {
            talk.hello("2025-06-18");
        }
        if stage > 1 {
            talk.post("tools/list", json!({}));
            talk.deafen();
            talk.post("tools/list", json!({}));
        }
        let begun = Instant::now();
        let (status, complaints) = talk.end();
        assert!(status.success() && complaints.is_empty(), "{stage}: {status} {complaints}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{stage}: {:?}", begun.elapsed());
    }
}

#[test]
fn a_subscription_does_not_keep_the_server_running() {
    let home = Home::new();
    let mut talk = Talk::begin(&home, &[], SESSIONLESS);
    talk.post("subscriptions/listen", json!({ "notifications": { "resourcesListChanged": true } }));
    let heard = talk.hear();
    assert_eq!(heard["method"], "notifications/subscriptions/acknowledged", "{heard}");
    let begun = Instant::now();
    assert!(talk.end().0.success());
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[test]
fn all_requests_are_answered_before_the_end() {
    let home = Home::new();
    let mut talk = Talk::begin(&home, &[], "2025-06-18");
    let ids: Vec<u64> = (0..20)
        .map(|n| talk.post("tools/call", json!({ "name": "memory_write", "arguments": { "path": format!("m{n}"), "content": "x" } })))
        .collect();
    let mut answered: Vec<u64> = ids.iter().map(|_| talk.hear()["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert_eq!(home.files().len(), 21);
}

#[test]
fn an_invalid_message_is_answered_and_the_next_one_is_served() {
    let home = Home::new();
    let mut talk = Talk::begin(&home, &[], "2025-06-18");
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for (line, code) in [("{", -32700), ("nonsense", -32700), (deep.as_str(), -32700), ("42", -32600), (r#"{"jsonrpc":"2.0"}"#, -32600)] {
        talk.send_raw(line);
        let answer = talk.hear();
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    talk.send_raw(&format!(r#"{{"jsonrpc":"2.0","id":9,"method":"{}"}}"#, "x".repeat(17 << 20)));
    assert_eq!(talk.hear()["error"]["code"], -32600);
    let unknown = talk.ask("memory/teleport", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    assert_eq!(talk.tools().len(), 9);
    // A batch, which one revision of the protocol allows.
    talk.send_raw(r#"[{"jsonrpc":"2.0","id":71,"method":"ping"},{"jsonrpc":"2.0","id":72,"method":"ping"}]"#);
    let mut ids = [talk.hear()["id"].as_u64().unwrap(), talk.hear()["id"].as_u64().unwrap()];
    ids.sort_unstable();
    assert_eq!(ids, [71, 72]);
}

#[test]
fn two_servers_on_one_directory_see_each_others_writes_at_once() {
    let home = Home::new();
    let mut ada = Talk::begin(&home, &[], "2025-06-18");
    let mut bob = Talk::begin(&home, &[], SESSIONLESS);
    for n in 0..10 {
        let (writer, reader) = if n % 2 == 0 { (&mut ada, &mut bob) } else { (&mut bob, &mut ada) };
        writer.call_text("memory_write", json!({ "path": format!("n{n}"), "content": format!("number{n} is remembered") }));
        assert!(reader.call_text("memory_read", json!({ "paths": [format!("n{n}")] })).ends_with(&format!("number{n} is remembered")));
        assert!(reader.call_text("memory_read", json!({})).contains(&format!("n{n}")));
        assert!(reader.call_text("memory_search", json!({ "query": format!("number{n}") })).contains(&format!("[n{n}.md lines 1-1")));
    }
    // Each undoes its own last change, not the other's.
    assert!(ada.call_text("memory_undo", json!({})).contains("wrote n8"));
    assert!(bob.call_text("memory_undo", json!({})).contains("wrote n9"));
}

#[test]
fn resources_prompts_and_completions_are_served() {
    for revision in revisions() {
        let home = Home::new();
        home.put("notes/a b.md", "one\ntwo\nthree\n");
        let mut talk = Talk::begin(&home, &[], revision);
        talk.call_text("memory_write", json!({ "path": "Top/É", "content": "x" }));
        let listed = talk.ask("resources/list", json!({}))["result"]["resources"].clone();
        let uris: Vec<&str> = listed.as_array().unwrap().iter().map(|resource| resource["uri"].as_str().unwrap()).collect();
        assert_eq!(uris, ["memdir://prompt", "memory:///MEMORY", "memory:///Top/%C3%89", "memory:///notes/a%20b"]);
        for uri in ["memory:///notes/a%20b", "memory:///notes/a%20b.md", "memory://notes/a%20b"] {
            let read = talk.ask("resources/read", json!({ "uri": uri }));
            let contents = json!([{ "uri": uri, "mimeType": "text/markdown", "text": "one\ntwo\nthree\n" }]);
            assert_eq!(read["result"]["contents"], contents, "{read}");
        }
        let lines = talk.ask("resources/read", json!({ "uri": "memory:///notes/a%20b?lines=2-3" }));
        assert_eq!(lines["result"]["contents"][0]["text"], "two\nthree\n");
        for uri in ["memory:///../secret", "memory:///%2e%2e/secret", "file:///etc/passwd", "memory:///none"] {
            assert!(talk.ask("resources/read", json!({ "uri": uri }))["error"]["code"].is_i64(), "{uri}");
        }
        let completion =
            json!({ "ref": { "type": "ref/resource", "uri": "memory:///{+name}" }, "argument": { "name": "name", "value": "no" } });
        let values = talk.ask("completion/complete", completion)["result"]["completion"].clone();
        assert_eq!(values, json!({ "values": ["notes", "notes/a b"], "total": 2, "hasMore": false }));
        let prompts = talk.ask("prompts/list", json!({}))["result"]["prompts"].clone();
        let names: Vec<&str> = prompts.as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["remember", "recall", "review-memory", "add-cues", "dream", "memory"]);
        let section = home.ok(&["prompt", "--tools"]);
        let got = talk.ask("prompts/get", json!({ "name": "memory" }));
        assert_eq!(got["result"]["messages"][0]["content"]["text"].as_str().map(str::trim_end), Some(section.trim_end()), "{got}");
        let read = talk.ask("resources/read", json!({ "uri": "memdir://prompt" }));
        assert_eq!(read["result"]["contents"][0]["text"].as_str().map(str::trim_end), Some(section.trim_end()), "{read}");
        let recall = talk.ask("prompts/get", json!({ "name": "recall", "arguments": { "topic": "three" } }));
        assert!(recall["result"]["messages"][0]["content"]["text"].as_str().unwrap().contains("[notes/a b.md lines"), "{recall}");
        let missing = talk.ask("prompts/get", json!({ "name": "recall", "arguments": {} }));
        assert_eq!(missing["error"]["code"], -32602, "{missing}");
    }
}

#[test]
fn subscribers_are_notified_of_changes_by_any_process() {
    for revision in ["2025-11-25", SESSIONLESS] {
        let home = Home::new();
        home.ok(&["write", "a", "one"]);
        let mut talk = Talk::begin(&home, &[], revision);
        if revision == SESSIONLESS {
            talk.post(
                "subscriptions/listen",
                json!({ "notifications": { "resourcesListChanged": true, "resourceSubscriptions": ["memory:///a"] } }),
            );
            assert_eq!(talk.hear()["method"], "notifications/subscriptions/acknowledged");
        } else {
            assert!(talk.ask("resources/subscribe", json!({ "uri": "memory:///a" }))["error"].is_null());
        }
        home.ok(&["write", "a", "--append", "two"]);
        let news = talk.hear();
        assert_eq!((&news["method"], &news["params"]["uri"]), (&json!("notifications/resources/updated"), &json!("memory:///a")), "{news}");
        home.ok(&["write", "b", "new"]);
        assert_eq!(talk.hear()["method"], "notifications/resources/list_changed");
    }
}

#[test]
fn a_subscriber_is_notified_of_a_change_right_after_the_acknowledgement() {
    let home = Home::new();
    for n in 0..1_000 {
        home.put(&format!("m{n}.md"), "one");
    }
    let mut talk = Talk::begin(&home, &[], SESSIONLESS);
    talk.post("subscriptions/listen", json!({ "notifications": { "resourceSubscriptions": ["memory:///m999"] } }));
    assert_eq!(talk.hear()["method"], "notifications/subscriptions/acknowledged");
    home.put("m999.md", "one, and more");
    let news = talk.hear();
    assert_eq!((&news["method"], &news["params"]["uri"]), (&json!("notifications/resources/updated"), &json!("memory:///m999")), "{news}");
}

#[test]
fn a_cancelled_call_is_not_answered_and_the_next_one_is() {
    let home = Home::new();
    for n in 0..300 {
        home.put(&format!("m{n}.md"), format!("memory {n} {}\n", "words ".repeat(200)));
    }
    let mut talk = Talk::begin(&home, &[], "2025-06-18");
    let id = talk.post("tools/call", json!({ "name": "memory_search", "arguments": { "query": "words" } }));
    talk.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id, "reason": "changed my mind" } }),
    );
    assert_eq!(talk.tools().len(), 9);
    assert!(talk.news.is_empty(), "{:?}", talk.news);
}

#[test]
fn memory_stays_flat_over_a_long_session() {
    let home = Home::new();
    let mut talk = Talk::begin(&home, &[], "2025-06-18");
    let resident = |talk: &Talk| {
        let status = fs::read_to_string(format!("/proc/{}/status", talk.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let round = |talk: &mut Talk, n: u64| {
        let path = format!("m{}", n % 20);
        talk.call_text(
            "memory_write",
            json!({ "path": path, "content": format!("round {n}"), "mode": if n < 20 { "create" } else { "replace" } }),
        );
        talk.call_text("memory_read", json!({ "paths": [path] }));
        talk.call("memory_edit", json!({ "path": path, "old": "round", "new": "turn" }));
        talk.call_text("memory_read", json!({}));
        talk.call_text("memory_search", json!({ "query": "turn" }));
    };
    // The minimum of several samples: work after a response needs memory for a moment only.
    let min_resident = |talk: &mut Talk, rounds: std::ops::Range<u64>| {
        let sample = |n| {
            round(talk, n);
            resident(talk)
        };
        rounds.map(sample).min().unwrap()
    };
    (0..180).for_each(|n| round(&mut talk, n));
    let before = min_resident(&mut talk, 180..200);
    (200..580).for_each(|n| round(&mut talk, n));
    let grown = min_resident(&mut talk, 580..600).saturating_sub(before);
    assert!(grown < 5_000, "grew by {grown} kB over 2,000 calls after the first 1,000");
}

#[test]
fn no_dialect_saves_a_secret_unless_the_settings_allow_it() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let outcome = |result: &Value| (result["isError"] == true, result["content"][0]["text"].as_str().unwrap_or_default().to_owned());
    for allowed in [false, true] {
        let home = Home::new();
        home.configure(if allowed { "secrets = { allow = [\"^ghp_a1\"] }\n" } else { "" });
        let mut talk = Talk::begin(&home, &["--dialect", "koding,anthropic,serena"], "2025-06-18");
        let plain = json!({ "command": "create", "path": "/memories/a.md", "file_text": "one\n" });
        assert!(!outcome(&talk.call("memory", plain)).0);
        for (name, arguments) in [
            ("MemoryWrite", json!({ "file_path": "b.md", "content": token })),
            ("memory", json!({ "command": "create", "path": "/memories/c.md", "file_text": token })),
            ("memory", json!({ "command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": token })),
            ("memory", json!({ "command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": format!("key {token}") })),
            ("write_memory", json!({ "memory_name": "d", "content": token })),
        ] {
            let (failed, text) = outcome(&talk.call(name, arguments.clone()));
            assert_eq!(failed, !allowed, "{name} {arguments}: {text}");
            assert!(allowed || (text.contains("looks like a secret (github-token)") && !text.contains("ghp_")), "{name}: {text}");
        }
        let left: Vec<String> = home.files().into_iter().filter(|file| home.text(file).contains("ghp_")).collect();
        assert_eq!(left.is_empty(), !allowed, "{left:?}");
    }
}
