//! Memories as resources: their addresses, pages of a listing, and their text. Knows no protocol.

use memdir_core::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
        text::LineRange,
    },
    memdir::Memdir,
    operations::{list::List, read::Read},
};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use std::collections::BTreeSet;

/// What every address begins with. The authority is empty, so that nobody folds the case of a name's first part.
const SCHEME: &str = "memory:///";
/// The addresses of whole memories.
pub(crate) const TEMPLATE: &str = "memory:///{+name}";
/// The addresses of some of their lines.
pub(crate) const LINES_TEMPLATE: &str = "memory:///{+name}?lines={lines}";
/// The address of the memory section of a system prompt. Not of the memories' scheme, where a memory may have that name.
pub(crate) const SECTION: &str = "memdir://prompt";
/// Resources on one page of a listing.
const PAGE: usize = 200;

/// What may not stand in the path of an address as it is.
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

/// The address of a memory.
pub(crate) fn uri(path: &MemoryPath) -> String {
    format!("{SCHEME}{}", utf8_percent_encode(path.name(), ESCAPED))
}

/// What an address means.
pub(crate) fn parse(uri: &str) -> Result<(MemoryPath, Option<LineRange>)> {
    let refuse = || Error::bad_input("uri", format!("{uri:?} is not an address like memory:///notes/deploy"));
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
pub(crate) struct Listed {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

/// One page: the entrypoints first, then the memories by name. A cursor is the address of the last one shown.
pub(crate) fn page(memdir: &Memdir, cursor: Option<&str>) -> Result<(Vec<Listed>, Option<String>)> {
    let mut all: Vec<Listed> = Vec::new();
    for mount in memdir.store().mounts() {
        let entrypoint = memdir.entrypoint(&mount.prefix)?;
        if let Some(path) = entrypoint.path {
            all.push(Listed { uri: uri(&path), name: path.to_string(), bytes: entrypoint.byte_count });
        }
    }
    let entrypoints = all.len();
    let memories = memdir.list(&List::default())?.memories;
    all.extend(memories.into_iter().map(|memory| Listed { uri: uri(&memory.path), name: memory.name, bytes: memory.bytes }));
    let start = match cursor {
        None => 0,
        // A memory that went away meanwhile leaves its place in the order.
        Some(cursor) => match all.iter().position(|listed| listed.uri == cursor) {
            Some(at) => at + 1,
            None => entrypoints + all[entrypoints..].partition_point(|listed| listed.uri.as_str() <= cursor),
        },
    };
    let more = all.len() > start + PAGE;
    let page: Vec<Listed> = all.into_iter().skip(start).take(PAGE).collect();
    let next = if more { page.last().map(|listed| listed.uri.clone()) } else { None };
    Ok((page, next))
}

/// The text of a resource, whole up to a limit and then with the address of the rest.
pub(crate) fn read(memdir: &Memdir, uri: &str) -> Result<String> {
    let (path, lines) = parse(uri)?;
    let reading = memdir.read(&Read { path, lines, max_chars: limits::DIALECT_CHARS })?;
    Ok(match reading.next_line {
        None => reading.content,
        Some(next) => format!("{}\n[more: {}?lines={next}-]\n", reading.content, self::uri(&reading.path)),
    })
}

/// Names that begin with, or else hold, what was typed; topics count as names.
pub(crate) fn complete(memdir: &Memdir, typed: &str) -> Result<Vec<String>> {
    let typed = typed.to_lowercase();
    let mut names: BTreeSet<(bool, String)> = BTreeSet::new();
    let mut add = |name: &str| {
        let plain = name.to_lowercase();
        if plain.contains(&typed) {
            names.insert((!plain.starts_with(&typed), name.to_owned()));
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
