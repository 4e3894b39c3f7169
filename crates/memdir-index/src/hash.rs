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
