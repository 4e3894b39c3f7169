//! The older format of opencode's storage: `storage/session/<project>/<session>.json`, `storage/message/<session>/…`,
//! `storage/part/<message>/…`.

use super::{Emitter, READER, RevertedTo, given_title};
use crate::{
    json::{Obj, Str, Time},
    source::SessionFile,
    transcript::{ChatEvent, EventSink, ReadOutcome, SessionInfo},
    walk,
};
use memdir_core::{Error, Problem, Result};
use serde::Deserialize;
use std::{
    io,
    path::{Path, PathBuf},
};

/// A session's file.
#[derive(Default, Deserialize)]
struct Info<'a> {
    #[serde(borrow, default, rename = "parentID")]
    parent_id: Str<'a>,
    #[serde(borrow, default)]
    directory: Str<'a>,
    #[serde(borrow, default)]
    title: Str<'a>,
    #[serde(default)]
    time: Obj<SessionTimes>,
    #[serde(borrow, default)]
    revert: Obj<RevertedTo<'a>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct SessionTimes {
    #[serde(default)]
    created: Time,
}

/// Returns a value that changes whenever a session may have changed, or `None` if a directory cannot be listed.
pub(super) fn stamp(dir: &Path) -> Option<String> {
    let mut problems = Vec::new();
    let all = session_files(dir, &mut problems).iter().map(|session| format!("{} {:?}\n", session.key, session.stamp)).collect();
    problems.is_empty().then_some(all)
}

/// Lists the sessions, with their directories and titles. Sub-agents' sessions are skipped.
pub(super) fn sessions(dir: &Path, problems: &mut Vec<Problem>) -> Vec<SessionFile> {
    let mut sessions = session_files(dir, problems);
    sessions.retain_mut(|session| {
        let Ok(bytes) = walk::read(&session.path) else { return false };
        let Ok(info) = serde_json::from_slice::<Info<'_>>(&bytes) else {
            problems.push(Problem::whole(format!("{} is not a valid opencode session", session.path.display())));
            return false;
        };
        session.project_dir = info.directory.non_empty().map(PathBuf::from);
        session.title = given_title(info.title.non_empty());
        info.parent_id.non_empty().is_none()
    });
    sessions
}

fn session_files(dir: &Path, problems: &mut Vec<Problem>) -> Vec<SessionFile> {
    let mut sessions = Vec::new();
    for project in walk::list(&dir.join("storage/session"), problems) {
        for file in walk::list(&project.path, problems) {
            let Some(id) = file.name.strip_suffix(".json") else { continue };
            let Some(mut session) = SessionFile::from_path(&READER, id, &file.path) else { continue };
            session.stamp.ctime_ns = last_write_ns(dir, id);
            sessions.push(session);
        }
    }
    sessions
}

/// Returns when a session was last written. New messages are new files in the session's message folder, their parts new files in
/// folders per message; the parts of the last message are rewritten while the assistant answers.
fn last_write_ns(dir: &Path, id: &str) -> i64 {
    let at = |path: &Path| walk::stamp(path).map_or(0, |stamp| stamp.mtime_ns);
    let folder = dir.join("storage/message").join(id);
    let messages = walk::list(&folder, &mut Vec::new());
    let part_dir = |name: &str| dir.join("storage/part").join(name.strip_suffix(".json").unwrap_or(name));
    let last = messages.last().map(|message| walk::list(&part_dir(&message.name), &mut Vec::new())).unwrap_or_default();
    let parts = messages.iter().map(|message| at(&part_dir(&message.name)));
    parts.chain(last.iter().map(|part| at(&part.path))).chain([at(&folder)]).max().unwrap_or_default()
}

/// Reads a session.
pub(super) fn read(dir: &Path, session: &SessionFile, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
    let bytes = walk::read(&session.path).map_err(|source| Error::io("read", &session.path, source))?;
    let info: Info<'_> = serde_json::from_slice(&bytes).unwrap_or_default();
    sink(ChatEvent::Info(SessionInfo { started: info.time.0.and_then(|time| time.created.0), ..SessionInfo::default() }))?;
    let reverted = info.revert.0.and_then(|revert| revert.message_id.non_empty().map(str::to_owned));
    let mut emitter = Emitter { reverted, ..Emitter::default() };
    emitter.emit_reverted(sink)?;
    let mut problems = Vec::new();
    // Names ascend with time.
    for message in walk::list(&dir.join("storage/message").join(&session.id), &mut problems) {
        let Some(id) = message.name.strip_suffix(".json") else { continue };
        let Ok(data) = walk::read(&message.path) else { continue };
        let at = serde_json::from_slice::<Created>(&data).ok().and_then(|created| created.time.0?.created.0);
        for part in walk::list(&dir.join("storage/part").join(id), &mut problems) {
            match walk::read(&part.path) {
                Ok(piece) => emitter.part(id, at, &data, &piece, sink)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => problems.push(Problem::whole(format!("cannot read {}: {error}", part.path.display()))),
            }
        }
    }
    let mut outcome = emitter.finish();
    problems.into_iter().for_each(|problem| outcome.add_problem(problem));
    Ok(outcome)
}

#[derive(Default, Deserialize)]
struct Created {
    #[serde(default)]
    time: Obj<SessionTimes>,
}
