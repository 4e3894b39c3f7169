//! How an answer looks: on a terminal with colours, in a pipe plain, or in JSON. Never decides what is answered.

use crate::exit::{Exit, Failure};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use unicode_width::UnicodeWidthStr as _;

/// What is known about where the answer goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// Answer in JSON.
    pub(crate) json: bool,
    /// Standard output is a terminal.
    pub(crate) terminal: bool,
    /// Colours are wanted.
    pub(crate) colour: bool,
    /// Columns of the terminal; nothing in a pipe.
    pub(crate) width: Option<usize>,
}

impl Look {
    /// Standard output as it is, honouring NO_COLOR and its like.
    pub(crate) fn of_stdout(json: bool) -> Look {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let colour = terminal && !json && anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
        let width = if terminal { terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)) } else { None };
        Look { json, terminal, colour, width }
    }
}

/// What a command answers: a value for programs and a way to show it to people. Nothing is printed before the command
/// is done.
pub(crate) struct Answer {
    shown: Box<dyn Shown>,
    /// How the run ends.
    pub(crate) exit: Exit,
    /// What is said beside it, on standard error.
    pub(crate) notes: Vec<String>,
    after: Option<Box<dyn Fn()>>,
}

impl Answer {
    /// An answer that is done.
    pub(crate) fn new<T: Serialize + 'static>(value: T, text: fn(&T, &mut Page<'_>) -> io::Result<()>) -> Answer {
        Answer { shown: Box::new((value, text)), exit: Exit::Done, notes: Vec::new(), after: None }
    }

    /// Many values, one JSON object a line, for people and programs alike.
    pub(crate) fn lines<T: Serialize + 'static>(values: Vec<T>) -> Answer {
        Answer { shown: Box::new(Lines(values)), exit: Exit::Done, notes: Vec::new(), after: None }
    }

    /// The same with another end.
    pub(crate) fn exit(self, exit: Exit) -> Answer {
        Answer { exit, ..self }
    }

    /// The same with something said beside it, before what is there.
    pub(crate) fn with_notes(mut self, mut notes: Vec<String>) -> Answer {
        notes.append(&mut self.notes);
        Answer { notes, ..self }
    }

    /// The same with something done once the answer is out.
    pub(crate) fn afterwards(self, after: impl Fn() + 'static) -> Answer {
        Answer { after: Some(Box::new(after)), ..self }
    }

    /// Writes the answer for people to a page.
    pub(crate) fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.notes.iter().for_each(|note| page.note(note.clone()));
        self.shown.text(page)
    }
}

trait Shown {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()>;
    fn json(&self, out: &mut dyn Write) -> io::Result<()>;
}

impl<T: Serialize> Shown for (T, fn(&T, &mut Page<'_>) -> io::Result<()>) {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.1(&self.0, page)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(out, &self.0).map_err(io::Error::from)
    }
}

struct Lines<T>(Vec<T>);

impl<T: Serialize> Shown for Lines<T> {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.json(page.out)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        for (n, value) in self.0.iter().enumerate() {
            if n > 0 {
                writeln!(out)?;
            }
            serde_json::to_writer(&mut *out, value).map_err(io::Error::from)?;
        }
        Ok(())
    }
}

/// Where an answer for people is written, with the notes that come after it.
pub(crate) struct Page<'a> {
    out: &'a mut dyn Write,
    /// What it looks like.
    pub(crate) look: Look,
    notes: Vec<String>,
}

impl<'a> Page<'a> {
    /// A page that goes to `out`.
    pub(crate) fn new(out: &'a mut dyn Write, look: Look) -> Page<'a> {
        Page { out, look, notes: Vec::new() }
    }

    /// One line.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        writeln!(self.out, "{}", text.as_ref())
    }

    /// Text of a memory, as it is. On a terminal without escape sequences: a memory must not be able to steer it.
    pub(crate) fn content(&mut self, text: &str) -> io::Result<()> {
        if self.look.terminal {
            write!(self.out, "{}", anstream::adapter::strip_str(text))?;
        } else {
            self.out.write_all(text.as_bytes())?;
        }
        if self.look.terminal && !text.is_empty() && !text.ends_with('\n') { self.line("") } else { Ok(()) }
    }

    /// Rows in columns, each as wide as its widest cell. The first row is the heading.
    pub(crate) fn table(&mut self, rows: &[Vec<String>]) -> io::Result<()> {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |n: usize| rows.iter().filter_map(|row| row.get(n)).map(|cell| cell.width()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (n, row) in rows.iter().enumerate() {
            let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.width())));
            let line = padded.collect::<Vec<_>>().join("  ");
            let line = self.fitting(line.trim_end());
            let line = if n == 0 { self.dim(&line) } else { line };
            self.line(line)?;
        }
        Ok(())
    }

    /// Said after the answer, on standard error.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The notes so far.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Something that stands out.
    pub(crate) fn strong(&self, text: &str) -> String {
        self.styled(text, Style::new().bold())
    }

    /// Something that stands back.
    pub(crate) fn dim(&self, text: &str) -> String {
        self.styled(text, Style::new().dimmed())
    }

    /// Something added.
    pub(crate) fn green(&self, text: &str) -> String {
        self.styled(text, AnsiColor::Green.on_default())
    }

    /// Something that was looked for.
    pub(crate) fn found(&self, text: &str) -> String {
        self.styled(text, AnsiColor::Yellow.on_default().bold())
    }

    /// Something taken away, or wrong.
    pub(crate) fn red(&self, text: &str) -> String {
        self.styled(text, AnsiColor::Red.on_default())
    }

    fn styled(&self, text: &str, style: Style) -> String {
        if self.look.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn fitting(&self, line: &str) -> String {
        match self.look.width {
            Some(width) if line.width() > width => memdir_core::base::text::ellipsis(line, width).into_owned(),
            _ => line.to_owned(),
        }
    }
}

/// Prints an answer.
pub(crate) fn print(answer: &Answer, look: Look) -> Result<Exit, Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let notes = if look.json {
        answer.shown.json(&mut out).and_then(|()| writeln!(out)).map(|()| answer.notes.clone())
    } else {
        let mut page = Page::new(&mut out, look);
        answer.text(&mut page).map(|()| page.take_notes())
    };
    let notes = notes.and_then(|notes| out.flush().map(|()| notes)).map_err(|source| Failure::Output { source })?;
    say("note", &notes);
    if let Some(after) = &answer.after {
        after();
    }
    Ok(answer.exit)
}

/// Prints why there is no answer.
pub(crate) fn print_failure(failure: &Failure, look: Look) -> Exit {
    match failure {
        Failure::Output { source } if source.kind() == io::ErrorKind::BrokenPipe => {}
        Failure::Hook { explain: false, .. } => {}
        // Clap knows its own colours and streams.
        Failure::Typed { error } if !look.json || !error.use_stderr() => drop(error.print()),
        _ if look.json => {
            let words = failure.words();
            let error = serde_json::json!({ "error": { "code": words.code, "message": words.message, "hint": words.hint } });
            // If even this cannot be printed, the exit code says it.
            let _ = writeln!(io::stdout(), "{error:#}");
        }
        _ => {
            let words = failure.words();
            say("error", &[words.message]);
            say("hint", &[words.hint]);
        }
    }
    failure.exit()
}

/// Lines on standard error, in colour if it is a terminal.
fn say(what: &str, texts: &[String]) {
    let mut err = anstream::stderr().lock();
    let style = match what {
        "error" => AnsiColor::Red.on_default().bold(),
        "hint" => AnsiColor::Cyan.on_default(),
        _ => AnsiColor::Yellow.on_default(),
    };
    for text in texts.iter().filter(|text| !text.is_empty()) {
        // There is nobody left to tell that this failed.
        let _ = writeln!(err, "{style}{what}:{style:#} {text}");
    }
}
