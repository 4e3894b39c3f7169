//! Real transcripts: no panic, no lost turn, problems with their lines. The counts (user, assistant, tool, problems)
//! were checked once by hand and by an independent count.

use crate::{
    candidates::Home,
    support::{CLAUDE_CODE, CODEX_HOST, OPENCLAW_HOST, session},
};
use memdir_chats::{ChatEvent, Flow, Reader, Roots, Speaker, TranscriptCursor};
use std::path::PathBuf;

type Counts = (usize, usize, usize, usize);

const GOLDEN: &[(&str, &Reader, Counts)] = &[
    ("Dicklesworthstone+coding_agent_session_search/seed.jsonl", CLAUDE_CODE, (1, 0, 0, 0)),
    ("Dicklesworthstone+coding_agent_session_search/rollout-test.jsonl", CODEX_HOST, (1, 1, 0, 0)),
    ("Dicklesworthstone+coding_agent_session_search/large_session.jsonl", CLAUDE_CODE, (500, 500, 0, 0)),
    ("Dicklesworthstone+coding_agent_session_search/single_message.jsonl", CLAUDE_CODE, (1, 0, 0, 0)),
    ("Dicklesworthstone+coding_agent_session_search/unicode_heavy.jsonl", CLAUDE_CODE, (4, 4, 0, 0)),
    ("Dicklesworthstone+coding_agent_session_search/invalid_json.jsonl", CLAUDE_CODE, (1, 2, 0, 2)),
    ("Dicklesworthstone+coding_agent_session_search/codex_session.jsonl", CODEX_HOST, (2, 2, 2, 0)),
    (
        "Dicklesworthstone+coding_agent_session_search/2024-01-15T10-30-00-000Z_abc12345-1234-5678-9abc-def012345678.jsonl",
        OPENCLAW_HOST,
        (2, 2, 1, 0),
    ),
    ("d-kimuson+claude-code-viewer/1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl", CLAUDE_CODE, (1, 3, 12, 0)),
    ("d-kimuson+claude-code-viewer/fe5e1c67-53e7-4862-81ae-d0e013e3270b.jsonl", CLAUDE_CODE, (2, 7, 11, 0)),
    ("daaain+claude-code-log/edge_cases.jsonl", CLAUDE_CODE, (4, 2, 3, 4)),
    ("wesm+agentsview/valid_session.jsonl", CLAUDE_CODE, (2, 2, 1, 0)),
    ("wesm+agentsview/fc_stdin.jsonl", CODEX_HOST, (1, 0, 1, 0)),
    ("wesm+agentsview/function_calls.jsonl", CODEX_HOST, (1, 0, 2, 0)),
];

fn corpus() -> Option<PathBuf> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/transcripts");
    let dir = if dir.is_dir() { dir } else { PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/corpus/transcripts") };
    if !dir.is_dir() {
        #[expect(clippy::print_stderr, reason = "a skipped test reports it")]
        {
            eprintln!("skipped: no transcripts beside the workspace");
        }
        return None;
    }
    Some(dir)
}

fn count(host: &'static Reader, path: &std::path::Path, from: &TranscriptCursor) -> (Counts, TranscriptCursor) {
    let mut counts = (0, 0, 0, 0);
    let outcome = (host.open)(&Roots::default())
        .unwrap()
        .turns(&session(host, path), from, &mut |event| {
            if let ChatEvent::Turn(turn) = event {
                assert!(!turn.text.trim().is_empty());
                match turn.speaker {
                    Speaker::User => counts.0 += 1,
                    Speaker::Assistant => counts.1 += 1,
                    Speaker::Tool => counts.2 += 1,
                }
            }
            Ok(Flow::Continue)
        })
        .unwrap();
    assert!(outcome.problems.iter().all(|problem| problem.line.is_some()), "{:?}", outcome.problems);
    counts.3 = outcome.problems.len();
    (counts, outcome.cursor)
}

#[test]
fn every_real_transcript_has_all_its_turns() {
    let Some(dir) = corpus() else { return };
    let found: Vec<_> =
        GOLDEN.iter().map(|(file, host, _)| (*file, *host, count(host, &dir.join(file), &TranscriptCursor::default()).0)).collect();
    assert_eq!(found, GOLDEN);
    let listed = std::fs::read_to_string(dir.join("manifest.jsonl")).unwrap().lines().count();
    assert_eq!(listed, GOLDEN.len(), "a transcript has no golden count");
}

#[test]
fn every_real_transcript_read_again_from_its_end_has_no_turns() {
    let Some(dir) = corpus() else { return };
    for (file, host, _) in GOLDEN {
        let (_, cursor) = count(host, &dir.join(file), &TranscriptCursor::default());
        assert_eq!(count(host, &dir.join(file), &cursor), ((0, 0, 0, 0), cursor.clone()), "{file}");
    }
}

#[test]
fn every_candidate_of_the_real_transcripts_is_known() {
    let Some(dir) = corpus() else { return };
    let mut files: Vec<(String, String)> = Vec::new();
    for (number, (file, host, _)) in GOLDEN.iter().enumerate() {
        let path = match host.name {
            "claude-code" => format!(".claude/projects/-p/{number}.jsonl"),
            "codex" => format!(".codex/sessions/2026/01/15/rollout-2026-01-15T10-00-00-{number}.jsonl"),
            _ => format!(".openclaw/agents/main/sessions/{number}.jsonl"),
        };
        files.push((path, String::from_utf8_lossy(&std::fs::read(dir.join(file)).unwrap()).into_owned()));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let home = Home::new(&files);
    home.syncer.sync(memdir_chats::SyncLimits::default(), &mut |_| {}).unwrap();
    let found = home.find().candidates;
    let shown: Vec<String> =
        found.iter().map(|found| format!("{:?} {:?} {:?} {:?}", found.kind, found.sessions, found.words, found.text)).collect();
    // No person typed a rule twice, denied an action or asked to remember in these transcripts, so a candidate would be a mistake.
    assert_eq!(shown, [""; 0]);
}
