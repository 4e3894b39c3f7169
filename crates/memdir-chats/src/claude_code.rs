//! Claude Code: one JSONL file per session under `projects/<slug>/`. The slug is lossy and never decoded: the
//! directory comes from the records. Sub-agents' files, progress records and injected text are left out.

use super::{
    About, ChatSource, Cursor, Event, Flow, Found, Host, SessionFile, Sink, Speaker, Taken, TitleRank, Turn,
    content::{Content, Part},
    json::{Flag, FromJson, Obj, Str, Time, loose},
    jsonl::{self, Raw, Step},
    noise, walk,
};
use jiff::Timestamp;
use memchr::memchr2;
use memdir_core::base::error::{Problem, Result};
use serde::{Deserialize, Deserializer};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    path::PathBuf,
};

/// Claude Code's conversations.
#[derive(Debug, Clone)]
pub struct ClaudeCode {
    dirs: Vec<PathBuf>,
}

impl ClaudeCode {
    /// Those under its configuration directories.
    pub fn new(dirs: Vec<PathBuf>) -> Self {
        ClaudeCode { dirs }
    }
}

impl ChatSource for ClaudeCode {
    fn host(&self) -> Host {
        Host::ClaudeCode
    }

    fn sessions(&self) -> Found {
        let mut found = Found::default();
        for dir in &self.dirs {
            for project in walk::list(&dir.join("projects"), &mut found) {
                if !project.is_dir {
                    continue;
                }
                for file in walk::list(&project.path, &mut found) {
                    // Older versions keep sub-agents' files beside the session's.
                    let Some(id) = file.name.strip_suffix(".jsonl").filter(|id| !file.is_dir && !id.starts_with("agent-")) else {
                        continue;
                    };
                    found.sessions.extend(session_file(Host::ClaudeCode, id, &file.path));
                }
            }
        }
        each_once(&mut found);
        found
    }

    fn turns(&self, session: &SessionFile, from: &Cursor, sink: &mut Sink<'_>) -> Result<Taken> {
        read(session, from, sink, wanted)
    }
}

/// A session that is one file named by its id.
pub(super) fn session_file(host: Host, id: &str, path: &std::path::Path) -> Option<SessionFile> {
    Some(SessionFile {
        host,
        key: id.to_owned(),
        id: id.to_owned(),
        resume_id: None,
        path: path.to_owned(),
        stamp: walk::stamp(path)?,
        project_dir: None,
        title: None,
    })
}

/// Of sessions with one key, only the one that changed last stays.
pub(super) fn each_once(found: &mut Found) {
    let mut best: HashMap<String, (i64, usize)> = HashMap::new();
    for (i, session) in found.sessions.iter().enumerate() {
        let rank = (session.stamp.mtime_ns, i);
        let entry = best.entry(session.key.clone()).or_insert(rank);
        if rank.0 > entry.0 {
            *entry = rank;
        }
    }
    let mut i = 0;
    found.sessions.retain(|session| {
        i += 1;
        best.get(&session.key).is_some_and(|&(_, kept)| kept == i - 1)
    });
}

/// Reads lines of this shape, which Cursor and many exports share.
pub(super) fn read(session: &SessionFile, from: &Cursor, sink: &mut Sink<'_>, wanted: fn(&[u8]) -> bool) -> Result<Taken> {
    let from = jsonl::begin(session, from, sink)?;
    let typed: Typed = if session.host == Host::Cursor { noise::typed_in_cursor } else { noise::typed };
    let mut reader = Reader {
        before: from.newest,
        resumed: from.at > 0,
        newest: from.newest,
        seen: from.latest.iter().copied().collect(),
        latest: from.latest.clone(),
        ..Reader::new(typed)
    };
    let mut taken = jsonl::each(session, &from, sink, wanted, &mut |raw, line, sink| reader.line(raw, line, sink))?;
    (taken.cursor.newest, taken.cursor.latest) = (reader.newest, reader.latest);
    for (line, what) in reader.odd {
        taken.problem(Problem::at(line, what));
    }
    taken.problems.sort_by_key(|problem| problem.line);
    Ok(taken)
}

/// Whether a line can hold anything that counts, judged by the first fields of the record. About half of all lines
/// are progress reports of megabytes; none of them is decoded.
fn wanted(line: &[u8]) -> bool {
    let mut at = skip_space(line, 0);
    if line.get(at) != Some(&b'{') {
        return true;
    }
    at += 1;
    // Where the scan meets anything unexpected, decoding decides.
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

/// The string that opens here, as it is written, and where it ends.
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

/// A record, as far as it counts.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
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
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Origin<'a> {
    #[serde(borrow, default)]
    kind: Str<'a>,
}

#[derive(Default, Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Str<'a>,
    #[serde(borrow, default)]
    role: Str<'a>,
    #[serde(borrow, default)]
    content: Content<'a>,
}

/// The message, which broken writers have filled with other things.
#[derive(Default)]
enum MessageField<'a> {
    #[default]
    Absent,
    Odd,
    Is(Message<'a>),
}

impl<'de: 'a, 'a> FromJson<'de> for MessageField<'a> {
    fn text(_: Cow<'de, str>) -> Self {
        MessageField::Odd
    }
    fn object<A: serde::de::MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        Message::deserialize(serde::de::value::MapAccessDeserializer::new(object)).map(MessageField::Is)
    }
}
loose!(MessageField<'a>);

/// Takes out of a text what the person did not type.
type Typed = fn(Cow<'_, str>) -> Cow<'_, str>;

/// What reading remembers from line to line.
struct Reader {
    typed: Typed,
    /// Where reading goes on behind earlier turns: the latest time among them.
    before: Option<Timestamp>,
    resumed: bool,
    newest: Option<Timestamp>,
    /// Records told at that time.
    latest: Vec<u64>,
    /// Records told in this reading: Claude Code writes some twice.
    seen: HashSet<u64>,
    cwd: String,
    branch: String,
    odd: Vec<(u64, &'static str)>,
}

impl Reader {
    fn new(typed: Typed) -> Self {
        Reader {
            typed,
            before: None,
            resumed: false,
            newest: None,
            latest: Vec::new(),
            seen: HashSet::new(),
            cwd: String::new(),
            branch: String::new(),
            odd: Vec::new(),
        }
    }

    fn line(&mut self, raw: Raw<'_>, line: u64, sink: &mut Sink<'_>) -> Result<Step> {
        let record: Record<'_> = match raw.decode() {
            Ok(record) => record,
            Err(error) => return Ok(Step::Bad(error)),
        };
        match record.kind.as_str() {
            "summary" => title(TitleRank::Summary, record.summary, sink),
            "ai-title" => title(TitleRank::Given, record.ai_title, sink),
            "custom-title" => title(TitleRank::Person, record.custom_title, sink),
            "system" if record.subtype.as_str() == "compact_boundary" && !record.is_sidechain.0 => {
                if self.told_before(&record) {
                    return Ok(self.again());
                }
                if self.is_new(&record) {
                    sink(Event::Compacted(record.timestamp.0))?;
                }
                Ok(Step::Next)
            }
            _ => match record.speaker() {
                Some(speaker) => self.message(record, speaker, line, sink),
                None => Ok(Step::Next),
            },
        }
    }

    fn message(&mut self, record: Record<'_>, speaker: Speaker, line: u64, sink: &mut Sink<'_>) -> Result<Step> {
        self.about(&record, sink)?;
        if record.is_injected() {
            return Ok(Step::Next);
        }
        let turns = match record.turns(speaker, self.typed) {
            Ok(turns) => turns,
            Err(what) => {
                self.odd.push((line, what));
                return Ok(Step::Next);
            }
        };
        if turns.parts.is_empty() {
            return Ok(Step::Next);
        }
        if self.told_before(&turns.record) {
            return Ok(self.again());
        }
        if !self.is_new(&turns.record) {
            return Ok(Step::Next);
        }
        let mut flow = Flow::Continue;
        for (speaker, text) in turns.parts {
            let message = turns.message.as_deref().map(Cow::Borrowed);
            let told = sink(Event::Turn(Turn { speaker, at: turns.record.timestamp.0, text, message, line }))?;
            flow = if told == Flow::Stop { Flow::Stop } else { flow };
        }
        Ok(if flow == Flow::Stop { Step::Stop } else { Step::Next })
    }

    fn about(&mut self, record: &Record<'_>, sink: &mut Sink<'_>) -> Result<()> {
        let (cwd, branch) = (record.cwd.as_str(), record.git_branch.as_str());
        if (cwd.is_empty() || cwd == self.cwd) && (branch.is_empty() || branch == self.branch) {
            return Ok(());
        }
        for (new, old) in [(cwd, &mut self.cwd), (branch, &mut self.branch)] {
            if !new.is_empty() {
                new.clone_into(old);
            }
        }
        let full = |text: &'_ str| (!text.is_empty()).then(|| Cow::Owned(text.to_owned()));
        sink(Event::About(About { project_dir: full(cwd), branch: full(branch), started: record.timestamp.0, ..About::default() }))?;
        Ok(())
    }

    /// Whether the record may have been told in an earlier reading: a copy keeps its time. Those of the last moment are known.
    fn told_before(&self, record: &Record<'_>) -> bool {
        let is_old = record.timestamp.0.is_none_or(|at| self.before.is_some_and(|before| at < before));
        self.resumed && record.uuid.full().is_some() && is_old
    }

    /// Whether the record is told for the first time; remembers it.
    fn is_new(&mut self, record: &Record<'_>) -> bool {
        let id = record.uuid.full().map(hash);
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

    fn again(&mut self) -> Step {
        *self = Reader::new(self.typed);
        Step::Again
    }
}

/// A hash of a record's id that is the same in every version of memdir.
fn hash(id: &str) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(id.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(first)
}

fn title(rank: TitleRank, title: Str<'_>, sink: &mut Sink<'_>) -> Result<Step> {
    if let Some(title) = title.0.filter(|title| !title.trim().is_empty()) {
        sink(Event::About(About { title: Some((rank, title)), ..About::default() }))?;
    }
    Ok(Step::Next)
}

/// A record and what it says.
struct Told<'a> {
    record: Record<'a>,
    message: Option<String>,
    parts: Vec<(Speaker, Cow<'a, str>)>,
}

impl<'a> Record<'a> {
    /// Whether a program put this in.
    fn is_injected(&self) -> bool {
        self.is_meta.0
            || self.is_sidechain.0
            || self.is_api_error_message.0
            || self.is_compact_summary.0
            || self.is_visible_in_transcript_only.0
            || self.prompt_source.as_str() == "system"
            || self.origin.0.as_ref().and_then(|origin| origin.kind.full()).is_some_and(|kind| kind != "human")
    }

    /// Who speaks: the record's own type or role says so, or its message's role; nothing for other records.
    fn speaker(&self) -> Option<Speaker> {
        let of_message = match &self.message {
            MessageField::Is(message) => message.role.as_str(),
            _ => "",
        };
        [self.kind.as_str(), self.role.as_str(), of_message].into_iter().find_map(|name| match name {
            "user" | "human" => Some(Speaker::User),
            "assistant" | "ai" | "model" => Some(Speaker::Assistant),
            _ => None,
        })
    }

    fn turns(mut self, speaker: Speaker, typed: Typed) -> Result<Told<'a>, &'static str> {
        let (content, id) = match std::mem::take(&mut self.message) {
            MessageField::Is(message) => (message.content, message.id),
            MessageField::Odd => return Err("the message is not an object"),
            MessageField::Absent => (std::mem::take(&mut self.content), Str::default()),
        };
        let message = id.full().or(self.uuid.full()).map(str::to_owned);
        let parts = if speaker == Speaker::User { user_parts(content, typed) } else { assistant_parts(content) };
        Ok(Told { record: self, message, parts })
    }
}

/// What the person typed: one turn, however many blocks it came in.
fn user_parts(content: Content<'_>, typed: Typed) -> Vec<(Speaker, Cow<'_, str>)> {
    let mut parts = content.parts;
    for part in &mut parts {
        if let Part::Text(text) = part {
            *text = typed(std::mem::take(text));
        }
    }
    parts.retain(|part| matches!(part, Part::Text(text) if !text.trim().is_empty()));
    let text = Content { parts }.text();
    if text.is_empty() { Vec::new() } else { vec![(Speaker::User, text)] }
}

/// What the assistant said and called, in order.
pub(super) fn assistant_parts(content: Content<'_>) -> Vec<(Speaker, Cow<'_, str>)> {
    let part = |part| match part {
        Part::Text(text) if !noise::is_silence(&text) => Some((Speaker::Assistant, text)),
        Part::Call(call) => Some((Speaker::Tool, Cow::Owned(call))),
        Part::Text(_) | Part::Bare(_) => None,
    };
    content.parts.into_iter().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_type_of_the_record_itself_counts() {
        let progress = br#"{"parentUuid":"a","isSidechain":false,"cwd":"/x","type":"progress","data":{"type":"user"}}"#;
        assert!(!wanted(progress));
        assert!(!wanted(br#"{ "type" : "attachment", "x":1}"#));
        assert!(!wanted(br#"{"parentUuid":null,"isSidechain":true,"type":"user"}"#));
        for line in [
            &br#"{"parentUuid":"a","type":"user","message":{"content":[{"type":"progress"}]}}"#[..],
            br#"{"message":{"type":"progress"},"type":"assistant"}"#,
            br#"{"text":"\"type\":\"progress\"","type":"user"}"#,
            br#"{"role":"user","content":"hi"}"#,
            br#"{"type":"us"#,
            b"not json",
            b"42",
        ] {
            assert!(wanted(line), "{}", String::from_utf8_lossy(line));
        }
    }
}
