//! `memdir test`: runs the memory tests in `memory.tests.md`.

use crate::{
    config::Settings,
    exit::{Exit, Failure},
    output::{CommandOutput, Printer},
    scope::Scope,
    spaces,
};
use memdir_core::{Expectation, TestOutcome, Tested};
use std::io;

pub(crate) fn run(settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    let opened = spaces::open_lazy(settings, scope)?;
    let tested = spaces::with_search_once(opened.memdir, settings, None)?.test()?;
    let failed = !tested.problems.is_empty() || tested.outcomes.iter().any(|outcome| !outcome.passed);
    Ok(CommandOutput::new(tested, show).exit(if failed { Exit::Negative } else { Exit::Success }).with_notes(opened.notes))
}

fn show(tested: &Tested, printer: &mut Printer<'_>) -> io::Result<()> {
    for outcome in tested.outcomes.iter().filter(|outcome| !outcome.passed) {
        let line = line(outcome, printer);
        printer.line(line)?;
    }
    for problem in &tested.problems {
        printer.line(format!("{} (line {})", problem.what, problem.line.unwrap_or(0)))?;
    }
    if tested.outcomes.is_empty() && tested.problems.is_empty() {
        return printer.line(format!(
            "no tests; add questions to {} at the root of the memory (see memdir test --help)",
            memdir_core::internal::store::mounts::TESTS_FILE
        ));
    }
    let passed = tested.outcomes.iter().filter(|outcome| outcome.passed).count();
    printer.line(format!("{passed} of {} passed", super::counted(tested.outcomes.len() as u64, "test", "tests")))
}

fn line(outcome: &TestOutcome, printer: &Printer<'_>) -> String {
    let failed = printer.red("failed");
    let found = if outcome.found.is_empty() { "nothing".to_owned() } else { outcome.found.join(", ") };
    let expected = match &outcome.test.expect {
        Expectation::Find { name, top } => format!("{name} in the top {top}"),
        Expectation::Nothing => "nothing".to_owned(),
    };
    format!("{}:{}: {failed}: {:?}: expected {expected}, found {found}", outcome.file, outcome.test.line, outcome.test.question)
}
