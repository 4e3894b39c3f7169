//! Input that must not become memory, from a hostile repository or by mistake: links, mounts that shadow the user's own,
//! settings that are broken on purpose, directories that contain the home directory.

use crate::{
    home::{Home, files_below},
    scope::{git, repository, run_in},
};
use insta::assert_snapshot;
use std::{fs, os::unix::fs::symlink};

/// A repository with team memory and a private directory beside it.
fn shop() -> Home {
    let home = Home::new();
    repository(&home, "shop");
    fs::create_dir_all(home.path(".ssh")).unwrap();
    fs::write(home.path(".ssh/id.md"), "secret\n").unwrap();
    home
}

fn team_settings(home: &Home, text: &str) {
    fs::create_dir_all(home.path("shop/.memdir")).unwrap();
    fs::write(home.path("shop/.memdir/config.toml"), text).unwrap();
}

#[test]
fn a_team_directory_that_is_a_link_is_reported_and_never_written() {
    let home = shop();
    symlink(home.path(".ssh"), home.path("shop/.memdir")).unwrap();
    assert_snapshot!(run_in(&home, "shop", &["where"]), @"
    project shop-[HASH]: [HOME]/shop is a git repository
    mount  directory  why
    (project)  [HOME]/home/projects/shop-[HASH] (not created yet)  [HOME]/shop is a git repository
    user/  [HOME]/home/user (not created yet)  the user's memory, in all projects
    alternative: `--dir PATH` uses one directory as the whole memory
    -- stderr
    note: [HOME]/shop/.memdir is a symbolic link; a team memory must be a directory
    ");
    assert_snapshot!(run_in(&home, "shop", &["init", "--team"]), @"
    -- stderr
    error: [HOME]/shop/.memdir is a symbolic link; a team memory must be a directory
    hint: omit --team
    -- exit 2
    ");
    assert_snapshot!(run_in(&home, "shop", &["write", "team/rule", "x"]), @r#"
    -- stderr
    error: cannot write "team/rule": [HOME]/shop/.memdir is a symbolic link; a team memory must be a directory
    -- exit 3
    "#);
    assert_eq!(files_below(&home.path(".ssh")), ["id.md"]);
}

#[test]
fn an_agent_directory_that_is_a_link_is_rejected() {
    let home = shop();
    let args = |verb: &'static str| [verb, "--agent", "reviewer", "--agent-scope", "project"];
    symlink(home.path(".ssh"), home.path("shop/.memdir-agents")).unwrap();
    assert_snapshot!(run_in(&home, "shop", &args("list")), @"
    -- stderr
    error: invalid agent: [HOME]/shop/.memdir-agents is a symbolic link; an agent's memory must be a directory
    -- exit 2
    ");
    fs::remove_file(home.path("shop/.memdir-agents")).unwrap();
    fs::create_dir(home.path("shop/.memdir-agents")).unwrap();
    symlink(home.path(".ssh"), home.path("shop/.memdir-agents/reviewer")).unwrap();
    assert_snapshot!(run_in(&home, "shop", &args("where")), @"
    -- stderr
    error: invalid agent: [HOME]/shop/.memdir-agents/reviewer is a symbolic link; an agent's memory must be a directory
    -- exit 2
    ");
    assert_eq!(files_below(&home.path(".ssh")), ["id.md"]);
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"");
}

#[test]
fn a_bare_repository_has_no_team_memory() {
    let home = Home::new();
    git(&home, "shop", &["init", "-q", "--bare"]);
    assert_snapshot!(run_in(&home, "shop", &["where"]), @"
    project shop-[HASH]: [HOME]/shop is a bare git repository
    mount  directory  why
    (project)  [HOME]/home/projects/shop-[HASH] (not created yet)  [HOME]/shop is a bare git repository
    user/  [HOME]/home/user (not created yet)  the user's memory, in all projects
    alternative: `--dir PATH` uses one directory as the whole memory
    ");
    assert_snapshot!(run_in(&home, "shop", &["init", "--team"]), @"
    -- stderr
    error: a bare git repository cannot have a team memory; use one of its worktrees
    hint: omit --team
    -- exit 2
    ");
    assert!(!home.path("shop/.memdir").exists());
}

#[test]
fn mounts_of_a_repository_do_not_shadow_other_memories() {
    let home = shop();
    fs::create_dir_all(home.path("shop/docs/deep")).unwrap();
    fs::write(home.path("shop/docs/mine.md"), "The repository's.\n").unwrap();
    run_in(&home, "shop", &["write", "notes/mine", "Mine."]);
    home.configure(&format!("[[mounts]]\nname = \"work\"\npath = \"{}\"\n", home.path("own").display()));
    let names =
        ["notes", "user/x", "User", "global", "agent/bob", "team/sub", "logs", "chats", "work", "work/in", "docs", "again", "inner"];
    let path = |name: &str| if name == "inner" { "docs/deep" } else { "docs" };
    let mounts: String = names.iter().map(|name| format!("[[mounts]]\nname = \"{name}\"\npath = \"{}\"\n", path(name))).collect();
    team_settings(&home, &format!("{mounts}[[mounts]]\nname = \"self\"\npath = \".memdir\"\n"));
    assert_snapshot!(run_in(&home, "shop", &["list"]), @r#"
    docs/mine
    notes/mine
    -- stderr
    note: [HOME]/shop/.memdir/config.toml: ignored mount "notes": it would hide your memories under "notes"
    note: [HOME]/shop/.memdir/config.toml: ignored mount "user/x": a repository cannot use the prefix user/
    note: [HOME]/shop/.memdir/config.toml: ignored mount "User": a repository cannot use the prefix User/
    note: [HOME]/shop/.memdir/config.toml: ignored mount "global": a repository cannot use the prefix global/
    note: [HOME]/shop/.memdir/config.toml: ignored mount "agent/bob": a repository cannot use the prefix agent/
    note: [HOME]/shop/.memdir/config.toml: ignored mount "team/sub": a repository cannot use the prefix team/
    note: [HOME]/shop/.memdir/config.toml: ignored mount "logs": a repository cannot use the prefix logs/
    note: [HOME]/shop/.memdir/config.toml: ignored mount "chats": a repository cannot use the prefix chats/
    note: [HOME]/shop/.memdir/config.toml: ignored mount "work": it overlaps the mount "work"
    note: [HOME]/shop/.memdir/config.toml: ignored mount "work/in": it overlaps the mount "work"
    note: [HOME]/shop/.memdir/config.toml: ignored mount "again": its files are also in docs/
    note: [HOME]/shop/.memdir/config.toml: ignored mount "inner": its files are also in docs/
    note: [HOME]/shop/.memdir/config.toml: ignored mount "self": its files are also in team/
    "#);
    assert_snapshot!(run_in(&home, "shop", &["read", "notes/mine"]).lines().next().unwrap(), @"Mine.");
    assert!(run_in(&home, "shop", &["log", "a day"]).starts_with("logged"), "{}", run_in(&home, "shop", &["log", "a day"]));
}

#[test]
fn an_invalid_setting_of_a_repository_keeps_its_restrictions() {
    let home = shop();
    for broken in ["run = 1", "ignored = [\"(\"]", "[[mounts]]\nname = \"../x\"\npath = \"docs\"", "what is this"] {
        team_settings(&home, &format!("enabled = false\n{broken}\n"));
        let output = run_in(&home, "shop", &["list"]);
        assert!(output.contains("memory is off: enabled = false in [HOME]/shop/.memdir/config.toml"), "{broken}: {output}");
    }
    team_settings(&home, "read_only = [\"fixed\", \"(?x) # \"]\n");
    fs::write(home.path("shop/.memdir/fixed.md"), "x\n").unwrap();
    assert_snapshot!(run_in(&home, "shop", &["write", "team/fixed", "y", "--replace"]), @r#"
    -- stderr
    error: cannot write "team/fixed": a read-only pattern matches its name
    hint: use another name, or change `read_only` in the settings of the mount: see `memdir where`
    -- exit 3
    "#);
}

#[test]
fn an_entrypoint_that_is_a_link_affects_only_itself() {
    let home = shop();
    fs::create_dir(home.path("shop/.memdir")).unwrap();
    symlink(home.path(".ssh/id.md"), home.path("shop/.memdir/MEMORY.md")).unwrap();
    run_in(&home, "shop", &["write", "own", "Mine."]);
    assert_snapshot!(run_in(&home, "shop", &["check"]), @r#"
    unreadable: "team/MEMORY.md" is a symbolic link, and links are not followed in a repository's memories; replace it with a regular file or directory
    own.md: type: no type; set it to user, feedback, project or reference
    team/MEMORY.md: unreadable: invalid memory name "MEMORY.md": MEMORY.md is a symbolic link, and links are not followed in a repository's memories; replace it with a regular file or directory
    2 files: 2 errors, 1 suggestion
    -- stderr
    note: 1 memory has no cues; see which with: memdir cues
    -- exit 1
    "#);
    assert_snapshot!(run_in(&home, "shop", &["entrypoint"]), @r#"
    MEMORY.md: all memories are listed
    team/MEMORY.md: invalid memory name "MEMORY.md": MEMORY.md is a symbolic link, and links are not followed in a repository's memories; replace it with a regular file or directory
    user/MEMORY.md: all memories are listed
    -- exit 1
    "#);
    assert!(run_in(&home, "shop", &["stats"]).contains("shop/.memdir"));
    let prompt = run_in(&home, "shop", &["prompt"]);
    assert!(prompt.contains("empty") && !prompt.contains("secret\n") && !prompt.contains("-- exit"), "{prompt}");
}

#[test]
fn a_team_folder_that_is_a_link_is_not_a_team_memory() {
    let home = shop();
    home.ok(&["write", "own", "Mine."]);
    symlink(home.path(".ssh"), home.memory("team")).unwrap();
    let prompt = home.run(&["prompt"]);
    assert!(prompt.contains("own.md") && !prompt.contains("-- exit") && !prompt.contains(".ssh"), "{prompt}");
    assert_snapshot!(home.run(&["write", "team/a", "x"]), @r#"
    -- stderr
    error: cannot write "team/a": [HOME]/memory/team is a symbolic link, so it cannot be a team memory
    hint: use another name
    -- exit 3
    "#);
    assert_eq!(files_below(&home.path(".ssh")), ["id.md"]);
    for output in [home.run(&["list"]), home.run(&["check"]), home.run(&["get", "team/id"]), home.run(&["doctor"]), home.run(&["where"])] {
        assert!(!output.contains("link_roots") && !output.contains(".ssh"), "{output}");
    }
    assert_snapshot!(home.run(&["list"]), @"
    own
    -- stderr
    note: [HOME]/memory/team is a symbolic link, so it cannot be a team memory
    ");
}

#[test]
fn mounts_of_a_repository_expand_neither_the_home_nor_variables() {
    let home = shop();
    fs::create_dir(home.path("shop/.memdir")).unwrap();
    let mounts = "[[mounts]]\nname = \"keys\"\npath = \"~/.ssh\"\n[[mounts]]\nname = \"env\"\npath = \"${HOME}/x\"\n";
    fs::write(home.path("shop/.memdir/config.toml"), mounts).unwrap();
    assert_snapshot!(run_in(&home, "shop", &["list"]), @r#"
    -- stderr
    note: [HOME]/shop/.memdir/config.toml: ignored mount "keys": ~ and ${VAR} are not allowed in a repository's settings
    note: [HOME]/shop/.memdir/config.toml: ignored mount "env": ~ and ${VAR} are not allowed in a repository's settings
    "#);
    let output = run_in(&home, "shop", &["where"]);
    assert!(!output.contains("keys/") && !output.contains("env/"), "{output}");
}

#[test]
fn a_write_does_not_create_a_team_memory() {
    let home = Home::new();
    assert_snapshot!(home.run(&["write", "team/a", "x"]), @r#"
    -- stderr
    error: cannot write "team/a": no team memory yet
    hint: create it with: mkdir [HOME]/memory/team
    -- exit 3
    "#);
    fs::create_dir_all(home.memory("team")).unwrap();
    home.ok(&["write", "team/a", "x"]);
    assert_eq!(home.files(), ["team/MEMORY.md", "team/a.md"]);
    fs::remove_dir_all(home.path("memory")).unwrap();
    home.configure("team = true\n");
    home.ok(&["write", "team/a", "x"]);
    assert_eq!(home.files(), ["team/MEMORY.md", "team/a.md"]);
}

#[test]
fn a_directory_that_contains_the_home_is_not_a_memory() {
    let home = Home::new();
    let with = |dir: &str| home.transcript(&[dir], home.bare(&["list", "--dir", dir]).output().unwrap());
    assert_snapshot!(with("~"), @"
    -- stderr
    error: --dir: [HOME] is your home directory; every file in it would become a memory
    hint: use a separate directory such as ~/notes
    -- exit 3
    ");
    assert_snapshot!(with("/"), @"
    -- stderr
    error: --dir: / is the root of the file system; every file in it would become a memory
    hint: use a separate directory such as ~/notes
    -- exit 3
    ");
    for dir in ["~/", "~/.", "~/..", "..", "//host/x", "C:\\"] {
        assert!(with(dir).ends_with("-- exit 3\n"), "{dir}: {}", with(dir));
    }
    let by_variable = home.bare(&["list"]).env("MEMDIR_DIR", "~").output().unwrap();
    assert_snapshot!(home.transcript(&["list"], by_variable), @"
    -- stderr
    error: MEMDIR_DIR: [HOME] is your home directory; every file in it would become a memory
    hint: use a separate directory such as ~/notes
    -- exit 3
    ");
    home.configure("[[mounts]]\nname = \"all\"\npath = \"~\"\n");
    assert_snapshot!(home.run_bare(&["list"]), @r#"
    -- stderr
    error: [HOME]/home/config.toml: mount "all": [HOME] is your home directory; every file in it would become a memory
    hint: use a separate directory such as ~/notes
    -- exit 3
    "#);
    home.configure("[memory]\nextraPaths = [\"~\"]\n");
    assert_snapshot!(home.run_bare(&["list"]), @"
    -- stderr
    note: memory.extraPaths: [HOME] is your home directory; every file in it would become a memory
    ");
    home.configure("[[mounts]]\nname = \"some\"\npath = \"~\"\nonly = [\"NOTES.md\"]\n");
    fs::write(home.path("NOTES.md"), "x\n").unwrap();
    assert_snapshot!(home.run_bare(&["list"]), @"some/NOTES");
}

#[test]
fn a_link_in_a_repositorys_memories_is_rejected_without_a_hint_to_allow_it() {
    let home = shop();
    fs::create_dir_all(home.path("shop/.memdir")).unwrap();
    symlink(home.path(".ssh"), home.path("shop/.memdir/keys")).unwrap();
    assert_snapshot!(run_in(&home, "shop", &["read", "team/keys/id"]), @r#"
    -- stderr
    error: invalid memory name "keys/id": keys is a symbolic link, and links are not followed in a repository's memories; replace it with a regular file or directory
    -- exit 2
    "#);
}
