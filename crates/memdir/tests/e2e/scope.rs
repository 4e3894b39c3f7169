//! Whose memory it is: projects, worktrees, teams, agents, switches, and what a repository may say.

use crate::home::{Home, files_below};
use insta::assert_snapshot;
use std::{fs, process::Command};

/// Runs git in a directory of the machine.
pub(crate) fn git(home: &Home, dir: &str, args: &[&str]) {
    fs::create_dir_all(home.path(dir)).unwrap();
    let mut command = Command::new("git");
    command.arg("-C").arg(home.path(dir)).args([
        "-c",
        "user.name=Ada",
        "-c",
        "user.email=ada@example.com",
        "-c",
        "init.defaultBranch=main",
    ]);
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
    let told = home.tell(args, home.bare(args).current_dir(home.path(dir)).output().unwrap());
    plain_ids(&told)
}

/// The hash at the end of a project's id differs by where the test's directory is.
fn plain_ids(text: &str) -> String {
    let names = regex::Regex::new(r"\b(shop|tree|other|plain|fork|moved|notes|work)-[0-9a-f]{10}\b").unwrap();
    // Columns are as wide as the paths in them, which differ from machine to machine.
    regex::Regex::new(" {2,}").unwrap().replace_all(&names.replace_all(text, "$1-[HASH]"), "  ").into_owned()
}

fn id_in(home: &Home, dir: &str) -> String {
    let output = home.bare(&["where", "--json"]).current_dir(home.path(dir)).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    told["project"].as_str().unwrap().to_owned()
}

#[test]
fn worktrees_and_subdirectories_share_the_memory_of_their_repository() {
    let home = Home::new();
    repository(&home, "shop");
    git(&home, "shop", &["worktree", "add", "-q", "../tree"]);
    run_in(&home, "shop/src/deep", &["write", "deploy", "Never on Fridays."]);
    assert_snapshot!(run_in(&home, "tree", &["list"]), @"deploy");
    assert_snapshot!(run_in(&home, "tree", &["where"]), @r#"
    Project shop-[HASH]: [HOME]/tree is a worktree of [HOME]/shop, and worktrees share one memory
    mount  directory  why
    (project)  [HOME]/home/projects/shop-[HASH]  [HOME]/tree is a worktree of [HOME]/shop, and worktrees share one memory
    user/  [HOME]/home/user  yours, in every project
    To change: --dir PATH: one directory as the whole memory
    To change: memdir init --team: a memory for everybody who works on this repository
    To change: worktrees = "separate": a memory for this worktree alone
    "#);
    home.configure("worktrees = \"separate\"\n");
    assert_snapshot!(run_in(&home, "tree", &["list"]), @"");
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"deploy");
}

#[test]
fn where_tells_what_is_in_force_and_why() {
    let home = Home::new();
    repository(&home, "shop");
    assert_snapshot!(run_in(&home, "shop", &["where"]), @"
    Project shop-[HASH]: [HOME]/shop is a git repository
    mount  directory  why
    (project)  [HOME]/home/projects/shop-[HASH] (not made yet)  [HOME]/shop is a git repository
    user/  [HOME]/home/user (not made yet)  yours, in every project
    To change: --dir PATH: one directory as the whole memory
    To change: memdir init --team: a memory for everybody who works on this repository
    ");
    run_in(&home, "shop", &["init", "--team"]);
    assert_snapshot!(run_in(&home, "shop", &["where", "--agent", "reviewer"]), @"
    Project shop-[HASH]: [HOME]/shop is a git repository
    mount  directory  why
    (project)  [HOME]/home/projects/shop-[HASH] (not made yet)  [HOME]/shop is a git repository
    user/  [HOME]/home/user (not made yet)  yours, in every project
    team/  [HOME]/shop/.memdir  the repository has a .memdir directory
    agent/reviewer/  [HOME]/home/agents/reviewer (not made yet)  --agent names the agent
    To change: --dir PATH: one directory as the whole memory
    ");
    assert_snapshot!(run_in(&home, "plain", &["where"]), @"
    Project plain-[HASH]: [HOME]/plain is in no git repository, so the directory itself is the project
    mount  directory  why
    (project)  [HOME]/home/projects/plain-[HASH] (not made yet)  [HOME]/plain is in no git repository, so the directory itself is the project
    user/  [HOME]/home/user (not made yet)  yours, in every project
    To change: --dir PATH: one directory as the whole memory
    To change: git init: the project would be the repository, from every directory in it
    ");
    assert_snapshot!(plain_ids(&home.run(&["where"])), @"
    Project work-[HASH]: [HOME]/work is in no git repository, so the directory itself is the project
    mount  directory  why
    (project)  [HOME]/memory (not made yet)  MEMDIR_DIR: this directory is the whole memory
    To change: without --dir and MEMDIR_DIR: the memory of this project
    ");
    assert_snapshot!(run_in(&home, "shop", &["where", "--project", "named"]), @"
    Project named: [HOME]/shop is a git repository
    mount  directory  why
    (project)  [HOME]/home/projects/named (not made yet)  --project names the project
    user/  [HOME]/home/user (not made yet)  yours, in every project
    team/  [HOME]/shop/.memdir  the repository has a .memdir directory
    To change: --dir PATH: one directory as the whole memory
    ");
    assert!(!home.path("home/projects/named").exists(), "looking makes nothing");
}

#[test]
fn every_switch_is_said_aloud() {
    let home = Home::new();
    repository(&home, "shop");
    run_in(&home, "shop", &["write", "a", "x"]);
    let with = |value: &str, args: &[&str]| {
        home.tell(args, home.bare(args).current_dir(home.path("shop")).env("MEMDIR_DISABLE", value).output().unwrap())
    };
    assert_snapshot!(with("1", &["list"]), @"
    -- stderr
    error: memory is disabled by MEMDIR_DISABLE=1
    hint: Change that switch; memdir where explains what is in force.
    -- exit 3
    ");
    assert_snapshot!(with("1", &["write", "b", "x"]), @"
    -- stderr
    error: memory is disabled by MEMDIR_DISABLE=1
    hint: Change that switch; memdir where explains what is in force.
    -- exit 3
    ");
    assert_snapshot!(with("1", &["prompt"]), @"
    -- stderr
    note: memory is disabled by MEMDIR_DISABLE=1
    ");
    assert_snapshot!(with("maybe", &["list"]), @r#"
    -- stderr
    error: MEMDIR_DISABLE is "maybe"
    hint: Set it to 1 or 0.
    -- exit 3
    "#);
    home.configure("enabled = false\n");
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"
    -- stderr
    error: memory is off: enabled = false in [HOME]/home/config.toml
    hint: Change that switch; memdir where explains what is in force.
    -- exit 3
    ");
    assert_snapshot!(run_in(&home, "shop", &["init"]), @"
    -- stderr
    error: memory is off: enabled = false in [HOME]/home/config.toml
    hint: Change that switch; memdir where explains what is in force.
    -- exit 3
    ");
    assert_snapshot!(with("0", &["list"]), @"a");
    home.configure(&format!("[[projects]]\nid = \"{}\"\nenabled = false\n", id_in(&home, "shop")));
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"
    -- stderr
    error: memory is off: enabled = false for project shop-[HASH] in [HOME]/home/config.toml
    hint: Change that switch; memdir where explains what is in force.
    -- exit 3
    ");
    assert_snapshot!(run_in(&home, "plain", &["list"]), @"");
    let json = home.bare(&["where", "--json"]).current_dir(home.path("shop")).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(told["enabled"], false);
    assert!(told["off_by"].as_str().unwrap().starts_with("enabled = false for project shop-"), "{told}");
}

#[test]
fn a_repository_may_name_and_limit_and_never_leads_outside() {
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
                  [[mounts]]\nname = \"home\"\npath = \"~/.ssh\"\n[[mounts]]\nname = \"link\"\npath = \"link\"\n[[mounts]]\nname = \"abs\"\npath = \"/etc\"\n";
    fs::write(home.path("shop/.memdir/config.toml"), format!("read_only = [\"fixed\"]\n{mounts}")).unwrap();
    assert_snapshot!(run_in(&home, "shop", &["list"]), @r#"
    docs/guide
    team/fixed
    -- stderr
    note: [HOME]/shop/.memdir/config.toml: the mount "home" is left out: ~ and ${VAR} lead out of a repository, and are not expanded for one
    note: [HOME]/shop/.memdir/config.toml: the mount ssh leads to ../.ssh, outside the repository, and is left out
    note: [HOME]/shop/.memdir/config.toml: the mount link leads to link, outside the repository, and is left out
    note: [HOME]/shop/.memdir/config.toml: the mount abs leads to /etc, outside the repository, and is left out
    "#);
    assert_snapshot!(run_in(&home, "shop", &["write", "docs/new", "x"]).lines().last().unwrap(), @"-- exit 3");
    assert!(run_in(&home, "shop", &["write", "team/fixed", "y", "--replace"]).contains("read-only"));
    fs::write(home.path("shop/.memdir/config.toml"), "run = \"rm -rf /\"\n").unwrap();
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"
    team/fixed
    -- stderr
    note: [HOME]/shop/.memdir/config.toml: run is left out: a repository can set enabled, read_only, ignored and mounts
    ");
    fs::write(home.path("shop/.memdir/config.toml"), "enabled = false\n").unwrap();
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"
    -- stderr
    error: memory is off: enabled = false in [HOME]/shop/.memdir/config.toml
    hint: Change that switch; memdir where explains what is in force.
    -- exit 3
    ");
}

#[test]
fn a_hostile_git_file_opens_nobody_elses_memory() {
    let home = Home::new();
    repository(&home, "shop");
    run_in(&home, "shop", &["write", "private", "x"]);
    fs::create_dir_all(home.path("other")).unwrap();
    fs::write(home.path("other/.git"), format!("gitdir: {}\n", home.path("shop/.git").display())).unwrap();
    assert_snapshot!(run_in(&home, "other", &["list"]), @"
    -- stderr
    note: [HOME]/other/.git is not believed: [HOME]/shop/.git does not name this directory; [HOME]/other is a project of its own
    ");
    assert_ne!(id_in(&home, "other"), id_in(&home, "shop"));
}

#[test]
fn a_moved_project_is_told_and_adopted_only_on_purpose() {
    let home = Home::new();
    repository(&home, "shop");
    git(&home, "shop", &["remote", "add", "origin", "https://ada:pw@example.com/ada/shop.git"]);
    run_in(&home, "shop", &["write", "deploy", "Never on Fridays."]);
    let old = id_in(&home, "shop");
    fs::rename(home.path("shop"), home.path("moved")).unwrap();
    assert_snapshot!(run_in(&home, "moved", &["list"]), @"");
    assert_snapshot!(run_in(&home, "moved", &["where"]), @"
    Project moved-[HASH]: [HOME]/moved is a git repository
    mount  directory  why
    (project)  [HOME]/home/projects/moved-[HASH]  [HOME]/moved is a git repository
    user/  [HOME]/home/user  yours, in every project
    shop-[HASH] has the same remote or first commit; if it is this project, memdir projects adopt shop-[HASH] uses its memory
    To change: --dir PATH: one directory as the whole memory
    To change: memdir init --team: a memory for everybody who works on this repository
    ");
    assert_snapshot!(run_in(&home, "moved", &["projects"]), @"
    project  state  memories  directory
    moved-[HASH]  here  0  [HOME]/moved
    shop-[HASH]  orphan  1  [HOME]/shop
    -- stderr
    note: an orphan's directory is gone: memdir projects adopt ID uses its memory here, merge moves it
    ");
    assert_snapshot!(run_in(&home, "moved", &["projects", "adopt", &old]), @"moved-[HASH] uses the memory of shop-[HASH]");
    assert_snapshot!(run_in(&home, "moved", &["list"]), @"deploy");
    assert_snapshot!(run_in(&home, "moved", &["projects", "adopt"]), @"moved-[HASH] uses its own memory");
    assert_snapshot!(run_in(&home, "moved", &["list"]), @"");
    assert_snapshot!(run_in(&home, "moved", &["projects", "adopt", "unheard-of"]), @r#"
    -- stderr
    error: there is no project "unheard-of"
    hint: memdir projects lists them.
    -- exit 2
    "#);
}

#[test]
fn merging_moves_every_memory_and_loses_none() {
    let home = Home::new();
    for (dir, name) in [("shop", "deploy"), ("shop", "both"), ("other", "both")] {
        run_in(&home, dir, &["write", name, &format!("{name} of {dir}")]);
    }
    let (from, into) = (id_in(&home, "shop"), id_in(&home, "other"));
    assert_snapshot!(run_in(&home, "other", &["projects", "merge", &from, &into]), @"
    both was there already; the moved one is shop-[HASH]/both
    Moved 2 memories from shop-[HASH] into other-[HASH]
    ");
    assert_snapshot!(run_in(&home, "other", &["list"]), @"
    both
    deploy
    shop-[HASH]/both
    ");
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"");
    assert_snapshot!(run_in(&home, "shop", &["history", "--limit", "1"]).lines().last().unwrap().rsplit("  ").next().unwrap(), @"moved deploy to other-[HASH]");
    assert_snapshot!(run_in(&home, "other", &["history", "--limit", "1"]).lines().last().unwrap().rsplit("  ").next().unwrap(), @"moved deploy here from shop-[HASH]");
    // What moved a memory from one project to another is taken back in both, wherever one stands.
    run_in(&home, "other", &["undo"]);
    run_in(&home, "shop", &["undo"]);
    assert_eq!((run_in(&home, "shop", &["list"]), run_in(&home, "other", &["list"])), ("both\ndeploy\n".into(), "both\n".into()));
    run_in(&home, "shop", &["redo"]);
    run_in(&home, "other", &["redo"]);
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"");
    assert_snapshot!(run_in(&home, "other", &["projects", "rename", &into, "kept"]), @"
    Moved 3 memories from other-[HASH] into kept
    -- stderr
    note: [HOME]/other uses the memory of kept now
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
fn a_named_project_is_shared_by_all_who_name_it() {
    let home = Home::new();
    run_in(&home, "plain", &["write", "a", "x", "--project", "together"]);
    let output = home.bare(&["list"]).current_dir(home.path("plain")).env("MEMDIR_PROJECT", "together").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a\n");
    assert_snapshot!(run_in(&home, "plain", &["list", "--project", "../x"]), @r#"
    -- stderr
    error: "../x" cannot be a project's id
    hint: memdir projects lists the ids there are; a new one has letters, digits, - and _.
    -- exit 2
    "#);
}

#[test]
fn a_session_can_be_narrowed() {
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
    error: there is no memory named "secret"
    hint: List the names that exist, then read one of them.
    -- exit 1
    "#);
    assert_snapshot!(run_in(&home, "plain", &["history", "--only", "notes"]).lines().count().to_string(), @"2");
}

#[test]
fn a_narrowed_session_has_no_entrypoint_and_says_so_kindly() {
    let home = Home::new();
    run_in(&home, "plain", &["write", "notes/a", "x"]);
    assert_snapshot!(run_in(&home, "plain", &["write", "notes/b", "x", "--only", "notes"]), @"created notes/b (2 bytes, version 44c77418e275, change [ID])");
    assert_snapshot!(run_in(&home, "plain", &["entrypoint", "--only", "notes"]), @"");
    assert_snapshot!(run_in(&home, "plain", &["entrypoint"]), @"
    MEMORY.md: no line for notes/b.md
    user/MEMORY.md: every memory has its line
    -- stderr
    note: memdir entrypoint --repair adds the missing lines
    -- exit 1
    ");
    assert_snapshot!(run_in(&home, "plain", &["check"]), @"
    notes/a.md: type: no type: user, feedback, project or reference
    notes/b.md: unlisted: the entrypoint has no line for it, so nobody is led to it; memdir check --fix adds it
    notes/b.md: type: no type: user, feedback, project or reference
    3 files: 1 wrong, 2 to consider
    -- exit 1
    ");
}

#[test]
fn a_narrowed_rename_or_undo_says_what_it_could_not_reach() {
    let home = Home::new();
    run_in(&home, "plain", &["write", "notes/a", "x"]);
    assert_snapshot!(run_in(&home, "plain", &["rename", "notes/a", "notes/b", "--only", "notes"]), @"
    renamed notes/a to notes/b (change [ID])
    -- stderr
    note: only a part of this memory is open: its entrypoint and references outside that part were left as they are; memdir check, without --only, tells which
    ");
    assert_snapshot!(run_in(&home, "plain", &["undo", "--only", "notes"]), @"
    undid [ID]: renamed notes/a to notes/b, by ada (redo: memdir redo [ID])
    -- stderr
    note: only a part of this memory is open: its entrypoint and references outside that part were left as they are; memdir check, without --only, tells which
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
    Project work-[HASH]: [HOME]/work is in no git repository, so the directory itself is the project
    mount  directory  why
    (project)  [HOME]/memory  MEMDIR_DIR: this directory is the whole memory
    team/  [HOME]/memory/team  the directory has a team folder
    To change: without --dir and MEMDIR_DIR: the memory of this project
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
fn nothing_is_written_for_a_team_that_is_not_there() {
    let home = Home::new();
    repository(&home, "shop");
    assert_snapshot!(run_in(&home, "shop", &["write", "team/rule", "Ours."]), @"
    -- stderr
    error: team/rule.md is read-only: this repository has no team memory yet; memdir init --team makes one
    hint: Write to another name, or change the mount's setting.
    -- exit 3
    ");
    let old = home.path("home/projects").join(id_in(&home, "shop")).join("team");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("old.md"), "Old.\n").unwrap();
    assert_snapshot!(run_in(&home, "shop", &["read", "team/old"]), @"
    Old.
    -- stderr
    note: team/old: it has no line in the entrypoint; memdir entrypoint --repair adds it
    ");
    assert_snapshot!(run_in(&home, "shop", &["rename", "team/old", "old"]), @"renamed team/old to old (change [ID])");
    run_in(&home, "shop", &["init", "--team"]);
    assert_snapshot!(run_in(&home, "shop", &["write", "team/rule", "Ours."]), @"created team/rule (6 bytes, version 06b985fa893d, change [ID])");
}

#[test]
fn a_clone_is_told_of_what_it_came_from() {
    let home = Home::new();
    repository(&home, "shop");
    run_in(&home, "shop", &["write", "deploy", "Never on Fridays."]);
    git(&home, "", &["clone", "-q", "shop", "fork"]);
    assert!(run_in(&home, "fork", &["where"]).contains("shop-[HASH] has the same remote or first commit"), "by the directory it came from");
    git(&home, "shop", &["remote", "add", "origin", "https://example.com/ada/shop.git"]);
    git(&home, "fork", &["remote", "set-url", "origin", "git@example.com:ada/shop"]);
    run_in(&home, "shop", &["list"]);
    assert!(run_in(&home, "fork", &["where"]).contains("shop-[HASH] has the same remote or first commit"), "by a remote that came later");
}

#[test]
fn an_agents_memory_is_open_when_it_is_named() {
    let home = Home::new();
    repository(&home, "shop");
    run_in(&home, "shop", &["write", "agent/reviewer/style", "Be short.", "--agent", "reviewer"]);
    run_in(&home, "shop", &["write", "agent/reviewer/rule", "Be kind.", "--agent", "reviewer", "--agent-scope", "project"]);
    assert_eq!(files_below(&home.path("home/agents")), ["reviewer/MEMORY.md", "reviewer/style.md"]);
    assert_eq!(files_below(&home.path("shop/.memdir-agents")), ["reviewer/MEMORY.md", "reviewer/rule.md"]);
    assert_snapshot!(run_in(&home, "shop", &["list"]), @"");
}

#[test]
fn nothing_is_written_for_an_agent_that_is_not_there() {
    let home = Home::new();
    assert_snapshot!(run_in(&home, "plain", &["write", "agent/reviewer/a", "x"]), @"
    -- stderr
    error: agent/reviewer/a.md is read-only: an agent's memory is open to that agent alone: --agent NAME
    hint: Write to another name, or change the mount's setting.
    -- exit 3
    ");
    assert_snapshot!(run_in(&home, "plain", &["write", "agent/reviewer/a", "x", "--agent", "other"]), @"
    -- stderr
    error: agent/reviewer/a.md is read-only: an agent's memory is open to that agent alone: --agent NAME
    hint: Write to another name, or change the mount's setting.
    -- exit 3
    ");
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
    let told = run_in(&home, "shop", &["--only", "user", "prompt"]);
    assert!(told.contains("- **private**: names that begin with `user/`, in `[HOME]/home/user`: for you"), "{told}");
    assert!(told.contains("## MEMORY.md, `user/`") && told.contains("(taste.md)") && !told.contains("team"), "{told}");
    let told = run_in(&home, "shop", &["--only", "team", "prompt"]);
    assert!(told.contains("- **team**: names that begin with `team/`, in `[HOME]/shop/.memdir`"), "{told}");
    assert!(told.contains("Nothing here is private") && told.contains("(rule.md)") && !told.contains("(taste.md)"), "{told}");
    let both = run_in(&home, "shop", &["--only", "team", "--only", "user", "prompt"]);
    assert!(both.contains("**private**") && both.contains("**team**") && !both.contains("Nothing here is private"), "{both}");
    let logged = run_in(&home, "shop", &["--only", "user", "log", "low water"]);
    assert!(logged.starts_with("logged to user/logs/20"), "{logged}");
    assert_snapshot!(run_in(&home, "shop", &["--only", "user", "prompt", "team"]), @"
    -- stderr
    error: mode: there is no team memory here; memdir init --team makes one
    hint: Call again with another value.
    -- exit 2
    ");
}

#[test]
fn the_prompt_of_a_narrowed_space_names_nothing_outside_it() {
    let home = Home::new();
    repository(&home, "shop");
    for name in ["notes/a", "secret", "user/taste"] {
        run_in(&home, "shop", &["write", name, "x"]);
    }
    let prompt = |only: &str, more: &[&str]| run_in(&home, "shop", &[&["--only", only, "prompt"], more].concat());
    let root = home.plain(&run_in(&home, "shop", &["where", "--json"]));
    let root = root.split('"').find(|text| text.contains("/home/projects/")).unwrap_or_else(|| panic!("{root}")).to_owned();
    let told = prompt("notes", &[]);
    let line = format!("- **private**: names that begin with `notes/`, in `{root}/notes`: for you and this one person, in all their");
    assert!(told.contains(&line) && !told.contains("MEMORY.md"), "{told}");
    let outside = |told: &str| told.replace(&format!("{root}/notes"), "").contains(&root);
    assert!(!outside(&told), "{told}");
    let shell = prompt("notes", &["--search", "shell"]);
    assert!(shell.contains(&format!("grep -rn \"narrow term\" {root}/notes")) || shell.contains("/notes' --include"), "{shell}");
    let both = prompt("notes,user/taste", &[]);
    assert!(both.contains("- **private**: the name `user/taste`, in `[HOME]/home/user/taste.md`: for you") && !outside(&both), "{both}");
    assert_snapshot!(prompt("nosuch", &[]), @"
    -- stderr
    error: only: there is no memory and no folder named nosuch yet, so there is nothing to tell of it
    hint: Call again with another value.
    -- exit 2
    ");
    assert_snapshot!(prompt("team", &[]), @"
    -- stderr
    error: only: team: this repository has no team memory yet; memdir init --team makes one
    hint: Call again with another value.
    -- exit 2
    ");
    assert_snapshot!(prompt("notes", &["log"]), @"
    -- stderr
    error: mode: the log of this space is not open for writing
    hint: Call again with another value.
    -- exit 2
    ");
}

#[test]
fn projects_are_left_alone_while_memory_is_off() {
    let home = Home::new();
    run_in(&home, "plain", &["write", "a", "x", "--project", "one"]);
    run_in(&home, "plain", &["write", "b", "x", "--project", "two"]);
    let off = |args: &[&str]| {
        let output = home.bare(args).current_dir(home.path("plain")).env("MEMDIR_DISABLE", "1").output().unwrap();
        plain_ids(&home.tell(args, output))
    };
    for args in [["projects", "merge", "one", "two"].as_slice(), &["projects", "rename", "one", "three"], &["projects", "adopt", "one"]] {
        let told = off(args);
        assert!(told.contains("error: memory is disabled by MEMDIR_DISABLE=1") && told.ends_with("-- exit 3\n"), "{args:?}: {told}");
    }
    assert_eq!(files_below(&home.path("home/projects")).iter().filter(|file| file.ends_with("/a.md")).count(), 1);
    for args in [["projects"].as_slice(), &["config"]] {
        let told = off(args);
        assert!(told.contains("note: memory is disabled by MEMDIR_DISABLE=1") && !told.contains("-- exit"), "{args:?}: {told}");
    }
}
