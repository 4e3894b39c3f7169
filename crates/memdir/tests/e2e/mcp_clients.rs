//! The official clients, Python and TypeScript, of both generations of the protocol, call every tool over both transports and
//! must all get the same results. `scripts/test-clients-setup` installs them.

use crate::{
    home::{Home, feed},
    web::Web,
};
use regex::Regex;
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The clients: program and generation of the protocol.
const CLIENTS: [(&str, &str); 4] = [("client.py", "legacy"), ("client.py", "2026-07-28"), ("client.mjs", "v1"), ("client.mjs", "v2")];

/// Returns the directory of the clients, and installs them if necessary.
fn installed() -> &'static Path {
    static WHERE: OnceLock<PathBuf> = OnceLock::new();
    WHERE.get_or_init(|| {
        let output = Command::new(root().join("scripts/test-clients-setup")).output().unwrap();
        assert!(output.status.success(), "the clients cannot be installed: {}", String::from_utf8_lossy(&output.stderr));
        PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the command of a client, without the address of its server.
fn client(home: &Home, (program, generation): (&str, &str)) -> Command {
    let clients = installed();
    let program_file = root().join("tests/clients").join(program);
    let mut command = if program.ends_with(".py") { Command::new(clients.join("python/bin/python")) } else { Command::new("node") };
    command.arg(program_file).arg(generation).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("MEMDIR_TEST_CLIENTS", clients);
    command.env("HOME", home.path("")).env("MEMDIR_HOME", home.path("home")).env("USER", "ada").env("TZ", "UTC");
    command.env("MEMDIR_DIR", home.path("memory")).current_dir(home.path(""));
    command
}

/// Runs a story over standard input and output.
fn over_stdio(home: &Home, kind: (&str, &str), dialect: &[&str], story: &str) -> Value {
    let mut command = client(home, kind);
    command.args(["stdio", env!("CARGO_BIN_EXE_memdir"), "mcp"]).args(dialect);
    results(home, feed(&mut command, story.as_bytes()))
}

/// Runs a story over HTTP, with a token.
fn over_http(home: &Home, kind: (&str, &str), dialect: &[&str], story: &str) -> Value {
    let token = "abcdefghijklmnopqrstuvwxyz";
    let web = Web::start_with(home, dialect, &[("MEMDIR_TOKEN", token)]);
    let mut command = client(home, kind);
    command.args(["http", &web.url()]).env("CLIENT_TOKEN", token);
    results(home, feed(&mut command, story.as_bytes()))
}

fn results(home: &Home, output: std::process::Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap().replace(home.path("").to_str().unwrap().trim_end_matches('/'), "[HOME]");
    let text = Regex::new(r#""change": ?"[a-z0-9]{8}""#).unwrap().replace_all(&text, r#""change":"[CHANGE]""#);
    let text = Regex::new(r#""undone": ?"[a-z0-9]{8}""#).unwrap().replace_all(&text, r#""undone":"[CHANGE]""#);
    let text = Regex::new(r"\(change [a-z0-9]{8}\)").unwrap().replace_all(&text, "(change [CHANGE])");
    let text = Regex::new(r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d([.-]\d{3})?Z").unwrap().replace_all(&text, "[TIME]");
    // The size of a directory depends on the file system.
    let text = Regex::new(r#"[0-9.]+[BKMG]\\t(/memories(?:/[^"\\]*/)?)(\\n|")"#).unwrap().replace_all(&text, r"[SIZE]\t$1$2");
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
}

/// Runs a story with every client over both transports, each in a home of its own, and compares with the committed results.
fn check_all_clients(name: &str) {
    let dir = root().join("tests/clients/stories");
    let story = std::fs::read_to_string(dir.join(format!("{name}.json"))).unwrap();
    let dialect: Vec<&str> = if name == "native" { Vec::new() } else { vec!["--dialect", name] };
    let golden = dir.join(format!("{name}.expected.json"));
    for kind in CLIENTS {
        for (transport, run) in [("stdio", over_stdio as fn(&Home, (&str, &str), &[&str], &str) -> Value), ("http", over_http)] {
            let actual = run(&seeded(name), kind, &dialect, &story);
            if std::env::var_os("UPDATE_DOCS").is_some() && kind == CLIENTS[0] && transport == "stdio" {
                std::fs::write(&golden, serde_json::to_string_pretty(&actual).unwrap() + "\n").unwrap();
            }
            let expected: Value = serde_json::from_str(&std::fs::read_to_string(&golden).unwrap_or_else(|_| "[]".into())).unwrap();
            let steps: Vec<Value> = serde_json::from_str(&story).unwrap();
            assert_eq!(actual.as_array().unwrap().len(), steps.len());
            for (n, step) in steps.iter().enumerate() {
                assert_eq!(actual[n], for_generation(kind.1, &expected[n]), "{kind:?} over {transport}, step {n}: {step}");
            }
        }
    }
}

/// Adapts an expected result: the newer protocol reports a missing resource as an invalid parameter.
fn for_generation(generation: &str, expected: &Value) -> Value {
    let mut expected = expected.clone();
    if ["2026-07-28", "v2"].contains(&generation) && expected["code"] == -32002 {
        expected["code"] = (-32602).into();
    }
    expected
}

/// Returns a home with some memories for dialects that only read.
fn seeded(name: &str) -> Home {
    let home = Home::new();
    if ["profclaw", "openclaw"].contains(&name) {
        home.put("memory/architecture.md", "# Architecture\n\nThe gateway talks to the ledger over gRPC.\nRetries are idempotent.\n");
        home.put("MEMORY.md", "Likes tea.\n");
    }
    home
}

#[test]
fn the_native_tools_serve_every_client() {
    check_all_clients("native");
}

#[test]
fn koding_serves_every_client() {
    check_all_clients("koding");
}

#[test]
fn agent_memory_serves_every_client() {
    check_all_clients("agent-memory");
}

#[test]
fn serena_serves_every_client() {
    check_all_clients("serena");
}

#[test]
fn profclaw_serves_every_client() {
    check_all_clients("profclaw");
}

#[test]
fn openclaw_serves_every_client() {
    check_all_clients("openclaw");
}

#[test]
fn anthropic_serves_every_client() {
    check_all_clients("anthropic");
}

#[test]
fn clients_of_both_generations_are_notified_of_changes() {
    let story = r#"[
        {"do": "call", "name": "memory_write", "arguments": {"path": "a", "content": "one"}},
        {"do": "watch", "uri": "memory:///a", "then": {"do": "call", "name": "memory_move", "arguments": {"from": "a", "to": "b"}}}
    ]"#;
    for kind in CLIENTS {
        for run in [over_stdio, over_http] {
            assert_eq!(run(&Home::new(), kind, &[], story)[1], "heard", "{kind:?}");
        }
    }
}

#[test]
fn the_inspector_lists_and_calls() {
    let home = Home::new();
    let inspect = |args: &[&str]| {
        let mut inspector = Command::new(installed().join("node/node_modules/.bin/mcp-inspector"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        inspector.env_clear().env("PATH", path).env("HOME", home.path("")).env("MEMDIR_DIR", home.path("memory"));
        let output = inspector.args(["--cli", env!("CARGO_BIN_EXE_memdir"), "mcp"]).args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(inspect(&["--method", "tools/list"])["tools"].as_array().unwrap().len(), 9);
    let call = ["--method", "tools/call", "--tool-name", "memory_write", "--tool-arg", "path=a", "--tool-arg", "content=x"];
    assert!(inspect(&call)["content"][0]["text"].as_str().unwrap().starts_with("Saved a.md"));
}

/// Random commands, the same in every run, to the anthropic dialect and to the official Python implementation of the tool.
#[test]
fn the_anthropic_dialect_answers_like_the_reference() {
    for seed in ["1", "2"] {
        let home = Home::new();
        let mut command = Command::new(installed().join("python/bin/python"));
        command.arg(root().join("tests/clients/anthropic_reference.py")).args([seed, "1200", env!("CARGO_BIN_EXE_memdir")]);
        command.args(["mcp", "--dialect", "anthropic"]).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", home.path("")).env("MEMDIR_HOME", home.path("home")).env("MEMDIR_DIR", home.path("memory"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "[]\n", "seed {seed}");
    }
}
