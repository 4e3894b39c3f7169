//! Who may call over HTTP, and what each of them has: the tokens of the settings, read again whenever the file changes, so
//! that a token that is taken back is refused from then on.

use crate::{
    args::Global,
    commands::prompt,
    config::{Settings, TokenSetting},
    exit::Failure,
    scope, wire,
};
use memdir_core::{
    Memdir, MemoryPath, Mount,
    space::{Caller, both, narrow, token_hash},
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
        if let Some(switch) = scope::switched_off(settings, caller.project(pass.project.as_deref())?) {
            // Where the server keeps its settings is nothing to a caller.
            return Err(Failure::Off { switch: switch.replace(&settings.file.display().to_string(), "the server's settings") });
        }
        let mounts = settings.places().caller(&caller, pass.project.as_deref())?;
        let mounts = narrowed(mounts, &settings.only, &pass.only)?;
        // A log tells of its person, and everybody of a project reads the project's memory.
        let memdir = wire::open_mounts(settings, &mounts, &token.person)?.logging_in("user");
        let group = native(memdir, settings, settings.home.value.clone(), true)?;
        Offer::new(vec![group], &self.choice).map_err(|error| Failure::Usage { message: error.to_string(), hint: String::new() })
    }
}

/// What the server was started for, and of that what the session asks for. Callers differ: what one of them has not, the
/// server's narrowing leaves out; what a session names must be there.
fn narrowed(mounts: Vec<Mount>, server: &[MemoryPath], session: &[String]) -> Result<Vec<Mount>, Failure> {
    let session = session.iter().map(|prefix| MemoryPath::parse(prefix)).collect::<Result<Vec<_>, _>>()?;
    let asked = if session.is_empty() { mounts.clone() } else { narrow(&mounts, &session)? };
    if server.is_empty() {
        return Ok(asked);
    }
    let mut left = if session.is_empty() { server.to_vec() } else { both(server, &session) };
    left.retain(|prefix| narrow(&mounts, std::slice::from_ref(prefix)).is_ok());
    if left.is_empty() {
        return Err(memdir_core::Error::bad_input("only", "nothing of that is served here").into());
    }
    Ok(narrow(&mounts, &left)?)
}

/// memdir's own tools over a space, which for a `remote` caller has no directories.
pub(crate) fn native(memdir: Memdir, settings: &Settings, root: PathBuf, remote: bool) -> Result<Group, Failure> {
    Ok(Group {
        name: "native",
        tools: if settings.config.log { tools::native_with_log() } else { tools::native() },
        memdir: wire::with_search(memdir, settings)?,
        space: None,
        root,
        instructions: Some(tools::INSTRUCTIONS),
        resources: true,
        section: Some(prompt::section(settings, remote)),
    })
}

impl Door for Callers {
    fn know(&self, token: &str) -> Option<String> {
        let hash = token_hash(token);
        let settings = self.settings();
        settings.config.tokens.iter().find(|known| known.hash.eq_ignore_ascii_case(&hash)).map(|token| who(&settings, token))
    }

    fn open(&self, pass: &Pass) -> Result<Offer, String> {
        let settings = self.settings();
        let token =
            settings.config.tokens.iter().find(|token| who(&settings, token) == pass.who).ok_or("this token is no longer accepted")?;
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

/// A caller and every setting that decides what they have, so that a change of one opens their space anew. Other people's tokens
/// are none of them: one who joins ends nobody's session.
fn who(settings: &Settings, token: &TokenSetting) -> String {
    let config = &settings.config;
    let decides = (&config.enabled, &config.disabled_projects, config.log, &config.guidelines, &config.allow, &config.allow_rules);
    let decides = token_hash(&format!("{decides:?} {:?}", config.search));
    format!("{} {} {:?} {:?} {decides}", token.hash, token.person, token.agent, token.projects)
}
