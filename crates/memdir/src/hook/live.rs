//! The memory behind the hooks: the space of the directory the conversation is held in. Whatever fails is noted and
//! answered with nothing.

use super::{Action, DOCTOR, Input, Memory, session::Session, take_in::take_in};
use crate::{commands::prompt, config::Settings, exit::Failure, scope::Scope, wire};
use memdir_core::{memdir::Memdir, operations::recall::Request, recall::when};
use std::{cell::RefCell, path::Path};

/// What a conversation is reminded of.
const REMIND: &str = include_str!("remind.md");

/// An open space.
pub(crate) struct Live<'a> {
    host: &'static str,
    settings: &'a Settings,
    scope: Scope,
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
        Ok(Live { host, settings, scope, memdir, session, troubles: RefCell::default() })
    }

    /// What went wrong.
    pub(crate) fn troubles(self) -> Vec<String> {
        self.troubles.into_inner()
    }

    /// What a recall brings that this conversation has not seen yet.
    fn bring(&self, memdir: &Memdir, request: Request<'_>) -> Option<String> {
        let (shown, cache) = (self.session.shown(), self.scope.wires_file(&self.settings.cache));
        let request = Request { shown: &shown, project: Some(&self.scope.project), cache: Some(&cache), ..request };
        let recalled = self.tried(memdir.recall(&request).map_err(Failure::from))?;
        self.session.show(recalled.shown.iter().map(|shown| shown.name.as_str()));
        Some(recalled.text)
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

    fn recall(&self, _: &Input, prompt: &str) -> Option<String> {
        let memdir = self.tried(wire::with_search_offline(self.memdir.clone(), self.settings))?;
        self.bring(&memdir, Request { message: Some(prompt), ..Request::default() })
    }

    fn warn(&self, _: &Input, action: &Action) -> Option<String> {
        let paths: Vec<String> = action.paths.iter().map(|path| self.scope.in_project(&self.settings.cwd, Path::new(path))).collect();
        let action = when::Action {
            tool: Some(&action.tool),
            command: action.command.as_deref(),
            paths: paths.iter().map(String::as_str).collect(),
            text: Some(action.text.as_str()).filter(|text| !text.is_empty()),
        };
        self.bring(&self.memdir, Request { action: Some(action), ..Request::default() })
    }

    fn take_in(&self, input: &Input) {
        self.tried(take_in(self.settings, self.host, input.transcript.as_deref()));
    }

    fn compacts(&self, input: &Input) {
        let is_real = input.session.as_deref() != Some(DOCTOR);
        if !is_real || !self.settings.config.log || !self.session.compacts(self.memdir.context().clock.now()) {
            return;
        }
        let kept = input.session.as_deref().and_then(|id| {
            let host = memdir_chats::reader(self.host).filter(|_| self.settings.config.chats.settings.on)?;
            wire::keep(self.settings).get(host, id).ok().flatten()
        });
        let mut entry = format!("{} compacted the conversation", self.host);
        if let Some(id) = &input.session {
            entry.push_str(&format!(" {id}"));
        }
        if let Some(kept) = kept {
            entry.push_str(&format!(" {:?}; memdir chats show {} has it whole", kept.title, kept.name()));
        }
        self.tried(self.memdir.log("", &entry).map_err(Failure::from));
    }

    fn remind(&self, _: &Input) -> Option<String> {
        (self.settings.config.remind && self.session.remind()).then(|| REMIND.to_owned())
    }
}
