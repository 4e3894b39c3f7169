//! profClaw's memory tools, on a workspace: `MEMORY.md`, everything below `memory/`, and additional paths. Read-only.

use super::{Advice, Dialect, DialectPlaces, DialectSpace};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{Error, Result},
        limits,
        text::LineRange,
    },
    operations::read::Read,
    store::{Access, Source, mount::Mount},
    tools::{
        Level, Tool, ToolContext, ToolResult,
        args::ToolArguments,
        get,
        params::{Param, ShownRange},
        read::cut_line_note,
        search::{self, fit_hits, rounded_score},
        stats::last_changed,
    },
};
use serde_json::{Value, json};

pub(super) const DIALECT: Dialect = Dialect {
    name: "profclaw",
    stands_for: "profClaw's memory tools",
    needs: "MEMORY.md and memory/ in the current directory, and the directories in memory.extraPaths",
    tools: || &TOOLS,
    space,
};

const QUERY: Param = search::QUERY.describe("what you need to know");
const SOURCE: Param = Param::typed_choice("source", search::SOURCES).aliases(&["sources"]).default_text("all");
const PATH: Param = Param::text("path").aliases(&["file_path"]).required().describe("as returned by memory_search");
const LINES: Param = Param::text("lines").aliases(get::LINES_ALIASES).describe("range such as 42-56 or, with `from`, the number of lines");
const FROM: Param = Param::integer("from", 1, get::MAX_LINE)
    .aliases(get::FROM_ALIASES)
    .shown_range(ShownRange::Min)
    .describe("first line to read; without `lines`, 20 lines are read");

const TOOLS: [Tool; 3] = [
    Tool {
        name: "memory_search",
        title: "Search memory",
        description: include_str!("../../texts/dialects/profclaw-search.md"),
        params: &[QUERY, search::MAX_RESULTS, search::MIN_SCORE_PARAM, SOURCE, search::TYPE.unserved(), search::SINCE.unserved()],
        closed: false,
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        always_load: false,
        run: |caller, args| ADVICE.apply(search(caller, args)),
    },
    Tool {
        name: "memory_get",
        title: "Read memory lines",
        description: include_str!("../../texts/dialects/profclaw-get.md"),
        params: &[PATH, LINES, FROM, get::COUNT.unserved()],
        closed: false,
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        always_load: false,
        run: |caller, args| ADVICE.apply(get(caller, args)),
    },
    Tool {
        name: "memory_stats",
        title: "Memory statistics",
        description: include_str!("../../texts/dialects/profclaw-stats.md"),
        params: &[],
        closed: false,
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        always_load: false,
        run: |caller, args| ADVICE.apply(stats(caller, args)),
    },
];

pub(super) const ADVICE: Advice = Advice {
    name: "Use a path returned by memory_search, such as memory/notes.md.",
    list: "Call memory_search to find existing paths.",
    edit: "Edit the file with a file tool.",
    split: "Split the text into several files.",
};

/// Maximum number of characters of all passages in one answer.
const SEARCH_CHARS: usize = 30_000;
/// Number of lines from `from` on if the caller gives none.
const USUAL_LINES: u64 = 20;

fn space(places: &DialectPlaces<'_>) -> Result<DialectSpace> {
    let root = places.dir.unwrap_or(places.cwd).to_owned();
    let only = ["MEMORY.md", "memory/**/*.md", "memory/**/*.markdown", "memory/**/*.txt"].map(ToOwned::to_owned).to_vec();
    let mut mounts = vec![Mount { access: Access::ReadOnly, only, ..places.file_mount("", &root) }];
    mounts.extend(places.extra.iter().cloned());
    Ok(DialectSpace { mounts, root })
}

/// A result whose text is its JSON, as profClaw documents it.
pub(super) fn json_result(value: Value) -> Result<ToolResult> {
    let text = value.to_string();
    Ok(ToolResult::new(value, text))
}

fn search(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let request = search::request(caller, args, &SOURCE)?;
    args.reject_unknown()?;
    let answer = search::search_with_chats(&caller.memdir, &request)?;
    let results: Vec<Value> = fit_hits(&answer.hits, SEARCH_CHARS)
        .iter()
        .map(|fitted| {
            json!({
                "path": fitted.hit.path, "lines": fitted.lines, "text": fitted.text,
                "score": rounded_score(fitted.hit.score), "source": fitted.hit.source,
            })
        })
        .collect();
    let mut out = json!({
        "query": request.query, "results": results, "totalFound": answer.total, "method": answer.method,
        "stats": { "totalFiles": answer.searched.files, "totalChunks": answer.searched.units },
    });
    search::add_chats_notice(&caller.memdir, request.source, &mut out);
    args.add_notes(&mut out);
    if request.source.is_none()
        && let Some(why) = caller.memdir.why_chats_not_searched()
    {
        // `all` includes chats, so the answer says that it does not. Any other reason is a sentence about the search.
        let is_off = caller.memdir.are_chats_off();
        out["note"] = if is_off { json!(format!("past chats were not searched: {why}")) } else { json!(why) };
    }
    json_result(out)
}

fn get(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let path = args.path(&PATH)?;
    let lines = get::line_range(args, &LINES, &FROM)?;
    args.reject_unknown()?;
    // With `from` alone a few lines are shown; a range such as 42- goes to the end.
    let lines = lines.map(|lines| match (args.has(&FROM), args.has(&LINES)) {
        (true, false) => LineRange { last: Some(lines.first + USUAL_LINES - 1), ..lines },
        _ => lines,
    });
    match caller.memdir.read(&Read { path: path.clone(), lines, max_chars: limits::DIALECT_CHARS }) {
        Ok(reading) => {
            let (first, last) = reading.lines.split_once('-').unwrap_or(("0", "0"));
            let number = |text: &str| text.parse::<u64>().unwrap_or(0);
            let mut out = json!({ "path": reading.path, "content": reading.content, "fromLine": number(first), "toLine": number(last), "found": true });
            if let Some(next) = reading.next_line {
                out["nextFrom"] = json!(next);
            }
            if let Some(note) = cut_line_note(caller, &reading) {
                out["note"] = json!(note);
            }
            json_result(out)
        }
        Err(Error::NotFound { .. }) => json_result(json!({ "path": path, "content": "", "fromLine": 0, "toLine": 0, "found": false })),
        Err(error) => Err(error),
    }
}

fn stats(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    args.reject_unknown()?;
    let searcher = caller.memdir.searcher()?;
    let counts = searcher.counts(caller.memdir.store())?;
    let (files, chunks) = counts.iter().fold((0, 0), |(files, chunks), mount| (files + mount.counts.files, chunks + mount.counts.units));
    let bytes: u64 = caller.memdir.store().list("")?.entries.iter().map(|entry| entry.stamp.size).sum();
    let mut sources: Vec<Source> = counts.iter().map(|mount| mount.source).collect();
    sources.shared_sort();
    sources.dedup();
    let model = searcher.embedder().map(|embedder| embedder.id().as_str().to_owned());
    let mut out = json!({
        "totalFiles": files, "totalChunks": chunks, "totalTokensEstimate": bytes / 4, "lastSyncAt": last_changed(&counts),
        "cachedEmbeddings": counts.iter().map(|mount| mount.vectors).sum::<u64>(), "embeddingModel": model, "sources": sources,
    });
    if caller.memdir.are_chats_off() {
        out["off"] = json!([Source::Chat]);
    }
    json_result(out)
}
