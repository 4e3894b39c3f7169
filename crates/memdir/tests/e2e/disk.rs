//! What happens on the disk while memdir runs: directories replaced by links, held locks, special file systems, rules of the mount
//! around `--dir`.

use crate::{
    home::{Home, feed, files_below},
    scope::{repository, run_in},
    talk::Talk,
};
use insta::assert_snapshot;
use serde_json::json;
use std::{fs, os::unix::fs::symlink};

/// A checkout of a branch used to lead a running server into a private directory: it read, wrote and deleted there.
#[test]
fn a_running_server_does_not_follow_its_team_directory_out_of_the_repository() {
    let home = Home::new();
    repository(&home, "shop");
    fs::create_dir_all(home.path("shop/.memdir")).unwrap();
    fs::write(home.path("shop/.memdir/rule.md"), "Tabs.\n").unwrap();
    fs::create_dir_all(home.path("private")).unwrap();
    fs::write(home.path("private/diary.md"), "secret words\n").unwrap();
    let mut command = home.bare(&["mcp"]);
    command.current_dir(home.path("shop"));
    let mut talk = Talk::over(command);
    talk.hello("2025-06-18");
    assert_eq!(talk.call_text("memory_read", json!({ "path": "team/rule" })), "[team/rule.md (today)]\nTabs.");
    fs::remove_dir_all(home.path("shop/.memdir")).unwrap();
    symlink(home.path("private"), home.path("shop/.memdir")).unwrap();
    let mut calls = String::new();
    for (tool, arguments) in [
        ("memory_read", json!({ "path": "team/diary" })),
        ("memory_read", json!({})),
        ("memory_search", json!({ "query": "secret words" })),
        ("memory_write", json!({ "path": "team/new", "text": "x" })),
        ("memory_delete", json!({ "path": "team/diary" })),
    ] {
        let result = talk.call(tool, arguments);
        calls.push_str(&format!("{tool}: {}\n", result["content"][0]["text"].as_str().unwrap()));
    }
    assert_snapshot!(home.with_placeholders(&calls), @r#"
    memory_read: "[HOME]/shop/.memdir" is a symbolic link: links are not followed in a repository's memories; replace the link with a directory. Nothing was changed; do what the message says, or tell the user.
    memory_read: "[HOME]/shop/.memdir" is a symbolic link: links are not followed in a repository's memories; replace the link with a directory. Nothing was changed; do what the message says, or tell the user.
    memory_search: No relevant memories found (0 files searched).
    memory_write: "[HOME]/shop/.memdir" is a symbolic link: links are not followed in a repository's memories; replace the link with a directory. Nothing was changed; do what the message says, or tell the user.
    memory_delete: "[HOME]/shop/.memdir" is a symbolic link: links are not followed in a repository's memories; replace the link with a directory. Nothing was changed; do what the message says, or tell the user.
    "#);
    assert_eq!(files_below(&home.path("private")), ["diary.md"]);
    fs::remove_file(home.path("shop/.memdir")).unwrap();
    fs::create_dir(home.path("shop/.memdir")).unwrap();
    fs::write(home.path("shop/.memdir/rule.md"), "Spaces.\n").unwrap();
    assert_eq!(talk.call_text("memory_read", json!({ "path": "team/rule" })), "[team/rule.md (today)]\nSpaces.");
}

#[test]
fn a_running_server_does_not_follow_an_agents_folder_out_of_the_repository() {
    let home = Home::new();
    repository(&home, "shop");
    fs::create_dir_all(home.path("private/reviewer")).unwrap();
    fs::write(home.path("private/reviewer/diary.md"), "secret words\n").unwrap();
    let mut command = home.bare(&["--agent", "reviewer", "--agent-scope", "project", "mcp"]);
    command.current_dir(home.path("shop"));
    let mut talk = Talk::over(command);
    talk.hello("2025-06-18");
    talk.call_text("memory_write", json!({ "path": "agent/reviewer/style", "text": "Short." }));
    fs::remove_dir_all(home.path("shop/.memdir-agents")).unwrap();
    symlink(home.path("private"), home.path("shop/.memdir-agents")).unwrap();
    let result = talk.call("memory_read", json!({ "path": "agent/reviewer/diary" }));
    assert_snapshot!(home.with_placeholders(result["content"][0]["text"].as_str().unwrap()), @r#""[HOME]/shop/.memdir-agents" is a symbolic link: links are not followed in a repository's memories; replace the link with a directory. Nothing was changed; do what the message says, or tell the user."#);
    let result = talk.call("memory_delete", json!({ "path": "agent/reviewer/diary" }));
    assert_snapshot!(home.with_placeholders(result["content"][0]["text"].as_str().unwrap()), @r#""[HOME]/shop/.memdir-agents" is a symbolic link: links are not followed in a repository's memories; replace the link with a directory. Nothing was changed; do what the message says, or tell the user."#);
    assert_eq!(files_below(&home.path("private")), ["reviewer/diary.md"]);
}

/// The hook used to wait for 60 seconds, longer than any host does.
#[test]
fn a_hook_waits_one_second_for_the_lock_of_another_process_and_names_it() {
    let home = Home::new();
    home.configure("log = true\n");
    home.ok(&["write", "a", "A."]);
    let held = fs::File::open(home.path("memory")).unwrap();
    held.lock().unwrap();
    let input = r#"{"session_id": "5e55", "hook_event_name": "PreCompact"}"#;
    let args = ["hook", "claude-code", "before-compaction", "--explain"];
    let printed = home.transcript(&args, feed(&mut home.command(&args), input.as_bytes()));
    let name = fs::read_to_string("/proc/self/comm").unwrap();
    let holder = format!("process {} ({})", std::process::id(), name.trim_end());
    assert_snapshot!(printed.replace(&holder, "process [PID] ([NAME])"), @r#"
    -- stderr
    note: "[HOME]/memory" is locked by process [PID] ([NAME]) (waited 1 s)
    "#);
    assert_eq!(home.files(), ["MEMORY.md", "a.md"]);
}

/// The command used to say that nothing was changed although the first entrypoint was.
#[test]
fn a_repair_that_fails_for_one_mount_reports_the_others() {
    let home = Home::new();
    fs::write(home.path("file"), "").unwrap();
    for dir in ["own", "user"] {
        fs::create_dir_all(home.path(dir)).unwrap();
        fs::write(home.path(dir).join("a.md"), "A.\n").unwrap();
    }
    let mount = |name: &str, dir: &str, more: &str| format!("[[mounts]]\nname = {name:?}\npath = \"../{dir}\"\n{more}\n");
    home.configure(&format!("{}{}", mount("", "own", ""), mount("user", "user", "journal = \"../file/journal\"")));
    assert_snapshot!(home.run_bare(&["entrypoint", "--repair"]), @r#"
    MEMORY.md: added a.md
    undo the repair with: memdir undo [ID]
    user/MEMORY.md: cannot write the journal in "[HOME]/home/../file/journal": Not a directory (os error 20); to move the journal, set `journal = "PATH"` for this mount
    -- exit 1
    "#);
    assert_eq!(files_below(&home.path("own")), ["MEMORY.md", "a.md"]);
    // Nothing was changed this time.
    assert_snapshot!(home.run_bare(&["entrypoint", "--repair"]), @r#"
    -- stderr
    error: cannot write the journal in "[HOME]/home/../file/journal": Not a directory (os error 20); to move the journal, set `journal = "PATH"` for this mount
    hint: nothing was changed
    -- exit 3
    "#);
}

/// A directory inside a mount used to be writable in spite of the mount's rules, and showed what the mount hides.
#[test]
fn a_directory_inside_a_mount_has_the_rules_of_the_mount() {
    let home = Home::new();
    for name in ["team/fixed.md", "team/secret.md", "team/open.md"] {
        fs::create_dir_all(home.path("notes/team")).unwrap();
        fs::write(home.path("notes").join(name), "text\n").unwrap();
    }
    let rules = "read_only = [\"team/fixed\"]\nignored = [\"team/secret\"]";
    home.configure(&format!("[[mounts]]\nname = \"notes\"\npath = \"../notes\"\n{rules}\n"));
    let dir = home.path("notes/team");
    let run = |args: &[&str]| home.run_bare(&[&["--dir", dir.to_str().unwrap()], args].concat());
    assert_snapshot!(run(&["list"]), @"
    fixed
    open
    ");
    assert_snapshot!(run(&["read", "secret"]), @r#"
    -- stderr
    error: memory "secret" not found
    hint: list the memories with: memdir list
    -- exit 1
    "#);
    assert_snapshot!(run(&["write", "fixed", "x", "--replace"]), @r#"
    -- stderr
    error: cannot write "fixed": a read-only pattern matches its name
    hint: use another name, or change `read_only` in the settings of the mount: see `memdir where`
    -- exit 3
    "#);
    assert_snapshot!(run(&["write", "secret", "x", "--replace"]), @r#"
    -- stderr
    error: memory "secret" not found
    hint: list the memories with: memdir list
    -- exit 1
    "#);
    assert_snapshot!(run(&["write", "open", "more", "--append"]), @"appended to open (10 bytes, version e41fdf44b71a, change [ID])");
    home.configure("[[mounts]]\nname = \"notes\"\npath = \"../notes\"\naccess = \"read-only\"\n");
    assert_snapshot!(run(&["write", "new", "x"]), @r#"
    -- stderr
    error: cannot write "new": its mount "[HOME]/notes/team" is read-only
    hint: use a name in a writable mount; list the mounts with: memdir where
    -- exit 3
    "#);
}

#[test]
fn a_directory_inside_a_team_memory_has_the_rules_of_the_repository() {
    let home = Home::new();
    repository(&home, "shop");
    fs::create_dir_all(home.path("shop/.memdir/api")).unwrap();
    fs::write(home.path("shop/.memdir/config.toml"), "read_only = [\"api/fixed\"]\nignored = [\"api/draft\"]\n").unwrap();
    for name in ["fixed", "draft", "open"] {
        fs::write(home.path("shop/.memdir/api").join(format!("{name}.md")), "text\n").unwrap();
    }
    let dir = home.path("shop/.memdir/api");
    assert_snapshot!(run_in(&home, "shop", &["--dir", dir.to_str().unwrap(), "list"]), @"
    fixed
    open
    ");
    assert_snapshot!(run_in(&home, "shop", &["--dir", dir.to_str().unwrap(), "write", "fixed", "x", "--replace"]), @r#"
    -- stderr
    error: cannot write "fixed": a read-only pattern matches its name
    hint: use another name, or change `read_only` in the settings of the mount: see `memdir where`
    -- exit 3
    "#);
}

/// Reading `/proc` used to need all memory of the machine.
#[cfg(target_os = "linux")]
#[test]
fn special_file_systems_are_not_searched() {
    let home = Home::new();
    home.configure("[memory]\nextraPaths = [\"/proc/**\"]\n");
    assert_snapshot!(home.run_bare(&["search", "Linux version"]), @r#"
    -- stderr
    note: "proc" is on a special file system (proc) and was skipped
    note: no results: 0 files searched
    -- exit 1
    "#);
    assert_snapshot!(home.run_bare(&["read", "proc/version"]), @r#"
    -- stderr
    error: invalid memory name "proc/version": it is on a special file system (proc)
    hint: use another name, such as notes/deploy
    -- exit 2
    "#);
}
