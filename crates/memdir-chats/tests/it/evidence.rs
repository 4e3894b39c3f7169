//! What is kept of tool calls: for each host, across syncs, and after rewinds, forgetting and upgrades.

use crate::{
    candidates::Home,
    support::{CLAUDE_CODE, CODEX_HOST, COPILOT_HOST, GEMINI_HOST, OPENCLAW_HOST, OPENCODE_HOST},
};
use memdir_chats::{CallEvidence, ForgetRule, Reader};
use memdir_core::Phrase;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;

/// The calls of a conversation, one per line.
fn calls(home: &Home, host: &Reader, key: &str) -> String {
    let chat = home.syncer.archive.get(host, key).unwrap().unwrap();
    home.syncer.archive.evidence(&chat).unwrap().iter().map(|call| line(call) + "\n").collect()
}

fn line(call: &CallEvidence) -> String {
    let mut parts = vec![format!("{} {} {:?}", call.turn, call.tool, call.outcome)];
    parts.extend(call.program.as_ref().map(|program| format!("program={program}")));
    parts.extend(call.command.as_ref().map(|command| format!("command={command:?}")));
    parts.extend((!call.paths.is_empty()).then(|| format!("paths={:?}", call.paths)));
    parts.extend(call.edit.map(|_| "edit".to_owned()));
    parts.extend(call.status.map(|status| format!("status={status}")));
    parts.extend(call.error.as_ref().map(|error| format!("error={error:?}")));
    parts.extend(call.reason.as_ref().map(|reason| format!("reason={reason:?}")));
    parts.join(" ")
}

const SESSION: &str = ".claude/projects/-home-ada-app/s1.jsonl";

const CLAUDE: &str = r#"{"type":"user","cwd":"/home/ada/app","message":{"role":"user","content":"fix it"},"uuid":"u1","timestamp":"2026-01-15T10:00:00Z"}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cd app && cargo test","description":"Run"}}]},"uuid":"a1","timestamp":"2026-01-15T10:00:01Z"}
{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"Exit code 101\n\nerror: token sk-12345 is wrong\nmore","is_error":true}]},"uuid":"r1","timestamp":"2026-01-15T10:00:02Z","toolUseResult":"Error: Exit code 101"}
{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Edit","input":{"file_path":"/home/ada/app/a.rs","old_string":"a","new_string":"b"}},{"type":"tool_use","id":"t3","name":"Bash","input":{"command":"git push"}}]},"uuid":"a2","timestamp":"2026-01-15T10:00:03Z"}
{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t2","type":"tool_result","content":"ok"},{"tool_use_id":"t3","type":"tool_result","is_error":true,"content":"The user doesn't want to proceed with this tool use. The tool use was rejected (eg. x). To tell you how to proceed, the user said:\nnot today\n\nNote: The user's next message may contain a correction"}]},"uuid":"r2","timestamp":"2026-01-15T10:00:04Z","toolUseResult":"User rejected tool use"}
{"type":"user","message":{"role":"user","content":"then wait"},"uuid":"u2","timestamp":"2026-01-15T10:00:05Z"}
{"type":"assistant","message":{"id":"m3","role":"assistant","content":[{"type":"tool_use","id":"t4","name":"Bash","input":{"command":"sleep 900"}}]},"uuid":"a3","timestamp":"2026-01-15T10:00:06Z"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]},"uuid":"x1","timestamp":"2026-01-15T10:00:07Z"}
{"type":"assistant","message":{"id":"m4","role":"assistant","content":[{"type":"tool_use","id":"t5","name":"mcp__memdir__memory_write","input":{"path":"notes/x","content":"y"}}]},"uuid":"a4","timestamp":"2026-01-15T10:00:08Z"}
{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t5","type":"tool_result","content":[{"type":"text","text":"created"}]}]},"uuid":"r5","timestamp":"2026-01-15T10:00:09Z"}
"#;

const CLAUDE_CALLS: &str = r#"1 Bash Failed program=cargo command="cd app && cargo test" status=101 error="error: token [masked] is wrong"
1 Edit Succeeded paths=["/home/ada/app/a.rs"] edit
1 Bash Denied program=git command="git push" reason="not today"
2 Bash Interrupted program=sleep command="sleep 900"
2 mcp__memdir__memory_write Succeeded paths=["notes/x"] edit
"#;

#[test]
fn claude_code_calls_are_kept_with_their_ends() {
    let home = Home::new(&[(SESSION, CLAUDE)]);
    home.sync();
    assert_eq!(calls(&home, CLAUDE_CODE, "s1"), CLAUDE_CALLS);
}

#[test]
fn a_transcript_that_grows_line_by_line_gives_the_same_calls() {
    let home = Home::new(&[(SESSION, "")]);
    let mut text = String::new();
    for line in CLAUDE.lines() {
        text.push_str(line);
        text.push('\n');
        home.files.put(SESSION, text.as_bytes());
        home.sync();
    }
    assert_eq!(calls(&home, CLAUDE_CODE, "s1"), CLAUDE_CALLS);
    // One file beside the text, whichever of its two names it has.
    let names = fs::read_dir(home.syncer.archive.dir().join("claude-code")).unwrap().count();
    assert_eq!(names, 2);
}

#[test]
fn codex_gemini_and_copilot_calls_are_kept() {
    let codex = r#"{"timestamp":"2026-01-15T11:00:00Z","type":"session_meta","payload":{"id":"c1","cwd":"/home/ada/app"}}
{"timestamp":"2026-01-15T11:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}
{"timestamp":"2026-01-15T11:00:02Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"npm test\"]}","call_id":"1"}}
{"timestamp":"2026-01-15T11:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"Exit code: 1\nWall time: 2 seconds\nOutput:\n\nMissing script\n"}}
{"timestamp":"2026-01-15T11:00:04Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","call_id":"2","input":"*** Begin Patch\n*** Update File: a.rs\n@@\n-a\n+b\n*** End Patch"}}
{"timestamp":"2026-01-15T11:00:05Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"2","output":"{\"output\":\"Success\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}}
{"timestamp":"2026-01-15T11:00:06Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"rm -rf x\"}","call_id":"3"}}
{"timestamp":"2026-01-15T11:00:07Z","type":"response_item","payload":{"type":"function_call_output","call_id":"3","output":"exec command rejected by user"}}
{"timestamp":"2026-01-15T11:00:08Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cat log\"}","call_id":"4"}}
{"timestamp":"2026-01-15T11:00:09Z","type":"response_item","payload":{"type":"function_call_output","call_id":"4","output":"Exit code: 0\nOutput:\nexec command rejected by user\nProcess exited with code 7"}}
"#;
    let gemini = r#"{"sessionId":"g1","projectHash":"x","startTime":"2026-01-15T12:00:00Z"}
{"id":"1","timestamp":"2026-01-15T12:00:01Z","type":"user","content":[{"text":"go"}]}
{"id":"2","timestamp":"2026-01-15T12:00:02Z","type":"gemini","content":"","toolCalls":[{"id":"s-1","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"response":{"output":"Output: no rule\nExit Code: 2\nProcess Group PGID: 1"}}}]},{"id":"s-2","name":"replace","args":{"file_path":"a.rs","old_string":"a","new_string":"b"},"status":"cancelled","result":[{"functionResponse":{"response":{"error":"[Operation Cancelled] Reason: User denied execution."}}}]}]}
{"id":"2","timestamp":"2026-01-15T12:00:02Z","type":"gemini","content":"","toolCalls":[{"id":"s-1","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"response":{"output":"Output: no rule\nExit Code: 2"}}}]}]}
"#;
    let copilot = r#"{"type":"session.start","data":{"sessionId":"p1","context":{"cwd":"/home/ada/app"}},"id":"1","timestamp":"2026-01-15T13:00:00Z"}
{"type":"user.message","data":{"content":"go"},"id":"2","timestamp":"2026-01-15T13:00:01Z"}
{"type":"assistant.message","data":{"messageId":"m","content":"","toolRequests":[{"toolCallId":"a","name":"bash","arguments":{"command":"make"}},{"toolCallId":"b","name":"edit","arguments":{"path":"a.rs","old_str":"a","new_str":"b"}},{"toolCallId":"c","name":"bash","arguments":{"command":"ls"}},{"toolCallId":"d","name":"bash","arguments":{"command":"sleep 9"}}]},"id":"3","timestamp":"2026-01-15T13:00:02Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"a","success":true,"result":{"content":"no rule\n<exited with exit code 2>"}},"id":"4","timestamp":"2026-01-15T13:00:03Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"b","success":false,"error":{"message":"The user rejected this tool call.","code":"rejected"}},"id":"5","timestamp":"2026-01-15T13:00:04Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":false,"error":{"message":"Denied by preToolUse hook: no","code":"denied"}},"id":"6","timestamp":"2026-01-15T13:00:05Z"}
{"type":"abort","data":{"reason":"user initiated"},"id":"7","timestamp":"2026-01-15T13:00:06Z"}
"#;
    let home = Home::new(&[
        (".codex/sessions/2026/01/15/rollout-2026-01-15T11-00-00-c1.jsonl", codex),
        (".gemini/tmp/app/chats/session-1.jsonl", gemini),
        (".copilot/session-state/p1/events.jsonl", copilot),
    ]);
    home.sync();
    assert_eq!(
        calls(&home, CODEX_HOST, "c1"),
        r#"1 shell Failed program=npm command="npm test" status=1 error="Missing script"
1 apply_patch Succeeded paths=["a.rs"] edit status=0
1 exec_command Denied program=rm command="rm -rf x"
1 exec_command Succeeded program=cat command="cat log" status=0
"#
    );
    // A message that is written again replaces its calls.
    assert_eq!(
        calls(&home, GEMINI_HOST, "session-1"),
        "1 run_shell_command Failed program=make command=\"make\" status=2 error=\"no rule\"\n"
    );
    assert_eq!(
        calls(&home, COPILOT_HOST, "p1"),
        r#"1 bash Failed program=make command="make" status=2 error="no rule"
1 edit Denied paths=["a.rs"] edit
1 bash Refused program=ls command="ls" error="Denied by preToolUse hook: no"
1 bash Interrupted program=sleep command="sleep 9"
"#
    );
}

#[test]
fn opencode_calls_are_kept_from_both_kinds_of_tables() {
    let home = Home::new(&[(".local/share/opencode/log/x", "")]);
    let owner = Connection::open(home.files.root().join(".local/share/opencode/opencode.db")).unwrap();
    owner
        .execute_batch(
            "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL, time_created INTEGER, time_updated INTEGER);
             CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER, data TEXT NOT NULL);
             CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, data TEXT NOT NULL);
             CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, type TEXT NOT NULL, seq INTEGER NOT NULL, data TEXT NOT NULL);
             INSERT INTO session VALUES ('ses_1', NULL, '/home/ada/app', 'One', 1768471200000, 1768471260000), ('ses_2', NULL, '/home/ada/app', 'Two', 1768471200000, 1768471260000);
             INSERT INTO message VALUES ('m1', 'ses_1', 1768471200000, '{\"role\":\"user\"}'), ('m2', 'ses_1', 1768471201000, '{\"role\":\"assistant\"}');
             INSERT INTO part VALUES ('p00', 'm1', 'ses_1', '{\"type\":\"text\",\"text\":\"go\"}');",
        )
        .unwrap();
    let tool = |tool: &str, call: &str, state: Value| json!({ "id": "prt", "type": "tool", "tool": tool, "callID": call, "state": state });
    let rejected = "The user rejected permission to use this specific tool call";
    let states = [
        tool(
            "bash",
            "c1",
            json!({ "status": "completed", "input": { "command": "make" }, "output": "no rule\n", "metadata": { "exit": 2 } }),
        ),
        tool("bash", "c2", json!({ "status": "completed", "input": { "command": "make all" }, "output": "ok", "metadata": { "exit": 0 } })),
        tool(
            "edit",
            "c3",
            json!({ "status": "error", "input": { "filePath": "a.rs", "oldString": "a", "newString": "b" }, "error": format!("Error: {rejected} with the following feedback: leave a.rs alone") }),
        ),
        tool("bash", "c4", json!({ "status": "error", "input": { "command": "rm -rf x" }, "error": format!("{rejected}.") })),
        tool("bash", "c5", json!({ "status": "error", "input": { "command": "sleep 9" }, "error": "Tool execution aborted" })),
        tool(
            "bash",
            "c6",
            json!({ "status": "completed", "input": { "command": "sleep 8" }, "output": "(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>" }),
        ),
        tool("read", "c7", json!({ "status": "error", "input": { "filePath": "b.rs" }, "error": "Error: File not found: b.rs" })),
        tool("bash", "c8", json!({ "status": "running", "input": { "command": "ls" } })),
    ];
    for (number, part) in states.iter().enumerate() {
        owner.execute("INSERT INTO part VALUES (?1, 'm2', 'ses_1', ?2)", [format!("p1{number}"), part.to_string()]).unwrap();
    }
    let newer = json!({ "content": [{ "type": "tool", "id": "c1", "name": "bash", "state": { "status": "error", "input": { "command": "git push" }, "error": { "type": "unknown", "message": format!("{rejected}.") } } }], "time": { "created": 1_768_471_201_000_i64 } });
    owner
        .execute(
            "INSERT INTO session_message VALUES ('n1', 'ses_2', 'user', 1, '{\"text\":\"push it\"}'), ('n2', 'ses_2', 'assistant', 2, ?1)",
            [newer.to_string()],
        )
        .unwrap();
    home.sync();
    assert_eq!(
        calls(&home, OPENCODE_HOST, "ses_1"),
        r#"1 bash Failed program=make command="make" status=2 error="no rule"
1 bash Succeeded program=make command="make all" status=0
1 edit Denied paths=["a.rs"] edit reason="leave a.rs alone"
1 bash Denied program=rm command="rm -rf x"
1 bash Interrupted program=sleep command="sleep 9"
1 bash Interrupted program=sleep command="sleep 8"
1 read Failed paths=["b.rs"] error="File not found: b.rs"
1 bash Unknown program=ls command="ls"
"#
    );
    assert_eq!(calls(&home, OPENCODE_HOST, "ses_2"), "1 bash Denied program=git command=\"git push\"\n");
}

#[test]
fn openclaw_calls_are_kept() {
    let lines = [
        json!({ "type": "session", "id": "s1", "cwd": "/home/ada/claw", "timestamp": "2026-01-15T10:00:00Z" }),
        json!({ "type": "message", "id": "e1", "timestamp": "2026-01-15T10:00:01Z", "message": { "role": "user", "content": "go" } }),
        json!({ "type": "message", "id": "e2", "timestamp": "2026-01-15T10:00:02Z", "message": { "role": "assistant", "content": [
            { "type": "toolCall", "id": "c1", "name": "exec", "arguments": { "command": "make" } },
            { "type": "toolCall", "id": "c2", "name": "exec", "arguments": { "command": "make all" } },
            { "type": "toolCall", "id": "c3", "name": "read", "arguments": { "path": "b.rs" } },
        ] } }),
        json!({ "type": "message", "id": "e3", "message": { "role": "toolResult", "toolCallId": "c1", "toolName": "exec", "isError": false, "content": [{ "type": "text", "text": "no rule\n\nCommand exited with code 2" }] } }),
        json!({ "type": "message", "id": "e4", "message": { "role": "toolResult", "toolCallId": "c2", "toolName": "exec", "isError": false, "content": [{ "type": "text", "text": "ok" }] } }),
        json!({ "type": "message", "id": "e5", "message": { "role": "toolResult", "toolCallId": "c3", "toolName": "read", "isError": true, "content": [{ "type": "text", "text": "ENOENT: no such file b.rs" }] } }),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let home = Home::new(&[(".openclaw/agents/main/sessions/s1.jsonl", &text)]);
    home.sync();
    assert_eq!(
        calls(&home, OPENCLAW_HOST, "s1"),
        r#"1 exec Failed program=make command="make" status=2 error="no rule"
1 exec Succeeded program=make command="make all"
1 read Failed paths=["b.rs"] error="ENOENT: no such file b.rs"
"#
    );
}

#[test]
fn a_rewind_removes_its_calls() {
    let codex = r#"{"timestamp":"2026-01-15T11:00:00Z","type":"session_meta","payload":{"id":"c1","cwd":"/home/ada/app"}}
{"timestamp":"2026-01-15T11:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]}}
{"timestamp":"2026-01-15T11:00:02Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":\"first\"}","call_id":"1"}}
{"timestamp":"2026-01-15T11:00:03Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"two"}]}}
{"timestamp":"2026-01-15T11:00:04Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":\"second\"}","call_id":"2"}}
"#;
    let path = ".codex/sessions/2026/01/15/rollout-2026-01-15T11-00-00-c1.jsonl";
    let home = Home::new(&[(path, codex)]);
    home.sync();
    assert_eq!(calls(&home, CODEX_HOST, "c1").lines().count(), 2);
    let rolled_back = r#"{"timestamp":"2026-01-15T11:00:05Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}"#;
    home.files.put(path, format!("{codex}{rolled_back}\n").as_bytes());
    home.sync();
    assert_eq!(calls(&home, CODEX_HOST, "c1"), "1 shell Unknown program=first command=\"first\"\n");
}

#[test]
fn forgetting_a_conversation_forgets_its_calls() {
    let home = Home::new(&[(SESSION, CLAUDE)]);
    home.sync();
    // The first message and what followed it.
    let before = "2026-01-15T10:00:05Z".parse().unwrap();
    let rule = ForgetRule { before: Some(before), ..ForgetRule::default() };
    home.syncer.archive.forget(&rule, before).unwrap();
    let left = "1 Bash Interrupted program=sleep command=\"sleep 900\"\n1 mcp__memdir__memory_write Succeeded paths=[\"notes/x\"] edit\n";
    assert_eq!(calls(&home, CLAUDE_CODE, "s1"), left);
    let rule = ForgetRule { session: Some("claude-code/s1".into()), ..ForgetRule::default() };
    home.syncer.archive.forget(&rule, before).unwrap();
    assert_eq!(fs::read_dir(home.syncer.archive.dir().join("claude-code")).unwrap().count(), 0);
    home.sync();
    assert_eq!(fs::read_dir(home.syncer.archive.dir().join("claude-code")).unwrap().count(), 0);
}

/// The files below the archive that have some words.
fn files_with(home: &Home, words: &str) -> Vec<String> {
    let phrase = Phrase::parse(words).unwrap();
    let mut found = Vec::new();
    let mut open = vec![home.syncer.archive.dir().to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => open.push(entry.path()),
                false if phrase.is_in(fs::read(entry.path()).unwrap()) => found.push(entry.file_name().to_string_lossy().into_owned()),
                false => {}
            }
        }
    }
    found
}

#[test]
fn words_are_forgotten_in_calls_and_in_what_the_search_for_candidates_knows() {
    let home = Home::new(&[(SESSION, CLAUDE)]);
    home.sync();
    let archive = &home.syncer.archive;
    let known = archive.dir().join(".candidates");
    fs::create_dir_all(&known).unwrap();
    fs::write(known.join("app.json"), r#"{"seen":["not today"]}"#).unwrap();
    let words = "not today";
    assert_eq!(files_with(&home, words).len(), 2, "{:?}", files_with(&home, words));
    let phrase = Phrase::parse(words).unwrap();
    let is_wanted = |text: &str| phrase.is_in(text);
    let found = archive.matching(&is_wanted).unwrap();
    assert_eq!((found.len(), found[0].1.len()), (1, 0), "a tool call has them, and no turn");
    let outcome = archive.forget_matching(&is_wanted).unwrap();
    assert_eq!((outcome.removed.len(), outcome.shortened.len(), outcome.turns), (0, 1, 0));
    assert_eq!(files_with(&home, words), [""; 0]);
    let left: String = CLAUDE_CALLS.lines().filter(|line| !line.contains(words)).map(|line| format!("{line}\n")).collect();
    assert_eq!(calls(&home, CLAUDE_CODE, "s1"), left);
    assert_eq!(archive.matching(&is_wanted).unwrap().len(), 0);
    // The host still has the call: it stays forgotten when everything is read again.
    fs::remove_file(archive.dir().join(".state.json")).unwrap();
    fs::remove_dir_all(archive.dir().join("claude-code")).unwrap();
    home.sync();
    // A rule names the time, which the call before it shares.
    let left: String = left.lines().filter(|line| !line.contains("Edit")).map(|line| format!("{line}\n")).collect();
    assert_eq!(calls(&home, CLAUDE_CODE, "s1"), left);
    assert_eq!(files_with(&home, words), [""; 0]);
    // The directory of a conversation is in every part of it.
    let in_name = |text: &str| text.contains("/home/ada/app");
    assert_eq!(archive.forget_matching(&in_name).unwrap().removed.len(), 1);
    home.sync();
    // The host's own folder is named after the directory, and the state of the sync has its path.
    assert_eq!(files_with(&home, "/home/ada/app"), [".state.json"]);
}

#[test]
fn a_conversation_that_was_archived_without_calls_gets_them() {
    let home = Home::new(&[(SESSION, CLAUDE)]);
    home.sync();
    // The archive as an older version left it.
    let dir = home.syncer.archive.dir().to_owned();
    let path = dir.join("claude-code/s1.md");
    let text = fs::read_to_string(&path).unwrap();
    let mark = text.find(",\"users\":").unwrap();
    let end = mark + text[mark..].find("}'").unwrap();
    fs::write(&path, format!("{}{}", &text[..mark], &text[end..])).unwrap();
    let state = fs::read_to_string(dir.join(".state.json")).unwrap();
    fs::write(dir.join(".state.json"), state.replace(",\"has_calls\":true", "")).unwrap();
    for entry in fs::read_dir(dir.join("claude-code")).unwrap().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "jsonl") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    assert_eq!(calls(&home, CLAUDE_CODE, "s1"), "");
    home.sync();
    assert_eq!(calls(&home, CLAUDE_CODE, "s1"), CLAUDE_CALLS);
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "the text is the same");
    let outcome = home.syncer.sync(memdir_chats::SyncLimits::default(), &mut |_| {}).unwrap();
    assert_eq!(outcome.read, 0, "it is upgraded once");
}

#[test]
fn a_rule_without_a_condition_covers_nothing_and_a_rule_does_not_have_the_words() {
    let home = Home::new(&[(SESSION, CLAUDE)]);
    home.sync();
    let archive = &home.syncer.archive;
    let rules = archive.dir().join("forgotten.json");
    // A damaged rule, as an older version may have left it.
    fs::write(&rules, r#"[{"(forgotten)":"claude-code/x"},{"lines":900}]"#).unwrap();
    fs::remove_file(archive.dir().join(".state.json")).unwrap();
    fs::remove_dir_all(archive.dir().join("claude-code")).unwrap();
    home.sync();
    assert!(!calls(&home, CLAUDE_CODE, "s1").is_empty(), "it is imported again");
    // The name of the conversation has the words: the rule keeps it away by a hash.
    let is_wanted = |text: &str| text.contains("s1");
    assert_eq!(archive.forget_matching(&is_wanted).unwrap().removed.len(), 1);
    let text = fs::read_to_string(&rules).unwrap();
    assert!(text.contains("blake3:") && !text.contains("s1\""), "{text}");
    home.sync();
    assert_eq!(fs::read_dir(archive.dir().join("claude-code")).unwrap().count(), 0);
}
