//! A space that is served for long, and the switch of chats that somebody else may turn meanwhile: the settings are looked
//! at before each call, and the space is opened anew when what they say about chats has changed.

use crate::{
    args::Global,
    config::{ChatsSetting, Settings},
    door::{State, state},
    exit::Failure,
    scope::Scope,
};
use memdir_core::Memdir;
use memdir_server::Space;
use std::sync::{Arc, Mutex, PoisonError};

/// Opens a space by the settings.
type Open = dyn Fn(&Settings, &Scope) -> Result<Memdir, Failure> + Send + Sync;

/// A space, and what it was opened by.
struct Now {
    state: State,
    chats: ChatsSetting,
    memdir: Memdir,
}

/// The space that is in force at each call.
pub(crate) fn space(global: &Global, settings: &Settings, memdir: Memdir, open: Box<Open>) -> Space {
    // The state before the settings: a change in between is read again.
    let now = Mutex::new(Now { state: state(settings).ok(), chats: settings.config.chats.clone(), memdir });
    let (global, file) = (global.clone(), settings.file.clone());
    Arc::new(move || {
        let mut now = now.lock().unwrap_or_else(PoisonError::into_inner);
        let state = crate::door::state_of(&file).ok();
        if now.state != state {
            now.state = state;
            // Settings that cannot be read are refused when they are made; until they are mended the last good ones hold.
            if let Some((chats, memdir)) = opened(&global, &now.chats, &*open) {
                (now.chats, now.memdir) = (chats, memdir);
            }
        }
        now.memdir.clone()
    })
}

fn opened(global: &Global, before: &ChatsSetting, open: &Open) -> Option<(ChatsSetting, Memdir)> {
    let settings = Settings::load(global).ok().filter(|settings| settings.config.chats != *before)?;
    let scope = Scope::of(&settings).ok()?;
    let memdir = open(&settings, &scope).ok()?;
    Some((settings.config.chats.clone(), memdir))
}
