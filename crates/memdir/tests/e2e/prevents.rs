//! Defects of other memory systems, each with a test that memdir does not have it.

use crate::home::{Home, files_below};
use insta::assert_snapshot;
use std::{fs, os::unix::fs::symlink};

/// A name cannot lead out of the directory.
#[test]
fn a_sibling_directory_with_the_same_beginning_is_not_inside() {
    let home = Home::new();
    home.ok(&["write", "a", "x"]);
    fs::create_dir_all(home.path("memory-evil")).unwrap();
    fs::write(home.path("memory-evil/x.md"), "evil").unwrap();
    for name in ["../memory-evil/x.md", "a/../../memory-evil/x", "..", "%2e%2e/memory-evil/x", "．．/memory-evil/x"] {
        let printed = home.run(&["read", name]);
        assert!(printed.ends_with("-- exit 2\n") && !printed.contains("evil\n-- "), "{name}: {printed}");
        assert!(home.run(&["write", name, "x"]).ends_with("-- exit 2\n"), "{name}");
    }
    assert_eq!(files_below(&home.path("memory-evil")), ["x.md"]);
    assert_snapshot!(home.run(&["read", "../memory-evil/x.md"]), @r#"
    -- stderr
    error: invalid memory name "../memory-evil/x.md": it contains the component ".."; use a name without it
    -- exit 2
    "#);
}

#[test]
fn a_link_inside_does_not_lead_outside() {
    let home = Home::new();
    home.ok(&["write", "a", "x"]);
    fs::create_dir_all(home.path("outside")).unwrap();
    fs::write(home.path("outside/secret.md"), "secret").unwrap();
    symlink(home.path("outside"), home.memory("dir")).unwrap();
    symlink(home.path("outside/secret.md"), home.memory("file.md")).unwrap();
    assert_snapshot!(home.run(&["read", "file"]), @r#"
    -- stderr
    error: invalid memory name "file.md": file.md is a symbolic link that points outside the directory; to allow it, add `link_roots = ["[HOME]/outside"]` to the `[[mounts]]` entry with `path = "[HOME]/memory"` in memdir's config.toml
    -- exit 2
    "#);
    for args in [&["read", "dir/secret"][..], &["write", "dir/new", "x"], &["write", "file", "x", "--replace"], &["delete", "dir/secret"]] {
        let printed = home.run(args);
        assert!(printed.contains("-- exit 2") && !printed.contains("secret\n--"), "{args:?}: {printed}");
    }
    assert_eq!(fs::read_to_string(home.path("outside/secret.md")).unwrap(), "secret");
    assert_eq!(files_below(&home.path("outside")), ["secret.md"]);
}

#[test]
fn a_directory_is_not_read_as_a_memory() {
    let home = Home::new();
    home.ok(&["write", "notes/a", "x"]);
    assert_snapshot!(home.run(&["read", "."]), @r#"
    -- stderr
    error: invalid memory name ".": it contains the component "."; use a name without it
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["read", "notes"]), @r#"
    -- stderr
    error: memory "notes" not found
    hint: did you mean "notes/a"?
    -- exit 1
    "#);
}

#[test]
fn an_absolute_path_is_an_error_and_not_moved_under_the_root() {
    let home = Home::new();
    assert_snapshot!(home.run(&["read", "/etc/passwd"]), @r#"
    -- stderr
    error: invalid memory name "/etc/passwd": it is an absolute path; use a name relative to the memory directory
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["write", "/etc/memdir-was-here", "x"]), @r#"
    -- stderr
    error: invalid memory name "/etc/memdir-was-here": it is an absolute path; use a name relative to the memory directory
    -- exit 2
    "#);
    assert_eq!(home.files(), Vec::<String>::new());
}

#[test]
fn what_a_listing_prints_is_accepted_back() {
    let home = Home::new();
    for name in ["a", "deep/er/b", "c.txt", "caf\u{e9}", "two words", "x.md.md"] {
        home.ok(&["write", name, &format!("text of {name}")]);
    }
    home.put("both", "without");
    home.put("both.md", "with");
    let listed = home.ok(&["list"]);
    assert_snapshot!(listed, @"
    a
    both
    both.md
    c.txt
    café
    deep/er/b
    two words
    x.md.md
    ");
    for name in listed.lines() {
        home.ok(&["read", name]);
    }
    for memory in home.json(&["list"])["memories"].as_array().unwrap() {
        assert_eq!(home.ok(&["read", memory["path"].as_str().unwrap()]).len() as u64, memory["bytes"].as_u64().unwrap());
    }
}

#[test]
fn one_unreadable_entry_does_not_hide_the_others() {
    let home = Home::new();
    home.ok(&["write", "a", "x"]);
    symlink("gone", home.memory("dangling.md")).unwrap();
    fs::create_dir(home.memory("locked")).unwrap();
    assert_snapshot!(home.run(&["list", "--long"]), @r#"
    name  type  size     age    description
    a     -     2 bytes  today
    -- stderr
    note: "dangling.md" is a symbolic link; to follow links within this directory, set `follow_links = true` in its `[[mounts]]` entry in memdir's config.toml
    "#);
}

#[test]
fn an_overwrite_is_guarded_and_can_be_undone() {
    let home = Home::new();
    home.ok(&["write", "a", "one"]);
    assert!(home.run(&["write", "a", "two"]).ends_with("-- exit 1\n"));
    home.ok(&["write", "a", "two", "--replace"]);
    home.ok(&["undo"]);
    assert_eq!(home.text("a.md"), "one\n");
}

#[test]
fn no_output_is_without_bounds() {
    let home = Home::new();
    home.put("MEMORY.md", "- line\n".repeat(100_000));
    home.put("big.md", "word ".repeat(1_000_000));
    assert!(home.ok(&["read"]).len() < 26_000);
    assert!(home.ok(&["read", "big"]).len() <= 100_000);
}

#[test]
fn a_topic_cannot_list_what_is_outside() {
    let home = Home::new();
    home.ok(&["write", "a", "x"]);
    fs::write(home.path("outside.md"), "x").unwrap();
    assert_snapshot!(home.run(&["list", "../.."]), @r#"
    -- stderr
    error: invalid memory name "../..": it contains the component ".."; use a name without it
    -- exit 2
    "#);
    for topic in ["..", "/etc", "a/../..", "notes/.."] {
        assert!(home.run(&["list", topic]).ends_with("-- exit 2\n"), "{topic}");
    }
}

fn with_fixed() -> Home {
    let home = Home::new();
    home.put("a.md", "A.\n");
    home.put("fixed.md", "See [[a]].\n");
    home.put("free.md", "See [[a]].\n");
    home.configure("[[mounts]]\nname = \"\"\npath = \"../memory\"\nread_only = [\"fixed\"]\n");
    home
}

#[test]
fn a_rename_skips_read_only_memories_and_reports_them() {
    let home = with_fixed();
    assert_snapshot!(home.run(&["rename", "a", "b"]), @"
    renamed a to b (change [ID])
    updated references in free
    -- stderr
    note: references in read-only memories were not updated: fixed
    ");
    let texts = ["b.md", "fixed.md", "free.md"].map(|name| home.text(name));
    assert_eq!(texts, ["A.\n", "See [[a]].\n", "See [[b]].\n"]);
}

#[test]
fn a_read_only_memory_cannot_be_renamed_away() {
    let home = with_fixed();
    assert_snapshot!(home.run(&["rename", "fixed", "moved"]), @r#"
    -- stderr
    error: cannot write "fixed": a read-only pattern matches its name
    hint: use another name, or change `read_only` in the settings of the mount: see `memdir where`
    -- exit 3
    "#);
    assert_snapshot!(home.run(&["rename", "a", "fixed"]), @r#"
    -- stderr
    error: cannot write "fixed": a read-only pattern matches its name
    hint: use another name, or change `read_only` in the settings of the mount: see `memdir where`
    -- exit 3
    "#);
    assert!(home.run(&["delete", "fixed"]).ends_with("-- exit 3\n"));
    assert!(home.run(&["edit", "fixed", "See", "saw"]).ends_with("-- exit 3\n"));
    assert_eq!(home.text("fixed.md"), "See [[a]].\n");
}

#[test]
fn reading_a_missing_memory_creates_no_directories() {
    let home = Home::new();
    home.ok(&["write", "a", "x"]);
    for args in [
        &["read", "no/such/memory"][..],
        &["delete", "no/such/memory"],
        &["edit", "no/such/memory", "x", "y"],
        &["rename", "no/such", "other/place"],
    ] {
        assert!(home.run(args).ends_with("-- exit 1\n"), "{args:?}");
    }
    assert_eq!(fs::read_dir(home.path("memory")).unwrap().count(), 2);
}

#[test]
fn a_loop_of_links_does_not_multiply_memories() {
    let home = Home::new();
    home.configure("[[mounts]]\nname = \"\"\npath = \"../memory\"\nfollow_links = true\n");
    for name in ["a", "b/c", "b/d/e"] {
        home.ok(&["write", name, "x"]);
    }
    symlink("..", home.memory("b/loop")).unwrap();
    symlink(".", home.memory("self")).unwrap();
    assert_eq!(home.ok(&["list"]), "a\nb/c\nb/d/e\n");
}

#[test]
fn names_that_cannot_be_stored_are_errors_before_any_file_access() {
    let home = Home::new();
    let long = "x".repeat(300);
    for name in [" ", ".", "a//b", "C:\\x", "a\\b", "NUL", "com1.md", "a/ /b", "tab\there", &long, "~/x", "a/.git/b", "//host/share"] {
        let printed = home.run(&["write", name, "x"]);
        assert!(printed.contains("invalid memory name") && printed.ends_with("-- exit 2\n"), "{name:?}: {printed}");
    }
    assert_eq!(home.files(), Vec::<String>::new());
    assert_snapshot!(home.run(&["write", "C:\\x", "x"]), @r#"
    -- stderr
    error: invalid memory name "C:\\x": it contains a backslash; use `/` between components
    -- exit 2
    "#);
}

#[test]
fn bytes_are_bytes_and_no_character_is_split() {
    let home = Home::new();
    home.put("MEMORY.md", "ä".repeat(25_000));
    let reading = home.json(&["read"]);
    let content = reading["content"].as_str().unwrap();
    assert!(content.len() <= 25_000 && content.len() > 24_990, "{}", content.len());
    assert!(content.chars().all(|c| c == 'ä'));
    assert_eq!(
        (reading["byte_count"].as_u64(), reading["cut_by_bytes"].as_bool(), reading["cut_by_lines"].as_bool()),
        (Some(50_000), Some(true), Some(false))
    );
    assert_snapshot!(reading["warning"].as_str().unwrap(), @"> WARNING: this entrypoint is 48.8 KB (limit 24.4 KB) because its lines are too long. Only the beginning of its first line was loaded. Keep one short line per memory and move details into the memories.");
}

#[test]
fn new_entries_are_never_cut() {
    let home = Home::new();
    for n in 0..230 {
        home.put(&format!("old-{n:03}.md"), "An old memory.\n");
    }
    let printed = home.run(&["entrypoint", "--repair"]);
    assert!(printed.contains("added old-000.md"), "{printed}");
    home.ok(&["write", "zzz-newest", "The newest memory."]);
    home.ok(&["write", "aaa-newest", "Another new memory."]);
    let shown = home.ok(&["read"]);
    assert!(shown.contains("(zzz-newest.md)") && shown.contains("(aaa-newest.md)"), "{shown}");
    assert!(!shown.contains("WARNING"), "{shown}");
    // Memories that the entrypoint does not list are on a page that it links.
    let pages: Vec<String> = home.files().into_iter().filter(|name| name.starts_with("MEMORY.page-")).collect();
    assert!(!pages.is_empty() && pages.iter().all(|page| shown.contains(page.as_str())), "{pages:?}\n{shown}");
    let all: String = pages.iter().map(|page| home.text(page)).chain([shown]).collect();
    for n in 0..230 {
        assert_eq!(all.matches(&format!("(old-{n:03}.md)")).count(), 1, "old-{n:03}");
    }
    assert_eq!(home.ok(&["list"]).lines().count(), 232);
}

#[test]
fn more_than_two_hundred_memories_are_all_listed() {
    let home = Home::new();
    for n in 0..450 {
        home.put(&format!("m-{n:03}.md"), "x\n");
    }
    assert_eq!(home.ok(&["list"]).lines().count(), 450);
    assert_eq!(home.ok(&["list", "--type", "user"]), "");
    assert_eq!(home.json(&["stats"])["files"].as_u64(), Some(450));
}
