//! What each host hears, checked against what that host accepts: the structs below are its schema, and refuse any other key.

use super::*;
use crate::hosts::{HOSTS, named};
use serde::Deserialize;
use std::cell::RefCell;

/// A memory that says what it is told, and notes what it is asked.
#[derive(Default)]
struct Fake {
    says: String,
    asked: RefCell<Vec<String>>,
}

impl Fake {
    fn saying(says: &str) -> Fake {
        Fake { says: says.to_owned(), ..Fake::default() }
    }

    fn answer(&self, asked: String) -> Option<String> {
        self.asked.borrow_mut().push(asked);
        Some(self.says.clone())
    }
}

impl Memory for Fake {
    fn start(&self) -> Option<String> {
        self.answer("start".into())
    }

    fn recall(&self, _: &Input, prompt: &str) -> Option<String> {
        self.answer(format!("recall {prompt}"))
    }

    fn warn(&self, _: &Input, action: &Action) -> Option<String> {
        self.answer(format!("warn {} {:?} {:?}", action.tool, action.command, action.paths))
    }

    fn take_in(&self, input: &Input) {
        self.asked.borrow_mut().push(format!("take in {}", input.session.clone().unwrap_or_default()));
    }

    fn compacts(&self, input: &Input) {
        self.asked.borrow_mut().push(format!("compacts {}", input.session.clone().unwrap_or_default()));
    }

    fn remind(&self, _: &Input) -> Option<String> {
        self.answer("remind".into())
    }
}

/// What a host sends at an event.
fn sample(host: &str, event: Event) -> String {
    let hook = named(host).and_then(|host| host.hooks.iter().find(|hook| hook.event == event));
    let name = hook.map_or("none", |hook| hook.name);
    match host {
        "copilot-cli" => serde_json::json!({
            "sessionId": "s1", "timestamp": 1_763_200_000_000_u64, "cwd": "/project", "prompt": "How do we deploy?",
            "toolName": "bash", "toolArgs": "{\"command\":\"git push\"}", "stopReason": "end_turn",
        }),
        "cursor" => serde_json::json!({
            "conversation_id": "s1", "generation_id": "g", "hook_event_name": name, "workspace_roots": ["/project"], "cursor_version": "3",
            "command": "git push", "cwd": "/project",
        }),
        _ => serde_json::json!({
            "session_id": "s1", "transcript_path": null, "cwd": "/project", "hook_event_name": name, "source": "startup",
            "prompt": "How do we deploy?", "tool_name": "Bash", "tool_input": { "command": "git push" }, "stop_hook_active": false,
        }),
    }
    .to_string()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "what counts is which keys are accepted")]
struct Specific {
    hook_event_name: String,
    additional_context: Option<String>,
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    updated_input: Option<serde_json::Value>,
}

/// Claude Code's and Codex's answer to SessionStart, UserPromptSubmit and PreToolUse; Codex refuses any other key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "what counts is which keys are accepted")]
struct WithContext {
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    suppress_output: Option<bool>,
    system_message: Option<String>,
    hook_specific_output: Specific,
}

/// Claude Code's, Codex's, Gemini's and Copilot's answer to a stop.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "what counts is which keys are accepted")]
struct Block {
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    suppress_output: Option<bool>,
    system_message: Option<String>,
    decision: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "what counts is which keys are accepted")]
struct SystemMessage {
    system_message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what counts is which keys are accepted")]
struct CursorStart {
    r#continue: Option<bool>,
    additional_context: String,
    env: Option<serde_json::Value>,
    user_message: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what counts is which keys are accepted")]
struct CursorStop {
    followup_message: String,
}

/// Cursor's answer before a tool or a command. A decision would stand in for the person's, so there must be none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what counts is which keys are accepted")]
struct CursorTool {
    user_message: Option<String>,
    agent_message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "what counts is which keys are accepted")]
struct CopilotContext {
    additional_context: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what counts is which keys are accepted")]
struct OpencodeContext {
    context: String,
}

fn is<T: for<'a> Deserialize<'a>>(text: &str) -> Result<(), String> {
    serde_json::from_str::<T>(text).map(drop).map_err(|e| e.to_string())
}

/// Whether a host accepts this at this event.
fn accepted(host: &str, event: Event, text: &str) -> Result<(), String> {
    let named = |name: &str| {
        let value: serde_json::Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let said = value["hookSpecificOutput"]["hookEventName"].as_str().unwrap_or_default().to_owned();
        is::<WithContext>(text)?;
        if said == name { Ok(()) } else { Err(format!("{said} is not {name}")) }
    };
    let hook = self::named(host).and_then(|host| host.hooks.iter().find(|hook| hook.event == event));
    match (host, event) {
        (_, Event::SessionEnd | Event::BeforeCompaction) if host != "opencode" => Err("nothing may be said".into()),
        ("opencode", _) => is::<OpencodeContext>(text),
        ("cursor", Event::SessionStart) => is::<CursorStart>(text),
        ("cursor", Event::BeforeTool) => is::<CursorTool>(text),
        ("cursor", Event::Stop) => is::<CursorStop>(text),
        ("copilot-cli", Event::Stop) => is::<Block>(text),
        ("copilot-cli", _) => is::<CopilotContext>(text),
        ("gemini", Event::BeforeTool) => is::<SystemMessage>(text),
        (_, Event::Stop) => is::<Block>(text),
        _ => named(hook.map_or("none", |hook| hook.name)),
    }
}

#[test]
fn every_host_hears_only_keys_it_knows() {
    let mut shown = String::new();
    for host in HOSTS.iter().filter(|host| host.name != "vscode") {
        for heard in host.hooks {
            let out = hook(host.name, heard.event, &sample(host.name, heard.event), &Fake::saying("Deploy on Tuesdays."));
            if !out.is_empty() {
                assert_eq!(accepted(host.name, heard.event, &out), Ok(()), "{} {}: {out}", host.name, heard.name);
            }
            shown += &format!("{} {}: {}\n", host.name, heard.name, out.trim_end());
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn vs_code_is_known_by_what_it_sends_through_the_shared_hooks() {
    let input = sample("claude-code", Event::SessionStart);
    let out = hook("copilot-cli", Event::SessionStart, &input, &Fake::saying("x"));
    assert_eq!(out, "{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"additionalContext\":\"x\"}}\n");
    let out = hook("copilot-cli", Event::Stop, &input, &Fake::saying("x"));
    assert_eq!(out, "{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\",\"decision\":\"block\",\"reason\":\"x\"}}\n");
}

#[test]
fn there_is_silence_where_there_is_nothing() {
    for host in HOSTS {
        for heard in host.hooks {
            for says in ["", " \n"] {
                assert_eq!(hook(host.name, heard.event, &sample(host.name, heard.event), &Fake::saying(says)), "");
            }
        }
    }
}

#[test]
fn whatever_is_sent_nothing_fails() {
    for text in
        ["", "null", "[]", "{", "{\"prompt\":5,\"tool_name\":[],\"cwd\":{}}", "\u{feff}{}", "{\"tool_name\":\"x\",\"tool_input\":\"{\"}"]
    {
        for host in HOSTS {
            for heard in host.hooks {
                let out = hook(host.name, heard.event, text, &Fake::saying("x"));
                assert!(out.is_empty() || accepted(host.name, heard.event, &out).is_ok() || host.name == "vscode", "{text}: {out}");
            }
        }
    }
}

#[test]
fn long_text_is_cut_after_a_line_and_says_so() {
    let line = "- [A memory](a.md) — é what it is about\n";
    let out = hook("claude-code", Event::SessionStart, "{}", &Fake::saying(&line.repeat(1000)));
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    let said = value["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(units(&out) <= OUTPUT_CHARS && units(&out) > OUTPUT_CHARS - 300);
    let shown = said.matches(line.trim_end()).count();
    let left = 1000 - shown;
    assert_eq!(
        said.lines().last(),
        Some(
            format!(
                "[left out for want of room: {left} lines, {}; `memdir read` shows all of it]",
                text::human_bytes((left * line.len()) as u64)
            )
            .as_str()
        )
    );
}

#[test]
fn an_answer_is_measured_as_it_is_written() {
    for says in [
        "\"quoted\" \\ \t\n".repeat(2000),
        "\u{1}".repeat(5000),
        "😀".repeat(9000),
        "x".repeat(20_000),
        format!("short\n{}", "y".repeat(20_000)),
    ] {
        for host in HOSTS.iter().filter(|host| !host.hooks.is_empty()) {
            let out = hook(host.name, Event::SessionStart, "{}", &Fake::saying(&says));
            assert!(units(&out) <= OUTPUT_CHARS && units(&out) > OUTPUT_CHARS - 300, "{}: {} of {:.20}", host.name, units(&out), says);
            assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok());
        }
    }
}

#[test]
fn half_a_character_is_no_reason_not_to_hear_the_rest() {
    let prompt = |text: &str| Input::parse(text).prompt.unwrap();
    for (half, heard) in [
        (r"\ud83d", "\u{fffd}"),
        (r"\uDE00 x", "\u{fffd} x"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
        (r"\\ud83d \ud800", "\\ud83d \u{fffd}"),
        (r"\ud83d\n", "\u{fffd}\n"),
        (r"\ud83d\ude00 \udc00", "😀 \u{fffd}"),
    ] {
        assert_eq!(prompt(&format!("{{\"prompt\":\"Deploy {half}\"}}")), format!("Deploy {heard}"), "{half}");
    }
    assert_eq!(Input::parse(r#"{"prompt":"\ud8"#), Input::default());
}

#[test]
fn each_event_asks_for_what_it_is_there_for() {
    let asked = |event, input: &str| {
        let fake = Fake::saying("x");
        hook("claude-code", event, input, &fake);
        fake.asked.take()
    };
    let input = sample("claude-code", Event::Prompt);
    assert_eq!(asked(Event::SessionStart, &input), ["start"]);
    assert_eq!(asked(Event::Prompt, &input), ["recall How do we deploy?"]);
    assert_eq!(asked(Event::BeforeTool, &input), ["warn Bash Some(\"git push\") []"]);
    assert_eq!(asked(Event::Stop, &input), ["take in s1", "remind"]);
    assert_eq!(asked(Event::SessionEnd, &input), ["take in s1"]);
    assert_eq!(asked(Event::BeforeCompaction, &input), ["take in s1", "compacts s1"]);
    assert_eq!(asked(Event::Stop, &input.replace("\"stop_hook_active\":false", "\"stop_hook_active\":true")), ["take in s1"]);
    assert_eq!(asked(Event::Prompt, "{\"prompt\":\"  \"}"), [""; 0]);
}

#[test]
fn tools_are_understood_in_every_hosts_words() {
    let action = |text: &str| Input::parse(text).action.unwrap();
    let of = |tool: &str, command: Option<&str>, paths: &[&str], text: &str| Action {
        tool: tool.into(),
        command: command.map(str::to_owned),
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        text: text.into(),
    };
    for (input, expected) in [
        (r#"{"tool_name":"Bash","tool_input":{"command":"git push","description":"Push"}}"#, of("Bash", Some("git push"), &[], "Push\n")),
        (r#"{"tool_name":"Edit","tool_input":{"file_path":"/p/a.rs","old_string":"x"}}"#, of("Edit", None, &["/p/a.rs"], "x\n")),
        (r#"{"tool_name":"shell","tool_input":{"command":["git","push"]}}"#, of("shell", Some("git push"), &[], "")),
        (r#"{"toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}"#, of("bash", Some("ls"), &[], "")),
        (r#"{"tool_name":"editFiles","tool_input":{"files":["a.ts","b.ts"]}}"#, of("editFiles", None, &["a.ts", "b.ts"], "")),
        (r#"{"tool_name":"x","tool_input":"free text"}"#, of("x", None, &[], "free text\n")),
        (r#"{"tool_name":"x"}"#, of("x", None, &[], "")),
        (
            r#"{"tool_name":"shell","tool_input":{"command":["bash","-lc","git push && ls"]}}"#,
            of("shell", Some("bash -lc 'git push && ls'"), &[], ""),
        ),
        (
            r#"{"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: a.rs\n+x\n*** Update File: b.rs\n*** Move to: c.rs\n@@\n-y\n*** Delete File: d e.rs\n*** End Patch"}}"#,
            of("apply_patch", None, &["a.rs", "b.rs", "c.rs", "d e.rs"], "+x\n@@\n-y\n"),
        ),
        (
            r#"{"tool_name":"patch","tool_input":{"patchText":"*** Begin Patch\r\n*** Delete File: d.rs\r\n*** End Patch"}}"#,
            of("patch", None, &["d.rs"], ""),
        ),
        (
            r#"{"tool_name":"shell","tool_input":{"command":["apply_patch","*** Begin Patch\n*** Update File: b.rs\n*** End Patch\n"]}}"#,
            of("shell", Some("apply_patch"), &["b.rs"], ""),
        ),
        (
            r#"{"tool_name":"Bash","tool_input":{"command":"apply_patch <<'X'\n*** Begin Patch\n*** Update File: b.rs\n*** End Patch\nX"}}"#,
            of("Bash", Some("apply_patch <<'X'\nX"), &["b.rs"], ""),
        ),
        (
            r#"{"hook_event_name":"beforeShellExecution","cursor_version":"3","command":"git push","cwd":"/p"}"#,
            of("Shell", Some("git push"), &[], ""),
        ),
        (
            r#"{"hook_event_name":"preToolUse","cursor_version":"3","tool_name":"Write","tool_input":{"file_path":"/p/a.rs"}}"#,
            of("Write", None, &["/p/a.rs"], ""),
        ),
    ] {
        assert_eq!(action(input), expected, "{input}");
    }
    let twice = r#"{"hook_event_name":"preToolUse","cursor_version":"3","tool_name":"Shell","tool_input":{"command":"git push"}}"#;
    assert_eq!(Input::parse(twice).action, None, "its own event tells of it");
}
