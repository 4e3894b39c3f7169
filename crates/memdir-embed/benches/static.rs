//! Texts a second of the built-in model, one thread.

use divan::{Bencher, counter::ItemsCount};
use memdir_core::embed::{EmbedRole, Embedder, WordSum};
use memdir_embed::StaticModel;

fn main() {
    divan::main();
}

const WORDS: &str = "we decided to move the deployment from friday to monday because the tests of the payment service \
    were flaky and nobody wanted to spend the weekend on call while anna is on holiday in portugal until march so ask ben \
    about postgres credentials certificates rollback pipelines espresso machine allergies birthday violin marathon";

/// Different texts of about so many tokens.
fn texts(tokens: usize) -> Vec<String> {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let word = |i: usize| words[(i * i + i / 7 + i / 31) % words.len()];
    (0..500).map(|t| (0..tokens).map(|i| word(t * 17 + i)).collect::<Vec<_>>().join(" ")).collect()
}

#[divan::bench(args = [30, 360])]
fn sum(bencher: Bencher<'_, '_>, tokens: usize) {
    let (texts, model) = (texts(tokens), StaticModel::new());
    let mut sum = model.sum();
    bencher.counter(ItemsCount::new(texts.len())).bench_local(|| {
        for text in &texts {
            sum.add_text(text);
            divan::black_box(sum.take());
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
