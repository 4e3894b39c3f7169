//! `memdir search`: the lines that answer, or an honest nothing.

use super::{input_text, name};
use crate::{
    args::{Search as Typed, SearchSource},
    exit::Failure,
    output::{Answer, Page},
};
use jiff::tz::TimeZone;
use memdir_core::search::chats::ChatPlace;
use memdir_core::{
    base::{error::Error, time::parse_since},
    memdir::Memdir,
    search::{
        self, Hit, Search, WhyNot,
        analysis::Analyser,
        query::{self, Query},
    },
    store::Source,
};
use serde::Serialize;
use serde_json::Value;
use std::io;

/// The answer to one query.
#[derive(Serialize)]
struct Found {
    query: String,
    results: Vec<Hit>,
    total: usize,
    method: search::Method,
    searched: search::Amount,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// The answer to one query of many.
#[derive(Serialize)]
struct Line {
    id: Value,
    #[serde(flatten)]
    found: Found,
}

#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    why: WhyNot,
    message: String,
}

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    let search = request(args)?;
    if let Some(file) = &args.batch {
        let answer = batch(&input_text(file)?, memdir, &search)?;
        return Ok(afterwards(answer, memdir));
    }
    if let Some(named) = &args.why_not {
        let why = memdir.searcher()?.why_not(memdir.store(), &search, &name(named)?)?;
        let answer = Answer::new(Told { message: why.say(), why }, |told, page| page.line(&told.message));
        return Ok(afterwards(answer, memdir));
    }
    let answer = memdir.search(&search)?;
    let notes = answer.notes.clone();
    let answer = Answer::new(found(search.query, answer), show).with_notes(notes);
    Ok(afterwards(answer, memdir))
}

/// What the search had to look at anew is written down once the answer is out.
fn afterwards(answer: Answer, memdir: &Memdir) -> Answer {
    let memdir = memdir.clone();
    answer.afterwards(move || {
        // If it fails, the next search looks at the same files again.
        let _ = memdir.settle();
    })
}

fn request(args: &Typed) -> Result<Search, Failure> {
    Ok(Search {
        max_results: args.max_results as usize,
        min_score: args.min_score,
        source: match args.source {
            SearchSource::All => None,
            SearchSource::Memory => Some(Source::Memory),
            SearchSource::Chat => Some(Source::Chat),
            SearchSource::Custom => Some(Source::Custom),
        },
        kind: args.kind.as_deref().map(str::parse).transpose()?,
        since: args.since.as_deref().map(|date| parse_since("since", date, &TimeZone::UTC)).transpose()?,
        decay: args.decay,
        explain: args.explain,
        ..Search::new(args.query.join(" "))
    })
}

fn found(query: String, answer: search::Answer) -> Found {
    let search::Answer { hits, total, method, searched, notes } = answer;
    Found { query, results: hits, total, method, searched, notes }
}

/// Answers one query per line, on one look at the files.
fn batch(text: &str, memdir: &Memdir, like: &Search) -> Result<Answer, Failure> {
    let mut queries = Vec::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let bad = |why: &str| {
            Error::bad_input(format!("line {} of the batch", n + 1), format!("{why}; each line is {{\"id\": …, \"query\": \"…\"}}"))
        };
        let value: Value = serde_json::from_str(line).map_err(|_| bad("it is not JSON"))?;
        let query = value["query"].as_str().ok_or_else(|| bad("it has no query"))?.to_owned();
        queries.push((value["id"].clone(), query));
    }
    let searches: Vec<Search> = queries.iter().map(|(_, query)| Search { query: query.clone(), ..like.clone() }).collect();
    let answers = memdir.searcher()?.batch(memdir.store(), searches)?;
    let lines = queries.into_iter().zip(answers).map(|((id, query), answer)| Ok(Line { id, found: found(query, answer?) }));
    Ok(Answer::lines(lines.collect::<Result<Vec<_>, Failure>>()?))
}

fn show(found: &Found, page: &mut Page<'_>) -> io::Result<()> {
    if found.results.is_empty() {
        page.note("nothing relevant; ask with other words, or lower --min-score");
        return Ok(());
    }
    let mut analyser = Analyser::default();
    let query = Query::parse(&found.query, &mut analyser);
    for (n, hit) in found.results.iter().enumerate() {
        if n > 0 {
            page.line("")?;
        }
        show_hit(hit, &query, &mut analyser, page)?;
    }
    Ok(())
}

fn show_hit(hit: &Hit, query: &Query, analyser: &mut Analyser, page: &mut Page<'_>) -> io::Result<()> {
    let mut heading = format!("{}  {:.2}  {}", page.strong(&format!("{}:{}", hit.path, hit.lines)), hit.score, page.dim(&hit.age));
    if !hit.headings.is_empty() {
        heading.push_str("  ");
        heading.push_str(&page.dim(&hit.headings.join(" > ")));
    }
    page.line(heading)?;
    for line in hit.text.lines() {
        let marked = mark(line, query, analyser, page);
        page.content(&format!("  {marked}\n"))?;
    }
    if let Some(chat) = &hit.chat {
        show_chat(chat, page)?;
    }
    if let Some(explain) = &hit.explain {
        for line in explained(explain) {
            let line = page.dim(&format!("  | {line}"));
            page.line(line)?;
        }
    }
    Ok(())
}

/// Which conversation it is from, what stands around it, and how to take it up again.
fn show_chat(chat: &ChatPlace, page: &mut Page<'_>) -> io::Result<()> {
    let around = |what: &str, text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(|text| format!("{what}: {text}"));
    let resume = chat.resume.as_ref().map(|resume| format!("take it up with: {resume}"));
    let lines = [around("before", &chat.before), around("after", &chat.after), Some(chat.describe()), resume];
    for line in lines.into_iter().flatten() {
        let line = page.dim(&format!("  | {line}"));
        page.line(line)?;
    }
    Ok(())
}

/// A line with the words of the query standing out.
fn mark(line: &str, query: &Query, analyser: &mut Analyser, page: &Page<'_>) -> String {
    if !page.look.colour {
        return line.to_owned();
    }
    let clean = anstream::adapter::strip_str(line).to_string();
    let mut out = String::with_capacity(clean.len());
    let mut at = 0;
    for range in query::highlights(&clean, query, analyser) {
        out.push_str(&clean[at..range.start]);
        out.push_str(&page.found(&clean[range.clone()]));
        at = range.end;
    }
    out.push_str(&clean[at..]);
    out
}

fn explained(explain: &search::Explain) -> Vec<String> {
    let parts = &explain.parts;
    let signals = [
        ("own words", parts.body),
        ("title", parts.title),
        ("side by side", parts.pair),
        ("identifiers", parts.code),
        ("neighbour", parts.neighbour),
        ("whole file", parts.parent),
        ("entrypoint line", parts.pointer),
        ("date", parts.date),
    ];
    let signals: Vec<String> = signals.iter().filter(|(_, value)| *value > 0.0).map(|(name, value)| format!("{name} {value:.2}")).collect();
    let terms: Vec<String> = explain.terms.iter().map(|(term, units)| format!("{term} ({units})")).collect();
    let cosine = explain.cosine.map_or(String::new(), |cosine| format!(", cosine {cosine:.2}"));
    let role = if explain.assistant { ", an assistant's turn" } else { "" };
    vec![
        format!("unit {}{role}: {}", explain.unit, signals.join(", ")),
        format!("of {:.2} for a perfect match{cosine}; together {:.2}", explain.mass, explain.sum),
        format!("words (units that have them): {}", terms.join(", ")),
    ]
}
