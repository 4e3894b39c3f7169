//! `memdir inbox`: lists candidates with their evidence, and accepts, merges and rejects them.

mod review;
mod show;

use super::{OpenSpace, edit, name};
use crate::{
    args::{Edit, Inbox as Typed, InboxAccept, InboxWhat},
    config,
    exit::Failure,
    output::{CommandOutput, OutputOptions},
};
use jiff::Timestamp;
use memdir_core::{DecidedCandidate, Inbox, InboxEntry, Memdir};
use serde::Serialize;

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

pub(super) fn run(args: &Typed, space: &OpenSpace<'_>, output: OutputOptions) -> Result<CommandOutput, Failure> {
    let memdir = space.memdir;
    let now = memdir.context().clock.now();
    match &args.what {
        None => {
            let rejected_candidates = if args.all { memdir.rejected_candidates()? } else { Vec::new() };
            Ok(CommandOutput::new(InboxList { inbox: memdir.inbox()?, rejected_candidates, now }, show::list))
        }
        Some(InboxWhat::Show(typed)) => {
            let entry = memdir.candidate(&name(&typed.candidate)?)?;
            Ok(CommandOutput::new(ShownCandidate { entry, now }, show::candidate))
        }
        Some(InboxWhat::Accept(typed)) => accept(typed, space),
        Some(InboxWhat::Merge(typed)) => {
            let merged = memdir.merge(&name(&typed.candidate)?, &name(&typed.name)?)?;
            Ok(decisions(vec![merged]))
        }
        Some(InboxWhat::Reject(typed)) => {
            let names = if typed.all { open_names(memdir, |_| true)? } else { typed.candidates.clone() };
            each(&names, |candidate| Ok(memdir.reject(&name(candidate)?)?))
        }
        Some(InboxWhat::Review) => review::run(memdir, output),
    }
}

fn accept(typed: &InboxAccept, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let memdir = space.memdir;
    if typed.candidates.len() > 1 && (typed.new_name.is_some() || typed.edit) {
        return Err(Failure::Usage {
            message: "--as and --edit are for one candidate".into(),
            hint: "accept the candidates one by one".into(),
        });
    }
    let names = if typed.all { open_names(memdir, |entry| !entry.changes_memory())? } else { typed.candidates.clone() };
    let new_name = typed.new_name.as_deref().map(name).transpose()?;
    let accepted = accept_all(memdir, &names, new_name.as_ref())?;
    match accepted.first().filter(|_| typed.edit) {
        Some(one) => edit::run(&Edit { name: one.memory.clone(), ..Edit::default() }, space),
        None => Ok(decisions(accepted)),
    }
}

fn accept_all(memdir: &Memdir, names: &[String], new_name: Option<&memdir_core::MemoryPath>) -> Result<Vec<DecidedCandidate>, Failure> {
    names.iter().map(|candidate| accept_one(memdir, candidate, new_name)).collect()
}

/// Accepts a candidate. One that changes a rule is accepted by a person only.
fn accept_one(memdir: &Memdir, candidate: &str, new_name: Option<&memdir_core::MemoryPath>) -> Result<DecidedCandidate, Failure> {
    let path = name(candidate)?;
    if let Some(variable) = config::agent_variable()
        && memdir.candidate(&path)?.changes_memory()
    {
        return Err(Failure::Usage {
            message: format!("only the person can accept a change of a rule, but an agent runs this command ({variable} is set)"),
            hint: format!("in a terminal of your own, run: memdir inbox accept {candidate}"),
        });
    }
    Ok(memdir.accept(&path, new_name)?)
}

/// Decides about candidates one by one. What was decided before an error stays.
fn each(names: &[String], decide: impl Fn(&str) -> Result<DecidedCandidate, Failure>) -> Result<CommandOutput, Failure> {
    Ok(decisions(names.iter().map(|name| decide(name)).collect::<Result<_, _>>()?))
}

fn decisions(decided: Vec<DecidedCandidate>) -> CommandOutput {
    CommandOutput::new(Decisions { decided }, show::decisions)
}

fn open_names(memdir: &Memdir, is_wanted: impl Fn(&InboxEntry) -> bool) -> Result<Vec<String>, Failure> {
    Ok(memdir.inbox()?.open.into_iter().filter(|entry| is_wanted(entry)).map(|entry| entry.name).collect())
}
