//! Compares candidates with what was planted: precision and recall for each kind.

use super::{PLANTED_KINDS, PlantedCandidate};
use memdir_core::{Candidate, CandidateKind};

/// How well one kind was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KindScore {
    /// The kind.
    pub kind: CandidateKind,
    /// The number of planted candidates.
    pub planted: usize,
    /// The number of candidates that were found.
    pub found: usize,
    /// The number of planted candidates that were found. A second candidate for the same is not counted.
    pub right: usize,
}

impl KindScore {
    /// The share of the found candidates that were planted; 1 if none was found.
    pub fn precision(&self) -> f64 {
        if self.found == 0 { 1.0 } else { self.right as f64 / self.found as f64 }
    }

    /// The share of the planted candidates that were found.
    pub fn recall(&self) -> f64 {
        if self.planted == 0 { 1.0 } else { self.right as f64 / self.planted as f64 }
    }
}

/// Scores candidates, one row for each kind that is planted. Also returns the candidates that were not planted and the planted ones
/// that were not found, for a person to read.
pub fn score<'c>(
    planted: &'c [PlantedCandidate],
    candidates: &'c [Candidate],
) -> (Vec<KindScore>, Vec<&'c Candidate>, Vec<&'c PlantedCandidate>) {
    let mut is_found = vec![false; planted.len()];
    let mut wrong = Vec::new();
    for candidate in candidates.iter().filter(|candidate| PLANTED_KINDS.contains(&candidate.kind)) {
        let matching = planted.iter().enumerate().find(|(i, planted)| !is_found[*i] && is_match(planted, candidate));
        match matching {
            Some((i, _)) => is_found[i] = true,
            None => wrong.push(candidate),
        }
    }
    let rows = PLANTED_KINDS.iter().map(|&kind| KindScore {
        kind,
        planted: planted.iter().filter(|planted| planted.kind == kind).count(),
        found: candidates.iter().filter(|candidate| candidate.kind == kind).count(),
        right: planted.iter().zip(&is_found).filter(|(planted, found)| planted.kind == kind && **found).count(),
    });
    let missed = planted.iter().zip(&is_found).filter(|(_, found)| !**found).map(|(planted, _)| planted).collect();
    (rows.collect(), wrong, missed)
}

/// Whether a candidate is the planted one: the same kind, from its conversations only, with its words.
fn is_match(planted: &PlantedCandidate, candidate: &Candidate) -> bool {
    let text = format!("{}\n{}", candidate.words, candidate.text).to_lowercase();
    planted.kind == candidate.kind
        && !candidate.sessions.is_empty()
        && candidate.sessions.iter().all(|session| planted.sessions.contains(session))
        && text.contains(&planted.evidence.to_lowercase())
}
