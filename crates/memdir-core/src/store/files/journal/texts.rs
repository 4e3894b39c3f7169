//! The texts in the journal: how a record stores them, and how a version is rebuilt. A record holds the difference in both
//! directions, so that a version is found from an older full text or, past a damaged record, from a newer one.

use super::{FileDraft, FileRecord, Journal, PlacedRecord, log::JournalFile, not_open, record::BackDifference};
use crate::base::{
    error::{Error, Result},
    path::strip_md,
    version::Version,
};

/// Changes of one memory recorded as differences before a complete text is recorded again: bounds the cost of reading the history.
const JOURNAL_CHAIN: u32 = 512;

/// Encodes what a change does to one file. `base` is the offset of the file's previous record and the number of records from there
/// back to a full text.
pub(super) fn file_record(draft: &FileDraft<'_>, base: Option<(u64, u32)>, payload: &mut Vec<u8>) -> FileRecord {
    let (old, new) = (draft.before.map_or(&[][..], |(bytes, _)| bytes), draft.after.unwrap_or_default());
    let shared = if draft.before.is_some() && draft.after.is_some() { common(old, new) } else { (0, 0) };
    // A difference that shares little with the old text is not worth a longer chain.
    let is_close = shared.0 + shared.1 > 0 && shared.0 + shared.1 >= new.len() / 2;
    let (pre, suf) = match base {
        Some((_, depth)) if depth < JOURNAL_CHAIN && is_close => shared,
        _ => (0, 0),
    };
    let middle = &new[pre..new.len() - suf];
    payload.extend_from_slice(middle);
    let whole = pre + suf == 0;
    let back = draft.before.map(|(old, _)| {
        let removed = &old[shared.0..old.len() - shared.1];
        payload.extend_from_slice(removed);
        BackDifference { pre: shared.0 as u64, suf: shared.1 as u64, n: removed.len() as u64 }
    });
    FileRecord {
        p: draft.path.to_owned(),
        role: draft.role,
        before: draft.before.map(|(bytes, _)| Version::from_content(bytes)),
        after: draft.after.map(Version::from_content),
        pre: pre as u64,
        suf: suf as u64,
        n: middle.len() as u64,
        prev: base.map(|(offset, _)| offset),
        depth: if whole { 0 } else { base.map_or(0, |(_, depth)| depth + 1) },
        back,
        forgotten: false,
    }
}

/// Returns the lengths of the common prefix and suffix of two texts, without overlap.
fn common(old: &[u8], new: &[u8]) -> (usize, usize) {
    let pre = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - pre;
    let suf = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    (pre, suf)
}

/// A text with its version.
#[derive(Debug, Clone)]
pub(super) struct KnownText {
    pub(super) version: Version,
    pub(super) bytes: Vec<u8>,
}

impl KnownText {
    pub(super) fn new(bytes: Vec<u8>) -> KnownText {
        KnownText { version: Version::from_content(&bytes), bytes }
    }
}

/// Returns the text of a file after a record, if it is in the record or follows from the text before it.
pub(super) fn text_after(log: &JournalFile, placed: &PlacedRecord, n: usize, before: Option<&KnownText>) -> Result<Option<KnownText>> {
    let file = &placed.record.files[n];
    let Some(after) = file.after else { return Ok(None) };
    let base: &[u8] = match before {
        _ if file.depth == 0 => &[],
        Some(known) if Some(known.version) == file.before => &known.bytes,
        _ => return Ok(None),
    };
    let (new, _) = log.payload(placed, n)?;
    Ok(joined(base, file.pre, &new, file.suf).map(KnownText::new).filter(|known| known.version == after))
}

/// Returns the text of a file before a record, if it follows from the text after it.
pub(super) fn text_before(log: &JournalFile, placed: &PlacedRecord, n: usize, after: Option<&KnownText>) -> Result<Option<KnownText>> {
    let file = &placed.record.files[n];
    let (Some(back), Some(before)) = (file.back, file.before) else { return Ok(None) };
    let base: &[u8] = match after {
        Some(known) if Some(known.version) == file.after => &known.bytes,
        _ if back.pre + back.suf == 0 => &[],
        _ => return Ok(None),
    };
    let (_, old) = log.payload(placed, n)?;
    Ok(joined(base, back.pre, &old, back.suf).map(KnownText::new).filter(|known| known.version == before))
}

fn joined(base: &[u8], pre: u64, middle: &[u8], suf: u64) -> Option<Vec<u8>> {
    let start = base.get(..pre as usize)?;
    let end = base.get(base.len().checked_sub(suf as usize)?..)?;
    Some([start, middle, end].concat())
}

impl Journal {
    /// Returns the content of a file at a version. `now` returns its current content, from which the records lead back.
    pub(crate) fn text(&self, path: &str, version: Version, now: &dyn Fn() -> Option<Vec<u8>>) -> Result<Option<Vec<u8>>> {
        let Some(opened) = &self.opened else { return Ok(None) };
        let mut chain: Vec<(PlacedRecord, usize)> = Vec::new();
        let (mut is_before, mut is_forgotten) = (false, false);
        self.for_each_of_file(path, |placed, n| {
            let file = &placed.record.files[n];
            is_before |= file.before == Some(version);
            is_forgotten |= file.forgotten && file.after == Some(version);
            if chain.is_empty() && file.after != Some(version) {
                return true;
            }
            chain.push((placed.clone(), n));
            file.depth > 0
        })?;
        if is_forgotten {
            return Err(Error::forgotten_version(version, path));
        }
        if chain.is_empty() && !is_before {
            return Ok(None);
        }
        let mut text: Option<KnownText> = None;
        for (placed, n) in chain.iter().rev() {
            text = text_after(&opened.log, placed, *n, text.as_ref())?;
        }
        let found = match text.filter(|known| known.version == version) {
            Some(known) => Some(known),
            None => self.text_around_damage(path, version, now())?,
        };
        match found {
            Some(known) => Ok(Some(known.bytes)),
            // The record that wrote the version is gone, as after a compaction.
            None if chain.is_empty() => Ok(None),
            None => Err(Error::Corrupt {
                what: opened.log.path.display().to_string(),
                why: format!("version {} of {} depends on a damaged record", version.short(), strip_md(path)),
                names_step: false,
            }),
        }
    }

    /// Searches all records of a file for a version, from the oldest on and then from the newest back.
    fn text_around_damage(&self, path: &str, version: Version, now: Option<Vec<u8>>) -> Result<Option<KnownText>> {
        let opened = self.opened.as_ref().ok_or_else(not_open)?;
        let mut all: Vec<(PlacedRecord, usize)> = Vec::new();
        self.for_each_of_file(path, |placed, n| {
            all.push((placed.clone(), n));
            true
        })?;
        let is_wanted = |known: &Option<KnownText>| known.as_ref().is_some_and(|known| known.version == version);
        let mut text: Option<KnownText> = None;
        for (placed, n) in all.iter().rev() {
            text = text_after(&opened.log, placed, *n, text.as_ref())?;
            if is_wanted(&text) {
                return Ok(text);
            }
        }
        let mut text = now.map(KnownText::new);
        for (placed, n) in &all {
            let file = &placed.record.files[*n];
            if text.as_ref().map(|known| known.version) != file.after {
                text = text_after(&opened.log, placed, *n, None)?;
            }
            if !is_wanted(&text) {
                text = text_before(&opened.log, placed, *n, text.as_ref())?;
            }
            if is_wanted(&text) {
                return Ok(text);
            }
        }
        Ok(None)
    }

    /// Returns the text that an unfinished change gives a file, from its current content.
    pub(crate) fn text_to_make(&self, placed: &PlacedRecord, n: usize, now: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let opened = self.opened.as_ref().ok_or_else(not_open)?;
        let now = now.map(|bytes| KnownText::new(bytes.to_vec()));
        Ok(text_after(&opened.log, placed, n, now.as_ref())?.map(|known| known.bytes))
    }

    /// Returns the text a file had before an unfinished change, from its current content or from older records.
    pub(crate) fn text_to_restore(&self, placed: &PlacedRecord, n: usize, now: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let opened = self.opened.as_ref().ok_or_else(not_open)?;
        let file = &placed.record.files[n];
        let known = now.map(|bytes| KnownText::new(bytes.to_vec()));
        match (text_before(&opened.log, placed, n, known.as_ref())?, file.before) {
            (Some(known), _) => Ok(Some(known.bytes)),
            (None, Some(before)) => self.text(&file.p, before, &|| now.map(<[u8]>::to_vec)),
            (None, None) => Ok(None),
        }
    }
}
