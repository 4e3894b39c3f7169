//! `memdir forget`: removes the words of a fact from everything memdir keeps, after it has listed every place. Then it searches again, and
//! writes a receipt without the words.

mod files;
mod places;
mod state_files;

use super::counted;
use crate::{
    args::ForgetArgs,
    ask,
    config::Settings,
    exit::{Exit, Failure, FailureText},
    output::{CommandOutput, OutputOptions, Printer, visible},
    scope::Scope,
    spaces,
};
use memdir_core::{
    Clock as _, Phrase, Search, SystemClock,
    internal::{
        base::disk::{self, Replace},
        search::ranking::MIN_SCORE,
    },
};
use places::{ForgetPlaces, FoundPlaces};
use serde::Serialize;
use std::{
    io::{self, Write as _},
    path::PathBuf,
};

/// The maximum number of lines that are listed for one file.
const LINES_PER_FILE: usize = 20;
/// The maximum number of hits that are similar in meaning and listed.
const SIMILAR: usize = 5;

/// The outcome of the command.
#[derive(Serialize)]
struct Forgot {
    found: FoundPlaces,
    /// `None` with `--dry-run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<ForgetReceipt>,
    /// The file of the receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt_file: Option<PathBuf>,
    /// Memories that are similar in meaning and do not have the words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    similar: Vec<String>,
}

/// What was forgotten, without the words.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct ForgetReceipt {
    at: String,
    by: String,
    /// Files of memories in which words were redacted.
    pub(super) redacted: usize,
    /// Memories that were removed as a whole.
    pub(super) removed: usize,
    /// Versions and names that were removed from the history.
    pub(super) versions: usize,
    /// Turns that were removed from kept conversations.
    pub(super) turns: u64,
    /// Kept conversations that were removed.
    pub(super) chats: usize,
    /// Other files of memdir that were changed.
    pub(super) state_files: usize,
    /// Derived directories that were removed: search indexes, vectors, tables.
    pub(super) derived: usize,
    /// Files that were read again afterwards.
    read_again: usize,
    /// Files and directories that could not be read afterwards; they are listed in `not_reached`.
    unread: usize,
    /// Searches by words and by meaning that were made afterwards.
    searches: usize,
    /// Those that found the words again: 0 unless something is wrong.
    found_again: usize,
    /// Files that still have the words, and why.
    remaining: Vec<String>,
    /// What memdir cannot reach.
    not_reached: Vec<String>,
}

impl ForgetReceipt {
    /// Adds a check that could not be made.
    fn unchecked(&mut self, what: &str, error: &Failure) {
        self.unread += 1;
        self.not_reached.push(format!("{what}: {}", error.text().message));
    }
}

pub(crate) fn run(args: &ForgetArgs, settings: &Settings, scope: &Scope, output: OutputOptions) -> Result<CommandOutput, Failure> {
    if !settings.only.is_empty() {
        return Err(Failure::Usage {
            message: "--only cannot be used with `memdir forget`, which always covers all topics".into(),
            hint: "omit --only".into(),
        });
    }
    let words = args.words.join(" ");
    let phrase = Phrase::parse(&words)?;
    let places = ForgetPlaces::open(settings, scope)?;
    let found = places.find(&phrase)?;
    if found.is_empty() {
        let (message, hint) = match found.unread {
            0 => ("the words were not found".to_owned(), "try fewer words, or search by meaning with: memdir search WORDS"),
            unread => {
                let unread = found.not_reached[..unread].join("; ");
                (format!("the words were not found, but not everything was read: {unread}"), "correct the permissions, then try again")
            }
        };
        return Err(Failure::Negative { code: "not_found", message, hint: hint.into() });
    }
    if args.dry_run {
        return Ok(CommandOutput::new(Forgot { found, receipt: None, receipt_file: None, similar: Vec::new() }, show));
    }
    if !args.yes {
        confirm(&found, output)?;
    }
    let mut receipt = places.forget(&phrase)?;
    let now = SystemClock.now();
    let actor = &settings.actor.value;
    (receipt.at, receipt.by) = (now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), phrase.redact(actor).unwrap_or_else(|| actor.clone()));
    // Words are gone by now: whatever fails from here on is reported beside what was done.
    let similar = search_again(&words, &phrase, settings, scope, &mut receipt).unwrap_or_else(|error| {
        receipt.unchecked("search", &error);
        Vec::new()
    });
    if let Err(error) = places.verify(&phrase, &mut receipt) {
        receipt.unchecked("the files", &error);
        receipt.not_reached.extend(found.not_reached.iter().cloned());
    }
    for place in receipt.remaining.iter_mut().chain(&mut receipt.not_reached) {
        *place = phrase.redact(place).unwrap_or_else(|| std::mem::take(place));
    }
    let failed = receipt.found_again > 0 || receipt.unread > 0 || !receipt.remaining.is_empty();
    let (receipt_file, notes, exit) = match write_receipt(settings, &receipt) {
        Ok(file) => (Some(file), Vec::new(), if failed { Exit::Negative } else { Exit::Success }),
        Err(error) => {
            let FailureText { message, hint, .. } = error.text();
            (None, vec![format!("no receipt: {message}; {hint}")], error.exit())
        }
    };
    let forgot = Forgot { found, receipt: Some(receipt), receipt_file, similar };
    Ok(CommandOutput::new(forgot, show).with_notes(notes).exit(exit))
}

/// Lists the places on standard error and asks. Without a terminal, it is an error.
fn confirm(found: &FoundPlaces, options: OutputOptions) -> Result<(), Failure> {
    if !options.can_ask() {
        return Err(Failure::Usage {
            message: format!("forgetting needs confirmation, but {}", options.why_not_asked()),
            hint: "nothing was removed; use --dry-run to list what would be removed, or --yes to remove it without confirmation".into(),
        });
    }
    let asked = || {
        let mut error = anstream::stderr();
        for line in listed(found) {
            writeln!(error, "{}", visible(&line))?;
        }
        ask::confirm("Forget these words? This cannot be undone.")
    };
    match asked().map_err(|source| Failure::Output { source })? {
        true => Ok(()),
        false => Err(Failure::Negative { code: "cancelled", message: "cancelled; nothing was removed".into(), hint: String::new() }),
    }
}

/// Searches for the words and for their meaning. Returns the places that are similar in meaning and do not contain the words.
fn search_again(
    words: &str,
    phrase: &Phrase,
    settings: &Settings,
    scope: &Scope,
    receipt: &mut ForgetReceipt,
) -> Result<Vec<String>, Failure> {
    if scope.off.is_some() {
        return Ok(Vec::new());
    }
    let memdir = spaces::with_search_once(spaces::open(settings, scope)?.memdir, settings, None)?;
    let mut similar = Vec::new();
    // A query in quotes must have the words; the other one is also asked by meaning.
    for query in [format!("\"{}\"", words.replace('"', " ")), words.to_owned()] {
        let answer = memdir.search(&Search { max_results: 20, min_score: 0.0, ..Search::new(query) })?;
        receipt.searches += 1;
        receipt.found_again += usize::from(answer.hits.iter().any(|hit| phrase.is_in(&hit.text) || phrase.is_in(hit.path.as_str())));
        let near = answer.hits.iter().filter(|hit| hit.score >= MIN_SCORE && !phrase.is_in(&hit.text));
        similar = near.map(|hit| format!("{}:{} (score {:.2})", hit.path, hit.lines, hit.score)).take(SIMILAR).collect();
    }
    Ok(similar)
}

fn write_receipt(settings: &Settings, receipt: &ForgetReceipt) -> Result<PathBuf, Failure> {
    let dir = settings.home.value.join("forgotten");
    let file = dir.join(format!("{}.json", receipt.at.replace(':', "")));
    let failed = |source| Failure::File { doing: "write", path: file.clone(), source };
    disk::create_private_dir(&dir).map_err(failed)?;
    let text = serde_json::to_vec_pretty(receipt).unwrap_or_default();
    disk::replace(&file, Replace::DURABLE, |out| out.write_all(&text)).map_err(failed)?;
    Ok(file)
}

/// The places, one per line, with the lines that have the words.
fn listed(found: &FoundPlaces) -> Vec<String> {
    let mut lines = Vec::new();
    for memory in &found.memories {
        for file in &memory.files {
            let name = memory.shown(file.path.as_str());
            let what = match (&file.read_only, file.whole) {
                (Some(why), _) => format!("kept: {why}"),
                (None, true) => "the whole file".to_owned(),
                (None, false) => counted(file.lines.len() as u64, "line", "lines"),
            };
            lines.push(format!("{name}  {what}"));
            let shown = file.lines.iter().take(LINES_PER_FILE);
            lines.extend(shown.map(|line| format!("  {}: {}", line.line, line.text.trim())));
            if file.lines.len() > LINES_PER_FILE {
                lines.push(format!("  and {}", counted((file.lines.len() - LINES_PER_FILE) as u64, "more line", "more lines")));
            }
        }
    }
    if found.versions > 0 {
        lines.push(format!("history  {}", counted(found.versions as u64, "entry", "entries")));
    }
    for chat in &found.chats {
        lines.push(format!("conversation {}  {}", chat.name, counted(chat.turns, "turn", "turns")));
        lines.extend(chat.lines.iter().take(LINES_PER_FILE).map(|line| format!("  {line}")));
    }
    lines.extend(found.state_files.iter().map(|file| file.display().to_string()));
    lines.extend(
        found
            .removed_files
            .iter()
            .map(|file| format!("{}  the whole {}", file.display(), if file.is_dir() { "directory" } else { "file" })),
    );
    lines.extend(found.kept.iter().map(|place| format!("kept: {place}")));
    if found.derived > 0 {
        lines.push("search indexes, vectors and caches  all files; rebuilt when needed".to_owned());
    }
    lines
}

fn show(forgot: &Forgot, printer: &mut Printer<'_>) -> io::Result<()> {
    for line in listed(&forgot.found) {
        printer.line(line)?;
    }
    let Some(receipt) = &forgot.receipt else {
        printer.note("nothing was removed; to forget the words, run the same command without --dry-run");
        return not_reached(&forgot.found.not_reached, printer);
    };
    printer.line(format!("forgot: {}", summary(receipt)))?;
    let searches = counted(receipt.searches as u64, "search", "searches");
    printer.line(match (receipt.found_again, receipt.remaining.len()) {
        (0, 0) if receipt.unread > 0 => "not verified: not everything could be read (see below)".to_owned(),
        (0, 0) => {
            format!("verified: the words are gone (read {} again, ran {searches})", counted(receipt.read_again as u64, "file", "files"))
        }
        (_, 1..) => "not verified: the words remain (see below)".to_owned(),
        (found, 0) => format!("not verified: {found} of {searches} still found the words; run the command again"),
    })?;
    for place in &receipt.remaining {
        printer.line(format!("{}  {place}", printer.red("remains")))?;
    }
    if let Some(file) = &forgot.receipt_file {
        printer.line(format!("receipt: {}", file.display()))?;
    }
    for similar in &forgot.similar {
        printer.note(format!("similar in meaning, but without the words: {similar}"));
    }
    not_reached(&receipt.not_reached, printer)
}

/// What was forgotten, without what is zero.
fn summary(receipt: &ForgetReceipt) -> String {
    let parts = [
        (receipt.redacted as u64, "memory file redacted", "memory files redacted"),
        (receipt.removed as u64, "memory removed", "memories removed"),
        (receipt.versions as u64, "history entry removed", "history entries removed"),
        (receipt.turns, "turn removed", "turns removed"),
        (receipt.chats as u64, "conversation removed", "conversations removed"),
        (receipt.state_files as u64, "other file changed or removed", "other files changed or removed"),
    ];
    let parts: Vec<String> =
        parts.into_iter().filter(|(count, ..)| *count > 0).map(|(count, one, many)| counted(count, one, many)).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

fn not_reached(places: &[String], printer: &mut Printer<'_>) -> io::Result<()> {
    for place in places {
        printer.note(format!("not reached: {place}"));
    }
    Ok(())
}
