//! The output of hooks checked against what each host accepts: the structs below are its schema, and reject any other key.

use super::{
    input::{HookInput, ToolAction},
    output::{HookText, MAX_UNITS, render, utf16_len},
};
use crate::hosts::{Delivery, HOSTS, HookEvent, Host, ToolDecision, by_name};
use memdir_core::internal::base::text;
use serde::Deserialize;

/// The output of a host's hook with this input, for this text.
fn output(host: &str, event: HookEvent, input: &str, text: &str) -> String {
    let host = by_name(host).unwrap();
    render(host, event, &HookInput::parse(host, input), &text.to_owned().into())
}

/// The output of a host's hook before a tool, for this decision.
fn decided(host: &str, input: &str, decision: ToolDecision) -> String {
    let host = by_name(host).unwrap();
    let text = HookText { decision: Some(decision), text: "Deploy on Tuesdays.".into() };
    render(host, HookEvent::BeforeTool, &HookInput::parse(host, input), &text)
}

/// The input of a host's hook.
fn sample(host: &str, event: HookEvent) -> String {
    let hook = by_name(host).and_then(|host| host.hooks.iter().find(|hook| hook.event == event));
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
#[expect(dead_code, reason = "only the accepted keys matter")]
struct Specific {
    hook_event_name: String,
    additional_context: Option<String>,
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    updated_input: Option<serde_json::Value>,
}

/// The output of Claude Code and Codex at SessionStart, UserPromptSubmit and PreToolUse; Codex rejects any other key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "only the accepted keys matter")]
struct WithContext {
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    suppress_output: Option<bool>,
    system_message: Option<String>,
    hook_specific_output: Specific,
}

/// The output of Claude Code, Codex, Gemini and Copilot at a stop.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "only the accepted keys matter")]
struct StopOutput {
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    suppress_output: Option<bool>,
    system_message: Option<String>,
    decision: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the accepted keys matter")]
struct CursorStart {
    r#continue: Option<bool>,
    additional_context: String,
    env: Option<serde_json::Value>,
    user_message: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the accepted keys matter")]
struct CursorStop {
    followup_message: String,
}

/// The output of Cursor before a tool or a command. A decision to allow would replace the user's.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the accepted keys matter")]
struct CursorTool {
    permission: Option<String>,
    user_message: Option<String>,
    agent_message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "only the accepted keys matter")]
struct CopilotContext {
    additional_context: String,
}

/// The decision of Copilot CLI before a tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "only the accepted keys matter")]
struct CopilotDecision {
    permission_decision: String,
    permission_decision_reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the accepted keys matter")]
struct OpencodeContext {
    context: String,
    decision: Option<String>,
}

fn parses<T: for<'a> Deserialize<'a>>(text: &str) -> Result<(), String> {
    serde_json::from_str::<T>(text).map(drop).map_err(|e| e.to_string())
}

/// Whether a host accepts this at this event.
fn accepted(host: &str, event: HookEvent, text: &str) -> Result<(), String> {
    let named = |name: &str| {
        let value: serde_json::Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let event = value["hookSpecificOutput"]["hookEventName"].as_str().unwrap_or_default().to_owned();
        parses::<WithContext>(text)?;
        if event == name { Ok(()) } else { Err(format!("{event} is not {name}")) }
    };
    let hook = by_name(host).and_then(|host| host.hooks.iter().find(|hook| hook.event == event));
    match (host, event) {
        (_, HookEvent::SessionEnd | HookEvent::BeforeCompaction) if host != "opencode" => Err("no output is read".into()),
        ("opencode", _) => parses::<OpencodeContext>(text),
        ("cursor", HookEvent::SessionStart) => parses::<CursorStart>(text),
        ("cursor", HookEvent::BeforeTool) => parses::<CursorTool>(text),
        ("cursor", HookEvent::Stop) => parses::<CursorStop>(text),
        ("copilot-cli", HookEvent::Stop) => parses::<StopOutput>(text),
        ("copilot-cli", HookEvent::BeforeTool) => parses::<CopilotContext>(text).or_else(|_| parses::<CopilotDecision>(text)),
        ("copilot-cli", _) => parses::<CopilotContext>(text),
        ("gemini", HookEvent::BeforeTool) => parses::<StopOutput>(text),
        (_, HookEvent::Stop) => parses::<StopOutput>(text),
        _ => named(hook.map_or("none", |hook| hook.name)),
    }
}

#[test]
fn every_host_gets_only_keys_it_accepts() {
    let mut shown = String::new();
    for host in HOSTS.iter().filter(|host| host.name != "vscode") {
        for hook in host.hooks {
            let out = output(host.name, hook.event, &sample(host.name, hook.event), "Deploy on Tuesdays.");
            if !out.is_empty() {
                assert_eq!(accepted(host.name, hook.event, &out), Ok(()), "{} {}: {out}", host.name, hook.name);
            }
            let is_silent = matches!(hook.delivery, Delivery::Ignored | Delivery::DecisionOnly);
            assert!(!out.is_empty() || is_silent, "{} {}", host.name, hook.name);
            shown += &format!("{} {}: {}\n", host.name, hook.name, out.trim_end());
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn every_host_gets_decisions_in_its_own_format() {
    let mut shown = String::new();
    for host in HOSTS {
        for hook in host.hooks.iter().filter(|hook| hook.event == HookEvent::BeforeTool) {
            // The two hooks of Cursor have the same event, and `sample` knows the first.
            let input = sample(host.name, hook.event).replace("beforeShellExecution", hook.name);
            let input = if host.name == "vscode" { sample("claude-code", hook.event) } else { input };
            for decision in [ToolDecision::Deny, ToolDecision::Ask] {
                let out = decided(host.name, &input, decision);
                if host.name != "vscode" {
                    assert_eq!(accepted(host.name, hook.event, &out), Ok(()), "{} {}: {out}", host.name, hook.name);
                }
                shown += &format!("{} {} {decision:?}: {}\n", host.name, hook.name, out.trim_end());
            }
        }
    }
    insta::assert_snapshot!(shown, @r#"
    claude-code PreToolUse Deny: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Deploy on Tuesdays."}}
    claude-code PreToolUse Ask: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Deploy on Tuesdays."}}
    codex PreToolUse Deny: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Deploy on Tuesdays."}}
    codex PreToolUse Ask: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Deploy on Tuesdays."}}
    gemini BeforeTool Deny: {"decision":"deny","reason":"Deploy on Tuesdays."}
    gemini BeforeTool Ask: {"decision":"deny","reason":"Deploy on Tuesdays."}
    cursor beforeShellExecution Deny: {"permission":"deny","agent_message":"Deploy on Tuesdays."}
    cursor beforeShellExecution Ask: {"permission":"ask","user_message":"Deploy on Tuesdays.","agent_message":"Deploy on Tuesdays."}
    cursor preToolUse Deny: {"permission":"deny","agent_message":"Deploy on Tuesdays."}
    cursor preToolUse Ask: {"permission":"deny","agent_message":"Deploy on Tuesdays."}
    vscode preToolUse Deny: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Deploy on Tuesdays."}}
    vscode preToolUse Ask: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Deploy on Tuesdays."}}
    opencode tool.execute.before Deny: {"decision":"deny","context":"Deploy on Tuesdays."}
    opencode tool.execute.before Ask: {"decision":"deny","context":"Deploy on Tuesdays."}
    copilot-cli preToolUse Deny: {"permissionDecision":"deny","permissionDecisionReason":"Deploy on Tuesdays."}
    copilot-cli preToolUse Ask: {"permissionDecision":"ask","permissionDecisionReason":"Deploy on Tuesdays."}
    "#);
}

#[test]
fn several_tool_calls_in_one_input_are_all_read() {
    let copilot = by_name("copilot-cli").unwrap();
    let input = r#"{"sessionId":"s","toolCalls":[{"id":"1","name":"bash","args":"{\"command\":\"ls\"}"},{"id":"2","name":"bash","args":{"command":"git push"}},5]}"#;
    let commands: Vec<_> = HookInput::parse(copilot, input).actions.into_iter().filter_map(|action| action.command).collect();
    assert_eq!(commands, ["ls", "git push"]);
}

#[test]
fn vs_code_is_recognized_by_its_input_to_the_shared_hooks() {
    let input = sample("claude-code", HookEvent::SessionStart);
    let out = output("copilot-cli", HookEvent::SessionStart, &input, "x");
    assert_eq!(out, "{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"additionalContext\":\"x\"}}\n");
    let out = output("copilot-cli", HookEvent::Stop, &input, "x");
    assert_eq!(out, "{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\",\"decision\":\"block\",\"reason\":\"x\"}}\n");
}

#[test]
fn blank_text_gives_no_output() {
    for host in HOSTS {
        for hook in host.hooks {
            for text in ["", " \n"] {
                assert_eq!(output(host.name, hook.event, &sample(host.name, hook.event), text), "");
            }
        }
    }
}

#[test]
fn no_input_makes_a_hook_fail() {
    for input in
        ["", "null", "[]", "{", "{\"prompt\":5,\"tool_name\":[],\"cwd\":{}}", "\u{feff}{}", "{\"tool_name\":\"x\",\"tool_input\":\"{\"}"]
    {
        for host in HOSTS {
            for hook in host.hooks {
                let out = output(host.name, hook.event, input, "x");
                assert!(out.is_empty() || accepted(host.name, hook.event, &out).is_ok() || host.name == "vscode", "{input}: {out}");
            }
        }
    }
}

#[test]
fn long_text_is_truncated_after_a_line_with_a_note() {
    let line = "- [A memory](a.md) — é what it is about\n";
    let out = output("claude-code", HookEvent::SessionStart, "{}", &line.repeat(1000));
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    let context = value["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(utf16_len(&out) <= MAX_UNITS && utf16_len(&out) > MAX_UNITS - 300);
    let left = 1000 - context.matches(line.trim_end()).count();
    let bytes = text::human_bytes((left * line.len()) as u64);
    let note = format!("[omitted: {left} lines, {bytes}, over the host's limit; search the memory for the rest]");
    assert_eq!(context.lines().last(), Some(note.as_str()));
}

#[test]
fn the_length_of_an_output_is_measured_in_json() {
    for text in [
        "\"quoted\" \\ \t\n".repeat(2000),
        "\u{1}".repeat(5000),
        "😀".repeat(9000),
        "x".repeat(20_000),
        format!("short\n{}", "y".repeat(20_000)),
    ] {
        for host in HOSTS.iter().filter(|host| !host.hooks.is_empty()) {
            let out = output(host.name, HookEvent::SessionStart, "{}", &text);
            let len = utf16_len(&out);
            assert!(len <= MAX_UNITS && len > MAX_UNITS - 300, "{}: {len} of {text:.20}", host.name);
            assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok());
        }
    }
}

#[test]
fn lone_surrogates_are_replaced() {
    let prompt = |text: &str| HookInput::parse(claude(), text).prompt.unwrap();
    for (half, replaced) in [
        (r"\ud83d", "\u{fffd}"),
        (r"\uDE00 x", "\u{fffd} x"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
        (r"\\ud83d \ud800", "\\ud83d \u{fffd}"),
        (r"\ud83d\n", "\u{fffd}\n"),
        (r"\ud83d\ude00 \udc00", "😀 \u{fffd}"),
    ] {
        assert_eq!(prompt(&format!("{{\"prompt\":\"Deploy {half}\"}}")), format!("Deploy {replaced}"), "{half}");
    }
    assert_eq!(HookInput::parse(claude(), r#"{"prompt":"\ud8"#), HookInput::default());
}

fn claude() -> &'static Host {
    by_name("claude-code").unwrap()
}

#[test]
fn tool_calls_of_every_host_are_understood() {
    let action = |host: &Host, text: &str| HookInput::parse(host, text).actions.remove(0);
    let tool_action = |tool: &str, command: Option<&str>, paths: &[&str], text: &str| ToolAction {
        tool: tool.into(),
        command: command.map(str::to_owned),
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        text: text.into(),
    };
    for (input, expected) in [
        (
            r#"{"tool_name":"Bash","tool_input":{"command":"git push","description":"Push"}}"#,
            tool_action("Bash", Some("git push"), &[], "Push\n"),
        ),
        (r#"{"tool_name":"Edit","tool_input":{"file_path":"/p/a.rs","old_string":"x"}}"#, tool_action("Edit", None, &["/p/a.rs"], "x\n")),
        (r#"{"tool_name":"shell","tool_input":{"command":["git","push"]}}"#, tool_action("shell", Some("git push"), &[], "")),
        (r#"{"tool_name":"run","tool_input":{"script":["git","push"]}}"#, tool_action("run", Some("git push"), &[], "")),
        (r#"{"toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}"#, tool_action("bash", Some("ls"), &[], "")),
        (r#"{"tool_name":"editFiles","tool_input":{"files":["a.ts","b.ts"]}}"#, tool_action("editFiles", None, &["a.ts", "b.ts"], "")),
        (r#"{"tool_name":"x","tool_input":"free text"}"#, tool_action("x", None, &[], "free text\n")),
        (r#"{"tool_name":"x"}"#, tool_action("x", None, &[], "")),
        (
            r#"{"tool_name":"shell","tool_input":{"command":["bash","-lc","git push && ls"]}}"#,
            tool_action("shell", Some("bash -lc 'git push && ls'"), &[], ""),
        ),
        (
            r#"{"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: a.rs\n+x\n*** Update File: b.rs\n*** Move to: c.rs\n@@\n-y\n*** Delete File: d e.rs\n*** End Patch"}}"#,
            tool_action("apply_patch", None, &["a.rs", "b.rs", "c.rs", "d e.rs"], "+x\n@@\n-y\n"),
        ),
        (
            r#"{"tool_name":"patch","tool_input":{"patchText":"*** Begin Patch\r\n*** Delete File: d.rs\r\n*** End Patch"}}"#,
            tool_action("patch", None, &["d.rs"], ""),
        ),
        (
            r#"{"tool_name":"shell","tool_input":{"command":["apply_patch","*** Begin Patch\n*** Update File: b.rs\n*** End Patch\n"]}}"#,
            tool_action("shell", Some("apply_patch"), &["b.rs"], ""),
        ),
        (
            r#"{"tool_name":"Bash","tool_input":{"command":"apply_patch <<'X'\n*** Begin Patch\n*** Update File: b.rs\n*** End Patch\nX"}}"#,
            tool_action("Bash", Some("apply_patch <<'X'\nX"), &["b.rs"], ""),
        ),
        (
            r#"{"hook_event_name":"beforeShellExecution","cursor_version":"3","command":"git push","cwd":"/p"}"#,
            tool_action("Shell", Some("git push"), &[], ""),
        ),
        (
            r#"{"hook_event_name":"preToolUse","cursor_version":"3","tool_name":"Write","tool_input":{"file_path":"/p/a.rs"}}"#,
            tool_action("Write", None, &["/p/a.rs"], ""),
        ),
    ] {
        let hosts = HOSTS.iter().filter(|host| !input.contains("cursor_version") || host.name == "cursor");
        hosts.for_each(|host| assert_eq!(action(host, input), expected, "{} {input}", host.name));
    }
    let twice = r#"{"hook_event_name":"preToolUse","cursor_version":"3","tool_name":"Shell","tool_input":{"command":"git push"}}"#;
    assert_eq!(HookInput::parse(by_name("cursor").unwrap(), twice).actions, [], "another event reports it");
}
