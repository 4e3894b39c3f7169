//! A generated store with planted faults, and the score of a dream's plan against them. Deterministic: the same seed, the same bytes.

mod corpus;
mod phrases;
mod score;

pub use corpus::{DreamCorpus, PlantedFault, PlantedKind};
pub use score::DreamScore;
