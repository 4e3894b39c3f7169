//! `memdir install`, `memdir doctor` and `memdir uninstall`, on a machine with hosts on it.

use crate::{
    home::{Home, files_below},
    terminal::answered,
};
use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt as _};

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
    error: installing in claude-code, codex, gemini, vscode, opencode, zed needs confirmation, but standard input is not a terminal
    hint: add --yes to install, or --dry-run to show the changes; no file was changed
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
    let (shown, code) = ask(&home, "\n\ny\n");
    assert!(code == 0 && shown.contains("memdir now keeps and searches past conversations"), "{shown}");
    assert!(home.run_bare(&["config"]).contains("chats"));
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), "[chats]\non = true\n");
    assert!(!ask(&home, "\n").0.contains("conversations"), "they are on");
}

#[test]
fn past_conversations_are_mentioned_or_turned_on() {
    let home = Home::new();
    let note = "note: memdir can also search past conversations with agents; turn this on with: memdir chats on\n";
    assert!(home.run_bare(&["install", "zed"]).contains(note));
    assert!(home.run_bare(&["install", "zed", "--chats"]).contains("memdir now keeps and searches past conversations"));
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
    let chats = home.run_bare(&["install", "codex", "--dry-run", "--chats"]);
    assert!(chats.contains("note: `--chats` would set `on = true` in the [chats] table of [HOME]/home/config.toml\n"), "{chats}");
    assert_eq!(files(&home), before);
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
    let bad: Vec<String> =
        text.lines().filter(|line| line.trim_start().starts_with("bad")).map(|line| home.with_placeholders(line)).collect();
    insta::assert_snapshot!(bad.join("\n"), @"
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
    let failed = home.run_bare(&["install", "claude-desktop", "windsurf", "--scope", "project"]);
    assert!(failed.matches(": failed: ").count() == 2 && !failed.contains("note: "), "nothing uses a memory: {failed}");
}

/// A suggested command must not install in another scope, for another memory, or hooks that were left out.
#[test]
fn suggested_commands_keep_the_installation() {
    let shown = machine().run_bare(&["install", "--scope", "project"]);
    let next = "next: memdir install claude-code --scope project (or memdir install --scope project --yes for all hosts found)\n";
    assert!(shown.ends_with(next), "{shown}");
    let home = Home::new();
    let shown = home.run_bare(&["install", "claude-code", "codex", "--scope", "project", "--no-hooks"]);
    let command = "memdir install claude-code --scope project --no-hooks --auto-memory replace|share|both\n";
    assert!(shown.contains(&format!("choose what to do with it: {command}")), "{shown}");
    assert!(shown.contains("  Start `codex` (in a project, also trust the project); `/mcp` then lists memdir.\n"), "{shown}");
    let shown = home.run_bare(&["doctor"]);
    assert!(shown.contains(&format!("choose with: {command}")), "{shown}");
    let home = Home::new();
    let shown = home.run_bare(&["--dir", "notes", "install", "claude-code"]);
    let command = "memdir --home [HOME]/home --dir [HOME]/work/notes install claude-code --auto-memory replace|share|both\n";
    assert!(shown.contains(&format!("choose what to do with it: {command}")), "{shown}");
    let shown = home.run_bare(&["doctor"]);
    assert!(shown.contains(&format!("choose with: {command}")), "{shown}");
}

/// Installs memdir in Codex for the project, then replaces the program by a script.
fn broken_codex(script: &str) -> Home {
    let home = Home::new();
    home.bare(&["install", "codex", "--scope", "project"]).output().unwrap();
    let program = home.path("bin/memdir-broken");
    fs::create_dir_all(home.path("bin")).unwrap();
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for file in ["config.toml", "hooks.json"] {
        let file = home.path("work/.codex").join(file);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace(env!("CARGO_BIN_EXE_memdir"), program.to_str().unwrap())).unwrap();
    }
    home
}

#[test]
fn the_doctor_reports_why_a_program_fails() {
    let home = broken_codex("echo 'no such model' >&2\nexit 1");
    let shown = home.run_bare(&["doctor", "codex"]);
    let install = "run: cd [HOME]/work && memdir --home [HOME]/home install codex --scope project\n";
    assert!(shown.contains(&format!(": no such model\n      check that the program runs, or {install}")), "{shown}");
    let explain = "run: cd [HOME]/work && echo '{}' | memdir --home [HOME]/home hook codex session-start --explain\n";
    assert!(shown.contains(&format!("exited with status 1: no such model\n      {explain}")), "{shown}");
    assert!(shown.ends_with("next: memdir doctor --fix\n-- exit 1\n"), "{shown}");
    // In another project, the commands are for this one.
    fs::create_dir(home.path("other")).unwrap();
    let elsewhere = home.bare(&["doctor", "codex"]).current_dir(home.path("other")).output().unwrap();
    assert!(home.with_placeholders(&String::from_utf8(elsewhere.stdout).unwrap()).contains(install));
}

/// The standard error of a server was shown as a whole, with its secrets, or not at all if another process kept it open.
#[test]
fn the_doctor_shows_a_bounded_end_of_what_a_program_printed() {
    let flood = "head -c 2000000 /dev/zero | tr '\\0' 'x' >&2\necho >&2\n";
    let refused = "echo 'key AKIAQ7RHTZW4XNMP2LKD was refused' >&2\ncase $* in *mcp*) sleep 3 >/dev/null & esac\nexit 1";
    let home = broken_codex(&format!("{flood}{refused}"));
    let shown = home.run_bare(&["doctor", "codex"]);
    assert!(shown.matches("key [secret: aws-access-key] was refused\n").count() > 2, "{shown}");
    assert!(!shown.contains("AKIAQ7RHTZW4XNMP2LKD") && shown.len() < 10_000, "{shown}");
}

#[test]
fn the_doctor_suggests_a_fix_only_for_what_it_can_fix() {
    let home = Home::new();
    home.bare(&["install", "claude-code"]).output().unwrap();
    edit(&home, ".claude/settings.json", |value| value["enabledPlugins"] = serde_json::json!({ "memdir@memdir": true }));
    let shown = home.run_bare(&["doctor"]);
    assert!(shown.contains("so tools and hooks are duplicated\n") && !shown.contains("next: "), "{shown}");
    let shown = home.run_bare(&["doctor", "--fix"]);
    assert!(shown.contains("so tools and hooks are duplicated\n") && !shown.contains("reinstalled"), "{shown}");
}

#[test]
fn one_directory_can_be_installed_as_the_whole_memory() {
    let home = Home::new();
    home.bare(&["--dir", "notes", "install", "cursor"]).output().unwrap();
    let text = fs::read_to_string(home.path(".cursor/mcp.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let [dir, own] = ["work/notes", "home"].map(|name| home.path(name).display().to_string());
    assert_eq!(value["mcpServers"]["memdir"]["args"], serde_json::json!(["--home", own, "--dir", dir, "mcp", "--session-hook"]));
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
        assert_eq!(home.with_placeholders(&server), format!("{words}mcp --session-hook "));
        let hook = json(&home, ".cursor/hooks.json")["hooks"]["stop"][0]["command"].as_str().unwrap().to_owned();
        assert!(home.with_placeholders(&hook).ends_with(&format!(" {words}hook cursor stop")), "{hook}");
        let plugin = fs::read_to_string(home.path(".config/opencode/plugins/memdir.js")).unwrap();
        let before = plugin.lines().find_map(|line| line.strip_prefix("const before = ")).unwrap().trim_end_matches(';');
        assert_eq!(home.with_placeholders(&args(&serde_json::from_str(before).unwrap())), *words);
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
    assert!(hooks[0]["hooks"][0]["command"].as_str().unwrap().contains(" --dir "), "{hooks:#}");
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
fn entries_that_the_user_had_are_restored_after_other_edits() {
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

/// The whole report, without times and sizes.
fn report(home: &Home, args: &[&str]) -> String {
    let shown = home.run_bare(args).replace(env!("CARGO_BIN_EXE_memdir"), "[MEMDIR]");
    let shown = regex::Regex::new(r"projects/work-[0-9a-f]{10}").unwrap().replace_all(&shown, "projects/[ID]").into_owned();
    regex::Regex::new(r"\d+ characters|\(\d+ ms\)|response time \d+ ms|memdir \d+\.\d+\.\d+")
        .unwrap()
        .replace_all(&shown, "[…]")
        .into_owned()
}

#[test]
fn a_host_without_an_installation_is_not_an_error() {
    let home = machine();
    insta::assert_snapshot!(report(&home, &["doctor"]), @"
    […]
      ok  home: [HOME]/home (created when needed)
      ok  mount (project): [HOME]/home/projects/[ID] (created when needed)
      ok  mount user/: [HOME]/home/user (created when needed)
    not installed in any host; next: memdir install
    ");
    insta::assert_snapshot!(report(&home, &["doctor", "codex", "claude-code"]), @"
    […]
      ok  home: [HOME]/home (created when needed)
      ok  mount (project): [HOME]/home/projects/[ID] (created when needed)
      ok  mount user/: [HOME]/home/user (created when needed)
    Codex CLI
      note memdir: not installed
          install with: memdir install codex
    Claude Code
      note memdir: not installed
          install with: memdir install claude-code
    ");
    // An installation whose receipt is lost is checked all the same.
    home.bare(&["install", "codex", "--no-hooks"]).output().unwrap();
    fs::remove_file(home.path("home/installed.json")).unwrap();
    insta::assert_snapshot!(report(&home, &["doctor", "codex"]), @"
    […]
      ok  home: [HOME]/home
      ok  mount (project): [HOME]/home/projects/[ID] (created when needed)
      ok  mount user/: [HOME]/home/user (created when needed)
    Codex CLI
      bad [HOME]/.codex/config.toml: mcp_servers.memdir: differs from what this version of memdir installs
          run: memdir doctor codex --fix
      ok  [HOME]/.codex/config.toml: mcp_servers.memdir: […] serves 9 tools ([…])
      ok  built-in memories: off by default
    next: memdir doctor --fix
    -- exit 1
    ");
}

#[test]
fn a_plugin_is_detected_and_not_installed_twice() {
    let home = machine();
    fs::write(home.path(".claude/settings.json"), "{ \"enabledPlugins\": { \"memdir@memdir\": true } }").unwrap();
    fs::create_dir_all(home.path(".gemini/extensions/memdir")).unwrap();
    fs::write(home.path(".gemini/extensions/memdir/gemini-extension.json"), "{ \"name\": \"memdir\" }").unwrap();
    let before = files(&home);
    insta::assert_snapshot!(report(&home, &["install", "claude-code"]), @"
    -- stderr
    error: Claude Code already has memdir as a plugin: [HOME]/.claude/settings.json
    hint: no file was changed; remove it first with: claude plugin uninstall memdir
    -- exit 3
    ");
    insta::assert_snapshot!(report(&home, &["install", "gemini"]), @"
    -- stderr
    error: Gemini CLI already has memdir as an extension: [HOME]/.gemini/extensions/memdir/gemini-extension.json
    hint: no file was changed; remove it first with: gemini extensions uninstall memdir
    -- exit 3
    ");
    insta::assert_snapshot!(report(&home, &["doctor"]), @"
    […]
      ok  home: [HOME]/home (created when needed)
      ok  mount (project): [HOME]/home/projects/[ID] (created when needed)
      ok  mount user/: [HOME]/home/user (created when needed)
    Claude Code
      ok  plugin: enabled in [HOME]/.claude/settings.json
      note built-in auto memory: on alongside memdir, so the agent gets instructions from two memories
          choose with: memdir install claude-code --auto-memory replace|share|both
    Gemini CLI
      ok  extension: enabled in [HOME]/.gemini/extensions/memdir/gemini-extension.json
      ok  built-in auto memory: off by default
    ");
    assert_eq!(files(&home), before);
    let shown: serde_json::Value = serde_json::from_slice(&home.bare(&["install", "--yes", "--json"]).output().unwrap().stdout).unwrap();
    let hosts: Vec<&str> = shown.as_array().unwrap().iter().map(|one| one["host"].as_str().unwrap()).collect();
    assert_eq!(hosts, ["codex", "vscode", "opencode", "zed"]);
    home.bare(&["uninstall", "--all"]).output().unwrap();
    // Its own memory can be settled beside a plugin.
    home.bare(&["install", "claude-code", "--auto-memory", "replace"]).output().unwrap();
    let settings = json(&home, ".claude/settings.json");
    assert_eq!(settings, serde_json::json!({ "enabledPlugins": { "memdir@memdir": true }, "autoMemoryEnabled": false }));
    home.bare(&["uninstall", "claude-code"]).output().unwrap();
    // A plugin that is installed later duplicates the tools and hooks.
    fs::write(home.path(".claude/settings.json"), "{}").unwrap();
    home.bare(&["install", "claude-code"]).output().unwrap();
    fs::create_dir_all(home.path(".claude/plugins")).unwrap();
    fs::write(home.path(".claude/plugins/installed_plugins.json"), "{ \"version\": 2, \"plugins\": { \"memdir@memdir\": [{}] } }").unwrap();
    let output = home.bare(&["doctor", "claude-code"]).output().unwrap();
    let shown = home.with_placeholders(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(
        shown.contains("bad plugin: enabled in [HOME]/.claude/plugins/installed_plugins.json in addition to `memdir install`"),
        "{shown}"
    );
    edit(&home, ".claude/settings.json", |value| value["enabledPlugins"] = serde_json::json!({ "memdir@memdir": false }));
    assert!(!report(&home, &["doctor", "claude-code"]).contains("plugin"), "it is disabled");
}

#[test]
fn hooks_that_codex_does_not_trust_yet_are_named() {
    let home = machine();
    home.bare(&["install", "codex"]).output().unwrap();
    insta::assert_snapshot!(report(&home, &["doctor", "codex"]), @"
    […]
      ok  home: [HOME]/home
      ok  mount (project): [HOME]/home/projects/[ID] (created when needed)
      ok  mount user/: [HOME]/home/user (created when needed)
    Codex CLI
      ok  [HOME]/.codex/config.toml: mcp_servers.memdir: […] serves 9 tools ([…])
      ok  [HOME]/.codex/hooks.json: hooks.SessionStart: […] […]
      ok  [HOME]/.codex/hooks.json: hooks.UserPromptSubmit: no output […]
      ok  [HOME]/.codex/hooks.json: hooks.PreToolUse: no output […]
      ok  [HOME]/.codex/hooks.json: hooks.Stop: no output […]
      ok  [HOME]/.codex/hooks.json: hooks.SessionEnd: no output […]
      ok  [HOME]/.codex/hooks.json: hooks.PreCompact: no output […]
      note hooks: not trusted yet, so Codex CLI does not run them: SessionStart, UserPromptSubmit, PreToolUse, Stop, SessionEnd, PreCompact
          start `codex`, open `/hooks` and trust these hooks (press `t` to trust all that await review)
      ok  built-in memories: off by default
    ");
    let hooks = home.path(".codex/hooks.json").display().to_string();
    let events = ["session_start", "user_prompt_submit", "pre_tool_use", "stop", "session_end", "pre_compact"];
    let trust = |event: &&str| format!("[hooks.state.\"{hooks}:{event}:0:0\"]\ntrusted_hash = \"sha256:x\"\n");
    let config = fs::read_to_string(home.path(".codex/config.toml")).unwrap();
    fs::write(home.path(".codex/config.toml"), config.clone() + &events[..5].iter().map(trust).collect::<String>()).unwrap();
    let shown = report(&home, &["doctor", "codex"]);
    assert!(shown.contains("note hooks: not trusted yet, so Codex CLI does not run them: PreCompact\n"), "{shown}");
    fs::write(home.path(".codex/config.toml"), config + &events.iter().map(trust).collect::<String>()).unwrap();
    assert!(!report(&home, &["doctor", "codex"]).contains("trusted"));
}

/// Versions before 2.1.139 ignore `args` and ran `memdir` alone, whose output entered the conversation.
#[test]
fn claude_code_gets_one_command_line_that_every_version_runs() {
    let home = Home::new();
    home.bare(&["install", "claude-code"]).output().unwrap();
    let installed = json(&home, ".claude/settings.json");
    for (event, groups) in installed["hooks"].as_object().unwrap() {
        let hook = &groups[0]["hooks"][0];
        let line = hook["command"].as_str().unwrap();
        assert!(hook.get("args").is_none() && line.contains(" hook claude-code "), "{event}: {hook}");
        assert!(line.starts_with(env!("CARGO_BIN_EXE_memdir")), "{line}");
    }
    edit(&home, ".claude/settings.json", |value| {
        let args = serde_json::json!(["hook", "claude-code", "stop"]);
        value["hooks"]["Stop"][0]["hooks"][0] =
            serde_json::json!({ "type": "command", "command": env!("CARGO_BIN_EXE_memdir"), "args": args, "timeout": 10 });
    });
    let shown = report(&home, &["doctor", "claude-code"]);
    let bad = "bad [HOME]/.claude/settings.json: hooks.Stop: uses `args`, which Claude Code before 2.1.139 ignores, so memdir runs without a command\n";
    assert!(shown.contains(bad) && shown.ends_with("-- exit 1\n"), "{shown}");
    assert_eq!(home.bare(&["doctor", "--fix"]).output().unwrap().status.code(), Some(0));
    assert_eq!(json(&home, ".claude/settings.json"), installed);
}

#[test]
fn a_section_that_every_session_gets_twice_is_reported() {
    for host in ["claude-code", "codex", "gemini", "cursor", "opencode", "copilot-cli"] {
        let home = Home::new();
        home.bare(&["install", host]).output().unwrap();
        home.bare(&["install", host, "--scope", "project"]).output().unwrap();
        let output = home.bare(&["doctor", host]).output().unwrap();
        let shown = home.with_placeholders(&String::from_utf8(output.stdout).unwrap());
        assert_eq!((output.status.code(), shown.matches("bad").count()), (Some(1), 1), "{host}: {shown}");
        assert!(shown.contains("bad memory section: added 2 times to each session, by hooks in [HOME]/"), "{host}: {shown}");
        assert!(
            shown.contains(&format!("remove all but one of these hooks, for example with: memdir uninstall {host} --scope project")),
            "{host}: {shown}"
        );
        home.bare(&["uninstall", host, "--scope", "project"]).output().unwrap();
        assert_eq!(home.bare(&["doctor", host]).output().unwrap().status.code(), Some(0), "{host}");
    }
}

/// A project's files may be committed, so they must not contain a path of one machine.
#[test]
fn a_project_names_the_program_without_its_directory_if_it_is_in_path() {
    let home = Home::new();
    let dir = home.path("bin");
    fs::create_dir_all(&dir).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_memdir"), dir.join("memdir")).unwrap();
    let run =
        |args: &[&str]| home.bare(args).env_remove("MEMDIR_HOME").env("PATH", format!("{}:/usr/bin:/bin", dir.display())).output().unwrap();
    for host in hosts(&home).iter().filter(|host| !["claude-desktop", "windsurf"].contains(&host.as_str())) {
        run(&["install", host, "--scope", "project"]);
        for name in files_below(&home.path("work")) {
            let text = fs::read_to_string(home.path("work").join(&name)).unwrap();
            assert!(
                !text.contains(home.path("").to_str().unwrap()) && !text.contains(env!("CARGO_BIN_EXE_memdir")),
                "{host} {name}: {text}"
            );
        }
        let report = run(&["doctor", host]);
        assert_eq!(report.status.code(), Some(0), "{host}: {}", String::from_utf8_lossy(&report.stdout));
        run(&["uninstall", host]);
        assert_eq!(files_below(&home.path("work")), [""; 0], "{host}");
    }
    run(&["install", "cursor"]);
    assert_eq!(json(&home, ".cursor/mcp.json")["mcpServers"]["memdir"]["command"], dir.join("memdir").to_str().unwrap());
    run(&["install", "claude-code", "--scope", "project"]);
    insta::assert_snapshot!(fs::read_to_string(home.path("work/.mcp.json")).unwrap(), @r#"
    {
      "mcpServers": {
        "memdir": {
          "type": "stdio",
          "command": "memdir",
          "args": ["mcp", "--session-hook"]
        }
      }
    }
    "#);
}

#[test]
fn a_moved_repository_is_named_with_the_command_that_reconnects_it() {
    let home = Home::new();
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]).args(args);
        assert!(command.current_dir(home.path("shop")).env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap().status.success(), "{args:?}");
    };
    fs::create_dir_all(home.path("shop")).unwrap();
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    let run_in = |dir: &str, args: &[&str]| {
        let output = home.bare(args).current_dir(home.path(dir)).output().unwrap();
        assert!(output.status.success(), "{args:?}");
        let text = home.with_placeholders(&String::from_utf8(output.stdout).unwrap());
        regex::Regex::new("(shop|market)-[0-9a-f]{10}").unwrap().replace_all(&text, "$1-[ID]").into_owned()
    };
    run_in("shop", &["write", "deploy", "Deploy on Tuesdays."]);
    fs::rename(home.path("shop"), home.path("market")).unwrap();
    insta::assert_snapshot!(run_in("market", &[]), @"
    0 memories in [HOME]/home/projects/market-[ID]
    user/  0 memories in [HOME]/home/user
    this project was moved: 1 memory from [HOME]/shop is not used here; reconnect with: memdir projects adopt shop-[ID]
    next: memdir write NAME TEXT, memdir demo, memdir --help
    ");
    insta::assert_snapshot!(run_in("market", &["doctor"]), @"
    memdir 0.1.0
      ok  home: [HOME]/home
      ok  mount (project): [HOME]/home/projects/market-[ID] (created when needed)
      ok  mount user/: [HOME]/home/user (created when needed)
      note project: moved here from [HOME]/shop; 1 memory is not used
          reconnect with: memdir projects adopt shop-[ID]
    not installed in any host; next: memdir install
    ");
    let input = serde_json::json!({ "session_id": "s", "cwd": home.path("market"), "source": "startup" }).to_string();
    let hook = || {
        let output = crate::home::feed(&mut home.bare(&["hook", "codex", "session-start"]), input.as_bytes());
        String::from_utf8(output.stdout).unwrap()
    };
    let id = regex::Regex::new("memdir projects adopt (shop-[0-9a-f]{10})").unwrap();
    let text = hook();
    let id = id.captures(&text).unwrap_or_else(|| panic!("{text}"))[1].to_owned();
    assert!(text.contains("This project was moved: 1 memory from "), "{text}");
    run_in("market", &["projects", "adopt", &id]);
    assert!(!hook().contains("was moved") && hook().contains("deploy — "));
    assert!(!run_in("market", &[]).contains("was moved") && !run_in("market", &["doctor"]).contains("moved"));
}

#[test]
fn search_and_write_are_never_deferred() {
    let home = machine();
    home.bare(&["install", "claude-code"]).output().unwrap();
    assert!(!report(&home, &["doctor", "claude-code"]).contains("defer"));
    // An older server does not ask for it.
    let old = home.path("memdir-old");
    let tool = |name: &str| serde_json::json!({ "name": name, "inputSchema": { "type": "object" } });
    let answer = |id: u8, result: serde_json::Value| serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": result });
    let hello = answer(
        1,
        serde_json::json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": { "name": "memdir", "version": "0.0.1" } }),
    );
    let tools = answer(2, serde_json::json!({ "tools": [tool("memory_search"), tool("memory_write"), tool("memory_read")] }));
    fs::write(&old, format!("#!/bin/sh\nread a; echo '{hello}'; read b; read c; echo '{tools}'; read d\n")).unwrap();
    fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    edit(&home, ".claude.json", |value| value["mcpServers"]["memdir"]["command"] = old.to_str().unwrap().into());
    let shown = report(&home, &["doctor", "claude-code"]);
    assert!(shown.contains("lets Claude Code defer memory_search and memory_write, so the model sees only their names\n"), "{shown}");
}
