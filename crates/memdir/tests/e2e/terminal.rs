//! Output on a terminal and in a pipe.

use crate::home::Home;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::{fs, io::Read as _, path::Path, process::Command};

/// Runs a command on a pseudo-terminal and returns its output.
pub(crate) fn shown(command: &mut Command) -> String {
    on_terminal(command, None).0
}

/// Runs a command on a pseudo-terminal with typed input; returns the output and the exit status.
pub(crate) fn answered(command: &mut Command, typed: &str) -> (String, i32) {
    on_terminal(command, Some(typed))
}

fn on_terminal(command: &mut Command, typed: Option<&str>) -> (String, i32) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = fs::OpenOptions::new().read(true).write(true).open(Path::new(name.to_str().unwrap())).unwrap();
    if let Some(typed) = typed {
        command.stdin(terminal.try_clone().unwrap());
        rustix::io::write(&master, typed.as_bytes()).unwrap();
    }
    let mut child = command.stdout(terminal.try_clone().unwrap()).stderr(terminal).spawn().unwrap();
    // The command has the other end open too; without it, the output ends with the child process.
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut text = Vec::new();
    let mut reader = fs::File::from(master);
    let mut part = [0; 4096];
    while let Ok(n @ 1..) = reader.read(&mut part) {
        text.extend_from_slice(&part[..n]);
    }
    let code = child.wait().unwrap().code().unwrap();
    (String::from_utf8(text).unwrap().replace("\r\n", "\n"), code)
}

#[test]
fn colours_are_used_on_terminals_and_on_request() {
    let home = Home::new();
    home.ok(&["write", "a", "x"]);
    for args in [&["list", "--long"][..], &["history"], &["read", "zz"], &[]] {
        assert!(shown(home.command(args).env("TERM", "xterm")).contains('\u{1b}'), "{args:?}");
        let plain = shown(home.command(args).env("TERM", "xterm").env("NO_COLOR", "1"));
        assert!(!plain.contains('\u{1b}'), "{args:?}: {plain:?}");
        assert!(!home.run(args).contains('\u{1b}'), "{args:?}");
    }
    assert!(!shown(home.command(&["list", "--json"]).env("TERM", "xterm")).contains('\u{1b}'));
}

#[test]
fn an_empty_list_suggests_a_first_memory_only_without_a_filter() {
    let home = Home::new();
    let list = |args: &[&str]| shown(home.command(args).env("TERM", "xterm").env("NO_COLOR", "1"));
    assert_eq!(list(&["list"]), "note: no memories found; create one with: memdir write NAME TEXT\n");
    home.ok(&["write", "a", "x"]);
    assert_eq!(list(&["list", "--type", "user"]), "note: no memories found\n");
    assert_eq!(list(&["list", "notes"]), "note: no memories found\n");
}

/// The author of a memory must not be able to control the terminal of a reader.
#[test]
fn a_memory_cannot_control_the_terminal() {
    let home = Home::new();
    home.put("evil.md", "before \u{1b}]0;owned\u{7}\u{1b}[2Jafter\r\n");
    let seen = shown(home.command(&["read", "evil"]).env("TERM", "xterm").env("NO_COLOR", "1"));
    assert!(seen.starts_with("before ^[]0;owned^G^[[2Jafter\r\n"), "{seen:?}");
    assert_eq!(home.ok(&["read", "evil"]), "before \u{1b}]0;owned\u{7}\u{1b}[2Jafter\r\n");
}

/// Sequences that a terminal interprets, and characters that hide or reorder text.
const ATTACK: &str = "\u{1b}]52;c;cm0gLXJm\u{7}\u{1b}[2J\u{1b}[31m\u{9b}8m\u{9d}0;x\u{9c}\u{8}\u{7f}\u{202e}\u{2066}\u{200b}\u{2028}";

/// Whether a terminal would interpret or hide a part of this output.
fn is_hostile(text: &str) -> bool {
    text.chars().any(|c| (c.is_control() && !"\n\t".contains(c)) || "\u{202e}\u{2066}\u{200b}\u{2028}".contains(c))
}

/// A machine on which everything that another person can write contains the attack: a cloned repository with its directory, settings,
/// memories and file names, an import, conversations, and actors in the history.
fn hostile_machine() -> Home {
    let home = Home::new();
    let put = |name: String, text: String| {
        fs::create_dir_all(home.path(&name).parent().unwrap()).unwrap();
        fs::write(home.path(&name), text).unwrap();
    };
    let control = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}";
    crate::scope::repository(&home, &format!("shop{control}"));
    let repository = |name: &str| format!("shop{control}/{name}");
    put(repository(".memdir/config.toml"), format!("\"{}\" = 1\nignored = [\"(\u{202e}\"]\nx\u{9b} = 2\n", control.escape_default()));
    let quoted: String = ATTACK.chars().map(|c| format!("\\u{:04X}", u32::from(c))).collect();
    put(
        repository(".memdir/evil.md"),
        format!(
            "---\nname: \"N{quoted}\"\ndescription: \"D{quoted}\"\ntype: \"t{quoted}\"\nwhen: \"w{quoted}(\"\nsource: {ATTACK}\n---\n# H {ATTACK}\n\nDeploy \
             {ATTACK} on Tuesdays, see [[gone{ATTACK}]], [x](gone{ATTACK}.md), `src/gone{ATTACK}.rs` and `src/gone.rs`.\n"
        ),
    );
    put(repository(&format!(".memdir/name{control}.md")), "Deploy twice.\n".into());
    put(repository(".memdir/MEMORY.md"), format!("# Memory {ATTACK}\n\n- [evil](evil.md) — {ATTACK}\n- [gone {ATTACK}](gone.md)\n"));
    put(repository(".memdir/memory.tests.md"), format!("When {ATTACK}? -> must find gone{ATTACK}\n"));
    put(
        "import.json".into(),
        serde_json::json!({ "memdir_bundle": 1, "memories": [{ "path": format!("in{control}.md"), "text": ATTACK }] }).to_string(),
    );
    let turn = |kind: &str, text: String| {
        let message = serde_json::json!({ "role": kind, "content": text });
        serde_json::json!({ "type": kind, "sessionId": "0a1b2c3d-0000-4000-8000-000000000001", "cwd": home.path(&repository("")), "timestamp": "2026-01-15T10:00:00Z", "uuid": kind, "message": message })
    };
    let transcript =
        format!("{}\n{}\n", turn("user", format!("Deploy {ATTACK} the shop")), turn("assistant", format!("Deployed {ATTACK} it.")));
    put(".claude/projects/-shop/0a1b2c3d-0000-4000-8000-000000000001.jsonl".into(), transcript);
    home
}

#[test]
fn no_command_sends_a_control_character_of_others_to_the_terminal() {
    let home = hostile_machine();
    let dir = fs::read_dir(home.path(""))
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.to_string_lossy().contains("/shop"))
        .unwrap();
    let command = |args: &[&str]| {
        let mut command = home.bare(args);
        command.current_dir(&dir).env("TERM", "xterm");
        command
    };
    let actor = format!("eve{}", "\u{1b}]0;x\u{7}\u{202e}");
    assert!(command(&["write", "team/mine", "Deploy on Tuesdays.", "--actor", &actor]).output().unwrap().status.success());
    assert!(command(&["write", "team/mine", ATTACK, "--append", "--actor", &actor]).output().unwrap().status.success());
    assert!(command(&["chats", "on"]).output().unwrap().status.success());
    // Their progress bars have sequences of their own.
    assert!(command(&["chats", "sync"]).output().unwrap().status.success());
    assert!(command(&["index"]).output().unwrap().status.success());
    let import = home.path("import.json").display().to_string();
    let unknown = format!("no{ATTACK}");
    let colours = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    for args in [
        &[][..],
        &["list"],
        &["list", "-l"],
        &["list", "--tree"],
        &["read"],
        &["read", "team/evil"],
        &["read", "team/evil", "team/mine", "gone"],
        &["get", "team/evil.md:1-30"],
        &["search", "deploy tuesdays"],
        &["search", "deploy", "--explain"],
        &["search", "deploy", "--source", "chat"],
        &["search", "deploy", "--why-not", "team/evil"],
        &["search", ATTACK],
        &["check"],
        &["verify", "team/evil"],
        &["history"],
        &["history", "team/mine"],
        &["diff", "team/mine"],
        &["status"],
        &["stats"],
        &["stats", "--loads"],
        &["where"],
        &["config"],
        &["projects"],
        &["doctor"],
        &["doctor", "claude-code"],
        &["prompt"],
        &["recall", "When do we deploy on Tuesdays?"],
        &["entrypoint"],
        &["export"],
        &["import", &import, "--dry-run"],
        &["import", &import],
        &["test"],
        &["chats"],
        &["chats", "show", "0a1b2c3d"],
        &["chats", "export"],
        &["resume", "deploy"],
        &["adopt"],
        &["install"],
        &["install", "claude-code", "--scope", "project", "--dry-run"],
        &["dialects"],
        &["read", &unknown],
        &["undo", &unknown],
        &["token", "revoke", &unknown],
        &["list", "--wrong", &unknown],
        &[&unknown],
        &["write", "a", "x", "--if-version", &unknown],
        &["undo"],
        &["redo"],
    ] {
        let seen = shown(command(args).env("NO_COLOR", "1"));
        assert!(!is_hostile(&seen), "{args:?}: {seen:?}");
        // In colour, there are no escape sequences but those of colours.
        let seen = shown(&mut command(args));
        assert!(!is_hostile(&colours.replace_all(&seen, "")), "{args:?}: {seen:?}");
        assert!(!seen.contains("\u{1b}[31m\u{9b}") && !seen.contains("^[[2J\u{1b}[31m"), "{args:?}: {seen:?}");
        let seen = shown(command(&[args, &["--json"]].concat()).env("NO_COLOR", "1"));
        assert!(!is_hostile(&seen), "{args:?} --json: {seen:?}");
        // A pipe may end in a terminal: only what is read, and may be written back, keeps its bytes.
        let output = command(args).output().unwrap();
        let bytes = ["read", "get", "export", "diff", "prompt", "recall", "chats"];
        if !args.first().is_some_and(|command| bytes.contains(command)) {
            assert!(!is_hostile(&String::from_utf8_lossy(&output.stdout)), "{args:?}: {output:?}");
        }
        assert!(!is_hostile(&String::from_utf8_lossy(&output.stderr)), "{args:?}: {output:?}");
    }
    // The attack was there: it is shown.
    for args in
        [&["list", "-l"][..], &["check"], &["read", "team/evil"], &["history"], &["where"], &["search", "deploy tuesdays"], &["chats"]]
    {
        let seen = shown(command(args).env("NO_COLOR", "1"));
        assert!(seen.contains("^[]") || seen.contains("<U+"), "{args:?}: {seen:?}");
    }
}
