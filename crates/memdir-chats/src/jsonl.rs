//! Reads JSON lines as a stream: one buffer whatever the size of the file, torn last lines left for later, lines of
//! any length decoded while they pass by. Knows nothing of what a record means.

use super::{About, Cursor, Event, Flow, Print, SessionFile, Sink, Taken, json::mended};
use memchr::memchr;
use memdir_core::base::{
    error::{Error, Problem, Result},
    limits,
};
use serde::Deserialize;
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

/// The first size of the buffer; it grows to a line's length, up to [`limits::CHAT_LINE_BYTES`].
const BUFFER: usize = 256 << 10;

/// Bytes after which a reader asks whether to go on, although nothing was said in them: a few milliseconds.
const ASK_BYTES: usize = 1 << 20;

/// A line as it is given to a decoder: held whole, or passing by.
pub enum Raw<'a> {
    /// The whole line.
    Held(&'a [u8]),
    /// A line too long to hold.
    Passing(&'a mut dyn Read),
}

impl<'a> Raw<'a> {
    /// Decodes the line, borrowing from it where it is held.
    pub fn decode<T: Deserialize<'a>>(self) -> serde_json::Result<T> {
        match self {
            Raw::Held(bytes) => serde_json::from_slice(bytes),
            Raw::Passing(reader) => {
                let mut decoder = serde_json::Deserializer::from_reader(reader);
                let value = T::deserialize(&mut decoder)?;
                decoder.end()?;
                Ok(value)
            }
        }
    }
}

/// What became of a line.
pub enum Step {
    /// Taken, or of no interest.
    Next,
    /// Taken, and the sink wants no more.
    Stop,
    /// Not a record.
    Bad(serde_json::Error),
    /// The whole transcript has to be told again from its beginning.
    Again,
}

/// Where reading begins: at the cursor, or with [`Event::Restart`] at the beginning of a transcript that is another one.
/// For readers that remember something from line to line.
pub(crate) fn begin(session: &SessionFile, from: &Cursor, sink: &mut Sink<'_>) -> Result<Cursor> {
    let (_, same) = open_at(&session.path, from).map_err(|source| Error::io("read", &session.path, source))?;
    if same {
        return Ok(from.clone());
    }
    sink(Event::Restart)?;
    Ok(Cursor::default())
}

/// Tells every line after a cursor to `record`, but those `wanted` refuses by their first bytes (the whole line where
/// it is held). Emits [`Event::Restart`] when the transcript is not the one the cursor was made from.
pub(crate) fn each(
    session: &SessionFile,
    from: &Cursor,
    sink: &mut Sink<'_>,
    wanted: fn(&[u8]) -> bool,
    record: &mut dyn FnMut(Raw<'_>, u64, &mut Sink<'_>) -> Result<Step>,
) -> Result<Taken> {
    lines_of(session, from, sink, wanted, record, true)
}

/// The same for a reader that must go on to the end: the sink is asked nothing between records.
pub(crate) fn each_to_the_end(
    session: &SessionFile,
    sink: &mut Sink<'_>,
    wanted: fn(&[u8]) -> bool,
    record: &mut dyn FnMut(Raw<'_>, u64, &mut Sink<'_>) -> Result<Step>,
) -> Result<Taken> {
    lines_of(session, &Cursor::default(), sink, wanted, record, false)
}

fn lines_of(
    session: &SessionFile,
    from: &Cursor,
    sink: &mut Sink<'_>,
    wanted: fn(&[u8]) -> bool,
    record: &mut dyn FnMut(Raw<'_>, u64, &mut Sink<'_>) -> Result<Step>,
    asks: bool,
) -> Result<Taken> {
    let failed = |source| Error::io("read", &session.path, source);
    let (mut lines, same) = open_at(&session.path, from).map_err(failed)?;
    if !same {
        sink(Event::Restart)?;
    }
    let mut taken = Taken::default();
    let mut unasked = 0;
    while let Some(number) = lines.advance().map_err(failed)? {
        if number == 1 {
            lines.skip_mark();
        }
        let bytes = lines.line();
        unasked += bytes.len();
        if asks && unasked > ASK_BYTES {
            unasked = 0;
            // Nothing was learned: this only asks whether to go on.
            if sink(Event::About(About::default()))? == Flow::Stop {
                lines.leave();
                taken.stopped = true;
                break;
            }
        }
        let bytes = lines.line();
        if bytes.iter().all(u8::is_ascii_whitespace) && !lines.is_long() {
            continue;
        }
        if !wanted(bytes) {
            if !lines.finish().map_err(failed)? {
                lines.leave();
                taken.torn = true;
                break;
            }
            continue;
        }
        let is_object = lines.line().iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let step = match lines.is_long() {
            _ if !is_object => Step::Bad(serde::de::Error::custom("not an object")),
            false => match record(Raw::Held(lines.line()), number, sink)? {
                Step::Bad(error) => match mended(lines.line()) {
                    Some(line) => record(Raw::Held(&line), number, sink)?,
                    None => Step::Bad(error),
                },
                step => step,
            },
            true => record(Raw::Passing(&mut lines), number, sink)?,
        };
        match step {
            Step::Next => {}
            Step::Stop => {
                lines.finish().map_err(failed)?;
                taken.stopped = true;
                break;
            }
            Step::Again => {
                sink(Event::Restart)?;
                return lines_of(session, &Cursor::default(), sink, wanted, record, asks);
            }
            Step::Bad(_) if !lines.finish().map_err(failed)? => {
                lines.leave();
                taken.torn = true;
                break;
            }
            Step::Bad(error) => taken.problem(Problem::at(number, what_is_wrong(&error))),
        }
    }
    taken.cursor = lines.cursor();
    Ok(taken)
}

/// The problem in words, without a byte of the line: it may hold anything.
fn what_is_wrong(error: &serde_json::Error) -> String {
    match error.classify() {
        serde_json::error::Category::Data => "this line is not a JSON object".into(),
        _ => format!("this line is not valid JSON (column {})", error.column()),
    }
}

/// Opens a transcript at a cursor; `false` when it is not the one the cursor was made from, and reading starts over.
fn open_at(path: &Path, from: &Cursor) -> io::Result<(Lines<Box<dyn Read>>, bool)> {
    let head = read_head(path)?;
    if from.at == 0 {
        return Ok((Lines::new(open(path)?, head), true));
    }
    let head_fits = from.head.as_ref().is_some_and(|print| head.get(..print.bytes as usize).is_some_and(|b| Print::of(b) == *print));
    if let (true, Some(tail)) = (head_fits, &from.tail)
        && let Some(reader) = open_from(path, from.at - u64::from(tail.bytes).min(from.at))?
    {
        let mut lines = Lines::new(reader, head);
        if lines.resume(from, tail)? {
            return Ok((lines, true));
        }
        return Ok((Lines::new(open(path)?, std::mem::take(&mut lines.head)), false));
    }
    Ok((Lines::new(open(path)?, head), false))
}

fn read_head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(limits::CHAT_HEAD_BYTES);
    open(path)?.take(limits::CHAT_HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// A transcript's text from its beginning, decompressed where its name says it is compressed.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let file = File::open(path)?;
    if is_compressed(path) { Ok(Box::new(zstd::Decoder::new(file)?)) } else { Ok(Box::new(file)) }
}

/// A transcript's text from an offset, or nothing if it ends before that.
fn open_from(path: &Path, offset: u64) -> io::Result<Option<Box<dyn Read>>> {
    if is_compressed(path) {
        let mut reader = open(path)?;
        let skipped = io::copy(&mut (&mut reader).take(offset), &mut io::sink())?;
        return Ok((skipped == offset).then_some(reader));
    }
    let mut file = File::open(path)?;
    if file.metadata()?.len() < offset {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(offset))?;
    Ok(Some(Box::new(file)))
}

/// The lines of a reader, one at a time, in one buffer.
pub struct Lines<R> {
    reader: R,
    head: Vec<u8>,
    buf: Vec<u8>,
    /// Where the current line begins in `buf`; a few bytes before it stay for the cursor's tail.
    start: usize,
    end: usize,
    /// Bytes of the current line that are held, once it is known; a long line has none.
    held: Option<usize>,
    /// Whether the current line has its line end; of a long line known only when it has passed.
    ended: Option<bool>,
    /// Offset and count of line ends at the beginning of the current line.
    at: u64,
    lines: u64,
    /// Bytes of a long line that have passed.
    passed: u64,
    /// The bytes before a long line, which pushes them out of the buffer.
    before_long: Vec<u8>,
    eof: bool,
}

impl<R: Read> Lines<R> {
    /// The lines of `reader`, whose first bytes are `head`.
    pub fn new(reader: R, head: Vec<u8>) -> Self {
        Lines {
            reader,
            head,
            buf: Vec::new(),
            start: 0,
            end: 0,
            held: None,
            ended: None,
            at: 0,
            lines: 0,
            passed: 0,
            before_long: Vec::new(),
            eof: false,
        }
    }

    /// Takes up a reader that stands before the cursor's tail; `false` if the tail is another one.
    fn resume(&mut self, from: &Cursor, tail: &Print) -> io::Result<bool> {
        let bytes = tail.bytes as usize;
        while self.end < bytes && !self.eof {
            self.fill()?;
        }
        if self.end < bytes || Print::of(&self.buf[..bytes]) != *tail {
            return Ok(false);
        }
        self.start = bytes;
        (self.at, self.lines) = (from.at, from.lines);
        Ok(true)
    }

    /// Goes to the next line and gives its number, 1-based; nothing at the end.
    pub fn advance(&mut self) -> io::Result<Option<u64>> {
        if self.held.is_some() || self.ended.is_some() || self.is_long() {
            self.finish()?;
            self.pass();
        }
        let mut scanned = 0;
        loop {
            if let Some(found) = memchr(b'\n', &self.buf[self.start + scanned..self.end]) {
                (self.held, self.ended) = (Some(scanned + found), Some(true));
                break;
            }
            scanned = self.end - self.start;
            if self.eof {
                if scanned == 0 {
                    return Ok(None);
                }
                (self.held, self.ended) = (Some(scanned), Some(false));
                break;
            }
            if scanned >= limits::CHAT_LINE_BYTES {
                self.before_long = self.history().to_vec();
                self.passed = 1;
                break;
            }
            self.fill()?;
        }
        Ok(Some(self.lines + 1))
    }

    /// The current line without its end; of a long one that was not read yet, its beginning.
    pub fn line(&self) -> &[u8] {
        &self.buf[self.start..self.held.map_or(self.end, |held| self.start + held)]
    }

    /// Puts a byte order mark before the first line behind.
    fn skip_mark(&mut self) {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        if self.at == 0 && self.line().starts_with(MARK) {
            self.start += MARK.len();
            self.at += MARK.len() as u64;
            self.held = self.held.map(|held| held - MARK.len());
        }
    }

    /// Whether the current line is too long to be held.
    pub fn is_long(&self) -> bool {
        self.passed > 0
    }

    /// Lets the rest of the current line pass; says whether it had a line end.
    pub fn finish(&mut self) -> io::Result<bool> {
        if self.ended.is_none() {
            io::copy(self, &mut io::sink())?;
        }
        Ok(self.ended == Some(true))
    }

    /// Leaves the current line unread: the cursor stays before it.
    fn leave(&mut self) {
        if self.is_long() {
            self.start = 0;
            self.end = self.before_long.len();
            self.buf.truncate(0);
            self.buf.extend_from_slice(&self.before_long);
            self.start = self.end;
        }
        (self.held, self.ended, self.passed) = (None, None, 0);
    }

    /// Where the next reading goes on: behind the current line.
    pub fn cursor(&mut self) -> Cursor {
        if self.ended.is_some() {
            self.pass();
        }
        let head = self.head.len().min(usize::try_from(self.at).unwrap_or(usize::MAX));
        Cursor {
            at: self.at,
            lines: self.lines,
            head: (self.at > 0).then(|| Print::of(&self.head[..head])),
            tail: (self.at > 0).then(|| Print::of(self.history())),
            newest: None,
            latest: Vec::new(),
        }
    }

    /// Puts the current line behind.
    fn pass(&mut self) {
        let end = usize::from(self.ended == Some(true));
        match self.held {
            Some(held) => {
                self.start += held + end;
                self.at += (held + end) as u64;
            }
            // The line end of a long line was consumed with it; `passed` counts one for being long.
            None => self.at += self.passed - 1 + end as u64,
        }
        self.lines += end as u64;
        (self.held, self.ended, self.passed) = (None, None, 0);
    }

    /// The bytes before the current line that are still there.
    fn history(&self) -> &[u8] {
        &self.buf[self.start.saturating_sub(limits::CHAT_TAIL_BYTES)..self.start]
    }

    /// Reads more behind what is held, making room first.
    fn fill(&mut self) -> io::Result<()> {
        let keep_from = self.start.saturating_sub(limits::CHAT_TAIL_BYTES);
        if self.end == self.buf.len() && keep_from > 0 {
            self.buf.copy_within(keep_from..self.end, 0);
            self.start -= keep_from;
            self.end -= keep_from;
        }
        if self.end == self.buf.len() {
            let wanted = (self.buf.len() * 2).clamp(BUFFER, limits::CHAT_LINE_BYTES + BUFFER);
            self.buf.resize(wanted.max(self.end + 4096), 0);
        }
        let read = loop {
            match self.reader.read(&mut self.buf[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.end += read;
        self.eof = read == 0;
        Ok(())
    }
}

/// Reads the current long line, up to its end.
impl<R: Read> Read for Lines<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.ended.is_some() || out.is_empty() {
            return Ok(0);
        }
        while self.start == self.end && !self.eof {
            self.fill()?;
        }
        let held = &self.buf[self.start..self.end];
        let mut count = held.len().min(out.len());
        if let Some(found) = memchr(b'\n', &held[..count]) {
            count = found;
        }
        out[..count].copy_from_slice(&held[..count]);
        self.start += count;
        self.passed += count as u64;
        if count == 0 {
            let ended = self.start < self.end;
            self.start += usize::from(ended);
            self.ended = Some(ended);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a few bytes at a time, as a pipe may.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(self.1).min(out.len());
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn all(text: &[u8], step: usize) -> Vec<(u64, Vec<u8>, bool)> {
        let mut lines = Lines::new(Trickle(text, step), Vec::new());
        let mut out = Vec::new();
        while let Some(number) = lines.advance().unwrap() {
            let bytes = if lines.is_long() {
                let mut bytes = Vec::new();
                lines.read_to_end(&mut bytes).unwrap();
                bytes
            } else {
                lines.line().to_vec()
            };
            out.push((number, bytes, lines.finish().unwrap()));
        }
        assert_eq!(lines.cursor().at, text.len() as u64);
        out
    }

    #[test]
    fn lines_are_whole_whatever_the_reads() {
        for step in [1, 2, 3, 7, 1000] {
            let found = all(b"one\n\nthree\nlast", step);
            let expected: Vec<(u64, Vec<u8>, bool)> =
                vec![(1, b"one".to_vec(), true), (2, Vec::new(), true), (3, b"three".to_vec(), true), (4, b"last".to_vec(), false)];
            assert_eq!(found, expected, "in steps of {step}");
        }
    }

    #[test]
    fn a_line_longer_than_the_buffer_passes_by() {
        let long = vec![b'x'; limits::CHAT_LINE_BYTES * 2 + 17];
        let mut text = b"first\n".to_vec();
        text.extend_from_slice(&long);
        text.extend_from_slice(b"\nlast\n");
        let found = all(&text, 1 << 20);
        assert_eq!(
            found.iter().map(|(n, bytes, end)| (*n, bytes.len(), *end)).collect::<Vec<_>>(),
            [(1, 5, true), (2, long.len(), true), (3, 4, true)]
        );
        let mut lines = Lines::new(Trickle(&text, 1 << 20), Vec::new());
        while lines.advance().unwrap().is_some() {}
        assert!(lines.buf.len() <= limits::CHAT_LINE_BYTES + 2 * BUFFER, "the buffer holds {} bytes", lines.buf.len());
    }
}
