//! Recall: the few memories that matter for a message or lie on the way of an action, within a budget, shown as data.

mod everyday;
pub(crate) mod fit;
pub mod message;
mod question;
mod tripwires;
pub mod when;

pub use everyday::{is_everyday, is_filler, is_small_number};
pub use fit::{Candidate, Dropped, Recalled, Room, Shown, fit, staleness, tokens};
pub use message::Met;
pub use question::{Question, Word, questions, sentences};
pub use tripwires::Wires;

use crate::memory::Kind;

/// What is known of a memory before it is decided whether to bring it.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// Its type.
    pub kind: Option<Kind>,
    /// Its name and description.
    pub title: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// Whether a memory only explains a tool that is in use: whoever is at work with a tool needs no manual for it. A memory that
/// warns of something is always worth its place.
pub fn is_manual(about: About<'_>, tools: &[&str]) -> bool {
    about.kind == Some(Kind::Reference) && tools.iter().any(|tool| mentions(about.title, tool)) && !warns(about.title) && !warns(about.text)
}

fn mentions(title: &str, tool: &str) -> bool {
    let letters = |text: &str| text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " ");
    let (title, tool) = (letters(title), letters(tool));
    !tool.trim().is_empty() && format!(" {title} ").contains(&format!(" {} ", tool.trim()))
}

/// Words by which people warn.
fn warns(text: &str) -> bool {
    const WARNINGS: &[&str] = &[
        "warning",
        "careful",
        "beware",
        "caution",
        "gotcha",
        "pitfall",
        "known issue",
        "workaround",
        "never ",
        "don't",
        "do not",
        "must not",
        "avoid ",
        "breaks",
        "broken",
        "fails",
        "danger",
        "bug",
    ];
    let lower = text.to_lowercase();
    WARNINGS.iter().any(|word| lower.contains(word))
}
