//! `memdir list`.

use crate::home::Home;
use insta::assert_snapshot;

fn home() -> Home {
    let home = Home::new();
    home.ok(&["write", "notes/deploy", "x", "--type", "project", "--description", "When we deploy"]);
    home.ok(&["write", "notes/tests/slow", "y".repeat(3000).as_str(), "--type", "feedback"]);
    home.ok(&["write", "ada", "z"]);
    home
}

#[test]
fn names_a_table_or_a_tree() {
    let home = home();
    assert_snapshot!(home.run(&["list"]), @"
    ada
    notes/deploy
    notes/tests/slow
    ");
    assert_snapshot!(home.run(&["list", "--long"]), @"
    name              type      size      age    description
    ada               -         2 bytes   today
    notes/deploy      project   53 bytes  today  When we deploy
    notes/tests/slow  feedback  3 KB      today
    ");
    assert_snapshot!(home.run(&["list", "--tree"]), @"
    ada
    notes/
      deploy
      tests/
        slow
    ");
    assert_snapshot!(home.run(&["list", "notes/tests", "--json"]), @r#"
    {
      "memories": [
        {
          "name": "notes/tests/slow",
          "path": "notes/tests/slow.md",
          "bytes": 3025,
          "age": "today",
          "age_days": 0,
          "type": "feedback"
        }
      ]
    }
    "#);
}

#[test]
fn by_topic_type_age_and_size() {
    let home = home();
    home.put("old.md", "---\nlast_verified: 2020-01-01\n---\n\nold\n");
    assert_eq!(home.ok(&["list", "notes"]), "notes/deploy\nnotes/tests/slow\n");
    assert_eq!(home.ok(&["list", "note"]), "");
    assert_eq!(home.ok(&["list", "--type", "feedback"]), "notes/tests/slow\n");
    assert_eq!(home.ok(&["list", "--older", "30"]), "old\n");
    assert_eq!(home.ok(&["list", "--newer", "30"]), "ada\nnotes/deploy\nnotes/tests/slow\n");
    assert_eq!(home.ok(&["list", "--min-bytes", "3000"]), "notes/tests/slow\n");
    assert_snapshot!(home.run(&["list", "--type", "wish"]), @r#"
    -- stderr
    error: invalid type: "wish" is not one of user, feedback, project, reference
    -- exit 2
    "#);
}

#[test]
fn files_that_cannot_be_listed_are_reported() {
    let home = Home::new();
    home.put("Case.md", "x");
    home.put("case.md", "x");
    home.put("bad\\name.md", "x");
    std::os::unix::fs::symlink("/etc", home.memory("etc")).unwrap();
    assert_snapshot!(home.run(&["list"]), @r#"
    Case
    case
    -- stderr
    note: "Case.md" and "case.md" differ only in case or Unicode normalization; rename one of them
    note: "bad\\name.md" is not a valid memory name: it contains a backslash; use `/` between components
    note: "etc" is a symbolic link that points outside the directory; to allow it, add `link_roots = ["/etc"]` to the `[[mounts]]` entry with `path = "[HOME]/memory"` in memdir's config.toml
    "#);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let home = home();
    for n in 0..2_000 {
        home.put(&format!("many/memory-with-a-name-that-fills-the-pipe-{n}.md"), "x");
    }
    let binary = env!("CARGO_BIN_EXE_memdir");
    let script = format!("{binary} list | head -n 1; echo \"${{PIPESTATUS[0]}}\"");
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", &script]).env("MEMDIR_DIR", home.path("memory")).env("MEMDIR_HOME", home.path("home"));
    let output = shell.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ada\n0\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
