//! Builds mounts from settings: the directories of memories, with their access, rules, locks and journals. Opens nothing.

use crate::config::{self, MountSetting, RepositorySettings, Settings};
use memdir_chats::{ChatArchive, READERS};
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    Access, EntrypointMode, Links, MemoryPath, Mount, Source,
    internal::{
        base::glob::escape,
        store::{mount::real_path, space::Places},
    },
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Bytes of a candidate's file: the proposed text, the person's words and the citations, each with its own limit.
const CANDIDATE_BYTES: usize = 64 << 10;

/// The prefix of kept conversations.
pub(crate) const CHATS: &str = "chats";

/// The prefix of candidates, and of candidates in a space with another folder or mount of that name.
pub(crate) const INBOX: &str = "inbox";
pub(crate) const OTHER_INBOX: &str = "memdir-inbox";

/// The store of kept conversations.
pub(crate) fn chat_archive(settings: &Settings) -> ChatArchive {
    ChatArchive::new(settings.home.value.join("chats"))
}

/// The mount of kept conversations if they are on: read-only, apart from the memories, one folder per host.
pub(crate) fn chats_mount(settings: &Settings) -> Option<Mount> {
    kept_mount(settings).filter(|_| settings.config.chats.settings.on)
}

/// The mount of kept conversations, whether they are on or off; `None` if the directory does not exist.
pub(crate) fn kept_mount(settings: &Settings) -> Option<Mount> {
    let keep = chat_archive(settings);
    let exists = keep.dir().is_dir();
    let only: Vec<String> = READERS.iter().map(|host| format!("{host}/*.md")).collect();
    exists.then(|| Mount {
        access: Access::ReadOnly,
        source: Source::Chat,
        entrypoint: EntrypointMode::Off,
        apart: true,
        only,
        ..settings.places().mount(CHATS, keep.dir().to_owned())
    })
}

/// The mount of a project's candidates: apart from the memories, without an entrypoint, and created by the first candidate.
pub(crate) fn inbox_mount(settings: &Settings, project: &str, prefix: &str) -> Mount {
    let root = settings.places().inboxes().join(project).join("candidates");
    Mount {
        source: Source::Inbox,
        entrypoint: EntrypointMode::Off,
        apart: true,
        late: true,
        file_bytes: CANDIDATE_BYTES,
        ..settings.places().mount(prefix, root)
    }
}

/// The inboxes of all projects, each as a mount of its own.
pub(crate) fn all_inboxes(settings: &Settings) -> Vec<Mount> {
    let entries = fs::read_dir(settings.places().inboxes()).into_iter().flatten().flatten();
    let mut projects: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    projects.shared_sort();
    let mounts = projects.iter().map(|project| Mount { apart: false, ..inbox_mount(settings, project, "") });
    mounts.filter(|mount| mount.root.is_dir()).collect()
}

/// Whether a repository's `.memdir` is its team memory.
pub(crate) fn is_team(home: &Path, team: &Path) -> bool {
    team.is_dir() && not_team(home, team).is_none()
}

/// Why a repository's `.memdir` cannot be a team memory, or `None` if it can. It must be missing or a directory, not a symbolic
/// link, and not contain memdir's home, as it does in a repository of a whole home directory.
pub(crate) fn not_team(home: &Path, team: &Path) -> Option<String> {
    let shown = team.display();
    match team.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => Some(format!("{shown} is a symbolic link; a team memory must be a directory")),
        Ok(meta) if !meta.is_dir() => Some(not_a_directory(team)),
        _ if real_path(home) == real_path(team) => Some(format!("{shown} is the memdir home directory, so it cannot be a team memory")),
        _ if real_path(home).starts_with(real_path(team)) => {
            Some(format!("{shown} contains the memdir home directory, so it cannot be a team memory"))
        }
        _ => None,
    }
}

/// Why a symbolic link or a file cannot be a team memory.
pub(crate) fn not_a_directory(team: &Path) -> String {
    let what = if team.is_symlink() { "a symbolic link" } else { "not a directory" };
    format!("{} is {what}, so it cannot be a team memory", team.display())
}

/// The mounts of all `[[mounts]]` entries.
pub(crate) fn all_configured(settings: &Settings) -> Vec<Mount> {
    settings.config.mounts.iter().map(|mount| configured(settings, mount)).collect()
}

/// The mount of one `[[mounts]]` entry.
pub(crate) fn configured(settings: &Settings, mount: &MountSetting) -> Mount {
    let journal = mount.journal.clone().unwrap_or_else(|| settings.places().journal(&mount.path));
    Mount {
        access: mount.access,
        source: mount.source,
        entrypoint: if mount.entrypoint { EntrypointMode::Kept } else { EntrypointMode::Off },
        links: Links { inside: mount.follow_links, roots: mount.link_roots.clone(), fixed: false },
        hidden: mount.hidden,
        read_only: mount.read_only.clone(),
        ignored: mount.ignored.clone(),
        only: mount.only.clone(),
        ..Mount::new(&mount.name, mount.path.clone(), journal)
    }
}

/// The mount of a directory that is the whole memory. A configured mount keeps its rules and journal; a directory inside one, or
/// inside a team memory, has the rules of the outer one, and the lock of the outer one or of memdir's own directory around it.
pub(crate) fn one_directory(settings: &Settings, dir: &Path, configured: &[Mount]) -> Mount {
    let real = real_path(dir);
    if let Some(mount) = configured.iter().find(|mount| real_path(&mount.root) == real) {
        return Mount { prefix: String::new(), ..mount.clone() };
    }
    let home = real_path(&settings.home.value);
    let places = Places::new(&home);
    let projects = places.projects();
    let project = real.strip_prefix(&projects).ok().and_then(|rest| rest.components().next()).map(|name| projects.join(name));
    let team =
        real.ancestors().find(|above| above.parent().is_some_and(|checkout| Places::team(checkout) == *above) && is_team(&home, above));
    let configured = configured.iter().map(|mount| (real_path(&mount.root), Some(mount)));
    let own = [Some(places.user()), project, team.map(Path::to_owned)].into_iter().flatten().map(|root| (root, None));
    let around = configured.chain(own).filter(|(root, _)| real.starts_with(root)).max_by_key(|(root, _)| root.as_os_str().len());
    let Some((root, outer)) = around else { return settings.places().mount("", dir.to_owned()) };
    let outer = match outer {
        Some(mount) => mount.clone(),
        None if team == Some(&root) => team_mount(settings, &root),
        None => settings.places().mount("", root.clone()),
    };
    match real.strip_prefix(&root).ok().filter(|rel| !rel.as_os_str().is_empty()) {
        // The folder was selected by a person, so it is not a part of the repository's memory.
        Some(rel) => {
            let inner = outer.within(&rel.to_string_lossy(), dir, settings.places().journal(dir));
            Mount { links: Links { fixed: false, ..inner.links.clone() }, ..inner }
        }
        None => Mount {
            ignored: outer.ignored,
            read_only: outer.read_only,
            shared: outer.shared,
            ..settings.places().mount("", dir.to_owned())
        },
    }
}

/// The mount of a team memory with the settings of its repository.
fn team_mount(settings: &Settings, root: &Path) -> Mount {
    let mount = settings.places().team_mount(root.to_owned());
    // Their problems are reported where the repository is the project.
    let repository = RepositorySettings::load(&root.join("config.toml"), &mut Vec::new());
    Mount { ignored: [mount.ignored.as_slice(), &repository.ignored].concat(), read_only: repository.read_only, ..mount }
}

/// The mount of a directory that a dialect serves. The settings of a configured mount apply to it, except for those that say how
/// memdir's own tools use the directory: its name, access, source, entrypoint, hidden folders and globs.
pub(crate) fn for_dialect(settings: &Settings, dir: &Path) -> Mount {
    let found = one_directory(settings, dir, &all_configured(settings));
    Mount {
        root: dir.to_owned(),
        access: Access::ReadWrite,
        source: Source::Memory,
        entrypoint: EntrypointMode::Off,
        hidden: false,
        only: Vec::new(),
        // What stays inside the directory is part of it in every system that a dialect reproduces.
        links: Links { inside: true, ..found.links.clone() },
        ..found
    }
}

/// The read-only mount of a path in `memory.extraPaths`: a directory, a single file, or the matches of a glob.
pub(crate) fn extra(settings: &Settings, path: &Path, others: &[Mount]) -> Result<Mount, String> {
    let is_glob = |part: &Path| part.to_str().is_some_and(|part| part.contains(['*', '?', '[', '{']));
    if let Some(why) = config::covers_home(path).filter(|_| path.is_dir()) {
        return Err(format!("memory.extraPaths: {why}"));
    }
    let (root, only) = if path.is_dir() {
        (path.to_owned(), Vec::new())
    } else if path.is_file() {
        let name = path.file_name().map(|name| escape(&name.to_string_lossy())).unwrap_or_default();
        (path.parent().unwrap_or(path).to_owned(), vec![name])
    } else if is_glob(path) {
        let base: PathBuf = path.components().take_while(|part| !is_glob(part.as_ref())).collect();
        let rest = path.strip_prefix(&base).map(|rest| rest.to_string_lossy().into_owned()).unwrap_or_default();
        (base, vec![rest])
    } else {
        return Err(format!("memory.extraPaths: {} does not exist; correct the setting with: memdir config edit", path.display()));
    };
    let named = if path.is_file() { path.file_stem() } else { root.file_name() };
    let prefix = unused_prefix(&named.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(), others);
    Ok(Mount {
        access: Access::ReadOnly,
        source: Source::Custom,
        entrypoint: EntrypointMode::Off,
        only,
        ..settings.places().mount(&prefix, root)
    })
}

/// A valid prefix made from a file name, with a number if another mount has it already.
fn unused_prefix(wanted: &str, others: &[Mount]) -> String {
    let wanted = wanted.trim_matches(['.', ' ']);
    let wanted = if MemoryPath::parse(wanted).is_ok() && !wanted.contains('/') { wanted } else { "extra" };
    let is_used = |name: &str| others.iter().any(|mount| mount.prefix == name);
    let numbered = (2..).map(|n| format!("{wanted}-{n}"));
    std::iter::once(wanted.to_owned()).chain(numbered).find(|name| !is_used(name)).unwrap_or_default()
}
