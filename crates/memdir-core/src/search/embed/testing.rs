//! For tests: an in-memory embedder, and the contract test of all embedders. Never part of a release build.

use super::{EmbedRole, Embedder, EmbedderId, Vector};
use crate::base::error::{Error, Result};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// An in-memory embedder. Texts that share words are similar, in any order; it records its calls and can be made to fail.
pub struct RamEmbedder {
    id: EmbedderId,
    instant: bool,
    failing: AtomicBool,
    asked: Mutex<Vec<String>>,
}

/// The dimensions of a [`RamEmbedder`]: on purpose not a multiple of any register's width.
pub const RAM_DIM: usize = 83;

impl RamEmbedder {
    /// An instant embedder.
    pub fn new() -> Self {
        RamEmbedder::named("ram")
    }

    /// An instant embedder with this identity, which also determines its vectors.
    pub fn named(name: &str) -> Self {
        RamEmbedder { id: EmbedderId::new(name, "1"), instant: true, failing: AtomicBool::new(false), asked: Mutex::default() }
    }

    /// Makes it an embedder that a search does not wait for.
    pub fn slow(mut self) -> Self {
        self.instant = false;
        self
    }

    /// Sets whether every call fails from now on.
    pub fn set_failing(&self, failing: bool) {
        self.failing.store(failing, Ordering::SeqCst);
    }

    /// Every text that it embedded, in order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn vector(&self, text: &str) -> Vector {
        let mut sum = [0f32; RAM_DIM];
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
            let mut noise = [0u8; RAM_DIM];
            let mut hasher = blake3::Hasher::new();
            hasher.update(self.id.as_str().as_bytes()).update(b"\0").update(word.to_lowercase().as_bytes());
            hasher.finalize_xof().fill(&mut noise);
            sum.iter_mut().zip(noise).for_each(|(s, n)| *s += f32::from(n) - 127.5);
        }
        Vector::from_values(&sum).unwrap_or_else(|| Vector::zero(RAM_DIM))
    }
}

impl Default for RamEmbedder {
    fn default() -> Self {
        RamEmbedder::new()
    }
}

impl Embedder for RamEmbedder {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dim(&self) -> usize {
        RAM_DIM
    }

    fn embed(&self, _role: EmbedRole, texts: &[&str]) -> Result<Vec<Vector>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).extend(texts.iter().map(|t| (*t).to_owned()));
        if self.failing.load(Ordering::SeqCst) {
            return Err(Error::unavailable(self.id.to_string(), "set to fail"));
        }
        Ok(texts.iter().map(|t| self.vector(t)).collect())
    }

    fn is_instant(&self) -> bool {
        self.instant
    }
}

/// Panics unless the embedder keeps the contract of [`Embedder`] and recognises similar texts.
pub fn check_embedder(embedder: &dyn Embedder) {
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for role in [EmbedRole::Query, EmbedRole::Passage] {
        assert!(embedder.embed(role, &[]).expect("no texts").is_empty(), "no texts give no vectors");
        let vectors = embedder.embed(role, &texts).expect("any text is legal");
        assert_eq!(vectors.len(), texts.len(), "one vector per text");
        for (text, vector) in texts.iter().zip(&vectors) {
            check_vector(embedder, text, vector);
            let alone = embedder.embed(role, &[text]).expect("one text");
            // A transformer's sums may depend on the padding of its batch in the last bits.
            let same = alone == [vector.clone()] || alone[0].cosine(vector) > 0.9999;
            assert!(same, "the vector of {:?} depends on other texts", head(text));
        }
        assert!(vectors[0].cosine(&vectors[1]) > vectors[0].cosine(&vectors[2]), "similar texts have a larger cosine");
    }
    if embedder.word_sum().is_some() {
        check_word_sum(embedder, &texts);
    }
    assert!(embedder.batch() > 0 && embedder.dim() > 0);
    assert!(!embedder.id().as_str().is_empty());
}

fn check_vector(embedder: &dyn Embedder, text: &str, vector: &Vector) {
    assert_eq!(vector.dim(), embedder.dim(), "dimension of {:?}", head(text));
    assert!(vector.row().iter().all(|v| *v >= -127));
    let length = vector.cosine(vector);
    let fine = if vector.is_zero() { vector.row().iter().all(|v| *v == 0) } else { (length - 1.0).abs() < 1e-4 };
    assert!(fine, "length of {:?} is {length}", head(text));
}

/// Whole texts, and texts split where the contract allows it, give the vectors of `embed`.
fn check_word_sum(embedder: &dyn Embedder, texts: &[&str]) {
    let mut sum = embedder.word_sum().expect("asked before");
    let expected = embedder.embed(EmbedRole::Passage, texts).expect("texts");
    let mut pieces = Vec::new();
    for (text, expected) in texts.iter().zip(&expected) {
        sum.add_text(text);
        assert_eq!(&sum.finish(), expected, "add_text of {:?}", head(text));
        for part in text.split_inclusive(|c: char| c.is_ascii_punctuation() || c.is_whitespace()) {
            pieces.clear();
            let word = part.trim_end_matches(|c: char| c.is_ascii_punctuation());
            sum.pieces(word, &mut pieces);
            sum.pieces(&part[word.len()..], &mut pieces);
            sum.add(&pieces);
        }
        assert_eq!(&sum.finish(), expected, "the words of {:?}", head(text));
    }
    sum.add(&[u32::MAX]);
    assert!(sum.finish().is_zero(), "foreign pieces are ignored, and finish begins a new text");
}

fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "How do we deploy the web server?",
        "We deploy the web server with a script.",
        "The cat sleeps in the sun.",
        "",
        " \n\t",
        "a",
        "src/db/pool.rs: getUserName() -> HTTP_2, --dry-run; E0502!",
        "Zürich, naïve café — “quoted” … déjà-vu",
        "今天天气很好。東京タワー 한국어 مرحبا Привет мир",
        "🎉🦀 e\u{301} \u{200d}\u{feff}\u{0}",
    ]
    .map(str::to_owned)
    .into();
    texts.push("x".repeat(5_000));
    texts.push("many words and then some, ".repeat(2_000));
    texts
}

fn head(text: &str) -> String {
    text.chars().take(40).collect()
}
