//! Renames a memory: the file, its entrypoint line, and every link, wikilink and `mem:` reference to it in the whole space, in one
//! change. Read-only memories that refer to it are skipped and listed.

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        version::Version,
    },
    entrypoint::upkeep,
    memory::links,
    operations::{context::Context, read, write},
    store::{Access, ChangeId, FileEdit, Role, Store, Stored, Verb, View, Walk, change_with, mounts},
};
use serde::Serialize;

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

/// Renames a memory.
pub(crate) fn rename(store: &dyn Store, context: &Context, from: &MemoryPath, to: &MemoryPath) -> Result<Renamed> {
    let (change, renamed) = change_with(store, &context.intent(Verb::Rename), &writable(store, from, to), |view| {
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
            return Err(Error::bad_input("name", format!("the memory is already named {target}")));
        }
        write::check_new_name(context, &stored.path, &target)?;
        let bytes = moved(&stored, &target);
        let alias = stored.path.strip_prefix("user").map(|rest| rest.prefixed("global"));
        let alias = alias.filter(|alias| mounts::resolve_alias(view, alias).as_ref() == Some(&stored.path));
        let mut refs = References {
            from: &stored.path,
            alias,
            to: &target,
            edits: Vec::new(),
            changed_lines: Vec::new(),
            rewritten: Vec::new(),
            skipped: Vec::new(),
            notes: Vec::new(),
        };
        refs.find(view)?;
        let kept = upkeep::rename_line(view, &context.entrypoint_cache, &stored.path, &target, &bytes, &refs.changed_lines)?;
        let renamed = Renamed {
            from: stored.path.clone(),
            to: target.clone(),
            version: Version::from_content(&bytes),
            change: ChangeId(String::new()),
            rewritten: refs.rewritten,
            skipped: refs.skipped,
            notes: refs
                .notes
                .into_iter()
                .chain(kept.notes)
                .chain(upkeep::narrowed_mount_note(view, [&stored.path, &target].into_iter()))
                .collect(),
        };
        let mut edits = vec![
            FileEdit { path: target.clone(), bytes: Some(bytes), role: Role::Memory },
            FileEdit { path: stored.path.clone(), bytes: None, role: Role::Memory },
        ];
        edits.extend(refs.edits);
        edits.extend(kept.edits);
        Ok((edits, renamed))
    })?;
    Ok(Renamed { change: change.id, ..renamed })
}

/// One file in every writable mount, because any of them may contain a reference.
fn writable(store: &dyn Store, from: &MemoryPath, to: &MemoryPath) -> Vec<MemoryPath> {
    let mounts = store.mounts().iter().filter(|mount| mount.access == Access::ReadWrite);
    let mut touches: Vec<MemoryPath> = mounts.filter_map(|mount| mounts::entrypoint_path(&mount.prefix).ok()).collect();
    touches.extend([from.clone(), to.clone()]);
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

/// The memory's own text at its new path: relative links keep their targets, references to itself are rewritten.
fn moved(stored: &Stored, target: &MemoryPath) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&stored.bytes) else { return stored.bytes.clone() };
    let text = links::rewrite_references(text, &stored.path, &stored.path, target).unwrap_or_else(|| text.to_owned());
    links::rebase_links(&text, &stored.path, target).unwrap_or(text).into_bytes()
}

struct References<'a> {
    from: &'a MemoryPath,
    alias: Option<MemoryPath>,
    to: &'a MemoryPath,
    edits: Vec<FileEdit>,
    /// Memories whose entrypoint line changes, with their new text.
    changed_lines: Vec<(MemoryPath, Vec<u8>)>,
    rewritten: Vec<String>,
    skipped: Vec<String>,
    notes: Vec<String>,
}

impl References<'_> {
    /// Rewrites every reference in a text, including those by an alias of the mount.
    fn rewritten(&self, text: &str, holder: &MemoryPath) -> Option<String> {
        let new = links::rewrite_references(text, holder, self.from, self.to);
        let Some(alias) = &self.alias else { return new };
        let newer = links::rewrite_references(new.as_deref().unwrap_or(text), holder, alias, self.to);
        newer.or(new)
    }

    /// Fails if memories that may refer to the renamed one are not in the listing: their references would be dead. Those of a
    /// read-only mount would not be rewritten anyway, so they are noted.
    fn check_complete(&mut self, view: &dyn View, walk: &Walk) -> Result<()> {
        let refuse = |why: String| Error::Unavailable { what: format!("cannot rename {:?}", self.from.name()), why };
        for folder in &walk.unlisted {
            let mount = mounts::locate(view.mounts(), folder).map(|(mount, _)| mount);
            let mount = mount.or_else(|| view.mounts().iter().find(|mount| mount.prefix == *folder));
            let folder = if folder.is_empty() { "." } else { folder };
            if mount.is_some_and(|mount| mount.access == Access::ReadOnly) {
                self.notes.push(format!("{folder:?} cannot be listed; references to the memory there are unknown"));
            } else {
                return Err(refuse(format!(
                    "{folder:?} cannot be listed, so references there would not be updated; check its permissions"
                )));
            }
        }
        if walk.left_out > 0 {
            return Err(refuse(format!(
                "{} files are beyond the limit of a listing; references there would not be updated",
                walk.left_out
            )));
        }
        Ok(())
    }

    fn find(&mut self, view: &dyn View) -> Result<()> {
        let stem = crate::base::path::strip_md(self.from.file_name()).to_owned();
        let walk = view.list("")?;
        self.check_complete(view, &walk)?;
        for entry in walk.entries {
            if entry.path == *self.from || mounts::file_kind(view, &entry.path).is_maintained() {
                continue;
            }
            let holder = match view.get(&entry.path) {
                Ok(Some(holder)) => holder,
                // The file vanished, or is not a text that could contain a reference.
                Ok(None) | Err(Error::TooLarge { .. } | Error::BadPath { .. }) => continue,
                Err(e) => return Err(e),
            };
            let Ok(text) = std::str::from_utf8(&holder.bytes) else { continue };
            // A link may be percent-encoded, so a text with a percent sign is always parsed.
            if !text.contains(&stem) && !text.contains('%') {
                continue;
            }
            let Some(new) = self.rewritten(text, &holder.path) else { continue };
            match view.check_writable(&holder.path) {
                Ok(()) => {
                    self.rewritten.push(holder.path.name().to_owned());
                    if upkeep::changes_line(view, &holder.path, &holder.bytes, new.as_bytes()) {
                        self.changed_lines.push((holder.path.clone(), new.clone().into_bytes()));
                    }
                    self.edits.push(FileEdit { path: holder.path, bytes: Some(new.into_bytes()), role: Role::Memory });
                }
                Err(_) => self.skipped.push(holder.path.name().to_owned()),
            }
        }
        Ok(())
    }
}
