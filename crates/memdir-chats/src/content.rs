//! The content of a message, in the block formats that hosts share with small differences: texts and tool calls in order.
//! Thinking, images and tool output are skipped while decoding.

use crate::{
    injected,
    json::{Args, Flag, FromJson, Obj, Str, loose},
};
use memdir_core::Speaker;
use serde::{Deserialize, Deserializer, de::SeqAccess};
use std::borrow::Cow;

/// The content of a message: a string, or a list of blocks.
#[derive(Debug, Clone, Default)]
pub(super) struct Content<'a> {
    /// Texts and calls, in order.
    pub(super) parts: Vec<Part<'a>>,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// A bare string in a list of blocks.
    Bare(Cow<'a, str>),
    /// A tool call: name and short arguments.
    Call(String),
}

impl<'a> Content<'a> {
    /// Joins the texts, each as a paragraph of its own.
    pub(super) fn into_text(self) -> Cow<'a, str> {
        let mut texts = self.parts.into_iter().filter_map(|part| match part {
            Part::Text(text) => Some(text),
            Part::Bare(_) | Part::Call(_) => None,
        });
        let Some(first) = texts.next() else { return Cow::Borrowed("") };
        texts.fold(first, |mut all, text| {
            let joined = all.to_mut();
            joined.push_str("\n\n");
            joined.push_str(&text);
            all
        })
    }
}

impl<'de: 'a, 'a> FromJson<'de> for Content<'a> {
    fn text(text: Cow<'de, str>) -> Self {
        Content { parts: vec![Part::Text(text)] }
    }
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut parts = Vec::new();
        while let Some(item) = list.next_element::<Item<'a>>()? {
            parts.extend(item.0);
        }
        Ok(Content { parts })
    }
    // Gemini CLI writes a single part as an object.
    fn object<A: serde::de::MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        Item::object(object).map(|item| Content { parts: item.0.into_iter().collect() })
    }
}
loose!(Content<'a>);

/// One element of a content list.
#[derive(Default)]
struct Item<'a>(Option<Part<'a>>);

impl<'de: 'a, 'a> FromJson<'de> for Item<'a> {
    fn text(text: Cow<'de, str>) -> Self {
        Item(Some(Part::Bare(text)))
    }
    fn object<A: serde::de::MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        let block = Block::deserialize(serde::de::value::MapAccessDeserializer::new(object))?;
        Ok(Item(block.part()))
    }
}
loose!(Item<'a>);

/// A block of any host. Other fields are skipped without being stored.
#[derive(Default, Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    text: Str<'a>,
    #[serde(borrow, default)]
    name: Str<'a>,
    #[serde(default)]
    input: Args,
    #[serde(default)]
    arguments: Args,
    #[serde(borrow, default, rename = "functionCall")]
    function_call: Obj<Call<'a>>,
    #[serde(default)]
    thought: Flag,
}

/// A tool call with its arguments.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Call<'a> {
    #[serde(borrow, default)]
    pub(super) name: Str<'a>,
    #[serde(default, alias = "arguments", alias = "input")]
    pub(super) args: Args,
}

impl<'a> Block<'a> {
    fn part(self) -> Option<Part<'a>> {
        if let Some(call) = self.function_call.0 {
            return Some(Part::Call(call_text(call.name.as_str(), &call.args)));
        }
        match self.kind.as_str() {
            "" | "text" | "input_text" | "output_text" if !self.thought.0 => self.text.0.map(Part::Text),
            "tool_use" | "toolCall" | "tool_call" | "server_tool_use" | "mcp_tool_use" => {
                let args = if self.input.0.is_empty() { self.arguments } else { self.input };
                Some(Part::Call(call_text(self.name.as_str(), &args)))
            }
            _ => None,
        }
    }
}

/// Formats a tool call: `Read file_path=src/main.rs`.
pub(super) fn call_text(name: &str, args: &Args) -> String {
    let name = if name.is_empty() { "tool" } else { name };
    format!("{name} {}", args.0).trim_end().to_owned()
}

/// Returns the user's turn: one, even if it came in several blocks. `user_text` removes injected text from a block.
pub(super) fn user_parts<'a>(content: Content<'a>, user_text: fn(Cow<'_, str>) -> Cow<'_, str>) -> Vec<(Speaker, Cow<'a, str>)> {
    let mut parts = content.parts;
    for part in &mut parts {
        if let Part::Text(text) = part {
            *text = user_text(std::mem::take(text));
        }
    }
    parts.retain(|part| matches!(part, Part::Text(text) if !text.trim().is_empty()));
    let text = Content { parts }.into_text();
    if text.is_empty() { Vec::new() } else { vec![(Speaker::User, text)] }
}

/// Returns the assistant's texts and tool calls, in order.
pub(super) fn assistant_parts(content: Content<'_>) -> Vec<(Speaker, Cow<'_, str>)> {
    let part = |part| match part {
        Part::Text(text) if !injected::is_placeholder(&text) => Some((Speaker::Assistant, text)),
        Part::Call(call) => Some((Speaker::Tool, Cow::Owned(call))),
        Part::Text(_) | Part::Bare(_) => None,
    };
    content.parts.into_iter().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(json: &str) -> Vec<Part<'_>> {
        serde_json::from_str::<Content<'_>>(json).unwrap().parts
    }

    #[test]
    fn blocks_of_every_host() {
        assert_eq!(parts(r#""hello""#), [Part::Text("hello".into())]);
        assert_eq!(
            parts(
                r#"[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"Read","input":{"path":"b"}},
                {"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"never"}]},{"type":"image","source":{"data":"AAAA"}},"bare",7,null]"#
            ),
            [Part::Text("a".into()), Part::Call("Read path=b".into()), Part::Bare("bare".into())]
        );
        assert_eq!(
            parts(
                r#"[{"text":"thinking","thought":true},{"text":"said"},{"functionCall":{"name":"ls","args":{"dir":"."}}},{"inlineData":{"data":"AAAA"}}]"#
            ),
            [Part::Text("said".into()), Part::Call("ls dir=.".into())]
        );
        assert_eq!(parts(r#"{"text":"one part"}"#), [Part::Text("one part".into())]);
        assert_eq!(parts("null"), []);
    }
}
