//! The episodes that look like evidence and are not: questions, quotes, pasted logs, hypothetical commands, other languages, retries,
//! boilerplate, and text of assistants and tools.

mod denied;
mod remember;
mod repeat;
mod reverted;
mod scar;

use super::{
    script::{Rng, ScriptEpisode, ScriptStep},
    words::PARTS,
};
use memdir_core::CandidateKind;

/// Returns the episodes of a near miss, each for a conversation of its own.
pub(super) fn episodes(kind: CandidateKind, i: usize, rng: &mut Rng) -> Vec<ScriptEpisode> {
    match kind {
        CandidateKind::Remember => vec![remember::episode(i, rng)],
        CandidateKind::Denied => vec![denied::episode(i, rng)],
        CandidateKind::Repeat => repeat::episodes(i, rng),
        CandidateKind::Scar => scar::episodes(i, rng),
        _ => vec![reverted::episode(i, rng)],
    }
}

fn answered(text: String) -> Vec<ScriptStep> {
    vec![ScriptStep::person(text), ScriptStep::assistant("Remember that this is what the code does today; I changed nothing.")]
}

fn number(rng: &mut Rng) -> u64 {
    rng.next() % 90_000 + 10_000
}

/// Fills a template with a name and a number, so that no two messages are the same.
fn filled(template: &str, rng: &mut Rng) -> String {
    let (part, n) = (rng.pick(PARTS), number(rng));
    template.replace("{}", part).replace("{n}", &n.to_string())
}
