//! OpenClaw: one SQLite database per agent, JSONL files in older installations, both with the same entries. Deleted
//! sessions are skipped, sessions that were reset are read; sub-agents and heartbeats are not conversations.

use crate::{
    content::{Content, MessagePart, assistant_parts, emit_parts, user_parts},
    injected,
    json::{Flag, Obj, Str, Time},
    jsonl::{self, LineOutcome},
    results::{Excerpt, openclaw_end},
    short_strings::ShortStrings,
    source::{ChatSource, Reader, SessionFile, SessionList, argv},
    sqlite::{self, OpenDatabase, ReadOnlyDatabase, through_sql},
    transcript::{ChatEvent, EventSink, Flow, ReadOutcome, SessionInfo, TitleRank, TranscriptCursor},
    walk,
};
use memdir_core::{Problem, Result, Stamp};
use serde::Deserialize;
use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
};

/// The transcripts of OpenClaw. Its sessions belong to an agent, not to a directory, and are resumed by their session key.
pub const READER: Reader = Reader {
    name: "openclaw",
    open: |roots| Some(Box::new(OpenclawSource { dir: roots.openclaw_dir(), database: OpenDatabase::default() })),
    resume: Some(|key| argv(&["openclaw", "tui", "--session", key])),
    resumes_in_project: false,
    resumes_by_session: false,
    is_transcript_of: None,
    rewrites: |_| false,
    scripts_look_alike: false,
};

/// The path of an agent's database in the agent's directory.
const DATABASE: &str = "agent/openclaw-agent.sqlite";

/// The sessions below OpenClaw's state directory.
struct OpenclawSource {
    dir: PathBuf,
    database: OpenDatabase,
}

impl ChatSource for OpenclawSource {
    fn reader(&self) -> &'static Reader {
        &READER
    }

    fn stamp(&self) -> Option<String> {
        let (mut problems, mut parts) = (Vec::new(), Vec::new());
        for agent in walk::list(&self.dir.join("agents"), &mut problems) {
            parts.push(sqlite::stamp(&agent.path.join(DATABASE)));
            let files = walk::list(&agent.path.join("sessions"), &mut problems);
            parts.extend(files.iter().map(|file| format!("{} {}", file.name, sqlite::stamp(&file.path))));
        }
        problems.is_empty().then(|| blake3::hash(parts.join("\n").as_bytes()).to_hex().to_string())
    }

    fn sessions(&self) -> SessionList {
        let mut list = SessionList::default();
        for agent in walk::list(&self.dir.join("agents"), &mut list.problems) {
            let before = list.sessions.len();
            let path = agent.path.join(DATABASE);
            if path.is_file()
                && let Err(error) = self.database.with(&path, |database| list_rows(database, &path, &mut list))
            {
                list.problems.push(Problem::whole(error.to_string()));
            }
            list_files(&agent.path.join("sessions"), &mut list);
            // Ids are unique per agent only; those of the default agent stay without a prefix.
            for session in list.sessions.iter_mut().skip(before).filter(|_| agent.name != "main") {
                session.key = format!("{}.{}", agent.name, session.key);
            }
        }
        list.dedup();
        list
    }

    fn turns(&self, session: &SessionFile, from: &TranscriptCursor, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
        if session.path.extension().is_some_and(|extension| extension == "sqlite") {
            return self.database.with(&session.path, |database| read_rows(database, session, from, sink));
        }
        jsonl::each(session, from, sink, |_| true, &mut |raw, line, sink| entry(raw, line, sink))
    }
}

/// An entry of `sessions.json`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenClawSession<'a> {
    #[serde(borrow, default)]
    session_id: Str<'a>,
    #[serde(borrow, default)]
    label: Str<'a>,
    #[serde(borrow, default)]
    display_name: Str<'a>,
}

fn is_subagent(key: &str) -> bool {
    key.contains(":subagent:") || key.starts_with("subagent:")
}

/// Lists the sessions in the older format: `<id>.jsonl`, and `<id>.jsonl.reset.<time>` for a session before its reset.
fn list_files(dir: &Path, list: &mut SessionList) {
    let index = walk::read(&dir.join("sessions.json")).unwrap_or_default();
    let entries: HashMap<String, Obj<OpenClawSession<'_>>> = serde_json::from_slice(&index).unwrap_or_default();
    let by_id: HashMap<&str, (&str, &OpenClawSession<'_>)> = entries
        .iter()
        .filter_map(|(key, entry)| entry.0.as_ref().map(|entry| (entry.session_id.as_str(), (key.as_str(), entry))))
        .collect();
    for file in walk::list(dir, &mut list.problems) {
        let Some((id, rest)) =
            file.name.split_once(".jsonl").filter(|(_, rest)| !file.is_dir && (rest.is_empty() || rest.starts_with(".reset.")))
        else {
            continue;
        };
        let known = by_id.get(id);
        if known.is_some_and(|(key, _)| is_subagent(key)) {
            continue;
        }
        let Some(mut session) = SessionFile::from_path(&READER, id, &file.path) else { continue };
        if !rest.is_empty() {
            session.key = format!("{id}{}", rest.replace(':', "-"));
        } else if let Some((key, entry)) = known {
            session.resume_id = Some((*key).to_owned());
            session.title = entry.label.non_empty().or(entry.display_name.non_empty()).map(|title| (TitleRank::Given, title.to_owned()));
        }
        list.sessions.push(session);
    }
}

/// Lists the sessions of the database. Other tables were renamed between versions; that of the events was not.
fn list_rows(database: &ReadOnlyDatabase, path: &Path, list: &mut SessionList) -> Result<()> {
    let keys = session_keys(database)?;
    let rows = database.rows(
        "SELECT session_id, COUNT(*), COALESCE(MAX(created_at), 0), COALESCE(MAX(seq), 0) FROM transcript_events GROUP BY session_id ORDER BY session_id",
        &[],
        |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?)),
    )?;
    for (id, count, newest, last) in rows {
        let known = keys.get(&id);
        if known.is_some_and(|known| is_subagent(&known.0)) {
            continue;
        }
        list.sessions.push(SessionFile {
            host: &READER,
            key: id.clone(),
            id,
            resume_id: known.map(|known| known.0.clone()),
            path: path.to_owned(),
            stamp: Stamp { size: count.unsigned_abs(), mtime_ns: newest.saturating_mul(1_000_000), ctime_ns: last, inode: 0 },
            project_dir: None,
            title: known.and_then(|known| known.1.clone()).map(|title| (TitleRank::Given, title)),
        });
    }
    Ok(())
}

/// Reads the session keys and titles, by session id.
fn session_keys(database: &ReadOnlyDatabase) -> Result<HashMap<String, (String, Option<String>)>> {
    let query = if database.has_table("session_windows")? {
        "SELECT w.session_id, w.session_key, COALESCE(n.label, n.display_name, w.display_name)
         FROM session_windows w LEFT JOIN session_nodes n ON n.session_key = w.session_key"
    } else if database.has_table("session_entries")? {
        "SELECT session_id, session_key, NULL FROM session_entries"
    } else {
        return Ok(HashMap::new());
    };
    let rows =
        database.rows(query, &[], |row| Ok((row.get::<_, String>(0)?, (row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?))))?;
    Ok(rows.into_iter().collect())
}

/// Reads the events of a session from the database. The cursor counts them.
fn read_rows(database: &ReadOnlyDatabase, session: &SessionFile, from: &TranscriptCursor, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
    let compressed = if database.has_column("transcript_events", "event_zstd")? { "event_zstd" } else { "NULL" };
    let query = format!(
        "SELECT seq, {}, {}, {} OR {} FROM transcript_events WHERE session_id = ?1 ORDER BY seq",
        sqlite::bounded("event_json"),
        sqlite::bounded(compressed),
        sqlite::is_too_large("event_json"),
        sqlite::is_too_large(compressed),
    );
    // All events may be rewritten, which their number does not show.
    if from.at > 0 {
        sink(ChatEvent::Restart)?;
    }
    let mut outcome = ReadOutcome::default();
    database.each(&query, &[&session.id], |row| {
        let sequence: i64 = row.get(0)?;
        let line = u64::try_from(sequence).unwrap_or_default();
        outcome.cursor.at += 1;
        if row.get(3)? {
            outcome.add_problem(sqlite::too_large("event", line));
            return Ok(());
        }
        let compressed: Option<Vec<u8>> = row.get(2)?;
        let text = sqlite::text(row, 1)?;
        let decompressed;
        let raw = match (text, compressed.filter(|_| text.is_none()).map(decompress)) {
            (Some(text), _) => text,
            (None, Some(Ok(bytes))) => {
                decompressed = bytes;
                &decompressed
            }
            (None, Some(Err(error))) => {
                outcome.add_problem(Problem::at(line, format!("cannot read this event: {error}")));
                return Ok(());
            }
            (None, None) => {
                outcome.add_problem(Problem::at(line, "this event is empty"));
                return Ok(());
            }
        };
        let read = jsonl::decoded(raw, line, sink, &mut |raw, line, sink| entry(raw, line, sink)).map_err(through_sql)?;
        match read {
            LineOutcome::Bad(error) => outcome.add_problem(Problem::at(line, jsonl::describe("event", &error))),
            LineOutcome::Next | LineOutcome::Stop | LineOutcome::Restart => {}
        }
        Ok(())
    })?;
    outcome.cursor.lines = outcome.cursor.at;
    Ok(outcome)
}

/// Decompresses an event, with its long strings cut.
fn decompress(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    ShortStrings::new(zstd::Decoder::new(io::Cursor::new(bytes))?).read_record()
}

/// An entry of a transcript, in either format.
#[derive(Default, Deserialize)]
struct OpenClawRecord<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    id: Str<'a>,
    #[serde(default)]
    timestamp: Time,
    #[serde(borrow, default)]
    cwd: Str<'a>,
    #[serde(borrow, default, rename = "parentSession")]
    parent_session: Str<'a>,
    #[serde(borrow, default)]
    message: Obj<OpenClawMessage<'a>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct OpenClawMessage<'a> {
    #[serde(borrow, default)]
    role: Str<'a>,
    #[serde(default)]
    timestamp: Time,
    #[serde(borrow, default, rename = "toolCallId")]
    tool_call_id: Str<'a>,
    #[serde(default, rename = "isError")]
    is_error: Flag,
    #[serde(borrow, default)]
    content: Content<'a>,
}

/// Emits the events of one entry.
fn entry(raw: &[u8], line: u64, sink: &mut EventSink<'_>) -> Result<LineOutcome> {
    let record: OpenClawRecord<'_> = match serde_json::from_slice(raw) {
        Ok(record) => record,
        Err(error) => return Ok(LineOutcome::Bad(error)),
    };
    let at = record.timestamp.0;
    let flow = match (record.kind.as_str(), record.message.0) {
        ("session", _) => {
            let continues = record.parent_session.0.filter(|parent| !parent.is_empty());
            sink(ChatEvent::Info(SessionInfo { project_dir: record.cwd.0, started: at, continues, ..SessionInfo::default() }))?
        }
        ("compaction", _) => sink(ChatEvent::Compacted(at))?,
        ("message", Some(message)) if message.role.as_str() == "toolResult" => {
            let text = message.content.into_text();
            match message.tool_call_id.non_empty() {
                Some(id) => sink(ChatEvent::CallEnd(openclaw_end(id, message.is_error.0, &Excerpt::new(&text))))?,
                None => Flow::Continue,
            }
        }
        ("message", Some(message)) => {
            let at = at.or(message.timestamp.0);
            emit_parts(parts(message), record.id.non_empty(), at, line, sink)?
        }
        _ => Flow::Continue,
    };
    Ok(if flow == Flow::Stop { LineOutcome::Stop } else { LineOutcome::Next })
}

fn parts(message: OpenClawMessage<'_>) -> Vec<MessagePart<'_>> {
    match message.role.as_str() {
        "user" => user_parts(message.content, injected::openclaw_user_text),
        "assistant" => assistant_parts(message.content),
        _ => Vec::new(),
    }
}
