//! `--help`, `--version`, `completions`, and what is said to a mistyped command.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn help_names_every_command_and_exit_code() {
    assert_snapshot!(Home::new().run(&["--help"]), @"");
}

#[test]
fn a_command_shows_an_example() {
    assert_snapshot!(Home::new().run(&["edit", "-h"]), @"");
}

#[test]
fn mistyped_commands_are_usage_errors() {
    let home = Home::new();
    assert_snapshot!(home.run(&["raed"]), @"");
    assert_snapshot!(home.run(&["raed", "--json"]), @"");
    assert_snapshot!(home.run(&["write", "a", "x", "--append", "--replace"]), @"");
    assert!(home.run(&["--version"]).starts_with("memdir "));
}

#[test]
fn completions_know_the_commands() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = home.ok(&["completions", shell]);
        assert!(script.contains("entrypoint") && script.contains("if-version"), "{shell}");
        assert!(!script.contains("torture-worker ("), "{shell}");
    }
}
