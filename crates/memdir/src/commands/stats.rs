//! `memdir stats`: how much there is, mount by mount.

use crate::{
    config::Settings,
    exit::Failure,
    loads::{self, Loads},
    output::{Answer, Page},
    scope::Scope,
    wire,
};
use jiff::Timestamp;
use memdir_core::{
    base::{limits, text::human_bytes, time},
    memdir::Memdir,
    operations::stats::{MountStats, Stats},
    prompt::Load,
    search::IndexState,
    store::{Access, Source},
};
use serde::Serialize;
use std::io;

/// How much there is, and how the search index stands to it.
#[derive(Serialize)]
struct All {
    #[serde(flatten)]
    stats: Stats,
    search: Vec<IndexState>,
    embedder: Option<String>,
    now: Timestamp,
    #[serde(skip)]
    why_no_chats: Option<String>,
}

pub(crate) fn run(memdir: &Memdir) -> Result<Answer, Failure> {
    let searcher = memdir.searcher()?;
    Ok(Answer::new(
        All {
            stats: memdir.stats()?,
            search: searcher.state(memdir.store())?,
            embedder: searcher.embedder().map(|embedder| embedder.id().to_string()),
            now: memdir.context().clock.now(),
            why_no_chats: memdir.why_no_chats().map(str::to_owned),
        },
        show,
    ))
}

/// How often, and how large, the prompt of this space was loaded.
pub(crate) fn loads(settings: &Settings, scope: &Scope) -> Result<Answer, Failure> {
    let opened = wire::open_late(settings, scope)?;
    let loads = loads::read(&settings.home.value, &loads::space(opened.memdir.store()));
    Ok(Answer::new(loads, show_loads).with_notes(opened.notes))
}

fn show_loads(loads: &Loads, page: &mut Page<'_>) -> io::Result<()> {
    if loads.modes.is_empty() {
        return page.line("No prompt was loaded yet");
    }
    let mut rows =
        vec![["mode", "loads", "mean size", "largest", "cut by lines", "cut by bytes", "files", "folders"].map(str::to_owned).to_vec()];
    rows.extend(loads.modes.iter().map(|(mode, counted)| {
        let last = |number: fn(&Load) -> u64| counted.last.as_ref().map_or_else(String::new, |load| number(load).to_string());
        let mean = human_bytes(counted.bytes / counted.loads.max(1));
        let cut = [counted.cut_by_lines, counted.cut_by_bytes].map(|cut| cut.to_string());
        let [by_lines, by_bytes] = cut;
        vec![
            mode.clone(),
            counted.loads.to_string(),
            mean,
            human_bytes(counted.largest),
            by_lines,
            by_bytes,
            last(|load| load.files),
            last(|load| load.folders),
        ]
    }));
    page.table(&rows)
}

fn show(all: &All, page: &mut Page<'_>) -> io::Result<()> {
    let stats = &all.stats;
    let mut rows = vec![["mount", "memories", "size", "entrypoint", "access", "class", "directory"].map(str::to_owned).to_vec()];
    rows.extend(stats.mounts.iter().map(row));
    page.table(&rows)?;
    for state in &all.search {
        page.line(index_line(state, all))?;
    }
    if let Some(why) = &all.why_no_chats {
        page.line(format!("chat: {why}"))?;
    }
    page.line(format!(
        "{} memories, {}; journal: {} changes, {}",
        stats.files,
        human_bytes(stats.bytes),
        stats.journal.changes,
        human_bytes(stats.journal.bytes)
    ))
}

/// How the index of a mount stands to its files.
fn index_line(state: &IndexState, all: &All) -> String {
    let mount = if state.prefix.is_empty() { String::new() } else { format!(" of {}/", state.prefix) };
    let Some(last) = state.last_indexed else { return format!("search index{mount}: none yet; the first search makes it") };
    let behind = match state.changed + state.gone {
        0 => "in step".to_owned(),
        files => format!("{files} files behind, which the next search brings in"),
    };
    let unembedded = if state.unembedded > 0 { format!(", {} files without vectors", state.unembedded) } else { String::new() };
    format!(
        "search index{mount}: {} files, {} units, {}, {behind}{unembedded}; last indexed {}; meaning by {}",
        state.files,
        state.units,
        human_bytes(state.size.bytes),
        time::age(all.now, last),
        all.embedder.as_deref().unwrap_or("nobody")
    )
}

fn row(mount: &MountStats) -> Vec<String> {
    let entrypoint = if mount.entrypoint_lines == 0 {
        "-".to_owned()
    } else {
        let lines = format!("{}/{} lines", mount.entrypoint_lines, limits::ENTRYPOINT_LINES);
        format!("{lines}, {}/{}", human_bytes(mount.entrypoint_bytes), human_bytes(limits::ENTRYPOINT_BYTES as u64))
    };
    let access = match mount.access {
        Access::ReadWrite => "read-write",
        Access::ReadOnly => "read-only",
    };
    let class = match mount.source {
        Source::Memory => "memory",
        Source::Custom => "custom",
        Source::Chat => "chat",
    };
    let prefix = if mount.prefix.is_empty() { "(none)".to_owned() } else { format!("{}/", mount.prefix) };
    vec![
        prefix,
        mount.files.to_string(),
        human_bytes(mount.bytes),
        entrypoint,
        access.into(),
        class.into(),
        mount.root.display().to_string(),
    ]
}
