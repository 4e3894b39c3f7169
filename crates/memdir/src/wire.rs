//! What the settings mean: which directories make up the space, and the library opened over them. The only place that
//! knows both.

use crate::{
    args::SearchEmbedder,
    config::{self, EmbedderSetting, MountSetting, Settings},
    exit::Failure,
    known,
    scope::Scope,
};
use memdir_chats::{ChatArchive, READERS, Syncer};
use memdir_core::{
    base::{path::MemoryPath, time::SystemClock},
    dialects::{Dialect, Places},
    memdir::Memdir,
    search::{Searcher, embed::Embedder, index::Index},
    secrets::{self, Allow},
    store::{
        Access, Actor, Entrypoint, MountInfo, Source, Store,
        files::{Links, Mount, Vault, journal_name, real_path},
    },
};
use memdir_embed::{ApiKey, Endpoint, Protocol, StaticModel};
use memdir_index::TantivyIndex;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// A space that is open, and what is said about its opening.
pub(crate) struct Opened {
    pub(crate) memdir: Memdir,
    pub(crate) notes: Vec<String>,
}

/// Opens the space that is in force.
pub(crate) fn open(settings: &Settings, scope: &Scope) -> Result<Opened, Failure> {
    open_these(settings, scope, &scope.plain_mounts())
}

/// The same for one command: in a home that is not there only what is written is made, so that looking leaves nothing behind.
pub(crate) fn open_late(settings: &Settings, scope: &Scope) -> Result<Opened, Failure> {
    let home = &settings.home.value;
    let late = |mount: Mount| Mount { late: mount.root.starts_with(home) && !home.is_dir(), ..mount };
    open_these(settings, scope, &scope.plain_mounts().into_iter().map(late).collect::<Vec<_>>())
}

fn open_these(settings: &Settings, scope: &Scope, mounts: &[Mount]) -> Result<Opened, Failure> {
    scope.must_be_on()?;
    if settings.dir.is_none() {
        known::note(&settings.home.value, &scope.project);
    }
    let vault = Vault::open(mounts).map_err(|error| refused(settings, error))?;
    let notes = vault.troubles().into_iter().map(|trouble| trouble.what);
    let notes = scope.notes.iter().cloned().chain(notes).collect();
    Ok(Opened { memdir: over(vault, settings, &settings.actor.value)?, notes })
}

/// Opens just these mounts, for somebody else.
pub(crate) fn open_mounts(settings: &Settings, mounts: &[Mount], actor: &str) -> Result<Memdir, Failure> {
    over(Vault::open(mounts).map_err(|error| refused(settings, error))?, settings, actor)
}

fn over(vault: Vault, settings: &Settings, actor: &str) -> Result<Memdir, Failure> {
    let actor = Actor { name: actor.to_owned(), session: None };
    let allow = Allow::new(&settings.config.allow_rules, &settings.config.allow).map_err(|why| Failure::Settings {
        message: format!("{}: secrets: {why}", settings.file.display()),
        hint: "Mend that setting; a refusal names its rule.".into(),
    })?;
    Ok(Memdir::new(Arc::new(vault), actor).allowing(allow))
}

/// The same space, which can be searched. Opens nothing before the first search.
pub(crate) fn with_search(memdir: Memdir, settings: &Settings) -> Result<Memdir, Failure> {
    let searcher = searcher(&memdir, settings, None)?;
    Ok(with_chats(memdir, settings).with_searcher(searcher.watching()))
}

/// The same space, which is searched once or twice: nothing is kept that only a long life pays back.
pub(crate) fn with_search_once(memdir: Memdir, settings: &Settings, embedder: Option<SearchEmbedder>) -> Result<Memdir, Failure> {
    let searcher = searcher(&memdir, settings, embedder)?;
    Ok(with_chats(memdir, settings).with_searcher(searcher))
}

/// The same, without a word to anybody: where an endpoint understands meaning, words alone are looked for. What the endpoint
/// has said before stays for others.
pub(crate) fn with_search_offline(memdir: Memdir, settings: &Settings) -> Result<Memdir, Failure> {
    let embedder = match settings.config.search.embedder {
        EmbedderSetting::OpenAi | EmbedderSetting::Ollama => Some(SearchEmbedder::None),
        EmbedderSetting::Builtin | EmbedderSetting::None => None,
    };
    with_search_once(memdir, settings, embedder)
}

/// The same space, in which a search first takes in what was said since, if it has chats.
fn with_chats(memdir: Memdir, settings: &Settings) -> Memdir {
    if memdir.store().mounts().iter().any(|mount| mount.apart) {
        memdir.with_chats(Arc::new(syncer(settings)))
    } else if !settings.config.chats.settings.on {
        memdir
    } else if keep(settings).dir().is_dir() {
        memdir.without_chats("chats are on, but not part of this space; the search without --dir, MEMDIR_DIR and --only has them")
    } else {
        memdir.without_chats("no chat was taken in yet; memdir chats sync does")
    }
}

fn searcher(memdir: &Memdir, settings: &Settings, embedder: Option<SearchEmbedder>) -> Result<Searcher, Failure> {
    let embedder = match embedder {
        Some(SearchEmbedder::None) => None,
        Some(SearchEmbedder::Builtin) => Some(Arc::new(StaticModel::new()) as Arc<dyn Embedder>),
        None => configured_embedder(settings)?,
    };
    Ok(searcher_in(memdir.store(), &settings.cache, embedder))
}

/// A searcher with its indexes below a cache directory.
pub(crate) fn searcher_in(store: &dyn Store, cache: &Path, embedder: Option<Arc<dyn Embedder>>) -> Searcher {
    let of_mount = |info: &MountInfo| -> Arc<dyn Index> { Arc::new(index(cache, info, embedder.as_deref())) };
    Searcher::new(store, embedder.clone(), Arc::new(SystemClock), of_mount).with_chat_locator(memdir_chats::chat_place)
}

/// Who understands meaning, by the settings.
fn configured_embedder(settings: &Settings) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    let search = &settings.config.search;
    let protocol = match search.embedder {
        EmbedderSetting::None => return Ok(None),
        EmbedderSetting::Builtin => return Ok(Some(Arc::new(StaticModel::new()))),
        EmbedderSetting::OpenAi => Protocol::OpenAi,
        EmbedderSetting::Ollama => Protocol::Ollama,
    };
    let mut endpoint = memdir_embed::Settings::new(protocol, &search.url, &search.model, search.dimensions);
    endpoint.query_prefix = search.query_prefix.clone();
    endpoint.passage_prefix = search.passage_prefix.clone();
    if let Some(file) = &search.key_file {
        let key = std::fs::read_to_string(file).map_err(|source| Failure::File { doing: "read the key in", path: file.clone(), source })?;
        endpoint.key = Some(ApiKey::new(&key));
    }
    let endpoint = Endpoint::new(endpoint).map_err(|error| refused(settings, error))?;
    Ok(Some(Arc::new(endpoint)))
}

/// Where the index of a mount is, and whose vectors it has.
fn index(cache: &Path, info: &MountInfo, embedder: Option<&dyn Embedder>) -> TantivyIndex {
    let identity = embedder.map(|embedder| (embedder.id().clone(), embedder.dim()));
    TantivyIndex::of_mount(cache, &info.root, &info.rules, identity)
}

/// The prefix of kept chats.
pub(crate) const CHATS: &str = "chats";

/// Where past conversations are kept.
pub(crate) fn keep(settings: &Settings) -> ChatArchive {
    ChatArchive::new(settings.home.value.join("chats"))
}

/// Kept chats as a mount that is searched, if they are on: read-only, apart from the memories, one folder per host.
pub(crate) fn chats_mount(settings: &Settings) -> Option<Mount> {
    kept_mount(settings).filter(|_| settings.config.chats.settings.on)
}

fn kept_mount(settings: &Settings) -> Option<Mount> {
    let keep = keep(settings);
    let is_there = keep.dir().is_dir();
    let only: Vec<String> = READERS.iter().map(|host| format!("{host}/*.md")).collect();
    is_there.then(|| Mount {
        access: Access::ReadOnly,
        source: Source::Chat,
        entrypoint: Entrypoint::Off,
        apart: true,
        only,
        ..served(settings, CHATS, keep.dir().to_owned())
    })
}

/// What takes in new conversations.
pub(crate) fn syncer(settings: &Settings) -> Syncer {
    let chats = &settings.config.chats;
    Syncer {
        sources: memdir_chats::open_sources(&config::chat_roots(&chats.folders)),
        archive: keep(settings),
        settings: chats.settings.clone(),
        redact: Box::new(secrets::mask_all),
        clock: Arc::new(SystemClock),
    }
}

/// Kept chats alone, which can be searched, and where their index is; nothing while they are off.
pub(crate) fn open_chats(settings: &Settings) -> Result<Option<(Memdir, PathBuf)>, Failure> {
    if settings.config.chats.settings.on { open_kept(settings) } else { Ok(None) }
}

/// The same whether they are on or off: what was kept while they were on stays until it is forgotten.
pub(crate) fn open_kept(settings: &Settings) -> Result<Option<(Memdir, PathBuf)>, Failure> {
    let Some(mount) = kept_mount(settings) else { return Ok(None) };
    let vault = Vault::open(&[mount]).map_err(|error| refused(settings, error))?;
    let actor = Actor { name: settings.actor.value.clone(), session: None };
    let memdir = with_search_once(Memdir::new(Arc::new(vault), actor), settings, None)?;
    let root = memdir.store().mounts().first().map(|info| index(&settings.cache, info, None).root().to_owned());
    Ok(Some((memdir, root.unwrap_or_default())))
}

/// Opens a dialect's directories: its own, or the one that was asked for.
pub(crate) fn open_dialect(settings: &Settings, scope: &Scope, dialect: &Dialect) -> Result<(Memdir, PathBuf), Failure> {
    scope.must_be_on()?;
    let home = config::person_home().unwrap_or_else(|| settings.home.value.clone());
    let extra = scope.plain_mounts().into_iter().filter(|mount| mount.source != Source::Memory).collect();
    let places = Places {
        dir: settings.dir.as_ref().map(|dir| dir.value.as_path()),
        home: &home,
        cwd: &settings.cwd,
        project: &scope.project.checkout,
        path_var: &|key| config::path_variable(key, &settings.cwd).map_err(|why| memdir_core::base::error::Error::bad_input(key, why)),
        read: &|path| std::fs::read_to_string(path).ok(),
        journal: &|root| journal(settings, root),
        extra,
    };
    let space = (dialect.space)(&places).map_err(|error| refused(settings, error))?;
    Ok((with_search(open_mounts(settings, &space.mounts, &settings.actor.value)?, settings)?, space.root))
}

/// Opens one directory with its journal, whatever the settings say: for the demo and the benches.
pub(crate) fn open_plain(root: &Path, home: &Path, actor: &str) -> Result<Memdir, Failure> {
    let mount = Mount::new("", root, home.join("journal").join(journal_name(root)));
    let vault = Vault::open(&[mount])?;
    Ok(Memdir::new(Arc::new(vault), Actor { name: actor.to_owned(), session: None }))
}

/// Whether a repository's `.memdir` is its team memory.
pub(crate) fn is_team(home: &Path, team: &Path) -> bool {
    team.is_dir() && not_team(home, team).is_none()
}

/// Why a repository's `.memdir` can be no team memory, if it cannot: it is a directory of its own or not there yet, never a
/// link to somewhere else, and not memdir's home in a repository of a whole home directory.
pub(crate) fn not_team(home: &Path, team: &Path) -> Option<String> {
    let shown = team.display();
    match team.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => Some(format!("{shown} is a link and is left out: a team memory is a directory of its own")),
        Ok(meta) if !meta.is_dir() => Some(format!("{shown} is no directory, so it is no team memory")),
        _ if real_path(home).starts_with(real_path(team)) => {
            Some(format!("{shown} holds everything memdir keeps, so it is no team memory"))
        }
        _ => None,
    }
}

fn served(settings: &Settings, prefix: &str, root: PathBuf) -> Mount {
    let journal = journal(settings, &root);
    Mount::new(prefix, root, journal)
}

fn journal(settings: &Settings, root: &Path) -> PathBuf {
    settings.home.value.join("journal").join(journal_name(root))
}

pub(crate) fn configured(settings: &Settings, mount: &MountSetting) -> Mount {
    let journal = mount.journal.clone().unwrap_or_else(|| journal(settings, &mount.path));
    Mount {
        access: mount.access,
        source: mount.source,
        entrypoint: if mount.entrypoint { Entrypoint::Kept } else { Entrypoint::Off },
        links: Links { inside: mount.follow_links, roots: mount.link_roots.clone(), fixed: false },
        hidden: mount.hidden,
        read_only: mount.read_only.clone(),
        ignored: mount.ignored.clone(),
        only: mount.only.clone(),
        ..Mount::new(&mount.name, mount.path.clone(), journal)
    }
}

/// A directory that is the whole memory. If it is a configured mount it keeps that mount's rules and journal; if it
/// lies inside one, or inside one of memdir's own, it is guarded by that one's lock.
pub(crate) fn one_directory(settings: &Settings, dir: &Path, configured: &[Mount]) -> Mount {
    let real = real_path(dir);
    if let Some(mount) = configured.iter().find(|mount| real_path(&mount.root) == real) {
        return Mount { prefix: String::new(), ..mount.clone() };
    }
    let home = real_path(&settings.home.value);
    let projects = home.join("projects");
    let project = real.strip_prefix(&projects).ok().and_then(|rest| rest.components().next()).map(|name| projects.join(name));
    let team = real.ancestors().find(|above| above.file_name().is_some_and(|name| name == ".memdir") && is_team(&home, above));
    let guards =
        configured.iter().map(|mount| real_path(&mount.root)).chain([home.join("user")]).chain(project).chain(team.map(Path::to_owned));
    let lock = guards.filter(|guard| real.starts_with(guard) && real != *guard).max_by_key(|guard| guard.as_os_str().len());
    let ignored = if team == Some(&real) { settings.places().team_mount(real.clone()).ignored } else { Vec::new() };
    Mount { lock, ignored, ..served(settings, "", dir.to_owned()) }
}

/// A path of `memory.extraPaths` as a read-only mount: a directory, one file of its directory, or what a glob matches.
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
        return Err(format!("memory.extraPaths: {} does not exist", path.display()));
    };
    let named = if path.is_file() { path.file_stem() } else { root.file_name() };
    let prefix = free_name(&named.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(), others);
    Ok(Mount { access: Access::ReadOnly, source: Source::Custom, entrypoint: Entrypoint::Off, only, ..served(settings, &prefix, root) })
}

/// A mount's name made of a file's: valid, and not taken.
fn free_name(wanted: &str, others: &[Mount]) -> String {
    let wanted = wanted.trim_matches(['.', ' ']);
    let wanted = if MemoryPath::parse(wanted).is_ok() && !wanted.contains('/') { wanted } else { "extra" };
    let taken = |name: &str| others.iter().any(|mount| mount.prefix == name);
    let numbered = (2..).map(|n| format!("{wanted}-{n}"));
    std::iter::once(wanted.to_owned()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
}

fn escape(name: &str) -> String {
    name.chars()
        .flat_map(|c| if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!') { vec!['[', c, ']'] } else { vec![c] })
        .collect()
}

/// What the library refuses about mounts is a matter of the settings.
fn refused(settings: &Settings, error: memdir_core::base::error::Error) -> Failure {
    let hint = format!("The settings are in {}; memdir config shows those in force.", settings.file.display());
    match error {
        memdir_core::base::error::Error::BadInput { .. } => Failure::Settings { message: error.to_string(), hint },
        other => Failure::Core { error: other },
    }
}
