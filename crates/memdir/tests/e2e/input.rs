//! `-` on the command line: the text is read from standard input.

use crate::{home::Home, terminal::answered};
use insta::assert_snapshot;

#[test]
fn a_hyphen_is_standard_input_and_not_the_text() {
    let home = Home::new();
    let run = |args: &[&str], stdin: &str| {
        let printed = home.run_with(args, stdin);
        assert!(!printed.contains("-- exit"), "{args:?}: {printed}");
        printed
    };
    run(&["write", "notes/x", "-"], "From a pipe.\nTwo lines.\n");
    assert_eq!(home.text("notes/x.md"), "From a pipe.\nTwo lines.\n");
    run(&["write", "notes/x", "-", "--append"], "More.");
    assert_eq!(home.text("notes/x.md"), "From a pipe.\nTwo lines.\nMore.\n");
    run(&["edit", "notes/x", "pipe", "-"], "file\n");
    run(&["edit", "notes/x", "-", "Three"], "Two\n");
    assert_eq!(home.text("notes/x.md"), "From a file.\nThree lines.\nMore.\n");
    run(&["write", "notes/y", "Y.", "--description", "-"], "About why\n");
    assert_eq!(home.text("notes/y.md"), "---\ndescription: About why\n---\n\nY.\n");
    run(&["log", "-"], "Ada prefers tabs\n");
    let logged = home.files().into_iter().find(|file| file.starts_with("logs/")).unwrap();
    assert!(home.text(&logged).ends_with(" Ada prefers tabs\n"), "{}", home.text(&logged));
    assert!(run(&["search", "-"], "three lines\n").starts_with("notes/x"), "{}", run(&["search", "-"], "three lines\n"));
    assert!(run(&["recall", "-"], "Which three lines are in the file?\n").contains("Three lines."));
    assert!(home.run_with(&["search", "-", "--json"], "three lines\n").contains("\"query\": \"three lines\""));
    run(&["import", "-"], "<!-- memdir bundle 1: 1 memory; `memdir import` reads it -->\n\n<!-- memory 3 z.md -->\nZ.\n");
    assert_eq!(home.text("z.md"), "Z.\n");
}

#[test]
fn standard_input_is_read_once() {
    let home = Home::new();
    home.ok(&["write", "a", "x"]);
    assert_snapshot!(home.run_with(&["edit", "a", "-", "-"], "x\n"), @"
    -- stderr
    error: standard input can be read only once, but `-` is given 2 times
    hint: pass the other texts as arguments, or in files
    -- exit 2
    ");
    for args in [
        &["edit", "a", "-", "--new-file", "-"][..],
        &["write", "b", "-", "--description", "-"],
        &["import", "-", "-"],
        &["log", "-", "-"],
        &["search", "-", "-"],
    ] {
        let printed = home.run_with(args, "x\n");
        assert!(printed.contains("standard input can be read only once") && printed.ends_with("-- exit 2\n"), "{args:?}: {printed}");
    }
    assert_eq!(home.files(), ["MEMORY.md", "a.md"]);
    assert_eq!(home.text("a.md"), "x\n");
}

#[test]
fn an_empty_standard_input_is_not_a_text() {
    let home = Home::new();
    assert_snapshot!(home.run_with(&["write", "a", "-"], ""), @r#"
    -- stderr
    error: the text for "a" is blank
    hint: pass a text with at least one visible character
    -- exit 2
    "#);
    assert_snapshot!(home.run_with(&["log", "-"], "\n"), @"
    -- stderr
    error: entry is empty
    -- exit 2
    ");
    assert_snapshot!(home.run_with(&["edit", "a", "-", "x"], [0xff, 0xfe]), @"
    -- stderr
    error: standard input is not valid UTF-8
    -- exit 2
    ");
    assert_eq!(home.files(), [""; 0]);
}

#[test]
fn a_terminal_gets_a_note_about_the_end_of_the_input() {
    let home = Home::new();
    let (seen, code) = answered(home.command(&["write", "a", "-"]).env("TERM", "xterm").env("NO_COLOR", "1"), "Typed.\n\u{4}");
    assert_eq!(code, 0, "{seen}");
    assert_eq!(home.text("a.md"), "Typed.\n");
    assert!(seen.contains("note: reading from the terminal; end the input with Ctrl-D on a new line"), "{seen}");
}

/// `/dev/zero` has no end.
#[test]
fn a_file_without_an_end_is_refused() {
    let home = Home::new();
    for (args, file) in [(&["write", "big", "--file", "/dev/zero"][..], "/dev/zero"), (&["write", "big"], "standard input")] {
        let mut command = home.command(args);
        command.stdin(std::fs::File::open("/dev/zero").unwrap());
        let expected = format!("-- stderr\nerror: {file} is larger than 64 MB\nhint: split it into several files\n-- exit 2\n");
        assert_eq!(home.transcript(args, command.output().unwrap()), expected);
    }
    assert_eq!(home.files(), [""; 0]);
}
