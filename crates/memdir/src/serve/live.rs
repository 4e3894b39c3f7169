//! Settings and spaces that follow the settings file while a server runs. The file is read again only if its metadata has
//! changed, and a space is opened again only if a setting that affects it has changed. While the file is invalid, the last valid
//! settings apply to the owner of the server; callers with tokens are refused, because theirs may have been removed.

use crate::{
    args::GlobalArgs,
    config::{ChatsSetting, Settings},
    exit::Failure,
    scope::Scope,
};
use memdir_core::Memdir;
use memdir_server::CurrentSpace;
use std::{
    fmt, fs,
    os::unix::fs::MetadataExt as _,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

/// The metadata that distinguishes two versions of a file; `None` if it does not exist. An edit within one tick of the clock that
/// keeps the size shows in the inode, because settings are replaced and never written in place by memdir.
type FileStamp = Option<(SystemTime, i64, i64, u64, u64)>;

fn file_stamp(file: &Path) -> FileStamp {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.ctime(), metadata.ctime_nsec(), metadata.len(), metadata.ino()))
}

/// The settings currently in force.
pub(super) struct LiveSettings {
    global: GlobalArgs,
    loaded: Mutex<LoadedSettings>,
}

struct LoadedSettings {
    stamp: FileStamp,
    /// The last valid settings.
    settings: Arc<Settings>,
    /// Why the file is invalid at present, if it is.
    invalid: Option<String>,
}

impl fmt::Debug for LiveSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LiveSettings(…)")
    }
}

impl LiveSettings {
    pub(super) fn load(global: &GlobalArgs, settings: &Settings) -> Result<Arc<LiveSettings>, Failure> {
        // The stamp before the settings: if the file changes in between, it is read again.
        let stamp = file_stamp(&settings.file);
        let loaded = LoadedSettings { stamp, settings: Arc::new(Settings::load(global)?), invalid: None };
        Ok(Arc::new(LiveSettings { global: global.clone(), loaded: Mutex::new(loaded) }))
    }

    /// Returns the last valid settings at the cost of one `stat`. Returns the same `Arc` until the file changes.
    pub(super) fn get(&self) -> Arc<Settings> {
        self.update().settings.clone()
    }

    /// Returns why the settings file is invalid at present, if it is.
    pub(super) fn invalid(&self) -> Option<String> {
        self.update().invalid.clone()
    }

    fn update(&self) -> MutexGuard<'_, LoadedSettings> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = file_stamp(&loaded.settings.file);
        if loaded.stamp != stamp {
            loaded.stamp = stamp;
            match Settings::load(&self.global) {
                Ok(settings) => (loaded.settings, loaded.invalid) = (Arc::new(settings), None),
                Err(failure) => loaded.invalid = Some(failure.text().message),
            }
        }
        loaded
    }
}

/// Opens a space with the given settings.
type SpaceOpener = dyn Fn(&Settings, &Scope) -> Result<Memdir, Failure> + Send + Sync;

/// An open space, and the settings it was opened with.
struct LiveSpace {
    checked: Option<(Arc<Settings>, FileStamp)>,
    chats: ChatsSetting,
    memdir: Memdir,
    /// The error message if memory is switched off.
    off: Option<String>,
}

impl LiveSpace {
    /// Applies new settings: the switches, and the chats setting, which opens the space again.
    fn apply(&mut self, settings: &Settings, open: &SpaceOpener) {
        // Invalid settings are reported by the commands; a running server keeps the last valid state.
        let Ok(scope) = Scope::resolve(settings) else { return };
        self.off = scope.must_be_on().err().map(|off| {
            let words = off.text();
            format!("{}; {}", words.message, words.hint)
        });
        if self.off.is_none()
            && settings.config.chats != self.chats
            && let Ok(memdir) = open(settings, &scope)
        {
            (self.chats, self.memdir) = (settings.config.chats.clone(), memdir);
        }
    }
}

/// Returns a space that follows the settings. `memdir` is the space that `settings` opened, `open` opens it again.
pub(super) fn live_space(
    live: &Arc<LiveSettings>,
    settings: &Settings,
    scope: &Scope,
    memdir: Memdir,
    open: Box<SpaceOpener>,
) -> CurrentSpace {
    // The settings file of a repository can switch memory off too.
    let (live, repository) = (live.clone(), scope.repository_file());
    let space = Mutex::new(LiveSpace { checked: None, chats: settings.config.chats.clone(), memdir, off: None });
    Arc::new(move || {
        let mut space = space.lock().unwrap_or_else(PoisonError::into_inner);
        let (settings, stamp) = (live.get(), file_stamp(&repository));
        let is_checked = space.checked.as_ref().is_some_and(|(checked, before)| Arc::ptr_eq(checked, &settings) && *before == stamp);
        if !is_checked {
            space.apply(&settings, &*open);
            space.checked = Some((settings, stamp));
        }
        space.off.clone().map_or_else(|| Ok(space.memdir.clone()), Err)
    })
}
