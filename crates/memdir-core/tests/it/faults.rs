//! Other programs that save a file while memdir changes it, with calls that fail or a process that is killed at the worst moment: every
//! save is in the file or in the history.

use crate::{
    crash::{files, killed_rename, open as open_memdir},
    file_store::{intent, path},
};
use memdir_core::{
    ChangeFilter, FileEdit, FileStore, Links, Mount, Role, Store as _, Verb, Version, View as _, Write,
    testing::{FileCall, kill_after, on_file_call},
};
use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// What the killed process does.
const DRIVER: &str = "MEMDIR_TEST_FAULTS";

fn eio() -> io::Error {
    io::Error::from_raw_os_error(5)
}

fn store(dir: &Path) -> FileStore {
    FileStore::open(&[Mount::new("", dir.join("memory"), dir.join("journal"))]).unwrap()
}

fn directory() -> (TempDir, PathBuf) {
    let top = TempDir::new().unwrap();
    let dir = top.path().canonicalize().unwrap();
    (top, dir)
}

fn edit(name: &str, text: Option<&str>) -> FileEdit {
    FileEdit { path: path(name), bytes: text.map(Into::into), role: Role::Memory }
}

fn change(store: &FileStore, edits: &[(&str, Option<&str>)]) -> memdir_core::Result<()> {
    let touches: Vec<_> = edits.iter().map(|(name, _)| path(name)).collect();
    let edits: Vec<_> = edits.iter().map(|(name, text)| edit(name, *text)).collect();
    store.change(&intent(Verb::Write), &touches, &mut |_| Ok(edits.clone())).map(drop)
}

/// Appends a line to what the file has, as a plan that is called again if another program saved the file.
fn append(store: &FileStore, name: &str, line: &str) -> memdir_core::Result<()> {
    let at = path(name);
    let made = store.change(&intent(Verb::Append), std::slice::from_ref(&at), &mut |view| {
        let old = view.get(&at)?.map(|stored| String::from_utf8(stored.bytes).unwrap()).unwrap_or_default();
        Ok(vec![edit(name, Some(&format!("{old}{line}")))])
    });
    made.map(drop)
}

/// Whether a text is in the file or in its history.
fn is_kept(dir: &Path, name: &str, text: &str) -> bool {
    store(dir).text_at(&path(name), Version::from_content(text.as_bytes())).unwrap().is_some()
}

fn read(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join("memory").join(name)).unwrap()
}

/// The names of all files and directories of the mount.
fn names(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(at) = dirs.pop() {
        for entry in fs::read_dir(&at).unwrap().flatten() {
            found.push(entry.path().strip_prefix(dir).unwrap().display().to_string());
            if entry.file_type().unwrap().is_dir() {
                dirs.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// Calls `act` with the number of each rename before it is made.
fn on_rename(mut act: impl FnMut(u64) -> io::Result<()> + 'static) {
    let mut renames = 0;
    on_file_call(Some(Box::new(move |call| {
        if call != FileCall::Rename {
            return Ok(());
        }
        renames += 1;
        act(renames - 1)
    })));
}

/// Saves a file as another program does, and ends this process after the rename that comes now.
fn save_and_be_killed(file: &Path, text: &str) -> io::Result<()> {
    fs::write(file, text)?;
    kill_after(Some(0));
    Ok(())
}

/// Runs in a process of its own, and does nothing without the variable.
#[test]
fn driver() {
    #[expect(clippy::disallowed_methods, reason = "the parent of this process sets it")]
    let Ok(job) = std::env::var(DRIVER) else { return };
    let [what, n, dir] = job.split('|').collect::<Vec<_>>()[..] else { panic!("{job}") };
    let (dir, n): (PathBuf, u64) = (dir.into(), n.parse().unwrap());
    let (a, b) = (dir.join("memory/a.md"), dir.join("memory/b.md"));
    let both: &[(&str, Option<&str>)] = &[("a.md", Some("new a")), ("b.md", Some("new b"))];
    match what {
        // The change of the second file fails, and another program saves the first one just before it is rolled back.
        "rollback" => {
            on_rename(move |n| match n {
                1 => Err(eio()),
                2 => save_and_be_killed(&a, "theirs"),
                _ => Ok(()),
            });
            let _ = change(&store(&dir), both);
        }
        // Killed between the two files.
        "half" => {
            on_rename(|n| {
                if n == 1 {
                    kill_after(Some(0));
                    return Err(eio());
                }
                Ok(())
            });
            let _ = change(&store(&dir), both);
        }
        // Recovery replaces what another program just saved.
        "recovery" => {
            on_rename(move |_| save_and_be_killed(&b, "theirs"));
            let _ = change(&store(&dir), &[("next.md", Some("next"))]);
        }
        // A save is replaced just before the kill.
        "replaced" => {
            on_rename(move |_| save_and_be_killed(&a, "theirs, first"));
            let _ = change(&store(&dir), &both[..1]);
        }
        // Killed when the file is replaced and its old content is not removed yet.
        "unswept" => {
            on_file_call(Some(Box::new(|call| {
                if call == FileCall::Remove {
                    kill_after(Some(0));
                    return Err(eio());
                }
                Ok(())
            })));
            let name = if n == 0 { "a.md" } else { "caf\u{e9}/a.md" };
            let _ = change(&store(&dir), &[(name, Some("new a"))]);
        }
        // A move that fails after both of its files, and is killed at the n-th point after that.
        "move" => {
            on_rename(move |at| {
                if at == 2 {
                    kill_after(Some(n));
                    return Err(eio());
                }
                Ok(())
            });
            let edits = [("moved.md", Some("old a")), ("a.md", None), ("b.md", Some("new b"))];
            let _ = change(&store(&dir), &edits);
        }
        // A move out of a mount that keeps its folders.
        "folders" => {
            let store = FileStore::open(&folder_mounts(&dir)).unwrap();
            kill_after(Some(n));
            let _ = change(&store, &[("moved.md", Some("x")), ("user/topic/x.md", None)]);
        }
        other => panic!("{other}"),
    }
    // Done without a kill.
    kill_after(None);
    on_file_call(None);
}

/// Runs a job in another process; returns whether it was killed.
fn is_killed(what: &str, n: u64, dir: &Path) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "faults::driver", "--nocapture"]).env(DRIVER, format!("{what}|{n}|{}", dir.display()));
    let output = child.output().unwrap();
    let killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9);
    assert!(killed || output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stdout));
    killed
}

fn with_two_files() -> (TempDir, PathBuf) {
    let (top, dir) = directory();
    change(&store(&dir), &[("a.md", Some("old a")), ("b.md", Some("old b"))]).unwrap();
    (top, dir)
}

fn next(dir: &Path) {
    change(&store(dir), &[("next.md", Some("next"))]).unwrap();
}

#[test]
fn a_save_in_the_temporary_file_of_a_killed_rollback_is_kept() {
    let (_top, dir) = with_two_files();
    assert!(is_killed("rollback", 0, &dir));
    next(&dir);
    assert_eq!((read(&dir, "a.md").as_str(), read(&dir, "b.md").as_str()), ("old a", "old b"));
    assert!(is_kept(&dir, "a", "theirs"));
    assert_eq!(names(&dir.join("memory")), ["a.md", "b.md", "next.md"]);
}

#[test]
fn a_save_in_the_temporary_file_of_a_killed_recovery_is_kept() {
    let (_top, dir) = with_two_files();
    assert!(is_killed("half", 0, &dir));
    assert_eq!((read(&dir, "a.md").as_str(), read(&dir, "b.md").as_str()), ("new a", "old b"));
    assert!(is_killed("recovery", 0, &dir));
    next(&dir);
    assert_eq!((read(&dir, "a.md").as_str(), read(&dir, "b.md").as_str()), ("new a", "new b"));
    assert!(is_kept(&dir, "b", "theirs"));
    assert_eq!(names(&dir.join("memory")), ["a.md", "b.md", "next.md"]);
}

#[test]
fn a_save_replaced_before_a_crash_is_kept_if_the_file_is_saved_again() {
    let (_top, dir) = with_two_files();
    assert!(is_killed("replaced", 0, &dir));
    assert_eq!(read(&dir, "a.md"), "new a");
    fs::write(dir.join("memory/a.md"), "theirs, second").unwrap();
    next(&dir);
    assert_eq!(read(&dir, "a.md"), "theirs, second");
    assert!(is_kept(&dir, "a", "theirs, first"));
    assert_eq!(names(&dir.join("memory")), ["a.md", "b.md", "next.md"]);
}

#[test]
fn a_removal_that_cannot_be_rolled_back_is_an_error_and_keeps_the_save() {
    let (_top, dir) = with_two_files();
    let opened = store(&dir);
    let file = dir.join("memory/a.md");
    on_rename(move |n| if n == 0 { fs::write(&file, "theirs") } else { Err(eio()) });
    let removed = change(&opened, &[("a.md", None)]);
    on_file_call(None);
    assert!(removed.is_err());
    next(&dir);
    assert_eq!(read(&dir, "a.md"), "theirs");
    assert_eq!(names(&dir.join("memory")), ["a.md", "b.md", "next.md"]);
}

/// The failed exchange used to count as rolled back: the plan was called again with its own text and appended the line twice.
#[test]
fn an_exchange_that_cannot_be_rolled_back_is_an_error_and_never_a_second_append() {
    for saves in 1..=3 {
        let (_top, dir) = with_two_files();
        let opened = store(&dir);
        let file = dir.join("memory/a.md");
        on_rename(move |n| if n < saves { fs::write(&file, format!("theirs {n}\n")) } else { Err(eio()) });
        let appended = append(&opened, "a.md", "line\n");
        on_file_call(None);
        assert!(appended.is_err(), "{saves} saves");
        next(&dir);
        assert!(!read(&dir, "a.md").contains("line"), "{saves} saves: {}", read(&dir, "a.md"));
        for n in 0..saves {
            assert!(is_kept(&dir, "a", &format!("theirs {n}\n")), "{saves} saves, save {n}");
        }
        assert_eq!(names(&dir.join("memory")), ["a.md", "b.md", "next.md"], "{saves} saves");
        // The same process goes on.
        append(&opened, "a.md", "line\n").unwrap();
        assert_eq!(read(&dir, "a.md").matches("line").count(), 1);
    }
}

#[test]
fn a_failed_move_is_rolled_back_and_the_memory_always_exists() {
    for n in 0.. {
        let (_top, dir) = with_two_files();
        if !is_killed("move", n, &dir) {
            assert!(n > 8, "only {n} points");
            break;
        }
        let copies = ["a.md", "moved.md"].iter().filter(|name| dir.join("memory").join(name).exists()).count();
        assert!(copies > 0, "point {n}: the memory is nowhere");
        next(&dir);
        // Before the failure is recorded, the change counts.
        let (kept, b) = if read(&dir, "b.md") == "old b" { ("a.md", "old b") } else { ("moved.md", "new b") };
        let mut expected = [kept, "b.md", "next.md"];
        expected.sort_unstable();
        assert_eq!(names(&dir.join("memory")), expected, "point {n}");
        assert_eq!((read(&dir, kept).as_str(), read(&dir, "b.md").as_str()), ("old a", b), "point {n}");
    }
}

/// The file after the one that was gone used to get its edit.
#[test]
fn a_folder_that_another_program_removes_during_a_change_affects_no_other_file() {
    let (_top, dir) = with_two_files();
    let opened = store(&dir);
    change(&opened, &[("topic/x.md", Some("x"))]).unwrap();
    let topic = dir.join("memory/topic");
    on_file_call(Some(Box::new(move |call| {
        if call == FileCall::Create {
            let _ = fs::remove_dir_all(&topic);
        }
        Ok(())
    })));
    let made = change(&opened, &[("a.md", Some("new a")), ("topic/x.md", None), ("b.md", Some("new b"))]);
    on_file_call(None);
    made.unwrap();
    assert_eq!((read(&dir, "a.md").as_str(), read(&dir, "b.md").as_str()), ("new a", "new b"));
    assert_eq!(names(&dir.join("memory")), ["a.md", "b.md"]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "this test replaces the directory of a mount")]
fn a_directory_that_is_replaced_during_recovery_is_not_written() {
    let (_top, dir) = with_two_files();
    assert!(is_killed("half", 0, &dir));
    let moved = dir.clone();
    on_rename(move |n| {
        if n == 0 {
            fs::rename(moved.join("memory"), moved.join("old"))?;
            fs::create_dir(moved.join("memory"))?;
        }
        Ok(())
    });
    let made = change(&store(&dir), &[("next.md", Some("next"))]);
    on_file_call(None);
    let error = made.unwrap_err().to_string();
    assert!(error.ends_with("the directory was replaced during the change; try again"), "{error}");
    assert_eq!(names(&dir.join("memory")), Vec::<String>::new());
}

#[test]
fn mounts_that_link_to_one_directory_use_different_temporary_files() {
    let (_top, dir) = directory();
    let shared = dir.join("shared");
    fs::create_dir(&shared).unwrap();
    let mount = |prefix: &str, name: &str| {
        fs::create_dir(dir.join(name)).unwrap();
        symlink(&shared, dir.join(name).join("linked")).unwrap();
        let links = Links { roots: vec![shared.clone()], ..Links::default() };
        Mount { links, ..Mount::new(prefix, dir.join(name), dir.join(format!("journal-{name}"))) }
    };
    let store = FileStore::open(&[mount("", "project"), mount("user", "user")]).unwrap();
    change(&store, &[("linked/x.md", Some("x")), ("user/linked/y.md", Some("y"))]).unwrap();
    assert_eq!(names(&shared), ["x.md", "y.md"]);
}

fn folder_mounts(dir: &Path) -> Vec<Mount> {
    let mount = |prefix: &str, name: &str| Mount::new(prefix, dir.join(name), dir.join(format!("journal-{name}")));
    vec![mount("", "project"), Mount { keeps_folders: true, ..mount("user", "user") }]
}

#[test]
fn a_writer_of_another_mount_keeps_the_folders_of_a_mount_that_keeps_them() {
    for n in 0.. {
        let (_top, dir) = directory();
        let mounts = folder_mounts(&dir);
        change(&FileStore::open(&mounts).unwrap(), &[("user/topic/x.md", Some("x"))]).unwrap();
        let killed = is_killed("folders", n, &dir);
        change(&FileStore::open(&mounts[..1]).unwrap(), &[("next.md", Some("next"))]).unwrap();
        assert!(dir.join("user/topic").is_dir(), "point {n}");
        let copies = [dir.join("project/moved.md"), dir.join("user/topic/x.md")].iter().filter(|file| file.exists()).count();
        assert_eq!(copies, 1, "point {n}");
        if !killed {
            assert!(n > 15, "only {n} points");
            break;
        }
    }
}

/// A journal that cannot be read for a moment used to count as deleted: the memory was in both mounts.
#[test]
#[expect(clippy::disallowed_methods, reason = "this test moves a journal away and back")]
fn a_journal_that_cannot_be_read_leaves_the_change_open() {
    let (_top, dir) = directory();
    let work = killed_rename(&dir);
    let journal = work.join("journal-user");
    fs::rename(&journal, work.join("aside")).unwrap();
    symlink(&journal, &journal).unwrap();
    let error = open_memdir(&work, "project").write(&Write::create(path("next"), "next")).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "cannot finish an interrupted change to several memory directories: cannot read the journal of another directory of that change ("
        ),
        "{error}"
    );
    assert!(!work.join("project/next.md").exists());
    fs::remove_file(&journal).unwrap();
    fs::rename(work.join("aside"), &journal).unwrap();
    open_memdir(&work, "project").write(&Write::create(path("next"), "next")).unwrap();
    let copies = files(&work).values().filter(|text| text.contains("end of precious")).count();
    assert_eq!((copies, work.join("user/moved/precious.md").exists()), (1, true));
}

/// The clock was set back after the change, and its record was damaged: a record with an older time does not mean that the change was
/// never recorded.
#[test]
fn a_damaged_record_is_not_taken_for_a_missing_one_if_the_clock_was_set_back() {
    let (_top, dir) = directory();
    let work = killed_rename(&dir);
    let held = fs::File::open(work.join("user")).unwrap();
    held.try_lock().unwrap();
    let project = FileStore::open(&[Mount::new("", work.join("project"), work.join("journal-project"))]).unwrap();
    change(&project, &[("next.md", Some("next"))]).unwrap();
    drop(held);
    assert!(!work.join("project/deep/precious.md").exists(), "the project has settled its part");
    let log = work.join("journal-project/changes.log");
    let mut bytes = fs::read(&log).unwrap();
    let at = bytes.windows(8).rposition(|bytes| bytes == b"\"rename\"").unwrap();
    bytes[at + 1] ^= 1;
    fs::write(&log, &bytes).unwrap();
    open_memdir(&work, "user").write(&Write::create(path("user/next"), "next")).unwrap();
    assert!(work.join("user/moved/precious.md").exists(), "the memory is in neither mount");
}

/// A reader that may not remove the temporary files of a crash used to settle its change, and the files stayed for ever.
#[test]
fn temporary_files_that_cannot_be_removed_are_left_to_the_next_writer() {
    let (_top, dir) = with_two_files();
    assert!(is_killed("unswept", 0, &dir));
    assert_eq!(names(&dir.join("memory")).len(), 3);
    on_file_call(Some(Box::new(|call| if call == FileCall::Remove { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) })));
    store(&dir).changes(&ChangeFilter::default()).unwrap();
    on_file_call(None);
    next(&dir);
    assert_eq!(names(&dir.join("memory")), ["a.md", "b.md", "next.md"]);
    assert_eq!(store(&dir).changes(&ChangeFilter::default()).unwrap().len(), 3);
}

#[test]
fn temporary_files_in_a_folder_with_a_decomposed_name_are_removed() {
    let (_top, dir) = with_two_files();
    let folder = dir.join("memory/cafe\u{301}");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.md"), "old a").unwrap();
    assert!(is_killed("unswept", 1, &dir));
    assert_eq!(names(&folder).len(), 2);
    next(&dir);
    assert_eq!(names(&folder), ["a.md"]);
    assert_eq!(fs::read_to_string(folder.join("a.md")).unwrap(), "new a");
}

#[test]
fn a_folder_with_a_decomposed_name_gets_no_twin() {
    let (_top, dir) = directory();
    let folder = dir.join("memory/cafe\u{301}");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("a.md"), "old a").unwrap();
    let store = store(&dir);
    change(&store, &[("caf\u{e9}/b.md", Some("b")), ("caf\u{e9}/deep/c.md", Some("c"))]).unwrap();
    assert_eq!(names(&folder), ["a.md", "b.md", "deep", "deep/c.md"]);
    store.change_folders(&[path("caf\u{e9}/empty")], &[]).unwrap();
    assert_eq!(fs::read_dir(dir.join("memory")).unwrap().count(), 1);
    store.change_folders(&[], &[path("caf\u{e9}/empty")]).unwrap();
    let all = ["a.md", "b.md", "deep/c.md"].map(|name| format!("caf\u{e9}/{name}"));
    change(&store, &all.each_ref().map(|name| (name.as_str(), None))).unwrap();
    assert_eq!(names(&dir.join("memory")), Vec::<String>::new());
}

#[test]
fn memories_of_twin_folders_can_be_changed() {
    let (_top, dir) = directory();
    let (decomposed, composed) = (dir.join("memory/cafe\u{301}"), dir.join("memory/caf\u{e9}"));
    for (folder, name) in [(&decomposed, "a.md"), (&composed, "b.md")] {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(name), "old").unwrap();
    }
    let store = store(&dir);
    append(&store, "caf\u{e9}/a.md", " and new").unwrap();
    append(&store, "caf\u{e9}/b.md", " and new").unwrap();
    assert_eq!(fs::read_to_string(decomposed.join("a.md")).unwrap(), "old and new");
    assert_eq!(fs::read_to_string(composed.join("b.md")).unwrap(), "old and new");
    let stamps = store.stamps(&[path("caf\u{e9}/a.md"), path("caf\u{e9}/b.md")]).unwrap();
    assert!(stamps.iter().all(Option::is_some));
    change(&store, &[("caf\u{e9}/a.md", None), ("caf\u{e9}/b.md", None)]).unwrap();
    assert_eq!(names(&dir.join("memory")), Vec::<String>::new());
}

/// The directory of the other mount is replaced by an empty one, as by an unmounted disk: the move is rolled back, whichever mount the
/// next writer sees, so that the memory is there when the directory is restored.
#[test]
#[expect(clippy::disallowed_methods, reason = "this test replaces the directory of a mount")]
fn a_move_into_a_directory_that_was_replaced_is_rolled_back() {
    for alone in ["project", "user"] {
        let (_top, dir) = directory();
        let work = killed_rename(&dir);
        // As if the process had been killed just before.
        fs::remove_dir_all(work.join("user/moved")).unwrap();
        fs::rename(work.join("user"), work.join("aside")).unwrap();
        fs::create_dir(work.join("user")).unwrap();
        let name = if alone == "user" { "user/next" } else { "next" };
        open_memdir(&work, alone).write(&Write::create(path(name), "next")).unwrap();
        fs::remove_dir_all(work.join("user")).unwrap();
        fs::rename(work.join("aside"), work.join("user")).unwrap();
        open_memdir(&work, "project").write(&Write::create(path("next2"), "next")).unwrap();
        open_memdir(&work, "user").write(&Write::create(path("user/next2"), "next")).unwrap();
        let texts = files(&work);
        let copies: Vec<&String> = texts.iter().filter(|(_, text)| text.contains("end of precious")).map(|(name, _)| name).collect();
        assert!(!copies.is_empty(), "{alone}: the memory is only in the history");
        assert!(work.join("project/deep/precious.md").exists(), "{alone}: {copies:?}");
    }
}

/// A writer is not stopped by a temporary file that it may not remove; `memdir doctor --fix` removes it later and loses nothing.
#[test]
fn leftover_temporary_files_are_found_and_removed_and_their_saves_kept() {
    let (_top, dir) = with_two_files();
    assert!(is_killed("replaced", 0, &dir));
    on_file_call(Some(Box::new(|call| if call == FileCall::Remove { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) })));
    let _ = change(&store(&dir), &[("next.md", Some("next"))]);
    on_file_call(None);
    // Of another journal, and not of memdir.
    fs::create_dir(dir.join("memory/topic")).unwrap();
    let (unknown, other) = (dir.join("memory/topic/.memdir-zzzzzzzz-0.tmp"), dir.join("memory/.memdir-notes.tmp"));
    fs::write(&unknown, "unknown").unwrap();
    fs::write(&other, "other").unwrap();
    let opened = store(&dir);
    let found = opened.leftover_files();
    assert_eq!((found.len(), found[0].prefix.as_str()), (1, ""));
    assert!(found[0].files.len() >= 2 && found[0].files.contains(&unknown) && !found[0].files.contains(&other), "{found:?}");
    assert_eq!(opened.remove_leftover_files("").unwrap(), [unknown]);
    assert!(is_kept(&dir, "a", "theirs, first"));
    let left: Vec<String> = names(&dir.join("memory")).into_iter().filter(|name| name.ends_with(".tmp")).collect();
    assert_eq!(left, [".memdir-notes.tmp", "topic/.memdir-zzzzzzzz-0.tmp"]);
}
