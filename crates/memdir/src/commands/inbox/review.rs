//! `memdir inbox review`: shows one candidate after the other on a terminal and reads one key for each.

use super::{Decisions, accept_one, show};
use crate::{
    ask,
    commands::name,
    exit::Failure,
    output::{CommandOutput, OutputOptions, Printer},
};
use console::Term;
use memdir_core::{DecidedCandidate, Error, InboxEntry, Memdir};
use std::io::{self, Write as _};

/// The keys, as they are shown.
const KEYS: &str = "[a]ccept  [r]eject  [m]erge into…  [n]ame and accept…  [s]kip  [q]uit";

/// What a key does.
enum Choice {
    Decided(DecidedCandidate),
    Skip,
    Quit,
}

pub(super) fn run(memdir: &Memdir, output: OutputOptions) -> Result<CommandOutput, Failure> {
    if !output.can_ask() {
        return Err(Failure::Usage {
            message: "`memdir inbox review` requires a terminal".into(),
            hint: "list the candidates with `memdir inbox`, then run: memdir inbox accept|reject CANDIDATE, or memdir inbox merge CANDIDATE NAME".into(),
        });
    }
    let mut decided = Vec::new();
    let open = memdir.inbox()?.open;
    let count = open.len();
    for (number, entry) in open.into_iter().enumerate() {
        match decide(memdir, &entry, &format!("{} of {count}", number + 1))? {
            Choice::Decided(one) => decided.push(one),
            Choice::Skip => {}
            Choice::Quit => break,
        }
    }
    if count == 0 {
        return Ok(CommandOutput::new(Decisions { decided }, |_, printer| {
            printer.note("no candidates to review");
            Ok(())
        }));
    }
    Ok(CommandOutput::new(Decisions { decided }, show::decisions))
}

/// Shows a candidate and reads keys until one of them settles it. An error is shown, and another key can be pressed.
fn decide(memdir: &Memdir, entry: &InboxEntry, position: &str) -> Result<Choice, Failure> {
    let failed = |source| Failure::Output { source };
    present(memdir, entry, position).map_err(failed)?;
    let term = Term::stderr();
    loop {
        let key = term.read_char().map_err(failed)?;
        let key = key.to_ascii_lowercase();
        let outcome = match key {
            'a' => accept_one(memdir, &entry.name, None),
            'r' => name(&entry.name).and_then(|candidate| Ok(memdir.reject(&candidate)?)),
            'm' => match ask("merge into: ").map_err(failed)? {
                Some(into) => name(&into).and_then(|into| Ok(memdir.merge(&name(&entry.name)?, &into)?)),
                None => continue,
            },
            'n' => match ask("save as: ").map_err(failed)? {
                Some(new) => name(&new).and_then(|new| accept_one(memdir, &entry.name, Some(&new))),
                None => continue,
            },
            's' | ' ' => return Ok(Choice::Skip),
            'q' | '\u{1b}' | '\u{3}' | '\u{4}' => return Ok(Choice::Quit),
            _ => continue,
        };
        match outcome {
            Ok(decided) => return Ok(Choice::Decided(decided)),
            Err(failure) => {
                let hint = hint(&failure, key);
                let hint = if hint.is_empty() { hint } else { format!("hint: {hint}\n") };
                writeln!(anstream::stderr().lock(), "error: {}\n{hint}{KEYS}", failure.text().message).map_err(failed)?;
            }
        }
    }
}

/// The next action after an error, which is a key wherever the command has an option or a subcommand for it.
fn hint(failure: &Failure, key: char) -> String {
    match failure {
        Failure::Core { error: Error::Exists { .. }, .. } => "press m to merge the text into a memory, or n to use another name".to_owned(),
        Failure::Core { error: Error::NotFound { .. }, .. } if key == 'a' => {
            "the memory that the candidate changes no longer exists; press r to reject the candidate".to_owned()
        }
        Failure::Core { error: Error::BadInput { .. }, .. } if key == 'n' => {
            "press a to accept the candidate without another name".to_owned()
        }
        other => other.text().hint,
    }
}

/// Prints a candidate on standard error, because the decisions go to standard output.
fn present(memdir: &Memdir, entry: &InboxEntry, position: &str) -> io::Result<()> {
    let mut err = anstream::stderr().lock();
    let mut page = Printer::new(&mut err, OutputOptions::for_stdout(false));
    page.line(format!("\n{position}"))?;
    show::summary(entry, memdir.context().clock.now(), &mut page)?;
    page.content(&entry.text)?;
    page.line(KEYS)
}

/// Asks for a line; `None` if it is empty.
fn ask(question: &str) -> io::Result<Option<String>> {
    write!(anstream::stderr().lock(), "{question}")?;
    let line = ask::read_answer()?;
    Ok(Some(line.trim().to_owned()).filter(|line| !line.is_empty()))
}
