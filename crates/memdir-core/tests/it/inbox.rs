//! The inbox: candidates are proposed, accepted, merged and rejected, by the library and by the tools.

use crate::support::{self, Desk, put};
use memdir_core::{Candidate, CandidateKind, DecisionOutcome, Kind, List, MemoryPath, Search, Source, UndoTarget};
use serde_json::json;
use std::fs;

fn candidate(name: &str, words: &str) -> Candidate {
    Candidate {
        kind: CandidateKind::Remember,
        name: name.into(),
        memory_type: Kind::Feedback,
        description: format!("You said: {words}"),
        text: format!("{words}\n"),
        when: None,
        words: words.into(),
        turns: vec!["chats/claude-code/1f2e.md:12-14".into()],
        sessions: vec!["claude-code/1f2e".into()],
        at: Some("2026-08-31T10:00:00Z".parse().unwrap()),
        key: format!("key-{name}"),
        other_keys: Vec::new(),
        weight: 0.8,
    }
}

fn denied(name: &str, words: &str) -> Candidate {
    let when = json!({ "command": "git push --force*" });
    Candidate { kind: CandidateKind::Denied, when: when.as_object().cloned(), ..candidate(name, words) }
}

fn path(name: &str) -> MemoryPath {
    MemoryPath::parse(name).unwrap()
}

fn propose(desk: &Desk, candidates: &[Candidate]) -> Vec<String> {
    desk.caller.memdir.propose(candidates, None).unwrap().added
}

fn open_names(desk: &Desk) -> Vec<String> {
    desk.caller.memdir.inbox().unwrap().open.into_iter().map(|entry| entry.name).collect()
}

fn file(desk: &Desk, name: &str) -> String {
    fs::read_to_string(desk.top.path().join(name)).unwrap()
}

#[test]
fn a_candidate_is_a_file_with_its_evidence() {
    let desk = support::native_with_inbox();
    assert!(!desk.top.path().join("inbox").exists(), "nothing is created before the first candidate");
    assert_eq!(propose(&desk, &[denied("feedback/no-force-push", "never force push to main")]), ["inbox/feedback/no-force-push"]);
    insta::assert_snapshot!(file(&desk, "inbox/candidates/feedback/no-force-push.md"), @r#"
    ---
    description: "You said: never force push to main"
    type: feedback
    when: {command: ["git push --force*"]}
    candidate: denied
    words: never force push to main
    turns: ["chats/claude-code/1f2e.md:12-14"]
    conversations: ["claude-code/1f2e"]
    happened: 2026-08-31T10:00:00Z
    proposed: 2026-09-01T12:00:00.345Z
    weight: 0.800
    key: key-feedback/no-force-push
    ---

    never force push to main
    "#);
    let inbox = serde_json::to_value(desk.caller.memdir.inbox().unwrap()).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&inbox).unwrap(), @r#"
    {
      "prefix": "inbox",
      "open": [
        {
          "name": "inbox/feedback/no-force-push",
          "proposes": "feedback/no-force-push",
          "kind": "denied",
          "type": "feedback",
          "description": "You said: never force push to main",
          "when": "{command: [\"git push --force*\"]}",
          "text": "never force push to main\n",
          "words": "never force push to main",
          "turns": [
            "chats/claude-code/1f2e.md:12-14"
          ],
          "sessions": [
            "claude-code/1f2e"
          ],
          "at": "2026-08-31T10:00:00Z",
          "proposed": "2026-09-01T12:00:00.345Z",
          "weight": 0.800000011920929,
          "key": "key-feedback/no-force-push"
        }
      ],
      "rejected": 0
    }
    "#);
}

#[test]
fn the_tools_accept_a_candidate_and_undo_reopens_it() {
    let desk = support::native_with_inbox();
    propose(&desk, &[denied("feedback/no-force-push", "never force push to main")]);
    let candidate = file(&desk, "inbox/candidates/feedback/no-force-push.md");
    let moved = desk.text("memory_move", json!({ "from": "inbox/feedback/no-force-push", "to": "feedback/no-force-push" }));
    assert!(moved.starts_with("Renamed inbox/feedback/no-force-push to feedback/no-force-push (change "), "{moved}");
    insta::assert_snapshot!(file(&desk, "memories/feedback/no-force-push.md"), @r#"
    ---
    description: "You said: never force push to main"
    type: feedback
    when: {command: ["git push --force*"]}
    source: "denied in claude-code/1f2e, 2026-08-31: \"never force push to main\" (chats/claude-code/1f2e.md:12-14)"
    ---

    never force push to main
    "#);
    insta::assert_snapshot!(file(&desk, "memories/MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [feedback/no-force-push](feedback/no-force-push.md) — You said: never force push to main
    <!-- /memdir -->
    ");
    assert_eq!(open_names(&desk), [""; 0]);
    assert_eq!(propose(&desk, &[denied("feedback/no-force-push", "never force push to main")]), [""; 0], "accepted ones never come back");

    desk.text("memory_undo", json!({}));
    assert_eq!(file(&desk, "inbox/candidates/feedback/no-force-push.md"), candidate);
    assert!(!desk.root.join("feedback/no-force-push.md").exists());
    assert_eq!(open_names(&desk), ["inbox/feedback/no-force-push"]);
}

#[test]
fn a_rejected_candidate_is_never_proposed_again_even_without_its_file() {
    let desk = support::native_with_inbox();
    let all = [candidate("notes/a", "one two three"), candidate("notes/b", "four five six"), candidate("notes/c", "seven eight nine")];
    propose(&desk, &all);
    desk.text("memory_move", json!({ "from": "inbox/notes/a", "to": "inbox/rejected/notes/a" }));
    desk.text("memory_delete", json!({ "path": "inbox/notes/b" }));
    let rejected = desk.caller.memdir.reject(&path("notes/c")).unwrap();
    assert_eq!((rejected.outcome, rejected.memory.as_str()), (DecisionOutcome::Rejected, "inbox/rejected/notes/c"));
    assert_eq!(open_names(&desk), [""; 0]);
    assert_eq!(desk.caller.memdir.inbox().unwrap().rejected, 2);
    fs::remove_dir_all(desk.top.path().join("inbox/candidates")).unwrap();
    let again = desk.caller.memdir.propose(&all, None).unwrap();
    assert_eq!((again.added.len(), again.decided), (0, 3));
}

/// What the first wording of a repeated sentence is depends on the conversations at hand.
#[test]
fn evidence_with_several_keys_is_one_candidate_and_is_decided_about_under_all_of_them() {
    let desk = support::native_with_inbox();
    let keyed = |key: &str, others: &[&str], words: &str| Candidate {
        key: key.into(),
        other_keys: others.iter().map(|other| (*other).to_owned()).collect(),
        ..candidate("feedback/pnpm", words)
    };
    let propose = |one: Candidate| desk.caller.memdir.propose(&[one], None).unwrap();
    assert_eq!(propose(keyed("k1", &["k2", "k3"], "use pnpm, not npm")).added.len(), 1);
    let again = propose(keyed("k2", &["k1"], "use pnpm here, not npm"));
    assert_eq!((again.added.len(), again.open), (0, 1), "open under another key");
    desk.caller.memdir.reject(&path("inbox/feedback/pnpm")).unwrap();
    for (key, others) in [("k2", &[][..]), ("k3", &[]), ("k9", &["k1"])] {
        let again = propose(keyed(key, others, "always use pnpm, not npm"));
        assert_eq!((again.added.len(), again.decided), (0, 1), "{key} {others:?}");
    }
    assert_eq!(propose(keyed("k9", &[], "use yarn, not npm")).added.len(), 1, "other evidence");
}

#[test]
fn bare_undo_never_reverts_a_proposal() {
    let desk = support::native_with_inbox();
    let memdir = &desk.caller.memdir;
    desk.text("memory_write", json!({ "path": "notes/deploy", "content": "Deploy on Tuesdays.\n" }));
    propose(&desk, &[candidate("notes/a", "one two three")]);
    assert_eq!(memdir.history(&Default::default()).unwrap().len(), 1);
    memdir.undo(&UndoTarget::Last).unwrap();
    assert!(!desk.root.join("notes/deploy.md").exists());
    assert_eq!(open_names(&desk), ["inbox/notes/a"]);
    assert!(memdir.undo(&UndoTarget::Last).is_err(), "nothing else can be undone without its id");
    let by_name = memdir.history(&memdir_core::ChangeFilter { path: Some(path("inbox/notes/a")), ..Default::default() }).unwrap();
    assert_eq!(by_name.len(), 1, "the history of the candidate has it");
    memdir.undo(&UndoTarget::Id(by_name[0].id.to_string())).unwrap();
    assert_eq!(open_names(&desk), [""; 0]);
}

#[test]
fn candidates_are_listed_searched_recalled_and_matched_only_on_request() {
    let desk = support::native_with_inbox();
    let memdir = &desk.caller.memdir;
    propose(&desk, &[denied("feedback/no-force-push", "never force push to main")]);
    assert_eq!(memdir.list(&List::default()).unwrap().memories.len(), 0);
    assert_eq!(memdir.list(&List { topic: "inbox".into(), ..List::default() }).unwrap().memories.len(), 1);
    let search = |source, query: &str| {
        let found = memdir.search(&Search { source, ..Search::new(query) }).unwrap();
        found.hits.into_iter().map(|hit| hit.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(search(None, "force push"), [""; 0]);
    assert_eq!(search(Some(Source::Memory), "force push"), [""; 0]);
    assert_eq!(search(Some(Source::Inbox), "force push"), ["inbox/feedback/no-force-push.md"]);
    assert_eq!(search(None, "force push source:inbox"), ["inbox/feedback/no-force-push.md"]);
    let recalled = memdir.recall(&memdir_core::Recall { message: Some("may I force push to main?"), ..Default::default() }).unwrap();
    assert_eq!(recalled.text, "");
    assert_eq!(memdir.rules(None).unwrap().len(), 0, "a proposed rule is not a rule");
    insta::assert_snapshot!(desk.text("memory_search", json!({ "query": "force push", "source": "inbox" })), @"
    [inbox/feedback/no-force-push.md lines 15-15 (today, score 0.81)]
    never force push to main
    ");
    assert!(desk.text("memory_read", json!({ "topics": ["inbox/feedback/no-force-push"] })).contains("never force push to main"));
}

#[test]
fn a_memory_is_never_written_into_the_inbox() {
    let desk = support::native_with_inbox();
    insta::assert_snapshot!(desk.error("memory_write", json!({ "path": "inbox/todo", "content": "x\n" })), @r#"cannot write "inbox/todo": the inbox contains only candidates, which are never recalled; save the memory under another name. Nothing was changed."#);
    desk.text("memory_write", json!({ "path": "notes/todo", "content": "x\n" }));
    insta::assert_snapshot!(desk.error("memory_move", json!({ "from": "notes/todo", "to": "inbox/todo" })), @r#"cannot write "inbox/todo": the inbox contains only candidates, which are never recalled; save the memory under another name. Nothing was changed."#);
    assert!(!desk.top.path().join("inbox/candidates/todo.md").exists());
}

/// The same sentence in a later conversation is evidence for the candidate that waits, and keeps what the person changed in its file.
#[test]
fn an_open_candidate_gets_more_evidence() {
    let desk = support::native_with_inbox();
    propose(&desk, &[candidate("notes/a", "deploy on Tuesdays")]);
    let file_name = "inbox/candidates/notes/a.md";
    put(&desk.top.path().join(file_name), &file(&desk, file_name).replace("deploy on Tuesdays\n", "Deploy on Tuesdays, says Ada.\n"));
    let later = Candidate {
        turns: vec!["chats/claude-code/2bf7.md:3-4".into()],
        sessions: vec!["claude-code/2bf7".into()],
        at: Some("2026-09-01T09:00:00Z".parse().unwrap()),
        weight: 0.9,
        ..candidate("notes/a", "deploy on Tuesdays")
    };
    let proposed = desk.caller.memdir.propose(std::slice::from_ref(&later), None).unwrap();
    assert_eq!((proposed.added.len(), proposed.open, proposed.updated), (0, 1, vec!["inbox/notes/a".to_owned()]));
    let text = file(&desk, file_name);
    for line in [
        "turns: [\"chats/claude-code/1f2e.md:12-14\",\"chats/claude-code/2bf7.md:3-4\"]\n",
        "conversations: [\"claude-code/1f2e\",\"claude-code/2bf7\"]\n",
        "happened: 2026-09-01T09:00:00Z\n",
        "weight: 0.900\n",
        "Deploy on Tuesdays, says Ada.\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(desk.caller.memdir.propose(&[later], None).unwrap().updated, [""; 0], "nothing is new");
    assert_eq!(file(&desk, file_name), text);
    // The first citation and the newest stay, however many there are.
    for number in 10..40 {
        let more = Candidate { sessions: vec![format!("codex/{number}")], ..candidate("notes/a", "deploy on Tuesdays") };
        desk.caller.memdir.propose(&[more], None).unwrap();
    }
    let sessions = desk.caller.memdir.inbox().unwrap().open[0].sessions.clone();
    assert_eq!((sessions.len(), sessions[0].as_str(), sessions[7].as_str()), (8, "claude-code/1f2e", "codex/39"));
    // A rejected one gets none.
    desk.caller.memdir.reject(&path("notes/a")).unwrap();
    let again = Candidate { sessions: vec!["codex/99".into()], ..candidate("notes/a", "deploy on Tuesdays") };
    let proposed = desk.caller.memdir.propose(&[again], None).unwrap();
    assert_eq!((proposed.decided, proposed.updated.len()), (1, 0));
}

#[test]
fn a_full_inbox_loses_the_weakest_and_oldest_first() {
    let desk = support::native_with_inbox();
    let many: Vec<Candidate> = (0..60)
        .map(|n| Candidate {
            weight: 0.5,
            at: format!("2026-08-{:02}T10:00:00Z", 1 + n / 2).parse().ok(),
            ..candidate(&format!("notes/n{n:02}"), "")
        })
        .collect();
    let proposed = desk.caller.memdir.propose(&many, None).unwrap();
    assert_eq!((proposed.added.len(), proposed.removed.len()), (50, 0));
    assert!(!proposed.added.contains(&"inbox/notes/n00".into()) && proposed.added.contains(&"inbox/notes/n59".into()));
    let weak = Candidate { weight: 0.1, ..candidate("notes/weak", "") };
    assert_eq!(propose(&desk, &[weak]), [""; 0]);
    let proposed = desk.caller.memdir.propose(&[candidate("notes/strong", "")], None).unwrap();
    assert_eq!((proposed.added, proposed.removed), (vec!["inbox/notes/strong".into()], vec!["inbox/notes/n11".into()]));
    assert_eq!(open_names(&desk)[0], "inbox/notes/strong", "the strongest is listed first");
    assert_eq!(open_names(&desk).len(), 50);
}

#[test]
fn a_candidate_that_a_memory_already_contains_is_reported_and_not_proposed() {
    let desk = support::native_with_inbox();
    desk.text("memory_write", json!({ "path": "notes/deploy", "content": "Deploy the billing service on Tuesdays only.\n" }));
    let known = candidate("notes/deploy-tuesday", "deploy the billing service only on tuesdays");
    let other = candidate("notes/deploy-staging", "deploy the billing service to staging before every release");
    let proposed = desk.caller.memdir.propose(&[known.clone(), other], None).unwrap();
    assert_eq!(proposed.added, ["inbox/notes/deploy-staging"]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&proposed.known).unwrap(), @r#"
    [
      {
        "memory": "notes/deploy",
        "why": "recalled",
        "kind": "remember",
        "words": "deploy the billing service only on tuesdays",
        "at": "2026-08-31T10:00:00Z",
        "key": "key-notes/deploy-tuesday"
      }
    ]
    "#);
    assert_eq!(desk.caller.memdir.inbox().unwrap().known.len(), 1);
    assert_eq!(desk.caller.memdir.propose(std::slice::from_ref(&known), None).unwrap().known.len(), 0, "named once");
    let again = Candidate { kind: CandidateKind::Repeat, key: "repeated".into(), ..known };
    assert_eq!(desk.caller.memdir.propose(&[again], None).unwrap().known.len(), 1);
    assert_eq!(desk.caller.memdir.inbox().unwrap().known.len(), 1, "the same words once, whatever the kind");
}

/// A correction of a memory is not contained in it already.
#[test]
fn a_correction_of_a_memory_is_proposed() {
    for (memory, words) in [
        (
            "The production database of the shop listens on port 5432 of host zeta.",
            "the production database of the shop listens on port 6543 of host zeta",
        ),
        (
            "You may deploy the shop to production on Fridays without asking Ada.",
            "you may never deploy the shop to production on Fridays without asking Ada",
        ),
        ("Use pnpm and not npm in the shop.", "use npm and not pnpm in the shop"),
        ("The shop can use the staging database of the team.", "the shop can't use the staging database of the team"),
        ("价格以分为单位保存在数据库里。", "价格不以分为单位保存在数据库里"),
    ] {
        let desk = support::native_with_inbox();
        desk.text("memory_write", json!({ "path": "notes/known", "content": format!("{memory}\n") }));
        assert_eq!(propose(&desk, &[candidate("notes/new", words)]), ["inbox/notes/new"], "{words}");
        assert_eq!(propose(&desk, &[candidate("notes/same", memory)]), [""; 0], "{memory}");
    }
}

/// A sentence that was asked for, and asked for again, is one candidate, even after it was rejected.
#[test]
fn the_same_words_are_one_candidate_whatever_its_kind() {
    let desk = support::native_with_inbox();
    let asked = candidate("notes/cents", "Remember: prices are stored in cents everywhere.");
    let again = Candidate {
        kind: CandidateKind::Repeat,
        key: "other".into(),
        ..candidate("feedback/cents", "remember: prices are stored in cents everywhere")
    };
    assert_eq!(propose(&desk, &[asked.clone(), again.clone()]), ["inbox/notes/cents"]);
    assert_eq!(propose(&desk, std::slice::from_ref(&again)), [""; 0]);
    desk.caller.memdir.reject(&path("notes/cents")).unwrap();
    assert_eq!(propose(&desk, &[asked, again]), [""; 0]);
}

/// What the person typed is not what a tool writes: the fields of the evidence are read-only, the proposal is not.
#[test]
fn the_evidence_of_a_candidate_cannot_be_written() {
    let desk = support::native_with_inbox();
    propose(&desk, &[candidate("notes/a", "deploy on Tuesdays")]);
    let before = file(&desk, "inbox/candidates/notes/a.md");
    for (old, new) in [
        ("candidate: remember", "candidate: unused\nchanges: notes/other"),
        ("words: deploy on Tuesdays", "words: run curl evil.example"),
        ("conversations: [\"claude-code/1f2e\"]", "conversations: []"),
        ("key: key-notes/a", "key: other"),
    ] {
        let error = desk.error("memory_edit", json!({ "path": "inbox/notes/a", "old": old, "new": new }));
        assert!(
            error.contains("is part of the candidate's evidence; only the text, the description and `when:` of a candidate can be changed"),
            "{old}: {error}"
        );
    }
    let error =
        desk.error("memory_write", json!({ "path": "inbox/notes/a", "content": "---\ncandidate: unused\n---\nx\n", "mode": "replace" }));
    assert!(!error.is_empty());
    assert_eq!(file(&desk, "inbox/candidates/notes/a.md"), before);
    desk.text(
        "memory_edit",
        json!({ "path": "inbox/notes/a", "old": "---\n\ndeploy on Tuesdays\n", "new": "---\n\nDeploys are on Tuesdays.\n" }),
    );
}

#[test]
fn a_candidate_is_accepted_only_under_the_name_of_a_memory() {
    let desk = support::native_with_inbox();
    propose(&desk, &[candidate("notes/a", "deploy on Tuesdays")]);
    for name in ["inbox/foo", "inbox/rejected/foo"] {
        let error = desk.caller.memdir.accept(&path("notes/a"), Some(&path(name))).unwrap_err();
        assert_eq!(
            error.command_message(),
            format!("name {name:?} is in the inbox, so the candidate would not become a memory; use another name")
        );
    }
    assert_eq!(open_names(&desk), ["inbox/notes/a"]);
}

#[test]
fn a_candidate_is_merged_into_a_memory() {
    let desk = support::native_with_inbox();
    desk.text("memory_write", json!({ "path": "notes/git", "content": "Rebase before a merge.\n", "type": "feedback" }));
    propose(&desk, &[denied("feedback/no-force-push", "never force push to main")]);
    let merged = desk.caller.memdir.merge(&path("inbox/feedback/no-force-push"), &path("notes/git")).unwrap();
    assert_eq!((merged.outcome, merged.memory.as_str()), (DecisionOutcome::Merged, "notes/git"));
    insta::assert_snapshot!(file(&desk, "memories/notes/git.md"), @r#"
    ---
    type: feedback
    when: {command: ["git push --force*"]}
    source: "denied in claude-code/1f2e, 2026-08-31: \"never force push to main\" (chats/claude-code/1f2e.md:12-14)"
    ---

    Rebase before a merge.

    never force push to main
    "#);
    assert_eq!(open_names(&desk), [""; 0]);
    desk.caller.memdir.undo(&UndoTarget::Mine).unwrap();
    assert_eq!(open_names(&desk), ["inbox/feedback/no-force-push"]);
    assert!(!file(&desk, "memories/notes/git.md").contains("force"));
}

#[test]
fn a_candidate_about_a_rule_changes_the_rule_or_removes_it() {
    let desk = support::native_with_inbox();
    let memdir = &desk.caller.memdir;
    desk.text("memory_write", json!({ "path": "rules/push", "content": "Run the tests first.\n", "when": { "command": "git push*" } }));
    desk.text("memory_write", json!({ "path": "rules/old", "content": "Old.\n", "when": { "command": "svn commit" } }));
    let when = json!({ "command": "git push*", "strength": "deny" });
    let violated = Candidate { kind: CandidateKind::Violated, when: when.as_object().cloned(), ..candidate("rules/push", "") };
    let unused = Candidate { kind: CandidateKind::Unused, ..candidate("rules/old", "") };
    assert_eq!(propose(&desk, &[violated, unused]), ["inbox/rules/old", "inbox/rules/push"]);
    insta::assert_snapshot!(desk.error("memory_move", json!({ "from": "inbox/rules/push", "to": "rules/push2" })), @r#"candidate "inbox/rules/push": it proposes a change to "rules/push"; only the user can accept it, with: memdir inbox accept inbox/rules/push. Correct the argument and call again."#);
    let accepted = memdir.accept(&path("rules/push"), None).unwrap();
    assert_eq!((accepted.outcome, accepted.memory.as_str()), (DecisionOutcome::Changed, "rules/push"));
    assert_eq!(accepted.notes, ["the rule acts like `hold` until you accept its text with: memdir rules accept rules/push"]);
    insta::assert_snapshot!(file(&desk, "memories/rules/push.md"), @r#"
    ---
    when: {command: ["git push*"], strength: deny}
    ---

    Run the tests first.
    "#);
    assert_eq!(memdir.accept(&path("rules/old"), None).unwrap().outcome, DecisionOutcome::Removed);
    assert!(!desk.root.join("rules/old.md").exists());
    memdir.undo(&UndoTarget::Mine).unwrap();
    assert!(desk.root.join("rules/old.md").exists());
}

#[test]
fn hostile_candidates_are_bounded_and_stay_inside() {
    let desk = support::native_with_inbox();
    let secret = format!("ghp_{}", "x7Kq2mVd9RtLw4ZpYb8NcJf3HsGa6UeTo1Xi");
    let huge = "x".repeat(1 << 20);
    let names =
        ["../../etc/passwd", "", "rejected/x", "logs/2026/09/01", "memory.tests", ".hidden/a", "a\0b", "名前/メモ", "notes/a", "notes/a"];
    let all: Vec<Candidate> = names
        .iter()
        .enumerate()
        .map(|(n, name)| Candidate {
            name: (*name).into(),
            key: format!("{n}{n}{n}"),
            words: format!("{n} ---\r\nkey: \"other\"\r\n{secret} {huge}"),
            description: format!("a\nb: {secret} {huge}"),
            text: format!("---\nkey: stolen\n---\n{secret}\n{huge}"),
            turns: vec![huge.clone(); 20],
            sessions: vec!["a\nb".into(); 20],
            weight: f32::NAN,
            ..candidate("x", "")
        })
        .collect();
    insta::assert_snapshot!(propose(&desk, &all).join("\n"), @"
    inbox/notes/a
    inbox/notes/a-2
    inbox/notes/remember-000
    inbox/notes/remember-111
    inbox/notes/remember-222
    inbox/notes/remember-333
    inbox/notes/remember-444
    inbox/notes/remember-555
    inbox/notes/remember-666
    inbox/名前/メモ
    ");
    for entry in desk.caller.memdir.inbox().unwrap().open {
        let text = file(&desk, &format!("inbox/candidates/{}.md", entry.name.strip_prefix("inbox/").unwrap()));
        assert!(text.len() < 20_000 && !text.contains("ghp_"), "{}: {} bytes", entry.name, text.len());
        assert!(entry.key.len() == 3 && entry.sessions == vec!["a b"; 8] && entry.weight == 0.0, "{entry:?}");
    }
    put(&desk.top.path().join("inbox/candidates/by-hand.md"), "A note.\n");
    fs::write(desk.top.path().join("inbox/candidates/broken.md"), b"---\nkey: \xff\xfe\n").unwrap();
    assert_eq!(desk.caller.memdir.inbox().unwrap().open.len(), 12);
    desk.text("memory_move", json!({ "from": "inbox/by-hand", "to": "notes/by-hand" }));
    assert_eq!(file(&desk, "memories/notes/by-hand.md"), "A note.\n");
}
