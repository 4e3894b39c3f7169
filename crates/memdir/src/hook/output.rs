//! The output of a hook: text in the format of its host, within the length that hosts accept. Pure.

use super::input::HookInput;
use crate::hosts::{HookEvent, HookReply, Host, ToolDecision};
use memdir_core::internal::base::{
    frame,
    text::{self, json_units},
};

/// The maximum length of an output, in UTF-16 code units: hosts truncate longer ones, or move them to a file, at 10,000.
pub(super) const MAX_UNITS: usize = 9_900;

/// The room for the note at the end of a truncated text.
const NOTE_UNITS: usize = 200;

/// What a hook has for its host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HookText {
    /// The decision about the tool that is about to run.
    pub(crate) decision: Option<ToolDecision>,
    /// The text for the model, or the reason of the decision.
    pub(crate) text: String,
}

impl From<String> for HookText {
    fn from(text: String) -> HookText {
        HookText { decision: None, text }
    }
}
/// The maximum length of the text of a session's start: what the longest format of a host leaves.
pub(crate) const SESSION_UNITS: usize = MAX_UNITS - NOTE_UNITS;

/// Renders a text as the standard output of a hook: one line of JSON, or nothing if the text is blank or the host does not read output
/// at this event. A host that cannot ask denies.
pub(crate) fn render(host: &Host, event: HookEvent, input: &HookInput, output: &HookText) -> String {
    let decision = output.decision.map(|decision| if host.can_ask { decision } else { ToolDecision::Deny });
    let format = |text: &str| {
        let reply = HookReply { event, input_event: input.event.as_deref(), decision, text };
        (host.hook_output)(&reply).map(|value| format!("{value}\n"))
    };
    if output.text.trim().is_empty() { String::new() } else { fit(&output.text, format).unwrap_or_default() }
}

/// Formats the text, truncated if the output would be too long.
fn fit(text: &str, format: impl Fn(&str) -> Option<String>) -> Option<String> {
    let whole = format(text)?;
    if utf16_len(&whole) <= MAX_UNITS {
        return Some(whole);
    }
    let overhead = utf16_len(&format("")?);
    format(&truncate(text, MAX_UNITS - overhead))
}

/// Length in UTF-16 code units, which is how the strictest host counts.
pub(super) fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Truncates a text to `room` code units of JSON, at the end of a line if one is near, and appends what was omitted.
fn truncate(text: &str, room: usize) -> String {
    let mut left = room.saturating_sub(NOTE_UNITS);
    let over = text.char_indices().find(|(_, c)| {
        let len = json_units(*c);
        let fits = len <= left;
        left = left.saturating_sub(len);
        !fits
    });
    let limit = over.map_or(text.len(), |(at, _)| at);
    let end = text[..limit].rfind('\n').map(|at| at + 1).filter(|end| *end > limit / 2).unwrap_or(limit);
    let lines = text::counted(text[end..].lines().count() as u64, "line", "lines");
    let bytes = text::human_bytes((text.len() - end) as u64);
    let kept = text[..end].trim_end();
    // Otherwise what the host adds next would be a part of the data.
    let ends = frame::missing_ends(kept);
    format!("{kept}\n{ends}[omitted: {lines}, {bytes}, over the host's limit; search the memory for the rest]\n")
}
