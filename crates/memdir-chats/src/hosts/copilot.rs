//! Copilot CLI: one folder per session under `session-state/`, with the events of the session as JSONL. Only messages and the ends of
//! tool calls are read: a message lists the tools it calls.

use crate::{
    content::{Call, MessagePart, emit_parts},
    injected,
    json::{Flag, Obj, ObjectList, Str, Time},
    jsonl::{self, LineOutcome},
    results::{Excerpt, copilot_end},
    source::{ChatSource, Reader, SessionFile, SessionList, argv},
    transcript::{ChatEvent, EventSink, Flow, ReadOutcome, SessionInfo, TitleRank, TranscriptCursor},
    walk,
};
use memchr::memmem;
use memdir_core::{Result, Speaker};
use serde::Deserialize;
use std::path::PathBuf;

/// The transcripts of Copilot CLI.
pub const READER: Reader = Reader {
    name: "copilot-cli",
    open: |roots| Some(Box::new(CopilotSource { dir: roots.copilot_dir() })),
    resume: Some(|id| argv(&["copilot", "--resume", id])),
    resumes_in_project: true,
    resumes_by_session: true,
    is_transcript_of: None,
    rewrites: |_| false,
    scripts_look_alike: false,
};

/// The sessions below Copilot CLI's directory.
struct CopilotSource {
    dir: PathBuf,
}

impl ChatSource for CopilotSource {
    fn reader(&self) -> &'static Reader {
        &READER
    }

    fn sessions(&self) -> SessionList {
        let mut list = SessionList::default();
        for folder in walk::list(&self.dir.join("session-state"), &mut list.problems) {
            // A session without a message has no events yet.
            let events = folder.path.join("events.jsonl");
            list.sessions.extend(SessionFile::from_path(&READER, &folder.name, &events).filter(|_| folder.is_dir));
        }
        list
    }

    fn turns(&self, session: &SessionFile, from: &TranscriptCursor, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
        jsonl::each(session, from, sink, is_wanted, &mut parse_line)
    }
}

/// Types of events that are never decoded: the progress of tools, the output of hooks, and pieces of messages that follow as a whole.
const SKIPPED: [&[u8]; 6] = [
    b"tool.execution_start\"", b"tool.execution_p", b"tool.user_requested\"", b"hook.", b"assistant.message_delta\"",
    b"assistant.reasoning",
];

/// Whether a line may contain a turn or metadata, decided by the type of the event.
fn is_wanted(line: &[u8]) -> bool {
    const TYPE: &[u8] = b"{\"type\":\"";
    let kind = line.strip_prefix(TYPE).or_else(|| {
        // The type may follow the data; these bytes cannot occur inside a string, where quotation marks are escaped.
        let at = memmem::find(&line[..line.len().min(64)], &TYPE[1..])?;
        Some(&line[at + TYPE.len() - 1..])
    });
    !kind.is_some_and(|kind| SKIPPED.iter().any(|skipped| kind.starts_with(skipped)))
}

/// An event.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    id: Str<'a>,
    #[serde(default)]
    timestamp: Time,
    #[serde(borrow, default)]
    data: Obj<Data<'a>>,
    /// The sub-agent that emitted it.
    #[serde(borrow, default)]
    agent_id: Str<'a>,
}

/// The data of the events that are read.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow, default)]
    session_id: Str<'a>,
    #[serde(default)]
    start_time: Time,
    #[serde(borrow, default)]
    context: Obj<Context<'a>>,
    #[serde(borrow, default)]
    title: Str<'a>,
    #[serde(borrow, default)]
    content: Str<'a>,
    #[serde(borrow, default)]
    message_id: Str<'a>,
    #[serde(borrow, default)]
    tool_requests: ObjectList<Call<'a>>,
    /// The call by which the assistant started the sub-agent that speaks.
    #[serde(borrow, default)]
    parent_tool_call_id: Str<'a>,
    #[serde(default)]
    success: Succeeded,
    /// The call that ended, its result and its error.
    #[serde(borrow, default)]
    tool_call_id: Str<'a>,
    #[serde(default)]
    result: Excerpt,
    #[serde(borrow, default)]
    error: Obj<CallError<'a>>,
}

/// Why a tool call failed.
#[derive(Debug, Clone, Default, Deserialize)]
struct CallError<'a> {
    #[serde(borrow, default)]
    code: Str<'a>,
    #[serde(default)]
    message: Excerpt,
}

/// Where a session takes place.
#[derive(Debug, Clone, Default, Deserialize)]
struct Context<'a> {
    #[serde(borrow, default)]
    cwd: Str<'a>,
    #[serde(borrow, default)]
    branch: Str<'a>,
}

/// Whether something succeeded; absent in older versions, which recorded only what did.
#[derive(Deserialize)]
#[serde(transparent)]
struct Succeeded(Flag);

impl Default for Succeeded {
    fn default() -> Self {
        Succeeded(Flag(true))
    }
}

fn parse_line(raw: &[u8], line: u64, sink: &mut EventSink<'_>) -> Result<LineOutcome> {
    let event: Event<'_> = match serde_json::from_slice(raw) {
        Ok(event) => event,
        Err(error) => return Ok(LineOutcome::Bad(error)),
    };
    let Event { kind, id, timestamp: Time(at), data: Obj(Some(data)), agent_id } = event else { return Ok(LineOutcome::Next) };
    if agent_id.non_empty().is_some() || data.parent_tool_call_id.non_empty().is_some() {
        return Ok(LineOutcome::Next);
    }
    let flow = match kind.as_str() {
        "session.start" => {
            let context = data.context.0.unwrap_or_default();
            sink(ChatEvent::Info(SessionInfo {
                id: data.session_id.0,
                project_dir: context.cwd.0,
                branch: context.branch.0,
                started: data.start_time.0.or(at),
                ..SessionInfo::default()
            }))?
        }
        // Only the instructions of the agent say that it runs without a person.
        "system.message" if data.content.as_str().contains("running in non-interactive mode") => {
            sink(ChatEvent::Info(SessionInfo { is_scripted: true, ..SessionInfo::default() }))?
        }
        "session.title_changed" => {
            let title = data.title.0.map(|title| (TitleRank::Given, title));
            sink(ChatEvent::Info(SessionInfo { title, ..SessionInfo::default() }))?
        }
        "session.compaction_complete" if data.success.0.0 => sink(ChatEvent::Compacted(at))?,
        "tool.execution_complete" => {
            let error = data.error.0.unwrap_or_default();
            let excerpt = if error.message.head().is_empty() { &data.result } else { &error.message };
            sink(ChatEvent::CallEnd(copilot_end(data.tool_call_id.as_str(), data.success.0.0, error.code.as_str(), excerpt)))?
        }
        "abort" => sink(ChatEvent::Interrupted)?,
        "user.message" => {
            let typed = MessagePart::text(Speaker::User, injected::user_text(data.content.0.unwrap_or_default()));
            emit_parts(vec![typed], id.non_empty(), at, line, sink)?
        }
        "assistant.message" => {
            let message = if data.message_id.non_empty().is_some() { data.message_id } else { id };
            let mut parts = vec![MessagePart::text(Speaker::Assistant, data.content.0.unwrap_or_default())];
            parts.extend(data.tool_requests.0.into_iter().map(|call| MessagePart::call(call.into_part())));
            emit_parts(parts, message.non_empty(), at, line, sink)?
        }
        _ => Flow::Continue,
    };
    Ok(if flow == Flow::Stop { LineOutcome::Stop } else { LineOutcome::Next })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_output_is_skipped_by_its_first_bytes() {
        assert!(!is_wanted(br#"{"type":"tool.execution_start","data":{"arguments":"..."}}"#));
        assert!(!is_wanted(br#"{"id":"1","type":"hook.end","data":{}}"#));
        assert!(!is_wanted(br#"{"type":"assistant.message_delta","data":{}}"#));
        assert!(is_wanted(br#"{"type":"assistant.message","data":{}}"#));
        assert!(is_wanted(br#"{"type":"user.message","data":{"content":"\"type\":\"tool."}}"#));
    }
}
