//! Serena's memory tools: the memories of a project by name, those of all projects under `global/`, with Serena's own patterns.

mod settings;

use super::{Advice, Dialect, DialectPlaces, DialectSpace, cut_with_note};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{EditProblem, Error, Result},
        limits,
        path::{self, MemoryPath},
        text,
    },
    memory::edit::Needle,
    operations::{
        delete::Delete,
        edit::Edit,
        write::{Write, WriteMode},
    },
    secrets,
    store::mount::{Mount, real_path},
    tools::{
        Level, Tool, ToolContext, ToolResult,
        args::ToolArguments,
        params::{Param, ShownRange},
    },
};
use serde_json::{Value, json};

pub(super) const DIALECT: Dialect = Dialect {
    name: "serena",
    stands_for: "Serena's memory tools",
    needs: ".serena/memories in the repository or in the nearest parent directory with .serena/project.yml, and memories/global in SERENA_HOME or ~/.serena; read-only and ignored patterns from serena_config.yml and project.yml",
    tools: || &TOOLS,
    space,
};

const NAME: Param = Param::text("memory_name").aliases(&["memory_file_name"]).required();
const READ_NAME: Param = NAME.describe("as shown by list_memories");
const WRITE_NAME: Param = NAME.describe("name with topics separated by /; .md is optional");
const TOPIC: Param = Param::text("topic").default_text("").describe("list only the names under this topic");
const MAX_ANSWER_CHARS: Param =
    max_chars("max_answer_chars").aliases(&["max_chars"]).describe("maximum number of characters; -1 means 150,000");
const CONTENT: Param = Param::text("content").required().describe("Markdown");
const MAX_CHARS: Param = max_chars("max_chars").aliases(&["max_answer_chars"]).describe("maximum length of the content; -1 means 150,000");
// What -1 means in the two descriptions, which cannot be made of the constant.
const _: () = assert!(limits::DIALECT_CHARS == 150_000, "change the descriptions of max_answer_chars and max_chars, too");
const NEEDLE: Param = Param::text("needle").required().describe("the text to replace");
const REPL: Param = Param::text("repl").required().describe("the replacement text");
const MODE: Param = Param::typed_choice("mode", &["literal", "regex"]).required();
const ALLOW_MULTIPLE: Param = Param::flag("allow_multiple_occurrences").default_flag(false);
const OLD_NAME: Param = Param::text("old_name").required();
const NEW_NAME: Param = Param::text("new_name").required();

const LIST_PARAMS: &[Param] = &[TOPIC];
const READ_PARAMS: &[Param] = &[READ_NAME, MAX_ANSWER_CHARS];
const WRITE_PARAMS: &[Param] = &[WRITE_NAME, CONTENT, MAX_CHARS];
const EDIT_PARAMS: &[Param] = &[NAME, NEEDLE, REPL, MODE, ALLOW_MULTIPLE];
const DELETE_PARAMS: &[Param] = &[NAME];
const RENAME_PARAMS: &[Param] = &[OLD_NAME, NEW_NAME];

/// A limit in characters. Every integer is accepted; one below 1 is the default limit.
const fn max_chars(name: &'static str) -> Param {
    Param::integer(name, i64::MIN, i64::MAX).shown_range(ShownRange::Neither).default_integer(-1)
}

const ADVICE: Advice = Advice {
    name: "Use a name such as topic/name.",
    list: "Call list_memories to list the existing names.",
    edit: "Read the memory, then pass a needle that occurs in it exactly once, or set allow_multiple_occurrences.",
    split: "Split the text into several memories.",
};

const TOOLS: [Tool; 7] = [
    tool(
        "list_memories",
        "List Memories",
        include_str!("../../texts/dialects/serena-list_memories.md"),
        Level::Safe,
        true,
        LIST_PARAMS,
        |caller, args| ADVICE.apply(list(caller, args)),
    ),
    tool(
        "read_memory",
        "Read Memory",
        include_str!("../../texts/dialects/serena-read_memory.md"),
        Level::Safe,
        true,
        READ_PARAMS,
        |caller, args| ADVICE.apply(read(caller, args)),
    ),
    tool(
        "write_memory",
        "Write Memory",
        include_str!("../../texts/dialects/serena-write_memory.md"),
        Level::Destroys,
        true,
        WRITE_PARAMS,
        |caller, args| ADVICE.apply(write(caller, args)),
    ),
    tool(
        "edit_memory",
        "Edit Memory",
        include_str!("../../texts/dialects/serena-edit_memory.md"),
        Level::Destroys,
        false,
        EDIT_PARAMS,
        |caller, args| ADVICE.apply(edit(caller, args)),
    ),
    tool(
        "delete_memory",
        "Delete Memory",
        include_str!("../../texts/dialects/serena-delete_memory.md"),
        Level::Destroys,
        true,
        DELETE_PARAMS,
        |caller, args| ADVICE.apply(delete(caller, args)),
    ),
    tool(
        "rename_memory",
        "Rename Memory",
        include_str!("../../texts/dialects/serena-rename_memory.md"),
        Level::Destroys,
        false,
        RENAME_PARAMS,
        |caller, args| ADVICE.apply(rename(caller, args)),
    ),
    tool("onboarding", "Onboarding", include_str!("../../texts/dialects/serena-onboarding-tool.md"), Level::Safe, true, &[], onboarding),
];

const fn tool(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    level: Level,
    idempotent: bool,
    params: &'static [Param],
    run: fn(&ToolContext, &ToolArguments<'_>) -> Result<ToolResult>,
) -> Tool {
    Tool {
        name,
        title,
        description,
        params,
        closed: false,
        output: Some(result_schema),
        level,
        idempotent,
        titled: true,
        always_load: false,
        run,
    }
}

fn result_schema() -> Value {
    json!({ "type": "object", "properties": { "result": { "type": "string" } }, "required": ["result"] })
}

fn space(places: &DialectPlaces<'_>) -> Result<DialectSpace> {
    let home = (places.path_var)("SERENA_HOME")?.unwrap_or_else(|| places.home.join(".serena"));
    let settings = settings::load(places, &home)?;
    let root = places.dir.map_or_else(|| settings.folder.join("memories"), ToOwned::to_owned);
    let with_rules =
        |mount: Mount| Mount { foreign_read_only: settings.read_only.clone(), foreign_ignored: settings.ignored.clone(), ..mount };
    let mut mounts = vec![with_rules(places.file_mount("", &root))];
    let global = home.join("memories/global");
    // In the home directory itself, the global memories are inside the project's and already have the same names.
    if !real_path(&global).starts_with(real_path(&root)) {
        mounts.push(with_rules(places.file_mount("global", &global)));
    }
    Ok(DialectSpace { mounts, root })
}

/// Parses a name. One prefix `mem:` and one suffix `.md` are removed.
fn parse_name(given: &str) -> Result<MemoryPath> {
    let name = given.strip_prefix("mem:").unwrap_or(given);
    let name = path::strip_md(name);
    if name == "global" {
        return Err(Error::explained_path(given, "global/ contains the memories shared by all projects; use a name such as global/style"));
    }
    let path = MemoryPath::parse(name)?;
    if path.file_name().eq_ignore_ascii_case(".md") {
        return Err(Error::bad_path(given, "it is only the extension .md"));
    }
    Ok(MemoryPath::parse(&format!("{name}.md"))?)
}

fn text_result(text: impl Into<String>) -> Result<ToolResult> {
    let text = text.into();
    Ok(ToolResult::new(json!({ "result": text }), text))
}

fn list(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let topic = args.text(&TOPIC)?.unwrap_or_default();
    args.reject_unknown()?;
    let topic = match topic.as_str() {
        "" => String::new(),
        // One trailing slash is accepted; a lone slash is the root of the file system and refused.
        topic => MemoryPath::parse(topic.strip_suffix('/').filter(|topic| !topic.is_empty()).unwrap_or(topic))?.as_str().to_owned(),
    };
    let store = caller.memdir.store();
    let (mut memories, mut read_only) = (Vec::new(), Vec::new());
    let walk = store.list(&topic)?;
    for entry in walk.entries.iter().filter(|entry| entry.path.is_md()) {
        let list = if store.check_writable(&entry.path).is_ok() { &mut memories } else { &mut read_only };
        list.push(secrets::redact(entry.path.name()).into_owned());
    }
    memories.shared_sort();
    read_only.shared_sort();
    // Serena lists linked directories. A link that is not followed is reported with the setting that changes this.
    let notes = walk.problems.into_iter().map(|problem| problem.what).filter(|what| what.contains("link_roots"));
    let lists = [("memories", memories), ("read_only_memories", read_only), ("notes", notes.collect())];
    let lists = lists.iter().filter(|(_, names)| !names.is_empty()).map(|(key, names)| format!("{}: [{}]", json!(key), python_list(names)));
    text_result(format!("{{{}}}", lists.collect::<Vec<_>>().join(", ")))
}

/// Names as JSON, with a space after each comma as Python's `json.dumps` writes it.
fn python_list(names: &[String]) -> String {
    names.iter().map(|name| json!(name).to_string()).collect::<Vec<_>>().join(", ")
}

fn read(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let given = args.required_text(&READ_NAME)?;
    let max = limit(args, &MAX_ANSWER_CHARS)?;
    args.reject_unknown()?;
    let Some(stored) = caller.memdir.store().get(&parse_name(&given)?)? else {
        return Ok(ToolResult::failure(format!("Memory named '{given}' not found")));
    };
    let (content, _) = text::decode(&stored.bytes);
    let all = content.chars().count();
    text_result(cut_with_note(&content, max, |_, left| {
        format!("[{left} of {all} characters are not shown; to read the whole memory, call read_memory again with max_answer_chars={all}]")
    }))
}

fn limit(args: &ToolArguments<'_>, param: &Param) -> Result<usize> {
    let max = args.integer(param)?.unwrap_or(-1);
    Ok(usize::try_from(max).ok().filter(|max| *max > 0).unwrap_or(limits::DIALECT_CHARS))
}

fn write(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let (given, content) = (args.required_text(&WRITE_NAME)?, args.required_text(&CONTENT)?);
    let max = limit(args, &MAX_CHARS)?;
    args.reject_unknown()?;
    let chars = content.chars().count();
    if chars > max {
        let text = format!(
            "Content for memory {given} is too long: {chars} characters, and at most {max} are allowed. Please make the content shorter."
        );
        return Ok(ToolResult::failure(text));
    }
    caller.memdir.write(&Write::create(parse_name(&given)?, content).mode(WriteMode::Exact))?;
    text_result(format!("Memory {given} written."))
}

fn edit(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let (given, needle) = (args.required_text(&NAME)?, args.required_text(&NEEDLE)?);
    let needle = match args.text(&MODE)?.as_deref() {
        Some("literal") | None => Needle::Literal(needle),
        Some("regex") => Needle::Regex(needle),
        Some(other) => return Err(Error::bad_input("mode", format!("{other:?} is neither literal nor regex"))),
    };
    let (with, all) = (args.required_text(&REPL)?, args.flag(&ALLOW_MULTIPLE)?);
    args.reject_unknown()?;
    match caller.memdir.edit(&Edit { path: parse_name(&given)?, needle, with, all, expect: None, final_newline: false }) {
        Ok(_) => text_result(format!("Memory {given} edited successfully.")),
        Err(Error::BadEdit { problem: EditProblem::NotUtf8, .. }) => Ok(ToolResult::failure(format!(
            "Memory {given} is not UTF-8 text and cannot be edited. Replace all of it with write_memory, or write another memory."
        ))),
        Err(Error::NotFound { .. }) => Ok(ToolResult::failure(format!("Memory named '{given}' not found"))),
        Err(error) => Err(error),
    }
}

fn delete(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let given = args.required_text(&NAME)?;
    args.reject_unknown()?;
    match caller.memdir.delete(&Delete { path: parse_name(&given)?, expect: None }) {
        Ok(_) => text_result(format!("Memory {given} deleted.")),
        Err(Error::NotFound { .. }) => text_result(format!("Memory {given} not found.")),
        Err(error) => Err(error),
    }
}

fn rename(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let (old, new) = (args.required_text(&OLD_NAME)?, args.required_text(&NEW_NAME)?);
    args.reject_unknown()?;
    let renamed = match caller.memdir.rename(&parse_name(&old)?, &parse_name(&new)?) {
        Err(Error::NotFound { .. }) => return Ok(ToolResult::failure(format!("Memory named '{old}' not found"))),
        Err(Error::Exists { .. }) => return Ok(ToolResult::failure(format!("Memory named '{new}' already exists"))),
        renamed => renamed?,
    };
    let mut text = format!("Memory renamed from {old} to {new}.");
    if !renamed.skipped.is_empty() {
        text += &format!(" References in read-only memories were not updated: {}.", renamed.skipped.join(", "));
    }
    text_result(text)
}

fn onboarding(_: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    args.reject_unknown()?;
    text_result(include_str!("../../texts/dialects/serena-onboarding.md").trim_end())
}
