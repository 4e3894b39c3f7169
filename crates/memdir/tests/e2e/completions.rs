//! Completions of commands, options and values, as a real shell asks for them.

use crate::home::{Home, files_below};
use insta::assert_snapshot;
use std::{fs, process::Command};

/// A home with memories, projects and a program on the path.
fn filled() -> Home {
    let home = Home::new();
    for name in ["deploy", "deep/one", "deep/two words", "user/me"] {
        home.bare(&["write", name, "x"]).output().unwrap();
    }
    home.bare(&["init", "--project", "warehouse"]).output().unwrap();
    fs::create_dir_all(home.path("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_memdir"), home.path("bin/memdir")).unwrap();
    fs::create_dir(home.path("work/folder")).unwrap();
    home
}

/// The completions of a line in bash, by the script of `memdir completions bash`.
fn in_bash(home: &Home, words: &[&str]) -> String {
    let script = home.run_bare(&["completions", "bash"]);
    let run = format!(
        "{script}\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9; _memdir \"$1\" \"${{COMP_WORDS[COMP_CWORD]}}\" x 2>/dev/null\n\
         [[ ${{#COMPREPLY[@]}} -gt 0 ]] && printf '%s\\n' \"${{COMPREPLY[@]}}\"; true"
    );
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", &run, "bash"]).args(words).env_clear().current_dir(home.path("work"));
    command.env("HOME", home.path("")).env("MEMDIR_HOME", home.path("home"));
    command.env("PATH", format!("{}:/usr/bin:/bin", home.path("bin").display()));
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn bash_completes_values() {
    let home = filled();
    let before = files_below(&home.path(""));
    let completed = |words: &[&str]| in_bash(&home, &[&["memdir"], words].concat()).lines().collect::<Vec<_>>().join(" | ");
    assert_snapshot!(completed(&["re"]), @"read | rename | resume | recall | replay | redo | restore | review");
    assert_snapshot!(completed(&["read", ""]), @"deep/ | deploy | user/");
    assert_snapshot!(completed(&["cat", "de"]), @"deep/ | deploy");
    assert_snapshot!(completed(&["read", "deep/"]), @r"deep/one | deep/two\ words");
    assert_snapshot!(completed(&["read", "deep/two\\ w"]), @r"deep/two\ words");
    assert_snapshot!(completed(&["read", "deploy", "user/"]), @"user/me");
    assert_snapshot!(completed(&["rename", "deploy", "deep/one", "de"]), @"deep/ | deploy");
    assert_snapshot!(completed(&["write", "notes/a", ""]), @"");
    assert_snapshot!(completed(&["list", "--type", ""]), @"user | feedback | project | reference");
    assert_snapshot!(completed(&["list", "--type", "=", "fe"]), @"feedback");
    assert_snapshot!(completed(&["list", "--ty"]), @"--type");
    assert_snapshot!(completed(&["--project", "ware"]), @"warehouse");
    assert_snapshot!(completed(&["projects", "adopt", "ware"]), @"warehouse");
    assert_snapshot!(completed(&["--project", "warehouse", "read", ""]), @"user/");
    assert_snapshot!(completed(&["install", "c"]), @"claude-code | codex | cursor | claude-desktop | copilot-cli");
    assert_snapshot!(completed(&["chats", "--host", "c"]), @"claude-code | codex | cursor | copilot-cli");
    assert_snapshot!(completed(&["chats", "s"]), @"show | sync");
    assert_snapshot!(completed(&["config", "set", "chats."]), @"chats.on | chats.hosts_off | chats.projects_off | chats.folders | chats.keep_days | chats.keep_bytes");
    assert_snapshot!(completed(&["import", "fo"]), @"folder");
    assert_snapshot!(completed(&["read", "--dir", "fo"]), @"folder");
    assert_snapshot!(completed(&["read", "--", "dep"]), @"deploy");
    assert_snapshot!(completed(&["help", "ver"]), @"verify");
    assert_snapshot!(completed(&["help", "chats", "s"]), @"show | sync");
    assert_snapshot!(completed(&["help", "chats", "sync", ""]), @"");
    assert_snapshot!(completed(&["help", "write", ""]), @"");
    assert_snapshot!(completed(&["log", "--in", ""]), @"user/");
    assert_snapshot!(completed(&["--only", "d"]), @"deep/");
    assert_snapshot!(completed(&["hook", "x"]), @"");
    assert_snapshot!(completed(&["read", "'"]), @"");
    assert_eq!(files_below(&home.path("")), before, "a completion changed files");
}

#[test]
fn a_completion_reads_no_memory_and_creates_nothing() {
    let home = Home::new();
    assert_eq!(home.run_bare(&["complete", "--", "memdir", "read", ""]), "user/\n");
    assert_eq!(home.run_bare(&["complete", "--"]), "");
    assert_eq!(home.run_bare(&["complete", "--", "memdir", "nonsense", ""]), "");
    assert_eq!(home.run_bare(&["complete", "--", "memdir", "--dir", "none", "read", ""]), "");
    assert!(!home.path("home").exists() && !home.path("work/none").exists());
    home.configure("this is not TOML");
    assert_eq!(home.run_bare(&["complete", "--", "memdir", "read", ""]), "");
}

#[test]
fn every_shell_has_a_script() {
    let home = Home::new();
    for (shell, word) in [
        ("bash", "complete -F _memdir memdir"),
        ("zsh", "#compdef memdir"),
        ("fish", "complete -c memdir"),
        ("elvish", "entrypoint"),
        ("powershell", "entrypoint"),
    ] {
        let script = home.ok(&["completions", shell]);
        assert!(script.contains(word), "{shell}: {script}");
        assert!(!script.contains("torture-worker ("), "{shell}");
    }
}

#[test]
fn what_is_completed_is_accepted() {
    let home = filled();
    assert_eq!(home.run_bare(&["--only", "deep/", "list"]), "deep/one\ndeep/two words\n");
    assert!(home.run_bare(&["log", "--in", "user/", "x"]).starts_with("logged to user/"));
}
