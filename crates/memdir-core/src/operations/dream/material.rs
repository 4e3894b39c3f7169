//! Reads the memories that a plan is made from, and computes what the detectors compare. Texts beyond a limit are left out and counted,
//! so that a plan never needs more memory than the limit allows.

use super::{
    Dream, DreamChange, DreamProgress,
    claims::{self, Claim},
    words::{self, ComparedSentence, ComparedWord, TokenClass},
};
use crate::{
    base::{
        error::Result,
        path::{MemoryPath, strip_md},
        text::human_bytes,
        version::Version,
    },
    memory::{Memory, lines, validity::Validity},
    operations::read,
    store::{
        Access, EntrypointMode, Source, Store, View, if_readable,
        mounts::{self, FileKind},
    },
};
use jiff::{Timestamp, civil::Date};
use std::collections::HashMap;

/// Bytes of one memory that a dream compares. A larger one is a document.
const DREAM_FILE_BYTES: u64 = 1 << 20;
/// Bytes of all memories that a dream holds in memory at once.
const DREAM_BYTES: u64 = 256 << 20;

/// The memories of the writable mounts that keep an entrypoint.
#[derive(Debug, Default)]
pub(super) struct Material {
    pub(super) files: Vec<MaterialFile>,
    /// Daily logs, in the order of their days.
    pub(super) logs: Vec<MaterialFile>,
    pub(super) bytes: u64,
    pub(super) notes: Vec<String>,
}

/// One memory.
#[derive(Debug)]
pub(super) struct MaterialFile {
    pub(super) path: MemoryPath,
    /// The prefix of its mount.
    pub(super) prefix: String,
    pub(super) version: Version,
    pub(super) memory: Memory,
    /// When it was last known to be true.
    pub(super) at: Timestamp,
    /// The fields of its frontmatter that say how far it can be trusted.
    pub(super) validity: Validity,
    /// When its file was last modified, in nanoseconds since 1970.
    pub(super) file_ns: i64,
    pub(super) features: Features,
}

/// What the detectors compare, as hashes, so that ten thousand memories need little room.
#[derive(Debug, Default)]
pub(super) struct Features {
    /// The content words of the title.
    pub(super) title: Vec<u64>,
    /// The content words of title and body, with the parts of compound words; sorted, without duplicates.
    pub(super) words: Vec<u64>,
    /// Numbers, paths, identifiers and names of the body; sorted, without duplicates.
    pub(super) facts: Vec<u64>,
    /// Pairs of neighbouring content words; sorted, without duplicates.
    pub(super) pairs: Vec<u64>,
    /// The number of negations.
    pub(super) negations: usize,
    /// The number of content words.
    pub(super) count: usize,
    /// All words of the body in order, with its code and headings, as one hash.
    pub(super) whole: u64,
    /// Words that begin sentences, with a capital letter: they may be names.
    pub(super) first_words: Vec<u64>,
    /// The code in its first heading; sorted, without duplicates.
    pub(super) title_code: Vec<u64>,
    pub(super) claims: Vec<Claim>,
}

impl Material {
    /// Reads the material.
    pub(super) fn read(store: &dyn Store, request: &Dream<'_>) -> Result<Material> {
        let mut out = Material::default();
        let walk = store.list("")?;
        let (mut too_large, mut over, mut unreadable, of) = (0, 0, 0, walk.entries.len());
        for (done, entry) in walk.entries.into_iter().enumerate() {
            request.report(DreamProgress { done, of });
            store.check_stopped()?;
            let Some(mount) = mounts::mount_of(store, &entry.path) else { continue };
            let is_ours = mount.access == Access::ReadWrite && mount.source == Source::Memory && mount.entrypoint == EntrypointMode::Kept;
            let prefix = mount.prefix.clone();
            let kind = mounts::file_kind(store, &entry.path);
            if !is_ours || !entry.path.is_md() || !matches!(kind, FileKind::Memory | FileKind::Log) {
                continue;
            }
            if entry.stamp.size > DREAM_FILE_BYTES {
                too_large += 1;
                continue;
            }
            if out.bytes + entry.stamp.size > DREAM_BYTES {
                over += 1;
                continue;
            }
            let Some(stored) = if_readable(store.get(&entry.path))? else { continue };
            let Ok(text) = std::str::from_utf8(&stored.bytes) else {
                unreadable += 1;
                continue;
            };
            let (memory, _) = Memory::parse(text);
            let at = read::memory_time(&memory, &stored);
            out.bytes += stored.bytes.len() as u64;
            let features = if kind == FileKind::Log { Features::default() } else { Features::new(&memory, stored.path.name()) };
            let (validity, file_ns) = (memory.validity(), stored.stamp.mtime_ns);
            let file = MaterialFile { path: stored.path, prefix, version: stored.version, at, validity, file_ns, memory, features };
            if kind == FileKind::Log { out.logs.push(file) } else { out.files.push(file) }
        }
        request.report(DreamProgress { done: of, of });
        if too_large > 0 {
            let limit = human_bytes(DREAM_FILE_BYTES);
            out.notes.push(format!("skipped {too_large} of {of} files: larger than {limit}"));
        }
        if over > 0 {
            let limit = human_bytes(DREAM_BYTES);
            out.notes.push(format!("skipped {over} of {of} files: over the total limit of {limit}"));
        }
        if unreadable > 0 {
            out.notes.push(format!("skipped {unreadable} of {of} files: not valid UTF-8"));
        }
        Ok(out)
    }
}

impl Material {
    /// The memories and logs by their paths.
    pub(super) fn by_path(&self) -> HashMap<&MemoryPath, &MaterialFile> {
        self.files.iter().chain(&self.logs).map(|file| (&file.path, file)).collect()
    }

    /// The days of the logs.
    pub(super) fn log_days(&self) -> impl Iterator<Item = Date> {
        self.logs.iter().filter_map(MaterialFile::log_day)
    }
}

impl MaterialFile {
    /// The day of a daily log.
    pub(super) fn log_day(&self) -> Option<Date> {
        strip_md(self.path.file_name()).parse().ok()
    }

    /// The title and the name of the file.
    pub(super) fn name(&self) -> &str {
        self.path.name()
    }

    /// The day of the file, for texts.
    pub(super) fn day(&self) -> Date {
        self.at.to_zoned(jiff::tz::TimeZone::UTC).date()
    }

    /// The sentences of its body.
    pub(super) fn sentences(&self) -> Vec<ComparedSentence> {
        words::sentences(self.memory.body())
    }
}

impl Features {
    fn new(memory: &Memory, name: &str) -> Features {
        let mut out = Features::default();
        let title = memory.title(name);
        out.title = words::title_words(title).iter().map(|word| words::hash_of([word.as_str()])).collect();
        let heading = memory.body().lines().find_map(lines::heading).map_or(title, |heading| heading.text);
        out.title_code = heading.split('`').skip(1).step_by(2).map(|code| words::hash_of([code])).collect();
        out.words.clone_from(&out.title);
        let own_words = claims::spaced(&format!("{title} {name}"));
        let sentences = words::sentences(memory.body());
        for (at, sentence) in sentences.iter().enumerate() {
            let content: Vec<&ComparedWord> = sentence.tokens.iter().filter(|token| token.is_content()).collect();
            out.count += content.len();
            for token in &content {
                let hash = words::hash_of([token.text.as_str()]);
                out.words.push(hash);
                out.words.extend(
                    token.text.split(['-', '/', '_']).filter(|part| part.len() < token.text.len()).map(|part| words::hash_of([part])),
                );
                if matches!(token.class, TokenClass::Fact | TokenClass::Name) {
                    out.facts.push(hash);
                }
            }
            out.pairs.extend(content.windows(2).map(|pair| words::hash_of(pair.iter().map(|token| token.text.as_str()))));
            let first = sentence.tokens.first().filter(|first| first.class == TokenClass::Word);
            let first = first.filter(|_| sentence.source.starts_with(char::is_uppercase));
            out.first_words.extend(first.map(|first| words::hash_of([first.text.as_str()])));
            out.negations += sentence.tokens.iter().filter(|token| token.class == TokenClass::Negation).count();
            out.claims.extend(claims::claims(at as u32, sentence, &own_words));
        }
        // What is in code differs on purpose: two commands are two facts.
        let code = words::code_words(memory.body()).map(|word| words::hash_of([word]));
        out.facts.extend(code);
        out.whole = words::hash_of(memory.body().split_whitespace());
        for list in [&mut out.words, &mut out.facts, &mut out.pairs, &mut out.title_code] {
            list.sort_unstable();
            list.dedup();
        }
        out
    }
}

/// Counts common elements of two sorted lists.
pub(super) fn common(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                (i, j, count) = (i + 1, j + 1, count + 1);
            }
        }
    }
    count
}

/// Whether two memories are about different things: each has a word in its title that the other one lacks altogether, or both have code
/// in their first headings, and not the same.
pub(super) fn are_about_different_things(a: &Features, b: &Features) -> bool {
    let lacks = |title: &[u64], words: &[u64]| title.iter().any(|word| words.binary_search(word).is_err());
    let are_named_apart = !a.title_code.is_empty() && !b.title_code.is_empty() && a.title_code != b.title_code;
    are_named_apart || (lacks(&a.title, &b.words) && lacks(&b.title, &a.words))
}

/// Fields that describe a memory and may go with its copy.
const DESCRIBING: [&str; 13] = [
    "name", "title", "description", "type", "created", "created_at", "modified", "modified_at", "updated", "updated_at", "last_verified",
    "verified_at", "metadata",
];

/// The fields of a memory that do something: tripwires, cues, sources, its validity, and fields of others.
pub(super) fn binding_fields(memory: &Memory) -> Vec<(&str, &str)> {
    let keys = memory.keys().filter(|key| !DESCRIBING.contains(key));
    keys.map(|key| (key, memory.raw(key).unwrap_or_default())).collect()
}

/// Moves a memory to the archive of its mount.
pub(super) fn to_archive(file: &MaterialFile) -> DreamChange {
    let rel = file.path.strip_prefix(&file.prefix).unwrap_or_else(|| file.path.clone());
    let to = rel.prefixed(mounts::ARCHIVE_FOLDER).prefixed(&file.prefix);
    DreamChange::Move { path: file.path.clone(), version: file.version, to }
}

/// The name of a memory in the archive of its mount that no file has yet.
pub(super) fn free_archive_name(view: &dyn View, rel: &MemoryPath, prefix: &str) -> Result<MemoryPath> {
    let wanted = rel.prefixed(mounts::ARCHIVE_FOLDER).prefixed(prefix);
    let mut free = wanted.clone();
    let mut n = 1;
    while view.get(&free)?.is_some() {
        n += 1;
        free = MemoryPath::parse(&format!("{}-{n}.md", wanted.name()))?;
    }
    Ok(free)
}
