//! The difference between two texts as one replaced run of bytes. Pure.

use serde::{Deserialize, Serialize};

/// One replaced run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Patch {
    /// The byte offset of the run.
    at: usize,
    /// The old text.
    old: String,
    /// The length of the new text in bytes.
    new: usize,
}

impl Patch {
    /// The patch that turns `after` back into `before`.
    pub(crate) fn between(before: &str, after: &str) -> Patch {
        let at = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        let at = (0..=at).rev().find(|at| before.is_char_boundary(*at) && after.is_char_boundary(*at)).unwrap_or(0);
        let (a, b) = (&before[at..], &after[at..]);
        let same = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
        let is_boundary = |same: &usize| a.is_char_boundary(a.len() - same) && b.is_char_boundary(b.len() - same);
        let same = (0..=same).rev().find(is_boundary).unwrap_or(0);
        Patch { at, old: a[..a.len() - same].to_owned(), new: b.len() - same }
    }

    /// Returns the old text, or `None` if the patch does not fit `after`.
    pub(crate) fn revert(&self, after: &str) -> Option<String> {
        let head = after.get(..self.at)?;
        let tail = after.get(self.at + self.new..)?;
        Some(format!("{head}{}{tail}", self.old))
    }
}

#[cfg(test)]
mod tests {
    use super::Patch;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_change_can_be_reverted(before in "[aé\n{}]{0,12}", after in "[aé\n{}]{0,12}") {
            prop_assert_eq!(Patch::between(&before, &after).revert(&after), Some(before));
        }
    }

    #[test]
    fn a_patch_contains_only_the_replaced_run() {
        let patch = Patch::between("{\"a\":1}", "{\"a\":1,\"b\":2}");
        assert_eq!((patch.at, patch.old.as_str(), patch.new), (6, "", 6));
    }
}
