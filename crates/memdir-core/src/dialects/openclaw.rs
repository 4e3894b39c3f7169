//! OpenClaw's memory tools, on its workspace. Read-only.

use super::{
    Dialect, DialectPlaces, DialectSpace,
    profclaw::{ADVICE, json_result},
};
use crate::{
    base::{
        error::{Error, Result},
        limits,
        text::LineRange,
    },
    operations::read::Read,
    search::{
        Hit, Search,
        ranking::{self, MIN_SCORE},
    },
    store::{Access, Source, mount::Mount},
    tools::{
        Level, Tool, ToolContext, ToolResult,
        args::ToolArguments,
        get::MAX_LINE,
        params::{Param, ShownRange},
        read::cut_line_note,
        search::{self, add_chats_notice, fit_hit, query, rounded_score, search_with_chats},
    },
};
use serde_json::{Value, json};

pub(super) const DIALECT: Dialect = Dialect {
    name: "openclaw",
    stands_for: "OpenClaw's memory_search and memory_get",
    needs: "MEMORY.md, USER.md and memory/ in ~/.openclaw/workspace, and the directories in memory.extraPaths",
    tools: || &TOOLS,
    space,
};

const QUERY: Param = search::QUERY.describe("what you need to know");
const MAX_RESULTS: Param = Param::integer("maxResults", 1, limits::SEARCH_RESULTS as i64)
    .aliases(&["max_results"])
    .shown_range(ShownRange::Min)
    .default_integer(search::DEFAULT_RESULTS)
    .unserved_default()
    .clamped()
    .describe("default 6");
const MIN_SCORE_PARAM: Param = search::MIN_SCORE_PARAM.shown_range(ShownRange::Neither).unserved_default().describe("0 to 1, default 0.35");
const SEARCH_CORPUS: Param = Param::typed_choice("corpus", &["memory", "wiki", "all", "sessions"]).describe("default all");
const PATH: Param = Param::text("path").aliases(&["file_path"]).required().describe("as returned by memory_search");
const FROM: Param = Param::integer("from", 1, MAX_LINE)
    .shown_range(ShownRange::Min)
    .default_integer(1)
    .unserved_default()
    .describe("first line, default 1");
const LINES: Param = Param::integer("lines", 1, MAX_LINE)
    .shown_range(ShownRange::Min)
    .default_integer(GET_LINES)
    .unserved_default()
    .describe("number of lines, default 120");
const GET_CORPUS: Param = Param::typed_choice("corpus", &["memory", "wiki", "all"]).describe("default all");

const TOOLS: [Tool; 2] = [
    Tool {
        name: "memory_search",
        title: "Search memory",
        description: include_str!("../../texts/dialects/openclaw-search.md"),
        params: &[QUERY, MAX_RESULTS, MIN_SCORE_PARAM, SEARCH_CORPUS],
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
        title: "Read memory",
        description: include_str!("../../texts/dialects/openclaw-get.md"),
        params: &[PATH, FROM, LINES, GET_CORPUS],
        closed: false,
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        always_load: false,
        run: |caller, args| ADVICE.apply(get(caller, args)),
    },
];

const SNIPPET_CHARS: usize = 700;
const GET_LINES: i64 = 120;
const GET_CHARS: usize = 12_000;

fn space(places: &DialectPlaces<'_>) -> Result<DialectSpace> {
    let root = places.dir.map_or_else(|| places.home.join(".openclaw/workspace"), ToOwned::to_owned);
    let only = ["MEMORY.md", "memory.md", "USER.md", "memory/**/*.md"].map(ToOwned::to_owned).to_vec();
    let mut mounts = vec![Mount { access: Access::ReadOnly, only, ..places.file_mount("", &root) }];
    mounts.extend(places.extra.iter().cloned());
    Ok(DialectSpace { mounts, root })
}

/// The memories that are searched or read.
enum Corpus {
    /// All of them, or those of one source.
    Memories(Option<Source>),
    /// A corpus that memdir does not have.
    Empty,
}

/// An unknown corpus is an error: an answer from another corpus would be misleading.
fn corpus(args: &ToolArguments<'_>, param: &Param) -> Result<Corpus> {
    Ok(match args.choice(param)? {
        Some("memory") => Corpus::Memories(Some(Source::Memory)),
        Some("sessions") => Corpus::Memories(Some(Source::Chat)),
        Some("wiki") => Corpus::Empty,
        _ => Corpus::Memories(None),
    })
}

fn search(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let search = Search {
        max_results: args.integer(&MAX_RESULTS)?.unwrap_or(search::DEFAULT_RESULTS) as usize,
        min_score: args.number(&MIN_SCORE_PARAM)?.unwrap_or(MIN_SCORE),
        explain: true,
        ..Search::new(query(args)?)
    };
    let corpus = corpus(args, &SEARCH_CORPUS)?;
    args.reject_unknown()?;
    let Corpus::Memories(source) = corpus else {
        let mut out = json!({ "results": [], "provider": "none", "fallback": null, "mode": "none" });
        args.add_notes(&mut out);
        return json_result(out);
    };
    let answer = match search_with_chats(&caller.memdir, &Search { source, ..search }) {
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
    add_chats_notice(&caller.memdir, source, &mut out);
    args.add_notes(&mut out);
    json_result(out)
}

fn hit(hit: &Hit) -> Value {
    let fitted = fit_hit(hit, SNIPPET_CHARS);
    let (first, last) = fitted.lines.split_once('-').unwrap_or((&fitted.lines, &fitted.lines));
    let number = |text: &str| text.parse::<u64>().unwrap_or(1);
    let corpus = if hit.source == Source::Chat { "sessions" } else { "memory" };
    let (first, last) = (number(first), number(last));
    let place = if first == last { format!("{}#L{first}", hit.path) } else { format!("{}#L{first}-L{last}", hit.path) };
    let mut out = json!({
        "path": hit.path, "startLine": first, "endLine": last, "score": rounded_score(hit.score),
        "snippet": crate::base::text::ellipsis(fitted.text, SNIPPET_CHARS), "source": corpus, "corpus": corpus, "citation": place,
    });
    if let Some(explain) = &hit.explain {
        out["textScore"] =
            json!(rounded_score(ranking::score(&explain.parts, explain.assistant, explain.mass, None, ranking::Scale::WORDS)));
        if let Some(cosine) = explain.cosine {
            out["vectorScore"] = json!(rounded_score(cosine.clamp(0.0, 1.0)));
        }
    }
    out
}

/// The answer if the memory cannot be searched. It asks the model to inform the user.
fn unavailable(error: &Error) -> Result<ToolResult> {
    json_result(json!({
        "results": [], "disabled": true, "unavailable": true, "error": error.to_string(),
        "warning": "Memory cannot be searched at the moment; tell the user.",
        "action": ADVICE.hint(error),
    }))
}

fn get(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let path = args.path(&PATH)?;
    let first = args.integer(&FROM)?.unwrap_or(1).unsigned_abs();
    let count = args.integer(&LINES)?.unwrap_or(GET_LINES).unsigned_abs();
    let corpus = corpus(args, &GET_CORPUS)?;
    args.reject_unknown()?;
    let missing = || json_result(json!({ "status": "not_found", "text": "", "path": path }));
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
        if !args.has(&LINES) || reading.next_line.is_some() {
            out["text"] = json!(format!("{}{note}", reading.content.trim_end_matches('\n')));
        }
    }
    if let Some(note) = cut_line_note(caller, &reading) {
        out["truncated"] = json!(true);
        out["note"] = json!(note);
    }
    json_result(out)
}
