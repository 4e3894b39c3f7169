//! Real transcripts: no panic, no lost turn, problems with their lines. The counts (user, assistant, tool, problems)
//! were checked once by hand and by an independent count.

use crate::support::session;
use memdir_chats::{ChatSource, Cursor, Event, Flow, Host, Speaker, claude_code::ClaudeCode, codex::Codex, openclaw::Openclaw};
use std::path::PathBuf;

type Counts = (usize, usize, usize, usize);

const GOLDEN: &[(&str, Host, Counts)] = &[
    ("Dicklesworthstone+coding_agent_session_search/seed.jsonl", Host::ClaudeCode, (1, 0, 0, 0)),
    ("Dicklesworthstone+coding_agent_session_search/rollout-test.jsonl", Host::Codex, (1, 1, 0, 0)),
    ("Dicklesworthstone+coding_agent_session_search/large_session.jsonl", Host::ClaudeCode, (500, 500, 0, 0)),
    ("Dicklesworthstone+coding_agent_session_search/single_message.jsonl", Host::ClaudeCode, (1, 0, 0, 0)),
    ("Dicklesworthstone+coding_agent_session_search/unicode_heavy.jsonl", Host::ClaudeCode, (4, 4, 0, 0)),
    ("Dicklesworthstone+coding_agent_session_search/invalid_json.jsonl", Host::ClaudeCode, (1, 2, 0, 2)),
    ("Dicklesworthstone+coding_agent_session_search/codex_session.jsonl", Host::Codex, (2, 2, 2, 0)),
    (
        "Dicklesworthstone+coding_agent_session_search/2024-01-15T10-30-00-000Z_abc12345-1234-5678-9abc-def012345678.jsonl",
        Host::Openclaw,
        (2, 2, 1, 0),
    ),
    ("d-kimuson+claude-code-viewer/1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl", Host::ClaudeCode, (1, 3, 12, 0)),
    ("d-kimuson+claude-code-viewer/fe5e1c67-53e7-4862-81ae-d0e013e3270b.jsonl", Host::ClaudeCode, (2, 7, 11, 0)),
    ("daaain+claude-code-log/edge_cases.jsonl", Host::ClaudeCode, (4, 2, 3, 4)),
    ("wesm+agentsview/valid_session.jsonl", Host::ClaudeCode, (2, 2, 1, 0)),
    ("wesm+agentsview/fc_stdin.jsonl", Host::Codex, (1, 0, 1, 0)),
    ("wesm+agentsview/function_calls.jsonl", Host::Codex, (1, 0, 2, 0)),
];

fn corpus() -> Option<PathBuf> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/transcripts");
    let dir = if dir.is_dir() { dir } else { PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/corpus/transcripts") };
    if !dir.is_dir() {
        #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
        {
            eprintln!("skipped: there are no transcripts beside the workspace");
        }
        return None;
    }
    Some(dir)
}

fn source(host: Host) -> Box<dyn ChatSource> {
    match host {
        Host::Codex => Box::new(Codex::new(PathBuf::new())),
        Host::Openclaw => Box::new(Openclaw::new(PathBuf::new())),
        _ => Box::new(ClaudeCode::new(Vec::new())),
    }
}

fn count(host: Host, path: &std::path::Path, from: &Cursor) -> (Counts, Cursor) {
    let mut counts = (0, 0, 0, 0);
    let taken = source(host)
        .turns(&session(host, path), from, &mut |event| {
            if let Event::Turn(turn) = event {
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
    assert!(taken.problems.iter().all(|problem| problem.line.is_some()), "{:?}", taken.problems);
    counts.3 = taken.problems.len();
    (counts, taken.cursor)
}

#[test]
fn every_real_transcript_tells_all_its_turns() {
    let Some(dir) = corpus() else { return };
    let found: Vec<_> = GOLDEN.iter().map(|(file, host, _)| (*file, *host, count(*host, &dir.join(file), &Cursor::default()).0)).collect();
    assert_eq!(found, GOLDEN);
    let listed = std::fs::read_to_string(dir.join("manifest.jsonl")).unwrap().lines().count();
    assert_eq!(listed, GOLDEN.len(), "a transcript has no golden count");
}

#[test]
fn every_real_transcript_read_again_from_its_end_tells_nothing() {
    let Some(dir) = corpus() else { return };
    for (file, host, _) in GOLDEN {
        let (_, cursor) = count(*host, &dir.join(file), &Cursor::default());
        assert_eq!(count(*host, &dir.join(file), &cursor), ((0, 0, 0, 0), cursor.clone()), "{file}");
    }
}
