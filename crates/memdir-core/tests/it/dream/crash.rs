//! A process that is killed at any write, sync, rename or removal while it applies a plan, and another process that writes meanwhile.

use super::{bytes, open, store_of};
use crate::project::put;
use memdir_core::{
    ApplyDream, ChangeFilter, Dream, FileStore, Mount, UndoTarget, Verb, Write,
    internal::operations::dream::{parse, render},
    testing::{kill_after, on_file_call},
};
use std::{cell::Cell, fs, path::Path, process::Command, rc::Rc};

const DRIVER: &str = "MEMDIR_TEST_DREAM_CRASH";

const FILES: [(&str, &str); 4] = [
    ("a.md", "The backups of the shop run every night at four in the data center.\n"),
    ("copy.md", "The backups of the shop run every night at four in the data center.\n"),
    ("see.md", "See [[copy]] for the backups.\n"),
    ("empty.md", "# Nothing\n"),
];

/// Runs in a process of its own, and does nothing without the variable.
#[test]
fn driver() {
    #[expect(clippy::disallowed_methods, reason = "the parent of this process sets it")]
    let Ok(job) = std::env::var(DRIVER) else { return };
    let (n, dir) = job.split_once('|').unwrap();
    let memdir = open(Path::new(dir));
    let plan = parse(&fs::read_to_string(Path::new(dir).join("plan.md")).unwrap()).unwrap();
    kill_after(Some(n.parse().unwrap()));
    memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: Some(100) }).unwrap();
    kill_after(None);
}

#[test]
fn a_killed_dream_is_made_as_a_whole_or_not_at_all() {
    let mut point = 0;
    loop {
        let (top, memdir) = store_of(FILES);
        memdir.write(&Write::create(crate::operations::path("kept"), "Kept as it is.\n")).unwrap();
        let before = bytes(top.path());
        let plan = memdir.dream(&Dream::default()).unwrap();
        put(&top.path().join("plan.md"), &render(&plan));
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "dream::crash::driver", "--nocapture"]).env(DRIVER, format!("{point}|{}", top.path().display()));
        let output = child.output().unwrap();
        let killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9);
        assert!(killed || output.status.success(), "point {point}: {}", String::from_utf8_lossy(&output.stdout));
        // The next writer settles what the killed process began.
        let next = open(top.path());
        next.write(&Write::create(crate::operations::path("next"), "x\n")).unwrap();
        let is_done = next.history(&ChangeFilter::default()).unwrap().iter().any(|change| change.verb == Verb::Dream);
        next.undo(&UndoTarget::Mine).unwrap();
        let after = bytes(top.path());
        if is_done {
            assert!(after.contains_key("archive/empty.md") && !after.contains_key("empty.md"), "point {point}: {:?}", after.keys());
            next.undo(&UndoTarget::Mine).unwrap();
        }
        assert_eq!(bytes(top.path()), before, "point {point}, done: {is_done}");
        if !killed {
            assert!(is_done && point > 10, "{point}");
            return;
        }
        point += 1;
    }
}

/// A person saves a file of the plan between the plan's versions being checked and the file being replaced.
#[test]
fn a_save_of_another_program_during_the_apply_is_kept() {
    let (top, memdir) = store_of(FILES);
    let plan = memdir.dream(&Dream::default()).unwrap();
    let file = top.path().join("memory/empty.md");
    let done = Rc::new(Cell::new(false));
    let once = done.clone();
    on_file_call(Some(Box::new(move |_| {
        if !once.replace(true) {
            fs::write(&file, "Saved in an editor.\n").unwrap();
        }
        Ok(())
    })));
    let applied = memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: Some(100) });
    on_file_call(None);
    let applied = applied.unwrap();
    assert!(done.get());
    let left: Vec<String> = applied.left_out.iter().map(|left| format!("{}: {}", left.operation, left.why)).collect();
    assert_eq!(left, ["archive empty: empty.md has changed since the plan was made"]);
    assert_eq!(applied.applied, ["merge copy into a"]);
    assert_eq!(fs::read_to_string(top.path().join("memory/empty.md")).unwrap(), "Saved in an editor.\n");
}

/// Writers in other handles during many dreams: nothing that was acknowledged is lost.
#[test]
fn concurrent_writers_lose_nothing() {
    let (top, memdir) = store_of(FILES);
    let plan = memdir.dream(&Dream::default()).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let dir = top.path();
            scope.spawn(move || {
                let other = open(dir);
                for n in 0..10 {
                    other.write(&Write::create(crate::operations::path(&format!("w{writer}/{n}")), format!("{writer} {n}\n"))).unwrap();
                }
            });
        }
        let applied = memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: Some(100) }).unwrap();
        assert_eq!(applied.left_out, []);
    });
    let files = bytes(top.path());
    for (writer, n) in (0..4).flat_map(|writer| (0..10).map(move |n| (writer, n))) {
        assert_eq!(String::from_utf8_lossy(&files[&format!("w{writer}/{n}.md")]), format!("{writer} {n}\n"));
    }
    assert!(files.contains_key("archive/copy.md"));
    let entrypoint = String::from_utf8_lossy(&files["MEMORY.md"]).into_owned();
    assert!(entrypoint.contains("(w3/9.md)") && !entrypoint.contains("(copy.md)"), "{entrypoint}");
    drop(FileStore::open(&[Mount::new("", top.path().join("memory"), top.path().join("journal"))]).unwrap());
}
