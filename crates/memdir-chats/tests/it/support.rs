//! What the tests share: transcripts in temporary directories, and the events of a source as text.

use jiff::Timestamp;
use memdir_chats::{
    ChatEvent, ChatSource, Flow, ReadOutcome, Reader, Rewind, SessionFile, Speaker, TranscriptCursor, claude_code, codex, copilot, cursor,
    folder, gemini, openclaw, opencode,
};
use memdir_core::Stamp;
use std::{
    fs,
    path::{Path, PathBuf},
};

pub(crate) const CLAUDE_CODE: &Reader = &claude_code::READER;
pub(crate) const CODEX_HOST: &Reader = &codex::READER;
pub(crate) const GEMINI_HOST: &Reader = &gemini::READER;
pub(crate) const OPENCODE_HOST: &Reader = &opencode::READER;
pub(crate) const OPENCLAW_HOST: &Reader = &openclaw::READER;
pub(crate) const CURSOR_HOST: &Reader = &cursor::READER;
pub(crate) const COPILOT_HOST: &Reader = &copilot::READER;
pub(crate) const FOLDER_HOST: &Reader = &folder::READER;

/// Files in a temporary directory.
pub(crate) struct Files(pub(crate) tempfile::TempDir);

impl Files {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let files_in = Files(tempfile::tempdir().unwrap());
        for (name, text) in files {
            files_in.put(name, text.as_bytes());
        }
        files_in
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

/// A session that is just this file.
pub(crate) fn session(host: &'static Reader, path: &Path) -> SessionFile {
    let size = fs::metadata(path).unwrap().len();
    SessionFile {
        host,
        key: "one".into(),
        id: "one".into(),
        resume_id: None,
        path: path.to_owned(),
        stamp: Stamp { size, mtime_ns: 0, ctime_ns: 0, inode: 0 },
        project_dir: None,
        title: None,
    }
}

/// The events of a session without its tool calls' evidence, one per line, and the outcome.
pub(crate) fn events(source: &dyn ChatSource, session: &SessionFile, from: &TranscriptCursor) -> (String, ReadOutcome) {
    let mut out = String::new();
    let outcome = source
        .turns(session, from, &mut |event| {
            if matches!(event, ChatEvent::Call(_) | ChatEvent::CallEnd(_) | ChatEvent::Interrupted) {
                return Ok(Flow::Continue);
            }
            out.push_str(&line(&event));
            out.push('\n');
            Ok(Flow::Continue)
        })
        .unwrap();
    (out, outcome)
}

fn line(event: &ChatEvent<'_>) -> String {
    let time = |at: Option<Timestamp>| at.map_or_else(|| "-".to_owned(), |at| at.strftime("%H:%M:%S").to_string());
    match event {
        ChatEvent::Restart => "restart".into(),
        ChatEvent::Call(call) => format!("call [{}] {}", call.id, call.tool),
        ChatEvent::CallEnd(end) => format!("end [{}] {:?}", end.id, end.outcome),
        ChatEvent::Interrupted => "interrupted".into(),
        ChatEvent::Compacted(at) => format!("compacted {}", time(*at)),
        ChatEvent::Replace(id) => format!("replace {id}"),
        ChatEvent::Rewind(Rewind::To(id)) => format!("rewind to {id}"),
        ChatEvent::Rewind(Rewind::UserTurns(turns)) => format!("rewind {turns}"),
        ChatEvent::Info(info) => {
            let mut parts = vec!["info".to_owned()];
            parts.extend(info.id.as_ref().map(|id| format!("id={id}")));
            parts.extend(info.title.as_ref().map(|(rank, title)| format!("title={title:?} ({rank:?})")));
            parts.extend(info.project_dir.as_ref().map(|dir| format!("dir={dir}")));
            parts.extend(info.branch.as_ref().map(|branch| format!("branch={branch}")));
            parts.extend(info.started.map(|started| format!("started={}", time(Some(started)))));
            parts.extend(info.continues.as_ref().map(|id| format!("continues={id}")));
            parts.join(" ")
        }
        ChatEvent::Turn(turn) => {
            let speaker = match turn.speaker {
                Speaker::User => "user",
                Speaker::Assistant => "assistant",
                Speaker::Tool => "tool",
            };
            format!("{} {speaker} {} [{}] {:?}", turn.line, time(turn.at), turn.message.as_deref().unwrap_or("-"), turn.text)
        }
    }
}

/// Problems as text.
pub(crate) fn problems(outcome: &ReadOutcome) -> Vec<String> {
    outcome.problems.iter().map(|problem| format!("{}: {}", problem.line.unwrap_or(0), problem.what)).collect()
}
