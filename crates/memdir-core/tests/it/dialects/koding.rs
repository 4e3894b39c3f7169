use crate::support::{self, Desk, nothing};
use serde_json::json;
use std::{fs, os::unix::fs::symlink};

fn desk(files: &[(&str, &str)]) -> Desk {
    let files: Vec<(String, &str)> = files.iter().map(|(name, text)| (format!("home/.koding/memory/{name}"), *text)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    support::dialect("koding", &[], &files)
}

#[test]
fn the_overview_is_the_root_file_and_every_path() {
    let desk = desk(&[("index.md", "# Index\n"), ("b/c.txt", "x"), ("a.md", "y"), (".hidden/h", "z"), (".dot", "d")]);
    let root = desk.root.display();
    let wanted = format!(
        "Here are the contents of the root memory file, `{root}/index.md`:\n'''\n# Index\n\n'''\n\nFiles in the memory directory:\n\
         - {root}/.dot\n- {root}/.hidden/h\n- {root}/a.md\n- {root}/b/c.txt\n- {root}/index.md"
    );
    let result = desk.call("MemoryRead", nothing());
    assert_eq!(result.text, wanted);
    assert_eq!(result.structured.unwrap(), json!({ "content": wanted }));
}

#[test]
fn the_root_file_is_named_even_when_it_is_not_there() {
    let desk = desk(&[]);
    let root = desk.root.display();
    let wanted =
        format!("Here are the contents of the root memory file, `{root}/index.md`:\n'''\n\n'''\n\nFiles in the memory directory:\n");
    assert_eq!(desk.text("MemoryRead", nothing()), wanted);
}

#[test]
fn memory_md_is_the_root_file_only_without_an_index() {
    let both = desk(&[("index.md", "I"), ("MEMORY.md", "M")]);
    assert!(both.text("MemoryRead", nothing()).contains("/index.md`:\n'''\nI\n'''"));
    let one = desk(&[("MEMORY.md", "M")]);
    assert!(one.text("MemoryRead", nothing()).contains("/MEMORY.md`:\n'''\nM\n'''"));
}

#[test]
fn a_file_is_written_and_read_byte_for_byte_and_nothing_else_appears() {
    let desk = desk(&[]);
    let content = "---\nname: x\n---\nno line end";
    let result = desk.call("MemoryWrite", json!({ "file_path": "notes/deep/x.json", "content": content }));
    assert_eq!((result.text.as_str(), result.is_error), ("Saved", false));
    assert_eq!(desk.file("notes/deep/x.json").unwrap(), content);
    assert_eq!(desk.text("MemoryRead", json!({ "file_path": "notes/deep/x.json" })), content);
    assert_eq!(desk.tree(&desk.root), ["notes/", "notes/deep/", "notes/deep/x.json"]);
}

#[test]
fn errors_have_the_documented_texts() {
    let desk = desk(&[("notes/x.md", "x")]);
    let read = |path: &str| desk.error("MemoryRead", json!({ "file_path": path }));
    assert_eq!(read("missing.md"), "Memory file does not exist");
    // A name is the whole name of a file.
    assert_eq!(read("notes/x"), "Memory file does not exist");
    for path in ["../x", "a/../../memory2/s", "a/../../memory/notes/x.md", "\0", "a\\b", "a/..", "notes/x.md/", "notes/x.md/."] {
        assert_eq!(read(path), "Invalid memory file path", "{path:?}");
    }
    assert!(desk.error("MemoryRead", json!({ "path": "x" })).contains("not a parameter of MemoryRead"));
}

/// 0-a: a prefix without a separator is not containment.
#[test]
fn a_directory_beside_the_root_is_not_inside_it() {
    let desk = desk(&[("index.md", "")]);
    support::put(&desk.root.with_file_name("memory-evil").join("x.md"), "secret");
    let outside = format!("{}-evil/x.md", desk.root.display());
    for path in ["../memory-evil/x.md", outside.as_str()] {
        assert_eq!(desk.error("MemoryRead", json!({ "file_path": path })), "Invalid memory file path");
        assert_eq!(desk.error("MemoryWrite", json!({ "file_path": path, "content": "y" })), "Invalid memory file path");
    }
    assert_eq!(fs::read_to_string(desk.root.with_file_name("memory-evil").join("x.md")).unwrap(), "secret");
}

/// 0-b: a link inside the root leads nowhere else.
#[test]
fn links_that_lead_out_are_refused() {
    let desk = desk(&[("index.md", "")]);
    let outside = desk.top.path().join("outside");
    support::put(&outside.join("s.md"), "secret");
    symlink(&outside, desk.root.join("link")).unwrap();
    symlink(outside.join("s.md"), desk.root.join("s.md")).unwrap();
    for path in ["link/s.md", "s.md"] {
        assert_eq!(desk.error("MemoryRead", json!({ "file_path": path })), "Invalid memory file path");
        assert_eq!(desk.error("MemoryWrite", json!({ "file_path": path, "content": "y" })), "Invalid memory file path");
    }
    assert_eq!(fs::read_to_string(outside.join("s.md")).unwrap(), "secret");
}

/// 0-c and 0-d: a directory is not a file, and a foreign absolute path is refused instead of moved below the root.
#[test]
fn directories_and_foreign_paths_are_refused() {
    let desk = desk(&[("notes/x.md", "x")]);
    let root = desk.root.display().to_string();
    for path in [".", "notes", "notes/", root.as_str(), "/etc/passwd"] {
        assert_eq!(desk.error("MemoryRead", json!({ "file_path": path })), "Invalid memory file path", "{path}");
        assert_eq!(desk.error("MemoryWrite", json!({ "file_path": path, "content": "y" })), "Invalid memory file path", "{path}");
    }
    assert_eq!(desk.tree(&desk.root), ["notes/", "notes/x.md"]);
}

/// 0-e: what the listing prints is accepted back.
#[test]
fn a_listed_path_is_accepted_back() {
    let desk = desk(&[("notes/x.md", "x")]);
    let listed = format!("{}/notes/x.md", desk.root.display());
    assert_eq!(desk.text("MemoryRead", json!({ "file_path": listed })), "x");
    assert_eq!(desk.text("MemoryWrite", json!({ "file_path": listed, "content": "y" })), "Saved");
    assert_eq!(desk.file("notes/x.md").unwrap(), "y");
}

#[test]
fn dots_and_slashes_inside_the_root_are_resolved() {
    let desk = desk(&[("x.md", "x"), ("notes/y.md", "y")]);
    let root = desk.root.display();
    let here = [("./x.md", "x"), ("a/../x.md", "x"), ("notes//y.md", "y"), ("notes/../notes/./y.md", "y"), (".//a/b/../../x.md", "x")];
    let absolute = [(format!("{root}/./x.md"), "x"), (format!("{root}/a/../notes/y.md"), "y")];
    for (path, text) in here.map(|(path, text)| (path.to_owned(), text)).into_iter().chain(absolute) {
        assert_eq!(desk.text("MemoryRead", json!({ "file_path": path })), text, "{path}");
    }
    assert_eq!(desk.text("MemoryWrite", json!({ "file_path": "new/../z/./z.md", "content": "z" })), "Saved");
    assert_eq!(desk.tree(&desk.root), ["notes/", "notes/y.md", "x.md", "z/", "z/z.md"]);
    for outside in [format!("{root}/../memory/x.md"), format!("{root}/a/../../memory/x.md"), format!("{root}/../x.md")] {
        assert_eq!(desk.error("MemoryRead", json!({ "file_path": outside })), "Invalid memory file path");
    }
}

/// 0-f: one unreadable entry does not fail the listing.
#[test]
fn a_dangling_link_does_not_fail_the_listing() {
    let desk = desk(&[("a.md", "x")]);
    symlink(desk.root.join("gone"), desk.root.join("dangling")).unwrap();
    assert!(desk.text("MemoryRead", nothing()).ends_with(&format!("- {}/a.md", desk.root.display())));
}

/// 0-g: an overwritten file can be restored.
#[test]
fn an_overwritten_file_can_be_restored() {
    let desk = desk(&[]);
    desk.text("MemoryWrite", json!({ "file_path": "a.md", "content": "one" }));
    desk.text("MemoryWrite", json!({ "file_path": "a.md", "content": "two" }));
    desk.caller.memdir.undo(&memdir_core::UndoTarget::Mine).unwrap();
    assert_eq!(desk.file("a.md").unwrap(), "one");
}

/// 0-h: a read is complete up to 150,000 characters, then states what is left.
#[test]
fn very_long_files_are_cut_with_a_note() {
    let line = "0123456789\n";
    let desk = desk(&[("whole.md", &line.repeat(13_000)), ("long.md", &line.repeat(20_000))]);
    assert_eq!(desk.text("MemoryRead", json!({ "file_path": "whole.md" })), line.repeat(13_000));
    let shown = desk.text("MemoryRead", json!({ "file_path": "long.md" }));
    assert!(
        shown.ends_with(&format!("[70004 more characters: use a file tool to read {}/long.md from line 13637 on]", desk.root.display())),
        "{}",
        &shown[149_000..]
    );
}

#[test]
fn the_configuration_directory_of_the_environment_is_used() {
    let desk = support::dialect("koding", &[("CLAUDE_CONFIG_DIR", "config")], &[("config/memory/index.md", "here")]);
    assert!(desk.text("MemoryRead", nothing()).contains("'''\nhere\n'''"));
}
