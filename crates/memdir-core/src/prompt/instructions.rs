//! The instructions that a server sends to a model when it connects. A host whose session hook provides the memory section gets brief
//! ones, because the section already contains the rest.

use super::{
    parts::USER,
    texts::{self, fill},
};
use crate::store::{Access, Store};

/// Characters of a server's instructions with the user's guidelines: about 2,000 tokens, paid in every conversation.
const INSTRUCTIONS_CHARS: usize = 8_000;

/// The instructions to build.
#[derive(Debug, Clone, Copy, Default)]
pub struct InstructionsRequest<'a> {
    /// Whether the host gives the model the memory section, so that the instructions only refer to it.
    pub brief: bool,
    /// Additional paragraphs from the user's settings, which brief instructions leave to the section.
    pub guidelines: &'a [&'a str],
}

/// Builds the instructions for a space.
pub fn instructions(store: &dyn Store, request: InstructionsRequest<'_>) -> String {
    let is_writable = |prefix: &str| store.mounts().iter().any(|mount| mount.prefix == prefix && mount.access == Access::ReadWrite);
    let has_person = is_writable(USER);
    if request.brief {
        let person = if has_person { " and of the person (names `user/…`)" } else { "" };
        return fill(texts::INSTRUCTIONS_BRIEF, &[("person", person)]);
    }
    let (files, user) = match has_person {
        true => (
            "of this project, and of the person in every project (names `user/…`)",
            "What is about the person, or about how they like to work everywhere, gets a name `user/…`. ",
        ),
        false => ("shared by every session on this project", ""),
    };
    let mut text = fill(texts::INSTRUCTIONS, &[("files", files), ("user", user)]);
    for guideline in request.guidelines.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
        text.push_str("\n\n");
        text.push_str(guideline);
    }
    match text.char_indices().nth(INSTRUCTIONS_CHARS) {
        Some((end, _)) => format!("{}\n[omitted: the guidelines are too long]", &text[..end]),
        None => text,
    }
}
