//! Gemini CLI: one JSONL file per session (one JSON object in older versions) under `tmp/<project>/chats/`. A message may be
//! written again and the user may rewind, so a session that changed is always read from its beginning.
//!
//! Since version 0.61 all messages at once are what the model is sent (at the start, after a compression, after an aborted turn), not
//! the conversation: that is in the records of single messages. Without any of these, all messages at once are the conversation.

use crate::{
    content::{CallPart, Content, ContentPart, MessagePart, assistant_parts, emit_parts},
    evidence::CallEnd,
    injected,
    json::{CallArguments, FromJson, Obj, ObjectList, Str, Time, loose, repair},
    jsonl::{self, LineOutcome},
    project::folder_below,
    results::{Excerpt, gemini_end},
    short_strings::ShortStrings,
    source::{ChatSource, Reader, SessionFile, SessionList, argv},
    transcript::{ChatEvent, EventSink, ReadOutcome, Rewind, SessionInfo, TitleRank, TranscriptCursor},
    walk,
};
use memdir_core::{Error, Problem, Result, Speaker};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess},
};
use sha2::{Digest as _, Sha256};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

/// Returns what the user typed of a message, without the text of hooks that Gemini CLI puts into it; empty if nothing was typed.
pub fn typed_text(message: &str) -> Cow<'_, str> {
    injected::gemini_user_text(Cow::Borrowed(message))
}

/// The transcripts of Gemini CLI.
pub const READER: Reader = Reader {
    name: "gemini",
    open: |roots| Some(Box::new(GeminiSource { dir: roots.gemini_dir() })),
    resume: Some(|id| argv(&["gemini", "--resume", id])),
    resumes_in_project: true,
    resumes_by_session: true,
    // Older versions name the folder after the hash of the directory, which says nothing about directories below it.
    is_transcript_of: Some(|transcript, dir| folder_below(transcript, "tmp").is_some_and(|name| sha256(dir) == name)),
    rewrites: |_| true,
    scripts_look_alike: true,
};

/// The sessions below Gemini CLI's directory.
struct GeminiSource {
    dir: PathBuf,
}

impl ChatSource for GeminiSource {
    fn reader(&self) -> &'static Reader {
        &READER
    }

    fn sessions(&self) -> SessionList {
        let mut list = SessionList::default();
        let directories = project_directories(&self.dir.join("projects.json"));
        for project in walk::list(&self.dir.join("tmp"), &mut list.problems) {
            let directory = project_root(&project.path).or_else(|| directories.get(&project.name).cloned());
            let files = walk::list(&project.path.join("chats"), &mut list.problems);
            let names: HashSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
            for file in &files {
                // Sub-agents' sessions are in subfolders.
                let Some((key, extension)) = file.name.rsplit_once('.').filter(|_| !file.is_dir && file.name.starts_with("session-"))
                else {
                    continue;
                };
                // A resumed session in the older format continues in a file in the newer one, which repeats it.
                let is_superseded = extension == "json" && names.contains(format!("{key}.jsonl").as_str());
                if matches!(extension, "json" | "jsonl") && !is_superseded {
                    let session = SessionFile::from_path(&READER, key, &file.path);
                    list.sessions.extend(session.map(|session| SessionFile { project_dir: directory.clone(), ..session }));
                }
            }
        }
        list.dedup();
        list
    }

    fn turns(&self, session: &SessionFile, from: &TranscriptCursor, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
        if from.at > 0 {
            sink(ChatEvent::Restart)?;
        }
        if session.path.extension().is_some_and(|extension| extension == "json") {
            return read_object(session, sink);
        }
        let mut parser = GeminiParser::default();
        jsonl::each_to_the_end(session, sink, |_| true, &mut |raw, line, sink| parser.line(raw, line, sink))
    }
}

fn sha256(path: &Path) -> String {
    Sha256::digest(path.as_os_str().as_encoded_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads the directory of a project from its folder.
fn project_root(folder: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(folder.join(".project_root")).ok()?;
    Some(PathBuf::from(text.trim())).filter(|path| path.is_absolute())
}

/// Reads the registry of projects: their directories by their names.
fn project_directories(registry: &Path) -> HashMap<String, PathBuf> {
    #[derive(Deserialize)]
    struct Registry {
        projects: HashMap<String, String>,
    }
    let read = || serde_json::from_slice::<Registry>(&walk::read(registry).ok()?).ok();
    read().map_or_else(HashMap::new, |registry| registry.projects.into_iter().map(|(dir, name)| (name, dir.into())).collect())
}

/// Reads the older format: the whole session in one object, rewritten each time.
fn read_object(session: &SessionFile, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
    let file = fs::File::open(&session.path).map_err(|source| Error::io("read", &session.path, source))?;
    let mut outcome =
        ReadOutcome { cursor: TranscriptCursor { at: session.stamp.size.max(1), ..TranscriptCursor::default() }, ..ReadOutcome::default() };
    let mut whole = |bytes: &[u8]| serde_json::from_slice(bytes).map(|meta| GeminiParser::default().whole(meta, sink));
    let record = ShortStrings::new(file).read_record().map_err(serde_json::Error::io);
    let read = record.and_then(|bytes| whole(&bytes).or_else(|error| whole(&repair(&bytes).unwrap_or_default()).map_err(|_| error)));
    match read {
        Ok(read) => read?,
        Err(error) => outcome.add_problem(Problem::at(error.line().max(1) as u64, jsonl::describe("session", &error))),
    }
    Ok(outcome)
}

/// Any line: a message, metadata of the session, a change of it, or a rewind.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiRecord<'a> {
    #[serde(borrow, default, rename = "$rewindTo")]
    rewind_to: Str<'a>,
    #[serde(borrow, default, rename = "$set")]
    set: Obj<Meta<'a>>,
    #[serde(borrow, default)]
    id: Str<'a>,
    #[serde(default)]
    timestamp: Time,
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    content: Content<'a>,
    #[serde(borrow, default)]
    display_content: Content<'a>,
    #[serde(borrow, default)]
    tool_calls: ObjectList<EndedCall<'a>>,
    #[serde(borrow, default)]
    session_id: Str<'a>,
    #[serde(default)]
    start_time: Time,
    #[serde(borrow, default)]
    summary: Str<'a>,
    #[serde(borrow, default)]
    directories: First<'a>,
    #[serde(borrow, default, rename = "kind")]
    session_kind: Str<'a>,
}

/// The metadata of a session; in the older format with all its messages.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    #[serde(borrow, default)]
    session_id: Str<'a>,
    #[serde(default)]
    start_time: Time,
    #[serde(borrow, default)]
    summary: Str<'a>,
    #[serde(borrow, default)]
    directories: First<'a>,
    #[serde(borrow, default)]
    kind: Str<'a>,
    #[serde(borrow, default)]
    messages: ObjectList<GeminiMessage<'a>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiMessage<'a> {
    #[serde(borrow, default)]
    id: Str<'a>,
    #[serde(default)]
    timestamp: Time,
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    content: Content<'a>,
    #[serde(borrow, default)]
    display_content: Content<'a>,
    #[serde(borrow, default)]
    tool_calls: ObjectList<EndedCall<'a>>,
}

/// A tool call with its result.
#[derive(Clone, Debug, Default, Deserialize)]
struct EndedCall<'a> {
    #[serde(borrow, default)]
    id: Str<'a>,
    #[serde(borrow, default)]
    name: Str<'a>,
    #[serde(default)]
    args: CallArguments,
    #[serde(borrow, default)]
    status: Str<'a>,
    #[serde(default)]
    result: ObjectList<FunctionResult>,
}

/// One part of a result.
#[derive(Clone, Debug, Default, Deserialize)]
struct FunctionResult {
    #[serde(default, rename = "functionResponse")]
    response: Obj<FunctionResponse>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct FunctionResponse {
    #[serde(default)]
    response: Excerpt,
}

impl EndedCall<'_> {
    /// Returns how the call ended. Ids are unique within one conversation only if they are those of calls.
    fn end(&self) -> CallEnd<'_> {
        let excerpt = self.result.0.first().and_then(|result| result.response.0.as_ref()).map(|response| response.response.clone());
        gemini_end(self.id.as_str(), self.status.as_str(), &excerpt.unwrap_or_default())
    }
}

/// The first string of a list.
#[derive(Clone, Debug, Default)]
struct First<'a>(Option<Cow<'a, str>>);

impl<'de: 'a, 'a> FromJson<'de> for First<'a> {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let first = list.next_element::<Str<'a>>()?.and_then(|first| first.0);
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(First(first))
    }
}
loose!(First<'a>);

/// Parses the lines of a session, and carries the state between them.
#[derive(Default)]
struct GeminiParser {
    /// The ids of the messages so far, and whether each has a turn.
    seen: HashMap<String, bool>,
    is_subagent: bool,
    /// The metadata emitted so far.
    known: SessionInfo<'static>,
    /// Whether there was a record of a single message; records of all messages are then ignored.
    has_single: bool,
}

impl GeminiParser {
    fn line(&mut self, raw: &[u8], line: u64, sink: &mut EventSink<'_>) -> Result<LineOutcome> {
        let record: GeminiRecord<'_> = match serde_json::from_slice(raw) {
            Ok(record) => record,
            Err(error) => return Ok(LineOutcome::Bad(error)),
        };
        if let Some(id) = record.rewind_to.non_empty() {
            // After a compression the id may be that of a copy, which is not in the conversation.
            if self.seen.get(id) == Some(&true) {
                sink(ChatEvent::Rewind(Rewind::To(id)))?;
            }
        } else if record.id.non_empty().is_some() {
            let GeminiRecord { id, timestamp, kind, content, display_content, tool_calls, .. } = record;
            self.has_single = true;
            self.message(GeminiMessage { id, timestamp, kind, content, display_content, tool_calls }, line, sink)?;
        } else if let Some(mut meta) = record.set.0 {
            if self.has_single {
                meta.messages.0.clear();
            }
            if !meta.messages.0.is_empty() && !self.seen.is_empty() {
                self.seen.clear();
                sink(ChatEvent::Restart)?;
                // The metadata of the session is still valid.
                sink(ChatEvent::Info(self.known.clone()))?;
            }
            self.whole(meta, sink)?;
        } else if record.session_id.non_empty().is_some() {
            let GeminiRecord { session_id, start_time, summary, directories, session_kind: kind, .. } = record;
            self.info(Meta { session_id, start_time, summary, directories, kind, ..Meta::default() }, sink)?;
        }
        // A session cannot be resumed in the middle, so reading never stops before its end.
        Ok(LineOutcome::Next)
    }

    fn whole(&mut self, mut meta: Meta<'_>, sink: &mut EventSink<'_>) -> Result<()> {
        let messages = std::mem::take(&mut meta.messages.0);
        self.info(meta, sink)?;
        messages.into_iter().try_for_each(|message| self.message(message, 0, sink))
    }

    fn info(&mut self, meta: Meta<'_>, sink: &mut EventSink<'_>) -> Result<()> {
        self.is_subagent |= meta.kind.as_str() == "subagent";
        let title = meta.summary.0.filter(|summary| !summary.trim().is_empty()).map(|summary| (TitleRank::Given, summary));
        let (id, project_dir, started) = (meta.session_id.0, meta.directories.0, meta.start_time.0);
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(|text| Cow::Owned(text.to_owned()));
        let known = &mut self.known;
        known.id = owned(&id).or(known.id.take());
        known.project_dir = owned(&project_dir).or(known.project_dir.take());
        known.started = started.or(known.started);
        known.title = title.as_ref().map(|(rank, title)| (*rank, Cow::Owned(title.clone().into_owned()))).or(known.title.take());
        sink(ChatEvent::Info(SessionInfo { id, title, project_dir, started, ..SessionInfo::default() }))?;
        Ok(())
    }

    fn message(&mut self, message: GeminiMessage<'_>, line: u64, sink: &mut EventSink<'_>) -> Result<()> {
        if self.is_subagent {
            return Ok(());
        }
        let (at, id) = (message.timestamp.0, message.id.0.clone());
        let calls = message.tool_calls.0.clone();
        let parts = parts(message);
        if let Some(id) = id.as_deref().filter(|id| !id.is_empty())
            && self.seen.insert(id.to_owned(), !parts.is_empty()).is_some()
        {
            sink(ChatEvent::Replace(id))?;
        }
        emit_parts(parts, id.as_deref(), at, line, sink)?;
        calls.iter().filter(|call| call.id.non_empty().is_some()).try_for_each(|call| sink(ChatEvent::CallEnd(call.end())).map(drop))
    }
}

/// Returns the turns of a message.
fn parts(message: GeminiMessage<'_>) -> Vec<MessagePart<'_>> {
    match message.kind.as_str() {
        "user" => {
            // The displayed text is what was typed; the content may have files inserted.
            let shown = with_bare_text(message.display_content).into_text();
            let written = if shown.trim().is_empty() { with_bare_text(message.content).into_text() } else { shown };
            let text = injected::gemini_user_text(written);
            if text.trim().is_empty() { Vec::new() } else { vec![MessagePart::text(Speaker::User, text)] }
        }
        "gemini" => {
            let mut parts = assistant_parts(with_bare_text(message.content));
            let calls = message.tool_calls.0.into_iter();
            parts.extend(calls.map(|call| MessagePart::call(CallPart::new(call.name.as_str(), call.id.as_str(), call.args))));
            parts
        }
        _ => Vec::new(),
    }
}

/// Turns the bare strings of a content list into text: Gemini CLI writes text that way.
fn with_bare_text(content: Content<'_>) -> Content<'_> {
    let parts =
        content.parts.into_iter().map(|part| if let ContentPart::Bare(text) = part { ContentPart::Text(text) } else { part }).collect();
    Content { parts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::SessionProject;

    #[test]
    fn a_directory_is_recognized_by_its_hash() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("work/app")).unwrap();
        std::os::unix::fs::symlink(root.join("work"), root.join("link")).unwrap();
        let (real, linked) = (root.join("work/app"), root.join("link/app"));
        let transcript = PathBuf::from("/g/tmp").join(sha256(&real)).join("chats/session-1.json");
        let session = SessionProject { host: &READER, dir: None, transcript: &transcript };
        assert!(session.is_in(&real) && session.is_in(&linked) && !session.is_in(&root));
    }
}
