//! `memdir search`: searches memories by words and meaning.

use super::{input_text, name};
use crate::{
    args::{SearchArgs, SearchSourceArg},
    exit::{Exit, Failure},
    output::{CommandOutput, Printer},
};
use memdir_core::{
    Error, Hit, Memdir, Search, Source, SystemClock, WhyNot,
    internal::{
        base::{limits, time::parse_since},
        search::{
            self,
            analysis::Analyser,
            query::{self, Query},
        },
    },
};
use serde::Serialize;
use serde_json::Value;
use std::io;

/// Results of one search on the command line: some screens.
const CLI_RESULTS: usize = 50;

/// The results of one query.
#[derive(Serialize)]
struct SearchResults {
    query: String,
    results: Vec<Hit>,
    total: usize,
    method: search::Method,
    searched: search::SearchedCounts,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// What to print if there are no results.
    #[serde(skip)]
    empty_note: String,
}

/// The results of one query of a batch.
#[derive(Serialize)]
struct BatchLine {
    id: Value,
    #[serde(flatten)]
    results: SearchResults,
}

#[derive(Serialize)]
struct Explanation {
    #[serde(flatten)]
    why: WhyNot,
    message: String,
}

pub(crate) fn run(args: &SearchArgs, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let (search, clamped) = request(args)?;
    if let Some(file) = &args.batch {
        let output = batch(&input_text(file)?, memdir, &search, &clamped)?.with_notes(unlisted(memdir)?);
        return Ok(settle_afterwards(output, memdir));
    }
    if let Some(named) = &args.why_not {
        let why = memdir.searcher()?.why_not(memdir.store(), &search, &name(named)?)?;
        let output =
            CommandOutput::new(Explanation { message: why.to_string(), why }, |explanation, printer| printer.line(&explanation.message))
                .with_notes(clamped);
        return Ok(settle_afterwards(output, memdir));
    }
    let chats_note = memdir.catch_up_chats(search.source);
    let mut answer = memdir.search(&search)?;
    answer.notes.extend(chats_note);
    answer.notes.extend(clamped);
    let mut notes = unlisted(memdir)?;
    notes.extend(answer.notes.iter().cloned());
    let exit = if answer.hits.is_empty() { Exit::Negative } else { Exit::Success };
    let empty_note = empty_note(&search, &answer.searched);
    let output = CommandOutput::new(SearchResults { empty_note, ..results(search.query, answer) }, show).with_notes(notes).exit(exit);
    Ok(settle_afterwards(output, memdir))
}

/// Why files could not be listed for the last search.
fn unlisted(memdir: &Memdir) -> Result<Vec<String>, Failure> {
    Ok(memdir.searcher()?.problems().into_iter().map(|problem| problem.what).collect())
}

/// Saves which files the search had to read again, after its output is printed.
fn settle_afterwards(output: CommandOutput, memdir: &Memdir) -> CommandOutput {
    let memdir = memdir.clone();
    output.afterwards(move || {
        // If it fails, the next search reads the same files again.
        let _ = memdir.settle();
    })
}

/// The search, and a note for each number that was out of range.
fn request(args: &SearchArgs) -> Result<(Search, Vec<String>), Failure> {
    let (max_results, first) = limits::clamp("--max-results", args.max_results, &(1..=CLI_RESULTS as i64));
    let (min_score, second) = limits::clamp("--min-score", args.min_score, &(0.0..=1.0));
    let search = Search {
        max_results: max_results as usize,
        min_score,
        source: match args.source {
            SearchSourceArg::All => None,
            SearchSourceArg::Memory => Some(Source::Memory),
            SearchSourceArg::Chat => Some(Source::Chat),
            SearchSourceArg::Custom => Some(Source::Custom),
            SearchSourceArg::Inbox => Some(Source::Inbox),
        },
        kind: args.kind.as_deref().map(str::parse).transpose()?,
        since: args.since.as_deref().map(|since| parse_since("--since", since, &SystemClock)).transpose()?,
        all_projects: args.all_projects,
        decay: args.decay,
        explain: args.explain,
        ..Search::new(args.query.join(" "))
    };
    Ok((search, first.into_iter().chain(second).collect()))
}

fn results(query: String, answer: search::Answer) -> SearchResults {
    let search::Answer { hits, total, method, searched, notes } = answer;
    SearchResults { query, results: hits, total, method, searched, notes, empty_note: String::new() }
}

/// The note for a search without results, with what may help this one.
fn empty_note(search: &Search, searched: &search::SearchedCounts) -> String {
    if searched.files == 0 {
        return "no results: 0 files searched".to_owned();
    }
    let filters = [(search.source.is_some(), "--source"), (search.kind.is_some(), "--type"), (search.since.is_some(), "--since")];
    let filters: Vec<&str> = filters.into_iter().filter(|(is_set, _)| *is_set).map(|(_, option)| option).collect();
    let lower = if search.min_score > 0.0 { " or a lower --min-score" } else { "" };
    let wider = if filters.is_empty() { String::new() } else { format!(", or omit {}", filters.join(" and ")) };
    format!("no results; try other words{lower}{wider}")
}

/// Runs one query per line on a single listing of the files.
fn batch(text: &str, memdir: &Memdir, template: &Search, clamped: &[String]) -> Result<CommandOutput, Failure> {
    let mut queries = Vec::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let bad = |why: &str| Error::bad_input(format!("batch line {}", n + 1), format!("{why}; expected {{\"id\": …, \"query\": \"…\"}}"));
        let value: Value = serde_json::from_str(line).map_err(|error| bad(&format!("invalid JSON at column {}", error.column())))?;
        let query = value["query"].as_str().ok_or_else(|| bad("missing query"))?.to_owned();
        queries.push((value["id"].clone(), query));
    }
    let searches: Vec<Search> = queries.iter().map(|(_, query)| Search { query: query.clone(), ..template.clone() }).collect();
    let answers = memdir.searcher()?.batch(memdir.store(), searches)?;
    let lines = queries.into_iter().zip(answers).map(|((id, query), answer)| {
        let mut answer = answer?;
        answer.notes.extend_from_slice(clamped);
        Ok(BatchLine { id, results: results(query, answer) })
    });
    Ok(CommandOutput::lines(lines.collect::<Result<Vec<_>, Failure>>()?))
}

fn show(results: &SearchResults, printer: &mut Printer<'_>) -> io::Result<()> {
    if results.results.is_empty() {
        printer.note(&results.empty_note);
        return Ok(());
    }
    let mut analyser = Analyser::default();
    let query = Query::parse(&results.query, &mut analyser);
    for (n, hit) in results.results.iter().enumerate() {
        if n > 0 {
            printer.line("")?;
        }
        show_hit(hit, &query, &mut analyser, printer)?;
    }
    Ok(())
}

fn show_hit(hit: &Hit, query: &Query, analyser: &mut Analyser, printer: &mut Printer<'_>) -> io::Result<()> {
    let mut heading = format!("{}  {:.2}  {}", printer.strong(&format!("{}:{}", hit.path, hit.lines)), hit.score, printer.dim(&hit.age));
    if let Some(mark) = hit_mark(hit) {
        heading.push_str(&format!("  {mark}"));
    }
    if !hit.headings.is_empty() {
        heading.push_str("  ");
        heading.push_str(&printer.dim(&hit.headings.join(" > ")));
    }
    printer.line(heading)?;
    for line in hit.text.lines() {
        let line = highlighted(line, query, analyser, printer);
        printer.line(format!("  {line}"))?;
    }
    if let Some(chat) = &hit.chat {
        let line = printer.dim(&format!("  | {}", chat.describe()));
        printer.line(line)?;
    }
    if let Some(explain) = &hit.explain {
        for line in explain.lines() {
            let line = printer.dim(&format!("  | {line}"));
            printer.line(line)?;
        }
    }
    Ok(())
}

/// What to know about a hit before its text: that it is outdated, or shown in place of another memory.
fn hit_mark(hit: &Hit) -> Option<String> {
    let replaces = hit.replaces.as_ref().map(|old| format!("supersedes {old}"));
    let marks: Vec<String> = hit.outdated.map(|outdated| outdated.to_string()).into_iter().chain(replaces).collect();
    (!marks.is_empty()).then(|| format!("[{}]", marks.join("; ")))
}

/// Highlights the words of the query in a line.
fn highlighted(line: &str, query: &Query, analyser: &mut Analyser, printer: &Printer<'_>) -> String {
    if !printer.options.colour {
        return line.to_owned();
    }
    let mut out = String::with_capacity(line.len());
    let mut at = 0;
    for range in query::highlights(line, query, analyser) {
        out.push_str(&line[at..range.start]);
        out.push_str(&printer.highlight(&line[range.clone()]));
        at = range.end;
    }
    out.push_str(&line[at..]);
    out
}
