//! Past conversations in searches: which of them are covered, where they rank, and what a hit shows.

use crate::{home::Home, talk::Talk};
use insta::assert_snapshot;
use memdir_core::{Clock as _, SystemClock};
use regex::Regex;
use serde_json::json;
use std::fs;

/// The revision of the protocol that the tests speak.
const REVISION: &str = "2025-06-18";

/// A transcript of Claude Code: user and assistant in turns, held in a directory.
fn transcript(home: &Home, id: &str, dir: &str, day: &str, turns: &[&str]) {
    let line = |(n, text): (usize, &&str)| {
        let at = format!("{day}T10:00:{n:02}Z");
        let line = match n % 2 {
            0 => json!({ "type": "user", "cwd": home.path(dir), "uuid": format!("u{n}"), "timestamp": at,
                "message": { "role": "user", "content": text } }),
            _ => json!({ "type": "assistant", "uuid": format!("a{n}"), "timestamp": at,
                "message": { "id": format!("m{n}"), "content": [{ "type": "text", "text": text }] } }),
        };
        format!("{line}\n")
    };
    fs::create_dir_all(home.path(dir)).unwrap();
    put(home, &format!(".claude/projects/-{id}/{id}.jsonl"), &turns.iter().enumerate().map(line).collect::<String>());
}

fn put(home: &Home, name: &str, text: &str) {
    fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
    fs::write(home.path(name), text).unwrap();
}

fn on() -> Home {
    let home = Home::new();
    home.run_bare(&["chats", "on"]);
    home
}

/// The places that a search prints, without their ages.
fn places(home: &Home, args: &[&str]) -> String {
    let printed = home.run_bare(&[&["search"], args].concat());
    let is_place = |line: &&str| !line.starts_with(' ') && !line.is_empty();
    printed.lines().filter(is_place).map(|line| line.split("  ").take(2).collect::<Vec<_>>().join(" ") + "\n").collect()
}

/// The paths that the tool finds.
fn hit_names(talk: &mut Talk, arguments: serde_json::Value) -> Vec<String> {
    let answer = talk.call("memory_search", arguments);
    let results = answer["structuredContent"]["results"].as_array().unwrap();
    results.iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_search_covers_the_chats_of_its_project() {
    let home = on();
    fs::create_dir_all(home.path("work/.git")).unwrap();
    fs::create_dir_all(home.path("work/vendor/.git")).unwrap();
    fs::create_dir_all(home.path("web/.git")).unwrap();
    transcript(&home, "here", "work", "2026-01-15", &["Where is the walrus counter?", "The walrus counter is in src/tusk.rs."]);
    transcript(&home, "below", "work/src/deep", "2026-01-16", &["Who calls the walrus counter?", "The walrus counter is called by main."]);
    transcript(&home, "nested", "work/vendor", "2026-01-17", &["Fork the walrus counter?", "The walrus counter was forked."]);
    transcript(&home, "other", "web", "2026-01-18", &["Port the walrus counter?", "The walrus counter was ported."]);
    transcript(&home, "gone", "work/old", "2026-01-19", &["Drop the walrus counter?", "The walrus counter was dropped."]);
    fs::remove_dir(home.path("work/old")).unwrap();
    assert_snapshot!(places(&home, &["walrus counter"]), @"
    chats/claude-code/gone.md:13-17 0.79
    chats/claude-code/here.md:13-17 0.78
    chats/claude-code/below.md:13-17 0.78
    chats/claude-code/gone.md:19-21 0.74
    chats/claude-code/below.md:19-21 0.74
    chats/claude-code/here.md:19-21 0.73
    ");
    assert_snapshot!(places(&home, &["walrus counter", "--all-projects"]), @"
    chats/claude-code/gone.md:13-17 0.79
    chats/claude-code/nested.md:13-17 0.79
    chats/claude-code/other.md:13-17 0.79
    chats/claude-code/here.md:13-17 0.78
    chats/claude-code/below.md:13-17 0.78
    chats/claude-code/gone.md:19-21 0.74
    chats/claude-code/nested.md:19-21 0.74
    chats/claude-code/other.md:19-21 0.74
    chats/claude-code/below.md:19-21 0.74
    chats/claude-code/here.md:19-21 0.73
    ");
    assert_snapshot!(home.run_bare(&["search", "walrus counter", "--why-not", "chats/claude-code/other.md"]), @"The project filter excludes the memory. Search with --all-projects.");
    let mut talk = Talk::over(home.bare(&["mcp"]));
    talk.hello(REVISION);
    let mut paths = |source: &str| {
        let mut paths = hit_names(&mut talk, json!({ "query": "walrus counter", "source": source, "maxResults": 20 }));
        paths.sort();
        paths.dedup();
        paths.join(" ").replace("chats/claude-code/", "")
    };
    assert_eq!(paths("all"), "below.md gone.md here.md");
    assert_eq!(paths("chat"), "below.md gone.md here.md");
    assert_eq!(paths("all-projects"), "below.md gone.md here.md nested.md other.md");
    talk.end();
    // A long-lived process and a deleted state find the same.
    fs::remove_file(home.path("home/chats/.state.json")).unwrap();
    assert_snapshot!(places(&home, &["walrus counter", "--source", "chat", "--max-results", "1"]), @"chats/claude-code/gone.md:13-17 0.79");
}

#[test]
fn the_running_conversation_and_calls_of_the_memory_are_never_hits() {
    let home = on();
    let now = SystemClock.now();
    let line = |kind: &str, content: serde_json::Value| {
        json!({ "type": kind, "cwd": home.path("work"), "uuid": format!("{kind}{}", content.to_string().len()), "timestamp": now.to_string(),
            "message": { "id": "m1", "role": kind, "content": content } })
        .to_string()
            + "\n"
    };
    let asked = line("user", json!("Which port has the walrus staging server?"));
    let calls =
        |name: &str| line("assistant", json!([{ "type": "tool_use", "name": name, "input": { "query": "walrus staging server port" } }]));
    let file = ".claude/projects/-x/run.jsonl";
    put(&home, file, &(asked.clone() + &calls("mcp__memdir__memory_search")));
    transcript(&home, "past", "work", "2026-01-15", &["Start the walrus staging server", "The walrus staging server listens on 8443."]);
    assert_snapshot!(places(&home, &["which port has the walrus staging server"]), @"
    chats/claude-code/past.md:13-17 0.56
    chats/claude-code/past.md:19-21 0.48
    ");
    assert_snapshot!(places(&home, &["which port has the walrus staging server", "--all-projects"]), @"
    chats/claude-code/past.md:13-17 0.56
    chats/claude-code/past.md:19-21 0.48
    ");
    let mut talk = Talk::over(home.bare(&["mcp"]));
    talk.hello(REVISION);
    let ask = json!({ "query": "which port has the walrus staging server", "minScore": 0 });
    let mut paths = hit_names(&mut talk, ask.clone());
    paths.dedup();
    assert_eq!(paths, ["chats/claude-code/past.md"]);
    // The answer ends the turn, and the conversation is found like any other: without the call.
    put(
        &home,
        file,
        &(asked
            + &calls("mcp__memdir__memory_search")
            + &line("assistant", json!([{ "type": "text", "text": "It is 8443, said the walrus." }]))),
    );
    let mut paths = hit_names(&mut talk, ask);
    paths.sort();
    paths.dedup();
    assert_eq!(paths, ["chats/claude-code/past.md", "chats/claude-code/run.md"]);
    talk.end();
    let archived = fs::read_to_string(home.path("home/chats/claude-code/run.md")).unwrap();
    let (_, turns) = archived.split_once("## User").unwrap();
    assert!(!turns.contains("memory_search") && turns.contains("It is 8443, said the walrus."), "{archived}");
}

#[test]
fn a_memory_with_the_answer_ranks_above_chats_with_the_question_and_scores_are_in_order() {
    let home = on();
    home.run_bare(&["write", "ops/staging", "Walrus staging: 8443, behind the proxy of the office in Oslo.", "--description", "Ports"]);
    for (n, question) in
        ["Which port has the walrus staging server?", "walrus staging server port?", "port of the walrus staging server"].iter().enumerate()
    {
        transcript(&home, &format!("ask{n}"), "work", "2026-01-15", &[question, "I do not know."]);
    }
    transcript(&home, "told", "work", "2026-01-16", &["Look it up", "The walrus staging server has port 8443, which port it had before."]);
    assert_snapshot!(places(&home, &["which port has the walrus staging server"]), @"
    ops/staging.md:5-5 0.59
    chats/claude-code/ask2.md:13-17 0.59
    chats/claude-code/ask1.md:13-17 0.59
    chats/claude-code/ask0.md:13-17 0.59
    chats/claude-code/told.md:19-21 0.50
    chats/claude-code/ask1.md:19-21 0.43
    ");
    let output =
        home.bare(&["search", "which port has the walrus staging server", "--json", "--explain", "--min-score", "0"]).output().unwrap();
    let results = serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["results"].clone();
    let mut above = f64::INFINITY;
    for hit in results.as_array().unwrap() {
        let (score, explain) = (hit["score"].as_f64().unwrap(), &hit["explain"]);
        assert!(score <= above, "{results:#}");
        above = score;
        let (sum, half) = (explain["sum"].as_f64().unwrap(), explain["half"].as_f64().unwrap());
        let own = explain["own_score"].as_f64().unwrap_or(score);
        assert!((sum / (sum + half) - own).abs() < 1e-4 && own >= score, "{hit:#}");
    }
}

#[test]
fn a_hit_in_a_chat_has_one_line_about_its_place() {
    let home = on();
    transcript(&home, "1af7", "work", "2026-01-15", &["Why is the login slow?", "It hashes the password twice."]);
    let ages = Regex::new(r"\d+ days ago").unwrap();
    let without_age = |text: &str| ages.replace_all(text, "[AGE]").into_owned();
    let printed = home.run_bare(&["search", "--source", "chat", "hashes the password twice", "--max-results", "1"]);
    assert_snapshot!(without_age(&printed), @r#"
    chats/claude-code/1af7.md:19-21  0.52  [AGE]  Why is the login slow? > Assistant ([TIME]          :01Z)
      ## Assistant ([TIME]          :01Z)
      
      It hashes the password twice.
      | from the assistant in claude-code on 2026-01-15 in [HOME]/work, "Why is the login slow?"; resume with: cd [HOME]/work && claude --resume 1af7
    "#);
    let place = places(&home, &["--source", "chat", "hashes the password twice", "--max-results", "1"]);
    let got = home.run_bare(&["get", place.split(' ').next().unwrap()]);
    assert!(got.contains("It hashes the password twice."), "get accepts the place that search prints: {got}");
    let mut talk = Talk::over(home.bare(&["mcp"]));
    talk.hello(REVISION);
    let answer = talk.call_text("memory_search", json!({ "query": "hashes the password twice", "source": "chat", "maxResults": 1 }));
    assert_snapshot!(without_age(&home.with_placeholders(&answer)), @r#"
    [chats/claude-code/1af7.md lines 19-21 ([AGE], score 0.51)]
    ## Assistant ([TIME]          :01Z)

    It hashes the password twice.
    (from the assistant in claude-code on 2026-01-15 in [HOME]/work, "Why is the login slow?"; resume with: cd [HOME]/work && claude --resume 1af7)
    "#);
    talk.end();
}

#[test]
fn a_hit_by_meaning_alone_is_explained() {
    let home = Home::new();
    home.put("pets.md", "---\nname: pets\n---\nMy cat sleeps all day.\n");
    home.put("car.md", "---\nname: car\n---\nThe car needs new tires.\n");
    assert_snapshot!(home.run(&["search", "kitten", "--explain"]), @"
    pets.md:4-4  0.36  today
      My cat sleeps all day.
      | unit 4-4: no shared words, similar in meaning
      | maximum 3.94, cosine 0.40; score 0.36 = 0.233 / (0.233 + 0.42)
      | terms (units): kitten (0)
    ");
}

#[test]
fn gemini_and_copilot_conversations_are_archived() {
    let home = on();
    let dir = home.path("work").display().to_string();
    let gemini = [
        json!({ "sessionId": "7c1f", "projectHash": "h", "startTime": "2026-11-15T10:00:00Z", "kind": "main", "directories": [dir] }),
        json!({ "$set": { "messages": [{ "id": "s0", "type": "user", "content": [{ "text": "<session_context>\nThis is the Gemini CLI." }] }] } }),
        json!({ "id": "u1", "timestamp": "2026-11-15T10:00:01Z", "type": "user",
            "content": [{ "text": "Which port has staging?" }, { "text": "<hook_context>never</hook_context>" }] }),
        json!({ "id": "g1", "timestamp": "2026-11-15T10:00:02Z", "type": "gemini", "content": "It is 8443." }),
    ];
    let copilot = [
        json!({ "type": "session.start", "data": { "sessionId": "5e55", "context": { "cwd": dir, "gitRoot": dir } }, "id": "e1", "timestamp": "2026-11-16T10:00:00Z" }),
        json!({ "type": "user.message", "data": { "content": "Which port has production?", "transformedContent": "never" }, "id": "e2", "timestamp": "2026-11-16T10:00:01Z" }),
        json!({ "type": "assistant.message", "data": { "messageId": "m1", "content": "It is 443.", "toolRequests": [] }, "id": "e3", "timestamp": "2026-11-16T10:00:02Z" }),
        json!({ "type": "tool.execution_complete", "data": { "success": true, "result": "never" }, "id": "e4", "timestamp": "2026-11-16T10:00:03Z" }),
    ];
    let lines = |records: &[serde_json::Value]| records.iter().map(|record| format!("{record}\n")).collect::<String>();
    put(&home, ".gemini/tmp/work/chats/session-2026-11-15T10-00-7c1f.jsonl", &lines(&gemini));
    put(&home, ".copilot/session-state/5e55/events.jsonl", &lines(&copilot));
    assert_snapshot!(home.run_bare(&["chats", "sync"]), @"synced 4 turns in 2 conversations; the archive has 2 conversations");
    assert_snapshot!(home.run_bare(&["chats"]), @"
    when              host         id    turns  project  title
    [TIME]            copilot-cli  5e55  2      work     Which port has production?
    [TIME]            gemini       7c1f  2      work     Which port has staging?
    ");
    assert_snapshot!(home.run_bare(&["chats", "show", "7c1f"]), @"
    # Which port has staging?

    ## User ([TIME]          :01Z)

    Which port has staging?

    ## Assistant ([TIME]          :02Z)

    It is 8443.
    -- stderr
    note: resume with: cd [HOME]/work && gemini --resume 7c1f
    ");
    assert_snapshot!(home.run_bare(&["chats", "show", "5e55"]), @"
    # Which port has production?

    ## User ([TIME]          :01Z)

    Which port has production?

    ## Assistant ([TIME]          :02Z)

    It is 443.
    -- stderr
    note: resume with: cd [HOME]/work && copilot --resume 5e55
    ");
}

#[test]
fn a_host_whose_transcripts_have_no_messages_is_reported() {
    let home = on();
    let unknown = "{\"schema\":9,\"turn\":{\"who\":\"person\",\"said\":\"hello\"}}\n";
    put(&home, ".gemini/tmp/work/chats/session-2026-11-15T10-00-7c1f.jsonl", unknown);
    assert_snapshot!(home.run_bare(&["chats", "sync"]), @"
    synced 0 turns in 0 conversations; the archive has 0 conversations
    -- stderr
    note: no messages found in the newest gemini conversation; the transcript format may have changed; update memdir, or exclude the host with: memdir chats off --host gemini
    ");
    let sync = || serde_json::from_slice::<serde_json::Value>(&home.bare(&["chats", "sync", "--json"]).output().unwrap().stdout).unwrap();
    assert_eq!(sync()["empty_hosts"], json!([{ "host": "gemini", "sessions": 1 }]), "an unchanged transcript is still reported");
    assert_snapshot!(home.run_bare(&["search", "hello"]), @"
    -- stderr
    note: no messages found in the newest gemini conversation; the transcript format may have changed
    note: no results: 0 files searched
    -- exit 1
    ");
    let doctor = home.run_bare(&["doctor"]);
    assert_snapshot!(doctor.lines().skip_while(|line| !line.contains("chats of")).take(2).collect::<Vec<_>>().join("\n"), @"
    bad chats of gemini: no messages found in the newest gemini conversation; the transcript format may have changed
        update memdir, or exclude the host with: memdir chats off --host gemini
    ");
    // Two more without a message are chance once another one has some; three in a row are not.
    let good = "{\"id\":\"u1\",\"type\":\"user\",\"content\":\"hello\"}\n";
    put(&home, ".gemini/tmp/work/chats/session-2026-11-16T10-00-aaaa.jsonl", good);
    assert_eq!(sync()["empty_hosts"], json!([]));
    for name in ["bbbb", "cccc", "dddd"] {
        put(&home, &format!(".gemini/tmp/work/chats/session-2026-11-17T10-00-{name}.jsonl"), unknown);
    }
    assert_eq!(sync()["empty_hosts"], json!([{ "host": "gemini", "sessions": 3 }]));
}

/// No sync adds conversations to a memory that does not include them, and a statistic is not a search.
#[test]
fn a_memory_without_conversations_names_no_command() {
    let home = on();
    let mut talk = Talk::over(home.bare(&["--only", "user", "mcp"]));
    talk.hello(REVISION);
    let mut call = |tool: &str, arguments: serde_json::Value| {
        talk.ask("tools/call", json!({ "name": tool, "arguments": arguments }))["result"].clone()
    };
    let found = call("memory_search", json!({ "query": "hashes twice", "source": "chat" }))["structuredContent"].clone();
    assert_eq!(found["warning"], "past conversations were not searched, because --only selects a memory without them");
    assert_eq!(found["action"], serde_json::Value::Null);
    let stats = call("memory_stats", json!({}))["content"][0]["text"].clone();
    assert!(stats.as_str().unwrap().ends_with("\nchat: --only selects a memory without past conversations"), "{stats}");
    talk.end();
}

/// A model reads the note too, and has no command line.
#[test]
fn conversations_that_cannot_be_read_name_the_user() {
    let home = on();
    let database = home.path(".local/share/opencode/opencode.db");
    fs::create_dir_all(database.parent().unwrap()).unwrap();
    fs::write(&database, "not a database ".repeat(100)).unwrap();
    let printed = home.run_bare(&["search", "hashes twice"]);
    assert!(printed.contains("note: some conversations cannot be read; the user can see why with: memdir chats sync\n"), "{printed}");
}
