//! Keeps entrypoints in step with the memories: computes how a change of memories changes the lines that point to them.
//! Reads through a view and returns edits; writes nothing itself.

use super::{
    EntrypointFiles, EntrypointPlan, LineChange, Page, line,
    line_age::LineAges,
    marks,
    outdated::{self, ComparedLines},
    plan, plan_many,
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
    },
    memory::links,
    store::{
        FileEdit, Role, Stamp, View,
        mounts::{self, FileKind},
    },
};
use jiff::Timestamp;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

/// A cache of parsed overflow pages, checked by their stamps. At ten thousand memories there are fifty pages; most saves change none.
#[derive(Debug, Default)]
pub(crate) struct EntrypointCache {
    pages: Mutex<HashMap<MemoryPath, (Stamp, Arc<Page>)>>,
}

/// The edits of entrypoints and pages that follow from a change of memories, and what the writer should know about them.
#[derive(Debug, Default)]
pub(crate) struct EntrypointEdits {
    pub(crate) edits: Vec<FileEdit>,
    pub(crate) notes: Vec<String>,
}

/// Returns the edits that save a memory with these bytes, and add or update its line.
pub(crate) fn save_with_line(view: &dyn View, books: &EntrypointCache, path: &MemoryPath, bytes: &[u8]) -> Result<EntrypointEdits> {
    let lines = apply(view, books, vec![(path.clone(), LineUpdate::Set(bytes.to_vec()))])?;
    let mut edits = vec![FileEdit::save(path.clone(), bytes.to_vec())];
    edits.extend(lines.edits);
    Ok(EntrypointEdits { edits, notes: lines.notes })
}

/// Returns the edits of lines that follow from the edits of several memories.
pub(crate) fn set_lines(view: &dyn View, books: &EntrypointCache, edits: &[FileEdit]) -> Result<EntrypointEdits> {
    apply(view, books, memory_updates(edits))
}

/// Like [`set_lines`], but changes only memdir's own lines: a line that a person wrote stays, even if its memory is moved away. The
/// lines of `listed` memories move to the entrypoint, those of `paged` ones to a page.
pub(crate) fn set_lines_beside_prose(
    view: &dyn View,
    books: &EntrypointCache,
    edits: &[FileEdit],
    listed: &[FileEdit],
    paged: &[MemoryPath],
) -> Result<EntrypointEdits> {
    let update = |(path, update)| (path, if matches!(update, LineUpdate::Remove) { LineUpdate::Drop } else { update });
    let mut updates: Vec<(MemoryPath, LineUpdate)> = memory_updates(edits).into_iter().map(update).collect();
    updates.extend(paged.iter().map(|path| (path.clone(), LineUpdate::ToPage)));
    updates.extend(listed.iter().filter_map(|edit| Some((edit.path.clone(), LineUpdate::ToFront(edit.bytes.clone()?)))));
    apply(view, books, updates)
}

/// Like [`set_lines`], for memories whose dates are known from elsewhere.
pub(crate) fn set_lines_dated(
    view: &dyn View,
    books: &EntrypointCache,
    edits: &[FileEdit],
    dates: &HashMap<MemoryPath, Timestamp>,
) -> Result<EntrypointEdits> {
    apply_aged(view, books, memory_updates(edits), LineAges::dated(dates))
}

fn memory_updates(edits: &[FileEdit]) -> Vec<(MemoryPath, LineUpdate)> {
    let update = |edit: &FileEdit| edit.bytes.clone().map_or(LineUpdate::Remove, LineUpdate::Set);
    edits.iter().filter(|edit| edit.role == Role::Memory).map(|edit| (edit.path.clone(), update(edit))).collect()
}

/// A memory that gets another name.
#[derive(Debug)]
pub(crate) struct RenamedFile {
    /// Its old path.
    pub(crate) from: MemoryPath,
    /// Its new path.
    pub(crate) to: MemoryPath,
    /// Its new text.
    pub(crate) bytes: Vec<u8>,
}

/// Returns the edits that move the lines of memories to their new names, and update the lines of the memories whose references follow
/// them.
pub(crate) fn rename_lines(
    view: &dyn View,
    books: &EntrypointCache,
    renamed: &[RenamedFile],
    followed: &[(MemoryPath, Vec<u8>)],
) -> Result<EntrypointEdits> {
    let prefix = |path| mounts::mount_of(view, path).map(|mount| &mount.prefix);
    let mut updates = Vec::new();
    for RenamedFile { from, to, bytes } in renamed {
        let is_same_mount = prefix(from) == prefix(to);
        if is_same_mount && mounts::has_entrypoint_line(view, from) && mounts::has_entrypoint_line(view, to) {
            updates.push((from.clone(), LineUpdate::Rename(to.clone(), bytes.clone())));
        } else {
            updates.push((from.clone(), LineUpdate::Remove));
            updates.push((to.clone(), LineUpdate::Set(bytes.clone())));
        }
    }
    updates.extend(
        followed
            .iter()
            .filter(|(path, _)| has_line(view, books, path) == Some(true))
            .map(|(path, bytes)| (path.clone(), LineUpdate::Set(bytes.clone()))),
    );
    apply(view, books, updates)
}

/// Whether a change of a memory's text changes its line.
pub(crate) fn changes_line(view: &dyn View, path: &MemoryPath, old: &[u8], new: &[u8]) -> bool {
    let changes = || line::title_and_hook(path.name(), old) != line::title_and_hook(path.name(), new) || marks::changes_replaced(old, new);
    mounts::has_entrypoint_line(view, path) && changes()
}

/// How the line of one memory changes.
enum LineUpdate {
    /// The line describes a memory with these bytes.
    Set(Vec<u8>),
    /// The line is removed.
    Remove,
    /// The line is removed if memdir wrote it.
    Drop,
    /// The line moves from the entrypoint to a page.
    ToPage,
    /// The line describes a memory with these bytes, and is in the entrypoint itself.
    ToFront(Vec<u8>),
    /// The line describes a memory with another name and these bytes.
    Rename(MemoryPath, Vec<u8>),
}

fn apply(view: &dyn View, books: &EntrypointCache, updates: Vec<(MemoryPath, LineUpdate)>) -> Result<EntrypointEdits> {
    apply_aged(view, books, updates, LineAges::default())
}

fn apply_aged(
    view: &dyn View,
    books: &EntrypointCache,
    updates: Vec<(MemoryPath, LineUpdate)>,
    mut ages: LineAges,
) -> Result<EntrypointEdits> {
    let mut by_mount: BTreeMap<String, Vec<LineChange>> = BTreeMap::new();
    let mut replacing: Vec<(String, MemoryPath, Vec<u8>)> = Vec::new();
    for (path, update) in updates {
        let (Some(mount), true) = (mounts::mount_of(view, &path), mounts::has_entrypoint_line(view, &path)) else { continue };
        match &update {
            LineUpdate::Set(bytes) | LineUpdate::ToFront(bytes) => ages.note_written(&path, bytes),
            LineUpdate::Rename(to, bytes) => ages.note_written(to, bytes),
            LineUpdate::Remove | LineUpdate::Drop | LineUpdate::ToPage => {}
        }
        if let LineUpdate::Set(bytes) | LineUpdate::ToFront(bytes) = &update
            && marks::changes_replaced(&[], bytes)
        {
            replacing.push((mount.prefix.clone(), path.clone(), bytes.clone()));
        }
        by_mount.entry(mount.prefix.clone()).or_default().push(line_change(&mount.prefix, &path, update));
    }
    let mut out = EntrypointEdits::default();
    for (prefix, mut changes) in by_mount {
        let Some(entrypoint) = open_entrypoint(view, books, &prefix)? else {
            let name = mounts::entrypoint_path(&prefix)?;
            out.notes.push(format!("{name} is not valid UTF-8, so it was not updated; convert it to UTF-8, then add the missing lines"));
            continue;
        };
        for change in &mut changes {
            if let LineChange::Set { path, hook, .. } | LineChange::ToFront { path, hook, .. } = change
                && let Some(marked) = marks::kept_mark(view, &entrypoint, &prefix, path, hook)
            {
                *hook = marked;
            }
        }
        for (_, path, bytes) in replacing.iter().filter(|(of, ..)| *of == prefix) {
            changes = marks::with_replaced(changes, view, &entrypoint, &prefix, path, bytes);
        }
        let age = |rel: &str| ages.date(view, &prefix, rel);
        let mut planned = match changes.as_slice() {
            [one] => plan(&entrypoint, std::slice::from_ref(one), &age),
            many => plan_many(&entrypoint, many, &age),
        };
        if planned.main.is_some() {
            // The entrypoint is written anyway: lines of files that other programs removed or renamed change with it.
            let outdated = outdated::outdated(view, &prefix, &entrypoint, ComparedLines::Entrypoint, &outdated::touched(&changes))?;
            if !outdated.is_empty() {
                let notes = outdated_note(entrypoint.name(), &outdated);
                planned = plan_many(&entrypoint, &[outdated, changes].concat(), &age);
                planned.notes.extend(notes);
            }
        }
        out.add(planned, &entrypoint, &prefix)?;
    }
    Ok(out)
}

/// The lines that a repair changed, by paths from the mount's root.
#[derive(Debug, Default)]
pub(crate) struct RepairedLines {
    /// Lines of files that no longer exist.
    pub(crate) removed: Vec<String>,
}

/// Returns the edits that bring an entrypoint and its pages in step with the files: lines of removed files are removed, those of
/// renamed ones follow them, and `missing` memories get a line.
pub(crate) fn repair_lines(
    view: &dyn View,
    books: &EntrypointCache,
    prefix: &str,
    missing: Vec<(MemoryPath, Vec<u8>)>,
) -> Result<(EntrypointEdits, RepairedLines)> {
    let (mut out, mut repaired) = (EntrypointEdits::default(), RepairedLines::default());
    let Some(entrypoint) = open_entrypoint(view, books, prefix)? else { return Ok((out, repaired)) };
    let mut changes = outdated_lines(view, prefix, &entrypoint)?;
    for change in &changes {
        if let LineChange::Gone { path } | LineChange::Moved { from: path, .. } | LineChange::Rename { from: path, .. } = change {
            repaired.removed.push(path.clone());
        }
    }
    let mut ages = LineAges::default();
    for (path, bytes) in missing {
        let has_line = changes.iter().any(|change| match change {
            LineChange::Moved { to, .. } | LineChange::Rename { to, .. } => path.strip_prefix(prefix).is_some_and(|rel| rel.as_str() == to),
            _ => false,
        });
        if !has_line && mounts::has_entrypoint_line(view, &path) {
            ages.note_existing(&path, &bytes);
            changes.push(line_change(prefix, &path, LineUpdate::Set(bytes)));
        }
    }
    if !changes.is_empty() {
        out.add(plan_many(&entrypoint, &changes, &|rel| ages.date(view, prefix, rel)), &entrypoint, prefix)?;
    }
    Ok((out, repaired))
}

/// Returns how the lines of an entrypoint and its pages change whose files other programs removed or renamed.
pub(crate) fn outdated_lines(view: &dyn View, prefix: &str, entrypoint: &EntrypointFiles) -> Result<Vec<LineChange>> {
    outdated::outdated(view, prefix, entrypoint, ComparedLines::All, &HashSet::new())
}

/// Returns a note about lines that were removed because their files no longer exist.
fn outdated_note(name: &str, outdated: &[LineChange]) -> Option<String> {
    let gone: Vec<&str> =
        outdated.iter().filter_map(|change| if let LineChange::Gone { path } = change { Some(path.as_str()) } else { None }).collect();
    let shown = gone.iter().take(3).copied().collect::<Vec<_>>().join(", ");
    match gone.len() {
        0 => None,
        1 => Some(format!("{name}: removed the line for {shown}, which no longer exists")),
        count @ ..=3 => Some(format!("{name}: removed the lines for {count} files that no longer exist: {shown}")),
        count => Some(format!("{name}: removed the lines for {count} files that no longer exist: {shown}, …")),
    }
}

fn line_change(prefix: &str, path: &MemoryPath, update: LineUpdate) -> LineChange {
    let rel = |path: &MemoryPath| path.strip_prefix(prefix).unwrap_or_else(|| path.clone());
    match update {
        LineUpdate::Remove => LineChange::Remove { path: rel(path).to_string() },
        LineUpdate::Drop => LineChange::Gone { path: rel(path).to_string() },
        LineUpdate::ToPage => LineChange::ToPage { path: rel(path).to_string() },
        LineUpdate::ToFront(bytes) => {
            let (title, hook) = line::title_and_hook(rel(path).name(), &bytes);
            LineChange::ToFront { path: rel(path).to_string(), title, hook }
        }
        LineUpdate::Set(bytes) => {
            let (title, hook) = line::title_and_hook(rel(path).name(), &bytes);
            LineChange::Set { path: rel(path).to_string(), title, hook }
        }
        LineUpdate::Rename(to, bytes) => {
            let (title, hook) = line::title_and_hook(rel(&to).name(), &bytes);
            LineChange::Rename { from: rel(path).to_string(), to: rel(&to).to_string(), title, hook }
        }
    }
}

impl EntrypointEdits {
    /// Adds the edits of a plan.
    fn add(&mut self, plan: EntrypointPlan, entrypoint: &EntrypointFiles, prefix: &str) -> Result<()> {
        let at = |name: &str| Ok::<_, Error>(MemoryPath::parse(name)?.prefixed(prefix));
        if let Some(main) = plan.main {
            self.edits.push(FileEdit { path: at(entrypoint.name())?, bytes: Some(main.into_bytes()), role: Role::Entrypoint });
        }
        for (name, text) in plan.pages {
            self.edits.push(FileEdit { path: at(&name)?, bytes: text.map(String::into_bytes), role: Role::Entrypoint });
        }
        self.notes.extend(plan.notes);
        Ok(())
    }
}

/// Reads the entrypoint of a mount with its pages. Returns `None` if it is not valid UTF-8.
pub(crate) fn open_entrypoint(view: &dyn View, books: &EntrypointCache, prefix: &str) -> Result<Option<EntrypointFiles>> {
    let main = mounts::entrypoint_file(view, prefix)?;
    let name = main.as_ref().map_or(mounts::ENTRYPOINT_FILE, |stored| stored.path.file_name()).to_owned();
    let text = match &main {
        None => None,
        Some(stored) => match std::str::from_utf8(&stored.bytes) {
            Ok(text) => Some(text),
            Err(_) => return Ok(None),
        },
    };
    let names = linked_pages(text.unwrap_or_default());
    let pages = books.pages(view, prefix, &names)?;
    Ok(Some(EntrypointFiles::new(
        &name,
        text,
        names.iter().map(String::as_str).zip(pages).filter_map(|(name, page)| page.map(|page| (name, page))),
    )))
}

/// Returns the file names of the pages that an entrypoint links, without duplicates.
fn linked_pages(text: &str) -> Vec<String> {
    let mut names: Vec<String> =
        text.split(['(', ')', '<', '>']).filter(|part| mounts::is_page_name(part)).map(ToOwned::to_owned).collect();
    names.shared_sort();
    names.dedup();
    names
}

impl EntrypointCache {
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

/// Returns a note if only a part of the mounts of these paths is accessible, so that files outside it could not be updated.
pub(crate) fn narrowed_mount_note<'a>(view: &dyn View, mut paths: impl Iterator<Item = &'a MemoryPath>) -> Option<String> {
    let is_part = paths.any(|path| mounts::mount_of(view, path).is_some_and(|mount| !mount.part.is_empty()));
    is_part.then(|| {
        "only part of the mount is accessible: the entrypoint and references in other parts were not updated, so they may be outdated"
            .into()
    })
}

/// Refuses overflow pages, which only memdir writes.
pub(crate) fn refuse_pages(view: &dyn View, path: &MemoryPath) -> Result<()> {
    match mounts::file_kind(view, path) {
        FileKind::Page => {
            Err(Error::explained_path(path.as_str(), "it is an overflow page of the entrypoint, which memdir maintains; use another name"))
        }
        _ => Ok(()),
    }
}

/// Refuses entrypoints and overflow pages, which cannot be renamed.
pub(crate) fn refuse_rename_of_entrypoint(view: &dyn View, path: &MemoryPath) -> Result<()> {
    if mounts::file_kind(view, path).is_maintained() {
        return Err(Error::explained_path(
            path.as_str(),
            "it is the entrypoint or one of its pages, which cannot be renamed or replaced; use another name",
        ));
    }
    Ok(())
}

/// Whether the entrypoint or a page has a line for the memory; `None` if the memory needs no line.
pub(crate) fn has_line(view: &dyn View, books: &EntrypointCache, path: &MemoryPath) -> Option<bool> {
    if !mounts::has_entrypoint_line(view, path) {
        return None;
    }
    let (mount, rel) = mounts::locate(view.mounts(), path.as_str())?;
    if links_to(view, &mount.prefix, rel) == Some(true) {
        return Some(true);
    }
    let entrypoint = open_entrypoint(view, books, &mount.prefix).ok()??;
    Some(entrypoint.line_of(rel).is_some())
}

/// Whether the entrypoint or a page contains a link as memdir writes it: cheaper than parsing them.
fn links_to(view: &dyn View, prefix: &str, rel: &str) -> Option<bool> {
    let link = format!("]({})", links::link_destination(rel));
    let main = mounts::entrypoint_file(view, prefix).ok()??;
    let main = String::from_utf8_lossy(&main.bytes);
    let in_page = |name: &String| {
        let page = MemoryPath::parse(name).ok().and_then(|path| view.get(&path.prefixed(prefix)).ok().flatten());
        page.is_some_and(|page| String::from_utf8_lossy(&page.bytes).contains(&link))
    };
    Some(main.contains(&link) || linked_pages(&main).iter().any(in_page))
}

/// Returns the memories of a mount that need a line and have none.
pub(crate) fn unlisted(view: &dyn View, books: &EntrypointCache, prefix: &str) -> Result<Vec<MemoryPath>> {
    let Some(entrypoint) = open_entrypoint(view, books, prefix)? else { return Ok(Vec::new()) };
    let (mut out, is_listed) = (Vec::new(), entrypoint.listed());
    for entry in view.list(prefix)?.entries {
        let Some((mount, rel)) = mounts::locate(view.mounts(), entry.path.as_str()) else { continue };
        if mount.prefix == prefix && !is_listed(rel) && mounts::has_entrypoint_line(view, &entry.path) {
            out.push(entry.path);
        }
    }
    Ok(out)
}
