//! Serena's memory tools: a project's memories by name, those of all projects under `global/`, with its own patterns.

mod settings;

use super::{Dialect, Places, Space, whole};
use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::{self, MemoryPath},
        text,
    },
    memory::edit::Needle,
    operations::{
        delete::Delete,
        edit::Edit,
        write::{Mode, Write},
    },
    store::files::{Links, Mount, real_path},
    tools::{Caller, Level, Tool, ToolResult, args::Args},
};
use serde_json::{Value, json};

pub(super) const DIALECT: Dialect = Dialect {
    name: "serena",
    stands_for: "Serena's memory tools",
    needs: ".serena/memories in the project, and memories/global in SERENA_HOME or ~/.serena; patterns from serena_config.yml and project.yml",
    tools: || &TOOLS,
    space,
};

const NAME: &[&str] = &["memory_name", "memory_file_name"];
const TOOLS: [Tool; 7] = [
    tool(
        "list_memories",
        "List Memories",
        include_str!("../../texts/dialects/serena-list_memories.md"),
        Level::Safe,
        true,
        list_schema,
        list,
    ),
    tool("read_memory", "Read Memory", include_str!("../../texts/dialects/serena-read_memory.md"), Level::Safe, true, read_schema, read),
    tool(
        "write_memory",
        "Write Memory",
        include_str!("../../texts/dialects/serena-write_memory.md"),
        Level::Destroys,
        true,
        write_schema,
        write,
    ),
    tool(
        "edit_memory",
        "Edit Memory",
        include_str!("../../texts/dialects/serena-edit_memory.md"),
        Level::Destroys,
        false,
        edit_schema,
        edit,
    ),
    tool(
        "delete_memory",
        "Delete Memory",
        include_str!("../../texts/dialects/serena-delete_memory.md"),
        Level::Destroys,
        true,
        delete_schema,
        delete,
    ),
    tool(
        "rename_memory",
        "Rename Memory",
        include_str!("../../texts/dialects/serena-rename_memory.md"),
        Level::Destroys,
        false,
        rename_schema,
        rename,
    ),
    tool(
        "onboarding",
        "Onboarding",
        include_str!("../../texts/dialects/serena-onboarding-tool.md"),
        Level::Safe,
        true,
        no_schema,
        onboarding,
    ),
];

const fn tool(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    level: Level,
    idempotent: bool,
    input: fn() -> Value,
    run: fn(&Caller, &Args<'_>) -> Result<ToolResult>,
) -> Tool {
    Tool { name, title, description, input, output: Some(result_schema), level, idempotent, titled: true, run }
}

fn result_schema() -> Value {
    json!({ "type": "object", "properties": { "result": { "type": "string" } }, "required": ["result"] })
}

fn no_schema() -> Value {
    json!({ "type": "object", "properties": {} })
}

fn list_schema() -> Value {
    json!({ "type": "object", "properties": {
        "topic": { "type": "string", "default": "", "description": "only names under it" }
    } })
}

fn read_schema() -> Value {
    json!({ "type": "object", "properties": {
        "memory_name": { "type": "string", "description": "as list_memories shows it" },
        "max_answer_chars": { "type": "integer", "default": -1, "description": "show at most so many characters; -1 for 150,000" }
    }, "required": ["memory_name"] })
}

fn write_schema() -> Value {
    json!({ "type": "object", "properties": {
        "memory_name": { "type": "string", "description": "topics parted by /; .md is not needed" },
        "content": { "type": "string", "description": "Markdown" },
        "max_chars": { "type": "integer", "default": -1, "description": "refuse longer content; -1 for 150,000" }
    }, "required": ["memory_name", "content"] })
}

fn edit_schema() -> Value {
    json!({ "type": "object", "properties": {
        "memory_name": { "type": "string" },
        "needle": { "type": "string", "description": "what to look for" },
        "repl": { "type": "string", "description": "what stands there afterwards" },
        "mode": { "type": "string", "enum": ["literal", "regex"] },
        "allow_multiple_occurrences": { "type": "boolean", "default": false }
    }, "required": ["memory_name", "needle", "repl", "mode"] })
}

fn delete_schema() -> Value {
    json!({ "type": "object", "properties": { "memory_name": { "type": "string" } }, "required": ["memory_name"] })
}

fn rename_schema() -> Value {
    json!({ "type": "object", "properties": {
        "old_name": { "type": "string" }, "new_name": { "type": "string" }
    }, "required": ["old_name", "new_name"] })
}

fn space(places: &Places<'_>) -> Result<Space> {
    let home = (places.path_var)("SERENA_HOME")?.unwrap_or_else(|| places.home.join(".serena"));
    let settings = settings::load(places, &home)?;
    let root = places.dir.map_or_else(|| settings.folder.join("memories"), ToOwned::to_owned);
    let with_rules = |mount: Mount| Mount {
        read_only: settings.read_only.clone(),
        ignored: settings.ignored.clone(),
        patterns_see_prefix: true,
        links: Links { inside: true, ..Links::default() },
        ..mount
    };
    let mut mounts = vec![with_rules(places.plain("", &root))];
    let global = home.join("memories/global");
    // In the home directory itself the one lies inside the other, and its names are the same without a mount.
    if !real_path(&global).starts_with(real_path(&root)) {
        mounts.push(with_rules(places.plain("global", &global)));
    }
    Ok(Space { mounts, root })
}

/// The file a name means. `mem:` before it and `.md` behind it are dropped once.
fn named(given: &str) -> Result<MemoryPath> {
    let name = given.strip_prefix("mem:").unwrap_or(given);
    let name = path::strip_md(name);
    if name == "global" {
        return Err(Error::bad_path(given, "global/ is where memories of all projects are; give one of them, such as global/style"));
    }
    MemoryPath::parse(name)?;
    Ok(MemoryPath::parse(&format!("{name}.md"))?)
}

fn says(text: impl Into<String>) -> Result<ToolResult> {
    let text = text.into();
    Ok(ToolResult::new(json!({ "result": text }), text))
}

fn list(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let topic = args.text(&["topic"])?.unwrap_or_default();
    args.finish()?;
    let topic = match topic.as_str() {
        "" => String::new(),
        // One slash behind a topic only says that it is one; a slash alone is the root of the machine.
        topic => MemoryPath::parse(topic.strip_suffix('/').filter(|topic| !topic.is_empty()).unwrap_or(topic))?.as_str().to_owned(),
    };
    let store = caller.memdir.store();
    let (mut memories, mut read_only) = (Vec::new(), Vec::new());
    for entry in store.list(&topic)?.entries.iter().filter(|entry| entry.path.is_md()) {
        let list = if store.check_writable(&entry.path).is_ok() { &mut memories } else { &mut read_only };
        list.push(entry.path.name().to_owned());
    }
    memories.sort();
    read_only.sort();
    let lists = [("memories", memories), ("read_only_memories", read_only)];
    let lists = lists.iter().filter(|(_, names)| !names.is_empty()).map(|(key, names)| format!("{}: [{}]", json!(key), spaced(names)));
    says(format!("{{{}}}", lists.collect::<Vec<_>>().join(", ")))
}

/// Names as JSON, with a blank after each comma as Python writes it.
fn spaced(names: &[String]) -> String {
    names.iter().map(|name| json!(name).to_string()).collect::<Vec<_>>().join(", ")
}

fn read(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let given = args.needed(NAME)?;
    let max = limit(args, &["max_answer_chars", "max_chars"])?;
    args.finish()?;
    let Some(stored) = caller.memdir.store().get(&named(&given)?)? else {
        return Ok(ToolResult::failure(format!("Memory named '{given}' not found")));
    };
    let (content, _) = text::decode(&stored.bytes);
    let all = content.chars().count();
    says(whole(&content, max, |_, left| {
        format!("[{left} of {all} characters are not shown; for the whole memory call read_memory again with max_answer_chars={all}]")
    }))
}

/// A limit in characters, of which -1 means the usual one.
fn limit(args: &Args<'_>, names: &[&'static str]) -> Result<usize> {
    let max = args.whole(names, -1..=limits::MEMORY_BYTES as i64)?.unwrap_or(-1);
    Ok(usize::try_from(max).unwrap_or(limits::DIALECT_CHARS))
}

fn write(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let (given, content) = (args.needed(NAME)?, args.needed(&["content"])?);
    let max = limit(args, &["max_chars", "max_answer_chars"])?;
    args.finish()?;
    let chars = content.chars().count();
    if chars > max {
        let text = format!(
            "Content for memory {given} is too long: {chars} characters, and at most {max} are allowed. Please make the content shorter."
        );
        return Ok(ToolResult::failure(text));
    }
    caller.memdir.write(&Write::create(named(&given)?, content).mode(Mode::Exact))?;
    says(format!("Memory {given} written."))
}

fn edit(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let (given, needle) = (args.needed(NAME)?, args.needed(&["needle"])?);
    let needle = match args.text(&["mode"])?.as_deref() {
        Some("literal") | None => Needle::Literal(needle),
        Some("regex") => Needle::Regex(needle),
        Some(other) => return Err(Error::bad_input("mode", format!("{other:?} is neither literal nor regex"))),
    };
    let (with, all) = (args.needed(&["repl"])?, args.flag(&["allow_multiple_occurrences"])?);
    args.finish()?;
    match caller.memdir.edit(&Edit { path: named(&given)?, needle, with, all, expect: None }) {
        Ok(_) => says(format!("Memory {given} edited successfully.")),
        Err(Error::NotFound { .. }) => Ok(ToolResult::failure(format!("Memory named '{given}' not found"))),
        Err(error) => Err(error),
    }
}

fn delete(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let given = args.needed(NAME)?;
    args.finish()?;
    match caller.memdir.delete(&Delete { path: named(&given)?, expect: None }) {
        Ok(_) => says(format!("Memory {given} deleted.")),
        Err(Error::NotFound { .. }) => says(format!("Memory {given} not found.")),
        Err(error) => Err(error),
    }
}

fn rename(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let (old, new) = (args.needed(&["old_name"])?, args.needed(&["new_name"])?);
    args.finish()?;
    let renamed = match caller.memdir.rename(&named(&old)?, &named(&new)?) {
        Err(Error::NotFound { .. }) => return Ok(ToolResult::failure(format!("Memory named '{old}' not found"))),
        Err(Error::Exists { .. }) => return Ok(ToolResult::failure(format!("Memory named '{new}' already exists"))),
        renamed => renamed?,
    };
    let mut text = format!("Memory renamed from {old} to {new}.");
    if !renamed.skipped.is_empty() {
        text += &format!(" References in read-only memories were left as they are: {}.", renamed.skipped.join(", "));
    }
    says(text)
}

fn onboarding(_: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    args.finish()?;
    says(include_str!("../../texts/dialects/serena-onboarding.md").trim_end())
}
