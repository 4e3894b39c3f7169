//! One undo reverts a whole dream, except for files that changed since.

use super::{bytes, open, store_of};
use crate::project::put;
use memdir_core::{ApplyDream, Dream, DreamPlan, Memdir, UndoTarget, testing::DreamCorpus};
use std::fs;

fn apply(memdir: &Memdir, plan: &DreamPlan) {
    let applied = memdir.apply_dream(&ApplyDream { plan, limit_percent: Some(100) }).unwrap();
    assert_eq!(applied.left_out, []);
    assert!(applied.change.is_some());
}

#[test]
fn fifty_dreams_applied_and_undone_restore_the_original_bytes() {
    for seed in 0..50 {
        let corpus = DreamCorpus::generate(seed);
        // A different part of the store each time, so that the dreams differ in size and kind.
        let step = 3 + (seed as usize % 17);
        let part = corpus.files.iter().skip(seed as usize % step).step_by(step);
        let (top, memdir) = store_of(part.map(|(path, text)| (path.as_str(), text.as_str())).chain([
            ("twice/one.md", "The rota of the shop is decided on the first Monday of a month.\n"),
            ("twice/two.md", "The rota of the shop is decided on the first Monday of a month.\n"),
            ("twice/see.md", "See [the rota](one.md) and [[two]].\n"),
        ]));
        // Every other store has an entrypoint with prose; the others have none, and none is left.
        if seed % 2 == 0 {
            put(&top.path().join("memory/MEMORY.md"), "# Ours\n\nStart with [the rota](twice/one.md).\n");
        }
        let before = bytes(top.path());
        let plan = memdir.dream(&Dream::default()).unwrap();
        assert!(!plan.operations.is_empty());
        apply(&memdir, &plan);
        assert_ne!(bytes(top.path()), before);
        memdir.undo(&UndoTarget::Mine).unwrap();
        assert_eq!(bytes(top.path()), before, "seed {seed}");
    }
}

#[test]
fn a_file_that_changed_since_is_left_and_named() {
    let (top, memdir) = store_of([("a.md", "# Only a heading\n"), ("b.md", "# Only a title\n"), ("c.md", "# Only c\n")]);
    let plan = memdir.dream(&Dream::default()).unwrap();
    apply(&memdir, &plan);
    put(&top.path().join("memory/a.md"), "Written again.\n");
    put(&top.path().join("memory/archive/b.md"), "Changed in the archive.\n");
    let undone = open(top.path()).undo(&UndoTarget::Mine).unwrap();
    assert_eq!(
        undone.notes,
        ["skipped 3 memories modified after the plan was applied: a, archive/a, archive/b"],
        "the archived copy of a memory that exists again stays, too"
    );
    let files = bytes(top.path());
    assert_eq!(String::from_utf8_lossy(&files["a.md"]), "Written again.\n");
    assert_eq!(String::from_utf8_lossy(&files["archive/a.md"]), "# Only a heading\n");
    assert_eq!(String::from_utf8_lossy(&files["b.md"]), "# Only a title\n");
    assert_eq!(String::from_utf8_lossy(&files["archive/b.md"]), "Changed in the archive.\n");
    assert_eq!(String::from_utf8_lossy(&files["c.md"]), "# Only c\n");
    assert!(!files.contains_key("archive/c.md"));
}

/// A second dream archives a memory of the same name under a number.
#[test]
fn an_archive_never_replaces_what_it_has() {
    let (top, memdir) = store_of([("a.md", "# Only a heading\n")]);
    for text in ["# Only a heading\n", "# Another heading\n"] {
        put(&top.path().join("memory/a.md"), text);
        let plan = memdir.dream(&Dream::default()).unwrap();
        apply(&memdir, &plan);
    }
    assert_eq!(fs::read_to_string(top.path().join("memory/archive/a.md")).unwrap(), "# Only a heading\n");
    assert_eq!(fs::read_to_string(top.path().join("memory/archive/a-2.md")).unwrap(), "# Another heading\n");
}
