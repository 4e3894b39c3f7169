//! Writes synthetic transcripts with a known truth, for tests and benches: planted repeats, denials, scars, reverts and requests to
//! remember, and five near misses for each. Deterministic: the same seed gives the same bytes. Writes no file; the caller does.

mod near;
mod planted;
mod render;
mod score;
mod script;
mod words;

use memdir_core::CandidateKind;
pub use score::{KindScore, score};
use script::{Rng, ScriptEpisode, ScriptStep};

/// The kinds that are planted.
pub const PLANTED_KINDS: [CandidateKind; 5] =
    [CandidateKind::Remember, CandidateKind::Denied, CandidateKind::Repeat, CandidateKind::Scar, CandidateKind::Reverted];

/// The number of near misses for each planted candidate.
pub const NEAR_MISSES: usize = 5;

/// The directory in which all generated conversations take place.
pub const PROJECT_DIR: &str = "/home/ada/shop";

/// What is generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GeneratorPlan {
    /// The number of planted candidates of each kind; there are [`NEAR_MISSES`] times as many near misses.
    pub per_kind: usize,
    /// Bytes of tool output in each conversation, so that transcripts have the size of real ones.
    pub filler_bytes: usize,
    /// Bytes of ordinary talk in each conversation, a quarter of it typed by the person.
    pub talk_bytes: usize,
}

impl Default for GeneratorPlan {
    fn default() -> Self {
        GeneratorPlan { per_kind: 12, filler_bytes: 0, talk_bytes: 0 }
    }
}

/// Generated transcripts and their truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The files, by their paths below a home directory.
    pub files: Vec<(String, String)>,
    /// What was planted.
    pub planted: Vec<PlantedCandidate>,
    /// The number of near misses.
    pub near_misses: usize,
    /// The number of conversations.
    pub conversations: usize,
}

/// A planted candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantedCandidate {
    /// The kind.
    pub kind: CandidateKind,
    /// A part of the person's words, or of the command for a scar, that the candidate must contain.
    pub evidence: String,
    /// The conversations: `host/key`.
    pub sessions: Vec<String>,
}

/// Generates transcripts of four hosts from a seed.
pub fn generate(seed: u64, plan: GeneratorPlan) -> Generated {
    let mut rng = Rng::new(seed);
    // Another seed plants other sentences; within one seed every sentence is planted once, up to the size of the tables.
    let shift = rng.below(1000);
    let (mut planted, mut episodes) = (Vec::new(), Vec::new());
    for i in 0..plan.per_kind {
        for kind in PLANTED_KINDS {
            let (evidence, parts) = planted::episodes(kind, i + shift, &mut rng);
            let number = planted.len();
            episodes.extend(parts.into_iter().map(|episode| ScriptEpisode { planted: Some(number), group: number, ..episode }));
            planted.push(PlantedCandidate { kind, evidence, sessions: Vec::new() });
        }
    }
    let mut near_misses = 0;
    for i in 0..plan.per_kind * NEAR_MISSES {
        for kind in PLANTED_KINDS {
            let group = usize::MAX - near_misses;
            episodes.extend(near::episodes(kind, i + shift, &mut rng).into_iter().map(|episode| ScriptEpisode { group, ..episode }));
            near_misses += 1;
        }
    }
    rng.shuffle(&mut episodes);
    let conversations = distribute(episodes);
    let mut generated = Generated { files: vec![render::project_root()], planted, near_misses, conversations: conversations.len() };
    for (number, episodes) in conversations.into_iter().enumerate() {
        let mut steps = words::opening(&mut rng);
        for episode in &episodes {
            steps.extend(episode.steps.iter().cloned());
            if !episode.is_last {
                steps.extend(words::filler(&mut rng));
            }
        }
        steps.extend(output(plan.filler_bytes));
        steps.extend(words::talk(plan.talk_bytes, &mut rng));
        let (path, session, text) = render::transcript(seed, number, &steps);
        for planted in episodes.iter().filter_map(|episode| episode.planted) {
            generated.planted[planted].sessions.push(session.clone());
        }
        generated.files.push((path, text));
    }
    generated
}

/// Distributes episodes over conversations: at most three in one, at most one with a request to remember, none of the same group twice,
/// one that must be the last at its end, and one that must be alone by itself.
fn distribute(episodes: Vec<ScriptEpisode>) -> Vec<Vec<ScriptEpisode>> {
    /// The number of conversations that are searched for a place, so that this stays linear.
    const OPEN: usize = 24;
    let mut conversations: Vec<Vec<ScriptEpisode>> = Vec::new();
    for episode in episodes {
        let from = conversations.len().saturating_sub(OPEN);
        let fits = |others: &Vec<ScriptEpisode>| {
            others.len() < 3
                && !episode.is_alone
                && !others.iter().any(|other| other.group == episode.group || other.is_last || other.is_alone)
                && (!episode.is_remember || others.iter().all(|other| !other.is_remember))
        };
        match conversations[from..].iter().position(fits) {
            Some(at) => conversations[from + at].push(episode),
            None => conversations.push(vec![episode]),
        }
    }
    conversations
}

/// Tool output of about this many bytes, in calls of 16 KB.
fn output(bytes: usize) -> Vec<ScriptStep> {
    const CALL_BYTES: usize = 16 << 10;
    const LINE: &str = "   Compiling shop v0.4.1 (crate 17 of 212), 38 warnings, \"remember\" is only a word here\n";
    (0..bytes / CALL_BYTES).map(|_| ScriptStep::shell("make world", &LINE.repeat(CALL_BYTES / LINE.len()))).collect()
}
