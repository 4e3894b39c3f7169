//! The console examples of a page: finds them, runs them, and compares or writes their outputs.

use super::{
    session::{Session, trimmed},
    shown,
};
use regex::Regex;
use std::{fs, path::Path};

/// A page's text in order.
enum Piece {
    Line(String),
    Setup(String),
    Step(Example),
}

/// A command and its output as the page shows it.
struct Example {
    /// The lines of the page that hold the command.
    source: Vec<String>,
    command: String,
    output: Vec<String>,
}

impl Piece {
    fn into_step(self) -> Option<(String, String)> {
        match self {
            Piece::Step(example) => Some((example.command, trimmed(&example.output.join("\n")))),
            Piece::Line(_) | Piece::Setup(_) => None,
        }
    }
}

fn parse(page: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        pieces.push(Piece::Line(line.to_owned()));
        if line == "<!-- setup" {
            let script: Vec<&str> = std::iter::from_fn(|| lines.next_if(|line| *line != "-->")).collect();
            pieces.extend(script.iter().map(|line| Piece::Line((*line).to_owned())));
            pieces.push(Piece::Setup(script.join("\n")));
        } else if line == "```console" {
            while let Some(line) = lines.next_if(|line| *line != "```") {
                let Some(command) = line.strip_prefix("$ ") else {
                    panic!("a console block begins with a command, not with: {line}");
                };
                let (mut source, mut command) = (vec![line.to_owned()], command.to_owned());
                while is_incomplete(&command) {
                    let line = lines.next().unwrap_or_else(|| panic!("the command does not end: {command}"));
                    source.push(line.to_owned());
                    command = format!("{command}\n{}", line.strip_prefix("> ").unwrap_or_else(|| line.trim_start_matches('>')));
                }
                let output = std::iter::from_fn(|| lines.next_if(|line| *line != "```" && !line.starts_with("$ ")));
                let output = output.map(str::to_owned).collect();
                pieces.push(Piece::Step(Example { source, command, output }));
            }
            pieces.extend(lines.next().map(|line| Piece::Line(line.to_owned())));
        } else if line.starts_with("```") {
            while let Some(line) = lines.next_if(|line| *line != "```") {
                pieces.push(Piece::Line(line.to_owned()));
            }
            pieces.extend(lines.next().map(|line| Piece::Line(line.to_owned())));
        }
    }
    pieces
}

/// Whether the shell would read another line: after a backslash, and until a here-document ends.
fn is_incomplete(command: &str) -> bool {
    let heredoc = Regex::new(r"<<'?([A-Z]+)'?").unwrap();
    match heredoc.captures(command) {
        Some(found) => command.lines().last() != found.get(1).map(|word| word.as_str()),
        None => command.ends_with('\\'),
    }
}

/// Runs a page's examples and returns what differs. In update mode the page gets the real outputs instead.
pub(super) fn run_page(path: &Path, update: bool) -> Vec<String> {
    let page = fs::read_to_string(path).unwrap();
    let mut session = Session::new();
    let (mut written, mut failures) = (Vec::new(), Vec::new());
    let pieces = parse(&page);
    for (n, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Line(line) => written.push(line.clone()),
            Piece::Setup(script) => {
                let (output, status) = session.run(script);
                assert_eq!(status, 0, "{}: the setup fails: {output}", shown(path));
            }
            Piece::Step(example) => {
                let (output, status) = session.run(&example.command);
                let expected = trimmed(&example.output.join("\n"));
                // An example may fail if the page shows it: with an error, or with the exit status in the next command. An update
                // does not turn a success into a failure.
                let is_shown = matches!(pieces.get(n + 1), Some(Piece::Step(next)) if next.command == "echo $?");
                let has_error = |text: &str| text.lines().any(|line| line.starts_with("error:"));
                let is_expected = has_error(&output) && (expected.is_empty() || has_error(&expected));
                if status != 0 && !is_shown && !is_expected {
                    failures.push(format!("{}: `{}` exits with {status}:\n{output}", shown(path), example.command));
                }
                if output != expected && !update {
                    failures.push(format!("{}: `{}` prints\n{output}\n-- but the page shows\n{expected}", shown(path), example.command));
                }
                written.extend(example.source.iter().cloned());
                written.extend(output.lines().map(str::to_owned));
                // A blank line separates an output from the next command.
                if !output.is_empty() && matches!(pieces.get(n + 1), Some(Piece::Step(_))) {
                    written.push(String::new());
                }
            }
        }
    }
    let written = written.join("\n") + "\n";
    if update && written != page {
        fs::write(path, written).unwrap();
    }
    failures
}

#[test]
fn a_page_is_split_into_commands_and_outputs() {
    let page = "Text.\n<!-- setup\nmkdir a\n-->\n```console\n$ one\nout\n\n$ two <<'END'\n> in\n> END\n> quoted\n```\n\
                ```sh\n$ not run\n```\n```console\n$ three\n```\n";
    let steps: Vec<(String, String)> = parse(page).into_iter().filter_map(Piece::into_step).collect();
    let expected = [("one", "out"), ("two <<'END'\nin\nEND", "> quoted"), ("three", "")];
    assert_eq!(steps, expected.map(|(command, output)| (command.to_owned(), output.to_owned())));
}
