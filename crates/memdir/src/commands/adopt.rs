//! `memdir adopt`: memories that other programs keep are mounted in place; or theirs and memdir's become one directory.

use super::install::{Outcome, machine, show_outcomes};
use crate::{
    adopt::{self, Found, for_codex},
    args::Adopt as Typed,
    config::Settings,
    exit::Failure,
    hosts::{self, Scope as Reach, claude_code, codex},
    install::{self, Order},
    output::{Answer, Page},
    scope::Scope,
    wire,
};
use memdir_core::{
    base::{
        path::MemoryPath,
        time::{Clock as _, SystemClock},
    },
    operations::list::List,
    store::{Access, files::Mount},
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
    /// Whether it is mounted already and can be written from now on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    opened: bool,
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
    let mut given = Vec::new();
    for one in there.into_iter().filter(wanted) {
        let there = scope.mounts.iter().find(|placed| same(&placed.mount.root, &one.path)).map(|placed| &placed.mount);
        let mounted = there.is_some();
        let name = free_name(&one, settings, scope, &given);
        let mount = one.mount(&name, &machine, &scope.id, args.read_write);
        given.extend((!mounted).then_some(name));
        let toml = hosts::toml::push("", "mounts", &mount).unwrap_or_default();
        if !mounted && !args.names.is_empty() {
            let pushed = hosts::toml::push(&text, "mounts", &mount);
            text = pushed.map_err(|refused| Failure::Settings {
                message: format!("{}: {}", settings.file.display(), refused.why),
                hint: "Mend the file first; memdir changes no settings it cannot read.".into(),
            })?;
        }
        let opens = |mount: &&Mount| args.read_write && !args.names.is_empty() && mount.access == Access::ReadOnly;
        let changed = there.filter(opens).and_then(|mount| opened(&text, &mount.prefix));
        let opened = changed.is_some();
        text = changed.unwrap_or(text);
        found.push(Offer { found: one, mounted, opened, toml });
    }
    let adopted = !args.names.is_empty() && !args.dry_run;
    if adopted {
        settings.would_read(&text)?;
        crate::config::edit::change(&settings.file, |document| {
            if let Ok(changed) = text.parse() {
                *document = changed;
            }
        })?;
    }
    Ok(Answer::new(Shown { found, adopted, file: settings.file.clone() }, show))
}

/// A name that no mount has wherever this one would be: two of one name, and no command would work any more.
fn free_name(one: &Found, settings: &Settings, scope: &Scope, given: &[String]) -> String {
    let beside = |project: &Option<String>| !one.of_project || project.as_ref().is_none_or(|project| *project == scope.id);
    let configured = settings.config.mounts.iter().filter(|mount| beside(&mount.project)).map(|mount| &mount.name);
    let placed = scope.mounts.iter().map(|placed| &placed.mount.prefix);
    let taken: Vec<&String> = configured.chain(placed).chain(given).collect();
    let mut names = std::iter::once(one.name.to_owned()).chain((2..).map(|n| format!("{}-{n}", one.name)));
    names.find(|name| !taken.contains(&name)).unwrap_or_default()
}

/// The settings in which the mount of that name can be written; nothing if they have no such mount.
fn opened(text: &str, name: &str) -> Option<String> {
    let mut document: toml_edit::DocumentMut = text.parse().ok()?;
    let mounts = document.get_mut("mounts")?.as_array_of_tables_mut()?;
    let mount = mounts.iter_mut().find(|mount| mount.get("name").and_then(|value| value.as_str()) == Some(name))?;
    mount["access"] = toml_edit::value("read-write");
    Some(document.to_string())
}

fn same(a: &Path, b: &Path) -> bool {
    memdir_core::store::files::real_path(a) == memdir_core::store::files::real_path(b)
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
        let edits = install::plan(std::slice::from_ref(&part), &[])?;
        let diffs: String = edits.iter().map(|edit| install::diff(&edit.part.file, edit.before.as_deref(), Some(&edit.after))).collect();
        return Ok(Answer::new(diffs, |diff, page| page.content(diff)));
    }
    std::fs::create_dir_all(&dir).map_err(|source| Failure::File { doing: "make", path: dir.clone(), source })?;
    let files = install::put(&order, std::slice::from_ref(&part))?;
    let then =
        Some("From its next session on, Claude Code reads and writes memdir's directory; memdir uninstall claude-code takes that back.");
    let outcome = Outcome { host: host.name, title: host.title, scope: args.scope, files, error: None, then };
    let notes = adopt::claude_memories(&machine, args.scope).into_iter().filter(|(old, _)| !same(old, &dir)).map(|(old, memories)| {
        let under = if args.scope == Reach::User { " --under user" } else { "" };
        let old = old.display();
        format!("{memories} memories of Claude Code stay in {old}, where it no longer looks; memdir import '{old}'{under} brings them in")
    });
    Ok(Answer::new(vec![outcome], show_outcomes).with_notes(notes.collect()))
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
    // What Codex wrote itself, and is only mounted here, is not told to it as news.
    let own = memdir_core::store::files::real_path(&codex::home(&machine));
    let theirs =
        |path: &MemoryPath| memdir_core::store::mounts::mount_of(memdir.store(), path).is_some_and(|mount| mount.root.starts_with(&own));
    let mut memories = Vec::new();
    for listed in memdir.list(&List::default())?.memories.into_iter().filter(|listed| !theirs(&listed.path)) {
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
            (true, true) if offer.opened => "can be written now",
            (true, false) if offer.opened => "mounted read-only; would be read-write",
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
