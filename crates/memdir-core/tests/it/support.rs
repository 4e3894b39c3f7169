//! A space in a directory of its own, and tools to call on it.

use jiff::Timestamp;
use memdir_core::{
    Actor, EntrypointMode, FileStore, Memdir, Mount, Searcher, Source,
    internal::{
        dialects::{self, DialectPlaces},
        store::stop::Stop,
        tools::{self, Tool, ToolContext, ToolResult},
    },
    testing::FixedClock,
};
use memdir_index::TantivyIndex;
use serde_json::{Map, Value};
use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::TempDir;

/// Noon of a day in 2026.
pub(crate) const NOW: &str = "2026-09-01T12:00:00.345Z";

pub(crate) struct Desk {
    pub(crate) top: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) caller: ToolContext,
    tools: &'static [Tool],
}

/// The native tools on an empty directory.
pub(crate) fn native() -> Desk {
    native_tools(tools::native())
}

/// The native tools with `memory_log`.
pub(crate) fn native_with_log() -> Desk {
    native_tools(tools::native_with_log())
}

fn native_tools(tools: &'static [Tool]) -> Desk {
    let top = TempDir::new().unwrap();
    let root = top.path().join("memories");
    let mounts = vec![Mount::new("", &root, top.path().join("journal"))];
    open(top, mounts, root, tools)
}

/// The native tools on an empty directory and an empty inbox.
pub(crate) fn native_with_inbox() -> Desk {
    let top = TempDir::new().unwrap();
    let root = top.path().join("memories");
    let inbox = Mount {
        source: Source::Inbox,
        entrypoint: EntrypointMode::Off,
        apart: true,
        late: true,
        ..Mount::new("inbox", top.path().join("inbox/candidates"), top.path().join("inbox-journal"))
    };
    let mounts = vec![Mount::new("", &root, top.path().join("journal")), inbox];
    open(top, mounts, root, tools::native())
}

/// A dialect as it is without any configuration, in a home and project of its own.
pub(crate) fn dialect(name: &str, vars: &[(&str, &str)], files: &[(&str, &str)]) -> Desk {
    dialect_with(name, vars, files, &|mount| mount)
}

/// A dialect whose mounts have settings.
pub(crate) fn dialect_with(name: &str, vars: &[(&str, &str)], files: &[(&str, &str)], settings: &dyn Fn(Mount) -> Mount) -> Desk {
    let top = TempDir::new().unwrap();
    for (path, text) in files {
        put(&top.path().join(path), text);
    }
    let (home, project) = (top.path().join("home"), top.path().join("project"));
    fs::create_dir_all(&home).unwrap();
    fs::create_dir_all(&project).unwrap();
    let vars: HashMap<&str, PathBuf> = vars.iter().map(|(key, path)| (*key, top.path().join(path))).collect();
    let journal = top.path().join("journal");
    let places = DialectPlaces {
        dir: None,
        home: &home,
        cwd: &project,
        project: &project,
        path_var: &|key| Ok(vars.get(key).cloned()),
        read: &|path| fs::read_to_string(path).ok(),
        mount: &|root| settings(Mount::new("", root, journal.join(memdir_core::internal::store::mount::journal_name(root)))),
        extra: Vec::new(),
    };
    let dialect = dialects::find(name).unwrap();
    let space = (dialect.space)(&places).unwrap();
    open(top, space.mounts, space.root, (dialect.tools)())
}

fn open(top: TempDir, mounts: Vec<Mount>, root: PathBuf, tools: &'static [Tool]) -> Desk {
    let store = Arc::new(FileStore::open(&mounts).unwrap());
    let clock = Arc::new(FixedClock(NOW.parse::<Timestamp>().unwrap()));
    let cache = top.path().join("cache");
    let searcher =
        Searcher::new(&*store, None, clock.clone(), |info| Arc::new(TantivyIndex::for_mount(&cache, &info.root, &info.rules, None)));
    let actor = Actor { name: "tester".into(), session: Some("one".into()) };
    let memdir = Memdir::with_clock(store, actor, clock).with_searcher(searcher);
    Desk { top, caller: ToolContext { memdir, session: true, root: root.clone() }, root, tools }
}

/// Writes a file and the directories above it.
pub(crate) fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

impl Desk {
    pub(crate) fn call(&self, name: &str, arguments: Value) -> ToolResult {
        self.call_as(&self.caller, name, arguments)
    }

    pub(crate) fn call_as(&self, caller: &ToolContext, name: &str, arguments: Value) -> ToolResult {
        let tool = self.tools.iter().find(|tool| tool.name == name).unwrap_or_else(|| panic!("no tool {name}"));
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        tool.call(caller, &arguments)
    }

    /// The text of a call that succeeds.
    pub(crate) fn text(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments);
        assert!(!result.is_error, "{name}: {}", result.text);
        result.text
    }

    /// The text of a call that fails.
    pub(crate) fn error(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments);
        assert!(result.is_error, "{name} answered: {}", result.text);
        result.text
    }

    /// The structured part of a call that succeeds.
    pub(crate) fn json(&self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments);
        assert!(!result.is_error, "{name}: {}", result.text);
        result.structured.unwrap()
    }

    /// Another caller on the same space.
    pub(crate) fn other(&self, name: &str, session: &str) -> ToolContext {
        let actor = Actor { name: name.into(), session: Some(session.into()) };
        ToolContext { memdir: self.caller.memdir.for_actor(actor), ..self.caller.clone() }
    }

    /// A caller whose call is already ended.
    pub(crate) fn stopped(&self) -> ToolContext {
        let stop = Stop::default();
        stop.stop();
        ToolContext { memdir: self.caller.memdir.with_stop(&stop), ..self.caller.clone() }
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        put(&self.root.join(name), text);
    }

    pub(crate) fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root.join(name)).ok()
    }

    /// Every file and directory below a directory, sorted.
    pub(crate) fn tree(&self, dir: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![dir.to_owned()];
        while let Some(at) = open.pop() {
            for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
                let path = entry.path();
                let is_dir = entry.file_type().unwrap().is_dir();
                found.push(format!("{}{}", path.strip_prefix(dir).unwrap().display(), if is_dir { "/" } else { "" }));
                if is_dir {
                    open.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

/// Arguments that are none.
pub(crate) fn nothing() -> Value {
    Value::Object(Map::new())
}
