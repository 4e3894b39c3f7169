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
pub(crate) enum ChangeStep {
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
    /// Moves one of its own memories to another mount, and then undoes and redoes that.
    Move { name: String, to: String, then: AfterMove },
    /// Replaces the file of one of its own memories without memdir.
    Editor { name: String },
}

/// What follows a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterMove {
    Nothing,
    Undo,
    UndoAndRedo,
}

/// The prefixes of the mounts, if changes go from one to another.
pub(crate) const MOUNTS: [&str; 3] = ["", "team", "user"];

/// Returns the prefixes of the mounts that a run with this mix has.
pub(crate) fn mounts(mix: &[ChangeKind]) -> &'static [&'static str] {
    let crosses = mix.iter().any(|kind| matches!(kind, ChangeKind::Move | ChangeKind::Undo | ChangeKind::Redo));
    if crosses { &MOUNTS } else { &MOUNTS[..1] }
}

/// Returns the prefixes of the mounts that a process sees. Every fourth one is a caller that sees only the last mount.
pub(crate) fn visible(process: u32, mix: &[ChangeKind]) -> &'static [&'static str] {
    let all = mounts(mix);
    if all.len() > 1 && process % 4 == 3 { &all[all.len() - 1..] } else { all }
}

/// The mount of a memory, and its name there.
pub(crate) fn split(name: &str) -> (&str, &str) {
    let mount = MOUNTS.into_iter().find(|prefix| name.split_once('/').is_some_and(|(first, _)| first == *prefix)).unwrap_or("");
    (mount, if mount.is_empty() { name } else { &name[mount.len() + 1..] })
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
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
    pub(crate) step: ChangeStep,
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
pub(crate) fn step(process: u32, n: u64, mix: &[ChangeKind], texts: &BTreeMap<String, String>) -> ChangeStep {
    let kind = mix.get(n as usize % mix.len().max(1)).copied().unwrap_or(ChangeKind::Save);
    // Any deterministic choice works; this one goes through the memories.
    let own = texts.keys().nth((n as usize * 7) % texts.len().max(1)).cloned();
    let visible = visible(process, mix);
    // The shared memories are in the first mount.
    let sees_shared = visible[0].is_empty();
    let moved = |name: String, then: AfterMove| {
        let at = visible.iter().position(|prefix| *prefix == split(&name).0).unwrap_or(0);
        let to = join(
            visible[(at + 1 + n as usize % visible.len().saturating_sub(1).max(1)) % visible.len()],
            &format!("process-{process}/moved-{n}"),
        );
        ChangeStep::Move { name, to, then }
    };
    match (kind, own) {
        (ChangeKind::Append, _) if sees_shared => ChangeStep::Append,
        (ChangeKind::Edit, _) if sees_shared && n.is_multiple_of(2) => ChangeStep::Board,
        (ChangeKind::Edit, Some(name)) => ChangeStep::Edit { name },
        (ChangeKind::Rename, Some(name)) => {
            let to = join(split(&name).0, &format!("process-{process}/renamed-{n}"));
            ChangeStep::Rename { name, to }
        }
        (ChangeKind::Delete, Some(name)) => ChangeStep::Delete { name },
        (ChangeKind::Move, Some(name)) => moved(name, AfterMove::Nothing),
        (ChangeKind::Undo, Some(name)) => moved(name, AfterMove::Undo),
        (ChangeKind::Redo, Some(name)) => moved(name, AfterMove::UndoAndRedo),
        (ChangeKind::Editor, Some(name)) => ChangeStep::Editor { name },
        _ => ChangeStep::Save { name: join(visible[n as usize % visible.len()], &format!("process-{process}/change-{n}")) },
    }
}

impl ChangeStep {
    /// Its kind.
    pub(crate) fn kind(&self) -> ChangeKind {
        match self {
            ChangeStep::Save { .. } => ChangeKind::Save,
            ChangeStep::Append => ChangeKind::Append,
            ChangeStep::Board | ChangeStep::Edit { .. } => ChangeKind::Edit,
            ChangeStep::Rename { .. } => ChangeKind::Rename,
            ChangeStep::Delete { .. } => ChangeKind::Delete,
            ChangeStep::Move { then: AfterMove::Nothing, .. } => ChangeKind::Move,
            ChangeStep::Move { then: AfterMove::Undo, .. } => ChangeKind::Undo,
            ChangeStep::Move { then: AfterMove::UndoAndRedo, .. } => ChangeKind::Redo,
            ChangeStep::Editor { .. } => ChangeKind::Editor,
        }
    }

    fn name(&self) -> Option<&str> {
        match self {
            ChangeStep::Save { name }
            | ChangeStep::Edit { name }
            | ChangeStep::Rename { name, .. }
            | ChangeStep::Delete { name }
            | ChangeStep::Move { name, .. }
            | ChangeStep::Editor { name } => Some(name),
            ChangeStep::Append | ChangeStep::Board => None,
        }
    }
}

/// Replays a log of `begin N` and `done N` lines.
pub(crate) fn replay(process: u32, mix: &[ChangeKind], log: &str) -> Model {
    let mut model = Model::default();
    let mut begun: Option<(u64, ChangeStep)> = None;
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
    pub(crate) fn done(&mut self, process: u32, n: u64, step: &ChangeStep) {
        *self.acknowledged.entry(step.kind()).or_default() += 1;
        match step {
            ChangeStep::Save { name } => drop(self.texts.insert(name.clone(), text(process, n))),
            ChangeStep::Append => self.appended.push(n),
            ChangeStep::Board => self.board = n,
            ChangeStep::Move { then: AfterMove::Undo, .. } => {}
            ChangeStep::Edit { name } | ChangeStep::Editor { name } => {
                if let Some(text) = self.texts.get_mut(name) {
                    *text = edited(text, n);
                }
            }
            ChangeStep::Rename { name, to } | ChangeStep::Move { name, to, .. } => {
                if let Some(text) = self.texts.remove(name) {
                    self.texts.insert(to.clone(), text);
                }
            }
            ChangeStep::Delete { name } => drop(self.texts.remove(name)),
        }
    }

    /// Records an interrupted change. Its memory is not changed again, so that the audit can tell both outcomes apart.
    fn interrupt(&mut self, begun: Option<(u64, ChangeStep)>) {
        let Some((n, step)) = begun else { return };
        let before = step.name().and_then(|name| self.texts.remove(name));
        self.unsure.push(Unsure { n, step, before });
    }
}
