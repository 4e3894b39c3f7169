//! Changes made by other programs: editors, `rm`, `mv`, git. They are in the history, and the newest of them is undone.

use crate::{
    home::{Home, mode},
    scope::{repository, run_in},
    talk::Talk,
};
use insta::assert_snapshot;
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
};

const REVISION: &str = "2025-11-25";

/// Waits until the clock of the file system has moved on, so that what follows is later than what memdir did.
fn next_tick(home: &Home) {
    let now = || {
        fs::write(home.path("probe"), "").unwrap();
        fs::metadata(home.path("probe")).unwrap().modified().unwrap()
    };
    let before = now();
    while now() == before {}
}

/// Bare `memdir` and `history` used to show only what memdir itself did.
#[test]
fn changes_of_other_programs_are_in_the_history() {
    let home = Home::new();
    for name in ["a", "b", "c", "d"] {
        home.ok(&["write", name, &format!("text of {name}")]);
    }
    next_tick(&home);
    home.put("a.md", "by an editor\r\nwith Windows line ends\r\n");
    assert_snapshot!(home.run(&[]), @"
    4 memories in [HOME]/memory
    last change: a changed outside memdir, by another program, just now ([ID])
    next: memdir read, memdir list, memdir history, memdir --help
    ");
    next_tick(&home);
    fs::remove_file(home.memory("b.md")).unwrap();
    assert_snapshot!(home.run(&[]), @"
    3 memories in [HOME]/memory
    last change: b deleted outside memdir, by another program, just now ([ID])
    next: memdir read, memdir list, memdir history, memdir --help
    ");
    next_tick(&home);
    fs::rename(home.memory("c.md"), home.memory("e.md")).unwrap();
    home.ok(&["history"]);
    next_tick(&home);
    home.put("d.md", b"not UTF-8: \xff\xfe\n");
    assert_snapshot!(home.run(&["history"]), @"
    change    when      actor            what
    [ID]      just now  another program  d changed outside memdir
    [ID]      just now  another program  c renamed to e outside memdir
    [ID]      just now  another program  b deleted outside memdir
    [ID]      just now  another program  a changed outside memdir
    [ID]      just now  ada              wrote d
    [ID]      just now  ada              wrote c
    [ID]      just now  ada              wrote b
    [ID]      just now  ada              wrote a
    ");
    assert_snapshot!(home.run(&["history", "e"]), @"
    change    when      actor            what                           version
    [ID]      just now  another program  c renamed to e outside memdir  45afb39ca1d7
    [ID]      just now  ada              wrote c                        45afb39ca1d7
    ");
    assert_snapshot!(home.run(&["history", "--limit", "4", "--json"]), @r#"
    {
      "changes": [
        {
          "id": "[ID]",
          "at": "[TIME]",
          "actor": {
            "name": "another program"
          },
          "verb": "found",
          "files": [
            {
              "path": "d.md",
              "role": "memory",
              "before": "3093773819356eee8442dad98e5c0bc5",
              "after": "cdb797ddca1f4aaffc4b268e4f8ffac5"
            }
          ]
        },
        {
          "id": "[ID]",
          "at": "[TIME]",
          "actor": {
            "name": "another program"
          },
          "verb": "found",
          "files": [
            {
              "path": "c.md",
              "role": "memory",
              "before": "45afb39ca1d79c96c10047f66c2a74f8",
              "after": null
            },
            {
              "path": "e.md",
              "role": "memory",
              "before": null,
              "after": "45afb39ca1d79c96c10047f66c2a74f8"
            }
          ]
        },
        {
          "id": "[ID]",
          "at": "[TIME]",
          "actor": {
            "name": "another program"
          },
          "verb": "found",
          "files": [
            {
              "path": "b.md",
              "role": "memory",
              "before": "b75e5cf8d390c9a802caeeb6c63a9a36",
              "after": null
            }
          ]
        },
        {
          "id": "[ID]",
          "at": "[TIME]",
          "actor": {
            "name": "another program"
          },
          "verb": "found",
          "files": [
            {
              "path": "a.md",
              "role": "memory",
              "before": "58c3b308737479b4887cb1ec0504711c",
              "after": "5a6bab57299796e7ef72abded6eebd3a"
            }
          ]
        }
      ]
    }
    "#);
    // Nothing new: nothing is recorded again.
    assert_eq!(home.ok(&["history"]).lines().count(), 9);
}

/// Bare `undo` used to answer that the newest change was memdir's own, and to revert that one.
#[test]
fn the_newest_change_is_undone_even_if_another_program_made_it() {
    let home = Home::new();
    for name in ["a", "b", "c", "d"] {
        home.ok(&["write", name, &format!("text of {name}")]);
    }
    let entrypoint = home.text("MEMORY.md");
    next_tick(&home);
    home.put("a.md", "by an editor\r\n");
    assert_snapshot!(home.run(&["undo"]), @"undid [ID]: a changed outside memdir, by another program, just now (redo: memdir redo [ID])");
    next_tick(&home);
    fs::remove_file(home.memory("b.md")).unwrap();
    assert_snapshot!(home.run(&["undo"]), @"undid [ID]: b deleted outside memdir, by another program, just now (redo: memdir redo [ID])");
    next_tick(&home);
    fs::rename(home.memory("c.md"), home.memory("e.md")).unwrap();
    assert_snapshot!(home.run(&["undo"]), @"undid [ID]: c renamed to e outside memdir, by another program, just now (redo: memdir redo [ID])");
    next_tick(&home);
    home.put("d.md", b"\xff\xfe");
    assert_snapshot!(home.run(&["undo"]), @"undid [ID]: d changed outside memdir, by another program, just now (redo: memdir redo [ID])");
    let texts = || ["a.md", "b.md", "c.md", "d.md"].map(|name| home.text(name));
    assert_eq!(texts(), ["text of a\n", "text of b\n", "text of c\n", "text of d\n"]);
    assert_eq!((home.text("MEMORY.md"), home.files().len()), (entrypoint, 5));
    assert_snapshot!(home.run(&["redo"]), @"redid [ID]: d changed outside memdir, by another program, just now (change [ID])");
    assert_eq!(fs::read(home.memory("d.md")).unwrap(), b"\xff\xfe");
    next_tick(&home);
    home.put("MEMORY.md", "# Mine\n");
    assert_snapshot!(home.run(&["undo"]), @"undid [ID]: the entrypoint changed outside memdir, by another program, just now (redo: memdir redo [ID])");
}

/// The time of a change decides, not when memdir noticed it.
#[test]
fn an_outside_change_before_a_change_of_memdir_is_not_the_newest() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    next_tick(&home);
    home.put("a.md", "by an editor\n");
    home.ok(&["write", "b", "later"]);
    assert_snapshot!(home.run(&["undo"]), @"undid [ID]: write b, by ada, just now (redo: memdir redo [ID])");
    assert_snapshot!(home.run(&["undo"]), @"undid [ID]: a changed outside memdir, by another program, just now (redo: memdir redo [ID])");
    assert_eq!((home.text("a.md"), home.memory("b.md").exists()), ("one\n".to_owned(), false));
}

/// A change of another process of the same actor is named with its time.
#[test]
fn an_undo_names_the_actor_whose_change_it_reverted() {
    let home = Home::new();
    home.ok(&["write", "a", "one", "--actor", "cli"]);
    assert_snapshot!(home.run(&["undo", "--actor", "cli"]), @"undid [ID]: write a, by cli, just now (redo: memdir redo [ID])");
}

#[test]
fn an_agent_never_undoes_changes_of_other_programs() {
    let home = Home::new();
    let mut talk = Talk::begin(&home, &["--actor", "another program"], REVISION);
    talk.call_text("memory_write", json!({ "path": "a", "content": "one" }));
    talk.call_text("memory_write", json!({ "path": "b", "content": "two" }));
    home.put("a.md", "by an editor\n");
    let outside = home.last_change();
    assert!(home.run(&["history", "--limit", "1"]).contains("a changed outside memdir"));
    let refused = talk.call("memory_undo", json!({ "change": outside }));
    assert_eq!((refused["isError"].clone(), home.text("a.md")), (json!(true), "by an editor\n".to_owned()));
    assert!(talk.call_text("memory_undo", json!({})).starts_with("Undid: wrote b"));
    assert_eq!(talk.call("memory_undo", json!({}))["isError"], true);
    assert_eq!((home.text("a.md"), home.memory("b.md").exists()), ("by an editor\n".to_owned(), false));
}

/// A directory that cannot be reached is not a deletion.
#[test]
fn files_that_cannot_be_seen_are_not_deleted() {
    let home = Home::new();
    home.ok(&["write", "topic/a", "one"]);
    let before = home.ok(&["history"]);
    fs::rename(home.path("memory"), home.path("elsewhere")).unwrap();
    assert_eq!(home.ok(&["history"]), before);
    let _ = fs::remove_dir(home.path("memory"));
    fs::rename(home.path("elsewhere"), home.path("memory")).unwrap();
    assert_eq!(home.ok(&["history"]), before);
}

/// Lines of removed files used to stay in the entrypoint for ever.
#[test]
fn the_line_of_a_removed_file_goes_with_the_next_write() {
    let home = Home::new();
    for name in ["a", "b", "c"] {
        home.ok(&["write", name, &format!("text of {name}")]);
    }
    let own = "\n- [Mine](c.md): my own words\n- [Gone](gone.md): mine too\n";
    home.put("MEMORY.md", home.text("MEMORY.md") + own);
    fs::remove_file(home.memory("a.md")).unwrap();
    fs::remove_file(home.memory("c.md")).unwrap();
    assert_snapshot!(home.run(&["write", "d", "new"]), @"
    created d (4 bytes, version 79d1d8da0b62, change [ID])
    -- stderr
    note: MEMORY.md: removed the line for a.md, which no longer exists
    ");
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [b](b.md) — text of b
    - [d](d.md) — new
    <!-- /memdir -->

    - [Mine](c.md): my own words
    - [Gone](gone.md): mine too
    ");
    home.ok(&["undo"]);
    assert!(home.text("MEMORY.md").contains("(a.md)"));
    assert_snapshot!(home.run(&["entrypoint"]), @"
    MEMORY.md: links to a.md, which does not exist
    MEMORY.md (line 9): links to c.md, which does not exist
    MEMORY.md: links to c.md, which does not exist
    MEMORY.md (line 10): links to gone.md, which does not exist
    -- stderr
    note: remove the lines for missing files with: memdir entrypoint --repair
    -- exit 1
    ");
    assert_snapshot!(home.run(&["check", "--fix"]), @"
    MEMORY.md:7: dead-line: links to c.md, which does not exist
    MEMORY.md:8: dead-line: links to gone.md, which does not exist
    b.md: type: no type; set it to user, feedback, project or reference
    a.md: removed from the entrypoint, because the file does not exist
    2 files: 2 errors, 1 suggestion
    -- stderr
    note: undo the repair with: memdir undo [ID]
    note: 1 memory has no cues; see which with: memdir cues
    -- exit 1
    ");
    home.ok(&["undo"]);
    assert_snapshot!(home.run(&["entrypoint", "--repair"]), @"
    MEMORY.md: removed the line for a.md, which does not exist
    MEMORY.md (line 7): links to c.md, which does not exist
    MEMORY.md (line 8): links to gone.md, which does not exist
    undo the repair with: memdir undo [ID]
    -- exit 1
    ");
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [b](b.md) — text of b
    <!-- /memdir -->

    - [Mine](c.md): my own words
    - [Gone](gone.md): mine too
    ");
}

/// `mv` used to leave a dead line, and the file without a line.
#[test]
fn a_file_renamed_by_hand_has_one_line() {
    let home = Home::new();
    for name in ["a", "b", "c"] {
        home.ok(&["write", name, &format!("text of {name}")]);
    }
    home.put("MEMORY.md", home.text("MEMORY.md").replace("- [b](b.md) — text of b", "- [Bee](b.md) — words of my own"));
    fs::rename(home.memory("a.md"), home.memory("a2.md")).unwrap();
    fs::rename(home.memory("b.md"), home.memory("b2.md")).unwrap();
    home.ok(&["write", "d", "new"]);
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [a2](a2.md) — text of a
    - [Bee](b2.md) — words of my own
    - [c](c.md) — text of c
    - [d](d.md) — new
    <!-- /memdir -->
    ");
    // A line of the person's own, outside of memdir's section.
    home.put("MEMORY.md", home.text("MEMORY.md").replace("- [c](c.md) — text of c\n", "") + "\n- [See](c.md), it matters\n");
    fs::create_dir(home.memory("topic")).unwrap();
    fs::rename(home.memory("c.md"), home.memory("topic/c.md")).unwrap();
    assert_snapshot!(home.run(&["check", "--fix"]), @"
    a2.md: type: no type; set it to user, feedback, project or reference
    b2.md: type: no type; set it to user, feedback, project or reference
    d.md: type: no type; set it to user, feedback, project or reference
    topic/c.md: type: no type; set it to user, feedback, project or reference
    topic/c.md: added to the entrypoint
    c.md: removed from the entrypoint, because the file does not exist
    5 files: 0 errors, 4 suggestions
    -- stderr
    note: undo the repair with: memdir undo [ID]
    note: 4 memories have no cues; see which with: memdir cues
    ");
    assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [a2](a2.md) — text of a
    - [Bee](b2.md) — words of my own
    - [d](d.md) — new
    <!-- /memdir -->

    - [See](topic/c.md), it matters
    ");
}

/// An import used to move the newest lines to pages: files that were being written had no time yet.
#[test]
fn the_oldest_memories_by_their_own_dates_move_to_pages() {
    let home = Home::new();
    home.ok(&["write", "kept", "written today"]);
    fs::create_dir_all(home.path("old")).unwrap();
    for n in 0..220_u64 {
        // The names are in the opposite order of the dates.
        let file = home.path("old").join(format!("m{:03}.md", 219 - n));
        let date = if n % 2 == 0 { String::new() } else { format!("---\nmodified: {}-06-01\n---\n", 1800 + n) };
        fs::write(&file, format!("{date}memory {n}\n")).unwrap();
        // Years after 1970, as far as the file system keeps them.
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(n * 31_536_000 / 8);
        fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    }
    home.ok(&["import", &home.path("old").to_string_lossy()]);
    let (main, page) = (home.text("MEMORY.md"), home.text("MEMORY.page-001.md"));
    assert!(main.contains("(kept.md)") && main.contains("(m001.md)"), "{main}");
    assert!(page.contains("(m218.md)") && page.contains("(m219.md)") && !page.contains("(m001.md)"), "{page}");
    assert_eq!(fs::metadata(home.memory("m219.md")).unwrap().modified().unwrap(), std::time::UNIX_EPOCH);
    // The next overflow, long after the import, goes by the same dates.
    for n in 0..120 {
        home.ok(&["write", &format!("new{n:03}"), "new"]);
    }
    let main = home.text("MEMORY.md");
    assert!(main.contains("(kept.md)") && main.contains("(new119.md)"), "{main}");
}

#[test]
fn conflict_markers_are_reported_with_their_line() {
    let home = Home::new();
    let conflict = "---\ntype: project\n---\nours\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> branch\n";
    let quoted =
        "---\ntype: project\n---\nHow a conflict looks:\n\n```\n<<<<<<< HEAD\n=======\n>>>>>>> x\n```\n\nHeading\n=======\n\n<<<<<<<<\n";
    home.ok(&["write", "a", conflict]);
    home.ok(&["write", "b", quoted]);
    assert_snapshot!(home.run(&["check"]), @"
    a.md:5: conflict-marker: <<<<<<< is a merge conflict marker; resolve the conflict and remove the marker
    a.md:7: conflict-marker: ======= is a merge conflict marker; resolve the conflict and remove the marker
    a.md:9: conflict-marker: >>>>>>> is a merge conflict marker; resolve the conflict and remove the marker
    3 files: 3 errors, 0 suggestions
    -- stderr
    note: 2 memories have no cues; see which with: memdir cues
    -- exit 1
    ");
}

#[test]
fn what_memdir_writes_ends_with_a_newline() {
    let home = Home::new();
    fs::write(home.path("text"), "from a file").unwrap();
    home.ok(&["write", "a", "--file", &home.path("text").to_string_lossy()]);
    home.run_with(&["write", "b", "-"], "from a pipe");
    home.run_with(&["write", "c", "-"], "one\r\ntwo");
    home.ok(&["write", "d", "one\n"]);
    home.ok(&["edit", "d", "one\n", "two"]);
    home.ok(&["write", "e", "one", "--title", "E"]);
    home.ok(&["write", "e", "two", "--append"]);
    let mut talk = Talk::begin(&home, &[], REVISION);
    talk.call_text("memory_write", json!({ "path": "f", "content": "one" }));
    talk.call_text("memory_write", json!({ "path": "f", "content": "two", "mode": "append" }));
    talk.call_text("memory_write", json!({ "path": "g", "content": "one\n" }));
    talk.call_text("memory_edit", json!({ "path": "g", "old": "one\n", "new": "two" }));
    let texts: BTreeMap<&str, String> =
        ["a", "b", "c", "d", "e", "f", "g"].map(|name| (name, home.text(&format!("{name}.md")))).into_iter().collect();
    assert_snapshot!(format!("{texts:#?}"), @r#"
    {
        "a": "from a file\n",
        "b": "from a pipe\n",
        "c": "one\r\ntwo\r\n",
        "d": "two\n",
        "e": "---\nname: E\n---\n\none\ntwo\n",
        "f": "one\ntwo\n",
        "g": "two\n",
    }
    "#);
    // A dialect stores what it is given.
    let mut serena = Talk::begin(&home, &["--dialect", "serena"], REVISION);
    serena.call_text("write_memory", json!({ "memory_name": "s", "content": "no newline" }));
    let stored: Vec<String> = home.files().into_iter().filter(|name| name.ends_with("s.md")).map(|name| home.text(&name)).collect();
    assert_eq!(stored, ["no newline"]);
}

#[test]
fn an_empty_text_is_refused() {
    let home = Home::new();
    assert_snapshot!(home.run(&["write", "a", ""]), @r#"
    -- stderr
    error: the text for "a" is blank
    hint: pass a text with at least one visible character
    -- exit 2
    "#);
    assert_snapshot!(home.run_with(&["write", "a", "-"], " \n\t"), @r#"
    -- stderr
    error: the text for "a" is blank
    hint: pass a text with at least one visible character
    -- exit 2
    "#);
    home.ok(&["write", "a", "one"]);
    for args in [&["--append"][..], &["--replace"]] {
        assert!(home.run(&[&["write", "a", " "], args].concat()).contains("the text for \"a\" is blank"));
    }
    let mut talk = Talk::begin(&home, &[], REVISION);
    let refused = talk.call("memory_write", json!({ "path": "b", "content": " \n" }));
    assert_snapshot!(refused["content"][0]["text"].as_str().unwrap(), @"content: it is empty; pass the text to save, or delete the memory. Correct the argument and call again.");
    assert_eq!((home.text("a.md"), home.files()), ("one\n".into(), vec!["MEMORY.md".into(), "a.md".into()]));
}

/// Team memories used to be private to the user who created them.
#[test]
fn a_team_folder_has_the_modes_of_the_repository() {
    for (umask, file, dir) in [(0o002, 0o664, 0o775), (0o022, 0o644, 0o755), (0o027, 0o640, 0o750), (0o077, 0o600, 0o700)] {
        let home = Home::new();
        repository(&home, "shop");
        for args in [&["init", "--team"][..], &["write", "team/topic/rule", "ours"], &["write", "mine", "private"]] {
            let mut command = home.bare(args);
            with_umask(command.current_dir(home.path("shop")), umask);
            assert!(command.output().unwrap().status.success());
        }
        let team = home.path("shop/.memdir");
        let modes = ["", "topic", "topic/rule.md", "MEMORY.md", ".gitattributes"].map(|name| mode(&team.join(name)));
        assert_eq!(modes, [dir, dir, file, file, file], "{umask:o}");
        // An existing file keeps its mode, and everything else stays private.
        fs::set_permissions(team.join("topic/rule.md"), std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
        run_in(&home, "shop", &["write", "team/topic/rule", "more", "--append"]);
        assert_eq!(mode(&team.join("topic/rule.md")), 0o640);
        let own = crate::home::files_below(&home.path("home"));
        let own = own.iter().filter(|name| name.starts_with("projects/")).map(|name| mode(&home.path("home").join(name)));
        assert_eq!(own.filter(|mode| *mode != 0o600).count(), 0);
    }
}

/// Starts a command with a umask.
fn with_umask(command: &mut Command, umask: u32) {
    let shell = format!("umask {umask:o}; exec \"$0\" \"$@\"");
    let mut wrapped = Command::new("/bin/sh");
    wrapped.arg("-c").arg(shell).arg(command.get_program()).args(command.get_args());
    wrapped.env_clear().envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    wrapped.current_dir(command.get_current_dir().unwrap());
    *command = wrapped;
}

/// Twenty processes write while an editor changes and deletes files, and `history` and `undo` run: every version that was saved is in
/// its file or in the history, and every file is whole.
#[test]
fn writers_an_editor_and_undos_at_once_lose_nothing() {
    let home = Home::new();
    for n in 0..6 {
        home.ok(&["write", &format!("e{n}"), "by memdir"]);
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..20)
            .map(|writer| {
                let home = &home;
                scope.spawn(move || {
                    for n in 0..3 {
                        let actor = format!("w{writer}");
                        let saved = home.command(&["write", &format!("w{writer}-{n}"), "text", "--actor", &actor]).output().unwrap();
                        assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            let mut n = 0;
            while !done.load(Ordering::Relaxed) {
                let name = format!("e{}.md", n % 6);
                match n % 3 {
                    0 => drop(fs::remove_file(home.memory(&name))),
                    // As editors save: a temporary file that is renamed.
                    _ => {
                        fs::write(home.memory(".save.swp"), format!("by an editor {n}\r\n")).unwrap();
                        fs::rename(home.memory(".save.swp"), home.memory(&name)).unwrap();
                    }
                }
                n += 1;
                home.command(&["history", "--limit", "3"]).output().unwrap();
            }
        });
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // It may revert an outside change, or refuse another actor's change.
                let undo = home.command(&["undo"]).output().unwrap();
                assert!(matches!(undo.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&undo.stderr));
            }
        });
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    let history = home.json(&["history", "--limit", "0"]);
    let changes = history["changes"].as_array().unwrap();
    for (writer, n) in (0..20).flat_map(|writer| (0..3).map(move |n| (writer, n))) {
        assert_eq!(home.text(&format!("w{writer}-{n}.md")), "text\n");
    }
    // The chain of each file has no gap: every version follows from the one before, and the newest is the file's.
    for n in 0..6 {
        let name = format!("e{n}.md");
        let own: Vec<_> =
            changes.iter().flat_map(|change| change["files"].as_array().unwrap()).filter(|file| file["path"] == name).collect();
        for pair in own.windows(2) {
            assert_eq!(pair[0]["before"], pair[1]["after"], "{name}");
        }
        let now = fs::read(home.memory(&name)).ok().map(|bytes| memdir_core::Version::from_content(&bytes).to_string());
        assert_eq!(own[0]["after"], json!(now), "{name}");
    }
    let errors = home.json(&["check"])["findings"].as_array().unwrap().iter().filter(|one| one["rule"] == "unreadable").count();
    assert_eq!(errors, 0);
}
