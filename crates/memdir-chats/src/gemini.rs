//! Gemini CLI: one JSONL file per session (older: one JSON object) under `tmp/<project>/chats/`. A message may be
//! written again and the person may go back, so a session that changed is always told from its beginning.

use super::{
    About, ChatSource, Cursor, Event, Found, Host, Rewind, SessionFile, Sink, Speaker, Taken, TitleRank, Turn,
    claude_code::session_file,
    content::{Call, Content, Part, call_text},
    json::{FromJson, List, Obj, Str, Time, loose, mended},
    jsonl::{self, Raw, Step},
    noise, walk,
};
use memdir_core::base::{
    error::{Error, Problem, Result},
    limits,
};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess},
};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fs,
    io::BufReader,
    path::{Path, PathBuf},
};

/// Gemini CLI's conversations.
#[derive(Debug, Clone)]
pub struct Gemini {
    dir: PathBuf,
}

impl Gemini {
    /// Those under its directory.
    pub fn new(dir: PathBuf) -> Self {
        Gemini { dir }
    }
}

impl ChatSource for Gemini {
    fn host(&self) -> Host {
        Host::Gemini
    }

    fn sessions(&self) -> Found {
        let mut found = Found::default();
        let directories = project_directories(&self.dir.join("projects.json"));
        for project in walk::list(&self.dir.join("tmp"), &mut found) {
            let directory = project_root(&project.path).or_else(|| directories.get(&project.name).cloned());
            let files = walk::list(&project.path.join("chats"), &mut found);
            let names: HashSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
            for file in &files {
                // Sub-agents' sessions are in folders of their own.
                let Some((key, extension)) = file.name.rsplit_once('.').filter(|_| !file.is_dir && file.name.starts_with("session-"))
                else {
                    continue;
                };
                // A resumed session of the older form continues in a file of the newer one, which repeats it.
                let is_old_form = extension == "json" && names.contains(format!("{key}.jsonl").as_str());
                if matches!(extension, "json" | "jsonl") && !is_old_form {
                    let session = session_file(Host::Gemini, key, &file.path);
                    found.sessions.extend(session.map(|session| SessionFile { project_dir: directory.clone(), ..session }));
                }
            }
        }
        super::claude_code::each_once(&mut found);
        found
    }

    fn turns(&self, session: &SessionFile, from: &Cursor, sink: &mut Sink<'_>) -> Result<Taken> {
        if from.at > 0 {
            sink(Event::Restart)?;
        }
        if session.path.extension().is_some_and(|extension| extension == "json") {
            return read_object(session, sink);
        }
        let mut reader = Reader::default();
        let every = |_: &[u8]| true;
        jsonl::each_to_the_end(session, sink, every, &mut |raw, line, sink| reader.line(raw, line, sink))
    }
}

/// The directory a project's folder says it belongs to.
fn project_root(folder: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(folder.join(".project_root")).ok()?;
    Some(PathBuf::from(text.trim())).filter(|path| path.is_absolute())
}

/// Directories by the names the registry gave them.
fn project_directories(registry: &Path) -> HashMap<String, PathBuf> {
    #[derive(Deserialize)]
    struct Registry {
        projects: HashMap<String, String>,
    }
    let read = || serde_json::from_slice::<Registry>(&fs::read(registry).ok()?).ok();
    read().map_or_else(HashMap::new, |registry| registry.projects.into_iter().map(|(dir, name)| (name, dir.into())).collect())
}

/// The older form: the whole session in one object, written anew each time.
fn read_object(session: &SessionFile, sink: &mut Sink<'_>) -> Result<Taken> {
    let file = fs::File::open(&session.path).map_err(|source| Error::io("read", &session.path, source))?;
    let mut taken = Taken { cursor: Cursor { at: session.stamp.size.max(1), ..Cursor::default() }, ..Taken::default() };
    let mut decoder = serde_json::Deserializer::from_reader(BufReader::new(file));
    match Meta::deserialize(&mut decoder) {
        Ok(meta) => Reader::default().whole(meta, sink)?,
        Err(error) => {
            let whole = fs::read(&session.path).ok().filter(|_| session.stamp.size <= limits::READ_FILE_BYTES);
            let mended = whole.as_deref().and_then(mended).unwrap_or_default();
            match serde_json::from_slice(&mended) {
                Ok(meta) => Reader::default().whole(meta, sink)?,
                Err(_) => taken.problem(Problem::at(error.line() as u64, "this is not a session of Gemini CLI")),
            }
        }
    }
    Ok(taken)
}

/// Any line: a message, what is known of the session, a change to that, or a step back.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
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
    tool_calls: List<Call<'a>>,
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

/// What is known of a session; in the older form with all its messages.
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
    messages: List<Message<'a>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
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
    tool_calls: List<Call<'a>>,
}

/// The first text of a list.
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

#[derive(Default)]
struct Reader {
    seen: HashSet<String>,
    is_subagent: bool,
    /// What was told about the session so far.
    known: About<'static>,
    /// All messages were written at once; lines of single ones no longer count.
    is_whole: bool,
}

impl Reader {
    fn line(&mut self, raw: Raw<'_>, line: u64, sink: &mut Sink<'_>) -> Result<Step> {
        let record: Record<'_> = match raw.decode() {
            Ok(record) => record,
            Err(error) => return Ok(Step::Bad(error)),
        };
        if let Some(id) = record.rewind_to.full() {
            if !self.is_whole {
                sink(Event::Rewind(Rewind::To(id)))?;
            }
        } else if record.id.full().is_some() {
            let Record { id, timestamp, kind, content, display_content, tool_calls, .. } = record;
            if !self.is_whole {
                self.message(Message { id, timestamp, kind, content, display_content, tool_calls }, line, sink)?;
            }
        } else if let Some(meta) = record.set.0 {
            if !meta.messages.0.is_empty() {
                sink(Event::Restart)?;
                // What is known of the session itself still holds.
                sink(Event::About(self.known.clone()))?;
                self.is_whole = true;
            }
            self.whole(meta, sink)?;
        } else if record.session_id.full().is_some() {
            let Record { session_id, start_time, summary, directories, session_kind: kind, .. } = record;
            self.about(Meta { session_id, start_time, summary, directories, kind, ..Meta::default() }, sink)?;
        }
        // A session is told whole or not at all, so the reading is never stopped half way.
        Ok(Step::Next)
    }

    fn whole(&mut self, mut meta: Meta<'_>, sink: &mut Sink<'_>) -> Result<()> {
        let messages = std::mem::take(&mut meta.messages.0);
        self.about(meta, sink)?;
        messages.into_iter().try_for_each(|message| self.message(message, 0, sink))
    }

    fn about(&mut self, meta: Meta<'_>, sink: &mut Sink<'_>) -> Result<()> {
        self.is_subagent |= meta.kind.as_str() == "subagent";
        let title = meta.summary.0.filter(|summary| !summary.trim().is_empty()).map(|summary| (TitleRank::Given, summary));
        let (id, project_dir, started) = (meta.session_id.0, meta.directories.0, meta.start_time.0);
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(|text| Cow::Owned(text.to_owned()));
        let known = &mut self.known;
        known.id = owned(&id).or(known.id.take());
        known.project_dir = owned(&project_dir).or(known.project_dir.take());
        known.started = started.or(known.started);
        known.title = title.as_ref().map(|(rank, title)| (*rank, Cow::Owned(title.clone().into_owned()))).or(known.title.take());
        sink(Event::About(About { id, title, project_dir, started, ..About::default() }))?;
        Ok(())
    }

    fn message(&mut self, message: Message<'_>, line: u64, sink: &mut Sink<'_>) -> Result<()> {
        if self.is_subagent {
            return Ok(());
        }
        if let Some(id) = message.id.full()
            && !self.seen.insert(id.to_owned())
        {
            sink(Event::Replace(id))?;
        }
        let (at, id) = (message.timestamp.0, message.id.0.clone());
        for (speaker, text) in parts(message) {
            sink(Event::Turn(Turn { speaker, at, text, message: id.as_deref().map(Cow::Borrowed), line }))?;
        }
        Ok(())
    }
}

/// What a message says.
fn parts(message: Message<'_>) -> Vec<(Speaker, Cow<'_, str>)> {
    match message.kind.as_str() {
        "user" => {
            // What was shown is what was typed; the content may have files put in.
            let shown = plain(message.display_content).text();
            let text = if shown.trim().is_empty() { noise::typed_in_gemini(plain(message.content).text()) } else { shown };
            if text.trim().is_empty() { Vec::new() } else { vec![(Speaker::User, text)] }
        }
        "gemini" => {
            let mut said = super::claude_code::assistant_parts(plain(message.content));
            let calls = message.tool_calls.0.iter().map(|call| (Speaker::Tool, Cow::Owned(call_text(call.name.as_str(), &call.args))));
            said.extend(calls);
            said
        }
        _ => Vec::new(),
    }
}

/// Texts that stand in the list as they are count here.
fn plain(content: Content<'_>) -> Content<'_> {
    let parts = content.parts.into_iter().map(|part| if let Part::Bare(text) = part { Part::Text(text) } else { part }).collect();
    Content { parts }
}
