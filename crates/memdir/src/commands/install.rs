//! `memdir install`: the tools and hooks go into the hosts' files, each host whole or not at all.

use crate::{
    args::Install as Typed,
    config::{self, Settings},
    exit::{Exit, Failure},
    hosts::{self, HOSTS, Host, Machine, Part, Scope},
    install::{self, Did, Order, Receipts, Touched, Trouble},
    output::{Answer, Look, Page},
    wire,
};
use memdir_core::base::time::{Clock as _, SystemClock};
use serde::Serialize;
use std::{
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

/// What became of one host.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) host: &'static str,
    pub(super) title: &'static str,
    pub(super) scope: Scope,
    pub(super) files: Vec<Touched>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) then: Option<&'static str>,
}

/// What would become of one file.
#[derive(Debug, Serialize)]
pub(super) struct Preview {
    pub(super) host: &'static str,
    pub(super) path: PathBuf,
    pub(super) diff: String,
}

/// One line of the table of hosts.
#[derive(Debug, Serialize)]
struct Here {
    host: &'static str,
    title: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<PathBuf>,
    installed: Vec<Scope>,
}

pub(crate) fn run(args: &Typed, settings: &Settings, look: Look) -> Result<Answer, Failure> {
    let machine = machine(settings)?;
    let chosen = match choose(args, settings, &machine, look)? {
        Choice::These(chosen) => chosen,
        Choice::Show(here) => return Ok(Answer::new(here, show_here)),
    };
    if args.dry_run {
        let previews = chosen.iter().map(|host| preview(args, settings, &machine, host)).collect::<Result<Vec<_>, _>>()?;
        return Ok(Answer::new(previews.into_iter().flatten().collect(), show_previews));
    }
    let outcomes: Vec<Outcome> = chosen.iter().map(|host| outcome(args, settings, &machine, host)).collect();
    let failed = outcomes.iter().any(|outcome| outcome.error.is_some());
    if failed && outcomes.len() == 1 {
        let message = outcomes.into_iter().filter_map(|outcome| outcome.error).collect();
        return Err(Failure::Settings { message, hint: "Nothing was changed.".into() });
    }
    let chats = if outcomes.iter().all(|outcome| outcome.error.is_some()) { None } else { past_conversations(args, settings, look)? };
    let notes = chosen_memory(&machine).into_iter().chain(chats).collect();
    Ok(Answer::new(outcomes, show_outcomes).with_notes(notes).exit(if failed { Exit::Person } else { Exit::Done }))
}

/// What is said where not the usual memory is put in: the host will use no other.
fn chosen_memory(machine: &Machine) -> Option<String> {
    let words = hosts::command::Shell::Sh.line("memdir", &machine.before);
    (!machine.before.is_empty()).then(|| format!("the tools and hooks use the memory that is chosen here: {words}"))
}

/// The machine an installation is for.
pub(super) fn machine(settings: &Settings) -> Result<Machine, Failure> {
    let project = memdir_core::project::find(&settings.cwd, settings.config.worktrees)?;
    config::machine(settings, project)
}

/// The parts of a host in a scope.
fn parts(args: &Typed, machine: &Machine, host: &Host) -> Result<Vec<Part>, Failure> {
    let parts = (host.parts)(machine, args.scope).ok_or_else(|| Failure::Usage {
        message: format!("{} has no settings of a project", host.title),
        hint: "Leave --scope project out.".into(),
    })?;
    let without = |part: Part| Part { wishes: part.wishes.into_iter().filter(|wish| !wish.is_hook()).collect(), ..part };
    Ok(if args.no_hooks { parts.into_iter().map(without).filter(|part| !part.wishes.is_empty()).collect() } else { parts })
}

fn preview(args: &Typed, settings: &Settings, machine: &Machine, host: &'static Host) -> Result<Vec<Preview>, Failure> {
    let receipts = Receipts::load(&settings.home.value)?;
    let edits = install::plan(&parts(args, machine, host)?, &receipts.known(machine))?;
    let changed = edits.into_iter().filter(install::FileEdit::changes);
    Ok(changed
        .map(|edit| Preview {
            host: host.name,
            diff: install::diff(&edit.part.file, edit.before.as_deref(), Some(&edit.after)),
            path: edit.part.file,
        })
        .collect())
}

fn outcome(args: &Typed, settings: &Settings, machine: &Machine, host: &'static Host) -> Outcome {
    let order = Order { host, scope: args.scope, machine, home: &settings.home.value, now: SystemClock.now() };
    let said = |trouble: Trouble| format!("{}: {}. {}", trouble.path.display(), trouble.why, trouble.hint);
    let put =
        parts(args, machine, host).map_err(|failure| failure.words().message).and_then(|parts| install::put(&order, &parts).map_err(said));
    let (files, error) = put.map_or_else(|error| (Vec::new(), Some(error)), |files| (files, None));
    let then = error.is_none().then_some(host.then);
    Outcome { host: host.name, title: host.title, scope: args.scope, files, error, then }
}

enum Choice {
    These(Vec<&'static Host>),
    Show(Vec<Here>),
}

/// Which hosts are meant; a person is asked if nobody said.
fn choose(args: &Typed, settings: &Settings, machine: &Machine, look: Look) -> Result<Choice, Failure> {
    if !args.hosts.is_empty() {
        return Ok(Choice::These(args.hosts.clone()));
    }
    let receipts = Receipts::load(&settings.home.value)?;
    let here = || HOSTS.iter().map(|host| look_for(host, machine, &receipts)).collect::<Vec<_>>();
    let there: Vec<&'static Host> = HOSTS.iter().copied().filter(|host| hosts::evidence(host, machine).is_some()).collect();
    let fitting: Vec<&'static Host> = there.into_iter().filter(|host| (host.parts)(machine, args.scope).is_some()).collect();
    if args.yes || (args.all && args.dry_run) {
        return Ok(Choice::These(fitting));
    }
    if fitting.is_empty() || !(can_ask(look) || args.all) {
        return Ok(Choice::Show(here()));
    }
    if !can_ask(look) {
        let names: Vec<&str> = fitting.iter().map(|host| host.name).collect();
        return Err(Failure::Usage {
            message: format!("--all would install into {}, and there is nobody to ask whether that is meant", names.join(", ")),
            hint: "Add --yes, or --dry-run to see what would change. Nothing was changed.".into(),
        });
    }
    let line = ask(&here(), &fitting).map_err(|source| Failure::Output { source })?;
    understood(&line, &fitting).map(Choice::These)
}

/// Whether somebody is there who can answer.
fn can_ask(look: Look) -> bool {
    look.terminal && !look.json && io::stdin().is_terminal()
}

fn look_for(host: &&'static Host, machine: &Machine, receipts: &Receipts) -> Here {
    let installed = receipts.installed.iter().filter(|receipt| receipt.key.host == host.name);
    let here = installed.filter(|receipt| receipt.key.project.as_deref().is_none_or(|project| project == machine.project));
    Here {
        host: host.name,
        title: host.title,
        found: hosts::evidence(host, machine),
        installed: here.map(|receipt| receipt.key.scope).collect(),
    }
}

/// Shows the table and asks, on standard error: the answer proper comes after.
fn ask(here: &[Here], fitting: &[&'static Host]) -> io::Result<String> {
    let mut err = anstream::stderr().lock();
    let mut page = Page::new(&mut err, Look::of_stdout(false));
    table(here, &mut page)?;
    let names = fitting.iter().map(|host| host.name).collect::<Vec<_>>().join(" ");
    write!(err, "\nInstall into {names}? Enter for all of them, names for some, n for none: ")?;
    drop(err);
    answer()
}

/// One line of a person's; without a line end if there is no more to come.
fn answer() -> io::Result<String> {
    io::stderr().flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}

/// Which hosts an answer means. One that is not understood is none: nothing is installed by mistake.
fn understood(line: &str, fitting: &[&'static Host]) -> Result<Vec<&'static Host>, Failure> {
    let words: Vec<&str> = line.split([' ', ',']).map(str::trim).filter(|word| !word.is_empty()).collect();
    let host = |word: &&str| {
        hosts::named(word).ok_or_else(|| Failure::Usage {
            message: format!("{word:?} is no agent program that memdir knows"),
            hint: format!("They are: {}. Nothing was changed.", HOSTS.iter().map(|host| host.name).collect::<Vec<_>>().join(", ")),
        })
    };
    match words.as_slice() {
        [] if line.ends_with('\n') => Ok(fitting.to_vec()),
        ["y" | "yes" | "all"] => Ok(fitting.to_vec()),
        [] | ["n" | "no" | "none"] => Ok(Vec::new()),
        words => words.iter().map(host).collect(),
    }
}

/// Past conversations are a person's to decide on: asked for, asked about, or mentioned. Returns what is to be said.
fn past_conversations(args: &Typed, settings: &Settings, look: Look) -> Result<Option<String>, Failure> {
    if settings.config.chats.settings.on {
        return Ok(None);
    }
    let wanted = args.chats || (!args.yes && can_ask(look) && asked_for_chats().map_err(|source| Failure::Output { source })?);
    if !wanted {
        return Ok(Some("your past conversations with agents can be searched too: memdir chats on".to_owned()));
    }
    config::edit::change(&settings.file, |document| drop(config::edit::table(document, "chats").insert("on", toml_edit::value(true))))?;
    wire::keep(settings).create()?;
    Ok(Some("past conversations are kept and searched from now on; memdir chats off ends that".to_owned()))
}

fn asked_for_chats() -> io::Result<bool> {
    write!(
        anstream::stderr(),
        "Keep your past conversations with agents, on this machine, and search them too? y for yes, Enter for no: "
    )?;
    Ok(matches!(answer()?.trim(), "y" | "yes"))
}

fn table(here: &[Here], page: &mut Page<'_>) -> io::Result<()> {
    let mut rows = vec![["host", "program", "found", "memdir"].map(str::to_owned).to_vec()];
    rows.extend(here.iter().map(|one| {
        let found = one.found.as_ref().map_or_else(|| "-".to_owned(), |path| path.display().to_string());
        let scopes = one.installed.iter().map(|scope| if *scope == Scope::User { "installed" } else { "installed in this project" });
        vec![one.host.to_owned(), one.title.to_owned(), found, scopes.collect::<Vec<_>>().join(", ")]
    }));
    page.table(&rows)
}

fn show_here(here: &Vec<Here>, page: &mut Page<'_>) -> io::Result<()> {
    table(here, page)?;
    page.line("")?;
    match here.iter().find(|one| one.found.is_some() && one.installed.is_empty()) {
        Some(one) => page.line(format!("Next: memdir install {} · memdir install --yes for all that were found", one.host)),
        None => page.line("Next: memdir install HOST · memdir doctor"),
    }
}

pub(super) fn show_previews(previews: &Vec<Preview>, page: &mut Page<'_>) -> io::Result<()> {
    if previews.is_empty() {
        return page.line("Nothing would change");
    }
    for preview in previews {
        for line in preview.diff.lines() {
            let line = match line.as_bytes().first() {
                Some(b'+') => page.green(line),
                Some(b'-') => page.red(line),
                _ => line.to_owned(),
            };
            page.line(line)?;
        }
    }
    Ok(())
}

pub(super) fn show_outcomes(outcomes: &Vec<Outcome>, page: &mut Page<'_>) -> io::Result<()> {
    if outcomes.is_empty() {
        return page.line("Nothing to do");
    }
    for outcome in outcomes {
        let title = page.strong(outcome.title);
        if let Some(error) = &outcome.error {
            let failed = page.red("failed");
            page.line(format!("{title}: {failed}: {error}"))?;
            continue;
        }
        let same = outcome.files.iter().all(|file| file.did == Did::Nothing);
        page.line(format!("{title}: {}", if same { "is so already" } else { "done" }))?;
        for file in &outcome.files {
            page.line(format!("  {}", said(file, page)))?;
        }
        if let (Some(then), false) = (outcome.then, same) {
            page.line(format!("  {then}"))?;
        }
    }
    Ok(())
}

fn said(file: &Touched, page: &Page<'_>) -> String {
    let did = match file.did {
        Did::Created => "created",
        Did::Changed => "changed",
        Did::Nothing => "as it was",
        Did::Removed => "removed",
    };
    let kept = |backup: &PathBuf| format!(", as it was before in {}", Path::new(backup.file_name().unwrap_or_default()).display());
    let backup = file.backup.as_ref().map_or_else(String::new, kept);
    format!("{} {}", file.path.display(), page.dim(&format!("{did}{backup}")))
}
