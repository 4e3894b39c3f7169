//! The tools of mcp-agent-memory: read the index and topics, append sessions, search for words, and show the consolidation status.

mod status;

use super::{Advice, Dialect, DialectPlaces, DialectSpace, cut_with_note, rest_is_in};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
        text,
    },
    memory::lines::heading,
    operations::{
        raw_files,
        write::{Write, WriteMode},
    },
    search::{Search, analysis::Analyser},
    store::{
        Source, Store, Stored,
        mount::{Mount, real_path},
    },
    tools::{Level, Tool, ToolContext, ToolResult, args::ToolArguments, params::Param, search::search_with_chats},
};
use std::{collections::BTreeSet, fmt::Write as _};

pub(super) const DIALECT: Dialect = Dialect {
    name: "agent-memory",
    stands_for: "mcp-agent-memory (mcp-server-memory)",
    needs: "MEMORY_DIRECTORY or ~/.agent-memory/memory, and SESSION_DIRECTORY or ~/.agent-memory/sessions",
    tools: || &TOOLS,
    space,
};

const TOPICS: Param = Param::text_list("topics").aliases(&["topic"]).describe("memory names; .md is optional");
const CONTENT: Param = Param::text("content").required().describe("Markdown");
const SOURCE: Param = Param::text("source").describe("name of the saving program, used in the file name; default mcp");
const QUERY: Param = Param::text("query").required().describe("words to search for, in any order");

const TOOLS: [Tool; 4] = [
    Tool {
        name: "memory_read",
        title: "Read memory",
        description: include_str!("../../texts/dialects/agent-memory-read.md"),
        params: &[TOPICS],
        closed: false,
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        always_load: false,
        run: read,
    },
    Tool {
        name: "memory_append_session",
        title: "Save a session",
        description: include_str!("../../texts/dialects/agent-memory-append_session.md"),
        params: &[CONTENT, SOURCE],
        closed: false,
        output: None,
        level: Level::Changes,
        idempotent: false,
        titled: false,
        always_load: false,
        run: append_session,
    },
    Tool {
        name: "memory_search",
        title: "Search memory",
        description: include_str!("../../texts/dialects/agent-memory-search.md"),
        params: &[QUERY],
        closed: false,
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        always_load: false,
        run: search,
    },
    Tool {
        name: "memory_daemon_status",
        title: "Consolidation status",
        description: include_str!("../../texts/dialects/agent-memory-status.md"),
        params: &[],
        closed: false,
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        always_load: false,
        run: status::run,
    },
];

const RULE: &str = "\n\n---\n\n";
const SESSIONS: &str = "sessions";
/// Maximum number of files in a search result.
const FILES: usize = 20;
/// Maximum number of lines per file.
const LINES: usize = 3;
/// Maximum number of characters per line.
const LINE_CHARS: usize = 400;

fn space(places: &DialectPlaces<'_>) -> Result<DialectSpace> {
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
    let mut mounts = vec![places.file_mount("", &memory)];
    // Sessions below the memory directory already have names there.
    if !real_path(&sessions).starts_with(real_path(&memory)) {
        mounts.push(Mount { source: Source::Chat, ..places.file_mount(SESSIONS, &sessions) });
    }
    Ok(DialectSpace { mounts, root: sessions })
}

/// The prefix of the names of sessions. Fails if the space was narrowed to a part without them.
fn sessions_prefix(caller: &ToolContext) -> Result<String> {
    let root = real_path(&caller.root);
    let holding = caller.memdir.store().mounts().iter().filter_map(|mount| Some((mount, root.strip_prefix(&mount.root).ok()?)));
    let (mount, below) = holding.min_by_key(|(_, below)| below.as_os_str().len()).ok_or_else(|| {
        let why = "it is outside the part of the memory that is available here; ask the user to include it";
        Error::explained_unavailable("the session directory", why)
    })?;
    let parts = [mount.prefix.as_str(), &below.to_string_lossy()].map(ToOwned::to_owned);
    Ok(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/"))
}

const ADVICE: Advice = Advice {
    name: "Use a name such as deploy or topics/deploy.",
    list: "Call memory_read without topics to list the existing names.",
    edit: "Save the change with memory_append_session.",
    split: "Save the text as several sessions.",
};

/// Turns an error into a failure as this system writes it.
fn as_failure(result: Result<ToolResult>) -> Result<ToolResult> {
    if matches!(result, Err(Error::Proposed { .. })) {
        return result;
    }
    Ok(result.unwrap_or_else(|error| match &error {
        // The message says what is accepted.
        Error::BadInput { .. } => ToolResult::failure(format!("Error: {error}")),
        other => ToolResult::failure(format!("Error: {}. {}", ADVICE.message(other), ADVICE.hint(other))),
    }))
}

fn read(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    as_failure((|| {
        let topics = args.texts(&TOPICS)?;
        args.reject_unknown()?;
        let store = caller.memdir.store();
        let mut out = match raw_files::get(store, &MemoryPath::parse("MEMORY.md")?)? {
            Some(index) => content(caller, &index, limits::DIALECT_CHARS),
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
                    let text = format!("# {topic}\n\n{}", content(caller, &stored, room.max(1_000)));
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

fn content(caller: &ToolContext, stored: &Stored, max_chars: usize) -> String {
    cut_with_note(&text::decode(&stored.bytes).0, max_chars, |line, left| rest_is_in(caller, &stored.path, line, left))
}

fn append_session(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    as_failure((|| {
        let (content, source) = (args.required_text(&CONTENT)?, args.text(&SOURCE)?);
        args.reject_unknown()?;
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
        let prefix = sessions_prefix(caller)?;
        // Sessions saved in the same millisecond get numbered names.
        for n in 1..1_000 {
            let name = if n == 1 { format!("{stem}.md") } else { format!("{stem}-{n}.md") };
            let path = MemoryPath::parse(&name)?.prefixed(&prefix);
            match caller.memdir.write(&Write::create(path, text.clone()).mode(WriteMode::CreateExact)) {
                Ok(_) => return Ok(ToolResult::text(format!("Wrote session: {name}"))),
                Err(Error::Exists { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::unavailable("cannot save the session", "too many sessions were saved at the same time"))
    })())
}

fn search(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    as_failure((|| {
        let query = args.required_text(&QUERY)?;
        args.reject_unknown()?;
        let query = query.trim();
        if query.is_empty() {
            return Err(Error::bad_input("query", "it must not be blank"));
        }
        let files = matching_files(caller, query)?;
        // Sessions are elsewhere, and are found without it.
        if files.is_empty() && !caller.memdir.store().mounts().iter().any(|mount| mount.prefix.is_empty() && mount.root.is_dir()) {
            return Ok(ToolResult::text("(memory directory does not exist)"));
        }
        if files.is_empty() {
            return Ok(ToolResult::text(format!("(no matches for \"{query}\")")));
        }
        let shown: Vec<String> = files.iter().take(FILES).map(|(path, lines)| format!("## {path}\n{}", lines.join("\n"))).collect();
        let mut out = shown.join("\n\n");
        if files.len() > FILES {
            let _ = write!(out, "\n\n({} more files)", files.len() - FILES);
        }
        Ok(ToolResult::text(out))
    })())
}

/// The files found by the search, best first, then every other file that contains the query verbatim.
fn matching_files(caller: &ToolContext, query: &str) -> Result<Vec<(MemoryPath, Vec<String>)>> {
    let store = caller.memdir.store();
    let mut out: Vec<(MemoryPath, Vec<String>)> = Vec::new();
    let search = Search { max_results: FILES * 2, ..Search::new(query) };
    for hit in search_with_chats(&caller.memdir, &search)?.hits {
        if out.iter().any(|(path, _)| *path == hit.path) {
            continue;
        }
        let mut lines = matching_lines(store, &hit.path, query, true)?;
        if lines.is_empty() {
            lines = hit.text.lines().filter(|line| !line.trim().is_empty()).take(LINES).map(shorten).collect();
        }
        out.push((hit.path, lines));
    }
    for entry in store.list("")?.entries {
        if !out.iter().any(|(path, _)| *path == entry.path) {
            let lines = matching_lines(store, &entry.path, query, false)?;
            if !lines.is_empty() {
                out.push((entry.path, lines));
            }
        }
    }
    Ok(out)
}

/// The lines that contain the query verbatim. If there are none and `any_word` is set, the lines with the most words of the query,
/// in any inflection.
fn matching_lines(store: &dyn Store, path: &MemoryPath, query: &str, any_word: bool) -> Result<Vec<String>> {
    let stored = match store.get(path) {
        Ok(Some(stored)) => stored,
        // The file vanished or is not a text; the other files are still searched.
        Ok(None) | Err(Error::TooLarge { .. } | Error::BadPath { .. } | Error::Io { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let (content, _) = text::decode(&stored.bytes);
    let content = crate::secrets::redact(&content);
    let query = query.to_lowercase();
    let verbatim: Vec<(usize, &str)> =
        content.lines().enumerate().filter(|(_, line)| line.to_lowercase().contains(&query)).take(LINES).collect();
    if !verbatim.is_empty() || !any_word {
        return Ok(with_answer(&content, verbatim));
    }
    let mut analyser = Analyser::default();
    let asked = stems(&mut analyser, &query);
    let mut lines: Vec<(usize, usize, &str)> = content
        .lines()
        .enumerate()
        .map(|(n, line)| (stems(&mut analyser, line).intersection(&asked).count(), n, line))
        .filter(|(count, _, _)| *count > 0)
        .collect();
    lines.shared_sort_by_key(|(count, n, _)| (std::cmp::Reverse(*count), *n));
    lines.truncate(LINES);
    lines.shared_sort_by_key(|(_, n, _)| *n);
    Ok(with_answer(&content, lines.into_iter().map(|(_, n, line)| (n, line)).collect()))
}

/// The lines as they are shown. If all of them are headings, the text below the last one follows: a heading alone answers nothing.
fn with_answer<'t>(content: &'t str, mut lines: Vec<(usize, &'t str)>) -> Vec<String> {
    if let Some(&(last, _)) = lines.last()
        && lines.iter().all(|(_, line)| heading(line).is_some())
    {
        let below = content.lines().enumerate().skip(last + 1).filter(|(_, line)| !line.trim().is_empty());
        lines.truncate(LINES - 1);
        let room = LINES - lines.len();
        lines.extend(below.take(room));
    }
    lines.into_iter().map(|(_, line)| shorten(line)).collect()
}

/// The stems of a text without stop words, by the analyser of the search.
fn stems(analyser: &mut Analyser, text: &str) -> BTreeSet<String> {
    analyser.split_words(text).into_iter().filter(|word| !word.stop).map(|word| word.stem).collect()
}

fn shorten(line: &str) -> String {
    text::ellipsis(line.trim(), LINE_CHARS).into_owned()
}
