//! `memdir adopt`: other programs' memories.

use crate::home::Home;
use std::fs;

fn put(home: &Home, name: &str, text: &str) {
    fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
    fs::write(home.path(name), text).unwrap();
}

#[test]
fn memories_are_listed_and_mounted_on_request() {
    let home = Home::new();
    assert_eq!(home.run_bare(&["adopt"]), "no memories from other programs found for this user or project\n");
    put(&home, ".koding/memory/style.md", "Two spaces.\n");
    put(&home, "work/.serena/memories/arch.md", "Hexagonal.\n");
    home.configure("# mine\nteam = false\n");
    let shown = home.run_bare(&["adopt"]);
    insta::assert_snapshot!(regex::Regex::new("project = \".*\"").unwrap().replace(&shown, "project = \"[ID]\""));
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), "# mine\nteam = false\n");
    home.bare(&["adopt", "koding", "serena"]).output().unwrap();
    let list = home.run_bare(&["list"]);
    assert_eq!(list, "koding/style\nserena/arch\n");
    assert!(home.run_bare(&["adopt"]).contains("already mounted"));
    assert!(home.run_bare(&["write", "koding/new", "x"]).contains("read-only"));
}

#[test]
fn a_read_only_mount_can_become_read_write() {
    let home = Home::new();
    put(&home, ".koding/memory/style.md", "Two spaces.\n");
    home.configure("# mine\nteam = false # no\n");
    home.bare(&["adopt", "koding"]).output().unwrap();
    assert!(home.run_bare(&["write", "koding/new", "x"]).contains("read-only"));
    let before = fs::read_to_string(home.path("home/config.toml")).unwrap();
    let shown = home.run_bare(&["adopt", "koding", "--read-write", "--dry-run"]);
    assert!(shown.contains("mounted read-only; would become read-write"), "{shown}");
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), before);
    let shown = home.run_bare(&["adopt", "koding", "--read-write"]);
    assert!(shown.contains("now read-write"), "{shown}");
    let after = fs::read_to_string(home.path("home/config.toml")).unwrap();
    assert_eq!(after, before.replace("access = \"read-only\"", "access = \"read-write\""));
    home.bare(&["write", "koding/new", "x"]).output().unwrap();
    assert!(home.path(".koding/memory/new.md").exists());
}

#[test]
fn a_memory_of_a_project_is_mounted_only_there() {
    let home = Home::new();
    put(&home, "work/.serena/memories/arch.md", "Hexagonal.\n");
    home.bare(&["adopt", "serena"]).output().unwrap();
    let elsewhere = home.path("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let output = home.bare(&["list"]).current_dir(&elsewhere).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

#[test]
fn claude_codes_memory_and_memdirs_become_one_directory() {
    let home = Home::new();
    put(&home, ".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    let before = fs::read_to_string(home.path(".claude/settings.json")).unwrap();
    home.bare(&["adopt", "--as-auto-memory"]).output().unwrap();
    let value: serde_json::Value = serde_json::from_str(&fs::read_to_string(home.path(".claude/settings.json")).unwrap()).unwrap();
    assert_eq!(value["autoMemoryDirectory"].as_str(), Some(home.path("home/user").to_str().unwrap()));
    assert!(home.path("home/user").is_dir());
    home.bare(&["install", "claude-code"]).output().unwrap();
    home.bare(&["uninstall", "claude-code"]).output().unwrap();
    assert_eq!(fs::read_to_string(home.path(".claude/settings.json")).unwrap(), before);
}

#[test]
fn memories_that_claude_code_no_longer_reads_are_reported_and_can_be_imported() {
    let home = Home::new();
    let old = home.path(".claude/projects/-home-ada-app/memory");
    put(&home, ".claude/projects/-home-ada-app/memory/deploy.md", "Deploy on Tuesdays.\n");
    put(&home, ".claude/projects/-home-ada-web/memory/empty.txt", "no memory\n");
    let shown = home.run_bare(&["adopt", "--as-auto-memory"]);
    let dir = "[HOME]/.claude/projects/-home-ada-app/memory";
    let note =
        format!("note: Claude Code no longer reads 1 memory in {dir}; to import the directory, run: memdir import {dir} --under user\n");
    assert!(shown.contains(&note) && shown.matches("note: ").count() == 1, "{shown}");
    home.bare(&["import", old.to_str().unwrap(), "--under", "user"]).output().unwrap();
    assert_eq!(fs::read_to_string(home.path("home/user/deploy.md")).unwrap(), "Deploy on Tuesdays.\n");
}

#[test]
fn codex_does_not_import_its_own_memories() {
    let home = Home::new();
    put(&home, ".codex/memories/MEMORY.md", "Codex's own handbook.\n");
    home.bare(&["write", "notes/deploy", "Deploy on Tuesdays."]).output().unwrap();
    home.bare(&["adopt", "codex"]).output().unwrap();
    assert!(home.run_bare(&["list"]).contains("codex/"));
    home.bare(&["adopt", "--to-codex"]).output().unwrap();
    let files = crate::home::files_below(&home.path(".codex/memories/extensions/memdir"));
    assert!(files.iter().any(|file| file.ends_with("/notes/deploy.md")), "{files:?}");
    assert!(!files.iter().any(|file| file.contains("/codex/")), "{files:?}");
}

#[test]
fn codex_imports_memories_in_its_own_format() {
    let home = Home::new();
    home.bare(&["write", "notes/deploy", "Deploy on Tuesdays."]).output().unwrap();
    let shown = home.run_bare(&["adopt", "--to-codex"]);
    assert!(shown.starts_with("wrote 1 memory to [HOME]/.codex/memories/extensions/memdir (3 files changed)\n"), "{shown}");
    let files = crate::home::files_below(&home.path(".codex/memories/extensions/memdir"));
    assert!(files.iter().any(|file| file == "instructions.md"), "{files:?}");
    assert!(files.iter().any(|file| file.ends_with("/notes/deploy.md")), "{files:?}");
    let shown = home.run_bare(&["uninstall", "codex", "--dry-run"]);
    assert!(shown.contains("would remove the directory [HOME]/.codex/memories/extensions/memdir"), "{shown}");
    assert!(home.path(".codex/memories/extensions/memdir").exists());
    let shown = home.run_bare(&["uninstall", "codex"]);
    assert!(shown.contains("[HOME]/.codex/memories/extensions/memdir removed"), "{shown}");
    assert!(!home.path(".codex").exists(), "nothing else is there");
}

/// With two mounts of one name no command would work.
#[test]
fn a_taken_name_is_not_used_again() {
    let home = Home::new();
    put(&home, "work/.serena/memories/arch.md", "Hexagonal.\n");
    put(&home, ".koding/memory/style.md", "Two spaces.\n");
    put(&home, "mine/a.md", "Mine.\n");
    put(&home, "other/b.md", "Theirs.\n");
    let [mine, other] = ["mine", "other"].map(|name| home.path(name).display().to_string());
    home.configure(&format!(
        "[[mounts]]\nname = \"serena\"\npath = \"{mine}\"\n\n[[mounts]]\nname = \"koding\"\npath = \"{other}\"\nproject = \"another\"\n"
    ));
    let shown = home.run_bare(&["adopt", "serena", "koding"]);
    assert!(shown.contains("name = \"serena-2\"") && shown.contains("name = \"koding-2\""), "{shown}");
    assert_eq!(home.run_bare(&["list"]), "koding-2/style\nserena-2/arch\nserena/a\n");
    assert!(home.run_bare(&["adopt", "serena"]).contains("already mounted"));
    assert!(home.run_bare(&["--project", "another", "list"]).contains("koding/b"));
}

fn git(dir: &std::path::Path, args: &[&str]) {
    let mut command = std::process::Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]).args(args).current_dir(dir);
    assert!(command.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap().status.success(), "{args:?}");
}

#[test]
fn a_worktree_uses_claude_codes_memory_of_its_repository() {
    let home = Home::new();
    let shop = home.path("shop");
    fs::create_dir_all(&shop).unwrap();
    git(&shop, &["init", "-q"]);
    git(&shop, &["commit", "-q", "--allow-empty", "-m", "x"]);
    git(&shop, &["worktree", "add", "-q", "../tree"]);
    let slug: String = shop.to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    put(&home, &format!(".claude/projects/{slug}/memory/deploy.md"), "Deploy on Tuesdays.\n");
    let found = || String::from_utf8(home.bare(&["adopt"]).current_dir(home.path("tree")).output().unwrap().stdout).unwrap();
    assert!(found().starts_with("Claude Code's auto memory for this project: 1 file in"), "{}", found());
    home.configure("worktrees = \"separate\"\n");
    assert!(found().starts_with("Claude Code's auto memory for this project: 1 file in"), "{}", found());
    put(&home, "elsewhere/a.md", "A.\n");
    put(&home, ".claude/settings.json", "{ \"autoMemoryDirectory\": \"~/elsewhere\" } // mine\n");
    assert!(found().starts_with(&format!("Claude Code's auto memory: 1 file in {}", home.path("elsewhere").display())), "{}", found());
}

#[test]
fn ignored_files_are_not_counted() {
    let home = Home::new();
    for name in ["MEMORY.md", "raw_memories.md", "extensions/x/a.md", "skills/b.md"] {
        put(&home, &format!(".codex/memories/{name}"), &format!("{name}\n"));
    }
    let shown = home.run_bare(&["adopt"]);
    home.bare(&["adopt", "codex"]).output().unwrap();
    let listed = home.run_bare(&["list"]).lines().count();
    assert!(shown.starts_with(&format!("Codex's memories: {listed} files in")), "{listed}: {shown}");
}

#[test]
fn an_adopted_memory_can_be_unmounted_again() {
    let home = Home::new();
    put(&home, ".koding/memory/style.md", "Two spaces.\n");
    put(&home, "work/.serena/memories/arch.md", "Hexagonal.\n");
    let before = "# mine\nteam = false # no\n\n[[mounts]]\nname = \"notes\"\npath = \"/srv/notes\" # here\n";
    home.configure(before);
    let shown = home.run_bare(&["adopt", "koding", "serena"]);
    assert!(shown.ends_with("undo with: memdir adopt serena koding --undo\n"), "{shown}");
    insta::assert_snapshot!(home.run_bare(&["adopt", "koding", "--undo", "--dry-run"]), @"would remove the mount koding/ from [HOME]/home/config.toml; its files are kept");
    assert_eq!(home.run_bare(&["list"]), "koding/style\nserena/arch\n");
    insta::assert_snapshot!(home.run_bare(&["adopt", "serena", "koding", "--undo"]), @"
    removed the mount serena/ from [HOME]/home/config.toml; its files are kept
    removed the mount koding/ from [HOME]/home/config.toml; its files are kept
    ");
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), before);
    assert_eq!(fs::read_to_string(home.path(".koding/memory/style.md")).unwrap(), "Two spaces.\n");
    insta::assert_snapshot!(home.run_bare(&["adopt", "koding", "--undo"]), @r#"
    -- stderr
    error: memory "koding" has not been adopted
    hint: list the mounts with: memdir config
    -- exit 2
    "#);
    home.configure("");
    home.bare(&["adopt", "koding", "--read-write"]).output().unwrap();
    home.bare(&["adopt", "koding", "--undo"]).output().unwrap();
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), "");
}
