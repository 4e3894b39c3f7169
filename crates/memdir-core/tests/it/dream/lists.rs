//! Lists of operations from a model: versions, references, overlaps, and the limits on what one list may remove.

use super::{bytes, open, store_of};
use memdir_core::{ApplyDream, Check, Dream, DreamShelf, Memdir, PlanState, UndoTarget, Write, WriteMode};
use serde_json::json;

fn path(name: &str) -> memdir_core::MemoryPath {
    crate::operations::path(name)
}

fn planned(memdir: &Memdir, list: serde_json::Value) -> (Vec<String>, Vec<String>) {
    let (plan, left) = memdir.plan_from_operations(&list.to_string()).unwrap();
    let left = left.into_iter().map(|left| format!("{}: {}", left.operation, left.why)).collect();
    (plan.operations.iter().map(|operation| operation.title()).collect(), left)
}

fn refused(memdir: &Memdir, list: serde_json::Value) -> String {
    memdir.plan_from_operations(&list.to_string()).unwrap_err().to_string()
}

/// "62 files became 3": neither one merge nor one archive removes most of a memory.
#[test]
fn one_operation_does_not_remove_a_whole_memory() {
    let texts: Vec<(String, String)> =
        (1..41).map(|n| (format!("n{n}.md"), format!("Fact {n} about subsystem alpha{n} on port {}.\n", 3_000 + n))).collect();
    let (top, memdir) = store_of(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let before = bytes(top.path());
    let from: Vec<String> = (2..41).map(|n| format!("n{n}")).collect();
    let short = json!([{ "action": "merge", "into": "n1", "from": from, "text": "Everything is fine, one memory is enough for all of it.", "why": "tidy" }]);
    assert_eq!(
        refused(&memdir, short),
        "operations: operation 1: text keeps only 0 of the 125 distinct words in the merged memories; a merge must keep at least half"
    );
    let whole: String = texts.iter().map(|(_, text)| text.as_str()).collect();
    let all = json!([{ "action": "merge", "into": "n1", "from": from, "text": whole, "why": "tidy" }]);
    let (plan, _) = memdir.plan_from_operations(&all.to_string()).unwrap();
    let error = memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap_err().to_string();
    assert!(error.starts_with("plan: it changes 40 of 40 memories"), "{error}");
    assert_eq!(bytes(top.path()), before);
}

#[test]
fn a_memory_that_changed_since_the_model_read_it_is_left_alone() {
    let (_top, memdir) = store_of([("a.md", "Deploy on Tuesdays.\n"), ("b.md", "Deploy on Tuesdays.\n"), ("c.md", "See [[b]].\n")]);
    let prompt = memdir.dream_prompt(&Dream::default()).unwrap();
    let version = |name: &str| prompt.pieces[0].read.iter().find(|(path, _)| path.name() == name).unwrap().1.short().to_string();
    let (a, b) = (version("a"), version("b"));
    let merge = |from: &str| json!([{ "action": "merge", "into": "a", "version": a, "from": [from], "text": "Deploy on Tuesdays.\n", "why": "same" }]);
    assert_eq!(planned(&memdir, merge(&format!("b@{b}"))), (vec!["merge b into a".to_owned()], vec![]));
    memdir.write(&Write::create(path("b"), "Really.\n").mode(WriteMode::Append)).unwrap();
    let stale = vec!["merge b into a: b.md has changed since the model read it".to_owned()];
    assert_eq!(planned(&memdir, merge(&format!("b@{b}"))), (vec![], stale.clone()));
    // The program that memdir starts need not name versions: memdir knows what it sent.
    let (plan, left) = memdir.plan_from_answer(&merge("b").to_string(), &prompt.pieces[0]).unwrap();
    assert_eq!((plan.operations.len(), left.len()), (0, 1), "{left:?}");
}

#[test]
fn names_that_exist_are_not_created_again() {
    let (_top, memdir) = store_of([("notes/n1.md", "One fact.\n"), ("b.md", "Another fact.\n")]);
    let create = |name: &str| json!([{ "action": "create", "path": name, "text": "hello", "why": "x" }]);
    assert_eq!(planned(&memdir, create("notes/n1")), (vec![], vec!["create notes/n1: notes/n1.md already exists".to_owned()]));
    let why = "differs from notes/n1.md only in case; use another name; nothing was changed";
    assert_eq!(refused(&memdir, create("notes/N1")), format!("plan: operation 1 (create notes/N1): the name notes/N1.md {why}"));
    let moved = json!([{ "action": "move", "path": "b", "to": "Notes/n1", "why": "x" }]);
    assert_eq!(refused(&memdir, moved), format!("plan: operation 1 (move b to Notes/n1): the name Notes/n1.md {why}"));
}

#[test]
fn references_follow_what_a_model_moves() {
    let (top, memdir) = store_of([
        ("notes/third.md", "About cats.\n"),
        ("notes/l1.md", "See [[notes/third]] and [third](third.md).\n"),
        ("notes/fourth.md", "See [[notes/third]], too.\n"),
    ]);
    let list = json!([
        { "action": "archive", "path": "notes/third", "why": "old" },
        { "action": "update", "path": "notes/fourth", "text": "See [[notes/third]], too, again.\n", "why": "x" }
    ]);
    let (titles, left) = planned(&memdir, list.clone());
    assert_eq!(titles, ["archive notes/third"]);
    assert_eq!(
        left,
        ["update notes/fourth: an earlier operation already changes notes/fourth.md"],
        "its reference follows with the archive"
    );
    let (plan, _) = memdir.plan_from_operations(&list.to_string()).unwrap();
    memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&bytes(top.path())["notes/l1.md"]),
        "See [[archive/notes/third]] and [third](../archive/notes/third.md).\n"
    );
    let problems = memdir.check(&Check::default()).unwrap();
    assert!(!format!("{problems:?}").contains("DeadLink"), "{problems:?}");
}

#[test]
fn a_secret_in_a_reason_is_not_shown() {
    let (_top, memdir) = store_of([("a.md", "One fact.\n")]);
    let list = json!([{ "action": "archive", "path": "a", "why": "key AKIAQ7RHTZW4XNMP2LKD" }]);
    let (plan, _) = memdir.plan_from_operations(&list.to_string()).unwrap();
    assert!(!serde_json::to_string(&plan).unwrap().contains("AKIAQ7RHTZW4XNMP2LKD"));
}

/// A log day whose facts were not applied stays open, and an undone plan is open again.
#[test]
fn what_was_left_out_or_undone_is_not_done() {
    let (top, memdir) = store_of([
        ("logs/2026/07/2026-07-10.md", "- 09:00 decided: the billing service uses Postgres because of JSONB\n"),
        ("logs/2026/08/2026-08-12.md", "- 09:00 rule: never deploy the shop on Fridays\n"),
    ]);
    let plan = memdir.dream(&Dream { logs_only: true, ..Dream::default() }).unwrap();
    assert_eq!((plan.operations.len(), plan.logs_through.unwrap().to_string().as_str()), (2, "2026-08-12"));
    crate::project::put(&top.path().join("memory/logs/2026/07/2026-07-10.md"), "- 09:00 something else\n");
    let applied = open(top.path()).apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap();
    assert_eq!((applied.applied.len(), applied.left_out.len()), (1, 1));
    assert_eq!(applied.logs_through.unwrap().to_string(), "2026-07-09", "the day that was left out is not covered");
}

#[test]
fn the_newest_plan_of_a_second_is_the_last_one() {
    let (top, memdir) = store_of([("a.md", "# Only a heading\n")]);
    let shelf = DreamShelf::new(top.path().join("shelf"));
    let plan = memdir.dream(&Dream::default()).unwrap();
    let files: Vec<_> = (0..12).map(|_| shelf.keep(&plan).unwrap()).collect();
    let kept: Vec<_> = shelf.plans(memdir.store()).unwrap().into_iter().map(|plan| plan.file).collect();
    assert_eq!(kept, files.iter().rev().cloned().collect::<Vec<_>>());
    // A plan whose change was undone waits again.
    let applied = memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap();
    let change = applied.change.unwrap().0;
    let name = files[11].file_name().unwrap().to_string_lossy().into_owned();
    let progress = json!({ "at": "2026-09-01T12:00:00Z", "plan": name, "change": change, "operations": 1, "logs_through": null });
    let progress = serde_json::from_value(progress).unwrap();
    shelf.update(memdir_core::internal::base::disk::LockWait::COMMAND, |state| state.applied.push(progress)).unwrap();
    let state = |memdir: &Memdir| shelf.plans(memdir.store()).unwrap()[0].state.clone();
    assert_eq!(state(&memdir), PlanState::Applied(change));
    memdir.undo(&UndoTarget::Mine).unwrap();
    assert_eq!(state(&memdir), PlanState::Open);
}

/// A model repeats texts and forgets fields: tripwires, cues and the rest of the frontmatter stay.
#[test]
fn what_a_model_leaves_out_of_the_frontmatter_stays() {
    let rule = "---\nname: Push\nwhen:\n  command: git push --force\n---\n\nNever force push to the main branch.\n";
    let cued = "---\nname: Push too\ncues: [ship it]\n---\n\nNever force push to the main branch of others.\n";
    let (_top, memdir) = store_of([("a.md", rule), ("b.md", cued), ("c.md", &rule.replace("--force", "-f"))]);
    let written = |list: serde_json::Value| {
        let (plan, _) = memdir.plan_from_operations(&list.to_string()).unwrap();
        match &plan.operations[0].changes[0] {
            memdir_core::DreamChange::Write { text, .. } => text.clone(),
            other => panic!("{other:?}"),
        }
    };
    let bare = written(json!([{ "action": "update", "path": "a", "text": "Never force push to the main branch, says Ada.\n" }]));
    assert_eq!(bare, rule.replace("branch.", "branch, says Ada."));
    let text = "---\nname: Pushes\n---\n\nNever force push to the main branch of others.\n";
    let merged = written(json!([{ "action": "merge", "into": "a", "from": ["b"], "text": text }]));
    assert_eq!(
        merged,
        "---\nname: Pushes\nwhen:\n  command: git push --force\ncues: [ship it]\n---\n\nNever force push to the main branch of others.\n"
    );
    let changed = rule.replace("git push --force", "git pull");
    assert_eq!(
        refused(&memdir, json!([{ "action": "update", "path": "a", "text": changed }])),
        "operations: operation 1: text changes the `when` field of a.md; only a person can change tripwires"
    );
    assert_eq!(
        refused(&memdir, json!([{ "action": "merge", "into": "a", "from": ["c"], "text": rule }])),
        "operations: operation 1: text changes the `when` field of c.md; only a person can change tripwires"
    );
}

/// What the model did not read, it cannot write again: the end of a long memory, and secrets.
#[test]
fn a_model_does_not_rewrite_what_it_did_not_read() {
    let long: String = (0..300).map(|n| format!("Line {n} of a memory that is longer than what a model reads.\n")).collect();
    let secret = "The key of the shop is AKIAQ7RHTZW4XNMP2LKD since May.\n";
    let (_top, memdir) = store_of([("long.md", long.as_str()), ("key.md", secret)]);
    let prompt = memdir.dream_prompt(&Dream::default()).unwrap();
    let update = json!([{ "action": "update", "path": "long", "text": &long[..long.len() * 2 / 3] }]).to_string();
    let (plan, left) = memdir.plan_from_answer(&update, &prompt.pieces[0]).unwrap();
    assert_eq!((plan.operations.len(), left[0].why.as_str()), (0, "the model read only the beginning of long.md"));
    let archive = json!([{ "action": "archive", "path": "long" }]).to_string();
    assert_eq!(memdir.plan_from_answer(&archive, &prompt.pieces[0]).unwrap().0.operations.len(), 1, "it may be archived as a whole");
    let marked =
        json!([{ "action": "update", "path": "key", "text": "The key of the shop is [secret: aws-access-key] since May, Ada says.\n" }]);
    assert_eq!(
        refused(&memdir, marked),
        "operations: operation 1: text would remove a secret from key.md that the model cannot see; omit this operation and edit the memory by hand"
    );
}
