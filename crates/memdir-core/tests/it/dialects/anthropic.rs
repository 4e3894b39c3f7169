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

/// Replaces the sizes of directories, which depend on the file system.
fn without_directory_sizes(text: &str) -> String {
    Regex::new(r"(?m)^[0-9.]+[BKMG]\t(/memories(?:/.*/)?|/memories/[df])$").unwrap().replace_all(text, "SIZE\t$1").into_owned()
}

/// What the reference implementation answered, command by command, on an empty directory.
#[test]
fn the_recorded_session_is_answered_word_for_word() {
    let recorded: Vec<Value> = serde_json::from_str(include_str!("../../golden/anthropic.json")).unwrap();
    let desk = desk();
    for step in recorded {
        let result = desk.call("memory", step["input"].clone());
        let wanted = step["output"].as_str().or(step["error"].as_str()).unwrap();
        assert_eq!(without_directory_sizes(&result.text), without_directory_sizes(wanted), "{}", step["input"]);
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
fn a_path_that_is_not_a_file_is_reported() {
    let desk = desk();
    rustix::fs::mknodat(rustix::fs::CWD, desk.root.join("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert_eq!(desk.error("memory", json!({ "command": "view", "path": "/memories/pipe" })), "Unsupported file type for /memories/pipe");
}

#[test]
fn paths_outside_of_the_memory_directory_are_refused() {
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
fn files_are_private_whatever_the_umask() {
    let desk = desk();
    desk.text("memory", json!({ "command": "create", "path": "/memories/d/e/f", "file_text": "x" }));
    let mode = |path: &str| fs::metadata(desk.root.join(path)).unwrap().mode() & 0o777;
    assert_eq!((mode("d"), mode("d/e"), mode("d/e/f")), (0o700, 0o700, 0o600));
}

#[test]
fn a_folder_moves_as_a_whole_and_never_into_itself() {
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
fn a_very_long_file_is_cut_with_a_note_how_to_continue() {
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
            .contains("The file /memories/raw is not UTF-8 text and cannot be edited. Create another file instead.")
    );
    assert_eq!(fs::read(desk.root.join("raw")).unwrap(), b"a\xffb\n");
}

/// Answers of the reference to commands in this order, on one directory.
#[test]
fn the_differences_that_a_random_run_found_are_gone() {
    let desk = desk();
    let steps = [
        (
            json!({ "command": "create", "path": "/memories/d/e/a.md", "file_text": "one\r\ntwo\r\n" }),
            "File created successfully at: /memories/d/e/a.md",
        ),
        (json!({ "command": "create", "path": "/memories/b.md", "file_text": "a\n" }), "File created successfully at: /memories/b.md"),
        // The destination is checked first.
        (
            json!({ "command": "rename", "old_path": "/memories/none", "new_path": "/memories/b.md" }),
            "The destination /memories/b.md already exists",
        ),
        (
            json!({ "command": "rename", "old_path": "/memories/b.md", "new_path": "/memories/b.md" }),
            "The destination /memories/b.md already exists",
        ),
        // A folder stays when its last file is deleted, and is still reported as a folder.
        (json!({ "command": "delete", "path": "/memories/d/e/a.md" }), "Successfully deleted /memories/d/e/a.md"),
        (
            json!({ "command": "view", "path": "/memories" }),
            "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\nSIZE\t/memories\n2B\t/memories/b.md\nSIZE\t/memories/d/\nSIZE\t/memories/d/e/",
        ),
        (
            json!({ "command": "view", "path": "/memories/d/" }),
            "Here're the files and directories up to 2 levels deep in /memories/d/, excluding hidden items:\nSIZE\t/memories/d/\nSIZE\t/memories/d//e/",
        ),
        (json!({ "command": "create", "path": "/memories/d/e", "file_text": "x" }), "File /memories/d/e already exists"),
        (json!({ "command": "str_replace", "path": "/memories/d", "old_str": "a", "new_str": "b" }), "The path /memories/d is not a file."),
        (
            json!({ "command": "rename", "old_path": "/memories/b.md", "new_path": "/memories/d" }),
            "The destination /memories/d already exists",
        ),
        (
            json!({ "command": "rename", "old_path": "/memories/d", "new_path": "/memories/f/g" }),
            "Successfully renamed /memories/d to /memories/f/g",
        ),
        (
            json!({ "command": "view", "path": "/memories/f" }),
            "Here're the files and directories up to 2 levels deep in /memories/f, excluding hidden items:\nSIZE\t/memories/f\nSIZE\t/memories/f/g/\nSIZE\t/memories/f/g/e/",
        ),
        (json!({ "command": "delete", "path": "/memories/f" }), "Successfully deleted /memories/f"),
        (json!({ "command": "delete", "path": "/memories/f" }), "The path /memories/f does not exist"),
        // A rename without a source has made the folders of the destination.
        (
            json!({ "command": "rename", "old_path": "/memories/none", "new_path": "/memories/h/i" }),
            "The path /memories/none does not exist",
        ),
        (json!({ "command": "delete", "path": "/memories/h" }), "Successfully deleted /memories/h"),
        // An empty text at the end adds nothing; elsewhere it is an empty line.
        (
            json!({ "command": "insert", "path": "/memories/b.md", "insert_line": 1, "insert_text": "" }),
            "The file /memories/b.md has been edited.",
        ),
        (
            json!({ "command": "view", "path": "/memories/b.md" }),
            "Here's the content of /memories/b.md with line numbers:\n     1\ta\n     2\t",
        ),
        (
            json!({ "command": "insert", "path": "/memories/b.md", "insert_line": 0, "insert_text": "\n\n" }),
            "The file /memories/b.md has been edited.",
        ),
        (
            json!({ "command": "view", "path": "/memories/b.md" }),
            "Here's the content of /memories/b.md with line numbers:\n     1\t\n     2\ta\n     3\t",
        ),
        // Overlapping occurrences are counted once and listed all.
        (json!({ "command": "create", "path": "/memories/o", "file_text": "aaa\naaaa" }), "File created successfully at: /memories/o"),
        (
            json!({ "command": "str_replace", "path": "/memories/o", "old_str": "aa", "new_str": "b" }),
            "No replacement was performed. Multiple occurrences of old_str `aa` in lines: 1, 1, 2, 2, 2. Please ensure it is unique",
        ),
        (
            json!({ "command": "view", "path": "/memories/o", "view_range": [1, -2] }),
            "Here's the content of /memories/o with line numbers:\n",
        ),
        (
            json!({ "command": "view", "path": "/memories/./x/..//o", "view_range": [2, 2] }),
            "Here's the content of /memories/./x/..//o with line numbers:\n     2\taaaa",
        ),
        (
            json!({ "command": "view", "path": "/memories/x/../../memories/o" }),
            "Path /memories/x/../../memories/o would escape /memories directory",
        ),
    ];
    for (input, wanted) in steps {
        assert_eq!(without_directory_sizes(&desk.call("memory", input.clone()).text), wanted, "{input}");
    }
    assert_eq!(desk.tree(&desk.root), ["b.md", "o"]);
}

#[test]
fn files_of_16_mb_are_written_and_edited_and_larger_ones_are_refused() {
    let desk = desk();
    let text = format!("{}\n", "0123456789abcde\n".repeat(1 << 20).trim_end());
    assert_eq!(text.len(), 16 << 20);
    let create = |path: &str, text: &str| desk.call("memory", json!({ "command": "create", "path": path, "file_text": text }));
    assert_eq!(create("/memories/large", &text).text, "File created successfully at: /memories/large");
    let edit = json!({ "command": "str_replace", "path": "/memories/large", "old_str": "x", "new_str": "y" });
    assert!(desk.error("memory", edit).starts_with("No replacement was performed, old_str `x`"));
    let more = json!({ "command": "insert", "path": "/memories/large", "insert_line": 0, "insert_text": "x" });
    assert_eq!(desk.error("memory", more), "/memories/large is 16777218 bytes; the limit is 16777216. Split the text into several files.");
    assert_eq!(desk.file("large").unwrap().len(), 16 << 20);
}

#[test]
fn an_unknown_command_is_named() {
    assert_eq!(desk().error("memory", json!({ "command": "bogus" })), "Unknown command: bogus");
}
