//! Output on a terminal and in a pipe.

use crate::home::Home;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::{fs, io::Read as _, path::Path, process::Command};

/// Runs a command on a pseudo-terminal and returns its output.
pub(crate) fn shown(command: &mut Command) -> String {
    on_terminal(command, None).0
}

/// Runs a command on a pseudo-terminal with typed input; returns the output and the exit status.
pub(crate) fn answered(command: &mut Command, typed: &str) -> (String, i32) {
    on_terminal(command, Some(typed))
}

fn on_terminal(command: &mut Command, typed: Option<&str>) -> (String, i32) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = fs::OpenOptions::new().read(true).write(true).open(Path::new(name.to_str().unwrap())).unwrap();
    if let Some(typed) = typed {
        command.stdin(terminal.try_clone().unwrap());
        rustix::io::write(&master, typed.as_bytes()).unwrap();
    }
    let mut child = command.stdout(terminal.try_clone().unwrap()).stderr(terminal).spawn().unwrap();
    // The command has the other end open too; without it, the output ends with the child process.
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut text = Vec::new();
    let mut reader = fs::File::from(master);
    let mut part = [0; 4096];
    while let Ok(n @ 1..) = reader.read(&mut part) {
        text.extend_from_slice(&part[..n]);
    }
    let code = child.wait().unwrap().code().unwrap();
    (String::from_utf8(text).unwrap().replace("\r\n", "\n"), code)
}

#[test]
fn colours_are_used_on_terminals_and_on_request() {
    let home = Home::new();
    home.ok(&["write", "a", "x"]);
    for args in [&["list", "--long"][..], &["history"], &["read", "zz"], &[]] {
        assert!(shown(home.command(args).env("TERM", "xterm")).contains('\u{1b}'), "{args:?}");
        let plain = shown(home.command(args).env("TERM", "xterm").env("NO_COLOR", "1"));
        assert!(!plain.contains('\u{1b}'), "{args:?}: {plain:?}");
        assert!(!home.run(args).contains('\u{1b}'), "{args:?}");
    }
    assert!(!shown(home.command(&["list", "--json"]).env("TERM", "xterm")).contains('\u{1b}'));
}

/// The author of a memory must not be able to control the terminal of a reader.
#[test]
fn a_memory_cannot_control_the_terminal() {
    let home = Home::new();
    home.put("evil.md", "before \u{1b}]0;owned\u{7}\u{1b}[2Jafter\n");
    let seen = shown(home.command(&["read", "evil"]).env("TERM", "xterm").env("NO_COLOR", "1"));
    assert!(seen.starts_with("before after\n"), "{seen:?}");
    assert_eq!(home.ok(&["read", "evil"]), "before \u{1b}]0;owned\u{7}\u{1b}[2Jafter\n");
}
