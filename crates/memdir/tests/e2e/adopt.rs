//! `memdir adopt`: other programs' memories.

use crate::home::Home;
use std::fs;

fn put(home: &Home, name: &str, text: &str) {
    fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
    fs::write(home.path(name), text).unwrap();
}

#[test]
fn what_is_found_is_shown_and_mounted_on_request() {
    let home = Home::new();
    assert_eq!(home.run_bare(&["adopt"]), "No other program's memories were found for you or this project\n");
    put(&home, ".koding/memory/style.md", "Two spaces.\n");
    put(&home, "work/.serena/memories/arch.md", "Hexagonal.\n");
    home.configure("# mine\nteam = false\n");
    let told = home.run_bare(&["adopt"]);
    insta::assert_snapshot!(regex::Regex::new("project = \".*\"").unwrap().replace(&told, "project = \"[ID]\""));
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), "# mine\nteam = false\n");
    home.bare(&["adopt", "koding", "serena"]).output().unwrap();
    let list = home.run_bare(&["list"]);
    assert_eq!(list, "koding/style\nserena/arch\n");
    assert!(home.run_bare(&["adopt"]).contains("mounted already"));
    assert!(home.run_bare(&["write", "koding/new", "x"]).contains("read-only"));
}

#[test]
fn what_belongs_to_a_project_is_mounted_nowhere_else() {
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
fn codex_is_fed_in_its_own_format() {
    let home = Home::new();
    home.bare(&["write", "notes/deploy", "Deploy on Tuesdays."]).output().unwrap();
    let told = home.run_bare(&["adopt", "--to-codex"]);
    assert!(told.starts_with("1 memories in [HOME]/.codex/memories/extensions/memdir, 3 files changed\n"), "{told}");
    let files = crate::home::files_below(&home.path(".codex/memories/extensions/memdir"));
    assert!(files.iter().any(|file| file == "instructions.md"), "{files:?}");
    assert!(files.iter().any(|file| file.ends_with("/notes/deploy.md")), "{files:?}");
    home.bare(&["uninstall", "codex"]).output().unwrap();
    assert!(!home.path(".codex/memories/extensions/memdir").exists());
}
