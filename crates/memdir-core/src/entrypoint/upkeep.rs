//! Keeping entrypoints in step with the files: what a change of memories means for the lines that point to them.
//! Reads through a view and returns edits; writes nothing itself.

use crate::{
    base::{
        error::{Error, Result},
        path::{self, MemoryPath},
        text,
    },
    entrypoint::{self, Book, EntrypointPlan, LineChange, Page},
    memory::{Memory, links},
    operations::memory_tests,
    secrets,
    store::{Entrypoint, FileEdit, MountInfo, Role, Stamp, Stored, View},
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

/// Overflow pages as they were last read. At ten thousand memories there are fifty; most saves touch none.
#[derive(Debug, Default)]
pub(crate) struct Books {
    pages: Mutex<HashMap<MemoryPath, (Stamp, Arc<Page>)>>,
}

/// What a change means for the entrypoints.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) edits: Vec<FileEdit>,
    pub(crate) notes: Vec<String>,
}

/// The edits that give a memory with these bytes its line.
pub(crate) fn line_for(view: &dyn View, books: &Books, path: &MemoryPath, bytes: &[u8]) -> Result<Kept> {
    apply(view, books, vec![(path.clone(), Wish::Line(bytes.to_vec()))])
}

/// The edits that take a memory's line away.
pub(crate) fn no_line_for(view: &dyn View, books: &Books, path: &MemoryPath) -> Result<Kept> {
    apply(view, books, vec![(path.clone(), Wish::None)])
}

/// The edits that follow from what several memories become.
pub(crate) fn lines_for(view: &dyn View, books: &Books, edits: &[FileEdit]) -> Result<Kept> {
    let wish = |edit: &FileEdit| edit.bytes.clone().map_or(Wish::None, Wish::Line);
    apply(view, books, edits.iter().filter(|edit| edit.role == Role::Memory).map(|edit| (edit.path.clone(), wish(edit))).collect())
}

/// The edits that move a memory's line to its new name, and renew those of the memories that followed it.
pub(crate) fn renamed(
    view: &dyn View,
    books: &Books,
    from: &MemoryPath,
    to: &MemoryPath,
    bytes: &[u8],
    followed: &[(MemoryPath, Vec<u8>)],
) -> Result<Kept> {
    let same_mount = mount_of(view, from).map(|mount| &mount.prefix) == mount_of(view, to).map(|mount| &mount.prefix);
    let mut wishes = if same_mount && has_lines(view, from) && has_lines(view, to) {
        vec![(from.clone(), Wish::Renamed(to.clone(), bytes.to_vec()))]
    } else {
        vec![(from.clone(), Wish::None), (to.clone(), Wish::Line(bytes.to_vec()))]
    };
    wishes.extend(
        followed
            .iter()
            .filter(|(path, _)| has_line(view, books, path) == Some(true))
            .map(|(path, bytes)| (path.clone(), Wish::Line(bytes.clone()))),
    );
    apply(view, books, wishes)
}

/// Whether a memory's line would say something else after a change of its text.
pub(crate) fn says_otherwise(view: &dyn View, path: &MemoryPath, old: &[u8], new: &[u8]) -> bool {
    has_lines(view, path) && line_words(path.name(), old) != line_words(path.name(), new)
}

/// What is wanted for one memory.
enum Wish {
    /// A line that says what these bytes say.
    Line(Vec<u8>),
    /// No line.
    None,
    /// Its line under another name.
    Renamed(MemoryPath, Vec<u8>),
}

fn apply(view: &dyn View, books: &Books, wishes: Vec<(MemoryPath, Wish)>) -> Result<Kept> {
    let mut by_mount: BTreeMap<String, Vec<LineChange>> = BTreeMap::new();
    for (path, wish) in wishes {
        let (Some(mount), true) = (mount_of(view, &path), has_lines(view, &path)) else { continue };
        by_mount.entry(mount.prefix.clone()).or_default().push(line_change(&mount.prefix, &path, wish));
    }
    let mut kept = Kept::default();
    for (prefix, changes) in by_mount {
        let Some(book) = open_book(view, books, &prefix)? else {
            kept.notes.push(format!("the entrypoint of {prefix:?} is not UTF-8, so its lines were left as they are"));
            continue;
        };
        let plan = match changes.as_slice() {
            [one] => entrypoint::plan(&book, std::slice::from_ref(one), &|rel| modified(view, &prefix, rel)),
            many => entrypoint::plan_many(&book, many, &|rel| modified(view, &prefix, rel)),
        };
        take(plan, &book, &prefix, &mut kept)?;
    }
    Ok(kept)
}

fn line_change(prefix: &str, path: &MemoryPath, wish: Wish) -> LineChange {
    let rel = |path: &MemoryPath| path.strip_prefix(prefix).unwrap_or_else(|| path.clone());
    match wish {
        Wish::None => LineChange::Remove { path: rel(path).to_string() },
        Wish::Line(bytes) => {
            let (title, hook) = line_words(rel(path).name(), &bytes);
            LineChange::Set { path: rel(path).to_string(), title, hook }
        }
        Wish::Renamed(to, bytes) => {
            let (title, hook) = line_words(rel(&to).name(), &bytes);
            LineChange::Rename { from: rel(path).to_string(), to: rel(&to).to_string(), title, hook }
        }
    }
}

/// What a memory's line calls it and says about it.
fn line_words(name: &str, bytes: &[u8]) -> (String, String) {
    let (decoded, _) = text::decode(bytes);
    let (memory, _) = Memory::parse(&decoded);
    // A line is loaded into every conversation: a secret that was let into a memory does not follow into it. The body is
    // masked before its first line is taken, since a cut secret is no longer known as one.
    let hook = match memory.description() {
        Some(_) => secrets::redact(&memory.hook()).into_owned(),
        None => Memory::parse(&secrets::redact(&decoded)).0.hook(),
    };
    (secrets::redact(memory.title(name)).into_owned(), hook)
}

/// Turns a plan into edits.
pub(crate) fn take(plan: EntrypointPlan, book: &Book, prefix: &str, kept: &mut Kept) -> Result<()> {
    let at = |name: &str| Ok::<_, Error>(MemoryPath::parse(name)?.prefixed(prefix));
    if let Some(main) = plan.main {
        kept.edits.push(FileEdit { path: at(book.name())?, bytes: Some(main.into_bytes()), role: Role::Entrypoint });
    }
    for (name, text) in plan.pages {
        kept.edits.push(FileEdit { path: at(&name)?, bytes: text.map(String::into_bytes), role: Role::Entrypoint });
    }
    kept.notes.extend(plan.notes);
    Ok(())
}

/// The entrypoint of a mount with its pages; nothing if it is not UTF-8.
pub(crate) fn open_book(view: &dyn View, books: &Books, prefix: &str) -> Result<Option<Book>> {
    let main = entrypoint_file(view, prefix)?;
    let name = main.as_ref().map_or(entrypoint::MAIN, |stored| stored.path.file_name()).to_owned();
    let text = match &main {
        None => None,
        Some(stored) => match std::str::from_utf8(&stored.bytes) {
            Ok(text) => Some(text),
            Err(_) => return Ok(None),
        },
    };
    let names = linked_pages(text.unwrap_or_default());
    let pages = books.pages(view, prefix, &names)?;
    Ok(Some(Book::new(&name, text, names.iter().map(String::as_str).zip(pages).filter_map(|(name, page)| page.map(|page| (name, page))))))
}

/// The pages an entrypoint links, by file name, each once.
fn linked_pages(text: &str) -> Vec<String> {
    let mut names: Vec<String> =
        text.split(['(', ')', '<', '>']).filter(|part| entrypoint::is_page_name(part)).map(ToOwned::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

impl Books {
    fn pages(&self, view: &dyn View, prefix: &str, names: &[String]) -> Result<Vec<Option<Arc<Page>>>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let paths: Vec<MemoryPath> = names.iter().map(|name| Ok(MemoryPath::parse(name)?.prefixed(prefix))).collect::<Result<_>>()?;
        let stamps = view.stamps(&paths)?;
        let mut known = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pages = Vec::with_capacity(paths.len());
        for (path, stamp) in paths.into_iter().zip(stamps) {
            let same = known.get(&path).filter(|(seen, _)| Some(*seen) == stamp).map(|(_, page)| page.clone());
            let page = match same {
                Some(page) => Some(page),
                None => view.get(&path)?.filter(|stored| stored.path == path).map(|stored| {
                    let page = Arc::new(Page::parse(&String::from_utf8_lossy(&stored.bytes)));
                    known.insert(path, (stored.stamp, page.clone()));
                    page
                }),
            };
            pages.push(page);
        }
        Ok(pages)
    }
}

/// The entrypoint's file of a mount: `MEMORY.md`, else `index.md`, if either is there.
pub(crate) fn entrypoint_file(view: &dyn View, prefix: &str) -> Result<Option<Stored>> {
    for name in [entrypoint::MAIN, entrypoint::FALLBACK] {
        let path = MemoryPath::parse(name)?.prefixed(prefix);
        if let Some(stored) = view.get(&path)?.filter(|stored| stored.path == path) {
            return Ok(Some(stored));
        }
    }
    Ok(None)
}

/// Where a mount's entrypoint is made.
pub(crate) fn main_path(prefix: &str) -> Result<MemoryPath> {
    Ok(MemoryPath::parse(entrypoint::MAIN)?.prefixed(prefix))
}

/// The mount a name belongs to.
pub(crate) fn mount_of<'a>(view: &'a dyn View, path: &MemoryPath) -> Option<&'a MountInfo> {
    let holds = |mount: &&MountInfo| mount.prefix.is_empty() || path.strip_prefix(&mount.prefix).is_some();
    view.mounts().iter().filter(holds).max_by_key(|mount| mount.prefix.len())
}

/// What a name means here, where that is not what it says.
pub(crate) fn meant(view: &dyn View, path: &MemoryPath) -> Option<MemoryPath> {
    path::meant(path, |prefix| view.mounts().iter().any(|mount| mount.prefix == prefix))
}

/// What is said where only a part of the mounts of these names is open, so that what lies outside could not follow.
pub(crate) fn part_note<'a>(view: &dyn View, mut paths: impl Iterator<Item = &'a MemoryPath>) -> Option<String> {
    let is_part = paths.any(|path| mount_of(view, path).is_some_and(|mount| !mount.part.is_empty()));
    is_part.then(|| "only a part of this memory is open: its entrypoint and references outside that part were left as they are; memdir check, without --only, tells which".into())
}

/// Whether a file is an entrypoint or one of its pages, and so not a memory.
pub(crate) fn is_kept(view: &dyn View, path: &MemoryPath) -> bool {
    let Some((mount, rel)) = in_kept_mount(view, path) else { return false };
    if rel.as_str() == entrypoint::FALLBACK {
        // An `index.md` beside a `MEMORY.md` is a memory like any other.
        return entrypoint_file(view, &mount.prefix).is_ok_and(|stored| stored.is_some_and(|stored| stored.path == *path));
    }
    rel.as_str() == entrypoint::MAIN || entrypoint::is_page_name(rel.as_str())
}

/// Whether a file that is not there would be the entrypoint, for want of another.
pub(crate) fn would_be_entrypoint(view: &dyn View, path: &MemoryPath) -> bool {
    let Some((mount, rel)) = in_kept_mount(view, path) else { return false };
    rel.as_str() == entrypoint::FALLBACK && entrypoint_file(view, &mount.prefix).is_ok_and(|stored| stored.is_none())
}

/// Whether a memory is one that has a line: in a mount that keeps an entrypoint, and neither a log nor a file of tests.
fn has_lines(view: &dyn View, path: &MemoryPath) -> bool {
    in_kept_mount(view, path).is_some_and(|(_, rel)| !rel.is_under("logs") && rel.as_str() != memory_tests::FILE) && !is_kept(view, path)
}

fn in_kept_mount<'a>(view: &'a dyn View, path: &MemoryPath) -> Option<(&'a MountInfo, MemoryPath)> {
    let mount = mount_of(view, path).filter(|mount| mount.entrypoint == Entrypoint::Kept)?;
    let rel = if mount.prefix.is_empty() { path.clone() } else { path.strip_prefix(&mount.prefix)? };
    Some((mount, rel))
}

/// Whether a file is an overflow page of an entrypoint.
pub(crate) fn is_page(view: &dyn View, path: &MemoryPath) -> bool {
    entrypoint::is_page_name(path.file_name()) && in_kept_mount(view, path).is_some_and(|(_, rel)| entrypoint::is_page_name(rel.as_str()))
}

/// Overflow pages are written by memdir alone.
pub(crate) fn refuse_pages(view: &dyn View, path: &MemoryPath) -> Result<()> {
    match in_kept_mount(view, path) {
        Some((_, rel)) if entrypoint::is_page_name(rel.as_str()) => {
            Err(Error::bad_path(path.as_str(), "it is an overflow page of the entrypoint, which memdir keeps itself; choose another name"))
        }
        _ => Ok(()),
    }
}

/// Entrypoints and pages keep their names.
pub(crate) fn refuse_kept(view: &dyn View, path: &MemoryPath) -> Result<()> {
    if is_kept(view, path) {
        return Err(Error::bad_path(path.as_str(), "it is the entrypoint or one of its pages, which keep their names; choose another"));
    }
    Ok(())
}

/// Whether a memory has its line; nothing if it is not one that should.
pub(crate) fn has_line(view: &dyn View, books: &Books, path: &MemoryPath) -> Option<bool> {
    if !has_lines(view, path) {
        return None;
    }
    let (mount, rel) = in_kept_mount(view, path)?;
    if links_to(view, &mount.prefix, rel.as_str()) == Some(true) {
        return Some(true);
    }
    let book = open_book(view, books, &mount.prefix).ok()??;
    Some(book.line_of(rel.as_str()).is_some())
}

/// Whether a line as memdir writes it stands in the entrypoint or a page: cheaper than reading them as what they are.
fn links_to(view: &dyn View, prefix: &str, rel: &str) -> Option<bool> {
    let link = format!("]({})", links::link_destination(rel));
    let main = entrypoint_file(view, prefix).ok()??;
    let main = String::from_utf8_lossy(&main.bytes);
    let in_page = |name: &String| {
        let page = MemoryPath::parse(name).and_then(|path| view.get(&path.prefixed(prefix)));
        page.is_ok_and(|page| page.is_some_and(|page| String::from_utf8_lossy(&page.bytes).contains(&link)))
    };
    Some(main.contains(&link) || linked_pages(&main).iter().any(in_page))
}

/// Memories of a mount that have no line and should have one, as paths in the space.
pub(crate) fn unlisted(view: &dyn View, books: &Books, prefix: &str) -> Result<Vec<MemoryPath>> {
    let Some(book) = open_book(view, books, prefix)? else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    for entry in view.list(prefix)?.entries {
        let Some((mount, rel)) = in_kept_mount(view, &entry.path) else { continue };
        if mount.prefix == prefix && has_lines(view, &entry.path) && book.line_of(rel.as_str()).is_none() {
            out.push(entry.path);
        }
    }
    Ok(out)
}

fn modified(view: &dyn View, prefix: &str, rel: &str) -> i64 {
    let stamp = MemoryPath::parse(rel).and_then(|path| view.stamps(&[path.prefixed(prefix)]));
    // A line whose memory is gone is the first to move.
    stamp.ok().and_then(|stamps| stamps.into_iter().next().flatten()).map_or(i64::MIN, |stamp| stamp.mtime_ns)
}
