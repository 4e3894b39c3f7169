//! Memories as resources: their URIs, pages of a listing, and their text. Independent of the protocol.

use memdir_core::{Error, LineRange, List, Memdir, MemoryPath, Read, Result};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use std::collections::BTreeSet;

/// The prefix of every URI. The authority is empty, because clients may lower-case it, and names are case-sensitive.
const SCHEME: &str = "memory:///";
/// The URI template of memories.
pub(crate) const TEMPLATE: &str = "memory:///{+name}";
/// The URI template of lines of a memory.
pub(crate) const LINES_TEMPLATE: &str = "memory:///{+name}?lines={lines}";
/// The URI of the memory section of a system prompt. Its scheme differs from that of memories, one of which may be named `prompt`.
pub(crate) const SECTION: &str = "memdir://prompt";
/// Maximum number of resources on one page of a listing.
const PAGE_SIZE: usize = 200;
/// Characters of a resource before it is cut. A person attaches a resource to a conversation, so it may be much longer than what a tool
/// returns.
const RESOURCE_CHARS: usize = 150_000;

/// The characters that are percent-encoded in the path of a URI.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Returns the URI of a memory.
pub(crate) fn to_uri(path: &MemoryPath) -> String {
    format!("{SCHEME}{}", utf8_percent_encode(path.name(), ESCAPED))
}

/// Parses the URI of a memory, optionally with a range of lines.
pub(crate) fn parse(uri: &str) -> Result<(MemoryPath, Option<LineRange>)> {
    let refuse = || Error::bad_input("uri", format!("{uri:?} is not a memory URI such as memory:///notes/deploy"));
    let rest = uri.strip_prefix(SCHEME).or_else(|| uri.strip_prefix("memory://")).ok_or_else(refuse)?;
    let (name, query) = rest.split_once('?').map_or((rest, None), |(name, query)| (name, Some(query)));
    let name = percent_decode_str(name).decode_utf8().map_err(|_| refuse())?;
    let lines = match query.map(|query| query.strip_prefix("lines=").ok_or_else(refuse)).transpose()? {
        Some(lines) => Some(lines.parse()?),
        None => None,
    };
    Ok((MemoryPath::parse(&name)?, lines))
}

/// One resource of a listing.
pub(crate) struct ListedResource {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

/// Returns one page of the listing and the cursor of the next page: entrypoints first, then memories by name. A cursor is the URI
/// of the last resource of a page.
pub(crate) fn page(memdir: &Memdir, cursor: Option<&str>) -> Result<(Vec<ListedResource>, Option<String>)> {
    let mut all: Vec<ListedResource> = Vec::new();
    for mount in memdir.store().mounts() {
        let entrypoint = memdir.entrypoint(&mount.prefix)?;
        if let Some(path) = entrypoint.path {
            all.push(ListedResource { uri: to_uri(&path), name: path.to_string(), bytes: entrypoint.byte_count });
        }
    }
    let entrypoints = all.len();
    let memories = memdir.list(&List::default())?.memories;
    all.extend(memories.into_iter().map(|memory| ListedResource { uri: to_uri(&memory.path), name: memory.name, bytes: memory.bytes }));
    let start = match cursor {
        None => 0,
        // If the memory has been deleted meanwhile, the page starts where its name would be.
        Some(cursor) => match all.iter().position(|listed| listed.uri == cursor) {
            Some(at) => at + 1,
            None => entrypoints + all[entrypoints..].partition_point(|listed| listed.uri.as_str() <= cursor),
        },
    };
    let more = all.len() > start + PAGE_SIZE;
    let page: Vec<ListedResource> = all.into_iter().skip(start).take(PAGE_SIZE).collect();
    let next = if more { page.last().map(|listed| listed.uri.clone()) } else { None };
    Ok((page, next))
}

/// Returns the text of a resource. Text over the limit is cut, and ends with the URI of the remaining lines.
pub(crate) fn read(memdir: &Memdir, uri: &str) -> Result<String> {
    let (path, lines) = parse(uri)?;
    let reading = memdir.read(&Read { path, lines, max_chars: RESOURCE_CHARS })?;
    Ok(match reading.next_line {
        None => reading.content,
        Some(next) => format!("{}\n[more: {}?lines={next}-]\n", reading.content, to_uri(&reading.path)),
    })
}

/// Returns the names of memories and topics that contain `typed`; those that begin with it come first.
pub(crate) fn complete(memdir: &Memdir, typed: &str) -> Result<Vec<String>> {
    let typed = typed.to_lowercase();
    let mut names: BTreeSet<(bool, String)> = BTreeSet::new();
    let mut add = |name: &str| {
        let folded = name.to_lowercase();
        if folded.contains(&typed) {
            names.insert((!folded.starts_with(&typed), name.to_owned()));
        }
    };
    for memory in memdir.list(&List::default())?.memories {
        if let Some((topic, _)) = memory.name.rsplit_once('/') {
            add(topic);
        }
        add(&memory.name);
    }
    Ok(names.into_iter().map(|(_, name)| name).collect())
}
