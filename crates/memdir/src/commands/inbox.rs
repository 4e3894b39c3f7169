//! `memdir inbox`: lists candidates with their evidence, and accepts, merges and rejects them.

mod review;
mod show;

use super::{OpenSpace, edit, name};
use crate::{
    args::{EditArgs, InboxAcceptArgs, InboxArgs, InboxWhat},
    config::{self, Settings},
    exit::Failure,
    output::{CommandOutput, OutputOptions},
    rules::propose_rule_changes,
};
use jiff::Timestamp;
use memdir_core::{DecidedCandidate, Error, Inbox, InboxEntry, Memdir};
use serde::Serialize;
use std::collections::HashSet;

/// The candidates, and the time at which their ages are measured.
#[derive(Serialize)]
struct InboxList {
    #[serde(flatten)]
    inbox: Inbox,
    /// Rejected candidates, with `--all`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rejected_candidates: Vec<InboxEntry>,
    #[serde(skip)]
    now: Timestamp,
}

#[derive(Serialize)]
struct ShownCandidate {
    #[serde(flatten)]
    entry: InboxEntry,
    #[serde(skip)]
    now: Timestamp,
}

/// The candidates that a command decided about.
#[derive(Serialize)]
struct Decisions {
    decided: Vec<DecidedCandidate>,
}

pub(super) fn run(args: &InboxArgs, space: &OpenSpace<'_>, output: OutputOptions) -> Result<CommandOutput, Failure> {
    let memdir = space.memdir;
    let now = memdir.context().clock.now();
    must_have_inbox(space)?;
    match &args.what {
        None => {
            propose_about_rules(space);
            let rejected_candidates = if args.all { memdir.rejected_candidates()? } else { Vec::new() };
            Ok(CommandOutput::new(InboxList { inbox: memdir.inbox()?, rejected_candidates, now }, show::list))
        }
        Some(InboxWhat::Show(args)) => {
            let entry = memdir.candidate(&name(&args.candidate)?)?;
            Ok(CommandOutput::new(ShownCandidate { entry, now }, show::candidate))
        }
        Some(InboxWhat::Accept(args)) => accept(args, space),
        Some(InboxWhat::Merge(args)) => {
            let merged = memdir.merge(&name(&args.candidate)?, &name(&args.name)?).map_err(|error| match error {
                Error::BadInput { .. } => Failure::Core { error, hint: Some("pass a memory name; list the memories with: memdir list") },
                other => other.into(),
            })?;
            Ok(decisions(vec![merged]))
        }
        Some(InboxWhat::Reject(args)) => {
            let names = if args.all { open_names(memdir, |_| true)? } else { args.candidates.clone() };
            decide_each(memdir, &names, |candidate| Ok(memdir.reject(&name(candidate)?)?))
        }
        Some(InboxWhat::Review) => {
            propose_about_rules(space);
            review::run(memdir, output)
        }
    }
}

/// Adds what the ledger says about rules by now. Best effort: the candidates that are there can be listed without it.
fn propose_about_rules(space: &OpenSpace<'_>) {
    if let Some((settings, scope)) = space.origin {
        let _ = propose_rule_changes(settings, scope, space.memdir);
    }
}

fn accept(args: &InboxAcceptArgs, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let memdir = space.memdir;
    if args.candidates.len() > 1 && (args.new_name.is_some() || args.edit) {
        return Err(Failure::Usage {
            message: "--as and --edit require exactly one candidate".into(),
            hint: "accept the candidates one by one".into(),
        });
    }
    let names = if args.all { open_names(memdir, |entry| !entry.changes_memory())? } else { args.candidates.clone() };
    let new_name = args.new_name.as_deref().map(name).transpose()?;
    if let ([candidate], true) = (names.as_slice(), args.edit) {
        let accepted = accept_one(memdir, candidate, new_name.as_ref())?;
        return Ok(match edit::in_editor(&EditArgs { name: accepted.memory.clone(), ..EditArgs::default() }, space) {
            Ok(saved) => {
                let notes = saved.change.iter().map(|change| format!("edited {} (undo: memdir undo {change})", saved.name));
                decisions(vec![accepted]).with_notes(notes.chain(saved.notes.iter().cloned()).collect())
            }
            Err(failure) => decisions(vec![accepted]).with_notes(vec![format!("not edited: {}", with_hint(&failure))]).exit(failure.exit()),
        });
    }
    decide_each(memdir, &names, |candidate| accept_one(memdir, candidate, new_name.as_ref()))
}

/// Fails with what turns the inbox off, if the space has none.
fn must_have_inbox(space: &OpenSpace<'_>) -> Result<(), Failure> {
    match space.origin {
        Some((settings, _)) if !settings.config.inbox.on => Err(Failure::Settings {
            message: "the inbox is off (inbox.on = false)".into(),
            hint: "turn it on with: memdir config set inbox.on true".into(),
        }),
        Some((settings, scope)) if !scope.has_inbox() => Err(Failure::Usage {
            message: "the selected memory has no inbox; only a project's memory has one".into(),
            hint: without_selection(settings),
        }),
        _ => Ok(()),
    }
}

/// How to select a whole project's memory: what selects another memory, or a part of one.
fn without_selection(settings: &Settings) -> String {
    let origin = settings.dir.as_ref().map(|dir| dir.origin);
    let (typed, variable) = (origin.filter(|origin| origin.starts_with("--")), origin.filter(|origin| !origin.starts_with("--")));
    let options: Vec<&str> = typed.into_iter().chain((!settings.only.is_empty()).then_some("--only")).collect();
    let omit = (!options.is_empty()).then(|| format!("omit {}", options.join(" and ")));
    let steps: Vec<String> = omit.into_iter().chain(variable.map(|variable| format!("unset {variable}"))).collect();
    match steps.is_empty() {
        true => "both names for the inbox, inbox/ and memdir-inbox/, are in use; rename the mount memdir-inbox with: memdir config edit"
            .to_owned(),
        false => steps.join(" and "),
    }
}

/// The message of a failure with its hint, if it has one, for a note.
fn with_hint(failure: &Failure) -> String {
    let text = failure.text();
    if text.hint.is_empty() { text.message } else { format!("{}; {}", text.message, text.hint) }
}

/// Accepts a candidate. One that changes a rule is accepted by a person only.
fn accept_one(memdir: &Memdir, candidate: &str, new_name: Option<&memdir_core::MemoryPath>) -> Result<DecidedCandidate, Failure> {
    let path = name(candidate)?;
    if let Some(variable) = config::agent_variable()
        && memdir.candidate(&path)?.changes_memory()
    {
        return Err(Failure::Usage {
            message: format!("only a person can accept a change to a rule, but an agent is running this command ({variable} is set)"),
            hint: format!(
                "run the command yourself in a terminal: memdir inbox accept {}",
                memdir_core::internal::base::shell::quote_posix(candidate)
            ),
        });
    }
    memdir.accept(&path, new_name).map_err(|error| match error {
        Error::Exists { .. } => Failure::Core {
            error,
            hint: Some("merge the text with: memdir inbox merge CANDIDATE NAME, or accept it under another name with --as NEW_NAME"),
        },
        Error::BadInput { .. } if new_name.is_some() => Failure::Core { error, hint: Some("omit --as") },
        // A candidate that does not exist is another error.
        Error::NotFound { .. } => {
            let hint = "the memory that the candidate changes no longer exists; reject it with: memdir inbox reject CANDIDATE";
            Failure::Core { error, hint: Some(hint) }
        }
        other => other.into(),
    })
}

/// Decides about candidates one by one, about each once. Fails before anything is decided if one of them does not exist. After any
/// other error the rest is decided about, and the error is a note.
fn decide_each(
    memdir: &Memdir,
    names: &[String],
    decide: impl Fn(&str) -> Result<DecidedCandidate, Failure>,
) -> Result<CommandOutput, Failure> {
    let mut found = HashSet::new();
    let mut wanted = Vec::new();
    for candidate in names {
        // A name may be typed with and without the prefix of the inbox.
        if found.insert(memdir.candidate(&name(candidate)?)?.name) {
            wanted.push(candidate);
        }
    }
    let (mut decided, mut notes, mut failed) = (Vec::new(), Vec::new(), None);
    for candidate in wanted {
        match decide(candidate) {
            Ok(one) => decided.push(one),
            Err(failure) => {
                notes.push(format!("not decided: {candidate}: {}", with_hint(&failure)));
                failed = failed.or(Some(failure));
            }
        }
    }
    match failed {
        Some(failure) if decided.is_empty() => Err(failure),
        Some(failure) => Ok(decisions(decided).with_notes(notes).exit(failure.exit())),
        None => Ok(decisions(decided)),
    }
}

fn decisions(decided: Vec<DecidedCandidate>) -> CommandOutput {
    CommandOutput::new(Decisions { decided }, show::decisions)
}

fn open_names(memdir: &Memdir, is_wanted: impl Fn(&InboxEntry) -> bool) -> Result<Vec<String>, Failure> {
    Ok(memdir.inbox()?.open.into_iter().filter(|entry| is_wanted(entry)).map(|entry| entry.name).collect())
}
