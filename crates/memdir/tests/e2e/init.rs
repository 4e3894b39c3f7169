//! `memdir init`.

use crate::home::Home;
use insta::assert_snapshot;
use std::fs;

#[test]
fn a_directory_is_created_with_an_entrypoint() {
    let home = Home::new();
    assert_snapshot!(home.run(&["init"]), @"
    created [HOME]/memory with MEMORY.md
    next: memdir write NAME TEXT
    ");
    assert_snapshot!(home.run(&["init"]), @"
    already initialized: [HOME]/memory
    next: memdir write NAME TEXT
    ");
    assert_eq!(home.files(), ["MEMORY.md"]);
    assert_snapshot!(home.run(&["init", "--json"]), @r#"
    {
      "root": "[HOME]/memory",
      "prefix": "",
      "created": []
    }
    "#);
}

#[test]
fn a_team_memory_in_a_repository() {
    let home = Home::new();
    assert_snapshot!(home.run_bare(&["init", "--team"]), @"
    -- stderr
    error: a team memory requires a git repository
    hint: run the command in a git repository, or omit --team
    -- exit 2
    ");
    assert_snapshot!(home.run_bare(&["--only", "notes", "init"]), @"
    -- stderr
    error: cannot initialize: only parts of the memory are selected
    hint: omit --only
    -- exit 2
    ");
    fs::create_dir_all(home.path("work/.git")).unwrap();
    assert_snapshot!(home.run_bare(&["init", "--team"]), @"
    created [HOME]/work/.memdir with MEMORY.md
    next: memdir write team/NAME TEXT; share it with: git add .memdir
    ");
    assert_snapshot!(fs::read_to_string(home.path("work/.memdir/.gitattributes")).unwrap(), @"
    MEMORY.md merge=union
    MEMORY.page-*.md merge=union
    ");
    assert_snapshot!(home.run_bare(&["write", "team/deploy", "Tuesdays."]), @"created team/deploy (10 bytes, version 1c649f6b88f9, change [ID])");
    assert_snapshot!(home.run_bare(&["list"]), @"team/deploy");
    assert_eq!(crate::home::files_below(&home.path("work/.memdir")), [".gitattributes", "MEMORY.md", "deploy.md"]);
    fs::create_dir_all(home.path("work/src")).unwrap();
    let below = home.bare(&["init", "--team"]).current_dir(home.path("work/src")).output().unwrap();
    assert_snapshot!(home.transcript(&["init", "--team"], below), @"
    already initialized: [HOME]/work/.memdir
    next: memdir write team/NAME TEXT; share it with: git add [HOME]/work/.memdir
    ");
}

#[test]
fn the_team_memory_of_a_repository_cannot_be_a_link() {
    let home = Home::new();
    fs::create_dir_all(home.path("work/.git")).unwrap();
    fs::create_dir_all(home.path("secrets")).unwrap();
    fs::write(home.path("secrets/key.md"), "secret").unwrap();
    std::os::unix::fs::symlink(home.path("secrets"), home.path("work/.memdir")).unwrap();
    assert_snapshot!(home.run_bare(&["list"]), @"
    -- stderr
    note: [HOME]/work/.memdir is a symbolic link; a team memory must be a directory
    ");
}

#[test]
fn a_home_directory_that_is_a_repository_has_no_team_memory() {
    let home = Home::new();
    fs::create_dir_all(home.path(".git")).unwrap();
    let mut command = home.bare(&["write", "a", "x"]);
    let output = command.env_remove("MEMDIR_HOME").output().unwrap();
    assert_snapshot!(home.transcript(&[], output), @"created a (2 bytes, version 44c77418e275, change [ID])");
}

#[test]
fn a_team_memory_in_a_directory_is_its_team_folder() {
    let home = Home::new();
    fs::create_dir_all(home.path("work/.git")).unwrap();
    home.ok(&["write", "own", "Mine."]);
    assert_snapshot!(home.run(&["init", "--team"]), @"
    created [HOME]/memory/team with MEMORY.md
    next: memdir write team/NAME TEXT
    ");
    home.ok(&["write", "team/deploy", "Tuesdays."]);
    assert_eq!(home.files(), ["MEMORY.md", "own.md", "team/MEMORY.md", "team/deploy.md"]);
    assert!(!home.path("work/.memdir").exists());
    fs::remove_dir_all(home.memory("team")).unwrap();
    fs::create_dir_all(home.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere"), home.memory("team")).unwrap();
    assert_snapshot!(home.run(&["init", "--team"]), @"
    -- stderr
    error: [HOME]/memory/team is a symbolic link, so it cannot be a team memory
    hint: omit --team
    -- exit 2
    ");
    assert_eq!(crate::home::files_below(&home.path("elsewhere")), [""; 0]);
}
