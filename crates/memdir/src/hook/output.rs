//! The shape in which each host hears what is said at an event. A host that does not know a key may refuse all of them, so
//! each gets its own and no other.

use super::Input;
use crate::hosts::{Event, named};
use serde_json::{Value, json};

/// Characters of a whole answer, as it is written: hosts cut, or hide in a file, what is longer than 10,000.
pub(crate) const OUTPUT_CHARS: usize = 9_900;

/// The answer; nothing where the host cannot hear at this event.
pub(super) fn shape(host: &str, event: Event, input: &Input, said: &str) -> Option<Value> {
    match host {
        "claude-code" | "codex" => like_claude(claude_name(event)?, event, said),
        "gemini" => gemini(event, said),
        "cursor" => cursor(event, said),
        // Both programs read the same hooks file; only VS Code names the event in what it sends.
        "vscode" => vscode(event, said),
        "copilot-cli" if input.names_event => vscode(event, said),
        "copilot-cli" => copilot(event, said),
        "opencode" => Some(json!({ "context": said })),
        _ => None,
    }
}

/// The name by which Claude Code, Codex and VS Code know an event.
fn claude_name(event: Event) -> Option<&'static str> {
    let claude = named("claude-code")?;
    claude.hooks.iter().find(|hook| hook.event == event).map(|hook| hook.name)
}

fn like_claude(name: &str, event: Event, said: &str) -> Option<Value> {
    match event {
        Event::SessionStart | Event::Prompt | Event::BeforeTool => Some(context(name, said)),
        Event::Stop => Some(go_on(said)),
        Event::SessionEnd | Event::BeforeCompaction => None,
    }
}

fn gemini(event: Event, said: &str) -> Option<Value> {
    match event {
        Event::SessionStart => Some(context("SessionStart", said)),
        Event::Prompt => Some(context("BeforeAgent", said)),
        // Before a tool it listens to refusals only; what is said is shown to the person.
        Event::BeforeTool => Some(json!({ "systemMessage": said })),
        Event::Stop => Some(go_on(said)),
        Event::SessionEnd | Event::BeforeCompaction => None,
    }
}

fn cursor(event: Event, said: &str) -> Option<Value> {
    match event {
        Event::SessionStart => Some(json!({ "additional_context": said })),
        // Without a decision: one of ours would stand in for the person's.
        Event::BeforeTool => Some(json!({ "agent_message": said })),
        Event::Stop => Some(json!({ "followup_message": said })),
        Event::Prompt | Event::SessionEnd | Event::BeforeCompaction => None,
    }
}

fn vscode(event: Event, said: &str) -> Option<Value> {
    match event {
        Event::Stop => Some(json!({ "hookSpecificOutput": { "hookEventName": "Stop", "decision": "block", "reason": said } })),
        event => like_claude(claude_name(event)?, event, said),
    }
}

fn copilot(event: Event, said: &str) -> Option<Value> {
    match event {
        Event::SessionStart | Event::Prompt | Event::BeforeTool => Some(json!({ "additionalContext": said })),
        Event::Stop => Some(go_on(said)),
        Event::SessionEnd | Event::BeforeCompaction => None,
    }
}

fn context(name: &str, said: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": said } })
}

/// The agent goes on with this as its next message.
fn go_on(said: &str) -> Value {
    json!({ "decision": "block", "reason": said })
}
