//! `memdir install`, `memdir doctor` and `memdir uninstall`, on a machine with hosts on it.

use crate::{
    home::{Home, files_below},
    terminal::answered,
};
use std::{collections::BTreeMap, fs};

/// The names of all hosts.
fn hosts(home: &Home) -> Vec<String> {
    let output = home.bare(&["install", "--json"]).output().unwrap();
    let hosts: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    hosts.as_array().unwrap().iter().map(|host| host["host"].as_str().unwrap().to_owned()).collect()
}

/// Settings that the user already has.
const SETTINGS: &[(&str, &str)] = &[
    (".claude.json", "{\n  \"numStartups\": 12,\n  \"mcpServers\": {\n    \"github\": {\n      \"command\": \"docker\"\n    }\n  }\n}\n"),
    (
        ".claude/settings.json",
        "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] } ]\n  }\n}",
    ),
    (".codex/config.toml", "# mine\r\nmodel = \"gpt-5\"\r\n\r\n[mcp_servers.github]\r\ncommand = \"docker\"\r\n"),
    (".gemini/settings.json", "{}"),
    (".config/Code/User/mcp.json", "{\n\t\"servers\": {},\n\t\"inputs\": []\n}\n"),
    (".config/opencode/opencode.jsonc", "{\n  // opencode\n  \"$schema\": \"https://opencode.ai/config.json\",\n}\n"),
    (".config/zed/settings.json", "// Zed\n{\n  \"theme\": \"One Dark\",\n}\n"),
];

fn machine() -> Home {
    let home = Home::new();
    for (name, text) in SETTINGS {
        fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
        fs::write(home.path(name), text).unwrap();
    }
    home
}

/// All files of the user except memdir's own.
fn files(home: &Home) -> BTreeMap<String, String> {
    let own = |name: &String| !name.starts_with("home/") && !name.starts_with("work/") && !name.starts_with(".cache/");
    let names = files_below(&home.path("")).into_iter().filter(own);
    names.map(|name| (name.clone(), fs::read_to_string(home.path(&name)).unwrap())).collect()
}

#[test]
fn every_host_is_installed_checked_and_uninstalled_without_a_trace() {
    for host in &hosts(&machine()) {
        let home = machine();
        let before = files(&home);
        assert_eq!(home.bare(&["install", host]).output().unwrap().status.code(), Some(0), "{host}");
        let report = home.bare(&["doctor", "--json"]).output().unwrap();
        let value: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
        assert_eq!((value["ok"].as_bool(), report.status.code()), (Some(true), Some(0)), "{host}: {value:#}");
        assert_ne!(files(&home), before, "{host}");
        assert_eq!(home.bare(&["uninstall", host]).output().unwrap().status.code(), Some(0), "{host}");
        assert_eq!(files(&home), before, "{host}");
    }
}

#[test]
fn all_of_them_at_once() {
    let home = machine();
    let before = files(&home);
    let shown: serde_json::Value =
        serde_json::from_slice(&home.bare(&["install", "--all", "--yes", "--json"]).output().unwrap().stdout).unwrap();
    let hosts: Vec<&str> = shown.as_array().unwrap().iter().map(|one| one["host"].as_str().unwrap()).collect();
    assert_eq!(hosts, ["claude-code", "codex", "gemini", "vscode", "opencode", "zed"]);
    assert!(home.run_bare(&["install", "--all", "--yes", "--dry-run"]).contains("no changes"));
    assert_eq!(home.bare(&["uninstall", "--all"]).output().unwrap().status.code(), Some(0));
    assert_eq!(files(&home), before);
}

#[test]
fn yes_asks_nothing_and_all_without_it_needs_a_terminal() {
    let home = machine();
    let shown = home.run_bare(&["install", "--all"]);
    insta::assert_snapshot!(shown, @"
    -- stderr
    error: --all needs confirmation, but standard input is not a terminal; --all would install in claude-code, codex, gemini, vscode, opencode, zed
    hint: add --yes, or --dry-run to show the changes; no file was changed
    -- exit 2
    ");
    let output = home.bare(&["install", "--yes", "--json"]).output().unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((shown.as_array().unwrap().len(), output.status.code()), (6, Some(0)), "{shown}");
}

#[test]
fn the_user_is_asked_and_the_answer_is_parsed() {
    let ask = |home: &Home, typed: &str| answered(home.bare(&["install"]).env("NO_COLOR", "1").env("TERM", "xterm"), typed);
    let home = machine();
    let before = files(&home);
    for (typed, code) in [("n\n", 0), ("cluade-code\n", 2), ("codex, nothing\n", 2), ("\u{4}", 0)] {
        let (shown, ended) = ask(&home, typed);
        assert_eq!((ended, &files(&home)), (code, &before), "{typed:?}: {shown}");
    }
    let (shown, code) = ask(&home, "codex gemini\n\n");
    assert!(code == 0 && shown.contains("Codex CLI (user): done") && shown.contains("Gemini CLI (user): done"), "{shown}");
    assert!(shown.contains("memdir chats on"), "{shown}");
    assert!(!home.path("home/config.toml").exists(), "the user did not answer yes");
    let (shown, code) = ask(&home, "\ny\n");
    assert!(code == 0 && shown.contains("past conversations are now kept and searched"), "{shown}");
    assert!(home.run_bare(&["config"]).contains("chats"));
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), "[chats]\non = true\n");
    assert!(!ask(&home, "\n").0.contains("conversations"), "they are on");
}

#[test]
fn past_conversations_are_mentioned_or_turned_on() {
    let home = Home::new();
    let note = "note: past conversations with agents can be searched too; turn this on with: memdir chats on\n";
    assert!(home.run_bare(&["install", "zed"]).contains(note));
    assert!(home.run_bare(&["install", "zed", "--chats"]).contains("past conversations are now kept"));
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), "[chats]\non = true\n");
    assert!(!home.run_bare(&["install", "zed"]).contains("conversations"));
}

#[test]
fn the_doctor_reports_what_turned_memory_off() {
    let home = machine();
    home.bare(&["install", "codex"]).output().unwrap();
    let before = files(&home);
    home.configure("enabled = false\n");
    for args in [&["doctor"][..], &["doctor", "--fix"]] {
        let shown = home.run_bare(args);
        assert!(shown.contains("bad memory: off: enabled = false in [HOME]/home/config.toml"), "{shown}");
        assert!(shown.matches("bad").count() == 1 && shown.ends_with("-- exit 1\n"), "{shown}");
    }
    assert_eq!(files(&home), before);
}

#[test]
fn without_a_name_it_lists_the_hosts() {
    let home = machine();
    home.bare(&["install", "codex"]).output().unwrap();
    insta::assert_snapshot!(regex::Regex::new(" {2,}").unwrap().replace_all(&home.run_bare(&["install"]), "  "));
}

#[test]
fn a_dry_run_shows_the_changes_and_writes_nothing() {
    let home = machine();
    let before = files(&home);
    let shown = home.run_bare(&["install", "codex", "--dry-run"]);
    insta::assert_snapshot!(shown.replace(env!("CARGO_BIN_EXE_memdir"), "[MEMDIR]"));
    assert_eq!(files(&home), before);
    assert!(!home.path("home/installed.json").exists());
}

#[test]
fn a_file_that_cannot_be_parsed_is_refused() {
    let home = machine();
    fs::write(home.path(".gemini/settings.json"), "{ \"mcpServers\": ").unwrap();
    let before = files(&home);
    insta::assert_snapshot!(home.run_bare(&["install", "gemini"]), @"
    -- stderr
    error: [HOME]/.gemini/settings.json: line 1, column 17: expected value after colon in object property
    hint: fix the file, then run the command again; no file was changed
    -- exit 3
    ");
    assert_eq!(files(&home), before);
}

#[test]
fn the_doctor_reports_problems_and_fixes_them() {
    let home = machine();
    home.bare(&["install", "claude-code", "codex"]).output().unwrap();
    let config = fs::read_to_string(home.path(".codex/config.toml")).unwrap();
    fs::write(home.path(".codex/config.toml"), config.replace(env!("CARGO_BIN_EXE_memdir"), "/gone/memdir")).unwrap();
    let settings = fs::read_to_string(home.path(".claude/settings.json")).unwrap();
    fs::write(home.path(".claude/settings.json"), settings.replace("\"session-start\"", "\"another-time\"")).unwrap();
    let shown = home.bare(&["doctor"]).output().unwrap();
    let text = String::from_utf8(shown.stdout).unwrap();
    assert_eq!(shown.status.code(), Some(1), "{text}");
    let bad: Vec<String> = text.lines().filter(|line| line.trim_start().starts_with("bad")).map(|line| home.plain(line)).collect();
    insta::assert_snapshot!(bad.join("\n"), @"
    bad [HOME]/.claude/settings.json: hooks.SessionStart: missing, or different from what this version of memdir installs
    bad [HOME]/.codex/config.toml: mcp_servers.memdir: starts another memdir executable: /gone/memdir
    bad [HOME]/.codex/config.toml: mcp_servers.memdir: /gone/memdir cannot be started: No such file or directory (os error 2)
    ");
    assert_eq!(home.bare(&["doctor", "--fix"]).output().unwrap().status.code(), Some(0));
    assert_eq!(home.bare(&["doctor"]).output().unwrap().status.code(), Some(0));
}

#[test]
fn a_project_is_installed_for_itself() {
    let home = machine();
    let before = files(&home);
    for host in hosts(&home).iter().filter(|host| !["claude-desktop", "windsurf"].contains(&host.as_str())) {
        assert_eq!(home.bare(&["install", host, "--scope", "project"]).output().unwrap().status.code(), Some(0), "{host}");
        assert_eq!(files(&home), before, "{host}: nothing outside the project");
        let report = home.bare(&["doctor", host]).output().unwrap();
        assert_eq!(report.status.code(), Some(0), "{host}: {}", String::from_utf8_lossy(&report.stdout));
        home.bare(&["uninstall", host]).output().unwrap();
        assert_eq!(files_below(&home.path("work")), [""; 0], "{host}");
    }
    insta::assert_snapshot!(home.run_bare(&["install", "windsurf", "--scope", "project"]), @r"
    -- stderr
    error: Windsurf does not have project settings
    hint: omit --scope project
    -- exit 3
    ");
}

#[test]
fn one_directory_can_be_installed_as_the_whole_memory() {
    let home = Home::new();
    home.bare(&["--dir", "notes", "install", "cursor"]).output().unwrap();
    let text = fs::read_to_string(home.path(".cursor/mcp.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let [dir, own] = ["work/notes", "home"].map(|name| home.path(name).display().to_string());
    assert_eq!(value["mcpServers"]["memdir"]["args"], serde_json::json!(["--home", own, "--dir", dir, "mcp"]));
    assert!(fs::read_to_string(home.path(".cursor/hooks.json")).unwrap().contains(&format!("--dir {dir} hook cursor stop")));
}

/// A host starts tools and hooks without the flags and variables of the installation.
#[test]
fn tools_and_hooks_use_the_selected_memory() {
    let all = ["--agent", "scout", "--agent-scope", "local", "--project", "p", "--only", "notes,user"];
    let chosen: &[(&[&str], &[(&str, &str)], &str)] = &[
        (&[], &[], ""),
        (&all, &[], "--project p --agent scout --agent-scope local --only notes --only user "),
        (&[], &[("MEMDIR_DIR", "notes"), ("MEMDIR_AGENT", "scout")], "--dir [HOME]/work/notes --agent scout "),
        (&[], &[("MEMDIR_HOME", "[HOME]/elsewhere")], "--home [HOME]/elsewhere "),
    ];
    for (args, variables, words) in chosen {
        let home = Home::new();
        let mut command = home.bare(&[args, &["install", "opencode", "cursor"][..]].concat());
        command.env_remove("MEMDIR_HOME");
        for (key, value) in *variables {
            command.env(key, value.replace("[HOME]", home.path("").to_str().unwrap().trim_end_matches('/')));
        }
        assert_eq!(command.output().unwrap().status.code(), Some(0), "{words}");
        let args = |value: &serde_json::Value| {
            value.as_array().unwrap().iter().map(|arg| format!("{} ", arg.as_str().unwrap())).collect::<String>()
        };
        let server = args(&json(&home, ".cursor/mcp.json")["mcpServers"]["memdir"]["args"]);
        assert_eq!(home.plain(&server), format!("{words}mcp "));
        let hook = json(&home, ".cursor/hooks.json")["hooks"]["stop"][0]["command"].as_str().unwrap().to_owned();
        assert!(home.plain(&hook).ends_with(&format!(" {words}hook cursor stop")), "{hook}");
        let plugin = fs::read_to_string(home.path(".config/opencode/plugins/memdir.js")).unwrap();
        let before = plugin.lines().find_map(|line| line.strip_prefix("const before = ")).unwrap().trim_end_matches(';');
        assert_eq!(home.plain(&args(&serde_json::from_str(before).unwrap())), *words);
    }
}

#[test]
fn a_receipt_does_not_copy_other_settings() {
    let home = machine();
    fs::write(home.path(".claude.json"), "{\n  \"oauth\": \"a-secret-of-the-host\",\n  \"mcpServers\": {}\n}\n").unwrap();
    home.bare(&["install", "claude-code"]).output().unwrap();
    let receipt = fs::read_to_string(home.path("home/installed.json")).unwrap();
    assert!(!receipt.contains("a-secret-of-the-host"));
    assert_eq!(crate::home::mode(&home.path("home/installed.json")), 0o600);
}

#[test]
fn copilot_is_detected_by_any_file_but_its_hooks() {
    let home = Home::new();
    let found = || {
        let shown: serde_json::Value = serde_json::from_slice(&home.bare(&["install", "--json"]).output().unwrap().stdout).unwrap();
        let text = shown.to_string();
        let at = text.find("\"copilot-cli\"").unwrap_or_else(|| panic!("{text}"));
        let one = &text[text[..at].rfind('{').unwrap()..at + text[at..].find('}').unwrap()];
        one.contains(".copilot")
    };
    assert!(!found());
    fs::create_dir_all(home.path(".copilot/hooks")).unwrap();
    fs::write(home.path(".copilot/hooks/memdir.json"), "{}").unwrap();
    assert!(!found(), "the hooks alone may belong to VS Code or memdir");
    fs::write(home.path(".copilot/command-history.json"), "[]").unwrap();
    assert!(found());
}

#[test]
fn the_doctor_runs_what_opencodes_plugin_runs() {
    let home = machine();
    home.bare(&["install", "opencode"]).output().unwrap();
    let plugin = home.path(".config/opencode/plugins/memdir.js");
    let shown = home.run_bare(&["doctor", "opencode"]);
    for event in ["experimental.chat.system.transform", "chat.message", "tool.execute.before", "session.idle"] {
        assert!(shown.contains(&format!("the plugin: {event}")), "{shown}");
    }
    let text = fs::read_to_string(&plugin).unwrap();
    let other = text.lines().map(|line| if line.starts_with("const program") { "const program = \"/nowhere/memdir\"" } else { line });
    fs::write(&plugin, other.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let report = home.bare(&["doctor", "opencode"]).output().unwrap();
    assert_eq!(report.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&report.stdout).contains("/nowhere/memdir cannot be started"), "{report:?}");
}

fn json(home: &Home, name: &str) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(home.path(name)).unwrap()).unwrap()
}

fn edit(home: &Home, name: &str, change: impl Fn(&mut serde_json::Value)) {
    let mut value = json(home, name);
    change(&mut value);
    fs::write(home.path(name), serde_json::to_string_pretty(&value).unwrap()).unwrap();
}

/// Runs the binary under another name.
fn renamed(home: &Home, args: &[&str]) -> std::process::Output {
    let other = home.path("bin/remember");
    if !other.exists() {
        fs::create_dir_all(home.path("bin")).unwrap();
        fs::hard_link(env!("CARGO_BIN_EXE_memdir"), &other).or_else(|_| fs::copy(env!("CARGO_BIN_EXE_memdir"), &other).map(drop)).unwrap();
    }
    let like = home.bare(args);
    let mut command = std::process::Command::new(other);
    command.args(args).env_clear().current_dir(home.path("work")).stdin(std::process::Stdio::null());
    command.envs(like.get_envs().filter_map(|(key, value)| Some((key, value?)))).output().unwrap()
}

#[test]
fn a_hook_of_the_user_beside_ours_is_kept() {
    let home = Home::new();
    home.bare(&["install", "claude-code"]).output().unwrap();
    let mine = serde_json::json!({ "type": "command", "command": "say done" });
    edit(&home, ".claude/settings.json", |value| value["hooks"]["Stop"][0]["hooks"].as_array_mut().unwrap().push(mine.clone()));
    home.bare(&["--dir", "notes", "install", "claude-code"]).output().unwrap();
    let hooks = json(&home, ".claude/settings.json")["hooks"]["Stop"].clone();
    assert_eq!((hooks.as_array().unwrap().len(), &hooks[0]["hooks"][1]), (1, &mine), "{hooks:#}");
    assert_eq!(hooks[0]["hooks"][0]["args"][2], "--dir", "{hooks:#}");
    home.bare(&["uninstall", "claude-code"]).output().unwrap();
    assert_eq!(json(&home, ".claude/settings.json"), serde_json::json!({ "hooks": { "Stop": [{ "hooks": [mine] }] } }));
}

#[test]
fn the_entry_of_a_repository_is_not_removed_with_ours() {
    let home = Home::new();
    home.bare(&["install", "claude-code"]).output().unwrap();
    let committed = "{ \"mcpServers\": { \"memdir\": { \"command\": \"memdir\", \"args\": [\"mcp\"] } } }\n";
    fs::write(home.path("work/.mcp.json"), committed).unwrap();
    home.bare(&["uninstall", "claude-code"]).output().unwrap();
    assert!(!home.path(".claude.json").exists());
    assert_eq!(fs::read_to_string(home.path("work/.mcp.json")).unwrap(), committed);
    home.bare(&["uninstall", "claude-code", "--scope", "project"]).output().unwrap();
    assert_eq!(json(&home, "work/.mcp.json"), serde_json::json!({}), "asked for, it goes");
}

#[test]
fn what_a_person_had_of_memdir_is_there_again_after_other_edits() {
    let home = Home::new();
    let own = serde_json::json!({ "command": "/old/memdir", "args": ["mcp", "--dialect", "claude"], "env": { "A": "1" } });
    let hook = serde_json::json!({ "command": "/old/memdir hook cursor stop", "timeout": 1 });
    fs::create_dir_all(home.path(".cursor")).unwrap();
    fs::write(home.path(".cursor/mcp.json"), serde_json::json!({ "mcpServers": { "memdir": own } }).to_string()).unwrap();
    fs::write(home.path(".cursor/hooks.json"), serde_json::json!({ "version": 1, "hooks": { "stop": [hook] } }).to_string()).unwrap();
    for _ in 0..2 {
        assert_eq!(home.bare(&["install", "cursor"]).output().unwrap().status.code(), Some(0));
    }
    assert_eq!(json(&home, ".cursor/mcp.json")["mcpServers"]["memdir"]["env"]["A"], "1");
    edit(&home, ".cursor/mcp.json", |value| value["since"] = 1.into());
    edit(&home, ".cursor/hooks.json", |value| value["since"] = 1.into());
    home.bare(&["uninstall", "cursor"]).output().unwrap();
    assert_eq!(json(&home, ".cursor/mcp.json"), serde_json::json!({ "mcpServers": { "memdir": own }, "since": 1 }));
    assert_eq!(json(&home, ".cursor/hooks.json"), serde_json::json!({ "version": 1, "hooks": { "stop": [hook] }, "since": 1 }));
}

#[test]
fn a_program_of_another_name_knows_what_it_put_in() {
    for host in &hosts(&Home::new()) {
        let home = machine();
        let before = files(&home);
        for args in [&["install", host][..], &["--dir", "notes", "install", host], &["doctor", host]] {
            let output = renamed(&home, args);
            assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
        }
        // Another memdir knows it by the receipt.
        assert_eq!(home.bare(&["uninstall", host]).output().unwrap().status.code(), Some(0), "{host}");
        fs::remove_dir_all(home.path("bin")).unwrap();
        assert_eq!(files(&home), before, "{host}");
        renamed(&home, &["install", host]);
        fs::remove_file(home.path("home/installed.json")).unwrap();
        assert_eq!(renamed(&home, &["install", host]).status.code(), Some(0), "{host}: it knows itself");
    }
}

#[test]
fn the_doctor_fixes_what_was_installed_and_nothing_else() {
    let home = Home::new();
    home.bare(&["--dir", "notes", "install", "cursor", "--no-hooks"]).output().unwrap();
    home.bare(&["adopt", "--as-auto-memory"]).output().unwrap();
    let (cursor, claude) = (json(&home, ".cursor/mcp.json"), json(&home, ".claude/settings.json"));
    let report = home.bare(&["doctor"]).output().unwrap();
    assert_eq!(report.status.code(), Some(0), "{}", String::from_utf8_lossy(&report.stdout));
    edit(&home, ".cursor/mcp.json", |value| value["mcpServers"]["memdir"]["args"] = serde_json::json!(["mcp"]));
    fs::write(home.path(".claude/settings.json"), "{}").unwrap();
    assert_eq!(home.bare(&["doctor"]).output().unwrap().status.code(), Some(1));
    assert_eq!(home.bare(&["doctor", "--fix"]).output().unwrap().status.code(), Some(0));
    assert_eq!((json(&home, ".cursor/mcp.json"), json(&home, ".claude/settings.json")), (cursor, claude));
    assert!(!home.path(".cursor/hooks.json").exists() && !home.path(".claude.json").exists());
}
