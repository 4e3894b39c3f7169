//! The scope of a run: the project of the current directory, its mounts with the reason for each, and whether memory is disabled.

mod repository;

use crate::{
    config::{RepositorySettings, Settings},
    exit::Failure,
    mounts,
    off_switch::OffSwitch,
    project_records,
};
use memdir_core::{
    ClosedFolder, EntrypointMode, Error, MemoryPath, Mount, Project, ReadOnlyCause, Source, Version,
    internal::{
        base::shell,
        project::{self, ProjectKind},
        store::{
            mount::real_path,
            space::{Agent, Places, intersect_prefixes, narrow},
        },
    },
};
use std::path::{Path, PathBuf};

/// Why nothing can be created in the folder of the team.
const NO_TEAM: &str = "no team memory yet";

/// Everything that is in effect for one run.
pub(crate) struct Scope {
    /// The project of the current directory.
    pub(crate) project: Project,
    /// The id of the project whose memory is open.
    pub(crate) id: String,
    /// The switch that disables memory, if it is disabled.
    pub(crate) off: Option<OffSwitch>,
    /// The mounts.
    pub(crate) mounts: Vec<ScopedMount>,
    /// Notes about the settings and the project.
    pub(crate) notes: Vec<String>,
}

/// A mount and the reason for it.
pub(crate) struct ScopedMount {
    pub(crate) mount: Mount,
    pub(crate) why: String,
}

impl Scope {
    /// A path as tripwires match it: relative to the project's root if it is inside.
    pub(crate) fn in_project(&self, cwd: &Path, path: &Path) -> String {
        let whole = cwd.join(path);
        let top = &self.project.checkout;
        let real = real_path(&whole);
        real.strip_prefix(top).or_else(|_| whole.strip_prefix(top)).unwrap_or(&real).to_string_lossy().into_owned()
    }

    /// The file that caches the tripwires of this scope.
    pub(crate) fn tripwires_file(&self, cache: &Path) -> PathBuf {
        let roots: Vec<String> =
            self.mounts.iter().map(|scoped| format!("{}={}", scoped.mount.prefix, scoped.mount.root.display())).collect();
        cache.join("wires").join(format!("{}.json", Version::from_content(roots.join("\n").as_bytes())))
    }

    /// The settings file of the repository.
    pub(crate) fn repository_file(&self) -> PathBuf {
        repository::file(&self.project)
    }

    /// Resolves the scope of the settings. Creates nothing.
    pub(crate) fn resolve(settings: &Settings) -> Result<Scope, Failure> {
        let mut scope = Scope::whole(settings)?;
        scope.narrow(settings)?;
        Ok(scope)
    }

    /// Resolves the scope without applying `--only`.
    pub(crate) fn whole(settings: &Settings) -> Result<Scope, Failure> {
        let project = project::find(&settings.cwd, settings.config.worktrees)?;
        let mut notes = settings.config.problems.clone();
        notes.extend(project.problems.iter().map(|problem| problem.what.clone()));
        let (id, id_why) = memory_id(settings, &project);
        let repository = match settings.dir {
            Some(_) => RepositorySettings::default(),
            None => repository::settings(&settings.home.value, &project, &mut notes),
        };
        let off = disabled_by(settings, &id, &repository, &project);
        let mut scope = Scope { off, mounts: Vec::new(), notes, id, project };
        match &settings.dir {
            Some(dir) => scope.one_directory(settings, &dir.value, dir.origin),
            None => scope.usual(settings, &id_why, &repository)?,
        }
        Ok(scope)
    }

    /// The mounts without their reasons.
    pub(crate) fn mounts_only(&self) -> Vec<Mount> {
        self.mounts.iter().map(|scoped| scoped.mount.clone()).collect()
    }

    /// The mounts that people are shown: an inbox is created by its first candidate, and is empty before.
    pub(crate) fn shown_mounts(&self) -> impl Iterator<Item = &ScopedMount> {
        self.mounts.iter().filter(|scoped| scoped.mount.source != Source::Inbox || scoped.mount.root.is_dir())
    }

    /// The mount of a directory.
    pub(crate) fn mount_at(&self, dir: &Path) -> Option<&Mount> {
        let real = real_path(dir);
        self.mounts.iter().map(|scoped| &scoped.mount).find(|mount| real_path(&mount.root) == real)
    }

    /// Returns an error if memory is disabled.
    pub(crate) fn must_be_on(&self) -> Result<(), Failure> {
        match &self.off {
            Some(switch) => Err(Failure::Off { switch: switch.clone() }),
            None => Ok(()),
        }
    }

    /// The note for commands that also run while memory is disabled.
    pub(crate) fn off_note(&self) -> Vec<String> {
        self.off.iter().map(|switch| format!("memory is off: {switch}")).collect()
    }

    fn add(&mut self, mount: Mount, why: impl Into<String>) {
        self.mounts.push(ScopedMount { mount, why: why.into() });
    }

    fn has(&self, prefix: &str) -> bool {
        self.mounts.iter().any(|scoped| scoped.mount.prefix == prefix)
    }

    fn one_directory(&mut self, settings: &Settings, dir: &Path, origin: &str) {
        let configured = mounts::all_configured(settings);
        let mut whole = mounts::one_directory(settings, dir, &configured);
        let why = format!("{origin} selects this directory");
        let team = whole.root.join("team");
        // A directory that is mounted only in part has no team memory.
        if whole.entrypoint != EntrypointMode::Kept || !whole.only.is_empty() {
            return self.add(whole, why);
        }
        let metadata = team.symlink_metadata();
        let has_team = metadata.as_ref().map_or(settings.config.team, |meta| meta.is_dir());
        if !has_team {
            // A first write to team/ would create the folder and so turn the team memory on, with that memory listed in the
            // private entrypoint.
            let command = format!("mkdir {}", shell::quote_posix(&team.display().to_string()));
            let link = mounts::not_a_directory(&team);
            if team.is_symlink() && whole.links.roots.is_empty() && !whole.links.inside {
                // No setting allows a symbolic link here, so none is suggested.
                self.notes.push(link.clone());
                whole.ignored.push("team(/.*)?".into());
            }
            whole.closed.push(match metadata.is_ok() {
                true => ClosedFolder::new("team", &link, ReadOnlyCause::Name),
                false => ClosedFolder::new("team", NO_TEAM, ReadOnlyCause::NoTeam { command }),
            });
            return self.add(whole, why);
        }
        let inner = split_team(settings, &mut whole, &configured);
        self.add(whole, why);
        self.add(inner, if metadata.is_ok() { "the directory has a team folder" } else { "team = true in the settings" });
    }

    fn usual(&mut self, settings: &Settings, id_why: &str, repository: &RepositorySettings) -> Result<(), Failure> {
        let places = settings.places();
        let id = self.id.clone();
        for mount in settings.config.mounts.iter().filter(|mount| mount.project.as_ref().is_none_or(|project| *project == id)) {
            let mut whole = mounts::configured(settings, mount);
            let team = whole.root.join("team");
            // An adopted memory whose team folder has its own entrypoint contains a team memory. Patterns apply to names in the
            // whole mount, so a mount with patterns is not split.
            let has_no_patterns = [&whole.only, &whole.read_only, &whole.ignored].iter().all(|list| list.is_empty());
            let is_team = has_no_patterns
                && whole.entrypoint == EntrypointMode::Kept
                && !team.is_symlink()
                && team.join(memdir_core::internal::store::mounts::ENTRYPOINT_FILE).is_file();
            let why_team = match whole.prefix.as_str() {
                "" => "the directory has a team folder".to_owned(),
                prefix => format!("the mount {prefix}/ has a team folder"),
            };
            let guard = [whole.clone()];
            let inner = is_team.then(|| split_team(settings, &mut whole, &guard));
            self.add(whole, format!("[[mounts]] in {}", settings.file.display()));
            if let Some(inner) = inner {
                self.add(inner, why_team);
            }
        }
        if !self.has("") {
            self.add(places.mount("", places.project(&self.id)), id_why);
        }
        if !self.has("user") {
            self.add(places.mount("user", places.user()), "the user's memory, in all projects");
        }
        self.team(settings, repository);
        if let Some(own) = self.mounts.iter_mut().find(|scoped| scoped.mount.prefix.is_empty()) {
            let why = "an agent's memory is available only with --agent NAME";
            own.mount.closed.push(ClosedFolder::new("agent", why, ReadOnlyCause::Name));
        }
        if let Some(agent) = &settings.agent {
            let agent = Agent { name: agent.value.clone(), scope: settings.agent_scope };
            self.add(
                places.agent(&agent, &self.id, &self.project.checkout)?,
                format!("{} selects the agent", settings.agent.as_ref().map_or("", |from| from.origin)),
            );
        }
        if !self.has(mounts::CHATS)
            && let Some(mount) = mounts::chats_mount(settings)
        {
            self.add(mount, "chats are on: searches include past conversations");
        }
        for path in &settings.config.extra_paths {
            match mounts::extra(settings, path, &self.mounts_only()) {
                Ok(mount) => self.add(mount, format!("memory.extraPaths in {}", settings.file.display())),
                Err(note) => self.notes.push(note),
            }
        }
        // Last, so that a mount of the repository cannot replace a mount of the user.
        self.repository_mounts(settings, repository);
        self.inbox(settings);
        Ok(())
    }

    /// Whether the space has an inbox.
    pub(crate) fn has_inbox(&self) -> bool {
        self.mounts.iter().any(|scoped| scoped.mount.source == Source::Inbox)
    }

    /// Adds the inbox of the project, unless candidates are off. A folder of the project or another mount keeps the name.
    fn inbox(&mut self, settings: &Settings) {
        if !settings.config.inbox.on {
            return;
        }
        let own = self.mounts.iter().find(|scoped| scoped.mount.prefix.is_empty()).map(|scoped| scoped.mount.root.join(mounts::INBOX));
        let is_used = self.has(mounts::INBOX) || own.is_some_and(|folder| folder.symlink_metadata().is_ok());
        let (prefix, why) = match is_used {
            false => (mounts::INBOX, "candidates: memories proposed from what happened in conversations"),
            true => (
                mounts::OTHER_INBOX,
                "candidates: memories proposed from what happened in conversations (not named inbox/, because a folder or mount already has that name)",
            ),
        };
        if !self.has(prefix) {
            self.add(mounts::inbox_mount(settings, &self.id, prefix), why);
        }
    }

    /// Adds the team memory, if there is one.
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
        if let Some(own) = self.mounts.iter_mut().find(|scoped| scoped.mount.prefix.is_empty()) {
            // A memory for the team must not end up in a private folder of the same name.
            own.mount.closed.push(match why_not {
                Some(why) => ClosedFolder::new("team", &why, ReadOnlyCause::Explained),
                None => ClosedFolder::new("team", NO_TEAM, ReadOnlyCause::NoTeam { command: "memdir init --team".into() }),
            });
        }
    }

    /// Why this project cannot have a team memory, or `None` if it can.
    pub(crate) fn why_no_team(&self, home: &Path) -> Option<String> {
        let root = Places::team(&self.project.checkout);
        match self.project.kind {
            _ if self.project.git.is_none() => Some("a team memory requires a git repository".into()),
            ProjectKind::Bare => Some("a bare git repository cannot have a team memory; use one of its worktrees".into()),
            _ => mounts::not_team(home, &root),
        }
    }

    fn narrow(&mut self, settings: &Settings) -> Result<(), Failure> {
        if settings.only.is_empty() {
            return Ok(());
        }
        let narrowed = narrow(&self.mounts_only(), &settings.only)?;
        self.mounts = narrowed.into_iter().map(|mount| ScopedMount { mount, why: "--only".into() }).collect();
        Ok(())
    }
}

/// Narrows the mounts to the server's `--only`, and further to that of the session. A caller need not have everything that the
/// server is narrowed to, but must have what its session names.
pub(crate) fn narrowed(mounts: Vec<Mount>, server: &[MemoryPath], session: &[String]) -> Result<Vec<Mount>, Failure> {
    let session = session.iter().map(|prefix| MemoryPath::parse(prefix)).collect::<Result<Vec<_>, _>>()?;
    let requested = if session.is_empty() { mounts.clone() } else { narrow(&mounts, &session)? };
    if server.is_empty() {
        return Ok(requested);
    }
    let mut left = if session.is_empty() { server.to_vec() } else { intersect_prefixes(server, &session) };
    left.retain(|prefix| narrow(&mounts, std::slice::from_ref(prefix)).is_ok());
    if left.is_empty() && session.is_empty() {
        return Err(Failure::Usage { message: "this server serves nothing that your token gives access to".into(), hint: String::new() });
    }
    if left.is_empty() {
        return Err(Error::bad_input("Memdir-Only header", "this server serves none of the requested prefixes").into());
    }
    Ok(narrow(&mounts, &left)?)
}

/// Splits the team folder off a directory as a separate mount, since it has its own entrypoint. It has the lock that it would have
/// if it were opened alone.
fn split_team(settings: &Settings, whole: &mut Mount, configured: &[Mount]) -> Mount {
    let inner = mounts::one_directory(settings, &whole.root.join("team"), configured);
    let prefix = if whole.prefix.is_empty() { "team".into() } else { format!("{}/team", whole.prefix) };
    let inner = Mount {
        prefix,
        is_foreign: true,
        access: whole.access,
        links: whole.links.clone(),
        hidden: whole.hidden,
        read_only: whole.read_only.clone(),
        ignored: whole.ignored.clone(),
        // The directory's patterns also apply to names in the folder.
        patterns_see_prefix: true,
        ..inner
    };
    whole.ignored.push("team/.*".into());
    inner
}

fn with_ignored(mount: Mount, more: &[String]) -> Mount {
    Mount { ignored: [mount.ignored.as_slice(), more].concat(), ..mount }
}

/// The project whose memory is used, and the reason.
fn memory_id(settings: &Settings, project: &Project) -> (String, String) {
    if let Some(named) = &settings.project {
        return (named.value.clone(), format!("{} selects the project", named.origin));
    }
    match project_records::read(&settings.home.value, &project.id).and_then(|record| record.memory) {
        Some(adopted) => {
            let why = format!("{}; uses the memory of {adopted} (undo with: memdir projects adopt)", project.reason());
            (adopted, why)
        }
        None => (project.id.clone(), project.reason()),
    }
}

/// The switch that disables memory, in the order environment, settings, repository.
fn disabled_by(settings: &Settings, id: &str, repository: &RepositorySettings, project: &Project) -> Option<OffSwitch> {
    let ids: &[&str] = if settings.dir.is_none() { &[id, &project.id] } else { &[] };
    let by_repository = || {
        let holds = repository.enabled == Some(false) && !matches!(settings.disable, Some((false, _)));
        holds.then(|| OffSwitch::Repository { file: repository::file(project).display().to_string() })
    };
    switched_off(settings, ids.iter().copied()).or_else(by_repository)
}

/// The switch of the user that disables memory for these projects, if there is one.
pub(crate) fn switched_off<'a>(settings: &Settings, projects: impl IntoIterator<Item = &'a str>) -> Option<OffSwitch> {
    match &settings.disable {
        Some((true, value)) => return Some(OffSwitch::Variable(format!("MEMDIR_DISABLE={value}"))),
        Some((false, _)) => return None,
        None => {}
    }
    let file = settings.file.display().to_string();
    if settings.config.enabled == Some(false) {
        return Some(OffSwitch::Settings { file });
    }
    let mut projects = projects.into_iter();
    let disabled = projects.find(|id| settings.config.disabled_projects.iter().any(|disabled| disabled == id));
    disabled.map(|id| OffSwitch::Project { id: id.to_owned(), file })
}
