//! profClaw's memory tools over a workspace: `MEMORY.md`, everything below `memory/`, and further paths. Reads only.

use super::{Dialect, Places, Space};
use crate::{
    base::{
        error::{Error, Result},
        limits,
        text::LineRange,
    },
    operations::read::Read,
    store::{Access, Source, files::Mount},
    tools::{
        Caller, Level, Tool, ToolResult,
        args::Args,
        get,
        search::{self, fitted, score},
    },
};
use serde_json::{Value, json};

pub(super) const DIALECT: Dialect = Dialect {
    name: "profclaw",
    stands_for: "profClaw's memory tools",
    needs: "MEMORY.md and memory/ in the current directory, and the directories of memory.extraPaths",
    tools: || &TOOLS,
    space,
};

const TOOLS: [Tool; 3] = [
    Tool {
        name: "memory_search",
        title: "Search memory",
        description: include_str!("../../texts/dialects/profclaw-search.md"),
        input: || {
            json!({ "type": "object", "properties": {
                "query": { "type": "string", "description": "what you need to know" },
                "maxResults": { "type": "integer", "minimum": 1, "maximum": 20, "default": 6 },
                "minScore": { "type": "number", "minimum": 0, "maximum": 1, "default": crate::search::ranking::MIN_SCORE_F64 },
                "source": { "type": "string", "enum": ["all", "memory", "chat", "custom"], "default": "all" }
            }, "required": ["query"] })
        },
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        run: search,
    },
    Tool {
        name: "memory_get",
        title: "Read memory lines",
        description: include_str!("../../texts/dialects/profclaw-get.md"),
        input: || {
            json!({ "type": "object", "properties": {
                "path": { "type": "string", "description": "as memory_search returned it" },
                "lines": { "type": ["string", "integer"], "description": "42-56, or with from how many lines" },
                "from": { "type": "integer", "minimum": 1, "description": "the first line" }
            }, "required": ["path"] })
        },
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        run: get,
    },
    Tool {
        name: "memory_stats",
        title: "Memory statistics",
        description: include_str!("../../texts/dialects/profclaw-stats.md"),
        input: || json!({ "type": "object", "properties": {} }),
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        run: stats,
    },
];

/// Characters of all passages of one answer.
const SEARCH_CHARS: usize = 30_000;
/// Lines shown from `from` on when nobody says how many.
const USUAL_LINES: u64 = 20;

fn space(places: &Places<'_>) -> Result<Space> {
    let root = places.dir.unwrap_or(places.cwd).to_owned();
    let only = ["MEMORY.md", "memory/**/*.md", "memory/**/*.markdown", "memory/**/*.txt"].map(ToOwned::to_owned).to_vec();
    let mut mounts = vec![Mount { access: Access::ReadOnly, only, ..places.plain("", &root) }];
    mounts.extend(places.extra.iter().cloned());
    Ok(Space { mounts, root })
}

/// The documented JSON, as text too.
pub(super) fn said(value: Value) -> Result<ToolResult> {
    let text = value.to_string();
    Ok(ToolResult::new(value, text))
}

fn search(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let request = search::request(args)?;
    args.finish()?;
    let answer = caller.memdir.search(&request)?;
    let results: Vec<Value> = fitted(&answer.hits, SEARCH_CHARS)
        .iter()
        .map(|fitted| {
            json!({
                "path": fitted.hit.path, "lines": fitted.lines, "text": fitted.text,
                "score": score(fitted.hit.score), "source": fitted.hit.source,
            })
        })
        .collect();
    let mut out = json!({
        "query": request.query, "results": results, "totalFound": answer.total, "method": answer.method,
        "stats": { "totalFiles": answer.searched.files, "totalChunks": answer.searched.units },
    });
    search::notice(&caller.memdir, request.source, &mut out);
    said(out)
}

fn get(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let path = args.path(&["path", "file_path"])?;
    let lines = get::lines(args)?;
    args.finish()?;
    // Where only the first line was given, a few follow it; a range such as 42- goes to the end.
    let lines = lines.map(|lines| match (args.any(&["from"]), args.any(&["lines"])) {
        (Some(_), None) => LineRange { last: Some(lines.first + USUAL_LINES - 1), ..lines },
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
            said(out)
        }
        Err(Error::NotFound { .. }) => said(json!({ "path": path, "content": "", "fromLine": 0, "toLine": 0, "found": false })),
        Err(error) => Err(error),
    }
}

fn stats(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    args.finish()?;
    let searcher = caller.memdir.searcher()?;
    let counts = searcher.counts(caller.memdir.store())?;
    let (files, chunks) = counts.iter().fold((0, 0), |(files, chunks), mount| (files + mount.counts.files, chunks + mount.counts.units));
    let bytes: u64 = caller.memdir.store().list("")?.entries.iter().map(|entry| entry.stamp.size).sum();
    let mut sources: Vec<Source> = counts.iter().map(|mount| mount.source).collect();
    sources.sort();
    sources.dedup();
    let model = searcher.embedder().map(|embedder| embedder.id().as_str().to_owned());
    // Counting brings the index in step with the files first.
    let now = caller.memdir.context().clock.now().round(jiff::Unit::Second).unwrap_or_default();
    let mut out = json!({
        "totalFiles": files, "totalChunks": chunks, "totalTokensEstimate": bytes / 4, "lastSyncAt": now.to_string(),
        "cachedEmbeddings": if model.is_some() { chunks } else { 0 }, "embeddingModel": model, "sources": sources,
    });
    if caller.memdir.chats_off() {
        out["off"] = json!([Source::Chat]);
    }
    said(out)
}
