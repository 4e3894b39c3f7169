//! What memdir says when a host calls it: the host's JSON in, exactly the keys that host accepts out, nothing where there
//! is nothing to say. Pure: the memory is behind a trait. Never fails, for a memory must not stop the work.

mod input;
mod live;
mod output;
mod session;
mod take_in;

pub(crate) use input::{Action, Input};
pub(crate) use live::Live;
use output::OUTPUT_CHARS;

use crate::hosts::Event;
use memdir_core::base::text;

/// The conversation that the doctor pretends to have: nothing of it is written down.
pub(crate) const DOCTOR: &str = "memdir-doctor";

/// What a hook asks of the memory.
///
/// The contract: answers are text for the model, in whole lines; nothing means there is nothing to say, which is also the
/// answer to anything that goes wrong.
pub(crate) trait Memory {
    /// The memory section and the entrypoint, for the beginning of a conversation.
    fn start(&self) -> Option<String>;
    /// What bears on a message.
    fn recall(&self, input: &Input, prompt: &str) -> Option<String>;
    /// What a person wanted to be said before such an action.
    fn warn(&self, input: &Input, action: &Action) -> Option<String>;
    /// Takes in what was said in this conversation so far.
    fn take_in(&self, input: &Input);
    /// Notes in the log of the day that the host is about to shorten this conversation, if there is a log.
    fn compacts(&self, input: &Input);
    /// A reminder to save what was learned, if one is wanted here; each conversation gets at most one.
    fn remind(&self, input: &Input) -> Option<String>;
}

/// What goes to the host's standard output: JSON, or nothing.
pub(crate) fn hook(host: &str, event: Event, input: &str, memory: &dyn Memory) -> String {
    let input = Input::parse(input);
    let said = match event {
        Event::SessionStart => memory.start(),
        Event::Prompt => {
            input.prompt.as_deref().filter(|prompt| !prompt.trim().is_empty()).and_then(|prompt| memory.recall(&input, prompt))
        }
        Event::BeforeTool => input.action.as_ref().and_then(|action| memory.warn(&input, action)),
        Event::Stop => {
            memory.take_in(&input);
            // One that goes on because a hook asked for it has been reminded.
            if input.goes_on { None } else { memory.remind(&input) }
        }
        Event::SessionEnd => {
            memory.take_in(&input);
            None
        }
        Event::BeforeCompaction => {
            memory.take_in(&input);
            memory.compacts(&input);
            None
        }
    };
    let said = said.filter(|said| !said.trim().is_empty());
    said.and_then(|said| within(&said, |said| output::shape(host, event, &input, said).map(|value| format!("{value}\n"))))
        .unwrap_or_default()
}

/// What `shape` makes of the text, or of as much of it as hosts let through.
fn within(said: &str, shape: impl Fn(&str) -> Option<String>) -> Option<String> {
    let whole = shape(said)?;
    if units(&whole) <= OUTPUT_CHARS {
        return Some(whole);
    }
    let around = units(&shape("")?);
    shape(&fit(said, OUTPUT_CHARS - around))
}

/// Characters as the most wary host counts them, which is in halves of what stands outside of Unicode's first plane.
fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// How many of them a character takes in JSON.
fn written(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        c => c.len_utf16(),
    }
}

/// The text within so much room in JSON, cut after a line where one ends soon enough, with what is left out said at its end.
fn fit(said: &str, room: usize) -> String {
    let note = 200;
    let mut left = room.saturating_sub(note);
    let over = said.char_indices().find(|(_, c)| {
        let takes = written(*c);
        let fits = takes <= left;
        left = left.saturating_sub(takes);
        !fits
    });
    let room = over.map_or(said.len(), |(at, _)| at);
    let end = said[..room].rfind('\n').map(|at| at + 1).filter(|end| *end > room / 2).unwrap_or(room);
    let left = said[end..].lines().count();
    let lines = if left == 1 { "1 line".to_owned() } else { format!("{left} lines") };
    format!(
        "{}\n[left out for want of room: {lines}, {}; `memdir read` shows all of it]\n",
        said[..end].trim_end(),
        text::human_bytes((said.len() - end) as u64)
    )
}

#[cfg(test)]
mod tests;
