//! Cues, tripwires and `pinned` that are set with a memory; cues of many memories; cues in search.

use crate::support::{self, put};
use memdir_core::{CueEntry, CueProposal, CueProposals, MemoryPath, SetCues, UndoTarget};
use serde_json::{Value, json};
use std::fs;

fn entry(name: &str, cues: &[&str]) -> CueEntry {
    CueEntry { path: MemoryPath::parse(name).unwrap(), cues: cues.iter().map(|cue| (*cue).to_owned()).collect() }
}

#[test]
fn cues_when_and_pinned_are_written_to_the_frontmatter_and_stay_on_a_rewrite() {
    let desk = support::native();
    let text = || fs::read_to_string(desk.root.join("rules/push.md")).unwrap();
    let arguments = json!({
        "path": "rules/push",
        "content": "Run the tests first.\n",
        "cues": ["ship it", " git: push ", "ship it", "error \"rejected\"", ""],
        "when": { "command": ["git push*"], "path": "deploy/**", "strength": "hold" },
        "pinned": true,
    });
    desk.text("memory_write", arguments);
    let head = "---\ncues: [\"ship it\", \"git: push\", \"error \\\"rejected\\\"\"]\nwhen: {command: [\"git push*\"], path: [\"deploy/**\"], strength: hold}\npinned: true\n---\n\n";
    assert_eq!(text(), format!("{head}Run the tests first.\n"));
    let (memory, problems) = memdir_core::Memory::parse(&text());
    assert_eq!((memory.cues(), problems), (vec!["ship it".into(), "git: push".into(), "error \"rejected\"".into()], vec![]));

    desk.text("memory_write", json!({ "path": "rules/push", "content": "Run all tests first.\n", "mode": "replace" }));
    assert_eq!(text(), format!("{head}Run all tests first.\n"));

    let own = "---\nname: Push\ntype: feedback\n---\n\nRun all tests.\n";
    desk.text("memory_write", json!({ "path": "rules/push", "content": own, "mode": "replace" }));
    let kept = head.replacen("---\n", "---\nname: Push\ntype: feedback\n", 1);
    assert_eq!(text(), format!("{kept}Run all tests.\n"), "a frontmatter without them does not remove them");

    desk.text("memory_write", json!({ "path": "rules/push", "cues": [], "when": {}, "pinned": false }));
    assert_eq!(text(), own);
    assert_eq!(
        desk.error("memory_write", json!({ "path": "rules/pull", "cues": ["x"] })),
        "memory \"rules/pull\" not found. Did you mean \"rules/push\"?",
        "without content only the fields of an existing memory are set"
    );
    assert_eq!(
        desk.error("memory_write", json!({ "path": "rules/pull" })),
        "content: required by memory_write. Correct the argument and call again."
    );
}

#[test]
fn a_block_list_written_by_hand_is_kept_and_replaced_as_a_whole() {
    let desk = support::native();
    let list = "---\nname: A\ncues:\n  - one # the first\n  - 404\n# a comment\ntype: user\n---\n\nText.\n";
    put(&desk.root.join("a.md"), list);
    let read = || fs::read_to_string(desk.root.join("a.md")).unwrap();
    desk.text("memory_write", json!({ "path": "a", "content": "---\ntype: user\n---\nOther.\n", "mode": "replace" }));
    assert_eq!(read(), "---\ntype: user\ncues:\n  - one # the first\n  - 404\n---\nOther.\n");
    assert_eq!(memdir_core::Memory::parse(&read()).0.cues(), ["one", "404"]);
    desk.text("memory_write", json!({ "path": "a", "cues": ["two"] }));
    assert_eq!(read(), "---\ntype: user\ncues: [\"two\"]\n---\nOther.\n");
}

#[test]
fn invalid_cues_and_tripwires_are_refused() {
    let desk = support::native();
    let write = |key: &str, value: Value| desk.error("memory_write", json!({ "path": "a", "content": "x", key: value }));
    let next = "Correct the argument and call again.";
    let nine: Vec<String> = (0..9).map(|n| format!("cue {n}")).collect();
    assert_eq!(write("cues", json!(nine)), format!("cues: too many (9); the limit is 8. {next}"));
    assert_eq!(write("cues", json!(["x".repeat(301)])), format!("cues: 301 bytes in total; the limit is 300. {next}"));
    assert_eq!(write("cues", json!(["a\nb"])), format!("cues: each cue must be a single line without control characters. {next}"));
    assert_eq!(write("cues", json!({ "a": 1 })), format!("cues: it must be a list of strings, not an object. {next}"));
    assert_eq!(
        write("when", json!({ "comand": "git push" })),
        format!("when: unknown key \"comand\"; expected command, path, words, tools or strength. {next}")
    );
    assert_eq!(
        write("when", json!({ "command": "x", "strength": "stop" })),
        format!("when: unknown strength \"stop\"; expected tell, hold, ask or deny. {next}")
    );
    assert_eq!(write("when", json!({ "strength": "hold" })), format!("when: `strength` requires a command, path, words or tools. {next}"));
    assert_eq!(write("when", json!("git push")), format!("when: it must be an object, not a string. {next}"));
    assert!(!desk.root.join("a.md").exists());
    let exact = ["x".repeat(150), "y".repeat(150)];
    desk.text("memory_write", json!({ "path": "a", "content": "x", "cues": exact }));
    assert_eq!(memdir_core::Memory::parse(&fs::read_to_string(desk.root.join("a.md")).unwrap()).0.cues(), exact);
}

#[test]
fn a_batch_with_unknown_names_changes_nothing() {
    let desk = support::native();
    let memdir = &desk.caller.memdir;
    put(&desk.root.join("a.md"), "Alpha.\n");
    put(&desk.root.join("b.md"), "---\nname: B\ncues: [old]\n---\nBeta.\n");
    put(&desk.root.join("logs/2026/09/2026-09-01.md"), "- a log\n");
    put(&desk.root.join("data.json"), "{}\n");
    let texts = || ["a.md", "b.md"].map(|name| fs::read_to_string(desk.root.join(name)).unwrap());
    let before = texts();
    let uncued: Vec<(String, String)> = memdir.without_cues("").unwrap().into_iter().map(|one| (one.name, one.description)).collect();
    assert_eq!(uncued, [("a".to_owned(), "Alpha.".to_owned())]);
    assert_eq!(memdir.check(&Default::default()).unwrap().without_cues, 1);

    let fails = |entries: Vec<CueEntry>| {
        let error = memdir.set_cues(&SetCues { entries, add: false }).unwrap_err().to_string();
        assert_eq!(texts(), before, "{error}");
        error
    };
    assert_eq!(fails(vec![entry("a", &["x"]), entry("c", &["y"]), entry("d", &["z"])]), "cues: 2 memories not found: \"c\", \"d\"");
    assert_eq!(fails(vec![entry("a", &["x"]), entry("c", &["y"])]), "memory \"c\" not found");
    assert_eq!(fails(vec![entry("a", &["x"]), entry("a.md", &["y"])]), "cues: \"a\" is listed twice");
}

#[test]
fn a_batch_is_undone_at_once() {
    let desk = support::native();
    let memdir = &desk.caller.memdir;
    put(&desk.root.join("a.md"), "Alpha.\n");
    put(&desk.root.join("b.md"), "---\nname: B\ncues: [old]\n---\nBeta.\n");
    let texts = || ["a.md", "b.md"].map(|name| fs::read_to_string(desk.root.join(name)).unwrap());
    let before = texts();
    let long = "z".repeat(301);
    let token = format!("ghp_{}", "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7c");
    for (entries, why) in [
        (vec![entry("a", &["x"]), entry("b", &[&long])], "cues of \"b\": 301 bytes in total; the limit is 300"),
        (vec![entry("a", &["x"]), entry("b", &[&token])], "cues of \"b\": one cue looks like a secret (github-token)"),
        (vec![entry("MEMORY", &["x"])], "memory \"MEMORY\" not found"),
    ] {
        let error = memdir.set_cues(&SetCues { entries, add: false }).unwrap_err().to_string();
        assert_eq!((error.as_str(), texts()), (why, before.clone()));
    }
    let set = memdir.set_cues(&SetCues { entries: vec![entry("a", &["x", "y"]), entry("b", &["old"])], add: false }).unwrap();
    assert_eq!((set.changed, set.unchanged), (vec!["a".to_owned()], vec!["b".to_owned()]));
    assert_eq!(texts(), ["---\ncues: [\"x\", \"y\"]\n---\n\nAlpha.\n".to_owned(), before[1].clone()]);
    memdir.undo(&UndoTarget::Mine).unwrap();
    let set = memdir.set_cues(&SetCues { entries: vec![entry("a", &["x"]), entry("b", &["new"])], add: true }).unwrap();
    assert_eq!(texts(), ["---\ncues: [\"x\"]\n---\n\nAlpha.\n", "---\nname: B\ncues: [\"old\", \"new\"]\n---\nBeta.\n"]);
    assert!(set.change.is_some() && memdir.without_cues("").unwrap().is_empty());
    memdir.undo(&UndoTarget::Mine).unwrap();
    assert_eq!(texts(), before, "one undo takes all back");
}

#[test]
fn a_memory_is_found_by_its_cues_and_shown_without_them() {
    let desk = support::native();
    let sections: String = (1..8).map(|n| format!("## Part {n}\n\nThe harbour has basin number {n} and a crane.\n\n")).collect();
    let cues = ["lorry queue on mondays", "ENOBERTH"];
    desk.text("memory_write", json!({ "path": "port/rules", "content": sections, "description": "Port rules", "cues": cues }));
    desk.text("memory_write", json!({ "path": "other", "content": "A note on gardens and hedges.\n" }));
    let found = desk.json("memory_search", json!({ "query": "why is there a lorry queue" }));
    let hits: Vec<(&str, &str, &str)> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| (hit["path"].as_str().unwrap(), hit["lines"].as_str().unwrap(), hit["text"].as_str().unwrap()))
        .collect();
    assert_eq!(hits, [("port/rules.md", "6-8", "## Part 1\n\nThe harbour has basin number 1 and a crane.\n")], "once, by its first lines");
    assert_eq!(desk.json("memory_search", json!({ "query": "ENOBERTH" }))["results"].as_array().unwrap().len(), 1);
    let entrypoint = fs::read_to_string(desk.root.join("MEMORY.md")).unwrap();
    assert!(!entrypoint.contains("lorry") && !found.to_string().contains("mondays"), "{entrypoint}\n{found}");
    desk.text("memory_write", json!({ "path": "port/rules", "cues": [] }));
    assert_eq!(desk.json("memory_search", json!({ "query": "why is there a lorry queue" }))["results"], json!([]));
}

#[test]
fn proposals_are_bounded_and_never_contain_secrets() {
    let desk = support::native();
    desk.text("memory_write", json!({ "path": "notes/deploy", "content": "On Tuesdays.\n", "cues": ["known"] }));
    let file = desk.top.path().join("home/cues/space.jsonl");
    let proposals = CueProposals::new(&file);
    let token = format!("token ghp_{}", "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7c");
    let long = format!("ship {}", "very ".repeat(40));
    for query in ["ship on\n a  friday type:project", "ship on a friday", &token, "the of", &long, "known"] {
        proposals.add("notes/deploy", query);
    }
    proposals.add("gone", "no such memory");
    let own = |cue: &str| CueProposal { name: "notes/deploy".into(), cue: cue.into() };
    let cut = format!("ship {}", "very ".repeat(15).trim_end());
    assert_eq!(proposals.pending(desk.caller.memdir.store()), [own("ship on a friday"), own(&cut)]);
    for n in 0..300 {
        proposals.add(&format!("m{n}"), &format!("words {n}"));
        proposals.add("m", &format!("words {n}"));
    }
    let all = proposals.list();
    assert_eq!((all.len(), all.iter().filter(|one| one.name == "m").count()), (200, 8));
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&fs::metadata(&file).unwrap()) & 0o777, 0o600);
}
