//! Recall: the few memories that are relevant to a message, or whose tripwires an action touches, within a token budget and
//! framed as data.

mod cache;
pub(crate) mod fit;
pub mod message;
mod message_words;
mod opt_out;
mod score;
mod sentences;
mod store_words;
mod table;
mod typo;
pub mod when;
mod words;

pub use cache::RecallCache;
pub use fit::{OmittedMemory, RecallBudget, RecallCandidate, Recalled, ShownMemory, age_warning, fit, tokens};
pub use message::{MessageMatch, RecallExplanation, RecallVerdict};
pub use score::RecallFeatures;
pub use sentences::sentences;
pub use table::RecallTable;
pub(crate) use table::is_recallable;

use crate::memory::Kind;

/// The parts of a memory that decide whether it is a manual.
#[derive(Debug, Clone, Copy)]
pub struct MemorySummary<'a> {
    /// Its type.
    pub kind: Option<Kind>,
    /// Its name and description.
    pub title: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// Whether a memory only explains a tool that is in use: an agent that works with a tool does not need its manual. A memory with a
/// warning is never a manual.
pub fn is_manual(about: MemorySummary<'_>, tools: &[&str]) -> bool {
    about.kind == Some(Kind::Reference)
        && tools.iter().any(|tool| mentions(about.title, tool))
        && !has_warning(about.title)
        && !has_warning(about.text)
}

fn mentions(title: &str, tool: &str) -> bool {
    let letters = |text: &str| text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " ");
    let (title, tool) = (letters(title), letters(tool));
    !tool.trim().is_empty() && format!(" {title} ").contains(&format!(" {} ", tool.trim()))
}

/// Whether a text contains a phrase that people use to warn.
fn has_warning(text: &str) -> bool {
    const WARNINGS: &[&str] = &[
        "warning", "careful", "beware", "caution", "gotcha", "pitfall", "known issue", "workaround", "never ", "don't", "do not",
        "must not", "avoid ", "breaks", "broken", "fails", "danger", "bug",
    ];
    let lower = text.to_lowercase();
    WARNINGS.iter().any(|word| lower.contains(word))
}
