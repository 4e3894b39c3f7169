//! Names that are different here and the same on another system.

use crate::base::sort::SharedSort as _;
use crate::{
    base::{error::Problem, path::MemoryPath},
    store::Walk,
};
use rustc_hash::FxHasher;
use std::hash::Hasher as _;
use unicode_normalization::UnicodeNormalization as _;

impl Walk {
    /// Reports names that differ only by case or Unicode normalization: they are one file on some systems.
    pub fn report_collisions(&mut self) {
        // Most directories have none, and equal hashes are a sign that is found without copying every name.
        let mut hashes: Vec<u64> = self.entries.iter().map(|entry| folded_hash(entry.path.as_str())).collect();
        hashes.sort_unstable();
        if hashes.windows(2).all(|pair| pair[0] != pair[1]) {
            return;
        }
        let mut folded: Vec<(String, &MemoryPath)> = self.entries.iter().map(|entry| (folded(entry.path.as_str()), &entry.path)).collect();
        folded.shared_sort();
        let found: Vec<Problem> = folded
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0)
            .map(|pair| {
                Problem::whole(format!(
                    "{:?} and {:?} differ only in case or Unicode normalization; rename one of them",
                    pair[0].1.as_str(),
                    pair[1].1.as_str()
                ))
            })
            .collect();
        self.problems.extend(found);
    }
}

/// A hash that is the same for names that are [`folded`] alike.
fn folded_hash(name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    if name.is_ascii() {
        name.bytes().for_each(|byte| hasher.write_u8(byte.to_ascii_lowercase()));
    } else {
        folded(name).bytes().for_each(|byte| hasher.write_u8(byte));
    }
    hasher.finish()
}

/// Returns a name as case- and normalization-insensitive file systems see it.
fn folded(name: &str) -> String {
    if name.is_ascii() { name.to_ascii_lowercase() } else { name.to_lowercase().nfc().collect() }
}
