//! Spaces: which directories a caller may access, and under which prefixes. Builds mounts and opens nothing. A request can only
//! narrow what is built here, never extend it.

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
    },
    store::{
        EntrypointMode,
        mount::{ClosedFolder, Links, Mount, journal_name, real_path},
        mounts,
    },
};
use std::path::{Path, PathBuf};

/// The directories below `MEMDIR_HOME`.
#[derive(Debug, Clone)]
pub struct Places {
    home: PathBuf,
}

/// An agent whose memory is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The agent's name.
    pub name: String,
    /// The scope of its memory.
    pub scope: AgentScope,
}

/// The scope of an agent's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentScope {
    /// All projects of a person.
    User,
    /// One project, shared with everyone who works on it.
    Project,
    /// One project on this machine.
    Local,
}

/// The callers of a server by the hash of their token. Tokens themselves are not stored.
#[derive(Debug, Clone, Default)]
pub struct TokenDirectory {
    known: Vec<(String, TokenIdentity)>,
}

impl TokenDirectory {
    /// Creates the directory from callers and the hashes of their tokens, computed with [`token_hash`].
    pub fn new(known: impl IntoIterator<Item = (String, TokenIdentity)>) -> Self {
        TokenDirectory { known: known.into_iter().map(|(hash, caller)| (hash.to_ascii_lowercase(), caller)).collect() }
    }

    /// Returns the caller with this token. Compares hashes, so that timing reveals nothing about a token.
    pub fn find(&self, token: &str) -> Option<&TokenIdentity> {
        let hash = token_hash(token);
        self.known.iter().find(|(known, _)| *known == hash).map(|(_, caller)| caller)
    }

    /// Whether there are no callers.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

/// Returns the stored hash of a token. Tokens are long and random, so an unsalted hash cannot be reversed.
pub fn token_hash(token: &str) -> String {
    blake3::hash(token.trim().as_bytes()).to_hex().to_string()
}

/// Generates a token: 256 random bits after a prefix that people and secret scanners recognise.
pub fn new_token() -> Result<String> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| Error::unavailable("random numbers", error.to_string()))?;
    Ok(bytes.iter().fold("mdt_".to_owned(), |token, byte| format!("{token}{byte:02x}")))
}

/// The identity behind a token. It determines the space, together with the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenIdentity {
    /// The person.
    pub person: String,
    /// The agent, if the token belongs to one.
    pub agent: Option<String>,
    /// The projects the person has access to.
    pub projects: Vec<String>,
}

impl TokenIdentity {
    /// Returns the selected project: the named one, if the caller has access to it, or else the only one.
    pub fn project<'a>(&'a self, named: Option<&'a str>) -> Result<Option<&'a str>> {
        match (named, self.projects.as_slice()) {
            (Some(named), mine) if mine.iter().any(|one| one == named) => Ok(Some(named)),
            (Some(named), _) => Err(Error::bad_input("project", format!("{named:?} is not one of your projects"))),
            (None, [only]) => Ok(Some(only)),
            (None, _) => Ok(None),
        }
    }
}

impl Places {
    /// Creates the directories below `MEMDIR_HOME`.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Places { home: home.into() }
    }

    /// Returns a mount of a directory, with its journal.
    pub fn mount(&self, prefix: &str, root: impl Into<PathBuf>) -> Mount {
        let root = root.into();
        let journal = self.journal(&root);
        Mount::new(prefix, root, journal)
    }

    /// Returns the directory of all journals.
    pub fn journals(&self) -> PathBuf {
        self.home.join("journal")
    }

    /// Returns the journal of a directory.
    pub fn journal(&self, root: &Path) -> PathBuf {
        self.journals().join(journal_name(root))
    }

    /// Returns the directory of the memories and records of all projects.
    pub fn projects(&self) -> PathBuf {
        self.home.join("projects")
    }

    /// Returns the directory of a project's memory.
    pub fn project(&self, id: &str) -> PathBuf {
        self.projects().join(id)
    }

    /// Returns the directory of the inboxes of all projects.
    pub fn inboxes(&self) -> PathBuf {
        self.home.join("inbox")
    }

    /// Returns the directory of the user's memory.
    pub fn user(&self) -> PathBuf {
        self.home.join("user")
    }

    /// Returns the directory of a checkout's team memory. It is committed with the checkout, so it is not below this home.
    pub fn team(checkout: &Path) -> PathBuf {
        checkout.join(".memdir")
    }

    /// Returns the mount of a team memory. Its settings file and git's attributes file are not memories. The directory itself must
    /// not be a symbolic link.
    pub fn team_mount(&self, root: PathBuf) -> Mount {
        let root = match (root.parent(), root.file_name()) {
            (Some(above), Some(name)) => real_path(above).join(name),
            _ => root,
        };
        let ignored = vec![r"\.gitattributes".into(), r"config\.toml".into()];
        // A team memory of the server is in this home and stays private.
        let shared = !root.starts_with(&self.home) && !root.starts_with(real_path(&self.home));
        Mount { ignored, shared, links: Links { fixed: true, ..Links::default() }, ..self.mount("team", root) }
    }

    /// Returns the mount of an agent's memory. With the project scope it lies in the checkout, to be committed; a checkout may
    /// come from anyone, so symbolic links on the way are refused.
    pub fn agent(&self, agent: &Agent, project: &str, checkout: &Path) -> Result<Mount> {
        let name = part("agent", &mounts::agent_folder(&agent.name))?;
        let root = match agent.scope {
            AgentScope::User => self.home.join("agents").join(&name),
            AgentScope::Project => checkout_agent_dir(checkout, &name)?,
            AgentScope::Local => self.home.join("agents-local").join(part("project", project)?).join(&name),
        };
        let fixed = agent.scope == AgentScope::Project;
        // Only that of the project scope is in a repository, where others write it too.
        Ok(Mount {
            shared: fixed,
            is_foreign: fixed,
            links: Links { fixed, ..Links::default() },
            ..self.mount(&format!("agent/{name}"), root)
        })
    }

    /// Returns the mounts of a caller: the caller's own, and those of the selected project (see [`Caller::project`]). Without a
    /// project, only the caller's own.
    pub fn caller(&self, caller: &TokenIdentity, project: Option<&str>) -> Result<Vec<Mount>> {
        let own = self.home.join("people").join(person(&caller.person)?);
        let mut mounts = vec![self.mount("user", own.join("user"))];
        if let Some(agent) = &caller.agent {
            let name = part("agent", &mounts::agent_folder(agent))?;
            mounts.push(self.mount(&format!("agent/{name}"), own.join("agents").join(&name)));
        }
        if let Some(id) = caller.project(project)? {
            let id = part("project", id)?;
            let mut own = Mount { is_foreign: true, ..self.mount("", self.project(&id)) };
            own.closed.push(ClosedFolder::of_agents_with_token());
            mounts.push(own);
            mounts.push(self.team_mount(self.home.join("teams").join(&id)));
        }
        Ok(mounts)
    }
}

/// Narrows mounts to what lies under these prefixes. A mount that is narrowed to a part has no entrypoint, because the one that
/// lists the part is outside. A prefix that is not in a mount is an error.
pub fn narrow(mounts: &[Mount], only: &[MemoryPath]) -> Result<Vec<Mount>> {
    let mut out: Vec<Mount> = Vec::new();
    for prefix in only {
        let resolved = mounts::resolve_alias_among(prefix, |known| mounts.iter().any(|mount| mount.prefix == known));
        let prefix = resolved.as_ref().unwrap_or(prefix);
        let whole: Vec<&Mount> = mounts.iter().filter(|mount| is_under(&mount.prefix, prefix)).collect();
        for mount in &whole {
            out.retain(|other| other.prefix != mount.prefix);
            out.push((*mount).clone());
        }
        if whole.is_empty() {
            add_part(mounts, prefix, &mut out)?;
        }
    }
    Ok(out)
}

/// Returns the intersection of two lists of prefixes, for a space that is narrowed twice.
pub fn intersect_prefixes(first: &[MemoryPath], second: &[MemoryPath]) -> Vec<MemoryPath> {
    let pairs = first.iter().flat_map(|a| second.iter().map(move |b| (a, b)));
    let inner = |(a, b): (&MemoryPath, &MemoryPath)| {
        if a.is_under(b.as_str()) {
            Some(a.clone())
        } else if b.is_under(a.as_str()) {
            Some(b.clone())
        } else {
            None
        }
    };
    pairs.filter_map(inner).collect()
}

fn is_under(mount_prefix: &str, prefix: &MemoryPath) -> bool {
    MemoryPath::parse(mount_prefix).is_ok_and(|name| name.is_under(prefix.as_str()))
}

/// Adds the part of a mount that lies under a prefix inside it.
fn add_part(mounts: &[Mount], prefix: &MemoryPath, out: &mut Vec<Mount>) -> Result<()> {
    let Some((mount, rel)) = mounts::locate(mounts, prefix.as_str()) else {
        let known: Vec<String> = mounts.iter().map(|mount| format!("{}/", mount.prefix)).collect();
        let why = format!("{:?} is not in any memory directory; start the prefix with one of: {}", prefix.as_str(), known.join(", "));
        return Err(Error::bad_input("prefix", why));
    };
    let name = MemoryPath::parse(rel)?.name().to_owned();
    match out.iter_mut().find(|other| other.prefix == mount.prefix) {
        // Included already, as a whole or with another part.
        Some(whole) if whole.part.is_empty() => {}
        Some(part) => part.part.push(name),
        None => out.push(Mount { entrypoint: EntrypointMode::Off, part: vec![name], ..mount.clone() }),
    }
    Ok(())
}

/// Returns an agent's directory in a checkout. The author of the checkout may have prepared it.
fn checkout_agent_dir(checkout: &Path, name: &str) -> Result<PathBuf> {
    let all = real_path(checkout).join(".memdir-agents");
    let own = all.join(name);
    if let Some(link) = [&all, &own].into_iter().find(|dir| dir.is_symlink()) {
        let why = format!("{} is a symbolic link; an agent's memory must be a directory", link.display());
        return Err(Error::bad_input("agent", why));
    }
    Ok(own)
}

/// Validates the name of a person, and returns that of the directory. A name that is not in Unicode's form NFC would share the
/// directory, and with it the memory, of the name that is; it is refused, because no one can tell the two apart.
pub fn person(name: &str) -> Result<String> {
    let directory = part("person", name)?;
    if directory != name {
        let why = format!("{name:?} is not in Unicode normalization form NFC; write it as {directory:?}");
        return Err(Error::bad_input("person", why));
    }
    Ok(directory)
}

/// Validates a name that becomes one directory.
pub fn part(what: &str, name: &str) -> Result<String> {
    match MemoryPath::parse(name) {
        Ok(path) if path.parts().count() == 1 && !name.starts_with('.') => Ok(path.to_string()),
        _ => Err(Error::bad_input(what, format!("{name:?} is not a valid directory name; use letters, digits, `-` and `_`"))),
    }
}
