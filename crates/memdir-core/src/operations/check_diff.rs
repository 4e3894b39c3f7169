//! Checks a change of a project against its memories: which of them does it make doubtful, and which rules concern the touched files.
//! The change is given as parsed by [`parse_diff`]; this never runs git.

mod parse;

use crate::base::sort::SharedSort as _;
pub use parse::{ChangedFile, parse_diff};

use crate::{
    base::{error::Result, limits, path::MemoryPath, text},
    memory::{Memory, validity::SourceRef},
    operations::{
        context::Context,
        verify::{self, MentionKind},
    },
    recall::{
        RecallTable,
        when::{Action, Strength},
    },
    store::{
        self, Store,
        mounts::{self, FileKind},
    },
};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

/// A change to check.
#[derive(Debug, Clone)]
pub struct CheckDiff<'a> {
    /// The changed files.
    pub files: Vec<ChangedFile>,
    /// The root of the checkout. A memory that the change itself updates is not doubtful.
    pub checkout: Option<&'a Path>,
}

/// What a change means for the memories.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DiffChecked {
    /// The number of changed files.
    pub files: usize,
    /// The number of memories that were compared.
    pub memories: usize,
    /// The memories that the change makes doubtful, by name.
    pub doubtful: Vec<DoubtfulMemory>,
    /// The rules that concern the changed files, by name.
    pub rules: Vec<ConcernedRule>,
    /// Memories that mention changed files and are updated by the same change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updated: Vec<String>,
}

/// A memory that a change makes doubtful.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoubtfulMemory {
    /// Its name.
    pub name: String,
    /// Its path.
    pub path: MemoryPath,
    /// Why, the strongest reason first.
    pub reasons: Vec<DoubtReason>,
}

/// Why a memory is doubtful.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum DoubtReason {
    /// The change edits lines that it rests on.
    Source {
        /// The source as the memory names it.
        source: String,
    },
    /// It mentions a file that the change removes or renames.
    RemovedPath {
        /// The path as the memory names it.
        text: String,
        /// The line of the memory.
        line: u64,
        /// The new path of a renamed file.
        #[serde(skip_serializing_if = "Option::is_none")]
        renamed_to: Option<String>,
    },
    /// It mentions a symbol of which the change removes the last changed line.
    RemovedSymbol {
        /// The symbol.
        text: String,
        /// The line of the memory.
        line: u64,
    },
    /// It mentions a symbol in changed lines.
    ChangedSymbol {
        /// The symbol.
        text: String,
        /// The line of the memory.
        line: u64,
    },
    /// It mentions a file that the change modifies.
    ChangedPath {
        /// The path as the memory names it.
        text: String,
        /// The line of the memory.
        line: u64,
    },
}

impl DoubtReason {
    /// The reason in words; `code` formats a name.
    pub fn describe(&self, code: &dyn Fn(&str) -> String) -> String {
        match self {
            DoubtReason::Source { source } => format!("cites {}, which the change edits", code(source)),
            DoubtReason::RemovedPath { text, line, renamed_to: Some(to) } => {
                format!("mentions {} (line {line}), which the change renames to {}", code(text), code(to))
            }
            DoubtReason::RemovedPath { text, line, renamed_to: None } => {
                format!("mentions {} (line {line}), which the change removes", code(text))
            }
            DoubtReason::RemovedSymbol { text, line } => format!("mentions {} (line {line}), which the change removes", code(text)),
            DoubtReason::ChangedSymbol { text, line } => format!("mentions {} (line {line}), which occurs in changed lines", code(text)),
            DoubtReason::ChangedPath { text, line } => format!("mentions {} (line {line}), which the change edits", code(text)),
        }
    }
}

/// A rule that concerns changed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConcernedRule {
    /// Its name.
    pub name: String,
    /// What it does to an action.
    pub strength: Strength,
    /// The description of the memory, or its first line.
    pub about: String,
    /// The changed files that it concerns.
    pub files: Vec<String>,
}

/// Compares a change with the memories of the space.
pub(crate) fn check_diff(store: &dyn Store, context: &Context, request: &CheckDiff<'_>, cache: Option<&Path>) -> Result<DiffChecked> {
    let change = ChangeWords::new(&request.files);
    let mut out = DiffChecked { files: request.files.len(), ..DiffChecked::default() };
    for entry in store.list("")?.entries {
        if !entry.path.is_md() || mounts::file_kind(store, &entry.path) != FileKind::Memory {
            continue;
        }
        let Some(stored) = store::if_readable(store.get(&entry.path))? else { continue };
        let (decoded, _) = text::decode(&stored.bytes);
        out.memories += 1;
        let reasons = reasons(&change, &decoded);
        if reasons.is_empty() {
            continue;
        }
        let name = stored.path.name().to_owned();
        if is_updated(store, request, &stored.path) {
            out.updated.push(name);
        } else {
            out.doubtful.push(DoubtfulMemory { name, path: stored.path, reasons });
        }
    }
    let table = context.recall_table(store, cache)?;
    out.rules = rules(store, &table, &request.files)?;
    out.doubtful.shared_sort_by(|a, b| a.name.cmp(&b.name));
    out.updated.shared_sort();
    Ok(out)
}

/// Whether the change updates the memory itself, which is a file of the checkout then.
fn is_updated(store: &dyn Store, request: &CheckDiff<'_>, path: &MemoryPath) -> bool {
    let Some((mount, checkout)) = mounts::mount_of(store, path).zip(request.checkout) else { return false };
    let inside = path.strip_prefix(&mount.prefix).unwrap_or_else(|| path.clone());
    let file = mount.root.join(inside.as_str());
    let Ok(relative) = file.strip_prefix(checkout) else { return false };
    request.files.iter().any(|changed| changed.new.as_deref().is_some_and(|new| Path::new(new) == relative))
}

/// The changed paths and the words of the changed lines.
struct ChangeWords<'a> {
    files: &'a [ChangedFile],
    removed: HashSet<&'a str>,
    added: HashSet<&'a str>,
}

impl<'a> ChangeWords<'a> {
    fn new(files: &'a [ChangedFile]) -> Self {
        let lines = |lines: fn(&ChangedFile) -> &Vec<String>| {
            files.iter().flat_map(move |file| lines(file).iter()).flat_map(|line| line_words(line))
        };
        ChangeWords { files, removed: lines(|file| &file.removed).collect(), added: lines(|file| &file.added).collect() }
    }

    /// The changed file that a memory names: by its path, or by the end of it.
    fn file(&self, named: &str) -> Option<&'a ChangedFile> {
        let named = named.trim_start_matches("./");
        let ends = |path: &&str| path.strip_suffix(named).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        self.files.iter().find(|file| file.old.as_deref().or(file.new.as_deref()).filter(ends).is_some())
    }
}

/// The identifiers of a line.
fn line_words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn reasons(change: &ChangeWords<'_>, text: &str) -> Vec<DoubtReason> {
    let (memory, _) = Memory::parse(text);
    let mut out = Vec::new();
    for source in memory.validity().sources {
        let SourceRef::File { path, lines, .. } = &source else { continue };
        let touched = change.files.iter().find(|file| file.old.as_deref() == Some(path));
        if touched.is_some_and(|file| lines.is_none_or(|lines| file.touches(lines))) {
            out.push(DoubtReason::Source { source: source.to_string() });
        }
    }
    // The sources in the frontmatter are not mentions.
    let in_body = |named: &verify::Mention| named.line >= memory.body_first_line();
    for named in verify::mentions(text).into_iter().filter(in_body).take(limits::MENTIONS) {
        let (text, line) = (named.text, named.line);
        match named.what {
            MentionKind::Path => out.extend(change.file(&text).filter(|file| file.old.is_some()).map(|file| match &file.new {
                Some(new) if Some(new) == file.old.as_ref() => DoubtReason::ChangedPath { text, line },
                renamed_to => DoubtReason::RemovedPath { text, line, renamed_to: renamed_to.clone() },
            })),
            MentionKind::Symbol => {
                let last = text.rsplit(['.', ':']).next().unwrap_or(&text).to_owned();
                match (change.removed.contains(last.as_str()), change.added.contains(last.as_str())) {
                    (true, false) => out.push(DoubtReason::RemovedSymbol { text, line }),
                    (true, true) => out.push(DoubtReason::ChangedSymbol { text, line }),
                    (false, _) => {}
                }
            }
            MentionKind::Command | MentionKind::Commit | MentionKind::Link | MentionKind::Memory => {}
        }
    }
    out.shared_sort();
    out.dedup();
    out
}

/// The rules whose path tripwires match a changed file.
fn rules(store: &dyn Store, table: &RecallTable, files: &[ChangedFile]) -> Result<Vec<ConcernedRule>> {
    let mut concerned: BTreeMap<&MemoryPath, (Strength, Vec<String>)> = BTreeMap::new();
    let mut paths: Vec<&str> = files.iter().flat_map(|file| [file.old.as_deref(), file.new.as_deref()]).flatten().collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        for (rule, _, strength) in table.tripped(&Action { paths: vec![path], ..Action::default() }) {
            let (strongest, files) = concerned.entry(rule).or_insert((strength, Vec::new()));
            *strongest = strength.max(*strongest);
            files.push(path.to_owned());
        }
    }
    let mut out = Vec::new();
    for (path, (strength, files)) in concerned {
        let Some(stored) = store::if_readable(store.get(path))? else { continue };
        let about = Memory::parse(&text::decode(&stored.bytes).0).0.hook();
        out.push(ConcernedRule { name: path.name().to_owned(), strength, about: crate::secrets::redact(&about).into_owned(), files });
    }
    Ok(out)
}
