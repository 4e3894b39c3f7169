//! `memdir rename`: renames memories and topics, and updates the references to them.

use super::{counted, name, topic_memories, topic_of};
use crate::{
    args::RenameArgs,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{Error, List, Memdir, MemoryPath, Renamed, RenamedMemories};
use std::io;

pub(crate) fn run(args: &RenameArgs, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    if let ([from], None) = (args.from.as_slice(), topic_of(&args.to))
        && topic_of(from).is_none()
    {
        let renamed = memdir.rename(&name(from)?, &name(&args.to)?);
        return Ok(CommandOutput::new(renamed.map_err(|error| with_hint(error, memdir, from))?, show));
    }
    let names = new_names(args, memdir)?;
    let renamed = memdir.rename_all(&names).map_err(|error| with_hint(error, memdir, ""))?;
    Ok(CommandOutput::new(renamed, show_several))
}

/// The old and new names of several memories, or of the memories of a topic.
fn new_names(args: &RenameArgs, memdir: &Memdir) -> Result<Vec<(MemoryPath, MemoryPath)>, Failure> {
    let Some(to) = topic_of(&args.to) else {
        return Err(Failure::Usage {
            message: format!("the new name must be a topic, but {:?} does not end with `/`", args.to),
            hint: format!("use the name {}/; nothing was renamed", args.to),
        });
    };
    let below = |name: &str| Ok::<_, Failure>(MemoryPath::parse(&if to.is_empty() { name.to_owned() } else { format!("{to}/{name}") })?);
    if let [from] = args.from.as_slice()
        && let Some(from) = topic_of(from)
    {
        let memories = topic_memories(memdir, from)?.into_iter();
        return memories.map(|path| Ok((path.clone(), below(path.strip_prefix(from).as_ref().unwrap_or(&path).as_str())?))).collect();
    }
    if let Some(topic) = args.from.iter().find(|from| topic_of(from).is_some()) {
        return Err(Failure::Usage {
            message: format!("topic {topic:?} cannot be renamed together with other names"),
            hint: "rename topics one by one; nothing was renamed".into(),
        });
    }
    let moved = |from: &String| name(from).and_then(|path| Ok((path.clone(), below(path.file_name())?)));
    args.from.iter().map(moved).collect()
}

/// The hint for a taken name: unlike `write`, this command has no flags that replace or append.
fn with_hint(error: Error, memdir: &Memdir, from: &str) -> Failure {
    let is_topic = || {
        let listing = memdir.list(&List { topic: from.into(), ..List::default() });
        !from.is_empty() && listing.is_ok_and(|listing| !listing.memories.is_empty())
    };
    let hint = match &error {
        Error::Exists { .. } => Some("use another name"),
        Error::NotFound { .. } if is_topic() => Some("to rename a topic, end both names with `/`"),
        _ => None,
    };
    Failure::Core { error, hint }
}

fn show(renamed: &Renamed, printer: &mut Printer<'_>) -> io::Result<()> {
    let (from, to) = (printer.strong(renamed.from.name()), printer.strong(renamed.to.name()));
    let change = printer.dim(&format!("(change {})", renamed.change));
    printer.line(format!("renamed {from} to {to} {change}"))?;
    show_references(&renamed.rewritten, &renamed.skipped, &renamed.notes, printer)
}

fn show_several(several: &RenamedMemories, printer: &mut Printer<'_>) -> io::Result<()> {
    let count = printer.strong(&counted(several.renamed.len() as u64, "memory", "memories"));
    let rest = printer.dim(&format!("(undo: memdir undo {})", several.change));
    printer.line(format!("renamed {count} {rest}"))?;
    several.renamed.iter().try_for_each(|one| printer.line(format!("  {} to {}", one.from.name(), one.to.name())))?;
    show_references(&several.rewritten, &several.skipped, &several.notes, printer)
}

fn show_references(rewritten: &[String], skipped: &[String], notes: &[String], printer: &mut Printer<'_>) -> io::Result<()> {
    if !rewritten.is_empty() {
        printer.line(format!("updated references in {}", first_names(rewritten)))?;
    }
    if !skipped.is_empty() {
        printer.note(format!("references in read-only memories were not updated: {}", first_names(skipped)));
    }
    notes.iter().for_each(|note| printer.note(note));
    Ok(())
}

/// Maximum number of names in a line.
const MAX_NAMES: usize = 20;

/// The first names, and the number of the others.
fn first_names(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
