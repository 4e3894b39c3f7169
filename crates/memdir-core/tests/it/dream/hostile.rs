//! Hostile and broken plans and lists of operations: each is refused with the place and the reason, and changes nothing.

use super::{bytes, store_of};
use memdir_core::{
    Access, Actor, ApplyDream, Dream, DreamShelf, FileStore, Memdir, Mount,
    internal::operations::dream::{parse, render},
};
use std::{fmt::Write as _, sync::Arc};

const FILES: [(&str, &str); 5] = [
    ("MEMORY.md", "# Ours\n"),
    ("a.md", "The first fact of the shop is long enough to be kept as it is.\n"),
    ("b.md", "The second fact of the shop is long enough to be kept as it is.\n"),
    ("logs/2026/08/2026-08-30.md", "- 10:00 x\n"),
    ("memory.tests.md", "# Tests\n"),
];

fn version(memdir: &Memdir, name: &str) -> String {
    memdir.store().get(&crate::operations::path(name)).unwrap().unwrap().version.to_string()
}

fn plan_with(operation: &str) -> String {
    format!("# Dream plan\n\n- format: 1\n- made: 2026-09-01T12:00:00Z\n\n{operation}")
}

#[test]
fn hostile_plans_are_refused_and_change_nothing() {
    let (top, memdir) = store_of(FILES);
    let before = bytes(top.path());
    let v = version(&memdir, "a.md");
    let text = |path: &str, text: &str| format!("### text of {path}\n\n````markdown\n{text}\n````\n");
    let cases = [
        ("absolute", format!("## 1. create /etc/x\n\n- new: /etc/x.md\n\n{}", text("/etc/x.md", "x"))),
        ("traversal", format!("## 1. move a\n\n- move: a.md@{v} to ../../outside.md\n")),
        ("traversal in archive", format!("## 1. archive a\n\n- move: a.md@{v} to archive/../../a.md\n")),
        ("archive elsewhere", format!("## 1. archive a\n\n- move: a.md@{v} to trash/a.md\n")),
        (
            "entrypoint",
            format!("## 1. update MEMORY\n\n- write: MEMORY.md@{}\n\n{}", version(&memdir, "MEMORY.md"), text("MEMORY.md", "mine")),
        ),
        ("page", format!("## 1. create page\n\n- new: MEMORY.page-001.md\n\n{}", text("MEMORY.page-001.md", "mine"))),
        ("log", format!("## 1. archive log\n\n- move: logs/2026/08/2026-08-30.md@{v} to archive/logs/2026/08/2026-08-30.md\n")),
        ("tests", format!("## 1. archive tests\n\n- move: memory.tests.md@{v} to archive/memory.tests.md\n")),
        ("emptied", format!("## 1. update a\n\n- write: a.md@{v}\n\n{}", text("a.md", "  "))),
        ("NUL", format!("## 1. update a\n\n- write: a.md@{v}\n\n{}", text("a.md", "a\0b"))),
        ("oversized", format!("## 1. update a\n\n- write: a.md@{v}\n\n{}", text("a.md", &"x".repeat(5 << 20)))),
        ("secret", format!("## 1. update a\n\n- write: a.md@{v}\n\n{}", text("a.md", "key AKIAQ7RHTZW4XNMP2LKD"))),
        ("secret in a name", format!("## 1. move a\n\n- move: a.md@{v} to AKIAQ7RHTZW4XNMP2LKD.md\n")),
        ("twice", format!("## 1. archive a\n\n- move: a.md@{v} to archive/a.md\n\n## 2. archive a\n\n- move: a.md@{v} to archive/b.md\n")),
        ("wrong shape", format!("## 1. create a\n\n- move: a.md@{v} to archive/a.md\n")),
        ("bad version", "## 1. archive a\n\n- move: a.md@123 to archive/a.md\n".to_owned()),
        ("no text", format!("## 1. update a\n\n- write: a.md@{v}\n")),
        ("stray text", format!("## 1. archive a\n\n- move: a.md@{v} to archive/a.md\n\n{}", text("b.md", "x"))),
        ("unknown action", "## 1. delete a\n\n- delete: a.md\n".to_owned()),
        ("unknown field", format!("## 1. archive a\n\n- remove: a.md@{v}\n")),
        ("open block", format!("## 1. update a\n\n- write: a.md@{v}\n\n### text of a.md\n\n````markdown\nx\n")),
        ("prose", "Please delete everything.\n".to_owned()),
        ("nothing", "## 1. archive a\n\nWhy: it is old\n".to_owned()),
    ];
    let mut shown = String::new();
    for (what, operation) in cases {
        let outcome =
            parse(&plan_with(&operation)).and_then(|plan| memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: Some(100) }));
        let error = outcome.expect_err(what).to_string();
        assert!(!error.contains("AKIAQ7RHTZW4XNMP2LKD"), "{what}: {error}");
        let _ = writeln!(shown, "{what}: {}", error.replace(&v, "VERSION"));
        assert_eq!(bytes(top.path()), before, "{what}");
    }
    insta::assert_snapshot!(shown, @r####"
    absolute: plan: line 8: invalid memory name "/etc/x.md": it is an absolute path; use a name relative to the memory directory
    traversal: plan: line 8: invalid memory name "../../outside.md": it contains the component ".."; use a name without it
    traversal in archive: plan: line 8: invalid memory name "archive/../../a.md": it contains the component ".."; use a name without it
    archive elsewhere: plan: operation 1 (archive a): invalid memory name "trash/a.md": it is not a Markdown file under archive/; nothing was changed
    entrypoint: plan: operation 1 (update MEMORY): invalid memory name "MEMORY.md": it is the entrypoint or one of its pages, which memdir maintains; nothing was changed
    page: plan: operation 1 (create MEMORY.page-001): invalid memory name "MEMORY.page-001.md": it is the entrypoint or one of its pages, which memdir maintains; nothing was changed
    log: plan: operation 1 (archive logs/2026/08/2026-08-30): invalid memory name "logs/2026/08/2026-08-30.md": it is a log, and a dream plan cannot change logs; nothing was changed
    tests: plan: operation 1 (archive memory.tests): invalid memory name "memory.tests.md": it contains memory tests, not a memory; nothing was changed
    emptied: plan: operation 1 (update a): text of a.md is empty; to remove a memory, archive it; nothing was changed
    NUL: plan: operation 1 (update a): text of a.md contains a NUL character; nothing was changed
    oversized: plan: operation 1 (update a): a is 5242881 bytes; the limit is 4194304; nothing was changed
    secret: plan: operation 1 (update a): line 1 contains what looks like a secret (aws-access-key); nothing was changed
    secret in a name: plan: operation 1 (move a to [secret: aws-access-key]): name looks like a secret (aws-access-key); use another name; nothing was changed
    twice: plan: operation 2 (archive a): a.md is also changed in operation 1; nothing was changed
    wrong shape: plan: operation 1 (create no memory): expected one or more `new` lines, and a `page` line for each entrypoint line that they replace; nothing was changed
    bad version: plan: line 8: expected a 32-digit hexadecimal version, found "123"
    no text: plan: line 8: the block "### text of a.md" is missing
    stray text: plan: line 10: the operation has a block "### text of b.md" but no matching "- write:" or "- new:" line
    unknown action: plan: line 6: "delete" is not one of create, update, merge, move, archive
    unknown field: plan: line 8: unknown field "remove"
    open block: plan: line 12: the code block is not closed; expected the line "````"
    prose: plan: line 6: expected an operation such as "## 1. archive NAME", found "Please delete everything."
    nothing: plan: line 6: the operation changes nothing; to skip it, delete its section
    "####);
    for text in ["", "# Something else\n", "# Dream plan\n\n- format: 2\n", "# Dream plan\n\n## 1. archive a\n"] {
        assert!(parse(text).is_err(), "{text:?}");
    }
}

/// Wrong versions are left out and reported; a plan of nothing else is a failure.
#[test]
fn a_plan_for_other_versions_applies_nothing_and_is_a_failure() {
    let (top, memdir) = store_of(FILES);
    let v = version(&memdir, "b.md");
    let plan = parse(&plan_with(&format!(
        "## 1. archive a\n\n- move: a.md@{v} to archive/a.md\n\n## 2. archive c\n\n- move: c.md@{v} to archive/c.md\n"
    )))
    .unwrap();
    let before = bytes(top.path());
    let applied = memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap();
    assert!(applied.is_failure() && applied.change.is_none());
    let left: Vec<&str> = applied.left_out.iter().map(|left| left.why.as_str()).collect();
    assert_eq!(left, ["a.md has changed since the plan was made", "c.md no longer exists"]);
    assert_eq!(bytes(top.path()), before);
}

#[test]
fn an_edited_plan_does_what_the_person_wrote() {
    let (top, memdir) = store_of([
        ("a.md", "# Only a heading\n"),
        ("b.md", "---\nmodified: 2026-03-05\n---\n\nThe backups ran yesterday.\n"),
        ("c.md", "# Only c\n"),
    ]);
    let plan = memdir.dream(&Dream::default()).unwrap();
    let text = render(&plan);
    // Leaves the first operation out and changes the text of the last one, with the line endings of a Windows editor.
    let (head, rest) = text.split_once("\n## 1. ").unwrap();
    let (_, rest) = rest.split_once("\n## 2. ").unwrap();
    let edited = format!("{head}\n## 2. {rest}").replace("The backups ran on ", "The backups ran well on ").replace('\n', "\r\n");
    let applied = memdir.apply_dream(&ApplyDream { plan: &parse(&edited).unwrap(), limit_percent: Some(100) }).unwrap();
    assert_eq!(applied.applied, ["archive c", "update b"]);
    let files = bytes(top.path());
    assert!(files.contains_key("a.md") && files.contains_key("archive/c.md"));
    assert!(String::from_utf8_lossy(&files["b.md"]).contains("\nThe backups ran well on "), "{:?}", files["b.md"]);
}

#[test]
fn hostile_lists_of_operations_are_refused() {
    let (top, memdir) = store_of(FILES);
    let before = bytes(top.path());
    let cases = [
        ("prose", "I would archive the first one.".to_owned()),
        ("empty", String::new()),
        ("garbage", "{\"operations\": [{\"action\":".to_owned()),
        ("unknown field", r#"{"operations": [{"action": "archive", "path": "a", "shell": "rm -rf /"}]}"#.to_owned()),
        ("delete", r#"[{"action": "delete", "path": "a"}]"#.to_owned()),
        ("absolute", r#"[{"action": "create", "path": "/etc/passwd", "text": "x"}]"#.to_owned()),
        ("traversal", r#"[{"action": "create", "path": "../x", "text": "x"}]"#.to_owned()),
        ("missing", r#"[{"action": "archive", "path": "zebra"}]"#.to_owned()),
        ("no text", r#"[{"action": "update", "path": "a"}]"#.to_owned()),
        ("shrunk", r#"[{"action": "update", "path": "a", "text": "gone"}]"#.to_owned()),
        ("entrypoint", r#"[{"action": "update", "path": "MEMORY.md", "text": "all the lines that I prefer to have"}]"#.to_owned()),
        ("secret", r#"[{"action": "create", "path": "k", "text": "key AKIAQ7RHTZW4XNMP2LKD"}]"#.to_owned()),
        ("twice", r#"[{"action": "archive", "path": "a"}, {"action": "archive", "path": "a"}]"#.to_owned()),
    ];
    let mut shown = String::new();
    for (what, list) in cases {
        let error = memdir.plan_from_operations(&list).expect_err(what).to_string();
        assert!(!error.contains("AKIAQ7RHTZW4XNMP2LKD"), "{what}");
        let _ = writeln!(shown, "{what}: {error}");
    }
    insta::assert_snapshot!(shown, @r#"
    prose: operations: expected JSON such as {"operations": [{"action": "archive", "path": "notes/old", "why": "…"}]}
    empty: operations: expected JSON such as {"operations": [{"action": "archive", "path": "notes/old", "why": "…"}]}
    garbage: operations: EOF while parsing a value at line 1 column 26
    unknown field: operations: unknown field `shell`, expected one of `action`, `path`, `version`, `text`, `into`, `from`, `to`, `why` at line 1 column 58
    delete: operations: operation 1: invalid action: "delete" is not one of create, update, merge, move, archive
    absolute: operations: operation 1: invalid memory name "/etc/passwd": it is an absolute path; use a name relative to the memory directory
    traversal: operations: operation 1: invalid memory name "../x": it contains the component ".."; use a name without it
    missing: operations: operation 1: memory "zebra" not found
    no text: operations: operation 1: text is missing; update requires it
    shrunk: operations: operation 1: text keeps only 5 of 63 bytes, but must keep at least half; to remove the memory, archive it
    entrypoint: plan: operation 1 (update MEMORY): invalid memory name "MEMORY.md": it is the entrypoint or one of its pages, which memdir maintains; nothing was changed
    secret: plan: operation 1 (create k): line 1 contains what looks like a secret (aws-access-key); nothing was changed
    twice: plan: operation 2 (archive a): a.md is also changed in operation 1; nothing was changed
    "#);
    let (plan, left) = memdir
        .plan_from_operations("Here it is:\n```json\n{\"operations\": [{\"action\": \"archive\", \"path\": \"a\", \"version\": \"0123456789ab\", \"why\": \"old\"}, {\"action\": \"archive\", \"path\": \"b\", \"why\": \"old\"}]}\n```\n")
        .unwrap();
    assert_eq!((plan.operations.len(), left.len()), (1, 1), "a wrong version is left out");
    assert_eq!(bytes(top.path()), before, "nothing is changed before the plan is applied");
}

/// Everything at once is refused: a model that wants to remove the whole memory cannot.
#[test]
fn a_list_that_archives_everything_is_refused_when_it_is_applied() {
    let texts: Vec<(String, String)> = (0..40).map(|n| (format!("n{n}.md"), format!("Fact number {n} of the shop.\n"))).collect();
    let (top, memdir) = store_of(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let all: Vec<String> = (0..40).map(|n| format!("{{\"action\": \"archive\", \"path\": \"n{n}\"}}")).collect();
    let (plan, _) = memdir.plan_from_operations(&format!("[{}]", all.join(","))).unwrap();
    let before = bytes(top.path());
    let error = memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: None }).unwrap_err().to_string();
    assert!(error.starts_with("plan: it changes 40 of 40 memories"), "{error}");
    assert_eq!(bytes(top.path()), before);
}

/// Only writable mounts that keep an entrypoint are tidied, and nothing moves from one mount to another. A plan has a limited size.
#[test]
fn other_mounts_and_endless_plans_are_refused() {
    let top = tempfile::TempDir::new().unwrap();
    for (file, text) in [("memory/a.md", "A fact.\n"), ("docs/b.md", "A page.\n"), ("user/c.md", "About Ada.\n")] {
        crate::project::put(&top.path().join(file), text);
    }
    let mount = |prefix: &str, dir: &str| Mount::new(prefix, top.path().join(dir), top.path().join(format!("journal-{dir}")));
    let docs = Mount { access: Access::ReadOnly, ..mount("docs", "docs") };
    let store = FileStore::open(&[mount("", "memory"), docs, mount("user", "user")]).unwrap();
    let memdir = Memdir::new(Arc::new(store), Actor { name: "ada".into(), session: None });
    let refused = |operations: &str| {
        let plan = parse(&plan_with(operations)).unwrap();
        memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: Some(100) }).unwrap_err().to_string()
    };
    let archive =
        |number: usize, from: &str, to: &str| format!("## {number}. archive x\n\n- move: {from}.md@{} to {to}.md\n\n", "0".repeat(32));
    assert_eq!(
        refused(&archive(1, "docs/b", "docs/archive/b")),
        "plan: operation 1 (archive docs/b): invalid memory name \"docs/b.md\": it is not in a writable mount with an entrypoint; nothing was changed"
    );
    assert_eq!(
        refused(&archive(1, "a", "user/archive/a")),
        "plan: operation 1 (archive a): invalid memory name \"user/archive/a.md\": it is not in the same mount as a.md; nothing was changed"
    );
    let endless: String = (1..=1_001).map(|n| archive(n, &format!("n{n}"), &format!("archive/n{n}"))).collect();
    assert_eq!(refused(&endless), "plan: it has 1001 operations; the limit is 1000");
    let (_top, memdir) = store_of([("a.md", "# Only a heading\n")]);
    let mut plan = memdir.dream(&Dream::default()).unwrap();
    plan.operations[0].diff = "+x\n".repeat(12 << 20);
    let shelf = DreamShelf::new(top.path().join("shelf"));
    assert!(shelf.keep(&plan).unwrap_err().to_string().starts_with("the plan is "));
    assert_eq!(shelf.plans(memdir.store()).unwrap(), []);
}
