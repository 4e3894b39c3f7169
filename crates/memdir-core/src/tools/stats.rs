//! `memory_stats`: counts files and chunks.

use super::{Level, Tool, ToolContext, ToolResult, args::ToolArguments};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{error::Result, text::counted},
    search::MountCounts,
    store::Source,
};
use serde_json::json;

pub(super) const TOOL: Tool = Tool {
    name: "memory_stats",
    title: "Show memory statistics",
    description: include_str!("../../texts/tools/stats.md"),
    params: &[],
    closed: false,
    output: None,
    level: Level::Safe,
    idempotent: true,
    titled: false,
    always_load: false,
    run,
};

fn run(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    args.reject_unknown()?;
    let counts = caller.memdir.searcher()?.counts(caller.memdir.store())?;
    let (files, chunks) = counts.iter().fold((0, 0), |(files, chunks), mount| (files + mount.counts.files, chunks + mount.counts.units));
    let mut sources: Vec<Source> = counts.iter().map(|mount| mount.source).collect();
    sources.shared_sort();
    sources.dedup();
    let changed = last_changed(&counts);
    let off: Vec<Source> = caller.memdir.are_chats_off().then_some(Source::Chat).into_iter().collect();
    let text = counts.iter().map(|mount| {
        let name = if mount.prefix.is_empty() { "." } else { &mount.prefix };
        format!("{name}: {}, {}", counted(mount.counts.files, "file", "files"), counted(mount.counts.units, "chunk", "chunks"))
    });
    let indexed = changed.as_ref().map_or_else(|| "nothing indexed yet".to_owned(), |changed| format!("index last changed {changed}"));
    let total = format!("{} and {}", counted(files, "file", "files"), counted(chunks, "chunk", "chunks"));
    let mut text = format!("{total}; {indexed}.\n{}", text.collect::<Vec<_>>().join("\n"));
    if let Some(why) = caller.memdir.why_no_chats() {
        text.push_str(&format!("\nchat: {why}"));
    }
    let mounts: Vec<_> = counts
        .iter()
        .map(|mount| json!({ "prefix": mount.prefix, "source": mount.source, "files": mount.counts.files, "chunks": mount.counts.units }))
        .collect();
    Ok(ToolResult::new(
        json!({ "files": files, "chunks": chunks, "lastIndexed": changed, "sources": sources, "off": off, "mounts": mounts }),
        text,
    ))
}

/// When the index of any mount last changed, in seconds.
pub(crate) fn last_changed(counts: &[MountCounts]) -> Option<String> {
    let last = counts.iter().filter_map(|mount| mount.changed).max()?;
    Some(last.round(jiff::Unit::Second).unwrap_or(last).to_string())
}
