//! `memdir hook`: what hosts run.

use crate::home::{Home, feed};
use serde_json::{Value, json};
use std::{fs, process::Output};

fn call(home: &Home, args: &[&str], input: &Value) -> Output {
    feed(&mut home.bare(&[&["hook"], args].concat()), input.to_string().as_bytes())
}

fn output_of(home: &Home, args: &[&str], input: &Value) -> String {
    let output = call(home, args, input);
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn project(home: &Home) -> String {
    let dir = home.path("work");
    fs::create_dir_all(&dir).unwrap();
    dir.display().to_string()
}

#[test]
fn a_session_starts_with_the_section_and_the_entrypoint() {
    let home = Home::new();
    home.bare(&["write", "notes/deploy", "Deploy on Tuesdays.", "--description", "When we deploy"]).output().unwrap();
    let input = json!({ "session_id": "s", "cwd": project(&home), "hook_event_name": "SessionStart", "source": "startup" });
    let value: Value = serde_json::from_str(&output_of(&home, &["claude-code", "session-start"], &input)).unwrap();
    let context = value["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.starts_with("# Memory\n"), "{context}");
    assert!(context.contains("- notes/deploy — When we deploy"), "{context}");
    assert!(context.chars().count() < 10_000);
    let again = output_of(&home, &["claude-code", "session-start"], &input);
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), value, "the same memory, the same bytes");
}

#[test]
fn the_directory_of_the_conversation_selects_the_memory() {
    let home = Home::new();
    let elsewhere = home.path("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    home.bare(&["write", "here", "In work."]).output().unwrap();
    let text = output_of(&home, &["codex", "session-start"], &json!({ "cwd": elsewhere }));
    assert!(!text.contains("here.md"), "{text}");
}

#[test]
fn no_error_reaches_the_host() {
    let home = Home::new();
    for input in ["", "{", "[]"] {
        let output = feed(&mut home.bare(&["hook", "claude-code", "prompt"]), input.as_bytes());
        assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0), "{input}");
    }
    home.configure("mounts = 5\n");
    assert_eq!(output_of(&home, &["gemini", "session-start"], &json!({ "cwd": project(&home) })), "");
    let output = call(&home, &["gemini", "session-start", "--explain"], &json!({}));
    assert!(String::from_utf8_lossy(&output.stderr).contains("config.toml:1:10"), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn unknown_arguments_never_block_a_host() {
    let home = Home::new();
    let wrong: &[(&[&str], &str)] = &[
        (&["emacs", "stop"], "invalid value 'emacs' for '<HOST>'"),
        (&["claude-code", "before-lunch"], "invalid value 'before-lunch' for '<EVENT>'"),
        (&["claude-code"], "required arguments"),
        (&["claude-code", "stop", "--loud"], "unexpected argument '--loud'"),
    ];
    for (words, why) in wrong {
        assert_eq!(output_of(&home, words, &json!({})), "", "{words:?}");
        let output = call(&home, &[words, &["--explain"][..]].concat(), &json!({}));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{words:?}: {stderr}");
        assert!(stderr.contains(why), "{words:?}: {stderr}");
    }
    assert_eq!(home.run_bare(&["write", "--hook", "hook"]).lines().last(), Some("-- exit 2"), "other commands fail");
}

#[test]
fn a_hook_prints_nothing_if_memory_is_off() {
    let home = Home::new();
    let mut command = home.bare(&["hook", "claude-code", "session-start"]);
    let output = feed(command.env("MEMDIR_DISABLE", "1"), b"{}");
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
}

#[test]
fn the_end_of_a_session_copies_its_conversation() {
    let home = Home::new();
    let line = r#"{"type":"user","cwd":"/w","uuid":"u1","timestamp":"2026-01-15T10:00:00Z","message":{"role":"user","content":"Why is the login slow?"}}"#;
    let file = home.path(".claude/projects/-w/5e55.jsonl");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, format!("{line}\n")).unwrap();
    let input = json!({ "session_id": "5e55", "transcript_path": file, "cwd": project(&home), "reason": "other" });
    assert_eq!(output_of(&home, &["claude-code", "session-end"], &input), "");
    assert!(!home.path("home/chats").exists(), "chats are off by default");
    home.configure("[chats]\non = true\n");
    assert_eq!(output_of(&home, &["claude-code", "session-end"], &input), "");
    let kept = crate::home::files_below(&home.path("home/chats"));
    assert!(kept.iter().any(|name| name.ends_with(".md")), "{kept:?}");
}

#[test]
fn a_tripwire_is_sent_before_a_command_in_cursor_and_opencode() {
    let home = Home::new();
    let memory = "---\ndescription: Never push on Fridays\nwhen:\n  command: git push*\n---\nNever push on Fridays.\n";
    home.bare(&["write", "push", memory]).output().unwrap();
    let cursor = json!({ "conversation_id": "c", "hook_event_name": "beforeShellExecution", "cursor_version": "3",
        "workspace_roots": [project(&home)], "command": "git push origin", "cwd": project(&home) });
    let value: Value = serde_json::from_str(&output_of(&home, &["cursor", "before-tool"], &cursor)).unwrap();
    assert_eq!(value["permission"], "deny");
    assert!(value["agent_message"].as_str().unwrap().contains("Never push on Fridays."), "{value}");
    let value: Value = serde_json::from_str(&output_of(&home, &["cursor", "before-tool"], &cursor)).unwrap();
    assert!(value["agent_message"].as_str().unwrap().contains("Never push on Fridays."), "{value}");
    assert_eq!(value.as_object().unwrap().len(), 1, "without a decision: {value}");
    let opencode = json!({ "session_id": "o", "cwd": project(&home), "tool_name": "bash", "tool_input": { "command": "git push" } });
    let value: Value = serde_json::from_str(&output_of(&home, &["opencode", "before-tool"], &opencode)).unwrap();
    assert!(value["context"].as_str().unwrap().contains("Never push on Fridays."), "{value}");
}

#[test]
fn a_compaction_is_logged_once() {
    let home = Home::new();
    let line = r#"{"type":"user","cwd":"/w","uuid":"u1","timestamp":"2026-01-15T10:00:00Z","message":{"role":"user","content":"Why is the login slow?"}}"#;
    let file = home.path(".claude/projects/-w/5e55.jsonl");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, format!("{line}\n")).unwrap();
    let input = json!({ "session_id": "5e55", "transcript_path": file, "cwd": project(&home), "trigger": "auto" });
    let logged = || {
        let files = crate::home::files_below(&home.path("home/projects"));
        let logs = files.iter().filter(|name| name.contains("/logs/")).map(|name| home.path("home/projects").join(name));
        logs.map(|log| fs::read_to_string(log).unwrap()).collect::<String>()
    };
    assert_eq!(output_of(&home, &["claude-code", "before-compaction"], &input), "");
    assert_eq!(logged(), "", "the log is off");
    home.configure("log = true\n[chats]\non = true\n");
    for _ in 0..2 {
        assert_eq!(output_of(&home, &["claude-code", "before-compaction"], &input), "");
    }
    let log = logged();
    let entry = "claude-code compacted the conversation 5e55 \"Why is the login slow?\"; archived: memdir chats show claude-code/5e55\n";
    assert!(log.ends_with(entry) && log.matches("compacted").count() == 1, "{log}");
    let other = json!({ "session_id": "0ff", "cwd": project(&home) });
    assert_eq!(output_of(&home, &["codex", "before-compaction"], &other), "");
    assert!(logged().ends_with(" codex compacted the conversation 0ff\n"), "{}", logged());
}

#[test]
fn a_patch_trips_by_the_files_it_names() {
    let home = Home::new();
    let memory = "---\ndescription: Migrations are reviewed\nwhen:\n  path: migrations/**\n---\nMigrations are reviewed by Ada.\n";
    home.bare(&["write", "migrations", memory]).output().unwrap();
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: migrations/a.rs\n*** End Patch\n";
    let called = [
        ("codex", json!({ "tool_name": "apply_patch", "tool_input": { "command": patch } })),
        ("codex", json!({ "tool_name": "apply_patch", "tool_input": { "input": patch.replace("src/a.rs", "/x") } })),
        ("vscode", json!({ "hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": { "input": patch } })),
        ("opencode", json!({ "tool_name": "patch", "tool_input": { "patchText": patch } })),
    ];
    for (host, mut input) in called {
        input["cwd"] = json!(project(&home));
        let text = output_of(&home, &[host, "before-tool"], &input);
        assert!(text.contains("Migrations are reviewed by Ada."), "{host}: {text}");
    }
    let other =
        json!({ "cwd": project(&home), "tool_name": "apply_patch", "tool_input": { "command": patch.replace("migrations/", "m/") } });
    assert_eq!(output_of(&home, &["codex", "before-tool"], &other), "");
}

#[test]
fn a_command_trips_inside_of_another_shell() {
    let home = Home::new();
    let memory = "---\ndescription: Never push on Fridays\nwhen:\n  command: git push\n---\nNever push on Fridays.\n";
    home.bare(&["write", "push", memory]).output().unwrap();
    for command in
        [json!("bash -lc 'git push'"), json!(["bash", "-lc", "cd x && git push"]), json!("git -C x push"), json!("ls | xargs git push")]
    {
        let input = json!({ "cwd": project(&home), "tool_name": "shell", "tool_input": { "command": command } });
        let text = output_of(&home, &["codex", "before-tool"], &input);
        assert!(text.contains("Never push on Fridays."), "{command}: {text}");
    }
}

/// A hook must not wait for a network.
#[test]
fn a_prompt_is_not_sent_to_an_endpoint() {
    let home = Home::new();
    home.bare(&["write", "deploy", "The deployment runs on Tuesdays in Frankfurt."]).output().unwrap();
    let endpoint = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    endpoint.set_nonblocking(true).unwrap();
    let url = format!("http://{}/v1", endpoint.local_addr().unwrap());
    for kind in ["openai", "ollama"] {
        home.configure(&format!("[search]\nembedder = \"{kind}\"\nurl = \"{url}\"\nmodel = \"m\"\ndimensions = 8\n"));
        let input = json!({ "session_id": kind, "cwd": project(&home), "prompt": "On which day does the deployment in Frankfurt run?" });
        let text = output_of(&home, &["claude-code", "prompt"], &input);
        assert!(text.contains("on Tuesdays in Frankfurt"), "{kind}: {text}");
        assert!(endpoint.accept().is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "{kind}: it was called");
    }
}

#[test]
fn a_lone_surrogate_does_not_silence_a_hook() {
    let home = Home::new();
    home.bare(&["write", "deploy", "The deployment runs on Tuesdays in Frankfurt."]).output().unwrap();
    let input = format!(r#"{{"cwd":{:?},"prompt":"On which day does the deployment in Frankfurt run? \ud83d"}}"#, project(&home));
    let output = feed(&mut home.bare(&["hook", "claude-code", "prompt"]), input.as_bytes());
    assert!(String::from_utf8_lossy(&output.stdout).contains("on Tuesdays in Frankfurt"), "{output:?}");
}

/// The newest conversation takes longer to read than a host waits; the one that ends is an older one.
#[test]
fn the_conversation_that_ends_is_copied_first() {
    let home = Home::new();
    home.configure("[chats]\non = true\n");
    let line = |words: &str| {
        let message = json!({ "role": "user", "content": words });
        json!({ "type": "user", "cwd": "/w", "uuid": "u1", "timestamp": "2026-01-15T10:00:00Z", "message": message }).to_string() + "\n"
    };
    let dir = home.path(".claude/projects/-w");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("5e55.jsonl"), line("Why is the login slow?")).unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    fs::File::options().append(true).open(dir.join("5e55.jsonl")).unwrap().set_modified(old).unwrap();
    fs::write(dir.join("b16.jsonl"), line(&"A very long line. ".repeat(4 << 20))).unwrap();
    let input = json!({ "session_id": "5e55", "transcript_path": dir.join("5e55.jsonl"), "cwd": project(&home) });
    assert_eq!(output_of(&home, &["claude-code", "session-end"], &input), "");
    let kept = crate::home::files_below(&home.path("home/chats"));
    assert!(kept.iter().any(|name| name.contains("5e55")), "{kept:?}");
}

/// Gemini CLI puts the text of the session's start into the first message that its hook gets.
#[test]
fn the_text_of_another_hook_is_not_the_message() {
    let home = Home::new();
    home.bare(&["write", "notes/deploy", "Deploys go out on Tuesdays.", "--description", "When deploys go out"]).output().unwrap();
    let cwd = project(&home);
    let session = output_of(&home, &["gemini", "session-start"], &json!({ "session_id": "s", "cwd": cwd, "source": "startup" }));
    let session: Value = serde_json::from_str(&session).unwrap();
    let context = session["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let alone = json!({ "session_id": "a", "cwd": cwd, "prompt": "When do deploys go out?" });
    let after =
        json!({ "session_id": "b", "cwd": cwd, "prompt": format!("<hook_context>{context}</hook_context>\n\nWhen do deploys go out?") });
    let expected = output_of(&home, &["gemini", "prompt"], &alone);
    assert!(expected.contains("Deploys go out on Tuesdays."), "{expected}");
    assert_eq!(output_of(&home, &["gemini", "prompt"], &after), expected);
}
