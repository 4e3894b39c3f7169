//! What somebody may change while a server runs: the settings, read again whenever their file changes, and the space that is
//! in force by them. Looks at files by their stamps alone; opens nothing anew unless what they say has changed.

use crate::{
    args::Global,
    config::{ChatsSetting, Settings},
    exit::Failure,
    scope::Scope,
};
use memdir_core::memdir::Memdir;
use memdir_server::Space;
use std::{
    fmt, fs,
    os::unix::fs::MetadataExt as _,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

/// What tells one state of a file from another.
type State = Option<(SystemTime, u64, u64)>;

fn state(file: &Path) -> State {
    let meta = fs::metadata(file).ok()?;
    Some((meta.modified().ok()?, meta.len(), meta.ino()))
}

/// The settings in force at any moment.
pub(crate) struct Current {
    global: Global,
    now: Mutex<(State, Arc<Settings>)>,
}

impl fmt::Debug for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Current(…)")
    }
}

impl Current {
    /// Begins to look at them.
    pub(crate) fn new(global: &Global, settings: &Settings) -> Result<Arc<Current>, Failure> {
        // The state before the settings: a change in between is read again.
        let state = state(&settings.file);
        let now = Mutex::new((state, Arc::new(Settings::load(global)?)));
        Ok(Arc::new(Current { global: global.clone(), now }))
    }

    /// The settings now, at the price of one `stat`. The same ones as before unless they changed.
    pub(crate) fn get(&self) -> Arc<Settings> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let state = state(&now.1.file);
        if now.0 != state {
            now.0 = state;
            // Settings that cannot be read are refused when they are made; until they are mended the last good ones hold.
            if let Ok(settings) = Settings::load(&self.global) {
                now.1 = Arc::new(settings);
            }
        }
        now.1.clone()
    }
}

/// Opens a space by the settings.
type Open = dyn Fn(&Settings, &Scope) -> Result<Memdir, Failure> + Send + Sync;

/// A space, and what it was opened by.
struct Now {
    seen: Option<(Arc<Settings>, State)>,
    chats: ChatsSetting,
    memdir: Memdir,
    /// The words of the switch that turned memory off.
    off: Option<String>,
}

impl Now {
    /// Honours the switches, and opens the space anew when what the settings say about chats has changed.
    fn look(&mut self, settings: &Settings, open: &Open) {
        // What cannot be used is said to whoever asks on the command line; here what was in force before still is.
        let Ok(scope) = Scope::of(settings) else { return };
        self.off = scope.must_be_on().err().map(|off| {
            let words = off.words();
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

/// The space that is in force at each call, which `settings` opened first.
pub(crate) fn space(current: &Arc<Current>, settings: &Settings, scope: &Scope, memdir: Memdir, open: Box<Open>) -> Space {
    // A repository may turn its memory off too.
    let (current, repository) = (current.clone(), scope.repository_file());
    let now = Mutex::new(Now { seen: None, chats: settings.config.chats.clone(), memdir, off: None });
    Arc::new(move || {
        let mut now = now.lock().unwrap_or_else(PoisonError::into_inner);
        let (settings, state) = (current.get(), state(&repository));
        let is_seen = now.seen.as_ref().is_some_and(|(seen, before)| Arc::ptr_eq(seen, &settings) && *before == state);
        if !is_seen {
            now.look(&settings, &*open);
            now.seen = Some((settings, state));
        }
        now.off.clone().map_or_else(|| Ok(now.memdir.clone()), Err)
    })
}
