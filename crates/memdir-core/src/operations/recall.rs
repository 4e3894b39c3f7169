//! Recalls memories: selects those relevant to a message and the tripwires of an action, and shows them within a budget.

use crate::recall::{MemorySummary, OmittedMemory, RecallBudget, RecallCandidate, Recalled, Tripwires, fit::fit_with, is_manual, message};
use crate::{
    base::{
        error::Result,
        limits,
        path::MemoryPath,
        text::{self, LineRange},
        time,
    },
    memory::Memory,
    operations::{
        context::Context,
        read,
        verify::{self, ProjectLookup},
    },
    project::Project,
    recall::MessageMatch,
    recall::when::Action,
    search::Searcher,
    store::{Store, mounts},
};
use std::{borrow::Cow, path::Path};

/// The message or action to recall memories for.
#[derive(Debug, Clone, Default)]
pub struct Recall<'a> {
    /// The user's message.
    pub message: Option<&'a str>,
    /// The action that is about to be done.
    pub action: Option<Action<'a>>,
    /// The budget.
    pub room: RecallBudget,
    /// Names that this conversation was already shown.
    pub shown: &'a [String],
    /// Tools in use, whose manuals are not recalled.
    pub tools: &'a [&'a str],
    /// The project, for reporting what memories mention and no longer exists.
    pub project: Option<&'a Project>,
    /// The directory for the cached table of tripwires and pins.
    pub cache: Option<&'a Path>,
}

/// Recalls memories. The text is empty if nothing is relevant. Without a searcher, only pins and tripwires are considered.
pub(crate) fn recall(store: &dyn Store, context: &Context, searcher: Option<&Searcher>, request: &Recall<'_>) -> Result<Recalled> {
    let mut wanted: Vec<Wanted> = Vec::new();
    if request.message.is_some() || request.action.is_some() {
        let wires = Tripwires::read(store, request.cache, context.clock.now())?;
        if request.message.is_some() {
            wires.pinned().for_each(|path| push(&mut wanted, Wanted { path: path.clone(), why: Some("it is pinned".into()), met: None }));
        }
        if let Some(action) = &request.action {
            for (path, wire) in wires.tripped(action) {
                let why = format!("{} ({path}:{})", wire.reason(), wire.line);
                push(&mut wanted, Wanted { path: path.clone(), why: Some(why), met: None });
            }
        }
    }
    if let (Some(message), Some(searcher)) = (request.message, searcher) {
        for met in message::matching_memories(searcher, store, &ends(message))? {
            push(&mut wanted, Wanted { path: met.path.clone(), why: None, met: Some(met) });
        }
    }
    let shown: Vec<MemoryPath> = request.shown.iter().filter_map(|name| MemoryPath::parse(name).ok()).collect();
    let shown: Vec<MemoryPath> = shown.into_iter().map(|path| mounts::resolve_alias(store, &path).unwrap_or(path)).collect();
    wanted.retain(|one| !shown.iter().any(|shown| one.path.name() == shown.as_str() || one.path == *shown));
    let wanted = with_places_for_matches(wanted, request.room.memories);
    let look = request.project.map(ProjectLookup::new);
    let mut texts: Vec<Found> = Vec::new();
    let mut dropped = Vec::new();
    for one in wanted {
        // One more than fits, in case a manual is dropped; the rest is only named.
        if texts.len() > request.room.memories {
            dropped.push(OmittedMemory {
                name: one.path.name().to_owned(),
                why: format!("limit of {} memories reached", request.room.memories),
            });
            continue;
        }
        texts.extend(read_wanted(store, context, &one, request, look.as_ref())?);
    }
    let candidates: Vec<RecallCandidate<'_>> = texts.iter().map(Found::candidate).collect();
    Ok(fit_with(&candidates, dropped, request.room))
}

/// Places that are reserved for matches of the message, however many memories are pinned.
const FOR_MATCHES: usize = 2;

/// Puts pinned memories first, but reserves the last places for matches.
fn with_places_for_matches(wanted: Vec<Wanted>, places: usize) -> Vec<Wanted> {
    let (mut firm, mut met): (Vec<Wanted>, Vec<Wanted>) = wanted.into_iter().partition(|one| one.met.is_none());
    let kept = met.len().min(FOR_MATCHES).min(places.saturating_sub(1));
    let later = firm.split_off(firm.len().min(places.saturating_sub(kept)));
    if later.is_empty() {
        firm.extend(met);
        return firm;
    }
    let rest = met.split_off(kept);
    firm.into_iter().chain(met).chain(later).chain(rest).collect()
}

/// The message, or the beginning and the end of one that is too long.
fn ends(message: &str) -> Cow<'_, str> {
    if message.len() <= limits::RECALL_MESSAGE_BYTES {
        return Cow::Borrowed(message);
    }
    let half = limits::RECALL_MESSAGE_BYTES / 2;
    let (head, tail) = (text::floor_char_boundary(message, half), text::floor_char_boundary(message, message.len() - half));
    Cow::Owned(format!("{}\n\n{}", &message[..head], &message[tail..]))
}

/// A memory that may be recalled, with the reason.
struct Wanted {
    path: MemoryPath,
    why: Option<String>,
    met: Option<MessageMatch>,
}

/// Adds a memory unless it is there; the first reason is kept.
fn push(wanted: &mut Vec<Wanted>, one: Wanted) {
    if wanted.iter().all(|other| other.path != one.path) {
        wanted.push(one);
    }
}

struct Found {
    name: String,
    text: String,
    lines: Option<String>,
    age_days: i64,
    why: Option<String>,
    gone: Vec<String>,
    missing: Vec<String>,
}

impl Found {
    fn candidate(&self) -> RecallCandidate<'_> {
        RecallCandidate {
            name: &self.name,
            text: Cow::Borrowed(&self.text),
            lines: self.lines.clone(),
            age_days: self.age_days,
            why: self.why.clone(),
            gone: self.gone.clone(),
            missing: self.missing.clone(),
        }
    }
}

fn read_wanted(
    store: &dyn Store,
    context: &Context,
    wanted: &Wanted,
    request: &Recall<'_>,
    look: Option<&ProjectLookup<'_>>,
) -> Result<Option<Found>> {
    let Some(stored) = read::if_readable(store.get(&wanted.path))? else { return Ok(None) };
    let (decoded, _) = text::decode(&stored.bytes);
    let (memory, _) = Memory::parse(&decoded);
    let title = format!("{} {} {}", stored.path.name(), memory.name().unwrap_or_default(), memory.description().unwrap_or_default());
    let about = MemorySummary { kind: memory.kind(), title: &title, text: memory.body() };
    if wanted.why.is_none() && is_manual(about, request.tools) {
        return Ok(None);
    }
    let (text, lines) = part(&memory, wanted.met.as_ref());
    let gone: Vec<String> = look.map(|look| verify::gone(look, &text).into_iter().map(|named| named.text).collect()).unwrap_or_default();
    let mut missing = verify::missing(store, look, &stored.path, &text)?;
    missing.retain(|words| !gone.iter().any(|gone| words.starts_with(&format!("{gone},"))));
    Ok(Some(Found {
        name: stored.path.name().to_owned(),
        text,
        lines,
        age_days: time::age_days(context.clock.now(), memory.last_confirmed(stored.stamp.modified())),
        why: wanted.why.clone(),
        gone,
        missing,
    }))
}

/// Lines of context before the match in a long memory.
const BEFORE: u64 = 3;

/// The body, or the part from the match on if the body is longer than a recall shows.
fn part(memory: &Memory, met: Option<&MessageMatch>) -> (String, Option<String>) {
    let body = memory.body();
    let fits = body.len() <= limits::RECALL_BYTES && text::lines(body) <= limits::RECALL_LINES as u64;
    match met {
        Some(met) if !fits => {
            let first = u64::from(met.first).saturating_sub(BEFORE).max(memory.body_first_line());
            let last = text::lines(memory.text());
            let lines = LineRange { first, last: Some(last) };
            (lines.slice(memory.text()).to_owned(), Some(format!("{first}-{last}")))
        }
        _ => (body.to_owned(), None),
    }
}
