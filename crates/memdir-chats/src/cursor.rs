//! Cursor: agent transcripts as JSONL under `projects/<slug>/agent-transcripts/`. Lines say neither where nor when:
//! the time is the file's, the directory stays unknown (the slug is lossy and never decoded).

use super::{About, ChatSource, Event, Found, Host, SessionFile, Sink, Taken, claude_code, walk};
use memdir_core::base::error::Result;
use std::path::PathBuf;

/// Cursor's agent conversations.
#[derive(Debug, Clone)]
pub struct Cursor {
    dir: PathBuf,
}

impl Cursor {
    /// Those under Cursor's directory.
    pub fn new(dir: PathBuf) -> Self {
        Cursor { dir }
    }
}

impl ChatSource for Cursor {
    fn host(&self) -> Host {
        Host::Cursor
    }

    fn sessions(&self) -> Found {
        let mut found = Found::default();
        for project in walk::list(&self.dir.join("projects"), &mut found) {
            for file in walk::files(&project.path.join("agent-transcripts"), &mut found) {
                let of_a_subagent = file.path.parent().is_some_and(|dir| dir.ends_with("subagents"));
                if let Some(id) = file.name.strip_suffix(".jsonl").filter(|_| !of_a_subagent) {
                    found.sessions.extend(claude_code::session_file(Host::Cursor, id, &file.path));
                }
            }
        }
        claude_code::each_once(&mut found);
        found
    }

    fn turns(&self, session: &SessionFile, from: &super::Cursor, sink: &mut Sink<'_>) -> Result<Taken> {
        if from.at == 0 {
            sink(Event::About(About { started: Some(session.stamp.modified()), ..About::default() }))?;
        }
        claude_code::read(session, from, sink, |_| true)
    }
}
