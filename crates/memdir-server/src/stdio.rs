//! Lines of a byte stream, one message each, never longer than a limit. Knows nothing of messages.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// The next of a stream's lines.
pub(crate) enum Line {
    /// A whole line, without its end.
    Whole(Vec<u8>),
    /// A line that is too long; it was skipped.
    TooLong,
    /// There are no more.
    End,
}

/// A stream read line by line.
pub(crate) struct Lines<R> {
    read: R,
    max_bytes: usize,
    line: Vec<u8>,
    skipping: bool,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) fn new(read: R, max_bytes: usize) -> Self {
        Lines { read, max_bytes, line: Vec::new(), skipping: false }
    }

    /// Waits for the next line that is not empty. Nothing is lost if the waiting is given up and begun again.
    pub(crate) async fn next(&mut self) -> Line {
        loop {
            let (used, ended) = match self.read.fill_buf().await {
                Ok([]) | Err(_) => return Line::End,
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
                return Line::TooLong;
            }
            let line = std::mem::take(&mut self.line);
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Line::Whole(line);
            }
        }
    }
}
