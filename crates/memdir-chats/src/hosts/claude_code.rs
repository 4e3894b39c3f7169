//! Claude Code: one JSONL file per session under `projects/<slug>/`. The slug is lossy and never decoded: the
//! directory comes from the records. Sub-agents' files, progress records and injected text are skipped.

use crate::{
    content::{Content, ContentPart, MessagePart, ResultPart, assistant_parts, emit_parts, user_parts},
    injected,
    json::{Flag, FromJson, Obj, Str, Time, loose},
    jsonl::{self, LineOutcome},
    results::claude_end,
    source::{ChatSource, Reader, SessionFile, SessionList, argv},
    transcript::{ChatEvent, EventSink, Flow, ReadOutcome, SessionInfo, TitleRank, TranscriptCursor},
    walk,
};
use jiff::Timestamp;
use memchr::memchr2;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{Problem, Result, Speaker};
use serde::{Deserialize, Deserializer};
use std::{borrow::Cow, collections::HashSet, path::PathBuf};

/// The transcripts of Claude Code.
pub const READER: Reader = Reader {
    name: "claude-code",
    open: |roots| Some(Box::new(ClaudeCodeSource { dirs: roots.claude_dirs() })),
    resume: Some(|id| argv(&["claude", "--resume", id])),
    resumes_in_project: true,
    resumes_by_session: true,
    is_transcript_of: None,
    rewrites: |_| false,
    scripts_look_alike: false,
};

/// The sessions below Claude Code's configuration directories.
struct ClaudeCodeSource {
    dirs: Vec<PathBuf>,
}

impl ChatSource for ClaudeCodeSource {
    fn reader(&self) -> &'static Reader {
        &READER
    }

    fn sessions(&self) -> SessionList {
        let mut list = SessionList::default();
        for dir in &self.dirs {
            for project in walk::list(&dir.join("projects"), &mut list.problems) {
                if !project.is_dir {
                    continue;
                }
                for file in walk::list(&project.path, &mut list.problems) {
                    // Older versions write sub-agents' files beside the session's.
                    let Some(id) = file.name.strip_suffix(".jsonl").filter(|id| !file.is_dir && !id.starts_with("agent-")) else {
                        continue;
                    };
                    list.sessions.extend(SessionFile::from_path(&READER, id, &file.path));
                }
            }
        }
        list.dedup();
        list
    }

    fn turns(&self, session: &SessionFile, from: &TranscriptCursor, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
        read(session, from, sink, is_wanted, injected::user_text)
    }
}

/// Reads JSONL of this format, which Cursor and many exports share. `user_text` removes injected text from what the user typed.
pub(super) fn read(
    session: &SessionFile,
    from: &TranscriptCursor,
    sink: &mut EventSink<'_>,
    is_wanted: fn(&[u8]) -> bool,
    user_text: UserText,
) -> Result<ReadOutcome> {
    let from = jsonl::begin(session, from, sink)?;
    let mut parser = ClaudeParser {
        before: from.newest,
        resumed: from.at > 0,
        newest: from.newest,
        seen: from.latest.iter().copied().collect(),
        latest: from.latest.clone(),
        ..ClaudeParser::new(user_text)
    };
    let mut outcome = jsonl::each(session, &from, sink, is_wanted, &mut |raw, line, sink| parser.line(raw, line, sink))?;
    (outcome.cursor.newest, outcome.cursor.latest) = (parser.newest, parser.latest);
    for (line, what) in parser.malformed {
        outcome.add_problem(Problem::at(line, what));
    }
    outcome.problems.shared_sort_by_key(|problem| problem.line);
    Ok(outcome)
}

/// Whether a line may contain a turn or metadata, decided by the first fields of the record. About half of all lines
/// are progress reports of megabytes; none of them is decoded.
fn is_wanted(line: &[u8]) -> bool {
    let mut at = skip_space(line, 0);
    if line.get(at) != Some(&b'{') {
        return true;
    }
    at += 1;
    // Anything unexpected is left to the decoder.
    for _ in 0..32 {
        let Some((key, after_key)) = string_at(line, skip_space(line, at)) else { return true };
        let colon = skip_space(line, after_key);
        if line.get(colon) != Some(&b':') {
            return true;
        }
        let value = skip_space(line, colon + 1);
        at = match line.get(value) {
            Some(b'"') => {
                let Some((text, after)) = string_at(line, value) else { return true };
                if key == b"type" {
                    return matches!(text, b"user" | b"assistant" | b"system" | b"summary" | b"ai-title" | b"custom-title");
                }
                after
            }
            Some(b't') if matches!(key, b"isSidechain" | b"isMeta") => return false,
            Some(b't' | b'f' | b'n' | b'-' | b'0'..=b'9') => {
                value + line[value..].iter().position(|byte| matches!(byte, b',' | b'}')).unwrap_or(0)
            }
            _ => return true,
        };
        at = skip_space(line, at);
        if line.get(at) != Some(&b',') {
            return true;
        }
        at += 1;
    }
    true
}

fn skip_space(line: &[u8], at: usize) -> usize {
    line.get(at..).and_then(|rest| rest.iter().position(|byte| !byte.is_ascii_whitespace())).map_or(line.len(), |skip| at + skip)
}

/// Returns the raw content of the string literal that starts at `at`, and the offset after it.
fn string_at(line: &[u8], at: usize) -> Option<(&[u8], usize)> {
    if line.get(at) != Some(&b'"') {
        return None;
    }
    let mut end = at + 1;
    loop {
        end += memchr2(b'"', b'\\', line.get(end..)?)?;
        if line[end] == b'"' {
            return Some((&line[at + 1..end], end + 1));
        }
        end += 2;
    }
}

/// The fields of a record that are read.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeRecord<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    role: Str<'a>,
    #[serde(borrow, default)]
    subtype: Str<'a>,
    #[serde(borrow, default)]
    uuid: Str<'a>,
    #[serde(default)]
    timestamp: Time,
    #[serde(borrow, default)]
    cwd: Str<'a>,
    #[serde(borrow, default)]
    git_branch: Str<'a>,
    #[serde(default)]
    is_meta: Flag,
    #[serde(default)]
    is_sidechain: Flag,
    #[serde(default)]
    is_api_error_message: Flag,
    #[serde(default)]
    is_compact_summary: Flag,
    #[serde(default)]
    is_visible_in_transcript_only: Flag,
    #[serde(borrow, default)]
    prompt_source: Str<'a>,
    #[serde(borrow, default)]
    entrypoint: Str<'a>,
    #[serde(borrow, default)]
    origin: Obj<Origin<'a>>,
    #[serde(borrow, default)]
    message: MessageField<'a>,
    #[serde(borrow, default)]
    content: Content<'a>,
    #[serde(borrow, default)]
    summary: Str<'a>,
    #[serde(borrow, default)]
    ai_title: Str<'a>,
    #[serde(borrow, default)]
    custom_title: Str<'a>,
    #[serde(borrow, default)]
    tool_use_result: UseResult<'a>,
}

/// What a record says about the result of a tool besides the result itself: an error text, or whether the tool was interrupted.
#[derive(Default)]
struct UseResult<'a> {
    text: Option<Cow<'a, str>>,
    is_interrupted: bool,
}

impl<'de: 'a, 'a> FromJson<'de> for UseResult<'a> {
    fn text(text: Cow<'de, str>) -> Self {
        UseResult { text: Some(text), is_interrupted: false }
    }
    fn object<A: serde::de::MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        #[derive(Default, Deserialize)]
        struct Interrupted {
            #[serde(default)]
            interrupted: Flag,
        }
        let found = Interrupted::deserialize(serde::de::value::MapAccessDeserializer::new(object))?;
        Ok(UseResult { text: None, is_interrupted: found.interrupted.0 })
    }
}
loose!(UseResult<'a>);

#[derive(Clone, Debug, Default, Deserialize)]
struct Origin<'a> {
    #[serde(borrow, default)]
    kind: Str<'a>,
}

#[derive(Default, Deserialize)]
struct ClaudeMessage<'a> {
    #[serde(borrow, default)]
    id: Str<'a>,
    #[serde(borrow, default)]
    role: Str<'a>,
    #[serde(borrow, default)]
    content: Content<'a>,
}

/// The message, which some writers have filled with other values than an object.
#[derive(Default)]
enum MessageField<'a> {
    #[default]
    Absent,
    Malformed,
    Object(ClaudeMessage<'a>),
}

impl<'de: 'a, 'a> FromJson<'de> for MessageField<'a> {
    fn text(_: Cow<'de, str>) -> Self {
        MessageField::Malformed
    }
    fn object<A: serde::de::MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        ClaudeMessage::deserialize(serde::de::value::MapAccessDeserializer::new(object)).map(MessageField::Object)
    }
}
loose!(MessageField<'a>);

/// Removes injected text from what the user typed.
pub(super) type UserText = fn(Cow<'_, str>) -> Cow<'_, str>;

/// Parses the lines of a transcript, and carries the state between them.
struct ClaudeParser {
    user_text: UserText,
    /// The latest time among the turns of earlier calls.
    before: Option<Timestamp>,
    resumed: bool,
    newest: Option<Timestamp>,
    /// Records with exactly that time.
    latest: Vec<u64>,
    /// Records emitted in this call: Claude Code writes some twice.
    seen: HashSet<u64>,
    cwd: String,
    branch: String,
    is_scripted: bool,
    malformed: Vec<(u64, &'static str)>,
}

impl ClaudeParser {
    fn new(user_text: UserText) -> Self {
        ClaudeParser {
            user_text,
            before: None,
            resumed: false,
            newest: None,
            latest: Vec::new(),
            seen: HashSet::new(),
            cwd: String::new(),
            branch: String::new(),
            is_scripted: false,
            malformed: Vec::new(),
        }
    }

    fn line(&mut self, raw: &[u8], line: u64, sink: &mut EventSink<'_>) -> Result<LineOutcome> {
        let record: ClaudeRecord<'_> = match serde_json::from_slice(raw) {
            Ok(record) => record,
            Err(error) => return Ok(LineOutcome::Bad(error)),
        };
        match record.kind.as_str() {
            "summary" => title(TitleRank::Summary, record.summary, sink),
            "ai-title" => title(TitleRank::Given, record.ai_title, sink),
            "custom-title" => title(TitleRank::Person, record.custom_title, sink),
            "system" if record.subtype.as_str() == "compact_boundary" && !record.is_sidechain.0 => {
                if self.may_be_repeated(&record) {
                    return Ok(self.restart());
                }
                if self.is_new(&record) {
                    sink(ChatEvent::Compacted(record.timestamp.0))?;
                }
                Ok(LineOutcome::Next)
            }
            _ => match record.speaker() {
                Some(speaker) => self.message(record, speaker, line, sink),
                None => Ok(LineOutcome::Next),
            },
        }
    }

    fn message(&mut self, record: ClaudeRecord<'_>, speaker: Speaker, line: u64, sink: &mut EventSink<'_>) -> Result<LineOutcome> {
        self.info(&record, sink)?;
        if record.is_injected() {
            return Ok(LineOutcome::Next);
        }
        let turns = match record.turns(speaker, self.user_text) {
            Ok(turns) => turns,
            Err(what) => {
                self.malformed.push((line, what));
                return Ok(LineOutcome::Next);
            }
        };
        // A result says the same however often it is read, so copies of its record do no harm.
        for ResultPart { id, excerpt, is_error } in &turns.results {
            let besides = &turns.record.tool_use_result;
            let end = claude_end(id, excerpt, *is_error, besides.is_interrupted, besides.text.as_deref().unwrap_or_default());
            sink(ChatEvent::CallEnd(end))?;
        }
        if turns.is_interruption {
            sink(ChatEvent::Interrupted)?;
        }
        if turns.parts.is_empty() {
            return Ok(LineOutcome::Next);
        }
        if self.may_be_repeated(&turns.record) {
            return Ok(self.restart());
        }
        if !self.is_new(&turns.record) {
            return Ok(LineOutcome::Next);
        }
        let flow = emit_parts(turns.parts, turns.message.as_deref(), turns.record.timestamp.0, line, sink)?;
        Ok(if flow == Flow::Stop { LineOutcome::Stop } else { LineOutcome::Next })
    }

    fn info(&mut self, record: &ClaudeRecord<'_>, sink: &mut EventSink<'_>) -> Result<()> {
        let (cwd, branch) = (record.cwd.as_str(), record.git_branch.as_str());
        let is_scripted = record.is_scripted() && !std::mem::replace(&mut self.is_scripted, true);
        if !is_scripted && (cwd.is_empty() || cwd == self.cwd) && (branch.is_empty() || branch == self.branch) {
            return Ok(());
        }
        for (new, old) in [(cwd, &mut self.cwd), (branch, &mut self.branch)] {
            if !new.is_empty() {
                new.clone_into(old);
            }
        }
        let non_empty = |text: &'_ str| (!text.is_empty()).then(|| Cow::Owned(text.to_owned()));
        sink(ChatEvent::Info(SessionInfo {
            project_dir: non_empty(cwd),
            branch: non_empty(branch),
            started: record.timestamp.0,
            is_scripted,
            ..SessionInfo::default()
        }))?;
        Ok(())
    }

    /// Whether the record may have been emitted in an earlier call: a copy keeps its time. The records with the latest time are
    /// known by their ids.
    fn may_be_repeated(&self, record: &ClaudeRecord<'_>) -> bool {
        let is_old = record.timestamp.0.is_none_or(|at| self.before.is_some_and(|before| at < before));
        self.resumed && record.uuid.non_empty().is_some() && is_old
    }

    /// Whether the record is read for the first time; remembers it.
    fn is_new(&mut self, record: &ClaudeRecord<'_>) -> bool {
        let id = record.uuid.non_empty().map(hash);
        if id.is_some_and(|id| !self.seen.insert(id)) {
            return false;
        }
        if record.timestamp.0 > self.newest {
            self.newest = record.timestamp.0;
            self.latest.clear();
        }
        if record.timestamp.0.is_some() && record.timestamp.0 == self.newest {
            self.latest.extend(id);
        }
        true
    }

    fn restart(&mut self) -> LineOutcome {
        *self = ClaudeParser::new(self.user_text);
        LineOutcome::Restart
    }
}

/// Hashes a record's id. The hash is stored in cursors, so it must stay the same in every version of memdir.
fn hash(id: &str) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(id.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(first)
}

fn title(rank: TitleRank, title: Str<'_>, sink: &mut EventSink<'_>) -> Result<LineOutcome> {
    if let Some(title) = title.0.filter(|title| !title.trim().is_empty()) {
        sink(ChatEvent::Info(SessionInfo { title: Some((rank, title)), ..SessionInfo::default() }))?;
    }
    Ok(LineOutcome::Next)
}

/// A record and its turns.
struct RecordTurns<'a> {
    record: ClaudeRecord<'a>,
    message: Option<String>,
    parts: Vec<MessagePart<'a>>,
    /// The results of earlier calls.
    results: Vec<ResultPart>,
    /// Whether the host notes here that the person interrupted the calls.
    is_interruption: bool,
}

impl<'a> ClaudeRecord<'a> {
    /// Whether a program, not a person, wrote this record.
    fn is_injected(&self) -> bool {
        self.is_meta.0
            || self.is_sidechain.0
            || self.is_api_error_message.0
            || self.is_compact_summary.0
            || self.is_visible_in_transcript_only.0
            || self.prompt_source.as_str() == "system"
            || self.origin.0.as_ref().and_then(|origin| origin.kind.non_empty()).is_some_and(|kind| kind != "human")
    }

    /// Whether the prompt came from `claude -p` or a program that uses the SDK.
    fn is_scripted(&self) -> bool {
        // Editors send what a person typed through the SDK too; they name themselves.
        self.entrypoint.non_empty().map_or(self.prompt_source.as_str() == "sdk", |entrypoint| entrypoint.starts_with("sdk-"))
    }

    /// Returns the speaker: by the record's own type or role, or by its message's role. `None` for other records.
    fn speaker(&self) -> Option<Speaker> {
        let message_role = match &self.message {
            MessageField::Object(message) => message.role.as_str(),
            _ => "",
        };
        [self.kind.as_str(), self.role.as_str(), message_role].into_iter().find_map(|name| match name {
            "user" | "human" => Some(Speaker::User),
            "assistant" | "ai" | "model" => Some(Speaker::Assistant),
            _ => None,
        })
    }

    fn turns(mut self, speaker: Speaker, user_text: UserText) -> Result<RecordTurns<'a>, &'static str> {
        let (content, id) = match std::mem::take(&mut self.message) {
            MessageField::Object(message) => (message.content, message.id),
            MessageField::Malformed => return Err("`message` is not a JSON object"),
            MessageField::Absent => (std::mem::take(&mut self.content), Str::default()),
        };
        let message = id.non_empty().or(self.uuid.non_empty()).map(str::to_owned);
        let (mut results, mut is_interruption) = (Vec::new(), false);
        let mut content = content;
        content.parts.retain_mut(|part| match part {
            ContentPart::Result(result) => {
                results.push(std::mem::take(&mut **result));
                false
            }
            ContentPart::Text(text) => {
                is_interruption |= speaker == Speaker::User && text.starts_with("[Request interrupted by user");
                true
            }
            ContentPart::Bare(_) | ContentPart::Call(_) => true,
        });
        let parts = if speaker == Speaker::User { user_parts(content, user_text) } else { assistant_parts(content) };
        Ok(RecordTurns { record: self, message, parts, results, is_interruption })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_type_of_the_record_itself_counts() {
        let progress = br#"{"parentUuid":"a","isSidechain":false,"cwd":"/x","type":"progress","data":{"type":"user"}}"#;
        assert!(!is_wanted(progress));
        assert!(!is_wanted(br#"{ "type" : "attachment", "x":1}"#));
        assert!(!is_wanted(br#"{"parentUuid":null,"isSidechain":true,"type":"user"}"#));
        for line in [
            &br#"{"parentUuid":"a","type":"user","message":{"content":[{"type":"progress"}]}}"#[..],
            br#"{"message":{"type":"progress"},"type":"assistant"}"#,
            br#"{"text":"\"type\":\"progress\"","type":"user"}"#,
            br#"{"role":"user","content":"hi"}"#,
            br#"{"type":"us"#,
            b"not json",
            b"42",
        ] {
            assert!(is_wanted(line), "{}", String::from_utf8_lossy(line));
        }
    }
}
