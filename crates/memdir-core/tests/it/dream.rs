//! Dreams: what a plan finds, that it is read back as it was written, and that applying it loses nothing.

mod crash;
mod hostile;
mod lists;
mod logs;
mod statements;
mod undo;

use crate::project::{place, put, repository};
use memdir_core::{
    Actor, ApplyDream, Dream, DreamAction, DreamPlan, DreamReason, FileStore, List, Memdir, Mount, Read, Write, WriteMode,
    internal::{
        operations::dream::{parse, render},
        project::{self, Worktrees},
    },
    testing::{DreamCorpus, DreamScore, FixedClock},
};
use std::{collections::BTreeMap, fs, path::Path, sync::Arc};
use tempfile::TempDir;

pub(crate) fn open(dir: &Path) -> Memdir {
    let mount = Mount::new("", dir.join("memory"), dir.join("journal"));
    let clock = FixedClock("2026-09-01T12:00:00Z".parse().unwrap());
    Memdir::with_clock(Arc::new(FileStore::open(&[mount]).unwrap()), Actor { name: "ada".into(), session: None }, Arc::new(clock))
}

/// A memory of these files, written by another program.
pub(crate) fn store_of<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> (TempDir, Memdir) {
    let top = TempDir::new().unwrap();
    for (path, text) in files {
        put(&top.path().join("memory").join(path), text);
    }
    let memdir = open(top.path());
    (top, memdir)
}

/// Every file of the memory.
pub(crate) fn bytes(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(dir: &Path, top: &Path, out: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), top, out);
            } else {
                out.insert(entry.path().strip_prefix(top).unwrap().display().to_string(), fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut out = BTreeMap::new();
    walk(&dir.join("memory"), &dir.join("memory"), &mut out);
    out
}

fn titles(plan: &DreamPlan) -> Vec<String> {
    plan.operations.iter().map(|operation| format!("{} ({}): {}", operation.title(), operation.reason.as_str(), operation.why)).collect()
}

/// The share of planted faults that are found, and of proposals that are false. The bounds are those that the documentation states.
#[test]
#[expect(clippy::print_stderr, reason = "--no-capture shows the score")]
fn planted_faults_are_found_and_correct_memories_are_not_changed() {
    for seed in [1, 7, 11, 42, 2026] {
        let corpus = DreamCorpus::generate(seed);
        assert!(corpus.files.len() >= 900, "{}", corpus.files.len());
        let (_temp, top) = place();
        let repo = repository(top.join("repo"));
        corpus.project.iter().for_each(|file| put(&repo.join(file), "x\n"));
        let project = project::find(&repo, Worktrees::Shared).unwrap();
        let (_memory, memdir) = store_of(corpus.files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        let plan = memdir.dream(&Dream { project: Some(&project), ..Dream::default() }).unwrap();
        let score = DreamScore::new(&corpus, &plan);
        let summary = format!(
            "seed {seed}: found {:.1} %, false {:.1} %, false merges and archives {:.1} % of {}; {:?}\nfalse: {:#?}",
            score.found_percent(),
            score.false_percent(),
            score.false_removals_percent(),
            score.removals,
            score.found,
            score.false_operations
        );
        eprintln!("{summary}");
        assert!(score.found_percent() >= 90.0, "{summary}");
        assert!(score.false_percent() <= 10.0, "{summary}");
        assert!(score.false_removals_percent() <= 2.0, "{summary}");
        assert_eq!(parse(&render(&plan)).unwrap().operations.len(), plan.operations.len());
        assert_eq!(memdir.dream(&Dream { project: Some(&project), ..Dream::default() }).unwrap(), plan, "the same memories, the same plan");
    }
}

#[test]
fn a_plan_is_read_back_as_it_was_written() {
    let corpus = DreamCorpus::generate(3);
    let (_memory, memdir) = store_of(corpus.files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let mut plan = memdir.dream(&Dream::default()).unwrap();
    let mut parsed = parse(&render(&plan)).unwrap();
    // The diffs and the notes are for the reader only.
    plan.notes.clear();
    plan.operations.iter_mut().chain(&mut parsed.operations).for_each(|operation| operation.diff.clear());
    assert_eq!(parsed, plan);
}

#[test]
fn what_a_dream_proposes_is_shown_with_its_reason_and_its_diff() {
    let (_top, memdir) = store_of([
        (
            "notes/deploy.md",
            "---\nname: Deploy rule\nmodified: 2026-01-05\n---\n\nNever deploy the shop on Fridays, because nobody is on call.\n",
        ),
        (
            "notes/deploy-2.md",
            "---\nname: Deploy rule\nmodified: 2026-02-05\n---\n\nNever deploy the shop on Fridays, because nobody is on call.\nAsk Ada first.\n",
        ),
        ("notes/see.md", "See [[deploy-2]] before a release of the shop.\n"),
        ("notes/empty.md", "# Ideas\n"),
    ]);
    let plan = memdir.dream(&Dream::default()).unwrap();
    insta::assert_snapshot!(render(&plan), @"
    # Dream plan

    - format: 1
    - made: 2026-09-01T12:00:00Z
    - memories: 4
    - bytes: 288

    > Nothing is changed until you apply this plan. To skip an operation, delete its section, up to the next `##` heading.
    > To change the text of a memory, edit its `### text of` block. Changes to a `### diff` block are ignored.
    > Apply the plan with: memdir dream --apply FILE. One `memdir undo` reverts all of it.

    ## 1. merge notes/deploy into notes/deploy-2

    Why: notes/deploy adds nothing to notes/deploy-2

    - reason: near-duplicate
    - confidence: 95 %
    - write: notes/deploy-2.md@026c3b2b0e142c1fbc45cad690b8655e
    - move: notes/deploy.md@36f3433619a5b08187f8a1a88a27873f to archive/notes/deploy.md

    ### text of notes/deploy-2.md

    ````markdown
    ---
    name: Deploy rule
    modified: 2026-02-05
    ---

    Never deploy the shop on Fridays, because nobody is on call.
    Ask Ada first.
    ````

    ### diff

    ````diff
    --- a/notes/deploy.md
    +++ b/archive/notes/deploy.md
     ---
     name: Deploy rule
     modified: 2026-01-05
     ---

     Never deploy the shop on Fridays, because nobody is on call.
    ````

    ## 2. archive notes/empty

    Why: notes/empty has no text except headings

    - reason: empty
    - confidence: 95 %
    - move: notes/empty.md@559dd9450e19281d7329cc52192a228f to archive/notes/empty.md

    ### diff

    ````diff
    --- a/notes/empty.md
    +++ b/archive/notes/empty.md
     # Ideas
    ````
    ");
}

#[test]
fn merging_keeps_both_texts_and_archives_the_copy() {
    let (top, memdir) = store_of([
        (
            "a.md",
            "---\nname: Backups\nmodified: 2026-01-05\n---\n\nBackups of the shop run every night at the data center.\nThey are kept for ninety days in the vault.\n",
        ),
        (
            "b.md",
            "---\nname: Backups\nmodified: 2026-03-05\n---\n\nBackups of the shop run every night at the data center.\nThey are kept for ninety days in the vault.\nRestores were rehearsed.\n",
        ),
        ("c.md", "The plan is in [backups](a.md) and in [[b]].\n"),
    ]);
    let before = bytes(top.path());
    let plan = memdir.dream(&Dream::default()).unwrap();
    let merge = plan.operations.iter().find(|operation| operation.action == DreamAction::Merge).unwrap();
    assert_eq!(merge.title(), "merge a into b");
    let applied = memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap();
    assert_eq!(applied.left_out, []);
    let after = bytes(top.path());
    assert_eq!(after["archive/a.md"], before["a.md"], "archived, not deleted");
    assert!(!after.contains_key("a.md"));
    assert_eq!(String::from_utf8_lossy(&after["c.md"]), "The plan is in [backups](b.md) and in [[b]].\n", "references follow");
    let names: Vec<String> = memdir.list(&List::default()).unwrap().memories.into_iter().map(|memory| memory.name).collect();
    assert_eq!(names, ["b", "c"], "what is archived is not listed");
    let archived: Vec<String> =
        memdir.list(&List { topic: "archive".into(), ..List::default() }).unwrap().memories.into_iter().map(|memory| memory.name).collect();
    assert_eq!(archived, ["archive/a"], "except by its folder");
    assert!(memdir.read(&Read::all(crate::operations::path("archive/a"))).is_ok());
    assert!(!String::from_utf8_lossy(&after["MEMORY.md"]).contains("archive/"), "no entrypoint line");
}

/// A hand-written entrypoint keeps its text, even where it links an archived memory.
#[test]
fn the_prose_of_an_entrypoint_is_never_changed() {
    let prose = "# Our memory\n\nStart with [the old idea](idea.md) and [deploy](deploy.md).\n- [Idea](idea.md) — read this first\n";
    let (top, memdir) =
        store_of([("MEMORY.md", prose), ("idea.md", "# Idea\n"), ("deploy.md", "Deploys happen from the main branch only.\n")]);
    let plan = memdir.dream(&Dream::default()).unwrap();
    let expected = [
        "archive idea (empty): idea has no text except headings",
        "update deploy (unreachable): deploy is not listed in the entrypoint, so agents may not notice it",
    ];
    assert_eq!(titles(&plan), expected);
    memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap();
    let entrypoint = fs::read_to_string(top.path().join("memory/MEMORY.md")).unwrap();
    assert!(prose.lines().all(|line| entrypoint.lines().any(|kept| kept == line)), "{entrypoint}");
}

/// The fields of the frontmatter are read by the same rules as everywhere else.
#[test]
fn what_the_frontmatter_declares_is_proposed() {
    let (_top, memdir) = store_of([
        ("old.md", "Deploys are started by hand.\n"),
        ("middle.md", "---\nsupersedes: '[[old]]'\nmodified: 2026-05-05\n---\n\nDeploys are started by Jenkins.\n"),
        ("new.md", "---\nsupersedes:\n  - middle\nmodified: 2026-08-05\n---\n\nDeploys leave from the main branch.\n"),
        ("by.md", "---\nsuperseded_by: mem:new\n---\n\nAsk Ada before a deploy.\n"),
        ("c1.md", "---\nsupersedes: [c2]\n---\n\nThe gizmo is red.\n"),
        ("c2.md", "---\nsupersedes: [c1]\n---\n\nGizmos come in boxes.\n"),
        ("was.md", "---\nstale_after: 2026-08-31\n---\n\nThe office is closed in August.\n"),
        ("today.md", "---\nstale_after: 2026-09-01\n---\n\nThe canteen is closed until the first.\n"),
        ("quoted.md", "---\nstatus: \"Deprecated\" # since May\nmodified: 2026-01-05\n---\n\nThe old wiki had a page.\n"),
    ]);
    let plan = memdir.dream(&Dream::default()).unwrap();
    let expected = [
        "archive by (superseded): by is superseded by new",
        "archive middle (superseded): middle is superseded by new",
        "update was (stale): was was valid until 2026-08-31",
        "archive quoted (superseded): quoted is deprecated and has not changed since 2026-01-05",
    ];
    assert_eq!(titles(&plan), expected);
    // The reference of `middle` follows `old`, so that one comes with the next plan.
    let notes = [
        "circular `supersedes` or `superseded_by` fields: c1, c2; these memories are not archived until you correct the fields",
        "1 operation postponed to the next plan: this plan already changes the same files",
    ];
    assert_eq!(plan.notes, notes);
}

/// A copy with a tripwire is the one that stays, and two with different ones both stay.
#[test]
fn a_merge_never_drops_a_tripwire() {
    let text = "Never force push to the main branch of the shared repository, because others lose work.\n";
    let rule = |command: &str| format!("---\nname: Push\nwhen:\n  command: {command}\n---\n\n{text}");
    let (one, plain) = (rule("git push --force"), format!("---\nname: Push\n---\n\n{text}"));
    let (_top, memdir) = store_of([("notes/a-long-name.md", one.as_str()), ("b.md", plain.as_str())]);
    let plan = memdir.dream(&Dream::default()).unwrap();
    assert_eq!(titles(&plan), ["merge b into notes/a-long-name (exact-duplicate): b has the same text as notes/a-long-name"]);
    let (_top, memdir) = store_of([("notes/a-long-name.md", one.as_str()), ("b.md", plain.as_str()), ("c.md", plain.as_str())]);
    let plan = memdir.dream(&Dream::default()).unwrap();
    let expected = "merge b and c into notes/a-long-name (near-duplicate): b and c add nothing to notes/a-long-name";
    assert_eq!(titles(&plan), [expected]);
    let two = rule("git push -f");
    let (_top, memdir) = store_of([("a.md", one.as_str()), ("b.md", two.as_str())]);
    assert_eq!(titles(&memdir.dream(&Dream::default()).unwrap()), [""; 0]);
}

/// A plan is read back whatever the names are.
#[test]
fn names_with_the_words_of_a_plan_are_read_back() {
    let text = "---\nname: Road\n---\n\nThe deploy day of the billing service is Tuesday at noon.\n";
    let (top, memdir) = store_of([("road to rome.md", text), ("road to rome @ home to sea.md", text)]);
    let plan = parse(&render(&memdir.dream(&Dream::default()).unwrap())).unwrap();
    let applied = memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap();
    assert_eq!(applied.applied, ["merge road to rome @ home to sea into road to rome"]);
    assert!(bytes(top.path()).contains_key("archive/road to rome @ home to sea.md"));
}

/// A negation, and words that name alternatives, distinguish two memories, however alike they are.
#[test]
fn opposites_and_alternatives_are_not_merged() {
    let memory = |sentence: &str| {
        format!(
            "---\nname: Gateway\n---\n\n{sentence}\nAsk the platform team of the shop before a change of the gateway.\nThe runbook has the details of every step.\n"
        )
    };
    let pair = |one: &str, two: &str| {
        let (one, two) = (memory(one), memory(two));
        let (_top, memdir) = store_of([("a.md", one.as_str()), ("b.md", two.as_str())]);
        let plan = memdir.dream(&Dream::default()).unwrap();
        plan.operations.into_iter().filter(|operation| operation.action == DreamAction::Merge).count()
    };
    let same = "The gateway of the shop accepts unsigned requests.";
    assert_eq!(pair(same, "The gateway of the shop accepts unsigned requests today."), 1);
    assert_eq!(pair(same, "The gateway of the shop never accepts unsigned requests."), 0);
    assert_eq!(pair("The staging gateway of the shop is restarted.", "The production gateway of the shop is restarted."), 0);
}

/// A newer memory says that one thing took the place of another: an older statement about it gets a note.
#[test]
fn what_was_replaced_is_noted_where_it_is_still_named() {
    let (_top, memdir) = store_of([
        ("old.md", "---\nmodified: 2026-01-05\n---\n\nNightly deploys are started by Jenkins.\n"),
        ("past.md", "---\nmodified: 2026-01-05\n---\n\nThe deploys were slow with Jenkins.\n"),
        ("new.md", "---\nmodified: 2026-05-05\n---\n\nIn May, we moved from Jenkins to Buildkite for all deploys.\n"),
    ]);
    let plan = memdir.dream(&Dream::default()).unwrap();
    let expected = "update old (superseded): old says \"Nightly deploys are started by Jenkins.\"; new is newer and says \"In May, we moved from Jenkins to Buildkite for all deploys.\"";
    assert_eq!(titles(&plan), [expected]);
}

/// Two commands under the same words are two facts.
#[test]
fn texts_that_differ_in_code_only_are_not_merged() {
    let how = |command: &str| {
        format!("---\nname: Deploy the shop\n---\n\nTo deploy the shop, run this from the root:\n\n```sh\n{command}\n```\n")
    };
    let (one, two) = (how("make deploy ENV=eu"), how("make deploy ENV=us"));
    let (_top, memdir) = store_of([("a.md", one.as_str()), ("b.md", two.as_str())]);
    assert_eq!(titles(&memdir.dream(&Dream::default()).unwrap()), [""; 0]);
}

#[test]
fn relative_dates_get_the_day_on_which_the_line_was_written() {
    let top = TempDir::new().unwrap();
    let memdir = open(top.path());
    let path = crate::operations::path("notes/freeze");
    memdir.write(&Write::create(path.clone(), "The freeze began yesterday and ends next Friday.\n")).unwrap();
    let plan = memdir.dream(&Dream::default()).unwrap();
    memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap();
    let text = memdir.read(&Read::all(path)).unwrap().content;
    assert_eq!(text, "The freeze began on 2026-08-31 and ends on 2026-09-04.\n");
}

#[test]
fn logs_become_memories_and_stay_as_they_are() {
    let log = "- 09:00 started work\n- 10:00 decided: releases of the shop leave on Tuesdays\n- 11:00 ran the tests\n";
    let (top, memdir) = store_of([
        ("logs/2026/08/2026-08-30.md", log),
        ("logs/2026/09/2026-09-01.md", "- 10:00 decided: today is not finished yet, so wait\n"),
    ]);
    let plan = memdir.dream(&Dream { logs_only: true, ..Dream::default() }).unwrap();
    assert_eq!(plan.logs_through.unwrap().to_string(), "2026-08-30");
    memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap();
    let files = bytes(top.path());
    assert_eq!(String::from_utf8_lossy(&files["logs/2026/08/2026-08-30.md"]), log);
    insta::assert_snapshot!(String::from_utf8_lossy(&files["distilled/2026-08.md"]), @r#"
    ---
    name: Facts from the 2026-08 logs
    description: "decided: releases of the shop leave on Tuesdays"
    type: project
    ---

    - 2026-08-30: decided: releases of the shop leave on Tuesdays
    "#);
    assert!(String::from_utf8_lossy(&files["MEMORY.md"]).contains("distilled/2026-08.md"));
    let again = memdir.dream(&Dream { logs_only: true, logs_through: plan.logs_through, ..Dream::default() }).unwrap();
    assert_eq!(again.operations, [], "it remembers how far it came");
    let from_start = memdir.dream(&Dream { logs_only: true, ..Dream::default() }).unwrap();
    assert_eq!(from_start.operations, [], "what a memory says is not proposed again");
}

#[test]
fn a_contradiction_keeps_both_statements_with_the_newer_beside_the_older() {
    let (top, memdir) = store_of([
        ("old.md", "---\nname: Gateway port\nmodified: 2026-01-05\n---\n\nThe gateway listens on port 8080.\n"),
        ("new.md", "---\nname: Gateway port\nmodified: 2026-05-05\n---\n\nThe gateway listens on port 9443.\nSince the migration.\n"),
        ("other.md", "---\nname: Mailer port\nmodified: 2026-05-05\n---\n\nThe mailer listens on port 2525.\n"),
    ]);
    let plan = memdir.dream(&Dream::default()).unwrap();
    let reasons: Vec<DreamReason> = plan.operations.iter().map(|operation| operation.reason).collect();
    assert_eq!(reasons, [DreamReason::Contradiction], "{:?}", titles(&plan));
    memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap();
    let old = String::from_utf8_lossy(&bytes(top.path())["old.md"]).into_owned();
    assert!(
        old.contains("The gateway listens on port 8080. (Superseded on 2026-05-05 by [[new]]: The gateway listens on port 9443.)"),
        "{old}"
    );
}

/// A copied file's time is that of the copy, and a duration is not a date.
#[test]
fn dates_are_left_alone_where_the_day_of_writing_is_unknown() {
    let (top, memdir) = store_of([
        ("a.md", "None of them pay tomorrow.\n"),
        ("b.md", "Six partners joined in one week.\n"),
        ("c-2026-03-24.md", "# Ventures\n\n## Update 2026-03-25\n\nShe offered to call tomorrow.\nTwo posts in 14 days.\n"),
    ]);
    for name in ["a.md", "b.md", "c-2026-03-24.md"] {
        let file = fs::File::options().write(true).open(top.path().join("memory").join(name)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_770_000_000)).unwrap();
    }
    let plan = memdir.dream(&Dream::default()).unwrap();
    assert_eq!(titles(&plan), ["update c-2026-03-24 (relative-date): c-2026-03-24: \"tomorrow\" is \"on 2026-03-26\""]);
}

/// The limit on what one plan touches, and the five operations that are always allowed.
#[test]
fn a_plan_touches_a_quarter_of_the_memory_at_most() {
    let texts: Vec<(String, String)> = (0..10).map(|n| (format!("n{n}.md"), "# Only a heading\n".to_owned())).collect();
    let (top, memdir) = store_of(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let mut plan = memdir.dream(&Dream::default()).unwrap();
    assert_eq!(plan.operations.len(), 10);
    let before = bytes(top.path());
    let refused = memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "plan: it changes 10 of 10 memories (100% of the memories), over the limit of 25%; remove operations, or raise the limit (on the command line: --limit 100)"
    );
    assert_eq!(bytes(top.path()), before);
    plan.operations.truncate(5);
    assert_eq!(memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap().applied.len(), 5);
}

#[test]
fn archived_memories_are_found_only_on_request_and_not_recalled() {
    let desk = crate::support::native();
    put(&desk.root.join("archive/old.md"), "The okapi budget is in the vault.\n");
    put(&desk.root.join("new.md"), "The giraffe budget is elsewhere.\n");
    let found = desk.text("memory_search", serde_json::json!({ "query": "okapi budget vault" }));
    assert!(!found.contains("archive/old"), "{found}");
    let found = desk.text("memory_search", serde_json::json!({ "query": "okapi budget vault path:archive" }));
    assert!(found.contains("archive/old"), "{found}");
    let recalled = desk
        .caller
        .memdir
        .recall(&memdir_core::Recall { message: Some("What is the okapi budget in the vault?"), ..Default::default() })
        .unwrap();
    assert!(!recalled.text.contains("archive/old"), "{}", recalled.text);
    desk.caller.memdir.write(&Write::create(crate::operations::path("archive/old"), "x\n").mode(WriteMode::Replace)).unwrap();
    assert!(!fs::read_to_string(desk.root.join("MEMORY.md")).unwrap_or_default().contains("archive/old"));
}

/// A few operations on many files are many changes: the limit counts files, and bytes.
#[test]
fn the_limit_counts_files_and_bytes_and_not_operations() {
    let name = |group: usize, n: usize| format!("g{group}-{n}");
    let texts: Vec<(String, String)> = (0..20)
        .map(|at| (format!("{}.md", name(at / 4, at % 4)), format!("Fact {} about subsystem alpha{at} on port {}.\n", at / 4, 3_000 + at)))
        .collect();
    let (top, memdir) = store_of(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let merge = |group: usize, count: usize| {
        let text: String = (0..=count).map(|n| texts[group * 4 + n].1.clone()).collect();
        let from: Vec<String> = (1..=count).map(|n| name(group, n)).collect();
        serde_json::json!({ "action": "merge", "into": name(group, 0), "from": from, "text": text })
    };
    let plan = |counts: &[usize]| {
        let list: Vec<_> = counts.iter().enumerate().map(|(group, count)| merge(group, *count)).collect();
        memdir.plan_from_operations(&serde_json::json!(list).to_string()).unwrap().0
    };
    let before = bytes(top.path());
    // Three operations on twelve of twenty memories.
    let error = memdir.apply_dream(&ApplyDream { plan: &plan(&[3, 3, 3]), limit_percent: None }).unwrap_err().to_string();
    assert!(error.starts_with("plan: it changes 12 of 20 memories ("), "{error}");
    assert_eq!(bytes(top.path()), before);
    // Five operations on ten memories are always allowed.
    let applied = memdir.apply_dream(&ApplyDream { plan: &plan(&[1, 1, 1, 1, 1]), limit_percent: None }).unwrap();
    assert_eq!(applied.applied.len(), 5);
    // Six operations on six of forty memories, which have most of the bytes.
    let mut files: Vec<(String, String)> = (0..34).map(|n| (format!("s{n}.md"), format!("Small fact {n}.\n"))).collect();
    files.extend((0..6).map(|n| (format!("l{n}.md"), format!("Large fact {n}.\n").repeat(50))));
    let (_top, memdir) = store_of(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let list: Vec<_> = (0..6).map(|n| serde_json::json!({ "action": "archive", "path": format!("l{n}") })).collect();
    let (plan, _) = memdir.plan_from_operations(&serde_json::json!(list).to_string()).unwrap();
    let error = memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap_err().to_string();
    assert!(error.starts_with("plan: it changes 6 of 40 memories (90% of the bytes)"), "{error}");
    assert_eq!(memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: Some(90) }).unwrap().applied.len(), 6);
}

/// Every plan that is kept can be read again: what cannot be written is omitted, and what does not fit comes with the next plan.
#[test]
fn a_plan_has_only_names_that_its_file_can_represent() {
    let text = "---\nname: Road\n---\n\nThe deploy day of the billing service is Tuesday at noon.\n";
    let (_top, memdir) = store_of([("road.md", text), ("\u{1680}road.md", text), ("empty.md", "# Idea\n")]);
    let plan = memdir.dream(&Dream::default()).unwrap();
    assert_eq!(titles(&plan), ["archive empty (empty): empty has no text except headings"]);
    assert_eq!(plan.notes, ["1 operation omitted because of a name or text that a plan cannot contain"]);
    // Long memories whose parts do not fit into the file of one plan.
    let chapter = |n: usize| format!("## Chapter {n}\n\n{}", "A line of a chapter with a number, which is 4711.\n".repeat(5_000));
    let long: String = (0..4).map(chapter).collect();
    let files: Vec<(String, String)> = (0..18).map(|n| (format!("b{n}.md"), format!("# Book {n}\n\n{long}"))).collect();
    let (top, memdir) = store_of(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let plan = memdir.dream(&Dream::default()).unwrap();
    let read = parse(&render(&plan)).unwrap();
    assert!(!read.operations.is_empty() && read.operations.len() < 18, "{}", read.operations.len());
    assert!(plan.notes.iter().any(|note| note.contains(" postponed to the next plan: ")), "{:?}", plan.notes);
    memdir.apply_dream(&ApplyDream { plan: &read, limit_percent: Some(100) }).unwrap();
    assert!(bytes(top.path()).contains_key("b0/chapter-0.md"));
}

/// What is archived replaces nothing, and nothing is replaced by it.
#[test]
fn an_archived_memory_replaces_nothing() {
    let desk = crate::support::native();
    put(&desk.root.join("old.md"), "The okapi budget is in the vault.\n");
    put(&desk.root.join("mine.md"), "---\nsuperseded_by: archive/new\n---\n\nThe tapir budget is in the vault.\n");
    put(&desk.root.join("archive/new.md"), "---\nsupersedes: [old]\n---\n\nThe okapi budget is in the bank.\n");
    for (query, name) in [("okapi budget vault", "old"), ("tapir budget vault", "mine")] {
        let found = desk.text("memory_search", serde_json::json!({ "query": query }));
        assert!(found.contains(name) && !found.contains("supersede") && !found.contains("archive/new"), "{found}");
    }
    let plan = desk.caller.memdir.dream(&Dream::default()).unwrap();
    assert_eq!(titles(&plan), [""; 0]);
}

/// An import of many memories is one change: the plan reads the history once, however many memories have dates.
#[test]
fn the_history_is_read_once_for_all_dates() {
    let top = TempDir::new().unwrap();
    let memdir = open(top.path());
    let written = |n: usize| memdir_core::Incoming { name: format!("n{n}"), text: format!("The freeze of gate {n} began yesterday.\n") };
    let dated = |n: usize| memdir_core::Incoming {
        name: format!("d{n}"),
        text: format!("---\nmodified: 2026-03-05\n---\n\nThe freeze of door {n} began yesterday.\n"),
    };
    let memories = (0..50).map(written).chain((0..50).map(dated)).collect();
    memdir.import(&memdir_core::Import { memories, ..Default::default() }).unwrap();
    memdir.write(&Write::create(crate::operations::path("own"), "The freeze of the gate began yesterday.\n")).unwrap();
    memdir.write(&Write::create(crate::operations::path("own"), "It ends next Friday.\n").mode(WriteMode::Append)).unwrap();
    let journal = fs::read(top.path().join("journal/changes.log")).unwrap();
    let plan = memdir.dream(&Dream::default()).unwrap();
    // The time of an import is not that of its texts; their own dates count.
    assert_eq!(plan.operations.len(), 51, "{:#?}", titles(&plan));
    let own = plan.operations.iter().find(|operation| operation.title() == "update own").unwrap();
    assert_eq!(own.why, "own: \"yesterday\" is \"on 2026-08-31\", \"next Friday\" is \"on 2026-09-04\"");
    assert_eq!(fs::read(top.path().join("journal/changes.log")).unwrap(), journal, "making a plan writes nothing");
}
