//! What tests of chats share: transcripts in temporary directories, and what a source tells as text.

use jiff::Timestamp;
use memdir_chats::{ChatSource, Cursor, Event, Flow, Host, Rewind, SessionFile, Speaker, Taken};
use memdir_core::store::Stamp;
use std::{
    fs,
    path::{Path, PathBuf},
};

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
pub(crate) fn session(host: Host, path: &Path) -> SessionFile {
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

/// Everything a source tells of a session, a line each, and the outcome.
pub(crate) fn told(source: &dyn ChatSource, session: &SessionFile, from: &Cursor) -> (String, Taken) {
    let mut out = String::new();
    let taken = source
        .turns(session, from, &mut |event| {
            out.push_str(&line(&event));
            out.push('\n');
            Ok(Flow::Continue)
        })
        .unwrap();
    (out, taken)
}

fn line(event: &Event<'_>) -> String {
    let time = |at: Option<Timestamp>| at.map_or_else(|| "-".to_owned(), |at| at.strftime("%H:%M:%S").to_string());
    match event {
        Event::Restart => "restart".into(),
        Event::Compacted(at) => format!("compacted {}", time(*at)),
        Event::Replace(id) => format!("replace {id}"),
        Event::Rewind(Rewind::To(id)) => format!("rewind to {id}"),
        Event::Rewind(Rewind::UserTurns(turns)) => format!("rewind {turns}"),
        Event::About(about) => {
            let mut parts = vec!["about".to_owned()];
            parts.extend(about.id.as_ref().map(|id| format!("id={id}")));
            parts.extend(about.title.as_ref().map(|(rank, title)| format!("title={title:?} ({rank:?})")));
            parts.extend(about.project_dir.as_ref().map(|dir| format!("dir={dir}")));
            parts.extend(about.branch.as_ref().map(|branch| format!("branch={branch}")));
            parts.extend(about.started.map(|started| format!("started={}", time(Some(started)))));
            parts.extend(about.continues.as_ref().map(|id| format!("continues={id}")));
            parts.join(" ")
        }
        Event::Turn(turn) => {
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
pub(crate) fn problems(taken: &Taken) -> Vec<String> {
    taken.problems.iter().map(|problem| format!("{}: {}", problem.line.unwrap_or(0), problem.what)).collect()
}
