//! OpenClaw: per agent a SQLite database, in older installs JSONL files, both with the same entries. Deleted
//! sessions are left out, those that were reset stay; sub-agents and heartbeats are not conversations.

use super::{
    About, ChatSource, Cursor, Event, Flow, Found, Host, SessionFile, Sink, Speaker, Taken, TitleRank, Turn,
    claude_code::{self, assistant_parts, session_file},
    content::{Content, Part},
    json::{Obj, Str, Time, mended},
    jsonl::{self, Raw, Step},
    noise,
    sqlite::{self, Database, Opened, text_of, through_sql},
    walk,
};
use memdir_core::{
    base::error::{Problem, Result},
    store::Stamp,
};
use serde::Deserialize;
use std::{
    borrow::Cow,
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

/// An agent's database, in the agent's directory.
const DATABASE: &str = "agent/openclaw-agent.sqlite";

/// OpenClaw's conversations.
#[derive(Debug)]
pub struct Openclaw {
    dir: PathBuf,
    opened: Opened,
}

impl Openclaw {
    /// Those under its state directory.
    pub fn new(dir: PathBuf) -> Self {
        Openclaw { dir, opened: Opened::default() }
    }
}

impl ChatSource for Openclaw {
    fn host(&self) -> Host {
        Host::Openclaw
    }

    fn stamp(&self) -> Option<String> {
        let mut found = Found::default();
        let mut parts = Vec::new();
        for agent in walk::list(&self.dir.join("agents"), &mut found) {
            parts.push(sqlite::stamp(&agent.path.join(DATABASE)));
            let files = walk::list(&agent.path.join("sessions"), &mut found);
            parts.extend(files.iter().map(|file| format!("{} {}", file.name, sqlite::stamp(&file.path))));
        }
        found.problems.is_empty().then(|| blake3::hash(parts.join("\n").as_bytes()).to_hex().to_string())
    }

    fn sessions(&self) -> Found {
        let mut found = Found::default();
        for agent in walk::list(&self.dir.join("agents"), &mut found) {
            let before = found.sessions.len();
            let database = agent.path.join(DATABASE);
            if database.is_file()
                && let Err(error) = self.opened.with(&database, |opened| in_database(opened, &database, &mut found))
            {
                found.problems.push(Problem::whole(format!("cannot read {}: {error}", database.display())));
            }
            in_files(&agent.path.join("sessions"), &mut found);
            // Agents number their sessions each for itself; those of the usual one keep their plain names.
            for session in found.sessions.iter_mut().skip(before).filter(|_| agent.name != "main") {
                session.key = format!("{}.{}", agent.name, session.key);
            }
        }
        claude_code::each_once(&mut found);
        found
    }

    fn turns(&self, session: &SessionFile, from: &Cursor, sink: &mut Sink<'_>) -> Result<Taken> {
        if session.path.extension().is_some_and(|extension| extension == "sqlite") {
            return self.opened.with(&session.path, |database| read_rows(database, session, from, sink));
        }
        jsonl::each(session, from, sink, |_| true, &mut |raw, line, sink| entry(raw, line, sink))
    }
}

/// What the list of sessions says about one.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
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

/// Sessions of the older form: `<id>.jsonl`, and `<id>.jsonl.reset.<time>` for what was before a reset.
fn in_files(dir: &Path, found: &mut Found) {
    let list = fs::read(dir.join("sessions.json")).unwrap_or_default();
    let entries: HashMap<String, Obj<Entry<'_>>> = serde_json::from_slice(&list).unwrap_or_default();
    let by_id: HashMap<&str, (&str, &Entry<'_>)> = entries
        .iter()
        .filter_map(|(key, entry)| entry.0.as_ref().map(|entry| (entry.session_id.as_str(), (key.as_str(), entry))))
        .collect();
    for file in walk::list(dir, found) {
        let Some((id, rest)) =
            file.name.split_once(".jsonl").filter(|(_, rest)| !file.is_dir && (rest.is_empty() || rest.starts_with(".reset.")))
        else {
            continue;
        };
        let known = by_id.get(id);
        if known.is_some_and(|(key, _)| is_subagent(key)) {
            continue;
        }
        let Some(mut session) = session_file(Host::Openclaw, id, &file.path) else { continue };
        if !rest.is_empty() {
            session.key = format!("{id}{}", rest.replace(':', "-"));
        } else if let Some((key, entry)) = known {
            session.resume_id = Some((*key).to_owned());
            session.title = entry.label.full().or(entry.display_name.full()).map(|title| (TitleRank::Given, title.to_owned()));
        }
        found.sessions.push(session);
    }
}

/// Sessions of the database. Its tables have changed their names; the events have not.
fn in_database(database: &Database, path: &Path, found: &mut Found) -> Result<()> {
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
        found.sessions.push(SessionFile {
            host: Host::Openclaw,
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

/// The session keys, and titles, by the ids of the transcripts.
fn session_keys(database: &Database) -> Result<HashMap<String, (String, Option<String>)>> {
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

/// Tells the events of one session in the database after the cursor, which counts them.
fn read_rows(database: &Database, session: &SessionFile, from: &Cursor, sink: &mut Sink<'_>) -> Result<Taken> {
    let compressed = if database.has_column("transcript_events", "event_zstd")? { "event_zstd" } else { "NULL" };
    let query = format!("SELECT seq, event_json, {compressed} FROM transcript_events WHERE session_id = ?1 ORDER BY seq");
    // The events may be rewritten as a whole, which their number alone does not tell.
    if from.at > 0 {
        sink(Event::Restart)?;
    }
    let mut taken = Taken::default();
    database.each(&query, &[&session.id], |row| {
        let sequence: i64 = row.get(0)?;
        let line = u64::try_from(sequence).unwrap_or_default();
        taken.cursor.at += 1;
        let packed: Option<Vec<u8>> = row.get(2)?;
        let plain = text_of(row, 1)?;
        let mut unpacked = packed.map(|packed| zstd::Decoder::new(std::io::Cursor::new(packed)));
        let raw = match (plain, &mut unpacked) {
            (Some(plain), _) => Raw::Held(plain),
            (None, Some(Ok(decoder))) => Raw::Passing(decoder),
            _ => {
                taken.problem(Problem::at(line, "this event cannot be unpacked"));
                return Ok(());
            }
        };
        let mut step = entry(raw, line, sink).map_err(through_sql)?;
        if let (Step::Bad(_), Some(mended)) = (&step, plain.and_then(mended)) {
            step = entry(Raw::Held(&mended), line, sink).map_err(through_sql)?;
        }
        match step {
            Step::Bad(_) => taken.problem(Problem::at(line, "this event is not valid JSON")),
            Step::Next | Step::Stop | Step::Again => {}
        }
        Ok(())
    })?;
    taken.cursor.lines = taken.cursor.at;
    Ok(taken)
}

/// An entry of either form.
#[derive(Default, Deserialize)]
struct Record<'a> {
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
    message: Obj<Message<'a>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Str<'a>,
    #[serde(default)]
    timestamp: Time,
    #[serde(borrow, default)]
    content: Content<'a>,
}

fn entry(raw: Raw<'_>, line: u64, sink: &mut Sink<'_>) -> Result<Step> {
    let record: Record<'_> = match raw.decode() {
        Ok(record) => record,
        Err(error) => return Ok(Step::Bad(error)),
    };
    let at = record.timestamp.0;
    let flow = match (record.kind.as_str(), record.message.0) {
        ("session", _) => {
            let continues = record.parent_session.0.filter(|parent| !parent.is_empty());
            sink(Event::About(About { project_dir: record.cwd.0, started: at, continues, ..About::default() }))?
        }
        ("compaction", _) => sink(Event::Compacted(at))?,
        ("message", Some(message)) => {
            let at = at.or(message.timestamp.0);
            let mut flow = Flow::Continue;
            for (speaker, text) in parts(message) {
                let message = record.id.full().map(Cow::Borrowed);
                let told = sink(Event::Turn(Turn { speaker, at, text, message, line }))?;
                flow = if told == Flow::Stop { told } else { flow };
            }
            flow
        }
        _ => Flow::Continue,
    };
    Ok(if flow == Flow::Stop { Step::Stop } else { Step::Next })
}

fn parts(message: Message<'_>) -> Vec<(Speaker, Cow<'_, str>)> {
    match message.role.as_str() {
        "user" => {
            let mut parts = message.content.parts;
            for part in &mut parts {
                if let Part::Text(text) = part {
                    *text = noise::typed_in_openclaw(std::mem::take(text));
                }
            }
            parts.retain(|part| matches!(part, Part::Text(text) if !text.trim().is_empty()));
            let text = Content { parts }.text();
            if text.is_empty() { Vec::new() } else { vec![(Speaker::User, text)] }
        }
        "assistant" => assistant_parts(message.content),
        _ => Vec::new(),
    }
}
