//! Putting memdir into a host's files and taking it out again: planned first, shown if wanted, applied whole or not at
//! all, and recorded so that exactly what was put in can be taken out.

mod files;
mod patch;
mod plan;
mod receipt;
mod remove;

pub(crate) use files::Trouble;
pub(crate) use plan::{FileEdit, diff, plan};
pub(crate) use receipt::{Installed, Receipts};
pub(crate) use remove::plan_removal;

use crate::hosts::{Host, Machine, Part, Scope, Wish};
use jiff::Timestamp;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Touched {
    pub(crate) path: PathBuf,
    pub(crate) did: Did,
    /// Where the text from before is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backup: Option<PathBuf>,
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Did {
    /// It was not there.
    Created,
    /// It was edited.
    Changed,
    /// It was as wanted.
    Nothing,
    /// It is gone.
    Removed,
}

/// What holds for one installation.
#[derive(Debug, Clone)]
pub(crate) struct Order<'a> {
    pub(crate) host: &'a Host,
    pub(crate) scope: Scope,
    pub(crate) machine: &'a Machine,
    /// `MEMDIR_HOME`, where the receipts are.
    pub(crate) home: &'a Path,
    pub(crate) now: Timestamp,
}

impl Order<'_> {
    /// Which installation this is, among the receipts.
    pub(crate) fn key(&self) -> Installed {
        let project = (self.scope == Scope::Project).then(|| self.machine.project.clone());
        Installed { host: self.host.name.to_owned(), scope: self.scope, project }
    }
}

/// Puts the parts into their files. All or nothing: if one file cannot be written, those before it are put back.
pub(crate) fn put(order: &Order<'_>, parts: &[Part]) -> Result<Vec<Touched>, Trouble> {
    let _lock = receipt::lock(order.home)?;
    let mut receipts = Receipts::load(order.home)?;
    let edits = plan(parts, &receipts.known(order.machine))?;
    let done = files::apply_all(&edits, order.scope, order.now)?;
    let touched = done.iter().map(|done| done.touched.clone()).collect();
    let known = edits.iter().zip(&done).map(|(edit, done)| receipt::record(edit, done)).collect();
    receipts.add(order, known);
    match receipts.save(order.home) {
        Ok(()) => Ok(touched),
        Err(trouble) => {
            files::put_back(&edits, &done);
            Err(trouble)
        }
    }
}

/// The machine an installation was made for, and what it should have put where: as its receipt says, or as it would be
/// installed today. A program that is gone gives way to this one.
pub(crate) fn expected(receipts: &Receipts, order: &Order<'_>) -> (Machine, Vec<Part>) {
    let all = |machine: &Machine| (order.host.parts)(machine, order.scope).unwrap_or_default();
    let Some(receipt) = receipts.get(&order.key()) else { return (order.machine.clone(), all(order.machine)) };
    let exe = if Path::new(&receipt.program).is_file() { &receipt.program } else { &order.machine.exe };
    let machine = Machine { exe: exe.clone(), before: receipt.before.clone(), ..order.machine.clone() };
    let put: Vec<&Wish> = receipt.files.iter().flat_map(|record| &record.wishes).collect();
    let (server, hooks) = (put.iter().any(|wish| matches!(wish, Wish::Entry { .. })), put.iter().any(|wish| wish.is_hook()));
    let wanted = |wish: &Wish| if wish.is_hook() { hooks } else { server };
    let parts = all(&machine).into_iter().map(|part| Part { wishes: part.wishes.into_iter().filter(wanted).collect(), ..part });
    let settings = receipt.files.iter().map(|record| {
        let wishes = record.wishes.iter().filter(|wish| matches!(wish, Wish::Setting { .. })).cloned().collect();
        Part { file: record.path.clone(), format: record.format, wishes }
    });
    let parts = parts.chain(settings).filter(|part| !part.wishes.is_empty()).collect();
    (machine, parts)
}

/// Takes an installation out of its files.
pub(crate) fn take(order: &Order<'_>) -> Result<Vec<Touched>, Trouble> {
    let _lock = receipt::lock(order.home)?;
    let mut receipts = Receipts::load(order.home)?;
    let removals = plan_removal(&receipts, order)?;
    let touched = removals.iter().map(|removal| remove::apply(removal, order.scope)).collect::<Result<Vec<_>, _>>()?;
    remove::leave(&removals);
    receipts.drop(&order.key());
    receipts.save(order.home)?;
    Ok(touched)
}

#[cfg(test)]
mod tests;
