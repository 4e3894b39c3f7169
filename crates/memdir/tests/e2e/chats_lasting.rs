//! `memdir chats` over time: settings that change while a server runs, secrets, forgetting, and transcripts that change.

use crate::{
    chats::{home, on, token},
    home::{Home, files_below},
    talk::Talk,
};
use serde_json::{Value, json};
use std::{fs, fs::File, time::SystemTime};

/// A line of a Claude Code transcript.
fn record(who: &str, id: &str, at: &str, content: Value) -> String {
    json!({ "type": who, "cwd": "/home/ada/app", "uuid": id, "timestamp": at, "message": { "id": id, "role": who, "content": content } })
        .to_string()
        + "\n"
}

fn put(home: &Home, name: &str, text: &str) {
    let path = home.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn claude(home: &Home, id: &str, lines: &[String]) {
    put(home, &format!(".claude/projects/-home-ada-app/{id}.jsonl"), &lines.concat());
}

/// The whole archive as one text.
fn archived(home: &Home) -> String {
    let dir = home.path("home/chats");
    files_below(&dir).iter().map(|name| fs::read_to_string(dir.join(name)).unwrap_or_default()).collect()
}

#[test]
fn a_running_server_follows_the_setting() {
    let home = home();
    // A conversation of the project that is served.
    let transcript = home.path(".claude/projects/-home-ada-app/1af7fc5e-8455.jsonl");
    let text = fs::read_to_string(&transcript).unwrap().replace("/home/ada/app", &home.path("work").display().to_string());
    fs::write(&transcript, text).unwrap();
    let off = |answer: &Value| {
        assert_eq!(answer["results"], json!([]));
        assert_eq!(answer["action"], "memdir chats on", "{answer}");
        assert!(answer["warning"].as_str().unwrap().starts_with("chats are off"), "{answer}");
    };
    let begin = |args: &[&str]| {
        let mut talk = Talk::over(home.bare(&[&["mcp"], args].concat()));
        talk.hello("2025-06-18");
        talk
    };
    let mut talks = [
        (begin(&[]), json!({ "query": "what hashes twice", "source": "chat", "minScore": 0.1 })),
        (begin(&["--dialect", "profclaw"]), json!({ "query": "what hashes twice", "source": "chat", "minScore": 0.1 })),
        (begin(&["--dialect", "openclaw"]), json!({ "query": "what hashes twice", "corpus": "sessions", "minScore": 0.1 })),
    ];
    let ask = |talk: &mut Talk, name: &str, arguments: &Value| {
        talk.ask("tools/call", json!({ "name": name, "arguments": arguments }))["result"]["structuredContent"].clone()
    };
    for (talk, search) in &mut talks {
        off(&ask(talk, "memory_search", search));
    }
    assert_eq!(ask(&mut talks[1].0, "memory_stats", &json!({}))["off"], json!(["chat"]));
    home.ok(&["chats", "on"]);
    for (talk, search) in &mut talks {
        let found = ask(talk, "memory_search", search).to_string();
        assert!(found.contains("It hashes twice.") && !found.contains("memdir chats on"), "{found}");
    }
    assert_eq!(ask(&mut talks[1].0, "memory_stats", &json!({}))["off"], Value::Null);
    home.ok(&["chats", "off"]);
    for (talk, search) in &mut talks {
        off(&ask(talk, "memory_search", search));
    }
}

#[test]
fn no_secret_is_archived_whole_or_in_part() {
    let home = on();
    let bearer = "q9Zr7Lm2Xv4Bn8Kt1Ws6";
    let calls =
        |pad: usize| json!([{ "type": "tool_use", "name": "Bash", "input": { "command": format!("{} {}", "x ".repeat(pad), token()) } }]);
    let mut lines = vec![
        record("user", "u1", "2026-01-15T10:00:00Z", json!("the login has password=hunter2hunter2 and DB_PASSWORD: vT7pQ2mLx9Rd4Kw1Zs")),
        record("user", "u2", "2026-01-15T10:00:01Z", json!(format!("it sends Authorization: Bearer {bearer}"))),
        record("user", "u3", "2026-01-15T10:00:02Z", json!(format!("{}{}", "long ".repeat(13_104), token()))),
        record("user", "u4", "2026-01-15T10:00:03Z", json!("the password: string field stays, and so does password=your-password")),
    ];
    lines.extend((80..104).map(|pad| record("assistant", &format!("a{pad}"), "2026-01-15T10:00:04Z", calls(pad))));
    claude(&home, "secrets", &lines);
    home.ok(&["chats", "sync"]);
    let archived = archived(&home);
    for part in ["hunter2", "vT7pQ2", &bearer[..6], "ghp_"] {
        let at = archived.find(part);
        assert_eq!(at, None, "{part}: {}", at.map_or("", |at| &archived[at.saturating_sub(100)..at + 20]));
    }
    assert!(archived.contains("password=[secret: password] and DB_PASSWORD: [secret:"), "{archived}");
    assert!(archived.contains("Bearer [secret: "));
    assert!(archived.contains("the password: string field stays, and so does password=your-password"));
}

#[test]
fn deleted_text_is_in_no_title_and_no_index_even_while_conversations_are_off() {
    let home = on();
    claude(
        &home,
        "two-days",
        &[
            record("user", "u1", "2026-01-10T10:00:00Z", json!("The zebra crossing plan is confidential")),
            record("assistant", "a1", "2026-01-10T10:00:05Z", json!([{ "type": "text", "text": "Noted." }])),
            record("user", "u2", "2026-01-12T10:00:00Z", json!("How do giraffes sleep?")),
        ],
    );
    home.ok(&["chats", "sync"]);
    assert!(home.run_bare(&["search", "--all-projects", "--source", "chat", "zebra crossing"]).contains("zebra"));
    home.ok(&["chats", "off"]);
    let forgot = home.ok(&["chats", "forget", "--project", "/home/ada/app", "--before", "2026-01-11"]);
    assert_eq!(forgot, "forgot 2 turns of 1 conversation\nverified: the deleted text was not found (2 searches)\n");
    assert!(!archived(&home).contains("zebra"), "{}", archived(&home));
    home.ok(&["chats", "on"]);
    for command in [&["chats"][..], &["chats", "show", "two-days"], &["search", "--all-projects", "--source", "chat", "zebra crossing"]] {
        assert!(!home.run_bare(command).contains("zebra"), "{command:?}");
    }
    let output = home.json(&["chats", "show", "two-days"]);
    assert_eq!((&output["title"], &output["turns"]), (&json!("How do giraffes sleep?"), &json!(1)));
}

#[test]
fn what_was_forgotten_without_a_time_does_not_come_back_with_new_turns() {
    let home = on();
    let name = ".cursor/projects/home-ada-app/agent-transcripts/c1/c1.jsonl";
    let line = |text: &str| json!({ "role": "user", "message": { "content": [{ "type": "text", "text": text }] } }).to_string() + "\n";
    put(&home, name, &(line("The zebra plan") + &line("and its budget")));
    let january: SystemTime = "2026-01-01T00:00:00Z".parse::<jiff::Timestamp>().unwrap().into();
    File::options().write(true).open(home.path(name)).unwrap().set_modified(january).unwrap();
    home.ok(&["chats", "sync"]);
    home.ok(&["chats", "forget", "--before", "2026-01-05"]);
    put(&home, name, &(line("The zebra plan") + &line("and its budget") + &line("Now giraffes")));
    home.ok(&["chats", "sync"]);
    let archived = archived(&home);
    assert!(
        archived.contains("\nNow giraffes\n") && !archived.contains("\nThe zebra") && !archived.contains("\nand its budget"),
        "{archived}"
    );
}

#[test]
fn what_a_killed_process_left_is_removed() {
    let home = on();
    home.ok(&["chats", "sync"]);
    for command in [&["chats", "sync"][..], &["chats", "forget", "--before", "2020-01-01"]] {
        let left = ["home/chats/.memdir-a1.tmp", "home/chats/codex/.memdir-b2.tmp"];
        left.iter().for_each(|name| put(&home, name, "half a conversation"));
        home.ok(command);
        assert!(left.iter().all(|name| !home.path(name).exists()), "{command:?}");
    }
}

#[test]
fn malformed_json_loses_no_turn() {
    let home = on();
    let lone = record("user", "u1", "2026-01-15T10:00:00Z", json!("half a LONE smile")).replace("LONE", "\\ud83d");
    let twice = record("user", "u2", "2026-01-15T10:00:01Z", json!("said twice")).replacen('{', r#"{"uuid":"x","#, 1);
    claude(&home, "odd", &[lone, twice]);
    assert_eq!(home.run(&["chats", "sync"]), "synced 6 turns in 3 conversations; the archive has 3 conversations\n");
    assert!(home.ok(&["chats", "show", "claude-code/odd"]).contains("half a \u{fffd} smile"));
}

#[test]
fn a_heading_in_an_answer_does_not_apply_to_later_turns() {
    let home = on();
    claude(
        &home,
        "headings",
        &[
            record("user", "u1", "2026-01-15T10:00:00Z", json!("Make a plan")),
            record(
                "assistant",
                "a1",
                "2026-01-15T10:00:01Z",
                json!([{ "type": "text", "text": "# Grand plan\n\nTitle\n=====\n\n## First\n\nDig." }]),
            ),
            record("user", "u2", "2026-01-15T10:00:02Z", json!("And what about the wombat burrow?")),
        ],
    );
    home.ok(&["chats", "sync"]);
    let output = home.bare(&["--json", "search", "--all-projects", "--source", "chat", "wombat burrow"]).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let hit = &found["results"][0];
    assert_eq!(hit["headings"], json!(["Make a plan", "User (2026-01-15 10:00:02Z)"]), "{found}");
    let place = format!("{}:{}", hit["path"].as_str().unwrap(), hit["lines"].as_str().unwrap());
    assert!(home.run_bare(&["get", &place]).contains("wombat burrow"));
    assert!(home.ok(&["chats", "show", "headings"]).contains("\n### Grand plan\n\nTitle\n\\=====\n\n#### First\n\nDig.\n"));
}

#[test]
fn a_listed_id_is_unique() {
    let home = on();
    for id in ["0199c5d0-aaab", "0199c5d0-b"] {
        let text = fs::read_to_string(home.path(".codex/sessions/2026/01/20/rollout-2026-01-20T11-00-00-0199c5d0-aaaa.jsonl")).unwrap();
        put(&home, &format!(".codex/sessions/2026/01/20/rollout-2026-01-20T11-00-00-{id}.jsonl"), &text.replace("0199c5d0-aaaa", id));
    }
    claude(&home, "zz", &[record("user", "u1", "2026-01-15T10:00:00Z", json!("Short"))]);
    let listed = home.run(&["chats"]);
    let mut ids: Vec<&str> = listed.lines().skip(1).filter_map(|line| line.split_whitespace().nth(2)).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["0199c5d0-aaaa", "0199c5d0-aaab", "0199c5d0-b", "1af7fc5e", "zz"], "{listed}");
    ids.iter().for_each(|id| drop(home.ok(&["chats", "show", id])));
}

#[test]
fn a_turn_shared_by_forks_is_one_hit_with_the_age_of_the_turn() {
    let home = on();
    let shared = record("user", "u1", "2020-01-15T10:00:00Z", json!("Where does the axolotl live?"));
    for (id, last) in [("fork-a", "In lakes?"), ("fork-b", "In rivers?")] {
        let title = json!({ "type": "custom-title", "customTitle": id }).to_string() + "\n";
        claude(&home, id, &[shared.clone(), record("user", id, "2026-01-16T10:00:00Z", json!(last)), title]);
    }
    home.ok(&["chats", "sync"]);
    let output = home.bare(&["--json", "search", "--all-projects", "--source", "chat", "where does the axolotl live"]).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let hits: Vec<&Value> =
        found["results"].as_array().unwrap().iter().filter(|hit| hit["text"].as_str().unwrap().contains("axolotl")).collect();
    assert_eq!(hits.len(), 1, "{found}");
    let days: u64 = hits[0]["age"].as_str().unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(days > 2000, "{found}");
}

#[test]
fn what_does_not_exist_is_reported() {
    let home = on();
    home.ok(&["chats", "sync"]);
    assert_eq!(
        home.run(&["chats", "show", "zzzz"]),
        "-- stderr\nerror: conversation \"zzzz\" not found\nhint: list the conversations with: memdir chats\n-- exit 1\n"
    );
    assert!(home.run(&["chats", "show", "1af7", "--lines", "900-"]).contains("line 900 is past the end of the conversation, which has "));
    let output = home.run(&["resume", "deployed", "--host", "codex", "--run"]);
    assert!(output.contains("error: the conversation's directory /home/ada/web does not exist\n"), "{output}");
    home.ok(&["chats", "off"]);
    let off = "note: chats are off, so the archive may be out of date; turn them on with: memdir chats on\n";
    assert!(home.run(&["chats", "show", "1af7"]).contains(off));
    assert!(home.run(&["chats", "export", "1af7"]).contains(off));
}

#[test]
fn sessions_of_two_agents_are_two_conversations() {
    let home = on();
    for agent in ["main", "work"] {
        let text = json!({ "type": "session", "id": "s1", "timestamp": "2026-01-15T10:00:00Z" }).to_string()
            + "\n"
            + &json!({ "type": "message", "id": "m1", "timestamp": "2026-01-15T10:00:01Z",
                "message": { "role": "user", "content": format!("said to {agent}") } })
            .to_string()
            + "\n";
        put(&home, &format!(".openclaw/agents/{agent}/sessions/s1.jsonl"), &text);
    }
    home.ok(&["chats", "sync"]);
    assert!(home.ok(&["chats", "show", "openclaw/s1"]).contains("said to main"));
    assert!(home.ok(&["chats", "show", "openclaw/work.s1"]).contains("said to work"));
}

#[test]
fn a_project_known_only_by_the_transcripts_path_is_turned_off() {
    let home = on();
    fs::create_dir_all(home.path("private/notes")).unwrap();
    let dir = home.path("private").display().to_string();
    let slug = |dir: &str| dir.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    for (id, of) in [("c1", dir.clone()), ("c2", format!("{dir}/notes")), ("c3", format!("{dir}-ly"))] {
        let line = json!({ "role": "user", "message": { "content": [{ "type": "text", "text": format!("said in {id}") }] } });
        put(&home, &format!(".cursor/projects/{}/agent-transcripts/{id}/{id}.jsonl", slug(&of)), &format!("{line}\n"));
    }
    home.ok(&["chats", "off", "--project", &dir]);
    home.ok(&["chats", "sync"]);
    let archived = archived(&home);
    assert!(archived.contains("said in c3") && !archived.contains("said in c1") && !archived.contains("said in c2"), "{archived}");
}
