//! `memdir init`.

use crate::home::Home;
use insta::assert_snapshot;
use std::fs;

#[test]
fn a_directory_with_its_entrypoint() {
    let home = Home::new();
    assert_snapshot!(home.run(&["init"]), @"
    Made [HOME]/memory with MEMORY.md
    Next: memdir write NAME TEXT
    ");
    assert_snapshot!(home.run(&["init"]), @"
    [HOME]/memory is a memory already
    Next: memdir write NAME TEXT
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
    error: this is not a git repository, so there is no team to share with
    hint: Leave --team out for a memory of your own; in a git repository's checkout --team makes one to share.
    -- exit 2
    ");
    fs::create_dir_all(home.path("work/.git")).unwrap();
    assert_snapshot!(home.run_bare(&["init", "--team"]), @"
    Made [HOME]/work/.memdir with MEMORY.md
    Next: memdir write team/NAME TEXT, and git add .memdir so that others have it
    ");
    assert_snapshot!(fs::read_to_string(home.path("work/.memdir/.gitattributes")).unwrap(), @"
    MEMORY.md merge=union
    MEMORY.page-*.md merge=union
    ");
    assert_snapshot!(home.run_bare(&["write", "team/deploy", "Tuesdays."]), @"created team/deploy (10 bytes, version 1c649f6b88f9, change [ID])");
    assert_snapshot!(home.run_bare(&["list"]), @"team/deploy");
    assert_eq!(crate::home::files_below(&home.path("work/.memdir")), [".gitattributes", "MEMORY.md", "deploy.md"]);
}

#[test]
fn a_repository_cannot_make_its_team_memory_lead_elsewhere() {
    let home = Home::new();
    fs::create_dir_all(home.path("work/.git")).unwrap();
    fs::create_dir_all(home.path("secrets")).unwrap();
    fs::write(home.path("secrets/key.md"), "secret").unwrap();
    std::os::unix::fs::symlink(home.path("secrets"), home.path("work/.memdir")).unwrap();
    assert_snapshot!(home.run_bare(&["list"]), @"
    -- stderr
    note: [HOME]/work/.memdir is a link and is left out: a team memory is a directory of its own
    ");
}

#[test]
fn a_home_directory_that_is_a_repository_has_no_team_memory() {
    let home = Home::new();
    fs::create_dir_all(home.path(".git")).unwrap();
    let mut command = home.bare(&["write", "a", "x"]);
    let output = command.env_remove("MEMDIR_HOME").output().unwrap();
    assert_snapshot!(home.tell(&[], output), @"created a (2 bytes, version 44c77418e275, change [ID])");
}

#[test]
fn a_team_memory_in_a_directory_is_its_team_folder() {
    let home = Home::new();
    fs::create_dir_all(home.path("work/.git")).unwrap();
    home.ok(&["write", "own", "Mine."]);
    assert_snapshot!(home.run(&["init", "--team"]), @"
    Made [HOME]/memory/team with MEMORY.md
    Next: memdir write team/NAME TEXT
    ");
    home.ok(&["write", "team/deploy", "Tuesdays."]);
    assert_eq!(home.files(), ["MEMORY.md", "own.md", "team/MEMORY.md", "team/deploy.md"]);
    assert!(!home.path("work/.memdir").exists());
    fs::remove_dir_all(home.memory("team")).unwrap();
    fs::create_dir_all(home.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere"), home.memory("team")).unwrap();
    assert_snapshot!(home.run(&["init", "--team"]), @"
    -- stderr
    error: [HOME]/memory/team is no directory of its own, so it is no team memory
    hint: Leave --team out for a memory of your own; in a git repository's checkout --team makes one to share.
    -- exit 2
    ");
    assert_eq!(crate::home::files_below(&home.path("elsewhere")), [""; 0]);
}
