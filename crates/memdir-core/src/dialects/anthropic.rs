//! The one tool `memory`: files under `/memories`, byte for byte, with the texts of the reference implementation.

mod view;

use super::{Dialect, Places, Space};
use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        text,
    },
    operations::{exact, write},
    store::{
        Verb,
        files::{Links, Mount},
    },
    tools::{Caller, Level, Tool, ToolResult, args::Args},
};
use serde_json::json;

pub(super) const DIALECT: Dialect = Dialect {
    name: "anthropic",
    stands_for: "Anthropic's memory tool (memory_20250818) with its local file system backend",
    needs: "memory/memories in the current directory",
    tools: || &TOOLS,
    space,
};

const TOOLS: [Tool; 1] = [Tool {
    name: "memory",
    title: "Memory",
    description: include_str!("../../texts/dialects/anthropic-memory.md"),
    input: || {
        json!({ "type": "object", "properties": {
            "command": { "type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"] },
            "path": { "type": "string", "description": "begins with /memories; for all but rename" },
            "view_range": { "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2, "description": "view: first and last line" },
            "file_text": { "type": "string", "description": "create: the content" },
            "old_str": { "type": "string", "description": "str_replace: what is there" },
            "new_str": { "type": "string", "description": "str_replace: what stands there afterwards" },
            "insert_line": { "type": "integer", "description": "insert: the line after which" },
            "insert_text": { "type": "string", "description": "insert: the text" },
            "old_path": { "type": "string", "description": "rename: its name now" },
            "new_path": { "type": "string", "description": "rename: its new name" }
        }, "required": ["command"] })
    },
    output: None,
    level: Level::Destroys,
    idempotent: false,
    titled: false,
    run,
}];

const ROOT: &str = "/memories";

fn space(places: &Places<'_>) -> Result<Space> {
    let root = places.dir.map_or_else(|| places.cwd.join("memory/memories"), ToOwned::to_owned);
    let mount = Mount { hidden: true, links: Links { inside: true, ..Links::default() }, ..places.plain("", &root) };
    Ok(Space { mounts: vec![mount], root })
}

fn run(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let command = args.needed(&["command"])?;
    let done = match command.as_str() {
        "view" => view::view(caller, args),
        "create" => create(caller, args),
        "str_replace" => str_replace(caller, args),
        "insert" => insert(caller, args),
        "delete" => delete(caller, args),
        "rename" => rename(caller, args),
        other => Err(says(format!("Unknown command: {other}"))),
    };
    Ok(done.map_or_else(|error| ToolResult::failure(words(&error)), ToolResult::text))
}

/// A failure in exactly these words.
fn says(text: impl Into<String>) -> Error {
    Error::BadEdit { why: text.into() }
}

/// What is told of a failure: the reference's words where it has some.
fn words(error: &Error) -> String {
    match error {
        Error::BadEdit { why } => why.clone(),
        other => format!("{other}. {}", other.hint()),
    }
}

/// A path the caller gave: as given, and the file it means; nothing for the directory itself.
struct Given {
    shown: String,
    path: Option<MemoryPath>,
}

impl Given {
    fn new(shown: String) -> Result<Self> {
        let rest = shown.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let Some(rest) = rest else { return Err(says(format!("Path must start with /memories, got: {shown}"))) };
        let rest = rest.trim_matches('/');
        if rest.is_empty() {
            return Ok(Given { path: None, shown });
        }
        match MemoryPath::parse(rest) {
            Ok(path) => Ok(Given { path: Some(path), shown }),
            Err(_) if rest.contains("..") || rest.contains(['%', '\\', '\0']) => Err(escapes(&shown)),
            Err(error) => Err(error.into()),
        }
    }

    fn of(args: &Args<'_>, name: &'static str) -> Result<Self> {
        Given::new(args.needed(&[name])?)
    }

    /// The file that is meant, or `text` if it is the directory itself.
    fn file(&self, text: impl FnOnce(&str) -> String) -> Result<&MemoryPath> {
        self.path.as_ref().ok_or_else(|| says(text(&self.shown)))
    }

    /// A refusal by the store in the reference's words.
    fn refused(&self, error: Error) -> Error {
        match error {
            Error::BadPath { why, .. } if why.contains("symbolic link") => escapes(&self.shown),
            Error::BadPath { why, .. } if why.contains("not a regular file") => says(format!("Unsupported file type for {}", self.shown)),
            other => other,
        }
    }

    fn missing(&self) -> Error {
        says(format!("The path {} does not exist. Please provide a valid path.", self.shown))
    }
}

fn escapes(shown: &str) -> Error {
    says(format!("Path {shown} would escape /memories directory"))
}

fn create(caller: &Caller, args: &Args<'_>) -> Result<String> {
    let (given, content) = (Given::of(args, "path")?, args.text(&["file_text"])?.unwrap_or_default());
    let exists = |shown: &str| format!("File {shown} already exists");
    let path = given.file(exists)?;
    let (store, context) = (caller.memdir.store(), caller.memdir.context());
    exact::rewrite(store, context, Verb::Write, path, &mut |view, there| match there {
        None if !exact::is_folder(view, path)? => Ok(content.clone().into_bytes()),
        _ => Err(says(exists(&given.shown))),
    })
    .map_err(|error| given.refused(error))?;
    Ok(format!("File created successfully at: {}", given.shown))
}

/// Changes the text of a file that must be there.
fn rewrite(caller: &Caller, given: &Given, change: &mut dyn FnMut(&str) -> Result<String>) -> Result<()> {
    let not_a_file = |shown: &str| format!("The path {shown} is not a file.");
    let path = given.file(not_a_file)?;
    let (store, context) = (caller.memdir.store(), caller.memdir.context());
    let changed = exact::rewrite(store, context, Verb::Edit, path, &mut |view, there| match there {
        Some(bytes) => Ok(change(write::utf8(path, bytes)?)?.into_bytes()),
        None if exact::is_folder(view, path)? => Err(says(not_a_file(&given.shown))),
        None => Err(given.missing()),
    });
    changed.map(|_| ()).map_err(|error| given.refused(error))
}

fn str_replace(caller: &Caller, args: &Args<'_>) -> Result<String> {
    let given = Given::of(args, "path")?;
    let (old, new) = (args.needed(&["old_str"])?, args.text(&["new_str"])?.unwrap_or_default());
    let mut snippet = String::new();
    rewrite(caller, &given, &mut |content| {
        let spots: Vec<usize> = content.match_indices(old.as_str()).map(|(at, _)| at).take(2_000).collect();
        let [at] = spots.as_slice() else { return Err(not_once(&given, content, &old, &spots)) };
        let edited = format!("{}{new}{}", &content[..*at], &content[at + old.len()..]);
        let line = text::line_at(content, *at);
        snippet = view::numbered(&edited, line.saturating_sub(2).max(1), Some(line + 2));
        Ok(edited)
    })?;
    Ok(format!("The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"))
}

fn not_once(given: &Given, content: &str, old: &str, spots: &[usize]) -> Error {
    if spots.is_empty() {
        return says(format!("No replacement was performed, old_str `{old}` did not appear verbatim in {}.", given.shown));
    }
    let lines: Vec<String> = spots.iter().map(|at| text::line_at(content, *at).to_string()).collect();
    let lines = lines.join(", ");
    says(format!("No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"))
}

fn insert(caller: &Caller, args: &Args<'_>) -> Result<String> {
    let given = Given::of(args, "path")?;
    let after = args.whole(&["insert_line"], i64::MIN..=i64::MAX)?.ok_or_else(|| Error::bad_input("insert_line", "insert needs it"))?;
    let added = args.needed(&["insert_text", "new_str"])?;
    let added = added.trim_end_matches('\n');
    rewrite(caller, &given, &mut |content| {
        let count = text::lines(content);
        let after = u64::try_from(after)
            .ok()
            .filter(|after| *after <= count)
            .ok_or_else(|| says(format!("Invalid `insert_line` parameter: {after}. It should be within the range [0, {count}].")))?;
        let at = text::line_start(content, after + 1);
        let (before, rest) = content.split_at(at);
        let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        let last = if rest.is_empty() || rest.ends_with('\n') { "" } else { "\n" };
        Ok(format!("{before}{end}{added}\n{rest}{last}"))
    })?;
    Ok(format!("The file {} has been edited.", given.shown))
}

fn delete(caller: &Caller, args: &Args<'_>) -> Result<String> {
    let given = Given::of(args, "path")?;
    let path = given.file(|_| "Cannot delete the /memories directory itself".into())?;
    match exact::remove(caller.memdir.store(), caller.memdir.context(), path) {
        Ok(_) => Ok(format!("Successfully deleted {}", given.shown)),
        Err(Error::NotFound { .. }) => Err(says(format!("The path {} does not exist", given.shown))),
        Err(error) => Err(given.refused(error)),
    }
}

fn rename(caller: &Caller, args: &Args<'_>) -> Result<String> {
    let (from, to) = (Given::of(args, "old_path")?, Given::of(args, "new_path")?);
    let old = from.file(|_| "Cannot rename the /memories directory itself".into())?;
    let taken = |shown: &str| format!("The destination {shown} already exists");
    let new = to.file(taken)?;
    match exact::relocate(caller.memdir.store(), caller.memdir.context(), old, new) {
        Ok(_) => Ok(format!("Successfully renamed {} to {}", from.shown, to.shown)),
        Err(Error::NotFound { .. }) => Err(says(format!("The path {} does not exist", from.shown))),
        Err(Error::Exists { .. }) => Err(says(taken(&to.shown))),
        Err(error) => Err(to.refused(error)),
    }
}
