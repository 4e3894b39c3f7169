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

/// A token's shape, put together so that no file of ours holds one.
fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

fn home() -> Home {
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

fn on() -> Home {
    let home = home();
    home.ok(&["chats", "on"]);
    home
}

#[test]
fn nothing_is_read_before_chats_are_turned_on() {
    let home = home();
    let off = "-- stderr\nnote: chats are off; `memdir chats on` takes in your past conversations with agents\n";
    assert_eq!(home.run(&["chats"]), off);
    assert_eq!(home.run(&["chats", "sync"]), format!("Nothing was taken in.\n{off}"));
    assert_eq!(home.json(&["chats"]), serde_json::json!({ "on": false, "chats": [], "left_out": 0 }));
    assert!(!home.path("home/chats").exists());
    assert_eq!(
        home.run(&["chats", "on"]),
        "Chats are on.\n-- stderr\nnote: `memdir chats sync` takes them in now; a search does so by itself\n"
    );
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), "[chats]\non = true\n");
    assert_eq!(home.run(&["chats", "sync"]), "Took in 4 turns of 2 conversations; there are 2.\n");
    assert_eq!(home.run(&["chats", "sync"]), "Took in 0 turns of 0 conversations; there are 2.\n");
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
        (vec!["--project-dir", "/home/ada/web"], 1),
        (vec!["--since", "2026-01-16"], 1),
        (vec!["--before", "2026-01-16"], 1),
        (vec!["--most", "1"], 1),
    ] {
        let told = home.json(&[&["chats"], filter.as_slice()].concat());
        assert_eq!(told["chats"].as_array().unwrap().len(), count, "{filter:?}");
    }
    let told = home.json(&["chats", "--host", "codex"]);
    assert_eq!(told["chats"][0]["resume"], "cd /home/ada/web && codex resume 0199c5d0-aaaa");
    assert_eq!(
        home.run(&["chats", "--host", "emacs"]),
        "-- stderr\nerror: host: \"emacs\" is none of claude-code, codex, gemini, opencode, openclaw, cursor, folder\nhint: Call again with a value in that form.\n-- exit 2\n"
    );
}

#[test]
fn a_conversation_is_shown_without_its_secrets() {
    let home = on();
    let shown = home.ok(&["chats", "show", "1af7"]);
    assert!(!shown.contains(&token()), "{shown}");
    assert!(shown.contains("## User (2026-01-15 10:00:00Z)\n\nWhy is the login slow? The token is [secret: github"), "{shown}");
    assert!(shown.ends_with("## Assistant (2026-01-15 10:00:05Z)\n\nIt hashes twice.\n\n- `Read file_path=src/login.rs`\n"), "{shown}");
    let told = home.json(&["chats", "show", "codex/0199", "--lines", "14-16"]);
    let file = fs::read_to_string(home.path("home/chats/codex/0199c5d0-aaaa.md")).unwrap();
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    assert_eq!(told["text"], lines[13..16].concat());
    assert!(home.run(&["chats", "show", "zzzz"]).contains("no kept chat has the id \"zzzz\""));
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
fn what_is_turned_off_is_left_alone() {
    let home = on();
    assert_eq!(
        home.run(&["chats", "off", "--host", "codex"]),
        "Chats of codex are off.\n-- stderr\nnote: what was kept stays; `memdir chats forget` removes it\n"
    );
    home.ok(&["chats", "off", "--project-dir", "/home/ada/app"]);
    let settings = fs::read_to_string(home.path("home/config.toml")).unwrap();
    assert_eq!(settings, "[chats]\non = true\nhosts_off = [\"codex\"]\nprojects_off = [\"/home/ada/app\"]\n");
    assert_eq!(home.run(&["chats", "sync"]), "Took in 0 turns of 0 conversations; there are 1.\n");
    home.ok(&["chats", "on", "--host", "codex"]);
    home.ok(&["chats", "on", "--project-dir", "/home/ada/app"]);
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), "[chats]\non = true\n");
    assert_eq!(home.run(&["chats", "sync"]), "Took in 4 turns of 2 conversations; there are 2.\n");
}

#[test]
fn what_is_forgotten_does_not_come_back() {
    let home = on();
    home.ok(&["chats", "sync"]);
    assert_eq!(home.run(&["chats", "forget", "1af7"]), "Forgot 1 conversations.\n-- stderr\nnote: the hosts' own files were not touched\n");
    assert!(home.path(".claude/projects/-home-ada-app/1af7fc5e-8455.jsonl").exists());
    home.ok(&["chats", "forget", "--before", "2026-01-20T11:00:02Z"]);
    fs::remove_file(home.path("home/chats/.state.json")).unwrap();
    let told = home.json(&["chats"]);
    assert_eq!((told["chats"].as_array().unwrap().len(), &told["chats"][0]["turns"]), (1, &1.into()));
    let kept = fs::read_to_string(home.path("home/chats/codex/0199c5d0-aaaa.md")).unwrap();
    assert!(kept.contains("Deployed.") && !kept.contains("\nDeploy it\n"), "{kept}");
    assert!(home.run(&["chats", "forget"]).contains("-- exit 2"));
}

#[test]
fn conversations_leave_as_markdown_or_data() {
    let home = on();
    let markdown = home.ok(&["chats", "export", "0199"]);
    assert!(markdown.starts_with("---\nhost: codex\nsession: 0199c5d0-aaaa\n"), "{markdown}");
    assert!(!markdown.contains("cursor:") && markdown.ends_with("\nDeployed.\n"), "{markdown}");
    let told = home.json(&["chats", "export", "--project-dir", "/home/ada/web"]);
    let texts: Vec<_> = told["chats"][0]["sections"].as_array().unwrap().iter().map(|section| section["text"].as_str().unwrap()).collect();
    assert_eq!((told["chats"].as_array().unwrap().len(), texts), (1, vec!["Deploy it", "Deployed."]));
}
