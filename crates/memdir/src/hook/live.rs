//! The memory behind the hooks: the space of the directory the conversation is held in. Whatever fails is noted and
//! answered with nothing.

use super::{Action, Input, Memory, session::Session};
use crate::{
    commands::{chats, prompt},
    config::Settings,
    exit::Failure,
    scope::Scope,
    wire,
};
use memdir_core::Memdir;
use std::cell::RefCell;

/// How long taking in a conversation may last: some hosts wait 1.5 s at a session's end.
const TAKE_IN_MS: i64 = 900;
/// What a conversation is reminded of.
const REMIND: &str = include_str!("remind.md");

/// An open space.
pub(crate) struct Live<'a> {
    host: &'static str,
    settings: &'a Settings,
    memdir: Memdir,
    session: Session,
    troubles: RefCell<Vec<String>>,
}

impl<'a> Live<'a> {
    /// Opens the space; fails where memory is off.
    pub(crate) fn open(host: &'static str, settings: &'a Settings, input: &Input) -> Result<Live<'a>, Failure> {
        let scope = Scope::of(settings)?;
        let memdir = wire::open(settings, &scope)?.memdir;
        let session = Session::of(&settings.cache, host, input.session.as_deref());
        Ok(Live { host, settings, memdir, session, troubles: RefCell::default() })
    }

    /// What went wrong.
    pub(crate) fn troubles(self) -> Vec<String> {
        self.troubles.into_inner()
    }

    fn tried<T>(&self, result: Result<T, Failure>) -> Option<T> {
        result.map_err(|failure| self.troubles.borrow_mut().push(failure.words().message)).ok()
    }
}

impl Memory for Live<'_> {
    fn start(&self) -> Option<String> {
        self.session.begin();
        self.tried(prompt::for_hook(self.settings, &self.memdir))
    }

    fn recall(&self, _: &Input, _: &str) -> Option<String> {
        None
    }

    fn warn(&self, _: &Input, _: &Action) -> Option<String> {
        None
    }

    fn take_in(&self, _: &Input) {
        self.tried(chats::take_in_quickly(self.settings, self.host, TAKE_IN_MS));
    }

    fn remind(&self, _: &Input) -> Option<String> {
        (self.settings.config.remind && self.session.remind()).then(|| REMIND.to_owned())
    }
}
