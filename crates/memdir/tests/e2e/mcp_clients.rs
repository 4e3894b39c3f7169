//! The official clients, Python and TypeScript, of both generations of the protocol, call every tool over both transports and
//! must all get the same results. The official conformance tool runs its scenarios. `scripts/test-clients-setup` installs them.

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
pub(crate) fn installed() -> &'static Path {
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

/// Runs the story of memdir's own tools with every client against a team server, and compares with the committed results. `server` returns
/// the address and a new token for each.
pub(crate) fn check_team(server: impl Fn(usize) -> (String, String)) {
    let dir = root().join("tests/clients/stories");
    let story = std::fs::read_to_string(dir.join("native.json")).unwrap();
    let golden = dir.join("team.expected.json");
    let home = Home::new();
    for (number, kind) in CLIENTS.into_iter().enumerate() {
        let (url, token) = server(number);
        let mut command = client(&home, kind);
        command.args(["http", &url]).env("CLIENT_TOKEN", &token);
        let actual = results(&home, feed(&mut command, story.as_bytes()));
        if std::env::var_os("UPDATE_DOCS").is_some() && number == 0 {
            std::fs::write(&golden, serde_json::to_string_pretty(&actual).unwrap() + "\n").unwrap();
        }
        let expected: Value = serde_json::from_str(&std::fs::read_to_string(&golden).unwrap_or_else(|_| "[]".into())).unwrap();
        let steps: Vec<Value> = serde_json::from_str(&story).unwrap();
        for (n, step) in steps.iter().enumerate() {
            assert_eq!(actual[n], for_generation(kind.1, &expected[n]), "{kind:?}, step {n}: {step}");
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
    assert!(inspect(&call)["content"][0]["text"].as_str().unwrap().starts_with("Saved a"));
}

/// The scenarios of the conformance tool that any server can pass.
const WITHOUT_FIXTURES: [&str; 9] = [
    "server-initialize", "ping", "completion-complete", "tools-list", "server-sse-polling", "server-sse-multiple-streams",
    "resources-list", "prompts-list", "dns-rebinding-protection",
];

/// The scenarios that call tools, or read resources and prompts, of a reference server made for them, or need the capability to
/// send log messages.
const WITH_FIXTURES: [&str; 23] = [
    "logging-set-level", "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource",
    "tools-call-mixed-content", "tools-call-with-logging", "tools-call-error", "tools-call-with-progress", "tools-call-sampling",
    "tools-call-elicitation", "json-schema-2020-12", "elicitation-sep1034-defaults", "elicitation-sep1330-enums", "resources-read-text",
    "resources-read-binary", "resources-templates-read", "resources-subscribe", "resources-unsubscribe", "prompts-get-simple",
    "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image",
];

/// Runs the conformance tool and returns its standard output.
fn conformance(home: &Home, args: &[&str]) -> String {
    let mut tool = Command::new("node");
    tool.arg(installed().join("node/node_modules/@modelcontextprotocol/conformance/dist/index.js")).args(args).env_clear();
    tool.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", home.path("")).current_dir(home.path(""));
    let output = tool.output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_conformance_tool_is_satisfied() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let listed = conformance(&home, &["list", "--server"]);
    let mut listed: Vec<&str> = listed.lines().filter_map(|line| line.trim().strip_prefix("- ")).collect();
    let mut known = [&WITHOUT_FIXTURES[..], &WITH_FIXTURES].concat();
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known, "a new version of the tool has other scenarios");
    let mut checks = String::new();
    for scenario in WITHOUT_FIXTURES {
        let out = home.path("conformance").join(scenario);
        conformance(&home, &["server", "--url", &web.url(), "--scenario", scenario, "--output-dir", out.to_str().unwrap()]);
        let run = std::fs::read_dir(&out).unwrap().next().unwrap().unwrap().path();
        let made: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(run.join("checks.json")).unwrap()).unwrap();
        for check in made.iter().filter(|check| check["status"] != "INFO") {
            checks += &format!("{scenario}: {} {}\n", check["id"].as_str().unwrap(), check["status"].as_str().unwrap());
        }
    }
    // The tool that `server-sse-polling` calls is a fixture, so its check of resumption can only warn.
    insta::assert_snapshot!(checks, @"
    server-initialize: server-initialize SUCCESS
    ping: ping SUCCESS
    completion-complete: completion-complete SUCCESS
    tools-list: tools-list SUCCESS
    server-sse-polling: server-sse-priming-event SUCCESS
    server-sse-polling: server-sse-retry-field SUCCESS
    server-sse-polling: server-sse-disconnect-resume WARNING
    server-sse-multiple-streams: server-accepts-multiple-post-streams SUCCESS
    server-sse-multiple-streams: server-sse-streams-functional SUCCESS
    resources-list: resources-list SUCCESS
    prompts-list: prompts-list SUCCESS
    dns-rebinding-protection: localhost-host-rebinding-rejected SUCCESS
    dns-rebinding-protection: localhost-host-valid-accepted SUCCESS
    ");
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
