//! Renames memories: the files, their entrypoint lines, and every link, wikilink and `mem:` reference to them in the whole space, in one
//! change. Read-only memories that refer to them are skipped and listed, and so are those that a review keeps out of the change.

use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::{MemoryPath, strip_md},
        text,
        version::Version,
    },
    entrypoint::upkeep::{self, RenamedFile},
    memory::links,
    operations::{context::Context, inbox, read, write},
    store::{Access, ChangeId, FileEdit, Source, Store, Verb, View, Walk, change_with, mounts},
};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// A renamed memory.
#[derive(Debug, Clone, Serialize)]
pub struct Renamed {
    /// Its old path.
    pub from: MemoryPath,
    /// Its new path.
    pub to: MemoryPath,
    /// Its version now.
    pub version: Version,
    /// The change, for undo.
    pub change: ChangeId,
    /// Memories whose references were rewritten.
    pub rewritten: Vec<String>,
    /// Read-only memories that refer to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// Notes for the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Memories that were renamed in one change.
#[derive(Debug, Clone, Serialize)]
pub struct RenamedMemories {
    /// The memories, in the order of the request.
    pub renamed: Vec<RenamedMemory>,
    /// The change, for undo.
    pub change: ChangeId,
    /// Memories whose references were rewritten.
    pub rewritten: Vec<String>,
    /// Read-only memories that refer to them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// Notes for the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One of several renamed memories.
#[derive(Debug, Clone, Serialize)]
pub struct RenamedMemory {
    /// Its old path.
    pub from: MemoryPath,
    /// Its new path.
    pub to: MemoryPath,
    /// Its version now.
    pub version: Version,
}

/// Renames a memory.
pub(crate) fn rename(store: &dyn Store, context: &Context, from: &MemoryPath, to: &MemoryPath) -> Result<Renamed> {
    let RenamedMemories { mut renamed, change, rewritten, skipped, notes } = rename_all(store, context, &[(from.clone(), to.clone())])?;
    let RenamedMemory { from, to, version } = renamed.pop().ok_or_else(|| read::not_found(store, from))?;
    Ok(Renamed { from, to, version, change, rewritten, skipped, notes })
}

/// Renames memories in one change, each from its old name to its new one. If one of them cannot be renamed, none is.
pub(crate) fn rename_all(store: &dyn Store, context: &Context, names: &[(MemoryPath, MemoryPath)]) -> Result<RenamedMemories> {
    inbox::record_decisions(store, names.iter().map(|(from, to)| (from, Some(to))))?;
    let (change, renamed) = change_with(store, &context.intent(Verb::Rename), &writable(store, names), |view| {
        let files = planned(store, view, context, names)?;
        let mut refs = References::new(view, &files);
        let files = refs.moved(view, files)?;
        refs.find(view)?;
        let kept = upkeep::rename_lines(view, &context.entrypoint_cache, &files, &refs.changed_lines)?;
        let paths = files.iter().flat_map(|file| [&file.from, &file.to]);
        let narrowed = upkeep::narrowed_mount_note(view, paths);
        let one = |file: &RenamedFile| RenamedMemory {
            from: file.from.clone(),
            to: file.to.clone(),
            version: Version::from_content(&file.bytes),
        };
        let renamed = RenamedMemories {
            renamed: files.iter().map(one).collect(),
            change: ChangeId(String::new()),
            rewritten: refs.rewritten,
            skipped: refs.skipped,
            notes: refs.notes.into_iter().chain(kept.notes).chain(narrowed).collect(),
        };
        let mut edits = Vec::with_capacity(2 * files.len());
        for file in files {
            edits.push(FileEdit::save(file.to, file.bytes));
            edits.push(FileEdit::remove(file.from));
        }
        edits.extend(refs.edits);
        edits.extend(kept.edits);
        Ok((edits, renamed))
    })?;
    Ok(RenamedMemories { change: change.id, ..renamed })
}

/// The memories with their old paths, new paths and old texts. Fails if one of them cannot be renamed, or if a new name is in use. No new
/// name is an old one, so the order of the renames does not matter.
fn planned(store: &dyn Store, view: &dyn View, context: &Context, names: &[(MemoryPath, MemoryPath)]) -> Result<Vec<RenamedFile>> {
    let mut files: Vec<RenamedFile> = Vec::with_capacity(names.len());
    let mut seen = HashSet::new();
    for (from, to) in names {
        let stored = view.get(from)?.ok_or_else(|| read::not_found(store, from))?;
        let target = target(&stored.path, to);
        upkeep::refuse_rename_of_entrypoint(view, &stored.path)?;
        upkeep::refuse_rename_of_entrypoint(view, &target)?;
        view.check_writable(&stored.path)?;
        view.check_writable(&target)?;
        if let Some(there) = view.get(&target)?
            && there.path != stored.path
        {
            return Err(Error::Exists { path: there.path });
        }
        if target == stored.path {
            return Err(Error::bad_input("new name", format!("it is the same as the current name, {:?}", target.name())));
        }
        write::check_new_name(context, &stored.path, &target)?;
        if !seen.insert(stored.path.clone()) {
            return Err(Error::bad_input("names", format!("{:?} is listed twice", stored.path.name())));
        }
        if !seen.insert(target.clone()) {
            return Err(Error::bad_input("names", format!("two memories would be named {:?}", target.name())));
        }
        let bytes = inbox::moved_bytes(view, &stored, &target)?;
        files.push(RenamedFile { from: stored.path, to: target, bytes });
    }
    Ok(files)
}

/// One file in every writable mount, because any of them may contain a reference. Candidates are not searched for references.
fn writable(store: &dyn Store, names: &[(MemoryPath, MemoryPath)]) -> Vec<MemoryPath> {
    let mounts = store.mounts().iter().filter(|mount| mount.access == Access::ReadWrite && mount.source != Source::Inbox);
    let mut touches: Vec<MemoryPath> = mounts.filter_map(|mount| mounts::entrypoint_path(&mount.prefix).ok()).collect();
    touches.extend(names.iter().flat_map(|(from, to)| [from.clone(), to.clone()]));
    touches
}

/// The new path, with the extension of the old one unless it has the same.
fn target(from: &MemoryPath, to: &MemoryPath) -> MemoryPath {
    let extension = |path: &MemoryPath| path.file_name().rsplit_once('.').map(|(_, extension)| extension.to_owned());
    match extension(from) {
        Some(old) if extension(to).as_ref() != Some(&old) => MemoryPath::parse(&format!("{to}.{old}")).unwrap_or_else(|_| to.clone()),
        _ => to.clone(),
    }
}

/// Up to this many names, a text without any of them is not parsed for references.
const MAX_STEMS: usize = 8;

/// The references to renamed memories.
struct References {
    /// The old and new paths by old name, including the aliases of mounts.
    renamed: HashMap<String, (MemoryPath, MemoryPath)>,
    /// The old paths.
    old: HashSet<MemoryPath>,
    edits: Vec<FileEdit>,
    /// Memories whose entrypoint line changes, with their new text.
    changed_lines: Vec<(MemoryPath, Vec<u8>)>,
    rewritten: Vec<String>,
    skipped: Vec<String>,
    notes: Vec<String>,
}

impl References {
    fn new(view: &dyn View, files: &[RenamedFile]) -> References {
        let mut renamed = HashMap::with_capacity(files.len());
        for RenamedFile { from, to, .. } in files {
            renamed.insert(from.name().to_owned(), (from.clone(), to.clone()));
            let alias = from.strip_prefix("user").map(|rest| rest.prefixed("global"));
            if let Some(alias) = alias.filter(|alias| mounts::resolve_alias(view, alias).as_ref() == Some(from)) {
                renamed.insert(alias.name().to_owned(), (alias, to.clone()));
            }
        }
        References {
            renamed,
            old: files.iter().map(|file| file.from.clone()).collect(),
            edits: Vec::new(),
            changed_lines: Vec::new(),
            rewritten: Vec::new(),
            skipped: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Rewrites every reference in a text, including those by an alias of a mount.
    fn rewritten(&self, text: &str, holder: &MemoryPath) -> Option<String> {
        links::rewrite_all_references(text, holder, &|name| self.renamed.get(name).map(|(from, to)| (from, to)))
    }

    /// The memories with their texts at their new paths: relative links keep their targets, references to renamed memories follow them.
    fn moved(&self, view: &dyn View, mut files: Vec<RenamedFile>) -> Result<Vec<RenamedFile>> {
        for file in &mut files {
            view.check_stopped()?;
            let Ok(text) = std::str::from_utf8(&file.bytes) else { continue };
            let text = self.rewritten(text, &file.from).unwrap_or_else(|| text.to_owned());
            file.bytes = links::rebase_links(&text, &file.from, &file.to).unwrap_or(text).into_bytes();
        }
        Ok(files)
    }

    /// Whether a text may contain a reference. A link may be percent-encoded, so a text with a percent sign is always parsed.
    fn may_refer(&self, text: &str, stems: &[String]) -> bool {
        self.old.len() > MAX_STEMS || text.contains('%') || stems.iter().any(|stem| text.contains(stem))
    }

    /// What is renamed, for messages.
    fn what(&self) -> String {
        let mut names = self.old.iter().map(MemoryPath::name);
        match (names.next(), self.old.len()) {
            (Some(one), 1) => format!("{one:?}"),
            (_, count) => format!("{count} memories"),
        }
    }

    /// Fails if memories that may refer to the renamed one are not in the listing: their references would be dead. Those of a
    /// read-only mount would not be rewritten anyway, so they are noted.
    fn check_complete(&mut self, view: &dyn View, walk: &Walk) -> Result<()> {
        let what = format!("cannot rename {}", self.what());
        let refuse = |why: String| Error::unavailable(&*what, why);
        for folder in &walk.unlisted {
            let mount = mounts::locate(view.mounts(), folder).map(|(mount, _)| mount);
            let mount = mount.or_else(|| view.mounts().iter().find(|mount| mount.prefix == *folder));
            let folder = format!("{:?}", if folder.is_empty() { "." } else { folder });
            let reason = walk.problems.iter().find(|problem| problem.what.starts_with(&format!("{folder} ")));
            let reason = reason.map_or_else(|| format!("{folder} cannot be listed"), |problem| problem.what.clone());
            if mount.is_some_and(|mount| mount.access == Access::ReadOnly) {
                self.notes.push(format!("{reason}, so references in it were not checked"));
            } else {
                return Err(refuse(format!("{reason}, so references in it would not be updated")));
            }
        }
        if walk.left_out > 0 {
            let files = text::counted(walk.left_out as u64, "file", "files");
            let them = if walk.left_out == 1 { "it" } else { "them" };
            return Err(refuse(format!(
                "{files} beyond the limit of {} files per mount cannot be listed, so references in {them} would not be updated",
                limits::WALK_FILES
            )));
        }
        Ok(())
    }

    fn find(&mut self, view: &dyn View) -> Result<()> {
        let stems: Vec<String> = self.old.iter().map(|path| strip_md(path.file_name()).to_owned()).collect();
        let walk = view.list("")?;
        self.check_complete(view, &walk)?;
        let mut separate = Vec::new();
        for entry in walk.entries {
            if self.old.contains(&entry.path) || mounts::file_kind(view, &entry.path).is_maintained() {
                continue;
            }
            let holder = match view.get(&entry.path) {
                Ok(Some(holder)) => holder,
                // The file vanished, or is not a text that could contain a reference.
                Ok(None) | Err(Error::TooLarge { .. } | Error::BadPath { .. }) => continue,
                Err(e) => return Err(e),
            };
            let Ok(text) = std::str::from_utf8(&holder.bytes) else { continue };
            if !self.may_refer(text, &stems) {
                continue;
            }
            let Some(new) = self.rewritten(text, &holder.path) else { continue };
            if !self.can_change_with(view, &holder.path)? {
                separate.push(holder.path.name().to_owned());
                continue;
            }
            match view.check_writable(&holder.path) {
                Ok(()) => {
                    self.rewritten.push(holder.path.name().to_owned());
                    if upkeep::changes_line(view, &holder.path, &holder.bytes, new.as_bytes()) {
                        self.changed_lines.push((holder.path.clone(), new.clone().into_bytes()));
                    }
                    self.edits.push(FileEdit::save(holder.path, new.into_bytes()));
                }
                Err(_) => self.skipped.push(holder.path.name().to_owned()),
            }
        }
        if !separate.is_empty() {
            let names = separate.join(", ");
            self.notes.push(format!("references in {names} were not updated, because a change under review cannot include memories of several projects or groups; update them in a separate change"));
        }
        Ok(())
    }

    /// Whether the change that renames the memories can also change this one.
    fn can_change_with(&self, view: &dyn View, holder: &MemoryPath) -> Result<bool> {
        for path in self.old.iter().chain(self.renamed.values().map(|(_, to)| to)) {
            if !view.can_change_together(holder, path)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
