//! `memdir check --diff`: which memories a range of commits makes doubtful; and `memdir verify` of anchored sources.

use crate::{
    home::Home,
    scope::{git, repository, run_in},
};
use insta::assert_snapshot;
use std::fs;

fn put(home: &Home, name: &str, text: &str) {
    let path = home.path("shop").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn commit(home: &Home, message: &str) {
    git(home, "shop", &["add", "-A"]);
    git(home, "shop", &["commit", "-q", "-m", message]);
}

/// A repository with sources, and memories about them.
fn shop() -> Home {
    let home = Home::new();
    repository(&home, "shop");
    put(&home, "src/db.rs", "// head\nfn open_pool() {\n    connect(5)\n}\n\nfn close() {}\n");
    put(&home, "src/old.rs", "fn legacy_path() {}\n");
    put(&home, "migrations/1.sql", "create table a;\n");
    put(&home, "README.md", "Shop\n");
    commit(&home, "base");
    git(&home, "shop", &["tag", "base"]);
    let blob = String::from_utf8(
        std::process::Command::new("git").args(["hash-object", "src/db.rs"]).current_dir(home.path("shop")).output().unwrap().stdout,
    )
    .unwrap();
    let blob = &blob[..10];
    let memory = |name: &str, text: &str| {
        let path = home.path("home/projects").join(id(&home)).join(format!("{name}.md"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    memory("pool", &format!("---\ntype: project\nsources: [src/db.rs@{blob}:2-4]\n---\n\nThe pool has five connections.\n"));
    memory("close", &format!("---\ntype: project\nsources: [src/db.rs@{blob}:6]\n---\n\nClosing is cheap.\n"));
    memory("symbols", "---\ntype: project\n---\n\n`legacy_path()` is used nowhere; `open_pool()` is in `src/db.rs`.\n");
    memory("paths", "---\ntype: project\n---\n\nSee `src/old.rs` and `README.md`.\n");
    memory(
        "rule",
        "---\ntype: feedback\ndescription: Ask before you change a migration\nwhen:\n  path: migrations/**\n---\n\nAsk first.\n",
    );
    memory("tea", "---\ntype: project\n---\n\nTea at 80 degrees.\n");
    home
}

/// The id of the project's memory.
fn id(home: &Home) -> String {
    let output = home.bare(&["where", "--json"]).current_dir(home.path("shop")).output().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    value["project"].as_str().unwrap_or_else(|| panic!("{value:#}")).to_owned()
}

fn change(home: &Home) {
    put(home, "src/db.rs", "// head\n// more\nfn open_pool() {\n    connect(9)\n}\n\nfn close() {}\n");
    fs::remove_file(home.path("shop/src/old.rs")).unwrap();
    put(home, "migrations/1.sql", "create table b;\n");
    put(home, "a|b`c.md", "hostile name\n");
    commit(home, "change");
}

#[test]
fn doubtful_memories_and_rules_are_reported() {
    let home = shop();
    change(&home);
    assert_snapshot!(run_in(&home, "shop", &["check", "--diff", "base..HEAD"]), @"
    paths
      mentions src/old.rs (line 5), which the change removes
    pool
      cites src/db.rs@ae59ba4541:2-4, which the change edits
    symbols
      mentions legacy_path (line 5), which the change removes
      mentions src/db.rs (line 5), which the change edits
    rule  tell rule for migrations/1.sql: Ask before you change a migration
    4 changed files: 3 memories may be outdated, 1 rule applies
    ");
    assert_snapshot!(run_in(&home, "shop", &["check", "--diff", "base..HEAD", "--format", "markdown"]), @"
    ### memdir: 4 changed files: 3 memories may be outdated, 1 rule applies

    | memory | why |
    |---|---|
    | `paths` | mentions `src/old.rs` (line 5), which the change removes |
    | `pool` | cites `src/db.rs@ae59ba4541:2-4`, which the change edits |
    | `symbols` | mentions `legacy_path` (line 5), which the change removes<br>mentions `src/db.rs` (line 5), which the change edits |

    | rule | strength | files |
    |---|---|---|
    | `rule` | tell | `migrations/1.sql` |

    Check each memory: run `memdir verify NAME` if it is still correct, or update it in this change.
    ");
    let strict = run_in(&home, "shop", &["check", "--diff", "base..HEAD", "--strict", "--json"]);
    assert!(strict.ends_with("-- exit 1\n"), "{strict}");
    let value: serde_json::Value = serde_json::from_str(strict.trim_end_matches("-- exit 1\n")).unwrap();
    assert_eq!(value["doubtful"][1]["reasons"][0]["why"], "source");
    assert_eq!(value["rules"][0]["files"][0], "migrations/1.sql");
    // Nothing is doubtful: exit 0 even with --strict.
    assert_snapshot!(run_in(&home, "shop", &["check", "--diff", "HEAD..HEAD", "--strict"]), @"0 changed files: 0 memories may be outdated, 0 rules apply");
}

#[test]
fn a_memory_that_the_change_updates_is_not_doubtful() {
    let home = shop();
    put(&home, ".memdir/db.md", "---\ntype: project\n---\n\n`src/db.rs` opens the pool.\n");
    commit(&home, "team memory");
    git(&home, "shop", &["tag", "-f", "base"]);
    put(&home, ".memdir/db.md", "---\ntype: project\n---\n\n`src/db.rs` opens the pool with nine connections.\n");
    put(&home, "src/db.rs", "fn open_pool() { connect(9) }\n");
    commit(&home, "change");
    let output = run_in(&home, "shop", &["check", "--diff", "base..HEAD", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!(value["updated"], serde_json::json!(["team/db"]));
}

#[test]
fn a_wrong_range_is_a_usage_error() {
    let home = shop();
    for range in ["nosuch..HEAD", "--output=/tmp/x", "HEAD..--no-index"] {
        let output = run_in(&home, "shop", &["check", &format!("--diff={range}")]);
        assert!(output.ends_with("-- exit 2\n") && output.contains("hint: "), "{range}: {output}");
    }
    assert!(run_in(&home, "work", &["check", "--diff", "a..b"]).contains("--diff requires the project's git repository"));
    assert!(run_in(&home, "shop", &["check", "--format", "markdown"]).contains("-- exit 2"));
}

/// git fails with one status for every cause.
#[test]
fn the_hint_of_a_failed_diff_depends_on_its_cause() {
    let home = shop();
    assert_snapshot!(run_in(&home, "shop", &["check", "--diff", "nosuch..HEAD"]), @"
    -- stderr
    error: --diff nosuch..HEAD: bad revision 'nosuch..HEAD'
    hint: use commits that exist in this clone, for example: memdir check --diff origin/main..HEAD
    -- exit 2
    ");
    let tree = std::process::Command::new("git").args(["rev-parse", "base^{tree}"]).current_dir(home.path("shop")).output().unwrap();
    let tree = String::from_utf8(tree.stdout).unwrap();
    change(&home);
    fs::remove_file(home.path("shop/.git/objects").join(&tree[..2]).join(tree[2..].trim())).unwrap();
    assert_snapshot!(run_in(&home, "shop", &["check", "--diff", "base..HEAD"]).replace(tree.trim(), "[TREE]"), @"
    -- stderr
    error: --diff base..HEAD: unable to read tree [TREE]
    hint: see the whole error with: git -C [HOME]/shop diff base..HEAD
    -- exit 3
    ");
    fs::write(home.path("shop/.git/config"), "[core\n").unwrap();
    assert_snapshot!(run_in(&home, "shop", &["check", "--diff", "base..HEAD"]), @"
    -- stderr
    error: --diff base..HEAD: bad config line 1 in file .git/config
    hint: git cannot read this repository; see why with: git -C [HOME]/shop status
    -- exit 3
    ");
}

/// Where there is no repository, nothing is missing in its history.
#[test]
fn an_anchored_source_without_a_repository_names_the_cause() {
    let home = Home::new();
    home.put("pool.md", "---\nsources: [src/db.rs@ae59ba4541:2-4]\n---\n\nThe pool has five connections.\n");
    assert_snapshot!(home.run(&["verify", "pool"]), @"
    source   src/db.rs@ae59ba4541:2-4: cannot be checked, because no git history is available here
    verified pool
    ");
}

#[test]
fn verify_follows_anchored_lines_through_commits() {
    let home = shop();
    assert_snapshot!(run_in(&home, "shop", &["verify", "pool"]), @"
    source  src/db.rs@ae59ba4541:2-4: unchanged
    verified pool
    ");
    change(&home);
    put(&home, "src/db.rs", "// head\n// more\nfn open_pool() {\n    connect(12)\n}\n\nfn close() {}\n");
    commit(&home, "again");
    assert_snapshot!(run_in(&home, "shop", &["verify", "pool"]), @"
    changed  src/db.rs@ae59ba4541:2-4: changed 2 times since this version
    -- stderr
    note: not verified; correct the memory, or mark it as verified with --force
    -- exit 1
    ");
    assert_snapshot!(run_in(&home, "shop", &["verify", "close"]), @"
    source  src/db.rs@ae59ba4541:6: unchanged, now at line 7
    verified close
    ");
    // A person who has checked the changed lines confirms it: then the memory is anchored to the current lines.
    assert_snapshot!(run_in(&home, "shop", &["verify", "pool", "--force"]), @"
    changed  src/db.rs@ae59ba4541:2-4: changed 2 times since this version
    verified pool
    ");
    assert_snapshot!(run_in(&home, "shop", &["verify", "pool"]), @"
    source  src/db.rs@d6b6d94d27:3-5: unchanged
    verified pool
    ");
    fs::remove_file(home.path("shop/src/db.rs")).unwrap();
    assert_snapshot!(run_in(&home, "shop", &["verify", "close"]), @"
    changed  src/db.rs@d6b6d94d27:7: the file no longer exists
    -- stderr
    note: not verified; correct the memory, or mark it as verified with --force
    -- exit 1
    ");
}
