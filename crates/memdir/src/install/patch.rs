//! A text's way back: the one run of bytes by which two texts differ. Pure.

use serde::{Deserialize, Serialize};

/// One run that was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Patch {
    /// Where, in bytes.
    at: usize,
    /// What stood there before.
    old: String,
    /// How many bytes stand there now.
    new: usize,
}

impl Patch {
    /// What leads back from `after` to `before`.
    pub(crate) fn between(before: &str, after: &str) -> Patch {
        let at = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        let at = (0..=at).rev().find(|at| before.is_char_boundary(*at) && after.is_char_boundary(*at)).unwrap_or(0);
        let (a, b) = (&before[at..], &after[at..]);
        let same = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
        let whole = |same: &usize| a.is_char_boundary(a.len() - same) && b.is_char_boundary(b.len() - same);
        let same = (0..=same).rev().find(whole).unwrap_or(0);
        Patch { at, old: a[..a.len() - same].to_owned(), new: b.len() - same }
    }

    /// The text from before; nothing if this patch cannot have led to `after`.
    pub(crate) fn back(&self, after: &str) -> Option<String> {
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
        fn every_change_leads_back(before in "[aé\n{}]{0,12}", after in "[aé\n{}]{0,12}") {
            prop_assert_eq!(Patch::between(&before, &after).back(&after), Some(before));
        }
    }

    #[test]
    fn a_patch_holds_only_what_was_replaced() {
        let patch = Patch::between("{\"a\":1}", "{\"a\":1,\"b\":2}");
        assert_eq!((patch.at, patch.old.as_str(), patch.new), (6, "", 6));
    }
}
