//! Hooks: the events at which a host runs memdir, and the output formats that several hosts share. Pure.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// An event at which a host runs memdir.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HookEvent {
    /// A conversation starts, or continues after compaction
    SessionStart,
    /// The user sent a message
    Prompt,
    /// A tool is about to run
    BeforeTool,
    /// A tool has run
    AfterTool,
    /// The agent finished its response
    Stop,
    /// The conversation ended
    SessionEnd,
    /// The host is about to compact the conversation
    BeforeCompaction,
}

impl HookEvent {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            HookEvent::SessionStart => "session-start",
            HookEvent::Prompt => "prompt",
            HookEvent::BeforeTool => "before-tool",
            HookEvent::AfterTool => "after-tool",
            HookEvent::Stop => "stop",
            HookEvent::SessionEnd => "session-end",
            HookEvent::BeforeCompaction => "before-compaction",
        }
    }
}

/// One event that memdir hooks into.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HookSpec {
    pub(crate) event: HookEvent,
    /// The host's name for the event.
    pub(crate) name: &'static str,
    /// The timeout: how long the host waits. The numbers are in the `HOOKS` of each host.
    pub(crate) timeout_secs: u64,
    /// Where the text of the hook's output goes, if it decides nothing. Before a tool, a rule of strength `tell` is shown this way.
    pub(crate) delivery: Delivery,
}

/// What a host does with the text of a hook's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Adds it to the model's context.
    Model,
    /// Adds it to the result of the tool, so that the model reads it after the tool has run.
    ToolResult,
    /// Adds it to the model's context in some versions.
    VersionDependent,
    /// Reads only decisions at this event.
    DecisionOnly,
    /// Does not read it.
    Ignored,
}

/// Declares a hook.
pub(super) const fn hook(event: HookEvent, name: &'static str, timeout_secs: u64, delivery: Delivery) -> HookSpec {
    HookSpec { event, name, timeout_secs, delivery }
}

/// What a hook decides about the tool that is about to run. The model reads the text of a denial as the tool's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolDecision {
    Deny,
    Ask,
}

impl ToolDecision {
    /// The value in the output of all hosts that have it.
    pub(super) fn name(self) -> &'static str {
        match self {
            ToolDecision::Deny => "deny",
            ToolDecision::Ask => "ask",
        }
    }
}

/// Text for a host, at an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HookReply<'a> {
    pub(crate) event: HookEvent,
    /// The event in the hook's input, which tells VS Code from Copilot CLI and the two events of Cursor before a command.
    pub(crate) input_event: Option<&'a str>,
    /// The decision that the text is the reason for; `None` lets the host decide.
    pub(crate) decision: Option<ToolDecision>,
    pub(crate) text: &'a str,
}

/// How the input of a hook describes the tool that is about to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolCall {
    /// By the tool's name and arguments, in the fields that hosts share.
    Named,
    /// As a command line without the name of a tool.
    Command { tool: &'static str, line: Option<String> },
    /// Another event reports the same call.
    Duplicate,
}

/// The output format of Claude Code, which others share.
pub(super) fn claude_output(reply: &HookReply<'_>) -> Option<Value> {
    match reply.event {
        HookEvent::SessionStart => Some(additional_context("SessionStart", reply.text)),
        HookEvent::Prompt => Some(additional_context("UserPromptSubmit", reply.text)),
        HookEvent::BeforeTool => Some(match reply.decision {
            None => additional_context("PreToolUse", reply.text),
            Some(decision) => json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": decision.name(), "permissionDecisionReason": reply.text,
            } }),
        }),
        HookEvent::AfterTool => Some(additional_context("PostToolUse", reply.text)),
        HookEvent::Stop => Some(block(reply.text)),
        HookEvent::SessionEnd | HookEvent::BeforeCompaction => None,
    }
}

/// Text for the model's context.
pub(super) fn additional_context(event: &str, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
}

/// Keeps the agent from stopping; it continues with this text as its next message.
pub(super) fn block(text: &str) -> Value {
    json!({ "decision": "block", "reason": text })
}
