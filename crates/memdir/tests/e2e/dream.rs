//! `memdir dream`: a plan, an edited plan, applying and undoing it, and models that behave, hang, fail or lie.

use crate::{
    home::{Home, feed},
    talk::{HANDSHAKES, Talk},
};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::{fs, os::unix::fs::PermissionsExt as _, process::Output};

fn filled() -> Home {
    let home = Home::new();
    home.put(
        "notes/rota.md",
        "---\nname: Rota\nmodified: 2026-01-05\n---\n\nThe rota of the shop is decided on the first Monday of a month.\n",
    );
    home.put(
        "notes/rota-copy.md",
        "---\nname: Rota\nmodified: 2026-02-05\n---\n\nThe rota of the shop is decided on the first Monday of a month.\n",
    );
    home.put("notes/empty.md", "# Ideas\n");
    home.put("notes/kept.md", "---\nname: Backups\n---\n\nBackups leave the data center at four.\n");
    home
}

/// The file of the newest plan.
fn plan_file(home: &Home) -> String {
    home.json(&["dream", "--status"])["plans"][0]["file"].as_str().unwrap().to_owned()
}

/// A transcript without the names of plans.
fn printed(home: &Home, args: &[&str]) -> String {
    regex::Regex::new(r"\[HOME\]/home/dreams/\S+\.md").unwrap().replace_all(&home.run(args), "[PLAN]").into_owned()
}

#[test]
fn a_plan_is_made_edited_applied_and_undone() {
    let home = filled();
    assert_snapshot!(printed(&home, &["dream"]), @"
      1. merge notes/rota-copy into notes/rota (exact-duplicate, 99 % confidence)
      2. archive notes/empty (empty, 95 % confidence)
    2 operations: [PLAN]
    -- stderr
    note: nothing has changed yet; review the plan, edit it if needed, then apply it with: memdir dream --apply [PLAN]
    ");
    let before = home.files();
    let plan = fs::read_to_string(plan_file(&home)).unwrap();
    // The person leaves the merge out.
    let merge = plan.split("\n## ").find(|part| part.contains(". merge ")).unwrap();
    fs::write(plan_file(&home), plan.replace(&format!("\n## {merge}"), "")).unwrap();
    assert_snapshot!(printed(&home, &["dream", "--apply", "latest"]), @"
    archive notes/empty
    1 operation applied (undo: memdir undo [ID])
    ");
    assert!(home.files().contains(&"archive/notes/empty.md".to_owned()));
    assert!(home.files().contains(&"notes/rota-copy.md".to_owned()), "left out by the person");
    assert_snapshot!(printed(&home, &["dream", "--apply", "latest"]), @"
    -- stderr
    error: no plan is waiting to be applied
    hint: make a plan with: memdir dream
    -- exit 1
    ");
    assert_snapshot!(home.run(&["undo"]), @"undid [ID]: tidy archive/notes/empty and notes/empty, by ada, just now (redo: memdir redo [ID])");
    assert_eq!(
        home.files().iter().filter(|file| !file.starts_with("MEMORY")).collect::<Vec<_>>(),
        before.iter().filter(|file| !file.starts_with("MEMORY")).collect::<Vec<_>>()
    );
}

#[test]
fn a_plan_whose_memories_changed_is_not_a_success() {
    let home = filled();
    home.ok(&["dream"]);
    for name in ["notes/rota.md", "notes/rota-copy.md", "notes/empty.md"] {
        home.put(name, "Something else.\n");
    }
    home.put("notes/kept.md", "Else.\n");
    let file = plan_file(&home);
    let output = home.command(&["dream", "--apply", &file]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("0 operations applied"), "{}", String::from_utf8_lossy(&output.stdout));
    assert_snapshot!(home.run_with(&["dream", "--apply", "-"], "nonsense\n"), @r##"
    -- stderr
    error: invalid plan: line 1: a plan must begin with "# Dream plan"
    hint: correct the plan, or make a new one with: memdir dream
    -- exit 2
    "##);
}

/// However short a text is, its copy is found.
#[test]
fn copies_of_short_texts_are_found() {
    let home = Home::new();
    home.put("a.md", "Use tabs, not spaces, Ada.\n");
    home.put("notes/b.md", "Use tabs, not spaces, Ada.\n");
    home.put("c.md", "42\n");
    home.put("d.md", "42\n");
    home.put("e.md", "缩进用制表符。\n");
    home.put("f.md", "缩进用制表符。\n");
    home.put("empty-1.md", "");
    home.put("empty-2.md", "");
    assert_snapshot!(printed(&home, &["dream"]), @"
      1. merge notes/b into a (exact-duplicate, 99 % confidence)
      2. archive empty-1 (empty, 95 % confidence)
      3. archive empty-2 (empty, 95 % confidence)
      4. merge d into c (exact-duplicate, 60 % confidence)
      5. merge f into e (exact-duplicate, 60 % confidence)
    5 operations: [PLAN]
    -- stderr
    note: nothing has changed yet; review the plan, edit it if needed, then apply it with: memdir dream --apply [PLAN]
    ");
}

/// Two identical memories of 27 bytes among 32.
#[test]
fn a_short_copy_among_many_memories_is_found() {
    let home = Home::new();
    for n in 0..30 {
        home.put(&format!("notes/n{n}.md"), format!("Subsystem {n} is described on page {n} of the handbook.\n"));
    }
    home.put("a.md", "Deploys go out on Tuesdays.\n");
    home.put("b.md", "Deploys go out on Tuesdays.\n");
    assert_snapshot!(printed(&home, &["dream"]), @"
      1. merge b into a (exact-duplicate, 99 % confidence)
    1 operation: [PLAN]
    -- stderr
    note: nothing has changed yet; review the plan, edit it if needed, then apply it with: memdir dream --apply [PLAN]
    ");
}

/// The limit is reported with the option that raises it, and a plan that was undone waits again.
#[test]
fn a_limit_is_raised_on_purpose_and_an_undone_plan_waits_again() {
    let home = Home::new();
    for n in 0..12 {
        home.put(&format!("n{n}.md"), format!("# Idea {n}\n"));
    }
    home.ok(&["dream"]);
    assert_snapshot!(printed(&home, &["dream", "--apply", "latest"]), @"
    -- stderr
    error: plan changes 12 of 12 memories (100% of the memories), over the limit of 25%; remove operations, or raise the limit (on the command line: --limit 100)
    hint: to skip an operation, delete its section in the plan; then apply the plan again
    -- exit 2
    ");
    let state = |home: &Home| home.json(&["dream", "--status"])["plans"][0]["state"].clone();
    assert_eq!(state(&home), "open");
    assert!(home.ok(&["dream", "--apply", "latest", "--limit", "100"]).ends_with("applied\n") || state(&home) != "open");
    home.ok(&["undo"]);
    assert_eq!(state(&home), "open");
    assert_eq!(home.json(&["dream", "--status"])["applied"], json!([]));
}

/// Of several processes that apply one plan, one succeeds; the others report it.
#[test]
fn one_plan_is_applied_once() {
    let home = filled();
    home.ok(&["dream"]);
    let file = plan_file(&home);
    let children: Vec<_> = (0..6)
        .map(|_| {
            let mut command = home.command(&["dream", "--apply", &file]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let outputs: Vec<Output> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let applied = outputs.iter().filter(|output| output.status.success()).count();
    let errors: Vec<String> = outputs
        .iter()
        .filter(|output| !output.status.success())
        .map(|output| String::from_utf8_lossy(&output.stderr).into_owned())
        .collect();
    assert_eq!((applied, errors.len()), (1, 5), "{errors:?}");
    assert!(errors.iter().all(|error| error.starts_with("error: the plan was already applied as change ")), "{errors:?}");
    assert_eq!(home.files().iter().filter(|file| file.starts_with("archive/")).count(), 2);
    // After an undo the same plan fits again.
    home.ok(&["undo"]);
    assert!(home.ok(&["dream", "--apply", &file]).contains("2 operations applied"));
    assert_snapshot!(home.run(&["dream", "--apply", &file]), @"
    -- stderr
    error: the plan was already applied as change [ID]
    hint: undo the change with: memdir undo [ID], or make a new plan with: memdir dream
    -- exit 1
    ");
}

/// The counts of the ledger decide which lines of a full entrypoint move to a page.
#[test]
fn lines_that_are_never_used_leave_a_full_entrypoint() {
    let home = Home::new();
    let names: Vec<String> = (0..170).map(|n| format!("topic{}/memory-{n}", n % 2)).collect();
    for name in &names {
        home.put(&format!("{name}.md"), format!("---\nname: Fact {name}\ndescription: what {name} is about\n---\n\nText of {name}.\n"));
    }
    home.put("MEMORY.md", "# Ours\n\nRead this first.\n");
    home.ok(&["check", "--fix"]);
    let before = home.text("MEMORY.md");
    assert!(before.contains("memory-169"), "{before}");
    let read: Vec<&str> = names.iter().take(100).map(String::as_str).collect();
    let mut talk = Talk::begin(&home, &[], HANDSHAKES[0]);
    for names in read.chunks(10) {
        talk.call_text("memory_read", json!({ "paths": names }));
    }
    talk.end();
    let shown = printed(&home, &["dream"]);
    assert!(shown.contains("create topic0/overview (entrypoint, 60 % confidence)"), "{shown}");
    home.ok(&["dream", "--apply", "latest"]);
    let after = home.text("MEMORY.md");
    assert!(after.starts_with("# Ours\n\n") && after.contains("Read this first.\n"), "{after}");
    for name in &read {
        assert!(after.contains(&format!("({name}.md)")), "{name} is used and stays: {after}");
    }
    assert!(after.lines().count() <= 145, "{}", after.lines().count());
    assert!(after.contains("(topic0/overview.md)") && after.contains("MEMORY.page-001.md"), "{after}");
    let page = home.text("MEMORY.page-001.md");
    let lost = names.iter().filter(|name| !after.contains(&format!("({name}.md)")) && !page.contains(&format!("({name}.md)"))).count();
    assert_eq!(lost, 0, "every memory keeps a line");
    home.ok(&["undo"]);
    assert_eq!(home.text("MEMORY.md"), before);
}

/// An automatic plan runs in a detached process, so what went wrong is in the status until a plan is made.
#[test]
fn the_status_reports_why_no_plan_could_be_made() {
    let home = filled();
    std::os::unix::fs::symlink("/nonexistent/index.md", home.path("memory/MEMORY.md")).unwrap();
    let failed = home.run(&["dream"]);
    assert!(failed.contains("is a symbolic link that points outside the directory") && failed.ends_with("-- exit 2\n"), "{failed}");
    let status = home.run(&["dream", "--status"]);
    assert!(status.contains("\nthe last attempt to make a plan failed: ") && status.contains("points outside the directory"), "{status}");
    fs::remove_file(home.path("memory/MEMORY.md")).unwrap();
    home.ok(&["dream"]);
    assert!(!home.run(&["dream", "--status"]).contains("failed"));
}

/// Without the option, the command in the note would apply the plan to another memory.
#[test]
fn the_note_about_a_plan_repeats_the_options_that_select_the_memory() {
    let home = filled();
    let dir = home.path("memory").display().to_string();
    let shown = home.run_bare(&["--dir", &dir, "dream"]);
    assert!(shown.contains("then apply it with: memdir --dir [HOME]/memory dream --apply [HOME]/home/dreams/"), "{shown}");
}

/// Sessions are counted only for automatic plans, so the status has no number without them.
#[test]
fn the_status_has_no_sessions_while_automatic_plans_are_off() {
    let home = filled();
    assert_snapshot!(home.run(&["dream", "--status"]), @"
    automatic plans: off; turn them on with: memdir dream --auto on
    last plan: never
    last applied: never
    ");
    home.ok(&["dream", "--auto", "on"]);
    assert_snapshot!(home.run(&["dream", "--status"]), @"
    automatic plans: on
    last plan: never
    last applied: never
    sessions since the last plan: 0
    next automatic plan: 0 of 5 required sessions have ended
    ");
}

#[test]
fn a_clean_memory_needs_no_plan() {
    let home = Home::new();
    home.ok(&["write", "notes/kept", "Backups leave the data center at four."]);
    assert_snapshot!(home.run(&["dream"]), @"nothing to tidy in 1 memory");
    assert_eq!(home.json(&["dream", "--status"])["plans"], json!([]));
}

#[test]
fn logs_are_distilled_and_the_status_shows_the_progress() {
    let home = Home::new();
    home.put("logs/2026/01/2026-01-15.md", "- 09:00 started work\n- 10:00 decided: releases of the shop leave on Tuesdays\n");
    assert!(home.ok(&["log", "--status"]).starts_with("last distilled: never\nlogs distilled through: none\n"));
    home.ok(&["dream", "--logs"]);
    home.ok(&["dream", "--apply", "latest"]);
    let status = home.ok(&["log", "--status"]);
    assert!(status.starts_with("last distilled: just now, 1 operation\nlogs distilled through: 2026-01-15\n"), "{status}");
    assert!(home.ok(&["dream", "--logs"]).starts_with("nothing to tidy"));
    // A day without anything to distil is done, too.
    home.put("logs/2026/01/2026-01-16.md", "- 09:00 started work\n");
    assert!(home.ok(&["dream", "--logs"]).starts_with("nothing to tidy"));
    assert!(home.ok(&["log", "--status"]).contains("\nlogs distilled through: 2026-01-16\n"));
    // What is undone is not distilled, so it is proposed again.
    home.ok(&["undo"]);
    assert!(home.ok(&["log", "--status"]).starts_with("last distilled: never\nlogs distilled through: none\n"));
    assert!(home.ok(&["dream", "--logs"]).contains("create distilled/2026-01"));
    // What an agent proposed is a dream that did not read the logs.
    home.ok(&["write", "notes/one", "The first of two notes."]);
    let list = json!([{ "action": "archive", "path": "notes/one", "why": "it says nothing" }]).to_string();
    assert!(feed(&mut home.command(&["dream", "--operations", "-"]), list.as_bytes()).status.success());
    home.ok(&["dream", "--apply", "latest"]);
    let status = home.ok(&["log", "--status"]);
    assert!(status.starts_with("last distilled: never\n") && status.contains("\nlast dream applied: just now, 1 operation\n"), "{status}");
}

#[test]
fn operations_of_an_agent_become_a_plan_and_nothing_else() {
    let home = filled();
    let list = json!({ "operations": [{ "action": "archive", "path": "notes/empty", "why": "it has no text" }] });
    let output = feed(&mut home.command(&["dream", "--operations", "-"]), list.to_string().as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(home.files().contains(&"notes/empty.md".to_owned()), "nothing is changed yet");
    home.ok(&["dream", "--apply", "latest"]);
    assert!(home.files().contains(&"archive/notes/empty.md".to_owned()));
    let hostile = json!([{ "action": "create", "path": "../../x", "text": "x" }]);
    assert_snapshot!(home.run_with(&["dream", "--operations", "-"], hostile.to_string()), @r#"
    -- stderr
    error: invalid operations: operation 1: invalid memory name "../../x": it contains the component ".."; use a name without it
    hint: see the expected format with: memdir dream --prompt --piece 1
    -- exit 2
    "#);
    assert!(home.ok(&["dream", "--prompt"]).contains("<memory source=\"notes/kept@"));
}

#[test]
fn a_secret_at_the_cut_of_a_prompt_is_redacted() {
    let home = filled();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    // At any of these lengths the limit of 8,192 bytes is inside the secret or right beside it.
    for before in [8_140, 8_155, 8_170, 8_185, 8_191] {
        home.put("notes/long.md", format!("{}\ntoken: {token}\n{}\n", "x".repeat(before), "more text ".repeat(50)));
        let prompt = home.ok(&["dream", "--prompt"]);
        assert!(prompt.contains("[cut: do not update this memory]"), "{before}");
        assert!(!prompt.contains("ghp_"), "{before}: a part of the token is shown");
    }
}

/// Installs a program `claude` that runs this script.
fn fake(home: &Home, script: &str) {
    fake_program(home, "claude", script);
}

fn fake_program(home: &Home, name: &str, script: &str) {
    let file = home.path("bin").join(name);
    fs::create_dir_all(home.path("bin")).unwrap();
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

fn with_claude(home: &Home, args: &[&str]) -> Output {
    with_host(home, "claude", args)
}

fn with_host(home: &Home, host: &str, args: &[&str]) -> Output {
    let mut command = home.command(&[&["dream", "--with", host], args].concat());
    command.env("PATH", format!("{}:/usr/bin:/bin", home.path("bin").display()));
    command.output().unwrap()
}

/// Codex prints its answer alone on standard output; Gemini CLI prints JSON. Both run without the tools, hooks and servers of the person.
#[test]
fn the_programs_of_other_hosts_are_asked_in_their_own_way() {
    let home = filled();
    fs::create_dir_all(home.path(".codex")).unwrap();
    fs::write(home.path(".codex/config.toml"), "[mcp_servers.memdir]\ncommand = \"memdir\"\n[mcp_servers.\"a.b\"]\ncommand = \"x\"\n")
        .unwrap();
    let answer = json!({ "operations": [{ "action": "archive", "path": "notes/empty", "why": "no text" }] }).to_string();
    let gemini = json!({ "response": answer, "stats": {} }).to_string();
    let record = "printf '%s\\n' \"$@\" > \"$HOME/args\"\necho \"$MEMDIR_DREAM\" > \"$HOME/guard\"\necho \"$GEMINI_CLI_TRUST_WORKSPACE\" > \"$HOME/trust\"\ncat > \"$HOME/asked\"\ncat .gemini/settings.json > \"$HOME/settings\" 2>/dev/null";
    let codex = "exec --ephemeral --skip-git-repo-check --sandbox read-only -c features.hooks=false -c features.shell_tool=false \
        -c features.unified_exec=false -c features.apps=false -c features.plugins=false -c features.multi_agent=false \
        -c features.goals=false -c tools.view_image=false -c web_search=\"disabled\" -c mcp_servers={\"a.b\"={enabled=false},\"memdir\"={enabled=false}} -";
    let cases = [
        ("codex", answer.as_str(), codex),
        (
            "gemini",
            gemini.as_str(),
            "--output-format json --approval-mode default --skip-trust --extensions none -p Answer as instructed above.",
        ),
    ];
    for (host, output, line) in cases {
        fake_program(&home, host, &format!("{record}\ncat <<'END'\n{output}\nEND"));
        let made = with_host(&home, host, &["--yes"]);
        assert!(made.status.success(), "{host}: {}", String::from_utf8_lossy(&made.stderr));
        let plan = fs::read_to_string(plan_file(&home)).unwrap();
        assert!(plan.contains("## 1. archive notes/empty") && plan.contains("Why: no text"), "{host}: {plan}");
        let args = fs::read_to_string(home.path("args")).unwrap();
        assert_eq!(args.lines().collect::<Vec<_>>().join(" "), line, "{host}");
        assert_eq!(fs::read_to_string(home.path("guard")).unwrap(), "1\n", "{host}");
        assert!(fs::read_to_string(home.path("asked")).unwrap().contains("Backups leave the data center"), "{host}");
    }
    // Gemini CLI reads the settings of a directory only if it trusts it.
    assert_eq!(fs::read_to_string(home.path("trust")).unwrap(), "true\n");
    let announced = String::from_utf8(with_host(&home, "gemini", &[]).stdout).unwrap();
    assert!(announced.contains("\n  GEMINI_CLI_TRUST_WORKSPACE=true gemini --output-format json "), "{announced}");
    assert!(announced.contains("\ntime limit: 300 s in total; no cost limit (Gemini CLI has no option to set one)\n"), "{announced}");
    assert_eq!(
        serde_json::from_str::<Value>(&fs::read_to_string(home.path("settings")).unwrap()).unwrap(),
        json!({ "hooksConfig": { "enabled": false }, "tools": { "core": ["none"] }, "mcp": { "allowed": ["none"] } })
    );
    // Each of them may fail, too.
    for (host, script, why) in [
        ("codex", "echo 'stream error: no credit' >&2; exit 1", "codex exited with status 1: stream error: no credit\n"),
        (
            "codex",
            "echo 'Incorrect API key provided: AKIAQ7RHTZW4XNMP2LKD' >&2; exit 1",
            "Incorrect API key provided: [secret: aws-access-key]\n",
        ),
        ("codex", "echo 'I would archive the empty note.'", "expected JSON such as"),
        ("gemini", "echo '{\"response\":\"no\"}'", "expected JSON such as"),
        (
            "gemini",
            "printf 'Loaded cached credentials.\\n{\\n  \"error\": {\\n    \"message\": \"quota of AKIAQ7RHTZW4XNMP2LKD exceeded\"\\n  }\\n}\\n' >&2; exit 1",
            "gemini exited with status 1: quota of [secret: aws-access-key] exceeded\n",
        ),
    ] {
        fake_program(&home, host, script);
        let output = with_host(&home, host, &["--yes"]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && errors.contains(why), "{host}: {errors}");
    }
}

#[test]
fn a_model_is_shown_before_it_is_asked() {
    let home = filled();
    fake(&home, "touch \"$HOME/started\"");
    let output = with_claude(&home, &[]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("claude -p --output-format json --tools '' --strict-mcp-config"), "{text}");
    assert!(
        text.contains("would run this command once with about ")
            && text.contains("\ntime limit: 300 s in total; cost limit: 1.00 USD in total\n"),
        "{text}"
    );
    assert!(!home.path("started").exists(), "nothing runs without --yes");
}

#[test]
fn a_model_that_answers_with_operations_makes_a_plan() {
    let home = filled();
    let answer = json!({ "operations": [{ "action": "archive", "path": "notes/empty", "why": "no text" }] }).to_string();
    let result = json!({ "type": "result", "is_error": false, "result": format!("```json\n{answer}\n```") }).to_string();
    // The material arrives on standard input, the guard in the environment, and the directory is empty.
    fake(
        &home,
        &format!("cat > \"$HOME/asked\"\necho \"$MEMDIR_DREAM\" > \"$HOME/guard\"\nls > \"$HOME/dir\"\ncat <<'END'\n{result}\nEND"),
    );
    let output = with_claude(&home, &["--yes"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let plan = fs::read_to_string(plan_file(&home)).unwrap();
    assert!(plan.contains("## 1. archive notes/empty") && plan.contains("Why: no text"), "{plan}");
    assert!(home.files().contains(&"notes/empty.md".to_owned()), "only a plan is made");
    assert!(fs::read_to_string(home.path("asked")).unwrap().contains("Backups leave the data center"));
    assert_eq!(fs::read_to_string(home.path("guard")).unwrap(), "1\n");
    assert_eq!(fs::read_to_string(home.path("dir")).unwrap(), "");
}

#[test]
fn a_model_that_misbehaves_changes_nothing() {
    let home = filled();
    home.configure("[dream]\nmodel_seconds = 1\n");
    let cases = [
        ("hangs", "sleep 600", "claude did not answer within 1 s and was stopped"),
        // Its own stop hook holds the output open after it ended.
        ("has a stop hook", "(sleep 600) & echo '{\"result\":\"x\"}'", "claude did not answer within 1 s and was stopped"),
        ("fails", "echo 'out of credit' >&2; exit 1", "claude exited with status 1: out of credit"),
        (
            "fails with JSON",
            "echo '{\"is_error\":true,\"result\":\"Invalid API key\"}'; exit 1",
            "claude exited with status 1: Invalid API key",
        ),
        (
            "reaches its cost limit",
            "echo '{\"is_error\":true,\"result\":\"\",\"subtype\":\"error_max_budget_usd\"}'",
            "the program reported an error: error_max_budget_usd",
        ),
        ("prints prose", "echo 'I archived everything for you.'", "operations: expected JSON such as"),
        ("prints garbage", "head -c 100000 /dev/urandom", "the model's answer is not valid UTF-8"),
        ("prints nothing", "true", "operations: expected JSON such as"),
        ("reports an error", "echo '{\"is_error\":true,\"result\":\"limit reached\"}'", "the program reported an error: limit reached"),
        (
            "leaves the memory",
            "echo '{\"result\":\"[{\\\"action\\\":\\\"create\\\",\\\"path\\\":\\\"../x\\\",\\\"text\\\":\\\"x\\\"}]\"}'",
            "operation 1: invalid memory name",
        ),
    ];
    let before = home.files();
    for (what, script, why) in cases {
        fake(&home, script);
        let output = with_claude(&home, &["--yes"]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{what}: {errors}");
        assert!(errors.contains(why), "{what}: {errors}");
        assert_eq!(home.files(), before, "{what}");
        assert_eq!(home.json(&["dream", "--status"])["plans"], json!([]), "{what}");
    }
    fs::remove_file(home.path("bin/claude")).unwrap();
    assert!(String::from_utf8_lossy(&with_claude(&home, &["--yes"]).stderr).contains("claude cannot be started: it is not installed"));
}

/// A model that memdir started gets no memories from hooks and starts no model.
#[test]
fn a_dream_does_not_start_within_a_dream() {
    let home = filled();
    fake(&home, "true");
    let mut command = home.command(&["dream", "--with", "claude", "--yes"]);
    let output = command.env("MEMDIR_DREAM", "1").env("PATH", format!("{}:/usr/bin:/bin", home.path("bin").display())).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let mut hook = home.command(&["hook", "claude-code", "session-start"]);
    let output = feed(hook.env("MEMDIR_DREAM", "1"), b"{\"session_id\":\"s\"}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

#[test]
fn the_end_of_a_session_makes_a_plan_when_one_is_due() {
    let home = filled();
    home.configure("[dream]\nsessions = 2\n");
    let end = |home: &Home, session: &str| {
        let input = json!({ "session_id": session, "cwd": home.path("work") });
        let output = feed(&mut home.command(&["hook", "claude-code", "session-end"]), input.to_string().as_bytes());
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    };
    let status = |home: &Home| home.json(&["dream", "--status"]);
    end(&home, "a");
    end(&home, "b");
    assert_eq!((&status(&home)["plans"], &status(&home)["sessions"]), (&json!([]), &json!(0)), "nothing runs unless it is turned on");
    assert!(home.ok(&["dream", "--auto", "on"]).starts_with("automatic plans are on"));
    end(&home, "c");
    assert_eq!(status(&home)["waiting"], "1 of 2 required sessions have ended");
    assert_eq!(status(&home)["plans"], json!([]));
    end(&home, "d");
    // The process is detached, so the test asks until its plan is there.
    let made = (0..3_000).map(|_| status(&home)).find(|status| status["last_plan"] != Value::Null);
    let made = made.expect("a plan");
    assert_eq!(made["plans"].as_array().map(Vec::len), Some(1), "{made}");
    assert!(home.files().contains(&"notes/empty.md".to_owned()), "a plan is never applied by itself");
    end(&home, "e");
    assert!(status(&home)["waiting"].as_str().unwrap().starts_with("the last plan was made"));
    home.ok(&["dream", "--auto", "off"]);
    assert_eq!(status(&home)["waiting"], "automatic plans are off");
}

/// The command has no `--force` that the hint could name.
#[test]
fn a_plan_is_not_written_over_a_file() {
    let home = filled();
    fs::write(home.path("plan.md"), "mine").unwrap();
    let plan = home.path("plan.md").display().to_string();
    assert_snapshot!(home.run(&["dream", "--output", &plan]), @"
    -- stderr
    error: [HOME]/plan.md already exists
    hint: use another file name
    -- exit 2
    ");
    assert_eq!(fs::read_to_string(plan).unwrap(), "mine");
}
