//! What the file store does when the disk changes under it: roots replaced by links, saves by other programs, locks that are held,
//! faults in the middle of a change.

use crate::file_store::{intent, path};
use memdir_core::{
    Access, Actor, ChangeFilter, Error, FileEdit, FileStore, Links, Memdir, MemoryPath, Mount, Role, Store, Verb, Version, View, Write,
    internal::{base::time::Deadline, store::stop::Stop},
    testing::{directories_read_by, directories_synced_by, disk_full_after},
};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tempfile::TempDir;

fn put(store: &dyn Store, name: &str, text: &str) -> memdir_core::Result<()> {
    let edit = FileEdit { path: path(name), bytes: Some(text.into()), role: Role::Memory };
    store.change(&intent(Verb::Write), &[path(name)], &mut |_| Ok(vec![edit.clone()])).map(drop)
}

fn remove(store: &dyn Store, name: &str) -> memdir_core::Result<()> {
    let edit = FileEdit { path: path(name), bytes: None, role: Role::Memory };
    store.change(&intent(Verb::Delete), &[path(name)], &mut |_| Ok(vec![edit.clone()])).map(drop)
}

/// Every file and directory below a directory; directories end with a slash.
fn tree(dir: &Path) -> Vec<String> {
    let mut out = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap().flatten() {
            let is_dir = entry.file_type().unwrap().is_dir();
            let name = entry.path().strip_prefix(dir).unwrap().display().to_string();
            out.push(if is_dir { format!("{name}/") } else { name });
            if is_dir {
                open.push(entry.path());
            }
        }
    }
    out.sort();
    out
}

/// A checkout of another branch used to lead a running server out of the repository: into the target of a link that replaced its
/// directory, or one above it.
#[test]
fn a_root_that_became_a_link_is_refused_at_every_use() {
    for (fixed, above) in [(true, false), (true, true), (false, false), (false, true)] {
        let home = TempDir::new().unwrap();
        let top = home.path().canonicalize().unwrap();
        let (root, private) = (top.join("repo/agents/own"), top.join("private"));
        let mut mount = Mount::new("", &root, top.join("journal"));
        mount.links = Links { fixed, ..Links::default() };
        let store = FileStore::open(&[mount]).unwrap();
        put(&store, "a.md", "ours").unwrap();
        fs::create_dir_all(private.join("own")).unwrap();
        for dir in [&private, &private.join("own")] {
            fs::write(dir.join("a.md"), "secret").unwrap();
        }
        let before = tree(&private);
        let replaced = if above { root.parent().unwrap().to_owned() } else { root.clone() };
        fs::rename(&replaced, top.join("kept")).unwrap();
        symlink(&private, &replaced).unwrap();
        let why = if fixed {
            "links are not followed in a repository's memories; replace the link with a directory"
        } else {
            "the path was a directory when memdir opened it; to use the link target, restart memdir"
        };
        let refusal = format!("{replaced:?} is a symbolic link: {why}");
        assert_eq!(store.get(&path("a")).unwrap_err().to_string(), refusal);
        assert_eq!(put(&store, "a.md", "x").unwrap_err().to_string(), refusal);
        assert_eq!(put(&store, "new/b.md", "x").unwrap_err().to_string(), refusal);
        assert_eq!(remove(&store, "a.md").unwrap_err().to_string(), refusal);
        let walk = store.list("").unwrap();
        assert_eq!((walk.entries, walk.folders), (vec![], vec![]));
        assert_eq!(walk.problems.iter().map(|problem| problem.what.as_str()).collect::<Vec<_>>(), [refusal.as_str()]);
        assert_eq!(store.stamps(&[path("a.md")]).unwrap(), [None]);
        assert_eq!(store.changes(&ChangeFilter { path: Some(path("a")), ..ChangeFilter::default() }).unwrap_err().to_string(), refusal);
        assert_eq!(tree(&private), before);
        assert_eq!(fs::read_to_string(private.join("a.md")).unwrap(), "secret");
        // A directory at the same place is used: a checkout makes a new one.
        fs::remove_file(&replaced).unwrap();
        fs::create_dir_all(&root).unwrap();
        assert_eq!(store.get(&path("a")).unwrap(), None);
        put(&store, "b.md", "b").unwrap();
        assert_eq!(tree(&root), ["b.md"]);
    }
}

#[test]
fn a_directory_is_not_created_behind_a_link() {
    let home = TempDir::new().unwrap();
    let top = home.path().canonicalize().unwrap();
    fs::create_dir_all(top.join("private")).unwrap();
    fs::create_dir_all(top.join("repo")).unwrap();
    for (late, fixed) in [(true, true), (true, false), (false, true)] {
        let mut mount = Mount::new("", top.join("repo/agents/own"), top.join("journal"));
        mount.links = Links { fixed, ..Links::default() };
        mount.late = late;
        let open = || FileStore::open(std::slice::from_ref(&mount)).unwrap();
        let early = late.then(open);
        symlink(top.join("private"), top.join("repo/agents")).unwrap();
        let store = early.unwrap_or_else(open);
        assert!(put(&store, "a.md", "x").is_err());
        assert_eq!(tree(&top.join("private")), Vec::<String>::new());
        fs::remove_file(top.join("repo/agents")).unwrap();
    }
}

/// The first acknowledged change used to be gone after a power failure: the new directories were not synced into their parents.
#[test]
fn new_directories_are_synced_into_their_parents_before_a_change_is_acknowledged() {
    let home = TempDir::new().unwrap();
    let top = home.path().canonicalize().unwrap();
    let mount = Mount::new("", top.join("home/projects/shop"), top.join("home/journal/shop"));
    let (store, mut synced) = directories_synced_by(|| FileStore::open(&[mount]).unwrap());
    let ((), more) = directories_synced_by(|| put(&store, "notes/deep/a.md", "first").unwrap());
    synced.extend(more);
    let synced: Vec<String> = synced.iter().map(|dir| dir.strip_prefix(&top).unwrap().display().to_string()).collect();
    assert_eq!(
        synced,
        [
            "", "home", "home/projects", "home", "home/journal", "home/journal/shop", "home/projects/shop", "home/projects/shop/notes",
            "home/projects/shop/notes/deep",
        ]
    );
    let ((), again) = directories_synced_by(|| put(&store, "notes/deep/a.md", "second").unwrap());
    assert_eq!(again, [top.join("home/projects/shop/notes/deep")], "a save to an existing directory syncs only that one");
}

/// A read in a directory without `MEMORY.md` used to scan the directory.
#[test]
fn a_name_that_does_not_exist_costs_no_scan() {
    let home = TempDir::new().unwrap();
    let memory = home.path().join("memory");
    let store = FileStore::open(&[Mount::new("", &memory, home.path().join("journal"))]).unwrap();
    fs::create_dir_all(memory.join("caf\u{e9}")).unwrap();
    fs::write(memory.join("caf\u{e9}/plain.md"), "1").unwrap();
    fs::write(memory.join("cre\u{300}me.md"), "2").unwrap();
    // Both forms in one name.
    fs::write(memory.join("e\u{301}t\u{e9}.md"), "3").unwrap();
    let read = |name: &str| directories_read_by(|| store.get(&path(name)).unwrap().map(|stored| stored.bytes));
    assert_eq!(read("MEMORY.md"), (None, 0));
    assert_eq!(read("notes/none"), (None, 0));
    assert_eq!(read("Kiosk"), (None, 0));
    assert_eq!(read("caf\u{e9}/none"), (None, 0));
    assert_eq!(read("caf\u{e9}/plain"), (Some(b"1".to_vec()), 0));
    assert_eq!(read("cr\u{e8}me"), (Some(b"2".to_vec()), 0));
    assert_eq!(read("\u{e9}t\u{e9}").0, Some(b"3".to_vec()));
}

/// An editor that waits until its version was replaced, and then saves the next one. Returns the versions it saved.
fn editor(file: PathBuf, stop: Arc<AtomicBool>, count: Arc<AtomicUsize>) -> std::thread::JoinHandle<Vec<Vec<u8>>> {
    std::thread::spawn(move || {
        let mut saved: Vec<Vec<u8>> = Vec::new();
        let beside = file.with_extension("editor");
        while !stop.load(Ordering::Relaxed) {
            let now = fs::read(&file).unwrap_or_default();
            if saved.last() == Some(&now) {
                std::thread::yield_now();
                continue;
            }
            // At another moment of memdir's next change each time.
            for _ in 0..saved.len() % 97 * 400 {
                std::hint::spin_loop();
            }
            let text = format!("editor {}\n", saved.len()).into_bytes();
            fs::write(&beside, &text).unwrap();
            fs::rename(&beside, &file).unwrap();
            saved.push(text);
            count.store(saved.len(), Ordering::Relaxed);
        }
        saved
    })
}

/// An external save between memdir's read and its rename used to be overwritten, and was in no history: 223 of 400 in a loop.
#[test]
fn a_save_by_another_program_is_in_the_file_or_in_the_history() {
    let home = TempDir::new().unwrap();
    let store = FileStore::open(&[Mount::new("", home.path().join("memory"), home.path().join("journal"))]).unwrap();
    put(&store, "a.md", "start").unwrap();
    let (stop, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let other = editor(home.path().join("memory/a.md"), stop.clone(), count.clone());
    let mut refused = 0;
    for n in 0.. {
        if count.load(Ordering::Relaxed) >= 100 {
            break;
        }
        match put(&store, "a.md", &format!("memdir {n}\n")) {
            Ok(()) => {}
            Err(Error::Changed { .. } | Error::Exists { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    stop.store(true, Ordering::Relaxed);
    let saved = other.join().unwrap();
    let changes = store.changes(&ChangeFilter { path: Some(path("a")), ..ChangeFilter::default() }).unwrap();
    let known: BTreeSet<Option<Version>> = changes.iter().flat_map(|change| change.files.iter().map(|file| file.after)).collect();
    let lost: Vec<String> = saved
        .iter()
        .filter(|text| !known.contains(&Some(Version::from_content(text))))
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .collect();
    assert_eq!(lost, Vec::<String>::new(), "of {} saves; {refused} changes were refused", saved.len());
    assert_eq!(tree(&home.path().join("memory")), ["a.md"]);
}

/// A plan reads a file, and another program saves it before the change is applied: the plan is called again.
#[test]
fn a_change_is_planned_again_if_another_program_saves_meanwhile() {
    let home = TempDir::new().unwrap();
    let file = home.path().join("memory/a.md");
    let store = FileStore::open(&[Mount::new("", home.path().join("memory"), home.path().join("journal"))]).unwrap();
    put(&store, "a.md", "1\n").unwrap();
    let mut calls = 0;
    let appended = store.change(&intent(Verb::Append), &[path("a.md")], &mut |view| {
        let mut bytes = view.get(&path("a.md"))?.unwrap().bytes;
        calls += 1;
        if calls == 1 {
            fs::write(&file, "1\n2\n").unwrap();
        }
        bytes.extend_from_slice(b"3\n");
        Ok(vec![FileEdit { path: path("a.md"), bytes: Some(bytes), role: Role::Memory }])
    });
    assert!(appended.is_ok());
    assert_eq!((calls, fs::read_to_string(&file).unwrap().as_str()), (2, "1\n2\n3\n"));
    let never = store.change(&intent(Verb::Append), &[path("a.md")], &mut |view| {
        let bytes = view.get(&path("a.md"))?.unwrap().bytes;
        calls += 1;
        fs::write(&file, format!("save {calls}")).unwrap();
        Ok(vec![FileEdit { path: path("a.md"), bytes: Some([bytes, b"x".to_vec()].concat()), role: Role::Memory }])
    });
    assert!(matches!(never, Err(Error::Changed { .. })));
    assert_eq!((calls, fs::read_to_string(&file).unwrap().as_str()), (18, "save 18"));
    assert_eq!(tree(&home.path().join("memory")), ["a.md"]);
}

/// A crash between the exchange of a file and the check of what was replaced.
#[test]
fn a_save_that_a_crashed_change_replaced_is_in_the_history() {
    let home = TempDir::new().unwrap();
    let memory = home.path().join("memory");
    let store = FileStore::open(&[Mount::new("", &memory, home.path().join("journal"))]).unwrap();
    put(&store, "a.md", "old").unwrap();
    let edit = |name: &str| FileEdit { path: path(name), bytes: Some("new".into()), role: Role::Memory };
    // The first file is replaced, and neither the second one nor the way back succeeds.
    let failed = (0..).find(|n| {
        disk_full_after(Some(*n));
        let made = store.change(&intent(Verb::Write), &[path("a.md")], &mut |_| Ok(vec![edit("a.md"), edit("b.md")]));
        disk_full_after(None);
        assert!(made.is_err(), "no such moment");
        fs::read(memory.join("a.md")).unwrap() == b"new"
    });
    assert!(failed.is_some());
    let log = fs::read(home.path().join("journal/changes.log")).unwrap();
    let log = String::from_utf8_lossy(&log);
    let id = log.rsplit("\"id\":\"").next().unwrap().split('"').next().unwrap();
    fs::write(memory.join(format!(".memdir-{id}-0.tmp")), "theirs").unwrap();
    put(&store, "next.md", "next").unwrap();
    assert_eq!(tree(&memory), ["a.md", "next.md"]);
    // The rollback restores what was replaced, and both are in the history.
    assert_eq!(fs::read(memory.join("a.md")).unwrap(), b"theirs");
    put(&store, "a.md", "newer").unwrap();
    for text in [&b"theirs"[..], b"old"] {
        assert_eq!(store.text_at(&path("a"), Version::from_content(text)).unwrap().as_deref(), Some(text));
    }
}

/// Temporary files and empty directories used to stay after some faults.
#[test]
fn a_failed_change_leaves_no_file_and_no_directory() {
    for n in 0.. {
        let home = TempDir::new().unwrap();
        let memory = home.path().join("memory");
        let store = FileStore::open(&[Mount::new("", &memory, home.path().join("journal"))]).unwrap();
        put(&store, "a.md", "old").unwrap();
        let edit = |name: &str| FileEdit { path: path(name), bytes: Some("new".into()), role: Role::Memory };
        let edits = vec![edit("x/y/z/b.md"), edit("a.md")];
        disk_full_after(Some(n));
        let made = store.change(&intent(Verb::Write), &[path("a.md")], &mut |_| Ok(edits.clone()));
        disk_full_after(None);
        if made.is_ok() {
            assert!(n > 10, "only {n} places where the disk could be full");
            return;
        }
        if fs::read(memory.join("a.md")).unwrap() == b"old" && !memory.join("x/y/z/b.md").exists() {
            assert_eq!(tree(&memory), ["a.md"], "after failing call {n}");
        }
        // What could not be rolled back is settled by the next change.
        put(&store, "next.md", "next").unwrap();
        assert_eq!(tree(&memory), ["a.md", "next.md"], "after failing call {n}");
    }
}

#[test]
fn a_first_write_that_fails_leaves_no_directory() {
    let home = TempDir::new().unwrap();
    fs::write(home.path().join("file"), "").unwrap();
    let mut mount = Mount::new("", home.path().join("memory"), home.path().join("file/journal"));
    mount.late = true;
    let store = FileStore::open(&[mount]).unwrap();
    assert!(put(&store, "a.md", "x").is_err());
    assert_eq!(tree(home.path()), ["file"]);
}

/// A rename beside a folder that could not be listed used to succeed and leave dead references.
#[test]
fn a_rename_that_cannot_see_all_references_is_refused() {
    let home = TempDir::new().unwrap();
    let memory = home.path().join("memory");
    let store = Arc::new(FileStore::open(&[Mount::new("", &memory, home.path().join("journal"))]).unwrap());
    let memdir = Memdir::new(store, Actor { name: "ada".into(), session: None });
    memdir.write(&Write::create(path("deploy"), "On Mondays.\n")).unwrap();
    memdir.write(&Write::create(path("notes/b"), "See [[deploy]].\n")).unwrap();
    let files = || tree(&memory).into_iter().map(|name| (fs::read(memory.join(&name)).ok(), name)).collect::<Vec<_>>();
    let before = files();
    // The root is listed, its folder is not.
    disk_full_after(Some(1));
    let refused = memdir.rename(&path("deploy"), &path("release")).unwrap_err();
    disk_full_after(None);
    assert_eq!(
        refused.to_string(),
        "cannot rename \"deploy\": \"notes\" cannot be listed: no storage space, so references in it would not be updated"
    );
    assert_eq!(files(), before);
    assert_eq!(memdir.rename(&path("deploy"), &path("release")).unwrap().rewritten, ["notes/b"]);
}

/// Each lock of a change used to have its own time limit, and the error did not name the process.
#[test]
fn all_locks_of_a_change_have_one_deadline_and_the_error_names_the_holder() {
    let home = TempDir::new().unwrap();
    let top = home.path().canonicalize().unwrap();
    let mount = |name: &str| Mount::new(if name == "one" { "" } else { name }, top.join(name), top.join(format!("journal-{name}")));
    let store = FileStore::open(&[mount("one"), mount("two")]).unwrap();
    let held = fs::File::open(top.join("two")).unwrap();
    held.lock().unwrap();
    let both = |store: &dyn Store| {
        let edits: Vec<FileEdit> =
            ["a.md", "two/b.md"].map(|name| FileEdit { path: path(name), bytes: Some("x".into()), role: Role::Memory }).into();
        store.change(&intent(Verb::Write), &[path("a.md"), path("two/b.md")], &mut |_| Ok(edits.clone()))
    };
    let deadline = Deadline::after(Duration::ZERO);
    let waiting = store.with_stop(&Stop::with_deadline(deadline));
    let busy = both(&*waiting).unwrap_err();
    assert_eq!(busy.to_string(), format!("{:?} is locked by this process (waited 0 s)", top.join("two")));
    // The lock of the first mount was released, and a free lock is acquired after the deadline too.
    put(&*waiting, "a.md", "y").unwrap();
    // A call that is cancelled while it waits ends.
    let stop = Stop::default();
    let cancelled = store.with_stop(&stop);
    let call = std::thread::spawn(move || put(&*cancelled, "two/b.md", "z").unwrap_err().to_string());
    stop.stop();
    assert_eq!(call.join().unwrap(), "this call was cancelled or timed out");
    held.unlock().unwrap();
    both(&*waiting).unwrap();
}

/// `extraPaths = ["/proc/**"]` used to read until the memory was full.
#[cfg(target_os = "linux")]
#[test]
fn special_file_systems_are_skipped() {
    let home = TempDir::new().unwrap();
    let mut mount = Mount::new("proc", "/proc", home.path().join("journal"));
    mount.access = Access::ReadOnly;
    let store = FileStore::open(&[mount]).unwrap();
    let walk = store.list("").unwrap();
    assert_eq!((walk.entries.len(), walk.folders.len()), (0, 0));
    let problems: Vec<&str> = walk.problems.iter().map(|problem| problem.what.as_str()).collect();
    assert_eq!(problems, ["\"proc\" is on a special file system (proc) and was skipped"]);
    let refused = store.get(&MemoryPath::parse("proc/version").unwrap()).unwrap_err();
    assert_eq!(refused.to_string(), "invalid memory name \"proc/version\": it is on a special file system (proc)");
}
