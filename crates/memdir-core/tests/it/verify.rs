//! Verifying: what a memory names, and whether a real repository still has it.

use crate::{
    operations::{Home, path},
    project::{git, place, put, repository},
};
use memdir_core::{
    MentionKind, Verify, Write,
    internal::{
        operations::verify::{self, ProjectLookup},
        project::{self, Worktrees},
    },
};
use std::fs;

fn named(text: &str) -> Vec<(MentionKind, String, u64)> {
    verify::mentions(text).into_iter().map(|named| (named.what, named.text, named.line)).collect()
}

#[test]
fn paths_commands_symbols_commits_and_links_are_named() {
    let text = "See `src/db.rs:42` and docs/setup.md, not and/or.\n\
                Run `npm run build` after commit 1a2b3c4; `parse_config()` and `Store::put` changed in `9f8e7d6c5b`.\n\
                [issue](https://example.com/x/1) or `Cargo.toml`, `target/`, `README`.\n\
                ```sh\n$ make deploy\nls src/x.rs\n```\n\
                ```rust\nlet a = other_symbol();\n```\n\
                `text/html` `feature/x` `v1.2.3` `e.g.` `~/.ssh/config.toml` `../up.rs` `*.rs` `snake_case` `word` `HashMap` src/db.rs";
    let expected = [
        (MentionKind::Path, "src/db.rs", 1),
        (MentionKind::Path, "docs/setup.md", 1),
        (MentionKind::Commit, "1a2b3c4", 2),
        (MentionKind::Command, "npm run build", 2),
        (MentionKind::Symbol, "parse_config", 2),
        (MentionKind::Symbol, "Store::put", 2),
        (MentionKind::Commit, "9f8e7d6c5b", 2),
        (MentionKind::Link, "https://example.com/x/1", 3),
        (MentionKind::Path, "Cargo.toml", 3),
        (MentionKind::Path, "target/", 3),
        (MentionKind::Command, "make deploy", 5),
        (MentionKind::Symbol, "snake_case", 11),
        (MentionKind::Symbol, "HashMap", 11),
    ];
    let mut found = named(text);
    found.sort_by_key(|(_, _, line)| *line);
    let mut expected = expected.map(|(what, text, line)| (what, text.to_owned(), line)).to_vec();
    let key = |named: &(MentionKind, String, u64)| (named.2, named.0, named.1.clone());
    found.sort_by_key(key);
    expected.sort_by_key(key);
    assert_eq!(found, expected);
}

/// A repository with a few files, a packed and a loose commit, and a memory about it.
#[test]
fn what_no_longer_exists_is_reported_and_a_true_memory_gets_a_date() {
    let (_temp, top) = place();
    let shop = repository(top.join("shop"));
    put(&shop.join("web/src/db.rs"), "fn open_pool() {}\n");
    put(&shop.join("package.json"), r#"{"scripts": {"build": "x"}}"#);
    put(&shop.join("Makefile"), "deploy: build\n\techo\n");
    git(&shop, &["add", "."]);
    git(&shop, &["commit", "-q", "-m", "files"]);
    // A short name of a commit; one of digits alone would be a number.
    let head = |dir: &std::path::Path| {
        let hash = fs::read_to_string(dir.join(".git/refs/heads/main")).unwrap();
        (10..40).map(|n| hash[..n].to_owned()).find(|short| short.contains(|c: char| c.is_ascii_alphabetic())).unwrap()
    };
    let packed = head(&shop);
    git(&shop, &["gc", "-q"]);
    git(&shop, &["commit", "-q", "--allow-empty", "-m", "later"]);
    let loose = head(&shop);
    let project = project::find(&shop, Worktrees::Shared).unwrap();

    let home = Home::new();
    let memdir = home.open();
    let truth = format!("`src/db.rs` has `open_pool()`, `web/`, `npm run build`, `make deploy`, `{packed}`, `{loose}`, `elsewhere/x.rs`\n");
    memdir.write(&Write::create(path("truth"), truth)).unwrap();
    let verified = memdir.verify(&Verify { path: path("truth"), project: Some(&project), anyway: false, history: None }).unwrap();
    let texts = |named: &[verify::Mention]| named.iter().map(|named| named.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&verified.gone), Vec::<String>::new());
    assert_eq!(texts(&verified.unknown), ["elsewhere/x.rs"], "a folder that never was may be another project's");
    assert_eq!(texts(&verified.found), ["src/db.rs", "open_pool", "web/", "npm run build", "make deploy", &packed, &loose]);
    assert!(verified.stamped);
    assert!(home.file("truth.md").starts_with("---\nlast_verified: 2026-03-01\n---\n"), "{}", home.file("truth.md"));

    let stale = "`web/src/old.rs` has `close_pool()`, `npm run lint`, `make clean`, commit abcdef0123, `gone.py`\n";
    memdir.write(&Write::create(path("stale"), stale)).unwrap();
    let verified = memdir.verify(&Verify { path: path("stale"), project: Some(&project), anyway: false, history: None }).unwrap();
    let expected = ["web/src/old.rs", "close_pool", "npm run lint", "make clean"];
    assert_eq!(texts(&verified.gone), expected);
    assert_eq!(texts(&verified.unknown), ["abcdef0123", "gone.py"], "nothing shows that they ever were there");
    assert!(!verified.stamped && verified.change.is_none());
    assert_eq!(home.file("stale.md"), stale);
    let quick = ["web/src/old.rs", "npm run lint", "make clean"];
    assert_eq!(texts(&verify::missing_mentions(&ProjectLookup::new(&project), stale)), quick, "a recall reads no sources");
    let anyway = memdir.verify(&Verify { path: path("stale"), project: Some(&project), anyway: true, history: None }).unwrap();
    assert!(anyway.stamped && home.file("stale.md").contains("last_verified: 2026-03-01"));
}

#[test]
fn without_a_project_no_mention_is_reported_as_missing() {
    let home = Home::new();
    let memdir = home.open();
    memdir.write(&Write::create(path("a"), "`src/gone.rs`\n")).unwrap();
    let verified = memdir.verify(&Verify { path: path("a"), project: None, anyway: false, history: None }).unwrap();
    assert_eq!((verified.gone.len(), verified.unknown.len(), verified.stamped), (0, 1, true));
    let missing = memdir.verify(&Verify { path: path("b"), project: None, anyway: false, history: None });
    assert_eq!(missing.unwrap_err().code(), "not_found");
}

#[test]
fn a_mention_that_may_never_have_existed_is_not_reported() {
    let (_temp, top) = place();
    let shop = repository(top.join("shop"));
    put(&shop.join("src/db.rs"), "fn open_pool() {}\n");
    git(&shop, &["add", "."]);
    git(&shop, &["commit", "-q", "-m", "files"]);
    let project = project::find(&shop, Worktrees::Shared).unwrap();
    let home = Home::new();
    let memdir = home.open();
    let check = |name: &str, text: &str| {
        memdir.write(&Write::create(path(name), text)).unwrap();
        let verified = memdir.verify(&Verify { path: path(name), project: Some(&project), anyway: false, history: None }).unwrap();
        let shown = verify::missing(memdir.store(), Some(&ProjectLookup::new(&project)), &path(&format!("{name}.md")), text).unwrap();
        (verified.gone.into_iter().map(|named| named.text).collect::<Vec<_>>(), shown)
    };
    let none = (vec![], vec![]);
    let foreign = "Take `useState`, `HashMap`, `tokio::spawn` and `DATABASE_URL`; the `user_id` column; see `README.md`, README.md, `dist/`; `3f2a1b9c`.\n";
    assert_eq!(check("foreign", foreign), none);
    assert_eq!(check("far", "The pool of src/db.rs is small. Call `setTimeout()` and `useEffect` in the browser.\n"), none);
    assert_eq!(check("denied", "Never use `useState` in src/db.rs.\n"), none);
    assert_eq!(check("library", "`tokio::spawn` in src/db.rs\n"), none);
    assert_eq!(check("elsewhere", "`other_fn()` in lib/other.rs\n"), none);
    for (name, text) in [
        ("in", "`close_pool()` in src/db.rs\n"),
        ("has", "src/db.rs: `open_pool()` and `close_pool`\n"),
        ("defined", "`close_pool` is defined in `src/old.rs`.\n"),
        ("module", "`db::close_pool` of src/db.rs\n"),
    ] {
        let (gone, shown) = check(name, text);
        let symbol = gone.iter().find(|text| text.ends_with("close_pool")).unwrap_or_else(|| panic!("{name}: {gone:?}"));
        assert_eq!(shown, [format!("{symbol}, which does not occur in any tracked file")], "{name}");
    }
}

#[test]
fn a_commit_in_the_reflog_whose_object_is_missing_is_reported() {
    let (_temp, top) = place();
    let shop = repository(top.join("shop"));
    git(&shop, &["commit", "-q", "--allow-empty", "-m", "lost"]);
    let lost = fs::read_to_string(shop.join(".git/refs/heads/main")).unwrap().trim().to_owned();
    git(&shop, &["commit", "-q", "--amend", "--allow-empty", "-m", "kept"]);
    let project = project::find(&shop, Worktrees::Shared).unwrap();
    let check = |id: &str| verify::missing_mentions(&ProjectLookup::new(&project), &format!("since commit {id}\n")).len();
    assert_eq!(check(&lost), 0);
    fs::remove_file(shop.join(".git/objects").join(&lost[..2]).join(&lost[2..])).unwrap();
    assert_eq!((check(&lost), check("3f2a1b9c")), (1, 0));
}
