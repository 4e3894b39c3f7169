//! `memdir delete`: deletes memories and topics; the journal keeps their texts.

use super::{counted, expected, name, topic_memories, topic_of};
use crate::{
    args::DeleteArgs,
    ask,
    exit::Failure,
    output::{CommandOutput, OutputOptions, Printer},
};
use memdir_core::{ChangeId, Delete, Deleted, Error, List, Memdir, MemoryPath, Version};
use serde::Serialize;
use std::io;

/// Memories that were deleted in one change.
#[derive(Serialize)]
struct DeletedMemories {
    deleted: Vec<DeletedMemory>,
    change: ChangeId,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Serialize)]
struct DeletedMemory {
    name: String,
    path: MemoryPath,
    version: Version,
}

pub(crate) fn run(args: &DeleteArgs, memdir: &Memdir, options: OutputOptions) -> Result<CommandOutput, Failure> {
    if let [one] = args.names.as_slice()
        && topic_of(one).is_none()
    {
        return delete_one(args, one, memdir);
    }
    if args.if_version.is_some() {
        return Err(Failure::Usage {
            message: "--if-version requires exactly one memory".into(),
            hint: "delete the memories one by one, or omit --if-version".into(),
        });
    }
    let mut requests = Vec::new();
    let mut topics = Vec::new();
    for text in &args.names {
        let paths = match topic_of(text) {
            Some(topic) => {
                let memories = topic_memories(memdir, topic)?;
                topics.push((text.as_str(), memories.len()));
                memories
            }
            None => vec![name(text)?],
        };
        requests.extend(paths.into_iter().map(|path| Delete { path, expect: None }));
    }
    if !args.yes {
        confirm(&topics, options)?;
    }
    let deleted = memdir.delete_all(&requests)?;
    let notes = deleted.iter().flat_map(|one| one.notes.clone()).collect();
    let Some(change) = deleted.first().map(|one| one.change.clone()) else { return Err(Error::no_change("nothing to delete").into()) };
    let one = |one: Deleted| DeletedMemory { name: one.name, path: one.path, version: one.version };
    let several = DeletedMemories { deleted: deleted.into_iter().map(one).collect(), change, notes };
    Ok(CommandOutput::new(several, show_several))
}

fn delete_one(args: &DeleteArgs, text: &str, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let path = name(text)?;
    let expect = expected(memdir, &path, args.if_version.as_deref())?;
    let deleted = memdir.delete(&Delete { path, expect }).map_err(|error| {
        let is_topic = || memdir.list(&List { topic: text.into(), ..List::default() }).is_ok_and(|listing| !listing.memories.is_empty());
        let hint = matches!(&error, Error::NotFound { .. } if is_topic()).then_some("to delete a topic, end its name with `/`");
        Failure::Core { error, hint }
    })?;
    Ok(CommandOutput::new(deleted, show))
}

/// Asks before topics are deleted. Without a terminal, it is an error.
fn confirm(topics: &[(&str, usize)], options: OutputOptions) -> Result<(), Failure> {
    if topics.is_empty() {
        return Ok(());
    }
    let shown = topics.iter().map(|(topic, count)| format!("{} in {topic}", counted(*count as u64, "memory", "memories")));
    let what = shown.collect::<Vec<_>>().join(" and ");
    if !options.can_ask() {
        return Err(Failure::Usage {
            message: format!("deleting {what} needs confirmation, but {}", options.why_not_asked()),
            hint: "add --yes; nothing was deleted".into(),
        });
    }
    let asked = ask::confirm(&format!("Delete {}?", crate::output::visible(&what)));
    match asked.map_err(|source| Failure::Output { source })? {
        true => Ok(()),
        false => Err(Failure::Negative { code: "cancelled", message: "cancelled; nothing was deleted".into(), hint: String::new() }),
    }
}

fn show(deleted: &Deleted, printer: &mut Printer<'_>) -> io::Result<()> {
    let name = printer.strong(&deleted.name);
    let rest = printer.dim(&format!("(undo: memdir undo {})", deleted.change));
    printer.line(format!("deleted {name} {rest}"))?;
    deleted.notes.iter().for_each(|note| printer.note(note));
    Ok(())
}

fn show_several(several: &DeletedMemories, printer: &mut Printer<'_>) -> io::Result<()> {
    let count = printer.strong(&counted(several.deleted.len() as u64, "memory", "memories"));
    let rest = printer.dim(&format!("(undo: memdir undo {})", several.change));
    printer.line(format!("deleted {count} {rest}"))?;
    several.deleted.iter().try_for_each(|one| printer.line(format!("  {}", one.name)))?;
    several.notes.iter().for_each(|note| printer.note(note));
    Ok(())
}
