//! Codex CLI: one rollout file per session, in folders by day, compressed after a while. Only the `response_item` family is read:
//! the events beside it repeat the same content. Instructions, context, reasoning and sub-agents are skipped.

use crate::{
    content::{Call, CallPart, Content, MessagePart, assistant_parts, emit_parts, user_parts},
    injected,
    json::{CallArguments, Count, FromJson, Obj, Str, Time, loose},
    jsonl::{self, LineOutcome},
    results::{Excerpt, codex_end},
    source::{ChatSource, Reader, SessionFile, SessionList, argv},
    transcript::{ChatEvent, EventSink, Flow, ReadOutcome, Rewind, SessionInfo, TitleRank, TranscriptCursor},
    walk,
};
use memchr::memmem;
use memdir_core::{Error, Result};
use serde::{Deserialize, Deserializer};
use std::{
    borrow::Cow,
    collections::HashMap,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

/// The transcripts of Codex CLI.
pub const READER: Reader = Reader {
    name: "codex",
    open: |roots| Some(Box::new(CodexSource { dir: roots.codex_dir() })),
    resume: Some(|id| argv(&["codex", "resume", id])),
    resumes_in_project: true,
    resumes_by_session: true,
    is_transcript_of: None,
    rewrites: |_| false,
    scripts_look_alike: false,
};

/// The rollouts below Codex's home directory.
struct CodexSource {
    dir: PathBuf,
}

impl ChatSource for CodexSource {
    fn reader(&self) -> &'static Reader {
        &READER
    }

    fn sessions(&self) -> SessionList {
        let mut list = SessionList::default();
        let names = thread_names(&self.dir.join("session_index.jsonl"));
        for part in ["sessions", "archived_sessions"] {
            for file in walk::files(&self.dir.join(part), &mut list.problems) {
                let Some(key) = rollout_key(&file.name) else { continue };
                // A thread that was rewound has several rollouts: `<thread>_<rollout>`.
                let id = key.split('_').next().unwrap_or(key);
                if let Some(mut session) = SessionFile::from_path(&READER, key, &file.path) {
                    session.id = id.to_owned();
                    session.title = names.get(id).map(|name| (TitleRank::Given, name.clone()));
                    list.sessions.push(session);
                }
            }
        }
        list.dedup();
        list
    }

    fn turns(&self, session: &SessionFile, from: &TranscriptCursor, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
        match read(session, from, sink) {
            // It was compressed or decompressed after it was listed.
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                read(&SessionFile { path: compression_twin(&session.path), ..session.clone() }, from, sink)
            }
            other => other,
        }
    }
}

/// Returns the key of a rollout: the part of its file name after the time.
pub(crate) fn rollout_key(name: &str) -> Option<&str> {
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let rest = name.strip_suffix(".jsonl")?.strip_prefix("rollout-")?;
    // The id follows `2026-01-15T10-30-00-`.
    Some(rest.get(20..).filter(|_| rest.as_bytes().get(10) == Some(&b'T')).unwrap_or(rest))
}

/// Returns the path of the same rollout compressed, or of the uncompressed one if it is compressed.
fn compression_twin(path: &Path) -> PathBuf {
    if path.extension().is_some_and(|extension| extension == "zst") {
        return path.with_extension("");
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".zst");
    name.into()
}

/// Reads the names that users gave to threads; the last entry of a thread counts.
fn thread_names(index: &Path) -> HashMap<String, String> {
    #[derive(Deserialize)]
    struct IndexLine {
        id: String,
        thread_name: String,
    }
    let Ok(file) = std::fs::File::open(index) else { return HashMap::new() };
    BufReader::new(file)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_slice::<IndexLine>(line.as_bytes()).ok())
        .filter(|entry| !entry.thread_name.trim().is_empty())
        .map(|entry| (entry.id, entry.thread_name))
        .collect()
}

fn read(session: &SessionFile, from: &TranscriptCursor, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
    let from = jsonl::begin(session, from, sink)?;
    let mut parser = CodexParser { has_meta: from.at > 0, ..CodexParser::default() };
    jsonl::each(session, &from, sink, is_wanted, &mut |raw, line, sink| parser.line(raw, line, sink))
}

/// Payloads that are never decoded: results of searches, and events that repeat other records.
const SKIPPED: [&[u8]; 7] =
    [b"tool_search_output\"", b"reasoning\"", b"token_count\"", b"agent_reasoning", b"exec_command_", b"mcp_tool_call_", b"patch_apply_"];

/// Whether a line may contain a turn or metadata, decided by the type of its payload.
fn is_wanted(line: &[u8]) -> bool {
    // These bytes cannot occur inside a string, where quotation marks are escaped.
    const PAYLOAD: &[u8] = b"\"payload\":{\"type\":\"";
    let head = &line[..line.len().min(256)];
    let Some(at) = memmem::find(head, PAYLOAD) else { return true };
    let kind = &line[at + PAYLOAD.len()..];
    !SKIPPED.iter().any(|skipped| kind.starts_with(skipped))
}

/// A line: an envelope with a payload, or the payload itself in the oldest files.
#[derive(Default, Deserialize)]
struct CodexRecord<'a> {
    #[serde(default)]
    timestamp: Time,
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    payload: Obj<Payload<'a>>,
    #[serde(borrow, default)]
    role: Str<'a>,
    #[serde(borrow, default)]
    content: Content<'a>,
    #[serde(borrow, default)]
    name: Str<'a>,
    #[serde(borrow, default)]
    call_id: Str<'a>,
    #[serde(default)]
    arguments: CallArguments,
    #[serde(default)]
    output: Excerpt,
    #[serde(borrow, default)]
    git: Obj<Git<'a>>,
}

#[derive(Default, Deserialize)]
struct Payload<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(default)]
    timestamp: Time,
    #[serde(borrow, default)]
    id: Str<'a>,
    #[serde(borrow, default)]
    role: Str<'a>,
    #[serde(borrow, default)]
    content: Content<'a>,
    #[serde(borrow, default)]
    function_call: Obj<Call<'a>>,
    #[serde(borrow, default)]
    name: Str<'a>,
    #[serde(borrow, default)]
    call_id: Str<'a>,
    #[serde(default)]
    output: Excerpt,
    #[serde(default)]
    arguments: CallArguments,
    #[serde(default)]
    input: CallArguments,
    #[serde(default)]
    action: Obj<Action>,
    #[serde(default)]
    num_turns: Count,
    #[serde(borrow, default)]
    cwd: Str<'a>,
    #[serde(borrow, default)]
    git: Obj<Git<'a>>,
    #[serde(borrow, default)]
    history_base: Obj<Base<'a>>,
    #[serde(borrow, default)]
    forked_from_id: Str<'a>,
    #[serde(borrow, default)]
    parent_thread_id: Str<'a>,
    #[serde(default)]
    source: SessionSource,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Git<'a> {
    #[serde(borrow, default)]
    branch: Str<'a>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Base<'a> {
    #[serde(borrow, default)]
    thread_id: Str<'a>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Action {
    #[serde(default)]
    command: CallArguments,
    #[serde(default)]
    query: CallArguments,
}

/// What started a session: a name, or an object with the key `subagent` if it was a sub-agent.
#[derive(Default)]
struct SessionSource {
    is_subagent: bool,
    /// Whether it was a program: `codex exec`, or a client of its server.
    is_script: bool,
}

impl<'de> FromJson<'de> for SessionSource {
    fn text(text: Cow<'de, str>) -> Self {
        SessionSource { is_subagent: false, is_script: matches!(&*text, "exec" | "mcp") }
    }
    fn object<A: serde::de::MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let mut is_subagent = false;
        while let Some((key, _)) = object.next_entry::<Str<'de>, serde::de::IgnoredAny>()? {
            is_subagent |= key.as_str() == "subagent";
        }
        Ok(SessionSource { is_subagent, is_script: false })
    }
}
loose!(SessionSource);

/// Parses the lines of a rollout, and carries the state between them.
#[derive(Default)]
struct CodexParser {
    /// Whether the session's own metadata was read; any further metadata was copied from the thread it was forked from.
    has_meta: bool,
    is_subagent: bool,
    has_directory: bool,
}

impl CodexParser {
    fn line(&mut self, raw: &[u8], line: u64, sink: &mut EventSink<'_>) -> Result<LineOutcome> {
        let record: CodexRecord<'_> = match serde_json::from_slice(raw) {
            Ok(record) => record,
            Err(error) => return Ok(LineOutcome::Bad(error)),
        };
        let at = record.timestamp.0;
        if record.kind.non_empty().is_none() && record.payload.0.is_none() && !self.has_meta {
            self.has_meta = true;
            let branch = record.git.0.and_then(|git| git.branch.0);
            sink(ChatEvent::Info(SessionInfo { branch, started: at, ..SessionInfo::default() }))?;
            return Ok(LineOutcome::Next);
        }
        let mut record = record;
        match (record.kind.as_str(), record.payload.0.take()) {
            ("session_meta", Some(payload)) => self.session(payload, at, sink),
            ("turn_context", Some(payload)) if !self.has_directory => {
                self.has_directory = payload.cwd.non_empty().is_some();
                sink(ChatEvent::Info(SessionInfo { project_dir: payload.cwd.0, ..SessionInfo::default() }))?;
                Ok(LineOutcome::Next)
            }
            ("compacted", _) => self.emit(ChatEvent::Compacted(at), sink),
            ("event_msg", Some(payload)) if payload.kind.as_str() == "thread_rolled_back" => {
                self.emit(ChatEvent::Rewind(Rewind::UserTurns(payload.num_turns.0.unwrap_or(0))), sink)
            }
            ("event_msg", Some(payload)) if payload.kind.as_str() == "turn_aborted" => self.emit(ChatEvent::Interrupted, sink),
            ("response_item", Some(payload)) => self.item(payload, at, line, sink),
            ("message" | "function_call" | "function_call_output", None) => {
                let CodexRecord { kind, name, call_id, arguments, output, role, content, .. } = record;
                self.item(Payload { kind, name, call_id, arguments, output, role, content, ..Payload::default() }, at, line, sink)
            }
            _ => Ok(LineOutcome::Next),
        }
    }

    fn emit(&self, event: ChatEvent<'_>, sink: &mut EventSink<'_>) -> Result<LineOutcome> {
        if self.is_subagent {
            return Ok(LineOutcome::Next);
        }
        Ok(if sink(event)? == Flow::Stop { LineOutcome::Stop } else { LineOutcome::Next })
    }

    fn session(&mut self, meta: Payload<'_>, at: Option<jiff::Timestamp>, sink: &mut EventSink<'_>) -> Result<LineOutcome> {
        if std::mem::replace(&mut self.has_meta, true) {
            return Ok(LineOutcome::Next);
        }
        self.is_subagent = meta.source.is_subagent || meta.parent_thread_id.non_empty().is_some();
        self.has_directory = meta.cwd.non_empty().is_some();
        let base = meta.history_base.0.and_then(|base| base.thread_id.0);
        self.emit(
            ChatEvent::Info(SessionInfo {
                id: meta.id.0,
                project_dir: meta.cwd.0,
                branch: meta.git.0.and_then(|git| git.branch.0),
                started: meta.timestamp.0.or(at),
                continues: base.or(meta.forked_from_id.0),
                is_scripted: meta.source.is_script,
                ..SessionInfo::default()
            }),
            sink,
        )
    }

    fn item(&mut self, item: Payload<'_>, at: Option<jiff::Timestamp>, line: u64, sink: &mut EventSink<'_>) -> Result<LineOutcome> {
        if self.is_subagent {
            return Ok(LineOutcome::Next);
        }
        if matches!(item.kind.as_str(), "function_call_output" | "custom_tool_call_output") {
            return self.emit(ChatEvent::CallEnd(codex_end(item.call_id.as_str(), &item.output)), sink);
        }
        let message = item.id.0.clone();
        let flow = emit_parts(parts(item), message.as_deref(), at, line, sink)?;
        Ok(if flow == Flow::Stop { LineOutcome::Stop } else { LineOutcome::Next })
    }
}

/// Returns the turns of an item.
fn parts(item: Payload<'_>) -> Vec<MessagePart<'_>> {
    let id = item.call_id;
    let call = |name: &str, args: CallArguments| vec![MessagePart::call(CallPart::new(name, id.as_str(), args))];
    match item.kind.as_str() {
        "message" | "" => match item.role.as_str() {
            "user" => user_parts(item.content, injected::codex_user_text),
            "assistant" => {
                let mut parts = assistant_parts(item.content);
                parts.extend(item.function_call.0.map(|called| MessagePart::call(called.into_part())));
                parts
            }
            _ => Vec::new(),
        },
        "function_call" => call(item.name.as_str(), item.arguments),
        "custom_tool_call" => call(item.name.as_str(), item.input),
        "local_shell_call" => call("shell", item.action.0.unwrap_or_default().command),
        "web_search_call" => call("web_search", item.action.0.unwrap_or_default().query),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_rollout_follows_the_time() {
        let id = "0199c5d0-aaaa-7bbb-8ccc-ddddeeeeffff";
        assert_eq!(rollout_key(&format!("rollout-2026-01-15T10-30-00-{id}.jsonl")), Some(id));
        assert_eq!(rollout_key(&format!("rollout-2026-01-15T10-30-00-{id}.jsonl.zst")), Some(id));
        assert_eq!(rollout_key("rollout-test.jsonl"), Some("test"));
        assert_eq!(rollout_key("history.jsonl"), None);
        assert_eq!(compression_twin(Path::new("/a/r.jsonl")), Path::new("/a/r.jsonl.zst"));
        assert_eq!(compression_twin(Path::new("/a/r.jsonl.zst")), Path::new("/a/r.jsonl"));
    }

    #[test]
    fn tool_output_is_skipped_by_its_first_bytes() {
        assert!(!is_wanted(br#"{"timestamp":"x","type":"response_item","payload":{"type":"tool_search_output","output":"..."}}"#));
        assert!(!is_wanted(br#"{"timestamp":"x","type":"event_msg","payload":{"type":"token_count"}}"#));
        assert!(is_wanted(br#"{"timestamp":"x","type":"response_item","payload":{"type":"function_call","name":"x"}}"#));
        assert!(is_wanted(br#"{"timestamp":"x","type":"response_item","payload":{"type":"message","role":"user"}}"#));
    }
}
