//! `memdir undo` and `memdir redo`.

use crate::home::{Home, files_below};
use insta::assert_snapshot;
use std::fs;

#[test]
fn the_last_change_is_undone_and_redone() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    home.ok(&["write", "a", "two", "--replace"]);
    assert_snapshot!(home.run(&["undo"]), @"undid [ID]: write a, by ada, just now (redo: memdir redo [ID])");
    assert_eq!(home.text("a.md"), "one\n");
    assert_snapshot!(home.run(&["redo"]), @"redid [ID]: write a, by ada, just now (change [ID])");
    assert_eq!(home.text("a.md"), "two\n");
    assert_snapshot!(home.run(&["undo", "--json"]), @r#"
    {
      "undone": {
        "id": "[ID]",
        "at": "[TIME]",
        "actor": {
          "name": "ada"
        },
        "verb": "redo",
        "undoes": "[ID]",
        "files": [
          {
            "path": "MEMORY.md",
            "role": "entrypoint",
            "before": "b13fcf2d097afd40acbe1931c6c3fe19",
            "after": "df66cd3b9fa0901008cd887002a3db3e"
          },
          {
            "path": "a.md",
            "role": "memory",
            "before": "e0e63aa4c8e1ed796cb104d8a074e553",
            "after": "ef40086ad8a395c7a05b5f70cf2575ad"
          }
        ]
      },
      "change": {
        "id": "[ID]",
        "at": "[TIME]",
        "actor": {
          "name": "ada"
        },
        "verb": "undo",
        "undoes": "[ID]",
        "files": [
          {
            "path": "MEMORY.md",
            "role": "entrypoint",
            "before": "df66cd3b9fa0901008cd887002a3db3e",
            "after": "b13fcf2d097afd40acbe1931c6c3fe19"
          },
          {
            "path": "a.md",
            "role": "memory",
            "before": "ef40086ad8a395c7a05b5f70cf2575ad",
            "after": "e0e63aa4c8e1ed796cb104d8a074e553"
          }
        ]
      }
    }
    "#);
}

#[test]
fn a_change_that_was_undone_again_by_its_id_is_skipped() {
    let home = Home::new();
    home.ok(&["write", "first", "x"]);
    home.ok(&["write", "a", "x"]);
    let change = home.last_change();
    for command in ["undo", "redo", "undo"] {
        home.ok(&[command, &change]);
    }
    assert_snapshot!(home.run(&["undo", &change]), @r"
    -- stderr
    error: change [ID] is already undone
    hint: redo it with: memdir redo [ID]
    -- exit 1
    ");
    assert_snapshot!(home.run(&["undo"]), @"undid [ID]: write first, by ada, just now (redo: memdir redo [ID])");
    assert_eq!(home.ok(&["list"]), "");
    home.ok(&["redo"]);
    home.ok(&["redo"]);
    assert_eq!(home.ok(&["list"]), "a\nfirst\n");
    // An undo of the first redo is the newest of the same change too.
    home.ok(&["undo"]);
    home.ok(&["undo"]);
    assert_eq!(home.ok(&["list"]), "");
}

#[test]
fn changes_of_others_are_only_undone_by_id() {
    let home = Home::new();
    home.ok(&["write", "a", "ada's", "--actor", "ada"]);
    home.ok(&["write", "b", "bob's", "--actor", "bob"]);
    assert_snapshot!(home.run(&["undo"]), @"
    -- stderr
    error: the newest change is by bob: [ID] (wrote b); use its id to undo it, or [ID] to undo your newest change (wrote a)
    hint: list all changes with `memdir history`, or the versions of a memory with `memdir history NAME`
    -- exit 1
    ");
    let bobs = home.last_change();
    assert_snapshot!(home.run(&["undo", &bobs]), @"undid [ID]: write b, by bob, just now (redo: memdir redo [ID])");
    assert_eq!(home.files(), ["MEMORY.md", "a.md"]);
    assert_snapshot!(home.run(&["undo", &bobs]), @"
    -- stderr
    error: change [ID] is already undone
    hint: redo it with: memdir redo [ID]
    -- exit 1
    ");
    assert_snapshot!(home.run(&["redo", &bobs]), @"redid [ID]: write b, by bob, just now (change [ID])");
    assert_eq!(home.files(), ["MEMORY.md", "a.md", "b.md"]);
}

#[test]
fn a_later_change_is_a_conflict_with_its_diff() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    home.ok(&["write", "a", "two", "--replace"]);
    let change = home.last_change();
    home.put("a.md", "three, by an editor\n");
    assert_snapshot!(home.run(&["undo", &change]), @r#"
    -- stderr
    error: memory "a" has newer changes that would be overwritten:
    --- a/a.md
    +++ b/a.md
    @@ -1 +1 @@
    -two
    +three, by an editor

    hint: undo the newer changes first, or restore a version; list changes and versions with: memdir history a
    -- exit 1
    "#);
    assert_eq!(home.text("a.md"), "three, by an editor\n");
}

#[test]
fn nothing_to_undo_is_an_error() {
    let home = Home::new();
    assert_snapshot!(home.run(&["undo"]), @"
    -- stderr
    error: no changes to undo
    hint: list all changes with `memdir history`, or the versions of a memory with `memdir history NAME`
    -- exit 1
    ");
    assert_snapshot!(home.run(&["redo"]), @"
    -- stderr
    error: no changes to redo
    hint: list all changes with `memdir history`, or the versions of a memory with `memdir history NAME`
    -- exit 1
    ");
    home.ok(&["write", "a", "x"]);
    assert_snapshot!(home.run(&["undo", "zzzzzzzz"]), @r#"
    -- stderr
    error: change "zzzzzzzz" not found
    hint: list all changes with `memdir history`, or the versions of a memory with `memdir history NAME`
    -- exit 1
    "#);
}

#[test]
fn a_file_without_md_beside_one_with_md_is_restored() {
    let home = Home::new();
    home.put("x", "1\n");
    home.put("x.md", "2\n");
    home.ok(&["write", "x", "--append", "three"]);
    let before = home.text("x");
    home.ok(&["delete", "x"]);
    home.ok(&["undo"]);
    assert_eq!((home.text("x"), home.text("x.md")), (before.clone(), "2\n".into()));
    home.ok(&["rename", "x", "y.txt"]);
    home.ok(&["undo"]);
    assert_eq!((home.text("x"), home.text("x.md")), (before, "2\n".into()));
}

/// Another program's edit with an old modification time used to separate the two halves of a move in the history: the undo reverted
/// one of them, and the memory was in neither mount.
#[test]
fn a_move_is_undone_as_a_whole_whatever_the_times() {
    let home = Home::new();
    for n in 0..14 {
        home.run_bare(&["write", &format!("user/n{n}"), "x"]);
    }
    home.run_bare(&["write", "precious", "the only copy"]);
    home.run_bare(&["write", "y", "y"]);
    assert_snapshot!(home.run_bare(&["rename", "precious", "user/precious"]), @"renamed precious to user/precious (change [ID])");
    let y = files_below(&home.path("home")).into_iter().find(|name| name.ends_with("/y.md")).unwrap();
    fs::write(home.path("home").join(&y), "edited").unwrap();
    let file = fs::File::options().write(true).open(home.path("home").join(&y)).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_577_836_800)).unwrap();
    assert_eq!(home.run_bare(&["history", "y"]).lines().count(), 3);
    let all = home.run_bare(&["history"]);
    assert_eq!(all.lines().nth(1).map(|line| line.contains("y changed outside memdir")), Some(true), "{all}");
    assert!(all.lines().nth(2).unwrap().ends_with("renamed precious to user/precious"), "{all}");
    let id = all.lines().nth(2).unwrap().split(' ').next().unwrap().to_owned();
    let id = if id.starts_with('[') { json_of(&home, &["history"])["changes"][1]["id"].as_str().unwrap().to_owned() } else { id };
    assert!(home.run_bare(&["undo", &id]).starts_with("undid "));
    assert_eq!(home.run_bare(&["read", "precious"]), "the only copy\n");
    assert!(home.run_bare(&["read", "user/precious"]).contains("not found"));
    assert!(home.run_bare(&["redo", &id]).starts_with("redid "));
    assert_eq!(home.run_bare(&["read", "user/precious"]), "the only copy\n");
}

fn json_of(home: &Home, args: &[&str]) -> serde_json::Value {
    let output = home.bare(&[args, &["--json"]].concat()).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{args:?}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Moves and undos while other processes write to both mounts: every memory stays in exactly one place.
#[test]
fn moves_and_undos_among_other_writers_lose_nothing() {
    let home = Home::new();
    home.run_bare(&["write", "first", "x"]);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let home = &home;
            scope.spawn(move || {
                for n in 0..10 {
                    let name = format!("{}w{writer}-{n}", if n % 2 == 0 { "user/" } else { "" });
                    assert!(home.bare(&["write", &name, "x"]).output().unwrap().status.success());
                }
            });
        }
        for n in 0..10 {
            let (name, to) = (format!("m{n}"), format!("user/m{n}"));
            home.run_bare(&["write", &name, &format!("text of {n}")]);
            let moved = json_of(&home, &["rename", &name, &to])["change"].as_str().unwrap().to_owned();
            assert!(home.bare(&["undo", &moved]).output().unwrap().status.success());
            if n % 3 == 0 {
                assert!(home.bare(&["redo", &moved]).output().unwrap().status.success());
            }
        }
    });
    let files = files_below(&home.path("home"));
    for n in 0..10 {
        let place: Vec<bool> =
            files.iter().filter(|file| file.ends_with(&format!("/m{n}.md"))).map(|file| file.contains("user/")).collect();
        assert_eq!(place, [n % 3 == 0], "m{n}");
    }
    let shown = json_of(&home, &["history", "--limit", "0"]);
    let ids: Vec<&str> = shown["changes"].as_array().unwrap().iter().map(|change| change["id"].as_str().unwrap()).collect();
    let once: std::collections::BTreeSet<&&str> = ids.iter().collect();
    assert_eq!((ids.len(), once.len()), (41 + 30 + 4, 41 + 30 + 4), "every change is shown once");
}

/// One flipped bit used to end undo, redo, history, diff and stats for good.
/// A temporary file that recovery could not remove; another program had saved its text.
#[test]
fn a_leftover_temporary_file_is_reported_and_its_text_kept_in_the_history() {
    let home = Home::new();
    home.run(&["write", "a", "one"]);
    let id = home.json(&["history"])["changes"][0]["id"].as_str().unwrap().to_owned();
    let left = home.path("memory").join(format!(".memdir-{id}-0.tmp"));
    fs::write(&left, "theirs").unwrap();
    let doctor = home.run(&["doctor"]);
    assert!(doctor.contains(": left by a crash: [HOME]/memory/.memdir-") && doctor.contains("run: memdir doctor --fix"), "{doctor}");
    assert!(left.exists());
    let fixed = home.run(&["doctor", "--fix"]);
    assert!(fixed.contains(": removed: [HOME]/memory/.memdir-"), "{fixed}");
    assert!(!left.exists() && !home.run(&["doctor"]).contains(".tmp"));
    assert_eq!(home.text("a.md"), "one\n");
    let changes = home.json(&["history", "a"]);
    let verbs: Vec<&str> = changes["changes"].as_array().unwrap().iter().map(|change| change["verb"].as_str().unwrap()).collect();
    assert_eq!(verbs, ["found", "found", "write"], "the text that was found, and the one that the file has");
}

#[test]
fn a_damaged_record_is_reported_and_set_aside() {
    let home = Home::new();
    for (name, text) in [("a", "one"), ("b", "two"), ("c", "three")] {
        home.run(&["write", name, text]);
    }
    let log = files_below(&home.path("home/journal")).into_iter().find(|name| name.ends_with("changes.log")).unwrap();
    let log = home.path("home/journal").join(log);
    let mut bytes = fs::read(&log).unwrap();
    bytes[80] ^= 4;
    fs::write(&log, bytes).unwrap();
    let note = "note: skipped 1 damaged journal record; repair the journal with: memdir doctor --fix\n";
    let history = home.run(&["history"]);
    assert!(history.ends_with(note) && history.matches("wrote").count() == 2, "{history}");
    let history = home.run_bare(&["--dir", home.path("memory").to_str().unwrap(), "history"]);
    assert!(history.ends_with("; repair the journal with: memdir --dir [HOME]/memory doctor --fix\n"), "{history}");
    for args in [&["stats"][..], &["diff", "b"], &["undo"], &["redo"], &["history", "b"]] {
        let output = home.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let doctor = home.run(&["doctor"]);
    assert!(doctor.contains(": 1 damaged record in [HOME]/home/journal/") && doctor.contains("run: memdir doctor --fix"), "{doctor}");
    let fixed = home.run(&["doctor", "--fix"]);
    assert!(fixed.contains("1 damaged record set aside in"), "{fixed}");
    assert!(!home.run(&["history"]).contains("damaged") && !home.run(&["doctor"]).contains("damaged"));
    assert_eq!(home.json(&["history"])["changes"].as_array().unwrap().len(), 4);
}
