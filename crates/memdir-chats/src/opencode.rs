//! opencode: a SQLite database, in older installs a JSON file per session, message and part. Where a session is told
//! in two tables, one of them is read. A session that changed is always told from its beginning.

mod files;

use super::{
    About, ChatSource, Cursor, Event, Found, Host, Rewind, SessionFile, Sink, Speaker, Taken, TitleRank, Turn,
    claude_code::each_once,
    content::call_text,
    json::{Args, Flag, List, Obj, Str, Time, mended},
    noise,
    sqlite::{self, Database, Opened, text_of, through_sql},
    walk,
};
use jiff::Timestamp;
use memdir_core::{
    base::error::{Problem, Result},
    store::Stamp,
};
use serde::Deserialize;
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

/// opencode's conversations.
#[derive(Debug)]
pub struct Opencode {
    dir: PathBuf,
    database: Option<PathBuf>,
    opened: Opened,
}

impl Opencode {
    /// Those in its data directory, or in the database it was told to use.
    pub fn new(dir: PathBuf, database: Option<PathBuf>) -> Self {
        Opencode { dir, database, opened: Opened::default() }
    }

    /// The databases there are: one for each release channel.
    fn databases(&self) -> Vec<PathBuf> {
        if let Some(database) = &self.database {
            return Some(self.dir.join(database)).filter(|path| path.is_file()).into_iter().collect();
        }
        let is_ours = |name: &str| name.starts_with("opencode") && name.ends_with(".db");
        walk::list(&self.dir, &mut Found::default())
            .into_iter()
            .filter(|item| !item.is_dir && is_ours(&item.name))
            .map(|item| item.path)
            .collect()
    }
}

impl ChatSource for Opencode {
    fn host(&self) -> Host {
        Host::Opencode
    }

    fn stamp(&self) -> Option<String> {
        let mut all: Vec<String> = self.databases().iter().map(|path| sqlite::stamp(path)).collect();
        all.push(files::stamp(&self.dir)?);
        Some(blake3::hash(all.join("\n").as_bytes()).to_hex().to_string())
    }

    fn sessions(&self) -> Found {
        let mut found = Found::default();
        for path in self.databases() {
            if let Err(error) = self.opened.with(&path, |database| in_database(database, &path, &mut found)) {
                found.problems.push(Problem::whole(format!("cannot read {}: {error}", path.display())));
            }
        }
        // Those that were moved into the database are told from there.
        let known: std::collections::HashSet<String> = found.sessions.iter().map(|session| session.key.clone()).collect();
        let older = files::sessions(&self.dir, &mut found);
        found.sessions.extend(older.into_iter().filter(|session| !known.contains(&session.key)));
        each_once(&mut found);
        found
    }

    fn turns(&self, session: &SessionFile, from: &Cursor, sink: &mut Sink<'_>) -> Result<Taken> {
        if from.at > 0 {
            sink(Event::Restart)?;
        }
        if session.path.extension().is_some_and(|extension| extension == "json") {
            return files::read(&self.dir, session, sink);
        }
        self.opened.with(&session.path, |database| read_rows(database, session, sink))
    }
}

fn in_database(database: &Database, path: &Path, found: &mut Found) -> Result<()> {
    if !database.has_table("session")? {
        return Ok(());
    }
    // A part may arrive after its message, and be written anew while the assistant speaks.
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
        "SELECT s.id, s.directory, s.title, s.time_created, MAX({}, 0), {} FROM session s{joins} WHERE s.parent_id IS NULL OR s.parent_id = '' ORDER BY s.id",
        updated.join(", "),
        if rows.is_empty() { "0".to_owned() } else { rows.join(" + ") },
    );
    let rows = database.rows(&query, &[], |row| {
        let id: String = row.get(0)?;
        let title: Option<String> = row.get(2)?;
        let updated: i64 = row.get(4)?;
        Ok(SessionFile {
            host: Host::Opencode,
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
    found.sessions.extend(rows);
    Ok(())
}

/// A title, unless it is the one every session starts with.
fn given_title(title: Option<&str>) -> Option<(TitleRank, String)> {
    let title = title.map(str::trim).filter(|title| !title.is_empty() && !title.starts_with("New session - "))?;
    Some((TitleRank::Given, title.to_owned()))
}

/// Tells a session from the table its messages are in.
fn read_rows(database: &Database, session: &SessionFile, sink: &mut Sink<'_>) -> Result<Taken> {
    let started = Timestamp::from_millisecond(session.stamp.ctime_ns).ok();
    sink(Event::About(About { started, ..About::default() }))?;
    let mut teller = Teller { reverted: reverted_from(database, session)?, ..Teller::default() };
    teller.tell_reverted(sink)?;
    let has_rows = |table: &str| -> Result<bool> {
        let query = format!("SELECT 1 FROM {table} WHERE session_id = ?1 LIMIT 1");
        Ok(database.has_table(table)? && !database.rows(&query, &[&session.id], |_| Ok(()))?.is_empty())
    };
    if has_rows("message")? {
        let query = "SELECT m.id, m.time_created, m.data, p.data FROM message m LEFT JOIN part p ON p.message_id = m.id
                     WHERE m.session_id = ?1 ORDER BY m.time_created, m.id, p.id";
        database.each(query, &[&session.id], |row| {
            let id: String = row.get(0)?;
            let at = Timestamp::from_millisecond(row.get(1)?).ok();
            let (message, part) = (text_of(row, 2)?.unwrap_or_default(), text_of(row, 3)?.unwrap_or_default());
            teller.part(&id, at, message, part, sink).map_err(through_sql)
        })?;
    } else if has_rows("session_message")? {
        let query = "SELECT id, type, data FROM session_message WHERE session_id = ?1 ORDER BY seq";
        database.each(query, &[&session.id], |row| {
            let (id, kind): (String, String) = (row.get(0)?, row.get(1)?);
            teller.message(&id, &kind, text_of(row, 2)?.unwrap_or_default(), sink).map_err(through_sql)
        })?;
    }
    Ok(teller.taken())
}

/// The message from which on the session was taken back, if it was.
fn reverted_from(database: &Database, session: &SessionFile) -> Result<Option<String>> {
    #[derive(Default, Deserialize)]
    struct Revert<'a> {
        #[serde(borrow, default, rename = "messageID")]
        message_id: Str<'a>,
    }
    if !database.has_column("session", "revert")? {
        return Ok(None);
    }
    let rows = database.rows("SELECT revert FROM session WHERE id = ?1", &[&session.id], |row| {
        let revert = text_of(row, 0)?.and_then(|text| serde_json::from_slice::<Obj<Revert<'_>>>(text).ok()?.0);
        Ok(revert.and_then(|revert| revert.message_id.full().map(str::to_owned)))
    })?;
    Ok(rows.into_iter().flatten().next())
}

/// Tells messages, whichever form they are stored in.
#[derive(Default)]
struct Teller {
    reverted: Option<String>,
    told: u64,
    bad: Vec<Problem>,
}

/// What a message says about itself.
#[derive(Default, Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Str<'a>,
    #[serde(default)]
    summary: Flag,
}

/// A part of a message.
#[derive(Clone, Debug, Default, Deserialize)]
struct Piece<'a> {
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
    #[serde(default)]
    state: Obj<State>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct State {
    #[serde(default)]
    input: Args,
}

/// A message of the newer table.
#[derive(Default, Deserialize)]
struct Row<'a> {
    #[serde(borrow, default)]
    text: Str<'a>,
    #[serde(borrow, default)]
    command: Str<'a>,
    #[serde(borrow, default)]
    content: List<Piece<'a>>,
    #[serde(default)]
    time: Obj<Times>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Times {
    #[serde(default)]
    created: Time,
}

impl Teller {
    /// Says that something was taken back, if it was: what is not told then is not lost.
    fn tell_reverted(&self, sink: &mut Sink<'_>) -> Result<()> {
        if self.reverted.is_some() {
            sink(Event::Rewind(Rewind::UserTurns(0)))?;
        }
        Ok(())
    }

    fn is_reverted(&self, id: &str) -> bool {
        // Ids ascend with time.
        self.reverted.as_deref().is_some_and(|from| id >= from)
    }

    /// One part of a message, of the older two tables.
    fn part(&mut self, id: &str, at: Option<Timestamp>, message: &[u8], part: &[u8], sink: &mut Sink<'_>) -> Result<()> {
        self.told += 1;
        if self.is_reverted(id) || part.is_empty() {
            return Ok(());
        }
        if let (Ok(message), Ok(piece)) = (serde_json::from_slice(message), serde_json::from_slice(part)) {
            return self.tell(id, at, message, piece, sink);
        }
        let (message, part) = (mended(message).unwrap_or_default(), mended(part).unwrap_or_default());
        if let (Ok(message), Ok(piece)) = (serde_json::from_slice(&message), serde_json::from_slice(&part)) {
            return self.tell(id, at, message, piece, sink);
        }
        self.bad.push(Problem::at(self.told, "this part is not valid JSON"));
        Ok(())
    }

    fn tell(&self, id: &str, at: Option<Timestamp>, message: Message<'_>, piece: Piece<'_>, sink: &mut Sink<'_>) -> Result<()> {
        match message.role.as_str() {
            _ if piece.kind.as_str() == "compaction" => sink(Event::Compacted(at)).map(drop),
            "user" => self.say(Speaker::User, piece, id, at, sink),
            // What the assistant wrote to shorten the conversation is not part of it.
            "assistant" if !message.summary.0 => self.say(Speaker::Assistant, piece, id, at, sink),
            _ => Ok(()),
        }
    }

    /// One message of the newer table.
    fn message(&mut self, id: &str, kind: &str, data: &[u8], sink: &mut Sink<'_>) -> Result<()> {
        self.told += 1;
        if self.is_reverted(id) {
            return Ok(());
        }
        let mended = if serde_json::from_slice::<Row<'_>>(data).is_err() { mended(data) } else { None };
        let Ok(row) = serde_json::from_slice::<Row<'_>>(mended.as_deref().unwrap_or(data)) else {
            self.bad.push(Problem::at(self.told, "this message is not valid JSON"));
            return Ok(());
        };
        let at = row.time.0.and_then(|time| time.created.0);
        let text = |text| Piece { kind: Str(Some("text".into())), text, ..Piece::default() };
        match kind {
            "user" => self.say(Speaker::User, text(row.text), id, at, sink),
            "shell" => self.say(Speaker::User, text(Str(row.command.full().map(|command| format!("!{command}").into()))), id, at, sink),
            "assistant" => row.content.0.into_iter().try_for_each(|piece| self.say(Speaker::Assistant, piece, id, at, sink)),
            "compaction" => sink(Event::Compacted(at)).map(drop),
            _ => Ok(()),
        }
    }

    fn say(&self, speaker: Speaker, piece: Piece<'_>, id: &str, at: Option<Timestamp>, sink: &mut Sink<'_>) -> Result<()> {
        let (speaker, text) = match piece.kind.as_str() {
            "text" if piece.synthetic.0 || piece.ignored.0 => return Ok(()),
            "text" if speaker == Speaker::User => (speaker, noise::typed(piece.text.0.unwrap_or_default())),
            "text" => (speaker, piece.text.0.unwrap_or_default()),
            "tool" if speaker == Speaker::Assistant => {
                (Speaker::Tool, Cow::Owned(call_text(piece.tool.as_str(), &piece.state.0.unwrap_or_default().input)))
            }
            _ => return Ok(()),
        };
        if !text.trim().is_empty() {
            let line = self.told;
            sink(Event::Turn(Turn { speaker, at, text, message: Some(Cow::Borrowed(id)), line }))?;
        }
        Ok(())
    }

    fn taken(self) -> Taken {
        let mut taken = Taken { cursor: Cursor { at: self.told.max(1), lines: self.told, ..Cursor::default() }, ..Taken::default() };
        self.bad.into_iter().for_each(|problem| taken.problem(problem));
        taken
    }
}
