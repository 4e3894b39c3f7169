//! stub until merged
use crate::error::{Error, Result};
/// n
#[derive(Debug, Clone)]
pub enum Needle {
    /// l
    Literal(String),
    /// r
    Regex(String),
}
/// e
#[derive(Debug)]
pub struct Edited {
    /// t
    pub text: String,
    /// c
    pub count: usize,
}
/// e
pub fn edit(text: &str, needle: &Needle, with: &str, _all: bool) -> Result<Edited> {
    match needle {
        Needle::Literal(n) if text.contains(n.as_str()) => Ok(Edited { text: text.replace(n.as_str(), with), count: 1 }),
        _ => Err(Error::BadEdit { why: "no".into() }),
    }
}
