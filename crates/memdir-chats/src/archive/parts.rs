//! The files of one archived conversation: the newest text is in the file with its name, together with the position up to which the
//! transcript was read; earlier text is in parts that are written once. So appending replaces one file, atomically.

use super::{
    ArchiveWriteMode, ArchivedChat, ChatArchive, ChatSection, ReadProgress, SUPERSEDED, file_name, header, put, sections_with_text,
};
use crate::{
    draft::{self, TurnDraft},
    evidence::CallEvidence,
    source::Reader,
};
use memdir_core::{Error, Result, Speaker, internal::base::disk::Durability};
use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// Separates a name from the number of a part; no name contains it.
pub(super) const PART_MARK: char = '~';

/// Whether a file is a part: the beginning of a conversation whose end is in another file.
pub(super) fn is_part(path: &Path) -> bool {
    path.file_stem().and_then(|name| name.to_str()).is_some_and(|name| name.contains(PART_MARK))
}

impl ChatArchive {
    /// Returns the path of a file of a session: a part, counted from 1 at the beginning, or 0 for the file with the end.
    pub fn part_path(&self, host: &Reader, key: &str, part: u64) -> PathBuf {
        let name = file_name(key);
        self.dir.join(host.name).join(if part == 0 { format!("{name}.md") } else { format!("{name}{PART_MARK}{part}.md") })
    }

    /// Reads the header and the sections of a session from all its files.
    pub fn read(&self, host: &Reader, key: &str) -> Result<Option<(ArchivedChat, Vec<ChatSection>)>> {
        self.read_with_text(host, key, |_| true)
    }

    /// Reads the same; the sections of other speakers have no text.
    pub(crate) fn read_typed(&self, host: &Reader, key: &str) -> Result<Option<(ArchivedChat, Vec<ChatSection>)>> {
        self.read_with_text(host, key, |speaker| speaker == Speaker::User)
    }

    fn read_with_text(&self, host: &Reader, key: &str, has_text: fn(Speaker) -> bool) -> Result<Option<(ArchivedChat, Vec<ChatSection>)>> {
        let Some(end) = self.read_file(host, key, 0)? else { return Ok(None) };
        let Some((chat, _)) = header::parse(&end) else { return Ok(None) };
        let mut all = Vec::new();
        for part in 1..=chat.parts {
            let text = self.read_file(host, key, part)?.unwrap_or_default();
            all.extend(sections_with_text(&text, has_text).into_iter().map(|section| ChatSection { part, ..section }));
        }
        all.extend(sections_with_text(&end, has_text));
        Ok(Some((chat, all)))
    }

    /// Reads a session from all its files as one text.
    pub fn text(&self, host: &Reader, key: &str) -> Result<Option<String>> {
        let Some(end) = self.read_file(host, key, 0)? else { return Ok(None) };
        let Some((chat, at)) = header::parse(&end) else { return Ok(Some(end)) };
        let (head, body) = end.split_at(at as usize);
        let mut text = head.to_owned();
        for part in 1..=chat.parts {
            let part = self.read_file(host, key, part)?.unwrap_or_default();
            let at = header::parse(&part).map_or(0, |(_, at)| at as usize);
            text.push_str(&part[at..]);
        }
        text.push_str(body);
        Ok(Some(text))
    }

    fn read_file(&self, host: &Reader, key: &str, part: u64) -> Result<Option<String>> {
        let path = self.part_path(host, key, part);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::io("read", path, source)),
        }
    }

    /// Returns the total size of a session's files besides the one with its end.
    pub(super) fn parts_bytes(&self, chat: &ArchivedChat) -> u64 {
        let size = |part| fs::metadata(self.part_path(chat.host, &chat.key, part)).map_or(0, |meta| meta.len());
        (1..=chat.parts).map(size).sum::<u64>() + self.calls_bytes(chat)
    }

    /// Writes a session: the archived text if the draft is appended to it, then the draft. Completes the header with the number of
    /// turns and parts.
    pub(crate) fn write(&self, chat: &mut ArchivedChat, mode: ArchiveWriteMode, draft: &mut TurnDraft<'_>) -> Result<()> {
        let failed = |source| Error::io("write", self.path(chat.host, &chat.key), source);
        let mut body = tempfile::spooled_tempfile_in(1 << 20, &self.dir);
        let written = draft.write(chat.progress.last.clone(), chat.progress.users, &mut body).map_err(failed)?;
        let (old, archived) = match mode {
            ArchiveWriteMode::Append => (self.body(chat.host, &chat.key).map_err(failed)?, self.calls(chat)),
            ArchiveWriteMode::Replace => (None, Some(Vec::new())),
        };
        // A chat whose earlier calls are not known gets them when it is read again from its beginning.
        chat.progress.calls = match archived {
            Some(mut calls) => {
                draft.complete(&mut calls);
                calls.extend(written.calls);
                Some(self.write_calls(chat, &calls)?)
            }
            None => None,
        };
        chat.progress.last = written.last;
        chat.progress.users = written.users;
        chat.turns += written.sections.len() as u64;
        self.write_parts(chat, old, &mut body, &written.sections)
    }

    /// Writes a session with only these sections and calls.
    pub(crate) fn write_sections(&self, chat: &ArchivedChat, sections: &[ChatSection], calls: &[CallEvidence]) -> Result<()> {
        let failed = |source| Error::io("write", self.path(chat.host, &chat.key), source);
        let mut body = tempfile::spooled_tempfile_in(1 << 20, &self.dir);
        let mut starts = Vec::new();
        for section in sections {
            starts.push(body.stream_position().map_err(failed)?);
            draft::write_heading(section.speaker, section.at, &mut body).map_err(failed)?;
            write!(body, "\n{}\n", section.text).map_err(failed)?;
        }
        let mut chat = ArchivedChat { parts: 0, ..chat.clone() };
        chat.progress.users = sections.iter().filter(|section| section.speaker == Speaker::User).count() as u64;
        if chat.progress.calls.is_some() {
            chat.progress.calls = Some(self.write_calls(&chat, calls)?);
        }
        self.write_parts(&mut chat, None, &mut body, &starts)
    }

    /// Copies the archived text of a session to another name if the draft that is about to replace it is shorter and lacks some of
    /// its lines.
    pub(crate) fn preserve(&self, host: &Reader, key: &str, draft: &mut TurnDraft<'_>) -> Result<()> {
        if self.get(host, key)?.is_none_or(|chat| chat.turns <= draft.len()) {
            return Ok(());
        }
        let Some((chat, sections)) = self.read(host, key)?.filter(|(_, sections)| !sections.is_empty()) else { return Ok(()) };
        let lines = sections.iter().flat_map(|section| section.text.lines()).map(str::trim).filter(|line| !line.is_empty());
        let failed = |source| Error::io("read", self.path(host, key), source);
        if draft.has_lines(lines).map_err(failed)? {
            return Ok(());
        }
        let calls = self.evidence(&chat)?;
        let names = (1..).map(|number| format!("{key}{SUPERSEDED}{number}"));
        let Some(key) = names.into_iter().find(|name| !self.path(host, name).exists()) else { return Ok(()) };
        self.write_sections(&ArchivedChat { key, ..chat }, &sections, &calls)
    }

    /// Writes the text of a session after the text of its last file. Parts that become full are written first, the file with the
    /// read position last: after a crash in between, the next sync writes the same text again.
    fn write_parts(&self, chat: &mut ArchivedChat, old: Option<Body>, body: &mut (impl Read + Seek), starts: &[u64]) -> Result<()> {
        let (host, key) = (chat.host, chat.key.clone());
        let failed = |source| Error::io("write", self.path(host, &key), source);
        let bytes = body.seek(SeekFrom::End(0)).map_err(failed)?;
        body.rewind().map_err(failed)?;
        let (mut old, mut from) = (old, 0);
        for cut in cuts(old.as_ref().map_or(0, |old| old.bytes), bytes, starts, self.part_bytes) {
            chat.parts += 1;
            let part = ArchivedChat { progress: ReadProgress::default(), ..chat.clone() };
            self.write_part(&part, chat.parts, old.take(), &mut body.by_ref().take(cut - from))?;
            from = cut;
        }
        self.write_part(chat, 0, old, body)?;
        // Removes the parts of a longer text that was replaced, and the calls that no longer count.
        self.remove_calls(chat)?;
        self.remove_parts(host, &key, chat.parts)
    }

    fn write_part(&self, chat: &ArchivedChat, part: u64, old: Option<Body>, body: &mut impl Read) -> Result<()> {
        put(&self.part_path(chat.host, &chat.key, part), Durability::Content, &mut |out| {
            out.write_all(header::format_header(chat).as_bytes())?;
            if let Some(old) = &old {
                io::copy(&mut &old.file, out)?;
            }
            io::copy(body, out).map(drop)
        })
    }

    /// Opens the file with a session's end, positioned after its header.
    fn body(&self, host: &Reader, key: &str) -> io::Result<Option<Body>> {
        let mut file = File::open(self.path(host, key))?;
        let Some((_, at)) = header::read(&mut file)? else { return Ok(None) };
        let bytes = file.metadata()?.len().saturating_sub(at);
        file.seek(SeekFrom::Start(at))?;
        Ok(Some(Body { file, bytes }))
    }

    /// Removes a session from the archive. Returns `false` if it was not archived.
    pub(crate) fn remove(&self, host: &Reader, key: &str) -> Result<bool> {
        // The file that counts the parts is removed last.
        self.remove_all_calls(host, key)?;
        self.remove_parts(host, key, 0)?;
        remove_file(&self.path(host, key))
    }

    /// Removes the parts after the part `last_kept`, the last one first.
    fn remove_parts(&self, host: &Reader, key: &str, last_kept: u64) -> Result<()> {
        let last = (last_kept + 1..).take_while(|&part| self.part_path(host, key, part).exists()).last().unwrap_or(last_kept);
        for part in (last_kept + 1..=last).rev() {
            remove_file(&self.part_path(host, key, part))?;
        }
        Ok(())
    }
}

/// A file, positioned after its header.
struct Body {
    file: File,
    bytes: u64,
}

/// Returns where new text is split into parts: before each section that does not fit after the previous ones. `old` is the size of
/// the text before it, `bytes` the size of the new text, `starts` the offsets of its sections.
fn cuts(old: u64, bytes: u64, starts: &[u64], max_bytes: u64) -> Vec<u64> {
    let (mut cuts, mut room) = (Vec::new(), max_bytes.saturating_sub(old));
    let mut from = 0;
    let mut is_empty = old == 0;
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(bytes);
        is_empty &= start == from;
        if end - from > room && !is_empty {
            cuts.push(start);
            (from, room) = (start, max_bytes);
        }
        is_empty = false;
    }
    cuts
}

/// Removes a file. Returns `false` if it did not exist.
pub(super) fn remove_file(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(Error::io("remove", path, source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_before_sections_that_do_not_fit() {
        assert_eq!(cuts(0, 30, &[0, 10, 20], 30), [0; 0]);
        assert_eq!(cuts(0, 30, &[0, 10, 20], 20), [20]);
        assert_eq!(cuts(0, 30, &[0, 10, 20], 5), [10, 20]);
        assert_eq!(cuts(15, 30, &[0, 10, 20], 20), [0, 20]);
        assert_eq!(cuts(15, 30, &[4, 10, 20], 20), [4, 20]);
        assert_eq!(cuts(15, 5, &[], 10), [0; 0]);
    }
}
