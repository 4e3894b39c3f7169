use crate::support::{self, Desk, NOW, nothing};
use serde_json::json;
use std::fs;

fn desk(files: &[(&str, &str)]) -> Desk {
    let files: Vec<(String, &str)> = files.iter().map(|(name, text)| (format!("home/.agent-memory/{name}"), *text)).collect();
    support::dialect("agent-memory", &[], &files.iter().map(|(name, text)| (name.as_str(), *text)).collect::<Vec<_>>())
}

#[test]
fn reading_is_the_index_and_the_topics_that_are_asked_for() {
    let desk = desk(&[
        ("memory/MEMORY.md", "- [A](a.md) — first\n"),
        ("memory/a.md", "Alpha.\n"),
        ("memory/sub/b.md", "Beta."),
        ("memory/préférences.md", "é"),
    ]);
    let read = |topics: &[&str]| desk.text("memory_read", json!({ "topics": topics }));
    let index = "- [A](a.md) — first\n";
    assert_eq!(desk.text("memory_read", nothing()), index);
    assert_eq!(read(&[]), index);
    assert_eq!(read(&["a"]), format!("{index}\n\n---\n\n# a\n\nAlpha.\n"));
    assert_eq!(read(&["a.md", "sub/b"]), format!("{index}\n\n---\n\n# a.md\n\nAlpha.\n\n\n---\n\n# sub/b\n\nBeta."));
    assert_eq!(read(&["préférences"]), format!("{index}\n\n---\n\n# préférences\n\né"));
    assert_eq!(read(&["x"]), format!("{index}\n\n---\n\n(no matching topic files)\n\n(not found: x)"));
    assert_eq!(read(&["a", "x", "日本"]), format!("{index}\n\n---\n\n# a\n\nAlpha.\n\n\n(not found: x, 日本)"));
}

#[test]
fn an_empty_memory_is_reported() {
    let desk = desk(&[]);
    assert_eq!(desk.text("memory_read", nothing()), "(no memories yet)");
    assert_eq!(
        desk.text("memory_read", json!({ "topics": ["a"] })),
        "(no memories yet)\n\n---\n\n(no matching topic files)\n\n(not found: a)"
    );
    assert_eq!(desk.text("memory_search", json!({ "query": "anything" })), "(no matches for \"anything\")");
}

/// 1-b: a topic's name is refused or found, never changed into another.
#[test]
fn topic_names_are_never_repaired() {
    let desk = desk(&[("memory/MEMORY.md", "i"), ("memory/projectsfoo.md", "wrong"), ("home/secret.md", "s")]);
    assert_eq!(
        desk.text("memory_read", json!({ "topics": ["projects/foo", "../../secret"] })),
        "i\n\n---\n\n(no matching topic files)\n\n(not found: projects/foo, ../../secret)"
    );
}

#[test]
fn a_session_is_a_file_of_its_own_and_found_at_once() {
    let desk = desk(&[]);
    let written = desk.text(
        "memory_append_session",
        json!({ "content": "## Findings\n- The flux capacitor needs 1.21 gigawatts\n", "source": "kiro cli!" }),
    );
    assert_eq!(written, "Wrote session: 2026-09-01T12-00-00-345Z-kirocli.md");
    let file = desk.root.join("2026-09-01T12-00-00-345Z-kirocli.md");
    let wanted = format!("---\nsource: kiro cli!\ntimestamp: {NOW}\n---\n\n## Findings\n- The flux capacitor needs 1.21 gigawatts\n");
    assert_eq!(fs::read_to_string(file).unwrap(), wanted);
    assert_eq!(
        desk.text("memory_search", json!({ "query": "gigawatts capacitor" })),
        "## sessions/2026-09-01T12-00-00-345Z-kirocli.md\n- The flux capacitor needs 1.21 gigawatts"
    );
}

/// 1-e: two sessions of one millisecond are two files.
#[test]
fn sessions_of_the_same_moment_are_separate_files() {
    let desk = desk(&[]);
    let append = |text: &str| desk.text("memory_append_session", json!({ "content": text }));
    assert_eq!(append("one"), "Wrote session: 2026-09-01T12-00-00-345Z-mcp.md");
    assert_eq!(append("two"), "Wrote session: 2026-09-01T12-00-00-345Z-mcp-2.md");
    assert_eq!(desk.tree(&desk.root).len(), 2);
}

#[test]
fn blank_content_and_blank_queries_are_errors() {
    let desk = desk(&[]);
    assert_eq!(desk.error("memory_append_session", json!({ "content": " \n" })), "Error: content: it must not be blank");
    assert_eq!(desk.error("memory_search", json!({ "query": " " })), "Error: query: it must not be blank");
    assert!(desk.error("memory_append_session", nothing()).starts_with("Error: content: "));
}

/// 1-d: folders are searched, words in any order match, and at most three lines of a file are shown.
#[test]
fn searching_shows_files_and_their_lines() {
    let desk = desk(&[
        ("memory/MEMORY.md", "# Index\n"),
        ("memory/sub/deploy.md", "Deploys run on Tuesday.\nTuesday deploys need Ada.\nNo deploy on Friday.\nA deploy takes an hour.\n"),
        ("memory/other.md", "Nothing of the kind.\n"),
    ]);
    assert_eq!(
        desk.text("memory_search", json!({ "query": "ada tuesday deploys" })),
        "## sub/deploy.md\nDeploys run on Tuesday.\nTuesday deploys need Ada.\nNo deploy on Friday."
    );
    // As in the original, any part of a line is found verbatim, ignoring case.
    assert_eq!(desk.text("memory_search", json!({ "query": "THING OF" })), "## other.md\nNothing of the kind.");
    assert_eq!(desk.text("memory_search", json!({ "query": "zebra quartz" })), "(no matches for \"zebra quartz\")");
}

#[test]
fn a_removed_directory_is_reported_as_missing() {
    let desk = desk(&[]);
    desk.text("memory_append_session", json!({ "content": "purple elephants" }));
    fs::remove_dir_all(desk.top.path().join("home/.agent-memory/memory")).unwrap();
    assert_eq!(desk.text("memory_search", json!({ "query": "x" })), "(memory directory does not exist)");
    assert!(desk.text("memory_search", json!({ "query": "elephants" })).starts_with("## sessions/2026-09-01"));
    fs::remove_dir_all(desk.top.path().join("home/.agent-memory")).unwrap();
    assert_eq!(desk.text("memory_search", json!({ "query": "x" })), "(memory directory does not exist)");
}

#[test]
fn a_heading_that_matches_is_shown_with_the_text_below_it() {
    let desk = desk(&[("memory/a.md", "# Notes\n\n## Kraken protocol\n\nPress the lever.\nWait.\nPress again.\n")]);
    let found = desk.text("memory_search", json!({ "query": "kraken protocol" }));
    assert_eq!(found, "## a.md\n## Kraken protocol\nPress the lever.\nWait.");
}

#[test]
fn the_status_is_reported_on_every_platform() {
    let desk = desk(&[("sessions/a.md", "x")]);
    let status = |last: &str, since: usize| {
        format!(
            "Daemon: not needed; saved sessions are available immediately\nConsolidation: none; sessions stay unchanged\n\
             Last consolidation: {last}\nSessions: 1 ({since} since then)"
        )
    };
    assert_eq!(desk.text("memory_daemon_status", nothing()), status("never", 1));
    let lock = desk.top.path().join("home/.agent-memory/memory/.consolidate-lock");
    let ran: std::time::SystemTime = "2026-08-30T12:00:00Z".parse::<jiff::Timestamp>().unwrap().into();
    let put_lock = |text: &str| {
        support::put(&lock, text);
        fs::File::options().write(true).open(&lock).unwrap().set_modified(ran).unwrap();
    };
    put_lock(&std::process::id().to_string());
    let last = "2026-08-30T12:00:00Z (2 days ago), by another program";
    let running = format!("{last}; the process named in .consolidate-lock is running (PID {})", std::process::id());
    assert_eq!(desk.text("memory_daemon_status", nothing()), status(&running, 1));
    put_lock("");
    assert_eq!(desk.text("memory_daemon_status", nothing()), status(last, 1));
    let fields = desk.json("memory_daemon_status", nothing());
    assert_eq!((&fields["due"], &fields["sessionsSince"], &fields["lastRun"]), (&json!(false), &json!(1), &json!("2026-08-30T12:00:00Z")));
}

/// 1-a: a directory from the environment is used, wherever the sessions are.
#[test]
fn directories_come_from_the_environment() {
    let vars = [("MEMORY_DIRECTORY", "m"), ("SESSION_DIRECTORY", "m/chats")];
    let desk = support::dialect("agent-memory", &vars, &[("m/MEMORY.md", "index")]);
    assert_eq!(desk.text("memory_read", nothing()), "index");
    desk.text("memory_append_session", json!({ "content": "purple elephants" }));
    assert_eq!(desk.tree(&desk.top.path().join("m")), ["MEMORY.md", "chats/", "chats/2026-09-01T12-00-00-345Z-mcp.md"]);
    assert!(desk.text("memory_search", json!({ "query": "elephants" })).starts_with("## chats/2026-09-01"));
}

/// 1-g and 1-h: nothing is ever deleted or rewritten for lack of an index line or of frontmatter.
#[test]
fn files_without_frontmatter_or_index_line_stay() {
    let desk = desk(&[("memory/MEMORY.md", "a heading by hand\n"), ("memory/loose.md", "no frontmatter")]);
    desk.text("memory_append_session", json!({ "content": "x" }));
    desk.text("memory_search", json!({ "query": "frontmatter" }));
    let memory = desk.top.path().join("home/.agent-memory/memory");
    assert_eq!(desk.tree(&memory), ["MEMORY.md", "loose.md"]);
    assert_eq!(fs::read_to_string(memory.join("MEMORY.md")).unwrap(), "a heading by hand\n");
}
