//! The older form of opencode's store: `storage/session/<project>/<session>.json`, `storage/message/<session>/…`,
//! `storage/part/<message>/…`.

use super::{
    super::{
        About, Event, Found, Host, SessionFile, Sink, Taken,
        claude_code::session_file,
        json::{Obj, Str, Time},
        walk,
    },
    Teller, given_title,
};
use memdir_core::base::error::{Error, Problem, Result};
use serde::Deserialize;
use std::{
    fs,
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
    time: Obj<Times>,
    #[serde(borrow, default)]
    revert: Obj<Revert<'a>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Revert<'a> {
    #[serde(borrow, default, rename = "messageID")]
    message_id: Str<'a>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Times {
    #[serde(default)]
    created: Time,
}

/// Changes whenever a session may have changed; nothing if that cannot be told.
pub(super) fn stamp(dir: &Path) -> Option<String> {
    let mut found = Found::default();
    let all = listed(dir, &mut found).iter().map(|session| format!("{} {:?}\n", session.key, session.stamp)).collect();
    found.problems.is_empty().then_some(all)
}

/// The sessions, told by their files alone; titles and directories are read with the turns.
pub(super) fn sessions(dir: &Path, found: &mut Found) -> Vec<SessionFile> {
    let mut sessions = listed(dir, found);
    sessions.retain_mut(|session| {
        let Ok(bytes) = fs::read(&session.path) else { return false };
        let Ok(info) = serde_json::from_slice::<Info<'_>>(&bytes) else {
            found.problems.push(Problem::whole(format!("{} is not a session of opencode", session.path.display())));
            return false;
        };
        session.project_dir = info.directory.full().map(PathBuf::from);
        session.title = given_title(info.title.full());
        info.parent_id.full().is_none()
    });
    sessions
}

fn listed(dir: &Path, found: &mut Found) -> Vec<SessionFile> {
    let mut sessions = Vec::new();
    for project in walk::list(&dir.join("storage/session"), found) {
        for file in walk::list(&project.path, found) {
            let Some(id) = file.name.strip_suffix(".json") else { continue };
            let Some(mut session) = session_file(Host::Opencode, id, &file.path) else { continue };
            session.stamp.ctime_ns = newest_of(dir, id);
            sessions.push(session);
        }
    }
    sessions
}

/// When something of a session was last written. New messages are new files in a folder beside, their parts new files in
/// folders of their own; the last message's parts are written anew while the assistant speaks.
fn newest_of(dir: &Path, id: &str) -> i64 {
    let at = |path: &Path| walk::stamp(path).map_or(0, |stamp| stamp.mtime_ns);
    let folder = dir.join("storage/message").join(id);
    let messages = walk::list(&folder, &mut Found::default());
    let parts_of = |name: &str| dir.join("storage/part").join(name.strip_suffix(".json").unwrap_or(name));
    let last = messages.last().map(|message| walk::list(&parts_of(&message.name), &mut Found::default())).unwrap_or_default();
    let parts = messages.iter().map(|message| at(&parts_of(&message.name)));
    parts.chain(last.iter().map(|part| at(&part.path))).chain([at(&folder)]).max().unwrap_or_default()
}

/// Tells a session.
pub(super) fn read(dir: &Path, session: &SessionFile, sink: &mut Sink<'_>) -> Result<Taken> {
    let bytes = fs::read(&session.path).map_err(|source| Error::io("read", &session.path, source))?;
    let info: Info<'_> = serde_json::from_slice(&bytes).unwrap_or_default();
    sink(Event::About(About { started: info.time.0.and_then(|time| time.created.0), ..About::default() }))?;
    let reverted = info.revert.0.and_then(|revert| revert.message_id.full().map(str::to_owned));
    let mut teller = Teller { reverted, ..Teller::default() };
    teller.tell_reverted(sink)?;
    let mut found = Found::default();
    // Names ascend with time.
    for message in walk::list(&dir.join("storage/message").join(&session.id), &mut found) {
        let Some(id) = message.name.strip_suffix(".json") else { continue };
        let Ok(data) = fs::read(&message.path) else { continue };
        let at = serde_json::from_slice::<Created>(&data).ok().and_then(|created| created.time.0?.created.0);
        for part in walk::list(&dir.join("storage/part").join(id), &mut found) {
            if let Ok(piece) = fs::read(&part.path) {
                teller.part(id, at, &data, &piece, sink)?;
            }
        }
    }
    let mut taken = teller.taken();
    found.problems.into_iter().for_each(|problem| taken.problem(problem));
    Ok(taken)
}

#[derive(Default, Deserialize)]
struct Created {
    #[serde(default)]
    time: Obj<Times>,
}
