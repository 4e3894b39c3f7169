//! Who may call over HTTP, and what each of them has: the tokens of the settings, read again whenever the file changes, so
//! that a new token works and one that is taken back is refused from then on.

use crate::{
    config::{Settings, TokenSetting},
    exit::Failure,
    live::{self, Current},
    memory_section,
    scope::{self, Scope},
    wire,
};
use memdir_core::{
    base::path::MemoryPath,
    memdir::Memdir,
    prompt::log_is_open,
    store::{
        files::Mount,
        space::{Caller, both, narrow, token_hash},
    },
    tools,
};
use memdir_server::{Choice, Door, Group, Offer, Pass};
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// The callers of a server, be there any yet or not.
#[derive(Debug)]
pub(crate) struct Callers {
    current: Arc<Current>,
    choice: Choice,
    /// A dialect that is served, whose memory belongs to no caller.
    dialect: Option<String>,
    /// There was a caller since the server began. Taking the last token back opens it to nobody.
    seen: AtomicBool,
}

impl Callers {
    pub(crate) fn new(current: Arc<Current>, choice: &Choice, dialect: Option<&String>) -> Callers {
        Callers { current, choice: choice.clone(), dialect: dialect.cloned(), seen: AtomicBool::new(false) }
    }

    fn offer(&self, settings: &Settings, token: &TokenSetting, pass: &Pass) -> Result<Offer, Failure> {
        if let Some(dialect) = &self.dialect {
            return Err(Failure::Usage { message: no_callers(dialect), hint: String::new() });
        }
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
        self.chosen(group)
    }

    /// The space the server was started for, as far as the session asks for it.
    fn own(&self, settings: &Settings, pass: &Pass) -> Result<Offer, Failure> {
        let refuse = |message: String| Err(Failure::Usage { message, hint: String::new() });
        if let Some(dialect) = &self.dialect {
            return refuse(format!("what {dialect} opens is served whole: leave out Memdir-Only and Memdir-Project"));
        }
        let scope = Scope::whole(settings)?;
        match &pass.project {
            Some(_) if settings.dir.is_some() => return refuse("one directory is served here, and no project".into()),
            Some(named) if *named != scope.id => {
                return refuse(format!("the memory of the project {} is served here, and not that of {named}", scope.id));
            }
            _ => {}
        }
        let only = pass.only.clone();
        let open = move |settings: &Settings, _: &Scope| {
            let scope = Scope::whole(settings)?;
            scope.must_be_on()?;
            let mounts = narrowed(scope.plain_mounts(), &settings.only, &only)?;
            wire::with_search(wire::open_mounts(settings, &mounts, &settings.actor.value)?, settings)
        };
        let group = native(open(settings, &scope)?, settings, settings.cwd.clone(), false)?;
        let space = live::space(&self.current, settings, &scope, group.memdir.clone(), Box::new(open));
        self.chosen(Group { space: Some(space), ..group })
    }

    fn chosen(&self, group: Group) -> Result<Offer, Failure> {
        // The tool that logs is there where the log is open; a choice that names it is right all the same.
        let there = |name: &String| name != "memory_log" || group.tools.iter().any(|tool| tool.name == name);
        let mut choice = self.choice.clone();
        choice.only.retain(there);
        choice.without.retain(there);
        if choice.only.is_empty() && !self.choice.only.is_empty() {
            return Err(Failure::Usage { message: "no tool is left to serve: the log is not open here".into(), hint: String::new() });
        }
        Offer::new(vec![group], &choice).map_err(|error| Failure::Usage { message: error.to_string(), hint: String::new() })
    }
}

/// Why a dialect is served to no caller.
pub(crate) fn no_callers(dialect: &str) -> String {
    format!("there are callers with tokens of their own, and what {dialect} opens belongs to none of them")
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
        return Err(memdir_core::base::error::Error::bad_input("only", "nothing of that is served here").into());
    }
    Ok(narrow(&mounts, &left)?)
}

/// memdir's own tools over a space, which for a `remote` caller has no directories.
pub(crate) fn native(memdir: Memdir, settings: &Settings, root: PathBuf, remote: bool) -> Result<Group, Failure> {
    let logs = settings.config.log && log_is_open(memdir.store(), memdir.context());
    Ok(Group {
        name: "native",
        tools: if logs { tools::native_with_log() } else { tools::native() },
        memdir: wire::with_search(memdir, settings)?,
        space: None,
        root,
        instructions: Some(tools::INSTRUCTIONS),
        resources: true,
        section: Some(memory_section::section(settings, remote)),
    })
}

impl Door for Callers {
    fn is_guarded(&self) -> bool {
        if !self.seen.load(Ordering::Relaxed) && !self.current.get().config.tokens.is_empty() {
            self.seen.store(true, Ordering::Relaxed);
        }
        self.seen.load(Ordering::Relaxed)
    }

    fn know(&self, token: &str) -> Option<String> {
        let hash = token_hash(token);
        let settings = self.current.get();
        settings.config.tokens.iter().find(|known| known.hash.eq_ignore_ascii_case(&hash)).map(|token| who(&settings, token))
    }

    fn open(&self, pass: &Pass) -> Result<Offer, String> {
        let settings = self.current.get();
        let opened = match &pass.who {
            None => self.own(&settings, pass),
            Some(known) => {
                let token = settings.config.tokens.iter().find(|token| who(&settings, token) == *known);
                self.offer(&settings, token.ok_or("this token is no longer accepted")?, pass)
            }
        };
        opened.map_err(|failure| failure.words().message)
    }
}

/// A caller and every setting that decides what they have, so that a change of one opens their space anew. Other people's tokens
/// are none of them: one who joins ends nobody's session.
fn who(settings: &Settings, token: &TokenSetting) -> String {
    let config = &settings.config;
    let decides = (&config.enabled, &config.disabled_projects, config.log, &config.guidelines, &config.allow, &config.allow_rules);
    let decides = token_hash(&format!("{decides:?} {:?}", config.search));
    format!("{} {} {:?} {:?} {decides}", token.hash, token.person, token.agent, token.projects)
}
