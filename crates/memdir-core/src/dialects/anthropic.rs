//! Anthropic's tool `memory`: files under `/memories`, byte for byte, with the texts of the reference implementation.

mod view;

use super::{Advice, Dialect, DialectPlaces, DialectSpace, normalize};
use crate::{
    base::{
        error::{Error, NameProblem, Result},
        path::MemoryPath,
        text,
    },
    operations::raw_files,
    store::{Verb, mount::Mount},
    tools::{
        Level, Tool, ToolContext, ToolResult,
        args::ToolArguments,
        params::{Param, ShownRange},
    },
};

pub(super) const DIALECT: Dialect = Dialect {
    name: "anthropic",
    stands_for: "Anthropic's memory tool (memory_20250818) with its local file system backend",
    needs: "memory/memories in the current directory",
    tools: || &TOOLS,
    space,
};

const COMMAND: Param = Param::typed_choice("command", &["view", "create", "str_replace", "insert", "delete", "rename"]).required();
// Which of these a command needs is for the command to say; the texts may be empty.
const PATH: Param = Param::text("path").empty_is_value().describe("path under /memories; for every command except rename");
const VIEW_RANGE: Param = Param::integer_pair("view_range").describe("view: first and last line");
const FILE_TEXT: Param = Param::text("file_text").empty_is_value().describe("create: the content");
const OLD_STR: Param = Param::text("old_str").empty_is_value().describe("str_replace: the text to replace");
const NEW_STR: Param = Param::text("new_str").empty_is_value().describe("str_replace: the replacement text");
const INSERT_LINE: Param =
    Param::integer("insert_line", i64::MIN, i64::MAX).shown_range(ShownRange::Neither).describe("insert: the line to insert after");
const INSERT_TEXT: Param = Param::text("insert_text").empty_is_value().aliases(&["new_str"]).describe("insert: the text");
const OLD_PATH: Param = Param::text("old_path").empty_is_value().describe("rename: the current path");
const NEW_PATH: Param = Param::text("new_path").empty_is_value().describe("rename: the new path");

const TOOLS: [Tool; 1] = [Tool {
    name: "memory",
    title: "Memory",
    description: include_str!("../../texts/dialects/anthropic-memory.md"),
    params: &[COMMAND, PATH, VIEW_RANGE, FILE_TEXT, OLD_STR, NEW_STR, INSERT_LINE, INSERT_TEXT, OLD_PATH, NEW_PATH],
    closed: false,
    output: None,
    level: Level::Destroys,
    idempotent: false,
    titled: false,
    always_load: false,
    run,
}];

const ROOT: &str = "/memories";

const ADVICE: Advice = Advice {
    name: "Use a path such as /memories/notes/deploy.md.",
    list: "View /memories to list the existing paths.",
    edit: "View the file, then pass an old_str that occurs in it exactly once.",
    split: "Split the text into several files.",
};

fn space(places: &DialectPlaces<'_>) -> Result<DialectSpace> {
    let root = places.dir.map_or_else(|| places.cwd.join("memory/memories"), ToOwned::to_owned);
    let mount = Mount { hidden: true, keeps_folders: true, ..places.file_mount("", &root) };
    Ok(DialectSpace { mounts: vec![mount], root })
}

fn run(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let command = args.required_text(&COMMAND)?;
    let done = match command.as_str() {
        "view" => view::view(caller, args),
        "create" => create(caller, args),
        "str_replace" => str_replace(caller, args),
        "insert" => insert(caller, args),
        "delete" => delete(caller, args),
        "rename" => rename(caller, args),
        other => Err(failure(format!("Unknown command: {other}"))),
    };
    match done {
        // Not a failure.
        Err(error @ Error::Proposed { .. }) => Err(error),
        done => Ok(done.map_or_else(|error| ToolResult::failure(failure_text(&error)), ToolResult::text)),
    }
}

/// An error whose text is shown verbatim.
fn failure(text: impl Into<String>) -> Error {
    Error::bad_edit(text)
}

/// The text of an error: the reference's wording if it has one.
fn failure_text(error: &Error) -> String {
    match error {
        Error::BadEdit { why, .. } => why.clone(),
        other => format!("{}. {}", ADVICE.message(other), ADVICE.hint(other)),
    }
}

/// A path from the caller.
struct GivenPath {
    /// As the caller wrote it.
    shown: String,
    /// The file, or `None` for `/memories` itself.
    path: Option<MemoryPath>,
}

impl GivenPath {
    fn new(shown: String) -> Result<Self> {
        let rest = shown.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let Some(rest) = rest else { return Err(failure(format!("Path must start with /memories, got: {shown}"))) };
        let Some(rest) = normalize(rest) else { return Err(escapes(&shown)) };
        if rest.is_empty() {
            return Ok(GivenPath { path: None, shown });
        }
        match MemoryPath::parse(&rest) {
            Ok(path) => Ok(GivenPath { path: Some(path), shown }),
            Err(_) if rest.contains(['%', '\\', '\0']) => Err(escapes(&shown)),
            Err(error) => Err(Error::explained_path(shown, error.why)),
        }
    }

    fn parse(args: &ToolArguments<'_>, param: &Param) -> Result<Self> {
        GivenPath::new(args.required_text(param)?)
    }

    /// Returns the file, or fails with `text` if the path is `/memories` itself.
    fn file(&self, text: impl FnOnce(&str) -> String) -> Result<&MemoryPath> {
        self.path.as_ref().ok_or_else(|| failure(text(&self.shown)))
    }

    /// Rewords an error of the store as the reference does.
    fn reworded(&self, error: Error) -> Error {
        match error {
            Error::BadPath { problem: NameProblem::Link, .. } => escapes(&self.shown),
            Error::BadPath { problem: NameProblem::NotRegular, .. } => failure(format!("Unsupported file type for {}", self.shown)),
            // Names of the store are relative; callers know paths below the root.
            Error::BadPath { path, why, problem } => Error::BadPath { path: format!("{ROOT}/{path}"), why, problem },
            Error::TooLarge { what, size, limit } => Error::TooLarge { what: format!("{ROOT}/{what}"), size, limit },
            Error::ReadOnly { path, why, cause } => Error::ReadOnly { path: format!("{ROOT}/{path}"), why, cause },
            other => other,
        }
    }

    fn missing(&self) -> Error {
        failure(format!("The path {} does not exist. Please provide a valid path.", self.shown))
    }
}

fn escapes(shown: &str) -> Error {
    failure(format!("Path {shown} would escape /memories directory"))
}

fn create(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<String> {
    let (given, content) = (GivenPath::parse(args, &PATH)?, args.text(&FILE_TEXT)?.unwrap_or_default());
    let exists = |shown: &str| format!("File {shown} already exists");
    let path = given.file(exists)?;
    let (store, context) = (caller.memdir.store(), caller.memdir.context());
    raw_files::rewrite(store, context, Verb::Write, path, &mut |view, old| match old {
        None if !raw_files::is_folder(view, path)? => Ok(content.clone().into_bytes()),
        _ => Err(failure(exists(&given.shown))),
    })
    .map_err(|error| given.reworded(error))?;
    Ok(format!("File created successfully at: {}", given.shown))
}

/// Changes the text of an existing file.
fn rewrite(caller: &ToolContext, given: &GivenPath, change: &mut dyn FnMut(&str) -> Result<String>) -> Result<()> {
    let not_a_file = |shown: &str| format!("The path {shown} is not a file.");
    let path = given.file(not_a_file)?;
    let (store, context) = (caller.memdir.store(), caller.memdir.context());
    let changed = raw_files::rewrite(store, context, Verb::Edit, path, &mut |view, old| match old {
        Some(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(change(text)?.into_bytes()),
            Err(_) => {
                Err(failure(format!("The file {} is not UTF-8 text and cannot be edited. Create another file instead.", given.shown)))
            }
        },
        None if raw_files::is_folder(view, path)? => Err(failure(not_a_file(&given.shown))),
        None => Err(given.missing()),
    });
    changed.map(|_| ()).map_err(|error| given.reworded(error))
}

fn str_replace(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<String> {
    let given = GivenPath::parse(args, &PATH)?;
    let (old, new) = (args.required_text(&OLD_STR)?, args.text(&NEW_STR)?.unwrap_or_default());
    let mut snippet = String::new();
    rewrite(caller, &given, &mut |content| {
        let mut spots = content.match_indices(old.as_str()).map(|(at, _)| at);
        let (Some(at), None) = (spots.next(), spots.next()) else { return Err(not_once(&given, content, &old)) };
        let edited = format!("{}{new}{}", &content[..at], &content[at + old.len()..]);
        let line = text::line_at(content, at);
        snippet = view::numbered(&edited, line.saturating_sub(2).max(1), Some(line + 2));
        Ok(edited)
    })?;
    Ok(format!("The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"))
}

/// Maximum number of occurrences whose lines are listed.
const OCCURRENCES: usize = 2_000;

fn not_once(given: &GivenPath, content: &str, old: &str) -> Error {
    let lines = lines_with(content, old);
    if lines.is_empty() {
        return failure(format!("No replacement was performed, old_str `{old}` did not appear verbatim in {}.", given.shown));
    }
    let lines = lines.join(", ");
    failure(format!("No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"))
}

/// The line of each occurrence of `old`, overlapping ones included.
fn lines_with(content: &str, old: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut from, mut line) = (0, 1);
    while let Some(at) = content.get(from..).and_then(|rest| rest.find(old)).filter(|_| lines.len() < OCCURRENCES) {
        line += content[from..from + at].matches('\n').count();
        lines.push(line.to_string());
        // The next occurrence begins at least one character later.
        let Some(first) = content[from + at..].chars().next() else { break };
        line += usize::from(first == '\n');
        from += at + first.len_utf8();
    }
    lines
}

fn insert(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<String> {
    let given = GivenPath::parse(args, &PATH)?;
    let after = args.integer(&INSERT_LINE)?.ok_or_else(|| Error::bad_input("insert_line", "required by insert"))?;
    let added = args.required_text(&INSERT_TEXT)?;
    let added = added.trim_end_matches('\n');
    rewrite(caller, &given, &mut |content| {
        let mut lines: Vec<&str> = content.split('\n').collect();
        lines.pop_if(|last| last.is_empty());
        let count = lines.len();
        let after = usize::try_from(after)
            .ok()
            .filter(|after| *after <= count)
            .ok_or_else(|| failure(format!("Invalid `insert_line` parameter: {after}. It should be within the range [0, {count}].")))?;
        lines.insert(after, added);
        let mut edited = lines.join("\n");
        if !edited.ends_with('\n') {
            edited.push('\n');
        }
        Ok(edited)
    })?;
    Ok(format!("The file {} has been edited.", given.shown))
}

fn delete(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<String> {
    let given = GivenPath::parse(args, &PATH)?;
    let path = given.file(|_| "Cannot delete the /memories directory itself".into())?;
    match raw_files::remove(caller.memdir.store(), caller.memdir.context(), path) {
        Ok(_) => Ok(format!("Successfully deleted {}", given.shown)),
        Err(Error::NotFound { .. }) => Err(failure(format!("The path {} does not exist", given.shown))),
        Err(error) => Err(given.reworded(error)),
    }
}

fn rename(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<String> {
    let (from, to) = (GivenPath::parse(args, &OLD_PATH)?, GivenPath::parse(args, &NEW_PATH)?);
    let old = from.file(|_| "Cannot rename the /memories directory itself".into())?;
    let taken = |shown: &str| format!("The destination {shown} already exists");
    let new = to.file(taken)?;
    match raw_files::relocate(caller.memdir.store(), caller.memdir.context(), old, new) {
        Ok(_) => Ok(format!("Successfully renamed {} to {}", from.shown, to.shown)),
        Err(Error::NotFound { .. }) => {
            if let Some(parent) = new.parent().map(MemoryPath::parse) {
                // As in the reference, the folders of the destination exist afterwards. A folder that may not be made is not.
                let _ = caller.memdir.store().change_folders(&[parent?], &[]);
            }
            Err(failure(format!("The path {} does not exist", from.shown)))
        }
        Err(Error::Exists { .. }) => Err(failure(taken(&to.shown))),
        Err(error) => Err(to.reworded(error)),
    }
}
