//! The built-in model: one vector per word piece; the vector of a text is the direction of their sum. Its numbers are read from the
//! mapped executable; nothing is loaded, copied or computed at start.

use crate::{
    cache::WordCache,
    vocab::{self, FINGERPRINT},
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
const VOCAB: usize = 30_522;
/// The offsets of the scales and of the rows in a file of little-endian numbers. model/NOTICE and scripts/make-model describe its
/// origin.
const SCALES: usize = 56;
const ROWS: usize = SCALES + 4 * VOCAB;

static MODEL: &[u8; ROWS + VOCAB * DIM + 2 * VOCAB] = include_bytes!("../model/static-256-int8.bin");

// A model file of another layout does not compile.
const _: () = {
    assert!(matches!(MODEL.first_chunk::<8>(), Some(b"MSTATIC2")));
    assert!(le_u32(8) == 2 && le_u32(12) == DIM as u32 && le_u32(16) == VOCAB as u32 && le_u32(20) == 3);
};

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
            let piece = same[0] as usize;
            if piece < VOCAB {
                let row = &MODEL[ROWS + piece * DIM..][..DIM];
                simd.add_scaled(&mut sum, bytemuck::cast_slice(row), same.len() as f32 * scale(piece));
            }
        }
        self.pieces.clear();
        Vector::from_values(&sum).unwrap_or_else(|| Vector::zero(DIM))
    }
}

fn scale(piece: usize) -> f32 {
    f32::from_bits(le_u32(SCALES + 4 * piece))
}

const fn le_u32(at: usize) -> u32 {
    u32::from_le_bytes([MODEL[at], MODEL[at + 1], MODEL[at + 2], MODEL[at + 3]])
}
