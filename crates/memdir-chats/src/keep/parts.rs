//! The files of one kept chat: the newest text is in the file of its name, with the place it was read up to; what came
//! before is in parts that are written once. So whatever is appended goes into one file, in one step.

use super::{Before, Keep, Kept, Lasting, Progress, Section, WAS, file_name, header, put, sections};
use crate::{
    Host,
    draft::{self, Draft},
};
use memdir_core::base::error::{Error, Result};
use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// Stands between a name and the number of a part; no name has it.
const MARK: char = '~';

/// Whether this file holds the beginning of a conversation whose end is in another.
pub(super) fn is_part(path: &Path) -> bool {
    path.file_stem().and_then(|name| name.to_str()).is_some_and(|name| name.contains(MARK))
}

impl Keep {
    /// A file of a session: a part, counted from 1 at its beginning, or 0 for the one with its end.
    pub fn part_path(&self, host: Host, key: &str, part: u64) -> PathBuf {
        let name = file_name(key);
        self.dir.join(host.name()).join(if part == 0 { format!("{name}.md") } else { format!("{name}{MARK}{part}.md") })
    }

    /// The session of a name, and the part of it that was meant by `name~2`.
    pub fn find_part(&self, wanted: &str) -> Result<(Kept, Option<u64>)> {
        let part = wanted.trim_end_matches(".md").rsplit_once(MARK).and_then(|(name, part)| Some((name, part.parse().ok()?)));
        match part {
            Some((name, part)) => {
                let kept = self.find(name)?;
                if (1..=kept.parts).contains(&part) {
                    return Ok((kept, Some(part)));
                }
                Err(Error::bad_input("session", format!("{name} has {} parts besides its end, and no part {part}", kept.parts)))
            }
            None => Ok((self.find(wanted)?, None)),
        }
    }

    /// A kept chat with its sections, over all its files.
    pub fn read(&self, host: Host, key: &str) -> Result<Option<(Kept, Vec<Section>)>> {
        let Some(end) = self.file(host, key, 0)? else { return Ok(None) };
        let Some((kept, _)) = header::parse(&end) else { return Ok(None) };
        let mut all = Vec::new();
        for part in 1..=kept.parts {
            let text = self.file(host, key, part)?.unwrap_or_default();
            all.extend(sections(&text).into_iter().map(|section| Section { part, ..section }));
        }
        all.extend(sections(&end));
        Ok(Some((kept, all)))
    }

    /// A kept chat as one text, over all its files.
    pub fn text(&self, host: Host, key: &str) -> Result<Option<String>> {
        let Some(end) = self.file(host, key, 0)? else { return Ok(None) };
        let Some((kept, at)) = header::parse(&end) else { return Ok(Some(end)) };
        let (head, body) = end.split_at(at as usize);
        let mut text = head.to_owned();
        for part in 1..=kept.parts {
            let part = self.file(host, key, part)?.unwrap_or_default();
            let at = header::parse(&part).map_or(0, |(_, at)| at as usize);
            text.push_str(&part[at..]);
        }
        text.push_str(body);
        Ok(Some(text))
    }

    fn file(&self, host: Host, key: &str, part: u64) -> Result<Option<String>> {
        let path = self.part_path(host, key, part);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::io("read", path, source)),
        }
    }

    /// The size of a session's parts.
    pub(super) fn parts_bytes(&self, kept: &Kept) -> u64 {
        let size = |part| fs::metadata(self.part_path(kept.host, &kept.key, part)).map_or(0, |meta| meta.len());
        (1..=kept.parts).map(size).sum()
    }

    /// Writes a session: what was kept before (unless it starts over), then the draft. The header is complete but for
    /// what only writing tells.
    pub(crate) fn write(&self, kept: &mut Kept, before: Before, draft: &mut Draft<'_>) -> Result<()> {
        let failed = |source| Error::io("write", self.path(kept.host, &kept.key), source);
        let mut body = tempfile::spooled_tempfile_in(1 << 20, &self.dir);
        let (last, starts) = draft.write(kept.progress.last.clone(), &mut body).map_err(failed)?;
        let old = match before {
            Before::Goes => self.body(kept.host, &kept.key).map_err(failed)?,
            Before::StartsOver => None,
        };
        kept.progress.last = last;
        kept.turns += starts.len() as u64;
        self.write_parts(kept, old, &mut body, &starts)
    }

    /// Writes a session with only these sections left.
    pub(crate) fn write_sections(&self, kept: &Kept, sections: &[Section]) -> Result<()> {
        let failed = |source| Error::io("write", self.path(kept.host, &kept.key), source);
        let mut body = tempfile::spooled_tempfile_in(1 << 20, &self.dir);
        let mut starts = Vec::new();
        for section in sections {
            starts.push(body.stream_position().map_err(failed)?);
            draft::heading(section.speaker, section.at, &mut body).map_err(failed)?;
            write!(body, "\n{}\n", section.text).map_err(failed)?;
        }
        self.write_parts(&mut Kept { parts: 0, ..kept.clone() }, None, &mut body, &starts)
    }

    /// Keeps what a session said so far under another name, if the draft that is to take its place is shorter and has not
    /// all of it.
    pub(crate) fn set_aside(&self, host: Host, key: &str, draft: &mut Draft<'_>) -> Result<()> {
        if self.get(host, key)?.is_none_or(|kept| kept.turns <= draft.len()) {
            return Ok(());
        }
        let Some((kept, sections)) = self.read(host, key)?.filter(|(_, sections)| !sections.is_empty()) else { return Ok(()) };
        let lines = sections.iter().flat_map(|section| section.text.lines()).map(str::trim).filter(|line| !line.is_empty());
        let failed = |source| Error::io("read", self.path(host, key), source);
        if draft.tells_all(lines).map_err(failed)? {
            return Ok(());
        }
        let names = (1..).map(|number| format!("{key}{WAS}{number}"));
        let Some(key) = names.into_iter().find(|name| !self.path(host, name).exists()) else { return Ok(()) };
        self.write_sections(&Kept { key, ..kept }, &sections)
    }

    /// Writes the text of a session behind what its last file has, filling parts on the way: first those, which hold what
    /// is nowhere else read up to, then the file with the header. A crash in between is mended by the next writing.
    fn write_parts(&self, kept: &mut Kept, old: Option<Body>, body: &mut (impl Read + Seek), starts: &[u64]) -> Result<()> {
        let (host, key) = (kept.host, kept.key.clone());
        let failed = |source| Error::io("write", self.path(host, &key), source);
        let bytes = body.seek(SeekFrom::End(0)).map_err(failed)?;
        body.rewind().map_err(failed)?;
        let (mut old, mut from) = (old, 0);
        for cut in cuts(old.as_ref().map_or(0, |old| old.bytes), bytes, starts, self.part_bytes) {
            kept.parts += 1;
            let part = Kept { progress: Progress::default(), ..kept.clone() };
            self.write_part(&part, kept.parts, old.take(), &mut body.by_ref().take(cut - from))?;
            from = cut;
        }
        self.write_part(kept, 0, old, body)?;
        // Parts of a longer telling that is void.
        self.remove_parts(host, &key, kept.parts)
    }

    fn write_part(&self, kept: &Kept, part: u64, old: Option<Body>, body: &mut impl Read) -> Result<()> {
        put(&self.part_path(kept.host, &kept.key, part), Lasting::Yes, &mut |out| {
            out.write_all(header::text(kept).as_bytes())?;
            if let Some(old) = &old {
                io::copy(&mut &old.file, out)?;
            }
            io::copy(body, out).map(drop)
        })
    }

    /// The file with a session's end, standing behind its header.
    fn body(&self, host: Host, key: &str) -> io::Result<Option<Body>> {
        let mut file = File::open(self.path(host, key))?;
        let Some((_, at)) = header::read(&mut file)? else { return Ok(None) };
        let bytes = file.metadata()?.len().saturating_sub(at);
        file.seek(SeekFrom::Start(at))?;
        Ok(Some(Body { file, bytes }))
    }

    /// Removes what is kept of a session; `false` if there was nothing.
    pub(crate) fn remove(&self, host: Host, key: &str) -> Result<bool> {
        // The file that tells of the parts goes last.
        self.remove_parts(host, key, 0)?;
        removed(&self.path(host, key))
    }

    /// Removes the parts behind one, the last first.
    fn remove_parts(&self, host: Host, key: &str, behind: u64) -> Result<()> {
        let last = (behind + 1..).take_while(|&part| self.part_path(host, key, part).exists()).last().unwrap_or(behind);
        for part in (behind + 1..=last).rev() {
            removed(&self.part_path(host, key, part))?;
        }
        Ok(())
    }
}

/// The text of a file, behind its header.
struct Body {
    file: File,
    bytes: u64,
}

/// Where the new text is cut: before a section that has no room behind the others.
fn cuts(old: u64, bytes: u64, starts: &[u64], most: u64) -> Vec<u64> {
    let (mut cuts, mut room) = (Vec::new(), most.saturating_sub(old));
    let mut from = 0;
    let mut is_empty = old == 0;
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(bytes);
        is_empty &= start == from;
        if end - from > room && !is_empty {
            cuts.push(start);
            (from, room) = (start, most);
        }
        is_empty = false;
    }
    cuts
}

fn removed(path: &Path) -> Result<bool> {
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
    fn a_text_is_cut_before_what_has_no_room() {
        assert_eq!(cuts(0, 30, &[0, 10, 20], 30), [0; 0]);
        assert_eq!(cuts(0, 30, &[0, 10, 20], 20), [20]);
        assert_eq!(cuts(0, 30, &[0, 10, 20], 5), [10, 20]);
        assert_eq!(cuts(15, 30, &[0, 10, 20], 20), [0, 20]);
        assert_eq!(cuts(15, 30, &[4, 10, 20], 20), [4, 20]);
        assert_eq!(cuts(15, 5, &[], 10), [0; 0]);
    }
}
