//! The changes of a torture process, and the expected result: the log of a process and the model that follows from it. Pure: the
//! worker and the audit replay the same log.

use crate::args::ChangeKind;
use std::{collections::BTreeMap, fmt::Write as _};

/// The memory all processes append to.
pub(crate) const SHARED_LOG: &str = "shared/log";
/// The memory in which each process edits its own line.
pub(crate) const SHARED_BOARD: &str = "shared/board";

/// One change a process makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Saves a new memory.
    Save { name: String },
    /// Appends a line to the shared log.
    Append,
    /// Sets the process's line on the shared board.
    Board,
    /// Edits one of its own memories.
    Edit { name: String },
    /// Renames one of its own memories.
    Rename { name: String, to: String },
    /// Deletes one of its own memories.
    Delete { name: String },
}

/// The expected result of one process's log.
#[derive(Debug, Default)]
pub(crate) struct Model {
    /// The change to make next.
    pub(crate) next: u64,
    /// Its memories and their texts.
    pub(crate) texts: BTreeMap<String, String>,
    /// Changes that were started and never acknowledged, with the memories before them.
    pub(crate) unsure: Vec<Unsure>,
    /// Changes whose line must be in the shared log.
    pub(crate) appended: Vec<u64>,
    /// The last acknowledged change of its line on the board.
    pub(crate) board: u64,
    /// Acknowledged changes, by kind.
    pub(crate) acknowledged: BTreeMap<ChangeKind, u64>,
}

/// A change that was interrupted: it may have happened or not.
#[derive(Debug, Clone)]
pub(crate) struct Unsure {
    pub(crate) n: u64,
    pub(crate) step: Step,
    /// The memory's text before the change, if there was one.
    pub(crate) before: Option<String>,
}

/// The text of a new memory: long enough for a torn write, with every part recognizable.
pub(crate) fn text(process: u32, n: u64) -> String {
    let mut text = format!("---\ndescription: change {n} of process {process}\n---\n\nstate: new\n");
    for line in 0..(n % 40) {
        let _ = writeln!(text, "{process}-{n}-{line} {}", "=".repeat(40));
    }
    let _ = writeln!(text, "end of {process}-{n}");
    text
}

/// The line a process adds to the shared log.
pub(crate) fn line(process: u32, n: u64) -> String {
    format!("process {process} change {n} {}\n", "-".repeat(20))
}

/// A process's line on the shared board.
pub(crate) fn board_line(process: u32, n: u64) -> String {
    format!("process {process}: {n};")
}

/// A memory's text after the edit with this number.
pub(crate) fn edited(text: &str, n: u64) -> String {
    let Some((head, rest)) = text.split_once("\nstate: ") else { return text.to_owned() };
    let rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    format!("{head}\nstate: {n}\n{rest}")
}

/// The change number `n` of a process that has the memories `texts`. If it has none to change, the change is a save.
pub(crate) fn step(process: u32, n: u64, mix: &[ChangeKind], texts: &BTreeMap<String, String>) -> Step {
    let kind = mix.get(n as usize % mix.len().max(1)).copied().unwrap_or(ChangeKind::Save);
    // Any deterministic choice works; this one goes through the memories.
    let own = texts.keys().nth((n as usize * 7) % texts.len().max(1)).cloned();
    match (kind, own) {
        (ChangeKind::Append, _) => Step::Append,
        (ChangeKind::Edit, _) if n.is_multiple_of(2) => Step::Board,
        (ChangeKind::Edit, Some(name)) => Step::Edit { name },
        (ChangeKind::Rename, Some(name)) => Step::Rename { name, to: format!("process-{process}/renamed-{n}") },
        (ChangeKind::Delete, Some(name)) => Step::Delete { name },
        _ => Step::Save { name: format!("process-{process}/change-{n}") },
    }
}

impl Step {
    /// Its kind.
    pub(crate) fn kind(&self) -> ChangeKind {
        match self {
            Step::Save { .. } => ChangeKind::Save,
            Step::Append => ChangeKind::Append,
            Step::Board | Step::Edit { .. } => ChangeKind::Edit,
            Step::Rename { .. } => ChangeKind::Rename,
            Step::Delete { .. } => ChangeKind::Delete,
        }
    }

    fn name(&self) -> Option<&str> {
        match self {
            Step::Save { name } | Step::Edit { name } | Step::Rename { name, .. } | Step::Delete { name } => Some(name),
            Step::Append | Step::Board => None,
        }
    }
}

/// Replays a log of `begin N` and `done N` lines.
pub(crate) fn replay(process: u32, mix: &[ChangeKind], log: &str) -> Model {
    let mut model = Model::default();
    let mut begun: Option<(u64, Step)> = None;
    for entry in log.lines() {
        match entry.split_once(' ').map(|(word, n)| (word, n.parse::<u64>())) {
            Some(("begin", Ok(n))) => {
                model.interrupt(begun.take());
                begun = Some((n, step(process, n, mix, &model.texts)));
                model.next = n + 1;
            }
            Some(("done", Ok(n))) => {
                if let Some((_, step)) = begun.take_if(|(begun, _)| *begun == n) {
                    model.done(process, n, &step);
                }
            }
            _ => {}
        }
    }
    model.interrupt(begun);
    model
}

impl Model {
    pub(crate) fn done(&mut self, process: u32, n: u64, step: &Step) {
        *self.acknowledged.entry(step.kind()).or_default() += 1;
        match step {
            Step::Save { name } => drop(self.texts.insert(name.clone(), text(process, n))),
            Step::Append => self.appended.push(n),
            Step::Board => self.board = n,
            Step::Edit { name } => {
                if let Some(text) = self.texts.get_mut(name) {
                    *text = edited(text, n);
                }
            }
            Step::Rename { name, to } => {
                if let Some(text) = self.texts.remove(name) {
                    self.texts.insert(to.clone(), text);
                }
            }
            Step::Delete { name } => drop(self.texts.remove(name)),
        }
    }

    /// Records an interrupted change. Its memory is not changed again, so that the audit can tell both outcomes apart.
    fn interrupt(&mut self, begun: Option<(u64, Step)>) {
        let Some((n, step)) = begun else { return };
        let before = step.name().and_then(|name| self.texts.remove(name));
        self.unsure.push(Unsure { n, step, before });
    }
}
