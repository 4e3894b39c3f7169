//! English stop words. Negations are not among them, because they change the meaning of a query.

/// English stop words, sorted.
pub const STOP_WORDS: &[&str] = &[
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by", "can", "could", "d", "did", "do",
    "does", "doing", "for", "from", "had", "has", "have", "having", "he", "her", "hers", "him", "his", "how", "i", "if", "in", "into",
    "is", "it", "its", "itself", "ll", "m", "me", "might", "mine", "must", "my", "myself", "of", "on", "onto", "or", "our", "ours", "re",
    "s", "shall", "she", "should", "so", "some", "such", "t", "than", "that", "the", "their", "theirs", "them", "then", "there", "these",
    "they", "this", "those", "to", "too", "us", "ve", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom",
    "whose", "why", "will", "with", "would", "you", "your", "yours",
];

/// Whether a lower-case word is a stop word.
pub fn is_stop(word: &str) -> bool {
    word.len() <= 6 && STOP_WORDS.binary_search(&word).is_ok()
}

#[test]
fn the_list_is_sorted() {
    assert!(STOP_WORDS.is_sorted());
    assert!(is_stop("theirs") && is_stop("itself") && is_stop("a") && !is_stop("not") && !is_stop("no"));
}
