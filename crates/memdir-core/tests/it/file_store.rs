//! The store over directories: what it promises whatever happens to the disk.

use jiff::Timestamp;
use memdir_core::{
    Actor, ChangeFilter, Error, Expect, FileEdit, FileStore, Intent, Links, MemoryPath, Mount, Role, Store, Verb, Version, View,
    testing::disk_full_after,
};
use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
};
use tempfile::TempDir;

pub(crate) fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

pub(crate) fn intent(verb: Verb) -> Intent {
    Intent {
        verb,
        actor: Actor { name: "ada".into(), session: None },
        at: Timestamp::from_second(1_700_000_000).unwrap(),
        undoes: None,
        key: None,
    }
}

fn mount(home: &TempDir) -> Mount {
    Mount::new("", home.path().join("memory"), home.path().join("journal"))
}

fn vault(home: &TempDir) -> FileStore {
    FileStore::open(&[mount(home)]).unwrap()
}

fn put(vault: &FileStore, name: &str, text: &str) -> memdir_core::Result<()> {
    let at = path(name);
    let edit = FileEdit { path: at.clone(), bytes: Some(text.into()), role: Role::Memory };
    vault.change(&intent(Verb::Write), &[at], &mut |_| Ok(vec![edit.clone()])).map(drop)
}

fn remove(vault: &FileStore, name: &str) -> memdir_core::Result<()> {
    let at = path(name);
    vault
        .change(&intent(Verb::Delete), std::slice::from_ref(&at), &mut |_| {
            Ok(vec![FileEdit { path: at.clone(), bytes: None, role: Role::Memory }])
        })
        .map(drop)
}

fn text(vault: &FileStore, name: &str) -> Option<String> {
    vault.get(&path(name)).unwrap().map(|stored| String::from_utf8(stored.bytes).unwrap())
}

fn names(vault: &FileStore) -> Vec<String> {
    vault.list("").unwrap().entries.into_iter().map(|entry| entry.path.to_string()).collect()
}

/// Every file below a directory with its bytes, temporary and hidden ones included.
fn everything(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(at) = dirs.pop() {
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            let file = entry.path();
            if file.is_dir() {
                dirs.push(file);
            } else {
                out.push((file.strip_prefix(dir).unwrap().display().to_string(), fs::read(&file).unwrap_or_default()));
            }
        }
    }
    out.sort();
    out
}

#[test]
fn a_written_memory_is_readable_listed_and_private() {
    let home = TempDir::new().unwrap();
    let vault = vault(&home);
    put(&vault, "notes/deploy.md", "Deploy on Fridays.\n").unwrap();
    put(&vault, "plain", "no extension").unwrap();
    assert_eq!(text(&vault, "notes/deploy").as_deref(), Some("Deploy on Fridays.\n"));
    assert_eq!(text(&vault, "notes/deploy.md").as_deref(), Some("Deploy on Fridays.\n"));
    assert_eq!(names(&vault), ["notes/deploy.md", "plain"]);
    let mode = |path: &str| fs::metadata(home.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("memory"), mode("memory/notes"), mode("memory/notes/deploy.md")), (0o700, 0o700, 0o600));
    assert_eq!((mode("journal"), mode("journal/changes.log")), (0o700, 0o600));
}

#[test]
fn the_exact_name_wins_over_the_name_with_md() {
    let home = TempDir::new().unwrap();
    let vault = vault(&home);
    put(&vault, "a.md", "with").unwrap();
    assert_eq!(text(&vault, "a").as_deref(), Some("with"));
    put(&vault, "a", "without").unwrap();
    assert_eq!(text(&vault, "a").as_deref(), Some("without"));
    assert_eq!(text(&vault, "a.md").as_deref(), Some("with"));
}

#[test]
fn names_are_compared_in_nfc_and_opened_by_the_bytes_on_disk() {
    let home = TempDir::new().unwrap();
    let vault = vault(&home);
    let decomposed = "cafe\u{301}.md";
    fs::write(home.path().join("memory").join(decomposed), "noir").unwrap();
    assert_eq!(names(&vault), ["caf\u{e9}.md"]);
    assert_eq!(text(&vault, "caf\u{e9}").as_deref(), Some("noir"));
    put(&vault, "caf\u{e9}.md", "blanc").unwrap();
    assert_eq!(everything(&home.path().join("memory")), [(decomposed.to_owned(), b"blanc".to_vec())]);
}

#[test]
fn a_replaced_file_keeps_its_mode() {
    let home = TempDir::new().unwrap();
    let vault = vault(&home);
    put(&vault, "a.md", "1").unwrap();
    let file = home.path().join("memory/a.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    put(&vault, "a.md", "2").unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn links_out_of_the_directory_are_refused_for_reading_and_writing() {
    let home = TempDir::new().unwrap();
    let vault = vault(&home);
    let outside = home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.md"), "secret").unwrap();
    symlink(&outside, home.path().join("memory/dir")).unwrap();
    symlink(outside.join("secret.md"), home.path().join("memory/file.md")).unwrap();
    symlink("nowhere", home.path().join("memory/dangling.md")).unwrap();
    for name in ["dir/secret", "dir/secret.md", "file", "file.md"] {
        let error = vault.get(&path(name)).unwrap_err();
        assert!(matches!(&error, Error::BadPath { why, .. } if why.contains("link_roots")), "{name}: {error}");
    }
    for name in ["dir/new.md", "file.md", "dangling.md"] {
        assert!(put(&vault, name, "x").is_err(), "{name} was written");
    }
    assert_eq!(everything(&outside), [("secret.md".to_owned(), b"secret".to_vec())]);
    let walk = vault.list("").unwrap();
    assert_eq!((walk.entries.len(), walk.problems.len()), (0, 3));
}

#[test]
fn links_are_followed_if_the_mount_allows_it() {
    let home = TempDir::new().unwrap();
    let outside = home.path().join("outside");
    fs::create_dir_all(outside.join("deep")).unwrap();
    fs::write(outside.join("deep/shared.md"), "shared").unwrap();
    let mut mount = mount(&home);
    mount.links = Links { inside: true, roots: vec![outside.clone()], fixed: false };
    let vault = FileStore::open(&[mount]).unwrap();
    put(&vault, "real/a.md", "a").unwrap();
    symlink("real", home.path().join("memory/alias")).unwrap();
    symlink(&outside, home.path().join("memory/out")).unwrap();
    symlink("..", home.path().join("memory/real/loop")).unwrap();
    symlink("/", home.path().join("memory/slash")).unwrap();
    assert_eq!(text(&vault, "alias/a").as_deref(), Some("a"));
    assert_eq!(text(&vault, "out/deep/shared").as_deref(), Some("shared"));
    put(&vault, "out/deep/new.md", "new").unwrap();
    assert_eq!(fs::read_to_string(outside.join("deep/new.md")).unwrap(), "new");
    assert!(vault.get(&path("slash/etc/hostname")).is_err());
    assert_eq!(names(&vault), ["out/deep/new.md", "out/deep/shared.md", "real/a.md"]);
    // Writing through a link changes what it points to; removing it removes the link alone.
    symlink("a.md", home.path().join("memory/real/link.md")).unwrap();
    put(&vault, "real/link.md", "b").unwrap();
    assert_eq!(text(&vault, "real/a").as_deref(), Some("b"));
    remove(&vault, "real/link.md").unwrap();
    assert_eq!((text(&vault, "real/link"), text(&vault, "real/a").as_deref()), (None, Some("b")));
    let error = MemoryPath::parse("out/../../x").unwrap_err();
    assert!(matches!(Error::from(error), Error::BadPath { .. }));
}

#[test]
fn special_files_are_skipped_without_blocking() {
    let home = TempDir::new().unwrap();
    let vault = vault(&home);
    let made = std::process::Command::new("mkfifo").arg(home.path().join("memory/pipe")).status().unwrap();
    assert!(made.success());
    assert!(matches!(vault.get(&path("pipe")), Err(Error::BadPath { .. })));
    assert_eq!(names(&vault), Vec::<String>::new());
}

#[test]
fn a_read_creates_nothing() {
    let home = TempDir::new().unwrap();
    let vault = vault(&home);
    assert_eq!(text(&vault, "no/such/memory"), None);
    assert!(remove(&vault, "no/such/other.md").is_ok());
    assert_eq!(everything(&home.path().join("memory")), []);
    assert_eq!(fs::read_dir(home.path().join("memory")).unwrap().count(), 0);
}

#[test]
fn a_plan_that_fails_changes_nothing() {
    let home = TempDir::new().unwrap();
    let vault = vault(&home);
    put(&vault, "a.md", "1").unwrap();
    let expected = Version::from_content(b"0");
    let failed = vault.change(&intent(Verb::Write), &[path("a.md")], &mut |view| {
        let found = view.get(&path("a.md"))?.map(|stored| stored.version);
        Expect::Is(expected).check(&path("a.md"), found)?;
        Ok(vec![])
    });
    assert!(matches!(failed, Err(Error::Changed { expected: e, found: Some(_), .. }) if e == expected));
    assert_eq!(text(&vault, "a").as_deref(), Some("1"));
}

/// Fails the first I/O call, then the second, until a change of several files succeeds.
#[test]
fn a_full_disk_at_any_moment_changes_nothing() {
    for n in 0.. {
        let home = TempDir::new().unwrap();
        let vault = vault(&home);
        put(&vault, "a.md", "old a").unwrap();
        put(&vault, "gone.md", "old gone").unwrap();
        let before = everything(&home.path().join("memory"));
        let edit = |name: &str, text: Option<&str>| FileEdit { path: path(name), bytes: text.map(Into::into), role: Role::Memory };
        let edits = vec![edit("a.md", Some("new a")), edit("deep/er/b.md", Some("new b")), edit("gone.md", None)];
        disk_full_after(Some(n));
        let made = vault.change(&intent(Verb::Write), &[path("a.md")], &mut |_| Ok(edits.clone()));
        disk_full_after(None);
        if made.is_ok() {
            assert!(n > 8, "only {n} places where the disk could be full");
            assert_eq!(names(&vault), ["a.md", "deep/er/b.md"]);
            return;
        }
        // The next process settles what could not even be rolled back.
        put(&vault, "next.md", "next").unwrap();
        remove(&vault, "next.md").unwrap();
        assert_eq!(everything(&home.path().join("memory")), before, "after failing call {n}");
        assert!(!home.path().join("memory/deep").exists(), "a directory was left, after failing call {n}");
        let changes = vault.changes(&ChangeFilter::default()).unwrap();
        assert_eq!(changes.len(), 4, "the failed change is not in the history, after failing call {n}");
    }
}

#[test]
fn the_journal_returns_every_version() {
    let home = TempDir::new().unwrap();
    let vault = vault(&home);
    let texts = ["one\n", "one\ntwo\n", "zero\none\ntwo\n", "zero\none\n", "something else entirely", "zero\none\n"];
    for text in texts {
        put(&vault, "a.md", text).unwrap();
    }
    remove(&vault, "a.md").unwrap();
    // A second process reads what the first one wrote.
    let other = FileStore::open(&[mount(&home)]).unwrap();
    for text in texts {
        assert_eq!(other.text_at(&path("a"), Version::from_content(text.as_bytes())).unwrap().as_deref(), Some(text.as_bytes()));
    }
    let changes = other.changes(&ChangeFilter { path: Some(path("a")), ..ChangeFilter::default() }).unwrap();
    assert_eq!(changes.len(), texts.len() + 1);
    assert_eq!(changes[0].verb, Verb::Delete);
}

#[test]
fn changes_of_another_program_are_in_the_history() {
    let home = TempDir::new().unwrap();
    let vault = vault(&home);
    put(&vault, "a.md", "by memdir").unwrap();
    fs::write(home.path().join("memory/a.md"), "by an editor").unwrap();
    put(&vault, "a.md", "by memdir again").unwrap();
    fs::remove_file(home.path().join("memory/a.md")).unwrap();
    let changes = vault.changes(&ChangeFilter { path: Some(path("a")), ..ChangeFilter::default() }).unwrap();
    let verbs: Vec<Verb> = changes.iter().map(|change| change.verb).collect();
    assert_eq!(verbs, [Verb::Found, Verb::Write, Verb::Found, Verb::Write]);
    for text in ["by memdir", "by an editor", "by memdir again"] {
        assert_eq!(vault.text_at(&path("a"), Version::from_content(text.as_bytes())).unwrap().as_deref(), Some(text.as_bytes()));
    }
}

#[test]
fn a_torn_journal_is_repaired_and_damage_is_skipped() {
    let home = TempDir::new().unwrap();
    let log = home.path().join("journal/changes.log");
    put(&vault(&home), "a.md", "1").unwrap();
    put(&vault(&home), "a.md", "2").unwrap();
    let whole = fs::read(&log).unwrap();
    fs::write(&log, [whole.as_slice(), b"\xa5\x00\x00\x00\x01"].concat()).unwrap();
    put(&vault(&home), "a.md", "3").unwrap();
    assert_eq!(vault(&home).changes(&ChangeFilter::default()).unwrap().len(), 3);
    let mut damaged = fs::read(&log).unwrap();
    damaged[60] ^= 0xff;
    fs::write(&log, &damaged).unwrap();
    put(&vault(&home), "a.md", "4").unwrap();
    assert_eq!(text(&vault(&home), "a").as_deref(), Some("4"));
    // Only the damaged record is missing.
    assert_eq!(vault(&home).changes(&ChangeFilter::default()).unwrap().len(), 3);
}

#[test]
fn a_journal_that_cannot_be_written_refuses_the_change() {
    let home = TempDir::new().unwrap();
    let vault = vault(&home);
    fs::write(home.path().join("journal"), "a file is in the way").unwrap();
    let error = put(&vault, "a.md", "1").unwrap_err();
    assert!(error.to_string().contains("journal = \"PATH\""), "{error}");
    assert_eq!(names(&vault), Vec::<String>::new());
}

#[test]
fn two_thousand_appends_grow_the_journal_by_less_than_two_megabytes() {
    let home = TempDir::new().unwrap();
    let vault = vault(&home);
    let mut all = String::new();
    for n in 0..2_000 {
        all.push_str(&format!("{n:05} {:=>43}\n", ""));
        put(&vault, "log.md", &all).unwrap();
    }
    let size = vault.journal_size().unwrap();
    assert_eq!(size.changes, 2_000);
    assert!(size.bytes < 2_000_000, "{} bytes", size.bytes);
    assert_eq!(
        vault.text_at(&path("log"), Version::from_content(&all.as_bytes()[..500])).unwrap().as_deref(),
        Some(&all.as_bytes()[..500])
    );
}

#[test]
fn mounts_share_one_space_and_one_change() {
    let home = TempDir::new().unwrap();
    let mounts = [mount(&home), Mount::new("team", home.path().join("team"), home.path().join("team-journal"))];
    let vault = FileStore::open(&mounts).unwrap();
    let edit = |name: &str| FileEdit { path: path(name), bytes: Some(name.into()), role: Role::Memory };
    vault.change(&intent(Verb::Write), &[path("a.md"), path("team/b.md")], &mut |_| Ok(vec![edit("a.md"), edit("team/b.md")])).unwrap();
    assert_eq!(names(&vault), ["a.md", "team/b.md"]);
    assert_eq!(fs::read_to_string(home.path().join("team/b.md")).unwrap(), "team/b.md");
    let changes = vault.changes(&ChangeFilter::default()).unwrap();
    assert_eq!(changes.iter().map(|change| change.files.len()).collect::<Vec<_>>(), [2]);
    assert_eq!(vault.list("team").unwrap().entries.len(), 1);
    assert_eq!(vault.list("teams").unwrap().entries.len(), 0);
}

#[test]
fn mounts_inside_mounts_are_refused() {
    let home = TempDir::new().unwrap();
    let inner = Mount::new("inner", home.path().join("memory/inner"), home.path().join("j2"));
    let error = FileStore::open(&[mount(&home), inner]).unwrap_err();
    assert!(error.to_string().contains("is inside"), "{error}");
}

#[test]
fn read_only_and_ignored_patterns_hold_on_every_path() {
    let home = TempDir::new().unwrap();
    put(&vault(&home), "fixed.md", "1").unwrap();
    put(&vault(&home), "private/x.md", "1").unwrap();
    let mut mount = mount(&home);
    mount.read_only = vec!["fixed".into()];
    mount.ignored = vec!["private/.*".into()];
    let vault = FileStore::open(&[mount]).unwrap();
    assert!(matches!(put(&vault, "fixed.md", "2"), Err(Error::ReadOnly { .. })));
    assert!(matches!(remove(&vault, "fixed.md"), Err(Error::ReadOnly { .. })));
    assert!(matches!(put(&vault, "private/y.md", "2"), Err(Error::ReadOnly { .. })));
    assert_eq!((text(&vault, "private/x"), names(&vault)), (None, vec!["fixed.md".to_owned()]));
}

#[test]
fn a_directory_that_cannot_be_made_reads_as_empty_and_refuses_with_the_cause() {
    let home = TempDir::new().unwrap();
    fs::write(home.path().join("memory"), "a file").unwrap();
    let vault = vault(&home);
    assert_eq!(vault.problems().len(), 1);
    assert_eq!(names(&vault), Vec::<String>::new());
    assert!(put(&vault, "a.md", "1").unwrap_err().to_string().contains("cannot create"));
}

#[test]
fn the_journal_stays_bounded_and_keeps_the_newest_version_of_everything() {
    let home = TempDir::new().unwrap();
    let mut small = mount(&home);
    small.journal_bytes = 8_000;
    let vault = FileStore::open(&[small]).unwrap();
    put(&vault, "old.md", "written once, long ago").unwrap();
    put(&vault, "deleted.md", "deleted long ago").unwrap();
    remove(&vault, "deleted.md").unwrap();
    let day = |n: i64| Timestamp::from_second(1_700_000_000 + n * 86_400).unwrap();
    let mut largest = 0;
    for n in 0..400 {
        let name = path(&format!("busy-{}.md", n % 3));
        let edit = FileEdit { path: name.clone(), bytes: Some(format!("version {n}\n{}", "same ".repeat(20)).into()), role: Role::Memory };
        let intent = Intent { at: day(n), ..intent(Verb::Write) };
        vault.change(&intent, &[name], &mut |_| Ok(vec![edit.clone()])).unwrap();
        largest = largest.max(vault.journal_size().unwrap().bytes);
    }
    // The changes of ninety days are kept (about 27 kB here), and a rewritten journal waits until it has doubled.
    assert!(largest < 60_000, "{largest} bytes");
    let other = self::vault(&home);
    for (name, text) in [("old", "written once, long ago"), ("deleted", "deleted long ago")] {
        assert_eq!(other.text_at(&path(name), Version::from_content(text.as_bytes())).unwrap().as_deref(), Some(text.as_bytes()), "{name}");
    }
    let changes = other.changes(&ChangeFilter::default()).unwrap();
    assert!(changes.len() < 300, "{} changes are left", changes.len());
    for file in changes.iter().flat_map(|change| &change.files) {
        if let Some(after) = file.after {
            assert!(other.text_at(&file.path, after).unwrap().is_some(), "{} at {after}", file.path);
        }
    }
}
