//! The embedder seam.

use memdir_core::{
    Embedder,
    internal::search::embed::{
        EmbedRole,
        testing::{RamEmbedder, check_embedder},
    },
};

#[test]
fn the_test_double_keeps_the_contract() {
    check_embedder(&RamEmbedder::new());
}

#[test]
fn the_test_double_fails_on_demand() {
    let embedder = RamEmbedder::new().slow();
    embedder.set_failing(true);
    let error = embedder.embed(EmbedRole::Query, &["why"]).unwrap_err();
    assert_eq!((error.code(), embedder.asked(), embedder.is_instant()), ("unavailable", vec!["why".to_owned()], false));
}
