//! From ranked candidates to hits: their text, read from the files as they are now.

use super::{
    Hit, Search,
    analysis::Analyser,
    chats::{ChatLocator, Speaker},
    cite::{self, TermWeights},
    find::RankedCandidates,
    fuse::RankedCandidate,
    index::UnitCandidate,
    indexing,
    mount_views::SearchMount,
};
use crate::{
    base::{
        error::Result,
        path::MemoryPath,
        text::{self, LineRange},
        time::{self, Clock},
    },
    memory::{Memory, chunk, lines},
    secrets,
    store::{self, Source, Store, Stored},
};
use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// The size up to which a memory is about one thing.
const SHORT_MEMORY_BYTES: usize = 4 << 10;

/// A file with candidates, as it is now.
struct HitFile {
    path: MemoryPath,
    stored: Stored,
    memory: Memory,
    /// Its text with secrets redacted, if it has any. The line numbers are the same.
    redacted: Option<String>,
}

impl HitFile {
    /// Lines as they are shown.
    fn shown_lines<'t>(&self, decoded: &'t str, lines: LineRange) -> Cow<'t, str> {
        match &self.redacted {
            Some(redacted) => Cow::Owned(lines.slice(redacted).to_owned()),
            None => Cow::Borrowed(lines.slice(decoded)),
        }
    }
}

/// Reads hits from a store.
pub(super) struct HitReader<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) mounts: &'a [SearchMount],
    pub(super) analyser: &'a Mutex<Analyser>,
    pub(super) chats: Option<ChatLocator>,
    pub(super) clock: &'a dyn Clock,
}

impl HitReader<'_> {
    /// Returns the first hits with their text, and whether a file is no longer what was ranked. With `last` there is no further
    /// attempt, so lines of a file that grows all the time are cited as they are now.
    pub(super) fn hits(&self, found: &RankedCandidates, search: &Search, last: bool) -> Result<(Vec<Hit>, bool)> {
        let weights = |source| found.terms(source).map(TermWeights::new).collect::<Vec<_>>();
        let (curated, chats) = (weights(Source::Memory), weights(Source::Chat));
        let evidence = |source| found.evidence(source).map(|queries| queries.map(TermWeights::new).collect::<Vec<_>>());
        let (curated_evidence, chat_evidence) = (evidence(Source::Memory), evidence(Source::Chat));
        let mut hits = Vec::with_capacity(search.max_results.min(50));
        let mut files: HashMap<(usize, &str), Option<HitFile>> = HashMap::new();
        let mut stale = false;
        let enough = found.ranked.iter().take_while(|ranked| ranked.score >= search.min_score).count();
        for (at, ranked) in found.ranked[..enough].iter().enumerate() {
            if hits.len() == search.max_results {
                break;
            }
            let key = (ranked.mount, shown_name(ranked));
            if !files.contains_key(&key) {
                // Where each read is a round trip, the files of all hits are read at once.
                let ahead = if store::read_ahead(self.store) == 1 { 1 } else { search.max_results - hits.len() };
                self.read_files(&found.ranked[at..enough], ahead, &mut files)?;
            }
            let Some(Some(file)) = files.get(&key) else {
                stale = true;
                continue;
            };
            let (decoded, _) = text::decode(&file.stored.bytes);
            let located = match ranked.status.successor {
                Some(_) => Some(whole_body(file, &decoded)),
                None => locate(&ranked.candidate, &file.stored, &decoded, last),
            };
            let Some((first, last)) = located else {
                stale = true;
                continue;
            };
            if found.has_phrases(&decoded, first, last) {
                // A forked conversation repeats its beginning.
                let weights = if ranked.source == Source::Chat { &chats } else { &curated };
                let hit = self.hit(file, &decoded, (first, last), ranked, &weights[ranked.asked]);
                if ranked.source == Source::Chat && hits.iter().any(|other: &Hit| is_same_turn(other, &hit)) {
                    continue;
                }
                // The lines were shown in place of a superseded memory.
                if hits.iter().any(|other: &Hit| other.replaces.is_some() && other.path == hit.path && other.text.contains(&hit.text)) {
                    continue;
                }
                let evidence = if ranked.source == Source::Chat { &chat_evidence } else { &curated_evidence };
                if let Some(evidence) = evidence
                    && self.matched_weight(file, &decoded, (first, last), ranked, &hit, evidence) < found.min_evidence()
                {
                    continue;
                }
                hits.push(hit);
                if search.explain
                    && let Some(hit) = hits.last_mut()
                {
                    hit.explain = Some(found.explain(ranked));
                }
            }
        }
        Ok((hits, stale))
    }

    /// Returns the largest weight of the words that a hit shares with its query or with a line of the pasted text: those of its unit,
    /// of the headings above it and of its file's name and description; of a short memory all of them.
    fn matched_weight(
        &self,
        file: &HitFile,
        decoded: &str,
        (first, last): (u64, u64),
        ranked: &RankedCandidate,
        hit: &Hit,
        queries: &[TermWeights<'_>],
    ) -> f32 {
        let is_short = ranked.source != Source::Chat && decoded.len() <= SHORT_MEMORY_BYTES;
        let text = if is_short { decoded } else { LineRange { first, last: Some(last) }.slice(decoded) };
        let head = [Some(file.path.as_str()), file.memory.name(), file.memory.description()].into_iter().flatten();
        let texts: Vec<&str> = head.chain(hit.headings.iter().map(String::as_str)).chain([text]).collect();
        let mut analyser = self.analyser.lock().unwrap_or_else(PoisonError::into_inner);
        // The first query is the whole text, of which every memory has a few words.
        let asked = queries.iter().enumerate().filter(|(at, _)| *at > 0 || ranked.asked == 0);
        asked.map(|(_, weights)| cite::matched_weight(texts.iter().copied(), weights, &mut analyser)).fold(0.0, f32::max)
    }

    /// Reads the files of the next candidates, at most `count` that are not known. A file that is gone is `None`.
    fn read_files<'r>(
        &self,
        next: &'r [RankedCandidate],
        count: usize,
        files: &mut HashMap<(usize, &'r str), Option<HitFile>>,
    ) -> Result<()> {
        let mut wanted: Vec<(&RankedCandidate, (usize, &'r str))> = Vec::new();
        for ranked in next {
            let key = (ranked.mount, shown_name(ranked));
            if wanted.len() == count {
                break;
            }
            if !files.contains_key(&key) && wanted.iter().all(|(_, other)| *other != key) {
                wanted.push((ranked, key));
            }
        }
        let path =
            |(_, (mount, name)): &(&RankedCandidate, (usize, &str))| Ok(MemoryPath::parse(name)?.prefixed(&self.mounts[*mount].prefix));
        let paths = wanted.iter().map(path).collect::<Result<Vec<MemoryPath>>>()?;
        let stored = self.store.get_many(&paths)?;
        for (((ranked, key), path), stored) in wanted.into_iter().zip(paths).zip(stored) {
            files.insert(key, stored.map(|stored| hit_file(ranked, path, stored)));
        }
        Ok(())
    }
    /// The name of the memory that matched, for a hit that is shown in its place.
    fn replaced_name(&self, ranked: &RankedCandidate) -> Option<String> {
        let path = MemoryPath::parse(&ranked.candidate.path).ok()?.prefixed(&self.mounts[ranked.mount].prefix);
        Some(path.name().to_owned())
    }

    fn hit(&self, file: &HitFile, decoded: &str, (first, last): (u64, u64), ranked: &RankedCandidate, weights: &TermWeights<'_>) -> Hit {
        let mut analyser = self.analyser.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = cite::best_lines(decoded, first, last, weights, &mut analyser);
        drop(analyser);
        // A hit may begin with headings, which are above the rest of it.
        let last_shown = lines.last.unwrap_or(lines.first);
        let own = last_shown.min(lines.first + chunk::head_lines(lines.slice(decoded)) as u64);
        let chat = self.chats.filter(|_| ranked.source == Source::Chat).and_then(|locate| locate(decoded, last));
        let at = chat.as_ref().and_then(|chat| chat.at).unwrap_or_else(|| file.memory.last_confirmed(file.stored.stamp.modified()));
        Hit {
            path: file.path.clone(),
            chat,
            text: file.shown_lines(decoded, lines).into_owned(),
            masked: file.redacted.is_some() && file.shown_lines(decoded, lines) != lines.slice(decoded),
            score: ranked.score,
            source: ranked.source,
            age: time::age(self.clock.now(), at),
            headings: cite::headings(file.redacted.as_deref().unwrap_or(decoded), file.memory.body_first_line(), own),
            kind: if ranked.status.successor.is_some() { file.memory.kind() } else { ranked.candidate.kind },
            outdated: ranked.status.outdated,
            replaces: ranked.status.successor.as_ref().and_then(|_| self.replaced_name(ranked)),
            explain: None,
            lines: format!("{}-{last_shown}", lines.first),
        }
    }
}

/// The file of a candidate that is shown: its successor's, if it has one.
fn shown_name(ranked: &RankedCandidate) -> &str {
    ranked.status.successor.as_deref().unwrap_or(&ranked.candidate.path)
}

fn hit_file(ranked: &RankedCandidate, path: MemoryPath, stored: Stored) -> HitFile {
    let (decoded, _) = text::decode(&stored.bytes);
    let (memory, _) = Memory::parse(frontmatter(&decoded));
    // Chats are kept without secrets, and may be too long to be scanned for each answer. A secret may be longer than the lines
    // of a hit, so the whole text is scanned.
    let redacted = match ranked.source {
        Source::Chat => None,
        _ => match secrets::redact(&decoded) {
            Cow::Borrowed(_) => None,
            Cow::Owned(redacted) => Some(redacted),
        },
    };
    HitFile { path, stored, memory, redacted }
}

/// The lines of the text after the frontmatter; all lines if there is none.
fn whole_body(file: &HitFile, decoded: &str) -> (u64, u64) {
    let last = text::lines(decoded).max(1);
    // Only the frontmatter was parsed, so the blank lines after it are skipped here.
    let head = file.memory.frontmatter_lines();
    let blank = decoded.lines().skip(head as usize).take_while(|line| line.trim().is_empty()).count() as u64;
    let first = head + blank + 1;
    (if first > last { 1 } else { first }, last)
}

/// Whether two hits are the same turn in two conversations.
fn is_same_turn(one: &Hit, other: &Hit) -> bool {
    fn speaker_of(hit: &Hit) -> Option<(&str, Speaker)> {
        hit.chat.as_ref().map(|chat| (chat.host.as_str(), chat.speaker))
    }
    // The title and the heading with the time differ between conversations.
    fn content(hit: &Hit) -> impl Iterator<Item = &str> {
        hit.text.lines().map(str::trim).filter(|line| !line.is_empty() && lines::heading(line).is_none())
    }
    one.source == Source::Chat && one.path != other.path && speaker_of(one) == speaker_of(other) && content(one).eq(content(other))
}

/// The lines of a candidate in the file as it is now. If the file has changed since it was ranked but the unit has not, the unit
/// may have moved; if the unit has changed, the result is `None`, or at the `last` attempt the unit that is there now.
fn locate(candidate: &UnitCandidate, stored: &Stored, decoded: &str, last: bool) -> Option<(u64, u64)> {
    if stored.version == candidate.version {
        return Some((candidate.first.into(), candidate.last.into()));
    }
    let units = indexing::unit_texts(decoded);
    let same = units.iter().filter(|unit| unit.key == candidate.key);
    let grown = units.iter().filter(|unit| last && unit.first <= candidate.last && unit.last >= candidate.first);
    let found = same.min_by_key(|unit| unit.first.abs_diff(candidate.first)).or_else(|| grown.max_by_key(|unit| unit.last - unit.first));
    found.map(|unit| (unit.first.into(), unit.last.into()))
}

/// The start of a memory up to the end of its frontmatter, which is all that its age needs.
fn frontmatter(text: &str) -> &str {
    let end =
        if text.starts_with("---") { text.match_indices("\n---").next().map_or(text.len(), |(at, _)| text.len().min(at + 5)) } else { 0 };
    text.get(..end).unwrap_or(text)
}
