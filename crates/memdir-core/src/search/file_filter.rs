//! Which files a search covers: by source, type and folder, the archive, the conversations. All exclusions are in
//! [`FileFilter::allows`]; a time (`since`) and excluded words exclude units of a file, in the index.

use super::{Search, chats::ChatFilter, index::KnownFile, mount_views::SearchMount, query::Query};
use crate::{
    base::path::MemoryPath,
    memory::Kind,
    store::{
        Source,
        mounts::{ARCHIVE_FOLDER, is_below, resolve_alias_among},
    },
};

/// Which files may be hits.
pub(super) struct FileFilter<'a> {
    mounts: &'a [SearchMount],
    /// For each mount whether it has archived memories that are not searched.
    hides_archive: Vec<bool>,
    chats: Option<&'a ChatFilter>,
    source: Option<Source>,
    kind: Option<Kind>,
    under: Vec<String>,
}

/// How many of a mount's files may be hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    /// No file.
    Nothing,
    /// Those that [`FileFilter::allows`] allows.
    Filtered,
    /// Every file.
    Everything,
}

impl<'a> FileFilter<'a> {
    pub(super) fn new(search: &Search, query: &Query, mounts: &'a [SearchMount], chats: Option<&'a ChatFilter>) -> Self {
        let has_mount = |prefix: &str| mounts.iter().any(|mount| mount.prefix == prefix);
        let under = [search.under.as_deref(), query.under.as_deref()].into_iter().flatten();
        let resolved = |prefix: String| match MemoryPath::parse(&prefix).ok().and_then(|path| resolve_alias_among(&path, has_mount)) {
            Some(path) => path.to_string(),
            None => prefix,
        };
        let under: Vec<String> =
            under.map(|prefix| prefix.trim_matches('/').to_owned()).filter(|prefix| !prefix.is_empty()).map(resolved).collect();
        FileFilter {
            hides_archive: mounts.iter().map(|mount| hides_archive(mount, &under)).collect(),
            mounts,
            chats,
            source: search.source.or(query.source),
            kind: search.kind.or(query.kind),
            under,
        }
    }

    /// How many of the files of a mount [`FileFilter::allows`] allows, as far as it can be known without looking at each.
    pub(super) fn coverage(&self, mount: usize) -> Coverage {
        let source = self.mounts[mount].source;
        if self.source.is_some_and(|wanted| wanted != source) {
            return Coverage::Nothing;
        }
        let is_filtered =
            self.kind.is_some() || !self.under.is_empty() || self.hides_archive[mount] || (self.chats.is_some() && source == Source::Chat);
        if is_filtered { Coverage::Filtered } else { Coverage::Everything }
    }

    /// Whether a file may be a hit, given its name in its mount.
    pub(super) fn allows(&self, mount: usize, name: &str, known: &KnownFile) -> bool {
        let SearchMount { prefix, source, .. } = &self.mounts[mount];
        self.source.is_none_or(|wanted| wanted == *source)
            && self.kind.is_none_or(|kind| known.kind == Some(kind))
            && self.under.iter().all(|under| is_under(prefix, name, under))
            && self.chats.is_none_or(|covers| *source != Source::Chat || covers(name))
            && !(self.hides_archive[mount] && is_below(name, ARCHIVE_FOLDER))
    }
}

/// Whether a name in a mount is a folder or file, or below the folder.
fn is_under(prefix: &str, name: &str, under: &str) -> bool {
    let whole = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
    whole.strip_prefix(under).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest.eq_ignore_ascii_case(".md"))
}

/// Whether a mount has archived memories that are not searched, because the search does not name their folder.
fn hides_archive(mount: &SearchMount, under: &[String]) -> bool {
    let folder = if mount.prefix.is_empty() { ARCHIVE_FOLDER.to_owned() } else { format!("{}/{ARCHIVE_FOLDER}", mount.prefix) };
    mount.keeps_archive && !under.iter().any(|under| is_below(under, &folder)) && mount.root.join(ARCHIVE_FOLDER).is_dir()
}
