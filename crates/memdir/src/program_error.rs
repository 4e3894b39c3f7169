//! What a program that failed printed: a bounded part of it while it runs, and the excerpt that is shown. Never shows a secret.

use memdir_core::internal::{base::text::ellipsis, secrets::redact};
use std::{
    io::{self, Read},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

/// The number of bytes that are kept of a stream: a program may print without end.
const KEPT_BYTES: usize = 64 * 1024;

/// How long to wait for the end of the stream of a program that has ended. A process that it started may keep the stream open.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The number of characters of an excerpt.
const EXCERPT_CHARS: usize = 300;

/// The number of lines of an excerpt: an error, its cause and a hint.
const EXCERPT_LINES: usize = 3;

/// The last bytes of a stream. A thread reads all of it, so that the program never waits for a reader.
pub(crate) struct StreamTail {
    tail: Arc<Mutex<Tail>>,
    end: mpsc::Receiver<()>,
}

#[derive(Default)]
struct Tail {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Tail {
    fn push(&mut self, part: &[u8]) {
        self.bytes.extend_from_slice(part);
        if self.bytes.len() > 2 * KEPT_BYTES {
            self.bytes.drain(..self.bytes.len() - KEPT_BYTES);
            self.is_cut = true;
        }
    }
}

impl StreamTail {
    /// Starts to read a stream.
    pub(crate) fn read(mut stream: impl Read + Send + 'static) -> StreamTail {
        let tail = Arc::new(Mutex::new(Tail::default()));
        let (sender, end) = mpsc::channel();
        let weak = Arc::downgrade(&tail);
        thread::spawn(move || {
            let mut part = [0; 8192];
            loop {
                match stream.read(&mut part) {
                    Ok(0) => break,
                    Ok(count) => match weak.upgrade() {
                        Some(tail) => tail.lock().unwrap_or_else(PoisonError::into_inner).push(&part[..count]),
                        // Nothing uses the text any more.
                        None => break,
                    },
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            // Fails if nothing waits for the end any more.
            let _ = sender.send(());
        });
        StreamTail { tail, end }
    }

    /// Returns the last part of the stream of a program that has ended, and whether something before it was discarded. What precedes the
    /// first white space of a cut text is left out: it may be the end of a secret, which is not recognized.
    pub(crate) fn into_text(self) -> (String, bool) {
        let _ = self.end.recv_timeout(END_TIMEOUT);
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail.bytes);
        let text = if tail.is_cut { text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest) } else { &*text };
        (text.to_owned(), tail.is_cut)
    }
}

/// Returns the last lines of what a failing program printed, in one line; empty if it printed nothing.
pub(crate) fn excerpt(text: &str) -> String {
    // Before anything is cut: a part of a secret is not recognized.
    let redacted = redact(text);
    let (mut lines, mut left) = (Vec::new(), EXCERPT_CHARS);
    for line in redacted.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(EXCERPT_LINES) {
        let line = ellipsis(line, EXCERPT_CHARS);
        let chars = line.chars().count();
        if chars > left {
            break;
        }
        left -= chars;
        lines.push(line);
    }
    lines.reverse();
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_the_last_lines_without_secrets() {
        for (text, shown) in [
            ("", ""),
            (" \n\n", ""),
            ("starting\nloading\nerror: no model\n\nhint: get one\n", "loading; error: no model; hint: get one"),
            ("the token AKIAQ7RHTZW4XNMP2LKD was refused\n", "the token [secret: aws-access-key] was refused"),
        ] {
            assert_eq!(excerpt(text), shown, "{text:?}");
        }
        let long = format!("{}\nthe reason\n", "x".repeat(295));
        assert_eq!(excerpt(&long), "the reason");
        assert_eq!(excerpt(&"x".repeat(1000)).chars().count(), EXCERPT_CHARS);
    }

    #[test]
    fn a_stream_without_an_end_takes_bounded_memory() {
        let stream = io::repeat(b'x').take(10_000_000).chain(&b" the reason\n"[..]);
        let (text, is_cut) = StreamTail::read(stream).into_text();
        assert_eq!((text.as_str(), is_cut), ("the reason\n", true));
        let (text, is_cut) = StreamTail::read(&b"short"[..]).into_text();
        assert_eq!((text.as_str(), is_cut), ("short", false));
    }
}
