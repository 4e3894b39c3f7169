//! The built-in model: one vector per word piece; the vector of a text is the direction of their sum. Its numbers are read from the
//! mapped executable; nothing is loaded, copied or computed at start.

use crate::{
    cache::WordCache,
    vocab::{self, FINGERPRINT, FIRST, UNKNOWN},
    words::for_each_word,
};
use memdir_core::{
    Embedder, Result,
    internal::{
        base::raw::Simd,
        search::embed::{EmbedRole, EmbedderId, Vector, WordSum},
    },
};

const DIM: usize = 256;
/// The number of rows: the unknown piece, then every piece that is not a mark of the source model.
const ROWS: usize = 1 + 30_522 - FIRST;

/// A little-endian scale for each row, then the rows. Made by the build script; model/NOTICE and scripts/make-model describe its origin.
static MODEL: &[u8; ROWS * (4 + DIM)] = include_bytes!(concat!(env!("OUT_DIR"), "/model.bin"));

/// The built-in model for English. Text in other scripts is represented by its characters only.
pub struct StaticModel {
    id: EmbedderId,
}

impl StaticModel {
    /// Creates the model, which costs nothing.
    pub fn new() -> Self {
        StaticModel { id: EmbedderId::new("static-256", FINGERPRINT) }
    }

    /// Creates a sum for many texts, one after the other. It caches the pieces of words; use one per thread.
    pub fn sum(&self) -> TextSum {
        TextSum { cache: Some(WordCache::new()), pieces: Vec::new(), buffer: String::new() }
    }
}

impl Default for StaticModel {
    fn default() -> Self {
        StaticModel::new()
    }
}

/// Calls with at most this many texts use no cache: creating one costs more than it saves.
const FEW: usize = 16;

/// The maximum number of letters of a real word.
const MAX_WORD_LETTERS: usize = 40;

impl Embedder for StaticModel {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dim(&self) -> usize {
        DIM
    }

    fn embed(&self, _role: EmbedRole, texts: &[&str]) -> Result<Vec<Vector>> {
        let cache = (texts.len() > FEW).then(WordCache::new);
        let mut sum = TextSum { cache, pieces: Vec::new(), buffer: String::new() };
        let one = |text: &&str| {
            sum.add_text(text);
            sum.finish()
        };
        Ok(texts.iter().map(one).collect())
    }

    fn is_instant(&self) -> bool {
        true
    }

    /// The model is for English: letters of other scripts and overlong strings have no meaning to it.
    fn understands(&self, query: &str) -> bool {
        let latin = |c: &char| c.is_ascii_alphabetic() || ('\u{c0}'..='\u{24f}').contains(c);
        let words = query.split(|c: char| !c.is_alphabetic()).filter(|word| word.chars().count() <= MAX_WORD_LETTERS);
        let (mut known, mut letters) = (0, 0);
        for c in words.flat_map(str::chars) {
            letters += 1;
            known += usize::from(latin(&c));
        }
        known > 0 && 2 * known >= letters
    }

    fn batch(&self) -> usize {
        1024
    }

    fn word_sum(&self) -> Option<Box<dyn WordSum + '_>> {
        Some(Box::new(self.sum()))
    }
}

/// Sums the vectors of texts with the built-in model.
pub struct TextSum {
    cache: Option<WordCache>,
    pieces: Vec<u32>,
    buffer: String,
}

impl WordSum for TextSum {
    fn pieces(&self, word: &str, into: &mut Vec<u32>) {
        for_each_word(word, &mut String::new(), &mut |w| vocab::pieces(w, &mut |id| into.push(id.into())));
    }

    fn add(&mut self, pieces: &[u32]) {
        self.pieces.extend_from_slice(pieces);
    }

    fn add_text(&mut self, text: &str) {
        let TextSum { cache, pieces, buffer } = self;
        for_each_word(text, buffer, &mut |word| match cache {
            Some(cache) => cache.pieces(word, pieces),
            None => vocab::pieces(word, &mut |id| pieces.push(id.into())),
        });
    }

    /// Adds each piece's row once, times its count, in the order of the pieces: the same pieces give exactly the same vector in
    /// whatever order they were added.
    fn finish(&mut self) -> Vector {
        self.pieces.sort_unstable();
        let simd = Simd::best();
        let mut sum = [0f32; DIM];
        for same in self.pieces.chunk_by(|a, b| a == b) {
            if let Some(row) = row(same[0]) {
                let values = &MODEL[4 * ROWS + row * DIM..][..DIM];
                simd.add_scaled(&mut sum, bytemuck::cast_slice(values), same.len() as f32 * scale(row));
            }
        }
        self.pieces.clear();
        Vector::from_values(&sum).unwrap_or_else(|| Vector::zero(DIM))
    }
}

/// The row of a piece, or `None` for marks of the source model and ids that are not in the vocabulary.
fn row(piece: u32) -> Option<usize> {
    let piece = piece as usize;
    if piece == usize::from(UNKNOWN) { Some(0) } else { piece.checked_sub(FIRST - 1).filter(|row| (1..ROWS).contains(row)) }
}

fn scale(row: usize) -> f32 {
    let at = 4 * row;
    f32::from_le_bytes([MODEL[at], MODEL[at + 1], MODEL[at + 2], MODEL[at + 3]])
}
