//! The instructions and the material with which a model proposes operations, in pieces of a limited size. Memories are framed as data, and
//! secrets are redacted.

use super::{Dream, material::Material};
use crate::{
    base::{error::Result, frame, limits, path::MemoryPath, text, version::Version},
    operations::context::Context,
    recall::tokens,
    secrets,
    store::Store,
};
use serde::Serialize;

/// Pieces of material for a model.
const DREAM_PIECES: usize = 40;

/// The instructions for the model.
const INSTRUCTIONS: &str = include_str!("../../../texts/prompts/dream.md");

/// What a model reads to propose operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DreamPrompt {
    /// The pieces, each complete in itself.
    pub pieces: Vec<DreamPiece>,
    /// The number of memories that are in no piece because there are too many.
    pub left_out: usize,
}

/// One piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DreamPiece {
    /// The number of memories in it.
    pub memories: usize,
    /// Its estimated size in tokens.
    pub tokens: usize,
    /// The instructions and the material.
    pub text: String,
    /// The memories in it, with the versions that the model reads.
    #[serde(skip)]
    pub read: Vec<(MemoryPath, Version)>,
}

/// Returns the pieces, neighbours by name together, because memories of one topic are compared best.
pub fn dream_prompt(store: &dyn Store, _context: &Context, request: &Dream<'_>) -> Result<DreamPrompt> {
    let material = Material::read(store, request)?;
    let (mut pieces, mut left_out) = (Vec::new(), 0);
    let (mut body, mut read) = (String::new(), Vec::new());
    for file in &material.files {
        // Half a secret is not recognized as one, so the text is cut last.
        let safe = secrets::redact(file.memory.text());
        let shown = text::truncate_bytes(&safe, limits::DREAM_SHOWN_BYTES);
        let cut = if shown.len() < safe.len() { "\n[cut: do not update this memory]" } else { "" };
        let source = format!("{}@{}, {}", file.name(), file.version.short(), file.day());
        let framed = frame::framed(&source, "", &format!("{}{cut}", frame::neutral(shown)));
        if !body.is_empty() && body.len() + framed.len() > limits::DREAM_PIECE_BYTES {
            finish(&mut pieces, &mut body, &mut read);
        }
        if pieces.len() == DREAM_PIECES {
            left_out += 1;
            continue;
        }
        body.push_str(&framed);
        body.push('\n');
        read.push((file.path.clone(), file.version));
    }
    if !body.is_empty() && pieces.len() < DREAM_PIECES {
        finish(&mut pieces, &mut body, &mut read);
    }
    Ok(DreamPrompt { pieces, left_out })
}

fn finish(pieces: &mut Vec<DreamPiece>, body: &mut String, read: &mut Vec<(MemoryPath, Version)>) {
    let text = format!("{}\n{}", INSTRUCTIONS.trim_end(), std::mem::take(body));
    pieces.push(DreamPiece { memories: read.len(), tokens: tokens(&text), text, read: std::mem::take(read) });
}
