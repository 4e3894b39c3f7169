//! `memdir adopt`: memories that other programs keep are mounted in place; or theirs and memdir's become one directory.

use super::install::{Outcome, machine, show_outcomes};
use crate::{
    adopt::{self, Found, for_codex},
    args::Adopt as Typed,
    config::Settings,
    exit::Failure,
    hosts::{self, Scope as Reach, claude_code},
    install::{self, Order},
    output::{Answer, Page},
    scope::Scope,
    wire,
};
use memdir_core::{
    list::List,
    time::{Clock as _, SystemClock},
};
use serde::Serialize;
use std::{io, path::Path};

#[derive(Serialize)]
struct Shown {
    found: Vec<Offer>,
    /// Whether it was done, not only shown.
    adopted: bool,
    file: std::path::PathBuf,
}

#[derive(Serialize)]
struct Offer {
    #[serde(flatten)]
    found: Found,
    /// Whether the settings mount it already.
    mounted: bool,
    /// What the settings would say, or now say.
    toml: String,
}

pub(crate) fn run(args: &Typed, settings: &Settings, scope: &Scope) -> Result<Answer, Failure> {
    if args.as_auto_memory {
        return as_auto_memory(args, settings, scope);
    }
    if args.to_codex {
        return to_codex(args, settings, scope);
    }
    let machine = machine(settings)?;
    let there = adopt::find(&machine);
    if let Some(unknown) = args.names.iter().find(|name| !there.iter().any(|found| found.name == **name)) {
        let names: Vec<&str> = there.iter().map(|found| found.name).collect();
        let known = if names.is_empty() { "nothing was found".to_owned() } else { format!("found: {}", names.join(", ")) };
        return Err(Failure::Usage {
            message: format!("there is no {unknown:?} to adopt; {known}"),
            hint: "memdir adopt shows what is there.".into(),
        });
    }
    let wanted = |found: &Found| args.names.is_empty() || args.names.iter().any(|name| name == found.name);
    let mut text = std::fs::read_to_string(&settings.file).unwrap_or_default();
    let mut found = Vec::new();
    for one in there.into_iter().filter(wanted) {
        let mounted = scope.mounts.iter().any(|placed| same(&placed.mount.root, &one.path));
        let mount = one.mount(&machine, &scope.id, args.read_write);
        let toml = hosts::toml::push("", "mounts", &mount).unwrap_or_default();
        if !mounted && !args.names.is_empty() {
            let pushed = hosts::toml::push(&text, "mounts", &mount);
            text = pushed.map_err(|refused| Failure::Settings {
                message: format!("{}: {}", settings.file.display(), refused.why),
                hint: "Mend the file first; memdir changes no settings it cannot read.".into(),
            })?;
        }
        found.push(Offer { found: one, mounted, toml });
    }
    let adopted = !args.names.is_empty() && !args.dry_run;
    if adopted {
        crate::config::edit::change(&settings.file, |document| {
            if let Ok(changed) = text.parse() {
                *document = changed;
            }
        })?;
    }
    Ok(Answer::new(Shown { found, adopted, file: settings.file.clone() }, show))
}

fn same(a: &Path, b: &Path) -> bool {
    memdir_core::vault::real_path(a) == memdir_core::vault::real_path(b)
}

/// Claude Code's own memory becomes memdir's directory: of the person, or of this project.
fn as_auto_memory(args: &Typed, settings: &Settings, scope: &Scope) -> Result<Answer, Failure> {
    let machine = machine(settings)?;
    let places = settings.places();
    let dir = match args.scope {
        Reach::User => places.user(),
        Reach::Project => places.project(&scope.id),
    };
    let part = claude_code::auto_memory(&machine, args.scope, &dir.display().to_string());
    let host = &claude_code::HOST;
    let order = Order { host, scope: args.scope, machine: &machine, home: &settings.home.value, now: SystemClock.now() };
    if args.dry_run {
        let edits = install::plan(std::slice::from_ref(&part))?;
        let diffs: String = edits.iter().map(|edit| install::diff(&edit.part.file, edit.before.as_deref(), Some(&edit.after))).collect();
        return Ok(Answer::new(diffs, |diff, page| page.content(diff)));
    }
    std::fs::create_dir_all(&dir).map_err(|source| Failure::File { doing: "make", path: dir.clone(), source })?;
    let files = install::put(&order, std::slice::from_ref(&part))?;
    let then =
        Some("From its next session on, Claude Code reads and writes memdir's directory; memdir uninstall claude-code takes that back.");
    let outcome = Outcome { host: host.name, title: host.title, scope: args.scope, files, error: None, then };
    Ok(Answer::new(vec![outcome], show_outcomes))
}

#[derive(Serialize)]
struct ForCodex {
    dir: std::path::PathBuf,
    memories: usize,
    changed: usize,
}

/// Codex's own memory is fed with this project's and the person's.
fn to_codex(args: &Typed, settings: &Settings, scope: &Scope) -> Result<Answer, Failure> {
    let machine = machine(settings)?;
    let dir = for_codex::dir(&machine);
    let fail = |source| Failure::File { doing: "write into", path: dir.clone(), source };
    if args.dry_run {
        return Ok(Answer::new(ForCodex { dir, memories: 0, changed: 0 }, |there, page| {
            page.line(format!("Would write into {}", there.dir.display()))
        }));
    }
    let memdir = wire::open(settings, scope)?.memdir;
    let mut memories = Vec::new();
    for listed in memdir.list(&List::default())?.memories {
        if let Some(Ok(text)) = memdir.store().get(&listed.path)?.map(|stored| String::from_utf8(stored.bytes)) {
            memories.push((listed.path.to_string(), memdir_core::secrets::mask(&text).into_owned()));
        }
    }
    let changed = for_codex::write(&machine, &scope.id, &memories).map_err(fail)?;
    Ok(Answer::new(ForCodex { dir, memories: memories.len(), changed }, |there, page| {
        page.line(format!("{} memories in {}, {} files changed", there.memories, there.dir.display(), there.changed))?;
        page.line("Codex takes them in when it consolidates its memories ([features] memories = true).")
    }))
}

fn show(shown: &Shown, page: &mut Page<'_>) -> io::Result<()> {
    if shown.found.is_empty() {
        return page.line("No other program's memories were found for you or this project");
    }
    for offer in &shown.found {
        let title = page.strong(offer.found.title);
        let state = match (offer.mounted, shown.adopted) {
            (true, _) => "mounted already",
            (false, true) => "mounted now",
            (false, false) => "not mounted",
        };
        page.line(format!("{title}: {} files in {}, {state}", offer.found.memories, offer.found.path.display()))?;
        if !offer.mounted {
            for line in offer.toml.lines() {
                page.line(format!("  {line}"))?;
            }
        }
    }
    if !shown.adopted {
        let names: Vec<&str> = shown.found.iter().filter(|offer| !offer.mounted).map(|offer| offer.found.name).collect();
        if !names.is_empty() {
            page.line(format!("Next: memdir adopt {}   writes that into {}", names.join(" "), shown.file.display()))?;
        }
    }
    Ok(())
}
