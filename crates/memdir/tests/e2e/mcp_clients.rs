//! The official clients, Python and TypeScript, of both generations of the protocol, drive every tool over both
//! transports, and all of them are told the same. `scripts/test-clients-setup` installs them.

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

/// Every way to be a client: which program, of which generation.
const CLIENTS: [(&str, &str); 4] = [("client.py", "legacy"), ("client.py", "2026-07-28"), ("client.mjs", "v1"), ("client.mjs", "v2")];

/// Where the clients are. Installs them if nobody has.
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

/// A client, ready to be told where its server is.
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

/// Tells a story over standard input and output.
fn over_stdio(home: &Home, kind: (&str, &str), dialect: &[&str], story: &str) -> Value {
    let mut command = client(home, kind);
    command.args(["stdio", env!("CARGO_BIN_EXE_memdir"), "mcp"]).args(dialect);
    told(home, feed(&mut command, story.as_bytes()))
}

/// Tells a story over HTTP, with a token.
fn over_http(home: &Home, kind: (&str, &str), dialect: &[&str], story: &str) -> Value {
    let token = "abcdefghijklmnopqrstuvwxyz";
    let web = Web::start_with(home, dialect, &[("MEMDIR_TOKEN", token)]);
    let mut command = client(home, kind);
    command.args(["http", &web.url()]).env("CLIENT_TOKEN", token);
    told(home, feed(&mut command, story.as_bytes()))
}

fn told(home: &Home, output: std::process::Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap().replace(home.path("").to_str().unwrap().trim_end_matches('/'), "[HOME]");
    let text = Regex::new(r#""change": ?"[a-z0-9]{8}""#).unwrap().replace_all(&text, r#""change":"[CHANGE]""#);
    let text = Regex::new(r#""undone": ?"[a-z0-9]{8}""#).unwrap().replace_all(&text, r#""undone":"[CHANGE]""#);
    let text = Regex::new(r"\(change [a-z0-9]{8}\)").unwrap().replace_all(&text, "(change [CHANGE])");
    let text = Regex::new(r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d([.-]\d{3})?Z").unwrap().replace_all(&text, "[TIME]");
    // The size of a directory is the file system's affair.
    let text = Regex::new(r#"[0-9.]+[BKMG]\\t(/memories(?:/[^"\\]*/)?)(\\n|")"#).unwrap().replace_all(&text, r"[SIZE]\t$1$2");
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
}

/// Every client on both transports, each on a machine of its own, against the committed telling.
fn all_are_told(name: &str) {
    let dir = root().join("tests/clients/stories");
    let story = std::fs::read_to_string(dir.join(format!("{name}.json"))).unwrap();
    let dialect: Vec<&str> = if name == "native" { Vec::new() } else { vec!["--dialect", name] };
    let wanted = dir.join(format!("{name}.told.json"));
    for kind in CLIENTS {
        for (way, tell) in [("stdio", over_stdio as fn(&Home, (&str, &str), &[&str], &str) -> Value), ("http", over_http)] {
            let told = tell(&seeded(name), kind, &dialect, &story);
            if std::env::var_os("UPDATE_DOCS").is_some() && kind == CLIENTS[0] && way == "stdio" {
                std::fs::write(&wanted, serde_json::to_string_pretty(&told).unwrap() + "\n").unwrap();
            }
            let wanted: Value = serde_json::from_str(&std::fs::read_to_string(&wanted).unwrap_or_else(|_| "[]".into())).unwrap();
            let steps: Vec<Value> = serde_json::from_str(&story).unwrap();
            assert_eq!(told.as_array().unwrap().len(), steps.len());
            for (n, step) in steps.iter().enumerate() {
                assert_eq!(told[n], as_told_by(kind.1, &wanted[n]), "{kind:?} over {way}, step {n}: {step}");
            }
        }
    }
}

/// The newer protocol has one code less: a resource that is not there is a wrong parameter.
fn as_told_by(generation: &str, wanted: &Value) -> Value {
    let mut wanted = wanted.clone();
    if ["2026-07-28", "v2"].contains(&generation) && wanted["code"] == -32002 {
        wanted["code"] = (-32602).into();
    }
    wanted
}

/// A machine with something to find, for tools that only read.
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
    all_are_told("native");
}

#[test]
fn koding_serves_every_client() {
    all_are_told("koding");
}

#[test]
fn agent_memory_serves_every_client() {
    all_are_told("agent-memory");
}

#[test]
fn serena_serves_every_client() {
    all_are_told("serena");
}

#[test]
fn profclaw_serves_every_client() {
    all_are_told("profclaw");
}

#[test]
fn openclaw_serves_every_client() {
    all_are_told("openclaw");
}

#[test]
fn anthropic_serves_every_client() {
    all_are_told("anthropic");
}

/// Older and newer clients on one server.
#[test]
fn clients_of_both_generations_hear_of_changes() {
    let story = r#"[
        {"do": "call", "name": "memory_write", "arguments": {"path": "a", "content": "one"}},
        {"do": "watch", "uri": "memory:///a", "then": {"do": "call", "name": "memory_move", "arguments": {"from": "a", "to": "b"}}}
    ]"#;
    for kind in CLIENTS {
        for tell in [over_stdio, over_http] {
            assert_eq!(tell(&Home::new(), kind, &[], story)[1], "heard", "{kind:?}");
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
