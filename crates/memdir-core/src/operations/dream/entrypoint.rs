//! Proposes what to do about an entrypoint that is over its budget: lines that are used least for their size move to a page, many of one
//! folder are grouped under one line, and long descriptions become shorter. A line on a page that is used a lot moves back. What a person
//! wrote in the entrypoint is never changed.

use super::{
    DreamAction, DreamChange, DreamOperation, DreamReason,
    material::{Material, MaterialFile},
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::Result,
        limits::{self, ENTRYPOINT_WARN_PERCENT},
        path::{MemoryPath, strip_md},
        text,
    },
    entrypoint::{self, EntrypointFiles, upkeep},
    memory::{Memory, compose, links},
    operations::context::Context,
    store::View,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Characters of a description that stay.
const SHORT: usize = 80;
/// A description that is not much longer is not worth a change.
const LONG: usize = 110;
/// The most descriptions of one entrypoint that one plan shortens.
const MOST_SHORTENED: usize = 40;
/// The percentage of the limits down to which an entrypoint is tidied, so that it is not over its budget again the next day.
const TARGET_PERCENT: usize = 70;
/// The generated lines that stay in any case.
const MIN_LINES: usize = 20;
/// From this number of lines, those of one folder are moved to an overview, which has one line.
const OVERVIEW_LINES: usize = 6;
/// The lines of one operation: it is left out as a whole if one of their memories changes before it is applied.
const MOST_MOVED: usize = 25;
/// Uses after which a line moves from a page to the entrypoint.
const MIN_USES: u64 = 5;
/// The most lines that one plan moves from pages to the entrypoint.
const MOST_RETURNED: usize = 10;

/// A generated line of the entrypoint.
struct OwnLine<'a> {
    file: &'a MaterialFile,
    text: &'a str,
    uses: u64,
}

impl OwnLine<'_> {
    /// Its uses by its size; of equal ones the older memory is worth less. A save that fills the entrypoint looks at the date alone
    /// (`entrypoint/line_age.rs`): it does not know the uses.
    fn value(&self) -> (u64, i64, &MemoryPath) {
        (self.uses * 10_000 / self.text.len().max(1) as u64, self.file.at.as_second(), &self.file.path)
    }
}

/// Lines and bytes that have to leave the entrypoint.
struct Surplus {
    lines: usize,
    bytes: usize,
}

impl Surplus {
    /// The surplus of an entrypoint that is over its budget.
    fn new((lines, bytes): (usize, usize)) -> Option<Surplus> {
        let (max_lines, max_bytes, warn) = (limits::ENTRYPOINT_LINES, limits::ENTRYPOINT_BYTES, ENTRYPOINT_WARN_PERCENT);
        let is_over = lines * 100 > max_lines * warn || bytes * 100 > max_bytes * warn;
        is_over.then(|| Surplus {
            lines: lines.saturating_sub(max_lines * TARGET_PERCENT / 100),
            bytes: bytes.saturating_sub(max_bytes * TARGET_PERCENT / 100),
        })
    }

    fn is_left(&self) -> bool {
        self.lines > 0 || self.bytes > 0
    }

    fn subtract(&mut self, lines: usize, bytes: usize) {
        (self.lines, self.bytes) = (self.lines.saturating_sub(lines), self.bytes.saturating_sub(bytes));
    }
}

/// Returns the proposals for the entrypoints, without memories that are in `taken`, and notes about what only a person can shorten.
pub(super) fn find(
    view: &dyn View,
    context: &Context,
    material: &Material,
    weight: &dyn Fn(&MaterialFile) -> u64,
    taken: &HashSet<MemoryPath>,
) -> Result<(Vec<DreamOperation>, Vec<String>)> {
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let mut by_prefix: BTreeMap<&str, HashMap<String, &MaterialFile>> = BTreeMap::new();
    for file in &material.files {
        let rel = file.path.strip_prefix(&file.prefix).unwrap_or_else(|| file.path.clone());
        by_prefix.entry(&file.prefix).or_default().insert(rel.to_string(), file);
    }
    for (prefix, files) in by_prefix {
        let Some(entrypoint) = upkeep::open_entrypoint(view, &context.entrypoint_cache, prefix)? else { continue };
        let file_of = |rel: &str| files.get(rel).copied().filter(|file| !taken.contains(&file.path));
        let Some(surplus) = Surplus::new(entrypoint.size()) else {
            out.extend(returned(&entrypoint, &file_of, weight));
            continue;
        };
        let mut lines: Vec<OwnLine<'_>> = entrypoint
            .section_lines()
            .filter_map(|(rel, text)| file_of(rel).map(|file| OwnLine { file, text, uses: weight(file) }))
            .collect();
        lines.shared_sort_by(|a, b| a.value().cmp(&b.value()));
        out.extend(tidied(&entrypoint, &lines, surplus, &files));
        let long = entrypoint::long_lines(&entrypoint).len();
        if long > 0 {
            let lines = text::counted(long as u64, "overlong line", "overlong lines");
            let them = if long == 1 { "it" } else { "them" };
            notes.push(format!("{} has {lines}; shorten {them} by hand", entrypoint.name()));
        }
    }
    Ok((out, notes))
}

/// Returns the operations that bring an entrypoint within its budget, given its generated lines, those of the least value first.
fn tidied(
    entrypoint: &EntrypointFiles,
    lines: &[OwnLine<'_>],
    mut surplus: Surplus,
    files: &HashMap<String, &MaterialFile>,
) -> Vec<DreamOperation> {
    let is_counted = lines.iter().any(|line| line.uses > 0);
    let movable = entrypoint.section_lines().count().saturating_sub(MIN_LINES);
    let mut moved: Vec<&OwnLine<'_>> = Vec::new();
    let mut out = Vec::new();
    // Lines that nothing was ever read through cost tokens for nothing; a used one is shortened before it is moved.
    for line in lines.iter().filter(|line| is_counted && line.uses == 0) {
        if surplus.is_left() && moved.len() < movable {
            surplus.subtract(1, line.text.len() + 1);
            moved.push(line);
        }
    }
    let mut rest: Vec<&OwnLine<'_>> = lines.iter().filter(|line| !(is_counted && line.uses == 0)).collect();
    if surplus.bytes > 0 {
        rest.retain(|line| {
            let operation = if out.len() < MOST_SHORTENED && surplus.bytes > 0 { shortened(line) } else { None };
            let Some((operation, saved)) = operation else { return true };
            surplus.subtract(0, saved);
            out.push(operation);
            false
        });
    }
    for line in rest {
        if surplus.is_left() && moved.len() < movable {
            surplus.subtract(1, line.text.len() + 1);
            moved.push(line);
        }
    }
    out.extend(grouped(entrypoint, moved, files, if is_counted { 60 } else { 45 }));
    out
}

/// The operations that move lines to pages: one for each folder with many of them, and one for some of the others.
fn grouped(
    entrypoint: &EntrypointFiles,
    moved: Vec<&OwnLine<'_>>,
    files: &HashMap<String, &MaterialFile>,
    confidence: u8,
) -> Vec<DreamOperation> {
    let mut folders: BTreeMap<String, Vec<&OwnLine<'_>>> = BTreeMap::new();
    for line in moved {
        let rel = line.file.path.strip_prefix(&line.file.prefix).unwrap_or_else(|| line.file.path.clone());
        folders.entry(rel.parent().unwrap_or_default().to_owned()).or_default().push(line);
    }
    let (mut out, mut others) = (Vec::new(), Vec::new());
    for (folder, lines) in folders {
        let overview = format!("{folder}/overview.md");
        match (folder.is_empty() || lines.len() < OVERVIEW_LINES || files.contains_key(&overview), MemoryPath::parse(&overview)) {
            (false, Ok(path)) => out.push(group(entrypoint, &folder, path.prefixed(&lines[0].file.prefix), &lines, confidence)),
            _ => others.extend(lines),
        }
    }
    out.extend(others.chunks(MOST_MOVED).map(|lines| {
        let (moved, verb) = match lines.len() {
            1 => ("1 line".to_owned(), "moves"),
            count => (format!("{count} lines"), "move"),
        };
        let why = format!(
            "{} is more than {ENTRYPOINT_WARN_PERCENT}% full; {moved}, chosen by use, size and age, {verb} to an overflow page",
            entrypoint.name()
        );
        operation(entrypoint, DreamAction::Move, why, Vec::new(), lines, confidence)
    }));
    out
}

/// A memory that lists the memories of a folder, whose lines move to a page.
fn group(entrypoint: &EntrypointFiles, folder: &str, path: MemoryPath, lines: &[&OwnLine<'_>], confidence: u8) -> DreamOperation {
    let mut members: Vec<&MaterialFile> = lines.iter().map(|line| line.file).collect();
    members.shared_sort_by(|a, b| a.path.cmp(&b.path));
    let title_of = |file: &&MaterialFile| file.memory.title(strip_md(file.path.file_name())).replace(['[', ']'], "");
    let titles: Vec<String> = members.iter().map(title_of).collect();
    let body: String = members
        .iter()
        .zip(&titles)
        .map(|(file, title)| format!("- [{title}]({})\n", links::link_destination(file.path.file_name())))
        .collect();
    let description = text::ellipsis(&titles.join(", "), SHORT).into_owned();
    let text =
        compose(&[("name", format!("Overview of {folder}").as_str()), ("description", description.as_str()), ("type", "reference")], &body);
    let why = format!(
        "{} is more than {ENTRYPOINT_WARN_PERCENT}% full; {} lines for {folder}/, chosen by use, size and age, move to an overflow page and are replaced by one line",
        entrypoint.name(),
        lines.len()
    );
    operation(entrypoint, DreamAction::Create, why, vec![DreamChange::New { path, text }], lines, confidence)
}

fn operation(
    entrypoint: &EntrypointFiles,
    action: DreamAction,
    why: String,
    mut changes: Vec<DreamChange>,
    lines: &[&OwnLine<'_>],
    confidence: u8,
) -> DreamOperation {
    changes.extend(lines.iter().map(|line| DreamChange::Page { path: line.file.path.clone(), version: line.file.version }));
    let gone: String = lines.iter().map(|line| format!("-{}\n", line.text)).collect();
    let diff = format!("--- a/{0}\n+++ b/{0}\n{gone}", entrypoint.name());
    DreamOperation { action, reason: DreamReason::Entrypoint, why, confidence, sources: Vec::new(), changes, diff }
}

/// Lines on pages whose memories are used more often than one would guess from their place.
fn returned<'a>(
    entrypoint: &EntrypointFiles,
    file_of: &dyn Fn(&str) -> Option<&'a MaterialFile>,
    weight: &dyn Fn(&MaterialFile) -> u64,
) -> Vec<DreamOperation> {
    let mut used: Vec<(u64, &MaterialFile)> =
        entrypoint.paged().filter_map(file_of).map(|file| (weight(file), file)).filter(|(uses, _)| *uses >= MIN_USES).collect();
    used.shared_sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let to_operation = |(uses, file): (u64, &MaterialFile)| DreamOperation {
        action: DreamAction::Update,
        reason: DreamReason::Entrypoint,
        why: format!("{} was used {uses} times, but its line is on an overflow page, which is not loaded into conversations", file.name()),
        confidence: 70,
        sources: Vec::new(),
        changes: vec![DreamChange::List { path: file.path.clone(), version: file.version }],
        diff: String::new(),
    };
    used.into_iter().take(MOST_RETURNED).map(to_operation).collect()
}

/// A shorter description of a memory, and the bytes that its line loses.
fn shortened(line: &OwnLine<'_>) -> Option<(DreamOperation, usize)> {
    let file = line.file;
    let description = file.memory.description().filter(|text| text.chars().count() > LONG)?;
    let short = first_clause(description)?;
    let text = file.memory.with_field("description", Some(&short));
    let (memory, _) = Memory::parse(&text);
    // Nothing is lost: what the body does not say yet moves there.
    let text = match memory.body().contains(description) {
        true => text,
        false => memory.with_body(&format!("{description}\n\n{}", memory.body())),
    };
    let operation = DreamOperation {
        action: DreamAction::Update,
        reason: DreamReason::Entrypoint,
        why: format!(
            "the entrypoint is more than {ENTRYPOINT_WARN_PERCENT}% full; the description of {} has {} characters and is shortened",
            file.name(),
            description.chars().count()
        ),
        confidence: 60,
        sources: Vec::new(),
        changes: vec![DreamChange::Write { path: file.path.clone(), version: file.version, text }],
        diff: String::new(),
    };
    // A line is cut anyway, so it loses less than the description.
    Some((operation, (description.len() - short.len()).min(line.text.len() / 2)))
}

/// The beginning of a description, up to the end of a clause or else of a word.
fn first_clause(description: &str) -> Option<String> {
    let end = description.char_indices().nth(SHORT).map_or(description.len(), |(at, _)| at);
    let head = &description[..end];
    let clause =
        [". ", "; ", " (", ": ", ", ", " — ", " - "].iter().filter_map(|mark| head.rfind(mark)).filter(|at| *at >= SHORT / 3).max();
    let cut = clause.or_else(|| head.rfind(' '))?;
    Some(head[..cut].trim_end_matches([',', ';', ':']).to_owned()).filter(|short| !short.is_empty())
}
