//! Texts a second of the built-in model, one thread.

use divan::{Bencher, counter::ItemsCount};
use memdir_core::{
    Embedder,
    internal::search::embed::{EmbedRole, WordSum},
};
use memdir_embed::StaticModel;

fn main() {
    divan::main();
}

/// Texts of so many words each out of twenty thousand, the first ones far more often, as in language.
fn texts(tokens: usize) -> Vec<String> {
    let vocab = include_str!("../model/vocab.txt");
    let words: Vec<&str> = vocab.lines().filter(|w| w.bytes().all(|b| b.is_ascii_lowercase())).collect();
    let mut state = 7u64;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let even = (state >> 40) as f64 / (1u64 << 24) as f64;
        words[(words.len() as f64).powf(even) as usize - 1]
    };
    (0..500).map(|_| (0..tokens).map(|_| word()).collect::<Vec<_>>().join(" ")).collect()
}

#[divan::bench(args = [30, 360])]
fn sum(bencher: Bencher<'_, '_>, tokens: usize) {
    let (texts, model) = (texts(tokens), StaticModel::new());
    let mut sum = model.sum();
    bencher.counter(ItemsCount::new(texts.len())).bench_local(|| {
        for text in &texts {
            sum.add_text(text);
            divan::black_box(sum.finish());
        }
    });
}

#[divan::bench(args = [30, 360])]
fn embed_one_at_a_time(bencher: Bencher<'_, '_>, tokens: usize) {
    let (texts, model) = (texts(tokens), StaticModel::new());
    bencher.counter(ItemsCount::new(texts.len())).bench_local(|| {
        for text in &texts {
            let _ = divan::black_box(model.embed(EmbedRole::Query, &[text]));
        }
    });
}
