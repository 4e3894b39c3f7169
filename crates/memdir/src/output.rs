//! Prints the output of commands: on a terminal with colours, in a pipe without, or as JSON. Never decides what is printed. Everything
//! passes through [`visible`]; only the text of a memory keeps its bytes, if it does not go to a terminal.

use crate::exit::{Exit, Failure};
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
pub(crate) use memdir_core::internal::base::visible::visible;
use memdir_core::internal::base::visible::{visible_cell, visible_json};
use serde::Serialize;
use std::{
    hash::{BuildHasher as _, RandomState},
    io::{self, BufWriter, IsTerminal as _, Write},
    sync::LazyLock,
};
use unicode_width::UnicodeWidthStr as _;

/// Where the output goes, and in which form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputOptions {
    /// Print JSON.
    pub(crate) json: bool,
    /// Standard output is a terminal.
    pub(crate) terminal: bool,
    /// Use colours.
    pub(crate) colour: bool,
    /// Columns of the terminal; `None` in a pipe.
    pub(crate) width: Option<usize>,
}

impl OutputOptions {
    /// The options for standard output; honours `NO_COLOR`, `CLICOLOR_FORCE` and `TERM`.
    pub(crate) fn for_stdout(json: bool) -> OutputOptions {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let colour = terminal && !json && anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
        let width = if terminal { terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)) } else { None };
        OutputOptions { json, terminal, colour, width }
    }

    /// Whether there is a terminal on which to ask the user.
    pub(crate) fn can_ask(self) -> bool {
        self.terminal && !self.json && io::stdin().is_terminal()
    }

    /// Why [`OutputOptions::can_ask`] is false.
    pub(crate) fn why_not_asked(self) -> &'static str {
        match self.json {
            _ if !io::stdin().is_terminal() => "standard input is not a terminal",
            true => "--json is set",
            false => "standard output is not a terminal",
        }
    }

    /// A progress bar for standard error, which is hidden unless standard output is a terminal.
    pub(crate) fn progress_bar(self, len: usize) -> ProgressBar {
        let bar = if self.terminal && !self.json { ProgressBar::new(len as u64) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        bar
    }
}

/// The output of a command: a value that serializes to JSON, and a function that prints it as text. Nothing is printed before
/// the command has finished.
pub(crate) struct CommandOutput {
    content: Box<dyn Content>,
    /// The exit status of the process.
    pub(crate) exit: Exit,
    /// Notes for standard error.
    pub(crate) notes: Vec<String>,
    after: Option<Box<dyn Fn()>>,
}

impl CommandOutput {
    /// Output with exit status 0.
    pub(crate) fn new<T: Serialize + 'static>(value: T, text: fn(&T, &mut Printer<'_>) -> io::Result<()>) -> CommandOutput {
        CommandOutput { content: Box::new((value, text)), exit: Exit::Success, notes: Vec::new(), after: None }
    }

    /// JSON Lines: one object per line, with and without `--json`.
    pub(crate) fn lines<T: Serialize + 'static>(values: Vec<T>) -> CommandOutput {
        CommandOutput { content: Box::new(JsonLines(values)), exit: Exit::Success, notes: Vec::new(), after: None }
    }

    /// Sets the exit status.
    pub(crate) fn exit(self, exit: Exit) -> CommandOutput {
        CommandOutput { exit, ..self }
    }

    /// Adds notes before the existing ones.
    pub(crate) fn with_notes(mut self, mut notes: Vec<String>) -> CommandOutput {
        notes.append(&mut self.notes);
        CommandOutput { notes, ..self }
    }

    /// Runs a function after the output is printed.
    pub(crate) fn afterwards(self, after: impl Fn() + 'static) -> CommandOutput {
        CommandOutput { after: Some(Box::new(after)), ..self }
    }

    /// Prints the output as text.
    pub(crate) fn text(&self, printer: &mut Printer<'_>) -> io::Result<()> {
        self.notes.iter().for_each(|note| printer.note(note.clone()));
        self.content.text(printer)
    }
}

trait Content {
    fn text(&self, printer: &mut Printer<'_>) -> io::Result<()>;
    fn json(&self, out: &mut dyn Write) -> io::Result<()>;
}

impl<T: Serialize> Content for (T, fn(&T, &mut Printer<'_>) -> io::Result<()>) {
    fn text(&self, printer: &mut Printer<'_>) -> io::Result<()> {
        self.1(&self.0, printer)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(visible_json(&serde_json::to_string_pretty(&self.0)?).as_bytes())
    }
}

struct JsonLines<T>(Vec<T>);

impl<T: Serialize> Content for JsonLines<T> {
    fn text(&self, printer: &mut Printer<'_>) -> io::Result<()> {
        self.json(printer.out)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        for (n, value) in self.0.iter().enumerate() {
            if n > 0 {
                writeln!(out)?;
            }
            out.write_all(visible_json(&serde_json::to_string(value)?).as_bytes())?;
        }
        Ok(())
    }
}

/// Writes text output, and collects the notes that follow it on standard error.
pub(crate) struct Printer<'a> {
    out: &'a mut dyn Write,
    /// Where the text goes.
    pub(crate) options: OutputOptions,
    notes: Vec<String>,
}

impl<'a> Printer<'a> {
    /// A printer that writes to `out`.
    pub(crate) fn new(out: &'a mut dyn Write, options: OutputOptions) -> Printer<'a> {
        Printer { out, options, notes: Vec::new() }
    }

    /// Prints one line, or several.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        writeln!(self.out, "{}", painted(&visible(text.as_ref())))
    }

    /// Prints what another printer has written.
    pub(crate) fn printed(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// Prints the text of a memory unchanged; on a terminal with its control characters shown.
    pub(crate) fn content(&mut self, text: &str) -> io::Result<()> {
        if self.options.terminal {
            self.out.write_all(visible(text).as_bytes())?;
        } else {
            self.out.write_all(text.as_bytes())?;
        }
        if self.options.terminal && !text.is_empty() && !text.ends_with('\n') { self.line("") } else { Ok(()) }
    }

    /// Prints rows in aligned columns. The first row is the heading.
    pub(crate) fn table(&mut self, rows: &[Vec<String>]) -> io::Result<()> {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| visible_cell(cell)).collect()).collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |n: usize| rows.iter().filter_map(|row| row.get(n)).map(|cell| cell.width()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (n, row) in rows.iter().enumerate() {
            let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.width())));
            let line = padded.collect::<Vec<_>>().join("  ");
            let line = self.truncated(line.trim_end());
            let line = if n == 0 { self.dim(&line) } else { line };
            self.line(line)?;
        }
        Ok(())
    }

    /// Adds a note, which is printed on standard error after the output. Duplicates are dropped.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Removes and returns the notes.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Bold text.
    pub(crate) fn strong(&self, text: &str) -> String {
        self.styled(text, 'b')
    }

    /// Dimmed text.
    pub(crate) fn dim(&self, text: &str) -> String {
        self.styled(text, 'd')
    }

    /// Green text, for additions.
    pub(crate) fn green(&self, text: &str) -> String {
        self.styled(text, 'g')
    }

    /// Highlighted text, for search matches.
    pub(crate) fn highlight(&self, text: &str) -> String {
        self.styled(text, 'h')
    }

    /// Red text, for deletions and errors.
    pub(crate) fn red(&self, text: &str) -> String {
        self.styled(text, 'r')
    }

    /// Marks a text with a style, for [`painted`].
    fn styled(&self, text: &str, style: char) -> String {
        let mark = STYLE_MARK.as_str();
        if self.options.colour { format!("{mark}{style}{text}{mark}.") } else { text.to_owned() }
    }

    fn truncated(&self, line: &str) -> String {
        match self.options.width {
            Some(width) if line.width() > width => memdir_core::internal::base::text::ellipsis(line, width).into_owned(),
            _ => line.to_owned(),
        }
    }
}

/// Begins and ends a style in a line. It is random, so that no text can contain it: escape sequences in a line are shown, and only those
/// of its styles are written.
static STYLE_MARK: LazyLock<String> = LazyLock::new(|| {
    let random = RandomState::new().hash_one(0_u8);
    // Characters for private use, which no terminal obeys.
    let private = |bits: u64| u32::try_from(bits & 0xfff).ok().and_then(|n| char::from_u32(0xf_0000 + n)).unwrap_or('\u{f0000}');
    [0, 12, 24, 36].map(|shift| private(random >> shift)).iter().collect()
});

/// Replaces the marks of styles by escape sequences.
fn painted(text: &str) -> String {
    let mut parts = text.split(STYLE_MARK.as_str());
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut rest = part.chars();
        let style = match rest.next() {
            Some('b') => Style::new().bold().render().to_string(),
            Some('d') => Style::new().dimmed().render().to_string(),
            Some('g') => AnsiColor::Green.on_default().render().to_string(),
            Some('h') => AnsiColor::Yellow.on_default().bold().render().to_string(),
            Some('r') => AnsiColor::Red.on_default().render().to_string(),
            _ => anstyle::Reset.render().to_string(),
        };
        out.push_str(&style);
        out.push_str(rest.as_str());
    }
    out
}

/// Prints a command's output and returns its exit status.
pub(crate) fn print(output: &CommandOutput, options: OutputOptions) -> Result<Exit, Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let notes = if options.json {
        output.content.json(&mut out).and_then(|()| writeln!(out)).map(|()| output.notes.clone())
    } else {
        let mut printer = Printer::new(&mut out, options);
        output.text(&mut printer).map(|()| printer.take_notes())
    };
    let notes = notes.and_then(|notes| out.flush().map(|()| notes)).map_err(|source| Failure::Output { source })?;
    print_to_stderr("note", &notes);
    if let Some(after) = &output.after {
        after();
    }
    Ok(output.exit)
}

/// Prints a failure and returns its exit status.
pub(crate) fn print_failure(failure: &Failure, options: OutputOptions) -> Exit {
    match failure {
        Failure::Output { source } if source.kind() == io::ErrorKind::BrokenPipe => {}
        Failure::Hook { explain: false, .. } => {}
        // Help and the version: clap chooses colours and streams.
        Failure::CommandLine { error } if !error.use_stderr() => drop(error.print()),
        // Clap repeats the arguments.
        Failure::CommandLine { error } if !options.json => {
            let text = error.render().to_string();
            print_to_stderr("error", &[text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned()]);
        }
        _ if options.json => {
            let text = failure.text();
            let error = serde_json::json!({ "error": { "code": text.code, "message": text.message, "hint": text.hint } });
            // If this cannot be printed either, only the exit status reports the failure.
            let _ = writeln!(io::stdout(), "{}", visible_json(&format!("{error:#}")));
        }
        _ => {
            let text = failure.text();
            print_to_stderr("error", &[text.message]);
            print_to_stderr("hint", &[text.hint]);
        }
    }
    failure.exit()
}

/// Prints lines with a label (`error`, `hint` or `note`) on standard error, in colour if it is a terminal.
fn print_to_stderr(label: &str, texts: &[String]) {
    let mut err = anstream::stderr().lock();
    let style = match label {
        "error" => AnsiColor::Red.on_default().bold(),
        "hint" => AnsiColor::Cyan.on_default(),
        _ => AnsiColor::Yellow.on_default(),
    };
    for text in texts.iter().filter(|text| !text.is_empty()) {
        // A failure to write to standard error cannot be reported anywhere.
        let _ = writeln!(err, "{style}{label}:{style:#} {}", visible(text));
    }
}
