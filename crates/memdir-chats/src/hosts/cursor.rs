//! Cursor: agent transcripts as JSONL under `projects/<slug>/agent-transcripts/`. The lines contain neither directory nor time: the
//! time is that of the file, and the directory is recognized by the slug of its path.

use super::claude_code;
use crate::{
    injected,
    project::folder_below,
    source::{ChatSource, Reader, SessionFile, SessionList, argv},
    transcript::{ChatEvent, EventSink, ReadOutcome, SessionInfo, TranscriptCursor},
    walk,
};
use memdir_core::Result;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The transcripts of Cursor's agent.
pub const READER: Reader = Reader {
    name: "cursor",
    open: |roots| Some(Box::new(CursorSource { dir: roots.cursor_dir() })),
    resume: Some(|id| argv(&["cursor-agent", "--resume", id])),
    resumes_in_project: true,
    resumes_by_session: true,
    is_transcript_of: Some(|transcript, dir| folder_below(transcript, "projects").is_some_and(|name| has_slug(dir, name))),
    rewrites: |_| false,
    scripts_look_alike: false,
};

/// The transcripts below Cursor's directory.
struct CursorSource {
    dir: PathBuf,
}

impl ChatSource for CursorSource {
    fn reader(&self) -> &'static Reader {
        &READER
    }

    fn sessions(&self) -> SessionList {
        let mut list = SessionList::default();
        for project in walk::list(&self.dir.join("projects"), &mut list.problems) {
            for file in walk::files(&project.path.join("agent-transcripts"), &mut list.problems) {
                let is_subagent = file.path.parent().is_some_and(|dir| dir.ends_with("subagents"));
                if let Some(id) = file.name.strip_suffix(".jsonl").filter(|_| !is_subagent) {
                    list.sessions.extend(SessionFile::from_path(&READER, id, &file.path));
                }
            }
        }
        list.dedup();
        list
    }

    fn turns(&self, session: &SessionFile, from: &TranscriptCursor, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
        if from.at == 0 {
            sink(ChatEvent::Info(SessionInfo { started: Some(session.stamp.modified()), ..SessionInfo::default() }))?;
        }
        claude_code::read(session, from, sink, |_| true, injected::cursor_user_text)
    }
}

/// Whether a folder's name is the slug of this directory or of an existing one below it. The slug of `/home/ada/my.app` is
/// `home-ada-my-app`, so only the existing directories show where one name ends and the next begins.
fn has_slug(dir: &Path, name: &str) -> bool {
    let (wanted, own) = (slug(name), slug(&dir.to_string_lossy()));
    match wanted.strip_prefix(&own) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('-').is_some_and(|rest| leads_to_directory(dir, rest)),
        None => false,
    }
}

fn leads_to_directory(dir: &Path, rest: &str) -> bool {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().is_dir()).any(|entry| {
        let own = slug(&entry.file_name().to_string_lossy());
        match rest.strip_prefix(&own).filter(|_| !own.is_empty()) {
            Some("") => true,
            Some(rest) => rest.strip_prefix('-').is_some_and(|rest| leads_to_directory(&entry.path(), rest)),
            None => false,
        }
    })
}

/// Letters and digits in lower case, with one hyphen for every run of other characters.
fn slug(text: &str) -> String {
    let parts: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    parts.join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::SessionProject;

    #[test]
    fn a_directory_is_recognized_by_its_slug() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("work/my.app/inner")).unwrap();
        fs::create_dir_all(root.join("work/my.app-two")).unwrap();
        std::os::unix::fs::symlink(root.join("work"), root.join("link")).unwrap();
        let (real, linked) = (root.join("work/my.app"), root.join("link/my.app"));
        for (dir, expected) in [("work/my.app", true), ("work/my.app/inner", true), ("work/my.app-two", false), ("work/my.app/gone", false)]
        {
            let slug = slug(&root.join(dir).to_string_lossy());
            let transcript = PathBuf::from("/h/.cursor/projects").join(slug).join("agent-transcripts/a.jsonl");
            let session = SessionProject { host: &READER, dir: None, transcript: &transcript };
            assert_eq!((session.is_in(&real), session.is_in(&linked)), (expected, expected), "{dir}");
        }
    }
}
