use crate::support::{self, Desk, nothing};
use serde_json::json;
use std::{fs, os::unix::fs::symlink};

fn desk(files: &[(&str, &str)]) -> Desk {
    support::dialect("serena", &[], files)
}

const PROJECT: &str = "project/.serena/memories/";

fn with(names: &[(&str, &str)]) -> Desk {
    let files: Vec<(String, &str)> = names.iter().map(|(name, text)| (format!("{PROJECT}{name}"), *text)).collect();
    desk(&files.iter().map(|(name, text)| (name.as_str(), *text)).collect::<Vec<_>>())
}

#[test]
fn a_memory_works_with_all_seven_tools() {
    let desk = desk(&[]);
    assert_eq!(desk.text("list_memories", nothing()), "{}");
    let content = "# Deploy\n\nOn Tuesdays. See `mem:people`.\n";
    assert_eq!(desk.text("write_memory", json!({ "memory_name": "ops/deploy", "content": content })), "Memory ops/deploy written.");
    assert_eq!(
        desk.text("write_memory", json!({ "memory_name": "people", "content": "Ada asks `mem:ops/deploy`." })),
        "Memory people written."
    );
    assert_eq!(desk.text("list_memories", nothing()), r#"{"memories": ["ops/deploy", "people"]}"#);
    assert_eq!(desk.text("list_memories", json!({ "topic": "ops" })), r#"{"memories": ["ops/deploy"]}"#);
    assert_eq!(desk.text("read_memory", json!({ "memory_name": "ops/deploy" })), content);
    let edit = json!({ "memory_name": "ops/deploy", "needle": "Tuesdays", "repl": "Mondays", "mode": "literal" });
    assert_eq!(desk.text("edit_memory", edit), "Memory ops/deploy edited successfully.");
    let edit = json!({ "memory_name": "ops/deploy", "needle": r"On (\w+)s\.", "repl": "On a $!1.", "mode": "regex" });
    assert_eq!(desk.text("edit_memory", edit), "Memory ops/deploy edited successfully.");
    assert_eq!(desk.file("ops/deploy.md").unwrap(), "# Deploy\n\nOn a Monday. See `mem:people`.\n");
    let rename = json!({ "old_name": "ops/deploy", "new_name": "howto/deploy" });
    assert_eq!(desk.text("rename_memory", rename), "Memory renamed from ops/deploy to howto/deploy.");
    assert_eq!(desk.file("people.md").unwrap(), "Ada asks `mem:howto/deploy`.");
    assert_eq!(desk.text("delete_memory", json!({ "memory_name": "howto/deploy" })), "Memory howto/deploy deleted.");
    assert_eq!(desk.text("delete_memory", json!({ "memory_name": "howto/deploy" })), "Memory howto/deploy not found.");
    assert_eq!(desk.tree(&desk.root), ["people.md"]);
    assert!(desk.text("onboarding", nothing()).contains("suggested_commands"));
}

#[test]
fn texts_are_structured_results_too() {
    let desk = with(&[("a.md", "text\n")]);
    let result = desk.call("read_memory", json!({ "memory_name": "a" }));
    assert_eq!(result.structured.unwrap(), json!({ "result": "text\n" }));
    let tool = memdir_core::internal::dialects::find("serena").map(|dialect| (dialect.tools)()[1].json()).unwrap();
    assert_eq!(tool["outputSchema"], json!({ "type": "object", "properties": { "result": { "type": "string" } }, "required": ["result"] }));
    assert_eq!(
        tool["annotations"],
        json!({ "readOnlyHint": true, "destructiveHint": false, "openWorldHint": false, "title": "Read Memory" })
    );
}

#[test]
fn errors_have_the_documented_texts() {
    let desk = with(&[("a.md", "x x"), ("b.md", "")]);
    assert_eq!(desk.error("read_memory", json!({ "memory_name": "none" })), "Memory named 'none' not found");
    assert_eq!(desk.error("rename_memory", json!({ "old_name": "none", "new_name": "c" })), "Memory named 'none' not found");
    assert_eq!(desk.error("rename_memory", json!({ "old_name": "a", "new_name": "b" })), "Memory named 'b' already exists");
    let edit =
        |needle: &str, mode: &str| desk.error("edit_memory", json!({ "memory_name": "a", "needle": needle, "repl": "y", "mode": mode }));
    assert!(edit("z", "literal").contains("not"), "{}", edit("z", "literal"));
    assert!(edit("x", "literal").contains('2'), "{}", edit("x", "literal"));
    assert!(edit("x", "regex").contains('2'), "{}", edit("x", "regex"));
    assert!(edit("(", "regex").contains("regular expression") && edit("(", "regex").ends_with(" Correct the argument and call again."));
    assert!(edit("z*", "regex").ends_with(" Correct the regular expression or the replacement."), "{}", edit("z*", "regex"));
    assert_eq!(desk.file("a.md").unwrap(), "x x");
    let all = json!({ "memory_name": "a", "needle": "x", "repl": "y", "mode": "literal", "allow_multiple_occurrences": true });
    assert_eq!(desk.text("edit_memory", all), "Memory a edited successfully.");
    assert_eq!(desk.file("a.md").unwrap(), "y y");
}

#[test]
fn old_parameter_names_and_spellings_are_accepted() {
    let desk = with(&[("a.md", "0123456789")]);
    for name in ["a", "a.md", "mem:a", "mem:a.md"] {
        assert_eq!(desk.text("read_memory", json!({ "memory_file_name": name, "max_answer_chars": -1 })), "0123456789");
    }
    let shown = desk.text("read_memory", json!({ "memory_file_name": "a", "max_answer_chars": 4 }));
    assert_eq!(
        shown,
        "0123\n\n[6 of 10 characters are not shown; to read the whole memory, call read_memory again with max_answer_chars=10]"
    );
    for max in [json!(-7), json!(0), json!(i64::MAX), json!(i64::MIN), json!(5_000_000_000_u64), json!(1e30)] {
        assert_eq!(desk.text("read_memory", json!({ "memory_name": "a", "max_answer_chars": max })), "0123456789", "{max}");
    }
    let long = json!({ "memory_name": "b", "content": "12345", "max_chars": 4 });
    assert!(desk.error("write_memory", long).starts_with("Content for memory b is too long: 5 characters"));
    assert_eq!(desk.file("b.md"), None);
}

#[test]
fn a_whole_memory_is_150_000_characters_long() {
    let text = "é".repeat(150_000);
    let desk = with(&[("a.md", &text), ("b.md", &format!("{text}\nmore\n"))]);
    assert_eq!(desk.text("read_memory", json!({ "memory_name": "a" })), text);
    assert!(desk.text("read_memory", json!({ "memory_name": "b" })).ends_with("max_answer_chars=150006]"));
}

#[test]
fn global_memories_are_those_of_all_projects() {
    let desk = support::dialect(
        "serena",
        &[("SERENA_HOME", "shared")],
        &[("shared/memories/global/style.md", "short"), (&format!("{PROJECT}a.md"), "")],
    );
    assert_eq!(desk.text("list_memories", nothing()), r#"{"memories": ["a", "global/style"]}"#);
    assert_eq!(desk.text("read_memory", json!({ "memory_name": "global/style" })), "short");
    desk.text("write_memory", json!({ "memory_name": "global/new", "content": "x" }));
    assert_eq!(fs::read_to_string(desk.top.path().join("shared/memories/global/new.md")).unwrap(), "x");
    assert!(desk.error("write_memory", json!({ "memory_name": "global", "content": "x" })).contains("global/"));
}

const GLOBAL_SETTINGS: &str = "language_servers: []\nread_only_memory_patterns:\n  - 'global/(?!mine).*'\n";
const PROJECT_SETTINGS: &str = "name: p\nread_only_memory_patterns: ['fixed/.*']\nignored_memory_patterns:\n- 'private/.*'\n";

fn guarded() -> Desk {
    desk(&[
        ("home/.serena/serena_config.yml", GLOBAL_SETTINGS),
        ("project/.serena/project.yml", PROJECT_SETTINGS),
        ("home/.serena/memories/global/rules.md", "see `mem:a`"),
        ("home/.serena/memories/global/mine.md", ""),
        (&format!("{PROJECT}a.md"), "a"),
        (&format!("{PROJECT}fixed/f.md"), "see `mem:a`"),
        (&format!("{PROJECT}private/p.md"), "secret `mem:a`"),
        (&format!("{PROJECT}b.md"), "see `mem:a`"),
    ])
}

#[test]
fn patterns_of_both_levels_hold_on_every_path() {
    let desk = guarded();
    let wanted = r#"{"memories": ["a", "b", "global/mine"], "read_only_memories": ["fixed/f", "global/rules"]}"#;
    assert_eq!(desk.text("list_memories", nothing()), wanted);
    assert_eq!(desk.text("list_memories", json!({ "topic": "private" })), "{}");
    assert_eq!(desk.error("read_memory", json!({ "memory_name": "private/p" })), "Memory named 'private/p' not found");
    for name in ["fixed/f", "global/rules", "private/p", "fixed/new"] {
        assert!(desk.error("write_memory", json!({ "memory_name": name, "content": "x" })).contains("pattern"), "{name}");
    }
    for name in ["fixed/f", "global/rules"] {
        assert!(desk.error("delete_memory", json!({ "memory_name": name })).contains("read-only"));
        assert!(
            desk.error("edit_memory", json!({ "memory_name": name, "needle": "see", "repl": "x", "mode": "literal" }))
                .contains("read-only")
        );
    }
    desk.text("write_memory", json!({ "memory_name": "global/mine", "content": "x" }));
}

/// 2-b: read-only holders of a reference are skipped and named, and the rename is whole.
#[test]
fn a_rename_skips_and_reports_read_only_files_with_references() {
    let desk = guarded();
    let text = desk.text("rename_memory", json!({ "old_name": "a", "new_name": "c" }));
    assert_eq!(text, "Memory renamed from a to c. References in read-only memories were not updated: fixed/f, global/rules.");
    assert_eq!((desk.file("b.md").unwrap(), desk.file("fixed/f.md").unwrap()), ("see `mem:c`".to_owned(), "see `mem:a`".to_owned()));
    assert_eq!(desk.file("private/p.md").unwrap(), "secret `mem:a`");
}

/// 2-c: neither end of a rename may be read-only.
#[test]
fn a_read_only_memory_cannot_be_moved_away() {
    let desk = guarded();
    assert!(desk.error("rename_memory", json!({ "old_name": "fixed/f", "new_name": "free" })).contains("read-only"));
    assert!(desk.error("rename_memory", json!({ "old_name": "a", "new_name": "fixed/a" })).contains("read-only"));
    assert_eq!(desk.text("list_memories", json!({ "topic": "fixed" })), r#"{"read_only_memories": ["fixed/f"]}"#);
}

/// 2-a and 2-m: names and topics do not leave the folder.
#[test]
fn names_and_topics_do_not_leave_the_folder() {
    let desk = with(&[("a.md", "")]);
    support::put(&desk.top.path().join("project/outside.md"), "secret");
    for topic in ["../..", "/", "/etc", "a/../.."] {
        assert!(desk.error("list_memories", json!({ "topic": topic })).contains("invalid memory name"), "{topic}");
    }
    for name in ["../../outside", "/etc/passwd", "a/../../x", "mem:../x", "\u{ff0e}\u{ff0e}/x"] {
        assert!(desk.error("read_memory", json!({ "memory_name": name })).contains("invalid memory name"), "{name}");
        assert!(desk.error("write_memory", json!({ "memory_name": name, "content": "x" })).contains("invalid memory name"), "{name}");
    }
    assert_eq!(desk.tree(&desk.top.path().join("project")), [".serena/", ".serena/memories/", ".serena/memories/a.md", "outside.md"]);
}

/// 2-d: a search creates nothing.
#[test]
fn reading_creates_nothing() {
    let desk = with(&[("a.md", "")]);
    desk.error("read_memory", json!({ "memory_name": "x/y/z" }));
    desk.text("delete_memory", json!({ "memory_name": "x/y/z" }));
    assert_eq!(desk.tree(&desk.root), ["a.md"]);
}

/// 2-e: a loop of links is walked once.
#[test]
fn a_loop_of_links_is_listed_once() {
    let desk = with(&[("a.md", ""), ("t/b.md", ""), ("t/c.md", "")]);
    symlink("..", desk.root.join("t/up")).unwrap();
    symlink("t", desk.root.join("again")).unwrap();
    assert_eq!(desk.text("list_memories", nothing()), r#"{"memories": ["a", "t/b", "t/c"]}"#);
}

/// 2-f: names that cannot be stored everywhere are refused before the system is asked.
#[test]
fn impossible_names_are_refused_with_a_reason() {
    let desk = with(&[]);
    for name in ["a\0b", &"n".repeat(300), " ", ".", r"C:\x", "con", "a/", "", ".md", "a/.md", "mem:.md", "mem:", ".MD"] {
        assert!(desk.error("write_memory", json!({ "memory_name": name, "content": "x" })).contains("invalid memory name"), "{name:?}");
    }
    assert!(desk.tree(&desk.root).is_empty());
}

/// 2-i: there is a read limit, and the one for writing is its own. Nothing else appears in the folder.
#[test]
fn no_entrypoint_appears() {
    let desk = desk(&[]);
    desk.text("write_memory", json!({ "memory_name": "a", "content": "x" }));
    assert_eq!(desk.tree(&desk.root), ["a.md"]);
}

/// 2-k: the folder may be elsewhere, by Serena's own setting.
#[test]
fn the_folder_follows_its_setting() {
    let desk = desk(&[
        ("home/.serena/serena_config.yml", "project_serena_folder_location: \"$projectDir/../serena-of-$projectFolderName\"\n"),
        ("serena-of-project/memories/a.md", "found"),
    ]);
    assert_eq!(desk.text("read_memory", json!({ "memory_name": "a" })), "found");
}

#[test]
fn a_pattern_that_hangs_other_engines_does_not_hang_this_one() {
    let desk = with(&[("a.md", &"a".repeat(5_000))]);
    let edit = json!({ "memory_name": "a", "needle": r"(a+)+\1$(?!x)b", "repl": "", "mode": "regex" });
    desk.error("edit_memory", edit);
    let around = json!({ "memory_name": "a", "needle": r"(?<=^a)a(?=a)", "repl": "b", "mode": "regex" });
    assert_eq!(desk.text("edit_memory", around), "Memory a edited successfully.");
    assert!(desk.file("a.md").unwrap().starts_with("aba"));
}
