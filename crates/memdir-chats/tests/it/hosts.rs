//! The format of every host with its peculiarities: all events of a transcript.

use crate::support::{
    CLAUDE_CODE, CODEX_HOST, COPILOT_HOST, CURSOR_HOST, FOLDER_HOST, Files, GEMINI_HOST, OPENCLAW_HOST, events, problems, session,
};
use memdir_chats::{ChatSource, Reader, Roots, SessionFile, TranscriptCursor, open_sources};

/// The source of one host in a home directory, and its sessions.
fn listed(roots: &Roots, host: &'static Reader) -> (Box<dyn ChatSource>, Vec<SessionFile>) {
    let source = open_sources(roots).into_iter().find(|source| source.reader() == host).unwrap();
    let found = source.sessions();
    assert_eq!(found.problems, []);
    (source, found.sessions)
}

fn keys(sessions: &[SessionFile]) -> Vec<&str> {
    sessions.iter().map(|session| session.key.as_str()).collect()
}

const CLAUDE: &str = r#"{"type":"summary","summary":"About another conversation","leafUuid":"other"}
{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/ada/app","sessionId":"s1","version":"2.1.202","gitBranch":"main","type":"user","message":{"role":"user","content":"Fix the login bug\n<system-reminder>be careful</system-reminder>"},"uuid":"u1","timestamp":"2026-01-15T10:00:00.000Z","origin":{"kind":"human"},"promptSource":"typed"}
{"parentUuid":"u1","isSidechain":false,"cwd":"/home/ada/app","gitBranch":"main","message":{"id":"m1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"secret thoughts","signature":"x"}]},"type":"assistant","uuid":"a1","timestamp":"2026-01-15T10:00:01Z"}
{"parentUuid":"a1","isSidechain":false,"message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"I will look."}]},"type":"assistant","uuid":"a2","timestamp":"2026-01-15T10:00:02Z"}
{"parentUuid":"a2","isSidechain":false,"message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"src/auth.rs","limit":40}}]},"type":"assistant","uuid":"a3","timestamp":"2026-01-15T10:00:03Z"}
{"parentUuid":"a3","isSidechain":false,"type":"progress","data":{"type":"agent_progress","message":{"type":"assistant","message":{"content":[{"type":"text","text":"never"}]}}},"uuid":"p1"}
{"parentUuid":"a3","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":[{"type":"text","text":"never: tool output"}]}]},"uuid":"u2","timestamp":"2026-01-15T10:00:04Z","toolUseResult":{"stdout":"never"}}
{"parentUuid":"u2","isSidechain":true,"type":"user","message":{"role":"user","content":"never: a sub-agent's prompt"},"uuid":"x1","timestamp":"2026-01-15T10:00:05Z"}
{"parentUuid":"u2","isSidechain":false,"type":"user","isMeta":true,"message":{"role":"user","content":"never: injected"},"uuid":"x2","timestamp":"2026-01-15T10:00:06Z"}
{"parentUuid":"u2","isSidechain":false,"type":"user","origin":{"kind":"task-notification"},"message":{"role":"user","content":"never: a notification"},"uuid":"x3","timestamp":"2026-01-15T10:00:07Z"}
{"parentUuid":"u2","isSidechain":false,"type":"assistant","isApiErrorMessage":true,"message":{"model":"<synthetic>","content":[{"type":"text","text":"never: API error"}]},"uuid":"x4","timestamp":"2026-01-15T10:00:08Z"}
{"parentUuid":"u2","isSidechain":false,"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Fixed."}]},"uuid":"a4","timestamp":"2026-01-15T10:00:09Z","version":"2.1.202"}
{"parentUuid":"u2","isSidechain":false,"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Fixed."}]},"uuid":"a4","timestamp":"2026-01-15T10:00:09Z","version":"2.1.203"}
{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","parentUuid":null,"logicalParentUuid":"a4","uuid":"c1","timestamp":"2026-01-15T10:01:00Z","compactMetadata":{"trigger":"auto","preTokens":1}}
{"type":"user","isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"This session is being continued from a previous conversation"},"uuid":"x5","timestamp":"2026-01-15T10:01:01Z"}
{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"text","text":"and this?"}]},"uuid":"u3","timestamp":"2026-01-15T10:02:00Z","gitBranch":"fix/login","cwd":"/home/ada/app/sub"}
{"type":"file-history-snapshot","messageId":"u3","snapshot":{}}
{"type":"something-new","message":{"role":"user","content":"never: an unknown record"}}
{"type":"user","message":"broken"}
{broken
{"type":"ai-title","aiTitle":"Login bug"}
{"type":"custom-title","customTitle":"The login bug"}
{"type":"user","message":{"role":"user","content":"torn"#;

#[test]
fn claude_code_turns_are_what_was_typed_and_answered() {
    let files = Files::new(&[
        (".claude/projects/-home-ada-app/s1.jsonl", CLAUDE),
        (".claude/projects/-home-ada-app/agent-abc.jsonl", "{}"),
        (".claude/projects/-home-ada-app/s1/subagents/agent-def.jsonl", "{}"),
        (".claude/projects/-home-ada-app/memory/MEMORY.md", "no transcript"),
        (".config/claude/projects/-home-ada-web/s2.jsonl", "{}"),
    ]);
    let (source, sessions) = listed(&Roots::under(files.root()), CLAUDE_CODE);
    assert_eq!(keys(&sessions), ["s1", "s2"]);
    let (text, outcome) = events(source.as_ref(), &sessions[0], &TranscriptCursor::default());
    assert_eq!(
        text,
        r#"info title="About another conversation" (Summary)
info dir=/home/ada/app branch=main started=10:00:00
2 user 10:00:00 [u1] "Fix the login bug"
4 assistant 10:00:02 [m1] "I will look."
5 tool 10:00:03 [m1] "Read file_path=src/auth.rs limit=40"
12 assistant 10:00:09 [m2] "Fixed."
compacted 10:01:00
info dir=/home/ada/app/sub branch=fix/login started=10:02:00
16 user 10:02:00 [u3] "and this?"
info title="Login bug" (Given)
info title="The login bug" (Person)
"#
    );
    assert_eq!(problems(&outcome), ["19: `message` is not a JSON object", "20: this line is not valid JSON (column 2)"]);
    assert!(outcome.torn);
    assert_eq!(outcome.cursor.lines, 22);
}

#[test]
fn claude_code_is_read_from_its_configured_directory() {
    let files = Files::new(&[("elsewhere/projects/-x/s9.jsonl", "{}"), (".claude/projects/-x/s1.jsonl", "{}")]);
    let roots = Roots { claude_config_dir: Some(files.root().join("elsewhere")), ..Roots::under(files.root()) };
    assert_eq!(keys(&listed(&roots, CLAUDE_CODE).1), ["s9"]);
}

const CODEX: &str = r##"{"timestamp":"2026-01-15T11:00:00Z","type":"session_meta","payload":{"id":"0199c5d0-aaaa-7bbb-8ccc-ddddeeeeffff","timestamp":"2026-01-15T10:59:59Z","cwd":"/home/ada/app","originator":"codex_cli_rs","cli_version":"0.99.0","source":"cli","git":{"branch":"main"},"history_mode":"paginated","history_base":{"thread_id":"0199c5d0-0000-7bbb-8ccc-ddddeeeeffff","end_ordinal_exclusive":12}}}
{"timestamp":"2026-01-15T11:00:01Z","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"never: developer"}]}}
{"timestamp":"2026-01-15T11:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /home/ada/app\n\nnever"},{"type":"input_text","text":"<environment_context>\n  <cwd>never</cwd>\n</environment_context>"}]}}
{"timestamp":"2026-01-15T11:00:02Z","type":"turn_context","payload":{"cwd":"/home/ada/app","model":"x"}}
{"timestamp":"2026-01-15T11:00:03Z","type":"event_msg","payload":{"type":"user_message","message":"Run the tests"}}
{"timestamp":"2026-01-15T11:00:03Z","type":"response_item","payload":{"type":"message","id":"msg_1","role":"user","content":[{"type":"input_text","text":"Run the tests"},{"type":"input_image","image_url":"data:image/png;base64,never"}]}}
{"timestamp":"2026-01-15T11:00:04Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"never"}],"encrypted_content":"never"}}
{"timestamp":"2026-01-15T11:00:05Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"cargo test\"]}","call_id":"c1"}}
{"timestamp":"2026-01-15T11:00:06Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"never: output"}}
{"timestamp":"2026-01-15T11:00:07Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Update File: a.rs","call_id":"c2"}}
{"timestamp":"2026-01-15T11:00:07Z","type":"response_item","payload":{"type":"local_shell_call","action":{"type":"exec","command":["ls","-l"]}}}
{"timestamp":"2026-01-15T11:00:08Z","type":"response_item","payload":{"type":"message","id":"msg_2","role":"assistant","content":[{"type":"output_text","text":"All 5 tests passed."}],"phase":"final"}}
{"timestamp":"2026-01-15T11:00:08Z","type":"event_msg","payload":{"type":"agent_message","message":"All 5 tests passed."}}
{"timestamp":"2026-01-15T11:00:08Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","id":"x","content":[{"text":"never: the same again"}]}}}
{"timestamp":"2026-01-15T11:00:09Z","type":"compacted","payload":{"message":"never: a summary","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"never"}]}]}}
{"timestamp":"2026-01-15T11:00:10Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}
{"timestamp":"2026-01-15T11:00:11Z","type":"session_meta","payload":{"id":"copied-from-the-parent","cwd":"/never"}}
{"timestamp":"2026-01-15T11:00:12Z","type":"world_state","payload":{}}
"##;

const CODEX_EVENTS: &str = r#"info id=0199c5d0-aaaa-7bbb-8ccc-ddddeeeeffff dir=/home/ada/app branch=main started=10:59:59 continues=0199c5d0-0000-7bbb-8ccc-ddddeeeeffff
6 user 11:00:03 [msg_1] "Run the tests"
8 tool 11:00:05 [-] "shell command=bash -lc cargo test"
10 tool 11:00:07 [-] "apply_patch *** Begin Patch *** Update File: a.rs"
11 tool 11:00:07 [-] "shell ls -l"
12 assistant 11:00:08 [msg_2] "All 5 tests passed."
compacted 11:00:09
rewind 1
"#;

#[test]
fn codex_turns_are_of_one_family_without_context() {
    const ID: &str = "0199c5d0-aaaa-7bbb-8ccc-ddddeeeeffff";
    let name = |what: &str| format!(".codex/sessions/2026/01/15/rollout-2026-01-15T11-00-00-{what}");
    let files = Files::new(&[
        (&name(&format!("{ID}.jsonl")), CODEX),
        (&name(&format!("{ID}_0199c5d0-bbbb-7bbb-8ccc-ddddeeeeffff.jsonl")), "{}"),
        (".codex/archived_sessions/rollout-2025-01-15T11-00-00-old.jsonl", "{}"),
        (
            ".codex/session_index.jsonl",
            &format!(
                "{{\"id\":\"{ID}\",\"thread_name\":\"First\",\"updated_at\":\"x\"}}\nbroken\n{{\"id\":\"{ID}\",\"thread_name\":\"Tests\",\"updated_at\":\"y\"}}\n"
            ),
        ),
        (".codex/history.jsonl", "{}"),
    ]);
    let (source, sessions) = listed(&Roots::under(files.root()), CODEX_HOST);
    let found: Vec<_> =
        sessions.iter().map(|s| (s.key.as_str(), s.id.as_str(), s.title.as_ref().map(|(_, title)| title.as_str()))).collect();
    let both = format!("{ID}_0199c5d0-bbbb-7bbb-8ccc-ddddeeeeffff");
    assert_eq!(found, [(ID, ID, Some("Tests")), (both.as_str(), ID, Some("Tests")), ("old", "old", None)]);
    let (text, outcome) = events(source.as_ref(), &sessions[0], &TranscriptCursor::default());
    assert_eq!(text, CODEX_EVENTS);
    assert_eq!((problems(&outcome), outcome.torn), (vec![], false));
}

#[test]
fn a_compressed_codex_rollout_has_the_same_turns() {
    let packed = zstd::encode_all(CODEX.as_bytes(), 3).unwrap();
    let files = Files::new(&[]);
    let path = files.put(".codex/sessions/2026/01/15/rollout-2026-01-15T11-00-00-a.jsonl.zst", &packed);
    let (source, sessions) = listed(&Roots::under(files.root()), CODEX_HOST);
    assert_eq!((keys(&sessions), &sessions[0].path), (vec!["a"], &path));
    let (text, whole) = events(source.as_ref(), &sessions[0], &TranscriptCursor::default());
    assert_eq!(text, CODEX_EVENTS);

    // It was listed compressed, and is decompressed when it is read.
    std::fs::remove_file(&path).unwrap();
    let plain = files.put(".codex/sessions/2026/01/15/rollout-2026-01-15T11-00-00-a.jsonl", CODEX.as_bytes());
    assert_eq!(events(source.as_ref(), &sessions[0], &TranscriptCursor::default()), (text, whole.clone()));

    // A cursor of one form continues in the other.
    let more = r#"{"timestamp":"2026-01-15T12:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"again"}]}}"#;
    let grown = format!("{CODEX}{more}\n");
    std::fs::remove_file(plain).unwrap();
    files.put(".codex/sessions/2026/01/15/rollout-2026-01-15T11-00-00-a.jsonl.zst", &zstd::encode_all(grown.as_bytes(), 3).unwrap());
    let (text, _) = events(source.as_ref(), &sessions[0], &whole.cursor);
    assert_eq!(text, "19 user 12:00:00 [-] \"again\"\n");
}

#[test]
fn a_rollout_that_was_replaced_is_read_again() {
    let files = Files::new(&[("a.jsonl", CODEX)]);
    let source = open_sources(&Roots::under(files.root())).remove(1);
    let session = session(CODEX_HOST, &files.root().join("a.jsonl"));
    let (_, whole) = events(source.as_ref(), &session, &TranscriptCursor::default());
    files.put("a.jsonl", CODEX.replace("11:00:0", "11:30:0").as_bytes());
    let (text, _) = events(source.as_ref(), &session, &whole.cursor);
    assert!(text.starts_with("restart\ninfo id=0199c5d0-aaaa-7bbb-8ccc-ddddeeeeffff dir=/home/ada/app"), "{text}");
}

#[test]
fn a_byte_order_mark_and_crlf_line_ends_are_accepted() {
    let lines = "\u{feff}{\"role\":\"user\",\"content\":\"one\"}\r\n\r\n{\"role\":\"assistant\",\"content\":\"two\"}\r\n";
    let files = Files::new(&[("a.jsonl", lines)]);
    let source = open_sources(&Roots::under(files.root())).remove(0);
    let session = session(CLAUDE_CODE, &files.root().join("a.jsonl"));
    let (text, outcome) = events(source.as_ref(), &session, &TranscriptCursor::default());
    assert_eq!(text, "1 user - [-] \"one\"\n3 assistant - [-] \"two\"\n");
    assert_eq!((outcome.cursor.at, outcome.cursor.lines), (lines.len() as u64, 3));
    assert_eq!(events(source.as_ref(), &session, &outcome.cursor), (String::new(), outcome));
}

#[test]
fn codex_subagents_and_the_oldest_rollouts() {
    let subagent = r#"{"timestamp":"2026-01-15T11:00:00Z","type":"session_meta","payload":{"id":"x","source":{"subagent":{"thread_spawn":{}}}}}
{"timestamp":"2026-01-15T11:00:03Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"never"}]}}
"#;
    let oldest = r#"{"id":"y","timestamp":"2025-06-01T10:00:00Z","instructions":"never","git":{"branch":"dev"}}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}
{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}"}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}
"#;
    let files = Files::new(&[("a.jsonl", subagent), ("b.jsonl", oldest)]);
    let source = open_sources(&Roots::under(files.root())).remove(1);
    assert_eq!(events(source.as_ref(), &session(CODEX_HOST, &files.root().join("a.jsonl")), &TranscriptCursor::default()).0, "");
    assert_eq!(
        events(source.as_ref(), &session(CODEX_HOST, &files.root().join("b.jsonl")), &TranscriptCursor::default()).0,
        "info branch=dev started=10:00:00\n3 user - [-] \"hello\"\n4 tool - [-] \"shell command=ls\"\n5 assistant - [-] \"hi\"\n"
    );
}

const GEMINI: &str = r#"{"sessionId":"3f2a-full-id","projectHash":"h","startTime":"2026-01-15T10:00:00Z","lastUpdated":"2026-01-15T10:00:00Z","kind":"main"}
{"id":"1","timestamp":"2026-01-15T10:00:00Z","type":"user","content":[{"text":"<session_context>\nnever"}]}
{"id":"2","timestamp":"2026-01-15T10:00:01Z","type":"user","content":[{"text":"explain @a.rs\n--- Content from referenced files ---\nnever"}]}
{"id":"3","timestamp":"2026-01-15T10:00:02Z","type":"gemini","content":"","thoughts":[{"subject":"never"}],"model":"x"}
{"id":"3","timestamp":"2026-01-15T10:00:02Z","type":"gemini","content":"It parses.","toolCalls":[{"id":"t","name":"read_file","args":{"path":"a.rs"},"result":[{"functionResponse":{"response":{"output":"never"}}}],"status":"success"}]}
{"id":"4","timestamp":"2026-01-15T10:00:03Z","type":"info","content":"never"}
{"id":"5","timestamp":"2026-01-15T10:00:04Z","type":"user","content":["plain ","list"],"displayContent":"as shown"}
{"id":"6","timestamp":"2026-01-15T10:00:05Z","type":"gemini","content":[{"text":"hm","thought":true},{"text":"No."}]}
{"$rewindTo":"5"}
{"$set":{"summary":"Parsing","lastUpdated":"2026-01-15T10:00:06Z"}}
not json
"#;

#[test]
fn gemini_messages_are_replaced_and_rewound() {
    let files = Files::new(&[
        (".gemini/projects.json", r#"{"projects":{"/home/ada/app":"app"}}"#),
        (".gemini/tmp/app/chats/session-2026-01-15T10-00-3f2a.jsonl", GEMINI),
        (".gemini/tmp/app/chats/session-2026-01-15T10-00-3f2a.json", "{}"),
        (".gemini/tmp/app/chats/3f2a-full-id/sub.jsonl", GEMINI),
        (".gemini/tmp/web/.project_root", "/home/ada/web\n"),
        (
            ".gemini/tmp/web/chats/session-old.json",
            r#"{"sessionId":"old-id","projectHash":"h","startTime":"2025-01-15T10:00:00Z","summary":"Old","messages":[
                {"id":"1","timestamp":"2025-01-15T10:00:00Z","type":"user","content":"hello"},{"id":"2","type":"gemini","content":[{"text":"hi"}]}]}"#,
        ),
        (".gemini/tmp/web/logs.json", "[]"),
    ]);
    let (source, sessions) = listed(&Roots::under(files.root()), GEMINI_HOST);
    let found: Vec<_> = sessions.iter().map(|s| (s.key.as_str(), s.project_dir.as_ref().unwrap().to_str().unwrap())).collect();
    assert_eq!(found, [("session-2026-01-15T10-00-3f2a", "/home/ada/app"), ("session-old", "/home/ada/web")]);
    let (text, outcome) = events(source.as_ref(), &sessions[0], &TranscriptCursor::default());
    assert_eq!(
        text,
        r#"info id=3f2a-full-id started=10:00:00
3 user 10:00:01 [2] "explain @a.rs"
replace 3
5 assistant 10:00:02 [3] "It parses."
5 tool 10:00:02 [3] "read_file path=a.rs"
7 user 10:00:04 [5] "as shown"
8 assistant 10:00:05 [6] "No."
rewind to 5
info title="Parsing" (Given)
"#
    );
    assert_eq!(problems(&outcome), ["11: this line is not a JSON object"]);
    assert!(events(source.as_ref(), &sessions[0], &outcome.cursor).0.starts_with("restart\n"), "earlier messages may have been replaced");
    assert_eq!(
        events(source.as_ref(), &sessions[1], &TranscriptCursor::default()).0,
        "info id=old-id title=\"Old\" (Given) started=10:00:00\n0 user 10:00:00 [1] \"hello\"\n0 assistant - [2] \"hi\"\n"
    );
}

#[test]
fn gemini_all_messages_at_once_are_the_conversation_without_single_ones() {
    let lines = r#"{"sessionId":"a","projectHash":"h"}
{"$set":{"messages":[{"id":"1","type":"user","content":"first"}]}}
{"$set":{"messages":[{"id":"1","type":"user","content":"first"},{"id":"2","type":"gemini","content":"second"}]}}
"#;
    let files = Files::new(&[("s.jsonl", lines)]);
    let source = open_sources(&Roots::under(files.root())).remove(2);
    let (text, _) = events(source.as_ref(), &session(GEMINI_HOST, &files.root().join("s.jsonl")), &TranscriptCursor::default());
    assert_eq!(
        text,
        "info id=a\ninfo\n0 user - [1] \"first\"\nrestart\ninfo id=a\ninfo\n0 user - [1] \"first\"\n0 assistant - [2] \"second\"\n"
    );
}

/// A session of Gemini CLI 0.61: what the model is sent at the start and after a compression is in records of all messages.
const GEMINI_061: &str = r#"{"sessionId":"7c1f","projectHash":"h","startTime":"2026-11-15T10:00:00Z","lastUpdated":"2026-11-15T10:00:00Z","kind":"main","directories":["/home/ada/app"]}
{"$set":{"messages":[{"id":"s0","timestamp":"2026-11-15T10:00:00Z","type":"user","content":[{"text":"<session_context>\nThis is the Gemini CLI.\n</session_context>"}]}],"lastUpdated":"2026-11-15T10:00:00Z"}}
{"id":"u1","timestamp":"2026-11-15T10:00:01Z","type":"user","content":[{"text":"Which port has the staging server?"},{"text":"<hook_context>&lt;memdir-recall&gt; never &lt;/memdir-recall&gt;</hook_context>"}]}
{"$set":{"lastUpdated":"2026-11-15T10:00:01Z"}}
{"id":"g1","timestamp":"2026-11-15T10:00:02Z","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"status":"executing"}]}
{"id":"g1","timestamp":"2026-11-15T10:00:02Z","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"status":"success","result":[{"functionResponse":{"response":{"output":"never"}}}]}]}
{"id":"u2","timestamp":"2026-11-15T10:00:03Z","type":"user","content":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"never"}}}]}
{"id":"g2","timestamp":"2026-11-15T10:00:04Z","type":"gemini","content":"It is 8443."}
{"$set":{"messages":[{"id":"x1","type":"user","content":[{"text":"<state_snapshot>never</state_snapshot>"}]},{"id":"x2","type":"gemini","content":[{"text":"never: Got it."}]}]}}
{"$rewindTo":"x2"}
{"id":"u3","timestamp":"2026-11-15T10:00:05Z","type":"user","content":[{"text":"<hook_context>never</hook_context>"}]}
{"id":"u4","timestamp":"2026-11-15T10:00:06Z","type":"user","content":[{"text":"Thanks"}]}
{"$set":{"messages":[],"lastUpdated":"2026-11-15T10:00:07Z"}}
"#;

#[test]
fn gemini_what_the_model_is_sent_is_not_the_conversation() {
    let files = Files::new(&[("s.jsonl", GEMINI_061)]);
    let source = open_sources(&Roots::under(files.root())).remove(2);
    let (text, outcome) = events(source.as_ref(), &session(GEMINI_HOST, &files.root().join("s.jsonl")), &TranscriptCursor::default());
    assert_eq!(
        text,
        r#"info id=7c1f dir=/home/ada/app started=10:00:00
info
3 user 10:00:01 [u1] "Which port has the staging server?"
info
5 tool 10:00:02 [g1] "run_shell_command command=ls"
replace g1
6 tool 10:00:02 [g1] "run_shell_command command=ls"
8 assistant 10:00:04 [g2] "It is 8443."
info
12 user 10:00:06 [u4] "Thanks"
info
"#
    );
    assert_eq!(problems(&outcome), [""; 0]);
}

const COPILOT: &str = r#"{"type":"session.start","data":{"sessionId":"5e55","version":1,"producer":"copilot-agent","copilotVersion":"1.0.102","startTime":"2026-11-15T10:00:00.000Z","context":{"cwd":"/home/ada/app/src","gitRoot":"/home/ada/app","branch":"main"}},"id":"e1","timestamp":"2026-11-15T10:00:00.000Z","parentId":null}
{"type":"hook.start","data":{"hookType":"sessionStart"},"id":"e2","timestamp":"2026-11-15T10:00:00.100Z","parentId":"e1"}
{"type":"user.message","data":{"content":"Which port has the staging server?","transformedContent":"<current_datetime>never</current_datetime>\n\nWhich port has the staging server?","attachments":[]},"id":"e3","timestamp":"2026-11-15T10:00:01.000Z","parentId":"e2"}
{"type":"assistant.turn_start","data":{"turnId":"0"},"id":"e4","timestamp":"2026-11-15T10:00:02.000Z","parentId":"e3"}
{"type":"assistant.message","data":{"messageId":"m1","content":"I will look.","toolRequests":[{"toolCallId":"t1","name":"bash","arguments":{"command":"ls","description":"List"},"type":"function"}],"reasoningText":"never"},"id":"e5","timestamp":"2026-11-15T10:00:03.000Z","parentId":"e4"}
{"type":"tool.execution_start","data":{"toolCallId":"t1","toolName":"bash","arguments":{"command":"ls"}},"id":"e6","timestamp":"2026-11-15T10:00:03.100Z","parentId":"e5"}
{"type":"tool.execution_complete","data":{"toolCallId":"t1","success":true,"result":{"content":"never"}},"id":"e7","timestamp":"2026-11-15T10:00:03.200Z","parentId":"e6"}
{"type":"assistant.message","data":{"messageId":"m2","content":"never: a sub-agent","toolRequests":[],"parentToolCallId":"t1"},"id":"e8","timestamp":"2026-11-15T10:00:03.300Z","parentId":"e7"}
{"type":"assistant.message","data":{"messageId":"m3","content":"","toolRequests":[]},"id":"e9","timestamp":"2026-11-15T10:00:03.400Z","parentId":"e8"}
{"type":"session.compaction_complete","data":{"success":false},"id":"e10","timestamp":"2026-11-15T10:00:03.500Z","parentId":"e9"}
{"type":"session.compaction_complete","data":{"success":true,"summaryContent":"never"},"id":"e11","timestamp":"2026-11-15T10:00:03.600Z","parentId":"e10"}
{"type":"assistant.message","data":{"messageId":"m4","content":"It is 8443.","toolRequests":[]},"id":"e12","timestamp":"2026-11-15T10:00:04.000Z","parentId":"e11"}
{"type":"session.title_changed","data":{"title":"Staging port"},"id":"e13","timestamp":"2026-11-15T10:00:05.000Z","parentId":"e12"}
{"type":"user.message","data":{"content":"broken"
{"type":"session.shutdown","data":{"shutdownType":"routine"},"id":"e14","timestamp":"2026-11-15T10:00:06.000Z","parentId":"e13"}
"#;

#[test]
fn copilot_turns_are_its_messages() {
    let files = Files::new(&[
        (".copilot/session-state/5e55/events.jsonl", COPILOT),
        (".copilot/session-state/5e55/workspace.yaml", "id: 5e55\n"),
        (".copilot/session-state/empty/workspace.yaml", "id: empty\n"),
        (".copilot/config.json", "{}"),
        ("moved/session-state/ab/events.jsonl", "{}"),
    ]);
    let (source, sessions) = listed(&Roots::under(files.root()), COPILOT_HOST);
    assert_eq!(keys(&sessions), ["5e55"]);
    let (text, outcome) = events(source.as_ref(), &sessions[0], &TranscriptCursor::default());
    assert_eq!(
        text,
        r#"info id=5e55 dir=/home/ada/app/src branch=main started=10:00:00
3 user 10:00:01 [e3] "Which port has the staging server?"
5 assistant 10:00:03 [m1] "I will look."
5 tool 10:00:03 [m1] "bash command=ls description=List"
compacted 10:00:03
12 assistant 10:00:04 [m4] "It is 8443."
info title="Staging port" (Given)
"#
    );
    assert_eq!(problems(&outcome), ["14: this line is not valid JSON (column 49)"]);
    assert_eq!(events(source.as_ref(), &sessions[0], &outcome.cursor).0, "", "it only grows");
    let moved = Roots { copilot_home: Some(files.root().join("moved")), ..Roots::under(files.root()) };
    assert_eq!(keys(&listed(&moved, COPILOT_HOST).1), ["ab"]);
}

const OPENCLAW: &str = r#"{"type":"session","id":"s1","timestamp":"2026-01-15T10:00:00Z","cwd":"/home/ada/claw","version":3}
{"type":"message","id":"e1","parentId":null,"timestamp":"2026-01-15T10:00:01Z","message":{"role":"user","content":[{"type":"text","text":"Sender (untrusted metadata):\n```json\n{}\n```\n\nwhat is on today?"}]}}
{"type":"message","id":"e2","parentId":"e1","timestamp":"2026-01-15T10:00:02Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"never"},{"type":"text","text":"Let me see."},{"type":"toolCall","id":"t","name":"calendar","arguments":{"day":"today"}}]}}
{"type":"message","id":"e3","parentId":"e2","timestamp":"2026-01-15T10:00:03Z","message":{"role":"toolResult","content":[{"type":"text","text":"never"}]}}
{"type":"custom_message","id":"e4","content":"never"}
{"type":"custom","id":"e5","data":{}}
{"type":"compaction","id":"e6","timestamp":"2026-01-15T10:00:04Z","summary":"never","firstKeptEntryId":"e2"}
{"type":"message","id":"e7","timestamp":"2026-01-15T10:00:05Z","message":{"role":"user","content":"Read HEARTBEAT.md if it exists"}}
{"type":"message","id":"e8","timestamp":"2026-01-15T10:00:06Z","message":{"role":"assistant","content":[{"type":"text","text":"HEARTBEAT_OK"}]}}
"#;

const OPENCLAW_EVENTS: &str = r#"info dir=/home/ada/claw started=10:00:00
2 user 10:00:01 [e1] "what is on today?"
3 assistant 10:00:02 [e2] "Let me see."
3 tool 10:00:02 [e2] "calendar day=today"
compacted 10:00:04
"#;

#[test]
fn openclaw_files_without_deleted_ones_and_subagents() {
    let files = Files::new(&[
        (".openclaw/agents/main/sessions/s1.jsonl", OPENCLAW),
        (".openclaw/agents/main/sessions/s2.jsonl.deleted.2026-01-01T00-00-00Z", OPENCLAW),
        (".openclaw/agents/main/sessions/s3.jsonl.reset.2026-01-01T00:00:00Z", OPENCLAW),
        (".openclaw/agents/main/sessions/s4.jsonl", OPENCLAW),
        (".openclaw/agents/main/sessions/s5.jsonl.bak-1", OPENCLAW),
        (
            ".openclaw/agents/main/sessions/sessions.json",
            r#"{"agent:main:main":{"sessionId":"s1","label":"Days"},"agent:main:subagent:x":{"sessionId":"s4"}}"#,
        ),
    ]);
    let (source, sessions) = listed(&Roots::under(files.root()), OPENCLAW_HOST);
    let found: Vec<_> =
        sessions.iter().map(|s| (s.key.as_str(), s.resume_id.as_deref(), s.title.as_ref().map(|(_, title)| title.as_str()))).collect();
    assert_eq!(found, [("s1", Some("agent:main:main"), Some("Days")), ("s3.reset.2026-01-01T00-00-00Z", None, None)]);
    assert_eq!(events(source.as_ref(), &sessions[0], &TranscriptCursor::default()).0, OPENCLAW_EVENTS);
}

#[test]
fn the_openclaw_database_has_the_same_turns() {
    let files = Files::new(&[(".openclaw/agents/main/agent/.keep", "")]);
    let path = files.root().join(".openclaw/agents/main/agent/openclaw-agent.sqlite");
    let owner = rusqlite::Connection::open(&path).unwrap();
    owner
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, label TEXT, display_name TEXT);
             CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, display_name TEXT);
             CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER, event_zstd BLOB, PRIMARY KEY (session_id, seq));
             INSERT INTO session_nodes VALUES ('agent:main:main', 'Days', NULL), ('agent:main:subagent:x', NULL, NULL);
             INSERT INTO session_windows VALUES ('s1', 'agent:main:main', NULL), ('s2', 'agent:main:subagent:x', NULL);
             INSERT INTO transcript_events VALUES ('s2', 1, '{}', 1, NULL);",
        )
        .unwrap();
    for (i, line) in OPENCLAW.lines().enumerate() {
        let packed = (i % 2 == 0).then(|| zstd::encode_all(line.as_bytes(), 3).unwrap());
        let plain = packed.is_none().then_some(line);
        owner
            .execute(
                "INSERT INTO transcript_events VALUES ('s1', ?1, ?2, 1768471200000, ?3)",
                rusqlite::params![i as i64 + 1, plain, packed],
            )
            .unwrap();
    }
    let (source, sessions) = listed(&Roots::under(files.root()), OPENCLAW_HOST);
    assert_eq!((keys(&sessions), sessions[0].resume_id.as_deref()), (vec!["s1"], Some("agent:main:main")));
    let (text, outcome) = events(source.as_ref(), &sessions[0], &TranscriptCursor::default());
    assert_eq!((text.as_str(), problems(&outcome)), (OPENCLAW_EVENTS, vec![]));
}

#[test]
fn cursor_transcripts_have_roles_and_wrapped_queries() {
    let lines = r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_info>never</user_info>\n<user_query>\nrename it\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"Done."},{"type":"tool_use","name":"edit_file","input":{"path":"a.rs"}}]}}
{"type":"turn_ended"}
{"role":"tool","message":{"content":[{"type":"text","text":"never"}]}}
"#;
    let files = Files::new(&[
        (".cursor/projects/home-ada-app/agent-transcripts/c1/c1.jsonl", lines),
        (".cursor/projects/home-ada-app/agent-transcripts/c1/subagents/d.jsonl", lines),
        (".cursor/projects/home-ada-app/agent-transcripts/c2.jsonl", lines),
        (".cursor/projects/home-ada-app/other.jsonl", lines),
    ]);
    let (source, sessions) = listed(&Roots::under(files.root()), CURSOR_HOST);
    assert_eq!(keys(&sessions), ["c1", "c2"]);
    let mut timeless = sessions[0].clone();
    timeless.stamp.mtime_ns = 1_768_471_200_000_000_000;
    assert_eq!(
        events(source.as_ref(), &timeless, &TranscriptCursor::default()).0,
        "info started=10:00:00\n1 user - [-] \"rename it\"\n2 assistant - [-] \"Done.\"\n2 tool - [-] \"edit_file path=a.rs\"\n"
    );
}

#[test]
fn folders_of_any_origin() {
    let files = Files::new(&[
        ("chats/a.md", "---\ntitle: \"How to\"\ndate: 2026-01-01\n---\n\n## User\n\nhow?\n\n## Assistant\n\nso.\n"),
        (
            "chats/deep/b.jsonl",
            "{\"role\":\"human\",\"content\":\"hello\"}\n{\"role\":\"ai\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}\n{\"role\":\"system\",\"content\":\"never\"}\n",
        ),
        ("chats/c.txt", "just a note"),
        ("chats/d.png", "no chat"),
    ]);
    let roots = Roots { folders: vec![files.root().join("chats")], ..Roots::under(files.root()) };
    let (source, sessions) = listed(&roots, FOLDER_HOST);
    let all: Vec<String> = sessions
        .iter()
        .map(|session| {
            let mut timeless = session.clone();
            timeless.stamp.mtime_ns = 0;
            let (text, _) = events(source.as_ref(), &timeless, &TranscriptCursor::default());
            format!("{}\n{}", session.title.as_ref().unwrap().1, text.replace("info started=00:00:00\n", ""))
        })
        .collect();
    assert_eq!(
        all,
        [
            "a\ninfo title=\"How to\" (Given)\n6 user - [-] \"how?\"\n10 assistant - [-] \"so.\"\n",
            "c\n1 user - [-] \"just a note\"\n",
            "b\n1 user - [-] \"hello\"\n2 assistant - [-] \"hi\"\n",
        ]
    );
}
