//! `memdir cues`: lists memories without cues, sets the cues of many in one change, and decides about proposed ones.

use super::{OpenSpace, counted, input_text, list, name};
use crate::{
    args::CuesArgs,
    exit::Failure,
    output::{CommandOutput, Printer},
    spaces,
};
use memdir_core::{CueEntry, CueProposal, CueProposals, CuesSet, Error, MemoryPath, SetCues, UncuedMemory};
use serde::{Deserialize, Serialize};
use std::{io, path::Path};

/// The name that means all memories.
const ALL: &str = "all";

pub(crate) fn run(args: &CuesArgs, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    if let Some(file) = &args.from {
        let entries = parse(file, &input_text(file)?)?;
        let set = space.memdir.set_cues(&SetCues { entries, add: false })?;
        return Ok(CommandOutput::new(set, show_set));
    }
    let decision = args.accept.as_deref().or(args.reject.as_deref());
    if !args.proposed && decision.is_none() {
        let topic = args.topic.as_deref().unwrap_or_default();
        let memories = space.memdir.without_cues(topic)?;
        let walk = space.memdir.store().list(topic.trim_end_matches('/'))?;
        let notes = list::notes(&walk.problems, walk.left_out);
        return Ok(CommandOutput::new(Uncued { memories }, show_uncued).with_notes(notes));
    }
    let store = space.memdir.store();
    let proposals = space.origin.map(|(settings, _)| spaces::cue_proposals(settings, store));
    let pending = proposals.as_ref().map(|proposals| proposals.pending(store)).unwrap_or_default();
    let (Some(proposals), Some(wanted)) = (proposals, decision) else {
        return Ok(CommandOutput::new(Proposed { proposals: pending }, show_proposed));
    };
    let chosen = choose(pending, wanted)?;
    if args.reject.is_some() {
        forget(&proposals, wanted)?;
        return Ok(CommandOutput::new(Rejected { rejected: chosen }, show_rejected));
    }
    let set = space.memdir.set_cues(&SetCues { entries: by_memory(&chosen)?, add: true })?;
    forget(&proposals, wanted)?;
    Ok(CommandOutput::new(set, show_set))
}

/// The memories without cues.
#[derive(Serialize)]
struct Uncued {
    memories: Vec<UncuedMemory>,
}

#[derive(Serialize)]
struct Proposed {
    proposals: Vec<CueProposal>,
}

#[derive(Serialize)]
struct Rejected {
    rejected: Vec<CueProposal>,
}

/// One memory of a batch. Other keys, such as the description that `memdir cues --json` prints, are ignored.
#[derive(Deserialize)]
struct BatchEntry {
    #[serde(alias = "path")]
    name: String,
    cues: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CueBatch {
    One(BatchEntry),
    Many(Vec<BatchEntry>),
    Listed { memories: Vec<BatchEntry> },
}

/// Parses a batch: one object per line, or one JSON value with all of them.
fn parse(file: &Path, text: &str) -> Result<Vec<CueEntry>, Failure> {
    let entries = match serde_json::from_str::<CueBatch>(text) {
        Ok(CueBatch::One(entry)) => vec![entry],
        Ok(CueBatch::Many(entries) | CueBatch::Listed { memories: entries }) => entries,
        Err(_) => lines(file, text)?,
    };
    if entries.is_empty() {
        return Err(invalid(file, "it contains no memories".into()));
    }
    entries.into_iter().map(|entry| Ok(CueEntry { path: name(&entry.name)?, cues: entry.cues })).collect()
}

fn lines(file: &Path, text: &str) -> Result<Vec<BatchEntry>, Failure> {
    let filled = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let entry = |(line, number): (&str, u64)| {
        serde_json::from_str(line).map_err(|error| {
            // The position that the parser adds is one within the line.
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            invalid(file, format!("line {number}: {what}; expected {{\"name\": \"notes/deploy\", \"cues\": [\"ship on a Friday\"]}}"))
        })
    };
    filled.map(entry).collect()
}

fn invalid(file: &Path, why: String) -> Failure {
    Error::bad_input(if file.as_os_str() == "-" { "standard input".into() } else { file.display().to_string() }, why).into()
}

/// The proposals of one memory, or all.
fn choose(pending: Vec<CueProposal>, wanted: &str) -> Result<Vec<CueProposal>, Failure> {
    let chosen: Vec<CueProposal> = pending.into_iter().filter(|proposal| is_wanted(proposal, wanted)).collect();
    if chosen.is_empty() {
        let (message, hint) = match wanted {
            ALL => ("no proposed cues".to_owned(), ""),
            name => (format!("no proposed cues for {name:?}"), "list the proposed cues with: memdir cues --proposed"),
        };
        return Err(Failure::Usage { message, hint: hint.into() });
    }
    Ok(chosen)
}

fn is_wanted(proposal: &CueProposal, wanted: &str) -> bool {
    wanted == ALL || proposal.name == wanted || Some(proposal.name.as_str()) == wanted.strip_suffix(".md")
}

fn forget(proposals: &CueProposals, wanted: &str) -> Result<(), Failure> {
    let removed = proposals.remove(|proposal| is_wanted(proposal, wanted));
    removed.map_err(|source| Failure::File { doing: "change", path: proposals.file().to_owned(), source })
}

/// The proposals as a batch, with one entry per memory.
fn by_memory(proposals: &[CueProposal]) -> Result<Vec<CueEntry>, Failure> {
    let mut entries: Vec<CueEntry> = Vec::new();
    for proposal in proposals {
        let path: MemoryPath = name(&proposal.name)?;
        match entries.iter_mut().find(|entry| entry.path == path) {
            Some(entry) => entry.cues.push(proposal.cue.clone()),
            None => entries.push(CueEntry { path, cues: vec![proposal.cue.clone()] }),
        }
    }
    Ok(entries)
}

fn show_uncued(uncued: &Uncued, printer: &mut Printer<'_>) -> io::Result<()> {
    for memory in &uncued.memories {
        let name = printer.strong(&memory.name);
        printer.line(format!("{name}: {}", memory.description))?;
    }
    match uncued.memories.len() as u64 {
        0 => printer.line("no memory lacks cues")?,
        count => printer.note(format!("{} no cues; set them with: memdir cues --from FILE", counted(count, "memory has", "memories have"))),
    }
    Ok(())
}

fn show_proposed(proposed: &Proposed, printer: &mut Printer<'_>) -> io::Result<()> {
    for proposal in &proposed.proposals {
        let name = printer.strong(&proposal.name);
        printer.line(format!("{name}: {}", proposal.cue))?;
    }
    match proposed.proposals.is_empty() {
        true => printer.line("no proposed cues")?,
        false => printer.note("accept or reject with: memdir cues --accept|--reject NAME (NAME can be `all`)".to_owned()),
    }
    Ok(())
}

fn show_rejected(rejected: &Rejected, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.line(format!("rejected {}", counted(rejected.rejected.len() as u64, "proposed cue", "proposed cues")))
}

fn show_set(set: &CuesSet, printer: &mut Printer<'_>) -> io::Result<()> {
    match &set.change {
        None => printer.line(format!("unchanged: {}", counted(set.unchanged.len() as u64, "memory", "memories")))?,
        Some(change) => {
            let memories = counted(set.changed.len() as u64, "memory", "memories");
            let unchanged = if set.unchanged.is_empty() { String::new() } else { format!(", {} unchanged", set.unchanged.len()) };
            let rest = printer.dim(&format!("(change {change})"));
            printer.line(format!("set cues for {memories}{unchanged} {rest}"))?;
        }
    }
    set.notes.iter().for_each(|note| printer.note(note));
    Ok(())
}
