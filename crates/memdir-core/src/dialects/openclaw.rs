//! OpenClaw's memory tools over its workspace. Reads only.

use super::{Dialect, Places, Space, profclaw::said};
use crate::{
    base::{
        error::{Error, Result},
        text::LineRange,
    },
    operations::read::Read,
    search::{Hit, Search, ranking},
    store::{Access, Source, files::Mount},
    tools::{
        Caller, Level, Tool, ToolResult,
        args::Args,
        search::{cut, notice, query, score},
    },
};
use serde_json::{Value, json};

pub(super) const DIALECT: Dialect = Dialect {
    name: "openclaw",
    stands_for: "OpenClaw's memory_search and memory_get",
    needs: "~/.openclaw/workspace: MEMORY.md, USER.md and memory/, and the directories of memory.extraPaths",
    tools: || &TOOLS,
    space,
};

const TOOLS: [Tool; 2] = [
    Tool {
        name: "memory_search",
        title: "Search memory",
        description: include_str!("../../texts/dialects/openclaw-search.md"),
        input: || {
            json!({ "type": "object", "properties": {
                "query": { "type": "string", "description": "what you need to know" },
                "maxResults": { "type": "integer", "minimum": 1, "description": "default 6" },
                "minScore": { "type": "number", "description": format!("0 to 1, default {}", ranking::MIN_SCORE_F64) },
                "corpus": { "type": "string", "enum": ["memory", "wiki", "all", "sessions"], "description": "default all" }
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
        title: "Read memory",
        description: include_str!("../../texts/dialects/openclaw-get.md"),
        input: || {
            json!({ "type": "object", "properties": {
                "path": { "type": "string", "description": "as memory_search returned it" },
                "from": { "type": "integer", "minimum": 1, "description": "the first line, default 1" },
                "lines": { "type": "integer", "minimum": 1, "description": "how many, default 120" },
                "corpus": { "type": "string", "enum": ["memory", "wiki", "all"], "description": "default all" }
            }, "required": ["path"] })
        },
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        run: get,
    },
];

const SNIPPET_CHARS: usize = 700;
const GET_LINES: i64 = 120;
const GET_CHARS: usize = 12_000;
const MOST_RESULTS: i64 = 100;

fn space(places: &Places<'_>) -> Result<Space> {
    let root = places.dir.map_or_else(|| places.home.join(".openclaw/workspace"), ToOwned::to_owned);
    let only = ["MEMORY.md", "memory.md", "USER.md", "memory/**/*.md"].map(ToOwned::to_owned).to_vec();
    let mut mounts = vec![Mount { access: Access::ReadOnly, only, ..places.plain("", &root) }];
    mounts.extend(places.extra.iter().cloned());
    Ok(Space { mounts, root })
}

/// Which memories are meant.
enum Corpus {
    /// All of them, or those of one source.
    Of(Option<Source>),
    /// One that memdir does not have.
    Empty,
}

/// A corpus nobody knows is refused: an answer from another one would be believed.
fn corpus(args: &Args<'_>, known: &[&str]) -> Result<Corpus> {
    let given = args.text(&["corpus"])?;
    match given.as_deref() {
        None | Some("all") => Ok(Corpus::Of(None)),
        Some("memory") => Ok(Corpus::Of(Some(Source::Memory))),
        Some("sessions") if known.contains(&"sessions") => Ok(Corpus::Of(Some(Source::Chat))),
        Some("wiki") => Ok(Corpus::Empty),
        Some(other) => Err(Error::bad_input("corpus", format!("{other:?} is not one of {}", known.join(", ")))),
    }
}

fn search(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let search = Search {
        max_results: args.whole(&["maxResults", "max_results"], 1..=i64::MAX)?.unwrap_or(6).min(MOST_RESULTS) as usize,
        min_score: args.number(&["minScore", "min_score"], 0.0..=1.0)?.unwrap_or(ranking::MIN_SCORE_F64) as f32,
        explain: true,
        ..Search::new(query(args)?)
    };
    let corpus = corpus(args, &["memory", "wiki", "all", "sessions"])?;
    args.finish()?;
    let Corpus::Of(source) = corpus else { return said(json!({ "results": [], "provider": "none", "fallback": null, "mode": "none" })) };
    let answer = match caller.memdir.search(&Search { source, ..search }) {
        Ok(answer) => answer,
        Err(error @ (Error::BadInput { .. } | Error::BadPath { .. })) => return Err(error),
        Err(error) => return unavailable(&error),
    };
    let embedder = caller.memdir.searcher()?.embedder();
    let mut out = json!({
        "results": answer.hits.iter().map(hit).collect::<Vec<_>>(),
        "provider": if embedder.is_some() { "local" } else { "none" },
        "model": embedder.map(|embedder| embedder.id().as_str().to_owned()),
        "fallback": null,
        "citations": "auto",
        "mode": answer.method,
    });
    notice(&caller.memdir, source, &mut out);
    said(out)
}

fn hit(hit: &Hit) -> Value {
    let fitted = cut(hit, SNIPPET_CHARS);
    let (first, last) = fitted.lines.split_once('-').unwrap_or((&fitted.lines, &fitted.lines));
    let number = |text: &str| text.parse::<u64>().unwrap_or(1);
    let corpus = if hit.source == Source::Chat { "sessions" } else { "memory" };
    let (first, last) = (number(first), number(last));
    let place = if first == last { format!("{}#L{first}", hit.path) } else { format!("{}#L{first}-L{last}", hit.path) };
    let mut out = json!({
        "path": hit.path, "startLine": first, "endLine": last, "score": score(hit.score),
        "snippet": crate::base::text::ellipsis(fitted.text, SNIPPET_CHARS), "source": corpus, "corpus": corpus, "citation": place,
    });
    if let Some(explain) = &hit.explain {
        out["textScore"] = json!(score(ranking::score(&explain.parts, explain.assistant, explain.mass, None, ranking::Scale::WORDS)));
        if let Some(cosine) = explain.cosine {
            out["vectorScore"] = json!(score(cosine.clamp(0.0, 1.0)));
        }
    }
    out
}

/// What is answered when the memory cannot be searched: the model is to tell the user.
fn unavailable(error: &Error) -> Result<ToolResult> {
    said(json!({
        "results": [], "disabled": true, "unavailable": true, "error": error.to_string(),
        "warning": "Memory cannot be searched at the moment; tell the user.",
        "action": error.hint(),
    }))
}

fn get(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let path = args.path(&["path", "file_path"])?;
    let first = args.whole(&["from"], 1..=i64::from(u32::MAX))?.unwrap_or(1).unsigned_abs();
    let count = args.whole(&["lines"], 1..=i64::from(u32::MAX))?.unwrap_or(GET_LINES).unsigned_abs();
    let corpus = corpus(args, &["memory", "wiki", "all"])?;
    args.finish()?;
    let missing = || said(json!({ "status": "not_found", "text": "", "path": path }));
    if matches!(corpus, Corpus::Empty) {
        return missing();
    }
    let lines = Some(LineRange { first, last: Some(first + count - 1) });
    let reading = match caller.memdir.read(&Read { path: path.clone(), lines, max_chars: GET_CHARS }) {
        Ok(reading) => reading,
        Err(Error::NotFound { .. }) => return missing(),
        Err(error) => return Err(error),
    };
    let last = reading.lines.split_once('-').and_then(|(_, last)| last.parse::<u64>().ok()).unwrap_or(0);
    let shown = (last + 1).saturating_sub(first);
    let mut out = json!({ "path": reading.path, "text": reading.content, "from": first, "lines": shown });
    if last < reading.total_lines {
        out["truncated"] = json!(true);
        out["nextFrom"] = json!(last + 1);
        let note = format!("\n[lines {first}-{last} of {}; continue with from={}]", reading.total_lines, last + 1);
        if args.any(&["lines"]).is_none() || reading.next_line.is_some() {
            out["text"] = json!(format!("{}{note}", reading.content.trim_end_matches('\n')));
        }
    }
    said(out)
}
