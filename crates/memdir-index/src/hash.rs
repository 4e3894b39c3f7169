//! The hashes that identify files and embedders in the index. They are stored on disk.

use memdir_core::internal::search::embed::EmbedderId;

/// Returns the hash by which a file's path is looked up.
pub(crate) fn path_hash(path: &str) -> u64 {
    first_eight(blake3::hash(path.as_bytes()).as_bytes())
}

/// Returns the tag of an embedder; never 0, which means no embedder.
pub(crate) fn embedder_tag(embedder: &EmbedderId) -> u64 {
    first_eight(&embedder.hash()).max(1)
}

fn first_eight(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(eight)
}

/// Returns the first of `count` sorted hashes that is not before one that begins with `leading`. Hashes are evenly distributed, so the
/// position is nearly known: a few steps instead of seventeen.
pub(crate) fn lower_bound(count: usize, leading: u64, is_before: impl Fn(usize) -> bool) -> usize {
    let guess = ((u128::from(leading) * count as u128) >> 64) as usize;
    let (mut low, mut high, mut step) = (guess, guess, 4);
    while low > 0 && !is_before(low - 1) {
        low = low.saturating_sub(step);
        step *= 2;
    }
    step = 4;
    while high < count && is_before(high) {
        high = (high + step).min(count);
        step *= 2;
    }
    while low < high {
        let middle = usize::midpoint(low, high);
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
