//! Reads JSON Lines in one buffer independent of the file's size, with incomplete last lines left for later and long strings of long
//! lines cut. Does not interpret the records.

use crate::{
    json::repair,
    short_strings::ShortStrings,
    source::SessionFile,
    transcript::{ChatEvent, EventSink, Fingerprint, Flow, ReadOutcome, SessionInfo, TranscriptCursor},
};
use memchr::memchr;
use memdir_core::{
    Error, Problem, Result,
    internal::base::{limits, text::human_bytes},
};
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

/// Bytes at the beginning of a transcript that identify it.
const CHAT_HEAD_BYTES: usize = 1024;
/// Bytes before a cursor that identify the transcript.
const CHAT_TAIL_BYTES: usize = 256;

/// The initial size of the buffer; it grows to a line's length, up to [`limits::CHAT_LINE_BYTES`].
const BUFFER: usize = 256 << 10;

/// The number of bytes without a turn after which the sink is asked whether to continue: a few milliseconds of reading.
const ASK_BYTES: usize = 1 << 20;

/// What happened to a line.
pub(crate) enum LineOutcome {
    /// It was processed, or skipped.
    Next,
    /// It was processed, and the sink stopped the reading.
    Stop,
    /// It is not a record.
    Bad(serde_json::Error),
    /// The transcript has to be read again from its beginning.
    Restart,
}

/// Returns where reading starts: the cursor, or the beginning, after [`ChatEvent::Restart`], if the transcript is not the one the
/// cursor was taken from. For parsers that carry state between lines.
pub(crate) fn begin(session: &SessionFile, from: &TranscriptCursor, sink: &mut EventSink<'_>) -> Result<TranscriptCursor> {
    let (_, same) = open_at(&session.path, from).map_err(|source| Error::io("read", &session.path, source))?;
    if same {
        return Ok(from.clone());
    }
    sink(ChatEvent::Restart)?;
    Ok(TranscriptCursor::default())
}

/// Passes every line after a cursor to `record`, except those that `is_wanted` rejects by their first bytes (by the whole line if
/// it is buffered). Emits [`ChatEvent::Restart`] if the transcript is not the one the cursor was taken from.
pub(crate) fn each(
    session: &SessionFile,
    from: &TranscriptCursor,
    sink: &mut EventSink<'_>,
    is_wanted: fn(&[u8]) -> bool,
    record: &mut dyn FnMut(&[u8], u64, &mut EventSink<'_>) -> Result<LineOutcome>,
) -> Result<ReadOutcome> {
    read_lines(session, from, sink, is_wanted, record, true)
}

/// Passes every line to `record`, for sources that cannot stop before the end: the sink is not asked between records.
pub(crate) fn each_to_the_end(
    session: &SessionFile,
    sink: &mut EventSink<'_>,
    is_wanted: fn(&[u8]) -> bool,
    record: &mut dyn FnMut(&[u8], u64, &mut EventSink<'_>) -> Result<LineOutcome>,
) -> Result<ReadOutcome> {
    read_lines(session, &TranscriptCursor::default(), sink, is_wanted, record, false)
}

fn read_lines(
    session: &SessionFile,
    from: &TranscriptCursor,
    sink: &mut EventSink<'_>,
    is_wanted: fn(&[u8]) -> bool,
    record: &mut dyn FnMut(&[u8], u64, &mut EventSink<'_>) -> Result<LineOutcome>,
    may_stop: bool,
) -> Result<ReadOutcome> {
    let failed = |source| Error::io("read", &session.path, source);
    let (mut lines, same) = open_at(&session.path, from).map_err(failed)?;
    if !same {
        sink(ChatEvent::Restart)?;
    }
    let mut outcome = ReadOutcome::default();
    let mut silent_bytes = 0;
    while let Some(number) = lines.advance().map_err(failed)? {
        if number == 1 {
            lines.skip_byte_order_mark();
        }
        let bytes = lines.line();
        silent_bytes += bytes.len();
        if may_stop && silent_bytes > ASK_BYTES {
            silent_bytes = 0;
            // Empty metadata: this only asks whether to continue.
            if sink(ChatEvent::Info(SessionInfo::default()))? == Flow::Stop {
                lines.unread();
                outcome.stopped = true;
                break;
            }
        }
        let bytes = lines.line();
        if bytes.iter().all(u8::is_ascii_whitespace) && !lines.is_long() {
            continue;
        }
        if !is_wanted(bytes) {
            if !lines.finish().map_err(failed)? {
                lines.unread();
                outcome.torn = true;
                break;
            }
            continue;
        }
        let is_object = lines.line().iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let (mut is_cut, mut is_too_large) = (false, false);
        let read = match lines.is_long() {
            _ if !is_object => LineOutcome::Bad(serde::de::Error::custom("not an object")),
            false => decoded(lines.line(), number, sink, record)?,
            true => {
                let mut short = ShortStrings::new(&mut lines);
                let bytes = short.read_record();
                (is_cut, is_too_large) = (short.is_cut(), short.is_too_large());
                match bytes {
                    Ok(bytes) => decoded(&bytes, number, sink, record)?,
                    Err(error) => LineOutcome::Bad(serde_json::Error::io(error)),
                }
            }
        };
        if is_cut && !matches!(read, LineOutcome::Bad(_)) {
            let what = format!("a string in this line is larger than {} and was truncated", human_bytes(limits::CHAT_LINE_BYTES as u64));
            outcome.add_problem(Problem::at(number, what));
        }
        match read {
            LineOutcome::Next => {}
            LineOutcome::Stop => {
                lines.finish().map_err(failed)?;
                outcome.stopped = true;
                break;
            }
            LineOutcome::Restart => {
                sink(ChatEvent::Restart)?;
                return read_lines(session, &TranscriptCursor::default(), sink, is_wanted, record, may_stop);
            }
            LineOutcome::Bad(_) if !lines.finish().map_err(failed)? => {
                lines.unread();
                outcome.torn = true;
                break;
            }
            LineOutcome::Bad(_) if is_too_large => {
                let what = format!("this line is larger than {} and was skipped", human_bytes(limits::CHAT_RECORD_BYTES));
                outcome.add_problem(Problem::at(number, what));
            }
            LineOutcome::Bad(_) if !is_object => outcome.add_problem(Problem::at(number, "this line is not a JSON object")),
            LineOutcome::Bad(error) => outcome.add_problem(Problem::at(number, describe("line", &error))),
        }
    }
    outcome.cursor = lines.cursor();
    Ok(outcome)
}

/// Passes a line to `record`, and once more after a repair if it cannot be decoded.
pub(crate) fn decoded(
    line: &[u8],
    number: u64,
    sink: &mut EventSink<'_>,
    record: &mut dyn FnMut(&[u8], u64, &mut EventSink<'_>) -> Result<LineOutcome>,
) -> Result<LineOutcome> {
    match record(line, number, sink)? {
        LineOutcome::Bad(error) => match repair(line) {
            Some(line) => record(&line, number, sink),
            None => Ok(LineOutcome::Bad(error)),
        },
        read => Ok(read),
    }
}

/// Describes why a record cannot be decoded, without quoting it, because it may contain secrets.
pub(crate) fn describe(record: &str, error: &serde_json::Error) -> String {
    match error.classify() {
        serde_json::error::Category::Data => format!("this {record} does not have the expected format"),
        serde_json::error::Category::Io => format!("cannot read this {record}: {error}"),
        serde_json::error::Category::Syntax | serde_json::error::Category::Eof => {
            format!("this {record} is not valid JSON (column {})", error.column())
        }
    }
}

/// Opens a transcript at a cursor. Returns `false` if it is not the one the cursor was taken from and reading starts over.
fn open_at(path: &Path, from: &TranscriptCursor) -> io::Result<(JsonLineReader<Box<dyn Read>>, bool)> {
    let head = read_head(path)?;
    if from.at == 0 {
        return Ok((JsonLineReader::new(open(path)?, head), true));
    }
    let head_fits = from
        .head
        .as_ref()
        .is_some_and(|print| head.get(..print.bytes as usize).is_some_and(|bytes| Fingerprint::from_bytes(bytes) == *print));
    if let (true, Some(tail)) = (head_fits, &from.tail)
        && let Some(reader) = open_from(path, from.at - u64::from(tail.bytes).min(from.at))?
    {
        let mut lines = JsonLineReader::new(reader, head);
        if lines.resume(from, tail)? {
            return Ok((lines, true));
        }
        return Ok((JsonLineReader::new(open(path)?, std::mem::take(&mut lines.head)), false));
    }
    Ok((JsonLineReader::new(open(path)?, head), false))
}

fn read_head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(CHAT_HEAD_BYTES);
    open(path)?.take(CHAT_HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// The first bytes of a Zstandard frame.
pub const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Returns the content of a file, decompressed if it begins like a Zstandard frame.
pub fn decompressed(mut file: File) -> io::Result<Box<dyn Read>> {
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(4).read_to_end(&mut head)?;
    file.rewind()?;
    if head == ZSTD_MAGIC { Ok(Box::new(zstd::Decoder::new(file)?)) } else { Ok(Box::new(file)) }
}

/// Opens a transcript at its beginning, with decompression if its extension is `zst`.
fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let file = File::open(path)?;
    if is_compressed(path) { Ok(Box::new(zstd::Decoder::new(file)?)) } else { Ok(Box::new(file)) }
}

/// Opens a transcript at an offset, or returns `None` if it is shorter.
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

/// Reads lines, one at a time, in one buffer.
struct JsonLineReader<R> {
    reader: R,
    head: Vec<u8>,
    buf: Vec<u8>,
    /// The start of the current line in `buf`; a few bytes before it are retained for the cursor's tail.
    start: usize,
    end: usize,
    /// The length of the current line without its end, once it is known; `None` for a long line.
    buffered: Option<usize>,
    /// Whether the current line has a line end; known for a long line only after it was read.
    ended: Option<bool>,
    /// The offset and the number of line ends at the start of the current line.
    at: u64,
    lines: u64,
    /// One more than the number of bytes of a long line that were read; 0 for other lines.
    long_read: u64,
    /// The bytes before a long line, which would be evicted from the buffer.
    before_long: Vec<u8>,
    eof: bool,
}

impl<R: Read> JsonLineReader<R> {
    /// Creates a reader of the lines of `reader`, whose first bytes are `head`.
    fn new(reader: R, head: Vec<u8>) -> Self {
        JsonLineReader {
            reader,
            head,
            buf: Vec::new(),
            start: 0,
            end: 0,
            buffered: None,
            ended: None,
            at: 0,
            lines: 0,
            long_read: 0,
            before_long: Vec::new(),
            eof: false,
        }
    }

    /// Continues at a cursor; the reader is positioned before the cursor's tail. Returns `false` if the tail differs.
    fn resume(&mut self, from: &TranscriptCursor, tail: &Fingerprint) -> io::Result<bool> {
        let bytes = tail.bytes as usize;
        while self.end < bytes && !self.eof {
            self.fill()?;
        }
        if self.end < bytes || Fingerprint::from_bytes(&self.buf[..bytes]) != *tail {
            return Ok(false);
        }
        self.start = bytes;
        (self.at, self.lines) = (from.at, from.lines);
        Ok(true)
    }

    /// Advances to the next line and returns its 1-based number, or `None` at the end.
    fn advance(&mut self) -> io::Result<Option<u64>> {
        if self.buffered.is_some() || self.ended.is_some() || self.is_long() {
            self.finish()?;
            self.consume();
        }
        let mut scanned = 0;
        loop {
            if let Some(found) = memchr(b'\n', &self.buf[self.start + scanned..self.end]) {
                (self.buffered, self.ended) = (Some(scanned + found), Some(true));
                break;
            }
            scanned = self.end - self.start;
            if self.eof {
                if scanned == 0 {
                    return Ok(None);
                }
                (self.buffered, self.ended) = (Some(scanned), Some(false));
                break;
            }
            if scanned >= limits::CHAT_LINE_BYTES {
                self.before_long = self.history().to_vec();
                self.long_read = 1;
                break;
            }
            self.fill()?;
        }
        Ok(Some(self.lines + 1))
    }

    /// Returns the current line without its end, or the beginning of a long line that was not read yet.
    fn line(&self) -> &[u8] {
        &self.buf[self.start..self.buffered.map_or(self.end, |len| self.start + len)]
    }

    /// Skips a byte order mark before the first line.
    fn skip_byte_order_mark(&mut self) {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        if self.at == 0 && self.line().starts_with(MARK) {
            self.start += MARK.len();
            self.at += MARK.len() as u64;
            self.buffered = self.buffered.map(|len| len - MARK.len());
        }
    }

    /// Whether the current line is too long to be buffered.
    fn is_long(&self) -> bool {
        self.long_read > 0
    }

    /// Skips the rest of the current line and returns whether it had a line end.
    fn finish(&mut self) -> io::Result<bool> {
        if self.ended.is_none() {
            io::copy(self, &mut io::sink())?;
        }
        Ok(self.ended == Some(true))
    }

    /// Leaves the current line unread: the cursor stays before it.
    fn unread(&mut self) {
        if self.is_long() {
            self.start = 0;
            self.end = self.before_long.len();
            self.buf.truncate(0);
            self.buf.extend_from_slice(&self.before_long);
            self.start = self.end;
        }
        (self.buffered, self.ended, self.long_read) = (None, None, 0);
    }

    /// Returns the cursor at the end of the current line.
    fn cursor(&mut self) -> TranscriptCursor {
        if self.ended.is_some() {
            self.consume();
        }
        let head = self.head.len().min(usize::try_from(self.at).unwrap_or(usize::MAX));
        TranscriptCursor {
            at: self.at,
            lines: self.lines,
            head: (self.at > 0).then(|| Fingerprint::from_bytes(&self.head[..head])),
            tail: (self.at > 0).then(|| Fingerprint::from_bytes(self.history())),
            newest: None,
            latest: Vec::new(),
        }
    }

    /// Moves to the end of the current line.
    fn consume(&mut self) {
        let end = usize::from(self.ended == Some(true));
        match self.buffered {
            Some(len) => {
                self.start += len + end;
                self.at += (len + end) as u64;
            }
            // The line end of a long line was read with it, and `long_read` is one more than its length.
            None => self.at += self.long_read - 1 + end as u64,
        }
        self.lines += end as u64;
        (self.buffered, self.ended, self.long_read) = (None, None, 0);
    }

    /// Returns the bytes before the current line that are still buffered.
    fn history(&self) -> &[u8] {
        &self.buf[self.start.saturating_sub(CHAT_TAIL_BYTES)..self.start]
    }

    /// Reads more into the buffer, making room first.
    fn fill(&mut self) -> io::Result<()> {
        let keep_from = self.start.saturating_sub(CHAT_TAIL_BYTES);
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

/// Reads the current long line up to its end.
impl<R: Read> Read for JsonLineReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.ended.is_some() || out.is_empty() {
            return Ok(0);
        }
        while self.start == self.end && !self.eof {
            self.fill()?;
        }
        let buffered = &self.buf[self.start..self.end];
        let mut count = buffered.len().min(out.len());
        if let Some(found) = memchr(b'\n', &buffered[..count]) {
            count = found;
        }
        out[..count].copy_from_slice(&buffered[..count]);
        self.start += count;
        self.long_read += count as u64;
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
        let mut lines = JsonLineReader::new(Trickle(text, step), Vec::new());
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
    fn lines_are_whole_for_reads_of_any_size() {
        for step in [1, 2, 3, 7, 1000] {
            let found = all(b"one\n\nthree\nlast", step);
            let expected: Vec<(u64, Vec<u8>, bool)> =
                vec![(1, b"one".to_vec(), true), (2, Vec::new(), true), (3, b"three".to_vec(), true), (4, b"last".to_vec(), false)];
            assert_eq!(found, expected, "in steps of {step}");
        }
    }

    #[test]
    fn a_line_longer_than_the_buffer_is_streamed() {
        let long = vec![b'x'; limits::CHAT_LINE_BYTES * 2 + 17];
        let mut text = b"first\n".to_vec();
        text.extend_from_slice(&long);
        text.extend_from_slice(b"\nlast\n");
        let found = all(&text, 1 << 20);
        assert_eq!(
            found.iter().map(|(n, bytes, end)| (*n, bytes.len(), *end)).collect::<Vec<_>>(),
            [(1, 5, true), (2, long.len(), true), (3, 4, true)]
        );
        let mut lines = JsonLineReader::new(Trickle(&text, 1 << 20), Vec::new());
        while lines.advance().unwrap().is_some() {}
        assert!(lines.buf.len() <= limits::CHAT_LINE_BYTES + 2 * BUFFER, "the buffer holds {} bytes", lines.buf.len());
    }
}
