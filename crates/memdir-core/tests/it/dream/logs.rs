//! Distilling logs: nothing that a log says is skipped, and what was read is remembered.

use super::{bytes, store_of, titles};
use memdir_core::{ApplyDream, Dream, DreamShelf, UndoTarget};

fn log(day: u32, entry: &str) -> (String, String) {
    (format!("logs/2026/{:02}/2026-{:02}-{:02}.md", 1 + day / 28, 1 + day / 28, 1 + day % 28), format!("- 09:00 {entry}\n"))
}

/// A plan covers 62 days; those without anything to distil do not count.
#[test]
fn days_of_routine_do_not_hide_the_days_after_them() {
    let mut files: Vec<(String, String)> = (0..100).map(|day| log(day, "ran the tests and went home")).collect();
    files.push(log(100, "decided: releases of the shop leave on Tuesdays"));
    let (_top, memdir) = store_of(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let plan = memdir.dream(&Dream { logs_only: true, ..Dream::default() }).unwrap();
    assert_eq!((plan.operations.len(), plan.logs_through.unwrap().to_string().as_str()), (1, "2026-04-17"), "{:?}", titles(&plan));
    let many: Vec<(String, String)> =
        (0..100).map(|day| log(day, &format!("decided: rule {day} of the shop holds in hall {day}"))).collect();
    let (_top, memdir) = store_of(many.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let plan = memdir.dream(&Dream { logs_only: true, ..Dream::default() }).unwrap();
    assert_eq!(plan.logs_through.unwrap().to_string(), "2026-03-06", "the other days follow with the next plan");
    let rest = memdir.dream(&Dream { logs_only: true, logs_through: plan.logs_through, ..Dream::default() }).unwrap();
    assert_eq!(rest.logs_through.unwrap().to_string(), "2026-04-16");
}

/// The memory that a fact belongs to is changed by another operation of the plan: the fact is in the next plan.
#[test]
fn a_fact_that_waits_for_the_next_plan_is_not_lost() {
    let (top, memdir) = store_of([
        ("gateway.md", "---\nname: Gateway port\nmodified: 2026-08-03\n---\n\nIt was opened yesterday.\n"),
        ("logs/2026/08/2026-08-01.md", "- decided: releases of the shop leave on Tuesdays\n"),
        ("logs/2026/08/2026-08-04.md", "- decided: the gateway port is 9443 because of the proxy\n"),
        ("logs/2026/08/2026-08-05.md", "- decided: the canteen closes at noon\n"),
    ]);
    let apply = |plan| memdir.apply_dream(&ApplyDream { plan, limit_percent: Some(100) }).unwrap();
    let plan = memdir.dream(&Dream::default()).unwrap();
    let found: Vec<&str> = plan.operations.iter().map(|operation| operation.reason.as_str()).collect();
    assert_eq!((found, plan.logs_through.unwrap().to_string().as_str()), (vec!["relative-date", "log"], "2026-08-01"));
    let applied = apply(&plan);
    let next = memdir.dream(&Dream { logs_through: applied.logs_through, ..Dream::default() }).unwrap();
    assert_eq!(next.logs_through.unwrap().to_string(), "2026-08-05");
    apply(&next);
    let text = |name: &str| String::from_utf8_lossy(&bytes(top.path())[name]).into_owned();
    assert!(text("gateway.md").contains("- 2026-08-04: decided: the gateway port is 9443 because of the proxy"), "{}", text("gateway.md"));
    let month = text("distilled/2026-08.md");
    assert_eq!((month.matches("- 2026-08-01: ").count(), month.matches("- 2026-08-05: ").count()), (1, 1), "each fact once: {month}");
}

/// Days without anything to distil are remembered although no plan was applied, unless an earlier plan is undone.
#[test]
fn days_with_nothing_to_distil_are_remembered() {
    let (top, memdir) = store_of([
        ("logs/2026/08/2026-08-01.md", "- decided: releases of the shop leave on Tuesdays\n"),
        ("logs/2026/08/2026-08-04.md", "- ran the tests\n"),
    ]);
    let shelf = DreamShelf::new(top.path().join("dreams"));
    let through = || shelf.state().logs_through(memdir.store()).unwrap().map(|day| day.to_string());
    let make =
        || memdir.dream(&Dream { logs_only: true, logs_through: shelf.state().logs_through(memdir.store()).unwrap(), ..Dream::default() });
    let plan = make().unwrap();
    shelf.record_made(&plan, memdir.store()).unwrap();
    assert_eq!(through(), None, "its facts are in a plan that waits");
    let applied = memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap();
    shelf.record_applied(&shelf.dir().join("plan-1.md"), "d".into(), &applied, "2026-09-01T12:00:00Z".parse().unwrap());
    assert_eq!(through().as_deref(), Some("2026-08-04"));
    crate::project::put(&top.path().join("memory/logs/2026/08/2026-08-09.md"), "- ran the tests\n");
    let nothing = make().unwrap();
    assert_eq!(nothing.operations, []);
    shelf.record_made(&nothing, memdir.store()).unwrap();
    assert_eq!(through().as_deref(), Some("2026-08-09"));
    memdir.undo(&UndoTarget::Mine).unwrap();
    assert_eq!(through(), None, "its days are proposed again");
    assert_eq!(make().unwrap().operations.len(), 1);
}
