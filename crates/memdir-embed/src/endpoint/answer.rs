//! What endpoints answer, checked. Pure: bytes to numbers, or why not.

use memdir_core::search::embed::Vector;
use serde::Deserialize;

/// The vectors of an OpenAI-compatible answer, in the order of the texts.
pub(super) fn open_ai(bytes: &[u8], count: usize) -> Result<Vec<Vec<f32>>, String> {
    #[derive(Deserialize)]
    struct Answer {
        data: Vec<Item>,
    }
    #[derive(Deserialize)]
    struct Item {
        index: usize,
        embedding: Vec<f32>,
    }
    let mut data = parse::<Answer>(bytes)?.data;
    check_count(data.len(), count)?;
    data.sort_by_key(|item| item.index);
    match data.iter().enumerate().all(|(i, item)| item.index == i) {
        true => Ok(data.into_iter().map(|item| item.embedding).collect()),
        false => Err("it answered one text twice and another not at all".into()),
    }
}

/// The vectors of an Ollama answer.
pub(super) fn ollama(bytes: &[u8], count: usize) -> Result<Vec<Vec<f32>>, String> {
    #[derive(Deserialize)]
    struct Answer {
        embeddings: Vec<Vec<f32>>,
    }
    let embeddings = parse::<Answer>(bytes)?.embeddings;
    check_count(embeddings.len(), count)?;
    Ok(embeddings)
}

/// A vector of the right dimension, all of it numbers, of unit length.
pub(super) fn vector(values: &[f32], dim: usize) -> Result<Vector, String> {
    if values.len() != dim {
        return Err(format!("it answered vectors of {} numbers; {dim} are configured", values.len()));
    }
    Vector::from_values(values).ok_or_else(|| "it answered numbers that are not finite".into())
}

/// The beginning of an answer that was not a success, in one line.
pub(super) fn head(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1_000)]);
    let line: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    line.join(" ").chars().take(200).collect()
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|e| format!("its answer cannot be read ({e})"))
}

fn check_count(found: usize, expected: usize) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("it answered {found} vectors for {expected} texts")),
    }
}
