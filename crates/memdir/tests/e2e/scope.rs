//! Scopes: projects, worktrees, teams, agents, switches, and the settings of a repository.

use crate::{
    home::{Home, feed, files_below},
    talk::Talk,
};
use insta::assert_snapshot;
use serde_json::json;
use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt as _, process::Command};

/// Runs git in a directory of the machine.
pub(crate) fn git(home: &Home, dir: &str, args: &[&str]) {
    fs::create_dir_all(home.path(dir)).unwrap();
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(home.path(dir))
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"]);
    let output = command.args(args).env_clear().env("PATH", "/usr/bin:/bin:/usr/local/bin").env("HOME", home.path("")).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

pub(crate) fn repository(home: &Home, dir: &str) {
    git(home, dir, &["init", "-q"]);
    git(home, dir, &["commit", "-q", "--allow-empty", "-m", "first"]);
}

/// Runs the binary in a directory of the machine.
pub(crate) fn run_in(home: &Home, dir: &str, args: &[&str]) -> String {
    fs::create_dir_all(home.path(dir)).unwrap();
    let printed = home.transcript(args, home.bare(args).current_dir(home.path(dir)).output().unwrap());
    plain_ids(&printed)
}

/// Replaces the hash at the end of a project's id, which depends on the directory of the test.
fn plain_ids(text: &str) -> String {
    let names = regex::Regex::new(r"\b(shop|tree|other|plain|fork|moved|notes|work)-[0-9a-f]{10}\b").unwrap();
    // Column widths depend on the paths, which differ between machines.
    regex::Regex::new(" {2,}").unwrap().replace_all(&names.replace_all(text, "$1-[HASH]"), "  ").into_owned()
}

fn id_in(home: &Home, dir: &str) -> String {
    let output = home.bare(&["where", "--json"]).current_dir(home.path(dir)).output().unwrap();
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    printed["project"].as_str().unwrap().to_owned()
}

#[test]
fn worktrees_and_subdirectories_share_the_memory_of_their_repository() {
    let home = Home::new();
    repository(&home, "shop");
    git(&home, "shop", &["worktree", "add", "-q", "../tree"]);
    run_in(&home, "shop/src/deep", &["write", "deploy", "Never on Fridays."]);
    assert_snapshot!(run_in(&home, "tree", &["list"]), @"deploy");
    assert_snapshot!(run_in(&home, "tree", &["where"]), @r#"
    project shop-[HASH]: [HOME]/tree is a worktree of [HOME]/shop, and worktrees share one memory
    mount  directory  why
    (project)  [HOME]/home/projects/shop-[HASH]  [HOME]/tree is a worktree of [HOME]/shop, and worktrees share one memory
    user/  [HOME]/home/user (not created yet)  the user's memory, in all projects
    alternative: `--dir PATH` uses one directory as the whole memory
    alternative: `memdir init --team` creates a memory to share through this repository
    alternative: `memdir config set worktrees separate` gives each worktree a separate memory
    "#);
    home.configure("worktrees = \"separate\"\n");
    assert_snapshot!(run_in(&home, "tree", &["list"]), @"");
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"deploy");
}

#[test]
fn where_shows_what_is_in_effect_and_why() {
    let home = Home::new();
    repository(&home, "shop");
    assert_snapshot!(run_in(&home, "shop", &["where"]), @"
    project shop-[HASH]: [HOME]/shop is a git repository
    mount  directory  why
    (project)  [HOME]/home/projects/shop-[HASH] (not created yet)  [HOME]/shop is a git repository
    user/  [HOME]/home/user (not created yet)  the user's memory, in all projects
    alternative: `--dir PATH` uses one directory as the whole memory
    alternative: `memdir init --team` creates a memory to share through this repository
    ");
    run_in(&home, "shop", &["init", "--team"]);
    assert_snapshot!(run_in(&home, "shop", &["where", "--agent", "reviewer"]), @"
    project shop-[HASH]: [HOME]/shop is a git repository
    mount  directory  why
    (project)  [HOME]/home/projects/shop-[HASH] (not created yet)  [HOME]/shop is a git repository
    user/  [HOME]/home/user (not created yet)  the user's memory, in all projects
    team/  [HOME]/shop/.memdir  the repository has a .memdir directory
    agent/reviewer/  [HOME]/home/agents/reviewer (not created yet)  --agent selects the agent
    alternative: `--dir PATH` uses one directory as the whole memory
    ");
    assert_snapshot!(run_in(&home, "plain", &["where"]), @"
    project plain-[HASH]: [HOME]/plain is not in a git repository, so the directory itself is the project
    mount  directory  why
    (project)  [HOME]/home/projects/plain-[HASH] (not created yet)  [HOME]/plain is not in a git repository, so the directory itself is the project
    user/  [HOME]/home/user (not created yet)  the user's memory, in all projects
    alternative: `--dir PATH` uses one directory as the whole memory
    alternative: `git init` makes this directory and those below it share one project memory
    ");
    assert_snapshot!(plain_ids(&home.run(&["where"])), @"
    project work-[HASH]: [HOME]/work is not in a git repository, so the directory itself is the project
    mount  directory  why
    (root)  [HOME]/memory (not created yet)  MEMDIR_DIR selects this directory
    alternative: without --dir and MEMDIR_DIR, memdir uses this project's memory
    ");
    assert_snapshot!(run_in(&home, "shop", &["where", "--project", "named"]), @"
    project named: --project selects the project
    mount  directory  why
    (project)  [HOME]/home/projects/named (not created yet)  --project selects the project
    user/  [HOME]/home/user (not created yet)  the user's memory, in all projects
    team/  [HOME]/shop/.memdir  the repository has a .memdir directory
    alternative: `--dir PATH` uses one directory as the whole memory
    ");
    assert!(!home.path("home/projects/named").exists(), "looking makes nothing");
}

#[test]
fn every_switch_is_reported() {
    let home = Home::new();
    repository(&home, "shop");
    run_in(&home, "shop", &["write", "a", "x"]);
    let with = |value: &str, args: &[&str]| {
        home.transcript(args, home.bare(args).current_dir(home.path("shop")).env("MEMDIR_DISABLE", value).output().unwrap())
    };
    assert_snapshot!(with("1", &["list"]), @"
    -- stderr
    error: memory is off: MEMDIR_DISABLE=1
    hint: unset MEMDIR_DISABLE to turn memory on
    -- exit 3
    ");
    assert_snapshot!(with("1", &["write", "b", "x"]), @"
    -- stderr
    error: memory is off: MEMDIR_DISABLE=1
    hint: unset MEMDIR_DISABLE to turn memory on
    -- exit 3
    ");
    assert_snapshot!(with("1", &["prompt"]), @"
    -- stderr
    note: memory is off: MEMDIR_DISABLE=1
    ");
    assert_snapshot!(with("maybe", &["list"]), @r#"
    -- stderr
    error: invalid value "maybe" for MEMDIR_DISABLE
    hint: set MEMDIR_DISABLE to 1 to disable memory, or to 0 to enable it
    -- exit 3
    "#);
    home.configure("enabled = false\n");
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"
    -- stderr
    error: memory is off: enabled = false in [HOME]/home/config.toml
    hint: to turn memory on, set `enabled = true` in that file
    -- exit 3
    ");
    assert_snapshot!(run_in(&home, "shop", &["init"]), @"
    -- stderr
    error: memory is off: enabled = false in [HOME]/home/config.toml
    hint: to turn memory on, set `enabled = true` in that file
    -- exit 3
    ");
    assert_snapshot!(with("0", &["list"]), @"a");
    home.configure(&format!("[[projects]]\nid = \"{}\"\nenabled = false\n", id_in(&home, "shop")));
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"
    -- stderr
    error: memory is off: enabled = false for project shop-[HASH] in [HOME]/home/config.toml
    hint: to turn memory on in that project, set `enabled = true` in its [[projects]] table
    -- exit 3
    ");
    assert_snapshot!(run_in(&home, "plain", &["list"]), @"");
    let json = home.bare(&["where", "--json"]).current_dir(home.path("shop")).output().unwrap();
    let printed: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(printed["enabled"], false);
    assert!(printed["off_by"].as_str().unwrap().starts_with("enabled = false for project shop-"), "{printed}");
}

#[test]
fn a_repository_can_name_and_restrict_but_never_leads_outside() {
    let home = Home::new();
    repository(&home, "shop");
    fs::create_dir_all(home.path(".ssh")).unwrap();
    fs::write(home.path(".ssh/id.md"), "secret").unwrap();
    fs::create_dir_all(home.path("shop/docs")).unwrap();
    fs::write(home.path("shop/docs/guide.md"), "Guide.\n").unwrap();
    std::os::unix::fs::symlink(home.path(".ssh"), home.path("shop/link")).unwrap();
    run_in(&home, "shop", &["init", "--team"]);
    run_in(&home, "shop", &["write", "team/fixed", "x"]);
    let mounts = "[[mounts]]\nname = \"docs\"\npath = \"docs\"\n[[mounts]]\nname = \"ssh\"\npath = \"../.ssh\"\n\
                  [[mounts]]\nname = \"home\"\npath = \"~/.ssh\"\n[[mounts]]\nname = \"link\"\npath = \"link\"\n[[mounts]]\nname = \"abs\"\npath = \"/etc\"\n\
                  [[mounts]]\nname = \"docs/\"\npath = \"docs\"\n";
    fs::write(home.path("shop/.memdir/config.toml"), format!("read_only = [\"fixed\"]\n{mounts}")).unwrap();
    assert_snapshot!(run_in(&home, "shop", &["list"]), @r#"
    docs/guide
    team/fixed
    -- stderr
    note: [HOME]/shop/.memdir/config.toml: ignored mount "home": ~ and ${VAR} are not allowed in a repository's settings
    note: [HOME]/shop/.memdir/config.toml: ignored mount "docs/": invalid name: it has an empty component; use one `/` between components and none at the end
    note: [HOME]/shop/.memdir/config.toml: ignored mount "ssh": ../.ssh must be a relative path that resolves to a directory below the repository's root and outside of .git
    note: [HOME]/shop/.memdir/config.toml: ignored mount "link": link must be a relative path that resolves to a directory below the repository's root and outside of .git
    note: [HOME]/shop/.memdir/config.toml: ignored mount "abs": /etc must be a relative path that resolves to a directory below the repository's root and outside of .git
    "#);
    assert_snapshot!(run_in(&home, "shop", &["write", "docs/new", "x"]).lines().last().unwrap(), @"-- exit 3");
    assert!(run_in(&home, "shop", &["write", "team/fixed", "y", "--replace"]).contains("read-only"));
    fs::write(home.path("shop/.memdir/config.toml"), "run = \"rm -rf /\"\n").unwrap();
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"
    team/fixed
    -- stderr
    note: [HOME]/shop/.memdir/config.toml: ignored `run`: a repository can only set `enabled`, `read_only`, `ignored` and `mounts`
    ");
    fs::write(home.path("shop/.memdir/config.toml"), "enabled = false\n").unwrap();
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"
    -- stderr
    error: memory is off: enabled = false in [HOME]/shop/.memdir/config.toml
    hint: to turn memory on for everyone in this repository, remove that setting; for yourself only, set MEMDIR_DISABLE=0
    -- exit 3
    ");
}

#[test]
fn a_hostile_git_file_does_not_open_the_memory_of_another_project() {
    let home = Home::new();
    repository(&home, "shop");
    run_in(&home, "shop", &["write", "private", "x"]);
    fs::create_dir_all(home.path("other")).unwrap();
    fs::write(home.path("other/.git"), format!("gitdir: {}\n", home.path("shop/.git").display())).unwrap();
    assert_snapshot!(run_in(&home, "other", &["list"]), @"
    -- stderr
    note: [HOME]/other/.git is not trusted: [HOME]/shop/.git does not point back to [HOME]/other; [HOME]/other is treated as a separate project
    ");
    assert_ne!(id_in(&home, "other"), id_in(&home, "shop"));
    let shown = run_in(&home, "other", &["check", "--diff", "a..b"]);
    let why = "--diff requires the project's git repository, but [HOME]/other/.git is not trusted: [HOME]/shop/.git does not point back";
    assert!(shown.contains(why), "{shown}");
}

#[test]
fn a_moved_project_is_reported_and_adopted_only_on_request() {
    let home = Home::new();
    repository(&home, "shop");
    git(&home, "shop", &["remote", "add", "origin", "https://ada:pw@example.com/ada/shop.git"]);
    run_in(&home, "shop", &["write", "deploy", "Never on Fridays."]);
    let old = id_in(&home, "shop");
    fs::rename(home.path("shop"), home.path("moved")).unwrap();
    assert_snapshot!(run_in(&home, "moved", &["list"]), @"");
    assert_snapshot!(run_in(&home, "moved", &["where"]), @"
    project moved-[HASH]: [HOME]/moved is a git repository
    mount  directory  why
    (project)  [HOME]/home/projects/moved-[HASH] (not created yet)  [HOME]/moved is a git repository
    user/  [HOME]/home/user (not created yet)  the user's memory, in all projects
    project shop-[HASH] has the same git remote or first commit; use its memory with: memdir projects adopt shop-[HASH]
    alternative: `--dir PATH` uses one directory as the whole memory
    alternative: `memdir init --team` creates a memory to share through this repository
    ");
    assert_snapshot!(run_in(&home, "moved", &["projects"]), @"
    project  state  memories  directory
    moved-[HASH]  here  0  [HOME]/moved
    shop-[HASH]  orphan  1  [HOME]/shop
    -- stderr
    note: an orphan project's directory no longer exists; use its memory in the current project with: memdir projects adopt ID
    ");
    assert_snapshot!(run_in(&home, "moved", &["projects", "adopt", &old]), @"moved-[HASH] is set to use the memory of shop-[HASH]");
    assert_snapshot!(run_in(&home, "moved", &["list"]), @"deploy");
    let shown = run_in(&home, "moved", &["where"]);
    assert!(
        shown.starts_with("project shop-[HASH]: ") && shown.lines().next().unwrap().contains("uses the memory of shop-[HASH]"),
        "{shown}"
    );
    assert_snapshot!(run_in(&home, "moved", &["projects", "adopt"]), @"moved-[HASH] is set to use its own memory");
    assert_snapshot!(run_in(&home, "moved", &["list"]), @"");
    assert_snapshot!(run_in(&home, "moved", &["projects", "adopt", "unheard-of"]), @r#"
    -- stderr
    error: project "unheard-of" not found
    hint: list the projects with: memdir projects
    -- exit 2
    "#);
}

/// Candidates and decisions move with the memory of a project, and none comes back under the other id.
#[test]
fn the_inbox_moves_with_the_memory() {
    let home = Home::new();
    for dir in ["shop", "other"] {
        run_in(&home, dir, &["write", dir, "text"]);
    }
    let (shop, other) = (id_in(&home, "shop"), id_in(&home, "other"));
    let plant = |project: &str, name: &str, key: &str| {
        let file = home.path(&format!("home/inbox/{project}/candidates/notes/{name}.md"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let head = format!(
            "description: about {name}\ntype: project\ncandidate: remember\nwords: {name} of {project}\nturns: []\nconversations: [\"codex/{project}\"]"
        );
        fs::write(file, format!("---\n{head}\nproposed: 2026-08-31T10:00:00Z\nweight: 0.5\nkey: {key}\n---\n\n{name} of {project}\n"))
            .unwrap();
    };
    for (project, name, key) in
        [(&shop, "a", "1"), (&shop, "b", "2"), (&shop, "c", "3"), (&shop, "d", "4"), (&other, "a", "5"), (&other, "e", "2")]
    {
        plant(project, name, key);
    }
    run_in(&home, "shop", &["inbox", "reject", "notes/d"]);
    assert_snapshot!(run_in(&home, "shop", &["projects", "adopt", &other]), @"
    shop-[HASH] is set to use the memory of other-[HASH]
    moved 2 candidates; review with: memdir inbox
    ");
    let names = |dir: &str| {
        let listed: serde_json::Value = serde_json::from_str(&run_in(&home, dir, &["inbox", "--json"])).unwrap();
        let names = listed["open"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        (names, listed["rejected"].as_u64().unwrap())
    };
    let expected = ["inbox/notes/a", "inbox/notes/a-2", "inbox/notes/c", "inbox/notes/e"].map(str::to_owned).to_vec();
    assert_eq!((names("shop"), names("other")), ((expected.clone(), 1), (expected.clone(), 1)), "what is there twice is there once");
    assert!(!home.path(&format!("home/inbox/{shop}/candidates/notes/a.md")).exists());
    let decided = fs::read_to_string(home.path(&format!("home/inbox/{other}/decided"))).unwrap();
    assert_eq!(decided, "4\n");
    assert_snapshot!(run_in(&home, "other", &["projects", "rename", &other, "kept"]), @"
    moved 1 memory from other-[HASH] to kept
    moved 4 candidates; review with: memdir --project kept inbox
    -- stderr
    note: [HOME]/other is set to use the memory of kept
    note: [HOME]/shop is set to use the memory of kept
    ");
    assert_eq!(names("other"), (expected, 1));
}

#[test]
fn merging_moves_every_memory_and_loses_none() {
    let home = Home::new();
    for (dir, name) in [("shop", "deploy"), ("shop", "both"), ("other", "both")] {
        run_in(&home, dir, &["write", name, &format!("{name} of {dir}")]);
    }
    let (from, into) = (id_in(&home, "shop"), id_in(&home, "other"));
    assert_snapshot!(run_in(&home, "other", &["projects", "merge", &from, &into]), @"
    renamed both to shop-[HASH]/both, because the name was in use
    moved 2 memories from shop-[HASH] to other-[HASH]
    ");
    assert_snapshot!(run_in(&home, "other", &["list"]), @"
    both
    deploy
    shop-[HASH]/both
    ");
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"");
    assert_snapshot!(run_in(&home, "shop", &["history", "--limit", "1"]).lines().last().unwrap().rsplit("  ").next().unwrap(), @"moved both and 1 more to other-[HASH]");
    assert_snapshot!(run_in(&home, "other", &["history", "--limit", "1"]).lines().last().unwrap().rsplit("  ").next().unwrap(), @"moved deploy and 1 more here from shop-[HASH]");
    let history = home.bare(&["history", "--limit", "1", "--json"]).current_dir(home.path("other")).output().unwrap().stdout;
    let history: serde_json::Value = serde_json::from_slice(&history).unwrap();
    let id = history["changes"][0]["id"].as_str().unwrap();
    assert!(run_in(&home, "other", &["undo", &id[..2]]).contains("is too short"), "it may be another change");
    // A merge is one change, which is undone in both projects, from either of them.
    run_in(&home, "other", &["undo", &id.to_uppercase()]);
    assert_eq!((run_in(&home, "shop", &["list"]), run_in(&home, "other", &["list"])), ("both\ndeploy\n".into(), "both\n".into()));
    run_in(&home, "shop", &["redo"]);
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"");
    assert_snapshot!(run_in(&home, "other", &["projects", "rename", &into, "kept"]), @"
    moved 3 memories from other-[HASH] to kept
    -- stderr
    note: [HOME]/other is set to use the memory of kept
    ");
    assert_snapshot!(run_in(&home, "other", &["list"]), @"
    both
    deploy
    shop-[HASH]/both
    ");
    assert_snapshot!(run_in(&home, "other", &["list", "--project", "kept"]), @"
    both
    deploy
    shop-[HASH]/both
    ");
}

#[test]
fn a_named_project_is_shared_by_all_directories_that_use_it() {
    let home = Home::new();
    run_in(&home, "plain", &["init", "--project", "together"]);
    run_in(&home, "plain", &["write", "a", "x", "--project", "together"]);
    let output = home.bare(&["list"]).current_dir(home.path("plain")).env("MEMDIR_PROJECT", "together").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a\n");
    assert_snapshot!(run_in(&home, "plain", &["list", "--project", "../x"]), @r#"
    -- stderr
    error: invalid project id "../x"
    hint: use a name without slashes that does not begin with a dot; list existing ids with: memdir projects
    -- exit 2
    "#);
}

#[test]
fn memories_that_would_get_one_name_by_a_merge_are_all_kept() {
    let home = Home::new();
    run_in(&home, "other", &["init", "--project", "from"]);
    run_in(&home, "other", &["init", "--project", "into"]);
    for (project, name) in [("from", "a"), ("from", "from/a"), ("into", "a")] {
        run_in(&home, "other", &["write", name, &format!("{name} of {project}"), "--project", project]);
    }
    assert_snapshot!(run_in(&home, "other", &["projects", "merge", "from", "into"]), @"
    renamed a to from/a, because the name was in use
    renamed from/a to from/from/a, because the name was in use
    moved 2 memories from from to into
    ");
    assert_snapshot!(run_in(&home, "other", &["read", "a", "from/a", "from/from/a", "--project", "into"]), @"
    ==> a <==
    a of into

    ==> from/a <==
    a of from

    ==> from/from/a <==
    from/a of from
    ");
}

#[test]
fn a_variable_that_is_not_utf8_selects_no_other_memory() {
    let home = Home::new();
    let invalid = OsStr::from_bytes(b"caf\xe9");
    for key in ["MEMDIR_PROJECT", "MEMDIR_AGENT", "MEMDIR_DISABLE"] {
        let output = home.bare(&["write", "a", "x"]).env(key, invalid).output().unwrap();
        let expected = format!(
            "-- stderr\nerror: the value of {key} is not valid UTF-8\nhint: set {key} to a value in UTF-8, or unset it\n-- exit 3\n"
        );
        assert_eq!(home.transcript(&["write"], output), expected);
        let mut hook = home.bare(&["hook", "claude-code", "session-start"]);
        let output = feed(hook.env(key, invalid), b"{}");
        assert!(output.status.success() && output.stdout.is_empty(), "{key}: {output:?}");
    }
    assert_eq!(files_below(&home.path("home")), [""; 0]);
}

#[test]
fn the_options_of_a_hint_can_be_typed() {
    let home = Home::new();
    let printed = home.run_bare(&["--project=-x", "init"]);
    assert!(printed.contains("memdir --project=-x write"), "{printed}");
    assert_eq!(home.run_bare(&["--project=-x", "list"]), "");
    let printed = home.run_bare(&["--project=-y", "list"]);
    assert!(printed.contains("create it with: memdir --project=-y init"), "{printed}");
}

#[test]
fn a_session_can_be_restricted() {
    let home = Home::new();
    for name in ["notes/a", "secret", "user/b"] {
        run_in(&home, "plain", &["write", name, "x"]);
    }
    assert_snapshot!(run_in(&home, "plain", &["list", "--only", "notes"]), @"notes/a");
    assert_snapshot!(run_in(&home, "plain", &["list", "--only", "notes,user"]), @"
    notes/a
    user/b
    ");
    assert_snapshot!(run_in(&home, "plain", &["read", "secret", "--only", "notes"]), @r#"
    -- stderr
    error: memory "secret" not found
    hint: list the memories with: memdir list
    -- exit 1
    "#);
    assert_snapshot!(run_in(&home, "plain", &["history", "--only", "notes"]).lines().count().to_string(), @"2");
}

#[test]
fn a_restricted_session_has_no_entrypoint_and_reports_it() {
    let home = Home::new();
    run_in(&home, "plain", &["write", "notes/a", "x"]);
    assert_snapshot!(run_in(&home, "plain", &["write", "notes/b", "x", "--only", "notes"]), @"created notes/b (2 bytes, version 44c77418e275, change [ID])");
    assert_snapshot!(run_in(&home, "plain", &["entrypoint", "--only", "notes"]), @"");
    assert_snapshot!(run_in(&home, "plain", &["entrypoint"]), @"
    MEMORY.md: not listed: notes/b.md
    user/MEMORY.md: all memories are listed
    -- stderr
    note: add the missing lines with: memdir entrypoint --repair
    -- exit 1
    ");
    assert_snapshot!(run_in(&home, "plain", &["check"]), @"
    notes/a.md: type: no type; set it to user, feedback, project or reference
    notes/b.md: unlisted: not listed in the entrypoint; add it with: memdir check --fix
    notes/b.md: type: no type; set it to user, feedback, project or reference
    3 files: 1 error, 2 suggestions
    -- stderr
    note: 2 memories have no cues; see which with: memdir cues
    -- exit 1
    ");
}

#[test]
fn a_restricted_rename_or_undo_reports_what_it_could_not_change() {
    let home = Home::new();
    run_in(&home, "plain", &["write", "notes/a", "x"]);
    assert_snapshot!(run_in(&home, "plain", &["rename", "notes/a", "notes/b", "--only", "notes"]), @"
    renamed notes/a to notes/b (change [ID])
    -- stderr
    note: only part of the mount is accessible: the entrypoint and references in other parts were not updated, so they may be outdated
    ");
    assert_snapshot!(run_in(&home, "plain", &["undo", "--only", "notes"]), @"
    undid [ID]: rename notes/a to notes/b, by ada, just now (redo: memdir redo [ID])
    -- stderr
    note: only part of the mount is accessible: the entrypoint and references in other parts were not updated, so they may be outdated
    ");
    assert_snapshot!(run_in(&home, "plain", &["rename", "notes/a", "notes/b"]), @"renamed notes/a to notes/b (change [ID])");
}

#[test]
fn a_team_folder_of_a_directory_is_a_scope() {
    let home = Home::new();
    home.put("team/MEMORY.md", "- [Rule](rule.md) — ours\n");
    home.put("team/rule.md", "Ours.\n");
    home.ok(&["write", "own", "Mine."]);
    home.ok(&["write", "team/new", "For all of us."]);
    assert_snapshot!(plain_ids(&home.run(&["where"])), @"
    project work-[HASH]: [HOME]/work is not in a git repository, so the directory itself is the project
    mount  directory  why
    (root)  [HOME]/memory  MEMDIR_DIR selects this directory
    team/  [HOME]/memory/team  the directory has a team folder
    alternative: without --dir and MEMDIR_DIR, memdir uses this project's memory
    ");
    assert_snapshot!(home.run(&["list"]), @"
    own
    team/new
    team/rule
    ");
    assert!(home.text("team/MEMORY.md").contains("(new.md)") && !home.text("MEMORY.md").contains("new.md"));
    let found = home.json(&["search", "all of us"]);
    let paths: Vec<&str> = found["results"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["team/new.md", "team/rule.md"], "each once");
    home.ok(&["undo"]);
    assert_snapshot!(home.run(&["list"]), @"
    own
    team/rule
    ");
}

#[test]
fn the_team_folder_of_an_adopted_memory_is_a_scope() {
    let home = Home::new();
    home.put("team/MEMORY.md", "- [Rule](rule.md) — ours\n");
    home.put("team/rule.md", "Ours.\n");
    home.put("MEMORY.md", "# Memory\n");
    home.configure(&format!("[[mounts]]\nname = \"claude\"\npath = \"{}\"\n", home.path("memory").display()));
    run_in(&home, "plain", &["write", "claude/team/new", "For all of us."]);
    assert!(home.text("team/MEMORY.md").contains("(new.md)") && !home.text("MEMORY.md").contains("new.md"));
    assert_snapshot!(run_in(&home, "plain", &["list"]), @"
    claude/team/new
    claude/team/rule
    ");
    assert!(run_in(&home, "plain", &["where"]).contains("claude/team/"));
}

#[test]
fn a_team_without_a_memory_is_an_error() {
    let home = Home::new();
    repository(&home, "shop");
    assert_snapshot!(run_in(&home, "shop", &["write", "team/rule", "Ours."]), @r#"
    -- stderr
    error: cannot write "team/rule": no team memory yet
    hint: create it with: memdir init --team
    -- exit 3
    "#);
    let old = home.path("home/projects").join(id_in(&home, "shop")).join("team");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("old.md"), "Old.\n").unwrap();
    assert_snapshot!(run_in(&home, "shop", &["read", "team/old"]), @"
    Old.
    -- stderr
    note: team/old: not listed in the entrypoint
    ");
    assert_snapshot!(run_in(&home, "shop", &["rename", "team/old", "old"]), @"renamed team/old to old (change [ID])");
    run_in(&home, "shop", &["init", "--team"]);
    assert_snapshot!(run_in(&home, "shop", &["write", "team/rule", "Ours."]), @"created team/rule (6 bytes, version 06b985fa893d, change [ID])");
}

#[test]
fn a_clone_reports_its_origin() {
    let home = Home::new();
    repository(&home, "shop");
    run_in(&home, "shop", &["write", "deploy", "Never on Fridays."]);
    git(&home, "", &["clone", "-q", "shop", "fork"]);
    assert!(
        run_in(&home, "fork", &["where"]).contains("project shop-[HASH] has the same git remote or first commit"),
        "by the directory it came from"
    );
    git(&home, "shop", &["remote", "add", "origin", "https://example.com/ada/shop.git"]);
    git(&home, "fork", &["remote", "set-url", "origin", "git@example.com:ada/shop"]);
    run_in(&home, "shop", &["list"]);
    assert!(
        run_in(&home, "fork", &["where"]).contains("project shop-[HASH] has the same git remote or first commit"),
        "by a remote that came later"
    );
}

#[test]
fn an_agents_memory_is_mounted_with_agent() {
    let home = Home::new();
    repository(&home, "shop");
    run_in(&home, "shop", &["write", "agent/reviewer/style", "Be short.", "--agent", "reviewer"]);
    run_in(&home, "shop", &["write", "agent/reviewer/rule", "Be kind.", "--agent", "reviewer", "--agent-scope", "project"]);
    assert_eq!(files_below(&home.path("home/agents")), ["reviewer/MEMORY.md", "reviewer/style.md"]);
    assert_eq!(files_below(&home.path("shop/.memdir-agents")), ["reviewer/MEMORY.md", "reviewer/rule.md"]);
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"");
}

#[test]
fn the_memory_of_an_agent_needs_agent() {
    let home = Home::new();
    assert_snapshot!(run_in(&home, "plain", &["write", "agent/reviewer/a", "x"]), @r#"
    -- stderr
    error: cannot write "agent/reviewer/a": an agent's memory is available only with --agent NAME
    hint: use another name
    -- exit 3
    "#);
    assert_snapshot!(run_in(&home, "plain", &["write", "agent/reviewer/a", "x", "--agent", "other"]), @r#"
    -- stderr
    error: cannot write "agent/reviewer/a": an agent's memory is available only with --agent NAME
    hint: use another name
    -- exit 3
    "#);
    assert_snapshot!(run_in(&home, "plain", &["--agent", "pl:ug", "write", "agent/pl:ug/a", "x"]), @"created agent/pl-ug/a (2 bytes, version 44c77418e275, change [ID])");
    assert_snapshot!(run_in(&home, "plain", &["--agent", "pl:ug", "read", "agent/pl:ug/a"]), @"x");
    assert_eq!(files_below(&home.path("home/agents/pl-ug")), ["MEMORY.md", "a.md"]);
}

#[test]
fn a_space_without_the_projects_memory_has_its_prompt_and_its_entrypoint() {
    let home = Home::new();
    repository(&home, "shop");
    run_in(&home, "shop", &["init", "--team"]);
    run_in(&home, "shop", &["write", "user/taste", "tabs"]);
    run_in(&home, "shop", &["write", "team/rule", "no Fridays"]);
    assert_snapshot!(run_in(&home, "shop", &["--only", "user", "read"]), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [taste](taste.md) — tabs
    <!-- /memdir -->
    ");
    let printed = run_in(&home, "shop", &["--only", "user", "prompt"]);
    assert!(printed.contains("- **private**, names `user/…`, in `[HOME]/home/user`: about this one person"), "{printed}");
    assert!(
        printed.contains("<memory source=\"user/MEMORY.md\">") && printed.contains("(taste.md)") && !printed.contains("team"),
        "{printed}"
    );
    let printed = run_in(&home, "shop", &["--only", "team", "prompt"]);
    assert!(printed.contains("- **team**, names `team/…`, in `[HOME]/shop/.memdir`"), "{printed}");
    assert!(printed.contains("Nothing here is private") && printed.contains("(rule.md)") && !printed.contains("(taste.md)"), "{printed}");
    let both = run_in(&home, "shop", &["--only", "team", "--only", "user", "prompt"]);
    assert!(both.contains("**private**") && both.contains("**team**") && !both.contains("Nothing here is private"), "{both}");
    let logged = run_in(&home, "shop", &["--only", "user", "log", "low water"]);
    assert!(logged.starts_with("logged to user/logs/20"), "{logged}");
    assert_snapshot!(run_in(&home, "shop", &["--only", "user", "prompt", "team"]), @"
    -- stderr
    error: invalid mode: the selected part of the memory does not include a team memory; add team to --only, or omit --only
    -- exit 2
    ");
    assert_snapshot!(home.run(&["prompt", "team"]), @"
    -- stderr
    error: this space has no team memory
    hint: create it with: memdir init --team
    -- exit 2
    ");
}

#[test]
fn the_prompt_of_a_restricted_space_names_nothing_outside_it() {
    let home = Home::new();
    repository(&home, "shop");
    for name in ["notes/a", "secret", "user/taste"] {
        run_in(&home, "shop", &["write", name, "x"]);
    }
    let prompt = |only: &str, more: &[&str]| run_in(&home, "shop", &[&["--only", only, "prompt"], more].concat());
    let root = home.with_placeholders(&run_in(&home, "shop", &["where", "--json"]));
    let root = root.split('"').find(|text| text.contains("/home/projects/")).unwrap_or_else(|| panic!("{root}")).to_owned();
    let printed = prompt("notes", &[]);
    let line = format!("- **private**, names that begin with `notes/`, in `{root}/notes`: for this one person");
    assert!(printed.contains(&line) && !printed.contains("MEMORY.md"), "{printed}");
    let outside = |printed: &str| printed.replace(&format!("{root}/notes"), "").contains(&root);
    assert!(!outside(&printed), "{printed}");
    let shell = prompt("notes", &["--search", "shell"]);
    assert!(shell.contains(&format!("grep -rn \"narrow term\" {root}/notes")) || shell.contains("/notes' --include"), "{shell}");
    let both = prompt("notes,user/taste", &[]);
    assert!(
        both.contains("- **private**, the name `user/taste`, in `[HOME]/home/user/taste.md`: about this one person") && !outside(&both),
        "{both}"
    );
    assert_snapshot!(prompt("nosuch", &[]), @r#"
    -- stderr
    error: invalid prefix: "nosuch" is neither a memory nor a folder
    -- exit 2
    "#);
    assert_snapshot!(prompt("team", &[]), @"
    -- stderr
    error: no team memory yet
    hint: create it with: memdir init --team
    -- exit 2
    ");
    assert_snapshot!(prompt("notes", &["log"]), @"
    -- stderr
    error: invalid mode: the log of this space is read-only
    -- exit 2
    ");
}

#[test]
fn projects_are_unchanged_while_memory_is_off() {
    let home = Home::new();
    for (project, name) in [("one", "a"), ("two", "b")] {
        run_in(&home, "plain", &["init", "--project", project]);
        run_in(&home, "plain", &["write", name, "x", "--project", project]);
    }
    let off = |args: &[&str]| {
        let output = home.bare(args).current_dir(home.path("plain")).env("MEMDIR_DISABLE", "1").output().unwrap();
        plain_ids(&home.transcript(args, output))
    };
    for args in [["projects", "merge", "one", "two"].as_slice(), &["projects", "rename", "one", "three"], &["projects", "adopt", "one"]] {
        let printed = off(args);
        assert!(printed.contains("error: memory is off: MEMDIR_DISABLE=1") && printed.ends_with("-- exit 3\n"), "{args:?}: {printed}");
    }
    assert_eq!(files_below(&home.path("home/projects")).iter().filter(|file| file.ends_with("/a.md")).count(), 1);
    for args in [["projects"].as_slice(), &["config"]] {
        let printed = off(args);
        assert!(printed.contains("note: memory is off: MEMDIR_DISABLE=1") && !printed.contains("-- exit"), "{args:?}: {printed}");
    }
}

/// A mistyped project was created.
#[test]
fn a_mistyped_project_is_an_error_and_creates_nothing() {
    let home = Home::new();
    run_in(&home, "plain", &["init", "--project", "warehouse"]);
    assert_snapshot!(run_in(&home, "plain", &["write", "a", "x", "--project", "warehuose"]), @r#"
    -- stderr
    error: project "warehuose" not found
    hint: did you mean "warehouse"?
    -- exit 2
    "#);
    assert_snapshot!(run_in(&home, "plain", &["list", "--project", "shop"]), @r#"
    -- stderr
    error: project "shop" not found
    hint: create it with: memdir --project shop init, or list the projects with: memdir projects
    -- exit 2
    "#);
    let quoted = run_in(&home, "plain", &["list", "--project", "my;shop"]);
    assert!(quoted.contains("hint: create it with: memdir --project 'my;shop' init, or "), "{quoted}");
    assert_snapshot!(run_in(&home, "plain", &["search", "x", "--project", "shop", "--json"]), @r#"
    {
      "error": {
      "code": "usage",
      "message": "project \"shop\" not found",
      "hint": "create it with: memdir --project shop init, or list the projects with: memdir projects"
      }
    }
    -- exit 2
    "#);
    assert_snapshot!(run_in(&home, "plain", &["projects"]), @"
    project  state  memories  directory
    warehouse  unknown  0  ?
    ");
    assert_eq!(run_in(&home, "plain", &["list", "--project", "warehouse"]), "");
}

#[test]
fn a_mistyped_directory_is_an_error_and_creates_nothing() {
    let home = Home::new();
    fs::create_dir_all(home.path("plain/warehouse")).unwrap();
    fs::write(home.path("plain/file"), "x").unwrap();
    for command in [&["write", "a", "x"][..], &["list"], &["recall", "what is x"], &["prompt"], &["import", "file"]] {
        let printed = run_in(&home, "plain", &[command, &["--dir", "warehuose"]].concat());
        assert_eq!(
            printed,
            "-- stderr\nerror: directory \"[HOME]/plain/warehuose\" not found\nhint: did you mean \"[HOME]/plain/warehouse\"?\n-- exit 2\n",
            "{command:?}"
        );
    }
    assert_snapshot!(run_in(&home, "plain", &["write", "a", "x", "--dir", "new"]), @r#"
    -- stderr
    error: directory "[HOME]/plain/new" not found
    hint: create it with: memdir --dir [HOME]/plain/new init
    -- exit 2
    "#);
    assert_snapshot!(run_in(&home, "plain", &["list", "--dir", "file"]), @r#"
    -- stderr
    error: "[HOME]/plain/file" is not a directory
    hint: pass a directory to --dir
    -- exit 2
    "#);
    assert!(!home.path("plain/new").exists() && !home.path("plain/warehuose").exists());
    assert_snapshot!(run_in(&home, "plain", &["init", "--dir", "new"]), @"
    created [HOME]/plain/new with MEMORY.md
    next: memdir --dir [HOME]/plain/new write NAME TEXT
    ");
    assert_snapshot!(run_in(&home, "plain", &["list", "--dir", "new"]), @"");
    // A directory of the environment is created by the first write.
    let output = home.bare(&["write", "a", "x"]).env("MEMDIR_DIR", home.path("later")).output().unwrap();
    assert!(output.status.success() && home.path("later/a.md").exists());
}

/// A command is for a person: a model reads the reason, and asks the user.
#[test]
fn a_model_gets_no_command_for_a_team_memory() {
    let home = Home::new();
    let mut talk = Talk::over(home.command(&["mcp"]));
    talk.hello("2025-06-18");
    let call = json!({ "name": "memory_write", "arguments": { "path": "team/a", "content": "x" } });
    let result = talk.ask("tools/call", call)["result"].clone();
    assert_eq!(
        result["content"][0]["text"],
        "cannot write \"team/a\": no team memory yet. Use another name, or ask the user to create the team memory."
    );
    talk.end();
}

#[test]
fn a_log_outside_the_selected_part_has_no_other_name() {
    let home = Home::new();
    home.ok(&["write", "notes/a", "x"]);
    let logged = home.run(&["--only", "notes", "log", "X"]);
    let (first, hint) = logged.split_once("\nhint: ").unwrap();
    assert!(first.contains("cannot write \"logs/"), "{logged}");
    assert_eq!(hint, "the part that --only selects does not include the log; change --only, or omit it\n-- exit 3\n");
    assert_snapshot!(home.run(&["--only", "notes", "write", "other", "X"]), @r#"
    -- stderr
    error: cannot write "other": access is restricted to other names
    hint: use a name under a prefix in --only, or change --only
    -- exit 3
    "#);
}
