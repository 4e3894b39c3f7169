//! Who may call over HTTP, and what each of them has: the tokens of the settings, read again whenever the file changes, so
//! that a token that is taken back is refused from then on.

use crate::{
    args::Global,
    commands::prompt,
    config::{Settings, TokenSetting},
    exit::Failure,
    wire,
};
use memdir_core::{
    Memdir, MemoryPath,
    space::{Caller, narrow, token_hash},
    tools,
};
use memdir_server::{Choice, Door, Group, Offer, Pass};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

/// The callers of a server.
#[derive(Debug)]
pub(crate) struct Callers {
    global: Global,
    choice: Choice,
    now: Mutex<(State, Arc<Settings>)>,
}

/// What tells one state of a file from another.
pub(crate) type State = Option<(SystemTime, u64)>;

impl Callers {
    /// The callers in the settings; nothing if there are none.
    pub(crate) fn of(global: &Global, settings: &Settings, choice: &Choice) -> Result<Option<Callers>, Failure> {
        if settings.config.tokens.is_empty() {
            return Ok(None);
        }
        // The state before the settings: a change in between is read again.
        let state = state(settings).ok();
        let settings = Arc::new(Settings::load(global)?);
        Ok(Some(Callers { global: global.clone(), choice: choice.clone(), now: Mutex::new((state, settings)) }))
    }

    fn settings(&self) -> Arc<Settings> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let state = state(&now.1).ok();
        // Settings that cannot be read are refused when they are made; until they are mended the last good ones hold.
        if now.0 != state
            && let Ok(settings) = Settings::load(&self.global)
        {
            *now = (state, Arc::new(settings));
        }
        now.1.clone()
    }

    fn offer(&self, settings: &Settings, token: &TokenSetting, pass: &Pass) -> Result<Offer, Failure> {
        let caller = Caller { person: token.person.clone(), agent: token.agent.clone(), projects: token.projects.clone() };
        let mut mounts = settings.places().caller(&caller, pass.project.as_deref())?;
        if !pass.only.is_empty() {
            let only = pass.only.iter().map(|prefix| MemoryPath::parse(prefix)).collect::<Result<Vec<_>, _>>()?;
            mounts = narrow(&mounts, &only)?;
        }
        let memdir = wire::open_mounts(settings, &mounts, &token.person)?;
        let group = native(memdir, settings, settings.home.value.clone())?;
        Offer::new(vec![group], &self.choice).map_err(|error| Failure::Usage { message: error.to_string(), hint: String::new() })
    }
}

/// memdir's own tools over a space.
pub(crate) fn native(memdir: Memdir, settings: &Settings, root: PathBuf) -> Result<Group, Failure> {
    Ok(Group {
        name: "native",
        tools: tools::native(),
        memdir: wire::with_search(memdir, settings)?,
        space: None,
        root,
        instructions: Some(tools::INSTRUCTIONS),
        resources: true,
        section: Some(prompt::section(settings)),
    })
}

impl Door for Callers {
    fn know(&self, token: &str) -> Option<String> {
        let hash = token_hash(token);
        self.settings().config.tokens.iter().find(|known| known.hash.eq_ignore_ascii_case(&hash)).map(who)
    }

    fn open(&self, pass: &Pass) -> Result<Offer, String> {
        let settings = self.settings();
        let token = settings.config.tokens.iter().find(|token| who(token) == pass.who).ok_or("this token is no longer accepted")?;
        self.offer(&settings, token, pass).map_err(|failure| failure.words().message)
    }
}

pub(crate) fn state(settings: &Settings) -> io::Result<(SystemTime, u64)> {
    state_of(&settings.file)
}

pub(crate) fn state_of(file: &Path) -> io::Result<(SystemTime, u64)> {
    let meta = fs::metadata(file)?;
    Ok((meta.modified()?, meta.len()))
}

fn who(token: &TokenSetting) -> String {
    format!("{} {} {:?} {:?}", token.hash, token.person, token.agent, token.projects)
}
