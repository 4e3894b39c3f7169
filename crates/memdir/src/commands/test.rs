//! `memdir test`: whether searches still find what `memory.tests.md` says.

use crate::{
    config::Settings,
    exit::{Exit, Failure},
    output::{Answer, Page},
    scope::Scope,
    wire,
};
use memdir_core::operations::memory_tests::{Expect, Outcome, Tested};
use std::io;

pub(crate) fn run(settings: &Settings, scope: &Scope) -> Result<Answer, Failure> {
    let opened = wire::open_late(settings, scope)?;
    let tested = wire::with_search_once(opened.memdir, settings, None)?.test()?;
    let failed = !tested.problems.is_empty() || tested.outcomes.iter().any(|outcome| !outcome.passed);
    Ok(Answer::new(tested, show).exit(if failed { Exit::NotSo } else { Exit::Done }).with_notes(opened.notes))
}

fn show(tested: &Tested, page: &mut Page<'_>) -> io::Result<()> {
    for outcome in tested.outcomes.iter().filter(|outcome| !outcome.passed) {
        let line = line(outcome, page);
        page.line(line)?;
    }
    for problem in &tested.problems {
        page.line(format!("{} (line {})", problem.what, problem.line.unwrap_or(0)))?;
    }
    if tested.outcomes.is_empty() && tested.problems.is_empty() {
        return page.line(format!("There are no tests; write questions into {}", memdir_core::store::mounts::TESTS_FILE));
    }
    let passed = tested.outcomes.iter().filter(|outcome| outcome.passed).count();
    page.line(format!("{passed} of {} tests hold", tested.outcomes.len()))
}

fn line(outcome: &Outcome, page: &Page<'_>) -> String {
    let failed = page.red("failed");
    let found = if outcome.found.is_empty() { "nothing".to_owned() } else { outcome.found.join(", ") };
    let wanted = match &outcome.test.expect {
        Expect::Find { name, top } => format!("{name} in the first {top}"),
        Expect::Nothing => "nothing".to_owned(),
    };
    format!("{}:{}: {failed}: {:?} must find {wanted}, and found {found}", outcome.file, outcome.test.line, outcome.test.question)
}
