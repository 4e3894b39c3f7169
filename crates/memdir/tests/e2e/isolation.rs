//! A call in one space never reads, counts, ranks or names anything of another: every command, tool, resource and prompt has the same
//! output whether other memories exist or not.

use crate::{
    home::Home,
    talk::{SESSIONLESS, meta},
    web::Web,
};
use memdir_core::{Clock as _, SystemClock};
use regex::Regex;
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs, panic};

/// A word in every name and text of the other space, and in no request.
pub(crate) const THEIRS: &str = "quetzal";

/// Replaces text that differs from run to run.
fn normalized(home: &Home, text: &str) -> String {
    let rules = [
        (r#""(id|change|undoes|undone)":\s?"[0-9a-z]{8}""#, r#""$1":"[ID]""#),
        (r"\d{4}-\d\d-\d\dT[0-9:.]+Z?", "[TIME]"),
        (r"\b20\d\d/\d\d/20\d\d-\d\d-\d\d\b", "[DAY]"),
        (r"(?m)- \d\d:\d\d ", "- [HOUR] "),
        (r"\bin \d+\.\d s\b", "in [SECONDS]"),
        (r" {2,}", "  "),
    ];
    rules.iter().fold(home.with_placeholders(text), |text, (rule, with)| Regex::new(rule).unwrap().replace_all(&text, *with).into_owned())
}

/// The text of a memory, equal in both spaces except for the word.
fn text(word: &str) -> String {
    format!(
        "---\ntype: project\ndescription: {word} harbour plan\npinned: true\nwhen:\n  command: [\"ferry *\"]\n---\n\
         The {word} ferry leaves the harbour at noon, and the harbour master signs the manifest. See [[{word}-list]] and `src/{word}.rs`.\n"
    )
}

/// Fills a project with everything that a command could find.
fn fill(home: &Home, project: &str, word: &str) {
    let run = |args: &[&str]| {
        let output = home.bare(&[&["--project", project, "--actor", word], args].concat()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["init"]);
    let (harbour, list) = (format!("{word}-harbour"), format!("docks/{word}-list"));
    run(&["write", &harbour, &text(word)]);
    run(&["write", &list, &format!("- {word} crates\n- {word} ropes, wanted before noon\n")]);
    run(&["write", &format!("{word}-gone"), &format!("{word} sank in the harbour")]);
    run(&["delete", &format!("{word}-gone")]);
    run(&["log", &format!("the {word} harbour was dredged")]);
    run(&["edit", &list, "ropes", "cables"]);
    run(&["undo"]);
    run(&["prompt"]);
    let tests = format!("When does the {word} ferry leave? -> must find {harbour}\n");
    fs::write(home.path("home/projects").join(project).join("memory.tests.md"), tests).unwrap();
    run(&["search", &format!("{word} ferry")]);
}

/// Two machines; on the second one, another project contains the word.
fn machines() -> (Home, Home) {
    let (alone, beside) = (Home::new(), Home::new());
    fill(&beside, "south", THEIRS);
    fill(&alone, "north", "heron");
    fill(&beside, "north", "heron");
    fill(&beside, "south2", THEIRS);
    (alone, beside)
}

/// Runs a comparison, and runs it again if a minute ended in it: entries of a log begin with their minute.
pub(crate) fn in_one_minute(compare: fn()) {
    let minute = || SystemClock.now().as_second() / 60;
    let start = minute();
    match panic::catch_unwind(compare) {
        Err(_) if minute() != start => compare(),
        Err(failure) => panic::resume_unwind(failure),
        Ok(()) => {}
    }
}

#[test]
fn every_command_is_independent_of_other_projects() {
    in_one_minute(compare_commands);
}

fn compare_commands() {
    let (alone, beside) = machines();
    let output = beside.bare(&["--project", "south", "history", "--json"]).output().unwrap();
    let theirs: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (change, version) = (theirs["changes"][0]["id"].as_str().unwrap(), theirs["changes"][0]["files"][0]["after"].as_str());
    let version = version.unwrap_or("0123abcd");
    for home in [&alone, &beside] {
        fs::write(home.path("work/new.md"), "The tide tables of the harbour.\n").unwrap();
        fs::write(home.path("work/cues.jsonl"), "{\"name\":\"etzal-harbour\",\"cues\":[\"x\"]}\n").unwrap();
        fs::write(home.path("work/batch.jsonl"), "{\"query\":\"harbour master at noon\"}\n").unwrap();
    }
    // The owner of the other project finds the word.
    for args in [["list"].as_slice(), &["search", "harbour master at noon"], &["recall", "When does the ferry leave?"], &["prompt"]] {
        let output = beside.bare(&[&["--project", "south"], args].concat()).output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains(THEIRS), "{args:?}");
    }
    let asked: &[&[&str]] = &[
        &[],
        &["read"],
        &["read", "heron-harbour"],
        &["read", "etzal-harbour"],
        &["get", "etzal-harbour"],
        &["path", "heron-harbour"],
        &["path", "etzal-harbour"],
        &["status"],
        &["complete", "--", "memdir", "read", ""],
        &["list"],
        &["list", "--long"],
        &["list", "docks"],
        &["list", "--tree", "--json"],
        &["search", "harbour master at noon"],
        &["search", "harbour master at noon", "--explain", "--json"],
        &["search", "path:docks/ crates"],
        &["search", "--batch", "batch.jsonl", "--json"],
        &["recall", "When does the ferry leave the harbour?"],
        &["recall", "--action", "--tool", "Bash", "--command", "ferry now"],
        &["replay"],
        &["replay", "--all-projects"],
        &["inbox"],
        &["inbox", "--all", "--json"],
        &["inbox", "show", "etzal-harbour"],
        &["rules"],
        &["cues"],
        &["cues", "--json"],
        &["cues", "--proposed"],
        &["dream"],
        &["dream", "--prompt"],
        &["cues", "--from", "cues.jsonl"],
        &["test"],
        &["prompt"],
        &["prompt", "individual", "--tools"],
        &["prompt", "log"],
        &["stats"],
        &["stats", "--loads"],
        &["stats", "--use"],
        &["index"],
        &["index", "--rebuild"],
        &["check"],
        &["check", "--json"],
        &["check", "--fix"],
        &["entrypoint"],
        &["entrypoint", "--repair"],
        &["verify", "heron-harbour"],
        &["history"],
        &["history", "etzal-harbour"],
        &["history", "--json"],
        &["diff", "heron-harbour"],
        &["diff", "heron-harbour", version],
        &["restore", "heron-harbour", version],
        &["restore", "etzal-harbour", version],
        &["export"],
        &["export", "--format", "json"],
        &["view", "-o", "view.html"],
        &["import", "new.md", "--dry-run"],
        &["import", "new.md"],
        &["log", "low water"],
        &["write", "tide", "Low water at six."],
        &["edit", "tide", "six", "seven"],
        &["rename", "tide", "tides"],
        &["rename", "etzal-harbour", "mine"],
        &["delete", "tides"],
        &["delete", "etzal-harbour"],
        &["rename", "heron-harbour", "etzal-harbour", "old/"],
        &["delete", "heron-harbour", "etzal-harbour"],
        &["undo"],
        &["redo"],
        &["undo", change],
        &["redo", change],
        &["where"],
        &["config"],
        &["chats"],
        &["resume", "harbour master at noon"],
        &["hook", "claude-code", "start", "--explain"],
    ];
    // Commands that do not depend on a space; `mcp` and `ui` have their own tests, `watch` repeats `index`, and `forget` covers every
    // memory.
    let elsewhere = [
        "init", "projects", "token", "serve", "admin", "review", "watch", "forget", "mcp", "ui", "dialects", "install", "uninstall",
        "doctor", "adopt", "man", "completions", "demo", "bench", "help",
    ];
    let help = alone.run_bare(&["--help"]);
    let verbs = Regex::new(r"(?m)^  ([a-z]+) {2,}\S").unwrap();
    let verbs: BTreeSet<&str> = verbs.captures_iter(&help).filter_map(|found| found.get(1)).map(|verb| verb.as_str()).collect();
    assert!(verbs.len() > 30, "{help}");
    let table: BTreeSet<&str> = asked.iter().filter_map(|args| args.first().copied()).chain(elsewhere).collect();
    assert_eq!(verbs.difference(&table).collect::<Vec<_>>(), Vec::<&&str>::new(), "a command without a row");
    for args in asked {
        let all = [&["--project", "north"], *args].concat();
        let [wanted, printed] = [&alone, &beside].map(|home| normalized(home, &home.transcript(&all, home.bare(&all).output().unwrap())));
        assert!(!printed.contains(THEIRS) && !printed.contains("south"), "{args:?}: {printed}");
        assert_eq!(printed, wanted, "{args:?}");
    }
}

/// A client and its project, which no other client uses.
pub(crate) struct Caller {
    pub(crate) token: String,
    pub(crate) project: &'static str,
}

impl Caller {
    fn new(home: &Home, person: &str, project: &'static str) -> Caller {
        let made = home.json(&["token", "add", person, project, "--agent", &format!("{person}-bot")]);
        Caller { token: made["token"].as_str().unwrap().to_owned(), project }
    }

    fn ask(&self, web: &Web, method: &str, mut params: Value) -> String {
        params["_meta"] = meta();
        let bearer = format!("Bearer {}", self.token);
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
        let mut headers = vec![("Authorization", bearer.as_str()), ("Mcp-Method", method), ("Mcp-Protocol-Version", SESSIONLESS)];
        headers.push(("Memdir-Project", self.project));
        if !name.is_empty() {
            headers.push(("Mcp-Name", &name));
        }
        let reply = web.connect().post(&headers, &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        assert!(matches!(reply.status, 200 | 400 | 404), "{method} {params}: {reply:?}");
        reply.body
    }

    pub(crate) fn call(&self, web: &Web, name: &str, arguments: Value) -> String {
        self.ask(web, "tools/call", json!({ "name": name, "arguments": arguments }))
    }

    /// Fills the memories of the client with everything that a tool could find.
    pub(crate) fn fill(&self, web: &Web, word: &str) {
        self.fill_as(web, word, word);
    }

    /// Like [`Caller::fill`], for a person whose name is not the word.
    pub(crate) fn fill_as(&self, web: &Web, person: &str, word: &str) {
        for prefix in ["", "team/", "user/", &format!("agent/{person}-bot/")] {
            for (name, content) in [("harbour", text(word)), ("docks-list", format!("- {word} crates before noon\n"))] {
                let path = format!("{prefix}{word}-{name}");
                let printed = self.call(web, "memory_write", json!({ "path": path, "content": content }));
                assert!(printed.contains("Saved"), "{printed}");
            }
        }
        self.call(web, "memory_log", json!({ "entry": format!("the {word} harbour was dredged") }));
        self.call(web, "memory_delete", json!({ "path": format!("{word}-docks-list") }));
        self.ask(web, "prompts/get", json!({ "name": "memory" }));
        self.call(web, "memory_search", json!({ "query": format!("{word} ferry") }));
    }
}

#[test]
fn every_tool_resource_and_prompt_is_independent_of_other_clients() {
    in_one_minute(compare_clients);
}

fn compare_clients() {
    let homes = [Home::new(), Home::new()];
    let mut printed: Vec<Vec<(String, String)>> = Vec::new();
    for (at, home) in homes.iter().enumerate() {
        home.configure("log = true\n");
        let (mine, theirs) = (Caller::new(home, "heron", "north"), Caller::new(home, THEIRS, "south"));
        let web = Web::start(home, &[]);
        if at == 1 {
            theirs.fill(&web, THEIRS);
            let found = theirs.call(&web, "memory_search", json!({ "query": "harbour master at noon" }));
            assert!(found.contains(THEIRS), "the word is there to be found: {found}");
        }
        mine.fill(&web, "heron");
        printed.push(everything(home, &web, &mine));
    }
    for ((asked, wanted), (_, printed)) in printed[0].iter().zip(&printed[1]) {
        assert!(!printed.contains(THEIRS) && !printed.contains("south"), "{asked}: {printed}");
        assert_eq!(printed, wanted, "{asked}");
    }
}

/// All requests with their responses.
pub(crate) fn everything(home: &Home, web: &Web, mine: &Caller) -> Vec<(String, String)> {
    let mut printed = Vec::new();
    let mut ask = |method: &str, params: Value| {
        let response = mine.ask(web, method, params.clone());
        printed.push((format!("{method} {params}"), normalized(home, &response)));
        response
    };
    let calls = [
        ("memory_read", json!({})),
        ("memory_read", json!({ "paths": ["heron-harbour", "etzal-harbour", "team", "user"] })),
        ("memory_search", json!({ "query": "harbour master at noon" })),
        ("memory_search", json!({ "query": "path:user/ ferry" })),
        ("memory_get", json!({ "path": "etzal-harbour.md" })),
        ("memory_get", json!({ "path": "heron-harbour.md" })),
        ("memory_stats", json!({})),
        ("memory_log", json!({ "entry": "low water" })),
        ("memory_write", json!({ "path": "tide", "content": "Low water at six." })),
        ("memory_edit", json!({ "path": "tide", "old": "six", "new": "seven" })),
        ("memory_move", json!({ "from": "tide", "to": "user/tide" })),
        ("memory_move", json!({ "from": "etzal-harbour", "to": "mine" })),
        ("memory_delete", json!({ "path": "user/tide" })),
        ("memory_delete", json!({ "path": "etzal-harbour" })),
        ("memory_undo", json!({})),
    ];
    let tools: Value = serde_json::from_str(&ask("tools/list", json!({}))).unwrap();
    for tool in tools["result"]["tools"].as_array().unwrap() {
        assert!(calls.iter().any(|(name, _)| tool["name"] == *name), "{} has no row", tool["name"]);
    }
    for (name, arguments) in calls {
        ask("tools/call", json!({ "name": name, "arguments": arguments }));
    }
    let listed: Value = serde_json::from_str(&ask("resources/list", json!({}))).unwrap();
    let resources: Vec<String> =
        listed["result"]["resources"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap().to_owned()).collect();
    assert!(resources.len() > 6, "{resources:?}");
    for uri in resources.iter().map(String::as_str).chain(["memory:///etzal-harbour", "memory:///user/etzal-harbour"]) {
        ask("resources/read", json!({ "uri": uri }));
    }
    ask("resources/templates/list", json!({}));
    let prompts: Value = serde_json::from_str(&ask("prompts/list", json!({}))).unwrap();
    for prompt in prompts["result"]["prompts"].as_array().unwrap() {
        let arguments: serde_json::Map<String, Value> = prompt["arguments"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|argument| (argument["name"].as_str().unwrap().to_owned(), json!("harbour")))
            .collect();
        ask("prompts/get", json!({ "name": prompt["name"], "arguments": arguments }));
    }
    for typed in ["", "etz", "harb", "us"] {
        let reference = json!({ "type": "ref/resource", "uri": "memory:///{+name}" });
        ask("completion/complete", json!({ "ref": reference, "argument": { "name": "name", "value": typed } }));
    }
    printed
}
