//! Parses and validates the responses of embedding servers. Pure.

use memdir_core::internal::search::embed::Vector;
use serde::Deserialize;

/// Parses the vectors of an OpenAI-compatible response, in the order of the texts.
pub(super) fn open_ai(bytes: &[u8], count: usize) -> Result<Vec<Vec<f32>>, String> {
    #[derive(Deserialize)]
    struct OpenAiResponse {
        data: Vec<OpenAiItem>,
    }
    #[derive(Deserialize)]
    struct OpenAiItem {
        index: usize,
        embedding: Vec<f32>,
    }
    let mut data = parse::<OpenAiResponse>(bytes)?.data;
    check_count(data.len(), count)?;
    data.sort_by_key(|item| item.index);
    match data.iter().enumerate().all(|(i, item)| item.index == i) {
        true => Ok(data.into_iter().map(|item| item.embedding).collect()),
        false => Err("the indexes of the vectors in the response do not match the texts".into()),
    }
}

/// Parses the vectors of an Ollama response.
pub(super) fn ollama(bytes: &[u8], count: usize) -> Result<Vec<Vec<f32>>, String> {
    #[derive(Deserialize)]
    struct OllamaResponse {
        embeddings: Vec<Vec<f32>>,
    }
    let embeddings = parse::<OllamaResponse>(bytes)?.embeddings;
    check_count(embeddings.len(), count)?;
    Ok(embeddings)
}

/// Converts numbers to a unit vector, after checking their count and that they are finite.
pub(super) fn vector(values: &[f32], dim: usize) -> Result<Vector, String> {
    if values.len() != dim {
        return Err(format!("the response has vectors with {} dimensions; {dim} dimensions are configured", values.len()));
    }
    Vector::from_values(values).ok_or_else(|| "the response contains non-finite numbers".into())
}

/// The beginning of an error response, on one line.
pub(super) fn head(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1_000)]);
    let line: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    line.join(" ").chars().take(200).collect()
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|e| format!("invalid response: {e}"))
}

fn check_count(found: usize, expected: usize) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("wrong number of vectors in the response: expected {expected}, found {found}")),
    }
}
