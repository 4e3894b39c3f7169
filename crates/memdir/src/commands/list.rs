//! `memdir list`: memories as names, as a table, or as a tree.

use crate::{
    args::ListArgs,
    exit::Failure,
    output::{CommandOutput, OutputOptions, Printer},
};
use memdir_core::{Kind, List, ListedMemory, Listing, Memdir, Problem, internal::base::text};
use std::io;

pub(crate) fn run(args: &ListArgs, memdir: &Memdir, options: OutputOptions) -> Result<CommandOutput, Failure> {
    let kind = args.kind.as_deref().map(str::parse::<Kind>).transpose()?;
    let by_age = args.newer.is_some() || args.older.is_some();
    let is_filtered = by_age || kind.is_some() || !args.topic.is_empty() || args.min_bytes.is_some();
    let listing = memdir.list(&List {
        topic: args.topic.clone(),
        kind,
        newer_than_days: args.newer,
        older_than_days: args.older,
        min_bytes: args.min_bytes,
        details: args.long || by_age || options.json,
    })?;
    let note = match is_filtered {
        _ if !listing.memories.is_empty() || !options.terminal || options.json => None,
        true => Some("no memories found"),
        false => Some("no memories found; create one with: memdir write NAME TEXT"),
    };
    let output = CommandOutput::new(
        listing,
        if args.tree {
            show_tree
        } else if args.long {
            show_long
        } else {
            show_names
        },
    );
    Ok(output.with_notes(note.map(str::to_owned).into_iter().collect()))
}

fn show_names(listing: &Listing, printer: &mut Printer<'_>) -> io::Result<()> {
    for memory in &listing.memories {
        printer.line(&memory.name)?;
    }
    add_notes(listing, printer);
    Ok(())
}

fn show_long(listing: &Listing, printer: &mut Printer<'_>) -> io::Result<()> {
    let mut rows = vec![["name", "type", "size", "age", "description"].map(str::to_owned).to_vec()];
    rows.extend(listing.memories.iter().map(row));
    if rows.len() > 1 {
        printer.table(&rows)?;
    }
    add_notes(listing, printer);
    Ok(())
}

fn row(memory: &ListedMemory) -> Vec<String> {
    let kind = memory.kind.map_or("-", Kind::as_str);
    let mark = match (memory.outdated, &memory.superseded_by) {
        (_, Some(successor)) => format!("[superseded by {successor}] "),
        (Some(outdated), None) => format!("[{outdated}] "),
        (None, None) => String::new(),
    };
    let description = mark + memory.description.as_deref().unwrap_or_default();
    vec![memory.name.clone(), kind.into(), text::human_bytes(memory.bytes), memory.age.clone(), text::one_line(&description)]
}

fn show_tree(listing: &Listing, printer: &mut Printer<'_>) -> io::Result<()> {
    let mut above: Vec<&str> = Vec::new();
    for memory in &listing.memories {
        let parts: Vec<&str> = memory.name.split('/').collect();
        let (leaf, topics) = parts.split_last().unwrap_or((&"", &[]));
        let same = above.iter().zip(topics).take_while(|(a, b)| a == b).count();
        for (depth, topic) in topics.iter().enumerate().skip(same) {
            let topic = printer.strong(&format!("{topic}/"));
            printer.line(format!("{}{topic}", "  ".repeat(depth)))?;
        }
        printer.line(format!("{}{leaf}", "  ".repeat(topics.len())))?;
        above = topics.to_vec();
    }
    add_notes(listing, printer);
    Ok(())
}

fn add_notes(listing: &Listing, printer: &mut Printer<'_>) {
    for note in notes(&listing.problems, listing.left_out) {
        printer.note(note);
    }
}

/// What a listing lacks, and why.
pub(super) fn notes(problems: &[Problem], left_out: usize) -> Vec<String> {
    let mut notes: Vec<String> = problems.iter().map(|problem| problem.what.clone()).collect();
    if left_out > 0 {
        let omitted = super::counted(left_out as u64, "file", "files");
        notes.push(format!("too many files: {omitted} omitted; narrow the list with: memdir list TOPIC"));
    }
    notes
}
