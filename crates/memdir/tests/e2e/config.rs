//! Settings: options, the environment, `config.toml`.

use crate::home::{Home, files_below};
use insta::assert_snapshot;
use std::fs;

#[test]
fn the_settings_in_effect_are_shown_with_their_origin() {
    let home = Home::new();
    assert_snapshot!(home.run_narrow(&["config"]), @"
    setting  value  from
    home  [HOME]/home  MEMDIR_HOME
    dir  [HOME]/memory  MEMDIR_DIR
    actor  ada  USER
    config  [HOME]/home/config.toml  not found

    mount  access  directory
    (root)  read-write  [HOME]/memory
    ");
    assert_snapshot!(home.run_narrow(&["config", "--dir", "../other", "--actor", "bob"]), @"
    setting  value  from
    home  [HOME]/home  MEMDIR_HOME
    dir  [HOME]/other  --dir
    actor  bob  --actor
    config  [HOME]/home/config.toml  not found

    mount  access  directory
    (root)  read-write  [HOME]/other
    ");
    assert_snapshot!(home.run(&["config", "--json"]), @r#"
    {
      "settings": [
        {
          "name": "home",
          "value": "[HOME]/home",
          "from": "MEMDIR_HOME"
        },
        {
          "name": "dir",
          "value": "[HOME]/memory",
          "from": "MEMDIR_DIR"
        },
        {
          "name": "actor",
          "value": "ada",
          "from": "USER"
        },
        {
          "name": "config",
          "value": "[HOME]/home/config.toml",
          "from": "not found"
        }
      ],
      "mounts": [
        {
          "name": "",
          "path": "[HOME]/memory",
          "access": "read-write",
          "source": "memory",
          "entrypoint": "kept",
          "journal": "[HOME]/home/journal/memory-[HASH]"
        }
      ]
    }
    "#);
}

#[test]
fn tilde_and_variables_are_expanded_in_every_path() {
    let home = Home::new();
    home.configure(
        "[[mounts]]\nname = \"notes\"\npath = \"~/notes\"\n[[mounts]]\nname = \"work\"\npath = \"${WORK}/w\"\njournal = \"~/j\"\n",
    );
    let write = |name: &str| home.bare(&["write", name, "x"]).env("WORK", home.path("srv")).output().unwrap();
    assert!(write("notes/a").status.success());
    assert!(write("work/b").status.success());
    assert_eq!(files_below(&home.path("notes")), ["MEMORY.md", "a.md"]);
    assert_eq!(files_below(&home.path("srv")), ["w/MEMORY.md", "w/b.md"]);
    assert!(home.path("j/changes.log").is_file());
    let output = home.bare(&["write", "c", "x", "--dir", "~/${WORK}"]).env("WORK", "named").output().unwrap();
    assert!(output.status.success());
    assert_eq!(files_below(&home.path("named")), ["MEMORY.md", "c.md"]);
    assert_snapshot!(home.run_bare(&["list"]), @r#"
    -- stderr
    error: [HOME]/home/config.toml:6:8: "${WORK}/w": variable WORK is not set
    hint: fix the line; docs/reference/config.md lists all settings
    -- exit 3
    "#);
}

#[test]
fn an_invalid_file_is_an_error_with_line_and_hint() {
    let home = Home::new();
    home.configure("[[mounts]]\nname = \"a\"\npath = 7\n");
    assert_snapshot!(home.run(&["list"]), @"
    -- stderr
    error: [HOME]/home/config.toml:3:8: invalid type: integer `7`, expected a string
    hint: fix the line; docs/reference/config.md lists all settings
    -- exit 3
    ");
    assert_snapshot!(home.run(&["list", "--json"]), @r#"
    {
      "error": {
        "code": "settings",
        "message": "[HOME]/home/config.toml:3:8: invalid type: integer `7`, expected a string",
        "hint": "fix the line; docs/reference/config.md lists all settings"
      }
    }
    -- exit 3
    "#);
    home.configure("[[mounts]]\nname = \"a\"\npath = \"../a\"\nacess = \"read-only\"\n");
    assert_snapshot!(home.run(&["list"]), @"
    -- stderr
    note: [HOME]/home/config.toml:4:1: unknown setting mounts.acess; did you mean mounts.access?
    ");
    home.configure("[[mounts]]\nname = \"a\"\npath = \"../a\"\nignored = [\"(\"]\n");
    assert_snapshot!(home.run_bare(&["list"]), @r#"
    -- stderr
    error: invalid ignored pattern: "(": Parsing error at position 7: Opening parenthesis without closing parenthesis
    hint: edit [HOME]/home/config.toml; `memdir config` shows the settings in effect
    -- exit 3
    "#);
    home.configure("[[mounts]]\nname = \"a\"\npath = \"../a\"\n[[mounts]]\nname = \"b\"\npath = \"../a/b\"\n");
    assert_snapshot!(home.run_bare(&["list"]), @"
    -- stderr
    error: invalid mounts: [HOME]/a/b is inside [HOME]/a; mount only one of them
    hint: edit [HOME]/home/config.toml; `memdir config` shows the settings in effect
    -- exit 3
    ");
}

#[test]
fn extra_paths_are_read_and_never_written() {
    let home = Home::new();
    fs::create_dir_all(home.path("docs/deep")).unwrap();
    fs::write(home.path("docs/one.md"), "One.\n").unwrap();
    fs::write(home.path("docs/deep/two.md"), "Two.\n").unwrap();
    fs::write(home.path("docs/deep/code.rs"), "fn main() {}\n").unwrap();
    fs::write(home.path("CLAUDE.md"), "Instructions.\n").unwrap();
    home.configure("memory.extraPaths = [\"~/docs\", \"~/CLAUDE.md\", \"~/docs/**/*.md\", \"~/none\"]\n");
    assert_snapshot!(home.run_bare(&["list"]), @"
    CLAUDE/CLAUDE
    docs-2/deep/two
    docs-2/one
    docs/deep/code.rs
    docs/deep/two
    docs/one
    -- stderr
    note: memory.extraPaths: [HOME]/none does not exist
    ");
    assert_snapshot!(home.run_bare(&["read", "CLAUDE/CLAUDE"]), @"
    Instructions.
    -- stderr
    note: memory.extraPaths: [HOME]/none does not exist
    ");
    assert_snapshot!(home.run_bare(&["write", "docs/three", "x"]), @r#"
    -- stderr
    error: cannot write "docs/three": its mount "[HOME]/docs" is read-only
    hint: use a name in a writable mount; list the mounts with: memdir where
    -- exit 3
    "#);
    assert_eq!(files_below(&home.path("docs")), ["deep/code.rs", "deep/two.md", "one.md"]);
}

#[test]
fn a_directory_inside_a_mount_is_guarded_by_the_mounts_lock() {
    let home = Home::new();
    home.configure("[[mounts]]\nname = \"notes\"\npath = \"../notes\"\nread_only = [\"fixed\"]\n");
    fs::create_dir_all(home.path("notes/deep")).unwrap();
    fs::write(home.path("notes/fixed.md"), "x").unwrap();
    let inside: serde_json::Value =
        serde_json::from_slice(&home.bare(&["config", "--json", "--dir", "../notes/deep"]).output().unwrap().stdout).unwrap();
    assert_eq!(inside["mounts"][0]["lock"].as_str(), home.path("notes").to_str());
    // While another process holds the lock of the mount, a write to the directory inside waits.
    let lock = fs::File::open(home.path("notes")).unwrap();
    lock.lock().unwrap();
    let mut child = home.bare(&["write", "a", "x", "--dir", "../notes/deep"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let waiting = format!(" {} ", child.id());
    while !fs::read_to_string("/proc/locks").unwrap().lines().any(|line| line.contains("->") && line.contains(&waiting)) {
        assert!(child.try_wait().unwrap().is_none(), "it did not wait for the lock");
        std::thread::yield_now();
    }
    assert!(!home.path("notes/deep/a.md").exists());
    drop(lock);
    assert!(child.wait().unwrap().success());
    assert!(home.path("notes/deep/a.md").exists());
    // The mount keeps its rules when it is used with --dir.
    assert_snapshot!(home.run_bare(&["write", "fixed", "y", "--replace", "--dir", "../notes"]), @r#"
    -- stderr
    error: cannot write "fixed": a read-only pattern matches its name
    hint: use a name in a writable mount; list the mounts with: memdir where
    -- exit 3
    "#);
}

#[test]
fn one_file_as_extra_path_does_not_mount_its_directory() {
    let home = Home::new();
    fs::create_dir_all(home.path("large/deep")).unwrap();
    fs::write(home.path("large/CLAUDE.md"), "Instructions.\n").unwrap();
    fs::write(home.path("large/deep/CLAUDE.md"), "Not these.\n").unwrap();
    std::os::unix::fs::symlink("/etc", home.path("large/link")).unwrap();
    home.configure("memory.extraPaths = [\"~/large/CLAUDE.md\"]\n");
    assert_eq!(home.run_bare(&["list"]), "CLAUDE/CLAUDE\n");
    assert_snapshot!(home.run_bare(&["read", "CLAUDE/deep/CLAUDE"]), @r#"
    -- stderr
    error: memory "CLAUDE/deep/CLAUDE" not found
    hint: did you mean "CLAUDE/CLAUDE"?
    -- exit 1
    "#);
}

#[test]
fn a_home_must_be_separate_and_reading_does_not_create_it() {
    let home = Home::new();
    let printed = |value: &std::path::Path, args: &[&str]| {
        let output = home.bare(args).env("MEMDIR_HOME", value).output().unwrap();
        home.tell(args, output)
    };
    assert_snapshot!(printed(&home.path(""), &["list"]), @"
    -- stderr
    error: MEMDIR_HOME: [HOME] contains your home directory
    hint: use a separate directory such as ~/.memdir
    -- exit 3
    ");
    assert_snapshot!(printed(std::path::Path::new("/"), &["list"]), @"
    -- stderr
    error: MEMDIR_HOME: / is too close to the root of the file system
    hint: use a separate directory such as ~/.memdir
    -- exit 3
    ");
    assert_snapshot!(home.run_bare(&["--home", "/", "where"]), @"
    -- stderr
    error: --home: / is too close to the root of the file system
    hint: use a separate directory such as ~/.memdir
    -- exit 3
    ");
    for args in [&["list"][..], &["where"], &["search", "x"], &["recall", "x y z"], &["stats"], &["check"], &["history"]] {
        printed(&home.path("none/yet"), args);
        assert!(!home.path("none").exists(), "{args:?} made a home");
    }
    printed(&home.path("none/yet"), &["write", "a", "A."]);
    printed(&home.path("none/yet"), &["list"]);
    assert!(home.path("none/yet/projects").is_dir());
}
