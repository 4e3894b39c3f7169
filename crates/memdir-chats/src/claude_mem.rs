//! Reads the SQLite database of claude-mem for an import: observations, session summaries and directives. The database is opened
//! read-only, even while claude-mem runs. Tables and columns differ between its versions, so every one of them is optional.

mod memories;

use crate::sqlite::{ReadOnlyDatabase, bounded, is_too_large};
use jiff::Timestamp;
use memdir_core::{
    Error, Incoming, Problem, Result,
    internal::{
        base::{limits, text::human_bytes},
        memory::read_time,
    },
};
use rusqlite::{Row, types::ValueRef};
use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

/// The name of the database in the data directory of claude-mem.
const DATABASE: &str = "claude-mem.db";

/// The content of a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClaudeMemContent {
    /// The memories, oldest first within each table.
    pub memories: Vec<Incoming>,
    /// The number of memories in each project that was read, by name.
    pub projects: BTreeMap<String, u64>,
    /// The number of rows of projects that were not asked for.
    pub other_projects: u64,
    /// Rows that were skipped; at most [`limits::CHAT_PROBLEMS`] of them.
    pub problems: Vec<Problem>,
}

/// The kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowKind {
    Observation,
    Summary,
    Directive,
}

/// A table, under its current and its former name, and the columns that are read from it.
struct ClaudeMemTable {
    names: &'static [&'static str],
    kind: RowKind,
    columns: &'static [&'static str],
}

const TABLES: &[ClaudeMemTable] = &[
    ClaudeMemTable {
        names: &["observations", "memories"],
        kind: RowKind::Observation,
        columns: &[
            "type", "title", "subtitle", "narrative", "text", "facts", "concepts", "keywords", "files_read", "files_modified",
            "files_touched",
        ],
    },
    ClaudeMemTable {
        names: &["session_summaries", "overviews"],
        kind: RowKind::Summary,
        columns: &["request", "investigated", "learned", "completed", "next_steps", "notes", "content", "files_read", "files_edited"],
    },
    ClaudeMemTable { names: &["directives"], kind: RowKind::Directive, columns: &["content", "status"] },
];

/// The columns that every table may have.
const COMMON: &[&str] = &["id", "project", "merged_into_project", "created_at", "created_at_epoch"];

/// Reads a database, given by its file or its directory. If `projects` is not empty, only rows of these projects are returned.
/// `progress` is called with the number of rows read and the number of all rows.
pub fn read_claude_mem(path: &Path, projects: &[String], progress: &mut dyn FnMut(u64, u64)) -> Result<ClaudeMemContent> {
    let path = database_file(path);
    let database = ReadOnlyDatabase::open(&path)?;
    let tables = existing_tables(&database, &path)?;
    let total = tables.iter().map(|(_, _, rows)| rows).sum();
    let mut content = ClaudeMemContent::default();
    let mut done = 0;
    for (table, name, _) in &tables {
        read_table(&database, table, name, &mut |row| {
            done += 1;
            progress(done, total);
            content.add(&row, projects);
        })?;
    }
    Ok(content)
}

/// Counts the rows that an import would read: observations and directives, and session summaries.
pub fn count_claude_mem(path: &Path) -> Result<(u64, u64)> {
    let path = database_file(path);
    let tables = existing_tables(&ReadOnlyDatabase::open(&path)?, &path)?;
    let rows = |is_summary: bool| {
        let wanted = tables.iter().filter(|(table, _, _)| (table.kind == RowKind::Summary) == is_summary);
        wanted.map(|(_, _, rows)| rows).sum()
    };
    Ok((rows(false), rows(true)))
}

fn database_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(DATABASE) } else { path.to_owned() }
}

/// The tables that the database has, each with its name and the number of its rows.
fn existing_tables(database: &ReadOnlyDatabase, path: &Path) -> Result<Vec<(&'static ClaudeMemTable, &'static str, u64)>> {
    let mut tables = Vec::new();
    for table in TABLES {
        for name in table.names {
            if database.has_table(name)? {
                let count = database.rows(&format!("SELECT COUNT(*) FROM {name}"), &[], |row| row.get::<_, i64>(0))?;
                tables.push((table, *name, count.first().map_or(0, |count| count.unsigned_abs())));
                break;
            }
        }
    }
    if tables.is_empty() {
        let why = "it has none of claude-mem's tables (observations, session_summaries, directives)";
        return Err(Error::bad_input(path.display().to_string(), why));
    }
    Ok(tables)
}

/// One row, with the columns that have a value.
struct ClaudeMemRow {
    kind: RowKind,
    /// The id, or its position in the table.
    number: u64,
    columns: HashMap<&'static str, String>,
    /// Whether a value was too large to be loaded.
    is_too_large: bool,
}

impl ClaudeMemRow {
    /// The text of a column; empty if it is missing.
    fn text(&self, column: &str) -> &str {
        self.columns.get(column).map_or("", |text| text.trim())
    }

    /// The project: the one into which a worktree was merged, else its own.
    fn project(&self) -> &str {
        let merged = self.text("merged_into_project");
        if merged.is_empty() { self.text("project") } else { merged }
    }

    /// The time of the row: milliseconds or seconds since 1970, else a text.
    fn at(&self) -> Option<Timestamp> {
        let epoch = self.text("created_at_epoch").parse::<i64>().ok().filter(|epoch| *epoch > 0);
        let at = epoch.and_then(|epoch| {
            // Seconds have had ten digits since 2001.
            if epoch >= 100_000_000_000 { Timestamp::from_millisecond(epoch).ok() } else { Timestamp::from_second(epoch).ok() }
        });
        at.or_else(|| read_time(self.text("created_at")))
    }
}

fn read_table(database: &ReadOnlyDatabase, table: &ClaudeMemTable, name: &str, row: &mut dyn FnMut(ClaudeMemRow)) -> Result<()> {
    let mut columns = Vec::new();
    for column in COMMON.iter().chain(table.columns) {
        if database.has_column(name, column)? {
            columns.push(*column);
        }
    }
    if columns.is_empty() {
        return Ok(());
    }
    let values: Vec<String> = columns.iter().map(|column| bounded(column)).collect();
    let too_large: Vec<String> = columns.iter().map(|column| is_too_large(column)).collect();
    let order: Vec<&str> = ["created_at_epoch", "id"].into_iter().filter(|column| columns.contains(column)).collect();
    let order = if order.is_empty() { String::new() } else { format!(" ORDER BY {}", order.join(", ")) };
    let query = format!("SELECT {}, {} FROM {name}{order}", values.join(", "), too_large.join(" OR "));
    let mut position = 0;
    database.each(&query, &[], |sql| {
        position += 1;
        let mut found = HashMap::new();
        for (n, column) in columns.iter().enumerate() {
            if let Some(text) = value(sql, n)? {
                found.insert(*column, text);
            }
        }
        let number = found.get("id").and_then(|id| id.parse().ok()).unwrap_or(position);
        row(ClaudeMemRow { kind: table.kind, number, columns: found, is_too_large: sql.get::<_, bool>(columns.len())? });
        Ok(())
    })
}

/// The value of a column as text, whatever type it has; bytes that are not UTF-8 are replaced.
fn value(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(text) | ValueRef::Blob(text) => Some(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(format!("{number:.0}")),
        ValueRef::Null => None,
    })
}

impl ClaudeMemContent {
    fn add(&mut self, row: &ClaudeMemRow, projects: &[String]) {
        // A directive without a project holds in all of them.
        let is_global = row.kind == RowKind::Directive && row.project().is_empty();
        if !is_global && !projects.is_empty() && !projects.iter().any(|project| project == row.project()) {
            self.other_projects += 1;
            return;
        }
        if row.kind == RowKind::Directive && !matches!(row.text("status"), "" | "active") {
            return;
        }
        let what = match row.kind {
            RowKind::Observation => "observation",
            RowKind::Summary => "session summary",
            RowKind::Directive => "directive",
        };
        if row.is_too_large {
            let limit = human_bytes(limits::CHAT_RECORD_BYTES);
            self.problem(Problem::whole(format!("{what} {}: a field is larger than {limit} and was skipped", row.number)));
        }
        match memories::memory(row) {
            Some(incoming) => {
                *self.projects.entry(row.project().to_owned()).or_default() += 1;
                self.memories.push(incoming);
            }
            None => self.problem(Problem::whole(format!("{what} {} has no text and was skipped", row.number))),
        }
    }

    fn problem(&mut self, problem: Problem) {
        if self.problems.len() < limits::CHAT_PROBLEMS {
            self.problems.push(problem);
        }
    }
}
