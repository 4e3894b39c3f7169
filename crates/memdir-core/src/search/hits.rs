//! From ranked candidates to hits: their text, read from the files as they are now.

use super::{
    Hit, Search, Searcher,
    chats::Speaker,
    cite::{self, Weights},
    find::Found,
    fuse::Ranked,
};
use crate::{
    base::{
        error::Result,
        path::MemoryPath,
        text::{self, LineRange},
        time,
    },
    memory::Memory,
    operations::read,
    search::{index::Candidate, indexing, ranking},
    secrets,
    store::{Source, Store, Stored},
};
use std::{
    borrow::Cow,
    collections::{HashMap, hash_map},
    sync::PoisonError,
};

/// A file that holds candidates, as it is now.
struct Holder {
    path: MemoryPath,
    stored: Stored,
    memory: Memory,
    /// Its text without secrets, if it has any. The lines are the same.
    masked: Option<String>,
}

impl Holder {
    /// Lines as they are shown.
    fn shown<'t>(&self, decoded: &'t str, lines: LineRange) -> Cow<'t, str> {
        match &self.masked {
            Some(masked) => Cow::Owned(lines.of(masked).to_owned()),
            None => Cow::Borrowed(lines.of(decoded)),
        }
    }
}

impl Searcher {
    /// The first answers with their text. The second value tells whether a file is no longer what was ranked; `last` says that
    /// nobody will look again, so that what grows all the time is still cited.
    pub(super) fn hits(&self, store: &dyn Store, found: &Found, search: &Search, last: bool) -> Result<(Vec<Hit>, bool)> {
        let weights = |source| {
            let counts = found.counts(source);
            let terms = found.query.terms.iter().zip(&counts.terms);
            Weights::new(terms.map(|(term, count)| (term.as_str(), ranking::idf(counts.totals.units, count.body))))
        };
        let (curated, chats) = (weights(Source::Memory), weights(Source::Chat));
        let mut hits = Vec::with_capacity(search.max_results.min(50));
        let mut files: HashMap<(usize, &str), Option<Holder>> = HashMap::new();
        let mut stale = false;
        for ranked in found.ranked.iter().take_while(|ranked| ranked.score >= search.min_score) {
            if hits.len() == search.max_results {
                break;
            }
            let key = (ranked.mount, ranked.candidate.path.as_str());
            let holder = match files.entry(key) {
                hash_map::Entry::Occupied(known) => known.into_mut(),
                hash_map::Entry::Vacant(new) => new.insert(self.holder(store, ranked)?),
            };
            let Some(holder) = holder else {
                stale = true;
                continue;
            };
            let (decoded, _) = text::decode(&holder.stored.bytes);
            let Some((first, last)) = place(&ranked.candidate, &holder.stored, &decoded, last) else {
                stale = true;
                continue;
            };
            if found.holds_phrases(&decoded, first, last) {
                // A conversation that was forked tells its beginning again.
                let hit = self.hit(holder, &decoded, (first, last), ranked, if ranked.source == Source::Chat { &chats } else { &curated });
                if ranked.source == Source::Chat && hits.iter().any(|other: &Hit| is_the_same(other, &hit)) {
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

    fn holder(&self, store: &dyn Store, ranked: &Ranked) -> Result<Option<Holder>> {
        let path = MemoryPath::parse(&ranked.candidate.path)?.prefixed(&self.mounts[ranked.mount].prefix);
        let Some(stored) = store.get(&path)? else { return Ok(None) };
        let (decoded, _) = text::decode(&stored.bytes);
        let (memory, _) = Memory::parse(frontmatter(&decoded));
        // Chats are kept without secrets, and may be too long to be looked through for each answer. A secret may be longer than
        // the lines that answer, so the whole is looked at.
        let masked = match ranked.source {
            Source::Chat => None,
            _ => match secrets::mask(&decoded) {
                Cow::Borrowed(_) => None,
                Cow::Owned(masked) => Some(masked),
            },
        };
        Ok(Some(Holder { path, stored, memory, masked }))
    }

    fn hit(&self, holder: &Holder, decoded: &str, (first, last): (u64, u64), ranked: &Ranked, weights: &Weights<'_>) -> Hit {
        let mut analyser = self.analyser.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = cite::lines(decoded, first, last, weights, &mut analyser);
        drop(analyser);
        let chat = self.chats.filter(|_| ranked.source == Source::Chat).and_then(|locate| locate(decoded, last));
        let at = chat.as_ref().and_then(|chat| chat.at).unwrap_or_else(|| read::memory_time(&holder.memory, &holder.stored));
        Hit {
            path: holder.path.clone(),
            chat,
            text: holder.shown(decoded, lines).into_owned(),
            masked: holder.masked.is_some() && holder.shown(decoded, lines) != lines.of(decoded),
            score: ranked.score,
            source: ranked.source,
            age: time::age(self.clock.now(), at),
            headings: cite::headings(holder.masked.as_deref().unwrap_or(decoded), lines.first),
            kind: ranked.candidate.kind,
            explain: None,
            lines: format!("{}-{}", lines.first, lines.last.unwrap_or(lines.first)),
        }
    }
}

/// Whether two hits are the same turn, told in two conversations.
fn is_the_same(one: &Hit, other: &Hit) -> bool {
    fn who(hit: &Hit) -> Option<(&str, Speaker)> {
        hit.chat.as_ref().map(|chat| (chat.host.as_str(), chat.speaker))
    }
    // The title and the heading with the time are each conversation's own.
    fn said(hit: &Hit) -> impl Iterator<Item = &str> {
        hit.text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
    }
    one.source == Source::Chat && one.path != other.path && who(one) == who(other) && said(one).eq(said(other))
}

/// The lines of a candidate in the file as it is now. If the file has changed since it was ranked but the unit has not,
/// it may stand elsewhere; if the unit has changed, it has no place, or, for the `last` look, that of what stands there now.
fn place(candidate: &Candidate, stored: &Stored, decoded: &str, last: bool) -> Option<(u64, u64)> {
    if stored.version == candidate.version {
        return Some((candidate.first.into(), candidate.last.into()));
    }
    let units = indexing::unit_texts(decoded);
    let same = units.iter().filter(|unit| unit.key == candidate.key);
    let grown = units.iter().filter(|unit| last && unit.first <= candidate.last && unit.last >= candidate.first);
    let found = same.min_by_key(|unit| unit.first.abs_diff(candidate.first)).or_else(|| grown.max_by_key(|unit| unit.last - unit.first));
    found.map(|unit| (unit.first.into(), unit.last.into()))
}

/// The beginning of a memory up to the end of its frontmatter: all that is needed for its age.
fn frontmatter(text: &str) -> &str {
    let end =
        if text.starts_with("---") { text.match_indices("\n---").next().map_or(text.len(), |(at, _)| text.len().min(at + 5)) } else { 0 };
    text.get(..end).unwrap_or(text)
}
