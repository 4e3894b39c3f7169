//! The content of a message, in the block formats that hosts share with small differences: texts and tool calls in order.
//! Thinking and images are skipped while decoding; of tool output only its beginning and end are read.

use crate::{
    evidence::CallStart,
    facts::CallFacts,
    injected,
    json::{CallArguments, Flag, FromJson, Obj, Str, loose},
    results::Excerpt,
    transcript::{ChatEvent, EventSink, Flow, Turn},
};
use jiff::Timestamp;
use memdir_core::Speaker;
use serde::{Deserialize, Deserializer, de::SeqAccess};
use std::borrow::Cow;

/// The content of a message: a string, or a list of blocks.
#[derive(Debug, Clone, Default)]
pub(super) struct Content<'a> {
    /// Texts and calls, in order.
    pub(super) parts: Vec<ContentPart<'a>>,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ContentPart<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// A bare string in a list of blocks.
    Bare(Cow<'a, str>),
    /// A tool call.
    Call(Box<CallPart>),
    /// The result of a tool call.
    Result(Box<ResultPart>),
}

/// A tool call: name and short arguments, and what is evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CallPart {
    pub(super) text: String,
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) facts: CallFacts,
}

impl CallPart {
    pub(super) fn new(name: &str, id: &str, args: CallArguments) -> Box<CallPart> {
        let text = call_text(name, &args);
        Box::new(CallPart { text, id: id.to_owned(), tool: name.to_owned(), facts: args.1 })
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ResultPart {
    pub(super) id: String,
    pub(super) excerpt: Excerpt,
    pub(super) is_error: bool,
}

/// A part of a message as it is emitted: a turn, and the call that it is, if it is one.
#[derive(Debug, Clone)]
pub(super) struct MessagePart<'a> {
    pub(super) speaker: Speaker,
    pub(super) text: Cow<'a, str>,
    pub(super) call: Option<Box<CallPart>>,
}

impl<'a> MessagePart<'a> {
    pub(super) fn text(speaker: Speaker, text: Cow<'a, str>) -> Self {
        MessagePart { speaker, text, call: None }
    }

    pub(super) fn call(mut call: Box<CallPart>) -> Self {
        MessagePart { speaker: Speaker::Tool, text: Cow::Owned(std::mem::take(&mut call.text)), call: Some(call) }
    }
}

/// Emits the parts of a message that have a text, each call after its turn.
pub(super) fn emit_parts(
    parts: Vec<MessagePart<'_>>,
    message: Option<&str>,
    at: Option<Timestamp>,
    line: u64,
    sink: &mut EventSink<'_>,
) -> memdir_core::Result<Flow> {
    let mut flow = Flow::Continue;
    for MessagePart { speaker, text, call } in parts.into_iter().filter(|part| !part.text.trim().is_empty()) {
        let message = message.map(Cow::Borrowed);
        if sink(ChatEvent::Turn(Turn { speaker, at, text, message: message.clone(), line }))? == Flow::Stop {
            flow = Flow::Stop;
        }
        if let Some(call) = call {
            let CallPart { id, tool, facts, .. } = *call;
            sink(ChatEvent::Call(CallStart { id: id.into(), tool: tool.into(), message, at, line, facts }))?;
        }
    }
    Ok(flow)
}

impl<'a> Content<'a> {
    /// Joins the texts, each as a paragraph of its own.
    pub(super) fn into_text(self) -> Cow<'a, str> {
        let mut texts = self.parts.into_iter().filter_map(|part| match part {
            ContentPart::Text(text) => Some(text),
            ContentPart::Bare(_) | ContentPart::Call(_) | ContentPart::Result(_) => None,
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
        Content { parts: vec![ContentPart::Text(text)] }
    }
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut parts = Vec::new();
        while let Some(item) = list.next_element::<ContentItem<'a>>()? {
            parts.extend(item.0);
        }
        Ok(Content { parts })
    }
    // Gemini CLI writes a single part as an object.
    fn object<A: serde::de::MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        ContentItem::object(object).map(|item| Content { parts: item.0.into_iter().collect() })
    }
}
loose!(Content<'a>);

/// One element of a content list.
#[derive(Default)]
struct ContentItem<'a>(Option<ContentPart<'a>>);

impl<'de: 'a, 'a> FromJson<'de> for ContentItem<'a> {
    fn text(text: Cow<'de, str>) -> Self {
        ContentItem(Some(ContentPart::Bare(text)))
    }
    fn object<A: serde::de::MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        let block = ContentBlock::deserialize(serde::de::value::MapAccessDeserializer::new(object))?;
        Ok(ContentItem(block.part()))
    }
}
loose!(ContentItem<'a>);

/// A block of any host. Other fields are skipped without being stored.
#[derive(Default, Deserialize)]
struct ContentBlock<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    text: Str<'a>,
    #[serde(borrow, default)]
    name: Str<'a>,
    #[serde(borrow, default)]
    id: Str<'a>,
    #[serde(borrow, default)]
    tool_use_id: Str<'a>,
    #[serde(default)]
    content: Excerpt,
    #[serde(default)]
    is_error: Flag,
    #[serde(default)]
    input: CallArguments,
    #[serde(default)]
    arguments: CallArguments,
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
    #[serde(borrow, default, alias = "toolCallId")]
    pub(super) id: Str<'a>,
    #[serde(default, alias = "arguments", alias = "input")]
    pub(super) args: CallArguments,
}

impl Call<'_> {
    /// Returns the call with its text.
    pub(super) fn into_part(self) -> Box<CallPart> {
        CallPart::new(self.name.as_str(), self.id.as_str(), self.args)
    }
}

impl<'a> ContentBlock<'a> {
    fn part(self) -> Option<ContentPart<'a>> {
        if let Some(call) = self.function_call.0 {
            return Some(ContentPart::Call(call.into_part()));
        }
        match self.kind.as_str() {
            "" | "text" | "input_text" | "output_text" if !self.thought.0 => self.text.0.map(ContentPart::Text),
            "tool_use" | "toolCall" | "tool_call" | "server_tool_use" | "mcp_tool_use" => {
                let args = if self.input.0.is_empty() { self.arguments } else { self.input };
                Some(ContentPart::Call(CallPart::new(self.name.as_str(), self.id.as_str(), args)))
            }
            "tool_result" => Some(ContentPart::Result(Box::new(ResultPart {
                id: self.tool_use_id.as_str().to_owned(),
                excerpt: self.content,
                is_error: self.is_error.0,
            }))),
            _ => None,
        }
    }
}

/// Formats a tool call: `Read file_path=src/main.rs`.
fn call_text(name: &str, args: &CallArguments) -> String {
    let name = if name.is_empty() { "tool" } else { name };
    format!("{name} {}", args.0).trim_end().to_owned()
}

/// Returns the user's turn: one, even if it came in several blocks. `user_text` removes injected text from a block.
pub(super) fn user_parts<'a>(content: Content<'a>, user_text: fn(Cow<'_, str>) -> Cow<'_, str>) -> Vec<MessagePart<'a>> {
    let mut parts = content.parts;
    for part in &mut parts {
        if let ContentPart::Text(text) = part {
            *text = user_text(std::mem::take(text));
        }
    }
    parts.retain(|part| matches!(part, ContentPart::Text(text) if !text.trim().is_empty()));
    let text = Content { parts }.into_text();
    if text.is_empty() { Vec::new() } else { vec![MessagePart::text(Speaker::User, text)] }
}

/// Returns the assistant's texts and tool calls, in order.
pub(super) fn assistant_parts(content: Content<'_>) -> Vec<MessagePart<'_>> {
    let part = |part| match part {
        ContentPart::Text(text) if !injected::is_placeholder(&text) => Some(MessagePart::text(Speaker::Assistant, text)),
        ContentPart::Call(call) => Some(MessagePart::call(call)),
        ContentPart::Text(_) | ContentPart::Bare(_) | ContentPart::Result(_) => None,
    };
    content.parts.into_iter().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(json: &str) -> Vec<String> {
        let shown = |part| match part {
            ContentPart::Text(text) => format!("text {text}"),
            ContentPart::Bare(text) => format!("bare {text}"),
            ContentPart::Call(call) => format!("call [{}] {}", call.id, call.text),
            ContentPart::Result(result) => format!("result [{}] {:?}", result.id, result.excerpt.head()),
        };
        serde_json::from_str::<Content<'_>>(json).unwrap().parts.into_iter().map(shown).collect()
    }

    #[test]
    fn blocks_of_every_host() {
        assert_eq!(parts(r#""hello""#), ["text hello"]);
        assert_eq!(
            parts(
                r#"[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"Read","input":{"path":"b"}},
                {"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"output"}]},{"type":"image","source":{"data":"AAAA"}},"bare",7,null]"#
            ),
            ["text a", "call [t] Read path=b", "result [t] \"output\"", "bare bare"]
        );
        assert_eq!(
            parts(
                r#"[{"text":"thinking","thought":true},{"text":"said"},{"functionCall":{"name":"ls","args":{"dir":"."}}},{"inlineData":{"data":"AAAA"}}]"#
            ),
            ["text said", "call [] ls dir=."]
        );
        assert_eq!(parts(r#"{"text":"one part"}"#), ["text one part"]);
        assert_eq!(parts("null"), [""; 0]);
    }
}
