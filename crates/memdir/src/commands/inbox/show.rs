//! Prints candidates and decisions.

use super::{Decisions, InboxList, ShownCandidate};
use crate::output::Printer;
use jiff::Timestamp;
use memdir_core::{
    CandidateKind, DecidedCandidate, DecisionOutcome, InboxEntry,
    internal::base::{
        text::{ellipsis, one_line},
        time,
    },
};
use std::io;

/// The characters of the person's words in a list.
const WORDS_CHARS: usize = 160;
/// The memories that are named because they already say something.
const MAX_KNOWN: usize = 5;

pub(super) fn list(list: &InboxList, printer: &mut Printer<'_>) -> io::Result<()> {
    if list.inbox.open.is_empty() {
        printer.note("no candidates to review");
    }
    for entry in list.inbox.open.iter().chain(&list.rejected_candidates) {
        summary(entry, list.now, printer)?;
    }
    for known in list.inbox.known.iter().take(MAX_KNOWN) {
        let words = ellipsis(&one_line(&known.words), WORDS_CHARS).into_owned();
        printer.line(format!("already saved: {} ({}): \"{words}\"", printer.strong(&known.memory), known.why))?;
    }
    if !list.inbox.open.is_empty() {
        printer.note("review with: memdir inbox review, memdir inbox accept|reject CANDIDATE, or memdir inbox merge CANDIDATE NAME");
    }
    Ok(())
}

/// A candidate in a few lines.
pub(super) fn summary(entry: &InboxEntry, now: Timestamp, printer: &mut Printer<'_>) -> io::Result<()> {
    let state = if entry.rejected { "rejected, " } else { "" };
    let age = time::relative(now, entry.proposed);
    printer.line(format!("{}  {state}{}, {age}", printer.strong(&entry.name), reason(entry.kind)))?;
    let words = if entry.words.is_empty() { &entry.description } else { &entry.words };
    printer.line(format!("  \"{}\"", ellipsis(&one_line(words), WORDS_CHARS)))?;
    if let Some(when) = &entry.when {
        printer.line(format!("  when: {when}"))?;
    }
    let evidence = if entry.turns.is_empty() { &entry.sessions } else { &entry.turns };
    if !evidence.is_empty() {
        printer.line(printer.dim(&format!("  evidence: {}", evidence.join(", "))))?;
    }
    Ok(())
}

pub(super) fn candidate(shown: &ShownCandidate, printer: &mut Printer<'_>) -> io::Result<()> {
    let ShownCandidate { entry, now } = shown;
    let verb = match entry.kind {
        Some(CandidateKind::Violated) => "changes",
        Some(CandidateKind::Unused) => "removes",
        _ => "proposes",
    };
    printer.line(format!("{}  {}, {}", printer.strong(&entry.name), reason(entry.kind), time::relative(*now, entry.proposed)))?;
    let kind = entry.memory_type.map_or(String::new(), |kind| format!(" ({kind})"));
    printer.line(format!("{verb}: {}{kind}", entry.proposes))?;
    printer.line(format!("description: {}", entry.description))?;
    if let Some(when) = &entry.when {
        printer.line(format!("when: {when}"))?;
    }
    if !entry.words.is_empty() {
        printer.line(format!("you said: \"{}\"", one_line(&entry.words)))?;
    }
    for turn in &entry.turns {
        printer.line(format!("turn: {turn}"))?;
    }
    for session in &entry.sessions {
        printer.line(format!("conversation: {session}"))?;
    }
    printer.line("")?;
    printer.content(&entry.text)
}

pub(super) fn decisions(decisions: &Decisions, printer: &mut Printer<'_>) -> io::Result<()> {
    if decisions.decided.is_empty() {
        // There may be candidates that change rules, which `accept --all` leaves.
        printer.note("no candidates were accepted, merged or rejected");
    }
    decisions.decided.iter().try_for_each(|decided| {
        decided.notes.iter().for_each(|note| printer.note(note.clone()));
        printer.line(sentence(decided))
    })
}

/// What became of a candidate, on one line.
pub(super) fn sentence(decided: &DecidedCandidate) -> String {
    let DecidedCandidate { candidate, memory, change, .. } = decided;
    let undo = format!("(undo: memdir undo {change})");
    match decided.outcome {
        DecisionOutcome::Saved => format!("accepted {candidate} as {memory} {undo}"),
        DecisionOutcome::Merged => format!("merged {candidate} into {memory} {undo}"),
        DecisionOutcome::Changed => format!("changed the rule in {memory} {undo}"),
        DecisionOutcome::Removed => format!("deleted {memory} {undo}"),
        DecisionOutcome::Rejected => format!("rejected {candidate} {undo}"),
    }
}

/// Why a candidate is proposed.
fn reason(kind: Option<CandidateKind>) -> &'static str {
    match kind {
        Some(CandidateKind::Remember) => "you asked the agent to remember this",
        Some(CandidateKind::Denied) => "you stopped an action",
        Some(CandidateKind::Repeat) => "you said this in several conversations",
        Some(CandidateKind::Scar) => "a command failed, then worked with other arguments",
        Some(CandidateKind::Reverted) => "an edit was undone",
        Some(CandidateKind::Violated) => "a rule was violated at least twice",
        Some(CandidateKind::Unused) => "a rule has not fired in 90 days",
        None => "written by another program",
    }
}
