//! Recalls memories: selects those relevant to a message and the tripwires of an action, and shows them within a budget.

use crate::recall::{
    MemorySummary, OmittedMemory, RecallBudget, RecallCandidate, RecallExplanation, RecallTable, RecallVerdict, Recalled,
    fit::{fit_with, over_limit},
    is_manual, is_recallable, message,
};
use crate::{
    base::{
        error::Result,
        limits,
        path::MemoryPath,
        text::{self, LineRange},
        time,
    },
    memory::{Memory, validity::Outdated},
    operations::{
        context::Context,
        read,
        verify::{self, ProjectLookup},
    },
    project::Project,
    recall::MessageMatch,
    recall::when::Action,
    store::{Store, mounts},
};
use jiff::civil::Date;
use std::{borrow::Cow, path::Path};

/// Bytes of a message that are used; of a longer one, equal parts of its beginning and end. A question comes before or after a
/// pasted text, rarely in the middle.
const RECALL_MESSAGE_BYTES: usize = 128 << 10;

/// The message or action to recall memories for.
#[derive(Debug, Clone, Default)]
pub struct Recall<'a> {
    /// The user's message.
    pub message: Option<&'a str>,
    /// The action that is about to be done.
    pub action: Option<Action<'a>>,
    /// Rules to show before everything else, as [`Memdir::matched_rules`](crate::Memdir::matched_rules) found them. What the
    /// conversation was already shown does not exclude them.
    pub rules: &'a [ShownRule],
    /// The budget.
    pub room: RecallBudget,
    /// Names that this conversation was already shown.
    pub shown: &'a [String],
    /// Tools in use, whose manuals are not recalled.
    pub tools: &'a [&'a str],
    /// The project, for reporting what memories mention and no longer exists.
    pub project: Option<&'a Project>,
    /// The file for the cached table of words, tripwires and pins.
    pub cache: Option<&'a Path>,
}

/// A rule to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownRule {
    /// The memory.
    pub path: MemoryPath,
    /// Why it is shown.
    pub why: String,
    /// Whether other people may have written it, and the person has not accepted it.
    pub is_foreign: bool,
    /// Whether the conversation was shown it for the same action; its text is left out then.
    pub is_repeated: bool,
}

/// Recalls memories. The text is empty if nothing is relevant.
pub(crate) fn recall(store: &dyn Store, context: &Context, request: &Recall<'_>) -> Result<Recalled> {
    let needs_table = request.message.is_some() || request.action.is_some();
    let table = if needs_table { Some(context.recall_table(store, request.cache)?) } else { None };
    recall_from(store, context, request, table.as_deref())
}

/// Recalls memories by a table that was read before, for many recalls of the same memories. Without one, only rules are shown.
pub(crate) fn recall_from(store: &dyn Store, context: &Context, request: &Recall<'_>, table: Option<&RecallTable>) -> Result<Recalled> {
    let mut wanted: Vec<Wanted<'_>> = Vec::new();
    if let Some(table) = table {
        if request.message.is_some() {
            table.pinned().for_each(|path| push(&mut wanted, Wanted::new(path, Some("it is pinned".into()), None)));
        }
        if let Some(action) = &request.action {
            for (path, wire, _) in table.tripped(action) {
                let why = format!("{} ({path}:{})", wire.reason(), wire.line);
                push(&mut wanted, Wanted::new(path, Some(why), None));
            }
        }
        if let Some(message) = request.message {
            for met in message::matching_memories(table, &beginning_and_end(message)) {
                push(&mut wanted, Wanted::new(&met.path.clone(), None, Some(met)));
            }
        }
        wanted = by_validity(wanted, table, store, context);
    }
    let shown: Vec<MemoryPath> = request.shown.iter().filter_map(|name| MemoryPath::parse(name).ok()).collect();
    let shown: Vec<MemoryPath> = shown.into_iter().map(|path| mounts::resolve_alias(store, &path).unwrap_or(path)).collect();
    wanted.retain(|one| !shown.iter().any(|shown| one.path.name() == shown.as_str() || one.path == *shown));
    let rules = request.rules.iter().map(|rule| Wanted { rule: Some(rule), ..Wanted::new(&rule.path, Some(rule.why.clone()), None) });
    let wanted = rules.chain(wanted.into_iter().filter(|one| request.rules.iter().all(|rule| rule.path != one.path))).collect();
    let wanted = outdated_last(with_places_for_matches(wanted, request.room.memories));
    let look = request.project.map(ProjectLookup::new);
    let mut texts: Vec<RecallMatch> = Vec::new();
    let mut dropped = Vec::new();
    for one in wanted {
        // One more than fits, in case a manual is dropped; the rest is only named.
        if texts.len() > request.room.memories {
            dropped.push(OmittedMemory { name: one.path.name().to_owned(), why: over_limit(request.room.memories) });
            continue;
        }
        texts.extend(read_wanted(store, context, &one, request, look.as_ref())?);
    }
    let candidates: Vec<RecallCandidate<'_>> = texts.iter().map(RecallMatch::candidate).collect();
    Ok(fit_with(&candidates, dropped, request.room))
}

/// Replaces superseded memories by their successors, and marks outdated ones.
fn by_validity<'a>(wanted: Vec<Wanted<'a>>, table: &RecallTable, store: &dyn Store, context: &Context) -> Vec<Wanted<'a>> {
    let successions = table.successions(store);
    // Finding the time zone of the system reads many files.
    let today = || context.clock.today();
    let mut out: Vec<Wanted<'a>> = Vec::with_capacity(wanted.len());
    for mut one in wanted {
        if let Some(successor) = successions.successor(&one.path).cloned() {
            one.replaces = Some(one.path.name().to_owned());
            // The match is about the text of the superseded memory.
            one.met = one.met.map(|met| MessageMatch { path: successor.clone(), ..met });
            one.path = successor;
        }
        (one.outdated, one.stale_after) = table.outdated(&one.path, today).map_or((None, None), |(why, day)| (Some(why), day));
        push(&mut out, one);
    }
    out
}

/// Moves outdated memories below the others. Rules that an action matched stay first.
fn outdated_last(wanted: Vec<Wanted<'_>>) -> Vec<Wanted<'_>> {
    let (current, outdated): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|one| one.outdated.is_none() || one.rule.is_some());
    current.into_iter().chain(outdated).collect()
}

/// Explains what a recall decides about the memories that share a word with a message, best first, and about `name` in any case.
pub(crate) fn explain(
    store: &dyn Store,
    context: &Context,
    request: &Recall<'_>,
    name: Option<&MemoryPath>,
) -> Result<Vec<RecallExplanation>> {
    let name = match name {
        Some(name) => Some(store.get(name)?.ok_or_else(|| read::not_found(store, name))?.path),
        None => None,
    };
    let table = context.recall_table(store, request.cache)?;
    let mut explained = message::explain(&table, &beginning_and_end(request.message.unwrap_or_default()), name.as_ref());
    let successions = table.successions(store);
    for one in &mut explained {
        if one.verdict == RecallVerdict::NothingInCommon && name.as_ref().is_some_and(|name| !is_recallable(store, name)) {
            one.verdict = RecallVerdict::NeverRecalled;
        }
        let Some(path) = table.path_of(&one.name) else { continue };
        if table.pinned().any(|pinned| *pinned == path) {
            (one.verdict, one.missing) = (RecallVerdict::Pinned, 0.0);
        }
        let is_recalled = matches!(one.verdict, RecallVerdict::Recalled | RecallVerdict::Pinned);
        let place = if is_recalled { ", so it comes after the others" } else { "" };
        one.validity = match (successions.successor(&path), table.outdated(&path, || context.clock.today())) {
            (Some(successor), _) => Some(format!("superseded by {}", successor.name())),
            (None, Some((Outdated::Stale, Some(last)))) => Some(format!("stale after {last}{place}")),
            (None, Some((why, _))) => Some(format!("{why}{place}")),
            (None, None) => None,
        };
    }
    Ok(explained)
}

/// Places that are reserved for matches of the message, however many memories are pinned.
const FOR_MATCHES: usize = 2;

/// Puts pinned memories first, but reserves the last places for matches.
fn with_places_for_matches(wanted: Vec<Wanted<'_>>, places: usize) -> Vec<Wanted<'_>> {
    let (mut firm, mut met): (Vec<Wanted<'_>>, Vec<Wanted<'_>>) = wanted.into_iter().partition(|one| one.met.is_none());
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
fn beginning_and_end(message: &str) -> Cow<'_, str> {
    if message.len() <= RECALL_MESSAGE_BYTES {
        return Cow::Borrowed(message);
    }
    let half = RECALL_MESSAGE_BYTES / 2;
    let (head, tail) = (text::floor_char_boundary(message, half), text::floor_char_boundary(message, message.len() - half));
    Cow::Owned(format!("{}\n\n{}", &message[..head], &message[tail..]))
}

/// A memory that may be recalled, with the reason.
struct Wanted<'a> {
    path: MemoryPath,
    why: Option<String>,
    met: Option<MessageMatch>,
    rule: Option<&'a ShownRule>,
    /// Why it comes after the others.
    outdated: Option<Outdated>,
    stale_after: Option<Date>,
    /// The name of the memory that it is shown for.
    replaces: Option<String>,
}

impl<'a> Wanted<'a> {
    fn new(path: &MemoryPath, why: Option<String>, met: Option<MessageMatch>) -> Wanted<'a> {
        Wanted { path: path.clone(), why, met, rule: None, outdated: None, stale_after: None, replaces: None }
    }
}

/// Adds a memory unless it is there; the first reason is kept.
fn push<'a>(wanted: &mut Vec<Wanted<'a>>, one: Wanted<'a>) {
    if wanted.iter().all(|other| other.path != one.path) {
        wanted.push(one);
    }
}

struct RecallMatch {
    name: String,
    text: String,
    lines: Option<String>,
    age_days: i64,
    why: Option<String>,
    gone: Vec<String>,
    missing: Vec<String>,
    is_foreign: bool,
    outdated: Option<Outdated>,
    stale_after: Option<Date>,
    replaces: Option<String>,
}

impl RecallMatch {
    fn candidate(&self) -> RecallCandidate<'_> {
        RecallCandidate {
            name: &self.name,
            text: Cow::Borrowed(&self.text),
            lines: self.lines.clone(),
            age_days: self.age_days,
            why: self.why.clone(),
            gone: self.gone.clone(),
            missing: self.missing.clone(),
            is_foreign: self.is_foreign,
            outdated: self.outdated,
            stale_after: self.stale_after,
            replaces: self.replaces.clone(),
        }
    }
}

fn read_wanted(
    store: &dyn Store,
    context: &Context,
    wanted: &Wanted<'_>,
    request: &Recall<'_>,
    look: Option<&ProjectLookup<'_>>,
) -> Result<Option<RecallMatch>> {
    let Some(stored) = read::if_readable(store.get(&wanted.path))? else { return Ok(None) };
    let (decoded, _) = text::decode(&stored.bytes);
    let (memory, _) = Memory::parse(&decoded);
    let title = format!("{} {} {}", stored.path.name(), memory.name().unwrap_or_default(), memory.description().unwrap_or_default());
    let about = MemorySummary { kind: memory.kind(), title: &title, text: memory.body() };
    if wanted.why.is_none() && is_manual(about, request.tools) {
        return Ok(None);
    }
    let (text, lines) = match wanted.rule {
        Some(rule) if rule.is_repeated => (format!("[shown before for the same action; read {} for its text]", stored.path.name()), None),
        _ => part(&memory, wanted.met.as_ref()),
    };
    let gone: Vec<String> =
        look.map(|look| verify::missing_mentions(look, &text).into_iter().map(|named| named.text).collect()).unwrap_or_default();
    let mut missing = verify::missing(store, look, &stored.path, &text)?;
    missing.retain(|words| !gone.iter().any(|gone| words.starts_with(&format!("{gone},"))));
    Ok(Some(RecallMatch {
        name: stored.path.name().to_owned(),
        text,
        lines,
        age_days: time::age_days(context.clock.now(), memory.last_confirmed(stored.stamp.modified())),
        why: wanted.why.clone(),
        gone,
        missing,
        is_foreign: wanted.rule.is_some_and(|rule| rule.is_foreign),
        outdated: wanted.outdated,
        stale_after: wanted.stale_after,
        replaces: wanted.replaces.clone(),
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
            let first = (memory.body_first_line() + met.best_line(body) as u64).saturating_sub(BEFORE).max(memory.body_first_line());
            let last = text::lines(memory.text());
            let lines = LineRange { first, last: Some(last) };
            (lines.slice(memory.text()).to_owned(), Some(format!("{first}-{last}")))
        }
        _ => (body.to_owned(), None),
    }
}
