//! Codex CLI: one rollout per session, by day, compressed when it is cold. Only the `response_item` family is read:
//! the events beside it say the same again. Instructions, context and reasoning are left out, sub-agents as well.

use super::{
    About, ChatSource, Cursor, Event, Flow, Found, Host, Rewind, SessionFile, Sink, Speaker, Taken, TitleRank, Turn, claude_code,
    content::{Call, Content, Part, call_text},
    json::{Args, Count, FromJson, Obj, Str, Time, loose},
    jsonl::{self, Raw, Step},
    noise, walk,
};
use memchr::memmem;
use memdir_core::base::error::{Error, Result};
use serde::{Deserialize, Deserializer};
use std::{
    borrow::Cow,
    collections::HashMap,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

/// Codex's conversations.
#[derive(Debug, Clone)]
pub struct Codex {
    dir: PathBuf,
}

impl Codex {
    /// Those under its home.
    pub fn new(dir: PathBuf) -> Self {
        Codex { dir }
    }
}

impl ChatSource for Codex {
    fn host(&self) -> Host {
        Host::Codex
    }

    fn sessions(&self) -> Found {
        let mut found = Found::default();
        let names = thread_names(&self.dir.join("session_index.jsonl"));
        for part in ["sessions", "archived_sessions"] {
            for file in walk::files(&self.dir.join(part), &mut found) {
                let Some(key) = rollout_key(&file.name) else { continue };
                // A thread that was taken back to an earlier point has several rollouts: `<thread>_<rollout>`.
                let id = key.split('_').next().unwrap_or(key);
                if let Some(mut session) = claude_code::session_file(Host::Codex, key, &file.path) {
                    session.id = id.to_owned();
                    session.title = names.get(id).map(|name| (TitleRank::Given, name.clone()));
                    found.sessions.push(session);
                }
            }
        }
        claude_code::each_once(&mut found);
        found
    }

    fn turns(&self, session: &SessionFile, from: &Cursor, sink: &mut Sink<'_>) -> Result<Taken> {
        match read(session, from, sink) {
            // Compressed, or unpacked again, since it was found.
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                read(&SessionFile { path: other_form(&session.path), ..session.clone() }, from, sink)
            }
            other => other,
        }
    }
}

/// The part of a rollout's file name that names it: what follows the time.
fn rollout_key(name: &str) -> Option<&str> {
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let rest = name.strip_suffix(".jsonl")?.strip_prefix("rollout-")?;
    // `2026-01-15T10-30-00-` before the id.
    Some(rest.get(20..).filter(|_| rest.as_bytes().get(10) == Some(&b'T')).unwrap_or(rest))
}

fn other_form(path: &Path) -> PathBuf {
    if path.extension().is_some_and(|extension| extension == "zst") {
        return path.with_extension("");
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".zst");
    name.into()
}

/// The names people gave to threads; the last one counts.
fn thread_names(index: &Path) -> HashMap<String, String> {
    #[derive(Deserialize)]
    struct Entry {
        id: String,
        thread_name: String,
    }
    let Ok(file) = std::fs::File::open(index) else { return HashMap::new() };
    BufReader::new(file)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str::<Entry>(&line).ok())
        .filter(|entry| !entry.thread_name.trim().is_empty())
        .map(|entry| (entry.id, entry.thread_name))
        .collect()
}

fn read(session: &SessionFile, from: &Cursor, sink: &mut Sink<'_>) -> Result<Taken> {
    let from = jsonl::begin(session, from, sink)?;
    let mut reader = Reader { begun: from.at > 0, ..Reader::default() };
    jsonl::each(session, &from, sink, wanted, &mut |raw, line, sink| reader.line(raw, line, sink))
}

/// Payloads that are never decoded: tool output and what repeats other records.
const SKIPPED: [&[u8]; 9] = [
    b"function_call_output\"",
    b"custom_tool_call_output\"",
    b"tool_search_output\"",
    b"reasoning\"",
    b"token_count\"",
    b"agent_reasoning",
    b"exec_command_",
    b"mcp_tool_call_",
    b"patch_apply_",
];

fn wanted(line: &[u8]) -> bool {
    // These bytes cannot occur within a text, where quotation marks are escaped.
    const PAYLOAD: &[u8] = b"\"payload\":{\"type\":\"";
    let head = &line[..line.len().min(256)];
    let Some(at) = memmem::find(head, PAYLOAD) else { return true };
    let kind = &line[at + PAYLOAD.len()..];
    !SKIPPED.iter().any(|skipped| kind.starts_with(skipped))
}

/// A line: an envelope with a payload, or in the oldest files the payload itself.
#[derive(Default, Deserialize)]
struct Record<'a> {
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
    #[serde(default)]
    arguments: Args,
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
    #[serde(default)]
    arguments: Args,
    #[serde(default)]
    input: Args,
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
    source: Source,
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
    command: Args,
    #[serde(default)]
    query: Args,
}

/// What started a session; an object that says so is a sub-agent.
#[derive(Default)]
struct Source {
    is_subagent: bool,
}

impl<'de> FromJson<'de> for Source {
    fn object<A: serde::de::MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let mut is_subagent = false;
        while let Some((key, _)) = object.next_entry::<Str<'de>, serde::de::IgnoredAny>()? {
            is_subagent |= key.as_str() == "subagent";
        }
        Ok(Source { is_subagent })
    }
}
loose!(Source);

#[derive(Default)]
struct Reader {
    /// The session's own description was met; further ones are copies from the thread it was forked from.
    begun: bool,
    is_subagent: bool,
    directory_told: bool,
}

impl Reader {
    fn line(&mut self, raw: Raw<'_>, line: u64, sink: &mut Sink<'_>) -> Result<Step> {
        let record: Record<'_> = match raw.decode() {
            Ok(record) => record,
            Err(error) => return Ok(Step::Bad(error)),
        };
        let at = record.timestamp.0;
        if record.kind.full().is_none() && record.payload.0.is_none() && !self.begun {
            self.begun = true;
            let branch = record.git.0.and_then(|git| git.branch.0);
            sink(Event::About(About { branch, started: at, ..About::default() }))?;
            return Ok(Step::Next);
        }
        match (record.kind.as_str(), record.payload.0) {
            ("session_meta", Some(payload)) => self.session(payload, at, sink),
            ("turn_context", Some(payload)) if !self.directory_told => {
                self.directory_told = payload.cwd.full().is_some();
                sink(Event::About(About { project_dir: payload.cwd.0, ..About::default() }))?;
                Ok(Step::Next)
            }
            ("compacted", _) => self.tell(Event::Compacted(at), sink),
            ("event_msg", Some(payload)) if payload.kind.as_str() == "thread_rolled_back" => {
                self.tell(Event::Rewind(Rewind::UserTurns(payload.num_turns.0.unwrap_or(0))), sink)
            }
            ("response_item", Some(payload)) => self.item(payload, at, line, sink),
            ("message" | "function_call", None) => {
                let (name, arguments, role, content) = (record.name, record.arguments, record.role, record.content);
                self.item(Payload { kind: record.kind, name, arguments, role, content, ..Payload::default() }, at, line, sink)
            }
            _ => Ok(Step::Next),
        }
    }

    fn tell(&self, event: Event<'_>, sink: &mut Sink<'_>) -> Result<Step> {
        if self.is_subagent {
            return Ok(Step::Next);
        }
        Ok(if sink(event)? == Flow::Stop { Step::Stop } else { Step::Next })
    }

    fn session(&mut self, meta: Payload<'_>, at: Option<jiff::Timestamp>, sink: &mut Sink<'_>) -> Result<Step> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(Step::Next);
        }
        self.is_subagent = meta.source.is_subagent || meta.parent_thread_id.full().is_some();
        self.directory_told = meta.cwd.full().is_some();
        let base = meta.history_base.0.and_then(|base| base.thread_id.0);
        self.tell(
            Event::About(About {
                id: meta.id.0,
                project_dir: meta.cwd.0,
                branch: meta.git.0.and_then(|git| git.branch.0),
                started: meta.timestamp.0.or(at),
                continues: base.or(meta.forked_from_id.0),
                ..About::default()
            }),
            sink,
        )
    }

    fn item(&mut self, item: Payload<'_>, at: Option<jiff::Timestamp>, line: u64, sink: &mut Sink<'_>) -> Result<Step> {
        let message = item.id.0.clone();
        let mut step = Step::Next;
        for (speaker, text) in parts(item) {
            let message = message.as_deref().map(Cow::Borrowed);
            if let Step::Stop = self.tell(Event::Turn(Turn { speaker, at, text, message, line }), sink)? {
                step = Step::Stop;
            }
        }
        Ok(step)
    }
}

/// What an item says.
fn parts(item: Payload<'_>) -> Vec<(Speaker, Cow<'_, str>)> {
    let call = |name: &str, args: &Args| vec![(Speaker::Tool, Cow::Owned(call_text(name, args)))];
    match item.kind.as_str() {
        "message" | "" => match item.role.as_str() {
            "user" => user_parts(item.content),
            "assistant" => {
                let mut said = claude_code::assistant_parts(item.content);
                if let Some(called) = item.function_call.0 {
                    said.extend(call(called.name.as_str(), &called.args));
                }
                said
            }
            _ => Vec::new(),
        },
        "function_call" => call(item.name.as_str(), &item.arguments),
        "custom_tool_call" => call(item.name.as_str(), &item.input),
        "local_shell_call" => call("shell", &item.action.0.unwrap_or_default().command),
        "web_search_call" => call("web_search", &item.action.0.unwrap_or_default().query),
        _ => Vec::new(),
    }
}

/// What the person typed: each item may be something that was put in.
fn user_parts(content: Content<'_>) -> Vec<(Speaker, Cow<'_, str>)> {
    let mut parts = content.parts;
    for part in &mut parts {
        if let Part::Text(text) = part {
            *text = noise::typed_in_codex(std::mem::take(text));
        }
    }
    parts.retain(|part| matches!(part, Part::Text(text) if !text.trim().is_empty()));
    let text = Content { parts }.text();
    if text.is_empty() { Vec::new() } else { vec![(Speaker::User, text)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rollouts_are_named_by_what_follows_the_time() {
        let id = "0199c5d0-aaaa-7bbb-8ccc-ddddeeeeffff";
        assert_eq!(rollout_key(&format!("rollout-2026-01-15T10-30-00-{id}.jsonl")), Some(id));
        assert_eq!(rollout_key(&format!("rollout-2026-01-15T10-30-00-{id}.jsonl.zst")), Some(id));
        assert_eq!(rollout_key("rollout-test.jsonl"), Some("test"));
        assert_eq!(rollout_key("history.jsonl"), None);
        assert_eq!(other_form(Path::new("/a/r.jsonl")), Path::new("/a/r.jsonl.zst"));
        assert_eq!(other_form(Path::new("/a/r.jsonl.zst")), Path::new("/a/r.jsonl"));
    }

    #[test]
    fn tool_output_is_passed_over_by_its_first_bytes() {
        assert!(!wanted(br#"{"timestamp":"x","type":"response_item","payload":{"type":"function_call_output","output":"..."}}"#));
        assert!(!wanted(br#"{"timestamp":"x","type":"event_msg","payload":{"type":"token_count"}}"#));
        assert!(wanted(br#"{"timestamp":"x","type":"response_item","payload":{"type":"function_call","name":"x"}}"#));
        assert!(wanted(br#"{"timestamp":"x","type":"response_item","payload":{"type":"message","role":"user"}}"#));
    }
}
