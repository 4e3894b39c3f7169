//! The section for a host that loads one mount itself, as its own memory: only what the host does not load, and nothing that the
//! instructions of the host say already.

use super::{PromptInput, SpacePart, ToolNames, entrypoints, parts, texts};
use crate::base::sort::SharedSort as _;
use crate::{
    operations::{
        context::Context,
        read::{self, EntrypointReading},
    },
    store::{Access, MountInfo, Source, Store},
};

/// Builds the section without the mount with the prefix `loaded`: the scopes of the other mounts that the model may write, and their
/// entrypoints. It has at most `max_units` UTF-16 code units of JSON. Empty if there is no other mount.
pub fn section_without_mount(store: &dyn Store, context: &Context, loaded: &str, tools: ToolNames<'_>, max_units: usize) -> String {
    let others = store.mounts().iter().filter(|mount| !mount.apart && mount.source == Source::Memory && mount.prefix != loaded);
    let described: Vec<_> = others.filter(|mount| mount.access == Access::ReadWrite).collect();
    let dirs: Vec<String> = described.iter().map(|mount| mount.root.display().to_string()).collect();
    let readings: Vec<_> = described.iter().map(|mount| read::injected_entrypoint(store, context, &mount.prefix).ok()).collect();
    let read = described.iter().zip(&dirs).zip(&readings);
    let mut named: Vec<SpacePart<'_>> = read.map(|((mount, dir), reading)| part(mount, dir, reading)).collect();
    if named.is_empty() {
        return String::new();
    }
    // The person's is the first.
    named.shared_sort_by_key(|part| part.prefix != parts::USER);
    let input = PromptInput { tools: Some(tools), max_units: Some(max_units), ..PromptInput::new(&named) };
    let scopes = parts::scopes(&input);
    let values = [("write", tools.write), ("search", tools.search), ("scopes", scopes.as_str())];
    let before = format!("# More memory\n\n{}", texts::fill(texts::BESIDE, &values));
    let entrypoints = entrypoints::render(&input, &before).map_or_else(String::new, |text| format!("\n\n{text}"));
    format!("{before}{entrypoints}\n")
}

fn part<'a>(mount: &'a MountInfo, dir: &'a str, reading: &'a Option<EntrypointReading>) -> SpacePart<'a> {
    let entrypoint = reading.as_ref().map(|reading| reading.content.trim()).filter(|text| !text.is_empty());
    let warning = reading.as_ref().and_then(|reading| reading.warning.as_deref());
    SpacePart { warning, is_foreign: mount.is_foreign, kept: entrypoint.is_some(), ..SpacePart::new(&mount.prefix, dir, entrypoint) }
}
