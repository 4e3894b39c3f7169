//! Writes a conversation in the format of a host: Claude Code, Codex CLI, Gemini CLI and Copilot CLI in turns.

mod claude_code;
mod codex;
mod copilot;
mod gemini;

use super::{PROJECT_DIR, script::ScriptStep};
use jiff::Timestamp;
use serde_json::Value;

/// Returns the path of a transcript below the home directory, the name of the session and the text of the transcript.
pub(super) fn transcript(seed: u64, number: usize, steps: &[ScriptStep]) -> (String, String, String) {
    let id = format!("{:08x}-{number:04x}-4000-8000-{:012x}", seed & 0xffff_ffff, number + 1);
    let mut lines = TranscriptLines::new(&id, number);
    let (path, session) = match number % 4 {
        0 => {
            claude_code::write(steps, &mut lines);
            (format!(".claude/projects/-home-ada-shop/{id}.jsonl"), format!("claude-code/{id}"))
        }
        1 => {
            codex::write(steps, &mut lines);
            (format!(".codex/sessions/2026/01/15/rollout-2026-01-15T10-00-00-{id}.jsonl"), format!("codex/{id}"))
        }
        2 => {
            gemini::write(steps, &mut lines);
            (format!(".gemini/tmp/shop/chats/session-{id}.jsonl"), format!("gemini/session-{id}"))
        }
        _ => {
            copilot::write(steps, &mut lines);
            (format!(".copilot/session-state/{id}/events.jsonl"), format!("copilot-cli/{id}"))
        }
    };
    (path, session, lines.text)
}

/// The file by which Gemini CLI knows the directory of its conversations.
pub(super) fn project_root() -> (String, String) {
    (".gemini/tmp/shop/.project_root".into(), PROJECT_DIR.into())
}

/// The lines of a transcript, with ids and times that ascend.
struct TranscriptLines {
    id: String,
    started: i64,
    count: u64,
    text: String,
}

impl TranscriptLines {
    fn new(id: &str, number: usize) -> Self {
        // 2026-01-15T10:00:00Z, and one hour later for each conversation.
        TranscriptLines { id: id.to_owned(), started: 1_768_471_200 + 3600 * number as i64, count: 0, text: String::new() }
    }

    fn push(&mut self, line: &Value) {
        self.text.push_str(&line.to_string());
        self.text.push('\n');
        self.count += 1;
    }

    /// The time of the next line.
    fn time(&self) -> String {
        Timestamp::from_second(self.started + self.count as i64).unwrap_or_default().to_string()
    }

    /// An id that no other line has.
    fn unique(&self, what: &str) -> String {
        format!("{what}-{}-{}", &self.id[..13], self.count)
    }
}
