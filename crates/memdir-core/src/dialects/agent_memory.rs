//! The tools of mcp-agent-memory: an index and topics to read, sessions to append, a plain search, and a status that
//! works everywhere.

mod status;

use super::{Dialect, Places, Space, whole};
use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
        text,
    },
    operations::{exact, write::Write},
    search::{Search, analysis::Analyser},
    store::{
        Source, Store,
        files::{Mount, real_path},
    },
    tools::{Caller, Level, Tool, ToolResult, args::Args},
};
use serde_json::json;
use std::{collections::BTreeSet, fmt::Write as _};

pub(super) const DIALECT: Dialect = Dialect {
    name: "agent-memory",
    stands_for: "mcp-agent-memory (mcp-server-memory)",
    needs: "MEMORY_DIRECTORY or ~/.agent-memory/memory, and SESSION_DIRECTORY or ~/.agent-memory/sessions",
    tools: || &TOOLS,
    space,
};

const TOOLS: [Tool; 4] = [
    Tool {
        name: "memory_read",
        title: "Read memory",
        description: include_str!("../../texts/dialects/agent-memory-read.md"),
        input: || {
            json!({ "type": "object", "properties": {
                "topics": { "type": "array", "items": { "type": "string" }, "description": "names of memories; .md may be left off" }
            } })
        },
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        run: read,
    },
    Tool {
        name: "memory_append_session",
        title: "Save a session",
        description: include_str!("../../texts/dialects/agent-memory-append_session.md"),
        input: || {
            json!({ "type": "object", "properties": {
                "content": { "type": "string", "description": "Markdown" },
                "source": { "type": "string", "description": "who saves it, for the file's name; default mcp" }
            }, "required": ["content"] })
        },
        output: None,
        level: Level::Changes,
        idempotent: false,
        titled: false,
        run: append_session,
    },
    Tool {
        name: "memory_search",
        title: "Search memory",
        description: include_str!("../../texts/dialects/agent-memory-search.md"),
        input: || json!({ "type": "object", "properties": { "query": { "type": "string", "description": "words, in any order" } }, "required": ["query"] }),
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        run: search,
    },
    Tool {
        name: "memory_daemon_status",
        title: "Consolidation status",
        description: include_str!("../../texts/dialects/agent-memory-status.md"),
        input: || json!({ "type": "object", "properties": {} }),
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        run: status::run,
    },
];

const RULE: &str = "\n\n---\n\n";
const SESSIONS: &str = "sessions";
/// Files a search shows.
const FILES: usize = 20;
/// Lines it shows of each.
const LINES: usize = 3;
/// Characters of a line.
const LINE_CHARS: usize = 400;

fn space(places: &Places<'_>) -> Result<Space> {
    let base = places.home.join(".agent-memory");
    let memory = match (places.dir, (places.path_var)("MEMORY_DIRECTORY")?) {
        (Some(dir), _) => dir.to_owned(),
        (None, Some(dir)) => dir,
        (None, None) => base.join("memory"),
    };
    let sessions = match (places.dir, (places.path_var)("SESSION_DIRECTORY")?) {
        (_, Some(sessions)) => sessions,
        (Some(dir), None) => dir.join(SESSIONS),
        (None, None) => base.join(SESSIONS),
    };
    let mut mounts = vec![places.plain("", &memory)];
    // Sessions below the memories have names there already.
    if !real_path(&sessions).starts_with(real_path(&memory)) {
        mounts.push(Mount { source: Source::Chat, ..places.plain(SESSIONS, &sessions) });
    }
    Ok(Space { mounts, root: sessions })
}

/// What the names of sessions begin with.
fn sessions(caller: &Caller) -> Result<String> {
    let root = real_path(&caller.root);
    let holding = caller.memdir.store().mounts().iter().filter_map(|mount| Some((mount, root.strip_prefix(&mount.root).ok()?)));
    let (mount, below) = holding
        .min_by_key(|(_, below)| below.as_os_str().len())
        .ok_or_else(|| Error::Unavailable { what: "the session directory".into(), why: "it is not part of this space".into() })?;
    let parts = [mount.prefix.as_str(), &below.to_string_lossy()].map(ToOwned::to_owned);
    Ok(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/"))
}

/// Failures as this system writes them.
fn told(done: Result<ToolResult>) -> Result<ToolResult> {
    Ok(done.unwrap_or_else(|error| ToolResult::failure(format!("Error: {error}"))))
}

fn read(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    told((|| {
        let topics = args.texts(&["topics", "topic"])?;
        args.finish()?;
        let store = caller.memdir.store();
        let mut out = match exact::get(store, &MemoryPath::parse("MEMORY.md")?)? {
            Some(index) => content(&text::decode(&index.bytes).0, "MEMORY.md", limits::DIALECT_CHARS),
            None => "(no memories yet)".to_owned(),
        };
        if topics.is_empty() {
            return Ok(ToolResult::text(out));
        }
        let (mut shown, mut missing) = (Vec::new(), Vec::new());
        let mut room = limits::DIALECT_CHARS.saturating_sub(out.chars().count());
        for topic in &topics {
            match MemoryPath::parse(topic).map_err(Error::from).and_then(|path| store.get(&path)) {
                Ok(Some(stored)) => {
                    let text = format!("# {topic}\n\n{}", content(&text::decode(&stored.bytes).0, topic, room.max(1_000)));
                    room = room.saturating_sub(text.chars().count());
                    shown.push(text);
                }
                Ok(None) | Err(Error::BadPath { .. }) => missing.push(topic.as_str()),
                Err(error) => return Err(error),
            }
        }
        out.push_str(RULE);
        out.push_str(&if shown.is_empty() { "(no matching topic files)".to_owned() } else { shown.join(RULE) });
        if !missing.is_empty() {
            let _ = write!(out, "\n\n(not found: {})", missing.join(", "));
        }
        Ok(ToolResult::text(out))
    })())
}

fn content(text: &str, name: &str, max_chars: usize) -> String {
    whole(text, max_chars, |line, left| {
        format!("[{left} more characters of {name} from line {line} on; ask for it alone, or read the file]")
    })
}

fn append_session(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    told((|| {
        let (content, source) = (args.needed(&["content"])?, args.text(&["source"])?);
        args.finish()?;
        if content.trim().is_empty() {
            return Err(Error::bad_input("content", "it must not be blank"));
        }
        let tag = |text: &str| text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).take(64).collect::<String>();
        let tag = source.as_deref().map(tag).filter(|tag| !tag.is_empty()).unwrap_or_else(|| "mcp".into());
        let now = caller.memdir.context().clock.now();
        let time = format!("{now:.3}");
        let text = crate::memory::compose(
            &[("source", source.as_deref().unwrap_or("mcp").lines().next().unwrap_or("mcp")), ("timestamp", &time)],
            &content,
        );
        let stem = format!("{}-{tag}", time.replace([':', '.'], "-"));
        let prefix = sessions(caller)?;
        // Two sessions of one moment are two files.
        for n in 1..1_000 {
            let name = if n == 1 { format!("{stem}.md") } else { format!("{stem}-{n}.md") };
            let path = MemoryPath::parse(&name)?.prefixed(&prefix);
            match caller.memdir.write(&Write::create(path, text.clone())) {
                Ok(_) => return Ok(ToolResult::text(format!("Wrote session: {name}"))),
                Err(Error::Exists { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Unavailable { what: "a name for the session".into(), why: "a thousand of this moment exist already".into() })
    })())
}

fn search(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    told((|| {
        let query = args.needed(&["query"])?;
        args.finish()?;
        let query = query.trim();
        if query.is_empty() {
            return Err(Error::bad_input("query", "it must not be blank"));
        }
        let store = caller.memdir.store();
        if !store.mounts().iter().any(|mount| mount.root.is_dir()) {
            return Ok(ToolResult::text("(memory directory does not exist)"));
        }
        let found = found(caller, query)?;
        if found.is_empty() {
            return Ok(ToolResult::text(format!("(no matches for \"{query}\")")));
        }
        let shown: Vec<String> = found.iter().take(FILES).map(|(path, lines)| format!("## {path}\n{}", lines.join("\n"))).collect();
        let mut out = shown.join("\n\n");
        if found.len() > FILES {
            let _ = write!(out, "\n\n({} more files)", found.len() - FILES);
        }
        Ok(ToolResult::text(out))
    })())
}

/// Files that answer, best first, then every other one that holds the query as it stands.
fn found(caller: &Caller, query: &str) -> Result<Vec<(MemoryPath, Vec<String>)>> {
    let store = caller.memdir.store();
    let mut out: Vec<(MemoryPath, Vec<String>)> = Vec::new();
    for hit in caller.memdir.search(&Search { max_results: FILES * 2, ..Search::new(query) })?.hits {
        if out.iter().any(|(path, _)| *path == hit.path) {
            continue;
        }
        let mut lines = matching(store, &hit.path, query, true)?;
        if lines.is_empty() {
            lines = hit.text.lines().filter(|line| !line.trim().is_empty()).take(LINES).map(short).collect();
        }
        out.push((hit.path, lines));
    }
    for entry in store.list("")?.entries {
        if !out.iter().any(|(path, _)| *path == entry.path) {
            let lines = matching(store, &entry.path, query, false)?;
            if !lines.is_empty() {
                out.push((entry.path, lines));
            }
        }
    }
    Ok(out)
}

/// Lines with the query as it stands, or else, if any word will do, with most of its words in any form.
fn matching(store: &dyn Store, path: &MemoryPath, query: &str, any_word: bool) -> Result<Vec<String>> {
    let stored = match store.get(path) {
        Ok(Some(stored)) => stored,
        // It vanished, or is no text: the other files still count.
        Ok(None) | Err(Error::TooLarge { .. } | Error::BadPath { .. } | Error::Io { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let (content, _) = text::decode(&stored.bytes);
    let content = crate::secrets::mask(&content);
    let query = query.to_lowercase();
    let whole: Vec<String> = content.lines().filter(|line| line.to_lowercase().contains(&query)).take(LINES).map(short).collect();
    if !whole.is_empty() || !any_word {
        return Ok(whole);
    }
    let mut analyser = Analyser::default();
    let asked = stems(&mut analyser, &query);
    let mut lines: Vec<(usize, usize, &str)> = content
        .lines()
        .enumerate()
        .map(|(n, line)| (stems(&mut analyser, line).intersection(&asked).count(), n, line))
        .filter(|(count, _, _)| *count > 0)
        .collect();
    lines.sort_by_key(|(count, n, _)| (std::cmp::Reverse(*count), *n));
    lines.truncate(LINES);
    lines.sort_by_key(|(_, n, _)| *n);
    Ok(lines.into_iter().map(|(_, _, line)| short(line)).collect())
}

/// The words that count in a text, as the search itself tells them apart.
fn stems(analyser: &mut Analyser, text: &str) -> BTreeSet<String> {
    analyser.words(text).into_iter().filter(|word| !word.stop).map(|word| word.stem).collect()
}

fn short(line: &str) -> String {
    text::ellipsis(line.trim(), LINE_CHARS).into_owned()
}
