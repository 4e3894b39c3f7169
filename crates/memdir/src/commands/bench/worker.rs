//! One process of `bench torture`. Makes its changes one after another and logs the start and end of each.

use super::changes::{self, AfterMove, ChangeStep, SHARED_BOARD, SHARED_LOG};
use crate::{
    args::TortureWorkerArgs,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{
    Actor, Delete, Edit, FileStore, Memdir, MemoryPath, Mount, Needle, UndoTarget, Write, WriteMode, internal::store::space::Places,
};
use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The directory of the first mount.
pub(crate) fn memory(work: &Path) -> PathBuf {
    work.join("memory")
}

/// The log of one process.
pub(crate) fn log(work: &Path, number: u32) -> PathBuf {
    work.join(format!("process-{number}.log"))
}

/// The directory of the mount with this prefix.
pub(crate) fn root(work: &Path, prefix: &str) -> PathBuf {
    if prefix.is_empty() { memory(work) } else { work.join(prefix) }
}

/// Opens the mounts with these prefixes.
pub(crate) fn open(work: &Path, prefixes: &[&str], actor: &str) -> Result<Memdir, Failure> {
    let places = Places::new(work.join("home"));
    let mounts: Vec<Mount> = prefixes.iter().map(|prefix| places.mount(prefix, root(work, prefix))).collect();
    let store = FileStore::open(&mounts)?;
    Ok(Memdir::new(Arc::new(store), Actor { name: actor.to_owned(), session: None }))
}

pub(crate) fn run(args: &TortureWorkerArgs) -> Result<CommandOutput, Failure> {
    let path = log(&args.work, args.number);
    let fail = |source| Failure::File { doing: "write", path: path.clone(), source };
    let logged = std::fs::read_to_string(&path).unwrap_or_default();
    let mut model = changes::replay(args.number, &args.mix, &logged);
    let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(fail)?;
    let memdir = open(&args.work, changes::visible(args.number, &args.mix), &format!("process-{}", args.number))?;
    for n in model.next..args.until {
        let step = changes::step(args.number, n, &args.mix, &model.texts);
        note(&mut file, "begin", n).map_err(fail)?;
        apply(&memdir, &args.work, args.number, n, &step)?;
        note(&mut file, "done", n).map_err(fail)?;
        model.done(args.number, n, &step);
    }
    Ok(CommandOutput::new((), |_, _: &mut Printer<'_>| Ok(())))
}

/// Writes a line with a single system call, so that a kill leaves only whole lines.
fn note(file: &mut File, word: &str, n: u64) -> io::Result<()> {
    file.write_all(format!("{word} {n}\n").as_bytes())
}

fn apply(memdir: &Memdir, work: &Path, process: u32, n: u64, step: &ChangeStep) -> Result<(), Failure> {
    let path = |name: &str| MemoryPath::parse(name);
    let edit = |name: &str, pattern: &str, with: String| -> Result<(), Failure> {
        memdir.edit(&Edit {
            path: path(name)?,
            needle: Needle::Regex(pattern.to_owned()),
            with,
            all: false,
            expect: None,
            final_newline: false,
        })?;
        Ok(())
    };
    match step {
        ChangeStep::Save { name } => drop(memdir.write(&Write::create(path(name)?, changes::text(process, n)))?),
        ChangeStep::Append => drop(memdir.write(&Write::create(path(SHARED_LOG)?, changes::line(process, n)).mode(WriteMode::Append))?),
        ChangeStep::Board => edit(SHARED_BOARD, &format!("process {process}: [0-9]+;"), changes::board_line(process, n))?,
        ChangeStep::Edit { name } => edit(name, r"^state: [^\n]*$", format!("state: {n}"))?,
        ChangeStep::Rename { name, to } => drop(memdir.rename(&path(name)?, &path(to)?)?),
        ChangeStep::Delete { name } => drop(memdir.delete(&Delete { path: path(name)?, expect: None })?),
        ChangeStep::Move { name, to, then } => {
            memdir.rename(&path(name)?, &path(to)?)?;
            if *then != AfterMove::Nothing {
                memdir.undo(&UndoTarget::Mine)?;
            }
            if *then == AfterMove::UndoAndRedo {
                memdir.redo(&UndoTarget::Mine)?;
            }
        }
        ChangeStep::Editor { name } => replace(work, process, n, name)?,
    }
    Ok(())
}

/// Replaces the file of a memory as an editor does: a new file is renamed over the old one.
#[expect(clippy::disallowed_methods, reason = "this is the other program")]
fn replace(work: &Path, process: u32, n: u64, name: &str) -> Result<(), Failure> {
    let (prefix, rel) = changes::split(name);
    let file = root(work, prefix).join(format!("{rel}.md"));
    let fail = |source| Failure::File { doing: "replace", path: file.clone(), source };
    let text = std::fs::read_to_string(&file).map_err(fail)?;
    let temp = work.join(format!("editor-{process}"));
    std::fs::write(&temp, changes::edited(&text, n)).and_then(|()| std::fs::rename(&temp, &file)).map_err(fail)
}
