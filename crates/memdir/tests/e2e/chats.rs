//! `memdir chats`.

use crate::home::Home;
use std::fs;

const LOGIN: &str = r#"{"type":"user","cwd":"/home/ada/app","gitBranch":"main","uuid":"u1","timestamp":"2026-01-15T10:00:00Z","message":{"role":"user","content":"Why is the login slow? The token is ghp_GITHUB_TOKEN"}}
{"type":"assistant","uuid":"a1","timestamp":"2026-01-15T10:00:05Z","message":{"id":"m1","content":[{"type":"text","text":"It hashes twice."},{"type":"tool_use","name":"Read","input":{"file_path":"src/login.rs"}}]}}
"#;

const DEPLOY: &str = r#"{"timestamp":"2026-01-20T11:00:00Z","type":"session_meta","payload":{"id":"0199c5d0-aaaa","cwd":"/home/ada/web","git":{"branch":"dev"}}}
{"timestamp":"2026-01-20T11:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Deploy it"}]}}
{"timestamp":"2026-01-20T11:00:02Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Deployed."}]}}
"#;

/// A string that looks like a token, built at run time so that no file of the repository contains one.
pub(crate) fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

pub(crate) fn home() -> Home {
    let home = Home::new();
    for (name, text) in [
        (".claude/projects/-home-ada-app/1af7fc5e-8455.jsonl", LOGIN.replace("ghp_GITHUB_TOKEN", &token())),
        (".codex/sessions/2026/01/20/rollout-2026-01-20T11-00-00-0199c5d0-aaaa.jsonl", DEPLOY.to_owned()),
    ] {
        fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
        fs::write(home.path(name), text).unwrap();
    }
    home
}

pub(crate) fn on() -> Home {
    let home = home();
    home.ok(&["chats", "on"]);
    home
}

#[test]
fn nothing_is_read_before_chats_are_turned_on() {
    let home = home();
    let off = "-- stderr\nnote: chats are off; turn them on with: memdir chats on\n";
    assert_eq!(home.run(&["chats"]), off);
    assert_eq!(home.run(&["chats", "sync"]), format!("nothing synced\n{off}"));
    assert_eq!(home.json(&["chats"]), serde_json::json!({ "on": false, "chats": [], "left_out": 0 }));
    assert!(!home.path("home/chats").exists());
    assert_eq!(
        home.run(&["chats", "on"]),
        "chats are on\n-- stderr\nnote: every search imports new conversations; import them now with: memdir chats sync\n"
    );
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), "[chats]\non = true\n");
    assert_eq!(home.run(&["chats", "sync"]), "synced 4 turns in 2 conversations; the archive has 2 conversations\n");
    assert_eq!(home.run(&["chats", "sync"]), "synced 0 turns in 0 conversations; the archive has 2 conversations\n");
}

#[test]
fn while_memory_is_off_no_conversation_is_read() {
    let home = on();
    let switches = [
        ("MEMDIR_DISABLE", "1", "MEMDIR_DISABLE=1".to_owned()),
        ("MEMDIR_PROJECT", "shut", format!("enabled = false for project shut in {}", home.path("home/config.toml").display())),
    ];
    let settings = fs::read_to_string(home.path("home/config.toml")).unwrap();
    fs::write(home.path("home/config.toml"), settings + "\n[[projects]]\nid = \"shut\"\nenabled = false\n").unwrap();
    for (variable, value, switch) in switches {
        for command in [&["chats"][..], &["chats", "show", "1af7"], &["chats", "sync"], &["chats", "export"], &["resume", "login"]] {
            let output = home.bare(command).env(variable, value).output().unwrap();
            let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
            assert_eq!((stdout.as_str(), output.status.code()), ("", Some(3)), "{command:?}");
            assert!(stderr.starts_with(&format!("error: memory is off: {switch}\n")), "{command:?}: {stderr}");
        }
        assert!(!home.path("home/chats/claude-code").exists());
    }
    // Conversations can be forgotten whatever is turned off.
    let output = home.command(&["chats", "forget", "--before", "2030-01-01"]).env("MEMDIR_DISABLE", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn conversations_are_listed_newest_first_and_filtered() {
    let home = on();
    let codex = "[TIME]            codex        0199c5d0  2      web      Deploy it\n";
    let claude = "[TIME]            claude-code  1af7fc5e  2      app      Why is the login slow? The token is [secret: github…\n";
    let head = "when              host         id        turns  project  title\n";
    let short = |line: &str| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("|");
    let listed = home.run(&["chats"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 3, "{listed}");
    assert_eq!((short(lines[0]), short(lines[1])), (short(head), short(codex)));
    assert!(short(lines[2]).starts_with(&short(claude)[..40]), "{listed}");
    for (filter, count) in [
        (vec!["--host", "codex"], 1),
        (vec!["--project-dir", "/home/ada"], 2),
        (vec!["--project", "/home/ada"], 2),
        (vec!["--project", "/home/ada/web"], 1),
        (vec!["--since", "2026-01-16"], 1),
        (vec!["--since", "2026/01/16"], 1),
        (vec!["--since", "2026-01-01 09:30"], 2),
        (vec!["--since", "9000d"], 2),
        (vec!["--before", "2026-01-16"], 1),
        (vec!["--before", "2026/01/16"], 1),
        (vec!["--before", "1200w"], 0),
        (vec!["--limit", "1"], 1),
    ] {
        let output = home.json(&[&["chats"], filter.as_slice()].concat());
        assert_eq!(output["chats"].as_array().unwrap().len(), count, "{filter:?}");
    }
    let output = home.json(&["chats", "--host", "codex"]);
    assert_eq!(output["chats"][0]["resume"], "cd /home/ada/web && codex resume 0199c5d0-aaaa");
    assert_eq!(
        home.run(&["chats", "--host", "emacs"]),
        "-- stderr\nerror: invalid host: \"emacs\" is not one of claude-code, codex, gemini, opencode, openclaw, cursor, copilot-cli, folder\n-- exit 2\n"
    );
}

#[test]
fn a_conversation_is_shown_without_its_secrets() {
    let home = on();
    let shown = home.ok(&["chats", "show", "1af7"]);
    assert!(!shown.contains(&token()), "{shown}");
    assert!(shown.contains("## User (2026-01-15 10:00:00Z)\n\nWhy is the login slow? The token is [secret: github"), "{shown}");
    assert!(shown.ends_with("## Assistant (2026-01-15 10:00:05Z)\n\nIt hashes twice.\n\n- `Read file_path=src/login.rs`\n"), "{shown}");
    let output = home.json(&["chats", "show", "codex/0199", "--lines", "14-16"]);
    let file = fs::read_to_string(home.path("home/chats/codex/0199c5d0-aaaa.md")).unwrap();
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    assert_eq!(output["text"], lines[13..16].concat());
    assert!(home.run(&["chats", "show", "zzzz"]).contains("conversation \"zzzz\" not found"));
}

#[test]
fn a_live_conversation_is_up_to_date() {
    let home = on();
    home.ok(&["chats", "sync"]);
    let path = home.path(".claude/projects/-home-ada-app/1af7fc5e-8455.jsonl");
    let grown = fs::read_to_string(&path).unwrap()
        + r#"{"type":"user","uuid":"u2","timestamp":"2026-01-15T10:01:00Z","message":{"role":"user","content":"Thanks"}}"#
        + "\n{\"type\":\"user\",\"uuid\":\"u3\",\"timestamp\":\"2026-01-15T10:02:00Z\",\"message\":{\"role\":\"user\",\"content\":\"And to";
    fs::write(&path, grown).unwrap();
    assert!(home.ok(&["chats", "show", "1af7"]).ends_with("\nThanks\n"));
}

#[test]
fn what_is_turned_off_is_not_read() {
    let home = on();
    assert_eq!(
        home.run(&["chats", "off", "--host", "codex"]),
        "codex chats are off\n-- stderr\nnote: archived conversations are kept; to remove them, see: memdir chats forget --help\n"
    );
    home.ok(&["chats", "off", "--project", "/home/ada/app"]);
    let settings = fs::read_to_string(home.path("home/config.toml")).unwrap();
    assert_eq!(settings, "[chats]\non = true\nhosts_off = [\"codex\"]\nprojects_off = [\"/home/ada/app\"]\n");
    assert_eq!(home.run(&["chats", "sync"]), "synced 0 turns in 0 conversations; the archive has 0 conversations\n");
    home.ok(&["chats", "on", "--host", "codex"]);
    home.ok(&["chats", "on", "--project-dir", "/home/ada/app"]);
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), "[chats]\non = true\n");
    assert_eq!(home.run(&["chats", "sync"]), "synced 4 turns in 2 conversations; the archive has 2 conversations\n");
}

#[test]
fn a_project_filters_every_command_and_is_never_ignored() {
    let home = on();
    home.ok(&["chats", "sync"]);
    fs::write(home.path("home/config.toml"), "[chats]\non = true\n").unwrap();
    fs::create_dir_all(home.path("home/projects")).unwrap();
    fs::write(home.path("home/projects/web.toml"), "root = \"/home/ada/web\"\n").unwrap();
    let ids = |output: serde_json::Value| -> Vec<String> {
        output["chats"].as_array().unwrap().iter().map(|chat| chat["session"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(home.json(&["chats", "--project", "web"])), ["0199c5d0-aaaa"]);
    assert_eq!(ids(home.json(&["--project", "web", "chats"])), ["0199c5d0-aaaa"]);
    assert_eq!(ids(home.json(&["chats", "export", "--project", "web"])), ["0199c5d0-aaaa"]);
    let output = home.command(&["--json", "chats"]).env("MEMDIR_PROJECT", "web").output().unwrap();
    assert_eq!(ids(serde_json::from_slice(&output.stdout).unwrap()).len(), 2, "the environment selects a memory, not a filter");
    let unknown = "-- stderr\nerror: --project \"privat\" is neither a directory nor a project id\nhint: pass a directory, or list the project ids with: memdir projects\n-- exit 2\n";
    for command in [
        &["chats", "--project", "privat"][..],
        &["chats", "export", "--project", "privat"],
        &["chats", "forget", "--project", "privat", "--before", "2030-01-01"],
        &["chats", "off", "--project", "privat"],
        &["chats", "on", "--project", "privat"],
    ] {
        assert_eq!(home.run(command), unknown, "{command:?}");
    }
    for command in ["show 1af7", "sync"] {
        let words = |text: &str| home.run_bare(&text.split(' ').collect::<Vec<_>>());
        assert!(
            words(&format!("--project web chats {command}")).contains("error: --project cannot be used with `chats show` or `chats sync`"),
            "{command}"
        );
        assert!(words(&format!("chats {command} --project web")).contains("error: unexpected argument '--project' found\n"), "{command}");
    }
    assert_eq!(
        home.run(&["chats", "off", "--host", "codex", "--project", "web"]),
        "-- stderr\nerror: --host and --project cannot be combined\nhint: pass only one of them: --host applies to all projects, and --project to all hosts\n-- exit 2\n"
    );
    assert!(home.run(&["chats", "off", "--project", "web"]).starts_with("chats in /home/ada/web are off\n"));
    let settings = || fs::read_to_string(home.path("home/config.toml")).unwrap();
    assert_eq!(settings(), "[chats]\non = true\nprojects_off = [\"/home/ada/web\"]\n");
    assert_eq!(
        home.run(&["chats", "on", "--project", "/home/ada/web/admin"]),
        "-- stderr\nerror: chats in /home/ada/web/admin cannot be turned on: chats are off for all of /home/ada/web\nhint: turn chats on for that whole directory with: memdir chats on --project /home/ada/web\n-- exit 2\n"
    );
    home.ok(&["chats", "on", "--project", "web"]);
    assert_eq!(settings(), "[chats]\non = true\n");
    home.configure("[chats]\non = true\nprojects_off = [\"~/private\"]\n");
    home.ok(&["chats", "on", "--project", "~/private"]);
    assert_eq!(settings(), "[chats]\non = true\n", "an entry that was written by hand");
    assert!(home.ok(&["chats", "forget", "--project", "web", "--before", "2030-01-01"]).starts_with("forgot 1 conversation"));
    assert_eq!(ids(home.json(&["chats"])), ["1af7fc5e-8455"]);
}

#[test]
fn a_directory_and_a_link_to_it_are_the_same() {
    let home = on();
    fs::create_dir_all(home.path("real/app")).unwrap();
    std::os::unix::fs::symlink(home.path("real"), home.path("link")).unwrap();
    let (real, linked) = (home.path("real/app").display().to_string(), home.path("link/app").display().to_string());
    for (id, cwd) in [("by-link", &linked), ("by-path", &real)] {
        let text = LOGIN.replace("/home/ada/app", cwd);
        fs::write(home.path(&format!(".claude/projects/-home-ada-app/{id}.jsonl")), text).unwrap();
    }
    for dir in [&linked, &real] {
        assert_eq!(home.json(&["chats", "--project", dir])["chats"].as_array().unwrap().len(), 2, "{dir}");
    }
    home.ok(&["chats", "forget", "--project", &linked]);
    fs::remove_file(home.path("home/chats/.state.json")).unwrap();
    // The target of the link was recorded as well.
    fs::remove_file(home.path("link")).unwrap();
    assert_eq!(home.json(&["chats"])["chats"].as_array().unwrap().len(), 2, "only the conversations of the fixture");
    std::os::unix::fs::symlink(home.path("real"), home.path("link")).unwrap();
    home.ok(&["chats", "off", "--project", &linked]);
    fs::write(home.path(".claude/projects/-home-ada-app/later.jsonl"), LOGIN.replace("/home/ada/app", &real).replace("2026-01", "2099-01"))
        .unwrap();
    assert_eq!(home.json(&["chats"])["chats"].as_array().unwrap().len(), 2);
    home.ok(&["chats", "on", "--project", &real]);
    home.ok(&["chats", "on", "--project", &linked]);
    assert_eq!(home.json(&["chats"])["chats"].as_array().unwrap().len(), 3);
}

#[test]
fn a_title_of_a_kept_turn_is_not_taken_for_deleted_text() {
    let home = on();
    let turn = |id: &str, minute: u32, text: &str| {
        format!(
            r#"{{"type":"user","cwd":"/home/ada/app","uuid":"{id}","timestamp":"2026-03-01T10:{minute:02}:00Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let turns = [turn("v1", 0, "Polish the otter statue and wax it."), turn("v2", 30, "Polish the otter statue")];
    fs::write(home.path(".claude/projects/-home-ada-app/otter.jsonl"), turns.join("\n") + "\n").unwrap();
    home.ok(&["chats", "sync"]);
    let forgot = home.ok(&["chats", "forget", "--before", "2026-03-01T10:15:00Z"]);
    assert!(forgot.contains("verified: the deleted text was not found") && !forgot.contains("not verified"), "{forgot}");
}

#[test]
fn deleted_conversations_are_not_imported_again() {
    let home = on();
    home.ok(&["chats", "sync"]);
    assert!(home.ok(&["resume", "hashes", "twice"]).starts_with("cd /home/ada/app && claude --resume"));
    assert_eq!(
        home.run(&["chats", "forget", "1af7"]),
        "forgot 1 conversation\nverified: the deleted text was not found (2 searches)\n-- stderr\nnote: the hosts' own transcripts are unchanged\n"
    );
    assert_eq!(home.run(&["resume", "hashes", "twice"]), "-- stderr\nnote: no matching conversations; try other words\n-- exit 1\n");
    assert!(home.path(".claude/projects/-home-ada-app/1af7fc5e-8455.jsonl").exists());
    home.ok(&["chats", "forget", "--before", "2026-01-20T11:00:02Z"]);
    fs::remove_file(home.path("home/chats/.state.json")).unwrap();
    let output = home.json(&["chats"]);
    assert_eq!((output["chats"].as_array().unwrap().len(), &output["chats"][0]["turns"]), (1, &1.into()));
    let archived = fs::read_to_string(home.path("home/chats/codex/0199c5d0-aaaa.md")).unwrap();
    assert!(archived.contains("Deployed.") && !archived.contains("\nDeploy it\n"), "{archived}");
    assert_eq!(
        home.run(&["chats", "forget"]),
        "-- stderr\nerror: no conversations selected\nhint: pass a conversation id, --project or --before; list the conversations with: memdir chats\n-- exit 2\n"
    );
}

#[test]
fn conversations_are_exported_as_markdown_or_json() {
    let home = on();
    let markdown = home.ok(&["chats", "export", "0199"]);
    assert!(markdown.starts_with("---\nhost: codex\nsession: 0199c5d0-aaaa\n"), "{markdown}");
    assert!(!markdown.contains("cursor:") && markdown.ends_with("\nDeployed.\n"), "{markdown}");
    let output = home.json(&["chats", "export", "--project-dir", "/home/ada/web"]);
    let texts: Vec<_> =
        output["chats"][0]["sections"].as_array().unwrap().iter().map(|section| section["text"].as_str().unwrap()).collect();
    assert_eq!((output["chats"].as_array().unwrap().len(), texts), (1, vec!["Deploy it", "Deployed."]));
}

#[test]
fn a_conversation_is_resumed_by_its_content() {
    let home = home();
    let off = "-- stderr\nnote: chats are off; turn them on with: memdir chats on\n-- exit 1\n";
    assert_eq!(home.run(&["resume", "deploy"]), off);
    // Turned on in an editor, which creates no archive.
    home.configure("[chats]\non = true\n");
    let empty = "-- stderr\nnote: no conversations imported yet; import them with: memdir chats sync\n-- exit 1\n";
    assert_eq!(home.run(&["resume", "deploy"]), empty);
    home.ok(&["chats", "on"]);
    let output = home.run(&["resume", "hashes", "twice"]);
    assert!(output.starts_with("cd /home/ada/app && claude --resume 1af7fc5e-8455\n-- stderr\nnote: claude-code "), "{output}");
    let output = home.json(&["resume", "deployed", "--host", "codex"]);
    assert_eq!(output["chats"][0]["resume"], "cd /home/ada/web && codex resume 0199c5d0-aaaa");
    assert_eq!(home.run(&["resume", "zebra", "crossing"]), "-- stderr\nnote: no matching conversations; try other words\n-- exit 1\n");
}

#[test]
fn run_starts_the_host() {
    let home = on();
    home.ok(&["chats", "sync"]);
    fs::create_dir_all(home.path("bin")).unwrap();
    fs::create_dir_all(home.path("app")).unwrap();
    // A directory that exists here, so that the host can be started in it.
    let archived = home.path("home/chats/codex/0199c5d0-aaaa.md");
    let text = fs::read_to_string(&archived).unwrap().replace("/home/ada/web", &home.path("app").display().to_string());
    fs::write(&archived, text).unwrap();
    let script = home.path("bin/codex");
    fs::write(&script, "#!/bin/sh\necho \"$PWD: $*\" > \"$HOME/started\"\n").unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let missing = home.command(&["resume", "Deployed", "--host", "codex", "--run"]).env("PATH", home.path("app")).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&missing.stderr),
        "error: cannot start codex: No such file or directory (os error 2)\nhint: install codex, or add its directory to PATH\n"
    );
    let path = format!("{}:/usr/bin:/bin", home.path("bin").display());
    let output = home.command(&["resume", "Deployed", "--host", "codex", "--run"]).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let started = fs::read_to_string(home.path("started")).unwrap();
    assert_eq!(started, format!("{}: resume 0199c5d0-aaaa\n", home.path("app").display()));
}

#[test]
fn a_very_long_conversation_is_searched_printed_and_deleted_as_a_whole() {
    let home = on();
    let record = |n: usize| {
        let text = if n == 1 { "The quokka eats figs at dawn.".into() } else { format!("{n} {}", "filling ".repeat(7_000)) };
        let at = format!("2026-01-15T10:{:02}:{:02}Z", n / 60, n % 60);
        serde_json::json!({ "type": "user", "cwd": "/home/ada/app", "uuid": format!("u{n}"), "timestamp": at,
            "message": { "role": "user", "content": text } })
        .to_string()
    };
    let lines: Vec<String> = (0..90).map(record).collect();
    fs::write(home.path(".claude/projects/-home-ada-app/long-one.jsonl"), lines.join("\n") + "\n").unwrap();
    home.ok(&["chats", "sync"]);
    assert!(home.path("home/chats/claude-code/long-one~1.md").exists());
    let found = home.run_bare(&["search", "--source", "chat", "--all-projects", "what does the quokka eat"]);
    assert!(found.starts_with("chats/claude-code/long-one~1.md:"), "{found}");
    assert!(home.ok(&["resume", "quokka", "figs"]).contains("claude --resume long-one"));
    let shown = home.ok(&["chats", "show", "long-one"]);
    assert_eq!(shown.matches("## User").count(), 90);
    assert!(shown.contains("\n89 filling") && shown.contains("quokka"));
    let part = home.ok(&["chats", "show", "long-one~1"]);
    assert!(part.contains("quokka") && !part.contains("\n89 filling"));
    assert!(home.run(&["chats", "show", "long-one~70"]).contains("part 70 of "));
    assert_eq!(home.json(&["chats", "export", "long-one"])["chats"][0]["sections"].as_array().unwrap().len(), 90);
    assert!(home.ok(&["chats", "forget", "long-one"]).contains("verified: the deleted text was not found (3 searches)"));
    let mut left: Vec<String> =
        fs::read_dir(home.path("home/chats/claude-code")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert!(!left.is_empty() && left.iter().all(|name| !name.contains("long-one")), "only the other conversation stays: {left:?}");
    assert!(!home.run_bare(&["search", "--source", "chat", "--all-projects", "what does the quokka eat"]).contains("figs"));
}

#[test]
fn a_conversation_without_a_resume_command_is_shown() {
    let home = on();
    let file = home.path(".openclaw/agents/main/sessions/0c1a-77.jsonl");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let lines = [
        r#"{"type":"session","id":"0c1a-77","cwd":"/home/ada/lab","timestamp":"2026-01-22T09:00:00Z"}"#,
        r#"{"type":"message","id":"e1","parentId":null,"timestamp":"2026-01-22T09:00:01Z","message":{"role":"user","content":"The walrus counter leaks memory"}}"#,
    ];
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    let output = home.run(&["resume", "walrus", "counter", "leaks"]);
    assert!(output.contains(": cannot be resumed; show it with: memdir chats show openclaw/0c1a-77\n"), "{output}");
    assert!(!output.contains("no matching conversation") && output.ends_with("-- exit 1\n"), "{output}");
    assert_eq!(home.json(&["resume", "walrus", "counter", "leaks"])["without_command"][0]["session"], "0c1a-77");
    assert!(home.ok(&["chats", "show", "openclaw/0c1a-77"]).contains("walrus"));
}
