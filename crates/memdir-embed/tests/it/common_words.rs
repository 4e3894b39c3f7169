//! The table of common words in memdir-core is the one that the vocabulary of the built-in model gives.

use memdir_core::internal::search::analysis::{Analyser, rarity};
use std::path::Path;

#[test]
fn the_table_of_common_words_is_current() {
    let vocabulary = include_str!("../../model/vocab.txt");
    let mut analyser = Analyser::default();
    let is_word = |line: &str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_alphabetic());
    let words = (0..).zip(vocabulary.lines()).filter(|(_, line)| is_word(line));
    let stems: Vec<(u16, String)> =
        words.filter_map(|(at, line)| Some((at, analyser.split_words(line).into_iter().next()?.stem))).collect();
    let table = rarity::make_table(stems.iter().map(|(at, stem)| (*at, stem.as_str())));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../memdir-core/src/search/analysis/common-words.bin");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &table).expect("the table");
    }
    assert!(std::fs::read(&file).expect("the table") == table, "run this test with UPDATE_DOCS=1");
}
