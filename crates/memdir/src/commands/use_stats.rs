//! `memdir stats --use`: how often each memory is used, what its line in the entrypoint costs, and which lines are dead weight.

use super::{OpenSpace, counted};
use crate::{
    exit::Failure,
    output::{CommandOutput, Printer},
    rules::propose_rule_changes,
};
use jiff::Timestamp;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    List, Memdir,
    internal::{
        base::{disk::LockWait, time},
        operations::ledger::{SpaceUses, UseCounts, listed_lines},
    },
};
use serde::Serialize;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    io,
};

/// Conversations that must have loaded a line before it is called dead weight.
const MIN_LISTED: u64 = 10;

#[derive(Serialize)]
struct UseStats {
    /// Whether uses are counted.
    on: bool,
    /// Since when the memories of the first mount are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    memories: Vec<MemoryUseRow>,
    dead_weight: UnusedLines,
    #[serde(skip)]
    now: Timestamp,
}

#[derive(Serialize)]
struct MemoryUseRow {
    name: String,
    #[serde(flatten)]
    counts: UseCounts,
    /// The tokens of its line in the entrypoint; 0 if the entrypoint that is loaded does not have it.
    line_tokens: usize,
    /// Whether its line was loaded again and again without the memory ever being used.
    is_dead_weight: bool,
}

/// The lines that are loaded into every conversation for nothing.
#[derive(Serialize)]
struct UnusedLines {
    memories: usize,
    /// Tokens in every conversation.
    tokens: usize,
}

pub(super) fn run(space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let memdir = space.memdir;
    let now = memdir.context().clock.now();
    let uses = memdir.ledger().map(|ledger| {
        // Best effort, and a moment at which nothing waits.
        let _ = ledger.compact(memdir.store(), now, LockWait::BEST_EFFORT);
        ledger.read(memdir.store())
    });
    let memories = rows(memdir, &uses.clone().unwrap_or_default())?;
    let dead = || memories.iter().filter(|row| row.is_dead_weight);
    let dead_weight = UnusedLines { memories: dead().count(), tokens: dead().map(|row| row.line_tokens).sum() };
    let since = uses.as_ref().and_then(|uses| uses.counted.values().filter_map(|counted| counted.since).min());
    let proposed = space.origin.map(|(settings, scope)| propose_rule_changes(settings, scope, memdir)).transpose()?;
    let added = proposed.map_or(0, |proposed| proposed.added.len() as u64);
    let note = (added > 0).then(|| format!("{} about rules; review with: memdir inbox", counted(added, "new candidate", "new candidates")));
    let output = CommandOutput::new(UseStats { on: uses.is_some(), since, memories, dead_weight, now }, show);
    Ok(output.with_notes(note.into_iter().collect()))
}

/// The memories, the most used first.
fn rows(memdir: &Memdir, uses: &SpaceUses) -> Result<Vec<MemoryUseRow>, Failure> {
    let names: BTreeSet<String> = memdir.list(&List::default())?.memories.into_iter().map(|memory| memory.name).collect();
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for mount in memdir.store().mounts() {
        lines.extend(listed_lines(&memdir.entrypoint(&mount.prefix)?.content, &mount.prefix, &names));
    }
    let row = |name: String| {
        let counts = uses.memory(&name);
        // A token is about four bytes of English.
        let line_tokens = lines.get(&name).map_or(0, |bytes| bytes.div_ceil(4));
        MemoryUseRow { is_dead_weight: line_tokens > 0 && counts.listed >= MIN_LISTED && counts.uses() == 0, name, counts, line_tokens }
    };
    let mut rows: Vec<MemoryUseRow> = names.into_iter().map(row).collect();
    rows.shared_sort_by_key(|row| Reverse((row.counts.uses(), !row.is_dead_weight)));
    Ok(rows)
}

fn show(stats: &UseStats, printer: &mut Printer<'_>) -> io::Result<()> {
    if !stats.on {
        printer.note("uses are not counted (count_use = false); turn counting on with: memdir config set count_use true");
    }
    if stats.memories.is_empty() {
        return printer.line("no memories");
    }
    let head = ["memory", "listed", "recalled", "found", "read", "cited", "fired", "followed", "violated", "line tokens", "last used"];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    table.extend(stats.memories.iter().map(|row| cells(row, stats.now)));
    printer.table(&table)?;
    let dead = &stats.dead_weight;
    if dead.memories > 0 {
        printer.line(format!(
            "dead weight: {} listed {MIN_LISTED} times or more and never used, at a cost of {} tokens in every conversation",
            counted(dead.memories as u64, "memory was", "memories were"),
            dead.tokens
        ))?;
    }
    match stats.since {
        Some(since) => printer.line(format!("counted since {}", since.strftime("%Y-%m-%d"))),
        None if !stats.on => Ok(()),
        None => {
            printer.note("no uses counted yet; the hooks and the MCP server that `memdir install` sets up count them");
            Ok(())
        }
    }
}

fn cells(row: &MemoryUseRow, now: Timestamp) -> Vec<String> {
    let counts = &row.counts;
    let numbers = [
        counts.listed, counts.injected, counts.searched, counts.read, counts.cited, counts.fired, counts.followed, counts.violated,
        row.line_tokens as u64,
    ];
    let last = match counts.last_used {
        Some(at) => time::age(now, at),
        None if row.is_dead_weight => "never (dead weight)".to_owned(),
        None => "never".to_owned(),
    };
    let number = |count: &u64| if *count == 0 { "-".to_owned() } else { count.to_string() };
    [row.name.clone()].into_iter().chain(numbers.iter().map(number)).chain([last]).collect()
}
