//! The entrypoints at the end of a prompt, each in a frame that names its source. The person's is the first. If a prompt has a maximum
//! length, the entrypoints share what the rest of it leaves, and each reports the lines that were omitted.

use super::{
    PromptEntrypoint, PromptInput, SpacePart,
    texts::{self, fill},
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        frame,
        text::{self, json_units},
    },
    entrypoint::{OverviewLine, overview},
};

/// The room for the note about omitted lines.
const NOTE_UNITS: usize = 160;

/// The entrypoint of one part.
struct EntrypointBlock<'a> {
    part: &'a SpacePart<'a>,
    /// The name by which a tool reads it.
    source: String,
    lines: Vec<OverviewLine>,
}

/// Renders the entrypoints that follow the text `before`. `None` if the prompt shows none.
pub(super) fn render(input: &PromptInput<'_>, before: &str) -> Option<String> {
    if input.entrypoint != PromptEntrypoint::Shown {
        return None;
    }
    let blocks: Vec<EntrypointBlock<'_>> =
        input.parts.iter().filter(|part| part.kept).map(|part| EntrypointBlock::new(input, part)).collect();
    let rooms = rooms(input, before, &blocks);
    let sections = blocks.iter().zip(rooms).map(|(block, room)| block.render(room));
    let sections: Vec<String> = std::iter::once(format!("## {}", input.file)).chain(sections).collect();
    (sections.len() > 1).then(|| sections.join("\n\n"))
}

/// The room of each block: all it needs, or an equal share of what the blocks that need less leave.
fn rooms(input: &PromptInput<'_>, before: &str, blocks: &[EntrypointBlock<'_>]) -> Vec<usize> {
    let mut rooms: Vec<usize> = blocks.iter().map(EntrypointBlock::units).collect();
    let Some(max) = input.max_units else { return rooms };
    let fixed: usize = blocks.iter().map(|block| units(&block.frame("")) + NOTE_UNITS).sum();
    let mut left = max.saturating_sub(units(before) + units(input.file) + fixed);
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.shared_sort_by_key(|n| rooms[*n]);
    for (done, n) in order.into_iter().enumerate() {
        rooms[n] = rooms[n].min(left / (blocks.len() - done));
        left -= rooms[n];
    }
    rooms
}

fn units(text: &str) -> usize {
    text.chars().map(json_units).sum()
}

impl<'a> EntrypointBlock<'a> {
    fn new(input: &PromptInput<'_>, part: &'a SpacePart<'a>) -> Self {
        let source = if part.prefix.is_empty() { input.file.to_owned() } else { format!("{}/{}", part.prefix, input.file) };
        let text = part.entrypoint.map(str::trim).unwrap_or_default();
        let lines = match input.tools {
            Some(_) => overview(text, part.prefix),
            None => OverviewLine::verbatim(text),
        };
        EntrypointBlock { part, source, lines }
    }

    /// The length of its lines.
    fn units(&self) -> usize {
        self.lines.iter().map(line_units).sum()
    }

    /// A text in its frame.
    fn frame(&self, text: &str) -> String {
        let about = if self.part.is_foreign { texts::SHARED.trim_end() } else { "" };
        frame::framed(&self.source, about, text)
    }

    fn render(&self, room: usize) -> String {
        if self.lines.is_empty() {
            return fill(texts::EMPTY, &[("file", &self.source)]);
        }
        let mut left = room;
        let fits = |line: &&OverviewLine| {
            let needed = line_units(line);
            let fits = needed <= left;
            left = left.saturating_sub(needed);
            fits
        };
        let shown: Vec<&str> = self.lines.iter().take_while(fits).map(|line| line.text.as_str()).collect();
        let mut text = if shown.is_empty() { String::new() } else { self.frame(&shown.join("\n")) };
        if let Some(next) = self.lines.get(shown.len()) {
            let lines = text::counted((self.lines.len() - shown.len()) as u64, "line", "lines");
            let separator = if text.is_empty() { "" } else { "\n" };
            let path = &self.source;
            text.push_str(&format!("{separator}[omitted: {lines}; memory_read paths [{path:?}], lines \"{}-\"]", next.number));
        }
        if let Some(warning) = self.part.warning {
            text.push_str("\n\n");
            text.push_str(warning);
        }
        text
    }
}

/// The length of a line with its line feed.
fn line_units(line: &OverviewLine) -> usize {
    units(&line.text) + json_units('\n')
}
