//! The built-in model.

use memdir_core::{
    Embedder,
    internal::search::embed::{EmbedRole, Vector, WordSum, testing::check_embedder},
};
use memdir_embed::StaticModel;
use proptest::prelude::*;
use serde::Deserialize;

/// A text with the pieces and the vector that the reference (scripts/make-model/golden.py) gives it.
#[derive(Deserialize)]
struct Expected {
    text: String,
    pieces: Vec<u32>,
    row: String,
}

fn expected() -> Vec<Expected> {
    include_str!("../golden/static.jsonl").lines().map(|l| serde_json::from_str(l).expect("one object a line")).collect()
}

fn row(hex: &str) -> Box<[i8]> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex") as i8).collect()
}

#[test]
fn it_keeps_the_contract() {
    check_embedder(&StaticModel::new());
}

#[test]
fn pieces_and_vectors_are_those_of_the_reference() {
    let model = StaticModel::new();
    let sum = model.sum();
    let all = expected();
    assert!(all.len() > 200);
    for Expected { text, pieces, row: hex } in all {
        let mut found = Vec::new();
        sum.pieces(&text, &mut found);
        assert_eq!(found, pieces, "pieces of {text:?}");
        let vector = model.embed(EmbedRole::Passage, &[&text]).unwrap().remove(0);
        let reference = Vector::from_row(row(&hex));
        let same = reference.is_zero() && vector.is_zero() || vector.cosine(&reference) > 0.999;
        assert!(same, "vector of {text:?}: cosine {}", vector.cosine(&reference));
        // Not only the direction: no number is off by more than the rounding of its last bit.
        let off = vector.row().iter().zip(reference.row()).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(off <= Some(1), "numbers of {text:?} are off by {off:?}");
    }
}

#[test]
fn many_texts_at_once_are_as_one_at_a_time() {
    let model = StaticModel::new();
    let all = expected();
    let texts: Vec<&str> = all.iter().map(|e| e.text.as_str()).collect();
    let together = model.embed(EmbedRole::Passage, &texts).unwrap();
    for (text, vector) in texts.iter().zip(together) {
        assert_eq!(model.embed(EmbedRole::Query, &[text]).unwrap(), [vector], "{text:?}");
    }
}

#[test]
fn meaning_counts() {
    let model = StaticModel::new();
    let cosine = |a: &str, b: &str| {
        let v = model.embed(EmbedRole::Query, &[a, b]).unwrap();
        v[0].cosine(&v[1])
    };
    assert!(cosine("doctor", "physician") > 0.7);
    assert!(
        cosine("where does she live", "her home address is in Berlin") > cosine("where does she live", "the compiler warns about it") + 0.2
    );
}

proptest! {
    #[test]
    fn any_text_has_a_vector_and_a_cache_that_is_full_changes_nothing(texts in prop::collection::vec("\\PC{0,30}", 1..20)) {
        let model = StaticModel::new();
        let mut sum = model.sum();
        for text in texts.iter().chain(&texts) {
            sum.add_text(text);
            prop_assert_eq!(vec![sum.finish()], model.embed(EmbedRole::Passage, &[text]).unwrap());
        }
    }
}
