//! `memory_search`: passages that answer a question, or an empty answer if nothing is relevant. Shared with the dialects that search.

use super::{Level, Tool, ToolContext, ToolResult, args::ToolArguments, params::Param};
use crate::{
    base::{
        error::{Error, Result},
        frame::{self, HeaderBrackets},
        limits, text,
        time::parse_since,
    },
    memdir::Memdir,
    memory::{Kind, chunk},
    search::{Answer, Hit, Search, ranking::MIN_SCORE},
    store::Source,
};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Results of one call of a search tool. Each costs tokens, and what is not among the first is seldom read.
const TOOL_RESULTS: usize = 20;

pub(crate) const QUERY: Param = Param::text("query").aliases(&["q", "text"]).required();
pub(crate) const MAX_RESULTS: Param =
    Param::integer("maxResults", 1, TOOL_RESULTS as i64).aliases(&["max_results", "limit"]).default_integer(DEFAULT_RESULTS).clamped();
pub(crate) const MIN_SCORE_PARAM: Param = Param::number("minScore", 0.0, 1.0).aliases(&["min_score"]).default_number(MIN_SCORE).clamped();
pub(crate) const SOURCES: &[&str] = &["all", "memory", "chat", "custom"];
/// Every source, and the chats of all projects.
const ALL_PROJECTS: &str = "all-projects";
const SOURCE: Param =
    Param::choice("source", &["all", "memory", "chat", "custom", "inbox", ALL_PROJECTS]).aliases(&["sources"]).default_text("all");
pub(crate) const TYPE: Param = Param::choice("type", &Kind::NAMES).aliases(&["kind"]);
pub(crate) const SINCE: Param = Param::text("since").aliases(&["after"]).describe("not older than this date, e.g. 2026-01-31");
/// Results if the caller gives no maximum.
pub(crate) const DEFAULT_RESULTS: i64 = 6;

pub(super) const TOOL: Tool = Tool {
    name: "memory_search",
    title: "Search memories",
    description: include_str!("../../texts/tools/search.md"),
    params: &[QUERY.describe("what you need to know, as a sentence"), MAX_RESULTS, MIN_SCORE_PARAM, SOURCE, TYPE, SINCE],
    closed: false,
    output: None,
    level: Level::Safe,
    idempotent: true,
    titled: false,
    always_load: true,
    run,
};

/// Characters of one passage that are kept if not all fit.
const LEAST_CHARS: usize = 200;

fn run(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let search = request(caller, args, &SOURCE)?;
    args.reject_unknown()?;
    let mut answer = search_with_chats(&caller.memdir, &search)?;
    answer.notes.extend(args.notes());
    let hits = fit_hits(&answer.hits, limits::TOOL_CHARS);
    let mut value = structured(&search.query, &answer, &hits);
    add_chats_notice(&caller.memdir, search.source, &mut value);
    args.add_notes(&mut value);
    Ok(ToolResult::new(value, render(&answer, &hits)))
}

/// Reads new conversations if the search covers chats, then searches. A note about the former is added to the answer.
pub(crate) fn search_with_chats(memdir: &Memdir, search: &Search) -> Result<Answer> {
    let note = memdir.catch_up_chats(search.source);
    let mut answer = memdir.search(search)?;
    answer.notes.extend(note);
    Ok(answer)
}

/// Adds a `warning` to the answer if it was to come from chats and the space has none, and the command that helps as `action`.
pub(crate) fn add_chats_notice(memdir: &Memdir, source: Option<Source>, answer: &mut Value) {
    if let Some((warning, action)) = memdir.chats_notice(source) {
        answer["warning"] = json!(warning);
        if let Some(action) = action {
            answer["action"] = json!(action);
        }
    }
}

/// Parses the parameters that every search tool shares.
pub(crate) fn request(caller: &ToolContext, args: &ToolArguments<'_>, source: &Param) -> Result<Search> {
    let since = args.text(&SINCE)?.map(|text| parse_since("since", &text, &*caller.memdir.context().clock)).transpose()?;
    let source = args.choice_or_synonym(source, &[("sessions", "chat")])?;
    Ok(Search {
        max_results: args.integer(&MAX_RESULTS)?.unwrap_or(DEFAULT_RESULTS) as usize,
        min_score: args.number(&MIN_SCORE_PARAM)?.unwrap_or(MIN_SCORE),
        all_projects: source == Some(ALL_PROJECTS),
        source: match source {
            Some("memory") => Some(Source::Memory),
            Some("chat") => Some(Source::Chat),
            Some("custom") => Some(Source::Custom),
            Some("inbox") => Some(Source::Inbox),
            _ => None,
        },
        kind: args.text(&TYPE)?.map(|kind| kind.parse()).transpose()?,
        since,
        ..Search::new(query(args)?)
    })
}

/// The query, which must not be blank.
pub(crate) fn query(args: &ToolArguments<'_>) -> Result<String> {
    let query = args.required_text(&QUERY)?;
    if query.trim().is_empty() {
        return Err(Error::bad_input("query", "it is empty; describe what you need to know"));
    }
    Ok(query)
}

/// A hit cut to a budget at the end of a line, so that `lines` are exactly the lines of `text`.
pub(crate) struct Fitted<'a> {
    pub(crate) hit: &'a Hit,
    pub(crate) lines: String,
    pub(crate) text: &'a str,
}

/// Cuts the texts of hits to `max_chars` characters together.
pub(crate) fn fit_hits(hits: &[Hit], max_chars: usize) -> Vec<Fitted<'_>> {
    let mut left = max_chars;
    let mut out = Vec::with_capacity(hits.len());
    for (n, hit) in hits.iter().enumerate() {
        // The minimum of the hits that follow is reserved for them.
        let reserved = (hits.len() - n - 1) * LEAST_CHARS;
        let fitted = fit_hit(hit, left.saturating_sub(reserved).max(LEAST_CHARS));
        left = left.saturating_sub(fitted.text.chars().count());
        out.push(fitted);
    }
    out
}

/// Cuts the text of a hit to whole lines with at most `max_chars` characters. Its first line below a heading stays whole, however
/// long it is.
pub(crate) fn fit_hit(hit: &Hit, max_chars: usize) -> Fitted<'_> {
    let first = hit.lines.split('-').next().and_then(|line| line.parse().ok()).unwrap_or(1);
    let part = text::truncate_chars(&hit.text, first, max_chars);
    if part.left_chars == 0 {
        return Fitted { hit, lines: hit.lines.clone(), text: &hit.text };
    }
    let least = text::line_start(&hit.text, chunk::head_lines(&hit.text) as u64 + 2);
    let end = if part.split.is_some() { least } else { part.text.len().max(least) };
    let shown = &hit.text[..end];
    Fitted { hit, lines: format!("{first}-{}", first + text::lines(shown).max(1) - 1), text: shown }
}

/// Rounds a score down to two decimals, so that a score below a threshold never looks as if it reached it.
pub(crate) fn rounded_score(score: f32) -> f64 {
    (f64::from(score) * 100.0 + 1e-4).floor() / 100.0
}

fn structured(query: &str, answer: &Answer, hits: &[Fitted<'_>]) -> Value {
    let results: Vec<Value> = hits
        .iter()
        .map(|fitted| {
            let mut result = json!({
                "path": fitted.hit.path,
                "lines": fitted.lines,
                "text": fitted.text,
                "score": rounded_score(fitted.hit.score),
                "source": fitted.hit.source,
                "age": fitted.hit.age,
            });
            if !fitted.hit.headings.is_empty() {
                result["headings"] = json!(fitted.hit.headings);
            }
            if let Some(outdated) = fitted.hit.outdated {
                result["outdated"] = json!(outdated);
            }
            if let Some(replaces) = &fitted.hit.replaces {
                result["replaces"] = json!(replaces);
            }
            if fitted.hit.masked {
                result["masked"] = json!(true);
            }
            if let Some(chat) = &fitted.hit.chat {
                result["chat"] = json!(chat);
            }
            result
        })
        .collect();
    json!({
        "query": query,
        "results": results,
        "totalFound": answer.total,
        "method": answer.method,
        "stats": { "totalFiles": answer.searched.files, "totalChunks": answer.searched.units },
    })
}

/// The headings above a hit, if the nearest one is not among its lines.
fn under(fitted: &Fitted<'_>) -> String {
    let headings = &fitted.hit.headings;
    match headings.last() {
        Some(nearest) if chunk::head_lines(fitted.text) == 0 && !nearest.is_empty() => format!(" under {:?}", headings.join(" > ")),
        _ => String::new(),
    }
}

fn render(answer: &Answer, hits: &[Fitted<'_>]) -> String {
    let brackets = HeaderBrackets::for_texts(hits.iter().map(|fitted| fitted.text));
    let mut out = brackets.note();
    for fitted in hits {
        let hit = fitted.hit;
        let mark = hit.outdated.map_or_else(String::new, |outdated| format!(", {outdated}"));
        let (path, lines, under, score) = (&hit.path, &fitted.lines, under(fitted), rounded_score(hit.score));
        let header = format!("{path} lines {lines}{under} ({}{mark}, score {score:.2})", hit.age);
        let _ = write!(out, "{}\n{}\n\n", brackets.header(&header), frame::neutral(fitted.text.trim_end()));
        if let Some(chat) = &hit.chat {
            out.truncate(out.trim_end().len());
            let _ = write!(out, "\n({})\n\n", frame::neutral(&chat.describe()));
        }
    }
    if hits.is_empty() {
        let files = text::counted(answer.searched.files, "file", "files");
        let _ = write!(out, "No relevant memories found ({files} searched).");
    } else if answer.total > hits.len() {
        let _ = write!(out, "({} not shown; raise maxResults to see more)", answer.total - hits.len());
    }
    for note in &answer.notes {
        let _ = write!(out, "\n({note})");
    }
    out.trim_end().to_owned()
}
