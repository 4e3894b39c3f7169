//! opencode: a SQLite database, in older installations one JSON file per session, message and part. If a session is stored
//! in two tables, one of them is read. A session that changed is always read from its beginning.

mod files;

use crate::{
    content::{CallPart, MessagePart, emit_parts},
    injected,
    json::{CallArguments, Count, Flag, Obj, ObjectList, Str, Time, repair},
    results::{Excerpt, opencode_end},
    source::{ChatSource, Reader, SessionFile, SessionList, argv},
    sqlite::{self, OpenDatabase, ReadOnlyDatabase, through_sql},
    transcript::{ChatEvent, EventSink, ReadOutcome, Rewind, SessionInfo, TitleRank, TranscriptCursor, Turn},
    walk,
};
use jiff::Timestamp;
use memdir_core::{Problem, Result, Speaker, Stamp};
use serde::Deserialize;
use std::{
    borrow::Cow,
    collections::HashSet,
    path::{Path, PathBuf},
};

/// The transcripts of opencode.
pub const READER: Reader = Reader {
    name: "opencode",
    open: |roots| {
        let (dir, configured) = (roots.opencode_dir(), roots.opencode_db.clone());
        Some(Box::new(OpencodeSource { dir, configured, database: OpenDatabase::default() }))
    },
    resume: Some(|id| argv(&["opencode", "-s", id])),
    resumes_in_project: true,
    resumes_by_session: true,
    is_transcript_of: None,
    rewrites: |_| true,
    scripts_look_alike: false,
};

/// The sessions in opencode's data directory.
struct OpencodeSource {
    dir: PathBuf,
    /// The database set by `OPENCODE_DB`.
    configured: Option<PathBuf>,
    database: OpenDatabase,
}

impl OpencodeSource {
    /// Returns the existing databases: the configured one, or one for each release channel.
    fn databases(&self) -> Vec<PathBuf> {
        if let Some(database) = &self.configured {
            return Some(self.dir.join(database)).filter(|path| path.is_file()).into_iter().collect();
        }
        let is_database = |name: &str| name.starts_with("opencode") && name.ends_with(".db");
        walk::list(&self.dir, &mut Vec::new())
            .into_iter()
            .filter(|item| !item.is_dir && is_database(&item.name))
            .map(|item| item.path)
            .collect()
    }
}

impl ChatSource for OpencodeSource {
    fn reader(&self) -> &'static Reader {
        &READER
    }

    fn stamp(&self) -> Option<String> {
        let mut all: Vec<String> = self.databases().iter().map(|path| sqlite::stamp(path)).collect();
        all.push(files::stamp(&self.dir)?);
        Some(blake3::hash(all.join("\n").as_bytes()).to_hex().to_string())
    }

    fn sessions(&self) -> SessionList {
        let mut list = SessionList::default();
        for path in self.databases() {
            if let Err(error) = self.database.with(&path, |database| list_rows(database, &path, &mut list)) {
                list.problems.push(Problem::whole(error.to_string()));
            }
        }
        // Sessions that were migrated into the database are read from there.
        let known: HashSet<String> = list.sessions.iter().map(|session| session.key.clone()).collect();
        let older = files::sessions(&self.dir, &mut list.problems);
        list.sessions.extend(older.into_iter().filter(|session| !known.contains(&session.key)));
        list.dedup();
        list
    }

    fn turns(&self, session: &SessionFile, from: &TranscriptCursor, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
        if from.at > 0 {
            sink(ChatEvent::Restart)?;
        }
        if session.path.extension().is_some_and(|extension| extension == "json") {
            return files::read(&self.dir, session, sink);
        }
        self.database.with(&session.path, |database| read_rows(database, session, sink))
    }
}

fn list_rows(database: &ReadOnlyDatabase, path: &Path, list: &mut SessionList) -> Result<()> {
    if !database.has_table("session")? {
        return Ok(());
    }
    // A part may arrive after its message, and is rewritten while the assistant answers.
    let (mut rows, mut updated, mut joins) = (Vec::new(), vec!["s.time_updated".to_owned()], String::new());
    for table in ["message", "session_message", "part"] {
        if !database.has_table(table)? || !database.has_column(table, "session_id")? {
            continue;
        }
        let newest = if database.has_column(table, "time_updated")? { "MAX(time_updated)" } else { "0" };
        joins.push_str(&format!(
            " LEFT JOIN (SELECT session_id, COUNT(*) AS n, {newest} AS u FROM {table} GROUP BY session_id) {table}_ ON {table}_.session_id = s.id"
        ));
        rows.push(format!("COALESCE({table}_.n, 0)"));
        updated.push(format!("COALESCE({table}_.u, 0)"));
    }
    let query = format!(
        "SELECT s.id, {}, {}, s.time_created, MAX({}, 0), {} FROM session s{joins} WHERE s.parent_id IS NULL OR s.parent_id = '' ORDER BY s.id",
        sqlite::bounded("s.directory"),
        sqlite::bounded("s.title"),
        updated.join(", "),
        if rows.is_empty() { "0".to_owned() } else { rows.join(" + ") },
    );
    let rows = database.rows(&query, &[], |row| {
        let id: String = row.get(0)?;
        let title: Option<String> = row.get(2)?;
        let updated: i64 = row.get(4)?;
        Ok(SessionFile {
            host: &READER,
            key: id.clone(),
            id,
            resume_id: None,
            path: path.to_owned(),
            stamp: Stamp {
                size: row.get::<_, i64>(5)?.unsigned_abs(),
                mtime_ns: updated.saturating_mul(1_000_000),
                ctime_ns: row.get(3)?,
                inode: 0,
            },
            project_dir: row.get::<_, Option<String>>(1)?.map(PathBuf::from),
            title: given_title(title.as_deref()),
        })
    })?;
    list.sessions.extend(rows);
    Ok(())
}

/// Returns a title, unless it is the default title of new sessions.
fn given_title(title: Option<&str>) -> Option<(TitleRank, String)> {
    let title = title.map(str::trim).filter(|title| !title.is_empty() && !title.starts_with("New session - "))?;
    Some((TitleRank::Given, title.to_owned()))
}

/// Whether the agent may not ask anything: `opencode run` denies it, because no person would answer.
fn denies_questions(database: &ReadOnlyDatabase, session: &SessionFile) -> Result<bool> {
    #[derive(Deserialize)]
    struct Permission<'a> {
        #[serde(borrow, default)]
        permission: Str<'a>,
        #[serde(borrow, default)]
        action: Str<'a>,
    }
    if !database.has_column("session", "permission")? {
        return Ok(false);
    }
    let query = format!("SELECT {} FROM session WHERE id = ?1", sqlite::bounded("permission"));
    let stored = database.rows(&query, &[&session.id], |row| row.get::<_, Option<String>>(0))?;
    let denies = |text: &String| {
        let all: Vec<Permission<'_>> = serde_json::from_slice(text.as_bytes()).unwrap_or_default();
        all.iter().any(|one| one.permission.as_str() == "question" && one.action.as_str() == "deny")
    };
    Ok(stored.iter().flatten().any(denies))
}

/// Reads a session from the table that has its messages.
fn read_rows(database: &ReadOnlyDatabase, session: &SessionFile, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
    let started = Timestamp::from_millisecond(session.stamp.ctime_ns).ok();
    let is_scripted = denies_questions(database, session)?;
    sink(ChatEvent::Info(SessionInfo { started, is_scripted, ..SessionInfo::default() }))?;
    let mut emitter = Emitter { reverted: reverted_from(database, session)?, ..Emitter::default() };
    emitter.emit_reverted(sink)?;
    let has_rows = |table: &str| -> Result<bool> {
        let query = format!("SELECT 1 FROM {table} WHERE session_id = ?1 LIMIT 1");
        Ok(database.has_table(table)? && !database.rows(&query, &[&session.id], |_| Ok(()))?.is_empty())
    };
    if has_rows("message")? {
        // Parts are found by a join of their keys alone: without an index of them, SQLite makes one with all columns of the join.
        let query = format!(
            "SELECT m.id, m.time_created, {}, {}, {} OR {}
             FROM message m LEFT JOIN part k ON k.message_id = m.id LEFT JOIN part p ON p.rowid = k.rowid
             WHERE m.session_id = ?1 ORDER BY m.time_created, m.id, k.id",
            sqlite::bounded("m.data"),
            sqlite::bounded("p.data"),
            sqlite::is_too_large("m.data"),
            sqlite::is_too_large("p.data"),
        );
        database.each(&query, &[&session.id], |row| {
            let id: String = row.get(0)?;
            let at = Timestamp::from_millisecond(row.get(1)?).ok();
            if row.get(4)? {
                emitter.too_large("part");
                return Ok(());
            }
            let (message, part) = (sqlite::text(row, 2)?.unwrap_or_default(), sqlite::text(row, 3)?.unwrap_or_default());
            emitter.part(&id, at, message, part, sink).map_err(through_sql)
        })?;
    } else if has_rows("session_message")? {
        let query = format!(
            "SELECT id, type, {}, {} FROM session_message WHERE session_id = ?1 ORDER BY seq",
            sqlite::bounded("data"),
            sqlite::is_too_large("data"),
        );
        database.each(&query, &[&session.id], |row| {
            let (id, kind): (String, String) = (row.get(0)?, row.get(1)?);
            if row.get(3)? {
                emitter.too_large("message");
                return Ok(());
            }
            emitter.message(&id, &kind, sqlite::text(row, 2)?.unwrap_or_default(), sink).map_err(through_sql)
        })?;
    }
    Ok(emitter.finish())
}

/// The message to which a session was reverted.
#[derive(Clone, Debug, Default, Deserialize)]
struct RevertedTo<'a> {
    #[serde(borrow, default, rename = "messageID")]
    message_id: Str<'a>,
}

/// Returns the message to which the session was reverted, if it was.
fn reverted_from(database: &ReadOnlyDatabase, session: &SessionFile) -> Result<Option<String>> {
    if !database.has_column("session", "revert")? {
        return Ok(None);
    }
    let query = format!("SELECT {} FROM session WHERE id = ?1", sqlite::bounded("revert"));
    let rows = database.rows(&query, &[&session.id], |row| {
        let revert = sqlite::text(row, 0)?.and_then(|text| serde_json::from_slice::<Obj<RevertedTo<'_>>>(text).ok()?.0);
        Ok(revert.and_then(|revert| revert.message_id.non_empty().map(str::to_owned)))
    })?;
    Ok(rows.into_iter().flatten().next())
}

/// Emits the turns of messages, in whichever format they are stored.
#[derive(Default)]
struct Emitter {
    /// The message to which the session was reverted.
    reverted: Option<String>,
    /// The number of records read.
    records: u64,
    problems: Vec<Problem>,
}

/// The metadata of a message.
#[derive(Default, Deserialize)]
struct OpenCodeMessage<'a> {
    #[serde(borrow, default)]
    role: Str<'a>,
    #[serde(default)]
    summary: Flag,
}

/// A part of a message.
#[derive(Clone, Debug, Default, Deserialize)]
struct OpenCodePart<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    text: Str<'a>,
    #[serde(default)]
    synthetic: Flag,
    #[serde(default)]
    ignored: Flag,
    #[serde(borrow, default, alias = "name")]
    tool: Str<'a>,
    /// The id of a call in the older tables; the newer one has it as `id`, which there is that of the part.
    #[serde(borrow, default, rename = "callID")]
    call_id: Str<'a>,
    #[serde(borrow, default)]
    id: Str<'a>,
    #[serde(borrow, default)]
    state: Obj<CallState<'a>>,
}

/// The state of a call: its arguments, and how it ended.
#[derive(Clone, Debug, Default, Deserialize)]
struct CallState<'a> {
    #[serde(borrow, default)]
    status: Str<'a>,
    #[serde(default)]
    input: CallArguments,
    #[serde(default)]
    output: Excerpt,
    #[serde(default)]
    error: Excerpt,
    #[serde(default)]
    metadata: Obj<CallMetadata>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct CallMetadata {
    /// The exit status of a command.
    #[serde(default)]
    exit: Count,
}

/// A message of the newer table.
#[derive(Default, Deserialize)]
struct NewerMessage<'a> {
    #[serde(borrow, default)]
    text: Str<'a>,
    #[serde(borrow, default)]
    command: Str<'a>,
    #[serde(borrow, default)]
    content: ObjectList<OpenCodePart<'a>>,
    #[serde(default)]
    time: Obj<MessageTimes>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct MessageTimes {
    #[serde(default)]
    created: Time,
}

impl Emitter {
    /// Emits a rewind if the session was reverted, so that turns that are missing now do not count as lost.
    fn emit_reverted(&self, sink: &mut EventSink<'_>) -> Result<()> {
        if self.reverted.is_some() {
            sink(ChatEvent::Rewind(Rewind::UserTurns(0)))?;
        }
        Ok(())
    }

    fn is_reverted(&self, id: &str) -> bool {
        // Ids ascend with time.
        self.reverted.as_deref().is_some_and(|from| id >= from)
    }

    /// Records that a record was skipped because of its size.
    fn too_large(&mut self, what: &str) {
        self.records += 1;
        self.problems.push(sqlite::too_large(what, self.records));
    }

    /// Reads one part of a message from the two older tables.
    fn part(&mut self, id: &str, at: Option<Timestamp>, message: &[u8], part: &[u8], sink: &mut EventSink<'_>) -> Result<()> {
        self.records += 1;
        if self.is_reverted(id) || part.is_empty() {
            return Ok(());
        }
        if let (Ok(message), Ok(piece)) = (serde_json::from_slice(message), serde_json::from_slice(part)) {
            return self.emit_piece(id, at, message, piece, sink);
        }
        let (message, part) = (repair(message).unwrap_or_default(), repair(part).unwrap_or_default());
        if let (Ok(message), Ok(piece)) = (serde_json::from_slice(&message), serde_json::from_slice(&part)) {
            return self.emit_piece(id, at, message, piece, sink);
        }
        self.problems.push(Problem::at(self.records, "this part or its message is not valid JSON"));
        Ok(())
    }

    fn emit_piece(
        &self,
        id: &str,
        at: Option<Timestamp>,
        message: OpenCodeMessage<'_>,
        piece: OpenCodePart<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<()> {
        match message.role.as_str() {
            _ if piece.kind.as_str() == "compaction" => sink(ChatEvent::Compacted(at)).map(drop),
            "user" => self.emit_turn(Speaker::User, piece, id, at, sink),
            // The summary that compacts the context is not part of the conversation.
            "assistant" if !message.summary.0 => self.emit_turn(Speaker::Assistant, piece, id, at, sink),
            _ => Ok(()),
        }
    }

    /// Reads one message from the newer table.
    fn message(&mut self, id: &str, kind: &str, data: &[u8], sink: &mut EventSink<'_>) -> Result<()> {
        self.records += 1;
        if self.is_reverted(id) {
            return Ok(());
        }
        let repaired = if serde_json::from_slice::<NewerMessage<'_>>(data).is_err() { repair(data) } else { None };
        let Ok(row) = serde_json::from_slice::<NewerMessage<'_>>(repaired.as_deref().unwrap_or(data)) else {
            self.problems.push(Problem::at(self.records, "this message is not valid JSON"));
            return Ok(());
        };
        let at = row.time.0.and_then(|time| time.created.0);
        let text = |text| OpenCodePart { kind: Str(Some("text".into())), text, ..OpenCodePart::default() };
        match kind {
            "user" => self.emit_turn(Speaker::User, text(row.text), id, at, sink),
            "shell" => {
                self.emit_turn(Speaker::User, text(Str(row.command.non_empty().map(|command| format!("!{command}").into()))), id, at, sink)
            }
            "assistant" => row.content.0.into_iter().try_for_each(|piece| self.emit_turn(Speaker::Assistant, piece, id, at, sink)),
            "compaction" => sink(ChatEvent::Compacted(at)).map(drop),
            _ => Ok(()),
        }
    }

    fn emit_turn(
        &self,
        speaker: Speaker,
        piece: OpenCodePart<'_>,
        id: &str,
        at: Option<Timestamp>,
        sink: &mut EventSink<'_>,
    ) -> Result<()> {
        if piece.kind.as_str() == "tool" && speaker == Speaker::Assistant {
            return self.emit_call(piece, id, at, sink);
        }
        let (speaker, text) = match piece.kind.as_str() {
            "text" if piece.synthetic.0 || piece.ignored.0 => return Ok(()),
            "text" if speaker == Speaker::User => (speaker, injected::user_text(piece.text.0.unwrap_or_default())),
            "text" => (speaker, piece.text.0.unwrap_or_default()),
            _ => return Ok(()),
        };
        if !text.trim().is_empty() {
            let line = self.records;
            sink(ChatEvent::Turn(Turn { speaker, at, text, message: Some(Cow::Borrowed(id)), line }))?;
        }
        Ok(())
    }

    /// Emits a call and its end, which are one record.
    fn emit_call(&self, piece: OpenCodePart<'_>, message: &str, at: Option<Timestamp>, sink: &mut EventSink<'_>) -> Result<()> {
        let CallState { status, input, output, error, metadata } = piece.state.0.unwrap_or_default();
        let id = piece.call_id.non_empty().or(piece.id.non_empty()).unwrap_or_default();
        let exit = metadata.0.and_then(|metadata| i64::try_from(metadata.exit.0?).ok());
        let part = MessagePart::call(CallPart::new(piece.tool.as_str(), id, input));
        emit_parts(vec![part], Some(message), at, self.records, sink)?;
        if !id.is_empty() {
            sink(ChatEvent::CallEnd(opencode_end(id, status.as_str(), &error, &output, exit)))?;
        }
        Ok(())
    }

    fn finish(self) -> ReadOutcome {
        let mut outcome = ReadOutcome {
            cursor: TranscriptCursor { at: self.records.max(1), lines: self.records, ..TranscriptCursor::default() },
            ..ReadOutcome::default()
        };
        self.problems.into_iter().for_each(|problem| outcome.add_problem(problem));
        outcome
    }
}
