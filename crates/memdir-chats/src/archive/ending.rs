//! How the previous conversation of a project ended: which files it changed, what it ran last, and the person's last message. Reads the
//! headers of recent conversations and the last file of one of them.

use super::{ArchivedChat, ChatArchive, ChatSection, SUPERSEDED, header, is_chat, sections};
use crate::{
    evidence::{CallEvidence, CallOutcome},
    facts::{COMMAND_KEYS, PATCH_MARKS, PATH_KEYS},
    project::SessionProject,
};
use jiff::Timestamp;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{Error, Result, Speaker, internal::base::limits};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// The maximum number of conversations whose headers are read, the ones written last first.
const MAX_HEADERS: usize = 500;
/// The maximum number of commands that are returned.
const MAX_COMMANDS: usize = 3;

/// How a conversation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatEnding {
    /// The conversation.
    pub chat: ArchivedChat,
    /// The time of its last turn.
    pub at: Timestamp,
    /// The files it changed, the last one first, each once.
    pub changed: Vec<String>,
    /// The last commands it ran, in order.
    pub ran: Vec<RanCommand>,
    /// The person's last message.
    pub message: Option<String>,
}

/// A command that an agent ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RanCommand {
    /// The command line.
    pub line: String,
    /// Whether it failed; `None` if the archive does not say so.
    pub failed: Option<bool>,
    /// The first line of its error.
    pub error: Option<String>,
}

/// Which conversation is looked for.
#[derive(Clone, Copy)]
pub struct EndingQuery<'a> {
    /// Whether a conversation took place in the project.
    pub is_in_project: &'a dyn Fn(SessionProject<'_>) -> bool,
    /// The id of the running conversation, which is never the previous one.
    pub running: Option<&'a str>,
    /// The transcript of the running conversation.
    pub transcript: Option<&'a Path>,
    /// The time.
    pub now: Timestamp,
    /// The maximum age of its last turn.
    pub max_age: Duration,
}

impl ChatArchive {
    /// Finds the last conversation of a project that is not running, and how it ended.
    pub fn ending(&self, query: &EndingQuery<'_>) -> Result<Option<ChatEnding>> {
        let mut best: Option<(Timestamp, ArchivedChat)> = None;
        for path in self.recent_files(query) {
            let Some((chat, _)) = File::open(&path).ok().and_then(|mut file| header::read(&mut file).ok().flatten()) else { continue };
            let Some(at) = chat.updated else { continue };
            // Which project a directory belongs to takes longest to find out.
            if best.as_ref().is_none_or(|(latest, _)| at > *latest) && is_candidate(&chat, at, query) && is_in(&chat, query.is_in_project) {
                best = Some((at, chat));
            }
        }
        let Some((at, chat)) = best else { return Ok(None) };
        let path = self.path(chat.host, &chat.key);
        let text = fs::read_to_string(&path).map_err(|source| Error::io("read", &path, source))?;
        let sections = sections(&text);
        let message = sections.iter().rev().find(|section| section.speaker == Speaker::User).map(|section| section.text.clone());
        // A conversation whose transcript was gone before calls were kept has them only in its text.
        let calls = self.evidence(&chat)?;
        let (changed, ran) = if calls.is_empty() { actions(&sections) } else { kept_actions(&calls) };
        Ok(Some(ChatEnding { chat, at, changed, ran, message }))
    }

    /// The files of conversations that were written since the oldest turn that counts, the newest first.
    fn recent_files(&self, query: &EndingQuery<'_>) -> Vec<PathBuf> {
        let oldest = SystemTime::from(query.now).checked_sub(query.max_age);
        let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
        for dir in self.host_dirs() {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let path = entry.path();
                let written = entry.metadata().ok().and_then(|meta| meta.modified().ok());
                if let Some(written) = written.filter(|written| is_chat(&path) && oldest.is_none_or(|oldest| *written >= oldest)) {
                    files.push((written, path));
                }
            }
        }
        files.shared_sort_by(|a, b| b.cmp(a));
        files.into_iter().take(MAX_HEADERS).map(|(_, path)| path).collect()
    }
}

fn is_in(chat: &ArchivedChat, is_in_project: &dyn Fn(SessionProject<'_>) -> bool) -> bool {
    // A conversation without a directory belongs to no project.
    (chat.project.is_some() || chat.host.is_transcript_of.is_some()) && is_in_project(chat.session_project())
}

/// Whether a conversation is young enough, and certainly not the running one or another one that is running.
fn is_candidate(chat: &ArchivedChat, at: Timestamp, query: &EndingQuery<'_>) -> bool {
    let age = query.now.as_second() - at.as_second();
    let is_young = u64::try_from(age.max(0)).is_ok_and(|age| age <= query.max_age.as_secs());
    let is_running = query.running.is_some_and(|id| chat.session == id || chat.key == id)
        || query.transcript.is_some_and(|transcript| Path::new(&chat.source) == transcript);
    let is_waiting = chat.progress.is_unanswered() && age < limits::CHAT_RUNNING_SECONDS;
    // A script left nothing off that a person would continue.
    is_young && !is_running && !is_waiting && !chat.progress.scripted && !chat.key.contains(SUPERSEDED)
}

/// The changed files and the last commands of a conversation, from its calls.
fn kept_actions(calls: &[CallEvidence]) -> (Vec<String>, Vec<RanCommand>) {
    let (mut changed, mut ran): (Vec<String>, Vec<RanCommand>) = (Vec::new(), Vec::new());
    for call in calls.iter().rev().filter(|call| !call.is_denied() && call.outcome != CallOutcome::Refused) {
        if let Some(command) = &call.command {
            if ran.len() < MAX_COMMANDS {
                let failed = match call.outcome {
                    CallOutcome::Failed => Some(true),
                    CallOutcome::Succeeded => Some(false),
                    _ => None,
                };
                ran.push(RanCommand { line: command.clone(), failed, error: call.error.clone() });
            }
        } else if (call.edit.is_some() || is_edit(&call.tool)) && call.outcome != CallOutcome::Failed {
            for path in &call.paths {
                if !changed.contains(path) {
                    changed.push(path.clone());
                }
            }
        }
    }
    ran.reverse();
    (changed, ran)
}

/// The changed files and the last commands of a conversation, from the tool calls in its text.
fn actions(sections: &[ChatSection]) -> (Vec<String>, Vec<RanCommand>) {
    let (mut changed, mut ran): (Vec<String>, Vec<RanCommand>) = (Vec::new(), Vec::new());
    let calls = sections.iter().rev().flat_map(|section| section.text.lines().rev()).filter_map(archived_call);
    for (tool, args) in calls {
        if let Some(line) = argument(args, &COMMAND_KEYS).filter(|_| !is_edit(tool)) {
            if ran.len() < MAX_COMMANDS {
                ran.push(RanCommand { line: line.to_owned(), failed: None, error: None });
            }
        } else if is_edit(tool) {
            for path in edited_paths(args) {
                if !changed.iter().any(|known| known == path) {
                    changed.push(path.to_owned());
                }
            }
        }
    }
    ran.reverse();
    (changed, ran)
}

/// The tool and the arguments of a line of the archive with a call: ``- `Read file_path=src/main.rs` ``.
fn archived_call(line: &str) -> Option<(&str, &str)> {
    let call = line.strip_prefix("- `")?.strip_suffix('`')?;
    Some(call.split_once(' ').unwrap_or((call, "")))
}

/// Whether a tool changes files, by its name.
fn is_edit(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    let is_file_tool = ["edit", "write", "patch", "replace", "create_file"].iter().any(|word| tool.contains(word));
    is_file_tool && !tool.contains("todo") && !tool.contains("memory")
}

/// The paths in the arguments of a tool that changes files: an argument, or the files of a patch.
fn edited_paths(args: &str) -> Vec<&str> {
    let patched = PATCH_MARKS.iter().flat_map(|mark| args.match_indices(mark).map(|(at, mark)| &args[at + mark.len()..]));
    let patched: Vec<&str> = patched.filter_map(|rest| rest.split_whitespace().next()).collect();
    let path = argument(args, &PATH_KEYS);
    if patched.is_empty() { path.into_iter().collect() } else { patched }
}

/// The value of the first of these arguments: up to the next ` name=`.
fn argument<'a>(args: &'a str, names: &[&str]) -> Option<&'a str> {
    let start = names.iter().find_map(|name| {
        let mut starts = args.match_indices(name).map(|(at, name)| (at, at + name.len()));
        starts.find(|(at, end)| (*at == 0 || args[..*at].ends_with(' ')) && args[*end..].starts_with('=')).map(|(_, end)| end + 1)
    })?;
    let value = &args[start..];
    let is_name = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphabetic()))
    };
    let end = value.match_indices(' ').find(|(at, _)| is_name(value[at + 1..].split(' ').next().unwrap_or_default())).map(|(at, _)| at);
    Some(value[..end.unwrap_or(value.len())].trim()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(text: &str) -> ChatSection {
        ChatSection { speaker: Speaker::Assistant, at: None, part: 0, lines: (1, 1), text: text.to_owned() }
    }

    #[test]
    fn changed_files_and_commands_are_found_in_the_calls_of_every_host() {
        let text = "- `Edit file_path=src/a.rs old_string=x new_string=y`\n- `Bash command=cargo test --all description=Run the tests`\n\
                    - `apply_patch *** Begin Patch *** Update File: src/b.rs *** Move to: src/e.rs @@ -1 +1`\n- `TodoWrite todos=x`\n- `Read file_path=src/c.rs`\n\
                    - `write_file path=d.md content=hello there`\n- `shell command=git status workdir=/x`\n- `edit_files files=f.rs`\n- `Edit file_path=src/a.rs`";
        let (changed, ran) = actions(&[section(text)]);
        assert_eq!(changed, ["src/a.rs", "f.rs", "d.md", "src/b.rs", "src/e.rs"]);
        assert_eq!(ran.iter().map(|ran| ran.line.as_str()).collect::<Vec<_>>(), ["cargo test --all", "git status"]);
    }
}
