//! `-` on the command line: the text is read from standard input, in every command that takes a text, and at most once.

use super::{Args, Command, ReviewWhat};
use crate::exit::Failure;
use memdir_core::internal::base::{limits, text};
use std::{
    io::{self, IsTerminal as _, Read, Write as _},
    path::{Path, PathBuf},
};

/// Replaces a text that is `-` by standard input, without its final line ending. Files that are `-`, and the text of `memdir write`, are
/// read byte for byte by their commands.
pub(crate) fn read_texts(args: &mut Args) -> Result<(), Failure> {
    let Some(command) = &mut args.command else { return Ok(()) };
    let mut places = StdinArguments::default();
    places.collect(command);
    let StdinArguments { count, text, lossy } = places;
    if count > 1 {
        return Err(Failure::Usage {
            message: format!("standard input can be read only once, but `-` is given {count} times"),
            hint: "pass the other texts as arguments, or in files".into(),
        });
    }
    if count == 1 && io::stdin().is_terminal() {
        // If this cannot be printed, the user can still type the text.
        let _ = writeln!(anstream::stderr(), "note: reading from the terminal; end the input with Ctrl-D on a new line");
    }
    if let Some(text) = text {
        *text = typed(lossy)?;
    }
    Ok(())
}

/// Reads all of standard input, which may have at most `limit` bytes.
pub(crate) fn read(limit: u64) -> Result<Vec<u8>, Failure> {
    read_all(io::stdin().lock(), Path::new("standard input"), limit)
}

/// Reads all of a file, which may have at most `limit` bytes: one like `/dev/zero` has no end.
pub(crate) fn read_all(file: impl Read, path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|source| Failure::File { doing: "read", path: path.to_owned(), source })?;
    if bytes.len() as u64 > limit {
        let message = format!("{} is larger than {}", path.display(), text::human_bytes(limit));
        return Err(Failure::Usage { message, hint: "split it into several files".into() });
    }
    Ok(bytes)
}

/// Whether a file of the command line is standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn typed(lossy: bool) -> Result<String, Failure> {
    let text = match String::from_utf8(read(limits::READ_FILE_BYTES)?) {
        Ok(text) => text,
        Err(error) if lossy => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        Err(_) => return Err(memdir_core::Error::bad_input("standard input", "it is not valid UTF-8").into()),
    };
    // The line feed that `echo` appends is not a part of a word, a query or a replacement.
    let end = text.strip_suffix('\n').map_or(text.len(), |line| line.strip_suffix('\r').unwrap_or(line).len());
    Ok(text[..end].to_owned())
}

/// The arguments that are `-`.
#[derive(Default)]
struct StdinArguments<'a> {
    count: usize,
    /// The one to replace.
    text: Option<&'a mut String>,
    /// Whether invalid UTF-8 is replaced instead of refused.
    lossy: bool,
}

impl<'a> StdinArguments<'a> {
    fn collect(&mut self, command: &'a mut Command) {
        match command {
            Command::Write(args) => {
                self.count += usize::from(args.text.as_deref() == Some("-"));
                self.files(&args.file);
                self.texts(args.title.iter_mut().chain(&mut args.description).chain(&mut args.cues));
            }
            Command::Edit(args) => {
                self.files(args.old_file.iter().chain(&args.new_file));
                self.texts(args.old.iter_mut().chain(&mut args.new));
            }
            Command::Search(args) => {
                self.files(&args.batch);
                self.collect_words(&mut args.query);
            }
            Command::Recall(args) => {
                // A host may pass bytes that are not UTF-8; the rest of the message is still useful.
                self.lossy = true;
                self.collect_words(&mut args.text);
                self.texts(&mut args.command);
            }
            Command::Log(args) => self.collect_words(&mut args.text),
            Command::Forget(args) => self.collect_words(&mut args.words),
            Command::Resume(args) => self.collect_words(&mut args.words),
            Command::Import(args) => self.files(&args.from),
            Command::Cues(args) => self.files(&args.from),
            Command::Review(args) => {
                if let ReviewWhat::Reject { reason: Some(reason), .. } = &mut args.what
                    && reason == "-"
                {
                    // A token is typed with its own prompt, unless the reason is read from there too.
                    self.files(&args.token_file);
                    self.texts([reason]);
                }
            }
            Command::Prompt(args) => self.texts([&mut args.title]),
            _ => {}
        }
    }

    fn files(&mut self, paths: impl IntoIterator<Item = &'a PathBuf>) {
        self.count += paths.into_iter().filter(|path| is_stdin(path)).count();
    }

    fn texts(&mut self, texts: impl IntoIterator<Item = &'a mut String>) {
        for text in texts.into_iter().filter(|text| *text == "-") {
            self.count += 1;
            self.text = Some(text);
        }
    }

    /// A text that is given as words; a hyphen between other words is a hyphen.
    fn collect_words(&mut self, words: &'a mut [String]) {
        if words.iter().all(|word| word == "-") {
            self.texts(words);
        }
    }
}
