//! Whose memory this is: the project one stands in, its mounts with the reason for each, and the switch that turned it off.

mod repository;

use crate::{
    config::{RepositorySettings, Settings},
    exit::Failure,
    known, wire,
};
use memdir_core::{
    base::version::Version,
    project::{self, Kind, Project},
    store::{
        Entrypoint,
        files::{Mount, real_path},
        space::{Agent, Places, narrow},
    },
};
use std::path::{Path, PathBuf};

/// Everything that is in force for one call.
pub(crate) struct Scope {
    /// The project of the current directory.
    pub(crate) project: Project,
    /// The id of the project whose memory is open.
    pub(crate) id: String,
    /// What turned memory off, if it is off.
    pub(crate) off: Option<String>,
    /// The mounts.
    pub(crate) mounts: Vec<Placed>,
    /// What is wrong with the settings, or worth knowing.
    pub(crate) notes: Vec<String>,
}

/// A mount and why it is there.
pub(crate) struct Placed {
    pub(crate) mount: Mount,
    pub(crate) why: String,
}

impl Scope {
    /// A path as tripwires have it: from the project's root, if it lies in it.
    pub(crate) fn in_project(&self, cwd: &Path, path: &Path) -> String {
        let whole = cwd.join(path);
        let top = &self.project.checkout;
        let real = real_path(&whole);
        real.strip_prefix(top).or_else(|_| whole.strip_prefix(top)).unwrap_or(&real).to_string_lossy().into_owned()
    }

    /// Where the table of tripwires of this space is kept.
    pub(crate) fn wires_file(&self, cache: &Path) -> PathBuf {
        let roots: Vec<String> =
            self.mounts.iter().map(|placed| format!("{}={}", placed.mount.prefix, placed.mount.root.display())).collect();
        cache.join("wires").join(format!("{}.json", Version::of(roots.join("\n").as_bytes())))
    }

    /// The settings the repository may bring.
    pub(crate) fn repository_file(&self) -> PathBuf {
        repository::file(&self.project)
    }

    /// Finds out, creating nothing.
    pub(crate) fn of(settings: &Settings) -> Result<Scope, Failure> {
        let mut scope = Scope::whole(settings)?;
        scope.narrow(settings)?;
        Ok(scope)
    }

    /// The same before anything is left out of it.
    pub(crate) fn whole(settings: &Settings) -> Result<Scope, Failure> {
        let project = project::find(&settings.cwd, settings.config.worktrees)?;
        let mut notes = settings.config.problems.clone();
        notes.extend(project.problems.iter().map(|problem| problem.what.clone()));
        let (id, id_why) = memory_id(settings, &project);
        let repository = match settings.dir {
            Some(_) => RepositorySettings::default(),
            None => repository::settings(&settings.home.value, &project, &mut notes),
        };
        let off = off(settings, &id, &repository, &project);
        let mut scope = Scope { off, mounts: Vec::new(), notes, id, project };
        match &settings.dir {
            Some(dir) => scope.one_directory(settings, &dir.value, dir.origin),
            None => scope.usual(settings, &id_why, &repository)?,
        }
        Ok(scope)
    }

    /// The mounts alone.
    pub(crate) fn plain_mounts(&self) -> Vec<Mount> {
        self.mounts.iter().map(|placed| placed.mount.clone()).collect()
    }

    /// Refuses to go on where memory is off.
    pub(crate) fn must_be_on(&self) -> Result<(), Failure> {
        match &self.off {
            Some(switch) => Err(Failure::Off { switch: switch.clone() }),
            None => Ok(()),
        }
    }

    /// What is said where memory is off and the answer is given all the same.
    pub(crate) fn off_note(&self) -> Vec<String> {
        self.off.iter().map(|switch| format!("memory is off: {switch}")).collect()
    }

    fn add(&mut self, mount: Mount, why: impl Into<String>) {
        self.mounts.push(Placed { mount, why: why.into() });
    }

    fn has(&self, prefix: &str) -> bool {
        self.mounts.iter().any(|placed| placed.mount.prefix == prefix)
    }

    fn one_directory(&mut self, settings: &Settings, dir: &Path, origin: &str) {
        let configured: Vec<Mount> = settings.config.mounts.iter().map(|mount| wire::configured(settings, mount)).collect();
        let mut whole = wire::one_directory(settings, dir, &configured);
        let why = format!("{origin}: this directory is the whole memory");
        let team = whole.root.join("team");
        // A directory of which only some files are served has no team.
        if whole.entrypoint != Entrypoint::Kept || !whole.only.is_empty() {
            return self.add(whole, why);
        }
        let there = team.symlink_metadata();
        let is_wanted = there.as_ref().map_or(settings.config.team, |meta| meta.is_dir());
        if !is_wanted {
            // A folder made by a first write would turn the team on, with that memory listed in the private entrypoint.
            let make = format!("there is no team memory here yet; mkdir {} makes one", team.display());
            let link = format!("{} is no directory of its own, so it is no team memory", team.display());
            if team.is_symlink() && whole.links.roots.is_empty() && !whole.links.inside {
                // No setting makes a team of a link, so none is suggested.
                self.notes.push(link.clone());
                whole.ignored.push("team(/.*)?".into());
            }
            whole.closed.push(("team".into(), if there.is_ok() { link } else { make }));
            return self.add(whole, why);
        }
        let inner = split_team(settings, &mut whole, &configured);
        self.add(whole, why);
        self.add(inner, if there.is_ok() { "the directory has a team folder" } else { "team = true in the settings" });
    }

    fn usual(&mut self, settings: &Settings, id_why: &str, repository: &RepositorySettings) -> Result<(), Failure> {
        let places = settings.places();
        let id = self.id.clone();
        for mount in settings.config.mounts.iter().filter(|mount| mount.project.as_ref().is_none_or(|project| *project == id)) {
            let mut whole = wire::configured(settings, mount);
            let team = whole.root.join("team");
            // An adopted memory whose team folder has an entrypoint of its own has a team's scope in it.
            // Patterns are written for names in the whole, so a mount that has some stays whole.
            let plain = [&whole.only, &whole.read_only, &whole.ignored].iter().all(|list| list.is_empty());
            let is_team = plain
                && whole.entrypoint == Entrypoint::Kept
                && !team.is_symlink()
                && team.join(memdir_core::store::mounts::ENTRYPOINT_FILE).is_file();
            let guard = [whole.clone()];
            let inner = is_team.then(|| split_team(settings, &mut whole, &guard));
            self.add(whole, format!("[[mounts]] in {}", settings.file.display()));
            if let Some(inner) = inner {
                self.add(inner, "that memory has a team folder");
            }
        }
        if !self.has("") {
            self.add(places.mount("", places.project(&self.id)), id_why);
        }
        if !self.has("user") {
            self.add(places.mount("user", places.user()), "yours, in every project");
        }
        self.team(settings, repository);
        if let Some(own) = self.mounts.iter_mut().find(|placed| placed.mount.prefix.is_empty()) {
            own.mount.closed.push(("agent".into(), "an agent's memory is open to that agent alone: --agent NAME".into()));
        }
        if let Some(agent) = &settings.agent {
            let agent = Agent { name: agent.value.clone(), scope: settings.agent_scope };
            self.add(
                places.agent(&agent, &self.id, &self.project.checkout)?,
                format!("{} names the agent", settings.agent.as_ref().map_or("", |from| from.origin)),
            );
        }
        if !self.has(wire::CHATS)
            && let Some(mount) = wire::chats_mount(settings)
        {
            self.add(mount, "chats are on: past conversations, found by searches");
        }
        for path in &settings.config.extra_paths {
            match wire::extra(settings, path, &self.plain_mounts()) {
                Ok(mount) => self.add(mount, format!("memory.extraPaths in {}", settings.file.display())),
                Err(note) => self.notes.push(note),
            }
        }
        // Last, so that nothing of the repository's can take the place of anything of the person's.
        self.repository_mounts(settings, repository);
        Ok(())
    }

    /// The team's memory, where there is one.
    fn team(&mut self, settings: &Settings, repository: &RepositorySettings) {
        if self.has("team") || self.project.git.is_none() {
            return;
        }
        let root = Places::team(&self.project.checkout);
        let why_not = self.why_no_team(&settings.home.value);
        if let Some(why) = why_not.as_ref().filter(|_| root.is_symlink()) {
            self.notes.push(why.clone());
        }
        let exists = root.symlink_metadata().is_ok();
        if why_not.is_none() && (exists || settings.config.team) {
            let why = if exists { "the repository has a .memdir directory" } else { "team = true in the settings" };
            let mount = with_ignored(settings.places().team_mount(root), &repository.ignored);
            return self.add(Mount { read_only: repository.read_only.clone(), ..mount }, why);
        }
        if let Some(own) = self.mounts.iter_mut().find(|placed| placed.mount.prefix.is_empty()) {
            // What is meant for everybody must not end in a private folder that happens to have the name.
            let none = || "this repository has no team memory yet; memdir init --team makes one".into();
            own.mount.closed.push(("team".into(), why_not.unwrap_or_else(none)));
        }
    }

    /// Why this project cannot have a team memory, if it cannot.
    pub(crate) fn why_no_team(&self, home: &Path) -> Option<String> {
        let root = Places::team(&self.project.checkout);
        match self.project.kind {
            _ if self.project.git.is_none() => Some("this is not a git repository, so there is no team to share with".into()),
            Kind::Bare => Some("this is a bare git repository: nothing in it is committed; a worktree of it can have a team memory".into()),
            _ => wire::not_team(home, &root),
        }
    }

    fn narrow(&mut self, settings: &Settings) -> Result<(), Failure> {
        if settings.only.is_empty() {
            return Ok(());
        }
        let narrowed = narrow(&self.plain_mounts(), &settings.only)?;
        self.mounts = narrowed.into_iter().map(|mount| Placed { mount, why: "--only".into() }).collect();
        Ok(())
    }
}

/// The team folder of a directory as a mount of its own, since it has an entrypoint of its own, guarded as if it were opened
/// alone. The directory itself no longer has it.
fn split_team(settings: &Settings, whole: &mut Mount, configured: &[Mount]) -> Mount {
    let inner = wire::one_directory(settings, &whole.root.join("team"), configured);
    let prefix = if whole.prefix.is_empty() { "team".into() } else { format!("{}/team", whole.prefix) };
    let inner = Mount {
        prefix,
        access: whole.access,
        links: whole.links.clone(),
        hidden: whole.hidden,
        read_only: whole.read_only.clone(),
        ignored: whole.ignored.clone(),
        // What the directory's patterns say of names in the folder holds for them here.
        patterns_see_prefix: true,
        ..inner
    };
    whole.ignored.push("team/.*".into());
    inner
}

fn with_ignored(mount: Mount, more: &[String]) -> Mount {
    Mount { ignored: [mount.ignored.as_slice(), more].concat(), ..mount }
}

/// Which project's memory is open, and why.
fn memory_id(settings: &Settings, project: &Project) -> (String, String) {
    if let Some(named) = &settings.project {
        return (named.value.clone(), format!("{} names the project", named.origin));
    }
    match known::read(&settings.home.value, &project.id).and_then(|known| known.memory) {
        Some(adopted) => {
            let why = format!("{}; it has adopted the memory of {adopted} (memdir projects adopt takes that back)", project.why());
            (adopted, why)
        }
        None => (project.id.clone(), project.why()),
    }
}

/// The switch that turned memory off: the environment before the settings, and those before the repository's.
fn off(settings: &Settings, id: &str, repository: &RepositorySettings, project: &Project) -> Option<String> {
    let ids: &[&str] = if settings.dir.is_none() { &[id, &project.id] } else { &[] };
    let by_repository = || {
        let holds = repository.enabled == Some(false) && !matches!(settings.disable, Some((false, _)));
        holds.then(|| format!("enabled = false in {}", repository::file(project).display()))
    };
    switched_off(settings, ids.iter().copied()).or_else(by_repository)
}

/// What a person's own settings turn off, for these projects.
pub(crate) fn switched_off<'a>(settings: &Settings, projects: impl IntoIterator<Item = &'a str>) -> Option<String> {
    match &settings.disable {
        Some((true, value)) => return Some(format!("MEMDIR_DISABLE={value}")),
        Some((false, _)) => return None,
        None => {}
    }
    let file = settings.file.display();
    if settings.config.enabled == Some(false) {
        return Some(format!("enabled = false in {file}"));
    }
    let mut projects = projects.into_iter();
    let disabled = projects.find(|id| settings.config.disabled_projects.iter().any(|disabled| disabled == id));
    disabled.map(|id| format!("enabled = false for the project {id} in {file}"))
}
