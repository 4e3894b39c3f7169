//! What distinguishes a conversation with a person from a run of a script or of another agent: variables of the environment and the first
//! line of the transcript. Without a mark nothing is assumed.

use super::{HOSTS, Host};
use serde_json::Value;
use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
};

/// The marks of a run.
pub(crate) struct RunMarks<'a> {
    /// Reads a variable of the environment.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    /// The id of the conversation.
    pub(crate) session: Option<&'a str>,
    /// Its transcript.
    pub(crate) transcript: Option<&'a Path>,
}

/// Bytes of a transcript's first line, which describes the conversation.
const FIRST_LINE_BYTES: u64 = 64 << 10;

/// Whether another agent started the run: a variable that an agent program sets for the commands of its agent is there. The own
/// program's variable counts only in Claude Code, which names the conversation that started the command; other programs set theirs for
/// themselves too.
pub(crate) fn is_nested(host: &Host, run: &RunMarks<'_>) -> bool {
    let is_set = |other: &Host| other.agent_variables.iter().any(|key| (run.variable)(key).is_some());
    let by_another = HOSTS.iter().copied().filter(|other| other.name != host.name).any(is_set);
    by_another || (host.name == "claude-code" && is_set(host) && (run.variable)("CLAUDE_CODE_SESSION_ID").as_deref() != run.session)
}

/// Claude Code says how it was started.
pub(super) fn claude_code(run: &RunMarks<'_>) -> Option<bool> {
    let entrypoint = (run.variable)("CLAUDE_CODE_ENTRYPOINT")?;
    Some(matches!(entrypoint.as_str(), "cli" | "claude-vscode" | "claude-desktop"))
}

/// Codex says in the first line of a transcript which program held the conversation.
pub(super) fn codex(run: &RunMarks<'_>) -> Option<bool> {
    let first: Value = serde_json::from_str(&first_line(run.transcript?)?).ok()?;
    let source = first["payload"]["source"].as_str()?;
    Some(matches!(source, "cli" | "vscode"))
}

fn first_line(path: &Path) -> Option<String> {
    let mut line = String::new();
    BufReader::new(File::open(path).ok()?.take(FIRST_LINE_BYTES)).read_line(&mut line).ok()?;
    Some(line)
}
