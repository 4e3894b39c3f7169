//! `memdir` without a command.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn mounts_last_change_and_next_steps_are_printed() {
    let home = Home::new();
    assert_snapshot!(home.run(&[]), @"
    0 memories in [HOME]/memory
    next: memdir write NAME TEXT, memdir demo, memdir --help
    ");
    home.ok(&["write", "a", "x"]);
    assert_snapshot!(home.run(&[]), @"
    1 memory in [HOME]/memory
    last change: wrote a, by ada, just now ([ID])
    next: memdir read, memdir list, memdir history, memdir --help
    ");
    assert_snapshot!(home.run(&["--json"]), @r#"
    {
      "version": "0.1.0",
      "mounts": [
        {
          "prefix": "",
          "root": "[HOME]/memory",
          "memories": 1
        }
      ],
      "last_change": {
        "id": "[ID]",
        "at": "[TIME]",
        "actor": {
          "name": "ada"
        },
        "verb": "write",
        "files": [
          {
            "path": "MEMORY.md",
            "role": "entrypoint",
            "before": null,
            "after": "d38c99da84903a444c12b53cf68d335a"
          },
          {
            "path": "a.md",
            "role": "memory",
            "before": null,
            "after": "44c77418e27569db9213c6b43d9049ec"
          }
        ]
      }
    }
    "#);
}

#[test]
fn without_dir_there_are_the_project_and_the_user() {
    let home = Home::new();
    let printed = home.run_bare(&[]);
    let name = printed.split_once("projects/").unwrap().1.lines().next().unwrap().to_owned();
    assert!(name.starts_with("work-") && !home.path("home").exists(), "reading created {name}");
    assert_snapshot!(printed.replace(&name, "[PROJECT]"), @"
    0 memories in [HOME]/home/projects/[PROJECT]
    user/  0 memories in [HOME]/home/user
    next: memdir write NAME TEXT, memdir demo, memdir --help
    ");
    std::fs::create_dir_all(home.path("work/.git")).unwrap();
    std::fs::create_dir_all(home.path("work/deep")).unwrap();
    home.run_bare(&["write", "a", "at the top"]);
    let mut below = home.bare(&["read", "a"]);
    assert_eq!(below.current_dir(home.path("work/deep")).output().unwrap().stdout, b"at the top\n");
}
