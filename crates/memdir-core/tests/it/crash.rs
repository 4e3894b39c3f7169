//! A process that is killed at any write, sync, rename or removal of a change over two mounts: the next writer settles the change,
//! whichever of the mounts it sees.

use crate::file_store::path;
use memdir_core::{
    Actor, ChangeFilter, FileStore, Import, Incoming, List, Memdir, Mount, Phrase, UndoTarget, Write,
    testing::{disk_full_after, kill_after},
};
use std::{collections::BTreeMap, fs, path::Path, process::Command, sync::Arc};
use tempfile::TempDir;

/// What the killed process does.
const DRIVER: &str = "MEMDIR_TEST_CRASH";

fn mounts(dir: &Path, which: &str) -> Vec<Mount> {
    let mount = |prefix: &str, name: &str| Mount::new(prefix, dir.join(name), dir.join(format!("journal-{name}")));
    match which {
        "project" => vec![mount("", "project")],
        "user" => vec![mount("user", "user")],
        _ => vec![mount("", "project"), mount("user", "user")],
    }
}

pub(crate) fn open(dir: &Path, which: &str) -> Memdir {
    let store = FileStore::open(&mounts(dir, which)).unwrap();
    Memdir::new(Arc::new(store), Actor { name: "ada".into(), session: None })
}

fn long(name: &str) -> String {
    format!("# {name}\n\n{}end of {name}\n", format!("a line of {name}\n").repeat(20))
}

/// The changes that are interrupted. Each is one change over both mounts, except the merge, which is two.
fn act(memdir: &Memdir, what: &str) -> memdir_core::Result<()> {
    let newest = |verb: &str| {
        let all = memdir.history(&ChangeFilter::default()).unwrap();
        all.into_iter().find(|change| change.verb.infinitive() == verb).unwrap().id.0
    };
    match what {
        "rename" => drop(memdir.rename(&path("deep/precious"), &path("user/moved/precious"))?),
        "merge" => {
            for memory in memdir.list(&List::default())?.memories {
                if !memory.path.is_under("user") {
                    memdir.rename(&memory.path, &memory.path.prefixed("user"))?;
                }
            }
        }
        "import" => {
            let memory = |name: &str| Incoming { name: name.into(), text: long(name) };
            memdir.import(&Import { memories: vec![memory("in/one"), memory("user/in/two")], ..Import::default() })?;
        }
        "forget" => drop(memdir.forget(&Phrase::parse("end of precious")?)?),
        "undo-rename" => drop(memdir.undo(&UndoTarget::Id(newest("rename")))?),
        "redo-rename" => drop(memdir.redo(&UndoTarget::Id(newest("rename")))?),
        "undo-import" => drop(memdir.undo(&UndoTarget::Id(newest("import")))?),
        "redo-import" => drop(memdir.redo(&UndoTarget::Id(newest("import")))?),
        other => panic!("{other}"),
    }
    Ok(())
}

/// The state before the interrupted change.
fn prepare(dir: &Path, what: &str) {
    let memdir = open(dir, "both");
    for (name, text) in [("deep/precious", long("precious")), ("other", format!("See [[deep/precious]].\n{}", long("other")))] {
        memdir.write(&Write::create(path(name), text)).unwrap();
    }
    memdir.write(&Write::create(path("user/kept"), format!("mem:deep/precious\n{}", long("kept")))).unwrap();
    let before: &[&str] = match what {
        "undo-rename" => &["rename"],
        "redo-rename" => &["rename", "undo-rename"],
        "undo-import" => &["import"],
        "redo-import" => &["import", "undo-import"],
        _ => &[],
    };
    before.iter().for_each(|what| act(&memdir, what).unwrap());
}

/// Runs in a process of its own, and does nothing without the variable.
#[test]
fn driver() {
    #[expect(clippy::disallowed_methods, reason = "the parent of this process sets it")]
    let Ok(job) = std::env::var(DRIVER) else { return };
    let [what, n, dir] = job.split('|').collect::<Vec<_>>()[..] else { panic!("{job}") };
    let memdir = open(Path::new(dir), "both");
    kill_after(Some(n.parse().unwrap()));
    act(&memdir, what).unwrap();
    kill_after(None);
}

/// Runs the change in another process that is killed at its n-th point; returns whether it ended before.
fn is_done_before(what: &str, n: u64, dir: &Path) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "crash::driver", "--nocapture"]).env(DRIVER, format!("{what}|{n}|{}", dir.display()));
    let output = child.output().unwrap();
    let killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9);
    assert!(killed || output.status.success(), "{what}, point {n}: {}", String::from_utf8_lossy(&output.stdout));
    !killed
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Makes a directory equal to a copy. The directories of the mounts stay the same ones.
fn set(dir: &Path, from: &Path) {
    for entry in ["project", "user"].iter().flat_map(|mount| fs::read_dir(dir.join(mount)).unwrap()).flatten() {
        let path = entry.path();
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }
    for name in ["journal-project", "journal-user"] {
        let _ = fs::remove_dir_all(dir.join(name));
    }
    copy(from, dir);
    // The journals of a copy are as private as the original.
    for name in ["journal-project", "journal-user"] {
        use std::os::unix::fs::PermissionsExt as _;
        let _ = fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o700));
    }
}

/// Every file of both mounts with its text, without the entrypoints and what the next writer wrote.
pub(crate) fn files(dir: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![dir.join("project"), dir.join("user")];
    while let Some(at) = dirs.pop() {
        for entry in fs::read_dir(&at).unwrap().flatten() {
            let name = entry.path().strip_prefix(dir).unwrap().display().to_string();
            if entry.path().is_dir() {
                dirs.push(entry.path());
                found.insert(format!("{name}/"), String::new());
            } else if !name.ends_with("MEMORY.md") && !name.contains("next") {
                found.insert(name, fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    found
}

fn audit(dir: &Path, states: &[BTreeMap<String, String>], context: &str) {
    let now = files(dir);
    assert!(
        states.contains(&now),
        "{context}: {:?} is none of the valid states {:?}",
        now.keys(),
        states.iter().map(BTreeMap::keys).collect::<Vec<_>>()
    );
    let memdir = open(dir, "both");
    // Every memory has one line in the entrypoint of its mount, and every line its memory.
    for mount in ["project", "user"] {
        let text = fs::read_to_string(dir.join(mount).join("MEMORY.md")).unwrap_or_default();
        let mut lines: Vec<&str> = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target).collect();
        lines.sort_unstable();
        let prefix = format!("{mount}/");
        let mut names: Vec<String> =
            now.keys().filter(|name| !name.ends_with('/')).filter_map(|name| name.strip_prefix(&prefix)).map(str::to_owned).collect();
        names.extend(dir.join(mount).join("next.md").exists().then(|| "next.md".to_owned()));
        names.sort_unstable();
        assert_eq!(lines, names, "{context}: the entrypoint of {mount}");
    }
    // Both journals have the same changes in common, and the history shows each once and whole.
    let all = memdir.history(&ChangeFilter::default()).unwrap();
    let mut ids: Vec<&str> = all.iter().map(|change| change.id.0.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all.len(), "{context}: a change is shown twice");
    assert!(all.iter().all(|change| !change.incomplete && change.elsewhere.is_empty()), "{context}: {all:#?}");
    let shared = |which: &str| -> Vec<String> {
        let changes = open(dir, which).history(&ChangeFilter::default()).unwrap();
        changes.into_iter().filter(|change| !change.elsewhere.is_empty()).map(|change| change.id.0).collect()
    };
    assert_eq!(shared("project"), shared("user"), "{context}: the journals differ");
    assert_eq!(memdir.store().damaged_records(), 0, "{context}");
    // The newest shared change is undone and redone as a whole.
    if let Some(id) = shared("user").first() {
        let undone = all.iter().find(|change| change.id.0 == *id).unwrap();
        let is_undo = matches!(undone.verb.infinitive(), "undo" | "redo");
        let undo = if is_undo { memdir.redo(&UndoTarget::Id(id.clone())) } else { memdir.undo(&UndoTarget::Id(id.clone())) };
        if undone.verb.infinitive() != "redo" {
            undo.unwrap_or_else(|error| panic!("{context}: {error}"));
            let texts = files(dir);
            let copies = texts.values().filter(|text| text.contains("end of precious")).count();
            assert_eq!(copies, 1, "{context}: precious after its undo: {:?}", texts.keys());
        }
    }
}

/// Kills the change at every point, and lets the next writer see the project alone, `user/` alone, or both.
fn every_kill_point(what: &str) {
    let top = TempDir::new().unwrap();
    let top = top.path().canonicalize().unwrap();
    let (work, ready, crashed) = (top.join("work"), top.join("ready"), top.join("crashed"));
    fs::create_dir_all(&work).unwrap();
    prepare(&work, what);
    copy(&work, &ready);
    // The valid states: before, after, and for the merge after each of its moves.
    let mut states = vec![files(&work)];
    if what == "merge" {
        open(&work, "both").rename(&path("deep/precious"), &path("user/deep/precious")).unwrap();
        states.push(files(&work));
        set(&work, &ready);
    }
    act(&open(&work, "both"), what).unwrap();
    states.push(files(&work));
    for n in 0.. {
        set(&work, &ready);
        if is_done_before(what, n, &work) {
            assert!(n > 25, "{what} has only {n} kill points");
            break;
        }
        let _ = fs::remove_dir_all(&crashed);
        copy(&work, &crashed);
        for next in ["project", "user", "both"] {
            set(&work, &crashed);
            let name = if next == "user" { "user/next" } else { "next" };
            open(&work, next).write(&Write::create(path(name), "next")).unwrap();
            audit(&work, &states, &format!("{what}, killed at point {n}, then a writer of {next}"));
        }
    }
}

#[test]
fn a_killed_forget_is_finished_by_the_next_one() {
    let top = TempDir::new().unwrap();
    let top = top.path().canonicalize().unwrap();
    let (work, ready) = (top.join("work"), top.join("ready"));
    fs::create_dir_all(&work).unwrap();
    prepare(&work, "redo-rename");
    copy(&work, &ready);
    let phrase = Phrase::parse("end of precious").unwrap();
    let before = open(&work, "both").history(&ChangeFilter::default()).unwrap().len();
    act(&open(&work, "both"), "forget").unwrap();
    let after = files(&work);
    for n in 0.. {
        set(&work, &ready);
        if is_done_before("forget", n, &work) {
            assert!(n > 10, "forget has only {n} kill points");
            break;
        }
        let memdir = open(&work, "both");
        memdir.forget(&phrase).unwrap();
        assert_eq!(crate::forget::files_with(&work, &phrase), [""; 0], "killed at point {n}");
        assert_eq!(files(&work), after, "killed at point {n}");
        let changes = memdir.history(&ChangeFilter::default()).unwrap();
        let others = changes.iter().filter(|change| change.verb.infinitive() != "forget words in").count();
        assert_eq!((others, memdir.store().damaged_records()), (before, 0), "killed at point {n}");
        // A version without the words is still there.
        let kept = changes
            .iter()
            .flat_map(|change| &change.files)
            .find(|file| file.path.as_str() == "user/kept.md" && file.after.is_some())
            .unwrap();
        assert!(memdir.store().text_at(&kept.path, kept.after.unwrap()).unwrap().is_some(), "killed at point {n}");
    }
}

#[test]
fn a_killed_rename_is_whole() {
    every_kill_point("rename");
}

#[test]
fn a_killed_merge_is_whole() {
    every_kill_point("merge");
}

#[test]
fn a_killed_import_is_whole() {
    every_kill_point("import");
}

#[test]
fn a_killed_undo_of_a_rename_is_whole() {
    every_kill_point("undo-rename");
}

#[test]
fn a_killed_redo_of_a_rename_is_whole() {
    every_kill_point("redo-rename");
}

#[test]
fn a_killed_undo_of_an_import_is_whole() {
    every_kill_point("undo-import");
}

#[test]
fn a_killed_redo_of_an_import_is_whole() {
    every_kill_point("redo-import");
}

/// Returns a directory in which a rename was killed after both records and before the first of its files.
pub(crate) fn killed_rename(top: &Path) -> std::path::PathBuf {
    let (work, ready) = (top.join("work"), top.join("ready"));
    fs::create_dir_all(&work).unwrap();
    prepare(&work, "rename");
    copy(&work, &ready);
    for n in 0.. {
        set(&work, &ready);
        assert!(!is_done_before("rename", n, &work), "the new file is written at some point");
        if work.join("user/moved/precious.md").exists() {
            return work;
        }
    }
    work
}

#[test]
fn a_mount_that_is_gone_blocks_no_writer_and_loses_nothing() {
    let top = TempDir::new().unwrap();
    let work = killed_rename(&top.path().canonicalize().unwrap());
    // The disk with `user/` is not there: the project is settled alone.
    let elsewhere = work.join("unmounted");
    #[expect(clippy::disallowed_methods, reason = "this test moves a mount away")]
    fs::rename(work.join("user"), &elsewhere).unwrap();
    open(&work, "project").write(&Write::create(path("next"), "next")).unwrap();
    assert!(!work.join("user").exists(), "a root that is gone is not created");
    assert!(!work.join("project/deep/precious.md").exists(), "both parts were recorded, so the rename counts");
    // When it is back, its next writer comes to the same outcome.
    #[expect(clippy::disallowed_methods, reason = "this test moves a mount back")]
    fs::rename(&elsewhere, work.join("user")).unwrap();
    open(&work, "user").write(&Write::create(path("user/next"), "next")).unwrap();
    assert_eq!(fs::read_to_string(work.join("user/moved/precious.md")).unwrap(), long("precious"));
    let changes = open(&work, "both").history(&ChangeFilter::default()).unwrap();
    assert_eq!(changes.iter().filter(|change| change.verb.infinitive() == "rename").count(), 1);
}

/// A person who deletes a journal to remove its contents permanently must not lose a memory that was being moved.
#[test]
fn a_deleted_journal_of_the_other_mount_keeps_the_memory() {
    for deleted in ["journal-project", "journal-user"] {
        let top = TempDir::new().unwrap();
        let work = killed_rename(&top.path().canonicalize().unwrap());
        fs::remove_dir_all(work.join(deleted)).unwrap();
        let (alone, name) = if deleted == "journal-user" { ("project", "next") } else { ("user", "user/next") };
        open(&work, alone).write(&Write::create(path(name), "next")).unwrap();
        let copies = files(&work).values().filter(|text| text.contains("end of precious")).count();
        assert!(copies >= 1, "{deleted}: the memory is in neither mount");
    }
}

#[test]
fn a_mount_in_use_is_left_to_its_own_writer() {
    let top = TempDir::new().unwrap();
    let work = killed_rename(&top.path().canonicalize().unwrap());
    let held = fs::File::open(work.join("user")).unwrap();
    held.try_lock().unwrap();
    open(&work, "project").write(&Write::create(path("next"), "next")).unwrap();
    drop(held);
    open(&work, "user").write(&Write::create(path("user/next"), "next")).unwrap();
    let copies = files(&work).values().filter(|text| text.contains("end of precious")).count();
    assert_eq!((copies, work.join("user/moved/precious.md").exists()), (1, true));
}

/// What another program wrote between the crash and the next writer stays as it is.
#[test]
fn an_edit_after_the_crash_is_kept() {
    for edited in ["user/moved/precious.md", "project/deep/precious.md"] {
        let top = TempDir::new().unwrap();
        let work = killed_rename(&top.path().canonicalize().unwrap());
        fs::write(work.join(edited), "edited by another program").unwrap();
        open(&work, "project").write(&Write::create(path("next"), "next")).unwrap();
        assert_eq!(fs::read_to_string(work.join(edited)).unwrap(), "edited by another program");
        let name = if edited.starts_with("user") { "user/moved/precious" } else { "deep/precious" };
        let memdir = open(&work, "both");
        let found = memdir.history(&ChangeFilter { path: Some(path(name)), ..ChangeFilter::default() }).unwrap();
        assert_eq!(found[0].verb.infinitive(), "changed outside memdir", "{edited}");
        let text = memdir_core::Version::from_content(long("precious").as_bytes());
        assert!(memdir.store().text_at(&path(name), text).unwrap().is_some(), "{edited}: the text is in the journal");
    }
}

/// The disk is full at every moment of a rename over two mounts, and stays full while it is rolled back.
#[test]
fn a_full_disk_in_a_change_over_two_mounts_changes_nothing() {
    for n in 0.. {
        let top = TempDir::new().unwrap();
        let dir = top.path().canonicalize().unwrap();
        prepare(&dir, "rename");
        let before = files(&dir);
        let memdir = open(&dir, "both");
        disk_full_after(Some(n));
        let made = act(&memdir, "rename");
        disk_full_after(None);
        if made.is_ok() {
            assert!(n > 12, "only {n} places where the disk could be full");
            return;
        }
        // The next writer sees only one of the mounts.
        open(&dir, "user").write(&Write::create(path("user/next"), "next")).unwrap();
        audit(&dir, &[before], &format!("a full disk at call {n}"));
    }
}
