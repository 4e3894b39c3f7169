//! `memory_search`: passages that answer a described need, or an honest nothing.

use super::{Caller, Level, Tool, ToolResult, args::Args};
use crate::{
    base::{
        error::{Error, Result},
        limits, text,
    },
    memdir::Memdir,
    search::{Answer, Hit, Search, ranking::MIN_SCORE_F64},
    store::Source,
};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) const TOOL: Tool = Tool {
    name: "memory_search",
    title: "Search memories",
    description: include_str!("../../texts/tools/search.md"),
    input: || {
        json!({ "type": "object", "properties": {
            "query": { "type": "string", "description": "the need, as a sentence" },
            "maxResults": { "type": "integer", "minimum": 1, "maximum": 20, "default": 6 },
            "minScore": { "type": "number", "minimum": 0, "maximum": 1, "default": MIN_SCORE_F64 },
            "source": { "enum": ["all", "memory", "chat", "custom"], "default": "all" },
            "type": { "enum": ["user", "feedback", "project", "reference"] },
            "since": { "type": "string", "description": "not older than this date: 2026-01-31" }
        }, "required": ["query"] })
    },
    output: None,
    level: Level::Safe,
    idempotent: true,
    titled: false,
    run,
};

/// Characters of one passage that are kept when there is not room for all.
const LEAST_CHARS: usize = 200;

fn run(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let search = request(args)?;
    args.finish()?;
    let answer = caller.memdir.search(&search)?;
    let hits = fitted(&answer.hits, limits::TOOL_CHARS);
    let mut value = structured(&search.query, &answer, &hits);
    notice(&caller.memdir, search.source, &mut value);
    Ok(ToolResult::new(value, render(&answer, &hits)))
}

/// Adds what is to be told and run where chats were asked for and are off: `warning` and `action`.
pub(crate) fn notice(memdir: &Memdir, asked: Option<Source>, answer: &mut Value) {
    if let Some((warning, action)) = memdir.chats_notice(asked) {
        answer["warning"] = json!(warning);
        answer["action"] = json!(action);
    }
}

/// What is searched for, by the names every search tool shares.
pub(crate) fn request(args: &Args<'_>) -> Result<Search> {
    let since = args.text(&["since", "after"])?.map(|text| since(&text)).transpose()?;
    Ok(Search {
        max_results: args.whole(&["maxResults", "max_results", "limit"], 1..=20)?.unwrap_or(6) as usize,
        min_score: args.number(&["minScore", "min_score"], 0.0..=1.0)?.unwrap_or(MIN_SCORE_F64) as f32,
        source: source(args.text(&["source", "sources"])?.as_deref())?,
        kind: args.text(&["type", "kind"])?.map(|kind| kind.parse()).transpose()?,
        since,
        ..Search::new(query(args)?)
    })
}

/// The query, which must say something.
pub(crate) fn query(args: &Args<'_>) -> Result<String> {
    let query = args.needed(&["query", "q", "text"])?;
    if query.trim().is_empty() {
        return Err(Error::bad_input("query", "it is empty; describe what you need to know"));
    }
    Ok(query)
}

fn source(text: Option<&str>) -> Result<Option<Source>> {
    match text {
        None | Some("all" | "") => Ok(None),
        Some("memory") => Ok(Some(Source::Memory)),
        Some("chat" | "sessions") => Ok(Some(Source::Chat)),
        Some("custom") => Ok(Some(Source::Custom)),
        Some(other) => Err(Error::bad_input("source", format!("{other:?} is not one of all, memory, chat, custom"))),
    }
}

fn since(text: &str) -> Result<Timestamp> {
    let bad = || Error::bad_input("since", format!("{text:?} is not a date such as 2026-01-31"));
    if let Ok(time) = text.trim().parse::<Timestamp>() {
        return Ok(time);
    }
    let date: Date = text.trim().parse().map_err(|_| bad())?;
    Ok(date.to_zoned(TimeZone::UTC).map_err(|_| bad())?.timestamp())
}

/// A hit's lines and text, cut at a line's end where there is not room for all: the lines are always those of the text.
pub(crate) struct Fitted<'a> {
    pub(crate) hit: &'a Hit,
    pub(crate) lines: String,
    pub(crate) text: &'a str,
}

/// Hits whose texts together have at most so many characters.
pub(crate) fn fitted(hits: &[Hit], max_chars: usize) -> Vec<Fitted<'_>> {
    let mut left = max_chars;
    let mut out = Vec::with_capacity(hits.len());
    for (n, hit) in hits.iter().enumerate() {
        // What the rest needs at least is not spent on this one.
        let reserved = (hits.len() - n - 1) * LEAST_CHARS;
        let fitted = cut(hit, left.saturating_sub(reserved).max(LEAST_CHARS));
        left = left.saturating_sub(fitted.text.chars().count());
        out.push(fitted);
    }
    out
}

/// One hit with at most so many characters of whole lines; the first line stays whole if it alone is longer.
pub(crate) fn cut(hit: &Hit, max_chars: usize) -> Fitted<'_> {
    let first = hit.lines.split('-').next().and_then(|line| line.parse().ok()).unwrap_or(1);
    let part = text::truncate_chars(&hit.text, first, max_chars);
    if part.left_chars == 0 {
        return Fitted { hit, lines: hit.lines.clone(), text: &hit.text };
    }
    let end = if part.split.is_some() { text::line_start(&hit.text, 2) } else { part.text.len() };
    let shown = &hit.text[..end];
    Fitted { hit, lines: format!("{first}-{}", first + text::lines(shown).max(1) - 1), text: shown }
}

/// Two decimals, never rounded up to what was not reached.
pub(crate) fn score(score: f32) -> f64 {
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
                "score": score(fitted.hit.score),
                "source": fitted.hit.source,
                "age": fitted.hit.age,
            });
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

fn render(answer: &Answer, hits: &[Fitted<'_>]) -> String {
    let mut out = String::new();
    for fitted in hits {
        let hit = fitted.hit;
        let _ = write!(
            out,
            "[{} lines {} ({}, score {:.2})]\n{}\n\n",
            hit.path,
            fitted.lines,
            hit.age,
            score(hit.score),
            fitted.text.trim_end()
        );
        if let Some(chat) = &hit.chat {
            out.truncate(out.trim_end().len());
            let _ = write!(out, "\n({}", chat.describe());
            if let Some(resume) = &chat.resume {
                let _ = write!(out, "; take it up with: {resume}");
            }
            out.push_str(")\n\n");
        }
    }
    if hits.is_empty() {
        let _ = write!(out, "Nothing relevant is remembered ({} files searched).", answer.searched.files);
    } else if answer.total > hits.len() {
        let _ = write!(out, "({} more; raise maxResults to see them)", answer.total - hits.len());
    }
    for note in &answer.notes {
        let _ = write!(out, "\n({note})");
    }
    out.trim_end().to_owned()
}
