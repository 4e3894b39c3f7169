//! `memdir help`: the help of memdir or of a command.

use crate::{args::help, exit::Failure};
use clap::error::ErrorKind;

/// Finds the command and returns its help, which is printed like that of `--help`.
pub(crate) fn run(words: &[String]) -> Failure {
    let mut command = &help::command();
    for (n, word) in words.iter().enumerate() {
        match command.find_subcommand(word) {
            Some(next) => command = next,
            None => return unknown(&words[..n], word),
        }
    }
    parsed(words.iter().map(String::as_str).chain(["--help"])).unwrap_or_else(|| unknown(words, "--help"))
}

/// The error of an unknown command, with similar ones if there are any.
fn unknown(above: &[String], word: &str) -> Failure {
    let typed = above.iter().map(String::as_str).chain([word]);
    let command = typed.clone().fold(String::from("memdir"), |line, word| format!("{line} {word}"));
    match parsed(typed) {
        Some(failure @ Failure::CommandLine { .. }) => failure,
        // The word is an argument of the command.
        _ => {
            let hint = match above {
                [] => "list the commands with: memdir help".to_owned(),
                above => format!("see the arguments of `memdir {0}` with: memdir help {0}", above.join(" ")),
            };
            Failure::Usage { message: format!("unknown command {command:?}"), hint }
        }
    }
}

/// The help, or the error of an unknown command, that a command line ends with.
fn parsed<'a>(words: impl Iterator<Item = &'a str>) -> Option<Failure> {
    let error = help::command().try_get_matches_from(std::iter::once("memdir").chain(words)).err()?;
    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::InvalidSubcommand)
        .then(|| Failure::CommandLine { error: help::without_hidden_commands(error) })
}
