//! Where the previous conversation in this project ended, for the start of the next one. Only if conversations are on, and only from the
//! archive: nothing is synced or waited for.

use crate::{config::Settings, mounts, scope::Scope};
use jiff::Timestamp;
use memdir_chats::{ChatEnding, EndingQuery, RanCommand, SearchedProject, SessionProject};
use memdir_core::{
    Source,
    internal::{
        base::time,
        prompt::{LeftOff, LeftOffCommand, left_off},
    },
};
use std::{path::Path, time::Duration};

/// Days after which a previous conversation is not mentioned any more.
const LEFT_OFF_DAYS: u64 = 14;

/// The running conversation, which is never the previous one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunningConversation<'a> {
    pub(crate) session: Option<&'a str>,
    pub(crate) transcript: Option<&'a Path>,
}

/// Returns how the last conversation in the project of a scope ended, or `None` if there is none, it is too old, or the settings turn it
/// off.
pub(crate) fn chat_ending(settings: &Settings, scope: &Scope, running: RunningConversation<'_>, now: Timestamp) -> Option<ChatEnding> {
    // Conversations are outside a space that `--dir` or `--only` selects.
    if !settings.config.hooks.left_off || !scope.mounts_only().iter().any(|mount| mount.apart && mount.source == Source::Chat) {
        return None;
    }
    let project = SearchedProject { project: scope.project.clone(), worktrees: settings.config.worktrees };
    let max_age = Duration::from_secs(LEFT_OFF_DAYS * 24 * 60 * 60);
    let is_in_project = |session: SessionProject<'_>| project.includes(session);
    let query = EndingQuery { is_in_project: &is_in_project, running: running.session, transcript: running.transcript, now, max_age };
    // An archive that cannot be read is reported by the commands that need it.
    mounts::chat_archive(settings).ending(&query).ok().flatten()
}

/// Returns the text about the last conversation in the project of a scope, if there is one.
pub(crate) fn left_off_text(settings: &Settings, scope: &Scope, running: RunningConversation<'_>, now: Timestamp) -> Option<String> {
    let end = chat_ending(settings, scope, running, now)?;
    let changed: Vec<String> = end.changed.iter().map(|file| project_relative(file, scope)).collect();
    let ran: Vec<LeftOffCommand<'_>> = end.ran.iter().map(command).collect();
    let resume = end.chat.resume().map(|resume| resume.to_string());
    left_off(&LeftOff {
        source: &format!("chats/{}", end.chat.name()),
        host: end.chat.host.name,
        title: &end.chat.title,
        age: &time::age(now, end.at),
        changed: &changed,
        ran: &ran,
        message: end.message.as_deref(),
        resume: resume.as_deref(),
    })
}

fn command(ran: &RanCommand) -> LeftOffCommand<'_> {
    LeftOffCommand { line: &ran.line, failed: ran.failed, error: ran.error.as_deref() }
}

/// A path inside the project, as the agent writes it; others stay absolute.
pub(crate) fn project_relative(file: &str, scope: &Scope) -> String {
    let roots = [&scope.project.checkout, &scope.project.root];
    let inside = roots.iter().find_map(|root| Path::new(file).strip_prefix(root).ok());
    inside.map_or_else(|| file.to_owned(), |path| path.display().to_string())
}

#[test]
fn the_description_of_the_setting_has_its_numbers() {
    use memdir_core::internal::prompt::LEFT_OFF_BYTES;
    let setting = crate::config::KEYS.iter().find(|key| key.name == "hooks.left_off").expect("the setting");
    for words in [format!("(at most {} tokens)", LEFT_OFF_BYTES / 4), format!("older than {LEFT_OFF_DAYS} days.")] {
        assert!(setting.doc.contains(&words), "hooks.left_off does not say: {words}");
    }
}
