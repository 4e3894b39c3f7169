//! Reads the lines of a byte stream, up to a maximum length. Independent of their content.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// The next line of a stream.
pub(super) enum StreamLine {
    /// A line without its line break.
    Complete(Vec<u8>),
    /// A line over the maximum length, which was skipped.
    TooLong,
    /// The end of the stream.
    End,
}

/// A reader of lines.
pub(super) struct LineReader<R> {
    read: R,
    max_bytes: usize,
    line: Vec<u8>,
    skipping: bool,
}

impl<R: AsyncBufRead + Unpin> LineReader<R> {
    pub(super) fn new(read: R, max_bytes: usize) -> Self {
        LineReader { read, max_bytes, line: Vec::new(), skipping: false }
    }

    /// Waits for the next line that is not blank. Cancel safe: no bytes are lost if the future is dropped.
    pub(super) async fn next(&mut self) -> StreamLine {
        loop {
            let (used, ended) = match self.read.fill_buf().await {
                Ok([]) | Err(_) => return StreamLine::End,
                Ok(bytes) => {
                    let end = bytes.iter().position(|byte| *byte == b'\n');
                    let part = &bytes[..end.unwrap_or(bytes.len())];
                    if self.skipping || self.line.len() + part.len() > self.max_bytes {
                        self.skipping = true;
                        self.line = Vec::new();
                    } else {
                        self.line.extend_from_slice(part);
                    }
                    (end.map_or(bytes.len(), |end| end + 1), end.is_some())
                }
            };
            self.read.consume(used);
            if !ended {
                continue;
            }
            if std::mem::take(&mut self.skipping) {
                return StreamLine::TooLong;
            }
            let line = std::mem::take(&mut self.line);
            if !line.iter().all(u8::is_ascii_whitespace) {
                return StreamLine::Complete(line);
            }
        }
    }
}
