//! The score of a plan against the planted faults.

use super::{DreamCorpus, PlantedFault, PlantedKind};
use crate::operations::dream::{DreamAction, DreamOperation, DreamPlan, DreamReason};
use std::collections::{BTreeMap, HashSet};

/// How a plan compares with the planted faults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DreamScore {
    /// Planted and found faults, by kind.
    pub found: BTreeMap<PlantedKind, (usize, usize)>,
    /// The number of operations.
    pub operations: usize,
    /// Operations that no planted fault explains.
    pub false_operations: Vec<String>,
    /// Merges and archives.
    pub removals: usize,
    /// Merges and archives that no planted fault explains.
    pub false_removals: Vec<String>,
}

impl DreamScore {
    /// Compares a plan with the faults of a corpus. An operation is right if it has the reason of a fault and touches a file of it.
    pub fn new(corpus: &DreamCorpus, plan: &DreamPlan) -> DreamScore {
        let mut score = DreamScore { operations: plan.operations.len(), ..DreamScore::default() };
        let touched: Vec<(&DreamOperation, HashSet<&str>)> = plan
            .operations
            .iter()
            .map(|operation| {
                (operation, operation.files().chain(operation.sources.iter().map(|(path, _)| path)).map(|path| path.as_str()).collect())
            })
            .collect();
        for fault in &corpus.planted {
            let is_found = touched.iter().any(|(operation, files)| explains(fault, operation, files));
            let entry = score.found.entry(fault.kind).or_default();
            entry.0 += 1;
            entry.1 += usize::from(is_found);
        }
        for (operation, files) in &touched {
            let is_right = corpus.planted.iter().any(|fault| explains(fault, operation, files));
            let is_removal = matches!(operation.action, DreamAction::Merge | DreamAction::Archive);
            score.removals += usize::from(is_removal);
            if !is_right {
                score.false_operations.push(operation.title());
                if is_removal {
                    score.false_removals.push(operation.title());
                }
            }
        }
        score
    }

    /// The share of planted faults that were found, in percent.
    pub fn found_percent(&self) -> f64 {
        let (planted, found) = self.found.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        100.0 * found as f64 / planted.max(1) as f64
    }

    /// The share of operations that are false, in percent.
    pub fn false_percent(&self) -> f64 {
        100.0 * self.false_operations.len() as f64 / self.operations.max(1) as f64
    }

    /// The share of merges and archives that are false, in percent.
    pub fn false_removals_percent(&self) -> f64 {
        100.0 * self.false_removals.len() as f64 / self.removals.max(1) as f64
    }
}

fn explains(fault: &PlantedFault, operation: &DreamOperation, files: &HashSet<&str>) -> bool {
    let fits = match fault.kind {
        PlantedKind::ExactDuplicate | PlantedKind::NearDuplicate => {
            matches!(operation.reason, DreamReason::ExactDuplicate | DreamReason::NearDuplicate)
        }
        PlantedKind::Contradiction => operation.reason == DreamReason::Contradiction,
        PlantedKind::StaleReference => operation.reason == DreamReason::EvidenceGone,
        PlantedKind::RelativeDate => operation.reason == DreamReason::RelativeDate,
        PlantedKind::TooLong => operation.reason == DreamReason::TooLong,
        PlantedKind::Log => operation.reason == DreamReason::Log,
    };
    let all = |file: &String| files.contains(file.as_str());
    match fault.kind {
        // A pair is found only if both of its files are in one operation.
        PlantedKind::ExactDuplicate | PlantedKind::NearDuplicate | PlantedKind::Contradiction => fits && fault.files.iter().all(all),
        _ => fits && fault.files.iter().any(all),
    }
}
