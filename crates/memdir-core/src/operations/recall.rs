//! The recall of a space: which memories matter for a message, or lie on the way of an action, shown within a budget.

use crate::recall::{About, Candidate, Dropped, Recalled, Room, Wires, fit::fit_with, is_manual, message};
use crate::{
    base::{
        error::Result,
        limits,
        path::MemoryPath,
        text::{self, LineRange},
        time,
    },
    entrypoint::upkeep,
    memory::Memory,
    operations::{
        context::Context,
        read,
        verify::{self, Look},
    },
    project::Project,
    recall::Met,
    recall::when::Action,
    search::Searcher,
    store::Store,
};
use std::{borrow::Cow, path::Path};

/// What is wanted.
#[derive(Debug, Clone, Default)]
pub struct Request<'a> {
    /// What the person wrote, if that is what memories are wanted for.
    pub message: Option<&'a str>,
    /// What is about to be done, if that is.
    pub action: Option<Action<'a>>,
    /// How much room there is.
    pub room: Room,
    /// Names that were shown already in this conversation.
    pub shown: &'a [String],
    /// Tools that are in use: whoever works with one needs no manual for it.
    pub tools: &'a [&'a str],
    /// The project the memories speak of: what they name and is gone is told.
    pub project: Option<&'a Project>,
    /// Where the table of tripwires and pins is kept.
    pub cache: Option<&'a Path>,
}

/// Brings what matters; an empty text if nothing does. Without a searcher only pins and tripwires are known.
pub fn recall(store: &dyn Store, context: &Context, searcher: Option<&Searcher>, request: &Request<'_>) -> Result<Recalled> {
    let mut wanted: Vec<Wanted> = Vec::new();
    if request.message.is_some() || request.action.is_some() {
        let wires = Wires::of(store, request.cache, context.clock.now())?;
        if request.message.is_some() {
            wires.pinned().for_each(|path| push(&mut wanted, Wanted { path: path.clone(), why: Some("it is pinned".into()), met: None }));
        }
        if let Some(action) = &request.action {
            for (path, wire) in wires.tripped(action) {
                let why = format!("{} ({path}:{})", wire.why(), wire.line);
                push(&mut wanted, Wanted { path: path.clone(), why: Some(why), met: None });
            }
        }
    }
    if let (Some(message), Some(searcher)) = (request.message, searcher) {
        for met in message::about(searcher, store, &ends(message))? {
            push(&mut wanted, Wanted { path: met.path.clone(), why: None, met: Some(met) });
        }
    }
    let shown: Vec<MemoryPath> = request.shown.iter().filter_map(|name| MemoryPath::parse(name).ok()).collect();
    let shown: Vec<MemoryPath> = shown.into_iter().map(|path| upkeep::meant(store, &path).unwrap_or(path)).collect();
    wanted.retain(|one| !shown.iter().any(|shown| one.path.name() == shown.as_str() || one.path == *shown));
    let wanted = with_places_for_matches(wanted, request.room.memories);
    let look = request.project.map(Look::new);
    let mut texts: Vec<Found> = Vec::new();
    let mut besides = Vec::new();
    for one in wanted {
        // One more than fits, so that a manual that drops out makes room; the rest is only named.
        if texts.len() > request.room.memories {
            besides.push(Dropped { name: one.path.name().to_owned(), why: format!("only {} are shown", request.room.memories) });
            continue;
        }
        texts.extend(found(store, context, &one, request, look.as_ref())?);
    }
    let candidates: Vec<Candidate<'_>> = texts.iter().map(Found::candidate).collect();
    Ok(fit_with(&candidates, besides, request.room))
}

/// Places that stay for what a message asks, however many memories are pinned.
const FOR_MATCHES: usize = 2;

/// Pinned memories first, but never all the places: what matches comes before the pins that would take its last ones.
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

/// A message, of one that is too long its two ends.
fn ends(message: &str) -> Cow<'_, str> {
    if message.len() <= limits::RECALL_MESSAGE_BYTES {
        return Cow::Borrowed(message);
    }
    let half = limits::RECALL_MESSAGE_BYTES / 2;
    let (head, tail) = (text::char_floor(message, half), text::char_floor(message, message.len() - half));
    Cow::Owned(format!("{}\n\n{}", &message[..head], &message[tail..]))
}

/// A memory that may be brought, and why.
struct Wanted {
    path: MemoryPath,
    why: Option<String>,
    met: Option<Met>,
}

/// The first reason stays.
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
    fn candidate(&self) -> Candidate<'_> {
        Candidate {
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

fn found(store: &dyn Store, context: &Context, wanted: &Wanted, request: &Request<'_>, look: Option<&Look<'_>>) -> Result<Option<Found>> {
    let Some(stored) = read::if_readable(store.get(&wanted.path))? else { return Ok(None) };
    let (decoded, _) = text::decode(&stored.bytes);
    let (memory, _) = Memory::parse(&decoded);
    let title = format!("{} {} {}", stored.path.name(), memory.name().unwrap_or_default(), memory.description().unwrap_or_default());
    let about = About { kind: memory.kind(), title: &title, text: memory.body() };
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
        age_days: time::age_days(context.clock.now(), read::memory_time(&memory, &stored)),
        why: wanted.why.clone(),
        gone,
        missing,
    }))
}

/// Lines of a long memory that stand before what matched, so that it is understood.
const BEFORE: u64 = 3;

/// The body; of one that is longer than a recall shows, the part that matched.
fn part(memory: &Memory, met: Option<&Met>) -> (String, Option<String>) {
    let body = memory.body();
    let fits = body.len() <= limits::RECALL_BYTES && text::lines(body) <= limits::RECALL_LINES as u64;
    match met {
        Some(met) if !fits => {
            let first = u64::from(met.first).saturating_sub(BEFORE).max(memory.body_first_line());
            let last = text::lines(memory.text());
            let lines = LineRange { first, last: Some(last) };
            (lines.of(memory.text()).to_owned(), Some(format!("{first}-{last}")))
        }
        _ => (body.to_owned(), None),
    }
}
