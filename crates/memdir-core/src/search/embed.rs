//! The [`Embedder`] trait, which turns text into vectors. An embedder never sees a file, a mount or the search index.

#[cfg(feature = "testing")]
pub mod testing;

use crate::base::{error::Result, raw::Simd};
use std::fmt;

/// Turns texts into unit vectors, so that texts of similar meaning have a large cosine.
///
/// The contract, which `testing::check_embedder` checks for every implementation:
/// - `embed` returns one vector per text, in the order of the texts, each of `dim` numbers; no texts give no vectors.
/// - Every vector is of unit length or zero. Zero means that the text has no content; its cosine with every vector is 0.
/// - The vector of a text depends on the text, the role and the identity alone: not on the other texts of the call,
///   nor on earlier calls. Two embedders of one identity give the same vectors, in any process; vectors of different
///   identities are never compared.
/// - Any text is valid: empty, huge, any script. The embedder cuts what is too long and does not reject it.
/// - A failure is an `Err` for the whole call, never a missing or invented vector, and comes in bounded time. The caller decides
///   whether and when to retry; an embedder does not.
/// - Calls may come from several threads at once.
pub trait Embedder: Send + Sync {
    /// The identity of the model, which is part of everything derived from its vectors.
    fn id(&self) -> &EmbedderId;

    /// The number of dimensions of its vectors.
    fn dim(&self) -> usize;

    /// Embeds texts. Blocks; pass at most [`Embedder::batch`] texts at once if latency matters.
    fn embed(&self, role: EmbedRole, texts: &[&str]) -> Result<Vec<Vector>>;

    /// Whether `embed` is local and so cheap (microseconds per text) that a search may call it before it answers. Otherwise searches do
    /// not wait for it.
    fn is_instant(&self) -> bool;

    /// Whether the vector of a query would be meaningful, which depends on its language.
    fn understands(&self, _query: &str) -> bool {
        true
    }

    /// The best number of texts per call: enough to be fast, few enough that work can stop between two calls.
    fn batch(&self) -> usize {
        64
    }

    /// For embedders whose vector is a sum over the words of a text: embeds from words that were split anyway. One per thread.
    fn word_sum(&self) -> Option<Box<dyn WordSum + '_>> {
        None
    }
}

/// Sums the vectors of texts, one after the other, from the pieces of their words.
///
/// A text may be split at white space and at ASCII punctuation without changing the vector; a punctuation mark is a word of its own.
/// So `add_text` of a whole text gives the same vector as [`Embedder::embed`], and so do the pieces of its alphanumeric runs and of
/// the marks between them.
pub trait WordSum: Send {
    /// Appends the pieces of a word (or of any text) to `into`. They depend on the word alone, so callers may cache them.
    fn pieces(&self, word: &str, into: &mut Vec<u32>);

    /// Adds pieces to the current text. Pieces that did not come from `pieces` are ignored.
    fn add(&mut self, pieces: &[u32]);

    /// Adds all pieces of a text, with a cache of its own.
    fn add_text(&mut self, text: &str);

    /// Returns the vector of what was added since the last call, and begins the next text.
    fn finish(&mut self) -> Vector;
}

/// The role of a text in a search; some models treat the two differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EmbedRole {
    /// A query.
    Query,
    /// A text that may answer a query.
    Passage,
}

/// The identity of a model: its name and a fingerprint of everything else that changes its vectors.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EmbedderId(String);

impl EmbedderId {
    /// Creates an identity. `name` is for people; `fingerprint` distinguishes models (weights, dimensions, prefixes) of one name.
    pub fn new(name: &str, fingerprint: &str) -> Self {
        EmbedderId::parse(&format!("{name}@{fingerprint}"))
    }

    /// Parses what `as_str` returned. Control characters become blanks.
    pub fn parse(whole: &str) -> Self {
        EmbedderId(whole.replace(char::is_control, " "))
    }

    /// The whole identity.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The identity as sixteen bytes, for file headers and directory names.
    pub fn hash(&self) -> [u8; 16] {
        let mut short = [0; 16];
        short.copy_from_slice(&blake3::hash(self.0.as_bytes()).as_bytes()[..16]);
        short
    }
}

impl fmt::Display for EmbedderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A vector of unit length, or zero, in one byte per number: the number is `scale · row[i]`, and `|row[i]| ≤ 127`.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    scale: f32,
    row: Box<[i8]>,
}

impl Vector {
    /// The zero vector.
    pub fn zero(dim: usize) -> Self {
        Vector { scale: 0.0, row: vec![0; dim].into() }
    }

    /// The direction of `values` with one byte per number, or `None` if one of them is not finite.
    pub fn from_values(values: &[f32]) -> Option<Self> {
        // Zero times a number is zero, times infinity or NaN it is NaN, which a comparison passes over. `f32::max` would be a call for each
        // number where code is built for size: 3 % of an index.
        let larger = |a: f32, b: f32| if b > a { b } else { a };
        let (largest, zero) = values.iter().fold((0f32, 0f32), |(largest, zero), v| (larger(largest, v.abs()), zero + v * 0.0));
        if zero.is_nan() {
            return None;
        }
        // A largest value this small is noise around zero, and its inverse would overflow.
        if largest < 1e-30 {
            return Some(Vector::zero(values.len()));
        }
        let factor = 127.0 / largest;
        Some(Vector::from_row(values.iter().map(|v| round(v * factor)).collect()))
    }

    /// The unit vector in the direction of whole numbers; -128 is taken as -127.
    pub fn from_row(mut row: Box<[i8]>) -> Self {
        for value in &mut row {
            *value = (*value).max(-127);
        }
        Vector { scale: unit_scale(&row), row }
    }

    /// The factor of each number of the row.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The numbers, before scaling.
    pub fn row(&self) -> &[i8] {
        &self.row
    }

    /// The number of dimensions.
    pub fn dim(&self) -> usize {
        self.row.len()
    }

    /// Whether this is the zero vector.
    pub fn is_zero(&self) -> bool {
        self.scale == 0.0
    }

    /// The cosine with a vector of the same dimension, -1 to 1; 0 with the zero vector.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn cosine(&self, other: &Vector) -> f32 {
        let mut dot = [0];
        Simd::best().dots(&self.row, &other.row, &mut dot);
        self.scale * other.scale * dot[0] as f32
    }
}

/// The scale that makes a row a unit vector; 0 for a row of zeros. A stored row with another scale is damaged.
pub fn unit_scale(row: &[i8]) -> f32 {
    let mut squares = [0];
    Simd::best().dots(row, row, &mut squares);
    if squares == [0] { 0.0 } else { 1.0 / (squares[0] as f32).sqrt() }
}

/// Rounds a number within ±127 to the nearest whole one, half to even. Adding 1.5 · 2²³ leaves the whole number in the
/// low bits, which the compiler can do for many at once; `f32::round` is a call per number without SSE4.1.
fn round(value: f32) -> i8 {
    (value + 12_582_912.0).to_bits() as u8 as i8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn from_values_keeps_the_direction(values in prop::collection::vec(-1e6f32..1e6, 1..300)) {
            let vector = Vector::from_values(&values).unwrap();
            let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            let exact: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
            let back: Vec<f64> = vector.row().iter().map(|&v| f64::from(v) * f64::from(vector.scale())).collect();
            prop_assert!((norm(&back) - 1.0).abs() < 1e-5);
            let cosine = exact.iter().zip(&back).map(|(a, b)| a * b).sum::<f64>() / norm(&exact);
            prop_assert!(cosine > 0.999, "{cosine}");
        }
    }

    #[test]
    fn from_values_rounds_half_to_even_and_reaches_127() {
        let vector = Vector::from_values(&[254.0, 1.0, 3.0, -254.0, 5.0, -3.1]).unwrap();
        assert_eq!(vector.row(), [127, 0, 2, -127, 2, -2]);
    }

    #[test]
    fn zero_empty_and_tiny_values_give_the_zero_vector() {
        assert_eq!(Vector::from_values(&[0.0, -0.0]), Some(Vector::zero(2)));
        assert_eq!(Vector::from_values(&[1e-40, 0.0]), Some(Vector::zero(2)));
        assert_eq!(Vector::from_values(&[]), Some(Vector::zero(0)));
        assert_eq!(Vector::zero(2).cosine(&Vector::from_row([1, 2].into())), 0.0);
    }

    #[test]
    fn values_that_are_not_finite_are_rejected() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(Vector::from_values(&[1.0, bad, 2.0]), None);
        }
    }

    #[test]
    fn huge_values_do_not_overflow() {
        let vector = Vector::from_values(&[f32::MAX, f32::MAX]).unwrap();
        assert_eq!((vector.row(), vector.scale()), (&[127, 127][..], unit_scale(&[127, 127])));
    }
}

/// The key of a stored vector: the hash of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Key(pub [u8; 16]);

impl Key {
    /// The key of a text.
    pub fn from_text(text: &str) -> Self {
        let mut key = [0; 16];
        key.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
        Key(key)
    }
}
