use crate::support::{self, Desk};
use regex::Regex;
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::{MetadataExt as _, symlink},
};

fn desk() -> Desk {
    support::dialect("anthropic", &[], &[])
}

/// The size of a directory is the file system's affair.
fn plain(text: &str) -> String {
    Regex::new(r"(?m)^[0-9.]+[BKMG]\t(/memories(?:/.*/)?|/memories/d)$").unwrap().replace_all(text, "SIZE\t$1").into_owned()
}

/// What the reference implementation answered, command by command, on an empty directory.
#[test]
fn the_recorded_session_is_answered_word_for_word() {
    let recorded: Vec<Value> = serde_json::from_str(include_str!("../../golden/anthropic.json")).unwrap();
    let desk = desk();
    for step in recorded {
        let result = desk.call("memory", step["input"].clone());
        let wanted = step["output"].as_str().or(step["error"].as_str()).unwrap();
        assert_eq!(plain(&result.text), plain(wanted), "{}", step["input"]);
        assert_eq!(result.is_error, step["error"].is_string(), "{}", step["input"]);
        assert_eq!(result.structured, None);
    }
    assert_eq!(desk.tree(&desk.root), [".hidden", "crlf", "empty", "n/", "n/m/", "n/m/b.txt"]);
    assert_eq!(desk.file("crlf").unwrap(), "a\r\nb\nc\n");
    assert_eq!(desk.file("n/m/b.txt").unwrap(), "top\n1\nmid\n2\n2b\nthree\n4\nfive\nsix\nlast\n");
}

#[test]
fn links_that_lead_out_are_refused_at_any_component() {
    let desk = desk();
    let outside = desk.top.path().join("outside");
    support::put(&outside.join("s"), "secret");
    symlink(&outside, desk.root.join("out")).unwrap();
    symlink(outside.join("s"), desk.root.join("s")).unwrap();
    for path in ["/memories/out/s", "/memories/s"] {
        let wanted = format!("Path {path} would escape /memories directory");
        for input in [
            json!({ "command": "view", "path": path }),
            json!({ "command": "str_replace", "path": path, "old_str": "secret", "new_str": "x" }),
            json!({ "command": "insert", "path": path, "insert_line": 0, "insert_text": "x" }),
        ] {
            assert_eq!(desk.error("memory", input.clone()), wanted, "{input}");
        }
    }
    assert_eq!(
        desk.error("memory", json!({ "command": "create", "path": "/memories/out/new", "file_text": "x" })),
        "Path /memories/out/new would escape /memories directory"
    );
    assert_eq!(desk.tree(&outside), ["s"]);
    assert_eq!(fs::read_to_string(outside.join("s")).unwrap(), "secret");
}

#[test]
fn a_link_that_stays_inside_is_followed() {
    let desk = desk();
    desk.text("memory", json!({ "command": "create", "path": "/memories/a", "file_text": "x" }));
    symlink("a", desk.root.join("link")).unwrap();
    assert_eq!(
        desk.text("memory", json!({ "command": "view", "path": "/memories/link" })),
        "Here's the content of /memories/link with line numbers:\n     1\tx"
    );
}

#[test]
fn what_is_no_file_is_called_so() {
    let desk = desk();
    rustix::fs::mknodat(rustix::fs::CWD, desk.root.join("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert_eq!(desk.error("memory", json!({ "command": "view", "path": "/memories/pipe" })), "Unsupported file type for /memories/pipe");
}

#[test]
fn names_that_are_no_directory_of_ours_are_refused() {
    let desk = desk();
    for path in ["/memoriesX/a", "memories/a", "", "/", "/mem"] {
        let wanted = format!("Path must start with /memories, got: {path}");
        assert_eq!(desk.error("memory", json!({ "command": "create", "path": path, "file_text": "x" })), wanted);
    }
    for path in ["/memories/%2e%2e/x", "/memories/a/%2E%2E/%2e%2e/x", "/memories/..\\x", "/memories/x\0"] {
        let wanted = format!("Path {path} would escape /memories directory");
        assert_eq!(desk.error("memory", json!({ "command": "create", "path": path, "file_text": "x" })), wanted);
    }
    assert!(desk.tree(&desk.root).is_empty());
}

#[test]
fn files_are_the_owners_alone_whatever_the_umask() {
    let desk = desk();
    desk.text("memory", json!({ "command": "create", "path": "/memories/d/e/f", "file_text": "x" }));
    let mode = |path: &str| fs::metadata(desk.root.join(path)).unwrap().mode() & 0o777;
    assert_eq!((mode("d"), mode("d/e"), mode("d/e/f")), (0o700, 0o700, 0o600));
}

#[test]
fn a_folder_does_not_move_into_itself_and_goes_as_one() {
    let desk = desk();
    for name in ["d/a", "d/b/c"] {
        desk.text("memory", json!({ "command": "create", "path": format!("/memories/{name}"), "file_text": name }));
    }
    assert!(
        desk.error("memory", json!({ "command": "rename", "old_path": "/memories/d", "new_path": "/memories/d/in" }))
            .contains("into itself")
    );
    desk.text("memory", json!({ "command": "rename", "old_path": "/memories/d", "new_path": "/memories/e/f" }));
    assert_eq!(desk.tree(&desk.root), ["e/", "e/f/", "e/f/a", "e/f/b/", "e/f/b/c"]);
    desk.text("memory", json!({ "command": "delete", "path": "/memories/e" }));
    assert!(desk.tree(&desk.root).is_empty());
    desk.caller.memdir.undo(&memdir_core::UndoTarget::Mine).unwrap();
    assert_eq!(desk.tree(&desk.root), ["e/", "e/f/", "e/f/a", "e/f/b/", "e/f/b/c"]);
}

#[test]
fn a_very_long_file_is_cut_and_says_how_to_go_on() {
    let desk = desk();
    desk.put("long", &"0123456789\n".repeat(20_000));
    let shown = desk.text("memory", json!({ "command": "view", "path": "/memories/long" }));
    assert!(shown.chars().count() < 150_200);
    let last = shown.lines().last().unwrap();
    assert!(last.ends_with("more characters: view_range [8334, -1] shows the rest]"), "{last}");
    assert!(
        desk.text("memory", json!({ "command": "view", "path": "/memories/long", "view_range": [8334, 8335] }))
            .contains("  8334\t0123456789\n  8335\t")
    );
}

#[test]
fn bytes_that_are_not_text_are_kept() {
    let desk = desk();
    fs::write(desk.root.join("raw"), b"a\xffb\n").unwrap();
    assert!(desk.text("memory", json!({ "command": "view", "path": "/memories/raw" })).contains("a\u{fffd}b"));
    assert!(
        desk.error("memory", json!({ "command": "str_replace", "path": "/memories/raw", "old_str": "a", "new_str": "b" }))
            .contains("not valid UTF-8")
    );
    assert_eq!(fs::read(desk.root.join("raw")).unwrap(), b"a\xffb\n");
}

#[test]
fn an_unknown_command_is_named() {
    assert_eq!(desk().error("memory", json!({ "command": "bogus" })), "Unknown command: bogus");
}
