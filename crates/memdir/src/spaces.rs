//! Opens the spaces that settings describe: the mounts with their search index, embedder and conversations.

use crate::{
    args::SearchEmbedder,
    config::{self, EmbedderSetting, Settings},
    dreams,
    exit::Failure,
    loads,
    mounts::{self, kept_mount},
    namespace_indexes, project_records,
    scope::{Scope, narrowed},
};
use memdir_chats::{SearchedProject, SyncMemo, Syncer};
use memdir_core::{
    Access, Actor, CueProposals, Embedder, Error, FileStore, Index, IndexPool, Memdir, MemoryPath, Mount, MountInfo, NoChats, Searcher,
    Source, Store, SystemClock,
    internal::{
        dialects::{Dialect, DialectPlaces},
        operations::ledger::UseLedger,
        project, secrets,
        store::space::{Places, narrow},
    },
};
use memdir_embed::{ApiKey, Endpoint, Protocol, StaticModel};
use memdir_index::TantivyIndex;
use memdir_postgres::{Database, KnownCaller, NamespaceMount, PostgresStore};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

pub(crate) use crate::mounts::chat_archive;

/// An open space, and notes about how it was opened.
pub(crate) struct SpaceWithNotes {
    pub(crate) memdir: Memdir,
    pub(crate) notes: Vec<String>,
}

/// Opens the space of a scope.
pub(crate) fn open(settings: &Settings, scope: &Scope) -> Result<SpaceWithNotes, Failure> {
    open_with(settings, scope, &scope.mounts_only())
}

/// Opens the space of a scope for one command. Only a write creates its directories, so that reading leaves nothing behind: not even
/// the directory of a mistyped variable.
pub(crate) fn open_lazy(settings: &Settings, scope: &Scope) -> Result<SpaceWithNotes, Failure> {
    let late = |mount: Mount| Mount { late: mount.late || mount.access == Access::ReadWrite, ..mount };
    open_with(settings, scope, &scope.mounts_only().into_iter().map(late).collect::<Vec<_>>())
}

fn open_with(settings: &Settings, scope: &Scope, mounts: &[Mount]) -> Result<SpaceWithNotes, Failure> {
    scope.must_be_on()?;
    if settings.dir.is_none() {
        project_records::note(&settings.home.value, &scope.project);
    }
    let store = FileStore::open(mounts).map_err(|error| settings_error(settings, error))?;
    let notes = store.problems().into_iter().map(|trouble| trouble.what);
    let notes = scope.notes.iter().cloned().chain(notes).collect();
    Ok(SpaceWithNotes { memdir: memdir_on(store, settings, &settings.actor.value)?, notes })
}

/// Opens these mounts for another actor.
pub(crate) fn open_mounts(settings: &Settings, mounts: &[Mount], actor: &str) -> Result<Memdir, Failure> {
    memdir_on(FileStore::open(mounts).map_err(|error| settings_error(settings, error))?, settings, actor)
}

fn memdir_on(store: FileStore, settings: &Settings, actor: &str) -> Result<Memdir, Failure> {
    let actor = Actor { name: actor.to_owned(), session: None };
    let allow = config::secret_exceptions(&settings.file, &settings.config)?;
    let (shelf, setting) = (dreams::shelf_of(settings, &store), settings.config.dream.clone());
    let store = Arc::new(store);
    let memdir = Memdir::new(store.clone(), actor).with_allow_list(allow);
    let memdir = memdir.with_dreams(move |now| dreams::summary(&shelf, &setting, &*store, now));
    let counts = settings.config.count_use != Some(false);
    Ok(if counts { memdir.with_ledger(UseLedger::new(settings.home.value.join("uses"))) } else { memdir })
}

/// Opens namespaces of a team server for one caller, with search on this replica. Makes no request.
pub(crate) fn open_namespaces(
    settings: &Settings,
    (database, pool): (&Database, &Arc<IndexPool>),
    tenant: &str,
    mounts: &[NamespaceMount],
    (actor, caller): (Actor, Option<Arc<KnownCaller>>),
) -> Result<Memdir, Failure> {
    let allow = config::secret_exceptions(&settings.file, &settings.config)?;
    let store = PostgresStore::open(database, tenant, mounts)?;
    let store = match caller {
        Some(caller) => store.for_caller(caller),
        None => store,
    };
    let embedder = embedder_from(settings)?;
    let of_mount = |info: &MountInfo| -> Arc<dyn Index> {
        let index = index(&settings.cache, info, embedder.as_deref());
        if let Some(mount) = mounts.iter().find(|mount| mount.mount.prefix == info.prefix) {
            // Without a record, the index stays until the cache is deleted.
            let _ = namespace_indexes::record(&settings.cache, index.root(), tenant, &mount.namespace);
        }
        Arc::new(index)
    };
    let searcher = Searcher::pooled(&store, embedder.clone(), Arc::new(SystemClock), pool, of_mount).watching();
    Ok(Memdir::new(Arc::new(store), actor).with_allow_list(allow).with_searcher(searcher).with_recall_pool(pool))
}

/// Adds search for a long-lived process. Opens nothing before the first search.
pub(crate) fn with_search(memdir: Memdir, settings: &Settings) -> Result<Memdir, Failure> {
    let searcher = searcher(&memdir, settings, None)?.watching();
    Ok(with_chats(memdir, settings, searcher))
}

/// Adds search for a process that searches once or twice: without the caches that only a long-lived process profits from.
pub(crate) fn with_search_once(memdir: Memdir, settings: &Settings, embedder: Option<SearchEmbedder>) -> Result<Memdir, Failure> {
    let searcher = searcher(&memdir, settings, embedder)?;
    Ok(with_chats(memdir, settings, searcher))
}

/// Adds a searcher, and makes searches import new conversations first and select those of the project, if the space has
/// conversations.
fn with_chats(memdir: Memdir, settings: &Settings, searcher: Searcher) -> Memdir {
    if memdir.store().mounts().iter().any(|mount| mount.source == Source::Chat) {
        let worktrees = settings.config.worktrees;
        let project = project::find(&settings.cwd, worktrees).ok().map(|project| SearchedProject { project, worktrees });
        let syncer = Arc::new(Syncer { project, ..syncer(settings) });
        return memdir.with_searcher(searcher.with_chat_filter(syncer.clone())).with_chats(syncer);
    }
    let memdir = memdir.with_searcher(searcher);
    let narrowed_by = settings.dir.as_ref().map(|dir| dir.origin).or_else(|| (!settings.only.is_empty()).then_some("--only"));
    if !settings.config.chats.settings.on {
        memdir
    } else if chat_archive(settings).dir().is_dir()
        && let Some(origin) = narrowed_by
    {
        memdir.without_chats(NoChats::ExcludedBy(origin))
    } else if chat_archive(settings).dir().is_dir() {
        memdir.without_chats(NoChats::NotIncluded)
    } else {
        memdir.without_chats(NoChats::NothingImported)
    }
}

fn searcher(memdir: &Memdir, settings: &Settings, embedder: Option<SearchEmbedder>) -> Result<Searcher, Failure> {
    let embedder = match embedder {
        Some(SearchEmbedder::None) => None,
        Some(SearchEmbedder::Builtin) => Some(Arc::new(StaticModel::new()) as Arc<dyn Embedder>),
        None => embedder_from(settings)?,
    };
    Ok(searcher_in(memdir.store(), &settings.cache, embedder))
}

/// A searcher with its indexes below a cache directory.
pub(crate) fn searcher_in(store: &dyn Store, cache: &Path, embedder: Option<Arc<dyn Embedder>>) -> Searcher {
    let of_mount = |info: &MountInfo| -> Arc<dyn Index> { Arc::new(index(cache, info, embedder.as_deref())) };
    Searcher::new(store, embedder.clone(), Arc::new(SystemClock), of_mount).with_chat_locator(memdir_chats::chat_place)
}

/// The embedder of the settings, or `None` for lexical search only.
fn embedder_from(settings: &Settings) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    let search = &settings.config.search;
    let protocol = match search.embedder {
        EmbedderSetting::None => return Ok(None),
        EmbedderSetting::Builtin => return Ok(Some(Arc::new(StaticModel::new()))),
        EmbedderSetting::OpenAi => Protocol::OpenAi,
        EmbedderSetting::Ollama => Protocol::Ollama,
    };
    let mut endpoint = memdir_embed::EndpointSettings::new(protocol, &search.url, &search.model, search.dimensions);
    endpoint.query_prefix = search.query_prefix.clone();
    endpoint.passage_prefix = search.passage_prefix.clone();
    if let Some(file) = &search.key_file {
        let key =
            std::fs::read_to_string(file).map_err(|source| Failure::File { doing: "read the API key from", path: file.clone(), source })?;
        endpoint.key = Some(ApiKey::new(&key));
    }
    let endpoint = Endpoint::new(endpoint).map_err(|error| settings_error(settings, error))?;
    Ok(Some(Arc::new(endpoint)))
}

/// The index of a mount, with the vectors of an embedder.
fn index(cache: &Path, info: &MountInfo, embedder: Option<&dyn Embedder>) -> TantivyIndex {
    let identity = embedder.map(|embedder| (embedder.id().clone(), embedder.dim()));
    TantivyIndex::for_mount(cache, &info.root, &info.rules, identity)
}

/// The importer of new conversations.
pub(crate) fn syncer(settings: &Settings) -> Syncer {
    let chats = &settings.config.chats;
    Syncer {
        sources: memdir_chats::open_sources(&config::chat_roots(&chats.folders)),
        archive: chat_archive(settings),
        settings: chats.settings.clone(),
        redact: Box::new(secrets::redact_strict),
        clock: Arc::new(SystemClock),
        project: None,
        memo: SyncMemo::default(),
    }
}

/// Opens only the kept conversations, with search; also returns the directory of their index. `None` while they are off.
pub(crate) fn open_chats(settings: &Settings) -> Result<Option<(Memdir, PathBuf)>, Failure> {
    if settings.config.chats.settings.on { open_archived_chats(settings) } else { Ok(None) }
}

/// Like [`open_chats`], but works even while conversations are off: those that were kept stay until they are forgotten.
pub(crate) fn open_archived_chats(settings: &Settings) -> Result<Option<(Memdir, PathBuf)>, Failure> {
    let Some(mount) = kept_mount(settings) else { return Ok(None) };
    let store = FileStore::open(&[mount]).map_err(|error| settings_error(settings, error))?;
    let actor = Actor { name: settings.actor.value.clone(), session: None };
    let memdir = with_search_once(Memdir::new(Arc::new(store), actor), settings, None)?;
    let root = memdir.store().mounts().first().map(|info| index(&settings.cache, info, None).root().to_owned());
    Ok(Some((memdir, root.unwrap_or_default())))
}

/// Opens a dialect's directory: `--dir`, or the one the other system uses. It is narrowed to `--only`, and further to the names of
/// a session, if there are any.
pub(crate) fn open_dialect(
    settings: &Settings,
    scope: &Scope,
    dialect: &Dialect,
    session: &[String],
) -> Result<(Memdir, PathBuf), Failure> {
    scope.must_be_on()?;
    // The names of `--only` are those of the dialect, so its mounts are narrowed and not those of the scope.
    let whole = if settings.only.is_empty() { None } else { Some(Scope::whole(settings)?) };
    let scope = whole.as_ref().unwrap_or(scope);
    let home = config::user_home_dir().unwrap_or_else(|| settings.home.value.clone());
    let extra = scope.mounts_only().into_iter().filter(|mount| !matches!(mount.source, Source::Memory | Source::Inbox)).collect();
    let places = DialectPlaces {
        dir: settings.dir.as_ref().map(|dir| dir.value.as_path()),
        home: &home,
        cwd: &settings.cwd,
        project: &scope.project.checkout,
        path_var: &|key| config::path_variable(key, &settings.cwd).map_err(|why| Error::bad_input(key, why)),
        read: &|path| std::fs::read_to_string(path).ok(),
        mount: &|root| mounts::for_dialect(settings, root),
        extra,
    };
    let space = (dialect.space)(&places).map_err(|error| settings_error(settings, error))?;
    space.check_names("--only", &settings.only)?;
    let requested = session.iter().map(|name| MemoryPath::parse(name)).collect::<Result<Vec<_>, _>>()?;
    space.check_names("Memdir-Only header", &requested)?;
    let served = if settings.only.is_empty() { space.mounts.clone() } else { narrow(&space.mounts, &settings.only)? };
    let mounts = if session.is_empty() { served } else { narrowed(space.mounts, &settings.only, session)? };
    let memdir = open_mounts(settings, &mounts, &settings.actor.value)?;
    let (shelf, setting) =
        (dreams::shelf_of(settings, memdir.store()), dreams::setting_of_daemon(&settings.config.dream, &space.root, &settings.cwd));
    let store = memdir.shared_store();
    let memdir = memdir.with_dreams(move |now| dreams::summary(&shelf, &setting, &*store, now));
    Ok((with_search(memdir, settings)?, space.root))
}

/// The proposed cues of a space, kept in memdir's home.
pub(crate) fn cue_proposals(settings: &Settings, store: &dyn Store) -> CueProposals {
    CueProposals::new(settings.home.value.join("cues").join(format!("{}.jsonl", loads::space(store))))
}

/// The embedder of the settings if it is built in. A plan never makes a network call.
pub(crate) fn instant_embedder(settings: &Settings) -> Option<Arc<dyn Embedder>> {
    (settings.config.search.embedder == EmbedderSetting::Builtin).then(|| Arc::new(StaticModel::new()) as Arc<dyn Embedder>)
}

/// Opens one directory without any settings, for the demo and the benchmarks.
pub(crate) fn open_plain(root: &Path, home: &Path, actor: &str) -> Result<Memdir, Failure> {
    let store = FileStore::open(&[Places::new(home).mount("", root)])?;
    Ok(Memdir::new(Arc::new(store), Actor { name: actor.to_owned(), session: None }))
}

/// Reports mounts that the library rejects as errors in the settings.
fn settings_error(settings: &Settings, error: Error) -> Failure {
    let hint = format!("edit {}; `memdir config` shows the settings in effect", settings.file.display());
    match error {
        Error::BadInput { .. } => Failure::Settings { message: error.command_message(), hint },
        other => other.into(),
    }
}
