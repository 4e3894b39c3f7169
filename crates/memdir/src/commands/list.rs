//! `memdir list`: names, a table, or a tree.

use crate::{
    args::List as Typed,
    exit::Failure,
    output::{Answer, Look, Page},
};
use memdir_core::{
    base::text,
    memdir::Memdir,
    memory::Kind,
    operations::list::{List, Listed, Listing},
};
use std::io;

pub(crate) fn run(args: &Typed, memdir: &Memdir, look: Look) -> Result<Answer, Failure> {
    let kind = args.kind.as_deref().map(str::parse::<Kind>).transpose()?;
    let by_age = args.newer.is_some() || args.older.is_some();
    let listing = memdir.list(&List {
        topic: args.topic.clone(),
        kind,
        newer_than_days: args.newer,
        older_than_days: args.older,
        min_bytes: args.min_bytes,
        details: args.long || by_age || look.json,
    })?;
    Ok(Answer::new(
        listing,
        if args.tree {
            show_tree
        } else if args.long {
            show_long
        } else {
            show_names
        },
    ))
}

fn show_names(listing: &Listing, page: &mut Page<'_>) -> io::Result<()> {
    for memory in &listing.memories {
        page.line(&memory.name)?;
    }
    beside(listing, page);
    Ok(())
}

fn show_long(listing: &Listing, page: &mut Page<'_>) -> io::Result<()> {
    let mut rows = vec![["name", "type", "size", "age", "description"].map(str::to_owned).to_vec()];
    rows.extend(listing.memories.iter().map(row));
    if rows.len() > 1 {
        page.table(&rows)?;
    }
    beside(listing, page);
    Ok(())
}

fn row(memory: &Listed) -> Vec<String> {
    let kind = memory.kind.map_or("-", Kind::as_str);
    let description = memory.description.as_deref().unwrap_or_default();
    vec![
        memory.name.clone(),
        kind.into(),
        text::human_bytes(memory.bytes),
        memory.age.clone(),
        description.split_whitespace().collect::<Vec<_>>().join(" "),
    ]
}

fn show_tree(listing: &Listing, page: &mut Page<'_>) -> io::Result<()> {
    let mut above: Vec<&str> = Vec::new();
    for memory in &listing.memories {
        let parts: Vec<&str> = memory.name.split('/').collect();
        let (leaf, topics) = parts.split_last().unwrap_or((&"", &[]));
        let same = above.iter().zip(topics).take_while(|(a, b)| a == b).count();
        for (depth, topic) in topics.iter().enumerate().skip(same) {
            let topic = page.strong(&format!("{topic}/"));
            page.line(format!("{}{topic}", "  ".repeat(depth)))?;
        }
        page.line(format!("{}{leaf}", "  ".repeat(topics.len())))?;
        above = topics.to_vec();
    }
    beside(listing, page);
    Ok(())
}

fn beside(listing: &Listing, page: &mut Page<'_>) {
    for problem in &listing.problems {
        page.note(&*problem.what);
    }
    if listing.left_out > 0 {
        page.note(format!("{} more files were left out; list a topic to see them", listing.left_out));
    }
    if listing.memories.is_empty() && page.look.terminal {
        page.note("nothing here; memdir write NAME TEXT makes a memory");
    }
}
