//! The sentences of generated conversations that are neither planted nor a near miss, and the names they are filled with.

use super::script::{Rng, ScriptCall, ScriptEnd, ScriptStep};

/// Names of parts of a program.
pub(super) const PARTS: &[&str] =
    &["checkout", "cart", "invoice", "search", "login", "webhook", "importer", "mailer", "scheduler", "catalog", "refund", "session"];

/// Paths of files.
pub(super) const FILES: &[&str] = &[
    "src/checkout/total.rs", "src/cart/mod.rs", "web/app/routes.ts", "web/components/PriceTag.tsx", "services/mailer/send.py",
    "services/importer/csv.py", "config/staging.toml", "deploy/values.yaml", "db/schema.sql", "Makefile", "src/lib/money.go",
    "internal/http/router.go",
];

const OPENINGS: &[&str] = &[
    "The {} page is slow for customers with many orders, find out why",
    "I want the {} to log how long each step takes",
    "We have a bug report: the {} shows the wrong currency",
    "Split the {} module, it has grown too large",
    "Write a short description of how the {} works for new colleagues",
    "There is a failing case in the {} suite since yesterday",
    "I would like a dry-run mode for the {}",
    "Upgrade the library that the {} uses for dates",
];

const FOLLOW_UPS: &[&str] = &[
    "good, now look at the {} as well",
    "what does the {} do with an empty list?",
    "ok",
    "thanks, that helps",
    "and how is the {} tested today?",
    "show me the part of the {} that rounds",
    "is the {} used anywhere else?",
];

const ANSWERS: &[&str] = &[
    "I looked at the code and found two places that matter.",
    "Done. The change is small and the existing checks pass.",
    "I will remember to keep this function short while I change it.",
    "Remember that the table is locked while the migration runs; I kept the transaction short.",
    "The value is computed once per request, so a cache would not help much.",
    "Always close the reader, otherwise the handle leaks; that is what the change does.",
];

/// The beginning of a conversation.
pub(super) fn opening(rng: &mut Rng) -> Vec<ScriptStep> {
    let part = rng.pick(PARTS);
    let mut steps = vec![ScriptStep::person(format!("SHOP-{}: {}", 100 + rng.below(9000), rng.pick(OPENINGS).replace("{}", part)))];
    steps.extend(work(rng));
    steps
}

/// A message between two episodes, with some work.
pub(super) fn filler(rng: &mut Rng) -> Vec<ScriptStep> {
    let part = rng.pick(PARTS);
    let mut steps = vec![ScriptStep::person(rng.pick(FOLLOW_UPS).replace("{}", part))];
    steps.extend(work(rng));
    steps
}

/// Messages of two to four sentences and answers of three times as many, of about this many bytes together.
pub(super) fn talk(bytes: usize, rng: &mut Rng) -> Vec<ScriptStep> {
    let typed = [OPENINGS, FOLLOW_UPS].concat();
    let (mut steps, mut written) = (Vec::new(), 0);
    while written < bytes {
        let count = 2 + rng.below(3);
        let (message, answer) = (several(count, &typed, rng), several(3 * count, ANSWERS, rng));
        written += message.len() + answer.len();
        steps.extend([ScriptStep::Person(message), ScriptStep::Assistant(answer)]);
    }
    steps
}

/// A text of some of the sentences.
fn several(count: usize, sentences: &[&str], rng: &mut Rng) -> String {
    let mut text = String::new();
    for _ in 0..count {
        let sentence = rng.pick(sentences).replace("{}", rng.pick(PARTS));
        let end = if sentence.ends_with(['.', '?']) { " " } else { ". " };
        text += &(sentence + end);
    }
    text.truncate(text.trim_end().len());
    text
}

/// Some calls that succeed, and an answer.
fn work(rng: &mut Rng) -> Vec<ScriptStep> {
    let mut steps = Vec::new();
    for _ in 0..rng.below(3) {
        let file = rng.pick(FILES);
        steps.push(match rng.below(4) {
            0 => ScriptStep::Call(
                ScriptCall::Read(file.into()),
                ScriptEnd::Ok("1  use std::fmt;\n2  // remember to update the docs\n".into()),
            ),
            1 => ScriptStep::shell(&format!("rg -n total {file}"), "12: let total = 0;"),
            2 => ScriptStep::shell("git status --short", " M src/cart/mod.rs"),
            _ => {
                let number = rng.next() % 10_000;
                ScriptStep::edit(file, &format!("let limit = {number};"), &format!("let limit = {};", number + 1))
            }
        });
    }
    steps.push(ScriptStep::assistant(rng.pick(ANSWERS)));
    steps
}
